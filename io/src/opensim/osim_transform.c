// The axes and functions of a CustomJoint.
#include "error_internal.h"

#include "opensim/osim_internal.h"

#include <math.h>
#include <string.h>

static const tal_vec3 unit_axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// --- one axis ---

// The coordinates of an axis by their numbers in the joint.
static void read_arguments(tali_osim *o, const tali_osim_joint *joint, const tali_xml_element *e,
                           tali_osim_axis *axis)
{
    const char *names[TAL_MAX_NU];
    int n = tali_osim_words(o, e, "coordinates", names, TAL_MAX_NU);
    if (n == 0) n = tali_osim_words(o, e, "coordinate", names, 1); // before 1.9.1
    for (int i = 0; i < n; ++i) {
        const int number = tali_name_map_find(&o->coordinate_names, names[i]);
        if (number < joint->first || number >= joint->first + joint->num) {
            tali_osim_error(o, e, ": '%.60s' is not a coordinate of joint '%.60s'", names[i],
                            joint->name);
            return;
        }
        axis->coords[axis->num++] = number - joint->first;
    }
}

// A function without arguments is a constant: its value at zero.
static tal_function *make_constant(tali_osim *o, const tali_xml_element *e)
{
    tal_function *f = tali_osim_read_function(o, e, 1);
    if (f == NULL) return NULL;
    const double value = tal_function_calc_value_1(f, 0.0);
    tal_function_destroy(f);
    f = NULL;
    if (value == 0.0) return NULL;
    if (tal_function_create_constant(&o->arena.allocator, value, 1, &f, NULL) != TAL_OK) {
        o->no_memory = true;
    }
    return f;
}

// Translations go along axes as long as the file has them; a mobilizer's have length one.
static void scale_translation(tali_osim *o, const tali_xml_element *e, tali_osim_axis *axis)
{
    const double length = tal_v3_norm(axis->axis);
    // numbers of a file have 6 digits at least: what is nearer to one was meant to be one
    if (axis->function == NULL || fabs(length - 1.0) < 1e-6 || !(length > 0.0)) return;
    tali_osim_warn(o, e, ": its axis has length %g; translations are scaled by it", length);
    tal_function *outer = NULL, *scaled = NULL;
    const tal_allocator *allocator = &o->arena.allocator;
    tal_status st = tal_function_create_linear(allocator, &length, 1, 0.0, &outer, NULL);
    if (st == TAL_OK) {
        st = tal_function_create_composition(allocator, outer, &axis->function, 1, &scaled, NULL);
    }
    if (st == TAL_OK) {
        axis->function = scaled;
    } else {
        tal_function_destroy(outer);
        o->no_memory = true;
    }
}

static void set_motion(tali_osim *o, const tali_osim_joint *joint, const tali_osim_axis *axis,
                       const tali_xml_element *function, bool turns)
{
    if (axis->num != 1 || !tali_osim_is_unit_slope(function)) return;
    // a later axis overrules an earlier one
    o->coordinates[joint->first + axis->coords[0]].kind =
        turns ? TALI_OSIM_ROTATIONAL : TALI_OSIM_TRANSLATIONAL;
}

static void read_axis(tali_osim *o, tali_osim_joint *joint, const tali_xml_element *e, int k)
{
    tali_osim_axis *axis = &joint->axes[k];
    tali_osim_check_class(o, e);
    axis->axis = tali_osim_vec3(o, e, "axis", unit_axes[k % 3]);
    if (!(tal_v3_norm(axis->axis) > 0.0)) {
        tali_osim_error(o, e, ": its axis has no length");
    }
    read_arguments(o, joint, e, axis);
    const tali_xml_element *function = tali_osim_object(e, "function");
    if (function == NULL) {
        axis->num = 0;
        return;
    }
    axis->function = axis->num == 0 ? make_constant(o, function)
                                    : tali_osim_read_function(o, function, axis->num);
    set_motion(o, joint, axis, function, k < 3);
    if (k >= 3) scale_translation(o, e, axis);
}

// --- which axis is which ---

static const char *const axis_names[] = {"rotation1",    "rotation2",    "rotation3",
                                         "translation1", "translation2", "translation3"};

// By its name, or else by its place.
static int number_of(const tali_xml_element *e, int place)
{
    for (int k = 0; k < 6; ++k) {
        if (strcmp(tali_osim_name(e), axis_names[k]) == 0) return k;
    }
    return place;
}

// Before 1.9.1: any number of axes, each says whether it is a rotation.
static int number_of_old(tali_osim *o, const tali_xml_element *e, int used[2])
{
    const int turns = tali_osim_bool(o, e, "is_rotation", true) ? 1 : 0;
    if (used[turns] == 3) return 6;
    return (turns ? 0 : 3) + used[turns]++;
}

