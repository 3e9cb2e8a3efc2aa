// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MOLECULE_FORCE_FIELD_H
#define TALUS_MOLECULE_FORCE_FIELD_H

/**
 * @file talus/molecule/force_field.h
 * @brief Force fields: parameters of atoms, of bonded terms between their classes, and of pairs.
 *
 * A force field is built, frozen, and never changes again: molecules, Systems and threads may share
 * it. Building is sticky: an `add` that is refused says why, and tal_ff_freeze() says it again, so
 * a program may ignore what the calls between return.
 *
 *     tal_ff *ff = NULL;
 *     tal_status st = tal_ff_create(NULL, NULL, &ff, &err);
 *     tal_ff_class_def carbon = tal_ff_class_def_default();
 *     carbon.name = "CT";
 *     carbon.element = 6;
 *     carbon.size = 0.34;          // sigma [nm]
 *     carbon.well_depth = 0.4577;  // [kJ/mol]
 *     const int ct = tal_ff_add_class(ff, &carbon);
 *     const int methyl = tal_ff_add_type(ff, "CH3", ct, -0.18);
 *     tal_ff_add_stretch(ff, ct, ct, 129704.0, 0.1526);
 *     st = tal_ff_freeze(ff, &err);
 *
 * An atom *class* is what all bonded tables and van der Waals parameters go by; an atom *type* is a
 * class with a charge and a mass. Units are those of talus/molecule/units.h; functions that end in
 * `_ka` take kcal/mol, Angstrom and degrees.
 *
 *     stretch, Urey-Bradley  k (r - r0)^2                     no factor 1/2
 *     bend                   k (theta - theta0)^2             or k/2 (cos theta - cos theta0)^2
 *     torsion, improper      sum_n V_n (1 + cos(n phi - gamma_n)),  n = 1 ... 6
 *     harmonic improper      k (phi - phi0)^2                 the difference in (-pi, pi]
 *     van der Waals          4 eps ((sigma/r)^12 - (sigma/r)^6) = A/r^12 - B/r^6
 */

#include <talus/common/alloc.h>
#include <talus/molecule/units.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup forcefield Force fields
/// @{

/// Longest name of a class, type, atom or cluster, without the terminating zero.
#define TAL_MAX_MOL_NAME    23
/// The largest n of a torsion.
#define TAL_MAX_PERIODICITY 6
/// The class that stands for any class, at the ends of torsions and in impropers.
#define TAL_FF_ANY          (-1)

/// A force field. Opaque; const once it is frozen.
typedef struct tal_ff tal_ff;

/// How the sizes s and depths e of two classes give those of a pair.
typedef enum tal_ff_mixing {
    TAL_FF_WALDMAN_HAGLER,    ///< s^6 = mean of s^6; e = 2 sqrt(e e) s^3 s^3 / (s^6 + s^6)
    TAL_FF_HALGREN,           ///< s = sum s^3 / sum s^2; e = 4 e e / (sqrt e + sqrt e)^2
    TAL_FF_JORGENSEN,         ///< geometric means of both
    TAL_FF_LORENTZ_BERTHELOT, ///< mean of s, geometric mean of e
    TAL_FF_KONG               ///< by e s^6 and e s^12
} tal_ff_mixing;

/// What a size is.
typedef enum tal_ff_size {
    TAL_FF_SIGMA, ///< the distance of zero energy
    TAL_FF_RMIN,  ///< the distance of least energy, 2^(1/6) sigma
    TAL_FF_RADIUS ///< half of that
} tal_ff_size;

/// A force field. Obtain it from tal_ff_def_default(), then edit.
typedef struct tal_ff_def {
    tal_ff_mixing mixing;
    double coulomb_scale[4]; ///< of pairs 1, 2, 3, 4 bonds apart, not negative
    double vdw_scale[4];     ///< the same for van der Waals
    double coulomb_constant; ///< ke [kJ nm/mol/e^2], positive
    double
        atom_radius_scale; ///< atoms as solid spheres of so many van der Waals radii when inertias
                           ///< are summed; 0: points
} tal_ff_def;

/// Waldman-Hagler; pairs 1 and 2 bonds apart do not interact, those farther apart do in full;
/// TAL_MOL_COULOMB; atoms are points.
TAL_API tal_ff_def tal_ff_def_default(void);

