"""Arrays: checked before a call, converted where nothing is lost, made where there are none."""
import numpy as np

from talus._errors import NULL, ffi, lib
from talus._objects import _ix
from talus._values import _enum, _record, _result, enum_class, is_enum, over_matrix

_TAIL = {"tal_vec3": (3,), "tal_mat3": (3, 3), "tal_sym3": (6,), "tal_spatial_vec": (6,),
         "tal_quat": (4,), "tal_xform": (3, 4)}
_DTYPE = {"double": np.float64, "int": np.int32, "bool": np.bool_}


def _dtype(kind):
    """The type of the numbers that an array of this kind holds."""
    return _DTYPE.get(kind) or (np.int32 if is_enum(kind) else np.float64)


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
    if len(shape) != 1 or shape[0] not in (-1, len(values)):
        raise _shape_error(name, shape, (len(values),))
    if is_enum(kind):
        numbers = np.array([_enum(one, enum_class(kind)) for one in values], np.int32)
        return numbers, ffi.cast(f"{kind} *", ffi.from_buffer(numbers))
    memory = ffi.new(f"{kind}[]", max(len(values), 1))
    keep = []
    for k, one in enumerate(values):
        if kind.endswith("_ix"):
            memory[k] = _ix(one, kind)
        else:
            keep.append(_record(kind, one))
            memory[k] = keep[-1]._ptr[0]
    return keep or values, memory


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
        value = np.zeros(shape, _dtype(kind))
    return _inout(value, kind, shape, name, True)


def _inout(value, kind, shape, name, whole=False):
    """An array that is written in place: it must be what C writes, exactly."""
    dtype = _dtype(kind)
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
    return over_matrix(value)._ptr


# --- what a call returns ---

def _list(memory, count, keep):
    """Structs that the library wrote, as elements or Records."""
    kind = ffi.typeof(memory).item.cname.replace("struct ", "")
    return [_result(kind, memory[k], (*keep, memory)) for k in range(count)]


def _numbers(pointer, count):
    """A copy of numbers of the library."""
    return np.array(ffi.unpack(pointer, count) if count > 0 else [], np.float64)


def _objects(values, kind):
    """A list of objects that a call takes over: (list, pointers)."""
    values = list(values)
    given = [one for one in values if one is not None]
    if len({id(one) for one in given}) < len(given):
        raise ValueError("an object can be taken over once only; make another")
    memory = ffi.new(f"{kind} *[]", max(len(values), 1))
    for k, one in enumerate(values):
        memory[k] = NULL if one is None else one._p
    return values, memory


def _same(wanted, got, name):
    """Lists that belong together are equally long."""
    if wanted != got:
        raise ValueError(f"{name} must have {wanted} entries, not {got}")


def _op_size(what, which, matter, state, body=None):
    """How many numbers a product with G, N or one of their parts takes or gives."""
    if what == "G":
        from talus._generated import GPart
        rows = lib.tal_matter_constraint_rows(matter, state)
        part = _enum(which, GPart)
        return {lib.TAL_G_P: rows.mp, lib.TAL_G_V: rows.mv,
                lib.TAL_G_A: rows.ma}.get(part, rows.mp + rows.mv + rows.ma)
    from talus._generated import NOp
    op = _enum(which, NOp)
    if body is None:
        nq, nu = lib.tal_matter_nq(matter, state), lib.tal_matter_nu(matter)
    else:
        nq, nu = lib.tal_body_nq(matter, state, body), lib.tal_body_nu(matter, body)
    gives_q = op in (lib.TAL_N, lib.TAL_NDOT, lib.TAL_NPLUS_T)
    return nu if gives_q == (what == "N in") else nq
