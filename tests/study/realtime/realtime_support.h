// Models of the seeds for fixed steppers, and running them.
#ifndef TALUS_REALTIME_SUPPORT_H
#define TALUS_REALTIME_SUPPORT_H

#include "talus_test.h"

#include <talus/study.h>

#include <stdlib.h>

typedef struct realtime_model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_fixed_stepper *stepper;
} realtime_model;

static inline realtime_model begin_realtime(tal_vec3 gravity)
{
    realtime_model w = {.system = tal_system_create(NULL)};
    w.matter = tal_matter_create(w.system);
    w.forces = tal_forces_create(w.system, w.matter);
    ck_assert_ptr_nonnull(tal_fixed_memory_create(w.system));
    if (tal_v3_norm(gravity) > 0.0) tal_forces_add_gravity(w.forces, gravity);
    return w;
}

static inline void finish_realtime(realtime_model *w)
{
    tal_error err = {.status = TAL_OK};
    tal_status st = tal_system_realize_topology(w->system, &err);
    if (st == TAL_OK) st = tal_state_create(w->system, &w->state, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_TIME), TAL_OK);
}

/// A stepper in place of the one before.
static inline void choose_stepper(realtime_model *w, const tal_fixed_stepper_def *def)
{
    tal_error err = {.status = TAL_OK};
    tal_fixed_stepper_destroy(w->stepper);
    w->stepper = NULL;
    ck_assert_msg(tal_fixed_stepper_create(w->system, def, &w->stepper, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void end_realtime(realtime_model *w)
{
    tal_fixed_stepper_destroy(w->stepper);
    tal_state_destroy(w->state);
    tal_system_destroy(w->system);
}

static inline void step_realtime(realtime_model *w, long steps)
{
    for (long i = 0; i < steps; ++i) {
        const tal_status st = tal_fixed_stepper_step(w->stepper, w->state);
        ck_assert_msg(st == TAL_OK, "%s", tal_fixed_stepper_error(w->stepper)->message);
    }
}

/// By `steps` steps to `t`, or the sentence of the stepper.
static inline void run_realtime(realtime_model *w, double t)
{
    const tal_status st = tal_fixed_stepper_step_to(w->stepper, w->state, t);
    ck_assert_msg(st == TAL_OK, "%s", tal_fixed_stepper_error(w->stepper)->message);
}

// --- equations between coordinates: sum of a x, b sin x and c cos x ---

typedef struct trig_sum {
    double linear[4], sine[4], cosine[4], constant;
} trig_sum;

static inline double trig_value(const void *self, const double x[], int n)
{
    const trig_sum *it = self;
    double sum = it->constant;
    for (int i = 0; i < n; ++i) {
        sum += it->linear[i] * x[i] + it->sine[i] * sin(x[i]) + it->cosine[i] * cos(x[i]);
    }
    return sum;
}

static inline double trig_derivative(const void *self, const double x[], int n, const int wrt[],
                                     int order)
{
    const trig_sum *it = self;
    (void)n;
    const int i = wrt[0];
    if (order == 1) return it->linear[i] + it->sine[i] * cos(x[i]) - it->cosine[i] * sin(x[i]);
    if (order > 2 || wrt[1] != i) return 0.0;
    return -it->sine[i] * sin(x[i]) - it->cosine[i] * cos(x[i]);
}

/// `it` must outlive the System.
static inline void add_trig(realtime_model *w, const trig_sum *it, const tal_mobility args[], int n)
{
    static const tal_function_ops ops = {.size = sizeof ops,
                                         .name = "sum of sines",
                                         .calc_value = trig_value,
                                         .calc_derivative = trig_derivative};
    tal_function_def fdef = tal_function_def_default();
    fdef.ops = &ops;
    fdef.self = (void *)(uintptr_t)it;
    fdef.num_args = n;
    tal_error err;
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create(NULL, &fdef, &f, &err), TAL_OK);
    tal_constraint_def def = tal_constraint_def_default();
    memcpy(def.mobilities, args, (size_t)n * sizeof *args);
    def.num_mobilities = n;
    (void)tal_constraint_add_coordinate_coupler(w->matter, &def, f);
}

static inline tal_body_ix add_planar(realtime_model *w, double mass, double J)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = mass;
    def.mass.inertia = tal_s3_diag(J, J, J);
    return tal_matter_add_planar(w->matter, TAL_GROUND, &def);
}

/// Welch's double pendulum (Welch eq. 67): bodies with q = (th, x, y), four equations; L = 5, m =
/// 1, J = 25/12, gravity 10 along +x, at rest along +y.
static inline realtime_model welch_double_pendulum(void)
{
    enum {
        TH,
        X,
        Y
    };

    static const double half = 2.5;
    static const trig_sum sums[4] = {{.linear = {1, 0}, .sine = {0, -2.5}},
                                     {.linear = {1, 0}, .cosine = {0, -2.5}},
                                     {.linear = {-1, 1, 0, 0}, .sine = {0, 0, -2.5, -2.5}},
                                     {.linear = {-1, 1, 0, 0}, .cosine = {0, 0, -2.5, -2.5}}};
    realtime_model w = begin_realtime(tal_v3(10.0, 0.0, 0.0));
    const tal_body_ix a = add_planar(&w, 1.0, 25.0 / 12.0), b = add_planar(&w, 1.0, 25.0 / 12.0);
    for (int i = 0; i < 2; ++i) {
        const tal_mobility args[] = {{a, X + i}, {a, TH}};
        add_trig(&w, &sums[i], args, 2);
    }
    for (int i = 0; i < 2; ++i) {
        const tal_mobility args[] = {{a, X + i}, {b, X + i}, {a, TH}, {b, TH}};
        add_trig(&w, &sums[2 + i], args, 4);
    }
    finish_realtime(&w);
    tal_body_set_q(w.matter, w.state, a, Y, half);
    tal_body_set_q(w.matter, w.state, b, Y, 3.0 * half);
    return w;
}

/// Welch's slider-crank (Welch eq. 74): q = (th), (ph, x, y).
static inline realtime_model welch_slider_crank(void)
{
    static const double r = 0.3, L = 0.5, L1 = 0.3;
    static trig_sum sums[3];
    sums[0] = (trig_sum){.linear = {0, 0, -1}, .cosine = {r, L1, 0}};
    sums[1] = (trig_sum){.linear = {0, 0, -1}, .sine = {r, L1, 0}};
    sums[2] = (trig_sum){.linear = {0, 1}, .sine = {L - L1, 0}};
    realtime_model w = begin_realtime(tal_v3(0.0, -10.0, 0.0));
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.mass.inertia = tal_s3_diag(0.045, 0.045, 0.045);
    const tal_body_ix crank = tal_matter_add_pin(w.matter, TAL_GROUND, &def);
    const tal_body_ix rod = add_planar(&w, 1.0, 33.0 / 4800.0);
    const tal_mobility x[] = {{crank, 0}, {rod, 0}, {rod, 1}};
    const tal_mobility y[] = {{crank, 0}, {rod, 0}, {rod, 2}};
    const tal_mobility slide[] = {{rod, 0}, {rod, 2}};
    add_trig(&w, &sums[0], x, 3);
    add_trig(&w, &sums[1], y, 3);
    add_trig(&w, &sums[2], slide, 2);
    finish_realtime(&w);
    const double q0[] = {0.9851, -0.5236, 0.4256, 0.1000};
    ck_assert_int_eq(tal_state_set_q(w.state, q0, 4), TAL_OK);
    return w;
}

// --- links along edges of a cube (GJB ex. 8.6 and 8.7; IFToMM benchmark A04) ---

/// How the mass of a link of 1 kg is spread between its ends.
typedef enum link_mass {
    LINK_LUMPED, ///< half at each end
    LINK_ROD     ///< evenly
} link_mass;

// The second moments of mass give the inertia about the origin.
static inline tal_mass_props link_props(tal_vec3 a, tal_vec3 b, link_mass kind)
{
    const tal_vec3 mid = tal_v3_scale(0.5, tal_v3_add(a, b)), along = tal_v3_sub(b, a);
    const double spread = kind == LINK_LUMPED ? 0.25 : 1.0 / 12.0;
    tal_mass_props props = {.mass = 1.0, .com = mid};
    props.inertia =
        tal_s3_add(tal_s3_cross_square(mid), tal_s3_scale(spread, tal_s3_cross_square(along)));
    return props;
}

static inline tal_mat3 frame_along(int axis)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    return tal_m3(e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]);
}

