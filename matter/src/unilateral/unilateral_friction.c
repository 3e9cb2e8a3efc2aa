// Sliding friction in the equations of motion: forces in proportion to multipliers.
#include "kernel/passes_internal.h"
#include "unilateral/unilateral_internal.h"

#include <talus/common/linalg.h>

#include <float.h>
#include <math.h>

/// Room for the elements that slide, from a State's scratch memory.
typedef struct slide_room {
    int *sliding;      ///< [most] which elements
    double *columns;   ///< [most][num_u] e of a unit of friction of each
    double *responses; ///< [most][max_rows] multipliers that it adds
    double *K;         ///< [most][most]
    double *sigma;     ///< [most]
    double *f;         ///< [num_u]
    tal_spatial_vec *F, *open;
    double *work;
    int *iwork;
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
        {&room->K, k * k * d},
        {&room->sigma, k * d},
        {&room->f, nu * d},
        {&room->F, (size_t)matter->num_bodies * sizeof *room->F},
        {&room->open, ((size_t)matter->tree.num_slots + 1) * sizeof *room->open},
        {&room->work, tal_cod_work_size(most, most) * d},
        {&room->iwork, tal_cod_iwork_size(most, most) * sizeof(int)},
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

// --- sigma ---

// (1 - diag(mu) K) sigma = limit + mu pi_N,0
static tal_status fill_equations(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, int n, const slide_room *room,
                                 const double lambda[])
{
    const size_t rows = (size_t)matter->constraints.max_rows;
    for (int j = 0; j < n; ++j) {
        const int element = room->sliding[j];
        double mu = 0.0;
        const tal_status st = tali_unilateral_mu(matter, state, view, element, &mu);
        if (st != TAL_OK) return st;
        room->sigma[j] = tali_unilateral_material_at(matter, state, element)->limit +
                         mu * tali_unilateral_normal_force(matter, state, element, lambda);
        for (int i = 0; i < n; ++i) {
            const double K_ji = tali_unilateral_normal_force(matter, state, element,
                                                             room->responses + (size_t)i * rows);
            room->K[j + i * n] = (i == j ? 1.0 : 0.0) - mu * K_ji;
        }
    }
    return TAL_OK;
}

static tal_status solve_sigma(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int n, const slide_room *room,
                              const double lambda[])
{
    tal_status st = fill_equations(matter, state, view, n, room, lambda);
    if (st != TAL_OK) return st;
    tal_cod cod;
    tal_error why = {TAL_OK, "", ""};
    const tal_matrix K = tal_matrix_view(room->K, n, n), x = tal_matrix_view(room->sigma, n, 1);
    st = tal_cod_factor(&cod, K, n * DBL_EPSILON, room->work, room->iwork, &why);
    if (st == TAL_OK && cod.rank < n) {
        return tal_state_fail(state, TAL_ERR_SINGULAR,
                              "sliding friction has no definite force at t = %g: the %d elements "
                              "that slide are jammed, '%s' among them",
                              tal_state_t(state), n,
                              matter->unilaterals.list[room->sliding[0]].name);
    }
    if (st == TAL_OK) st = tal_cod_solve(&cod, x, x, &why);
    return st == TAL_OK ? st : tal_state_fail(state, st, "sliding friction: %s", why.message);
}

static void add_scaled(int n, double scale, const double x[], double y[])
{
    for (int i = 0; i < n; ++i) {
        y[i] += scale * x[i];
    }
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
    if (st == TAL_OK) st = solve_sigma(matter, state, view, n, room, lambda);
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        add_scaled(matter->tree.num_u, room->sigma[i], room->columns + (size_t)i * nu, e);
        add_scaled(rows, room->sigma[i], room->responses + (size_t)i * max_rows, lambda);
    }
    return st;
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
