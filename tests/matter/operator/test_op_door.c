// matter/src/op_*.c: no operator touches the heap, and each says what is wrong with its arguments.
#include "alloc_guard.h"
#include "op_support.h"

enum {
    MAX_NU = 256,
    MAX_NQ = 320,
    MAX_BODIES = 64
};

// Arguments for every operator, all good.
typedef struct arguments {
    random_tree tree;
    const tal_matter *matter;
    tal_state *state;
    int nu, nq, nb;
    double a[MAX_NU], f[MAX_NU], qdot[MAX_NQ], big[6 * MAX_BODIES * MAX_NU];
    tal_spatial_vec F[MAX_BODIES], A[MAX_BODIES];
    tal_station s[2];
    tal_vec3 v[2];
    tal_spatial_vec V[2];
    double work[1024];
    int iwork[64], rank;
    tal_matrix square, columns_in, columns_out, J, Jcols, frame_J, station_J, Lambda;
    tal_floating form;
    double I[36], form_F[6 * MAX_NU], form_H[MAX_NU * MAX_NU];
    tal_spatial_vec A0;
} arguments;

static void prepare(arguments *x)
{
    random_tree_def def = random_tree_def_default(9);
    def.num_bodies = 20;
    def.free_base = true;
    x->tree = random_tree_create(&def);
    x->matter = x->tree.matter;
    x->state = x->tree.state;
    x->nu = x->tree.nu;
    x->nb = x->tree.num_bodies;
    ck_assert_int_le(x->nu, MAX_NU);
    random_tree_realize(&x->tree, x->state, TAL_STAGE_VELOCITY);
    x->nq = tal_matter_nq(x->matter, x->state);
    const tal_body_ix last = {x->nb - 1};
    x->s[0] = (tal_station){last, {0.1, 0.2, 0.3}};
    x->s[1] = (tal_station){TAL_GROUND, {0.0, 0.0, 0.0}};
    x->square = tal_matrix_view(x->big, x->nu, x->nu);
    x->columns_in = tal_matrix_view(x->a, x->nu, 1);
    x->columns_out = tal_matrix_view(x->f, x->nu, 1);
    x->J = tal_matrix_view(x->big, 6 * x->nb, x->nu);
    x->Jcols = tal_matrix_view(x->big, 6 * x->nb, 1);
    x->frame_J = tal_matrix_view(x->big, 12, x->nu);
    x->station_J = tal_matrix_view(x->big, 6, x->nu);
    x->Lambda = tal_matrix_view(x->big, 12, 12);
    const int n = x->nu - 6;
    x->form = (tal_floating){tal_matrix_view(x->I, 6, 6), tal_matrix_view(x->form_F, 6, n),
                             tal_matrix_view(x->form_H, n, n), TAL_SPATIAL_VEC_ZERO, x->f};
}

// Every operator once. The number of the call to make, so that each can be tried alone.
static tal_status call(arguments *x, int which, const tal_matter *matter, tal_state *state)
{
    const tal_body_ix base = {1};
    switch (which) {
    case 0:
        return tal_matter_mul_M(matter, state, x->a, x->f);
    case 1:
        return tal_matter_mul_M_columns(matter, state, x->columns_in, x->columns_out);
    case 2:
        return tal_matter_mul_Minv(matter, state, x->a, x->f);
    case 3:
        return tal_matter_mul_Minv_columns(matter, state, x->columns_in, x->columns_out);
    case 4:
        return tal_matter_calc_M(matter, state, x->square);
    case 5:
        return tal_matter_calc_Minv(matter, state, x->square);
    case 6:
        return tal_matter_mul_N(matter, state, TAL_N, x->a, x->qdot);
    case 7:
        return tal_matter_mul_N_columns(matter, state, TAL_N, x->columns_in,
                                        tal_matrix_view(x->qdot, x->nq, 1));
    case 8:
        return tal_matter_calc_qdot(matter, state, x->a, x->qdot);
    case 9:
        return tal_matter_calc_qdotdot(matter, state, x->a, x->qdot);
    case 10:
        return tal_matter_mul_J(matter, state, x->a, x->A);
    case 11:
        return tal_matter_mul_J_columns(matter, state, x->columns_in, x->Jcols);
    case 12:
        return tal_matter_mul_JT(matter, state, x->F, x->f);
    case 13:
        return tal_matter_mul_JT_columns(matter, state, x->Jcols, x->columns_out);
    case 14:
        return tal_matter_calc_J(matter, state, x->J);
    case 15:
        return tal_matter_calc_J_bias(matter, state, x->A);
    case 16:
        return tal_matter_mul_station_J(matter, state, x->s, 2, x->a, x->v);
    case 17:
        return tal_matter_mul_station_JT(matter, state, x->s, 2, x->v, x->f);
    case 18:
        return tal_matter_calc_station_J(matter, state, x->s, 2, x->station_J);
    case 19:
        return tal_matter_calc_station_bias(matter, state, x->s, 2, x->v);
    case 20:
        return tal_matter_mul_frame_J(matter, state, x->s, 2, x->a, x->V);
    case 21:
        return tal_matter_mul_frame_JT(matter, state, x->s, 2, x->V, x->f);
    case 22:
        return tal_matter_calc_frame_J(matter, state, x->s, 2, x->frame_J);
    case 23:
        return tal_matter_calc_frame_bias(matter, state, x->s, 2, x->V);
    case 24:
        return tal_matter_calc_Lambda_inv(matter, state, x->s, 2, x->Lambda);
    case 25:
        return tal_matter_calc_Lambda(matter, state, x->s, 2, x->Lambda, &x->rank, x->work,
                                      x->iwork);
    case 26:
        return tal_matter_inverse_dynamics(matter, state, x->a, x->F, x->a, x->f);
    case 27:
        return tal_matter_forward_dynamics(matter, state, x->F, x->a, x->f, x->A);
    case 28:
        return tal_matter_calc_tree_forces(matter, state, x->F, x->a, x->f);
    case 29:
        return tal_matter_calc_accelerations(matter, state, x->a, x->A);
    case 30:
        return tal_matter_calc_floating(matter, state, base, x->F, &x->form);
    default:
        return tal_matter_floating_inverse_dynamics(matter, state, base, x->a, x->F, &x->A0, x->f);
    }
}

