// A compass-gait walker on a slope (PROMISES P8): the times of its heel strikes, within 1e-9 s.
//
// Two legs of 1 m with 5 kg in the middle of each and 10 kg at the hip, on a slope of 3 degrees:
// the walker of Goswami, Thuilot and Espiau (1998), with g = 9.81. It swings like a double pendulum
// about the foot it stands on. When the other foot lands in front of it, what was the swing leg
// stands, and what has stood swings; the angular momentum of the whole about the landing foot is
// kept, and that of the leg that leaves the ground about the hip. The swing foot passes through the
// slope half way, as is usual in the plane. It walks in two ways: by an event whose handler changes
// legs with those momenta, and on hard feet, unilateral elements that find out by themselves when
// they land, hold and leave.
//
// References are from two computations of their own that agree to 1e-22: leg angles, Gragg's method
// extrapolated to order 24, momenta about foot and hip; and hip and legs in five equations with the
// foot held by multipliers, Taylor series, impulses at the landing foot.
#include "stepper_model.h"

#include <talus/matter/unilaterals.h>

#include <math.h>

static const double BOUND = 1e-9;

static const double LENGTH = 1.0, MIDDLE = 0.5, LEG = 5.0, HIP = 10.0;
static const double SLOPE = TAL_PI / 60.0;

enum {
    MOST_STEPS = 40
};

typedef struct walker {
    double t[MOST_STEPS]; // of heel strikes
    int n, wanted;
} walker;

// --- momenta; angles from the normal of the slope, to the left ---

// From the foot of a leg to a point so far up.
static tal_vec3 up(double along, double angle)
{
    return tal_v3(-along * sin(angle), along * cos(angle), 0.0);
}

static tal_vec3 velocity(tal_vec3 p, double rate)
{
    return tal_v3(-rate * p.y, rate * p.x, 0.0);
}

static double moment(double mass, tal_vec3 p, tal_vec3 v)
{
    return mass * (p.x * v.y - p.y * v.x);
}

/// A leg that stands, and one that swings.
typedef struct pose {
    double stands, swings; // [rad]
} pose;

// Angular momentum about the point O, with the foot that stands at the origin.
static double of_all(pose at, pose rate, tal_vec3 O)
{
    const tal_vec3 hip = up(LENGTH, at.stands), v_hip = velocity(hip, rate.stands);
    const tal_vec3 standing = up(MIDDLE, at.stands), arm = up(-MIDDLE, at.swings);
    return moment(HIP, tal_v3_sub(hip, O), v_hip) +
           moment(LEG, tal_v3_sub(standing, O), velocity(standing, rate.stands)) +
           moment(LEG, tal_v3_sub(tal_v3_add(hip, arm), O),
                  tal_v3_add(v_hip, velocity(arm, rate.swings)));
}

// Of one leg about the hip.
static double of_standing(pose at, pose rate)
{
    const tal_vec3 p = up(MIDDLE, at.stands);
    return moment(LEG, tal_v3_sub(p, up(LENGTH, at.stands)), velocity(p, rate.stands));
}

static double of_swinging(pose at, pose rate)
{
    const tal_vec3 arm = up(-MIDDLE, at.swings);
    const tal_vec3 v_hip = velocity(up(LENGTH, at.stands), rate.stands);
    return moment(LEG, arm, tal_v3_add(v_hip, velocity(arm, rate.swings)));
}

// Both momenta are linear in the rates after it: two equations.
static pose rates_after(pose at, pose rate)
{
    const tal_vec3 foot = tal_v3_sub(up(LENGTH, at.stands), up(LENGTH, at.swings));
    const double all = of_all(at, rate, foot), leg = of_standing(at, rate);
    const pose after = {at.swings, at.stands}, first = {1.0, 0.0}, second = {0.0, 1.0};
    const double a = of_all(after, first, TAL_VEC3_ZERO), b = of_all(after, second, TAL_VEC3_ZERO);
    const double c = of_swinging(after, first), d = of_swinging(after, second);
    const double det = a * d - b * c;
    return (pose){(d * all - b * leg) / det, (a * leg - c * all) / det};
}

// --- the walker ---

// The angle between the legs, of which the normal has half on each side when both feet are on the
// slope: the first coordinate is the angle of the leg that stands, the second that of the other
// relative to it.
static tal_status foot_in_front(void *context, const tal_system *system, tal_state *state,
                                double *value)
{
    (void)context;
    (void)system;
    const double *q = tal_state_q(state);
    *value = 2.0 * q[0] + q[1];
    return TAL_OK;
}

