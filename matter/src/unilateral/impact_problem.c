// The elements that touch, W of their rows and of all bilateral ones, and its components.
#include "unilateral/impact_internal.h"

#include <talus/common/linalg.h>

#include <math.h>

enum {
    MOST_TOUCHING = 10, // unless tal_matter_set_most_touching() was called
    PART_ROWS = 3
};

static int most_touching(const tal_matter *matter)
{
    const tali_unilaterals *all = &matter->unilaterals;
    const int most = all->most_touching > 0 ? all->most_touching : MOST_TOUCHING;
    return most < all->count ? most : all->count;
}

// Rows of constraints that belong to no element, all enabled, and of as many elements as may touch.
static int most_rows(const tal_matter *matter)
{
    const tali_unilaterals *all = &matter->unilaterals;
    int rows = matter->constraints.max_rows;
    for (int i = 0; i < all->count; ++i) {
        rows -= (all->list[i].normal >= 0 ? 1 : 0) + all->list[i].num_slips;
    }
    return rows + PART_ROWS * most_touching(matter);
}

// Cuts the room out of `block`; returns its bytes, also without a block.
static size_t carve_room(const tal_matter *matter, tali_impact_problem *p, void *block)
{
    const int rows = most_rows(matter), parts = most_touching(matter);
    const size_t m = (size_t)rows, k = (size_t)parts, d = sizeof(double);
    const size_t solvers = tali_alloc_larger(
        tal_friction_work_size(rows, 2 * parts),
        tali_alloc_larger(tal_bounded_work_size(rows), m * (m + 3) + tal_pchol_work_size(rows)));
    const size_t ints = tali_alloc_larger(
        tal_friction_iwork_size(rows, 2 * parts),
        tali_alloc_larger(tal_bounded_iwork_size(rows), m + tal_pchol_iwork_size(rows)));
    const tali_piece pieces[] = {
        {&p->parts, k * sizeof *p->parts},
        {&p->W.data, m * m * d},
        {&p->sign, m * d},
        {&p->v, m * d},
        {&p->v_round, m * d},
        {&p->v_first, m * d},
        {&p->pi, m * d},
        {&p->pi_round, m * d},
        {&p->udot, ((size_t)matter->tree.num_u + 1) * d},
        {&p->component, m * sizeof(int)},
        {&p->stack, m * sizeof(int)},
        {&p->rows, m * sizeof(int)},
        {&p->in, k * sizeof(int)},
        {&p->A.data, m * m * d},
        {&p->b, m * d},
        {&p->z, m * d},
        {&p->y, m * d},
        {&p->lower, m * d},
        {&p->upper, m * d},
        {&p->contacts, 2 * k * sizeof *p->contacts},
        {&p->modes, 2 * k * sizeof *p->modes},
        {&p->floors, k * d},
        {&p->given, k * d},
        {&p->work, solvers * d},
        {&p->iwork, ints * sizeof(int)},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

size_t tali_impact_scratch(const tal_matter *matter)
{
    tali_impact_problem p;
    if (matter->unilaterals.count == 0) return 0;
    return tali_align(carve_room(matter, &p, NULL)) +
           2 * tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double));
}

tal_status tal_matter_set_most_touching(tal_matter *matter, int most)
{
    const tal_status st = tali_matter_can_build(matter, __func__);
    if (st != TAL_OK) return st;
    if (most < 1) {
        return tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                               "%d unilaterals may touch at a time: that must be positive", most);
    }
    matter->unilaterals.most_touching = most;
    return TAL_OK;
}

int tal_matter_most_touching(const tal_matter *matter)
{
    if (matter != NULL) return matter->unilaterals.most_touching;
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return 0;
}

// --- who touches ---

static bool is_speed_slow(const tali_impact_problem *p, double speed)
{
    return speed <= p->options.speed_tolerance;
}

static bool touches(const tali_impact_problem *p, int i, tal_unilateral_mode mode)
{
    const tali_unilateral *it = &p->matter->unilaterals.list[i];
    const tal_unilateral_ix at = {i};
    if (mode != TAL_UNILATERAL_OFF || it->normal < 0) return true;
    if (it->is_ratchet) {
        return is_speed_slow(p, tal_unilateral_speed(p->matter, p->state, at));
    }
    return tal_unilateral_gap(p->matter, p->state, at) <= p->options.gap_tolerance;
}

