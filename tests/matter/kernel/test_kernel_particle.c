// matter/src/kernel/kernel_particle.c: bodies that translate on Ground and carry nothing.
#include "talus_test.h"

#include <talus/matter.h>
#include <talus/matter/operators.h>
#include <talus/matter/prescribed.h>

#include <float.h>
#include <math.h>

enum {
    NUM_U = 10,    // two particles, a pin, another particle
    MAX_BODIES = 8 // with Ground, and a load on each particle
};

typedef struct scene {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix particles[3];
} scene;

static tal_mobod_def particle_def(int i)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0 + 0.5 * i;
    def.mass.com = tal_v3(0.1, -0.2 * i, 0.3);
    def.mass.inertia = tal_s3_diag(2.0, 2.2, 2.4);
    def.X_PF.R = tal_rotation_about(TAL_AXIS_Z, 0.3 + i);
    def.X_PF.p = tal_v3(i, 0.5, -1.0);
    return def;
}

// With `laden`, half of each particle is another body that is welded to it, in the same place: the
// same mechanics by the ordinary course.
static tal_body_ix add_particle(tal_matter *matter, int i, bool laden)
{
    const tal_body_ix ground = {0};
    tal_mobod_def def = particle_def(i);
    if (laden) {
        def.mass.mass *= 0.5;
        def.mass.inertia = tal_s3_scale(0.5, def.mass.inertia);
    }
    const tal_body_ix body = tal_matter_add_translation(matter, ground, &def);
    tal_mobod_def rest = tal_mobod_def_default();
    rest.mass = def.mass;
    if (laden) (void)tal_matter_add_weld(matter, body, &rest);
    return body;
}

static scene create(bool laden)
{
    scene s = {.system = tal_system_create(NULL)};
    s.matter = tal_matter_create(s.system);
    s.particles[0] = add_particle(s.matter, 0, laden);
    s.particles[1] = add_particle(s.matter, 1, laden);
    const tal_body_ix ground = {0};
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_sphere(1.0, 0.5);
    (void)tal_matter_add_pin(s.matter, ground, &def);
    s.particles[2] = add_particle(s.matter, 2, laden);
    tal_error why;
    ck_assert_msg(tal_system_realize_topology(s.system, &why) == TAL_OK, "%s", why.message);
    ck_assert_int_eq(tal_state_create(s.system, &s.state, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_MODEL), TAL_OK);
    double *q = tal_state_upd_q(s.state), *u = tal_state_upd_u(s.state);
    for (int i = 0; i < NUM_U; ++i) {
        q[i] = 0.3 * i - 1.0;
        u[i] = 0.7 - 0.2 * i;
    }
    return s;
}

static void destroy(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
}

// A few operations on numbers of order one.
static void assert_close(double a, double b)
{
    ck_assert_double_le(fabs(a - b), 32.0 * DBL_EPSILON * (1.0 + fabs(b)));
}

static void assert_all_close(const double a[], const double b[], int n)
{
    for (int i = 0; i < n; ++i) {
        assert_close(a[i], b[i]);
    }
}

// Mobility forces and M^-1 by both courses, at the State's present locks.
static void compare_dynamics(const scene *a, const scene *b)
{
    double f[NUM_U], udot_a[NUM_U], udot_b[NUM_U], x_a[NUM_U], x_b[NUM_U];
    for (int i = 0; i < NUM_U; ++i) {
        f[i] = sin(1.0 + i);
    }
    tal_spatial_vec F[MAX_BODIES] = {TAL_SPATIAL_VEC_ZERO}, A_a[MAX_BODIES], A_b[MAX_BODIES];
    ck_assert_int_eq(tal_matter_forward_dynamics(a->matter, a->state, F, f, udot_a, A_a), TAL_OK);
    ck_assert_int_eq(tal_matter_forward_dynamics(b->matter, b->state, NULL, f, udot_b, A_b),
                     TAL_OK);
    assert_all_close(udot_a, udot_b, NUM_U);
    ck_assert_int_eq(tal_matter_mul_Minv(a->matter, a->state, f, x_a), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_Minv(b->matter, b->state, f, x_b), TAL_OK);
    assert_all_close(x_a, x_b, NUM_U);
    for (int i = 0; i < 3; ++i) {
        assert_all_close(&A_a[a->particles[i].i].w.x, &A_b[b->particles[i].i].w.x, 6);
    }
}

