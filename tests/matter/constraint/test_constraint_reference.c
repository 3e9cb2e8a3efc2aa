// Tests of the built-in constraints against independent numbers: linkages, gears, rolling, sharing.
#include "constraint_support.h"
#include "ref_constraints.h"

static tal_body_ix body(int i)
{
    return (tal_body_ix){i};
}

static void assert_close(double found, double wanted, double relative)
{
    ck_assert_double_eq_tol(found, wanted, relative * fmax(1.0, fabs(wanted)));
}

// A body in the xy plane: com on x, `inertia` about it.
static tal_mobod_def planar_body(double mass, double com_x, double inertia)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = mass;
    def.mass.com = tal_v3(com_x, 0.0, 0.0);
    def.mass.inertia =
        tal_s3_diag(inertia, inertia + mass * com_x * com_x, inertia + mass * com_x * com_x);
    return def;
}

// --- a spatial loop ---

static tal_xform ref_frame(const double e[6])
{
    static const tal_axis axes[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    return tal_xf(tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, e), tal_v3(e[3], e[4], e[5]));
}

static void build_loop(test_model *model, int times)
{
    test_model_begin(model);
    model->gravity = tal_v3(0.3, -9.81, 0.7);
    for (int b = 0; b < 7; ++b) {
        const ref_loop_body *ref = &ref_loop[b];
        tal_mobod_def def = tal_mobod_def_default();
        const double *I = ref->inertia;
        const tal_vec3 com = tal_v3(ref->com[0], ref->com[1], ref->com[2]);
        const tal_sym3 about_com = {I[0], I[1], I[2], I[3], I[4], I[5]};
        def.mass.mass = ref->mass;
        def.mass.com = com;
        def.mass.inertia = tal_s3_add(about_com, tal_s3_scale(ref->mass, tal_s3_cross_square(com)));
        def.X_PF = ref_frame(ref->X_PF);
        def.X_BM = ref_frame(ref->X_BM);
        (void)tal_matter_add_pin(model->matter, body(b), &def);
        model->f[b] = ref->tau;
    }
    const tal_constraint_def held = tal_constraint_between(TAL_GROUND, body(7));
    const double *target = ref_loop_target, *tip = ref_loop_tip;
    for (int k = 0; k < times; ++k) {
        (void)tal_constraint_add_ball(model->matter, &held, tal_v3(target[0], target[1], target[2]),
                                      tal_v3(tip[0], tip[1], tip[2]));
    }
    test_model_freeze(model);
    for (int b = 0; b < 7; ++b) {
        tal_state_upd_q(model->state)[b] = ref_loop[b].q;
        tal_state_upd_u(model->state)[b] = ref_loop[b].u;
    }
    test_model_realize(model, TAL_STAGE_ACCELERATION);
}

// The reference is good to 1e-18; a chain of seven bodies and W of condition 1e2 leave 1e-12. Said
// three times, each ball carries a third.
START_TEST(a_chain_held_by_a_ball_moves_as_computed_with_80_digits)
{
    for (int times = 1; times <= 3; times += 2) {
        test_model model;
        build_loop(&model, times);
        for (int j = 0; j < 7; ++j) {
            assert_close(tal_state_udot(model.state)[j], ref_loop_udot[j], 1e-12);
        }
        for (int r = 0; r < 3 * times; ++r) {
            const double force = -tal_state_multipliers(model.state)[r];
            assert_close(force, ref_loop_force[r % 3] / times, 1e-12);
        }
        ck_assert_double_le(test_largest(tal_state_qerr(model.state), 3), 1e-14);
        ck_assert_double_le(test_largest(tal_state_uerr(model.state), 3), 1e-14);
        test_model_end(&model);
    }
}

// --- planar linkages ---

