// Methods of integration by name.
#include "error_internal.h"

#include <talus/study/method.h>

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    const char *summary;
    tal_method method;
    const tal_rk_tableau *(*tableau)(void); // of Runge-Kutta methods; NULL otherwise
} methods[] = {
    {"merson", "Runge-Kutta of order 4 with an error estimate of order 3", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_merson},
    {"bogacki-shampine-5", "Runge-Kutta 5(4), for high accuracy", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_bogacki_shampine_5},
    {"dormand-prince", "Runge-Kutta 5(4)", TAL_METHOD_RUNGE_KUTTA, tal_rk_dormand_prince},
    {"fehlberg", "Runge-Kutta 5(4), to compare with other programs", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_fehlberg},
    {"verner-8", "Runge-Kutta 8(7), for the highest accuracy", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_verner_8},
    {"bogacki-shampine", "Runge-Kutta 3(2), for low accuracy", TAL_METHOD_RUNGE_KUTTA,
     tal_rk_bogacki_shampine},
    {"trapezoid", "Runge-Kutta of order 2", TAL_METHOD_RUNGE_KUTTA, tal_rk_trapezoid},
    {"euler", "explicit Euler, order 1", TAL_METHOD_RUNGE_KUTTA, tal_rk_euler},
    {"semi-explicit-euler", "speeds first, then coordinates; order 1",
     TAL_METHOD_SEMI_EXPLICIT_EULER, NULL},
    {"verlet", "order 2; keeps energy over long times if the mass matrix is constant",
     TAL_METHOD_VERLET, NULL},
    {"cvode-bdf", "SUNDIALS' CVODE: implicit, orders 1 to 5, for stiff models",
     TAL_METHOD_CVODE_BDF, NULL},
    {"cvode-adams", "SUNDIALS' CVODE: Adams, orders 1 to 12, for smooth models",
     TAL_METHOD_CVODE_ADAMS, NULL},
    {"ida", "SUNDIALS' IDA: like cvode-bdf, with the constraints among the equations",
     TAL_METHOD_IDA, NULL},
    {"arkode", "SUNDIALS' ARKODE: explicit Runge-Kutta of order 5", TAL_METHOD_ARKODE_EXPLICIT,
     NULL},
    {"arkode-dirk", "SUNDIALS' ARKODE: diagonally implicit Runge-Kutta of order 4",
     TAL_METHOD_ARKODE_DIRK, NULL}};

static bool is_there(int method)
{
    return method >= 0 && method < tal_num_methods();
}

int tal_num_methods(void)
{
    return (int)(sizeof methods / sizeof *methods);
}

const char *tal_method_name(int method)
{
    return is_there(method) ? methods[method].name : NULL;
}

const char *tal_method_summary(int method)
{
    return is_there(method) ? methods[method].summary : NULL;
}

int tal_method_find(const char *name)
{
    if (name == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name is NULL");
        return -1;
    }
    int method = tal_num_methods() - 1;
    while (method >= 0 && strcmp(methods[method].name, name) != 0) {
        --method;
    }
    return method;
}

tal_integrator_def tal_method_def(int method)
{
    tal_integrator_def def = tal_integrator_def_default();
    if (!is_there(method)) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no method %d; there are %d", method,
                          tal_num_methods());
        return def;
    }
    def.method = methods[method].method;
    def.tableau = methods[method].tableau != NULL ? methods[method].tableau() : NULL;
    return def;
}
