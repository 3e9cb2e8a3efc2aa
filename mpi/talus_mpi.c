// The program `talus` in several processes: mpirun -n 64 talus sweep ... -o FILE.
//
// Chunks of samples come from a counter in the memory of the first process, which the others
// advance without its help (one-sided communication): there is no process that only shares out
// work. Results go through files (FILE.run), so that nothing is sent, and what a process did is
// there when it is lost. Commands other than sweep are run by the first process alone.
#include "command_line/team.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>

// What is in the window of the first process.
enum {
    CHUNKS,  // the next one
    SAMPLES, // that are done
    NUM_COUNTERS
};

typedef struct talk {
    MPI_Win window;
    pthread_mutex_t busy; // MPI is called by one thread at a time
} talk;

// Add to a counter of the first process: what it was before.
static int advance(talk *it, int which, int more)
{
    int before = 0;
    (void)pthread_mutex_lock(&it->busy);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, it->window);
    MPI_Fetch_and_op(&more, &before, MPI_INT, 0, which, MPI_SUM, it->window);
    MPI_Win_unlock(0, it->window);
    (void)pthread_mutex_unlock(&it->busy);
    return before;
}

static int next_chunk(void *context)
{
    return advance(context, CHUNKS, 1);
}

static int count_samples(void *context, int more)
{
    return advance(context, SAMPLES, more) + more;
}

static void add_up(void *context, double numbers[], int n)
{
    (void)context;
    MPI_Allreduce(MPI_IN_PLACE, numbers, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

// The program as a part of a team. An exit code.
static int run_together(int argc, const char *const argv[], int rank, int size)
{
    talk it;
    int *counters = NULL;
    const MPI_Aint bytes = rank == 0 ? NUM_COUNTERS * (MPI_Aint)sizeof *counters : 0;
    (void)pthread_mutex_init(&it.busy, NULL);
    MPI_Win_allocate(bytes, sizeof *counters, MPI_INFO_NULL, MPI_COMM_WORLD, &counters, &it.window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, it.window);
    if (rank == 0) memset(counters, 0, (size_t)bytes);
    MPI_Win_unlock(rank, it.window);
    MPI_Barrier(MPI_COMM_WORLD);
    const cli_team team = {rank, size, next_chunk, count_samples, add_up, &it};
    const int code = cli_main_in_team(argc, argv, &team);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&it.window);
    (void)pthread_mutex_destroy(&it.busy);
    return code;
}

int main(int argc, char *argv[])
{
    int provided = 0, rank = 0, size = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *const *const words = (const char *const *)argv;
    const bool is_shared = size > 1 && argc > 1 && strcmp(argv[1], "sweep") == 0;
    int code = CLI_OK;
    if (is_shared && provided < MPI_THREAD_SERIALIZED) {
        (void)fputs("talus: this MPI cannot be called by threads.\n", stderr);
        code = CLI_FAILED;
    } else if (is_shared) {
        code = run_together(argc, words, rank, size);
    } else if (rank == 0) {
        code = cli_main(argc, words);
    }
    MPI_Finalize();
    return code;
}
