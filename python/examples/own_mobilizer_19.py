"""A mobilizer of your own: a cart on a cycloid. examples/19_own_mobilizer.c explains it."""
import math

import talus

RADIUS, GRAVITY = 0.5, 9.81  # m, m/s^2


class Track(talus.Mobilizer):
    """p_FM = r (q + sin q, 1 - cos q, 0), R_FM = Rz(q / 2); r is the parameter."""
    nu, num_params = 1, 1

    def X_FM(self, at):
        (q,), (r,) = at.q, at.params
        return talus.Transform(talus.rotation_about("z", 0.5 * q),
                               (r * (q + math.sin(q)), r * (1 - math.cos(q)), 0))

    def H_FM(self, at):
        (q,), (r,) = at.q, at.params
        return [[0, 0, 0.5, r * (1 + math.cos(q)), r * math.sin(q), 0]]

    def Hdot_FM(self, at):
        (q,), (u,), (r,) = at.q, at.u, at.params
        return [[0, 0, 0, -r * math.sin(q) * u, r * math.cos(q) * u, 0]]

    def check(self, params):
        if params[0] <= 0:
            raise ValueError(f"the radius of the track is {params[0]:g}.")


worst = max(Track().test([-2 + 0.4 * k], [1.5], [RADIUS], ("forward", "reverse")[k % 2]).worst
            for k in range(10))
print(f"the functions agree: {'yes' if worst < 1e-9 else 'no'}")

s = talus.System()
s.forces.add_gravity((0, -GRAVITY, 0))
cart = s.matter.add_mobilizer(talus.GROUND, Track(), [RADIUS], name="cart", mass=2.0)
state = s.create_state()
integrator = talus.Integrator(s, accuracy=1e-8)
print("let go at [m]   after pi sqrt(r / g) at [m]")
for start in 0.5, 1.5, 2.5:
    state.t, state.q, state.u = 0.0, [start], [0.0]
    integrator.reset()
    integrator.step_to(state, 0.0)
    height = cart.X_GB(state).p[1]
    integrator.step_to(state, math.pi * math.sqrt(RADIUS / GRAVITY))
    print(f"{height:13.4f} {cart.X_GB(state).p[1]:20.4f}")
