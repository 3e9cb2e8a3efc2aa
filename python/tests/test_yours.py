"""Forces, controllers, mobilizers, constraints, motions and functions written in Python."""
import gc

import numpy as np
import pytest

import talus


class Pin(talus.Mobilizer):
    """The built-in pin once more: q turns about z."""

    def X_FM(self, at):
        c, s = np.cos(at.q[0]), np.sin(at.q[0])
        return talus.Transform([[c, -s, 0], [s, c, 0], [0, 0, 1]])

    def H_FM(self, at):
        return [[0, 0, 1, 0, 0, 0]]


class Slope(talus.Mobilizer):
    """A point on y = k x^2, with k a parameter: u = xdot."""
    num_params = 1

    def X_FM(self, at):
        return (at.q[0], at.params[0] * at.q[0] ** 2, 0)

    def H_FM(self, at):
        return [[0, 0, 0, 1, 2 * at.params[0] * at.q[0], 0]]

    def Hdot_FM(self, at):
        return [[0, 0, 0, 0, 2 * at.params[0] * at.u[0], 0]]

    def check(self, params):
        if params[0] <= 0:
            raise ValueError("k must be positive")


def pendulum(mobilizer):
    s = talus.System()
    fields = {"name": "bob", "mass": 1.0, "X_BM": (0, 1, 0)}
    bob = s.matter.add_mobilizer(talus.GROUND, mobilizer, **fields) if mobilizer else \
        s.matter.add_pin(talus.GROUND, **fields)
    s.forces.add_gravity((0, -9.81, 0))
    state = s.create_state()
    bob.set_q(state, 0, 1.0)
    talus.Integrator(s, accuracy=1e-8).step_to(state, 0.5)
    return state.q[0]


def test_a_mobilizer_in_python_moves_as_the_built_in_one():
    gc.collect()
    # the same method; the library integrates its own pin with its own coordinates' scale
    assert pendulum(Pin()) == pytest.approx(pendulum(None), abs=1e-7)
    assert Pin().test([0.3], [0.7]).worst < 1e-7  # differences of a function with steps of 1e-8
    assert Slope().test([0.3], [0.7], [2.0]).worst < 1e-7


def test_a_bead_on_a_parabola_keeps_its_energy():
    s = talus.System()
    bead = s.matter.add_mobilizer(talus.GROUND, Slope(), [2.0], name="bead", mass=1.0)
    s.forces.add_gravity((0, -9.81, 0))
    state = s.create_state()
    bead.set_q(state, 0, 0.5)
    before = state.energy
    talus.Integrator(s, accuracy=1e-9).step_to(state, 1.0)
    assert state.energy == pytest.approx(before, rel=1e-7)
    p = bead.p_GB(state)
    assert p[1] == pytest.approx(2.0 * p[0] ** 2, rel=1e-14)


def test_parameters_that_a_mobilizer_refuses():
    s = talus.System()
    with pytest.raises(talus.Error, match="k must be positive"):
        s.matter.add_mobilizer(talus.GROUND, Slope(), [-1.0], mass=1.0)
        s.create_state()


@pytest.mark.parametrize("wrong", [lambda self, at: [[1, 2]], lambda self, at: "x",
                                   lambda self, at: 1 / 0, lambda self, at: None])
def test_a_mobilizer_that_fails_is_an_exception(wrong):
    kind = type("Wrong", (Pin,), {"H_FM": wrong})
    s = talus.System()
    s.matter.add_mobilizer(talus.GROUND, kind(), mass=1.0, X_BM=(0, 1, 0))
    state = None
    with pytest.raises(talus.Error) as caught:
        state = s.create_state()
        state.u = [1.0]
        state.realize("acceleration")
    assert caught.value.__cause__ is not None


