// The table of commands. To add one: a row here, a line in commands.h, and its file cmd_NAME.c.
#include "commands.h"

// In the order of their bits in cli.h.
const cli_option cli_common_options[] = {
    {.name = "json", .kind = CLI_FLAG, .help = "print JSON instead of text"},
    {.name = "quiet", .letter = 'q', .kind = CLI_FLAG, .help = "print no progress and no remarks"},
    {.name = "seed",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "seed of all random numbers",
     .is_setting = true},
    {.name = "threads",
     .letter = 't',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "1",
     .help = "number of threads; 0: one for each core. Results do not depend on it"},
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-3",
     .help = "accuracy, as a fraction of a unit change",
     .is_setting = true},
    {.name = "integrator",
     .letter = 'i',
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "merson",
     .help = "integration method; talus help integrators lists them",
     .is_setting = true},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "write the result to this file; its extension selects the format"},
    {.name = "set",
     .letter = 's',
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "give a <param> of the model another value; can be repeated",
     .is_setting = true},
    {.name = "any-inertia",
     .kind = CLI_FLAG,
     .help = "accept inertias that are not physical, as some published ones are",
     .is_setting = true},
    {.name = "start",
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "let a coordinate begin at this value [rad or m]; can be repeated",
     .is_setting = true},
    {.name = "strict",
     .kind = CLI_FLAG,
     .help = "refuse inertias that are not physical, where there is only a warning otherwise",
     .is_setting = true},
    {.name = "free-base",
     .kind = CLI_FLAG,
     .help = "of a URDF: let the root link move freely",
     .is_setting = true},
    {.name = "contact",
     .kind = CLI_FLAG,
     .help = "of a URDF: let collision shapes touch a floor at z = 0",
     .is_setting = true},
    {.name = "packages",
     .kind = CLI_TEXT,
     .value = "FOLDERS",
     .help =
         "of a URDF: folders with the packages of its meshes, separated by colons; if not given, the environment variable TALUS_PACKAGE_PATH, then ROS_PACKAGE_PATH",
     .is_setting = true},
};

// What any command on a model has.
#define MODEL_OPTIONS  (CLI_JSON | CLI_QUIET | CLI_READING)
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
     .help = "fixed step size, without error control; 0: variable steps with error control",
     .is_setting = true},
    {0}};

static const cli_option assemble_options[] = {
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-10",
     .help = "constraint errors below this are accepted",
     .is_setting = true},
    {.name = "restarts",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "50",
     .help = "number of random starts, if the constraints cannot be met from the given one",
     .is_setting = true},
    {0}};

static const cli_option ik_options[] = {
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-6",
     .help = "a frame is finished when the next step is smaller than this",
     .is_setting = true},
    {.name = "chunk",
     .kind = CLI_COUNT,
     .value = "FRAMES",
     .initial = "250",
     .help = "number of frames that each start from the previous one; 0: all",
     .is_setting = true},
    {.name = "marker-errors",
     .kind = CLI_FLAG,
     .help = "also write how far each marker is from where "
             "it was seen [m]",
     .is_setting = true},
    {.name = "ignore-ranges",
     .kind = CLI_FLAG,
     .help = "let coordinates leave their ranges",
     .is_setting = true},
    {0}};

static const cli_option id_options[] = {
    {.name = "no-forces",
     .kind = CLI_FLAG,
     .help = "ignore the forces of the model, gravity included",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "HERTZ",
     .initial = "0",
     .help =
         "smooth the coordinates first, with a Butterworth low-pass filter forward and backward, which is less accurate at the ends; 0: off",
     .is_setting = true},
    {0}};

static const cli_option modes_options[] = {
    {.name = "at-rest", .kind = CLI_FLAG, .help = "find an equilibrium first", .is_setting = true},
    {0}};

static const cli_option equilibrium_options[] = {
    {.name = "any",
     .kind = CLI_FLAG,
     .help = "find the nearest equilibrium, stable or not",
     .is_setting = true},
    {.name = "accuracy",
     .letter = 'a',
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1e-9",
     .help = "finish when the next step is smaller than this",
     .is_setting = true},
    {0}};

static const cli_option sweep_options[] = {
    {.name = "vary",
     .letter = 'v',
     .kind = CLI_LIST,
     .value = "NAME=LOW:HIGH:COUNT",
     .help =
         "vary a coordinate or speed at the start, a mass (BODY.mass) or a <param>; can be repeated, for all combinations",
     .is_setting = true},
    {.name = "samples",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "number of random samples, uniform between LOW and HIGH; 0: a grid",
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
     .help = "what to write, as for talus simulate",
     .is_setting = true},
    {0}};

