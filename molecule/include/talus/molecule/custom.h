// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_CUSTOM_H
#define TALUS_MOLECULE_CUSTOM_H

/**
 * @file talus/molecule/custom.h
 * @brief Potentials of your own between atoms of a molecule, which may also depend on how their
 * bodies are turned: restraints, elastic networks, bases that stack.
 *
 *     static tal_status spring(const void *self, const tal_mol_site sites[], const double params[],
 *                              tal_mol_response *out)
 *     {
 *         const tal_vec3 d = tal_v3_sub(sites[0].x, sites[1].x);
 *         const double r = tal_v3_norm(d), stretch = r - params[1];
 *         out->energy = params[0] * stretch * stretch;
 *         out->f[0] = tal_v3_scale(-2.0 * params[0] * stretch / r, d);
 *         out->f[1] = tal_v3_neg(out->f[0]);
 *         return TAL_OK;
 *     }
 *
 * Terms act between atoms that are listed, each with parameters of its own; pairs act between all
 * atoms of a list that are on different bodies and near each other, with images in the box that the
 * molecule has in the State (talus/molecule/nonbonded.h). Both are force elements that depend on q
 * alone. tal_force_test() finds a potential whose forces are not its slopes.
 */

#include <talus/molecule/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup molcustom Potentials of your own
/// @{

/// The most atoms of one term.
#define TAL_MAX_MOL_SITES 8

/// An atom of a term.
typedef struct tal_mol_site {
    tal_vec3 x; ///< where it is, in Ground [nm]
    tal_mat3 R; ///< the axes of its body, R_GB
} tal_mol_site;

/// What a term answers; zeros when it is called.
typedef struct tal_mol_response {
    double energy;                 ///< [kJ/mol]
    tal_vec3 f[TAL_MAX_MOL_SITES]; ///< forces on the atoms, in Ground [kJ/mol/nm]
    tal_vec3
        t[TAL_MAX_MOL_SITES]; ///< torques on their bodies, besides those of the forces [kJ/mol]
} tal_mol_response;

/// A potential. Zero-fill, then set the fields.
typedef struct tal_mol_custom_ops {
    size_t size;      ///< sizeof(tal_mol_custom_ops)
    const char *kind; ///< what it is called in messages; must outlive the System
    int num_sites;    ///< atoms of a term, 1 ... TAL_MAX_MOL_SITES; 2 for pairs
    int num_params;   ///< numbers of a term, not negative; those of pairs are the same for all

    /**
     * Energy, forces and torques of one term. It must not depend on where Ground's origin is,
     * unless it is meant to hold atoms in place; for pairs it must be the same for both orders.
     *
     * @param[in]  sites   [num_sites]
     * @param[in]  params  [num_params]
     * @return TAL_OK, or why it failed
     */
    tal_status (*eval)(const void *self, const tal_mol_site sites[], const double params[],
                       tal_mol_response *out);

    /// Free `self`; NULL: nothing to free.
    void (*destroy)(void *self);
} tal_mol_custom_ops;

/**
 * Add terms. Sticky, as all building is.
 *
 * @param[in] ops        copied
 * @param[in] self       handed to `eval`; adopted by this call whether it succeeds or not
 * @param[in] num_terms  not negative
 * @param[in] atoms      [ops->num_sites * num_terms] one term after the other; copied
 * @param[in] params     [ops->num_params * num_terms] likewise
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_mol_add_terms(tal_forces *forces, const tal_mol_instance *instance,
                                       const char *name, const tal_mol_custom_ops *ops, void *self,
                                       int num_terms, const int atoms[], const double params[]);

/// Between which atoms a potential of pairs acts. Obtain it from tal_mol_pairs_def_default(), then
/// edit.
typedef struct tal_mol_pairs_def {
    const int *atoms;     ///< [num_atoms] ascending; borrowed during the call
    int num_atoms;        ///< not negative
    const double *params; ///< as many as the potential has; borrowed during the call
    double cutoff;        ///< pairs farther apart are left out [nm]; may be infinite without a box
    int bonds;            ///< atoms that are so many bonds apart or fewer are left out, 0 ... 4
} tal_mol_pairs_def;

/// No atoms, no parameters, an infinite cutoff, 0 bonds.
TAL_API tal_mol_pairs_def tal_mol_pairs_def_default(void);

/**
 * Add a potential between all pairs of some atoms. It must end smoothly at the cutoff by itself.
 *
 * @param[in] ops   of two sites; copied
 * @param[in] self  handed to `eval`; adopted by this call whether it succeeds or not
 * @param[in] def   copied
 * @return its index, `i` < 0 on failure
 */
TAL_API tal_force_ix tal_mol_add_pairs(tal_forces *forces, const tal_mol_instance *instance,
                                       const char *name, const tal_mol_custom_ops *ops, void *self,
                                       const tal_mol_pairs_def *def);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_CUSTOM_H
