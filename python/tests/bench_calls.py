"""What a call from Python costs beyond the same call in C, both in one run: ./run python ends with
it. The least processor time of batches that take turns, as other work can only add to it; the aims
are 0.2 us for a call, 1.2 times for realize."""
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import talus

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ("common", "geometry", "state", "matter", "forces", "molecule", "study", "io")


def c_loops(folder):
    """bench_loop.c, compiled."""
    library = pathlib.Path(talus.__file__).parent
    path = pathlib.Path(folder) / "loop.so"
    source = pathlib.Path(__file__).with_name("bench_loop.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", source,
                    *(f"-I{ROOT / layer / 'include'}" for layer in LAYERS), "-o", path,
                    library / "libtalus.so.0", f"-Wl,-rpath,{library}"], check=True)
    from cffi import FFI
    ffi = FFI()
    ffi.cdef("double bench_realize(void *, void *, const double *, int, const double *, int, int);"
             "double bench_q(void *, void *, int, int);")
    return ffi, ffi.dlopen(str(path))


def least(one, other, turns=25):
    """Least seconds of two batches that take turns."""
    times = [(one(), other()) for _ in range(turns)]
    return min(a for a, _ in times), min(b for _, b in times)


def timed(body, n):
    """Seconds of n calls, without those of the loop."""
    def batch():
        start = time.thread_time()
        for _ in range(n):
            body()
        middle = time.thread_time()
        for _ in range(n):
            pass
        return 2 * middle - start - time.thread_time()
    return batch


def main():
    model = talus.read_model(ROOT / "examples/models/human_body.talus")
    s, state, body = model.system, model.state, model.matter.bodies[5]
    q, u = np.array(state.q), np.array(state.u)
    state.realize("acceleration")
    with tempfile.TemporaryDirectory() as folder:
        ffi, loops = c_loops(folder)
        c = talus.ffi.cast
        matter_p, system_p, state_p = (ffi.cast("void *", int(c("uintptr_t", one._p)))
                                       for one in (s.matter, s, state))
        n = 20000
        calls = {
            "body.q(state, 0)": lambda: body.q(state, 0),
            "body.u(state, 0)": lambda: body.u(state, 0),
            "state.t": lambda: state.t,
            "state.q": lambda: state.q,
            "state.stage": lambda: state.stage,
            "matter.nu()": s.matter.nu,
        }
        for name, call in calls.items():
            mine, theirs = least(timed(call, n),
                                   lambda: loops.bench_q(matter_p, state_p, body.i, n))
            print(f"{name:20s} {1e9 * mine / n:6.0f} ns, {1e9 * (mine - theirs) / n:6.0f} more "
                  "than a call in C")

        def both():
            state.realize(talus.Stage.ACCELERATION, q, u)

        q_p, u_p = (ffi.cast("double *", ffi.from_buffer(a)) for a in (q, u))
        n = 500
        mine, theirs = least(timed(both, n), lambda: loops.bench_realize(
            system_p, state_p, q_p, len(q), u_p, len(u), n))
        print(f"realize the humanoid from arrays: {1e6 * mine / n:.2f} us, {mine / theirs:.3f} "
              f"times that of C ({1e6 * theirs / n:.2f} us)")


if __name__ == "__main__":
    sys.exit(main())
