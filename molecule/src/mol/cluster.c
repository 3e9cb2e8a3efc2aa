// Clusters: atoms in frames of their own, clusters in clusters, and their mass properties.
//
// A cluster is placed in one other at most, so the clusters are trees: an atom is twice in a tree
// when two of its placements lead up to the same root.
#include "mol/mol_internal.h"

#include <talus/common/rotation.h>

static bool has_cluster(tal_mol *mol, int cluster, const char *where)
{
    if (cluster >= 0 && cluster < mol->num_clusters) return true;
    (void)tali_mol_refuse(mol, TAL_ERR_BAD_INDEX, where, "cluster %d: there are %d", cluster,
                          mol->num_clusters);
    return false;
}

int tal_mol_add_cluster(tal_mol *mol, const char *name)
{
    if (tali_mol_check_open(mol, __func__) != TAL_OK) return -1;
    tali_mol_cluster made = {.parent = -1, .X_PC = TAL_XFORM_IDENTITY};
    const char *flaw = tali_field_copy_name(made.name, name);
    if (flaw != NULL) {
        (void)tali_mol_refuse(mol, TAL_ERR_BAD_NAME, __func__, "the name of cluster %d: %s",
                              mol->num_clusters, flaw);
        return -1;
    }
    if (!tali_grow(&mol->allocator, (void **)&mol->clusters, mol->num_clusters,
                   &mol->cluster_capacity, sizeof made)) {
        (void)tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, __func__, "no room for cluster '%s'", name);
        return -1;
    }
    mol->clusters[mol->num_clusters] = made;
    return mol->num_clusters++;
}

static int root_of(const tal_mol *mol, int cluster)
{
    while (mol->clusters[cluster].parent >= 0) {
        cluster = mol->clusters[cluster].parent;
    }
    return cluster;
}

// Whether `inner` is `outer` or in it; X is where.
static bool is_in(const tal_mol *mol, int inner, int outer, tal_xform *X)
{
    *X = TAL_XFORM_IDENTITY;
    for (int c = inner; c >= 0; c = mol->clusters[c].parent) {
        if (c == outer) return true;
        *X = tal_xf_mul(mol->clusters[c].X_PC, *X);
    }
    return false;
}

// The placement of an atom somewhere below a root; -1: none.
static int find_below(const tal_mol *mol, int atom, int root)
{
    for (int i = 0; i < mol->num_placements; ++i) {
        const tali_mol_placement *it = &mol->placements[i];
        if (it->atom == atom && root_of(mol, it->cluster) == root) return i;
    }
    return -1;
}

static tal_status refuse_twice(tal_mol *mol, int atom, int cluster, int there, const char *where)
{
    return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, where,
                           "atom %d would be twice in cluster '%s': it is in cluster '%s' already",
                           atom, mol->clusters[cluster].name, mol->clusters[there].name);
}

tal_status tal_mol_place_atom(tal_mol *mol, int cluster, int atom, tal_vec3 p_CS)
{
    const tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return st;
    if (!has_cluster(mol, cluster, __func__) || !tali_mol_has_atom(mol, atom, __func__)) {
        return TAL_ERR_BAD_INDEX;
    }
    if (!tal_v3_is_finite(p_CS)) {
        return tali_mol_refuse(mol, TAL_ERR_NOT_FINITE, __func__,
                               "atom %d is placed at (%g, %g, %g) of cluster '%s'", atom, p_CS.x,
                               p_CS.y, p_CS.z, mol->clusters[cluster].name);
    }
    const int root = root_of(mol, cluster), there = find_below(mol, atom, root);
    if (there >= 0) {
        return refuse_twice(mol, atom, root, mol->placements[there].cluster, __func__);
    }
    const tali_mol_placement made = {cluster, atom, p_CS};
    if (!tali_grow(&mol->allocator, (void **)&mol->placements, mol->num_placements,
                   &mol->placement_capacity, sizeof made)) {
        return tali_mol_refuse(mol, TAL_ERR_NO_MEMORY, __func__, "no room for atom %d", atom);
    }
    mol->placements[mol->num_placements++] = made;
    return TAL_OK;
}

// Every atom of the child's tree may not be in the cluster's.
static tal_status check_apart(tal_mol *mol, int cluster, int child, const char *where)
{
    const int root = root_of(mol, cluster);
    for (int i = 0; i < mol->num_placements; ++i) {
        const tali_mol_placement *it = &mol->placements[i];
        if (root_of(mol, it->cluster) != child) continue;
        const int there = find_below(mol, it->atom, root);
        if (there >= 0) {
            return refuse_twice(mol, it->atom, root, mol->placements[there].cluster, where);
        }
    }
    return TAL_OK;
}

