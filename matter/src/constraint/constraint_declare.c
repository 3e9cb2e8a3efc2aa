// What constraints have in a State: slots, variables, cache entries, and the rows in use.
#include "constraint/constraint_matrices_internal.h"
#include "prescribed/prescribed_internal.h"

#include <talus/common/linalg.h>

// --- rows in use, determined at Instance ---

// Four arrays of counts, then the totals.
static size_t row_map_bytes(const tali_constraints *cs)
{
    return ((size_t)cs->count * 4 + 3) * sizeof(int32_t);
}

tali_constraint_row_map tali_constraint_row_map_of(const tal_matter *matter, const tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    const int32_t *at = tal_cache_value(matter->system, state, cs->rows);
    const int n = cs->count;
    return (tali_constraint_row_map){.p0 = at,
                                     .v0 = at + n,
                                     .a0 = at + 2 * n,
                                     .row0 = at + 3 * n,
                                     .mp = at[4 * n],
                                     .mv = at[4 * n + 1],
                                     .ma = at[4 * n + 2]};
}

// Constraints on fast bodies are met by relaxing and have no rows here (manual sec. 10.3).
static bool takes_part(const tal_matter *matter, const tal_state *state, int i, uint8_t is_enabled)
{
    return is_enabled && tali_prescribed_constraint_level(matter, state, i) == TAL_LEVEL_FREE;
}

// Row numbers run through a block, so the rows of one block are together in its matrix.
static tal_status calc_rows(const void *self, const tal_system *system, tal_state *state,
                            void *value)
{
    const tal_matter *matter = self;
    const tali_constraints *cs = &matter->constraints;
    const uint8_t *enabled = tal_var_value(system, state, cs->enabled);
    int32_t *at = value;
    int32_t total[3] = {0, 0, 0};
    const int n = cs->count;
    for (int i = 0; i < n; ++i) {
        const tal_constraint_ops *ops = &cs->list[i].ops;
        at[i] = total[0], at[n + i] = total[1], at[2 * n + i] = total[2];
        if (!takes_part(matter, state, i, enabled[i])) continue;
        total[0] += ops->mp, total[1] += ops->mv, total[2] += ops->ma;
    }
    at[4 * n] = total[0], at[4 * n + 1] = total[1], at[4 * n + 2] = total[2];
    for (int k = 0; k < cs->num_blocks; ++k) {
        int rows = 0;
        for (int j = cs->block_begin[k]; j < cs->block_begin[k + 1]; ++j) {
            const int i = cs->by_block[j];
            const bool counts = takes_part(matter, state, i, enabled[i]);
            at[3 * n + i] = counts ? rows : -1;
            if (counts) rows += tali_constraint_rows(&cs->list[i]);
        }
    }
    return TAL_OK;
}

tal_status tali_constraints_realize_instance(const tal_matter *matter, tal_state *state)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return TAL_OK;
    const tal_system *system = matter->system;
    if (tal_cache_realize(system, state, cs->rows) == NULL) return tal_state_error(state)->status;
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    tal_status st = TAL_OK;
    for (int i = 0; i < cs->count && st == TAL_OK; ++i) {
        if (map.row0[i] >= 0) st = tali_constraint_check_angles(matter, state, &cs->list[i]);
    }
    if (st == TAL_OK) st = tal_group_set_size(system, state, cs->qerr, map.mp, NULL);
    if (st == TAL_OK) st = tal_group_set_size(system, state, cs->uerr, map.mp + map.mv, NULL);
    if (st == TAL_OK) {
        st = tal_group_set_size(system, state, cs->udoterr, map.mp + map.mv + map.ma, NULL);
    }
    return st;
}

int tali_constraint_block_rows(const tali_constraints *cs, const tali_constraint_row_map *map,
                               int block)
{
    int rows = 0;
    for (int n = cs->block_begin[block]; n < cs->block_begin[block + 1]; ++n) {
        const int i = cs->by_block[n];
        if (map->row0[i] >= 0) rows += tali_constraint_rows(&cs->list[i]);
    }
    return rows;
}

// --- declaring ---

