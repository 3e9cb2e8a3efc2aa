// The bond graph: neighbors, parts, rings, and how many bonds apart atoms are.
#include "mol/mol_internal.h"

// ---- neighbors

static tal_status alloc_graph(tal_mol *mol)
{
    const size_t n = (size_t)mol->num_atoms, twice = 2 * (size_t)mol->num_bonds;
    const tali_piece pieces[] = {
        {&mol->start, (n + 1) * sizeof *mol->start},
        {&mol->neighbor, twice * sizeof *mol->neighbor},
        {&mol->neighbor_bond, twice * sizeof *mol->neighbor_bond},
        {&mol->part, n * sizeof *mol->part},
        {&mol->ring, n * sizeof *mol->ring},
        {&mol->part_start, (n + 1) * sizeof *mol->part_start},
        {&mol->part_atoms, n * sizeof *mol->part_atoms},
        {&mol->near_start, (n + 1) * sizeof *mol->near_start},
    };
    mol->graph = tali_alloc_pieces(&mol->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                   &mol->graph_size);
    if (mol->graph == NULL) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                               "no memory for the graph of %d atoms", mol->num_atoms);
    }
    return TAL_OK;
}

// Insert a neighbor among those of an atom so far, ascending.
static void insert_neighbor(tal_mol *mol, int atom, int count, int other, int bond)
{
    int *neighbor = &mol->neighbor[mol->start[atom]];
    int *bonds = &mol->neighbor_bond[mol->start[atom]];
    int at = count;
    for (; at > 0 && neighbor[at - 1] > other; --at) {
        neighbor[at] = neighbor[at - 1];
        bonds[at] = bonds[at - 1];
    }
    neighbor[at] = other;
    bonds[at] = bond;
}

// Counts, starts, then each bond into the lists of both of its atoms. `part` counts meanwhile.
static tal_status find_neighbors(tal_mol *mol)
{
    const int n = mol->num_atoms;
    int *count = mol->part;
    for (int b = 0; b < mol->num_bonds; ++b) {
        ++count[mol->bonds[b].atoms[0]];
        ++count[mol->bonds[b].atoms[1]];
    }
    for (int a = 0; a < n; ++a) {
        mol->start[a + 1] = mol->start[a] + count[a];
        count[a] = 0;
    }
    for (int b = 0; b < mol->num_bonds; ++b) {
        const int *atoms = mol->bonds[b].atoms;
        insert_neighbor(mol, atoms[0], count[atoms[0]]++, atoms[1], b);
        insert_neighbor(mol, atoms[1], count[atoms[1]]++, atoms[0], b);
    }
    for (int a = 0; a < n; ++a) {
        for (int k = mol->start[a] + 1; k < mol->start[a + 1]; ++k) {
            if (mol->neighbor[k] == mol->neighbor[k - 1]) {
                return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, "tal_mol_freeze",
                                       "bonds %d and %d are both of atoms %d and %d; keep one",
                                       mol->neighbor_bond[k - 1], mol->neighbor_bond[k], a,
                                       mol->neighbor[k]);
            }
        }
    }
    return TAL_OK;
}

// ---- rings: depth first, with the lowest atom that each can come back to (Tarjan's low-link)

typedef struct search {
    int *order; // when an atom was met, from 1; 0: not yet
    int *low;   // the first met among those that it and all below it are bonded to
    int *next;  // which neighbor comes next
    int *stack; // the way from the first atom to this one
    int *via;   // the bond by which an atom was met; -1: the first of its part
} search;

// Leave the atom on top of the stack: the bond that led to it is in a ring if the atoms below it
// come back to where it came from, or farther.
static void leave(tal_mol *mol, search *s, int depth)
{
    const int atom = s->stack[depth];
    if (depth == 0) return;
    const int parent = s->stack[depth - 1];
    mol->bonds[s->via[atom]].in_ring = s->low[atom] <= s->order[parent];
    if (s->low[atom] < s->low[parent]) s->low[parent] = s->low[atom];
}

