// What can be read of a muscle: outputs by name, as numbers and as measures.
#include "measure_facts_internal.h"

#include "muscle/muscle_internal.h"

#include <math.h>

static const struct {
    const char *name, *unit;
} table[TAL_NUM_MUSCLE_OUTPUTS] = {
    [TAL_MUSCLE_LENGTH] = {"length", "m"},
    [TAL_MUSCLE_SPEED] = {"speed", "m/s"},
    [TAL_MUSCLE_EXCITATION] = {"excitation", ""},
    [TAL_MUSCLE_ACTIVATION] = {"activation", ""},
    [TAL_MUSCLE_FIBER] = {"fiber_length", "m"},
    [TAL_MUSCLE_NORM_FIBER] = {"normalized_fiber_length", ""},
    [TAL_MUSCLE_FIBER_ALONG_TENDON] = {"fiber_length_along_tendon", "m"},
    [TAL_MUSCLE_PENNATION_ANGLE] = {"pennation_angle", "rad"},
    [TAL_MUSCLE_COS_PENNATION] = {"cos_pennation_angle", ""},
    [TAL_MUSCLE_TENDON] = {"tendon_length", "m"},
    [TAL_MUSCLE_NORM_TENDON] = {"normalized_tendon_length", ""},
    [TAL_MUSCLE_TENDON_STRAIN] = {"tendon_strain", ""},
    [TAL_MUSCLE_FIBER_SPEED] = {"fiber_velocity", "m/s"},
    [TAL_MUSCLE_NORM_FIBER_SPEED] = {"normalized_fiber_velocity", ""},
    [TAL_MUSCLE_FIBER_SPEED_ALONG_TENDON] = {"fiber_velocity_along_tendon", "m/s"},
    [TAL_MUSCLE_PENNATION_SPEED] = {"pennation_angular_velocity", "rad/s"},
    [TAL_MUSCLE_TENDON_SPEED] = {"tendon_velocity", "m/s"},
    [TAL_MUSCLE_ACTIVE_MULTIPLIER] = {"active_force_length_multiplier", ""},
    [TAL_MUSCLE_VELOCITY_MULTIPLIER] = {"force_velocity_multiplier", ""},
    [TAL_MUSCLE_PASSIVE_MULTIPLIER] = {"passive_force_multiplier", ""},
    [TAL_MUSCLE_TENDON_MULTIPLIER] = {"normalized_tendon_force", ""},
    [TAL_MUSCLE_FIBER_FORCE] = {"fiber_force", "N"},
    [TAL_MUSCLE_ACTIVE_FIBER_FORCE] = {"active_fiber_force", "N"},
    [TAL_MUSCLE_PASSIVE_FIBER_FORCE] = {"passive_fiber_force", "N"},
    [TAL_MUSCLE_DAMPING_FORCE] = {"damping_force", "N"},
    [TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON] = {"fiber_force_along_tendon", "N"},
    [TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON] = {"active_fiber_force_along_tendon", "N"},
    [TAL_MUSCLE_PASSIVE_FIBER_FORCE_ALONG_TENDON] = {"passive_fiber_force_along_tendon", "N"},
    [TAL_MUSCLE_TENDON_FORCE] = {"tendon_force", "N"},
    [TAL_MUSCLE_TENSION] = {"actuation", "N"},
    [TAL_MUSCLE_FIBER_STIFFNESS] = {"fiber_stiffness", "N/m"},
    [TAL_MUSCLE_FIBER_STIFFNESS_ALONG_TENDON] = {"fiber_stiffness_along_tendon", "N/m"},
    [TAL_MUSCLE_TENDON_STIFFNESS] = {"tendon_stiffness", "N/m"},
    [TAL_MUSCLE_STIFFNESS] = {"muscle_stiffness", "N/m"},
    [TAL_MUSCLE_FIBER_ACTIVE_POWER] = {"fiber_active_power", "W"},
    [TAL_MUSCLE_FIBER_PASSIVE_POWER] = {"fiber_passive_power", "W"},
    [TAL_MUSCLE_TENDON_POWER] = {"tendon_power", "W"},
    [TAL_MUSCLE_POWER] = {"muscle_power", "W"},
    [TAL_MUSCLE_FIBER_ENERGY] = {"fiber_potential_energy", "J"},
    [TAL_MUSCLE_TENDON_ENERGY] = {"tendon_potential_energy", "J"},
    [TAL_MUSCLE_RESIDUAL] = {"equilibrium_residual", ""},
};

