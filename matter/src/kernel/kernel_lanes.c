// Forward dynamics of several States at once: the passes over lanes, and arrays that they work in.
//
// Given    q, u, f of each State, constants of the tree, forces on bodies
// Compute  udot of each                                    stage/stage_dynamics.c, steps 1, 2 and 4
//
// Source: the passes. This file and the kernels that it calls are compiled over lanes_numbers.h.
#include "alloc_internal.h"

#include "kernel/kernel_begin.h"
#include "kernel/kernel_set.h"
#include "kernel/lanes_internal.h"

#define FILL(file, passes) TALI_KERNEL(file)(passes);

void TALI_KERNEL(lanes)(tali_kernel_lanes *out);
void TALI_KERNEL(plain_sines)(int n, const plain angle[], plain s[], plain c[]);
void TALI_KERNEL(plain_sine)(const plain angle[], plain s[], plain c[], int n);

// What the passes work with. It begins the room; the arrays follow.
typedef struct workplace {
    tali_tree tree; // the same, with passes over lanes
    tali_passes passes;
    tali_matter_model model;
    tali_tree_view view;
    tali_tree_position position;
    tali_tree_velocity velocity;
    tali_tree_articulated articulated;
    tali_tree_constants *constants;
    tali_tree_composite *rigid;
    tali_weight *weights;
    tali_kernel_open_inertia *open_inertia;
    sv *open, *A;
    sv *F[TALI_KERNEL_NUM_LOADS];
    real *q, *u, *f, *e, *udot;
    int nq;
    bool has_gravity, has_A0;
    v3 g;
    bool has_load[TALI_KERNEL_NUM_LOADS]; // other than zero
} workplace;

// The arrays of a workplace at the room's end; the bytes of all. Where `room` is NULL only those.
static size_t lay_out(workplace *it, const tali_tree *tree, int nq, char *room)
{
    const size_t n = (size_t)tree->num_bodies, u = (size_t)tree->num_u + 1;
    const size_t slots = (size_t)tree->num_slots + 1, blocks = (size_t)tree->num_d + 1;
    const tali_piece pieces[] = {
        {&it->constants, n * sizeof *it->constants},
        {&it->position.pose, n * sizeof *it->position.pose},
        {&it->position.p_PM, n * sizeof *it->position.p_PM},
        {&it->position.H, u * sizeof *it->position.H},
        {&it->velocity.rates, n * sizeof *it->velocity.rates},
        {&it->rigid, n * sizeof *it->rigid},
        {&it->weights, n * sizeof *it->weights},
        {&it->articulated.G, u * sizeof *it->articulated.G},
        {&it->articulated.DI, blocks * sizeof *it->articulated.DI},
        {&it->open_inertia, slots * sizeof *it->open_inertia},
        {&it->open, slots * sizeof *it->open},
        {&it->F[TALI_KERNEL_LOADS_OF_ALL], n * sizeof *it->A},
        {&it->F[TALI_KERNEL_LOADS_OF_Q], n * sizeof *it->A},
        {&it->A, n * sizeof *it->A},
        {&it->q, ((size_t)nq + 1) * sizeof *it->q},
        {&it->u, u * sizeof *it->u},
        {&it->f, u * sizeof *it->f},
        {&it->e, u * sizeof *it->e},
        {&it->udot, u * sizeof *it->udot},
    };
    const size_t own = tali_align(sizeof *it);
    return own + tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0],
                                   room != NULL ? room + own : NULL);
}

static size_t lanes_size(const void *tree, int nq)
{
    workplace none;
    return lay_out(&none, tree, nq, NULL);
}

static void see_arrays(workplace *it)
{
    it->view = (tali_tree_view){.tree = &it->tree,
                                .passes = &it->passes,
                                .constants = it->constants,
                                .pose = it->position.pose,
                                .p_PM = it->position.p_PM,
                                .H = it->position.H,
                                .rigid = it->rigid,
                                .rates = it->velocity.rates,
                                .G = it->articulated.G,
                                .DI = it->articulated.DI,
                                .hinge = it->tree.hinge};
    it->velocity.has_A0 = &it->has_A0;
}

