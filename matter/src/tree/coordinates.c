// q and u of one body: reading, setting, fitting; quaternions or angles.
#include "tree/matter_internal.h"

#include <float.h>
#include <math.h>

// True when body and State can be used together from Model on; otherwise a breach has been
// reported.
static bool usable(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                   const char *where)
{
    if (tali_tree_body_at(matter, body, where) == NULL) return false;
    return tali_cache_read(matter->system, state, matter->model, where) != NULL;
}

int tal_body_nq(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    return usable(matter, state, body, __func__) ? tali_matter_model_of(matter, state).nq[body.i]
                                                 : -1;
}

int tal_body_nq_angles(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    return declared != NULL ? declared->ops.nq_angles : -1;
}

bool tal_body_qdot_is_u(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    return declared != NULL && declared->ops.mul_N == NULL;
}

int tal_body_q_start(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    if (!usable(matter, state, body, __func__)) return -1;
    return tal_group_start(matter->system, state, matter->q) +
           tali_matter_model_of(matter, state).q0[body.i];
}

// Index of coordinate or speed `i` of a body in q or u; -1 after reporting the breach.
static int slot_of(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i,
                   bool speed, const char *where)
{
    if (!usable(matter, state, body, where)) return -1;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const int n = speed ? matter->tree.nu[body.i] : model.nq[body.i];
    if (i < 0 || i >= n) {
        (void)tali_breach(TAL_ERR_BAD_INDEX, where, "body '%s' has no %s %d: it has %d",
                          matter->bodies[body.i].name, speed ? "speed" : "coordinate", i, n);
        return -1;
    }
    const tal_group_ix group = speed ? matter->u : matter->q;
    const int first = speed ? matter->tree.u0[body.i] : model.q0[body.i];
    return tal_group_start(matter->system, state, group) + first + i;
}

double tal_body_q(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i)
{
    const int slot = slot_of(matter, state, body, i, false, __func__);
    return slot >= 0 ? tal_state_q(state)[slot] : TALI_NAN;
}

double tal_body_u(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i)
{
    const int slot = slot_of(matter, state, body, i, true, __func__);
    return slot >= 0 ? tal_state_u(state)[slot] : TALI_NAN;
}

static tal_status set_slot(const tal_matter *matter, tal_state *state, tal_body_ix body, int i,
                           bool speed, double value, const char *where)
{
    const int slot = slot_of(matter, state, body, i, speed, where);
    if (slot < 0) return tal_contract_last()->status;
    if (!isfinite(value)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "body '%s': %s %d cannot be %g",
                                matter->bodies[body.i].name, speed ? "speed" : "coordinate", i,
                                value);
    }
    double *values = speed ? tal_state_upd_u(state) : tal_state_upd_q(state);
    if (values == NULL) return tal_contract_last()->status;
    values[slot] = value;
    return TAL_OK;
}

tal_status tal_body_set_q(const tal_matter *matter, tal_state *state, tal_body_ix body, int i,
                          double value)
{
    return set_slot(matter, state, body, i, false, value, __func__);
}

tal_status tal_body_set_u(const tal_matter *matter, tal_state *state, tal_body_ix body, int i,
                          double value)
{
    return set_slot(matter, state, body, i, true, value, __func__);
}

// --- all of one body ---

// First of `n` coordinates or speeds of a body in q or u; -1 after reporting the breach.
static int first_slot(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                      bool speeds, const double values[], int n, const char *where)
{
    if (!usable(matter, state, body, where)) return -1;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const int count = speeds ? matter->tree.nu[body.i] : model.nq[body.i];
    if (n != count) {
        (void)tali_breach(TAL_ERR_BAD_VALUE, where, "body '%s' has %d %s, not %d",
                          matter->bodies[body.i].name, count, speeds ? "speeds" : "coordinates", n);
        return -1;
    }
    if (values == NULL && n > 0) {
        (void)tali_breach(TAL_ERR_NULL, where, "the values are NULL");
        return -1;
    }
    const tal_group_ix group = speeds ? matter->u : matter->q;
    const int first = speeds ? matter->tree.u0[body.i] : model.q0[body.i];
    return tal_group_start(matter->system, state, group) + (n > 0 ? first : 0);
}

