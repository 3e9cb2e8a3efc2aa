// Forward dynamics of several States at once, one in each lane of the registers (ADR 34). The
// kernels are those of width 1, compiled over lanes_numbers.h, so a State gets the bits that it
// gets alone.
#ifndef TALUS_LANES_INTERNAL_H
#define TALUS_LANES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/// A number of one State: where this is compiled over lanes, `double` is one of each.
#ifdef TALUS_KERNEL_LANES_NUMBERS_H
typedef plain tali_kernel_number;
#else
typedef double tali_kernel_number;
#endif

/// Which of two sums of the forces on bodies: of elements that need all, of those that need q.
enum {
    TALI_KERNEL_LOADS_OF_ALL,
    TALI_KERNEL_LOADS_OF_Q,
    TALI_KERNEL_NUM_LOADS
};

/// Numbers of a weight and of a load, as tali_weight and tal_spatial_vec have them.
enum {
    TALI_KERNEL_WEIGHT = 4,
    TALI_KERNEL_POSE = 12,
    TALI_KERNEL_LOAD = 6
};

/// The functions of one width.
typedef struct tali_kernel_lanes {
    int width; ///< States at once

    /// Bytes of the room that the others work in, aligned as the allocator does.
    size_t (*size)(const void *tree, int nq);

    /// Fill the room. The structs are those of tree/matter_internal.h, `nq` at most that of `size`;
    /// constants are given as their numbers, and are the same in all lanes.
    void (*prepare)(void *room, const void *tree, const void *model, int nq,
                    const tali_kernel_number constants[]);

    /// Let gravity act in `forward`.
    void (*set_gravity)(void *room, const tali_kernel_number g[3]);

    /**
     * Accelerations of n States, 1 ... width.
     *
     * @param[in]  q     [n][nq]
     * @param[in]  u     [n][nu]
     * @param[in]  f     [n][nu] forces along the speeds; NULL: none
     * @param[out] udot  [n][nu]
     * @return false when a mobility of one of them moves no mass
     */
    bool (*forward)(void *room, int n, const tali_kernel_number q[], const tali_kernel_number u[],
                    const tali_kernel_number f[], tali_kernel_number udot[]);

    /// @name The same in steps, for forces from elsewhere: all lanes move, each gets loads, all are
    /// solved. Rows are [width] pointers, none of them NULL.
    /// @{

    /// The constants of one lane.
    void (*seat)(void *room, int lane, const tali_kernel_number constants[]);

    /// What gravity pulls in one lane: weights [num_bodies][TALI_KERNEL_WEIGHT], and its field.
    void (*set_weights)(void *room, int lane, const tali_kernel_number weights[],
                        const tali_kernel_number g[3]);

    /// Poses and velocities from rows of y: q from number `q0` on, u from number `u0` on. Loads are
    /// zero.
    void (*move)(void *room, const tali_kernel_number *const y[], int q0, int u0);

    /// X_GM [TALI_KERNEL_POSE] and V_GM [TALI_KERNEL_LOAD] of a body in one lane.
    void (*look)(const void *room, int lane, int body, tali_kernel_number X[],
                 tali_kernel_number V[]);

    /// What is applied to a body in one lane so far, about Mo: read and written.
    /// @param[out] F  [TALI_KERNEL_LOAD]
    void (*get_load)(const void *room, int which, int lane, int body, tali_kernel_number F[]);
    /// @param[in] F  [TALI_KERNEL_LOAD]
    void (*set_load)(void *room, int which, int lane, int body, const tali_kernel_number F[]);

    /// Add the weights of all bodies to the loads of q, in all lanes.
    void (*weigh)(void *room);

    /// udot of all lanes into rows, from number `u0` on, given the loads and forces along speeds in
    /// rows of nu. False when a mobility moves no mass in one of them.
    bool (*solve)(void *room, const tali_kernel_number *const f[], int u0,
                  tali_kernel_number *const ydot[]);
    /// @}
} tali_kernel_lanes;

/// The widest for this machine; width 1 and no functions where there are none.
tali_kernel_lanes tali_kernel_lanes_best(void);

/// The functions of 4 or 8 lanes; false if this build or machine has none.
bool tali_kernel_lanes_of(int width, tali_kernel_lanes *out);

#endif // TALUS_LANES_INTERNAL_H
