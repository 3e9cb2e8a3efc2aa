"""Talus: multibody dynamics. System + State + Study, on numpy arrays.

    import talus
    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, name="bob", mass=1.0, X_BM=(0, 1, 0))
    s.forces.add_gravity((0, -9.81, 0))
    state = s.create_state()
    bob.set_q(state, 0, 1.0)
    talus.Integrator(s, accuracy=1e-8).step_to(state, 2.0)

`talus.c` is the C library as it is, by cffi; doc/howto/python.md has the rules.
"""
from talus._generated import *  # noqa: F401,F403
from talus._generated import LEFT_OUT, REACHED  # noqa: F401
from talus._runtime import (CallbackError, ClosedError, Error, FileError, Index,  # noqa: F401
                            NoMemoryError, NumericalError, Object, Record, StageError, Transform,
                            ffi)
from talus._runtime import lib as c  # noqa: F401
from talus._core import (GROUND, At, Body, Events, Force, Forces, Integrator,  # noqa: F401
                         Linearizer, Matter, Model, State, System, Table, Tracker, View,
                         read_model, read_table, record)

__version__ = ffi.string(c.tal_version_string()).decode()
