// What Talus says when something is wrong.
//
// Each function below makes one mistake that is easily made with an element of one's own, or with a
// Study. The pages in doc/howto/ quote the sentences from the output of this program.
//
// Run it:  build/dev/examples/24_mistakes        Expected output: 24_mistakes.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- a small model, and one sentence for each mistake ---

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix bob;
    tal_state *state;
} model;

static model begin(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    tal_mobod_def bob = tal_mobod_def_default();
    bob.name = "bob";
    bob.mass.mass = 1.0;
    m.bob = tal_matter_add_translation(m.matter, TAL_GROUND, &bob);
    return m;
}

static tal_status finish(model *m, tal_error *err)
{
    const tal_status st = tal_system_realize_topology(m->system, err);
    return st == TAL_OK ? tal_state_create(m->system, &m->state, err) : st;
}

static void end(model *m)
{
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

// Mistakes are made on purpose here: what the calls return is also in their objects.
static void expect_failure(tal_status st)
{
    if (st == TAL_OK) (void)printf("that should have failed\n");
}

static void say(const char *mistake, const tal_error *err)
{
    (void)printf("%s\n    %s: %s\n", mistake, tal_status_name(err->status), err->message);
}

// Finish the model, which must fail.
static void refuse(model *m, const char *mistake)
{
    tal_error err = {TAL_OK, "", ""};
    expect_failure(finish(m, &err));
    say(mistake, &err);
    end(m);
}

// A number of a report: right ones are noise.
static const char *verdict(double value)
{
    return value < 1e-8 ? "ok" : "wrong";
}

// Hashes change with every version: they are left out.
static void hear_breach(const tal_error *breach)
{
    tal_error heard = *breach;
    char *hashes = strstr(heard.message, ": structure");
    if (hashes != NULL) *hashes = '\0';
    say("    the contract handler gets", &heard);
}

// --- mobilizers: a bead on the parabola y = x^2 ---

static tal_status calc_X_FM(const void *self, const tal_mobilizer_arg *arg, tal_xform *X_FM)
{
    (void)self;
    *X_FM = tal_xf_from_p(tal_v3(arg->q[0], arg->q[0] * arg->q[0], 0.0));
    return TAL_OK;
}

static tal_status calc_H_FM(const void *self, const tal_mobilizer_arg *arg, tal_spatial_vec H_FM[])
{
    (void)self;
    H_FM[0] = tal_sv(TAL_VEC3_ZERO, tal_v3(1.0, 2.0 * arg->q[0], 0.0));
    return TAL_OK;
}

static void refuse_mobilizer(const char *mistake, const tal_mobilizer_ops *ops, double mass)
{
    model m = begin();
    tal_mobod_def bead = tal_mobod_def_default();
    bead.name = "bead";
    bead.mass.mass = mass;
    (void)tal_matter_add_mobilizer(m.matter, TAL_GROUND, &bead, ops, NULL, NULL);
    refuse(&m, mistake);
}

static void make_mobilizer_mistakes(void)
{
    const tal_mobilizer_ops good = {
        .size = sizeof good,
        .name = "parabola",
        .nu = 1,
        .nq = 1,
        .nq_angles = 1,
        .calc_X_FM = calc_X_FM,
        .calc_H_FM = calc_H_FM, // but H depends on q, and there is no Hdot
    };
    tal_mobilizer_ops ops = good;
    ops.calc_H_FM = NULL;
    refuse_mobilizer("a required function is missing", &ops, 1.0);
    ops = good;
    ops.nq = 2;
    ops.nq_angles = 2;
    refuse_mobilizer("more coordinates than speeds, and no mul_N", &ops, 1.0);
    refuse_mobilizer("a negative mass", &good, -1.0);

    model m = begin();
    const tal_mobod_def weightless = tal_mobod_def_default();
    (void)tal_matter_add_pin(m.matter, m.bob, &weightless);
    tal_error err = {TAL_OK, "", ""};
    if (finish(&m, &err) == TAL_OK) {
        expect_failure(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION));
        say("a body that can move has nothing to move", tal_state_error(m.state));
    }
    end(&m);

    const double q = 0.5, u = 2.0;
    const tal_mobilizer_arg arg = {false, NULL, &q, &u};
    tal_mobilizer_report report;
    if (tal_mobilizer_test(&good, NULL, &arg, TAL_FORWARD, &report, NULL) != TAL_OK) return;
    (void)printf("Hdot_FM is left out although H_FM depends on q\n"
                 "    tal_mobilizer_test: H %s, Hdot %s, N %s, fit_q %s\n",
                 verdict(report.H), verdict(report.Hdot), verdict(report.N), verdict(report.fit_q));
}

