// The plan of how a molecule becomes bodies: which atoms are one body, what each hangs on, by which
// mobilizer, and where its frames are.
#ifndef TALUS_MOL_PLAN_INTERNAL_H
#define TALUS_MOL_PLAN_INTERNAL_H

#include "mol/mol_internal.h"

#include <talus/molecule/instance.h>

/// Atoms closer than this to an axis do not turn about it [nm].
#define TALI_PLAN_ON_AXIS 1e-3

/// One body of the plan.
typedef struct tali_plan_body {
    int parent;           ///< in the plan, before this one; -1: Ground
    int bond;             ///< by which it hangs; -1: a root
    int atoms[2];         ///< of that bond: i of the parent, j of this body
    int dihedral[2];      ///< k and l that q of a torsion is measured by; -1: none
    int first, num_atoms; ///< its atoms among tali_plan.order
    int depth;            ///< bodies on the way to Ground, itself included
    bool has_children;
    bool carries;       ///< something hangs on it that neither swings nor has spherical coordinates
    bool has_direction; ///< a turn about its origin moves something that only it turns
    tal_bond_mobility mobility;
    tal_vec3 origin; ///< Bo in R, the frame of the positions; axes are those of R
    tal_xform X_PF, X_BM;
    double q[TAL_MAX_NQ]; ///< at the positions given
    int nq, nu;
    tal_mass_props mass;
} tali_plan_body;

typedef struct tali_plan {
    const tal_mol *mol;
    const tal_mol_granularity *how;
    tal_allocator allocator;
    void *block;
    size_t size;

    tal_bond_mobility *mobility; ///< [num_bonds]
    bool *is_tree;               ///< [num_bonds] a mobilizer
    int *level;                  ///< [num_atoms] selection that decides, -1: none
    int *body;                   ///< [num_atoms] of each atom
    int *order;                  ///< [num_atoms] atoms by body, ascending in each
    tali_plan_body *bodies;      ///< [num_atoms] of which num_bodies are used
    tal_mol_demoted *demoted;    ///< [num_bonds + num_atoms]
    int *cut;                    ///< [num_bonds]
    int num_bodies, num_demoted, num_cut;

    int *unit;       ///< [num_atoms] what rigid bonds hold together, by lowest atom
    int *unit_first; ///< [num_atoms + 1] of its atoms among unit_atoms
    int *unit_atoms; ///< [num_atoms]
    int *unit_body;  ///< [num_atoms] its body; -1: not met yet
    int *queue;      ///< [num_atoms + 1]
    int *mark;       ///< [num_atoms]
    int num_units, marks;
} tali_plan;

/// Make the plan. On failure `err` says why and there is nothing to free.
tal_status tali_plan_make(tali_plan *plan, const tal_mol *mol, const tal_mol_granularity *how,
                          tal_error *err);

/// Free it.
void tali_plan_free(tali_plan *plan);

/// Which mobility every bond is to have.
tal_status tali_plan_choose(tali_plan *plan, tal_error *err);

/// What holds atoms together: bonds that are rigid, clusters and selections that are one body.
void tali_plan_find_units(tali_plan *plan);

/// Frames, coordinates and mass of every body.
tal_status tali_plan_place(tali_plan *plan, tal_error *err);

/// Refuse, by name, mobilities that leave the mass matrix singular at the positions given.
tal_status tali_plan_check_regular(const tali_plan *plan, tal_error *err);

/// Whether all atoms that bonds hold to `from`, the bond itself not counted, are on its axis.
bool tali_plan_side_is_on_axis(tali_plan *plan, int bond, int from);

#endif // TALUS_MOL_PLAN_INTERNAL_H
