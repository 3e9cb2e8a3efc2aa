// A constraint of your own: a rope over two pulleys.
//
//         P1 o----------o P2
//            |          |           |S1 - P1| + |S2 - P2| = length
//         S1 #          |
//                    S2 #
//
// One equation between two bodies. Hanging straight they are Atwood's machine: the heavier one goes
// down with g (m2 - m1) / (m1 + m2), and the rope carries 2 m1 m2 g / (m1 + m2).
// doc/howto/constraint.md explains this program.
//
// Run it:  build/dev/examples/21_own_constraint        Expected output: 21_own_constraint.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double GRAVITY = 9.81;           // m/s^2
static const double MASS1 = 1.0, MASS2 = 2.0; // kg
static const double LENGTH = 3.0; // m, of the rope without what lies between the pulleys

// --- the constraint ---

typedef struct rope {
    tal_vec3 pulley[2]; // on A, the outermost common ancestor of both ends: here Ground
} rope;

// From a pulley to the end of the rope on its side: the vector, its length, its direction.
typedef struct side {
    tal_vec3 d, e;
    double r;
} side;

static side side_at(const rope *it, const tal_constraint_arg *arg, int k)
{
    side s = {.d = tal_v3_sub(arg->X_AB[k].p, it->pulley[k])};
    s.r = tal_v3_norm(s.d);
    s.e = tal_v3_scale(1.0 / s.r, s.d);
    return s;
}

// perr = r1 + r2 - length
static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    perr[0] = side_at(self, arg, 0).r + side_at(self, arg, 1).r - arg->params[0];
    return TAL_OK;
}

// rdot = e . v
static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    verr[0] = 0.0;
    for (int k = 0; k < 2; ++k) {
        verr[0] += tal_v3_dot(side_at(self, arg, k).e, arg->V[k].v);
    }
    return TAL_OK;
}

// rdotdot = e . a + (v . v - rdot^2) / r
static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    aerr[0] = 0.0;
    for (int k = 0; k < 2; ++k) {
        const side s = side_at(self, arg, k);
        const tal_vec3 v = arg->V[k].v;
        const double rdot = tal_v3_dot(s.e, v);
        aerr[0] += tal_v3_dot(s.e, arg->a[k].v) + (tal_v3_dot(v, v) - rdot * rdot) / s.r;
    }
    return TAL_OK;
}

// G^T lambda: the factors of v in verr
static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)f;
    for (int k = 0; k < 2; ++k) {
        F[k].v = tal_v3_axpy(lambda[0], side_at(self, arg, k).e, F[k].v);
    }
    return TAL_OK;
}

static const tal_constraint_ops rope_ops = {
    .size = sizeof rope_ops,
    .name = "rope",
    .mp = 1,
    .num_bodies = 2,
    .num_params = 1, // the length; it lives in the State
    .calc_p = calc_p,
    .calc_v = calc_v,
    .calc_a = calc_a,
    .add_forces = add_forces,
};

// --- do its functions agree with each other? ---

static tal_status test_rope(const tal_matter *matter, tal_state *state, tal_constraint_ix ix,
                            tal_error *err)
{
    const double q[] = {-0.2, 0.1, 0.3, 0.4, -0.5, 0.1}; // anywhere but at a pulley
    const double u[] = {0.3, -0.2, 0.5, -0.4, 0.6, 0.2};
    tal_state_set_q(state, q, 6);
    tal_state_set_u(state, u, 6);
    tal_constraint_report report;
    const tal_status st = tal_constraint_test(matter, state, ix, &report, err);
    if (st == TAL_OK) (void)printf("the functions agree: %s\n", report.worst < 1e-9 ? "yes" : "no");
    return st;
}

// --- two weights ---

static tal_body_ix add_weight(tal_matter *matter, const char *name, double mass)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    def.mass.mass = mass;
    return tal_matter_add_translation(matter, TAL_GROUND, &def);
}

static tal_status hang(const tal_system *system, const tal_matter *matter, tal_state *state)
{
    const double q[] = {-0.5, -1.0, 0.0, 0.5, -2.0, 0.0}, u[6] = {0.0};
    const double expected = GRAVITY * (MASS1 - MASS2) / (MASS1 + MASS2);
    tal_state_set_q(state, q, 6);
    tal_state_set_u(state, u, 6);
    const tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    (void)printf("acceleration of weight 2: %8.5f m/s^2, expected %8.5f\n",
                 tal_body_A_GB(matter, state, (tal_body_ix){2}).v.y, expected);
    (void)printf("tension of the rope:      %8.5f N,     expected %8.5f\n",
                 tal_state_multipliers(state)[0], 2.0 * MASS1 * MASS2 * GRAVITY / (MASS1 + MASS2));
    return TAL_OK;
}

// Pushed sideways, weight 1 swings while both go up and down. Energy is kept, and so is the rope.
static tal_status swing(const tal_system *system, const tal_matter *matter, tal_state *state)
{
    tal_integrator *integ = NULL;
    tal_integrator_def fine = tal_integrator_def_default();
    fine.accuracy = 1e-9;
    tal_body_set_u(matter, state, (tal_body_ix){1}, 0, 1.5);
    tal_status st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    const double energy = tal_system_energy(system, state);
    if (st == TAL_OK) st = tal_integrator_create(system, &fine, &integ, NULL);
    (void)printf("   t [s]    x1 [m]    y1 [m]    y2 [m]   energy kept   rope kept\n");
    for (int i = 0; i <= 4 && st == TAL_OK; ++i) {
        const double t = 0.5 * i;
        st = tal_integrator_step_to(integ, state, t);
        if (st != TAL_OK) break;
        const double *q = tal_state_q(state);
        (void)printf("%8.2f %9.4f %9.4f %9.4f %10s %12s\n", t, q[0], q[1], q[4],
                     fabs(tal_system_energy(system, state) - energy) < 1e-6 ? "yes" : "no",
                     fabs(tal_state_qerr(state)[0]) < 1e-9 ? "yes" : "no");
    }
    if (st != TAL_OK && integ) (void)fprintf(stderr, "%s\n", tal_integrator_error(integ)->message);
    tal_integrator_destroy(integ);
    return st;
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -GRAVITY, 0.0));
    tal_constraint_def ends = tal_constraint_def_default();
    ends.name = "rope";
    ends.bodies[0] = add_weight(matter, "weight 1", MASS1);
    ends.bodies[1] = add_weight(matter, "weight 2", MASS2);
    rope over = {.pulley = {{-0.5, 0.0, 0.0}, {0.5, 0.0, 0.0}}};
    const tal_constraint_ix ix =
        tal_matter_add_constraint(matter, &ends, &rope_ops, &over, &LENGTH);

    tal_state *state = NULL;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = test_rope(matter, state, ix, &err);
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);
    if (st == TAL_OK) st = hang(system, matter, state);
    if (st == TAL_OK) st = swing(system, matter, state);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
