// Tests for molecule/src/term/custom.c: potentials of users between atoms of a molecule.
#include "talus_test.h"

#include <talus/molecule.h>

#include <math.h>

enum {
    SITES = 12
};

// ---- potentials: a spring, and one that holds two bodies in line, as bases that stack

static tal_status spring(const void *self, const tal_mol_site sites[], const double params[],
                         tal_mol_response *out)
{
    (void)self;
    const tal_vec3 d = tal_v3_sub(sites[0].x, sites[1].x);
    const double r = tal_v3_norm(d), stretch = r - params[1];
    out->energy = params[0] * stretch * stretch;
    out->f[0] = tal_v3_scale(-2.0 * params[0] * stretch / r, d);
    out->f[1] = tal_v3_neg(out->f[0]);
    return TAL_OK;
}

static const tal_mol_custom_ops spring_ops = {.size = sizeof(tal_mol_custom_ops),
                                              .kind = "spring",
                                              .num_sites = 2,
                                              .num_params = 2,
                                              .eval = spring};

// E = -k (a . b) exp(-r^2) with a and b the z axes: forces along d, torques a x dE/da.
static tal_status stack(const void *self, const tal_mol_site sites[], const double params[],
                        tal_mol_response *out)
{
    (void)self;
    const tal_vec3 d = tal_v3_sub(sites[0].x, sites[1].x);
    const tal_vec3 a = sites[0].R.z, b = sites[1].R.z;
    const double size = params[0] * exp(-tal_v3_dot(d, d));
    out->energy = -size * tal_v3_dot(a, b);
    out->f[0] = tal_v3_scale(2.0 * out->energy, d);
    out->f[1] = tal_v3_neg(out->f[0]);
    out->t[0] = tal_v3_scale(size, tal_v3_cross(a, b)); // -a x dE/da
    out->t[1] = tal_v3_neg(out->t[0]);
    return TAL_OK;
}

static const tal_mol_custom_ops stack_ops = {.size = sizeof(tal_mol_custom_ops),
                                             .kind = "stack",
                                             .num_sites = 2,
                                             .num_params = 1,
                                             .eval = stack};

static int num_destroyed;

static void count_destroy(void *self)
{
    num_destroyed += *(int *)self;
}

static tal_status give_up(const void *self, const tal_mol_site sites[], const double params[],
                          tal_mol_response *out)
{
    (void)self, (void)sites, (void)params, (void)out;
    return TAL_ERR_CALLBACK;
}

// ---- a scene: four rigid groups of three sites

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    const tal_mol_instance *molecule;
} scene;

static void begin(scene *s)
{
    tal_error err;
    tal_vec3 x[SITES];
    test_rng rng = test_rng_seed(81);
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def site = tal_ff_class_def_default();
    site.name = "C";
    const int type = tal_ff_add_type(s->ff, "C", tal_ff_add_class(s->ff, &site), 0.0);
    ck_assert_int_eq(tal_ff_set_type_mass(s->ff, type, 12.0), TAL_OK);
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < SITES; ++i) {
        const tal_vec3 group = tal_v3(0.5 * (i / 3 % 2), 0.5 * (i / 6), 0.1 * (i % 3));
        x[i] = tal_v3_axpy(0.1, test_random_vec3(&rng), group);
        (void)tal_mol_add_atom(s->mol, type, "C", 1, "");
        if (i % 3 > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, SITES);
    ck_assert_int_eq(tal_mol_freeze(s->mol, &err), TAL_OK);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_RIGID;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    s->molecule = tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, &how, NULL);
}

static void ready(scene *s)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS), TAL_OK);
}

static void end(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

static double energy_of(scene *s, tal_force_ix force)
{
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS), TAL_OK);
    return tal_force_potential_energy(s->forces, s->state, force);
}

// Forces along all speeds are the slopes of the energy; nothing is left over.
static void assert_slopes(scene *s, tal_force_ix force)
{
    const int nq = tal_state_nq(s->state), nu = tal_state_nu(s->state);
    tal_spatial_vec F[SITES];
    double f[6 * SITES], q[7 * SITES], qdot[7 * SITES], u[6 * SITES];
    memset(F, 0, sizeof F);
    memset(f, 0, sizeof f);
    ck_assert_int_eq(tal_force_apply(s->forces, s->state, force, F, f), TAL_OK);
    double along[6 * SITES];
    ck_assert_int_eq(tal_matter_mul_JT(s->matter, s->state, F, along), TAL_OK);
    tal_spatial_vec whole = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    for (int b = 1; b < tal_matter_num_bodies(s->matter); ++b) {
        const tal_vec3 p = tal_body_p_GB(s->matter, s->state, (tal_body_ix){b});
        const tal_vec3 moment = tal_v3_add(F[b].w, tal_v3_cross(p, F[b].v));
        whole = tal_sv_add(whole, tal_sv(moment, F[b].v));
    }
    ck_assert_double_le(tal_v3_norm(whole.w) + tal_v3_norm(whole.v), 1e-11);
    memcpy(q, tal_state_q(s->state), (size_t)nq * sizeof q[0]);
    const double h = 1e-4;
    for (int i = 0; i < nu; ++i) {
        double E[2];
        for (int k = 0; k < 2; ++k) {
            memset(u, 0, sizeof u);
            u[i] = 1.0;
            ck_assert_int_eq(tal_state_set_q(s->state, q, nq), TAL_OK);
            ck_assert_int_eq(tal_matter_mul_N(s->matter, s->state, false, u, qdot), TAL_OK);
            for (int j = 0; j < nq; ++j) {
                tal_state_upd_q(s->state)[j] = q[j] + (2 * k - 1) * h * qdot[j];
            }
            E[k] = energy_of(s, force);
        }
        // energies of 100, their third derivatives as large, by h^2
        ck_assert_double_eq_tol(along[i] + f[i], -(E[1] - E[0]) / (2.0 * h), 1e-4);
    }
    ck_assert_int_eq(tal_state_set_q(s->state, q, nq), TAL_OK);
    (void)energy_of(s, force);
}

