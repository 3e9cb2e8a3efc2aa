// Formulation B: R_b, Sc_b and M_b body by body, and the equations of motion summed from them.
//
//     quantity                              GJB                  here
//     velocities of a body                  {gdot; w}            (w; gdot) about its mass center
//     columns for the joints between        R_b^i, 8.100-8.104   R
//     M_b R_b                                                    W
//     the base                              8.105                a tree's first body, see below
//
// The joint of the first body of a tree moves all others: its columns would be in every R_b. They
// are left out; instead, what the other columns give is summed about that body's origin, and
// multiplied with its hinge matrix once. A column of R has the same number in all bodies outboard
// of its joint: columns stand in the order of joints from Ground outward.
#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/matter/response.h>
#include <talus/matter/velocity_map.h>

#include <math.h>
#include <string.h>

typedef struct map_body {
    int root;              // the first body of its tree
    int u0, nu;            // its speeds
    int num;               // columns, without those of the root
    size_t first;          // of its columns
    size_t outboard;       // where the list of bodies outboard begins: itself first
    int num_outboard;      // how many
    double mass;           // of the State at hand, as all below
    tal_vec3 origin, com;  // from Ground's origin
    tal_sym3 J;            // about the mass center, in Ground
    bool is_diagonal;      // that was so in B
    tal_spatial_vec Sc, P; // M_b Sc + (w x J w, 0)
    tal_spatial_vec L;     // what acts on it, less P
} map_body;

struct tal_velocity_map {
    const tal_matter *matter;
    tal_allocator allocator;
    tal_executor executor;
    int num_bodies, nu;
    bool has_values;
    size_t num_columns;
    map_body *bodies;       // [num_bodies]
    int *outboard;          // bodies
    int *speed;             // [num_columns] to which a column belongs
    tal_spatial_vec *R, *W; // [num_columns]
    tal_spatial_vec *H;     // [nu] about the origins of bodies
    double *rotor;          // [nu]
    tal_spatial_vec *A;     // [num_bodies] room
    void *block;
    size_t block_bytes;
};

// --- creation ---

// Whose columns are where, and how many there are of everything.
static void count_columns(tal_velocity_map *it, size_t *num_outboard)
{
    *num_outboard = 0;
    it->num_columns = 0;
    for (int b = 1; b < it->num_bodies; ++b) {
        const int parent = tal_body_parent(it->matter, (tal_body_ix){b}).i;
        map_body *body = &it->bodies[b];
        body->u0 = tal_body_u_start(it->matter, (tal_body_ix){b});
        body->nu = tal_body_nu(it->matter, (tal_body_ix){b});
        body->root = parent == 0 ? b : it->bodies[parent].root;
        body->num = parent == 0 ? 0 : it->bodies[parent].num + body->nu;
        body->first = it->num_columns;
        it->num_columns += (size_t)body->num;
        for (int a = b; a > 0; a = tal_body_parent(it->matter, (tal_body_ix){a}).i) {
            ++it->bodies[a].num_outboard;
            ++*num_outboard;
        }
    }
}

// The lists: bodies outboard of each, in order, and the speeds of columns.
static void fill_lists(tal_velocity_map *it)
{
    size_t end = 0;
    for (int b = 1; b < it->num_bodies; ++b) {
        it->bodies[b].outboard = end;
        end += (size_t)it->bodies[b].num_outboard;
        it->bodies[b].num_outboard = 0;
    }
    for (int b = 1; b < it->num_bodies; ++b) {
        const map_body *body = &it->bodies[b];
        int *speed = it->speed + body->first + body->num;
        for (int a = b; a > 0; a = tal_body_parent(it->matter, (tal_body_ix){a}).i) {
            map_body *joint = &it->bodies[a];
            it->outboard[joint->outboard + (size_t)joint->num_outboard++] = b;
            for (int k = joint->nu - 1; k >= 0 && a != body->root; --k) {
                *--speed = joint->u0 + k;
            }
        }
    }
}

