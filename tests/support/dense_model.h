// Random mechanisms for dense_oracle.h, and Systems made of them: trees of all built-in mobilizers,
// either way round, with masses that differ by up to 1e8, closed by random constraints, some of
// them written twice, with prescribed motions, locks and rotors.
#ifndef TALUS_DENSE_MODEL_H
#define TALUS_DENSE_MODEL_H

#include "dense_oracle.h"
#include "talus_test.h"

typedef struct model {
    dense_mechanism m;
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_spatial_vec F[DENSE_BODIES]; // applied, about Bo
    double f[DENSE_SPEEDS];
    bool is_alike; // no mass is much larger than another
} model;

static inline int pick(test_rng *rng, int n)
{
    return (int)(test_random_bits(rng) % (uint64_t)n);
}

static inline bool chance(test_rng *rng, double share)
{
    return test_random_uniform(rng, 0.0, 1.0) < share;
}

// --- bodies ---

static inline tal_function_based *functions_of(const dense_body *b)
{
    tal_function_based_def def = tal_function_based_def_default();
    const double cubic[] = {0.1, -0.2, 0.3, 1.0}, slope[] = {0.4, -0.7};
    tal_function *bend = NULL, *wave = NULL, *plane = NULL;
    tal_function_based *it = NULL;
    ck_assert_int_eq(tal_function_create_polynomial(NULL, cubic, 4, &bend, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_sinusoid(NULL, 0.5, 1.3, 0.2, &wave, NULL), TAL_OK);
    ck_assert_int_eq(tal_function_create_linear(NULL, slope, 2, 0.1, &plane, NULL), TAL_OK);
    def.nq = 2;
    def.rotation[0] = (tal_mobilizer_function){bend, 1, {0}};
    def.rotation[1] = (tal_mobilizer_function){wave, 1, {1}};
    def.translation[0] = (tal_mobilizer_function){plane, 2, {0, 1}};
    def.translation[2] = (tal_mobilizer_function){wave, 1, {0}};
    def.translation_axis[0] = b->shift_axis;
    ck_assert_int_eq(tal_function_based_create(&def, NULL, &it, NULL), TAL_OK);
    return it;
}

static inline void choose_params(dense_body *b, test_rng *rng)
{
    const double upright[] = {0.2, -0.3, -1.0, 1.0, -1.0, 0.0};
    const double lying[] = {-0.1, 0.4, 1.0, -1.0, 1.0, 1.0};
    b->shift_axis = test_random_unit(rng);
    for (int i = 0; i < 6; ++i) {
        b->params[i] = test_random_uniform(rng, 0.3, 1.1);
    }
    if (b->kind == KIND_SPHERICAL) {
        memcpy(b->params, chance(rng, 0.5) ? upright : lying, sizeof upright);
    }
}

static inline void choose_mass(dense_body *b, test_rng *rng, double spread)
{
    const double scale = pow(10.0, test_random_uniform(rng, -spread, spread));
    tal_mass_props mass = test_random_mass_props(rng);
    if (b->kind == KIND_TRANSLATION && chance(rng, 0.5)) {
        b->def.structure = TAL_BODY_PARTICLE;
        mass.com = TAL_VEC3_ZERO;
        mass.inertia = tal_s3_diag(0.0, 0.0, 0.0);
    } else if ((b->kind == KIND_LINE || b->kind == KIND_FREE_LINE) && chance(rng, 0.5)) {
        b->def.structure = TAL_BODY_LINE;
        b->def.X_BM = TAL_XFORM_IDENTITY;
        mass = tal_mass_props_rod(1.0, tal_v3(0.0, 0.0, 0.7));
    }
    mass.mass *= scale;
    mass.inertia = tal_s3_scale(scale, mass.inertia);
    b->def.mass = mass;
}

typedef tal_body_ix (*add_fn)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);