/**
 * Create a force field without classes.
 *
 * @param[in]  def        copied; NULL: the default
 * @param[in]  allocator  NULL: the C heap
 * @param[out] out        owned by the caller; NULL on failure
 * @param[out] err        why it failed; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE naming the field of `def`, TAL_ERR_NULL or TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_ff_create(const tal_ff_def *def,
                                               const tal_allocator *allocator, tal_ff **out,
                                               tal_error *err);

/// Free a force field. NULL is allowed. Molecules that use it must be gone.
TAL_API void tal_ff_destroy(tal_ff *ff);

/// @name Building. Each returns what it refused, and tal_ff_freeze() returns the first again.
/// @{

/// An atom class. Obtain it from tal_ff_class_def_default(), then edit.
typedef struct tal_ff_class_def {
    const char *name;      ///< unique; must be set; copied
    int element;           ///< atomic number; 0: a site that is no atom, or a bead
    int valence;           ///< number of bonds that an atom of this class has; 0: any
    double size;           ///< as `size_kind` says [nm], not negative
    tal_ff_size size_kind; ///< sigma unless said otherwise
    double well_depth;     ///< [kJ/mol], not negative
} tal_ff_class_def;

/// No name, element 0, any valence, size and depth zero.
TAL_API tal_ff_class_def tal_ff_class_def_default(void);

/// Add an atom class. -1 on failure.
TAL_API int tal_ff_add_class(tal_ff *ff, const tal_ff_class_def *def);
/// The same with size in Angstrom and depth in kcal/mol.
TAL_API int tal_ff_add_class_ka(tal_ff *ff, const tal_ff_class_def *def);

/// Add a charged atom type of a class. Its mass is that of the class's element, and 0 for element
/// 0. @param[in] charge  [e]
/// @return its index, -1 on failure
TAL_API int tal_ff_add_type(tal_ff *ff, const char *name, int atom_class, double charge);

/// Give a type another mass [Da], not negative. 0 makes it a massless site.
TAL_API tal_status tal_ff_set_type_mass(tal_ff *ff, int type, double mass);

/// Give a type what generalized Born models need (talus/molecule/nonbonded.h); both are zero
/// before.
/// @param[in] radius  of the atom [nm], above 0.009
/// @param[in] screen  factor of the radius by which the atom screens others, not negative
TAL_API tal_status tal_ff_set_type_born(tal_ff *ff, int type, double radius, double screen);

/// k (r - r0)^2 between bonded atoms. @param[in] k  [kJ/mol/nm^2] @param[in] r0  [nm]
TAL_API tal_status tal_ff_add_stretch(tal_ff *ff, int c1, int c2, double k, double r0);
/// The same in kcal/mol/Angstrom^2 and Angstrom.
TAL_API tal_status tal_ff_add_stretch_ka(tal_ff *ff, int c1, int c2, double k, double r0);

/// k (theta - theta0)^2, with the vertex at c2. @param[in] k  [kJ/mol/rad^2]
/// @param[in] theta0  0 ... pi
TAL_API tal_status tal_ff_add_bend(tal_ff *ff, int c1, int c2, int c3, double k, double theta0);
/// The same in kcal/mol/rad^2 and degrees.
TAL_API tal_status tal_ff_add_bend_ka(tal_ff *ff, int c1, int c2, int c3, double k, double theta0);

/// k/2 (cos theta - cos theta0)^2, as GROMOS and Martini have it. @param[in] k  [kJ/mol]
TAL_API tal_status tal_ff_add_cosine_bend(tal_ff *ff, int c1, int c2, int c3, double k,
                                          double theta0);

/// k (r - r0)^2 between the ends of a bend. @param[in] k  [kJ/mol/nm^2]
TAL_API tal_status tal_ff_add_urey_bradley(tal_ff *ff, int c1, int c2, int c3, double k, double r0);
/// The same in kcal/mol/Angstrom^2 and Angstrom.
TAL_API tal_status tal_ff_add_urey_bradley_ka(tal_ff *ff, int c1, int c2, int c3, double k,
                                              double r0);

/// One term of a torsion: V (1 + cos(n phi - gamma)); V is half the barrier.
typedef struct tal_ff_wave {
    int n;        ///< 1 ... TAL_MAX_PERIODICITY
    double V;     ///< [kJ/mol]
    double gamma; ///< [rad]
} tal_ff_wave;

/// A torsion about the bond of c2 and c3. TAL_FF_ANY may stand for c1 and c4: what has the fewest
/// of them is taken first, then what was added first.
/// @param[in] waves  [num_waves]; one n may occur several times
TAL_API tal_status tal_ff_add_torsion(tal_ff *ff, int c1, int c2, int c3, int c4,
                                      const tal_ff_wave waves[], int num_waves);
/// The same in kcal/mol and degrees.
/// @param[in] waves  [num_waves]
TAL_API tal_status tal_ff_add_torsion_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                         const tal_ff_wave waves[], int num_waves);

/// A torsion of Ryckaert and Bellemans, sum_k C_k cos^k(phi - pi), which is converted to waves.
TAL_API tal_status tal_ff_add_rb_torsion(tal_ff *ff, int c1, int c2, int c3, int c4,
                                         const double C[6]);

/// An improper torsion: the dihedral formula on the neighbors c1, c2, c4 of the center c3, which
/// has exactly three. TAL_FF_ANY may stand for all but c3. The order of the neighbors is that of
/// the classes given here; of several that fit, the one with the lowest atoms first.
/// @param[in] waves  [num_waves]
TAL_API tal_status tal_ff_add_improper(tal_ff *ff, int c1, int c2, int c3, int c4,
                                       const tal_ff_wave waves[], int num_waves);
/// The same in kcal/mol and degrees.
/// @param[in] waves  [num_waves]
TAL_API tal_status tal_ff_add_improper_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                          const tal_ff_wave waves[], int num_waves);
/// k (phi - phi0)^2. @param[in] k  [kJ/mol/rad^2]
TAL_API tal_status tal_ff_add_harmonic_improper(tal_ff *ff, int c1, int c2, int c3, int c4,
                                                double k, double phi0);

/// Van der Waals parameters of a pair of classes, instead of those that mixing gives.
/// @param[in] sigma  [nm] @param[in] well_depth  [kJ/mol]
TAL_API tal_status tal_ff_add_pair(tal_ff *ff, int c1, int c2, double sigma, double well_depth);
/// The same in Angstrom and kcal/mol.
TAL_API tal_status tal_ff_add_pair_ka(tal_ff *ff, int c1, int c2, double sigma, double well_depth);
/// The same as A/r^12 - B/r^6 [kJ/mol nm^12, kJ/mol nm^6].
TAL_API tal_status tal_ff_add_pair_AB(tal_ff *ff, int c1, int c2, double A, double B);
/// Parameters of a pair of classes where its atoms are three bonds apart, as CHARMM has them; they
/// are scaled like all such pairs.
TAL_API tal_status tal_ff_add_pair14(tal_ff *ff, int c1, int c2, double sigma, double well_depth);
/// @}

/**
 * End building: sort the tables, mix all pairs. Once.
 *
 * @param[out] err  the first thing that was refused; may be NULL
 * @return TAL_OK, TAL_ERR_BAD_VALUE for two entries with the same classes and other values, what an
 *         `add` returned, or TAL_ERR_NO_MEMORY
 */
