// Five bars along edges of a cube, open and closed: Bricard's linkage, whose six equations say one
// thing twice and still leave one degree of freedom (GJB ex. 8.6 and 8.7).
//
// The book steps both with the trapezoid and an augmented Lagrangian, and loses 1.3 % and 0.03 % of
// the energy at most. Here the closed one is stepped for 40 s, the open one for 20 s.
//
// Run it:  build/dev/examples/51_bricard        Expected output: 51_bricard.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

static const tal_vec3 points[6] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {1.0, -1.0, 0.0},
                                   {1.0, -1.0, 1.0}, {0.0, -1.0, 1.0}, {0.0, 0.0, 1.0}};

static tal_mat3 frame_along(int axis)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    return tal_m3(e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]);
}

// Pins along y, z, x, y, z at the first five points; a sixth along x closes the loop. Each bar has
// half a kilogram at each end.
static sketch add_bars(tal_matter *matter, tal_forces *forces, const void *options)
{
    static const int axes[6] = {1, 2, 0, 1, 2, 0};
    const bool *is_closed = options;
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 5; ++i) {
        const tal_vec3 a = points[i], b = points[i + 1];
        const tal_sym3 ends = tal_s3_add(tal_s3_cross_square(a), tal_s3_cross_square(b));
        tal_mobod_def def = tal_mobod_def_default();
        def.mass.mass = 1.0;
        def.mass.com = tal_v3_scale(0.5, tal_v3_add(a, b));
        def.mass.inertia = tal_s3_scale(0.5, ends);
        def.X_PF = (tal_xform){frame_along(axes[i]), a};
        def.X_BM = def.X_PF; // frames of bars are Ground's at the start
        body = tal_matter_add_pin(matter, body, &def);
    }
    const tal_constraint_def pin = tal_constraint_between(TAL_GROUND, body);
    const tal_xform at = {frame_along(axes[5]), points[5]};
    if (*is_closed) (void)tal_constraint_add_loop_pin(matter, &pin, &at, &at);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    return sketch_begin(matter, forces);
}

static double energy(const garage *it)
{
    const tal_status st = tal_system_realize(it->system, it->state, TAL_STAGE_DYNAMICS);
    return st == TAL_OK ? tal_system_energy(it->system, it->state) : (double)NAN;
}

// Steps to a time; the largest change of the energy on the way.
static double run(garage *it, double t, double step)
{
    const double at_start = energy(it);
    double worst = 0.0;
    tal_status st = TAL_OK;
    while (st == TAL_OK && tal_state_t(it->state) < t - 0.5 * step) {
        st = garage_run_to(it, tal_state_t(it->state) + step);
        worst = fmax(worst, fabs(energy(it) - at_start));
    }
    if (st != TAL_OK) (void)puts(it->err.message);
    return worst;
}

// How the point in the middle of the far bar moves up and down: a curve of the book.
static void print_curve(garage *it)
{
    const tal_body_ix far = {3};
    const tal_vec3 middle = tal_v3_scale(0.5, tal_v3_add(points[2], points[3]));
    (void)printf("   t   height  acceleration\n");
    for (int i = 1; i <= 5; ++i) {
        (void)garage_run_to(it, 0.3 * i);
        if (tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION) != TAL_OK) return;
        const tal_vec3 p = tal_station_p_GS(it->drawn.matter, it->state, far, middle);
        const tal_vec3 a = tal_station_a_GS(it->drawn.matter, it->state, far, middle);
        (void)printf("%4.1f %8.4f %8.3f\n", 0.3 * i, p.y, a.y);
    }
}

int main(void)
{
    static const double WEIGHT = 29.43; // J: what the bars could lose by a fall of 1 m
    const bool kinds[] = {true, false};
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.uses_stiffness = false; // there is gravity alone
    for (int k = 0; k < 2; ++k) {
        garage it;
        def.step = kinds[k] ? 0.03 : 0.008;
        tal_status st = garage_open(&it, add_bars, &kinds[k], &def);
        if (st != TAL_OK) (void)puts(it.err.message);
        if (st == TAL_OK && kinds[k]) print_curve(&it);
        if (st == TAL_OK) {
            const double share = run(&it, kinds[k] ? 40.0 : 20.0, def.step) / WEIGHT;
            const tal_fixed_stats stats = tal_fixed_stepper_statistics(it.stepper);
            (void)printf("%s: %d steps of %g ms, energy within %s\n", kinds[k] ? "closed" : "open",
                         (int)stats.steps, 1e3 * def.step,
                         share < (kinds[k] ? 3e-4 : 0.013) ? "that of the book" : "MORE");
        }
        garage_close(&it);
        if (st != TAL_OK) return 1;
    }
    return 0;
}