enum {
    NUM_CALLS = 32
};

static arguments x; // too large for a small stack

START_TEST(no_operator_touches_the_heap)
{
    prepare(&x);
    for (int i = 0; i < NUM_CALLS; ++i) {
        // q changes, so that everything is computed again
        (void)tal_state_upd_q(x.state);
        random_tree_realize(&x.tree, x.state, TAL_STAGE_INSTANCE);
        tal_status st = TAL_OK;
        const size_t mark = tal_state_scratch_mark(x.state);
        test_assert_no_heap(st = call(&x, i, x.matter, x.state));
        ck_assert_msg(st == TAL_OK, "call %d: %s", i, tal_state_error(x.state)->message);
        ck_assert_uint_eq(tal_state_scratch_mark(x.state), mark);
    }
    random_tree_destroy(&x.tree);
}

START_TEST(a_State_that_is_missing_too_early_or_foreign_is_a_broken_contract)
{
    prepare(&x);
    random_tree_def def = random_tree_def_default(10);
    random_tree other = random_tree_create(&def);
    tal_state *early = NULL;
    ck_assert_int_eq(tal_state_create(x.tree.system, &early, NULL), TAL_OK);
    tal_status st = TAL_OK;
    for (int i = 0; i < NUM_CALLS; ++i) {
        test_assert_breach(st = call(&x, i, NULL, x.state), TAL_ERR_NULL, "matter");
        ck_assert_int_eq(st, TAL_ERR_NULL);
        test_assert_breach(st = call(&x, i, x.matter, NULL), TAL_ERR_NULL, "");
        ck_assert_int_eq(st, TAL_ERR_NULL);
        test_assert_breach(st = call(&x, i, x.matter, early), TAL_ERR_STAGE, "Instance");
        ck_assert_int_eq(st, TAL_ERR_STAGE);
        test_assert_breach(st = call(&x, i, x.matter, other.state), TAL_ERR_WRONG_SYSTEM, "");
        ck_assert_int_eq(st, TAL_ERR_WRONG_SYSTEM);
    }
    test_assert_breach(ck_assert_int_eq(tal_matter_nu(NULL), -1), TAL_ERR_NULL, "matter");
    test_assert_breach(ck_assert_int_eq(tal_matter_nq(NULL, x.state), -1), TAL_ERR_NULL, "matter");
    tal_state_destroy(early);
    random_tree_destroy(&other);
    random_tree_destroy(&x.tree);
}

