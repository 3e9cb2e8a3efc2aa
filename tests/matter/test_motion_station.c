// matter/src/motion_station.c: stations, points and frames, seen from anywhere.
#include "motion_support.h"

enum {
    TRIALS = 40
};

// Central differences of fourth order with h = 2e-4 leave h^4/30 of the fifth derivative and round-off
// of eps/h, both relative to the size of what is observed. Angular rates W along these trees add up
// to 20 at most, and the fifth derivative is W^4 times the first: 1.6e-15/30 * 1.6e5 = 1e-11;
// eps/h = 1e-12, times the number of roundings on the way. Nothing right is above 1e-9, and a wrong
// formula is off by a term of the size one.
static const double TOL = 1e-9;

// Round-off of a few dozen operations on numbers of the size that the caller multiplies in.
static const double EPS = 1e-14;

// A frame S that moves on body B, seen from body A.
typedef struct scene {
    random_tree tree;
    tal_body_ix A, B;
    tal_xform X_BS;
    tal_spatial_vec V_BS, A_BS;
} scene;

static scene scene_create(uint64_t seed, test_rng *rng)
{
    random_tree_def def = random_tree_def_default(seed);
    scene at = {.tree = random_tree_create(&def)};
    random_tree_realize(&at.tree, at.tree.state, TAL_STAGE_ACCELERATION);
    at.A.i = (int)(test_random_bits(rng) % (uint64_t)at.tree.num_bodies);
    at.B.i = (int)(test_random_bits(rng) % (uint64_t)at.tree.num_bodies);
    at.X_BS = test_random_xform(rng);
    at.V_BS = test_random_spatial_vec(rng);
    at.A_BS = test_random_spatial_vec(rng);
    return at;
}

static tal_xform X_BS_at(const scene *at, double t)
{
    const double rate = tal_v3_norm(at->V_BS.w);
    const tal_mat3 turn = tal_rotation_from_angle_axis(rate * t, at->V_BS.w);
    return tal_xf(tal_m3_mul(turn, at->X_BS.R), tal_v3_axpy(t, at->V_BS.v, at->X_BS.p));
}

static void observe_pose(const void *context, tal_state *state, double t, double seen[])
{
    const scene *at = context;
    const tal_xform X_BS = X_BS_at(at, t);
    write_xform(tal_frame_X_AS(at->tree.matter, state, at->A, at->B, &X_BS), seen);
}

static void observe_velocity(const void *context, tal_state *state, double t, double seen[])
{
    const scene *at = context;
    const tal_xform X_BS = X_BS_at(at, t);
    const tal_spatial_vec V_BS = tal_sv_axpy(t, at->A_BS, at->V_BS);
    const tal_spatial_vec V_AS =
        tal_moving_frame_V_AS(at->tree.matter, state, at->A, at->B, &X_BS, V_BS);
    memcpy(seen, &V_AS, sizeof V_AS);
}

START_TEST(velocity_of_a_moving_frame_is_the_rate_of_its_pose)
{
    test_rng rng = test_rng_seed(1);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_xform X = tal_frame_X_AS(at.tree.matter, at.tree.state, at.A, at.B, &at.X_BS);
        const tal_spatial_vec V =
            tal_moving_frame_V_AS(at.tree.matter, at.tree.state, at.A, at.B, &at.X_BS, at.V_BS);

        double rate[12], wanted[12];
        write_xform_rate(X, V, rate);
        differentiate(&at.tree, TAL_STAGE_POSITION, observe_pose, &at, 12, wanted);

        test_assert_near(rate, wanted, 12, TOL * size_of(rate, 12), "rate of X_AS");
        random_tree_destroy(&at.tree);
    }
}

START_TEST(acceleration_of_a_moving_frame_is_the_rate_of_its_velocity)
{
    test_rng rng = test_rng_seed(2);
    for (int i = 0; i < TRIALS; ++i) {
        scene at = scene_create((uint64_t)i, &rng);
        const tal_spatial_vec A = tal_moving_frame_A_AS(at.tree.matter, at.tree.state, at.A, at.B,
                                                        &at.X_BS, at.V_BS, at.A_BS);

        double wanted[6];
        differentiate(&at.tree, TAL_STAGE_VELOCITY, observe_velocity, &at, 6, wanted);

        test_assert_near(&A.w.x, wanted, 6, TOL * size_of(&A.w.x, 6), "rate of V_AS");
        random_tree_destroy(&at.tree);
    }
}

int main(void)
{
    Suite *suite = suite_create("matter/motion_station");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, velocity_of_a_moving_frame_is_the_rate_of_its_pose);
    tcase_add_test(theory, acceleration_of_a_moving_frame_is_the_rate_of_its_velocity);
    suite_add_tcase(suite, theory);
    (void)EPS;
    return test_run(suite);
}
