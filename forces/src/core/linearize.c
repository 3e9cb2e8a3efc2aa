// How udot and zdot of a System change with q, u and z.
//
// The equations of motion M udot + J^T (F0 - F) - f + G^T lambda = 0 change along a direction by
//
//     r = d(inverse dynamics, F held) + d(G^T lambda) - df - J^T dF
//
// at fixed udot and lambda, the errors by s, and (udot, lambda) by the solution of theory
// eq. 13.12.
// dF and df come from apply_change of the elements, and where there is none from differences along
// the direction. zdot changes likewise, by add_rate_change.
#include "applied_internal.h"
#include "force_facts_internal.h"

#include "core/derivative_internal.h"

#include <talus/forces/derivative.h>

#include <math.h>
#include <string.h>

/// The System, where it is linearized, and room. Matrices are in the caller's memory.
typedef struct task {
    const tal_system *system;
    const tal_matter *matter;
    tal_state *state, *scratch;
    int nb, nu, m, nz;
    bool has_strangers;         // somebody besides force subsystems applies forces
    bool needs_differences;     // strangers, or elements without apply_change
    bool knows_rates;           // all z belong to elements with add_rate_change
    tali_force_direction along; // du points to `du`
    double *du;                 // [nu]
    double *dz;                 // [nz]
    double *w;                  // [nu] a unit direction
    double *f, *df, *g;         // [nu]
    tal_spatial_vec *dV;        // [nb]
    tal_spatial_vec *F, *dF;    // [nb] applied forces about Bo; their change about Mo
    tal_spatial_vec *moved_F;   // [nb]
    tal_station *origins;       // [nb] Mo of all bodies
    double *V_by_q;             // [6 nb][nu]
    double *room;               // [nu][nu]
    double *B;                  // [nu + m][2 nu + nz]
} task;

// --- memory ---

// Places everything in `block`; its doubles. NULL: the size alone.
static size_t place(task *it, double *block)
{
    const size_t nb = (size_t)it->nb, nu = (size_t)it->nu, nz = (size_t)it->nz, d = sizeof(double);
    const size_t nq = nu + nb, cols = 2 * nu + nz; // at most one quaternion per body
    const tali_piece pieces[] = {{&it->along.dq, nq * d},
                                 {&it->along.dX, nb * sizeof *it->along.dX},
                                 {&it->du, nu * d},
                                 {&it->dz, nz * d},
                                 {&it->w, nu * d},
                                 {&it->f, nu * d},
                                 {&it->df, nu * d},
                                 {&it->g, nu * d},
                                 {&it->dV, nb * sizeof *it->dV},
                                 {&it->F, nb * sizeof *it->F},
                                 {&it->dF, nb * sizeof *it->dF},
                                 {&it->moved_F, nb * sizeof *it->moved_F},
                                 {&it->origins, nb * sizeof *it->origins},
                                 {&it->V_by_q, 6 * nb * nu * d},
                                 {&it->room, nu * nu * d},
                                 {&it->B, (nu + (size_t)it->m) * cols * d}};
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block) / d + 1;
}

size_t tal_system_linearize_work_size(const tal_system *system)
{
    if (system == NULL || !tal_system_has_topology(system)) return 0;
    const tal_matter *matter = tal_system_matter(system);
    if (matter == NULL) return 0;
    task it = {.nb = tal_matter_num_bodies(matter), .nu = tal_matter_nu(matter)};
    it.m = tal_system_pool_capacity(system, TAL_POOL_UDOTERR);
    it.nz = tal_system_pool_capacity(system, TAL_POOL_Z);
    // the memory is aligned here, not by the caller
    return place(&it, NULL) + TAL_ALIGNMENT / sizeof(double);
}

// --- who applies forces ---

static const tal_forces *forces_at(const tal_system *system, int i)
{
    return tal_subsystem_self_as(system, (tal_subsystem_ix){i}, &tali_forces_ops);
}

static bool is_quiet(const tal_forces *forces, const uint8_t enabled[], int i)
{
    return enabled[i] && forces->elements[i].ops.apply_change == NULL;
}

