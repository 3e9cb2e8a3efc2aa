// Applying the elements: sums by what the elements need, kept while that does not change, and in
// chunks for threads.
//
// The elements that need q alone are summed into arrays of their own, which stay valid while q and
// the elements' variables are as they were; likewise those that need t alone. What is applied is
// always the others one by one, + (sum of t) + (sum of q), so whether a sum was kept or computed
// makes no difference to a single bit.
#include "cache_internal.h"
#include "finite_internal.h"

#include "core/forces_internal.h"

#include <string.h>

// --- what is declared ---

static void sort_elements(tal_forces *forces)
{
    int k = 0;
    for (int needs = 0; needs < TAL_NUM_FORCE_NEEDS; ++needs) {
        tali_force_class *class = &forces->classes[needs];
        class->begin = k;
        for (int pass = 0; pass < 2; ++pass) {
            for (int i = 0; i < forces->num_elements; ++i) {
                const tal_force_ops *ops = &forces->elements[i].ops;
                const bool first = ops->is_concurrent && forces->num_chunks > 0;
                if ((int)ops->needs != needs || first != (pass == 0)) continue;
                forces->order[k++] = (tali_force_call){ops->apply, forces->elements[i].self, i};
            }
            if (pass == 0) class->middle = k;
        }
        class->end = k;
    }
}

static size_t sum_bytes(const tal_forces *forces)
{
    return (size_t)forces->num_bodies * sizeof(tal_spatial_vec) +
           ((size_t)forces->nu + 1) * sizeof(double);
}

// What the sum of a class is computed from: q or t, and the variables of its elements.
static int list_prereqs(const tal_forces *forces, tal_force_needs needs, tal_prereq prereqs[])
{
    int n = 0;
    prereqs[n++] = (tal_prereq){needs == TAL_FORCE_NEEDS_Q ? TAL_PREREQ_Q : TAL_PREREQ_T, 0};
    if (forces->values[needs].count > 0) prereqs[n++] = tal_prereq_var(forces->values[needs].var);
    for (int i = 0; i < forces->num_vars; ++i) {
        const tali_force_var *owned = &forces->vars[i];
        if (forces->elements[owned->element].ops.needs != needs) continue;
        prereqs[n++] = tal_prereq_var(owned->var);
    }
    return n;
}

static bool declare_sum(tal_forces *forces, tal_force_needs needs)
{
    tali_force_class *class = &forces->classes[needs];
    if (class->begin == class->end) return true;
    const size_t room = (size_t)forces->num_vars + 2;
    tal_prereq *prereqs = tali_alloc(&forces->allocator, room * sizeof *prereqs);
    if (prereqs == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for forces");
        return false;
    }
    tal_cache_def def = tal_cache_def_default();
    def.name = needs == TAL_FORCE_NEEDS_Q ? "forces of q" : "forces of t";
    def.size = sum_bytes(forces);
    def.prereqs = prereqs;
    def.num_prereqs = list_prereqs(forces, needs, prereqs);
    class->sum = tal_system_add_cache(forces->system, forces->me, &def);
    tali_free(&forces->allocator, prereqs, room * sizeof *prereqs);
    return class->sum.i >= 0;
}

// Parameters of the built-in elements; their initial values are not needed any more.
static bool declare_values(tal_forces *forces, tal_force_needs needs)
{
    static const char *const names[] = {"values of all", "values of q", "values of t"};
    tali_force_values *values = &forces->values[needs];
    if (values->count == 0) return true;
    tal_var_def def = tal_var_def_default();
    def.name = names[needs];
    def.size = (size_t)values->count * sizeof *values->initial;
    def.initial = values->initial;
    def.invalidates = TAL_STAGE_DYNAMICS;
    values->var = tal_system_add_var(forces->system, forces->me, &def);
    return values->var.i >= 0;
}

static bool declare_placed(tal_forces *forces)
{
    if (forces->placed_size == 0) return true;
    tal_cache_def def = tal_cache_def_default();
    def.name = "placed";
    def.size = forces->placed_size;
    def.computed_by = TAL_STAGE_INSTANCE;
    forces->placed = tal_system_add_cache(forces->system, forces->me, &def);
    return forces->placed.i >= 0;
}

