// The weld: no motion at all.
#include "mobilizer/mobilizer_internal.h"

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self, (void)arg;
    *X_FM = TAL_XFORM_IDENTITY;
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self, (void)arg, (void)H_FM; // no columns
    return TAL_OK;
}

static tal_status fit_q(const void *self, const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                        double q[])
{
    (void)self, (void)arg, (void)X_FM, (void)q; // nothing to choose
    return TAL_OK;
}

static const tal_mobilizer_ops ops = {
    .size = sizeof ops,
    .name = "weld",
    .tag = TALI_TAG_WELD,
    .calc_X_FM = calc_X_FM,
    .calc_H_FM = calc_H_FM,
    .fit_q = fit_q,
};

const tal_mobilizer_ops *tal_mobilizer_weld(void)
{
    return &ops;
}
