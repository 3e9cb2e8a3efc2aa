// io/src/model: models of random elements with random numbers are written the same however often
// they are read and written.
#include "model_made.h"

enum {
    NUM_MODELS = 60,
    MOST_ELEMENTS = 12
};

// --- random values ---

// Of any size, with as many digits as a double has; small whole ones among them.
static double random_number(test_rng *rng)
{
    const double u = test_random_uniform(rng, -1.0, 1.0);
    switch ((int)test_random_uniform(rng, 0.0, 5.0)) {
    case 0:
        return floor(5.0 * u);
    case 1:
        return u * pow(10.0, floor(test_random_uniform(rng, -12.0, 12.0)));
    default:
        return fabs(u);
    }
}

static int pick(test_rng *rng, int n)
{
    return (int)test_random_uniform(rng, 0.0, (double)n - 1e-9);
}

static void random_numbers(test_rng *rng, int count, char value[VALUE_SIZE])
{
    int length = 0;
    value[0] = '\0';
    for (int i = 0; i < count && length < VALUE_SIZE - 30; ++i) {
        length += snprintf(value + length, (size_t)(VALUE_SIZE - length), "%s%.17g",
                           i > 0 ? " " : "", random_number(rng));
    }
}

// Numbers are random; names and words are those that make_value() has.
static void random_value(test_rng *rng, const tali_model_attribute *a, int index,
                         char value[VALUE_SIZE])
{
    const int angles = 3 + 3 * pick(rng, 2);
    switch (a->type) {
    case TALI_TYPE_REAL:
        random_numbers(rng, a->count, value);
        return;
    case TALI_TYPE_REALS:
        random_numbers(rng, 1 + pick(rng, 6), value);
        return;
    case TALI_TYPE_FRAME:
        random_numbers(rng, angles, value);
        return;
    case TALI_TYPE_ROTATION:
        random_numbers(rng, 3, value);
        return;
    default:
        break;
    }
    int n = 0;
    while (n < NUM_CANDIDATES && make_value(a, index, n, value)) {
        ++n;
    }
    ck_assert(make_value(a, index, pick(rng, n), value));
}

// --- random elements ---

// Children must be as the row wants them; functions may be nested.
static void random_function(test_rng *rng, int depth, char text[TEXT_SIZE])
{
    char value[VALUE_SIZE], part[VALUE_SIZE + 200];
    const int kind = pick(rng, depth > 3 ? 3 : 6);
    static const char *const combined[] = {"sum", "product", "composition"};
    if (kind >= 3) {
        (void)snprintf(part, sizeof part, "<%s>", combined[kind - 3]);
        add(text, part);
        for (int i = 0; i < 2; ++i) {
            random_function(rng, depth + 1, text);
        }
        (void)snprintf(part, sizeof part, "</%s>", combined[kind - 3]);
        add(text, part);
        return;
    }
    random_numbers(rng, kind == 0 ? 1 : 3, value);
    (void)snprintf(part, sizeof part,
                   kind == 0   ? "<linear slopes=\"%s\" offset=\"0.1\"/>"
                   : kind == 1 ? "<polynomial coefficients=\"%s\"/>"
                               : "<spline x=\"-1 0.1 3\" y=\"%s\"/>",
                   value);
    add(text, part);
}

static void add_random_element(test_rng *rng, const tali_model_row *row, int number,
                               char text[TEXT_SIZE])
{
    char value[VALUE_SIZE];
    (void)snprintf(value, sizeof value, "<%s", row->name);
    add(text, value);
    const tali_model_attribute *a;
    for (int i = 0; (a = tali_model_row_attribute(row, i)) != NULL; ++i) {
        if (a->initial != NULL && pick(rng, 4) > 0) continue;
        random_value(rng, a, i, value);
        if (a->type == TALI_TYPE_NAME) (void)snprintf(value, sizeof value, "it%d", number);
        add_attribute(text, a->name, value);
    }
    add(text, ">");
    if (row->children == TALI_GROUP_FUNCTIONS && row->min_children > 0) {
        for (int i = 0; i < row->min_children; ++i) {
            random_function(rng, 0, text);
        }
    } else {
        add_children(text, row);
    }
    (void)snprintf(value, sizeof value, "</%s>", row->name);
    add(text, value);
}

// A model with a random element more; false, and the text as it was, when it is refused.
static bool add_random(test_rng *rng, int number, char text[TEXT_SIZE])
{
    char longer[TEXT_SIZE], whole[TEXT_SIZE];
    const size_t place = (size_t)pick(rng, (int)(sizeof places / sizeof *places));
    const tali_model_row *rows = tali_model_rows(places[place].group);
    int num_rows = 0;
    while (rows[num_rows].name != NULL) {
        ++num_rows;
    }
    (void)strcpy(longer, text);
    add(longer, places[place].begin);
    add_random_element(rng, &rows[pick(rng, num_rows)], number, longer);
    add(longer, places[place].end);
    (void)strcpy(whole, longer);
    add(whole, "</talus>");
    tal_model model;
    if (!can_read(whole, &model)) return false;
    tal_model_destroy(&model);
    (void)strcpy(text, longer);
    return true;
}

START_TEST(random_models_are_written_the_same_however_often_they_are_read)
{
    test_rng rng = test_rng_seed(1000 + (uint64_t)_i);
    char text[TEXT_SIZE];
    (void)strcpy(text, around);
    int num = 0;
    for (int tries = 0; tries < 40 * MOST_ELEMENTS && num < MOST_ELEMENTS; ++tries) {
        if (add_random(&rng, tries, text)) ++num;
    }
    ck_assert_int_eq(num, MOST_ELEMENTS);
    add(text, "</talus>");
    free(there_and_back(text));
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_random");
    TCase *all = tcase_create("models");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, random_models_are_written_the_same_however_often_they_are_read, 0,
                        NUM_MODELS);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
