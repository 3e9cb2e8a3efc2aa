// What every study does with models of all kinds, by numbers: results, and how many steps and
// iterations they took, are compared with stored answers (tests/theory/study_values.txt). The
// answers are those of Talus itself, so this test finds what changes; what is right is tested
// elsewhere. After a change that is meant to alter results:
//
//     rm tests/theory/study_values.txt
//     TALUS_VALUES=tests/theory/study_values.txt test_theory_study_values
#include "talus_test.h"

#include <talus/talus.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    LINE = 400
};

// Examples, and models of the tests of the program.
static const char *const models[] = {
    "tests/cli/models/zoo.talus",         "tests/cli/models/held.talus",
    "tests/cli/models/driven.talus",      "tests/cli/models/pushed.talus",
    "examples/models/four_bar.talus",     "examples/models/arm.talus",
    "examples/models/knee.talus",         "examples/models/t_handle.talus",
    "examples/models/rolling_disk.talus", "examples/models/stewart_platform.talus"};

enum {
    NUM_MODELS = (int)(sizeof models / sizeof *models)
};

static tal_model load(int i)
{
    char path[400];
    (void)snprintf(path, sizeof path, "%s/%s", TALUS_SOURCE_DIR, models[i]);
    tal_model model;
    ck_assert_int_eq(tal_model_read_file(path, NULL, &model, NULL), TAL_OK);
    return model;
}

// --- answers ---

// Whole numbers are exact; sums with weights sin(1), sin(2), ... are compared with the sum of the
// sizes.
typedef struct answer {
    char counts[200];
    double value, size;
    int num;
} answer;

static void add_count(answer *it, long count)
{
    const size_t used = strlen(it->counts);
    (void)snprintf(it->counts + used, sizeof it->counts - used, "%s%ld", used > 0 ? "," : "",
                   count);
}

static void add_numbers(answer *it, const double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        const double part = sin(++it->num) * (isfinite(x[i]) ? x[i] : 7.0);
        it->value += part;
        it->size += fabs(part);
    }
}

static void add_state(answer *it, const tal_state *state)
{
    const double t = tal_state_t(state);
    add_numbers(it, &t, 1);
    add_numbers(it, tal_state_y(state), tal_state_ny(state));
}

// Counts are the same, or nearly where `is_rough`: round-off may add a step or take one.
static bool same_counts(const char *a, const char *b, bool is_rough)
{
    if (!is_rough) return strcmp(a, b) == 0;
    while (*a != 0 && *b != 0) {
        char *behind_a = NULL, *behind_b = NULL;
        const long m = strtol(a, &behind_a, 10), n = strtol(b, &behind_b, 10);
        if (labs(m - n) > 4 + labs(n) / 4 || (m < 0) != (n < 0)) return false;
        a = *behind_a == ',' ? behind_a + 1 : behind_a;
        b = *behind_b == ',' ? behind_b + 1 : behind_b;
    }
    return *a == *b;
}

// Compare with the line `name`, or write it. `known_to` is a share of the sum of sizes.
static void settle(const char *name, const answer *it, double known_to, bool is_rough)
{
    const char *const wanted = getenv("TALUS_VALUES");
    FILE *file = fopen(wanted != NULL ? wanted : TALUS_SOURCE_DIR "/tests/theory/study_values.txt",
                       wanted != NULL ? "a" : "r");
    ck_assert_ptr_nonnull(file);
    char line[LINE], found[100], counts[200];
    double value = 0.0;
    bool is_there = wanted != NULL;
    if (wanted != NULL) fprintf(file, "%s %s %.12g\n", name, it->counts, it->value);
    while (!is_there && fgets(line, sizeof line, file) != NULL) {
        is_there =
            sscanf(line, "%99s %199s %lf", found, counts, &value) == 3 && strcmp(found, name) == 0;
    }
    (void)fclose(file);
    ck_assert_msg(is_there, "there is no line '%s'", name);
    if (wanted != NULL) return;
    ck_assert_msg(same_counts(counts, it->counts, is_rough), "%s: counts %s instead of %s", name,
                  it->counts, counts);
    ck_assert_msg(fabs(it->value - value) <= known_to * (1.0 + it->size),
                  "%s: %.12g instead of %.12g, off by %.2g of the sum", name, it->value, value,
                  fabs(it->value - value) / it->size);
}

// --- integrators ---

typedef struct way {
    const char *name;
    tal_method method;
    const tal_rk_tableau *(*tableau)(void);
    double accuracy, fixed_step, baumgarte, constraint_tolerance;
    int order;
    bool infinity_norm, absolute, every_step, gmres;
} way;

