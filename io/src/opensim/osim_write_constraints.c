// Constraints as elements of .osim files.
#include "function_facts_internal.h"
#include "matter_facts_internal.h"

#include "opensim/osim_internal.h"
#include "opensim/osim_write_internal.h"

#include <stdio.h>
#include <string.h>

// What a constraint was made from.
typedef struct source {
    const char *name;
    tali_matter_constraint_facts facts;
    const double *p; // parameters
} source;

// --- couplers ---

// A coupler solved for one of its coordinates: q = scale f(arguments).
typedef struct coupling {
    const tal_function *function; // NULL: linear, with `slopes` and `offset`
    double scale;
    int dependent;
    int args[TAL_FUNCTION_MAX_ARGS], num_args;
    double slopes[TAL_FUNCTION_MAX_ARGS + 1]; // and the offset behind them
} coupling;

// sum of c_i q_i + b = 0, solved for the last coordinate that counts
static bool solve_linear(const tali_function_facts *f, coupling *it)
{
    int k = f->count - 1;
    while (k >= 0 && f->list[k] == 0.0) {
        --k;
    }
    if (k < 0 || f->count < 2) return false;
    it->dependent = k;
    for (int i = 0; i < f->count; ++i) {
        if (i == k) continue;
        it->slopes[it->num_args] = -f->list[i] / f->list[k];
        it->args[it->num_args++] = i;
    }
    it->slopes[it->num_args] = -f->numbers[0] / f->list[k];
    return true;
}

// -q_k alone; -1: it is something else
static int negated(const tali_function_facts *f)
{
    int k = -1;
    if (strcmp(f->kind, "linear function") != 0 || f->numbers[0] != 0.0) return -1;
    for (int i = 0; i < f->count; ++i) {
        if (f->list[i] == 0.0) continue;
        if (f->list[i] != -1.0 || k >= 0) return -1;
        k = i;
    }
    return k;
}

// q_k alone; -1: it is something else
static int picked(const tal_function *f)
{
    tali_function_facts facts;
    int k = -1;
    if (!tali_function_facts_of(f, &facts) || strcmp(facts.kind, "linear function") != 0) return -1;
    if (facts.numbers[0] != 0.0) return -1;
    for (int i = 0; i < facts.count; ++i) {
        if (facts.list[i] == 0.0) continue;
        if (facts.list[i] != 1.0 || k >= 0) return -1;
        k = i;
    }
    return k;
}

// f(q_i, q_j, ...), or a multiple of it
static bool unfold(const tal_function *f, coupling *it)
{
    tali_function_facts facts, outer;
    it->scale = 1.0;
    while (tali_function_facts_of(f, &facts) && strcmp(facts.kind, "composition") == 0) {
        bool all = true;
        it->num_args = facts.num_parts - 1;
        for (int i = 0; i < it->num_args; ++i) {
            it->args[i] = picked(facts.parts[i + 1]);
            all = all && it->args[i] >= 0;
        }
        it->function = facts.parts[0];
        if (all) return true;
        if (it->num_args != 1 || !tali_function_facts_of(facts.parts[0], &outer)) return false;
        if (strcmp(outer.kind, "linear function") != 0 || outer.numbers[0] != 0.0) return false;
        it->scale *= outer.list[0];
        f = facts.parts[1];
    }
    return false;
}

static bool solve(const tal_function *f, coupling *it)
{
    tali_function_facts facts, parts[2];
    *it = (coupling){.scale = 1.0};
    if (!tali_function_facts_of(f, &facts)) return false;
    if (strcmp(facts.kind, "linear function") == 0) return solve_linear(&facts, it);
    if (strcmp(facts.kind, "sum") != 0 || facts.num_parts != 2) return false;
    for (int i = 0; i < 2; ++i) {
        if (!tali_function_facts_of(facts.parts[i], &parts[i])) return false;
    }
    for (int i = 0; i < 2; ++i) {
        const int k = negated(&parts[i]);
        if (k < 0 || !unfold(facts.parts[1 - i], it)) continue;
        it->dependent = k;
        return true;
    }
    return false;
}

