"""What a call from Python costs beyond the same call in C: ./run python ends with it."""
import timeit

import talus


def best(function, number=200000):
    """Nanoseconds of one call, the best of five runs, without those of an empty function."""
    empty = min(timeit.repeat(lambda: None, number=number, repeat=5))
    return (min(timeit.repeat(function, number=number, repeat=5)) - empty) / number * 1e9


def main():
    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, name="bob", mass=1.0, X_BM=(0, 1, 0))
    state = s.create_state()
    matter_p, state_p, index, raw = s.matter._p, state._p, bob._c, talus.c.tal_body_q
    print(f"body.q by talus.c   {best(lambda: raw(matter_p, state_p, index, 0)):6.0f} ns")
    print(f"body.q(state, 0)    {best(lambda: bob.q(state, 0)):6.0f} ns")
    print(f"state.t             {best(lambda: state.t):6.0f} ns")
    print(f"state.q             {best(lambda: state.q):6.0f} ns")
    print(f"state.realize       {best(lambda: state.realize('position')):6.0f} ns, up to date")


if __name__ == "__main__":
    main()
