// Sliding friction in the equations of motion: forces in proportion to multipliers.
#include "kernel/passes_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/common/linalg.h>

/// Room for the elements that slide, from a State's scratch memory.
typedef struct slide_room {
    int *sliding;                  ///< [most] which elements
    double *columns;               ///< [most][num_u] e of a unit of friction of each
    double *responses;             ///< [most][max_rows] multipliers that it adds
    double *f;                     ///< [num_u]
    tali_unilateral_sliding sigma; ///< the forces
    tal_spatial_vec *F, *open;
} slide_room;

// Cuts the room out of `block`; returns its bytes, also without a block.
static size_t carve_room(const tal_matter *matter, slide_room *room, void *block)
{
    const int most = tali_unilaterals_most_sliding(matter);
    const size_t k = (size_t)most, nu = (size_t)matter->tree.num_u + 1;
    const size_t rows = (size_t)matter->constraints.max_rows, d = sizeof(double);
    const tali_piece pieces[] = {
        {&room->sliding, k * sizeof *room->sliding},
        {&room->columns, k * nu * d},
        {&room->responses, k * rows * d},
        {&room->f, nu * d},
        {&room->F, (size_t)matter->num_bodies * sizeof *room->F},
        {&room->open, ((size_t)matter->tree.num_slots + 1) * sizeof *room->open},
        {&room->sigma.K, k * k * d},
        {&room->sigma.sigma, k * d},
        {&room->sigma.before, k * d},
        {&room->sigma.mu, k * d},
        {&room->sigma.press, k * sizeof *room->sigma.press},
        {&room->sigma.lambda_0, rows * d},
        {&room->sigma.change, rows * d},
        {&room->sigma.work, tal_cod_work_size(most, most) * d},
        {&room->sigma.iwork, tal_cod_iwork_size(most, most) * sizeof(int)},
    };
    return tali_pieces_place(pieces, sizeof pieces / sizeof pieces[0], block);
}

size_t tali_unilaterals_scratch(const tal_matter *matter)
{
    slide_room room;
    if (matter->unilaterals.num_grips == 0) return 0;
    return tali_align(carve_room(matter, &room, NULL)) +
           tali_align((size_t)matter->constraints.max_rows * sizeof(double)) +
           tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double)); // what respond() takes
}

// --- which elements slide ---

static bool slides(const tal_matter *matter, const tal_state *state, int i)
{
    return tali_unilateral_mode_at(matter, state, i) == TAL_UNILATERAL_SLIDE;
}

// How many; -1 when there is no room for them, and the State says so.
static int list_sliding(const tal_matter *matter, tal_state *state, int list[])
{
    const tali_unilaterals *all = &matter->unilaterals;
    const int most = tali_unilaterals_most_sliding(matter);
    int n = 0;
    for (int i = 0; i < all->count; ++i) {
        if (!slides(matter, state, i)) continue;
        if (n == most) {
            (void)tal_state_fail(state, TAL_ERR_CAPACITY,
                                 "more than %d elements slide, '%s' among them: raise the number "
                                 "by tal_matter_set_most_sliding()",
                                 n, all->list[i].name);
            return -1;
        }
        list[n++] = i;
    }
    return n;
}

static bool any_slides(const tal_matter *matter, const tal_state *state)
{
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        if (slides(matter, state, i)) return true;
    }
    return false;
}

// --- what a unit of friction does ---

// Add scale times G_T^T d, with the rows of the grip of element `i`: to bodies about Mo in Ground,
// and along u.
static tal_status add_drag(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                           int i, double scale, const double d[2], tal_spatial_vec F[], double f[])
{
    enum {
        MOST_ROWS = 2
    };

    const int grip = matter->unilaterals.list[i].grip;
    const tali_constraint *c = &matter->constraints.list[grip];
    tal_spatial_vec wrench[MOST_ROWS * (TALI_CONSTRAINT_SMALL_BODIES + 1)];
    double coefficient[MOST_ROWS * TALI_CONSTRAINT_SMALL_MOBILITIES];
    const tali_constraint_wrenches out = {wrench, coefficient};
    if (!tali_constraint_is_small(c)) {
        return tal_state_fail(state, TAL_ERR_CAPACITY,
                              "the grip of unilateral '%s' acts on too many bodies or mobilities",
                              matter->unilaterals.list[i].name);
    }
    const tal_status st = tali_constraint_find_wrenches(matter, state, view, grip, &out);
    if (st != TAL_OK) return st;
    const tali_constraint_const_wrenches row_forces = {wrench, coefficient};
    for (int r = 0; r < tali_constraint_rows(c); ++r) {
        tali_constraint_add_row_forces(matter, c, row_forces, r, scale * d[r], F, f);
    }
    return TAL_OK;
}

