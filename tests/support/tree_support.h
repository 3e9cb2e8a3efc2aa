// A System with matter, gravity and mobility forces, for tests that build trees by hand.
#ifndef TALUS_TREE_SUPPORT_H
#define TALUS_TREE_SUPPORT_H

#include "kernel/passes_internal.h"
#include "talus_test.h"

#include <talus/matter.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

/// `tau` and `F` may be set before the State is realized to Dynamics; NULL means none.
typedef struct rig {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_vec3 gravity;
    const double *tau;        ///< [nu] mobility forces
    const tal_spatial_vec *F; ///< [num_bodies] about Mo, in Ground
} rig;

static inline tal_status rig_apply(const void *self, const tal_system *system, tal_state *state)
{
    (void)system;
    const rig *r = self;
    const tal_applied_forces applied = tal_matter_upd_forces(r->matter, state);
    const tal_bodies_view poses = tal_matter_poses(r->matter, state);
    if (applied.F_GM == NULL || poses.bytes == NULL) return TAL_ERR_STAGE;
    for (int b = 1; b < poses.num_bodies; ++b) {
        const tal_body_ix body = {b};
        tal_vec3 com;
        const double mass = tal_body_mass(r->matter, state, body, &com);
        tal_apply_station_force(&poses, b, com, tal_v3_scale(mass, r->gravity), applied.F_GM);
        if (r->F != NULL) applied.F_GM[b] = tal_sv_add(applied.F_GM[b], r->F[b]);
        const int u0 = tal_body_u_start(r->matter, body);
        for (int j = 0; r->tau != NULL && j < tal_body_nu(r->matter, body); ++j) {
            applied.f[u0 + j] += r->tau[u0 + j];
        }
    }
    return TAL_OK;
}

static inline void rig_begin(rig *r)
{
    static const tal_subsystem_ops loads = {
        .size = sizeof loads, .name = "loads", .realize_dynamics = rig_apply};
    *r = (rig){.system = tal_system_create(NULL)};
    ck_assert_ptr_nonnull(r->system);
    r->matter = tal_matter_create(r->system);
    ck_assert_ptr_nonnull(r->matter);
    ck_assert_int_ge(tal_system_add_subsystem(r->system, NULL, &loads, r).i, 0);
}

static inline void rig_finish(rig *r)
{
    tal_error err = {TAL_OK, "", ""};
    const tal_status built = tal_system_realize_topology(r->system, &err);
    ck_assert_msg(built == TAL_OK, "%s", err.message);
    const tal_status made = tal_state_create(r->system, &r->state, &err);
    ck_assert_msg(made == TAL_OK, "%s", err.message);
}

static inline void rig_end(rig *r)
{
    tal_state_destroy(r->state);
    tal_system_destroy(r->system);
}

static inline void rig_realize(const rig *r, tal_stage stage)
{
    const tal_status st = tal_system_realize(r->system, r->state, stage);
    ck_assert_msg(st == TAL_OK, "%s", tal_state_error(r->state)->message);
}

/// Add a body with a built-in mobilizer given by name; spherical coordinates are the plain ones.
static inline tal_body_ix rig_add(const rig *r, int parent, const char *kind,
                                  const tal_mobod_def *def, const double params[])
{
    static const struct {
        const char *kind;
        const tal_mobilizer_ops *(*ops)(void);
    } kinds[] = {{"weld", tal_mobilizer_weld},
                 {"pin", tal_mobilizer_pin},
                 {"slider", tal_mobilizer_slider},
                 {"screw", tal_mobilizer_screw},
                 {"rack_and_pinion", tal_mobilizer_rack_and_pinion},
                 {"universal", tal_mobilizer_universal},
                 {"cylinder", tal_mobilizer_cylinder},
                 {"bend_stretch", tal_mobilizer_bend_stretch},
                 {"planar", tal_mobilizer_planar},
                 {"gimbal", tal_mobilizer_gimbal},
                 {"bushing", tal_mobilizer_bushing},
                 {"translation", tal_mobilizer_translation},
                 {"ball", tal_mobilizer_ball},
                 {"ellipsoid", tal_mobilizer_ellipsoid},
                 {"line_orientation", tal_mobilizer_line_orientation},
                 {"free_line", tal_mobilizer_free_line},
                 {"free", tal_mobilizer_free},
                 {"cantilever", tal_mobilizer_cantilever},
                 {"spherical_coords", tal_mobilizer_spherical_coords}};

    static const double upright[] = {0.0, 0.0, 1.0, 1.0, 1.0, 0.0};

    const tal_body_ix on = {parent};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (strcmp(kinds[k].kind, kind) != 0) continue;
        const tal_mobilizer_ops *ops = kinds[k].ops();
        return tal_matter_add_mobilizer(r->matter, on, def, ops, NULL,
                                        ops->num_params == 6 ? upright : params);
    }
    ck_abort_msg("no mobilizer '%s'", kind);
    return (tal_body_ix){-1};
}

static inline tal_xform rig_X_GB(const rig *r, int b)
{
    return tal_body_X_GB(r->matter, r->state, (tal_body_ix){b});
}

static inline tal_spatial_vec rig_V_GB(const rig *r, int b)
{
    return tal_body_V_GB(r->matter, r->state, (tal_body_ix){b});
}

static inline tal_spatial_vec rig_A_GB(const rig *r, int b)
{
    return tal_body_A_GB(r->matter, r->state, (tal_body_ix){b});
}

/// Weights of all bodies, about Bo in Ground: what rig_apply() applies, but by another way.
static inline void rig_weights(const rig *r, tal_spatial_vec F_GB[])
{
    F_GB[0] = TAL_SPATIAL_VEC_ZERO;
    for (int b = 1; b < tal_matter_num_bodies(r->matter); ++b) {
        const tal_mass_props m = tal_body_mass_props(r->matter, r->state, (tal_body_ix){b});
        const tal_vec3 f = tal_v3_scale(m.mass, r->gravity);
        const tal_vec3 com = tal_m3_mul_v3(rig_X_GB(r, b).R, m.com);
        F_GB[b] = tal_sv(tal_v3_cross(com, f), f);
    }
}

/// A rigid body of random mass properties, with random frames.
static inline tal_mobod_def random_def(test_rng *rng)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = test_random_mass_props(rng);
    def.X_PF = test_random_xform(rng);
    def.X_BM = test_random_xform(rng);
    return def;
}

#endif // TALUS_TREE_SUPPORT_H