bool tali_forces_declare_classes(tal_forces *forces)
{
    const size_t n = (size_t)forces->num_elements + 1;
    forces->order = tali_alloc(&forces->allocator, n * sizeof *forces->order);
    if (forces->order == NULL) {
        (void)tal_system_fail(forces->system, TAL_ERR_NO_MEMORY, "no memory for %zu forces", n - 1);
        return false;
    }
    sort_elements(forces);
    if (!declare_placed(forces)) return false;
    for (int needs = 0; needs < TAL_NUM_FORCE_NEEDS; ++needs) {
        const tal_force_needs what = (tal_force_needs)needs;
        if (!declare_values(forces, what)) return false;
        if (what != TAL_FORCE_NEEDS_ALL && !declare_sum(forces, what)) return false;
    }
    // tal_forces_calc_generalized() holds F and f, tal_force_apply() another F
    tal_system_reserve_scratch(forces->system, 2 * sum_bytes(forces) + 3 * TAL_ALIGNMENT);
    if (forces->num_chunks > 0) {
        const size_t chunk = sum_bytes(forces) + TAL_ALIGNMENT;
        tal_system_reserve_scratch(forces->system, (size_t)forces->num_chunks * chunk);
    }
    return true;
}

// --- adding up ---

static void clear(const tal_forces *forces, const tal_applied_forces *sum)
{
    memset(sum->F_GM, 0, (size_t)forces->num_bodies * sizeof *sum->F_GM);
    memset(sum->f, 0, (size_t)forces->nu * sizeof *sum->f);
}

// The arrays of a sum: F of all bodies, then f.
static tal_applied_forces sum_in(const tal_forces *forces, void *bytes)
{
    tal_spatial_vec *F = bytes;
    return (tal_applied_forces){F, (double *)(void *)(F + forces->num_bodies)};
}

// to += from; true when the result is finite.
static bool add_numbers(const double *restrict from, int n, double *restrict to)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; ++i) {
        to[i] += from[i];
        bits |= tali_finite_bits(to[i]);
    }
    return tali_finite_are_bits(bits);
}

static bool add_sum(const tal_forces *forces, const void *sum, const tal_applied_forces *to)
{
    const int num_F = 6 * forces->num_bodies;
    const double *F = sum;
    const bool are_forces_finite = add_numbers(F, num_F, (double *)(void *)to->F_GM);
    return add_numbers(F + num_F, forces->nu, to->f) && are_forces_finite;
}

bool tali_force_are_finite(const tal_forces *forces, const tal_applied_forces *sum)
{
    const double *F = (const double *)(const void *)sum->F_GM;
    return tali_finite_all(F, 6 * forces->num_bodies) && tali_finite_all(sum->f, forces->nu);
}

// Apply the enabled elements order[begin] ... order[end - 1]; `*failed` is the one that failed.
static tal_status apply_some(const tal_forces *forces, const tal_force_context *context,
                             const uint8_t enabled[], const int range[2],
                             const tal_applied_forces *to, int *failed)
{
    for (int k = range[0]; k < range[1]; ++k) {
        const tali_force_call *call = &forces->order[k];
        if (!enabled[call->element]) continue;
        const tal_status st = call->apply(call->self, context, to->F_GM, to->f);
        if (st == TAL_OK) continue;
        *failed = call->element;
        return st;
    }
    return TAL_OK;
}

// --- chunks ---

// What all tasks see, and what each leaves behind.
typedef struct chunks {
    const tal_forces *forces;
    const tal_force_context *context;
    const uint8_t *enabled;
    int begin, count; // the elements, in `order`
    tal_applied_forces sums[TALI_MAX_FORCE_CHUNKS];
    tal_status status[TALI_MAX_FORCE_CHUNKS];
    int failed[TALI_MAX_FORCE_CHUNKS];
} chunks;

static void apply_chunk(void *work, int i)
{
    chunks *all = work;
    const int n = all->forces->num_chunks;
    const int range[2] = {all->begin + (int)((long long)all->count * i / n),
                          all->begin + (int)((long long)all->count * (i + 1) / n)};
    clear(all->forces, &all->sums[i]);
    all->status[i] =
        apply_some(all->forces, all->context, all->enabled, range, &all->sums[i], &all->failed[i]);
}

// A chunk failed, and could not leave a sentence: apply its element again, alone.
static tal_status hear_why(const chunks *all, int i)
{
    const tali_force *element = &all->forces->elements[all->failed[i]];
    tal_force_context alone = *all->context;
    alone.concurrent = false;
    (void)element->ops.apply(element->self, &alone, all->sums[i].F_GM, all->sums[i].f);
    return tali_force_explain(alone.state, element, all->status[i]);
}

