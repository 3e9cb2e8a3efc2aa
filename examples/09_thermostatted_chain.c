// A chain at constant temperature, as molecules are simulated: in a bath of Nose and Hoover, then
// in one of Langevin.
//
//     Ground --ball--> o --pin--> o --pin--> o --pin--> o        springs hold the pins
//
// The first table follows a Nose-Hoover run, which is deterministic. Energy flows between the chain
// and its bath, and their sum must stay put. kT is that of the motion at the moment, 2 K / N: it
// goes up and down about the bath's, and that is right, because a chain this small has no
// temperature but on average.
//
// The second table is about such averages, from a Langevin run with its friction and noise: the
// mean of u_i (M u)_i, in units of kT, is 1 for every speed i however the bodies are coupled.
//
// Run it:  build/dev/examples/09_thermostatted_chain
// Expected output: 09_thermostatted_chain.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NUM_LINKS = 4,
    NU = NUM_LINKS + 2, // a ball has three speeds
    NUM_BLOCKS = 60,
    BLOCK_STEPS = 1000
};

static const double KT = 0.2;    // J
static const double STEP = 0.02; // s, of the Langevin run

typedef struct chain {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_integrator *integ;
} chain;

static chain build(void)
{
    chain c = {.system = tal_system_create(NULL)};
    c.matter = tal_matter_create(c.system);
    c.forces = tal_forces_create(c.system, c.matter);
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_brick(1.0, tal_v3(0.2, 0.3, 0.1));
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 0.2, 0.0));
    tal_body_ix body = tal_matter_add_ball(c.matter, TAL_GROUND, &link);
    link.X_PF = tal_xf_from_p(tal_v3(0.05, -0.2, 0.0));
    for (int i = 1; i < NUM_LINKS; ++i) {
        body = tal_matter_add_pin(c.matter, body, &link);
        const tal_mobility pin = {body, 0};
        tal_forces_add_mobility_spring(c.forces, NULL, pin, 5.0, 0.0);
    }
    const tal_two_points end = {TAL_GROUND, {1.0, -1.0, 0.3}, body, {0.0, -0.2, 0.0}};
    tal_forces_add_two_point_spring(c.forces, "tether", &end, 4.0, 0.2);
    return c;
}

static tal_status finish(chain *c, const tal_integrator_def *def)
{
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(c->system, &err);
    if (st == TAL_OK) st = tal_state_create(c->system, &c->state, &err);
    if (st == TAL_OK) st = tal_integrator_create(c->system, def, &c->integ, &err);
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);
    return st;
}

// Say what went wrong, if anything did, and free everything.
static tal_status clean_up(chain *c, tal_status st)
{
    const bool has_reason = st != TAL_OK && c->integ != NULL;
    if (has_reason) (void)fprintf(stderr, "%s\n", tal_integrator_error(c->integ)->message);
    tal_integrator_destroy(c->integ);
    tal_state_destroy(c->state);
    tal_system_destroy(c->system);
    return st;
}

static tal_status run_nose_hoover(void)
{
    chain c = build();
    tal_thermostat_def bath = tal_thermostat_def_default();
    bath.kT = KT;
    bath.relaxation_time = 0.3; // s
    const tal_force_ix thermostat = tal_forces_add_thermostat(c.forces, "bath", &bath);
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-10;
    tal_status st = finish(&c, &def);

    (void)printf("Nose-Hoover:  t     kT   chain      bath       sum\n");
    for (int k = 0; k <= 6 && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(c.integ, c.state, 0.5 * k);
        const double energy = tal_system_energy(c.system, c.state);
        const double in_bath = tal_thermostat_bath_energy(c.forces, c.state, thermostat);
        (void)printf("            %3.1f %6.2f %7.3f %9.3f %9.6f\n", 0.5 * k,
                     tal_thermostat_temperature(c.forces, c.state, thermostat), energy, in_bath,
                     energy + in_bath);
    }
    return clean_up(&c, st);
}

// Means of u_i (M u)_i / kT over a block of steps.
static tal_status run_block(chain *c, int block, double mean[NU])
{
    double Mu[NU];
    tal_status st = TAL_OK;
    for (int i = 0; i < NU; ++i) {
        mean[i] = 0.0;
    }
    for (int k = 1; k <= BLOCK_STEPS && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(c->integ, c->state, (block * BLOCK_STEPS + k) * STEP);
        if (st != TAL_OK) return st;
        const double *u = tal_state_u(c->state);
        st = tal_matter_mul_M(c->matter, c->state, u, Mu);
        for (int i = 0; i < NU; ++i) {
            mean[i] += u[i] * Mu[i] / (KT * BLOCK_STEPS);
        }
    }
    return st;
}

// The blocks are long enough to be independent: their scatter tells how sure the mean of all is.
static void print_shares(double blocks[NUM_BLOCKS][NU])
{
    double all = 0.0;
    (void)printf("Langevin: speed  mean of u (M u) / kT\n");
    for (int i = 0; i < NU; ++i) {
        double mean = 0.0, variance = 0.0;
        for (int k = 0; k < NUM_BLOCKS; ++k) {
            mean += blocks[k][i] / NUM_BLOCKS;
        }
        for (int k = 0; k < NUM_BLOCKS; ++k) {
            variance += (blocks[k][i] - mean) * (blocks[k][i] - mean) / (NUM_BLOCKS - 1);
        }
        const bool is_one = fabs(mean - 1.0) < 3.0 * sqrt(variance / NUM_BLOCKS);
        (void)printf("          %5d  %s\n", i, is_one ? "1 within 3 sigma" : "not 1");
        all += mean / NU;
    }
    (void)printf("            all  %.1f\n", all);
}

static tal_status run_langevin(void)
{
    static double blocks[NUM_BLOCKS][NU];
    chain c = build();
    tal_langevin_def bath = tal_langevin_def_default();
    bath.kT = KT;
    bath.friction = 5.0;  // 1/s
    bath.interval = STEP; // its noise needs steps of this length
    bath.seed = 2024;
    tal_forces_add_langevin(c.forces, "bath", &bath);
    tal_integrator_def def = tal_integrator_def_default();
    def.fixed_step = STEP;
    tal_status st = finish(&c, &def);
    // a block to forget that it began at rest
    if (st == TAL_OK) st = run_block(&c, 0, blocks[0]);
    for (int k = 0; k < NUM_BLOCKS && st == TAL_OK; ++k) {
        st = run_block(&c, k + 1, blocks[k]);
    }
    if (st == TAL_OK) print_shares(blocks);
    return clean_up(&c, st);
}

int main(void)
{
    tal_status st = run_nose_hoover();
    if (st == TAL_OK) st = run_langevin();
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
