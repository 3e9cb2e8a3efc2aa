// Parameters of the built-in elements: one that is set in a State is one that the System was built
// with, to the last bit, whatever the State had computed before.
#include "force_model.h"

enum {
    MAX_PARAMS = 36,
    NONE = -1
};

// A kind of element, and how to build it from its parameters.
typedef struct kind {
    const char *name;
    int num_params;
    int frame[2]; // where a frame begins among them
    int above[2]; // the first of these is not less than the second
    tal_force_ix (*add)(const model *m, const double p[]);
} kind;

static tal_vec3 vec(const double p[])
{
    return tal_v3(p[0], p[1], p[2]);
}

static tal_xform frame(const double p[])
{
    return tal_xf(tal_m3(vec(p), vec(p + 3), vec(p + 6)), vec(p + 9));
}

static tal_two_points ends(const model *m, const double p[])
{
    return (tal_two_points){m->body[GIMBAL], vec(p), m->body[BALL], vec(p + 3)};
}

static tal_mobility first_of(const model *m, int body)
{
    return (tal_mobility){m->body[body], 0};
}

static tal_force_ix add_spring(const model *m, const double p[])
{
    const tal_two_points at = ends(m, p);
    return tal_forces_add_two_point_spring(m->forces, NULL, &at, p[6], p[7]);
}

static tal_force_ix add_damper(const model *m, const double p[])
{
    const tal_two_points at = ends(m, p);
    return tal_forces_add_two_point_damper(m->forces, NULL, &at, p[6]);
}

static tal_force_ix add_push(const model *m, const double p[])
{
    const tal_two_points at = ends(m, p);
    return tal_forces_add_two_point_force(m->forces, NULL, &at, p[6]);
}

static tal_force_ix add_force(const model *m, const double p[])
{
    return tal_forces_add_constant_force(m->forces, NULL, m->body[BALL], vec(p), vec(p + 3));
}

static tal_force_ix add_torque(const model *m, const double p[])
{
    return tal_forces_add_constant_torque(m->forces, NULL, m->body[BALL], vec(p));
}

static tal_force_ix add_mobility_force(const model *m, const double p[])
{
    return tal_forces_add_mobility_force(m->forces, NULL, first_of(m, PIN), p[0]);
}

static tal_force_ix add_mobility_damper(const model *m, const double p[])
{
    return tal_forces_add_mobility_damper(m->forces, NULL, first_of(m, PIN), p[0]);
}

static tal_force_ix add_global_damper(const model *m, const double p[])
{
    return tal_forces_add_global_damper(m->forces, NULL, p[0]);
}

static tal_force_ix add_friction(const model *m, const double p[])
{
    const tal_friction it = {p[0], p[1], p[2], p[3]};
    return tal_forces_add_mobility_friction(m->forces, NULL, first_of(m, SLIDER), &it);
}

static tal_force_ix add_mobility_spring(const model *m, const double p[])
{
    return tal_forces_add_mobility_spring(m->forces, NULL, first_of(m, GIMBAL), p[0], p[1]);
}

static tal_force_ix add_stop(const model *m, const double p[])
{
    const tal_stop it = {p[0], p[1], p[2], p[3]};
    return tal_forces_add_mobility_stop(m->forces, NULL, first_of(m, SLIDER), &it);
}

static tal_force_ix add_bushing(const model *m, const double p[])
{
    tal_bushing_def def = tal_bushing_def_default();
    def.body1 = m->body[GIMBAL];
    def.body2 = m->body[BALL];
    def.X_B1F = frame(p + TAL_BUSHING_FRAME_1);
    def.X_B2M = frame(p + TAL_BUSHING_FRAME_2);
    memcpy(def.stiffness, p + TAL_BUSHING_STIFFNESS, sizeof def.stiffness);
    memcpy(def.damping, p + TAL_BUSHING_DAMPING, sizeof def.damping);
    return tal_forces_add_bushing(m->forces, NULL, &def);
}

static tal_force_ix add_gear(const model *m, const double p[])
{
    return tal_forces_add_gear_torque(m->forces, NULL, m->body[PIN], p[0], p[1], p[2]);
}