static void lanes_prepare(void *room, const void *tree, const void *model, int nq,
                          const tali_kernel_number constants[])
{
    workplace *const it = room;
    memset(it, 0, sizeof *it);
    it->tree = *(const tali_tree *)tree;
    it->tree.passes = &it->passes;
    it->model = *(const tali_matter_model *)model;
    it->nq = nq;
    (void)lay_out(it, &it->tree, nq, room);
    TALI_FOR_LANES(FILL, &it->passes)
    see_arrays(it);
    const size_t each = sizeof(tali_tree_constants) / sizeof(real);
    real *const numbers = (real *)(void *)it->constants;
    for (size_t i = 0; i < each * (size_t)it->tree.num_bodies; ++i) {
        numbers[i] = spread(constants[i]);
    }
    for (int b = 0; b < it->tree.num_bodies; ++b) {
        it->weights[b] = (tali_weight){it->constants[b].mc, it->constants[b].mass};
    }
}

static void lanes_set_gravity(void *room, const tali_kernel_number g[3])
{
    workplace *const it = room;
    it->g = (v3){spread(g[0]), spread(g[1]), spread(g[2])};
    it->has_gravity = g[0] != 0.0 || g[1] != 0.0 || g[2] != 0.0;
}

// The numbers of vectors one by one: that of a lane in vector i is at i * LANES + lane. Vectors are
// filled in memory, long before they are read: made of single numbers in a register, each would
// wait for the stores of its numbers.
static inline plain *numbers_of(void *vectors)
{
    return vectors;
}

// Numbers of one lane into as many vectors, and back.
static inline void fill_lane(int lane, int n, const tali_kernel_number from[], void *to)
{
    plain *const numbers = numbers_of(to);
    for (int i = 0; i < n; ++i) {
        numbers[i * LANES + lane] = from[i];
    }
}

static inline void read_lane(int lane, int n, const void *from, tali_kernel_number to[])
{
    const plain *const numbers = from;
    for (int i = 0; i < n; ++i) {
        to[i] = numbers[i * LANES + lane];
    }
}

// From rows to lanes; lanes without a row have the last one.
static void gather(int n, int size, const tali_kernel_number rows[], real out[])
{
    for (int lane = 0; lane < LANES; ++lane) {
        const size_t row = (size_t)(lane < n ? lane : n - 1);
        fill_lane(lane, size, rows + row * (size_t)size, out);
    }
}

static void scatter(int n, int size, const real from[], tali_kernel_number rows[])
{
    for (int lane = 0; lane < n; ++lane) {
        read_lane(lane, size, from, rows + (size_t)lane * (size_t)size);
    }
}

// --- the steps of a State's forward dynamics ---

static void place_and_move(workplace *it)
{
    it->passes.position(&it->tree, it->constants, &it->model, it->q, &it->position);
    it->passes.velocity(&it->view, it->u, true, &it->velocity);
}

static bool solve(workplace *it, const real f[], const sv F[])
{
    const tali_passes *const passes = &it->passes;
    passes->rigid(&it->view, it->rigid);
    const bool ok = passes->articulated(&it->view, &it->articulated, it->open_inertia);
    passes->inward_moving(&it->view, f, F, it->e, it->open);
    passes->outward(&it->view, it->e, it->udot, it->A);
    return ok;
}

static void clear_loads(workplace *it, int which)
{
    memset(it->F[which], 0, (size_t)it->tree.num_bodies * sizeof *it->F[which]);
}

// With the forces of gravity and those along speeds.
static bool lanes_forward(void *room, int n, const tali_kernel_number q[],
                          const tali_kernel_number u[], const tali_kernel_number f[],
                          tali_kernel_number udot[])
{
    workplace *const it = room;
    const tali_tree *const tree = &it->tree;
    sv *const F = it->F[TALI_KERNEL_LOADS_OF_Q];
    gather(n, it->nq, q, it->q);
    gather(n, tree->num_u, u, it->u);
    if (f != NULL) gather(n, tree->num_u, f, it->f);
    place_and_move(it);
    if (it->has_gravity) {
        clear_loads(it, TALI_KERNEL_LOADS_OF_Q);
        it->passes.weights(it->position.pose, tree->num_bodies, it->weights, it->g, F);
    }
    const bool ok = solve(it, f != NULL ? it->f : NULL, it->has_gravity ? F : NULL);
    scatter(n, tree->num_u, it->udot, udot);
    return ok;
}

// --- the same in steps ---

static void lanes_seat(void *room, int lane, const tali_kernel_number constants[])
{
    workplace *const it = room;
    const int each = (int)(sizeof(tali_tree_constants) / sizeof(real));
    fill_lane(lane, each * it->tree.num_bodies, constants, it->constants);
}

static void lanes_set_weights(void *room, int lane, const tali_kernel_number weights[],
                              const tali_kernel_number g[3])
{
    workplace *const it = room;
    fill_lane(lane, TALI_KERNEL_WEIGHT * it->tree.num_bodies, weights, it->weights);
    fill_lane(lane, 3, g, &it->g);
}

