// The contact stepper as a struct, and its parts.
//
// M is block diagonal: bodies that hang on the same child of Ground are a tree, and a row of a
// contact touches the speeds of two trees at most. Each tree has a dense M^-1; where it is one free
// body a row touches twelve numbers.
#ifndef TALUS_PILE_INTERNAL_H
#define TALUS_PILE_INTERNAL_H

#include "alloc_internal.h"
#include "collider_memory_internal.h"
#include "detect_internal.h"

#include "problem/fixed_step_internal.h"
#include "problem/study_internal.h"

#include <talus/forces.h>
#include <talus/study/contact_stepper.h>

/// Bodies that hang on one child of Ground.
typedef struct tali_pile_tree {
    int nu;
    int first;    ///< its speeds are tree_u[first] to tree_u[first + nu - 1]
    size_t M_inv; ///< where its block begins
    int body;     ///< the child of Ground
    int group;    ///< of trees that contacts or constraints connect: the lowest tree of it
} tali_pile_tree;

/// One point of contact.
typedef struct tali_pile_contact {
    int pair[2]; ///< colliders
    int tree[2]; ///< -1: does not move
    uint64_t feature;
    tal_vec3 p, n, t1, t2; ///< in Ground
    double gap;
    double approach;    ///< speed at which it closes, before forces act
    double restitution; ///< 0: none, or it does not close within the step
    int row;            ///< its normal; the tangential ones follow
    int num_tangents;
    double mu, limit;
    tal_vec3 impulse; ///< on the first collider
    tal_friction_mode mode;
} tali_pile_contact;

/// A bilateral row.
typedef struct tali_pile_bilateral {
    int G;    ///< its row of G
    int row;  ///< its row here; -1: it has nothing to do with a contact
    int tree; ///< one that it touches
} tali_pile_bilateral;

/// Contacts that are solved exactly: they touch the same trees, and nothing else does.
typedef struct tali_pile_group {
    int first, count;  ///< in the order of solving
    int row, num_rows; ///< contacts, then constraints
} tali_pile_group;

struct tal_contact_stepper {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    tal_contact_stepper_def def;
    tal_group_ix q_group, u_group, uerr_group;
    int q0, u0; ///< where matter's begin in those of a State
    int num_bodies, nu, nq, num_surfaces, num_trees, most_tree_nu, most_bilateral;
    int max_pairs, max_contacts, max_rows, most_exact_rows;
    size_t max_entries;
    void *block;
    size_t block_bytes;

    // surfaces
    tali_detect_surface *surfaces;
    const tal_hull **hulls;
    tal_xform *X_BS, *X_GS;
    tal_unilateral_material *materials;
    double *size; ///< [num_surfaces] farthest point from Bo; 0 for a half-space
    double *reach;
    tali_detect_store store;
    void *store_block;
    size_t store_bytes;
    tal_touch_point *touch_points; ///< [most_touch]
    int most_touch;
    double *touch_work;

    // trees
    tali_pile_tree *trees;
    int *tree_of;           ///< [num_bodies] -1: does not move
    int *tree_u;            ///< [nu] speeds, tree by tree
    bool *is_known;         ///< [nu]
    size_t *J_of;           ///< [num_bodies] where its columns begin
    double *J;              ///< six numbers for each speed of its tree, body by body
    double *M_inv;          ///< tree by tree
    double *unit, *product; ///< [nu]
    tal_spatial_vec *V;     ///< [num_bodies]
    tal_vec3 *origin;       ///< [num_bodies] Bo in Ground
    double *factor;         ///< [most_tree_nu^2]

    // contacts and rows
    tali_pile_contact *contacts;
    int num_contacts;
    bool is_warm; ///< the last step left impulses
    tali_pile_bilateral *bilateral;
    double *G; ///< [most_bilateral][nu] column by column
    int num_bilateral, G_rows;
    tali_pile_group *groups; ///< [num_trees]
    int num_groups;
    int *order;       ///< [max_contacts] iterated ones first, then group by group
    int *group_size;  ///< [num_trees] contacts of the group, at its lowest tree
    int *group_at;    ///< [num_trees] where they are in the order
    int num_iterated; ///< contacts
    int num_rows, num_iterated_rows;
    int *start;                      ///< [max_rows + 1]
    int *index;                      ///< [max_entries] speeds
    double *row_J, *row_K;           ///< [max_entries]
    double *b, *pi;                  ///< [max_rows]
    double *w;                       ///< [4 max_rows + nu] scratch
    tal_friction_contact *frictions; ///< [max_contacts] in `order`
    int *iwork;                      ///< [2 max_rows] scratch
    double *u, *u_star, *u_apart;    ///< [nu]
    double *pi_apart;                ///< [max_rows]

    // exact groups
    double *A, *exact_b, *exact_pi, *exact_a, *exact_work;
    int *exact_iwork;
    tal_friction_mode *exact_modes;
    double *column; ///< [nu]

    double *y1; ///< [ny of the State] the end of the step
    double *y0; ///< [ny of the State] to go back to
    int y_room;
    tal_contact_step report;
    tal_error error_record;
};

/// Which bodies are in which tree, once.
void tali_pile_make_trees(tal_contact_stepper *s);

/// How many trees, speeds in the largest, numbers in all blocks of J and of M^-1.
typedef struct tali_pile_tree_sizes {
    int num_trees, most_nu;
    size_t J, M_inv;
} tali_pile_tree_sizes;

tali_pile_tree_sizes tali_pile_measure_trees(const tal_matter *matter);

/// J of all bodies and M^-1 of all trees. Needs TAL_STAGE_VELOCITY.
tal_status tali_pile_calc_inertia(tal_contact_stepper *s, tal_state *state);

/// The contacts at the poses of a State, for a step of h, with what is known of each of them.
tal_status tali_pile_find(tal_contact_stepper *s, tal_state *state, double h);

/// Keep the impulses of this step in the State, for the next one.
tal_status tali_pile_remember(tal_contact_stepper *s, tal_state *state);

/// Bilateral rows, groups, and all rows in the order of solving.
tal_status tali_pile_make_rows(tal_contact_stepper *s, tal_state *state, double h);

/// Impulses: from s->u_star to s->u, both after all forces; `u0` are the speeds before.
tal_status tali_pile_solve(tal_contact_stepper *s, const double u0[], double h);

/// What moves penetrating solids apart within h, along u: s->u_apart. False: nothing does.
bool tali_pile_part(tal_contact_stepper *s, double h, tal_status *st);

/// J u of a row.
static inline double tali_pile_row(const tal_contact_stepper *s, int row, const double u[])
{
    double sum = 0.0;
    for (int k = s->start[row]; k < s->start[row + 1]; ++k) {
        sum += s->row_J[k] * u[s->index[k]];
    }
    return sum;
}

#endif // TALUS_PILE_INTERNAL_H
