// same_bytes STEPS WAY [THREADS]
// Trajectories as hashes, one line each (PROMISES P16). same_bytes.sh runs it in many ways, which
// may not differ.
//
// Each run takes STEPS steps of two bodies on balls with springs between them, or of a closed loop
// of three links. Half way, what is kept of steps before is forgotten
// (tal_integrator_checkpoint()); then the run goes on
//
//     plain      with the same objects
//     copied     with a copy of the State
//     resumed    with new objects, and what was saved of the old ones
//
// Forces are applied by so many threads, if any.
#include <talus/talus.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    tal_system *system;
    tal_state *state;
    tal_integrator *integ;
} run;

static void need(tal_status st, const char *what)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "same_bytes: %s: %s\n", what, tal_status_text(st));
    exit(1);
}

// --- models ---

static tal_mobod_def link_at(tal_vec3 p_PF)
{
    tal_mobod_def link = tal_mobod_def_default();
    link.mass = tal_mass_props_rod(1.0, tal_v3(0.02, 0.5, 0.0));
    link.X_BM = tal_xf_from_p(tal_v3(0.0, 0.5, 0.0));
    link.X_PF = tal_xf_from_p(p_PF);
    return link;
}

static void add_balls(tal_matter *matter, tal_forces *forces)
{
    tal_mobod_def link = link_at(TAL_VEC3_ZERO);
    const tal_body_ix first = tal_matter_add_ball(matter, TAL_GROUND, &link);
    link = link_at(tal_v3(0.0, -0.5, 0.0));
    const tal_body_ix second = tal_matter_add_ball(matter, first, &link);
    for (int i = 0; i < 8; ++i) {
        char name[16];
        const tal_two_points ends = {first, tal_v3(0.1 * i, 0.2, 0.0), second,
                                     tal_v3(0.0, 0.1, 0.03 * i)};
        (void)snprintf(name, sizeof name, "spring %d", i);
        (void)tal_forces_add_two_point_spring(forces, name, &ends, 2.0 + i, 0.5);
    }
}

// Four bars, the fixed one 1.2 m long.
static void add_loop(tal_matter *matter)
{
    tal_mobod_def link = link_at(TAL_VEC3_ZERO);
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 3; ++i) {
        body = tal_matter_add_pin(matter, body, &link);
        link = link_at(tal_v3(0.0, -0.5, 0.0));
    }
    const tal_constraint_def tie = tal_constraint_between(TAL_GROUND, body);
    (void)tal_constraint_add_ball(matter, &tie, tal_v3(1.2, 0.0, 0.0), tal_v3(0.0, -0.5, 0.0));
}

static run begin(bool loop, const tal_integrator_def *def, const tal_executor *executor)
{
    run r = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(r.system);
    tal_forces *forces = tal_forces_create(r.system, matter);
    (void)tal_forces_add_gravity(forces, tal_v3(0.0, -9.81, 0.0));
    if (loop) {
        add_loop(matter);
    } else {
        add_balls(matter, forces);
    }
    tal_forces_use_threads(forces, executor, 4);
    need(tal_system_realize_topology(r.system, NULL), "topology");
    need(tal_state_create(r.system, &r.state, NULL), "state");
    need(tal_system_realize(r.system, r.state, TAL_STAGE_MODEL), "model");
    need(tal_integrator_create(r.system, def, &r.integ, NULL), "integrator");
    const double q[] = {0.3, 1.4, 1.5}, u[] = {1.0, 0.5, 3.0, -1.0, 0.3, 2.0};
    need(loop ? tal_state_set_q(r.state, q, 3) : tal_state_set_u(r.state, u, 6), "start");
    return r;
}