// --- forces ---

static tal_status overwrite(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                            double f[])
{
    (void)self, (void)context, (void)f;
    F[1].v = tal_v3(0.0, -1.0, 0.0); // it should add
    return TAL_OK;
}

static tal_status drag(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                       double f[])
{
    (void)self, (void)F;
    f[0] -= tal_body_u(context->matter, context->state, (tal_body_ix){1}, 0);
    return TAL_OK;
}

static tal_status pull_back(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                            double f[])
{
    (void)self, (void)F;
    f[0] -= 100.0 * tal_body_q(context->matter, context->state, (tal_body_ix){1}, 0);
    return TAL_OK;
}

static tal_status twice_the_energy(const void *self, const tal_force_context *context,
                                   double *energy)
{
    (void)self;
    const double q = tal_body_q(context->matter, context->state, (tal_body_ix){1}, 0);
    *energy = 100.0 * q * q; // there should be a half
    return TAL_OK;
}

static tal_status make_nan(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                           double f[])
{
    (void)self, (void)F;
    f[1] += sqrt(-tal_body_q(context->matter, context->state, (tal_body_ix){1}, 1));
    return TAL_OK;
}

// What tal_force_test() finds.
static void test_force(const char *mistake, const tal_force_ops *ops)
{
    model m = begin();
    const tal_force_ix force = tal_forces_add(m.forces, "mine", ops, NULL);
    tal_error err = {TAL_OK, "", ""};
    tal_force_report r;
    tal_status st = finish(&m, &err);
    const double q[] = {0.5, 0.2, 0.1}, u[] = {2.0, 1.0, 0.5};
    if (st == TAL_OK) {
        tal_state_set_q(m.state, q, 3);
        tal_state_set_u(m.state, u, 3);
        st = tal_force_test(m.forces, m.state, force, &r, &err);
    }
    if (st == TAL_OK) {
        (void)printf("%s\n    tal_force_test: adds %s, needs %s, energy %s, power %s\n", mistake,
                     verdict(r.adds), verdict(r.needs), verdict(r.energy), verdict(r.power));
    } else {
        say(mistake, &err);
    }
    end(&m);
}

static void make_force_mistakes(void)
{
    tal_force_ops ops = {.size = sizeof ops, .name = "mine"};
    model m = begin();
    (void)tal_forces_add(m.forces, "mine", &ops, NULL);
    refuse(&m, "apply is missing");
    ops.apply = overwrite;
    test_force("apply writes instead of adding", &ops);
    ops.apply = drag;
    ops.needs = TAL_FORCE_NEEDS_Q;
    test_force("needs says q alone, and apply reads u", &ops);
    ops.apply = pull_back;
    ops.calc_potential_energy = twice_the_energy;
    test_force("the energy is not that of the force", &ops);

    const tal_force_ops root = {.size = sizeof root, .name = "root", .apply = make_nan};
    m = begin();
    (void)tal_forces_add(m.forces, "mine", &root, NULL);
    tal_error err = {TAL_OK, "", ""};
    if (finish(&m, &err) == TAL_OK) {
        tal_body_set_q(m.matter, m.state, m.bob, 1, 1.0);
        expect_failure(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION));
        say("a force is NaN", tal_state_error(m.state));
    }
    end(&m);
}

// --- constraints: the bob stays on a circle of radius one about the origin ---

static tal_status circle_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = 0.5 * (tal_v3_dot(arg->X_AB[1].p, arg->X_AB[1].p) - 1.0);
    return TAL_OK;
}

static tal_status circle_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = tal_v3_dot(arg->X_AB[1].p, arg->V[1].v);
    return TAL_OK;
}

static tal_status circle_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = tal_v3_dot(arg->X_AB[1].p, arg->a[1].v); // v . v is forgotten
    return TAL_OK;
}

static tal_status circle_forces(const void *self, const tal_constraint_arg *arg,
                                const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self, (void)f;
    F[1].v = tal_v3_axpy(-lambda[0], arg->X_AB[1].p, F[1].v); // the sign is that of the resistance
    return TAL_OK;
}

