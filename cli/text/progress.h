// How a run is getting on: a bar on a terminal, a line now and then elsewhere; and Ctrl-C.
#ifndef TALUS_CLI_PROGRESS_H
#define TALUS_CLI_PROGRESS_H

#include "cli.h"

#include <stdatomic.h>

typedef struct progress {
    bool is_quiet, is_terminal;
    const char *unit;        // of what is counted, e.g. "s"
    bool is_time;            // it is: tell the speed against real time
    double first, last;      // where it begins and ends
    double started, printed; // [s] on the wall clock
    bool has_bar;            // one is on the screen
    atomic_flag busy;        // a thread is printing
} progress;

// Begin. All go to stderr; nothing is printed with --quiet.
void progress_begin(progress *p, const cli_args *args, const char *unit, bool is_time, double first,
                    double last);
// Say where it is, from any thread. False when the user wants it to end.
bool progress_tell(progress *p, double now);
// Take the bar away and say how long it took.
void progress_end(progress *p, double now);

// From here on Ctrl-C (and SIGTERM) asks for a clean end; a second one ends the program at once.
void cli_catch_interrupts(void);
bool cli_is_interrupted(void);

// Seconds on a clock that only goes forward.
double cli_clock(void);

#endif // TALUS_CLI_PROGRESS_H