static inline tal_body_ix add_body(tal_matter *matter, const dense_body *b)
{
    static const add_fn plain[NUM_DENSE_KINDS] = {[KIND_WELD] = tal_matter_add_weld,
                                                  [KIND_PIN] = tal_matter_add_pin,
                                                  [KIND_SLIDER] = tal_matter_add_slider,
                                                  [KIND_UNIVERSAL] = tal_matter_add_universal,
                                                  [KIND_CYLINDER] = tal_matter_add_cylinder,
                                                  [KIND_BEND_STRETCH] = tal_matter_add_bend_stretch,
                                                  [KIND_PLANAR] = tal_matter_add_planar,
                                                  [KIND_GIMBAL] = tal_matter_add_gimbal,
                                                  [KIND_BUSHING] = tal_matter_add_bushing,
                                                  [KIND_TRANSLATION] = tal_matter_add_translation,
                                                  [KIND_BALL] = tal_matter_add_ball,
                                                  [KIND_LINE] = tal_matter_add_line_orientation,
                                                  [KIND_FREE_LINE] = tal_matter_add_free_line,
                                                  [KIND_FREE] = tal_matter_add_free};
    const tal_body_ix parent = {b->parent};
    const double *const p = b->params;
    switch (b->kind) {
    case KIND_SCREW:
        return tal_matter_add_screw(matter, parent, &b->def, p[0]);
    case KIND_SPHERICAL:
        return tal_matter_add_spherical_coords(matter, parent, &b->def, p);
    case KIND_ELLIPSOID:
        return tal_matter_add_ellipsoid(matter, parent, &b->def, tal_v3(p[0], p[1], p[2]));
    case KIND_CANTILEVER:
        return tal_matter_add_cantilever(matter, parent, &b->def, p[0]);
    case KIND_FUNCTIONS:
        return tal_matter_add_function_based(matter, parent, &b->def, functions_of(b));
    default:
        return plain[b->kind](matter, parent, &b->def);
    }
}

static inline void add_motion(model *it, int body, test_rng *rng)
{
    dense_body *const b = &it->m.body[body];
    if (b->nu == 0 || !chance(rng, 0.15)) return;
    tal_motion_def def = tal_motion_def_default();
    def.body.i = body;
    def.level = (tal_level)(1 + pick(rng, b->kind < KIND_BALL ? 3 : 2));
    b->known = def.level;
    b->wave[0] = 0.5, b->wave[1] = 1.3, b->wave[2] = test_random_uniform(rng, -1.0, 1.0);
    (void)tal_matter_add_motion_sinusoid(it->matter, &def, b->wave[0], b->wave[1], b->wave[2]);
}

static inline void add_bodies(model *it, test_rng *rng)
{
    dense_mechanism *const m = &it->m;
    it->is_alike = chance(rng, 0.5);
    const double spread = it->is_alike ? 0.0 : 4.0;
    const bool is_chain = chance(rng, 0.3);
    m->num_bodies = 2 + pick(rng, DENSE_BODIES - 1);
    for (int i = 1; i < m->num_bodies; ++i) {
        dense_body *const b = &m->body[i];
        b->kind = (dense_kind)pick(rng, NUM_DENSE_KINDS);
        b->parent = is_chain ? i - 1 : pick(rng, i);
        b->def = tal_mobod_def_default();
        b->def.X_PF = test_random_xform(rng);
        b->def.X_BM = test_random_xform(rng);
        b->def.use_angles = chance(rng, 0.5);
        choose_params(b, rng);
        choose_mass(b, rng, spread);
        // particles and lines are defined the usual way round
        const bool is_plain = b->def.structure == TAL_BODY_RIGID;
        b->def.direction = is_plain && chance(rng, 0.5) ? TAL_REVERSE : TAL_FORWARD;
        const tal_body_ix added = add_body(it->matter, b);
        ck_assert_msg(added.i == i, "%s", tal_system_error(it->system)->message);
        b->nu = tal_body_nu(it->matter, added);
        b->u0 = m->nu;
        m->nu += b->nu;
        add_motion(it, i, rng);
    }
}

// --- constraints ---

static inline tal_mobility any_mobility(const dense_mechanism *m, test_rng *rng)
{
    tal_mobility at = {{-1}, 0};
    for (int tries = 0; tries < 20; ++tries) {
        const int i = 1 + pick(rng, m->num_bodies - 1);
        if (m->body[i].nu == 0 || m->body[i].kind >= KIND_BALL) continue;
        at.body.i = i;
        at.i = pick(rng, m->body[i].nu);
        break;
    }
    return at;
}