// Visit one part of the molecule from its lowest atom.
static void visit_part(tal_mol *mol, search *s, int first, int *met)
{
    int depth = 0;
    s->stack[0] = first;
    s->via[first] = -1;
    s->order[first] = s->low[first] = ++*met;
    while (depth >= 0) {
        const int atom = s->stack[depth];
        mol->part[atom] = mol->num_parts;
        if (s->next[atom] == mol->start[atom + 1]) {
            leave(mol, s, depth--);
            continue;
        }
        const int k = s->next[atom]++, other = mol->neighbor[k], bond = mol->neighbor_bond[k];
        if (bond == s->via[atom]) continue;
        if (s->order[other] == 0) {
            s->via[other] = bond;
            s->order[other] = s->low[other] = ++*met;
            s->stack[++depth] = other;
            continue;
        }
        mol->bonds[bond].in_ring = true; // back to an atom on the way
        if (s->order[other] < s->low[atom]) s->low[atom] = s->order[other];
    }
}

// Number the ring systems by lowest atom: atoms that ring bonds connect. `queue` has a place for
// every atom.
static void number_rings(tal_mol *mol, int queue[])
{
    int rings = 0;
    for (int a = 0; a < mol->num_atoms; ++a) {
        mol->ring[a] = -1;
    }
    for (int first = 0; first < mol->num_atoms; ++first) {
        if (mol->ring[first] >= 0) continue;
        int count = 0, done = 0;
        queue[count++] = first;
        while (done < count) {
            const int atom = queue[done++];
            for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
                const int other = mol->neighbor[k];
                if (!mol->bonds[mol->neighbor_bond[k]].in_ring || mol->ring[other] >= 0) continue;
                mol->ring[other] = rings;
                queue[count++] = other;
            }
        }
        if (mol->ring[first] >= 0) ++rings;
    }
}

// The atoms of each part. `next` has a place for every part.
static void list_parts(tal_mol *mol, int next[])
{
    for (int a = 0; a < mol->num_atoms; ++a) {
        ++mol->part_start[mol->part[a] + 1];
    }
    for (int p = 0; p < mol->num_parts; ++p) {
        next[p] = mol->part_start[p];
        mol->part_start[p + 1] += mol->part_start[p];
    }
    for (int a = 0; a < mol->num_atoms; ++a) {
        mol->part_atoms[next[mol->part[a]]++] = a;
    }
}

// Visit every part, then number what ring bonds connect.
static tal_status find_rings(tal_mol *mol)
{
    const size_t bytes = (size_t)mol->num_atoms * sizeof(int);
    search s;
    const tali_piece pieces[] = {
        {&s.order, bytes},
        {&s.low, bytes},
        {&s.next, bytes},
        {&s.stack, bytes + sizeof(int)}, // ring systems queue their first atom twice
        {&s.via, bytes}};
    size_t size;
    void *block =
        tali_alloc_pieces(&mol->allocator, pieces, sizeof pieces / sizeof pieces[0], &size);
    if (block == NULL) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                               "no memory to look for rings");
    }
    memcpy(s.next, mol->start, bytes);
    int met = 0;
    mol->num_parts = 0;
    for (int a = 0; a < mol->num_atoms; ++a) {
        if (s.order[a] != 0) continue;
        visit_part(mol, &s, a, &met);
        ++mol->num_parts;
    }
    number_rings(mol, s.stack);
    list_parts(mol, s.stack);
    tali_free(&mol->allocator, block, size);
    return TAL_OK;
}

tal_status tali_mol_find_graph(tal_mol *mol)
{
    tal_status st = alloc_graph(mol);
    if (st == TAL_OK) st = find_neighbors(mol);
    return st == TAL_OK ? find_rings(mol) : st;
}

// ---- how many bonds apart: breadth first to a depth of 4

enum {
    FAR = 5
};

// Atoms 1 to 4 bonds from `first`; `distance` arrives and is left 0 everywhere.
static int reach(const tal_mol *mol, int first, int queue[], int distance[])
{
    int count = 0, done = 0;
    queue[count++] = first;
    distance[first] = 1; // one more than the bonds
    while (done < count) {
        const int atom = queue[done++];
        if (distance[atom] == FAR) continue;
        for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
            const int other = mol->neighbor[k];
            if (distance[other] != 0) continue;
            distance[other] = distance[atom] + 1;
            queue[count++] = other;
        }
    }
    return count;
}

static void sort_near(tali_mol_near near[], int n)
{
    for (int i = 1; i < n; ++i) {
        const tali_mol_near one = near[i];
        int at = i;
        for (; at > 0 && near[at - 1].atom > one.atom; --at) {
            near[at] = near[at - 1];
        }
        near[at] = one;
    }
}