// The function, its coordinates, and the one that it gives.
static void write_coupler(tali_osim_writer *w, const source *s)
{
    coupling it;
    if (!solve(s->facts.function, &it)) {
        tali_osim_refuse(w,
                         "constraint '%s' gives none of its coordinates as a function of the "
                         "others, and cannot be said in an .osim file",
                         s->name);
        return;
    }
    char list[TAL_CONSTRAINT_MOBILITIES * TALI_OSIM_NAME] = "", name[TALI_OSIM_NAME];
    for (int i = 0; i < it.num_args; ++i) {
        const int k = it.args[i];
        tali_osim_coordinate_name(
            w, (tal_mobility){{s->facts.mobility_bodies[k]}, s->facts.mobility_index[k]}, name);
        (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? " " : "",
                       name);
    }
    if (it.function != NULL) {
        tali_osim_put_function(w, it.function, "coupled_coordinates_function", s->name);
    } else {
        tali_osim_open_tag(w, "LinearFunction", "coupled_coordinates_function");
        tali_osim_put_numbers(w, "coefficients", it.slopes, it.num_args + 1);
        tali_osim_close_tag(w, "LinearFunction");
    }
    tali_osim_put_text(w, "independent_coordinate_names", list);
    const int k = it.dependent;
    tali_osim_coordinate_name(
        w, (tal_mobility){{s->facts.mobility_bodies[k]}, s->facts.mobility_index[k]}, name);
    tali_osim_put_text(w, "dependent_coordinate_name", name);
    tali_osim_put_number(w, "scale_factor", it.scale);
}

// --- points and frames ---

static tal_vec3 vec3_at(const double p[])
{
    return tal_v3(p[0], p[1], p[2]);
}

// Rotation by columns, then the origin.
static tal_xform xform_at(const double p[])
{
    return (tal_xform){{vec3_at(p), vec3_at(p + 3), vec3_at(p + 6)}, vec3_at(p + 9)};
}

static void write_weld(tali_osim_writer *w, const source *s)
{
    static const char *const names[] = {"frame_1", "frame_2"};
    tali_osim_put_text(w, "socket_frame1", names[0]);
    tali_osim_put_text(w, "socket_frame2", names[1]);
    tali_osim_open_tag(w, "frames", NULL);
    for (int i = 0; i < 2; ++i) {
        tali_osim_open_tag(w, "PhysicalOffsetFrame", names[i]);
        tali_osim_put_body(w, "socket_parent", s->facts.bodies[i]);
        tali_osim_put_frame(w, "orientation", "translation", xform_at(s->p + (ptrdiff_t)12 * i));
        tali_osim_close_tag(w, "PhysicalOffsetFrame");
    }
    tali_osim_close_tag(w, "frames");
}

static void write_points(tali_osim_writer *w, const source *s)
{
    tali_osim_put_body(w, "socket_body_1", s->facts.bodies[0]);
    tali_osim_put_body(w, "socket_body_2", s->facts.bodies[1]);
    tali_osim_put_vec3(w, "location_body_1", vec3_at(s->p));
    tali_osim_put_vec3(w, "location_body_2", vec3_at(s->p + 3));
}

static void write_distance(tali_osim_writer *w, const source *s)
{
    write_points(w, s);
    tali_osim_put_number(w, "constant_distance", s->p[6]);
}

static void write_line(tali_osim_writer *w, const source *s)
{
    tali_osim_put_body(w, "socket_line_body", s->facts.bodies[0]);
    tali_osim_put_body(w, "socket_follower_body", s->facts.bodies[1]);
    tali_osim_put_vec3(w, "line_direction_vec", vec3_at(s->p));
    tali_osim_put_vec3(w, "point_on_line", vec3_at(s->p + 3));
    tali_osim_put_vec3(w, "point_on_follower", vec3_at(s->p + 6));
}

// --- rolling ---

static bool is_vec3(const double p[], tal_vec3 v)
{
    return p[0] == v.x && p[1] == v.y && p[2] == v.z;
}

// Whether one of the four constraints of rolling has the geometry that it is given.
static bool is_rolling_part(int k, const double p[])
{
    const tal_vec3 origin = TAL_VEC3_ZERO, x = {1.0, 0.0, 0.0}, z = {0.0, 0.0, 1.0};
    if (k == TALI_OSIM_ROLLING_HEIGHT) return is_vec3(p + TAL_POINT_IN_PLANE_STATION, origin);
    if (k == TALI_OSIM_ROLLING_SPIN) return is_vec3(p, x) && is_vec3(p + 3, z);
    return is_vec3(p + TAL_NO_SLIP_1D_POINT, origin) &&
           is_vec3(p + TAL_NO_SLIP_1D_DIRECTION, k == TALI_OSIM_ROLLING_SLIP_X ? x : z);
}

