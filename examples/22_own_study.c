// A Study of your own: how long does a swing take?
//
// A Study couples a System and a State to answer a question. This one steps until a coordinate
// comes to rest twice, which is one period, whatever the System is. It is asked for pendulums of
// growing amplitude, whose period is 4 K(sin(a / 2)) sqrt(l / g) with K the complete elliptic
// integral of the first kind. doc/howto/study.md explains this program.
//
// Run it:  build/dev/examples/22_own_study        Expected output: 22_own_study.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LENGTH = 1.0, GRAVITY = 9.81; // m, m/s^2

// --- the Study: def, create, run, error, destroy ---

typedef struct swing_def {
    double accuracy;
    double max_time;       // [s] give up after this
    tal_mobility mobility; // the coordinate that swings
} swing_def;

static swing_def swing_def_default(void)
{
    const swing_def def = {1e-6, 100.0, {{1}, 0}};
    return def;
}

typedef struct swing_study {
    const tal_system *system;
    swing_def def;
    tal_integrator *integ;
    tal_state *now, *between; // scratch: the State of the caller stays as it is
    tal_error error;
} swing_study;

static void swing_destroy(swing_study *it)
{
    if (it == NULL) return;
    tal_integrator_destroy(it->integ);
    tal_state_destroy(it->between);
    tal_state_destroy(it->now);
    free(it);
}

// All memory is taken here.
static tal_status swing_create(const tal_system *system, const swing_def *def, swing_study **out,
                               tal_error *err)
{
    *out = NULL;
    swing_study *it = calloc(1, sizeof *it);
    if (it == NULL) return TAL_ERR_NO_MEMORY;
    it->system = system;
    it->def = *def;
    tal_integrator_def steps = tal_integrator_def_default();
    steps.accuracy = def->accuracy;
    tal_status st = tal_state_create(system, &it->now, err);
    if (st == TAL_OK) st = tal_state_create(system, &it->between, err);
    if (st == TAL_OK) st = tal_integrator_create(system, &steps, &it->integ, err);
    if (st == TAL_OK) {
        *out = it;
    } else {
        swing_destroy(it);
    }
    return st;
}

static double speed(const swing_study *it, const tal_state *state)
{
    return tal_body_u(tal_system_matter(it->system), state, it->def.mobility.body,
                      it->def.mobility.i);
}

// The time within the last step at which the speed is zero, by bisection on the integrator's dense
// output.
static tal_status find_rest(swing_study *it, double t0, double t1, double *t_rest)
{
    tal_status st = tal_integrator_interpolate(it->integ, it->now, t0, it->between);
    const bool rises = st == TAL_OK && speed(it, it->between) < 0.0;
    while (st == TAL_OK && t1 - t0 > 1e-3 * it->def.accuracy) {
        const double t = 0.5 * (t0 + t1);
        st = tal_integrator_interpolate(it->integ, it->now, t, it->between);
        if ((speed(it, it->between) < 0.0) == rises) {
            t0 = t;
        } else {
            t1 = t;
        }
    }
    *t_rest = 0.5 * (t0 + t1);
    return st;
}

static tal_status fail(swing_study *it, tal_status status, const char *sentence)
{
    it->error.status = status;
    (void)snprintf(it->error.message, sizeof it->error.message, "%s", sentence);
    return status;
}

// The time between the first and the third rest after the start.
static tal_status swing_run(swing_study *it, const tal_state *start, double *period)
{
    double rest[3], t = tal_state_t(start);
    const double t_end = t + it->def.max_time;
    it->error = (tal_error){TAL_OK, "", ""};
    tal_status st = tal_state_copy(it->now, start);
    tal_integrator_reset(it->integ);
    for (int found = 0; found < 3 && st == TAL_OK;) {
        if (t >= t_end) return fail(it, TAL_ERR_NO_CONVERGENCE, "it does not swing.");
        const double before = speed(it, it->now);
        st = tal_integrator_step(it->integ, it->now, t_end);
        if (st != TAL_OK) return fail(it, st, tal_integrator_error(it->integ)->message);
        if (before * speed(it, it->now) < 0.0) {
            st = find_rest(it, t, tal_state_t(it->now), &rest[found++]);
        }
        t = tal_state_t(it->now);
    }
    if (st == TAL_OK) *period = rest[2] - rest[0];
    return st;
}

// --- what it is asked for ---

// 4 K(k) sqrt(l / g), K by the arithmetic-geometric mean.
static double exact(double amplitude)
{
    double a = 1.0, g = cos(0.5 * amplitude);
    for (int i = 0; i < 10; ++i) {
        const double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    return 2.0 * TAL_PI / a * sqrt(LENGTH / GRAVITY);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -GRAVITY, 0.0));
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass.mass = 1.0;
    bob.X_BM = tal_xf_from_p(tal_v3(0.0, LENGTH, 0.0));
    const tal_body_ix body = tal_matter_add_pin(matter, TAL_GROUND, &bob);

    tal_state *state = NULL;
    swing_study *study = NULL;
    swing_def def = swing_def_default();
    def.accuracy = 1e-9;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = swing_create(system, &def, &study, &err);

    if (st == TAL_OK) (void)printf("amplitude [rad]   period [s]   expected [s]\n");
    for (int i = 1; i <= 6 && st == TAL_OK; ++i) {
        const double a = 0.5 * i;
        double period = 0.0;
        tal_body_set_q(matter, state, body, 0, a);
        st = swing_run(study, state, &period);
        if (st == TAL_OK) (void)printf("%10.1f %16.5f %14.5f\n", a, period, exact(a));
    }
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", study ? study->error.message : err.message);

    swing_destroy(study);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
