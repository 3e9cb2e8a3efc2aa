// From mobilities to a tree of bodies: roots, the order of bodies, bonds that are cut, demotions.
//
// Demoting a bond joins two bodies, which changes the tree; so the tree is found again until
// nothing is demoted.
#include "plan/plan_internal.h"

#include <math.h>

// One block for all arrays, each as long as it can become.
static tal_status alloc_plan(tali_plan *plan, tal_error *err)
{
    const size_t n = (size_t)plan->mol->num_atoms, nb = (size_t)plan->mol->num_bonds;
    const tali_piece pieces[] = {
        {&plan->mobility, nb * sizeof *plan->mobility},
        {&plan->is_tree, nb * sizeof *plan->is_tree},
        {&plan->level, n * sizeof *plan->level},
        {&plan->body, n * sizeof *plan->body},
        {&plan->order, n * sizeof *plan->order},
        {&plan->bodies, n * sizeof *plan->bodies},
        {&plan->demoted, (n + 2 * nb) * sizeof *plan->demoted},
        {&plan->cut, nb * sizeof *plan->cut},
        {&plan->unit, n * sizeof *plan->unit},
        {&plan->unit_first, (n + 1) * sizeof *plan->unit_first},
        {&plan->unit_atoms, n * sizeof *plan->unit_atoms},
        {&plan->unit_body, n * sizeof *plan->unit_body},
        {&plan->queue, (n + 1) * sizeof *plan->queue},
        {&plan->mark, n * sizeof *plan->mark},
    };
    plan->block =
        tali_alloc_pieces(&plan->allocator, pieces, sizeof pieces / sizeof pieces[0], &plan->size);
    if (plan->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory to plan the bodies of %d atoms",
                     plan->mol->num_atoms);
}

void tali_plan_free(tali_plan *plan)
{
    tali_free(&plan->allocator, plan->block, plan->size);
    plan->block = NULL;
}

// ---- demotions

static void demote(tali_plan *plan, int bond, int atom, tal_bond_mobility from,
                   tal_bond_mobility to)
{
    plan->demoted[plan->num_demoted++] = (tal_mol_demoted){bond, atom, from, to};
    if (bond >= 0) plan->mobility[bond] = to;
}

static bool is_on_axis(const tal_mol *mol, const int atoms[2], int atom)
{
    const tal_vec3 i = mol->atoms[atoms[0]].x, axis = tal_v3_sub(mol->atoms[atoms[1]].x, i);
    const tal_vec3 out = tal_v3_cross(axis, tal_v3_sub(mol->atoms[atom].x, i));
    return tal_v3_norm(out) <= TALI_PLAN_ON_AXIS * tal_v3_norm(axis);
}

// Add all atoms of a unit to the queue; false when one is beside the axis.
static bool enter_unit(tali_plan *plan, int u, const int axis[2], int *count)
{
    for (int k = plan->unit_first[u]; k < plan->unit_first[u + 1]; ++k) {
        const int atom = plan->unit_atoms[k];
        if (!is_on_axis(plan->mol, axis, atom)) return false;
        plan->mark[atom] = plan->marks;
        plan->queue[(*count)++] = atom;
    }
    return true;
}

bool tali_plan_side_is_on_axis(tali_plan *plan, int bond, int from)
{
    const tal_mol *mol = plan->mol;
    const int *axis = mol->bonds[bond].atoms;
    int count = 0, done = 0;
    ++plan->marks;
    if (!enter_unit(plan, plan->unit[from], axis, &count)) return false;
    while (done < count) {
        const int atom = plan->queue[done++];
        for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
            const int other = mol->neighbor[k], b = mol->neighbor_bond[k];
            if (b == bond || !plan->is_tree[b] || plan->mark[other] == plan->marks) continue;
            if (!enter_unit(plan, plan->unit[other], axis, &count)) return false;
        }
    }
    return true;
}

// What a bond becomes that has nothing beside its axis on one side.
static tal_bond_mobility without_spin(tal_bond_mobility mobility)
{
    switch (mobility) {
    case TAL_BOND_TORSION:
        return TAL_BOND_RIGID;
    case TAL_BOND_CYLINDER:
        return TAL_BOND_SLIDER;
    default:
        return mobility;
    }
}

