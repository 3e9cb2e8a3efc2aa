// Linkages of one degree of freedom against closed forms of 15 digits: a four-bar with its rates
// and accelerations in both modes, Hooke's joint, and the four-bar whose dynamics RBDA's three ways
// of closing loops agree on. ./run validate takes rows of its table from here.
#include "mechanism_support.h"

#include <math.h>

static void lock(const loop *l, tal_body_ix body, tal_level level, double value)
{
    ck_assert_int_eq(
        tal_mobility_lock_at(l->matter, l->state, (tal_mobility){body, 0}, level, value), TAL_OK);
}

// The crank at `q` with speed `u` and acceleration `udot`; what follows finds its place from where
// it is. Leaves the State at Acceleration.
static void drive(const loop *l, tal_body_ix crank, double q, double u, double udot)
{
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-14;
    lock(l, crank, TAL_LEVEL_POSITION, q);
    loop_realize(l, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_system_project_q(l->system, l->state, &options, NULL, NULL), TAL_OK);
    lock(l, crank, TAL_LEVEL_VELOCITY, u);
    loop_realize(l, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_system_project_u(l->system, l->state, &options, NULL, NULL), TAL_OK);
    lock(l, crank, TAL_LEVEL_ACCELERATION, udot);
    loop_realize(l, TAL_STAGE_ACCELERATION);
}

// --- refs:fourbar_kinematics: crank 1, coupler 3, rocker 2.5, ground 3.2 m ---

typedef struct fourbar_row {
    double degrees;
    double angle[2], rate[2], acceleration[2]; // of coupler and rocker, absolute
    double point[2];                           // of the coupler, at (1.2, 0.7)
} fourbar_row;

static const fourbar_row OPEN[] = {
    {0,
     {0.9581921787462742, 1.7619584733259561},
     {-4.545454545454546, -4.545454545454546},
     {-15.067784347868514, 44.19353263173302},
     {1.117292613981625, 1.3842840903172142}},
    {90,
     {0.4988267368289861, 1.7989984870659856},
     {-0.7825712398587594, 3.6452498993667897},
     {21.982705882380344, 18.757421731093647},
     {0.7188964385912748, 2.1887758033291145}},
    {180,
     {0.6281313808699718, 2.358943030111933},
     {2.380952380952381, 2.380952380952381},
     {19.43106112187765, -23.78773245635227},
     {-0.44039130326218173, 1.2715494903995679}},
    {300,
     {1.1941761223181897, 2.2635576439913545},
     {0.6399675095150359, -3.573771158349194},
     {-49.06273784356414, -36.57414374759145},
     {0.29039651723406823, 0.5073159157761401}},
};

static const fourbar_row CROSSED[] = {
    {0,
     {-0.9581921787462742, -1.7619584733259561},
     {-4.545454545454546, -4.545454545454546},
     {10.522329802413969, -48.73898717718757},
     {2.262707386018375, -0.5792840903172143}},
    {90,
     {-1.1045964735789289, -2.4047682238159283},
     {2.5619306704637417, -1.8658904687618076},
     {25.714891665776342, 28.940175817063036},
     {1.1646919362604453, 0.2427069961963897}},
    {180,
     {-0.6281313808699718, -2.358943030111933},
     {2.380952380952381, 2.380952380952381},
     {-17.050108740925268, 26.16868483730465},
     {0.38229606516694364, -0.13877171262179003}},
    {300,
     {-0.5734095907724517, -1.6427911124456165},
     {-2.1325048229478716, 2.0812338449163583},
     {-30.910032443985305, -43.398626539958},
     {1.8878170037118742, -0.9289854244975501}},
};

