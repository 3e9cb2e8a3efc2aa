// Muscles as force elements: building them, and what they do at each stage.
#include "cache_internal.h"

#include "muscle/muscle_internal.h"

#include <math.h>
#include <string.h>

// --- reading a State ---

static double z_of(const tali_muscle *it, const tal_state *state, tal_group_ix group)
{
    return *tali_cache_group_y(it->base.forces->system, state, group);
}

tal_status tali_muscle_control(const tali_muscle *it, const tal_force_context *context, double *x)
{
    return tali_force_element_control(&it->base, context, it->control, x);
}

// The activation: of its z, or the control.
static tal_status read_activation(const tali_muscle *it, const tal_force_context *context,
                                  real *activation)
{
    const double least = tali_muscle_sizes_of(it, context)->activation.least;
    double a = 0.0;
    if (it->activation_z.i >= 0) {
        a = z_of(it, context->state, it->activation_z);
    } else {
        const tal_status st = tali_muscle_control(it, context, &a);
        if (st != TAL_OK) return st;
    }
    *activation = at_least(at_most(a, spread(1.0)), spread(least));
    return TAL_OK;
}

tal_status tali_muscle_read(const tali_muscle *it, const tal_force_context *context, bool moving,
                            tali_muscle_given *given)
{
    const tal_forces *forces = it->base.forces;
    const tal_status known = tali_paths_realize(forces, context->state, moving);
    if (known != TAL_OK) return known;
    const double *lengths = tali_path_pulls_of(forces, context->state).lengths;
    *given = (tali_muscle_given){.l = lengths[it->path.i]};
    if (it->fiber_z.i >= 0) given->z = z_of(it, context->state, it->fiber_z);
    if (it->kind == TALI_MUSCLE_IMPLICIT) {
        given->z_dot = tali_muscle_value(it, context, TAL_MUSCLE_TENDON_FORCE_RATE);
    }
    if (!moving) return TAL_OK;
    given->ldot = tali_paths_speeds(forces, context->state)[it->path.i];
    return read_activation(it, context, &given->a);
}

// Says which muscle has no finite force or speed, and why that happens.
static tal_status refuse(const tali_muscle *it, const tal_force_context *context,
                         const tali_muscle_given *given)
{
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    return tal_state_fail(
        context->state, TAL_ERR_NOT_FINITE,
        "muscle '%s' has no finite force at t = %g: its path is %g m long, its tendon %g m at "
        "rest, its state is %g; if the path is too short, check points and lengths; if the fibers "
        "are too fast, give it damping",
        tal_force_name(it->base.forces, it->base.me), tal_state_t(context->state), given->l,
        sizes->ls, given->z);
}

// --- the stages ---

bool tali_muscle_is_overridden(const tali_muscle *it, const tal_force_context *context)
{
    return tali_muscle_value(it, context, TAL_MUSCLE_IS_OVERRIDDEN) != 0.0;
}

static tal_status calc_tension(const tali_muscle *it, const tal_force_context *context,
                               double *tension)
{
    if (tali_muscle_is_overridden(it, context)) {
        *tension = tali_muscle_value(it, context, TAL_MUSCLE_OVERRIDE);
        return TAL_OK;
    }
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    tali_muscle_given given;
    const tal_status st = tali_muscle_read(it, context, it->kind == TALI_MUSCLE_RIGID, &given);
    if (st != TAL_OK) return st;
    *tension = sizes->F0 * tali_muscle_tension(&it->curves, sizes, it->kind, &given);
    return isfinite(*tension) ? TAL_OK : refuse(it, context, &given);
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    const tali_muscle *it = self;
    double tension = 0.0;
    const tal_status st = calc_tension(it, context, &tension);
    if (st != TAL_OK) return st;
    return tal_path_apply_tension(it->base.forces, context->state, it->path, tension, F, f);
}

