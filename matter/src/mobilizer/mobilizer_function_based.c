// The function-based mobilizer: three turns and three shifts, each a function of some coordinates.
//
//     R_FM = R(a0, f0) R(a1, f1) R(a2, f2)        p_FM = f3 b0 + f4 b1 + f5 b2        u = qdot
//
// Axis a_i is fixed in the frame left by the turns before it, and is A_i in F; b_i is fixed in F.
// With f_i,j the derivative of f_i by coordinate j,
//
//     H_j    = (sum f_i,j A_i,                          sum f_i+3,j b_i)
//     Hdot_j = (sum (d/dt f_i,j) A_i + f_i,j Adot_i,    sum (d/dt f_i+3,j) b_i)
//
// and d/dt f_i,j = sum over k of f_i,jk u_k, mixed derivatives included.
#include "alloc_internal.h"
#include "matter_facts_internal.h"

#include "mobilizer/mobilizer_orientation_internal.h"

#include <math.h>

struct tal_function_based {
    tal_mobilizer_ops ops;
    tal_allocator allocator;
    tal_function_based_def def;   // axes of unit length
    tal_function_based_def given; // axes as they were given
    tal_function *keeper;         // owns the functions of `def`
};

enum {
    NUM_TERMS = 6
};

// The functions in the order of the spatial vectors: turns, then shifts.
static const tal_mobilizer_function *term(const tal_function_based_def *def, int i)
{
    return i < 3 ? &def->rotation[i] : &def->translation[i - 3];
}

// ---- one function and its derivatives by the coordinates

static void gather_arguments(const tal_mobilizer_function *f, const double q[], double x[])
{
    for (int m = 0; m < f->num_coords; ++m) {
        x[m] = q[f->coords[m]];
    }
}

static double term_value(const tal_mobilizer_function *f, const double q[])
{
    if (f->function == NULL) return 0.0;
    double x[TAL_MAX_NU];
    gather_arguments(f, q, x);
    return tal_function_calc_value(f->function, x, f->num_coords);
}

// gradient[j] = f_,j; a coordinate that is given to the function twice counts twice.
static void term_gradient(const tal_mobilizer_function *f, const double q[],
                          double gradient[TAL_MAX_NU])
{
    for (int j = 0; j < TAL_MAX_NU; ++j) {
        gradient[j] = 0.0;
    }
    if (f->function == NULL) return;
    double x[TAL_MAX_NU];
    gather_arguments(f, q, x);
    for (int m = 0; m < f->num_coords; ++m) {
        gradient[f->coords[m]] +=
            tal_function_calc_derivative(f->function, x, f->num_coords, &m, 1);
    }
}

// rate[j] = sum over k of f_,jk u_k
static void term_gradient_dot(const tal_mobilizer_function *f, const double q[], const double u[],
                              double rate[TAL_MAX_NU])
{
    for (int j = 0; j < TAL_MAX_NU; ++j) {
        rate[j] = 0.0;
    }
    if (f->function == NULL) return;
    double x[TAL_MAX_NU];
    gather_arguments(f, q, x);
    for (int m = 0; m < f->num_coords; ++m) {
        for (int n = 0; n < f->num_coords; ++n) {
            const int wrt[2] = {m, n};
            rate[f->coords[m]] +=
                tal_function_calc_derivative(f->function, x, f->num_coords, wrt, 2) *
                u[f->coords[n]];
        }
    }
}

// curve[l] = sum over j and k of f_,jkl u_j u_k
static void term_curve(const tal_mobilizer_function *f, const double q[], const double u[],
                       double curve[TAL_MAX_NU])
{
    for (int l = 0; l < TAL_MAX_NU; ++l) {
        curve[l] = 0.0;
    }
    if (f->function == NULL) return;
    double x[TAL_MAX_NU];
    gather_arguments(f, q, x);
    const int count = f->num_coords;
    for (int i = 0; i < count * count * count; ++i) {
        const int wrt[3] = {i % count, i / count % count, i / (count * count)};
        curve[f->coords[wrt[0]]] += tal_function_calc_derivative(f->function, x, count, wrt, 3) *
                                    u[f->coords[wrt[1]]] * u[f->coords[wrt[2]]];
    }
}

