"""A pendulum that is pushed: reports at fixed times, a handler at the lowest point, a measured
period. examples/10_pendulum_events.c explains it."""
import math

import talus

G, LENGTH = 9.81, 1.0


def period(v):
    """Of a pendulum with speed v at the bottom (Gauss)."""
    a, b = 1.0, math.sqrt(1.0 - v * v / (4.0 * G * LENGTH))
    while abs(a - b) > 1e-15:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi * math.sqrt(LENGTH / G) / a


s = talus.System()
bob = s.matter.add_pin(talus.GROUND, mass=1.0, X_BM=(0, LENGTH, 0))
s.forces.add_gravity((0, -G, 0))
passages = []  # time, and speed after it


def brake(state, cause):
    """Take a tenth of the speed away; end after six passages."""
    speed = 0.9 * bob.u(state, 0)
    if passages:
        last, before = passages[-1]
        print(f"{state.t:6.3f}   passage {len(passages)} after {state.t - last:.8f} s, "
              f"expected {period(before):.8f} s")
    passages.append((state.t, speed))
    bob.set_u(state, 0, speed)
    return len(passages) == 6


def show(state, cause):
    print(f"{state.t:6.3f} {bob.q(state, 0):10.6f} {bob.u(state, 0):10.6f}")


s.events.add("lowest point", witness=lambda state: bob.q(state, 0),
             rate=lambda state: bob.u(state, 0), crossing="rising", handle=brake)
s.events.add("table", period=1.0, report=show)

state = s.create_state()
integrator = talus.Integrator(s, tableau=talus.rk_dormand_prince(), accuracy=1e-11)
print("     t      angle      speed")
bob.set_q(state, 0, 2.0)
why = talus.TimeStepper(integrator).step_to(state, 100.0)
print(f"the run ended: {talus.outcome_name(why)}")