static tal_status get_all(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                          bool speeds, double values[], int n, const char *where)
{
    const int first = first_slot(matter, state, body, speeds, values, n, where);
    if (first < 0) return tal_contract_last()->status;
    const double *from = speeds ? tal_state_u(state) : tal_state_q(state);
    for (int i = 0; i < n; ++i) {
        values[i] = from[first + i];
    }
    return TAL_OK;
}

static tal_status set_all(const tal_matter *matter, tal_state *state, tal_body_ix body, bool speeds,
                          const double values[], int n, const char *where)
{
    const int first = first_slot(matter, state, body, speeds, values, n, where);
    if (first < 0) return tal_contract_last()->status;
    for (int i = 0; i < n; ++i) {
        if (isfinite(values[i])) continue;
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "body '%s': %s %d cannot be %g",
                                matter->bodies[body.i].name, speeds ? "speed" : "coordinate", i,
                                values[i]);
    }
    if (n == 0) return TAL_OK;
    double *to = speeds ? tal_state_upd_u(state) : tal_state_upd_q(state);
    if (to == NULL) return tal_contract_last()->status;
    for (int i = 0; i < n; ++i) {
        to[first + i] = values[i];
    }
    return TAL_OK;
}

tal_status tal_body_get_all_q(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                              double q[], int n)
{
    return get_all(matter, state, body, false, q, n, __func__);
}

tal_status tal_body_get_all_u(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                              double u[], int n)
{
    return get_all(matter, state, body, true, u, n, __func__);
}

tal_status tal_body_set_all_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                              const double q[], int n)
{
    return set_all(matter, state, body, false, q, n, __func__);
}

tal_status tal_body_set_all_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                              const double u[], int n)
{
    return set_all(matter, state, body, true, u, n, __func__);
}

// --- fitting ---

static const double *q_of(const tal_matter *matter, const tal_state *state)
{
    return tal_state_q(state) + tal_group_start(matter->system, state, matter->q);
}

static const double *u_of(const tal_matter *matter, const tal_state *state)
{
    return tal_state_u(state) + tal_group_start(matter->system, state, matter->u);
}

// Whether a body has a mobilizer that can be fitted; else a breach in the name of `where`.
static bool can_fit(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                    const char *where)
{
    if (!usable(matter, state, body, where)) return false;
    if (body.i != 0) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "Ground has no mobilizer to fit");
    return false;
}

// Set q of a body to the fit of a pose, or of a part of it.
static tal_status fit_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                        const tal_xform *X_FM, tali_mobilizer_fit_parts parts, const char *where)
{
    if (!can_fit(matter, state, body, where)) return tal_contract_last()->status;
    const tali_tree_body *declared = &matter->bodies[body.i];
    if (!tali_tree_is_frame(X_FM)) {
        return tal_state_refuse(
            state, tal_xf_is_finite(*X_FM) ? TAL_ERR_BAD_VALUE : TAL_ERR_NOT_FINITE,
            "body '%s': the wanted X_FM is not a rotation and a finite position", declared->name);
    }
    double q[TAL_MAX_NQ] = {0.0};
    const tal_mobilizer_arg arg =
        tali_tree_mobilizer_arg_of(matter, state, body.i, q_of(matter, state), u_of(matter, state));
    const tal_status st = parts == TALI_FIT_ALL
                              ? tali_mobilizer_fit_q(&declared->ops, declared->self, &arg,
                                                     declared->direction, X_FM, q)
                              : tali_mobilizer_fit_q_part(&declared->ops, declared->self, &arg,
                                                          declared->direction, X_FM, parts, q);
    if (st != TAL_OK) {
        return tal_state_refuse(state, st, "body '%s': no q fits the wanted X_FM (%s)",
                                declared->name, tal_status_text(st));
    }
    const int nq = tal_body_nq(matter, state, body);
    const int start = tal_body_q_start(matter, state, body);
    double *values = tal_state_upd_q(state);
    if (values == NULL) return tal_contract_last()->status;
    for (int i = 0; i < nq; ++i) {
        values[start + i] = q[i];
    }
    return TAL_OK;
}

