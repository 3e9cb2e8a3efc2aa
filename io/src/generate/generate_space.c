// Vectors of expressions, and the steps between frames.
#include "generate/generate_internal.h"

// Short names for this file's arithmetic.
#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul

typedef tali_generate_v3 v3;

v3 tali_generate_constant_v3(tali_graph *g, tal_vec3 v)
{
    return (v3){
        {tali_graph_constant(g, v.x), tali_graph_constant(g, v.y), tali_graph_constant(g, v.z)}};
}

v3 tali_generate_add_v3(tali_graph *g, v3 a, v3 b)
{
    return (v3){{add(g, a.at[0], b.at[0]), add(g, a.at[1], b.at[1]), add(g, a.at[2], b.at[2])}};
}

v3 tali_generate_sub_v3(tali_graph *g, v3 a, v3 b)
{
    return (v3){{sub(g, a.at[0], b.at[0]), sub(g, a.at[1], b.at[1]), sub(g, a.at[2], b.at[2])}};
}

v3 tali_generate_scale_v3(tali_graph *g, int s, v3 a)
{
    return (v3){{mul(g, s, a.at[0]), mul(g, s, a.at[1]), mul(g, s, a.at[2])}};
}

v3 tali_generate_cross(tali_graph *g, v3 a, v3 b)
{
    v3 out;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out.at[i] = sub(g, mul(g, a.at[j], b.at[k]), mul(g, a.at[k], b.at[j]));
    }
    return out;
}

int tali_generate_dot(tali_graph *g, v3 a, v3 b)
{
    const int xy = add(g, mul(g, a.at[0], b.at[0]), mul(g, a.at[1], b.at[1]));
    return add(g, xy, mul(g, a.at[2], b.at[2]));
}

v3 tali_generate_mul_m3(tali_graph *g, const tali_generate_m3 *A, v3 v)
{
    v3 out;
    for (int i = 0; i < 3; ++i) {
        out.at[i] = tali_generate_dot(g, (v3){{A->at[i][0], A->at[i][1], A->at[i][2]}}, v);
    }
    return out;
}

v3 tali_generate_tmul_m3(tali_graph *g, const tali_generate_m3 *A, v3 v)
{
    v3 out;
    for (int i = 0; i < 3; ++i) {
        out.at[i] = tali_generate_dot(g, (v3){{A->at[0][i], A->at[1][i], A->at[2][i]}}, v);
    }
    return out;
}

// ---- steps --------------------------------------------------------------------------------------

// v about an axis by an angle with this cosine and sine.
static v3 turned(tali_graph *g, int axis, int c, int s, v3 v)
{
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    v3 out = v;
    out.at[i] = sub(g, mul(g, c, v.at[i]), mul(g, s, v.at[j]));
    out.at[j] = add(g, mul(g, s, v.at[i]), mul(g, c, v.at[j]));
    return out;
}

v3 tali_generate_outward(tali_graph *g, const tali_generate_step *step, v3 v)
{
    switch (step->kind) {
    case TALI_GENERATE_SHIFT:
        return v;
    case TALI_GENERATE_TURN:
        return turned(g, step->axis, step->cos, tali_generate_neg(g, step->sin), v);
    case TALI_GENERATE_ROTATE:
        break;
    }
    return tali_generate_tmul_m3(g, &step->R, v);
}

v3 tali_generate_inward(tali_graph *g, const tali_generate_step *step, v3 v)
{
    switch (step->kind) {
    case TALI_GENERATE_SHIFT:
        return v;
    case TALI_GENERATE_TURN:
        return turned(g, step->axis, step->cos, step->sin, v);
    case TALI_GENERATE_ROTATE:
        break;
    }
    return tali_generate_mul_m3(g, &step->R, v);
}

void tali_generate_force_to_parent(tali_graph *g, const tali_generate_way *way, v3 *n, v3 *f)
{
    for (int k = way->num - 1; k >= 0; --k) {
        const tali_generate_step *const step = &way->steps[k];
        if (step->kind == TALI_GENERATE_SHIFT) { // n += d x f
            const int i = (step->axis + 1) % 3, j = (step->axis + 2) % 3, d = step->distance;
            n->at[i] = sub(g, n->at[i], mul(g, d, f->at[j]));
            n->at[j] = add(g, n->at[j], mul(g, d, f->at[i]));
        } else {
            *n = tali_generate_inward(g, step, *n);
            *f = tali_generate_inward(g, step, *f);
        }
    }
}

// ---- ways ---------------------------------------------------------------------------------------

static tali_generate_step turn_by(int axis, int c, int s)
{
    return (tali_generate_step){.kind = TALI_GENERATE_TURN, .axis = axis, .cos = c, .sin = s};
}

static tali_generate_step shift_by(int axis, int distance)
{
    return (tali_generate_step){.kind = TALI_GENERATE_SHIFT, .axis = axis, .distance = distance};
}

static tali_generate_step constant_step(tali_graph *g, const tali_generate_move *move)
{
    if (!move->is_turn) return shift_by(move->axis, tali_graph_constant(g, move->distance));
    return turn_by(move->axis, tali_graph_constant(g, move->cos),
                   tali_graph_constant(g, move->sin));
}

// The turn of a joint by q and a constant angle: a quarter turn is done by exchanging the two, any
// other angle is added to q.
static tali_generate_step own_turn(tali_graph *g, const tali_generate_link *link, int q)
{
    const double quarters = link->gamma / 1.57079632679489661923;
    const double whole = (double)(long)(quarters + (quarters < 0.0 ? -0.5 : 0.5));
    const double rest = quarters - whole;
    const bool is_quarters = rest < 1e-15 && rest > -1e-15;
    if (!is_quarters) q = add(g, q, tali_graph_constant(g, link->gamma));
    int c = tali_graph_make(g, TALI_GRAPH_COS, q, 0), s = tali_graph_make(g, TALI_GRAPH_SIN, q, 0);
    const int times = is_quarters ? (((int)whole % 4) + 4) % 4 : 0;
    for (int k = 0; k < times; ++k) {
        const int was = c;
        c = tali_generate_neg(g, s), s = was;
    }
    return turn_by(2, c, s);
}