static tal_force_ix add_smooth(const model *m, const double p[])
{
    tal_smooth_contact_def def = tal_smooth_contact_def_default();
    def.sphere_body = m->body[GIMBAL];
    def.center = vec(p + TAL_SMOOTH_CENTER);
    def.plane_body = m->body[BALL];
    def.X_BF = frame(p + TAL_SMOOTH_PLANE);
    def.radius = p[TAL_SMOOTH_RADIUS];
    def.material.stiffness = p[TAL_SMOOTH_STIFFNESS];
    def.material.dissipation = p[TAL_SMOOTH_DISSIPATION];
    def.material.static_friction = p[TAL_SMOOTH_STATIC_FRICTION];
    def.material.dynamic_friction = p[TAL_SMOOTH_DYNAMIC_FRICTION];
    def.material.viscous_friction = p[TAL_SMOOTH_VISCOUS_FRICTION];
    def.transition_speed = p[TAL_SMOOTH_TRANSITION_SPEED];
    def.cf = p[TAL_SMOOTH_CF];
    def.bd = p[TAL_SMOOTH_BD];
    def.bv = p[TAL_SMOOTH_BV];
    return tal_forces_add_smooth_contact(m->forces, NULL, &def);
}

static tal_force_ix add_exponential(const model *m, const double p[])
{
    tal_exponential_spring_def def = tal_exponential_spring_def_default();
    def.body = m->body[GIMBAL];
    def.p_BS = vec(p + TAL_EXPONENTIAL_STATION);
    def.plane_body = m->body[BALL];
    def.X_BF = frame(p + TAL_EXPONENTIAL_PLANE);
    memcpy(&def.d0, p + TAL_EXPONENTIAL_D0, 10 * sizeof def.d0);
    return tal_forces_add_exponential_spring(m->forces, NULL, &def);
}

static tal_force_ix add_thermostat(const model *m, const double p[])
{
    tal_thermostat_def def = tal_thermostat_def_default();
    def.kT = p[TAL_THERMOSTAT_KT];
    def.relaxation_time = p[TAL_THERMOSTAT_TIME];
    def.excluded = p[TAL_THERMOSTAT_EXCLUDED];
    return tal_forces_add_thermostat(m->forces, NULL, &def);
}

static tal_force_ix add_langevin(const model *m, const double p[])
{
    tal_langevin_def def = tal_langevin_def_default();
    def.interval = p[TAL_LANGEVIN_INTERVAL];
    def.kT = p[TAL_LANGEVIN_KT];
    def.friction = p[TAL_LANGEVIN_FRICTION];
    return tal_forces_add_langevin(m->forces, NULL, &def);
}

static const kind kinds[] = {
    {"two-point spring", 8, {NONE, NONE}, {NONE, NONE}, add_spring},
    {"two-point damper", 7, {NONE, NONE}, {NONE, NONE}, add_damper},
    {"two-point force", 7, {NONE, NONE}, {NONE, NONE}, add_push},
    {"constant force", 6, {NONE, NONE}, {NONE, NONE}, add_force},
    {"constant torque", 3, {NONE, NONE}, {NONE, NONE}, add_torque},
    {"mobility force", 1, {NONE, NONE}, {NONE, NONE}, add_mobility_force},
    {"mobility damper", 1, {NONE, NONE}, {NONE, NONE}, add_mobility_damper},
    {"global damper", 1, {NONE, NONE}, {NONE, NONE}, add_global_damper},
    {"friction", 4, {NONE, NONE}, {TAL_FRICTION_STATIC, TAL_FRICTION_DYNAMIC}, add_friction},
    {"mobility spring", 2, {NONE, NONE}, {NONE, NONE}, add_mobility_spring},
    {"stop", 4, {NONE, NONE}, {TAL_STOP_HIGH, TAL_STOP_LOW}, add_stop},
    {"bushing", 36, {TAL_BUSHING_FRAME_1, TAL_BUSHING_FRAME_2}, {NONE, NONE}, add_bushing},
    {"gear torque", 3, {NONE, NONE}, {NONE, NONE}, add_gear},
    {"smooth contact",
     25,
     {TAL_SMOOTH_PLANE, NONE},
     {TAL_SMOOTH_STATIC_FRICTION, TAL_SMOOTH_DYNAMIC_FRICTION},
     add_smooth},
    {"exponential spring",
     25,
     {TAL_EXPONENTIAL_PLANE, NONE},
     {TAL_EXPONENTIAL_MUS, TAL_EXPONENTIAL_MUK},
     add_exponential},
    {"thermostat", 3, {NONE, NONE}, {NONE, NONE}, add_thermostat},
    {"langevin", 3, {NONE, NONE}, {NONE, NONE}, add_langevin},
};

