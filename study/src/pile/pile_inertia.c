// Trees of bodies, Jacobians of bodies and M^-1 of trees.
//
// M and J of different trees have nothing to do with each other, so one product with a vector that
// is 1 at the k-th speed of every tree gives the k-th column of all of them at once.
#include "pile/pile_internal.h"

#include <math.h>
#include <string.h>

// --- trees ---

static int root_of(const tal_matter *matter, int body)
{
    int parent = tal_body_parent(matter, (tal_body_ix){body}).i;
    while (parent > 0) {
        body = parent;
        parent = tal_body_parent(matter, (tal_body_ix){body}).i;
    }
    return body;
}

static int speeds_of(const tal_matter *matter, int root)
{
    int nu = 0;
    for (int b = root; b < tal_matter_num_bodies(matter); ++b) {
        if (root_of(matter, b) == root) nu += tal_body_nu(matter, (tal_body_ix){b});
    }
    return nu;
}

static int is_root(const tal_matter *matter, int body)
{
    return tal_body_parent(matter, (tal_body_ix){body}).i == 0;
}

static int bodies_of(const tal_matter *matter, int root)
{
    int count = 0;
    for (int b = root; b < tal_matter_num_bodies(matter); ++b) {
        count += root_of(matter, b) == root;
    }
    return count;
}

tali_pile_tree_sizes tali_pile_measure_trees(const tal_matter *matter)
{
    tali_pile_tree_sizes sizes = {0, 0, 0, 0};
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        if (!is_root(matter, b)) continue;
        const int nu = speeds_of(matter, b);
        sizes.num_trees += nu > 0;
        sizes.most_nu = nu > sizes.most_nu ? nu : sizes.most_nu;
        sizes.J += 6 * (size_t)nu * (size_t)bodies_of(matter, b);
        sizes.M_inv += (size_t)nu * (size_t)nu;
    }
    return sizes;
}

static void add_speeds(tal_contact_stepper *s, int tree, int root, int *count)
{
    for (int b = root; b < s->num_bodies; ++b) {
        if (root_of(s->matter, b) != root) continue;
        s->tree_of[b] = tree;
        const int start = tal_body_u_start(s->matter, (tal_body_ix){b});
        for (int k = 0; k < tal_body_nu(s->matter, (tal_body_ix){b}); ++k) {
            s->tree_u[(*count)++] = start + k;
        }
    }
}

void tali_pile_make_trees(tal_contact_stepper *s)
{
    size_t M_at = 0, J_at = 0;
    int count = 0, tree = 0;
    for (int b = 0; b < s->num_bodies; ++b) {
        s->tree_of[b] = -1;
    }
    for (int b = 1; b < s->num_bodies; ++b) {
        const int nu = is_root(s->matter, b) ? speeds_of(s->matter, b) : 0;
        if (nu == 0) continue;
        s->trees[tree] = (tali_pile_tree){.nu = nu, .first = count, .M_inv = M_at, .body = b};
        add_speeds(s, tree, b, &count);
        M_at += (size_t)nu * (size_t)nu;
        ++tree;
    }
    for (int b = 0; b < s->num_bodies; ++b) {
        s->J_of[b] = J_at;
        if (s->tree_of[b] >= 0) J_at += 6 * (size_t)s->trees[s->tree_of[b]].nu;
    }
}

// --- columns ---

static void set_unit(tal_contact_stepper *s, int k, double value)
{
    for (int t = 0; t < s->num_trees; ++t) {
        if (k < s->trees[t].nu) s->unit[s->tree_u[s->trees[t].first + k]] = value;
    }
}

static void keep_columns(tal_contact_stepper *s, int k)
{
    for (int b = 1; b < s->num_bodies; ++b) {
        const int t = s->tree_of[b];
        if (t < 0 || k >= s->trees[t].nu) continue;
        memcpy(s->J + s->J_of[b] + 6 * (size_t)k, &s->V[b], sizeof s->V[b]);
    }
    for (int t = 0; t < s->num_trees; ++t) {
        const tali_pile_tree *tree = &s->trees[t];
        double *column = s->M_inv + tree->M_inv + (size_t)k * (size_t)tree->nu;
        for (int i = 0; i < tree->nu && k < tree->nu; ++i) {
            column[i] = s->product[s->tree_u[tree->first + i]];
        }
    }
}

