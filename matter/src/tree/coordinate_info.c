// Names, ranges and initial values of coordinates, and which body owns a slot of q or u.
#include "names_internal.h"

#include "tree/matter_internal.h"

#include <talus/matter/coordinate.h>

#include <math.h>
#include <stdio.h>

// --- numbering with a quaternion or with angles ---

static int orientation_count(const tali_tree_body *body, bool use_angles)
{
    if (!body->ops.has_quaternion) return 0;
    return use_angles ? 3 : 4;
}

// Number `i` of a coordinate in one numbering becomes that in the other; -1 for a part of the
// orientation, which has no counterpart there.
static int recount(const tali_tree_body *body, int i, bool from_angles, bool to_angles)
{
    if (from_angles == to_angles) return i;
    const int from = orientation_count(body, from_angles);
    return i < from ? -1 : i - from + orientation_count(body, to_angles);
}

// --- records ---

static tali_tree_coordinate *find_record(const tal_matter *matter, const tali_tree_body *body,
                                         int i)
{
    int r = body->coordinate;
    while (r >= 0 && matter->coordinates[r].i != i) {
        r = matter->coordinates[r].next;
    }
    return r >= 0 ? &matter->coordinates[r] : NULL;
}

// The record of a coordinate, made if there is none; NULL when memory runs out.
static tali_tree_coordinate *take_record(tal_matter *matter, int b, int i)
{
    tali_tree_body *body = &matter->bodies[b];
    tali_tree_coordinate *found = find_record(matter, body, i);
    if (found != NULL) return found;
    if (!tali_grow(&matter->allocator, (void **)&matter->coordinates, matter->num_coordinates,
                   &matter->coordinates_capacity, sizeof *matter->coordinates)) {
        return NULL;
    }
    tali_tree_coordinate *made = &matter->coordinates[matter->num_coordinates];
    *made = (tali_tree_coordinate){.body = b, .i = i, .next = body->coordinate};
    body->coordinate = matter->num_coordinates++;
    return made;
}

// --- building ---

// The body, if it may still be changed; NULL with the reason in `st`.
static tali_tree_body *buildable(tal_matter *matter, tal_body_ix body, const char *where,
                                 tal_status *st)
{
    *st = tali_matter_can_build(matter, where);
    if (*st != TAL_OK) return NULL;
    if (body.i >= 0 && body.i < matter->num_bodies) return &matter->bodies[body.i];
    *st = tal_system_fail(matter->system, TAL_ERR_BAD_INDEX, "%s: body %d does not exist", where,
                          body.i);
    return NULL;
}

static tali_tree_body *buildable_coordinate(tal_matter *matter, tal_body_ix body, int i,
                                            const char *where, tal_status *st)
{
    tali_tree_body *declared = buildable(matter, body, where, st);
    if (declared == NULL) return NULL;
    const int nq = tali_mobilizer_nq(&declared->ops, declared->use_angles);
    if (i >= 0 && i < nq) return declared;
    *st = tal_system_fail(matter->system, TAL_ERR_BAD_INDEX,
                          "body '%s' has no coordinate %d: it has %d", declared->name, i, nq);
    return NULL;
}

// Does a name end like "<body>.q<i>"?
// "<body>.q<i>", with a 'u' for speeds.
static bool ends_like(const char *name, char letter)
{
    const size_t n = strlen(name);
    return n >= 3 && name[n - 3] == '.' && name[n - 2] == letter && name[n - 1] >= '0' &&
           name[n - 1] <= '9';
}

static bool ends_like_default(const char *name)
{
    return ends_like(name, 'q');
}

static int find_named(const tal_matter *matter, const char *name)
{
    const uint64_t hash = tali_names_hash(name);
    int probe = 0, r = tali_names_next(&matter->coordinate_names, hash, &probe);
    while (r >= 0 && strcmp(matter->coordinates[r].name, name) != 0) {
        r = tali_names_next(&matter->coordinate_names, hash, &probe);
    }
    return r;
}

