// Tests of whole commands while memory runs out: the n-th request of a command fails, alone or with
// all that follow. The command then either reports it and ends with a code other than 0, or its
// result is the same as with enough memory, bit for bit. It never crashes, leaves no file behind,
// and an old result stays complete.
//
// Each trial is a process of its own, forked from here. A stride of requests is tried; all of them
// with TALUS_SOAK=1.
#include "cli.h"
#include "heap_fault.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_WORDS = 16,
    MOST_POINTS = 16, // of a command, where not all requests are tried
    FEW_POINTS = 4,   // of a command that takes a tenth of a second
    SECONDS = 60      // more than any of the commands takes
};

// A command line; what it writes, if it does, is a file that begins with "out". Tools of OpenSim
// write several files into the folder "out"; one of them is compared.
typedef struct line {
    const char *words[MAX_WORDS];
    const char *out;  // NULL: nothing
    bool is_new;      // the file must not be there before
    bool reuses;      // freed memory is used again: ARKODE relies on it (arkode.c)
    bool is_unsteady; // what it prints is a time
    bool is_slow;     // few requests are tried
} line;

#define HELD  "held.talus", "-q", "-e", "0.05"
#define ATOMS "formamide.prmtop", "formamide.inpcrd"
#define LEG   "leg.osim", "angles.mot", "-q"

