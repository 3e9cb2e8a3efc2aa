// What a molecule looks like: decorations of its bodies.
#include "error_internal.h"

#include "term/instance_internal.h"

#include <talus/matter/decoration.h>
#include <talus/molecule/picture.h>

#include <math.h>

tal_mol_picture tal_mol_picture_default(void)
{
    const tal_mol_picture picture = {
        .atom_scale = 0.25, .least_radius = 0.03, .bond_radius = 0.015};
    return picture;
}

// ---- colors

typedef struct paint {
    int element;
    tal_vec3 color;
} paint;

static const paint paints[] = {
    {1, {0.9, 0.9, 0.9}},   {6, {0.35, 0.35, 0.35}}, {7, {0.2, 0.3, 0.9}},
    {8, {0.85, 0.1, 0.1}},  {9, {0.3, 0.8, 0.3}},    {11, {0.55, 0.35, 0.9}},
    {12, {0.1, 0.5, 0.1}},  {15, {0.95, 0.55, 0.1}}, {16, {0.9, 0.8, 0.15}},
    {17, {0.2, 0.75, 0.2}}, {18, {0.45, 0.8, 0.85}}, {19, {0.5, 0.3, 0.8}},
    {20, {0.3, 0.6, 0.3}},  {26, {0.8, 0.45, 0.2}},  {35, {0.6, 0.25, 0.1}},
    {53, {0.5, 0.1, 0.55}}};

// Elements that have no color of their own are pink; what is no element is violet.
static tal_vec3 color_of(int element)
{
    for (size_t i = 0; i < sizeof paints / sizeof *paints; ++i) {
        if (paints[i].element == element) return paints[i].color;
    }
    return element > 0 ? tal_v3(0.9, 0.5, 0.6) : tal_v3(0.6, 0.5, 0.85);
}

// ---- atoms

static int class_of(const tal_mol *mol, int atom)
{
    return tal_ff_type_class(tal_mol_field(mol), tal_mol_atom_type(mol, atom));
}

// Half the distance at which two of them have the least energy, scaled.
static double radius_of(const tal_mol *mol, int atom, const tal_mol_picture *how)
{
    const int c = class_of(mol, atom);
    const tal_ff_pair pair = tal_ff_pair_of(tal_mol_field(mol), c, c, false);
    const double rmin = pair.A > 0.0 && pair.B > 0.0 ? pow(2.0 * pair.A / pair.B, 1.0 / 6.0) : 0.0;
    return fmax(0.5 * how->atom_scale * rmin, how->least_radius);
}

// Whether what was asked for is there; a decoration that is refused is told to the System.
static tal_status added(int number)
{
    return number >= 0 ? TAL_OK : TAL_ERR_BAD_VALUE;
}

static tal_status add_atoms(const tal_mol_instance *instance, tal_matter *matter,
                            const tal_mol_picture *how)
{
    const tal_mol *mol = tal_mol_instance_mol(instance);
    tal_status st = TAL_OK;
    for (int i = 0; i < tal_mol_num_atoms(mol) && st == TAL_OK; ++i) {
        tal_decoration ball = tal_decoration_sphere(radius_of(mol, i, how));
        ball.color = color_of(tal_ff_class_element(tal_mol_field(mol), class_of(mol, i)));
        ball.X_BD = tal_xf_from_p(tal_mol_atom_station(instance, i));
        st = added(tal_matter_add_decoration(matter, tal_mol_atom_body(instance, i), &ball));
    }
    return st;
}

// ---- bonds

// A stick on the body of atom a, from the atom on along d.
static tal_status add_stick(const tal_mol_instance *instance, tal_matter *matter, int a, tal_vec3 d,
                            double radius)
{
    const tal_vec3 y = tal_v3_normalize(d), x = tal_v3_perp(y);
    const tal_vec3 middle = tal_v3_axpy(0.5, d, tal_mol_atom_station(instance, a));
    tal_decoration stick = tal_decoration_cylinder(radius, 0.5 * tal_v3_norm(d));
    stick.color = tal_v3(0.6, 0.6, 0.6);
    stick.X_BD.R = tal_m3(x, y, tal_v3_cross(x, y));
    stick.X_BD.p = middle;
    return added(tal_matter_add_decoration(matter, tal_mol_atom_body(instance, a), &stick));
}

