// Tests of matter/src/tree/graph.c: spanning trees.
#include "talus_test.h"

#include <talus/matter.h>

enum {
    MOST = 16
};

typedef struct spanned {
    tal_graph_step steps[MOST];
    int closing[MOST], num_closing, work[MOST];
} spanned;

static spanned span(const bool massless[], int num_bodies, const tal_graph_joint joints[],
                    int num_joints)
{
    spanned s = {.num_closing = -1};
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_graph_span(massless, num_bodies, joints, num_joints, s.steps,
                                         s.closing, &s.num_closing, s.work, &err);
    ck_assert_msg(st == TAL_OK, "%s", err.message);
    // what holds for every tree: each body once, parents first, joints where they are
    bool seen[MOST] = {true};
    for (int k = 0; k < num_bodies - 1; ++k) {
        const tal_graph_step *step = &s.steps[k];
        ck_assert(!seen[step->body] && seen[step->inboard]);
        seen[step->body] = true;
        if (step->joint < 0) continue;
        const tal_graph_joint *j = &joints[step->joint];
        ck_assert(!j->must_close);
        ck_assert_int_eq(step->reversed ? j->child : j->parent, step->inboard);
        ck_assert_int_eq(step->reversed ? j->parent : j->child, step->body);
    }
    int used = 0;
    for (int k = 0; k < num_bodies - 1; ++k) {
        used += s.steps[k].joint >= 0;
    }
    ck_assert_int_eq(used + s.num_closing, num_joints);
    return s;
}

// Inventory of RBDA: 4.03.
START_TEST(a_four_bar_is_cut_in_the_middle)
{
    // listed as crank, coupler, rocker; the last joint back to Ground
    const tal_graph_joint joints[] = {{0, 1, false}, {1, 2, false}, {2, 3, false}, {3, 0, false}};
    const spanned s = span(NULL, 4, joints, 4);
    ck_assert_int_eq(s.steps[0].body, 1);
    ck_assert_int_eq(s.steps[1].body, 3);
    ck_assert(s.steps[1].reversed);
    ck_assert_int_eq(s.steps[2].level, 2); // least depth: two links on one side, one on the other
    ck_assert_int_eq(s.num_closing, 1);
    ck_assert_int_eq(s.closing[0], 2);
}

END_TEST

START_TEST(joints_that_must_close_are_kept_out)
{
    const tal_graph_joint joints[] = {{0, 1, false}, {0, 2, true}, {1, 2, false}};
    const spanned s = span(NULL, 3, joints, 3);
    ck_assert_int_eq(s.steps[1].inboard, 1);
    ck_assert_int_eq(s.num_closing, 1);
    ck_assert_int_eq(s.closing[0], 1);
}

END_TEST

START_TEST(what_is_not_connected_with_ground_gets_a_free_base)
{
    // 2 is the parent of 1 and 3; 4 and 5 are a ring of two
    const tal_graph_joint joints[] = {{2, 1, false}, {2, 3, false}, {4, 5, false}, {5, 4, false}};
    const spanned s = span(NULL, 6, joints, 4);
    ck_assert_int_eq(s.steps[0].body, 2);
    ck_assert_int_eq(s.steps[0].joint, -1);
    ck_assert_int_eq(s.steps[0].inboard, 0);
    ck_assert_int_eq(s.steps[3].body, 4);
    ck_assert_int_eq(s.steps[3].joint, -1);
    ck_assert_int_eq(s.num_closing, 1);
}

END_TEST

// Ground - 1 - m - 2 - Ground with m without mass: taken by levels m would be a tip, so 2 hangs on
// m.
START_TEST(bodies_without_mass_do_not_end_branches)
{
    const bool massless[] = {false, false, true, false, true, false};
    const tal_graph_joint joints[] = {{0, 1, false}, {1, 2, false}, {2, 3, false},
                                      {0, 2, false}, {3, 4, false}, {4, 5, false}};
    const spanned s = span(massless, 6, joints, 6);
    for (int k = 0; k < 5; ++k) {
        bool carries = false;
        for (int i = 0; i < 5; ++i) {
            carries = carries || s.steps[i].inboard == s.steps[k].body;
        }
        ck_assert(carries || !massless[s.steps[k].body]);
    }
    ck_assert_int_eq(s.num_closing, 1);
}

END_TEST

START_TEST(bad_graphs_are_reported)
{
    test_record_breaches();
    spanned s;
    tal_error err = {TAL_OK, "", ""};
    const tal_graph_joint nowhere[] = {{0, 7, false}}, self[] = {{1, 1, false}};
    const tal_graph_joint chain[] = {{0, 1, false}, {1, 2, false}};
    const bool massless[] = {false, false, true};
    ck_assert_int_eq(
        tal_graph_span(NULL, 3, nowhere, 1, s.steps, s.closing, &s.num_closing, s.work, &err),
        TAL_ERR_BAD_INDEX);
    err.status = TAL_OK;
    ck_assert_int_eq(
        tal_graph_span(NULL, 3, self, 1, s.steps, s.closing, &s.num_closing, s.work, &err),
        TAL_ERR_BAD_VALUE);
    err.status = TAL_OK;
    ck_assert_int_eq(
        tal_graph_span(massless, 3, chain, 2, s.steps, s.closing, &s.num_closing, s.work, &err),
        TAL_ERR_TOPOLOGY);
    ck_assert_ptr_nonnull(strstr(err.message, "body 2"));
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_graph_span(NULL, 3, chain, 2, NULL, NULL, NULL, NULL, &err),
                       TAL_ERR_NULL, "2 joints");
    ck_assert_int_eq(st, TAL_ERR_NULL);
    ck_assert_int_eq(tal_graph_span(NULL, 1, NULL, 0, NULL, NULL, &s.num_closing, s.work, NULL),
                     TAL_OK);
    ck_assert_int_eq(s.num_closing, 0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("graph");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, a_four_bar_is_cut_in_the_middle);
    tcase_add_test(theory, joints_that_must_close_are_kept_out);
    tcase_add_test(theory, what_is_not_connected_with_ground_gets_a_free_base);
    tcase_add_test(theory, bodies_without_mass_do_not_end_branches);
    suite_add_tcase(suite, theory);
    TCase *errors = tcase_create("errors");
    tcase_add_test(errors, bad_graphs_are_reported);
    suite_add_tcase(suite, errors);
    return test_run(suite);
}
