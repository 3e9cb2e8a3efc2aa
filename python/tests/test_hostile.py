"""Wrong arguments of all kinds for every method: exceptions, no crash."""
import pathlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize("seed", [1, 2])
def test_wrong_arguments_never_crash(seed):
    run = subprocess.run(
        [sys.executable, pathlib.Path(__file__).with_name("hostile.py"), str(seed), "100"],
        capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    calls, raised = (int(word) for word in run.stdout.split() if word.isdigit())
    assert calls > 4000 and raised > calls / 2
