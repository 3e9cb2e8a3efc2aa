// Frames of a plan: where each body and its mobilizer are, its coordinates at the positions given,
// its mass.
//
// All of it is in R, the frame of the positions; the axes of every body are those of R. F and M of
// a bond i -> j, with n a unit vector along it:
//
//     torsion, cylinder   both at j, z along n, x_F towards k, x_M towards l, across n
//     slider              both at j, x along n
//     angle pin           both at i, z = (k - i) x (j - i): a positive turn opens the bend
//     bend-stretch        F at i, M at j, z the same, x along n
//     universal, ball     both at i, z along n
//     spherical           F at i, z along k -> i, x towards h, across it; M at j, z along n
#include "plan/plan_internal.h"

#include <talus/common/rotation.h>

#include <math.h>

static tal_vec3 at(const tali_plan *plan, int atom)
{
    return plan->mol->atoms[atom].x;
}

// A rotation with this z and an x as near as possible to `towards`, or any if that is along z.
static tal_mat3 axes_about(tal_vec3 z, tal_vec3 towards)
{
    const tal_vec3 across = tal_v3_axpy(-tal_v3_dot(towards, z), z, towards);
    const double size = tal_v3_norm(across);
    const tal_vec3 x = size > 0.0 ? tal_v3_scale(1.0 / size, across) : tal_v3_perp(z);
    return tal_m3(x, tal_v3_cross(z, x), z);
}

// How far an atom is from the line through another along z.
static double beside(tal_vec3 x, tal_vec3 on, tal_vec3 z)
{
    return tal_v3_norm(tal_v3_cross(z, tal_v3_sub(x, on)));
}

// The lowest neighbor of an atom, other than `but`, that is beside the line along z and meets
// `is_in` (a body, or -1 for any); -1: none.
static int neighbor_beside(const tali_plan *plan, int atom, int but, tal_vec3 z, int is_in)
{
    const tal_mol *mol = plan->mol;
    for (int k = mol->start[atom]; k < mol->start[atom + 1]; ++k) {
        const int other = mol->neighbor[k];
        if (other == but || (is_in >= 0 && plan->body[other] != is_in)) continue;
        if (beside(at(plan, other), at(plan, atom), z) > TALI_PLAN_ON_AXIS) return other;
    }
    return -1;
}

static tal_vec3 direction(tal_vec3 from, tal_vec3 to)
{
    return tal_v3_normalize(tal_v3_sub(to, from));
}

// Turn an axis of R into the three columns (z, x, y): bonds that slide do so along x.
static tal_mat3 with_x_along(tal_vec3 n)
{
    const tal_mat3 R = axes_about(n, tal_v3_perp(n));
    return tal_m3(R.z, R.x, R.y);
}

// F and M in R, and q there.
typedef struct joint {
    tal_xform F, M;
    double q[TAL_MAX_NQ];
    int nq, nu;
} joint;

static joint torsion_joint(tali_plan *plan, tali_plan_body *body, int nq)
{
    const int i = body->atoms[0], j = body->atoms[1];
    const tal_vec3 z = direction(at(plan, i), at(plan, j));
    const int k = neighbor_beside(plan, i, j, z, -1), l = neighbor_beside(plan, j, i, z, -1);
    const tal_mat3 F =
        axes_about(z, k >= 0 ? tal_v3_sub(at(plan, k), at(plan, i)) : tal_v3_perp(z));
    const tal_mat3 M =
        axes_about(z, l >= 0 ? tal_v3_sub(at(plan, l), at(plan, j)) : tal_v3_perp(z));
    body->dihedral[0] = k;
    body->dihedral[1] = l;
    const double q = atan2(tal_v3_dot(M.x, F.y), tal_v3_dot(M.x, F.x));
    return (joint){tal_xf(F, at(plan, j)), tal_xf(M, at(plan, j)), {q, 0.0}, nq, nq};
}

static joint slider_joint(const tali_plan *plan, const tali_plan_body *body)
{
    const tal_vec3 j = at(plan, body->atoms[1]);
    const tal_xform F = tal_xf(with_x_along(direction(at(plan, body->atoms[0]), j)), j);
    return (joint){F, F, {0.0}, 1, 1};
}