// Columns and lists of bodies in one block, and what is in the lists.
static tal_status lay_out(tal_velocity_map *it, tal_error *err)
{
    size_t num_outboard = 0;
    it->bodies = tali_alloc(&it->allocator, (size_t)it->num_bodies * sizeof *it->bodies);
    if (it->bodies == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a velocity map");
    }
    count_columns(it, &num_outboard);
    const tali_piece pieces[] = {
        {&it->outboard, num_outboard * sizeof *it->outboard},
        {&it->speed, it->num_columns * sizeof *it->speed},
        {&it->R, it->num_columns * sizeof *it->R},
        {&it->W, it->num_columns * sizeof *it->W},
        {&it->H, (size_t)it->nu * sizeof *it->H},
        {&it->rotor, (size_t)it->nu * sizeof *it->rotor},
        {&it->A, (size_t)it->num_bodies * sizeof *it->A},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY,
                         "no memory for the %zu columns of a velocity map: bodies times the speeds "
                         "between Ground and each",
                         it->num_columns);
    }
    fill_lists(it);
    return TAL_OK;
}

// Below this many columns, handing out work costs more than it saves.
static const size_t WORTH_SHARING = 2048;

tal_status tal_velocity_map_create(const tal_matter *matter, const tal_executor *executor,
                                   tal_velocity_map **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (matter == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "matter is NULL");
    const tal_system *system = tal_matter_system(matter);
    if (!tal_system_has_topology(system)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY,
                         "System '%s' is not realized: call tal_system_realize_topology() first",
                         tal_system_name(system));
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_velocity_map *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a velocity map");
    it->matter = matter;
    it->allocator = allocator;
    it->num_bodies = tal_matter_num_bodies(matter);
    it->nu = tal_matter_nu(matter);
    const tal_status st = lay_out(it, err);
    if (st != TAL_OK) {
        tal_velocity_map_destroy(it);
        return st;
    }
    const bool is_shared = executor != NULL && it->num_columns >= WORTH_SHARING;
    it->executor = is_shared ? *executor : tal_executor_in_order();
    *out = it;
    return TAL_OK;
}

void tal_velocity_map_destroy(tal_velocity_map *map)
{
    if (map == NULL) return;
    const tal_allocator allocator = map->allocator;
    tali_free(&allocator, map->block, map->block_bytes);
    tali_free(&allocator, map->bodies, (size_t)map->num_bodies * sizeof *map->bodies);
    tali_free(&allocator, map, sizeof *map);
}

// --- R, Sc, M_b ---

static bool is_slide(tal_spatial_vec V)
{
    return V.w.x == 0.0 && V.w.y == 0.0 && V.w.z == 0.0;
}

static bool is_turn(tal_spatial_vec V)
{
    return V.v.x == 0.0 && V.v.y == 0.0 && V.v.z == 0.0;
}

// A J A^T with the axes of the body as columns of A, as the part beyond J_zz 1: that needs two axes
// where J is diagonal.
static tal_sym3 turned_inertia(tal_mat3 A, tal_sym3 J, bool is_diagonal)
{
    const tal_sym3 round = tal_s3_diag(J.zz, J.zz, J.zz);
    if (is_diagonal) {
        const tal_vec3 x = tal_v3_scale(J.xx - J.zz, A.x), y = tal_v3_scale(J.yy - J.zz, A.y);
        const tal_sym3 flat = {x.x * A.x.x + y.x * A.y.x, x.y * A.x.y + y.y * A.y.y,
                               x.z * A.x.z + y.z * A.y.z, x.x * A.x.y + y.x * A.y.y,
                               x.x * A.x.z + y.x * A.y.z, x.y * A.x.z + y.y * A.y.z};
        return tal_s3_add(flat, round);
    }
    return tal_s3_add(tal_s3_congruence(A, tal_s3_sub(J, round)), round);
}