tal_status tal_mol_place_cluster(tal_mol *mol, int cluster, int child, const tal_xform *X_CP)
{
    tal_status st = tali_mol_check_open(mol, __func__);
    if (st != TAL_OK) return st;
    if (!has_cluster(mol, cluster, __func__) || !has_cluster(mol, child, __func__)) {
        return TAL_ERR_BAD_INDEX;
    }
    if (X_CP == NULL || !tal_xf_is_finite(*X_CP) || !tal_rotation_is_valid(&X_CP->R, 1e-9)) {
        return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                               "cluster '%s' is placed by NULL, or by no rotation",
                               mol->clusters[child].name);
    }
    if (mol->clusters[child].parent >= 0 || root_of(mol, cluster) == child) {
        return tali_mol_refuse(mol, TAL_ERR_BAD_VALUE, __func__,
                               "cluster '%s' is in a cluster already, or would be in itself",
                               mol->clusters[child].name);
    }
    if ((st = check_apart(mol, cluster, child, __func__)) != TAL_OK) return st;
    mol->clusters[child].parent = cluster;
    mol->clusters[child].X_PC = *X_CP;
    return TAL_OK;
}

// ---- reading

static bool is_cluster(const tal_mol *mol, int cluster, const char *where)
{
    if (!tali_mol_is_given(mol, where)) return false;
    if (cluster >= 0 && cluster < mol->num_clusters) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "cluster %d: there are %d", cluster,
                      mol->num_clusters);
    return false;
}

int tal_mol_num_clusters(const tal_mol *mol)
{
    return tali_mol_is_given(mol, __func__) ? mol->num_clusters : -1;
}

int tal_mol_cluster_size(const tal_mol *mol, int cluster)
{
    if (!is_cluster(mol, cluster, __func__)) return -1;
    int n = 0;
    for (int i = 0; i < mol->num_placements; ++i) {
        tal_xform X;
        if (is_in(mol, mol->placements[i].cluster, cluster, &X)) ++n;
    }
    return n;
}

tal_vec3 tal_mol_cluster_station(const tal_mol *mol, int cluster, int atom)
{
    const tal_vec3 nowhere = {TALI_NAN, TALI_NAN, TALI_NAN};
    if (!is_cluster(mol, cluster, __func__)) return nowhere;
    for (int i = 0; i < mol->num_placements; ++i) {
        const tali_mol_placement *it = &mol->placements[i];
        tal_xform X;
        if (it->atom == atom && is_in(mol, it->cluster, cluster, &X)) {
            return tal_xf_apply(X, it->p_CS);
        }
    }
    return nowhere;
}

tal_mass_props tali_mol_atom_mass_props(const tal_mol *mol, int atom, tal_vec3 at)
{
    const tali_mol_atom *it = &mol->atoms[atom];
    const tali_field_class *kind = &mol->ff->classes[mol->ff->types[it->type].atom_class];
    const double radius =
        0.5 * mol->ff->def.atom_radius_scale * TAL_MOL_RMIN_PER_SIGMA * kind->sigma;
    const double own = 0.4 * it->mass * radius * radius;
    const tal_sym3 inertia =
        tal_s3_add(tal_s3_scale(it->mass, tal_s3_cross_square(at)), tal_s3_diag(own, own, own));
    return (tal_mass_props){it->mass, at, inertia};
}

void tali_mol_add_mass(tal_mass_props *sum, tal_mass_props one)
{
    sum->mass += one.mass;
    sum->com = tal_v3_axpy(one.mass, one.com, sum->com);
    sum->inertia = tal_s3_add(sum->inertia, one.inertia);
}

void tali_mol_end_mass(tal_mass_props *sum)
{
    sum->com = sum->mass > 0.0 ? tal_v3_scale(1.0 / sum->mass, sum->com) : tal_v3(0.0, 0.0, 0.0);
}

tal_status tal_mol_calc_cluster_mass(const tal_mol *mol, int cluster, tal_mass_props *props)
{
    if (!is_cluster(mol, cluster, __func__)) {
        return mol == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX;
    }
    if (props == NULL) return TALI_BREACH(TAL_ERR_NULL, "where the mass is to go is NULL");
    tal_mass_props sum = TAL_MASSLESS;
    for (int i = 0; i < mol->num_placements; ++i) {
        const tali_mol_placement *it = &mol->placements[i];
        tal_xform X;
        if (!is_in(mol, it->cluster, cluster, &X)) continue;
        tali_mol_add_mass(&sum, tali_mol_atom_mass_props(mol, it->atom, tal_xf_apply(X, it->p_CS)));
    }
    tali_mol_end_mass(&sum);
    *props = sum;
    return TAL_OK;
}