static tal_status land(void *context, const tal_system *system, tal_state *state,
                       tal_event_cause cause, bool *terminate)
{
    (void)system;
    (void)cause;
    walker *it = context;
    const double *q = tal_state_q(state), *u = tal_state_u(state);
    const pose at = {q[0], q[0] + q[1]}, rate = {u[0], u[0] + u[1]};
    const pose after = rates_after(at, rate);
    const double new_q[] = {at.swings, at.stands - at.swings};
    const double new_u[] = {after.stands, after.swings - after.stands};
    it->t[it->n++] = tal_state_t(state);
    *terminate = it->n == it->wanted;
    const tal_status st = tal_state_set_q(state, new_q, 2);
    return st == TAL_OK ? tal_state_set_u(state, new_u, 2) : st;
}

// On both feet, the hind one about to leave: half the angle between the legs, and how fast the legs
// turn forwards about foot and hip.
static void walk(walker *it, const tal_integrator_def *def, double half, double stands,
                 double swings)
{
    stepper_model m = begin_stepper_model(9.81);
    const tal_mass_props parts[] = {tal_mass_props_point(LEG, tal_v3(0.0, MIDDLE, 0.0)),
                                    tal_mass_props_point(HIP, tal_v3(0.0, LENGTH, 0.0))};
    tal_mobod_def leg = tal_mobod_def_default();
    leg.mass.mass = LEG + HIP;
    leg.mass.com = tal_v3(0.0, (LEG * MIDDLE + HIP * LENGTH) / (LEG + HIP), 0.0);
    leg.mass.inertia = tal_s3_add(parts[0].inertia, parts[1].inertia); // about the foot
    leg.X_PF.R = tal_rotation_about(TAL_AXIS_Z, -SLOPE);               // downhill is to the right
    const tal_body_ix standing = tal_matter_add_pin(m.matter, TAL_GROUND, &leg);
    leg.mass = tal_mass_props_point(LEG, tal_v3(0.0, -MIDDLE, 0.0));
    leg.X_PF = tal_xf_from_p(tal_v3(0.0, LENGTH, 0.0));
    (void)tal_matter_add_pin(m.matter, standing, &leg);
    tal_happening strike = tal_happening_default();
    strike.name = "heel strike";
    strike.context = it;
    strike.witness = foot_in_front;
    strike.handle = land;
    strike.crossing = TAL_CROSSING_FALLING;
    strike.window = 1e-11;
    (void)tal_events_add(m.events, &strike);
    finish_stepper_model(&m, def, NULL);
    const double q[] = {half, -2.0 * half}, u[] = {-stands, stands + swings};
    (void)tal_state_set_q(m.state, q, 2);
    (void)tal_state_set_u(m.state, u, 2);
    ck_assert_int_eq(run_stepper(&m, 100.0), TAL_OUTCOME_TERMINATED);
    ck_assert_int_eq(it->n, it->wanted);
    end_stepper_model(&m);
}

static tal_integrator_def def_of(int method)
{
    tal_integrator_def def = dormand_prince(1e-12);
    if (method == 1) def.tableau = tal_rk_verner_8();
    if (method == 2) def.method = TAL_METHOD_ARKODE_EXPLICIT;
    if (method == 2) def.order = 8;
    if (method == 3) def.method = TAL_METHOD_CVODE_ADAMS;
    return def;
}

enum {
    NUM_METHODS = 4
};

// The steady gait. It is stable: what is wrong with one step is wrong with the next by a factor of
// 0.58 at most. But times add up: each strike is found up to a window, 1e-11 s, too late.
START_TEST(a_walker_keeps_its_pace)
{
    static const double T = 0.73434639115871944635;
    walker it = {.wanted = MOST_STEPS};
    const tal_integrator_def def = def_of(_i);
    walk(&it, &def, 0.27102868049882042231, 1.0923835898836009622, -0.3773739489071941044);
    for (int k = 0; k < MOST_STEPS; ++k) {
        ck_assert_double_eq_tol(it.t[k], T * (k + 1), BOUND);
    }
}

END_TEST

START_TEST(a_walker_finds_its_pace)
{
    static const double t[] = {0.6152415955019025251, 1.3228837423420123943, 2.1208080935094568362,
                               2.7820279044825262435, 3.4776707585020134082, 4.2362537359386233067,
                               4.9724610206775059476, 5.6986640476657189804, 6.4348221825276509987,
                               7.1713119668707913194, 7.9041225370666023568, 8.6383488990261139818};
    walker it = {.wanted = 12};
    const tal_integrator_def def = def_of(_i);
    walk(&it, &def, 0.25, 1.125, -0.25);
    for (int k = 0; k < it.wanted; ++k) {
        ck_assert_double_eq_tol(it.t[k], t[k], BOUND);
    }
}

END_TEST

// --- on hard feet ---

