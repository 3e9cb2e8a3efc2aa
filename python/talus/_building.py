"""Systems: bodies, forces, events."""
import weakref

import numpy as np

from talus import _callbacks as cb
from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import NULL, ffi, lib, register
from talus._state import State

GROUND = 0


def _register_generated():
    """Let the generated classes stand for their C types; those written here come after them."""
    for cls in vars(g).values():
        if isinstance(cls, type) and issubclass(cls, (rt.Object, rt.Index)) and cls._kind:
            rt.CLASSES.setdefault(cls._kind, cls)


_register_generated()


@register
class System(g._System):
    """The structure of a model. `matter` and `forces` are made when they are first asked for."""

    @property
    def system(self) -> "System":
        """The System itself."""
        return self

    def _about(self):
        matter = lib.tal_system_matter(self._p)
        if not matter:
            return "no bodies yet"
        bodies = rt.counted(lib.tal_matter_num_bodies(matter) - 1, "body", "bodies")
        if not lib.tal_system_has_topology(self._p):
            return f"{bodies}, being built"
        return f"{bodies}, {rt.counted(lib.tal_matter_nu(matter), 'speed')}"

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
    def matter(self) -> "Matter":
        """Its bodies."""
        return self._part("_matter", lambda: lib.tal_system_matter(self._p),
                          lambda: lib.tal_matter_create(self._p))

    @property
    def forces(self) -> "Forces":
        """Its force elements."""
        return self._part("_forces", lambda: self.__dict__.get("_forces_p", NULL),
                          lambda: lib.tal_forces_create(self._p, self.matter._p))

    @property
    def events(self) -> "Events":
        """Its handlers and reporters."""
        return self._part("_events", lambda: NULL, lambda: lib.tal_events_create(self._p))

    def create_state(self) -> State:
        """A new State. Realizes the topology the first time: mistakes in building are raised."""
        if not lib.tal_system_has_topology(self._p):
            self.realize_topology()
        return State(self)

    def realize(self, state, stage):
        """Bring a State up to a stage, computing only what is out of date."""
        if type(stage) is str:
            stage = rt._enum(stage, g.Stage)
        if state._busy:
            rt._busy(state)
        state._busy = True
        try:
            status = lib.tal_system_realize(self._p, state._p, stage)
        finally:
            state._busy = False
        if status:
            rt._fail(status, (state, self), None, "tal_system_realize")


class _Part:
    _system: "System"

    @property
    def system(self) -> "System":
        """The System it belongs to."""
        return self._system

    @property
    def matter(self) -> "Matter":
        """The bodies."""
        return self._system.matter

    @property
    def forces(self) -> "Forces":
        """The force elements."""
        return self._system.forces

    @property
    def events(self) -> "Events":
        """Handlers and reporters."""
        return self._system.events


