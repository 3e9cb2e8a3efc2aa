// Measures.
#include "state_internal.h"

void tali_measures_destroy(tal_system *system)
{
    (void)system;
}

tal_status tali_measures_realize_acceleration(const tal_system *system, tal_state *state)
{
    (void)system;
    (void)state;
    return TAL_OK;
}