// Crank and rocker on Ground, coupler on the crank, its end and the rocker's held together.
static void build_fourbar(test_model *model, int closure)
{
    test_model_begin(model);
    model->gravity = tal_v3(0.0, -9.81, 0.0);
    const tal_mobod_def crank = planar_body(1.0, 0.5, 0.1);
    (void)tal_matter_add_pin(model->matter, TAL_GROUND, &crank);
    tal_mobod_def coupler = planar_body(2.0, 1.5, 1.0);
    coupler.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    (void)tal_matter_add_pin(model->matter, body(1), &coupler);
    tal_mobod_def rocker = planar_body(1.5, 1.25, 0.7);
    rocker.X_PF = tal_xf_from_p(tal_v3(3.2, 0.0, 0.0));
    (void)tal_matter_add_pin(model->matter, TAL_GROUND, &rocker);

    const tal_constraint_def between = tal_constraint_between(body(2), body(3));
    const tal_vec3 end2 = tal_v3(3.0, 0.0, 0.0), end3 = tal_v3(2.5, 0.0, 0.0);
    const tal_xform X_2 = tal_xf_from_p(end2), X_3 = tal_xf_from_p(end3);
    if (closure == 0) (void)tal_constraint_add_ball(model->matter, &between, end2, end3);
    if (closure == 1) (void)tal_constraint_add_loop_pin(model->matter, &between, &X_2, &X_3);
    if (closure == 2) {
        (void)tal_constraint_add_point_on_line(model->matter, &between, tal_v3(0.0, 0.0, 1.0), end2,
                                               end3);
    }
    const tal_constraint_def drive = tal_constraint_on(body(1), 0);
    (void)tal_constraint_add_constant_acceleration(model->matter, &drive, 5.0);
    test_model_freeze(model);
}

// Crank at 10 rad/s and 5 rad/s^2. Near its change points the loop loses a digit or two.
START_TEST(a_four_bar_moves_as_its_loop_equations_say)
{
    for (int closure = 0; closure < 3; ++closure) {
        test_model model;
        build_fourbar(&model, closure);
        for (size_t k = 0; k < sizeof ref_fourbar / sizeof ref_fourbar[0]; ++k) {
            const ref_fourbar_row *row = &ref_fourbar[k];
            const double theta2 = row->theta2_deg * TAL_PI / 180.0;
            double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
            q[0] = theta2, q[1] = row->theta3 - theta2, q[2] = row->theta4;
            u[0] = 10.0, u[1] = row->omega3 - 10.0, u[2] = row->omega4;
            test_model_realize(&model, TAL_STAGE_ACCELERATION);
            const int np = tal_state_pool_size(model.state, TAL_POOL_QERR);
            ck_assert_double_le(test_largest(tal_state_qerr(model.state), np), 1e-14);
            ck_assert_double_le(test_largest(tal_state_uerr(model.state), np), 1e-12);
            const double *udot = tal_state_udot(model.state);
            assert_close(udot[0], 5.0, 1e-12);
            assert_close(udot[0] + udot[1], row->alpha3, 1e-11);
            assert_close(udot[2], row->alpha4, 1e-11);
        }
        test_model_end(&model);
    }
}

// The coupler cut in two: one half on the crank, the other on the rocker.
START_TEST(a_four_bar_with_its_coupler_cut_moves_the_same)
{
    test_model model;
    test_model_begin(&model);
    const tal_mobod_def crank = planar_body(1.0, 0.5, 0.1);
    (void)tal_matter_add_pin(model.matter, TAL_GROUND, &crank);
    tal_mobod_def coupler = planar_body(2.0, 1.5, 1.0);
    coupler.X_PF = tal_xf_from_p(tal_v3(1.0, 0.0, 0.0));
    (void)tal_matter_add_pin(model.matter, body(1), &coupler);
    tal_mobod_def rocker = planar_body(1.5, 1.25, 0.7);
    rocker.X_PF = tal_xf_from_p(tal_v3(3.2, 0.0, 0.0));
    (void)tal_matter_add_pin(model.matter, TAL_GROUND, &rocker);
    tal_mobod_def half = tal_mobod_def_default();
    half.X_PF = tal_xf_from_p(tal_v3(2.5, 0.0, 0.0));
    half.X_BM = tal_xf_from_p(tal_v3(3.0, 0.0, 0.0));
    tal_constraint_ix weld = {-1};
    const tal_body_ix added = tal_matter_split_body(model.matter, body(2), body(3), &half,
                                                    tal_mobilizer_pin(), NULL, NULL, &weld);
    ck_assert_int_eq(added.i, 4);
    ck_assert_int_eq(weld.i, 0);
    const tal_constraint_def drive = tal_constraint_on(body(1), 0);
    (void)tal_constraint_add_constant_acceleration(model.matter, &drive, 5.0);
    test_model_freeze(&model);
    ck_assert_double_eq(tal_body_mass_props(model.matter, model.state, body(2)).mass, 1.0);
    ck_assert_double_eq(tal_body_mass_props(model.matter, model.state, added).mass, 1.0);
    const ref_fourbar_row *row = &ref_fourbar[2];
    const double theta2 = row->theta2_deg * TAL_PI / 180.0;
    double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
    q[0] = theta2, q[1] = row->theta3 - theta2, q[2] = row->theta4;
    q[3] = row->theta3 - row->theta4;
    u[0] = 10.0, u[1] = row->omega3 - 10.0, u[2] = row->omega4;
    u[3] = row->omega3 - row->omega4;
    test_model_realize(&model, TAL_STAGE_ACCELERATION);

    ck_assert_double_le(test_largest(tal_state_qerr(model.state), 6), 1e-14);
    ck_assert_double_le(test_largest(tal_state_uerr(model.state), 6), 1e-12);
    const double *udot = tal_state_udot(model.state);
    assert_close(udot[0] + udot[1], row->alpha3, 1e-11);
    assert_close(udot[2], row->alpha4, 1e-11);
    assert_close(udot[2] + udot[3], row->alpha3, 1e-11);
    test_model_end(&model);
}

