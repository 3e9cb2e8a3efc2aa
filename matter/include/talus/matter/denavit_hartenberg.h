// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_MATTER_DENAVIT_HARTENBERG_H
#define TALUS_MATTER_DENAVIT_HARTENBERG_H

/**
 * @file talus/matter/denavit_hartenberg.h
 * @brief Robots as tables of Denavit-Hartenberg parameters: to bodies, and back.
 *
 *     static const tal_dh_row scara[] = {
 *         {.a = 0.4, .d = 0.6},
 *         {.a = 0.3, .alpha = TAL_PI},
 *         {.joint = TAL_DH_PRISMATIC},
 *     };
 *     tal_dh_def def = tal_dh_def_default();
 *     def.rows = scara;
 *     def.num_rows = 3;
 *     st = tal_matter_add_dh(matter, TAL_GROUND, &def, bodies, &err);
 *
 * Each row places the frame of one link on the frame of the link before, in one of two orders:
 *
 *     standard   Rz(theta) Tz(d) Tx(a) Rx(alpha)   the joint turns about z of the link before
 *     modified   Rx(alpha) Tx(a) Rz(theta) Tz(d)   the joint turns about z of its own link
 *
 * where a joint adds q to theta (revolute), to d (prismatic), q and pitch q to both (helical), or
 * q0 to theta and q1 to d (cylindrical). The second order is that of Craig and of RBDA sec. 4.3,
 * which calls a and alpha of row i those of the link before, as here.
 */

#include <talus/matter/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup denavit_hartenberg Denavit-Hartenberg tables
/// @{

/// In which order a row is read.
typedef enum tal_dh_order {
    TAL_DH_STANDARD, ///< Rz(theta) Tz(d) Tx(a) Rx(alpha)
    TAL_DH_MODIFIED  ///< Rx(alpha) Tx(a) Rz(theta) Tz(d)
} tal_dh_order;

/// What moves in a row.
typedef enum tal_dh_joint {
    TAL_DH_REVOLUTE,   ///< theta: a pin
    TAL_DH_PRISMATIC,  ///< d: a slider
    TAL_DH_HELICAL,    ///< theta, and d by a pitch: a screw
    TAL_DH_CYLINDRICAL ///< theta and d: a cylinder
} tal_dh_joint;

/// One link and its joint. All zero: a pin where the link before is.
typedef struct tal_dh_row {
    double a;     ///< [m] along x
    double alpha; ///< [rad] about x
    double d;     ///< [m] along z, at q = 0
    double theta; ///< [rad] about z, at q = 0
    tal_dh_joint joint;
    double pitch; ///< [m/rad] of a helical joint
} tal_dh_row;

/// A table, and what stands before and behind it. Obtain it from tal_dh_def_default(), then edit.
typedef struct tal_dh_def {
    tal_dh_order order;
    const tal_dh_row *rows; ///< [num_rows]
    int num_rows;
    tal_xform X_PD;             ///< the frame that the first row stands on, on the parent
    const tal_mass_props *mass; ///< [num_rows] of the links, about and in their frames; NULL: none
    const char *const *names;   ///< [num_rows] of the bodies; NULL: as matter names them
} tal_dh_def;

/// No rows, in the modified order, on the parent's origin.
TAL_API tal_dh_def tal_dh_def_default(void);

/// Where a row puts the frame of its link on the frame of the link before, with `q` added to theta
/// and `way` to d.
TAL_API tal_xform tal_dh_place(tal_dh_order order, const tal_dh_row *row, double q, double way);

/**
 * Add a chain of bodies, one for each row. The frame B of each is the frame of its row's link, so
 * that tal_body_X_GB() of the last one is the product of the table.
 *
 * @param[in,out] matter  its topology must not be realized
 * @param[in]     parent
 * @param[in]     def     copied
 * @param[out]    bodies  [def->num_rows] may be NULL
 * @param[out]    err     may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE for a number that is not finite or a joint that does not exist,
 *         TAL_ERR_NULL; nothing is added then. What is wrong with a name or a mass is reported when
 *         the topology is realized, as for any body
 */
TAL_NODISCARD TAL_API tal_status tal_matter_add_dh(tal_matter *matter, tal_body_ix parent,
                                                   const tal_dh_def *def, tal_body_ix bodies[],
                                                   tal_error *err);

/// A chain as a table: what tal_matter_calc_dh() finds.
typedef struct tal_dh_chain {
    int num_rows;
    tal_xform X_PD; ///< the frame that the first row stands on, on the base
    tal_xform X_DB; ///< the tip's frame B in the frame that the last row ends with
} tal_dh_chain;

/**
 * The table of the bodies between a base and a tip: the same poses for the same q,
 *
 *     X_base_tip(q) = X_PD row_1(q) ... row_n(q) X_DB
 *
 * Their mobilizers must be pins, sliders, screws and cylinders, not reversed. Where two axes are
 * parallel, or one meets the other, the table is not unique: d is chosen as zero as far as
 * possible, and x along the last x as far as possible. A chain that was added from a table gives a
 * table back whose poses are the same, not always its numbers.
 *
 * @param[in]     state     for the frames of mobilizers; realized to TAL_STAGE_INSTANCE
 * @param[in]     base      TAL_GROUND or any body on the way from the tip to Ground
 * @param[in]     tip       where the chain ends
 * @param[in]     order
 * @param[out]    rows      [tal_matter_num_bodies(matter)] of which the first chain->num_rows
 *                          are written
 * @param[out]    chain     written on success only
 * @param[out]    err       may be NULL
 * @return TAL_OK; TAL_ERR_BAD_VALUE when the base is not inboard of the tip, or a mobilizer cannot
 *         be in a table: the sentence names its body; TAL_ERR_STAGE, TAL_ERR_NULL,
 *         TAL_ERR_BAD_INDEX, TAL_ERR_NO_MEMORY
 */
TAL_NODISCARD TAL_API tal_status tal_matter_calc_dh(const tal_matter *matter,
                                                    const tal_state *state, tal_body_ix base,
                                                    tal_body_ix tip, tal_dh_order order,
                                                    tal_dh_row rows[], tal_dh_chain *chain,
                                                    tal_error *err);

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_MATTER_DENAVIT_HARTENBERG_H