static void lanes_move(void *room, const tali_kernel_number *const y[], int q0, int u0)
{
    workplace *const it = room;
    for (int lane = 0; lane < LANES; ++lane) {
        fill_lane(lane, it->nq, y[lane] + q0, it->q);
        fill_lane(lane, it->tree.num_u, y[lane] + u0, it->u);
    }
    place_and_move(it);
    clear_loads(it, TALI_KERNEL_LOADS_OF_ALL);
    clear_loads(it, TALI_KERNEL_LOADS_OF_Q);
    it->has_load[TALI_KERNEL_LOADS_OF_ALL] = it->has_load[TALI_KERNEL_LOADS_OF_Q] = false;
}

static void lanes_look(const void *room, int lane, int body, tali_kernel_number X[],
                       tali_kernel_number V[])
{
    const workplace *const it = room;
    read_lane(lane, TALI_KERNEL_POSE, &it->position.pose[body], X);
    read_lane(lane, TALI_KERNEL_LOAD, &it->velocity.rates[body].V, V);
}

static void lanes_get_load(const void *room, int which, int lane, int body, tali_kernel_number F[])
{
    const workplace *const it = room;
    read_lane(lane, TALI_KERNEL_LOAD, &it->F[which][body], F);
}

static void lanes_set_load(void *room, int which, int lane, int body, const tali_kernel_number F[])
{
    workplace *const it = room;
    fill_lane(lane, TALI_KERNEL_LOAD, F, &it->F[which][body]);
    it->has_load[which] = true;
}

static void lanes_weigh(void *room)
{
    workplace *const it = room;
    sv *const F = it->F[TALI_KERNEL_LOADS_OF_Q];
    it->passes.weights(it->position.pose, it->tree.num_bodies, it->weights, it->g, F);
    it->has_load[TALI_KERNEL_LOADS_OF_Q] = true;
}

// The sum of all as a State has it. A sum that nothing was added to adds nothing, to the bit: no
// sum that begins with zero is -0.
static const sv *sum_loads(workplace *it)
{
    sv *const all = it->F[TALI_KERNEL_LOADS_OF_ALL], *const of_q = it->F[TALI_KERNEL_LOADS_OF_Q];
    if (!it->has_load[TALI_KERNEL_LOADS_OF_ALL]) return of_q;
    for (int b = 0; b < it->tree.num_bodies && it->has_load[TALI_KERNEL_LOADS_OF_Q]; ++b) {
        all[b] = (sv){tal_v3_add(all[b].w, of_q[b].w), tal_v3_add(all[b].v, of_q[b].v)};
    }
    return all;
}

static bool lanes_solve(void *room, const tali_kernel_number *const f[], int u0,
                        tali_kernel_number *const ydot[])
{
    workplace *const it = room;
    const int n = it->tree.num_u;
    for (int lane = 0; lane < LANES; ++lane) {
        fill_lane(lane, n, f[lane], it->f);
    }
    const bool ok = solve(it, it->f, sum_loads(it));
    for (int lane = 0; lane < LANES; ++lane) {
        read_lane(lane, n, it->udot, ydot[lane] + u0);
    }
    return ok;
}

// --- sines and cosines, by the functions of width 1 ---

static void lanes_sincos(int n, const real angle[], real s[], real c[])
{
    TALI_KERNEL(plain_sines)
    (n * LANES, (const plain *)(const void *)angle, (plain *)(void *)s, (plain *)(void *)c);
}

sine_cosine sincos_of(real x)
{
    sine_cosine turn;
    TALI_KERNEL(plain_sine)
    ((const plain *)&x, (plain *)&turn.s, (plain *)&turn.c, LANES);
    return turn;
}

void TALI_KERNEL(sincos)(tali_passes *out)
{
    out->sincos = lanes_sincos;
}

void TALI_KERNEL(lanes)(tali_kernel_lanes *out)
{
    *out = (tali_kernel_lanes){.width = LANES,
                               .size = lanes_size,
                               .prepare = lanes_prepare,
                               .set_gravity = lanes_set_gravity,
                               .forward = lanes_forward,
                               .seat = lanes_seat,
                               .set_weights = lanes_set_weights,
                               .move = lanes_move,
                               .look = lanes_look,
                               .get_load = lanes_get_load,
                               .set_load = lanes_set_load,
                               .weigh = lanes_weigh,
                               .solve = lanes_solve};
}
