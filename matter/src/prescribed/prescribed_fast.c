// Constraints on fast bodies: their rows, what they do to the bodies, and their multipliers.
//
// They are not part of the dynamic equations (manual sec. 10.3). Relaxing satisfies them by moving
// the fast mobilities, and their multipliers are those that leave no force along these,
//
//     r - G_fast^T lambda = 0,       r = f + J^T F
//
// These forces then act on all bodies like applied ones. So a body that moves slowly feels through
// a rod what hangs on it, as it would if the fast body had inertia and had settled.
#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "prescribed/prescribed_internal.h"

#include <talus/common/linalg.h>

// --- levels, as the State chooses them ---

static const uint8_t *chosen_levels(const tal_matter *matter, const tal_state *state)
{
    return tal_var_value(matter->system, state, matter->prescribed.fast);
}

// Its own level, or that of the nearest body that carries it.
static tal_level level_of(const tal_matter *matter, const uint8_t levels[], int b)
{
    while (b > 0 && levels[b] == TAL_LEVEL_FREE) {
        b = matter->tree.parent[b];
    }
    return b > 0 ? (tal_level)levels[b] : TAL_LEVEL_FREE;
}

tal_level tali_prescribed_fast_level(const tal_matter *matter, const tal_state *state, int b)
{
    const tali_prescribed *all = &matter->prescribed;
    if (all->num_fast == 0 || !all->may[b]) return TAL_LEVEL_FREE;
    return level_of(matter, chosen_levels(matter, state), b);
}

// The levels of the fast bodies that a constraint acts through, as bits. Those below its ancestor
// count: how that moves makes no difference to it.
static unsigned levels_of(const tal_matter *matter, const tali_constraint *c,
                          const uint8_t levels[])
{
    unsigned bits = 0;
    for (int k = 0; k < c->ops.num_bodies; ++k) {
        for (int b = c->bodies[k]; b != c->ancestor; b = matter->tree.parent[b]) {
            bits |= 1U << level_of(matter, levels, b);
        }
    }
    for (int k = 0; k < c->num_mobilities; ++k) {
        bits |= 1U << level_of(matter, levels, c->mobility_bodies[k]);
    }
    return bits & ~(1U << TAL_LEVEL_FREE);
}

tal_level tali_prescribed_constraint_level(const tal_matter *matter, const tal_state *state, int i)
{
    const tali_constraint *c = &matter->constraints.list[i];
    if (!c->may_be_fast) return TAL_LEVEL_FREE;
    const unsigned bits = levels_of(matter, c, chosen_levels(matter, state));
    if (bits == 0) return TAL_LEVEL_FREE;
    return bits == 1U << TAL_LEVEL_POSITION ? TAL_LEVEL_POSITION : TAL_LEVEL_VELOCITY;
}

const char *tali_prescribed_why_not_fast(const tal_matter *matter, const tali_constraint *c,
                                         const uint8_t levels[])
{
    const unsigned position = 1U << TAL_LEVEL_POSITION, velocity = 1U << TAL_LEVEL_VELOCITY;
    const unsigned bits = levels_of(matter, c, levels);
    if (bits == 0) return NULL;
    if (bits == (position | velocity)) {
        return "of both levels, position and velocity: use one level";
    }
    if (c->ops.ma > 0) return "with acceleration equations: fast bodies do not accelerate";
    if (bits == velocity || c->ops.mv == 0) return NULL;
    return "with velocity equations: make the bodies fast in velocity";
}

static const tali_tree_body *declared_fast(const tal_matter *matter, tal_body_ix body,
                                           const char *where)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, where);
    if (found == NULL || found->may_be_fast) return found;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where,
                      "body '%s' may not be fast: call tal_matter_allow_fast() while building",
                      found->name);
    return NULL;
}

tal_level tal_body_fast_level(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    if (tali_tree_body_at(matter, body, __func__) == NULL) return TAL_LEVEL_FREE;
    const tali_prescribed *all = &matter->prescribed; // any variable tells whether it is our State
    if (tali_cache_var_read(matter->system, state, all->levels, __func__) == NULL) {
        return TAL_LEVEL_FREE;
    }
    return tali_prescribed_fast_level(matter, state, body.i);
}

