// Inverse kinematics: a figure with a free trunk and four limbs follows markers made from a known
// motion.
#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

enum {
    LIMBS = 4,
    JOINTS = 5,
    BODIES = 1 + LIMBS * JOINTS,
    MARKERS = 2 * BODIES + 2,
    FRAMES = 60
};

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_marker markers[MARKERS];
    int nq;
    double truth[FRAMES][64];
    tal_vec3 points[FRAMES][MARKERS];
    double q[FRAMES][64]; // results, packed by nq
    tal_fit fits[FRAMES];
} model;

static void build(model *m)
{
    memset(m, 0, sizeof *m);
    m->system = tal_system_create(NULL);
    m->matter = tal_matter_create(m->system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(1.0, tal_v3(0.0, 0.2, 0.0));
    const tal_body_ix trunk = tal_matter_add_free(m->matter, TAL_GROUND, &def);
    for (int limb = 0; limb < LIMBS; ++limb) {
        tal_body_ix parent = trunk;
        for (int j = 0; j < JOINTS; ++j) {
            const tal_vec3 root = tal_v3(0.2 * cos(2.0 * limb), 0.2 * limb, 0.2 * sin(2.0 * limb));
            def.X_PF = tal_xf(tal_rotation_about((tal_axis)(j % 3), 0.7),
                              j == 0 ? root : tal_v3(0.0, 0.25, 0.0));
            parent = tal_matter_add_pin(m->matter, parent, &def);
        }
    }
    for (int k = 0; k < MARKERS; ++k) {
        const tal_vec3 p = tal_v3(0.1 * sin(1.3 * k), 0.2 + 0.1 * cos(k), 0.1 * sin(2.0 * k));
        m->markers[k] = (tal_marker){NULL, {1 + k % BODIES}, p, 1.0};
    }
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    m->nq = tal_state_nq(m->state);
}

// The motion, and what the markers show of it.
static void move(model *m)
{
    tal_state *truth = NULL;
    ck_assert_int_eq(tal_state_create(m->system, &truth, NULL), TAL_OK);
    for (int f = 0; f < FRAMES; ++f) {
        const double t = 0.05 * f;
        const tal_mat3 R = tal_rotation_about(TAL_AXIS_Y, 0.8 + 0.5 * t);
        const tal_xform X = tal_xf(R, tal_v3(t, 1.0, 0.1 * sin(t)));
        ck_assert_int_eq(tal_body_fit_q(m->matter, truth, (tal_body_ix){1}, &X), TAL_OK);
        for (int b = 2; b <= BODIES; ++b) {
            const double angle = 0.4 * sin(0.3 * b + 2.0 * t) + 0.1;
            ck_assert_int_eq(tal_body_set_q(m->matter, truth, (tal_body_ix){b}, 0, angle), TAL_OK);
        }
        ck_assert_int_eq(tal_system_realize(m->system, truth, TAL_STAGE_POSITION), TAL_OK);
        memcpy(m->truth[f], tal_state_q(truth), (size_t)m->nq * sizeof(double));
        for (int k = 0; k < MARKERS; ++k) {
            m->points[f][k] =
                tal_station_p_GS(m->matter, truth, m->markers[k].body, m->markers[k].p_BS);
        }
    }
    tal_state_destroy(truth);
}

static tal_tracker_def def_of(const model *m)
{
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = m->markers;
    def.assembler.num_markers = MARKERS;
    def.assembler.accuracy = 1e-9;
    def.chunk = 7;
    return def;
}

static tal_status run(model *m, const tal_tracker_def *def)
{
    tal_error err = {0};
    tal_tracker *tracker = NULL;
    ck_assert_msg(tal_tracker_create(m->system, def, &tracker, &err) == TAL_OK, "%s", err.message);
    const tal_frames frames = {FRAMES, NULL, &m->points[0][0], NULL, NULL};
    const tal_status st = tal_tracker_run(tracker, m->state, &frames, &m->q[0][0], m->fits);
    ck_assert_int_eq(tal_tracker_error(tracker)->status, st);
    tal_tracker_destroy(tracker);
    return st;
}

static const double *q_of(const model *m, int frame)
{
    return &m->q[0][0] + (size_t)frame * (size_t)m->nq;
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Without noise the goal is zero at the truth, and the last step is below 1e-9 or took the error
// from 1e-5 to 1e-10 at once. A quaternion may come out with either sign.
START_TEST(a_motion_is_found_again_frame_by_frame)
{
    static model m;
    build(&m);
    move(&m);
    const tal_tracker_def def = def_of(&m);
    ck_assert_int_eq(run(&m, &def), TAL_OK);
    for (int f = 0; f < FRAMES; ++f) {
        ck_assert_int_eq(m.fits[f].status, TAL_OK);
        ck_assert_double_lt(m.fits[f].marker_max, 1e-12);
        const double sign = q_of(&m, f)[0] * m.truth[f][0] < 0.0 ? -1.0 : 1.0;
        for (int i = 0; i < m.nq; ++i) {
            const double expected = i < 4 ? sign * m.truth[f][i] : m.truth[f][i];
            ck_assert_double_eq_tol(q_of(&m, f)[i], expected, 1e-11);
        }
    }
    end(&m);
}

END_TEST

// In chunks of one frame each starts as it would alone, bit for bit; in one chunk all but the first
// start from the frame before, which takes fewer iterations.
START_TEST(a_chunk_starts_anew)
{
    static model m, alone;
    build(&m);
    move(&m);
    tal_tracker_def def = def_of(&m);
    def.chunk = 1;
    ck_assert_int_eq(run(&m, &def), TAL_OK);
    tal_tracker *tracker = NULL;
    ck_assert_int_eq(tal_tracker_create(m.system, &def, &tracker, NULL), TAL_OK);
    int anew = 0, onward = 0;
    for (int f = 0; f < FRAMES; ++f) {
        const tal_frames one = {1, NULL, m.points[f], NULL, NULL};
        ck_assert_int_eq(tal_tracker_run(tracker, m.state, &one, alone.q[0], alone.fits), TAL_OK);
        ck_assert_mem_eq(alone.q[0], q_of(&m, f), (size_t)m.nq * sizeof(double));
        anew += m.fits[f].iterations;
    }
    tal_tracker_destroy(tracker);
    for (int chunk = 0; chunk <= FRAMES; chunk += FRAMES) { // all of them, said in two ways
        def.chunk = chunk;
        ck_assert_int_eq(run(&m, &def), TAL_OK);
        int sum = 0;
        for (int f = 0; f < FRAMES; ++f) {
            sum += m.fits[f].iterations;
        }
        if (chunk == 0) onward = sum;
        ck_assert_int_eq(sum, onward);
    }
    ck_assert_int_ne(anew, onward);
    end(&m);
}

END_TEST

START_TEST(results_do_not_depend_on_the_number_of_threads)
{
    static model one, many;
    build(&one);
    move(&one);
    tal_tracker_def def = def_of(&one);
    ck_assert_int_eq(run(&one, &def), TAL_OK);
    build(&many);
    move(&many);
    tal_threads *threads = NULL;
    ck_assert_int_eq(tal_threads_create(3, &threads, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(threads);
    def = def_of(&many);
    def.lanes = 4;
    def.executor = &executor;
    ck_assert_int_eq(run(&many, &def), TAL_OK);
    ck_assert_mem_eq(one.q, many.q, sizeof one.q);
    ck_assert_mem_eq(one.fits, many.fits, sizeof one.fits);
    tal_threads_destroy(threads);
    end(&one);
    end(&many);
}

END_TEST

// Markers lost here and there do not matter; a frame without any is kept as the one before,
// flagged; one with a marker far off is a poor fit that names it; the frames after are as good as
// ever.
START_TEST(a_bad_frame_is_flagged_and_the_run_goes_on)
{
    static model m;
    build(&m);
    move(&m);
    for (int f = 0; f < FRAMES; ++f) {
        m.points[f][(7 * f) % MARKERS].y = (double)NAN;
    }
    for (int k = 0; k < MARKERS; ++k) {
        m.points[10][k].x = (double)NAN;
    }
    m.points[20][5].z += 3.0;
    const tal_tracker_def def = def_of(&m);
    ck_assert_int_eq(run(&m, &def), TAL_OK);
    for (int f = 0; f < FRAMES; ++f) {
        ck_assert_int_eq(m.fits[f].status, f == 10 ? TAL_ERR_BAD_VALUE : TAL_OK);
        if (f != 10 && f != 20) ck_assert_double_lt(m.fits[f].marker_max, 1e-12);
    }
    ck_assert_mem_eq(q_of(&m, 10), q_of(&m, 9), (size_t)m.nq * sizeof(double));
    ck_assert_int_eq(m.fits[20].worst_marker, 5);
    ck_assert_double_gt(m.fits[20].marker_max, 1.0);
    end(&m);
}

END_TEST

static bool stop_at_twelve(void *context, int done, int total)
{
    *(int *)context = total;
    return done < 12;
}

START_TEST(a_run_can_be_ended_and_says_so)
{
    static model m;
    build(&m);
    move(&m);
    int total = 0;
    tal_tracker_def def = def_of(&m);
    def.progress = stop_at_twelve;
    def.context = &total;
    ck_assert_int_eq(run(&m, &def), TAL_ERR_CALLBACK);
    ck_assert_int_eq(total, FRAMES);
    ck_assert_int_eq(m.fits[11].status, TAL_OK);
    ck_assert_int_eq(m.fits[12].status, TAL_RETRY);
    end(&m);
}

END_TEST

// Sensors alone follow a pin that is observed to turn, and a mobilizer whose motion is known by
// time: the times of the frames are those of the motion.
START_TEST(sensors_and_times_count)
{
    enum {
        N = 9
    };

    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    const tal_body_ix driven = tal_matter_add_pin(matter, TAL_GROUND, &def);
    const tal_body_ix follower = tal_matter_add_pin(matter, driven, &def);
    tal_motion_def motion = tal_motion_def_default();
    motion.body = driven;
    motion.level = TAL_LEVEL_POSITION;
    (void)tal_matter_add_motion_sinusoid(matter, &motion, 0.5, 2.0, 0.0);
    tal_state *start = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(system, &start, &err), TAL_OK);
    const tal_orientation_sensor sensor = {"imu", follower, TAL_MAT3_IDENTITY, 1.0};
    tal_tracker_def tracking = tal_tracker_def_default();
    tracking.assembler.sensors = &sensor;
    tracking.assembler.num_sensors = 1;
    tracking.chunk = 0;
    tal_tracker *tracker = NULL;
    ck_assert_int_eq(tal_tracker_create(system, &tracking, &tracker, &err), TAL_OK);
    double times[N], q[N][2];
    tal_mat3 seen[N];
    tal_fit fits[N];
    for (int k = 0; k < N; ++k) {
        times[k] = 0.1 * k;
        seen[k] = tal_rotation_about(TAL_AXIS_Z, 0.05 * k);
    }
    const tal_frames frames = {N, times, NULL, seen, NULL};
    ck_assert_int_eq(tal_tracker_run(tracker, start, &frames, &q[0][0], fits), TAL_OK);
    for (int k = 0; k < N; ++k) {
        ck_assert_int_eq(fits[k].status, TAL_OK);
        ck_assert_int_eq(fits[k].worst_marker, -1);
        ck_assert_double_eq_tol(q[k][0], 0.5 * sin(2.0 * times[k]), 1e-15);
        ck_assert_double_eq_tol(q[k][0] + q[k][1], 0.05 * k, 1e-13);
    }
    tal_tracker_destroy(tracker);
    tal_state_destroy(start);
    tal_system_destroy(system);
}

END_TEST

START_TEST(bad_input_is_refused)
{
    static model m;
    build(&m);
    tal_tracker *tracker = NULL;
    tal_error err;
    tal_tracker_def def = tal_tracker_def_default();
    ck_assert_int_eq(tal_tracker_create(m.system, &def, &tracker, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no markers"));
    ck_assert_int_eq(tal_tracker_create(m.system, NULL, &tracker, &err), TAL_ERR_NULL);
    def = def_of(&m);
    const tal_executor absent = {NULL, NULL};
    def.executor = &absent;
    ck_assert_int_eq(tal_tracker_create(m.system, &def, &tracker, &err), TAL_ERR_NULL);
    def = def_of(&m);
    def.lanes = 0;
    ck_assert_int_eq(tal_tracker_create(m.system, &def, &tracker, &err), TAL_ERR_BAD_VALUE);
    def.lanes = 1;
    ck_assert_int_eq(tal_tracker_create(m.system, &def, &tracker, &err), TAL_OK);
    tal_frames frames = {-1, NULL, &m.points[0][0], NULL, NULL};
    ck_assert_int_eq(tal_tracker_run(tracker, m.state, &frames, &m.q[0][0], m.fits),
                     TAL_ERR_BAD_VALUE);
    const double times[] = {0.0, (double)NAN};
    frames = (tal_frames){2, times, &m.points[0][0], NULL, NULL};
    ck_assert_int_eq(tal_tracker_run(tracker, m.state, &frames, &m.q[0][0], m.fits),
                     TAL_ERR_NOT_FINITE);
    ck_assert_ptr_nonnull(strstr(tal_tracker_error(tracker)->message, "frame 1"));
    frames = (tal_frames){2, NULL, NULL, NULL, NULL};
    ck_assert_int_eq(tal_tracker_run(tracker, m.state, &frames, &m.q[0][0], m.fits),
                     TAL_ERR_BAD_VALUE);
    ck_assert_str_eq(tal_tracker_marker_name(tracker, 3), "marker3");
    tal_system *other = tal_system_create(NULL);
    tal_state *foreign = NULL;
    ck_assert_int_eq(tal_system_realize_topology(other, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(other, &foreign, NULL), TAL_OK);
    frames = (tal_frames){2, NULL, &m.points[0][0], NULL, NULL};
    ck_assert_int_eq(tal_tracker_run(tracker, foreign, &frames, &m.q[0][0], m.fits),
                     TAL_ERR_WRONG_SYSTEM);
    tal_state_destroy(foreign);
    tal_system_destroy(other);
    frames.num_frames = 0;
    ck_assert_int_eq(tal_tracker_run(tracker, m.state, &frames, &m.q[0][0], m.fits), TAL_OK);
    test_record_breaches();
    test_assert_refused(tal_tracker_run(NULL, m.state, &frames, &m.q[0][0], m.fits), TAL_ERR_NULL,
                        "NULL");
    test_assert_refused(tal_tracker_run(tracker, m.state, &frames, NULL, m.fits), TAL_ERR_NULL,
                        "results");
    test_assert_breach((void)tal_tracker_marker_name(NULL, 0), TAL_ERR_NULL, "NULL");
    test_assert_refused(tal_tracker_create(m.system, &def, NULL, NULL), TAL_ERR_NULL, "out");
    ck_assert_int_eq(tal_tracker_error(NULL)->status, TAL_ERR_NULL);
    tal_tracker_destroy(tracker);
    end(&m);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study/tracker");
    TCase *tests = tcase_create("tracker");
    tcase_add_test(tests, a_motion_is_found_again_frame_by_frame);
    tcase_add_test(tests, a_chunk_starts_anew);
    tcase_add_test(tests, results_do_not_depend_on_the_number_of_threads);
    tcase_add_test(tests, a_bad_frame_is_flagged_and_the_run_goes_on);
    tcase_add_test(tests, a_run_can_be_ended_and_says_so);
    tcase_add_test(tests, sensors_and_times_count);
    tcase_add_test(tests, bad_input_is_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
