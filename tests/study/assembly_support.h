// Models to assemble, and how to look at them.
#ifndef TALUS_ASSEMBLY_SUPPORT_H
#define TALUS_ASSEMBLY_SUPPORT_H

#include "talus_test.h"

#include <talus/study.h>

#include <math.h>

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_assembler *assembler;
} model;

static inline model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    return m;
}

static inline void finish_model(model *m, const tal_assembler_def *def)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_assembler_create(m->system, def, &m->assembler, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void end_model(model *m)
{
    tal_assembler_destroy(m->assembler);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static inline tal_mobod_def link_at(tal_vec3 p_PF)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = tal_mass_props_rod(1.0, tal_v3(0.5, 0.0, 0.0));
    def.X_PF = tal_xf_from_p(p_PF);
    return def;
}

// --- four-bar: crank 1, coupler 3, rocker 2.5 on Ground at 0 and 3, closed by a ball ---

enum {
    CRANK = 1,
    COUPLER,
    ROCKER
};

static const double CRANK_LENGTH = 1.0, COUPLER_LENGTH = 3.0, ROCKER_LENGTH = 2.5, BASE = 3.0;

static inline model four_bar(const tal_assembler_def *def)
{
    model m = begin_model();
    tal_mobod_def link = link_at(tal_v3(0.0, 0.0, 0.0));
    const tal_body_ix crank = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    link = link_at(tal_v3(CRANK_LENGTH, 0.0, 0.0));
    const tal_body_ix coupler = tal_matter_add_pin(m.matter, crank, &link);
    link = link_at(tal_v3(BASE, 0.0, 0.0));
    const tal_body_ix rocker = tal_matter_add_pin(m.matter, TAL_GROUND, &link);
    tal_constraint_def ends = tal_constraint_def_default();
    ends.name = "knuckle";
    ends.bodies[0] = coupler;
    ends.bodies[1] = rocker;
    (void)tal_constraint_add_ball(m.matter, &ends, tal_v3(COUPLER_LENGTH, 0.0, 0.0),
                                  tal_v3(ROCKER_LENGTH, 0.0, 0.0));
    finish_model(&m, def);
    return m;
}

static inline double q_of(const model *m, int body)
{
    return tal_body_q(m->matter, m->state, (tal_body_ix){body}, 0);
}

static inline void set_q(const model *m, int body, double q)
{
    ck_assert_int_eq(tal_body_set_q(m->matter, m->state, (tal_body_ix){body}, 0, q), TAL_OK);
}

// Rocker and coupler for a crank angle by the law of cosines; `side` is +1 or -1, the branch.
static inline void closed_form(double crank, double side, double *coupler, double *rocker)
{
    const double x = CRANK_LENGTH * cos(crank), y = CRANK_LENGTH * sin(crank);
    const double dx = BASE - x, dy = -y, d = hypot(dx, dy);
    const double b = COUPLER_LENGTH, c = ROCKER_LENGTH;
    const double inner = acos((d * d + b * b - c * c) / (2.0 * d * b));
    const double absolute = atan2(dy, dx) + side * inner;
    *coupler = absolute - crank;
    *rocker = atan2(y + b * sin(absolute), x + b * cos(absolute) - BASE);
}

static inline double angle_between(double a, double b)
{
    return fabs(remainder(a - b, 2.0 * TAL_PI));
}

// --- a chain of pins ---

static inline tal_body_ix add_chain(model *m, int n)
{
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < n; ++i) {
        tal_mobod_def link = link_at(tal_v3(i == 0 ? 0.0 : 1.0, 0.0, 0.0));
        const double turn = i % 2 == 0 ? 0.0 : 0.5 * TAL_PI; // pins about z and y in turn
        link.X_PF.R = tal_rotation_about(TAL_AXIS_X, turn);
        body = tal_matter_add_pin(m->matter, body, &link);
    }
    return body;
}

#endif // TALUS_ASSEMBLY_SUPPORT_H
