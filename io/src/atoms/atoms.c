// Atoms in memory: building and reading them.
#include "atoms/atoms_internal.h"

#include <talus/common/rotation.h>
#include <talus/molecule/units.h>

#include <string.h>

tal_atom tal_atom_default(void)
{
    const tal_atom atom = {.name = "",
                           .residue = "",
                           .chain = "",
                           .insertion = "",
                           .residue_number = 1,
                           .occupancy = 1.0};
    return atom;
}

tal_atoms *tal_atoms_create(const tal_allocator *allocator)
{
    tal_allocator from;
    if (tali_alloc_choose(allocator, &from, __func__) != TAL_OK) return NULL;
    tal_atoms *atoms = tali_alloc(&from, sizeof *atoms);
    if (atoms != NULL) atoms->allocator = from;
    return atoms;
}

void tal_atoms_destroy(tal_atoms *atoms)
{
    if (atoms == NULL) return;
    const tal_allocator from = atoms->allocator;
    const size_t bytes = (size_t)atoms->num * sizeof(tal_vec3);
    for (int i = 0; i < atoms->num_frames; ++i) {
        tali_free(&from, atoms->frames[i].x, bytes);
        if (atoms->frames[i].v != NULL) tali_free(&from, atoms->frames[i].v, bytes);
    }
    tali_free(&from, atoms->frames, (size_t)atoms->frames_capacity * sizeof *atoms->frames);
    tali_free(&from, atoms->bonds, (size_t)atoms->bonds_capacity * sizeof *atoms->bonds);
    tali_free(&from, atoms->list, (size_t)atoms->capacity * sizeof *atoms->list);
    tali_free(&from, atoms, sizeof *atoms);
}

// --- building ---

// What is wrong with a name, as a sentence; NULL: nothing. Columns of files would run together.
const char *tali_atoms_name_flaw(const char *name, size_t most)
{
    if (name == NULL) return "is NULL";
    if (strlen(name) > most) return "is too long";
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; ++c) {
        if (*c <= ' ' || *c == 0x7f) return "has a blank or a control character";
    }
    return NULL;
}

// Names without blanks, an element that there is, numbers that are finite, and no frames yet.
static tal_status check_atom(const tal_atoms *atoms, const tal_atom *atom, const char *where)
{
    const struct {
        const char *what, *name;
        size_t most;
    } names[] = {{"name", atom->name, TAL_MAX_ATOM_NAME},
                 {"residue", atom->residue, TAL_MAX_ATOM_NAME},
                 {"chain", atom->chain, TAL_MAX_ATOM_NAME},
                 {"insertion", atom->insertion, 1}};

    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *flaw = tali_atoms_name_flaw(names[i].name, names[i].most);
        if (flaw == NULL) continue;
        return tali_breach(TAL_ERR_BAD_NAME, where, "atom %d: its %s %s", atoms->num, names[i].what,
                           flaw);
    }
    if (atom->element < 0 || atom->element > TAL_MAX_ELEMENT) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "atom %d: element %d; elements are 0 to %d",
                           atoms->num, atom->element, TAL_MAX_ELEMENT);
    }
    if (!isfinite(atom->occupancy) || !isfinite(atom->b_factor)) {
        return tali_breach(TAL_ERR_BAD_VALUE, where,
                           "atom %d: occupancy and B factor must be finite", atoms->num);
    }
    if (atoms->num_frames > 0) {
        return tali_breach(TAL_ERR_CAPACITY, where,
                           "there are frames of %d atoms: add atoms before frames", atoms->num);
    }
    return TAL_OK;
}