// ---- the table

// R_FM, and the axes A_i of the turns expressed in F.
static tal_mat3 turns(const tal_function_based_def *def, const double q[], tal_vec3 axis_F[3])
{
    tal_mat3 R = TAL_MAT3_IDENTITY;
    for (int i = 0; i < 3; ++i) {
        axis_F[i] = tal_m3_mul_v3(R, def->rotation_axis[i]);
        if (def->rotation[i].function == NULL) continue;
        const double angle = term_value(&def->rotation[i], q);
        R = tal_m3_mul(R, tal_rotation_from_angle_axis(angle, def->rotation_axis[i]));
    }
    return R;
}

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    const tal_function_based *mobilizer = self;
    const tal_function_based_def *def = &mobilizer->def;
    tal_vec3 axis_F[3], p_FM = TAL_VEC3_ZERO;
    X_FM->R = turns(def, arg->q, axis_F);
    for (int i = 0; i < 3; ++i) {
        const double shift = term_value(&def->translation[i], arg->q);
        p_FM = tal_v3_axpy(shift, def->translation_axis[i], p_FM);
    }
    X_FM->p = p_FM;
    return TAL_OK;
}

static tal_status check_columns(int nu, const tal_spatial_vec H[])
{
    for (int j = 0; j < nu; ++j) {
        if (!tal_sv_is_finite(H[j])) return TAL_ERR_NOT_FINITE;
    }
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    const tal_function_based *mobilizer = self;
    const tal_function_based_def *def = &mobilizer->def;
    tal_vec3 axis_F[3];
    (void)turns(def, arg->q, axis_F);
    for (int j = 0; j < def->nq; ++j) {
        H_FM[j] = TAL_SPATIAL_VEC_ZERO;
    }
    for (int i = 0; i < 3; ++i) {
        double turn[TAL_MAX_NU], shift[TAL_MAX_NU];
        term_gradient(&def->rotation[i], arg->q, turn);
        term_gradient(&def->translation[i], arg->q, shift);
        for (int j = 0; j < def->nq; ++j) {
            H_FM[j].w = tal_v3_axpy(turn[j], axis_F[i], H_FM[j].w);
            H_FM[j].v = tal_v3_axpy(shift[j], def->translation_axis[i], H_FM[j].v);
        }
    }
    return check_columns(def->nq, H_FM);
}

// Hdot of the equations above: rates of the gradients, and axes that turn.
static tal_status calc_Hdot_FM(const void *self, const tal_mobilizer_arg *arg,
                               tal_spatial_vec Hdot_FM[])
{
    const tal_function_based *mobilizer = self;
    const tal_function_based_def *def = &mobilizer->def;
    tal_vec3 axis_F[3], axis_dot_F[3];
    (void)turns(def, arg->q, axis_F);
    double turn[3][TAL_MAX_NU], rate[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < 3; ++i) {
        term_gradient(&def->rotation[i], arg->q, turn[i]);
        for (int j = 0; j < def->nq; ++j) {
            rate[i] += turn[i][j] * arg->u[j];
        }
    }
    tali_mobilizer_turns_axes_dot(3, axis_F, rate, axis_dot_F);

    for (int j = 0; j < def->nq; ++j) {
        Hdot_FM[j] = TAL_SPATIAL_VEC_ZERO;
    }
    for (int i = 0; i < 3; ++i) {
        double turn_dot[TAL_MAX_NU], shift_dot[TAL_MAX_NU];
        term_gradient_dot(&def->rotation[i], arg->q, arg->u, turn_dot);
        term_gradient_dot(&def->translation[i], arg->q, arg->u, shift_dot);
        for (int j = 0; j < def->nq; ++j) {
            const tal_vec3 carried = tal_v3_scale(turn[i][j], axis_dot_F[i]);
            const tal_vec3 wdot = tal_v3_axpy(turn_dot[j], axis_F[i], carried);
            Hdot_FM[j].w = tal_v3_add(Hdot_FM[j].w, wdot);
            Hdot_FM[j].v = tal_v3_axpy(shift_dot[j], def->translation_axis[i], Hdot_FM[j].v);
        }
    }
    return check_columns(def->nq, Hdot_FM);
}

