// From mobilizers to links: turns and shifts along single axes, and balls.
#include "error_internal.h"
#include "matter_facts_internal.h"

#include "generate/generate_internal.h"

#include <math.h>

// One axis of a mobilizer, from F outward.
typedef struct axis {
    bool is_turn;
    int axis; ///< 0, 1, 2: x, y, z
    int q;    ///< which of the mobilizer's coordinates and speeds
} axis;

// A mobilizer as axes in the order from F to M; a ball stands where `ball` says.
typedef struct mobilizer {
    const tal_mobilizer_ops *(*table)(void);
    int num;
    axis axes[6];
    int ball; ///< in front of which axis; -1: none
} mobilizer;

// Coordinates of a free body are counted without its ball: q[0] is the first after it.
static const mobilizer mobilizers[] = {
    {tal_mobilizer_weld, 0, {{0}}, -1},
    {tal_mobilizer_pin, 1, {{true, 2, 0}}, -1},
    {tal_mobilizer_slider, 1, {{false, 0, 0}}, -1},
    {tal_mobilizer_universal, 2, {{true, 0, 0}, {true, 1, 1}}, -1},
    {tal_mobilizer_cylinder, 2, {{true, 2, 0}, {false, 2, 1}}, -1},
    {tal_mobilizer_bend_stretch, 2, {{true, 2, 0}, {false, 0, 1}}, -1},
    {tal_mobilizer_planar, 3, {{false, 0, 1}, {false, 1, 2}, {true, 2, 0}}, -1},
    {tal_mobilizer_gimbal, 3, {{true, 0, 0}, {true, 1, 1}, {true, 2, 2}}, -1},
    {tal_mobilizer_bushing,
     6,
     {{false, 0, 3}, {false, 1, 4}, {false, 2, 5}, {true, 0, 0}, {true, 1, 1}, {true, 2, 2}},
     -1},
    {tal_mobilizer_translation, 3, {{false, 0, 0}, {false, 1, 1}, {false, 2, 2}}, -1},
    {tal_mobilizer_ball, 0, {{0}}, 0},
    {tal_mobilizer_free, 3, {{false, 0, 0}, {false, 1, 1}, {false, 2, 2}}, 3}};

// A body whose mobilizer is being turned into links.
typedef struct placing {
    tali_generate_tree *tree;
    tal_body_ix body;
    int link;    ///< the last one; -1: Ground
    tal_xform X; ///< where we are on it
    double sign; ///< -1: reversed
    int q, u;    ///< the first of the mobilizer
} placing;

static tali_generate_link *new_link(placing *at, tali_generate_kind kind, int q, int u)
{
    tali_generate_tree *const tree = at->tree;
    if (!tali_grow(&tree->allocator, (void **)&tree->links, tree->num_links, &tree->links_capacity,
                   sizeof *tree->links)) {
        (void)TALI_FAIL(tree->err, TAL_ERR_NO_MEMORY, "no memory for the links of the model.");
        return NULL;
    }
    tali_generate_link *const link = &tree->links[tree->num_links];
    *link = (tali_generate_link){.kind = kind,
                                 .parent = at->link,
                                 .body = at->body.i,
                                 .q = q,
                                 .u = u,
                                 .sign = at->sign,
                                 .X_RL = at->X}; // until frames are placed: in the parent's frame
    at->link = tree->num_links++;
    at->X = TAL_XFORM_IDENTITY;
    return link;
}

// A frame whose z is that axis of the one we are in.
static tal_xform frame_of_axis(int which)
{
    static const tal_mat3 frames[3] = {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}},
                                       {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}},
                                       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    return tal_xf_from_R(frames[which]);
}

static bool add_axis(placing *at, axis a, double turn, double shift)
{
    const tal_xform X = frame_of_axis(a.axis);
    at->X = tal_xf_mul(at->X, X);
    tali_generate_link *const link = new_link(at, TALI_GENERATE_AXIAL, at->q + a.q, at->u + a.q);
    if (link == NULL) return false;
    link->turn = turn;
    link->shift = shift;
    at->X = tal_xf_inverse(X);
    return true;
}

static bool add_ball(placing *at, bool has_angles)
{
    tali_generate_link *const link = new_link(at, TALI_GENERATE_BALL, at->q, at->u);
    if (link == NULL) return false;
    link->is_reversed = at->sign < 0.0;
    link->has_angles = has_angles;
    return true;
}

