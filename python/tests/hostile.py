"""Call every generated method with arguments that are wrong in all ways: exceptions, no crash.

    hostile.py [SEED]           test_hostile.py runs it in a process of its own
"""
import inspect
import os
import pathlib
import random
import sys
import tempfile
import time

import numpy as np

import talus

ROOT = pathlib.Path(__file__).resolve().parents[2]

# they run as long as they are told to, write where they are told to, or end what others need
LEFT = {"Threads.create", "realize_topology", "record"}


def objects():
    """One of each kind of object that is easily had, in one System."""
    model = talus.read_model(ROOT / "examples/models/elbow.talus")
    s, state = model.system, model.state
    bodies = model.matter.bodies
    young = talus.System()
    young.matter.add_pin(talus.GROUND, mass=1.0)
    integrator = talus.Integrator(s, accuracy=1e-3)
    table = talus.Table.from_arrays({"time": [0.0, 1.0], "a": [1.0, 2.0]})
    markers = [{"name": "m", "body": bodies[-1], "p_BS": (0, 0, 0)}]
    found = [s, state, s.matter, s.forces, *bodies, young, young.matter, young.forces,
             young.events, integrator, talus.TimeStepper(integrator), table,
             talus.Tracker(s, markers), talus.Assembler(s, markers=markers),
             talus.Linearizer(s), talus.Equilibrium(s),
             talus.Function.create_constant(1.0, 1), talus.Threads(2)]
    for k in range(s.forces.num()):
        found.append(talus.ForceElement(s.forces, k))
    found.append(talus.ConstraintElement(s.matter, 0))
    return found


def junk(rng, found):
    """Something to pass."""
    return rng.choice([
        lambda: None, lambda: -1, lambda: 0, lambda: 1, lambda: 2**31, lambda: 10**6,
        lambda: float("nan"), lambda: 1e300, lambda: "x", lambda: "position", lambda: b"\xff",
        lambda: [], lambda: {}, lambda: [1.0], lambda: [float("nan")] * 3, lambda: [[1, 2], [3]],
        lambda: np.zeros(3), lambda: np.zeros((3, 3)), lambda: np.zeros((3, 3), order="F"),
        lambda: np.zeros(6, np.float32), lambda: np.zeros(10)[::2], lambda: np.zeros(7, complex),
        lambda: np.zeros((4, 6)), lambda: np.zeros((2, 3, 3)), lambda: object(), lambda: 3 + 4j,
        lambda: talus.Transform(), lambda: rng.choice(found), lambda: rng.choice(found),
        lambda: talus.Body(rng.choice(found[2:3]), 99), lambda: (1, 2, 3), lambda: 0.5,
    ])()


def given_to(method, rng, found):
    """Arguments for a call: some are what their names say, so that the call gets far."""
    right = {"state": found[1], "system": found[0], "matter": found[2], "forces": found[3],
             "body": 1, "i": 0, "n": 1, "a": np.zeros(found[1].nu()), "stage": "velocity"}
    names = list(inspect.signature(method).parameters)
    names = names[1:] if names[:1] == ["self"] else names
    return [right[name] if name in right and rng.random() < 0.7 else junk(rng, found)
            for name in names[:rng.randint(max(len(names) - 1, 0), len(names))]]


def methods(found):
    """(object, name, method) of all generated methods."""
    for one in found:
        for name, method in inspect.getmembers(type(one), inspect.isfunction):
            if not name.startswith("_") and f"{type(one).__name__}.{name}" not in LEFT and \
                    name not in LEFT and name not in ("close", "to_pandas"):
                yield one, name, method


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    loud, end = "-v" in sys.argv, time.time() + float(sys.argv[2] if len(sys.argv) > 2 else 60)
    rng, found = random.Random(seed), objects()
    functions = [(None, name, function) for name, function in vars(talus).items()
                 if inspect.isfunction(function) and name not in LEFT
                 and name not in ("view", "plot", "read_model", "read_table")]
    calls = raised = 0
    work = [*methods(found), *functions]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one, name, method in work:
            if time.time() > end:
                break
            for _ in range(4):
                given = given_to(method, rng, found)
                if name == "step_to" or "to" == name:
                    given = given[:1] + [0.01]
                if loud:
                    print(type(one).__name__, name, given, file=sys.stderr, flush=True)
                calls += 1
                try:
                    method(*([] if one is None else [one]), *given)
                except (talus.Error, TypeError, ValueError, AttributeError, IndexError, KeyError,
                        OverflowError, MemoryError, OSError):
                    raised += 1
    print(f"{calls} calls, {raised} raised")


if __name__ == "__main__":
    main()