// Demote what has nothing to turn. True when a bond became rigid, so that the bodies change.
static bool demote_spinless(tali_plan *plan)
{
    bool joins = false;
    for (int b = 0; b < plan->mol->num_bonds; ++b) {
        const tal_bond_mobility from = plan->mobility[b], to = without_spin(from);
        const int *atoms = plan->mol->bonds[b].atoms;
        if (to == from || !plan->is_tree[b]) continue;
        if (!tali_plan_side_is_on_axis(plan, b, atoms[0]) &&
            !tali_plan_side_is_on_axis(plan, b, atoms[1])) {
            continue;
        }
        demote(plan, b, atoms[0] < atoms[1] ? atoms[0] : atoms[1], from, to);
        joins = joins || to == TAL_BOND_RIGID;
    }
    return joins;
}

static bool is_swing(const tali_plan *plan, const tali_plan_body *body)
{
    const tal_bond_mobility mobility = plan->mobility[body->bond];
    return mobility == TAL_BOND_UNIVERSAL || mobility == TAL_BOND_BALL;
}

// One atom alone has no direction, unless something hangs on it that its own bond does not place
// in full. Bodies are after their parents.
static void find_directions(tali_plan *plan)
{
    for (int b = 0; b < plan->num_bodies; ++b) {
        plan->bodies[b].has_direction = plan->bodies[b].num_atoms > 1;
    }
    for (int b = plan->num_bodies - 1; b >= 0; --b) {
        const tali_plan_body *body = &plan->bodies[b];
        if (body->parent < 0 || is_swing(plan, body)) continue;
        const bool is_placed =
            plan->mobility[body->bond] == TAL_BOND_SPHERICAL && !body->has_direction;
        if (!is_placed) plan->bodies[body->parent].has_direction = true;
    }
}

// What bodies carry; and, into `queue`, the only child that gives each a direction: below zero
// there is none, or there are several.
static void find_children(tali_plan *plan)
{
    enum {
        NONE = -1,
        SEVERAL = -2
    };

    for (int b = 0; b < plan->num_bodies; ++b) {
        plan->queue[b] = NONE;
        plan->bodies[b].carries = false;
    }
    for (int b = 0; b < plan->num_bodies; ++b) {
        const tali_plan_body *body = &plan->bodies[b];
        if (body->parent < 0 || is_swing(plan, body)) continue;
        int *only = &plan->queue[body->parent];
        *only = *only == NONE ? b : SEVERAL;
        if (plan->mobility[body->bond] != TAL_BOND_SPHERICAL) {
            plan->bodies[body->parent].carries = true;
        }
    }
}

// What turns about a bond is not seen where the atom behind it is alone and carries nothing: bonds
// that swing turn by themselves, and spherical ones have an angle about the same axis. Nor is it
// seen at a root of one atom that has its direction from that bond alone: the root can turn the
// same way. True when a bond became rigid, so that the bodies change.
static bool demote_unseen(tali_plan *plan)
{
    bool joins = false;
    find_children(plan);
    for (int b = 0; b < plan->num_bodies; ++b) {
        const tali_plan_body *body = &plan->bodies[b];
        if (body->num_atoms > 1 || (body->parent >= 0 && body->carries)) continue;
        const int other = body->parent < 0 ? plan->queue[b] : b;
        if (other < 0) continue;
        const int bond = plan->bodies[other].bond, *atoms = plan->mol->bonds[bond].atoms;
        const tal_bond_mobility from = plan->mobility[bond], to = without_spin(from);
        if (to == from) continue;
        demote(plan, bond, atoms[0] < atoms[1] ? atoms[0] : atoms[1], from, to);
        joins = joins || to == TAL_BOND_RIGID;
    }
    return joins;
}

