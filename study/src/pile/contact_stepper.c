// The contact stepper: creation, one step from its parts, what the last one did.
#include "pile/pile_internal.h"

#include <math.h>
#include <string.h>

tal_contact_stepper_def tal_contact_stepper_def_default(void)
{
    return (tal_contact_stepper_def){.step = 1e-3,
                                     .slop = 1e-6,
                                     .margin = 1e-3,
                                     .capture_speed = 1e-2,
                                     .tolerance = 1e-6,
                                     .most_passes = 200,
                                     .most_exact = 8};
}

// --- creation ---

// More than fit into any memory; three rows for each are far from the end of an int.
enum {
    MOST_CONTACTS = 100000000
};

// Every number of a def; the message names the field.
static tal_status check_def(const tal_contact_stepper_def *def, tal_error *err)
{
    const struct {
        const char *name;
        double value;
    } fields[] = {{"slop", def->slop},
                  {"margin", def->margin},
                  {"capture_speed", def->capture_speed},
                  {"tolerance", def->tolerance}};

    if (!(def->step > 0.0) || !isfinite(def->step)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "step of a contact stepper is %g: it must be positive and finite",
                         def->step);
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
        if (fields[i].value >= 0.0 && isfinite(fields[i].value)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%s of a contact stepper is %g: it must be finite and not negative",
                         fields[i].name, fields[i].value);
    }
    if (def->most_passes < 1 || def->most_exact < 0 || def->max_pairs < 0 ||
        def->max_contacts < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "most_passes %d of a contact stepper must be positive, and most_exact %d, "
                         "max_pairs %d and max_contacts %d not negative",
                         def->most_passes, def->most_exact, def->max_pairs, def->max_contacts);
    }
    if (def->most_exact > MOST_CONTACTS || def->max_pairs > MOST_CONTACTS ||
        def->max_contacts > MOST_CONTACTS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "most_exact %d, max_pairs %d and max_contacts %d of a contact stepper may "
                         "be at most %d",
                         def->most_exact, def->max_pairs, def->max_contacts, MOST_CONTACTS);
    }
    return TAL_OK;
}

static tal_status check_matter(const tal_matter *matter, tal_error *err)
{
    if (tal_matter_num_unilaterals(matter) > 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a contact stepper knows colliders, not unilateral elements such as '%s': "
                         "use a time stepper, or a collider instead",
                         tal_unilateral_name(matter, (tal_unilateral_ix){0}));
    }
    return TAL_OK;
}

// Two half-spaces never touch at points: they must not be able to meet.
static tal_status check_half_spaces(const tal_contact_stepper *s, tal_error *err)
{
    for (int i = 0; i < s->num_surfaces; ++i) {
        for (int j = 0; j < i; ++j) {
            if (tal_hull_can_touch(s->hulls[i], s->hulls[j]) ||
                !tali_detect_may_meet(&s->surfaces[i], &s->surfaces[j])) {
                continue;
            }
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "colliders '%s' and '%s' are half-spaces, which do not touch at "
                             "points: put them in one clique",
                             s->surfaces[j].name, s->surfaces[i].name);
        }
    }
    return TAL_OK;
}

static int at_most(long long wanted)
{
    return wanted < MOST_CONTACTS ? (int)wanted : MOST_CONTACTS;
}

static int most_vertices(const tal_matter *matter)
{
    int most = 1;
    for (int i = 0; i < tal_matter_num_colliders(matter); ++i) {
        const int n = tal_hull_num_vertices(tal_collider_hull(matter, (tal_collider_ix){i}));
        most = n > most ? n : most;
    }
    return most;
}

static size_t touch_room(const tal_matter *matter)
{
    size_t most = 1;
    const int n = tal_matter_num_colliders(matter);
    for (int i = 0; i < n; ++i) {
        // the most for any pair: this one with itself, over all
        const tal_hull *hull = tal_collider_hull(matter, (tal_collider_ix){i});
        most = tali_alloc_larger(most, tal_touch_work_size(hull, hull));
    }
    return most;
}

