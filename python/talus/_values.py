"""Values: texts, enums, vectors, transforms, and structs with named fields."""
import difflib
import os
from enum import IntEnum
from functools import lru_cache

import numpy as np

from talus._errors import NULL, _str, ffi, lib
from talus._objects import CLASSES, Index, Object, _index, _ix

def _text(value):
    if value is None:
        return NULL
    if isinstance(value, bytes):
        return value
    text = os.fspath(value)
    if "\0" in text:
        raise ValueError("a text must not hold a zero byte")
    return text.encode()


def counted(n, one, many=None):
    """A number of things, in words."""
    return f"{n} {one if n == 1 else many or one + 's'}"


class Choice(IntEnum):
    """A constant of the library. Its text is what calls accept for it."""

    def __str__(self):
        return self.name.lower()

    def __format__(self, spec):
        return format(int(self), spec) if spec else str(self)


def _enum(value, cls):
    """A number for C, which refuses what is none."""
    if type(value) is not str:
        return value
    try:
        return cls[value.upper().replace(" ", "_")]
    except KeyError:
        known = ", ".join(one.lower() for one in cls.__members__)
        raise ValueError(f"'{value}' is not a {cls.__name__}: choose from {known}") from None


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
    __slots__ = ("_type", "_ptr", "_keep", "_functions", "_sizes")

    def __init__(self, kind, pointer, keep=()):
        object.__setattr__(self, "_type", kind)
        object.__setattr__(self, "_ptr", pointer)
        object.__setattr__(self, "_keep", [keep])
        object.__setattr__(self, "_functions", [])  # which a call with this takes over
        object.__setattr__(self, "_sizes", {})  # of arrays whose lengths other fields tell

    def __dir__(self):
        return [name for name, _ in _fields(self._type)]

    def _field(self, name):
        fields = dict(_fields(self._type))
        if name not in fields:
            near = difflib.get_close_matches(name, fields, 1)
            raise TypeError(f"{self._type[4:]} has no field '{name}'" +
                            (f" (do you mean '{near[0]}'?)" if near else "") +
                            f": it has {', '.join(fields)}")
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


# what fields are where they are not given, and the library has no default for the struct
_USUAL = {"tal_marker": {"weight": 1.0}, "tal_orientation_sensor": {"weight": 1.0},
          "tal_coordinate_goal": {"weight": 1.0}, "tal_soft_constraint": {"weight": 1.0}}


def _record(kind, fields, needed=False):
    """A struct from keywords, a mapping or a Record; the rest as the library's default."""
    if isinstance(fields, Record):
        if fields._type != kind:
            raise TypeError(f"a {kind[4:]} is needed, not a {fields._type[4:]}")
        return fields
    if kind == "tal_executor" and isinstance(fields, Object):
        value = lib.tal_threads_executor(fields._p)
        return Record(kind, ffi.addressof(value), (value, fields))
    if fields is None:
        if needed:
            raise TypeError(f"a {kind[4:]} is needed, not None")
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
    for name, value in {**_USUAL.get(kind, {}), **fields}.items():
        set_field(made, name, value)
    if made._sizes:
        check_sizes(made)
    return made


def _first_choice(kind, fields):
    """What the default of a def depends on: the model of a muscle."""
    if "model" not in fields:
        raise TypeError(f"{kind[4:]} needs 'model'")
    return int(fields["model"])


class _Nothing:
    _ptr, _functions = NULL, ()


Nothing = _Nothing()


def _name(ctype):
    """The typedef's name of a C type."""
    return ctype.cname.replace("struct ", "").replace("enum ", "").replace(" const", "").strip()


@lru_cache(maxsize=None)
def _fields(kind):
    """(name, description) of the fields of a struct."""
    return ffi.typeof(kind).fields


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
            inner = _matrix_record(value) if _name(kind) == "tal_matrix" else \
                _record(_name(kind), value)
            record._keep.append(inner)
            record._functions.extend(inner._functions)
            setattr(ptr, name, inner._ptr[0])
    elif kind.kind == "array":
        values = list(value)
        if len(values) != kind.length and not (_name(kind.item).endswith("_ix") or
                                               f"num_{name}" in dict(_fields(record._type))):
            raise ValueError(f"{name} has {kind.length} entries, not {len(values)}")
        if len(values) > kind.length:
            raise ValueError(f"{name} has room for {kind.length}, not {len(values)}")
        if f"num_{name}" in dict(_fields(record._type)):
            setattr(ptr, f"num_{name}", len(values))
        if kind.item.kind == "pointer":
            values = [NULL if one is None else _lend(record, name, one) for one in values]
        if _name(kind.item) in SHAPES:
            values = [_value(one, _name(kind.item)) for one in values]
        elif _name(kind.item).endswith("_ix"):
            values = [_ix(one, _name(kind.item)) for one in values]
        elif kind.item.kind == "struct":
            inner = [_record(_name(kind.item), one) for one in values]
            record._keep.append(inner)
            values = [one._ptr[0] for one in inner]
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
        if f"num_{name}" in dict(_fields(record._type)):
            setattr(ptr, f"num_{name}", 1)
    else:
        set_array(record, name, plain, value)


