// From a System and a State to a model file: bodies, constraints, motions.
#include "matter_facts_internal.h"
#include "model_write_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- bodies

// The row of a mobilizer that is built in; NULL for another.
static const tali_row *row_of_body(const tal_mobilizer_ops *ops,
                                   const tal_function_based_def *functions)
{
    for (int i = 0; tali_body_rows[i].name != NULL; ++i) {
        if (functions != NULL && tali_body_rows[i].ops == NULL) return &tali_body_rows[i];
        if (functions != NULL || tali_body_rows[i].ops == NULL) continue;
        const tal_mobilizer_ops *ours = tali_body_rows[i].ops();
        if (strcmp(ours->name, ops->name) == 0 && ours->calc_X_FM == ops->calc_X_FM &&
            ours->calc_H_FM == ops->calc_H_FM) {
            return &tali_body_rows[i];
        }
    }
    return NULL;
}

static bool is_weightless(const tali_writer *w, tal_body_ix body)
{
    return w->gravity.i >= 0 &&
           tal_gravity_is_excluded(w->model.forces, w->model.state, w->gravity, body);
}

// What a file must say of the lock of a body, if it is not locked at q or u as they are, or at udot = 0.
static tali_list lock_list(const tali_writer *w, tal_body_ix body)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tal_level level = tal_body_lock_level(matter, state, body);
    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    const double *at = tali_lock_values(matter, state, body);
    const int count = level == TAL_LEVEL_FREE ? 0 : level == TAL_LEVEL_POSITION ? nq : nu;
    bool same = true;
    for (int i = 0; i < count; ++i) {
        const double here = level == TAL_LEVEL_POSITION   ? tal_body_q(matter, state, body, i)
                            : level == TAL_LEVEL_VELOCITY ? tal_body_u(matter, state, body, i)
                                                          : 0.0;
        // NOLINTNEXTLINE(*-memory-comparison,cert-*): the bits, so that a zero keeps its sign
        same = same && memcmp(&here, &at[i], sizeof here) == 0;
    }
    for (int i = 0; level == TAL_LEVEL_POSITION && i < nu; ++i) {
        same = same && tal_body_u(matter, state, body, i) == 0.0;
    }
    return (tali_list){.shown = at, .count = same ? 0 : count};
}

// The lock of one mobility, where the body is not locked as a whole.
static tal_level lock_of(const tali_writer *w, tal_body_ix body, int i)
{
    const tal_matter *matter = w->model.matter;
    if (tal_body_lock_level(matter, w->model.state, body) != TAL_LEVEL_FREE) return TAL_LEVEL_FREE;
    if (i >= tal_body_nu(matter, body)) return TAL_LEVEL_FREE;
    return tal_mobility_lock_level(matter, w->model.state, (tal_mobility){body, i});
}

// Coordinates that are locked alone, or have other names than those they have anyway.
static void put_coordinates(tali_writer *w, tal_body_ix body, int nq)
{
    for (int i = 0; i < nq; ++i) {
        char name[TAL_COORDINATE_NAME_SIZE], usual[TAL_COORDINATE_NAME_SIZE + 16];
        (void)tal_body_coordinate_name(w->model.matter, w->model.state, body, i, name);
        (void)snprintf(usual, sizeof usual, "%s.q%d", tali_write_body_name(w, body.i), i);
        const tal_level level = lock_of(w, body, i);
        const bool has_name = strcmp(name, usual) != 0;
        if (!has_name && level == TAL_LEVEL_FREE) continue;
        tali_slots slots = {.ref = {i, (int)level}};
        if (level != TAL_LEVEL_FREE) {
            const double *at = tali_lock_values(w->model.matter, w->model.state, body);
            slots.lists[0] = (tali_list){.shown = at + i, .count = 1};
        }
        const tali_item item =
            tali_slots_item(&slots, &tali_body_part_rows[0], has_name ? name : NULL);
        tali_write_tag(w, &item);
        tali_sink_put(&w->out, "/>");
    }
}

