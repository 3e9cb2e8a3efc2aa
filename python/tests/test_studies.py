"""Studies: assembly, tracking, equilibrium, modes, sweeps, records, saving and loading."""
import math
import pickle
import threading
import time

import numpy as np
import pytest

import talus

G = 9.81
MARKED = """<talus version="1">
  <bodies>
    <pin name="bob" mass="1" body_frame="0 1 0"/>
  </bodies>
  <markers>
    <marker name="tip" body="bob" station="0 0 0"/>
    <marker name="side" body="bob" station="0.1 0 0"/>
  </markers>
</talus>
"""


def pendulum(length=1.0):
    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, name="bob", mass=1.0, X_BM=(0, length, 0))
    s.forces.add_gravity((0, -G, 0))
    return s, bob


def arm():
    """Two links that turn about z, with three markers."""
    s = talus.System()
    upper = s.matter.add_pin(talus.GROUND, name="upper", mass=1.0, X_BM=(0, 1, 0))
    lower = s.matter.add_pin(upper, name="lower", mass=1.0, X_BM=(0, 1, 0))
    markers = [{"name": "a", "body": upper, "p_BS": (0, 0, 0)},
               {"name": "b", "body": lower, "p_BS": (0, 0, 0)},
               {"name": "c", "body": lower, "p_BS": (0.1, 0.2, 0)}]
    return s, markers


def seen_of(s, markers, poses):
    """Where the markers are at each q."""
    state, points = s.create_state(), []
    for q in poses:
        state.q = q
        state.realize("position")
        points.append([m["body"].X_GB(state) @ np.array(m["p_BS"], float) for m in markers])
    return np.array(points)


def test_tracking_finds_the_coordinates_that_made_the_markers():
    s, markers = arm()
    start = s.create_state()
    t = np.linspace(0, 1, 21)
    poses = np.column_stack([0.5 * np.sin(2 * t), 0.8 * t])
    points = seen_of(s, markers, poses)
    points[3, 1] = np.nan  # not seen
    found = talus.Tracker(s, markers, accuracy=1e-9).run(start, points, t)
    assert found.q.shape == (21, 2) and np.allclose(found.q, poses, atol=1e-7)
    assert found.marker_rms.max() < 1e-7 and all(st == talus.Status.OK for st in found.status)
    again = talus.Tracker(s, markers, accuracy=1e-9, threads=2, chunk=7).run(start, points, t)
    assert np.allclose(again.q, poses, atol=1e-7)
    table = found.table
    assert table.names[0] == "time" and np.array_equal(table.array[:, 1:], found.q)
    for wrong in (points[:, :2], points[0], "x", None):
        with pytest.raises((ValueError, TypeError)):
            talus.Tracker(s, markers).run(start, wrong)


def test_tracking_a_table(tmp_path):
    model = talus.read_model(text=MARKED)
    tracker = talus.Tracker(model)
    assert tracker.marker_names == ["tip", "side"]
    (tmp_path / "seen.csv").write_text(
        "time,tip.x,tip.y,tip.z,side.x,side.y,side.z\n0,0,-1,0,0.1,-1,0\n1,1,0,0,1,0.1,0\n")
    found = tracker.run(model.state, talus.read_table(tmp_path / "seen.csv"))
    assert np.allclose(found.q[:, 0], [0.0, math.pi / 2], atol=1e-5)


def test_assembly_brings_markers_to_where_they_were_seen():
    s, markers = arm()
    state = s.create_state()
    wanted = seen_of(s, markers, [(0.4, -0.7)])[0]
    assembler = talus.Assembler(s, markers=markers, accuracy=1e-10)
    assembler.observe(wanted)
    found = assembler.assemble(state)
    assert found.converged and found.marker_max < 1e-8
    assert np.allclose(state.q, (0.4, -0.7), atol=1e-7)
    state.realize("position")
    assert np.abs(assembler.calc_marker_errors(state)).max() < 1e-8
    with pytest.raises(ValueError):
        assembler.observe(wanted[:2])


def test_equilibrium_of_a_pendulum_is_down():
    s, bob = pendulum()
    state = s.create_state()
    bob.set_q(state, 0, 0.7)
    talus.Equilibrium(s).find(state)
    assert abs(state.q[0]) < 1e-6


