// Where the arrays of matter's cache entries are, and the view of them that the sweeps work with.
#include "prescribed_internal.h"
#include "stages_internal.h"

typedef struct position_layout {
    size_t pose, p_PM, H, X_FM, H_FM, size;
} position_layout;

static position_layout lay_out_position(const tali_tree *tree)
{
    position_layout at = {.pose = 0};
    const size_t u = (size_t)tree->num_u;
    at.p_PM = at.pose + tali_align((size_t)tree->num_bodies * sizeof(tali_pose));
    at.H = at.p_PM + tali_align((size_t)tree->num_bodies * sizeof(tal_vec3));
    at.X_FM = at.H + tali_align(u * sizeof(tal_spatial_vec));
    at.H_FM = at.X_FM + tali_align((size_t)tree->num_general * sizeof(tal_xform));
    at.size = at.H_FM + tali_align((tree->num_general > 0 ? u : 0) * sizeof(tal_spatial_vec));
    return at;
}

size_t tali_position_size(const tali_tree *tree)
{
    return lay_out_position(tree).size;
}

size_t tali_motion_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_bodies * sizeof(tali_motion));
}

size_t tali_velocity_size(const tali_tree *tree)
{
    return tali_motion_bytes(tree) +
           tali_align((size_t)tree->num_general * sizeof(tal_spatial_vec));
}

size_t tali_gain_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_u * sizeof(tal_spatial_vec));
}

size_t tali_articulated_size(const tali_tree *tree)
{
    return tali_gain_bytes(tree) + tali_align(((size_t)tree->num_d + 1) * sizeof(double));
}

size_t tali_body_force_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_bodies * sizeof(tal_spatial_vec));
}

size_t tali_forces_size(const tali_tree *tree)
{
    return tali_body_force_bytes(tree) + tali_align(((size_t)tree->num_u + 1) * sizeof(double));
}

tali_position tali_position_in(const tali_tree *tree, void *bytes)
{
    const position_layout at = lay_out_position(tree);
    char *base = bytes;
    return (tali_position){
        (tali_pose *)(void *)(base + at.pose), (tal_vec3 *)(void *)(base + at.p_PM),
        (tal_spatial_vec *)(void *)(base + at.H), (tal_xform *)(void *)(base + at.X_FM),
        (tal_spatial_vec *)(void *)(base + at.H_FM)};
}

static void see_position(const tali_tree *tree, const void *bytes, tali_view *view)
{
    const position_layout at = lay_out_position(tree);
    const char *base = bytes;
    view->pose = (const tali_pose *)(const void *)(base + at.pose);
    view->p_PM = (const tal_vec3 *)(const void *)(base + at.p_PM);
    view->H = (const tal_spatial_vec *)(const void *)(base + at.H);
    view->X_FM = (const tal_xform *)(const void *)(base + at.X_FM);
    view->H_FM = (const tal_spatial_vec *)(const void *)(base + at.H_FM);
}

const tal_vec3 *tali_p_PM_of(const tali_tree *tree, const void *position)
{
    return (const tal_vec3 *)(const void *)((const char *)position + lay_out_position(tree).p_PM);
}

bool tali_view_at(const tal_matter *matter, tal_state *state, tali_what what, tali_view *view)
{
    const tal_system *system = matter->system;
    *view = (tali_view){.tree = &matter->tree};
    view->constants = tal_cache_realize(system, state, matter->constants);
    if (view->constants == NULL || !tali_see_known(matter, state, view)) return false;
    if (what == TALI_CONSTANTS) return true;

    const void *position = tal_cache_realize(system, state, matter->position);
    if (position == NULL) return false;
    see_position(view->tree, position, view);
    if ((what & TALI_INERTIA) == TALI_INERTIA) {
        view->rigid = tal_cache_realize(system, state, matter->rigid);
        if (view->rigid == NULL) return false;
    }
    if ((what & TALI_VELOCITY) == TALI_VELOCITY) {
        view->motion = tal_cache_realize(system, state, matter->velocity);
        if (view->motion == NULL) return false;
    }
    if ((what & TALI_ARTICULATED) == TALI_ARTICULATED) {
        const char *bytes = tal_cache_realize(system, state, matter->articulated);
        if (bytes == NULL) return false;
        view->G = (const tal_spatial_vec *)(const void *)bytes;
        view->DI = (const double *)(const void *)(bytes + tali_gain_bytes(view->tree));
    }
    return what != TALI_DYNAMICS || tali_see_known_udot(matter, state, view);
}