// The three turns: rates r_i of their angles, and how these change along each coordinate.
typedef struct turn_rates {
    double by[3][TAL_MAX_NU];      // f_i,l
    double rate[3];                // r_i = sum f_i,j u_j
    double rate_by[3][TAL_MAX_NU]; // d r_i along l
    double rate_dot[3];            // d/dt r_i = sum f_i,jk u_j u_k
    double curve[3][TAL_MAX_NU];   // d of that along l
} turn_rates;

static turn_rates rates_of_turns(const tal_function_based_def *def, const tal_mobilizer_arg *arg)
{
    turn_rates r = {0};
    for (int i = 0; i < 3; ++i) {
        term_gradient(&def->rotation[i], arg->q, r.by[i]);
        term_gradient_dot(&def->rotation[i], arg->q, arg->u, r.rate_by[i]);
        term_curve(&def->rotation[i], arg->q, arg->u, r.curve[i]);
        r.rate[i] = r.rate_dot[i] = 0.0;
        for (int j = 0; j < def->nq; ++j) {
            r.rate[i] += r.by[i][j] * arg->u[j];
            r.rate_dot[i] += r.rate_by[i][j] * arg->u[j];
        }
    }
    return r;
}

/*
 * The angular part of Hdot u is the sum of rdot_i A_i + r_i Adot_i, with Adot_i the sum of
 * r_m A_m x A_i over m < i. Along coordinate l an axis changes by the sum of f_m,l A_m x A_i.
 */
static tal_vec3 turn_slope(const turn_rates *r, const tal_vec3 A[3], int l)
{
    tal_vec3 slope = TAL_VEC3_ZERO, w = TAL_VEC3_ZERO, w_by = TAL_VEC3_ZERO, turn = TAL_VEC3_ZERO;
    for (int i = 0; i < 3; ++i) {
        // w: of the frame that carries A_i; w_by: its change along l; turn: of that frame along l
        const tal_vec3 A_by = tal_v3_cross(turn, A[i]), A_dot = tal_v3_cross(w, A[i]);
        const tal_vec3 A_dot_by = tal_v3_add(tal_v3_cross(w_by, A[i]), tal_v3_cross(w, A_by));
        slope = tal_v3_axpy(r->curve[i][l], A[i], slope);
        slope = tal_v3_axpy(r->rate_dot[i], A_by, slope);
        slope = tal_v3_axpy(r->rate_by[i][l], A_dot, slope);
        slope = tal_v3_axpy(r->rate[i], A_dot_by, slope);
        w_by = tal_v3_axpy(r->rate_by[i][l], A[i], tal_v3_axpy(r->rate[i], A_by, w_by));
        w = tal_v3_axpy(r->rate[i], A[i], w);
        turn = tal_v3_axpy(r->by[i][l], A[i], turn);
    }
    return slope;
}

static tal_status calc_Hdot_u_slopes(const void *self, const tal_mobilizer_arg *arg,
                                     tal_spatial_vec slopes[])
{
    const tal_function_based *mobilizer = self;
    const tal_function_based_def *def = &mobilizer->def;
    tal_vec3 axis_F[3];
    (void)turns(def, arg->q, axis_F);
    const turn_rates rates = rates_of_turns(def, arg);
    for (int l = 0; l < def->nq; ++l) {
        slopes[l] = tal_sv(turn_slope(&rates, axis_F, l), TAL_VEC3_ZERO);
    }
    for (int i = 0; i < 3; ++i) {
        double curve[TAL_MAX_NU];
        term_curve(&def->translation[i], arg->q, arg->u, curve);
        for (int l = 0; l < def->nq; ++l) {
            slopes[l].v = tal_v3_axpy(curve[l], def->translation_axis[i], slopes[l].v);
        }
    }
    return check_columns(def->nq, slopes);
}

