"""A ball that bounces: each bounce is an event. examples/13_bouncing_ball.c explains it."""
import math

import talus

G, E, REST = 9.81, 0.8, 0.05  # m/s, slower is still

s = talus.System()
ball = s.matter.add_translation(talus.GROUND, mass=1.0)
s.forces.add_gravity((0, -G, 0))
expected = math.sqrt(2.0 / G)
gap, bounces = 2.0 * E * expected, 0


def bounce(state, cause):
    """Turn the speed round; end when it is small."""
    global expected, gap, bounces
    bounces += 1
    v = -E * ball.u(state, 1)
    print(f"{bounces:4d} {state.t:12.8f} {expected:12.8f} {v:10.6f}")
    expected, gap = expected + gap, gap * E
    ball.set_u(state, 1, v)
    return v < REST


s.events.add("bounce", witness=lambda state: ball.p_GB(state)[1], crossing="falling",
             handle=bounce)
state = s.create_state()
stepper = talus.TimeStepper(talus.Integrator(s, accuracy=1e-10))
print("   n            t     expected  speed after")
ball.set_q(state, 1, 1.0)
why = stepper.step_to(state, 10.0)
print(f"at rest: {talus.outcome_name(why)}. It would pile up at "
      f"{math.sqrt(2.0 / G) * (1.0 + E) / (1.0 - E):.6f} s")
