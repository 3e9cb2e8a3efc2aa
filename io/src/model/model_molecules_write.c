// Molecules of a System as elements of a file.
#include "alloc_internal.h"

#include "model/model_molecules_internal.h"

#include <stdio.h>
#include <string.h>

// ---- which molecules there are

static const tal_mol_instance *instance_of(const tali_model_writer *w, int force)
{
    return tali_term_instance_at(w->model.forces, (tal_force_ix){force});
}

bool tali_model_is_of_molecule(const tali_model_writer *w, tal_body_ix body)
{
    for (int f = 0; f < tal_forces_num(w->model.forces); ++f) {
        const tal_mol_instance *it = instance_of(w, f);
        if (it == NULL) continue;
        const tali_term_facts facts = tali_term_facts_of(it);
        if (body.i >= facts.first_body && body.i < facts.first_body + facts.num_bodies) return true;
    }
    return false;
}

bool tali_model_is_of_picture(const tali_model_writer *w, int decoration)
{
    for (int f = 0; f < tal_forces_num(w->model.forces); ++f) {
        const tal_mol_instance *it = instance_of(w, f);
        if (it == NULL) continue;
        const tali_term_facts facts = tali_term_facts_of(it);
        const int behind = facts.first_decoration + facts.num_decorations;
        if (decoration >= facts.first_decoration && decoration < behind) return true;
    }
    return false;
}

// A file has molecules behind all other bodies, and before all other forces.
static void check_order(tali_model_writer *w, int force)
{
    const tal_matter *matter = w->model.matter;
    const tali_term_facts facts = tali_term_facts_of(instance_of(w, force));
    const char *name = tal_force_name(w->model.forces, (tal_force_ix){force});
    for (int f = 0; f < force; ++f) {
        if (instance_of(w, f) != NULL) continue;
        tali_model_write_refuse(w,
                                "molecule '%s' was added after force '%s': in a file molecules "
                                "come before all other forces",
                                name, tal_force_name(w->model.forces, (tal_force_ix){f}));
    }
    for (int b = facts.first_body; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        if (!tali_model_is_of_molecule(w, body)) {
            tali_model_write_refuse(w,
                                    "body '%s' was added after molecule '%s': in a file "
                                    "molecules come behind all other bodies",
                                    tal_body_name(matter, body), name);
            return;
        }
    }
}

// What a file cannot say of the bodies of a molecule.
static void check_bodies(tali_model_writer *w, const tal_mol_instance *instance)
{
    const tal_model *model = &w->model;
    const tali_term_facts facts = tali_term_facts_of(instance);
    for (int b = facts.first_body; b < facts.first_body + facts.num_bodies; ++b) {
        const tal_body_ix body = {b};
        const char *flaw = NULL;
        if (tal_body_lock_level(model->matter, model->state, body) != TAL_LEVEL_FREE) {
            flaw = "locked";
        }
        if (tal_body_uses_angles(model->matter, model->state, body)) flaw = "described by angles";
        if (flaw == NULL) continue;
        tali_model_write_refuse(w, "body '%s' of a molecule is %s, which a file cannot say",
                                tal_body_name(model->matter, body), flaw);
    }
}

bool tali_model_find_molecule(tali_model_description *d, tali_model_own_row *own)
{
    (void)own;
    const tal_forces *forces = d->w->model.forces;
    if (d->index >= tal_forces_num(forces)) return false;
    const tal_mol_instance *it = instance_of(d->w, d->index);
    if (it == NULL) return true; // no row: it is in another section
    check_order(d->w, d->index);
    check_bodies(d->w, it);
    d->name = tal_force_name(forces, (tal_force_ix){d->index});
    d->row = &tali_model_molecule_rows[0];
    return true;
}

// ---- attributes