// Bonds that swing. A ball becomes a universal where nothing turns about the bond: the atom behind
// it has no direction, or one side has nothing beside the axis. A bond at an atom without direction
// is all that turns what is behind it, so a universal becomes a ball there.
static void choose_swings(tali_plan *plan)
{
    for (int b = 0; b < plan->num_bodies; ++b) {
        const tali_plan_body *body = &plan->bodies[b];
        if (body->parent < 0 || !is_swing(plan, body)) continue;
        const int bond = body->bond, *atoms = body->atoms;
        const tal_bond_mobility from = plan->mobility[bond];
        const bool is_alone = !plan->bodies[body->parent].has_direction;
        tal_bond_mobility to = is_alone ? TAL_BOND_BALL : from;
        if (!body->has_direction || tali_plan_side_is_on_axis(plan, bond, atoms[1]) ||
            (!is_alone && tali_plan_side_is_on_axis(plan, bond, atoms[0]))) {
            to = TAL_BOND_UNIVERSAL;
        }
        if (to != from) demote(plan, bond, atoms[atoms[0] < atoms[1] ? 0 : 1], from, to);
    }
}

// A mobile bond within one body holds nothing that moves.
static void demote_inner(tali_plan *plan)
{
    for (int b = 0; b < plan->mol->num_bonds; ++b) {
        const int *atoms = plan->mol->bonds[b].atoms;
        if (plan->mobility[b] == TAL_BOND_RIGID || plan->unit[atoms[0]] != plan->unit[atoms[1]]) {
            continue;
        }
        demote(plan, b, atoms[0] < atoms[1] ? atoms[0] : atoms[1], plan->mobility[b],
               TAL_BOND_RIGID);
    }
}

// ---- the tree

static bool is_mobile(const tali_plan *plan, int bond)
{
    return plan->mobility[bond] != TAL_BOND_RIGID && plan->mobility[bond] != TAL_BOND_FREE;
}

// Go from a unit breadth first over mobile bonds; returns the number of units met, which `queue`
// holds. `mark` of their first atoms is `marks`. `depth` is how far it goes.
static int reach_units(tali_plan *plan, int unit, int *depth)
{
    const tal_mol *mol = plan->mol;
    int count = 0, done = 0, level_end = 1;
    ++plan->marks;
    plan->queue[count++] = unit;
    plan->mark[plan->unit_atoms[plan->unit_first[unit]]] = plan->marks;
    *depth = 0;
    while (done < count) {
        if (done == level_end) {
            ++*depth;
            level_end = count;
        }
        const int u = plan->queue[done++];
        for (int i = plan->unit_first[u]; i < plan->unit_first[u + 1]; ++i) {
            const int atom = plan->unit_atoms[i];
            for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
                const int v = plan->unit[mol->neighbor[k]];
                int *mark = &plan->mark[plan->unit_atoms[plan->unit_first[v]]];
                if (!is_mobile(plan, mol->neighbor_bond[k]) || *mark == plan->marks) continue;
                *mark = plan->marks;
                plan->queue[count++] = v;
            }
        }
    }
    return count;
}

static double mass_of(const tali_plan *plan, int unit)
{
    double mass = 0.0;
    for (int i = plan->unit_first[unit]; i < plan->unit_first[unit + 1]; ++i) {
        mass += plan->mol->atoms[plan->unit_atoms[i]].mass;
    }
    return mass;
}

// The root of the part that a unit is in: as asked for, or the heaviest, or that of least depth;
// of equals the one with the lowest atom. `parts` holds the units of the part meanwhile.
static int find_root(tali_plan *plan, int unit, int parts[])
{
    int depth;
    const int n = reach_units(plan, unit, &depth);
    memcpy(parts, plan->queue, (size_t)n * sizeof parts[0]);
    int best = -1;
    double best_value = 0.0;
    for (int i = 0; i < n; ++i) {
        const int u = parts[i];
        if (plan->how->root >= 0 && plan->unit[plan->how->root] == u) return u;
        double value = mass_of(plan, u);
        if (plan->how->center) {
            (void)reach_units(plan, u, &depth);
            value = -depth;
        }
        if (best < 0 || value > best_value || (value == best_value && u < best)) {
            best = u;
            best_value = value;
        }
    }
    return best;
}

