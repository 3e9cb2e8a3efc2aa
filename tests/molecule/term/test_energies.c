// Tests for molecule/src/term/: energies and forces of molecules at every granularity.
#include "alloc_guard.h"
#include "molecule_support.h"

static void read_all(scene *s, tal_mol_energy *energy, tal_vec3 f[])
{
    realize(s, TAL_STAGE_POSITION);
    ck_assert_int_eq(tal_mol_calc_energy(s->molecule, s->state, energy), TAL_OK);
    ck_assert_int_eq(tal_mol_calc_forces(s->molecule, s->state, f, RICH), TAL_OK);
}

// The same atoms at the same places: the positions differ by round-off, 1e-15, times stiffnesses
// and curvatures up to 1e6.
START_TEST(energy_and_forces_are_the_same_at_every_granularity)
{
    scene s;
    rich_scene(&s);
    tal_mol_energy first;
    tal_vec3 f[RICH];
    for (int i = 0; i < NUM_HOWS; ++i) {
        const tal_mol_granularity how = how_at(i);
        tal_mol_energy energy;
        tal_vec3 g[RICH];
        open_system(&s, &how, NULL);
        read_all(&s, i == 0 ? &first : &energy, i == 0 ? f : g);
        const tal_mol_energy *e = i == 0 ? &first : &energy;
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq_tol(moving + e->frozen, e->total, 1e-9);
        if (i == 0) ck_assert_double_eq(e->frozen, 0.0);
        ck_assert_double_eq_tol(e->total, first.total, 1e-9);
        for (int a = 0; i > 0 && a < RICH; ++a) {
            test_assert_v3_near(g[a], f[a], 1e-8);
        }
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// What was left out as constant is constant: frozen terms keep their energy when q changes, and the
// element computes all others.
START_TEST(frozen_terms_stay_as_they_are)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(8);
    for (int i = 0; i < NUM_HOWS; ++i) {
        const tal_mol_granularity how = how_at(i);
        open_system(&s, &how, NULL);
        tal_mol_energy before, after;
        tal_vec3 f[RICH];
        read_all(&s, &before, f);
        scatter_q(&s, &rng, 0.02);
        read_all(&s, &after, f);
        const double moving =
            tal_force_potential_energy(s.forces, s.state, tal_mol_instance_force(s.molecule));
        ck_assert_double_eq_tol(after.frozen, before.frozen, 1e-9);
        ck_assert_double_eq_tol(moving + after.frozen, after.total, 1e-9);
        if (i == TAL_MOL_RIGID) ck_assert_double_ne(before.frozen, 0.0);
        if (i != TAL_MOL_DOMAINS) ck_assert(after.total != before.total); // there all is one body
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

static double energy_at(scene *s, const double q[], int nq)
{
    ck_assert_int_eq(tal_state_set_q(s->state, q, nq), TAL_OK);
    realize(s, TAL_STAGE_POSITION);
    return tal_force_potential_energy(s->forces, s->state, tal_mol_instance_force(s->molecule));
}

// Four points of a difference: the energy is a sum of 400 roundings to 1.5e-11, so 1e-9/h at worst;
// h^4 times a fifth derivative of some (10 / 0.1 nm)^5.
START_TEST(generalized_forces_are_the_slope_of_the_energy)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(9);
    const double h = 1e-4;
    for (int trial = 0; trial < 2 * NUM_HOWS; ++trial) {
        const tal_mol_granularity how = how_at(trial % NUM_HOWS);
        open_system(&s, &how, NULL);
        scatter_q(&s, &rng, 0.01);
        const int nq = tal_state_nq(s.state), nu = tal_state_nu(s.state);
        double q[80], direction[80], g[80], u[80], e[4];
        memcpy(q, tal_state_q(s.state), (size_t)nq * sizeof q[0]);
        for (int i = 0; i < nu; ++i) {
            u[i] = test_random_uniform(&rng, -1.0, 1.0);
        }
        ck_assert_int_eq(tal_state_set_u(s.state, u, nu), TAL_OK);
        realize(&s, TAL_STAGE_VELOCITY);
        memcpy(direction, tal_state_qdot(s.state), (size_t)nq * sizeof q[0]);
        const tal_force_ix force = tal_mol_instance_force(s.molecule);
        ck_assert_int_eq(tal_forces_calc_generalized(s.forces, s.state, &force, 1, g), TAL_OK);
        double power = 0.0, size = 1.0;
        for (int i = 0; i < nu; ++i) {
            power += g[i] * u[i];
            size = fmax(size, fabs(g[i]));
        }
        static const double steps[4] = {-2.0, -1.0, 1.0, 2.0};
        for (int k = 0; k < 4; ++k) {
            double moved[80];
            for (int i = 0; i < nq; ++i) {
                moved[i] = q[i] + steps[k] * h * direction[i];
            }
            e[k] = energy_at(&s, moved, nq);
        }
        const double slope = (e[0] - 8.0 * e[1] + 8.0 * e[2] - e[3]) / (12.0 * h);
        ck_assert_msg(fabs(slope + power) < 1e-5 + 1e-6 * size, "granularity %d: %.12g, not %.12g",
                      trial % NUM_HOWS, -slope, power);
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// Nothing outside: forces and torques about the origin of all bodies cancel.
START_TEST(a_molecule_neither_pushes_nor_turns_itself)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(10);
    for (int i = 0; i < NUM_HOWS; ++i) {
        tal_mol_granularity how = how_at(i);
        how.map_bonded = false; // forces along mobilities have reactions that are not counted here
        open_system(&s, &how, NULL);
        scatter_q(&s, &rng, 0.01);
        realize(&s, TAL_STAGE_VELOCITY);
        static tal_spatial_vec F[64];
        static double f[80];
        const int n = tal_matter_num_bodies(s.matter);
        memset(F, 0, sizeof F);
        memset(f, 0, sizeof f);
        ck_assert_int_eq(
            tal_force_apply(s.forces, s.state, tal_mol_instance_force(s.molecule), F, f), TAL_OK);
        tal_spatial_vec sum = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        double size = 1.0;
        for (int b = 1; b < n; ++b) {
            const tal_vec3 p = tal_body_p_GB(s.matter, s.state, (tal_body_ix){b});
            sum = tal_sv_add(sum, tal_sv_shift_force(F[b], p));
            size = fmax(size, tal_v3_norm(F[b].v));
        }
        ck_assert_double_le(tal_v3_norm(sum.v), 1e-13 * size + 1e-13);
        // each force is rounded to 1.5e-11, on arms of 1 nm
        ck_assert_double_le(tal_v3_norm(sum.w), 1e-9 + 1e-13 * size);
        close_system(&s);
    }
    close_scene(&s);
}

END_TEST

// The two ways of torsions agree to 1e-12 of the largest force.
START_TEST(mapped_torsions_are_those_of_the_atoms)
{
    scene s;
    rich_scene(&s);
    test_rng rng = test_rng_seed(12);
    double g[2][80], e[2];
    for (int trial = 0; trial < 10; ++trial) {
        const test_rng same = rng;
        int nu = 0;
        for (int k = 0; k < 2; ++k) {
            tal_mol_granularity how = tal_mol_granularity_default();
            how.map_bonded = k == 1;
            open_system(&s, &how, NULL);
            rng = same;
            scatter_q(&s, &rng, 0.3);
            realize(&s, TAL_STAGE_VELOCITY);
            const tal_force_ix force = tal_mol_instance_force(s.molecule);
            ck_assert_int_eq(tal_forces_calc_generalized(s.forces, s.state, &force, 1, g[k]),
                             TAL_OK);
            e[k] = tal_force_potential_energy(s.forces, s.state, force);
            nu = tal_state_nu(s.state);
            ck_assert_int_eq(tal_mol_instance_statistics(s.molecule).num_mapped > 5, k == 1);
            close_system(&s);
        }
        const double size = fmax(1.0, test_largest(g[0], nu));
        ck_assert_double_eq_tol(e[0], e[1], 1e-12 * size + 1e-9); // 60 roundings to the grid
        for (int i = 0; i < nu; ++i) {
            ck_assert_double_eq_tol(g[0][i], g[1][i], 1e-12 * size + 1e-9);
        }
    }
    close_scene(&s);
}

START_TEST(near_pairs_are_scaled_as_the_references_say)
{
    const double mass[6] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (size_t k = 0; k < sizeof ref_scaleds / sizeof ref_scaleds[0]; ++k) {
        const ref_scaled *r = &ref_scaleds[k];
        tal_ff_def def = tal_ff_def_default();
        def.mixing = TAL_FF_LORENTZ_BERTHELOT;
        def.coulomb_constant = 138.935456;
        memcpy(def.coulomb_scale, r->coulomb, sizeof def.coulomb_scale);
        memcpy(def.vdw_scale, r->vdw, sizeof def.vdw_scale);
        for (int level = 0; level < 2; ++level) {
            scene s;
            tal_mol_granularity how = tal_mol_granularity_default();
            how.level = level == 0 ? TAL_MOL_CARTESIAN : TAL_MOL_TORSIONS;
            pair_scene(&s, &def, r->num_atoms, r->sigma, r->epsilon, r->q, mass, r->x, r->bonds,
                       r->num_bonds);
            open_system(&s, &how, NULL);
            realize(&s, TAL_STAGE_POSITION);
            tal_mol_energy e;
            tal_vec3 f[6];
            ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
            ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f, r->num_atoms), TAL_OK);
            if (level == 0) {
                ck_assert_double_eq_tol(e.vdw + e.vdw14, r->e_vdw, 1e-9);
                ck_assert_double_eq_tol(e.coulomb + e.coulomb14, r->e_coulomb, 1e-9);
            }
            ck_assert_double_eq_tol(e.total, r->e_vdw + r->e_coulomb, 1e-9);
            for (int a = 0; a < r->num_atoms; ++a) {
                const tal_vec3 expected = {r->f[a][0], r->f[a][1], r->f[a][2]};
                const double size = fmax(1.0, tal_v3_norm(expected));
                test_assert_v3_near(f[a], expected, 1e-9 * size);
            }
            close_scene(&s);
        }
    }
}

END_TEST

// refs:water_dimer
START_TEST(two_rigid_waters_pull_as_the_references_say)
{
    static const int bonds[4][2] = {{0, 1}, {0, 2}, {3, 4}, {3, 5}};
    const double mass[6] = {15.9994, 1.008, 1.008, 15.9994, 1.008, 1.008};
    tal_ff_def def = tal_ff_def_default();
    def.mixing = TAL_FF_LORENTZ_BERTHELOT;
    def.coulomb_constant = 138.935456;
    for (size_t k = 0; k < sizeof ref_waters / sizeof ref_waters[0]; ++k) {
        const ref_water *r = &ref_waters[k];
        const double sigma[6] = {r->sO, r->sH, r->sH, r->sO, r->sH, r->sH};
        const double epsilon[6] = {r->eO, r->eH, r->eH, r->eO, r->eH, r->eH};
        const double charge[6] = {r->qO, r->qH, r->qH, r->qO, r->qH, r->qH};
        scene s;
        tal_mol_granularity how = tal_mol_granularity_default();
        how.level = TAL_MOL_RIGID;
        pair_scene(&s, &def, 6, sigma, epsilon, charge, mass, r->x, bonds, 4);
        open_system(&s, &how, NULL);
        realize(&s, TAL_STAGE_VELOCITY);
        tal_mol_energy e;
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e), TAL_OK);
        ck_assert_double_eq_tol(e.vdw, r->e_vdw, 1e-10 * fmax(1.0, fabs(r->e_vdw)));
        ck_assert_double_eq_tol(e.coulomb, r->e_coulomb, 1e-10 * fmax(1.0, fabs(r->e_coulomb)));
        tal_spatial_vec F[3] = {{{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}};
        double f[12] = {0.0};
        ck_assert_int_eq(
            tal_force_apply(s.forces, s.state, tal_mol_instance_force(s.molecule), F, f), TAL_OK);
        for (int b = 0; b < 2; ++b) { // the origin of a root is its mass center
            const tal_vec3 force = {r->F[b][0], r->F[b][1], r->F[b][2]};
            const tal_vec3 torque = {r->torque[b][0], r->torque[b][1], r->torque[b][2]};
            const double size = fmax(1.0, tal_v3_norm(force));
            test_assert_v3_near(F[1 + b].v, force, 1e-9 * size);
            test_assert_v3_near(F[1 + b].w, torque, 1e-9 * size);
        }
        close_scene(&s);
    }
}