// M_b V
static tal_spatial_vec momentum(const map_body *body, tal_spatial_vec V)
{
    const tal_vec3 p = tal_v3_scale(body->mass, V.v);
    return tal_sv(is_slide(V) ? TAL_VEC3_ZERO : tal_s3_mul_v3(body->J, V.w), p);
}

// What a body is at a State: places, hinge columns, inertia.
static tal_status read_body(tal_velocity_map *it, const tal_state *state, int b)
{
    const tal_body_ix ix = {b};
    map_body *body = &it->bodies[b];
    const tal_xform X = tal_body_X_GB(it->matter, state, ix);
    const tal_mass_props props = tal_body_mass_props(it->matter, state, ix);
    const tal_sym3 shift = tal_s3_scale(props.mass, tal_s3_cross_square(props.com));
    const tal_sym3 J = tal_s3_sub(props.inertia, shift);
    body->mass = props.mass;
    body->origin = X.p;
    body->com = tal_v3_add(X.p, tal_m3_mul_v3(X.R, props.com));
    body->is_diagonal = J.xy == 0.0 && J.xz == 0.0 && J.yz == 0.0;
    body->J = turned_inertia(X.R, J, body->is_diagonal);
    if (body->nu == 0) return TAL_OK;
    if (body->nu == 1) it->rotor[body->u0] = tal_body_rotor_inertia(it->matter, state, ix);
    return tal_body_H(it->matter, state, ix, TAL_H_PB_G, it->H + body->u0);
}

// Sc and what the bodies' own motion takes.
static void calc_bias(tal_velocity_map *it, const tal_state *state, int b)
{
    map_body *body = &it->bodies[b];
    const tal_vec3 w = tal_body_V_GB(it->matter, state, (tal_body_ix){b}).w;
    const tal_vec3 arm = tal_v3_sub(body->com, body->origin);
    body->Sc = tal_sv_shift_acceleration(it->A[b], w, arm);
    body->P = tal_sv(
        tal_v3_add(tal_s3_mul_v3(body->J, body->Sc.w), tal_v3_cross(w, tal_s3_mul_v3(body->J, w))),
        tal_v3_scale(body->mass, body->Sc.v));
}

// Columns of a body, from those of hinges inboard (GJB eq. 8.100 to 8.104), and M_b times them.
static void calc_columns(void *work, int i)
{
    tal_velocity_map *it = work;
    const int b = i + 1;
    const map_body *body = &it->bodies[b];
    size_t at = body->first + (size_t)body->num;
    for (int a = b; a != body->root; a = tal_body_parent(it->matter, (tal_body_ix){a}).i) {
        const map_body *joint = &it->bodies[a];
        const tal_vec3 arm = tal_v3_sub(body->com, joint->origin);
        for (int k = joint->nu - 1; k >= 0; --k) {
            const tal_spatial_vec H = it->H[joint->u0 + k];
            --at;
            it->R[at] = is_slide(H) ? H : tal_sv_shift_motion(H, arm);
            it->W[at] = momentum(body, it->R[at]);
        }
    }
}

static tal_status check_map(const tal_velocity_map *map, const char *where)
{
    if (map == NULL) return tali_breach(TAL_ERR_NULL, where, "the velocity map is NULL");
    if (map->has_values) return TAL_OK;
    return tali_breach(TAL_ERR_STAGE, where,
                       "the map has no values: call tal_velocity_map_calc() first");
}

// Reads the State, then computes the columns of bodies as tasks.
tal_status tal_velocity_map_calc(tal_velocity_map *map, tal_state *state)
{
    if (map == NULL || state == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the velocity map or the State is NULL");
    }
    map->has_values = false;
    tal_status st = tal_matter_calc_J_bias(map->matter, state, map->A); // checks the State
    memset(map->rotor, 0, (size_t)map->nu * sizeof *map->rotor);
    for (int b = 1; b < map->num_bodies && st == TAL_OK; ++b) {
        st = read_body(map, state, b);
        calc_bias(map, state, b);
    }
    if (st != TAL_OK) return st;
    map->executor.run(map->executor.context, calc_columns, map, map->num_bodies - 1);
    map->has_values = true;
    return TAL_OK;
}

