// Bonded terms as pure functions: energy and forces from the positions of two, three or four atoms.
#ifndef TALUS_TERM_LAW_INTERNAL_H
#define TALUS_TERM_LAW_INTERNAL_H

#include "field/field_internal.h"

#include <talus/common/vec.h>

/// Energy of a term and the forces on its atoms [kJ/mol, kJ/mol/nm].
typedef struct tali_term_result {
    double energy;
    tal_vec3 f[4];
} tali_term_result;

/// Value and slope of a series, from cos phi and sin phi, by the recurrence of the angle sums.
double tali_term_series(const tali_field_series *series, double c, double s, double *slope);

/// The series of phi = q + delta as one of q, added to `sum`.
void tali_term_add_shifted(const tali_field_series *series, double delta, tali_field_series *sum);

/// The dihedral 1-2-3-4 (IUPAC), in (-pi, pi]; 0 where three atoms are in line.
double tali_term_dihedral(const tal_vec3 x[4]);

/// A term at the positions of its atoms.
tali_term_result tali_term_evaluate(const tali_field_law *law, const tal_vec3 x[4]);

#endif // TALUS_TERM_LAW_INTERNAL_H
