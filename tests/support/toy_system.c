// The toy System: arithmetic that reads everything it may read, so that a stale byte shows.
#include "toy_system.h"

#include <string.h>

uint64_t toy_random(uint64_t *stream)
{
    uint64_t x = *stream += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

double toy_real(uint64_t *stream)
{
    return (double)(int)(toy_random(stream) % 4096) / 2048.0 - 1.0;
}

// Any function that is not symmetric and does not lose its arguments.
static double mix(double a, double b)
{
    return 0.75 * a + 0.5 * b - a * b / (1.0 + a * a + b * b);
}

static double mix_all(double sum, const double values[], int n)
{
    for (int i = 0; i < n; ++i) {
        sum = mix(sum, values[i]);
    }
    return sum;
}

static int chosen(const tal_system *system, const tal_state *state, tal_var_ix var)
{
    int32_t n = 0;
    memcpy(&n, tal_var_value(system, state, var), sizeof n);
    return (int)n;
}

static double value_of(const tal_system *system, tal_state *state, tal_cache_ix entry)
{
    return *(const double *)tal_cache_value(system, state, entry);
}

// --- lazy entries ---

static tal_status calc_of_q(const void *self, const tal_system *system, tal_state *state,
                            void *value)
{
    const toy_part *part = self;
    const double instance = tal_var_double(system, state, part->var[TAL_STAGE_INSTANCE]);
    *(double *)value = mix_all(instance, tal_state_q(state), tal_state_nq(state));
    return TAL_OK;
}

static tal_status calc_of_qu(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    const toy_part *part = self;
    const double of_q = value_of(system, state, part->of_q);
    *(double *)value = mix_all(of_q, tal_state_u(state), tal_state_nu(state));
    return TAL_OK;
}

static tal_status calc_of_tz(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    (void)self;
    (void)system;
    *(double *)value = mix_all(tal_state_t(state), tal_state_z(state), tal_state_nz(state));
    return TAL_OK;
}

static tal_status calc_chain(const void *self, const tal_system *system, tal_state *state,
                             void *value)
{
    const toy_part *part = self;
    const double kinematics = mix(value_of(system, state, part->of_qu),
                                  value_of(system, state, part->by[TAL_STAGE_DYNAMICS]));
    *(double *)value = mix(kinematics, value_of(system, state, part->of_tz));
    return TAL_OK;
}

static tal_status calc_of_var(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const toy_part *part = self;
    *(double *)value = mix(3.0, tal_var_double(system, state, part->var[TAL_STAGE_REPORT]));
    return TAL_OK;
}

static tal_status calc_of_mode(const void *self, const tal_system *system, tal_state *state,
                               void *value)
{
    const toy_part *part = self;
    *(double *)value =
        mix(chosen(system, state, part->nq), tal_var_double(system, state, part->mode));
    return TAL_OK;
}

static tal_status calc_of_u(const void *self, const tal_system *system, tal_state *state,
                            void *value)
{
    (void)self;
    (void)system;
    *(double *)value = mix_all(5.0, tal_state_u(state), tal_state_nu(state));
    return TAL_OK;
}

static tal_status calc_of_stored(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const toy_part *part = self;
    *(double *)value = mix(6.0, tal_var_double(system, state, part->peak));
    return TAL_OK;
}

// The rule of auto-update variables: computing it again from its own result gives the same.
static tal_status update_peak(const void *self, const tal_system *system, tal_state *state,
                              void *value)
{
    const toy_part *part = self;
    double peak = tal_var_double(system, state, part->peak);
    const double *q = tal_state_q(state) + tal_group_start(system, state, part->q);
    for (int i = 0; i < tal_group_size(system, state, part->q); ++i) {
        if (q[i] > peak) peak = q[i];
    }
    *(double *)value = peak;
    return TAL_OK;
}

static tal_status calc_of_peak(const void *self, const tal_system *system, tal_state *state,
                               void *value)
{
    const toy_part *part = self;
    const double peak = value_of(system, state, tal_var_update(system, part->peak));
    *(double *)value = mix(peak, tal_state_t(state));
    return TAL_OK;
}

// --- eager entries: each stage rests on the one below and on its own variable ---

static tal_status calc_by(const void *context, const tal_system *system, tal_state *state,
                          tal_stage stage, double *value)
{
    const toy_part *part = context;
    double sum = tal_var_double(system, state, part->var[stage]);
    if (stage > TAL_STAGE_INSTANCE) {
        sum = mix(sum, value_of(system, state, part->by[stage - 1]));
    }
    *value = sum;
    return TAL_OK;
}

static tal_status calc_by_instance(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_INSTANCE, value);
    double *sum = value;
    *sum = mix(*sum, chosen(system, state, part->m) + 4 * chosen(system, state, part->nq));
    return TAL_OK;
}

