// Natural coordinates: values, equations of motion, and the way back to a State.
//
//     quantity                           GJB               here
//     points and unit vectors            q                 x
//     velocity transformation            R, Sc             tal_natural_calc_R(), ..._acceleration()
//     constant mass matrix               M, eq. of 8.2.5   sum of J_ij B_ik B_jl over bodies
//
// with a_i = sum B_ik e_k the columns {x, y, z, origin} of a body's frame, and J the moments of its
// mass about Bo, {second moments, first; first, mass}.
#include "hash_internal.h"

#include "natural/natural_internal.h"

#include <talus/matter/prescribed.h>
#include <talus/matter/response.h>

#include <math.h>
#include <string.h>

// --- creation ---

static tal_status check_known(const tal_matter *matter, const tal_state *state, tal_error *err)
{
    if (tal_matter_num_free(matter, state) == tal_matter_nu(matter)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "natural coordinates do not cover locks and prescribed motion: unlock them, "
                     "or choose relative coordinates");
}

static tal_status take_room(tal_natural *it, tal_error *err)
{
    const size_t d = sizeof(double), nu = (size_t)it->nu, nx = 3 * (size_t)it->num_entities;
    const size_t bodies = (size_t)it->num_bodies;
    const tali_piece pieces[] = {
        {&it->V, bodies * sizeof *it->V},
        {&it->A, bodies * sizeof *it->A},
        {&it->X, bodies * sizeof *it->X},
        {&it->unit, nu * d},
        {&it->f, nu * d},
        {&it->R, nx * nu * d},
        {&it->gram, nu * nu * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
}

static tal_status create(tal_natural *it, const tal_state *state, tal_error *err)
{
    const tal_status st = check_known(it->matter, state, err);
    if (st != TAL_OK) return st;
    it->bodies = tali_alloc(&it->allocator, (size_t)it->num_bodies * sizeof *it->bodies);
    if (it->bodies == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
    }
    const tal_status built = tali_natural_build(it, state, err);
    return built == TAL_OK ? take_room(it, err) : built;
}

// Checks what it is given, then lays everything out.
tal_status tal_natural_create(const tal_matter *matter, const tal_state *state, tal_natural **out,
                              tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (matter == NULL || state == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "matter or the State is NULL");
    }
    if (tal_matter_nu(matter) < 0 || tal_state_stage(state) < TAL_STAGE_INSTANCE) {
        return TALI_FAIL(err, TAL_ERR_STAGE, "natural coordinates need a State at Instance");
    }
    const tal_system *system = tal_matter_system(matter);
    if (tal_state_structure_hash(state) != tal_system_structure_hash(system)) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "the State is of another System");
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_natural *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for natural coordinates");
    it->matter = matter;
    it->allocator = allocator;
    it->num_bodies = tal_matter_num_bodies(matter);
    it->nu = tal_matter_nu(matter);
    it->made_from = tali_natural_hash(it, state);
    const tal_status st = create(it, state, err);
    if (st != TAL_OK) {
        tal_natural_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_natural_destroy(tal_natural *natural)
{
    if (natural == NULL) return;
    const tal_allocator allocator = natural->allocator;
    tali_free(&allocator, natural->block, natural->block_bytes);
    tali_free(&allocator, natural->conditions,
              (size_t)natural->condition_room * sizeof *natural->conditions);
    tali_free(&allocator, natural->entities,
              (size_t)natural->entity_room * sizeof *natural->entities);
    tali_free(&allocator, natural->bodies, (size_t)natural->num_bodies * sizeof *natural->bodies);
    tali_free(&allocator, natural, sizeof *natural);
}

int tal_natural_nx(const tal_natural *natural)
{
    if (natural != NULL) return 3 * natural->num_entities;
    (void)TALI_BREACH(TAL_ERR_NULL, "the natural coordinates are NULL");
    return -1;
}

int tal_natural_nc(const tal_natural *natural)
{
    if (natural != NULL) return natural->num_conditions;
    (void)TALI_BREACH(TAL_ERR_NULL, "the natural coordinates are NULL");
    return -1;
}

uint64_t tali_natural_hash(const tal_natural *natural, const tal_state *state)
{
    const tal_matter *matter = natural->matter;
    uint64_t hash = TALI_HASH_SEED;
    for (int b = 1; b < natural->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props mass = tal_body_mass_props(matter, state, body);
        const tal_xform X_PF = tal_body_X_PF(matter, state, body);
        const tal_xform X_BM = tal_body_X_BM(matter, state, body);
        hash = tali_hash(hash, &mass, sizeof mass);
        hash = tali_hash(hash, &X_PF, sizeof X_PF);
        hash = tali_hash(hash, &X_BM, sizeof X_BM);
    }
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ix ix = {i};
        const bool is_enabled = tal_constraint_is_enabled(matter, state, ix);
        int n = 0;
        const double *params = tal_constraint_params(matter, state, ix, &n);
        hash = tali_hash(hash, &is_enabled, sizeof is_enabled);
        hash = tali_hash(hash, params, (size_t)n * sizeof *params);
    }
    return hash;
}

bool tal_natural_fits(const tal_natural *natural, const tal_state *state)
{
    if (natural == NULL || state == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the natural coordinates or the State is NULL");
        return false;
    }
    if (tal_state_stage(state) < TAL_STAGE_INSTANCE ||
        tal_state_structure_hash(state) !=
            tal_system_structure_hash(tal_matter_system(natural->matter))) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "a State of the System at Instance is needed");
        return false;
    }
    const bool is_free = tal_matter_num_free(natural->matter, state) == natural->nu;
    return is_free && tali_natural_hash(natural, state) == natural->made_from;
}

