"""Studies: stepping, recording, ensembles, tracking, modes."""
import os

import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._files import Table
from talus._runtime import Record, ffi, lib, register
from talus._state import save_bytes


class Using:
    """What a loop in Python uses for its whole duration: nobody else may."""

    def __init__(self, *objects):
        self.objects, self.taken = objects, []

    def __enter__(self):
        for one in self.objects:
            if not one._take():
                self.__exit__()
                rt._busy(one)
            self.taken.append(one)

    def __exit__(self, *_):
        while self.taken:
            self.taken.pop()._give()


@register
class Integrator(g.Integrator):
    """Steps a State through time: Integrator(system, accuracy=1e-6)."""

    def step_to(self, state, t):
        """Step to time t, which is met exactly. Ctrl-C works: Python looks in after each step."""
        if not t >= state.t:
            g.Integrator.step_to(self, state, t)  # the library's own sentence
            return state
        with Using(self, state):
            mine, pointer, step = self._p, state._p, lib.tal_integrator_step
            while True:
                status = step(mine, pointer, t)
                if status or lib.tal_state_t(pointer) >= t:
                    break
        if status:
            rt._fail(status, (self, state), None, "tal_integrator_step")
        return state

    def record(self, state, times, columns=None):
        """Step through times; a talus.Table with a row at each: see talus.record()."""
        return record(self, state, times, columns)

    def save(self):
        """What the next step needs besides the State, as bytes."""
        return save_bytes(self, lambda: lib.tal_integrator_save_size(self._p),
                          lambda memory, size: lib.tal_integrator_save(self._p, memory, size),
                          "tal_integrator_save")

    def restore(self, state, saved):
        """Read what save() wrote; `state` is loaded already."""
        given = ffi.from_buffer(saved)
        with Using(self, state):
            status = lib.tal_integrator_restore(self._p, state._p, given, len(given))
        if status:
            rt._fail(status, (self, state), None, "tal_integrator_restore")
        return self


@register
class TimeStepper(g.TimeStepper):
    """Steps through time with the events of a System: TimeStepper(integrator)."""

    def save(self, state):
        """Stepper, integrator and State as bytes: a run can be resumed from them bit for bit."""
        with Using(state):
            return save_bytes(
                self, lambda: lib.tal_time_stepper_save_size(self._p, state._p),
                lambda memory, size: lib.tal_time_stepper_save(self._p, state._p, memory, size),
                "tal_time_stepper_save")

    def resume(self, state, saved):
        """Read what save() wrote, into stepper, integrator and State."""
        given = ffi.from_buffer(saved)
        with Using(self, state):
            status = lib.tal_time_stepper_resume(self._p, state._p, given, len(given))
        if status:
            rt._fail(status, (self, state), None, "tal_time_stepper_resume")
        return self


def coordinate_columns(state):
    """{name: function} of time, all coordinates and speeds, and energies: what a page shows."""
    system, matter = state.system, state.system.matter
    columns = {"time": lambda s: s.t}
    for body in matter.bodies[1:]:
        for i in range(body.nq(state)):
            columns[body.coordinate_name(state, i)] = lambda s, b=body, i=i: b.q(s, i)
    for body in matter.bodies[1:]:
        for i in range(body.nu()):
            columns[body.speed_name(state, i)] = lambda s, b=body, i=i: b.u(s, i)
    columns["kinetic_energy"] = lambda s: matter.kinetic_energy(s)
    columns["potential_energy"] = lambda s: s.energy - matter.kinetic_energy(s)
    columns["total_energy"] = lambda s: s.energy
    columns["time"].system = system
    return columns


def record(integrator, state, times, columns=None):
    """Step a State through times and make a talus.Table with a row at each.

    columns     {name: function of a State}; coordinates, speeds and energies when left out, so that
                talus.view(model, table) can show the run
    """
    columns = coordinate_columns(state) if columns is None else \
        {"time": lambda s: s.t, **columns}
    rows = []
    for t in np.asarray(times, np.float64).ravel():
        integrator.step_to(state, float(t))
        state.realize("velocity")
        rows.append([function(state) for function in columns.values()])
    values = np.array(rows, np.float64).reshape(len(rows), len(columns))
    return Table.from_arrays({name: values[:, k] for k, name in enumerate(columns)})


