// Integrators: creation, workspace, what can be asked.
#include "integrator_internal.h"
#include "solve_internal.h"

#include <float.h>
#include <math.h>

// --- creation ---

tal_integrator_def tal_integrator_def_default(void)
{
    return (tal_integrator_def){
        .method = TAL_METHOD_RUNGE_KUTTA, .tableau = tal_rk_merson(), .accuracy = 1e-3};
}

static tal_status check_positive(double value, bool zero_too, const char *what, tal_error *err)
{
    if (isfinite(value) && (value > 0.0 || (zero_too && value == 0.0))) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%s is %g: it must be positive and finite%s", what,
                     value, zero_too ? ", or zero for the default" : "");
}

static const tali_family *family_of(const tal_integrator_def *def)
{
    switch (def->method) {
    case TAL_METHOD_RUNGE_KUTTA:
    case TAL_METHOD_SEMI_EXPLICIT_EULER:
    case TAL_METHOD_VERLET:
        return tali_one_step_family();
    case TAL_METHOD_CVODE_BDF:
    case TAL_METHOD_CVODE_ADAMS:
        return tali_cvode_family();
    case TAL_METHOD_IDA:
        return tali_ida_family();
    case TAL_METHOD_ARKODE_EXPLICIT:
    case TAL_METHOD_ARKODE_DIRK:
        return tali_arkode_family();
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

static tal_status check_def(const tal_integrator_def *def, tal_error *err)
{
    tal_status st = check_method(def, err);
    if (st == TAL_OK) st = check_positive(def->accuracy, false, "accuracy", err);
    if (st == TAL_OK) st = check_positive(def->fixed_step, true, "fixed_step", err);
    if (st == TAL_OK) st = check_positive(def->initial_step, true, "initial_step", err);
    if (st == TAL_OK) st = check_positive(def->min_step, true, "min_step", err);
    if (st == TAL_OK) st = check_positive(def->max_step, true, "max_step", err);
    if (st == TAL_OK) {
        st = check_positive(def->constraint_tolerance, true, "constraint_tolerance", err);
    }
    if (st == TAL_OK) st = check_positive(def->baumgarte, true, "baumgarte", err);
    if (st != TAL_OK) return st;
    if (def->accuracy < DBL_EPSILON) { // steps of 1e-16 s would meet it, and never end
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "accuracy is %g: double precision knows nothing below %g", def->accuracy,
                         DBL_EPSILON);
    }
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

static tali_method method_of(const tal_integrator_def *def)
{
    switch (def->method) {
    case TAL_METHOD_SEMI_EXPLICIT_EULER:
        return tali_semi_explicit_euler();
    case TAL_METHOD_VERLET:
        return tali_verlet();
    case TAL_METHOD_RUNGE_KUTTA:
        return tali_runge_kutta(def->tableau);
    default:
        return (tali_method){.num_stages = 0};
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

// Cuts the workspace out of one block.
static tal_status take_workspace(tal_integrator *integ, tal_error *err)
{
    const tal_system *system = integ->system;
    const int ny = tal_system_pool_capacity(system, TAL_POOL_Q) +
                   tal_system_pool_capacity(system, TAL_POOL_U) +
                   tal_system_pool_capacity(system, TAL_POOL_Z);
    double **const named[] = {&integ->y0,    &integ->y1,      &integ->ydot1,
                              &integ->error, &integ->weighed, &integ->zero};
    const size_t num_named = sizeof named / sizeof named[0];
    const size_t one = tali_align((size_t)ny * sizeof(double));
    integ->stride = one / sizeof(double);
    const size_t num_vectors = num_named + (size_t)integ->method.num_stages;
    integ->block_bytes = one * num_vectors + tali_baumgarte_size(integ) * sizeof(double);
    integ->block = tali_alloc(&integ->allocator, integ->block_bytes);
    if (integ->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator's workspace");
    }
    double *next = integ->block;
    for (size_t i = 0; i < num_named; ++i, next += integ->stride) {
        *named[i] = next;
    }
    integ->k = next;
    integ->stabilizer = next + (size_t)integ->method.num_stages * integ->stride;
    return TAL_OK;
}

static void find_matter(tal_integrator *integ)
{
    integ->matter = tal_system_matter(integ->system);
    if (integ->matter == NULL) return;
    const tal_subsystem_ix owner = tal_matter_subsystem(integ->matter);
    integ->only_matter_settles = tali_only_this_settles(integ->system, owner);
    integ->q_group = tal_system_find_group(integ->system, owner, TAL_POOL_Q, "q");
    integ->u_group = tal_system_find_group(integ->system, owner, TAL_POOL_U, "u");
}

tal_status tal_integrator_create(const tal_system *system, const tal_integrator_def *def,
                                 tal_integrator **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (system == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the System is NULL");
    if (!tal_system_has_topology(system)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "realize the topology of System '%s' first",
                         tal_system_name(system));
    }
    const tal_integrator_def chosen = def != NULL ? *def : tal_integrator_def_default();
    tal_status st = check_def(&chosen, err);
    if (st != TAL_OK) return st;

    const tal_allocator allocator = tal_system_allocator(system);
    tal_integrator *integ = tali_alloc(&allocator, sizeof *integ);
    if (integ == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an integrator");
    integ->system = system;
    integ->allocator = allocator;
    integ->def = chosen;
    integ->step_accuracy = accuracy_of_steps(&chosen);
    integ->tolerance = integ->step_accuracy;
    find_matter(integ);
    integ->projection = tal_project_options_default();
    integ->projection.tolerance =
        chosen.constraint_tolerance > 0.0 ? chosen.constraint_tolerance : 0.1 * chosen.accuracy;
    integ->projection.infinity_norm = chosen.infinity_norm;
    integ->projection.even_if_met = chosen.project_every_step;
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
    const tal_allocator allocator = integ->allocator;
    if (integ->family->destroy != NULL) integ->family->destroy(integ);
    tali_free(&allocator, integ->block, integ->block_bytes);
    tali_free(&allocator, integ, sizeof *integ);
}

const tal_error *tal_integrator_error(const tal_integrator *integ)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_integrator_error", "the integrator is NULL"};
    return integ != NULL ? &integ->error_record : &none;
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

void tal_integrator_reset(tal_integrator *integ)
{
    if (integ == NULL) return;
    integ->h_next = 0.0;
    integ->has_step = integ->is_settled = false;
    integ->bad = (tali_bad){0, 0, 0};
    integ->projection.even_if_met = integ->def.project_every_step;
}
