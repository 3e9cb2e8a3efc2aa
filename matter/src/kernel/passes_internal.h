// The passes over the tree. All are pure, allocation-free and linear in the number of bodies;
// forces and accelerations are spatial vectors about each body's Mo, in Ground, one per body.
//
// The kernels are compiled once for any processor and once more for each that can do better:
// ADR 20. Which of them a System uses is settled with its topology: tree->passes.
#ifndef TALUS_PASSES_INTERNAL_H
#define TALUS_PASSES_INTERNAL_H

#include "processor_internal.h"
#include "weight_internal.h"

#include "tree/matter_internal.h"

/// Room for the articulated inertia of one open subtree.
typedef struct tali_kernel_open_inertia {
    tal_abi P;
    tal_vec3 size_J; ///< how large the moments about Ground's axes were before projections took
                     ///< from them
    tal_vec3 size_M; ///< the same for the masses along them
} tali_kernel_open_inertia;

/// Room for tali_passes.mass_matrix.
typedef struct tali_kernel_mass_matrix_room {
    tali_tree_composite *open; ///< [num_slots]
    double *F;                 ///< [6 num_u]
    double *row;               ///< [num_u]
    int32_t *speed_at;         ///< [num_u]; NULL if the tree is numbered depth first
    bool without_rotors;
} tali_kernel_mass_matrix_room;

/// A force that answers a turn w: (T w, w x f) (theory eq. 13.6).
typedef struct tali_kernel_turning {
    tal_mat3 T;
    tal_vec3 f;
} tali_kernel_turning;

/// A body and all it carries, as derivatives see it: about its Mo, in Ground.
typedef struct tali_kernel_moving {
    tali_tree_composite inertia;
    tal_spatial_vec F;            ///< the force it needs
    tali_kernel_turning coriolis; ///< what speeds add when it turns
    tali_kernel_turning kept;     ///< what forces that keep their direction add
} tali_kernel_moving;

/// What derivatives are taken of, and vectors that all of them need (theory T-13).
typedef struct tali_kernel_slopes {
    const double *u;    ///< [num_u]
    const double *udot; ///< [num_u]; NULL: zero
    /// [num_bodies] applied forces about Mo, which keep their components in Ground about Bo; NULL:
    /// none
    const tal_spatial_vec *F;
    /// [num_d] of the general hinges, in F: of column k along speed l at d0 + l nu + k
    const tal_spatial_vec *of_H;
    const tal_spatial_vec *of_Hdot_u; ///< [num_u] of the general hinges, in F: along each speed

    tal_spatial_vec *A;     ///< [num_bodies] A_GM
    tal_spatial_vec *V;     ///< [num_bodies] V_GM, less the velocity of the first body on the way
    tal_spatial_vec *force; ///< [num_bodies] M A + b - F
    tal_spatial_vec *Psi1;  ///< [num_u] theory eq. 13.3
    tal_spatial_vec *Psi2;  ///< [num_u]
    tal_spatial_vec *Psi3;  ///< [num_u]
} tali_kernel_slopes;

/// Room for tali_passes.slope_matrices.
typedef struct tali_kernel_slope_room {
    tali_kernel_moving *open; ///< [num_slots]
    double *columns;          ///< [24 tali_kernel_slope_step(num_u)]
    double *rows;             ///< [5 tali_kernel_slope_step(num_u)]
    int32_t *speed_at;        ///< [num_u]
} tali_kernel_slope_room;

/// Numbers from one component of the vectors of all speeds to the next: room for whole blocks.
static inline int tali_kernel_slope_step(int num_u)
{
    return (num_u + 15) & ~7;
}

/// nu x nu matrices by columns; NULL: not wanted.
typedef struct tali_kernel_slope_matrices {
    double *by_q, *by_u, *M; ///< of M the lower triangle alone
    int ld_q, ld_u, ld_M;
} tali_kernel_slope_matrices;