static inline void count_rows(dense_item *c)
{
    static const int mp[NUM_ITEM_KINDS] = {
        [ITEM_ROD] = 1,         [ITEM_BALL] = 3,           [ITEM_WELD] = 6,
        [ITEM_ORIENTATION] = 3, [ITEM_ANGLE] = 1,          [ITEM_POINT_IN_PLANE] = 1,
        [ITEM_COORDINATE] = 1,  [ITEM_POINT_ON_LINE] = 2,  [ITEM_COUPLER] = 1,
        [ITEM_MOTION] = 1,      [ITEM_STICKING_POINT] = 1, [ITEM_SPHERE_ON_PLANE] = 1,
        [ITEM_LOOP_PIN] = 5,    [ITEM_LINE_ON_LINE] = 1,   [ITEM_SPHERE_ON_SPHERE] = 1,
        [ITEM_LOOP_SLIDER] = 5, [ITEM_LOOP_CYLINDER] = 4,  [ITEM_LOOP_UNIVERSAL] = 4,
        [ITEM_LOOP_PLANAR] = 3, [ITEM_LOOP_SCREW] = 5,     [ITEM_DISK_ON_PLANE] = 1};
    static const int mv[NUM_ITEM_KINDS] = {
        [ITEM_SPEED] = 1,          [ITEM_SPEED_COUPLER] = 1,   [ITEM_NO_SLIP] = 1,
        [ITEM_STICKING_POINT] = 2, [ITEM_SPHERE_ON_PLANE] = 2, [ITEM_SPHERE_ON_SPHERE] = 2,
        [ITEM_LINE_ON_LINE] = 2,   [ITEM_DISK_ON_PLANE] = 2};
    c->mp = mp[c->kind];
    c->mv = mv[c->kind];
    c->ma = c->kind == ITEM_ACCELERATION ? 1 : 0;
}

static inline dense_item choose_item(const dense_mechanism *m, test_rng *rng)
{
    dense_item c = {.kind = (dense_item_kind)pick(rng, NUM_ITEM_KINDS)};
    c.body[1] = 1 + pick(rng, m->num_bodies - 1);
    c.body[0] = (c.body[1] + 1 + pick(rng, m->num_bodies - 1)) % m->num_bodies;
    c.body[2] = c.body[1];
    if (c.kind == ITEM_NO_SLIP) c.body[2] = pick(rng, m->num_bodies);
    if (c.kind == ITEM_NO_SLIP && (c.body[2] == c.body[1] || c.body[2] == c.body[0])) {
        c.kind = ITEM_ROD;
        c.body[2] = c.body[1];
    }
    c.on = any_mobility(m, rng);
    c.too = any_mobility(m, rng);
    if (acts_on_mobilities(&c) && (c.on.body.i < 0 || speed_of(m, c.on) == speed_of(m, c.too))) {
        c.kind = ITEM_ROD;
    }
    c.a = test_random_vec3(rng), c.b = test_random_vec3(rng);
    c.X = test_random_xform(rng), c.Y = test_random_xform(rng);
    c.size = test_random_uniform(rng, 0.2, 1.2);
    count_rows(&c);
    return c;
}

static inline tal_function *function_of(const dense_item *c)
{
    tal_function *f = NULL;
    const double a[] = {0.7, -1.3, 0.4};
    tal_status st = TAL_OK;
    if (c->kind == ITEM_MOTION) {
        st = tal_function_create_sinusoid(NULL, 0.5, c->size, 0.3, &f, NULL);
    } else {
        st =
            tal_function_create_linear(NULL, a, c->kind == ITEM_COUPLER ? 2 : 3, c->size, &f, NULL);
    }
    ck_assert_int_eq(st, TAL_OK);
    return f;
}

static inline tal_constraint_ix add_on_mobilities(tal_matter *matter, const dense_item *c)
{
    tal_constraint_def def = tal_constraint_on(c->on.body, c->on.i);
    switch (c->kind) {
    case ITEM_COORDINATE:
        return tal_constraint_add_constant_coordinate(matter, &def, c->size);
    case ITEM_SPEED:
        return tal_constraint_add_constant_speed(matter, &def, c->size);
    case ITEM_ACCELERATION:
        return tal_constraint_add_constant_acceleration(matter, &def, c->size);
    case ITEM_MOTION:
        return tal_constraint_add_prescribed_motion(matter, &def, function_of(c));
    case ITEM_COUPLER:
        def.mobilities[1] = c->too;
        def.num_mobilities = 2;
        return tal_constraint_add_coordinate_coupler(matter, &def, function_of(c));
    default:
        def.mobilities[1] = c->too;
        def.mobilities[2] = c->on;
        def.num_mobilities = 3;
        return tal_constraint_add_speed_coupler(matter, &def, 2, function_of(c));
    }
}

