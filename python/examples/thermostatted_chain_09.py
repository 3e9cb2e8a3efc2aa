"""A chain at constant temperature: Nose-Hoover, then Langevin.
examples/09_thermostatted_chain.c explains it."""
import numpy as np

import talus

LINKS, BLOCKS, BLOCK_STEPS = 4, 60, 1000
KT, STEP = 0.2, 0.02  # J; s, of the Langevin run


def chain():
    """Ground --ball--> o --pin--> o --pin--> o --pin--> o with springs, and a tether."""
    s = talus.System()
    link = {"mass": talus.mass_props_brick(1.0, (0.2, 0.3, 0.1)), "X_BM": (0, 0.2, 0)}
    body = s.matter.add_ball(talus.GROUND, **link)
    for _ in range(1, LINKS):
        body = s.matter.add_pin(body, X_PF=(0.05, -0.2, 0), **link)
        s.forces.add_mobility_spring(None, (body, 0), 5.0, 0.0)
    end = {"body1": talus.GROUND, "p_B1": (1, -1, 0.3), "body2": body, "p_B2": (0, -0.2, 0)}
    s.forces.add_two_point_spring("tether", end, 4.0, 0.2)
    return s


def nose_hoover():
    s = chain()
    bath = s.forces.add_thermostat("bath", kT=KT, relaxation_time=0.3)
    state = s.create_state()
    integrator = talus.Integrator(s, accuracy=1e-10)
    print("Nose-Hoover:  t     kT   chain      bath       sum")
    for k in range(7):
        integrator.step_to(state, 0.5 * k)
        energy = state.energy
        kT = bath.thermostat_temperature(state)
        in_bath = bath.thermostat_bath_energy(state)
        print(f"            {0.5 * k:3.1f} {kT:6.2f} {energy:7.3f} {in_bath:9.3f} "
              f"{energy + in_bath:9.6f}")


def langevin():
    s = chain()
    s.forces.add_langevin("bath", kT=KT, friction=5.0, interval=STEP, seed=2024)
    state = s.create_state()
    integrator = talus.Integrator(s, fixed_step=STEP)
    blocks = np.zeros((BLOCKS + 1, LINKS + 2))
    for block in range(BLOCKS + 1):
        for k in range(1, BLOCK_STEPS + 1):
            integrator.step_to(state, (block * BLOCK_STEPS + k) * STEP)
            u = state.u
            blocks[block] += u * s.matter.mul_M(state, u)
    blocks = blocks[1:] / (KT * BLOCK_STEPS)  # the first one is to forget that it began at rest
    mean, sigma = blocks.mean(axis=0), blocks.std(axis=0, ddof=1) / np.sqrt(BLOCKS)
    print("Langevin: speed  mean of u (M u) / kT")
    for i in range(LINKS + 2):
        is_one = abs(mean[i] - 1) < 3 * sigma[i]
        print(f"          {i:5d}  {'1 within 3 sigma' if is_one else 'not 1'}")
    print(f"            all  {mean.mean():.1f}")


nose_hoover()
langevin()
