"""What the generated layer stands on."""
from talus._arrays import (_in, _inout, _list, _matrix, _numbers, _objects,  # noqa: F401
                           _op_size, _out, _same, checked)
from talus._errors import (NULL, CallbackError, ClosedError, Error, FileError,  # noqa: F401
                           IndexError_, NameError_, NoMemoryError, NumericalError, StageError,
                           ValueError_, _breach, _busy, BusyError, _fail, _pending, _str, ffi, lib, make_error)
from talus._objects import (CLASSES, Index, Object, _borrow, _index, _ix, _own,  # noqa: F401
                            _taken, _wrap, register)
from talus._values import (Record, over_matrix, Transform, _enum, _real, _record, _result,  # noqa: F401
                           _text, _value)