END_TEST

START_TEST(scales_change_the_terms_they_name)
{
    scene s;
    rich_scene(&s);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_CARTESIAN;
    open_system(&s, &how, NULL);
    tal_mol_energy a, b;
    tal_vec3 f[RICH];
    read_all(&s, &a, f);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_COULOMB, 0.5), TAL_OK);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_BONDED, 0.0), TAL_OK);
    read_all(&s, &b, f);
    ck_assert_double_eq_tol(b.coulomb, 0.5 * a.coulomb, 1e-9);
    ck_assert_double_eq(b.vdw, a.vdw);
    ck_assert_double_eq(b.stretch, 0.0);
    ck_assert_double_eq(tal_mol_scale_of(s.molecule, s.state, TAL_MOL_SCALE_COULOMB), 0.5);
    ck_assert_int_eq(tal_mol_set_scale(s.molecule, s.state, TAL_MOL_SCALE_VDW, NAN),
                     TAL_ERR_NOT_FINITE);
    close_scene(&s);
}

END_TEST

// The sum of integers does not depend on order: a molecule with its atoms in reverse has the same
// energies and forces, bit for bit, as each contribution is the same number.
START_TEST(sums_do_not_depend_on_the_order_of_atoms)
{
    test_rng rng = test_rng_seed(15);
    double sigma[16], epsilon[16], charge[16], mass[16], x[2][16][3];
    tal_vec3 f[2][16];
    tal_mol_energy e[2];
    for (int i = 0; i < 16; ++i) {
        sigma[i] = 0.3;
        epsilon[i] = 0.5;
        charge[i] = 0.25;
        mass[i] = 1.0;
        for (int k = 0; k < 3; ++k) {
            x[0][i][k] = x[1][15 - i][k] = test_random_uniform(&rng, 0.0, 0.8);
        }
    }
    for (int k = 0; k < 2; ++k) {
        scene s;
        pair_scene(&s, NULL, 16, sigma, epsilon, charge, mass, (const double(*)[3])x[k], NULL, 0);
        open_system(&s, NULL, NULL);
        realize(&s, TAL_STAGE_POSITION);
        ck_assert_int_eq(tal_mol_calc_energy(s.molecule, s.state, &e[k]), TAL_OK);
        ck_assert_int_eq(tal_mol_calc_forces(s.molecule, s.state, f[k], 16), TAL_OK);
        close_scene(&s);
    }
    ck_assert(memcmp(&e[0], &e[1], sizeof e[0]) == 0);
    for (int i = 0; i < 16; ++i) {
        ck_assert_double_eq(f[0][i].x, f[1][15 - i].x);
        ck_assert_double_eq(f[0][i].y, f[1][15 - i].y);
        ck_assert_double_eq(f[0][i].z, f[1][15 - i].z);
    }
}

