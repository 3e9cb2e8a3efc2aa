// hostile [NAME | --write]: calls every public function with arguments that no caller should give,
// and with right ones between them: NULL, Ground, indices out of range, zero-filled definitions,
// definitions with one bad field, States of another System and below the stage that is needed, NaN,
// infinities, huge numbers. NAME: only functions whose names contain it.
//
// The calls are written by hostile_calls.awk from the headers. No call may crash, hang, return
// success after a broken contract, or leave a NaN where it says that all is well. Each function has
// a process of its own, so one crash does not hide the next. First every parameter takes each of
// its values while the others are right; then all of them take values at random, seeded. TALUS_SOAK
// takes more. Which values were taken and which refused is compared with hostile_answers.txt;
// hostile --write stores it. The worlds are in hostile.c, the values in hostile_values.c.
#include "hostile_answers.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_WRITTEN = 16,
    NOTE_BYTES = 2048,
    ANSWER_BYTES = 8192
};

// What the watching process reads after a crash.
typedef struct shared_page {
    long calls;
    long steps;
    char note[NOTE_BYTES];
    char answers[ANSWER_BYTES]; // of the function, as hostile_answers.h has them
} shared_page;

static shared_page *shared;
static double *written[MAX_WRITTEN]; // arrays that the call may write
static int num_written;
static int breaches;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool answers_count = false; // calls that ask for much memory are not refused
#else
static const bool answers_count = true;
#endif
static bool is_refused; // the call that was made last

// --- noting what is chosen ---

__attribute__((format(printf, 2, 3))) static void note(hostile_draw *d, const char *fmt, ...)
{
    const size_t used = strlen(d->note);
    if (used + 1 >= NOTE_BYTES) return;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(d->note + used, NOTE_BYTES - used, fmt, args);
    va_end(args);
}

int hostile_pick(hostile_draw *d, int n)
{
    if (d->picks == MAX_PICKS) return 0;
    d->values[d->picks] = n;
    const int chosen = d->choice[d->picks++] % n;
    note(d, " %d", chosen);
    return chosen;
}

void hostile_count_breach(const tal_error *breach)
{
    (void)breach;
    ++breaches;
}

void hostile_note(hostile_draw *d, const char *field)
{
    note(d, "(%s)", field);
}

void hostile_will_write(hostile_draw *d, double *array)
{
    (void)d;
    if (num_written < MAX_WRITTEN) written[num_written++] = array;
}

void hostile_begin(hostile_draw *d)
{
    (void)d;
    breaches = 0;
}

void hostile_end(hostile_draw *d)
{
    d->breaches = breaches;
    is_refused = breaches > 0;
    (void)tal_contract_set_handler(hostile_count_breach);
}

__attribute__((noreturn)) static void wrong(hostile_draw *d, const char *why)
{
    note(d, ": %s", why);
    _exit(3);
}

// --- judging ---

static void judge_written(hostile_draw *d)
{
    if (d->not_tame) return;
    for (int k = 0; k < num_written; ++k) {
        for (int i = 0; i < ARRAY_DOUBLES; ++i) {
            if (isnan(written[k][i])) wrong(d, "says TAL_OK and leaves a NaN");
        }
    }
}

void judge_status(hostile_draw *d, tal_status status)
{
    is_refused = is_refused || status != TAL_OK;
    if (strncmp(tal_status_name(status), "TAL_", 4) != 0) wrong(d, "returns no status");
    if (d->breaches > 0 && status == TAL_OK) wrong(d, "returns TAL_OK after a breach");
    if (status == TAL_OK) judge_written(d);
}

void judge_double(hostile_draw *d, double x)
{
    is_refused = is_refused || isnan(x);
    if (d->breaches > 0 && !isnan(x)) wrong(d, "returns a number after a breach");
}

void judge_int(hostile_draw *d, int i)
{
    is_refused = is_refused || i < 0;
    if (d->breaches > 0 && i > 0) wrong(d, "returns an index or a size after a breach");
}

void judge_string(hostile_draw *d, const char *text)
{
    (void)d;
    if (text != NULL) (void)strlen(text);
}

void judge_pointer(hostile_draw *d, const void *p)
{
    (void)d;
    is_refused = is_refused || p == NULL;
}

