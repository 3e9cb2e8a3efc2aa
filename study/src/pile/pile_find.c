// Which colliders touch or nearly do, at which points, and what is known of each point.
#include "pile/pile_internal.h"

#include <math.h>
#include <string.h>

// --- near solids ---

// A solid can move by h times its speed in a step, and twice as far when it is pushed.
static void place_surfaces(tal_contact_stepper *s, const tal_state *state, double h)
{
    for (int i = 0; i < s->num_surfaces; ++i) {
        const int body = s->surfaces[i].body;
        s->X_GS[i] = tal_xf_mul(tal_body_X_GB(s->matter, state, (tal_body_ix){body}), s->X_BS[i]);
        const tal_spatial_vec V = s->V[body];
        const double speed = tal_v3_norm(V.v) + tal_v3_norm(V.w) * s->size[i];
        s->reach[i] = 0.5 * s->def.margin + 2.0 * h * speed;
    }
}

static tal_status find_pairs(tal_contact_stepper *s)
{
    for (int i = 0; i < s->num_surfaces; ++i) {
        if (tal_xf_is_finite(s->X_GS[i]) && isfinite(s->reach[i])) continue;
        return TALI_FAIL(&s->error_record, TAL_ERR_NOT_FINITE,
                         "the pose or the speed of collider '%s' is not finite",
                         s->surfaces[i].name);
    }
    s->store.reach = s->reach;
    s->store.num_pairs = tali_detect_find_pairs(s->surfaces, s->num_surfaces, s->X_GS, &s->store);
    if (s->store.num_pairs <= s->max_pairs) return TAL_OK;
    return TALI_FAIL(&s->error_record, TAL_ERR_CAPACITY,
                     "%d pairs of colliders are near each other, and there is room for %d: raise "
                     "max_pairs",
                     s->store.num_pairs, s->max_pairs);
}

// --- points ---

static tal_vec3 velocity_at(const tal_contact_stepper *s, int body, tal_vec3 p)
{
    const tal_spatial_vec V = s->V[body];
    return tal_v3_add(V.v, tal_v3_cross(V.w, tal_v3_sub(p, s->origin[body])));
}

// Friction and restitution of a point, from the materials and from how it moves.
static void know_point(const tal_contact_stepper *s, tali_pile_contact *c, double h)
{
    const tal_unilateral_material m =
        tal_collider_material(&s->materials[c->pair[0]], &s->materials[c->pair[1]]);
    const int a = s->surfaces[c->pair[0]].body, b = s->surfaces[c->pair[1]].body;
    const tal_vec3 v = tal_v3_sub(velocity_at(s, a, c->p), velocity_at(s, b, c->p));
    const double speed = tal_v3_dot(c->n, v);
    const double slip = hypot(tal_v3_dot(c->t1, v), tal_v3_dot(c->t2, v));
    const bool slips = slip > m.transition_speed;
    c->approach = -speed;
    c->mu = slips ? m.sliding_mu + m.viscous_mu * slip : m.static_mu;
    c->limit = m.limit * h;
    c->num_tangents = m.static_mu > 0.0 || m.viscous_mu > 0.0 || m.limit > 0.0 ? 2 : 0;
    const bool closes = c->gap <= h * c->approach && c->approach > s->def.capture_speed;
    c->restitution = closes ? tal_unilateral_restitution(&m, c->approach) : 0.0;
}

static tal_status fail_points(tal_contact_stepper *s, int i, int j)
{
    return TALI_FAIL(&s->error_record, TAL_ERR_CAPACITY,
                     "there is room for %d points of contact, and no more for '%s' and '%s': raise "
                     "max_contacts",
                     s->max_contacts, s->surfaces[i].name, s->surfaces[j].name);
}

// The points at which two colliders touch, or may touch within the step.
static tal_status add_points(tal_contact_stepper *s, int i, int j, double h)
{
    tal_touch touch;
    const tal_status st = tal_hull_calc_touch(s->hulls[i], &s->X_GS[i], s->hulls[j], &s->X_GS[j],
                                              s->reach[i] + s->reach[j], s->touch_points,
                                              s->most_touch, s->touch_work, &touch);
    if (st == TAL_ERR_CAPACITY) return fail_points(s, i, j);
    if (st != TAL_OK) {
        return TALI_FAIL(&s->error_record, st,
                         "colliders '%s' and '%s' lie within each other so that no direction is "
                         "the shortest way out",
                         s->surfaces[i].name, s->surfaces[j].name);
    }
    const tal_vec3 t1 = touch.num_points > 0 ? tal_v3_perp(touch.n_G) : TAL_VEC3_ZERO;
    for (int k = 0; k < touch.num_points; ++k) {
        if (s->num_contacts == s->max_contacts) return fail_points(s, i, j);
        const tal_touch_point *point = &s->touch_points[k];
        tali_pile_contact *c = &s->contacts[s->num_contacts++];
        *c = (tali_pile_contact){.pair = {i, j}, .feature = point->feature, .gap = point->gap};
        c->tree[0] = s->tree_of[s->surfaces[i].body];
        c->tree[1] = s->tree_of[s->surfaces[j].body];
        c->p = point->p_G;
        c->n = touch.n_G;
        c->t1 = t1;
        c->t2 = tal_v3_cross(touch.n_G, t1);
        know_point(s, c, h);
    }
    return TAL_OK;
}

