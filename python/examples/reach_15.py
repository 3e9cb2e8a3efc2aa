"""An arm reaches for targets: some within reach, one beyond, with joints that have ranges.
examples/15_reach.c explains it."""
import talus

s = talus.System()


def link(name, parent, at, length):
    add = s.matter.add_pin if at else s.matter.add_ball
    return add(parent, name=name, X_PF=(at, 0, 0), mass=talus.mass_props_point(
        1.0, (0.5 * length, 0, 0)))


upper = link("upper arm", talus.GROUND, 0.0, 0.30)
fore = link("forearm", upper, 0.30, 0.25)
hand = link("hand", fore, 0.25, 0.10)
fore.limit_coordinate(0, 0.0, 2.6)
hand.limit_coordinate(0, -0.5, 0.5)

# the fingertip is to be where the target is; staying close to the start decides the rest
state = s.create_state()
fingertip = {"name": "fingertip", "body": hand, "p_BS": (0.10, 0, 0)}
assembler = talus.Assembler(s, markers=[fingertip], stay_close=1e-6)
fore.set_q(state, 0, 0.3)
print("     target               elbow     wrist      off by")
for target in (0.4, 0.3, 0.1), (0.2, -0.2, 0.3), (0.05, 0.1, 0.25), (0.9, 0.3, 0.0):
    assembler.observe([target])
    found = assembler.assemble(state)
    x, y, z = target
    print(f"{x:6.2f} {y:6.2f} {z:6.2f} {fore.q(state, 0):9.4f} {hand.q(state, 0):9.4f} "
          f"{found.marker_max:11.5f}")
