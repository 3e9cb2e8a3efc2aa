// Where the frames of links stand, and mass that moves to parents.
#include "generate/generate_internal.h"

#include <float.h>
#include <math.h>

// What is this small comes from the decimals of a model, or from turning frames.
static const double SNAP = 8.0 * DBL_EPSILON;

static double snapped(double x)
{
    static const double exact[] = {-1.0, 0.0, 1.0};
    for (int i = 0; i < 3; ++i) {
        if (fabs(x - exact[i]) <= SNAP) return exact[i];
    }
    return x;
}

static tali_generate_move turn(int axis, double angle)
{
    return (tali_generate_move){.is_turn = true,
                                .axis = axis,
                                .angle = angle,
                                .cos = snapped(cos(angle)),
                                .sin = snapped(sin(angle))};
}

static tali_generate_move shift(int axis, double distance)
{
    return (tali_generate_move){.axis = axis, .distance = distance};
}

// A move that does nothing is left out.
static void add_move(tali_generate_link *link, tali_generate_move move)
{
    if (move.is_turn ? move.cos == 1.0 : move.distance == 0.0) return;
    link->moves[link->num_moves++] = move;
}

// The common normal of the z of one frame and the z of another: where it stands, and the rest of
// the way (RBDA sec. 4.3).
typedef struct normal {
    double beta, b;  ///< along the first z
    double a, alpha; ///< along the normal
    double gamma, d; ///< along the second z
} normal;

// An angle in (-pi/2, pi/2], with the opposite direction of the normal where that is needed.
static bool points_back(double x, double y)
{
    return x < 0.0 || (x == 0.0 && y < 0.0);
}

// If the two are parallel, there are many: the one through the second origin is taken.
static normal find_normal(tal_xform X)
{
    const tal_vec3 z = X.R.z, o = X.p;
    const double size = fmax(1.0, tal_v3_max_abs(o)), c = snapped(z.z);
    normal it = {0};
    tal_vec3 n = tal_v3(-z.y, z.x, 0.0); // z of the first frame x z of the second
    const bool is_parallel = fabs(c) == 1.0;
    if (is_parallel) {
        n = tal_v3(o.x, o.y, 0.0);
        if (tal_v3_norm(n) <= SNAP * size) n = tal_v3(1.0, 0.0, 0.0);
    }
    n = tal_v3_normalize(n);
    n = tal_v3(snapped(n.x), snapped(n.y), 0.0);
    if (points_back(n.x, n.y)) n = tal_v3_neg(n);
    it.beta = atan2(n.y, n.x);
    const double sine = tal_v3_dot(tal_v3_cross(tal_v3(0, 0, 1), z), n);
    it.alpha = is_parallel ? (c > 0.0 ? 0.0 : atan2(0.0, -1.0)) : atan2(sine, z.z);
    it.a = tal_v3_dot(o, n);
    const double away = tal_v3_dot(o, z);
    it.b = is_parallel ? o.z : (o.z - c * away) / (1.0 - c * c);
    it.d = is_parallel ? 0.0 : away - c * it.b;
    it.gamma = atan2(tal_v3_dot(tal_v3_cross(n, X.R.x), z), tal_v3_dot(n, X.R.x));
    if (fabs(it.a) <= SNAP * size) it.a = 0.0;
    if (fabs(it.b) <= SNAP * size) it.b = 0.0;
    if (fabs(it.d) <= SNAP * size) it.d = 0.0;
    return it;
}

// The frame of a link, turned and shifted along its axis.
static void turn_frame(tali_generate_link *link, double angle, double distance)
{
    link->X_RL = tal_xf(tal_rotation_about(TAL_AXIS_Z, angle), tal_v3(0.0, 0.0, distance));
    link->gamma += angle;
    link->offset += distance;
}

// Frames of a link that carries nothing: its com gets onto x.
static void place_tip(tali_generate_link *link)
{
    const double x = link->mass.h.x, y = link->mass.h.y;
    if (link->kind == TALI_GENERATE_AXIAL && y != 0.0) {
        turn_frame(link, atan2(y, x), 0.0);
    }
}

static tali_generate_mass mass_in(tal_xform X_AB, const tali_generate_mass *in_B)
{
    // r_A = p + R r_B: J_A = R J R^T + p (R h)^T + (R h) p^T + m p p^T
    const tal_mat3 R = X_AB.R;
    const tal_vec3 p = X_AB.p, h = tal_m3_mul_v3(R, in_B->h);
    const tal_mat3 ph = tal_m3_outer(p, h);
    tal_sym3 J = tal_s3_congruence(R, in_B->J);
    J = tal_s3_add(J, tal_s3_from_m3(tal_m3_add(ph, tal_m3_transpose(ph))));
    J = tal_s3_add(J, tal_s3_scale(in_B->m, tal_s3_outer(p)));
    return (tali_generate_mass){.m = in_B->m, .h = tal_v3_axpy(in_B->m, p, h), .J = J};
}