tal_status tal_body_fit_q(const tal_matter *matter, tal_state *state, tal_body_ix body,
                          const tal_xform *X_FM)
{
    if (X_FM == NULL) return TALI_BREACH(TAL_ERR_NULL, "the wanted X_FM is NULL");
    return fit_q(matter, state, body, X_FM, TALI_FIT_ALL, __func__);
}

tal_status tal_body_fit_rotation(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                 const tal_mat3 *R_FM)
{
    if (R_FM == NULL) return TALI_BREACH(TAL_ERR_NULL, "the wanted R_FM is NULL");
    const tal_xform X_FM = tal_xf_from_R(*R_FM);
    return fit_q(matter, state, body, &X_FM, TALI_FIT_ROTATION, __func__);
}

tal_status tal_body_fit_translation(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                    tal_vec3 p_FM)
{
    const tal_xform X_FM = tal_xf_from_p(p_FM);
    return fit_q(matter, state, body, &X_FM, TALI_FIT_TRANSLATION, __func__);
}

// Set u of a body to the fit of a velocity, or of a part of it.
static tal_status fit_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                        tal_spatial_vec V_FM, tali_mobilizer_fit_parts parts, const char *where)
{
    if (!can_fit(matter, state, body, where)) return tal_contract_last()->status;
    const tali_tree_body *declared = &matter->bodies[body.i];
    if (!tal_sv_is_finite(V_FM)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE,
                                "body '%s': the wanted V_FM is not finite", declared->name);
    }
    double u[TAL_MAX_NU] = {0.0};
    const tal_mobilizer_arg arg =
        tali_tree_mobilizer_arg_of(matter, state, body.i, q_of(matter, state), u_of(matter, state));
    const tal_status st = parts == TALI_FIT_ALL
                              ? tali_mobilizer_fit_u(&declared->ops, declared->self, &arg,
                                                     declared->direction, V_FM, u)
                              : tali_mobilizer_fit_u_part(&declared->ops, declared->self, &arg,
                                                          declared->direction, V_FM, parts, u);
    if (st != TAL_OK) {
        return tal_state_refuse(state, st, "body '%s': no u fits the wanted V_FM (%s)",
                                declared->name, tal_status_text(st));
    }
    const int start = tal_group_start(matter->system, state, matter->u) + matter->tree.u0[body.i];
    double *values = tal_state_upd_u(state);
    if (values == NULL) return tal_contract_last()->status;
    for (int j = 0; j < matter->tree.nu[body.i]; ++j) {
        values[start + j] = u[j];
    }
    return TAL_OK;
}

tal_status tal_body_fit_u(const tal_matter *matter, tal_state *state, tal_body_ix body,
                          tal_spatial_vec V_FM)
{
    return fit_u(matter, state, body, V_FM, TALI_FIT_ALL, __func__);
}

tal_status tal_body_fit_angular_velocity(const tal_matter *matter, tal_state *state,
                                         tal_body_ix body, tal_vec3 w_FM)
{
    return fit_u(matter, state, body, tal_sv(w_FM, TAL_VEC3_ZERO), TALI_FIT_ROTATION, __func__);
}

tal_status tal_body_fit_linear_velocity(const tal_matter *matter, tal_state *state,
                                        tal_body_ix body, tal_vec3 v_FM)
{
    return fit_u(matter, state, body, tal_sv(TAL_VEC3_ZERO, v_FM), TALI_FIT_TRANSLATION, __func__);
}