tal_status tal_body_set_fast(const tal_matter *matter, tal_state *state, tal_body_ix body,
                             tal_level level)
{
    if (declared_fast(matter, body, __func__) == NULL ||
        tali_cache_var_read(matter->system, state, matter->prescribed.levels, __func__) == NULL) {
        return tal_contract_last()->status;
    }
    const tal_var_ix var = matter->prescribed.fast;
    const uint8_t *levels = tali_cache_var_read(matter->system, state, var, __func__);
    if (levels == NULL) return tal_contract_last()->status;
    const uint8_t before = levels[body.i];
    if (level != TAL_LEVEL_FREE && level != TAL_LEVEL_POSITION && level != TAL_LEVEL_VELOCITY) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s' can be fast in position or velocity, or free, not at "
                                "level %d",
                                matter->bodies[body.i].name, (int)level);
    }
    if (before == (uint8_t)level) return TAL_OK;
    uint8_t *changed = tali_cache_var_write(matter->system, state, var, __func__);
    if (changed == NULL) return tal_contract_last()->status;
    changed[body.i] = (uint8_t)level;
    for (int i = 0; i < matter->constraints.count; ++i) {
        const tali_constraint *c = &matter->constraints.list[i];
        const char *why = c->may_be_fast ? tali_prescribed_why_not_fast(matter, c, changed) : NULL;
        if (why == NULL) continue;
        changed[body.i] = before;
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s' cannot change how fast it is: constraint '%s' would act "
                                "on fast bodies %s",
                                matter->bodies[body.i].name, c->name, why);
    }
    return TAL_OK;
}

// --- which ---

void tali_prescribed_fast_find(const tal_matter *matter, const tal_state *state, tal_level level,
                               tali_prescribed_fast_speeds *fast)
{
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    fast->level = level;
    fast->n = 0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        for (int j = 0; j < matter->tree.nu[b]; ++j) {
            const int u = matter->tree.u0[b] + j;
            if (known.source[u] != TALI_FROM_RELAX || known.level[u] != level) continue;
            fast->speed[fast->n] = u;
            fast->body[fast->n++] = b;
        }
    }
}

/// A walk along the fast constraints of one level that are enabled.
typedef struct fast_walk {
    const tali_constraint *c;
    int i;    ///< its index
    int row;  ///< its first row
    int rows; ///< how many
} fast_walk;

static const fast_walk BEFORE_ALL = {NULL, -1, 0, 0};

static bool next_fast(const tal_matter *matter, const tal_state *state, tal_level level,
                      bool velocities, fast_walk *at)
{
    const tali_constraints *cs = &matter->constraints;
    const uint8_t *enabled =
        cs->count > 0 ? tal_var_value(matter->system, state, cs->enabled) : NULL;
    at->row += at->rows;
    for (at->rows = 0, ++at->i; at->i < cs->count; ++at->i) {
        at->c = &cs->list[at->i];
        if (!enabled[at->i] || !at->c->may_be_fast ||
            tali_prescribed_constraint_level(matter, state, at->i) != level) {
            continue;
        }
        at->rows = at->c->ops.mp + (velocities ? at->c->ops.mv : 0);
        return true;
    }
    return false;
}

int tali_prescribed_fast_num_rows(const tal_matter *matter, const tal_state *state, tal_level level,
                                  bool velocities)
{
    fast_walk at = BEFORE_ALL;
    while (next_fast(matter, state, level, velocities, &at)) {}
    return at.row;
}

int tali_prescribed_fast_row_owner(const tal_matter *matter, const tal_state *state,
                                   tal_level level, bool velocities, int row)
{
    fast_walk at = BEFORE_ALL;
    while (next_fast(matter, state, level, velocities, &at) && row >= at.row + at.rows) {}
    return at.i;
}

// --- errors and forces ---