START_TEST(terms_of_sites_and_orientations_have_their_slopes)
{
    static const int atoms[6] = {0, 3, 1, 7, 4, 10};
    static const double springs[6] = {100.0, 0.4, 50.0, 0.3, 80.0, 0.2},
                        stacks[3] = {7.0, 5.0, 9.0};
    scene s;
    begin(&s);
    const tal_force_ix a =
        tal_mol_add_terms(s.forces, s.molecule, "springs", &spring_ops, NULL, 3, atoms, springs);
    const tal_force_ix b =
        tal_mol_add_terms(s.forces, s.molecule, "stacks", &stack_ops, NULL, 3, atoms, stacks);
    ready(&s);
    ck_assert_double_gt(fabs(energy_of(&s, a)), 0.1);
    ck_assert_double_gt(fabs(energy_of(&s, b)), 0.1);
    assert_slopes(&s, a);
    assert_slopes(&s, b);
    end(&s);
}

END_TEST

// Pairs are those of different bodies that are near: as listed one by one. In a box the nearest
// image counts, wherever atoms are.
START_TEST(pairs_are_all_terms_that_are_near)
{
    static const int all[SITES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const double params[2] = {10.0, 0.5}, cutoff = 0.6;
    const tal_mol_pairs_def def = {all, SITES, params, cutoff, 0};
    scene s;
    begin(&s);
    const tal_force_ix pairs =
        tal_mol_add_pairs(s.forces, s.molecule, "pairs", &spring_ops, NULL, &def);
    ready(&s);
    assert_slopes(&s, pairs);
    for (int k = 0; k < 2; ++k) {
        tal_vec3 x[SITES];
        double expected = 0.0;
        tal_mol_nonbonded set = tal_mol_nonbonded_default();
        const double edge = 2.2; // bodies 0.3 wide
        if (k == 1) {
            set.vdw = set.coulomb = (tal_mol_range){TAL_CUTOFF_TRUNCATE, 0.0, 0.6};
            set.box = tal_v3(edge, edge, edge);
            ck_assert_int_eq(tal_mol_set_nonbonded(s.molecule, s.state, &set), TAL_OK);
            const tal_body_ix body = tal_mol_atom_body(s.molecule, 6); // to another image
            const double y = tal_body_q(s.matter, s.state, body, 5);
            ck_assert_int_eq(tal_body_set_q(s.matter, s.state, body, 5, y - 3.0 * edge), TAL_OK);
        }
        const double energy = energy_of(&s, pairs);
        ck_assert_int_eq(tal_mol_calc_positions(s.molecule, s.state, x, SITES), TAL_OK);
        for (int i = 0; i < SITES; ++i) {
            for (int j = i / 3 * 3 + 3; j < SITES; ++j) {
                tal_vec3 d = tal_v3_sub(x[i], x[j]);
                if (k == 1) {
                    d = tal_v3_sub(d, tal_v3(edge * round(d.x / edge), edge * round(d.y / edge),
                                             edge * round(d.z / edge)));
                }
                const double r = tal_v3_norm(d);
                if (r < cutoff) expected += 10.0 * (r - 0.5) * (r - 0.5);
            }
        }
        ck_assert_double_gt(expected, 0.01);
        ck_assert_double_eq_tol(energy, expected, 1e-12);
    }
    end(&s);
}

END_TEST

START_TEST(failures_are_named_and_nothing_is_lost)
{
    static const int atoms[2] = {0, 99}, good[2] = {0, 3};
    static const double params[2] = {1.0, 1.0};
    int self = 1;
    tal_error err;
    scene s;
    begin(&s);
    tal_mol_custom_ops ops = spring_ops;
    ops.destroy = count_destroy;
    num_destroyed = 0;
    ck_assert_int_lt(
        tal_mol_add_terms(s.forces, s.molecule, "bad", &ops, &self, 1, atoms, params).i, 0);
    ck_assert_int_eq(num_destroyed, 1);
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "no such atom"));
    end(&s);
    begin(&s);
    ops.eval = give_up;
    const tal_force_ix force =
        tal_mol_add_terms(s.forces, s.molecule, "fails", &ops, &self, 1, good, params);
    ck_assert_int_ge(force.i, 0);
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(s.system, &s.state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_DYNAMICS), TAL_ERR_CALLBACK);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.state)->message, "spring"));
    end(&s);
    ck_assert_int_eq(num_destroyed, 2);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("custom");
    TCase *all = tcase_create("custom");
    tcase_add_test(all, terms_of_sites_and_orientations_have_their_slopes);
    tcase_add_test(all, pairs_are_all_terms_that_are_near);
    tcase_add_test(all, failures_are_named_and_nothing_is_lost);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
