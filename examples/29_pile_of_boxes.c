// Two hundred boxes fall into a heap: the contact stepper.
//
// Colliders say which solids there are; the stepper finds where they touch and solves all impulses
// of a step together. Where a box comes to lie depends on the last bit of every number, so what is
// printed is what does not: the heap comes to rest, the floor carries its weight, and nothing
// penetrates.
//
// Run it:  build/dev/examples/29_pile_of_boxes        Expected output: 29_pile_of_boxes.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BOXES = 200,
    ACROSS = 5
};

static const double side = 0.2, mass = 1.0, gravity = 9.81;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

static tal_collider_def solid(tal_body_ix body, tal_shape shape)
{
    tal_collider_def def = tal_collider_def_default();
    def.body = body;
    def.shape = shape;
    def.material.static_mu = def.material.sliding_mu = 0.6;
    return def;
}

// Layers of 5 x 5 boxes, each turned and moved a little.
static void add_boxes(tal_matter *matter)
{
    tal_mobod_def body = tal_mobod_def_default();
    body.mass = tal_mass_props_brick(mass, tal_v3(0.5 * side, 0.5 * side, 0.5 * side));
    for (int i = 0; i < BOXES; ++i) {
        const int layer = i / (ACROSS * ACROSS), x = i % ACROSS, y = i / ACROSS % ACROSS;
        const tal_body_ix box = tal_matter_add_free(matter, TAL_GROUND, &body);
        const double angle = 0.1 * (i % 7);
        const double q[7] = {cos(angle),
                             0.0,
                             0.0,
                             sin(angle),
                             0.3 * x + 0.05 * (layer % 3),
                             0.3 * y + 0.05 * (layer % 2),
                             0.15 + 0.3 * layer};
        (void)tal_body_set_initial_q(matter, box, q, 7);
        const tal_collider_def def =
            solid(box, tal_shape_brick(tal_v3(0.5 * side, 0.5 * side, 0.5 * side), 0.0));
        (void)tal_matter_add_collider(matter, &def);
    }
}

// What the floor, the first collider, pushes with, as a part of the weight of all.
static double weight_on_floor(const tal_contact_stepper *stepper, double h)
{
    double sum = 0.0;
    for (int i = 0; i < tal_contact_stepper_num_contacts(stepper); ++i) {
        const tal_step_contact it = tal_contact_stepper_contact(stepper, i);
        if (it.collider[0].i == 0) sum -= it.impulse_G.z; // on the floor
    }
    return sum / (h * BOXES * mass * gravity);
}

static double fastest(const tal_matter *matter, const tal_state *state)
{
    double most = 0.0;
    for (int b = 1; b <= BOXES; ++b) {
        for (int k = 3; k < 6; ++k) {
            most = fmax(most, fabs(tal_body_u(matter, state, (tal_body_ix){b}, k)));
        }
    }
    return most;
}

static const char *yes(bool it)
{
    return it ? "yes" : "no";
}

int main(void)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_forces *forces = tal_forces_create(system, matter);
    tal_forces_add_gravity(forces, tal_v3(0.0, 0.0, -gravity));
    tal_collider_def floor = solid(TAL_GROUND, tal_shape_half_space());
    floor.X_BS.R = tal_rotation_about(TAL_AXIS_Y, 1.57079632679489661923); // x down: z is out
    (void)tal_matter_add_collider(matter, &floor);
    add_boxes(matter);

    tal_error err;
    tal_state *state = NULL;
    tal_contact_stepper *stepper = NULL;
    tal_contact_stepper_def def = tal_contact_stepper_def_default();
    def.step = 0.01;
    def.tolerance = 1e-4;
    def.most_passes = 50;
    require(tal_system_realize_topology(system, &err), err.message);
    require(tal_state_create(system, &state, &err), err.message);
    require(tal_contact_stepper_create(system, &def, &stepper, &err), err.message);

    double deepest = 0.0, carried = 0.0, start = 0.0, last = 0.0;
    const int steps = 250, tail = 50;
    for (int i = 0; i < steps; ++i) {
        const tal_status st = tal_contact_stepper_step(stepper, state);
        require(st, tal_contact_stepper_error(stepper)->message);
        const tal_contact_step done = tal_contact_stepper_report(stepper);
        if (i == 0) start = done.energy;
        last = done.energy;
        deepest = fmax(deepest, done.penetration);
        if (i >= steps - tail) carried += weight_on_floor(stepper, def.step) / tail;
    }
    printf("%d boxes after %.1f s\n", BOXES, tal_state_t(state));
    printf("  at rest                       %s\n", yes(fastest(matter, state) < 0.05));
    printf("  more than 800 points touch    %s\n",
           yes(tal_contact_stepper_num_contacts(stepper) > 800));
    printf("  the floor carries all of them %s\n", yes(fabs(carried - 1.0) < 0.01));
    printf("  energy was lost               %s\n", yes(last < start));
    printf("  penetration below 5 mm        %s\n", yes(deepest < 5e-3));
    if (getenv("TALUS_EXAMPLE_NUMBERS") != NULL) {
        printf("%g %d %g %g %g %g\n", fastest(matter, state),
               tal_contact_stepper_num_contacts(stepper), carried, start, last, deepest);
    }

    tal_contact_stepper_destroy(stepper);
    tal_state_destroy(state);
    tal_system_destroy(system);
    return 0;
}
