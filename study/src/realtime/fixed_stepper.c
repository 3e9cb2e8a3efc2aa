// The fixed stepper: creation, a step around that of its formulation, statistics.
//
// The macro is for clock_gettime.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "force_tangent_internal.h"

#include "problem/fixed_step_internal.h"
#include "realtime/realtime_internal.h"

#include <math.h>
#include <string.h>
#include <time.h>

tal_fixed_stepper_def tal_fixed_stepper_def_default(void)
{
    return (tal_fixed_stepper_def){.formulation = TAL_FORMULATION_HYBRID,
                                   .scheme = TAL_SCHEME_TRAPEZOID,
                                   .step = 0.01,
                                   .xi = -0.3,
                                   .delta_f = 0.05,
                                   .rho = 0.8,
                                   .penalty = 1e7,
                                   .iterations = 30,
                                   .tolerance = 1e-8,
                                   .projections = 3,
                                   .speed_tolerance = 1e-8,
                                   .projects = true,
                                   .uses_stiffness = true,
                                   .repeats_corrector = true,
                                   .tableau = tal_rk_trapezoid(),
                                   .alpha_h = 1.0,
                                   .beta_h = 1.0};
}

// --- creation ---

static tal_status check_range(const char *name, double value, double least, double most,
                              tal_error *err)
{
    if (value >= least && value <= most) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "%s of a fixed stepper is %g: it must be from %g to %g", name, value, least,
                     most);
}

// Every number of a def; the message names the field.
static tal_status check_numbers(const tal_fixed_stepper_def *def, tal_error *err)
{
    const struct {
        const char *name;
        double value;
    } positive[] = {{"step", def->step},           {"penalty", def->penalty},
                    {"tolerance", def->tolerance}, {"speed_tolerance", def->speed_tolerance},
                    {"alpha_h", def->alpha_h},     {"beta_h", def->beta_h}};

    for (size_t i = 0; i < sizeof positive / sizeof positive[0]; ++i) {
        if (positive[i].value > 0.0 && isfinite(positive[i].value)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%s of a fixed stepper is %g: it must be positive and finite",
                         positive[i].name, positive[i].value);
    }
    tal_status st = check_range("xi", def->xi, -1.0, 0.0, err);
    if (st == TAL_OK) st = check_range("delta_f", def->delta_f, 0.0, 1.0 / 3.0, err);
    if (st == TAL_OK) st = check_range("rho", def->rho, 0.0, 1.0, err);
    if (st == TAL_OK) st = check_range("iterations", def->iterations, 1, 1e6, err);
    if (st == TAL_OK) st = check_range("projections", def->projections, 0, 1e6, err);
    return st;
}

static tal_status check_pair(const tal_fixed_stepper_def *def, tal_error *err)
{
    const char *formulation = tal_formulation_name(def->formulation);
    const char *scheme = tal_scheme_name(def->scheme);
    if (formulation == NULL || scheme == NULL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no formulation %d or no scheme %d",
                         (int)def->formulation, (int)def->scheme);
    }
    if (!tal_formulation_takes(def->formulation, def->scheme)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the scheme '%s' does not go with the formulation '%s': choose '%s', say",
                         scheme, formulation,
                         tal_scheme_name(tal_formulation_usual_scheme(def->formulation)));
    }
    return def->scheme == TAL_SCHEME_EXPLICIT ? tal_rk_check(def->tableau, err) : TAL_OK;
}

// Topology, matter, a memory, and nothing that a stepper would overlook.
static tal_status check_system(const tal_system *system, const tal_fixed_stepper_def *def,
                               tal_error *err)
{
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    const tal_matter *matter = tal_system_matter(system);
    if (tal_system_fixed_memory(system) == NULL) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY,
                         "System '%s' has no memory of fixed steps: call "
                         "tal_fixed_memory_create() before its topology is realized",
                         tal_system_name(system));
    }
    if (tal_matter_num_unilaterals(matter) > 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a fixed stepper does not open and close unilateral elements such as "
                         "'%s': use a time stepper, or a contact force instead",
                         tal_unilateral_name(matter, (tal_unilateral_ix){0}));
    }
    if (tal_matter_num_colliders(matter) > 0 && !def->ignores_colliders) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a fixed stepper does not know colliders such as '%s': use a contact "
                         "stepper, or a contact force, or set ignores_colliders",
                         tal_collider_name(matter, (tal_collider_ix){0}));
    }
    return TAL_OK;
}

// Of either way to find what forces add to the tangent.
static size_t force_work_size(const tal_forces *forces)
{
    return tali_alloc_larger(tal_forces_derivative_work_size(forces),
                             tali_force_tangent_work_size(forces));
}

