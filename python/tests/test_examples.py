"""The examples in Python print what those in C print: words exactly, numbers to a relative 1e-9."""
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = sorted((HERE / "examples").glob("*.py"))


def same(got, wanted):
    try:
        a, b = float(got), float(wanted)
    except ValueError:
        return got == wanted
    return a == b or abs(a - b) <= 1e-9 * abs(b)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, root):
    name, number = path.stem.rsplit("_", 1)
    wanted = (root / f"examples/{number}_{name}.out").read_text().split()
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False,
                         timeout=120)
    assert run.returncode == 0, run.stderr
    got = run.stdout.split()
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert same(a, b), f"'{a}' instead of '{b}'"
