// A System with gravity and a linearizer for it, for the tests of linearization.
#ifndef TALUS_TESTS_LINEARIZER_SUPPORT_H
#define TALUS_TESTS_LINEARIZER_SUPPORT_H

#include "talus_test.h"

#include <talus/study.h>

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_state *state;
    tal_linearizer *lin;
} model;

static inline model begin_model(tal_vec3 g)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    m.forces = tal_forces_create(m.system, m.matter);
    (void)tal_forces_add_gravity(m.forces, g);
    return m;
}

static inline void finish_model(model *m)
{
    tal_error err = {0};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_state_create(m->system, &m->state, &err) == TAL_OK, "%s", err.message);
    ck_assert_msg(tal_linearizer_create(m->system, NULL, &m->lin, &err) == TAL_OK, "%s",
                  err.message);
}

static inline void end_model(model *m)
{
    tal_linearizer_destroy(m->lin);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static inline void find_modes(model *m)
{
    ck_assert_msg(tal_linearizer_run(m->lin, m->state) == TAL_OK, "%s",
                  tal_linearizer_error(m->lin)->message);
    ck_assert_msg(tal_linearizer_find_modes(m->lin) == TAL_OK, "%s",
                  tal_linearizer_error(m->lin)->message);
}

#endif // TALUS_TESTS_LINEARIZER_SUPPORT_H