static tal_status calc_by_time(const void *self, const tal_system *system, tal_state *state,
                               void *value)
{
    (void)calc_by(self, system, state, TAL_STAGE_TIME, value);
    *(double *)value = mix(*(double *)value, tal_state_t(state));
    return TAL_OK;
}

static tal_status calc_by_position(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_POSITION, value);
    double *sum = value;
    *sum = mix_all(*sum, tal_state_q(state), tal_state_nq(state));
    *sum = mix(*sum, tal_var_double(system, state, part->mode));
    *sum = mix_all(*sum, tal_state_weights(state, TAL_POOL_QERR),
                   tal_state_pool_size(state, TAL_POOL_QERR));
    return TAL_OK;
}

static tal_status calc_by_velocity(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_VELOCITY, value);
    double *sum = value;
    *sum = mix_all(*sum, tal_state_u(state), tal_state_nu(state));
    *sum = mix(*sum, tal_cache_realize_double(system, state, tal_var_update(system, part->peak)));
    *sum = mix_all(*sum, tal_state_weights(state, TAL_POOL_UERR),
                   tal_state_pool_size(state, TAL_POOL_UERR));
    return TAL_OK;
}

static tal_status calc_by_dynamics(const void *self, const tal_system *system, tal_state *state,
                                   void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_DYNAMICS, value);
    double *sum = value;
    *sum = mix_all(*sum, tal_state_z(state), tal_state_nz(state));
    *sum = mix(*sum, tal_cache_realize_double(system, state, part->of_tz));
    return TAL_OK;
}

static tal_status calc_by_acceleration(const void *self, const tal_system *system, tal_state *state,
                                       void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_ACCELERATION, value);
    *(double *)value = mix(*(double *)value, tal_cache_realize_double(system, state, part->chain));
    return TAL_OK;
}

static tal_status calc_by_report(const void *self, const tal_system *system, tal_state *state,
                                 void *value)
{
    const toy_part *part = self;
    (void)calc_by(self, system, state, TAL_STAGE_REPORT, value);
    double *sum = value;
    *sum = mix(*sum, tal_cache_realize_double(system, state, part->of_var));
    *sum = mix_all(*sum, tal_state_weights(state, TAL_POOL_U), tal_state_nu(state));
    *sum = mix_all(*sum, tal_state_weights(state, TAL_POOL_Z), tal_state_nz(state));
    return TAL_OK;
}

// --- declaring ---

static tal_group_ix add_group(tal_system *system, tal_subsystem_ix me, const char *name,
                              tal_pool pool, int capacity, tal_stage stage)
{
    static const double initial[] = {0.25, -0.5, 0.125};
    tal_group_def def = tal_group_def_default();
    def.name = name;
    def.pool = pool;
    def.capacity = capacity;
    def.stage = stage;
    if (pool <= TAL_POOL_Z) def.initial = initial;
    return tal_system_add_group(system, me, &def);
}

static void add_groups(toy_part *part, tal_system *system, tal_subsystem_ix me)
{
    const tal_stage any = TAL_STAGE_TIME;
    part->u = add_group(system, me, "own", TAL_POOL_U, TOY_MAX_Q, any);
    part->q = add_group(system, me, "own", TAL_POOL_Q, TOY_MAX_Q, any);
    part->z = add_group(system, me, "own", TAL_POOL_Z, TOY_MAX_Q, any);
    part->qerr = add_group(system, me, "qerr", TAL_POOL_QERR, TOY_MAX_M, any);
    part->uerr = add_group(system, me, "uerr", TAL_POOL_UERR, TOY_MAX_M, any);
    part->udoterr = add_group(system, me, "udoterr", TAL_POOL_UDOTERR, TOY_MAX_M, any);
    part->triggers_report =
        add_group(system, me, "report", TAL_POOL_TRIGGER, TOY_MAX_M, TAL_STAGE_REPORT);
    part->triggers_time =
        add_group(system, me, "time", TAL_POOL_TRIGGER, TOY_MAX_M, TAL_STAGE_TIME);
    part->triggers_velocity =
        add_group(system, me, "velocity", TAL_POOL_TRIGGER, TOY_MAX_M, TAL_STAGE_VELOCITY);
    tal_event_def event = tal_event_def_default();
    event.name = "crossing";
    event.trigger = part->triggers_time;
    part->event = tal_system_add_event(system, me, &event);
}

