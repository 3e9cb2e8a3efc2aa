// Calls the kernels over complex numbers, which complex_step.h made of them.
#include "complex_tree.h"

#include "kernel/kernel_set.h"

void tali_kernel_kinematics_complex(tali_passes *out);
void tali_kernel_articulated_complex(tali_passes *out);
void tali_kernel_dynamics_complex(tali_passes *out);
void tali_kernel_particle_complex(tali_passes *out);
void tali_kernel_inverse_complex(tali_passes *out);
void tali_kernel_outboard_complex(tali_passes *out);

static void sincos_complex(int n, const double angle[], double s[], double c[])
{
    for (int i = 0; i < n; ++i) {
        const sine_cosine turn = sincos_of(angle[i]);
        s[i] = turn.s;
        c[i] = turn.c;
    }
}

// As large as wanted; everything is freed together at the end.
typedef struct heap {
    void *blocks[32];
    int count;
} heap;

static void *take(heap *from, size_t bytes)
{
    void *block = calloc(1, bytes + 64);
    if (block == NULL) abort();
    from->blocks[from->count++] = block;
    return block;
}

static double *numbers_of(heap *from, complex_array x, size_t n)
{
    double *z = take(from, n * sizeof *z);
    for (size_t i = 0; i < n; ++i) {
        z[i] = complex_of(x.re != NULL ? x.re[i] : 0.0, x.im != NULL ? x.im[i] : 0.0);
    }
    return z;
}

// Poses, velocities and inertias.
static tali_tree_view realize(heap *from, const complex_inputs *in, const tali_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies, nu = (size_t)tree->num_u;
    const size_t general = (size_t)tree->num_general;
    const tali_tree_position at = {
        take(from, n * sizeof(tali_tree_pose)), take(from, n * sizeof(tal_vec3)),
        take(from, nu * sizeof(tal_spatial_vec)), (void *)numbers_of(from, in->X_FM, 12 * general),
        (void *)numbers_of(from, in->H_FM, general > 0 ? 6 * nu : 0)};
    const size_t each = sizeof(tali_tree_constants) / sizeof(double);
    const tali_tree_constants *constants = (void *)numbers_of(from, in->constants, each * n);
    const double *q = numbers_of(from, in->q, (size_t)in->nq), *u = numbers_of(from, in->u, nu);
    tree->passes->position(tree, constants, in->model, q, &at);
    tali_tree_view view = {.tree = tree,
                           .passes = tree->passes,
                           .constants = constants,
                           .pose = at.pose,
                           .p_PM = at.p_PM,
                           .H = at.H,
                           .X_FM = at.X_FM,
                           .H_FM = at.H_FM,
                           .hinge = tree->hinge};
    bool has_A0;
    const tali_tree_velocity velocity = {take(from, n * sizeof(tali_tree_rates)),
                                         (void *)numbers_of(from, in->Hdot_u, 6 * general),
                                         &has_A0};
    tree->passes->velocity(&view, u, true, &velocity);
    tali_tree_composite *rigid = take(from, n * sizeof *rigid);
    tree->passes->rigid(&view, rigid);
    view.rates = velocity.rates;
    view.Hdot_u = velocity.Hdot_u;
    view.rigid = rigid;
    return view;
}

// Forces about Bo, in Ground, become forces about Mo.
static tal_spatial_vec *loads(heap *from, const complex_inputs *in, const tali_tree_view *view)
{
    const size_t n = (size_t)view->tree->num_bodies;
    tal_spatial_vec *F = (void *)numbers_of(from, in->F_GB, 6 * n);
    for (size_t b = 1; b < n; ++b) {
        const tal_vec3 r = tal_m3_mul_v3(view->pose[b].R_GM, view->constants[b].X_MB.p);
        F[b].w = tal_v3_add(F[b].w, tal_v3_cross(r, F[b].v));
    }
    return F;
}

static void solve(heap *from, tali_tree_view *view, const tal_spatial_vec F[], const double f[],
                  double udot[])
{
    const tali_tree *tree = view->tree;
    const size_t nu = (size_t)tree->num_u, slots = (size_t)tree->num_slots;
    const tali_tree_articulated at = {take(from, nu * sizeof(tal_spatial_vec)),
                                      take(from, (size_t)tree->num_d * sizeof(double)), NULL};
    tree->passes->articulated(view, &at, take(from, slots * sizeof(tali_kernel_open_inertia)));
    view->G = at.G;
    view->DI = at.DI;
    double *e = take(from, nu * sizeof *e);
    tree->passes->inward_moving(view, f, F, e, take(from, slots * sizeof(tal_spatial_vec)));
    tree->passes->outward(view, e, udot,
                          take(from, (size_t)tree->num_bodies * sizeof(tal_spatial_vec)));
}

void complex_dynamics(const complex_inputs *in, int forward, plain re[], plain im[])
{
    tali_passes passes = {.sincos = sincos_complex};
    tali_kernel_kinematics_complex(&passes);
    tali_kernel_articulated_complex(&passes);
    tali_kernel_dynamics_complex(&passes);
    tali_kernel_particle_complex(&passes);
    tali_kernel_inverse_complex(&passes);
    tali_kernel_outboard_complex(&passes);
    tali_tree tree = *(const tali_tree *)in->tree; // integers only
    tree.passes = &passes;
    heap from = {.count = 0};
    tali_tree_view view = realize(&from, in, &tree);
    const size_t n = (size_t)tree.num_bodies, nu = (size_t)tree.num_u;
    const tal_spatial_vec *F = loads(&from, in, &view);
    const double *u = numbers_of(&from, in->u, nu), *given = numbers_of(&from, in->given, nu);
    double *out = take(&from, nu * sizeof *out);
    if (forward) {
        solve(&from, &view, F, given, out);
    } else {
        (void)passes.newton_euler(&view, u, given, F, out, take(&from, n * sizeof *F),
                                  take(&from, ((size_t)tree.num_slots + 1) * sizeof *F));
    }
    for (size_t i = 0; i < nu; ++i) {
        re[i] = __real__ out[i];
        im[i] = __imag__ out[i];
    }
    while (from.count > 0) {
        free(from.blocks[--from.count]);
    }
}