// What is known of an element that touches, before any of its constraints are enabled.
static tal_status look_at(tali_impact_problem *p, int i, tal_unilateral_mode mode)
{
    const tali_unilateral *it = &p->matter->unilaterals.list[i];
    const tal_unilateral_material *m = tali_unilateral_material_at(p->matter, p->state, i);
    tali_impact_part part = {.element = i, .normal = -1, .grip = -1, .was = mode, .is_in = true};
    const tal_unilateral_ix at = {i};
    if (it->normal >= 0) part.speed = tal_unilateral_speed(p->matter, p->state, at);
    part.is_contact = it->normal >= 0 && !it->is_ratchet;
    const tal_status st = tal_unilateral_calc_slip(p->matter, p->state, at, part.slip);
    if (st != TAL_OK) return st;
    if (isnan(part.speed)) return tal_state_error(p->state)->status;
    const double r = hypot(part.slip[0], part.slip[1]);
    const bool has_friction = m->static_mu > 0.0 || m->limit > 0.0;
    part.num_slips = has_friction ? it->num_slips : 0;
    part.static_mu = m->static_mu + m->viscous_mu * r;
    part.sliding_mu = m->sliding_mu + m->viscous_mu * r;
    part.limit = m->limit;
    part.slides = r > fmax(m->transition_speed, p->options.speed_tolerance);
    for (int k = 0; k < 2 && part.slides; ++k) {
        part.direction[k] = part.slip[k] / r;
    }
    const double capture = p->options.capture_speed;
    part.restitution = -part.speed > capture ? tal_unilateral_restitution(m, -part.speed) : 0.0;
    p->parts[p->num++] = part;
    return TAL_OK;
}

tal_status tali_impact_begin(const tal_matter *matter, tal_state *state,
                             const tal_impact_options *options, tali_impact_problem *p)
{
    *p = (tali_impact_problem){.matter = matter, .state = state, .options = *options};
    p->mark = tal_state_scratch_mark(state);
    const tal_status ready = tal_system_realize(matter->system, state, TAL_STAGE_VELOCITY);
    if (ready != TAL_OK) return ready;
    void *block = tal_state_scratch_take(state, carve_room(matter, p, NULL));
    if (block == NULL) return TAL_ERR_CAPACITY;
    (void)carve_room(matter, p, block);
    const uint8_t *enabled = tali_cache_var_in(matter->system, state, matter->unilaterals.enabled);
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        const tal_unilateral_mode mode = tali_unilateral_mode_at(matter, state, i);
        if (enabled[i] == 0 || !touches(p, i, mode)) continue;
        if (p->num == most_touching(matter)) {
            return tal_state_fail(state, TAL_ERR_CAPACITY,
                                  "more than %d unilaterals touch at t = %g, '%s' among them: "
                                  "raise the number by tal_matter_set_most_touching()",
                                  p->num, tal_state_t(state), matter->unilaterals.list[i].name);
        }
        const tal_status st = look_at(p, i, mode);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

void tali_impact_end(tali_impact_problem *p)
{
    tal_state_scratch_release(p->state, p->mark);
}

// --- the matrix ---

static tal_status switch_all(tali_impact_problem *p, bool as_they_were)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < p->num && st == TAL_OK; ++k) {
        const tali_impact_part *part = &p->parts[k];
        const bool normal = as_they_were ? part->was != TAL_UNILATERAL_OFF : part->is_in;
        const bool grip =
            as_they_were ? part->was == TAL_UNILATERAL_STICK : part->is_in && part->num_slips > 0;
        st = tali_unilateral_switch(p->matter, p->state, part->element, normal, grip);
    }
    return st;
}

tal_status tali_impact_restore(tali_impact_problem *p)
{
    return switch_all(p, true);
}

static int first_row(const tali_impact_problem *p, int constraint)
{
    const tal_constraint_rows rows =
        tal_constraint_rows_of(p->matter, p->state, (tal_constraint_ix){constraint});
    return rows.mp > 0 ? rows.p0 : rows.v0;
}

// Rows of the constraint that presses on the grip of a part, if it is enabled.
static void find_load(const tali_impact_problem *p, const tali_unilateral *it,
                      tali_impact_part *part)
{
    if (it->load.constraint.i < 0 || it->normal >= 0) return;
    const tal_constraint_rows rows =
        tal_constraint_rows_of(p->matter, p->state, it->load.constraint);
    const bool is_enabled = rows.mp + rows.mv + rows.ma > 0;
    part->num_loads = is_enabled ? it->load.count : 0;
    for (int r = 0; r < part->num_loads; ++r) {
        const int row = it->load.first + r;
        part->load[r] = row < rows.mp             ? rows.p0 + row
                        : row < rows.mp + rows.mv ? rows.v0 + (row - rows.mp)
                                                  : rows.a0 + (row - rows.mp - rows.mv);
    }
}

