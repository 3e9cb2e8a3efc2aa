// Progress bars and Ctrl-C.
#include "text/progress.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void cli_catch_interrupts(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    action.sa_flags = (int)SA_RESETHAND; // a second Ctrl-C ends the program at once
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_is_interrupted(void)
{
    return interrupted != 0;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *p, const cli_args *args, const char *unit, bool is_time, double first,
                    double last)
{
    memset(p, 0, sizeof *p);
    p->is_quiet = cli_flag(args, "quiet");
    p->is_terminal = isatty(STDERR_FILENO) != 0;
    p->unit = unit;
    p->is_time = is_time;
    p->first = first;
    p->last = last;
    p->started = p->printed = cli_clock();
    atomic_flag_clear(&p->busy);
}

static void print_bar(progress *p, double share)
{
    enum {
        WIDTH = 30
    };

    char bar[WIDTH + 1];
    const int filled = (int)(share * WIDTH + 0.5);
    for (int i = 0; i < WIDTH; ++i) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[WIDTH] = 0;
    fprintf(stderr, "\r[%s] ", bar);
    p->has_bar = true;
}

// "3.2 of 10 s, 12 times real time, 0.6 s left"
static void print_place(const progress *p, double now, double elapsed)
{
    const double done = now - p->first, left = p->last - now;
    fprintf(stderr, "%.4g of %.4g %s", now, p->last, p->unit);
    if (p->is_time && elapsed > 0.0) fprintf(stderr, ", %.3g times real time", done / elapsed);
    if (done > 0.0) fprintf(stderr, ", %.3g s left", elapsed * left / done);
}

bool progress_tell(progress *p, double now)
{
    if (interrupted != 0) return false;
    if (p->is_quiet) return true;
    const double clock = cli_clock();
    const double pause = p->is_terminal ? 0.1 : 2.0;
    if (atomic_flag_test_and_set(&p->busy)) return true;
    if (clock - p->printed >= pause) {
        const double share = p->last > p->first ? (now - p->first) / (p->last - p->first) : 1.0;
        if (p->is_terminal) print_bar(p, share);
        print_place(p, now, clock - p->started);
        fputs(p->is_terminal ? "\033[K" : "\n", stderr);
        p->printed = clock;
    }
    atomic_flag_clear(&p->busy);
    return true;
}

void progress_end(progress *p, double now)
{
    if (p->is_quiet) return;
    const double elapsed = cli_clock() - p->started;
    if (p->has_bar) fputs("\r\033[K", stderr);
    fprintf(stderr, "%.6g %s in %.3g s", now - p->first, p->unit, elapsed);
    if (p->is_time && elapsed > 0.0) {
        fprintf(stderr, ", %.3g times real time", (now - p->first) / elapsed);
    }
    fputc('\n', stderr);
}