static tal_status check_arrays(const tal_natural *natural, const void *a, const void *b,
                               const char *where)
{
    if (natural != NULL && a != NULL && b != NULL) return TAL_OK;
    return tali_breach(TAL_ERR_NULL, where, "the natural coordinates or an array is NULL");
}

// A State of the image's System, as far as `stage`.
static tal_status check_state(const tal_natural *natural, const tal_state *state, tal_stage stage,
                              const char *where)
{
    if (state == NULL) return tali_breach(TAL_ERR_NULL, where, "the State is NULL");
    const tal_system *system = tal_matter_system(natural->matter);
    if (tal_state_structure_hash(state) != tal_system_structure_hash(system)) {
        return tali_breach(TAL_ERR_WRONG_SYSTEM, where, "the State is of another System");
    }
    if (tal_state_stage(state) >= stage) return TAL_OK;
    return tali_breach(TAL_ERR_STAGE, where, "needs stage %s, but the State has reached only %s",
                       tal_stage_name(stage), tal_stage_name(tal_state_stage(state)));
}

// --- forms and conditions ---

static tal_vec3 entity_at(const double x[], int entity)
{
    const double *at = x + 3 * (size_t)entity;
    return tal_v3(at[0], at[1], at[2]);
}

// The form at x; its rate at xdot where `is_rate`.
static tal_vec3 form_at(const tali_natural_form *form, const double x[], bool is_rate)
{
    tal_vec3 sum = is_rate ? TAL_VEC3_ZERO : form->fixed;
    for (int i = 0; i < form->n; ++i) {
        sum = tal_v3_add(sum, tal_v3_scale(form->c[i], entity_at(x, form->entity[i])));
    }
    return sum;
}

static double component(tal_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

tal_status tal_natural_calc_phi(const tal_natural *natural, const double x[], double phi[])
{
    const tal_status st = check_arrays(natural, x, phi, __func__);
    for (int i = 0; st == TAL_OK && i < natural->num_conditions; ++i) {
        const tali_natural_condition *it = &natural->conditions[i];
        const tal_vec3 a = form_at(&it->a, x, false);
        phi[i] = it->axis >= 0 ? component(a, it->axis)
                               : tal_v3_dot(a, form_at(&it->b, x, false)) - it->value;
    }
    return st;
}

static void add_slopes(const tali_natural_form *form, tal_vec3 by, int row, tal_matrix out)
{
    for (int i = 0; i < form->n; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            const size_t column = 3 * (size_t)form->entity[i] + (size_t)axis;
            out.data[(size_t)row + column * (size_t)out.ld] += form->c[i] * component(by, axis);
        }
    }
}

