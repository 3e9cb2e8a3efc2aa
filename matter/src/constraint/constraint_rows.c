// G: its transpose as forces on bodies and mobilities, its rows over the speeds of a path.
#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "unilateral/unilateral_internal.h"

#include <math.h>

// Part of the distance from Ground that counts as size of a mechanism far away.
static const double FAR_SHARE = 1e-3;

// What is below this part of what forces of its size could do is round-off.
static const double ROUND_OFF = 1e-12;

static tal_status calc_wrenches(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    (void)system;
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    tali_tree_view view;
    const tali_tree_what what = cs->forces_need_velocity ? TALI_VELOCITY : TALI_POSITION;
    if (!tali_tree_realize_view(matter, state, what, &view)) return TAL_ERR_CALLBACK;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    tal_status st = TAL_OK;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map.row0[i] < 0) continue;
        double *at = (double *)value + c->wrench0;
        const size_t m = (size_t)tali_constraint_rows(c);
        const tali_constraint_wrenches out = {(tal_spatial_vec *)(void *)at,
                                              at + m * (size_t)tali_constraint_num_wrenches(c) * 6};
        st = tali_constraint_find_wrenches(matter, state, &view, i, &out);
    }
    return st;
}

void tali_constraints_declare_wrenches(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const tal_prereq needs[] = {tal_prereq_cache(cs->poses),
                                {TAL_PREREQ_T, 0}, // equations may contain t
                                {cs->forces_need_velocity ? TAL_PREREQ_U : TAL_PREREQ_Q, 0}};
    tal_cache_def def = tal_cache_def_default();
    def.name = "constraint wrenches";
    def.size = (cs->wrench_doubles + 1) * sizeof(double);
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INFINITY;
    def.calc = calc_wrenches;
    def.prereqs = needs;
    def.num_prereqs = 3;
    cs->wrenches = tal_system_add_cache(matter->system, matter->me, &def);
}

// --- round-off, and rows without effect ---

// No lever along the path is longer. Far from Ground's origin positions are rounded by eps |p|,
// which has to stay below what counts as round-off here.
double tali_constraint_reach(const tal_matter *matter, const tali_tree_view *view,
                             const tali_constraint *c)
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
    if (c->path_len == 0) return 0.0;
    const tal_vec3 tip = view->pose[path[0].body].p_GM;
    double square = 0.0;
    for (int k = 1; k < c->path_len; ++k) {
        const tal_vec3 d = tal_v3_sub(view->pose[path[k].body].p_GM, tip);
        square = fmax(square, tal_v3_dot(d, d));
    }
    return 2.0 * sqrt(square) + FAR_SHARE * tal_v3_norm(tip);
}

static double sum_of_sizes(tal_vec3 v)
{
    return fabs(v.x) + fabs(v.y) + fabs(v.z);
}

/// What the forces of a row can do, at most, wherever along the path they are felt.
typedef struct row_size {
    double moment, force;
} row_size;

static row_size size_of_row(const tali_constraint *c, tali_constraint_const_wrenches row_forces,
                            int r, double reach)
{
    const int n = tali_constraint_num_wrenches(c);
    row_size size = {0.0, 0.0};
    for (int i = 0; i < n; ++i) {
        size.moment += sum_of_sizes(row_forces.wrench[r * n + i].w);
        size.force += sum_of_sizes(row_forces.wrench[r * n + i].v);
    }
    size.moment += reach * size.force;
    return size;
}

// Compares what a row does to a mobility with what forces of that size could do there.
static bool is_round_off(double e, tal_spatial_vec H, row_size size)
{
    return fabs(e) <=
           ROUND_OFF * (sum_of_sizes(H.w) * size.moment + sum_of_sizes(H.v) * size.force);
}