static int add_body(tali_plan *plan, int unit, int parent)
{
    const int b = plan->num_bodies++;
    const int depth = parent < 0 ? 1 : plan->bodies[parent].depth + 1;
    plan->bodies[b] =
        (tali_plan_body){.parent = parent,
                         .bond = -1,
                         .atoms = {-1, -1},
                         .dihedral = {-1, -1},
                         .first = plan->unit_first[unit],
                         .num_atoms = plan->unit_first[unit + 1] - plan->unit_first[unit],
                         .depth = depth};
    plan->unit_body[unit] = b;
    return b;
}

// Bodies that hang on body b: by lowest atom. Those of one parent get their numbers together.
static void add_children(tali_plan *plan, int b)
{
    const tal_mol *mol = plan->mol;
    const int from = plan->bodies[b].first, to = from + plan->bodies[b].num_atoms;
    int count = 0;
    for (int i = from; i < to; ++i) { // the units, sorted as they are found
        const int atom = plan->unit_atoms[i];
        for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
            const int v = plan->unit[mol->neighbor[k]];
            if (!is_mobile(plan, mol->neighbor_bond[k]) || plan->unit_body[v] != -1) continue;
            plan->unit_body[v] = -2 - mol->neighbor_bond[k]; // met by this bond
            int at = count++;
            for (; at > 0 && plan->queue[at - 1] > v; --at) {
                plan->queue[at] = plan->queue[at - 1];
            }
            plan->queue[at] = v;
        }
    }
    for (int i = 0; i < count; ++i) {
        const int v = plan->queue[i], bond = -2 - plan->unit_body[v];
        const int *atoms = mol->bonds[bond].atoms;
        const bool forward = plan->unit[atoms[1]] == v;
        tali_plan_body *child = &plan->bodies[add_body(plan, v, b)];
        child->bond = bond;
        child->atoms[0] = atoms[forward ? 0 : 1];
        child->atoms[1] = atoms[forward ? 1 : 0];
        plan->is_tree[bond] = true;
    }
    plan->bodies[b].has_children = count > 0;
}

// Bodies in the order of parts, breadth first in each.
static void find_tree(tali_plan *plan)
{
    const tal_mol *mol = plan->mol;
    plan->num_bodies = plan->num_cut = 0;
    for (int u = 0; u < plan->num_units; ++u) {
        plan->unit_body[u] = -1;
    }
    for (int k = 0; k < mol->num_bonds; ++k) {
        plan->is_tree[k] = plan->mobility[k] == TAL_BOND_RIGID;
    }
    for (int u = 0; u < plan->num_units; ++u) {
        if (plan->unit_body[u] >= 0) continue;
        int b = add_body(plan, find_root(plan, u, plan->order), -1);
        for (; b < plan->num_bodies; ++b) {
            add_children(plan, b);
        }
    }
    for (int k = 0; k < mol->num_bonds; ++k) {
        if (is_mobile(plan, k) && !plan->is_tree[k]) plan->cut[plan->num_cut++] = k;
    }
}

// The atoms of each body side by side, and the body of each atom.
static void number_atoms(tali_plan *plan)
{
    int at = 0;
    for (int b = 0; b < plan->num_bodies; ++b) {
        tali_plan_body *body = &plan->bodies[b];
        const int from = body->first;
        body->first = at;
        for (int i = 0; i < body->num_atoms; ++i) {
            const int atom = plan->unit_atoms[from + i];
            plan->order[at++] = atom;
            plan->body[atom] = b;
        }
    }
}

// ---- roots

static bool is_in_line(const tali_plan *plan, const tali_plan_body *body)
{
    const int *atoms = &plan->order[body->first];
    int axis[2] = {atoms[0], atoms[0]};
    double longest = 0.0;
    for (int i = 1; i < body->num_atoms; ++i) { // the farthest from the first
        const double r =
            tal_v3_norm(tal_v3_sub(plan->mol->atoms[atoms[i]].x, plan->mol->atoms[atoms[0]].x));
        if (r > longest) {
            longest = r;
            axis[1] = atoms[i];
        }
    }
    for (int i = 1; i < body->num_atoms; ++i) {
        if (!is_on_axis(plan->mol, axis, atoms[i])) return false;
    }
    return true;
}