static tal_status write_activation_rate(const tali_muscle *it, const tal_force_context *context,
                                        double *rate)
{
    const tali_muscle_activation *law = &tali_muscle_sizes_of(it, context)->activation;
    const double a = z_of(it, context->state, it->activation_z);
    double x = 0.0;
    const tal_status st = tali_muscle_control(it, context, &x);
    *rate = it->activation == TAL_ACTIVATION_SMOOTH ? tali_muscle_smooth_activation_rate(law, x, a)
                                                    : tali_muscle_activation_rate(law, x, a);
    return st;
}

static tal_status write_fiber_rate(const tali_muscle *it, const tal_force_context *context,
                                   double *rate)
{
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    tali_muscle_given given;
    const tal_status st = tali_muscle_read(it, context, true, &given);
    if (st != TAL_OK) return st;
    if (it->kind == TALI_MUSCLE_IMPLICIT) {
        *rate = given.z_dot;
        return TAL_OK;
    }
    *rate = tali_muscle_find(&it->curves, sizes, it->kind, &given).rate;
    return isfinite(*rate) ? TAL_OK : refuse(it, context, &given);
}

// Activation and fibers stand still while the force is overridden.
static tal_status realize_acceleration(const void *self, const tal_force_context *context)
{
    const tali_muscle *it = self;
    const bool moves = !tali_muscle_is_overridden(it, context);
    tal_status st = TAL_OK;
    double rate = 0.0;
    if (it->activation_z.i >= 0) {
        if (moves) st = write_activation_rate(it, context, &rate);
        *tali_cache_group_ydot(context->system, context->state, it->activation_z) = rate;
    }
    if (it->fiber_z.i >= 0 && st == TAL_OK) {
        rate = 0.0;
        if (moves) st = write_fiber_rate(it, context, &rate);
        *tali_cache_group_ydot(context->system, context->state, it->fiber_z) = rate;
    }
    return st;
}

static tal_status calc_energy(const void *self, const tal_force_context *context, double *energy)
{
    const tali_muscle *it = self;
    *energy = 0.0;
    if (tali_muscle_is_overridden(it, context)) return TAL_OK;
    tali_muscle_given given;
    const tal_status st = tali_muscle_read(it, context, false, &given);
    if (st != TAL_OK) return st;
    const tali_muscle_energy stored =
        tali_muscle_stored(&it->curves, tali_muscle_sizes_of(it, context), it->kind, &given);
    *energy = stored.fiber + stored.tendon;
    return isfinite(*energy) ? TAL_OK : refuse(it, context, &given);
}

// What the active fibers do, with the sign turned, and what damping takes.
static tal_status calc_power(const void *self, const tal_force_context *context, double *power)
{
    const tali_muscle *it = self;
    *power = 0.0;
    if (tali_muscle_is_overridden(it, context)) return TAL_OK;
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    tali_muscle_given given;
    const tal_status st = tali_muscle_read(it, context, true, &given);
    if (st != TAL_OK) return st;
    const tali_muscle_found at = tali_muscle_find(&it->curves, sizes, it->kind, &given);
    *power = sizes->F0 * (at.f_active + at.f_damping) * sizes->vmax * at.v;
    return isfinite(*power) ? TAL_OK : refuse(it, context, &given);
}

static double least_length(const tali_muscle *it, const double geometry[])
{
    const double lo = geometry[TAL_MUSCLE_FIBER_LENGTH];
    const double h = lo * sin(geometry[TAL_MUSCLE_PENNATION]);
    double least = fmax(h / sin(geometry[TAL_MUSCLE_MAX_PENNATION]), 0.01 * lo);
    if (!(h > 0.0)) least = 0.01 * lo; // also where both angles are zero
    // where Millard's active curve begins, and DeGroote's passive one
    if (it->def.model == TAL_MUSCLE_MILLARD) least = fmax(least, it->def.millard.active_from * lo);
    if (it->def.model == TAL_MUSCLE_DEGROOTE) least = fmax(least, 0.2 * lo);
    return least;
}

