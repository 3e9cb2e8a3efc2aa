// From a model to natural coordinates: which entities there are, who shares them, and which
// conditions are left (GJB sec. 8.2.5).
#include "matter_facts_internal.h"

#include "natural/natural_internal.h"

#include <talus/matter/constraints.h>

#include <math.h>
#include <string.h>

// Directions that are this small a part of their length across others count as dependent.
static const double DEPENDENT = 1e-6;

// --- lists that grow ---

static int add_entity(tal_natural *it, int body, tal_vec3 local, bool is_point)
{
    void *list = it->entities;
    if (!tali_grow(&it->allocator, &list, it->num_entities, &it->entity_room,
                   sizeof *it->entities)) {
        return -1;
    }
    it->entities = list;
    it->entities[it->num_entities] = (tali_natural_entity){body, local, is_point};
    return it->num_entities++;
}

static tal_status add_condition(tal_natural *it, const tali_natural_condition *condition,
                                tal_error *err)
{
    if (condition->a.n == 0 && condition->b.n == 0) return TAL_OK; // of Ground alone
    void *list = it->conditions;
    if (!tali_grow(&it->allocator, &list, it->num_conditions, &it->condition_room,
                   sizeof *it->conditions)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
    }
    it->conditions = list;
    it->conditions[it->num_conditions++] = *condition;
    return TAL_OK;
}

static tal_status add_product(tal_natural *it, tali_natural_form a, tali_natural_form b,
                              double value, tal_error *err)
{
    const tali_natural_condition condition = {.a = a, .b = b, .axis = -1, .value = value};
    return add_condition(it, &condition, err);
}

// A form vanishes: three conditions.
static tal_status add_zero(tal_natural *it, tali_natural_form a, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int axis = 0; axis < 3 && st == TAL_OK; ++axis) {
        const tali_natural_condition condition = {.a = a, .axis = axis};
        st = add_condition(it, &condition, err);
    }
    return st;
}

// --- forms ---

static void add_term(tali_natural_form *form, int entity, double c)
{
    if (c == 0.0) return;
    for (int i = 0; i < form->n; ++i) {
        if (form->entity[i] != entity) continue;
        form->c[i] += c;
        return;
    }
    form->entity[form->n] = entity;
    form->c[form->n++] = c;
}

tali_natural_form tali_natural_sum(tali_natural_form a, double c, tali_natural_form b)
{
    for (int i = 0; i < b.n; ++i) {
        add_term(&a, b.entity[i], c * b.c[i]);
    }
    a.fixed = tal_v3_add(a.fixed, tal_v3_scale(c, b.fixed));
    return a;
}

tali_natural_form tali_natural_direction(const tal_natural *natural, int body, tal_vec3 e_B)
{
    const tali_natural_body *b = &natural->bodies[body];
    tali_natural_form form = {.n = 0};
    form = tali_natural_sum(form, e_B.x, b->axis[0]);
    form = tali_natural_sum(form, e_B.y, b->axis[1]);
    return tali_natural_sum(form, e_B.z, b->axis[2]);
}

tali_natural_form tali_natural_point(const tal_natural *natural, int body, tal_vec3 p_B)
{
    return tali_natural_sum(natural->bodies[body].origin, 1.0,
                            tali_natural_direction(natural, body, p_B));
}

// --- spanning a body ---

enum {
    MOST_SPANS = 4 + 4 * 16 // of one body: joints beyond are refused
};

// What is known of a body while it is built.
typedef struct spans {
    int n;
    tali_natural_span at[MOST_SPANS];
} spans;

static tali_natural_form form_of_span(const tali_natural_span *span)
{
    tali_natural_form form = {.n = 0};
    if (span->entity < 0) {
        form.fixed = span->fixed;
    } else {
        add_term(&form, span->entity, 1.0);
    }
    return form;
}

// A frame out of what spans a body: a point and three directions.
typedef struct frame {
    tali_natural_span point;
    int n;
    tal_vec3 local[3]; // directions in B
    tali_natural_form form[3];
    bool is_span[MOST_SPANS]; // whether it is one of them
} frame;

