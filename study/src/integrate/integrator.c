// Integrators: creation, workspace, what can be asked.
#include "solve_internal.h"

#include "integrate/integrator_internal.h"
#include "problem/study_internal.h"

#include <float.h>
#include <math.h>

// --- creation ---

tal_integrator_def tal_integrator_def_default(void)
{
    return (tal_integrator_def){
        .method = TAL_METHOD_RUNGE_KUTTA, .tableau = tal_rk_merson(), .accuracy = 1e-3};
}

static const tali_integrator_family *family_of(const tal_integrator_def *def)
{
    switch (def->method) {
    case TAL_METHOD_RUNGE_KUTTA:
    case TAL_METHOD_SEMI_EXPLICIT_EULER:
    case TAL_METHOD_VERLET:
        return tali_integrator_one_step_family();
    case TAL_METHOD_CVODE_BDF:
    case TAL_METHOD_CVODE_ADAMS:
        return tali_sun_cvode_family();
    case TAL_METHOD_IDA:
        return tali_sun_ida_family();
    case TAL_METHOD_ARKODE_EXPLICIT:
    case TAL_METHOD_ARKODE_DIRK:
        return tali_sun_arkode_family(def->method == TAL_METHOD_ARKODE_DIRK);
    }
    return NULL;
}

static tal_status check_method(const tal_integrator_def *def, tal_error *err)
{
    if (family_of(def) == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "method %d does not exist", (int)def->method);
    }
    if (def->linear_solver != TAL_LINEAR_DENSE && def->linear_solver != TAL_LINEAR_GMRES) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "linear solver %d does not exist",
                         (int)def->linear_solver);
    }
    if (def->order < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "order is %d: it must not be negative",
                         def->order);
    }
    if (def->method != TAL_METHOD_RUNGE_KUTTA) return TAL_OK;
    const tal_status st = tal_rk_check(def->tableau, err);
    if (st == TAL_OK && def->fixed_step == 0.0 && def->tableau->b_hat == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "tableau '%s' has no error estimate: give a fixed_step",
                         def->tableau->name);
    }
    return st;
}

// Are all numbers of an integrator valid, and consistent with its method?
static tal_status check_def(const tal_integrator_def *def, tal_error *err)
{
    tal_status st = check_method(def, err);
    if (st == TAL_OK) st = tali_problem_check_def(def, err);
    if (st == TAL_OK) st = tali_problem_check_positive(def->fixed_step, true, "fixed_step", err);
    if (st == TAL_OK) {
        st = tali_problem_check_positive(def->initial_step, true, "initial_step", err);
    }
    if (st == TAL_OK) st = tali_problem_check_positive(def->min_step, true, "min_step", err);
    if (st == TAL_OK) st = tali_problem_check_positive(def->max_step, true, "max_step", err);
    if (st == TAL_OK) st = tali_problem_check_positive(def->baumgarte, true, "baumgarte", err);
    if (st == TAL_OK) {
        st = tali_problem_check_positive(def->baumgarte_beta, true, "baumgarte_beta", err);
    }
    if (st == TAL_OK && def->baumgarte_beta > 0.0 && def->baumgarte == 0.0) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "baumgarte_beta is %g, but baumgarte is 0: set both, or neither",
                       def->baumgarte_beta);
    }
    if (st != TAL_OK) return st;
    if (def->max_steps < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_steps is %ld: it must not be negative",
                         def->max_steps);
    }
    if (def->max_step > 0.0 && def->max_step < def->min_step) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "max_step %g is below min_step %g", def->max_step,
                         def->min_step);
    }
    return TAL_OK;
}

// Colliders have no part in the equations: bodies would pass through each other, and no error would
// say so.
static tal_status check_colliders(const tal_system *system, const tal_integrator_def *def,
                                  tal_error *err)
{
    const tal_matter *matter = tal_system_matter(system);
    const int num = matter != NULL ? tal_matter_num_colliders(matter) : 0;
    if (num <= 0 || def->ignores_colliders || tal_matter_has_collider_elements(matter)) {
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "System '%s' has %d colliders, '%s' among them, which an integrator does not "
                     "know: call tal_matter_add_collider_elements(), use a tal_contact_stepper, or "
                     "set ignores_colliders",
                     tal_system_name(system), num, tal_collider_name(matter, (tal_collider_ix){0}));
}

