// Energy along trajectories of 10 s with every kind of force: what is gained and lost adds up.
#include "force_model.h"

#include <talus/study.h>

#include <string.h>

// --- an accountant: work that an element brings from outside, as a z ---

typedef struct accountant {
    tal_forces *forces;
    tal_force_ix of; // `i` < 0: none
    tal_group_ix z;
} accountant;

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    accountant *it = self;
    tal_group_def def = tal_group_def_default();
    def.name = "work";
    def.capacity = 1;
    it->forces = forces;
    it->z = tal_force_add_group(forces, me, &def);
    return TAL_OK;
}

static tal_status apply_nothing(const void *self, const tal_force_context *context,
                                tal_spatial_vec F[], double f[])
{
    (void)self, (void)context, (void)F, (void)f;
    return TAL_OK;
}

static tal_status write_power(const void *self, const tal_force_context *context)
{
    const accountant *it = self;
    tal_spatial_vec F[MODEL_BODIES];
    double f[MODEL_NU], power = 0.0;
    const int n = it->of.i >= 0 ? 1 : 0;
    const tal_status st = tal_forces_calc_sum(it->forces, context->state, &it->of, n, F, f);
    for (int b = 0; b < MODEL_BODIES; ++b) {
        power += tal_sv_dot(F[b], tal_body_V_GB(context->matter, context->state, (tal_body_ix){b}));
    }
    for (int i = 0; i < MODEL_NU; ++i) {
        power += f[i] * tal_state_u(context->state)[i];
    }
    *tal_group_upd_dot(context->system, context->state, it->z) = power;
    return st;
}

static const tal_force_ops accountant_ops = {
    .size = sizeof accountant_ops,
    .name = "accountant",
    .apply = apply_nothing,
    .declare = declare,
    .realize_acceleration = write_power,
};

// --- the kinds ---

static tal_two_points between(const model *m)
{
    const tal_two_points points = {
        m->body[GIMBAL], {0.3, -0.2, 0.5}, m->body[BALL], {2.0, 0.1, 0.7}};
    return points;
}

static tal_force_ix add_gravity(model *m)
{
    return tal_forces_add_gravity(m->forces, tal_v3(0.5, -1.0, 0.2));
}

static tal_force_ix add_two_point_spring(model *m)
{
    const tal_two_points at = between(m);
    return tal_forces_add_two_point_spring(m->forces, "it", &at, 5.0, 0.5);
}

static tal_force_ix add_mobility_spring(model *m)
{
    const tal_mobility pin = {m->body[PIN], 0};
    return tal_forces_add_mobility_spring(m->forces, "it", pin, 3.0, 0.2);
}

static tal_force_ix add_nonlinear_spring(model *m)
{
    const double quartic[] = {1.5, 0.0, 0.0, 0.2, 3.0};
    const tal_mobility slider = {m->body[SLIDER], 0};
    tal_function *energy = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, quartic, 5, &energy, NULL), TAL_OK);
    return tal_forces_add_mobility_nonlinear_spring(m->forces, "it", slider, energy);
}

static tal_force_ix add_two_point_damper(model *m)
{
    const tal_two_points at = between(m);
    return tal_forces_add_two_point_damper(m->forces, "it", &at, 0.3);
}

static tal_force_ix add_mobility_damper(model *m)
{
    const tal_mobility gimbal = {m->body[GIMBAL], 0};
    return tal_forces_add_mobility_damper(m->forces, "it", gimbal, 0.3);
}

static tal_force_ix add_global_damper(model *m)
{
    return tal_forces_add_global_damper(m->forces, "it", 0.1);
}

static tal_force_ix add_friction(model *m)
{
    const tal_friction friction = {0.6, 0.5, 0.1, 1.0};
    const tal_mobility slider = {m->body[SLIDER], 0};
    return tal_forces_add_mobility_friction(m->forces, "it", slider, &friction);
}