// Whether an element tells how the zdot of all of its z change. One that is disabled does: not at
// all.
static bool knows_rates(const tal_forces *forces, const uint8_t enabled[], int i)
{
    const tali_force *element = &forces->elements[i];
    if (!enabled[i]) return true;
    return element->ops.add_rate_change != NULL && !element->is_tracked;
}

// Whether all forces are known element by element, and by apply_change; and all zdot.
static void look_around(task *it)
{
    int subsystems = 0, known_z = 0;
    for (int k = 0; k < tal_system_num_subsystems(it->system); ++k) {
        const tal_forces *forces = forces_at(it->system, k);
        if (forces == NULL) continue;
        ++subsystems;
        const uint8_t *enabled = tali_forces_enabled(forces, it->state);
        for (int i = 0; i < forces->num_elements; ++i) {
            it->needs_differences = it->needs_differences || is_quiet(forces, enabled, i);
            if (!knows_rates(forces, enabled, i)) continue;
            known_z += tali_force_z(forces, it->state, (tal_force_ix){i}, 0, NULL);
        }
    }
    it->knows_rates = known_z == tal_state_nz(it->state);
    it->has_strangers = tali_matter_num_appliers(it->matter, it->state) != subsystems;
    it->needs_differences = it->needs_differences || it->has_strangers;
}

// --- changes of forces ---

// Adds the changes of all elements that know theirs. With strangers everything is differenced.
static tal_status add_changes(const task *it)
{
    const tal_force_change change = {it->along.dq, it->du, it->along.dX, it->dV, it->dz};
    for (int k = 0; k < tal_system_num_subsystems(it->system); ++k) {
        const tal_forces *forces = it->has_strangers ? NULL : forces_at(it->system, k);
        if (forces == NULL) continue;
        const uint8_t *enabled = tali_forces_enabled(forces, it->state);
        const tal_force_context context = tali_force_context(forces, it->state, TAL_STAGE_VELOCITY);
        for (int i = 0; i < forces->num_elements; ++i) {
            const tali_force *element = &forces->elements[i];
            if (!enabled[i] || element->ops.apply_change == NULL) continue;
            const tal_status st =
                element->ops.apply_change(element->self, &context, &change, it->dF, it->df);
            if (st != TAL_OK) return tali_force_explain(it->state, element, st);
        }
    }
    return TAL_OK;
}

static void forget_differences(const tal_forces *forces, const tal_state *state, int i,
                               double zdot[])
{
    const int nz = tali_force_z(forces, state, (tal_force_ix){i}, 0, NULL);
    for (int j = 0, slot = 0; j < nz; ++j) {
        (void)tali_force_z(forces, state, (tal_force_ix){i}, j, &slot);
        zdot[slot] = 0.0;
    }
}

// zdot of the elements that know its change, written over what differences may have left there.
static tal_status write_rates(const task *it, double zdot[])
{
    const tal_force_change change = {it->along.dq, it->du, it->along.dX, it->dV, it->dz};
    for (int k = 0; k < tal_system_num_subsystems(it->system); ++k) {
        const tal_forces *forces = forces_at(it->system, k);
        if (forces == NULL) continue;
        const uint8_t *enabled = tali_forces_enabled(forces, it->state);
        const tal_force_context context = tali_force_context(forces, it->state, TAL_STAGE_VELOCITY);
        for (int i = 0; i < forces->num_elements; ++i) {
            const tali_force *element = &forces->elements[i];
            if (!enabled[i] || !knows_rates(forces, enabled, i)) continue;
            if (element->ops.add_rate_change == NULL) continue;
            if (!it->knows_rates) forget_differences(forces, it->state, i, zdot);
            const tal_status st =
                element->ops.add_rate_change(element->self, &context, &change, zdot);
            if (st != TAL_OK) return tali_force_explain(it->state, element, st);
        }
    }
    return TAL_OK;
}

