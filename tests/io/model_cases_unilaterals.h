// Programs that build unilateral elements as the files of model_cases.h do.
#ifndef TALUS_MODEL_CASES_UNILATERALS_H
#define TALUS_MODEL_CASES_UNILATERALS_H

#include "model_base.h"

#include <talus/matter/unilaterals.h>

#define TOUGH                                                                                      \
    "static_mu='0.9' sliding_mu='0.7' viscous_mu='0.01' restitution='0.6' slow_speed='0.2' "       \
    "capture_speed='0.1' transition_speed='1e-6' "

#define LOADED_PIN                                                                                 \
    "</unilaterals><constraints><loop_pin name='pin' body1='b' body2='e' frame1='" FRAME_1         \
    "' frame2='" FRAME_2 "'/></constraints><unilaterals>"

static inline tal_unilateral_def tough_def(void)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "x";
    def.material = (tal_unilateral_material){.static_mu = 0.9,
                                             .sliding_mu = 0.7,
                                             .viscous_mu = 0.01,
                                             .restitution = 0.6,
                                             .slow_speed = 0.2,
                                             .capture_speed = 0.1,
                                             .transition_speed = 1e-6};
    return def;
}

static inline void handle_as_usual(const built *m)
{
    (void)tal_contacts_create(m->system, NULL);
}

static inline void case_u_point_on_plane(built *m)
{
    const tal_unilateral_def def = tough_def();
    const tal_xform plane = frame_1();
    const tal_unilateral_ix added = tal_unilateral_add_point_on_plane(m->matter, &def, m->b, &plane,
                                                                      m->e, tal_v3(0.4, 0.5, 0.6));
    const double corners[] = {0.0, 0.0, 0.5, 0.0, 0.5, 0.25};
    (void)tal_unilateral_limit_polygon(m->matter, added, corners, 3);
    handle_as_usual(m);
}

static inline void case_u_sphere_on_plane(built *m)
{
    tal_unilateral_def def = tough_def();
    def.disabled = true;
    const tal_xform plane = frame_1();
    (void)tal_unilateral_add_sphere_on_plane(m->matter, &def, m->b, &plane, m->e,
                                             tal_v3(0.4, 0.5, 0.6), 0.3);
    handle_as_usual(m);
}

static inline void case_u_sphere_on_sphere(built *m)
{
    const tal_unilateral_def def = tough_def();
    (void)tal_unilateral_add_sphere_on_sphere(m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3), 0.4,
                                              m->e, tal_v3(0.4, 0.5, 0.6), 0.2);
    handle_as_usual(m);
}

static inline void case_u_sphere_in_sphere(built *m)
{
    const tal_unilateral_def def = tough_def();
    (void)tal_unilateral_add_sphere_in_sphere(m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3), 0.4,
                                              m->e, tal_v3(0.4, 0.5, 0.6), 0.2);
    handle_as_usual(m);
}

static inline void case_u_edge_on_edge(built *m)
{
    const tal_unilateral_def def = tough_def();
    const tal_xform edge1 = frame_1(), edge2 = frame_2();
    const tal_unilateral_ix added =
        tal_unilateral_add_edge_on_edge(m->matter, &def, m->b, &edge1, m->e, &edge2);
    (void)tal_unilateral_limit_edges(m->matter, added, 0.25, 0.5);
    handle_as_usual(m);
}

static inline void case_u_rope(built *m)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "x";
    (void)tal_unilateral_add_rope(m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3), m->e,
                                  tal_v3(0.4, 0.5, 0.6), 0.7);
    handle_as_usual(m);
}

static inline void case_u_stop(built *m)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "x";
    def.material.restitution = 0.25;
    (void)tal_unilateral_add_stop(m->matter, &def, (tal_mobility){m->c, 1}, 0.3, true);
    def.name = "y";
    (void)tal_unilateral_add_stop(m->matter, &def, (tal_mobility){m->c, 1}, -0.3, false);
    handle_as_usual(m);
}

static inline void case_u_ratchet(built *m)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "x";
    (void)tal_unilateral_add_ratchet(m->matter, &def, (tal_mobility){m->d, 0}, 0.3, 1);
    def.name = "y";
    (void)tal_unilateral_add_ratchet(m->matter, &def, (tal_mobility){m->d, 0}, 2.0, -1);
    handle_as_usual(m);
}

static inline void case_u_dry_friction(built *m)
{
    tal_unilateral_def def = tal_unilateral_def_default();
    def.name = "x";
    def.material.limit = 2.5;
    (void)tal_unilateral_add_dry_friction(m->matter, &def, (tal_mobility){m->d, 0}, 0.3);
    handle_as_usual(m);
}

static inline tal_unilateral_def rubbing_def(tal_constraint_ix load, int first, int count)
{
    tal_unilateral_def def = tough_def();
    def.load.constraint = load;
    def.load.first = first;
    def.load.count = count;
    def.load.weight[1] = 0.25;
    return def;
}

static inline tal_constraint_ix add_loaded_pin(built *m)
{
    tal_constraint_def between = tal_constraint_between(m->b, m->e);
    between.name = "pin";
    const tal_xform X_1 = frame_1(), X_2 = frame_2();
    return tal_constraint_add_loop_pin(m->matter, &between, &X_1, &X_2);
}

static inline void case_u_friction_about(built *m)
{
    const tal_unilateral_def def = rubbing_def(add_loaded_pin(m), 2, 2);
    (void)tal_unilateral_add_friction_about(m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3), m->e);
    handle_as_usual(m);
}

static inline void case_u_friction_along(built *m)
{
    const tal_unilateral_def def = rubbing_def(add_loaded_pin(m), 3, 1);
    (void)tal_unilateral_add_friction_along(m->matter, &def, m->b, tal_v3(0.1, 0.2, 0.3),
                                            tal_v3(0.4, 0.5, 0.6), m->e, tal_v3(0.7, 0.8, 0.9));
    handle_as_usual(m);
}

static inline void case_u_friction_over(built *m)
{
    const tal_unilateral_def def = rubbing_def(add_loaded_pin(m), 4, 1);
    const tal_xform plane = frame_1();
    (void)tal_unilateral_add_friction_over(m->matter, &def, m->b, &plane, m->e,
                                           tal_v3(0.7, 0.8, 0.9));
    handle_as_usual(m);
}

static inline void case_u_handling(built *m)
{
    tal_contacts_def def = tal_contacts_def_default();
    def.gap_tolerance = 1e-5;
    def.speed_tolerance = 2e-5;
    def.capture_speed = 0.125;
    def.window = 1e-9;
    def.sequential = true;
    def.pile_up = TAL_PILE_UP_STOP;
    def.pile_up_interval = 1e-3;
    def.separation = 0.25;
    (void)tal_matter_set_most_touching(m->matter, 5);
    (void)tal_matter_set_most_sliding(m->matter, 3);
    (void)tal_contacts_create(m->system, &def);
}

#endif // TALUS_MODEL_CASES_UNILATERALS_H