class Rod(talus.Constraint):
    """A massless rod of length L between the origins of two bodies."""
    mp, num_params = 1, 1

    def parts(self, at):
        return at.X_AB[1].p - at.X_AB[0].p

    def perr(self, at):
        r = self.parts(at)
        return [0.5 * (r @ r - at.params[0] ** 2)]

    def verr(self, at):
        return [self.parts(at) @ (at.V[1, 3:] - at.V[0, 3:])]

    def aerr(self, at):
        v = at.V[1, 3:] - at.V[0, 3:]
        return [self.parts(at) @ (at.A[1, 3:] - at.A[0, 3:]) + v @ v]

    def add_forces(self, at, multipliers, F, f):
        r = self.parts(at)
        F[1, 3:] += multipliers[0] * r
        F[0, 3:] -= multipliers[0] * r


def test_a_rod_in_python_makes_a_pendulum():
    def end(constrained):
        s = talus.System()
        if constrained:
            ball = s.matter.add_translation(talus.GROUND, name="ball", mass=1.0)
            s.matter.add_constraint(Rod(), bodies=[s.matter.ground, ball], params=[1.0])
        else:
            ball = s.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, 1, 0))
        s.forces.add_gravity((0, -9.81, 0))
        state = s.create_state()
        if constrained:
            state.q = [np.sin(1.0), -np.cos(1.0), 0]
        else:
            state.q = [1.0]
        talus.Integrator(s, accuracy=1e-10).step_to(state, 1.0)
        if constrained:
            # projected to the accuracy after each step
            assert abs(state.qerr[0]) < 1e-9
        return ball.p_GB(state)

    # both are off by about the accuracy times the number of time constants
    assert np.allclose(end(True), end(False), atol=1e-7)


def test_a_motion_in_python():
    class Swing(talus.Motion):
        def value(self, t, order, n, params):
            return [(np.sin(t), np.cos(t), -np.sin(t))[order]]

    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, 1, 0))
    s.matter.add_motion(bob, Swing(), level="position")
    state = s.create_state()
    talus.Integrator(s).step_to(state, 1.0)
    assert state.q[0] == np.sin(1.0) and state.u[0] == np.cos(1.0)


def test_a_controller_in_python():
    class Constant(talus.Controller):
        def control(self, at, which):
            return 3.0

    s = talus.System()
    bob = s.matter.add_slider(talus.GROUND, mass=2.0)
    control = s.matter.add_measure_coordinate("q", (bob, 0))
    motor = s.forces.add_mobility_actuator("motor", (bob, 0), 1.0, control)
    s.forces.add_controller("constant", [motor], Constant())
    assert s.create_state().udot[0] == pytest.approx(1.5)


def test_a_function_in_python_drives_a_coordinate():
    def push(x):
        return np.sin(x[0])

    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, 1, 0))
    f = talus.function(push, lambda x, wrt: (np.cos(x[0]), -np.sin(x[0]))[len(wrt) - 1])
    assert f.calc_value([0.5]) == np.sin(0.5)
    s.matter.add_motion_functions([f], body=bob, level="position")
    with pytest.raises(talus.ClosedError):
        f.calc_value([0.5])
    del f
    gc.collect()
    state = s.create_state()
    talus.Integrator(s).step_to(state, 1.0)
    assert state.q[0] == pytest.approx(np.sin(1.0), rel=1e-15)


def test_functions_belong_to_one_owner():
    made = [talus.Function.create_constant(float(k), 1) for k in range(2)]
    both = talus.Function.create_sum(made)
    assert both.calc_value([0.0]) == 1.0
    with pytest.raises(talus.ClosedError):
        talus.Function.create_sum(made)
    with pytest.raises(ValueError):
        one = talus.Function.create_constant(1.0, 1)
        talus.Function.create_sum([one, one])
    del both, made
    gc.collect()


def test_functions_in_fields_of_a_def():
    s = talus.System()
    ball = s.matter.add_translation(talus.GROUND, mass=2.0)
    fy = talus.Function.create_constant(6.0, 1)
    s.forces.add_prescribed_force("push", body=ball, force=[None, fy, None])
    with pytest.raises(talus.ClosedError):
        fy.calc_value([0.0])
    assert np.array_equal(s.create_state().udot, [0.0, 3.0, 0.0])
    with pytest.raises(ValueError):
        one = talus.Function.create_constant(1.0, 1)
        s.forces.add_prescribed_force("push", body=ball, force=[one, one, None])
