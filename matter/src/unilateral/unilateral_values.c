// Gaps, speeds, slip and forces of unilateral elements, on or off.
#include "unilateral_watch_internal.h"

#include "unilateral/unilateral_internal.h"

#include <math.h>

/// What a question about an element's normal or grip needs.
typedef struct question {
    const tal_matter *matter;
    tal_state *state;
    const tali_unilateral *it;
    int part;       ///< constraint
    tal_status why; ///< there is no answer
    tali_tree_view view;
    tali_constraint_room room;
} question;

static tal_status explain(const question *ask, tal_status st)
{
    if (st == TAL_OK || tal_state_error(ask->state)->status == st) return st;
    return tal_state_fail(ask->state, st, "unilateral '%s' failed at t = %g (%s)", ask->it->name,
                          tal_state_t(ask->state), tal_status_text(st));
}

// On the way to a stage (a witness, a measure) what comes before is there already. A State of
// another System is left to realizing to report.
static bool reach(const tal_matter *matter, tal_state *state, tal_stage stage)
{
    const bool is_own = state != NULL && tal_state_structure_hash(state) ==
                                             tal_system_structure_hash(matter->system);
    const bool is_on_the_way =
        is_own && (tali_state_goal(state) != TAL_STAGE_EMPTY || tal_state_stage(state) >= stage);
    return is_on_the_way || tal_system_realize(matter->system, state, stage) == TAL_OK;
}

bool tali_unilateral_view(const tal_matter *matter, tal_state *state, tal_stage stage,
                          tali_tree_view *view)
{
    if (!reach(matter, state, stage)) return false;
    const tali_tree_what what = stage == TAL_STAGE_POSITION   ? TALI_POSITION
                                : stage == TAL_STAGE_VELOCITY ? TALI_VELOCITY
                                                              : TALI_A0;
    return tali_tree_realize_view(matter, state, what, view);
}

// Realize a State as far as an answer needs; false when there is none.
static bool begin(question *ask, const tal_matter *matter, tal_state *state,
                  tal_unilateral_ix element, tal_stage stage, const char *where)
{
    ask->it = tali_unilateral_at(matter, element, where);
    ask->why = ask->it != NULL ? TAL_OK : tal_contract_last()->status;
    if (ask->it == NULL) return false;
    ask->matter = matter;
    ask->state = state;
    ask->part = ask->it->normal;
    if (tali_unilateral_view(matter, state, stage, &ask->view)) return true;
    ask->why = state != NULL && tal_state_error(state)->status != TAL_OK
                   ? tal_state_error(state)->status
                   : tal_contract_last()->status;
    return false;
}

// --- the normal ---

// The row of the normal at one level, by one of the functions of its table.
static double normal_row(question *ask, const tal_spatial_vec A_GM[], const double udot[],
                         tal_status (*calc)(const void *, const tal_constraint_arg *, double[]))
{
    const tali_constraint *c = &ask->matter->constraints.list[ask->part];
    const tal_constraint_arg arg = tali_constraint_arg_of(ask->matter, ask->state, &ask->view,
                                                          ask->part, A_GM, udot, &ask->room);
    double row = TALI_NAN;
    const tal_status st = explain(ask, calc(c->self, &arg, &row));
    return st == TAL_OK ? ask->it->sign * row : TALI_NAN;
}

double tal_unilateral_gap(const tal_matter *matter, tal_state *state, tal_unilateral_ix element)
{
    question ask;
    if (!begin(&ask, matter, state, element, TAL_STAGE_POSITION, __func__)) return TALI_NAN;
    double quick = TALI_NAN;
    if (tali_unilateral_quick_gap(matter, state, &ask.view, element.i, false, &quick)) return quick;
    if (ask.part < 0 || ask.it->is_ratchet) return TALI_NAN;
    return normal_row(&ask, NULL, NULL, matter->constraints.list[ask.part].ops.calc_p);
}

double tal_unilateral_speed(const tal_matter *matter, tal_state *state, tal_unilateral_ix element)
{
    question ask;
    if (!begin(&ask, matter, state, element, TAL_STAGE_VELOCITY, __func__)) return TALI_NAN;
    double quick = TALI_NAN;
    if (tali_unilateral_quick_gap(matter, state, &ask.view, element.i, true, &quick)) return quick;
    if (ask.part < 0) return TALI_NAN;
    return normal_row(&ask, NULL, NULL, matter->constraints.list[ask.part].ops.calc_v);
}