// --- sums over bodies ---

typedef struct map_sum {
    const tal_velocity_map *map;
    tal_matrix M;
    double *Q;
} map_sum;

static double *entry(tal_matrix M, int i, int j)
{
    return M.data + (size_t)i + (size_t)j * (size_t)M.ld;
}

// V . F, without the half that is zero: of sliding joints, and of turns about a body's own origin.
static double power(tal_spatial_vec V, tal_spatial_vec F)
{
    if (is_slide(V) || is_slide(F)) return tal_v3_dot(V.v, F.v);
    if (is_turn(V)) return tal_v3_dot(V.w, F.w);
    return tal_sv_dot(V, F);
}

// Between the speeds of a tree's first body: its inertia with all that it carries.
static void sum_root(const map_sum *sum, const map_body *root)
{
    const tal_velocity_map *it = sum->map;
    double mass = 0.0;
    tal_vec3 first = TAL_VEC3_ZERO; // moment of mass about the origin
    tal_sym3 J = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < root->num_outboard; ++i) {
        const map_body *body = &it->bodies[it->outboard[root->outboard + (size_t)i]];
        const tal_vec3 arm = tal_v3_sub(body->com, root->origin);
        mass += body->mass;
        first = tal_v3_axpy(body->mass, arm, first);
        J = tal_s3_add(J, tal_s3_add(body->J, tal_s3_scale(body->mass, tal_s3_cross_square(arm))));
    }
    for (int k = root->u0; k < root->u0 + root->nu; ++k) {
        const tal_spatial_vec V = it->H[k];
        const tal_spatial_vec F =
            tal_sv(tal_v3_add(tal_s3_mul_v3(J, V.w), tal_v3_cross(first, V.v)),
                   tal_v3_sub(tal_v3_scale(mass, V.v), tal_v3_cross(first, V.w)));
        for (int l = root->u0; l <= k; ++l) {
            *entry(sum->M, k, l) = *entry(sum->M, l, k) = power(it->H[l], F);
        }
    }
}

// M between one column and those inboard: over all bodies outboard of its joint, in their order.
static void sum_column(const map_sum *sum, const map_body *joint, int k)
{
    const tal_velocity_map *it = sum->map;
    const map_body *root = &it->bodies[joint->root];
    const int *speed = it->speed + joint->first;
    tal_spatial_vec at_root = TAL_SPATIAL_VEC_ZERO;
    for (int i = 0; i < joint->num_outboard; ++i) {
        const map_body *body = &it->bodies[it->outboard[joint->outboard + (size_t)i]];
        const tal_spatial_vec R = it->R[body->first + (size_t)k];
        const tal_spatial_vec *W = it->W + body->first;
        for (int l = 0; l <= k; ++l) {
            *entry(sum->M, speed[l], speed[k]) += power(R, W[l]);
        }
        const tal_vec3 arm = tal_v3_sub(body->com, root->origin);
        at_root = tal_sv_add(at_root, tal_sv_shift_force(W[k], arm));
    }
    for (int l = 0; l < k; ++l) {
        *entry(sum->M, speed[k], speed[l]) = *entry(sum->M, speed[l], speed[k]);
    }
    for (int r = root->u0; r < root->u0 + root->nu; ++r) {
        *entry(sum->M, r, speed[k]) = *entry(sum->M, speed[k], r) = power(it->H[r], at_root);
    }
}

static void sum_M(void *work, int i)
{
    const map_sum *sum = work;
    const map_body *joint = &sum->map->bodies[i + 1];
    if (joint->root == i + 1) {
        sum_root(sum, joint);
    } else {
        for (int k = joint->num - joint->nu; k < joint->num; ++k) {
            sum_column(sum, joint, k);
        }
    }
    for (int k = joint->u0; k < joint->u0 + joint->nu; ++k) {
        *entry(sum->M, k, k) += sum->map->rotor[k];
    }
}