def _lend(record, name, value):
    """An object that a struct points to. The call with the struct takes functions over."""
    value._check_free()
    if value._kind == "tal_function":
        if any(value is one for one in record._functions):
            raise ValueError(f"{name}: a function can be used once only; make another")
        record._functions.append(value)
    return value._p


def set_array(record, name, plain, value):
    """A field that points to an array, whose length another field tells."""
    ptr, fields = record._ptr, dict(_fields(record._type))
    rows = lib_sizes().get(record._type, {}).get(name)
    if f"num_{name}" not in fields and rows is None:
        raise TypeError(f"{record._type[4:]}.{name} does not say how long it is: set it by talus.c")
    if plain in ("double", "int", "_Bool", "bool"):
        dtype = {"double": np.float64, "int": np.int32}.get(plain, np.bool_)
        array = np.ascontiguousarray(np.asarray(value, dtype))
        memory, count = ffi.cast(f"{plain} *", ffi.from_buffer(array)), array.size
        record._keep.append(array)
    elif plain in SHAPES:
        array = np.ascontiguousarray(np.asarray(value, np.float64))
        if array.shape[-len(SHAPES[plain]):] != SHAPES[plain]:
            raise ValueError(f"{name} must have shape (n, {str(SHAPES[plain])[1:]}, not "
                             f"{array.shape}")
        if len(SHAPES[plain]) == 2:
            array = np.ascontiguousarray(array.swapaxes(-1, -2))
        memory = ffi.cast(f"{plain} *", ffi.from_buffer(array))
        count = array.size // int(np.prod(SHAPES[plain]))
        record._keep.append(array)
    else:
        memory, count = _structs(record, name, plain, list(value))
    record._keep.append(memory)
    setattr(ptr, name, memory)
    if f"num_{name}" in fields:
        setattr(ptr, f"num_{name}", count)
    else:
        record._sizes[name] = count


def _structs(record, name, plain, values):
    """An array of elements, objects, texts or structs."""
    memory = ffi.new(f"{plain}[]", max(len(values), 1))
    for k, one in enumerate(values):
        if plain.endswith("_ix"):
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
    return memory, len(values)


def lib_sizes():
    """{struct: {field: its length in terms of other fields}}, from the comments of the headers."""
    from talus._generated import FIELD_SIZES
    return FIELD_SIZES


def check_sizes(record):
    """Arrays of a struct must be as long as its other fields say; a count that is zero is set."""
    for name, count in record._sizes.items():
        text = lib_sizes()[record._type][name]
        if text.isidentifier() and getattr(record._ptr, text) == 0:
            setattr(record._ptr, text, count)
        wanted = 1
        for factor in text.split("*"):
            wanted *= int(factor) if factor.strip().isdigit() else _number_at(record, factor)
        if wanted != count:
            raise ValueError(f"{record._type[4:]}.{name} must have {text.replace('*', 'x')} = "
                             f"{wanted} numbers, not {count}")


def _number_at(record, path):
    at = record._ptr
    for part in path.strip().split("."):
        at = getattr(at, part)
    return int(at)


def _matrix_record(value):
    """A tal_matrix over a copy of a matrix."""
    array = np.asfortranarray(np.asarray(value, np.float64))
    if array.ndim != 2:
        raise ValueError(f"a matrix is needed, not an array of shape {array.shape}")
    return over_matrix(array)


def over_matrix(array):
    """A tal_matrix over a numpy array in Fortran order, without a copy."""
    flat = array.ravel(order="K")
    made = Record("tal_matrix", ffi.new("tal_matrix *"), (array, flat))
    names = [field for field, _ in ffi.typeof("tal_matrix").fields]
    made._ptr[0] = dict(zip(names, (ffi.cast("double *", flat.ctypes.data), *array.shape,
                                    max(array.shape[0], 1))))
    return made


def enum_class(cname):
    """The class of an enum."""
    from talus import _generated
    name = "".join(word.capitalize() for word in cname[4:].split("_"))
    return getattr(_generated, name)


def is_enum(kind):
    """Whether a C type is an enum."""
    try:
        return ffi.typeof(kind).kind == "enum"
    except ffi.error:
        return False
