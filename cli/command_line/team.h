// Processes that work on one command together. A program that starts them (mpi/) says how they talk
// to each other; without one, a process is alone.
#ifndef TALUS_CLI_TEAM_H
#define TALUS_CLI_TEAM_H

#include "cli.h"

// How a process talks to the others. All functions but `next` and `count` are called by all of
// them, in the same order, on the thread that entered cli_main_in_team().
typedef struct cli_team {
    int rank, size;
    int (*next)(void *context); // of one counter for all, from 0; from any thread
    // Add to one sum for all, and get it; from any thread.
    int (*count)(void *context, int more);
    // Each number becomes its sum over all processes.
    void (*add_up)(void *context, double numbers[], int n);
    void *context;
} cli_team;

// The program as a part of a team.
int cli_main_in_team(int argc, const char *const argv[], const cli_team *team);

// Is this process the first one, or alone? It writes results.
bool team_is_first(const cli_args *args);
// Is it alone?
bool team_is_alone(const cli_args *args);

// What all make of an exit code: its own, or CLI_FAILED where another process has failed.
int team_agree(const cli_args *args, int code);
// Each number becomes its sum over all processes.
void team_add_up(const cli_args *args, double numbers[], int n);

#endif // TALUS_CLI_TEAM_H
