"""A double pendulum. examples/02_double_pendulum.c explains it."""
import talus

s = talus.System()
link = {"mass": 1.0, "X_BM": (0, 1, 0)}  # kg; hung from a pin one meter above it
upper = s.matter.add_pin(talus.GROUND, name="upper", **link)
lower = s.matter.add_pin(upper, name="lower", **link)
s.forces.add_gravity((0, -9.81, 0))  # m/s^2

state = s.create_state()
integrator = talus.Integrator(s, accuracy=1e-9)
upper.set_q(state, 0, 1.0)  # radians
print("     t          x          y         energy")
for k in range(11):
    integrator.step_to(state, k)
    x, y, _ = lower.p_GB(state)
    print(f"{state.t:6.2f} {x:10.6f} {y:10.6f} {state.energy:14.6f}")