// The residual that a unit of friction on element `i` leaves after the inward pass.
static tal_status calc_column(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, const double d[2],
                              const slide_room *room, double e[])
{
    const size_t nu = (size_t)matter->tree.num_u;
    memset(room->F, 0, (size_t)matter->num_bodies * sizeof *room->F);
    memset(room->f, 0, nu * sizeof *room->f);
    const tal_status st = add_drag(matter, state, view, i, 1.0, d, room->F, room->f);
    for (size_t j = 0; j < nu; ++j) {
        room->f[j] = -room->f[j]; // body forces are resisted by the pass already
    }
    if (st == TAL_OK) view->passes->inward(view, room->f, room->F, e, room->open);
    return st;
}

static void add_scaled(int n, double scale, const double x[], double y[])
{
    for (int i = 0; i < n; ++i) {
        y[i] += scale * x[i];
    }
}

// 1 - mu N' r, with the response r to a unit of friction: what is left of the effect of a normal
// force when its friction goes with it.
static double margin_of(const tali_unilateral_press *press, double mu, const double lambda[],
                        const double response[])
{
    const double slope = tali_unilateral_press_slope(press, lambda, response);
    const bool is_reversed = press->is_load && tali_unilateral_pressing(press, lambda) < 0.0;
    return 1.0 - mu * (is_reversed ? -slope : slope);
}

// Where the equations of motion are solved, margins cost nothing more. Not on the way to Dynamics,
// where others ask what constraints would do.
static tal_status keep_margins(const tal_matter *matter, tal_state *state,
                               const tali_unilateral_sliding *it, const double lambda[])
{
    const tal_cache_ix entry = matter->unilaterals.margins;
    if (tal_state_stage(state) < TAL_STAGE_DYNAMICS) return TAL_OK;
    double *margins = tal_cache_upd(matter->system, state, entry);
    if (margins == NULL) return tal_contract_last()->status;
    for (int i = 0; i < matter->unilaterals.count; ++i) {
        margins[i] = 1.0;
    }
    for (int j = 0; j < it->n; ++j) {
        margins[it->sliding[j]] =
            margin_of(&it->press[j], it->mu[j], lambda, it->responses + (ptrdiff_t)j * it->stride);
    }
    return tal_cache_mark_valid(matter->system, state, entry);
}

// Columns and responses of the elements that slide, then their forces, then what these add.
static tal_status slide(const tal_matter *matter, tal_state *state, const tali_tree_view *view,
                        const slide_room *room, double e[], double lambda[])
{
    const size_t nu = (size_t)matter->tree.num_u + 1;
    const size_t max_rows = (size_t)matter->constraints.max_rows;
    const int rows = tali_constraint_num_rows(matter, state);
    const int n = list_sliding(matter, state, room->sliding);
    const double *d = tali_unilateral_directions(matter, state);
    if (n < 0 || d == NULL) return tal_state_error(state)->status;
    tal_status st = TAL_OK;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        double *column = room->columns + (size_t)i * nu;
        st = calc_column(matter, state, view, room->sliding[i], d + 2 * (ptrdiff_t)room->sliding[i],
                         room, column);
        if (st == TAL_OK) {
            st = tali_constraints_respond(matter, state, column,
                                          room->responses + (size_t)i * max_rows);
        }
    }
    tali_unilateral_sliding sigma = room->sigma;
    sigma.n = n;
    sigma.rows = rows;
    sigma.sliding = room->sliding;
    sigma.responses = room->responses;
    sigma.stride = (int)max_rows;
    if (st == TAL_OK) st = tali_unilaterals_solve_sigma(matter, state, view, &sigma, lambda);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        add_scaled(matter->tree.num_u, sigma.sigma[i], room->columns + (size_t)i * nu, e);
    }
    return st == TAL_OK ? keep_margins(matter, state, &sigma, lambda) : st;
}

