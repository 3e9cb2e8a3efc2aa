// Contact with a plane: a point, or a sphere or a disk that may roll. The plane is xy of a frame P
// on body 1.
//
//     point S:   perr = z . (S - P)      verr = rates of x . (S - P), y . (S - P)
//     sphere c:  perr = z . (C - P)      verr = (x, y) . (v2 - v1) at C = c - radius z
//     disk c, a: perr = z . (C - P)      verr = (x, y) . (v2 - v1) at C = c - radius e
//                e = (z - (a . z) a) / |z - (a . z) a|, up along the disk
//
//     force lambda0 z + lambda1 x + lambda2 y on body 2 at S or C, its opposite on body 1 there
//
// C is the lowest point of the sphere or of the disk's edge. It moves over the material of both
// bodies, and its velocity is part of the rate of verr. Along z it has the velocity of the material
// there, since it is the lowest: the force at C is the transpose of perr, too.
//
// A disk that lies flat has no lowest point: e is then x, and constant.

static tali_jet3 TALI_EQUATION(push_direction)(const tal_constraint_arg *arg, tal_mat3 R_P,
                                               int axis)
{
    return tali_constraint_axis(arg, 0, axis == 0 ? R_P.x : axis == 1 ? R_P.y : R_P.z);
}

// The force of the multipliers, in A: the normal one if there is one, then those along x and y.
static tali_jet3 TALI_EQUATION(contact_force)(const tal_constraint_arg *arg, tal_mat3 R_P,
                                              const double lambda[], int normals, int slips)
{
    const tal_vec3 push_P =
        tal_v3(slips > 0 ? lambda[normals] : 0.0, slips > 1 ? lambda[normals + 1] : 0.0,
               normals > 0 ? lambda[0] : 0.0);
    return tali_constraint_axis(arg, 0, tal_m3_mul_v3(R_P, push_P));
}

// --- a point ---

static tali_jet3 TALI_EQUATION(point)(const tal_constraint_arg *arg)
{
    return tali_constraint_station(
        arg, 1, tali_constraint_v3_from(arg->params + TAL_POINT_ON_PLANE_STATION));
}

// The height of the point, and its slip where it may not slip.
static void TALI_EQUATION(calc_rows_of_point)(const tali_constraint_builtin *self,
                                              const tal_constraint_arg *arg, tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tali_jet3 p =
        tali_jet3_sub(TALI_EQUATION(point)(arg), tali_constraint_station(arg, 0, X_P.p));
    row[0] = tali_jet3_dot(TALI_EQUATION(push_direction)(arg, X_P.R, 2), p);
    for (int r = 0; r < self->mv; ++r) {
        row[1 + r] = tali_constraint_rate_row(
            tali_jet3_dot(TALI_EQUATION(push_direction)(arg, X_P.R, r), p));
    }
}

static void TALI_EQUATION(add_forces_of_point)(const tali_constraint_builtin *self,
                                               const tal_constraint_arg *arg, const double lambda[],
                                               tal_spatial_vec F[], double f[])
{
    (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    tali_constraint_push_apart(arg, 0, 1, TALI_EQUATION(point)(arg),
                               TALI_EQUATION(contact_force)(arg, X_P.R, lambda, 1, self->mv), F);
}

// --- the grip of a point: where it is in the plane, less where it is anchored ---

static void TALI_EQUATION(calc_rows_of_grip)(const tali_constraint_builtin *self,
                                             const tal_constraint_arg *arg, tali_jet row[])
{
    (void)self;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    const tali_jet3 p =
        tali_jet3_sub(TALI_EQUATION(point)(arg), tali_constraint_station(arg, 0, X_P.p));
    for (int r = 0; r < 2; ++r) {
        row[r] = tali_jet_plus(tali_jet3_dot(TALI_EQUATION(push_direction)(arg, X_P.R, r), p),
                               -arg->params[POINT_GRIP_ANCHOR + r]);
    }
}

static void TALI_EQUATION(add_forces_of_grip)(const tali_constraint_builtin *self,
                                              const tal_constraint_arg *arg, const double lambda[],
                                              tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_POINT_ON_PLANE_FRAME);
    tali_constraint_push_apart(arg, 0, 1, TALI_EQUATION(point)(arg),
                               TALI_EQUATION(contact_force)(arg, X_P.R, lambda, 0, 2), F);
}

// --- what rests on its lowest point: a sphere ---

