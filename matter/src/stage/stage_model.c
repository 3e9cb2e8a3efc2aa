// What matter computes at Model and Instance: how q is packed, and the constants of bodies.
#include "constraint/constraint_internal.h"
#include "stage/stages_internal.h"

// --- Model: packing q ---

typedef struct model_layout {
    size_t q0, nq, size;
} model_layout;

static model_layout lay_out_model(const tali_tree *tree)
{
    const size_t n = (size_t)tree->num_bodies;
    model_layout at = {.size = 0};
    at.q0 = tali_piece_at(&at.size, n * sizeof(int32_t));
    at.nq = tali_piece_at(&at.size, n);
    return at;
}

size_t tali_stage_model_size(const tali_tree *tree)
{
    return lay_out_model(tree).size;
}

static tali_matter_model model_in(const tali_tree *tree, const char *bytes,
                                  const uint8_t *use_angles)
{
    const model_layout at = lay_out_model(tree);
    return (tali_matter_model){(const int32_t *)(const void *)(bytes + at.q0),
                               (const uint8_t *)(const void *)(bytes + at.nq), use_angles};
}

tali_matter_model tali_matter_model_of(const tal_matter *matter, const tal_state *state)
{
    return model_in(&matter->tree, tal_cache_value(matter->system, state, matter->model),
                    tal_var_value(matter->system, state, matter->modes));
}

tali_matter_model tali_matter_model_unchecked(const tal_matter *matter, const tal_state *state)
{
    return model_in(&matter->tree, tali_cache_at(matter->system, state, matter->model),
                    tali_cache_var_in(matter->system, state, matter->modes));
}

// The initial q of a body: as set while building, or the mobilizer's zero.
void tali_tree_write_initial_q(const tal_matter *matter, const tali_tree_body *body,
                               bool use_angles, double q[])
{
    const int nq = tali_mobilizer_nq(&body->ops, use_angles);
    const double *initial = body->initial_q >= 0 ? matter->initial + body->initial_q : NULL;
    if (initial != NULL && use_angles != body->use_angles) {
        tali_tree_convert_q(&body->ops, initial, use_angles, q);
        return;
    }
    for (int i = 0; i < nq; ++i) {
        q[i] = initial != NULL ? initial[i] : 0.0;
    }
    if (initial == NULL && body->ops.has_quaternion && !use_angles) q[0] = 1.0;
}

tal_status tali_stage_realize_model(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const tali_tree *tree = &matter->tree;
    const model_layout at = lay_out_model(tree);
    char *bytes = tal_cache_upd(system, state, matter->model);
    int32_t *q0 = (int32_t *)(void *)(bytes + at.q0);
    uint8_t *nq = (uint8_t *)(void *)(bytes + at.nq);
    const uint8_t *use_angles = tal_var_value(system, state, matter->modes);

    const size_t mark = tal_state_scratch_mark(state);
    double *initial = tal_state_scratch_take(state, ((size_t)tree->max_nq + 1) * sizeof(double));
    int num_q = 0;
    for (int b = 0; b < tree->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        const int n = use_angles[b] ? body->ops.nq_angles : body->ops.nq;
        q0[b] = num_q;
        nq[b] = (uint8_t)n;
        tali_tree_write_initial_q(matter, body, use_angles[b] != 0, initial + num_q);
        num_q += n;
    }
    const tal_status st = tal_group_set_size(system, state, matter->q, num_q, initial);
    tal_state_scratch_release(state, mark);
    if (st != TAL_OK) return st;
    return tal_cache_mark_valid(system, state, matter->model);
}

// --- Instance: mass properties and frames, re-expressed to M ---

tal_status tali_stage_calc_constants(const void *self, const tal_system *system, tal_state *state,
                                     void *value)
{
    const tal_matter *matter = self;
    const tal_mass_props *mass = tal_var_value(system, state, matter->mass);
    const tal_xform *X_PF = tal_var_value(system, state, matter->X_PF);
    const tal_xform *X_BM = tal_var_value(system, state, matter->X_BM);
    const double *rotor = tal_var_value(system, state, matter->rotor);
    tali_tree_constants *constants = value;
    bool *is_every_Bo_Mo = (bool *)(void *)(constants + matter->num_bodies);
    *is_every_Bo_Mo = true;
    constants[0] = (tali_tree_constants){.R_PF = TAL_MAT3_IDENTITY, .X_MB = TAL_XFORM_IDENTITY};
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tal_xform X_MF = tal_xf_inv_mul(X_BM[matter->tree.parent[b]], X_PF[b]);
        const tal_xform X_MB = tal_xf_inverse(X_BM[b]);
        const tal_mass_props in_M = tal_mass_props_transform(&X_MB, &mass[b]);
        constants[b] = (tali_tree_constants){.R_PF = X_MF.R,
                                             .p_PF = X_MF.p,
                                             .mass = in_M.mass,
                                             .rotor = rotor[b],
                                             .mc = tal_v3_scale(in_M.mass, in_M.com),
                                             .I = in_M.inertia,
                                             .X_MB = X_MB};
        const bool is_Bo_Mo = X_MB.p.x == 0.0 && X_MB.p.y == 0.0 && X_MB.p.z == 0.0;
        *is_every_Bo_Mo = *is_every_Bo_Mo && is_Bo_Mo;
    }
    return TAL_OK;
}

tal_status tali_stage_realize_instance(const void *self, const tal_system *system, tal_state *state)
{
    const tal_matter *matter = self;
    const uint8_t *use_angles = tal_var_value(system, state, matter->modes);
    int num_quaternions = 0;
    for (int i = 0; i < matter->tree.num_quaternions; ++i) {
        num_quaternions += !use_angles[matter->tree.quaternions[i]];
    }
    const tal_status st =
        tal_group_set_size(system, state, matter->quaternion_errors, num_quaternions, NULL);
    return st == TAL_OK ? tali_constraints_realize_instance(matter, state) : st;
}
