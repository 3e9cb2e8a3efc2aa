// Links along edges of a cube: a chain of five bars, and Bricard's linkage when it is closed (GJB
// ex. 8.6 and 8.7; IFToMM benchmark A04).
#ifndef TALUS_CUBE_LINKS_H
#define TALUS_CUBE_LINKS_H

#include <talus/matter.h>

/// How the mass of a link of 1 kg is spread between its ends.
typedef enum link_mass {
    LINK_LUMPED, ///< half at each end
    LINK_ROD     ///< evenly
} link_mass;

// The second moments of mass give the inertia about the origin.
static inline tal_mass_props link_props(tal_vec3 a, tal_vec3 b, link_mass kind)
{
    const tal_vec3 mid = tal_v3_scale(0.5, tal_v3_add(a, b)), along = tal_v3_sub(b, a);
    const double spread = kind == LINK_LUMPED ? 0.25 : 1.0 / 12.0;
    tal_mass_props props = {.mass = 1.0, .com = mid};
    props.inertia =
        tal_s3_add(tal_s3_cross_square(mid), tal_s3_scale(spread, tal_s3_cross_square(along)));
    return props;
}

static inline tal_mat3 frame_along(int axis)
{
    const tal_vec3 e[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    return tal_m3(e[(axis + 1) % 3], e[(axis + 2) % 3], e[axis]);
}

static const tal_vec3 cube_points[6] = {{0.0, 0.0, 0.0},  {1.0, 0.0, 0.0},  {1.0, -1.0, 0.0},
                                        {1.0, -1.0, 1.0}, {0.0, -1.0, 1.0}, {0.0, 0.0, 1.0}};

/// Five links of 1 kg on Ground with pins along y z x y z at points 1 to 5; closed by a pin along x
/// at point 6, or open. Body frames are Ground's where it is at rest.
static inline void cube_add_links(tal_matter *matter, link_mass kind, bool is_closed)
{
    static const int axes[6] = {1, 2, 0, 1, 2, 0};
    tal_body_ix body = TAL_GROUND;
    for (int i = 0; i < 5; ++i) {
        tal_mobod_def def = tal_mobod_def_default();
        def.mass = link_props(cube_points[i], cube_points[i + 1], kind);
        def.X_PF = (tal_xform){frame_along(axes[i]), cube_points[i]};
        def.X_BM = def.X_PF;
        body = tal_matter_add_pin(matter, body, &def);
    }
    const tal_constraint_def def = tal_constraint_between(TAL_GROUND, body);
    const tal_xform at = {frame_along(axes[5]), cube_points[5]};
    if (is_closed) (void)tal_constraint_add_loop_pin(matter, &def, &at, &at);
}

#endif // TALUS_CUBE_LINKS_H