// --- quaternions or angles ---

bool tal_body_uses_angles(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    return usable(matter, state, body, __func__) &&
           tali_matter_model_of(matter, state).use_angles[body.i] != 0;
}

void tali_tree_convert_q(const tal_mobilizer_ops *ops, const double from[], bool use_angles,
                         double to[])
{
    static const tal_axis xyz[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const int rest = ops->nq - 4;
    if (use_angles) {
        const tal_mat3 R = tal_rotation_from_qt(tal_qt(from[0], from[1], from[2], from[3]));
        (void)tal_rotation_to_angles(&R, TAL_BODY_FIXED, 3, xyz, to);
    } else {
        const tal_mat3 R = tal_rotation_from_angles(TAL_BODY_FIXED, 3, xyz, from);
        const tal_quat e = tal_rotation_to_qt(&R);
        to[0] = e.w, to[1] = e.x, to[2] = e.y, to[3] = e.z;
    }
    for (int i = 0; i < rest; ++i) {
        to[(use_angles ? 3 : 4) + i] = from[(use_angles ? 4 : 3) + i];
    }
}

static bool changes(const tal_matter *matter, const tali_matter_model *model, int b,
                    bool use_angles)
{
    return matter->bodies[b].ops.has_quaternion && (model->use_angles[b] != 0) != use_angles;
}

// Every orientation among bodies first ... last-1 that is to be converted must be one.
static tal_status check_convertible(const tal_matter *matter, tal_state *state, int first, int last,
                                    bool use_angles)
{
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const double *q = q_of(matter, state);
    for (int b = first; b < last; ++b) {
        if (!changes(matter, &model, b, use_angles)) continue;
        const double *e = q + model.q0[b];
        const bool good = use_angles ? tali_tree_has_direction(e)
                                     : isfinite(e[0]) && isfinite(e[1]) && isfinite(e[2]);
        if (good) continue;
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': its orientation (%g, %g, %g ...) cannot be converted",
                                matter->bodies[b].name, e[0], e[1], e[2]);
    }
    return TAL_OK;
}

// All q after the conversion; returns how many.
static int pack_converted(const tal_matter *matter, const tal_state *state, int first, int last,
                          bool use_angles, double q[])
{
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const double *old = q_of(matter, state);
    int n = 0;
    for (int b = 0; b < matter->num_bodies; ++b) {
        const tal_mobilizer_ops *ops = &matter->bodies[b].ops;
        const double *from = old + model.q0[b];
        if (b >= first && b < last && changes(matter, &model, b, use_angles)) {
            tali_tree_convert_q(ops, from, use_angles, q + n);
            n += tali_mobilizer_nq(ops, use_angles);
        } else {
            for (int i = 0; i < model.nq[b]; ++i) {
                q[n++] = from[i];
            }
        }
    }
    return n;
}

// Changes the choice of bodies first ... last-1 and packs q again.
static tal_status change_modes(const tal_matter *matter, tal_state *state, int first, int last,
                               bool use_angles)
{
    const tal_system *system = matter->system;
    // a failure that an earlier setter left must be returned before anything changes, and stay
    tal_status st = tal_system_realize(system, state, TAL_STAGE_MODEL);
    if (st != TAL_OK) {
        const tal_error earlier = *tal_state_error(state);
        return tal_state_refuse(state, st, "%s", earlier.message);
    }
    st = check_convertible(matter, state, first, last, use_angles);
    if (st != TAL_OK) return st;

    const size_t mark = tal_state_scratch_mark(state);
    double *q = tal_state_scratch_take(state, ((size_t)matter->tree.max_nq + 1) * sizeof *q);
    if (q == NULL) return TAL_ERR_CAPACITY;
    const int n = pack_converted(matter, state, first, last, use_angles, q);
    uint8_t *modes = tal_var_upd(system, state, matter->modes);
    for (int b = first; b < last && modes != NULL; ++b) {
        if (matter->bodies[b].ops.has_quaternion) modes[b] = use_angles;
    }
    st = modes != NULL ? tal_system_realize(system, state, TAL_STAGE_MODEL)
                       : tal_contract_last()->status;
    if (st == TAL_OK && n > 0) {
        memcpy(tal_state_upd_q(state) + tal_group_start(system, state, matter->q), q,
               (size_t)n * sizeof *q);
    }
    tal_state_scratch_release(state, mark);
    return st;
}