static void check_fourbar(const char *name, const fourbar_row rows[], int num_rows)
{
    loop l;
    loop_begin(&l);
    l.gravity = TAL_VEC3_ZERO;
    const tal_mass_props any = tal_mass_props_rod(1.0, tal_v3(1.0, 0.0, 0.0));
    const tal_body_ix crank = add_link(&l, TAL_GROUND, 0.0, 0.0, any);
    const tal_body_ix coupler = add_link(&l, crank, 1.0, 0.0, any);
    const tal_body_ix rocker = add_link(&l, TAL_GROUND, 3.2, 0.0, any);
    (void)add_ball(&l, coupler, tal_v3(3.0, 0.0, 0.0), rocker, tal_v3(2.5, 0.0, 0.0));
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    for (int k = 0; k < num_rows; ++k) {
        const fourbar_row *row = &rows[k];
        const double theta = row->degrees * TAL_PI / 180.0;
        // from two degrees off
        const double near[] = {theta, row->angle[0] - theta + 0.035, row->angle[1] - 0.035};
        ck_assert_int_eq(tal_state_set_q(l.state, near, 3), TAL_OK);
        drive(&l, crank, theta, 10.0, 5.0);
        const double *q = tal_state_q(l.state), *u = tal_state_u(l.state);
        const double *udot = tal_state_udot(l.state);
        const double angle[] = {q[0] + q[1], q[2]}, rate[] = {u[0] + u[1], u[2]};
        const double acceleration[] = {udot[0] + udot[1], udot[2]};
        const tal_vec3 p = tal_station_p_GS(l.matter, l.state, coupler, tal_v3(1.2, 0.7, 0.0));
        // some fifty operations; angles are found to the tolerance, rates are 10 times and
        // accelerations 100 times as large
        test_validate(
            name, "refs:fourbar_kinematics", "angles and coupler point", "projection",
            fmax(test_difference(angle, row->angle, 2), test_difference(&p.x, row->point, 2)),
            1e-13);
        test_validate(name, "refs:fourbar_kinematics", "rates [rad/s]", "projection",
                      test_difference(rate, row->rate, 2), 1e-12);
        test_validate(name, "refs:fourbar_kinematics", "accelerations [rad/s^2]", "constraints",
                      test_difference(acceleration, row->acceleration, 2), 1e-11);
    }
    loop_end(&l);
}

START_TEST(a_four_bar_has_its_angles_rates_and_accelerations_in_both_modes)
{
    check_fourbar("four-bar, open", OPEN, 4);
    check_fourbar("four-bar, crossed", CROSSED, 4);
}

END_TEST

// --- refs:cardan_joint: two shafts at an angle, joined by a cross ---
//
// The axes of the two yokes stay at right angles: one equation. At 0 the first lies in the plane of
// the shafts.

static const double CARDAN[][5] = {
    // angle of the shafts, of the input [degrees]; angle of the output, its rate and acceleration
    // where the input turns at 1 rad/s
    {15, 20, 0.36035632401741163, 1.026653699319836, -0.04698553026494381},
    {15, 45, 0.8027288082163566, 0.9993993576384955, -0.06926706961968762},
    {15, 135, 2.3388638453734365, 0.9993993576384955, 0.06926706961968762},
    {30, 0, 0.0, 1.1547005383792515, 0.0},
    {30, 20, 0.39786311404758007, 1.1113655153714046, -0.2291873840278224},
    {30, 70, 1.2654467721561453, 0.8921148058087887, -0.14767887250500947},
    {45, 20, 0.47536334624702803, 1.2661071595780313, -0.7286071490593407},
    {45, 45, 0.9553166181245093, 0.9428090415820634, -0.6285393610547089},
    {45, 135, 2.186276035465284, 0.9428090415820634, 0.6285393610547089},
};

START_TEST(hookes_joint_turns_unevenly_as_it_should)
{
    for (size_t k = 0; k < sizeof CARDAN / sizeof CARDAN[0]; ++k) {
        const double *row = CARDAN[k];
        const double beta = row[0] * TAL_PI / 180.0;
        loop l;
        loop_begin(&l);
        l.gravity = TAL_VEC3_ZERO;
        tal_mobod_def shaft = tal_mobod_def_default();
        shaft.mass = tal_mass_props_sphere(1.0, 0.1);
        const tal_body_ix in = tal_matter_add_pin(l.matter, TAL_GROUND, &shaft);
        // about y: the shafts are in the plane of x and z
        shaft.X_PF = tal_xf_from_R(tal_rotation_about(TAL_AXIS_Y, beta));
        const tal_body_ix out = tal_matter_add_pin(l.matter, TAL_GROUND, &shaft);
        const tal_constraint_def cross = tal_constraint_between(in, out);
        (void)tal_constraint_add_constant_angle(l.matter, &cross, tal_v3(1.0, 0.0, 0.0),
                                                tal_v3(0.0, 1.0, 0.0), 0.5 * TAL_PI);
        loop_finish(&l);
        loop_realize(&l, TAL_STAGE_MODEL);
        const double near[] = {row[1] * TAL_PI / 180.0, row[2] + 0.03};
        ck_assert_int_eq(tal_state_set_q(l.state, near, 2), TAL_OK);
        drive(&l, in, near[0], 1.0, 0.0);
        const double found[] = {tal_state_q(l.state)[out.i - 1], tal_state_u(l.state)[out.i - 1],
                                tal_state_udot(l.state)[out.i - 1]};
        test_validate("Hooke's joint", "refs:cardan_joint", "angle, rate, acceleration",
                      "constraints", test_difference(found, row + 2, 3), 1e-13);
        loop_end(&l);
    }
}

