"""What the generated layer stands on: errors, objects, indices, conversions of values."""
import operator
import os
import threading

import numpy as np

from talus._talus import ffi, lib

NULL = ffi.NULL
c = lib

# --- errors ---


class Error(Exception):
    """What the library says went wrong; `status` and `where` are its code and function."""

    def __init__(self, message, status=0, where=""):
        super().__init__(message)
        self.status, self.where = status, where


class ValueError_(Error, ValueError):
    """A value is out of range or contradicts another."""


class IndexError_(Error, IndexError):
    """An index does not exist, or is one of another kind."""


class NameError_(Error, KeyError):
    """A name is used already, too long, or does not exist."""

    def __str__(self):
        return str(self.args[0])


class StageError(Error):
    """A result is read before it is computed, or something is set too late."""


class ClosedError(Error, ValueError):
    """An object is used after it was closed, or after something else took it over."""


class FileError(Error, OSError):
    """A file cannot be read, written or understood; `diagnostics` lists what is wrong."""

    def __str__(self):
        return str(self.args[0])

    diagnostics = ()


class NoMemoryError(Error, MemoryError):
    """The allocator returned nothing."""


class NumericalError(Error, ArithmeticError):
    """A singular matrix, a NaN, no convergence, steps too small or too many."""


class CallbackError(Error, RuntimeError):
    """A function of yours failed; its exception is the cause."""


_KINDS = {
    lib.TAL_ERR_NO_MEMORY: NoMemoryError, lib.TAL_ERR_BAD_VALUE: ValueError_,
    lib.TAL_ERR_BAD_INDEX: IndexError_, lib.TAL_ERR_BAD_NAME: NameError_,
    lib.TAL_ERR_NULL: ValueError_, lib.TAL_ERR_TOPOLOGY: StageError,
    lib.TAL_ERR_STAGE: StageError, lib.TAL_ERR_WRONG_SYSTEM: ValueError_,
    lib.TAL_ERR_NOT_FINITE: NumericalError, lib.TAL_ERR_SINGULAR: NumericalError,
    lib.TAL_ERR_NO_CONVERGENCE: NumericalError, lib.TAL_ERR_CAPACITY: ValueError_,
    lib.TAL_ERR_CALLBACK: CallbackError, lib.TAL_ERR_FILE: FileError,
    lib.TAL_ERR_STEP_TOO_SMALL: NumericalError, lib.TAL_ERR_STEP_LIMIT: NumericalError,
    lib.TAL_ERR_EVENT_LIMIT: NumericalError, lib.TAL_ERR_INFEASIBLE: NumericalError,
}

lib.tal_contract_set_handler(ffi.addressof(lib, "tal_contract_silent"))
_pending = threading.local()  # the exception that a callback of this thread raised


def make_error(status, message, where):
    """The exception for a status, caused by what a callback raised if one did."""
    error = _KINDS.get(status, Error)(message, status, where)
    cause = getattr(_pending, "error", None)
    if cause is not None:
        _pending.error = None
        error.__cause__ = cause
    return error


def _sentence(status, objects, err):
    if err is not None and err.status == status:
        return _str(err.message), _str(err.where)
    for one in objects:
        get = getattr(lib, f"{one._kind}_error", None)
        if get is None and isinstance(one, Object) and one._system is not None:
            one = one._system
            get = lib.tal_system_error
        if get is None:
            continue
        record = get(one._p)
        if record.status == status:
            return _str(record.message), _str(record.where)
    breach = lib.tal_contract_last()
    if breach.status == status:
        return _str(breach.message), _str(breach.where)
    return _str(lib.tal_status_text(status)), ""


def _fail(status, objects, err, name):
    message, where = _sentence(status, objects, err)
    for one in objects:
        if one._kind == "tal_state":
            lib.tal_state_clear_error(one._p)
    lib.tal_contract_clear()
    raise make_error(status, message, where or name)