tal_status tali_unilaterals_slide(const tal_matter *matter, tal_state *state,
                                  const tali_tree_view *view, double e[], double lambda[])
{
    if (matter->unilaterals.num_grips == 0 || !any_slides(matter, state)) return TAL_OK;
    slide_room room;
    const size_t mark = tal_state_scratch_mark(state);
    void *block = tal_state_scratch_take(state, carve_room(matter, &room, NULL));
    if (block == NULL) return TAL_ERR_CAPACITY;
    (void)carve_room(matter, &room, block);
    const tal_status st = slide(matter, state, view, &room, e, lambda);
    tal_state_scratch_release(state, mark);
    return st;
}

// --- how far from a jam ---

// The margin of one element, where the equations of motion did not leave it.
static tal_status find_margin(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, const slide_room *room,
                              double *margin)
{
    const int first = tal_group_start(matter->system, state, matter->constraints.udoterr);
    const double *lambda = tal_state_multipliers(state) + first;
    const double *d = tali_unilateral_directions(matter, state);
    if (d == NULL) return tal_state_error(state)->status;
    double mu = 0.0;
    tal_status st = calc_column(matter, state, view, i, d + 2 * (ptrdiff_t)i, room, room->columns);
    if (st == TAL_OK) st = tali_constraints_respond(matter, state, room->columns, room->responses);
    if (st == TAL_OK) st = tali_unilateral_mu(matter, state, view, i, &mu);
    if (st != TAL_OK) return st;
    const tali_unilateral_press press = tali_unilateral_press_of(matter, state, i);
    *margin = margin_of(&press, mu, lambda, room->responses);
    return TAL_OK;
}

double tal_unilateral_slide_margin(const tal_matter *matter, tal_state *state,
                                   tal_unilateral_ix element)
{
    if (tali_unilateral_at(matter, element, __func__) == NULL) return TALI_NAN;
    if (state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
        return TALI_NAN;
    }
    const tal_cache_ix entry = matter->unilaterals.margins;
    if (tal_cache_is_valid(matter->system, state, entry)) {
        return ((const double *)tal_cache_value(matter->system, state, entry))[element.i];
    }
    if (tal_system_realize(matter->system, state, TAL_STAGE_ACCELERATION) != TAL_OK) {
        return TALI_NAN;
    }
    if (!slides(matter, state, element.i)) return 1.0;
    tali_tree_view view;
    slide_room room;
    double margin = TALI_NAN;
    if (!tali_tree_realize_view(matter, state, TALI_DYNAMICS, &view)) return TALI_NAN;
    const size_t mark = tal_state_scratch_mark(state);
    void *block = tal_state_scratch_take(state, carve_room(matter, &room, NULL));
    if (block == NULL) return TALI_NAN;
    (void)carve_room(matter, &room, block);
    const tal_status st = find_margin(matter, state, &view, element.i, &room, &margin);
    tal_state_scratch_release(state, mark);
    return st == TAL_OK ? margin : TALI_NAN;
}

// --- the forces ---

tal_status tali_unilaterals_add_friction(const tal_matter *matter, tal_state *state,
                                         const double lambda[], tal_spatial_vec F[], double f[])
{
    if (matter->unilaterals.num_grips == 0 || !any_slides(matter, state)) return TAL_OK;
    tali_tree_view view;
    const double *d = tali_unilateral_directions(matter, state);
    if (d == NULL || !tali_tree_realize_view(matter, state, TALI_VELOCITY, &view)) {
        return tal_state_error(state)->status;
    }
    tal_status st = TAL_OK;
    for (int i = 0; i < matter->unilaterals.count && st == TAL_OK; ++i) {
        if (!slides(matter, state, i)) continue;
        double sigma = 0.0;
        st = tali_unilateral_sigma(matter, state, &view, i, lambda, &sigma);
        if (st == TAL_OK) {
            st = add_drag(matter, state, &view, i, sigma, d + 2 * (ptrdiff_t)i, F, f);
        }
    }
    return st;
}
