"""A nut that turns over. examples/14_dzhanibekov.c explains it."""
import talus

PERIOD = 10.05185827631494

s = talus.System()
nut = s.matter.add_ball(talus.GROUND, mass={"mass": 1.0, "inertia": (1, 2, 3, 0, 0, 0)})
flips = []


def spin(state):
    return (nut.X_GB(state).R.T @ nut.V_GB(state)[:3])[1]


def flip(state, cause):
    after = f" after {state.t - flips[-1]:.5f} s, expected {0.5 * PERIOD:.5f} s" if flips else ""
    print(f"{state.t:10.6f}   turns over{after}")
    flips.append(state.t)


def show(state, cause):
    print(f"{state.t:10.6f} {spin(state):10.5f} {s.matter.kinetic_energy(state):14.9f}")


s.events.add(witness=spin, stage="velocity", report=flip)
s.events.add(period=2.5, report=show)
state = s.create_state()
integrator = talus.Integrator(s, tableau=talus.rk_dormand_prince(), accuracy=1e-11)
print("         t       spin         energy")
state.u = [0.01, 5.0, 0.01]
talus.TimeStepper(integrator).step_to(state, 20.0)
