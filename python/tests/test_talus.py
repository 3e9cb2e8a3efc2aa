"""The package against the library: views, errors, lifetimes, callbacks, operators."""
import copy
import gc
import pathlib
import re
import threading

import numpy as np
import pytest

import talus


def pendulum():
    s = talus.System()
    bob = s.matter.add_pin(talus.GROUND, name="bob", mass=1.0, X_BM=(0, 1, 0))
    s.forces.add_gravity((0, -9.81, 0))
    return s, bob


def chain(n):
    s, parent = talus.System(), talus.GROUND
    for k in range(n):
        parent = s.matter.add_ball(parent, name=f"link{k}", X_BM=(0, 1, 0), mass={
            "mass": 1.0, "com": (0, 0.5, 0), "inertia": (0.5, 0.1, 0.5, 0, 0, 0)})
    s.forces.add_gravity((0, -9.81, 0))
    return s


def test_a_pendulum_keeps_its_energy():
    s, bob = pendulum()
    state = s.create_state()
    bob.set_q(state, 0, 1.0)
    before = state.energy
    talus.Integrator(s, accuracy=1e-10).step_to(state, 2.0)
    assert state.t == 2.0
    # the error of energy is below ten times the accuracy times the energy's scale m g L
    assert abs(state.energy - before) < 1e-9 * 9.81
    assert bob.q(state, 0) == state.q[0]


def test_operators_agree_with_each_other():
    s = chain(4)
    state = s.create_state()
    rng = np.random.default_rng(1)
    state.u = rng.normal(size=state.u.shape)
    talus.Integrator(s).step_to(state, 0.1)
    a = rng.normal(size=s.matter.nu())
    M = s.matter.M(state)
    # cond(M) of four links is below 1e4, so that round-off is below 1e-11
    assert np.allclose(M @ a, s.matter.mul_M(state, a), rtol=1e-12, atol=1e-12)
    assert np.allclose(s.matter.mul_Minv(state, M @ a), a, rtol=1e-10, atol=1e-10)
    F = rng.normal(size=(s.matter.num_bodies(), 6))
    V = s.matter.mul_J(state, a)
    assert np.isclose(np.sum(V * F), a @ s.matter.mul_JT(state, F), rtol=1e-12)


def test_poses_are_transforms():
    s = chain(2)
    state = s.create_state().realize("position")
    X = s.matter.body("link1").X_GB(state)
    assert np.allclose(X.R @ X.R.T, np.eye(3))
    assert np.allclose((X @ X.inverse).p, 0)
    assert np.allclose(X @ np.zeros(3), X.p)


def test_a_view_reads_without_a_copy_and_writes_through_the_setter():
    s, bob = pendulum()
    state = s.create_state()
    view = state.q
    bob.set_q(state, 0, 0.25)
    assert view[0] == 0.25 and view is state.q
    state.realize("acceleration")
    state.q[0] = 0.5
    assert state.stage < talus.Stage.POSITION
    state.q += 0.25
    assert bob.q(state, 0) == 0.75
    state.q = [0.1]
    assert view[0] == 0.1
    with pytest.raises(ValueError):
        state.q[:][0] = 1.0
    with pytest.raises(ValueError):
        np.asarray(state.q)[...] = 1.0
    with pytest.raises(ValueError):
        np.add(state.q, 1.0, out=np.asarray(state.q))
    assert type(state.q * 2) is np.ndarray and (state.q * 2).flags.writeable


def test_results_realize_what_they_need():
    s, bob = pendulum()
    state = s.create_state()
    bob.set_q(state, 0, 1.0)
    assert state.udot[0] == pytest.approx(-9.81 * np.sin(1.0), rel=1e-14)
    assert state.stage >= talus.Stage.ACCELERATION


def test_setting_and_realizing_in_one_call():
    s, bob = pendulum()
    state, other = s.create_state(), s.create_state()
    other.q, other.u = [0.5], [0.2]
    assert np.array_equal(state.realize(q=[0.5], u=np.array([0.2])).udot, other.udot)
    for bad in ({"q": [1.0, 2.0]}, {"u": []}, {"q": "x"}, {"q": [np.nan]}, {"q": [[1.0]]}):
        with pytest.raises((ValueError, TypeError, ArithmeticError)):
            state.realize("acceleration", **bad)
    with pytest.raises(ValueError):
        state.realize("acceleration", np.array([[1.0]]), np.array([0.2]))
    assert state.realize("acceleration").q[0] == 0.5


