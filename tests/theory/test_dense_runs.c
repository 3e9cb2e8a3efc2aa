// Runs of random mechanisms at the default accuracy against the same motion found in another way:
// the equations of dense_oracle.h, in long double, by the classical method of Runge and Kutta with
// short steps.
#include "dense_model.h"

#include <talus/study.h>

#include <stdio.h>

enum {
    MAX_NQ = 7 * DENSE_BODIES
};

static const double END = 0.1; // s

// --- the other way ---

// qdot of a mobilizer that turns freely (doc/mobilizers.md), from the angular velocity that u is.
static void turning_rates(const dense_body *b, bool has_angles, const double q[], const real u[],
                          real qdot[])
{
    const bool is_line = b->kind == KIND_LINE || b->kind == KIND_FREE_LINE;
    const real w[3] = {u[0], u[1], is_line ? 0.0L : u[2]};
    real e[4] = {(real)q[0], (real)q[1], (real)q[2], has_angles ? 0.0L : (real)q[3]};
    if (!has_angles) { // w e / 2, or e w / 2 for w in M
        const real sign = is_line ? -1.0L : 1.0L;
        qdot[0] = -0.5L * (w[0] * e[1] + w[1] * e[2] + w[2] * e[3]);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            qdot[1 + i] = 0.5L * (e[0] * w[i] + sign * (w[j] * e[1 + k] - w[k] * e[1 + j]));
        }
        return;
    }
    // w = x q0dot + Rx y q1dot + Rx Ry z q2dot, in F; the third comes first
    const jet angles[] = {jet_of(e[0]), jet_of(e[1]), jet_of(e[2])};
    const jet33 R = turns_xyz(angles);
    real in_F[3] = {w[0], w[1], w[2]};
    for (int i = 0; i < 3 && is_line; ++i) {
        in_F[i] = R.e[i][0].x * w[0] + R.e[i][1].x * w[1];
    }
    const real c = cosl(e[0]), s = sinl(e[0]);
    qdot[2] = (c * in_F[2] - s * in_F[1]) / cosl(e[1]);
    qdot[1] = c * in_F[1] + s * in_F[2];
    qdot[0] = in_F[0] - sinl(e[1]) * qdot[2];
}

static void all_rates(const model *it, const tal_state *state, const real u[], real qdot[])
{
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const dense_body *const body = &it->m.body[b];
        const tal_body_ix ix = {b};
        const int q0 = tal_body_q_start(it->matter, state, ix);
        const bool turns = body->kind >= KIND_BALL;
        const bool has_angles = tal_body_uses_angles(it->matter, state, ix);
        const bool is_line = body->kind == KIND_LINE || body->kind == KIND_FREE_LINE;
        const int first = !turns ? 0 : has_angles ? 3 : 4, turning = !turns ? 0 : is_line ? 2 : 3;
        if (turns) {
            turning_rates(body, has_angles, tal_state_q(state) + q0, u + body->u0, qdot + q0);
        }
        for (int i = turning; i < body->nu; ++i) {
            qdot[q0 + first + i - turning] = u[body->u0 + i];
        }
    }
}

typedef struct values {
    real q[MAX_NQ], u[DENSE_SPEEDS];
} values;

// Rates at t and y; false where rows contradict or nearly repeat each other.
static bool calc_rates(const model *it, tal_state *probe, real t, const values *y, values *rate)
{
    static dense_oracle o;
    ck_assert_int_eq(tal_state_set_t(probe, (double)t), TAL_OK);
    for (int i = 0; i < tal_state_nq(probe); ++i) {
        tal_state_upd_q(probe)[i] = (double)y->q[i];
    }
    for (int j = 0; j < it->m.nu; ++j) {
        tal_state_upd_u(probe)[j] = (double)y->u[j];
    }
    memset(&o, 0, sizeof o);
    take_known(it, t, &o);
    take_loads(it, &o);
    dense_find(&o, &it->m, it->matter, probe);
    all_rates(it, probe, y->u, rate->q);
    memcpy(rate->u, o.udot, sizeof rate->u);
    return look_at(&o, it) == AGREES;
}

static void add_scaled(values *to, const values *y, real by, const values *rate)
{
    for (int i = 0; i < MAX_NQ; ++i) {
        to->q[i] = y->q[i] + by * rate->q[i];
    }
    for (int j = 0; j < DENSE_SPEEDS; ++j) {
        to->u[j] = y->u[j] + by * rate->u[j];
    }
}

