// Weights of speeds from what they move (manual sec. 9.2).
#include "alloc_internal.h"

#include "problem/study_internal.h"

#include <talus/study/weights.h>

#include <math.h>
#include <string.h>

// Weights that are off by less are as good as any.
static const double CLOSE_ENOUGH = 2.0;

// What an estimate works on, in one block.
typedef struct survey {
    const tal_matter *matter;
    tal_state *state;
    int nu, num_bodies;
    double *unit;       // [nu]
    tal_spatial_vec *V; // [bodies] V_GB
    tal_vec3 *com;      // [bodies] from Bo, in Ground
    double *radius;     // [bodies] of gyration; below 0: no mass
    void *block;
    size_t bytes;
} survey;

static double radius_of(const tal_mass_props *props)
{
    const tal_sym3 I = tal_mass_props_central_inertia(*props);
    const double trace = I.xx + I.yy + I.zz;
    if (!(props->mass > 0.0)) return trace > 0.0 ? 0.0 : -1.0;
    return trace > 0.0 ? sqrt(0.5 * trace / props->mass) : 0.0;
}

static void look_at_bodies(survey *it)
{
    for (int b = 1; b < it->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(it->matter, it->state, body);
        it->radius[b] = radius_of(&props);
        it->com[b] = tal_m3_mul_v3(tal_body_X_GB(it->matter, it->state, body).R, props.com);
    }
}

// The largest distance of a mass center from their mean, with the body's radius.
static double size_of_model(const survey *it)
{
    const tal_vec3 mean = tal_matter_com(it->matter, it->state);
    double size = 0.0;
    for (int b = 1; b < it->num_bodies; ++b) {
        if (it->radius[b] < 0.0) continue;
        const tal_vec3 p =
            tal_v3_add(tal_body_p_GB(it->matter, it->state, (tal_body_ix){b}), it->com[b]);
        size = fmax(size, tal_v3_norm(tal_v3_sub(p, mean)) + it->radius[b]);
    }
    // a single point: its distance from Ground's origin, or else nothing has a size
    return size > 0.0 ? size : tal_v3_norm(mean);
}

// How far one unit of a speed moves the body that it moves farthest.
static tal_status find_reach(survey *it, int speed, double *reach)
{
    *reach = 0.0;
    it->unit[speed] = 1.0;
    const tal_status st = tal_matter_mul_J(it->matter, it->state, it->unit, it->V);
    it->unit[speed] = 0.0;
    for (int b = 1; b < it->num_bodies && st == TAL_OK; ++b) {
        if (it->radius[b] < 0.0) continue;
        const tal_vec3 v = tal_v3_add(it->V[b].v, tal_v3_cross(it->V[b].w, it->com[b]));
        *reach = fmax(*reach, hypot(tal_v3_norm(v), it->radius[b] * tal_v3_norm(it->V[b].w)));
    }
    return st;
}

static tal_status find_weights(survey *it, double length, double W[])
{
    look_at_bodies(it);
    if (length == 0.0) length = size_of_model(it);
    tal_status st = TAL_OK;
    for (int j = 0; j < it->nu && st == TAL_OK; ++j) {
        double reach;
        st = find_reach(it, j, &reach);
        W[j] = reach > 0.0 && length > 0.0 ? reach / length : 1.0;
    }
    return st;
}

static tal_status take_room(survey *it, const tal_allocator *allocator, tal_error *err)
{
    const size_t bodies = (size_t)it->num_bodies, nu = (size_t)it->nu;
    tali_piece pieces[] = {
        {&it->unit, nu * sizeof *it->unit},
        {&it->V, bodies * sizeof *it->V},
        {&it->com, bodies * sizeof *it->com},
        {&it->radius, bodies * sizeof *it->radius},
    };
    it->block = tali_alloc_pieces(allocator, pieces, sizeof pieces / sizeof pieces[0], &it->bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for weights of %d speeds", it->nu);
    }
    memset(it->unit, 0, nu * sizeof *it->unit);
    return TAL_OK;
}

// Checks, and what must be realized.
static tal_status begin(const tal_system *system, tal_state *state, double length, tal_error *err)
{
    if (state == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the State is NULL");
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (!(length >= 0.0) || !isfinite(length)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the length is %g: it must be finite and not "
                         "negative",
                         length);
    }
    st = tal_system_realize(system, state, TAL_STAGE_POSITION);
    return st == TAL_OK ? st : TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
}

tal_status tal_weights_estimate(const tal_system *system, tal_state *state, double length,
                                double W[], tal_error *err)
{
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (W == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "'W' is NULL");
    tal_status st = begin(system, state, length, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    survey it = {.matter = tal_system_matter(system), .state = state};
    it.nu = tal_matter_nu(it.matter);
    it.num_bodies = tal_matter_num_bodies(it.matter);
    st = take_room(&it, &allocator, err);
    if (st == TAL_OK) {
        st = find_weights(&it, length, W);
        if (st != TAL_OK) st = TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    }
    tali_free(&allocator, it.block, it.bytes);
    return st;
}

static bool are_close(const double a[], const double b[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (a[i] > CLOSE_ENOUGH * b[i] || b[i] > CLOSE_ENOUGH * a[i]) return false;
    }
    return true;
}

// `W` has room for all speeds of the State: matter's are replaced.
static tal_status put(const tal_system *system, tal_state *state, double length, double W[],
                      bool *changed, tal_error *err)
{
    const int u0 = tali_problem_u_start(system, state, tal_system_matter(system));
    const int nu = tal_state_nu(state), own = tal_matter_nu(tal_system_matter(system));
    const double *present = tal_state_weights(state, TAL_POOL_U);
    memcpy(W, present, (size_t)nu * sizeof *W);
    tal_status st = tal_weights_estimate(system, state, length, W + u0, err);
    if (st != TAL_OK || are_close(W + u0, present + u0, own)) return st;
    st = tal_state_set_weights(state, TAL_POOL_U, W, nu);
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    if (changed != NULL) *changed = true;
    return TAL_OK;
}

tal_status tal_weights_refresh(const tal_system *system, tal_state *state, double length,
                               bool *changed, tal_error *err)
{
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (changed != NULL) *changed = false;
    tal_status st = begin(system, state, length, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    const size_t bytes = (size_t)(tal_state_nu(state) + 1) * sizeof(double);
    double *W = tali_alloc(&allocator, bytes);
    if (W == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for weights");
    st = put(system, state, length, W, changed, err);
    tali_free(&allocator, W, bytes);
    return st;
}