// One block for all arrays.
static tal_status take_memory(tal_fixed_stepper *s, tal_error *err)
{
    const tal_system *system = s->system;
    const size_t d = sizeof(double), nu = (size_t)s->nu;
    const size_t max_q = (size_t)tal_system_pool_capacity(system, TAL_POOL_Q);
    const size_t ny = max_q + (size_t)tal_system_pool_capacity(system, TAL_POOL_U) +
                      (size_t)tal_system_pool_capacity(system, TAL_POOL_Z);
    const int rows = tal_system_pool_capacity(system, TAL_POOL_UERR) +
                     tal_system_pool_capacity(system, TAL_POOL_UDOTERR);
    const size_t m = (size_t)rows, n = tali_alloc_larger(m, nu);
    const size_t stages = s->def.scheme == TAL_SCHEME_EXPLICIT ? (size_t)s->def.tableau->stages : 0;
    const bool is_semi = s->def.formulation == TAL_FORMULATION_SEMI_RECURSIVE;
    const bool is_hybrid = s->def.formulation == TAL_FORMULATION_HYBRID;
    const bool is_dense = is_semi || is_hybrid;
    const size_t square = is_dense ? nu * nu : 0, wide = is_dense ? m * nu : 0;
    const tali_piece pieces[] = {
        {&s->y0, ny * d},
        {&s->y1, ny * d},
        {&s->ydot0, ny * d},
        {&s->problem.y0, ny * d},
        {&s->quaternions, (size_t)s->num_bodies * sizeof *s->quaternions},
        {&s->level, nu * sizeof *s->level},
        {&s->past.udot, nu * d},
        {&s->past.a, nu * d},
        {&s->past.lambda, m * d},
        {&s->past.natural, (size_t)s->memory->nx * d},
        {&s->past.pivots, nu * sizeof(int)},
        {&s->x, nu * d},
        {&s->u, nu * d},
        {&s->a, nu * d},
        {&s->udot, nu * d},
        {&s->change, nu * d},
        {&s->w, nu * d},
        {&s->errors, m * d},
        {&s->row, (m + 1) * d},
        {&s->f, nu * d},
        {&s->product, nu * d},
        {&s->slope, 4 * max_q * d},
        {&s->F_GB, (size_t)s->num_bodies * sizeof *s->F_GB},
        {&s->G, wide * d},
        {&s->M, square * d},
        {&s->H, square * d},
        {&s->tree.list, is_hybrid ? square * sizeof(int) : 0},
        {&s->tree.used, is_hybrid ? nu * sizeof(int) : 0},
        {&s->R, is_semi ? square * d : 0},
        {&s->part, is_semi ? n * nu * d : 0},
        {&s->which, is_semi ? nu * sizeof(int) : 0},
        {&s->cod_work, is_semi ? tal_cod_work_size(rows, s->nu) * d : 0},
        {&s->cod_iwork, is_semi ? tal_cod_iwork_size(rows, s->nu) * sizeof(int) : 0},
        {&s->stages, stages * ny * d},
        {&s->S, s->forces != NULL ? square * d : 0},
        {&s->unit, s->forces != NULL ? 2 * nu * d : 0},
        {&s->force_work, s->forces != NULL ? force_work_size(s->forces) * d : 0},
    };
    s->block =
        tali_alloc_pieces(&s->allocator, pieces, sizeof pieces / sizeof pieces[0], &s->block_bytes);
    s->tree.n = s->nu;
    s->tree.H = s->H;
    if (s->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fixed stepper");
}

static const tali_realtime_ops *ops_of(const tal_fixed_stepper_def *def)
{
    switch (def->formulation) {
    case TAL_FORMULATION_SEMI_RECURSIVE:
        return tali_realtime_semi_recursive();
    case TAL_FORMULATION_FULLY_RECURSIVE:
        return tali_realtime_fully_recursive();
    case TAL_FORMULATION_WELCH:
        return tali_realtime_welch();
    case TAL_FORMULATION_BAUMGARTE:
        return tali_realtime_baumgarte();
    case TAL_FORMULATION_GLOBAL:
        return def->scheme == TAL_SCHEME_ENERGY_MOMENTUM ? tali_realtime_energy_momentum()
                                                         : tali_realtime_global_ops();
    case TAL_FORMULATION_HYBRID:
    default:
        return tali_realtime_hybrid();
    }
}

// What follows from the System and the def, and all memory.
static tal_status set_up(tal_fixed_stepper *s, tal_error *err)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.constraint_tolerance = s->def.speed_tolerance;
    const tal_subsystem_ix owner = tal_matter_subsystem(s->matter);
    s->problem = tali_problem_of(s->system, &def);
    s->problem.realizations = &s->realizations;
    s->perr_group = tal_system_find_group(s->system, owner, TAL_POOL_QERR, "constraints");
    s->verr_group = tal_system_find_group(s->system, owner, TAL_POOL_UERR, "constraints");
    s->memory = tal_system_fixed_memory(s->system);
    s->ops = ops_of(&s->def);
    s->family = tali_realtime_family_of(&s->def);
    s->nu = tal_matter_nu(s->matter);
    s->num_bodies = tal_matter_num_bodies(s->matter);
    const bool has_tangent = s->def.formulation == TAL_FORMULATION_HYBRID ||
                             s->def.formulation == TAL_FORMULATION_SEMI_RECURSIVE;
    if (has_tangent && s->def.uses_stiffness) s->forces = tal_system_forces(s->system);
    tal_status st = take_memory(s, err);
    if (st == TAL_OK && s->forces != NULL) st = tal_state_create(s->system, &s->scratch, err);
    if (st == TAL_OK && s->def.formulation == TAL_FORMULATION_GLOBAL) {
        st = tali_realtime_global_create(s, err);
    }
    return st;
}