@register
class Matter(_Part, g._Matter):
    """Bodies and their tree: operators, constraints, motions."""

    @property
    def matter(self) -> "Matter":
        """The bodies."""
        return self

    @property
    def ground(self) -> "Body":
        """Body 0."""
        return Body(self, 0)

    @property
    def bodies(self) -> "list[Body]":
        """All bodies, Ground first."""
        return [Body(self, i) for i in range(self.num_bodies())]

    def body(self, name) -> "Body":
        """The body of that name; KeyError when there is none."""
        found = self.find_body(name)
        if found is None:
            raise rt.no_such("body", name, [body.name() for body in self.bodies])
        return found  # type: ignore

    def add_mobilizer(self, parent, mobilizer, params=(), **fields):
        """Add a body with a `talus.Mobilizer` of yours; fields as for the built-in ones."""
        if not isinstance(mobilizer, cb.Mobilizer):
            raise TypeError("a talus.Mobilizer is needed")
        record = rt._record("tal_mobod_def", fields)
        values, memory = rt._in(params, "double", (mobilizer.num_params,), "params")
        handle, (ops, text) = ffi.new_handle(mobilizer), mobilizer._table()
        cb.keep(self._system, ops, text, handle, mobilizer)
        found = lib.tal_matter_add_mobilizer(self._p, rt._ix(parent, "tal_body_ix"), record._ptr,
                                             ops, handle, memory if len(values) else NULL)
        return rt._index("tal_body_ix", found, (self,))

    def add_constraint(self, constraint, bodies=(), mobilities=(), params=(), **fields):
        """Add a `talus.Constraint` of yours between bodies and mobilities (body, number)."""
        if not isinstance(constraint, cb.Constraint):
            raise TypeError("a talus.Constraint is needed")
        bodies, mobilities = list(bodies), list(mobilities)
        body_list, bodies_p = rt._in(bodies, "tal_body_ix", (-1,), "bodies")
        mobility_list, mobilities_p = rt._in(mobilities, "tal_mobility", (-1,), "mobilities")
        record = rt._record("tal_constraint_def", fields)
        record._ptr.num_bodies, record._ptr.num_mobilities = len(bodies), len(mobilities)
        if bodies:
            record._ptr.body_list = bodies_p
        if mobilities:
            record._ptr.mobility_list = mobilities_p
        values, memory = rt._in(params, "double", (constraint.num_params,), "params")
        handle, (ops, text) = ffi.new_handle(constraint), constraint._table()
        cb.keep(self._system, ops, text, handle, constraint, body_list, mobility_list)
        found = lib.tal_matter_add_constraint(self._p, record._ptr, ops, handle,
                                              memory if len(values) else NULL)
        return rt._index("tal_constraint_ix", found, (self,))

    def add_motion(self, body, motion, params=(), **fields):
        """Add a `talus.Motion` of yours; fields are mobility (below 0: all), level, name."""
        if not isinstance(motion, cb.Motion):
            raise TypeError("a talus.Motion is needed")
        record = rt._record("tal_motion_def", {"body": body, **fields})
        values, memory = rt._in(params, "double", (motion.num_params,), "params")
        ops, text = cb.table("tal_motion_ops", type(motion).__name__, "motion", ["calc"],
                             num_params=motion.num_params)
        handle = ffi.new_handle(motion)
        cb.keep(self._system, ops, text, handle, motion)
        found = lib.tal_matter_add_motion(self._p, record._ptr, ops, handle,
                                          memory if len(values) else NULL)
        return rt._index("tal_motion_ix", found, (self,))

    def floating(self, state, base, F=None):
        """(I, F, H, p, C) of a floating base: [I F; F' H] [A; udot] + [p; C] = [0; tau], with the n
        speeds that the base carries. F are forces on bodies (num_bodies, 6). Realizes Velocity."""
        state._need(lib.TAL_STAGE_VELOCITY)
        n = self.floating_n(base)
        parts = [np.zeros((6, 6), order="F"), np.zeros((6, n), order="F"),
                 np.zeros((n, n), order="F")]
        form, C = ffi.new("tal_floating *"), np.zeros(n)
        records = [rt.over_matrix(part) for part in parts]
        form.I, form.F, form.H = (record._ptr[0] for record in records)
        form.C = ffi.cast("double *", ffi.from_buffer(C))
        kept, F_p = (None, NULL) if F is None else \
            rt._in(F, "tal_spatial_vec", (self.num_bodies(),), "F")
        status = lib.tal_matter_calc_floating(self._p, state._p, rt._ix(base, "tal_body_ix"), F_p,
                                              form)
        if status:
            rt._fail(status, (state, self), None, "tal_matter_calc_floating")
        return (*parts, rt._result("tal_spatial_vec", form.p, ()), C)

    def M(self, state):
        """The mass matrix (nu, nu). Realizes Position."""
        state._need(lib.TAL_STAGE_POSITION)
        out = np.zeros((self.nu(), self.nu()), order="F")
        self.calc_M(state, out)
        return out


@register
class Body(g._Body):
    """A body with its mobilizer."""
    __slots__ = ()


@register
class Forces(_Part, g._Forces):
    """Force elements."""

    @property
    def forces(self) -> "Forces":
        """The force elements."""
        return self

    @property
    def elements(self):
        """All force elements."""
        return [g.ForceElement(self, i) for i in range(self.num())]

    def element(self, name):
        """The element of that name; KeyError when there is none."""
        found = self.find(name)
        if found is None:
            raise rt.no_such("force", name, [one.name() for one in self.elements])
        return found

    def add(self, name, force):
        """Add a force of your own, a `talus.Force`."""
        if not isinstance(force, cb.Force):
            raise TypeError("a talus.Force is needed")
        entries = {"calc_potential_energy": "potential_energy",
                   "calc_dissipated_power": "dissipated_power"}
        needs = g.ForceNeeds[force.needs.upper()]
        ops, text = cb.table("tal_force_ops", type(force).__name__, "force",
                             ["apply", *cb.overrides(force, cb.Force, entries)], needs=needs)
        handle = ffi.new_handle(force)
        cb.keep(self._system, ops, text, handle, force)
        found = lib.tal_forces_add(self._p, rt._text(name), ops, handle)
        return rt._index("tal_force_ix", found, (self,))

    def add_controller(self, name, actuators, controller):
        """Add a `talus.Controller` of these actuators."""
        if not isinstance(controller, cb.Controller):
            raise TypeError("a talus.Controller is needed")
        ops, text = cb.table("tal_controller_ops", type(controller).__name__, "controller",
                             ["calc_control"])
        handle = ffi.new_handle(controller)
        values, memory = rt._in(actuators, "tal_force_ix", (-1,), "actuators")
        cb.keep(self._system, ops, text, handle, controller)
        found = lib.tal_forces_add_controller(self._p, rt._text(name), memory, len(values), ops,
                                              handle)
        return rt._index("tal_controller_ix", found, (self,))


@register
class Events(_Part, g._Events):
    """Handlers and reporters."""

    @property
    def events(self) -> "Events":
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
        given = {"handle": handle, "report": report, "witness": witness, "rate": rate,
                 "next_time": next_time}
        given = {key: function for key, function in given.items() if function is not None}
        functions = cb.Happening(weakref.ref(self._system), **given)
        handle_p = ffi.new_handle(functions)
        record = rt._record("tal_happening", {**fields, "name": name})
        record._ptr.context = handle_p
        for key in given:
            setattr(record._ptr, key, getattr(lib, f"talpy_event_{key}"))
        cb.keep(self._system, handle_p, functions, record)
        return rt._index("tal_event_ix", lib.tal_events_add(self._p, record._ptr), (self,))