static void build_slider_crank(test_model *model)
{
    test_model_begin(model);
    model->gravity = tal_v3(0.0, -9.81, 0.0);
    const tal_mobod_def crank = planar_body(1e-9, 0.0, 0.002);
    (void)tal_matter_add_pin(model->matter, TAL_GROUND, &crank);
    tal_mobod_def rod = planar_body(0.8, 0.12, 0.01);
    rod.X_PF = tal_xf_from_p(tal_v3(0.1, 0.0, 0.0));
    (void)tal_matter_add_pin(model->matter, body(1), &rod);
    const tal_mobod_def slider = planar_body(1.2, 0.0, 0.01);
    (void)tal_matter_add_slider(model->matter, TAL_GROUND, &slider);
    const tal_constraint_def between = tal_constraint_between(body(2), body(3));
    (void)tal_constraint_add_ball(model->matter, &between, tal_v3(0.35, 0.0, 0.0), TAL_VEC3_ZERO);
    const tal_constraint_def drive = tal_constraint_on(body(1), 0);
    (void)tal_constraint_add_constant_acceleration(model->matter, &drive, 0.0);
    test_model_freeze(model);
}

// The multiplier of the drive is minus the torque that keeps the crank at 50 rad/s.
START_TEST(a_slider_crank_takes_the_torque_of_the_closed_form)
{
    test_model model;
    build_slider_crank(&model);
    for (size_t k = 0; k < sizeof ref_slider_crank / sizeof ref_slider_crank[0]; ++k) {
        const ref_slider_crank_row *row = &ref_slider_crank[k];
        const double theta = row->theta_deg * TAL_PI / 180.0;
        double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
        q[0] = theta, q[1] = row->phi - theta, q[2] = row->x;
        u[0] = 50.0, u[1] = row->phidot - 50.0, u[2] = row->xdot;
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(test_largest(tal_state_qerr(model.state), 3), 1e-15);
        ck_assert_double_le(test_largest(tal_state_uerr(model.state), 3), 1e-14);
        const double *udot = tal_state_udot(model.state);
        // accelerations of size 1e3 are differences of such, to round-off
        ck_assert_double_eq_tol(udot[2], row->xddot, 1e-11);
        ck_assert_double_eq_tol(udot[0] + udot[1], row->phiddot, 1e-10);
        ck_assert_double_eq_tol(-tal_state_multipliers(model.state)[3], row->drive_torque, 2e-12);
    }
    test_model_end(&model);
}

// The two shafts are pins at an angle beta, the cross is a universal joint between them. At
// constant input speed w the output accelerates with dratio/dtheta w^2.
START_TEST(two_shafts_joined_by_a_cross_turn_by_the_textbook_ratio)
{
    for (size_t k = 0; k < sizeof ref_cardan / sizeof ref_cardan[0]; ++k) {
        const ref_cardan_row *row = &ref_cardan[k];
        test_model model;
        test_model_begin(&model);
        tal_mobod_def shaft = planar_body(1.0, 0.0, 0.3);
        (void)tal_matter_add_pin(model.matter, TAL_GROUND, &shaft);
        shaft.X_PF = tal_xf_from_R(tal_rotation_about(TAL_AXIS_Y, row->beta_deg * TAL_PI / 180.0));
        (void)tal_matter_add_pin(model.matter, TAL_GROUND, &shaft);
        const tal_constraint_def cross = tal_constraint_between(body(1), body(2));
        const tal_xform here = TAL_XFORM_IDENTITY;
        (void)tal_constraint_add_loop_universal(model.matter, &cross, &here, &here);
        const tal_constraint_def drive = tal_constraint_on(body(1), 0);
        (void)tal_constraint_add_constant_acceleration(model.matter, &drive, 0.0);
        test_model_freeze(&model);
        double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
        q[0] = row->theta_in_deg * TAL_PI / 180.0, q[1] = row->theta_out;
        u[0] = 3.0, u[1] = 3.0 * row->ratio;
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(test_largest(tal_state_qerr(model.state), 4), 1e-15);
        ck_assert_double_le(test_largest(tal_state_uerr(model.state), 4), 1e-14);
        assert_close(tal_state_udot(model.state)[1], 9.0 * row->dratio, 1e-13);
        test_model_end(&model);
    }
}

