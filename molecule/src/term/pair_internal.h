// Pairs of atoms: energy and force at a distance, with cutoffs and dielectrics.
#ifndef TALUS_TERM_PAIR_INTERNAL_H
#define TALUS_TERM_PAIR_INTERNAL_H

#include <talus/molecule/nonbonded.h>

/// A potential 1/r^a, or what became of it: its value at the end, its slope there, the polynomial
/// of GROMACS.
typedef struct tali_term_power {
    double value, slope; ///< at the end of the cutoff
    double p3, p4, p0;   ///< less p3 d^3 + p4 d^4 + p0 with d = r - start
} tali_term_power;

/// Pairs as set in a State, ready to be evaluated.
typedef struct tali_term_pairs {
    tal_mol_nonbonded set;
    double vdw_end2, coulomb_end2; ///< squares of the ends; infinite without cutoffs
    double end;                    ///< the farthest; infinite without cutoffs
    tali_term_power r12, r6, charge;
    double field_k, field_c; ///< of a reaction field
    bool has_box;
    tal_vec3 per_box; ///< inverse edges
} tali_term_pairs;

/// Energies of a pair and the force between them, divided by the distance.
typedef struct tali_term_pull {
    double vdw, coulomb;
    double pull; ///< -dE/dr / r: times d = x_i - x_j it is the force on i
} tali_term_pull;

/// The nearest whole number, for numbers below 2^51: what is added to 3/2 2^52 is rounded to one.
static inline double tali_term_rint(double x)
{
    return (x + 6755399441055744.0) - 6755399441055744.0;
}

/// Make settings ready.
tali_term_pairs tali_term_prepare(const tal_mol_nonbonded *set);

/// A pair A/r^12 - B/r^6 and C/r at a squared distance, with cutoffs.
tali_term_pull tali_term_pull_of(const tali_term_pairs *pairs, double r2, double A, double B,
                                 double C);

/// The same without cutoffs and reaction field.
tali_term_pull tali_term_pull_near(const tali_term_pairs *pairs, double r2, double A, double B,
                                   double C);

#endif // TALUS_TERM_PAIR_INTERNAL_H