static tal_status realize_instance(const void *self, const tal_force_context *context)
{
    const tali_muscle *it = self;
    const double *p = tali_force_geometry(&it->base, context);
    tali_muscle_sizes *to = tali_force_element_upd_place(&it->base, context);
    *to = (tali_muscle_sizes){.F0 = p[TAL_MUSCLE_MAX_FORCE],
                              .lo = p[TAL_MUSCLE_FIBER_LENGTH],
                              .ls = p[TAL_MUSCLE_TENDON_LENGTH],
                              .h = p[TAL_MUSCLE_FIBER_LENGTH] * sin(p[TAL_MUSCLE_PENNATION]),
                              .shortest = least_length(it, p),
                              .vmax = p[TAL_MUSCLE_FIBER_LENGTH] * p[TAL_MUSCLE_MAX_SPEED],
                              .beta = p[TAL_MUSCLE_DAMPING],
                              .activation = {.rise = p[TAL_MUSCLE_ACTIVATION_TIME],
                                             .fall = p[TAL_MUSCLE_DEACTIVATION_TIME],
                                             .least = p[TAL_MUSCLE_MIN_ACTIVATION],
                                             .smoothing = p[TAL_MUSCLE_SMOOTHING]}};
    return TAL_OK;
}

static tal_group_ix declare_z(tal_forces *forces, tal_force_ix me, const char *name, double initial,
                              double unit)
{
    tal_group_def group = tal_group_def_default();
    group.name = name;
    group.capacity = 1;
    group.initial = &initial;
    group.weight = 1.0 / unit;
    return tal_force_add_group(forces, me, &group);
}

// Where the control is more than what is set, its change is not known, nor that of the activation.
static void forget_changes(const tali_muscle *it, tal_forces *forces, tal_force_ix me)
{
    tal_force_ops *ops = &forces->elements[me.i].ops;
    const bool knows_path = forces->paths.items[it->path.i].knows_change;
    const bool is_rough = it->def.velocity != NULL && tal_function_max_order(it->def.velocity) < 1;
    const bool is_driven = tali_force_element_is_driven(forces, me, it->control);
    const bool is_active = it->activation == TAL_ACTIVATION_NONE; // the control is the activation
    if (!knows_path || is_rough || is_driven) ops->add_rate_change = NULL;
    if (!knows_path || is_rough || (is_driven && is_active)) ops->apply_change = NULL;
}

static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    tali_muscle *it = self;
    const tal_muscle_def *def = &it->def;
    forget_changes(it, forces, me);
    if (it->activation != TAL_ACTIVATION_NONE) {
        it->activation_z = declare_z(forces, me, "activation", def->initial_activation, 1.0);
    }
    if (it->kind == TALI_MUSCLE_ELASTIC) {
        const double initial =
            def->initial_fiber_length > 0.0 ? def->initial_fiber_length : def->fiber_length;
        it->fiber_z = declare_z(forces, me, "fiber_length", initial, def->fiber_length);
        tali_muscle_declare_limit(forces, me);
    } else if (it->kind != TALI_MUSCLE_RIGID) {
        it->fiber_z = declare_z(forces, me, "tendon_force", def->initial_tendon_force, 1.0);
    }
    tali_force_element_reserve_place(&it->base, forces, sizeof(tali_muscle_sizes));
    return tali_force_element_declare(self, forces, me);
}

static void release(void *self)
{
    tali_muscle *it = self;
    tal_function_destroy(it->def.active);
    tal_function_destroy(it->def.velocity);
    tal_function_destroy(it->def.passive);
    const tali_muscle_millard *millard = it->curves.millard;
    // before it is added, the allocator is not known to the element
    if (millard != NULL) tali_free(&it->allocator, (void *)millard, sizeof *millard);
}

