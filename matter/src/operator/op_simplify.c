// Dynamic equivalence: what mobilizers do not feel goes to the parent (RBDA sec. 9.7).
//
// In the frame M of a body let P = [S h; h^T m], with the second moments S = sum m p p^T. Spread
// along the directions `moved` (of x, y, z, and 1 for mass at the origin) it may be cut off where
// the mobilizer's motion leaves such a distribution alone. With the others called `kept`,
//
//     P = [A B; B^T C],   the least C of a body that can exist is B^T A^+ B
//
// (P >= 0, Schur), so that D = C - B^T A^+ B >= 0 is what the parent gets: both remain possible.
#include "mobilizer/mobilizer_internal.h"
#include "operator/operators_internal.h"

#include <talus/matter/operators.h>
#include <talus/matter/response.h>
#include <talus/matter/simplify.h>

#include <math.h>
#include <string.h>

// Pivots below this part of their first value are round-off: of sums over a hundred bodies, each
// moved and turned, and well below any shape.
static const double NO_PIVOT = 1e-12;

// Least part of its mass that a body keeps, unless it gives everything away.
static const double LEAST_MASS = 1e-3;

enum {
    X = 1,
    Y = 2,
    Z = 4,
    MASS = 8
};

// --- second moments ---

typedef struct moments {
    double P[4][4]; // x, y, z, 1
} moments;

static moments moments_of(const tal_mass_props *props)
{
    const tal_sym3 J = props->inertia;
    const double half = 0.5 * tal_s3_trace(J);
    const tal_vec3 h = tal_v3_scale(props->mass, props->com);
    return (moments){{{half - J.xx, -J.xy, -J.xz, h.x},
                      {-J.xy, half - J.yy, -J.yz, h.y},
                      {-J.xz, -J.yz, half - J.zz, h.z},
                      {h.x, h.y, h.z, props->mass}}};
}

static tal_mass_props props_of(const moments *it)
{
    const double(*P)[4] = it->P;
    const double m = P[3][3], trace = P[0][0] + P[1][1] + P[2][2];
    const tal_vec3 h = tal_v3(P[0][3], P[1][3], P[2][3]);
    return (tal_mass_props){.mass = m,
                            .com = m > 0.0 ? tal_v3_scale(1.0 / m, h) : TAL_VEC3_ZERO,
                            .inertia = {trace - P[0][0], trace - P[1][1], trace - P[2][2], -P[0][1],
                                        -P[0][2], -P[1][2]}};
}

// Eliminates the directions in `kept`, the largest pivot first: what is left on the others is the
// Schur complement, elsewhere zero. Returns how many pivots there were.
static int eliminate(moments *it, int kept)
{
    double first[4];
    int count = 0;
    for (int i = 0; i < 4; ++i) {
        first[i] = it->P[i][i];
    }
    for (;;) {
        int k = -1;
        for (int i = 0; i < 4; ++i) {
            const bool is_pivot = (kept >> i & 1) != 0 && it->P[i][i] > NO_PIVOT * first[i];
            if (is_pivot && (k < 0 || it->P[i][i] * first[k] > it->P[k][k] * first[i])) k = i;
        }
        if (k < 0) break;
        const double pivot = it->P[k][k];
        double row[4];
        memcpy(row, it->P[k], sizeof row);
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                it->P[i][j] -= row[i] * (row[j] / pivot);
            }
        }
        for (int i = 0; i < 4; ++i) {
            it->P[i][k] = it->P[k][i] = 0.0;
        }
        kept &= ~(1 << k);
        ++count;
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            if ((kept >> i & 1) != 0 || (kept >> j & 1) != 0) it->P[i][j] = 0.0;
        }
    }
    return count;
}

int tal_mass_props_rank(const tal_mass_props *props)
{
    if (props == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the mass properties are NULL");
        return -1;
    }
    moments it = moments_of(props);
    return eliminate(&it, X | Y | Z | MASS);
}

// --- what a mobilizer does not feel ---

// RBDA tab. 9.7 and the joints made of those.
static int moved_across(uint64_t tag)
{
    switch (tag) {
    case TALI_TAG_WELD:
        return X | Y | Z | MASS;
    case TALI_TAG_SLIDER:
    case TALI_TAG_TRANSLATION:
        return X | Y | Z;
    case TALI_TAG_PIN:
        return Z | MASS;
    case TALI_TAG_BALL:
    case TALI_TAG_UNIVERSAL:
    case TALI_TAG_GIMBAL:
        return MASS;
    case TALI_TAG_CYLINDER:
    case TALI_TAG_SCREW:
    case TALI_TAG_PLANAR:
    case TALI_TAG_RACK_AND_PINION:
    case TALI_TAG_BEND_STRETCH:
        return Z;
    default:
        return 0;
    }
}

