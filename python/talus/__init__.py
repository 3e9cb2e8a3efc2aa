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
from talus._runtime import (BadIndexError, BadNameError, BadValueError, BusyError,  # noqa: F401
                            CallbackError, ClosedError, Error, FileError, Index,
                            NoMemoryError, NumericalError, Object, Record, StageError,
                            Transform, ffi)
from talus._runtime import lib as c  # noqa: F401
from talus._building import GROUND, Body, Events, Forces, Matter, System  # noqa: F401
from talus._callbacks import (At, Constraint, ConstraintAt, Controller, Force,  # noqa: F401
                              Mobilizer, MobilizerAt, Motion, function)
from talus._files import Model, Table, model_reference, read_model, read_table  # noqa: F401
from talus._samples import *  # noqa: F401,F403
from talus._samples import grid  # noqa: F401
from talus._state import State, View  # noqa: F401
from talus._studies import (Integrator, Linearizer, TimeStepper, Tracker, Tracking,  # noqa: F401
                            record)
from talus._view import Page, Plot, plot, view  # noqa: F401

__version__ = ffi.string(c.tal_version_string()).decode()