// False, and a breach, for an output that does not exist.
static bool is_output(tal_muscle_output which)
{
    if ((int)which >= 0 && which < TAL_NUM_MUSCLE_OUTPUTS) return true;
    (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no muscle output %d: there are %d", (int)which,
                      (int)TAL_NUM_MUSCLE_OUTPUTS);
    return false;
}

const char *tal_muscle_output_name(tal_muscle_output which)
{
    return is_output(which) ? table[which].name : "(no output)";
}

const char *tal_muscle_output_unit(tal_muscle_output which)
{
    return is_output(which) ? table[which].unit : "";
}

// --- all outputs ---

static void fill_lengths(const tali_muscle_sizes *sizes, const tali_muscle_given *given,
                         const tali_muscle_found *at, double out[])
{
    const tali_muscle_fiber *fiber = &at->fiber;
    const double lt = sizes->ls > 0.0 ? at->tendon / sizes->ls : TALI_NAN;
    out[TAL_MUSCLE_LENGTH] = given->l;
    out[TAL_MUSCLE_SPEED] = given->ldot;
    out[TAL_MUSCLE_ACTIVATION] = given->a;
    out[TAL_MUSCLE_FIBER] = fiber->length;
    out[TAL_MUSCLE_NORM_FIBER] = fiber->length / sizes->lo;
    out[TAL_MUSCLE_FIBER_ALONG_TENDON] = fiber->along;
    out[TAL_MUSCLE_PENNATION_ANGLE] = atan2(sizes->h, fiber->along);
    out[TAL_MUSCLE_COS_PENNATION] = fiber->cosine;
    out[TAL_MUSCLE_TENDON] = at->tendon;
    out[TAL_MUSCLE_NORM_TENDON] = lt;
    out[TAL_MUSCLE_TENDON_STRAIN] = lt - 1.0;
}

// The fibers run between planes at a constant distance: d(l cos)/dt = ldot / cos, and
// dalpha/dt = -ldot tan(alpha) / l.
static void fill_speeds(const tali_muscle_sizes *sizes, const tali_muscle_given *given,
                        const tali_muscle_found *at, bool is_rigid, double out[])
{
    const tali_muscle_fiber *fiber = &at->fiber;
    const double speed = sizes->vmax * at->v, along = speed / fiber->cosine;
    out[TAL_MUSCLE_FIBER_SPEED] = speed;
    out[TAL_MUSCLE_NORM_FIBER_SPEED] = at->v;
    out[TAL_MUSCLE_FIBER_SPEED_ALONG_TENDON] = along;
    out[TAL_MUSCLE_PENNATION_SPEED] = -speed * sizes->h / (fiber->length * fiber->along);
    out[TAL_MUSCLE_TENDON_SPEED] = is_rigid && !at->is_shortest ? 0.0 : given->ldot - along;
}

// Fibers at their shortest are reported without force.
static void fill_forces(const tali_muscle_sizes *sizes, const tali_muscle_found *at, double out[])
{
    const double F0 = at->is_shortest ? 0.0 : sizes->F0, c = at->fiber.cosine;
    const double active = F0 * at->f_active, passive = F0 * (at->passive.y + at->f_damping);
    out[TAL_MUSCLE_ACTIVE_MULTIPLIER] = at->active.y;
    out[TAL_MUSCLE_VELOCITY_MULTIPLIER] = at->velocity;
    out[TAL_MUSCLE_PASSIVE_MULTIPLIER] = at->passive.y;
    out[TAL_MUSCLE_TENDON_MULTIPLIER] = at->f_tendon;
    out[TAL_MUSCLE_FIBER_FORCE] = active + passive;
    out[TAL_MUSCLE_ACTIVE_FIBER_FORCE] = active;
    out[TAL_MUSCLE_PASSIVE_FIBER_FORCE] = passive;
    out[TAL_MUSCLE_DAMPING_FORCE] = F0 * at->f_damping;
    out[TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON] = (active + passive) * c;
    out[TAL_MUSCLE_ACTIVE_FIBER_FORCE_ALONG_TENDON] = active * c;
    out[TAL_MUSCLE_PASSIVE_FIBER_FORCE_ALONG_TENDON] = passive * c;
    out[TAL_MUSCLE_TENDON_FORCE] = sizes->F0 * at->f_tendon;
    out[TAL_MUSCLE_RESIDUAL] =
        at->is_shortest ? 0.0 : out[TAL_MUSCLE_FIBER_FORCE_ALONG_TENDON] / F0 - at->f_tendon;
}

