// Every element of model files, by numbers: what a model with it does is compared with stored
// answers (tests/io/model_values.txt), case by case of model_cases.h. The answers are those of
// Talus itself, so this test finds what changes, not what was wrong before; identities and
// references are in other tests. A case is found by its text; one that has no answer yet is not
// looked at. After a change that is meant to alter results, and for new cases:
//
//     rm tests/io/model_values.txt
//     TALUS_VALUES=tests/io/model_values.txt test_io_model_values
//
// For each case there are six numbers, sums of many with weights sin(1), sin(2), ...: of
// accelerations and multipliers, of measures and rates of z, of energies, of the matrices of the
// linear system, of coordinates and speeds after a run of 0.02 s, and of all numbers in its scene.
#include "model_cases.h"
#include "model_same.h"

#include <talus/talus.h>

#include <ctype.h>

enum {
    NUM_VALUES = 6,
    LINE = 400
};

// How exactly each number is known: to round-off, but for differences (1e-8 of a step of 0.01) and
// runs (accuracy 1e-10 over ten or more steps).
static const double known_to[NUM_VALUES] = {1e-10, 1e-10, 1e-10, 1e-6, 1e-8, 1e-10};

// A sum with weights, and the sum of the sizes.
typedef struct sum {
    double value, size;
    int num;
} sum;

static void add_value(sum *it, double x)
{
    const double part = sin(++it->num) * x;
    it->value += part;
    it->size += fabs(part);
}

static void add_values(sum *it, const double x[], int n)
{
    for (int i = 0; i < n; ++i) {
        add_value(it, x[i]);
    }
}

// --- what a model does ---

static void add_accelerations(const tal_model *model, tal_state *state, sum it[NUM_VALUES])
{
    add_values(&it[0], tal_state_udot(state), tal_state_nu(state));
    const tal_constraint_rows rows = tal_matter_constraint_rows(model->matter, state);
    add_values(&it[0], tal_state_multipliers(state), rows.mp + rows.mv + rows.ma);
    add_values(&it[1], tal_state_zdot(state), tal_state_nz(state));
    for (int i = 0; i < tal_system_num_measures(model->system); ++i) {
        const tal_measure_ix measure = {i};
        const int n = tal_measure_size(model->system, measure);
        add_values(&it[1], tal_measure_values(model->system, state, measure), n);
        if (tal_measure_num_derivatives(model->system, measure) > 0) {
            add_values(&it[1], tal_measure_derivatives(model->system, state, measure, 1), n);
        }
    }
    add_value(&it[2], tal_matter_kinetic_energy(model->matter, state));
    add_value(&it[2], tal_system_potential_energy(model->system, state));
}

static void add_matrix(sum *it, tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        for (int i = 0; i < A.rows; ++i) {
            add_value(it, A.data[i + j * A.ld]);
        }
    }
}

static void add_linear_system(const tal_model *model, const tal_state *state, sum *it)
{
    tal_linearizer *lin = NULL;
    ck_assert_int_eq(tal_linearizer_create(model->system, NULL, &lin, NULL), TAL_OK);
    const tal_status st = tal_linearizer_run(lin, state);
    add_value(it, st);
    if (st == TAL_OK) {
        add_matrix(it, tal_linearizer_A(lin));
        add_matrix(it, tal_linearizer_B(lin));
        add_matrix(it, tal_linearizer_K_p(lin));
        add_matrix(it, tal_linearizer_K_v(lin));
    }
    tal_linearizer_destroy(lin);
}

static void add_run(const tal_model *model, tal_state *state, sum *it)
{
    tal_integrator_def def = tal_integrator_def_default();
    tal_integrator *integ = NULL;
    def.accuracy = 1e-10;
    def.max_steps = 2000;
    ck_assert_int_eq(tal_integrator_create(model->system, &def, &integ, NULL), TAL_OK);
    const tal_status st = tal_integrator_step_to(integ, state, tal_state_t(state) + 0.02);
    add_value(it, st);
    if (st == TAL_OK) {
        add_values(it, tal_state_q(state), tal_state_nq(state));
        add_values(it, tal_state_u(state), tal_state_nu(state));
        add_values(it, tal_state_z(state), tal_state_nz(state));
    }
    tal_integrator_destroy(integ);
}

// --- its scene ---

typedef struct text_of {
    char at[400000];
    size_t size;
} text_of;

static bool take_text(void *context, const void *bytes, size_t size)
{
    text_of *out = context;
    if (out->size + size >= sizeof out->at) return false;
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
    return true;
}

// A run of two rows: where the State is, and where it was before.
static tal_table *make_rows(const tal_model *model, const tal_state *state)
{
    tal_table *table = tal_table_create(NULL);
    double row[64] = {0.0};
    int n = 1;
    ck_assert_int_eq(tal_table_add_column(table, "time"), TAL_OK);
    for (int pool = 0; pool < 2; ++pool) {
        const int count = pool == 0 ? tal_state_nq(state) : tal_state_nu(state);
        for (int i = 0; i < count; ++i, ++n) {
            char name[TAL_COORDINATE_NAME_SIZE];
            int local = -1;
            const tal_body_ix body = pool == 0
                                         ? tal_matter_q_owner(model->matter, state, i, &local)
                                         : tal_matter_u_owner(model->matter, state, i, &local);
            ck_assert_int_eq(pool == 0
                                 ? tal_body_coordinate_name(model->matter, state, body, local, name)
                                 : tal_body_speed_name(model->matter, state, body, local, name),
                             TAL_OK);
            ck_assert_int_eq(tal_table_add_column(table, name), TAL_OK);
            row[n] = pool == 0 ? tal_state_q(state)[i] : tal_state_u(state)[i];
        }
    }
    ck_assert_int_le(n, 64);
    ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    row[0] = 0.5;
    ck_assert_int_eq(tal_table_add_row(table, row), TAL_OK);
    return table;
}

