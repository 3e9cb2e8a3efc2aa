// What unilateral elements have in a State: variables, and the direction of slip that steps keep.
#include "unilateral/unilateral_internal.h"

#include <math.h>

enum {
    MOST_SLIDING = 64 // unless tal_matter_set_most_sliding() was called
};

int tali_unilaterals_most_sliding(const tal_matter *matter)
{
    const tali_unilaterals *all = &matter->unilaterals;
    const int most = all->most_sliding > 0 ? all->most_sliding : MOST_SLIDING;
    return most < all->num_grips ? most : all->num_grips;
}

// --- directions of slip ---

// From one step to the next the direction follows the slip. Within a step it does not turn back: a
// slip that comes to an end and goes on the other way has the direction it had, so that friction
// and the speed along it pass through zero smoothly.
static void follow(const double slip[2], double transition, const double was[2], double d[2])
{
    const double speed = hypot(slip[0], slip[1]);
    d[0] = was[0], d[1] = was[1];
    if (!(speed > transition)) return;
    const double way = slip[0] * was[0] + slip[1] * was[1] < 0.0 ? -1.0 : 1.0;
    d[0] = way * (slip[0] / speed);
    d[1] = way * (slip[1] / speed);
}

static tal_status calc_directions(const void *self, const tal_system *system, tal_state *state,
                                  void *value)
{
    const tal_matter *matter = self;
    const tali_unilaterals *all = &matter->unilaterals;
    const double *was = tal_var_value(system, state, all->directions);
    const tal_unilateral_material *materials = tali_cache_var_in(system, state, all->materials);
    double *d = value;
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_VELOCITY, &view)) return TAL_ERR_CALLBACK;
    for (int i = 0; i < all->count; ++i) {
        double slip[2] = {0.0, 0.0};
        tal_status st = TAL_OK;
        if (tali_unilateral_mode_at(matter, state, i) == TAL_UNILATERAL_SLIDE) {
            st = tali_unilateral_slip(matter, state, &view, i, slip);
        }
        if (st != TAL_OK) return st;
        follow(slip, materials[i].transition_speed, was + 2 * (ptrdiff_t)i, d + 2 * (ptrdiff_t)i);
    }
    return TAL_OK;
}

// --- declaring ---

// What the equations of motion cannot do for an element.
static tal_status check_element(const tal_matter *matter, const tali_unilateral *it)
{
    const tali_constraint *list = matter->constraints.list;
    const bool is_fast = (it->normal >= 0 && list[it->normal].may_be_fast) ||
                         (it->grip >= 0 && list[it->grip].may_be_fast);
    if (is_fast) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "unilateral '%s' acts on bodies that are or may be fast: it can act "
                               "on others only",
                               it->name);
    }
    if (it->grip < 0 || matter->way != TAL_SOLVE_KKT) return TAL_OK;
    return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                           "unilateral '%s' has friction: that needs the solve way "
                           "\"multipliers\", not \"kkt\"",
                           it->name);
}

static tal_status no_memory(const tal_matter *matter)
{
    return tal_system_fail(matter->system, TAL_ERR_NO_MEMORY, "no memory for %d unilaterals",
                           matter->unilaterals.count);
}

// Variables, each with one initial value for each element.
static tal_status declare_variables(tal_matter *matter)
{
    tali_unilaterals *all = &matter->unilaterals;
    const size_t n = (size_t)all->count;
    tal_unilateral_impact *impacts = NULL;
    tal_unilateral_material *materials = NULL;
    uint8_t *enabled = NULL;
    const tali_piece pieces[] = {{&impacts, n * sizeof *impacts},
                                 {&materials, n * sizeof *materials},
                                 {&enabled, n * sizeof *enabled}};
    size_t bytes = 0;
    void *block =
        tali_alloc_pieces(&matter->allocator, pieces, sizeof pieces / sizeof pieces[0], &bytes);
    if (block == NULL) return no_memory(matter);
    for (size_t i = 0; i < n; ++i) {
        materials[i] = all->list[i].material;
        impacts[i] = (tal_unilateral_impact){.t = TALI_NAN};
        enabled[i] = !all->list[i].disabled;
    }
    tal_var_def def = tal_var_def_default();
    def.name = "enabled unilaterals";
    def.size = n;
    def.initial = enabled;
    all->enabled = tal_system_add_var(matter->system, matter->me, &def);
    def.name = "materials of unilaterals";
    def.size = n * sizeof *materials;
    def.initial = materials;
    def.invalidates = TAL_STAGE_DYNAMICS;
    all->materials = tal_system_add_var(matter->system, matter->me, &def);
    def.name = "impacts of unilaterals";
    def.size = n * sizeof *impacts;
    def.initial = impacts;
    def.invalidates = TAL_STAGE_REPORT;
    all->impacts = tal_system_add_var(matter->system, matter->me, &def);
    def = tal_var_def_default();
    def.name = "directions of slip";
    def.size = 2 * n * sizeof(double);
    def.invalidates = TAL_STAGE_DYNAMICS;
    if (all->num_grips > 0) def.update = calc_directions;
    def.update_depends_on = TAL_STAGE_VELOCITY;
    all->directions = tal_system_add_var(matter->system, matter->me, &def);
    tali_free(&matter->allocator, block, bytes);
    tal_cache_def margins = tal_cache_def_default();
    margins.name = "margins of slides";
    margins.size = n * sizeof(double);
    margins.depends_on = TAL_STAGE_DYNAMICS;
    all->margins = tal_system_add_cache(matter->system, matter->me, &margins);
    return tal_system_error(matter->system)->status;
}

tal_status tali_unilaterals_declare(tal_matter *matter)
{
    tali_unilaterals *all = &matter->unilaterals;
    if (all->count == 0) return TAL_OK;
    for (int i = 0; i < all->count; ++i) {
        const tal_status st = check_element(matter, &all->list[i]);
        if (st != TAL_OK) return st;
    }
    all->quick = tali_alloc(&matter->allocator, (size_t)all->count * sizeof *all->quick);
    if (all->quick == NULL) return no_memory(matter);
    all->num_quick = all->count;
    for (int i = 0; i < all->count; ++i) {
        all->quick[i] = tali_unilateral_quick_of(matter, i);
    }
    return declare_variables(matter);
}
