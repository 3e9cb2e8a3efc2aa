// Known accelerations in the equations of motion, and the forces they take.
#include "cache_internal.h"

#include "constraint/constraint_internal.h"
#include "kernel/passes_internal.h"
#include "prescribed/prescribed_internal.h"

// --- known accelerations ---

static size_t body_bytes(const tali_tree *tree)
{
    return tali_align((size_t)tree->num_bodies * sizeof(tal_spatial_vec));
}

// udot of one body as given by its locks: zero except at the acceleration level. True when a motion
// gives some of it.
static bool write_locked_udot(const tal_matter *matter, const tali_prescribed_known *known,
                              const double values[], int b, double udot[])
{
    const int u0 = matter->tree.u0[b];
    bool is_driven = false;
    for (int j = 0; j < matter->tree.nu[b]; ++j) {
        is_driven = is_driven || known->source[u0 + j] >= 0;
        const bool is_given = known->source[u0 + j] == TALI_FROM_LOCK &&
                              known->level[u0 + j] == TAL_LEVEL_ACCELERATION;
        udot[u0 + j] = is_given ? values[matter->prescribed.value0[b] + j] : 0.0;
    }
    return is_driven;
}

// The entry: A = J udot for all bodies, then udot, zero where free.
static tal_status calc_udot(const void *self, const tal_system *system, tal_state *state,
                            void *value)
{
    const tal_matter *matter = self;
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_POSITION, &view);
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    tal_spatial_vec *A = value;
    double *udot = (double *)(void *)((char *)value + body_bytes(view.tree));
    const double *values = tal_var_value(system, state, matter->prescribed.values);
    for (int b = 0; b < matter->num_bodies; ++b) {
        if (!write_locked_udot(matter, &known, values, b, udot)) continue;
        int n = 0;
        const tal_status st = tali_prescribed_known_values(
            matter, state, &known, b, TALI_ORDER_UDOT, udot + view.tree->u0[b], &n);
        if (st != TAL_OK) return st;
    }
    view.passes->J(&view, udot, A);
    return TAL_OK;
}

bool tali_prescribed_see_known_udot(const tal_matter *matter, tal_state *state,
                                    tali_tree_view *view)
{
    const tal_system *system = matter->system;
    const void *known = tali_cache_at(system, state, matter->prescribed.known);
    if (!tali_prescribed_known_in(view->tree, known).is_moving) return true;
    const char *bytes = tal_cache_realize(system, state, matter->prescribed.udot);
    if (bytes == NULL) return false;
    view->A_known = (const tal_spatial_vec *)(const void *)bytes;
    view->udot_known = (const double *)(const void *)(bytes + body_bytes(view->tree));
    return true;
}

void tali_prescribed_add_known(const tali_tree_view *view, double udot[], tal_spatial_vec A[])
{
    if (view->A_known == NULL) return;
    for (int b = 1; b < view->tree->num_bodies; ++b) {
        A[b] = tal_sv_add(A[b], view->A_known[b]);
    }
    for (int u = 0; u < view->tree->num_u; ++u) {
        if (view->level[u] != TAL_LEVEL_FREE) udot[u] = view->udot_known[u];
    }
}

// --- forces ---

// tau = f - (M udot + J^T (F0 - F) + G^T lambda) along the known mobilities        manual eq. 8.32
static tal_status calc_forces(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const tal_matter *matter = self;
    const tali_tree *tree = &matter->tree;
    double *tau = value;
    const tali_prescribed_known known = tali_prescribed_known_of(matter, state);
    memset(tau, 0, (size_t)tree->num_u * sizeof *tau);
    if (known.num_known == 0) return TAL_OK;

    tali_tree_view view;
    if (!tali_tree_realize_view(matter, state, TALI_VELOCITY, &view)) return TAL_ERR_CALLBACK;
    const tali_tree_applied applied = tali_prescribed_loads_of(matter, state);
    if (applied.F == NULL) return TAL_ERR_CALLBACK;
    const double *udot = tal_state_udot(state) + tal_group_start(system, state, matter->u);
    const size_t mark = tal_state_scratch_mark(state);
    const size_t n = (size_t)tree->num_bodies;
    tal_spatial_vec *F = tal_state_scratch_take(state, n * sizeof *F);
    tal_spatial_vec *A = tal_state_scratch_take(state, n * sizeof *A);
    tal_spatial_vec *open =
        tal_state_scratch_take(state, ((size_t)tree->num_slots + 1) * sizeof *open);
    double *f = tal_state_scratch_take(state, ((size_t)tree->num_u + 1) * sizeof *f);
    tal_status st = TAL_OK;
    memset(F, 0, n * sizeof *F);
    if (matter->constraints.count > 0) {
        const int first = tal_group_start(system, state, matter->constraints.udoterr);
        st = tali_constraints_add_forces(matter, state, tal_state_multipliers(state) + first, F,
                                         tau);
    }
    for (int b = 0; b < tree->num_bodies; ++b) {
        F[b] = tal_sv_sub(applied.F[b], F[b]);
    }
    if (st == TAL_OK) {
        (void)view.passes->newton_euler(&view, tali_tree_u_of(matter, state), udot, F, f, A, open);
    }
    for (int u = 0; u < tree->num_u && st == TAL_OK; ++u) {
        tau[u] = known.level[u] != TAL_LEVEL_FREE ? applied.f[u] - f[u] - tau[u] : 0.0;
    }
    tal_state_scratch_release(state, mark);
    return st;
}

