// Torsions as Fourier series of six waves.
#include "field/field_internal.h"

#include <math.h>

// cos and sin of a phase, exact where force fields put it: 0 and pi.
static void phase_of(double gamma, double *c, double *s)
{
    const double pi = 180.0 * TAL_MOL_DEGREE;
    const bool is_straight = gamma == 0.0 || fabs(gamma) == pi;
    *c = is_straight ? (gamma == 0.0 ? 1.0 : -1.0) : cos(gamma);
    *s = is_straight ? 0.0 : sin(gamma);
}

bool tali_field_series_of_waves(const tal_ff_wave waves[], int num_waves, tali_field_series *out)
{
    const tali_field_series none = {0};
    *out = none;
    for (int i = 0; i < num_waves; ++i) {
        const tal_ff_wave w = waves[i];
        if (w.n < 1 || w.n > TALI_WAVES || !isfinite(w.V) || !isfinite(w.gamma)) return false;
        double c, s;
        phase_of(w.gamma, &c, &s);
        out->a0 += w.V;
        out->a[w.n - 1] += w.V * c;
        out->b[w.n - 1] += w.V * s;
    }
    return true;
}

// With psi = phi - pi, cos^k psi = (-1)^k cos^k phi, and powers of the cosine are
//     c^2 = (1 + cos 2 phi)/2,  c^3 = (3 c + cos 3 phi)/4,  c^4 = (3 + 4 cos 2 phi + cos 4 phi)/8,
//     c^5 = (10 c + 5 cos 3 phi + cos 5 phi)/16.
tali_field_series tali_field_series_of_powers(const double C[6])
{
    tali_field_series out = {0};
    out.a0 = C[0] + C[2] / 2.0 + 3.0 * C[4] / 8.0;
    out.a[0] = -(C[1] + 3.0 * C[3] / 4.0 + 5.0 * C[5] / 8.0);
    out.a[1] = C[2] / 2.0 + C[4] / 2.0;
    out.a[2] = -(C[3] / 4.0 + 5.0 * C[5] / 16.0);
    out.a[3] = C[4] / 8.0;
    out.a[4] = -C[5] / 16.0;
    return out;
}