static const cli_option plot_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to draw, separated by commas; default: all that are not zero everywhere"},
    {.name = "x",
     .kind = CLI_TEXT,
     .value = "COLUMN",
     .help = "column on the horizontal axis; default: the first"},
    {.name = "title",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "title of the plot; default: the name of the file"},
    {.name = "width",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "800",
     .help = "width of the picture"},
    {.name = "height",
     .kind = CLI_COUNT,
     .value = "PIXELS",
     .initial = "0",
     .help = "height of the picture; 0: 450, and 200 more for each panel after the first"},
    {0}};

static const cli_option view_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns for charts, separated by commas; default: all"},
    {.name = "frames",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "3000",
     .help = "largest number of rows shown of each result, evenly chosen"},
    {.name = "up",
     .kind = CLI_TEXT,
     .value = "AXIS",
     .help = "x, y or z; default: against gravity"},
    {.name = "title",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "title of the page; default: the name of the model"},
    {.name = "show",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help =
         "layers to show at first besides the usual ones: forces, reactions, centers, inertia, frames, names, trails, surfaces"},
    {.name = "open", .kind = CLI_FLAG, .help = "open the page in the browser"},
    {.name = "force", .kind = CLI_FLAG, .help = "write a file of more than 200 MB"},
    {0}};

static const cli_option show_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to print, separated by commas; default: all"},
    {.name = "rows",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "largest number of rows, evenly chosen; 0: all"},
    {0}};

static const cli_option bench_options[] = {{.name = "seconds",
                                            .kind = CLI_POSITIVE,
                                            .value = "SECONDS",
                                            .initial = "1",
                                            .help = "time for each measurement"},
                                           {0}};

static const cli_option rerun_options[] = {{.name = "model",
                                            .letter = 'm',
                                            .kind = CLI_TEXT,
                                            .value = "FILE",
                                            .help = "path of the model, if it has moved"},
                                           {0}};

static const cli_option help_options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print the manual page, as man(7) source"}, {0}};

