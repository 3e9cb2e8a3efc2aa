// Tests of whole mechanisms against the same equations of motion, built and solved in another way:
// densely, in long double, from the poses of bodies as functions of time (dense_oracle.h). Random
// trees of all built-in mobilizers, either way round, with masses that differ by up to 1e8, closed
// by random constraints, some of them written twice, with prescribed motions, locks and rotors.
#include "dense_model.h"

#include <float.h>
#include <stdio.h>

// How many roundings go into a number, at most: a sum over DENSE_BODIES bodies of products of a few
// factors.
static const double ROUNDINGS = 4.0 * DENSE_BODIES;

// --- comparing ---

// The largest error over its bound, of each thing compared; for people, and asserted.
typedef struct judged {
    uint64_t seed;
    const model *it;
    bool is_assembled;
} judged;

static double worst; // error over bound, so far
static char worst_what[200];

static void compare(const judged *j, const char *what, int i, double got, real expected, real size)
{
    const double bound = ROUNDINGS * DBL_EPSILON * (double)size;
    const double error = fabs((double)((real)got - expected));
    if (error > worst * bound) {
        worst = bound > 0.0 ? error / bound : (double)INFINITY;
        (void)snprintf(worst_what, sizeof worst_what, "seed %llu: %s %d",
                       (unsigned long long)j->seed, what, i);
    }
    ck_assert_msg(error <= bound, "seed %llu: %s %d is %.17g, not %.17Lg; bound %.2g",
                  (unsigned long long)j->seed, what, i, got, expected, bound);
}

static void compare_spatial(const judged *j, const char *what, int b, tal_spatial_vec got,
                            const real expected[6], dense_size size)
{
    const double x[] = {got.w.x, got.w.y, got.w.z, got.v.x, got.v.y, got.v.z};
    for (int k = 0; k < 6; ++k) {
        compare(j, what, b, x[k], expected[k], k < 3 ? size.w : size.v);
    }
}

static real size_of_sum(const real bound[], const dense_size part[], int n, bool linear)
{
    real sum = 0.0L;
    for (int i = 0; i < n; ++i) {
        sum += bound[i] * (linear ? part[i].v : part[i].w);
    }
    return sum;
}

static void compare_motion(const judged *j, const dense_oracle *o)
{
    const model *const it = j->it;
    real udot[DENSE_SPEEDS];
    for (int k = 0; k < o->nu; ++k) {
        udot[k] = fabsl(o->udot[k]) + o->bound_udot[k];
        if (o->is_known[k]) {
            const real size = 4.0L * (1.0L + fabsl(o->udot[k]));
            compare(j, "known udot", k, tal_state_udot(it->state)[k], o->udot[k], size);
        } else {
            compare(j, "udot", k, tal_state_udot(it->state)[k], o->udot[k], o->bound_udot[k]);
        }
    }
    for (int b = 1; b < o->nb; ++b) {
        const tal_body_ix ix = {b};
        const tal_xform X = tal_body_X_GB(it->matter, it->state, ix);
        const double p[] = {X.p.x, X.p.y, X.p.z};
        for (int k = 0; k < 3; ++k) {
            compare(j, "p_GB", b, p[k], o->X[b].p.e[k].x, o->reach[b]);
            compare(j, "R_GB", b, (&X.R.x.x)[k], o->X[b].R.e[k][0].x, 1.0L);
        }
        compare_spatial(j, "V_GB", b, tal_body_V_GB(it->matter, it->state, ix), o->V[b], o->v[b]);
        const dense_size a = {o->a[b].w + size_of_sum(udot, o->j[b], o->nu, false),
                              o->a[b].v + size_of_sum(udot, o->j[b], o->nu, true)};
        compare_spatial(j, "A_GB", b, tal_body_A_GB(it->matter, it->state, ix), o->A[b], a);
    }
}

