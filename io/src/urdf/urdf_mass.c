// Mass and inertia of links: what no body can have is reported, and made usable.
// doc/adr/0029-inertias-of-robot-files.md says why.
#include "error_internal.h"
#include "mass_internal.h"

#include "urdf/urdf_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <string.h>

static const char *const part_names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz", NULL};

// Half a unit of the last digit of a number as it is written: "0.0012" is off by 5e-5 at most.
static double rounding_of(const char *text)
{
    const char *at = text;
    int decimals = 0;
    bool behind_point = false;
    for (; *at != '\0' && *at != 'e' && *at != 'E'; ++at) {
        if (behind_point && *at >= '0' && *at <= '9') ++decimals;
        if (*at == '.') behind_point = true;
    }
    int exponent = 0;
    if (*at != '\0') (void)tal_integer_read(at + (at[1] == '+' ? 2 : 1), NULL, &exponent);
    return 0.5 * pow(10.0, exponent - decimals);
}

// By how much rounding of the six written numbers can have moved a principal moment: no more than
// the largest sum of errors in a row of the matrix. A zero is taken to be as exact as the most
// exact of the others.
static double rounding_of_moments(const tali_xml_element *e)
{
    double error[6], least = (double)INFINITY;
    for (int i = 0; i < 6; ++i) {
        const tali_xml_attribute *a = tali_xml_find(e, part_names[i]);
        error[i] =
            a != NULL && strpbrk(a->value, "123456789") != NULL ? rounding_of(a->value) : -1.0;
        if (error[i] > 0.0) least = fmin(least, error[i]);
    }
    if (!isfinite(least)) return 0.0;
    for (int i = 0; i < 6; ++i) {
        if (error[i] < 0.0) error[i] = least;
    }
    const double row[] = {error[0] + error[3] + error[4], error[1] + error[3] + error[5],
                          error[2] + error[4] + error[5]};
    return fmax(row[0], fmax(row[1], row[2]));
}

// Q diag(max(moments, 0)) Q^T: the nearest inertia without negative moments.
static tal_sym3 without_negatives(tal_sym3 I)
{
    tal_mat3 Q;
    const tal_vec3 moment = tal_s3_eigen(I, &Q);
    const double m[] = {fmax(moment.x, 0.0), fmax(moment.y, 0.0), fmax(moment.z, 0.0)};
    const tal_vec3 axis[] = {Q.x, Q.y, Q.z};
    tal_sym3 sum = {.xx = 0.0};
    for (int i = 0; i < 3; ++i) {
        const tal_vec3 a = axis[i];
        sum.xx += m[i] * a.x * a.x;
        sum.yy += m[i] * a.y * a.y;
        sum.zz += m[i] * a.z * a.z;
        sum.xy += m[i] * a.x * a.y;
        sum.xz += m[i] * a.x * a.z;
        sum.yz += m[i] * a.y * a.z;
    }
    return sum;
}

// Inertia without mass, and moments that rounding has made negative: true where there are such.
// `in_I` is about the mass center.
static bool repair(tali_urdf *u, const tali_xml_element *e, const tali_xml_element *inertia,
                   const char *name, tal_mass_props *in_I)
{
    tal_sym3 *I = &in_I->inertia;
    const bool has_inertia = I->xx != 0.0 || I->yy != 0.0 || I->zz != 0.0 || I->xy != 0.0 ||
                             I->xz != 0.0 || I->yz != 0.0;
    if (in_I->mass == 0.0 && has_inertia) {
        tali_urdf_object_to(u, "links have an inertia but no mass, and are taken as massless", e,
                            name);
        *I = (tal_sym3){.xx = 0.0};
    }
    const double lowest = tal_s3_eigen(*I, NULL).x;
    const double round_off = 1e-12 * fabs(tal_s3_trace(*I));
    if (inertia == NULL || !(lowest < -round_off)) return false;
    if (lowest < -rounding_of_moments(inertia)) return false; // an error below
    tali_urdf_object_to(u,
                        "links have a negative principal moment of inertia, by rounding in the "
                        "file, which is taken as zero",
                        e, name);
    *I = without_negatives(*I);
    return true;
}

// The triangle inequality: reported, and taken as it is.
static void judge(tali_urdf *u, const tali_xml_element *e, tali_urdf_link *link)
{
    const double excess = tal_mass_props_excess(&link->mass);
    if (!(excess > 0.0) || u->options.any_inertia) return;
    tali_urdf_object_to(u,
                        excess > TAL_INERTIA_TOLERANCE
                            ? "links have an inertia that is not physical (a principal moment "
                              "exceeds the sum of the others)"
                            : "links have an inertia that is not physical, by less than a "
                              "thousandth of it",
                        e, link->name);
}

// The numbers of an <inertial>, about the mass center in its frame. False, and an error, when one
// is missing or wrong.
static bool read_numbers(tali_urdf *u, const tali_xml_element *e, const tali_xml_element *mass,
                         const tali_xml_element *inertia, tal_mass_props *in_I)
{
    static const char *const value[] = {"value", NULL};
    const int errors = tal_diagnostics_num_errors(u->found);
    if (mass == NULL) {
        tali_urdf_error(u, e, NULL, " needs <%s>", "mass");
        return false;
    }
    tali_urdf_check_attributes(u, mass, value);
    tali_urdf_need_number(u, mass, "value", &in_I->mass);
    if (inertia != NULL) {
        tal_sym3 *to = &in_I->inertia;
        double *const I[] = {&to->xx, &to->yy, &to->zz, &to->xy, &to->xz, &to->yz};
        tali_urdf_check_attributes(u, inertia, part_names);
        for (int i = 0; i < 3; ++i) {
            tali_urdf_need_number(u, inertia, part_names[i], I[i]);
            (void)tali_urdf_numbers(u, inertia, part_names[3 + i], 1, I[3 + i]);
        }
    }
    return tal_diagnostics_num_errors(u->found) == errors;
}

void tali_urdf_inertial(tali_urdf *u, const tali_xml_element *e, tali_urdf_link *link)
{
    static const char *const names[] = {"origin", "mass", "inertia", NULL};
    const tali_xml_element *found[3] = {NULL};
    tal_mass_props in_I = {.mass = 0.0};
    tali_urdf_children(u, e, names, found);
    const tal_xform X_BI = tali_urdf_origin(u, found[0]);
    if (!read_numbers(u, e, found[1], found[2], &in_I)) return;
    const bool is_repaired = repair(u, e, found[2], link->name, &in_I);
    tal_error why = {TAL_OK, "", ""};
    if (tali_mass_props_check(&in_I, true, &why) == TAL_OK) {
        link->mass = tal_mass_props_transform(&X_BI, &in_I);
        (void)tali_mass_props_check(&link->mass, true, &why);
    }
    if (why.status == TAL_OK) {
        link->any_inertia = tali_mass_props_check(&link->mass, false, NULL) != TAL_OK;
        if (!is_repaired) judge(u, e, link);
        return;
    }
    tali_urdf_error(u, e, NULL, ": %s", why.message);
    link->mass = (tal_mass_props){.mass = 0.0};
}
