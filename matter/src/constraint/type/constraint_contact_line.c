// Contact of two straight edges that may roll on each other.
#include "constraint/type/constraint_builtin_internal.h"

// Edges whose angle has a square below this are parallel: half the digits of n are lost there.
static const double PARALLEL = 1e-16;

#define TALI_EQUATIONS "constraint/type/constraint_contact_line_equations.h"
#include "constraint/type/constraint_equations.h"

static tal_status check_params(const void *self, const double params[], tal_error *err)
{
    (void)self;
    return tali_constraint_check_two_frames(params, err);
}

static const tal_constraint_ops sliding_ops = {
    .name = "line on line contact",
    .tag = TALI_TAG_LINE_ON_LINE_CONTACT,
    .mp = 1,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .check_params = check_params,
};

static const tal_constraint_ops rolling_ops = {
    .name = "rolling line on line",
    .tag = TALI_TAG_LINE_ON_LINE_ROLLING,
    .mp = 1,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .check_params = check_params,
};

static const tal_constraint_ops grip_ops = {
    .name = "grip of a line on a line",
    .tag = TALI_TAG_LINE_ON_LINE_GRIP,
    .mv = 2,
    .num_bodies = 2,
    .num_params = TAL_LINE_ON_LINE_NUM_PARAMS,
    .check_params = check_params,
};

static tal_constraint_ix add_lines(tal_matter *matter, const tal_constraint_def *def,
                                   const tal_constraint_ops *ops, const tal_xform *edge1,
                                   const tal_xform *edge2)
{
    if (edge1 == NULL || edge2 == NULL) return tali_constraint_refuse_null(matter, ops->name);
    double params[TAL_LINE_ON_LINE_NUM_PARAMS];
    tali_constraint_frame_to(edge1, params + TAL_LINE_ON_LINE_FRAME_1);
    tali_constraint_frame_to(edge2, params + TAL_LINE_ON_LINE_FRAME_2);
    const tali_constraint_builtin like = {.equations = TALI_EQUATION_SET(calc_rows, add_forces)};
    return tali_constraint_add_builtin(matter, def, ops, &like, params);
}

tal_constraint_ix tal_constraint_add_line_on_line_contact(tal_matter *matter,
                                                          const tal_constraint_def *def,
                                                          const tal_xform *edge1,
                                                          const tal_xform *edge2, bool rolling)
{
    return add_lines(matter, def, rolling ? &rolling_ops : &sliding_ops, edge1, edge2);
}

tal_constraint_ix tali_constraint_add_line_on_line_grip(tal_matter *matter,
                                                        const tal_constraint_def *def,
                                                        const tal_xform *edge1,
                                                        const tal_xform *edge2)
{
    return add_lines(matter, def, &grip_ops, edge1, edge2);
}