def grid(levels, low, high):
    """All combinations (n, parameters), the last parameter running fastest: levels[i] values from
    low[i] to high[i]."""
    levels, levels_p = rt._in(levels, "int", (-1,), "levels")
    n = len(levels)
    (low, low_p), (high, high_p) = (rt._in(one, "double", (n,), name)
                                    for one, name in ((low, "low"), (high, "high")))
    count = lib.tal_grid_size(levels_p, n)
    if count < 0:
        rt._breach("tal_grid_size")
    out, out_p = rt._out(None, "double", (max(count, 0), n), "values")
    design = ffi.new("tal_design *", lib.tal_design_grid(levels_p, low_p, high_p, n))
    status = lib.tal_design_fill(design, out_p)
    if status:
        rt._fail(status, (), None, "tal_design_fill")
    return out


def _threads(threads, fields):
    """Lanes on threads of the library's own."""
    if threads is not None:
        threads = threads or len(os.sched_getaffinity(0))
        fields.update(executor=g.Threads(threads), lanes=fields.get("lanes", max(threads, 1)))
    return fields


def own_system(one):
    """The System of a Model, or the System itself."""
    return getattr(one, "system", one)


@register
class Ensemble(g.Ensemble):
    """One System, many States: Ensemble(system, parameters=[...], outputs=[...],
    task=talus.Task.INTEGRATE, end_time=1.0, threads=0).

    threads     0: as many as there are cores; the interpreter is not needed meanwhile
    """

    def __new__(cls, system, threads=None, **fields):
        return g.Ensemble.create(own_system(system), **_threads(threads, fields))

    def run(self, start, values):
        """(results (n, num_outputs), status (n,)) of samples (n, num_parameters); NaN where one
        failed."""
        sizes = self._def._ptr
        values, memory = rt._in(values, "double", (-1, sizes.num_parameters), "values")
        n = len(values)
        results, out = rt._out(None, "double", (n, sizes.num_outputs), "results")
        each = ffi.new("tal_status[]", max(n, 1))
        with Using(self, start):
            design = ffi.new("tal_design *", lib.tal_design_table(memory, sizes.num_parameters, n))
            status = lib.tal_ensemble_run(self._p, start._p, design, out, each, NULL)
        if status:
            rt._fail(status, (self, start), None, "tal_ensemble_run")
        return results, [g.Status(each[k]) for k in range(n)]

    def fit(self, start, targets, values, **options):
        """(values, cost) with which the outputs come nearest to the targets."""
        sizes = self._def._ptr
        targets, wanted = rt._in(targets, "double", (sizes.num_outputs,), "targets")
        values, memory = rt._in(np.array(values, float), "double", (sizes.num_parameters,),
                                "values")
        record_ = rt._record("tal_ensemble_fit_options", options)
        for name, size in (("scale", sizes.num_parameters), ("weights", sizes.num_outputs)):
            rt._same(size, record_._sizes.get(name, size), name)
        cost = ffi.new("double *")
        with Using(self, start):
            status = lib.tal_ensemble_fit(self._p, start._p, wanted, record_._ptr, memory, cost)
        if status:
            rt._fail(status, (self, start), None, "tal_ensemble_fit")
        return values, cost[0]


