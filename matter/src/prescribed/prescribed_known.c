// Which mobilities are known, determined at Instance; their values; and prescribing q and u.
#include "prescribed/prescribed_internal.h"

#include <math.h>

// --- which are known ---

// The entry: two counts, sources, levels, hinges.
typedef struct known_layout {
    size_t source, level, hinge, size;
} known_layout;

typedef struct known_counts {
    int32_t num_known, is_moving;
} known_counts;

static known_layout lay_out_known(const tali_tree *tree)
{
    known_layout at = {.size = 0};
    (void)tali_piece_at(&at.size, sizeof(known_counts)); // the counts come first
    at.source = tali_piece_at(&at.size, (size_t)tree->num_u * sizeof(int32_t));
    at.level = tali_piece_at(&at.size, (size_t)tree->num_u);
    at.hinge = tali_piece_at(&at.size, (size_t)tree->num_bodies);
    return at;
}

tali_prescribed_known tali_prescribed_known_in(const tali_tree *tree, const void *entry)
{
    if (entry == NULL) return (tali_prescribed_known){.num_known = -1};
    const known_layout at = lay_out_known(tree);
    const char *bytes = entry;
    const known_counts *counts = entry;
    return (tali_prescribed_known){.num_known = counts->num_known,
                                   .is_moving = counts->is_moving != 0,
                                   .source = (const int32_t *)(const void *)(bytes + at.source),
                                   .level = (const uint8_t *)bytes + at.level,
                                   .hinge = (const uint8_t *)bytes + at.hinge};
}

tali_prescribed_known tali_prescribed_known_of(const tal_matter *matter, const tal_state *state)
{
    return tali_prescribed_known_in(
        &matter->tree, tal_cache_value(matter->system, state, matter->prescribed.known));
}

void tali_prescribed_see_known(const tal_matter *matter, const tal_state *state,
                               tali_tree_view *view)
{
    const known_layout at = lay_out_known(view->tree);
    const uint8_t *bytes = tali_cache_at(matter->system, state, matter->prescribed.known);
    const known_counts *counts = (const known_counts *)(const void *)bytes;
    view->hinge = counts->num_known > 0 ? bytes + at.hinge : view->tree->hinge;
    view->level = bytes + at.level;
}

// A body whose D vanished has a zero on the diagonal of its D^-1 where its first free mobility is.
static bool moves_mass(const tali_tree_view *view, const double DI[], int b)
{
    const int nu = view->tree->nu[b];
    int j = 0;
    while (j < nu && view->level[view->tree->u0[b] + j] != TAL_LEVEL_FREE) {
        ++j;
    }
    return j == nu || DI[view->tree->d0[b] + j * nu + j] != 0.0;
}

int tali_prescribed_massless_body(const tali_tree_view *view, const double DI[])
{
    int b = view->tree->num_bodies - 1;
    while (b > 1 && moves_mass(view, DI, b)) {
        --b;
    }
    return b;
}

// A lock has priority over a motion, and a motion over being fast.
static void find_sources(const tal_matter *matter, const tal_state *state, int32_t source[],
                         uint8_t level[])
{
    const tali_prescribed *all = &matter->prescribed;
    const tali_tree *tree = &matter->tree;
    const uint8_t *enabled = tal_var_value(matter->system, state, all->enabled);
    const uint8_t *locks = tali_prescribed_lock_levels(matter, state);
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tal_level fast = tali_prescribed_fast_level(matter, state, b);
        for (int j = 0; j < tree->nu[b]; ++j) {
            source[tree->u0[b] + j] = fast != TAL_LEVEL_FREE ? TALI_FROM_RELAX : TALI_FROM_FORCES;
            level[tree->u0[b] + j] = (uint8_t)fast;
        }
    }
    for (int i = 0; i < all->count; ++i) {
        const tali_prescribed_drive *drive = &all->list[i];
        const int first = drive->mobility < 0 ? 0 : drive->mobility;
        const int last = drive->mobility < 0 ? tree->nu[drive->body] : first + 1;
        for (int j = first; j < last && enabled[i]; ++j) {
            source[tree->u0[drive->body] + j] = i;
            level[tree->u0[drive->body] + j] = (uint8_t)drive->level;
        }
    }
    for (int u = 0; u < tree->num_u; ++u) {
        if (locks[u] == TAL_LEVEL_FREE) continue;
        source[u] = TALI_FROM_LOCK;
        level[u] = locks[u];
    }
}

