// Closing a loop with any mobilizer: cut a body in two, give one half the mobilizer, and weld the
// halves together again (manual sec. 2.3.1).
#include "constraint/type/constraint_builtin_internal.h"

static const tal_constraint_ix NO_CONSTRAINT = {-1};

// Half the mass in the same place: both halves keep the center of mass.
static tal_mass_props half_of(const tal_mass_props *whole)
{
    return (tal_mass_props){
        .mass = 0.5 * whole->mass, .com = whole->com, .inertia = tal_s3_scale(0.5, whole->inertia)};
}

static tal_status check_split(const tal_matter *matter, tal_body_ix body, const tal_mobod_def *def,
                              tal_error *err)
{
    if (def == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the half of body %d has no def", body.i);
    if (body.i < 1 || body.i >= matter->num_bodies) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "there is no body %d to split", body.i);
    }
    const tali_tree_body *whole = &matter->bodies[body.i];
    if (whole->mass.mass > 0.0) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "body '%s' has no mass to split", whole->name);
}

tal_body_ix tal_matter_split_body(tal_matter *matter, tal_body_ix body, tal_body_ix parent,
                                  const tal_mobod_def *def, const tal_mobilizer_ops *ops,
                                  void *self, const double params[], tal_constraint_ix *weld)
{
    if (weld != NULL) *weld = NO_CONSTRAINT;
    tal_mobod_def half = def != NULL ? *def : tal_mobod_def_default();
    const bool can_fail =
        matter != NULL && tal_system_error(tal_matter_system(matter))->status == TAL_OK;
    if (can_fail) {
        tal_error why = {TAL_OK, "", ""};
        const tal_status st = check_split(matter, body, def, &why);
        if (st != TAL_OK) (void)tal_system_fail(matter->system, st, "%s", why.message);
        if (st == TAL_OK) half.mass = half_of(&matter->bodies[body.i].mass);
    }
    half.structure = TAL_BODY_RIGID;
    const tal_body_ix added = tal_matter_add_mobilizer(matter, parent, &half, ops, self, params);
    if (matter == NULL || added.i < 0) return added;

    matter->bodies[body.i].mass = half.mass;
    const tal_constraint_def between = tal_constraint_between(body, added);
    const tal_xform same = TAL_XFORM_IDENTITY;
    const tal_constraint_ix tied = tal_constraint_add_weld(matter, &between, &same, &same);
    if (weld != NULL) *weld = tied;
    return added;
}
