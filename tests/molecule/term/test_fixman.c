// Tests for molecule/src/term/fixman.c: Fixman's potential.
#include "alloc_guard.h"
#include "molecule_fixman.h"
#include "talus_test.h"

#include <talus/molecule.h>

#include <math.h>

enum {
    MOST = 16
};

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    const tal_mol_instance *molecule;
} scene;

static void close_scene(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

// A chain of sites, each bonded to the one before it or to `parent`, without any other force.
static void open_scene(scene *s, const tal_vec3 x[], const double mass[], const int parent[], int n,
                       const tal_mol_granularity *how)
{
    tal_error err;
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def site = tal_ff_class_def_default();
    site.name = "C";
    const int c = tal_ff_add_class(s->ff, &site);
    for (int i = 0; i < n; ++i) {
        static const char *const names[MOST] = {"0", "1", "2", "3", "4", "5", "6", "7",
                                                "8", "9", "a", "b", "c", "d", "e", "f"};
        ck_assert_int_eq(
            tal_ff_set_type_mass(s->ff, tal_ff_add_type(s->ff, names[i], c, 0.0), mass[i]), TAL_OK);
    }
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, i, "C", 1, "");
        if (i > 0) (void)tal_mol_add_bond(s->mol, parent != NULL ? parent[i] : i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, n);
    ck_assert_int_eq(tal_mol_freeze(s->mol, &err), TAL_OK);
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    s->molecule = tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, how, NULL);
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s->system, s->state, TAL_STAGE_MODEL), TAL_OK);
    const tal_status st = tal_mol_set_fixman_temperature(s->molecule, s->state, 300.0);
    ck_assert_int_eq(st, how->level == TAL_MOL_BAT ? TAL_ERR_BAD_VALUE : TAL_OK);
}

// The potential, and its forces along all speeds.
static double ask(scene *s, double f[])
{
    const tal_force_ix force = tal_mol_instance_force(s->molecule);
    tal_spatial_vec F[MOST + 1];
    memset(F, 0, sizeof F);
    memset(f, 0, 3 * MOST * sizeof f[0]);
    const tal_status st = tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
    ck_assert_int_eq(tal_force_apply(s->forces, s->state, force, F, f), TAL_OK);
    return tal_force_potential_energy(s->forces, s->state, force);
}

// RT/2 ln det M from the matrix itself.
static double from_matrix(scene *s)
{
    const int n = tal_matter_nu(s->matter);
    double M[9 * MOST * MOST];
    tal_error err;
    ck_assert_int_eq(tal_matter_calc_M(s->matter, s->state, tal_matrix_view(M, n, n)), TAL_OK);
    ck_assert_int_eq(tal_chol_factor(tal_matrix_view(M, n, n), NULL, &err), TAL_OK);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += 2.0 * log(fabs(M[i * n + i]));
    }
    return 0.5 * TAL_MOL_R * 300.0 * sum;
}

// refs:butane_fixman. ln det M is of order ten, and was found by other means to 2e-14 of itself;
// the torques were compared with differences to 5e-11.
START_TEST(butane_is_that_of_the_references)
{
    const double l = 0.153, bend = 112.0 * TAL_MOL_DEGREE;
    const tal_vec3 x[4] = {{l * cos(bend), l * sin(bend), 0.0},
                           {0.0, 0.0, 0.0},
                           {l, 0.0, 0.0},
                           {l - l * cos(bend), l * sin(bend), 0.0}};
    const tal_mol_granularity how = tal_mol_granularity_default();
    for (int c = 0; c < 3; ++c) {
        scene s;
        open_scene(&s, x, ref_butanes[c].mass, NULL, 4, &how);
        const tal_mol_joint joint = tal_mol_bond_joint(s.molecule, 1);
        const int u = tal_body_u_start(s.matter, joint.body);
        for (int k = 0; k < 25; ++k) {
            double f[3 * MOST];
            const double phi = 15.0 * k * TAL_MOL_DEGREE, RT = TAL_MOL_R * 300.0;
            ck_assert_int_eq(tal_body_set_q(s.matter, s.state, joint.body, 0, phi), TAL_OK);
            const double U = ask(&s, f);
            ck_assert_double_eq_tol(U, 0.5 * RT * ref_butanes[c].rows[k][0], 1e-11);
            ck_assert_double_eq_tol(f[u], ref_butanes[c].rows[k][1], 1e-10);
            for (int i = 0; i < 7; ++i) {
                if (i != u) ck_assert_double_eq(f[i], 0.0);
            }
        }
        close_scene(&s);
    }
}

END_TEST

// refs:chain8_fixman, whose torques are exact to 1e-11.
START_TEST(chains_of_eight_are_those_of_the_references)
{
    const tal_mol_granularity how = tal_mol_granularity_default();
    for (int c = 0; c < 2; ++c) {
        tal_vec3 x[8];
        double f[3 * MOST];
        for (int i = 0; i < 8; ++i) {
            x[i] = tal_v3(ref_chains[c].x[i][0], ref_chains[c].x[i][1], ref_chains[c].x[i][2]);
        }
        scene s;
        open_scene(&s, x, ref_chain_mass, NULL, 8, &how);
        const double U = ask(&s, f);
        ck_assert_double_eq_tol(U, 0.5 * TAL_MOL_R * 300.0 * ref_chains[c].log_det, 1e-11);
        for (int k = 0; k < 5; ++k) { // the torsion is about the bond of sites k + 1 and k + 2
            const tal_mol_joint joint = tal_mol_bond_joint(s.molecule, k + 1);
            const int u = tal_body_u_start(s.matter, joint.body);
            ck_assert_double_eq_tol(f[u], ref_chains[c].torque[k], 1e-10);
        }
        close_scene(&s);
    }
}

