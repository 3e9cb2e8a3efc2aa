// Solvers of nonlinear equations by name.
#include "error_internal.h"

#include <talus/study/root_solver.h>

#include <string.h>

static const char *const NAMES[] = {
    [TAL_ROOT_SOLVER_OWN] = "own",
    [TAL_ROOT_SOLVER_KINSOL] = "kinsol",
};

int tal_num_root_solvers(void)
{
    return (int)(sizeof NAMES / sizeof *NAMES);
}

const char *tal_root_solver_name(int solver)
{
    return solver >= 0 && solver < tal_num_root_solvers() ? NAMES[solver] : NULL;
}

int tal_root_solver_find(const char *name)
{
    if (name == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name is NULL");
        return -1;
    }
    int solver = tal_num_root_solvers() - 1;
    while (solver >= 0 && strcmp(NAMES[solver], name) != 0) {
        --solver;
    }
    return solver;
}
