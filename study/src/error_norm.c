// How large is the error of a step, and which variable is to blame? (manual sec. 9.1 and 9.2)
#include "integrator_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Collects a norm over weighted errors.
typedef struct norm {
    double sum, largest;
    int count, worst;
} norm;

static void add(norm *it, int slot, double weighted)
{
    const double size = fabs(weighted);
    it->sum += weighted * weighted;
    ++it->count;
    if (size > it->largest) {
        it->largest = size;
        it->worst = slot;
    }
}

// An error that is not a number is as large as can be.
static double value_of(const norm *it, bool infinity_norm)
{
    if (it->count == 0) return 0.0;
    if (isnan(it->sum)) return (double)INFINITY;
    return infinity_norm ? it->largest : sqrt(it->sum / it->count);
}

// Keeps the worst of q, u and z.
static double merge(tal_integrator *integ, tal_pool pool, const norm *part, double worst_so_far)
{
    const double value = value_of(part, integ->def.infinity_norm);
    if (value <= worst_so_far) return worst_so_far;
    integ->worst = (tali_worst){pool, part->worst, part->largest};
    return value;
}

static norm norm_of(const double error[], const double weights[], const double y[], int n,
                    bool absolute)
{
    norm it = {0.0, 0.0, 0, 0};
    for (int i = 0; i < n; ++i) {
        add(&it, i, tali_weight(weights[i], y[i], absolute) * error[i]);
    }
    return it;
}

// Variables that are known have no error: only free ones are tested (manual sec. 10.4). Clears
// those of matter's `errors`, one per speed, that are known at `level` or above, and counts them.
static int clear_known(const tal_integrator *integ, const tal_state *state, tal_level level,
                       double errors[])
{
    const tal_matter *matter = integ->matter;
    const int num_u = tal_group_size(integ->system, state, integ->u_group);
    int known = 0;
    if (tal_matter_num_free(matter, state) == num_u) return 0;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        tal_mobility it = {.body = {b}};
        const int start = tal_body_u_start(matter, it.body), nu = tal_body_nu(matter, it.body);
        for (; it.i < nu; ++it.i) {
            if (tal_mobility_level(matter, state, it) < level) continue;
            errors[start + it.i] = 0.0;
            ++known;
        }
    }
    return known;
}

// W_u N^+ e_q for matter's coordinates; those of other subsystems are weighed by 1.
static norm norm_of_q(tal_integrator *integ, tal_state *state, int nq)
{
    norm it = {0.0, 0.0, 0, 0};
    const double *error = integ->error;
    int q0 = 0, num_q = 0;
    if (integ->matter != NULL) {
        q0 = tal_group_start(integ->system, state, integ->q_group);
        num_q = tal_group_size(integ->system, state, integ->q_group);
        const int u0 = tal_group_start(integ->system, state, integ->u_group);
        const int num_u = tal_group_size(integ->system, state, integ->u_group);
        const tal_status st =
            tal_matter_mul_N(integ->matter, state, TAL_NPLUS, error + q0, integ->weighed);
        const double *weights = tal_state_weights(state, TAL_POOL_U) + u0;
        it.count -= clear_known(integ, state, TAL_LEVEL_POSITION, integ->weighed);
        for (int j = 0; j < num_u; ++j) {
            add(&it, u0 + j, st == TAL_OK ? weights[j] * integ->weighed[j] : TALI_NAN);
        }
    }
    for (int i = 0; i < nq; ++i) {
        if (i < q0 || i >= q0 + num_q) add(&it, i, error[i]);
    }
    return it;
}

double tali_error_norm(tal_integrator *integ, tal_state *state)
{
    const int nq = tal_state_nq(state), nu = tal_state_nu(state), nz = tal_state_nz(state);
    double *error = integ->error;
    const double *y = integ->y0;
    integ->worst = (tali_worst){TAL_POOL_Q, 0, 0.0};
    norm part = norm_of_q(integ, state, nq);
    double worst = merge(integ, TAL_POOL_Q, &part, 0.0);
    int known = 0;
    if (integ->matter != NULL) {
        double *of_matter = error + nq + tal_group_start(integ->system, state, integ->u_group);
        known = clear_known(integ, state, TAL_LEVEL_VELOCITY, of_matter);
    }
    part = norm_of(error + nq, tal_state_weights(state, TAL_POOL_U), y + nq, nu,
                   integ->def.absolute_u);
    part.count -= known;
    worst = merge(integ, TAL_POOL_U, &part, worst);
    part = norm_of(error + nq + nu, tal_state_weights(state, TAL_POOL_Z), y + nq + nu, nz,
                   integ->def.absolute_z);
    return merge(integ, TAL_POOL_Z, &part, worst);
}

// The body whose speeds include one of matter's, counted from matter's first.
static tal_body_ix body_of_speed(const tal_matter *matter, int speed, int *local)
{
    tal_body_ix body = {tal_matter_num_bodies(matter) - 1};
    while (body.i > 0 &&
           (tal_body_nu(matter, body) == 0 || tal_body_u_start(matter, body) > speed)) {
        --body.i;
    }
    *local = speed - tal_body_u_start(matter, body);
    return body;
}

void tali_name_variable(const tal_integrator *integ, const tal_state *state, tal_pool pool,
                        int slot, char text[], size_t size)
{
    const tal_system *system = integ->system;
    int local = 0;
    // errors of matter's q are known by the speed that makes them
    const tal_pool by = pool == TAL_POOL_Q && integ->matter != NULL ? TAL_POOL_U : pool;
    const tal_group_ix group = tal_state_slot_owner(system, state, by, slot, &local);
    if (integ->matter != NULL && by == TAL_POOL_U && group.i == integ->u_group.i) {
        int speed = 0;
        const tal_body_ix body = body_of_speed(integ->matter, local, &speed);
        (void)snprintf(text, size, "%s %d of body '%s'",
                       pool == TAL_POOL_Q ? "the motion along speed" : "speed", speed,
                       tal_body_name(integ->matter, body));
        return;
    }
    static const char *const names[] = {"coordinate", "speed", "z"};
    (void)snprintf(text, size, "%s %d of '%s' in subsystem '%s'", names[by], local,
                   tal_group_name(system, group),
                   tal_subsystem_name(system, tal_group_owner(system, group)));
}