tal_status tali_prescribed_fast_errors(const tal_matter *matter, tal_state *state, tal_level level,
                                       bool velocities, double errors[])
{
    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, velocities ? TALI_VELOCITY : TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    fast_walk at = BEFORE_ALL;
    while (next_fast(matter, state, level, velocities, &at)) {
        if (at.rows == 0) continue;
        tali_constraint_room room;
        const tal_constraint_arg arg =
            tali_constraint_arg_of(matter, state, &view, at.i, NULL, NULL, &room);
        double *out = errors + at.row;
        const tal_status st = velocities ? at.c->ops.calc_v(at.c->self, &arg, out)
                                         : at.c->ops.calc_p(at.c->self, &arg, out);
        if (st != TAL_OK) {
            return tal_state_fail(state, st, "constraint '%s' (%s) failed at t = %g (%s)",
                                  at.c->name, at.c->ops.name, tal_state_t(state),
                                  tal_status_text(st));
        }
    }
    return TAL_OK;
}

/// Room for the wrenches of one small constraint; that of a large one is in the State.
typedef struct one_constraint {
    tal_spatial_vec wrench[TALI_CONSTRAINT_SMALL_ROWS * (TALI_CONSTRAINT_SMALL_BODIES + 1)];
    double coefficient[TALI_CONSTRAINT_SMALL_ROWS * TALI_CONSTRAINT_SMALL_MOBILITIES];
} one_constraint;

static tal_status wrenches_of(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, one_constraint *room,
                              tali_constraint_const_wrenches *row_forces)
{
    const tali_constraints *cs = &matter->constraints;
    tali_constraint_large large = {room->wrench, room->coefficient};
    if (!tali_constraint_is_small(&cs->list[i])) {
        tali_constraint_room motion;
        (void)tali_constraint_room_in(cs, tali_cache_begin(matter->system, state, cs->room),
                                      &motion, &large);
    }
    const tali_constraint_wrenches out = {large.wrench, large.coefficient};
    *row_forces = (tali_constraint_const_wrenches){large.wrench, large.coefficient};
    return tali_constraint_find_wrenches(matter, state, view, i, &out);
}

static bool view_velocities(const tal_matter *matter, tal_state *state, tali_tree_view *view)
{
    const bool moving = matter->constraints.forces_need_velocity;
    return tali_tree_realize_view(matter, state, moving ? TALI_VELOCITY : TALI_POSITION, view);
}

tal_status tali_prescribed_fast_G(const tal_matter *matter, tal_state *state,
                                  const tali_prescribed_fast_speeds *fast, bool velocities,
                                  tal_matrix G, tal_spatial_vec F[], double f[])
{
    tali_tree_view view;
    if (!view_velocities(matter, state, &view)) return tal_state_error(state)->status;
    const size_t nu = (size_t)matter->tree.num_u;
    double *along = f + nu; // J^T F; f has the coefficients
    fast_walk at = BEFORE_ALL;
    while (next_fast(matter, state, fast->level, velocities, &at)) {
        one_constraint room;
        tali_constraint_const_wrenches row_forces;
        const tal_status st = wrenches_of(matter, state, &view, at.i, &room, &row_forces);
        if (st != TAL_OK) return st;
        for (int r = 0; r < at.rows; ++r) {
            memset(F, 0, (size_t)matter->num_bodies * sizeof *F);
            memset(f, 0, nu * sizeof *f);
            tali_constraint_add_row_forces(matter, at.c, row_forces, r, 1.0, F, f);
            view.passes->JT(&view, F, along);
            for (int k = 0; k < fast->n; ++k) {
                const int u = fast->speed[k];
                G.data[(size_t)(at.row + r) + (size_t)k * (size_t)G.ld] = f[u] + along[u];
            }
        }
    }
    return TAL_OK;
}

tal_status tali_prescribed_fast_push(const tal_matter *matter, tal_state *state, tal_level level,
                                     bool velocities, const double lambda[], tal_spatial_vec F[],
                                     double f[])
{
    tali_tree_view view;
    if (!view_velocities(matter, state, &view)) return tal_state_error(state)->status;
    fast_walk at = BEFORE_ALL;
    while (next_fast(matter, state, level, velocities, &at)) {
        one_constraint room;
        tali_constraint_const_wrenches row_forces;
        const tal_status st = wrenches_of(matter, state, &view, at.i, &room, &row_forces);
        if (st != TAL_OK) return st;
        for (int r = 0; r < at.rows; ++r) {
            tali_constraint_add_row_forces(matter, at.c, row_forces, r, -lambda[at.row + r], F, f);
        }
    }
    return TAL_OK;
}

// --- loads: applied forces and those of fast constraints ---

