// Forces of a model: uniform gravity, what acts along mobilities, what acts between two points.
#include "error_internal.h"
#include "force_facts_internal.h"

#include "generate/generate_internal.h"

#define add tali_generate_add
#define sub tali_generate_sub
#define mul tali_generate_mul

typedef tali_generate_v3 v3;

// Where forces are put while they are recorded.
typedef struct acting {
    const tali_generate_record *it;
    tali_generate_loads *loads;
    tali_generate_pose *poses; ///< [num_links]
} acting;

// A kind of element that can be generated.
typedef struct kind {
    const char *name;
    void (*record)(const acting *at, tal_force_ix force, const tali_force_facts *facts);
} kind;

static double param(const acting *at, tal_force_ix force, int i)
{
    return tal_force_param(at->it->forces, at->it->tree->state, force, i);
}

static int constant(const acting *at, double value)
{
    return tali_graph_constant(at->it->g, value);
}

static void push(const acting *at, int slot, int force)
{
    int *const along = &at->loads->along[slot];
    *along = add(at->it->g, *along, force);
}

static int speed_slot(const acting *at, tal_mobility mobility)
{
    return tal_body_u_start(at->it->tree->matter, mobility.body) + mobility.i;
}

// ---- along mobilities ---------------------------------------------------------------------------

static void mobility_force(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    push(at, speed_slot(at, facts->mobility), constant(at, param(at, force, 0)));
}

static void damp(const acting *at, int slot, double damping)
{
    push(at, slot, mul(at->it->g, constant(at, -damping), at->it->u[slot]));
}

static void mobility_damper(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    damp(at, speed_slot(at, facts->mobility), param(at, force, 0));
}

static void global_damper(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    (void)facts;
    for (int k = 0; k < at->it->tree->nu; ++k) {
        damp(at, k, param(at, force, 0));
    }
}

// Which coordinate, numbered as with angles, and which speed it is the integral of.
static void spring_slots(const tal_matter *matter, const tal_state *state, tal_mobility mobility,
                         int *q, int *u)
{
    const bool has_quaternion =
        tal_body_nq(matter, state, mobility.body) != tal_body_nq_angles(matter, mobility.body);
    *q = tal_body_q_start(matter, state, mobility.body) + mobility.i + (has_quaternion ? 1 : 0);
    *u = tal_body_u_start(matter, mobility.body) + mobility.i;
}

static void mobility_spring(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    tali_graph *const g = at->it->g;
    int q = 0, u = 0;
    spring_slots(at->it->tree->matter, at->it->tree->state, facts->mobility, &q, &u);
    const int stretch =
        sub(g, at->it->q[q], constant(at, param(at, force, TAL_MOBILITY_SPRING_REST)));
    const double k = param(at, force, TAL_MOBILITY_SPRING_STIFFNESS);
    push(at, u, mul(g, constant(at, -k), stretch));
}

// ---- in space -----------------------------------------------------------------------------------

static v3 place_of(const acting *at, tal_body_ix body, tal_vec3 p_BS)
{
    tali_graph *const g = at->it->g;
    const tali_generate_tree *const tree = at->it->tree;
    const v3 p = tali_generate_constant_v3(g, tal_xf_apply(tree->X_LB[body.i], p_BS));
    const int link = tree->link_of[body.i];
    if (link < 0) return p;
    const tali_generate_pose *const pose = &at->poses[link];
    return tali_generate_add_v3(g, pose->p, tali_generate_mul_m3(g, &pose->R, p));
}

// A force in Ground at a station.
static void pull(const acting *at, tal_body_ix body, tal_vec3 p_BS, v3 f_G)
{
    tali_graph *const g = at->it->g;
    const tali_generate_tree *const tree = at->it->tree;
    const int link = tree->link_of[body.i];
    if (link < 0) return;
    const v3 f = tali_generate_tmul_m3(g, &at->poses[link].R, f_G);
    const v3 p = tali_generate_constant_v3(g, tal_xf_apply(tree->X_LB[body.i], p_BS));
    v3 *const n = &at->loads->n[link], *const sum = &at->loads->f[link];
    *n = tali_generate_add_v3(g, *n, tali_generate_cross(g, p, f));
    *sum = tali_generate_add_v3(g, *sum, f);
}

// The speed of a station in Ground, from the Jacobian: it is as many columns as speeds.
static v3 velocity_of(const acting *at, tal_body_ix body, tal_vec3 p_BS)
{
    tali_generate_record own = *at->it;
    const size_t bytes = (size_t)own.tree->nu * 6 * sizeof(int);
    int *const J = tali_alloc(&own.allocator, bytes);
    v3 v = TALI_GENERATE_ZERO_V3;
    if (J == NULL) {
        own.g->no_memory = true;
        return v;
    }
    tali_generate_jacobian(&own, body.i, p_BS, J);
    if (own.no_memory) own.g->no_memory = true;
    for (int k = 0; k < 3 * own.tree->nu; ++k) {
        const int column = k / 3, row = k % 3;
        v.at[row] = tali_generate_fma(own.g, v.at[row], J[6 * column + 3 + row], own.u[column]);
    }
    tali_free(&own.allocator, J, bytes);
    return v;
}

// The line between two stations: its direction and its length.
typedef struct line {
    tal_vec3 p_B[2];
    v3 d;
    int length;
} line;

