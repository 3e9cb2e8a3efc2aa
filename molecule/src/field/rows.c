// Rows of the tables of a force field: bonded terms and pairs, as users add them.
#include "finite_internal.h"

#include "field/field_internal.h"

#include <math.h>

// Which classes of a table may be any class.
static bool may_be_any(tali_field_table table, int place)
{
    if (table == TALI_TABLE_TORSION) return place == 0 || place == 3;
    return table == TALI_TABLE_IMPROPER && place != 2;
}

// Add a row: check its classes, put them into order (impropers keep theirs), copy.
static tal_status add_row(tal_ff *ff, tali_field_table table, const int classes[4],
                          const tali_field_law *law, const char *where)
{
    const int arity = tali_field_arity(table);
    tali_field_row row = {.law = *law};
    for (int i = 0; i < arity; ++i) {
        const bool is_any = classes[i] == TAL_FF_ANY && may_be_any(table, i);
        if (!is_any && !tali_field_has_class(ff, classes[i], where)) return TAL_ERR_BAD_INDEX;
        row.key[i] = classes[i];
    }
    if (table != TALI_TABLE_IMPROPER) tali_field_canonical(row.key, arity);
    tali_field_rows *rows = &ff->tables[table];
    if (!tali_grow(&ff->allocator, (void **)&rows->items, rows->count, &rows->capacity,
                   sizeof row)) {
        return tali_field_refuse(ff, TAL_ERR_NO_MEMORY, where, "no memory for a row of a table");
    }
    row.defined = rows->count;
    rows->items[rows->count++] = row;
    return TAL_OK;
}

// A row of two numbers: k, not negative, and a rest value within bounds.
static tal_status add_spring(tal_ff *ff, tali_field_table table, const int classes[4],
                             const tali_field_law *law, double most, const char *where)
{
    if (!tali_field_is_open(ff, where)) return tali_field_closed(ff);
    if (!(isfinite(law->k) && law->k >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where, "k is %g; it may not be negative",
                                 law->k);
    }
    if (!(isfinite(law->x0) && law->x0 >= 0.0 && law->x0 <= most)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "the value at rest is %g; it must be between 0 and %g", law->x0,
                                 most);
    }
    return add_row(ff, table, classes, law, where);
}

static const double LONGEST = 1e6; // nm
static const double STRAIGHT = 180.0 * TAL_MOL_DEGREE;

tal_status tal_ff_add_stretch(tal_ff *ff, int c1, int c2, double k, double r0)
{
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(ff, TALI_TABLE_STRETCH, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_stretch_ka(tal_ff *ff, int c1, int c2, double k, double r0)
{
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {
        .kind = TALI_STRETCH, .k = TAL_MOL_KCAL_PER_ANGSTROM2 * k, .x0 = TAL_MOL_ANGSTROM * r0};
    return add_spring(ff, TALI_TABLE_STRETCH, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_bend(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_BEND, .k = k, .x0 = theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_bend_ka(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {
        .kind = TALI_BEND, .k = TAL_MOL_KCAL * k, .x0 = TAL_MOL_DEGREE * theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_cosine_bend(tal_ff *ff, int c1, int c2, int c3, double k, double theta0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_COSINE_BEND, .k = k, .x0 = theta0};
    return add_spring(ff, TALI_TABLE_BEND, classes, &law, STRAIGHT, __func__);
}

tal_status tal_ff_add_urey_bradley(tal_ff *ff, int c1, int c2, int c3, double k, double r0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {.kind = TALI_STRETCH, .k = k, .x0 = r0};
    return add_spring(ff, TALI_TABLE_UREY_BRADLEY, classes, &law, LONGEST, __func__);
}

tal_status tal_ff_add_urey_bradley_ka(tal_ff *ff, int c1, int c2, int c3, double k, double r0)
{
    const int classes[4] = {c1, c2, c3, 0};
    const tali_field_law law = {
        .kind = TALI_STRETCH, .k = TAL_MOL_KCAL_PER_ANGSTROM2 * k, .x0 = TAL_MOL_ANGSTROM * r0};
    return add_spring(ff, TALI_TABLE_UREY_BRADLEY, classes, &law, LONGEST, __func__);
}

// A row of waves whose heights and phases are in these units.
static tal_status add_waves(tal_ff *ff, tali_field_table table, const int classes[4],
                            const tal_ff_wave waves[], int num_waves, bool is_ka, const char *where)
{
    if (!tali_field_is_open(ff, where)) return tali_field_closed(ff);
    if (num_waves < 0 || (num_waves > 0 && waves == NULL)) {
        return tali_field_refuse(ff, TAL_ERR_NULL, where, "there are %d waves at NULL", num_waves);
    }
    tali_field_law law = {.kind = TALI_TORSION};
    for (int i = 0; i < num_waves; ++i) {
        tal_ff_wave wave = waves[i];
        if (is_ka) wave.V *= TAL_MOL_KCAL;
        if (is_ka) wave.gamma *= TAL_MOL_DEGREE;
        tali_field_series one;
        if (!tali_field_series_of_waves(&wave, 1, &one)) {
            return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                     "wave %d has n = %d, V = %g, gamma = %g; n must be 1 to %d", i,
                                     waves[i].n, waves[i].V, waves[i].gamma, TALI_WAVES);
        }
        law.series.a0 += one.a0;
        for (int n = 0; n < TALI_WAVES; ++n) {
            law.series.a[n] += one.a[n];
            law.series.b[n] += one.b[n];
        }
    }
    return add_row(ff, table, classes, &law, where);
}

tal_status tal_ff_add_torsion(tal_ff *ff, int c1, int c2, int c3, int c4, const tal_ff_wave waves[],
                              int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_TORSION, classes, waves, num_waves, false, __func__);
}

tal_status tal_ff_add_torsion_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                 const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_TORSION, classes, waves, num_waves, true, __func__);
}

tal_status tal_ff_add_rb_torsion(tal_ff *ff, int c1, int c2, int c3, int c4, const double C[6])
{
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
    if (C == NULL) return tali_field_refuse(ff, TAL_ERR_NULL, __func__, "C is NULL");
    if (!tali_finite_all(C, 6)) {
        return tali_field_refuse(ff, TAL_ERR_NOT_FINITE, __func__, "a coefficient is not finite");
    }
    const int classes[4] = {c1, c2, c3, c4};
    const tali_field_law law = {.kind = TALI_TORSION, .series = tali_field_series_of_powers(C)};
    return add_row(ff, TALI_TABLE_TORSION, classes, &law, __func__);
}

tal_status tal_ff_add_improper(tal_ff *ff, int c1, int c2, int c3, int c4,
                               const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_IMPROPER, classes, waves, num_waves, false, __func__);
}

tal_status tal_ff_add_improper_ka(tal_ff *ff, int c1, int c2, int c3, int c4,
                                  const tal_ff_wave waves[], int num_waves)
{
    const int classes[4] = {c1, c2, c3, c4};
    return add_waves(ff, TALI_TABLE_IMPROPER, classes, waves, num_waves, true, __func__);
}

tal_status tal_ff_add_harmonic_improper(tal_ff *ff, int c1, int c2, int c3, int c4, double k,
                                        double phi0)
{
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
    const int classes[4] = {c1, c2, c3, c4};
    const tali_field_law law = {.kind = TALI_HARMONIC_IMPROPER, .k = k, .x0 = phi0};
    if (!(isfinite(k) && k >= 0.0 && fabs(phi0) <= STRAIGHT)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, __func__,
                                 "k is %g and phi0 %g; k may not be negative, phi0 is within pi", k,
                                 phi0);
    }
    return add_row(ff, TALI_TABLE_IMPROPER, classes, &law, __func__);
}