// Rows: where they are, and how they change.
static void compare_rows(const judged *j, const dense_oracle *o, const dense_size row[])
{
    const model *const it = j->it;
    static double G[DENSE_ROWS * DENSE_SPEEDS];
    const tal_matrix to = {G, o->m, o->nu, o->m > 0 ? o->m : 1};
    ck_assert_int_eq(tal_matter_calc_G(it->matter, it->state, TAL_G, to), TAL_OK);
    for (int r = 0; r < o->m; ++r) {
        real length = 4.0L, speed = fabsl(o->rate[r]) + 4.0L;
        for (int b = 1; b < o->nb; ++b) {
            const dense_size g = row[r * DENSE_BODIES + b];
            length += g.v * o->reach[b];
            speed += g.w * o->v[b].w + g.v * o->v[b].v;
        }
        if (r < o->mp) {
            compare(j, "perr", r, tal_state_qerr(it->state)[r], o->err[r], length);
            compare(j, "pdot", r, tal_state_uerr(it->state)[r], o->rate[r], speed);
        } else if (r < o->mp + o->mv) {
            compare(j, "verr", r, tal_state_uerr(it->state)[r], o->err[r], speed);
        }
        for (int k = 0; k < o->nu; ++k) {
            const real size = 1.0L + kkt_size(o, &it->m, row, NULL, k, o->nu + r);
            compare(j, "G of row", r, G[r + k * o->m], o->G[r][k], size);
        }
    }
}

// How far a multiplier may be off: where rows repeat each other all of them share what they bear.
static real lambda_bound(const dense_oracle *o, int r)
{
    if (o->redundant == 0) return o->bound_lambda[r];
    real sum = 0.0L;
    for (int i = 0; i < o->m; ++i) {
        sum += o->bound_lambda[i] * o->bound_lambda[i];
    }
    return sqrtl(sum) / o->smallest_pivot;
}

static void compare_forces(const judged *j, const dense_oracle *o, const dense_size row[])
{
    const model *const it = j->it;
    const double *const lambda = tal_state_multipliers(it->state);
    const double *const tau = tal_matter_motion_multipliers(it->matter, it->state);
    for (int r = 0; r < o->m; ++r) {
        compare(j, "lambda", r, lambda[r], o->lambda[r], lambda_bound(o, r));
    }
    for (int i = 0; i < o->nu; ++i) {
        real size = kkt_size(o, &it->m, row, NULL, i, -1);
        for (int k = 0; k < o->nu; ++k) {
            size += kkt_size(o, &it->m, row, NULL, i, k) * (fabsl(o->udot[k]) + o->bound_udot[k]);
        }
        for (int r = 0; r < o->m; ++r) {
            size += kkt_size(o, &it->m, row, NULL, i, o->nu + r) *
                    (fabsl(o->lambda[r]) + lambda_bound(o, r));
        }
        compare(j, "tau", i, tau[i], o->tau[i], o->is_known[i] ? size : 0.0L);
    }
}

static bool carries(const dense_mechanism *m, int b, int c)
{
    while (c > b) {
        c = m->body[c].parent;
    }
    return c == b;
}

static void compare_reactions(const judged *j, const dense_oracle *o, const dense_size row[])
{
    const model *const it = j->it;
    real udot[DENSE_SPEEDS];
    for (int k = 0; k < o->nu; ++k) {
        udot[k] = fabsl(o->udot[k]) + o->bound_udot[k];
    }
    for (int b = 1; b < o->nb; ++b) {
        dense_size sum = {0.0L, 0.0L};
        for (int c = b; c < o->nb; ++c) {
            if (!carries(&it->m, b, c)) continue;
            const dense_size a = {o->a[c].w + o->v[c].w * o->v[c].w +
                                      size_of_sum(udot, o->j[c], o->nu, false),
                                  o->a[c].v + size_of_sum(udot, o->j[c], o->nu, true)};
            dense_size F = size_of_force(o, c, a);
            F.w += norm3(o->F[c]), F.v += norm3(o->F[c] + 3);
            for (int r = 0; r < o->m; ++r) {
                const real by = fabsl(o->lambda[r]) + lambda_bound(o, r);
                F.w += row[r * DENSE_BODIES + c].w * by, F.v += row[r * DENSE_BODIES + c].v * by;
            }
            sum.v += F.v;
            sum.w += F.w + F.v * (o->reach[c] - o->reach[b] + 1.0L);
        }
        const tal_spatial_vec R = tal_body_reaction_B(it->matter, it->state, (tal_body_ix){b});
        compare_spatial(j, "reaction", b, R, o->R[b], sum);
    }
}

