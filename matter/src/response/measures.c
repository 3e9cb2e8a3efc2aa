// Measures of mechanical quantities.
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"

#include "constraint/constraint_internal.h"
#include "tree/matter_internal.h"

#include <talus/matter/constraint_operators.h>
#include <talus/matter/constraints.h>
#include <talus/matter/measures.h>
#include <talus/matter/response.h>

#include <math.h>

// What a measure is computed from; fields that a kind does not have are zero.
typedef tali_matter_measure_facts quantity;

typedef struct target {
    const tal_matter *matter;
    quantity what;
} target;

// The stages of a position and its derivatives.
static void needs_position(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    tal_measure_needs_stage(needs, order == 0   ? TAL_STAGE_POSITION
                                   : order == 1 ? TAL_STAGE_VELOCITY
                                                : TAL_STAGE_ACCELERATION);
}

static void needs_velocity(const void *self, const tal_system *system, int order,
                           tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    tal_measure_needs_stage(needs, order == 0 ? TAL_STAGE_VELOCITY : TAL_STAGE_ACCELERATION);
}

static void needs_acceleration(const void *self, const tal_system *system, int order,
                               tal_measure_needs *needs)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(needs, TAL_STAGE_ACCELERATION);
}

static tal_status two_derivatives(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = 2;
    return TAL_OK;
}

static tal_status one_derivative(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = 1;
    return TAL_OK;
}

// --- coordinates and speeds ---

static tal_status calc_coordinate(const void *self, const tal_system *system, tal_state *state,
                                  int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    const tal_body_ix body = it->what.bodies[0];
    const int nq = tal_body_nq(it->matter, state, body);
    if (it->what.i >= nq) {
        return tal_state_fail(state, TAL_ERR_BAD_INDEX, "body '%s' has no coordinate %d: it has %d",
                              tal_body_name(it->matter, body), it->what.i, nq);
    }
    const double *q = order == 0   ? tal_state_q(state)
                      : order == 1 ? tal_state_qdot(state)
                                   : tal_state_qdotdot(state);
    value[0] = q[tal_body_q_start(it->matter, state, body) + it->what.i];
    return TAL_OK;
}

static const tal_measure_ops coordinate_ops = {.size = sizeof coordinate_ops,
                                               .name = "coordinate",
                                               .calc = calc_coordinate,
                                               .declare = two_derivatives,
                                               .needs = needs_position};

static tal_status calc_speed(const void *self, const tal_system *system, tal_state *state,
                             int order, int n, double value[])
{
    (void)n;
    const target *it = self;
    const double *u = order == 0 ? tal_state_u(state) : tal_state_udot(state);
    value[0] = u[tal_group_start(system, state, it->matter->u) +
                 tal_body_u_start(it->matter, it->what.bodies[0]) + it->what.i];
    return TAL_OK;
}

static const tal_measure_ops speed_ops = {.size = sizeof speed_ops,
                                          .name = "speed",
                                          .calc = calc_speed,
                                          .declare = one_derivative,
                                          .needs = needs_velocity};

// --- points ---

static tal_status calc_station(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    const tal_body_ix B = it->what.bodies[0], A = it->what.bodies[1];
    const tal_vec3 p_BS = it->what.points[0];
    const tal_vec3 seen = order == 0   ? tal_station_p_AS(it->matter, state, A, B, p_BS)
                          : order == 1 ? tal_station_v_AS(it->matter, state, A, B, p_BS)
                                       : tal_station_a_AS(it->matter, state, A, B, p_BS);
    value[0] = tal_v3_dot(tal_v3_normalize(it->what.points[1]), seen);
    return TAL_OK;
}

static const tal_measure_ops station_ops = {.size = sizeof station_ops,
                                            .name = "station",
                                            .calc = calc_station,
                                            .declare = two_derivatives,
                                            .needs = needs_position};

static tal_status calc_distance(const void *self, const tal_system *system, tal_state *state,
                                int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    const tal_matter *matter = it->matter;
    const tal_body_ix B = it->what.bodies[0], C = it->what.bodies[1];
    const tal_vec3 p_BS = it->what.points[0], p_CT = it->what.points[1];
    value[0] = order == 0   ? tal_station_distance(matter, state, B, p_BS, C, p_CT)
               : order == 1 ? tal_station_distance_rate(matter, state, B, p_BS, C, p_CT)
                            : tal_station_distance_acceleration(matter, state, B, p_BS, C, p_CT);
    return TAL_OK;
}