// Calls that read a generalized vector, and those that read forces on bodies.
START_TEST(a_NaN_is_reported_with_its_place_and_nothing_is_written)
{
    static const int reads_a[] = {0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 16, 20, 26, 27, 28, 29, 31};
    static const int reads_F[] = {12, 26, 27, 28, 30, 31};
    prepare(&x);
    x.a[3] = (double)NAN;
    for (size_t i = 0; i < sizeof reads_a / sizeof reads_a[0]; ++i) {
        x.f[0] = 123.0;
        ck_assert_int_eq(call(&x, reads_a[i], x.matter, x.state), TAL_ERR_NOT_FINITE);
        const char *message = tal_state_error(x.state)->message;
        ck_assert_msg(strstr(message, "[3] is nan") != NULL, "call %d: %s", reads_a[i], message);
        ck_assert(x.f[0] == 123.0);
    }
    x.a[3] = 0.0;
    x.F[2].v.y = (double)INFINITY;
    for (size_t i = 0; i < sizeof reads_F / sizeof reads_F[0]; ++i) {
        ck_assert_int_eq(call(&x, reads_F[i], x.matter, x.state), TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(x.state)->message, "F_GB[2]"));
    }
    x.F[2].v.y = 0.0;
    x.big[7] = (double)NAN;
    ck_assert_int_eq(call(&x, 13, x.matter, x.state), TAL_ERR_NOT_FINITE);
    x.v[1].x = (double)NAN;
    ck_assert_int_eq(call(&x, 17, x.matter, x.state), TAL_ERR_NOT_FINITE);
    x.V[1].w.x = (double)NAN;
    ck_assert_int_eq(call(&x, 21, x.matter, x.state), TAL_ERR_NOT_FINITE);
    x.s[1].p_BS.z = (double)NAN;
    for (int i = 16; i <= 25; ++i) {
        ck_assert_int_eq(call(&x, i, x.matter, x.state), TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(x.state)->message, "station 1"));
    }
    random_tree_destroy(&x.tree);
}

START_TEST(a_size_that_does_not_fit_is_a_broken_contract)
{
    prepare(&x);
    tal_status st = TAL_OK;
    x.columns_out.rows -= 1;
    x.square.cols -= 1;
    x.J.rows -= 1;
    x.Jcols.rows -= 1;
    x.station_J.rows -= 1;
    x.frame_J.ld = 1;
    x.Lambda.rows -= 1;
    static const int sized[] = {1, 3, 4, 5, 11, 13, 14, 18, 22, 24, 25};
    for (size_t i = 0; i < sizeof sized / sizeof sized[0]; ++i) {
        test_assert_breach(st = call(&x, sized[i], x.matter, x.state), TAL_ERR_BAD_VALUE, " x ");
        ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    }
    test_assert_breach(
        st = tal_matter_mul_N_columns(x.matter, x.state, TAL_NPLUS, x.columns_in, x.columns_in),
        TAL_ERR_BAD_VALUE, "in");
    x.form.H.rows -= 1;
    test_assert_breach(st = call(&x, 30, x.matter, x.state), TAL_ERR_BAD_VALUE, "form->H");
    test_assert_breach(st = tal_floating_eliminate_base(&x.form, NULL), TAL_ERR_BAD_VALUE, "form");
    random_tree_destroy(&x.tree);
}

