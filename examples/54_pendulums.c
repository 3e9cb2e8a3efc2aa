// A double and a triple pendulum in two ways: as a tree of pins, and as bodies that move freely in
// a plane, held together by two equations for each joint.
//
// The second way has three times as many coordinates; programs that know no trees work like this.
// Welch's predictor-corrector steps it; an integrator with error control steps the tree. Halving
// the step quarters the difference between the two, and the equations are kept to order 3.
//
// Run it:  build/dev/examples/54_pendulums        Expected output: 54_pendulums.out
#include "garage.h"

#include <math.h>
#include <stdio.h>

enum {
    MOST = 3
};

static const double LENGTH = 1.0;

// How many links, and whether they are bodies held together by equations.
typedef struct pendulum {
    int n;
    bool is_held;
} pendulum;

// Rods of 1 kg that hang down along -y, from z pins at their upper ends.
static sketch add_pendulum(tal_matter *matter, tal_forces *forces, const void *options)
{
    const pendulum *it = options;
    tal_body_ix last = TAL_GROUND;
    tal_mobod_def def = tal_mobod_def_default();
    const double second = LENGTH * LENGTH / 3.0;
    const tal_vec3 tip = tal_v3(0.0, -LENGTH, 0.0);
    def.mass.mass = 1.0;
    def.mass.com = tal_v3(0.0, -0.5 * LENGTH, 0.0);
    def.mass.inertia = tal_s3_diag(second, 0.0, second);
    for (int i = 0; i < it->n; ++i) {
        const tal_vec3 at = i > 0 ? tip : TAL_VEC3_ZERO;
        if (it->is_held) {
            const tal_body_ix body = tal_matter_add_planar(matter, TAL_GROUND, &def);
            const tal_constraint_def pin = tal_constraint_between(last, body);
            (void)tal_constraint_add_ball(matter, &pin, at, TAL_VEC3_ZERO);
            last = body;
        } else {
            def.X_PF.p = at;
            last = tal_matter_add_pin(matter, last, &def);
        }
    }
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    return sketch_begin(matter, forces);
}

// Links at 1 rad, each a bit further out than the one before.
static void put_angles(const pendulum *it, garage *model)
{
    double x = 0.0, y = 0.0, before = 0.0;
    for (int i = 0; i < it->n; ++i) {
        const tal_body_ix body = {i + 1};
        const double angle = 1.0 + 0.2 * i;
        (void)tal_body_set_q(model->drawn.matter, model->state, body, 0,
                             it->is_held ? angle : angle - before);
        if (it->is_held) {
            (void)tal_body_set_q(model->drawn.matter, model->state, body, 1, x);
            (void)tal_body_set_q(model->drawn.matter, model->state, body, 2, y);
        }
        x += LENGTH * sin(angle);
        y -= LENGTH * cos(angle);
        before = angle;
    }
}

static tal_status integrate(garage *model, double t)
{
    tal_integrator_def def = tal_integrator_def_default();
    tal_integrator *integ = NULL;
    def.accuracy = 1e-11;
    tal_status st = tal_integrator_create(model->system, &def, &integ, &model->err);
    if (st == TAL_OK) st = tal_integrator_step_to(integ, model->state, t);
    tal_integrator_destroy(integ);
    return st;
}

// Where the tip is after a second; the mean error of the equations, where there are any.
static tal_status run(const pendulum *it, double step, tal_vec3 *tip, double *mean)
{
    garage model;
    tal_fixed_stepper_def def = tal_fixed_stepper_def_default();
    def.formulation = TAL_FORMULATION_WELCH;
    def.scheme = TAL_SCHEME_PREDICTOR_CORRECTOR;
    def.projects = false; // as published
    def.step = step;
    tal_status st = garage_open(&model, add_pendulum, it, &def);
    if (st == TAL_OK) put_angles(it, &model);
    if (st == TAL_OK) st = it->is_held ? garage_run_to(&model, 1.0) : integrate(&model, 1.0);
    if (st == TAL_OK) st = tal_system_realize(model.system, model.state, TAL_STAGE_POSITION);
    if (st == TAL_OK) {
        const tal_fixed_stats stats = tal_fixed_stepper_statistics(model.stepper);
        const tal_body_ix last = {it->n};
        *tip = tal_station_p_GS(model.drawn.matter, model.state, last, tal_v3(0.0, -LENGTH, 0.0));
        *mean = stats.sum_position_error / fmax(1.0, (double)stats.steps);
    } else {
        (void)puts(model.err.message);
    }
    garage_close(&model);
    return st;
}

int main(void)
{
    static const double steps[] = {0.01, 0.005, 0.0025};

    for (int n = 2; n <= MOST; ++n) {
        const pendulum tree = {n, false}, held = {n, true};
        tal_vec3 exact, tip;
        double mean, last_error = 0.0, last_mean = 0.0;
        tal_status st = run(&tree, 1.0, &exact, &mean);
        (void)printf("%d links, tip at %.6f %.6f after 1 s\n", n, exact.x, exact.y);
        (void)printf("step ms   tip off mm  order   joints off mm  order\n");
        for (int i = 0; i < 3 && st == TAL_OK; ++i) {
            st = run(&held, steps[i], &tip, &mean);
            const double error = tal_v3_norm(tal_v3_sub(tip, exact));
            (void)printf("%7.1f %12.3e", 1e3 * steps[i], 1e3 * error);
            if (i > 0) (void)printf(" %6.1f", log2(last_error / error));
            (void)printf("%s %15.3e", i > 0 ? "" : "       ", 1e3 * mean);
            (void)printf(i > 0 ? " %6.1f\n" : "\n", log2(last_mean / mean));
            last_error = error;
            last_mean = mean;
        }
        if (st != TAL_OK) return 1;
    }
    return 0;
}