static tal_force_ix add_stop(model *m)
{
    const tal_stop stop = {4.0, 0.1, -0.2, 0.3};
    const tal_mobility pin = {m->body[PIN], 0};
    return tal_forces_add_mobility_stop(m->forces, "it", pin, &stop);
}

// Between the ends of a pin and a slider: it turns, but not about y of its frames.
static tal_force_ix add_bushing(model *m)
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = m->body[SLIDER];
    for (int i = 0; i < 6; ++i) {
        def.stiffness[i] = 1.0;
        def.damping[i] = 0.2;
    }
    return tal_forces_add_bushing(m->forces, "it", &def);
}

static tal_force_ix add_chain(model *m)
{
    tal_thermostat_def def = tal_thermostat_def_default();
    def.kT = 0.5;
    def.relaxation_time = 1.0;
    return tal_forces_add_thermostat(m->forces, "it", &def);
}

static tal_force_ix add_langevin(model *m)
{
    tal_langevin_def def = tal_langevin_def_default();
    def.kT = 0.5;
    def.friction = 0.5;
    def.interval = 0.001;
    return tal_forces_add_langevin(m->forces, "it", &def);
}

static tal_force_ix add_two_point_force(model *m)
{
    const tal_two_points at = between(m);
    return tal_forces_add_two_point_force(m->forces, "it", &at, 0.5);
}

static tal_force_ix add_constant_force(model *m)
{
    return tal_forces_add_constant_force(m->forces, "it", m->body[GIMBAL], tal_v3(0.1, 0.2, 0.3),
                                         tal_v3(0.3, -0.5, 0.2));
}

static tal_force_ix add_constant_torque(model *m)
{
    return tal_forces_add_constant_torque(m->forces, "it", m->body[BALL], tal_v3(0.3, -0.2, 0.1));
}

static tal_force_ix add_mobility_force(model *m)
{
    const tal_mobility slider = {m->body[SLIDER], 0};
    return tal_forces_add_mobility_force(m->forces, "it", slider, 0.5);
}

static tal_force_ix add_gear(model *m)
{
    return tal_forces_add_gear_torque(m->forces, "it", m->body[PIN], 0.2, 0.3, 0.4);
}

static tal_measure_ix add_wave(model *m)
{
    const tal_subsystem_ix me = tal_forces_subsystem(m->forces);
    return tal_measure_add_sinusoid(m->system, me, "wave", 0.5, 2.0, 0.1);
}

static tal_force_ix add_mobility_actuator(model *m)
{
    const tal_mobility slider = {m->body[SLIDER], 0};
    return tal_forces_add_mobility_actuator(m->forces, "it", slider, 1.0, add_wave(m));
}

static tal_force_ix add_torque_actuator(model *m)
{
    const tal_twist twist = {m->body[PIN], m->body[BALL], {1.0, 2.0, 0.5}, false};
    return tal_forces_add_torque_actuator(m->forces, "it", &twist, 0.3, add_wave(m));
}

static tal_force_ix add_body_actuator(model *m)
{
    const tal_subsystem_ix me = tal_forces_subsystem(m->forces);
    const double six[] = {0.1, -0.2, 0.1, 0.2, 0.3, -0.1};
    const tal_measure_ix constant = tal_measure_add_constant(m->system, me, "six", six, 6);
    const tal_thrust thrust = {m->body[BALL], {0.1, 0.2, 0.3}, true};
    return tal_forces_add_body_actuator(m->forces, "it", &thrust, 1.0, constant);
}

static tal_force_ix add_point_actuator(model *m)
{
    const tal_measure_ix wave = add_wave(m);
    const tal_push push = {m->body[GIMBAL], {0.1, 0.2, 0.3}, {1.0, 2.0, 0.5}, true, false};
    return tal_forces_add_point_actuator(m->forces, "it", &push, 1.0, wave);
}

// --- trajectories ---