// Apply the elements of a class that may run concurrently: tasks, then their sums in order.
static tal_status apply_chunks(const tal_forces *forces, const tal_force_context *context,
                               const uint8_t enabled[], const tali_force_class *class,
                               const tal_applied_forces *to)
{
    tal_force_context shared = *context;
    shared.concurrent = true;
    chunks all = {.forces = forces, .context = &shared, .enabled = enabled};
    all.begin = class->begin;
    all.count = class->middle - class->begin;
    const size_t mark = tal_state_scratch_mark(context->state);
    const int n = forces->num_chunks;
    for (int i = 0; i < n; ++i) {
        all.sums[i] = sum_in(forces, tal_state_scratch_take(context->state, sum_bytes(forces)));
    }
    if (forces->executor.run != NULL) {
        forces->executor.run(forces->executor.context, apply_chunk, &all, n);
    } else {
        for (int i = 0; i < n; ++i) {
            apply_chunk(&all, i);
        }
    }
    tal_status st = TAL_OK;
    for (int i = 0; i < n && st == TAL_OK; ++i) {
        if (all.status[i] == TAL_OK) {
            (void)add_sum(forces, all.sums[i].F_GM, to);
        } else {
            st = hear_why(&all, i);
        }
    }
    tal_state_scratch_release(context->state, mark);
    return st;
}

// --- classes ---

static tal_status apply_class(const tal_forces *forces, const tal_force_context *context,
                              tal_force_needs needs, const tal_applied_forces *to)
{
    const tali_force_class *class = &forces->classes[needs];
    if (class->begin == class->end) return TAL_OK;
    const tal_force_context told = tali_force_context_for(context, needs);
    const uint8_t *enabled = tali_cache_var_in(forces->system, context->state, forces->enabled);
    if (class->middle > class->begin) {
        const tal_status st = apply_chunks(forces, &told, enabled, class, to);
        if (st != TAL_OK) return st;
    }
    const int range[2] = {class->middle, class->end};
    int failed = 0;
    const tal_status st = apply_some(forces, &told, enabled, range, to, &failed);
    if (st == TAL_OK) return st; // there may be no elements to point to
    return tali_force_explain(context->state, &forces->elements[failed], st);
}

// The sum of a class, computed first if it is out of date; NULL for a class without elements.
static tal_status sum_of(const tal_forces *forces, const tal_force_context *context,
                         tal_force_needs needs, const void **sum)
{
    const tali_force_class *class = &forces->classes[needs];
    tal_state *state = context->state;
    *sum = NULL;
    if (class->begin == class->end) return TAL_OK;
    if (tal_cache_is_valid(forces->system, state, class->sum)) {
        *sum = tali_cache_at(forces->system, state, class->sum);
        return TAL_OK;
    }
    const tal_applied_forces in =
        sum_in(forces, tali_cache_begin(forces->system, state, class->sum));
    *sum = in.F_GM;
    clear(forces, &in);
    const tal_status st = apply_class(forces, context, needs, &in);
    if (st == TAL_OK) tali_cache_end(forces->system, state, class->sum);
    return st;
}

tal_status tali_force_blame(tal_state *state, const tali_force *element)
{
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "force '%s' applied a force that is not finite at t = %g", element->name,
                          tal_state_t(state));
}

tal_status tali_force_blame_sum(tal_state *state)
{
    return tal_state_fail(state, TAL_ERR_NOT_FINITE,
                          "the sum of the applied forces is not finite at t = %g",
                          tal_state_t(state));
}

// The sum is not finite: apply the elements one at a time to find the one that causes it.
static tal_status name_culprit(const tal_forces *forces, const tal_force_context *context,
                               const tal_applied_forces *to)
{
    tal_state *state = context->state;
    const uint8_t *enabled = tali_forces_enabled(forces, state);
    for (int i = 0; i < forces->num_elements; ++i) {
        const tali_force *element = &forces->elements[i];
        if (!enabled[i]) continue;
        clear(forces, to);
        const tal_force_context told = tali_force_context_for(context, element->ops.needs);
        const tal_status st = element->ops.apply(element->self, &told, to->F_GM, to->f);
        if (st != TAL_OK) return tali_force_explain(state, element, st);
        if (!tali_force_are_finite(forces, to)) return tali_force_blame(state, element);
    }
    return tali_force_blame_sum(state);
}

tal_status tali_forces_apply(const tal_forces *forces, const tal_force_context *context,
                             const tal_applied_forces *to)
{
    const void *of_t = NULL, *of_q = NULL;
    tal_status st = apply_class(forces, context, TAL_FORCE_NEEDS_ALL, to);
    if (st == TAL_OK) st = sum_of(forces, context, TAL_FORCE_NEEDS_T, &of_t);
    if (st == TAL_OK) st = sum_of(forces, context, TAL_FORCE_NEEDS_Q, &of_q);
    if (st != TAL_OK) return st;
    if (of_t != NULL) (void)add_sum(forces, of_t, to);
    const bool is_finite =
        of_q != NULL ? add_sum(forces, of_q, to) : tali_force_are_finite(forces, to);
    return is_finite ? TAL_OK : name_culprit(forces, context, to);
}
