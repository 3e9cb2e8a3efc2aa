// Formulations and schemes: their names, and which go together (CD tab. 2, Welch sec. 2).
#include "error_internal.h"

#include <talus/study/fixed_stepper.h>

#include <stddef.h>
#include <string.h>

enum {
    STRUCTURAL = 1u << TAL_SCHEME_TRAPEZOID | 1u << TAL_SCHEME_NEWMARK | 1u << TAL_SCHEME_HHT |
                 1u << TAL_SCHEME_GENERALIZED_ALPHA,
    PREDICTORS = 1u << TAL_SCHEME_PREDICTOR_CORRECTOR | 1u << TAL_SCHEME_PREDICTOR,
    EXPLICIT = 1u << TAL_SCHEME_EXPLICIT | 1u << TAL_SCHEME_SEMI_EXPLICIT_EULER
};

static const struct {
    const char *name;
    unsigned takes; // schemes
    tal_scheme usual;
} formulations[] = {
    [TAL_FORMULATION_HYBRID] = {"hybrid", STRUCTURAL, TAL_SCHEME_TRAPEZOID},
    [TAL_FORMULATION_SEMI_RECURSIVE] = {"semi-recursive", STRUCTURAL, TAL_SCHEME_TRAPEZOID},
    [TAL_FORMULATION_GLOBAL] = {"global", STRUCTURAL | 1u << TAL_SCHEME_ENERGY_MOMENTUM,
                                TAL_SCHEME_TRAPEZOID},
    [TAL_FORMULATION_FULLY_RECURSIVE] = {"fully-recursive", STRUCTURAL, TAL_SCHEME_TRAPEZOID},
    [TAL_FORMULATION_WELCH] = {"welch", PREDICTORS, TAL_SCHEME_PREDICTOR_CORRECTOR},
    [TAL_FORMULATION_BAUMGARTE] = {"baumgarte", EXPLICIT, TAL_SCHEME_EXPLICIT},
};

static const char *const schemes[] = {
    [TAL_SCHEME_TRAPEZOID] = "trapezoid",
    [TAL_SCHEME_NEWMARK] = "newmark",
    [TAL_SCHEME_HHT] = "hht",
    [TAL_SCHEME_GENERALIZED_ALPHA] = "generalized-alpha",
    [TAL_SCHEME_PREDICTOR_CORRECTOR] = "predictor-corrector",
    [TAL_SCHEME_PREDICTOR] = "predictor",
    [TAL_SCHEME_EXPLICIT] = "heun",
    [TAL_SCHEME_SEMI_EXPLICIT_EULER] = "semi-explicit-euler",
    [TAL_SCHEME_ENERGY_MOMENTUM] = "energy-momentum",
};

enum {
    NUM_FORMULATIONS = sizeof formulations / sizeof formulations[0],
    NUM_SCHEMES = sizeof schemes / sizeof schemes[0]
};

static bool is_formulation(tal_formulation formulation)
{
    return (int)formulation >= 0 && (int)formulation < NUM_FORMULATIONS;
}

static bool is_scheme(tal_scheme scheme)
{
    return (int)scheme >= 0 && (int)scheme < NUM_SCHEMES;
}

const char *tal_formulation_name(tal_formulation formulation)
{
    return is_formulation(formulation) ? formulations[formulation].name : NULL;
}

const char *tal_scheme_name(tal_scheme scheme)
{
    return is_scheme(scheme) ? schemes[scheme] : NULL;
}

bool tal_formulation_find(const char *name, tal_formulation *out)
{
    if (name == NULL || out == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name or 'out' is NULL");
        return false;
    }
    for (int i = 0; i < NUM_FORMULATIONS; ++i) {
        if (strcmp(formulations[i].name, name) != 0) continue;
        *out = (tal_formulation)i;
        return true;
    }
    return false;
}

bool tal_scheme_find(const char *name, tal_scheme *out)
{
    if (name == NULL || out == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the name or 'out' is NULL");
        return false;
    }
    for (int i = 0; i < NUM_SCHEMES; ++i) {
        if (strcmp(schemes[i], name) != 0) continue;
        *out = (tal_scheme)i;
        return true;
    }
    return false;
}

bool tal_formulation_takes(tal_formulation formulation, tal_scheme scheme)
{
    if (!is_formulation(formulation) || !is_scheme(scheme)) return false;
    return (formulations[formulation].takes >> scheme & 1u) != 0;
}

tal_scheme tal_formulation_usual_scheme(tal_formulation formulation)
{
    return is_formulation(formulation) ? formulations[formulation].usual : TAL_SCHEME_TRAPEZOID;
}