// In the order of the attributes: choices, the picture, then what the State holds.
void tali_model_describe_molecule_shared(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_force_ix me = {d->index};
    const tal_mol_instance *it = instance_of(d->w, d->index);
    const tali_term_facts facts = tali_term_facts_of(it);
    const tal_mol_granularity *how = facts.how;
    const bool drawn = facts.num_decorations > 0;
    const tal_mol_picture picture = drawn ? facts.picture : tal_mol_picture_default();
    tali_model_say_frame(d, &facts.X_GR);
    tali_model_say_index(d, (int)how->level);
    tali_model_say_index(d, how->open_rings);
    tali_model_say_index(d, how->freeze_double);
    tali_model_say_index(d, how->map_bonded);
    tali_model_say_index(d, how->center);
    tali_model_say_index(d, how->list_room);
    if (how->root >= 0) (void)snprintf(d->digits, sizeof d->digits, "%d", how->root);
    tali_model_say_text(d, how->root >= 0 ? d->digits : "");
    tali_model_say_index(d, drawn);
    tali_model_say_number(d, picture.atom_scale);
    tali_model_say_number(d, picture.least_radius);
    tali_model_say_number(d, picture.bond_radius);
    tali_model_say_index(d, tal_force_is_enabled(model->forces, model->state, me));
    for (int s = 0; s < TAL_NUM_MOL_SCALES; ++s) {
        tali_model_say_number(d, tal_mol_scale_of(it, model->state, (tal_mol_scale)s));
    }
    tali_model_say_number(d, tal_mol_fixman_temperature(it, model->state));
    tali_model_say_number(d, 0.0); // velocities are written as they are
    tali_model_say_index(d, 0);
    const tal_body_ix first = {facts.first_body}, last = {first.i + facts.num_bodies - 1};
    const int q = tal_body_q_start(model->matter, model->state, first);
    const int u = tal_body_u_start(model->matter, first);
    const int q_end = tal_body_q_start(model->matter, model->state, last) +
                      tal_body_nq(model->matter, model->state, last);
    const int u_end = tal_body_u_start(model->matter, last) + tal_body_nu(model->matter, last);
    bool is_still = true;
    for (int i = u; i < u_end; ++i) {
        is_still = is_still && tal_state_u(model->state)[i] == 0.0;
    }
    tali_model_say_values(d, tal_state_q(model->state) + q, q_end - q);
    tali_model_say_values(d, tal_state_u(model->state) + u, is_still ? 0 : u_end - u);
}

void tali_model_describe_molecule(tali_model_description *d)
{
    const tal_mol *mol = tal_mol_instance_mol(instance_of(d->w, d->index));
    const tal_mol_def def = tali_mol_def_of(mol);
    char *name = (char *)(void *)tali_model_keep_values(d, TALI_FIELD_NAME_SIZE / sizeof(double));
    tali_model_field_name(tali_model_field_number(d->w, tal_mol_field(mol)), name);
    tali_model_say_text(d, name);
    tali_model_say_index(d, def.only_added ? 2 : def.allow_missing ? 1 : 0);
}

// ---- parts

static tali_model_description part_of(tali_model_writer *w, const char *name)
{
    const tali_model_row *row = tali_model_molecule_part_rows;
    while (strcmp(row->name, name) != 0) {
        ++row;
    }
    return (tali_model_description){.w = w, .row = row};
}

static void write_part(tali_model_description *d)
{
    tali_model_write_element(d, "      ", "\n");
}

static void write_atoms(tali_model_writer *w, const tal_mol *mol)
{
    const tal_ff *ff = tal_mol_field(mol);
    for (int i = 0; i < tal_mol_num_atoms(mol); ++i) {
        const int type = tal_mol_atom_type(mol, i);
        tali_model_description d = part_of(w, "atom");
        double *charge = tali_model_keep_values(&d, 1);
        *charge = tal_mol_atom_charge(mol, i);
        tali_model_say_text(&d, tal_ff_type_name(ff, type));
        tali_model_say_text(&d, tal_mol_atom_name(mol, i));
        tali_model_say_index(&d, tal_mol_atom_residue(mol, i));
        tali_model_say_text(&d, tal_mol_atom_chain(mol, i));
        tali_model_say_vec3(&d, tal_mol_atom_position(mol, i));
        tali_model_say_values(&d, charge, *charge != tal_ff_type_charge(ff, type));
        write_part(&d);
    }
}

static void write_bonds(tali_model_writer *w, const tal_mol *mol, const tal_mol_granularity *how)
{
    for (int b = 0; b < tal_mol_num_bonds(mol); ++b) {
        int atoms[2], mobility = 0;
        char text[32];
        tal_mol_bond_atoms(mol, b, atoms);
        for (int c = 0; c < how->num_bonds; ++c) { // the last one wins
            const tal_mol_bond_choice *it = &how->bonds[c];
            if (tal_mol_find_bond(mol, it->a, it->b) == b) mobility = 1 + (int)it->mobility;
        }
        (void)snprintf(text, sizeof text, "%d %d", atoms[0], atoms[1]);
        tali_model_description d = part_of(w, "bond");
        tali_model_say_text(&d, text);
        tali_model_say_index(&d, tal_mol_bond_order(mol, b));
        tali_model_say_index(&d, mobility);
        tali_model_say_values(&d, NULL, 0); // q is written as a whole
        write_part(&d);
    }
}

// Numbers of atoms that grow into a text.
typedef struct atom_text {
    tal_allocator allocator;
    char *text;
    size_t length, size;
} atom_text;

enum {
    ATOM_DIGITS = 12 // of one atom, with a blank
};

static bool begin_atoms(tali_model_writer *w, atom_text *out, int most)
{
    *out = (atom_text){.allocator = tal_system_allocator(w->model.system),
                       .size = (size_t)ATOM_DIGITS * (size_t)most + 2};
    out->text = tali_alloc(&out->allocator, out->size);
    if (out->text != NULL) return true;
    tali_model_write_refuse(w, "no memory for the numbers of %d atoms", most);
    return false;
}