// Third derivatives are more than a function must have.
static bool has_third_derivatives(const tal_function_based_def *def)
{
    for (int i = 0; i < NUM_TERMS; ++i) {
        const tal_function *f = term(def, i)->function;
        if (f != NULL && tal_function_max_order(f) < 3) return false;
    }
    return true;
}

static void destroy(void *self)
{
    tal_function_based_destroy(self);
}

// ---- creation

tal_function_based_def tal_function_based_def_default(void)
{
    return (tal_function_based_def){
        .rotation_axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
        .translation_axis = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}},
    };
}

static const char *const term_name[NUM_TERMS] = {"rotation[0]",    "rotation[1]",
                                                 "rotation[2]",    "translation[0]",
                                                 "translation[1]", "translation[2]"};

// One of the six functions: arguments, derivatives, coordinates.
static tal_status check_term(const tal_function_based_def *def, int i, tal_error *err)
{
    const tal_mobilizer_function *f = term(def, i);
    if (f->function == NULL) return TAL_OK;
    const int num_args = tal_function_num_args(f->function);
    if (f->num_coords != num_args || num_args > TAL_MAX_NU) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%s has %d coordinates but its function takes %d arguments (at most %d)",
                         term_name[i], f->num_coords, num_args, TAL_MAX_NU);
    }
    if (tal_function_max_order(f->function) < 2) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the function of %s has derivatives up to order %d; it needs order 2",
                         term_name[i], tal_function_max_order(f->function));
    }
    for (int m = 0; m < f->num_coords; ++m) {
        if (f->coords[m] >= 0 && f->coords[m] < def->nq) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX,
                         "%s uses coordinate %d; there are only coordinates 0 to %d", term_name[i],
                         f->coords[m], def->nq - 1);
    }
    return TAL_OK;
}

static bool is_used(const tal_function_based_def *def, int coord)
{
    for (int i = 0; i < NUM_TERMS; ++i) {
        const tal_mobilizer_function *f = term(def, i);
        for (int m = 0; f->function != NULL && m < f->num_coords; ++m) {
            if (f->coords[m] == coord) return true;
        }
    }
    return false;
}

// All functions and axes; and every coordinate must be used.
static tal_status check_def(const tal_function_based_def *def, tal_error *err)
{
    if (def->nq < 1 || def->nq > TAL_MAX_NU) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a function-based mobilizer has nq %d; it must be 1 to %d", def->nq,
                         TAL_MAX_NU);
    }
    for (int i = 0; i < NUM_TERMS; ++i) {
        const tal_status st = check_term(def, i, err);
        if (st != TAL_OK) return st;
        const tal_vec3 axis = i < 3 ? def->rotation_axis[i] : def->translation_axis[i - 3];
        if (tal_v3_is_finite(tal_v3_normalize(axis))) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the axis of %s is (%g, %g, %g): give a direction",
                         term_name[i], axis.x, axis.y, axis.z);
    }
    for (int j = 0; j < def->nq; ++j) {
        if (is_used(def, j)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "coordinate %d of a function-based mobilizer has no effect: no function "
                         "uses it",
                         j);
    }
    return TAL_OK;
}

// A function that is never evaluated: it exists to own those of the mobilizer.
static double keeper_value(const void *self, const double x[], int n)
{
    (void)self, (void)x, (void)n;
    return 0.0;
}

static const tal_function_ops keeper_ops = {
    .size = sizeof keeper_ops,
    .name = "the functions of a mobilizer",
    .calc_value = keeper_value,
};