tal_status tal_atoms_add(tal_atoms *atoms, const tal_atom *atom)
{
    if (atoms == NULL || atom == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s NULL", atoms == NULL ? "atoms are" : "atom is");
    }
    const tal_status st = check_atom(atoms, atom, __func__);
    if (st != TAL_OK) return st;
    if (atoms->num >= TALI_ATOMS_MOST) {
        return TALI_BREACH(TAL_ERR_CAPACITY, "there are %d atoms, the most that fit", atoms->num);
    }
    if (!tali_grow(&atoms->allocator, (void **)&atoms->list, atoms->num, &atoms->capacity,
                   sizeof *atoms->list)) {
        return TAL_ERR_NO_MEMORY;
    }
    tali_atoms_one *one = &atoms->list[atoms->num++];
    *one = (tali_atoms_one){.atom = *atom};
    memcpy(one->name, atom->name, strlen(atom->name));
    memcpy(one->residue, atom->residue, strlen(atom->residue));
    memcpy(one->chain, atom->chain, strlen(atom->chain));
    memcpy(one->insertion, atom->insertion, strlen(atom->insertion));
    return TAL_OK;
}

tal_status tal_atoms_add_bond(tal_atoms *atoms, int a, int b, int order)
{
    if (atoms == NULL) return TALI_BREACH(TAL_ERR_NULL, "the atoms are NULL");
    if (a < 0 || a >= atoms->num || b < 0 || b >= atoms->num) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "a bond of atoms %d and %d: atoms are 0 to %d", a, b,
                           atoms->num - 1);
    }
    if (a == b || order < 1 || order > 3) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "a bond of atoms %d and %d of order %d: atoms must be two, and orders "
                           "are 1, 2 and 3",
                           a, b, order);
    }
    if (!tali_grow(&atoms->allocator, (void **)&atoms->bonds, atoms->num_bonds,
                   &atoms->bonds_capacity, sizeof *atoms->bonds)) {
        return TAL_ERR_NO_MEMORY;
    }
    atoms->bonds[atoms->num_bonds++] = (tali_atoms_bond){a, b, order};
    return TAL_OK;
}

// A box has three lengths, and three angles that a corner can have.
const char *tali_atoms_box_flaw(const tal_atoms_frame *frame)
{
    const tal_vec3 e = frame->edges, a = frame->angles;
    if (e.x == 0.0 && e.y == 0.0 && e.z == 0.0) return NULL;
    if (!(e.x > 0.0 && e.y > 0.0 && e.z > 0.0) || !tal_v3_is_finite(e)) {
        return "the edges of a box must be positive";
    }
    const bool are_angles =
        a.x > 0.0 && a.y > 0.0 && a.z > 0.0 && a.x < TAL_PI && a.y < TAL_PI && a.z < TAL_PI;
    if (!are_angles || a.x + a.y + a.z >= 2.0 * TAL_PI || a.x >= a.y + a.z || a.y >= a.x + a.z ||
        a.z >= a.x + a.y) {
        return "the angles of a box must be those of a corner: each less than the sum of the "
               "others, and less than 360 degrees together";
    }
    return NULL;
}

static bool are_finite(const tal_vec3 x[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (!tal_v3_is_finite(x[i])) return false;
    }
    return true;
}

static tal_status check_frame(const tal_atoms *atoms, const tal_vec3 x[], const tal_vec3 v[], int n,
                              const tal_atoms_frame *frame, const char *where)
{
    if (n != atoms->num) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "%d positions for %d atoms", n, atoms->num);
    }
    if (!are_finite(x, n) || (v != NULL && !are_finite(v, n))) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "positions and velocities must be finite");
    }
    const char *flaw = isinf(frame->time) ? "its time is infinite" : tali_atoms_box_flaw(frame);
    if (flaw == NULL) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "frame %d: %s", atoms->num_frames, flaw);
}