void keep_tal_system(hostile_draw *d, tal_system *system)
{
    (void)d;
    tal_system_destroy(system);
}

void keep_tal_matter(hostile_draw *d, tal_matter *matter)
{
    judge_pointer(d, matter);
}

void keep_tal_forces(hostile_draw *d, tal_forces *forces)
{
    judge_pointer(d, forces);
}

void keep_tal_contacts(hostile_draw *d, tal_contacts *contacts)
{
    judge_pointer(d, contacts);
}

void keep_tal_fixed_memory(hostile_draw *d, tal_fixed_memory *memory)
{
    judge_pointer(d, memory);
}

void keep_tal_events(hostile_draw *d, tal_events *events)
{
    judge_pointer(d, events);
}

void keep_tal_table(hostile_draw *d, tal_table *table)
{
    (void)d;
    tal_table_destroy(table);
}

void keep_tal_diagnostics(hostile_draw *d, tal_diagnostics *list)
{
    (void)d;
    tal_diagnostics_destroy(list);
}

// --- running ---

// A System that took what it was given must work with it, or say what is wrong.
static void try_out(hostile_draw *d, tal_system *system)
{
    tal_error err;
    tal_state *state = NULL;
    breaches = 0;
    if (tal_system_error(system)->status == TAL_OK &&
        tal_system_realize_topology(system, &err) == TAL_OK &&
        tal_state_create(system, &state, &err) == TAL_OK &&
        tal_system_realize(system, state, TAL_STAGE_REPORT) == TAL_OK) {
        const double *ydot = tal_state_ydot(state);
        const bool has_owner = strstr(d->note, "add_group") == NULL; // who would fill in rates?
        for (int i = 0; i < tal_state_ny(state) && has_owner && !d->not_tame; ++i) {
            if (isnan(ydot[i])) wrong(d, "is accepted, and the State has NaN rates");
        }
        if (tal_system_begin_step(system, state) == TAL_OK) ++shared->steps;
    }
    tal_state_destroy(state);
}

static void make_call(const hostile_call *call, hostile_draw *d)
{
    memset(d->values, 0, sizeof d->values);
    d->picks = d->breaches = d->arrays = d->states = d->texts = 0;
    d->not_tame = false;
    d->mood = FUNCTIONS_WORK;
    hostile_functions_work();
    num_written = 0;
    (void)snprintf(d->note, NOTE_BYTES, "%s", call->name);
    ++shared->calls;
    call->run(d);
    tal_system *built = hostile_take_building();
    if (built != NULL && !call->destroys) {
        try_out(d, built);
        tal_system_destroy(built);
    }
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Note what became of a call in which only pick number `k` was hostile: a letter behind the name of
// the parameter, or of the field of a struct that was changed.
static void note_answer(const hostile_draw *d, int k, char last[NOTE_BYTES])
{
    char key[NOTE_BYTES];
    const char *field = strrchr(d->note, '(');
    (void)snprintf(key, sizeof key, " %d%.*s:", k, field != NULL ? (int)strcspn(field, ")") : 0,
                   field != NULL ? field : "");
    const size_t used = strlen(shared->answers);
    if (used + strlen(key) + 2 > ANSWER_BYTES) hostile_stop("a function has too many answers");
    (void)snprintf(shared->answers + used, ANSWER_BYTES - used, "%s%c",
                   strcmp(key, last) != 0 ? key : "", is_refused ? HOSTILE_REFUSED : HOSTILE_TAKEN);
    memcpy(last, key, sizeof key);
}

// A call with one parameter changed; it stays changed when this is what the call needed.
static bool helps(const hostile_call *call, hostile_draw *d, int k, int i)
{
    const int before = d->choice[k];
    d->choice[k] = i;
    make_call(call, d);
    if (is_refused) d->choice[k] = before;
    return !is_refused;
}

// Right values, from which others are changed: where a study cannot be created from those that the
// world offers first, because it is for Systems without contact, say, the first single change with
// which it can. `values` is how many there are of each; returns the number of parameters.
static int find_base(const hostile_call *call, hostile_draw *d, int values[MAX_PICKS])
{
    make_call(call, d);
    const int picks = d->picks;
    memcpy(values, d->values, MAX_PICKS * sizeof values[0]);
    bool found = !is_refused || strstr(call->name, "_create") == NULL;
    for (int k = 0; k < picks && !found; ++k) {
        for (int i = 1; i < values[k] && !found; ++i) {
            found = helps(call, d, k, i);
        }
    }
    return picks;
}

// One parameter after the other takes each of its values; then all take values at random.
static void all_calls(const hostile_call *call, int random_calls)
{
    hostile_draw d = {.note = shared->note};
    if (call->destroys) {
        d.choice[0] = 1;
        make_call(call, &d);
        d.choice[0] = 0;
        make_call(call, &d);
        return; // what the world has lost may not be used again
    }
    int values[MAX_PICKS], base[MAX_PICKS];
    const int picks = find_base(call, &d, values);
    memcpy(base, d.choice, sizeof base);
    char last[NOTE_BYTES] = "";
    for (int k = 0; k < picks; ++k) {
        for (int i = 0; i < values[k]; ++i) {
            if (i == base[k]) continue;
            memcpy(d.choice, base, sizeof base);
            d.choice[k] = i;
            make_call(call, &d);
            note_answer(&d, k, last);
        }
    }
    uint64_t seed = 15;
    for (int i = 0; i < (picks > 1 ? random_calls : 0); ++i) {
        for (int k = 0; k < picks; ++k) {
            const uint64_t bits = next_random(&seed);
            d.choice[k] = bits % 3 != 0 ? base[k] : (int)((bits >> 8) % (unsigned)values[k]);
        }
        make_call(call, &d);
    }
}

// A call that asks for more memory than this gets none. The address sanitizer, which reserves far
// more for itself, is told by its options (tests/CMakeLists.txt).
static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
#endif
}

