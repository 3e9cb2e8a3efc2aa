// A pool of threads: one piece of work at a time, its tasks taken one by one.
#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/common/threads.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    MAX_THREADS = 1024
};

struct tal_threads {
    pthread_mutex_t owner; // held by the thread that hands out work

    pthread_mutex_t mutex; // guards what follows
    pthread_cond_t wake;   // there is work, or the pool ends
    pthread_cond_t done;   // the last worker has finished
    unsigned long round;   // which piece of work
    int busy;              // workers that have not finished it
    bool stop;
    tal_task_fn task;
    void *work;
    int num_tasks;

    atomic_int next; // the first task not yet taken
    size_t bytes;    // of this block
    int num_workers;
    pthread_t workers[];
};

// Takes tasks until none is left.
static void work_off(tal_threads *pool, tal_task_fn task, void *work, int num_tasks)
{
    for (int i = atomic_fetch_add(&pool->next, 1); i < num_tasks;
         i = atomic_fetch_add(&pool->next, 1)) {
        task(work, i);
    }
}

static void *serve_tasks(void *argument)
{
    tal_threads *pool = argument;
    unsigned long seen = 0;
    (void)pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stop && pool->round == seen) {
            (void)pthread_cond_wait(&pool->wake, &pool->mutex);
        }
        if (pool->stop) break;
        seen = pool->round;
        const tal_task_fn task = pool->task;
        void *work = pool->work;
        const int num_tasks = pool->num_tasks;
        (void)pthread_mutex_unlock(&pool->mutex);
        work_off(pool, task, work, num_tasks);
        (void)pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0) (void)pthread_cond_signal(&pool->done);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

// The executor of a pool: hand out the tasks, take part in them, wait for the last.
static void run_on_pool(void *context, tal_task_fn task, void *work, int num_tasks)
{
    tal_threads *pool = context;
    if (pthread_mutex_trylock(&pool->owner) != 0) {
        tal_executor_in_order().run(NULL, task, work, num_tasks);
        return;
    }
    (void)pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->work = work;
    pool->num_tasks = num_tasks;
    pool->busy = pool->num_workers;
    atomic_store(&pool->next, 0);
    ++pool->round;
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->mutex);

    work_off(pool, task, work, num_tasks);
    (void)pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0) {
        (void)pthread_cond_wait(&pool->done, &pool->mutex);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    (void)pthread_mutex_unlock(&pool->owner);
}

tal_status tal_threads_create(int n, tal_threads **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (n < 1 || n > MAX_THREADS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "a pool cannot have %d threads; 1 to %d are possible", n, MAX_THREADS);
    }
    const tal_allocator allocator = tal_allocator_default();
    const size_t bytes = sizeof(tal_threads) + (size_t)n * sizeof(pthread_t);
    tal_threads *pool = tali_alloc(&allocator, bytes);
    if (pool == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a pool of threads");
    pool->bytes = bytes;
    (void)pthread_mutex_init(&pool->owner, NULL);
    (void)pthread_mutex_init(&pool->mutex, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    (void)pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->next, 0);
    // the caller of run() is one of the n
    while (pool->num_workers < n - 1 &&
           pthread_create(&pool->workers[pool->num_workers], NULL, serve_tasks, pool) == 0) {
        ++pool->num_workers;
    }
    if (pool->num_workers < n - 1) {
        const int started = pool->num_workers;
        tal_threads_destroy(pool);
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "only %d of %d threads could be started",
                         started + 1, n);
    }
    *out = pool;
    return TAL_OK;
}

void tal_threads_destroy(tal_threads *threads)
{
    if (threads == NULL) return;
    (void)pthread_mutex_lock(&threads->mutex);
    threads->stop = true;
    (void)pthread_cond_broadcast(&threads->wake);
    (void)pthread_mutex_unlock(&threads->mutex);
    for (int i = 0; i < threads->num_workers; ++i) {
        (void)pthread_join(threads->workers[i], NULL);
    }
    (void)pthread_cond_destroy(&threads->done);
    (void)pthread_cond_destroy(&threads->wake);
    (void)pthread_mutex_destroy(&threads->mutex);
    (void)pthread_mutex_destroy(&threads->owner);
    const tal_allocator allocator = tal_allocator_default();
    tali_free(&allocator, threads, threads->bytes);
}

tal_executor tal_threads_executor(tal_threads *threads)
{
    if (threads != NULL) return (tal_executor){run_on_pool, threads};
    (void)TALI_BREACH(TAL_ERR_NULL, "the pool is NULL");
    return tal_executor_in_order();
}