END_TEST

// Pairs close enough for forces of 1e9 are summed on the coarse grid, to 2.4e-4; at 1e20 the two
// atoms are named.
START_TEST(large_forces_are_summed_and_larger_ones_refused)
{
    const double sigma[2] = {0.3, 0.3}, epsilon[2] = {1.0, 1.0}, none[2] = {0.0, 0.0};
    const double mass[2] = {1.0, 1.0};
    for (int k = 0; k < 2; ++k) {
        const double r = k == 0 ? 0.06 : 0.005;
        const double x[2][3] = {{0.0, 0.0, 0.0}, {r, 0.0, 0.0}};
        scene s;
        pair_scene(&s, NULL, 2, sigma, epsilon, none, mass, x, NULL, 0);
        open_system(&s, NULL, NULL);
        realize(&s, TAL_STAGE_POSITION);
        tal_vec3 f[2];
        const tal_status st = tal_mol_calc_forces(s.molecule, s.state, f, 2);
        if (k == 0) {
            const double s6 = pow(0.3 / r, 6.0), expected = 24.0 * (2.0 * s6 * s6 - s6) / r;
            ck_assert_int_eq(st, TAL_OK);
            ck_assert_double_eq_tol(-f[0].x, expected, 1e-12 * expected + 2.4e-4);
            ck_assert_double_ge(expected, 1e9);
        } else {
            ck_assert_int_eq(st, TAL_ERR_NOT_FINITE);
            ck_assert(strstr(tal_state_error(s.state)->message, "atoms 0 and 1 are 0.005 nm") !=
                      NULL);
        }
        close_scene(&s);
    }
}

