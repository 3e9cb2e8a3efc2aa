// Potentials of users between atoms of a molecule: terms that are listed, and pairs that are near.
#include "term/instance_internal.h"
#include "term/pair_internal.h"

#include <talus/molecule/custom.h>

#include <math.h>

enum {
    MAX_PARAMS = 1000,
    MAX_TERMS = 2000000
};

typedef struct custom {
    tal_allocator allocator;
    size_t size; // of the whole block
    const tal_mol_instance *instance;
    tal_mol_custom_ops ops;
    void *self;
    int num; // terms, or atoms of pairs
    int *atoms;
    double *params;
    bool is_pairs;
    double cutoff;
    int bonds;
} custom;

// What terms add to; either may be missing.
typedef struct sums {
    const tal_bodies_view *poses;
    tal_spatial_vec *F_GM;
    double energy;
} sums;

// ---- one term

static tal_mol_site site_of(const custom *it, const tal_state *state, int atom)
{
    const tal_mol_instance *instance = it->instance;
    const tal_body_ix body = {instance->bodies[instance->body[atom]].body};
    const tal_xform X = tal_body_X_GB(instance->matter, state, body);
    return (tal_mol_site){tal_xf_apply(X, instance->station[atom]), X.R};
}

// Forces act where the atoms are, which for an image in a box is not where it was looked at.
static void push(const custom *it, sums *sum, int atom, tal_vec3 x, tal_vec3 f, tal_vec3 t)
{
    const int body = it->instance->bodies[it->instance->body[atom]].body;
    const tal_vec3 arm = tal_v3_sub(x, tal_view_X_GM(sum->poses, body)->p);
    tal_spatial_vec *F = &sum->F_GM[body];
    *F = tal_sv_add(*F, tal_sv(tal_v3_add(t, tal_v3_cross(arm, f)), f));
}

static tal_status fail(const custom *it, tal_state *state, tal_status st, const int atoms[])
{
    return tal_state_fail(state, st, "potential '%s' failed for the term that begins with atom %d",
                          it->ops.kind, atoms[0]);
}

static tal_status add_term(const custom *it, tal_state *state, const int atoms[],
                           const double params[], tal_vec3 image, sums *sum)
{
    tal_mol_site sites[TAL_MAX_MOL_SITES];
    tal_mol_response out;
    memset(&out, 0, sizeof out);
    for (int i = 0; i < it->ops.num_sites; ++i) {
        sites[i] = site_of(it, state, atoms[i]);
    }
    sites[0].x = tal_v3_add(sites[0].x, image);
    const tal_status st = it->ops.eval(it->self, sites, params, &out);
    if (st != TAL_OK) return fail(it, state, st, atoms);
    sum->energy += out.energy;
    sites[0].x = tal_v3_sub(sites[0].x, image);
    for (int i = 0; i < it->ops.num_sites && sum->F_GM != NULL; ++i) {
        push(it, sum, atoms[i], sites[i].x, out.f[i], out.t[i]);
    }
    return TAL_OK;
}

// ---- all of them

static tal_status add_terms(const custom *it, tal_state *state, sums *sum)
{
    tal_status st = TAL_OK;
    for (int t = 0; t < it->num && st == TAL_OK; ++t) {
        st = add_term(it, state, it->atoms + (size_t)t * (size_t)it->ops.num_sites,
                      it->params + (size_t)t * (size_t)it->ops.num_params, TAL_VEC3_ZERO, sum);
    }
    return st;
}

// What moves i to its image nearest to j.
static tal_vec3 image_of(const tali_term_pairs *pairs, tal_vec3 d)
{
    const tal_vec3 box = pairs->set.box, per = pairs->per_box;
    if (!pairs->has_box) return TAL_VEC3_ZERO;
    return tal_v3(-box.x * tali_term_rint(d.x * per.x), -box.y * tali_term_rint(d.y * per.y),
                  -box.z * tali_term_rint(d.z * per.z));
}