typedef struct loads_layout {
    size_t f, lambda, size;
} loads_layout;

static loads_layout lay_out_loads(const tal_matter *matter)
{
    const size_t n = (size_t)matter->tree.num_u;
    const size_t rows = (size_t)matter->prescribed.num_fast_rows;
    loads_layout at = {.size = 0};
    (void)tali_piece_at(&at.size,
                        (size_t)matter->num_bodies * sizeof(tal_spatial_vec)); // on bodies
    at.f = tali_piece_at(&at.size, (n + 1) * sizeof(double));
    at.lambda = tali_piece_at(&at.size, (rows + 1) * sizeof(double));
    return at;
}

/// What finding the multipliers of one level needs.
typedef struct loads_room {
    tali_prescribed_fast_speeds fast;
    double *GT; ///< [n x m], then its factors
    double *x;  ///< [n or m]
    double *work;
    int *iwork;
    double *f; ///< [2 nu]
    tal_spatial_vec *F;
} loads_room;

// Cuts the room out of `base`; returns its size, also without a base.
static size_t carve(const tal_matter *matter, void *base, loads_room *room)
{
    const int n = matter->prescribed.num_fast, m = matter->prescribed.num_fast_rows;
    const size_t N = (size_t)n + 1, M = (size_t)m + 1;
    const tali_piece pieces[] = {{&room->fast.speed, N * sizeof(int32_t)},
                                 {&room->fast.body, N * sizeof(int32_t)},
                                 {&room->GT, 2 * N * M * sizeof(double)}, // G, and its transpose
                                 {&room->x, (N + M) * sizeof(double)},
                                 {&room->work, (tal_cod_work_size(n, m) + 1) * sizeof(double)},
                                 {&room->iwork, (tal_cod_iwork_size(n, m) + 1) * sizeof(int)},
                                 {&room->f, 2 * ((size_t)matter->tree.num_u + 1) * sizeof(double)},
                                 {&room->F, (size_t)matter->num_bodies * sizeof *room->F}};
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], base);
}

size_t tali_prescribed_fast_scratch(const tal_matter *matter)
{
    loads_room room;
    return matter->prescribed.num_fast_rows > 0 ? carve(matter, NULL, &room) : 0;
}

tal_status tali_prescribed_fast_multipliers(tal_state *state, tal_matrix G, const double r[],
                                            double GT[], double work[], int iwork[],
                                            double lambda[])
{
    const int n = G.cols, m = G.rows, most = n > m ? n : m;
    const tal_matrix T = tal_matrix_view(GT, n, m);
    for (int i = 0; i < m; ++i) {
        for (int k = 0; k < n; ++k) {
            GT[k + i * n] = G.data[i + k * G.ld];
        }
    }
    for (int k = 0; k < n; ++k) {
        lambda[k] = r[k];
    }
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    tal_status st = tal_cod_factor(&cod, T, TALI_FAST_RCOND, work, iwork, &why);
    const tal_matrix B = {lambda, n, 1, most}, X = {lambda, m, 1, most};
    if (st == TAL_OK) st = tal_cod_solve(&cod, B, X, &why);
    return st == TAL_OK ? st : tal_state_fail(state, st, "fast constraints: %s", why.message);
}

// The multipliers of one level, from all forces but those of fast constraints; then their forces.
static tal_status load_level(const tal_matter *matter, tal_state *state, tal_level level,
                             loads_room *room, tal_spatial_vec F[], double f[], double lambda[])
{
    const bool velocities = level == TAL_LEVEL_VELOCITY;
    const int m = tali_prescribed_fast_num_rows(matter, state, level, velocities);
    if (m == 0) return TAL_OK;
    tali_prescribed_fast_find(matter, state, level, &room->fast);
    const int n = room->fast.n;
    const tal_matrix G = {room->GT + ((size_t)n + 1) * ((size_t)m + 1), m, n, m};
    tal_status st =
        tali_prescribed_fast_G(matter, state, &room->fast, velocities, G, room->F, room->f);
    tali_tree_view view;
    if (st != TAL_OK || !tali_tree_realize_view(matter, state, TALI_POSITION, &view)) {
        return tal_state_error(state)->status;
    }
    memcpy(room->F, F, (size_t)matter->num_bodies * sizeof *F);
    view.passes->JT(&view, room->F, room->f);
    for (int k = 0; k < n; ++k) { // x is read before it is written, one by one
        room->f[k] = f[room->fast.speed[k]] + room->f[room->fast.speed[k]];
    }
    st = tali_prescribed_fast_multipliers(state, G, room->f, room->GT, room->work, room->iwork,
                                          room->x);
    if (st == TAL_OK) {
        st = tali_prescribed_fast_push(matter, state, level, velocities, room->x, F, f);
    }
    fast_walk at = BEFORE_ALL;
    while (st == TAL_OK && next_fast(matter, state, level, velocities, &at)) {
        memcpy(lambda + at.c->fast_row0, room->x + at.row, (size_t)at.rows * sizeof *lambda);
    }
    return st;
}