// Which rows the parts have; normals get the sign of their element.
static void find_rows(tali_impact_problem *p)
{
    for (int r = 0; r < p->m; ++r) {
        p->sign[r] = 1.0;
    }
    for (int k = 0; k < p->num; ++k) {
        tali_impact_part *part = &p->parts[k];
        const tali_unilateral *it = &p->matter->unilaterals.list[part->element];
        if (!part->is_in) continue;
        if (it->normal >= 0) {
            part->normal = first_row(p, it->normal);
            p->sign[part->normal] = it->sign;
        }
        if (part->num_slips > 0) part->grip = first_row(p, it->grip);
        find_load(p, it, part);
    }
}

tal_status tali_impact_assemble(tali_impact_problem *p)
{
    tal_status st = switch_all(p, false);
    if (st == TAL_OK) st = tal_system_realize(p->matter->system, p->state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return st;
    const tal_constraint_rows rows = tal_matter_constraint_rows(p->matter, p->state);
    p->m = rows.mp + rows.mv + rows.ma;
    if (p->m > most_rows(p->matter)) return TAL_ERR_CAPACITY; // cannot be: each part was counted
    p->W = tal_matrix_view(p->W.data, p->m, p->m);
    memset(p->W.data, 0, (size_t)p->m * (size_t)p->m * sizeof(double));
    st = tal_matter_calc_W(p->matter, p->state, p->W);
    if (st != TAL_OK) return st;
    find_rows(p);
    for (int j = 0; j < p->m; ++j) {
        for (int i = 0; i < p->m; ++i) {
            p->W.data[i + j * p->m] *= p->sign[i] * p->sign[j];
        }
        p->pi[j] = 0.0;
    }
    return TAL_OK;
}

// --- components ---

// The part that a row belongs to; -1: a bilateral row.
static int part_of(const tali_impact_problem *p, int row)
{
    for (int k = 0; k < p->num; ++k) {
        const tali_impact_part *part = &p->parts[k];
        if (part->normal == row) return k;
        if (part->grip >= 0 && row >= part->grip && row < part->grip + part->num_slips) return k;
    }
    return -1;
}

static bool presses_on(const tali_impact_problem *p, int row, int k)
{
    for (int r = 0; k >= 0 && r < p->parts[k].num_loads; ++r) {
        if (p->parts[k].load[r] == row) return true;
    }
    return false;
}

// By W, as rows of one part, or because one presses on the grip of the other.
static bool are_coupled(const tali_impact_problem *p, int i, int j)
{
    if (p->W.data[i + j * p->m] != 0.0) return true;
    const int k = part_of(p, i), l = part_of(p, j);
    return (k >= 0 && k == l) || presses_on(p, i, l) || presses_on(p, j, k);
}

int tali_impact_find_components(tali_impact_problem *p)
{
    enum {
        UNSEEN = -2
    };

    for (int r = 0; r < p->m; ++r) {
        const int part = part_of(p, r);
        p->component[r] = part < 0 || p->parts[part].is_in ? UNSEEN : -1;
    }
    int count = 0;
    for (int r = 0; r < p->m; ++r) {
        if (p->component[r] != UNSEEN) continue;
        int depth = 0;
        p->stack[depth++] = r;
        p->component[r] = count;
        while (depth > 0) {
            const int i = p->stack[--depth];
            for (int j = 0; j < p->m; ++j) {
                if (p->component[j] != UNSEEN || !are_coupled(p, i, j)) continue;
                p->component[j] = count;
                p->stack[depth++] = j;
            }
        }
        ++count;
    }
    return count;
}

int tali_impact_local_row(const tali_impact_problem *p, int row)
{
    for (int i = 0; i < p->n; ++i) {
        if (p->rows[i] == row) return i;
    }
    return -1;
}

static void gather_part(tali_impact_problem *p, int k)
{
    const tali_impact_part *part = &p->parts[k];
    p->contacts[p->num_in] = (tal_friction_contact){
        .normal = part->normal >= 0 ? tali_impact_local_row(p, part->normal) : -1,
        .tangent = part->grip >= 0 ? tali_impact_local_row(p, part->grip) : 0,
        .num_tangents = part->num_slips,
        .static_mu = part->static_mu,
        .sliding_mu = part->sliding_mu,
        .limit = part->limit,
        .slides = part->slides,
        .direction = {part->direction[0], part->direction[1]}};
    p->floors[p->num_in] = 0.0;
    p->in[p->num_in++] = k;
}

bool tali_impact_gather(tali_impact_problem *p, int c, bool hold)
{
    p->n = p->num_in = 0;
    for (int r = 0; r < p->m; ++r) {
        if (p->component[r] == c) p->rows[p->n++] = r;
    }
    for (int k = 0; k < p->num; ++k) {
        const tali_impact_part *part = &p->parts[k];
        const int row = part->normal >= 0 ? part->normal : part->grip;
        if (part->is_in && row >= 0 && p->component[row] == c) gather_part(p, k);
    }
    p->A = tal_matrix_view(p->A.data, p->n, p->n);
    for (int j = 0; j < p->n; ++j) {
        for (int i = 0; i < p->n; ++i) {
            p->A.data[i + j * p->n] = p->W.data[p->rows[i] + p->rows[j] * p->m];
        }
        p->b[j] = hold && part_of(p, p->rows[j]) < 0 ? 0.0 : p->v[p->rows[j]];
    }
    return p->num_in > 0;
}

// --- solving ---

static bool has_friction(const tali_impact_problem *p)
{
    for (int k = 0; k < p->num_in; ++k) {
        if (p->contacts[k].num_tangents > 0) return true;
    }
    return false;
}

// Bounds: bilateral rows have none, normals push at least with their floors; grips do nothing.
tal_status tali_impact_solve_smooth(tali_impact_problem *p, tal_error *why)
{
    for (int i = 0; i < p->n; ++i) {
        p->lower[i] = -(double)INFINITY;
        p->upper[i] = (double)INFINITY;
        p->z[i] = 0.0;
    }
    for (int k = 0; k < p->num_in; ++k) {
        const tal_friction_contact *c = &p->contacts[k];
        if (c->normal >= 0) p->lower[c->normal] = p->floors[k];
        for (int r = 0; r < c->num_tangents; ++r) {
            p->lower[c->tangent + r] = p->upper[c->tangent + r] = 0.0;
        }
    }
    const tal_bounded_problem problem = {
        .A = p->A, .b = p->b, .lower = p->lower, .upper = p->upper, .share = true};
    const tal_status st = tal_bounded_solve(&problem, p->z, p->y, p->work, p->iwork, NULL, why);
    for (int k = 0; k < p->num_in; ++k) {
        const int normal = p->contacts[k].normal;
        const bool pushes = normal >= 0 && p->z[normal] > 0.0;
        p->modes[k] = pushes ? TAL_FRICTION_STICK : TAL_FRICTION_OFF;
    }
    return st;
}

// Normal forces that are given move b, and have friction of their own, whether the element leaves
// or not: a second contact without a normal, behind the others. What the element pushes beyond them
// has none: with it the two would depend on each other in a circle, which need not close. How many
// contacts there are then.
static int split_floors(tali_impact_problem *p, double b[])
{
    int num = p->num_in;
    for (int k = 0; k < p->num_in; ++k) {
        tal_friction_contact *c = &p->contacts[k];
        if (c->normal < 0 || p->floors[k] == 0.0) continue;
        for (int i = 0; i < p->n; ++i) {
            b[i] += p->A.data[i + c->normal * p->n] * p->floors[k];
        }
        if (c->num_tangents == 0) continue;
        p->contacts[num] = *c;
        p->contacts[num].normal = -1;
        p->contacts[num++].limit = c->limit + c->sliding_mu * p->floors[k];
        c->num_tangents = 0;
    }
    return num;
}

// The modes that elements have had are a guess, and that what was open closes: it touches now. Not
// where one slides: of two answers (Painleve) a guess would find the one it is near.
static bool guess_modes(tali_impact_problem *p)
{
    for (int k = 0; k < p->num_in; ++k) {
        const tal_unilateral_mode was = p->parts[p->in[k]].was;
        if (!p->is_warm || p->contacts[k].slides) return false;
        p->modes[k] = was == TAL_UNILATERAL_SLIDE ? TAL_FRICTION_SLIP : TAL_FRICTION_STICK;
    }
    return true;
}

static tal_status solve_with_friction(tali_impact_problem *p, tal_error *why)
{
    double *b = p->lower; // there are no bounds here
    memcpy(b, p->b, (size_t)p->n * sizeof *b);
    const tal_friction_problem problem = {.A = p->A,
                                          .b = b,
                                          .contacts = p->contacts,
                                          .num_contacts = split_floors(p, b),
                                          .guess = guess_modes(p)};
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    const tal_status st =
        tal_friction_solve(&problem, p->z, p->y, p->modes, p->work, p->iwork, NULL, why);
    for (int k = 0; k < p->num_in && st == TAL_OK; ++k) {
        if (p->contacts[k].normal >= 0) p->z[p->contacts[k].normal] += p->floors[k];
    }
    return st;
}

tal_status tali_impact_solve(tali_impact_problem *p, tal_error *why)
{
    return has_friction(p) ? solve_with_friction(p, why) : tali_impact_solve_smooth(p, why);
}

tal_status tali_impact_fail(tali_impact_problem *p, tal_status st, const char *why)
{
    const char *first = p->matter->unilaterals.list[p->parts[p->in[0]].element].name;
    return tal_state_fail(p->state, st,
                          "no forces were found for %d unilaterals at t = %g, '%s' among them: %s",
                          p->num_in, tal_state_t(p->state), first, why);
}
