"""The hand-written layer: Systems, States with views, forces and events in Python, studies."""
import math
import weakref

import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import NULL, Record, ffi, lib, register

GROUND = 0


def _register_generated():
    for name in dir(g):
        cls = getattr(g, name)
        if isinstance(cls, type) and issubclass(cls, (rt.Object, rt.Index)) and cls._kind:
            rt.CLASSES[cls._kind] = cls


_register_generated()


# --- System and its parts ---

@register
class System(g.System):
    """The structure of a model. `matter` and `forces` are made when they are first asked for."""

    @property
    def system(self):
        """The System itself."""
        return self

    def _part(self, name, find, make):
        part = self.__dict__.get(name)
        if part is None:
            pointer = find() or make()
            if not pointer:
                rt._breach(name, (self,))
                raise rt.StageError(f"this System has no {name[1:]}", lib.TAL_ERR_TOPOLOGY)
            part = rt._wrap(f"tal{name}", pointer, (self,))
            self.__dict__[name] = part
        return part

    @property
    def matter(self):
        """Its bodies."""
        return self._part("_matter", lambda: lib.tal_system_matter(self._p),
                          lambda: lib.tal_matter_create(self._p))

    @property
    def forces(self):
        """Its force elements."""
        return self._part("_forces", lambda: self.__dict__.get("_forces_p", NULL),
                          lambda: lib.tal_forces_create(self._p, self.matter._p))

    @property
    def events(self):
        """Its handlers and reporters."""
        return self._part("_events", lambda: NULL, lambda: lib.tal_events_create(self._p))

    def create_state(self):
        """A new State. Realizes the topology the first time: mistakes in building are raised."""
        if not lib.tal_system_has_topology(self._p):
            self.realize_topology()
        return State(self)

    def realize(self, state, stage):
        """Bring a State up to a stage, computing only what is out of date."""
        status = lib.tal_system_realize(self._p, state._p, rt._enum(stage, g.Stage))
        if status:
            rt._fail(status, (state, self), None, "tal_system_realize")


class _Part:
    @property
    def system(self):
        """The System it belongs to."""
        return self._system

    @property
    def matter(self):
        """The bodies."""
        return self._system.matter

    @property
    def forces(self):
        """The force elements."""
        return self._system.forces

    @property
    def events(self):
        """Handlers and reporters."""
        return self._system.events


@register
class Matter(_Part, g.Matter):
    """Bodies and their tree: operators, constraints, motions."""

    @property
    def matter(self):
        """The bodies."""
        return self

    @property
    def ground(self):
        """Body 0."""
        return Body(self, 0)

    @property
    def bodies(self):
        """All bodies, Ground first."""
        return [Body(self, i) for i in range(self.num_bodies())]

    def body(self, name):
        """The body of that name; KeyError when there is none."""
        found = self.find_body(name)
        if found is None:
            raise rt.NameError_(f"there is no body '{name}'", lib.TAL_ERR_BAD_NAME)
        return found

    def M(self, state):
        """The mass matrix (nu, nu). Realizes Position."""
        state._need(lib.TAL_STAGE_POSITION)
        out = np.zeros((self.nu(), self.nu()), order="F")
        self.calc_M(state, out)
        return out


@register
class Body(g.Body):
    """A body with its mobilizer."""
    __slots__ = ()

    def __repr__(self):
        return f"<Body {self.i} '{self.name()}'>"


@register
class Forces(_Part, g.Forces):
    """Force elements."""

    @property
    def forces(self):
        """The force elements."""
        return self

    def add(self, name, force):
        """Add a force of your own, a `talus.Force`."""
        if not isinstance(force, Force):
            raise TypeError("a talus.Force is needed")
        handle = ffi.new_handle(force)
        ops = ffi.new("tal_force_ops *")
        ops.size = ffi.sizeof("tal_force_ops")
        kind = ffi.new("char[]", type(force).__name__.encode())
        ops.name, ops.apply = kind, lib.talpy_force_apply
        ops.needs = {"all": lib.TAL_FORCE_NEEDS_ALL, "q": lib.TAL_FORCE_NEEDS_Q,
                     "t": lib.TAL_FORCE_NEEDS_T}[force.needs]
        if type(force).potential_energy is not Force.potential_energy:
            ops.calc_potential_energy = lib.talpy_force_energy
        if type(force).dissipated_power is not Force.dissipated_power:
            ops.calc_dissipated_power = lib.talpy_force_power
        force._system_p = self._system._p
        self._system._alive.extend((handle, kind, ops, force))
        found = lib.tal_forces_add(self._p, rt._text(name), ops, handle)
        return rt._index("tal_force_ix", found, (self,))


