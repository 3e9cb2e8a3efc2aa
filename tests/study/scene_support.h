// A System with its State, and what studies of molecules need: for their tests.
#ifndef TALUS_SCENE_SUPPORT_H
#define TALUS_SCENE_SUPPORT_H

#include "talus_test.h"

#include <talus/molecule.h>
#include <talus/study.h>

typedef struct scene {
    tal_ff *ff; ///< NULL where there is no molecule
    tal_mol *mol;
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    const tal_mol_instance *instance;
    tal_state *state;
    tal_md *md;
    tal_minimizer *minimizer;
} scene;

static inline void begin(scene *s)
{
    memset(s, 0, sizeof *s);
    s->system = tal_system_create(NULL);
    s->matter = tal_matter_create(s->system);
    s->forces = tal_forces_create(s->system, s->matter);
}

static inline void create_state(scene *s)
{
    tal_error err;
    ck_assert_msg(tal_system_realize_topology(s->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(s->system, &s->state, &err), TAL_OK);
}

static inline void end(scene *s)
{
    tal_minimizer_destroy(s->minimizer);
    tal_md_destroy(s->md);
    tal_state_destroy(s->state);
    tal_system_destroy(s->system);
    tal_mol_destroy(s->mol);
    tal_ff_destroy(s->ff);
}

#endif // TALUS_SCENE_SUPPORT_H