static void end(run *r)
{
    tal_integrator_destroy(r->integ);
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

// --- a run ---

// FNV-1a
static uint64_t hash_on(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ p[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t go(run *r, long steps, uint64_t hash)
{
    for (long i = 0; i < steps; ++i) {
        if (tal_integrator_step(r->integ, r->state, 1e9) != TAL_OK) {
            need(TAL_ERR_CALLBACK, tal_integrator_error(r->integ)->message);
        }
        const double t = tal_state_t(r->state);
        hash = hash_on(hash, &t, sizeof t);
        hash = hash_on(hash, tal_state_y(r->state), (size_t)tal_state_ny(r->state) * sizeof t);
    }
    return hash;
}

static void go_on_with_copy(run *r)
{
    tal_state *copy = NULL;
    need(tal_state_create(r->system, &copy, NULL), "another State");
    need(tal_state_copy(copy, r->state), "copy");
    tal_state_destroy(r->state);
    r->state = copy;
}

static void go_on_with_saved(run *r, run *other)
{
    const size_t state_size = tal_state_save_size(r->state);
    const size_t integ_size = tal_integrator_save_size(r->integ);
    void *state = malloc(state_size), *integ = malloc(integ_size);
    if (state == NULL || integ == NULL) need(TAL_ERR_NO_MEMORY, "saving");
    need(tal_state_save(r->state, state, state_size), "saving the State");
    need(tal_integrator_save(r->integ, integ, integ_size), "saving the integrator");
    need(tal_state_load(other->system, other->state, state, state_size), "loading the State");
    need(tal_integrator_restore(other->integ, other->state, integ, integ_size), "restoring");
    free(state);
    free(integ);
    end(r);
    *r = *other;
}

typedef struct choice {
    const char *name;
    bool loop;
    tal_integrator_def def;
} choice;

static void print_run(const choice *it, long steps, const char *way, const tal_executor *executor)
{
    run r = begin(it->loop, &it->def, executor);
    uint64_t hash = go(&r, steps / 2, UINT64_C(14695981039346656037));
    tal_integrator_checkpoint(r.integ);
    if (strcmp(way, "copied") == 0) go_on_with_copy(&r);
    if (strcmp(way, "resumed") == 0) {
        run other = begin(it->loop, &it->def, executor);
        go_on_with_saved(&r, &other);
    }
    hash = go(&r, steps - steps / 2, hash);
    (void)printf("%s of %s, %ld steps to t = %.17g: %016" PRIx64 "\n", it->name,
                 it->loop ? "loop" : "balls", steps, tal_state_t(r.state), hash);
    end(&r);
}

static tal_integrator_def with(tal_method method, const tal_rk_tableau *tableau)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.method = method;
    def.accuracy = 1e-6;
    if (tableau != NULL) def.tableau = tableau;
    return def;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const long steps = strtol(argv[1], NULL, 10);
    const long num_threads = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    tal_threads *threads = NULL;
    tal_executor executor = tal_executor_in_order();
    if (num_threads > 0) {
        need(tal_threads_create((int)num_threads, &threads, NULL), "threads");
        executor = tal_threads_executor(threads);
    }
    const choice choices[] = {
        {"Merson", false, with(TAL_METHOD_RUNGE_KUTTA, tal_rk_merson())},
        {"Dormand-Prince", true, with(TAL_METHOD_RUNGE_KUTTA, tal_rk_dormand_prince())},
        {"Verner", false, with(TAL_METHOD_RUNGE_KUTTA, tal_rk_verner_8())},
        {"Verlet", false, with(TAL_METHOD_VERLET, NULL)},
        {"semi-explicit Euler", true, with(TAL_METHOD_SEMI_EXPLICIT_EULER, NULL)},
        {"BDF", false, with(TAL_METHOD_CVODE_BDF, NULL)},
        {"BDF", true, with(TAL_METHOD_CVODE_BDF, NULL)},
        {"IDA", true, with(TAL_METHOD_IDA, NULL)},
        {"ARKODE explicit", false, with(TAL_METHOD_ARKODE_EXPLICIT, NULL)},
        {"ARKODE implicit", true, with(TAL_METHOD_ARKODE_DIRK, NULL)},
    };
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; ++k) {
        print_run(&choices[k], steps, argv[2], &executor);
    }
    tal_threads_destroy(threads);
    return 0;
}
