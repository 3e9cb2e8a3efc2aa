// The closed loops that are timed. Their values meet the constraints.
#include "build_talus.h"
#include "models.h"

#include <stdio.h>
#include <string.h>

static tal_vec3 tip_of(const model *m, const talus_model *t)
{
    const tal_body_ix last = {m->num_bodies - 1};
    return tal_xf_apply(tal_body_X_GB(t->matter, t->state, last), tal_v3(0.3, 0.0, 0.0));
}

// udot of values that are off the constraints depends on how an error of q or u enters, which every
// toolkit does in its own way. On the constraints there is one udot.
static void settle(model *m)
{
    talus_model t = talus_build(m);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-13;
    for (int k = 0; k < MODEL_SETS; ++k) {
        talus_set_values(&t, m, k);
        talus_realize(&t, TAL_STAGE_POSITION);
        talus_require(&t, tal_system_project_q(t.system, t.state, &options, NULL, NULL));
        talus_realize(&t, TAL_STAGE_VELOCITY);
        talus_require(&t, tal_system_project_u(t.system, t.state, &options, NULL, NULL));
        memcpy(m->q[k], tal_state_q(t.state), (size_t)m->nq * sizeof(double));
        memcpy(m->u[k], tal_state_u(t.state), (size_t)m->nu * sizeof(double));
    }
    talus_free(&t);
}

// The tip is tied to where the first set of values has it; a rod begins half a meter from there.
// The second set is not far from the first, so that Newton's method finds the way.
static model closed_chain(int n, model_tie tie)
{
    model m = model_pin_chain(n);
    (void)snprintf(m.name, sizeof m.name, "%s-closed %d", tie == MODEL_TIE_ROD ? "rod" : "ball", n);
    talus_model open = talus_build(&m);
    talus_set_values(&open, &m, 0);
    talus_realize(&open, TAL_STAGE_POSITION);
    const tal_vec3 tip = tip_of(&m, &open);
    const double length = tie == MODEL_TIE_ROD ? 0.5 : 0.0;
    const tal_vec3 away = tal_v3(0.6 * length, 0.0, 0.8 * length);
    talus_free(&open);
    m.loops[m.num_loops++] =
        (model_loop){tie, {0, n}, {tal_v3_add(tip, away), tal_v3(0.3, 0.0, 0.0)}, length};
    for (int i = 0; i < m.nq; ++i) {
        m.q[1][i] = m.q[0][i] + 0.2 * m.q[1][i];
    }
    settle(&m);
    return m;
}

model model_ball_closed(int n)
{
    return closed_chain(n, MODEL_TIE_BALL);
}

model model_rod_closed(int n)
{
    return closed_chain(n, MODEL_TIE_ROD);
}

// Links of 1 m and 1 kg, along x. All pins have axis z.
static void add_crank_or_coupler(model *m, int parent, tal_vec3 p_PF)
{
    const tal_sym3 slender = {0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0, 0.0, 0.0};
    const tal_mass_props rod = {1.0, tal_v3(0.5, 0.0, 0.0), slender};
    (void)model_add(m, parent, MODEL_PIN, tal_xf(TAL_MAT3_IDENTITY, p_PF), rod);
}

// Two equations close a planar loop: a ball has a third that repeats what the pins do, and costs
// Simbody half as much again. Cranks are bodies 1 to N + 1, at an angle to x; couplers, N + 2 and
// on, stay level. Angles keep clear of 0, where the loops are singular.
model model_four_bars(int N)
{
    static const double angles[MODEL_SETS] = {1.1, -0.7}, speeds[MODEL_SETS] = {-1.0, 2.0};
    model m = model_start(2 * N + 1);
    (void)snprintf(m.name, sizeof m.name, "four-bars %d", N);
    for (int i = 0; i <= N; ++i) {
        add_crank_or_coupler(&m, 0, tal_v3(i, 0.0, 0.0));
    }
    for (int i = 0; i < N; ++i) {
        add_crank_or_coupler(&m, 1 + i, tal_v3(1.0, 0.0, 0.0));
        m.loops[m.num_loops++] = (model_loop){MODEL_TIE_LINE,
                                              {2 + i, N + 2 + i},
                                              {tal_v3(1.0, 0.0, 0.0), tal_v3(1.0, 0.0, 0.0)},
                                              0.0};
    }
    m = model_finish(m);
    for (int k = 0; k < MODEL_SETS; ++k) {
        for (int i = 0; i < m.nu; ++i) {
            m.q[k][i] = i <= N ? angles[k] : -angles[k];
            m.u[k][i] = i <= N ? speeds[k] : -speeds[k];
        }
    }
    return m;
}