// The part of a direction across those that the frame has, relative to its length.
static double across(const frame *it, tal_vec3 d)
{
    const double length = tal_v3_norm(d);
    if (it->n == 0) return length > DEPENDENT ? 1.0 : 0.0;
    if (!(length > 0.0)) return 0.0;
    if (it->n == 1) {
        return tal_v3_norm(tal_v3_cross(d, it->local[0])) / (length * tal_v3_norm(it->local[0]));
    }
    const tal_vec3 n = tal_v3_cross(it->local[0], it->local[1]);
    return fabs(tal_v3_dot(d, n)) / (length * tal_v3_norm(n));
}

static bool take_direction(frame *it, tal_vec3 local, tali_natural_form form)
{
    if (it->n == 3 || across(it, local) < 0.05) return false;
    it->local[it->n] = local;
    it->form[it->n++] = form;
    return true;
}

// Of the members of a body, those that span it.
static void span_by_members(const spans *members, frame *it)
{
    for (int i = 0; i < members->n; ++i) {
        if (it->point.is_point || !members->at[i].is_point) continue;
        it->point = members->at[i];
        it->is_span[i] = true;
    }
    const tali_natural_form origin = form_of_span(&it->point);
    for (int pass = 0; pass < 2; ++pass) { // vectors, then points
        for (int i = 0; i < members->n; ++i) {
            const tali_natural_span *m = &members->at[i];
            if (m->is_point != (pass == 1) || it->is_span[i]) continue;
            tali_natural_form form = form_of_span(m);
            if (pass == 1) form = tali_natural_sum(form, -1.0, origin);
            const tal_vec3 local = pass == 1 ? tal_v3_sub(m->local, it->point.local) : m->local;
            it->is_span[i] = take_direction(it, local, form);
        }
    }
}

// Vectors of its own for a body that its members do not span.
static tal_status span_by_own(tal_natural *natural, int body, frame *it, tal_error *err)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    while (it->n < 3) {
        int best = 0;
        for (int i = 1; i < 3; ++i) {
            if (across(it, e[i]) > across(it, e[best])) best = i;
        }
        const int entity = add_entity(natural, body, e[best], false);
        if (entity < 0) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
        }
        tali_natural_form form = {.n = 0};
        add_term(&form, entity, 1.0);
        it->local[it->n] = e[best];
        it->form[it->n++] = form;
    }
    return TAL_OK;
}

// Origin and axes of B as forms: a = sum of (X^-1 a)_k x_k with X = [x1 x2 x3].
static void make_forms(const frame *it, tali_natural_body *b)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const tal_vec3 n[3] = {tal_v3_cross(it->local[1], it->local[2]),
                           tal_v3_cross(it->local[2], it->local[0]),
                           tal_v3_cross(it->local[0], it->local[1])};
    const double det = tal_v3_dot(it->local[0], n[0]);
    for (int i = 0; i < 3; ++i) {
        b->axis[i] = (tali_natural_form){.n = 0};
        for (int k = 0; k < 3; ++k) {
            b->axis[i] = tali_natural_sum(b->axis[i], tal_v3_dot(n[k], e[i]) / det, it->form[k]);
        }
    }
    b->origin = form_of_span(&it->point);
    for (int k = 0; k < 3; ++k) {
        const double c = -tal_v3_dot(n[k], it->point.local) / det;
        b->origin = tali_natural_sum(b->origin, c, it->form[k]);
    }
}

static bool has_member(const spans *members, int entity)
{
    for (int i = 0; i < members->n; ++i) {
        if (members->at[i].entity == entity) return true;
    }
    return false;
}

// Whether all that a form is made of is on a body.
static bool is_on(const spans *members, const tali_natural_form *form)
{
    bool all = tal_v3_norm(form->fixed) == 0.0;
    for (int i = 0; i < form->n && all; ++i) {
        all = has_member(members, form->entity[i]);
    }
    return all;
}

