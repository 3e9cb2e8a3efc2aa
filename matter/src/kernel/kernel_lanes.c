// Forward dynamics of several States at once: the passes over lanes, and arrays that they work in.
//
// Given    q, u, f of each State, and constants of the tree
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
    sv *open, *F, *A;
    real *q, *u, *f, *e, *udot;
    int nq;
    bool has_gravity, has_A0;
    v3 g;
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
        {&it->F, n * sizeof *it->F},
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

// From rows to lanes; lanes without a row have the last one.
static void gather(int n, int size, const tali_kernel_number rows[], real out[])
{
    for (int i = 0; i < size; ++i) {
        real x = spread(0.0);
        for (int lane = 0; lane < LANES; ++lane) {
            x[lane] = rows[(size_t)(lane < n ? lane : n - 1) * (size_t)size + (size_t)i];
        }
        out[i] = x;
    }
}

static void scatter(int n, int size, const real from[], tali_kernel_number rows[])
{
    for (int i = 0; i < size; ++i) {
        for (int lane = 0; lane < n; ++lane) {
            rows[(size_t)lane * (size_t)size + (size_t)i] = from[i][lane];
        }
    }
}

// The steps of a State's forward dynamics, with the forces of gravity and those along speeds.
static bool lanes_forward(void *room, int n, const tali_kernel_number q[],
                          const tali_kernel_number u[], const tali_kernel_number f[],
                          tali_kernel_number udot[])
{
    workplace *const it = room;
    const tali_tree *const tree = &it->tree;
    const tali_passes *const passes = &it->passes;
    gather(n, it->nq, q, it->q);
    gather(n, tree->num_u, u, it->u);
    if (f != NULL) gather(n, tree->num_u, f, it->f);
    passes->position(tree, it->constants, &it->model, it->q, &it->position);
    passes->velocity(&it->view, it->u, true, &it->velocity);
    passes->rigid(&it->view, it->rigid);
    const bool ok = passes->articulated(&it->view, &it->articulated, it->open_inertia);
    if (it->has_gravity) {
        memset(it->F, 0, (size_t)tree->num_bodies * sizeof *it->F);
        passes->weights(it->position.pose, tree->num_bodies, it->weights, it->g, it->F);
    }
    passes->inward_moving(&it->view, f != NULL ? it->f : NULL, it->has_gravity ? it->F : NULL,
                          it->e, it->open);
    passes->outward(&it->view, it->e, it->udot, it->A);
    scatter(n, tree->num_u, it->udot, udot);
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
    *out = (tali_kernel_lanes){LANES, lanes_size, lanes_prepare, lanes_set_gravity, lanes_forward};
}