START_TEST(six_rods_hold_a_stewart_platform_where_its_legs_say)
{
    static const tal_axis axes[3] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    for (size_t k = 0; k < sizeof ref_stewart / sizeof ref_stewart[0]; ++k) {
        const ref_stewart_row *row = &ref_stewart[k];
        test_model model;
        test_model_begin(&model);
        model.gravity = tal_v3(0.0, 0.0, -9.81);
        tal_mobod_def platform = tal_mobod_def_default();
        platform.mass = tal_mass_props_sphere(3.0, 0.5);
        (void)tal_matter_add_free(model.matter, TAL_GROUND, &platform);
        for (int leg = 0; leg < 6; ++leg) {
            const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
            const double *b = ref_stewart_base[leg], *p = ref_stewart_platform[leg];
            (void)tal_constraint_add_rod(model.matter, &def, tal_v3(b[0], b[1], b[2]),
                                         tal_v3(p[0], p[1], p[2]), row->legs[leg]);
        }
        test_model_freeze(&model);
        const tal_xform X = tal_xf(tal_rotation_from_angles(TAL_SPACE_FIXED, 3, axes, row->angles),
                                   tal_v3(row->p[0], row->p[1], row->p[2]));
        ck_assert_int_eq(tal_body_fit_q(model.matter, model.state, body(1), &X), TAL_OK);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(test_largest(tal_state_qerr(model.state), 6), 1e-14);

        // no freedom is left, and the legs push up with the weight: tension is the multiplier
        ck_assert_double_le(test_largest(tal_state_udot(model.state), 6), 1e-12);
        double up = 0.0;
        for (int leg = 0; leg < 6; ++leg) {
            const double *p = ref_stewart_platform[leg];
            const tal_vec3 joint = tal_xf_apply(X, tal_v3(p[0], p[1], p[2]));
            up -= tal_state_multipliers(model.state)[leg] * joint.z / row->legs[leg];
        }
        assert_close(up, 3.0 * 9.81, 1e-13);
        test_model_end(&model);
    }
}

// --- rolling and gears ---

// A knife edge at A lets A move along body x only: vdot = a w^2, wdot = -a v w / kappa^2 with
// kappa^2 = (I + m a^2) / m.
START_TEST(a_chaplygin_sleigh_moves_as_chaplygin_found)
{
    test_model model;
    test_model_begin(&model);
    const tal_mobod_def sleigh = planar_body(2.0, 0.25, 0.3);
    (void)tal_matter_add_planar(model.matter, TAL_GROUND, &sleigh);
    tal_constraint_def edge = tal_constraint_between(body(1), TAL_GROUND);
    edge.bodies[2] = body(1);
    (void)tal_constraint_add_no_slip_1d(model.matter, &edge, TAL_VEC3_ZERO, tal_v3(0.0, 1.0, 0.0));
    test_model_freeze(&model);
    const double kappa2 = (0.3 + 2.0 * 0.25 * 0.25) / 2.0;
    for (size_t k = 0; k < sizeof ref_sleigh / sizeof ref_sleigh[0]; ++k) {
        const ref_sleigh_row *row = &ref_sleigh[k];
        double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
        const double c = cos(row->theta), s = sin(row->theta), w = row->omega, v = row->v;
        q[0] = row->theta, q[1] = row->x, q[2] = row->y;
        u[0] = w, u[1] = v * c, u[2] = v * s;
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(fabs(tal_state_uerr(model.state)[0]), 1e-15);
        const double *udot = tal_state_udot(model.state);
        const double vdot = 0.25 * w * w;
        ck_assert_double_eq_tol(udot[0], -0.25 * v * w / kappa2, 1e-13);
        ck_assert_double_eq_tol(udot[1], vdot * c - v * w * s, 1e-13);
        ck_assert_double_eq_tol(udot[2], vdot * s + v * w * c, 1e-13);
    }
    test_model_end(&model);
}

