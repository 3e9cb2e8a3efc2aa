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

/// The functions of one width.
typedef struct tali_kernel_lanes {
    int width; ///< States at once

    /// Bytes of the room that the others work in, aligned as the allocator does.
    size_t (*size)(const void *tree, int nq);

    /// Fill the room. The structs are those of tree/matter_internal.h; constants are given as their
    /// numbers, and are the same in all lanes.
    void (*prepare)(void *room, const void *tree, const void *model, int nq,
                    const tali_kernel_number constants[]);

    /// Let gravity act.
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
} tali_kernel_lanes;

/// The widest for this machine; width 1 and no functions where there are none.
tali_kernel_lanes tali_kernel_lanes_best(void);

/// The functions of 4 or 8 lanes; false if this build or machine has none.
bool tali_kernel_lanes_of(int width, tali_kernel_lanes *out);

#endif // TALUS_LANES_INTERNAL_H
