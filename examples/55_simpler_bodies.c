// An arm of three rods, and one of three points that moves the same.
//
// What a pin does not feel of a body may as well belong to the body before it. So a rod on a pin is
// a point at its center of percussion, and the rest sits at the pin, on the next body; the last
// rest is Ground's, where nothing moves it. tal_matter_simplify_inertias() does this for any tree,
// and compares the motion before and after.
//
// Run it:  build/dev/examples/55_simpler_bodies        Expected output: 55_simpler_bodies.out
#include <talus/matter.h>

#include <stdio.h>

enum {
    RODS = 3
};

static const double MASS[RODS] = {3.0, 2.0, 1.0}, LENGTH[RODS] = {1.0, 0.8, 0.6};

static void add_rods(tal_matter *matter)
{
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < RODS; ++i) {
        const double m = MASS[i], L = LENGTH[i], J = m * L * L / 3.0;
        tal_mobod_def rod = tal_mobod_def_default();
        rod.mass = (tal_mass_props){m, {0.5 * L, 0.0, 0.0}, tal_s3_diag(0.0, J, J)};
        if (i > 0) rod.X_PF.p = tal_v3(LENGTH[i - 1], 0.0, 0.0);
        last = tal_matter_add_pin(matter, last, &rod);
    }
}

static void print_bodies(const char *what, const tal_matter *matter, const tal_state *state)
{
    printf("%s:\n", what);
    for (int b = 1; b <= RODS; ++b) {
        const tal_mass_props m = tal_body_mass_props(matter, state, (tal_body_ix){b});
        printf("  %.6f kg at %.6f m, %s\n", m.mass, m.com.x,
               tal_mass_props_rank(&m) == 1 ? "a point" : "a rod");
    }
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_state *state = NULL;
    tal_error err;
    tal_simplification found;
    add_rods(matter);
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_INSTANCE);
    if (st == TAL_OK) {
        print_bodies("before", matter, state);
        st = tal_matter_simplify_inertias(matter, state, NULL, &found);
    }
    if (st == TAL_OK) {
        print_bodies("after", matter, state);
        printf("to Ground: %.6f kg\n", found.mass_to_ground);
        printf("moves the same: %s\n", found.error < 1e-12 ? "yes" : "no");
    }
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? 0 : 1;
}