static const tal_vec3 cube_points[6] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {1.0, -1.0, 0.0},
                                        {1.0, -1.0, 1.0}, {0.0, -1.0, 1.0}, {0.0, 0.0, 1.0}};

/// Five links on Ground with pins along y z x y z at points 1 to 5, gravity along -y; closed by a
/// pin along x at point 6, or open. Body frames are Ground's where it is at rest.
static inline realtime_model cube_links(link_mass kind, bool is_closed)
{
    static const int axes[6] = {1, 2, 0, 1, 2, 0};
    realtime_model w = begin_realtime(tal_v3(0.0, -9.81, 0.0));
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 5; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = link_props(cube_points[i], cube_points[i + 1], kind);
        def.X_PF = (tal_xform){frame_along(axes[i]), cube_points[i]};
        def.X_BM = def.X_PF;
        body = tal_matter_add_pin(w.matter, body, &def);
    }
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body);
    const tal_xform at = {frame_along(axes[5]), cube_points[5]};
    if (is_closed) (void)tal_constraint_add_loop_pin(w.matter, &def, &at, &at);
    finish_realtime(&w);
    return w;
}

/// Where point `i`, 0 to 5, of the links is.
static inline tal_vec3 cube_point(const realtime_model *w, int i)
{
    const tal_body_ix body = {i < 5 ? i + 1 : 5};
    return tal_station_p_GS(w->matter, w->state, body, cube_points[i]);
}

static inline double realtime_energy(realtime_model *w)
{
    ck_assert_int_eq(tal_system_realize(w->system, w->state, TAL_STAGE_DYNAMICS), TAL_OK);
    return tal_system_energy(w->system, w->state);
}

#endif // TALUS_REALTIME_SUPPORT_H