static line line_of(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    tali_graph *const g = at->it->g;
    line it;
    for (int i = 0; i < 2; ++i) {
        it.p_B[i] = tal_v3(param(at, force, 3 * i), param(at, force, 3 * i + 1),
                           param(at, force, 3 * i + 2));
    }
    const v3 p = tali_generate_sub_v3(g, place_of(at, facts->bodies[1], it.p_B[1]),
                                      place_of(at, facts->bodies[0], it.p_B[0]));
    it.length = tali_graph_make(g, TALI_GRAPH_SQRT, tali_generate_dot(g, p, p), 0);
    const int inverse = tali_generate_div(g, TALI_GRAPH_ONE, it.length);
    it.d = tali_generate_scale_v3(g, inverse, p);
    return it;
}

static void pull_together(const acting *at, const line *it, const tali_force_facts *facts,
                          int tension)
{
    tali_graph *const g = at->it->g;
    const v3 f = tali_generate_scale_v3(g, tension, it->d);
    pull(at, facts->bodies[0], it->p_B[0], f);
    pull(at, facts->bodies[1], it->p_B[1], tali_generate_sub_v3(g, TALI_GENERATE_ZERO_V3, f));
}

static void two_point_spring(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    const line it = line_of(at, force, facts);
    const int rest = constant(at, param(at, force, TAL_SPRING_REST_LENGTH));
    const int k = constant(at, param(at, force, TAL_SPRING_STIFFNESS));
    pull_together(at, &it, facts, mul(at->it->g, k, sub(at->it->g, it.length, rest)));
}

static void two_point_damper(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    tali_graph *const g = at->it->g;
    const line it = line_of(at, force, facts);
    const v3 v = tali_generate_sub_v3(g, velocity_of(at, facts->bodies[1], it.p_B[1]),
                                      velocity_of(at, facts->bodies[0], it.p_B[0]));
    const int c = constant(at, param(at, force, TAL_DAMPER_DAMPING));
    pull_together(at, &it, facts, mul(g, c, tali_generate_dot(g, it.d, v)));
}

static void two_point_force(const acting *at, tal_force_ix force, const tali_force_facts *facts)
{
    const line it = line_of(at, force, facts);
    pull_together(at, &it, facts, constant(at, -param(at, force, TAL_TWO_POINT_FORCE)));
}

// ---- all ----------------------------------------------------------------------------------------

static const kind kinds[] = {
    {"mobility force", mobility_force},     {"mobility damper", mobility_damper},
    {"global damper", global_damper},       {"mobility spring", mobility_spring},
    {"two-point spring", two_point_spring}, {"two-point damper", two_point_damper},
    {"two-point force", two_point_force}};

static const kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    }
    return NULL;
}

static bool is_gravity(const tal_forces *forces, tal_force_ix force)
{
    return strcmp(tal_force_kind(forces, force), "gravity") == 0;
}

// A spring on an angle of a ball: its speeds are no rates of its angles.
static bool acts_on_rates(const tal_forces *forces, const tali_force_facts *facts,
                          tal_force_ix force)
{
    if (strcmp(tal_force_kind(forces, force), "mobility spring") != 0) return false;
    const tal_matter *const matter = tal_forces_matter(forces);
    return !tal_body_qdot_is_u(matter, facts->mobility.body) && facts->mobility.i < 3;
}

tal_status tali_generate_check_forces(const tal_forces *forces, const tal_state *state,
                                      tal_error *err)
{
    for (int i = 0; i < tal_forces_num(forces); ++i) {
        const tal_force_ix force = {i};
        tali_force_facts facts = {0};
        if (!tal_force_is_enabled(forces, state, force) || is_gravity(forces, force)) continue;
        const bool is_known = find_kind(tal_force_kind(forces, force)) != NULL &&
                              tali_force_facts_of(forces, force, &facts);
        if (is_known && !acts_on_rates(forces, &facts, force)) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "%s '%s' cannot be generated%s: disable it, and add its force to the "
                         "argument f.",
                         tal_force_kind(forces, force), tal_force_name(forces, force),
                         is_known ? ", because it acts on an angle of a ball" : "");
    }
    return TAL_OK;
}

// Gravity is an acceleration of the base; bodies that do not feel it are pulled the other way.
static void record_gravity(const acting *at, tal_force_ix gravity)
{
    const tali_generate_tree *const tree = at->it->tree;
    const tal_vec3 g = tal_gravity_g(at->it->forces, tree->state, gravity);
    at->loads->g = tal_v3_add(at->loads->g, g);
    for (int b = 1; b < tree->num_bodies; ++b) {
        const tal_body_ix body = {b};
        if (!tal_gravity_is_excluded(at->it->forces, tree->state, gravity, body)) continue;
        const tal_mass_props mass = tal_body_mass_props(tree->matter, tree->state, body);
        const tal_vec3 f = tal_v3_scale(-mass.mass, g);
        pull(at, body, mass.com, tali_generate_constant_v3(at->it->g, f));
    }
}

void tali_generate_forces(tali_generate_record *it, tali_generate_loads *loads)
{
    if (it->forces == NULL) return;
    const size_t bytes = (size_t)it->tree->num_links * sizeof(tali_generate_pose);
    acting at = {.it = it, .loads = loads, .poses = tali_alloc(&it->allocator, bytes)};
    if (at.poses == NULL) {
        it->no_memory = true;
        return;
    }
    tali_generate_poses(it, at.poses);
    for (int i = 0; i < tal_forces_num(it->forces); ++i) {
        const tal_force_ix force = {i};
        tali_force_facts facts = {0};
        if (!tal_force_is_enabled(it->forces, it->tree->state, force)) continue;
        if (is_gravity(it->forces, force)) {
            record_gravity(&at, force);
        } else if (tali_force_facts_of(it->forces, force, &facts)) {
            find_kind(tal_force_kind(it->forces, force))->record(&at, force, &facts);
        }
    }
    tali_free(&it->allocator, at.poses, bytes);
}