tal_status tal_body_set_use_angles(const tal_matter *matter, tal_state *state, tal_body_ix body,
                                   bool use_angles)
{
    if (!usable(matter, state, body, __func__)) return tal_contract_last()->status;
    if (!matter->bodies[body.i].ops.has_quaternion) {
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': its %s has no quaternion to choose",
                                matter->bodies[body.i].name, matter->bodies[body.i].ops.name);
    }
    return change_modes(matter, state, body.i, body.i + 1, use_angles);
}

tal_status tal_matter_set_use_angles(const tal_matter *matter, tal_state *state, bool use_angles)
{
    if (!usable(matter, state, TAL_GROUND, __func__)) return tal_contract_last()->status;
    return change_modes(matter, state, 0, matter->num_bodies, use_angles);
}

// Length 1 up to round-off: the square of a quaternion just normalized is off by at most 6 eps
// (4 roundings in the sum of squares, halved by the root and doubled by the square, and 4 more to
// look). Such a one is left alone, so that normalizing twice is normalizing once.
static bool is_unit(const double e[4])
{
    const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3];
    return fabs(square - 1.0) <= 8.0 * DBL_EPSILON;
}

static bool has_quaternion(const tal_matter *matter, const tali_matter_model *model, int b)
{
    return matter->bodies[b].ops.has_quaternion && !model->use_angles[b];
}

// The first body whose quaternion has no direction; Ground: all have one. `any`: one of them is not
// of length 1.
static int look_at_quaternions(const tal_matter *matter, const tali_matter_model *model,
                               const double q[], bool *any)
{
    *any = false;
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!has_quaternion(matter, model, b)) continue;
        const double *e = q + model->q0[b];
        if (!tal_qt_is_finite(tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3])))) return b;
        *any = *any || !is_unit(e);
    }
    return 0;
}

static void normalize(const tal_matter *matter, const tali_matter_model *model, double q[])
{
    for (int b = 1; b < matter->num_bodies; ++b) {
        if (!has_quaternion(matter, model, b)) continue;
        double *e = q + model->q0[b];
        if (is_unit(e)) continue;
        const tal_quat unit = tal_qt_normalize(tal_qt(e[0], e[1], e[2], e[3]));
        e[0] = unit.w, e[1] = unit.x, e[2] = unit.y, e[3] = unit.z;
    }
}

bool tali_tree_normalize(const tal_matter *matter, const tali_matter_model *model, double q[])
{
    bool any;
    if (look_at_quaternions(matter, model, q, &any) != 0) return false;
    if (any) normalize(matter, model, q);
    return true;
}

tal_status tal_matter_normalize_quaternions(const tal_matter *matter, tal_state *state)
{
    if (!usable(matter, state, TAL_GROUND, __func__)) return tal_contract_last()->status;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    bool any = false;
    const int b = look_at_quaternions(matter, &model, q_of(matter, state), &any);
    if (b != 0) {
        const double *e = q_of(matter, state) + model.q0[b];
        return tal_state_refuse(state, TAL_ERR_BAD_VALUE,
                                "body '%s': its quaternion (%g, %g, %g, %g) has no direction",
                                matter->bodies[b].name, e[0], e[1], e[2], e[3]);
    }
    if (!any) return TAL_OK;
    double *q = tal_state_upd_q(state);
    if (q == NULL) return tal_contract_last()->status;
    normalize(matter, &model, q + tal_group_start(matter->system, state, matter->q));
    return TAL_OK;
}
