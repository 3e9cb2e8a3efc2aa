// Products with N, N^+, Ndot and transposes: between speeds u and rates of the coordinates.
#include "rates_internal.h"

#include "operator/operators_internal.h"

static bool from_q(tal_n_op op)
{
    return op == TAL_N_T || op == TAL_NPLUS || op == TAL_NDOT_T;
}

static tal_status singular_rates(const tal_matter *matter, tal_state *state, int b, tal_status st)
{
    return tal_state_fail(state, st, "body '%s': the rates of its %s cannot be computed here (%s)",
                          matter->bodies[b].name, matter->bodies[b].ops.name, tal_status_text(st));
}

// What N needs to know: the State's q and u, and parameters of mobilizers.
typedef struct rates {
    tali_matter_model model;
    const double *q;
    const double *u;
    const double *params;
} rates;

static rates rates_of(const tal_matter *matter, const tal_state *state)
{
    const tal_system *system = matter->system;
    return (rates){tali_matter_model_of(matter, state),
                   tal_state_q(state) + tal_group_start(system, state, matter->q),
                   tal_state_u(state) + tal_group_start(system, state, matter->u),
                   tal_var_value(system, state, matter->var_params)};
}

// The arguments of one body's mobilizer functions.
static tal_mobilizer_arg arg_of(const tal_matter *matter, const rates *at, int b)
{
    return (tal_mobilizer_arg){.use_angles = at->model.use_angles[b] != 0,
                               .params = at->params + matter->bodies[b].param0,
                               .q = at->q + at->model.q0[b],
                               .u = at->u + matter->tree.u0[b]};
}

static tal_status mul_N(const tal_matter *matter, tal_state *state, const rates *at, tal_n_op op,
                        const double in[], double out[])
{
    const bool in_is_q = from_q(op);
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        const int q0 = at->model.q0[b], u0 = matter->tree.u0[b];
        const tal_mobilizer_arg arg = arg_of(matter, at, b);
        const tal_status st = tali_mobilizer_mul_N(
            &body->ops, body->self, &arg, op, in + (in_is_q ? q0 : u0), out + (in_is_q ? u0 : q0));
        if (st != TAL_OK) return singular_rates(matter, state, b, st);
    }
    return TAL_OK;
}

// Where q and u are packed alike.
static void copy_rates(tal_n_op op, const double in[], int n, double out[])
{
    const bool is_zero = op == TAL_NDOT || op == TAL_NDOT_T;
    for (int i = 0; i < n; ++i) {
        out[i] = is_zero ? 0.0 : in[i];
    }
}

tal_status tali_matter_mul_N_of(const tal_matter *matter, tal_state *state, const double q[],
                                const double u[], tal_n_op op, const double in[], double out[])
{
    if (matter->tree.num_N == 0) {
        copy_rates(op, in, matter->tree.num_u, out);
        return TAL_OK;
    }
    rates at = rates_of(matter, state);
    at.q = q, at.u = u;
    return mul_N(matter, state, &at, op, in, out);
}

tal_status tal_matter_mul_N(const tal_matter *matter, tal_state *state, tal_n_op op,
                            const double in[], double out[])
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st == TAL_OK) st = tali_op_array("in", in, __func__);
    if (st == TAL_OK) st = tali_op_array("out", out, __func__);
    if (st != TAL_OK) return st;
    const int n = from_q(op) ? tal_matter_nq(matter, state) : view.tree->num_u;
    st = tali_op_finite(state, "in", in, n);
    if (st != TAL_OK) return st;
    if (view.tree->num_N == 0) {
        copy_rates(op, in, n, out);
        return TAL_OK;
    }
    const rates at = rates_of(matter, state);
    st = mul_N(matter, state, &at, op, in, out);
    const int num_out = from_q(op) ? view.tree->num_u : tal_matter_nq(matter, state);
    return st == TAL_OK ? tali_op_result(state, "out", out, num_out) : st;
}

tal_status tal_body_mul_N(const tal_matter *matter, tal_state *state, tal_body_ix body, tal_n_op op,
                          const double in[], double out[])
{
    const tali_tree_body *declared = tali_tree_body_at(matter, body, __func__);
    const int nq = declared != NULL ? tal_body_nq(matter, state, body) : -1;
    if (nq < 0) return tal_contract_last()->status;
    tal_status st = tali_op_array("in", in, __func__);
    if (st == TAL_OK) st = tali_op_array("out", out, __func__);
    if (st == TAL_OK) st = tali_op_finite(state, "in", in, from_q(op) ? nq : declared->ops.nu);
    if (st != TAL_OK) return st;
    const rates at = rates_of(matter, state);
    const tal_mobilizer_arg arg = arg_of(matter, &at, body.i);
    st = tali_mobilizer_mul_N(&declared->ops, declared->self, &arg, op, in, out);
    return st == TAL_OK ? st : singular_rates(matter, state, body.i, st);
}

tal_status tal_matter_mul_N_columns(const tal_matter *matter, tal_state *state, tal_n_op op,
                                    tal_matrix in, tal_matrix out)
{
    tali_tree_view view;
    tal_status st = tali_op_view(matter, state, TALI_POSITION, &view, __func__);
    if (st != TAL_OK) return st;
    const rates at = rates_of(matter, state);
    const int nq = tal_matter_nq(matter, state), nu = view.tree->num_u;
    st = tali_op_columns(state, "in", in, from_q(op) ? nq : nu, "out", out, from_q(op) ? nu : nq,
                         __func__);
    for (int j = 0; j < in.cols && st == TAL_OK; ++j) {
        st = mul_N(matter, state, &at, op, tali_op_column(in, j), tali_op_column(out, j));
    }
    return st == TAL_OK ? tali_op_result_columns(state, "out", out) : st;
}

tal_status tal_matter_calc_qdot(const tal_matter *matter, tal_state *state, const double u[],
                                double qdot[])
{
    return tal_matter_mul_N(matter, state, TAL_N, u, qdot);
}

tal_status tal_matter_calc_qdotdot(const tal_matter *matter, tal_state *state, const double udot[],
                                   double qdotdot[])
{
    tal_status st = tal_matter_mul_N(matter, state, TAL_N, udot, qdotdot);
    if (st != TAL_OK) return st;
    const rates at = rates_of(matter, state);
    for (int b = 1; b < matter->num_bodies; ++b) {
        const tali_tree_body *body = &matter->bodies[b];
        if (body->ops.mul_N == NULL) continue;
        const tal_mobilizer_arg arg = arg_of(matter, &at, b);
        double Ndot_u[TAL_MAX_NQ];
        st = tali_mobilizer_mul_N(&body->ops, body->self, &arg, TAL_NDOT, arg.u, Ndot_u);
        if (st != TAL_OK) return singular_rates(matter, state, b, st);
        for (int i = 0; i < at.model.nq[b]; ++i) {
            qdotdot[at.model.q0[b] + i] += Ndot_u[i];
        }
    }
    return TAL_OK;
}