static inline tal_constraint_ix add_item(tal_matter *matter, const dense_item *c)
{
    if (acts_on_mobilities(c)) return add_on_mobilities(matter, c);
    const tal_body_ix one = {c->body[0]}, two = {c->body[1]};
    tal_constraint_def def = tal_constraint_between(one, two);
    const tal_xform *const X = &c->X, *const Y = &c->Y;
    switch (c->kind) {
    case ITEM_ROD:
        return tal_constraint_add_rod(matter, &def, c->a, c->b, c->size);
    case ITEM_BALL:
        return tal_constraint_add_ball(matter, &def, c->a, c->b);
    case ITEM_WELD:
        return tal_constraint_add_weld(matter, &def, X, Y);
    case ITEM_ORIENTATION:
        return tal_constraint_add_constant_orientation(matter, &def, &X->R, &Y->R);
    case ITEM_ANGLE:
        return tal_constraint_add_constant_angle(matter, &def, c->a, c->b, c->size);
    case ITEM_POINT_IN_PLANE:
        return tal_constraint_add_point_in_plane(matter, &def, c->a, c->size, c->b);
    case ITEM_POINT_ON_LINE:
        return tal_constraint_add_point_on_line(matter, &def, c->a, X->p, c->b);
    case ITEM_NO_SLIP:
        def.bodies[2].i = c->body[2];
        return tal_constraint_add_no_slip_1d(matter, &def, c->a, c->b);
    case ITEM_STICKING_POINT:
        return tal_constraint_add_point_on_plane_contact(matter, &def, X, c->b);
    case ITEM_SPHERE_ON_PLANE:
        return tal_constraint_add_sphere_on_plane_contact(matter, &def, X, c->b, c->size, true);
    case ITEM_DISK_ON_PLANE:
        return tal_constraint_add_disk_on_plane_contact(matter, &def, X, c->b, Y->R.z, c->size,
                                                        true);
    case ITEM_SPHERE_ON_SPHERE:
        return tal_constraint_add_sphere_on_sphere_contact(matter, &def, c->a, c->size, c->b,
                                                           2.0 * c->size, true);
    case ITEM_LINE_ON_LINE:
        return tal_constraint_add_line_on_line_contact(matter, &def, X, Y, true);
    case ITEM_LOOP_PIN:
        return tal_constraint_add_loop_pin(matter, &def, X, Y);
    case ITEM_LOOP_SLIDER:
        return tal_constraint_add_loop_slider(matter, &def, X, Y);
    case ITEM_LOOP_CYLINDER:
        return tal_constraint_add_loop_cylinder(matter, &def, X, Y);
    case ITEM_LOOP_UNIVERSAL:
        return tal_constraint_add_loop_universal(matter, &def, X, Y);
    case ITEM_LOOP_PLANAR:
        return tal_constraint_add_loop_planar(matter, &def, X, Y);
    default:
        return tal_constraint_add_loop_screw(matter, &def, X, Y, c->size);
    }
}

// Up to four constraints, and some of them once more.
static inline void add_items(model *it, test_rng *rng)
{
    dense_mechanism *const m = &it->m;
    const int num = pick(rng, 5);
    for (int i = 0; i < num; ++i) {
        m->item[m->num_items++] = choose_item(m, rng);
    }
    for (int i = 0; i < num && chance(rng, 0.3); ++i) {
        m->item[m->num_items++] = m->item[i];
    }
    for (int i = 0; i < m->num_items; ++i) {
        const tal_constraint_ix c = add_item(it->matter, &m->item[i]);
        ck_assert_msg(c.i == i, "%s", tal_system_error(it->system)->message);
    }
}

// --- loads, making, freeing ---