// Poses at the end, by n steps of fourth order.
static bool run_other_way(const model *it, tal_state *probe, real t, int n, jet_pose X[])
{
    static values y, stage, k[4];
    const real h = (real)END / (real)n;
    memset(&y, 0, sizeof y);
    memset(k, 0, sizeof k);
    for (int i = 0; i < tal_state_nq(it->state); ++i) {
        y.q[i] = (real)tal_state_q(it->state)[i];
    }
    for (int j = 0; j < it->m.nu; ++j) {
        y.u[j] = (real)tal_state_u(it->state)[j];
    }
    for (int i = 0; i < n; ++i, t += h) {
        if (!calc_rates(it, probe, t, &y, &k[0])) return false;
        add_scaled(&stage, &y, h / 2.0L, &k[0]);
        if (!calc_rates(it, probe, t + h / 2.0L, &stage, &k[1])) return false;
        add_scaled(&stage, &y, h / 2.0L, &k[1]);
        if (!calc_rates(it, probe, t + h / 2.0L, &stage, &k[2])) return false;
        add_scaled(&stage, &y, h, &k[2]);
        if (!calc_rates(it, probe, t + h, &stage, &k[3])) return false;
        for (int s = 0; s < 4; ++s) {
            add_scaled(&y, &y, h * (s == 0 || s == 3 ? 1.0L : 2.0L) / 6.0L, &k[s]);
        }
    }
    const real zero[DENSE_SPEEDS] = {0.0L};
    (void)calc_rates(it, probe, t, &y, &k[0]); // sets q
    dense_poses(&it->m, it->matter, probe, zero, zero, X);
    return true;
}

// --- comparing ---

// The largest difference of a point of the bodies, a meter from their origins, over their distance
// from Ground.
static double difference(const dense_mechanism *m, const jet_pose X[], const jet_pose Y[])
{
    real largest = 0.0L;
    for (int b = 1; b < m->num_bodies; ++b) {
        real far = 1.0L;
        for (int i = 0; i < 3; ++i) {
            far += fabsl(X[b].p.e[i].x);
        }
        for (int i = 0; i < 3; ++i) {
            largest = fmaxl(largest, fabsl(X[b].p.e[i].x - Y[b].p.e[i].x) / far);
            for (int k = 0; k < 3; ++k) {
                largest = fmaxl(largest, fabsl(X[b].R.e[i][k].x - Y[b].R.e[i][k].x) / far);
            }
        }
    }
    return (double)largest;
}

static void poses_of(const model *it, jet_pose X[])
{
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const tal_xform X_GB = tal_body_X_GB(it->matter, it->state, (tal_body_ix){b});
        X[b] = jet_pose_of(&X_GB);
    }
}

// Run a mechanism both ways. Returns the difference, or below zero where it cannot be told: no
// start that meets the constraints, rows that nearly repeat others on the way, or a motion too
// quick for the short steps.
static double run_both(uint64_t seed, double *accuracy)
{
    static model it;
    static jet_pose X[DENSE_BODIES], Y[DENSE_BODIES];
    make_model(&it, seed);
    tal_state *probe = NULL;
    ck_assert_int_eq(tal_state_create(it.system, &probe, NULL), TAL_OK);
    double far = -1.0;
    bool good = it.is_alike && set_known(&it) && (it.m.num_items == 0 || assemble(&it)) &&
                tal_state_copy(probe, it.state) == TAL_OK;
    const double t = tal_state_t(it.state);
    good = good && run_other_way(&it, probe, (real)t, 10, Y) &&
           run_other_way(&it, probe, (real)t, 20, X) && difference(&it.m, X, Y) < 1e-6;
    if (good) {
        tal_integrator_def def = tal_integrator_def_default();
        tal_integrator *integ = NULL;
        *accuracy = def.accuracy;
        ck_assert_int_eq(tal_integrator_create(it.system, &def, &integ, NULL), TAL_OK);
        const tal_status st = tal_integrator_step_to(integ, it.state, t + END);
        ck_assert_msg(st == TAL_OK, "seed %llu: %s", (unsigned long long)seed,
                      tal_integrator_error(integ)->message);
        ck_assert_int_eq(tal_system_realize(it.system, it.state, TAL_STAGE_POSITION), TAL_OK);
        poses_of(&it, Y);
        far = difference(&it.m, X, Y);
        tal_integrator_destroy(integ);
    }
    tal_state_destroy(probe);
    free_model(&it);
    return far;
}

START_TEST(any_mechanism_moves_as_the_equations_say_that_are_built_in_another_way)
{
    const char *const from = getenv("TALUS_SEED"); // for people
    const int wanted = from != NULL ? 1 : getenv("TALUS_SOAK") != NULL ? 1000 : 10;
    double largest = 0.0, accuracy = 0.0;
    uint64_t seed = from != NULL ? strtoull(from, NULL, 10) : 1;
    for (int done = 0; done < wanted; ++seed) {
        const double far = run_both(seed, &accuracy);
        if (from == NULL && far < 0.0) continue;
        ++done;
        largest = fmax(largest, far);
        // errors of a step or two, each within the accuracy, reach a body through up to 7
        // mobilizers
        ck_assert_msg(far < 10.0 * accuracy, "seed %llu ends %.2g off", (unsigned long long)seed,
                      far);
    }
    (void)printf("%d runs, largest difference %.2g at accuracy %.2g\n", wanted, largest, accuracy);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/dense_runs");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 14400);
    tcase_add_test(all, any_mechanism_moves_as_the_equations_say_that_are_built_in_another_way);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
