// Elements between a station of one body and a plane of another: where both are.
#include "contact/on_plane_internal.h"

#include <string.h>

// The station from Mo in M of its body, and the frame on M of the plane's.
typedef struct ends {
    tal_vec3 p_MS;
    tal_xform X_MF;
} ends;

tal_status tali_on_plane_declare(void *self, tal_forces *forces, tal_force_ix me)
{
    (void)tali_force_element_declare(self, forces, me);
    tali_force_element_declare_placed(self, forces, sizeof(ends));
    return TAL_OK;
}

static tal_xform frame_of(const double params[])
{
    tal_xform X;
    memcpy(&X, params + TALI_ON_PLANE_FRAME, sizeof X);
    return X;
}

tal_status tali_on_plane_realize_instance(const void *self, const tal_force_context *context)
{
    const tali_on_plane *it = self;
    const double *geometry = tali_force_geometry(&it->base, context);
    const tal_body_ix plane_body = {it->body[1]};
    const tal_xform X_MB = tal_body_X_MB(context->matter, context->state, plane_body);
    ends *placed = tal_cache_upd(context->system, context->state, it->base.placed);
    placed->p_MS = tali_force_station_in_M(context, it->body[0], geometry + TALI_ON_PLANE_STATION);
    placed->X_MF = tal_xf_mul(X_MB, frame_of(geometry));
    return tal_cache_mark_valid(context->system, context->state, it->base.placed);
}

tali_on_plane_view tali_on_plane_look(const tali_on_plane *it, const tal_force_context *context)
{
    const ends *placed = tali_force_placed(&it->base, context);
    const tal_xform *X_GM = tal_view_X_GM(&context->poses, it->body[0]);
    const tal_xform X_GF = tal_xf_mul(*tal_view_X_GM(&context->poses, it->body[1]), placed->X_MF);
    const tal_vec3 p_GS = tal_xf_apply(*X_GM, placed->p_MS);
    return (tali_on_plane_view){
        .R_GF = X_GF.R, .p_GS = p_GS, .p_FS_F = tal_m3_tmul_v3(X_GF.R, tal_v3_sub(p_GS, X_GF.p))};
}

void tali_on_plane_fill_facts(const void *self, tali_force_facts *facts)
{
    const tali_on_plane *it = self;
    facts->bodies[0].i = it->body[0];
    facts->bodies[1].i = it->body[1];
}

tal_force_ix tali_on_plane_add(tal_forces *forces, const char *name, const tali_force_kind *kind,
                               tali_on_plane *like, size_t size, tal_vec3 p_BS,
                               const tal_xform *X_BF, double params[])
{
    for (int k = 0; k < 2; ++k) {
        const tal_body_ix body = {like->body[k]};
        if (!tali_force_element_has(forces, name, kind, body)) return (tal_force_ix){-1};
    }
    memcpy(params + TALI_ON_PLANE_STATION, &p_BS, sizeof p_BS);
    memcpy(params + TALI_ON_PLANE_FRAME, X_BF, sizeof *X_BF);
    return tali_force_element_add(forces, name, kind, like, size, params);
}

const char *tali_on_plane_check(const double params[])
{
    const tal_mat3 R = frame_of(params).R;
    const bool good = tal_rotation_is_valid(&R, TALI_ROTATION_TOLERANCE);
    return good ? NULL
                : "the axes of the plane are not perpendicular, right-handed and of length 1";
}