static const line lines[] = {
    {.words = {"help", "simulate"}},
    {.words = {"help", "--man"}},
    {.words = {"version", "--json"}},
    {.words = {"template", "-o", "out.talus"}, .out = "out.talus", .is_new = true},
    {.words = {"info", "four_bar.talus"}},
    {.words = {"info", "--json", "arm.urdf"}},
    {.words = {"check", "held.talus"}},
    {.words = {"check", "four_bar.talus", "--json"}},
    {.words = {"bench", "held.talus", "--seconds", "0.001"}, .is_unsteady = true},
    {.words = {"simulate", HELD, "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"simulate", HELD, "-c", "q,wave", "-s", "mass=3", "-o", "out.npz"},
     .out = "out.npz"},
    {.words = {"simulate", HELD}},
    {.words = {"simulate", HELD, "--json"}},
    {.words = {"simulate", "stone.talus", "-q", "-e", "2", "-o", "out.csv"}, .out = "out.csv"},
    {.words = {"simulate", "four_bar.talus", "-q", "-e", "0.02", "-o", "out.mot"},
     .out = "out.mot"},
    {.words = {"simulate", HELD, "-i", "cvode-bdf", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"simulate", HELD, "-i", "cvode-adams", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"simulate", HELD, "-i", "ida", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"simulate", HELD, "-i", "arkode", "-o", "out.sto"},
     .out = "out.sto",
     .reuses = true},
    {.words = {"simulate", HELD, "-i", "arkode-dirk", "-o", "out.sto"},
     .out = "out.sto",
     .reuses = true},
    {.words = {"assemble", "open_loop.talus", "-q", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"assemble", "open_loop.talus", "-o", "out.talus"}, .out = "out.talus"},
    {.words = {"equilibrium", "held.talus", "-o", "out.csv"}, .out = "out.csv"},
    {.words = {"modes", "held.talus", "--at-rest", "-o", "out.csv"}, .out = "out.csv"},
    {.words = {"modes", "held.talus"}},
    {.words = {"ik", "seen.talus", "frames.trc", "-q", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"id", "held.talus", "motion.sto", "-q", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"sweep", HELD, "-v", "mass=1:2:2", "-v", "arm.q0=0:1:2", "-o", "out.csv"},
     .out = "out.csv"},
    {.words = {"sweep", HELD, "-v", "arm.mass=1:2", "-n", "3"}},
    {.words = {"plot", "motion.sto", "-o", "out.svg"}, .out = "out.svg"},
    {.words = {"plot", "motion.sto", "-c", "arm.q0"}},
    {.words = {"plot", "motion.sto", "motion.sto", "--degrees", "-o", "out.png"}, .out = "out.png"},
    {.words = {"plot", "motion.sto", "--x", "arm.q0", "-o", "out.pdf"}, .out = "out.pdf"},
    {.words = {"show", "motion.sto"}},
    {.words = {"show", "motion.sto", "--json"}},
    {.words = {"convert", "motion.sto", "-o", "out.csv"}, .out = "out.csv"},
    {.words = {"convert", "held.talus", "-o", "out.talus"}, .out = "out.talus"},
    {.words = {"convert", "arm.urdf", "-o", "out.talus"}, .out = "out.talus"},
    {.words = {"rerun", "motion.sto"}},
    {.words = {"rerun", "motion.sto", "-q", "-o", "out.csv"}, .out = "out.csv"},
    {.words = {"simulate", HELD, "--formulation", "hybrid", "-o", "out.sto"}, .out = "out.sto"},
    {.words = {"simulate", "slope.talus", "-q", "-e", "0.02", "--stepper", "contact", "-o",
               "out.sto"},
     .out = "out.sto"},
    {.words = {"simulate", "rocking_block.talus", "-q", "-e", "0.1", "-o", "out.sto", "--events",
               "aside/events.csv"},
     .out = "out.sto"},
    {.words = {"sensitivities", "block.talus", "-q", "-p", "k", "-p", "block.q0", "-e", "0.1",
               "--every", "0.05", "-o", "out.sto"},
     .out = "out.sto"},
    {.words = {"fit", "block.talus", "measured.sto", "-p", "k", "-p", "block.q0", "-o",
               "out.talus"},
     .out = "out.talus"},
    {.words = {"optimize", "block.talus", "-q", "-e", "1.5", "--final", "block.q0=1", "-n", "3",
               "-o", "out.sto"},
     .out = "out.sto"},
    {.words = {"generate", "held.talus", "-o", "out.c"}, .out = "out.c"},
    {.words = {"stats", "motion.sto", "--histogram", "3", "--autocorrelation", "2"}},
    {.words = {"view", "held.talus", "motion.sto", "-q", "-o", "out.glb"}, .out = "out.glb"},
    {.words = {"view", "held.talus", "motion.sto", "-q", "-o", "out.json"}, .out = "out.json"},
    {.words = {"muscles", "arm.talus", "-q", "--over", "elbow", "--rows", "3", "-o", "out.csv"},
     .out = "out.csv"},
    {.words = {"paths", "arm.talus", "-q", "--degree", "2", "--tolerance", "1", "--arm-tolerance",
               "1", "-o", "out.talus"},
     .out = "out.talus"},
    {.words = {"mol", "info", ATOMS}},
    {.words = {"mol", "energy", ATOMS, "--born", "--cutoff", "1.2"}},
    {.words = {"mol", "minimize", ATOMS, "--level", "bat", "-q", "-o", "out.pdb"},
     .out = "out.pdb",
     .is_unsteady = true},
    {.words = {"mol", "run", ATOMS, "--time", "0.02", "--every", "0.01", "--step", "0.001", "-q",
               "-o", "out.sto"},
     .out = "out.sto"},
    {.words = {"mol", "view", ATOMS, "-q", "-o", "out.json"}, .out = "out.json"},
    {.words = {"mol", "convert", "formamide.inpcrd", "--names", "formamide.prmtop", "-o",
               "out.xyz"},
     .out = "out.xyz"},
    {.words = {"mol", "fit", ATOMS, "formamide.inpcrd", "-o", "out.pdb"},
     .out = "out.pdb",
     .is_slow = true},
    {.words = {"info", "leg.osim"}},
    {.words = {"convert", "leg.osim", "-o", "out.talus"}, .out = "out.talus"},
    {.words = {"convert", "leg.osim", "-o", "out.osim"}, .out = "out.osim"},
    {.words = {"scale", "leg.osim", "walk.trc", "-q", "--factor", "foot=1.5", "-o", "out"},
     .out = "out/subject.osim",
     .is_slow = true},
    {.words = {"so", LEG, "--to", "0.05", "-o", "out"},
     .out = "out/so_StaticOptimization_force.sto",
     .is_slow = true},
    {.words = {"analyze", LEG, "--to", "0.05", "--analysis", "MuscleAnalysis", "-o", "out"},
     .out = "out/analyze_MuscleAnalysis_Length.sto",
     .is_slow = true},
    {.words = {"cmc", LEG, "--to", "0.01", "-o", "out"},
     .out = "out/cmc_states.sto",
     .is_slow = true},
    {.words = {"rra", LEG, "--to", "0.01", "-o", "out"},
     .out = "out/rra_states.sto",
     .is_slow = true},
    {.words = {"run", "id.xml", "-q", "-o", "out"},
     .out = "out/inverse_dynamics.sto",
     .is_slow = true},
};

enum {
    NUM_LINES = sizeof lines / sizeof lines[0]
};

static const char stone[] =
    "<talus version='1' name='stone'><bodies><translation name='stone' mass='1' q='0 1 0' u='1 2 0'/></bodies>"
    "<measures><station name='height' body='stone' along='0 1 0'/></measures>"
    "<forces><gravity g='0 -10 0'/></forces>"
    "<stops><stop name='landed' when='height' falls_below='0' message='It is down.'/></stops></talus>\n";

static const char block[] =
    "<talus version='1' name='block'><param name='k' value='8'/>"
    "<bodies><slider name='block' mass='2' q='0.3'/></bodies>"
    "<forces><mobility_spring name='spring' mobility='block' stiffness='$k'/>"
    "<mobility_actuator name='motor' mobility='block' gain='1'/></forces></talus>\n";

static const char seen[] =
    "<talus version='1' name='seen'>"
    "<bodies><pin name='arm' mass='2' com='0 -1 0'/></bodies>"
    "<markers><marker name='tip' body='arm' station='0 -1 0'/></markers></talus>\n";

static const char frames[] =
    "PathFileType\t4\t(X/Y/Z)\tframes.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "10\t10\t2\t1\tmm\t10\t1\t2\nFrame#\tTime\ttip\n\t\tX1\tY1\tZ1\n\n"
    "1\t0.0\t0\t-1000\t0\n2\t0.1\t500\t-866.0254037844386\t0\n";

static const char arm[] =
    "<robot name='arm'><link name='base'/>"
    "<link name='hand'><inertial><origin xyz='0 0 -0.5'/><mass value='2'/>"
    "<inertia ixx='0.1' iyy='0.1' izz='0.01' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='elbow' type='revolute'><parent link='base'/><child link='hand'/><axis xyz='0 1 0'/>"
    "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>\n";

// --- files ---

typedef struct bytes {
    char *at; // owned, a zero behind it; NULL: there is no such file
    size_t size;
} bytes;

static bytes read_all(const char *path)
{
    bytes it = {NULL, 0};
    FILE *const file = fopen(path, "rb");
    if (file == NULL) return it;
    struct stat about;
    ck_assert_int_eq(fstat(fileno(file), &about), 0);
    it.size = (size_t)about.st_size;
    it.at = calloc(it.size + 1, 1);
    ck_assert_ptr_nonnull(it.at);
    ck_assert_uint_eq(fread(it.at, 1, it.size, file), it.size);
    (void)fclose(file);
    return it;
}

static bool is_same(bytes a, bytes b)
{
    return a.size == b.size && (a.at == NULL) == (b.at == NULL) &&
           (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

static void write_all(const char *path, bytes it)
{
    FILE *const file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(it.at, 1, it.size, file), it.size);
    ck_assert_int_eq(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
    write_all(path, (bytes){(char *)text, strlen(text)});
}

static void copy_in(const char *folder, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", TALUS_SOURCE_DIR, folder, name);
    bytes it = read_all(path);
    ck_assert_msg(it.at != NULL, "%s is missing", path);
    write_all(name, it);
    free(it.at);
}

static int count_files(const char *folder)
{
    int n = 0;
    DIR *const all = opendir(folder);
    ck_assert_ptr_nonnull(all);
    for (const struct dirent *it = readdir(all); it != NULL; it = readdir(all)) {
        n += it->d_name[0] != '.';
    }
    (void)closedir(all);
    return n;
}

static void empty(const char *folder)
{
    DIR *const all = opendir(folder);
    for (const struct dirent *it = readdir(all); it != NULL; it = readdir(all)) {
        if (it->d_name[0] == '.') continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, it->d_name);
        if (remove(path) == 0) continue;
        empty(path); // a folder
        (void)remove(path);
    }
    (void)closedir(all);
}

// --- trials ---

// What a process has to tell before it ends.
static long *told_asked;

static void redirect(int to, const char *path)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, to) < 0) _exit(99);
    (void)close(file);
}