/// What one step towards Ground is made of, from a body to its parent.
typedef struct tali_kernel_stepping {
    const tali_tree_view *view;
    const tali_kernel_slopes *in;
    const tali_kernel_slope_matrices *out;
    const tali_kernel_slope_room *room;
    int u0, nu;      ///< the parent's speeds
    int first, last; ///< places of the speeds that are taken to it
    tal_vec3 p;      ///< from the parent's Mo
} tali_kernel_stepping;

/// Right-hand sides that tali_passes.inverse_columns takes at a time.
enum {
    TALI_KERNEL_LANES = 16
};

/// The articulated quantities of all hinges along their speeds, and room for a block of columns.
typedef struct tali_kernel_inverse_room {
    tal_spatial_vec *G; ///< [num_u]
    double *DI;         ///< [num_d] nu x nu blocks
    double *e;          ///< [TALI_KERNEL_LANES num_u]
    double *A;          ///< [6 TALI_KERNEL_LANES num_bodies]
    double *open;       ///< [6 TALI_KERNEL_LANES num_slots]
} tali_kernel_inverse_room;

/// The next multiple of 4: as many numbers as the widest registers take at a time.
static inline int tali_kernel_whole_lanes(int n)
{
    return (n + 3) & ~3;
}

struct tali_passes {
    /// @name Kinematics
    /// @{

    /// Poses and hinge columns in Ground: writes at->pose and at->H. Of the general
    /// hinges, at->X_FM and at->H_FM must be there already.
    void (*position)(const tali_tree *tree, const tali_tree_constants constants[],
                     const tali_matter_model *model, const double q[],
                     const tali_tree_position *at);

    /// Velocities, and with `with_A0` accelerations at udot = 0: writes at->rates. Of the general
    /// hinges, at->Hdot_u must be there already. Where there are particles, A0 comes in any case.
    void (*velocity)(const tali_tree_view *view, const double u[], bool with_A0,
                     const tali_tree_velocity *at);

    /// The accelerations at udot = 0 alone, given velocities: the same bits.
    void (*A0)(const tali_tree_view *view, const double u[], tali_tree_rates rates[]);

    /// Sines and cosines of n angles. The arrays have room for tali_kernel_whole_lanes(n), and
    /// numbers in all of it.
    void (*sincos)(int n, const double angle[], double s[], double c[]);

    /// V = J u: base to tip ([num_bodies]).
    void (*J)(const tali_tree_view *view, const double u[], tal_spatial_vec V[]);

    /// f = J^T F: tip to base. F is overwritten: on return each holds the sum over its subtree.
    void (*JT)(const tali_tree_view *view, tal_spatial_vec F[], double f[]);

    /// f = J^T F along a constraint's path: tip to base. F ([len]) is overwritten with the sums
    /// over what the path has farther out; f has the speeds of the path.
    void (*path_JT)(const tali_tree_view *view, const tali_constraint_path_entry path[], int len,
                    tal_spatial_vec F[], double f[]);

    /// Rows of the Jacobian of a point of body b: six (w above v) or three (v), all num_u columns
    /// of them. `J` points to the first row; `p` goes from Mo to the point, in Ground.
    void (*frame_rows)(const tali_tree_view *view, int b, tal_vec3 p_MA_G, double *J, int ld);
    void (*station_rows)(const tali_tree_view *view, int b, tal_vec3 p_MS_G, double *J, int ld);
    /// @}

    /// @name Inertias
    /// @{

    /// Mass properties of each body alone, in Ground ([num_bodies]).
    void (*rigid)(const tali_tree_view *view, tali_tree_composite out[]);

    /// F += (mc x g, m g), bodies in a uniform field g, for all except Ground.
    void (*weights)(const tali_tree_pose pose[], int num_bodies, const tali_weight weights[],
                    tal_vec3 g, tal_spatial_vec F[]);

    /// Composite inertias: each body with all it carries ([num_bodies]); Ground's is the whole
    /// system.
    void (*composite)(const tali_tree_view *view, tali_tree_composite out[]);