def _breach(name, objects=()):
    """Raise the breach of contract that the last call made, if it did."""
    last = lib.tal_contract_last()
    if last.status != 0:
        message, where, status = _str(last.message), _str(last.where), last.status
        lib.tal_contract_clear()
        for one in objects:
            if one._kind == "tal_state":
                lib.tal_state_clear_error(one._p)
        raise make_error(status, message, where or name)
    for one in objects:  # building is sticky: its first mistake stays in the System
        system = one if one._kind == "tal_system" else one._system
        if system is not None:
            record = lib.tal_system_error(system._p)
            if record.status != 0:
                raise make_error(record.status, _str(record.message), _str(record.where))


# --- objects ---

CLASSES = {}  # C type: the class that stands for it


def register(cls):
    """Let a class stand for its C type."""
    CLASSES[cls._kind] = cls
    return cls


class Object:
    """Something that the library owns or that is owned here; closed at the end of its life."""
    __slots__ = ("_p", "_keep", "_system", "__dict__", "__weakref__")
    _kind = ""

    def __new__(cls, *args, **fields):
        if not hasattr(cls, "create"):
            raise TypeError(f"a {cls.__name__} is not made by itself: its System makes it")
        return cls.create(*args, **fields)

    def __getattr__(self, name):
        if name == "_p":
            raise ClosedError(f"this {type(self).__name__} was closed, or taken over by another "
                              "object.", lib.TAL_ERR_NULL)
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")

    @property
    def closed(self):
        """Whether close() was called, or another object took it over."""
        try:
            return self._p is None
        except ClosedError:
            return True

    def close(self):
        """Give it back now. Views of its memory stay valid; any other use raises."""
        if not self.closed:
            del self._p
            self._keep = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __copy__(self):
        raise TypeError(f"a {type(self).__name__} cannot be copied")

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled")

    def _check_free(self):
        self._p  # raises when it is not ours any more

    def _adopted(self):
        ffi.gc(self._p, None)
        del self._p


def system_of(keep):
    """The System among the things an object needs, or theirs."""
    for one in keep:
        if isinstance(one, Object):
            if one._kind == "tal_system":
                return one
            if one._system is not None:
                return one._system
        if isinstance(one, Index):
            return one._owner.system
    return None


def _wrap(kind, pointer, keep):
    cls = CLASSES[kind]
    made = object.__new__(cls)
    made._p, made._keep, made._system = pointer, keep, system_of(keep)
    if hasattr(made, "_ready"):
        made._ready()
    return made


def _own(kind, pointer, keep=()):
    """An object that is destroyed with its Python object, after all that needs it."""
    destroy = getattr(lib, f"{kind}_destroy")
    # the reference from the cdata keeps alive what the object uses, also for views of its memory
    alive = [one._p if isinstance(one, Object) else one for one in keep]

    def end(p, alive=alive):
        destroy(p)

    made = _wrap(kind, ffi.gc(pointer, end), keep)
    made._alive = alive
    return made


def _borrow(kind, pointer, keep=()):
    """An object that belongs to another one, which stays alive with it."""
    for one in keep:
        if isinstance(one, Object) and one._kind == kind and one._p == pointer:
            return one
    return _wrap(kind, pointer, keep)


class Index:
    """An element of a System: its number, and the object it was added to."""
    __slots__ = ("_owner", "_c")
    _kind = ""

    def __init__(self, owner, i):
        self._owner, self._c = owner, (operator.index(i),)

    @property
    def i(self):
        """Its number."""
        return self._c[0]

    @property
    def _system(self):
        return self._owner.system

    def __index__(self):
        return self._c[0]

    def __eq__(self, other):
        if isinstance(other, Index):
            return self._c == other._c and self._kind == other._kind and \
                self._owner.system is other._owner.system
        return NotImplemented

    def __hash__(self):
        return hash((self._kind, self._c))

    def __repr__(self):
        return f"<{type(self).__name__} {self._c[0]}>"


def _ix(value, kind):
    """The C index of an element, or of its number."""
    if isinstance(value, Index):
        if value._kind != kind:
            raise TypeError(f"a {CLASSES[kind].__name__} is needed, not a {type(value).__name__}")
        return value._c
    return (operator.index(value),)


