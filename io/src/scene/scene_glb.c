#include "error_internal.h"

#include "scene/scene_internal.h"

tal_status tali_scene_put_glb(const tal_scene *scene, tali_scene_bytes *out, tal_error *err)
{
    (void)scene;
    (void)out;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "not yet");
}