// Bodies that have to keep their structure give nothing.
static int moved_from(const tal_matter *matter, int b, const tal_mass_props *props)
{
    const tali_tree_body *body = &matter->bodies[b];
    const tal_body_structure above = matter->bodies[body->parent].structure;
    const bool may = body->structure == TAL_BODY_RIGID &&
                     (body->parent == 0 || above == TAL_BODY_RIGID) && props->mass > 0.0 &&
                     tal_mass_props_excess(props) == 0.0;
    return may ? moved_across(body->ops.tag) : 0;
}

// What is only round-off of P is nothing.
static void drop_round_off(moments *D, const moments *P)
{
    for (int k = 0; k < 4; ++k) {
        if (D->P[k][k] > NO_PIVOT * P->P[k][k]) continue;
        for (int i = 0; i < 4; ++i) {
            D->P[i][k] = D->P[k][i] = 0.0;
        }
    }
}

// D, and P - D in its place.
static moments cut_off(moments *it, int moved)
{
    const double m = it->P[3][3];
    const int all = X | Y | Z | MASS;
    moments D = *it;
    (void)eliminate(&D, all & ~moved);
    if ((moved & MASS) != 0 && moved != all && m - D.P[3][3] < LEAST_MASS * m) {
        D = *it;
        (void)eliminate(&D, all & ~(moved & ~MASS));
    }
    drop_round_off(&D, it);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            it->P[i][j] -= D.P[i][j];
        }
    }
    return D;
}

static tal_mass_props sum_of(const tal_mass_props *a, const tal_mass_props *b)
{
    moments sum = moments_of(a);
    const moments other = moments_of(b);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            sum.P[i][j] += other.P[i][j];
        }
    }
    return props_of(&sum);
}

// One body gives to its parent what its mobilizer does not feel.
static tal_status simplify_body(const tal_matter *matter, tal_state *state, int b,
                                tal_simplification *found)
{
    const tal_body_ix body = {b}, parent = {matter->bodies[b].parent};
    const tal_mass_props before = tal_body_mass_props(matter, state, body);
    const int moved = moved_from(matter, b, &before);
    if (moved == 0) return TAL_OK;
    const tal_xform X_BM = tal_body_X_BM(matter, state, body), X_MB = tal_xf_inverse(X_BM);
    const tal_mass_props in_M = tal_mass_props_transform(&X_MB, &before);
    moments left = moments_of(&in_M);
    const moments given = cut_off(&left, moved);
    const tal_mass_props rest = props_of(&left), gift = props_of(&given);
    if (gift.mass == 0.0 && tal_s3_trace(gift.inertia) == 0.0) return TAL_OK;
    const tal_mass_props own = tal_mass_props_transform(&X_BM, &rest);
    tal_status st = tal_body_set_mass_props(matter, state, body, &own);
    ++found->num_changed;
    if (parent.i == 0) found->mass_to_ground += gift.mass;
    if (st != TAL_OK || parent.i == 0) return st;
    const tal_xform X_PF = tal_body_X_PF(matter, state, body);
    const tal_mass_props in_P = tal_mass_props_transform(&X_PF, &gift);
    const tal_mass_props theirs = tal_body_mass_props(matter, state, parent);
    const tal_mass_props sum = sum_of(&theirs, &in_P);
    return tal_body_set_mass_props(matter, state, parent, &sum);
}

static int sum_of_ranks(const tal_matter *matter, const tal_state *state)
{
    int sum = 0;
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tal_mass_props props = tal_body_mass_props(matter, state, (tal_body_ix){b});
        sum += tal_mass_props_rank(&props);
    }
    return sum;
}

// --- the proof ---

typedef struct proof {
    const tal_matter *matter;
    tal_state *side[2]; // before and after
    tal_random random;
    void *block;
    size_t block_bytes;
    double *v, *udot, *out[2], *change; // [nu]
    tal_spatial_vec *F;                 // [num_bodies]
} proof;

static tal_status begin_proof(proof *it, const tal_matter *matter, const tal_state *state,
                              uint64_t seed)
{
    const size_t n = (size_t)tal_matter_nu(matter), d = sizeof(double);
    const tal_allocator allocator = tal_system_allocator(matter->system);
    *it = (proof){.matter = matter, .random = {seed, 0, 0}};
    const tali_piece pieces[] = {
        {&it->v, n * d},      {&it->udot, n * d},
        {&it->out[0], n * d}, {&it->out[1], n * d},
        {&it->change, n * d}, {&it->F, (size_t)matter->num_bodies * sizeof *it->F}};
    it->block =
        tali_alloc_pieces(&allocator, pieces, sizeof pieces / sizeof pieces[0], &it->block_bytes);
    tal_status st = it->block != NULL ? TAL_OK : TAL_ERR_NO_MEMORY;
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        st = tal_state_create(matter->system, &it->side[k], NULL);
        if (st == TAL_OK) st = tal_state_copy(it->side[k], state);
    }
    return st;
}

