// Random trees: the deck of mobilizers, dealing them, and the subsystem that applies the loads.
#include "random_tree.h"

#include <stdlib.h>

enum {
    NUM_KINDS = 20
};

typedef struct dealer {
    test_rng rng;
    int deck[NUM_KINDS];
    int left;
} dealer;

// --- mobilizers that need more than a definition ---

// Two coordinates; some of the six functions bend, some are shared, one is zero.
static tal_function_based *function_based(test_rng *rng)
{
    tal_function_based_def def = tal_function_based_def_default();
    def.nq = 2;
    tal_function *bend = NULL, *wave = NULL, *plane = NULL;
    const double cubic[] = {0.1, -0.2, 0.3, 1.0};
    const double slope[] = {0.4, -0.7};
    ck_assert_int_eq(tal_function_create_polynomial(NULL, cubic, 4, &bend, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.5, 1.3, 0.2, &wave, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_linear(NULL, slope, 2, 0.1, &plane, NULL), TAL_OK);
    def.rotation[0] = (tal_mobilizer_function){bend, 1, {0}};
    def.rotation[1] = (tal_mobilizer_function){wave, 1, {1}};
    def.translation[0] = (tal_mobilizer_function){plane, 2, {0, 1}};
    def.translation[2] = (tal_mobilizer_function){wave, 1, {0}};
    def.rotation_axis[2] = test_random_unit(rng);
    def.translation_axis[0] = test_random_unit(rng);
    tal_function_based *mobilizer = NULL;
    tal_error err = {0};
    ck_assert_msg(tal_function_based_create(&def, NULL, &mobilizer, &err) == TAL_OK, "%s",
                  err.message);
    return mobilizer;
}

typedef tal_body_ix (*add_fn)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);

static tal_body_ix add_kind(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def,
                            int kind, test_rng *rng)
{
    static const add_fn plain[] = {
        tal_matter_add_weld,        tal_matter_add_pin,      tal_matter_add_slider,
        tal_matter_add_universal,   tal_matter_add_cylinder, tal_matter_add_bend_stretch,
        tal_matter_add_planar,      tal_matter_add_gimbal,   tal_matter_add_bushing,
        tal_matter_add_translation, tal_matter_add_ball,     tal_matter_add_line_orientation,
        tal_matter_add_free_line,   tal_matter_add_free};
    const double upright[] = {0.2, -0.3, -1.0, 1.0, -1.0, 0.0};
    const double lying[] = {-0.1, 0.4, 1.0, -1.0, 1.0, 1.0};
    switch (kind - (int)(sizeof plain / sizeof plain[0])) {
    case 0:
        return tal_matter_add_screw(matter, parent, def, 0.3);
    case 1:
        return tal_matter_add_spherical_coords(matter, parent, def, upright);
    case 2:
        return tal_matter_add_spherical_coords(matter, parent, def, lying);
    case 3:
        return tal_matter_add_ellipsoid(matter, parent, def, tal_v3(0.5, 0.8, 1.1));
    case 4:
        return tal_matter_add_cantilever(matter, parent, def, 0.7);
    case 5:
        return tal_matter_add_function_based(matter, parent, def, function_based(rng));
    default:
        return plain[kind](matter, parent, def);
    }
}

static int deal(dealer *from)
{
    if (from->left == 0) {
        for (int i = 0; i < NUM_KINDS; ++i) {
            from->deck[i] = i;
        }
        from->left = NUM_KINDS;
    }
    const int i = (int)(test_random_bits(&from->rng) % (uint64_t)from->left);
    const int kind = from->deck[i];
    from->deck[i] = from->deck[--from->left];
    return kind;
}

// --- the loads ---

static tal_status add_loads(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const random_tree *tree = self;
    const tal_applied_forces to = tal_matter_upd_forces(tree->matter, state);
    for (int b = 0; b < tree->num_bodies; ++b) {
        to.F_GM[b] = tal_sv_add(to.F_GM[b], tree->F[b]);
    }
    for (int j = 0; j < tree->nu; ++j) {
        to.f[j] += tree->f[j];
    }
    return TAL_OK;
}

static void free_loads(void *self)
{
    random_tree *loads = self;
    free(loads->F);
    free(loads->f);
    free(loads);
}

static const tal_subsystem_ops loads_ops = {
    .size = sizeof loads_ops,
    .name = "random loads",
    .realize_dynamics = add_loads,
    .destroy = free_loads,
};