// Numbers that all arrays follow from.
static void measure(tal_contact_stepper *s, const tali_pile_tree_sizes *trees)
{
    const int n = s->num_surfaces;
    s->num_trees = trees->num_trees;
    s->most_tree_nu = trees->most_nu;
    s->most_bilateral = tal_system_pool_capacity(s->system, TAL_POOL_UDOTERR);
    s->max_pairs = s->def.max_pairs > 0 ? s->def.max_pairs : at_most(16LL * n + 16);
    s->max_contacts = s->def.max_contacts > 0 ? s->def.max_contacts : at_most(32LL * n + 64);
    s->max_rows = 3 * s->max_contacts + s->most_bilateral;
    s->max_entries = 6 * (size_t)s->max_contacts * (size_t)s->most_tree_nu +
                     (size_t)s->most_bilateral * (size_t)s->nu + (size_t)s->nu;
    s->most_exact_rows = 3 * s->def.most_exact + s->most_bilateral;
    s->most_touch = 2 * most_vertices(s->matter) + 8;
    s->y_room = s->nq + s->nu + tal_system_pool_capacity(s->system, TAL_POOL_Z);
}

// One block for all arrays.
static tal_status take_memory(tal_contact_stepper *s, const tali_pile_tree_sizes *trees,
                              tal_error *err)
{
    const size_t d = sizeof(double), n = (size_t)s->num_surfaces, nu = (size_t)s->nu;
    const size_t bodies = (size_t)s->num_bodies, c = (size_t)s->max_contacts;
    const size_t rows = (size_t)s->max_rows, exact = (size_t)s->most_exact_rows;
    const size_t most_nu = (size_t)s->most_tree_nu, t = (size_t)s->num_trees;
    const int k = s->most_exact_rows, num = s->def.most_exact;
    const tali_detect_limits limits = {.pairs = s->max_pairs};
    s->store_bytes = tali_detect_store_size(s->num_surfaces, &limits);
    const tali_piece pieces[] = {
        {&s->surfaces, n * sizeof *s->surfaces},
        {&s->hulls, n * sizeof *s->hulls},
        {&s->X_BS, n * sizeof *s->X_BS},
        {&s->X_GS, n * sizeof *s->X_GS},
        {&s->materials, n * sizeof *s->materials},
        {&s->size, n * d},
        {&s->reach, n * d},
        {&s->store_block, s->store_bytes},
        {&s->touch_points, (size_t)s->most_touch * sizeof *s->touch_points},
        {&s->touch_work, touch_room(s->matter) * d},
        {&s->trees, t * sizeof *s->trees},
        {&s->tree_of, bodies * sizeof *s->tree_of},
        {&s->tree_u, nu * sizeof *s->tree_u},
        {&s->is_known, nu * sizeof *s->is_known},
        {&s->J_of, bodies * sizeof *s->J_of},
        {&s->J, trees->J * d},
        {&s->M_inv, trees->M_inv * d},
        {&s->unit, nu * d},
        {&s->product, nu * d},
        {&s->V, bodies * sizeof *s->V},
        {&s->origin, bodies * sizeof *s->origin},
        {&s->factor, most_nu * most_nu * d},
        {&s->contacts, c * sizeof *s->contacts},
        {&s->bilateral, (size_t)s->most_bilateral * sizeof *s->bilateral},
        {&s->G, (size_t)s->most_bilateral * (nu + 2) * d},
        {&s->groups, t * sizeof *s->groups},
        {&s->order, c * sizeof *s->order},
        {&s->group_size, t * sizeof *s->group_size},
        {&s->group_at, t * sizeof *s->group_at},
        {&s->start, (rows + 1) * sizeof *s->start},
        {&s->index, s->max_entries * sizeof *s->index},
        {&s->row_J, s->max_entries * d},
        {&s->row_K, s->max_entries * d},
        {&s->b, rows * d},
        {&s->pi, rows * d},
        {&s->w, (4 * rows + nu) * d},
        {&s->frictions, c * sizeof *s->frictions},
        {&s->iwork, 2 * rows * sizeof *s->iwork},
        {&s->u, nu * d},
        {&s->u_star, nu * d},
        {&s->u_apart, nu * d},
        {&s->pi_apart, rows * d},
        {&s->A, exact * exact * d},
        {&s->exact_b, exact * d},
        {&s->exact_pi, exact * d},
        {&s->exact_a, exact * d},
        {&s->exact_work, tal_friction_work_size(k, num) * d},
        {&s->exact_iwork, tal_friction_iwork_size(k, num) * sizeof(int)},
        {&s->exact_modes, ((size_t)num + 1) * sizeof *s->exact_modes},
        {&s->column, nu * d},
        {&s->y0, (size_t)s->y_room * d},
        {&s->y1, (size_t)s->y_room * d},
    };
    s->block =
        tali_alloc_pieces(&s->allocator, pieces, sizeof pieces / sizeof pieces[0], &s->block_bytes);
    if (s->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a contact stepper");
    }
    s->store = tali_detect_store_at(s->store_block, s->num_surfaces, &limits);
    return TAL_OK;
}

