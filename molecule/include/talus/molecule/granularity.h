// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_GRANULARITY_H
#define TALUS_MOLECULE_GRANULARITY_H

/**
 * @file talus/molecule/granularity.h
 * @brief How a molecule becomes bodies: which bonds move, and how.
 *
 * A level says it for the whole molecule; selections for parts of it; choices for single bonds.
 * Later ones win. The bodies are what the bonds that are rigid hold together, the mobilizers are
 * the bonds that are not:
 *
 *     mobility                 mobilizer of i -> j                 q
 *     TAL_BOND_RIGID           none: both atoms are of one body
 *     TAL_BOND_TORSION         pin along i-j                       dihedral k-i-j-l
 *     TAL_BOND_CYLINDER        cylinder along i-j                  dihedral, r - r_ref
 *     TAL_BOND_SLIDER          slider along i-j                    r - r_ref
 *     TAL_BOND_ANGLE_PIN       pin at i, normal to k-i-j           bend - bend_ref
 *     TAL_BOND_BEND_STRETCH    bend_stretch at i                   bend - bend_ref, r
 *     TAL_BOND_UNIVERSAL       universal at i, both axes normal to i-j
 *     TAL_BOND_BALL            ball at i
 *     TAL_BOND_SPHERICAL       spherical_coords at i               dihedral h-k-i-j, pi - bend, r
 *     TAL_BOND_FREE            none: what is behind the bond hangs on Ground
 *
 * with k the lowest neighbor of i that is not j and not in line with the bond, l that of j, and
 * "ref" the positions that were given. The dihedral is that of IUPAC, exactly, wherever k and l do
 * not move against the two bodies.
 *
 * What would have no inertia is demoted, and every demotion is listed (tal_mol_demoted_at()): a
 * torsion or cylinder with nothing beside its axis on one side becomes rigid or a slider, a ball a
 * universal; a mobile bond between atoms of one body becomes rigid; a root of one atom gets 3
 * mobilities, one of atoms in a line without children 5. One atom alone has no direction if all
 * that hangs on it does so by universal or ball bonds, or by spherical ones that end in such atoms:
 * then a ball that carries it becomes a universal, and a universal that hangs on it becomes a ball
 * if atoms behind it are beside its axis, since nothing else could turn them. A torsion or a
 * cylinder is rigid or a slider where the atom behind it is alone and has only universal, ball and
 * spherical bonds, and where it alone gives a direction to a root of one atom. What still leaves
 * the mass matrix singular where the positions are is refused, with its atoms. Where a bond with
 * spherical coordinates is in line with the bond before it, they are measured from another
 * direction. Bonds that would close loops are cut: they act by their terms alone.
 */

#include <talus/molecule/mol.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup granularity Granularity
/// @{

/// How fine the bodies are.
typedef enum tal_mol_level {
    TAL_MOL_CARTESIAN,    ///< every atom for itself, 3 mobilities each
    TAL_MOL_BAT,          ///< bond lengths, angles and torsions: 3 mobilities for each atom
    TAL_MOL_RIGID_GROUPS, ///< clusters, as placed, each free; other atoms for themselves
    TAL_MOL_TORSIONS,     ///< every bond turns that is not in a ring
    TAL_MOL_BACKBONE,     ///< of those only N-CA and CA-C, by the names of atoms
    TAL_MOL_RESIDUES,     ///< of those only bonds between residues
    TAL_MOL_DOMAINS,      ///< all atoms of a selection are one body, bonded or not
    TAL_MOL_RIGID         ///< all that is bonded is one body
} tal_mol_level;

/// How a bond moves; the table is above.
typedef enum tal_bond_mobility {
    TAL_BOND_RIGID,
    TAL_BOND_TORSION,
    TAL_BOND_CYLINDER,
    TAL_BOND_SLIDER,
    TAL_BOND_ANGLE_PIN,
    TAL_BOND_BEND_STRETCH,
    TAL_BOND_UNIVERSAL,
    TAL_BOND_BALL,
    TAL_BOND_SPHERICAL,
    TAL_BOND_FREE,
    TAL_BOND_TRANSLATION, ///< of roots only: one atom, 3 mobilities
    TAL_BOND_FREE_LINE    ///< of roots only: atoms in a line, 5 mobilities
} tal_bond_mobility;

/// A level for some atoms: those that meet all that is said. A bond belongs to a selection that
/// both of its atoms belong to.
typedef struct tal_mol_selection {
    tal_mol_level level;
    const char *chain; ///< NULL: any
    int first_residue; ///< first and last residue;
    int last_residue;  ///< any if the last is before the first
    const int *atoms;  ///< [num_atoms]; NULL: any
    int num_atoms;
} tal_mol_selection;

/// A mobility for one bond.
typedef struct tal_mol_bond_choice {
    int a, b; ///< its atoms
    tal_bond_mobility mobility;
} tal_mol_bond_choice;

/// How a molecule becomes bodies. Obtain it from tal_mol_granularity_default(), then edit.
typedef struct tal_mol_granularity {
    tal_mol_level level;
    bool open_rings;    ///< ring bonds turn like others; one of each ring is cut. False: rings are
                        ///< rigid, except where every bond moves anyway
    bool freeze_double; ///< double and triple bonds are rigid where others turn
    bool map_bonded;    ///< torsions about a bond that turns are summed into one series of its q
    bool center;        ///< roots are chosen for the least depth; false: for the largest mass
    int list_room;      ///< room of a list of neighbors, in clusters of eight atoms for each atom;
                        ///< the list is made anew for every force where there is less than needed
    int root;           ///< an atom of the body that is to be the root of its part; -1: as chosen
    const tal_mol_selection *selections; ///< [num_selections]; borrowed during the call
    int num_selections;
    const tal_mol_bond_choice *bonds; ///< [num_bonds]; borrowed during the call
    int num_bonds;
} tal_mol_granularity;

/// Torsions, rigid rings, double bonds turn, torsions are mapped, the heaviest body is the root;
/// room for lists of 64 clusters.
TAL_API tal_mol_granularity tal_mol_granularity_default(void);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_GRANULARITY_H