def _index(kind, result, objects):
    """An element; None when there is none; the exception when it was refused."""
    if result.i < 0:
        _breach(kind, objects)
        return None
    owner = next((o for o in objects if isinstance(o, Object)), None)
    if owner is None:
        owner = next((o._owner for o in objects if isinstance(o, Index)), None)
    return CLASSES[kind](owner, result.i)


# --- plain values ---

def _str(value):
    return ffi.string(value).decode("utf-8", "replace") if value else None


def _text(value):
    if value is None:
        return NULL
    if isinstance(value, bytes):
        return value
    text = os.fspath(value)
    if "\0" in text:
        raise ValueError("a text must not hold a zero byte")
    return text.encode()


def _enum(value, cls):
    if isinstance(value, str):
        try:
            return cls[value.upper().replace(" ", "_")]
        except KeyError:
            known = ", ".join(one.lower() for one in cls.__members__)
            raise ValueError(f"'{value}' is no {cls.__name__}: choose from {known}") from None
    return operator.index(value)


class Transform:
    """A rigid transform: `R` (3, 3) and `p` (3,). X_AB @ X_BC composes, X_AB @ p_BS applies."""
    __slots__ = ("R", "p")

    def __init__(self, R=None, p=(0.0, 0.0, 0.0)):
        self.R = np.eye(3) if R is None else _real(R, (3, 3))
        self.p = _real(p, (3,))

    def __matmul__(self, other):
        if isinstance(other, Transform):
            return Transform(self.R @ other.R, self.R @ other.p + self.p)
        return np.asarray(other, float) @ self.R.T + self.p

    @property
    def inverse(self):
        """X_BA of X_AB."""
        return Transform(self.R.T, -self.R.T @ self.p)

    def __array__(self, dtype=None):
        return np.column_stack([self.R, self.p]).astype(dtype or float)

    def __repr__(self):
        return f"Transform(R={self.R.tolist()}, p={self.p.tolist()})"


SHAPES = {"tal_vec3": (3,), "tal_mat3": (3, 3), "tal_sym3": (6,), "tal_spatial_vec": (6,),
          "tal_quat": (4,), "tal_xform": (3, 4)}


def _real(value, shape):
    array = np.asarray(value, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"an array of shape {shape} is needed, not {array.shape}")
    return array


def _value(value, kind):
    """The tuple that cffi makes a plain struct of."""
    if kind == "tal_vec3" or kind == "tal_quat":
        return tuple(_real(value, SHAPES[kind]).tolist())
    if kind == "tal_xform":
        if not isinstance(value, Transform):
            array = np.asarray(value, dtype=np.float64)
            if array.shape == (3,):
                value = Transform(p=array)
            elif array.shape == (3, 3):
                value = Transform(array)
            elif array.shape == (4, 4) or array.shape == (3, 4):
                value = Transform(array[:3, :3], array[:3, 3])
            else:
                raise ValueError("a Transform is needed, or p (3,), R (3, 3), [R p] (3, 4), not "
                                 f"an array of shape {array.shape}")
        return (_value(value.R, "tal_mat3"), tuple(value.p.tolist()))
    if kind == "tal_mat3":
        return tuple(map(tuple, _real(value, (3, 3)).T.tolist()))
    if kind == "tal_spatial_vec":
        flat = _real(value, (6,)).tolist()
        return (tuple(flat[:3]), tuple(flat[3:]))
    if kind == "tal_sym3":
        array = np.asarray(value, dtype=np.float64)
        if array.shape == (3, 3):
            array = array[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return tuple(_real(array, (6,)).tolist())
    raise TypeError(kind)


def _result(kind, value, keep):
    """A struct as an array, a Transform, an element or a Record."""
    if kind in SHAPES:
        flat = np.frombuffer(ffi.buffer(ffi.addressof(value)), np.float64).copy()
        if kind == "tal_mat3":
            return flat.reshape(3, 3).T
        if kind == "tal_xform":
            return Transform(flat[:9].reshape(3, 3).T, flat[9:])
        return flat
    if kind in CLASSES:
        objects = tuple(one for one in keep if isinstance(one, (Object, Index)))
        return _index(kind, value, objects) if objects else value.i
    return Record(kind, ffi.addressof(value), (value, keep))


# --- structs ---

class Record:
    """A struct of the library: its fields are attributes."""
    __slots__ = ("_type", "_ptr", "_keep")

    def __init__(self, kind, pointer, keep=()):
        object.__setattr__(self, "_type", kind)
        object.__setattr__(self, "_ptr", pointer)
        object.__setattr__(self, "_keep", [keep])

    def __dir__(self):
        return [name for name, _ in ffi.typeof(self._type).fields]

    def _field(self, name):
        fields = dict(ffi.typeof(self._type).fields)
        if name not in fields:
            raise TypeError(f"{self._type[4:]} has no field '{name}': it has "
                            f"{', '.join(fields)}")
        return fields[name].type

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            kind = self._field(name)
        except TypeError as error:
            raise AttributeError(str(error)) from None
        value = getattr(self._ptr, name)
        if kind.kind == "struct":
            return _result(_name(kind), value, (self,))
        if kind.kind == "array" and kind.item.kind == "primitive":
            return _str(value) if _name(kind.item) == "char" else np.array(list(value))
        if kind.kind == "pointer" and _name(kind.item) == "char":
            return _str(value)
        return value

    def __setattr__(self, name, value):
        set_field(self, name, value)

    def __repr__(self):
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in dir(self))
        return f"{self._type[4:]}({shown})"


