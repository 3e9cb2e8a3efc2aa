"""Inverse and forward dynamics of a binary tree, against numbers of a reference.
examples/03_tree.c explains it."""
import numpy as np

import talus

PARENT = [0, 0, 1, 1, 2, 2, 3, 3]
TAU = [2.035701528171649, 2.757033251172311, 7.936616247539217, 0.22677424966874565,
       0.6062232067026453, 1.418835205051196, 2.0806522195865806]
C = [6.1680403344955455, 3.8578356005589773, 9.524847212529565, 0.3298158681864644,
     0.6943611294960232, 1.4501843780710877, 2.091632987647421]
M_DIAGONAL = [7.3113533493, 1.3486434747, 2.6058672216, 0.1624600000, 0.1687500000, 0.1770400000,
              0.1875700000]
UDOT = [8.071947464983912, -13.4797693225235, -14.042384326021766, 5.544306696141652,
        4.378876460643141, 2.0095119649817144, 0.13872293002506084]

s = talus.System()
for i in range(1, 8):
    central = {"mass": 1.0 + 0.1 * i, "inertia": (0.1 + 0.01 * i, 0.2, 0.15, 0.01, 0.01, 0.01)}
    X_BC = talus.Transform(p=(0.05, -0.02 * i, 0.1))
    X_PF = talus.Transform(talus.rotation_from_angle_axis(0.1 * i, (1, 0, 0)),
                           (0.1 * i, 0.2, -0.05 * i))
    s.matter.add_pin(PARENT[i], X_PF=X_PF, mass=talus.mass_props_transform(X_BC, central))

state = s.create_state()
number = np.arange(1, 8)
state.q, state.u = 0.3 * number - 1.0, 0.5 - 0.1 * number
state.realize("velocity")

# gravity as forces on the bodies: moment about Bo, and weight
F = np.zeros((8, 6))
for body in s.matter.bodies[1:]:
    mass = body.mass_props(state)
    F[body.i, 3:] = mass.mass * np.array([0, 0, -9.81])
    F[body.i, :3] = np.cross(body.X_GB(state).R @ mass.com, F[body.i, 3:])

tau = s.matter.inverse_dynamics(state, 0.2 * number - 0.7, F)
bias = s.matter.inverse_dynamics(state, None, F)
M = np.diag(s.matter.M(state))
udot = s.matter.forward_dynamics(state, F)[0]
print("body         tau           C      M_ii         udot")
for i in range(7):
    print(f"{i + 1:4d} {tau[i]:11.6f} {bias[i]:11.6f} {M[i]:9.6f} {udot[i]:12.6f}")


def near(a, b, limit):
    return "yes" if np.abs(a - b).max() < limit else "no"


print(f"deviates by less than 1e-13: tau {near(tau, TAU, 1e-13)}, C {near(bias, C, 1e-13)}; "
      f"than 1e-10: M_ii {near(M, M_DIAGONAL, 1e-10)}; "
      f"than 1e-12: udot {near(udot, UDOT, 1e-12)}")
