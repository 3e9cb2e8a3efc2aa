"""The stubs fit the examples: mypy has nothing to say."""
import os
import pathlib
import subprocess
import sys

import pytest

import talus

pytest.importorskip("mypy")
HERE = pathlib.Path(__file__).resolve().parent.parent


def test_the_examples_have_the_types_that_the_stubs_say(tmp_path):
    path = pathlib.Path(talus.__file__).parent.parent
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import talus\ntalus.System().matter.add_pinn(0)\n")
    for files, wanted in ((sorted((HERE / "examples").glob("*.py")), 0), ([wrong], 1)):
        run = subprocess.run(
            [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--follow-imports=silent",
             "--disable-error-code=var-annotated", f"--cache-dir={tmp_path}/cache", *files],
            capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, "MYPYPATH": str(path)})
        assert run.returncode == wanted, run.stdout
