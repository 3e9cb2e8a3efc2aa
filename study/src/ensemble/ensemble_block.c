// Samples side by side: each has a seat in the lanes that step them, and leaves it for the next
// when it is done.
//
// Whatever is not a step that is taken or tried again shorter is left to the sample alone: it is
// run once more from its start, by the thread's own tools, and gives the results or the reason that
// it gives anywhere.
#include "matter_lanes_internal.h"

#include "ensemble/ensemble_internal.h"
#include "integrate/lane_steps_internal.h"

#include <stdio.h>

// A sample on its way.
typedef struct seat {
    tali_ensemble_lane tools;
    int k;           // -1: none
    double *results; // [row_size]
    int next;        // of the times
} seat;

struct tali_ensemble_block {
    tali_integrator_lanes *lanes;
    int width;
    seat *seats; // [width]
    int num_done;
    tali_integrator_lane_use use;
};

// --- creation ---

// Why the task cannot be done side by side; TAL_OK and no text: it can.
static void refuse(tal_ensemble *it)
{
    char *const text = it->why_alone;
    const size_t size = sizeof it->why_alone;
    const tal_integrator_def usual = tal_integrator_def_default();
    const tal_integrator_def *const def = it->def.integrator != NULL ? it->def.integrator : &usual;
    if (it->def.task != TAL_TASK_INTEGRATE) {
        (void)snprintf(text, size, "only integration is done side by side");
    } else if (it->def.width > 0 && it->def.width < 4) {
        (void)snprintf(text, size, "the width is %d", it->def.width);
    } else {
        tali_integrator_lanes_refusal(it->system, def, text, size);
    }
}

