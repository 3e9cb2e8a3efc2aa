// Numbers of a State that an ensemble varies.
#include "error_internal.h"

#include <talus/study/parameter.h>

#include <string.h>

static tal_status set_var(const tal_parameter *self, const tal_system *system, tal_state *state,
                          double value)
{
    return tal_var_set_double(system, state, (tal_var_ix){self->i}, value);
}

static tal_status set_mass(const tal_parameter *self, const tal_system *system, tal_state *state,
                           double value)
{
    (void)system;
    const tal_body_ix body = {self->i};
    tal_mass_props props = tal_body_mass_props(self->object, state, body);
    if (!(props.mass > 0.0)) {
        return tal_state_fail(state, TAL_ERR_BAD_VALUE,
                              "'%s': a body without mass has no inertia to scale", self->name);
    }
    props.inertia = tal_s3_scale(value / props.mass, props.inertia);
    props.mass = value;
    return tal_body_set_mass_props(self->object, state, body, &props);
}

static tal_status set_force(const tal_parameter *self, const tal_system *system, tal_state *state,
                            double value)
{
    (void)system;
    return tal_force_set_param(self->object, state, (tal_force_ix){self->i}, self->j, value);
}

static tal_status set_constraint(const tal_parameter *self, const tal_system *system,
                                 tal_state *state, double value)
{
    (void)system;

    enum {
        MOST = 64
    };

    const tal_constraint_ix constraint = {self->i};
    int n = 0;
    double params[MOST];
    const double *now = tal_constraint_params(self->object, state, constraint, &n);
    if (now == NULL || self->j < 0 || self->j >= n || n > MOST) {
        return tal_state_fail(state, TAL_ERR_BAD_INDEX, "'%s': there is no parameter %d",
                              self->name, self->j);
    }
    memcpy(params, now, (size_t)n * sizeof *params);
    params[self->j] = value;
    return tal_constraint_set_params(self->object, state, constraint, params, n);
}

static tal_status set_q(const tal_parameter *self, const tal_system *system, tal_state *state,
                        double value)
{
    (void)system;
    return tal_body_set_q(self->object, state, (tal_body_ix){self->i}, self->j, value);
}

static tal_status set_u(const tal_parameter *self, const tal_system *system, tal_state *state,
                        double value)
{
    (void)system;
    return tal_body_set_u(self->object, state, (tal_body_ix){self->i}, self->j, value);
}

tal_parameter tal_parameter_var(const char *name, tal_var_ix var)
{
    return (tal_parameter){name, set_var, NULL, var.i, 0};
}

tal_parameter tal_parameter_mass(const char *name, const tal_matter *matter, tal_body_ix body)
{
    return (tal_parameter){name, set_mass, matter, body.i, 0};
}

tal_parameter tal_parameter_force(const char *name, const tal_forces *forces, tal_force_ix force,
                                  int param)
{
    return (tal_parameter){name, set_force, forces, force.i, param};
}

tal_parameter tal_parameter_constraint(const char *name, const tal_matter *matter,
                                       tal_constraint_ix constraint, int param)
{
    return (tal_parameter){name, set_constraint, matter, constraint.i, param};
}

tal_parameter tal_parameter_q(const char *name, const tal_matter *matter, tal_body_ix body, int i)
{
    return (tal_parameter){name, set_q, matter, body.i, i};
}

tal_parameter tal_parameter_u(const char *name, const tal_matter *matter, tal_body_ix body, int i)
{
    return (tal_parameter){name, set_u, matter, body.i, i};
}