// Whether the product of these two is kept by a body before this one, which is rigid as well.
static bool is_kept_before(const spans *members, int body, const tali_natural_form *a,
                           const tali_natural_form *b)
{
    for (int i = 1; i < body; ++i) {
        if (is_on(&members[i], a) && is_on(&members[i], b)) return true;
    }
    return false;
}

// The body is rigid: products of its directions are what they were, and members that do not span it
// stay where they are on it.
static tal_status make_rigid(tal_natural *natural, int body, const spans *all, const frame *it,
                             tal_error *err)
{
    const spans *members = &all[body];
    tal_status st = TAL_OK;
    for (int i = 0; i < 3; ++i) {
        for (int k = i; k < 3 && st == TAL_OK; ++k) {
            if (is_kept_before(all, body, &it->form[i], &it->form[k])) continue;
            st = add_product(natural, it->form[i], it->form[k],
                             tal_v3_dot(it->local[i], it->local[k]), err);
        }
    }
    for (int i = 0; i < members->n && st == TAL_OK; ++i) {
        if (it->is_span[i]) continue;
        const tali_natural_span *m = &members->at[i];
        const tali_natural_form there = m->is_point
                                            ? tali_natural_point(natural, body, m->local)
                                            : tali_natural_direction(natural, body, m->local);
        st = add_zero(natural, tali_natural_sum(form_of_span(m), -1.0, there), err);
    }
    return st;
}

static tal_status build_body(tal_natural *natural, int body, const spans *members, tal_error *err)
{
    tali_natural_body *b = &natural->bodies[body];
    frame it = {.n = 0};
    span_by_members(&members[body], &it);
    if (!it.point.is_point) {
        it.point = (tali_natural_span){.local = b->mass.com, .is_point = true};
        it.point.entity = add_entity(natural, body, b->mass.com, true);
        if (it.point.entity < 0) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
        }
    }
    tal_status st = span_by_own(natural, body, &it, err);
    if (st != TAL_OK) return st;
    make_forms(&it, b);
    return make_rigid(natural, body, members, &it, err);
}

// --- joints ---

// Frames of a joint on the carriers of its bodies.
typedef struct joint {
    int parent, child; // carriers
    tal_xform X_PF, X_CM;
    tal_vec3 F[3], M[3]; // their axes
    bool is_reversed;
} joint;

static const char *const kinds[] = {"pin",    "slider",      "cylinder", "universal",
                                    "planar", "translation", "ball",     "gimbal",
                                    "free",   "bushing",     "weld"};

enum {
    PIN,
    SLIDER,
    CYLINDER,
    UNIVERSAL,
    PLANAR,
    TRANSLATION,
    BALL,
    GIMBAL,
    FREE,
    BUSHING,
    WELD,
    NUM_KINDS
};

_Static_assert(sizeof kinds / sizeof kinds[0] == NUM_KINDS, "a name for each");

static int kind_of(const tal_natural *it, int body)
{
    const char *name = tal_body_mobilizer(it->matter, (tal_body_ix){body});
    for (int kind = 0; kind < NUM_KINDS; ++kind) {
        if (strcmp(kinds[kind], name) == 0) return kind;
    }
    return -1;
}

static joint joint_of(const tal_natural *it, const tal_state *state, int body)
{
    const tal_body_ix b = {body}, p = tal_body_parent(it->matter, b);
    const tali_natural_body *parent = &it->bodies[p.i], *child = &it->bodies[body];
    joint j = {.parent = parent->carrier, .child = child->carrier};
    j.X_PF = tal_xf_mul(parent->X_CB, tal_body_X_PF(it->matter, state, b));
    j.X_CM = tal_xf_mul(child->X_CB, tal_body_X_BM(it->matter, state, b));
    j.is_reversed = tali_matter_body_facts_of(it->matter, b).direction == TAL_REVERSE;
    const tal_vec3 f[3] = {j.X_PF.R.x, j.X_PF.R.y, j.X_PF.R.z};
    const tal_vec3 m[3] = {j.X_CM.R.x, j.X_CM.R.y, j.X_CM.R.z};
    memcpy(j.F, f, sizeof f);
    memcpy(j.M, m, sizeof m);
    return j;
}

