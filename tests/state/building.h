// Systems that are being built, and failures of building.
#ifndef TALUS_BUILDING_H
#define TALUS_BUILDING_H

#include "talus_test.h"

#include <talus/state.h>

static const tal_subsystem_ops plain = {.size = sizeof plain, .name = "plain"};

/// Assert that building failed with this status and a sentence that has `part` in it, and that
/// realizing the topology tells the same; destroys the System.
static inline void assert_failed(tal_system *system, tal_status status, const char *part)
{
    ck_assert_int_eq(tal_system_error(system)->status, status);
    ck_assert_msg(strstr(tal_system_error(system)->message, part) != NULL, "'%s' lacks '%s'",
                  tal_system_error(system)->message, part);
    tal_error err;
    ck_assert_int_eq(tal_system_realize_topology(system, &err), status);
    ck_assert_str_eq(err.message, tal_system_error(system)->message);
    ck_assert(!tal_system_has_topology(system));
    ck_assert_uint_eq(tal_system_structure_hash(system), 0);
    tal_system_destroy(system);
}

/// A System with one subsystem.
static inline tal_system *with_subsystem(tal_subsystem_ix *me)
{
    tal_system *system = tal_system_create(NULL);
    *me = tal_system_add_subsystem(system, "s", &plain, NULL);
    ck_assert_int_eq(me->i, 0);
    return system;
}

/// tal_cache_def.calc that computes nothing.
static inline tal_status no_calc(const void *context, const tal_system *system, tal_state *state,
                                 void *value)
{
    (void)context;
    (void)system;
    (void)state;
    *(double *)value = 0.0;
    return TAL_OK;
}

#endif // TALUS_BUILDING_H
