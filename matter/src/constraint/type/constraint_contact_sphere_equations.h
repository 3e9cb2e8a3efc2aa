// Contact of two spheres that may roll on each other, centers c1 on body 1 and c2 on body 2.
//
//     c2 - c1 = r n        perr = r - (radius1 + radius2)
//     verr = (x, y) . (v2 - v1) at C = c1 + radius1 / (radius1 + radius2) (c2 - c1)
//     force lambda0 n + lambda1 x + lambda2 y on body 2 at C, its opposite on body 1 there
//
// Where sphere 2 is inside sphere 1 its radius counts with the opposite sign.
//
// x is across n and the axis of body 1 that is least along n; y = n x x.

typedef struct TALI_EQUATION(contact) {
    tali_jet distance;
    tali_jet3 n, x, y;
    tali_jet3 C;
} TALI_EQUATION(contact);

static TALI_EQUATION(contact)
    TALI_EQUATION(find_contact)(const tali_constraint_builtin *self, const tal_constraint_arg *arg)
{
    const double *params = arg->params;
    const double sign = self->kind == &inside ? -1.0 : 1.0;
    const double radius1 = params[TAL_SPHERE_ON_SPHERE_RADIUS_1];
    const double radius2 = sign * params[TAL_SPHERE_ON_SPHERE_RADIUS_2];
    const tali_jet3 c1 = tali_constraint_station(
        arg, 0, tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_1));
    const tali_jet3 c2 = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_SPHERE_ON_SPHERE_CENTER_2));
    const tali_jet3 d = tali_jet3_sub(c2, c1);
    TALI_EQUATION(contact) at;
    at.distance =
        tali_jet_plus(tali_jet3_polar(d, tal_v3(0.0, 0.0, 1.0), &at.n), -(radius1 + radius2));
    at.C = tali_jet3_add(c1, tali_jet3_scale(radius1 / (radius1 + radius2), d));
    const tali_jet3 e = tali_constraint_axis(
        arg, 0, least_along(tali_constraint_R_AB(arg, 0), tali_jet3_value(at.n)));
    (void)tali_jet3_polar(tali_jet3_cross(e, at.n), TAL_VEC3_ZERO, &at.x);
    at.y = tali_jet3_cross(at.n, at.x);
    return at;
}

static void TALI_EQUATION(calc_rows)(const tali_constraint_builtin *self,
                                     const tal_constraint_arg *arg, tali_jet row[])
{
    const TALI_EQUATION(contact) at = TALI_EQUATION(find_contact)(self, arg);
    if (self->mp > 0) row[0] = at.distance;
    if (self->mv > 0) tali_constraint_slip_rows(arg, at.C, at.x, at.y, row + self->mp);
}

static void TALI_EQUATION(add_forces)(const tali_constraint_builtin *self,
                                      const tal_constraint_arg *arg, const double lambda[],
                                      tal_spatial_vec F[], double f[])
{
    (void)f;
    const TALI_EQUATION(contact) at = TALI_EQUATION(find_contact)(self, arg);
    const double *drag = lambda + self->mp; // along x and y
    tali_jet3 push = tali_jet3_scale(self->mp > 0 ? lambda[0] : 0.0, at.n);
    if (self->mv > 0) {
        push = tali_jet3_add(push, tali_jet3_scale(drag[0], at.x));
        push = tali_jet3_add(push, tali_jet3_scale(drag[1], at.y));
    }
    tali_constraint_push_apart(arg, 0, 1, at.C, push, F);
}
