// Threads: one System, a State for each thread, the same bits however many there are.
//
// A double pendulum is let go from 100 slightly different angles, and we ask where the lower bob is
// after three seconds. Samples are independent of each other, so they are tasks for any thread.
// What varies is in the States; the System is shared and const. doc/howto/threads.md explains this
// program.
//
// Run it:  build/dev/examples/23_threads        Expected output: 23_threads.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 100,
    LANES = 8 // tasks: a few times the number of threads, and fixed
};

// --- what one task needs; no other task uses it ---

typedef struct lane {
    tal_state *state;
    tal_integrator *integ;
    tal_status st;
} lane;

typedef struct ensemble {
    const tal_system *system;
    const tal_matter *matter;
    lane lanes[LANES];
    double angles[SAMPLES]; // results, each written by the task it belongs to
} ensemble;

static void run_lane(void *work, int i)
{
    ensemble *it = work;
    lane *mine = &it->lanes[i];
    const tal_body_ix upper = {1}, lower = {2};
    for (int k = i; k < SAMPLES && mine->st == TAL_OK; k += LANES) {
        tal_state_set_t(mine->state, 0.0);
        tal_body_set_q(it->matter, mine->state, upper, 0, 1.0 + 0.001 * k);
        tal_body_set_q(it->matter, mine->state, lower, 0, 0.0);
        tal_body_set_u(it->matter, mine->state, upper, 0, 0.0);
        tal_body_set_u(it->matter, mine->state, lower, 0, 0.0);
        tal_integrator_reset(mine->integ); // every sample starts in the same way
        mine->st = tal_integrator_step_to(mine->integ, mine->state, 3.0);
        it->angles[k] = tal_body_q(it->matter, mine->state, lower, 0);
    }
}

// --- all of them, on n threads ---

static tal_status run(ensemble *it, int n)
{
    tal_threads *threads = NULL;
    tal_status st = tal_threads_create(n, &threads, NULL);
    if (st != TAL_OK) return st;
    const tal_executor executor = tal_threads_executor(threads);
    executor.run(executor.context, run_lane, it, LANES);
    tal_threads_destroy(threads);
    for (int i = 0; i < LANES && st == TAL_OK; ++i) {
        st = it->lanes[i].st;
    }
    return st;
}

static tal_status create_lanes(ensemble *it, tal_error *err)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_verner_8();
    def.accuracy = 1e-9;
    tal_status st = TAL_OK;
    for (int i = 0; i < LANES && st == TAL_OK; ++i) {
        st = tal_state_create(it->system, &it->lanes[i].state, err);
        if (st == TAL_OK) st = tal_integrator_create(it->system, &def, &it->lanes[i].integ, err);
    }
    return st;
}

static void destroy_lanes(ensemble *it)
{
    for (int i = 0; i < LANES; ++i) {
        tal_integrator_destroy(it->lanes[i].integ);
        tal_state_destroy(it->lanes[i].state);
    }
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    tal_mobod_def rod = tal_mobod_def_default();
    rod.mass = tal_mass_props_rod(1.0, tal_v3(0.0, 0.5, 0.0));
    rod.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    const tal_body_ix upper = tal_matter_add_pin(matter, TAL_GROUND, &rod);
    rod.X_PF = tal_xf_from_p(tal_v3(0.0, -0.5, 0.0));
    (void)tal_matter_add_pin(matter, upper, &rod);

    ensemble all = {.system = system, .matter = matter};
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = create_lanes(&all, &err);
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", err.message);

    double first[SAMPLES];
    for (int n = 1; n <= 4 && st == TAL_OK; n *= 2) {
        st = run(&all, n);
        if (n == 1) (void)memcpy(first, all.angles, sizeof first);
        // NOLINTNEXTLINE(*-memory-comparison,cert-*): the bits count
        const bool same = memcmp(first, all.angles, sizeof first) == 0;
        (void)printf("%d thread%s: %s\n", n, n == 1 ? "" : "s",
                     same ? "the same bits" : "different");
    }
    (void)printf("\n let go at   lower bob after 3 s [rad]\n");
    for (int k = 0; k < SAMPLES && st == TAL_OK; k += 20) {
        (void)printf("%10.3f %14.4f\n", 1.0 + 0.001 * k, first[k]);
    }
    destroy_lanes(&all);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