static const way ways[] = {
    {.name = "merson", .tableau = tal_rk_merson, .accuracy = 1e-4},
    {.name = "largest_error", .tableau = tal_rk_merson, .accuracy = 1e-5, .infinity_norm = true},
    {.name = "absolute", .tableau = tal_rk_merson, .accuracy = 1e-5, .absolute = true},
    {.name = "every_step", .tableau = tal_rk_merson, .accuracy = 1e-5, .every_step = true},
    {.name = "tight", .tableau = tal_rk_merson, .accuracy = 1e-4, .constraint_tolerance = 1e-9},
    {.name = "baumgarte", .tableau = tal_rk_dormand_prince, .accuracy = 1e-6, .baumgarte = 20.0},
    {.name = "euler", .tableau = tal_rk_euler, .accuracy = 1e-2},
    {.name = "trapezoid", .tableau = tal_rk_trapezoid, .accuracy = 1e-3},
    {.name = "bogacki", .tableau = tal_rk_bogacki_shampine, .accuracy = 1e-4},
    {.name = "bogacki_5", .tableau = tal_rk_bogacki_shampine_5, .accuracy = 1e-7},
    {.name = "dormand", .tableau = tal_rk_dormand_prince, .accuracy = 1e-6},
    {.name = "verner", .tableau = tal_rk_verner_8, .accuracy = 1e-8},
    {.name = "merson_fixed", .tableau = tal_rk_merson, .fixed_step = 0.0004},
    {.name = "every_fixed", .tableau = tal_rk_merson, .fixed_step = 0.0004, .every_step = true},
    {.name = "baumgarte_fixed", .tableau = tal_rk_merson, .fixed_step = 0.0004, .baumgarte = 20.0},
    {.name = "euler_fixed", .tableau = tal_rk_euler, .fixed_step = 0.0004},
    {.name = "trapezoid_fixed", .tableau = tal_rk_trapezoid, .fixed_step = 0.0004},
    {.name = "bogacki_fixed", .tableau = tal_rk_bogacki_shampine, .fixed_step = 0.0004},
    {.name = "bogacki_5_fixed", .tableau = tal_rk_bogacki_shampine_5, .fixed_step = 0.0004},
    {.name = "dormand_fixed", .tableau = tal_rk_dormand_prince, .fixed_step = 0.0004},
    {.name = "verner_fixed", .tableau = tal_rk_verner_8, .fixed_step = 0.0004},
    {.name = "arkode_fixed", .method = TAL_METHOD_ARKODE_EXPLICIT, .fixed_step = 0.0004},
    {.name = "arkode_3", .method = TAL_METHOD_ARKODE_EXPLICIT, .fixed_step = 0.0004, .order = 3},
    {.name = "semi_explicit", .method = TAL_METHOD_SEMI_EXPLICIT_EULER, .accuracy = 1e-2},
    {.name = "semi_fixed", .method = TAL_METHOD_SEMI_EXPLICIT_EULER, .fixed_step = 0.0003},
    {.name = "verlet", .method = TAL_METHOD_VERLET, .accuracy = 1e-4},
    {.name = "verlet_fixed", .method = TAL_METHOD_VERLET, .fixed_step = 0.0003},
    {.name = "bdf", .method = TAL_METHOD_CVODE_BDF, .accuracy = 1e-4},
    {.name = "bdf_2", .method = TAL_METHOD_CVODE_BDF, .accuracy = 1e-3, .order = 2},
    {.name = "bdf_gmres", .method = TAL_METHOD_CVODE_BDF, .accuracy = 1e-4, .gmres = true},
    {.name = "adams", .method = TAL_METHOD_CVODE_ADAMS, .accuracy = 1e-4},
    {.name = "ida", .method = TAL_METHOD_IDA, .accuracy = 1e-4},
    {.name = "arkode", .method = TAL_METHOD_ARKODE_EXPLICIT, .accuracy = 1e-5},
    {.name = "dirk", .method = TAL_METHOD_ARKODE_DIRK, .accuracy = 1e-4},
    {.name = "dirk_gmres", .method = TAL_METHOD_ARKODE_DIRK, .accuracy = 1e-4, .gmres = true},
};

enum {
    NUM_WAYS = (int)(sizeof ways / sizeof *ways)
};

