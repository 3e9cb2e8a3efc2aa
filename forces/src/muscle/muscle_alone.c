// A muscle away from its System, where the length and speed of its path are given.
#include "muscle_alone_internal.h"

#include "core/forces_internal.h"
#include "muscle/muscle_internal.h"

#include <math.h>

bool tali_muscle_alone_of(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                          tali_muscle_alone *alone)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return false;
    if (it->kind == TALI_MUSCLE_IMPLICIT) {
        (void)tal_state_fail(state, TAL_ERR_BAD_VALUE,
                             "muscle '%s' is implicit: its control does not tell what it does",
                             tal_force_name(forces, muscle));
        return false;
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, &context);
    const tal_group_ix groups[] = {it->activation_z, it->fiber_z};
    *alone = (tali_muscle_alone){.muscle = it, .sizes = sizes, .max_force = sizes->F0};
    for (int k = 0; k < TALI_MUSCLE_NUM_Z; ++k) {
        const bool is_there = groups[k].i >= 0;
        alone->slot[k] = is_there ? tal_group_start(forces->system, state, groups[k]) : -1;
        alone->unit[k] = 1.0;
    }
    if (it->kind == TALI_MUSCLE_ELASTIC) alone->unit[TALI_MUSCLE_FIBER] = sizes->lo;
    return true;
}

double tali_muscle_alone_find(const tali_muscle_alone *alone, double l, double ldot,
                              const double z[], double control, double rate[])
{
    const tali_muscle *it = alone->muscle;
    const tali_muscle_sizes *sizes = alone->sizes;
    const tali_muscle_activation *law = &sizes->activation;
    const bool has_activation = alone->slot[TALI_MUSCLE_ACTIVATION] >= 0;
    const double a = has_activation ? z[TALI_MUSCLE_ACTIVATION] : control;
    const tali_muscle_given given = {
        .l = l, .ldot = ldot, .a = fmin(fmax(a, law->least), 1.0), .z = z[TALI_MUSCLE_FIBER]};
    const tali_muscle_found at = tali_muscle_find(&it->curves, sizes, it->kind, &given);
    if (rate != NULL) {
        rate[TALI_MUSCLE_FIBER] = at.rate;
        rate[TALI_MUSCLE_ACTIVATION] = !has_activation ? 0.0
                                       : it->activation == TAL_ACTIVATION_SMOOTH
                                           ? tali_muscle_smooth_activation_rate(law, control, a)
                                           : tali_muscle_activation_rate(law, control, a);
    }
    return sizes->F0 * at.f_tendon;
}