// Numbers between 0.1 and 1 are parameters that any element takes; frames are frames.
static void draw(const kind *it, test_rng *rng, double p[])
{
    for (int i = 0; i < it->num_params; ++i) {
        p[i] = test_random_uniform(rng, 0.1, 1.0);
    }
    for (int k = 0; k < 2; ++k) {
        if (it->frame[k] == NONE) continue;
        const tal_xform X = test_random_xform(rng);
        memcpy(p + it->frame[k], &X, sizeof X);
    }
    if (it->above[0] == NONE) return;
    double *high = &p[it->above[0]], *low = &p[it->above[1]];
    const double first = *high, second = *low;
    *high = fmax(first, second);
    *low = fmin(first, second);
}

static model build(const kind *it, const double p[])
{
    model m = model_begin();
    ck_assert_msg(it->add(&m, p).i == 0, "%s", tal_system_error(m.system)->message);
    tal_forces_track_dissipation(m.forces);
    model_finish(&m);
    return m;
}

static void check_same(const kind *it, model *a, model *b)
{
    const tal_force_ix element = {0};
    model_realize(a, TAL_STAGE_ACCELERATION);
    model_realize(b, TAL_STAGE_ACCELERATION);
    const size_t bytes = (size_t)tal_state_ny(a->state) * sizeof(double);
    const int differ = memcmp(tal_state_ydot(a->state), tal_state_ydot(b->state), bytes);
    ck_assert_msg(differ == 0, "ydot with a %s", it->name);
    ck_assert_double_eq(tal_force_potential_energy(a->forces, a->state, element),
                        tal_force_potential_energy(b->forces, b->state, element));
    ck_assert_double_eq(tal_force_dissipated_power(a->forces, a->state, element),
                        tal_force_dissipated_power(b->forces, b->state, element));
}

START_TEST(a_parameter_that_is_set_is_one_that_was_built_in)
{
    test_rng rng = test_rng_seed(12);
    for (size_t k = 0; k < 3 * sizeof kinds / sizeof kinds[0]; ++k) {
        const kind *it = &kinds[k / 3];
        double before[MAX_PARAMS], after[MAX_PARAMS];
        draw(it, &rng, before);
        draw(it, &rng, after);
        model set = build(it, before), built = build(it, after);
        const tal_force_ix element = {0};
        ck_assert_int_eq(tal_force_num_params(set.forces, element), it->num_params);
        model_realize(&set, TAL_STAGE_ACCELERATION);
        ck_assert_int_eq(
            tal_force_set_params(set.forces, set.state, element, 0, after, it->num_params), TAL_OK);
        check_same(it, &set, &built);

        // frames of bodies move what is attached to them; the other State has computed nothing
        // before
        const tal_xform X_BM = test_random_xform(&rng);
        tal_body_set_X_BM(set.matter, set.state, set.body[BALL], &X_BM);
        model fresh = built;
        ck_assert_int_eq(tal_state_create(built.system, &fresh.state, NULL), TAL_OK);
        model_realize(&fresh, TAL_STAGE_MODEL);
        tal_body_set_X_BM(fresh.matter, fresh.state, fresh.body[BALL], &X_BM);
        tal_state_set_q(fresh.state, tal_state_q(set.state), tal_state_nq(set.state));
        tal_state_set_u(fresh.state, tal_state_u(set.state), tal_state_nu(set.state));
        check_same(it, &set, &fresh);
        tal_state_destroy(fresh.state);
        model_end(&set);
        model_end(&built);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("forces/built_in_params");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_parameter_that_is_set_is_one_that_was_built_in);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
