// Muscles and actuators as columns.
#include "force_facts_internal.h"

#include "muscle/drive_internal.h"

#include <math.h>
#include <string.h>

enum {
    PARTS = 6 // controls of a body actuator
};

// --- which there are ---

static bool is_body_actuator(const tal_forces *forces, tal_force_ix force)
{
    return strcmp(tal_force_kind(forces, force), "body actuator") == 0;
}

// Whether it follows its control with a delay.
static bool is_delayed(const tal_forces *forces, tal_force_ix force)
{
    return strcmp(tal_force_kind(forces, force), "activation actuator") == 0;
}

static bool can_drive(const tal_forces *forces, tal_force_ix force)
{
    return tal_force_has_control(forces, force) || is_body_actuator(forces, force);
}

static tal_status check_actuators(const tal_forces *forces, const tal_force_ix actuators[], int num,
                                  tal_error *err)
{
    if (num < 0) return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there are %d actuators", num);
    for (int k = 0; k < num; ++k) {
        const int i = actuators[k].i;
        if (i < 0 || i >= tal_forces_num(forces)) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "actuator %d: there is no force element %d", k,
                             i);
        }
        if (!can_drive(forces, actuators[k])) {
            return TALI_FAIL(
                err, TAL_ERR_BAD_VALUE, "'%s' (%s) has no control: it is no muscle and no actuator",
                tal_force_name(forces, actuators[k]), tal_force_kind(forces, actuators[k]));
        }
        for (int j = 0; j < k; ++j) {
            if (actuators[j].i != i) continue;
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "'%s' is named twice among the actuators",
                             tal_force_name(forces, actuators[k]));
        }
    }
    return TAL_OK;
}

// The element number k of those asked for; `i` < 0: it is no actuator.
static tal_force_ix candidate(const tal_forces *forces, const tal_force_ix actuators[], int k)
{
    if (actuators != NULL) return actuators[k];
    const tal_force_ix force = {k};
    return can_drive(forces, force) ? force : (tal_force_ix){-1};
}

static int count_columns(const tal_forces *forces, const tal_force_ix actuators[], int num)
{
    int n = 0;
    for (int k = 0; k < num; ++k) {
        const tal_force_ix force = candidate(forces, actuators, k);
        if (force.i >= 0) n += is_body_actuator(forces, force) ? PARTS : 1;
    }
    return n;
}

static void add_columns(tali_drives *it, tal_force_ix force)
{
    tali_force_facts facts = {.path = {-1}};
    const bool is_body = is_body_actuator(it->forces, force);
    const bool has_facts = tali_force_facts_of(it->forces, force, &facts);
    const char *kind = tal_force_kind(it->forces, force);
    tali_drive column = {.force = force, .path = {-1}, .speed = -1, .is_body = is_body};
    column.is_muscle = tal_force_is_muscle(it->forces, force);
    if (column.is_muscle) column.path = tal_muscle_path(it->forces, force);
    const bool pulls =
        strcmp(kind, "path actuator") == 0 || strcmp(kind, "pneumatic actuator") == 0;
    if (has_facts && pulls) column.path = facts.path;
    const bool turns = strcmp(kind, "mobility actuator") == 0 || is_delayed(it->forces, force);
    if (has_facts && turns) {
        column.speed = tal_body_u_start(it->matter, facts.mobility.body) + facts.mobility.i;
    }
    it->is_drive[force.i] = true;
    for (int part = 0; part < (is_body ? PARTS : 1); ++part) {
        column.part = part;
        it->columns[it->n++] = column;
    }
}