@register
class Events(_Part, g.Events):
    """Handlers and reporters."""

    @property
    def events(self):
        """Handlers and reporters."""
        return self

    def add(self, name=None, *, handle=None, report=None, witness=None, rate=None,
            next_time=None, **fields):
        """Call a Python function when something happens.

        handle(state, cause)    changes the State; returning True ends the run
        report(state, cause)    looks at a State of its own
        witness(state), rate(state)     numbers: it happens when the witness crosses zero
        next_time(state, after)         the next planned time
        fields                  stage, crossing, window, times, period, first, causes, ...
        """
        functions = _Happening(self._system, handle, report, witness, rate, next_time)
        handle_p = ffi.new_handle(functions)
        record = rt._record("tal_happening", {**fields, "name": name})
        it = record._ptr
        it.context = handle_p
        if handle is not None:
            it.handle = lib.talpy_handle
        if report is not None:
            it.report = lib.talpy_report
        if witness is not None:
            it.witness = lib.talpy_witness
        if rate is not None:
            it.rate = lib.talpy_rate
        if next_time is not None:
            it.next_time = lib.talpy_next_time
        self._system._alive.extend((handle_p, functions, record))
        return rt._index("tal_event_ix", lib.tal_events_add(self._p, it), (self,))


class _Happening:
    def __init__(self, system, handle, report, witness, rate, next_time):
        self.system_p, self.handle, self.report = system._p, handle, report
        self.witness, self.rate, self.next_time = witness, rate, next_time
        self.system = weakref.ref(system)  # weak: the System owns this


# --- views ---

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

    def __iadd__(self, other):
        return self._changed(np.add, other)

    def __isub__(self, other):
        return self._changed(np.subtract, other)

    def __imul__(self, other):
        return self._changed(np.multiply, other)

    def __itruediv__(self, other):
        return self._changed(np.divide, other)

    def __array_wrap__(self, array, context=None):
        return array[()] if array.ndim == 0 else array.view(np.ndarray)

    def __reduce__(self):
        return np.array(self).__reduce__()


class _Memory:
    """What numpy needs to read memory of the library; keeps its owner alive."""
    __slots__ = ("__array_interface__", "owner")

    def __init__(self, pointer, shape, owner):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": "<f8",
            "data": (int(ffi.cast("uintptr_t", pointer)), True)}


def view_of(pointer, shape, owner):
    """A read-only array over memory that `owner` keeps alive."""
    if not pointer or 0 in shape:
        return np.zeros(shape)
    return np.asarray(_Memory(pointer, shape, owner))


def _results(name, size, stage, doc):
    read = getattr(lib, f"tal_state_{name}")
    setter = getattr(lib, f"tal_state_set_{name}", None)

    def get(self):
        if stage > lib.TAL_STAGE_MODEL and lib.tal_state_stage(self._p) < stage:
            self._need(stage)
        pointer, n = read(self._p), size(self._p)
        kept = self._views.get(name)
        if kept is not None and kept[0] == pointer and kept[1] == n:
            return kept[2]
        view = view_of(pointer, (n,), self._p).view(View)
        view.flags.writeable = False
        if setter is not None:
            view._set = _Setter(setter, self._p, name)
        self._views[name] = (pointer, n, view)
        return view

    def put(self, value):
        _Setter(setter, self._p, name)(value)

    return property(get, put if setter is not None else None, doc=doc)


class _Setter:
    """Sets q, u, z or y of a State, which need not be at hand as a Python object."""

    def __init__(self, setter, pointer, name):
        self.setter, self.pointer, self.name = setter, pointer, name

    def __call__(self, value):
        n = getattr(lib, f"tal_state_n{self.name}")(self.pointer)
        array, memory = rt._in(value, "double", (n,), self.name)
        status = self.setter(self.pointer, memory, n)
        if status:
            record = lib.tal_state_error(self.pointer)
            message, where = rt._str(record.message), rt._str(record.where)
            lib.tal_state_clear_error(self.pointer)
            lib.tal_contract_clear()
            raise rt.make_error(status, message, where)


