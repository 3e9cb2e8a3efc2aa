// A subsystem of your own: a damped oscillator, stepped by hand.
//
//     m xddot + c xdot + k x = 0,    m = 1,  c = 0.2,  and k a parameter that lives in the State
//
// It owns two z variables (x and xdot), a discrete parameter (k), and a lazy cache entry (energy).
// Nothing here is mechanics: this is what every subsystem, Talus's own included, is made of.
//
// Run it:  ./run demo        Expected output: 01_subsystem.out
#include <talus/state.h>

#include <stdio.h>
#include <stdlib.h>

// What never varies lives in `self`: here, the indices of what was declared, and two constants.
typedef struct oscillator {
    double mass, damping;
    tal_group_ix motion; // z = {x, xdot}
    tal_var_ix stiffness;
    tal_cache_ix energy;
} oscillator;

// x and xdot of one oscillator.
static const double *motion_of(const oscillator *self, const tal_system *system,
                               const tal_state *state)
{
    return tal_state_z(state) + tal_group_start(system, state, self->motion);
}

static tal_status calc_energy(const void *context, const tal_system *system, tal_state *state,
                              void *value)
{
    const oscillator *self = context;
    const double *z = motion_of(self, system, state);
    const double k = tal_var_double(system, state, self->stiffness);
    *(double *)value = 0.5 * self->mass * z[1] * z[1] + 0.5 * k * z[0] * z[0];
    return TAL_OK;
}

static tal_status realize_topology(void *context, tal_system *system, tal_subsystem_ix me)
{
    oscillator *self = context;
    const double start[] = {1.0, 0.0}; // m, m/s
    tal_group_def motion = tal_group_def_default();
    motion.name = "motion";
    motion.capacity = 2;
    motion.initial = start;
    self->motion = tal_system_add_group(system, me, &motion);

    const double k = 4.0; // N/m
    tal_var_def stiffness = tal_var_def_default();
    stiffness.name = "stiffness";
    stiffness.size = sizeof k;
    stiffness.initial = &k;
    stiffness.invalidates = TAL_STAGE_DYNAMICS; // a new k leaves time alone
    self->stiffness = tal_system_add_var(system, me, &stiffness);

    // energy needs z and k, and nothing else: it survives a change of time
    const tal_prereq needs[] = {{TAL_PREREQ_Z, 0}, tal_prereq_var(self->stiffness)};
    tal_cache_def energy = tal_cache_def_default();
    energy.name = "energy";
    energy.size = sizeof(double);
    energy.calc = calc_energy;
    energy.prereqs = needs;
    energy.num_prereqs = 2;
    self->energy = tal_system_add_cache(system, me, &energy);
    return TAL_OK;
}

static tal_status realize_acceleration(const void *context, const tal_system *system,
                                       tal_state *state)
{
    const oscillator *self = context;
    const double *z = motion_of(self, system, state);
    const double k = tal_var_double(system, state, self->stiffness);
    double *zdot = tal_group_upd_dot(system, state, self->motion);
    zdot[0] = z[1];
    zdot[1] = -(self->damping * z[1] + k * z[0]) / self->mass;
    return TAL_OK;
}

static const tal_subsystem_ops oscillator_ops = {
    .size = sizeof oscillator_ops,
    .name = "oscillator",
    .realize_topology = realize_topology,
    .realize_acceleration = realize_acceleration,
};

// One step of Heun's method: the average of the slopes at both ends.
static tal_status step(const tal_system *system, tal_state *state, double h)
{
    double z[2], slope[2];
    tal_status st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;
    for (int i = 0; i < 2; ++i) {
        z[i] = tal_state_z(state)[i];
        slope[i] = tal_state_zdot(state)[i];
    }

    const double euler[] = {z[0] + h * slope[0], z[1] + h * slope[1]};
    tal_state_set_t(state, tal_state_t(state) + h);
    tal_state_set_z(state, euler, 2);
    st = tal_system_realize(system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return st;

    const double *end = tal_state_zdot(state);
    const double heun[] = {z[0] + 0.5 * h * (slope[0] + end[0]),
                           z[1] + 0.5 * h * (slope[1] + end[1])};
    return tal_state_set_z(state, heun, 2);
}

int main(void)
{
    // 1. Build. A mistake would be remembered, and returned by realize_topology.
    oscillator self = {.mass = 1.0, .damping = 0.2};
    tal_system *system = tal_system_create(NULL);
    tal_system_add_subsystem(system, "spring", &oscillator_ops, &self);

    // 2. Freeze the System, and take the memory of one State.
    tal_error err;
    tal_state *state = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), err.message);
        tal_system_destroy(system);
        return EXIT_FAILURE;
    }

    // 3. Step. Half way, the spring turns four times as stiff: only a variable changes.
    (void)printf("     t          x       xdot     energy\n");
    for (int i = 0; i <= 1000 && st == TAL_OK; ++i) {
        if (i == 500) tal_var_set_double(system, state, self.stiffness, 16.0);
        if (i % 100 == 0) {
            const double *z = tal_state_z(state);
            const double energy = tal_cache_realize_double(system, state, self.energy);
            (void)printf("%6.2f %10.6f %10.6f %10.6f\n", tal_state_t(state), z[0], z[1], energy);
        }
        st = step(system, state, 0.01);
    }
    if (st != TAL_OK) (void)fprintf(stderr, "%s\n", tal_state_error(state)->message);

    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