// --- making and freeing ---

random_tree_def random_tree_def_default(uint64_t seed)
{
    return (random_tree_def){.seed = seed, .num_bodies = 10, .reversed = 0.5, .angles = 0.5};
}

static void add_bodies(const random_tree_def *def, tal_matter *matter, dealer *from)
{
    for (int b = 1; b <= def->num_bodies; ++b) {
        tal_mobod_def body = tal_mobod_def_default();
        body.mass = test_random_mass_props(&from->rng);
        body.X_PF = test_random_xform(&from->rng);
        body.X_BM = test_random_xform(&from->rng);
        const bool reversed = test_random_uniform(&from->rng, 0.0, 1.0) < def->reversed;
        body.use_angles = test_random_uniform(&from->rng, 0.0, 1.0) < def->angles;
        if (b == 1 && def->free_base) {
            (void)tal_matter_add_free(matter, TAL_GROUND, &body);
            continue;
        }
        body.direction = reversed ? TAL_REVERSE : TAL_FORWARD;
        const int first = def->free_base ? 1 : 0;
        const int any = first + (int)(test_random_bits(&from->rng) % (uint64_t)(b - first));
        const tal_body_ix parent = {def->chain ? b - 1 : any};
        const tal_body_ix added = add_kind(matter, parent, &body, deal(from), &from->rng);
        ck_assert_msg(added.i == b, "%s", tal_system_error(tal_matter_system(matter))->message);
    }
}

random_tree random_tree_create(const random_tree_def *def)
{
    dealer from = {.rng = test_rng_seed(def->seed)};
    random_tree tree = {.system = tal_system_create(NULL), .num_bodies = def->num_bodies + 1};
    tree.matter = tal_matter_create(tree.system);
    add_bodies(def, tree.matter, &from);
    if (def->add_more != NULL) def->add_more(tree.matter, def->context);
    for (int b = 1; b < tree.num_bodies; ++b) {
        tree.nu += tal_body_nu(tree.matter, (tal_body_ix){b});
    }
    tree.F = calloc((size_t)tree.num_bodies, sizeof *tree.F);
    tree.f = calloc((size_t)tree.nu + 1, sizeof *tree.f);
    random_tree *loads = malloc(sizeof *loads);
    ck_assert(tree.F != NULL && tree.f != NULL && loads != NULL);
    for (int b = 1; b < tree.num_bodies; ++b) {
        tree.F[b] = test_random_spatial_vec(&from.rng);
    }
    for (int j = 0; j < tree.nu; ++j) {
        tree.f[j] = test_random_uniform(&from.rng, -1.0, 1.0);
    }
    *loads = tree; // the State is not in it: loads are the same for every State
    (void)tal_system_add_subsystem(tree.system, NULL, &loads_ops, loads);

    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(tree.system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(tree.system, &tree.state, &err) == TAL_OK, "%s", err.message);
    random_tree_shake(&tree, tree.state, &from.rng);
    return tree;
}

void random_tree_destroy(random_tree *tree)
{
    tal_state_destroy(tree->state);
    tal_system_destroy(tree->system);
    *tree = (random_tree){.system = NULL};
}

void random_tree_shake(const random_tree *tree, tal_state *state, test_rng *rng)
{
    double *q = tal_state_upd_q(state);
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < tal_state_nq(state); ++i) {
        q[i] = test_random_uniform(rng, -1.2, 1.2);
    }
    for (int j = 0; j < tal_state_nu(state); ++j) {
        u[j] = test_random_uniform(rng, -2.0, 2.0);
    }
    for (int b = 1; b < tree->num_bodies; ++b) {
        // only a quaternion makes nq differ from nu
        const tal_body_ix body = {b};
        if (tal_body_nq(tree->matter, state, body) == tal_body_nu(tree->matter, body) ||
            tal_body_uses_angles(tree->matter, state, body)) {
            continue;
        }
        const tal_quat e = test_random_quat(rng);
        const double length = test_random_uniform(rng, 0.5, 2.0);
        double *to = q + tal_body_q_start(tree->matter, state, body);
        to[0] = length * e.w, to[1] = length * e.x, to[2] = length * e.y, to[3] = length * e.z;
    }
}

void random_tree_realize(const random_tree *tree, tal_state *state, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(tree->system, state, stage) == TAL_OK, "%s",
                  tal_state_error(state)->message);
}