def _pool(pool):
    return lambda p: max(lib.tal_state_pool_size(p, pool), 0)


@register
class State(g.State):
    """All that varies: t, q, u, z and what is computed from them, as arrays without copies.

    Reading a result realizes what it needs; `state.q = x`, `state.q[3] = 1` and `state.q += dx`
    set. Use a State from one thread at a time.
    """

    def _ready(self):
        self._views = {}
        self._in_callback = False

    @property
    def system(self):
        """The System it belongs to."""
        return self._system

    def _need(self, stage):
        if lib.tal_state_stage(self._p) < stage:
            if self._in_callback:
                raise rt.StageError("this is not known yet: a callback sees what its stage has",
                                    lib.TAL_ERR_STAGE)
            self._system.realize(self, stage)

    def realize(self, stage="acceleration"):
        """Bring it up to a stage, computing only what is out of date."""
        self._system.realize(self, stage)
        return self

    @property
    def stage(self):
        """How far it is computed."""
        return g.Stage(lib.tal_state_stage(self._p))

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
        status = lib.tal_state_copy(made._p, self._p)
        if status:
            rt._fail(status, (made,), None, "tal_state_copy")
        return made

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def save(self):
        """All variables as bytes."""
        size = lib.tal_state_save_size(self._p)
        memory = ffi.new("char[]", max(size, 1))
        status = lib.tal_state_save(self._p, memory, size)
        if status:
            rt._fail(status, (self,), None, "tal_state_save")
        return bytes(ffi.buffer(memory, size))

    def load(self, saved):
        """Read what save() wrote, of the same System or one of the same structure."""
        status = lib.tal_state_load(self._p, ffi.from_buffer(saved), len(saved))
        if status:
            rt._fail(status, (self,), None, "tal_state_load")
        return self


# --- callbacks ---

def _lent(pointer, system, cls="tal_state"):
    """A State that the library lends for the time of a call."""
    state = rt._wrap(cls, pointer, (system,) if system is not None else ())
    state._in_callback = True
    return state


def _failed(error, state_p):
    """Remember what a callback raised, and tell the library."""
    rt._pending.error = error
    text = ffi.new("char[]", f"{type(error).__name__}: {error}".encode()[:200])
    if state_p:
        lib.tal_state_fail(state_p, lib.TAL_ERR_CALLBACK, b"%s", text)
    return lib.TAL_ERR_CALLBACK


def _guard(name, failed=lib.TAL_ERR_CALLBACK):
    def wrap(function):
        return ffi.def_extern(name=name, error=failed)(function)
    return wrap


class At:
    """What a force sees: frames M of all bodies. Valid during the call."""
    __slots__ = ("_c",)

    def __init__(self, context):
        self._c = context

    def _rows(self, view, start, shape, inner):
        if view.bytes == NULL:
            raise rt.StageError("this force said that it does not need this", lib.TAL_ERR_STAGE)
        memory = ffi.buffer(view.bytes, view.stride * view.num_bodies)
        rows = np.ndarray((view.num_bodies, *shape), np.float64, memory, start,
                          (view.stride, *inner))
        rows.flags.writeable = False
        return rows

    @property
    def t(self):
        """Time [s]."""
        return lib.tal_state_t(self._c.state)

    @property
    def p(self):
        """Positions of Mo in Ground (num_bodies, 3)."""
        return self._rows(self._c.poses, 72, (3,), (8,))

    @property
    def R(self):
        """Rotations of M in Ground (num_bodies, 3, 3)."""
        return self._rows(self._c.poses, 0, (3, 3), (8, 24))

    @property
    def V(self):
        """Spatial velocities of M in Ground (num_bodies, 6), angular first."""
        return self._rows(self._c.velocities, 0, (6,), (8,))

    @property
    def q(self):
        """Coordinates."""
        p = self._c.state
        return np.frombuffer(ffi.buffer(lib.tal_state_q(p), 8 * lib.tal_state_nq(p)))

    @property
    def u(self):
        """Speeds."""
        p = self._c.state
        return np.frombuffer(ffi.buffer(lib.tal_state_u(p), 8 * lib.tal_state_nu(p)))


