// How the columns of a mobilizer, and Hdot_FM u, change when M moves along one of its speeds: what
// derivatives of dynamics need of it (theory T-13).
#include "mobilizer/mobilizer_internal.h"
#include "tree/differences_internal.h"

#include <math.h>

// q moves by no more than this in differences, as in tal_mobilizer_test().
static const double STEP = 1e-3;

tal_status tali_mobilizer_Hdot_u(const tal_mobilizer_ops *ops, const void *self,
                                 const tal_mobilizer_arg *arg, tal_direction direction,
                                 const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                 tal_spatial_vec *Hdot_u)
{
    tal_spatial_vec Hdot[TAL_MAX_NU], V_FM = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < ops->nu; ++j) {
        V_FM = tal_sv_axpy(arg->u[j], H_FM[j], V_FM);
    }
    const tal_status st = tali_mobilizer_Hdot_FM(ops, self, arg, direction, X_FM, H_FM, V_FM, Hdot);
    if (st != TAL_OK) return st;
    *Hdot_u = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < ops->nu; ++j) {
        *Hdot_u = tal_sv_axpy(arg->u[j], Hdot[j], *Hdot_u);
    }
    return TAL_OK;
}

// Hdot of the table itself, forward, times u; its columns besides.
static tal_status table_Hdot(const tal_mobilizer_ops *ops, const void *self,
                             const tal_mobilizer_arg *arg, tal_spatial_vec Hdot[],
                             tal_spatial_vec *Hdot_u)
{
    const tal_status st = ops->calc_Hdot_FM(self, arg, Hdot);
    *Hdot_u = TAL_SPATIAL_VEC_ZERO;
    for (int j = 0; j < ops->nu && st == TAL_OK; ++j) {
        *Hdot_u = tal_sv_axpy(arg->u[j], Hdot[j], *Hdot_u);
    }
    return st;
}

// The slope of Hdot u along speed l by differences of the table.
static tal_status difference(const tal_mobilizer_ops *ops, const void *self,
                             const tal_mobilizer_arg *arg, int l, tal_spatial_vec *slope)
{
    const int nq = tali_mobilizer_nq(ops, arg->use_angles);
    double unit[TAL_MAX_NU] = {0.0}, along[TAL_MAX_NQ] = {0.0}, speed = 1.0;
    unit[l] = 1.0;
    tal_status st = tali_mobilizer_mul_N(ops, self, arg, TAL_N, unit, along);
    for (int i = 0; i < nq; ++i) {
        speed = fmax(speed, fabs(along[i]));
    }
    const tali_differences_four_points at = tali_differences_four_points_of(STEP / speed);
    *slope = TAL_SPATIAL_VEC_ZERO;
    for (int k = 0; k < 4 && st == TAL_OK; ++k) {
        double q[TAL_MAX_NQ];
        for (int i = 0; i < nq; ++i) {
            q[i] = arg->q[i] + at.step[k] * along[i];
        }
        tal_mobilizer_arg moved = *arg;
        moved.q = q;
        tal_spatial_vec Hdot[TAL_MAX_NU], Hdot_u;
        st = table_Hdot(ops, self, &moved, Hdot, &Hdot_u);
        *slope = tal_sv_axpy(at.weight[k], Hdot_u, *slope);
    }
    return st;
}

// The slopes of Hdot u of the table itself, forward.
static tal_status table_slopes(const tal_mobilizer_ops *ops, const void *self,
                               const tal_mobilizer_arg *arg, tal_spatial_vec slopes[])
{
    if (ops->calc_Hdot_u_slopes != NULL) return ops->calc_Hdot_u_slopes(self, arg, slopes);
    tal_status st = TAL_OK;
    for (int l = 0; l < ops->nu && st == TAL_OK; ++l) {
        slopes[l] = TAL_SPATIAL_VEC_ZERO;
        if (ops->calc_Hdot_FM != NULL) st = difference(ops, self, arg, l, &slopes[l]);
    }
    return st;
}

// What a table gives that is meant from M to F: p_MF, V_MF = h u = (w, v), hdot u = (wdot, vdot).
typedef struct backward {
    tal_vec3 p;
    tal_vec3 w, v;
    tal_vec3 wdot, vdot;
} backward;

// Before it is turned to F, Hdot_FM u is
//
//     (-wdot, 2 w x v - w x (w x p) - vdot + wdot x p)        from manual eq. 5.20 and 5.22
static tal_spatial_vec backward_Hdot_u(const backward *m)
{
    const tal_vec3 gyro = tal_v3_sub(tal_v3_scale(2.0, tal_v3_cross(m->w, m->v)),
                                     tal_v3_cross(m->w, tal_v3_cross(m->w, m->p)));
    return tal_sv(tal_v3_neg(m->wdot),
                  tal_v3_add(gyro, tal_v3_sub(tal_v3_cross(m->wdot, m->p), m->vdot)));
}

