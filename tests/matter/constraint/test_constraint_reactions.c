// matter/src/response/response_reaction.c with constraints: a constraint is as good as the force it
// applies.
#include "talus_test.h"

#include <talus/matter.h>

#include <string.h>

enum {
    LINKS = 5
};

// A chain of pins about changing axes. Gravity acts on every link, and `pull` on the tip.
typedef struct chain {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_body_ix link[LINKS];
    tal_vec3 hold; // where the tip is, and Ground holds it
    tal_vec3 pull; // N, on the tip, in Ground; the opposite acts on Ground
} chain;

static const tal_vec3 TIP = {0.1, -0.7, 0.2};

static tal_status apply(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const chain *c = self;
    const tal_applied_forces forces = tal_matter_upd_forces(c->matter, state);
    const tal_bodies_view poses = tal_matter_poses(c->matter, state);
    for (int i = 0; i < LINKS; ++i) {
        tal_vec3 com;
        const double mass = tal_body_mass(c->matter, state, c->link[i], &com);
        tal_apply_station_force(&poses, c->link[i].i, com, tal_v3(0.0, -9.81 * mass, 0.0),
                                forces.F_GM);
    }
    const tal_xform X_MB = tal_body_X_MB(c->matter, state, c->link[LINKS - 1]);
    tal_apply_station_force(&poses, c->link[LINKS - 1].i, tal_xf_apply(X_MB, TIP), c->pull,
                            forces.F_GM);
    tal_apply_station_force(&poses, 0, c->hold, tal_v3_neg(c->pull), forces.F_GM);
    return TAL_OK;
}

static const tal_subsystem_ops load_ops = {
    .size = sizeof load_ops, .name = "load", .realize_dynamics = apply};

static void chain_create(chain *c, bool held)
{
    c->system = tal_system_create(NULL);
    c->matter = tal_matter_create(c->system);
    test_rng rng = test_rng_seed(17);
    tal_body_ix parent = TAL_GROUND;
    for (int i = 0; i < LINKS; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        def.X_BM = test_random_xform(&rng);
        parent = c->link[i] = tal_matter_add_pin(c->matter, parent, &def);
    }
    if (held) {
        tal_constraint_def def = tal_constraint_def_default();
        def.bodies[1] = parent;
        tal_constraint_add_ball(c->matter, &def, c->hold, TIP);
    }
    tal_system_add_subsystem(c->system, NULL, &load_ops, c);
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(c->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(c->system, &c->state, &err) == TAL_OK, "%s", err.message);
}

static void chain_realize(chain *c)
{
    for (int i = 0; i < LINKS; ++i) {
        tal_body_set_q(c->matter, c->state, c->link[i], 0, 0.3 * i - 0.5);
        tal_body_set_u(c->matter, c->state, c->link[i], 0, 0.7 - 0.2 * i);
    }
    ck_assert_msg(tal_system_realize(c->system, c->state, TAL_STAGE_ACCELERATION) == TAL_OK, "%s",
                  tal_state_error(c->state)->message);
}

static void chain_destroy(chain *c)
{
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
}

// The constraint resists with -G^T lambda: -lambda on the tip, lambda on Ground. Given these as
// applied forces, the chain without the constraint moves alike and its mobilizers bear the same.
// Sums over five bodies of forces up to 1e3 N leave 1e-11.
START_TEST(mobilizers_bear_what_the_constraint_adds)
{
    chain pulled = {.pull = TAL_VEC3_ZERO};
    chain_create(&pulled, false);
    chain_realize(&pulled);
    const tal_vec3 tip =
        tal_xf_apply(tal_body_X_GB(pulled.matter, pulled.state, pulled.link[LINKS - 1]), TIP);
    chain held = {.hold = tip};
    chain_create(&held, true);
    chain_realize(&held);
    ck_assert_double_le(fabs(tal_state_qerr(held.state)[0]), 1e-14);

    const double *lambda = tal_state_multipliers(held.state);
    pulled.hold = tip;
    pulled.pull = tal_v3(-lambda[0], -lambda[1], -lambda[2]);
    ck_assert(tal_v3_norm(pulled.pull) > 1.0);
    chain_realize(&pulled);

    for (int i = 0; i < LINKS; ++i) {
        ck_assert_double_eq_tol(tal_state_udot(held.state)[i], tal_state_udot(pulled.state)[i],
                                1e-13);
    }
    for (int b = 0; b <= LINKS; ++b) {
        const tal_body_ix body = {b};
        test_assert_sv_near(tal_body_reaction_M(held.matter, held.state, body),
                            tal_body_reaction_M(pulled.matter, pulled.state, body), 3e-12);
    }
    chain_destroy(&held);
    chain_destroy(&pulled);
}

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("matter/constraint_reactions");
    TCase *tc = tcase_create("theory");
    tcase_add_test(tc, mobilizers_bear_what_the_constraint_adds);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
