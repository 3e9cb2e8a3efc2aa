// What paths were built from, for writing model files.
#ifndef TALUS_PATH_FACTS_INTERNAL_H
#define TALUS_PATH_FACTS_INTERNAL_H

#include <talus/forces/path.h>

/// What a point of a path was added with.
typedef struct tali_path_point_facts {
    int kind; ///< 0: fixed; 1: conditional; 2: moving
    tal_mobility when;
    double low, high;
    const tal_xform *X_BP;  ///< of a moving point; borrowed
    const tal_mobility *at; ///< [3] likewise
    tal_function *const *f; ///< [3] likewise
} tali_path_point_facts;

tali_path_point_facts tali_path_point_facts_of(const tal_forces *forces, tal_path_ix path,
                                               int point);

/// What a path was laid over, between which points.
void tali_path_over_facts_of(const tal_forces *forces, tal_path_ix path, int k, tal_wrap_ix *wrap,
                             int *first, int *last);

/// The length of a path that is a function, and its coordinates; NULL for a path of points.
const tal_function *tali_path_function_of(const tal_forces *forces, tal_path_ix path,
                                          const tal_mobility **at, int *n);

/// The path of a measure of a length or speed, the element of one of a tension. False for another
/// measure.
bool tali_path_measure_facts_of(const tal_system *system, tal_measure_ix measure, int *i);

#endif // TALUS_PATH_FACTS_INTERNAL_H