def _record(kind, fields):
    """A struct from keywords, a mapping or a Record; the rest as the library's default."""
    if isinstance(fields, Record):
        if fields._type != kind:
            raise TypeError(f"a {kind[4:]} is needed, not a {fields._type[4:]}")
        return fields
    if kind == "tal_executor" and isinstance(fields, Object):
        value = lib.tal_threads_executor(fields._p)
        return Record(kind, ffi.addressof(value), (value, fields))
    if fields is None:
        return Nothing
    made = Record(kind, ffi.new(f"{kind} *"))
    default = getattr(lib, f"{kind}_default", None)
    if default is not None:
        try:
            made._ptr[0] = default()
        except TypeError:  # a default that depends on something
            made._ptr[0] = default(_first_choice(kind, fields))
    if kind == "tal_mass_props" and isinstance(fields, (int, float)):
        fields = {"mass": fields}
    if not hasattr(fields, "items"):
        names = [name for name, _ in ffi.typeof(kind).fields]
        if not isinstance(fields, (tuple, list)) or len(fields) != len(names):
            raise TypeError(f"a {kind[4:]} is needed: a mapping with {', '.join(names)}")
        fields = dict(zip(names, fields))
    for name, value in fields.items():
        set_field(made, name, value)
    return made


def _first_choice(kind, fields):
    """What the default of a def depends on: the model of a muscle."""
    if "model" not in fields:
        raise TypeError(f"{kind[4:]} needs 'model'")
    return int(fields["model"])


class _Nothing:
    _ptr = NULL


Nothing = _Nothing()


def _name(ctype):
    """The typedef's name of a C type."""
    return ctype.cname.replace("struct ", "").replace("enum ", "").replace(" const", "").strip()


def set_field(record, name, value):
    """Set one field of a struct; what it points to stays alive with it."""
    kind, ptr = record._field(name), record._ptr
    if kind.kind == "primitive" or kind.kind == "enum":
        if kind.kind == "enum" and isinstance(value, str):
            value = _enum(value, enum_class(_name(kind)))
        setattr(ptr, name, value)
    elif kind.kind == "struct":
        if _name(kind) in SHAPES:
            setattr(ptr, name, _value(value, _name(kind)))
        elif _name(kind).endswith("_ix"):
            setattr(ptr, name, _ix(value, _name(kind)))
        else:
            inner = _record(_name(kind), value)
            record._keep.append(inner)
            setattr(ptr, name, inner._ptr[0])
    elif kind.kind == "array":
        values = list(value)
        if len(values) != kind.length:
            raise ValueError(f"{name} has {kind.length} entries, not {len(values)}")
        if _name(kind.item) in SHAPES:
            values = [_value(one, _name(kind.item)) for one in values]
        elif _name(kind.item).endswith("_ix"):
            values = [_ix(one, _name(kind.item)) for one in values]
        setattr(ptr, name, values)
    else:
        set_pointer(record, name, kind, value)