// Numbers of the text up to its bytes; letters count by their codes.
static void add_text(const char *text, sum *it)
{
    const char *const end = strstr(text, "\"base64\"");
    ck_assert_ptr_nonnull(end);
    long letters = 0;
    bool is_quoted = false;
    for (const char *at = text; at < end;) {
        char *behind = NULL;
        if (*at == '"') is_quoted = !is_quoted;
        const bool may_begin = !is_quoted && (*at == '-' || isdigit((unsigned char)*at));
        const double x = may_begin ? strtod(at, &behind) : 0.0;
        if (behind != NULL && behind > at) {
            add_value(it, x);
            at = behind;
        } else {
            letters = (letters * 31 + (unsigned char)*at++) % 1000003;
        }
    }
    add_value(it, (double)letters);
}

static void add_scene(const tal_model *model, const tal_state *state, sum *it)
{
    static text_of text;
    tal_scene *scene = NULL;
    tal_error err = {TAL_OK, "", ""};
    ck_assert_msg(tal_scene_create(model, NULL, &scene, &err) == TAL_OK, "%s", err.message);
    tal_table *table = make_rows(model, state);
    const tal_status st = tal_scene_add_run(scene, "run", table, &err);
    add_value(it, st);
    tal_table_destroy(table);
    text.size = 0;
    if (st == TAL_OK) {
        ck_assert_int_eq(tal_scene_write_to(scene, TAL_SCENE_JSON, NULL, take_text, &text, &err),
                         TAL_OK);
        text.at[text.size] = 0;
        add_text(text.at, it);
    }
    tal_scene_destroy(scene);
}

// --- cases ---

static void find_values(const model_case *c, sum it[NUM_VALUES])
{
    char text[4000];
    tal_model model = read_text(case_file(c, text));
    shake(model.state, model.state);
    memset(it, 0, NUM_VALUES * sizeof *it);
    const tal_status st = tal_system_prescribe_and_project(model.system, model.state, NULL, NULL);
    for (int i = 0; i < NUM_VALUES; ++i) {
        add_value(&it[i], st);
    }
    if (st == TAL_OK &&
        tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION) == TAL_OK) {
        add_accelerations(&model, model.state, it);
        add_linear_system(&model, model.state, &it[3]);
        add_scene(&model, model.state, &it[5]);
        add_run(&model, model.state, &it[4]);
    }
    tal_model_destroy(&model);
}

// A number for the text of a case.
static unsigned long key_of(const model_case *c)
{
    unsigned long key = (unsigned long)c->group;
    for (const char *at = c->xml; *at != 0; ++at) {
        key = (key * 31 + (unsigned char)*at) % 1000003;
    }
    return key;
}

static void print_values(const char *path, const model_case *c, const sum it[NUM_VALUES])
{
    FILE *file = fopen(path, "a");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%lu %s", key_of(c), c->row);
    for (int k = 0; k < NUM_VALUES; ++k) {
        fprintf(file, " %.12g", it[k].value);
    }
    fprintf(file, "\n");
    (void)fclose(file);
}

// What stands behind key and row of a case among the stored answers; false when there are none.
static bool find_line(const model_case *c, char line[LINE], const char **values)
{
    FILE *file = fopen(TALUS_SOURCE_DIR "/tests/io/model_values.txt", "r");
    ck_assert_ptr_nonnull(file);
    bool is_there = false;
    while (!is_there && fgets(line, LINE, file) != NULL) {
        unsigned long key = 0;
        char row[64];
        int at = 0;
        ck_assert_int_eq(sscanf(line, "%lu %63s%n", &key, row, &at), 2);
        is_there = key == key_of(c) && strcmp(row, c->row) == 0;
        *values = line + at;
    }
    (void)fclose(file);
    return is_there;
}

static void check_values(const model_case *c, const sum it[NUM_VALUES], const char *next)
{
    for (int k = 0; k < NUM_VALUES; ++k) {
        char *end = NULL;
        const double stored = strtod(next, &end);
        ck_assert(end > next);
        next = end;
        ck_assert_msg(fabs(it[k].value - stored) <= known_to[k] * it[k].size,
                      "<%s>, number %d: %.12g instead of %.12g, off by %.2g of the sum: %s", c->row,
                      k, it[k].value, stored, fabs(it[k].value - stored) / it[k].size, c->xml);
    }
}

START_TEST(elements_do_what_they_did)
{
    int num_found = 0;
    for (int i = 0; i < NUM_MODEL_CASES; ++i) {
        const model_case *c = &model_cases[i];
        const char *values = NULL;
        char line[LINE];
        sum it[NUM_VALUES];
        find_values(c, it);
        if (getenv("TALUS_VALUES") != NULL) {
            print_values(getenv("TALUS_VALUES"), c, it);
        } else if (find_line(c, line, &values)) {
            check_values(c, it, values);
            ++num_found;
        }
    }
    if (getenv("TALUS_VALUES") == NULL) ck_assert_int_ge(num_found, 150);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_values");
    TCase *all = tcase_create("values");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, elements_do_what_they_did);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