tal_status tal_fixed_stepper_create(const tal_system *system, const tal_fixed_stepper_def *def,
                                    tal_fixed_stepper **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_fixed_stepper_def chosen = def != NULL ? *def : tal_fixed_stepper_def_default();
    tal_status st = check_system(system, &chosen, err);
    if (st == TAL_OK) st = check_numbers(&chosen, err);
    if (st == TAL_OK) st = check_pair(&chosen, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_fixed_stepper *s = tali_alloc(&allocator, sizeof *s);
    if (s == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a fixed stepper");
    s->system = system;
    s->matter = tal_system_matter(system);
    s->allocator = allocator;
    s->def = chosen;
    st = set_up(s, err);
    if (st != TAL_OK) {
        tal_fixed_stepper_destroy(s);
        return st;
    }
    *out = s;
    return TAL_OK;
}

void tal_fixed_stepper_destroy(tal_fixed_stepper *stepper)
{
    if (stepper == NULL) return;
    const tal_allocator allocator = stepper->allocator;
    tali_realtime_global_destroy(stepper);
    tal_state_destroy(stepper->scratch);
    tali_free(&allocator, stepper->block, stepper->block_bytes);
    tali_free(&allocator, stepper, sizeof *stepper);
}

// --- a step ---

// Seconds on a clock that only goes forward.
static double clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Consistent, where that is wanted and it is not known to be, and realized to Velocity.
static tal_status make_consistent(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        st = tal_system_realize(s->system, state, TAL_STAGE_TIME);
        if (st == TAL_OK && s->def.projects) {
            st = tal_system_prescribe_and_project(s->system, state, &s->problem.projection, NULL);
        } else if (st == TAL_OK) {
            st = tali_problem_settle_start(&s->problem, state, false);
        }
    }
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return st;
}

static tal_status begin(tal_fixed_stepper *s, tal_state *state)
{
    tal_status st = tal_system_realize(s->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    s->rows = tal_matter_constraint_rows(s->matter, state);
    s->m = s->rows.mp + s->rows.mv;
    s->problem.is_free = false;
    const bool is_known = tali_realtime_recall(s, state);
    st = is_known ? tal_system_realize(s->system, state, TAL_STAGE_VELOCITY)
                  : make_consistent(s, state);
    if (st == TAL_OK && tal_system_has_updates(s->system)) {
        st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    }
    if (st == TAL_OK) st = tal_system_begin_step(s->system, state);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tali_realtime_read(s, state);
    if (st != TAL_OK) return tali_realtime_pass_on(s, state, st);
    if (is_known) return TAL_OK;
    ++s->stats.starts;
    s->past.has_xdot = false;
    return s->ops->start(s, state);
}

// Speeds onto the constraints, by impulses of these: of methods that leave them.
static tal_status project_by_impulses(tal_fixed_stepper *s, tal_state *state)
{
    const bool wants = s->def.projects && s->ops->finish == NULL && s->m > 0;
    if (!wants) return TAL_OK;
    tal_status st = TAL_OK;
    for (int i = 0; i < 2 && st == TAL_OK; ++i) {
        memcpy(s->errors, tali_realtime_verr(s, state), (size_t)s->m * sizeof *s->errors);
        if (tali_realtime_norm(s->errors, s->m) <= s->def.speed_tolerance) break;
        st = tal_matter_calc_constraint_impulse(s->matter, state, s->errors, s->row, s->f);
        const double *u = tal_state_y(state) + s->u0;
        for (int k = 0; k < s->nu; ++k) {
            s->u[k] = u[k] + s->f[k];
        }
        if (st == TAL_OK) st = tali_realtime_put_u(s, state, s->u);
    }
    return tali_realtime_pass_on(s, state, st);
}

// Back to the start of the step.
static void go_back(tal_fixed_stepper *s, tal_state *state)
{
    (void)tal_state_clear_error(state);
    (void)tal_state_set_t(state, s->t0);
    (void)tal_state_set_y(state, s->y0, tal_state_ny(state));
}

// What the end of the step leaves of constraints.
static void count(tal_fixed_stepper *s, const tal_state *state)
{
    tal_fixed_stats *it = &s->stats;
    ++it->steps;
    it->position_error = tali_realtime_norm(tali_realtime_perr(s, state), s->rows.mp);
    it->speed_error = tali_realtime_norm(tali_realtime_verr(s, state), s->m);
    it->worst_position_error = fmax(it->worst_position_error, it->position_error);
    it->worst_speed_error = fmax(it->worst_speed_error, it->speed_error);
    it->sum_position_error += it->position_error;
}

static void count_time(tal_fixed_stepper *s, double started)
{
    tal_fixed_stats *it = &s->stats;
    it->step_time = clock_now() - started;
    it->worst_step_time = fmax(it->worst_step_time, it->step_time);
    it->sum_step_time += it->step_time;
}

static tal_status step_by(tal_fixed_stepper *s, tal_state *state, double h, double t)
{
    const double started = clock_now();
    s->error_record = (tal_error){TAL_OK, "", ""};
    s->problem.error_record = (tal_error){TAL_OK, "", ""};
    s->h = h;
    s->t1 = t;
    tal_status st = begin(s, state);
    if (st != TAL_OK) return st;
    st = s->ops->step(s, state);
    const bool is_done = s->def.scheme == TAL_SCHEME_EXPLICIT; // its tableau moved all of y
    if (st == TAL_OK && !is_done) st = tali_realtime_settle_others(s, state);
    if (st == TAL_OK) st = project_by_impulses(s, state);
    if (st == TAL_OK) st = tali_realtime_remember(s, state);
    if (st != TAL_OK) {
        go_back(s, state);
        return st;
    }
    count(s, state);
    count_time(s, started);
    return TAL_OK;
}

static tal_status check_call(const tal_fixed_stepper *s, const tal_state *state, const char *where)
{
    if (s == NULL || state == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "the stepper or the State is NULL");
    }
    return TAL_OK;
}

tal_status tal_fixed_stepper_step(tal_fixed_stepper *stepper, tal_state *state)
{
    const tal_status st = check_call(stepper, state, __func__);
    if (st != TAL_OK) return st;
    const double h = stepper->def.step;
    return step_by(stepper, state, h, tal_state_t(state) + h);
}

tal_status tal_fixed_stepper_step_to(tal_fixed_stepper *stepper, tal_state *state, double t)
{
    tal_status st = check_call(stepper, state, __func__);
    if (st != TAL_OK) return st;
    const double h = stepper->def.step;
    if (!tali_problem_is_ahead(state, t, h, __func__)) return TAL_ERR_BAD_VALUE;
    while (st == TAL_OK && tal_state_t(state) < t) {
        const tali_problem_step next = tali_problem_next_step(tal_state_t(state), t, h);
        st = step_by(stepper, state, next.h, next.t);
    }
    return st;
}

// --- asking ---

tal_fixed_stats tal_fixed_stepper_statistics(const tal_fixed_stepper *stepper)
{
    if (stepper != NULL) return stepper->stats;
    (void)TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    return (tal_fixed_stats){.steps = 0};
}

tal_status tal_fixed_stepper_reset_statistics(tal_fixed_stepper *stepper)
{
    if (stepper == NULL) return TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    stepper->stats = (tal_fixed_stats){.steps = 0};
    return TAL_OK;
}

tal_fixed_stepper_def tal_fixed_stepper_def_of(const tal_fixed_stepper *stepper)
{
    if (stepper != NULL) return stepper->def;
    (void)TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    return tal_fixed_stepper_def_default();
}

const tal_error *tal_fixed_stepper_error(const tal_fixed_stepper *stepper)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_fixed_stepper_error", "the stepper is NULL"};
    return stepper != NULL ? &stepper->error_record : &none;
}