static void choose_root_mobility(tali_plan *plan, int b)
{
    tali_plan_body *body = &plan->bodies[b];
    const int lowest = plan->order[body->first];
    body->mobility = TAL_BOND_FREE;
    if (!body->has_direction) {
        body->mobility = TAL_BOND_TRANSLATION;
    } else if (!body->has_children && is_in_line(plan, body)) {
        body->mobility = TAL_BOND_FREE_LINE;
    }
    if (body->mobility != TAL_BOND_FREE) demote(plan, -1, lowest, TAL_BOND_FREE, body->mobility);
}

// ---- all of it

// What a granularity says must be something that there is.
static tal_status check_how(const tal_mol *mol, const tal_mol_granularity *how, tal_error *err)
{
    if ((int)how->level < 0 || how->level > TAL_MOL_RIGID) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%d is no level", (int)how->level);
    }
    if (how->num_selections < 0 || (how->num_selections > 0 && how->selections == NULL) ||
        how->num_bonds < 0 || (how->num_bonds > 0 && how->bonds == NULL)) {
        return TALI_FAIL(err, TAL_ERR_NULL, "%d selections and %d choices of bonds, one list NULL",
                         how->num_selections, how->num_bonds);
    }
    if (how->list_room < 0 || how->list_room > 1 << 20) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the room of a list of neighbors is %d clusters for each atom",
                         how->list_room);
    }
    if (how->root >= mol->num_atoms) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "the root is atom %d: there are %d", how->root,
                         mol->num_atoms);
    }
    if (mol->num_atoms == 0 || mol->num_positions < mol->num_atoms) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the molecule has %d atoms and %d positions: give all of them",
                         mol->num_atoms, mol->num_positions);
    }
    return TAL_OK;
}

// Bonds of no length have no direction.
static tal_status check_lengths(const tali_plan *plan, tal_error *err)
{
    for (int b = 0; b < plan->mol->num_bonds; ++b) {
        const int *atoms = plan->mol->bonds[b].atoms;
        const tal_vec3 d = tal_v3_sub(plan->mol->atoms[atoms[1]].x, plan->mol->atoms[atoms[0]].x);
        if (is_mobile(plan, b) && !(tal_v3_norm(d) > TALI_PLAN_ON_AXIS)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "bonded atoms %d and %d are at the same place, (%g, %g, %g)", atoms[0],
                             atoms[1], plan->mol->atoms[atoms[0]].x.x,
                             plan->mol->atoms[atoms[0]].x.y, plan->mol->atoms[atoms[0]].x.z);
        }
    }
    return TAL_OK;
}

static void find_bodies(tali_plan *plan)
{
    do {
        tali_plan_find_units(plan);
        demote_inner(plan);
        find_tree(plan);
    } while (demote_spinless(plan) || demote_unseen(plan));
    find_directions(plan);
    choose_swings(plan);
    number_atoms(plan);
    for (int b = 0; b < plan->num_bodies; ++b) {
        tali_plan_body *body = &plan->bodies[b];
        if (body->parent < 0) {
            choose_root_mobility(plan, b);
        } else {
            body->mobility = plan->mobility[body->bond];
        }
    }
}

tal_status tali_plan_make(tali_plan *plan, const tal_mol *mol, const tal_mol_granularity *how,
                          tal_error *err)
{
    *plan = (tali_plan){.mol = mol, .how = how, .allocator = mol->allocator};
    tal_status st = check_how(mol, how, err);
    if (st == TAL_OK) st = alloc_plan(plan, err);
    if (st == TAL_OK) st = tali_plan_choose(plan, err);
    if (st == TAL_OK) st = check_lengths(plan, err);
    if (st == TAL_OK) find_bodies(plan);
    if (st == TAL_OK) st = tali_plan_place(plan, err);
    if (st == TAL_OK) st = tali_plan_check_regular(plan, err);
    if (st != TAL_OK) tali_plan_free(plan);
    return st;
}