// Forces of the elements that do not know their change, or of everybody, where the scratch State
// is.
static tal_status quiet_forces(const task *it, tal_spatial_vec F[], double f[])
{
    memset(F, 0, (size_t)it->nb * sizeof *F);
    memset(f, 0, (size_t)it->nu * sizeof *f);
    if (it->has_strangers) {
        tal_status st = tal_system_realize(it->system, it->scratch, TAL_STAGE_DYNAMICS);
        if (st == TAL_OK) st = tal_matter_calc_applied_forces(it->matter, it->scratch, F, f);
        if (st == TAL_OK) tali_force_shift_to_Mo(it->matter, it->scratch, F);
        return st;
    }
    for (int k = 0; k < tal_system_num_subsystems(it->system); ++k) {
        const tal_forces *forces = forces_at(it->system, k);
        if (forces == NULL) continue;
        const uint8_t *enabled = tali_forces_enabled(forces, it->scratch);
        for (int i = 0; i < forces->num_elements; ++i) {
            if (!is_quiet(forces, enabled, i)) continue;
            const tal_status st =
                tali_force_apply_about_Mo(forces, it->scratch, (tal_force_ix){i}, F, f);
            if (st != TAL_OK) return st;
        }
    }
    return TAL_OK;
}

// Differences along the direction: of forces that do not know their change, and of zdot.
static tal_status add_differences(const task *it, double zdot[])
{
    const double *dX = (const double *)(const void *)it->along.dX;
    const double *dV = (const double *)(const void *)it->dV;
    double size = fmax(tali_force_size_of(dX, 6 * it->nb), tali_force_size_of(dV, 6 * it->nb));
    size = fmax(size, fmax(tali_force_size_of(it->du, it->nu), tali_force_size_of(it->dz, it->nz)));
    const tali_force_points points = tali_force_points_for(size);
    for (int k = 0; k < TALI_NUM_POINTS; ++k) {
        const double weight = points.weight[k];
        tal_status st =
            tali_force_move(it->matter, it->state, &it->along, points.at[k], it->scratch);
        if (st == TAL_OK && it->needs_differences) st = quiet_forces(it, it->moved_F, it->g);
        for (int b = 0; b < it->nb && st == TAL_OK && it->needs_differences; ++b) {
            it->dF[b] = tal_sv_axpy(weight, it->moved_F[b], it->dF[b]);
        }
        for (int j = 0; j < it->nu && st == TAL_OK && it->needs_differences; ++j) {
            it->df[j] += weight * it->g[j];
        }
        if (st == TAL_OK && !it->knows_rates) {
            st = tal_system_realize(it->system, it->scratch, TAL_STAGE_ACCELERATION);
        }
        for (int j = 0; j < it->nz && st == TAL_OK && !it->knows_rates; ++j) {
            zdot[j] += weight * tal_state_zdot(it->scratch)[j];
        }
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

// What inverse dynamics held was the force about Bo; dF is about Mo, from where Bo turns away:
// dn_B = dn_M - p x df - (w x p) x f, of which tali_force_generalized() takes the second part.
static void hold_about_Bo(const task *it)
{
    const tal_bodies_view poses = tal_matter_poses(it->matter, it->state);
    for (int b = 1; b < it->nb; ++b) {
        const tal_xform X_MB = tal_body_X_MB(it->matter, it->state, (tal_body_ix){b});
        const tal_vec3 p = tal_m3_mul_v3(tal_view_X_GM(&poses, b)->R, X_MB.p);
        const tal_vec3 moved = tal_v3_cross(it->along.dX[b].w, p);
        it->dF[b].w = tal_v3_sub(it->dF[b].w, tal_v3_cross(moved, it->F[b].v));
    }
}

// --- directions ---

enum {
    ALONG_Q,
    ALONG_U,
    ALONG_Z
};

static void clear_direction(const task *it)
{
    const size_t nb = (size_t)it->nb, nu = (size_t)it->nu, d = sizeof(double);
    memset(it->along.dq, 0, (size_t)tal_matter_nq(it->matter, it->state) * d);
    memset(it->along.dX, 0, nb * sizeof *it->along.dX);
    memset(it->dV, 0, nb * sizeof *it->dV);
    memset(it->dF, 0, nb * sizeof *it->dF);
    memset(it->df, 0, nu * d);
    memset(it->du, 0, nu * d);
    memset(it->w, 0, nu * d);
    memset(it->dz, 0, (size_t)it->nz * d);
}

// How bodies move along direction `j` of q, u or z.
static tal_status set_direction(const task *it, int of, int j)
{
    clear_direction(it);
    if (of == ALONG_Z) {
        it->dz[j] = 1.0;
        return TAL_OK;
    }
    if (of == ALONG_U) {
        it->du[j] = 1.0;
        return tali_force_velocities_for(it->matter, it->state, it->du, it->dV);
    }
    it->w[j] = 1.0;
    memcpy(it->dV, it->V_by_q + (size_t)j * 6 * (size_t)it->nb, (size_t)it->nb * sizeof *it->dV);
    return tali_force_direction_along(it->matter, it->state, it->w, &it->along);
}

// The column of a direction: the equations of motion gain df + J^T dF; zdot [nz].
static tal_status add_forces_along(const task *it, int of, int j, double column[], double zdot[])
{
    tal_status st = set_direction(it, of, j);
    if (st == TAL_OK) st = add_changes(it);
    if (st == TAL_OK && (it->needs_differences || !it->knows_rates)) st = add_differences(it, zdot);
    if (st == TAL_OK && it->nz > 0) st = write_rates(it, zdot);
    if (st != TAL_OK) return st;
    hold_about_Bo(it);
    st = tali_force_generalized(it->matter, it->state, it->dF, it->df, it->g);
    for (int i = 0; i < it->nu && st == TAL_OK; ++i) {
        column[i] += it->g[i];
    }
    return st;
}

// --- the tree and its constraints ---

// Bodies, first row, columns: udot and lambda of the State, its forces, how velocities change.
static tal_status prepare(const task *it)
{
    tal_status st = tal_matter_calc_applied_forces(it->matter, it->state, it->F, it->f);
    const tal_matrix none = {NULL, 0, 0, 1};
    for (int b = 0; b < it->nb; ++b) {
        const tal_xform X_MB = tal_body_X_MB(it->matter, it->state, (tal_body_ix){b});
        it->origins[b] = (tal_station){{b}, tal_xf_inverse(X_MB).p};
    }
    const tal_matrix V = tal_matrix_view(it->V_by_q, 6 * it->nb, it->nu);
    if (st != TAL_OK) return st;
    return tal_matter_calc_frame_derivatives(it->matter, it->state, NULL, it->origins, it->nb, V,
                                             none, none);
}

// First slot of matter's accelerations, or of its rows, in the State.
static const double *matter_part(const task *it, const char *name, tal_pool pool,
                                 const double values[])
{
    const tal_group_ix group =
        tal_system_find_group(it->system, tal_matter_subsystem(it->matter), pool, name);
    return values + tal_group_start(it->system, it->state, group);
}

// Minus what inverse dynamics and the constraints change by, in the columns by q and u.
static tal_status write_tree(const task *it)
{
    const int rows = it->nu + it->m, nu = it->nu;
    const double *udot = matter_part(it, "u", TAL_POOL_U, tal_state_udot(it->state));
    const double *lambda = NULL;
    if (it->m > 0) {
        lambda = matter_part(it, "constraints", TAL_POOL_UDOTERR, tal_state_multipliers(it->state));
    }
    const tal_matrix none = {NULL, 0, 0, 1}, room = tal_matrix_view(it->room, nu, nu);
    double *by[2] = {it->B, it->B + (size_t)rows * (size_t)nu};
    tal_status st = tal_matter_calc_constraint_derivatives(it->matter, it->state, udot, lambda,
                                                           none, tal_matrix_view(by[0], rows, nu),
                                                           tal_matrix_view(by[1], rows, nu));
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        st = tal_matter_calc_ID_derivatives(it->matter, it->state, udot, it->F,
                                            k == 0 ? room : none, k == 1 ? room : none, none);
        for (int j = 0; j < nu; ++j) {
            double *column = by[k] + (size_t)j * (size_t)rows;
            for (int i = 0; i < rows; ++i) {
                column[i] = -column[i] - (i < nu ? it->room[j * nu + i] : 0.0);
            }
        }
    }
    return st;
}

static tal_status write_columns(const task *it, tal_matrix J)
{
    const int rows = it->nu + it->m, cols = 2 * it->nu + it->nz;
    memset(it->B, 0, (size_t)rows * (size_t)cols * sizeof *it->B);
    tal_status st = prepare(it);
    if (st == TAL_OK) st = write_tree(it);
    for (int j = 0; j < cols && st == TAL_OK; ++j) {
        double *zdot = J.data + (size_t)j * (size_t)J.ld + it->nu;
        const int of = j < it->nu ? ALONG_Q : j < 2 * it->nu ? ALONG_U : ALONG_Z;
        memset(zdot, 0, (size_t)it->nz * sizeof *zdot);
        st = add_forces_along(it, of, j - of * it->nu, it->B + (size_t)j * (size_t)rows, zdot);
    }
    if (st == TAL_OK) {
        st = tal_matter_solve_changes(it->matter, it->state, tal_matrix_view(it->B, rows, cols));
    }
    for (int j = 0; j < cols && st == TAL_OK; ++j) {
        memcpy(J.data + (size_t)j * (size_t)J.ld, it->B + (size_t)j * (size_t)rows,
               (size_t)it->nu * sizeof *it->B);
    }
    return st;
}

// --- public ---

static tal_status check(const tal_system *system, const tal_state *state, const tal_state *scratch,
                        tal_matrix J, const double work[])
{
    if (system == NULL || state == NULL || work == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_matter *matter = tal_system_matter(system);
    if (matter == NULL) return TALI_BREACH(TAL_ERR_BAD_VALUE, "the System has no matter");
    if (tal_state_stage(state) < TAL_STAGE_ACCELERATION) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Acceleration",
                           tal_stage_name(tal_state_stage(state)));
    }
    if (scratch == state) return TALI_BREACH(TAL_ERR_BAD_VALUE, "scratch is the State itself");
    const int nu = tal_matter_nu(matter), nz = tal_state_nz(state);
    if (J.data == NULL || J.rows != nu + nz || J.cols != 2 * nu + nz || J.ld < J.rows) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "J is %d x %d and must be %d x %d", J.rows, J.cols,
                           nu + nz, 2 * nu + nz);
    }
    return TAL_OK;
}