static tali_integrator_method method_of(const tal_integrator_def *def)
{
    switch (def->method) {
    case TAL_METHOD_SEMI_EXPLICIT_EULER:
        return tali_integrator_semi_explicit_euler();
    case TAL_METHOD_VERLET:
        return tali_integrator_verlet();
    case TAL_METHOD_RUNGE_KUTTA:
        return tali_integrator_runge_kutta(def->tableau);
    case TAL_METHOD_ARKODE_EXPLICIT: // stages for steps aside
        return (tali_integrator_method){.num_stages = tali_sun_arkode_num_stages(def)};
    default:
        return (tali_integrator_method){.num_stages = 0};
    }
}

// What the error of a step is held to, so that a run of some hundred time scales loses about the
// accuracy a, energy above all (doc/validation.md).
//
// Errors of steps add up: a method of order p that is held to e in each step takes steps h ~
// e^(1/(p+1)), so that a run loses e/h ~ e^(p/(p+1)). Backward differentiation formulas, whose
// order goes up to 5, damp every step the same way and show this in full: they lose in proportion
// to a when held to k a^(6/5). CVODE and IDA differ in k because they differ in what they estimate.
// Errors of other methods have changing signs, and a quarter of a does.
static double accuracy_of_steps(const tal_integrator_def *def)
{
    const double quarter = 0.25 * def->accuracy;
    switch (def->method) {
    case TAL_METHOD_CVODE_BDF:
        return fmin(quarter, 0.03 * pow(def->accuracy, 1.2));
    case TAL_METHOD_IDA:
        return fmin(quarter, 0.1 * pow(def->accuracy, 1.2));
    default:
        return quarter;
    }
}

// Explicit methods of order 5 and more take such long steps in closed loops that what their
// estimates miss adds up to ten times as much, and twice that with ARKODE's of orders 6 and 8.
static double share_in_loops(const tal_integrator_def *def)
{
    const bool is_rk = def->method == TAL_METHOD_RUNGE_KUTTA;
    if (is_rk) return def->tableau->order >= 5 ? 0.1 : 1.0;
    if (def->method != TAL_METHOD_ARKODE_EXPLICIT) return 1.0;
    return def->order > 5 ? 0.05 : def->order == 0 || def->order == 5 ? 0.1 : 1.0;
}

void tali_integrator_hold_steps(tal_integrator *integ, const tal_state *state)
{
    const bool is_loop = tal_state_pool_size(state, TAL_POOL_UERR) > 0;
    const double usual = accuracy_of_steps(&integ->def);
    const double least = fmin(usual, 1e-13); // shorter steps would only add up round-off
    integ->step_accuracy = is_loop ? fmax(share_in_loops(&integ->def) * usual, least) : usual;
}

static void cut_dense(tal_integrator *integ, double *next)
{
    tali_integrator_dense *dense = &integ->dense;
    for (int k = 0; k < TALI_MOST_TERMS; ++k, next += 2 * integ->stride) {
        dense->terms[k] = next;
        dense->rates[k] = next + integ->stride;
    }
    dense->y = next;
    dense->stages = next + integ->stride;
}