// The cache entry of known mobilities: from locks, motions and fast bodies, and how M^-1 sees their
// hinges.
static tal_status calc_known(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    const tal_matter *matter = self;
    const tali_tree *tree = &matter->tree;
    const known_layout at = lay_out_known(tree);
    char *bytes = value;
    known_counts *counts = value;
    int32_t *source = (int32_t *)(void *)(bytes + at.source);
    uint8_t *level = (uint8_t *)bytes + at.level;
    uint8_t *hinge = (uint8_t *)bytes + at.hinge;
    const double *values = tal_var_value(system, state, matter->prescribed.values);
    find_sources(matter, state, source, level);
    *counts = (known_counts){0, 0};
    for (int b = 0; b < tree->num_bodies; ++b) {
        const int u0 = tree->u0[b], nu = tree->nu[b];
        int num_known = 0;
        for (int j = 0; j < nu; ++j) {
            num_known += level[u0 + j] != TAL_LEVEL_FREE;
            const bool moves =
                source[u0 + j] >= 0 ||
                (source[u0 + j] == TALI_FROM_LOCK && level[u0 + j] == TAL_LEVEL_ACCELERATION &&
                 values[matter->prescribed.value0[b] + j] != 0.0);
            counts->is_moving = counts->is_moving || moves;
        }
        hinge[b] = num_known == 0    ? tree->hinge[b]
                   : num_known == nu ? (uint8_t)TALI_HINGE_LOCKED
                                     : (uint8_t)TALI_HINGE_MIXED;
        counts->num_known += num_known;
    }
    return TAL_OK;
}

// --- values ---

// A level is known at all orders from this one on.
static tali_prescribed_order first_order(tal_level level)
{
    return (tali_prescribed_order)(TAL_LEVEL_POSITION - level);
}

bool tali_prescribed_is_known(const tal_matter *matter, const tali_prescribed_known *known, int b,
                              int i, tali_prescribed_order order)
{
    // where a mobilizer has more coordinates than speeds, all of them are known or none is
    const int j = i < matter->tree.nu[b] ? i : 0;
    const tal_level level = (tal_level)known->level[matter->tree.u0[b] + j];
    return level != TAL_LEVEL_FREE && first_order(level) <= order;
}

// Is this the order at which coordinate or speed i of a body is given, not found by
// differentiating?
static bool is_first(const tali_prescribed_known *known, const tali_tree *tree, int b, int i,
                     tali_prescribed_order order)
{
    const int u = tree->u0[b] + (i < tree->nu[b] ? i : 0);
    return first_order((tal_level)known->level[u]) == order;
}

static tal_mobilizer_arg arg_of(const tal_matter *matter, const tal_state *state, int b)
{
    const tal_system *system = matter->system;
    return tali_tree_mobilizer_arg_of(
        matter, state, b, tal_state_q(state) + tal_group_start(system, state, matter->q),
        tal_state_u(state) + tal_group_start(system, state, matter->u));
}

// q locked in one description, wanted in the other.
static void locked_q(const tal_matter *matter, const tal_state *state, int b, double out[])
{
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const double *values = tal_var_value(matter->system, state, matter->prescribed.values);
    const double *from = values + matter->prescribed.value0[b];
    const bool in_angles = tali_prescribed_lock_levels(matter, state)[matter->tree.num_u + b] != 0;
    const bool use_angles = model.use_angles[b] != 0;
    const int nq = model.nq[b];
    if (in_angles != use_angles && matter->bodies[b].ops.has_quaternion) {
        tali_tree_convert_q(&matter->bodies[b].ops, from, use_angles, out);
        return;
    }
    memcpy(out, from, (size_t)nq * sizeof *out);
}

// All values of a body as its locks would have them.
static void locked_values(const tal_matter *matter, const tal_state *state,
                          const tali_prescribed_known *known, int b, tali_prescribed_order order,
                          double out[])
{
    if (order == TALI_ORDER_Q) {
        locked_q(matter, state, b, out);
        return;
    }
    const double *values = tal_var_value(matter->system, state, matter->prescribed.values);
    for (int j = 0; j < matter->tree.nu[b]; ++j) {
        const tal_level level = (tal_level)known->level[matter->tree.u0[b] + j];
        const bool is_given =
            first_order(level) == order; // what is found by differentiating is zero
        out[j] = is_given ? values[matter->prescribed.value0[b] + j] : 0.0;
    }
}

