// The curves of muscles: from what users give to the constants that laws are evaluated with.
#include "error_internal.h"

#include "muscle/muscle_curves_internal.h"

#include <math.h>

// With at least this damping, the active curve and the ends of the velocity curve may be zero.
static const double DAMPED = 1e-3;

// Without it, the least value of the active curve.
static const double LEAST_ACTIVE = 0.1;

// --- checks ---

typedef struct demand {
    const char *name;
    double value, above, below; // above < value < below
} demand;

static tal_status check(const demand demands[], int count, tal_error *err)
{
    for (int i = 0; i < count; ++i) {
        const demand *d = &demands[i];
        if (d->value > d->above && d->value < d->below) continue;
        if (!isfinite(d->value)) {
            return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "%s is %g: it must be finite", d->name,
                             d->value);
        }
        return isinf(d->below)
                   ? TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be more than %g", d->name,
                               d->value, d->above)
                   : TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be above %g and below %g",
                               d->name, d->value, d->above, d->below);
    }
    return TAL_OK;
}

#define CHECK(demands, err) check(demands, (int)(sizeof(demands) / sizeof(demands)[0]), err)

static const double infinity = (double)INFINITY;

// --- Thelen ---

// Toe: Thelen's tendon is exponential up to a third of F0 and then straight, without a kink.
static tal_status build_thelen(const tal_thelen_curves *from, tali_muscle_thelen *to,
                               tal_error *err)
{
    const demand demands[] = {{"Thelen's tendon_strain", from->tendon_strain, 0.0, infinity},
                              {"Thelen's passive_strain", from->passive_strain, 0.0, infinity},
                              {"Thelen's active_width", from->active_width, 0.0, infinity},
                              {"Thelen's passive_shape", from->passive_shape, 0.0, 700.0},
                              {"Thelen's velocity_shape", from->velocity_shape, 0.0, infinity},
                              {"Thelen's eccentric", from->eccentric, 1.0, infinity},
                              {"Thelen's threshold", from->threshold, 0.0, 1.0}};
    const tal_status st = CHECK(demands, err);
    if (st != TAL_OK) return st;
    if (!(from->threshold * from->eccentric > 1.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "Thelen's threshold * eccentric is %g: it must be more than 1",
                         from->threshold * from->eccentric);
    }
    const double e3 = exp(3.0), strain = from->tendon_strain;
    const double toe = 0.99 * strain * e3 / (1.66 * e3 - 0.67);
    const double per_Af = 1.0 / from->velocity_shape, Flen = from->eccentric;
    const double k = (2.0 + 2.0 * per_Af) / (Flen - 1.0), top = from->threshold * Flen;
    const double gap = Flen - top;
    *to = (tali_muscle_thelen){.narrow = 1.0 / from->active_width,
                               .passive_rate = from->passive_shape / from->passive_strain,
                               .passive_scale = 1.0 / (exp(from->passive_shape) - 1.0),
                               .toe_strain = toe,
                               .toe_rate = 3.0 / toe,
                               .toe_scale = 0.33 / (e3 - 1.0),
                               .tendon_slope = 0.67 / (strain - toe),
                               .Flen = Flen,
                               .per_Af = per_Af,
                               .k = k,
                               .top = top,
                               .v_top = (top - 1.0) / (k * gap),
                               .dv_top = (Flen - 1.0) / (k * gap * gap)};
    return TAL_OK;
}

// --- De Groote and Fregly ---

static tal_status build_degroote(const tal_degroote_curves *from, tali_muscle_degroote *to,
                                 tal_error *err)
{
    const demand demands[] = {{"DeGroote's tendon_strain", from->tendon_strain, 0.0, infinity},
                              {"DeGroote's passive_strain", from->passive_strain, 0.01, infinity},
                              {"DeGroote's active_width", from->active_width, 0.0, infinity}};
    const tal_status st = CHECK(demands, err);
    if (st != TAL_OK) return st;
    const double rate = 4.0 / from->passive_strain, zero = exp(rate * (0.2 - 1.0));
    *to = (tali_muscle_degroote){.narrow = 1.0 / from->active_width,
                                 .passive_rate = rate,
                                 .passive_zero = zero,
                                 .passive_scale = 1.0 / (exp(4.0) - zero),
                                 .tendon_rate = log(6.0) / from->tendon_strain};
    return TAL_OK;
}

