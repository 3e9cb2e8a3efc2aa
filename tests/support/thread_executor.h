// An executor that runs tasks on threads it starts for the occasion.
#ifndef TALUS_THREAD_EXECUTOR_H
#define TALUS_THREAD_EXECUTOR_H

#include <talus/common/executor.h>

#include <pthread.h>
#include <stdatomic.h>

enum {
    MAX_THREADS = 8
};

/// How many threads, the one that calls included; the context of the executor.
typedef struct thread_count {
    int n;
} thread_count;

typedef struct thread_work {
    tal_task_fn task;
    void *work;
    int num_tasks;
    atomic_int next;
} thread_work;

static inline void *thread_help(void *argument)
{
    thread_work *all = argument;
    for (int i = atomic_fetch_add(&all->next, 1); i < all->num_tasks;
         i = atomic_fetch_add(&all->next, 1)) {
        all->task(all->work, i);
    }
    return NULL;
}

/// tal_executor.run: whoever is free takes the next task.
static inline void thread_run(void *context, tal_task_fn task, void *work, int num_tasks)
{
    const thread_count *threads = context;
    thread_work all = {.task = task, .work = work, .num_tasks = num_tasks};
    pthread_t helpers[MAX_THREADS];
    int started = 0;
    atomic_init(&all.next, 0);
    while (started < threads->n - 1 &&
           pthread_create(&helpers[started], NULL, thread_help, &all) == 0) {
        ++started;
    }
    (void)thread_help(&all);
    for (int i = 0; i < started; ++i) {
        (void)pthread_join(helpers[i], NULL);
    }
}

#endif // TALUS_THREAD_EXECUTOR_H
