// The chemical elements: symbols and standard atomic weights.
#include "error_internal.h"

#include <talus/molecule/units.h>

#include <ctype.h>
#include <stddef.h>

typedef struct chemical {
    char symbol[3];
    double mass; // 0: no standard weight
} chemical;

// Abridged standard atomic weights of 2021 (IUPAC, Prohaska et al., Pure Appl. Chem. 94, 2022).
// clang-format off
static const chemical elements[TAL_MAX_ELEMENT + 1] = {
    {"", 0.0},
    {"H", 1.0080}, {"He", 4.0026},
    {"Li", 6.94}, {"Be", 9.0122}, {"B", 10.81}, {"C", 12.011}, {"N", 14.007}, {"O", 15.999},
    {"F", 18.998}, {"Ne", 20.180},
    {"Na", 22.990}, {"Mg", 24.305}, {"Al", 26.982}, {"Si", 28.085}, {"P", 30.974}, {"S", 32.06},
    {"Cl", 35.45}, {"Ar", 39.95},
    {"K", 39.098}, {"Ca", 40.078}, {"Sc", 44.956}, {"Ti", 47.867}, {"V", 50.942}, {"Cr", 51.996},
    {"Mn", 54.938}, {"Fe", 55.845}, {"Co", 58.933}, {"Ni", 58.693}, {"Cu", 63.546}, {"Zn", 65.38},
    {"Ga", 69.723}, {"Ge", 72.630}, {"As", 74.922}, {"Se", 78.971}, {"Br", 79.904}, {"Kr", 83.798},
    {"Rb", 85.468}, {"Sr", 87.62}, {"Y", 88.906}, {"Zr", 91.224}, {"Nb", 92.906}, {"Mo", 95.95},
    {"Tc", 0.0}, {"Ru", 101.07}, {"Rh", 102.91}, {"Pd", 106.42}, {"Ag", 107.87}, {"Cd", 112.41},
    {"In", 114.82}, {"Sn", 118.71}, {"Sb", 121.76}, {"Te", 127.60}, {"I", 126.90}, {"Xe", 131.29},
    {"Cs", 132.91}, {"Ba", 137.33}, {"La", 138.91}, {"Ce", 140.12}, {"Pr", 140.91}, {"Nd", 144.24},
    {"Pm", 0.0}, {"Sm", 150.36}, {"Eu", 151.96}, {"Gd", 157.25}, {"Tb", 158.93}, {"Dy", 162.50},
    {"Ho", 164.93}, {"Er", 167.26}, {"Tm", 168.93}, {"Yb", 173.05}, {"Lu", 174.97}, {"Hf", 178.49},
    {"Ta", 180.95}, {"W", 183.84}, {"Re", 186.21}, {"Os", 190.23}, {"Ir", 192.22}, {"Pt", 195.08},
    {"Au", 196.97}, {"Hg", 200.59}, {"Tl", 204.38}, {"Pb", 207.2}, {"Bi", 208.98}, {"Po", 0.0},
    {"At", 0.0}, {"Rn", 0.0},
    {"Fr", 0.0}, {"Ra", 0.0}, {"Ac", 0.0}, {"Th", 232.04}, {"Pa", 231.04}, {"U", 238.03},
    {"Np", 0.0}, {"Pu", 0.0}, {"Am", 0.0}, {"Cm", 0.0}, {"Bk", 0.0}, {"Cf", 0.0}, {"Es", 0.0},
    {"Fm", 0.0}, {"Md", 0.0}, {"No", 0.0}, {"Lr", 0.0}, {"Rf", 0.0}, {"Db", 0.0}, {"Sg", 0.0},
    {"Bh", 0.0}, {"Hs", 0.0}, {"Mt", 0.0}, {"Ds", 0.0}, {"Rg", 0.0}, {"Cn", 0.0}, {"Nh", 0.0},
    {"Fl", 0.0}, {"Mc", 0.0}, {"Lv", 0.0}, {"Ts", 0.0}, {"Og", 0.0}};

// clang-format on

static bool is_element(int element, const char *where)
{
    if (element >= 0 && element <= TAL_MAX_ELEMENT) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "element %d: atomic numbers are 0 to %d", element,
                      TAL_MAX_ELEMENT);
    return false;
}

const char *tal_element_symbol(int element)
{
    return is_element(element, __func__) ? elements[element].symbol : "";
}

static int lower(char letter)
{
    return tolower((unsigned char)letter);
}

static bool is_same_symbol(const char *a, const char *b)
{
    int i = 0;
    while (a[i] != '\0' && lower(a[i]) == lower(b[i])) {
        ++i;
    }
    return a[i] == b[i];
}

int tal_element_find(const char *symbol)
{
    if (symbol == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the symbol is NULL");
        return -1;
    }
    for (int i = 1; i <= TAL_MAX_ELEMENT; ++i) {
        if (is_same_symbol(elements[i].symbol, symbol)) return i;
    }
    return -1;
}

double tal_element_mass(int element)
{
    if (!is_element(element, __func__)) return TALI_NAN;
    if (element == 0) return 0.0;
    return elements[element].mass > 0.0 ? elements[element].mass : TALI_NAN;
}
