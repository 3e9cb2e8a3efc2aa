// Moment arms over the range of a joint, as a plot in the terminal.
//
//     Ground --pin (elbow)--> forearm
//     triceps: behind the elbow, over a cylinder about its axis
//     biceps: in front, over an ellipsoid that is fixed to the upper arm
//
// The moment arm of a path is -dl/dq, positive where the path gets shorter as the angle grows: what
// one newton of tension is worth about the joint. On a cylinder about the joint's axis it is the
// radius (24 mm) as long as the path touches. The last line compares with the same differences of
// lengths.
//
// Run it:  build/dev/examples/27_moment_arms        Expected output: 27_moment_arms.out
// In a model file the same is `talus muscles MODEL --over elbow --plot arms.svg`.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct arm {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_body_ix forearm;
    tal_path_ix paths[2];
    tal_state *state;
} arm;

static void require(tal_status st, const char *why)
{
    if (st == TAL_OK) return;
    (void)fprintf(stderr, "%s: %s\n", tal_status_name(st), why);
    exit(EXIT_FAILURE);
}

// A path from the upper arm, which does not move, to the forearm, over an obstacle at the elbow.
static tal_path_ix add_path(arm *it, const char *name, tal_vec3 upper, tal_vec3 lower,
                            tal_wrap bone, tal_wrap_side side)
{
    bone.side = side;
    const tal_wrap_ix wrap =
        tal_forces_add_wrap(it->forces, name, TAL_GROUND, &TAL_XFORM_IDENTITY, &bone);
    const tal_path_ix path = tal_forces_add_path(it->forces, name);
    (void)tal_path_add_point(it->forces, path, TAL_GROUND, upper);
    (void)tal_path_add_point(it->forces, path, it->forearm, lower);
    (void)tal_path_add_wrap(it->forces, path, wrap, 0, -1);
    return path;
}

// x forward, y up along the upper arm, the elbow at the origin; at zero the arm hangs straight.
static void build(arm *it)
{
    tal_error err;
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    it->forces = tal_forces_create(it->system, it->matter);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = "forearm";
    def.mass = tal_mass_props_cylinder(1.5, 0.04, 0.14, TAL_AXIS_Y);
    it->forearm = tal_matter_add_pin(it->matter, TAL_GROUND, &def);
    it->paths[0] = add_path(it, "triceps", tal_v3(-0.03, 0.2, 0.0), tal_v3(-0.02, -0.02, 0.0),
                            tal_wrap_cylinder(0.024, INFINITY), TAL_WRAP_MINUS_X);
    it->paths[1] = add_path(it, "biceps", tal_v3(0.03, 0.25, 0.01), tal_v3(0.01, -0.06, 0.005),
                            tal_wrap_ellipsoid(tal_v3(0.02, 0.03, 0.04)), TAL_WRAP_ANY_SIDE);
    require(tal_system_realize_topology(it->system, &err), err.message);
    require(tal_state_create(it->system, &it->state, &err), err.message);
}

// --- asking ---

static void bend(const arm *it, double angle)
{
    (void)tal_body_set_q(it->matter, it->state, it->forearm, 0, angle);
    require(tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY),
            tal_state_error(it->state)->message);
}

// Of both paths about the elbow, the only speed there is.
static void find_arms(const arm *it, double arms[2], double work[], int iwork[])
{
    const tal_matrix R = tal_matrix_view(arms, 2, 1);
    require(tal_forces_calc_moment_arms(it->forces, it->state, R, work, iwork), "moment arms");
}

// -dl/dq by central differences, with an error of some 1e-8 m.
static double differ(const arm *it, tal_path_ix path, double angle)
{
    const double h = 1e-5;
    bend(it, angle + h);
    const double behind = tal_path_length(it->forces, it->state, path);
    bend(it, angle - h);
    return (tal_path_length(it->forces, it->state, path) - behind) / (2.0 * h);
}

// --- plotting ---

enum {
    ZERO = 15, // column of the arm 0
    COLUMNS = 48
};

// One line of the plot, two millimeters to a column.
static void plot_line(int degrees, const double arms[2])
{
    static const char mark[2] = {'t', 'b'};
    char line[COLUMNS + 1];
    int end = ZERO + 1;
    for (int c = 0; c < COLUMNS; ++c) {
        line[c] = c == ZERO ? '|' : ' ';
    }
    for (int k = 0; k < 2; ++k) {
        const int column = ZERO + (int)lround(1000.0 * arms[k] / 2.0);
        if (column < 0 || column >= COLUMNS) continue;
        line[column] = mark[k];
        if (column >= end) end = column + 1;
    }
    line[end] = '\0';
    printf("%4d  %7.2f  %7.2f  %s\n", degrees, 1000.0 * arms[0], 1000.0 * arms[1], line);
}

int main(void)
{
    arm it;
    build(&it);
    bend(&it, 0.0);
    double *work =
        calloc(tal_forces_moment_arms_work_size(it.forces, it.state) + 1, sizeof(double));
    int *iwork = calloc(tal_forces_moment_arms_iwork_size(it.forces, it.state) + 1, sizeof(int));
    if (work == NULL || iwork == NULL) require(TAL_ERR_NO_MEMORY, "room for moment arms");
    double worst = 0.0;
    printf("elbow  triceps  biceps [mm]\n");
    for (int degrees = 0; degrees <= 130; degrees += 10) {
        const double angle = degrees * TAL_PI / 180.0;
        double arms[2];
        bend(&it, angle);
        find_arms(&it, arms, work, iwork);
        plot_line(degrees, arms);
        for (int k = 0; k < 2; ++k) {
            worst = fmax(worst, fabs(arms[k] - differ(&it, it.paths[k], angle)));
        }
    }
    printf("the same by differences of lengths, within 1e-7 m: %s\n", worst < 1e-7 ? "yes" : "no");
    free(work);
    free(iwork);
    tal_state_destroy(it.state);
    tal_system_destroy(it.system);
    return EXIT_SUCCESS;
}
