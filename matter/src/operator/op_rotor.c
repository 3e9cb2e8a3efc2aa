// Rotors behind gears, as inertia along one speed.
#include "operator/operators_internal.h"

#include <math.h>

double tal_body_rotor_inertia(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    if (tali_tree_body_at(matter, body, __func__) == NULL) return TALI_NAN;
    const double *rotor = tali_cache_var_read(matter->system, state, matter->rotor, __func__);
    return rotor != NULL ? rotor[body.i] : TALI_NAN;
}

tal_status tal_body_set_rotor_inertia(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                      double inertia)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    if (declared == NULL) return tal_contract_last()->status;
    if (declared->ops.nu != 1) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': a rotor drives one speed, and its %s has %d",
                                declared->name, declared->ops.name, declared->ops.nu);
    }
    if (!isfinite(inertia) || inertia < 0.0) {
        return tal_state_refuse(state, isfinite(inertia) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE,
                                "body '%s': its rotor's inertia cannot be %g", declared->name,
                                inertia);
    }
    double *rotor = tali_cache_var_write(matter->system, state, matter->rotor, __func__);
    if (rotor == NULL) return tal_contract_last()->status;
    rotor[body.i] = inertia;
    return TAL_OK;
}