static tal_var_ix add_choice(tal_system *system, tal_subsystem_ix me, const char *name,
                             tal_stage invalidates, int initial)
{
    const int32_t value = initial;
    tal_var_def def = tal_var_def_default();
    def.name = name;
    def.size = sizeof value;
    def.initial = &value;
    def.invalidates = invalidates;
    return tal_system_add_var(system, me, &def);
}

static void add_vars(toy_part *part, tal_system *system, tal_subsystem_ix me)
{
    part->nq = add_choice(system, me, "nq", TAL_STAGE_MODEL, 1 + part->number % TOY_MAX_Q);
    part->m = add_choice(system, me, "m", TAL_STAGE_INSTANCE, 1);
    const double value = 0.5;
    tal_var_def def = tal_var_def_default();
    def.size = sizeof value;
    def.initial = &value;
    for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
        def.name = tal_stage_name((tal_stage)s);
        def.invalidates = (tal_stage)s;
        part->var[s] = tal_system_add_var(system, me, &def);
    }
    def.name = "mode";
    def.invalidates = TAL_STAGE_POSITION;
    def.allocated = TAL_STAGE_MODEL;
    part->mode = tal_system_add_var(system, me, &def);

    def.name = "peak";
    def.invalidates = TAL_STAGE_VELOCITY;
    def.allocated = TAL_STAGE_TOPOLOGY;
    def.update = update_peak;
    def.update_depends_on = TAL_STAGE_POSITION;
    part->peak = tal_system_add_var(system, me, &def);
}

static tal_cache_ix add_lazy(tal_system *system, tal_subsystem_ix me, const char *name,
                             tal_stage depends_on, tal_calc_fn calc, const tal_prereq needs[],
                             int count)
{
    tal_cache_def def = tal_cache_def_default();
    def.name = name;
    def.size = sizeof(double);
    def.depends_on = depends_on;
    def.calc = calc;
    def.prereqs = needs;
    def.num_prereqs = count;
    return tal_system_add_cache(system, me, &def);
}

static void add_lazy_entries(toy_part *part, tal_system *system, tal_subsystem_ix me)
{
    const tal_prereq q[] = {{TAL_PREREQ_Q, 0}};
    part->of_q = add_lazy(system, me, "of q", TAL_STAGE_INSTANCE, calc_of_q, q, 1);
    const tal_prereq qu[] = {{TAL_PREREQ_U, 0}, tal_prereq_cache(part->of_q)};
    part->of_qu = add_lazy(system, me, "of q, u", TAL_STAGE_INSTANCE, calc_of_qu, qu, 2);
    const tal_prereq tz[] = {{TAL_PREREQ_Z, 0}, {TAL_PREREQ_T, 0}};
    part->of_tz = add_lazy(system, me, "of t, z", TAL_STAGE_INSTANCE, calc_of_tz, tz, 2);
    const tal_prereq all[] = {tal_prereq_cache(part->of_tz), tal_prereq_cache(part->of_qu),
                              tal_prereq_var(part->var[TAL_STAGE_DYNAMICS])};
    part->chain = add_lazy(system, me, "chain", TAL_STAGE_DYNAMICS, calc_chain, all, 3);
    const tal_prereq var[] = {tal_prereq_var(part->var[TAL_STAGE_REPORT])};
    part->of_var = add_lazy(system, me, "of var", TAL_STAGE_TOPOLOGY, calc_of_var, var, 1);
    const tal_prereq mode[] = {tal_prereq_var(part->mode), tal_prereq_var(part->nq)};
    part->of_mode = add_lazy(system, me, "of mode", TAL_STAGE_TOPOLOGY, calc_of_mode, mode, 2);
    const tal_prereq u[] = {{TAL_PREREQ_U, 0}};
    part->of_u = add_lazy(system, me, "of u", TAL_STAGE_TOPOLOGY, calc_of_u, u, 1);
    const tal_prereq stored[] = {tal_prereq_var(part->peak)};
    part->of_stored =
        add_lazy(system, me, "of stored", TAL_STAGE_TOPOLOGY, calc_of_stored, stored, 1);
    const tal_prereq peak[] = {tal_prereq_cache(tal_var_update(system, part->peak))};
    part->of_peak = add_lazy(system, me, "of peak", TAL_STAGE_POSITION, calc_of_peak, peak, 1);
}

