// molecule/src/picture: what a molecule looks like.
#include "talus_test.h"

#include <talus/matter/decoration.h>
#include <talus/molecule.h>

enum {
    ATOMS = 5
};

typedef struct scene {
    tal_ff *ff;
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    const tal_mol_instance *instance;
    tal_state *state;
} scene;

// Four carbons and an oxygen in a chain that is bent and turned everywhere.
static void begin(scene *s, tal_mol_level level)
{
    static const tal_vec3 x[ATOMS] = {{0.00, 0.00, 0.00},
                                      {0.14, 0.06, 0.00},
                                      {0.26, 0.00, 0.07},
                                      {0.38, 0.09, 0.08},
                                      {0.47, 0.03, 0.18}};
    tal_error err;
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(tal_ff_create(NULL, NULL, &s->ff, &err), TAL_OK);
    tal_ff_class_def atom = tal_ff_class_def_default();
    atom.name = "C";
    atom.element = 6;
    atom.size = 0.34;
    atom.well_depth = 0.4;
    const int carbon = tal_ff_add_type(s->ff, "C", tal_ff_add_class(s->ff, &atom), 0.0);
    atom.name = "O";
    atom.element = 8;
    atom.well_depth = 0.0; // no van der Waals radius
    const int oxygen = tal_ff_add_type(s->ff, "O", tal_ff_add_class(s->ff, &atom), 0.0);
    ck_assert_int_eq(tal_ff_freeze(s->ff, &err), TAL_OK);
    const tal_mol_def def = {.allow_missing = true};
    ck_assert_int_eq(tal_mol_create(s->ff, &def, NULL, &s->mol, &err), TAL_OK);
    for (int i = 0; i < ATOMS; ++i) {
        (void)tal_mol_add_atom(s->mol, i + 1 < ATOMS ? carbon : oxygen, "a", 1, "");
        if (i > 0) (void)tal_mol_add_bond(s->mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(s->mol, x, ATOMS);
    ck_assert_int_eq(tal_mol_freeze(s->mol, &err), TAL_OK);
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    tal_forces *forces = tal_forces_create(s->system, s->matter);
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = level;
    s->instance = tal_mol_add(s->system, s->matter, forces, "m", s->mol, &how, NULL);
    ck_assert_ptr_nonnull(s->instance);
}

static void end(scene *s)
{
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

static int count(const scene *s, tal_decoration_kind kind)
{
    int found = 0;
    for (int i = 0; i < tal_matter_num_decorations(s->matter); ++i) {
        if (tal_matter_decoration(s->matter, i)->kind == kind) ++found;
    }
    return found;
}

// Where a point of a decoration's frame is.
static tal_vec3 place(const scene *s, const tal_decoration *it, tal_vec3 p)
{
    return tal_station_p_GS(s->matter, s->state, it->body, tal_xf_apply(it->X_BD, p));
}

START_TEST(balls_and_sticks_go_where_their_atoms_go)
{
    scene s;
    tal_error err;
    begin(&s, TAL_MOL_TORSIONS);
    ck_assert_int_eq(tal_mol_decorate(s.instance, s.matter, NULL), TAL_OK);
    ck_assert_int_eq(count(&s, TAL_DECORATION_SPHERE), ATOMS);
    ck_assert_int_eq(count(&s, TAL_DECORATION_CYLINDER), 2 * (ATOMS - 1));
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(s.system, &s.state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_MODEL), TAL_OK);
    for (int i = 0; i < tal_state_nq(s.state); ++i) {
        tal_state_upd_q(s.state)[i] += 0.3 * (i % 3 + 1); // not unit, which poses allow
    }
    ck_assert_int_eq(tal_system_realize(s.system, s.state, TAL_STAGE_POSITION), TAL_OK);
    tal_vec3 x[ATOMS];
    ck_assert_int_eq(tal_mol_calc_positions(s.instance, s.state, x, ATOMS), TAL_OK);
    // a few roundings of lengths below 10 nm
    static const double tolerance = 1e-14;
    for (int i = 0; i < ATOMS; ++i) {
        const tal_decoration *ball = tal_matter_decoration(s.matter, i);
        test_assert_v3_near(place(&s, ball, TAL_VEC3_ZERO), x[i], tolerance);
        // a quarter of half of 2^(1/6) 0.34 nm, and the least radius
        ck_assert_double_eq_tol(
            ball->size.x, i + 1 < ATOMS ? 0.125 * TAL_MOL_RMIN_PER_SIGMA * 0.34 : 0.03, 1e-15);
    }
    for (int b = 0; b + 1 < ATOMS; ++b) {
        const tal_vec3 middle = tal_v3_scale(0.5, tal_v3_add(x[b], x[b + 1]));
        for (int side = 0; side < 2; ++side) {
            const tal_decoration *stick = tal_matter_decoration(s.matter, ATOMS + 2 * b + side);
            const tal_vec3 half = {0.0, stick->size.y, 0.0};
            test_assert_v3_near(place(&s, stick, tal_v3_neg(half)), x[b + side], tolerance);
            test_assert_v3_near(place(&s, stick, half), middle, tolerance);
        }
    }
    end(&s);
}

END_TEST

START_TEST(bonds_of_free_atoms_are_not_drawn)
{
    scene s;
    begin(&s, TAL_MOL_CARTESIAN);
    ck_assert_int_eq(tal_mol_decorate(s.instance, s.matter, NULL), TAL_OK);
    ck_assert_int_eq(count(&s, TAL_DECORATION_SPHERE), ATOMS);
    ck_assert_int_eq(count(&s, TAL_DECORATION_CYLINDER), 0);
    end(&s);
}

END_TEST

// Each corner of a box is the end of three of its edges.
START_TEST(a_box_has_twelve_edges)
{
    scene s;
    begin(&s, TAL_MOL_RIGID);
    tal_mol_picture picture = tal_mol_picture_default();
    picture.bond_radius = 0.0;
    picture.box = tal_v3(1.0, 2.0, 3.0);
    ck_assert_int_eq(tal_mol_decorate(s.instance, s.matter, &picture), TAL_OK);
    ck_assert_int_eq(count(&s, TAL_DECORATION_LINE), 12);
    ck_assert_int_eq(count(&s, TAL_DECORATION_CYLINDER), 0);
    int ends[8] = {0};
    for (int i = ATOMS; i < ATOMS + 12; ++i) {
        const tal_decoration *line = tal_matter_decoration(s.matter, i);
        const tal_vec3 points[] = {line->X_BD.p, tal_xf_apply(line->X_BD, line->end)};
        for (int k = 0; k < 2; ++k) {
            const int corner =
                (points[k].x > 0.5) + 2 * (points[k].y > 1.0) + 4 * (points[k].z > 1.5);
            ends[corner] += 1;
        }
    }
    for (int c = 0; c < 8; ++c) {
        ck_assert_int_eq(ends[c], 3);
    }
    end(&s);
}

END_TEST

START_TEST(what_cannot_be_drawn_is_refused)
{
    test_record_breaches();
    scene s, other;
    tal_error err;
    begin(&s, TAL_MOL_TORSIONS);
    begin(&other, TAL_MOL_TORSIONS);
    tal_mol_picture wrong = tal_mol_picture_default();
    wrong.atom_scale = -1.0;
    test_assert_refused(tal_mol_decorate(s.instance, s.matter, &wrong), TAL_ERR_BAD_VALUE,
                        "atom_scale -1");
    test_assert_refused(tal_mol_decorate(NULL, s.matter, NULL), TAL_ERR_NULL, "the molecule");
    test_assert_refused(tal_mol_decorate(s.instance, NULL, NULL), TAL_ERR_NULL, "matter");
    test_assert_refused(tal_mol_decorate(s.instance, other.matter, NULL), TAL_ERR_WRONG_SYSTEM,
                        "other matter");
    ck_assert_int_eq(tal_system_realize_topology(s.system, &err), TAL_OK);
    test_assert_refused(tal_mol_decorate(s.instance, s.matter, NULL), TAL_ERR_TOPOLOGY,
                        "before its System is realized");
    end(&other);
    end(&s);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("picture");
    TCase *tc = tcase_create("picture");
    tcase_add_test(tc, balls_and_sticks_go_where_their_atoms_go);
    tcase_add_test(tc, bonds_of_free_atoms_are_not_drawn);
    tcase_add_test(tc, a_box_has_twelve_edges);
    tcase_add_test(tc, what_cannot_be_drawn_is_refused);
    suite_add_tcase(suite, tc);
    return test_run(suite);
}