static void tell(void)
{
    *told_asked = heap.asked - *told_asked;
}

// Run a command in a process of its own in which the n-th request fails; 0: none. What wait() says.
static int run(const line *it, long n, bool stays_empty)
{
    const char *words[MAX_WORDS + 1] = {"talus"};
    int num = 1;
    for (; it->words[num - 1] != NULL; ++num) {
        words[num] = it->words[num - 1];
    }
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        redirect(STDOUT_FILENO, "aside/stdout");
        redirect(STDERR_FILENO, "aside/stderr");
        (void)alarm(SECONDS);
        (void)atexit(tell);
        heap.is_strict = !it->reuses;
        heap.stays_empty = stays_empty;
        *told_asked = heap.asked;
        heap_fail(n);
        exit(cli_main(num, words));
    }
    int how = 0;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    return how;
}

typedef struct outcome {
    bytes out, printed;
} outcome;

static void free_outcome(outcome *it)
{
    free(it->out.at);
    free(it->printed.at);
}

static outcome read_outcome(const line *it)
{
    return (outcome){it->out != NULL ? read_all(it->out) : (bytes){NULL, 0},
                     read_all("aside/stdout")};
}

static const char old_text[] = "an old result\n";

// Texts of a .npz have three zero bytes behind every letter.
static void leave_out_zeros(bytes *it)
{
    size_t kept = 0;
    for (size_t i = 0; i < it->size; ++i) {
        if (it->at[i] != 0) it->at[kept++] = it->at[i];
    }
    it->at[kept] = 0;
    it->size = kept;
}