// A name must be unique, fit, and not look like a default name.
static tal_status check_coordinate_name(const tal_matter *matter, const tali_tree_body *body, int i,
                                        const char *name, tal_error *err)
{
    if (name == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "body '%s': the name of coordinate %d is NULL",
                         body->name, i);
    }
    if (name[0] == '\0' || strlen(name) > TAL_MAX_NAME) {
        return TALI_FAIL(
            err, TAL_ERR_BAD_NAME,
            "body '%s', coordinate %d: a name has 1 to %d characters, this one has %zu", body->name,
            i, TAL_MAX_NAME, strlen(name));
    }
    const char *flaw = tali_names_flaw(name);
    if (flaw != NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "body '%s', coordinate '%s': %s", body->name, name,
                         flaw);
    }
    if (ends_like_default(name)) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "body '%s', coordinate %d: '%s' ends like a default name, .q<number>",
                         body->name, i, name);
    }
    const tali_tree_coordinate *named = find_record(matter, body, i);
    if (named != NULL && named->name[0] != '\0') {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "body '%s', coordinate %d is named '%s' already",
                         body->name, i, named->name);
    }
    if (find_named(matter, name) >= 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME,
                         "body '%s', coordinate %d: there is a coordinate '%s' already", body->name,
                         i, name);
    }
    return TAL_OK;
}

tal_status tal_body_name_coordinate(tal_matter *matter, tal_body_ix body, int i, const char *name)
{
    tal_status st;
    const tali_tree_body *declared = buildable_coordinate(matter, body, i, __func__, &st);
    if (declared == NULL) return st;
    tal_error why = {TAL_OK, "", ""};
    st = check_coordinate_name(matter, declared, i, name, &why);
    if (st != TAL_OK) return tal_system_fail(matter->system, st, "%s", why.message);

    tali_tree_coordinate *record = tali_names_reserve(&matter->coordinate_names, &matter->allocator)
                                       ? take_record(matter, body.i, i)
                                       : NULL;
    if (record == NULL) {
        return tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                               "no memory for the name of coordinate '%s'", name);
    }
    (void)snprintf(record->name, sizeof record->name, "%s", name);
    tali_names_add(&matter->coordinate_names, tali_names_hash(name),
                   (int)(record - matter->coordinates));
    return TAL_OK;
}

// NaN is never in order.
static bool is_range(double low, double high)
{
    return low <= high;
}

tal_status tal_body_limit_coordinate(tal_matter *matter, tal_body_ix body, int i, double low,
                                     double high)
{
    tal_status st;
    const tali_tree_body *declared = buildable_coordinate(matter, body, i, __func__, &st);
    if (declared == NULL) return st;
    if (!is_range(low, high)) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "body '%s', coordinate %d: %g to %g is not a range", declared->name,
                               i, low, high);
    }
    tali_tree_coordinate *record = take_record(matter, body.i, i);
    if (record == NULL) {
        return tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                               "body '%s': no memory for a range", declared->name);
    }
    if (!record->has_range) record->range = matter->num_ranges++;
    record->has_range = true;
    record->low = low;
    record->high = high;
    return TAL_OK;
}

// Keeps `n` values among the initial ones; *start tells where.
static tal_status keep_initial(tal_matter *matter, const tali_tree_body *body, const char *subject,
                               const double values[], int n, int expected, int *start)
{
    if (n != expected || (values == NULL && n > 0)) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "body '%s' has %d initial values of %s, not %d", body->name,
                               expected, subject, values != NULL ? n : 0);
    }
    const int first = *start >= 0 ? *start : matter->num_initial;
    for (int i = 0; i < n; ++i) {
        if (!isfinite(values[i])) {
            return tal_system_fail(matter->system, TAL_ERR_NOT_FINITE,
                                   "body '%s': its initial %s[%d] is %g", body->name, subject, i,
                                   values[i]);
        }
        if (first + i == matter->num_initial &&
            !tali_grow(&matter->allocator, (void **)&matter->initial, matter->num_initial,
                       &matter->initial_capacity, sizeof *matter->initial)) {
            return tal_system_fail(matter->system, TAL_ERR_NO_MEMORY,
                                   "body '%s': no memory for its initial %s", body->name, subject);
        }
        if (first + i == matter->num_initial) ++matter->num_initial;
        matter->initial[first + i] = values[i];
    }
    *start = first;
    return TAL_OK;
}