static void fill_facts(const void *self, tali_force_facts *facts)
{
    const tali_muscle *it = self;
    facts->measure = it->control;
    facts->muscle = &it->def;
    facts->path = it->path;
}

// --- parameters ---

static const tali_force_param params[] = {
    {"max force", TALI_POSITIVE},         {"fiber length", TALI_POSITIVE},
    {"tendon length", TALI_NOT_NEGATIVE}, {"pennation", TALI_NOT_NEGATIVE},
    {"max pennation", TALI_NOT_NEGATIVE}, {"max speed", TALI_POSITIVE},
    {"damping", TALI_NOT_NEGATIVE},       {"activation time", TALI_POSITIVE},
    {"deactivation time", TALI_POSITIVE}, {"min activation", TALI_NOT_NEGATIVE},
    {"smoothing", TALI_NOT_NEGATIVE},     {"control", TALI_FINITE},
    {"least control", TALI_LIMIT},        {"largest control", TALI_LIMIT},
    {"is overridden", TALI_NOT_NEGATIVE}, {"override", TALI_FINITE},
    {"tendon force rate", TALI_FINITE},
};

static const char *check(const double p[])
{
    if (p[TAL_MUSCLE_PENNATION] > p[TAL_MUSCLE_MAX_PENNATION]) {
        return "its pennation is above its max pennation";
    }
    if (!(p[TAL_MUSCLE_MAX_PENNATION] < 1.5707)) return "its max pennation is not below pi/2";
    if (!(p[TAL_MUSCLE_MIN_ACTIVATION] < 1.0)) return "its min activation is not below 1";
    if (!(p[TAL_MUSCLE_MIN_CONTROL] <= p[TAL_MUSCLE_MAX_CONTROL])) {
        return "its least control is above its largest control";
    }
    return NULL;
}

static const char *check_elastic(const double p[])
{
    if (!(p[TAL_MUSCLE_TENDON_LENGTH] > 0.0)) {
        return "its tendon length is 0: give it a length, or a rigid tendon";
    }
    return check(p);
}

static const char *check_thelen(const double p[])
{
    if (p[TAL_MUSCLE_DAMPING] != 0.0) return "Thelen's muscle has no damping: it must be 0";
    return check(p);
}

static const char *check_elastic_thelen(const double p[])
{
    const char *wrong = check_thelen(p);
    if (wrong != NULL) return wrong;
    if (!(p[TAL_MUSCLE_MIN_ACTIVATION] > 0.0)) {
        return "its min activation is 0: fibers without damping need some";
    }
    return check_elastic(p);
}

// Muscles whose activation is a z read no measure in `apply` and may run concurrently.
#define KIND(kind_name, concurrent, checker)                                                       \
    {                                                                                              \
        .ops = {.size = sizeof(tal_force_ops),                                                     \
                .name = (kind_name),                                                               \
                .apply = apply,                                                                    \
                .apply_change = tali_muscle_apply_change,                                          \
                .add_rate_change = tali_muscle_add_rate_change,                                    \
                .declare = declare,                                                                \
                .realize_instance = realize_instance,                                              \
                .realize_acceleration = realize_acceleration,                                      \
                .calc_potential_energy = calc_energy,                                              \
                .calc_dissipated_power = calc_power,                                               \
                .destroy = tali_force_element_destroy,                                             \
                .is_concurrent = (concurrent)},                                                    \
        .params = params, .num_params = TAL_NUM_MUSCLE_PARAMS, .num_instance = TAL_MUSCLE_CONTROL, \
        .control = TAL_MUSCLE_CONTROL, .check = (checker), .release = release,                     \
        .fill_facts = fill_facts                                                                   \
    }
#define KINDS(kind_name, rigid_checker, elastic_checker)                                           \
    {                                                                                              \
        {KIND(kind_name, false, rigid_checker), KIND(kind_name, true, rigid_checker)},             \
        {                                                                                          \
            KIND(kind_name, true, elastic_checker), KIND(kind_name, true, elastic_checker)         \
        }                                                                                          \
    }