static void end_proof(proof *it)
{
    const tal_allocator allocator = tal_system_allocator(it->matter->system);
    tal_state_destroy(it->side[0]);
    tal_state_destroy(it->side[1]);
    tali_free(&allocator, it->block, it->block_bytes);
}

// Both States at one pose near the given one, with the same speeds.
static tal_status draw_pose(proof *it)
{
    tal_state *a = it->side[0], *b = it->side[1];
    tal_status st = tal_system_realize(it->matter->system, a, TAL_STAGE_INSTANCE);
    double *q = tal_state_upd_q(a), *u = tal_state_upd_u(a);
    for (int i = 0; i < tal_state_nq(a); ++i) {
        q[i] += tal_random_range(&it->random, -0.5, 0.5);
    }
    for (int i = 0; i < tal_state_nu(a); ++i) {
        u[i] = tal_random_range(&it->random, -1.0, 1.0);
    }
    if (st == TAL_OK) st = tal_matter_normalize_quaternions(it->matter, a);
    if (st == TAL_OK) st = tal_state_set_q(b, tal_state_q(a), tal_state_nq(a));
    if (st == TAL_OK) st = tal_state_set_u(b, tal_state_u(a), tal_state_nu(a));
    if (st == TAL_OK) st = tal_system_realize(it->matter->system, a, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tal_system_realize(it->matter->system, b, TAL_STAGE_VELOCITY);
    return st;
}

// Weights of the bodies of one side: m g at the mass center, about Bo.
static void weigh(const proof *it, int side, tal_vec3 g)
{
    for (int b = 0; b < it->matter->num_bodies; ++b) {
        const tal_body_ix body = {b};
        const tal_mass_props props = tal_body_mass_props(it->matter, it->side[side], body);
        const tal_mat3 R = tal_body_X_GB(it->matter, it->side[side], body).R;
        const tal_vec3 f = tal_v3_scale(props.mass, g);
        it->F[b] = tal_sv(tal_v3_cross(tal_m3_mul_v3(R, props.com), f), f);
        if (b == 0) it->F[b] = tal_sv(TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    }
}

static double change_of(const proof *it, double scale)
{
    double most = 0.0;
    for (int i = 0; i < tal_matter_nu(it->matter); ++i) {
        scale = fmax(scale, fmax(fabs(it->out[0][i]), fabs(it->out[1][i])));
        most = fmax(most, fabs(it->out[1][i] - it->out[0][i]));
    }
    return scale > 0.0 ? most / scale : 0.0;
}

// Largest change of M v, of inverse and of forward dynamics in one pose.
static tal_status compare(proof *it, tal_simplification *found)
{
    const tal_matter *matter = it->matter;
    const int n = tal_matter_nu(matter);
    const tal_vec3 g = tal_v3(tal_random_range(&it->random, -9.0, 9.0), -9.0, 4.0);
    tal_status st = draw_pose(it);
    for (int i = 0; i < n; ++i) {
        it->v[i] = tal_random_range(&it->random, -1.0, 1.0);
        it->udot[i] = tal_random_range(&it->random, -1.0, 1.0);
    }
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        st = tal_matter_mul_M(matter, it->side[k], it->v, it->out[k]);
    }
    if (st == TAL_OK) found->error_M = fmax(found->error_M, change_of(it, 0.0));
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        weigh(it, k, g);
        st = tal_matter_inverse_dynamics(matter, it->side[k], it->udot, it->F, NULL, it->out[k]);
    }
    if (st == TAL_OK) found->error_inverse = fmax(found->error_inverse, change_of(it, 0.0));
    // from the forces that give udot on one side to the accelerations on both
    memcpy(it->v, it->out[0], (size_t)n * sizeof *it->v);
    double size = 0.0;
    for (int k = 0; k < 2 && st == TAL_OK; ++k) {
        weigh(it, k, g);
        st = tal_matter_forward_dynamics(matter, it->side[k], it->F, it->v, it->udot, NULL);
        if (st == TAL_OK) st = tal_matter_mul_M(matter, it->side[0], it->udot, it->out[k]);
        for (int i = 0; i < n; ++i) {
            size = fmax(size, fabs(it->v[i]));
        }
    }
    if (st == TAL_OK) found->error_forward = fmax(found->error_forward, change_of(it, size));
    return st;
}

static tal_status prove(const tal_matter *matter, const tal_state *state, tal_state *simpler,
                        const tal_simplify_def *def, tal_simplification *found)
{
    proof it;
    tal_status st = begin_proof(&it, matter, state, def->seed);
    for (int b = 1; b < matter->num_bodies && st == TAL_OK; ++b) {
        const tal_mass_props props = tal_body_mass_props(matter, simpler, (tal_body_ix){b});
        st = tal_body_set_mass_props(matter, it.side[1], (tal_body_ix){b}, &props);
    }
    for (int k = 0; k < def->num_samples && st == TAL_OK; ++k) {
        st = compare(&it, found);
    }
    end_proof(&it);
    found->error = fmax(found->error_M, fmax(found->error_inverse, found->error_forward));
    return st;
}