// --- inverses ---

// A known speed answers to nothing: its row and column become those of the unit matrix.
static void set_known(double *M, int n, int i, double diagonal)
{
    for (int k = 0; k < n; ++k) {
        M[i + k * n] = M[k + i * n] = 0.0;
    }
    M[i + i * n] = diagonal;
}

// L of M = L L^T, in the lower triangle of `L`; false where M is not positive definite.
static bool factor(const double *M, int n, double *L)
{
    for (int j = 0; j < n; ++j) {
        double pivot = M[j + j * n];
        for (int k = 0; k < j; ++k) {
            pivot -= L[j + k * n] * L[j + k * n];
        }
        if (!(pivot > 1e-14 * M[j + j * n])) return false;
        L[j + j * n] = sqrt(pivot);
        for (int i = j + 1; i < n; ++i) {
            double sum = M[i + j * n];
            for (int k = 0; k < j; ++k) {
                sum -= L[i + k * n] * L[j + k * n];
            }
            L[i + j * n] = sum / L[j + j * n];
        }
    }
    return true;
}

// One column of M^-1, from L.
static void inverse_column(const double *L, int n, int j, double *x)
{
    for (int i = 0; i < n; ++i) {
        double sum = i == j ? 1.0 : 0.0;
        for (int k = 0; k < i; ++k) {
            sum -= L[i + k * n] * x[k];
        }
        x[i] = sum / L[i + i * n];
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = x[i];
        for (int k = i + 1; k < n; ++k) {
            sum -= L[k + i * n] * x[k];
        }
        x[i] = sum / L[i + i * n];
    }
}

static tal_status invert(tal_contact_stepper *s, const tali_pile_tree *tree)
{
    double *M = s->M_inv + tree->M_inv;
    const int n = tree->nu, *u = s->tree_u + tree->first;
    for (int i = 0; i < n; ++i) {
        if (s->is_known[u[i]]) set_known(M, n, i, 1.0);
    }
    if (!factor(M, n, s->factor)) {
        return TALI_FAIL(&s->error_record, TAL_ERR_SINGULAR,
                         "the bodies that hang on '%s' have a mobility that moves no mass",
                         tal_body_name(s->matter, (tal_body_ix){tree->body}));
    }
    for (int j = 0; j < n; ++j) {
        inverse_column(s->factor, n, j, M + j * n);
    }
    for (int i = 0; i < n; ++i) {
        if (s->is_known[u[i]]) set_known(M, n, i, 0.0);
    }
    return TAL_OK;
}

static void find_known(tal_contact_stepper *s, const tal_state *state)
{
    const bool all_free = tal_matter_num_free(s->matter, state) == s->nu;
    memset(s->is_known, 0, (size_t)s->nu * sizeof *s->is_known);
    for (int b = 1; b < s->num_bodies && !all_free; ++b) {
        const int start = tal_body_u_start(s->matter, (tal_body_ix){b});
        for (int k = 0; k < tal_body_nu(s->matter, (tal_body_ix){b}); ++k) {
            const tal_mobility at = {{b}, k};
            s->is_known[start + k] = tal_mobility_level(s->matter, state, at) != TAL_LEVEL_FREE;
        }
    }
}

tal_status tali_pile_calc_inertia(tal_contact_stepper *s, tal_state *state)
{
    tal_status st = TAL_OK;
    find_known(s, state);
    memset(s->unit, 0, (size_t)s->nu * sizeof *s->unit);
    for (int k = 0; k < s->most_tree_nu && st == TAL_OK; ++k) {
        set_unit(s, k, 1.0);
        st = tal_matter_mul_J(s->matter, state, s->unit, s->V);
        if (st == TAL_OK) st = tal_matter_mul_M(s->matter, state, s->unit, s->product);
        set_unit(s, k, 0.0);
        if (st == TAL_OK) keep_columns(s, k);
    }
    if (st != TAL_OK) {
        return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    }
    for (int t = 0; t < s->num_trees && st == TAL_OK; ++t) {
        st = invert(s, &s->trees[t]);
    }
    return st;
}