// --- the step before ---

static bool comes_before(const int32_t a[2], const int b[2])
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static bool is_pair(const int32_t a[2], const int b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

// Contacts of one pair.
typedef struct range {
    int first, end;
} range;

static range pair_at(const tal_contact_stepper *s, int first)
{
    const int *pair = s->contacts[first].pair;
    range r = {first, first};
    while (r.end < s->num_contacts && is_pair(pair, s->contacts[r.end].pair)) {
        ++r.end;
    }
    return r;
}

static int nearest_of(const tal_contact_stepper *s, range now, tal_vec3 p)
{
    int nearest = now.first;
    double least = (double)INFINITY;
    for (int i = now.first; i < now.end; ++i) {
        const double distance = tal_v3_norm(tal_v3_sub(s->contacts[i].p, p));
        if (distance >= least) continue;
        least = distance;
        nearest = i;
    }
    return nearest;
}

// The point with its feature takes an impulse; that of a point which is gone goes to the nearest.
static void take_impulse(tal_contact_stepper *s, range now, const tali_collider_impulse *old)
{
    int i = now.first;
    while (i < now.end && s->contacts[i].feature != old->feature) {
        ++i;
    }
    if (i == now.end) i = nearest_of(s, now, old->p);
    s->contacts[i].impulse = tal_v3_add(s->contacts[i].impulse, old->impulse);
    s->contacts[i].mode = (tal_friction_mode)old->mode;
}

// Contacts are in the order of pairs in both steps: one walk along both finds the same pairs.
static void recall(tal_contact_stepper *s, const tal_state *state)
{
    const tali_collider_memory *memory = tali_collider_memory_of(s->matter, state);
    s->is_warm = memory != NULL && memory->count > 0;
    if (!s->is_warm) return;
    const tali_collider_impulse *old = memory->impulses, *end = old + memory->count;
    for (int i = 0; i < s->num_contacts;) {
        const range now = pair_at(s, i);
        while (old < end && comes_before(old->pair, s->contacts[i].pair)) {
            ++old;
        }
        while (old < end && is_pair(old->pair, s->contacts[i].pair)) {
            take_impulse(s, now, old++);
        }
        i = now.end;
    }
}

tal_status tali_pile_remember(tal_contact_stepper *s, tal_state *state)
{
    if (s->num_surfaces == 0) return TAL_OK;
    tali_collider_memory *memory = tali_collider_memory_upd(s->matter, state);
    if (memory == NULL) {
        const tal_status st = tal_state_error(state)->status;
        return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    }
    const int room = tali_collider_memory_room(s->matter);
    int count = 0;
    for (int i = 0; i < s->num_contacts && count < room; ++i) {
        const tali_pile_contact *c = &s->contacts[i];
        if (!(tal_v3_max_abs(c->impulse) > 0.0)) continue;
        memory->impulses[count++] = (tali_collider_impulse){.pair = {c->pair[0], c->pair[1]},
                                                            .mode = (int32_t)c->mode,
                                                            .feature = c->feature,
                                                            .p = c->p,
                                                            .impulse = c->impulse};
    }
    memory->count = count;
    memory->print = tali_problem_print_of(state, 0);
    return TAL_OK;
}

tal_status tali_pile_find(tal_contact_stepper *s, tal_state *state, double h)
{
    s->num_contacts = 0;
    for (int b = 0; b < s->num_bodies; ++b) {
        s->origin[b] = tal_body_X_GB(s->matter, state, (tal_body_ix){b}).p;
    }
    tal_status st = tal_matter_mul_J(s->matter, state, tal_state_u(state) + s->u0, s->V);
    if (st != TAL_OK) return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    place_surfaces(s, state, h);
    st = find_pairs(s);
    for (int k = 0; k < s->store.num_pairs && st == TAL_OK; ++k) {
        const int i = s->store.pairs[k].a, j = s->store.pairs[k].b;
        const int a = s->tree_of[s->surfaces[i].body], b = s->tree_of[s->surfaces[j].body];
        if (a >= 0 || b >= 0) st = add_points(s, i, j, h);
    }
    if (st == TAL_OK) recall(s, state);
    for (int i = 0; i < s->num_contacts; ++i) {
        s->report.penetration = fmax(s->report.penetration, -s->contacts[i].gap);
    }
    return st;
}
