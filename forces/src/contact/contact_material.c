// Contact materials: a table, and how two of them combine (manual sec. 11.2).
#include "error_internal.h"

#include "contact/contact_law_internal.h"

#include <talus/forces/contact_material.h>

#include <math.h>

// The first table of manual sec. 11.2.2: Young's modulus and dissipation are given with two digits.
typedef struct entry {
    const char *name;
    double young, poisson, dissipation;
} entry;

static const entry table[TAL_NUM_COMMON_MATERIALS] = {
    [TAL_RUBBER] = {"rubber", 0.01e9, 0.5, 0.05},
    [TAL_CAPSID] = {"bacteriophage capsid", 2e9, 0.4, 0.0},
    [TAL_NYLON] = {"nylon", 3e9, 0.4, 0.0},
    [TAL_LEAD] = {"lead", 14e9, 0.42, 0.4},
    [TAL_CONCRETE] = {"concrete", 25e9, 0.15, 0.0},
    [TAL_STEEL] = {"steel", 200e9, 0.3, 0.08},
    [TAL_DIAMOND] = {"diamond", 1100e9, 0.2, 0.0},
    [TAL_RIGID] = {"rigid", HUGE_VAL, 0.0, 0.0},
};

static const double LAYER = 0.01; // m

tal_contact_material tal_contact_material_default(void)
{
    const tal_contact_material soft = {.stiffness = 1e6, .foundation = 1e8};
    return soft;
}

double tal_plane_strain_modulus(double young, double poisson)
{
    if (young > 0.0 && isfinite(young) && poisson > -1.0 && poisson <= 0.5) {
        return young / (1.0 - poisson * poisson);
    }
    (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                      "Young's modulus is %g and Poisson's ratio %g: they must be positive and "
                      "in (-1, 0.5]",
                      young, poisson);
    return TALI_NAN;
}

double tal_confined_modulus(double young, double poisson)
{
    if (young > 0.0 && isfinite(young) && poisson > -1.0 && poisson < 0.5) {
        return young * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    }
    (void)TALI_BREACH(TAL_ERR_BAD_VALUE,
                      "Young's modulus is %g and Poisson's ratio %g: they must be positive and "
                      "in (-1, 0.5): a confined incompressible material cannot be compressed",
                      young, poisson);
    return TALI_NAN;
}

static const entry *entry_of(tal_common_material which, const char *where)
{
    const int i = (int)which;
    if (i >= 0 && i < TAL_NUM_COMMON_MATERIALS) return &table[i];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "there is no material %d: there are %d", i,
                      TAL_NUM_COMMON_MATERIALS);
    return NULL;
}

tal_contact_material tal_contact_material_of(tal_common_material which)
{
    const entry *it = entry_of(which, __func__);
    tal_contact_material material = {TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN, TALI_NAN};
    if (it == NULL) return material;
    if (which == TAL_RIGID) {
        return (tal_contact_material){.stiffness = HUGE_VAL, .foundation = HUGE_VAL};
    }
    // rubber keeps its volume, so that a confined layer of it is as stiff as its bulk modulus,
    // which nu = 0.5 does not tell: a layer that can swell at its edges is taken instead
    const double layer = it->poisson < 0.5 ? tal_confined_modulus(it->young, it->poisson)
                                           : tal_plane_strain_modulus(it->young, it->poisson);
    material = (tal_contact_material){
        .stiffness = tal_plane_strain_modulus(it->young, it->poisson),
        .foundation = layer / LAYER,
        .dissipation = it->dissipation,
    };
    return material;
}

const char *tal_common_material_name(tal_common_material which)
{
    const entry *it = entry_of(which, __func__);
    return it != NULL ? it->name : "(no material)";
}

// 2 a b / (a + b), without overflow; 0 when both are.
static double harmonic(double a, double b)
{
    const double larger = fmax(a, b), smaller = fmin(a, b);
    return larger > 0.0 ? 2.0 * smaller / (1.0 + smaller / larger) : 0.0;
}

// Both forms of s and E* are those of manual sec. 11.2.2, divided by the larger of the two powers:
// with r = (Esoft / Ehard)^(1/n) the soft surface takes the share 1 / (1 + r), and since both feel
// the same force, E* x^n = Esoft (x / (1 + r))^n. Beside a rigid surface r is 0.
static tal_contact_pair_material combine(const tal_contact_material *m1,
                                         const tal_contact_material *m2, double E1, double E2,
                                         double n)
{
    const bool first_is_soft = E1 <= E2;
    const double soft = first_is_soft ? E1 : E2, hard = first_is_soft ? E2 : E1;
    const double r = n == 1.5 ? cbrt((soft / hard) * (soft / hard)) : pow(soft / hard, 1.0 / n);
    const double s = 1.0 / (1.0 + r);
    const double s1 = first_is_soft ? s : r * s;
    return (tal_contact_pair_material){
        .stiffness = soft * tali_contact_power(s, n),
        .share1 = s1,
        .dissipation = s1 * m1->dissipation + (1.0 - s1) * m2->dissipation,
        .static_friction = harmonic(m1->static_friction, m2->static_friction),
        .dynamic_friction = harmonic(m1->dynamic_friction, m2->dynamic_friction),
        .viscous_friction = harmonic(m1->viscous_friction, m2->viscous_friction),
    };
}

// NaN and a breach when there is nothing to combine.
static bool has_both(const tal_contact_material *m1, const tal_contact_material *m2,
                     double exponent, const char *where)
{
    if (m1 == NULL || m2 == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "a material is NULL");
        return false;
    }
    if (isfinite(exponent) && exponent >= 1.0) return true;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where, "the exponent is %g: it must be 1 or more",
                      exponent);
    return false;
}

static const tal_contact_pair_material nothing = {TALI_NAN, TALI_NAN, TALI_NAN,
                                                  TALI_NAN, TALI_NAN, TALI_NAN};

tal_contact_pair_material tal_contact_combine(const tal_contact_material *material1,
                                              const tal_contact_material *material2,
                                              double exponent)
{
    if (!has_both(material1, material2, exponent, __func__)) return nothing;
    return combine(material1, material2, material1->stiffness, material2->stiffness, exponent);
}

tal_contact_pair_material tal_contact_combine_foundations(const tal_contact_material *material1,
                                                          const tal_contact_material *material2)
{
    if (!has_both(material1, material2, 1.0, __func__)) return nothing;
    return combine(material1, material2, material1->foundation, material2->foundation, 1.0);
}
