// Whether the bodies of a plan have a mass matrix that can be inverted, at the positions given: two
// mobilities that move the same atoms the same way leave it singular.
#include "plan/plan_internal.h"

#include <talus/matter/mobilizer.h>

#include <math.h>

// What is left of the inertia along a mobility when those before it are taken away, as a part of
// the lightest atom at 1 nm: what is not more is round-off. An atom that turns is at least
// TALI_PLAN_ON_AXIS, which is 1e-3 nm, beside its axis: 1e-6.
static const double NOTHING = 1e-9;

// A symmetric 6 x 6 matrix: turns first, then translations.
typedef struct inertia {
    double at[6][6];
} inertia;

// The mobilizer that a bond gets.
static const tal_mobilizer_ops *ops_of(tal_bond_mobility mobility)
{
    switch (mobility) {
    case TAL_BOND_TORSION:
    case TAL_BOND_ANGLE_PIN:
        return tal_mobilizer_pin();
    case TAL_BOND_CYLINDER:
        return tal_mobilizer_cylinder();
    case TAL_BOND_SLIDER:
        return tal_mobilizer_slider();
    case TAL_BOND_BEND_STRETCH:
        return tal_mobilizer_bend_stretch();
    case TAL_BOND_UNIVERSAL:
        return tal_mobilizer_universal();
    case TAL_BOND_BALL:
        return tal_mobilizer_ball();
    case TAL_BOND_SPHERICAL:
        return tal_mobilizer_spherical_coords();
    case TAL_BOND_TRANSLATION:
        return tal_mobilizer_translation();
    case TAL_BOND_FREE_LINE:
        return tal_mobilizer_free_line();
    case TAL_BOND_FREE:
    case TAL_BOND_RIGID:
        break;
    }
    return tal_mobilizer_free();
}

// P += that of the atoms of a body, about its origin.
static void add_atoms(const tali_plan *plan, const tali_plan_body *body, inertia *P)
{
    for (int i = body->first; i < body->first + body->num_atoms; ++i) {
        const tal_mass_props m =
            tali_mol_atom_mass_props(plan->mol, plan->order[i],
                                     tal_v3_sub(plan->mol->atoms[plan->order[i]].x, body->origin));
        const double J[3][3] = {{m.inertia.xx, m.inertia.xy, m.inertia.xz},
                                {m.inertia.xy, m.inertia.yy, m.inertia.yz},
                                {m.inertia.xz, m.inertia.yz, m.inertia.zz}};
        const tal_vec3 c = tal_v3_scale(m.mass, m.com);
        const double C[3][3] = {{0.0, -c.z, c.y}, {c.z, 0.0, -c.x}, {-c.y, c.x, 0.0}};
        for (int a = 0; a < 3; ++a) {
            P->at[3 + a][3 + a] += m.mass;
            for (int b = 0; b < 3; ++b) {
                P->at[a][b] += J[a][b];
                P->at[a][3 + b] += C[a][b];
                P->at[3 + b][a] += C[a][b];
            }
        }
    }
}