// Sun 20, planet 20, ring 60 teeth, ring fixed: the carrier turns at a quarter of the sun's speed,
// the planet at minus a half. The carrier is the case, so the points of contact go around with it.
START_TEST(a_planetary_gear_has_the_ratio_of_willis)
{
    test_model model;
    test_model_begin(&model);
    const tal_mobod_def wheel = planar_body(1.0, 0.0, 0.02);
    (void)tal_matter_add_pin(model.matter, TAL_GROUND, &wheel); // sun
    (void)tal_matter_add_pin(model.matter, TAL_GROUND, &wheel); // carrier
    tal_mobod_def planet = wheel;
    planet.X_PF = tal_xf_from_p(tal_v3(0.4, 0.0, 0.0));
    (void)tal_matter_add_pin(model.matter, body(2), &planet);
    const tal_vec3 across = tal_v3(0.0, 1.0, 0.0);
    tal_constraint_def mesh = tal_constraint_between(body(2), body(1));
    mesh.bodies[2] = body(3);
    (void)tal_constraint_add_no_slip_1d(model.matter, &mesh, tal_v3(0.2, 0.0, 0.0), across);
    mesh.bodies[1] = TAL_GROUND;
    (void)tal_constraint_add_no_slip_1d(model.matter, &mesh, tal_v3(0.6, 0.0, 0.0), across);
    test_model_freeze(&model);
    model.f[0] = 0.7;
    double *q = tal_state_upd_q(model.state), *u = tal_state_upd_u(model.state);
    q[0] = 0.3, q[1] = 1.1, q[2] = -0.4;
    u[0] = 4.0, u[1] = 1.0, u[2] = -2.0 - 1.0;
    test_model_realize(&model, TAL_STAGE_ACCELERATION);

    ck_assert_double_le(test_largest(tal_state_uerr(model.state), 2), 1e-15);
    const double *udot = tal_state_udot(model.state);
    ck_assert_double_gt(udot[0], 0.1);
    assert_close(udot[1], 0.25 * udot[0], 1e-14);
    assert_close(udot[1] + udot[2], -0.5 * udot[0], 1e-14);
    test_model_end(&model);
}

START_TEST(a_rack_follows_its_pinion)
{
    test_model model;
    test_model_begin(&model);
    const tal_mobod_def rack = planar_body(5.0, 0.0, 0.1), pinion = planar_body(1.0, 0.0, 0.02);
    (void)tal_matter_add_slider(model.matter, TAL_GROUND, &rack);
    (void)tal_matter_add_pin(model.matter, TAL_GROUND, &pinion);
    tal_constraint_def teeth = tal_constraint_on(body(1), 0);
    teeth.mobilities[1] = (tal_mobility){body(2), 0};
    teeth.num_mobilities = 2;
    const double a[2] = {1.0, -0.1};
    tal_function *f = NULL;
    ck_assert_int_eq(tal_function_create_linear(NULL, a, 2, 0.0, &f, NULL), TAL_OK);
    (void)tal_constraint_add_coordinate_coupler(model.matter, &teeth, f);
    test_model_freeze(&model);
    model.f[1] = 3.0;
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    assert_close(tal_state_udot(model.state)[0], 4.2857142857142857143, 1e-15);
    test_model_end(&model);
}

// A solid ball rolls down a slope with 5/7 g sin(a), and slides down it with g sin(a).
START_TEST(a_ball_rolls_down_a_slope_with_five_sevenths_of_g)
{
    for (int rolling = 0; rolling < 2; ++rolling) {
        test_model model;
        test_model_begin(&model);
        const double slope = 0.4;
        model.gravity = tal_v3(9.81 * sin(slope), 0.0, -9.81 * cos(slope));
        tal_mobod_def ball = tal_mobod_def_default();
        ball.mass = tal_mass_props_sphere(2.0, 0.3);
        (void)tal_matter_add_free(model.matter, TAL_GROUND, &ball);
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
        const tal_xform plane = tal_xf_from_p(tal_v3(0.0, 0.0, 0.1));
        (void)tal_constraint_add_sphere_on_plane_contact(model.matter, &def, &plane, TAL_VEC3_ZERO,
                                                         0.3, rolling != 0);
        test_model_freeze(&model);
        tal_body_set_q(model.matter, model.state, body(1), 6, 0.4);
        tal_body_set_u(model.matter, model.state, body(1), 1, 2.0);
        tal_body_set_u(model.matter, model.state, body(1), 3, 0.6);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);

        ck_assert_double_le(fabs(tal_state_qerr(model.state)[0]), 1e-15);
        ck_assert_double_le(test_largest(tal_state_uerr(model.state), 1 + 2 * rolling), 1e-15);
        const double share = rolling ? 5.0 / 7.0 : 1.0;
        assert_close(tal_state_udot(model.state)[3], share * 9.81 * sin(slope), 1e-14);
        // a contact that pushes has a negative multiplier
        assert_close(tal_state_multipliers(model.state)[0], -2.0 * 9.81 * cos(slope), 1e-14);
        test_model_end(&model);
    }
}