static void add_eager_entries(toy_part *part, tal_system *system, tal_subsystem_ix me)
{
    static const tal_calc_fn calc[TAL_NUM_STAGES] = {
        [TAL_STAGE_INSTANCE] = calc_by_instance, [TAL_STAGE_TIME] = calc_by_time,
        [TAL_STAGE_POSITION] = calc_by_position, [TAL_STAGE_VELOCITY] = calc_by_velocity,
        [TAL_STAGE_DYNAMICS] = calc_by_dynamics, [TAL_STAGE_ACCELERATION] = calc_by_acceleration,
        [TAL_STAGE_REPORT] = calc_by_report,
    };
    tal_cache_def def = tal_cache_def_default();
    def.size = sizeof(double);
    for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
        char name[] = "by ?";
        name[3] = (char)('0' + s);
        def.name = name;
        def.depends_on = def.computed_by = (tal_stage)s;
        def.calc = calc[s];
        part->by[s] = tal_system_add_cache(system, me, &def);
    }
    def.name = "written";
    def.size = 2 * sizeof(double);
    def.depends_on = TAL_STAGE_POSITION;
    def.computed_by = TAL_STAGE_VELOCITY;
    def.calc = NULL;
    const tal_prereq u[] = {{TAL_PREREQ_U, 0}};
    def.prereqs = u;
    def.num_prereqs = 1;
    part->written = tal_system_add_cache(system, me, &def);
}

static tal_status realize_topology(void *self, tal_system *system, tal_subsystem_ix me)
{
    toy_part *part = self;
    part->me = me;
    add_groups(part, system, me);
    add_vars(part, system, me);
    add_eager_entries(part, system, me);
    add_lazy_entries(part, system, me);
    tal_system_reserve_scratch(system, TOY_SCRATCH);
    return tal_system_error(system)->status;
}

// --- realizing ---

