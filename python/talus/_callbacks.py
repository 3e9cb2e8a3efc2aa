"""Functions of yours that the library calls: the way there and back.

Each entry of a table of functions is one C function for all objects of a kind; its `self` leads to
the Python object. What a function raises is kept, and is the cause of what the caller gets.
"""
import math

import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import NULL, ffi, lib

FAILED = lib.TAL_ERR_CALLBACK


def table(kind, name, number, has, **fields):
    """A table of functions with the entries in `has`; the rest NULL."""
    ops = ffi.new(f"{kind} *")
    text = ffi.new("char[]", rt._text(name))
    ops.size, ops.name = ffi.sizeof(kind), text
    for entry in has:
        setattr(ops, entry, getattr(lib, f"talpy_{number}_{entry}"))
    for field, value in fields.items():
        setattr(ops, field, value)
    return ops, text


def keep(system, *things):
    """Keep alive what a System points to."""
    system._alive.extend(things)


def overrides(one, base, entries):
    """The entries of a table whose methods a class of yours has."""
    return [entry for entry, method in entries.items()
            if getattr(type(one), method) is not getattr(base, method)]


def object_at(handle):
    """The Python object that a handle stands for."""
    return ffi.from_handle(ffi.cast("void *", handle))


def lent(pointer, system, cls="tal_state"):
    """A State that the library lends for the time of a call."""
    state = rt._wrap(cls, pointer, (system,) if system is not None else ())
    state._in_callback = True
    return state


def failed(error, state_p=NULL):
    """Remember what a callback raised, and tell the library."""
    rt._pending.error = error
    if state_p:
        text = ffi.new("char[]", f"{type(error).__name__}: {error}".encode()[:200])
        lib.tal_state_fail(state_p, FAILED, b"%s", text)
    return FAILED


def entry(name, result=FAILED):
    """Make a Python function an entry of a table: what it raises is kept."""
    def wrap(function):
        def call(*args):
            try:
                return function(*args) or 0
            except BaseException as error:  # nothing may pass through C
                return failed(error)
        ffi.def_extern(name=f"talpy_{name}", error=result)(call)
        return function
    return wrap


def numbers(pointer, count, read_only=True):
    """An array over memory of the library, for the time of a call."""
    if not pointer or count == 0:
        return np.zeros(0)
    array = np.frombuffer(ffi.buffer(pointer, 8 * count))
    array.flags.writeable = not read_only
    return array


def fill(target, value, what):
    """Write what a function of yours returned, of exactly the shape that is wanted."""
    value = np.asarray(value, np.float64)
    if value.size != target.size or (value.ndim > 1 and value.shape != target.shape):
        raise ValueError(f"{what} must return numbers of shape {target.shape}, not {value.shape}")
    target[...] = value.reshape(target.shape)


# --- forces ---

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
        return numbers(lib.tal_state_q(p), lib.tal_state_nq(p))

    @property
    def u(self):
        """Speeds."""
        p = self._c.state
        return numbers(lib.tal_state_u(p), lib.tal_state_nu(p))


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


class Controller:
    """Controls of actuators by a function of yours."""

    def control(self, at, which):
        """What is added to the control of actuator number `which`."""
        raise NotImplementedError


@ffi.def_extern(name="talpy_force_apply", error=FAILED)
def _apply(self, context, F, f):
    try:
        nb, nu = lib.tal_matter_num_bodies(context.matter), lib.tal_matter_nu(context.matter)
        object_at(self).apply(At(context), numbers(F, 6 * nb, False).reshape(nb, 6),
                              numbers(f, nu, False))
        return 0
    except BaseException as error:
        return failed(error, context.state)


def _number(name, method, with_index=False):
    def call(self, context, *rest):
        try:
            found = getattr(object_at(self), method)(At(context), *rest[:-1])
            rest[-1][0] = found
            return 0
        except BaseException as error:
            return failed(error, context.state)
    ffi.def_extern(name=f"talpy_{name}", error=FAILED)(call)


_number("force_calc_potential_energy", "potential_energy")
_number("force_calc_dissipated_power", "dissipated_power")
_number("controller_calc_control", "control")