tal_status tal_velocity_map_calc_M(const tal_velocity_map *map, tal_matrix M)
{
    const tal_status st = check_map(map, __func__);
    if (st != TAL_OK) return st;
    if (M.data == NULL || M.rows != map->nu || M.cols != map->nu || M.ld < map->nu) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "the matrix must be %d x %d", map->nu, map->nu);
    }
    for (int j = 0; j < map->nu; ++j) {
        memset(entry(M, 0, j), 0, (size_t)map->nu * sizeof *M.data);
    }
    map_sum sum = {.map = map, .M = M};
    map->executor.run(map->executor.context, sum_M, &sum, map->num_bodies - 1);
    return TAL_OK;
}

// Q along the speeds of one body's joint: a column of each body outboard times what acts on it; of
// a root, all of that about its origin times its own columns.
static void sum_Q(void *work, int i)
{
    const map_sum *sum = work;
    const tal_velocity_map *it = sum->map;
    const map_body *joint = &it->bodies[i + 1];
    const int *outboard = it->outboard + joint->outboard;
    if (joint->root == i + 1) {
        tal_spatial_vec L = TAL_SPATIAL_VEC_ZERO;
        for (int n = 0; n < joint->num_outboard; ++n) {
            const map_body *body = &it->bodies[outboard[n]];
            const tal_vec3 arm = tal_v3_sub(body->com, joint->origin);
            L = tal_sv_add(L, tal_sv_shift_force(body->L, arm));
        }
        for (int k = joint->u0; k < joint->u0 + joint->nu; ++k) {
            sum->Q[k] += power(it->H[k], L);
        }
        return;
    }
    for (int k = 0; k < joint->nu; ++k) {
        const size_t column = (size_t)(joint->num - joint->nu + k);
        for (int n = 0; n < joint->num_outboard; ++n) {
            const map_body *body = &it->bodies[outboard[n]];
            sum->Q[joint->u0 + k] += power(it->R[body->first + column], body->L);
        }
    }
}