static inline tal_status apply_loads(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const model *const it = self;
    const tal_applied_forces to = tal_matter_upd_forces(it->matter, state);
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const tal_mat3 R_GB = tal_body_X_GB(it->matter, state, (tal_body_ix){b}).R;
        const tal_vec3 p_MB = tal_v3_neg(tal_m3_mul_v3(R_GB, it->m.body[b].def.X_BM.p));
        to.F_GM[b] = tal_sv_add(to.F_GM[b], tal_sv_shift_force(it->F[b], p_MB));
    }
    for (int j = 0; j < it->m.nu; ++j) {
        to.f[j] += it->f[j];
    }
    return TAL_OK;
}

static const tal_subsystem_ops loads_ops = {
    .size = sizeof loads_ops, .name = "loads", .realize_dynamics = apply_loads};

static inline void shake(const model *it, test_rng *rng)
{
    double *const q = tal_state_upd_q(it->state), *const u = tal_state_upd_u(it->state);
    for (int i = 0; i < tal_state_nq(it->state); ++i) {
        q[i] = test_random_uniform(rng, -1.2, 1.2);
    }
    for (int j = 0; j < it->m.nu; ++j) {
        u[j] = test_random_uniform(rng, -2.0, 2.0);
    }
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const tal_body_ix ix = {b};
        if (it->m.body[b].kind < KIND_BALL || tal_body_uses_angles(it->matter, it->state, ix)) {
            continue;
        }
        const tal_quat e = test_random_quat(rng);
        const double length = test_random_uniform(rng, 0.5, 2.0);
        double *const to = q + tal_body_q_start(it->matter, it->state, ix);
        to[0] = length * e.w, to[1] = length * e.x, to[2] = length * e.y, to[3] = length * e.z;
    }
}

static inline void set_up_state(model *it, test_rng *rng)
{
    shake(it, rng);
    ck_assert_int_eq(tal_state_set_t(it->state, test_random_uniform(rng, -1.0, 1.0)), TAL_OK);
    for (int b = 1; b < it->m.num_bodies; ++b) {
        dense_body *const body = &it->m.body[b];
        const tal_body_ix ix = {b};
        if (body->nu == 1 && chance(rng, 0.3)) {
            body->rotor = test_random_uniform(rng, 0.0, 2.0);
            ck_assert_int_eq(tal_body_set_rotor_inertia(it->matter, it->state, ix, body->rotor),
                             TAL_OK);
        }
        if (body->nu > 0 && chance(rng, 0.1)) {
            body->known = (tal_level)(1 + pick(rng, 3));
            body->wave[0] = 0.0;
            ck_assert_int_eq(tal_body_lock(it->matter, it->state, ix, body->known), TAL_OK);
        }
    }
}

static inline void make_model(model *it, uint64_t seed)
{
    test_rng rng = test_rng_seed(seed);
    memset(it, 0, sizeof *it);
    it->system = tal_system_create(NULL);
    it->matter = tal_matter_create(it->system);
    add_bodies(it, &rng);
    add_items(it, &rng);
    (void)tal_system_add_subsystem(it->system, NULL, &loads_ops, it);
    for (int b = 1; b < it->m.num_bodies; ++b) {
        it->F[b] = test_random_spatial_vec(&rng);
    }
    for (int j = 0; j < it->m.nu; ++j) {
        it->f[j] = test_random_uniform(&rng, -1.0, 1.0);
    }
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(it->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(it->system, &it->state, &err) == TAL_OK, "%s", err.message);
    set_up_state(it, &rng);
}

static inline void free_model(model *it)
{
    tal_state_destroy(it->state);
    tal_system_destroy(it->system);
}

// --- States ---

static inline bool set_known(const model *it)
{
    return tal_system_realize(it->system, it->state, TAL_STAGE_TIME) == TAL_OK &&
           tal_system_prescribe_q(it->system, it->state, NULL) == TAL_OK &&
           tal_system_realize(it->system, it->state, TAL_STAGE_POSITION) == TAL_OK &&
           tal_system_prescribe_u(it->system, it->state, NULL) == TAL_OK &&
           tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY) == TAL_OK;
}