// --- Millard ---

// A curve whose name goes before what is wrong with it.
static tal_status build_bezier(const char *name, const tal_bezier_node nodes[],
                               const double curviness[], int count, tali_bezier *to, tal_error *err)
{
    tal_error why = {TAL_OK, "", ""};
    const tal_status st = tali_bezier_build(nodes, curviness, count, to, __func__, &why);
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(err, st, "Millard's %s curve: %s", name, why.message);
}

// Two corners: from slack to half the toe's force, and on to where the line begins.
static tal_status build_tendon(const tal_millard_curves *c, tali_bezier *to, tal_error *err)
{
    const double k = c->tendon_stiffness > 0.0 ? c->tendon_stiffness : 1.375 / c->tendon_strain;
    const double xI = 1.0 + c->tendon_strain, fT = c->tendon_toe;
    const double xT = xI + (fT - 1.0) / k, xF = 1.0 + (xT - 1.0) / 10.0;
    const double yM = 0.5 * fT, xM = xI + (yM - 1.0) / k, dM = yM / (xM - xF);
    const double xc = xF + 0.5 * (xM - xF), yc = dM * (xc - xF);
    const tal_bezier_node nodes[] = {{1.0, 0.0, 0.0}, {xc, yc, dM}, {xT, fT, k}};
    const double curviness[] = {c->tendon_curviness, c->tendon_curviness};
    return build_bezier("tendon", nodes, curviness, 3, to, err);
}

static tal_status build_passive(const tal_millard_curves *c, tali_bezier *to, tal_error *err)
{
    const double e0 = c->passive_strain_at_zero, e1 = c->passive_strain_at_one;
    const double low = c->passive_stiffness_low > 0.0 ? c->passive_stiffness_low : 0.2;
    const double k = c->passive_stiffness > 0.0 ? c->passive_stiffness : 2.0 / (e1 - e0);
    const double step = fmin(0.1 / k, 0.1 * (e1 - e0));
    const tal_bezier_node nodes[] = {
        {1.0 + e0, 0.0, 0.0}, {1.0 + e0 + step, 0.5 * low * step, low}, {1.0 + e1, 1.0, k}};
    const double curviness[] = {c->passive_curviness, c->passive_curviness};
    return build_bezier("passive", nodes, curviness, 3, to, err);
}

static tal_status build_active(const tal_millard_curves *c, double least, tali_bezier *to,
                               tal_error *err)
{
    const double x0 = c->active_from, x1 = c->active_steep, x3 = c->active_to, d = c->active_slope;
    const double delta = 0.05, xs = 1.0 - delta, y1 = 1.0 - d * (xs - x1);
    const tal_bezier_node nodes[] = {
        {x0, least, 0.0},
        {0.5 * (x0 + x1), 0.5 * y1, 1.25 * y1 / (x1 - x0)},
        {0.5 * (x1 + xs), 0.5 * (1.0 + y1), d},
        {1.0, 1.0, 0.0},
        {0.5 * (1.0 + delta + x3), 0.5, -1.0 / (x3 - 1.0 - 2.0 * delta)},
        {x3, least, 0.0}};
    const double curviness[] = {1.0, 1.0, 1.0, 1.0, 1.0};
    return build_bezier("active", nodes, curviness, 6, to, err);
}

