// The table of commands. To add one: a row here, a line in commands.h, and its file cmd_NAME.c.
#include "commands.h"

// In the order of their bits in cli.h.
const cli_option cli_common_options[] = {
    {.name = "json", .kind = CLI_FLAG, .help = "print JSON instead of text"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "no progress, no remarks"},
    {.name = "seed",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "of everything that is random",
     .is_setting = true},
    {.name = "threads",
     .letter = 't',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "1",
     .help = "how many share the work, 0: one for each core; results do not depend on it"},
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .initial = "1e-3",
     .help = "wanted accuracy, as a share of a unit change",
     .is_setting = true},
    {.name = "integrator",
     .letter = 'i',
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "merson",
     .help = "the method; talus help integrators lists them",
     .is_setting = true},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "write the result to a file; the end of its name says the format"},
    {.name = "set",
     .letter = 's',
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "another value for a <param> of the model; can be repeated",
     .is_setting = true},
};

// What any command on a model has.
#define MODEL_OPTIONS  (CLI_JSON | CLI_QUIET | CLI_SET)
// What a simulation has besides.
#define MOTION_OPTIONS (MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR | CLI_OUT)

static const cli_option simulate_options[] = {
    {.name = "end",
     .letter = 'e',
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "10",
     .help = "final time",
     .is_setting = true},
    {.name = "every",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help = "time between rows of the result; 0: a hundredth of the run",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,measures,energy,errors",
     .help = "what to write: these groups, or single columns by name, separated by commas",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help = "steps of this size, errors not controlled; 0: controlled",
     .is_setting = true},
    {0}};

static const cli_option assemble_options[] = {
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .initial = "1e-10",
     .help = "errors of constraints that count as none",
     .is_setting = true},
    {.name = "restarts",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "50",
     .help = "random starts when the constraints cannot be met",
     .is_setting = true},
    {0}};

static const cli_option ik_options[] = {{.name = "accuracy",
                                         .letter = 'a',
                                         .kind = CLI_NUMBER,
                                         .value = "NUMBER",
                                         .initial = "1e-6",
                                         .help = "a frame is done when its next step is below this",
                                         .is_setting = true},
                                        {.name = "chunk",
                                         .kind = CLI_COUNT,
                                         .value = "FRAMES",
                                         .initial = "250",
                                         .help = "frames that start from each other; 0: all",
                                         .is_setting = true},
                                        {0}};

static const cli_option id_options[] = {
    {.name = "no-forces",
     .kind = CLI_FLAG,
     .help = "leave the model's own forces, gravity included, out",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "HERTZ",
     .initial = "0",
     .help =
         "smooth the coordinates first: Butterworth's low-pass, forward and backward, less certain at the ends; 0: not",
     .is_setting = true},
    {0}};

static const cli_option modes_options[] = {
    {.name = "at-rest", .kind = CLI_FLAG, .help = "find an equilibrium first", .is_setting = true},
    {0}};

static const cli_option equilibrium_options[] = {{.name = "any",
                                                  .kind = CLI_FLAG,
                                                  .help = "whichever is near, stable or not",
                                                  .is_setting = true},
                                                 {.name = "accuracy",
                                                  .letter = 'a',
                                                  .kind = CLI_NUMBER,
                                                  .value = "NUMBER",
                                                  .initial = "1e-9",
                                                  .help = "done when the next step is below this",
                                                  .is_setting = true},
                                                 {0}};

static const cli_option sweep_options[] = {
    {.name = "vary",
     .letter = 'v',
     .kind = CLI_LIST,
     .value = "NAME=LOW:HIGH:COUNT",
     .help =
         "values of a coordinate or speed at the start, of BODY.mass, or else of a <param>; can be repeated: all combinations",
     .is_setting = true},
    {.name = "samples",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "random samples, uniform between LOW and HIGH, instead of a grid",
     .is_setting = true},
    {.name = "end",
     .letter = 'e',
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "1",
     .help = "time at which the columns are read",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,measures,energy",
     .help = "what to write, as of talus simulate",
     .is_setting = true},
    {0}};

