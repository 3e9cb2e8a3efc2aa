// Which rows of the constraints are among such that repeat others, for projection.
#ifndef TALUS_REDUNDANT_INTERNAL_H
#define TALUS_REDUNDANT_INTERNAL_H

#include <talus/matter/constraint_operators.h>

/// Whether each row of the State's uerr repeats others (tal_project_options): `redundant` [size of
/// the pool]. As tal_matter_calc_margin().
TAL_NODISCARD tal_status tali_constraint_mark_redundant(const tal_matter *matter, tal_state *state,
                                                        bool redundant[]);

#endif // TALUS_REDUNDANT_INTERNAL_H
