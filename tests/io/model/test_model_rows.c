// io/src/model/model_*.c: every row of the table can be read, written and read again to the same
// System, with each of its attributes, and no attribute is lost. The elements are made up from the
// table itself, so that a new row or attribute is tested from the beginning.
#include "model_made.h"

// A model with an element of the row, and in it `variant` of all attributes that it must have; with
// `extra`, `candidate` of that one too. False when there is no such candidate.
static bool make_text(tali_model_group group, const tali_model_row *row, int variant,
                      const tali_model_attribute *extra, int candidate, char text[TEXT_SIZE])
{
    size_t place = 0;
    while (places[place].group != group) {
        ++place;
    }
    const char *with = companion(group, row, extra != NULL ? extra->name : "");
    char value[VALUE_SIZE];
    const tali_model_attribute *a;
    (void)snprintf(text, TEXT_SIZE, "%s%s<%s %s", around, places[place].begin, row->name, with);
    if (group == TALI_GROUP_BODIES && strstr(with, "mass") == NULL) {
        const bool has_mass = extra != NULL && strcmp(extra->name, "mass") == 0;
        add(text, has_mass ? " inertia=\"9 9 9\"" : " mass=\"1.5\" inertia=\"1 1.1 1.2\"");
    }
    for (int i = 0; (a = tali_model_row_attribute(row, i)) != NULL; ++i) {
        if (a == extra) {
            if (!make_value(a, i, candidate, value)) return false;
        } else if (a->initial != NULL) {
            continue;
        } else {
            int n = 0;
            while (n < NUM_CANDIDATES && make_value(a, i, n, value)) {
                ++n;
            }
            ck_assert(make_value(a, i, variant % n, value));
        }
        add_attribute(text, a->name, value);
    }
    add(text, ">");
    add_children(text, row);
    (void)snprintf(value, sizeof value, "</%s>%s</talus>", row->name, places[place].end);
    add(text, value);
    return true;
}

// Whether some value of an attribute is taken, and makes a difference to what is written.
static bool says(tali_model_group group, const tali_model_row *row, int variant, const char *plain,
                 const tali_model_attribute *a)
{
    char text[TEXT_SIZE];
    bool does = false;
    for (int i = 0; i < NUM_CANDIDATES && make_text(group, row, variant, a, i, text); ++i) {
        char *written = there_and_back(text);
        does = does || (written != NULL && strcmp(written, plain) != 0);
        free(written);
    }
    return does;
}

// Attributes of a group that some row of it has said.
typedef struct said {
    const tali_model_attribute *shared[32];
    bool is_said[32];
} said;

static void check_row(tali_model_group group, const tali_model_row *row, said *of_group)
{
    char text[TEXT_SIZE];
    char *plain = NULL;
    int variant = 0;
    for (; plain == NULL && variant < NUM_CANDIDATES; ++variant) {
        ck_assert(make_text(group, row, variant, NULL, 0, text));
        plain = there_and_back(text);
    }
    ck_assert_msg(plain != NULL, "<%s> was never read:\n%s", row->name, text);
    const tali_model_attribute *a;
    int num_shared = 0;
    while (row->shared != NULL && row->shared[num_shared].name != NULL) {
        ++num_shared;
    }
    for (int i = 0; (a = tali_model_row_attribute(row, i)) != NULL; ++i) {
        if (a->initial == NULL || is_ephemeral(row, a)) continue;
        bool does = false;
        for (int v = variant - 1; v < variant + 2 && !does; ++v) {
            does = says(group, row, v, plain, a);
        }
        ck_assert_msg(does || i < num_shared, "<%s %s> is lost when it is written", row->name,
                      a->name);
        if (i >= num_shared) continue;
        ck_assert_int_lt(i, 32);
        of_group->shared[i] = a;
        of_group->is_said[i] = of_group->is_said[i] || does;
    }
    free(plain);
}

START_TEST(every_row_is_read_written_and_read_again)
{
    const tali_model_group group = places[_i].group;
    const tali_model_row *rows = tali_model_rows(group);
    said of_group = {.shared = {NULL}};
    for (int i = 0; rows[i].name != NULL; ++i) {
        if (!needs_file(&rows[i])) check_row(group, &rows[i], &of_group);
    }
    for (int i = 0; i < 32 && group != TALI_GROUP_FUNCTIONS; ++i) { // only <functions> name them
        ck_assert_msg(of_group.shared[i] == NULL || of_group.is_said[i],
                      "'%s' is lost when it is written", of_group.shared[i]->name);
    }
}

END_TEST

// What is written stands in a section, or in an element.
START_TEST(every_group_is_tested)
{
    for (int group = TALI_GROUP_MATERIALS; group < TALI_NUM_GROUPS; ++group) {
        bool is_there = group == TALI_GROUP_MESH_PARTS || // in <mesh>
                        group >= TALI_GROUP_FIELDS;       // io/model_molecules
        for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
            is_there = is_there || (int)places[i].group == group;
        }
        ck_assert_msg(is_there, "group %d", group);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("model_rows");
    TCase *all = tcase_create("rows");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, every_row_is_read_written_and_read_again, 0,
                        (int)(sizeof places / sizeof *places));
    tcase_add_test(all, every_group_is_tested);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