@register
class Tracker(g.Tracker):
    """Inverse kinematics: Tracker(model) takes the model's markers; Tracker(system, markers=[...],
    accuracy=..., threads=0) those given; `assembler` are more fields of a tal_assembler_def."""

    def __new__(cls, system, markers=None, threads=None, accuracy=None, assembler=None, **fields):
        markers = list(getattr(system, "markers", ()) if markers is None else markers)
        goals = rt._record("tal_assembler_def", {**(assembler or {}), "markers": markers})
        if "accuracy" not in (assembler or {}):
            goals._ptr.accuracy = lib.tal_tracker_def_default().assembler.accuracy \
                if accuracy is None else accuracy
        made = g.Tracker.create(own_system(system), assembler=goals, **_threads(threads, fields))
        made.marker_names = [rt._str(goals._ptr.markers[k].name) or f"marker{k}"
                             for k in range(len(markers))]
        return made

    def points_of(self, table):
        """(times (n,), points (n, num_markers, 3)) [m] of a table with columns "<marker>.x", ...;
        NaN where a marker is not seen."""
        unit = {"mm": 1e-3, "cm": 1e-2}.get(table.headers.get("Units"), 1.0)
        points = np.full((len(table), len(self.marker_names), 3), np.nan)
        known = set(table.names)
        for k, name in enumerate(self.marker_names):
            for axis, letter in enumerate("xyz"):
                if f"{name}.{letter}" in known:
                    points[:, k, axis] = unit * table[f"{name}.{letter}"]
        return table["time"], points

    def run(self, start, seen, times=None):
        """Follow what was seen: a table, or points (n, num_markers, 3) in Ground [m] with NaN where
        a marker was not seen. Returns a Tracking: q (n, nq), and how well each frame fits."""
        if isinstance(seen, Table):
            times, seen = self.points_of(seen)
        if self._def._ptr.assembler.num_sensors or self._def._ptr.assembler.num_coordinates:
            raise ValueError("Tracker.run follows markers only: without sensors and coordinates")
        points, points_p = rt._in(seen, "tal_vec3", (-1, self._def._ptr.assembler.num_markers),
                                  "points")
        n, nq = len(points), start.nq()
        frames = ffi.new("tal_frames *")
        frames.num_frames, frames.points = n, points_p
        if times is not None:
            times, frames.times = rt._in(times, "double", (n,), "times")
        q, memory = rt._out(None, "double", (n, nq), "q")
        fits = ffi.new("tal_fit[]", max(n, 1))
        with Using(self, start):
            status = lib.tal_tracker_run(self._p, start._p, frames, memory, fits)
        if status:
            rt._fail(status, (self, start), None, "tal_tracker_run")
        return Tracking(start, times, q, [Record("tal_fit", ffi.addressof(fits[k]), fits)
                                          for k in range(n)])


class Tracking:
    """What a tracker found: `times`, `q` (n, nq), `fits`, and their numbers as arrays."""

    def __init__(self, start, times, q, fits):
        self.start, self.times, self.q, self.fits = start, times, q, fits

    def _all(self, name, kind=float):
        return np.array([getattr(fit._ptr, name) for fit in self.fits], kind)

    @property
    def status(self):
        """Why a frame is only a best effort, as talus.Status."""
        return [g.Status(fit._ptr.status) for fit in self.fits]

    @property
    def marker_rms(self):
        """(n,) [m] over the markers seen."""
        return self._all("marker_rms")

    @property
    def marker_max(self):
        """(n,) [m] the marker that is farthest away."""
        return self._all("marker_max")

    @property
    def worst_marker(self):
        """(n,) its number."""
        return self._all("worst_marker", int)

    @property
    def table(self):
        """Times and coordinates as a talus.Table, for talus.view() and files."""
        matter, names = self.start.system.matter, {}
        for body in matter.bodies[1:]:
            first = body.q_start(self.start)
            for i in range(body.nq(self.start)):
                names[body.coordinate_name(self.start, i)] = self.q[:, first + i]
        times = np.arange(len(self.q), dtype=float) if self.times is None else self.times
        return Table.from_arrays({"time": times, **names})


@register
class Linearizer(g.Linearizer):
    """Linear equations about a State, and modes."""

    def matrix(self, name):
        """A copy of "A", "B", "K_p", "K_v" or "A_error"."""
        if name not in ("A", "B", "K_p", "K_v", "A_error"):
            raise ValueError(f"there is no matrix '{name}': choose A, B, K_p, K_v or A_error")
        found = getattr(lib, f"tal_linearizer_{name}")(self._p)
        if not found.rows or not found.cols:
            return np.zeros((max(found.rows, 0), max(found.cols, 0)))
        flat = np.frombuffer(ffi.buffer(found.data, 8 * found.ld * found.cols))
        return flat.reshape((found.ld, found.cols), order="F")[:found.rows].copy()

    def modes(self):
        """All modes, as Records."""
        self.find_modes()
        return [self.mode(i) for i in range(self.num_modes())]
