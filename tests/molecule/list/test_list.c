// Tests for molecule/src/list and molecule/src/kernel: lists of neighbors give the bits of looking
// at every pair, whatever they were made for.
#include "alloc_guard.h"
#include "list/list_internal.h"
#include "talus_test.h"

#include <talus/molecule.h>

enum {
    MANY = 400
};

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_mol_instance *molecule;
} scene;

static void close_scene(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

typedef struct setup {
    int classes;
    double charge;
    bool is_bonded; // in threes
    tal_mol_level level;
    int room;
} setup;

static void add_classes(scene *s, const setup *how)
{
    tal_error err;
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    for (int c = 0; c < how->classes; ++c) {
        static const char *const names[3] = {"A", "B", "C"};
        tal_ff_class_def one = tal_ff_class_def_default();
        one.name = names[c];
        one.size = 0.28 + 0.03 * c;
        one.well_depth = 0.9 + 0.2 * c;
        const int made = tal_ff_add_class(s->ff, &one);
        const int type =
            tal_ff_add_type(s->ff, names[c], made, c == 1 ? -how->charge : how->charge);
        ck_assert_int_eq(tal_ff_set_type_mass(s->ff, type, 20.0 + c), TAL_OK);
    }
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
}

static void open_scene(scene *s, const setup *how, const tal_vec3 x[], int n)
{
    tal_error err;
    memset(s, 0, sizeof *s);
    add_classes(s, how);
    const tal_mol_def bare = {.only_added = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &bare, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < n; ++i) {
        (void)tal_mol_add_atom(s->mol, i % how->classes, "X", 1, "");
        const bool is_near = i % 3 > 0 && i / 8 == (i - 1) / 8; // in one row of eight
        if (how->is_bonded && is_near) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, n);
    ck_assert_msg(tal_mol_freeze(s->mol, &err) == TAL_OK, "%s", err.message);
    tal_mol_granularity g = tal_mol_granularity_default();
    g.level = how->level;
    g.list_room = how->room;
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
    s->molecule =
        (tal_mol_instance *)tal_mol_add(s->system, s->matter, s->forces, "mol", s->mol, &g, NULL);
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
}

// On a grid and a little off it: nobody is too close.
static void random_atoms(test_rng *rng, tal_vec3 x[], int n, double size)
{
    const int k = (int)ceil(cbrt(n));
    for (int i = 0; i < n; ++i) {
        const tal_vec3 at = tal_v3(i / (k * k), i / k % k, i % k);
        x[i] = tal_v3_axpy(0.15 * size / k, test_random_vec3(rng), tal_v3_scale(size / k, at));
    }
}

static tal_mol_nonbonded settings(int kind, double end, double edge, double skin)
{
    tal_mol_nonbonded set = tal_mol_nonbonded_default();
    set.vdw = (tal_mol_range){(tal_mol_cutoff)kind, 0.7 * end, end};
    set.coulomb = set.vdw;
    set.box = tal_v3(edge, edge, edge);
    set.skin = skin;
    return set;
}

// What a State says of its forces: on bodies, along speeds, and their energy.
typedef struct answer {
    tal_spatial_vec F[MANY + 1];
    double f[3 * MANY], energy;
} answer;

static void ask(scene *s, const tal_mol_nonbonded *set, answer *out)
{
    const tal_force_ix force = tal_mol_instance_force(s->molecule);
    memset(out, 0, sizeof *out);
    ck_assert_msg(tal_mol_set_nonbonded(s->molecule, s->state, set) == TAL_OK, "%s",
                  tal_state_error(s->state)->message);
    const tal_status st = tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(s->state)->message);
    ck_assert_int_eq(tal_force_apply(s->forces, s->state, force, out->F, out->f), TAL_OK);
    out->energy = tal_force_potential_energy(s->forces, s->state, force);
}