static double farthest(const tal_hull *hull, const tal_xform *X_BS)
{
    double most = 0.0;
    for (int i = 0; i < tal_hull_num_vertices(hull); ++i) {
        most = fmax(most, tal_v3_norm(tal_xf_apply(*X_BS, tal_hull_vertex(hull, i))));
    }
    return most + tal_hull_radius(hull);
}

static void take_colliders(tal_contact_stepper *s)
{
    for (int i = 0; i < s->num_surfaces; ++i) {
        const tal_collider_ix at = {i};
        const tal_collider_def def = tal_collider_def_of(s->matter, at);
        s->surfaces[i] = (tali_detect_surface){.name = tal_collider_name(s->matter, at),
                                               .shape = def.shape,
                                               .body = def.body.i,
                                               .cliques = def.cliques};
        s->hulls[i] = tal_collider_hull(s->matter, at);
        s->X_BS[i] = def.X_BS;
        s->materials[i] = def.material;
        s->size[i] = farthest(s->hulls[i], &def.X_BS);
    }
}

static tal_status set_up(tal_contact_stepper *s, tal_error *err)
{
    const tal_subsystem_ix owner = tal_matter_subsystem(s->matter);
    s->q_group = tal_system_find_group(s->system, owner, TAL_POOL_Q, "q");
    s->u_group = tal_system_find_group(s->system, owner, TAL_POOL_U, "u");
    s->uerr_group = tal_system_find_group(s->system, owner, TAL_POOL_UERR, "constraints");
    s->num_bodies = tal_matter_num_bodies(s->matter);
    s->num_surfaces = tal_matter_num_colliders(s->matter);
    s->nu = tal_system_pool_capacity(s->system, TAL_POOL_U);
    s->nq = tal_system_pool_capacity(s->system, TAL_POOL_Q);
    const tali_pile_tree_sizes trees = tali_pile_measure_trees(s->matter);
    measure(s, &trees);
    const tal_status st = take_memory(s, &trees, err);
    if (st != TAL_OK) return st;
    take_colliders(s);
    s->nu = tal_matter_nu(s->matter);
    tali_pile_make_trees(s);
    s->report = (tal_contact_step){.t = (double)NAN};
    return check_half_spaces(s, err);
}

tal_status tal_contact_stepper_create(const tal_system *system, const tal_contact_stepper_def *def,
                                      tal_contact_stepper **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_contact_stepper_def chosen = def != NULL ? *def : tal_contact_stepper_def_default();
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st == TAL_OK) st = check_matter(tal_system_matter(system), err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_contact_stepper *s = tali_alloc(&allocator, sizeof *s);
    if (s == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a contact stepper");
    s->system = system;
    s->matter = tal_system_matter(system);
    s->allocator = allocator;
    s->def = chosen;
    st = set_up(s, err);
    if (st != TAL_OK) {
        tal_contact_stepper_destroy(s);
        return st;
    }
    *out = s;
    return TAL_OK;
}

void tal_contact_stepper_destroy(tal_contact_stepper *stepper)
{
    if (stepper == NULL) return;
    const tal_allocator allocator = stepper->allocator;
    tali_free(&allocator, stepper->block, stepper->block_bytes);
    tali_free(&allocator, stepper, sizeof *stepper);
}

// --- a step ---

static tal_status fail_by_state(tal_contact_stepper *s, const tal_state *state, tal_status st)
{
    if (st == TAL_OK || s->error_record.status != TAL_OK) return st;
    return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
}

// Whether a State is as the last step left it: to project it once more would change its last bits.
static bool is_settled(const tal_contact_stepper *s, const tal_state *state)
{
    const tali_collider_memory *memory = tali_collider_memory_of(s->matter, state);
    return memory != NULL && memory->print == tali_problem_print_of(state, 0);
}

// Consistent, with all accelerations, and its variables kept to come back to.
static tal_status begin(tal_contact_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY && !is_settled(s, state)) {
        st = tal_system_prescribe_and_project(s->system, state, NULL, NULL);
    }
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = tal_system_begin_step(s->system, state);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return fail_by_state(s, state, st);
    s->q0 = tal_group_start(s->system, state, s->q_group);
    s->u0 = tal_group_start(s->system, state, s->u_group);
    memcpy(s->y0, tal_state_y(state), (size_t)tal_state_ny(state) * sizeof *s->y0);
    s->report = (tal_contact_step){.t = tal_state_t(state), .restitution = 1.0};
    s->report.energy = tal_system_energy(s->system, state);
    return TAL_OK;
}