# --- mobilizers ---

class MobilizerAt:
    """What a mobilizer sees: `q`, `u` (None where only q is known), `params`, `use_angles`."""
    __slots__ = ("q", "u", "params", "use_angles")

    def __init__(self, one, arg):
        nq = one.nq_angles_ if arg.use_angles else one.nq_
        self.q, self.params = numbers(arg.q, nq), numbers(arg.params, one.num_params)
        self.u = numbers(arg.u, one.nu) if arg.u else None
        self.use_angles = bool(arg.use_angles)


class Mobilizer:
    """A mobilizer of your own: X_FM(q) and the columns of H_FM; V_FM = H_FM u, qdot = N(q) u.

    nu, nq              speeds and coordinates; nq is nu unless you say so, and then mul_N is needed
    nq_angles           coordinates with body-XYZ angles instead of a quaternion
    num_params          parameters, kept in the State
    has_quaternion      q[:4] is a quaternion
    """
    nu, nq, nq_angles, num_params, has_quaternion = 1, None, None, 0, False

    @property
    def nq_(self):
        """Coordinates."""
        return self.nu if self.nq is None else self.nq

    @property
    def nq_angles_(self):
        """Coordinates with angles."""
        return self.nq_ if self.nq_angles is None else self.nq_angles

    def X_FM(self, at):
        """The pose of M in F: a Transform, or p alone, or R alone."""
        raise NotImplementedError

    def H_FM(self, at):
        """(nu, 6): a row for each speed, angular velocity first, in F."""
        raise NotImplementedError

    def Hdot_FM(self, at):
        """(nu, 6): the time derivative in F of those."""

    def mul_N(self, at, op, x):
        """The product of x with N or one of its relatives, `op` a talus.NOp."""

    def check(self, params):
        """Raise an exception when these parameters are not physical."""

    _ENTRIES = {"calc_Hdot_FM": "Hdot_FM", "mul_N": "mul_N", "check_params": "check"}

    def _table(self):
        has = ["calc_X_FM", "calc_H_FM", *overrides(self, Mobilizer, self._ENTRIES)]
        return table("tal_mobilizer_ops", type(self).__name__, "mobilizer", has, nu=self.nu,
                     nq=self.nq_, nq_angles=self.nq_angles_, num_params=self.num_params,
                     has_quaternion=self.has_quaternion)

    def test(self, q, u, params=(), direction="forward"):
        """Check the functions against each other at one q and u: a Record of differences."""
        ops, text = self._table()
        handle, arg = ffi.new_handle(self), ffi.new("tal_mobilizer_arg *")
        kept = [rt._in(value, "double", (size,), name) for value, size, name in (
            (q, self.nq_, "q"), (u, self.nu, "u"), (params, self.num_params, "params"))]
        arg.q, arg.u, arg.params = (memory for _, memory in kept)
        report, err = ffi.new("tal_mobilizer_report *"), ffi.new("tal_error *")
        status = lib.tal_mobilizer_test(ops, handle, arg, rt._enum(direction, g.Direction), report,
                                        err)
        if status:
            rt._fail(status, (), err, "tal_mobilizer_test")
        return rt._result("tal_mobilizer_report", report[0], (report, text))


@entry("mobilizer_calc_X_FM")
def _calc_X_FM(self, arg, out):
    one = object_at(self)
    out[0] = rt._value(one.X_FM(MobilizerAt(one, arg)), "tal_xform")


@entry("mobilizer_calc_H_FM")
def _calc_H_FM(self, arg, out):
    one = object_at(self)
    fill(numbers(out, 6 * one.nu, False).reshape(one.nu, 6), one.H_FM(MobilizerAt(one, arg)),
         "H_FM")


@entry("mobilizer_calc_Hdot_FM")
def _calc_Hdot_FM(self, arg, out):
    one = object_at(self)
    fill(numbers(out, 6 * one.nu, False).reshape(one.nu, 6), one.Hdot_FM(MobilizerAt(one, arg)),
         "Hdot_FM")