static void read_axes(tali_osim *o, tali_osim_joint *joint, const tali_xml_element *first, bool old,
                      bool given[6])
{
    int place = 0, used[2] = {0};
    for (const tali_xml_element *e = first; e != NULL; e = e->next, ++place) {
        if (strcmp(e->name, "TransformAxis") != 0) {
            tali_osim_error(o, e, " is not a <TransformAxis>");
            continue;
        }
        const int k = old ? number_of_old(o, e, used) : number_of(e, place);
        if (k > 5 || given[k]) {
            tali_osim_error(o, e, ": a joint has three rotations and three translations");
            return;
        }
        given[k] = true;
        read_axis(o, joint, e, k);
    }
}

// Directions for axes that the file does not have: of two the third is their cross product, of one
// the others are of x, y, z those that are not along it.
static void fill_directions(tali_osim_axis axes[3], const bool given[3])
{
    int have[3], n = 0;
    for (int k = 0; k < 3; ++k) {
        if (given[k]) have[n++] = k;
    }
    for (int k = 0, next = 0; k < 3; ++k) {
        if (given[k]) continue;
        if (n == 2) {
            axes[k].axis = tal_v3_cross(axes[have[0]].axis, axes[have[1]].axis);
            continue;
        }
        const tal_vec3 first = n > 0 ? tal_v3_normalize(axes[have[0]].axis) : TAL_VEC3_ZERO;
        while (next < 2 && fabs(tal_v3_dot(first, unit_axes[next])) > 0.9) {
            ++next;
        }
        axes[k].axis = unit_axes[next++ % 3];
    }
}

static void check_directions(tali_osim *o, const tali_osim_joint *joint)
{
    for (int k = 0; k < 6; ++k) {
        const int other = k / 3 * 3 + (k + 1) % 3;
        const tal_vec3 a = tal_v3_normalize(joint->axes[k].axis);
        const tal_vec3 b = tal_v3_normalize(joint->axes[other].axis);
        if (tal_v3_norm(tal_v3_cross(a, b)) >= 1e-5) continue;
        tali_osim_error(o, joint->element, ": %s and %s have the same direction", axis_names[k],
                        axis_names[other]);
        return;
    }
}

static void check_coordinates(tali_osim *o, const tali_osim_joint *joint)
{
    bool used[TAL_MAX_NU] = {false};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < joint->axes[k].num; ++i) {
            used[joint->axes[k].coords[i]] = true;
        }
    }
    for (int i = 0; i < joint->num; ++i) {
        if (used[i]) continue;
        tali_osim_error(o, joint->element, ": no axis uses its coordinate '%s'",
                        o->coordinates[joint->first + i].name);
    }
}

// A joint without coordinates is a weld at the place that its constants say.
static void make_weld(tali_osim_joint *joint)
{
    tal_xform X_FM = TAL_XFORM_IDENTITY;
    for (int k = 0; k < 6; ++k) {
        tali_osim_axis *axis = &joint->axes[k];
        const double value =
            axis->function != NULL ? tal_function_calc_value_1(axis->function, 0.0) : 0.0;
        const tal_vec3 direction = tal_v3_normalize(axis->axis);
        if (k < 3) {
            X_FM.R = tal_m3_mul(X_FM.R, tal_rotation_from_angle_axis(value, direction));
        } else {
            X_FM.p = tal_v3_axpy(value, direction, X_FM.p);
        }
        tal_function_destroy(axis->function);
        axis->function = NULL;
    }
    joint->kind = TALI_OSIM_WELD;
    joint->X_PF = tal_xf_mul(joint->X_PF, X_FM);
}

void tali_osim_read_transform(tali_osim *o, tali_osim_joint *joint)
{
    bool given[6] = {false};
    const int errors = tal_diagnostics_num_errors(o->found);
    const tali_xml_element *old = tali_osim_first_of(joint->element, "TransformAxisSet");
    const tali_xml_element *transform = tali_xml_child(joint->element, "SpatialTransform");
    if (old == NULL && transform == NULL) {
        tali_osim_error(o, joint->element, " needs a <SpatialTransform>");
        return;
    }
    read_axes(o, joint, old != NULL ? old : tali_osim_first(transform), old != NULL, given);
    fill_directions(&joint->axes[0], &given[0]);
    fill_directions(&joint->axes[3], &given[3]);
    if (tal_diagnostics_num_errors(o->found) > errors) return;
    check_directions(o, joint);
    check_coordinates(o, joint);
    if (joint->num == 0) make_weld(joint);
}
