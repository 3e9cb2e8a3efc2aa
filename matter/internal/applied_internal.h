// Forces on bodies between Mo, where matter and force elements work, and Bo, where callers do.
#ifndef TALUS_APPLIED_INTERNAL_H
#define TALUS_APPLIED_INTERNAL_H

#include <talus/matter/applied.h>

/// Is every body's origin Bo also its Mo? Then forces about one are forces about the other. The
/// State has realized Instance.
bool tali_matter_is_every_Bo_Mo(const tal_matter *matter, const tal_state *state);

/// m_B = m_M - p_MB x f: forces about Mo become forces about Bo, in place. The State has realized
/// Position.
void tali_matter_shift_to_Bo(const tal_matter *matter, const tal_state *state, tal_spatial_vec F[]);

/// How many subsystems have asked for the accumulators while Dynamics was realized: those that
/// apply forces. The State has realized Dynamics.
int tali_matter_num_appliers(const tal_matter *matter, const tal_state *state);

#endif // TALUS_APPLIED_INTERNAL_H