// The columns of H at the positions given, in R about the origin of the body; how many.
static int columns_of(const tali_plan *plan, const tali_plan_body *body, double H[6][6])
{
    const double plain[6] = {0.0, 0.0, 1.0, 1.0, 1.0, 0.0}; // of spherical coordinates
    const tal_mobilizer_ops *ops = ops_of(body->mobility);
    const tal_mobilizer_arg arg = {.params = plain, .q = body->q};
    const tal_vec3 zero = {0.0, 0.0, 0.0};
    const tal_vec3 Po = body->parent < 0 ? zero : plan->bodies[body->parent].origin;
    const tal_xform X_RF = tal_xf(body->X_PF.R, tal_v3_add(Po, body->X_PF.p));
    tal_xform X_FM;
    tal_spatial_vec H_FM[6];
    if (ops->calc_X_FM(NULL, &arg, &X_FM) != TAL_OK || ops->calc_H_FM(NULL, &arg, H_FM) != TAL_OK) {
        return 0;
    }
    const tal_vec3 arm = tal_v3_sub(body->origin, tal_xf_apply(X_RF, X_FM.p)); // from Mo
    for (int k = 0; k < ops->nu; ++k) {
        const tal_vec3 w = tal_m3_mul_v3(X_RF.R, H_FM[k].w);
        const tal_vec3 v = tal_v3_add(tal_m3_mul_v3(X_RF.R, H_FM[k].v), tal_v3_cross(w, arm));
        const double column[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
        memcpy(H[k], column, sizeof column);
    }
    return ops->nu;
}

// P less what its mobilities take away, one after the other: P -= P h h^T P/(h^T P h). False where
// there is nothing left along one of them.
static bool reduce(inertia *P, double H[6][6], int nu, double nothing)
{
    for (int k = 0; k < nu; ++k) {
        double Ph[6], d = 0.0;
        for (int a = 0; a < 6; ++a) {
            Ph[a] = 0.0;
            for (int b = 0; b < 6; ++b) {
                Ph[a] += P->at[a][b] * H[k][b];
            }
            d += H[k][a] * Ph[a];
        }
        if (!(d > nothing)) return false;
        for (int a = 0; a < 6; ++a) {
            for (int b = 0; b < 6; ++b) {
                P->at[a][b] -= Ph[a] * Ph[b] / d;
            }
        }
    }
    return true;
}

// P of the parent += S^T P S, with S the shift of velocities from its origin to that of the body.
static void add_to_parent(inertia *parent, const inertia *P, tal_vec3 r)
{
    const double S[3][3] = {{0.0, r.z, -r.y}, {-r.z, 0.0, r.x}, {r.y, -r.x, 0.0}}; // - r x
    double PS[6][6];
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 3; ++b) {
            PS[a][3 + b] = P->at[a][3 + b];
            PS[a][b] = P->at[a][b];
            for (int c = 0; c < 3; ++c) {
                PS[a][b] += P->at[a][3 + c] * S[c][b];
            }
        }
    }
    for (int a = 0; a < 6; ++a) {
        for (int b = 0; b < 6; ++b) {
            double sum = PS[a][b];
            for (int c = 0; c < 3 && a < 3; ++c) {
                sum += S[c][a] * PS[3 + c][b];
            }
            parent->at[a][b] += sum;
        }
    }
}

static double lightest(const tal_mol *mol)
{
    double least = INFINITY;
    for (int a = 0; a < mol->num_atoms; ++a) {
        if (mol->atoms[a].mass > 0.0) least = fmin(least, mol->atoms[a].mass);
    }
    return least;
}

static tal_status refuse(const tali_plan *plan, const tali_plan_body *body, tal_error *err)
{
    const tali_mol_atom *atoms = plan->mol->atoms;
    const int atom = plan->order[body->first];
    if (body->parent < 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the root, the body of atom %d '%s', cannot turn in a way that bonds at "
                         "it do not turn as well: choose another root, or make one of these bonds "
                         "rigid",
                         atom, atoms[atom].name);
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the bond of atoms %d '%s' and %d '%s' moves nothing that the bonds behind it "
                     "do not move as well: give it another mobility",
                     body->atoms[0], atoms[body->atoms[0]].name, body->atoms[1],
                     atoms[body->atoms[1]].name);
}

tal_status tali_plan_check_regular(const tali_plan *plan, tal_error *err)
{
    const size_t size = (size_t)plan->num_bodies * sizeof(inertia);
    bool has_tree = false;
    for (int b = 0; b < plan->num_bodies; ++b) {
        has_tree = has_tree || plan->bodies[b].parent >= 0;
    }
    if (!has_tree) return TAL_OK; // a single body has the mobilities that its atoms allow
    inertia *all = tali_alloc(&plan->allocator, size);
    if (all == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu bytes", size);
    const double nothing = NOTHING * lightest(plan->mol);
    tal_status st = TAL_OK;
    for (int b = plan->num_bodies - 1; b >= 0 && st == TAL_OK; --b) {
        const tali_plan_body *body = &plan->bodies[b];
        double H[6][6];
        add_atoms(plan, body, &all[b]);
        const int nu = columns_of(plan, body, H);
        if (!reduce(&all[b], H, nu, nothing)) {
            st = refuse(plan, body, err);
        } else if (body->parent >= 0) {
            const tal_vec3 r = tal_v3_sub(body->origin, plan->bodies[body->parent].origin);
            add_to_parent(&all[body->parent], &all[b], r);
        }
    }
    tali_free(&plan->allocator, all, size);
    return st;
}
