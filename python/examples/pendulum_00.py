import talus

s = talus.System()
bob = s.matter.add_pin(talus.GROUND, name="bob", mass=1.0, X_BM=(0, 1, 0))
s.forces.add_gravity((0, -9.81, 0))

state = s.create_state()  # a mistake above is raised at the latest here
bob.set_q(state, 0, 1.0)  # rad
talus.Integrator(s).step_to(state, 2.0)  # s
print(f"{bob.q(state, 0):.2f} rad")