static const tal_measure_ops distance_ops = {.size = sizeof distance_ops,
                                             .name = "distance",
                                             .calc = calc_distance,
                                             .declare = two_derivatives,
                                             .needs = needs_position};

// --- constraints ---

static tal_status calc_multiplier(const void *self, const tal_system *system, tal_state *state,
                                  int order, int n, double value[])
{
    (void)order;
    (void)n;
    const target *it = self;
    const tal_constraint_rows rows = tal_constraint_rows_of(it->matter, state, it->what.constraint);
    const int i = it->what.i;
    value[0] = 0.0;
    if (rows.mp + rows.mv + rows.ma == 0) return TAL_OK;
    const int row = i < rows.mp             ? rows.p0 + i
                    : i < rows.mp + rows.mv ? rows.v0 + i - rows.mp
                                            : rows.a0 + i - rows.mp - rows.mv;
    const int first = tal_group_start(system, state, it->matter->constraints.udoterr);
    value[0] = tal_state_multipliers(state)[first + row];
    return TAL_OK;
}

static const tal_measure_ops multiplier_ops = {.size = sizeof multiplier_ops,
                                               .name = "multiplier",
                                               .calc = calc_multiplier,
                                               .needs = needs_acceleration};

// A coordinate of a joint that closes a loop, or its rate.
static tal_status calc_loop_coordinate(const void *self, const tal_system *system, tal_state *state,
                                       int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    double q[TALI_CONSTRAINT_MOST_COORDINATES], qdot[TALI_CONSTRAINT_MOST_COORDINATES];
    const tal_status st = tal_constraint_calc_coordinates(it->matter, state, it->what.constraint, q,
                                                          order > 0 ? qdot : NULL);
    if (st == TAL_OK) value[0] = order > 0 ? qdot[it->what.i] : q[it->what.i];
    return st;
}

static const tal_measure_ops loop_coordinate_ops = {.size = sizeof loop_coordinate_ops,
                                                    .name = "loop coordinate",
                                                    .calc = calc_loop_coordinate,
                                                    .declare = one_derivative,
                                                    .needs = needs_position};

// --- unilateral elements ---

static tal_status declare_unilateral(void *self, tal_system *system, tal_measure_site *site)
{
    (void)system;
    const target *it = self;
    site->num_derivatives = it->what.quantity == TAL_UNILATERAL_GAP     ? 2
                            : it->what.quantity == TAL_UNILATERAL_SPEED ? 1
                                                                        : 0;
    return TAL_OK;
}

static void needs_unilateral(const void *self, const tal_system *system, int order,
                             tal_measure_needs *needs)
{
    const target *it = self;
    switch (it->what.quantity) {
    case TAL_UNILATERAL_GAP:
        needs_position(self, system, order, needs);
        return;
    case TAL_UNILATERAL_SPEED:
        needs_velocity(self, system, order, needs);
        return;
    case TAL_UNILATERAL_FORCE:
    case TAL_UNILATERAL_FRICTION:
        tal_measure_needs_stage(needs, TAL_STAGE_ACCELERATION);
        return;
    case TAL_UNILATERAL_IMPULSE:
        tal_measure_needs_stage(needs, TAL_STAGE_REPORT);
        return;
    case TAL_UNILATERAL_MODE:
        tal_measure_needs_stage(needs, TAL_STAGE_INSTANCE);
        return;
    }
}

// The gap, its rate or the rate of that.
static double motion_of_gap(const target *it, tal_state *state, int derivative)
{
    const tal_unilateral_ix element = it->what.element;
    return derivative == 0   ? tal_unilateral_gap(it->matter, state, element)
           : derivative == 1 ? tal_unilateral_speed(it->matter, state, element)
                             : tal_unilateral_acceleration(it->matter, state, element);
}

static double force_on(const target *it, tal_state *state)
{
    const tal_unilateral_force force = tal_unilateral_force_of(it->matter, state, it->what.element);
    return it->what.quantity == TAL_UNILATERAL_FORCE ? force.normal
                                                     : hypot(force.friction[0], force.friction[1]);
}

