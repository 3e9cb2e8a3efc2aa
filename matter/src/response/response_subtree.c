// Kinematics of a part of the tree from its own q, u and udot.
#include "mobilizer/mobilizer_internal.h"
#include "tree/matter_internal.h"

#include <talus/matter/subtree.h>

#include <string.h>

// A body of it. The ancestor has the first place, and no mobilizer here.
typedef struct member {
    const tali_tree_body *declared;
    int body, parent; // of matter; among the members
    int q0, u0, nq, nu;
    int slot_q, slot_u; // first of matter's
    bool use_angles;
    const double *params; // of its own copy
    tal_xform X_PF, X_MB;
} member;

struct tal_subtree {
    const tal_matter *matter;
    tal_allocator allocator;
    void *block;
    size_t block_bytes;
    int num_bodies, nq, nu;
    member *members;
    double *params;
    // where bodies are and how they move, for outputs that are not wanted
    tal_xform *X;
    tal_spatial_vec *V, *A;
    tal_error error_record;
};

// --- creation ---

// Bodies between the ancestor and the terminals, as marks over all bodies. False when a terminal is
// not carried by the ancestor; `lost` is that one.
static bool mark(const tal_matter *matter, int ancestor, const tal_body_ix terminals[], int num,
                 bool marks[], int *lost)
{
    marks[ancestor] = true;
    for (int k = 0; k < num; ++k) {
        int b = terminals[k].i;
        while (b > ancestor) {
            marks[b] = true;
            b = matter->bodies[b].parent;
        }
        *lost = terminals[k].i;
        if (b != ancestor) return false;
    }
    return true;
}

// The bodies that are marked, parents first, with what the State says of their mobilizers.
static void fill_members(tal_subtree *it, const tal_state *state, int ancestor, const bool marks[])
{
    const tal_matter *matter = it->matter;
    int next = 0, params = 0;
    for (int b = ancestor; b < matter->num_bodies; ++b) {
        if (!marks[b]) continue;
        const tal_body_ix body = {b};
        member *m = &it->members[next];
        *m = (member){.declared = &matter->bodies[b], .body = b, .q0 = it->nq, .u0 = it->nu};
        if (next++ == 0) continue;
        for (int k = 0; k < next - 1; ++k) {
            if (it->members[k].body == m->declared->parent) m->parent = k;
        }
        m->nq = tal_body_nq(matter, state, body);
        m->nu = tal_body_nu(matter, body);
        m->slot_q = tal_body_q_start(matter, state, body) -
                    tal_group_start(matter->system, state, matter->q);
        m->slot_u = tal_body_u_start(matter, body);
        m->use_angles = tal_body_uses_angles(matter, state, body);
        m->X_PF = tal_body_X_PF(matter, state, body);
        m->X_MB = tal_xf_inverse(tal_body_X_BM(matter, state, body));
        int n = 0;
        const double *own = tal_body_params(matter, state, body, &n);
        if (n > 0) memcpy(it->params + params, own, (size_t)n * sizeof *own);
        m->params = it->params + params;
        params += n;
        it->nq += m->nq;
        it->nu += m->nu;
    }
}

static bool take_memory(tal_subtree *it, const bool marks[])
{
    size_t n = 0, params = 1;
    for (int b = 0; b < it->matter->num_bodies; ++b) {
        n += marks[b];
        if (marks[b]) params += (size_t)it->matter->bodies[b].ops.num_params;
    }
    const tali_piece pieces[] = {{&it->members, n * sizeof *it->members},
                                 {&it->params, params * sizeof *it->params},
                                 {&it->X, n * sizeof *it->X},
                                 {&it->V, n * sizeof *it->V},
                                 {&it->A, n * sizeof *it->A}};
    it->num_bodies = (int)n;
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL;
}

static tal_status create(const tal_matter *matter, const tal_state *state, int ancestor,
                         const tal_body_ix terminals[], int num, bool marks[], tal_subtree **out,
                         tal_error *err)
{
    const tal_allocator allocator = tal_system_allocator(matter->system);
    int lost = 0;
    if (!mark(matter, ancestor, terminals, num, marks, &lost)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s' does not carry body '%s'",
                         matter->bodies[ancestor].name, matter->bodies[lost].name);
    }
    tal_subtree *it = tali_alloc(&allocator, sizeof *it);
    if (it != NULL) {
        it->matter = matter;
        it->allocator = allocator;
        if (take_memory(it, marks)) {
            fill_members(it, state, ancestor, marks);
            *out = it;
            return TAL_OK;
        }
        tal_subtree_destroy(it);
    }
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a part of a tree");
}