tal_status tal_velocity_map_calc_Q(tal_velocity_map *map, const tal_spatial_vec F_GB[],
                                   const double f[], double Q[])
{
    const tal_status st = check_map(map, __func__);
    if (st != TAL_OK) return st;
    if (F_GB == NULL || ((f == NULL || Q == NULL) && map->nu > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL");
    }
    if (map->nu > 0) memmove(Q, f, (size_t)map->nu * sizeof *Q);
    for (int b = 1; b < map->num_bodies; ++b) {
        map_body *body = &map->bodies[b];
        const tal_vec3 arm = tal_v3_sub(body->origin, body->com);
        body->L = tal_sv_sub(tal_sv_shift_force(F_GB[b], arm), body->P);
    }
    map_sum sum = {.map = map, .Q = Q};
    map->executor.run(map->executor.context, sum_Q, &sum, map->num_bodies - 1);
    return TAL_OK;
}

// --- reading ---

static const map_body *body_at(const tal_velocity_map *map, tal_body_ix body, const char *where)
{
    if (map == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the velocity map is NULL");
        return NULL;
    }
    if (body.i >= 0 && body.i < map->num_bodies) return &map->bodies[body.i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no body %d", body.i);
    return NULL;
}

// Columns of the root's joint, which are not stored. Ground's root is itself, without speeds.
static const map_body *root_of(const tal_velocity_map *map, const map_body *body)
{
    return &map->bodies[body->root];
}

int tal_velocity_map_num_columns(const tal_velocity_map *map, tal_body_ix body)
{
    const map_body *it = body_at(map, body, __func__);
    return it != NULL ? root_of(map, it)->nu + it->num : -1;
}

tal_status tal_velocity_map_columns(const tal_velocity_map *map, tal_body_ix body, int speeds[])
{
    const map_body *it = body_at(map, body, __func__);
    if (it == NULL) return map == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX;
    const map_body *root = root_of(map, it);
    if (root->nu + it->num == 0) return TAL_OK;
    if (speeds == NULL) return TALI_BREACH(TAL_ERR_NULL, "'speeds' is NULL");
    for (int k = 0; k < root->nu; ++k) {
        speeds[k] = root->u0 + k;
    }
    memcpy(speeds + root->nu, map->speed + it->first, (size_t)it->num * sizeof *speeds);
    return TAL_OK;
}

tal_status tal_velocity_map_read_R(const tal_velocity_map *map, tal_body_ix body,
                                   tal_spatial_vec R[])
{
    const tal_status st = check_map(map, __func__);
    if (st != TAL_OK) return st;
    const map_body *it = body_at(map, body, __func__);
    if (it == NULL) return TAL_ERR_BAD_INDEX;
    const map_body *root = root_of(map, it);
    if (root->nu + it->num == 0) return TAL_OK;
    if (R == NULL) return TALI_BREACH(TAL_ERR_NULL, "'R' is NULL");
    const tal_vec3 arm = tal_v3_sub(it->com, root->origin);
    for (int k = 0; k < root->nu; ++k) {
        R[k] = tal_sv_shift_motion(map->H[root->u0 + k], arm);
    }
    memcpy(R + root->nu, map->R + it->first, (size_t)it->num * sizeof *R);
    return TAL_OK;
}

tal_spatial_vec tal_velocity_map_Sc(const tal_velocity_map *map, tal_body_ix body)
{
    const tal_vec3 none = tal_v3((double)NAN, (double)NAN, (double)NAN);
    if (check_map(map, __func__) != TAL_OK) return tal_sv(none, none);
    const map_body *it = body_at(map, body, __func__);
    return it != NULL ? it->Sc : tal_sv(none, none);
}

// --- counts ---

static void add_count(tal_velocity_map_count *sum, int multiplications, int additions)
{
    sum->multiplications += multiplications;
    sum->additions += additions;
}

// Of one column of a body: of the pairs with columns inboard, the sliding ones have no moment.
static void count_column(const tal_velocity_map *it, const map_body *body, int k,
                         tal_velocity_map_counts *out)
{
    const tal_spatial_vec *R = it->R + body->first;
    const bool slides = is_slide(R[k]);
    if (!slides) add_count(&out->R, 6, 9);               // H.v + w x arm, and the arm
    add_count(&out->M, slides ? 3 : 12, slides ? 0 : 6); // W
    add_count(&out->M, 6, 15);                           // about the root, and the sum
    add_count(&out->Q, slides ? 3 : 6, slides ? 3 : 6);
    for (int l = 0; l <= k; ++l) {
        const bool is_short = slides || is_slide(R[l]);
        add_count(&out->M, is_short ? 3 : 6, is_short ? 3 : 6); // the product, and the sum
    }
}

// Of a body's speeds with those of its root.
static void count_products(const tal_velocity_map *it, const map_body *body,
                           tal_velocity_map_count *sum)
{
    const map_body *root = root_of(it, body);
    for (int r = root->u0; r < root->u0 + root->nu; ++r) {
        const bool is_short = is_slide(it->H[r]) || is_turn(it->H[r]);
        add_count(sum, (is_short ? 3 : 6) * body->nu, (is_short ? 2 : 5) * body->nu);
    }
}

tal_velocity_map_counts tal_velocity_map_operations(const tal_velocity_map *map)
{
    tal_velocity_map_counts out = {.R = {0, 0}};
    if (check_map(map, __func__) != TAL_OK) return out;
    for (int b = 1; b < map->num_bodies; ++b) {
        const map_body *body = &map->bodies[b];
        const int moments = body->is_diagonal ? 18 : 45; // A J A^T
        add_count(&out.inertia, moments + 15 + 12, (body->is_diagonal ? 11 : 33) + 9 + 9);
        add_count(&out.M, 12, 24); // the inertia that the root carries
        add_count(&out.Q, 12, 18); // F about the mass center, less P, and about the root
        for (int k = 0; k < body->num; ++k) {
            count_column(map, body, k, &out);
        }
        count_products(map, body, &out.M);
    }
    return out;
}
