// A molecule as a struct: what was added, and what freezing finds in its bond graph.
#ifndef TALUS_MOL_INTERNAL_H
#define TALUS_MOL_INTERNAL_H

#include "field/field_internal.h"

#include <talus/molecule/mol.h>

typedef struct tali_mol_atom {
    char name[TAL_MAX_MOL_NAME + 1];
    char chain[TAL_MAX_MOL_NAME + 1];
    int type, residue;
    double charge, mass; // [e, Da]
    tal_vec3 x;          // [nm]
} tali_mol_atom;

typedef struct tali_mol_bond {
    int atoms[2];
    int order;
    bool in_ring;
} tali_mol_bond;

/// A bonded term: what it computes, of which atoms.
typedef struct tali_mol_term {
    int atoms[4]; ///< -1 behind the last
    int defined;  ///< how many were added before; INT_MAX: from a table
    tali_field_law law;
} tali_mol_term;

typedef struct tali_mol_terms {
    tali_mol_term *items;
    int count, capacity;
} tali_mol_terms;

/// An atom in a cluster.
typedef struct tali_mol_placement {
    int cluster, atom;
    tal_vec3 p_CS;
} tali_mol_placement;

typedef struct tali_mol_cluster {
    char name[TAL_MAX_MOL_NAME + 1];
    int parent; ///< the cluster it is in; -1: none
    tal_xform X_PC;
} tali_mol_cluster;

/// Atoms 1 to 4 bonds from an atom, behind it in number.
typedef struct tali_mol_near {
    int atom;
    int bonds;
} tali_mol_near;

typedef struct tali_mol_tuples {
    tal_mol_tuple *items;
    int count, capacity;
} tali_mol_tuples;

struct tal_mol {
    tal_allocator allocator;
    const tal_ff *ff;
    tal_mol_def def;
    tal_error error; ///< the first thing that was refused while building
    bool is_frozen;

    tali_mol_atom *atoms;
    tali_mol_bond *bonds;
    tali_mol_cluster *clusters;
    tali_mol_placement *placements;
    int num_atoms, atom_capacity;
    int num_bonds, bond_capacity;
    int num_clusters, cluster_capacity;
    int num_placements, placement_capacity;
    int num_positions; ///< atoms that were given one
    tali_mol_terms terms[TAL_NUM_MOL_FAMILIES];
    tali_mol_tuples missing;

    // Found by freezing; one block.
    void *graph;
    size_t graph_size;
    int *start;         ///< [num_atoms + 1] of the neighbors of each atom
    int *neighbor;      ///< [2 num_bonds] ascending for each atom
    int *neighbor_bond; ///< [2 num_bonds] the bond to it
    int *part;          ///< [num_atoms]
    int *ring;          ///< [num_atoms] ring system, -1: none
    int *part_start;    ///< [num_parts + 1 of num_atoms + 1] of the atoms of each part
    int *part_atoms;    ///< [num_atoms] by part, ascending in each
    int num_parts;

    int *near_start;     ///< [num_atoms + 1]
    tali_mol_near *near; ///< ascending for each atom
    int num_near, near_capacity;
};

/// How many atoms the terms of a family have.
int tali_mol_arity(tal_mol_family family);

/// Keep the first failure of building, in the name of `where`, and hand the status back.
tal_status tali_mol_refuse(tal_mol *mol, tal_status status, const char *where, const char *fmt, ...)
    TAL_PRINTF(4, 5) TALI_COLD;

/// Whether a molecule may be built on; TAL_OK, or why not after a breach. `mol` may be NULL.
tal_status tali_mol_check_open(const tal_mol *mol, const char *where);

/// Whether there is this atom; refuses otherwise.
bool tali_mol_has_atom(tal_mol *mol, int atom, const char *where);

/// Whether a molecule was given; a breach otherwise.
bool tali_mol_is_given(const tal_mol *mol, const char *where);

/// Whether it is frozen and has item i of n; a breach otherwise.
bool tali_mol_is_there(const tal_mol *mol, int i, int n, const char *what, const char *where);

/// Add a term; its atoms are checked.
tal_status tali_mol_push_term(tal_mol *mol, tal_mol_family family, const tali_mol_term *term);

/// Neighbors, parts, rings.
tal_status tali_mol_find_graph(tal_mol *mol);

/// Which atoms are 1 to 4 bonds apart.
tal_status tali_mol_find_near(tal_mol *mol);

/// Every bonded term that the bonds imply, with its law.
tal_status tali_mol_find_terms(tal_mol *mol);

/// Mass properties of an atom at a place: a point, or a solid sphere.
tal_mass_props tali_mol_atom_mass_props(const tal_mol *mol, int atom, tal_vec3 at);

/// Add to a sum whose `com` is mass times com, until tali_mol_end_mass() divides it.
void tali_mol_add_mass(tal_mass_props *sum, tal_mass_props one);

/// Make the `com` of a sum what its name says.
void tali_mol_end_mass(tal_mass_props *sum);

/// Bonds on the shortest way between two atoms, 5: more than 4. Frozen only.
int tali_mol_separation(const tal_mol *mol, int a, int b);

#endif // TALUS_MOL_INTERNAL_H