double tal_unilateral_acceleration(const tal_matter *matter, tal_state *state,
                                   tal_unilateral_ix element)
{
    question ask;
    if (!begin(&ask, matter, state, element, TAL_STAGE_ACCELERATION, __func__)) return TALI_NAN;
    if (ask.part < 0) return TALI_NAN;
    const tal_spatial_vec *A_GM = tal_cache_value(matter->system, state, matter->acceleration);
    const double *udot = tal_state_udot(state) + tal_group_start(matter->system, state, matter->u);
    return normal_row(&ask, A_GM, udot, matter->constraints.list[ask.part].ops.calc_a);
}

// --- the grip ---

tal_status tali_unilateral_slip(const tal_matter *matter, tal_state *state,
                                const tali_tree_view *view, int i, double slip[2])
{
    const tali_unilateral *it = &matter->unilaterals.list[i];
    slip[0] = slip[1] = 0.0;
    if (it->grip < 0) return TAL_OK;
    const tali_constraint *c = &matter->constraints.list[it->grip];
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, view, it->grip, NULL, NULL, &room);
    const tal_status st = c->ops.calc_v(c->self, &arg, slip);
    if (st == TAL_OK && isfinite(slip[0]) && isfinite(slip[1])) return TAL_OK;
    return tal_state_fail(state, st != TAL_OK ? st : TAL_ERR_NOT_FINITE,
                          "unilateral '%s': its slip is (%g, %g) at t = %g", it->name, slip[0],
                          slip[1], tal_state_t(state));
}

tal_status tal_unilateral_calc_slip(const tal_matter *matter, tal_state *state,
                                    tal_unilateral_ix element, double slip[])
{
    question ask;
    if (slip == NULL) return TALI_BREACH(TAL_ERR_NULL, "'slip' is NULL");
    slip[0] = slip[1] = TALI_NAN;
    if (!begin(&ask, matter, state, element, TAL_STAGE_VELOCITY, __func__)) return ask.why;
    return tali_unilateral_slip(matter, state, &ask.view, element.i, slip);
}

const double *tali_unilateral_directions(const tal_matter *matter, tal_state *state)
{
    const tal_cache_ix next = tal_var_update(matter->system, matter->unilaterals.directions);
    return tal_cache_realize(matter->system, state, next);
}

double tal_unilateral_slip_speed(const tal_matter *matter, tal_state *state,
                                 tal_unilateral_ix element)
{
    question ask;
    if (!begin(&ask, matter, state, element, TAL_STAGE_VELOCITY, __func__)) return TALI_NAN;
    if (tali_unilateral_mode_at(matter, state, element.i) != TAL_UNILATERAL_SLIDE) return 0.0;
    double slip[2];
    const double *directions = tali_unilateral_directions(matter, state);
    if (directions == NULL ||
        tali_unilateral_slip(matter, state, &ask.view, element.i, slip) != TAL_OK) {
        return TALI_NAN;
    }
    const double *d = directions + 2 * element.i;
    return slip[0] * d[0] + slip[1] * d[1];
}

// --- forces ---

// Where row `r` of a constraint is among all; -1 while the constraint is disabled.
static int slot_of(const tal_matter *matter, const tal_state *state, int constraint, int r)
{
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    if (map.row0[constraint] < 0) return -1;
    return tali_constraint_row_slot(&map, &matter->constraints.list[constraint], constraint, r);
}

const tal_unilateral_material *tali_unilateral_material_at(const tal_matter *matter,
                                                           const tal_state *state, int i)
{
    const tal_unilateral_material *all =
        tali_cache_var_in(matter->system, state, matter->unilaterals.materials);
    return &all[i];
}

tal_status tali_unilateral_mu(const tal_matter *matter, tal_state *state,
                              const tali_tree_view *view, int i, double *mu)
{
    const tal_unilateral_material *m = tali_unilateral_material_at(matter, state, i);
    double slip[2];
    const tal_status st = tali_unilateral_slip(matter, state, view, i, slip);
    *mu = m->sliding_mu + m->viscous_mu * hypot(slip[0], slip[1]);
    return st;
}

tal_status tali_unilateral_sigma(const tal_matter *matter, tal_state *state,
                                 const tali_tree_view *view, int i, const double lambda[],
                                 double *sigma)
{
    double mu = 0.0;
    const tal_status st = tali_unilateral_mu(matter, state, view, i, &mu);
    *sigma = tali_unilateral_material_at(matter, state, i)->limit +
             mu * tali_unilateral_normal_force(matter, state, i, lambda);
    return st;
}