static void fill_stiffness(const tali_muscle_sizes *sizes, const tali_muscle_given *given,
                           const tali_muscle_found *at, double out[])
{
    const double slope = given->a * at->velocity * at->active.slope + at->passive.slope;
    const double fiber = tali_muscle_stiffness_along(sizes, at, given->a);
    const double tendon = sizes->F0 * at->stretch.slope / sizes->ls;
    out[TAL_MUSCLE_FIBER_STIFFNESS] = sizes->F0 * slope / sizes->lo;
    out[TAL_MUSCLE_FIBER_STIFFNESS_ALONG_TENDON] = fiber;
    out[TAL_MUSCLE_TENDON_STIFFNESS] = isinf(at->stretch.slope) ? (double)INFINITY : tendon;
    const double in_series = tendon == 0.0 ? 0.0 : fiber * tendon / (fiber + tendon);
    out[TAL_MUSCLE_STIFFNESS] = isinf(at->stretch.slope) ? fiber : in_series;
}

static void fill_powers(const tali_muscle_sizes *sizes, const tali_muscle_found *at, double out[])
{
    const double speed = out[TAL_MUSCLE_FIBER_SPEED];
    out[TAL_MUSCLE_FIBER_ACTIVE_POWER] = -sizes->F0 * (at->f_active + at->f_damping) * speed;
    out[TAL_MUSCLE_FIBER_PASSIVE_POWER] = -sizes->F0 * at->passive.y * speed;
    out[TAL_MUSCLE_TENDON_POWER] = -out[TAL_MUSCLE_TENDON_FORCE] * out[TAL_MUSCLE_TENDON_SPEED];
    out[TAL_MUSCLE_POWER] = -out[TAL_MUSCLE_TENSION] * out[TAL_MUSCLE_SPEED];
}

static tal_status calc_outputs(const tali_muscle *it, const tal_force_context *context,
                               double out[])
{
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, context);
    tali_muscle_given given;
    tal_status st = tali_muscle_read(it, context, true, &given);
    if (st == TAL_OK) st = tali_muscle_control(it, context, &out[TAL_MUSCLE_EXCITATION]);
    if (st != TAL_OK) return st;
    const tali_muscle_found at = tali_muscle_find(&it->curves, sizes, it->kind, &given);
    const tali_muscle_energy stored = tali_muscle_stored(&it->curves, sizes, it->kind, &given);
    fill_lengths(sizes, &given, &at, out);
    fill_speeds(sizes, &given, &at, it->kind == TALI_MUSCLE_RIGID, out);
    fill_forces(sizes, &at, out);
    fill_stiffness(sizes, &given, &at, out);
    const bool is_overridden = tali_muscle_value(it, context, TAL_MUSCLE_IS_OVERRIDDEN) != 0.0;
    out[TAL_MUSCLE_TENSION] = is_overridden ? tali_muscle_value(it, context, TAL_MUSCLE_OVERRIDE)
                                            : out[TAL_MUSCLE_TENDON_FORCE];
    fill_powers(sizes, &at, out);
    out[TAL_MUSCLE_FIBER_ENERGY] = stored.fiber;
    out[TAL_MUSCLE_TENDON_ENERGY] = stored.tendon;
    return TAL_OK;
}

// --- asking ---

tal_status tal_muscle_calc_outputs(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                                   double outputs[])
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return tal_contract_last()->status;
    if (outputs == NULL) return TALI_BREACH(TAL_ERR_NULL, "outputs is NULL");
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                           tal_stage_name(tal_state_stage(state)));
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return tal_contract_last()->status;
    const tal_status st = calc_outputs(it, &context, outputs);
    return tali_force_explain(state, &forces->elements[muscle.i], st);
}