static tal_group_ix add_group(tal_matter *matter, const char *name, tal_pool pool, int capacity)
{
    tal_group_def def = tal_group_def_default();
    def.name = name;
    def.pool = pool;
    def.capacity = capacity;
    return tal_system_add_group(matter->system, matter->me, &def);
}

// What a State can change of constraints: enabled, parameters, shares.
static void declare_variables(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    const size_t n = (size_t)cs->count, bytes = n * (sizeof(double) + 1);
    double *ones = tali_alloc(&matter->allocator, bytes);
    if (ones == NULL) {
        (void)tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for constraints");
        return;
    }
    uint8_t *enabled = (uint8_t *)(ones + n);
    for (int i = 0; i < cs->count; ++i) {
        enabled[i] = !cs->list[i].disabled;
        ones[i] = 1.0;
    }
    tal_var_def def = tal_var_def_default();
    def.name = "enabled constraints";
    def.size = (size_t)cs->count;
    def.initial = enabled;
    cs->enabled = tal_system_add_var(matter->system, matter->me, &def);
    const double none = 0.0;
    def.name = "constraint parameters";
    def.size = (size_t)(cs->num_params > 0 ? cs->num_params : 1) * sizeof(double);
    def.initial = cs->num_params > 0 ? cs->params : &none;
    cs->var_params = tal_system_add_var(matter->system, matter->me, &def);
    def.name = "constraint shares";
    def.size = n * sizeof(double);
    def.initial = ones;
    def.invalidates = TAL_STAGE_ACCELERATION;
    cs->shares = tal_system_add_var(matter->system, matter->me, &def);
    tali_free(&matter->allocator, ones, bytes);
}

void tali_constraints_declare_slots(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return;
    cs->qerr = add_group(matter, "constraints", TAL_POOL_QERR, cs->mp);
    cs->uerr = add_group(matter, "constraints", TAL_POOL_UERR, cs->mp + cs->mv);
    cs->udoterr = add_group(matter, "constraints", TAL_POOL_UDOTERR, cs->max_rows);
    declare_variables(matter);
}

void tali_constraints_declare_cache(tal_matter *matter)
{
    tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return;
    tal_cache_def def = tal_cache_def_default();
    def.name = "constraint rows";
    def.size = row_map_bytes(cs);
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INSTANCE;
    def.calc = calc_rows;
    cs->rows = tal_system_add_cache(matter->system, matter->me, &def);

    tali_constraints_declare_poses(matter);
    tali_constraints_declare_wrenches(matter);
    const tal_prereq needs[] = {tal_prereq_cache(matter->articulated),
                                tal_prereq_cache(cs->wrenches)};
    def.name = "constraint matrices";
    def.size = tali_constraint_matrices_size(cs);
    def.depends_on = TAL_STAGE_INSTANCE;
    def.computed_by = TAL_STAGE_INFINITY;
    def.calc = tali_constraint_calc_matrices;
    def.prereqs = needs;
    def.num_prereqs = 2;
    cs->matrices = tal_system_add_cache(matter->system, matter->me, &def);
    if (!cs->has_large) return;
    tali_constraint_room room;
    tali_constraint_large large;
    def = tal_cache_def_default();
    def.name = "room of a constraint";
    def.size = tali_constraint_room_in(cs, NULL, &room, &large);
    cs->room = tal_system_add_cache(matter->system, matter->me, &def);
}

// Least squares and projection, each with matrices of a whole small block, never run inside each
// other: one piece serves both.
size_t tali_constraints_scratch(const tal_matter *matter)
{
    const tali_constraints *cs = &matter->constraints;
    if (cs->count == 0) return 0;
    const size_t least_squares = tali_constraints_solve_scratch(cs);
    const size_t projection = tali_projection_scratch(matter);
    return tali_align((size_t)cs->max_path_len * sizeof(tal_spatial_vec) + 1) +
           3 * tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double)) +
           5 * tali_align((size_t)cs->max_rows * sizeof(double)) +
           tali_align((size_t)matter->num_bodies * sizeof(tal_spatial_vec)) +
           (least_squares > projection ? least_squares : projection);
}