// The change of that when what it is made of changes by `d`.
static tal_spatial_vec backward_slope(const backward *m, const backward *d)
{
    const tal_vec3 coriolis =
        tal_v3_scale(2.0, tal_v3_add(tal_v3_cross(d->w, m->v), tal_v3_cross(m->w, d->v)));
    const tal_vec3 wp = tal_v3_add(tal_v3_cross(d->w, m->p), tal_v3_cross(m->w, d->p));
    const tal_vec3 centripetal =
        tal_v3_add(tal_v3_cross(d->w, tal_v3_cross(m->w, m->p)), tal_v3_cross(m->w, wp));
    const tal_vec3 rest =
        tal_v3_sub(tal_v3_add(tal_v3_cross(d->wdot, m->p), tal_v3_cross(m->wdot, d->p)), d->vdot);
    return tal_sv(tal_v3_neg(d->wdot), tal_v3_add(tal_v3_sub(coriolis, centripetal), rest));
}

// The slopes of Hdot_FM u of a reversed mobilizer. Speed l turns M, seen from F, by minus its h, so
// what is fixed in M changes in F by -h_l.w x.
static tal_status reversed_slopes(const tal_mobilizer_ops *ops, const void *self,
                                  const tal_mobilizer_arg *arg, const tal_xform *X_FM,
                                  tal_spatial_vec slopes[])
{
    tal_spatial_vec h[TAL_MAX_NU], hdot[TAL_MAX_NU], hdot_u = TAL_SPATIAL_VEC_ZERO;
    tal_spatial_vec curve[TAL_MAX_NU], hu = TAL_SPATIAL_VEC_ZERO;
    tal_status st = ops->calc_H_FM(self, arg, h);
    if (st == TAL_OK) st = table_slopes(ops, self, arg, curve);
    if (st == TAL_OK && ops->calc_Hdot_FM != NULL) st = table_Hdot(ops, self, arg, hdot, &hdot_u);
    for (int j = 0; j < ops->nu && st == TAL_OK; ++j) {
        hu = tal_sv_axpy(arg->u[j], h[j], hu);
    }
    const backward m = {tal_xf_inverse(*X_FM).p, hu.w, hu.v, hdot_u.w, hdot_u.v};
    for (int l = 0; l < ops->nu && st == TAL_OK; ++l) {
        double unit[TAL_MAX_NU] = {0.0};
        unit[l] = 1.0;
        tal_mobilizer_arg along = *arg;
        along.u = unit;
        tal_spatial_vec by_l[TAL_MAX_NU], h_by_l_u = TAL_SPATIAL_VEC_ZERO, unused;
        if (ops->calc_Hdot_FM != NULL) st = table_Hdot(ops, self, &along, by_l, &unused);
        for (int j = 0; j < ops->nu && ops->calc_Hdot_FM != NULL && st == TAL_OK; ++j) {
            h_by_l_u = tal_sv_axpy(arg->u[j], by_l[j], h_by_l_u);
        }
        const backward d = {h[l].v, h_by_l_u.w, h_by_l_u.v, curve[l].w, curve[l].v};
        const tal_spatial_vec all = backward_Hdot_u(&m), change = backward_slope(&m, &d);
        const tal_spatial_vec turned =
            tal_sv(tal_v3_cross(h[l].w, all.w), tal_v3_cross(h[l].w, all.v));
        slopes[l] = tal_m3_mul_sv(X_FM->R, tal_sv_sub(change, turned));
    }
    return st;
}

tal_status tali_mobilizer_slopes_of(const tal_mobilizer_ops *ops, const void *self,
                                    const tal_mobilizer_arg *arg, tal_direction direction,
                                    const tal_xform *X_FM, const tal_spatial_vec H_FM[],
                                    tali_mobilizer_slopes *slopes)
{
    tal_status st = TAL_OK;
    for (int l = 0; l < ops->nu && st == TAL_OK; ++l) {
        double unit[TAL_MAX_NU] = {0.0};
        unit[l] = 1.0;
        tal_mobilizer_arg along = *arg;
        along.u = unit;
        st = tali_mobilizer_Hdot_FM(ops, self, &along, direction, X_FM, H_FM, H_FM[l],
                                    slopes->of_H + (ptrdiff_t)l * ops->nu);
    }
    if (st != TAL_OK) return st;
    return direction == TAL_FORWARD ? table_slopes(ops, self, arg, slopes->of_Hdot_u)
                                    : reversed_slopes(ops, self, arg, X_FM, slopes->of_Hdot_u);
}
