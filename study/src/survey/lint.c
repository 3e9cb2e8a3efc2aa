// Lints: what costs digits in a model (RBDA sec. 10.1).
#include "alloc_internal.h"

#include "problem/study_internal.h"

#include <talus/common/linalg.h>
#include <talus/matter/tree_factor.h>
#include <talus/study/conditioning.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// A body of less than this share of a distance is a point mass with round-off, not a small body.
static const double POINT = 1e-6;

typedef struct search {
    const tal_matter *matter;
    tal_state *state;
    tal_lint_limits limits;
    tal_lint *lints;
    int max, num;
} search;

tal_lint_limits tal_lint_limits_default(void)
{
    return (tal_lint_limits){.far_frame = 1e3,
                             .far_from_ground = 1e6,
                             .inertia_ratio = 1e5,
                             .weak_inertia = 1e8,
                             .loop = 1e8};
}

TAL_PRINTF(5, 6)

static void add_lint(search *it, tal_lint_kind kind, int body, double value, const char *fmt, ...)
{
    if (it->num++ >= it->max) return;
    tal_lint *const lint = &it->lints[it->num - 1];
    *lint = (tal_lint){.kind = kind, .body = {body}, .value = value};
    va_list list;
    va_start(list, fmt);
    (void)vsnprintf(lint->message, sizeof lint->message, fmt, list);
    va_end(list);
}

static bool is_above(double value, double limit)
{
    return limit > 0.0 && value > limit;
}

// The radius of a body about its mass center: sqrt(trace I_C / 2 m), of a ring its radius.
static double size_of(const tal_mass_props *props)
{
    const tal_sym3 I = tal_mass_props_central_inertia(*props);
    const double trace = I.xx + I.yy + I.zz;
    return props->mass > 0.0 && trace > 0.0 ? sqrt(0.5 * trace / props->mass) : 0.0;
}

// An inertia about a point at a distance d loses (d / size)^2 of its digits' worth (RBDA eq. 10.1).
static void look_at_frame(search *it, int b, const char *what, double far, double size)
{
    const double ratio = far / size;
    if (!(size > POINT * far) || !is_above(ratio, it->limits.far_frame)) return;
    add_lint(it, TAL_LINT_FAR_FRAME, b, ratio,
             "its %s is %.3g m away from it, %.0f times its size: round-off grows with that.", what,
             far, ratio);
}

static void look_at_frames(search *it)
{
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(it->matter, it->state, body);
        const double size = size_of(&props);
        const tal_xform X_BM = tal_body_X_BM(it->matter, it->state, body);
        const double to_mobilizer = tal_v3_norm(tal_v3_sub(X_BM.p, props.com));
        look_at_frame(it, b, "origin", tal_v3_norm(props.com), size);
        look_at_frame(it, b, "mobilizer", to_mobilizer, size);
    }
}

// The distance of bodies from their mean place, at most, with the size of the largest body.
static double size_of_model(const search *it)
{
    const int n = tal_matter_num_bodies(it->matter);
    const tal_vec3 mean = tal_matter_com(it->matter, it->state);
    double most = 0.0, largest = 0.0;
    for (int b = 1; b < n; ++b) {
        const tal_mass_props props = tal_body_mass_props(it->matter, it->state, (tal_body_ix){b});
        const tal_vec3 p =
            tal_xf_apply(tal_body_X_GB(it->matter, it->state, (tal_body_ix){b}), props.com);
        if (props.mass > 0.0) most = fmax(most, tal_v3_norm(tal_v3_sub(p, mean)));
        largest = fmax(largest, size_of(&props));
    }
    return most + largest;
}

// The farthest body stands for all.
static void look_at_places(search *it)
{
    const double size = size_of_model(it);
    double far = 0.0;
    int farthest = 0;
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const double away = tal_v3_norm(tal_body_p_GB(it->matter, it->state, (tal_body_ix){b}));
        if (away <= far) continue;
        far = away;
        farthest = b;
    }
    if (!(size > 0.0) || !is_above(far / size, it->limits.far_from_ground)) return;
    add_lint(it, TAL_LINT_FAR_FROM_GROUND, farthest, far / size,
             "it is %.3g m from the origin of ground, %.1e times the size of the model: positions "
             "keep %.0f digits of it.",
             far, far / size, fmax(0.0, 15.0 - log10(far / size)));
}

static void look_at_masses(search *it)
{
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const double own = tal_body_mass_props(it->matter, it->state, body).mass;
        if (!(own > 0.0) || tal_body_nu(it->matter, body) == 0) continue;
        const double all = tal_body_composite_inertia(it->matter, it->state, body).mass;
        if (!is_above(all / own, it->limits.inertia_ratio)) continue;
        add_lint(it, TAL_LINT_INERTIA_RATIO, b, all / own,
                 "it carries %.1e times its own mass: digits of its own inertia are lost; give it "
                 "more, or none.",
                 all / own);
    }
}