    /// Articulated-body inertias, tip to base: writes G and DI, and P of all bodies but Ground if
    /// there is room for it. `open` has tree->num_slots entries.
    /// False when a mobility moves no mass; the first entry of its DI is then zero.
    bool (*articulated)(const tali_tree_view *view, const tali_tree_articulated *out,
                        tali_kernel_open_inertia open[]);

    /// M by composite rigid bodies (RBDA tab. 6.2): diagonal and what is below it; above it zeros
    /// or nothing. Entry (i, j) is M[i + j ld].
    void (*mass_matrix)(const tali_tree_view *view, double *M, int ld,
                        const tali_kernel_mass_matrix_room *room);

    /// The rows of M that tree->row_begin lists, one after the other, given the composite
    /// inertias of all bodies.
    void (*mass_rows)(const tali_tree_view *view, const tali_tree_composite composite[],
                      double rows[]);
    /// @}

    /// @name Dynamics
    /// @{

    /**
     * Inverse dynamics: f = M udot + J^T (F0 - F) (RBDA tab. 5.1).
     *
     * @param[in]  view  needs no mass properties in Ground
     * @param[in]  u     [num_u] that the velocities in the view belong to
     * @param[in]  udot  [num_u]; NULL means zero
     * @param[in]  F     [num_bodies] forces applied to the bodies; NULL means zero
     * @param[out] f     [num_u]
     * @param      A     [num_bodies] room; on return the accelerations
     * @param      open  [num_slots] room
     * @return the force that all bodies need together, about Ground's origin. Zero times infinity
     *         is NaN, so it is finite only if all of udot and F are
     */
    tal_spatial_vec (*newton_euler)(const tali_tree_view *view, const double u[],
                                    const double udot[], const tal_spatial_vec F[], double f[],
                                    tal_spatial_vec A[], tal_spatial_vec open[]);

    /// f = M udot. Room as for newton_euler.
    void (*mass)(const tali_tree_view *view, const double udot[], double f[], tal_spatial_vec A[],
                 tal_spatial_vec open[]);

    /**
     * First half of M^-1: tip to base, from forces to residuals.
     *
     * @param[in]  f     [num_u] mobility forces; NULL means zero
     * @param[in]  F     [num_bodies] body forces to be resisted (subtracted); NULL means zero
     * @param[out] e     [num_u] what is left for each mobility
     * @param      open  [num_slots] room
     */
    void (*inward)(const tali_tree_view *view, const double f[], const tal_spatial_vec F[],
                   double e[], tal_spatial_vec open[]);

    /// The same for bodies that move: what they resist is F0 - F, where F0 = M A0 + gyroscopic is
    /// the force that they take at zero free udot, and F are the forces applied to them (NULL means
    /// none). Known accelerations count if view->A_known is there.
    void (*inward_moving)(const tali_tree_view *view, const double f[], const tal_spatial_vec F[],
                          double e[], tal_spatial_vec open[]);

    /// First half of M^-1 for a unit force along speed j of body b: writes e on the path from b to
    /// Ground, and nowhere else, where it is zero.
    void (*inward_unit)(const tali_tree_view *view, int b, int j, double e[]);

    /// Second half of M^-1: base to tip, from residuals to udot, and the body accelerations J udot
    /// that come with it ([num_bodies]).
    void (*outward)(const tali_tree_view *view, const double e[], double udot[],
                    tal_spatial_vec A[]);

    /**
     * The inward pass of one force along a constraint's path: e = f - H^T z there, zero elsewhere.
     *
     * @param[in]  path  [len] tip to base
     * @param[in]  f     [speeds of the path] forces along the mobilities
     * @param      z     [len] in: minus the body forces; out: undefined
     * @param[out] e     [speeds of the path]
     * @param[out] y     [speeds of the path] D^-1 e
     */
    void (*path)(const tali_tree_view *view, const tali_constraint_path_entry path[], int len,
                 const double f[], tal_spatial_vec z[], double e[], double y[]);