// Choose the way of one link, whose parent's frame stands; the first child of an axis turns it.
static void place_link(tali_generate_tree *tree, int i, bool is_first)
{
    tali_generate_link *const link = &tree->links[i];
    tali_generate_link *const parent = link->parent < 0 ? NULL : &tree->links[link->parent];
    const bool turns = is_first && parent != NULL && parent->kind == TALI_GENERATE_AXIAL;
    const tal_xform X_parent = parent != NULL ? parent->X_RL : TAL_XFORM_IDENTITY;
    const normal way = find_normal(turns ? link->X_RL : tal_xf_inv_mul(X_parent, link->X_RL));
    if (turns) {
        turn_frame(parent, way.beta, way.b);
    } else {
        add_move(link, turn(2, way.beta));
        add_move(link, shift(2, way.b));
    }
    add_move(link, shift(0, way.a));
    add_move(link, turn(0, way.alpha));
    link->X_RL = TAL_XFORM_IDENTITY;
    if (link->kind == TALI_GENERATE_AXIAL) {
        link->gamma += way.gamma;
        link->offset += way.d;
    } else {
        add_move(link, turn(2, way.gamma));
        add_move(link, shift(2, way.d));
    }
}

static bool has_children(const tali_generate_tree *tree, int i)
{
    for (int k = i + 1; k < tree->num_links; ++k) {
        if (tree->links[k].parent == i) return true;
    }
    return false;
}

static bool is_first_child(const tali_generate_tree *tree, int i)
{
    for (int k = 0; k < i; ++k) {
        if (tree->links[k].parent == tree->links[i].parent) return false;
    }
    return true;
}

// On Ground a constant turn costs nothing, but one that is added to q does.
static void place_base(tali_generate_link *link)
{
    if (link->parent >= 0 || link->kind != TALI_GENERATE_AXIAL) return;
    add_move(link, turn(2, link->gamma));
    add_move(link, shift(2, link->offset));
    link->gamma = link->offset = 0.0;
}

void tali_generate_place_frames(tali_generate_tree *tree)
{
    for (int i = 0; i < tree->num_links; ++i) {
        place_link(tree, i, is_first_child(tree, i));
        if (!has_children(tree, i)) place_tip(&tree->links[i]);
    }
    for (int i = 0; i < tree->num_links; ++i) {
        place_base(&tree->links[i]);
    }
    for (int i = 0; i < tree->num_links; ++i) {
        tali_generate_link *const link = &tree->links[i];
        link->mass = mass_in(tal_xf_inverse(link->X_RL), &link->mass);
        if (!has_children(tree, i) && link->kind == TALI_GENERATE_AXIAL) link->mass.h.y = 0.0;
    }
    for (int b = 1; b < tree->num_bodies; ++b) {
        const int i = tree->link_of[b];
        if (i < 0) continue;
        tree->X_LB[b] = tal_xf_inv_mul(tree->links[i].X_RL, tree->X_LB[b]);
    }
}

// The way of a link at q = 0, without its turn and its shift.
static tal_xform fixed_way(const tali_generate_link *link)
{
    tal_xform X = TAL_XFORM_IDENTITY;
    for (int k = 0; k < link->num_moves; ++k) {
        const tali_generate_move *const move = &link->moves[k];
        const tal_axis axis = move->axis == 0 ? TAL_AXIS_X : TAL_AXIS_Z;
        const tal_vec3 along = tal_v3_scale(move->distance, tal_v3_axis(axis));
        X = tal_xf_mul(X, move->is_turn ? tal_xf_from_R(tal_rotation_about(axis, move->angle))
                                        : tal_xf_from_p(along));
    }
    return X;
}

static tal_xform offset_way(const tali_generate_link *link)
{
    const tal_xform own =
        tal_xf(tal_rotation_about(TAL_AXIS_Z, link->gamma), tal_v3(0.0, 0.0, link->offset));
    return tal_xf_mul(fixed_way(link), own);
}

// The part of a link's mass that its own motion does not feel: on the axis of a pin; the second
// moments of a slider; the mass at the center of a ball.
static tali_generate_mass unfelt(const tali_generate_link *link)
{
    const tali_generate_mass *const all = &link->mass;
    tali_generate_mass it = {0};
    if (link->kind == TALI_GENERATE_BALL) {
        it.m = all->m;
    } else if (link->turn == 0.0) {
        it.J = all->J;
    } else if (link->shift == 0.0) {
        it.m = all->m;
        it.h.z = all->h.z;
        it.J.zz = all->J.zz;
    }
    return it;
}

void tali_generate_transfer(tali_generate_tree *tree)
{
    for (int i = tree->num_links - 1; i >= 0; --i) {
        tali_generate_link *const link = &tree->links[i];
        const tali_generate_mass moved = unfelt(link);
        link->mass.m -= moved.m;
        link->mass.h = tal_v3_sub(link->mass.h, moved.h);
        link->mass.J = tal_s3_sub(link->mass.J, moved.J);
        if (link->parent < 0) continue;
        const tali_generate_mass there = mass_in(offset_way(link), &moved);
        tali_generate_mass *const all = &tree->links[link->parent].mass;
        all->m += there.m;
        all->h = tal_v3_add(all->h, there.h);
        all->J = tal_s3_add(all->J, there.J);
    }
}