tal_status tali_drives_create(tali_drives *it, const tal_system *system, const tal_forces *forces,
                              const tal_force_ix actuators[], int num, tal_error *err)
{
    *it = (tali_drives){.system = system, .forces = forces};
    it->matter = tal_system_matter(system);
    it->allocator = tal_system_allocator(system);
    it->nu = tal_matter_nu(it->matter);
    const int num_forces = tal_forces_num(forces);
    if (actuators != NULL) {
        const tal_status st = check_actuators(forces, actuators, num, err);
        if (st != TAL_OK) return st;
    }
    const int num_candidates = actuators != NULL ? num : num_forces;
    const size_t n = (size_t)count_columns(forces, actuators, num_candidates);
    const size_t nu = (size_t)it->nu, d = sizeof(double), nf = (size_t)num_forces;
    const tali_piece pieces[] = {
        {&it->columns, n * sizeof *it->columns},
        {&it->is_drive, nf * sizeof *it->is_drive},
        {&it->is_enabled, n * sizeof *it->is_enabled},
        {&it->unit, nu * n * d},
        {&it->strength, n * d},
        {&it->lower, n * d},
        {&it->upper, n * d},
        {&it->rest, nf * sizeof *it->rest},
        {&it->F_GB, (size_t)tal_matter_num_bodies(it->matter) * sizeof *it->F_GB},
        {&it->f, nu * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu actuators", n);
    }
    for (int k = 0; k < num_candidates; ++k) {
        const tal_force_ix force = candidate(forces, actuators, k);
        if (force.i >= 0) add_columns(it, force);
    }
    return TAL_OK;
}

void tali_drives_destroy(tali_drives *it)
{
    tali_free(&it->allocator, it->block, it->block_bytes);
    it->block = NULL;
}

// --- at a State ---

static double *unit_of(const tali_drives *it, int j)
{
    return it->unit + (size_t)j * (size_t)it->nu;
}

// Strength and bounds of a muscle.
static tal_status find_muscle(tali_drives *it, tal_state *state, int j)
{
    const tal_force_ix force = it->columns[j].force;
    tal_status st =
        tal_actuator_control_range(it->forces, state, force, &it->lower[j], &it->upper[j]);
    if (st != TAL_OK) return st;
    it->strength[j] = it->no_physiology
                          ? tal_force_param(it->forces, state, force, TAL_MUSCLE_MAX_FORCE)
                          : tal_muscle_calc_strength(it->forces, state, force);
    if (isfinite(it->strength[j])) return TAL_OK;
    st = tal_state_error(state)->status;
    return st != TAL_OK ? st : tal_contract_last()->status;
}

// Generalized forces of an element as it is, over an output.
static tal_status measure_unit(tali_drives *it, tal_state *state, int j, double output)
{
    double *unit = unit_of(it, j);
    const tal_status st =
        tal_forces_calc_generalized(it->forces, state, &it->columns[j].force, 1, unit);
    for (int i = 0; i < it->nu && st == TAL_OK; ++i) {
        unit[i] = output != 0.0 ? unit[i] / output : 0.0;
    }
    return st;
}

// What an actuator gives at this control, which it has; in the end, if it is delayed.
static double output_at(const tali_drives *it, tal_state *state, tal_force_ix force, double control)
{
    if (is_delayed(it->forces, force)) {
        return control * tal_force_param(it->forces, state, force, TAL_ACTIVATION_ACTUATOR_GAIN);
    }
    const bool pulls = tal_path_force_path(it->forces, force).i >= 0;
    return pulls ? tal_path_force_tension(it->forces, state, force)
                 : tal_actuator_output(it->forces, state, force);
}

// An actuator with one control: what it does at a control of one, whatever else adds to it.
static tal_status find_actuator(tali_drives *it, tal_state *state, int j)
{
    const tali_drive *column = &it->columns[j];
    const tal_force_ix force = column->force;
    tal_status st =
        tal_actuator_control_range(it->forces, state, force, &it->lower[j], &it->upper[j]);
    if (st == TAL_OK) {
        st = tal_actuator_set_control_range(it->forces, state, force, (double)-INFINITY,
                                            (double)INFINITY);
    }
    if (st == TAL_OK) st = tal_actuator_set_control(it->forces, state, force, 0.0);
    if (st != TAL_OK) return st;
    const double others = tal_actuator_control(it->forces, state, force);
    st = tal_actuator_set_control(it->forces, state, force, 1.0 - others);
    if (st != TAL_OK) return st;
    const double control = tal_actuator_control(it->forces, state, force);
    const double output = output_at(it, state, force, control);
    it->strength[j] = output / control;
    if (column->path.i >= 0) return TAL_OK; // with the paths
    if (column->speed < 0) return measure_unit(it, state, j, output);
    double *unit = unit_of(it, j);
    memset(unit, 0, (size_t)it->nu * sizeof *unit);
    unit[column->speed] = 1.0;
    return TAL_OK;
}

// One control of a body actuator that no measure drives.
static tal_status find_part(tali_drives *it, tal_state *state, int j)
{
    const tali_drive *column = &it->columns[j];
    const double gain = tal_force_param(it->forces, state, column->force, TAL_BODY_ACTUATOR_GAIN);
    double controls[PARTS] = {0.0};
    controls[column->part] = 1.0;
    it->lower[j] = (double)-INFINITY;
    it->upper[j] = (double)INFINITY;
    it->strength[j] = gain;
    const tal_status st = tal_force_set_params(it->forces, state, column->force,
                                               TAL_BODY_ACTUATOR_CONTROL, controls, PARTS);
    return st == TAL_OK ? measure_unit(it, state, j, gain) : st;
}

// One column. A disabled one does nothing.
static tal_status find_column(tali_drives *it, tal_state *state, int j)
{
    const tali_drive *column = &it->columns[j];
    it->is_enabled[j] = tal_force_is_enabled(it->forces, state, column->force);
    tal_status st = TAL_OK;
    if (column->is_muscle) {
        st = find_muscle(it, state, j);
    } else if (column->is_body) {
        st = find_part(it, state, j);
    } else {
        st = find_actuator(it, state, j);
    }
    if (st == TAL_OK && column->path.i >= 0) {
        st = tal_path_calc_generalized(it->forces, state, column->path, unit_of(it, j));
    }
    if (st == TAL_OK && !it->is_enabled[j]) {
        it->strength[j] = 0.0;
        memset(unit_of(it, j), 0, (size_t)it->nu * sizeof *it->unit);
    }
    return st;
}

tal_status tali_drives_find(tali_drives *it, tal_state *state)
{
    tal_status st = TAL_OK;
    for (int j = 0; j < it->n && st == TAL_OK; ++j) {
        st = find_column(it, state, j);
    }
    it->num_rest = 0;
    for (int i = 0; i < tal_forces_num(it->forces); ++i) {
        const tal_force_ix force = {i};
        if (it->is_drive[i] || !tal_force_is_enabled(it->forces, state, force)) continue;
        it->rest[it->num_rest++] = force;
    }
    return st;
}

tal_status tali_drives_needed(tali_drives *it, tal_state *state, const double udot[], double tau[])
{
    const tal_status st =
        tal_forces_calc_sum(it->forces, state, it->rest, it->num_rest, it->F_GB, it->f);
    if (st != TAL_OK) return st;
    return tal_matter_inverse_dynamics(it->matter, state, udot, it->F_GB, it->f, tau);
}