// Whether a bond keeps its direction on the bodies of both of its atoms.
static bool is_stick(const tal_mol_instance *instance, int bond, const int atoms[2])
{
    const tal_mol_joint joint = tal_mol_bond_joint(instance, bond);
    if (tal_mol_atom_body(instance, atoms[0]).i == tal_mol_atom_body(instance, atoms[1]).i) {
        return true;
    }
    return joint.body.i >= 0 &&
           (joint.mobility == TAL_BOND_TORSION || joint.mobility == TAL_BOND_CYLINDER ||
            joint.mobility == TAL_BOND_SLIDER);
}

// Half a stick on each side, so that both go where their atoms go.
static tal_status add_bonds(const tal_mol_instance *instance, tal_matter *matter, double radius)
{
    const tal_mol *mol = tal_mol_instance_mol(instance);
    tal_status st = TAL_OK;
    for (int b = 0; b < tal_mol_num_bonds(mol) && st == TAL_OK; ++b) {
        int atoms[2];
        tal_mol_bond_atoms(mol, b, atoms);
        const tal_vec3 half = tal_v3_scale(0.5, tal_v3_sub(tal_mol_atom_position(mol, atoms[1]),
                                                           tal_mol_atom_position(mol, atoms[0])));
        if (!is_stick(instance, b, atoms) || !(tal_v3_norm(half) > 0.0)) continue;
        st = add_stick(instance, matter, atoms[0], half, radius);
        if (st == TAL_OK) st = add_stick(instance, matter, atoms[1], tal_v3_neg(half), radius);
    }
    return st;
}

// ---- a box

// The twelve edges, on Ground.
static tal_status add_box(tal_matter *matter, tal_vec3 box)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < 12 && st == TAL_OK; ++k) {
        const int axis = k / 4;
        const double low = k % 2, high = k / 2 % 2; // where the edge is along the other two
        const tal_vec3 at = axis == 0   ? tal_v3(0.0, low * box.y, high * box.z)
                            : axis == 1 ? tal_v3(high * box.x, 0.0, low * box.z)
                                        : tal_v3(low * box.x, high * box.y, 0.0);
        const tal_vec3 edge = tal_v3_mul(box, tal_v3_axis((tal_axis)axis));
        const tal_decoration line = tal_decoration_line(at, tal_v3_add(at, edge));
        st = added(tal_matter_add_decoration(matter, TAL_GROUND, &line));
    }
    return st;
}

static bool is_size(double value)
{
    return isfinite(value) && value >= 0.0;
}

tal_status tal_mol_decorate(const tal_mol_instance *instance, tal_matter *matter,
                            const tal_mol_picture *picture)
{
    if (instance == NULL || matter == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%s is NULL",
                           instance == NULL ? "the molecule" : "matter");
    }
    const tal_mol_picture how = picture != NULL ? *picture : tal_mol_picture_default();
    const tal_vec3 box = how.box;
    if (!is_size(how.atom_scale) || !is_size(how.least_radius) || !is_size(how.bond_radius) ||
        !is_size(box.x) || !is_size(box.y) || !is_size(box.z)) {
        return TALI_BREACH(
            TAL_ERR_BAD_VALUE,
            "a picture: atom_scale %g, least_radius %g, bond_radius %g and the edges "
            "of the box must be finite and not negative",
            how.atom_scale, how.least_radius, how.bond_radius);
    }
    if (tal_system_has_topology(tal_matter_system(matter))) {
        return TALI_BREACH(TAL_ERR_TOPOLOGY, "decorate a molecule before its System is realized");
    }
    if (instance->matter != matter) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the molecule was added to other matter");
    }
    const int first = tal_matter_num_decorations(matter);
    tal_status st = add_atoms(instance, matter, &how);
    if (st == TAL_OK && how.bond_radius > 0.0) st = add_bonds(instance, matter, how.bond_radius);
    if (st == TAL_OK && box.x > 0.0) st = add_box(matter, box);
    if (instance->num_decorations > 0) return st;                // a file has one picture
    tal_mol_instance *const mine = (tal_mol_instance *)instance; // it is still being built
    mine->picture = how;
    mine->first_decoration = first;
    mine->num_decorations = tal_matter_num_decorations(matter) - first;
    return st;
}