static tal_status check_matrix(tal_matrix A, int rows, int cols, const char *where)
{
    if (A.data != NULL && A.rows == rows && A.cols == cols && A.ld >= (rows > 1 ? rows : 1)) {
        return TAL_OK;
    }
    return tali_breach(TAL_ERR_BAD_VALUE, where, "the matrix must be %d x %d", rows, cols);
}

static void clear(tal_matrix A)
{
    for (int j = 0; j < A.cols; ++j) {
        memset(A.data + (size_t)j * (size_t)A.ld, 0, (size_t)A.rows * sizeof *A.data);
    }
}

tal_status tal_natural_calc_phi_x(const tal_natural *natural, const double x[], tal_matrix phi_x)
{
    tal_status st = check_arrays(natural, x, phi_x.data, __func__);
    if (st == TAL_OK) {
        st = check_matrix(phi_x, natural->num_conditions, 3 * natural->num_entities, __func__);
    }
    if (st != TAL_OK) return st;
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    clear(phi_x);
    for (int i = 0; i < natural->num_conditions; ++i) {
        const tali_natural_condition *it = &natural->conditions[i];
        if (it->axis >= 0) {
            add_slopes(&it->a, e[it->axis], i, phi_x);
            continue;
        }
        add_slopes(&it->a, form_at(&it->b, x, false), i, phi_x);
        add_slopes(&it->b, form_at(&it->a, x, false), i, phi_x);
    }
    return TAL_OK;
}

tal_status tal_natural_calc_bias(const tal_natural *natural, const double xdot[], double bias[])
{
    const tal_status st = check_arrays(natural, xdot, bias, __func__);
    for (int i = 0; st == TAL_OK && i < natural->num_conditions; ++i) {
        const tali_natural_condition *it = &natural->conditions[i];
        bias[i] = it->axis >= 0
                      ? 0.0
                      : 2.0 * tal_v3_dot(form_at(&it->a, xdot, true), form_at(&it->b, xdot, true));
    }
    return st;
}

// M += c e_a e_b^T times the unit matrix for each pair of entities of two forms.
static void add_pairs(const tali_natural_form *a, const tali_natural_form *b, double c,
                      tal_matrix M)
{
    for (int i = 0; i < a->n; ++i) {
        for (int k = 0; k < b->n; ++k) {
            for (size_t axis = 0; axis < 3; ++axis) {
                const size_t row = 3 * (size_t)a->entity[i] + axis;
                const size_t column = 3 * (size_t)b->entity[k] + axis;
                M.data[row + column * (size_t)M.ld] += c * a->c[i] * b->c[k];
            }
        }
    }
}

tal_status tal_natural_calc_curvature(const tal_natural *natural, const double lambda[],
                                      tal_matrix C)
{
    tal_status st = check_arrays(natural, lambda, C.data, __func__);
    const int nx = st == TAL_OK ? 3 * natural->num_entities : 0;
    if (st == TAL_OK) st = check_matrix(C, nx, nx, __func__);
    if (st != TAL_OK) return st;
    clear(C);
    for (int k = 0; k < natural->num_conditions; ++k) {
        const tali_natural_condition *it = &natural->conditions[k];
        if (it->axis >= 0) continue;
        add_pairs(&it->a, &it->b, lambda[k], C);
        add_pairs(&it->b, &it->a, lambda[k], C);
    }
    return TAL_OK;
}

// --- mass ---

// Second moments are (1/2 tr I) 1 - I.
void tali_natural_moments(const tal_mass_props *mass, double J[4][4])
{
    const tal_sym3 I = mass->inertia;
    const double half = 0.5 * tal_s3_trace(I);
    const double m = mass->mass;
    const double first[3] = {m * mass->com.x, m * mass->com.y, m * mass->com.z};
    const double second[3][3] = {
        {half - I.xx, -I.xy, -I.xz}, {-I.xy, half - I.yy, -I.yz}, {-I.xz, -I.yz, half - I.zz}};
    for (int i = 0; i < 3; ++i) {
        memcpy(J[i], second[i], sizeof second[i]);
        J[i][3] = J[3][i] = first[i];
    }
    J[3][3] = m;
}

