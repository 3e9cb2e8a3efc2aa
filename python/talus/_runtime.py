"""What the generated layer stands on."""
from talus._arrays import (_in, _inout, _list, _matrix, _numbers, _objects,  # noqa: F401
                           _op_size, _out, _same, checked)
from talus._errors import (NULL, BadIndexError, BadNameError, BadValueError,  # noqa: F401
                           BusyError, CallbackError, ClosedError, Error, FileError,
                           NoMemoryError, NumericalError, StageError, _breach, _busy, _fail,
                           _pending, _str, ffi, lib, make_error, no_such)
from talus._objects import (CLASSES, Index, Object, _borrow, _index, _ix, _own,  # noqa: F401
                            _taken, _wrap, register)
from talus._values import (Choice, Record, Transform, _enum, _real, _record, _result,  # noqa: F401
                           _text, _value, counted, over_matrix)