// The rotation of a unit quaternion, w first.
static tali_generate_m3 rotation_of(tali_graph *g, const int q[4])
{
    const int two = tali_graph_constant(g, 2.0), one = TALI_GRAPH_ONE;
    tali_generate_m3 R;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const int a = q[1 + i], b = q[1 + j], c = q[1 + k], w = q[0];
        const int ab = mul(g, a, b), wc = mul(g, w, c);
        R.at[i][i] = sub(g, one, mul(g, two, add(g, mul(g, b, b), mul(g, c, c))));
        R.at[i][j] = mul(g, two, sub(g, ab, wc));
        R.at[j][i] = mul(g, two, add(g, ab, wc));
    }
    return R;
}

// Body-fixed turns about x, y, z, as columns turned from the inside out.
static tali_generate_m3 rotation_of_angles(tali_graph *g, const int q[3])
{
    tali_generate_m3 R;
    for (int i = 0; i < 3; ++i) {
        v3 column = TALI_GENERATE_ZERO_V3;
        column.at[i] = TALI_GRAPH_ONE;
        for (int axis = 2; axis >= 0; --axis) {
            column = turned(g, axis, tali_graph_make(g, TALI_GRAPH_COS, q[axis], 0),
                            tali_graph_make(g, TALI_GRAPH_SIN, q[axis], 0), column);
        }
        for (int k = 0; k < 3; ++k) {
            R.at[k][i] = column.at[k];
        }
    }
    return R;
}

static tali_generate_m3 ball_rotation(tali_graph *g, const tali_generate_link *link, const int q[])
{
    tali_generate_m3 R =
        link->has_angles ? rotation_of_angles(g, &q[link->q]) : rotation_of(g, &q[link->q]);
    for (int i = 0; i < 3 && link->is_reversed; ++i) {
        for (int k = 0; k < i; ++k) {
            const int swap = R.at[i][k];
            R.at[i][k] = R.at[k][i], R.at[k][i] = swap;
        }
    }
    return R;
}

static tali_generate_way way_of(tali_graph *g, const tali_generate_link *link, const int q[])
{
    tali_generate_way way = {.num = link->num_moves, .num_fixed = link->num_moves};
    for (int k = 0; k < link->num_moves; ++k) {
        way.steps[k] = constant_step(g, &link->moves[k]);
    }
    if (link->kind == TALI_GENERATE_BALL) {
        way.steps[way.num++] =
            (tali_generate_step){.kind = TALI_GENERATE_ROTATE, .R = ball_rotation(g, link, q)};
        return way;
    }
    const int own = q[link->q];
    const int turn = mul(g, tali_graph_constant(g, link->sign * link->turn), own);
    const int shift = mul(g, tali_graph_constant(g, link->sign * link->shift), own);
    if (link->turn != 0.0 || link->gamma != 0.0) way.steps[way.num++] = own_turn(g, link, turn);
    if (link->shift != 0.0 || link->offset != 0.0) {
        const int all = add(g, shift, tali_graph_constant(g, link->offset));
        way.steps[way.num++] = shift_by(2, all);
    }
    return way;
}

bool tali_generate_begin(tali_generate_record *it)
{
    const size_t n = (size_t)it->tree->num_links;
    it->ways = tali_alloc(&it->allocator, n * sizeof *it->ways);
    if (it->ways == NULL) return false;
    for (size_t i = 0; i < n; ++i) {
        it->ways[i] = way_of(it->g, &it->tree->links[i], it->q);
    }
    return true;
}

void tali_generate_end(tali_generate_record *it)
{
    tali_free(&it->allocator, it->ways, (size_t)it->tree->num_links * sizeof *it->ways);
}

// ---- where links are ----------------------------------------------------------------------------

// R_GB = R_GA R_AB by the rows of R_GA, each taken outward.
static tali_generate_pose behind(tali_graph *g, tali_generate_pose at,
                                 const tali_generate_step *step)
{
    if (step->kind == TALI_GENERATE_ROTATE) {
        at.R = tali_generate_mul_rotations(g, &at.R, &step->R);
        return at;
    }
    for (int i = 0; i < 3; ++i) {
        const v3 row = {{at.R.at[i][0], at.R.at[i][1], at.R.at[i][2]}};
        const v3 next = tali_generate_outward(g, step, row);
        for (int k = 0; k < 3; ++k) {
            at.R.at[i][k] = next.at[k];
        }
        if (step->kind == TALI_GENERATE_SHIFT) {
            at.p.at[i] = tali_generate_fma(g, at.p.at[i], step->distance, row.at[step->axis]);
        }
    }
    return at;
}

void tali_generate_poses(const tali_generate_record *it, tali_generate_pose poses[])
{
    const tali_generate_pose ground = {
        .R = {{{TALI_GRAPH_ONE, 0, 0}, {0, TALI_GRAPH_ONE, 0}, {0, 0, TALI_GRAPH_ONE}}}};
    for (int i = 0; i < it->tree->num_links; ++i) {
        const int parent = it->tree->links[i].parent;
        tali_generate_pose at = parent < 0 ? ground : poses[parent];
        for (int k = 0; k < it->ways[i].num; ++k) {
            at = behind(it->g, at, &it->ways[i].steps[k]);
        }
        poses[i] = at;
    }
}
