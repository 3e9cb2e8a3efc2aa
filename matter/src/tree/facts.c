// What bodies, constraints and motions were added with.
#include "function_facts_internal.h"
#include "matter_facts_internal.h"

#include "constraint/type/constraint_builtin_internal.h"
#include "tree/matter_internal.h"

#include <math.h>

tali_matter_body_facts tali_matter_body_facts_of(const tal_matter *matter, tal_body_ix body)
{
    const tali_tree_body *b = &matter->bodies[body.i];
    return (tali_matter_body_facts){b->structure,   b->direction, b->may_be_fast,
                                    b->any_inertia, &b->ops,      b->self};
}

const double *tali_matter_lock_values(const tal_matter *matter, const tal_state *state,
                                      tal_body_ix body)
{
    const double *all = tal_var_value(matter->system, state, matter->prescribed.values);
    return all + matter->prescribed.value0[body.i];
}

tali_matter_limit_facts tali_matter_limit_facts_of(const tal_matter *matter,
                                                   tal_unilateral_ix element)
{
    const tali_unilateral *it = &matter->unilaterals.list[element.i];
    const bool ends = it->halves[0] > 0.0;
    return (tali_matter_limit_facts){.polygon = it->polygon,
                                     .num_corners = it->num_corners,
                                     .halves = {ends ? it->halves[0] : (double)INFINITY,
                                                ends ? it->halves[1] : (double)INFINITY},
                                     .has_function = it->margin != NULL};
}

// What a constraint was added with: of one on angles the coordinates, not all of their speeds.
tali_matter_constraint_facts tali_matter_constraint_facts_of(const tal_matter *matter,
                                                             tal_constraint_ix constraint)
{
    const tali_constraint *c = &matter->constraints.list[constraint.i];
    tali_matter_constraint_facts facts = {.bodies = c->bodies,
                                          .mobility_bodies = c->mobility_bodies,
                                          .mobility_index = c->mobility_index,
                                          .num_mobilities = c->num_mobilities,
                                          .ops = &c->ops,
                                          .self = c->self};
    if (!tali_constraint_is_builtin(&c->ops)) return facts;
    const tali_constraint_builtin *self = c->self;
    facts.kind = c->ops.name;
    // a sum of one term owns what was given (constraint_coupler.c); a file that said the sum would
    // be one deeper each time
    tali_function_facts owner;
    if (self->f != NULL && tali_function_facts_of(self->f, &owner)) facts.function = owner.parts[0];
    facts.num_speeds = self->num_speeds;
    if (self->angles != NULL) {
        facts.mobility_bodies = self->angles->bodies;
        facts.mobility_index = self->angles->indices;
        facts.num_mobilities = self->angles->num;
    }
    return facts;
}
