// Dynamics of a tree of pins with nothing around it: no State, no stages, no checks, no other
// joints.
//
// This is the practical floor that Talus is measured against, so it is written to be as fast as
// plain C allows. Everything about a pin tree that can be decided beforehand is.
#ifndef TALUS_BENCH_BARE_H
#define TALUS_BENCH_BARE_H

typedef struct bare_v3 {
    double x, y, z;
} bare_v3;

typedef struct bare_m3 {
    bare_v3 x, y, z; ///< columns
} bare_m3;

typedef struct bare_s3 {
    double xx, yy, zz, xy, xz, yz;
} bare_s3;

/// What does not change about one body. The pin turns about z of F.
typedef struct bare_body {
    bare_m3 R_PF;
    bare_v3 p_PF;
    bare_v3 mc; ///< mass times com
    bare_s3 I;  ///< about the origin
    double mass;
} bare_body;

/// A tree of pins, and room to work in. Bodies are 0 .. n-1; parent -1 is Ground.
typedef struct bare_tree {
    int n;
    const bare_body *bodies;
    const int *parent;
    const int *slot;              ///< where a body's subtree is summed
    const unsigned char *is_leaf; ///< nothing has been summed in its slot
    const unsigned char *is_last; ///< the first of its siblings to be met, tip to base
    struct bare_pose *pose;       ///< [n]
    struct bare_load *load;       ///< [n]
    struct bare_gain *gain;       ///< [n]
    struct bare_open *open;       ///< [slots]
    struct bare_link *link;       ///< [n]
    bare_v3 gravity;
} bare_tree;

/// udot under gravity, by articulated bodies (RBDA tab. 7.1), in Ground axes.
void bare_forward(const bare_tree *tree, const double q[], const double u[], double udot[]);

/// Forces for udot against gravity, by Newton-Euler (RBDA tab. 5.1), in body axes.
void bare_inverse(const bare_tree *tree, const double q[], const double u[], const double udot[],
                  double f[]);

/// Poses and spatial velocities of all bodies, in Ground.
void bare_kinematics(const bare_tree *tree, const double q[], const double u[]);

/// Make room for a tree of n bodies and number its slots. NULL when there is no memory.
bare_tree *bare_create(int n, const bare_body bodies[], const int parent[], bare_v3 gravity);
void bare_destroy(bare_tree *tree);

/// R by columns, p, w, v of the last body, as bare_kinematics() left them.
void bare_last_body(const bare_tree *tree, double out[18]);

#endif // TALUS_BENCH_BARE_H
