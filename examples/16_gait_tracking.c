// Motion capture: a walking figure is followed through 200 frames of markers with noise, some of
// them lost now and then. The markers are made from a known motion, so that the answer can be
// judged.
//
//     Ground --free--> pelvis --ball--> thigh --pin--> shank --pin--> foot      left and right
//                      pelvis --ball--> trunk
//
// Run it:  build/dev/examples/16_gait_tracking        Expected output: 16_gait_tracking.out
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIDES = 2,
    BODIES = 8, // pelvis, trunk, and three of each leg
    MARKERS = 3 * BODIES,
    FRAMES = 200,
    MAX_NQ = 64
};

typedef struct figure {
    tal_system *system;
    tal_matter *matter;
    tal_body_ix pelvis, trunk, thigh[SIDES], shank[SIDES], foot[SIDES];
    tal_marker markers[MARKERS];
} figure;

static tal_body_ix add(figure *it, const char *name, tal_body_ix parent, tal_vec3 at, char joint)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = name;
    def.mass = tal_mass_props_point(5.0, tal_v3(0.0, -0.2, 0.0));
    def.X_PF = tal_xf_from_p(at);
    if (joint == 'f') return tal_matter_add_free(it->matter, parent, &def);
    if (joint == 'b') return tal_matter_add_ball(it->matter, parent, &def);
    return tal_matter_add_pin(it->matter, parent, &def);
}

static void build(figure *it)
{
    static const char *const names[SIDES][3] = {{"left thigh", "left shank", "left foot"},
                                                {"right thigh", "right shank", "right foot"}};
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->pelvis = add(it, "pelvis", TAL_GROUND, tal_v3(0.0, 0.0, 0.0), 'f');
    it->trunk = add(it, "trunk", it->pelvis, tal_v3(0.0, 0.1, 0.0), 'b');
    for (int s = 0; s < SIDES; ++s) {
        const double z = s == 0 ? -0.1 : 0.1;
        it->thigh[s] = add(it, names[s][0], it->pelvis, tal_v3(0.0, -0.05, z), 'b');
        it->shank[s] = add(it, names[s][1], it->thigh[s], tal_v3(0.0, -0.42, 0.0), 'p');
        it->foot[s] = add(it, names[s][2], it->shank[s], tal_v3(0.0, -0.42, 0.0), 'p');
    }
    for (int k = 0; k < MARKERS; ++k) {
        static const tal_vec3 stations[] = {
            {0.08, 0.0, 0.02}, {-0.05, -0.2, 0.06}, {0.02, -0.3, -0.07}};
        it->markers[k] = (tal_marker){NULL, {1 + k / 3}, stations[k % 3], 1.0};
    }
}

// Where the figure is at time t: one step per second, 1.2 m long.
static void pose(const figure *it, tal_state *state, double t)
{
    const double phase = 2.0 * TAL_PI * t;
    const tal_xform X = tal_xf(tal_rotation_about(TAL_AXIS_Y, 0.05 * sin(phase)),
                               tal_v3(1.2 * t, 0.95 + 0.02 * cos(2.0 * phase), 0.0));
    tal_body_fit_q(it->matter, state, it->pelvis, &X);
    for (int s = 0; s < SIDES; ++s) {
        const double leg = phase + (s == 0 ? 0.0 : TAL_PI);
        const tal_mat3 hip = tal_rotation_about(TAL_AXIS_Z, 0.1 + 0.4 * sin(leg));
        tal_body_fit_rotation(it->matter, state, it->thigh[s], &hip);
        tal_body_set_q(it->matter, state, it->shank[s], 0, -0.4 + 0.35 * cos(leg));
        tal_body_set_q(it->matter, state, it->foot[s], 0, 0.2 * sin(leg + 1.0));
    }
}

// Markers to the nearest millimeter or so; the k-th is lost in some frames.
static tal_status film(const figure *it, tal_state *state, tal_vec3 points[])
{
    tal_random random = {2024, 0, 0};
    tal_status st = TAL_OK;
    for (int f = 0; f < FRAMES && st == TAL_OK; ++f) {
        pose(it, state, 0.01 * f);
        st = tal_system_realize(it->system, state, TAL_STAGE_POSITION);
        for (int k = 0; k < MARKERS && st == TAL_OK; ++k) {
            tal_vec3 p =
                tal_station_p_GS(it->matter, state, it->markers[k].body, it->markers[k].p_BS);
            p.x += tal_random_range(&random, -0.001, 0.001);
            p.y += tal_random_range(&random, -0.001, 0.001);
            p.z += tal_random_range(&random, -0.001, 0.001);
            if ((f + 7 * k) % 31 == 0) p.x = (double)NAN;
            points[f * MARKERS + k] = p;
        }
    }
    return st;
}

int main(void)
{
    static tal_vec3 points[FRAMES * MARKERS];
    static double q[FRAMES * MAX_NQ];
    static tal_fit fits[FRAMES];
    figure it;
    build(&it);
    tal_tracker_def def = tal_tracker_def_default();
    def.assembler.markers = it.markers;
    def.assembler.num_markers = MARKERS;

    tal_error err = {TAL_OK, "", ""};
    tal_state *state = NULL, *start = NULL;
    tal_tracker *tracker = NULL;
    tal_status st = tal_system_realize_topology(it.system, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &state, &err);
    if (st == TAL_OK) st = tal_state_create(it.system, &start, &err);
    if (st == TAL_OK) st = tal_tracker_create(it.system, &def, &tracker, &err);
    if (st == TAL_OK) st = film(&it, state, points);

    // From the reference pose at the origin: nothing is known of where the figure is.
    const tal_frames frames = {FRAMES, NULL, points, NULL, NULL};
    if (st == TAL_OK) st = tal_tracker_run(tracker, start, &frames, q, fits);

    (void)printf("frame   knee true   knee found   marker rms [mm]\n");
    const int nq = st == TAL_OK ? tal_state_nq(start) : 0;
    for (int f = 0; f < FRAMES && st == TAL_OK; f += 25) {
        pose(&it, state, 0.01 * f);
        const int slot = tal_body_q_start(it.matter, start, it.shank[0]);
        (void)printf("%5d %11.4f %12.4f %14.2f\n", f, tal_body_q(it.matter, state, it.shank[0], 0),
                     q[f * nq + slot], 1e3 * fits[f].marker_rms);
    }
    if (st != TAL_OK) {
        (void)fprintf(stderr, "%s\n", tracker ? tal_tracker_error(tracker)->message : err.message);
    }
    tal_tracker_destroy(tracker);
    tal_state_destroy(start);
    tal_state_destroy(state);
    tal_system_destroy(it.system);
    return st == TAL_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