// A flat body whose pin is at (x, y) of its parent: mass, com and inertia about the com.
static int add_flat(model *m, int parent, double x, double y, const double mass_cx_cy_I[4])
{
    const double mass = mass_cx_cy_I[0], I = mass_cx_cy_I[3];
    const tal_vec3 com = tal_v3(mass_cx_cy_I[1], mass_cx_cy_I[2], 0.0);
    const tal_sym3 about_com = {I, I, I, 0.0, 0.0, 0.0};
    const tal_mass_props props = {
        mass, com, tal_s3_add(about_com, tal_s3_scale(mass, tal_s3_cross_square(com)))};
    return model_add(m, parent, MODEL_PIN, tal_xf(TAL_MAT3_IDENTITY, tal_v3(x, y, 0.0)), props);
}

// The bodies K1, K2, K3, K5, K4, K7, K6 of the benchmark. E of K2 meets E of K3, K4 and K6.
static void add_squeezer_bodies(model *m)
{
    static const double masses[7][4] = {
        {0.04325, 0.00092, 0.0, 2.194e-6},         {0.00365, -0.0115, 0.0, 4.41e-7},
        {0.02373, 0.01043, -0.01874, 5.255e-6},    {0.0705, 0.02308, 0.00916, 1.169e-5},
        {0.00706, 0.0, -0.02 + 0.01421, 5.667e-7}, {0.05498, -0.00449, -0.01228, 1.912e-5},
        {0.00706, 0.02 - 0.01421, 0.0, 5.667e-7}};
    const double xa = -0.06934, ya = -0.00227, xb = -0.03635, yb = 0.03273;
    const int K1 = add_flat(m, 0, 0.0, 0.0, masses[0]);
    const int K2 = add_flat(m, K1, 0.007, 0.0, masses[1]);
    const int K3 = add_flat(m, 0, xb, yb, masses[2]);
    const int K5 = add_flat(m, 0, xa, ya, masses[3]);
    const int K4 = add_flat(m, K5, 0.04, 0.0, masses[4]);
    const int K7 = add_flat(m, 0, xa, ya, masses[5]);
    const int K6 = add_flat(m, K7, 0.0, -0.04, masses[6]);
    const int ends[3] = {K3, K4, K6};
    const tal_vec3 E[3] = {tal_v3(0.0, -0.035, 0.0), tal_v3(0.0, -0.02, 0.0),
                           tal_v3(0.02, 0.0, 0.0)};
    for (int i = 0; i < 3; ++i) {
        m->loops[m->num_loops++] =
            (model_loop){MODEL_TIE_LINE, {ends[i], K2}, {E[i], tal_v3(-0.028, 0.0, 0.0)}, 0.0};
    }
    m->springs[m->num_springs++] = (model_spring){
        {K3, 0}, {tal_v3(0.02, -0.018, 0.0), tal_v3(0.014, 0.072, 0.0)}, 4530.0, 0.07785};
}

// The values are those after 3 and 9 ms (refs:a03_andrews_squeezer), in the order of the
// bodies.
model model_squeezer(int unused)
{
    (void)unused;
    static const double q[MODEL_SETS][7] = {
        {0.013639595215197441449, -0.056232509422010675677, 0.45479524130807636489,
         0.48747444371619237888, 0.22169000074638045102, 1.2301775768147972869,
         -0.22169000074638045102},
        {1.536202297914019667, -1.2506473438761454194, 0.2815911423298180279,
         0.51612920408762425426, -0.10861770594575860999, 1.1191870047108063327,
         0.10861770594575860999}};
    static const double u[MODEL_SETS][7] = {
        {58.206660278311807212, -43.233974653251630673, -0.74448422200463577986,
         0.16803321008121957517, -1.5028516669447936971, -0.56799406264173573859,
         1.5028516669447936971},
        {548.85506934350816738, -506.18905863150344604, -104.19420720155666287,
         11.51771123469764803, -189.91676047034061989, -53.628462799813460096,
         189.91676047034061989}};
    model m = model_start(7);
    (void)snprintf(m.name, sizeof m.name, "squeezer");
    m.has_gravity = false;
    m.motor = 0.033;
    add_squeezer_bodies(&m);
    m = model_finish(m);
    for (int k = 0; k < MODEL_SETS; ++k) {
        memcpy(m.q[k], q[k], sizeof q[k]);
        memcpy(m.u[k], u[k], sizeof u[k]);
    }
    return m;
}