// The answer, and that of all pairs, one by one: the same bytes.
static void assert_as_all_pairs(scene *s, tal_mol_nonbonded set)
{
    static answer listed, every;
    ask(s, &set, &listed);
    set.all_pairs = true;
    ask(s, &set, &every);
    ck_assert(fabs(every.energy) > 1e-3);
    ck_assert_msg(memcmp(&listed, &every, sizeof every) == 0, "energies %.17g and %.17g",
                  listed.energy, every.energy);
}

static void move(scene *s, test_rng *rng, double size)
{
    double *q = tal_state_upd_q(s->state);
    for (int i = 0; i < tal_state_nq(s->state); ++i) {
        q[i] += size * test_random_uniform(rng, -1.0, 1.0);
    }
}

// Every cutoff and dielectric that kernels know, with one class and several, with charges and
// without, on every processor that this machine runs.
START_TEST(kernels_round_as_single_pairs_do)
{
    test_rng rng = test_rng_seed(51);
    tal_vec3 x[MANY];
    random_atoms(&rng, x, MANY, 2.4);
    for (int k = 0; k < 4; ++k) {
        const setup how = {.classes = k % 2 == 0 ? 1 : 3,
                           .charge = k < 2 ? 0.0 : 0.4,
                           .level = TAL_MOL_CARTESIAN,
                           .room = 64};
        scene s;
        open_scene(&s, &how, x, MANY);
        for (int p = 0; p < TALI_NUM_PROCESSORS; ++p) {
            if (!tali_lanes_for((tali_processor)p, &s.molecule->kernels)) continue;
            for (int c = 0; c < 7 * 4; ++c) {
                tal_mol_nonbonded set = settings(c % 7, 0.8, c % 7 == 0 ? 0.0 : 2.4, 0.1);
                set.dielectric = (tal_mol_dielectric)(c / 7);
                set.permittivity = 1.7;
                const bool is_field = set.dielectric == TAL_DIELECTRIC_REACTION_FIELD;
                if (is_field && set.coulomb.kind != TAL_CUTOFF_TRUNCATE) continue;
                if (!is_field && set.dielectric != TAL_DIELECTRIC_CONSTANT &&
                    set.coulomb.kind == TAL_CUTOFF_FORCE_SWITCH) {
                    continue;
                }
                assert_as_all_pairs(&s, set);
                move(&s, &rng, 1e-3);
            }
        }
        close_scene(&s);
    }
}

END_TEST

// Atoms wander through a box and out of it, with skins short and long, lists that are kept, made
// anew, or have no room; alone, as rigid threes, as chains.
START_TEST(lists_give_the_bytes_of_all_pairs_while_atoms_move)
{
    test_rng rng = test_rng_seed(52);
    static const tal_mol_level levels[3] = {TAL_MOL_CARTESIAN, TAL_MOL_RIGID, TAL_MOL_TORSIONS};
    static const double skins[3] = {0.0, 0.03, 0.3};
    tal_vec3 x[MANY];
    for (int trial = 0; trial < 9; ++trial) {
        const setup how = {.classes = 1 + trial % 2,
                           .charge = trial % 2 == 0 ? 0.0 : 0.3,
                           .is_bonded = trial >= 3,
                           .level = levels[trial / 3],
                           .room = trial % 4 == 3 ? 2 : 64};
        random_atoms(&rng, x, MANY, 2.7);
        scene s;
        open_scene(&s, &how, x, MANY);
        const double edge = trial % 3 == 2 ? 0.0 : 2.7;
        tal_mol_nonbonded set = settings(TAL_CUTOFF_FORCE_SHIFT, 0.7, edge, skins[trial % 3]);
        if (trial == 5) set = settings(TAL_CUTOFF_NONE, 0.0, 0.0, 0.1);
        for (int step = 0; step < 12; ++step) {
            assert_as_all_pairs(&s, set);
            move(&s, &rng, step == 8 ? 0.1 : 0.01);
        }
        const tal_mol_list list = tal_mol_list_of(s.molecule, s.state);
        ck_assert_int_gt(list.num_builds, 0);
        ck_assert_int_eq(list.num_entries > list.room, how.room == 2);
        close_scene(&s);
    }
}

END_TEST