class Force:
    """A force element of your own: fill in `apply`, and energy and power if there are any.

    needs: "all", or "q" or "t" when forces depend on nothing else.
    """
    needs = "all"

    def apply(self, at, F, f):
        """Add to F (num_bodies, 6), moments about Mo then forces, and to f (nu,)."""
        raise NotImplementedError

    def potential_energy(self, at):
        """[J]"""
        return 0.0

    def dissipated_power(self, at):
        """[W]"""
        return 0.0


@_guard("talpy_force_apply")
def _apply(self, context, F, f):
    try:
        matter = context.matter
        nb, nu = lib.tal_matter_num_bodies(matter), lib.tal_matter_nu(matter)
        forces = np.frombuffer(ffi.buffer(F, 48 * nb)).reshape(nb, 6)
        along = np.frombuffer(ffi.buffer(f, 8 * nu)) if nu else np.zeros(0)
        ffi.from_handle(ffi.cast("void *", self)).apply(At(context), forces, along)
        return 0
    except BaseException as error:
        return _failed(error, context.state)


def _number(method):
    def call(self, context, out):
        try:
            force = ffi.from_handle(ffi.cast("void *", self))
            out[0] = getattr(force, method)(At(context))
            return 0
        except BaseException as error:
            return _failed(error, context.state)
    return call


_guard("talpy_force_energy")(_number("potential_energy"))
_guard("talpy_force_power")(_number("dissipated_power"))


@ffi.def_extern(name="talpy_force_destroy")
def _force_destroy(self):
    pass


@_guard("talpy_handle")
def _handle(context, system, state, cause, terminate):
    try:
        it = ffi.from_handle(context)
        lent = _lent(state, it.system())
        terminate[0] = bool(it.handle(lent, g.EventCause(cause)))
        lent.close()
        return 0
    except BaseException as error:
        return _failed(error, state)


@_guard("talpy_report")
def _report(context, system, state, cause):
    try:
        it = ffi.from_handle(context)
        lent = _lent(state, it.system())
        lent._in_callback = False  # reporters may realize
        it.report(lent, g.EventCause(cause))
        lent.close()
        return 0
    except BaseException as error:
        return _failed(error, state)


def _watched(name):
    def call(context, system, state, value):
        try:
            it = ffi.from_handle(context)
            lent = _lent(state, it.system())
            value[0] = getattr(it, name)(lent)
            lent.close()
            return 0
        except BaseException as error:
            return _failed(error, state)
    return call


_guard("talpy_witness")(_watched("witness"))
_guard("talpy_rate")(_watched("rate"))


@ffi.def_extern(name="talpy_next_time", error=math.nan)
def _next_time(context, system, state, after):
    try:
        it = ffi.from_handle(context)
        lent = _lent(ffi.cast("tal_state *", state), it.system())
        return float(it.next_time(lent, after))
    except BaseException as error:
        rt._pending.error = error
        return math.nan


# --- studies ---

@register
class Integrator(g.Integrator):
    """Steps a State through time: Integrator(system, accuracy=1e-6)."""

    def step_to(self, state, t):
        """Step to time t, which is met exactly. Ctrl-C works: Python looks in after each step."""
        if not t >= state.t:
            # the library's own sentence
            return g.Integrator.step_to(self, state, t)
        first = True
        while first or state.t < t:
            self.step(state, t)
            first = False
        return state