static tal_status add_pair(const custom *it, tal_state *state, const tali_term_pairs *pairs, int i,
                           int j, sums *sum)
{
    const tal_mol_instance *instance = it->instance;
    if (instance->body[i] == instance->body[j]) return TAL_OK;
    const tal_vec3 d = tal_v3_sub(site_of(it, state, i).x, site_of(it, state, j).x);
    const tal_vec3 image = image_of(pairs, d);
    if (!(tal_v3_norm(tal_v3_add(d, image)) < it->cutoff)) return TAL_OK;
    if (it->bonds > 0 && tali_mol_separation(instance->mol, i, j) <= it->bonds) return TAL_OK;
    const int both[2] = {i, j};
    return add_term(it, state, both, it->params, image, sum);
}

static tal_status add_pairs(const custom *it, tal_state *state, sums *sum)
{
    const tali_term_pairs pairs =
        tali_term_prepare(tal_var_value(it->instance->system, state, it->instance->nonbonded));
    tal_status st = TAL_OK;
    for (int a = 0; a < it->num; ++a) {
        for (int b = a + 1; b < it->num && st == TAL_OK; ++b) {
            st = add_pair(it, state, &pairs, it->atoms[a], it->atoms[b], sum);
        }
    }
    return st;
}

// ---- the force element

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F_GM[],
                        double f[])
{
    (void)f;
    const custom *it = self;
    sums sum = {&context->poses, F_GM, 0.0};
    return it->is_pairs ? add_pairs(it, context->state, &sum) : add_terms(it, context->state, &sum);
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const custom *it = self;
    sums sum = {&context->poses, NULL, 0.0};
    const tal_status st =
        it->is_pairs ? add_pairs(it, context->state, &sum) : add_terms(it, context->state, &sum);
    *energy = sum.energy;
    return st;
}

static void destroy(void *self)
{
    custom *it = self;
    const tal_allocator allocator = it->allocator;
    if (it->ops.destroy != NULL) it->ops.destroy(it->self);
    tali_free(&allocator, it, it->size);
}

// Settings of a molecule, as its box, are variables of another element: TAL_FORCE_NEEDS_ALL.
static const tal_force_ops custom_ops = {.size = sizeof(tal_force_ops),
                                         .name = "molecule terms",
                                         .apply = apply,
                                         .calc_potential_energy = calc_potential_energy,
                                         .destroy = destroy};

// ---- building

// What is wrong with a potential; NULL: nothing.
static const char *flaw_of_ops(const custom *wanted)
{
    const tal_mol_custom_ops *ops = &wanted->ops;
    if (ops->size != sizeof *ops || ops->eval == NULL || ops->kind == NULL) {
        return "size, kind or eval is missing";
    }
    if (ops->num_sites < 1 || ops->num_sites > TAL_MAX_MOL_SITES) return "num_sites is not 1 to 8";
    if (ops->num_params < 0 || ops->num_params > MAX_PARAMS) return "num_params is out of range";
    if (wanted->num > MAX_TERMS) return "there are too many terms";
    if (!wanted->is_pairs) return NULL;
    if (ops->num_sites != 2) return "pairs need two sites";
    if (!(wanted->cutoff > 0.0)) return "the cutoff is not positive";
    return wanted->bonds < 0 || wanted->bonds > 4 ? "bonds are not 0 to 4" : NULL;
}

// What is wrong with the numbers of its terms.
static const char *flaw_of_terms(const custom *wanted, const int atoms[], const double params[],
                                 int num_atoms, int num_params)
{
    if (num_atoms > 0 && atoms == NULL) return "there are no atoms";
    if (num_params > 0 && params == NULL) return "there are no parameters";
    for (int i = 0; i < num_atoms; ++i) {
        if (atoms[i] < 0 || atoms[i] >= wanted->instance->mol->num_atoms) {
            return "there is no such atom";
        }
        if (wanted->is_pairs && i > 0 && atoms[i] <= atoms[i - 1]) return "atoms do not ascend";
    }
    for (int i = 0; i < num_params; ++i) {
        if (!isfinite(params[i])) return "a parameter is not finite";
    }
    return NULL;
}