// What moving apart does against the forces: with h f = M (u_star - u0), the work is -f . d.
static tal_status count_projection(tal_contact_stepper *s, tal_state *state, const double udot[])
{
    const tal_status st = tal_matter_mul_M(s->matter, state, udot, s->product);
    for (int k = 0; k < s->nu && st == TAL_OK; ++k) {
        s->report.projection_work -= s->product[k] * s->u_apart[k];
    }
    return st;
}

// y1: u and z by their rates and impulses, q along the new u and what moves solids apart.
static tal_status advance(tal_contact_stepper *s, tal_state *state, double h)
{
    const int nq = tal_state_nq(state), ny = tal_state_ny(state);
    const double *ydot = tal_state_ydot(state);
    const double *udot = tal_state_udot(state) + s->u0, *u0 = tal_state_u(state) + s->u0;
    for (int i = 0; i < ny; ++i) {
        s->y1[i] = s->y0[i] + h * ydot[i];
    }
    for (int k = 0; k < s->nu; ++k) {
        s->u_star[k] = u0[k] + h * udot[k];
    }
    tal_status st = tali_pile_solve(s, u0, h);
    if (st != TAL_OK) return st;
    memcpy(s->y1 + nq + s->u0, s->u, (size_t)s->nu * sizeof *s->u);
    const bool parts = tali_pile_part(s, h, &st);
    if (parts) st = count_projection(s, state, udot);
    for (int k = 0; k < s->nu; ++k) {
        s->u_star[k] = h * s->u[k] + (parts ? s->u_apart[k] : 0.0);
    }
    if (st == TAL_OK) st = tal_matter_calc_qdot(s->matter, state, s->u_star, s->y1 + s->q0);
    const int num_q = tal_matter_nq(s->matter, state);
    for (int i = 0; i < num_q; ++i) {
        s->y1[s->q0 + i] += s->y0[s->q0 + i];
    }
    return fail_by_state(s, state, st);
}

// q as prescribed, and on the constraints.
static tal_status settle_q(tal_contact_stepper *s, tal_state *state,
                           const tal_project_options *options)
{
    tal_status st = tal_system_realize(s->system, state, TAL_STAGE_TIME);
    if (st == TAL_OK) st = tal_system_prescribe_q(s->system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_POSITION);
    return st == TAL_OK ? tal_system_project_q(s->system, state, options, NULL, NULL) : st;
}

// Take velocity errors away by impulses of the constraints, which keep momentum as a projection by
// weights would not.
static tal_status strike(tal_contact_stepper *s, tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(s->matter, state);
    const int m = rows.mp + rows.mv + rows.ma;
    if (rows.mp + rows.mv == 0) return TAL_OK;
    const double *errors = tal_state_uerr(state) + tal_group_start(s->system, state, s->uerr_group);
    memset(s->G, 0, (size_t)m * sizeof *s->G);
    memcpy(s->G, errors, (size_t)(rows.mp + rows.mv) * sizeof *s->G);
    const tal_status st =
        tal_matter_calc_constraint_impulse(s->matter, state, s->G, s->G + m, s->u_apart);
    if (st != TAL_OK) return st;
    double *u = tal_state_upd_u(state) + s->u0;
    for (int k = 0; k < s->nu; ++k) {
        u[k] += s->u_apart[k];
    }
    return TAL_OK;
}

static tal_status settle_u(tal_contact_stepper *s, tal_state *state,
                           const tal_project_options *options)
{
    tal_status st = tal_system_prescribe_u(s->system, state, NULL);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = strike(s, state);
    if (st == TAL_OK) st = tal_system_realize(s->system, state, TAL_STAGE_VELOCITY);
    return st == TAL_OK ? tal_system_project_u(s->system, state, options, NULL, NULL) : st;
}

