"""A planetary gear with a motor and a clutch. examples/12_gears.c explains it."""
import math

import talus

SUN, PLANET, RING = 20.0, 20.0, 60.0  # teeth
ARM, TORQUE = 0.08, 2.0  # m, from the axis to the planet's; N m

s = talus.System()


def wheel(parent, mass, radius, x_P=0.0):
    """A disk on a pin about z."""
    axial = 0.5 * mass * radius**2
    return s.matter.add_pin(parent, X_PF=(x_P, 0, 0), mass={
        "mass": mass, "inertia": (0.5 * axial, 0.5 * axial, axial, 0, 0, 0)})


sun = wheel(talus.GROUND, 1.0, 0.04)
carrier = wheel(talus.GROUND, 2.0, ARM)
planet = wheel(carrier, 1.0, 0.04, ARM)
for teeth in (SUN, -SUN, PLANET), (0.0, RING, PLANET):
    mesh = talus.Function.create_linear(teeth, 0.0)
    s.matter.add_constraint_coordinate_coupler(
        mesh, mobilities=[(sun, 0), (carrier, 0), (planet, 0)])
motor = s.forces.add_mobility_force("motor", (sun, 0), TORQUE)
stopped = []


def open_clutch(state, cause):
    stopped.append(state.t)
    print(f"{state.t:6.3f}   the clutch opens")
    motor.set_enabled(state, False)


def show(state, cause):
    turning = carrier.u(state, 0)
    print(f"{state.t:6.3f} {sun.u(state, 0):10.6f} {turning:10.6f} "
          f"{turning + planet.u(state, 0):10.6f}")


s.events.add(witness=lambda state: 2 * math.pi - sun.q(state, 0), crossing="falling",
             handle=open_clutch)
s.events.add(period=0.05, report=show)
state = s.create_state()
print("     t        sun    carrier     planet   [rad/s]")
talus.TimeStepper(talus.Integrator(s, accuracy=1e-9)).step_to(state, 0.3)

# all wheels seen from the sun: inertia I_s + I_c / 16 + m ARM^2 / 16 + I_p / 4
inertia = 0.5 * 0.0016 + (0.5 * 2.0 * 0.0064 + 0.0064) / 16 + 0.5 * 0.0016 / 4
expected = math.sqrt(4 * math.pi * inertia / TORQUE)
print(f"one turn of the sun took {stopped[0]:.8f} s, expected {expected:.8f} s")
