// N at other coordinates than those of a State, for Studies that move a State step by step.
#ifndef TALUS_RATES_INTERNAL_H
#define TALUS_RATES_INTERNAL_H

#include <talus/matter/operators.h>

/// tal_matter_mul_N() at other q and u than the State's, which are finite. Needs Instance.
/// @param[in] q  [nq of matter]
/// @param[in] u  [nu]
tal_status tali_matter_mul_N_of(const tal_matter *matter, tal_state *state, const double q[],
                                const double u[], tal_n_op op, const double in[], double out[]);

#endif // TALUS_RATES_INTERNAL_H