tal_status tal_atoms_add_frame(tal_atoms *atoms, const tal_vec3 x[], const tal_vec3 v[], int n,
                               const tal_atoms_frame *frame)
{
    if (atoms == NULL || (x == NULL && n > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s are NULL", atoms == NULL ? "atoms" : "positions");
    }
    const tal_atoms_frame said = frame != NULL ? *frame : (tal_atoms_frame){.time = 0.0};
    const tal_status st = check_frame(atoms, x, v, n, &said, __func__);
    if (st != TAL_OK) return st;
    const size_t bytes = (size_t)n * sizeof *x;
    tali_atoms_frame made = {.frame = said, .x = tali_alloc(&atoms->allocator, bytes)};
    if (v != NULL) made.v = tali_alloc(&atoms->allocator, bytes);
    if (made.x == NULL || (v != NULL && made.v == NULL) ||
        !tali_grow(&atoms->allocator, (void **)&atoms->frames, atoms->num_frames,
                   &atoms->frames_capacity, sizeof *atoms->frames)) {
        tali_free(&atoms->allocator, made.x, bytes);
        tali_free(&atoms->allocator, made.v, bytes);
        return TAL_ERR_NO_MEMORY;
    }
    if (x != NULL && bytes > 0) memcpy(made.x, x, bytes);
    if (v != NULL && bytes > 0) memcpy(made.v, v, bytes);
    atoms->frames[atoms->num_frames++] = made;
    return TAL_OK;
}

// --- reading ---

static bool is_one_of(const tal_atoms *atoms, int i, int num, const char *what, const char *where)
{
    if (atoms != NULL && i >= 0 && i < num) return true;
    if (atoms == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the atoms are NULL");
    } else {
        (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no %s %d, there are %d", what, i,
                          num);
    }
    return false;
}

int tal_atoms_num(const tal_atoms *atoms)
{
    return atoms != NULL ? atoms->num : -1;
}

tal_atom tal_atoms_at(const tal_atoms *atoms, int i)
{
    if (!is_one_of(atoms, i, tal_atoms_num(atoms), "atom", __func__)) return tal_atom_default();
    const tali_atoms_one *one = &atoms->list[i];
    tal_atom atom = one->atom;
    atom.name = one->name;
    atom.residue = one->residue;
    atom.chain = one->chain;
    atom.insertion = one->insertion;
    return atom;
}

int tal_atoms_num_bonds(const tal_atoms *atoms)
{
    return atoms != NULL ? atoms->num_bonds : -1;
}

int tal_atoms_bond(const tal_atoms *atoms, int i, int *a, int *b)
{
    if (a != NULL) *a = -1;
    if (b != NULL) *b = -1;
    if (!is_one_of(atoms, i, tal_atoms_num_bonds(atoms), "bond", __func__)) return -1;
    if (a != NULL) *a = atoms->bonds[i].a;
    if (b != NULL) *b = atoms->bonds[i].b;
    return atoms->bonds[i].order;
}

int tal_atoms_num_frames(const tal_atoms *atoms)
{
    return atoms != NULL ? atoms->num_frames : -1;
}

tal_atoms_frame tal_atoms_frame_at(const tal_atoms *atoms, int frame)
{
    if (is_one_of(atoms, frame, tal_atoms_num_frames(atoms), "frame", __func__)) {
        return atoms->frames[frame].frame;
    }
    const tal_vec3 none = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    return (tal_atoms_frame){TALI_NAN, none, none};
}

bool tal_atoms_has_velocities(const tal_atoms *atoms, int frame)
{
    return is_one_of(atoms, frame, tal_atoms_num_frames(atoms), "frame", __func__) &&
           atoms->frames[frame].v != NULL;
}

// Copy positions or velocities, `from`, which are NULL where the frame has none.
static tal_status copy_out(const tal_atoms *atoms, const tal_vec3 *from, tal_vec3 to[], int n,
                           const char *where)
{
    if (to == NULL && n > 0) return tali_breach(TAL_ERR_NULL, where, "the array is NULL");
    if (n != atoms->num) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "an array of %d for %d atoms", n, atoms->num);
    }
    if (from == NULL) {
        return tali_breach(TAL_ERR_BAD_VALUE, where, "the frame has no velocities");
    }
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
    return TAL_OK;
}

tal_status tal_atoms_get_positions(const tal_atoms *atoms, int frame, tal_vec3 x[], int n)
{
    if (!is_one_of(atoms, frame, tal_atoms_num_frames(atoms), "frame", __func__)) {
        return atoms == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX;
    }
    return copy_out(atoms, atoms->frames[frame].x, x, n, __func__);
}

tal_status tal_atoms_get_velocities(const tal_atoms *atoms, int frame, tal_vec3 v[], int n)
{
    if (!is_one_of(atoms, frame, tal_atoms_num_frames(atoms), "frame", __func__)) {
        return atoms == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX;
    }
    return copy_out(atoms, atoms->frames[frame].v, v, n, __func__);
}