// Adopt every function of `def`, once each: all of them or none.
static tal_status adopt(const tal_function_based_def *def, const tal_allocator *allocator,
                        tal_function **keeper, tal_error *err)
{
    tal_function *uses[NUM_TERMS] = {NULL};
    int count = 0;
    for (int i = 0; i < NUM_TERMS; ++i) {
        tal_function *f = term(def, i)->function;
        bool is_new = f != NULL;
        for (int k = 0; k < count; ++k) {
            is_new = is_new && uses[k] != f;
        }
        if (is_new) uses[count++] = f;
    }
    tal_function_def keeper_def = tal_function_def_default();
    keeper_def.ops = &keeper_ops;
    keeper_def.uses = uses;
    keeper_def.num_uses = count;
    return tal_function_create(allocator, &keeper_def, keeper, err);
}

// Which functions use which coordinates, as a hash (FNV-1a): mobilizers of another structure get
// another tag.
static uint64_t structure_tag(const tal_function_based_def *def)
{
    uint64_t tag = TALI_TAG_FUNCTION_BASED;
    for (int i = 0; i < NUM_TERMS; ++i) {
        const tal_mobilizer_function *f = term(def, i);
        const int count = f->function != NULL ? f->num_coords : 0;
        tag = (tag ^ (uint64_t)count) * 0x100000001b3u;
        for (int m = 0; m < count; ++m) {
            tag = (tag ^ (uint64_t)f->coords[m]) * 0x100000001b3u;
        }
    }
    return tag;
}

tal_status tal_function_based_create(const tal_function_based_def *def,
                                     const tal_allocator *allocator, tal_function_based **out,
                                     tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (out != NULL) *out = NULL;
    if (def == NULL || out == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "def or out is NULL");
        return TALI_FAIL(err, TAL_ERR_NULL, "def or out is NULL");
    }
    tal_status st = check_def(def, err);
    if (st != TAL_OK) return st;

    tal_allocator memory;
    if (tali_alloc_choose(allocator, &memory, __func__) != TAL_OK) {
        return TALI_FAIL(err, TAL_ERR_NULL, "the allocator has no alloc or no free");
    }
    tal_function_based *mobilizer = tali_alloc(&memory, sizeof *mobilizer);
    if (mobilizer == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", sizeof *mobilizer);
    }
    mobilizer->allocator = memory;
    mobilizer->def = mobilizer->given = *def;
    for (int i = 0; i < 3; ++i) {
        mobilizer->def.rotation_axis[i] = tal_v3_normalize(def->rotation_axis[i]);
        mobilizer->def.translation_axis[i] = tal_v3_normalize(def->translation_axis[i]);
    }
    mobilizer->ops = (tal_mobilizer_ops){
        .size = sizeof mobilizer->ops,
        .name = "function-based",
        .tag = structure_tag(def),
        .nu = def->nq,
        .nq = def->nq,
        .nq_angles = def->nq,
        .calc_X_FM = calc_X_FM,
        .calc_H_FM = calc_H_FM,
        .calc_Hdot_FM = calc_Hdot_FM,
        .calc_Hdot_u_slopes = has_third_derivatives(def) ? calc_Hdot_u_slopes : NULL,
        .destroy = destroy,
    };
    st = adopt(def, &memory, &mobilizer->keeper, err);
    if (st != TAL_OK) {
        tal_function_based_destroy(mobilizer);
        return st;
    }
    *out = mobilizer;
    return TAL_OK;
}

void tal_function_based_destroy(tal_function_based *mobilizer)
{
    if (mobilizer == NULL) return;
    tal_function_destroy(mobilizer->keeper);
    const tal_allocator memory = mobilizer->allocator;
    tali_free(&memory, mobilizer, sizeof *mobilizer);
}

const tal_mobilizer_ops *tal_function_based_ops(const tal_function_based *mobilizer)
{
    if (mobilizer == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "mobilizer is NULL");
        return NULL;
    }
    return &mobilizer->ops;
}

const tal_function_based_def *tali_matter_function_based_facts(const tal_mobilizer_ops *ops,
                                                               const void *self)
{
    if (ops->calc_X_FM != calc_X_FM) return NULL;
    return &((const tal_function_based *)self)->given;
}