tal_status tal_subtree_create(const tal_matter *matter, const tal_state *state,
                              tal_body_ix ancestor, const tal_body_ix terminals[], int num,
                              tal_subtree **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (terminals == NULL) return TALI_BREACH(TAL_ERR_NULL, "'terminals' is NULL");
    if (num < 1) return TALI_BREACH(TAL_ERR_BAD_VALUE, "there are %d terminal bodies", num);
    if (tali_tree_body_at(matter, ancestor, __func__) == NULL) return tal_contract_last()->status;
    for (int k = 0; k < num; ++k) {
        if (tali_tree_body_at(matter, terminals[k], __func__) == NULL) {
            return tal_contract_last()->status;
        }
    }
    if (tali_cache_var_read(matter->system, state, matter->X_PF, __func__) == NULL ||
        tal_matter_nq(matter, state) < 0) {
        return tal_contract_last()->status;
    }
    const tal_allocator allocator = tal_system_allocator(matter->system);
    const size_t n = (size_t)matter->num_bodies;
    bool *marks = tali_alloc(&allocator, n * sizeof *marks);
    if (marks == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %zu bodies", n);
    const tal_status st = create(matter, state, ancestor.i, terminals, num, marks, out, err);
    tali_free(&allocator, marks, n * sizeof *marks);
    return st;
}

void tal_subtree_destroy(tal_subtree *subtree)
{
    if (subtree == NULL) return;
    const tal_allocator allocator = subtree->allocator;
    tali_free(&allocator, subtree->block, subtree->block_bytes);
    tali_free(&allocator, subtree, sizeof *subtree);
}

// --- what it is ---

int tal_subtree_num_bodies(const tal_subtree *subtree)
{
    if (subtree == NULL) (void)TALI_BREACH(TAL_ERR_NULL, "the subtree is NULL");
    return subtree != NULL ? subtree->num_bodies : 0;
}

int tal_subtree_nq(const tal_subtree *subtree)
{
    if (subtree == NULL) (void)TALI_BREACH(TAL_ERR_NULL, "the subtree is NULL");
    return subtree != NULL ? subtree->nq : 0;
}

int tal_subtree_nu(const tal_subtree *subtree)
{
    if (subtree == NULL) (void)TALI_BREACH(TAL_ERR_NULL, "the subtree is NULL");
    return subtree != NULL ? subtree->nu : 0;
}

tal_body_ix tal_subtree_body(const tal_subtree *subtree, int k)
{
    if (subtree != NULL && k >= 0 && k < subtree->num_bodies) {
        return (tal_body_ix){subtree->members[k].body};
    }
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no body %d in the subtree", k);
    return (tal_body_ix){-1};
}

int tal_subtree_find(const tal_subtree *subtree, tal_body_ix body)
{
    if (subtree == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the subtree is NULL");
        return -1;
    }
    int k = subtree->num_bodies - 1;
    while (k >= 0 && subtree->members[k].body != body.i) {
        --k;
    }
    return k;
}

int tal_subtree_list(const tal_subtree *subtree, tal_variable_kind kind, int slots[])
{
    if (subtree == NULL || slots == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the subtree or 'slots' is NULL");
        return -1;
    }
    int count = 0;
    for (int k = 1; k < subtree->num_bodies; ++k) {
        const member *m = &subtree->members[k];
        const int n = kind == TAL_VARIABLE_Q ? m->nq : m->nu;
        const int first = kind == TAL_VARIABLE_Q ? m->slot_q : m->slot_u;
        for (int i = 0; i < n; ++i) {
            slots[count++] = first + i;
        }
    }
    return count;
}

const tal_error *tal_subtree_error(const tal_subtree *subtree)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_subtree_error", "the subtree is NULL"};
    return subtree != NULL ? &subtree->error_record : &none;
}

// --- kinematics ---

// Across a mobilizer, in F at Mo: sum of columns times `x`, added to V.
static tal_spatial_vec add_columns(const tal_spatial_vec H[], const double x[], int n,
                                   tal_spatial_vec V)
{
    for (int j = 0; j < n; ++j) {
        V = tal_sv_axpy(x[j], H[j], V);
    }
    return V;
}