static custom *copy_of(const custom *wanted, const int atoms[], const double params[],
                       int num_atoms, int num_params)
{
    custom *it = NULL, made = *wanted;
    const size_t na = (size_t)num_atoms * sizeof atoms[0];
    const size_t np = (size_t)num_params * sizeof params[0];
    const tali_piece pieces[] = {{&it, sizeof *it}, {&made.atoms, na}, {&made.params, np}};
    if (tali_alloc_pieces(&made.allocator, pieces, 3, &made.size) == NULL) return NULL;
    if (na > 0) memcpy(made.atoms, atoms, na);
    if (np > 0) memcpy(made.params, params, np);
    *it = made;
    return it;
}

// Check, copy, add. What is refused is freed: `self` was adopted.
static tal_force_ix add(tal_forces *forces, const char *name, const custom *wanted,
                        const int atoms[], const double params[])
{
    const char *flaw = flaw_of_ops(wanted);
    const bool is_pairs = wanted->is_pairs;
    const int num_atoms = flaw != NULL ? 0 : wanted->num * (is_pairs ? 1 : wanted->ops.num_sites);
    const int num_params = flaw != NULL ? 0 : (is_pairs ? 1 : wanted->num) * wanted->ops.num_params;
    if (flaw == NULL) flaw = flaw_of_terms(wanted, atoms, params, num_atoms, num_params);
    custom *it = flaw == NULL ? copy_of(wanted, atoms, params, num_atoms, num_params) : NULL;
    if (it != NULL) return tal_forces_add(forces, name, &custom_ops, it);
    if (wanted->ops.destroy != NULL) wanted->ops.destroy(wanted->self);
    tal_system *system = (tal_system *)wanted->instance->system; // which is being built
    (void)tal_system_fail(system, flaw != NULL ? TAL_ERR_BAD_VALUE : TAL_ERR_NO_MEMORY,
                          "potential '%s' between atoms: %s", name != NULL ? name : "",
                          flaw != NULL ? flaw : "no memory");
    return (tal_force_ix){-1};
}

static bool are_given(const tal_forces *forces, const tal_mol_instance *instance,
                      const tal_mol_custom_ops *ops, int n, const char *where)
{
    if (forces == NULL || instance == NULL || ops == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "forces, molecule or potential is NULL");
        return false;
    }
    if (n >= 0 && instance->forces == forces) return true;
    (void)tali_breach(TAL_ERR_BAD_VALUE, where,
                      "%d may not be negative, and the molecule must be of these forces", n);
    return false;
}

tal_force_ix tal_mol_add_terms(tal_forces *forces, const tal_mol_instance *instance,
                               const char *name, const tal_mol_custom_ops *ops, void *self,
                               int num_terms, const int atoms[], const double params[])
{
    if (!are_given(forces, instance, ops, num_terms, __func__)) return (tal_force_ix){-1};
    const custom wanted = {.allocator = instance->allocator,
                           .instance = instance,
                           .ops = *ops,
                           .self = self,
                           .num = num_terms};
    return add(forces, name, &wanted, atoms, params);
}

tal_mol_pairs_def tal_mol_pairs_def_default(void)
{
    return (tal_mol_pairs_def){.cutoff = (double)INFINITY};
}

tal_force_ix tal_mol_add_pairs(tal_forces *forces, const tal_mol_instance *instance,
                               const char *name, const tal_mol_custom_ops *ops, void *self,
                               const tal_mol_pairs_def *def)
{
    const tal_mol_pairs_def given = def != NULL ? *def : tal_mol_pairs_def_default();
    if (!are_given(forces, instance, ops, given.num_atoms, __func__)) return (tal_force_ix){-1};
    const custom wanted = {.allocator = instance->allocator,
                           .instance = instance,
                           .ops = *ops,
                           .self = self,
                           .num = given.num_atoms,
                           .is_pairs = true,
                           .cutoff = given.cutoff,
                           .bonds = given.bonds};
    return add(forces, name, &wanted, given.atoms, given.params);
}