static tal_integrator_def def_of(const way *w)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.method = w->method;
    if (w->tableau != NULL) def.tableau = w->tableau();
    if (w->accuracy > 0.0) def.accuracy = w->accuracy;
    def.fixed_step = w->fixed_step;
    def.baumgarte = w->baumgarte;
    def.constraint_tolerance = w->constraint_tolerance;
    def.order = w->order;
    def.infinity_norm = w->infinity_norm;
    def.absolute_u = def.absolute_z = w->absolute;
    def.project_every_step = w->every_step;
    def.linear_solver = w->gmres ? TAL_LINEAR_GMRES : TAL_LINEAR_DENSE;
    def.max_steps = 3000;
    return def;
}

// Steps to a time, one step more and back to its middle; then what was counted.
static void integrate(const tal_model *model, const way *w, answer *it)
{
    const tal_integrator_def def = def_of(w);
    tal_integrator *integ = NULL;
    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    ck_assert_int_eq(tal_state_create(model->system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(state, model->state), TAL_OK);
    tal_status st = tal_integrator_create(model->system, &def, &integ, &err);
    add_count(it, st);
    if (st == TAL_OK) st = tal_integrator_step_to(integ, state, tal_state_t(state) + 0.03);
    add_count(it, st);
    if (st == TAL_OK) add_state(it, state);
    const double t1 = tal_state_t(state);
    if (st == TAL_OK) st = tal_integrator_step(integ, state, t1 + 0.01);
    add_count(it, st);
    const double middle = 0.5 * (t1 + tal_state_t(state));
    if (st == TAL_OK) st = tal_integrator_back_up(integ, state, middle);
    if (st == TAL_OK && w->fixed_step > 0.0) add_state(it, state);
    const tal_integrator_stats s = tal_integrator_statistics(integ);
    add_count(it, (long)s.steps_attempted);
    add_count(it, (long)s.steps_taken);
    add_count(it, (long)s.error_failures);
    add_count(it, (long)s.realizations);
    add_count(it, (long)s.jacobians);
    add_count(it, (long)s.nonlinear_iterations);
    add_count(it, (long)s.projections);
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
}

static const char *stem(int model)
{
    return strrchr(models[model], '/') + 1;
}

START_TEST(runs_take_the_steps_they_took)
{
    const tal_model model = load(_i);
    for (int k = 0; k < NUM_WAYS; ++k) {
        char name[100];
        answer it = {.num = 0};
        integrate(&model, &ways[k], &it);
        (void)snprintf(name, sizeof name, "%s/%s", stem(_i), ways[k].name);
        // Steps are chosen by errors, which are differences: where they are small, round-off
        // chooses. The end of a run is then known to its accuracy, or to what kinks of forces leave
        // of it. Fixed steps are the same.
        const bool is_rough = ways[k].fixed_step == 0.0;
        settle(name, &it, is_rough ? fmax(1e-5, 20.0 * ways[k].accuracy) : 1e-9, is_rough);
    }
    tal_model copy = model;
    tal_model_destroy(&copy);
}

END_TEST

// --- searches ---

static void add_matrix(answer *it, tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        add_numbers(it, A.data + (size_t)j * (size_t)A.ld, A.rows);
    }
}

// A v = lambda v for each mode: 1.3e-9 of |A| |v| is off at most, as measured. That is more than
// the round-off of |A| |v|; LAPACK balances A, and round-off in place of zeros may mislead it.
static void check_modes(const tal_linearizer *lin)
{
    const tal_matrix A = tal_linearizer_A(lin);
    double size = 0.0;
    for (int i = 0; i < A.rows * A.cols; ++i) {
        size += fabs(A.data[i / A.cols + i % A.cols * A.ld]);
    }
    for (int m = 0; m < tal_linearizer_num_modes(lin); ++m) {
        const tal_mode mode = tal_linearizer_mode(lin, m);
        double length = 0.0, worst = 0.0;
        for (int i = 0; i < A.rows; ++i) {
            double re = 0.0, im = 0.0;
            for (int j = 0; j < A.cols; ++j) {
                re += A.data[i + j * A.ld] * mode.shape_re[j];
                im += A.data[i + j * A.ld] * mode.shape_im[j];
            }
            re -= mode.re * mode.shape_re[i] - mode.im * mode.shape_im[i];
            im -= mode.re * mode.shape_im[i] + mode.im * mode.shape_re[i];
            worst = fmax(worst, hypot(re, im));
            length = fmax(length, hypot(mode.shape_re[i], mode.shape_im[i]));
        }
        ck_assert_double_gt(length, 0.0);
        ck_assert_msg(worst <= 1e-8 * size * length, "mode %d is off by %g of %g", m, worst,
                      size * length);
    }
}

