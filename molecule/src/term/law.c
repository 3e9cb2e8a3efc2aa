// Bonded terms: stretch, bend, torsion, improper.
//
//     stretch   u = x1 - x2,  r = |u|,  dr/dx1 = u/r
//     bend      u = x1 - x2,  v = x3 - x2,  theta = atan2(|u x v|, u.v)
//               dtheta/dx1 = (u^ cos theta - v^)/(|u| sin theta),  dtheta/dx3 likewise
//     torsion   b1 = x2 - x1,  b2 = x3 - x2,  b3 = x4 - x3,  n1 = b1 x b2,  n2 = b2 x b3
//               phi = atan2((n1 x n2).b2/|b2|, n1.n2)
//               g1 = -|b2| n1/n1^2,  g4 = |b2| n2/n2^2,  s = b1.b2/b2^2,  t = b3.b2/b2^2
//               g2 = -(1 + s) g1 + t g4,  g3 = -(1 + t) g4 + s g1
#include "term/law_internal.h"

#include <math.h>

// ---- series

double tali_term_series(const tali_field_series *series, double c, double s, double *slope)
{
    double cn = 1.0, sn = 0.0, value = series->a0, rate = 0.0;
    for (int n = 1; n <= TALI_WAVES; ++n) {
        const double next = cn * c - sn * s;
        sn = sn * c + cn * s;
        cn = next;
        value += series->a[n - 1] * cn + series->b[n - 1] * sn;
        rate += n * (series->b[n - 1] * cn - series->a[n - 1] * sn);
    }
    *slope = rate;
    return value;
}

void tali_term_add_shifted(const tali_field_series *series, double delta, tali_field_series *sum)
{
    sum->a0 += series->a0;
    for (int n = 1; n <= TALI_WAVES; ++n) {
        const double c = cos(n * delta), s = sin(n * delta);
        sum->a[n - 1] += series->a[n - 1] * c + series->b[n - 1] * s;
        sum->b[n - 1] += series->b[n - 1] * c - series->a[n - 1] * s;
    }
}

// ---- stretch

static tali_term_result stretch(const tali_field_law *law, const tal_vec3 x[4])
{
    const tal_vec3 u = tal_v3_sub(x[0], x[1]);
    const double r = tal_v3_norm(u), d = r - law->x0;
    tali_term_result out = {.energy = law->k * d * d};
    if (r == 0.0) return out; // no direction
    out.f[0] = tal_v3_scale(-2.0 * law->k * d / r, u);
    out.f[1] = tal_v3_neg(out.f[0]);
    return out;
}

// ---- bends

typedef struct bend {
    tal_vec3 u, v; // unit vectors
    double ru, rv;
    double c, s; // cosine and sine of theta
} bend;

static bend bend_at(const tal_vec3 x[4])
{
    const tal_vec3 u = tal_v3_sub(x[0], x[1]), v = tal_v3_sub(x[2], x[1]);
    bend it = {.ru = tal_v3_norm(u), .rv = tal_v3_norm(v)};
    if (it.ru == 0.0 || it.rv == 0.0) return it;
    it.u = tal_v3_scale(1.0 / it.ru, u);
    it.v = tal_v3_scale(1.0 / it.rv, v);
    it.c = tal_v3_dot(it.u, it.v);
    it.s = tal_v3_norm(tal_v3_cross(it.u, it.v));
    return it;
}

static void pull_bend(tali_term_result *out, tal_vec3 f1, tal_vec3 f3)
{
    out->f[0] = f1;
    out->f[2] = f3;
    out->f[1] = tal_v3_neg(tal_v3_add(f1, f3));
}

/// Below this sine the plane of a bend has no meaning.
#define IN_LINE 1e-8

// Atoms in line: the force is zero if the rest angle is there too; otherwise the plane is chosen,
// by the axis least along u.
static void pull_line(tali_term_result *out, const bend *it, const tali_field_law *law,
                      double slope)
{
    const double pi = 180.0 * TAL_MOL_DEGREE;
    if (law->x0 == (it->c > 0.0 ? 0.0 : pi)) return;
    const tal_vec3 e = tal_v3_perp(it->u);
    const double sign = it->c > 0.0 ? -1.0 : 1.0;
    pull_bend(out, tal_v3_scale(slope / it->ru, e), tal_v3_scale(sign * slope / it->rv, e));
}

static tali_term_result angle_bend(const tali_field_law *law, const tal_vec3 x[4])
{
    const bend it = bend_at(x);
    const double theta = atan2(it.s, it.c), d = theta - law->x0, slope = 2.0 * law->k * d;
    tali_term_result out = {.energy = law->k * d * d};
    if (it.ru == 0.0 || it.rv == 0.0) return out;
    if (it.s < IN_LINE) {
        pull_line(&out, &it, law, slope);
        return out;
    }
    const tal_vec3 g1 = tal_v3_sub(tal_v3_scale(it.c, it.u), it.v);
    const tal_vec3 g3 = tal_v3_sub(tal_v3_scale(it.c, it.v), it.u);
    pull_bend(&out, tal_v3_scale(-slope / (it.ru * it.s), g1),
              tal_v3_scale(-slope / (it.rv * it.s), g3));
    return out;
}

