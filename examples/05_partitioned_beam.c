// A flexible body as a chain of rigid pieces: a cantilever of spring steel vibrates.
//
//     wall |--k--[====]--k--[====]--k-- ... --[====]        pins about z, bending stiffness between
//
// A beam of length L, bending stiffness EI and mass mu per length is cut into n rigid pieces of
// length l. Between the middles of two pieces lies a length l of beam, which bends like a spring of
// stiffness EI / l; between the wall and the middle of the first piece half of that, 2 EI / l. The
// springs are one force element, whose EI lives in the State.
//
// Released in its first mode, the beam of Euler and Bernoulli swings back and forth with
//
//     omega = beta^2 sqrt(EI / mu),   cos(beta L) cosh(beta L) = -1,   beta L = 1.8751...
//
// so that its tip is at 0 after a quarter of a period T, at -1 after half, and back at 1 after T,
// in units of where it started. More pieces come closer.
//
// Run it:  build/dev/examples/05_partitioned_beam        Expected output: 05_partitioned_beam.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LENGTH = 1.0;              // m
static const double EI = 4.0;                  // N m^2: steel, 30 mm x 2 mm
static const double MU = 0.468;                // kg/m
static const double BETA = 1.8751040687119611; // 1/m
static const double TIP = 0.01;                // m, where the tip starts

// --- the force element: bending stiffness of all joints ---

typedef struct bending {
    int num_pieces;
    double EI;        // initial value
    tal_var_ix EI_ix; // in the State
} bending;

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    bending *it = self;
    tal_var_def def = tal_var_def_default();
    def.name = "EI";
    def.size = sizeof it->EI;
    def.initial = &it->EI;
    def.invalidates = TAL_STAGE_DYNAMICS; // kinematics does not depend on it
    it->EI_ix = tal_force_add_var(forces, me, &def);
    return TAL_OK;
}

// Stiffness of the joint at the inner end of piece i = 1 ... n.
static double stiffness(const bending *it, const tal_force_context *context, int i)
{
    const double now = tal_var_double(context->system, context->state, it->EI_ix);
    return (i == 1 ? 2.0 : 1.0) * now * it->num_pieces / LENGTH;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)F;
    const bending *it = self;
    for (int i = 1; i <= it->num_pieces; ++i) {
        const tal_body_ix piece = {i};
        const double angle = tal_body_q(context->matter, context->state, piece, 0);
        f[tal_body_u_start(context->matter, piece)] -= stiffness(it, context, i) * angle;
    }
    return TAL_OK;
}

static tal_status calc_energy(const void *self, const tal_force_context *context, double *energy)
{
    const bending *it = self;
    for (int i = 1; i <= it->num_pieces; ++i) {
        const tal_body_ix piece = {i};
        const double angle = tal_body_q(context->matter, context->state, piece, 0);
        *energy += 0.5 * stiffness(it, context, i) * angle * angle;
    }
    return TAL_OK;
}

static const tal_force_ops bending_ops = {
    .size = sizeof bending_ops,
    .name = "bending",
    .apply = apply,
    .declare = declare,
    .calc_potential_energy = calc_energy,
};

// --- the beam ---

// Slope of the first mode, scaled so that the tip's deflection is TIP.
static double mode_slope(double x)
{
    const double s = (sinh(BETA) - sin(BETA)) / (cosh(BETA) + cos(BETA));
    const double tip = cosh(BETA) - cos(BETA) - s * (sinh(BETA) - sin(BETA));
    return TIP * BETA / tip *
           (sinh(BETA * x) + sin(BETA * x) - s * (cosh(BETA * x) - cos(BETA * x)));
}

static void build(tal_matter *matter, int n)
{
    const double half = 0.5 * LENGTH / n;
    tal_mobod_def piece = tal_mobod_def_default();
    piece.mass = tal_mass_props_rod(MU * 2.0 * half, tal_v3(half, 0.0, 0.0));
    piece.X_BM = tal_xf_from_p(tal_v3(-half, 0.0, 0.0));
    tal_body_ix parent = TAL_GROUND;
    for (int i = 0; i < n; ++i) {
        piece.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : half, 0.0, 0.0));
        parent = tal_matter_add_pin(matter, parent, &piece);
    }
}

static void bend(const tal_matter *matter, tal_state *state, int n)
{
    double before = 0.0;
    for (int i = 1; i <= n; ++i) {
        const tal_body_ix piece = {i};
        const double angle = mode_slope(LENGTH * (i - 0.5) / n);
        tal_body_set_q(matter, state, piece, 0, angle - before);
        before = angle;
    }
}

// One line of the table: the tip after a quarter, a half and a whole period.
static tal_status vibrate(const tal_system *system, const tal_matter *matter, tal_state *state,
                          tal_integrator *integ, int n)
{
    const double period = 2.0 * TAL_PI / (BETA * BETA * sqrt(EI / MU));
    const tal_body_ix last = {n};
    const tal_vec3 p_BS = tal_v3(0.5 * LENGTH / n, 0.0, 0.0);
    bend(matter, state, n);
    tal_status st = tal_integrator_step_to(integ, state, 0.0);
    if (st != TAL_OK) return st;
    const double start = tal_station_p_GS(matter, state, last, p_BS).y;
    const double energy = tal_system_energy(system, state);

    const double parts[] = {0.25, 0.5, 1.0};
    (void)printf("%6d", n);
    for (int k = 0; k < 3 && st == TAL_OK; ++k) {
        st = tal_integrator_step_to(integ, state, parts[k] * period);
        if (st == TAL_OK) {
            (void)printf(" %10.4f", tal_station_p_GS(matter, state, last, p_BS).y / start);
        }
    }
    if (st == TAL_OK) {
        (void)printf(" %14.1e\n", energy);
        const double drift = fabs(tal_system_energy(system, state) - energy);
        if (drift > 1e-6 * energy) (void)printf("the energy drifted by %g J\n", drift);
    }
    return st;
}

static tal_status run(int n)
{
    bending springs = {.num_pieces = n, .EI = EI};
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    build(matter, n);
    tal_forces_add(forces, "beam", &bending_ops, &springs);

    tal_state *state = NULL;
    tal_integrator *integ = NULL;
    tal_integrator_def def = tal_integrator_def_default();
    def.accuracy = 1e-9;
    tal_error err = {TAL_OK, "", ""};
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_integrator_create(system, &def, &integ, &err);
    if (st == TAL_OK) st = vibrate(system, matter, state, integ, n);
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", integ ? tal_integrator_error(integ)->message : err.message);
    }
    tal_integrator_destroy(integ);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st;
}

int main(void)
{
    (void)printf("pieces        T/4        T/2          T     energy [J]\n");
    tal_status st = TAL_OK;
    for (int n = 2; n <= 16 && st == TAL_OK; n *= 2) {
        st = run(n);
    }
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