// Keep those of the atoms reached that come behind the first in number.
static bool keep_near(tal_mol *mol, int first, const int reached[], int n, int distance[])
{
    bool fits = true;
    for (int i = 0; i < n; ++i) {
        const int atom = reached[i];
        if (atom > first && fits) {
            fits = tali_grow(&mol->allocator, (void **)&mol->near, mol->num_near,
                             &mol->near_capacity, sizeof *mol->near);
            if (fits) mol->near[mol->num_near++] = (tali_mol_near){atom, distance[atom] - 1};
        }
        distance[atom] = 0;
    }
    return fits;
}

tal_status tali_mol_find_near(tal_mol *mol)
{
    const size_t bytes = (size_t)mol->num_atoms * sizeof(int);
    int *queue = NULL, *distance = NULL;
    const tali_piece pieces[] = {{&queue, bytes}, {&distance, bytes}};
    size_t size;
    void *block = tali_alloc_pieces(&mol->allocator, pieces, 2, &size);
    bool fits = block != NULL;
    mol->num_near = 0;
    for (int a = 0; fits && a < mol->num_atoms; ++a) {
        const int n = reach(mol, a, queue, distance);
        fits = keep_near(mol, a, queue, n, distance);
        mol->near_start[a + 1] = mol->num_near;
        if (mol->num_near > mol->near_start[a]) {
            sort_near(&mol->near[mol->near_start[a]], mol->num_near - mol->near_start[a]);
        }
    }
    tali_free(&mol->allocator, block, size);
    if (fits) return TAL_OK;
    return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, "tal_mol_freeze",
                           "no memory for pairs of atoms that are near by bonds");
}

int tali_mol_separation(const tal_mol *mol, int a, int b)
{
    if (a == b) return 0;
    const int low = a < b ? a : b, high = a < b ? b : a;
    int from = mol->near_start[low], to = mol->near_start[low + 1];
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (mol->near[middle].atom == high) return mol->near[middle].bonds;
        if (mol->near[middle].atom < high) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return FAR;
}

// ---- reading

static bool is_atom(const tal_mol *mol, int atom, const char *where)
{
    return tali_mol_is_there(mol, atom, mol != NULL ? mol->num_atoms : 0, "atom", where);
}

int tal_mol_find_bond(const tal_mol *mol, int a, int b)
{
    if (!is_atom(mol, a, __func__) || !is_atom(mol, b, __func__)) return -1;
    for (int k = mol->start[a]; k < mol->start[a + 1]; ++k) {
        if (mol->neighbor[k] == b) return mol->neighbor_bond[k];
    }
    return -1;
}

bool tal_mol_is_ring_bond(const tal_mol *mol, int bond)
{
    const int n = mol != NULL ? mol->num_bonds : 0;
    return tali_mol_is_there(mol, bond, n, "bond", __func__) && mol->bonds[bond].in_ring;
}

int tal_mol_ring_system(const tal_mol *mol, int atom)
{
    return is_atom(mol, atom, __func__) ? mol->ring[atom] : -1;
}

int tal_mol_num_parts(const tal_mol *mol)
{
    return tali_mol_is_there(mol, 0, 1, "molecule", __func__) ? mol->num_parts : -1;
}

int tal_mol_part(const tal_mol *mol, int atom)
{
    return is_atom(mol, atom, __func__) ? mol->part[atom] : -1;
}

int tal_mol_num_neighbors(const tal_mol *mol, int atom)
{
    return is_atom(mol, atom, __func__) ? mol->start[atom + 1] - mol->start[atom] : -1;
}

int tal_mol_neighbor(const tal_mol *mol, int atom, int i)
{
    if (!is_atom(mol, atom, __func__)) return -1;
    const int n = mol->start[atom + 1] - mol->start[atom];
    if (!tali_mol_is_there(mol, i, n, "neighbor", __func__)) return -1;
    return mol->neighbor[mol->start[atom] + i];
}

int tal_mol_separation(const tal_mol *mol, int a, int b)
{
    if (!is_atom(mol, a, __func__) || !is_atom(mol, b, __func__)) return -1;
    return tali_mol_separation(mol, a, b);
}