// The functions of a mobilizer that is made of them.
static void put_parts(tali_writer *w, const tal_function_based_def *def, const char *whose)
{
    for (int i = 0; i < 6; ++i) {
        const bool turn = i < 3;
        const tal_mobilizer_function *part = turn ? &def->rotation[i] : &def->translation[i - 3];
        const tal_vec3 *axis = turn ? &def->rotation_axis[i] : &def->translation_axis[i - 3];
        if (part->function == NULL) continue;
        tali_sink_put(&w->out, "<%s index=\"%d\" coordinates=\"", turn ? "rotation" : "translation",
                      i % 3);
        for (int k = 0; k < part->num_coords; ++k) {
            tali_sink_put(&w->out, k > 0 ? " %d" : "%d", part->coords[k]);
        }
        tali_sink_put(&w->out, "\"");
        tali_write_list(w, "axis", &axis->x, 3, 1);
        tali_sink_put(&w->out, ">");
        tali_write_function(w, part->function, whose);
        tali_sink_put(&w->out, turn ? "</rotation>" : "</translation>");
    }
}

// What all bodies have, as numbers and references.
static void add_body_values(const tali_writer *w, tal_body_ix body, const tali_body_facts *facts,
                            tali_slots *to)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tal_mass_props mass = tal_body_mass_props(matter, state, body);
    const tal_xform X_PF = tal_body_X_PF(matter, state, body),
                    X_BM = tal_body_X_BM(matter, state, body);
    to->p[TALI_BODY_MASS] = mass.mass;
    memcpy(to->p + TALI_BODY_COM, &mass.com, sizeof mass.com);
    tali_frame_to(&X_PF, to->p + TALI_BODY_FRAME);
    tali_frame_to(&X_BM, to->p + TALI_BODY_BODY_FRAME);
    to->p[TALI_BODY_ROTOR] =
        tal_body_nu(matter, body) == 1 ? tal_body_rotor_inertia(matter, state, body) : 0.0;
    int *ref = to->ref;
    ref[TALI_BODY_PARENT] = tal_body_parent(matter, body).i;
    ref[TALI_BODY_STRUCTURE] = (int)facts->structure;
    ref[TALI_BODY_REVERSE] = facts->direction == TAL_REVERSE;
    ref[TALI_BODY_ANGLES] = facts->ops->has_quaternion && tal_body_uses_angles(matter, state, body);
    ref[TALI_BODY_LOCK] = (int)tal_body_lock_level(matter, state, body);
    ref[TALI_BODY_FAST] = facts->fast == TAL_LEVEL_FREE       ? 0
                          : facts->fast == TAL_LEVEL_VELOCITY ? 1
                                                              : 2;
    ref[TALI_BODY_WEIGHTLESS] = is_weightless(w, body);
    to->text[0] = "origin";
    to->text[1] = to->text[2] = "";
    to->at = (tali_room){
        .p = TALI_BODY_NUMBERS, .ref = TALI_BODY_REFS, .text = 3, .lists = TALI_BODY_LISTS};
}

// Numbers of lists.
typedef struct body_lists {
    double inertia[6], q[TAL_MAX_NQ], u[TAL_MAX_NU], range[2 * TAL_MAX_NQ];
} body_lists;

static void add_body_lists(const tali_writer *w, tal_body_ix body, body_lists *numbers,
                           tali_slots *to)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tal_mass_props mass = tal_body_mass_props(matter, state, body);
    memcpy(numbers->inertia, &mass.inertia, sizeof numbers->inertia);
    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    bool limited = false;
    for (int i = 0; i < nq; ++i) {
        double *range = numbers->range + 2 * i;
        numbers->q[i] = tal_body_q(matter, state, body, i);
        (void)tal_body_range(matter, state, body, i, &range[0], &range[1]);
        limited = limited || isfinite(range[0]) || isfinite(range[1]);
    }
    for (int i = 0; i < nu; ++i) {
        numbers->u[i] = tal_body_u(matter, state, body, i);
    }
    to->lists[TALI_BODY_INERTIA_LIST] = (tali_list){.shown = numbers->inertia, .count = 6};
    to->lists[TALI_BODY_Q_LIST] = (tali_list){.shown = numbers->q, .count = nq};
    to->lists[TALI_BODY_U_LIST] = (tali_list){.shown = numbers->u, .count = nu};
    to->lists[TALI_BODY_RANGE_LIST] =
        (tali_list){.shown = numbers->range, .count = limited ? 2 * nq : 0};
    to->lists[TALI_BODY_LOCK_LIST] = lock_list(w, body);
}

