// A model as a System of Talus, by public headers only.
#ifndef TALUS_BENCH_BUILD_TALUS_H
#define TALUS_BENCH_BUILD_TALUS_H

#include "models.h"

#include <talus/forces.h>

typedef struct talus_model {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    tal_force_ix gravity; ///< `i` < 0 when there is none
    tal_state *state;
} talus_model;

/// Build it, with a State. What Talus refuses ends the program, with its sentence.
talus_model talus_build(const model *m);
void talus_free(talus_model *t);

/// Write set k of the model's values into the State.
void talus_set_values(talus_model *t, const model *m, int k);

/// Realize the State, or end the program.
void talus_realize(talus_model *t, tal_stage stage);

/// End the program with the State's sentence unless `status` is TAL_OK.
void talus_require(const talus_model *t, tal_status status);

/// End the program with this sentence.
_Noreturn void talus_stop(const tal_error *error);

#endif // TALUS_BENCH_BUILD_TALUS_H
