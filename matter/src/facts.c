// What bodies, constraints and motions were added with.
#include "constraint_builtin_internal.h"
#include "matter_facts_internal.h"
#include "matter_internal.h"

tali_body_facts tali_body_facts_of(const tal_matter *matter, tal_body_ix body)
{
    const tali_body *b = &matter->bodies[body.i];
    return (tali_body_facts){b->structure, b->direction, (tal_level)b->fast_level, &b->ops,
                             b->self};
}

const double *tali_lock_values(const tal_matter *matter, const tal_state *state, tal_body_ix body)
{
    const double *all = tal_var_value(matter->system, state, matter->prescribed.values);
    return all + matter->prescribed.value0[body.i];
}

tali_constraint_facts tali_constraint_facts_of(const tal_matter *matter,
                                               tal_constraint_ix constraint)
{
    const tali_constraint *c = &matter->constraints.list[constraint.i];
    tali_constraint_facts facts = {
        .num_mobilities = c->num_mobilities, .ops = &c->ops, .self = c->self};
    for (int i = 0; i < c->ops.num_bodies; ++i) {
        facts.bodies[i].i = c->bodies[i];
    }
    for (int i = 0; i < c->num_mobilities; ++i) {
        facts.mobilities[i] = (tal_mobility){{c->mobility_bodies[i]}, c->mobility_index[i]};
    }
    if (!tali_is_builtin(&c->ops)) return facts;
    const tali_builtin *self = c->self;
    facts.kind = c->ops.name;
    facts.function = self->f;
    facts.num_speeds = self->num_speeds;
    return facts;
}
