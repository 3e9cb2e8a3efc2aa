// Mass properties of simple bodies, how they move and combine, and whether they are possible.
#include "error_internal.h"
#include "mass_internal.h"

#include <stddef.h>

static tal_mass_props unknown(void)
{
    const double nan = (double)NAN;
    const tal_mass_props props = {nan, {nan, nan, nan}, {nan, nan, nan, nan, nan, nan}};
    return props;
}

static tal_mass_props centered(double mass, tal_sym3 unit_inertia)
{
    const tal_mass_props props = {mass, TAL_VEC3_ZERO, tal_s3_scale(mass, unit_inertia)};
    return props;
}

// A body with these mean squares of x, y and z and no mixed ones: Gxx = <y^2> + <z^2> ...
static tal_mass_props symmetric(double mass, double xx, double yy, double zz)
{
    return centered(mass, tal_s3_diag(yy + zz, xx + zz, xx + yy));
}

// Mean squares `along` the axis and `across` it, both ways.
static tal_mass_props axial(double mass, tal_axis axis, double along, double across)
{
    switch (axis) {
    case TAL_AXIS_X:
        return symmetric(mass, along, across, across);
    case TAL_AXIS_Y:
        return symmetric(mass, across, along, across);
    case TAL_AXIS_Z:
        return symmetric(mass, across, across, along);
    }
    (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "axis is %d: use TAL_AXIS_X, Y or Z", (int)axis);
    return unknown();
}

tal_mass_props tal_mass_props_point(double mass, tal_vec3 p_BS)
{
    const tal_mass_props props = {mass, p_BS, tal_s3_scale(mass, tal_s3_cross_square(p_BS))};
    return props;
}

tal_mass_props tal_mass_props_rod(double mass, tal_vec3 half)
{
    return centered(mass, tal_s3_scale(1.0 / 3.0, tal_s3_cross_square(half)));
}

tal_mass_props tal_mass_props_sphere(double mass, double radius)
{
    return tal_mass_props_ellipsoid(mass, tal_v3(radius, radius, radius));
}

tal_mass_props tal_mass_props_spherical_shell(double mass, double radius)
{
    const double third = radius * radius / 3.0;
    return symmetric(mass, third, third, third);
}

tal_mass_props tal_mass_props_ellipsoid(double mass, tal_vec3 radii)
{
    return symmetric(mass, radii.x * radii.x / 5.0, radii.y * radii.y / 5.0,
                     radii.z * radii.z / 5.0);
}

tal_mass_props tal_mass_props_brick(double mass, tal_vec3 half)
{
    return symmetric(mass, half.x * half.x / 3.0, half.y * half.y / 3.0, half.z * half.z / 3.0);
}

tal_mass_props tal_mass_props_cylinder(double mass, double radius, double half_length,
                                       tal_axis axis)
{
    return axial(mass, axis, half_length * half_length / 3.0, radius * radius / 4.0);
}

tal_mass_props tal_mass_props_tube(double mass, double radius, double half_length, tal_axis axis)
{
    return axial(mass, axis, half_length * half_length / 3.0, radius * radius / 2.0);
}

// The central inertia is what both frames share; turn it, then put it where the mass center is.
tal_mass_props tal_mass_props_transform(const tal_xform *X_AB, const tal_mass_props *in_B)
{
    if (X_AB == NULL || in_B == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", X_AB == NULL ? "X_AB" : "in_B");
        return unknown();
    }

    const tal_sym3 central = tal_s3_congruence(X_AB->R, tal_mass_props_central_inertia(*in_B));
    const tal_vec3 com = tal_xf_apply(*X_AB, in_B->com);
    const tal_mass_props in_A = {
        in_B->mass, com, tal_s3_add(central, tal_s3_scale(in_B->mass, tal_s3_cross_square(com)))};
    return in_A;
}