// A quantity of an element, or a derivative of its gap.
static tal_status calc_unilateral(const void *self, const tal_system *system, tal_state *state,
                                  int order, int n, double value[])
{
    (void)system;
    (void)n;
    const target *it = self;
    const tal_unilateral_ix element = it->what.element;
    switch (it->what.quantity) {
    case TAL_UNILATERAL_GAP:
        value[0] = motion_of_gap(it, state, order);
        break;
    case TAL_UNILATERAL_SPEED:
        value[0] = motion_of_gap(it, state, order + 1);
        break;
    case TAL_UNILATERAL_FORCE:
    case TAL_UNILATERAL_FRICTION:
        value[0] = force_on(it, state);
        break;
    case TAL_UNILATERAL_IMPULSE: {
        const tal_unilateral_impact last = tal_unilateral_impact_of(it->matter, state, element);
        value[0] = last.count > 0 ? last.normal : 0.0;
        break;
    }
    case TAL_UNILATERAL_MODE:
        value[0] = (double)tal_unilateral_mode_of(it->matter, state, element);
        break;
    }
    return isnan(value[0]) ? tal_state_error(state)->status : TAL_OK;
}

static const tal_measure_ops unilateral_ops = {.size = sizeof unilateral_ops,
                                               .name = "unilateral",
                                               .calc = calc_unilateral,
                                               .declare = declare_unilateral,
                                               .needs = needs_unilateral};

// --- energy ---

static tal_status calc_kinetic_energy(const void *self, const tal_system *system, tal_state *state,
                                      int order, int n, double value[])
{
    (void)system;
    (void)order;
    (void)n;
    value[0] = tal_matter_kinetic_energy(((const target *)self)->matter, state);
    return TAL_OK;
}

static const tal_measure_ops kinetic_energy_ops = {.size = sizeof kinetic_energy_ops,
                                                   .name = "kinetic energy",
                                                   .calc = calc_kinetic_energy,
                                                   .needs = needs_velocity};

// --- adding ---

static tal_measure_ix refuse_measure(const tal_matter *matter, const char *name, const char *why,
                                     int i)
{
    (void)tal_system_fail(matter->system, TAL_ERR_BAD_INDEX, "measure '%s': there is no %s %d",
                          name != NULL ? name : "(no name)", why, i);
    return (tal_measure_ix){-1};
}

static tal_measure_ix add_measure(tal_matter *matter, const char *name, const tal_measure_ops *ops,
                                  const quantity *what)
{
    for (int i = 0; i < 2; ++i) {
        const int b = what->bodies[i].i;
        if (b < 0 || b >= matter->num_bodies) {
            return refuse_measure(matter, name, "body", b);
        }
        if (tal_v3_is_finite(what->points[i])) continue;
        (void)tal_system_fail(matter->system, TAL_ERR_NOT_FINITE, "%s '%s': (%g, %g, %g)",
                              ops->name, name != NULL ? name : "(no name)", what->points[i].x,
                              what->points[i].y, what->points[i].z);
        return (tal_measure_ix){-1};
    }
    const target self = {matter, *what};
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = 1;
    def.self = &self;
    def.self_size = sizeof self;
    return tal_system_add_measure(matter->system, matter->me, ops, &def);
}

static const tal_measure_ix none = {-1};

// A quantity of one mobility.
static tal_measure_ix add_on(tal_matter *matter, const char *name, const tal_measure_ops *ops,
                             tal_mobility at, bool speed)
{
    const int b = at.body.i;
    if (b < 0 || b >= matter->num_bodies) {
        return refuse_measure(matter, name, "body", b);
    }
    const tal_mobilizer_ops *mobilizer = &matter->bodies[b].ops;
    const int nq = mobilizer->nq > mobilizer->nq_angles ? mobilizer->nq : mobilizer->nq_angles;
    const int most = speed ? mobilizer->nu : nq;
    if (b == 0 || at.i < 0 || at.i >= most) {
        return refuse_measure(matter, name, ops->name, at.i);
    }
    const quantity what = {.bodies = {at.body}, .i = at.i};
    return add_measure(matter, name, ops, &what);
}

tal_measure_ix tal_measure_add_coordinate(tal_matter *matter, const char *name, tal_mobility at)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    return add_on(matter, name, &coordinate_ops, at, false);
}

tal_measure_ix tal_measure_add_speed(tal_matter *matter, const char *name, tal_mobility at)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    return add_on(matter, name, &speed_ops, at, true);
}