// A thin disk rolls steadily in a circle. With e3 its axis, e2 up along it, e1 = e2 x e3, tilted by
// a from lying flat, it turns with w = W z + s e3, w . e3 = w3, about the vertical. From
// d/dt (A w2 e2 + C w3 e3) = W z x (...) and the contact force m (W z x v + g z) at -r e2:
//
//     w3 W sin(a) (C + m r^2) = (A W^2 sin(a) - m g r) cos(a)
//     v = -r w3 e1,    vdot = -r w3 W h,  h = z x e1,    wdot = W s z x e3
START_TEST(a_disk_rolls_in_a_circle)
{
    const double m = 2.0, r = 0.3, g = 9.81;
    const double A = 0.25 * m * r * r, C = 0.5 * m * r * r;
    for (int k = 0; k < 6; ++k) {
        const double a = 0.3 + 0.35 * k, W = 1.5 + 0.5 * k;
        const double w3 =
            (A * W * W * sin(a) - m * g * r) * cos(a) / ((C + m * r * r) * W * sin(a));
        const double s = w3 - W * cos(a);
        test_model model;
        test_model_begin(&model);
        model.gravity = tal_v3(0.0, 0.0, -g);
        tal_mobod_def disk = tal_mobod_def_default();
        disk.mass = (tal_mass_props){m, TAL_VEC3_ZERO, {A, A, C, 0.0, 0.0, 0.0}};
        (void)tal_matter_add_free(model.matter, TAL_GROUND, &disk);
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
        const tal_xform plane = tal_xf_from_p(tal_v3(0.3, -0.2, 0.1));
        (void)tal_constraint_add_disk_on_plane_contact(model.matter, &def, &plane, TAL_VEC3_ZERO,
                                                       tal_v3(0.0, 0.0, 2.0), r, true);
        test_model_freeze(&model);
        const double q[7] = {cos(0.5 * a), sin(0.5 * a), 0.0, 0.0, 0.4, 0.5, 0.1 + r * sin(a)};
        // e3 = (0, -sin a, cos a), e2 = (0, cos a, sin a), e1 = x, h = y
        const double u[6] = {0.0, -s * sin(a), W + s * cos(a), -r * w3, 0.0, 0.0};
        for (int i = 0; i < 7; ++i) {
            tal_body_set_q(model.matter, model.state, body(1), i, q[i]);
        }
        for (int i = 0; i < 6; ++i) {
            tal_body_set_u(model.matter, model.state, body(1), i, u[i]);
        }
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        ck_assert_double_le(fabs(tal_state_qerr(model.state)[0]), 1e-15);
        // products of speeds up to 20
        ck_assert_double_le(test_largest(tal_state_uerr(model.state), 3), 1e-14);
        const double udot[6] = {W * s * sin(a), 0.0, 0.0, 0.0, -r * w3 * W, 0.0};
        test_assert_near(tal_state_udot(model.state), udot, 6, 1e-12, "udot");
        // the plane bears the weight, and holds the disk in its circle
        const double lambda[3] = {-m * g, 0.0, m * r * w3 * W};
        test_assert_near(tal_state_multipliers(model.state), lambda, 3, 1e-12, "multipliers");
        test_model_end(&model);
    }
}