def test_modes_of_a_pendulum():
    s, bob = pendulum(2.0)
    state = s.create_state()
    linear = talus.Linearizer(s)
    linear.run(state)
    A = linear.matrix("A")
    assert A.shape == (2, 2)
    assert np.abs(np.linalg.eigvals(A).imag).max() == pytest.approx(math.sqrt(G / 2), rel=1e-6)
    assert len(linear.modes()) == linear.num_modes() > 0
    re, im = linear.mode_shape(0)
    assert re.shape == im.shape == (1,)
    with pytest.raises(ValueError):
        linear.matrix("error")


def test_a_block_moves_with_least_effort():
    """From rest to rest over 1 m in 1 s: u = 6 - 12 t, and the integral of u^2 is 12."""
    s = talus.System()
    block = s.matter.add_slider(talus.GROUND, name="block", mass=1.0)
    s.forces.add_mobility_actuator("motor", (block, 0), 1.0, -1)
    state = s.create_state()
    best = talus.Optimizer(s, s.forces)
    best.set_time(0.0, 1.0, 1.0)
    for where, q in ("start", 0.0), ("end", 1.0):
        best.bound_q(block, 0, where, q, q)
        best.bound_u(block, 0, where, 0.0, 0.0)
    best.add_effort(1.0, 2.0)
    assert best.run(state).nlp.objective == pytest.approx(12.0, abs=1e-9)
    assert best.control(0, 0.3) == pytest.approx(2.4, abs=1e-7)
    best.interpolate(0.3, state)
    assert state.q[0] == pytest.approx(0.216, abs=1e-8)
    with pytest.raises(ValueError):
        best.bound_q(block, 0, "nowhere", 0.0, 0.0)


def test_fixed_steps_do_the_same_work_each_time():
    s, bob = pendulum(2.0)
    memory = talus.FixedMemory(s)
    state = s.create_state()
    state.q[0] = 1.0
    energy = state.energy
    stepper = talus.FixedStepper(s, step=0.01, formulation="hybrid", scheme="trapezoid",
                                 same_work=True, iterations=3)
    stepper.step_to(state, 2.0)
    done = stepper.statistics()
    assert (done.steps, done.iterations, done.unfinished) == (200, 600, 0)
    # order 2: the part w^2 h^2 at most, w^2 = g / 2 m
    assert abs(state.energy - energy) < G / 2 * 1e-4 * abs(energy)
    assert memory.udot(state) == pytest.approx(-G / 2 * np.sin(state.q), abs=1e-6)
    with pytest.raises(ValueError, match="does not go with"):
        talus.FixedStepper(s, formulation="welch", scheme="newmark")


def swing_ensemble(threads=None):
    s, bob = pendulum()
    angle = s.matter.add_measure_coordinate("angle", (bob, 0))
    start = s.create_state()
    parameters = [talus.parameter_q("start", s.matter, bob, 0)]
    return talus.Ensemble(s, threads, parameters=parameters, outputs=[angle], end_time=0.5,
                          task="integrate"), start


def test_ensembles_on_threads_give_the_same_bytes():
    made = [swing_ensemble(n) for n in (None, 1, 3)]
    values = np.linspace(0.1, 1.0, 12)[:, None]
    results = [ensemble.run(start, values) for ensemble, start in made]
    for numbers, status in results:
        assert numbers.shape == (12, 1) and all(st == talus.Status.OK for st in status)
        assert np.array_equal(numbers, results[0][0])
    ensemble, start = made[1]
    found, cost = ensemble.fit(start, [results[0][0][4, 0]], [0.5])
    assert found[0] == pytest.approx(values[4, 0], rel=1e-5) and cost < 1e-10
    with pytest.raises(ValueError):
        ensemble.run(start, values[:, [0, 0]])


def test_the_interpreter_goes_on_while_the_library_works():
    ensemble, start = swing_ensemble(1)
    values = np.linspace(0.1, 1.0, 400)[:, None]
    calls, ticks, seen = [], [], threading.Event()

    def work():  # until the other thread did something during a call, however busy the machine is
        for _ in range(200):
            begin = time.perf_counter()
            ensemble.run(start, values)
            calls.append((begin, time.perf_counter()))
            if seen.is_set():
                break

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        if any(begin < tick < end for begin, end in calls for tick in ticks):
            seen.set()
        time.sleep(0.001)
    thread.join()
    assert any(begin < tick < end for begin, end in calls for tick in ticks)


def test_grids_run_through_all_combinations():
    values = talus.grid([2, 3], [0, 0], [1, 2])
    assert np.array_equal(values, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]])
    with pytest.raises((ValueError, talus.Error)):
        talus.grid([2, 3], [0], [1, 2])


