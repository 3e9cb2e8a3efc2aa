// Does an element agree with itself? Its change is compared with differences of its forces, its
// forces with the gradient of its energy, and its power with what it says of energy gained and
// lost.
#include "force_facts_internal.h"

#include "core/derivative_internal.h"

#include <talus/common/random.h>
#include <talus/forces/derivative.h>

#include <math.h>
#include <string.h>

// The element, two States, and a direction. All arrays are ours.
typedef struct subject {
    const tal_forces *forces;
    const tali_force *element;
    tal_force_ix me;
    tal_state *given;           // the State under test, at Velocity
    tal_state *moved;           // moved about
    tal_state *rest;            // where the one under test is, at rest
    tali_force_direction along; // random in q and u
    double *w, *v, *zero;       // [nu]
    double *dz, *dzdot;         // [nz of the State], by differences
    double *dzdot2;             // [nz of the State] room
    tal_spatial_vec *dV;        // [num_bodies] change of the velocities, by differences
    tal_spatial_vec *F, *dF;    // [num_bodies] forces, and their change by differences
    double *f, *df;             // [nu]
    tal_spatial_vec *F2;        // [num_bodies] room
    double *f2;                 // [nu]
} subject;

// --- small things ---

static void clear(const subject *s, tal_spatial_vec F[], double f[])
{
    memset(F, 0, (size_t)s->forces->num_bodies * sizeof *F);
    memset(f, 0, (size_t)s->forces->nu * sizeof *f);
}

static tal_status forces_at(const subject *s, tal_state *state, tal_spatial_vec F[], double f[])
{
    clear(s, F, f);
    return tali_force_apply_about_Mo(s->forces, state, s->me, F, f);
}

// |a - b| relative to `size` or to 1. A NaN counts as infinitely wrong.
static double relative(double a, double b, double size)
{
    const double off = fabs(a - b) / fmax(1.0, size);
    return off <= HUGE_VAL ? off : HUGE_VAL;
}

// Largest difference between two arrays, relative to the largest entry of `b` or to 1.
static double difference(const double a[], const double b[], int n)
{
    const double size = tali_force_size_of(b, n);
    double worst = 0.0;
    for (int i = 0; i < n; ++i) {
        worst = fmax(worst, relative(a[i], b[i], size));
    }
    return worst;
}

static double difference_of_forces(const subject *s, const tal_spatial_vec F[], const double f[],
                                   const tal_spatial_vec F_ref[], const double f_ref[])
{
    const double *a = (const double *)(const void *)F, *b = (const double *)(const void *)F_ref;
    return fmax(difference(a, b, 6 * s->forces->num_bodies), difference(f, f_ref, s->forces->nu));
}

// Power of forces in a motion of the bodies and speeds, and the sum of the magnitudes of its parts.
static double power_in(const subject *s, const tal_spatial_vec F[], const double f[],
                       const tal_spatial_vec motion[], const double u[], double *size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int b = 0; b < s->forces->num_bodies; ++b) {
        const double part = tal_sv_dot(F[b], motion[b]);
        sum += part;
        *size += fabs(part);
    }
    for (int i = 0; i < s->forces->nu; ++i) {
        sum += f[i] * u[i];
        *size += fabs(f[i] * u[i]);
    }
    return sum;
}

// --- what is tested ---

// Forces are added: to ones, they must come out as they do to zeros.
static tal_status test_adds(subject *s, tal_force_report *report)
{
    tal_status st = forces_at(s, s->given, s->F, s->f);
    for (int b = 0; b < s->forces->num_bodies; ++b) {
        s->F2[b] = tal_sv(tal_v3(1.0, 1.0, 1.0), tal_v3(1.0, 1.0, 1.0));
    }
    for (int i = 0; i < s->forces->nu; ++i) {
        s->f2[i] = 1.0;
    }
    if (st == TAL_OK) st = tali_force_apply_about_Mo(s->forces, s->given, s->me, s->F2, s->f2);
    double *ones = (double *)(void *)s->F2;
    for (int i = 0; i < 6 * s->forces->num_bodies; ++i) {
        ones[i] -= 1.0;
    }
    for (int i = 0; i < s->forces->nu; ++i) {
        s->f2[i] -= 1.0;
    }
    report->adds = difference_of_forces(s, s->F2, s->f2, s->F, s->f);
    return st;
}

