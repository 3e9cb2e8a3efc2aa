// Articulated-body and Newton-Euler passes for trees of pins, bare.
//
// Forward dynamics works in Ground axes about each body's own origin: then articulated inertias are
// shifted but never turned. Inverse dynamics has no inertias to pass on and works in body axes.
// Velocity-dependent accelerations are found on the way out (A, the acceleration at udot = 0, which
// also carries gravity), so the way in needs no product with an articulated inertia but U = P h.
//
// A rigid body's w x (w x r) + Aw x r is K r, with K = Aw x + w w^T - (w w) 1 formed once per body.
#include "bare.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef bare_v3 v3;
typedef bare_m3 m3;
typedef bare_s3 s3;

// The floor is the machine's: where Talus chooses kernels at run time (ADR 20), so does this.
#if defined(BENCH_DISPATCHES) && defined(__GNUC__) && !defined(__clang__)
#define BEST_HERE                                                                                  \
    __attribute__((flatten, target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define BEST_HERE
#endif

// --- small algebra ---

static inline v3 add(v3 a, v3 b)
{
    return (v3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline v3 scale(double s, v3 a)
{
    return (v3){s * a.x, s * a.y, s * a.z};
}

// s a + b
static inline v3 axpy(double s, v3 a, v3 b)
{
    return (v3){s * a.x + b.x, s * a.y + b.y, s * a.z + b.z};
}

static inline double dot(v3 a, v3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline v3 cross(v3 a, v3 b)
{
    return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline v3 mul(m3 A, v3 b)
{
    return axpy(b.x, A.x, axpy(b.y, A.y, scale(b.z, A.z)));
}

static inline v3 tmul(m3 A, v3 b)
{
    return (v3){dot(A.x, b), dot(A.y, b), dot(A.z, b)};
}

static inline v3 smul(s3 S, v3 b)
{
    return (v3){S.xx * b.x + S.xy * b.y + S.xz * b.z, S.xy * b.x + S.yy * b.y + S.yz * b.z,
                S.xz * b.x + S.yz * b.y + S.zz * b.z};
}

// R S R^T = S_zz 1 + a x^T + x a^T + b y^T + y b^T, with R = [x y z], L = S - S_zz 1 and
// a = L_xx x / 2 + L_xy y + L_xz z, b = L_yy y / 2 + L_yz z: L_zz = 0 is what is saved.
static inline s3 turn(m3 R, s3 S)
{
    const v3 x = R.x, y = R.y;
    const v3 a = axpy(0.5 * (S.xx - S.zz), x, axpy(S.xy, y, scale(S.xz, R.z)));
    const v3 b = axpy(0.5 * (S.yy - S.zz), y, scale(S.yz, R.z));
    return (s3){S.zz + 2.0 * (a.x * x.x + b.x * y.x),
                S.zz + 2.0 * (a.y * x.y + b.y * y.y),
                S.zz + 2.0 * (a.z * x.z + b.z * y.z),
                a.x * x.y + a.y * x.x + b.x * y.y + b.y * y.x,
                a.x * x.z + a.z * x.x + b.x * y.z + b.z * y.x,
                a.y * x.z + a.z * x.y + b.y * y.z + b.z * y.y};
}

// K r = Aw x r + w x (w x r)
static inline m3 rotary(v3 w, v3 Aw)
{
    const double xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    const double xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    return (m3){{-yy - zz, xy + Aw.z, xz - Aw.y},
                {xy - Aw.z, -xx - zz, yz + Aw.x},
                {xz + Aw.y, yz - Aw.x, -xx - yy}};
}

// R Rz(q), by the sine and cosine of q.
static inline m3 turn_z(m3 R, double s, double c)
{
    return (m3){axpy(s, R.y, scale(c, R.x)), axpy(c, R.y, scale(-s, R.x)), R.z};
}

// Sine and cosine to about one ulp for |x| < 1e4: reduction by pi/2 in two pieces, then the minimax
// polynomials that Sun Microsystems published with fdlibm.
static inline void sine_cosine(double x, double *sine, double *cosine)
{
    const double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer
    const double n = (x * 6.36619772367581382433e-01 + magic) - magic;
    const double r = (x - n * 1.57079632673412561417e+00) - n * 6.07710050650619224932e-11;
    const double z = r * r;
    const double S =
        -1.66666666666666324348e-01 +
        z * (8.33333333332248946124e-03 +
             z * (-1.98412698298579493134e-04 +
                  z * (2.75573137070700676789e-06 +
                       z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
    const double C =
        4.16666666666666019037e-02 +
        z * (-1.38888888888741095749e-03 +
             z * (2.48015872894767294178e-05 +
                  z * (-2.75573143513906633035e-07 +
                       z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    const double s = r + r * z * S;
    const double c = 1.0 - (0.5 * z - z * z * C);
    const int64_t quadrant = (int64_t)n;
    const double a = (quadrant & 1) != 0 ? c : s;
    const double b = (quadrant & 1) != 0 ? s : c;
    *sine = (quadrant & 2) != 0 ? -a : a;
    *cosine = ((quadrant + 1) & 2) != 0 ? -b : b;
}

// --- what is kept between passes: only what a later one reads ---

/// What children read on the way out.
struct bare_pose {
    m3 R;
    v3 w;
    v3 A; ///< acceleration of the origin at udot = 0, less gravity
    m3 K;
    v3 p_G; ///< bare_kinematics() only, as v
    v3 v;
};

/// What the way in reads, once.
struct bare_load {
    v3 h, p; ///< axis, and from the parent's origin to this one
    v3 mc;
    s3 I;
    v3 n, f; ///< moment and force that A and w take
};

/// What the way back out reads, with what becomes of it there.
struct bare_gain {
    v3 h, p;
    v3 Uw, Uv; ///< P h / D
    double rest;
    v3 Aw, Av;
};

/// Sum over an open subtree: articulated inertia [J F; F^T M] and bias force.
struct bare_open {
    s3 J;
    m3 F;
    s3 M;
    v3 n, f;
};

/// One body in its own axes, for inverse dynamics.
struct bare_link {
    m3 R_P; ///< from body to parent axes
    v3 w, Aw, A;
    m3 K;
    v3 n, f;
};

// --- forward dynamics ---

static const m3 IDENTITY = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static struct bare_pose ground_pose(const bare_tree *tree)
{
    return (struct bare_pose){.R = IDENTITY, .A = scale(-1.0, tree->gravity)};
}

static inline void go_out(const bare_body *body, const struct bare_pose *parent, double q, double u,
                          struct bare_pose *at, struct bare_load *load)
{
    double s, c;
    sine_cosine(q, &s, &c);
    const m3 R_F = {mul(parent->R, body->R_PF.x), mul(parent->R, body->R_PF.y),
                    mul(parent->R, body->R_PF.z)};
    const v3 h = R_F.z;
    const v3 p = mul(parent->R, body->p_PF);
    const m3 R = turn_z(R_F, s, c);

    // K_P carries the parent's angular acceleration: Aw_P = axial part of K_P
    const v3 w_J = scale(u, h);
    const v3 w = add(parent->w, w_J);
    const v3 Aw_P = {0.5 * (parent->K.y.z - parent->K.z.y), 0.5 * (parent->K.z.x - parent->K.x.z),
                     0.5 * (parent->K.x.y - parent->K.y.x)};
    const v3 Aw = add(Aw_P, cross(parent->w, w_J));
    const v3 A = add(parent->A, mul(parent->K, p));
    const m3 K = rotary(w, Aw);

    const v3 mc = mul(R, body->mc);
    const s3 I = turn(R, body->I);
    *load = (struct bare_load){.h = h,
                               .p = p,
                               .mc = mc,
                               .I = I,
                               .n = add(add(smul(I, Aw), cross(w, smul(I, w))), cross(mc, A)),
                               .f = axpy(body->mass, A, mul(K, mc))};
    at->R = R, at->w = w, at->A = A, at->K = K;
}

// The body's own inertia and bias, added to those of its subtree.
static inline void add_body(struct bare_open *P, const struct bare_load *load, double mass)
{
    P->J.xx += load->I.xx, P->J.yy += load->I.yy, P->J.zz += load->I.zz;
    P->J.xy += load->I.xy, P->J.xz += load->I.xz, P->J.yz += load->I.yz;
    P->F.x.y += load->mc.z, P->F.x.z -= load->mc.y;
    P->F.y.x -= load->mc.z, P->F.y.z += load->mc.x;
    P->F.z.x += load->mc.y, P->F.z.y -= load->mc.x;
    P->M.xx += mass, P->M.yy += mass, P->M.zz += mass;
    P->n = add(P->n, load->n);
    P->f = add(P->f, load->f);
}

static inline struct bare_open lone_body(const struct bare_load *load, double mass)
{
    const v3 mc = load->mc;
    return (struct bare_open){load->I,
                              {{0.0, mc.z, -mc.y}, {-mc.z, 0.0, mc.x}, {mc.y, -mc.x, 0.0}},
                              {mass, mass, mass, 0.0, 0.0, 0.0},
                              load->n,
                              load->f};
}

// P - U U^T / D, and the bias that goes with it
static inline void project(struct bare_open *P, const struct bare_load *load,
                           struct bare_gain *gain)
{
    const v3 h = load->h;
    const v3 Uw = smul(P->J, h);
    const v3 Uv = tmul(P->F, h);
    const double inverse = 1.0 / dot(h, Uw);
    const double e = -dot(h, P->n);
    const v3 g = scale(inverse, Uw), k = scale(inverse, Uv);
    *gain = (struct bare_gain){.h = h, .p = load->p, .Uw = g, .Uv = k, .rest = e * inverse};

    P->J.xx -= g.x * Uw.x, P->J.yy -= g.y * Uw.y, P->J.zz -= g.z * Uw.z;
    P->J.xy -= g.x * Uw.y, P->J.xz -= g.x * Uw.z, P->J.yz -= g.y * Uw.z;
    P->F.x = axpy(-Uv.x, g, P->F.x);
    P->F.y = axpy(-Uv.y, g, P->F.y);
    P->F.z = axpy(-Uv.z, g, P->F.z);
    P->M.xx -= k.x * Uv.x, P->M.yy -= k.y * Uv.y, P->M.zz -= k.z * Uv.z;
    P->M.xy -= k.x * Uv.y, P->M.xz -= k.x * Uv.z, P->M.yz -= k.y * Uv.z;
    P->n = axpy(e, g, P->n);
    P->f = axpy(e, k, P->f);
}

// About the parent's origin: F' = F + px M, J' = J + px F^T + (px F'^T)^T, n' = n + p x f.
static inline void shift(struct bare_open *P, v3 p)
{
    const m3 F = P->F;
    const s3 M = P->M;
    P->F.x = add(F.x, cross(p, (v3){M.xx, M.xy, M.xz}));
    P->F.y = add(F.y, cross(p, (v3){M.xy, M.yy, M.yz}));
    P->F.z = add(F.z, cross(p, (v3){M.xz, M.yz, M.zz}));
    // p x (row i of F + row i of F'), for the diagonal; each off-diagonal is one of either kind
    P->J.xx += p.y * (F.z.x + P->F.z.x) - p.z * (F.y.x + P->F.y.x);
    P->J.yy += p.z * (F.x.y + P->F.x.y) - p.x * (F.z.y + P->F.z.y);
    P->J.zz += p.x * (F.y.z + P->F.y.z) - p.y * (F.x.z + P->F.x.z);
    P->J.xy += (p.y * F.z.y - p.z * F.y.y) + (p.z * P->F.x.x - p.x * P->F.z.x);
    P->J.xz += (p.y * F.z.z - p.z * F.y.z) + (p.x * P->F.y.x - p.y * P->F.x.x);
    P->J.yz += (p.z * F.x.z - p.x * F.z.z) + (p.x * P->F.y.y - p.y * P->F.x.y);
    P->n = add(P->n, cross(p, P->f));
}

static inline s3 sadd(s3 A, s3 B)
{
    return (s3){A.xx + B.xx, A.yy + B.yy, A.zz + B.zz, A.xy + B.xy, A.xz + B.xz, A.yz + B.yz};
}

static inline void join(struct bare_open *sum, const struct bare_open *P)
{
    sum->J = sadd(sum->J, P->J);
    sum->F = (m3){add(sum->F.x, P->F.x), add(sum->F.y, P->F.y), add(sum->F.z, P->F.z)};
    sum->M = sadd(sum->M, P->M);
    sum->n = add(sum->n, P->n);
    sum->f = add(sum->f, P->f);
}

static void go_in(const bare_tree *tree)
{
    for (int b = tree->n - 1; b >= 0; --b) {
        const double mass = tree->bodies[b].mass;
        const struct bare_load *load = &tree->load[b];
        struct bare_open P;
        if (tree->is_leaf[b]) {
            P = lone_body(load, mass);
        } else {
            P = tree->open[tree->slot[b]];
            add_body(&P, load, mass);
        }
        project(&P, load, &tree->gain[b]);
        const int parent = tree->parent[b];
        if (parent < 0) continue;
        shift(&P, load->p);
        struct bare_open *sum = &tree->open[tree->slot[parent]];
        if (tree->is_last[b]) {
            *sum = P;
        } else {
            join(sum, &P);
        }
    }
}

BEST_HERE void bare_forward(const bare_tree *tree, const double q[], const double u[],
                            double udot[])
{
    const struct bare_pose ground = ground_pose(tree);
    for (int b = 0; b < tree->n; ++b) {
        const int p = tree->parent[b];
        go_out(&tree->bodies[b], p < 0 ? &ground : &tree->pose[p], q[b], u[b], &tree->pose[b],
               &tree->load[b]);
    }
    go_in(tree);
    for (int b = 0; b < tree->n; ++b) {
        struct bare_gain *gain = &tree->gain[b];
        const int p = tree->parent[b];
        v3 Aw = {0.0, 0.0, 0.0}, Av = {0.0, 0.0, 0.0};
        if (p >= 0) {
            Aw = tree->gain[p].Aw;
            Av = add(tree->gain[p].Av, cross(Aw, gain->p));
        }
        udot[b] = gain->rest - (dot(gain->Uw, Aw) + dot(gain->Uv, Av));
        gain->Aw = axpy(udot[b], gain->h, Aw);
        gain->Av = Av;
    }
}

// --- inverse dynamics ---

static inline void link_out(const bare_body *body, const struct bare_link *parent, double q,
                            double u, double udot, struct bare_link *link)
{
    double s, c;
    sine_cosine(q, &s, &c);
    const m3 R_P = turn_z(body->R_PF, s, c);
    v3 w = tmul(R_P, parent->w);
    v3 Aw = tmul(R_P, parent->Aw);
    const v3 A = tmul(R_P, add(parent->A, mul(parent->K, body->p_PF)));
    Aw = (v3){Aw.x + w.y * u, Aw.y - w.x * u, Aw.z + udot}; // w x z u, and z udot
    w.z += u;
    const m3 K = rotary(w, Aw);
    const v3 Iw = smul(body->I, w);
    *link = (struct bare_link){
        .R_P = R_P,
        .w = w,
        .Aw = Aw,
        .A = A,
        .K = K,
        .n = add(add(smul(body->I, Aw), cross(w, Iw)), cross(body->mc, A)),
        .f = axpy(body->mass, A, mul(K, body->mc)),
    };
}

BEST_HERE void bare_inverse(const bare_tree *tree, const double q[], const double u[],
                            const double udot[], double f[])
{
    const struct bare_link ground = {.A = scale(-1.0, tree->gravity)};
    for (int b = 0; b < tree->n; ++b) {
        const int p = tree->parent[b];
        link_out(&tree->bodies[b], p < 0 ? &ground : &tree->link[p], q[b], u[b], udot[b],
                 &tree->link[b]);
    }
    for (int b = tree->n - 1; b >= 0; --b) {
        const struct bare_link *link = &tree->link[b];
        f[b] = link->n.z;
        const int p = tree->parent[b];
        if (p < 0) continue;
        const v3 force = mul(link->R_P, link->f);
        const v3 moment = add(mul(link->R_P, link->n), cross(tree->bodies[b].p_PF, force));
        tree->link[p].n = add(tree->link[p].n, moment);
        tree->link[p].f = add(tree->link[p].f, force);
    }
}

// --- kinematics ---

BEST_HERE void bare_kinematics(const bare_tree *tree, const double q[], const double u[])
{
    const struct bare_pose ground = ground_pose(tree);
    for (int b = 0; b < tree->n; ++b) {
        const int parent = tree->parent[b];
        const struct bare_pose *P = parent < 0 ? &ground : &tree->pose[parent];
        struct bare_pose *at = &tree->pose[b];
        const bare_body *body = &tree->bodies[b];
        double s, c;
        sine_cosine(q[b], &s, &c);
        const m3 R_F = {mul(P->R, body->R_PF.x), mul(P->R, body->R_PF.y), mul(P->R, body->R_PF.z)};
        const v3 p = mul(P->R, body->p_PF);
        at->R = turn_z(R_F, s, c);
        at->p_G = add(P->p_G, p);
        at->w = axpy(u[b], R_F.z, P->w);
        at->v = add(P->v, cross(P->w, p));
    }
}

void bare_last_body(const bare_tree *tree, double out[18])
{
    const struct bare_pose *at = &tree->pose[tree->n - 1];
    const v3 parts[6] = {at->R.x, at->R.y, at->R.z, at->p_G, at->w, at->v};
    for (int i = 0; i < 6; ++i) {
        out[3 * i] = parts[i].x, out[3 * i + 1] = parts[i].y, out[3 * i + 2] = parts[i].z;
    }
}

// --- life ---

// Slots are registers, allocated over the tip-to-base order: a chain needs one or two.
static int number_slots(int n, const int parent[], int slot[], unsigned char is_leaf[],
                        unsigned char is_last[], int spare[])
{
    int count = 0, num_spare = 0;
    for (int b = 0; b < n; ++b) {
        slot[b] = -1;
    }
    for (int b = n - 1; b >= 0; --b) {
        is_leaf[b] = slot[b] < 0;
        if (slot[b] >= 0) spare[num_spare++] = slot[b];
        const int p = parent[b];
        if (p < 0) continue;
        is_last[b] = slot[p] < 0;
        if (slot[p] < 0) slot[p] = num_spare > 0 ? spare[--num_spare] : count++;
    }
    return count;
}

bare_tree *bare_create(int n, const bare_body bodies[], const int parent[], bare_v3 gravity)
{
    const size_t count = (size_t)n;
    bare_tree *tree = calloc(1, sizeof *tree);
    bare_body *own = calloc(count, sizeof *own);
    int *ints = calloc(3 * count, sizeof *ints);
    unsigned char *flags = calloc(2 * count, 1);
    if (tree == NULL || own == NULL || ints == NULL || flags == NULL) return NULL;
    for (int b = 0; b < n; ++b) {
        own[b] = bodies[b];
        ints[b] = parent[b];
    }
    const int slots = number_slots(n, parent, ints + count, flags, flags + count, ints + 2 * count);
    *tree = (bare_tree){.n = n,
                        .bodies = own,
                        .parent = ints,
                        .slot = ints + count,
                        .is_leaf = flags,
                        .is_last = flags + count,
                        .pose = calloc(count, sizeof *tree->pose),
                        .load = calloc(count, sizeof *tree->load),
                        .gain = calloc(count, sizeof *tree->gain),
                        .open = calloc((size_t)slots + 1, sizeof *tree->open),
                        .link = calloc(count, sizeof *tree->link),
                        .gravity = gravity};
    return tree;
}

void bare_destroy(bare_tree *tree)
{
    if (tree == NULL) return;
    free((void *)(uintptr_t)tree->bodies);
    free((void *)(uintptr_t)tree->parent);
    free((void *)(uintptr_t)tree->is_leaf);
    free(tree->pose);
    free(tree->load);
    free(tree->gain);
    free(tree->open);
    free(tree->link);
    free(tree);
}