// q(t) gives u = N^+ qdot and udot = N^+ (qdotdot - Ndot u).
static tal_status to_speeds(const tal_matter *matter, const tal_state *state, int b,
                            tali_prescribed_order order, double v[])
{
    const tali_tree_body *body = &matter->bodies[b];
    const tal_mobilizer_arg arg = arg_of(matter, state, b);
    double out[TAL_MAX_NU], Ndot_u[TAL_MAX_NQ];
    tal_status st = TAL_OK;
    if (order == TALI_ORDER_UDOT) {
        st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_NDOT, arg.u, Ndot_u);
        for (int i = 0; i < tali_mobilizer_nq(&body->ops, arg.use_angles); ++i) {
            v[i] -= Ndot_u[i];
        }
    }
    if (st == TAL_OK) st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_NPLUS, v, out);
    if (st == TAL_OK) memcpy(v, out, (size_t)body->ops.nu * sizeof *v);
    return st;
}

static tal_status ask_drive(const tal_matter *matter, const tal_state *state,
                            const tali_prescribed_drive *drive, tali_prescribed_order order, int n,
                            double out[])
{
    const double *params = tal_var_value(matter->system, state, matter->prescribed.var_params);
    const tal_mobilizer_arg at = arg_of(matter, state, drive->body);
    const bool knows_q = drive->level < TAL_LEVEL_POSITION;
    const tal_motion_arg arg = {.t = tal_state_t(state),
                                .level = drive->level,
                                .n = n,
                                .use_angles = at.use_angles,
                                .params = params + drive->param0,
                                .q = knows_q ? at.q : NULL,
                                .u = knows_q && order == TALI_ORDER_UDOT ? at.u : NULL,
                                .state = state};
    return drive->ops.calc(drive->self, &arg, (int)order - (int)first_order(drive->level), out);
}

// The values of one motion: one, or all of its body's.
static tal_status motion_values(const tal_matter *matter, tal_state *state, int index,
                                tali_prescribed_order order, double out[])
{
    const tali_prescribed_drive *drive = &matter->prescribed.list[index];
    const tali_tree_body *body = &matter->bodies[drive->body];
    const bool at_position = drive->level == TAL_LEVEL_POSITION;
    const int n = drive->mobility >= 0 ? 1
                  : at_position        ? tali_matter_model_of(matter, state).nq[drive->body]
                                       : body->ops.nu;
    if (drive->num_values >= 0 && drive->num_values != n) {
        return tal_state_fail(
            state, TAL_ERR_BAD_VALUE,
            "motion '%s' gives %d values, but body '%s' has %d coordinates with the "
            "modeling choices of this State",
            drive->name, drive->num_values, body->name, n);
    }
    tal_status st = ask_drive(matter, state, drive, order, n, out);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        if (!isfinite(out[i])) st = TAL_ERR_NOT_FINITE;
    }
    if (st == TAL_OK && at_position && order != TALI_ORDER_Q && body->ops.mul_N != NULL) {
        st = to_speeds(matter, state, drive->body, order, out);
    }
    if (st == TAL_OK) return TAL_OK;
    return tal_state_fail(state, st, "motion '%s' (%s) of body '%s' failed at t = %g (%s)",
                          drive->name, drive->ops.name, body->name, tal_state_t(state),
                          tal_status_text(st));
}

tal_status tali_prescribed_known_values(const tal_matter *matter, tal_state *state,
                                        const tali_prescribed_known *known, int b,
                                        tali_prescribed_order order, double out[], int *count)
{
    const tali_tree *tree = &matter->tree;
    const int n = order == TALI_ORDER_Q ? tali_matter_model_of(matter, state).nq[b] : tree->nu[b];
    double locked[TAL_MAX_NQ] = {0.0}, driven[TAL_MAX_NQ] = {0.0};
    int asked = TALI_FROM_FORCES; // the motion that `driven` holds
    bool has_locked = false;
    *count = 0;
    for (int i = 0; i < n; ++i) {
        if (!tali_prescribed_is_known(matter, known, b, i, order)) continue;
        const int from = known->source[tree->u0[b] + (i < tree->nu[b] ? i : 0)];
        if (from == TALI_FROM_RELAX && is_first(known, tree, b, i, order)) continue; // up to relax
        *count = n;
        if (from >= 0) {
            const tal_status st =
                from == asked ? TAL_OK : motion_values(matter, state, from, order, driven);
            if (st != TAL_OK) return st;
            asked = from;
            out[i] = driven[matter->prescribed.list[from].mobility < 0 ? i : 0];
        } else if (from == TALI_FROM_RELAX) {
            out[i] = 0.0;
        } else {
            if (!has_locked) locked_values(matter, state, known, b, order, locked);
            has_locked = true;
            out[i] = locked[i];
        }
    }
    return TAL_OK;
}