static void compare_operators(const judged *j, const dense_oracle *o)
{
    test_rng rng = test_rng_seed(j->seed);
    const model *const it = j->it;
    static double M[DENSE_SPEEDS * DENSE_SPEEDS];
    double a[DENSE_SPEEDS + 1], f[DENSE_SPEEDS + 1];
    const tal_matrix to = {M, o->nu, o->nu, o->nu > 0 ? o->nu : 1};
    ck_assert_int_eq(tal_matter_calc_M(it->matter, it->state, to), TAL_OK);
    for (int k = 0; k < o->nu; ++k) {
        a[k] = test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_matter_inverse_dynamics(it->matter, it->state, a, it->F, it->f, f),
                     TAL_OK);
    for (int i = 0; i < o->nu; ++i) {
        real needed = -o->rhs[i], size = kkt_size(o, &it->m, NULL, NULL, i, -1);
        for (int k = 0; k < o->nu; ++k) {
            const real entry = kkt_size(o, &it->m, NULL, NULL, i, k);
            compare(j, "M", i, M[i + k * o->nu], o->M[i][k], entry);
            needed += o->M[i][k] * (real)a[k];
            size += entry * fabsl((real)a[k]);
        }
        compare(j, "inverse dynamics", i, f[i], needed, size);
    }
}

// M^-1 f over the free speeds.
static void compare_inverse(const judged *j, const dense_oracle *o)
{
    const model *const it = j->it;
    static dense K;
    static real b[DENSE_MAX], x[DENSE_MAX], size[DENSE_MAX];
    double a[DENSE_SPEEDS + 1];
    int of[DENSE_SPEEDS + DENSE_ROWS];
    eliminate_mass(o, of, unknowns(o, of) - o->m, &K);
    for (int i = 0; i < K.n; ++i) {
        b[i] = (real)it->f[of[i]];
    }
    (void)dense_solve(&K, b, x);
    ck_assert_int_eq(tal_matter_mul_Minv(it->matter, it->state, it->f, a), TAL_OK);
    for (int i = 0; i < K.n; ++i) {
        size[i] = fabsl(b[i]);
        for (int k = 0; k < K.n; ++k) {
            size[i] += mass_size(o, &it->m, of[i], of[k]) * fabsl(x[k]);
        }
    }
    for (int r = 0; r < K.n; ++r) {
        const int at = K.pivot_column[r];
        real bound = 0.0L;
        for (int k = 0; k < K.n; ++k) {
            bound += fabsl(inverse_entry(&K, r, k)) * size[k];
        }
        compare(j, "M^-1 f", of[at], a[of[at]], x[at], bound);
    }
}

static void compare_sums(const judged *j, const dense_oracle *o)
{
    const model *const it = j->it;
    real energy = 0.0L, energy_size = 0.0L, momentum[6] = {0.0L};
    dense_size size = {0.0L, 0.0L};
    for (int b = 1; b < o->nb; ++b) {
        real F[6], turn[3], p[3];
        mul_inertia(o, b, o->V[b], F);
        for (int k = 0; k < 6; ++k) {
            energy += 0.5L * F[k] * o->V[b][k];
        }
        for (int k = 0; k < 3; ++k) {
            p[k] = o->X[b].p.e[k].x;
        }
        cross3(p, F + 3, turn);
        for (int k = 0; k < 3; ++k) {
            momentum[k] += F[k] + turn[k];
            momentum[3 + k] += F[3 + k];
        }
        const dense_size P = size_of_force(o, b, o->v[b]);
        energy_size += P.w * o->v[b].w + P.v * o->v[b].v;
        size.v += P.v;
        size.w += P.w + P.v * o->reach[b];
        if (it->m.body[b].nu != 1) continue;
        const real u = (real)tal_state_u(it->state)[it->m.body[b].u0];
        energy += 0.5L * (real)it->m.body[b].rotor * u * u;
        energy_size += (real)it->m.body[b].rotor * u * u;
    }
    compare(j, "kinetic energy", 0, tal_matter_kinetic_energy(it->matter, it->state), energy,
            energy_size);
    compare_spatial(j, "momentum", 0, tal_matter_momentum(it->matter, it->state), momentum, size);
}