def set_pointer(record, name, kind, value):
    """A field that points to a text, an object, a struct, or an array with a count beside it."""
    ptr, item = record._ptr, _name(kind.item) if kind.kind == "pointer" else ""
    plain = item
    if value is None:
        setattr(ptr, name, NULL)
    elif isinstance(value, ffi.CData):  # a compiled function, or memory of your own
        record._keep.append(value)
        setattr(ptr, name, value)
    elif plain == "char":
        text = ffi.new("char[]", _text(value))
        record._keep.append(text)
        setattr(ptr, name, text)
    elif isinstance(value, Object) and plain != "tal_executor":
        record._keep.append(value)
        setattr(ptr, name, _lend(record, name, value))
    elif plain.startswith("tal_") and (isinstance(value, (Record, dict)) or
                                       plain == "tal_executor"):
        inner = _record(plain, value)
        record._keep.append(inner)
        setattr(ptr, name, inner._ptr)
        if f"num_{name}" in dict(ffi.typeof(record._type).fields):
            setattr(ptr, f"num_{name}", 1)
    else:
        set_array(record, name, plain, value)


def _lend(record, name, value):
    """An object that a struct points to. Functions are refused: the library takes over most of
    those in fields, and would free them a second time."""
    if value._kind == "tal_function":
        raise TypeError(f"{record._type[4:]}.{name} would take the function over: that is possible "
                        "in talus.c only")
    return value._p


def set_array(record, name, plain, value):
    ptr, fields = record._ptr, dict(ffi.typeof(record._type).fields)
    if f"num_{name}" not in fields:
        raise TypeError(f"{record._type[4:]}.{name} does not say how long it is: set it by talus.c")
    if plain in ("double", "int", "_Bool", "bool"):
        dtype = {"double": np.float64, "int": np.int32}.get(plain, np.bool_)
        array = np.ascontiguousarray(np.asarray(value, dtype))
        memory, count = ffi.cast(f"{plain} *", ffi.from_buffer(array)), array.size
        record._keep.append(array)
    else:
        values = list(value)
        count, memory = len(values), ffi.new(f"{plain}[]", max(len(values), 1))
        for k, one in enumerate(values):
            if plain in SHAPES:
                memory[k] = _value(one, plain)
            elif plain.endswith("_ix"):
                memory[k] = _ix(one, plain)
            elif isinstance(one, Object):
                memory[k] = _lend(record, name, one)
            elif plain == "char *":
                text = ffi.new("char[]", _text(one))
                record._keep.append(text)
                memory[k] = text
            else:
                inner = _record(plain, one)
                record._keep.append(inner)
                memory[k] = inner._ptr[0]
    record._keep.append(memory)
    setattr(ptr, name, memory)
    setattr(ptr, f"num_{name}", count)


def enum_class(cname):
    import talus
    name = "".join(word.capitalize() for word in cname[4:].split("_"))
    return getattr(talus, name)


# --- arrays ---

_TAIL = {"tal_vec3": (3,), "tal_mat3": (3, 3), "tal_sym3": (6,), "tal_spatial_vec": (6,),
         "tal_quat": (4,), "tal_xform": (3, 4)}
_DTYPE = {"double": np.float64, "int": np.int32, "bool": np.bool_}


def _shape_error(name, wanted, got):
    shown = ", ".join("n" if size == -1 else str(size) for size in wanted)
    return ValueError(f"{name} must have shape ({shown}), not {tuple(got)}")