def test_a_view_keeps_the_memory_of_its_state():
    s, _ = pendulum()
    state = s.create_state()
    state.q = [0.7]
    view, part = state.q, state.q[:1]
    state.close()
    del state, s
    gc.collect()
    others = [pendulum()[0].create_state() for _ in range(50)]
    assert view[0] == 0.7 and part[0] == 0.7 and len(others) == 50


def test_use_after_close_raises():
    s, bob = pendulum()
    state = s.create_state()
    state.close()
    assert state.closed
    for use in (lambda: state.q, lambda: state.t, lambda: bob.q(state, 0),
                lambda: state.realize(), state.copy):
        with pytest.raises(talus.ClosedError):
            use()
    state.close()


def test_a_state_outlives_its_system_by_name():
    state = pendulum()[0].create_state()
    gc.collect()
    assert np.isfinite(state.udot).all()


def test_copies():
    s, bob = pendulum()
    state = s.create_state()
    state.q = [0.3]
    for other in (state.copy(), copy.copy(state), copy.deepcopy(state)):
        state.q = [0.4]
        assert other.q[0] == 0.3
        state.q = [0.3]
    with pytest.raises(TypeError):
        copy.copy(s)


@pytest.mark.parametrize("bad, error", [
    ([1.0, 2.0], ValueError), ([], ValueError), (["a"], TypeError), ([1j], TypeError),
    ([[1.0, 2.0]], ValueError), (None, TypeError), ([np.nan], talus.NumericalError)])
def test_wrong_arrays_are_refused_and_nothing_changes(bad, error):
    s, _ = pendulum()
    state = s.create_state()
    state.q = [0.3]
    with pytest.raises(error):
        state.q = bad
    assert state.q[0] == 0.3
    state.realize("acceleration")  # the refusal does not come back


def test_arrays_of_any_kind_are_converted():
    s = chain(2)
    state = s.create_state()
    a = np.arange(12.0)
    expected = s.matter.mul_M(state.realize("position"), a[::2])
    for same in (list(a[::2]), tuple(a[::2]), a[::2].astype(np.float32), a[::2].astype(int)):
        assert np.array_equal(s.matter.mul_M(state, same), expected)
    out = np.empty(6)
    assert s.matter.mul_M(state, a[::2], out) is out
    for bad in (np.empty(5), np.empty(6, np.float32), np.empty(12)[::2], [0.0] * 6):
        with pytest.raises((TypeError, ValueError)):
            s.matter.mul_M(state, a[::2], bad)
    out.flags.writeable = False
    with pytest.raises(TypeError):
        s.matter.mul_M(state, a[::2], out)


def test_what_is_printed_says_what_it_is():
    s, bob = pendulum()
    assert repr(s) == "<System: 1 body, being built>"
    state = s.create_state()
    assert repr(s) == repr(s.matter.system) == "<System: 1 body, 1 speed>"
    assert repr(state) == "<State: t = 0, 1 q, 1 u, 0 z, stage model>"
    assert repr(bob) == "<Body 1 'bob'>" and repr(talus.Body(s.matter, 9)) == "<Body 9>"
    assert str(state.stage) == f"{state.stage}" == "model" and f"{state.stage:02d}" == "02"
    assert repr(talus.Table.from_arrays({"time": [0.0, 1.0]})) == "<Table: 2 rows, 1 column>"
    state.close()
    assert repr(state) == "<State: closed>"


def test_errors_have_the_sentence_of_the_library():
    s, bob = pendulum()
    state = s.create_state()
    with pytest.raises(IndexError, match="body 'bob' has no coordinate 7: it has 1") as caught:
        bob.q(state, 7)
    assert isinstance(caught.value, talus.Error) and caught.value.status == -3
    with pytest.raises(talus.Error):
        s.matter.add_pin(talus.GROUND, name="late")
    with pytest.raises(KeyError, match="no body 'bib': do you mean 'bob'?"):
        s.matter.body("bib")
    assert s.matter.find_body("bib") is None
    with pytest.raises(TypeError, match="it has name, structure"):
        talus.System().matter.add_pin(talus.GROUND, nam="x")
    with pytest.raises(ValueError, match="choose from"):
        state.realize("soon")
    with pytest.raises(ValueError):
        talus.Integrator(s, accuracy=-1.0)
    with pytest.raises(talus.Error):
        pendulum()[0].matter.add_pin(77, name="orphan")