// Put the end of the step into the State, which goes back to where it was on failure.
static tal_status finish(tal_contact_stepper *s, tal_state *state, double t)
{
    const int ny = tal_state_ny(state);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-8;
    for (int i = 0; i < ny; ++i) {
        if (isfinite(s->y1[i])) continue;
        return TALI_FAIL(&s->error_record, TAL_ERR_NOT_FINITE,
                         "a step of %g s from t = %g leads to numbers that are not finite",
                         t - s->report.t, s->report.t);
    }
    tal_status st = tal_state_set_t(state, t);
    if (st == TAL_OK) st = tal_state_set_y(state, s->y1, ny);
    if (st == TAL_OK) st = settle_q(s, state, &options);
    if (st == TAL_OK) st = settle_u(s, state, &options);
    if (st == TAL_OK) return st;
    st = fail_by_state(s, state, st);
    (void)tal_state_clear_error(state);
    (void)tal_state_set_t(state, s->report.t);
    (void)tal_state_set_y(state, s->y0, ny);
    return st;
}

static tal_status check_call(const tal_contact_stepper *s, const tal_state *state,
                             const char *where)
{
    if (s == NULL || state == NULL) {
        return tali_breach(TAL_ERR_NULL, where, "the stepper or the State is NULL");
    }
    return TAL_OK;
}

static tal_status step_by(tal_contact_stepper *s, tal_state *state, double h, double t)
{
    s->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = begin(s, state);
    if (st == TAL_OK) st = tali_pile_calc_inertia(s, state);
    if (st == TAL_OK) st = tali_pile_find(s, state, h);
    if (st == TAL_OK) st = tali_pile_make_rows(s, state, h);
    if (st == TAL_OK) st = advance(s, state, h);
    if (st == TAL_OK) st = finish(s, state, t);
    if (st == TAL_OK) st = tali_pile_remember(s, state);
    s->report.num_contacts = s->num_contacts;
    if (st != TAL_OK) s->num_contacts = 0;
    return st;
}

tal_status tal_contact_stepper_step(tal_contact_stepper *stepper, tal_state *state)
{
    const tal_status st = check_call(stepper, state, __func__);
    if (st != TAL_OK) return st;
    const double h = stepper->def.step;
    return step_by(stepper, state, h, tal_state_t(state) + h);
}

tal_status tal_contact_stepper_step_to(tal_contact_stepper *stepper, tal_state *state, double t)
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

tal_status tal_contact_stepper_forget(tal_contact_stepper *stepper, tal_state *state)
{
    const tal_status st = check_call(stepper, state, __func__);
    if (st != TAL_OK) return st;
    stepper->error_record = (tal_error){TAL_OK, "", ""};
    if (tal_matter_num_colliders(stepper->matter) == 0) return TAL_OK;
    tali_collider_memory *memory = tali_collider_memory_upd(stepper->matter, state);
    if (memory == NULL) {
        const tal_status why = tal_state_error(state)->status;
        return why != TAL_OK ? fail_by_state(stepper, state, why) : tal_contract_last()->status;
    }
    memory->count = 0;
    return TAL_OK;
}

// --- asking ---

tal_contact_step tal_contact_stepper_report(const tal_contact_stepper *stepper)
{
    if (stepper != NULL) return stepper->report;
    (void)TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    return (tal_contact_step){.t = (double)NAN};
}

tal_contact_stepper_def tal_contact_stepper_def_of(const tal_contact_stepper *stepper)
{
    if (stepper != NULL) return stepper->def;
    (void)TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    return tal_contact_stepper_def_default();
}

const tal_error *tal_contact_stepper_error(const tal_contact_stepper *stepper)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_contact_stepper_error",
                                   "the stepper is NULL"};
    return stepper != NULL ? &stepper->error_record : &none;
}

int tal_contact_stepper_num_contacts(const tal_contact_stepper *stepper)
{
    if (stepper != NULL) return stepper->num_contacts;
    (void)TALI_BREACH(TAL_ERR_NULL, "the stepper is NULL");
    return -1;
}

tal_step_contact tal_contact_stepper_contact(const tal_contact_stepper *stepper, int i)
{
    if (stepper == NULL || i < 0 || i >= stepper->num_contacts) {
        (void)TALI_BREACH(stepper == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX,
                          "there is no contact %d", i);
        return (tal_step_contact){.collider = {{-1}, {-1}}, .body = {{-1}, {-1}}};
    }
    const tali_pile_contact *c = &stepper->contacts[i];
    tal_step_contact out = {.p_G = c->p, .n_G = c->n, .gap = c->gap, .impulse_G = c->impulse};
    out.normal = tal_v3_dot(c->impulse, c->n);
    out.mode = c->mode;
    for (int k = 0; k < 2; ++k) {
        out.collider[k].i = c->pair[k];
        out.body[k].i = stepper->surfaces[c->pair[k]].body;
    }
    return out;
}