def _in(value, kind, shape, name):
    """An array that the library reads: converted if need be; (array, pointer)."""
    if kind in _DTYPE:
        array = np.ascontiguousarray(checked(value, _DTYPE[kind], name))
        if array.ndim != len(shape) and array.size == np.prod(shape) and -1 not in shape:
            array = array.reshape(shape)
        if array.ndim != len(shape) or any(w not in (-1, g) for w, g in zip(shape, array.shape)):
            raise _shape_error(name, shape, array.shape)
        return array, ffi.cast(f"{kind} *", ffi.from_buffer(array))
    if kind in _TAIL:
        array = checked(value, np.float64, name)
        wanted = shape + _TAIL[kind]
        if array.ndim != len(wanted) or any(w not in (-1, g) for w, g in zip(wanted, array.shape)):
            raise _shape_error(name, wanted, array.shape)
        stored = np.ascontiguousarray(array.swapaxes(-1, -2) if len(_TAIL[kind]) == 2 else array)
        return stored, ffi.cast(f"{kind} *", ffi.from_buffer(stored))
    values = list(value)
    if shape[0] not in (-1, len(values)):
        raise _shape_error(name, shape, (len(values),))
    memory = ffi.new(f"{kind}[]", max(len(values), 1))
    keep = []
    for k, one in enumerate(values):
        if kind.endswith("_ix"):
            memory[k] = _ix(one, kind)
        else:
            keep.append(_record(kind, one))
            memory[k] = keep[-1]._ptr[0]
    return values, memory


def checked(value, dtype, name):
    """As an array of the wanted type, where nothing is lost by it."""
    array = np.asarray(value)
    if array.dtype != dtype:
        if array.size and not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(f"{name} must hold numbers of type {np.dtype(dtype).name}, not "
                            f"{array.dtype}")
        array = array.astype(dtype)
    return array


def _out(value, kind, shape, name):
    """An array that the library writes: made here, or given and then written in place."""
    if kind in _TAIL:
        tail = _TAIL[kind]
        stored = shape + tail[::-1]
        if value is None:
            memory = np.zeros(stored)
            array = memory.swapaxes(-1, -2) if len(tail) == 2 else memory
            return array, ffi.cast(f"{kind} *", ffi.from_buffer(memory))
        if len(tail) == 2:
            raise TypeError(f"{name} is always made anew: leave it out")
        shape = stored
    if value is None:
        value = np.zeros(shape, _DTYPE.get(kind, np.float64))
    return _inout(value, kind, shape, name, True)


def _inout(value, kind, shape, name, whole=False):
    """An array that is written in place: it must be what C writes, exactly."""
    dtype = _DTYPE.get(kind, np.float64)
    if not whole and kind in _TAIL:
        if len(_TAIL[kind]) == 2:
            raise TypeError(f"{name} cannot be written in place from Python: use talus.c")
        shape = shape + _TAIL[kind]
    if not isinstance(value, np.ndarray) or value.dtype != dtype or \
            not value.flags.c_contiguous or not value.flags.writeable:
        raise TypeError(f"{name} is written in place: a contiguous, writable array of "
                        f"{np.dtype(dtype).name} is needed")
    if value.shape != tuple(shape):
        raise _shape_error(name, shape, value.shape)
    return value, ffi.cast(f"{kind} *", ffi.from_buffer(value))


def _matrix(value, name, written):
    """A tal_matrix over a numpy array in Fortran order, without a copy."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 2 or \
            not value.flags.f_contiguous or (written and not value.flags.writeable):
        raise TypeError(f"{name} must be a matrix of float64 in Fortran order (np.zeros((m, n), "
                        "order='F') or np.asfortranarray)")
    made = Record("tal_matrix", ffi.new("tal_matrix *"), value)
    flat = value.ravel(order="K")
    names = [field for field, _ in ffi.typeof("tal_matrix").fields]
    made._ptr[0] = dict(zip(names, (ffi.cast("double *", flat.ctypes.data), *value.shape,
                                    max(value.shape[0], 1))))
    return made._ptr