// Whether these four constraints are what a RollingOnSurfaceConstraint becomes: kinds, bodies, and
// geometry apart from the plane.
static bool is_rolling(const tali_osim_writer *w, int first)
{
    static const char *const kinds[] = {"point in plane", "constant angle", "no slip 1D",
                                        "no slip 1D"};
    const tal_matter *matter = w->model->matter;
    const tal_state *state = w->model->state;
    const tal_constraint_ix plane = {first};
    if (first + TALI_OSIM_ROLLING_NUM > tal_matter_num_constraints(matter)) return false;
    const int *bodies = tali_matter_constraint_facts_of(matter, plane).bodies;
    bool good = true;
    for (int k = 0; k < TALI_OSIM_ROLLING_NUM && good; ++k) {
        const tal_constraint_ix part = {first + k};
        const tali_matter_constraint_facts facts = tali_matter_constraint_facts_of(matter, part);
        const bool slides = k >= TALI_OSIM_ROLLING_SLIP_X;
        int n;
        good = facts.kind != NULL && strcmp(facts.kind, kinds[k]) == 0 &&
               facts.bodies[0] == bodies[0] && facts.bodies[slides ? 2 : 1] == bodies[1] &&
               (!slides || facts.bodies[1] == bodies[0]) &&
               is_rolling_part(k, tal_constraint_params(matter, state, part, &n)) &&
               tal_constraint_is_enabled(matter, state, part) ==
                   tal_constraint_is_enabled(matter, state, plane);
    }
    return good;
}

static void write_rolling(tali_osim_writer *w, const source *s)
{
    tali_osim_put_body(w, "socket_surface_body", s->facts.bodies[0]);
    tali_osim_put_body(w, "socket_rolling_body", s->facts.bodies[1]);
    tali_osim_put_vec3(w, "surface_normal", vec3_at(s->p + TAL_POINT_IN_PLANE_NORMAL));
    tali_osim_put_number(w, "surface_height", s->p[TAL_POINT_IN_PLANE_HEIGHT]);
}

// --- the table ---

static const struct {
    const char *kind, *tag;
    void (*write)(tali_osim_writer *w, const source *s);
} rows[] = {{"coordinate coupler", "CoordinateCouplerConstraint", write_coupler},
            {"weld", "WeldConstraint", write_weld},
            {"ball", "PointConstraint", write_points},
            {"rod", "ConstantDistanceConstraint", write_distance},
            {"point on line", "PointOnLineConstraint", write_line},
            {"point in plane", "RollingOnSurfaceConstraint", write_rolling}};

enum {
    NUM_ROWS = sizeof rows / sizeof *rows
};

// A constraint of any kind that the table has; others are refused. How many it stands for.
static int write_constraint(tali_osim_writer *w, tal_constraint_ix constraint)
{
    const tal_matter *matter = w->model->matter;
    int n, row = 0;
    const source s = {tal_constraint_name(matter, constraint),
                      tali_matter_constraint_facts_of(matter, constraint),
                      tal_constraint_params(matter, w->model->state, constraint, &n)};
    while (row < NUM_ROWS && (s.facts.kind == NULL || strcmp(rows[row].kind, s.facts.kind) != 0)) {
        ++row;
    }
    const bool one_of_four = row < NUM_ROWS && rows[row].write == write_rolling;
    if (row == NUM_ROWS || (one_of_four && !is_rolling(w, constraint.i))) {
        tali_osim_refuse(w,
                         "constraint '%s' is of kind '%s', which cannot be said in an .osim "
                         "file",
                         s.name, s.facts.kind != NULL ? s.facts.kind : s.facts.ops->name);
        return 1;
    }
    tali_osim_open_tag(w, rows[row].tag, s.name);
    tali_osim_put_bool(w, "isEnforced",
                       tal_constraint_is_enabled(matter, w->model->state, constraint));
    rows[row].write(w, &s);
    tali_osim_close_tag(w, rows[row].tag);
    return one_of_four ? TALI_OSIM_ROLLING_NUM : 1;
}

void tali_osim_write_constraints(tali_osim_writer *w)
{
    tali_osim_open_tag(w, "ConstraintSet", "constraintset");
    tali_osim_open_tag(w, "objects", NULL);
    for (int i = 0, n = 1; i < tal_matter_num_constraints(w->model->matter); i += n) {
        const tal_constraint_ix constraint = {i};
        const bool is_own = tal_constraint_unilateral(w->model->matter, constraint).i < 0;
        n = is_own ? write_constraint(w, constraint) : 1;
    }
    tali_osim_close_tag(w, "objects");
    tali_osim_close_tag(w, "ConstraintSet");
}