def test_a_state_of_another_system_is_refused():
    s, bob = pendulum()
    other = chain(2).create_state()
    s.create_state()
    with pytest.raises(talus.Error):
        s.realize(other, "position")
    with pytest.raises(talus.Error):
        bob.q(other, 0)


def test_wrong_kinds_of_objects_are_refused():
    s, bob = pendulum()
    with pytest.raises((TypeError, AttributeError)):
        bob.q(s, 0)
    with pytest.raises((TypeError, AttributeError)):
        bob.q(3, 0)


class Spring(talus.Force):
    needs = "q"

    def __init__(self, body, k):
        self.b, self.k = body.i, k

    def apply(self, at, F, f):
        F[self.b, 3:] -= self.k * at.p[self.b]

    def potential_energy(self, at):
        return 0.5 * self.k * at.p[self.b] @ at.p[self.b]


def test_a_force_in_python():
    s = talus.System()
    ball = s.matter.add_translation(talus.GROUND, name="ball", mass=2.0)
    spring = s.forces.add("spring", Spring(ball, 8.0))
    state = s.create_state()
    gc.collect()
    state.q = [1.0, 0.0, 0.0]
    assert np.array_equal(state.udot, [-4.0, 0.0, 0.0])
    assert spring.potential_energy(state) == 4.0
    talus.Integrator(s, accuracy=1e-9).step_to(state, np.pi)  # half a period of omega = 2 is pi/2
    assert np.allclose(state.q, [1.0, 0.0, 0.0], atol=1e-7)


def test_a_force_that_raises_becomes_the_cause():
    class Bad(talus.Force):
        def apply(self, at, F, f):
            raise ZeroDivisionError("no force today")

    s, _ = pendulum()
    s.forces.add("bad", Bad())
    state = s.create_state()
    for _ in range(2):
        with pytest.raises(talus.Error, match="no force today") as caught:
            state.realize("acceleration")
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_events_by_python_functions():
    s, bob = pendulum()
    seen, passages = [], []

    def passed(state, cause):
        passages.append(state.t)
        return len(passages) == 2

    s.events.add("lowest", witness=lambda state: bob.q(state, 0), stage="position",
                 crossing="rising", handle=passed)
    s.events.add("every", period=0.5, report=lambda state, cause: seen.append(state.t))
    state = s.create_state()
    bob.set_q(state, 0, 0.01)
    integrator = talus.Integrator(s, accuracy=1e-9)
    outcome = talus.TimeStepper(integrator).step_to(state, 100.0)
    assert outcome == talus.Outcome.TERMINATED
    # 2 pi sqrt(L/g) (1 + a^2/16), a = 0.01
    period = 2 * np.pi * np.sqrt(1 / 9.81) * (1 + 0.01**2 / 16)
    assert passages[1] - passages[0] == pytest.approx(period, rel=1e-7)
    assert seen[:4] == [0.0, 0.5, 1.0, 1.5]


def test_an_event_that_raises_becomes_the_cause():
    s, _ = pendulum()

    def bad(state, cause):
        raise KeyError("lost")

    s.events.add("bad", times=[0.1], handle=bad)
    state = s.create_state()
    with pytest.raises(talus.Error) as caught:
        talus.TimeStepper(talus.Integrator(s)).step_to(state, 1.0)
    assert isinstance(caught.value.__cause__, KeyError)


def test_the_state_of_a_callback_cannot_be_kept():
    s, _ = pendulum()
    kept = []
    s.events.add("keep", times=[0.1], handle=lambda state, cause: kept.append(state))
    state = s.create_state()
    talus.TimeStepper(talus.Integrator(s)).step_to(state, 0.2)
    with pytest.raises(talus.ClosedError):
        kept[0].q


