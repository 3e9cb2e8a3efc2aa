"""States: variables and results as arrays without copies."""
import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import ffi, lib, register


FLOAT64, DOUBLES, from_buffer = np.dtype(np.float64), ffi.typeof("double[]"), ffi.from_buffer
ndarray, realize_with = np.ndarray, lib.talpy_realize


class View(np.ndarray):
    """Numbers of a State, read without a copy. Assigning to it goes through the setter; a slice
    of it can only be read."""
    _set = None

    def __array_finalize__(self, source):
        self._set = None

    def __setitem__(self, key, value):
        if self._set is None:
            raise ValueError("this is a view of a State: assign to state.q[...] itself, or copy")
        changed = np.array(self)
        changed[key] = value
        self._set(changed)

    def _changed(self, operation, other):
        return operation(np.array(self), other)

    def __iadd__(self, other):  # type: ignore
        return self._changed(np.add, other)

    def __isub__(self, other):  # type: ignore
        return self._changed(np.subtract, other)

    def __imul__(self, other):  # type: ignore
        return self._changed(np.multiply, other)

    def __itruediv__(self, other):  # type: ignore
        return self._changed(np.divide, other)

    def __array_wrap__(self, array, context=None):
        return array[()] if array.ndim == 0 else array.view(np.ndarray)

    def __reduce__(self):
        return np.array(self).__reduce__()


class Memory:
    """What numpy needs to read memory of the library; keeps its owner alive."""
    __slots__ = ("__array_interface__", "owner", "__weakref__")

    def __init__(self, pointer, shape, owner):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": "<f8",
            "data": (int(ffi.cast("uintptr_t", pointer)), True)}


def view_of(pointer, shape, owner):
    """A read-only array over memory that `owner` keeps alive."""
    if not pointer or 0 in shape:
        return np.zeros(shape)
    return np.asarray(Memory(pointer, shape, owner))


def _results(name, size, stage, doc):
    read = getattr(lib, f"tal_state_{name}")
    setter = getattr(lib, f"tal_state_set_{name}", None)

    needs_more, number = stage > lib.TAL_STAGE_MODEL, lib.tal_state_stage

    def get(self):
        p = self._p
        if needs_more and number(p) < stage:
            self._need(stage)
        pointer, n = read(p), size(p)
        kept = self._views.get(name)
        if kept is not None and kept[0] == pointer and kept[1] == n:
            return kept[2]
        view = view_of(pointer, (n,), self._p).view(View)
        view.flags.writeable = False
        if setter is not None:
            view._set = _Setter(setter, self, name)
        self._views[name] = (pointer, n, view)
        return view

    def put(self, value):
        # the usual case, without a detour: the library checks how many there are
        if type(value) is np.ndarray and value.dtype is FLOAT64 and value.ndim == 1 and \
                not self._busy:
            self._busy = True
            try:
                status = setter(self._p, from_buffer(DOUBLES, value), value.size)
            except (ValueError, BufferError):  # it is not contiguous
                status = 1
            finally:
                self._busy = False
            if not status:
                return
            lib.tal_state_clear_error(self._p)
            lib.tal_contract_clear()
        self._p  # raises when it is closed
        _Setter(setter, self, name)(value)

    return property(get, put if setter is not None else None, doc=doc)


class _Setter:
    """Sets q, u, z or y of a State, which need not be at hand as a Python object."""

    def __init__(self, setter, state, name):
        self.setter, self.pointer, self.name = setter, state._p, name
        self.take, self.give = state._take, state._give

    def __call__(self, value):
        n = getattr(lib, f"tal_state_n{self.name}")(self.pointer)
        array, memory = rt._in(value, "double", (n,), self.name)
        if not self.take():
            raise rt.BusyError("this State is in use by another thread", 0)
        try:
            status = self.setter(self.pointer, memory, n)
        finally:
            self.give()
        if status:
            record = lib.tal_state_error(self.pointer)
            message, where = rt._str(record.message), rt._str(record.where)
            lib.tal_state_clear_error(self.pointer)
            lib.tal_contract_clear()
            raise rt.make_error(status, message, where)


def _pool(pool):
    return lambda p: max(lib.tal_state_pool_size(p, pool), 0)