// What a built-in mobilizer has besides.
static void add_params(const tali_writer *w, tal_body_ix body, tali_slots *to)
{
    int num_params;
    const double *params = tal_body_params(w->model.matter, w->model.state, body, &num_params);
    if (num_params > 0) memcpy(to->p + to->at.p, params, (size_t)num_params * sizeof *params);
    to->ref[to->at.ref] = tal_body_nq(w->model.matter, w->model.state, body); // function-based
}

void tali_write_body(tali_writer *w, tal_body_ix body)
{
    const char *name = tali_write_body_name(w, body.i);
    const tali_body_facts facts = tali_body_facts_of(w->model.matter, body);
    const tal_function_based_def *functions = tali_function_based_facts(facts.ops, facts.self);
    const tal_model_element *element = tali_registered(w, TAL_MODEL_BODY, facts.ops);
    const tali_row *row = row_of_body(facts.ops, functions);
    tali_slots slots = {.p = {0.0}};
    tali_own_row own;
    body_lists numbers;
    if (row == NULL && element == NULL) {
        tali_write_refuse(w, "body '%s' has the mobilizer '%s', " TALI_NOT_REGISTERED, name,
                          facts.ops->name);
        return;
    }
    add_body_values(w, body, &facts, &slots);
    add_body_lists(w, body, &numbers, &slots);
    if (row != NULL) {
        add_params(w, body, &slots);
    } else {
        tali_own_row_make(element, &own);
        if (!tali_describe(w, element, body.i, facts.self, name, &own, &slots)) return;
        row = &own.row;
    }
    const tali_item item = tali_slots_item(&slots, row, name);
    tali_write_tag(w, &item);
    tali_sink_put(&w->out, ">");
    if (functions != NULL) put_parts(w, functions, name);
    put_coordinates(w, body, tal_body_nq(w->model.matter, w->model.state, body));
    tali_sink_put(&w->out, "</%s>\n", row->name);
}

// ---- constraints and motions

void tali_write_end(tali_writer *w, const tali_row *row, const tal_function *f, const char *whose)
{
    if (f == NULL) {
        tali_sink_put(&w->out, "/>\n");
        return;
    }
    tali_sink_put(&w->out, ">");
    tali_write_function(w, f, whose);
    tali_sink_put(&w->out, "</%s>\n", row->name);
}

// "rolling sphere on plane" is "sphere on plane contact" with a flag.
static const tali_row *row_of_constraint(const char *kind, bool *rolling)
{
    char plain[64];
    *rolling = strncmp(kind, "rolling ", 8) == 0;
    if (!*rolling) return tali_row_of_kind(TALI_GROUP_CONSTRAINTS, kind);
    (void)snprintf(plain, sizeof plain, "%s contact", kind + 8);
    return tali_row_of_kind(TALI_GROUP_CONSTRAINTS, plain);
}