double tal_muscle_calc_output(const tal_forces *forces, tal_state *state, tal_force_ix muscle,
                              tal_muscle_output which)
{
    if (!is_output(which)) return TALI_NAN;
    double outputs[TAL_NUM_MUSCLE_OUTPUTS];
    const tal_status st = tal_muscle_calc_outputs(forces, state, muscle, outputs);
    return st == TAL_OK ? outputs[which] : TALI_NAN;
}

double tal_muscle_calc_strength(const tal_forces *forces, tal_state *state, tal_force_ix muscle)
{
    const tali_muscle *it = tali_muscle_at(forces, muscle, __func__);
    if (it == NULL) return TALI_NAN;
    if (tal_state_stage(state) < TAL_STAGE_VELOCITY) {
        (void)TALI_BREACH(TAL_ERR_STAGE, "the State is at %s and must be at Velocity",
                          tal_stage_name(tal_state_stage(state)));
        return TALI_NAN;
    }
    const tal_force_context context = tali_force_context(forces, state, TAL_STAGE_VELOCITY);
    if (context.velocities.bytes == NULL) return TALI_NAN;
    const tali_muscle_sizes *sizes = tali_muscle_sizes_of(it, &context);
    tali_muscle_given given;
    if (tali_muscle_read(it, &context, true, &given) != TAL_OK) return TALI_NAN;
    given.a = 1.0;
    const tali_muscle_found at = tali_muscle_find(&it->curves, sizes, TALI_MUSCLE_RIGID, &given);
    return at.is_shortest ? 0.0 : sizes->F0 * at.f_active * at.fiber.cosine;
}

// --- measures ---

typedef struct target {
    const tal_forces *forces;
    tal_force_ix muscle;
    tal_muscle_output which;
} target;

static tal_status calc(const void *self, const tal_system *system, tal_state *state, int order,
                       int n, double value[])
{
    (void)system;
    (void)order;
    (void)n;
    const target *it = self;
    double outputs[TAL_NUM_MUSCLE_OUTPUTS];
    const tal_status st = tal_muscle_calc_outputs(it->forces, state, it->muscle, outputs);
    value[0] = st == TAL_OK ? outputs[it->which] : TALI_NAN;
    return st;
}

static void needs(const void *self, const tal_system *system, int order, tal_measure_needs *stages)
{
    (void)self;
    (void)system;
    (void)order;
    tal_measure_needs_stage(stages, TAL_STAGE_DYNAMICS);
}

static const tal_measure_ops output_ops = {
    .size = sizeof output_ops, .name = "muscle output", .calc = calc, .needs = needs};

tal_measure_ix tali_muscle_add_measure(tal_forces *forces, const char *name,
                                       const tal_measure_ops *ops, const void *self, size_t size)
{
    tal_measure_def def = tal_measure_def_default();
    def.name = name;
    def.size = 1;
    def.self = self;
    def.self_size = size;
    return tal_system_add_measure(forces->system, forces->me, ops, &def);
}

bool tali_muscle_is_to_measure(tal_forces *forces, tal_force_ix muscle, const char *where)
{
    if (tal_system_error(forces->system)->status != TAL_OK) return false;
    if (tali_muscle_at(forces, muscle, where) != NULL) return true;
    tali_system_keep_breach(forces->system);
    return false;
}

tal_measure_ix tal_measure_add_muscle_output(tal_forces *forces, const char *name,
                                             tal_force_ix muscle, tal_muscle_output which)
{
    const tal_measure_ix none = {-1};
    if (forces == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "forces is NULL");
        return none;
    }
    if (!tali_muscle_is_to_measure(forces, muscle, __func__)) return none;
    if ((int)which < 0 || which >= TAL_NUM_MUSCLE_OUTPUTS) {
        (void)tal_system_fail(forces->system, TAL_ERR_BAD_INDEX,
                              "there is no muscle output %d: there are %d", (int)which,
                              (int)TAL_NUM_MUSCLE_OUTPUTS);
        return none;
    }
    const target self = {forces, muscle, which};
    return tali_muscle_add_measure(forces, name, &output_ops, &self, sizeof self);
}

bool tali_muscle_measure_facts(const tal_system *system, tal_measure_ix measure,
                               tal_force_ix *muscle, tal_muscle_output *which)
{
    const target *it = tali_measure_self_as(system, measure, &output_ops);
    if (it == NULL) return false;
    *muscle = it->muscle;
    *which = it->which;
    return true;
}