static tal_status realize_model(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const int n = chosen(system, state, part->nq);
    const tal_group_ix groups[] = {part->q, part->u, part->z};
    for (int i = 0; i < 3; ++i) {
        const double initial[TOY_MAX_Q] = {0.5 * n + 10 * i, -0.25 * n + 10 * i, n + 10 * i};
        const tal_status st = tal_group_set_size(system, state, groups[i], n, initial);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

static tal_status realize_instance(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const int m = chosen(system, state, part->m);
    const tal_group_ix groups[] = {part->qerr,
                                   part->uerr,
                                   part->udoterr,
                                   part->triggers_time,
                                   part->triggers_velocity,
                                   part->triggers_report};
    for (int i = 0; i < 6; ++i) {
        const tal_status st = tal_group_set_size(system, state, groups[i], m, NULL);
        if (st != TAL_OK) return st;
    }
    return TAL_OK;
}

static void write_slots(double slots[], int n, double seed)
{
    for (int i = 0; i < n; ++i) {
        slots[i] = mix(seed, i + 1.0);
    }
}

static tal_status realize_time(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const double seed =
        mix(tal_state_t(state), tal_var_double(system, state, part->var[TAL_STAGE_TIME]));
    write_slots(tal_group_upd_triggers(system, state, part->triggers_time),
                tal_group_size(system, state, part->triggers_time), seed);
    return TAL_OK;
}

static tal_status realize_position(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const double seed = tal_cache_realize_double(system, state, part->of_q);
    write_slots(tal_group_upd_errors(system, state, part->qerr),
                tal_group_size(system, state, part->qerr), seed);
    return TAL_OK;
}

static tal_status realize_velocity(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const int n = tal_group_size(system, state, part->q);
    const double seed = tal_cache_realize_double(system, state, part->of_qu);
    double *written = tal_cache_upd(system, state, part->written);
    written[0] = mix(seed, value_of(system, state, part->by[TAL_STAGE_POSITION]));
    written[1] = -seed;
    const tal_status st = tal_cache_mark_valid(system, state, part->written);

    write_slots(tal_group_upd_dot(system, state, part->q), n, written[0]);
    write_slots(tal_group_upd_errors(system, state, part->uerr),
                tal_group_size(system, state, part->uerr), seed);
    write_slots(tal_group_upd_triggers(system, state, part->triggers_velocity),
                tal_group_size(system, state, part->triggers_velocity), -seed);
    return st;
}

static tal_status realize_acceleration(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    const int n = tal_group_size(system, state, part->q);
    const int m = tal_group_size(system, state, part->udoterr);
    const size_t mark = tal_state_scratch_mark(state);
    double *room = tal_state_scratch_take(state, TOY_MAX_Q * sizeof(double));
    write_slots(room, n, tal_cache_realize_double(system, state, part->chain));

    memcpy(tal_group_upd_dot(system, state, part->u), room, (size_t)n * sizeof(double));
    write_slots(tal_group_upd_dot(system, state, part->z), n, mix_all(1.0, room, n));
    write_slots(tal_group_upd_qdotdot(system, state, part->q), n, mix_all(2.0, room, n));
    write_slots(tal_group_upd_errors(system, state, part->udoterr), m, mix_all(3.0, room, n));
    write_slots(tal_group_upd_multipliers(system, state, part->udoterr), m, mix_all(4.0, room, n));
    tal_state_scratch_release(state, mark);
    return TAL_OK;
}

static tal_status realize_report(const void *self, const tal_system *system, tal_state *state)
{
    const toy_part *part = self;
    write_slots(tal_group_upd_triggers(system, state, part->triggers_report),
                tal_group_size(system, state, part->triggers_report),
                tal_cache_realize_double(system, state, part->of_peak));
    return TAL_OK;
}

#define TOY_OPS(kind, when)                                                                        \
    {                                                                                              \
        .size = sizeof(tal_subsystem_ops), .name = (kind), .order = (when), .tag = 7,              \
        .realize_topology = realize_topology, .realize_model = realize_model,                      \
        .realize_instance = realize_instance, .realize_time = realize_time,                        \
        .realize_position = realize_position, .realize_velocity = realize_velocity,                \
        .realize_acceleration = realize_acceleration, .realize_report = realize_report,            \
    }

static const tal_subsystem_ops toy_ops[TOY_PARTS] = {TOY_OPS("late", 5), TOY_OPS("early", -1),
                                                     TOY_OPS("middle", 0)};

static void list_entries(toy *made)
{
    made->num_entries = 0;
    for (int p = 0; p < TOY_PARTS; ++p) {
        const toy_part *part = &made->part[p];
        const tal_cache_ix lazy[] = {
            part->of_q,    part->of_qu,   part->of_tz,     part->chain,
            part->of_var,  part->of_mode, part->of_peak,   tal_var_update(made->system, part->peak),
            part->written, part->of_u,    part->of_stored,
        };
        for (size_t i = 0; i < sizeof lazy / sizeof lazy[0]; ++i) {
            made->entry[made->num_entries++] = lazy[i];
        }
        for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
            made->entry[made->num_entries++] = part->by[s];
        }
    }
}

bool toy_build(toy *made, const tal_allocator *allocator)
{
    tal_system_def def = tal_system_def_default();
    def.name = "toy";
    if (allocator != NULL) def.allocator = *allocator;
    *made = (toy){.system = tal_system_create(&def)};
    if (made->system == NULL) return false;
    for (int p = 0; p < TOY_PARTS; ++p) {
        made->part[p].number = p;
        made->part[p].order = toy_ops[p].order;
        (void)tal_system_add_subsystem(made->system, NULL, &toy_ops[p], &made->part[p]);
    }
    if (tal_system_realize_topology(made->system, NULL) == TAL_OK) {
        list_entries(made);
        return true;
    }
    tal_system_destroy(made->system);
    made->system = NULL;
    return false;
}

tal_state *toy_state(const toy *made)
{
    tal_state *state = NULL;
    return tal_state_create(made->system, &state, NULL) == TAL_OK ? state : NULL;
}

// --- looking at it ---

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

static uint64_t hash_reals(uint64_t hash, const double values[], int n)
{
    return hash_bytes(hash, values, (size_t)n * sizeof(double));
}

static uint64_t hash_pools(uint64_t hash, const tal_state *state, tal_stage stage)
{
    const int nq = tal_state_nq(state);
    if (stage >= TAL_STAGE_POSITION) {
        hash = hash_reals(hash, tal_state_qerr(state), tal_state_pool_size(state, TAL_POOL_QERR));
    }
    if (stage >= TAL_STAGE_VELOCITY) {
        hash = hash_reals(hash, tal_state_qdot(state), nq);
        hash = hash_reals(hash, tal_state_uerr(state), tal_state_pool_size(state, TAL_POOL_UERR));
    }
    if (stage >= TAL_STAGE_ACCELERATION) {
        const int m = tal_state_pool_size(state, TAL_POOL_UDOTERR);
        hash = hash_reals(hash, tal_state_ydot(state), tal_state_ny(state));
        hash = hash_reals(hash, tal_state_qdotdot(state), nq);
        hash = hash_reals(hash, tal_state_udoterr(state), m);
        hash = hash_reals(hash, tal_state_multipliers(state), m);
    }
    for (int s = TAL_STAGE_TIME; s <= (int)stage; ++s) {
        hash = hash_reals(hash, tal_state_triggers(state, (tal_stage)s),
                          tal_state_num_triggers(state, (tal_stage)s));
    }
    return hash;
}

// The stage from which on an entry can be had.
static tal_stage stage_of(const toy *made, int i)
{
    const toy_part *part = &made->part[0];
    const int per_part = made->num_entries / TOY_PARTS;
    const tal_cache_ix entry = made->entry[i % per_part];
    const tal_cache_ix early[] = {part->of_var, part->of_mode, part->of_u, part->of_stored};
    for (int k = 0; k < 4; ++k) {
        if (entry.i == early[k].i) return TAL_STAGE_MODEL;
    }
    if (entry.i == part->of_peak.i || entry.i == tal_var_update(made->system, part->peak).i) {
        return TAL_STAGE_POSITION;
    }
    if (entry.i == part->chain.i) return TAL_STAGE_DYNAMICS;
    if (entry.i == part->written.i) return TAL_STAGE_VELOCITY;
    for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
        if (entry.i == part->by[s].i) return (tal_stage)s;
    }
    return TAL_STAGE_INSTANCE;
}