// A disk that lies flat has no lowest point, and no result that is not finite.
START_TEST(a_disk_that_lies_flat_has_finite_results)
{
    test_model model;
    test_model_begin(&model);
    tal_mobod_def disk = tal_mobod_def_default();
    disk.mass = tal_mass_props_sphere(2.0, 0.3);
    (void)tal_matter_add_free(model.matter, TAL_GROUND, &disk);
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
    const tal_xform plane = TAL_XFORM_IDENTITY;
    (void)tal_constraint_add_disk_on_plane_contact(model.matter, &def, &plane, TAL_VEC3_ZERO,
                                                   tal_v3(0.0, 0.0, 1.0), 0.3, true);
    test_model_freeze(&model);
    tal_body_set_u(model.matter, model.state, body(1), 2, 2.0);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    for (int i = 0; i < 6; ++i) {
        ck_assert(isfinite(tal_state_udot(model.state)[i]));
    }
    ck_assert_double_eq(tal_state_qerr(model.state)[0], 0.0);
    test_model_end(&model);
}

// At rest at an angle from the top of a fixed ball, another rolls down with 5/7 g sin(a), slides
// with g sin(a).
START_TEST(a_ball_rolls_down_another_with_five_sevenths_of_g)
{
    for (int rolling = 0; rolling < 2; ++rolling) {
        test_model model;
        test_model_begin(&model);
        model.gravity = tal_v3(0.0, 0.0, -9.81);
        tal_mobod_def ball = tal_mobod_def_default();
        ball.mass = tal_mass_props_sphere(2.0, 0.3);
        (void)tal_matter_add_free(model.matter, TAL_GROUND, &ball);
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
        (void)tal_constraint_add_sphere_on_sphere_contact(model.matter, &def, TAL_VEC3_ZERO, 0.7,
                                                          TAL_VEC3_ZERO, 0.3, rolling != 0);
        test_model_freeze(&model);
        const double angle = 0.6;
        tal_body_set_q(model.matter, model.state, body(1), 4, sin(angle));
        tal_body_set_q(model.matter, model.state, body(1), 6, cos(angle));
        test_model_realize(&model, TAL_STAGE_ACCELERATION);

        ck_assert_double_le(fabs(tal_state_qerr(model.state)[0]), 1e-15);
        const double down = (rolling ? 5.0 / 7.0 : 1.0) * 9.81 * sin(angle);
        assert_close(tal_state_udot(model.state)[3], down * cos(angle), 1e-14);
        assert_close(tal_state_udot(model.state)[5], -down * sin(angle), 1e-14);
        test_model_end(&model);
    }
}

// An edge that only translates keeps its direction, so it touches another where a point of it is in
// the plane of the two directions.
START_TEST(edges_that_do_not_turn_touch_in_a_plane)
{
    double udot[2][3];
    for (int by_plane = 0; by_plane < 2; ++by_plane) {
        test_model model;
        test_model_begin(&model);
        model.gravity = tal_v3(1.0, 2.0, -9.81);
        tal_mobod_def block = tal_mobod_def_default();
        block.mass = tal_mass_props_sphere(2.0, 0.3);
        (void)tal_matter_add_translation(model.matter, TAL_GROUND, &block);
        const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
        test_rng rng = test_rng_seed(3);
        const tal_xform edge1 = test_random_xform(&rng), edge2 = test_random_xform(&rng);
        if (by_plane) {
            const tal_vec3 n = tal_v3_normalize(tal_v3_cross(edge1.R.x, edge2.R.x));
            (void)tal_constraint_add_point_in_plane(model.matter, &def, n, tal_v3_dot(n, edge1.p),
                                                    edge2.p);
        } else {
            (void)tal_constraint_add_line_on_line_contact(model.matter, &def, &edge1, &edge2,
                                                          false);
        }
        test_model_freeze(&model);
        test_model_realize(&model, TAL_STAGE_ACCELERATION);
        memcpy(udot[by_plane], tal_state_udot(model.state), sizeof udot[0]);
        test_model_end(&model);
    }
    test_assert_near(udot[0], udot[1], 3, 1e-14, "udot");
}

// --- rods ---