static tal_status build_velocity(const tal_millard_curves *c, bool has_flat_ends, tali_bezier *to,
                                 tal_error *err)
{
    const double dNC = c->concentric_slope, dNE = c->eccentric_slope, fE = c->eccentric;
    const double dC = has_flat_ends ? 0.0 : fmax(c->concentric_slope_end, 0.5 * dNC);
    const double dE = has_flat_ends ? 0.0 : fmax(c->eccentric_slope_end, 0.5 * dNE);
    const tal_bezier_node nodes[] = {{-1.0, 0.0, dC},
                                     {-0.9, 0.05 * (dNC + dC), dNC},
                                     {0.0, 1.0, c->isometric_slope},
                                     {0.9, fE - 0.05 * (dNE + dE), dNE},
                                     {1.0, fE, dE}};
    const double kC = c->concentric_curviness, kE = c->eccentric_curviness;
    const double curviness[] = {kC, kC, kE, kE};
    return build_bezier("velocity", nodes, curviness, 5, to, err);
}

// Damping, or a rigid tendon, let fal and the ends of fv be zero: nothing is divided by them.
static tal_status build_millard(const tal_muscle_def *def, tali_muscle_millard *to, tal_error *err)
{
    const tal_millard_curves *c = &def->millard;
    const demand demands[] = {
        {"Millard's tendon_strain", c->tendon_strain, 0.0, infinity},
        {"Millard's tendon_stiffness", c->tendon_stiffness, -1e-300, infinity},
        {"Millard's tendon_toe", c->tendon_toe, 0.0, 1.0},
        {"Millard's passive_strain_at_one", c->passive_strain_at_one, c->passive_strain_at_zero,
         infinity},
        {"Millard's active_minimum", c->active_minimum, -1e-300, 1.0},
        {"Millard's isometric_slope", c->isometric_slope, 1.0, infinity},
        {"Millard's concentric_slope", c->concentric_slope, 0.0, 1.0},
        {"Millard's eccentric", c->eccentric, 1.0, infinity}};
    tal_status st = CHECK(demands, err);
    const bool has_zeros = def->rigid_tendon || def->damping >= DAMPED;
    const double least = has_zeros ? 0.0 : fmax(c->active_minimum, LEAST_ACTIVE);
    if (st == TAL_OK) st = build_tendon(c, &to->tendon, err);
    if (st == TAL_OK) st = build_passive(c, &to->passive, err);
    if (st == TAL_OK) st = build_active(c, least, &to->active, err);
    if (st == TAL_OK) st = build_velocity(c, has_zeros, &to->velocity, err);
    return st;
}

// --- any model ---

static tal_status check_function(const char *name, const tal_function *f, tal_error *err)
{
    if (f == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL,
                         "%s is NULL or the same as another one: give a function", name);
    }
    if (tal_function_num_args(f) == 1 && tal_function_max_order(f) >= 1) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "%s has %d arguments and %d derivatives: it must have one and at least one",
                     name, tal_function_num_args(f), tal_function_max_order(f));
}

tal_status tali_muscle_curves_build(const tal_muscle_def *def, tali_muscle_curves *curves,
                                    tali_muscle_millard *millard, tal_error *err)
{
    *curves = (tali_muscle_curves){.model = def->model, .millard = millard};
    switch (def->model) {
    case TAL_MUSCLE_THELEN:
        return build_thelen(&def->thelen, &curves->thelen, err);
    case TAL_MUSCLE_MILLARD:
        return build_millard(def, millard, err);
    case TAL_MUSCLE_DEGROOTE:
        return build_degroote(&def->degroote, &curves->degroote, err);
    case TAL_MUSCLE_CURVES: {
        curves->active = def->active;
        curves->velocity = def->velocity;
        curves->passive = def->passive;
        tal_status st = check_function("active", def->active, err);
        if (st == TAL_OK) st = check_function("velocity", def->velocity, err);
        if (st == TAL_OK) st = check_function("passive", def->passive, err);
        return st;
    }
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "model is %d, not a tal_muscle_model",
                     (int)def->model);
}