@entry("mobilizer_mul_N")
def _mul_N(self, arg, op, given, out):
    one, op = object_at(self), g.NOp(op)
    nq = one.nq_angles_ if arg.use_angles else one.nq_
    to_q = op in (g.NOp.N, g.NOp.NDOT, g.NOp.NPLUS_T)
    x = numbers(given, one.nu if to_q else nq)
    fill(numbers(out, nq if to_q else one.nu, False), one.mul_N(MobilizerAt(one, arg), op, x),
         "mul_N")


def _check(self, params, err):
    """Parameters that are refused: the sentence of the exception is that of the library."""
    one = object_at(self)
    try:
        one.check(numbers(params, one.num_params))
        return 0
    except BaseException as error:
        if err:
            text = f"{type(error).__name__}: {error}".encode()[:200]
            ffi.memmove(err.message, text + b"\0", len(text) + 1)
            err.status = lib.TAL_ERR_BAD_VALUE
        rt._pending.error = error
        return lib.TAL_ERR_BAD_VALUE


ffi.def_extern(name="talpy_mobilizer_check_params", error=FAILED)(_check)
ffi.def_extern(name="talpy_constraint_check_params", error=FAILED)(_check)


# --- constraints and motions ---

class ConstraintAt:
    """What a constraint sees. Bodies: X_AB (Transforms), V and A (n, 6) in A; mobilities: q, u,
    udot. What is not known at a level is None."""
    __slots__ = ("t", "params", "X_AB", "V", "A", "q", "u", "udot")

    def __init__(self, one, arg):
        nb, nm = arg.num_bodies, arg.num_mobilities
        self.t, self.params = arg.t, numbers(arg.params, one.num_params)
        self.X_AB = [rt._result("tal_xform", arg.X_AB[k], ()) for k in range(nb)]
        self.V = numbers(arg.V, 6 * nb).reshape(nb, 6) if arg.V else None
        self.A = numbers(arg.a, 6 * nb).reshape(nb, 6) if arg.a else None
        self.q = numbers(arg.q, nm)
        self.u = numbers(arg.u, nm) if arg.u else None
        self.udot = numbers(arg.udot, nm) if arg.udot else None


class Constraint:
    """A constraint of your own: `mp` equations on positions, `mv` on velocities, `ma` on
    accelerations, between bodies and mobilities that are named when it is added."""
    mp, mv, ma, num_params, forces_need_velocity = 0, 0, 0, 0, False

    def perr(self, at):
        """(mp,) the errors of positions."""
        return ()

    def verr(self, at):
        """(mp + mv,) their derivative, then the errors of velocities."""
        raise NotImplementedError

    def aerr(self, at):
        """(mp + mv + ma,) second derivatives, derivatives, then errors of accelerations."""
        raise NotImplementedError

    def add_forces(self, at, multipliers, F, f):
        """Add G^T multipliers to F (bodies, 6), moments about Bo then forces, in A; and to f."""
        raise NotImplementedError

    def check(self, params):
        """Raise an exception when these parameters are not physical."""

    def _table(self):
        has = ["calc_v", "calc_a", "add_forces"] if self.mp + self.mv else ["calc_a", "add_forces"]
        if self.mp:
            has.append("calc_p")
        has += overrides(self, Constraint, {"check_params": "check"})
        return table("tal_constraint_ops", type(self).__name__, "constraint", has, mp=self.mp,
                     mv=self.mv, ma=self.ma, num_bodies=-1, num_mobilities=-1,
                     num_params=self.num_params, forces_need_velocity=self.forces_need_velocity)


def _errors(name, method, levels):
    def call(self, arg, out):
        one = object_at(self)
        n = sum(getattr(one, level) for level in levels)
        fill(numbers(out, n, False), getattr(one, method)(ConstraintAt(one, arg)), method)
    entry(name)(call)


_errors("constraint_calc_p", "perr", ("mp",))
_errors("constraint_calc_v", "verr", ("mp", "mv"))
_errors("constraint_calc_a", "aerr", ("mp", "mv", "ma"))