// The speed that keeps the least share of what it moves: the pivots of M over its diagonal.
static tal_status look_at_inertia(search *it, const tal_allocator *allocator, tal_error *err)
{
    const int nu = tal_matter_nu(it->matter);
    const size_t n = (size_t)nu;
    double *M = NULL, *diagonal = NULL;
    int *lambda = NULL;
    size_t bytes = 0;
    tali_piece pieces[] = {
        {&M, n * n * sizeof *M}, {&diagonal, n * sizeof *diagonal}, {&lambda, n * sizeof *lambda}};
    void *const block = tali_alloc_pieces(allocator, pieces, 3, &bytes);
    if (block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a mass matrix");
    const tal_matrix view = tal_matrix_view(M, nu, nu);
    tal_status st = tal_matter_calc_M(it->matter, it->state, view);
    for (size_t i = 0; i < n; ++i) {
        diagonal[i] = M[i + i * n];
    }
    if (st == TAL_OK) st = tal_matter_calc_lambda(it->matter, lambda);
    const bool is_regular = st == TAL_OK && tal_tree_factor_LTDL(lambda, view, NULL) == TAL_OK;
    for (int b = 1; b < tal_matter_num_bodies(it->matter) && is_regular; ++b) {
        const tal_body_ix body = {b};
        for (int k = 0; k < tal_body_nu(it->matter, body); ++k) {
            const size_t i = (size_t)(tal_body_u_start(it->matter, body) + k);
            const double share = M[i + i * n] / diagonal[i];
            if (!is_above(1.0 / share, it->limits.weak_inertia)) continue;
            add_lint(it, TAL_LINT_WEAK_INERTIA, b, 1.0 / share,
                     "the inertia of its speed %d cancels to a part of %.1e: the acceleration "
                     "loses %.0f digits.",
                     k, share, -log10(share));
        }
    }
    tali_free(allocator, block, bytes);
    if (st == TAL_OK) return st;
    return TALI_FAIL(err, st, "%s", tali_problem_reason(it->state, st));
}

static tal_status look_at_loops(search *it, tal_error *err)
{
    tal_rows_margin margin;
    if (tal_state_pool_size(it->state, TAL_POOL_UDOTERR) == 0) return TAL_OK;
    const tal_status st = tal_matter_calc_margin(it->matter, it->state, &margin);
    if (st == TAL_ERR_SINGULAR) return TAL_OK; // of M: another matter
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tali_problem_reason(it->state, st));
    if (!is_above(1.0 / margin.share, it->limits.loop)) return TAL_OK;
    add_lint(it, TAL_LINT_LOOP, -1, 1.0 / margin.share,
             "constraints nearly lose rank here: their least pivot is %.1e times the largest "
             "possible value, and their forces are as uncertain.",
             margin.share);
    return TAL_OK;
}

static tal_status check_limits(const tal_lint_limits *limits, tal_error *err)
{
    const double all[TAL_LINT_NUM_KINDS] = {limits->far_frame, limits->far_from_ground,
                                            limits->inertia_ratio, limits->weak_inertia,
                                            limits->loop};
    for (int i = 0; i < TAL_LINT_NUM_KINDS; ++i) {
        if (isnan(all[i])) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "limit %d is NaN", i);
    }
    return TAL_OK;
}

tal_status tal_lint_find(const tal_system *system, tal_state *state, const tal_lint_limits *limits,
                         tal_lint lints[], int max, int *num, tal_error *err)
{
    if (num == NULL || max < 0 || (lints == NULL && max > 0)) {
        const tal_status bad = num == NULL || max >= 0 ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE;
        return TALI_FAIL(err, bad, "there is no room for %d lints and their number", max);
    }
    *num = 0;
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (state == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the State is NULL");
    search it = {.matter = tal_system_matter(system),
                 .state = state,
                 .limits = limits != NULL ? *limits : tal_lint_limits_default(),
                 .lints = lints,
                 .max = max};
    st = check_limits(&it.limits, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    const tal_allocator allocator = tal_system_allocator(system);
    look_at_frames(&it);
    look_at_places(&it);
    look_at_masses(&it);
    if (it.limits.weak_inertia > 0.0) st = look_at_inertia(&it, &allocator, err);
    if (st == TAL_OK && it.limits.loop > 0.0) st = look_at_loops(&it, err);
    *num = it.num;
    return st;
}