// --- the public functions ---

tal_simplify_def tal_simplify_def_default(void)
{
    return (tal_simplify_def){.num_samples = 10, .tolerance = 1e-10, .seed = 1};
}

// The State has mass properties of this matter; a breach otherwise.
static bool is_readable(const tal_matter *matter, const tal_state *state, const char *where)
{
    return tali_tree_body_at(matter, TAL_GROUND, where) != NULL &&
           tali_cache_var_read(matter->system, state, matter->mass, where) != NULL;
}

// Simpler bodies in a State of their own; they go into the given one once they are proven.
static tal_status simplify(const tal_matter *matter, tal_state *state, tal_state *simpler,
                           const tal_simplify_def *def, tal_simplification *found)
{
    tal_status st = tal_state_copy(simpler, state);
    found->rank_before = sum_of_ranks(matter, state);
    for (int b = matter->num_bodies - 1; b > 0 && st == TAL_OK; --b) {
        st = simplify_body(matter, simpler, b, found);
    }
    found->rank_after = sum_of_ranks(matter, simpler);
    if (st == TAL_OK) st = prove(matter, state, simpler, def, found);
    if (st != TAL_OK) {
        return tal_state_fail(state, st,
                              "the simpler bodies cannot be compared with the given "
                              "ones: is M regular near the State?");
    }
    if (!(found->error <= def->tolerance)) {
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "simpler bodies would move differently: M changes by %g, forces by "
                              "%g, accelerations by %g, more than the tolerance of %g",
                              found->error_M, found->error_inverse, found->error_forward,
                              def->tolerance);
    }
    for (int b = 1; b < matter->num_bodies && st == TAL_OK; ++b) {
        const tal_mass_props props = tal_body_mass_props(matter, simpler, (tal_body_ix){b});
        st = tal_body_set_mass_props(matter, state, (tal_body_ix){b}, &props);
    }
    return st;
}

tal_status tal_matter_simplify_inertias(const tal_matter *matter, tal_state *state,
                                        const tal_simplify_def *def, tal_simplification *found)
{
    const tal_simplify_def chosen = def != NULL ? *def : tal_simplify_def_default();
    tal_simplification local = {0};
    if (!is_readable(matter, state, __func__)) return tal_contract_last()->status;
    if (chosen.num_samples < 1 || !(chosen.tolerance > 0.0)) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "num_samples is %d and tolerance %g: both must be positive",
                                chosen.num_samples, chosen.tolerance);
    }
    tal_state *simpler = NULL;
    tal_status st = tal_state_create(matter->system, &simpler, NULL);
    if (st == TAL_OK) st = simplify(matter, state, simpler, &chosen, &local);
    tal_state_destroy(simpler);
    if (found != NULL) *found = local;
    return st;
}

tal_status tal_matter_calc_augmented_bodies(const tal_matter *matter, const tal_state *state,
                                            bool only_outer, tal_mass_props bodies[])
{
    if (bodies == NULL) return TALI_BREACH(TAL_ERR_NULL, "'bodies' is NULL");
    if (!is_readable(matter, state, __func__)) return tal_contract_last()->status;
    const int n = matter->num_bodies;
    double all = 0.0;
    for (int b = 0; b < n; ++b) {
        bodies[b] = TAL_MASSLESS;
    }
    for (int b = n - 1; b > 0; --b) { // mass of each with what it carries
        bodies[b].mass += tal_body_mass_props(matter, state, (tal_body_ix){b}).mass;
        if (matter->bodies[b].parent > 0) bodies[matter->bodies[b].parent].mass += bodies[b].mass;
        if (matter->bodies[b].parent == 0) all += bodies[b].mass;
    }
    for (int b = 1; b < n; ++b) { // parents before their children
        const tal_body_ix body = {b};
        const int parent = matter->bodies[b].parent;
        const double carried = bodies[b].mass;
        bodies[b] = tal_body_mass_props(matter, state, body);
        if (parent > 0) {
            const tal_xform X_PF = tal_body_X_PF(matter, state, body);
            const tal_mass_props child = tal_mass_props_point(carried, X_PF.p);
            bodies[parent] = sum_of(&bodies[parent], &child);
        }
        if (!only_outer) {
            const tal_xform X_BM = tal_body_X_BM(matter, state, body);
            const tal_mass_props rest = tal_mass_props_point(all - carried, X_BM.p);
            bodies[b] = sum_of(&bodies[b], &rest);
        }
    }
    return TAL_OK;
}