// A list holds until an atom has moved by half of the skin.
START_TEST(lists_are_made_when_atoms_have_moved_too_far)
{
    test_rng rng = test_rng_seed(53);
    tal_vec3 x[MANY];
    random_atoms(&rng, x, MANY, 2.7);
    const setup how = {.classes = 1, .level = TAL_MOL_CARTESIAN, .room = 64};
    static answer out;
    scene s;
    open_scene(&s, &how, x, MANY);
    const tal_mol_nonbonded set = settings(TAL_CUTOFF_TRUNCATE, 0.7, 2.7, 0.1);
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 0);
    ask(&s, &set, &out);
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 1);
    tal_state_upd_q(s.state)[7] += 0.0499;
    ask(&s, &set, &out);
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 1);
    tal_state_upd_q(s.state)[7] += 0.0002;
    ask(&s, &set, &out);
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 2);
    tal_mol_nonbonded other = set;
    other.box.y = 2.71; // another box, another cutoff, another skin
    ask(&s, &other, &out);
    other.vdw.end = other.coulomb.end = 0.8;
    ask(&s, &other, &out);
    other.skin = 0.05;
    ask(&s, &other, &out);
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 5);
    close_scene(&s);
}

END_TEST

// Without a cutoff the list is of all pairs and holds for ever; nothing is allocated.
START_TEST(a_list_of_all_pairs_holds_for_ever)
{
    test_rng rng = test_rng_seed(54);
    tal_vec3 x[30];
    random_atoms(&rng, x, 30, 1.0);
    const setup how = {.classes = 2, .charge = 0.2, .level = TAL_MOL_CARTESIAN, .room = 64};
    static answer out;
    scene s;
    open_scene(&s, &how, x, 30);
    const tal_mol_nonbonded set = tal_mol_nonbonded_default();
    ask(&s, &set, &out);
    for (int i = 0; i < 10; ++i) {
        move(&s, &rng, 0.02);
        tal_status st;
        test_assert_no_heap(st = tal_system_realize(s.system, s.state, TAL_STAGE_DYNAMICS));
        ck_assert_int_eq(st, TAL_OK);
    }
    ck_assert_int_eq(tal_mol_list_of(s.molecule, s.state).num_builds, 1);
    close_scene(&s);
}

END_TEST

// Forces beyond 2^15 do not fit the sums of the kernels, those beyond 2^22 not the fine grid: both
// are as pair by pair. What is beyond everything is an error, as are atoms that are nowhere.
START_TEST(large_forces_are_those_of_single_pairs)
{
    test_rng rng = test_rng_seed(55);
    tal_vec3 x[MANY];
    random_atoms(&rng, x, MANY, 2.7);
    const setup how = {.classes = 1, .level = TAL_MOL_CARTESIAN, .room = 64};
    scene s;
    open_scene(&s, &how, x, MANY);
    const tal_mol_nonbonded set = settings(TAL_CUTOFF_TRUNCATE, 0.7, 2.7, 0.1);
    static const double near[4] = {0.2, 0.14, 0.08, 0.05};
    for (int k = 0; k < 4; ++k) { // atom 1 close to atom 0; q is where an atom is
        const double *q = tal_state_q(s.state);
        const double there[3] = {q[0] + near[k], q[1], q[2]};
        memcpy(tal_state_upd_q(s.state) + 3, there, sizeof there);
        assert_as_all_pairs(&s, set);
    }
    tal_state_upd_q(s.state)[5] = TALI_NAN;
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_DYNAMICS), TAL_ERR_NOT_FINITE);
    close_scene(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("list");
    TCase *many = tcase_create("list");
    tcase_set_timeout(many, 60.0);
    tcase_add_test(many, kernels_round_as_single_pairs_do);
    tcase_add_test(many, lists_give_the_bytes_of_all_pairs_while_atoms_move);
    tcase_add_test(many, lists_are_made_when_atoms_have_moved_too_far);
    tcase_add_test(many, a_list_of_all_pairs_holds_for_ever);
    tcase_add_test(many, large_forces_are_those_of_single_pairs);
    suite_add_tcase(suite, many);
    return test_run(suite);
}