// A row A/r^12 - B/r^6.
static tal_status add_pair(tal_ff *ff, tali_field_table table, int c1, int c2, double A, double B,
                           const char *where)
{
    if (!(isfinite(A) && A >= 0.0 && isfinite(B))) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "A is %g and B is %g; both must be finite, A not negative", A, B);
    }
    const int classes[4] = {c1, c2, 0, 0};
    const tali_field_law law = {.k = A, .x0 = B};
    return add_row(ff, table, classes, &law, where);
}

static tal_status add_well(tal_ff *ff, tali_field_table table, const int classes[2], double sigma,
                           double depth, const char *where)
{
    if (!tali_field_is_open(ff, where)) return tali_field_closed(ff);
    if (!(isfinite(sigma) && sigma >= 0.0 && isfinite(depth) && depth >= 0.0)) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, where,
                                 "sigma is %g and the well depth %g; neither may be negative",
                                 sigma, depth);
    }
    const double s3 = sigma * sigma * sigma, B = 4.0 * depth * s3 * s3;
    return add_pair(ff, table, classes[0], classes[1], B * s3 * s3, B, where);
}

tal_status tal_ff_add_pair(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR, classes, sigma, well_depth, __func__);
}

tal_status tal_ff_add_pair_ka(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR, classes, TAL_MOL_ANGSTROM * sigma,
                    TAL_MOL_KCAL * well_depth, __func__);
}

tal_status tal_ff_add_pair14(tal_ff *ff, int c1, int c2, double sigma, double well_depth)
{
    const int classes[2] = {c1, c2};
    return add_well(ff, TALI_TABLE_PAIR14, classes, sigma, well_depth, __func__);
}

tal_status tal_ff_add_pair_AB(tal_ff *ff, int c1, int c2, double A, double B)
{
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
    return add_pair(ff, TALI_TABLE_PAIR, c1, c2, A, B, __func__);
}

tal_status tali_field_add_row(tal_ff *ff, tali_field_table table, const int classes[4],
                              const tali_field_law *law)
{
    if (!tali_field_is_open(ff, __func__)) return tali_field_closed(ff);
    const tali_field_series *series = &law->series;
    if (!isfinite(law->k) || !isfinite(law->x0) ||
        !tali_finite_all(&series->a0, sizeof *series / sizeof(double))) {
        return tali_field_refuse(ff, TAL_ERR_NOT_FINITE, __func__, "a parameter is not finite");
    }
    if (law->k < 0.0) {
        return tali_field_refuse(ff, TAL_ERR_BAD_VALUE, __func__,
                                 "%s is %g; it may not be negative",
                                 table >= TALI_TABLE_PAIR ? "A" : "k", law->k);
    }
    return add_row(ff, table, classes, law, __func__);
}