static tal_status take_seats(tal_ensemble *it, tali_ensemble_block *block, tal_error *err)
{
    const size_t bytes = (size_t)block->width * sizeof *block->seats;
    block->seats = tali_alloc(&it->allocator, bytes);
    if (block->seats == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an ensemble");
    tal_status st = TAL_OK;
    for (int i = 0; i < block->width && st == TAL_OK; ++i) {
        st = tali_ensemble_fill_lane(it, &block->seats[i].tools, err);
    }
    return st;
}

tal_status tali_ensemble_block_create(tal_ensemble *it, tali_ensemble_block **out, tal_error *err)
{
    *out = NULL;
    refuse(it);
    if (it->why_alone[0] != '\0') return TAL_OK;
    const int most = it->def.width > 0 ? it->def.width : TALI_MATTER_MOST_LANES;
    tali_integrator_lanes *lanes = NULL;
    tal_status st = tali_integrator_lanes_create(it->system, most, &lanes, err);
    if (st == TAL_OK && lanes == NULL) {
        (void)snprintf(it->why_alone, sizeof it->why_alone, "this machine has no lanes");
    }
    if (lanes == NULL) return st;
    tali_ensemble_block *const block = tali_alloc(&it->allocator, sizeof *block);
    if (block == NULL) {
        tali_integrator_lanes_destroy(lanes);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for an ensemble");
    }
    block->lanes = lanes;
    block->width = tali_integrator_lanes_width(lanes);
    *out = block; // the ensemble frees it, in part or as a whole
    return take_seats(it, block, err);
}

void tali_ensemble_block_destroy(const tal_ensemble *it, tali_ensemble_block *block)
{
    if (block == NULL) return;
    for (int i = 0; i < block->width && block->seats != NULL; ++i) {
        tali_ensemble_empty_lane(it, &block->seats[i].tools);
    }
    tali_free(&it->allocator, block->seats, (size_t)block->width * sizeof *block->seats);
    tali_integrator_lanes_destroy(block->lanes);
    tali_free(&it->allocator, block, sizeof *block);
}

void tali_ensemble_block_forget(tali_ensemble_block *block)
{
    block->num_done = 0;
    block->use = (tali_integrator_lane_use){0, 0};
}

void tali_ensemble_block_use(const tali_ensemble_block *block, tal_lane_use *use,
                             uint64_t evaluations[2])
{
    use->width = block->width;
    use->in_lanes += block->num_done;
    evaluations[0] += block->use.evaluations;
    evaluations[1] += block->use.used;
}

// --- one sample ---

static void run_alone(tal_ensemble *it, int index, const tali_ensemble_queue *queue, int k)
{
    double *const results = queue->results(queue->context, k);
    const tal_status st = tali_ensemble_sample(it, index, k, results);
    queue->done(queue->context, k, st, &it->lanes[index].why);
}

// Outputs at the times up to where the sample is, from the State itself.
static tal_status read_start(const tal_ensemble *it, seat *at)
{
    const tali_ensemble_lane *const tools = &at->tools;
    const double t = tal_state_t(tools->state);
    tal_status st = TAL_OK;
    for (; at->next < it->def.num_times && !(it->times[at->next] > t) && st == TAL_OK; ++at->next) {
        st = tal_state_copy(tools->report, tools->state);
        if (st == TAL_OK) {
            st =
                tali_ensemble_read(it, tools->report, at->results + at->next * it->def.num_outputs);
        }
    }
    return st;
}

// Outputs at the times within the step that a seat has just taken.
static tal_status read_step(const tal_ensemble *it, const tali_ensemble_block *block, int i)
{
    seat *const at = &block->seats[i];
    const tali_ensemble_lane *const tools = &at->tools;
    const double t = tali_integrator_lanes_t(block->lanes, i);
    if (at->next >= it->def.num_times || it->times[at->next] > t) return TAL_OK;
    tal_status st = tali_integrator_lanes_put(block->lanes, i);
    for (; at->next < it->def.num_times && st == TAL_OK && it->times[at->next] <= t; ++at->next) {
        st = tal_integrator_interpolate(tools->integrator, tools->state, it->times[at->next],
                                        tools->report);
        if (st == TAL_OK) {
            st =
                tali_ensemble_read(it, tools->report, at->results + at->next * it->def.num_outputs);
        }
    }
    return st;
}

static double end_of(const tal_ensemble *it)
{
    return it->def.num_times > 0 ? it->times[it->def.num_times - 1] : it->def.end_time;
}

// Begin sample k in a seat. False when it is better run alone: it fails, or there is nothing to
// step.
static bool sit_down(tal_ensemble *it, tali_ensemble_block *block, int i, int k)
{
    seat *const at = &block->seats[i];
    tali_ensemble_lane *const tools = &at->tools;
    at->next = 0;
    tal_integrator_reset(tools->integrator);
    if (tali_ensemble_start(it, tools, k) != TAL_OK || read_start(it, at) != TAL_OK) return false;
    if (!(end_of(it) > tal_state_t(tools->state))) return false;
    if (tali_integrator_start(tools->integrator, tools->state) != TAL_OK) return false;
    if (!tali_integrator_lanes_seat(block->lanes, i, tools->integrator, tools->state, end_of(it),
                                    it->def.num_times > 0)) {
        return false;
    }
    at->k = k;
    return true;
}

// False when the user wants the run to end, from then on.
static bool proceeds(tal_ensemble *it, int index)
{
    bool *const was_stopped = &it->lanes[index].was_stopped;
    *was_stopped = *was_stopped || (it->def.proceed != NULL && !it->def.proceed(it->def.context));
    return !*was_stopped;
}

// The next sample of the queue that can be run side by side; those that cannot are run at once.
static void fill_seat(tal_ensemble *it, int index, int i, const tali_ensemble_queue *queue)
{
    tali_ensemble_block *const block = it->lanes[index].block;
    block->seats[i].k = -1;
    tali_integrator_lanes_leave(block->lanes, i);
    while (proceeds(it, index)) {
        const int k = queue->next(queue->context);
        if (k < 0) return;
        block->seats[i].results = queue->results(queue->context, k);
        if (sit_down(it, block, i, k)) return;
        run_alone(it, index, queue, k);
    }
}

// A seat has taken a step, or gave up. True when its sample is over.
static bool go_on(tal_ensemble *it, int index, int i, const tali_ensemble_queue *queue)
{
    tali_ensemble_block *const block = it->lanes[index].block;
    seat *const at = &block->seats[i];
    const bool is_over = tali_integrator_lanes_t(block->lanes, i) >= end_of(it);
    bool is_good = tali_integrator_lanes_phase(block->lanes, i) != TALI_LANE_GAVE_UP;
    if (is_good) is_good = read_step(it, block, i) == TAL_OK;
    if (is_good && is_over && it->def.num_times == 0) {
        is_good = tali_integrator_lanes_put(block->lanes, i) == TAL_OK &&
                  tali_ensemble_read(it, at->tools.state, at->results) == TAL_OK;
    }
    if (is_good && !is_over) return false;
    if (is_good) {
        static const tal_error none = {TAL_OK, "", ""};
        ++block->num_done;
        queue->done(queue->context, at->k, TAL_OK, &none);
    } else {
        run_alone(it, index, queue, at->k);
    }
    return true;
}

// --- a queue ---

// The choices of the start hold for all lanes. False when it cannot even be realized.
static bool begin(const tal_ensemble *it, const tali_ensemble_block *block)
{
    tal_state *const state = block->seats[0].tools.state;
    if (tal_state_copy(state, it->start) != TAL_OK ||
        tal_system_realize(it->system, state, TAL_STAGE_INSTANCE) != TAL_OK) {
        return false;
    }
    tali_integrator_lanes_begin(block->lanes, state);
    return true;
}

static bool is_any_seated(const tali_ensemble_block *block)
{
    for (int i = 0; i < block->width; ++i) {
        if (block->seats[i].k >= 0) return true;
    }
    return false;
}

static void run_side_by_side(tal_ensemble *it, int index, const tali_ensemble_queue *queue)
{
    tali_ensemble_block *const block = it->lanes[index].block;
    for (int i = 0; i < block->width; ++i) {
        fill_seat(it, index, i, queue);
    }
    while (is_any_seated(block) && proceeds(it, index)) {
        bool stepped[TALI_MATTER_MOST_LANES];
        tali_integrator_lanes_try(block->lanes, stepped);
        for (int i = 0; i < block->width; ++i) {
            const bool has_news = block->seats[i].k >= 0 && stepped[i];
            if (has_news && go_on(it, index, i, queue)) fill_seat(it, index, i, queue);
        }
    }
    const tali_integrator_lane_use use = tali_integrator_lanes_use(block->lanes);
    block->use.evaluations += use.evaluations;
    block->use.used += use.used;
}

void tali_ensemble_run_queue(tal_ensemble *it, int index, const tali_ensemble_queue *queue)
{
    if (it->lanes[index].block != NULL && begin(it, it->lanes[index].block)) {
        run_side_by_side(it, index, queue);
        return;
    }
    while (proceeds(it, index)) {
        const int k = queue->next(queue->context);
        if (k < 0) return;
        run_alone(it, index, queue, k);
    }
}