static void make_constraint_mistakes(void)
{
    tal_constraint_ops ops = {
        .size = sizeof ops,
        .name = "circle",
        .mp = 1,
        .num_bodies = 2, // Ground, so that motion is measured in it, and the bob
        .calc_p = circle_p,
        .calc_v = circle_v,
        .calc_a = circle_a,
        .add_forces = circle_forces,
    };
    model m = begin();
    tal_constraint_def def = tal_constraint_def_default();
    def.name = "mine";
    def.bodies[1] = m.bob;
    const tal_constraint_ix ix = tal_matter_add_constraint(m.matter, &def, &ops, NULL, NULL);
    tal_error err = {TAL_OK, "", ""};
    tal_constraint_report r;
    tal_status st = finish(&m, &err);
    const double q[] = {0.6, 0.8, 0.0}, u[] = {2.0, 1.0, 0.0};
    if (st == TAL_OK) {
        tal_state_set_q(m.state, q, 3);
        tal_state_set_u(m.state, u, 3);
        st = tal_constraint_test(m.matter, m.state, ix, &r, &err);
    }
    if (st == TAL_OK) {
        (void)printf("v . v is forgotten in calc_a, and the sign in add_forces is wrong\n"
                     "    tal_constraint_test: verr %s, aerr %s, linear %s, forces %s\n",
                     verdict(r.verr), verdict(r.aerr), verdict(r.linear), verdict(r.forces));
    }
    end(&m);

    m = begin();
    ops.calc_a = NULL;
    (void)tal_matter_add_constraint(m.matter, &def, &ops, NULL, NULL);
    refuse(&m, "calc_a is missing");

    m = begin(); // a rod of 1 m, to a bob that can be anywhere, but begins 5 m away
    tal_constraint_def rod = tal_constraint_between(TAL_GROUND, m.bob);
    rod.name = "rod";
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 1.0);
    rod.name = "longer rod";
    (void)tal_constraint_add_rod(m.matter, &rod, TAL_VEC3_ZERO, TAL_VEC3_ZERO, 2.0);
    tal_integrator *integ = NULL;
    st = finish(&m, &err);
    if (st == TAL_OK) st = tal_integrator_create(m.system, NULL, &integ, &err);
    if (st == TAL_OK) {
        tal_body_set_q(m.matter, m.state, m.bob, 1, 5.0);
        expect_failure(tal_integrator_step_to(integ, m.state, 1.0));
        say("constraints contradict each other", tal_integrator_error(integ));
    }
    tal_integrator_destroy(integ);
    end(&m);
}

// --- studies ---

static void make_study_mistakes(void)
{
    model m = begin(), other = begin();
    tal_error err = {TAL_OK, "", ""};
    (void)tal_contract_set_handler(hear_breach);

    (void)printf("a State before the topology is realized\n");
    expect_failure(tal_state_create(m.system, &m.state, &err));
    tal_forces_add_gravity(other.forces, tal_v3(0.0, -9.81, 0.0));
    if (finish(&m, &err) == TAL_OK && finish(&other, &err) == TAL_OK) {
        (void)printf("a result is read too early\n");
        (void)printf("    and the value is %g\n", tal_body_X_GB(m.matter, m.state, m.bob).p.x);
        (void)printf("the State of one System is given to another\n");
        expect_failure(tal_system_realize(other.system, m.state, TAL_STAGE_POSITION));
        (void)printf("the model is changed after its topology is realized\n");
        tal_forces_add_gravity(m.forces, tal_v3(0.0, -9.81, 0.0));
        (void)tal_body_set_q(m.matter, m.state, m.bob, 0, (double)NAN);
        expect_failure(tal_system_realize(m.system, m.state, TAL_STAGE_POSITION));
        say("a NaN is put into the State, and the setter's answer is not looked at; the next call says",
            tal_state_error(m.state));
    }
    (void)tal_contract_set_handler(NULL);
    end(&m);
    end(&other);
}

int main(void)
{
    (void)printf("MOBILIZERS\n");
    make_mobilizer_mistakes();
    (void)printf("FORCES\n");
    make_force_mistakes();
    (void)printf("CONSTRAINTS\n");
    make_constraint_mistakes();
    (void)printf("STUDIES\n");
    make_study_mistakes();
    return EXIT_SUCCESS;
}
