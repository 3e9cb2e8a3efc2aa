// A beam that bends, as rigid segments with springs between them: its frequencies, its sag under a
// load, and the circle that a moment bends it into. doc/howto/flexible.md explains it.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    SEGMENTS = 20
};

static const double LENGTH = 2.0;        // m
static const double MASS_PER_LENGTH = 3; // kg/m
static const double STIFFNESS = 150.0;   // E I [N m^2]

typedef struct beam {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_body_ix tip;
} beam;

// A segment bends at its ends: the spring between two of them stands for half of each, the one at
// the wall for half of the first.
static beam build(void)
{
    beam b = {.system = tal_system_create(NULL)};
    b.matter = tal_matter_create(b.system);
    b.forces = tal_forces_create(b.system, b.matter);
    const double h = LENGTH / SEGMENTS;
    tal_mobod_def segment = tal_mobod_def_default();
    segment.mass = tal_mass_props_rod(MASS_PER_LENGTH * h, tal_v3(0.5 * h, 0.0, 0.0));
    segment.X_BM = tal_xf_from_p(tal_v3(-0.5 * h, 0.0, 0.0)); // B in the middle, M at the left end
    b.tip = TAL_GROUND;
    for (int i = 0; i < SEGMENTS; ++i) {
        segment.X_PF = tal_xf_from_p(tal_v3(i == 0 ? 0.0 : 0.5 * h, 0.0, 0.0));
        b.tip = tal_matter_add_pin(b.matter, b.tip, &segment);
        const double k = STIFFNESS / (i == 0 ? 0.5 * h : h);
        tal_forces_add_mobility_spring(b.forces, NULL, (tal_mobility){b.tip, 0}, k, 0.0);
    }
    return b;
}

static tal_status start(beam *b, tal_error *err)
{
    const tal_status st = tal_system_realize_topology(b->system, err);
    return st == TAL_OK ? tal_state_create(b->system, &b->state, err) : st;
}

static void finish(beam *b)
{
    tal_state_destroy(b->state);
    tal_system_destroy(b->system);
}

// omega = (beta L)^2 sqrt(E I / (mass per length L^4)), with cos(beta L) cosh(beta L) = -1.
static tal_status show_frequencies(tal_error *err)
{
    static const double beta_L[] = {1.8751040687119611, 4.694091132974175, 7.854757438237613};
    beam b = build();
    tal_linearizer *lin = NULL;
    tal_status st = start(&b, err);
    if (st == TAL_OK) st = tal_linearizer_create(b.system, NULL, &lin, err);
    if (st == TAL_OK) st = tal_linearizer_run(lin, b.state);
    if (st == TAL_OK) st = tal_linearizer_find_modes(lin);
    for (int i = 0; i < 3 && st == TAL_OK; ++i) {
        const double known =
            beta_L[i] * beta_L[i] * sqrt(STIFFNESS / (MASS_PER_LENGTH * pow(LENGTH, 4.0)));
        const double found = tal_linearizer_mode(lin, 2 * i).im;
        printf("mode %d: %8.3f rad/s, the beam %8.3f: %+.2f %%\n", i + 1, found, known,
               100.0 * (found / known - 1.0));
    }
    tal_linearizer_destroy(lin);
    finish(&b);
    return st;
}

// Under a small load at its tip the beam sags by P L^3 / 3 E I.
static tal_status show_sag(tal_error *err)
{
    const double load = 0.1; // N
    const tal_vec3 end = {0.5 * LENGTH / SEGMENTS, 0.0, 0.0};
    beam b = build();
    tal_equilibrium *eq = NULL;
    tal_forces_add_constant_force(b.forces, "load", b.tip, end, tal_v3(0.0, -load, 0.0));
    tal_status st = start(&b, err);
    if (st == TAL_OK) st = tal_equilibrium_create(b.system, NULL, &eq, err);
    if (st == TAL_OK) st = tal_equilibrium_find(eq, b.state, NULL);
    if (st == TAL_OK) {
        const double known = load * pow(LENGTH, 3.0) / (3.0 * STIFFNESS);
        const double found = -tal_station_p_GS(b.matter, b.state, b.tip, end).y;
        printf("sag: %.4f mm, the beam %.4f: %+.2f %%\n", 1e3 * found, 1e3 * known,
               100.0 * (found / known - 1.0));
    }
    tal_equilibrium_destroy(eq);
    finish(&b);
    return st;
}

// A moment M bends it into a circle of radius E I / M: half a circle with M = pi E I / L.
static tal_status show_circle(tal_error *err)
{
    const double moment = TAL_PI * STIFFNESS / LENGTH;
    beam b = build();
    tal_equilibrium *eq = NULL;
    tal_forces_add_constant_torque(b.forces, "moment", b.tip, tal_v3(0.0, 0.0, moment));
    tal_status st = start(&b, err);
    if (st == TAL_OK) st = tal_equilibrium_create(b.system, NULL, &eq, err);
    if (st == TAL_OK) st = tal_equilibrium_find(eq, b.state, NULL);
    if (st == TAL_OK) {
        const tal_vec3 end = {0.5 * LENGTH / SEGMENTS, 0.0, 0.0};
        const tal_vec3 p = tal_station_p_GS(b.matter, b.state, b.tip, end);
        printf("tip at %.3f m over the wall, of a half circle %.3f\n", p.y, 2.0 * LENGTH / TAL_PI);
    }
    tal_equilibrium_destroy(eq);
    finish(&b);
    return st;
}

int main(void)
{
    tal_error err = {TAL_OK, "", ""};
    tal_status st = show_frequencies(&err);
    if (st == TAL_OK) st = show_sag(&err);
    if (st == TAL_OK) st = show_circle(&err);
    if (st != TAL_OK) puts(err.message);
    return st == TAL_OK ? 0 : 1;
}