// A call hangs when it computes for longer than this; one that waits has ten times as long, since
// other processes may be busy.
static void limit_time(unsigned seconds)
{
    const struct rlimit limit = {(rlim_t)seconds, (rlim_t)seconds + 1};
    if (setrlimit(RLIMIT_CPU, &limit) != 0) _exit(2);
    (void)alarm(10 * seconds);
}

// Run a function's calls in a process of its own. Returns whether all is well.
static bool watch(const hostile_call *call, int random_calls, unsigned seconds)
{
    shared->note[0] = shared->answers[0] = '\0';
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        limit_memory();
        limit_time(seconds);
        all_calls(call, random_calls);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) hostile_stop("no process");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return !answers_count || hostile_answers_are_as_before(call->name, shared->answers);
    }
    (void)printf("%s", shared->note);
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const bool hangs = signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL;
        (void)printf(": %s\n", hangs ? "hangs" : "crashes");
    } else {
        (void)printf("\n");
    }
    return false;
}

// Remove the folder that calls have written to, and their files.
static void remove_folder(const char *folder)
{
    DIR *all = opendir(folder);
    for (const struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
        (void)remove(entry->d_name); // this is the working folder
    }
    if (all != NULL) (void)closedir(all);
    (void)rmdir(folder);
}

int main(int argc, char **argv)
{
    const bool writes = argc > 1 && strcmp(argv[1], "--write") == 0;
    const char *part = argc > 1 && !writes ? argv[1] : "";
    const bool soak = getenv("TALUS_SOAK") != NULL;
    char folder[] = "/tmp/talus_hostile_XXXXXX"; // some calls write files
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) hostile_stop("no folder");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) hostile_stop("no memory");
    hostile_make_worlds();
    if (breaches > 0) hostile_stop(tal_contract_last()->message);
    hostile_answers_begin(writes);
    int functions = 0, failures = 0;
    for (const hostile_call *call = hostile_calls; call->name != NULL; ++call) {
        if (strstr(call->name, part) == NULL) continue;
        ++functions;
        failures += watch(call, soak ? 5000 : 20, soak ? 600 : 30) ? 0 : 1;
    }
    hostile_answers_end();
    remove_folder(folder);
    (void)printf("%d functions, %ld calls, %d failures\n", functions, shared->calls, failures);
    return functions > 0 && failures == 0 ? 0 : 1;
}