@entry("constraint_add_forces")
def _add_forces(self, arg, multipliers, F, f):
    one, nb, nm = object_at(self), arg.num_bodies, arg.num_mobilities
    one.add_forces(ConstraintAt(one, arg), numbers(multipliers, one.mp + one.mv + one.ma),
                   numbers(F, 6 * nb, False).reshape(nb, 6), numbers(f, nm, False))


class Motion:
    """A motion of your own: what is prescribed, and its derivatives by time."""
    num_params = 0

    def value(self, t, order, n, params):
        """(n,) what is prescribed (order 0) or its derivative of that order."""
        raise NotImplementedError


@entry("motion_calc")
def _calc_motion(self, arg, order, out):
    one = object_at(self)
    fill(numbers(out, arg.n, False),
         one.value(arg.t, order, arg.n, numbers(arg.params, max(one.num_params, 0))), "value")


# --- functions ---

_functions = {}  # those that the library has; it says when it destroys one


class _Function:
    def __init__(self, value, derivative):
        self.value, self.derivative = value, derivative


def function(value, derivative=None, num_args=1, max_order=2):
    """A talus.Function of a Python function.

    value(x)                x (num_args,); returns a number
    derivative(x, wrt)      the partial derivative by the arguments listed in wrt; without it,
                            central differences
    """
    one = _Function(value, derivative)
    has = ["calc_value", "destroy"] + ["calc_derivative"] * (derivative is not None)
    ops, text = table("tal_function_ops", getattr(value, "__name__", "function"), "function", has)
    handle = ffi.new_handle(one)
    made = g.Function.create(ops=ops, self=handle, num_args=num_args, max_order=max_order)
    _functions[int(ffi.cast("uintptr_t", handle))] = (handle, one, text, ops)
    return made


@ffi.def_extern(name="talpy_function_calc_value", error=math.nan)
def _value_of(self, x, n):
    try:
        return float(object_at(self).value(numbers(x, n)))
    except BaseException as error:
        rt._pending.error = error
        return math.nan


@ffi.def_extern(name="talpy_function_calc_derivative", error=math.nan)
def _derivative_of(self, x, n, wrt, order):
    try:
        return float(object_at(self).derivative(numbers(x, n), tuple(ffi.unpack(wrt, order))))
    except BaseException as error:
        rt._pending.error = error
        return math.nan


@ffi.def_extern(name="talpy_function_destroy")
def _destroy_function(self):
    _functions.pop(int(ffi.cast("uintptr_t", self)), None)


# --- events ---

class Happening:
    """The functions of an event. The System owns this, so it is found through a weak reference."""

    def __init__(self, system, **functions):
        self.system, self.functions = system, functions


@ffi.def_extern(name="talpy_event_handle", error=FAILED)
def _handle(context, system, state, cause, terminate):
    try:
        it = ffi.from_handle(context)
        one = lent(state, it.system())
        terminate[0] = bool(it.functions["handle"](one, g.EventCause(cause)))
        one.close()
        return 0
    except BaseException as error:
        return failed(error, state)


@ffi.def_extern(name="talpy_event_report", error=FAILED)
def _report(context, system, state, cause):
    try:
        it = ffi.from_handle(context)
        one = lent(state, it.system())
        one._in_callback = False  # reporters may realize
        it.functions["report"](one, g.EventCause(cause))
        one.close()
        return 0
    except BaseException as error:
        return failed(error, state)


def _watched(name):
    def call(context, system, state, value):
        try:
            it = ffi.from_handle(context)
            one = lent(state, it.system())
            value[0] = it.functions[name](one)
            one.close()
            return 0
        except BaseException as error:
            return failed(error, state)
    ffi.def_extern(name=f"talpy_event_{name}", error=FAILED)(call)


_watched("witness")
_watched("rate")


@ffi.def_extern(name="talpy_event_next_time", error=math.nan)
def _next_time(context, system, state, after):
    try:
        it = ffi.from_handle(context)
        one = lent(ffi.cast("tal_state *", state), it.system())
        return float(it.functions["next_time"](one, after))
    except BaseException as error:
        rt._pending.error = error
        return math.nan