// --- prescribing ---

// Write the known q, or u, where they differ from what the State has.
static tal_status prescribe(const tal_matter *matter, tal_state *state, tali_prescribed_order order,
                            bool *changed)
{
    const tal_system *system = matter->system;
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    const bool speeds = order == TALI_ORDER_U;
    if (known.num_known <= 0) return TAL_OK;
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (known.hinge[b] != TALI_HINGE_LOCKED && known.hinge[b] != TALI_HINGE_MIXED) continue;
        const int at = speeds ? tal_group_start(system, state, matter->u) + matter->tree.u0[b]
                              : tal_group_start(system, state, matter->q) +
                                    tali_matter_model_of(matter, state).q0[b];
        double values[TAL_MAX_NQ];
        const double *present = (speeds ? tal_state_u(state) : tal_state_q(state)) + at;
        const int most = speeds ? matter->tree.nu[b] : tali_matter_model_of(matter, state).nq[b];
        memcpy(values, present, (size_t)most * sizeof *values);
        int n = 0;
        const tal_status st =
            tali_prescribed_known_values(matter, state, &known, b, order, values, &n);
        if (st != TAL_OK) return st;
        bool same = true;
        for (int i = 0; i < n; ++i) {
            same = same && values[i] == present[i];
        }
        if (same) continue;
        double *to = speeds ? tal_state_upd_u(state) : tal_state_upd_q(state);
        if (to == NULL) return tal_contract_last()->status;
        memcpy(to + at, values, (size_t)n * sizeof *values);
        *changed = true;
    }
    return TAL_OK;
}

tal_status tali_prescribed_put_q(const void *self, const tal_system *system, tal_state *state,
                                 bool *changed)
{
    (void)system;
    return prescribe(self, state, TALI_ORDER_Q, changed);
}

tal_status tali_prescribed_put_u(const void *self, const tal_system *system, tal_state *state,
                                 bool *changed)
{
    (void)system;
    return prescribe(self, state, TALI_ORDER_U, changed);
}

// --- asking ---

tal_level tal_mobility_level(const tal_matter *matter, const tal_state *state,
                             tal_mobility mobility)
{
    const tali_tree_body *body = tali_tree_body_at(matter, mobility.body, __func__);
    if (body == NULL) return TAL_LEVEL_FREE;
    if (mobility.i < 0 || mobility.i >= body->ops.nu) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "body '%s' has no speed %d: it has %d", body->name,
                          mobility.i, body->ops.nu);
        return TAL_LEVEL_FREE;
    }
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    if (known.num_known < 0) return TAL_LEVEL_FREE;
    return (tal_level)known.level[matter->tree.u0[mobility.body.i] + mobility.i];
}

// Of a q the mobility with the same number, where qdot = u; elsewhere all mobilities of a body are
// known or none.
static bool is_known(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i,
                     tal_variable_kind kind)
{
    const bool is_q = kind == TAL_VARIABLE_Q;
    const int nu = tal_body_nu(matter, body);
    const tal_mobility mobility = {body, is_q && i >= nu ? nu - 1 : i};
    const tal_level level = tal_mobility_level(matter, state, mobility);
    return level >= (is_q                     ? TAL_LEVEL_POSITION
                     : kind == TAL_VARIABLE_U ? TAL_LEVEL_VELOCITY
                                              : TAL_LEVEL_ACCELERATION);
}

int tal_matter_list_variables(const tal_matter *matter, const tal_state *state,
                              tal_variable_kind kind, bool known, int slots[])
{
    if (matter == NULL || state == NULL || slots == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter, the State or 'slots' is NULL");
        return -1;
    }
    if (tal_matter_num_free(matter, state) < 0) return -1;
    int num = 0;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const bool is_q = kind == TAL_VARIABLE_Q;
        const int start =
            is_q ? tal_body_q_start(matter, state, body) : tal_body_u_start(matter, body);
        const int n = is_q ? tal_body_nq(matter, state, body) : tal_body_nu(matter, body);
        for (int i = 0; i < n; ++i) {
            if (is_known(matter, state, body, i, kind) == known) slots[num++] = start + i;
        }
    }
    return num;
}

