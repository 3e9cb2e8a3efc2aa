// Translation (Cartesian): M keeps the orientation of F, p_FM = (q0, q1, q2).
#include "mobilizer/mobilizer_orientation_internal.h"

#include <string.h>

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_p(tali_mobilizer_v3_load(arg->q));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg;
    memcpy(H_FM, tali_mobilizer_unit_columns + 3, 3 * sizeof *H_FM);
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg;
    tali_mobilizer_v3_store(X_FM->p, q);
    return TAL_OK;
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "translation",
    .tag = TALI_TAG_TRANSLATION,
    .nu = 3,
    .nq = 3,
    .nq_angles = 3,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_translation(void)
{
    return &ops;
}