@register
class State(g._State):
    """All that varies: t, q, u, z and what is computed from them, as arrays without copies.

    Reading a result realizes what it needs; `state.q = x`, `state.q[3] = 1` and `state.q += dx`
    set. Use a State from one thread at a time.
    """

    def _ready(self):
        self._views = {}
        self._in_callback = False

    def _about(self):
        p = self._p
        sizes = ", ".join(f"{getattr(lib, f'tal_state_n{name}')(p)} {name}" for name in "quz") \
            if lib.tal_state_stage(p) >= lib.TAL_STAGE_MODEL else "no variables yet"
        return f"t = {lib.tal_state_t(p):g}, {sizes}, stage {g.Stage(lib.tal_state_stage(p))}"

    @property
    def system(self):
        """The System it belongs to."""
        return self._system

    # Python switches threads where functions are called, not between a test and a store.
    def _take(self):
        if self._busy:
            return False
        self._busy = True
        return True

    def _give(self):
        self._busy = False

    def _need(self, stage):
        if lib.tal_state_stage(self._p) < stage:
            if self._in_callback:
                raise rt.StageError("this is not known yet: a callback sees what its stage has",
                                    lib.TAL_ERR_STAGE)
            self._system.realize(self, stage)

    def realize(self, stage="acceleration", q=None, u=None):
        """Bring it up to a stage, computing only what is out of date; with q and u, set them first,
        all in one call."""
        if q is None and u is None:
            self._system.realize(self, stage)
            return self
        if type(stage) is str:
            stage = rt._enum(stage, g.Stage)
        q_p = None
        if type(q) is ndarray and q.dtype is FLOAT64 and q.ndim == 1 and \
                type(u) is ndarray and u.dtype is FLOAT64 and u.ndim == 1:
            # the usual case, without a detour: the library checks how many there are
            try:
                q_p, u_p = from_buffer(DOUBLES, q), from_buffer(DOUBLES, u)
                nq, nu = q.size, u.size
            except ValueError:  # not contiguous
                q_p = None
        if q_p is None:
            (q_p, nq), (u_p, nu) = self._doubles(q, "q"), self._doubles(u, "u")
        if self._busy:
            rt._busy(self)
        self._busy = True
        try:
            status = realize_with(self._system._p, self._p, q_p, nq, u_p, nu, stage)
        finally:
            self._busy = False
        if status:
            rt._fail(status, (self, self._system), None, "tal_system_realize")
        return self

    def _doubles(self, value, name):
        """(memory, count) of q or u; nothing for None."""
        if value is None:
            return rt.NULL, 0
        value, memory = rt._in(value, "double", (-1,), name)
        return from_buffer(DOUBLES, value), value.size

    @property
    def stage(self):
        """How far it is computed."""
        return g.Stage._value2member_map_[lib.tal_state_stage(self._p)]

    @property
    def t(self):
        """Time [s]."""
        return lib.tal_state_t(self._p)

    @t.setter
    def t(self, value):
        status = lib.tal_state_set_t(self._p, value)
        if status:
            rt._fail(status, (self,), None, "tal_state_set_t")

    q = _results("q", lib.tal_state_nq, lib.TAL_STAGE_MODEL, "Coordinates.")
    u = _results("u", lib.tal_state_nu, lib.TAL_STAGE_MODEL, "Speeds.")
    z = _results("z", lib.tal_state_nz, lib.TAL_STAGE_MODEL, "Auxiliary variables.")
    y = _results("y", lib.tal_state_ny, lib.TAL_STAGE_MODEL, "q, u and z.")
    qdot = _results("qdot", lib.tal_state_nq, lib.TAL_STAGE_VELOCITY, "Rates of q.")
    udot = _results("udot", lib.tal_state_nu, lib.TAL_STAGE_ACCELERATION, "Accelerations.")
    zdot = _results("zdot", lib.tal_state_nz, lib.TAL_STAGE_ACCELERATION, "Rates of z.")
    ydot = _results("ydot", lib.tal_state_ny, lib.TAL_STAGE_ACCELERATION, "Rates of y.")
    qdotdot = _results("qdotdot", lib.tal_state_nq, lib.TAL_STAGE_ACCELERATION,
                       "Second derivatives of q.")
    qerr = _results("qerr", _pool(lib.TAL_POOL_QERR), lib.TAL_STAGE_POSITION,
                    "Errors of position constraints.")
    uerr = _results("uerr", _pool(lib.TAL_POOL_UERR), lib.TAL_STAGE_VELOCITY,
                    "Errors of velocity constraints.")
    udoterr = _results("udoterr", _pool(lib.TAL_POOL_UDOTERR), lib.TAL_STAGE_ACCELERATION,
                       "Errors of acceleration constraints.")
    multipliers = _results("multipliers", _pool(lib.TAL_POOL_UDOTERR),
                           lib.TAL_STAGE_ACCELERATION, "Multipliers of constraints.")

    @property
    def energy(self):
        """Kinetic and potential energy [J]. Realizes Velocity."""
        self._need(lib.TAL_STAGE_VELOCITY)
        return self._system.energy(self)

    def copy(self):
        """Another State with the same values and results."""
        made = State(self._system)
        if not self._take():
            rt._busy(self)
        try:
            status = lib.tal_state_copy(made._p, self._p)
        finally:
            self._give()
        if status:
            rt._fail(status, (made,), None, "tal_state_copy")
        return made

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def save(self):
        """All variables as bytes, which load() reads: to a file, or in another process."""
        return save_bytes(self, lambda: lib.tal_state_save_size(self._p),
                          lambda memory, size: lib.tal_state_save(self._p, memory, size),
                          "tal_state_save")

    def load(self, saved):
        """Read what save() wrote, of the same System or one of the same structure."""
        given = ffi.from_buffer(saved)
        if not self._take():
            rt._busy(self)
        try:
            status = lib.tal_state_load(self._system._p, self._p, given, len(given))
        finally:
            self._give()
        if status:
            rt._fail(status, (self,), None, "tal_state_load")
        return self


def save_bytes(one, size_of, write, name):
    """What a saving function of the library writes."""
    if not one._take():
        rt._busy(one)
    try:
        size = size_of()
        memory = ffi.new("char[]", max(size, 1))
        status = write(memory, size)
    finally:
        one._give()
    if status:
        rt._fail(status, (one,), None, name)
    return bytes(ffi.buffer(memory, size))