// The motion of a body at Bo from that of its parent at Po and that across its mobilizer, in A.
// With r from Po to Mo:
//
//     v_M = v_P + w_P x r + v_FM
//     a_M = a_P + b_P x r + w_P x (w_P x r) + 2 w_P x v_FM + a_FM      likewise b, not shifted
static void compose(tal_subtree *it, int k, tal_xform X_FM, tal_spatial_vec V_FM,
                    tal_spatial_vec A_FM)
{
    const member *m = &it->members[k];
    const tal_xform X_AP = it->X[m->parent];
    const tal_spatial_vec V_P = it->V[m->parent], A_P = it->A[m->parent];
    const tal_xform X_AF = tal_xf_mul(X_AP, m->X_PF), X_AM = tal_xf_mul(X_AF, X_FM);
    const tal_vec3 r = tal_v3_sub(X_AM.p, X_AP.p);
    const tal_spatial_vec V_J = tal_m3_mul_sv(X_AF.R, V_FM), A_J = tal_m3_mul_sv(X_AF.R, A_FM);
    const tal_spatial_vec V_M = tal_sv_add(tal_sv_shift_motion(V_P, r), V_J);
    const tal_spatial_vec turning =
        tal_sv(tal_v3_cross(V_P.w, V_J.w), tal_v3_scale(2.0, tal_v3_cross(V_P.w, V_J.v)));
    const tal_spatial_vec A_M =
        tal_sv_add(tal_sv_shift_acceleration(A_P, V_P.w, r), tal_sv_add(turning, A_J));
    it->X[k] = tal_xf_mul(X_AM, m->X_MB);
    const tal_vec3 d = tal_v3_sub(it->X[k].p, X_AM.p);
    it->V[k] = tal_sv_shift_motion(V_M, d);
    it->A[k] = tal_sv_shift_acceleration(A_M, V_M.w, d);
}

// One body from its parent. Without u, velocities are zero; without udot, accelerations are.
static tal_status move_member(tal_subtree *it, int k, const double q[], const double u[],
                              const double udot[])
{
    static const double none[TAL_MAX_NU] = {0.0};
    const member *m = &it->members[k];
    const tali_tree_body *b = m->declared;
    const double *own_u = u != NULL ? u + m->u0 : none;
    const tal_mobilizer_arg arg = {m->use_angles, m->params, q + m->q0, own_u};
    tal_spatial_vec H[TAL_MAX_NU], V_FM = {TAL_VEC3_ZERO, TAL_VEC3_ZERO}, A_FM = V_FM;
    tal_xform X_FM;
    tal_status st = tali_mobilizer_X_FM(&b->ops, b->self, &arg, b->direction, &X_FM);
    if (st == TAL_OK && u != NULL) {
        st = tali_mobilizer_H_FM(&b->ops, b->self, &arg, b->direction, &X_FM, H);
        V_FM = add_columns(H, own_u, m->nu, V_FM);
    }
    if (st == TAL_OK && udot != NULL) {
        st = tali_mobilizer_Hdot_u(&b->ops, b->self, &arg, b->direction, &X_FM, H, &A_FM);
        A_FM = add_columns(H, udot + m->u0, m->nu, A_FM);
    }
    if (st != TAL_OK) {
        return TALI_FAIL(&it->error_record, st, "body '%s': its q or u cannot be used (%s)",
                         b->name, tal_status_text(st));
    }
    compose(it, k, X_FM, V_FM, A_FM);
    return TAL_OK;
}

tal_status tal_subtree_kinematics(tal_subtree *subtree, const double q[], const double u[],
                                  const double udot[], tal_xform X[], tal_spatial_vec V[],
                                  tal_spatial_vec A[])
{
    if (subtree == NULL) return TALI_BREACH(TAL_ERR_NULL, "the subtree is NULL");
    if (q == NULL && subtree->nq > 0) return TALI_BREACH(TAL_ERR_NULL, "q is NULL");
    const bool wants_u = V != NULL || A != NULL, wants_udot = A != NULL;
    if (subtree->nu > 0 && ((wants_u && u == NULL) || (wants_udot && udot == NULL))) {
        return TALI_BREACH(TAL_ERR_NULL, "V needs u, and A needs u and udot");
    }
    subtree->error_record = (tal_error){TAL_OK, "", ""};
    const tal_spatial_vec none = {TAL_VEC3_ZERO, TAL_VEC3_ZERO};
    subtree->X[0] = TAL_XFORM_IDENTITY;
    subtree->V[0] = subtree->A[0] = none;
    tal_status st = TAL_OK;
    for (int k = 1; k < subtree->num_bodies && st == TAL_OK; ++k) {
        st = move_member(subtree, k, q, wants_u ? u : NULL, wants_udot ? udot : NULL);
    }
    if (st != TAL_OK) return st;
    const size_t n = (size_t)subtree->num_bodies;
    if (X != NULL) memcpy(X, subtree->X, n * sizeof *X);
    if (V != NULL) memcpy(V, subtree->V, n * sizeof *V);
    if (A != NULL) memcpy(A, subtree->A, n * sizeof *A);
    return TAL_OK;
}