static void linearize(const tal_model *model, answer *it)
{
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(model->system, NULL, &lin, NULL), TAL_OK);
    tal_status st = tal_linearizer_run(lin, model->state);
    add_count(it, st);
    if (st == TAL_OK) {
        add_matrix(it, tal_linearizer_A(lin));
        add_matrix(it, tal_linearizer_B(lin));
        st = tal_linearizer_find_modes(lin);
        add_count(it, st);
        add_count(it, tal_linearizer_num_modes(lin));
        if (st == TAL_OK) check_modes(lin);
    }
    tal_linearizer_destroy(lin);
}

static void rest(const tal_model *model, tal_equilibrium_kind kind, answer *it)
{
    tal_equilibrium_def def = tal_equilibrium_def_default();
    tal_equilibrium *eq = NULL;
    tal_rest found = {.iterations = 0};
    tal_state *state = NULL;
    def.kind = kind;
    ck_assert_int_eq(tal_state_create(model->system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(state, model->state), TAL_OK);
    ck_assert_int_eq(tal_equilibrium_create(model->system, &def, &eq, NULL), TAL_OK);
    const tal_status st = tal_equilibrium_find(eq, state, &found);
    add_count(it, st);
    if (st == TAL_OK) {
        add_count(it, found.iterations);
        add_count(it, found.is_stable);
        add_numbers(it, &found.zdot, 1);
        add_state(it, state);
    }
    tal_equilibrium_destroy(eq);
    tal_state_destroy(state);
}

// Coordinates that are off are brought back, with markers where they were.
static void assemble(const tal_model *model, bool fits, answer *it)
{
    tal_assembler_def def = tal_assembler_def_default();
    tal_assembler *assembler = NULL;
    tal_assembly found = {.iterations = 0};
    tal_state *state = NULL;
    def.markers = model->markers;
    def.num_markers = model->num_markers;
    def.stay_close = 0.01;
    ck_assert_int_eq(tal_state_create(model->system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_copy(state, model->state), TAL_OK);
    ck_assert_int_eq(tal_system_realize(model->system, state, TAL_STAGE_POSITION), TAL_OK);
    ck_assert_int_eq(tal_assembler_create(model->system, &def, &assembler, NULL), TAL_OK);
    tal_vec3 points[16];
    for (int i = 0; i < model->num_markers && i < 16; ++i) {
        points[i] =
            tal_station_p_GS(model->matter, state, model->markers[i].body, model->markers[i].p_BS);
    }
    double *q = tal_state_upd_q(state);
    for (int i = 0; i < tal_state_nq(state); ++i) {
        q[i] += 0.05 * sin(3.0 * i + 1.0);
    }
    ck_assert_int_eq(tal_assembler_observe(assembler, points, NULL), TAL_OK);
    const tal_status st = fits ? tal_assembler_fit(assembler, state, &found)
                               : tal_assembler_assemble(assembler, state, &found);
    add_count(it, st);
    add_count(it, found.iterations);
    add_count(it, found.restarts);
    add_count(it, found.worst_marker);
    add_count(it, found.worst.i);
    const double sizes[] = {found.error_before, found.goal_before, found.goal, found.marker_rms,
                            found.marker_max};
    add_numbers(it, sizes, 5);
    add_state(it, state);
    tal_assembler_destroy(assembler);
    tal_state_destroy(state);
}

START_TEST(searches_find_what_they_found)
{
    tal_model model = load(_i);
    for (int k = 0; k < 5; ++k) {
        static const char *const names[] = {"linear", "rest", "any_rest", "assembled", "fitted"};
        char name[100];
        answer it = {.num = 0};
        if (k == 0) linearize(&model, &it);
        if (k == 1) rest(&model, TAL_EQUILIBRIUM_STABLE, &it);
        if (k == 2) rest(&model, TAL_EQUILIBRIUM_ANY, &it);
        if (k >= 3) assemble(&model, k == 4, &it);
        (void)snprintf(name, sizeof name, "%s/%s", stem(_i), names[k]);
        // slopes by differences, and goals to the root of round-off
        settle(name, &it, 1e-6, k > 0);
    }
    tal_model_destroy(&model);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("study_values");
    TCase *all = tcase_create("values");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, runs_take_the_steps_they_took, 0, NUM_MODELS);
    tcase_add_loop_test(all, searches_find_what_they_found, 0, NUM_MODELS);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