// The plane of the bend k-i-j; any plane through the bond if there is no k.
static tal_mat3 bend_axes(const tali_plan *plan, const tali_plan_body *body)
{
    const int i = body->atoms[0], j = body->atoms[1];
    const tal_vec3 n = direction(at(plan, i), at(plan, j));
    const int k = neighbor_beside(plan, i, j, n, -1);
    const tal_vec3 to_k = k >= 0 ? tal_v3_sub(at(plan, k), at(plan, i)) : tal_v3_perp(n);
    const tal_vec3 z = tal_v3_normalize(tal_v3_cross(to_k, n));
    return tal_m3(n, tal_v3_cross(z, n), z);
}

static joint bend_joint(const tali_plan *plan, const tali_plan_body *body)
{
    const tal_mat3 R = bend_axes(plan, body);
    const tal_vec3 i = at(plan, body->atoms[0]), j = at(plan, body->atoms[1]);
    if (body->mobility == TAL_BOND_ANGLE_PIN) {
        return (joint){tal_xf(R, i), tal_xf(R, i), {0.0}, 1, 1};
    }
    return (joint){tal_xf(R, i), tal_xf(R, j), {0.0, tal_v3_norm(tal_v3_sub(j, i))}, 2, 2};
}

static joint swing_joint(const tali_plan *plan, const tali_plan_body *body)
{
    const tal_vec3 i = at(plan, body->atoms[0]);
    const tal_vec3 z = direction(i, at(plan, body->atoms[1]));
    const tal_xform F = tal_xf(axes_about(z, tal_v3_perp(z)), i);
    if (body->mobility == TAL_BOND_UNIVERSAL) return (joint){F, F, {0.0, 0.0}, 2, 2};
    return (joint){F, F, {1.0, 0.0, 0.0, 0.0}, 4, 3};
}

// Which atoms angles are measured from: k before i, h before k; -1 where there is none.
static void atoms_before(const tali_plan *plan, const tali_plan_body *body, int *k, int *h)
{
    const int i = body->atoms[0], j = body->atoms[1];
    const tali_plan_body *parent = &plan->bodies[body->parent];
    const tal_vec3 n = direction(at(plan, i), at(plan, j));
    *h = -1;
    *k = neighbor_beside(plan, i, j, n, body->parent); // in the same body
    if (*k < 0 && parent->bond >= 0 && parent->atoms[1] == i &&
        beside(at(plan, parent->atoms[0]), at(plan, i), n) > TALI_PLAN_ON_AXIS) {
        *k = parent->atoms[0]; // what the parent hangs on, fixed in it if its z is along the bond
    }
    if (*k < 0) return;
    const tal_vec3 z = direction(at(plan, *k), at(plan, i));
    *h = neighbor_beside(plan, *k, i, z, plan->body[*k]);
    const tali_plan_body *before = &plan->bodies[plan->body[*k]];
    if (*h < 0 && before->bond >= 0 && before->atoms[1] == *k &&
        beside(at(plan, before->atoms[0]), at(plan, *k), z) > TALI_PLAN_ON_AXIS) {
        *h = before->atoms[0];
    }
}

// Rz(azimuth) Ry(zenith), then r along z of M. Without k, which is not in line with the bond, the
// bond is across z of F: far from where the azimuth has no meaning.
static joint spherical_joint(tali_plan *plan, tali_plan_body *body)
{
    const tal_vec3 i = at(plan, body->atoms[0]), j = at(plan, body->atoms[1]);
    const tal_vec3 n = direction(i, j);
    int k, h;
    atoms_before(plan, body, &k, &h);
    body->dihedral[0] = h;
    body->dihedral[1] = k;
    const tal_vec3 z = k >= 0 ? direction(at(plan, k), i) : tal_v3_perp(n);
    const tal_vec3 x = h >= 0 ? tal_v3_sub(at(plan, h), at(plan, k)) : n;
    const tal_mat3 F = axes_about(z, x);
    const tal_vec3 n_F = tal_m3_tmul_v3(F, n);
    const double azimuth = atan2(n_F.y, n_F.x);
    const double zenith = atan2(hypot(n_F.x, n_F.y), n_F.z);
    const tal_mat3 turn = tal_rotation_about(TAL_AXIS_Z, azimuth);
    const tal_mat3 tilt = tal_rotation_about(TAL_AXIS_Y, zenith);
    const tal_mat3 M = tal_m3_mul(F, tal_m3_mul(turn, tilt));
    return (joint){
        tal_xf(F, i), tal_xf(M, j), {azimuth, zenith, tal_v3_norm(tal_v3_sub(j, i))}, 3, 3};
}

