// Runs of an ensemble: samples shared by lanes.
#include "ensemble/ensemble_internal.h"

#include <stdatomic.h>

// Where the results of a run go. Lanes take samples from one counter, a few at a time.
typedef struct sharing {
    tal_ensemble *ensemble;
    double *results;
    tal_status *status;
    tal_error *why;
    int n, at_once;
    atomic_int next;
    atomic_int failed;      // the lowest sample that failed; n: none
    atomic_flag busy;       // with the next
    tal_error first_reason; // of that sample
} sharing;

// Keep the sentence of the lowest sample that failed.
static void note_failure(sharing *it, int k, const tal_error *why)
{
    while (atomic_flag_test_and_set(&it->busy)) {}
    if (k < atomic_load(&it->failed)) {
        atomic_store(&it->failed, k);
        it->first_reason = *why;
    }
    atomic_flag_clear(&it->busy);
}

// What one lane has taken of the counter: samples next ... end - 1.
typedef struct taken {
    sharing *all;
    int next, end;
} taken;

static int next_of_all(void *context)
{
    taken *const mine = context;
    sharing *const it = mine->all;
    if (mine->next < mine->end) return mine->next++;
    const int first = atomic_fetch_add(&it->next, it->at_once);
    if (first >= it->n) return -1;
    mine->end = it->n - first < it->at_once ? it->n : first + it->at_once;
    mine->next = first + 1;
    return first;
}

static double *results_of_all(void *context, int k)
{
    const sharing *const it = ((const taken *)context)->all;
    return it->results + (size_t)k * (size_t)it->ensemble->row_size;
}

static void done_of_all(void *context, int k, tal_status st, const tal_error *why)
{
    sharing *const it = ((taken *)context)->all;
    if (it->status != NULL) it->status[k] = st;
    if (it->why != NULL) it->why[k] = *why;
    if (st != TAL_OK) note_failure(it, k, why);
}

static void run_lane(void *work, int lane)
{
    taken mine = {.all = work};
    const tali_ensemble_queue queue = {next_of_all, results_of_all, done_of_all, &mine};
    tali_ensemble_run_queue(mine.all->ensemble, lane, &queue);
}

static tal_status tell_failure(tal_ensemble *it, int k, const tal_error *why)
{
    return TALI_FAIL(&it->error_record, why->status, "sample %d: %.200s", k, why->message);
}

static tal_status begin_run(tal_ensemble *it, const tal_state *start, const tal_design *design)
{
    it->error_record = (tal_error){TAL_OK, "", ""};
    if (tal_state_structure_hash(start) != tal_system_structure_hash(it->system)) {
        return TALI_BREACH(TAL_ERR_WRONG_SYSTEM, "the State belongs to another System");
    }
    const tal_status st = tal_design_check(design, &it->error_record);
    if (st != TAL_OK) return st;
    if (design->num_parameters != it->def.num_parameters) {
        return TALI_FAIL(&it->error_record, TAL_ERR_BAD_VALUE,
                         "the design has %d parameters, the ensemble %d", design->num_parameters,
                         it->def.num_parameters);
    }
    it->start = start;
    it->design = design;
    for (int i = 0; i < it->def.lanes; ++i) {
        it->lanes[i].num_alone = 0;
        it->lanes[i].was_stopped = false;
        if (it->lanes[i].block != NULL) tali_ensemble_block_forget(it->lanes[i].block);
    }
    return TAL_OK;
}

// What is there of samples that are not run, if the run may be stopped.
static void fill_not_run(const tal_ensemble *it, int n, double results[], tal_status status[],
                         tal_error why[])
{
    const size_t numbers = (size_t)n * (size_t)it->row_size;
    for (size_t i = 0; i < numbers; ++i) {
        results[i] = TALI_NAN;
    }
    for (int k = 0; k < n && status != NULL; ++k) {
        status[k] = TAL_RETRY;
    }
    for (int k = 0; k < n && why != NULL; ++k) {
        why[k] = (tal_error){TAL_RETRY, "tal_ensemble_run", "the run was stopped before"};
    }
}

static bool was_stopped(const tal_ensemble *it)
{
    for (int i = 0; i < it->def.lanes; ++i) {
        if (it->lanes[i].was_stopped) return true;
    }
    return false;
}

tal_status tal_ensemble_run(tal_ensemble *ensemble, const tal_state *start,
                            const tal_design *design, double results[], tal_status status[],
                            tal_error why[])
{
    if (ensemble == NULL || start == NULL || design == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_status st = begin_run(ensemble, start, design);
    if (st != TAL_OK) return st;
    const int n = design->num_samples, lanes = ensemble->def.lanes;
    if (results == NULL && n > 0) return TALI_BREACH(TAL_ERR_NULL, "'results' is NULL");
    if (ensemble->def.proceed != NULL) fill_not_run(ensemble, n, results, status, why);
    const int share = n / (16 * lanes);
    sharing it = {.ensemble = ensemble,
                  .results = results,
                  .status = status,
                  .why = why,
                  .n = n,
                  .at_once = share < 1    ? 1
                             : share > 64 ? 64
                                          : share,
                  .busy = ATOMIC_FLAG_INIT};
    atomic_init(&it.next, 0);
    atomic_init(&it.failed, n);
    const tal_executor *const executor = &ensemble->executor;
    executor->run(executor->context, run_lane, &it, lanes);
    if (atomic_load(&it.failed) < n) {
        (void)tell_failure(ensemble, atomic_load(&it.failed), &it.first_reason);
    }
    return was_stopped(ensemble) ? TAL_RETRY : TAL_OK;
}

// The samples of a chunk.
typedef struct chunk {
    int row_size, first, next, end;
    double *results;
    tal_status *status;
    tal_error *why;
} chunk;

static int next_of_chunk(void *context)
{
    chunk *const it = context;
    return it->next < it->end ? it->next++ : -1;
}

static double *results_of_chunk(void *context, int k)
{
    const chunk *const it = context;
    return it->results + (size_t)(k - it->first) * (size_t)it->row_size;
}

static void done_of_chunk(void *context, int k, tal_status st, const tal_error *why)
{
    const chunk *const it = context;
    it->status[k - it->first] = st;
    it->why[k - it->first] = *why;
}

static tal_status run_chunk(void *context, int lane, int first, int n, double results[],
                            tal_status status[], tal_error why[])
{
    tal_ensemble *const it = context;
    chunk samples = {it->row_size, first, first, first + n, results, status, why};
    const tali_ensemble_queue queue = {next_of_chunk, results_of_chunk, done_of_chunk, &samples};
    tali_ensemble_run_queue(it, lane, &queue);
    return it->lanes[lane].was_stopped ? TAL_RETRY : TAL_OK;
}

tal_status tal_ensemble_run_batch(tal_ensemble *ensemble, const tal_state *start,
                                  const tal_design *design, tal_batch *batch)
{
    if (ensemble == NULL || start == NULL || design == NULL || batch == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_status st = begin_run(ensemble, start, design);
    if (st != TAL_OK) return st;
    const int row = tal_batch_row_size(batch), n = tal_batch_num_samples(batch);
    if (row != ensemble->row_size || n != design->num_samples) {
        return TALI_FAIL(&ensemble->error_record, TAL_ERR_BAD_VALUE,
                         "the batch has %d samples of %d numbers, the ensemble %d of %d", n, row,
                         design->num_samples, ensemble->row_size);
    }
    return tal_batch_go(batch, run_chunk, ensemble, ensemble->def.lanes, &ensemble->executor);
}