tal_status tal_natural_calc_M(const tal_natural *natural, tal_matrix M)
{
    tal_status st = check_arrays(natural, M.data, M.data, __func__);
    const int nx = st == TAL_OK ? 3 * natural->num_entities : 0;
    if (st == TAL_OK) st = check_matrix(M, nx, nx, __func__);
    if (st != TAL_OK) return st;
    clear(M);
    for (int b = 1; b < natural->num_bodies; ++b) {
        const tali_natural_body *body = &natural->bodies[b];
        const tali_natural_form *columns[4] = {&body->axis[0], &body->axis[1], &body->axis[2],
                                               &body->origin};
        double J[4][4];
        tali_natural_moments(&body->mass, J);
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < 4; ++k) {
                add_pairs(columns[i], columns[k], J[i][k], M);
            }
        }
    }
    return TAL_OK;
}

// --- from a State ---

static void put_entity(double x[], int entity, tal_vec3 v)
{
    double *at = x + 3 * (size_t)entity;
    at[0] = v.x;
    at[1] = v.y;
    at[2] = v.z;
}

// Where an entity is from the origin of its body, in Ground; a vector: itself.
static tal_vec3 arm_of(const tal_natural *natural, const tal_state *state, int entity)
{
    const tali_natural_entity *it = &natural->entities[entity];
    return tal_m3_mul_v3(tal_body_X_GB(natural->matter, state, (tal_body_ix){it->body}).R,
                         it->local);
}

tal_status tal_natural_read(const tal_natural *natural, const tal_state *state, double x[],
                            double xdot[])
{
    tal_status st = check_arrays(natural, x, xdot, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_VELOCITY, __func__);
    for (int i = 0; st == TAL_OK && i < natural->num_entities; ++i) {
        const tali_natural_entity *it = &natural->entities[i];
        const tal_body_ix body = {it->body};
        const tal_vec3 arm = arm_of(natural, state, i);
        const tal_spatial_vec V = tal_body_V_GB(natural->matter, state, body);
        const tal_vec3 turning = tal_v3_cross(V.w, arm);
        const tal_vec3 origin = tal_body_X_GB(natural->matter, state, body).p;
        put_entity(x, i, it->is_point ? tal_v3_add(origin, arm) : arm);
        put_entity(xdot, i, it->is_point ? tal_v3_add(V.v, turning) : turning);
    }
    return st;
}

tal_status tal_natural_calc_acceleration(const tal_natural *natural, tal_state *state,
                                         const double udot[], double xdotdot[])
{
    tal_status st = check_arrays(natural, xdotdot, xdotdot, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_VELOCITY, __func__);
    if (st != TAL_OK) return st;
    st = tal_matter_calc_J_bias(natural->matter, state, natural->A);
    if (st == TAL_OK && udot != NULL) {
        st = tal_matter_mul_J(natural->matter, state, udot, natural->V);
        for (int b = 0; b < natural->num_bodies && st == TAL_OK; ++b) {
            natural->A[b] = tal_sv_add(natural->A[b], natural->V[b]);
        }
    }
    for (int i = 0; i < natural->num_entities && st == TAL_OK; ++i) {
        const tali_natural_entity *it = &natural->entities[i];
        const tal_vec3 arm = arm_of(natural, state, i);
        const tal_vec3 w = tal_body_V_GB(natural->matter, state, (tal_body_ix){it->body}).w;
        const tal_spatial_vec A = natural->A[it->body];
        const tal_vec3 turning =
            tal_v3_add(tal_v3_cross(A.w, arm), tal_v3_cross(w, tal_v3_cross(w, arm)));
        put_entity(xdotdot, i, it->is_point ? tal_v3_add(A.v, turning) : turning);
    }
    return st;
}

tal_status tal_natural_calc_R(const tal_natural *natural, tal_state *state, tal_matrix R)
{
    tal_status st = check_arrays(natural, R.data, R.data, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_POSITION, __func__);
    if (st == TAL_OK) st = check_matrix(R, 3 * natural->num_entities, natural->nu, __func__);
    for (int j = 0; st == TAL_OK && j < natural->nu; ++j) {
        memset(natural->unit, 0, (size_t)natural->nu * sizeof(double));
        natural->unit[j] = 1.0;
        st = tal_matter_mul_J(natural->matter, state, natural->unit, natural->V);
        for (int i = 0; i < natural->num_entities && st == TAL_OK; ++i) {
            const tali_natural_entity *it = &natural->entities[i];
            const tal_spatial_vec V = natural->V[it->body];
            const tal_vec3 turning = tal_v3_cross(V.w, arm_of(natural, state, i));
            put_entity(R.data + (size_t)j * (size_t)R.ld, i,
                       it->is_point ? tal_v3_add(V.v, turning) : turning);
        }
    }
    return st;
}