// Two point masses on rods swing like two pins.
START_TEST(a_double_pendulum_of_rods_moves_like_one_of_pins)
{
    test_model pins, rods;
    test_model_begin(&pins);
    test_model_begin(&rods);
    pins.gravity = rods.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(1.5, TAL_VEC3_ZERO);
    for (int b = 0; b < 2; ++b) {
        tal_mobod_def hung = bob;
        hung.X_BM = tal_xf_from_p(tal_v3(0.0, 0.8, 0.0));
        (void)tal_matter_add_pin(pins.matter, body(b), &hung);
        (void)tal_matter_add_translation(rods.matter, TAL_GROUND, &bob);
    }
    const tal_constraint_def upper = tal_constraint_between(TAL_GROUND, body(1));
    const tal_constraint_def lower = tal_constraint_between(body(1), body(2));
    (void)tal_constraint_add_rod(rods.matter, &upper, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 0.8);
    (void)tal_constraint_add_rod(rods.matter, &lower, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 0.8);
    test_model_freeze(&pins);
    test_model_freeze(&rods);
    const double q[2] = {0.7, -1.2}, u[2] = {1.5, -0.4};
    memcpy(tal_state_upd_q(pins.state), q, sizeof q);
    memcpy(tal_state_upd_u(pins.state), u, sizeof u);
    test_model_realize(&pins, TAL_STAGE_ACCELERATION);
    for (int b = 0; b < 2; ++b) {
        const tal_vec3 p = tal_body_p_GB(pins.matter, pins.state, body(b + 1));
        const tal_vec3 v = tal_body_V_GB(pins.matter, pins.state, body(b + 1)).v;
        memcpy(tal_state_upd_q(rods.state) + 3 * b, &p, sizeof p);
        memcpy(tal_state_upd_u(rods.state) + 3 * b, &v, sizeof v);
    }
    test_model_realize(&rods, TAL_STAGE_ACCELERATION);
    for (int b = 1; b <= 2; ++b) {
        const tal_vec3 a = tal_body_A_GB(rods.matter, rods.state, body(b)).v;
        test_assert_v3_near(a, tal_body_A_GB(pins.matter, pins.state, body(b)).v, 1e-13);
        // the multiplier is the tension: positive in a hanging pendulum
        ck_assert_double_gt(tal_state_multipliers(rods.state)[b - 1], 0.0);
    }
    test_model_end(&pins);
    test_model_end(&rods);
}

START_TEST(parallel_rods_carry_a_third_each)
{
    test_model model;
    test_model_begin(&model);
    model.gravity = tal_v3(0.0, -9.81, 0.0);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.mass = tal_mass_props_point(3.0, TAL_VEC3_ZERO);
    (void)tal_matter_add_translation(model.matter, TAL_GROUND, &bob);
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body(1));
    for (int k = 0; k < 3; ++k) {
        (void)tal_constraint_add_rod(model.matter, &def, tal_v3(k, 1.0, 0.0), tal_v3(k, 0.0, 0.0),
                                     1.0);
    }
    test_model_freeze(&model);
    test_model_realize(&model, TAL_STAGE_ACCELERATION);
    ck_assert_double_le(test_largest(tal_state_udot(model.state), 3), 1e-14);
    for (int k = 0; k < 3; ++k) {
        assert_close(tal_state_multipliers(model.state)[k], 9.81, 1e-14);
    }
    test_model_end(&model);
}

int main(void)
{
    Suite *suite = suite_create("matter/constraint_reference");
    TCase *linkages = tcase_create("linkages");
    tcase_add_test(linkages, a_chain_held_by_a_ball_moves_as_computed_with_80_digits);
    tcase_add_test(linkages, a_four_bar_moves_as_its_loop_equations_say);
    tcase_add_test(linkages, a_four_bar_with_its_coupler_cut_moves_the_same);
    tcase_add_test(linkages, a_slider_crank_takes_the_torque_of_the_closed_form);
    tcase_add_test(linkages, two_shafts_joined_by_a_cross_turn_by_the_textbook_ratio);
    tcase_add_test(linkages, six_rods_hold_a_stewart_platform_where_its_legs_say);
    suite_add_tcase(suite, linkages);
    TCase *rolling = tcase_create("rolling");
    tcase_add_test(rolling, a_chaplygin_sleigh_moves_as_chaplygin_found);
    tcase_add_test(rolling, a_planetary_gear_has_the_ratio_of_willis);
    tcase_add_test(rolling, a_rack_follows_its_pinion);
    tcase_add_test(rolling, a_ball_rolls_down_a_slope_with_five_sevenths_of_g);
    tcase_add_test(rolling, a_disk_rolls_in_a_circle);
    tcase_add_test(rolling, a_disk_that_lies_flat_has_finite_results);
    tcase_add_test(rolling, a_ball_rolls_down_another_with_five_sevenths_of_g);
    tcase_add_test(rolling, edges_that_do_not_turn_touch_in_a_plane);
    suite_add_tcase(suite, rolling);
    TCase *rods = tcase_create("rods");
    tcase_add_test(rods, a_double_pendulum_of_rods_moves_like_one_of_pins);
    tcase_add_test(rods, parallel_rods_carry_a_third_each);
    suite_add_tcase(suite, rods);
    return test_run(suite);
}
