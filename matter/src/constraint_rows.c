// G: its transpose as forces on bodies and mobilities, its rows over the speeds of a path.
#include "constraint_internal.h"
#include "sweeps_internal.h"

static tal_status calc_wrenches(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    (void)system;
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    tali_view view;
    const tali_what what = cs->forces_need_velocity ? TALI_VELOCITY : TALI_POSITION;
    if (!tali_view_at(matter, state, what, &view)) return TAL_ERR_CALLBACK;
    const tali_row_map map = tali_row_map_of(matter, state);
    tal_status st = TAL_OK;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        const tali_constraint *c = &cs->list[i];
        if (map.row0[i] < 0) continue;
        double *at = (double *)value + c->wrench0;
        const size_t m = (size_t)tali_rows(c);
        const tali_wrenches out = {(tal_spatial_vec *)(void *)at,
                                   at + m * (size_t)tali_num_wrenches(c) * 6};
        st = tali_constraint_wrenches(matter, state, &view, i, &out);
    }
    return st;
}

void tali_constraints_declare_wrenches(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const tal_prereq needs[] = {tal_prereq_cache(matter->position),
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

// g = J^T (wrench) + coefficient: the transpose of how the row sees the speeds of its path.
void tali_constraint_row(const tal_matter *matter, const tali_view *view, const tali_constraint *c,
                         tali_const_wrenches of, int r, tal_spatial_vec F[], double g[])
{
    const tali_path_entry *path = matter->constraints.path + c->path0;
    const tal_spatial_vec *wrench = of.wrench + (size_t)r * (size_t)tali_num_wrenches(c);
    const double *coefficient = of.coefficient + (size_t)r * (size_t)c->num_mobilities;
    for (int k = 0; k < c->path_len; ++k) {
        F[k] = TAL_SPATIAL_VEC_ZERO;
        for (int i = 0; i < tali_num_wrenches(c); ++i) {
            if (tali_wrench_body(c, i) == path[k].body) F[k] = tal_sv_add(F[k], wrench[i]);
        }
    }
    tali_sweep_path_JT(view, path, c->path_len, F, g);
    for (int k = 0; k < c->path_len && c->num_mobilities > 0; ++k) {
        for (int i = 0; i < c->num_mobilities; ++i) {
            if (c->mobility_bodies[i] != path[k].body) continue;
            g[path[k].e0 + c->mobility_index[i]] += coefficient[i];
        }
    }
}

void tali_add_row_forces(const tal_matter *matter, const tali_constraint *c, tali_const_wrenches of,
                         int r, double lambda, tal_spatial_vec F[], double f[])
{
    const int n = tali_num_wrenches(c);
    for (int k = 0; k < n; ++k) {
        tal_spatial_vec *at = &F[tali_wrench_body(c, k)];
        *at = tal_sv_axpy(lambda, of.wrench[r * n + k], *at);
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        f[matter->tree.u0[c->mobility_bodies[k]] + c->mobility_index[k]] +=
            lambda * of.coefficient[r * c->num_mobilities + k];
    }
}

tal_status tali_constraints_add_forces(const tal_matter *matter, tal_state *state,
                                       const double lambda[], tal_spatial_vec F[], double f[])
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return TAL_OK;
    const double *entry = tal_cache_realize(matter->system, state, cs->wrenches);
    if (entry == NULL) return tal_state_error(state)->status;
    const tali_row_map map = tali_row_map_of(matter, state);
    for (int i = 0; i < cs->count; ++i) {
        const tali_constraint *c = &cs->list[i];
        const tali_const_wrenches of = tali_wrenches_in(c, entry);
        for (int r = 0; map.row0[i] >= 0 && r < tali_rows(c); ++r) {
            tali_add_row_forces(matter, c, of, r, lambda[tali_row_slot(&map, c, i, r)], F, f);
        }
    }
    return TAL_OK;
}
