// The curves of a muscle of any model: one switch on the model for each curve.
#ifndef TALUS_MUSCLE_CURVES_INTERNAL_H
#define TALUS_MUSCLE_CURVES_INTERNAL_H

#include "muscle/muscle_law_internal.h"

#include <talus/forces/muscle.h>

typedef struct tali_muscle_millard {
    tali_bezier active, passive, tendon, velocity;
} tali_muscle_millard;

/// What a model's curves are computed from. Only the part of the model is set.
typedef struct tali_muscle_curves {
    tal_muscle_model model;
    tali_muscle_thelen thelen;
    tali_muscle_degroote degroote;
    const tali_muscle_millard *millard;
    const tal_function *active, *velocity, *passive;
} tali_muscle_curves;

/// Work out the constants. Millard's curves are written to `millard`. What is wrong goes to `err`.
tal_status tali_muscle_curves_build(const tal_muscle_def *def, tali_muscle_curves *curves,
                                    tali_muscle_millard *millard, tal_error *err);

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_bezier(const tali_bezier *curve, double x)
{
    const tali_bezier_point at = tali_bezier_calc_point(curve, x);
    return (tali_muscle_curve){at.y, at.dy};
}

TAL_ALWAYS_INLINE tali_muscle_curve tali_muscle_function(const tal_function *f, double x)
{
    return (tali_muscle_curve){tal_function_calc_value_1(f, x),
                               tal_function_calc_derivative_1(f, x, 1)};
}

/// fal(l)
static inline tali_muscle_curve tali_muscle_active(const tali_muscle_curves *it, real l)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_active(&it->thelen, l);
    case TAL_MUSCLE_MILLARD:
        return tali_muscle_bezier(&it->millard->active, l);
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_active(&it->degroote, l);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return tali_muscle_function(it->active, l);
}

/// fpe(l)
static inline tali_muscle_curve tali_muscle_passive(const tali_muscle_curves *it, real l)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_passive(&it->thelen, l);
    case TAL_MUSCLE_MILLARD:
        return tali_muscle_bezier(&it->millard->passive, l);
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_passive(&it->degroote, l);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return tali_muscle_function(it->passive, l);
}

/// Integral of fpe up to l, from where it begins (functions of users: from 1).
static inline real tali_muscle_passive_area(const tali_muscle_curves *it, real l)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_passive_area(&it->thelen, l);
    case TAL_MUSCLE_MILLARD:
        return tali_bezier_integral(&it->millard->passive, l);
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_passive_area(&it->degroote, l);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return tal_function_calc_integral_1(it->passive, 1.0, l);
}

/// fse(lt); zero for functions of users, whose tendons are rigid
static inline tali_muscle_curve tali_muscle_tendon(const tali_muscle_curves *it, real lt)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_tendon(&it->thelen, lt);
    case TAL_MUSCLE_MILLARD:
        return tali_muscle_bezier(&it->millard->tendon, lt);
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_tendon(&it->degroote, lt);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return (tali_muscle_curve){spread(0.0), spread(0.0)};
}

/// Integral of fse from slack on.
static inline real tali_muscle_tendon_area(const tali_muscle_curves *it, real lt)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_tendon_area(&it->thelen, lt);
    case TAL_MUSCLE_MILLARD:
        return tali_bezier_integral(&it->millard->tendon, lt);
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_tendon_area(&it->degroote, lt);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return spread(0.0);
}

/// A product a fal below this counts as this much where it is divided by.
#define TALI_MUSCLE_LEAST 1e-30

/// fv(v) at activation a
static inline real tali_muscle_velocity(const tali_muscle_curves *it, real a, real v)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN:
        return tali_muscle_thelen_velocity(&it->thelen, a, v);
    case TAL_MUSCLE_MILLARD:
        return tali_bezier_calc_point(&it->millard->velocity, v).y;
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_velocity(v).y;
    case TAL_MUSCLE_CURVES:
        break;
    }
    return tal_function_calc_value_1(it->velocity, v);
}

/// v where  A fv(v) + beta v = f,  A = a fal,  and fv there
static inline tali_muscle_speed tali_muscle_speed_of(const tali_muscle_curves *it, real A, real a,
                                                     double beta, real f)
{
    switch (it->model) {
    case TAL_MUSCLE_THELEN: // without damping
        return tali_muscle_thelen_speed_of(&it->thelen, at_least(A, spread(TALI_MUSCLE_LEAST)), a,
                                           f);
    case TAL_MUSCLE_MILLARD: {
        const tali_bezier_place at = tali_bezier_solve(&it->millard->velocity, A, beta, f);
        return (tali_muscle_speed){at.x, at.y};
    }
    case TAL_MUSCLE_DEGROOTE:
        return tali_muscle_degroote_speed_of(A, beta, f);
    case TAL_MUSCLE_CURVES:
        break;
    }
    return (tali_muscle_speed){spread(0.0), spread(1.0)}; // rigid tendons do not ask for speeds
}

#endif // TALUS_MUSCLE_CURVES_INTERNAL_H