// --- back to a State ---

// The force that gives a body an acceleration A, without what its turning takes, about Bo.
static tal_spatial_vec inertia_times(const tal_mass_props *mass, tal_mat3 R_GB, tal_spatial_vec A)
{
    const tal_sym3 I = tal_s3_congruence(R_GB, mass->inertia);
    const tal_vec3 c = tal_v3_scale(mass->mass, tal_m3_mul_v3(R_GB, mass->com));
    const tal_spatial_vec F = {tal_v3_add(tal_s3_mul_v3(I, A.w), tal_v3_cross(c, A.v)),
                               tal_v3_add(tal_v3_scale(mass->mass, A.v), tal_v3_cross(A.w, c))};
    return F;
}

// With A_b what x says of body b, M^-1 J^T (I_b (A_b - Jdot u)). The angular acceleration is the
// sum of a_i x adotdot_i / 2 over the axes: that of turning cancels.
tal_status tal_natural_read_udot(const tal_natural *natural, tal_state *state, const double x[],
                                 const double xdotdot[], double udot[])
{
    tal_status st = check_arrays(natural, x, xdotdot, __func__);
    if (st == TAL_OK) st = check_arrays(natural, udot, udot, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_VELOCITY, __func__);
    if (st == TAL_OK) st = tal_matter_calc_J_bias(natural->matter, state, natural->A);
    for (int b = 1; st == TAL_OK && b < natural->num_bodies; ++b) {
        const tali_natural_body *body = &natural->bodies[b];
        tal_spatial_vec A = {TAL_VEC3_ZERO, form_at(&body->origin, xdotdot, true)};
        for (int i = 0; i < 3; ++i) {
            const tal_vec3 e = form_at(&body->axis[i], x, false);
            const tal_vec3 turn = tal_v3_cross(e, form_at(&body->axis[i], xdotdot, true));
            A.w = tal_v3_add(A.w, tal_v3_scale(0.5, turn));
        }
        A = tal_sv_sub(A, natural->A[b]);
        const tal_mat3 R_GB = tal_body_X_GB(natural->matter, state, (tal_body_ix){b}).R;
        natural->V[b] = inertia_times(&body->mass, R_GB, A);
    }
    if (st != TAL_OK) return st;
    natural->V[0] = (tal_spatial_vec){TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    st = tal_matter_mul_JT(natural->matter, state, natural->V, natural->f);
    return st == TAL_OK ? tal_matter_mul_Minv(natural->matter, state, natural->f, udot) : st;
}

// The rotation nearest to a frame that is nearly orthonormal, by Newton's method for the polar
// factor: A becomes the mean of A and A^-T, whose columns are products of two of A over det A.
static tal_mat3 nearest_rotation(tal_mat3 A)
{
    enum {
        STEPS = 5 // errors are squared in each
    };

    for (int i = 0; i < STEPS; ++i) {
        const tal_vec3 yz = tal_v3_cross(A.y, A.z), zx = tal_v3_cross(A.z, A.x);
        const tal_vec3 xy = tal_v3_cross(A.x, A.y);
        const double c = 0.5 / tal_v3_dot(A.x, yz);
        A.x = tal_v3_add(tal_v3_scale(0.5, A.x), tal_v3_scale(c, yz));
        A.y = tal_v3_add(tal_v3_scale(0.5, A.y), tal_v3_scale(c, zx));
        A.z = tal_v3_add(tal_v3_scale(0.5, A.z), tal_v3_scale(c, xy));
    }
    return A;
}

// Pose and velocity of a body from its forms.
static void read_body(const tal_natural *natural, int b, const double x[], const double xdot[])
{
    const tali_natural_body *body = &natural->bodies[b];
    tal_vec3 e[3], rate[3], w = TAL_VEC3_ZERO;
    for (int i = 0; i < 3; ++i) {
        e[i] = form_at(&body->axis[i], x, false);
        rate[i] = form_at(&body->axis[i], xdot, true);
        w = tal_v3_add(w, tal_v3_scale(0.5, tal_v3_cross(e[i], rate[i])));
    }
    natural->X[b] =
        (tal_xform){nearest_rotation(tal_m3(e[0], e[1], e[2])), form_at(&body->origin, x, false)};
    natural->V[b] = (tal_spatial_vec){w, form_at(&body->origin, xdot, true)};
}

// X_FM and V_FM, in F, of a body's mobilizer.
static void across_joint(const tal_natural *natural, const tal_state *state, int b, tal_xform *X_FM,
                         tal_spatial_vec *V_FM)
{
    const tal_body_ix body = {b};
    const int p = tal_body_parent(natural->matter, body).i;
    const tal_xform X_GF = tal_xf_mul(natural->X[p], tal_body_X_PF(natural->matter, state, body));
    const tal_xform X_GM = tal_xf_mul(natural->X[b], tal_body_X_BM(natural->matter, state, body));
    const tal_spatial_vec P = natural->V[p], B = natural->V[b];
    // of the point of P that is at Mo, and of Mo
    const tal_vec3 v_P = tal_v3_add(P.v, tal_v3_cross(P.w, tal_v3_sub(X_GM.p, natural->X[p].p)));
    const tal_vec3 v_M = tal_v3_add(B.v, tal_v3_cross(B.w, tal_v3_sub(X_GM.p, natural->X[b].p)));
    *X_FM = tal_xf_mul(tal_xf_inverse(X_GF), X_GM);
    V_FM->w = tal_m3_tmul_v3(X_GF.R, tal_v3_sub(B.w, P.w));
    V_FM->v = tal_m3_tmul_v3(X_GF.R, tal_v3_sub(v_M, v_P));
}

// How many angles come first among the coordinates of a body's mobilizer.
static int num_angles(const tal_natural *natural, const tal_state *state, int b)
{
    static const struct {
        const char *kind;
        int angles;
    } table[] = {{"pin", 1},       {"cylinder", 1}, {"planar", 1},
                 {"universal", 2}, {"gimbal", 3},   {"bushing", 3}};

    const tal_body_ix body = {b};
    if (tal_body_uses_angles(natural->matter, state, body)) return 3;
    const char *kind = tal_body_mobilizer(natural->matter, body);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        if (strcmp(table[i].kind, kind) == 0) return table[i].angles;
    }
    return 0;
}

