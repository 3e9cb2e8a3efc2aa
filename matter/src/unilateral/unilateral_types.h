// Unilateral elements as matter keeps them.
#ifndef TALUS_UNILATERAL_TYPES_H
#define TALUS_UNILATERAL_TYPES_H

#include "names_internal.h"

#include <talus/matter/impact.h>

/// An element as it was added.
typedef struct tali_unilateral {
    char name[TAL_MAX_NAME + 1];
    int normal; ///< constraint; -1: none
    int grip;   ///< constraint; -1: none
    int sign;
    int anchor; ///< parameter of the grip; -1: none
    int num_slips;
    bool is_ratchet; ///< its normal is a velocity equation
    tal_unilateral_load load;
    tal_unilateral_margin_fn margin; ///< NULL: no limits
    void *margin_context;
    double *polygon; ///< [2 num_corners] owned; NULL: none
    int num_corners;
    double halves[2]; ///< of edges; 0: they have no ends
    bool disabled;
    tal_unilateral_material material;
} tali_unilateral;

/// How the gap of an element is found.
typedef enum tali_unilateral_gap_kind {
    TALI_UNILATERAL_NO_GAP,
    TALI_UNILATERAL_ANY_GAP,   ///< by its constraint
    TALI_UNILATERAL_POINT_GAP, ///< from here on: from poses
    TALI_UNILATERAL_SPHERE_GAP,
    TALI_UNILATERAL_SPHERES_GAP, ///< of two spheres
    TALI_UNILATERAL_INSIDE_GAP   ///< of a sphere within another
} tali_unilateral_gap_kind;

/// What is needed for that, close together: there may be thousands.
typedef struct tali_unilateral_quick {
    tali_unilateral_gap_kind kind;
    int normal;
    int param0; ///< first parameter of the normal
    int bodies[2];
} tali_unilateral_quick;

/// Everything matter knows of its unilateral elements. Const after topology.
typedef struct tali_unilaterals {
    tali_unilateral *list;
    int count;
    int capacity;
    tali_names names;
    int most_sliding;             ///< 0: the default
    int most_touching;            ///< 0: the default
    int num_grips;                ///< elements that have one
    tali_unilateral_quick *quick; ///< [count] once the topology is realized
    int num_quick;

    tal_var_ix enabled;    ///< uint8_t[count]
    tal_var_ix materials;  ///< tal_unilateral_material[count]
    tal_var_ix impacts;    ///< tal_unilateral_impact[count] the last of each
    tal_var_ix directions; ///< double[count][2] of slip; its update is the direction of friction
    tal_cache_ix margins;  ///< double[count] how far slides are from a jam; written by their solver
} tali_unilaterals;

#endif // TALUS_UNILATERAL_TYPES_H