// Of an element that slides friction follows from its normal force.
static bool add_sliding_friction(const tal_matter *matter, tal_state *state, int i,
                                 const double lambda[], double friction[2])
{
    tali_tree_view view;
    double sigma = TALI_NAN;
    const double *directions = tali_unilateral_directions(matter, state);
    if (directions == NULL || !tali_tree_realize_view(matter, state, TALI_A0, &view) ||
        tali_unilateral_sigma(matter, state, &view, i, lambda, &sigma) != TAL_OK) {
        return false;
    }
    for (int r = 0; r < matter->unilaterals.list[i].num_slips; ++r) {
        friction[r] = -sigma * directions[2 * i + r];
    }
    return true;
}

tal_unilateral_force tal_unilateral_force_of(const tal_matter *matter, tal_state *state,
                                             tal_unilateral_ix element)
{
    const tal_unilateral_force nan = {TALI_NAN, {TALI_NAN, TALI_NAN}};
    const tali_unilateral *it = tali_unilateral_at(matter, element, __func__);
    if (it == NULL || !reach(matter, state, TAL_STAGE_ACCELERATION)) return nan;
    const int first = tal_group_start(matter->system, state, matter->constraints.udoterr);
    const double *lambda = tal_state_multipliers(state) + first;
    tal_unilateral_force force = {tali_unilateral_normal_force(matter, state, element.i, lambda),
                                  {0.0, 0.0}};
    const tal_unilateral_mode mode = tali_unilateral_mode_at(matter, state, element.i);
    if (mode == TAL_UNILATERAL_STICK) { // the rows of a grip are of one level
        const double *own = lambda + slot_of(matter, state, it->grip, 0);
        for (int r = 0; r < it->num_slips; ++r) {
            force.friction[r] = -own[r];
        }
    }
    if (mode == TAL_UNILATERAL_SLIDE &&
        !add_sliding_friction(matter, state, element.i, lambda, force.friction)) {
        return nan;
    }
    return force;
}

// --- what is watched of all elements ---

// -|pi_T| of an element that sticks.
static double less_grip(const tali_unilateral *it, const double own[])
{
    if (it->num_slips == 1) return -fabs(own[0]);
    return -sqrt(own[0] * own[0] + own[1] * own[1]);
}

bool tali_matter_watch_unilaterals(const tal_matter *matter, tal_state *state, double normal[],
                                   double left[])
{
    const tali_unilaterals *all = &matter->unilaterals;
    const tal_system *system = matter->system;
    if (!reach(matter, state, TAL_STAGE_ACCELERATION)) return false;
    const double *lambda =
        tal_state_multipliers(state) + tal_group_start(system, state, matter->constraints.udoterr);
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    const tali_constraint *list = matter->constraints.list;
    const uint8_t *parts = tali_cache_var_in(system, state, matter->constraints.enabled);
    const uint8_t *takes_part = tali_cache_var_in(system, state, all->enabled);
    const tal_unilateral_material *materials = tali_cache_var_in(system, state, all->materials);
    for (int i = 0; i < all->count; ++i) {
        const tali_unilateral_quick *quick = &all->quick[i];
        normal[i] = left[i] = (double)INFINITY;
        if (quick->kind != TALI_UNILATERAL_NO_GAP && !parts[quick->normal]) continue; // open
        const tali_unilateral *it = &all->list[i];
        const tal_unilateral_mode mode = tali_unilateral_mode_by(it, parts, takes_part[i] != 0);
        if (mode == TAL_UNILATERAL_OFF) continue;
        double N = 0.0;
        if (it->normal >= 0) {
            const int slot = tali_constraint_row_slot(&map, &list[it->normal], it->normal, 0);
            N = normal[i] = -it->sign * lambda[slot];
        }
        if (mode != TAL_UNILATERAL_STICK || isinf(materials[i].static_mu)) continue;
        if (it->normal < 0) N = tali_unilateral_normal_force(matter, state, i, lambda);
        const int grip = tali_constraint_row_slot(&map, &list[it->grip], it->grip, 0);
        left[i] = materials[i].limit + materials[i].static_mu * N + less_grip(it, lambda + grip);
    }
    return true;
}