    /**
     * Forces across the mobilizers, on the outboard body about its Mo.
     *
     * @param[in]  A_GM  [num_bodies] accelerations
     * @param[in]  F     [num_bodies] all forces on the bodies but those of the mobilizers
     * @param[out] out   [num_bodies]; Ground's is what holds it in place
     */
    void (*reactions)(const tali_tree_view *view, const tal_spatial_vec A_GM[],
                      const tal_spatial_vec F[], tal_spatial_vec out[]);
    /// @}

    /// @name Derivatives
    /// @{

    /// Base to tip: fills what tali_kernel_slopes has room for. The view needs inertias and
    /// velocities.
    void (*slopes)(const tali_tree_view *view, const tali_kernel_slopes *io);

    /// All derivatives of inverse dynamics along directions of motion and by u, and M.
    void (*slope_matrices)(const tali_tree_view *view, const tali_kernel_slopes *in,
                           const tali_kernel_slope_matrices *out,
                           const tali_kernel_slope_room *room);

    /// One step of that; `is_pin`: the parent's hinge is one.
    void (*slope_step)(const tali_kernel_stepping *s, bool is_pin);

    /**
     * The derivative of inverse dynamics along one direction.
     *
     * @param[in]  x     [3] arrays of num_u: changes of q as speeds would make them, of u, of udot;
     *                   NULL: zero
     * @param[out] df    [num_u]
     * @param      room  [3 num_bodies]
     * @param      open  [2 num_slots]
     */
    void (*slope_mul)(const tali_tree_view *view, const tali_kernel_slopes *in,
                      const double *const x[3], double df[], tal_spatial_vec room[],
                      tal_spatial_vec open[]);

    /// The transpose: out[] are three arrays of num_u, NULL where not wanted.
    /// @param room  [num_bodies]
    /// @param open  [3 num_slots]
    void (*slope_tmul)(const tali_tree_view *view, const tali_kernel_slopes *in, const double mu[],
                       double *const out[3], tal_spatial_vec room[], tal_spatial_vec open[]);

    /// Writes G and DI of the room from those of the view, whose ball, translation and free hinges
    /// have theirs along Ground's axes.
    void (*inverse_prepare)(const tali_tree_view *view, const tali_kernel_inverse_room *room);

    /// B = scale M^-1 B for n columns, in blocks.
    void (*inverse_columns)(const tali_tree_view *view, const tali_kernel_inverse_room *room,
                            double scale, double *B, int ld, int n);
    /// @}

    /// @name The passes for lone particles: bodies that translate on Ground and carry nothing
    /// @{
    void (*particles_position)(const tali_tree *tree, const tali_tree_constants constants[],
                               const tali_matter_model *model, const double q[],
                               const tali_tree_position *at);
    void (*particles_velocity)(const tali_tree_view *view, const double u[],
                               const tali_tree_velocity *at);
    bool (*particles_articulated)(const tali_tree_view *view,
                                  const tali_tree_articulated *out); ///< no P

    /// `sign` is +1 where F are applied, -1 where they are to be resisted.
    void (*particles_inward)(const tali_tree_view *view, const double f[],
                             const tal_spatial_vec F[], double sign, double e[]);
    void (*particles_outward)(const tali_tree_view *view, const double e[], double udot[],
                              tal_spatial_vec A[]);
    /// @}
};

/// Whether body b is a lone particle, where `hinge` is the tree's or, where locks count, a view's.
static inline bool tali_kernel_is_particle(const tali_tree *tree, const uint8_t hinge[], int b)
{
    return hinge[b] == TALI_HINGE_TRANSLATION && tree->parent[b] == 0 && tree->is_leaf[b];
}

/// The passes for such a processor; false if this build has none or this machine is another.
bool tali_passes_for(tali_processor processor, tali_passes *out);

/// The passes for this machine.
tali_passes tali_passes_best(void);

#endif // TALUS_PASSES_INTERNAL_H