const cli_command cli_commands[] = {
    {"info", "MODEL", 1, 1, "list what a model contains",
     "Bodies with their mobilizers and masses, constraints, forces, measures, degrees of freedom.",
     MODEL_OPTIONS, NULL, "talus info pendulum.talus", "bodies, mass, degrees of freedom",
     cmd_info},
    {"check", "MODEL", 1, 1, "look for mistakes in a model",
     "Checks masses and inertias, ranges of coordinates, constraints that are violated or "
     "redundant, and accelerations that are not finite. The exit code is 1 if something is found.",
     MODEL_OPTIONS, NULL, "talus check four_bar.talus", "warnings and remarks", cmd_check},
    {"simulate", "MODEL", 1, 1, "step a model through time",
     "Without -o the table is written to standard output, as .sto. The header of the result has the "
     "version, the set of kernels, a hash of the model and every setting, so that talus rerun can "
     "repeat the run. Ctrl-C ends the run; the rows computed so far are written and marked as "
     "incomplete.",
     MOTION_OPTIONS | CLI_RESULT, simulate_options,
     "talus simulate pendulum.talus --end 5 -o swing.sto", "five seconds, a hundred rows",
     cmd_simulate},
    {"assemble", "MODEL", 1, 1, "find coordinates that meet all constraints",
     "Starts from the initial coordinates of the model and prints the solution. -o writes a table of "
     "one row or, if the name ends with .talus, the assembled model.",
     MODEL_OPTIONS | CLI_RESULT | CLI_SEED | CLI_OUT, assemble_options,
     "talus assemble four_bar.talus", "close the loop", cmd_assemble},
    {"ik", "MODEL FRAMES", 2, 2, "find coordinates that follow markers",
     "FRAMES is a .trc file. The <markers> of the model give the place and the weight of each marker. "
     "A marker that is only in the model or only in FRAMES is left out, with a warning. The result "
     "has the coordinates of each frame and its errors.",
     MODEL_OPTIONS | CLI_RESULT | CLI_THREADS | CLI_OUT, ik_options,
     "talus ik mine.talus frames.trc -o found.sto", "coordinates of each frame", cmd_ik},
    {"id", "MODEL MOTION", 2, 2, "find the forces behind a motion",
     "MOTION is a table of time and coordinates, as written by talus ik or talus simulate. A "
     "coordinate without a column keeps its value. Angles are in degrees if the table says so. "
     "Speeds and accelerations come from polynomials through nine rows, which amplify noise: use "
     "--cutoff for measured motions, 6 Hz for walking. The result has one force for each speed: "
     "the force that is needed besides the forces of the model.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT, id_options,
     "talus id pendulum.talus swing.sto -o forces.sto", "moments at the joints", cmd_id},
    {"modes", "MODEL", 1, 1, "find frequencies and damping of small motions",
     "Linearizes the model at its initial state, or at an equilibrium. A mode with a positive real "
     "part grows.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT, modes_options, "talus modes pendulum.talus --at-rest",
     "how it swings about its equilibrium", cmd_modes},
    {"equilibrium", "MODEL", 1, 1, "find where a model stays at rest",
     "Starts from the initial coordinates of the model and goes downhill. -o is as for talus assemble.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT, equilibrium_options, "talus equilibrium pendulum.talus",
     "it hangs down", cmd_equilibrium},
    {"sweep", "MODEL", 1, 1, "simulate a model for many values of its parameters",
     "Writes one row for each sample: the values, then the columns at the end of the run. The model "
     "is read again for each value of a <param>, but not for coordinates, speeds and masses. The last "
     "--vary changes fastest.",
     MOTION_OPTIONS | CLI_RESULT | CLI_SEED | CLI_THREADS, sweep_options,
     "talus sweep pendulum.talus --vary half=0.4:0.6:5 --end 2", "five lengths", cmd_sweep},
    {"view", "MODEL [RESULT...]", 1, CLI_MAX_ARGS, "write a page that shows a model and its motion",
     "One file that opens in any browser, without a network. RESULT is a table of talus simulate, ik "
     "or another; the first file can be a result, too, which names its model. Several results are shown "
     "over each other; a .trc file adds measured markers to the result before it. Without results the "
     "joints move through their ranges. -o can also end with .glb (glTF 2.0, for other programs that "
     "draw) or .json (doc/scene.md).",
     MODEL_OPTIONS | CLI_OUT, view_options, "talus view swing.sto --open", "a page, in the browser",
     cmd_view},
    {"plot", "TABLE", 1, 1, "draw columns of a table as SVG",
     "TABLE is a .sto, .mot, .trc or .csv file. There is one panel for each unit, if the table has "
     "units. Without -o the picture is written to standard output.",
     CLI_QUIET | CLI_OUT, plot_options, "talus plot swing.sto -c upper.q0,lower.q0 -o swing.svg",
     "two angles over time", cmd_plot},
    {"show", "TABLE", 1, 1, "print columns of a table", "", CLI_JSON, show_options,
     "talus show swing.sto -c time,total_energy -n 5", "five rows of two columns", cmd_show},
    {"convert", "FILE", 1, 2, "write a file in another format",
     "Tables: reads .sto, .mot, .trc and .csv, writes these and .npz. Models: reads .talus and .urdf, "
     "writes .talus with includes and params resolved. The extensions select the formats. The new "
     "name can also follow FILE, without -o.",
     CLI_QUIET | CLI_READING | CLI_OUT, NULL, "talus convert swing.sto -o swing.csv",
     "for a spreadsheet", cmd_convert},
    {"bench", "MODEL", 1, 1, "measure how fast a model is",
     "Times forward dynamics and simulation, on one thread. ./run bench compares Talus with other "
     "libraries.",
     MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR, bench_options, "talus bench human_body.talus",
     "microseconds per evaluation", cmd_bench},
    {"template", "", 0, 0, "write a first model file",
     "A double pendulum with comments. Without -o it is written to standard output.",
     CLI_QUIET | CLI_OUT, NULL, "talus template -o mine.talus", "then edit mine.talus",
     cmd_template},
    {"rerun", "RESULT", 1, 1, "repeat the run that made a result",
     "Runs the command in the header of RESULT again, with the same settings, and compares every "
     "number, bit for bit. The exit code is 1 if a number differs. The last bits depend on the build "
     "and on the processor, with or without fused multiply-adds. A message says so if the set of "
     "kernels has changed (talus version).",
     CLI_QUIET | CLI_OUT, rerun_options, "talus rerun swing.sto", "the same, bit for bit",
     cmd_rerun},
    {"help", "[COMMAND]", 0, 1, "explain the program, or a command", "", 0, help_options,
     "talus help simulate", "what it does, and its options", cmd_help},
    {"version", "", 0, 0, "print the version", "", CLI_JSON, NULL, "talus version",
     "version and commit", cmd_version},
    {0}};
