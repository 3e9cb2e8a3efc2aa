// Columns of results: reading them from a State.
#include "table/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A row on its way: what several columns want is found once. NaN: not yet.
typedef struct reader {
    const cli_model *model;
    tal_state *state;
    double kinetic, potential, bath;
} reader;

static double kinetic_energy(reader *it)
{
    if (isnan(it->kinetic)) it->kinetic = tal_matter_kinetic_energy(it->model->matter, it->state);
    return it->kinetic;
}

static double potential_energy(reader *it)
{
    if (isnan(it->potential)) {
        it->potential = tal_forces_potential_energy(it->model->forces, it->state);
    }
    return it->potential;
}

// Of all thermostats.
static double bath_energy(reader *it)
{
    const tal_forces *const forces = it->model->forces;
    if (!isnan(it->bath)) return it->bath;
    it->bath = 0.0;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(forces, force), "thermostat") != 0) continue;
        it->bath += tal_thermostat_bath_energy(forces, it->state, force);
    }
    return it->bath;
}

// 2 K / N, with the N of the first thermostat, or else all speeds less all constraint equations.
static double temperature(reader *it)
{
    const tal_forces *const forces = it->model->forces;
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(forces, force), "thermostat") != 0) continue;
        return tal_thermostat_temperature(forces, it->state, force);
    }
    const int rows = tal_state_pool_size(it->state, TAL_POOL_UDOTERR);
    return 2.0 * kinetic_energy(it) / (tal_state_nu(it->state) - rows);
}

static double component(tal_vec3 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

static double read_pose(const reader *it, int body, int part)
{
    const tal_xform X_GB = tal_body_X_GB(it->model->matter, it->state, (tal_body_ix){body});
    if (part < 3) return component(X_GB.p, part);
    const tal_quat q = tal_rotation_to_qt(&X_GB.R);
    const double parts[] = {q.w, q.x, q.y, q.z};
    return parts[part - 3];
}

// About Mo, in Ground.
static double read_reaction(const reader *it, int body, int part)
{
    const tal_spatial_vec F =
        tal_body_reaction_M(it->model->matter, it->state, (tal_body_ix){body});
    return component(part < 3 ? F.v : F.w, part % 3);
}

// The force on one surface of a contact element, from all that touches it.
static double read_surface(const reader *it, tal_force_ix contact, int surface, int part)
{
    const tal_forces *const forces = it->model->forces;
    const int n = tal_contact_num(forces, it->state, contact);
    double sum = 0.0;
    for (int k = 0; k < n; ++k) {
        tal_contact_info info;
        if (tal_contact_calc(forces, it->state, contact, k, &info) != TAL_OK) return (double)NAN;
        const double f = component(info.f_G, part);
        if (info.surface[0].i == surface) sum += f;
        if (info.surface[1].i == surface) sum -= f;
    }
    return n < 0 ? (double)NAN : sum;
}

// The force of an element on all bodies but Ground.
static double read_force(const reader *it, tal_force_ix force, int part)
{
    const cli_model *const model = it->model;
    const int nb = tal_matter_num_bodies(model->matter);
    tal_spatial_vec *const F_GB = cli_alloc((size_t)nb, sizeof *F_GB);
    double *const f = cli_alloc((size_t)tal_matter_nu(model->matter), sizeof *f);
    double sum = 0.0;
    if (tal_forces_calc_sum(model->forces, it->state, &force, 1, F_GB, f) != TAL_OK) {
        sum = (double)NAN;
    }
    for (int b = 1; b < nb; ++b) {
        sum += component(F_GB[b].v, part);
    }
    free(F_GB);
    free(f);
    return sum;
}

static double read_contact(const reader *it, int i, int j)
{
    const tal_force_ix force = {i};
    const bool is_contact = strcmp(tal_force_kind(it->model->forces, force), "contact") == 0;
    return is_contact ? read_surface(it, force, j / 3, j % 3) : read_force(it, force, j);
}

static double read_measure(const reader *it, int i, int j)
{
    const double *const values =
        tal_measure_values(it->model->system, it->state, (tal_measure_ix){i});
    return values != NULL ? values[j] : (double)NAN;
}

// The value of one column. NaN when it cannot be computed.
static double read_one(reader *it, const column *c)
{
    tal_state *const state = it->state;
    switch (c->kind) {
    case COLUMN_TIME:
        return tal_state_t(state);
    case COLUMN_Q:
        return tal_state_q(state)[c->i];
    case COLUMN_U:
        return tal_state_u(state)[c->i];
    case COLUMN_UDOT:
        return tal_state_udot(state)[c->i];
    case COLUMN_Z:
        return tal_state_z(state)[c->i];
    case COLUMN_MEASURE:
        return read_measure(it, c->i, c->j);
    case COLUMN_KINETIC_ENERGY:
        return kinetic_energy(it);
    case COLUMN_POTENTIAL_ENERGY:
        return potential_energy(it);
    case COLUMN_TOTAL_ENERGY:
        return kinetic_energy(it) + potential_energy(it);
    case COLUMN_TEMPERATURE:
        return temperature(it);
    case COLUMN_BATH_ENERGY:
        return bath_energy(it);
    case COLUMN_CONSERVED_ENERGY:
        return kinetic_energy(it) + potential_energy(it) + bath_energy(it);
    case COLUMN_POSITION_ERROR:
        return cli_largest(tal_state_qerr(state), tal_state_pool_size(state, TAL_POOL_QERR));
    case COLUMN_VELOCITY_ERROR:
        return cli_largest(tal_state_uerr(state), tal_state_pool_size(state, TAL_POOL_UERR));
    case COLUMN_POSE:
        return read_pose(it, c->i, c->j);
    case COLUMN_REACTION:
        return read_reaction(it, c->i, c->j);
    case COLUMN_CONTACT:
        return read_contact(it, c->i, c->j);
    }
    return (double)NAN;
}

tal_status columns_read(const cli_columns *it, const cli_model *model, tal_state *state,
                        double row[])
{
    const tal_status st = tal_system_realize(model->system, state, it->stage);
    reader r = {model, state, (double)NAN, (double)NAN, (double)NAN};
    for (int k = 0; k < it->num && st == TAL_OK; ++k) {
        row[k] = read_one(&r, &it->list[k]);
        if (!isnan(row[k])) continue;
        const tal_status why = tal_state_error(state)->status; // a measure that failed is a NaN
        if (why != TAL_OK) return why;
    }
    return st;
}