// A root: Ground is R here, and the pose of R in Ground is put before it later.
static joint root_joint(const tali_plan *plan, const tali_plan_body *body)
{
    tal_xform M = tal_xf_from_p(body->origin);
    if (body->mobility == TAL_BOND_TRANSLATION) {
        return (joint){TAL_XFORM_IDENTITY, M, {M.p.x, M.p.y, M.p.z}, 3, 3};
    }
    tal_quat q = tal_qt(1.0, 0.0, 0.0, 0.0);
    if (body->mobility == TAL_BOND_FREE_LINE) {
        const int *atoms = &plan->order[body->first];
        tal_vec3 along = tal_v3_sub(at(plan, atoms[1]), at(plan, atoms[0]));
        for (int i = 2; i < body->num_atoms; ++i) { // the farthest from the first
            const tal_vec3 other = tal_v3_sub(at(plan, atoms[i]), at(plan, atoms[0]));
            if (tal_v3_norm(other) > tal_v3_norm(along)) along = other;
        }
        const tal_vec3 z = tal_v3_normalize(along);
        M.R = axes_about(z, tal_v3_perp(z));
        q = tal_rotation_to_qt(&M.R);
        return (joint){TAL_XFORM_IDENTITY, M, {q.w, q.x, q.y, q.z, M.p.x, M.p.y, M.p.z}, 7, 5};
    }
    return (joint){TAL_XFORM_IDENTITY, M, {q.w, q.x, q.y, q.z, M.p.x, M.p.y, M.p.z}, 7, 6};
}

static joint joint_of(tali_plan *plan, tali_plan_body *body)
{
    if (body->parent < 0) return root_joint(plan, body);
    switch (body->mobility) {
    case TAL_BOND_TORSION:
        return torsion_joint(plan, body, 1);
    case TAL_BOND_CYLINDER:
        return torsion_joint(plan, body, 2);
    case TAL_BOND_SLIDER:
        return slider_joint(plan, body);
    case TAL_BOND_ANGLE_PIN:
    case TAL_BOND_BEND_STRETCH:
        return bend_joint(plan, body);
    case TAL_BOND_SPHERICAL:
        return spherical_joint(plan, body);
    default:
        return swing_joint(plan, body);
    }
}

// ---- mass

// Mass properties about a point of R; those of a line are of its atoms put on it.
static tal_mass_props mass_about(const tali_plan *plan, const tali_plan_body *body, tal_vec3 origin,
                                 const tal_vec3 *line)
{
    tal_mass_props sum = TAL_MASSLESS;
    for (int i = 0; i < body->num_atoms; ++i) {
        const int atom = plan->order[body->first + i];
        tal_vec3 p = tal_v3_sub(at(plan, atom), origin);
        if (line != NULL) p = tal_v3_scale(tal_v3_dot(p, *line), *line);
        tali_mol_add_mass(&sum, tali_mol_atom_mass_props(plan->mol, atom, p));
    }
    tali_mol_end_mass(&sum);
    return sum;
}

static tal_status check_mass(const tali_plan *plan, const tali_plan_body *body, tal_error *err)
{
    if (body->mass.mass > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the body of atom %d '%s' has no mass: make a bond that holds it rigid, or "
                     "place it in a cluster",
                     plan->order[body->first], plan->mol->atoms[plan->order[body->first]].name);
}

// ---- all of it

tal_status tali_plan_place(tali_plan *plan, tal_error *err)
{
    tal_status st = TAL_OK;
    for (int b = 0; b < plan->num_bodies && st == TAL_OK; ++b) {
        tali_plan_body *body = &plan->bodies[b];
        const tal_vec3 zero = {0.0, 0.0, 0.0};
        body->mass = mass_about(plan, body, zero, NULL);
        body->origin = body->parent < 0 ? body->mass.com : at(plan, body->atoms[1]);
        st = check_mass(plan, body, err);
        if (st != TAL_OK) break;
        const joint it = joint_of(plan, body);
        const tal_vec3 origin_P = body->parent < 0 ? zero : plan->bodies[body->parent].origin;
        const bool is_line = body->mobility == TAL_BOND_FREE_LINE;
        body->mass = mass_about(plan, body, body->origin, is_line ? &it.M.R.z : NULL);
        body->X_PF = tal_xf(it.F.R, tal_v3_sub(it.F.p, origin_P));
        body->X_BM = tal_xf(it.M.R, tal_v3_sub(it.M.p, body->origin));
        memcpy(body->q, it.q, sizeof it.q);
        body->nq = it.nq;
        body->nu = it.nu;
    }
    return st;
}