tal_measure_ix tal_measure_add_station(tal_matter *matter, const char *name, tal_body_ix B,
                                       tal_vec3 p_BS, tal_body_ix A, tal_vec3 direction)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    if (tal_v3_max_abs(direction) == 0.0) {
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_VALUE,
                              "station '%s': its direction is zero",
                              name != NULL ? name : "(no name)");
        return none;
    }
    const quantity what = {.bodies = {B, A}, .points = {p_BS, direction}};
    return add_measure(matter, name, &station_ops, &what);
}

tal_measure_ix tal_measure_add_distance(tal_matter *matter, const char *name, tal_body_ix B,
                                        tal_vec3 p_BS, tal_body_ix C, tal_vec3 p_CT)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    const quantity what = {.bodies = {B, C}, .points = {p_BS, p_CT}};
    return add_measure(matter, name, &distance_ops, &what);
}

tal_measure_ix tal_measure_add_multiplier(tal_matter *matter, const char *name,
                                          tal_constraint_ix constraint, int row)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    if (constraint.i < 0 || constraint.i >= matter->constraints.count) {
        return refuse_measure(matter, name, "constraint", constraint.i);
    }
    const tal_constraint_ops *table = &matter->constraints.list[constraint.i].ops;
    if (row < 0 || row >= table->mp + table->mv + table->ma) {
        return refuse_measure(matter, name, "equation", row);
    }
    const quantity what = {.constraint = constraint, .i = row};
    return add_measure(matter, name, &multiplier_ops, &what);
}

tal_measure_ix tal_measure_add_loop_coordinate(tal_matter *matter, const char *name,
                                               tal_constraint_ix constraint, int i)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    if (constraint.i < 0 || constraint.i >= matter->constraints.count) {
        return refuse_measure(matter, name, "constraint", constraint.i);
    }
    if (i < 0 || i >= tal_constraint_num_coordinates(matter, constraint)) {
        (void)tal_system_fail(matter->system, TAL_ERR_BAD_INDEX,
                              "measure '%s': constraint '%s' has no coordinate %d: a joint that "
                              "closes a loop has coordinates, from 0 on",
                              name != NULL ? name : "(no name)",
                              matter->constraints.list[constraint.i].name, i);
        return none;
    }
    const quantity what = {.constraint = constraint, .i = i};
    return add_measure(matter, name, &loop_coordinate_ops, &what);
}

tal_measure_ix tal_measure_add_unilateral(tal_matter *matter, const char *name,
                                          tal_unilateral_ix element, tal_unilateral_quantity which)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    if (element.i < 0 || element.i >= matter->unilaterals.count) {
        return refuse_measure(matter, name, "unilateral", element.i);
    }
    if ((int)which < 0 || which > TAL_UNILATERAL_MODE) {
        return refuse_measure(matter, name, "quantity", (int)which);
    }
    const tal_unilateral_level level = tal_unilateral_level_of(matter, element);
    const bool is_there = which == TAL_UNILATERAL_GAP     ? level == TAL_UNILATERAL_POSITION
                          : which == TAL_UNILATERAL_SPEED ? level != TAL_UNILATERAL_ACCELERATION
                                                          : true;
    if (!is_there) {
        (void)tal_system_fail(
            matter->system, TAL_ERR_BAD_VALUE, "measure '%s': unilateral '%s' has no %s",
            name != NULL ? name : "(no name)", tal_unilateral_name(matter, element),
            which == TAL_UNILATERAL_GAP ? "gap" : "normal");
        return none;
    }
    const quantity what = {.element = element, .quantity = which};
    return add_measure(matter, name, &unilateral_ops, &what);
}

tal_measure_ix tal_measure_add_kinetic_energy(tal_matter *matter, const char *name)
{
    if (tali_matter_can_build(matter, __func__) != TAL_OK) return none;
    const quantity what = {.i = 0};
    return add_measure(matter, name, &kinetic_energy_ops, &what);
}

// --- facts ---

bool tali_matter_measure_facts_of(const tal_system *system, tal_measure_ix measure,
                                  tali_matter_measure_facts *facts)
{
    const tal_measure_ops *const kinds[] = {
        &coordinate_ops, &speed_ops,          &station_ops,    &distance_ops,
        &multiplier_ops, &kinetic_energy_ops, &unilateral_ops, &loop_coordinate_ops};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        const target *it = tali_measure_self_as(system, measure, kinds[i]);
        if (it == NULL) continue;
        *facts = it->what;
        return true;
    }
    return false;
}