// The cache entry of loads: applied forces, then multipliers and forces of fast constraints.
static tal_status calc_loads(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    (void)system;
    const tal_matter *matter = self;
    const loads_layout at = lay_out_loads(matter);
    char *bytes = value;
    tal_spatial_vec *F = value;
    double *f = (double *)(void *)(bytes + at.f), *lambda = (double *)(void *)(bytes + at.lambda);
    const tali_tree_applied applied = tali_tree_applied_of(matter, state);
    if (applied.F == NULL) return TAL_ERR_CALLBACK;
    memcpy(F, applied.F, (size_t)matter->num_bodies * sizeof *F);
    memcpy(f, applied.f, (size_t)matter->tree.num_u * sizeof *f);
    memset(lambda, 0, (size_t)matter->prescribed.num_fast_rows * sizeof *lambda);
    const size_t mark = tal_state_scratch_mark(state);
    void *base = tal_state_scratch_take(state, tali_prescribed_fast_scratch(matter));
    if (base == NULL) return TAL_ERR_CAPACITY;
    loads_room room;
    (void)carve(matter, base, &room);
    tal_status st = load_level(matter, state, TAL_LEVEL_POSITION, &room, F, f, lambda);
    if (st == TAL_OK) st = load_level(matter, state, TAL_LEVEL_VELOCITY, &room, F, f, lambda);
    tal_state_scratch_release(state, mark);
    return st;
}

void tali_prescribed_fast_declare(tal_matter *matter)
{
    if (matter->prescribed.num_fast_rows == 0) return;
    tal_cache_def def = tal_cache_def_default();
    def.name = "loads with fast constraints";
    def.size = lay_out_loads(matter).size;
    def.depends_on = TAL_STAGE_DYNAMICS;
    def.calc = calc_loads;
    matter->prescribed.loads = tal_system_add_cache(matter->system, matter->me, &def);
}

tali_tree_applied tali_prescribed_loads_of(const tal_matter *matter, tal_state *state)
{
    if (matter->prescribed.num_fast_rows == 0) return tali_tree_applied_of(matter, state);
    const char *bytes = tal_cache_realize(matter->system, state, matter->prescribed.loads);
    if (bytes == NULL) return (tali_tree_applied){NULL, NULL};
    const loads_layout at = lay_out_loads(matter);
    return (tali_tree_applied){(const tal_spatial_vec *)(const void *)bytes,
                               (const double *)(const void *)(bytes + at.f)};
}

tal_status tal_constraint_calc_fast_multipliers(const tal_matter *matter, tal_state *state,
                                                tal_constraint_ix constraint, double lambda[])
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return tal_contract_last()->status;
    if (lambda == NULL) return TALI_BREACH(TAL_ERR_NULL, "lambda is NULL");
    if (!c->may_be_fast) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "constraint '%s' does not act on a fast body",
                           c->name);
    }
    const char *bytes = tal_cache_realize(matter->system, state, matter->prescribed.loads);
    if (bytes == NULL) return tal_contract_last()->status;
    const double *all = (const double *)(const void *)(bytes + lay_out_loads(matter).lambda);
    const tal_level level = tali_prescribed_constraint_level(matter, state, constraint.i);
    const int rows = c->ops.mp + (level == TAL_LEVEL_VELOCITY ? c->ops.mv : 0);
    memcpy(lambda, all + c->fast_row0, (size_t)rows * sizeof *lambda);
    return TAL_OK;
}