// To where the constraints are met; false where that is not found.
static inline bool assemble(const model *it)
{
    tal_project_options options = tal_project_options_default();
    options.max_iterations = 50;
    options.tolerance = 1e-13;
    tal_project_result result;
    return tal_system_project_q(it->system, it->state, &options, NULL, &result) == TAL_OK &&
           tal_system_realize(it->system, it->state, TAL_STAGE_POSITION) == TAL_OK &&
           tal_system_prescribe_u(it->system, it->state, NULL) == TAL_OK &&
           tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY) == TAL_OK &&
           tal_system_project_u(it->system, it->state, &options, NULL, &result) == TAL_OK &&
           tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY) == TAL_OK;
}

// --- what can be compared ---

// Accelerations that are known, from what is prescribed.
static inline void take_known(const model *it, real t, dense_oracle *o)
{
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const dense_body *const body = &it->m.body[b];
        const real a = (real)body->wave[0], w = (real)body->wave[1],
                   x = w * t + (real)body->wave[2];
        for (int k = body->u0; k < body->u0 + body->nu; ++k) {
            o->is_known[k] = body->known != TAL_LEVEL_FREE;
            o->udot[k] = 0.0L;
            if (body->known == TAL_LEVEL_POSITION) o->udot[k] = -a * w * w * sinl(x);
            if (body->known == TAL_LEVEL_VELOCITY) o->udot[k] = a * w * cosl(x);
            if (body->known == TAL_LEVEL_ACCELERATION) o->udot[k] = a * sinl(x);
        }
    }
}

static inline void take_loads(const model *it, dense_oracle *o)
{
    for (int b = 1; b < it->m.num_bodies; ++b) {
        const double F[] = {it->F[b].w.x, it->F[b].w.y, it->F[b].w.z,
                            it->F[b].v.x, it->F[b].v.y, it->F[b].v.z};
        for (int k = 0; k < 6; ++k) {
            o->F[b][k] = (real)F[k];
        }
    }
    for (int k = 0; k < it->m.nu; ++k) {
        o->f[k] = (real)it->f[k];
    }
}

// Where a rod has no length, edges are parallel, a disk lies flat or a screw stands across,
// derivatives grow without bound.
static inline bool is_regular(const dense_oracle *o, const dense_mechanism *m)
{
    for (int i = 0; i < m->num_items; ++i) {
        const dense_item *const c = &m->item[i];
        const jet_pose *const one = &o->X[c->body[0]], *const two = &o->X[c->body[1]];
        if (c->kind == ITEM_ROD || c->kind == ITEM_SPHERE_ON_SPHERE) {
            const jet3 a = jet_pose_apply(one, jet3_of(c->a)),
                       b = jet_pose_apply(two, jet3_of(c->b));
            if (jet3_norm(jet3_sub(b, a)).x < 0.1L) return false;
        }
        const jet3 x1 = jet_axis(one, c->X.R.x), z1 = jet_axis(one, c->X.R.z);
        const jet3 x2 = jet_axis(two, c->Y.R.x), z2 = jet_axis(two, c->Y.R.z);
        if (c->kind == ITEM_LINE_ON_LINE && fabsl(jet3_dot(x1, x2).x) > 0.9L) return false;
        if (c->kind == ITEM_DISK_ON_PLANE && fabsl(jet3_dot(z1, z2).x) > 0.9L) return false;
        if (c->kind == ITEM_LOOP_SCREW && fabsl(jet3_dot(z1, x2).x) > 0.9L) return false;
    }
    return true;
}

typedef enum verdict {
    AGREES,
    AGREES_IN_THE_MEAN, // rows contradict each other, as they may where they are not met
    // to a singular place, to a rank that could be one or the other, or without a mean: rows that
    // contradict each other are met in the units given only where these are not far apart
    TOO_CLOSE
} verdict;

// Talus takes rows for dependent up to a share of 1e-8 where q is not assembled (theory T-8).
static inline verdict look_at(const dense_oracle *o, const model *it)
{
    if (!is_regular(o, &it->m) || (o->m > 0 && o->smallest_pivot < 1e-6L)) return TOO_CLOSE;
    if (o->redundant == 0 || o->contradiction <= 1e-10L) return AGREES;
    return it->is_alike && o->rows_apart < 300.0L ? AGREES_IN_THE_MEAN : TOO_CLOSE;
}

#endif // TALUS_DENSE_MODEL_H