// Cuts the workspace out of one block.
static tal_status take_workspace(tal_integrator *integ, tal_error *err)
{
    const tal_system *system = integ->problem.system;
    const int ny = tal_system_pool_capacity(system, TAL_POOL_Q) +
                   tal_system_pool_capacity(system, TAL_POOL_U) +
                   tal_system_pool_capacity(system, TAL_POOL_Z);
    const size_t one = tali_align((size_t)ny * sizeof(double));
    integ->stride = one / sizeof(double);
    const size_t stages = (size_t)integ->method.num_stages;
    const size_t num_dense = stages > 0 ? 2 * TALI_MOST_TERMS + 1 + stages : 0;
    double *dense;
    const tali_piece pieces[] = {
        {&integ->problem.y0, one},
        {&integ->y1, one},
        {&integ->ydot1, one},
        {&integ->problem.error, one},
        {&integ->problem.weighed, one},
        {&integ->zero, one},
        {&integ->k, stages * one},
        {&integ->problem.stabilizer,
         tali_problem_baumgarte_size(&integ->problem) * sizeof *integ->problem.stabilizer},
        {&integ->repeats,
         (size_t)tal_system_pool_capacity(system, TAL_POOL_UERR) * sizeof *integ->repeats},
        {&dense, num_dense * one}, // the last: it is not saved
    };
    const size_t n = sizeof pieces / sizeof pieces[0];
    integ->kept_bytes = tali_pieces_place(pieces, n - 1, NULL);
    integ->block = tali_alloc_pieces(&integ->problem.allocator, pieces, n, &integ->block_bytes);
    if (integ->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator's workspace");
    }
    if (num_dense > 0) cut_dense(integ, dense);
    return TAL_OK;
}

tal_status tal_integrator_create(const tal_system *system, const tal_integrator_def *def,
                                 tal_integrator **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    const tal_integrator_def chosen = def != NULL ? *def : tal_integrator_def_default();
    tal_status st = tali_problem_check_system(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st == TAL_OK) st = check_colliders(system, &chosen, err);
    if (st != TAL_OK) return st;

    const tal_allocator allocator = tal_system_allocator(system);
    tal_integrator *integ = tali_alloc(&allocator, sizeof *integ);
    if (integ == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator");
    integ->problem = tali_problem_of(system, &chosen);
    integ->problem.realizations = &integ->stats.realizations;
    integ->def = chosen;
    integ->passage = tali_integrator_widest_passage(NULL, 0);
    tal_integrator_reset(integ);
    integ->family = family_of(&chosen);
    integ->method = method_of(&chosen);
    st = take_workspace(integ, err);
    if (st == TAL_OK && integ->method.prepare != NULL) integ->method.prepare(integ);
    if (st == TAL_OK && integ->family->create != NULL) st = integ->family->create(integ, err);
    if (st != TAL_OK) {
        tali_free(&allocator, integ->block, integ->block_bytes);
        tali_free(&allocator, integ, sizeof *integ);
        return st;
    }
    *out = integ;
    return TAL_OK;
}

void tal_integrator_destroy(tal_integrator *integ)
{
    if (integ == NULL) return;
    const tal_allocator allocator = integ->problem.allocator;
    if (integ->family->destroy != NULL) integ->family->destroy(integ);
    tali_free(&allocator, integ->block, integ->block_bytes);
    tali_free(&allocator, integ, sizeof *integ);
}

const tal_error *tal_integrator_error(const tal_integrator *integ)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_integrator_error", "the integrator is NULL"};
    return integ != NULL ? &integ->problem.error_record : &none;
}

tal_integrator_stats tal_integrator_statistics(const tal_integrator *integ)
{
    if (integ != NULL) {
        tal_integrator_stats stats = integ->stats;
        stats.next_step = integ->h_next;
        return stats;
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    return (tal_integrator_stats){.steps_attempted = 0};
}

void tali_integrator_hold_growth(tal_integrator *integ)
{
    const double last = integ->stats.last_step;
    if (last > 0.0 && last < integ->h_next) integ->h_next = last;
}

void tal_integrator_reset(tal_integrator *integ)
{
    if (integ == NULL) return;
    integ->h_next = 0.0;
    integ->step_accuracy = accuracy_of_steps(&integ->def); // the first step looks at it
    integ->tolerance = integ->step_accuracy;
    integ->has_step = integ->is_settled = false;
    integ->bad = (tali_integrator_bad){0, 0, 0};
    integ->problem.projection.even_if_met = integ->def.project_every_step;
    integ->problem.projection.redundant = NULL;
    integ->problem.projects_stages = false;
}