// The height of the lowest point C, and its slip; a grip has no height.
static void TALI_EQUATION(calc_rows_at)(const tali_constraint_builtin *self,
                                        const tal_constraint_arg *arg, const tal_xform *X_P,
                                        tali_jet3 C, tali_jet row[])
{
    if (self->mp > 0) {
        row[0] = tali_jet3_dot(TALI_EQUATION(push_direction)(arg, X_P->R, 2),
                               tali_jet3_sub(C, tali_constraint_station(arg, 0, X_P->p)));
    }
    if (self->mv == 0) return;
    tali_constraint_slip_rows(arg, C, TALI_EQUATION(push_direction)(arg, X_P->R, 0),
                              TALI_EQUATION(push_direction)(arg, X_P->R, 1), row + self->mp);
}

// The contact force at the lowest point C.
static void TALI_EQUATION(add_forces_at)(const tali_constraint_builtin *self,
                                         const tal_constraint_arg *arg, const tal_xform *X_P,
                                         tali_jet3 C, const double lambda[], tal_spatial_vec F[])
{
    tali_constraint_push_apart(
        arg, 0, 1, C, TALI_EQUATION(contact_force)(arg, X_P->R, lambda, self->mp, self->mv), F);
}

static tali_jet3 TALI_EQUATION(lowest_point)(const tal_constraint_arg *arg, tal_mat3 R_P)
{
    const double *params = arg->params;
    const tali_jet3 c = tali_constraint_station(
        arg, 1, tali_constraint_v3_from(params + TAL_SPHERE_ON_PLANE_CENTER));
    return tali_jet3_sub(c, tali_jet3_scale(params[TAL_SPHERE_ON_PLANE_RADIUS],
                                            TALI_EQUATION(push_direction)(arg, R_P, 2)));
}

static void TALI_EQUATION(calc_rows_of_sphere)(const tali_constraint_builtin *self,
                                               const tal_constraint_arg *arg, tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_SPHERE_ON_PLANE_FRAME);
    TALI_EQUATION(calc_rows_at)(self, arg, &X_P, TALI_EQUATION(lowest_point)(arg, X_P.R), row);
}

static void TALI_EQUATION(add_forces_of_sphere)(const tali_constraint_builtin *self,
                                                const tal_constraint_arg *arg,
                                                const double lambda[], tal_spatial_vec F[],
                                                double f[])
{
    (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_SPHERE_ON_PLANE_FRAME);
    TALI_EQUATION(add_forces_at)
    (self, arg, &X_P, TALI_EQUATION(lowest_point)(arg, X_P.R), lambda, F);
}

// --- a disk ---

static tali_jet3 TALI_EQUATION(lowest_point_of_disk)(const tal_constraint_arg *arg, tal_mat3 R_P)
{
    const double *params = arg->params;
    const tali_jet3 c =
        tali_constraint_station(arg, 1, tali_constraint_v3_from(params + TAL_DISK_ON_PLANE_CENTER));
    const tali_jet3 a =
        tali_constraint_axis(arg, 1, tali_constraint_unit_from(params + TAL_DISK_ON_PLANE_AXIS));
    const tali_jet3 x = TALI_EQUATION(push_direction)(arg, R_P, 0);
    const tali_jet3 z = TALI_EQUATION(push_direction)(arg, R_P, 2);
    const tali_jet3 up = tali_jet3_sub(z, tali_jet3_mul(tali_jet3_dot(a, z), a));
    tali_jet3 e;
    (void)tali_jet3_polar(up, tali_jet3_value(x), &e);
    return tali_jet3_sub(c, tali_jet3_scale(params[TAL_DISK_ON_PLANE_RADIUS], e));
}

static void TALI_EQUATION(calc_rows_of_disk)(const tali_constraint_builtin *self,
                                             const tal_constraint_arg *arg, tali_jet row[])
{
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_DISK_ON_PLANE_FRAME);
    TALI_EQUATION(calc_rows_at)
    (self, arg, &X_P, TALI_EQUATION(lowest_point_of_disk)(arg, X_P.R), row);
}

static void TALI_EQUATION(add_forces_of_disk)(const tali_constraint_builtin *self,
                                              const tal_constraint_arg *arg, const double lambda[],
                                              tal_spatial_vec F[], double f[])
{
    (void)f;
    const tal_xform X_P = tali_constraint_frame_from(arg->params + TAL_DISK_ON_PLANE_FRAME);
    TALI_EQUATION(add_forces_at)
    (self, arg, &X_P, TALI_EQUATION(lowest_point_of_disk)(arg, X_P.R), lambda, F);
}
