// Where the arrays of matter's cache entries are, and the view of them that the passes work with.
#include "hinges_internal.h"

#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"

tali_tree_position_layout tali_stage_lay_out_position(const tali_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies, u = (size_t)tree->num_u;
    const size_t general = (size_t)tree->num_general;
    tali_tree_position_layout at = {.size = 0};
    (void)tali_piece_at(&at.size, n * sizeof(tali_tree_pose)); // poses come first
    at.p_PM = tali_piece_at(&at.size, n * sizeof(tal_vec3));
    at.H = tali_piece_at(&at.size, u * sizeof(tal_spatial_vec));
    at.X_FM = tali_piece_at(&at.size, general * sizeof(tal_xform));
    at.H_FM = tali_piece_at(&at.size, (general > 0 ? u : 0) * sizeof(tal_spatial_vec));
    return at;
}

size_t tali_stage_rates_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_bodies * sizeof(tali_tree_rates));
}

static size_t hdot_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_general * sizeof(tal_spatial_vec));
}

size_t tali_stage_velocity_size(const tali_tree *tree)
{
    return tali_stage_rates_bytes(tree) + hdot_bytes(tree) + sizeof(bool);
}

size_t tali_stage_gain_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_u * sizeof(tal_spatial_vec));
}

size_t tali_stage_articulated_size(const tali_tree *tree)
{
    return tali_stage_gain_bytes(tree) + tali_align(((size_t)tree->num_d + 1) * sizeof(double));
}

size_t tali_tree_body_force_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_bodies * sizeof(tal_spatial_vec));
}

size_t tali_stage_forces_size(const tali_tree *tree)
{
    return tali_tree_body_force_bytes(tree) +
           tali_align(((size_t)tree->num_u + 1) * sizeof(double));
}

tali_tree_position tali_stage_position_in(const tali_tree *tree, void *bytes)
{
    const tali_tree_position_layout *at = &tree->position_at;
    char *base = bytes;
    return (tali_tree_position){
        bytes, (tal_vec3 *)(void *)(base + at->p_PM), (tal_spatial_vec *)(void *)(base + at->H),
        (tal_xform *)(void *)(base + at->X_FM), (tal_spatial_vec *)(void *)(base + at->H_FM)};
}

tali_tree_velocity tali_stage_velocity_in(const tali_tree *tree, void *bytes)
{
    char *hdot = (char *)bytes + tali_stage_rates_bytes(tree);
    return (tali_tree_velocity){bytes, (tal_spatial_vec *)(void *)hdot,
                                (bool *)(void *)(hdot + hdot_bytes(tree))};
}

static void see_position(const tali_tree *tree, const void *bytes, tali_tree_view *view)
{
    const tali_tree_position_layout *at = &tree->position_at;
    const char *base = bytes;
    view->pose = bytes;
    view->p_PM = (const tal_vec3 *)(const void *)(base + at->p_PM);
    view->H = (const tal_spatial_vec *)(const void *)(base + at->H);
    view->X_FM = (const tal_xform *)(const void *)(base + at->X_FM);
    view->H_FM = (const tal_spatial_vec *)(const void *)(base + at->H_FM);
}

const tal_vec3 *tali_tree_p_PM_of(const tali_tree *tree, const void *position)
{
    return (const tal_vec3 *)(const void *)((const char *)position + tree->position_at.p_PM);
}

// Only addresses are set: the entries that `what` names must be valid already.
void tali_tree_view_of(const tal_matter *matter, const tal_state *state, tali_tree_what what,
                       tali_tree_view *view)
{
    const tal_system *system = matter->system;
    *view = (tali_tree_view){.tree = &matter->tree,
                             .passes = matter->tree.passes,
                             .constants = tali_cache_at(system, state, matter->constants)};
    tali_prescribed_see_known(matter, state, view);
    if ((what & TALI_POSITION) == TALI_POSITION) {
        see_position(view->tree, tali_cache_at(system, state, matter->position), view);
    }
    if ((what & TALI_INERTIA) == TALI_INERTIA) {
        view->rigid = tali_cache_at(system, state, matter->rigid);
    }
    if ((what & TALI_VELOCITY) == TALI_VELOCITY) {
        const char *bytes = tali_cache_at(system, state, matter->velocity);
        view->rates = (const tali_tree_rates *)(const void *)bytes;
        view->Hdot_u =
            (const tal_spatial_vec *)(const void *)(bytes + tali_stage_rates_bytes(view->tree));
    }
    if ((what & TALI_ARTICULATED) == TALI_ARTICULATED) {
        const char *bytes = tali_cache_at(system, state, matter->articulated);
        view->G = (const tal_spatial_vec *)(const void *)bytes;
        view->DI = (const double *)(const void *)(bytes + tali_stage_gain_bytes(view->tree));
    }
}

// Each of these entries rests on those before it in this order, so it is enough to check the last
// of those that depend on q alone, and velocities besides.
bool tali_tree_realize_view(const tal_matter *matter, tal_state *state, tali_tree_what what,
                            tali_tree_view *view)
{
    const tal_system *system = matter->system;
    const tal_cache_ix last = (what & TALI_ARTICULATED) == TALI_ARTICULATED ? matter->articulated
                              : (what & TALI_INERTIA) == TALI_INERTIA       ? matter->rigid
                              : (what & TALI_POSITION) == TALI_POSITION     ? matter->position
                                                                            : matter->constants;
    if (what == TALI_CONSTANTS &&
        tal_cache_realize(system, state, matter->prescribed.known) == NULL) {
        return false;
    }
    const bool moves = (what & TALI_VELOCITY) == TALI_VELOCITY;
    if (moves && tal_cache_realize(system, state, matter->velocity) == NULL) return false;
    const bool is_velocity_enough = moves && last.i == matter->position.i;
    if (!is_velocity_enough && tal_cache_realize(system, state, last) == NULL) return false;
    tali_tree_view_of(matter, state, what, view);
    if ((what & TALI_A0) == TALI_A0) tali_stage_fill_A0(matter, state, view);
    return what != TALI_DYNAMICS || tali_prescribed_see_known_udot(matter, state, view);
}

bool tali_matter_see_hinges(const tal_matter *matter, tal_state *state, tali_matter_hinges *out)
{
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_POSITION, &view)) return false;
    const tali_tree *tree = view.tree;
    *out = (tali_matter_hinges){view.H, tree->parent, tree->u0, tree->nu};
    return true;
}
