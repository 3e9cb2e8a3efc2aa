// Models as text, and whether two of them are the same.
#ifndef TALUS_MODEL_SAME_H
#define TALUS_MODEL_SAME_H

#include "talus_test.h"

#include <talus/io.h>
#include <talus/study.h>

#include <math.h>
#include <stdlib.h>

static inline tal_model read_text(const char *text)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("m.talus", text, strlen(text), NULL, &model, found);
    char line[TAL_DIAGNOSTIC_SIZE] = "";
    if (tal_diagnostics_num(found) > 0) {
        (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
    }
    ck_assert_msg(st == TAL_OK, "%s\n%s", line, text);
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    tal_diagnostics_destroy(found);
    return model;
}

// The same q and u, away from every singularity, in two States.
static inline void shake(tal_state *a, tal_state *b)
{
    test_rng rng = test_rng_seed(9);
    double *qa = tal_state_upd_q(a), *qb = tal_state_upd_q(b);
    for (int i = 0; i < tal_state_nq(a); ++i) {
        qa[i] = qb[i] = test_random_uniform(&rng, 0.1, 0.8);
    }
    double *ua = tal_state_upd_u(a), *ub = tal_state_upd_u(b);
    for (int i = 0; i < tal_state_nu(a); ++i) {
        ua[i] = ub[i] = test_random_uniform(&rng, -1.0, 1.0);
    }
    (void)tal_state_set_t(a, 0.7);
    (void)tal_state_set_t(b, 0.7);
}

static inline void assert_same_decorations(const char *what, const tal_matter *a,
                                           const tal_matter *b)
{
    const int n = tal_matter_num_decorations(a);
    ck_assert_int_eq(n, tal_matter_num_decorations(b));
    for (int i = 0; i < n; ++i) {
        const tal_decoration *d = tal_matter_decoration(a, i), *e = tal_matter_decoration(b, i);
        ck_assert_msg(d->kind == e->kind && d->body.i == e->body.i, "%s", what);
        ck_assert_int_eq(memcmp(&d->X_BD, &e->X_BD, sizeof d->X_BD), 0);
        ck_assert_int_eq(memcmp(&d->size, &e->size, sizeof d->size), 0);
        ck_assert_int_eq(memcmp(&d->end, &e->end, sizeof d->end), 0);
        ck_assert_int_eq(memcmp(&d->color, &e->color, sizeof d->color), 0);
        ck_assert(d->opacity == e->opacity && d->scale == e->scale);
        ck_assert((d->text == NULL) == (e->text == NULL));
        if (d->text != NULL) ck_assert_str_eq(d->text, e->text);
    }
}

static inline bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static inline void assert_same_action(const tal_system *one, const tal_system *two,
                                      tal_event_ix event)
{
    const tal_run_set *a = tal_event_run_set(one, event), *b = tal_event_run_set(two, event);
    const tal_run_impulse *p = tal_event_run_impulse(one, event),
                          *q = tal_event_run_impulse(two, event);
    ck_assert_str_eq(tal_event_name(one, event), tal_event_name(two, event));
    ck_assert((a == NULL) == (b == NULL) && (p == NULL) == (q == NULL));
    if (a == NULL && p == NULL) return; // of a force element, such as a muscle's shortest fiber
    if (a != NULL) {
        ck_assert(a->measure.i == b->measure.i && a->from.i == b->from.i);
        ck_assert(a->period == b->period && a->num_values == b->num_values);
        ck_assert(a->when.value == b->when.value && a->when.measure.i == b->when.measure.i);
        for (int i = 0; i < a->num_values; ++i) {
            ck_assert(a->values[i] == b->values[i]);
        }
        return;
    }
    ck_assert(p->body.i == q->body.i && p->in.i == q->in.i && p->period == q->period);
    ck_assert(p->mobility.body.i == q->mobility.body.i && p->mobility.i == q->mobility.i);
    ck_assert(p->along == q->along && p->when.value == q->when.value);
    ck_assert_int_eq(memcmp(&p->impulse, &q->impulse, sizeof p->impulse), 0);
    ck_assert_int_eq(memcmp(&p->p_BS, &q->p_BS, sizeof p->p_BS), 0);
}

// How unilateral elements are handled; their events are made from that.
static inline void assert_same_contacts(const tal_system *one, const tal_system *two)
{
    const tal_contacts *a = tal_system_contacts(one), *b = tal_system_contacts(two);
    ck_assert((a == NULL) == (b == NULL));
    if (a == NULL) return;
    const tal_contacts_def d = tal_contacts_def_of(a), e = tal_contacts_def_of(b);
    ck_assert(d.gap_tolerance == e.gap_tolerance && d.speed_tolerance == e.speed_tolerance);
    ck_assert(d.capture_speed == e.capture_speed && d.window == e.window);
    ck_assert(d.sequential == e.sequential && d.pile_up == e.pile_up);
    ck_assert(d.pile_up_interval == e.pile_up_interval);
    ck_assert_int_eq(tal_matter_most_touching(tal_system_matter(one)),
                     tal_matter_most_touching(tal_system_matter(two)));
    ck_assert_int_eq(tal_matter_most_sliding(tal_system_matter(one)),
                     tal_matter_most_sliding(tal_system_matter(two)));
}