static void put_atom(atom_text *out, int atom)
{
    const int n = snprintf(out->text + out->length, out->size - out->length, "%s%d",
                           out->length > 0 ? " " : "", atom);
    out->length += (size_t)n;
}

// Clusters that are in no other, with all their atoms.
static void write_clusters(tali_model_writer *w, const tal_mol *mol)
{
    for (int c = 0; c < tal_mol_num_clusters(mol); ++c) {
        atom_text atoms;
        int cluster = 0, atom = 0;
        if (!begin_atoms(w, &atoms, tal_mol_cluster_size(mol, c))) return;
        for (int i = 0; tali_mol_placement_at(mol, i, &cluster, &atom); ++i) {
            if (cluster == c) put_atom(&atoms, atom);
        }
        if (atoms.length > 0) {
            tali_model_description d = part_of(w, "cluster");
            tali_model_say_text(&d, tali_mol_cluster_name(mol, c));
            tali_model_say_text(&d, atoms.text);
            write_part(&d);
        }
        tali_free(&atoms.allocator, atoms.text, atoms.size);
    }
}

static void write_selections(tali_model_writer *w, const tal_mol_granularity *how)
{
    for (int s = 0; s < how->num_selections; ++s) {
        const tal_mol_selection *it = &how->selections[s];
        atom_text atoms;
        if (!begin_atoms(w, &atoms, it->atoms != NULL ? it->num_atoms : 0)) return;
        for (int i = 0; it->atoms != NULL && i < it->num_atoms; ++i) {
            put_atom(&atoms, it->atoms[i]);
        }
        tali_model_description d = part_of(w, "select");
        double *residues = tali_model_keep_values(&d, 2);
        residues[0] = it->first_residue;
        residues[1] = it->last_residue;
        tali_model_say_index(&d, (int)it->level);
        tali_model_say_text(&d, it->chain != NULL ? it->chain : "*");
        tali_model_say_values(&d, residues, it->last_residue >= it->first_residue ? 2 : 0);
        tali_model_say_text(&d, it->atoms != NULL ? atoms.text : "*");
        write_part(&d);
        tali_free(&atoms.allocator, atoms.text, atoms.size);
    }
}

// Terms with parameters of their own, of one family.
static void write_terms(tali_model_writer *w, const tal_mol *mol, tal_mol_family family)
{
    static const char *const names[TAL_NUM_MOL_FAMILIES] = {"stretch", "bend", "urey_bradley",
                                                            "torsion", "improper"};
    int atoms[4];
    const tali_field_law *law;
    for (int i = 0; (law = tali_mol_own_term(mol, family, i, atoms)) != NULL; ++i) {
        char text[4 * ATOM_DIGITS + 1];
        int n = 0;
        for (int k = 0; k < 4 && atoms[k] >= 0; ++k) {
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", k > 0 ? " " : "", atoms[k]);
        }
        tali_model_description d = part_of(w, names[family]);
        tali_model_say_text(&d, text);
        if (family >= TAL_MOL_TORSION) {
            tali_model_say_waves(&d, law, true);
        } else {
            tali_model_say_number(&d, law->k);
            tali_model_say_number(&d, law->x0);
            tali_model_say_index(&d, law->kind == TALI_COSINE_BEND);
        }
        write_part(&d);
    }
}

static void write_pairs(tali_model_writer *w, const tal_mol_instance *instance)
{
    tal_mol_nonbonded it;
    if (tal_mol_get_nonbonded(instance, w->model.state, &it) != TAL_OK) return;
    tali_model_description d = part_of(w, "pairs");
    const double numbers[] = {it.vdw.start,    it.vdw.end,      it.coulomb.start, it.coulomb.end,
                              it.permittivity, it.debye_length, it.outside,       it.box.x,
                              it.box.y,        it.box.z,        it.solute,        it.solvent,
                              it.surface,      it.skin};
    tali_model_say_index(&d, (int)it.vdw.kind);
    tali_model_say_index(&d, (int)it.coulomb.kind);
    tali_model_say_index(&d, (int)it.dielectric);
    tali_model_say_index(&d, it.born);
    tali_model_say_index(&d, it.all_pairs);
    tali_model_say_numbers(&d, numbers, sizeof numbers / sizeof *numbers);
    write_part(&d);
}

void tali_model_write_molecule_parts(tali_model_description *d)
{
    const tal_mol_instance *it = instance_of(d->w, d->index);
    const tali_term_facts facts = tali_term_facts_of(it);
    const tal_mol *mol = tal_mol_instance_mol(it);
    tali_model_sink_put(&d->w->out, "\n");
    write_atoms(d->w, mol);
    write_bonds(d->w, mol, facts.how);
    write_clusters(d->w, mol);
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        write_terms(d->w, mol, (tal_mol_family)f);
    }
    write_selections(d->w, facts.how);
    write_pairs(d->w, it);
    tali_model_sink_put(&d->w->out, "    ");
}