// An incomplete result says so, and has everything else that a result has.
static bool is_incomplete(bytes out, bytes expected, bool is_npz)
{
    if (out.at == NULL || expected.at == NULL) return false;
    if (is_npz) leave_out_zeros(&out);
    if (strstr(out.at, "talus_incomplete") == NULL) return false;
    if (is_npz) return strstr(out.at, "talus_model_hash") != NULL;
    for (const char *at = strstr(expected.at, "talus_"); at != NULL; at = strstr(at, "talus_")) {
        char entry[512];
        const size_t length = strcspn(at, "\n");
        snprintf(entry, sizeof entry, "%.*s", (int)length, at);
        if (strncmp(entry, "talus_ended_by", 14) != 0 && strstr(out.at, entry) == NULL) {
            return false;
        }
        at += length;
    }
    return true;
}

static void check_trial(const line *it, int how, const outcome *expected, const char *where)
{
    outcome got = read_outcome(it);
    bytes said = read_all("aside/stderr");
    ck_assert_msg(WIFEXITED(how), "%s: it crashed by signal %d; it said: %.300s", where,
                  WTERMSIG(how), said.at);
    const int code = WEXITSTATUS(how);
    if (code == 0) {
        ck_assert_msg(it->is_unsteady || is_same(got.printed, expected->printed),
                      "%s: exit code 0, but it printed: %.300s", where, got.printed.at);
        ck_assert_msg(is_same(got.out, expected->out), "%s: exit code 0, but %s is: %.800s", where,
                      it->out, got.out.at);
    } else {
        ck_assert_msg(code <= CLI_BAD_FILE, "%s: exit code %d", where, code);
        ck_assert_msg(strstr(said.at, "memory") != NULL,
                      "%s: exit code %d, and no sentence about memory: %.300s", where, code,
                      said.at);
        const bytes old = {(char *)old_text, strlen(old_text)}, none = {NULL, 0};
        const bytes before = it->out == NULL || it->is_new ? none : old;
        ck_assert_msg(is_same(got.out, before) || is_same(got.out, expected->out) ||
                          is_incomplete(got.out, expected->out,
                                        it->out != NULL && strcmp(it->out, "out.npz") == 0),
                      "%s: exit code %d, and %s is: %.800s", where, code, it->out, got.out.at);
    }
    free_outcome(&got);
    free(said.at);
}

static void begin_trial(const line *it)
{
    if (it->out == NULL) return;
    if (it->is_new) {
        (void)remove(it->out);
    } else {
        write_text(it->out, old_text);
    }
}

// Which of `asked` requests fail in turn: the first, then evenly chosen ones.
static long next_point(const line *it, long n, long asked)
{
    const bool all = getenv("TALUS_SOAK") != NULL;
    const long most = it->is_slow ? FEW_POINTS : MOST_POINTS;
    const long stride = all || asked < most ? 1 : asked / most;
    return n + stride;
}