static inline bool is_of_contacts(const tal_system *system, int event)
{
    const int owner = tal_event_owner(system, (tal_event_ix){event}).i;
    return owner == tal_contacts_subsystem(tal_system_contacts(system)).i;
}

static inline void assert_same_stops(const tal_system *one, const tal_system *two)
{
    const int n = tal_system_num_events(one);
    ck_assert_int_eq(n, tal_system_num_events(two));
    assert_same_contacts(one, two);
    for (int i = 0; i < n; ++i) {
        ck_assert(is_of_contacts(one, i) == is_of_contacts(two, i));
        if (is_of_contacts(one, i)) continue;
        const tal_run_stop *a = tal_event_stop(one, (tal_event_ix){i});
        const tal_run_stop *b = tal_event_stop(two, (tal_event_ix){i});
        if (a == NULL) {
            assert_same_action(one, two, (tal_event_ix){i});
            continue;
        }
        ck_assert(same_text(a->name, b->name) && same_text(a->message, b->message));
        ck_assert(a->measure.i == b->measure.i && a->value == b->value);
        ck_assert(a->crossing == b->crossing);
        ck_assert(a->window == b->window && a->separation == b->separation);
    }
}

static inline void assert_same_markers(const tal_model *one, const tal_model *two)
{
    ck_assert_int_eq(one->num_markers, two->num_markers);
    for (int i = 0; i < one->num_markers; ++i) {
        const tal_marker *a = &one->markers[i], *b = &two->markers[i];
        ck_assert_str_eq(a->name, b->name);
        ck_assert(a->body.i == b->body.i && a->weight == b->weight);
        ck_assert_int_eq(memcmp(&a->p_BS, &b->p_BS, sizeof a->p_BS), 0);
    }
}

static inline void assert_same_measures(const char *what, const tal_system *one, tal_state *a,
                                        const tal_system *two, tal_state *b)
{
    for (int i = 0; i < tal_system_num_measures(one); ++i) {
        const tal_measure_ix measure = {i};
        const size_t bytes = (size_t)tal_measure_size(one, measure) * sizeof(double);
        const double *x = tal_measure_values(one, a, measure);
        const double *y = tal_measure_values(two, b, measure);
        ck_assert_msg(x != NULL && y != NULL && memcmp(x, y, bytes) == 0, "%s: other measures",
                      what);
    }
}

// Equal structure, equal variables, equal accelerations, bit for bit.
static inline void assert_same_model(const char *what, const tal_system *one, tal_state *a,
                                     const tal_system *two, tal_state *b)
{
    ck_assert_msg(tal_system_structure_hash(one) == tal_system_structure_hash(two),
                  "%s: another structure", what);
    ck_assert_msg(tal_state_is_equal(a, b), "%s: other variables, from stage %d on", what,
                  (int)tal_state_lowest_difference(one, a, b));
    assert_same_decorations(what, tal_system_matter(one), tal_system_matter(two));
    shake(a, b);
    ck_assert_msg(tal_system_realize(one, a, TAL_STAGE_ACCELERATION) == TAL_OK, "%s: %s", what,
                  tal_state_error(a)->message);
    ck_assert_int_eq(tal_system_realize(two, b, TAL_STAGE_ACCELERATION), TAL_OK);
    const size_t bytes = (size_t)tal_state_nu(a) * sizeof(double);
    ck_assert_msg(memcmp(tal_state_udot(a), tal_state_udot(b), bytes) == 0,
                  "%s: other accelerations", what);
    for (int i = 0; i < tal_state_nu(a); ++i) {
        ck_assert_msg(isfinite(tal_state_udot(a)[i]), "%s: not finite", what);
    }
    assert_same_measures(what, one, a, two, b);
    assert_same_stops(one, two);
}

// The text of a model; NULL, and the reason in `err`, when it cannot be written.
static inline char *write_text(const tal_model *model, tal_error *err)
{
    size_t length = 0;
    if (tal_model_write_memory(model, NULL, NULL, 0, &length, err) != TAL_OK) return NULL;
    char *text = malloc(length + 1);
    size_t again = 0;
    ck_assert_int_eq(tal_model_write_memory(model, NULL, text, length + 1, &again, err), TAL_OK);
    ck_assert_uint_eq(again, length);
    ck_assert_uint_eq(strlen(text), length);
    return text;
}

#endif // TALUS_MODEL_SAME_H