static const cli_option plot_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "which columns, separated by commas; all that are not zero throughout"},
    {.name = "x", .kind = CLI_TEXT, .value = "COLUMN", .help = "against which column; the first"},
    {.name = "title", .kind = CLI_TEXT, .value = "TEXT", .help = "above the plot; the file's name"},
    {.name = "width",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "800",
     .help = "of the picture"},
    {.name = "height",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "0",
     .help = "of the picture; 0: 450, and 200 more for each panel but the first"},
    {0}};

static const cli_option show_options[] = {{.name = "columns",
                                           .letter = 'c',
                                           .kind = CLI_TEXT,
                                           .value = "LIST",
                                           .help = "which columns, separated by commas; all"},
                                          {.name = "rows",
                                           .letter = 'n',
                                           .kind = CLI_COUNT,
                                           .value = "NUMBER",
                                           .initial = "0",
                                           .help = "most rows, evenly chosen; 0: all"},
                                          {0}};

static const cli_option bench_options[] = {{.name = "seconds",
                                            .kind = CLI_NUMBER,
                                            .value = "SECONDS",
                                            .initial = "1",
                                            .help = "to spend on each measurement"},
                                           {0}};

static const cli_option rerun_options[] = {
    {.name = "model",
     .letter = 'm',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "where the model is, when it is no longer where it was"},
    {0}};

static const cli_option help_options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print the manual page, in the language of man(7)"},
    {0}};