tal_status tal_body_set_initial_q(tal_matter *matter, tal_body_ix body, const double q[], int n)
{
    tal_status st;
    tali_tree_body *declared = buildable(matter, body, __func__, &st);
    if (declared == NULL) return st;
    const int nq = tali_mobilizer_nq(&declared->ops, declared->use_angles);
    st = keep_initial(matter, declared, "q", q, n, nq, &declared->initial_q);
    if (st != TAL_OK || !declared->ops.has_quaternion || declared->use_angles) return st;
    if (tali_tree_has_direction(q)) return TAL_OK;
    return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                           "body '%s': its initial quaternion (%g, %g, %g, %g) has no direction",
                           declared->name, q[0], q[1], q[2], q[3]);
}

tal_status tal_body_set_initial_u(tal_matter *matter, tal_body_ix body, const double u[], int n)
{
    tal_status st;
    tali_tree_body *declared = buildable(matter, body, __func__, &st);
    if (declared == NULL) return st;
    return keep_initial(matter, declared, "u", u, n, declared->ops.nu, &declared->initial_u);
}

void tali_tree_write_ranges(const tal_matter *matter, double ranges[])
{
    for (int r = 0; r < matter->num_coordinates; ++r) {
        const tali_tree_coordinate *record = &matter->coordinates[r];
        if (!record->has_range) continue;
        ranges[2 * record->range] = record->low;
        ranges[2 * record->range + 1] = record->high;
    }
}

// --- names ---

static bool has_model(const tal_matter *matter, const tal_state *state, const char *where)
{
    return tali_tree_body_at(matter, TAL_GROUND, where) != NULL &&
           tali_cache_read(matter->system, state, matter->model, where) != NULL;
}

// Is there a coordinate `i` of this body in this State? Otherwise a breach has been reported.
static bool has_coordinate(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                           int i, const char *where)
{
    if (tali_tree_body_at(matter, body, where) == NULL || !has_model(matter, state, where)) {
        return false;
    }
    const int nq = tali_matter_model_of(matter, state).nq[body.i];
    if (i >= 0 && i < nq) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "body '%s' has no coordinate %d: it has %d",
                      matter->bodies[body.i].name, i, nq);
    return false;
}

// The record of coordinate `i`, numbered as in this State; NULL for none.
static const tali_tree_coordinate *record_in(const tal_matter *matter, const tal_state *state,
                                             tal_body_ix body, int i)
{
    const tali_tree_body *declared = &matter->bodies[body.i];
    const bool use_angles = tali_matter_model_of(matter, state).use_angles[body.i] != 0;
    const int counted = recount(declared, i, use_angles, declared->use_angles);
    return counted >= 0 ? find_record(matter, declared, counted) : NULL;
}

tal_status tal_body_coordinate_name(const tal_matter *matter, const tal_state *state,
                                    tal_body_ix body, int i, char name[])
{
    if (name == NULL) return TALI_BREACH(TAL_ERR_NULL, "the buffer for the name is too small");
    name[0] = '\0';
    if (!has_coordinate(matter, state, body, i, __func__)) return tal_contract_last()->status;
    const tali_tree_coordinate *record = record_in(matter, state, body, i);
    if (record != NULL && record->name[0] != '\0') {
        (void)snprintf(name, TAL_COORDINATE_NAME_SIZE, "%s", record->name);
    } else {
        (void)snprintf(name, TAL_COORDINATE_NAME_SIZE, "%s.q%d", matter->bodies[body.i].name, i);
    }
    return TAL_OK;
}