START_TEST(a_missing_array_is_a_broken_contract)
{
    prepare(&x);
    const tal_matter *m = x.matter;
    tal_state *s = x.state;
    const tal_body_ix base = {1};
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_matter_mul_M(m, s, NULL, x.f), TAL_ERR_NULL, "a is");
    test_assert_breach(st = tal_matter_mul_M(m, s, x.a, NULL), TAL_ERR_NULL, "f is");
    test_assert_breach(st = tal_matter_mul_Minv(m, s, NULL, x.f), TAL_ERR_NULL, "f is");
    test_assert_breach(st = tal_matter_mul_Minv(m, s, x.a, NULL), TAL_ERR_NULL, "a is");
    test_assert_breach(st = tal_matter_mul_N(m, s, TAL_N, NULL, x.f), TAL_ERR_NULL, "in is");
    test_assert_breach(st = tal_matter_mul_N(m, s, TAL_N, x.a, NULL), TAL_ERR_NULL, "out is");
    test_assert_breach(st = tal_matter_mul_J(m, s, NULL, x.A), TAL_ERR_NULL, "u is");
    test_assert_breach(st = tal_matter_mul_J(m, s, x.a, NULL), TAL_ERR_NULL, "V_GB is");
    test_assert_breach(st = tal_matter_mul_JT(m, s, NULL, x.f), TAL_ERR_NULL, "F_GB is");
    test_assert_breach(st = tal_matter_mul_JT(m, s, x.F, NULL), TAL_ERR_NULL, "f is");
    test_assert_breach(st = tal_matter_calc_J_bias(m, s, NULL), TAL_ERR_NULL, "A_GB is");
    test_assert_breach(st = tal_matter_calc_frame_bias(m, s, x.s, 2, NULL), TAL_ERR_NULL, "A_GA");
    test_assert_breach(st = tal_matter_calc_station_bias(m, s, x.s, 2, NULL), TAL_ERR_NULL, "a_GS");
    test_assert_breach(st = tal_matter_mul_frame_J(m, s, NULL, 2, x.a, x.V), TAL_ERR_NULL, "stat");
    test_assert_breach(st = tal_matter_mul_frame_J(m, s, x.s, -1, x.a, x.V), TAL_ERR_BAD_VALUE,
                       "-1");
    test_assert_breach(st = tal_matter_mul_frame_J(m, s, x.s, 2, x.a, NULL), TAL_ERR_NULL, "V_GA");
    test_assert_breach(st = tal_matter_inverse_dynamics(m, s, x.a, NULL, NULL, NULL), TAL_ERR_NULL,
                       "f_needed");
    test_assert_breach(st = tal_matter_forward_dynamics(m, s, NULL, NULL, NULL, NULL), TAL_ERR_NULL,
                       "udot");
    test_assert_breach(st = tal_matter_calc_floating(m, s, base, NULL, NULL), TAL_ERR_NULL, "form");
    test_assert_breach(st = tal_matter_calc_floating(m, s, TAL_GROUND, NULL, &x.form),
                       TAL_ERR_BAD_INDEX, "Ground");
    test_assert_breach(st = tal_floating_eliminate_base(NULL, NULL), TAL_ERR_NULL, "form");
    tal_matrix none = x.square;
    none.data = NULL;
    test_assert_breach(st = tal_matter_calc_M(m, s, none), TAL_ERR_NULL, "M");
    const tal_body_ix nowhere = {99};
    x.s[1].body = nowhere;
    test_assert_breach(st = tal_matter_calc_frame_J(m, s, x.s, 2, x.frame_J), TAL_ERR_BAD_INDEX,
                       "99");
    test_assert_breach(ck_assert_int_eq(tal_matter_floating_n(m, nowhere), -1), TAL_ERR_BAD_INDEX,
                       "99");
    test_assert_breach(st = tal_matter_calc_floating(m, s, nowhere, NULL, &x.form),
                       TAL_ERR_BAD_INDEX, "99");
    ck_assert_int_eq(st, TAL_ERR_BAD_INDEX);
    random_tree_destroy(&x.tree);
}

START_TEST(a_q_that_gives_no_pose_fails_with_the_name_of_the_body)
{
    prepare(&x);
    tal_state_upd_q(x.state)[0] = (double)NAN;
    for (int i = 0; i < NUM_CALLS; ++i) {
        if (tal_state_stage(x.state) < TAL_STAGE_INSTANCE) {
            random_tree_realize(&x.tree, x.state, TAL_STAGE_INSTANCE);
        }
        ck_assert_int_eq(call(&x, i, x.matter, x.state), TAL_ERR_NOT_FINITE);
        ck_assert_ptr_nonnull(strstr(tal_state_error(x.state)->message, "body"));
    }
    random_tree_destroy(&x.tree);
}

// Body-XYZ angles have no rates where the middle one is a right angle.
START_TEST(angles_without_rates_are_reported_by_name)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "head";
    def.use_angles = true;
    def.mass = tal_mass_props_sphere(1.0, 0.1);
    const tal_body_ix body = tal_matter_add_ball(matter, TAL_GROUND, &def);
    ck_assert_int_eq(tal_matter_nu(matter), -1);
    test_assert_breach(ck_assert_int_eq(tal_matter_floating_n(matter, body), -1), TAL_ERR_TOPOLOGY,
                       "topology");
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    (void)tal_body_set_q(matter, state, body, 1, acos(0.0));
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_POSITION), TAL_OK);
    double u[3] = {1.0, 2.0, 3.0}, rate[3];
    ck_assert_int_eq(tal_matter_calc_qdot(matter, state, u, rate), TAL_ERR_SINGULAR);
    ck_assert_ptr_nonnull(strstr(tal_state_error(state)->message, "head"));
    tal_state_destroy(state);
    tal_system_destroy(system);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/op_door");
    TCase *door = tcase_create("door");
    tcase_add_test(door, no_operator_touches_the_heap);
    tcase_add_test(door, a_State_that_is_missing_too_early_or_foreign_is_a_broken_contract);
    tcase_add_test(door, a_NaN_is_reported_with_its_place_and_nothing_is_written);
    tcase_add_test(door, a_size_that_does_not_fit_is_a_broken_contract);
    tcase_add_test(door, a_missing_array_is_a_broken_contract);
    tcase_add_test(door, a_q_that_gives_no_pose_fails_with_the_name_of_the_body);
    tcase_add_test(door, angles_without_rates_are_reported_by_name);
    suite_add_tcase(suite, door);
    return test_run(suite);
}