@register
class Table(g.Table):
    """Named columns of numbers, with a header. Read with talus.read_table()."""

    @property
    def names(self):
        """The columns' names."""
        return [self.column_name(i) for i in range(self.num_columns())]

    @property
    def array(self):
        """All values (rows, columns), as a copy."""
        rows, columns = self.num_rows(), self.num_columns()
        out = np.empty((rows, columns))
        for k in range(rows):
            out[k] = np.frombuffer(ffi.buffer(lib.tal_table_row(self._p, k), 8 * columns))
        return out

    def __getitem__(self, name):
        column = lib.tal_table_find_column(self._p, rt._text(name))
        if column < 0:
            raise rt.NameError_(f"the table has no column '{name}'", lib.TAL_ERR_BAD_NAME)
        return self.array[:, column]

    def __len__(self):
        return self.num_rows()

    @property
    def headers(self):
        """The header's keys and values."""
        keys = [self.header_key(i) for i in range(self.num_headers())]
        return {key: self.header(key) for key in keys}

    def write(self, path):
        """Write a file; its extension selects the format."""
        self.write_file(path)

    @classmethod
    def from_arrays(cls, columns):
        """A table of {name: values}, all of one length."""
        table = cls()
        arrays = [rt._real(v, (len(v),)) for v in columns.values()]
        if len({len(a) for a in arrays}) > 1:
            raise ValueError("columns of different lengths")
        for name in columns:
            table.add_column(name)
        for row in zip(*arrays):
            table.add_row(np.array(row))
        return table


def _file_error(status, found, what):
    listed = []
    text = ffi.new("char[]", lib.TAL_DIAGNOSTIC_SIZE)
    for k in range(max(lib.tal_diagnostics_num(found), 0)):
        listed.append(rt._str(lib.tal_diagnostic_text(lib.tal_diagnostics_at(found, k), text)))
    lib.tal_contract_clear()
    message = "\n".join(listed) or f"{what}: {rt._str(lib.tal_status_text(status))}"
    error = rt.make_error(status, message, what)
    if isinstance(error, rt.FileError):
        error.diagnostics = tuple(listed)
    return error


def _diagnostics():
    return ffi.gc(lib.tal_diagnostics_create(NULL), lib.tal_diagnostics_destroy)


def read_table(path):
    """Read a table (.sto, .mot, .trc, .csv, .npz, .c3d)."""
    out, found = ffi.new("tal_table **"), _diagnostics()
    status = lib.tal_table_read_file(rt._text(path), NULL, out, found)
    if status:
        raise _file_error(status, found, str(path))
    return rt._own("tal_table", out[0])


class Model:
    """What a model file gives: `system`, `matter`, `forces`, `state`, markers, params."""

    def __init__(self, pointer):
        self._c = pointer
        # State and System belong to the model; both keep it alive
        self.system = rt._wrap("tal_system", pointer.system, (pointer,))
        self.system._alive = []
        self.system.__dict__["_forces_p"] = pointer.forces
        self.system.__dict__["_model"] = pointer
        self.matter, self.forces = self.system.matter, self.system.forces
        self.state = State(self.system)
        status = lib.tal_state_copy(self.state._p, pointer.state)
        if status:
            rt._fail(status, (self.state,), None, "tal_state_copy")

    @property
    def markers(self):
        """Points of bodies that are observed, as Records with name, body and p_BS."""
        return [Record("tal_marker", ffi.addressof(self._c.markers[k]), self._c)
                for k in range(self._c.num_markers)]

    @property
    def params(self):
        """{name: value} of the file's parameters."""
        return {rt._str(self._c.params[k].name): self._c.params[k].value
                for k in range(self._c.num_params)}

    def text(self, state=None):
        """The model as a file's text, with what a State holds."""
        out, length, err = ffi.new("tal_model *", self._c[0]), ffi.new("size_t *"), \
            ffi.new("tal_error *")
        if state is not None:
            out.state = state._p
        for size in (0, None):
            size = length[0] + 1 if size is None else 0
            text = ffi.new("char[]", max(size, 1))
            status = lib.tal_model_write_memory(out, NULL, text if size else NULL, size, length,
                                                err)
            if status:
                rt._fail(status, (), err, "tal_model_write_memory")
        return rt._str(text)

    def write(self, path, state=None):
        """Write a model file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text(state))


def read_model(path, params=None, **fields):
    """Read a model: .talus, .urdf or .osim. `params` are {name: value} instead of the file's."""
    if params:
        fields["params"] = [{"name": name, "value": value} for name, value in params.items()]
    options = rt._record("tal_model_options", fields)
    pointer, found = ffi.new("tal_model *"), _diagnostics()
    status = lib.tal_model_read_any(rt._text(path), options._ptr, pointer, found)
    if status:
        raise _file_error(status, found, str(path))
    return Model(ffi.gc(pointer, lib.tal_model_destroy))