enum {
    NUM_MODELS = TAL_MUSCLE_CURVES + 1
};

// [model][the tendon is elastic][the activation is a z]
static const tali_force_kind kinds[NUM_MODELS][2][2] = {
    KINDS("Thelen muscle", check_thelen, check_elastic_thelen),
    KINDS("Millard muscle", check, check_elastic),
    KINDS("DeGroote-Fregly muscle", check, check_elastic),
    KINDS("muscle of curves", check, check),
};

// --- building ---

tal_muscle_def tal_muscle_def_default(tal_muscle_model model)
{
    tal_muscle_def def = {.model = model,
                          .path = {-1},
                          .max_pennation = 1.4706289056333368, // acos(0.1)
                          .max_speed = 10.0,
                          .activation_time = 0.010,
                          .deactivation_time = 0.040,
                          .min_activation = 0.01,
                          .smoothing = 0.1,
                          .max_control = 1.0,
                          .control = {-1},
                          .initial_activation = 0.05,
                          .initial_tendon_force = 0.5,
                          .thelen = {0.04, 0.6, 0.45, 5.0, 0.25, 1.4, 0.95},
                          .millard = {.tendon_strain = 0.049,
                                      .tendon_toe = 2.0 / 3.0,
                                      .tendon_curviness = 0.5,
                                      .passive_strain_at_one = 0.7,
                                      .passive_curviness = 0.75,
                                      .active_from = 0.4441,
                                      .active_steep = 0.73,
                                      .active_to = 1.8123,
                                      .active_slope = 0.8616,
                                      .active_minimum = 0.1,
                                      .concentric_slope = 0.25,
                                      .isometric_slope = 5.0,
                                      .eccentric_slope = 0.15,
                                      .eccentric = 1.4,
                                      .concentric_curviness = 0.6,
                                      .eccentric_curviness = 0.9},
                          .degroote = {0.049, 0.6, 1.0}};
    if (model == TAL_MUSCLE_THELEN || model == TAL_MUSCLE_DEGROOTE) def.activation_time = 0.015;
    if (model == TAL_MUSCLE_THELEN) def.deactivation_time = 0.050;
    if (model == TAL_MUSCLE_MILLARD) def.damping = 0.1;
    if (model == TAL_MUSCLE_DEGROOTE) {
        def.activation = TAL_ACTIVATION_SMOOTH;
        def.deactivation_time = 0.060;
    }
    if (model == TAL_MUSCLE_CURVES) {
        def.rigid_tendon = true;
        def.activation = TAL_ACTIVATION_NONE;
        def.min_activation = 0.0;
    }
    return def;
}

// What parameters alone do not tell: path, kinds, initial values, measure.
static tal_status check_def(const tal_forces *forces, const tal_muscle_def *def, tal_error *err)
{
    if (def->path.i < 0 || def->path.i >= forces->paths.num) {
        return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "there is no path %d: there are %d", def->path.i,
                         forces->paths.num);
    }
    if ((int)def->activation < 0 || def->activation > TAL_ACTIVATION_NONE) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "activation is %d, not a tal_activation",
                         (int)def->activation);
    }
    if (def->model == TAL_MUSCLE_CURVES && !def->rigid_tendon) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a muscle of curves has a rigid tendon");
    }
    if (def->implicit && (def->model != TAL_MUSCLE_DEGROOTE || def->rigid_tendon)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "only a DeGroote-Fregly muscle with an elastic tendon can be implicit");
    }
    if (!isfinite(def->initial_activation) || !isfinite(def->initial_fiber_length) ||
        !isfinite(def->initial_tendon_force)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "an initial value is not finite");
    }
    const int num_measures = tal_system_num_measures(forces->system);
    if (def->control.i < 0) return TAL_OK;
    if (def->control.i < num_measures && tal_measure_size(forces->system, def->control) == 1 &&
        tal_measure_stage(forces->system, def->control, 0) <= TAL_STAGE_VELOCITY) {
        return TAL_OK;
    }
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "its control, measure %d, must exist and have one value at Velocity or before",
                     def->control.i);
}

