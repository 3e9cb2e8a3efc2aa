// Joints that close loops: a frame F on body 1 and M on body 2 are related as by a mobilizer,
// without being one (RBDA ch. 8).
#include "constraint/constraint_internal.h"
#include "constraint/type/constraint_builtin_internal.h"

#include <math.h>

// --- the joints ---

enum {
    X,
    Y,
    Z
};

// What a joint reports as its coordinates.
enum {
    ANGLE = 3, // about z; below it: the component of p_FM
    TURN_X,    // of a universal joint: about Fx
    TURN_Y     // and then about My
};

typedef struct loop_kind {
    const char *name;
    uint64_t tag;
    int num_axes;

    struct {
        int F, M;
    } axes[3]; // e_F . e_M = 0

    int num_steps;
    int steps[3]; // e_F . p_FM = 0
    bool is_screw;
    int num_coords;
    int coords[3];
} loop_kind;

static const loop_kind pin = {.name = "loop pin",
                              .tag = TALI_TAG_LOOP_PIN,
                              .num_axes = 2,
                              .axes = {{X, Z}, {Y, Z}},
                              .num_steps = 3,
                              .steps = {X, Y, Z},
                              .num_coords = 1,
                              .coords = {ANGLE}};
static const loop_kind slider = {.name = "loop slider",
                                 .tag = TALI_TAG_LOOP_SLIDER,
                                 .num_axes = 3,
                                 .axes = {{Y, X}, {Z, Y}, {X, Z}},
                                 .num_steps = 2,
                                 .steps = {Y, Z},
                                 .num_coords = 1,
                                 .coords = {X}};
static const loop_kind cylinder = {.name = "loop cylinder",
                                   .tag = TALI_TAG_LOOP_CYLINDER,
                                   .num_axes = 2,
                                   .axes = {{X, Z}, {Y, Z}},
                                   .num_steps = 2,
                                   .steps = {X, Y},
                                   .num_coords = 2,
                                   .coords = {ANGLE, Z}};
static const loop_kind universal = {.name = "loop universal",
                                    .tag = TALI_TAG_LOOP_UNIVERSAL,
                                    .num_axes = 1,
                                    .axes = {{X, Y}},
                                    .num_steps = 3,
                                    .steps = {X, Y, Z},
                                    .num_coords = 2,
                                    .coords = {TURN_X, TURN_Y}};
static const loop_kind planar = {.name = "loop planar",
                                 .tag = TALI_TAG_LOOP_PLANAR,
                                 .num_axes = 2,
                                 .axes = {{X, Z}, {Y, Z}},
                                 .num_steps = 1,
                                 .steps = {Z},
                                 .num_coords = 3,
                                 .coords = {ANGLE, X, Y}};
static const loop_kind screw = {.name = "loop screw",
                                .tag = TALI_TAG_LOOP_SCREW,
                                .num_axes = 2,
                                .axes = {{X, Z}, {Y, Z}},
                                .num_steps = 2,
                                .steps = {X, Y},
                                .is_screw = true,
                                .num_coords = 1,
                                .coords = {ANGLE}};

#define TALI_EQUATIONS "constraint/type/constraint_loop_equations.h"
#include "constraint/type/constraint_equations.h"

// A joint about z also closes with one z reversed; a slider as a weld does.
static void calc_turn(const void *self, const tal_constraint_arg *arg, tal_vec3 *turn,
                      tal_vec3 *free_axis)
{
    const tali_constraint_builtin *c = self;
    const loop_kind *kind = c->kind;
    const tal_mat3 R_F = tali_constraint_frame_from(arg->params + TAL_LOOP_FRAME_1).R;
    const tal_mat3 R_M = tali_constraint_frame_from(arg->params + TAL_LOOP_FRAME_2).R;
    if (kind->num_axes == 3) {
        *turn = tali_constraint_turn_of_frames(arg, R_F, R_M);
        *free_axis = TAL_VEC3_ZERO;
        return;
    }
    const tal_vec3 z_F = tal_m3_mul_v3(arg->X_AB[0].R, R_F.z);
    const tal_vec3 z_M = tal_m3_mul_v3(arg->X_AB[1].R, R_M.z);
    *turn = tali_constraint_turn_of_axes(z_F, z_M);
    *free_axis = z_F;
}

// --- adding ---

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_two_frames(params, err);
}

// The table of a joint: they differ in their rows alone.
static tal_constraint_ops ops_of(const loop_kind *kind)
{
    return (tal_constraint_ops){
        .name = kind->name,
        .tag = kind->tag,
        .mp = kind->num_axes + kind->num_steps + kind->is_screw,
        .num_bodies = 2,
        .num_params = kind->is_screw ? TAL_LOOP_SCREW_NUM_PARAMS : TAL_LOOP_NUM_PARAMS,
        .check_params = check_params,
        .calc_turn = kind->num_axes > 1 ? calc_turn : NULL, // a universal joint has no false root
    };
}