END_TEST

// --- RBDA: a four-bar of slender bars of 1, 2 and 1.5 m and as many kilograms ---

static tal_mass_props bar(double length)
{
    const double I = length * length * length / 12.0, h = 0.5 * length;
    const tal_vec3 com = tal_v3(h, 0.0, 0.0);
    const tal_sym3 about_com = tal_s3_diag(0.01, I, I);
    return (tal_mass_props){length, com,
                            tal_s3_add(about_com, tal_s3_scale(length, tal_s3_cross_square(com)))};
}

// The direct bordered solution, the one by multipliers, and the one in an independent coordinate
// give these numbers (RBDA sec. 8.5, tab. 8.4), with 3e-14 between them.
// Inventory of RBDA: 13.4.
START_TEST(a_four_bar_moves_as_three_ways_of_closing_loops_agree)
{
    static const double q[] = {0.6, -0.14766890996919466, 1.2840863618819323};
    static const double u[] = {0.8, -1.1420119246142548, 0.10616866506014545};
    static const double udot[] = {-11.489540416420912, 16.832188053250974, -0.7530612042197866};
    static const double force[] = {-7.453992565665011, 1.5158905819640938}; // in the third bar
    loop l;
    loop_begin(&l);
    l.gravity = tal_v3(0.0, -9.81, 0.0);
    const tal_body_ix first = add_link(&l, TAL_GROUND, 0.0, 0.0, bar(1.0));
    const tal_body_ix second = add_link(&l, first, 1.0, 0.0, bar(2.0));
    const tal_body_ix third = add_link(&l, TAL_GROUND, 2.2, 0.0, bar(1.5));
    (void)add_ball(&l, second, tal_v3(2.0, 0.0, 0.0), third, tal_v3(1.5, 0.0, 0.0));
    loop_finish(&l);
    loop_realize(&l, TAL_STAGE_MODEL);
    l.push[0] = 0.5;
    ck_assert_int_eq(tal_state_set_q(l.state, q, 3), TAL_OK);
    ck_assert_int_eq(tal_state_set_u(l.state, u, 3), TAL_OK);
    loop_realize(&l, TAL_STAGE_ACCELERATION);
    const char *name = "four-bar of RBDA", *source = "RBDA sec. 8.5, three ways, in Python";
    test_validate(name, source, "accelerations [rad/s^2]", "constraints",
                  test_difference(tal_state_udot(l.state), udot, 3), 1e-12);
    const double *lambda = tal_state_multipliers(l.state);
    const tal_mat3 R = tal_body_X_GB(l.matter, l.state, third).R;
    const tal_vec3 in_third = tal_m3_tmul_v3(R, tal_v3(-lambda[0], -lambda[1], -lambda[2]));
    test_validate(name, source, "force of the loop [N]", "constraints",
                  test_difference(&in_third.x, force, 2), 1e-12);
    loop_end(&l);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("theory/linkages");
    TCase *textbook = tcase_create("textbook");
    tcase_add_test(textbook, a_four_bar_has_its_angles_rates_and_accelerations_in_both_modes);
    tcase_add_test(textbook, hookes_joint_turns_unevenly_as_it_should);
    tcase_add_test(textbook, a_four_bar_moves_as_three_ways_of_closing_loops_agree);
    suite_add_tcase(suite, textbook);
    return test_run(suite);
}