// An entity that both bodies of a joint have: made on the parent, known to the child. Of Ground it
// is fixed.
static tal_status share(tal_natural *it, spans *members, const joint *j, tal_vec3 on_parent,
                        tal_vec3 on_child, bool is_point, tal_error *err)
{
    spans *const of_parent = &members[j->parent], *const of_child = &members[j->child];
    if (of_parent->n >= MOST_SPANS || of_child->n >= MOST_SPANS) {
        return TALI_FAIL(err, TAL_ERR_CAPACITY,
                         "body '%s' has more joints than natural coordinates take",
                         tal_body_name(it->matter, (tal_body_ix){j->parent}));
    }
    tali_natural_span span = {.entity = -1, .is_point = is_point, .fixed = on_parent};
    if (j->parent != 0) {
        span.entity = add_entity(it, j->parent, on_parent, is_point);
        if (span.entity < 0) {
            return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
        }
        span.local = on_parent;
        of_parent->at[of_parent->n++] = span;
    }
    span.local = on_child;
    of_child->at[of_child->n++] = span;
    return TAL_OK;
}

// What the bodies of a joint share.
static tal_status share_joint(tal_natural *it, spans *members, const tal_state *state, int body,
                              tal_error *err)
{
    const int kind = kind_of(it, body);
    const joint j = joint_of(it, state, body);
    const bool has_point = kind == PIN || kind == BALL || kind == GIMBAL || kind == UNIVERSAL;
    const bool has_all = kind == SLIDER || kind == TRANSLATION;
    const bool has_z = kind == PIN || kind == CYLINDER || kind == PLANAR || has_all;
    tal_status st = TAL_OK;
    if (has_point) st = share(it, members, &j, j.X_PF.p, j.X_CM.p, true, err);
    if (st == TAL_OK && has_z) st = share(it, members, &j, j.F[2], j.M[2], false, err);
    for (int i = 0; i < 2 && st == TAL_OK && has_all; ++i) {
        st = share(it, members, &j, j.F[i], j.M[i], false, err);
    }
    return st;
}

static tal_vec3 vector_at(const double params[])
{
    return tal_v3(params[0], params[1], params[2]);
}

// A ball or a pin that closes a loop: its bodies share its point, and the axis of the pin.
static tal_status share_constraint(tal_natural *it, spans *members, const tal_state *state, int i,
                                   tal_error *err)
{
    const tal_constraint_ix ix = {i};
    if (!tal_constraint_is_enabled(it->matter, state, ix)) return TAL_OK;
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(it->matter, ix);
    const bool is_ball = facts.kind != NULL && strcmp(facts.kind, "ball") == 0;
    const bool is_pin = facts.kind != NULL && strcmp(facts.kind, "loop pin") == 0;
    if (!is_ball && !is_pin) return TAL_OK;
    const double *p = tal_constraint_params(it->matter, state, ix, NULL);
    const double *p1 = p + (is_ball ? TAL_BALL_STATION_1 : TAL_LOOP_FRAME_1 + 9);
    const double *p2 = p + (is_ball ? TAL_BALL_STATION_2 : TAL_LOOP_FRAME_2 + 9);
    const tali_natural_body *b1 = &it->bodies[facts.bodies[0]], *b2 = &it->bodies[facts.bodies[1]];
    const bool swaps = b2->carrier == 0;
    joint j = {.parent = swaps ? b2->carrier : b1->carrier,
               .child = swaps ? b1->carrier : b2->carrier};
    if (j.child == 0) return TAL_OK; // Ground to Ground
    const tal_vec3 on_1 = tal_xf_apply(b1->X_CB, vector_at(p1));
    const tal_vec3 on_2 = tal_xf_apply(b2->X_CB, vector_at(p2));
    tal_status st = share(it, members, &j, swaps ? on_2 : on_1, swaps ? on_1 : on_2, true, err);
    if (st != TAL_OK || !is_pin) return st;
    const tal_vec3 z_1 = tal_m3_mul_v3(b1->X_CB.R, vector_at(p + TAL_LOOP_FRAME_1 + 6));
    const tal_vec3 z_2 = tal_m3_mul_v3(b2->X_CB.R, vector_at(p + TAL_LOOP_FRAME_2 + 6));
    return share(it, members, &j, swaps ? z_2 : z_1, swaps ? z_1 : z_2, false, err);
}