static void name_trial(const line *it, long n, long asked, char where[], size_t size)
{
    int at = snprintf(where, size, "talus");
    for (int i = 0; it->words[i] != NULL && at < (int)size; ++i) {
        at += snprintf(where + at, size - (size_t)at, " %s", it->words[i]);
    }
    if (at < (int)size) snprintf(where + at, size - (size_t)at, ", request %ld of %ld", n, asked);
}

static long num_trials;

static void try_all(const line *it, bool stays_empty)
{
    char where[512];
    begin_trial(it);
    const int how = run(it, 0, false);
    const long asked = *told_asked;
    name_trial(it, 0, asked, where, sizeof where);
    ck_assert_msg(how == 0, "%s fails with all the memory there is", where);
    outcome expected = read_outcome(it);
    ck_assert_ptr_nonnull(expected.printed.at);
    const int files = count_files(".");
    for (long n = 1; HEAP_IS_WATCHED && n <= asked; n = next_point(it, n, asked)) {
        begin_trial(it);
        name_trial(it, n, asked, where, sizeof where);
        check_trial(it, run(it, n, stays_empty), &expected, where);
        ++num_trials;
        const int left = count_files(".") - files + count_files("tmp");
        // a command that makes a file may not have come to it
        ck_assert_msg(left == 0 || (it->is_new && left == -1), "%s: %d files are left", where,
                      left);
    }
    free_outcome(&expected);
    if (it->out != NULL) (void)remove(it->out);
}

START_TEST(a_request_that_fails_is_told_or_makes_no_difference)
{
    try_all(&lines[_i], false);
}

END_TEST

START_TEST(memory_that_is_at_its_end_is_told_or_makes_no_difference)
{
    try_all(&lines[_i], true);
}

END_TEST

// --- a folder to work in ---

static char work[1024];

static void make_folder(void)
{
    const char *const tmp = getenv("TMPDIR");
    snprintf(work, sizeof work, "%s/talus-memory-XXXXXX", tmp != NULL ? tmp : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(work));
    ck_assert_int_eq(chdir(work), 0);
    ck_assert_int_eq(mkdir("aside", 0777) | mkdir("tmp", 0777) | mkdir("out", 0777), 0);
    (void)setenv("TMPDIR", "tmp", 1);
    copy_in("tests/cli/models", "held.talus");
    copy_in("tests/cli/models", "open_loop.talus");
    copy_in("examples/models", "four_bar.talus");
    copy_in("examples/models", "arm.talus");
    copy_in("examples/models", "rocking_block.talus");
    copy_in("examples/models", "slope.talus");
    copy_in("examples/gait", "leg.osim");
    copy_in("examples/gait", "walk.trc");
    copy_in("examples/gait", "id.xml");
    copy_in("tests/io/atoms", "formamide.prmtop");
    copy_in("tests/io/atoms", "formamide.inpcrd");
    write_text("stone.talus", stone);
    write_text("block.talus", block);
    write_text("seen.talus", seen);
    write_text("frames.trc", frames);
    write_text("arm.urdf", arm);
    told_asked =
        mmap(NULL, sizeof *told_asked, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(told_asked, MAP_FAILED);
    static const line before[] = {
        {.words = {"simulate", HELD, "-o", "motion.sto"}},
        {.words = {"simulate", "block.talus", "-q", "-s", "k=9", "-e", "0.2", "--every", "0.05",
                   "-c", "q", "-o", "measured.sto"}},
        {.words = {"ik", "leg.osim", "walk.trc", "-q", "-o", "angles.mot"}}};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; ++i) {
        ck_assert_int_eq(run(&before[i], 0, false), 0);
    }
}

static void remove_folder(void)
{
    empty(work);
    (void)remove(work);
}

int main(int argc, char **argv)
{
    const int first = argc > 2 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : NUM_LINES - 1;
    (void)setenv("CK_FORK", "no", 0);
    Suite *const suite = suite_create("memory");
    TCase *const whole = tcase_create("commands");
    tcase_add_unchecked_fixture(whole, make_folder, remove_folder);
    tcase_add_loop_test(whole, a_request_that_fails_is_told_or_makes_no_difference, first,
                        last + 1);
    tcase_add_loop_test(whole, memory_that_is_at_its_end_is_told_or_makes_no_difference, first,
                        last + 1);
    suite_add_tcase(suite, whole);
    SRunner *const runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    (void)printf("%ld requests failed in %d commands\n", num_trials, last + 1 - first);
    return failed > 0;
}