tal_mass_props tal_mass_props_combine(const tal_mass_props *a, const tal_mass_props *b)
{
    if (a == NULL || b == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "%s is NULL", a == NULL ? "a" : "b");
        return unknown();
    }

    const double mass = a->mass + b->mass;
    const double share = mass <= 0.0 ? 0.0 : b->mass / mass;
    const tal_mass_props both = {mass, tal_v3_axpy(share, tal_v3_sub(b->com, a->com), a->com),
                                 tal_s3_add(a->inertia, b->inertia)};
    return both;
}

// Are all ten numbers finite? The first that is not is named.
static tal_status check_finite(const tal_mass_props *props, tal_error *err)
{
    const struct {
        const char *name;
        double value;
    } number[] = {
        {"mass", props->mass},
        {"com.x", props->com.x},
        {"com.y", props->com.y},
        {"com.z", props->com.z},
        {"inertia.xx", props->inertia.xx},
        {"inertia.yy", props->inertia.yy},
        {"inertia.zz", props->inertia.zz},
        {"inertia.xy", props->inertia.xy},
        {"inertia.xz", props->inertia.xz},
        {"inertia.yz", props->inertia.yz},
    };

    for (size_t i = 0; i < sizeof number / sizeof *number; ++i) {
        if (!isfinite(number[i].value)) {
            return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "%s is %g: give a finite number",
                             number[i].name, number[i].value);
        }
    }
    return TAL_OK;
}

// Inertias are typed with some twelve digits: a share of their trace.
static const double ROUND_OFF = 1e-12;

// Principal moments about the mass center, the smallest first, and what counts as round-off in
// them.
static tal_vec3 central_moments(const tal_mass_props *props, double *slop)
{
    *slop = ROUND_OFF * fabs(tal_s3_trace(props->inertia));
    return tal_s3_eigen(tal_mass_props_central_inertia(*props), NULL);
}

double tal_mass_props_excess(const tal_mass_props *props)
{
    if (props == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "props is NULL");
        return TALI_NAN;
    }
    if (check_finite(props, NULL) != TAL_OK) return TALI_NAN;
    double slop;
    const tal_vec3 moment = central_moments(props, &slop);
    const double excess = moment.z - moment.x - moment.y;
    if (excess <= slop) return 0.0;
    return moment.z > 0.0 ? excess / moment.z : (double)INFINITY;
}

static tal_status check_moments(const tal_mass_props *props, bool any_inertia, tal_error *err)
{
    double slop;
    const tal_vec3 moment = central_moments(props, &slop);
    const double most = fmax(slop, TAL_INERTIA_TOLERANCE * moment.z);
    if (moment.x < -most) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "a principal moment about the mass center is %g, negative: is the inertia about the body origin?",
            moment.x);
    }
    if (any_inertia || moment.x + moment.y >= moment.z - most) return TAL_OK;
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE,
        "principal moments about the mass center %g, %g, %g: the last exceeds the sum of the others "
        "(any_inertia, on the command line --any-inertia, accepts them as published)",
        moment.x, moment.y, moment.z);
}

tal_status tal_mass_props_check(const tal_mass_props *props, tal_error *err)
{
    if (props == NULL) return TALI_BREACH(TAL_ERR_NULL, "props is NULL");
    return tali_mass_props_check(props, false, err);
}

tal_status tali_mass_props_check(const tal_mass_props *props, bool any_inertia, tal_error *err)
{
    const tal_status st = check_finite(props, err);
    if (st != TAL_OK) return st;

    if (props->mass < 0.0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "mass is %g: it must not be negative",
                         props->mass);
    }
    const tal_sym3 J = props->inertia;
    const double trace = tal_s3_trace(J);
    if (props->mass == 0.0 &&
        (J.xx != 0.0 || J.yy != 0.0 || J.zz != 0.0 || J.xy != 0.0 || J.xz != 0.0 || J.yz != 0.0)) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_VALUE,
            "mass is 0 but the inertia is not (trace %g): a massless body has no inertia", trace);
    }
    return check_moments(props, any_inertia, err);
}