START_TEST(particles_move_as_by_the_ordinary_course)
{
    scene a = create(false), b = create(true);
    ck_assert_int_eq(tal_system_realize(a.system, a.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_system_realize(b.system, b.state, TAL_STAGE_VELOCITY), TAL_OK);
    const tal_bodies_view X_a = tal_matter_poses(a.matter, a.state);
    const tal_bodies_view X_b = tal_matter_poses(b.matter, b.state);
    const tal_bodies_view V_a = tal_matter_velocities(a.matter, a.state);
    const tal_bodies_view V_b = tal_matter_velocities(b.matter, b.state);
    for (int i = 0; i < 3; ++i) {
        const int ia = a.particles[i].i, ib = b.particles[i].i;
        assert_all_close(&tal_view_X_GM(&X_a, ia)->R.x.x, &tal_view_X_GM(&X_b, ib)->R.x.x, 12);
        assert_all_close(&tal_view_V_GM(&V_a, ia)->w.x, &tal_view_V_GM(&V_b, ib)->w.x, 6);
    }
    compare_dynamics(&a, &b);
    destroy(&a), destroy(&b);
}

START_TEST(a_particle_accelerates_by_force_over_mass_whatever_its_moment)
{
    scene a = create(false);
    ck_assert_int_eq(tal_system_realize(a.system, a.state, TAL_STAGE_VELOCITY), TAL_OK);
    tal_spatial_vec F[MAX_BODIES] = {TAL_SPATIAL_VEC_ZERO}, A[MAX_BODIES];
    double udot[NUM_U];
    const int b = a.particles[1].i;
    F[b] = tal_sv(tal_v3(5.0, 6.0, 7.0), tal_v3(1.0, 2.0, 3.0));
    ck_assert_int_eq(tal_matter_forward_dynamics(a.matter, a.state, F, NULL, udot, A), TAL_OK);
    const tal_spatial_vec expected = {TAL_VEC3_ZERO, tal_v3_scale(1.0 / 1.5, F[b].v)};
    assert_all_close(&A[b].w.x, &expected.w.x, 6);
    destroy(&a);
}

START_TEST(a_locked_particle_takes_the_ordinary_course)
{
    scene a = create(false), b = create(true);
    scene *both[] = {&a, &b};
    for (int i = 0; i < 2; ++i) {
        scene *s = both[i];
        ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_INSTANCE), TAL_OK);
        ck_assert_int_eq(tal_body_lock(s->matter, s->state, s->particles[1], TAL_LEVEL_VELOCITY),
                         TAL_OK);
        ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_VELOCITY), TAL_OK);
    }
    compare_dynamics(&a, &b);
    destroy(&a), destroy(&b);
}

START_TEST(a_particle_without_mass_is_refused_by_name)
{
    scene a = create(false);
    ck_assert_int_eq(tal_system_realize(a.system, a.state, TAL_STAGE_INSTANCE), TAL_OK);
    tal_mass_props none = tal_mass_props_point(0.0, TAL_VEC3_ZERO);
    ck_assert_int_eq(tal_body_set_mass_props(a.matter, a.state, a.particles[2], &none), TAL_OK);
    ck_assert_int_eq(tal_system_realize(a.system, a.state, TAL_STAGE_VELOCITY), TAL_OK);
    double udot[NUM_U];
    ck_assert_int_eq(tal_matter_forward_dynamics(a.matter, a.state, NULL, NULL, udot, NULL),
                     TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(
        strstr(tal_state_error(a.state)->message, tal_body_name(a.matter, a.particles[2])));
    destroy(&a);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/kernel_particle");
    TCase *all = tcase_create("all");
    tcase_add_test(all, particles_move_as_by_the_ordinary_course);
    tcase_add_test(all, a_particle_accelerates_by_force_over_mass_whatever_its_moment);
    tcase_add_test(all, a_locked_particle_takes_the_ordinary_course);
    tcase_add_test(all, a_particle_without_mass_is_refused_by_name);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