// --- one mechanism ---

// Known u is what is prescribed.
static void compare_known(const judged *j)
{
    const model *const it = j->it;
    const real t = (real)tal_state_t(it->state);
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const dense_body *const body = &it->m.body[b];
        const real a = (real)body->wave[0], w = (real)body->wave[1],
                   x = w * t + (real)body->wave[2];
        for (int k = body->u0; k < body->u0 + body->nu; ++k) {
            const double u = tal_state_u(it->state)[k];
            if (body->known == TAL_LEVEL_POSITION) {
                compare(j, "known u", k, u, a * w * cosl(x), 1.0L);
            } else if (body->known == TAL_LEVEL_VELOCITY && a != 0.0L) {
                compare(j, "known u", k, u, a * sinl(x), 1.0L);
            }
        }
    }
}

static bool has_known(const dense_mechanism *m)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        if (m->body[b].known != TAL_LEVEL_FREE) return true;
    }
    return false;
}

// Everything that the State says, at Velocity so far.
static verdict check_state(const judged *j)
{
    static dense_oracle o;
    static dense_size row[DENSE_ROWS * DENSE_BODIES];
    static real row_length[DENSE_ROWS];
    const model *const it = j->it;
    memset(&o, 0, sizeof o);
    compare_known(j);
    take_known(it, (real)tal_state_t(it->state), &o);
    take_loads(it, &o);
    dense_find(&o, &it->m, it->matter, it->state);
    const tal_status st = tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION);
    const verdict is = look_at(&o, it);
    if (is == TOO_CLOSE) return is;
    if (is == AGREES_IN_THE_MEAN) {
        // an error where rows are met, as those of accelerations always are; known motion has
        // priority: what it violates is not a contradiction
        ck_assert_msg(!j->is_assembled || st == TAL_ERR_SINGULAR || has_known(&it->m),
                      "seed %llu contradicts itself", (unsigned long long)j->seed);
        if (st == TAL_ERR_SINGULAR) return is;
    }
    ck_assert_msg(st == TAL_OK, "seed %llu: %s", (unsigned long long)j->seed,
                  tal_state_error(it->state)->message);
    size_of_rows(&o, &it->m, row, row_length);
    compare_motion(j, &o);
    compare_rows(j, &o, row);
    compare_forces(j, &o, row);
    compare_reactions(j, &o, row);
    compare_operators(j, &o);
    compare_inverse(j, &o);
    compare_sums(j, &o);
    return is;
}

// How many States of each verdict.
typedef struct tally {
    int anywhere[3], assembled[3];
} tally;

static void check_mechanism(uint64_t seed, tally *count)
{
    static model it;
    judged j = {seed, &it, false};
    make_model(&it, seed);
    ck_assert_msg(set_known(&it), "seed %llu: %s", (unsigned long long)seed,
                  tal_state_error(it.state)->message);
    ++count->anywhere[check_state(&j)];
    j.is_assembled = it.m.num_items > 0 && assemble(&it);
    if (j.is_assembled) ++count->assembled[check_state(&j)];
    free_model(&it);
}

START_TEST(any_mechanism_obeys_equations_built_in_another_way)
{
    const char *const from = getenv("TALUS_SEED"); // for people
    const bool soak = getenv("TALUS_SOAK") != NULL;
    const uint64_t first = from != NULL ? strtoull(from, NULL, 10) : 1;
    const int num = from != NULL ? 1 : soak ? 200000 : 400;
    tally count = {{0}, {0}};
    for (int i = 0; i < num; ++i) {
        check_mechanism(first + (uint64_t)i, &count);
    }
    const int *const any = count.anywhere, *const met = count.assembled;
    (void)printf(
        "%d agree, %d in the mean, %d too close; assembled %d, %d, %d; worst %.2g of the bound, %s\n",
        any[0], any[1], any[2], met[0], met[1], met[2], worst, worst_what);
    if (from != NULL) return;
    ck_assert_int_ge(any[AGREES] + any[AGREES_IN_THE_MEAN], num * 2 / 3);
    ck_assert_int_ge(met[AGREES], num / 5);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/dense_kkt");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 14400);
    tcase_add_test(all, any_mechanism_obeys_equations_built_in_another_way);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