tal_status tal_system_linearize(const tal_system *system, tal_state *state, tal_state *scratch,
                                tal_matrix J, double work[])
{
    tal_status st = check(system, state, scratch, J, work);
    if (st != TAL_OK) return st;
    const tal_matter *matter = tal_system_matter(system);
    const tal_constraint_rows rows = tal_matter_constraint_rows(matter, state);
    if (rows.mp < 0) return tal_contract_last()->status;
    task it = {.system = system, .matter = matter, .state = state, .scratch = scratch};
    it.nb = tal_matter_num_bodies(matter), it.nu = tal_matter_nu(matter);
    it.m = rows.mp + rows.mv + rows.ma, it.nz = tal_state_nz(state);
    const uintptr_t from = (uintptr_t)work % TAL_ALIGNMENT;
    (void)place(&it, work + (from > 0 ? (TAL_ALIGNMENT - from) / sizeof *work : 0));
    it.along.du = it.du;
    it.along.dz = it.dz;
    look_around(&it);
    if (scratch == NULL && (it.needs_differences || !it.knows_rates)) {
        return TALI_BREACH(TAL_ERR_NULL, "differences are needed, but the scratch State is NULL");
    }
    return write_columns(&it, J);
}

bool tal_system_is_differenced(const tal_system *system, tal_state *state)
{
    if (system == NULL || state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
        return true;
    }
    const tal_matter *matter = tal_system_matter(system);
    if (matter == NULL || tal_state_stage(state) < TAL_STAGE_DYNAMICS) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Dynamics, with matter",
                          tal_stage_name(tal_state_stage(state)));
        return true;
    }
    if (tal_matter_constraint_rows(matter, state).mp < 0) return true; // a State of another System
    task it = {.system = system, .matter = matter, .state = state};
    look_around(&it);
    return it.needs_differences || !it.knows_rates;
}

int tal_forces_differenced(const tal_forces *forces, tal_force_ix which[], int capacity)
{
    if (forces == NULL || (which == NULL && capacity > 0)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces or which is NULL");
        return -1;
    }
    int count = 0;
    for (int i = 0; i < forces->num_elements; ++i) {
        const tal_force_ops *ops = &forces->elements[i].ops;
        const bool has_rates = ops->realize_acceleration != NULL;
        if (ops->apply_change != NULL && (!has_rates || ops->add_rate_change != NULL)) continue;
        if (count < capacity) which[count] = (tal_force_ix){i};
        ++count;
    }
    return count;
}
