// What force fields and molecules were built from, for writing model files; and the way back.
#ifndef TALUS_MOLECULE_FACTS_INTERNAL_H
#define TALUS_MOLECULE_FACTS_INTERNAL_H

#include <talus/molecule/picture.h>

/// Number of waves of a series.
#define TALI_WAVES TAL_MAX_PERIODICITY

/// a0 + sum_n (a_n cos n phi + b_n sin n phi), n = 1 ... 6: what all torsions become.
typedef struct tali_field_series {
    double a0;
    double a[TALI_WAVES]; ///< a[n - 1]
    double b[TALI_WAVES];
} tali_field_series;

/// What a bonded term computes from its atoms.
typedef enum tali_field_kind {
    TALI_STRETCH,          ///< k (r - x0)^2, also of Urey-Bradley
    TALI_BEND,             ///< k (theta - x0)^2
    TALI_COSINE_BEND,      ///< k/2 (cos theta - cos x0)^2
    TALI_TORSION,          ///< the series
    TALI_HARMONIC_IMPROPER ///< k (phi - x0)^2
} tali_field_kind;

/// A bonded term without its atoms. Zero-filled where a field has no meaning.
typedef struct tali_field_law {
    tali_field_kind kind;
    double k, x0;
    tali_field_series series;
} tali_field_law;

/// The tables of a force field.
typedef enum tali_field_table {
    TALI_TABLE_STRETCH,
    TALI_TABLE_BEND,
    TALI_TABLE_UREY_BRADLEY,
    TALI_TABLE_TORSION,
    TALI_TABLE_IMPROPER,
    TALI_TABLE_PAIR,  ///< law.k and law.x0 are A and B
    TALI_TABLE_PAIR14 ///< the same
} tali_field_table;

#define TALI_NUM_TABLES 7

/// One row of a table: classes, those that a table does not use are zero.
typedef struct tali_field_row {
    int key[4];
    int defined; ///< how many rows were added before
    tali_field_law law;
} tali_field_row;

/// The series of waves: V (1 + cos(n phi - gamma)). False when a wave is not one.
bool tali_field_series_of_waves(const tal_ff_wave waves[], int num_waves, tali_field_series *out);

/// The series of sum_k C_k cos^k(phi - pi).
tali_field_series tali_field_series_of_powers(const double C[6]);

/// A class as a field keeps it.
typedef struct tali_field_class_facts {
    int valence;
    double sigma, well_depth; ///< [nm, kJ/mol]
} tali_field_class_facts;

tali_field_class_facts tali_field_class_facts_of(const tal_ff *ff, int atom_class);

/// What generalized Born models need of a type: radius, screen.
void tali_field_born_of(const tal_ff *ff, int type, double out[2]);

/// How many classes the rows of a table have.
int tali_field_arity(tali_field_table table);

/// Rows of a table of a frozen field.
int tali_field_num_rows(const tal_ff *ff, tali_field_table table);

/// One of them, in the order in which they were added.
const tali_field_row *tali_field_row_at(const tal_ff *ff, tali_field_table table, int i);

/// Add a row as it is kept; sticky, as all building is.
tal_status tali_field_add_row(tal_ff *ff, tali_field_table table, const int classes[4],
                              const tali_field_law *law);

/// The options of a molecule.
tal_mol_def tali_mol_def_of(const tal_mol *mol);

/// A bonded term with parameters of its own; NULL behind the last one of a family.
const tali_field_law *tali_mol_own_term(const tal_mol *mol, tal_mol_family family, int i,
                                        int atoms[4]);

/// Add one as it is kept; sticky, as all building is.
tal_status tali_mol_add_own(tal_mol *mol, tal_mol_family family, const int atoms[4],
                            const tali_field_law *law);

/// The i-th atom that was placed, and the cluster that its own is in, or else its own; false behind
/// the last one.
bool tali_mol_placement_at(const tal_mol *mol, int i, int *cluster, int *atom);

/// Name of a cluster.
const char *tali_mol_cluster_name(const tal_mol *mol, int cluster);

/// What an instance was added with. Borrowed.
typedef struct tali_term_facts {
    const tal_mol_granularity *how;
    tal_xform X_GR;
    int first_body, num_bodies; ///< its bodies in matter follow each other
    tal_mol_picture picture;    ///< where there are decorations of its own
    int first_decoration, num_decorations;
} tali_term_facts;

tali_term_facts tali_term_facts_of(const tal_mol_instance *instance);

/// The molecule that a force element is; NULL if it is another.
const tal_mol_instance *tali_term_instance_at(const tal_forces *forces, tal_force_ix force);

#endif // TALUS_MOLECULE_FACTS_INTERNAL_H