// The body of "<body>.q<i>", and its number i.
static tal_body_ix split_name(const tal_matter *matter, const char *name, int *i)
{
    const tal_body_ix none = {-1};
    const size_t length = strlen(name) - 3;
    char body_name[TAL_MAX_NAME + 1];
    if (length > TAL_MAX_NAME) return none;
    (void)snprintf(body_name, sizeof body_name, "%.*s", (int)length, name);
    *i = name[length + 2] - '0';
    return tal_matter_find_body(matter, body_name);
}

// "<body>.q<i>", unless that coordinate has a name of its own.
static tal_body_ix find_default(const tal_matter *matter, const tal_state *state, const char *name,
                                int *i)
{
    const tal_body_ix none = {-1};
    int wanted = -1;
    const tal_body_ix body = split_name(matter, name, &wanted);
    if (body.i < 0 || wanted >= tali_matter_model_of(matter, state).nq[body.i]) return none;
    const tali_tree_coordinate *record = record_in(matter, state, body, wanted);
    if (record != NULL && record->name[0] != '\0') return none;
    *i = wanted;
    return body;
}

tal_body_ix tal_matter_find_coordinate(const tal_matter *matter, const tal_state *state,
                                       const char *name, int *i)
{
    const tal_body_ix none = {-1};
    int unused = -1;
    int *const out = i != NULL ? i : &unused;
    *out = -1;
    if (!has_model(matter, state, __func__) || name == NULL) return none;
    if (ends_like_default(name)) return find_default(matter, state, name, out);
    const int r = find_named(matter, name);
    if (r < 0) return none;
    const tali_tree_coordinate *record = &matter->coordinates[r];
    const tali_tree_body *body = &matter->bodies[record->body];
    const bool use_angles = tali_matter_model_of(matter, state).use_angles[record->body] != 0;
    *out = recount(body, record->i, body->use_angles, use_angles);
    const tal_body_ix owner = {record->body};
    return *out >= 0 ? owner : none;
}

tal_status tal_body_speed_name(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                               int i, char name[])
{
    if (name == NULL) return TALI_BREACH(TAL_ERR_NULL, "there is no buffer for the name");
    name[0] = '\0';
    if (tali_tree_body_at(matter, body, __func__) == NULL || !has_model(matter, state, __func__)) {
        return tal_contract_last()->status;
    }
    const int nu = matter->bodies[body.i].ops.nu;
    if (i < 0 || i >= nu) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "body '%s' has no speed %d: it has %d",
                           matter->bodies[body.i].name, i, nu);
    }
    (void)snprintf(name, TAL_COORDINATE_NAME_SIZE, "%s.u%c", matter->bodies[body.i].name,
                   (char)('0' + i));
    return TAL_OK;
}

tal_body_ix tal_matter_find_speed(const tal_matter *matter, const tal_state *state,
                                  const char *name, int *i)
{
    const tal_body_ix none = {-1};
    int unused = -1, wanted = -1;
    int *const out = i != NULL ? i : &unused;
    *out = -1;
    if (!has_model(matter, state, __func__) || name == NULL || !ends_like(name, 'u')) return none;
    const tal_body_ix body = split_name(matter, name, &wanted);
    if (body.i < 0 || wanted >= matter->bodies[body.i].ops.nu) return none;
    *out = wanted;
    return body;
}

// --- slots ---