static tali_term_result cosine_bend(const tali_field_law *law, const tal_vec3 x[4])
{
    const bend it = bend_at(x);
    const double d = it.c - cos(law->x0), slope = law->k * d;
    tali_term_result out = {.energy = 0.5 * law->k * d * d};
    if (it.ru == 0.0 || it.rv == 0.0) return out;
    const tal_vec3 g1 = tal_v3_sub(it.v, tal_v3_scale(it.c, it.u));
    const tal_vec3 g3 = tal_v3_sub(it.u, tal_v3_scale(it.c, it.v));
    pull_bend(&out, tal_v3_scale(-slope / it.ru, g1), tal_v3_scale(-slope / it.rv, g3));
    return out;
}

// ---- dihedrals

typedef struct dihedral {
    tal_vec3 b1, b2, b3, n1, n2;
    double n11, n22, length; // n1^2, n2^2, |b2|
    double c, s;             // cosine and sine of phi
    bool is_plane;           // whether it has a meaning
} dihedral;

/// Three atoms are in line when the square of their cross product is below this [nm^4].
#define NO_PLANE 1e-24

static dihedral dihedral_at(const tal_vec3 x[4])
{
    dihedral it = {.b1 = tal_v3_sub(x[1], x[0]),
                   .b2 = tal_v3_sub(x[2], x[1]),
                   .b3 = tal_v3_sub(x[3], x[2]),
                   .c = 1.0};
    it.n1 = tal_v3_cross(it.b1, it.b2);
    it.n2 = tal_v3_cross(it.b2, it.b3);
    it.n11 = tal_v3_dot(it.n1, it.n1);
    it.n22 = tal_v3_dot(it.n2, it.n2);
    it.length = tal_v3_norm(it.b2);
    it.is_plane = it.n11 >= NO_PLANE && it.n22 >= NO_PLANE;
    if (!it.is_plane) return it;
    const double c = tal_v3_dot(it.n1, it.n2);
    const double s = tal_v3_dot(tal_v3_cross(it.n1, it.n2), it.b2) / it.length;
    const double size = hypot(c, s);
    it.c = c / size;
    it.s = s / size;
    return it;
}

double tali_term_dihedral(const tal_vec3 x[4])
{
    const dihedral it = dihedral_at(x);
    return atan2(it.s, it.c);
}

static void pull_dihedral(tali_term_result *out, const dihedral *it, double slope)
{
    const double b22 = it->length * it->length;
    const tal_vec3 g1 = tal_v3_scale(-it->length / it->n11, it->n1);
    const tal_vec3 g4 = tal_v3_scale(it->length / it->n22, it->n2);
    const double s = tal_v3_dot(it->b1, it->b2) / b22, t = tal_v3_dot(it->b3, it->b2) / b22;
    const tal_vec3 g2 = tal_v3_axpy(t, g4, tal_v3_scale(-(1.0 + s), g1));
    const tal_vec3 g3 = tal_v3_axpy(s, g1, tal_v3_scale(-(1.0 + t), g4));
    out->f[0] = tal_v3_scale(-slope, g1);
    out->f[1] = tal_v3_scale(-slope, g2);
    out->f[2] = tal_v3_scale(-slope, g3);
    out->f[3] = tal_v3_scale(-slope, g4);
}

static tali_term_result torsion(const tali_field_law *law, const tal_vec3 x[4])
{
    const dihedral it = dihedral_at(x);
    double slope;
    tali_term_result out = {.energy = tali_term_series(&law->series, it.c, it.s, &slope)};
    if (it.is_plane) pull_dihedral(&out, &it, slope);
    return out;
}

// The difference of two angles, in (-pi, pi].
static double wrapped(double angle)
{
    const double turn = 360.0 * TAL_MOL_DEGREE, half = 180.0 * TAL_MOL_DEGREE;
    const double rest = angle - turn * rint(angle / turn);
    return rest <= -half ? rest + turn : rest;
}

static tali_term_result harmonic_improper(const tali_field_law *law, const tal_vec3 x[4])
{
    const dihedral it = dihedral_at(x);
    const double d = wrapped(atan2(it.s, it.c) - law->x0);
    tali_term_result out = {.energy = law->k * d * d};
    if (it.is_plane) pull_dihedral(&out, &it, 2.0 * law->k * d);
    return out;
}

tali_term_result tali_term_evaluate(const tali_field_law *law, const tal_vec3 x[4])
{
    switch (law->kind) {
    case TALI_STRETCH:
        return stretch(law, x);
    case TALI_BEND:
        return angle_bend(law, x);
    case TALI_COSINE_BEND:
        return cosine_bend(law, x);
    case TALI_TORSION:
        return torsion(law, x);
    case TALI_HARMONIC_IMPROPER:
    default:
        return harmonic_improper(law, x);
    }
}