// The axes of a mobilizer and its ball, backwards if it is reversed. Behind a ball coordinates and
// speeds of axes follow its own.
static bool add_table(placing *at, const mobilizer *it, bool has_angles)
{
    const bool is_reversed = at->sign < 0.0;
    const int ball_q = it->ball < 0 ? 0 : has_angles ? 3 : 4, ball_u = it->ball < 0 ? 0 : 3;
    for (int k = 0; k <= it->num; ++k) {
        const int i = is_reversed ? it->num - k : k;
        if (i == it->ball && !add_ball(at, has_angles)) return false;
        const int next = is_reversed ? i - 1 : i;
        if (next < 0 || next >= it->num) continue;
        placing own = *at;
        own.q += ball_q, own.u += ball_u;
        const axis a = it->axes[next];
        if (!add_axis(&own, a, a.is_turn ? 1.0 : 0.0, a.is_turn ? 0.0 : 1.0)) return false;
        at->link = own.link, at->X = own.X;
    }
    return true;
}

// Spherical coordinates: turns with signs and offsets, then a radius along z or x.
static bool add_spherical(placing *at, const double params[6])
{
    const axis axes[3] = {{true, 2, 0}, {true, 1, 1}, {false, params[5] != 0.0 ? 0 : 2, 2}};
    for (int k = 0; k < 3; ++k) {
        const int i = at->sign < 0.0 ? 2 - k : k;
        const double scale = params[2 + i];
        if (!add_axis(at, axes[i], i < 2 ? scale : 0.0, i < 2 ? 0.0 : scale)) return false;
        if (i < 2) at->tree->links[at->link].gamma = at->sign * params[i];
    }
    return true;
}

// Tables are copied, so it is their functions that tell.
static bool is_of(const tal_mobilizer_ops *ops, const tal_mobilizer_ops *(*table)(void))
{
    const tal_mobilizer_ops *const own = table();
    return ops->calc_X_FM == own->calc_X_FM && ops->calc_H_FM == own->calc_H_FM &&
           ops->mul_N == own->mul_N && ops->nu == own->nu;
}

// The links of one mobilizer.
static tal_status add_mobilizer(placing *at)
{
    const tal_matter *const matter = at->tree->matter;
    const tal_state *const state = at->tree->state;
    const tal_mobilizer_ops *const ops = tali_matter_body_facts_of(matter, at->body).ops;
    int n = 0;
    const double *const params = tal_body_params(matter, state, at->body, &n);
    bool is_done = false;
    if (is_of(ops, tal_mobilizer_screw)) {
        is_done = add_axis(at, (axis){true, 2, 0}, 1.0, params[0]);
        return is_done ? TAL_OK : TAL_ERR_NO_MEMORY;
    }
    if (is_of(ops, tal_mobilizer_spherical_coords)) {
        return add_spherical(at, params) ? TAL_OK : TAL_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < sizeof mobilizers / sizeof *mobilizers; ++i) {
        if (!is_of(ops, mobilizers[i].table)) continue;
        is_done = add_table(at, &mobilizers[i], tal_body_uses_angles(matter, state, at->body));
        return is_done ? TAL_OK : TAL_ERR_NO_MEMORY;
    }
    return TALI_FAIL(at->tree->err, TAL_ERR_BAD_VALUE,
                     "body '%s' has the mobilizer '%s', for which no code can be generated: use "
                     "pins, sliders, balls and what is made of them.",
                     tal_body_name(matter, at->body), ops->name);
}

static tali_generate_mass mass_of(const tal_mass_props *props)
{
    // J = tr(I)/2 1 - I
    const double half = 0.5 * tal_s3_trace(props->inertia);
    return (tali_generate_mass){.m = props->mass,
                                .h = tal_v3_scale(props->mass, props->com),
                                .J = tal_s3_sub(tal_s3_diag(half, half, half), props->inertia)};
}

// The links of a body's mobilizer, then its mass on the last of them.
static tal_status add_body(tali_generate_tree *tree, tal_body_ix body)
{
    const tal_matter *const matter = tree->matter;
    const tal_body_ix parent = tal_body_parent(matter, body);
    const bool is_reversed = tali_matter_body_facts_of(matter, body).direction == TAL_REVERSE;
    placing at = {.tree = tree,
                  .body = body,
                  .link = tree->link_of[parent.i],
                  .sign = is_reversed ? -1.0 : 1.0,
                  .q = tal_body_q_start(matter, tree->state, body),
                  .u = tal_body_u_start(matter, body)};
    at.X = tal_xf_mul(tree->X_LB[parent.i], tal_body_X_PF(matter, tree->state, body));
    const tal_status st = add_mobilizer(&at);
    if (st != TAL_OK) return st;
    tree->link_of[body.i] = at.link;
    tree->X_LB[body.i] = tal_xf_mul(at.X, tal_xf_inverse(tal_body_X_BM(matter, tree->state, body)));
    if (tal_body_nu(matter, body) == 1) {
        tree->rotor[at.u] = tal_body_rotor_inertia(matter, tree->state, body);
    }
    if (at.link < 0) return TAL_OK;
    const tal_mass_props in_B = tal_body_mass_props(matter, tree->state, body);
    const tal_mass_props in_L = tal_mass_props_transform(&tree->X_LB[body.i], &in_B);
    const tali_generate_mass own = mass_of(&in_L);
    tali_generate_mass *const all = &tree->links[at.link].mass;
    all->m += own.m;
    all->h = tal_v3_add(all->h, own.h);
    all->J = tal_s3_add(all->J, own.J);
    return TAL_OK;
}