// Fit q, with angles by as many turns as bring them next to where they were.
static tal_status fit_q(const tal_natural *natural, tal_state *state, int b, const tal_xform *X_FM)
{
    const double turn = 2.0 * TAL_PI;
    const tal_body_ix body = {b};
    double before[7], q[7];
    const int nq = tal_body_nq(natural->matter, state, body);
    tal_status st = tal_body_get_all_q(natural->matter, state, body, before, nq);
    if (st == TAL_OK) st = tal_body_fit_q(natural->matter, state, body, X_FM);
    if (st == TAL_OK) st = tal_body_get_all_q(natural->matter, state, body, q, nq);
    for (int i = 0; i < num_angles(natural, state, b); ++i) {
        q[i] += turn * round((before[i] - q[i]) / turn);
    }
    return st == TAL_OK ? tal_body_set_all_q(natural->matter, state, body, q, nq) : st;
}

tal_status tal_natural_put(const tal_natural *natural, tal_state *state, const double x[],
                           const double xdot[])
{
    tal_status st = check_arrays(natural, x, xdot, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_INSTANCE, __func__);
    if (st != TAL_OK) return st;
    natural->X[0] = TAL_XFORM_IDENTITY;
    natural->V[0] = (tal_spatial_vec){TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    for (int b = 1; b < natural->num_bodies && st == TAL_OK; ++b) {
        tal_xform X_FM;
        tal_spatial_vec V_FM;
        read_body(natural, b, x, xdot);
        across_joint(natural, state, b, &X_FM, &V_FM);
        st = fit_q(natural, state, b, &X_FM);
        if (st == TAL_OK) st = tal_body_fit_u(natural->matter, state, (tal_body_ix){b}, V_FM);
    }
    if (st != TAL_OK) return st;
    return tal_system_realize(tal_matter_system(natural->matter), state, TAL_STAGE_VELOCITY);
}

// --- forces ---

static void add_force(double Q[], const tali_natural_form *form, tal_vec3 f)
{
    for (int i = 0; i < form->n; ++i) {
        const tal_vec3 part = tal_v3_scale(form->c[i], f);
        double *at = Q + 3 * (size_t)form->entity[i];
        at[0] += part.x;
        at[1] += part.y;
        at[2] += part.z;
    }
}

// Forces along speeds: the shortest Q with R^T Q = f, which is R (R^T R)^-1 f.
static tal_status add_mobility_forces(const tal_natural *natural, tal_state *state,
                                      const double f[], double Q[])
{
    const int nx = 3 * natural->num_entities, nu = natural->nu;
    const tal_matrix R = tal_matrix_view(natural->R, nx, nu);
    const tal_matrix gram = tal_matrix_view(natural->gram, nu, nu);
    tal_status st = tal_natural_calc_R(natural, state, R);
    for (int j = 0; j < nu && st == TAL_OK; ++j) {
        natural->f[j] = f[j];
        for (int i = j; i < nu; ++i) {
            double sum = 0.0;
            for (int k = 0; k < nx; ++k) {
                sum += R.data[(size_t)k + (size_t)i * (size_t)nx] *
                       R.data[(size_t)k + (size_t)j * (size_t)nx];
            }
            gram.data[(size_t)i + (size_t)j * (size_t)nu] = sum;
        }
    }
    if (st == TAL_OK) st = tal_chol_factor(gram, NULL, NULL);
    if (st == TAL_OK) st = tal_chol_solve(gram, tal_matrix_view(natural->f, nu, 1), NULL);
    for (int j = 0; j < nu && st == TAL_OK; ++j) {
        for (int k = 0; k < nx; ++k) {
            Q[k] += R.data[(size_t)k + (size_t)j * (size_t)nx] * natural->f[j];
        }
    }
    return st;
}

// A force acts on the form of the mass center, origin + sum com_i a_i: weights then are constant,
// and their work is exact over any distance. The power of a moment n about that is n . w = sum n .
// (a_i x adot_i) / 2 over the axes a_i, so that n x a_i / 2 acts on each.
tal_status tal_natural_calc_Q(const tal_natural *natural, tal_state *state,
                              const tal_spatial_vec F_GB[], const double f[], double Q[])
{
    tal_status st = check_arrays(natural, F_GB, f, __func__);
    if (st == TAL_OK) st = check_arrays(natural, Q, Q, __func__);
    if (st == TAL_OK) st = check_state(natural, state, TAL_STAGE_POSITION, __func__);
    if (st != TAL_OK) return st;
    memset(Q, 0, 3 * (size_t)natural->num_entities * sizeof *Q);
    for (int b = 1; b < natural->num_bodies; ++b) {
        const tali_natural_body *body = &natural->bodies[b];
        const tal_mat3 R = tal_body_X_GB(natural->matter, state, (tal_body_ix){b}).R;
        const tal_vec3 axes[3] = {R.x, R.y, R.z};
        const double com[3] = {body->mass.com.x, body->mass.com.y, body->mass.com.z};
        const tal_vec3 arm = tal_m3_mul_v3(R, body->mass.com);
        const tal_vec3 moment = tal_v3_sub(F_GB[b].w, tal_v3_cross(arm, F_GB[b].v));
        add_force(Q, &body->origin, F_GB[b].v);
        for (int i = 0; i < 3; ++i) {
            const tal_vec3 turning = tal_v3_scale(0.5, tal_v3_cross(moment, axes[i]));
            add_force(Q, &body->axis[i], tal_v3_axpy(com[i], F_GB[b].v, turning));
        }
    }
    bool any = false;
    for (int j = 0; j < natural->nu; ++j) {
        any = any || f[j] != 0.0;
    }
    return any ? add_mobility_forces(natural, state, f, Q) : TAL_OK;
}