const double *tal_matter_motion_multipliers(const tal_matter *matter, tal_state *state)
{
    if (matter != NULL) {
        return tal_cache_realize(matter->system, state, matter->prescribed.forces);
    }
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return NULL;
}

double tal_body_motion_force(const tal_matter *matter, tal_state *state, tal_body_ix body, int i)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    if (found == NULL) return TALI_NAN;
    if (i < 0 || i >= found->ops.nu) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "body '%s' has no speed %d: it has %d", found->name, i,
                          found->ops.nu);
        return TALI_NAN;
    }
    const double *tau = tal_matter_motion_multipliers(matter, state);
    return tau != NULL ? -tau[matter->tree.u0[body.i] + i] : TALI_NAN;
}

// -tau . u over the speeds first ... last - 1
static double power(const tal_matter *matter, tal_state *state, int first, int last)
{
    const double *tau = tal_matter_motion_multipliers(matter, state);
    if (tau == NULL) return TALI_NAN;
    const double *u = tal_state_u(state) + tal_group_start(matter->system, state, matter->u);
    double sum = 0.0;
    for (int i = first; i < last; ++i) {
        sum -= tau[i] * u[i];
    }
    return sum;
}

double tal_body_motion_power(const tal_matter *matter, tal_state *state, tal_body_ix body)
{
    const tali_tree_body *found = tali_tree_body_at(matter, body, __func__);
    if (found == NULL || matter->tree.u0 == NULL) return TALI_NAN;
    const int first = matter->tree.u0[body.i];
    return power(matter, state, first, first + found->ops.nu);
}

double tal_matter_motion_power(const tal_matter *matter, tal_state *state)
{
    if (matter != NULL) return power(matter, state, 0, matter->tree.num_u);
    (void)TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    return TALI_NAN;
}

// --- declaring ---

// udot may depend on t, q and u, so its entry depends on Time and names the others.
void tali_prescribed_declare_dynamics(tal_matter *matter)
{
    const tali_tree *tree = &matter->tree;
    const tal_prereq needs[] = {tal_prereq_cache(matter->position), {TAL_PREREQ_U, 0}};
    tal_cache_def def = tal_cache_def_default();
    def.name = "known accelerations";
    def.size = body_bytes(tree) + ((size_t)tree->num_u + 1) * sizeof(double);
    def.depends_on = TAL_STAGE_TIME;
    def.calc = calc_udot;
    def.prereqs = needs;
    def.num_prereqs = 2;
    matter->prescribed.udot = tal_system_add_cache(matter->system, matter->me, &def);

    def = tal_cache_def_default();
    def.name = "motion forces";
    def.size = ((size_t)tree->num_u + 1) * sizeof(double);
    def.depends_on = TAL_STAGE_ACCELERATION;
    def.calc = calc_forces;
    matter->prescribed.forces = tal_system_add_cache(matter->system, matter->me, &def);
    tali_prescribed_fast_declare(matter);
}

size_t tali_prescribed_scratch(const tal_matter *matter)
{
    return tali_prescribed_relax_scratch(matter) + tali_prescribed_fast_scratch(matter) +
           2 * body_bytes(&matter->tree) +
           tali_align(((size_t)matter->tree.num_slots + 1) * sizeof(tal_spatial_vec)) +
           tali_align(((size_t)matter->tree.num_u + 1) * sizeof(double));
}