// The last body whose first slot is not above `slot`; bodies without slots have the same first slot
// as the one after them.
static int owner_of(const int32_t first[], int num_bodies, int slot)
{
    int low = 0, high = num_bodies;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (first[middle] <= slot) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static tal_body_ix slot_owner(const tal_matter *matter, const tal_state *state, tal_group_ix group,
                              const int32_t first[], int slot, int *local)
{
    const int at = slot - tal_group_start(matter->system, state, group);
    if (at < 0 || at >= tal_group_size(matter->system, state, group)) return (tal_body_ix){-1};
    const int b = owner_of(first, matter->num_bodies, at);
    if (local != NULL) *local = at - first[b];
    return (tal_body_ix){b};
}

tal_body_ix tal_matter_q_owner(const tal_matter *matter, const tal_state *state, int slot,
                               int *local)
{
    if (local != NULL) *local = -1;
    if (!has_model(matter, state, __func__)) return (tal_body_ix){-1};
    return slot_owner(matter, state, matter->q, tali_matter_model_of(matter, state).q0, slot,
                      local);
}

tal_body_ix tal_matter_u_owner(const tal_matter *matter, const tal_state *state, int slot,
                               int *local)
{
    if (local != NULL) *local = -1;
    if (!has_model(matter, state, __func__)) return (tal_body_ix){-1};
    return slot_owner(matter, state, matter->u, matter->tree.u0, slot, local);
}

// --- ranges ---

tal_status tal_body_range(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i,
                          double *low, double *high)
{
    if (low == NULL || high == NULL) return TALI_BREACH(TAL_ERR_NULL, "low or high is NULL");
    *low = *high = TALI_NAN;
    if (!has_coordinate(matter, state, body, i, __func__)) return tal_contract_last()->status;
    const tali_tree_coordinate *record = record_in(matter, state, body, i);
    if (record == NULL || !record->has_range) {
        *low = -HUGE_VAL, *high = HUGE_VAL;
        return TAL_OK;
    }
    const double *ranges = tali_cache_var_read(matter->system, state, matter->ranges, __func__);
    *low = ranges[2 * record->range];
    *high = ranges[2 * record->range + 1];
    return TAL_OK;
}

tal_status tal_body_set_range(const tal_matter *matter, tal_state *state, tal_body_ix body, int i,
                              double low, double high)
{
    if (!has_coordinate(matter, state, body, i, __func__)) return tal_contract_last()->status;
    const tali_tree_coordinate *record = record_in(matter, state, body, i);
    const char *name = matter->bodies[body.i].name;
    if (record == NULL || !record->has_range) {
        return tal_state_refuse(state, TAL_ERR_BAD_INDEX,
                                "body '%s': coordinate %d was not limited while building", name, i);
    }
    if (!is_range(low, high)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s', coordinate %d: %g to %g is not a range", name, i, low,
                                high);
    }
    double *ranges = tali_cache_var_write(matter->system, state, matter->ranges, __func__);
    if (ranges == NULL) return tal_contract_last()->status;
    ranges[2 * record->range] = low;
    ranges[2 * record->range + 1] = high;
    return TAL_OK;
}

bool tal_body_is_in_range(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i)
{
    double low, high;
    if (tal_body_range(matter, state, body, i, &low, &high) != TAL_OK) return false;
    const double q = tal_body_q(matter, state, body, i);
    return low <= q && q <= high;
}

tal_body_ix tal_matter_out_of_range(const tal_matter *matter, const tal_state *state, int *i)
{
    if (i != NULL) *i = -1;
    if (!has_model(matter, state, __func__)) return (tal_body_ix){-1};
    tal_body_ix first = {-1};
    int first_i = -1;
    for (int r = 0; r < matter->num_coordinates; ++r) {
        const tali_tree_coordinate *record = &matter->coordinates[r];
        const tali_tree_body *body = &matter->bodies[record->body];
        const bool use_angles = tali_matter_model_of(matter, state).use_angles[record->body] != 0;
        const int at = recount(body, record->i, body->use_angles, use_angles);
        const tal_body_ix which = {record->body};
        if (at < 0 || tal_body_is_in_range(matter, state, which, at)) continue;
        const bool earlier =
            first.i < 0 || which.i < first.i || (which.i == first.i && at < first_i);
        if (earlier) first = which, first_i = at;
    }
    if (i != NULL) *i = first_i;
    return first;
}