END_TEST

// In branched molecules with every mobility that is known, U is that of the matrix, and the forces
// are its slopes along all speeds, roots included; bond lengths that move have their own part.
START_TEST(forces_are_slopes_of_the_determinant)
{
    test_rng rng = test_rng_seed(71);
    static const int parent[9] = {-1, 0, 1, 2, 2, 4, 5, 1, 7};
    static const tal_bond_mobility kinds[4] = {TAL_BOND_TORSION, TAL_BOND_CYLINDER, TAL_BOND_SLIDER,
                                               TAL_BOND_BALL};
    for (int trial = 0; trial < 12; ++trial) {
        tal_vec3 x[9];
        double mass[9];
        for (int i = 0; i < 9; ++i) {
            const tal_vec3 from = i > 0 ? x[parent[i]] : TAL_VEC3_ZERO;
            const tal_vec3 step = tal_v3_scale(0.1, test_random_vec3(&rng));
            x[i] = tal_v3_add(from, tal_v3_add(step, tal_v3(0.12, 0.0, 0.02 * i)));
            mass[i] = test_random_uniform(&rng, 1.0, 20.0);
        }
        tal_mol_bond_choice choices[2] = {{1, 2, kinds[trial % 3]}, {1, 7, kinds[trial / 3]}};
        tal_mol_granularity how = tal_mol_granularity_default();
        how.bonds = choices;
        how.num_bonds = 2;
        scene s;
        open_scene(&s, x, mass, parent, 9, &how);
        double f[3 * MOST], unused[3 * MOST];
        (void)ask(&s, f);
        double lengths = 0.0;
        for (int k = 0; k < 2; ++k) {
            const tal_bond_mobility kind = choices[k].mobility;
            const double r = tal_v3_norm(tal_v3_sub(x[choices[k].a], x[choices[k].b]));
            if (kind == TAL_BOND_CYLINDER || kind == TAL_BOND_SLIDER) lengths += 2.0 * log(r);
        }
        ck_assert_double_eq_tol(ask(&s, unused), from_matrix(&s) - TAL_MOL_R * 300.0 * lengths,
                                1e-10);
        const int nq = tal_state_nq(s.state), nu = tal_state_nu(s.state);
        double q[64], qdot[64], u[64];
        memcpy(q, tal_state_q(s.state), (size_t)nq * sizeof q[0]);
        const double h = 1e-3;
        for (int i = 0; i < nu; ++i) {
            double U[4];
            for (int k = 0; k < 4; ++k) { // along N e_i; quaternions leave the unit sphere, no harm
                static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
                memset(u, 0, sizeof u);
                u[i] = 1.0;
                ck_assert_int_eq(tal_state_set_q(s.state, q, nq), TAL_OK);
                ck_assert_int_eq(tal_matter_mul_N(s.matter, s.state, false, u, qdot), TAL_OK);
                double *to = tal_state_upd_q(s.state);
                for (int j = 0; j < nq; ++j) {
                    to[j] = q[j] + steps[k] * h * qdot[j];
                }
                U[k] = ask(&s, unused);
            }
            const double slope = (U[0] - 8.0 * U[1] + 8.0 * U[2] - U[3]) / (12.0 * h);
            // bonds as short as 0.05 nm: the fifth derivative by h is up to 1e8 times h^4
            ck_assert_double_eq_tol(f[i], -slope, 1e-6 * fmax(1.0, fabs(slope)));
        }
        close_scene(&s);
    }
}

END_TEST

// Zero by default, and no cost; what is not known is refused by name; nothing is allocated.
START_TEST(the_temperature_is_in_the_state)
{
    tal_vec3 x[5];
    double f[3 * MOST];
    const double mass[5] = {14.0, 14.0, 14.0, 14.0, 14.0};
    for (int i = 0; i < 5; ++i) {
        x[i] = tal_v3(0.13 * i, 0.08 * (i % 2), 0.05 * (i % 3));
    }
    tal_mol_granularity how = tal_mol_granularity_default();
    scene s;
    open_scene(&s, x, mass, NULL, 5, &how);
    const double warm = ask(&s, f);
    tal_mol_energy e;
    ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
    ck_assert_double_eq(e.fixman, warm);
    ck_assert_double_eq(e.total, warm);
    tal_status st;
    (void)tal_state_upd_q(s.state);
    test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_DYNAMICS));
    ck_assert_int_eq(st, TAL_OK);
    ck_assert_int_eq(tal_mol_set_fixman_temperature(s.molecule, s.state, 150.0), TAL_OK);
    ck_assert_double_eq_tol(ask(&s, f), 0.5 * warm, 1e-12);
    ck_assert_int_eq(tal_mol_set_fixman_temperature(s.molecule, s.state, -1.0), TAL_ERR_BAD_VALUE);
    ck_assert_double_eq(tal_mol_fixman_temperature(s.molecule, s.state), 150.0);
    close_scene(&s);
    how.level = TAL_MOL_BAT; // bond angles that move
    open_scene(&s, x, mass, NULL, 5, &how);
    ck_assert_ptr_nonnull(strstr(tal_state_error(s.state)->message, "moves otherwise"));
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("fixman");
    TCase *all = tcase_create("fixman");
    tcase_add_test(all, butane_is_that_of_the_references);
    tcase_add_test(all, chains_of_eight_are_those_of_the_references);
    tcase_add_test(all, forces_are_slopes_of_the_determinant);
    tcase_add_test(all, the_temperature_is_in_the_state);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
