"""Parameter studies: many States of one System, on threads of the library."""
import numpy as np

from talus import _generated as g
from talus import _runtime as rt
from talus._runtime import NULL, ffi, lib, register
from talus._studies import Using, _threads, own_system

__all__ = ["Ensemble"]


@register
class Ensemble(g._Ensemble):
    """A parameter study: Ensemble(system, parameters=[...], outputs=[...], task="integrate",
    end_time=1.0, threads=0).

    threads     0: as many as there are cores; the interpreter is not needed meanwhile
    """

    def __new__(cls, system, threads=None, **fields):
        return cls.create(own_system(system), **_threads(threads, fields))

    def run(self, start, values):
        """(results (n, num_outputs), status (n,)) of samples (n, num_parameters); NaN where one
        failed."""
        values, memory = rt._in(values, "double", (-1, self._def._ptr.num_parameters), "values")
        n = len(values)
        results, out = rt._out(None, "double", (n, lib.tal_ensemble_row_size(self._p)), "results")
        each = ffi.new("tal_status[]", max(n, 1))
        table = lib.tal_design_table(memory, self._def._ptr.num_parameters, n)
        design = ffi.new("tal_design *", table)
        with Using(self, start):
            status = lib.tal_ensemble_run(self._p, start._p, design, out, each, NULL)
        if status:
            rt._fail(status, (self, start), None, "tal_ensemble_run")
        return results, [g.Status(each[k]) for k in range(n)]

    def fit(self, start, targets, values, **options):
        """(values, cost) with which the outputs come nearest to the targets."""
        num, outputs = self._def._ptr.num_parameters, lib.tal_ensemble_row_size(self._p)
        targets, wanted = rt._in(targets, "double", (outputs,), "targets")
        values, memory = rt._in(np.array(values, float), "double", (num,), "values")
        kept = {}
        for name, size in (("scale", num), ("weights", outputs)):
            if options.get(name) is not None:
                kept[name] = rt._in(options.pop(name), "double", (size,), name)
        record = rt._record("tal_ensemble_fit_options", options)
        for name, (_, pointer) in kept.items():
            setattr(record._ptr, name, pointer)
        cost = ffi.new("double *")
        with Using(self, start):
            status = lib.tal_ensemble_fit(self._p, start._p, wanted, record._ptr, memory, cost)
        if status:
            rt._fail(status, (self, start), None, "tal_ensemble_fit")
        return values, cost[0]


def grid(levels, low, high):
    """All combinations (n, parameters), the last parameter running fastest: levels[i] values from
    low[i] to high[i]."""
    low, high = (rt._in(one, "double", (len(levels),), "low and high")[0] for one in (low, high))
    if any(level < 1 for level in levels):
        raise ValueError("each parameter needs one level or more")
    axes = [np.linspace(a, b, level) for a, b, level in zip(low, high, levels)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(levels))