static bool is_locked(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    for (int i = 0; i < tal_body_nu(matter, body); ++i) {
        const tal_mobility mobility = {body, i};
        if (tal_mobility_lock_level(matter, state, mobility) != TAL_LEVEL_FREE) return true;
    }
    return tal_body_lock_level(matter, state, body) != TAL_LEVEL_FREE;
}

// Constraints and what holds mobilities would need solvers with branches.
static tal_status check_matter(const tal_matter *matter, const tal_state *state, tal_error *err)
{
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ix c = {i};
        if (!tal_constraint_is_enabled(matter, state, c)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "constraint '%s' is enabled, and code is generated for trees only: "
                         "disable it, or replace it by joints.",
                         tal_constraint_name(matter, c));
    }
    for (int i = 0; i < tal_matter_num_unilaterals(matter); ++i) {
        const tal_unilateral_ix element = {i};
        if (!tal_unilateral_is_enabled(matter, state, element)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "unilateral element '%s' is enabled, and generated code has no branches: "
                         "disable it.",
                         tal_unilateral_name(matter, element));
    }
    for (int i = 0; i < tal_matter_num_motions(matter); ++i) {
        const tal_motion_ix m = {i};
        if (!tal_motion_is_enabled(matter, state, m)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "motion '%s' is enabled, but generated code takes all q and u as "
                         "arguments: disable it, and give its values to the code.",
                         tal_motion_name(matter, m));
    }
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        if (!is_locked(matter, state, body)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "body '%s' is locked: unlock it, or make it a weld.",
                         tal_body_name(matter, body));
    }
    return TAL_OK;
}

static tal_status make_room(tali_generate_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies;
    tree->link_of = tali_alloc(&tree->allocator, n * sizeof *tree->link_of);
    tree->X_LB = tali_alloc(&tree->allocator, n * sizeof *tree->X_LB);
    tree->rotor = tali_alloc(&tree->allocator, (size_t)tree->nu * sizeof *tree->rotor);
    if (tree->link_of != NULL && tree->X_LB != NULL && tree->rotor != NULL) return TAL_OK;
    return TALI_FAIL(tree->err, TAL_ERR_NO_MEMORY, "no memory for a model of %d bodies.",
                     tree->num_bodies);
}

tal_status tali_generate_tree_make(tali_generate_tree *tree, const tal_matter *matter,
                                   tal_state *state, const tal_allocator *allocator, tal_error *err)
{
    *tree = (tali_generate_tree){.matter = matter,
                                 .state = state,
                                 .allocator = *allocator,
                                 .num_bodies = tal_matter_num_bodies(matter),
                                 .err = err};
    for (int b = 1; b < tree->num_bodies; ++b) {
        tree->nq += tal_body_nq(matter, state, (tal_body_ix){b});
        tree->nu += tal_body_nu(matter, (tal_body_ix){b});
    }
    tal_status st = check_matter(matter, state, err);
    if (st == TAL_OK) st = make_room(tree);
    if (st != TAL_OK) return st;
    tree->link_of[0] = -1;
    tree->X_LB[0] = TAL_XFORM_IDENTITY;
    for (int b = 1; b < tree->num_bodies && st == TAL_OK; ++b) {
        st = add_body(tree, (tal_body_ix){b});
    }
    return st;
}

void tali_generate_tree_free(tali_generate_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies;
    tali_free(&tree->allocator, tree->link_of, n * sizeof *tree->link_of);
    tali_free(&tree->allocator, tree->X_LB, n * sizeof *tree->X_LB);
    tali_free(&tree->allocator, tree->rotor, (size_t)tree->nu * sizeof *tree->rotor);
    tali_free(&tree->allocator, tree->links, (size_t)tree->links_capacity * sizeof *tree->links);
}