def test_records_are_tables():
    s, bob = pendulum()
    state = s.create_state()
    state.q = [1.0]
    run = talus.Integrator(s, accuracy=1e-9).record(state, np.linspace(0, 1, 11))
    assert run.names == ["time", "bob.q0", "bob.u0", "kinetic_energy", "potential_energy",
                         "total_energy"]
    assert np.ptp(run["total_energy"]) < 1e-7 and run["bob.q0"][0] == 1.0
    mine = talus.record(talus.Integrator(s), s.create_state(), [0, 1],
                        {"height": lambda state: bob.p_GB(state)[1]})
    assert mine.names == ["time", "height"]


def test_saved_states_are_loaded_bit_for_bit():
    s, bob = pendulum()
    state = s.create_state()
    state.q, state.u = [0.7], [0.1]
    state.t = 0.3
    saved = state.save()
    other = pendulum()[0].create_state().load(saved)
    assert np.array_equal(other.y, state.y) and other.t == 0.3
    with pytest.raises(OSError):
        other.load(saved[:-3])
    with pytest.raises(OSError):
        other.load(b"nonsense")
    two = talus.System()
    two.matter.add_ball(talus.GROUND, mass={"mass": 1, "inertia": (1, 1, 1, 0, 0, 0)})
    with pytest.raises(talus.Error):
        two.create_state().load(saved)
    with pytest.raises(TypeError):
        pickle.dumps(state)


def test_a_run_resumes_bit_for_bit():
    def run(stop):
        s, bob = pendulum()
        state = s.create_state()
        state.q = [1.0]
        stepper = talus.TimeStepper(talus.Integrator(s))
        if stop:
            stepper.step_to(state, 0.5)
            saved = stepper.save(state)
            s, bob = pendulum()
            state = s.create_state()
            stepper = talus.TimeStepper(talus.Integrator(s)).resume(state, saved)
        else:
            stepper.step_to(state, 0.5)
        stepper.step_to(state, 1.0)
        return np.array(state.y)

    assert np.array_equal(run(True), run(False))


def test_one_state_in_two_threads_is_refused():
    s, bob = pendulum()
    state = s.create_state()
    inside, leave, seen = threading.Event(), threading.Event(), []

    class Slow(talus.Force):
        def apply(self, at, F, f):
            inside.set()
            leave.wait(10)

    s2 = talus.System()
    s2.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, 1, 0))
    s2.forces.add("slow", Slow())
    state = s2.create_state()
    thread = threading.Thread(target=lambda: state.realize("acceleration"))
    thread.start()
    assert inside.wait(10)
    for use in (lambda: state.realize("acceleration"), state.copy, lambda: state.save(),
                lambda: setattr(state, "q", [1.0]),
                lambda: talus.Integrator(s2).step_to(state, 1.0)):
        with pytest.raises(talus.BusyError):
            use()
        seen.append(1)
    leave.set()
    thread.join()
    state.realize("acceleration")
    assert len(seen) == 5


def test_a_callback_cannot_use_the_state_that_is_being_stepped():
    s, bob = pendulum()
    kept = {}

    class Greedy(talus.Force):
        def apply(self, at, F, f):
            kept["state"].realize("position")

    s.forces.add("greedy", Greedy())
    kept["state"] = s.create_state()
    with pytest.raises(talus.Error) as caught:
        kept["state"].realize("acceleration")
    assert isinstance(caught.value.__cause__, talus.BusyError)


def test_inverse_dynamics_with_constraints_checks_sizes():
    s = talus.System()
    a = s.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, 1, 0))
    s.matter.add_pin(a, mass=1.0, X_BM=(0, 1, 0))
    state = s.create_state().realize("velocity")
    M = s.matter.M(state)
    I, F, H, p, C = s.matter.floating(state, a)
    assert I.shape == (6, 6) and H.shape == (1, 1) and F.shape == (6, 1)
    assert H[0, 0] == pytest.approx(M[1, 1], rel=1e-14)


def test_complementarity_from_arrays():
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    z, w, report = talus.lemke_solve(np.asfortranarray(A), [-1.0, -1.0])
    assert np.allclose(z, [1 / 3, 1 / 3]) and np.allclose(w, 0, atol=1e-15)
    with pytest.raises(ValueError):
        talus.lemke_solve(np.asfortranarray(A), [-1.0])