const cli_command cli_commands[] = {
    {"info", "MODEL", 1, 1, "say what is in a model",
     "Bodies with their mobilizers and masses, constraints, forces, measures, degrees of freedom.",
     MODEL_OPTIONS, NULL, "talus info pendulum.talus", "bodies, mass, degrees of freedom",
     cmd_info},
    {"check", "MODEL", 1, 1, "look for everything suspicious in a model",
     "Looks at masses and inertias, coordinates outside of their ranges, constraints that are not "
     "met or say the same, and accelerations that are not finite. Ends with 1 when something is "
     "found.",
     MODEL_OPTIONS, NULL, "talus check four_bar.talus", "what should be looked at again",
     cmd_check},
    {"simulate", "MODEL", 1, 1, "step a model through time",
     "Without -o the table goes to standard output, as .sto. The header of the result has the "
     "version, the set of kernels, a hash of the model and every setting, so that talus rerun can repeat it. Ctrl-C "
     "ends the run; what was computed is written, and marked incomplete.",
     MOTION_OPTIONS, simulate_options, "talus simulate pendulum.talus --end 5 -o swing.sto",
     "five seconds, a hundred rows", cmd_simulate},
    {"assemble", "MODEL", 1, 1, "find coordinates that meet all constraints",
     "From where the model begins. Prints what it found; -o writes a table of one row, or with a name "
     "that ends with .talus the model as it is then.",
     MODEL_OPTIONS | CLI_SEED | CLI_OUT, assemble_options, "talus assemble four_bar.talus",
     "close the loop", cmd_assemble},
    {"ik", "MODEL FRAMES", 2, 2, "find coordinates that follow markers",
     "FRAMES is a .trc file; where the markers are on the bodies, and what they weigh, is in the model's "
     "<markers>. What is only in one of the two is left out, with a warning. The result has the coordinates of every frame and how well it fits.",
     MODEL_OPTIONS | CLI_THREADS | CLI_OUT, ik_options,
     "talus ik mine.talus frames.trc -o found.sto", "coordinates of each frame", cmd_ik},
    {"id", "MODEL MOTION", 2, 2, "find the forces behind a motion",
     "MOTION is a table of time and coordinates, as talus ik or talus simulate write it; a "
     "coordinate that is not there keeps its value, if others are. Angles are in degrees when the table says so. "
     "Polynomials through nine rows give speeds and accelerations, and noise grows with them: "
     "measured motions want a --cutoff, 6 Hz for a walk. The result has one force for every speed: "
     "what is missing besides the forces of the model.",
     MODEL_OPTIONS | CLI_OUT, id_options, "talus id pendulum.talus swing.sto -o forces.sto",
     "moments at the joints", cmd_id},
    {"modes", "MODEL", 1, 1, "find frequencies and damping of small motions",
     "About where the model begins, or about an equilibrium. A mode with a positive real part grows.",
     MODEL_OPTIONS | CLI_OUT, modes_options, "talus modes pendulum.talus --at-rest",
     "how it swings about its rest", cmd_modes},
    {"equilibrium", "MODEL", 1, 1, "find where a model stays at rest",
     "From where the model begins, downhill. -o is as of talus assemble.", MODEL_OPTIONS | CLI_OUT,
     equilibrium_options, "talus equilibrium pendulum.talus", "it hangs down", cmd_equilibrium},
    {"sweep", "MODEL", 1, 1, "simulate a model for many values of its numbers",
     "One row for each sample: the values, then the columns at the end of the run. For each value of a "
     "<param> the model is read; coordinates, speeds and masses are varied without. The last --vary runs fastest.",
     MOTION_OPTIONS | CLI_SEED | CLI_THREADS, sweep_options,
     "talus sweep pendulum.talus --vary half=0.4:0.6:5 --end 2", "five lengths", cmd_sweep},
    {"plot", "TABLE", 1, 1, "draw columns of a table as SVG",
     "TABLE is .sto, .mot, .trc or .csv. Columns of different units, where the table tells them, get "
     "panels of their own. Without -o the picture goes to standard output.",
     CLI_QUIET | CLI_OUT, plot_options, "talus plot swing.sto -c upper.q0,lower.q0 -o swing.svg",
     "two angles over time", cmd_plot},
    {"show", "TABLE", 1, 1, "print columns of a table", "", CLI_JSON, show_options,
     "talus show swing.sto -c time,total_energy -n 5", "five rows of two columns", cmd_show},
    {"convert", "FILE", 1, 2, "write a file in another format",
     "Tables: .sto, .mot, .trc, .csv, and .npz to write. Models: .talus and .urdf to .talus, "
     "includes and params resolved. The ends of the names say the formats. What it becomes can also stand behind "
     "FILE, without -o.",
     CLI_QUIET | CLI_SET | CLI_OUT, NULL, "talus convert swing.sto -o swing.csv",
     "for a spreadsheet", cmd_convert},
    {"bench", "MODEL", 1, 1, "measure how fast a model is",
     "Forward dynamics and simulation, on one thread. ./run bench compares the library with others.",
     MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR, bench_options, "talus bench human_body.talus",
     "microseconds per evaluation", cmd_bench},
    {"template", "", 0, 0, "write a model file to begin with",
     "A double pendulum with remarks on everything. Without -o it goes to standard output.",
     CLI_QUIET | CLI_OUT, NULL, "talus template -o mine.talus", "then edit mine.talus",
     cmd_template},
    {"rerun", "RESULT", 1, 1, "repeat the run that a result came from",
     "Runs the command that stands in the header of RESULT again, with the same settings, and "
     "compares every number, bit for bit. Ends with 1 when one differs. The last bits are those of "
     "one build on processors of one kind, with or without fused multiply-adds: it is told when the "
     "set of kernels was another (talus version).",
     CLI_QUIET | CLI_OUT, rerun_options, "talus rerun swing.sto", "the same, bit for bit",
     cmd_rerun},
    {"help", "[COMMAND]", 0, 1, "explain the program, or a command", "", 0, help_options,
     "talus help simulate", "what it does, and its options", cmd_help},
    {"version", "", 0, 0, "say which version this is", "", CLI_JSON, NULL, "talus version",
     "version and commit", cmd_version},
    {0}};