static tal_constraint_ix add_joint(tal_matter *matter, const tal_constraint_def *def,
                                   const loop_kind *kind, const tal_xform *X_1,
                                   const tal_xform *X_2, double pitch)
{
    if (X_1 == NULL || X_2 == NULL) return tali_constraint_refuse_null(matter, kind->name);
    double params[TAL_LOOP_SCREW_NUM_PARAMS];
    tali_constraint_frame_to(X_1, params + TAL_LOOP_FRAME_1);
    tali_constraint_frame_to(X_2, params + TAL_LOOP_FRAME_2);
    params[TAL_LOOP_SCREW_PITCH] = pitch;
    const tal_constraint_ops ops = ops_of(kind);
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces),
                                          .kind = kind};
    return tali_constraint_add_builtin(matter, def, &ops, &like, params);
}

tal_constraint_ix tal_constraint_add_loop_pin(tal_matter *matter, const tal_constraint_def *def,
                                              const tal_xform *X_1, const tal_xform *X_2)
{
    return add_joint(matter, def, &pin, X_1, X_2, 0.0);
}

tal_constraint_ix tal_constraint_add_loop_slider(tal_matter *matter, const tal_constraint_def *def,
                                                 const tal_xform *X_1, const tal_xform *X_2)
{
    return add_joint(matter, def, &slider, X_1, X_2, 0.0);
}

tal_constraint_ix tal_constraint_add_loop_cylinder(tal_matter *matter,
                                                   const tal_constraint_def *def,
                                                   const tal_xform *X_1, const tal_xform *X_2)
{
    return add_joint(matter, def, &cylinder, X_1, X_2, 0.0);
}

tal_constraint_ix tal_constraint_add_loop_universal(tal_matter *matter,
                                                    const tal_constraint_def *def,
                                                    const tal_xform *X_1, const tal_xform *X_2)
{
    return add_joint(matter, def, &universal, X_1, X_2, 0.0);
}

tal_constraint_ix tal_constraint_add_loop_planar(tal_matter *matter, const tal_constraint_def *def,
                                                 const tal_xform *X_1, const tal_xform *X_2)
{
    return add_joint(matter, def, &planar, X_1, X_2, 0.0);
}

tal_constraint_ix tal_constraint_add_loop_screw(tal_matter *matter, const tal_constraint_def *def,
                                                const tal_xform *X_1, const tal_xform *X_2,
                                                double pitch)
{
    return add_joint(matter, def, &screw, X_1, X_2, pitch);
}

// --- coordinates ---

static const loop_kind *kind_of(const tali_constraint *c)
{
    if (c == NULL || !tali_constraint_is_builtin(&c->ops)) return NULL;
    const tali_constraint_builtin *self = c->self;
    return self->equations.calc_rows == calc_rows ? self->kind : NULL;
}

int tal_constraint_num_coordinates(const tal_matter *matter, tal_constraint_ix constraint)
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return -1;
    const loop_kind *kind = kind_of(c);
    return kind != NULL ? kind->num_coords : 0;
}

bool tali_constraint_coordinate_is_angle(const tali_constraint *c, int i)
{
    const loop_kind *kind = kind_of(c);
    return kind != NULL && kind->coords[i] >= ANGLE;
}

static tali_jet coordinate(const loop_kind *kind, const loop_frames *at, const double params[],
                           int i)
{
    switch (kind->coords[i]) {
    case ANGLE:
        return kind->is_screw ? angle_of_screw(at, params[TAL_LOOP_SCREW_PITCH])
                              : angle_about_z(at);
    case TURN_X:
        return tali_jet_angle(tali_jet3_dot(at->M[Y], at->F[Z]), tali_jet3_dot(at->M[Y], at->F[Y]));
    case TURN_Y:
        return tali_jet_angle(tali_jet3_dot(at->M[Z], at->F[X]), tali_jet3_dot(at->M[X], at->F[X]));
    default:
        return tali_jet3_dot(at->F[kind->coords[i]], at->p_FM);
    }
}

tal_status tal_constraint_calc_coordinates(const tal_matter *matter, tal_state *state,
                                           tal_constraint_ix constraint, double q[], double qdot[])
{
    const tali_constraint *c = tali_constraint_at(matter, constraint, __func__);
    if (c == NULL) return tal_contract_last()->status;
    if (state == NULL || q == NULL) return TALI_BREACH(TAL_ERR_NULL, "state or q is NULL");
    const loop_kind *kind = kind_of(c);
    if (kind == NULL) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "constraint '%s' (%s) has no coordinates", c->name,
                           c->ops.name);
    }
    tali_tree_view view;
    const tali_tree_what level = qdot != NULL ? TALI_VELOCITY : TALI_POSITION;
    if (!tali_tree_realize_view(matter, state, level, &view)) return tal_state_error(state)->status;
    tali_constraint_room room;
    const tal_constraint_arg arg =
        tali_constraint_arg_of(matter, state, &view, constraint.i, NULL, NULL, &room);
    const loop_frames at = find_frames(&arg);
    for (int i = 0; i < kind->num_coords; ++i) {
        const tali_jet value = coordinate(kind, &at, arg.params, i);
        q[i] = value.x;
        if (qdot != NULL) qdot[i] = value.d;
    }
    return TAL_OK;
}