static void count_strikes(void *context, const tal_system *system, const tal_contact_event *event)
{
    (void)system;
    walker *it = context;
    if (event->kind == TAL_CONTACT_IMPACT && it->n < MOST_STEPS) it->t[it->n++] = event->t;
}

// A foot that stands may go on standing; another one lands only well ahead of it, so that it does
// not scuff. The coordinates are the angle of one leg, its foot along and above the slope, and the
// angle of the other leg relative to it.
static double ahead(void *context, const tal_matter *matter, tal_state *state,
                    tal_unilateral_ix element)
{
    (void)context;
    if (tal_unilateral_mode_of(matter, state, element) != TAL_UNILATERAL_OFF) return 1.0;
    const double *q = tal_state_q(state);
    const double forwards = LENGTH * (sin(q[0] + q[3]) - sin(q[0])); // of the second foot
    return (element.i == 0 ? -forwards : forwards) - 0.2 * LENGTH;
}

static void add_foot(stepper_model *m, tal_body_ix leg, double below)
{
    const tal_mat3 upright =
        tal_m3(tal_v3(1.0, 0.0, 0.0), tal_v3(0.0, 0.0, -1.0), tal_v3(0.0, 1.0, 0.0));
    const tal_xform plane =
        tal_xf(tal_m3_mul(tal_rotation_about(TAL_AXIS_Z, -SLOPE), upright), TAL_VEC3_ZERO);
    tal_unilateral_def foot = tal_unilateral_def_default();
    foot.material.static_mu = (double)INFINITY;
    foot.material.sliding_mu = 1.0;
    foot.margin = ahead;
    (void)tal_unilateral_add_point_on_plane(m->matter, &foot, TAL_GROUND, &plane, leg,
                                            tal_v3(0.0, -below, 0.0));
}

// The steady gait of before. A step is 0.73 s, and its contacts are found to 1e-12 s, but a foot
// that lands is projected onto the slope: 1e-9 m are allowed there.
START_TEST(a_walker_on_hard_feet_keeps_its_pace)
{
    static const double T = 0.73434639115871944635, half = 0.27102868049882042231;
    const double stands = 1.0923835898836009622, swings = -0.3773739489071941044;
    static walker it;
    it = (walker){.wanted = 8};
    stepper_model m = begin_stepper_model(9.81);
    const tal_mass_props parts[] = {tal_mass_props_point(LEG, tal_v3(0.0, MIDDLE, 0.0)),
                                    tal_mass_props_point(HIP, tal_v3(0.0, LENGTH, 0.0))};
    tal_mobod_def leg = tal_mobod_def_default();
    leg.mass.mass = LEG + HIP;
    leg.mass.com = tal_v3(0.0, (LEG * MIDDLE + HIP * LENGTH) / (LEG + HIP), 0.0);
    leg.mass.inertia = tal_s3_add(parts[0].inertia, parts[1].inertia); // about the foot
    leg.X_PF.R = tal_rotation_about(TAL_AXIS_Z, -SLOPE);               // downhill is to the right
    const tal_body_ix one = tal_matter_add_planar(m.matter, TAL_GROUND, &leg);
    leg.mass = tal_mass_props_point(LEG, tal_v3(0.0, -MIDDLE, 0.0));
    leg.X_PF = tal_xf_from_p(tal_v3(0.0, LENGTH, 0.0));
    const tal_body_ix other = tal_matter_add_pin(m.matter, one, &leg);
    add_foot(&m, one, 0.0);
    add_foot(&m, other, LENGTH);
    tal_contacts_def handling = tal_contacts_def_default();
    handling.listen = count_strikes;
    handling.context = &it;
    (void)tal_contacts_create(m.system, &handling);
    const tal_integrator_def def = dormand_prince(1e-12);
    finish_stepper_model(&m, &def, NULL);
    const double q[] = {half, 0.0, 0.0, -2.0 * half}, u[] = {-stands, 0.0, 0.0, stands + swings};
    (void)tal_state_set_q(m.state, q, 4);
    (void)tal_state_set_u(m.state, u, 4);
    (void)run_stepper(&m, T * (it.wanted + 0.5));
    ck_assert_int_eq(it.n, it.wanted);
    for (int k = 0; k < it.wanted; ++k) {
        ck_assert_double_eq_tol(it.t[k], T * (k + 1), BOUND);
    }
    end_stepper_model(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("theory/walker");
    TCase *tests = tcase_create("walker");
    tcase_add_loop_test(tests, a_walker_keeps_its_pace, 0, NUM_METHODS);
    tcase_add_loop_test(tests, a_walker_finds_its_pace, 0, NUM_METHODS);
    tcase_add_test(tests, a_walker_on_hard_feet_keeps_its_pace);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