@register
class Ensemble(g.Ensemble):
    """One System, many States: Ensemble(system, parameters=[...], outputs=[...], task=..., end_time=1.0)."""

    def __new__(cls, system, threads=None, **fields):
        counts = len(fields.get("parameters", ())), len(fields.get("outputs", ()))
        if threads is not None:
            pool = g.Threads(threads)
            fields.update(executor=pool, lanes=fields.get("lanes", max(threads, 1)))
        made = g.Ensemble.create(system, **fields)
        made._counts = counts
        return made

    def run(self, start, values):
        """(results (n, num_outputs), status (n,)) of samples (n, num_parameters); NaN where one
        failed."""
        parameters, outputs = self._counts
        values, memory = rt._in(values, "double", (-1, parameters), "values")
        n = len(values)
        results, out = rt._out(None, "double", (n, outputs), "results")
        status = ffi.new("tal_status[]", max(n, 1))
        design = ffi.new("tal_design *", lib.tal_design_table(memory, parameters, n))
        st = lib.tal_ensemble_run(self._p, start._p, design, out, status, NULL)
        if st:
            rt._fail(st, (self,), None, "tal_ensemble_run")
        return results, [g.Status(status[k]) for k in range(n)]

    def fit(self, start, targets, values):
        """(values, cost) with which the outputs come nearest to the targets."""
        parameters, outputs = self._counts
        targets, wanted = rt._in(targets, "double", (outputs,), "targets")
        values, memory = rt._in(np.array(values, float), "double", (parameters,), "values")
        cost = ffi.new("double *")
        st = lib.tal_ensemble_fit(self._p, start._p, wanted, NULL, memory, cost)
        if st:
            rt._fail(st, (self, start), None, "tal_ensemble_fit")
        return values, cost[0]


@register
class Tracker(g.Tracker):
    """Inverse kinematics: Tracker(system, markers=[...])."""

    def __new__(cls, system, markers, threads=None, **fields):
        system = getattr(system, "system", system)
        goals = rt._record("tal_assembler_def", {"markers": list(markers)})
        goals._ptr.accuracy = lib.tal_tracker_def_default().assembler.accuracy
        if threads is not None:
            fields.update(executor=g.Threads(threads), lanes=max(threads, 1))
        made = g.Tracker.create(system, assembler=goals, **fields)
        made._num_markers = len(markers)
        return made

    def run(self, start, points, times=None):
        """(q (n, nq), fits) of observed points (n, num_markers, 3); a NaN is not seen."""
        points, seen = rt._in(points, "tal_vec3", (-1, self._num_markers), "points")
        n, nq = len(points), lib.tal_state_nq(start._p)
        frames = ffi.new("tal_frames *")
        frames.num_frames, frames.points = n, seen
        if times is not None:
            times, frames.times = rt._in(times, "double", (n,), "times")
        q, memory = rt._out(None, "double", (n, nq), "q")
        fits = ffi.new("tal_fit[]", max(n, 1))
        status = lib.tal_tracker_run(self._p, start._p, frames, memory, fits)
        if status:
            rt._fail(status, (self, start), None, "tal_tracker_run")
        return q, [Record("tal_fit", ffi.addressof(fits[k]), fits) for k in range(n)]


@register
class Linearizer(g.Linearizer):
    """Linear equations about a State, and modes."""

    def matrix(self, name):
        """A copy of "A", "B", "K_p", "K_v" or "A_error"."""
        found = getattr(lib, f"tal_linearizer_{name}")(self._p)
        flat = np.frombuffer(ffi.buffer(found.data, 8 * found.ld * found.cols)) \
            if found.cols and found.rows else np.zeros(0)
        return flat.reshape((found.ld, found.cols), order="F")[:found.rows].copy() \
            if flat.size else np.zeros((found.rows, found.cols))

    def modes(self):
        """All modes, as Records."""
        self.find_modes()
        return [self.mode(i) for i in range(self.num_modes())]


def record(integrator, state, times, read=None):
    """Step through `times`; an array (len(times), n) of what read(state) gives, y by default."""
    rows = []
    for t in times:
        integrator.step_to(state, t)
        rows.append(np.array(state.y if read is None else read(state), float))
    return np.array(rows)
