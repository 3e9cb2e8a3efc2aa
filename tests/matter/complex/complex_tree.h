// A tree whose kinematics and dynamics are computed over complex numbers, by the kernels themselves
// (complex_step.h). Numbers are given and returned as real and imaginary parts.
#ifndef TALUS_COMPLEX_TREE_H
#define TALUS_COMPLEX_TREE_H

/// Real and imaginary parts of an array.
typedef struct complex_array {
    const
#ifdef TALUS_COMPLEX_STEP_H
        plain
#else
        double
#endif
            *re,
        *im; ///< im NULL: zero
} complex_array;

/// What a tree is given. The structs are those of tree/matter_internal.h, as their numbers.
typedef struct complex_inputs {
    const void *tree;  ///< tali_tree
    const void *model; ///< tali_matter_model
    int nq;
    complex_array constants; ///< [num_bodies] tali_tree_constants
    complex_array q, u;
    complex_array X_FM;   ///< [num_general] of the general hinges
    complex_array H_FM;   ///< [num_u]
    complex_array Hdot_u; ///< [num_general]
    complex_array F_GB;   ///< [num_bodies] about Bo
    complex_array given;  ///< [num_u] udot, or f for forward dynamics
} complex_inputs;

/// Inverse dynamics (forward: forward dynamics) into re and im, [num_u] each.
void complex_dynamics(const complex_inputs *in, int forward,
#ifdef TALUS_COMPLEX_STEP_H
                      plain re[], plain im[]
#else
                      double re[], double im[]
#endif
);

#endif // TALUS_COMPLEX_TREE_H
