// An arm reaches for targets: some within reach, one beyond, with joints that have ranges.
//
//     Ground --ball--> upper arm --pin--> forearm --pin--> hand      the elbow bends one way only
//
// Run it:  build/dev/examples/15_reach        Expected output: 15_reach.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static tal_body_ix add_link(tal_matter *matter, const char *name, tal_body_ix parent, double at,
                            double length)
{
    tal_mobod_def link = tal_mobod_def_default();
    link.name = name;
    link.mass = tal_mass_props_point(1.0, tal_v3(0.5 * length, 0.0, 0.0));
    link.X_PF = tal_xf_from_p(tal_v3(at, 0.0, 0.0));
    return parent.i == 0 ? tal_matter_add_ball(matter, parent, &link)
                         : tal_matter_add_pin(matter, parent, &link);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    const tal_body_ix upper = add_link(matter, "upper arm", TAL_GROUND, 0.0, 0.30);
    const tal_body_ix fore = add_link(matter, "forearm", upper, 0.30, 0.25);
    const tal_body_ix hand = add_link(matter, "hand", fore, 0.25, 0.10);
    tal_body_limit_coordinate(matter, fore, 0, 0.0, 2.6);
    tal_body_limit_coordinate(matter, hand, 0, -0.5, 0.5);

    // The fingertip is to be where the target is; staying close to the start decides the rest.
    const tal_marker fingertip = {"fingertip", hand, {0.10, 0.0, 0.0}, 1.0};
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = &fingertip;
    def.num_markers = 1;
    def.stay_close = 1e-6;

    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL;
    tal_assembler *assembler = NULL;
    tal_status st = tal_system_realize_topology(system, &err);
    if (st == TAL_OK) st = tal_state_create(system, &state, &err);
    if (st == TAL_OK) st = tal_assembler_create(system, &def, &assembler, &err);
    if (st == TAL_OK) tal_body_set_q(matter, state, fore, 0, 0.3);

    const tal_vec3 targets[] = {
        {0.4, 0.3, 0.1}, {0.2, -0.2, 0.3}, {0.05, 0.1, 0.25}, {0.9, 0.3, 0.0}};
    (void)printf("     target               elbow     wrist      off by\n");
    for (int k = 0; k < 4 && st == TAL_OK; ++k) {
        tal_assembly found;
        st = tal_assembler_observe(assembler, &targets[k], NULL);
        if (st == TAL_OK) st = tal_assembler_assemble(assembler, state, &found);
        if (st != TAL_OK) break;
        (void)printf("%6.2f %6.2f %6.2f %9.4f %9.4f %11.5f\n", targets[k].x, targets[k].y,
                     targets[k].z, tal_body_q(matter, state, fore, 0),
                     tal_body_q(matter, state, hand, 0), found.marker_max);
    }
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n",
                      assembler ? tal_assembler_error(assembler)->message : err.message);
    }
    tal_assembler_destroy(assembler);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