uint64_t toy_digest(const toy *made, tal_state *state)
{
    const tal_stage stage = tal_state_stage(state);
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = hash_reals(hash, tal_state_y(state), tal_state_ny(state));
    for (int i = 0; i < made->num_entries; ++i) {
        if (stage_of(made, i) > stage) continue;
        hash = hash_bytes(hash, tal_cache_realize(made->system, state, made->entry[i]),
                          sizeof(double));
    }
    return hash_pools(hash, state, stage);
}

void toy_scramble(const toy *made, tal_state *state, uint64_t seed)
{
    uint64_t stream = seed;
    for (int p = 0; p < TOY_PARTS; ++p) {
        const toy_part *part = &made->part[p];
        const int32_t nq = (int32_t)(toy_random(&stream) % (TOY_MAX_Q + 1));
        const int32_t m = (int32_t)(toy_random(&stream) % (TOY_MAX_M + 1));
        (void)tal_var_set(made->system, state, part->nq, &nq);
        (void)tal_var_set(made->system, state, part->m, &m);
    }
    if (tal_system_realize(made->system, state, TAL_STAGE_MODEL) != TAL_OK) return;

    (void)tal_state_set_t(state, toy_real(&stream));
    double *y = tal_state_upd_y(state);
    for (int i = 0; i < tal_state_ny(state); ++i) {
        y[i] = toy_real(&stream);
    }
    for (int p = 0; p < TOY_PARTS; ++p) {
        const toy_part *part = &made->part[p];
        for (int s = TAL_STAGE_INSTANCE; s <= TAL_STAGE_REPORT; ++s) {
            (void)tal_var_set_double(made->system, state, part->var[s], toy_real(&stream));
        }
        (void)tal_var_set_double(made->system, state, part->mode, toy_real(&stream));
        (void)tal_var_set_double(made->system, state, part->peak, toy_real(&stream));
    }
}