// The conditions that are left to a joint.
static tal_status close_joint(tal_natural *it, const tal_state *state, int body, tal_error *err)
{
    const int kind = kind_of(it, body);
    const joint j = joint_of(it, state, body);
    if (kind == UNIVERSAL) {
        // x of the one stays across y of the other
        const tali_natural_form a =
            tali_natural_direction(it, j.parent, j.F[j.is_reversed ? 1 : 0]);
        const tali_natural_form b = tali_natural_direction(it, j.child, j.M[j.is_reversed ? 0 : 1]);
        return add_product(it, a, b, 0.0, err);
    }
    const bool across_x = kind == CYLINDER, across_y = kind == CYLINDER || kind == SLIDER;
    const bool across_z = kind == SLIDER || kind == PLANAR;
    const bool is_across[3] = {across_x, across_y, across_z};
    tal_status st = TAL_OK;
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        if (!is_across[i]) continue;
        const tali_natural_form gap =
            tali_natural_sum(tali_natural_point(it, j.child, j.X_CM.p), -1.0,
                             tali_natural_point(it, j.parent, j.X_PF.p));
        st = add_product(it, gap, tali_natural_direction(it, j.parent, j.F[i]), 0.0, err);
    }
    return st;
}

// --- constraints ---

// A point of body `k` of a constraint, as a form.
static tali_natural_form point_of(const tal_natural *it, const tali_matter_constraint_facts *facts,
                                  int k, const double p[])
{
    const tali_natural_body *b = &it->bodies[facts->bodies[k]];
    return tali_natural_point(it, b->carrier, tal_xf_apply(b->X_CB, vector_at(p)));
}

static tali_natural_form axis_of(const tal_natural *it, const tali_matter_constraint_facts *facts,
                                 int k, const double e[])
{
    const tali_natural_body *b = &it->bodies[facts->bodies[k]];
    return tali_natural_direction(it, b->carrier, tal_m3_mul_v3(b->X_CB.R, vector_at(e)));
}

// What a constraint that shares nothing asks for; those that are not covered are named.
static tal_status close_constraint(tal_natural *it, const tal_state *state, int i, tal_error *err)
{
    const tal_constraint_ix ix = {i};
    if (!tal_constraint_is_enabled(it->matter, state, ix)) return TAL_OK;
    const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(it->matter, ix);
    const double *p = tal_constraint_params(it->matter, state, ix, NULL);
    const char *kind = facts.kind != NULL ? facts.kind : "of your own";
    if (strcmp(kind, "rod") == 0) {
        const tali_natural_form gap =
            tali_natural_sum(point_of(it, &facts, 1, p + TAL_ROD_STATION_2), -1.0,
                             point_of(it, &facts, 0, p + TAL_ROD_STATION_1));
        return add_product(it, gap, gap, p[TAL_ROD_LENGTH] * p[TAL_ROD_LENGTH], err);
    }
    if (strcmp(kind, "constant angle") == 0) {
        return add_product(it, axis_of(it, &facts, 0, p + TAL_CONSTANT_ANGLE_AXIS_1),
                           axis_of(it, &facts, 1, p + TAL_CONSTANT_ANGLE_AXIS_2),
                           cos(p[TAL_CONSTANT_ANGLE_ANGLE]), err);
    }
    if (strcmp(kind, "ball") == 0 || strcmp(kind, "loop pin") == 0) return TAL_OK; // shared
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "natural coordinates do not cover constraint '%s' (%s): they take rods, "
                     "balls, constant angles and loop pins",
                     tal_constraint_name(it->matter, ix), kind);
}

