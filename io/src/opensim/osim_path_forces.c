// What pulls along a path and is no muscle: actuators, springs, ligaments.
#include "opensim/osim_internal.h"

#include <math.h>

static const tal_measure_ix no_measure = {-1};

// --- reading ---

// A number that must not be negative, or must be above zero.
static double read_size(tali_osim *o, const tali_osim_force *f, const char *name, double initial,
                        bool zero_too)
{
    const double value = tali_osim_number(o, f->element, name, initial);
    if (isfinite(value) && (value > 0.0 || (zero_too && value == 0.0))) return value;
    if (isnan(value)) {
        tali_osim_error(o, f->element, " needs <%s>", name);
        return 1.0;
    }
    tali_osim_error(o, f->element, ": its %s, %g, must be %s", name, value,
                    zero_too ? "zero or more" : "above zero");
    return 1.0;
}

void tali_osim_read_path_actuator(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = tali_osim_number(o, f->element, "optimal_force", 1.0);
}

void tali_osim_read_path_spring(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = read_size(o, f, "stiffness", NAN, true);
    f->numbers[1] = read_size(o, f, "resting_length", NAN, true);
    f->numbers[2] = read_size(o, f, "dissipation", NAN, true);
}

void tali_osim_read_clutched_spring(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = read_size(o, f, "stiffness", NAN, true);
    f->numbers[1] = read_size(o, f, "dissipation", NAN, true);
    f->numbers[2] = read_size(o, f, "relaxation_time_constant", 0.001, false);
    f->numbers[3] = tali_osim_number(o, f->element, "initial_stretch", 0.0);
    f->least = fmin(fmax(f->least, 0.0), 1.0);
    f->largest = fmin(fmax(f->largest, 0.0), 1.0);
}

// A curve of force over <pcsa_force> by length over <resting_length>; none is the usual one.
void tali_osim_read_ligament(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = read_size(o, f, "pcsa_force", 0.0, true);
    f->numbers[1] = read_size(o, f, "resting_length", NAN, false);
    const tali_xml_element *curve = tali_osim_object(f->element, "force_length_curve");
    if (curve != NULL) f->functions[0] = tali_osim_read_function(o, curve, 1);
}

void tali_osim_read_blankevoort(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = read_size(o, f, "linear_stiffness", 1.0, true);
    f->numbers[1] = read_size(o, f, "slack_length", NAN, false);
    f->numbers[2] = read_size(o, f, "transition_strain", 0.06, true);
    f->numbers[3] = read_size(o, f, "damping_coefficient", 0.003, true);
}

void tali_osim_read_pneumatic(tali_osim *o, tali_osim_force *f)
{
    tali_osim_read_path(o, f);
    f->numbers[0] = read_size(o, f, "number_of_turns", 1.5, false);
    f->numbers[1] = read_size(o, f, "thread_length", 200.0, false);
    f->numbers[2] = read_size(o, f, "cord_length", 0.0, true);
}

// --- adding ---

tal_force_ix tali_osim_add_path_actuator(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    return tal_forces_add_path_actuator(model->forces, f->name, path, f->numbers[0], no_measure);
}

tal_force_ix tali_osim_add_path_spring(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    return tal_forces_add_path_spring(model->forces, f->name, path, f->numbers[0], f->numbers[1],
                                      f->numbers[2]);
}

tal_force_ix tali_osim_add_clutched_spring(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    return tal_forces_add_clutched_spring(model->forces, f->name, path, f->numbers[0],
                                          f->numbers[1], f->numbers[2], no_measure);
}

tal_force_ix tali_osim_add_ligament(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    tal_function *curve = f->functions[0];
    f->functions[0] = NULL; // adopted whether it succeeds or not
    return tal_forces_add_ligament(model->forces, f->name, path, f->numbers[0], f->numbers[1],
                                   curve);
}

tal_force_ix tali_osim_add_blankevoort(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_blankevoort ligament = {.stiffness = f->numbers[0],
                                      .slack_length = f->numbers[1],
                                      .transition = f->numbers[2],
                                      .damping = f->numbers[3]};
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    return tal_forces_add_blankevoort_ligament(model->forces, f->name, path, &ligament);
}

tal_force_ix tali_osim_add_pneumatic(tali_osim *o, tal_model *model, tali_osim_force *f)
{
    const tal_pneumatic tube = {
        .turns = f->numbers[0], .thread_length = f->numbers[1], .cord_length = f->numbers[2]};
    const tal_path_ix path = tali_osim_add_path(o, model, f);
    return tal_forces_add_pneumatic_actuator(model->forces, f->name, path, &tube, no_measure);
}