END_TEST

START_TEST(realizing_allocates_nothing_and_gives_the_same_bytes)
{
    scene s;
    rich_scene(&s);
    open_system(&s, NULL, NULL);
    realize(&s, TAL_STAGE_MODEL);
    tal_status st = TAL_OK;
    test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_ACCELERATION));
    ck_assert_int_eq(st, TAL_OK);
    double first[80], again[80];
    const size_t bytes = (size_t)tal_state_nu(s.state) * sizeof first[0];
    memcpy(first, tal_state_udot(s.state), bytes);
    ck_assert_int_eq(tal_state_invalidate(s.state, TAL_STAGE_INSTANCE), TAL_OK);
    realize(&s, TAL_STAGE_ACCELERATION);
    memcpy(again, tal_state_udot(s.state), bytes);
    ck_assert(memcmp(first, again, bytes) == 0);
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("energies");
    TCase *all = tcase_create("energies");
    tcase_add_test(all, energy_and_forces_are_the_same_at_every_granularity);
    tcase_add_test(all, frozen_terms_stay_as_they_are);
    tcase_add_test(all, generalized_forces_are_the_slope_of_the_energy);
    tcase_add_test(all, a_molecule_neither_pushes_nor_turns_itself);
    tcase_add_test(all, mapped_torsions_are_those_of_the_atoms);
    tcase_add_test(all, near_pairs_are_scaled_as_the_references_say);
    tcase_add_test(all, two_rigid_waters_pull_as_the_references_say);
    tcase_add_test(all, scales_change_the_terms_they_name);
    tcase_add_test(all, sums_do_not_depend_on_the_order_of_atoms);
    tcase_add_test(all, large_forces_are_summed_and_larger_ones_refused);
    tcase_add_test(all, realizing_allocates_nothing_and_gives_the_same_bytes);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
