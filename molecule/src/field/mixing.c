// Mixing rules of van der Waals parameters, and the tables of all pairs of classes.
#include "field/field_internal.h"

#include <math.h>

typedef struct well {
    double s, e;
} well;

static double cube(double x)
{
    return x * x * x;
}

static double sixth(double x)
{
    return cube(x) * cube(x);
}

static well waldman_hagler(well i, well j)
{
    const double s6 = sixth(i.s) + sixth(j.s);
    return (well){pow(0.5 * s6, 1.0 / 6.0), 2.0 * sqrt(i.e * j.e) * cube(i.s) * cube(j.s) / s6};
}

static well halgren(well i, well j)
{
    const double root = sqrt(i.e) + sqrt(j.e);
    return (well){(cube(i.s) + cube(j.s)) / (i.s * i.s + j.s * j.s),
                  4.0 * i.e * j.e / (root * root)};
}

// By the two coefficients: e s^6 mixes geometrically, the 13th root of e s^12 by its mean.
static well kong(well i, well j)
{
    const double e6 = sqrt(i.e * sixth(i.s) * j.e * sixth(j.s));
    const double root_i = pow(i.e * sixth(i.s) * sixth(i.s), 1.0 / 13.0);
    const double root_j = pow(j.e * sixth(j.s) * sixth(j.s), 1.0 / 13.0);
    const double e12 = pow(0.5 * (root_i + root_j), 13.0);
    return (well){pow(e12 / e6, 1.0 / 6.0), e6 * e6 / e12};
}

static well mix(tal_ff_mixing rule, well i, well j)
{
    switch (rule) {
    case TAL_FF_WALDMAN_HAGLER:
        return waldman_hagler(i, j);
    case TAL_FF_HALGREN:
        return halgren(i, j);
    case TAL_FF_JORGENSEN:
        return (well){sqrt(i.s * j.s), sqrt(i.e * j.e)};
    case TAL_FF_LORENTZ_BERTHELOT:
        return (well){0.5 * (i.s + j.s), sqrt(i.e * j.e)};
    case TAL_FF_KONG:
    default:
        return kong(i, j);
    }
}

static bool is_well(double s, double e)
{
    return isfinite(s) && isfinite(e) && s >= 0.0 && e >= 0.0;
}

tal_status tal_ff_mix(tal_ff_mixing rule, double s1, double e1, double s2, double e2, double *s,
                      double *e)
{
    if (s == NULL || e == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "where the size or the depth is to go is NULL");
    }
    *s = *e = TALI_NAN;
    if ((int)rule < 0 || rule > TAL_FF_KONG) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "%d is no rule of mixing", (int)rule);
    }
    if (!is_well(s1, e1) || !is_well(s2, e2)) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "sizes %g and %g, depths %g and %g: none may be negative", s1, s2, e1,
                           e2);
    }
    well both = {0.0, 0.0};
    if (s1 > 0.0 && e1 > 0.0 && s2 > 0.0 && e2 > 0.0) {
        both = mix(rule, (well){s1, e1}, (well){s2, e2});
    }
    *s = both.s;
    *e = both.e;
    return TAL_OK;
}

static tal_ff_pair pair_of_well(double sigma, double depth)
{
    const double B = 4.0 * depth * sixth(sigma);
    return (tal_ff_pair){B * sixth(sigma), B};
}

static void override(const tal_ff *ff, tali_field_table table, tal_ff_pair pairs[])
{
    const tali_field_rows *rows = &ff->tables[table];
    for (int r = 0; r < rows->count; ++r) {
        const tali_field_row *row = &rows->items[r];
        const tal_ff_pair given = {row->law.k, row->law.x0};
        pairs[row->key[0] * ff->num_classes + row->key[1]] = given;
        pairs[row->key[1] * ff->num_classes + row->key[0]] = given;
    }
}

// Mixed below the diagonal and mirrored, so that both orders have the same bits.
void tali_field_mix_pairs(tal_ff *ff)
{
    const int n = ff->num_classes;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            const tali_field_class *a = &ff->classes[j], *b = &ff->classes[i];
            double sigma = 0.0, depth = 0.0;
            (void)tal_ff_mix(ff->def.mixing, a->sigma, a->well_depth, b->sigma, b->well_depth,
                             &sigma, &depth);
            ff->pairs[i * n + j] = ff->pairs[j * n + i] = pair_of_well(sigma, depth);
        }
    }
    override(ff, TALI_TABLE_PAIR, ff->pairs);
    memcpy(ff->pairs14, ff->pairs, (size_t)n * (size_t)n * sizeof ff->pairs[0]);
    override(ff, TALI_TABLE_PAIR14, ff->pairs14);
}