// Move all that the element says it does not need.
static tal_status test_needs(subject *s, tal_force_report *report)
{
    const tal_force_needs needs = s->element->ops.needs;
    if (needs == TAL_FORCE_NEEDS_ALL) return TAL_OK;
    const int nq = tal_matter_nq(s->forces->matter, s->given);
    tali_force_direction along = s->along;
    along.du = s->v;
    if (needs == TAL_FORCE_NEEDS_Q) memset(along.dq, 0, (size_t)nq * sizeof *along.dq);
    tal_status st = tali_force_move(s->forces->matter, s->given, &along, 0.1, s->moved);
    const double t = tal_state_t(s->given);
    if (needs == TAL_FORCE_NEEDS_Q) (void)tal_state_set_t(s->moved, t + 0.1);
    if (st == TAL_OK) st = tal_system_realize(s->forces->system, s->moved, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = forces_at(s, s->moved, s->F2, s->f2);
    report->needs = difference_of_forces(s, s->F2, s->f2, s->F, s->f);
    // the direction is used again
    return st == TAL_OK ? tali_force_direction_along(s->forces->matter, s->given, s->w, &s->along)
                        : st;
}

// Differences of zdot: what they are where the element is moved, times a weight.
static tal_status add_rates(subject *s, double weight)
{
    const int nz = tal_state_nz(s->moved);
    if (s->element->ops.add_rate_change == NULL || nz == 0) return TAL_OK;
    const tal_status st = tal_system_realize(s->forces->system, s->moved, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < nz && st == TAL_OK; ++i) {
        s->dzdot[i] += weight * tal_state_zdot(s->moved)[i];
    }
    return st;
}

// Differences of forces and velocities, and of zdot, along the direction.
static tal_status differentiate(subject *s)
{
    const int nb = s->forces->num_bodies;
    const double *dX = (const double *)(const void *)s->along.dX;
    const tali_force_points points =
        tali_force_points_for(fmax(tali_force_size_of(dX, 6 * nb), 1.0));
    clear(s, s->dF, s->df);
    memset(s->dV, 0, (size_t)nb * sizeof *s->dV);
    for (int k = 0; k < TALI_NUM_POINTS; ++k) {
        tal_status st =
            tali_force_move(s->forces->matter, s->given, &s->along, points.at[k], s->moved);
        if (st == TAL_OK) st = forces_at(s, s->moved, s->F2, s->f2);
        if (st != TAL_OK) return st;
        const tal_bodies_view velocities = tal_matter_velocities(s->forces->matter, s->moved);
        for (int b = 0; b < nb; ++b) {
            const tal_spatial_vec V = *tal_view_V_GM(&velocities, b);
            s->dF[b] = tal_sv_add(s->dF[b], tal_sv_scale(points.weight[k], s->F2[b]));
            s->dV[b] = tal_sv_add(s->dV[b], tal_sv_scale(points.weight[k], V));
        }
        for (int i = 0; i < s->forces->nu; ++i) {
            s->df[i] += points.weight[k] * s->f2[i];
        }
        st = add_rates(s, points.weight[k]);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// The rates of the z of others, and of what it has dissipated, are not this element's.
static void forget_others(const subject *s)
{
    const int nz = tal_state_nz(s->given);
    const int own = tali_force_z(s->forces, s->given, s->me, 0, NULL);
    double *kept = s->dzdot2;
    memset(kept, 0, (size_t)nz * sizeof *kept);
    for (int i = 0, slot = 0; i < own; ++i) {
        (void)tali_force_z(s->forces, s->given, s->me, i, &slot);
        kept[slot] = s->dzdot[slot];
    }
    if (s->element->is_tracked) {
        kept[tal_group_start(s->forces->system, s->given, s->element->dissipated)] = 0.0;
    }
    memcpy(s->dzdot, kept, (size_t)nz * sizeof *kept);
}

static tal_status test_rates(const subject *s, const tal_force_context *context,
                             const tal_force_change *change, tal_force_report *report)
{
    const tal_force_ops *ops = &s->element->ops;
    const int nz = tal_state_nz(s->given);
    if (ops->add_rate_change == NULL || nz == 0) return TAL_OK;
    forget_others(s);
    memset(s->dzdot2, 0, (size_t)nz * sizeof *s->dzdot2);
    const tal_status st = ops->add_rate_change(s->element->self, context, change, s->dzdot2);
    report->rates = difference(s->dzdot2, s->dzdot, nz);
    return st;
}

static tal_status test_change(subject *s, tal_force_report *report)
{
    const tal_force_ops *ops = &s->element->ops;
    if (ops->apply_change == NULL) return TAL_OK;
    s->along.dz = s->dz;
    tal_status st = differentiate(s);
    if (st != TAL_OK) return st;
    const tal_force_context context = tali_force_context(s->forces, s->given, TAL_STAGE_VELOCITY);
    const tal_force_change change = {s->along.dq, s->along.du, s->along.dX, s->dV, s->along.dz};
    clear(s, s->F2, s->f2);
    st = ops->apply_change(s->element->self, &context, &change, s->F2, s->f2);
    report->change = difference_of_forces(s, s->F2, s->f2, s->dF, s->df);
    if (st == TAL_OK) st = test_rates(s, &context, &change, report);
    s->along.dz = NULL;
    return st;
}

// The rate of the potential energy in a motion that moves q along dq.
static tal_status energy_rate(subject *s, const tali_force_direction *along, double size,
                              double *rate)
{
    const tali_force_points points = tali_force_points_for(size);
    *rate = 0.0;
    for (int k = 0; k < TALI_NUM_POINTS; ++k) {
        const tal_status st =
            tali_force_move(s->forces->matter, s->given, along, points.at[k], s->moved);
        if (st != TAL_OK) return st;
        *rate += points.weight[k] * tal_force_potential_energy(s->forces, s->moved, s->me);
    }
    return TAL_OK;
}

// How the power that an element dissipates grows with a slow motion along the direction, w times a
// speed: that of a force that is moved at rest. Dampers have none, their power being even.
static tal_status power_at_rest(subject *s, double *rate)
{
    const tali_force_points points = tali_force_points_for(tali_force_size_of(s->w, s->forces->nu));
    tali_force_direction still = s->along;
    memset(still.dq, 0, (size_t)tal_matter_nq(s->forces->matter, s->given) * sizeof *still.dq);
    still.du = s->w;
    *rate = 0.0;
    tal_status st = TAL_OK;
    for (int k = 0; k < TALI_NUM_POINTS && st == TAL_OK; ++k) {
        double *u = NULL;
        st = tal_state_copy(s->rest, s->given);
        if (st == TAL_OK) u = tal_state_upd_u(s->rest);
        if (u != NULL) memset(u, 0, (size_t)tal_state_nu(s->rest) * sizeof *u);
        if (st == TAL_OK) {
            st = tali_force_move(s->forces->matter, s->rest, &still, points.at[k], s->moved);
        }
        if (st == TAL_OK) {
            *rate += points.weight[k] * tal_force_dissipated_power(s->forces, s->moved, s->me);
        }
    }
    // the direction is used again
    return st == TAL_OK ? tali_force_direction_along(s->forces->matter, s->given, s->w, &s->along)
                        : st;
}

// At rest the forces are the gradient of the energy: F . dX + f . w = -dE, but for what an element
// does by itself, e.g. an active muscle.
static tal_status test_energy(subject *s, tal_force_report *report)
{
    if (s->element->ops.calc_potential_energy == NULL) return TAL_OK;
    const tal_forces *forces = s->forces;
    // z that hold something else than a length move with q: test_power() knows them
    if (tali_force_z(forces, s->given, s->me, 0, NULL) > 0) return TAL_OK;
    const double *dX = (const double *)(const void *)s->along.dX;
    tali_force_direction along = s->along;
    along.du = s->zero;
    double rate = 0.0, size = 0.0;
    tal_status st = energy_rate(s, &along, tali_force_size_of(dX, 6 * forces->num_bodies), &rate);
    if (st == TAL_OK) st = tali_force_move(forces->matter, s->given, &along, 0.0, s->moved);
    double *u = tal_state_upd_u(s->moved);
    memset(u, 0, (size_t)tal_state_nu(s->moved) * sizeof *u);
    if (st == TAL_OK) st = tal_system_realize(forces->system, s->moved, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = forces_at(s, s->moved, s->F2, s->f2);
    const double power = power_in(s, s->F2, s->f2, s->along.dX, s->w, &size);
    double own = 0.0;
    if (st == TAL_OK && s->element->ops.calc_dissipated_power != NULL) st = power_at_rest(s, &own);
    report->energy = relative(power + own, -rate, size);
    return st;
}

// In the State's own motion: F . V + f . u + dE/dt + dissipated power = 0. It is the last test: the
// direction becomes that motion.
static tal_status test_power(subject *s, tal_force_report *report)
{
    const tal_force_ops *ops = &s->element->ops;
    const tal_forces *forces = s->forces;
    if (ops->calc_potential_energy == NULL && ops->calc_dissipated_power == NULL) return TAL_OK;
    for (int b = 0, i = 0; b < forces->num_bodies; ++b) {
        const tal_body_ix body = {b};
        for (int j = 0; j < tal_body_nu(forces->matter, body); ++j) {
            s->w[i++] = tal_body_u(forces->matter, s->given, body, j);
        }
    }
    tal_status st = tali_force_direction_along(forces->matter, s->given, s->w, &s->along);
    s->along.du = s->zero;
    double rate = 0.0, size = 0.0;
    const double *dX = (const double *)(const void *)s->along.dX;
    const double fastest = tali_force_size_of(dX, 6 * forces->num_bodies);
    // z move too, and with them what they store
    if (st == TAL_OK && tali_force_z(forces, s->given, s->me, 0, NULL) > 0) {
        st = tal_system_realize(forces->system, s->given, TAL_STAGE_ACCELERATION);
        if (st == TAL_OK) s->along.dz = tal_state_zdot(s->given);
    }
    if (st == TAL_OK) st = energy_rate(s, &s->along, fastest, &rate);
    const double lost = tal_force_dissipated_power(forces, s->given, s->me);
    const double power = power_in(s, s->F, s->f, s->along.dX, s->w, &size);
    report->power = relative(power + lost, -rate, fmax(size, fabs(lost)));
    return st;
}

// --- setting up ---

// Takes the arrays; at most one quaternion per body. NULL when memory runs out.
static void *take_arrays(subject *s, size_t *bytes)
{
    const size_t nb = (size_t)s->forces->num_bodies, nu = (size_t)s->forces->nu;
    const size_t bodies = nb * sizeof(tal_spatial_vec), speeds = nu * sizeof(double);
    const size_t nz = (size_t)tal_system_pool_capacity(s->forces->system, TAL_POOL_Z);
    const tali_piece pieces[] = {{&s->along.dX, bodies},
                                 {&s->dV, bodies},
                                 {&s->F, bodies},
                                 {&s->dF, bodies},
                                 {&s->F2, bodies},
                                 {&s->w, speeds},
                                 {&s->v, speeds},
                                 {&s->zero, speeds},
                                 {&s->f, speeds},
                                 {&s->df, speeds},
                                 {&s->f2, speeds},
                                 {&s->along.dq, (nu + nb) * sizeof(double)},
                                 {&s->dz, nz * sizeof(double)},
                                 {&s->dzdot, nz * sizeof(double)},
                                 {&s->dzdot2, nz * sizeof(double)}};
    void *block =
        tali_alloc_pieces(&s->forces->allocator, pieces, sizeof pieces / sizeof pieces[0], bytes);
    s->along.du = s->v;
    return block;
}

// z of the element move by as much as they are, since nothing is known of their units.
static void choose_dz(subject *s, tal_random *random)
{
    const int nz = tal_state_nz(s->given);
    const int own = tali_force_z(s->forces, s->given, s->me, 0, NULL);
    memset(s->dz, 0, (size_t)nz * sizeof *s->dz);
    memset(s->dzdot, 0, (size_t)nz * sizeof *s->dzdot);
    for (int i = 0, slot = 0; i < own; ++i) {
        (void)tali_force_z(s->forces, s->given, s->me, i, &slot);
        const double z = tal_state_z(s->given)[slot];
        s->dz[slot] = tal_random_range(random, -1.0, 1.0) * (z != 0.0 ? z : 1.0);
    }
}

static tal_status run_tests(subject *s, const tal_state *state, tal_force_report *report)
{
    tal_random random = {1, (uint64_t)s->me.i, 0};
    for (int i = 0; i < s->forces->nu; ++i) {
        s->w[i] = tal_random_range(&random, -1.0, 1.0);
        s->v[i] = tal_random_range(&random, -1.0, 1.0);
        s->zero[i] = 0.0;
    }
    tal_status st = tal_state_copy(s->given, state);
    if (st == TAL_OK) st = tal_system_realize(s->forces->system, s->given, TAL_STAGE_VELOCITY);
    choose_dz(s, &random);
    if (st == TAL_OK) st = tali_force_direction_along(s->forces->matter, s->given, s->w, &s->along);
    if (st == TAL_OK) st = test_adds(s, report);
    if (st == TAL_OK) st = test_needs(s, report);
    if (st == TAL_OK) st = test_change(s, report);
    if (st == TAL_OK) st = test_energy(s, report);
    if (st == TAL_OK) st = test_power(s, report);
    report->worst = fmax(fmax(fmax(report->adds, report->needs), report->change),
                         fmax(fmax(report->rates, report->energy), report->power));
    return st;
}

// Why the test could not be made: the error of one of its States.
static tal_status explain(const subject *s, tal_status st, tal_error *err)
{
    const char *why = tal_state_error(s->given)->message;
    if (why[0] == '\0') why = tal_state_error(s->moved)->message;
    return TALI_FAIL(err, st, "force '%s' (%s) cannot be tested: %s", s->element->name,
                     s->element->ops.name, why[0] != '\0' ? why : tal_status_text(st));
}

tal_status tal_force_test(const tal_forces *forces, const tal_state *state, tal_force_ix force,
                          tal_force_report *report, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const tali_force *element = tali_force_at(forces, force, __func__);
    if (element == NULL) {
        return TALI_FAIL(err, tal_contract_last()->status, "%s", tal_contract_last()->message);
    }
    if (state == NULL || report == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "state or report is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "state or report is NULL");
    }
    subject s = {.forces = forces, .element = element, .me = force};
    tal_force_report found = {.worst = 0.0};
    size_t bytes = 0;
    void *room = take_arrays(&s, &bytes);
    tal_status st = tal_state_create(forces->system, &s.given, err);
    if (st == TAL_OK) st = tal_state_create(forces->system, &s.moved, err);
    if (st == TAL_OK) st = tal_state_create(forces->system, &s.rest, err);
    if (st == TAL_OK && room == NULL) {
        st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory to test force '%s'", element->name);
    } else if (st == TAL_OK) {
        st = run_tests(&s, state, &found);
        if (st == TAL_OK) *report = found;
        if (st != TAL_OK) (void)explain(&s, st, err);
    }
    tali_free(&forces->allocator, room, bytes);
    tal_state_destroy(s.rest);
    tal_state_destroy(s.moved);
    tal_state_destroy(s.given);
    return st;
}
