// Twenty dominoes in a row: one push, and each knocks over the next.
//
// A domino counts as fallen when it has turned by a tenth of a quarter turn. The wave soon runs at
// a steady speed, which is printed to the digits that the length of a step allows.
//
// Run it:  build/dev/examples/30_dominoes        Expected output: 30_dominoes.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DOMINOES = 20
};

static const double thick = 0.008, wide = 0.024, high = 0.048, pitch = 0.024;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

static void add_collider(tal_matter *matter, tal_body_ix body, tal_shape shape, tal_mat3 R)
{
    tal_collider_def def = tal_collider_def_default();
    def.body = body;
    def.shape = shape;
    def.X_BS.R = R;
    def.material.static_mu = def.material.sliding_mu = 0.3;
    (void)tal_matter_add_collider(matter, &def);
}

static void add_row(tal_matter *matter)
{
    const tal_vec3 half = tal_v3(0.5 * thick, 0.5 * wide, 0.5 * high);
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(0.01, half);
    for (int i = 0; i < DOMINOES; ++i) {
        const tal_body_ix domino = tal_matter_add_free(matter, TAL_GROUND, &body);
        const double q[7] = {1.0, 0.0, 0.0, 0.0, pitch * i, 0.0, 0.5 * high};
        (void)tal_body_set_initial_q(matter, domino, q, 7);
        add_collider(matter, domino, tal_shape_brick(half, 0.0), TAL_MAT3_IDENTITY);
    }
}

// Angle about y, from the upright.
static double lean(const tal_matter *matter, const tal_state *state, int i)
{
    const tal_mat3 R = tal_body_X_GB(matter, state, (tal_body_ix){i + 1}).R;
    return atan2(R.z.x, R.z.z);
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -9.81));
    add_collider(matter, TAL_GROUND, tal_shape_half_space(),
                 tal_rotation_about(TAL_AXIS_Y, 1.57079632679489661923)); // x down: z is out
    add_row(matter);

    tal_error err;
    tal_state *state = NULL;
    tal_contact_stepper *stepper = NULL;
    tal_contact_stepper_def def = tal_contact_stepper_def_default();
    def.step = 5e-4;
    require(tal_system_realize_topology(system, &err), err.message);
    require(tal_state_create(system, &state, &err), err.message);
    require(tal_contact_stepper_create(system, &def, &stepper, &err), err.message);
    // the push: it turns about its lower edge
    require(tal_body_set_u(matter, state, (tal_body_ix){1}, 1, 6.0), "the push");
    require(tal_body_set_u(matter, state, (tal_body_ix){1}, 3, 6.0 * 0.5 * high), "the push");

    double fell[DOMINOES] = {0.0};
    int fallen = 0;
    bool in_order = true;
    while (tal_state_t(state) < 1.5) {
        const tal_status st = tal_contact_stepper_step(stepper, state);
        require(st, tal_contact_stepper_error(stepper)->message);
        for (int i = 0; i < DOMINOES; ++i) {
            if (fell[i] > 0.0 || lean(matter, state, i) < 0.157) continue;
            in_order = in_order && fallen == i;
            fell[i] = tal_state_t(state);
            ++fallen;
        }
    }
    printf("%d of %d dominoes fell, %s\n", fallen, DOMINOES,
           in_order ? "one after the other" : "not in order");
    const double speed = 10.0 * pitch / (fell[15] - fell[5]);
    printf("the wave runs at %.1f m/s\n", speed);
    if (getenv("TALUS_EXAMPLE_NUMBERS") != NULL) printf("%g %g\n", speed, fell[19]);

    tal_contact_stepper_destroy(stepper);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return 0;
}