// --- all of it ---

// Carriers and masses; mobilizers that are not covered are named.
static tal_status read_bodies(tal_natural *it, const tal_state *state, tal_error *err)
{
    it->bodies[0] = (tali_natural_body){.carrier = 0, .X_CB = TAL_XFORM_IDENTITY};
    for (int i = 1; i < it->num_bodies; ++i) {
        const tal_body_ix b = {i}, p = tal_body_parent(it->matter, b);
        const int kind = kind_of(it, i);
        if (kind < 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "natural coordinates do not cover the mobilizer of body '%s' (%s)",
                             tal_body_name(it->matter, b), tal_body_mobilizer(it->matter, b));
        }
        const tali_natural_body *parent = &it->bodies[p.i];
        tali_natural_body *body = &it->bodies[i];
        *body = (tali_natural_body){.carrier = i, .X_CB = TAL_XFORM_IDENTITY};
        body->mass = tal_body_mass_props(it->matter, state, b);
        if (kind != WELD) continue;
        const tal_xform X_PB = tal_xf_mul(tal_body_X_PF(it->matter, state, b),
                                          tal_xf_inverse(tal_body_X_BM(it->matter, state, b)));
        body->carrier = parent->carrier;
        body->X_CB = tal_xf_mul(parent->X_CB, X_PB);
    }
    return TAL_OK;
}

static bool is_carrier(const tal_natural *it, int body)
{
    return it->bodies[body].carrier == body;
}

// Forms of Ground, and of what is welded to others.
static void make_ground(tal_natural *it)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 3; ++i) {
        it->bodies[0].axis[i] = (tali_natural_form){.fixed = e[i]};
    }
    it->bodies[0].origin = (tali_natural_form){.n = 0};
}

static void make_welded(tal_natural *it, int body)
{
    tali_natural_body *b = &it->bodies[body];
    const tal_vec3 axes[3] = {b->X_CB.R.x, b->X_CB.R.y, b->X_CB.R.z};
    for (int i = 0; i < 3; ++i) {
        b->axis[i] = tali_natural_direction(it, b->carrier, axes[i]);
    }
    b->origin = tali_natural_point(it, b->carrier, b->X_CB.p);
}

// Entities first, then the bodies that they span, then what is left of joints and constraints.
tal_status tali_natural_build(tal_natural *natural, const tal_state *state, tal_error *err)
{
    const size_t bytes = (size_t)natural->num_bodies * sizeof(spans);
    spans *members = tali_alloc(&natural->allocator, bytes);
    if (members == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
    }
    tal_status st = read_bodies(natural, state, err);
    make_ground(natural);
    for (int b = 1; b < natural->num_bodies && st == TAL_OK; ++b) {
        if (is_carrier(natural, b)) st = share_joint(natural, members, state, b, err);
    }
    for (int i = 0; i < tal_matter_num_constraints(natural->matter) && st == TAL_OK; ++i) {
        st = share_constraint(natural, members, state, i, err);
    }
    for (int b = 1; b < natural->num_bodies && st == TAL_OK; ++b) {
        if (is_carrier(natural, b)) st = build_body(natural, b, members, err);
    }
    for (int b = 1; b < natural->num_bodies && st == TAL_OK; ++b) {
        if (!is_carrier(natural, b)) make_welded(natural, b);
        if (is_carrier(natural, b)) st = close_joint(natural, state, b, err);
    }
    for (int i = 0; i < tal_matter_num_constraints(natural->matter) && st == TAL_OK; ++i) {
        st = close_constraint(natural, state, i, err);
    }
    tali_free(&natural->allocator, members, bytes);
    return st;
}