static tali_muscle_kind kind_of(const tal_muscle_def *def)
{
    if (def->rigid_tendon) return TALI_MUSCLE_RIGID;
    if (def->model != TAL_MUSCLE_DEGROOTE) return TALI_MUSCLE_ELASTIC;
    return def->implicit ? TALI_MUSCLE_IMPLICIT : TALI_MUSCLE_TENDON_Z;
}

// Millard's curves are large and lie beside the element.
static tal_status build_curves(const tal_forces *forces, tali_muscle *it, tal_error *err)
{
    tali_muscle_millard *millard = NULL;
    if (it->def.model == TAL_MUSCLE_MILLARD) {
        millard = tali_alloc(&forces->allocator, sizeof *millard);
        if (millard == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory");
    }
    return tali_muscle_curves_build(&it->def, &it->curves, millard, err);
}

// Destroys what the def gave, and tells why.
static tal_force_ix give_up(const tal_forces *forces, const char *name, tali_muscle *it,
                            const tal_error *why)
{
    (void)tal_system_fail(forces->system, why->status, "muscle '%s': %s",
                          name != NULL ? name : "(no name)", why->message);
    release(it);
    return (tal_force_ix){-1};
}

tal_force_ix tal_forces_add_muscle(tal_forces *forces, const char *name, const tal_muscle_def *def)
{
    const tal_force_ix none = {-1};
    if (!tali_force_element_given(forces, name, &kinds[0][0][0], def, "def")) return none;
    tali_muscle like = {.def = *def,
                        .path = def->path,
                        .activation = def->activation,
                        .control = def->control,
                        .activation_z = {-1},
                        .fiber_z = {-1}};
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        release(&like);
        return none;
    }
    like.allocator = forces->allocator;
    // a function has one owner
    if (like.def.velocity == like.def.active) like.def.velocity = NULL;
    if (like.def.passive == like.def.active || like.def.passive == like.def.velocity) {
        like.def.passive = NULL;
    }
    tal_error why = {TAL_OK, "", ""};
    tal_status st = check_def(forces, def, &why);
    if (st == TAL_OK) st = build_curves(forces, &like, &why);
    if (st != TAL_OK) return give_up(forces, name, &like, &why);
    like.kind = kind_of(def);
    const tali_force_kind *kind =
        &kinds[def->model][!def->rigid_tendon][def->activation != TAL_ACTIVATION_NONE];
    const double initial[TAL_NUM_MUSCLE_PARAMS] = {def->max_force,
                                                   def->fiber_length,
                                                   def->tendon_length,
                                                   def->pennation,
                                                   def->max_pennation,
                                                   def->max_speed,
                                                   def->damping,
                                                   def->activation_time,
                                                   def->deactivation_time,
                                                   def->min_activation,
                                                   def->smoothing,
                                                   0.0,
                                                   def->min_control,
                                                   def->max_control,
                                                   0.0,
                                                   0.0,
                                                   0.0};
    return tali_force_element_add(forces, name, kind, &like, sizeof like, initial);
}

const tali_muscle *tali_muscle_at(const tal_forces *forces, tal_force_ix force, const char *where)
{
    const tali_force *element = tali_force_at(forces, force, where);
    if (element == NULL) return NULL;
    if (element->ops.apply == apply) return element->self;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "force '%s' is of kind '%s', not a muscle",
                      element->name, element->ops.name);
    return NULL;
}

bool tal_force_is_muscle(const tal_forces *forces, tal_force_ix force)
{
    if (forces == NULL || force.i < 0 || force.i >= forces->num_elements) return false;
    return forces->elements[force.i].ops.apply == apply;
}