void tal_variables_pack(const double all[], int n, const int slots[], int num, double packed[])
{
    if (num > 0 && (all == NULL || slots == NULL || packed == NULL)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "'all', 'slots' or 'packed' is NULL");
        return;
    }
    for (int k = 0; k < num; ++k) {
        const bool is_there = slots[k] >= 0 && slots[k] < n;
        if (!is_there) {
            (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no slot %d of %d", slots[k], n);
        }
        packed[k] = is_there ? all[slots[k]] : TALI_NAN;
    }
}

void tal_variables_unpack(const double packed[], const int slots[], int num, double all[], int n)
{
    if (num > 0 && (all == NULL || slots == NULL || packed == NULL)) {
        (void)TALI_BREACH(TAL_ERR_NULL, "'packed', 'slots' or 'all' is NULL");
        return;
    }
    for (int k = 0; k < num; ++k) {
        if (slots[k] >= 0 && slots[k] < n) {
            all[slots[k]] = packed[k];
        } else {
            (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no slot %d of %d", slots[k], n);
        }
    }
}

int tal_matter_num_free(const tal_matter *matter, const tal_state *state)
{
    if (matter == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
        return -1;
    }
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    return known.num_known >= 0 ? matter->tree.num_u - known.num_known : -1;
}

static const double *present_values(const tal_matter *matter, const tal_state *state,
                                    tali_prescribed_order order)
{
    const tal_system *system = matter->system;
    const int u0 = tal_group_start(system, state, matter->u);
    if (order == TALI_ORDER_U) return tal_state_u(state) + u0;
    if (order == TALI_ORDER_UDOT) return tal_state_udot(state) + u0;
    return tal_state_q(state) + tal_group_start(system, state, matter->q);
}

// The stage below which a motion's function does not have all its arguments.
static bool can_compare(const tal_matter *matter, const tal_state *state, tal_level level,
                        const char *where)
{
    static const tal_stage needed[] = {TAL_STAGE_INFINITY, TAL_STAGE_ACCELERATION,
                                       TAL_STAGE_POSITION, TAL_STAGE_TIME};
    if (matter == NULL || level <= TAL_LEVEL_FREE || level > TAL_LEVEL_POSITION) {
        (void)tali_breach(matter == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE, where,
                          "matter is NULL, or %d is not a level", (int)level);
        return false;
    }
    if (tal_state_stage(state) >= needed[level]) return true;
    (void)tali_breach(TAL_ERR_STAGE, where, "the State is at %s; this needs %s",
                      tal_stage_name(tal_state_stage(state)), tal_stage_name(needed[level]));
    return false;
}

double tal_matter_motion_error(const tal_matter *matter, tal_state *state, tal_level level)
{
    if (!can_compare(matter, state, level, __func__)) return TALI_NAN;
    const tali_prescribed_order order = first_order(level);
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    if (known.num_known < 0) return TALI_NAN;
    double worst = 0.0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        double values[TAL_MAX_NQ];
        int n = 0;
        if (tali_prescribed_known_values(matter, state, &known, b, order, values, &n) != TAL_OK) {
            return TALI_NAN;
        }
        const int at =
            order == TALI_ORDER_Q ? tali_matter_model_of(matter, state).q0[b] : matter->tree.u0[b];
        for (int i = 0; i < n; ++i) {
            const int j = i < matter->tree.nu[b] ? i : 0;
            const bool is_relaxed = known.source[matter->tree.u0[b] + j] == TALI_FROM_RELAX;
            if (!tali_prescribed_is_known(matter, &known, b, i, order)) continue;
            if (is_relaxed && is_first(&known, &matter->tree, b, i, order)) continue;
            worst = fmax(worst, fabs(values[i] - present_values(matter, state, order)[at + i]));
        }
    }
    return worst;
}

// --- declaring ---

void tali_prescribed_declare_known(tal_matter *matter)
{
    tal_cache_def def = tal_cache_def_default();
    def.name = "known mobilities";
    def.size = lay_out_known(&matter->tree).size;
    def.computed_by = TAL_STAGE_INSTANCE;
    def.calc = calc_known;
    matter->prescribed.known = tal_system_add_cache(matter->system, matter->me, &def);
}
