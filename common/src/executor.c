// The executor that needs no threads.
#include <talus/common/executor.h>

#include <stddef.h>

static void run_in_order(void *context, tal_task_fn task, void *work, int num_tasks)
{
    (void)context;
    for (int i = 0; i < num_tasks; ++i) {
        task(work, i);
    }
}

tal_executor tal_executor_in_order(void)
{
    return (tal_executor){run_in_order, NULL};
}