// Mostly the first mobility settles it.
bool tali_constraint_row_is_idle(const tal_matter *matter, const tali_tree_view *view,
                                 const tali_constraint *c,
                                 tali_constraint_const_wrenches row_forces, int r, double reach,
                                 const double e[])
{
    for (int i = 0; i < c->num_mobilities; ++i) {
        if (row_forces.coefficient[r * c->num_mobilities + i] != 0.0) return false;
    }
    const row_size size = size_of_row(c, row_forces, r, reach);
    for (int k = 0; k < c->path_len; ++k) {
        const tali_constraint_path_entry at = matter->constraints.path[c->path0 + k];
        const tal_spatial_vec *H = view->H + matter->tree.u0[at.body];
        for (int j = 0; j < matter->tree.nu[at.body]; ++j) {
            if (!is_round_off(e[at.e0 + j], H[j], size)) return false;
        }
    }
    return true;
}

// Where a speed has no part in a row G is zero, not round-off: once the speeds that are known have
// been taken from a row, what is left of it may be round-off alone, and a residual must not be
// divided by that.
static void clear_round_off(const tal_matter *matter, const tali_tree_view *view,
                            const tali_constraint *c, row_size size, double g[])
{
    for (int k = 0; k < c->path_len; ++k) {
        const tali_constraint_path_entry at = matter->constraints.path[c->path0 + k];
        const tal_spatial_vec *H = view->H + matter->tree.u0[at.body];
        for (int j = 0; j < matter->tree.nu[at.body]; ++j) {
            if (is_round_off(g[at.e0 + j], H[j], size)) g[at.e0 + j] = 0.0;
        }
    }
}

// --- G ---

// g = J^T (wrench) + coefficient: the transpose of how the row sees the speeds of its path.
void tali_constraint_row(const tal_matter *matter, const tali_tree_view *view,
                         const tali_constraint *c, tali_constraint_const_wrenches row_forces, int r,
                         double reach, tal_spatial_vec F[], double g[])
{
    const tali_constraint_path_entry *path = matter->constraints.path + c->path0;
    const tal_spatial_vec *wrench =
        row_forces.wrench + (size_t)r * (size_t)tali_constraint_num_wrenches(c);
    const double *coefficient = row_forces.coefficient + (size_t)r * (size_t)c->num_mobilities;
    for (int k = 0; k < c->path_len; ++k) {
        F[k] = TAL_SPATIAL_VEC_ZERO;
    }
    for (int i = 0; i < tali_constraint_num_wrenches(c); ++i) {
        const int k = c->wrench_places[i];
        if (k >= 0) F[k] = tal_sv_add(F[k], wrench[i]);
    }
    view->passes->path_JT(view, path, c->path_len, F, g);
    clear_round_off(matter, view, c, size_of_row(c, row_forces, r, reach), g);
    for (int i = 0; i < c->num_mobilities; ++i) {
        g[c->speed_places[i]] += coefficient[i];
    }
}

void tali_constraint_add_row_forces(const tal_matter *matter, const tali_constraint *c,
                                    tali_constraint_const_wrenches row_forces, int r, double lambda,
                                    tal_spatial_vec F[], double f[])
{
    const int n = tali_constraint_num_wrenches(c);
    for (int k = 0; k < n; ++k) {
        tal_spatial_vec *at = &F[tali_constraint_wrench_body(c, k)];
        *at = tal_sv_axpy(lambda, row_forces.wrench[r * n + k], *at);
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        f[matter->tree.u0[c->mobility_bodies[k]] + c->mobility_index[k]] +=
            lambda * row_forces.coefficient[r * c->num_mobilities + k];
    }
}

tal_status tali_constraints_add_forces(const tal_matter *matter, tal_state *state,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return TAL_OK;
    const double *entry = tal_cache_realize(matter->system, state, cs->wrenches);
    if (entry == NULL) return tal_state_error(state)->status;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        const tali_constraint_const_wrenches row_forces = tali_constraint_wrenches_in(c, entry);
        for (int r = 0; map.row0[i] >= 0 && r < tali_constraint_rows(c); ++r) {
            tali_constraint_add_row_forces(matter, c, row_forces, r,
                                           lambda[tali_constraint_row_slot(&map, c, i, r)], F, f);
        }
    }
    return tali_unilaterals_add_friction(matter, state, lambda, F, f);
}