void tali_write_constraint(tali_writer *w, tal_constraint_ix constraint)
{
    const tal_matter *matter = w->model.matter;
    const tal_state *state = w->model.state;
    const tali_constraint_facts facts = tali_constraint_facts_of(matter, constraint);
    const char *name = tal_constraint_name(matter, constraint);
    bool rolling = false;
    const tali_row *row = facts.kind != NULL ? row_of_constraint(facts.kind, &rolling) : NULL;
    const tal_model_element *element =
        row == NULL ? tali_registered(w, TAL_MODEL_CONSTRAINT, facts.ops) : NULL;
    if (row == NULL && element == NULL) {
        tali_write_refuse(w, "constraint '%s' is of kind '%s', " TALI_NOT_REGISTERED, name,
                          facts.ops->name);
        return;
    }
    tali_slots slots = {.p = {tal_constraint_share(matter, state, constraint)},
                        .ref = {tal_constraint_is_enabled(matter, state, constraint)},
                        .at = {.p = 1, .ref = 1}};
    if (element != NULL) {
        if (tali_write_own(w, element, constraint.i, facts.self, name, &slots)) {
            tali_sink_put(&w->out, "/>\n");
        }
        return;
    }
    int num_params;
    const double *params = tal_constraint_params(matter, state, constraint, &num_params);
    for (int i = 0; i < num_params; ++i) {
        slots.p[1 + i] = params[i];
    }
    int *ref = slots.ref;
    tali_mobility_ref mobilities[TAL_MAX_CONSTRAINED_MOBILITIES] = {{0, 0}};
    for (int i = 0; i < facts.num_mobilities; ++i) {
        mobilities[i] = (tali_mobility_ref){facts.mobilities[i].body.i, facts.mobilities[i].i};
    }
    int n = 1, body = 0;
    for (const tali_attribute *a = row->own; a->name != NULL; ++a) {
        if (a->type == TALI_TYPE_BODY) ref[n++] = facts.bodies[body++].i;
        if (a->type == TALI_TYPE_BOOL) ref[n++] = rolling;
        if (a->type == TALI_TYPE_INTEGER) ref[n++] = facts.num_speeds;
        if (a->type != TALI_TYPE_MOBILITY) continue;
        ref[n++] = mobilities[0].body;
        ref[n++] = mobilities[0].index;
    }
    tali_item item = tali_slots_item(&slots, row, name);
    item.mobilities = mobilities;
    item.num_mobilities = facts.num_mobilities;
    tali_write_tag(w, &item);
    tali_write_end(w, row, facts.function, name);
}

void tali_write_motion(tali_writer *w, tal_motion_ix motion)
{
    const tal_matter *matter = w->model.matter;
    const tali_motion_facts facts = tali_motion_facts_of(matter, motion);
    const char *name = tal_motion_name(matter, motion);
    const tali_row *row =
        facts.kind != NULL ? tali_row_of_kind(TALI_GROUP_MOTIONS, facts.kind) : NULL;
    const tal_model_element *element =
        row == NULL ? tali_registered(w, TAL_MODEL_MOTION, facts.ops) : NULL;
    if (row == NULL && element == NULL) {
        tali_write_refuse(w, "motion '%s' is of kind '%s', " TALI_NOT_REGISTERED, name,
                          facts.ops->name);
        return;
    }
    tali_slots slots = {.ref = {tal_motion_is_enabled(matter, w->model.state, motion), facts.body.i,
                                facts.mobility < 0, facts.mobility < 0 ? 0 : facts.mobility},
                        .at = {.ref = 4}};
    if (element != NULL) {
        if (tali_write_own(w, element, motion.i, facts.self, name, &slots)) {
            tali_sink_put(&w->out, "/>\n");
        }
        return;
    }
    int num_params;
    const double *params = tal_motion_params(matter, w->model.state, motion, &num_params);
    if (num_params > 0) memcpy(slots.p, params, (size_t)num_params * sizeof *params);
    slots.ref[4] = (int)facts.level;
    slots.lists[0] = (tali_list){.shown = params, .count = num_params};
    const tali_item item = tali_slots_item(&slots, row, name);
    tali_write_tag(w, &item);
    if (facts.num_functions == 0) {
        tali_sink_put(&w->out, "/>\n");
        return;
    }
    tali_sink_put(&w->out, ">");
    for (int i = 0; i < facts.num_functions; ++i) {
        tali_write_function(w, facts.functions[i], name);
    }
    tali_sink_put(&w->out, "</%s>\n", row->name);
}