def test_threads_with_states_of_their_own(tmp_path):
    s = chain(3)
    s.create_state()
    ends = {}

    def swing(k):
        state = s.create_state()
        state.u = np.full(9, 0.1 * k)
        talus.Integrator(s, accuracy=1e-6).step_to(state, 0.5)
        ends[k] = np.array(state.y)

    threads = [threading.Thread(target=swing, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = dict(ends)
    for k in range(8):
        swing(k)
        assert np.array_equal(again[k], ends[k])


def test_tables(tmp_path):
    table = talus.Table.from_arrays({"time": [0.0, 0.5], "x": [1.0, 2.0]})
    table.write(tmp_path / "a.sto")
    again = talus.read_table(tmp_path / "a.sto")
    assert again.names == ["time", "x"] and np.array_equal(again["x"], [1.0, 2.0])
    with pytest.raises(KeyError):
        again["y"]
    (tmp_path / "bad.sto").write_text("nonsense")
    with pytest.raises(OSError) as caught:
        talus.read_table(tmp_path / "bad.sto")
    assert caught.value.diagnostics
    with pytest.raises(OSError):
        talus.read_table(tmp_path / "none.sto")


def test_models(root, tmp_path):
    model = talus.read_model(root / "examples/models/human_body.talus")
    state = model.state
    assert state.nu() == model.matter.nu() and np.isfinite(state.udot).all()
    model.write(tmp_path / "again.talus")
    again = talus.read_model(tmp_path / "again.talus")
    assert np.array_equal(again.state.q, state.q)
    assert np.array_equal(again.state.udot, state.udot)
    kept = again.state
    del again
    gc.collect()
    assert np.array_equal(kept.q, state.q)
    with pytest.raises(OSError):
        talus.read_model(tmp_path / "none.talus")


def test_many_creations_do_not_leak():
    def memory():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1])

    s, _ = pendulum()
    s.create_state()
    for _ in range(2000):
        s.create_state().q
    gc.collect()
    before = memory()
    for _ in range(20000):
        s.create_state().q
    gc.collect()
    # a State of a pendulum has more than a page: a leak would be 20000 pages
    assert memory() - before < 2000


# --- the generated layer and the headers ---

def test_every_public_function_is_reachable_or_left_out(root):
    headers = "".join(path.read_text() for path in root.glob("*/include/**/*.h"))
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", headers, flags=re.S)
    declared = set(re.findall(r"^(?:TAL_API|TAL_NODISCARD|static inline)\b[^;{}]*?\b(tal_\w+)\s*\(",
                              code, re.M))
    assert len(declared) > 1000
    known = set(talus.REACHED) | set(talus.LEFT_OUT)
    assert declared - known == set()
    assert known - declared == set()
    assert all(hasattr(talus.c, name) for name in declared)
    for name, reason in talus.LEFT_OUT.items():
        assert reason, name


def test_reached_names_exist():
    for name, place in talus.REACHED.items():
        at = talus
        for part in place.split("."):
            at = getattr(at, part)
        assert callable(at) or isinstance(at, property), name
        assert getattr(at, "__doc__", None), name


def test_every_function_has_a_wrapper_or_a_reason():
    """names.toml must say what stands for a function that the generator cannot wrap, or why none
    does."""
    assert [f"{n}: {why}" for n, why in talus.LEFT_OUT.items() if why.startswith("only ")] == []


def test_what_names_toml_says_is_by_hand_is_there():
    for name, why in talus.LEFT_OUT.items():
        for place in re.findall(r"(?:[A-Z]\w+|talus)(?:\.[A-Za-z_]\w*)+", why):
            at = talus
            for part in place.removeprefix("talus.").split("."):
                assert hasattr(at, part), f"{name}: {place}"
                at = getattr(at, part)
                if isinstance(at, property):
                    break


def test_stubs_are_python():
    stub = pathlib.Path(talus.__file__).with_name("_generated.pyi").read_text()
    compile(stub, "_generated.pyi", "exec")
    assert "def mul_M(self, state: State" in stub


def test_enums_have_the_values_of_the_headers():
    assert talus.Stage.POSITION == talus.c.TAL_STAGE_POSITION
    assert talus.Status.ERR_SINGULAR == -10