typedef tal_force_ix (*add_fn)(model *m);

// The model, with its free body and its slider held by soft springs, and the element.
static model build(add_fn add, accountant *books, bool has_books)
{
    model m = model_begin();
    const tal_two_points tie = {TAL_GROUND, {0.0, 3.0, 0.0}, m.body[FREE], {0.1, 0.0, 0.0}};
    (void)tal_forces_add_two_point_spring(m.forces, "tie", &tie, 2.0, 0.5);
    const tal_mobility slider = {m.body[SLIDER], 0};
    (void)tal_forces_add_mobility_spring(m.forces, "rail", slider, 2.0, 0.0);
    // keeps the gimbal away from where its axes line up
    const tal_mobility middle = {m.body[GIMBAL], 1};
    (void)tal_forces_add_mobility_spring(m.forces, "middle", middle, 50.0, 0.0);
    books->of = add(&m);
    ck_assert_int_ge(books->of.i, 0);
    if (!has_books) books->of.i = -1;
    (void)tal_forces_add(m.forces, "books", &accountant_ops, books);
    tal_forces_track_dissipation(m.forces);
    model_finish(&m);
    return m;
}

// Kinetic + potential + dissipated - work from outside, along 10 s.
static void check_energy(add_fn add, bool has_books, double accuracy, double tol)
{
    accountant books;
    model m = build(add, &books, has_books);
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_dormand_prince();
    def.accuracy = accuracy;
    def.absolute_u = def.absolute_z = true;
    def.fixed_step = add == add_langevin ? 0.001 : 0.0;
    tal_integrator *integ = NULL;
    ck_assert_int_eq(tal_integrator_create(m.system, &def, &integ, NULL), TAL_OK);
    double energy = 0.0;
    for (int k = 0; k <= 10; ++k) {
        ck_assert_msg(tal_integrator_step_to(integ, m.state, k) == TAL_OK, "%s",
                      tal_integrator_error(integ)->message);
        const int slot = tal_group_start(m.system, m.state, books.z);
        const double sum = tal_system_energy(m.system, m.state) +
                           tal_forces_dissipated_energy(m.forces, m.state) -
                           tal_state_z(m.state)[slot];
        if (k == 0) energy = sum;
        ck_assert_double_eq_tol(sum, energy, tol);
    }
    tal_integrator_destroy(integ);
    model_end(&m);
}

// Energies are of size 10. A step may err by the accuracy in speeds and coordinates of size one,
// and some thousand steps add up, mostly at random.
START_TEST(conservative_forces_conserve_energy)
{
    const add_fn kinds[] = {add_gravity, add_two_point_spring, add_mobility_spring,
                            add_nonlinear_spring};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        check_energy(kinds[i], false, 1e-12, 1e-9);
    }
}

END_TEST

START_TEST(what_is_lost_was_dissipated)
{
    const add_fn kinds[] = {
        add_two_point_damper, add_mobility_damper, add_global_damper, add_friction, add_stop,
        add_bushing,          add_chain,           add_langevin};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        check_energy(kinds[i], false, 1e-9, 1e-6);
    }
}

END_TEST

START_TEST(what_comes_from_outside_is_the_work_of_the_forces)
{
    const add_fn kinds[] = {add_two_point_force,
                            add_constant_force,
                            add_constant_torque,
                            add_mobility_force,
                            add_gear,
                            add_point_actuator,
                            add_mobility_actuator,
                            add_torque_actuator,
                            add_body_actuator};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        check_energy(kinds[i], true, 1e-9, 1e-6);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/force_energy");
    TCase *theory = tcase_create("theory");
    tcase_set_timeout(theory, 100);
    tcase_add_test(theory, conservative_forces_conserve_energy);
    tcase_add_test(theory, what_is_lost_was_dissipated);
    tcase_add_test(theory, what_comes_from_outside_is_the_work_of_the_forces);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