TAL_API TAL_NODISCARD tal_status tal_ff_freeze(tal_ff *ff, tal_error *err);

/// Whether it is frozen. False for NULL.
TAL_API bool tal_ff_is_frozen(const tal_ff *ff);

/// @name Reading
/// @{
/// Number of classes; -1 on a breach.
TAL_API int tal_ff_num_classes(const tal_ff *ff);
/// Number of types; -1 on a breach.
TAL_API int tal_ff_num_types(const tal_ff *ff);
/// Look a class up by name; -1 when there is none (that is not a breach).
TAL_API int tal_ff_find_class(const tal_ff *ff, const char *name);
/// Look a type up by name; -1 when there is none (that is not a breach).
TAL_API int tal_ff_find_type(const tal_ff *ff, const char *name);
/// Name of a class; never NULL; borrowed.
TAL_API const char *tal_ff_class_name(const tal_ff *ff, int atom_class);
/// Atomic number of a class; 0 for a site or a bead; -1 on a breach.
TAL_API int tal_ff_class_element(const tal_ff *ff, int atom_class);
/// Name of a type; never NULL; borrowed.
TAL_API const char *tal_ff_type_name(const tal_ff *ff, int type);
/// The class of a type; -1 on a breach.
TAL_API int tal_ff_type_class(const tal_ff *ff, int type);
/// Mass of a type [Da]; NaN on a breach.
TAL_API double tal_ff_type_mass(const tal_ff *ff, int type);
/// Charge of a type [e]; NaN on a breach.
TAL_API double tal_ff_type_charge(const tal_ff *ff, int type);
/// What a force field was created with; zeros on a breach.
TAL_API tal_ff_def tal_ff_options(const tal_ff *ff);

/// A/r^12 - B/r^6.
typedef struct tal_ff_pair {
    double A; ///< 4 eps sigma^12 [kJ/mol nm^12]
    double B; ///< 4 eps sigma^6 [kJ/mol nm^6]
} tal_ff_pair;

/// The van der Waals parameters of two classes, not scaled. Frozen fields only; NaN on a breach.
/// @param[in] is_14  of atoms three bonds apart
TAL_API tal_ff_pair tal_ff_pair_of(const tal_ff *ff, int c1, int c2, bool is_14);

/// Size and depth of a pair by a rule; both zero where a size or a depth is. `s` may be sigma or
/// Rmin, the rules are the same.
/// @param[out] s  size of the pair
/// @param[out] e  its depth
TAL_API tal_status tal_ff_mix(tal_ff_mixing rule, double s1, double e1, double s2, double e2,
                              double *s, double *e);
/// @}

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MOLECULE_FORCE_FIELD_H
