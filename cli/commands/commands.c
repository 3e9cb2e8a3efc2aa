// The table of commands. To add one: a row here, a line in commands.h, and its file cmd_NAME.c.
#include "commands/commands.h"

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
     .help = "accuracy: error relative to a unit change (1 rad or 1 m)",
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
     .help =
         "write the result to this file; its extension selects the format; - is standard output"},
    {.name = "set",
     .letter = 's',
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "give a <param> of the model another value; can be repeated",
     .is_setting = true},
    {.name = "any-inertia",
     .kind = CLI_FLAG,
     .help = "accept inertias that no real body can have, as some published models have",
     .is_setting = true},
    {.name = "start",
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "initial value of a coordinate or a speed (BODY.u0) [rad or m, rad/s or m/s]; "
             "can be repeated",
     .is_setting = true},
    {.name = "strict",
     .kind = CLI_FLAG,
     .help = "refuse inertias that no real body can have, and unknown elements of .osim files; "
             "otherwise there is only a warning",
     .is_setting = true},
    {.name = "approximate",
     .kind = CLI_FLAG,
     .help = "of an .osim file: give muscles of Schutte and Delp the curves of Thelen's, so that "
             "they act",
     .is_setting = true},
    {.name = "free-base",
     .kind = CLI_FLAG,
     .help = "for a URDF file: let the root link move freely",
     .is_setting = true},
    {.name = "contact",
     .kind = CLI_FLAG,
     .help = "for a URDF file: let collision shapes touch a floor at z = 0",
     .is_setting = true},
    {.name = "colliders",
     .kind = CLI_FLAG,
     .help = "for a URDF file: make colliders of collision shapes, for --stepper contact",
     .is_setting = true},
    {.name = "packages",
     .kind = CLI_TEXT,
     .value = "FOLDERS",
     .help =
         "for a URDF file: folders with the packages of its meshes, separated by colons; if not given, the environment variable TALUS_PACKAGE_PATH, then ROS_PACKAGE_PATH",
     .is_setting = true},
    {.name = "format",
     .letter = 'f',
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "format of what is written to standard output: an extension such as csv"},
    {.name = "resume",
     .kind = CLI_FLAG,
     .help = "keep what is done in FILE.run, where FILE is that of -o: a run that was ended at any "
             "time goes on there. FILE is written when all is done"},
    {.name = "resume",
     .kind = CLI_FLAG,
     .help = "for scripts that give it to every command: this one takes little time, and begins "
             "again if it was ended. Each file is written whole"},
};

// What any command on a model has.
#define MODEL_OPTIONS  (CLI_JSON | CLI_QUIET | CLI_READING)
// What a simulation has besides.
#define MOTION_OPTIONS (MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR | CLI_OUT | CLI_FORMAT)

static const cli_option mol_options[] = {
    {.name = "level",
     .letter = 'l',
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "torsions",
     .help = "what moves: cartesian (every atom), bat (bonds, angles and torsions), torsions, "
             "backbone, residues, rigid (whole molecules)",
     .is_setting = true},
    {.name = "time",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "10",
     .help = "run: how long",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.002",
     .help = "run: the step; 0.0005 to 0.001 where hydrogens move, 0.003 to 0.008 in torsions",
     .is_setting = true},
    {.name = "every",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.1",
     .help = "run: time between rows and frames",
     .is_setting = true},
    {.name = "temperature",
     .kind = CLI_POSITIVE,
     .value = "K",
     .initial = "300",
     .help = "run: of the bath, and of the first velocities",
     .is_setting = true},
    {.name = "bath",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "langevin",
     .help = "run: langevin, chain (of Nose and Hoover), rescale (of Bussi) or none",
     .is_setting = true},
    {.name = "friction",
     .kind = CLI_POSITIVE,
     .value = "1/PS",
     .initial = "1",
     .help = "run: friction of a Langevin bath",
     .is_setting = true},
    {.name = "relaxation",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.1",
     .help = "run: relaxation time of a chain or of rescaling",
     .is_setting = true},
    {.name = "trajectory",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "run: write the atoms of each row to this .dcd, .xyz or .pdb file"},
    {.name = "coordinates",
     .kind = CLI_FLAG,
     .help = "run: write coordinates behind the energies, for view",
     .is_setting = true},
    {.name = "fixman",
     .kind = CLI_FLAG,
     .help = "take back what rigid bonds and angles change of the statistics (Fixman's potential)",
     .is_setting = true},
    {.name = "born",
     .kind = CLI_FLAG,
     .help = "water as a continuum: generalized Born, with the radii of the topology",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "NM",
     .initial = "0",
     .help = "pairs end at this distance; 0: nowhere, or in a box at 0.9 nm or half its edge",
     .is_setting = true},
    {.name = "vacuum",
     .kind = CLI_FLAG,
     .help = "leave the periodic box of the coordinates out",
     .is_setting = true},
    {.name = "amber-coulomb",
     .kind = CLI_FLAG,
     .help = "the constant of Coulomb's law that AMBER has, instead of that of CODATA 2018",
     .is_setting = true},
    {.name = "tolerance",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "0.001",
     .help = "minimize: root mean square of forces at the end [kJ/mol/nm, kJ/mol/rad]"},
    {.name = "iterations",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "10000",
     .help = "minimize: at most so many"},
    {.name = "names",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "convert: where a file without names, .dcd or .inpcrd, gets them from"},
    {.name = "frame",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .help = "convert: this frame alone, from 0 on"},
    {.name = "stride",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "1",
     .help = "convert: only every so many frames"},
    {0}};

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
     .help =
         "time between rows of the result; 0: a row for each step, but not more than 1000 rows and not fewer than 200",
     .is_setting = true},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "q,u,z,measures,energy,bath,errors",
     .help = "what to write: these groups, or single columns by name, separated by commas",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help =
         "fixed step size, without error control; 0: variable steps with error control, or the interval of a Langevin bath",
     .is_setting = true},
    {.name = "events",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help =
         "list what unilateral elements do in this file, as comma-separated values: time, element, kind (impact, closes, opens, sticks, slips), speeds before and after an impact, its normal impulse, and that of friction in two directions"},
    {.name = "stepper",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "integrator",
     .help =
         "integrator: the method of --integrator; contact: steps of --step (0: 1 ms) that keep "
         "<colliders> from penetrating each other; with --formulation: trapezoid, newmark, hht, "
         "generalized-alpha, predictor-corrector, predictor, heun, semi-explicit-euler",
     .is_setting = true},
    {.name = "formulation",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "steps of --step (0: 10 ms) for real time instead of an integrator: hybrid, "
             "semi-recursive, fully-recursive, global, welch, baumgarte",
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

static const cli_option paths_options[] = {{.name = "tolerance",
                                            .kind = CLI_POSITIVE,
                                            .value = "METERS",
                                            .initial = "5e-4",
                                            .help = "largest RMS error of lengths"},
                                           {.name = "arm-tolerance",
                                            .kind = CLI_POSITIVE,
                                            .value = "METERS",
                                            .initial = "1e-3",
                                            .help = "largest RMS error of moment arms"},
                                           {.name = "degree",
                                            .kind = CLI_COUNT,
                                            .value = "NUMBER",
                                            .initial = "6",
                                            .help = "highest degree of the polynomials"},
                                           {.name = "path",
                                            .letter = 'p',
                                            .kind = CLI_LIST,
                                            .value = "NAME",
                                            .help = "only this path; can be repeated"},
                                           {.name = "along-constraints",
                                            .kind = CLI_FLAG,
                                            .help = "fit along what the constraints allow, to "
                                                    "independent coordinates only"},
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
     .help =
         "length of chunks; within a chunk, each frame starts from the one before; 0: one chunk",
     .is_setting = true},
    {.name = "marker-errors",
     .kind = CLI_FLAG,
     .help = "also write the distance of each marker from its measured position [m]",
     .is_setting = true},
    {.name = "ignore-ranges",
     .kind = CLI_FLAG,
     .help = "let coordinates leave their ranges",
     .is_setting = true},
    {0}};

static const cli_option muscles_options[] = {
    {.name = "over",
     .kind = CLI_TEXT,
     .value = "COORDINATE",
     .help = "move this coordinate through its range; the others keep their initial values",
     .is_setting = true},
    {.name = "from",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "first value of the coordinate, in rad or m; default: the lower end of its range",
     .is_setting = true},
    {.name = "to",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "last value of the coordinate; default: the upper end of its range",
     .is_setting = true},
    {.name = "rows",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "101",
     .help = "number of values of the coordinate",
     .is_setting = true},
    {.name = "muscles",
     .letter = 'm',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "names of muscles, separated by commas; default: all",
     .is_setting = true},
    {.name = "outputs",
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "length,tendon_force",
     .help = "outputs of each muscle besides moment arms, as in <muscle_output>",
     .is_setting = true},
    {.name = "arms",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "coordinates of the moment arms; default: all that change the length of the muscle",
     .is_setting = true},
    {.name = "activation",
     .kind = CLI_NUMBER,
     .value = "NUMBER",
     .help = "activation of all muscles, 0 to 1; default: their initial activations",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "HERTZ",
     .initial = "0",
     .help = "smooth the coordinates of MOTION first, as for talus id; 0: off",
     .is_setting = true},
    {.name = "plot",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "also plot the table into this file"},
    {0}};

static const cli_option convert_options[] = {
    {.name = "part",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "markers",
     .help =
         "which part of a C3D file: markers, analog (channels), plates (force plates, with forces "
         "at their centers) or forces (force plates, with forces at the centers of pressure)"},
    {0}};

static const cli_option generate_options[] = {
    {.name = "function",
     .kind = CLI_TEXT,
     .value = "LIST",
     .initial = "forward_dynamics,inverse_dynamics,mass_matrix",
     .help = "what to generate, separated by commas: forward_dynamics, inverse_dynamics, "
             "mass_matrix, jacobian, derivatives, all"},
    {.name = "station",
     .kind = CLI_LIST,
     .value = "BODY=X,Y,Z",
     .help = "also generate the Jacobian of this point of a body [m]; can be repeated"},
    {.name = "prefix",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "what the names of all functions begin with; default: the name of the model"},
    {.name = "float", .kind = CLI_FLAG, .help = "compute with float instead of double"},
    {.name = "part",
     .kind = CLI_COUNT,
     .value = "STATEMENTS",
     .initial = "400",
     .help = "cut functions into parts of so many statements, which compilers can cope with"},
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
    {.name = "external",
     .letter = 'x',
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "a table of measured loads, for example of force plates",
     .is_setting = true},
    {.name = "load",
     .letter = 'l',
     .kind = CLI_LIST,
     .value = "BODY=FORCE,POINT,TORQUE",
     .help =
         "which columns of --external act on which body: their names without the final x, y, z; in ground [N, m, N m]. Without POINT: at the origin of the body; can be repeated",
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
         "vary an initial coordinate or speed, a mass (BODY.mass) or a <param>; if repeated, all combinations are run",
     .is_setting = true},
    {.name = "samples",
     .letter = 'n',
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "number of random samples, uniform between LOW and HIGH; 0: a grid",
     .is_setting = true},
    {.name = "latin",
     .kind = CLI_FLAG,
     .help = "samples form a Latin hypercube: each range is covered evenly",
     .is_setting = true},
    {.name = "shard",
     .kind = CLI_TEXT,
     .value = "I/N",
     .help = "with --resume: do only part I of N, from 1 to N, and leave the others to other "
             "processes or machines"},
    {.name = "merge",
     .kind = CLI_LIST,
     .value = "FOLDER",
     .help = "take over what is done in the .run folder of the same command elsewhere"},
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
     .initial = "q,u,measures,energy,bath",
     .help = "what to write, as for talus simulate",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .initial = "0",
     .help = "fixed step size, as for talus simulate",
     .is_setting = true},
    {0}};

static const cli_option plot_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to draw, separated by commas; * stands for any letters. Default: all that "
             "are not zero or round-off, but only the twelve that vary most"},
    {.name = "x",
     .kind = CLI_TEXT,
     .value = "COLUMN",
     .help = "column on the horizontal axis; default: the first"},
    {.name = "degrees", .kind = CLI_FLAG, .help = "angles and their rates in degrees"},
    {.name = "aspect",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "auto",
     .help = "equal: both axes have the same scale; free: they have not; auto: they have with "
             "--x, if both have the same unit and their ranges are within a factor of 20"},
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
     .help = "height of the picture; 0: chosen for its panels and legends"},
    {.name = "scale",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "2",
     .help = "dots of a PNG for each pixel"},
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
     .help = "most rows of each result that are shown, evenly chosen"},
    {.name = "up",
     .kind = CLI_TEXT,
     .value = "AXIS",
     .help = "x, y or z; default: opposite to gravity"},
    {.name = "title",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "title of the page; default: the name of the model"},
    {.name = "show",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help =
         "layers to show at first besides the usual ones: forces, reactions, centers, inertia, frames, names, trails, surfaces"},
    {.name = "live",
     .kind = CLI_FLAG,
     .help = "simulate the model while it is shown, with sliders for its params; Ctrl-C ends it"},
    {.name = "port",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "0",
     .help = "port of --live, on 127.0.0.1 only; default: any free port"},
    {.name = "open", .kind = CLI_FLAG, .help = "open the page in the browser"},
    {.name = "force", .kind = CLI_FLAG, .help = "write the file even if it has more than 200 MB"},
    {0}};

static const cli_option render_options[] = {
    {.name = "at",
     .kind = CLI_NUMBER,
     .value = "SECONDS",
     .help = "time of a picture; default: the start of the run"},
    {.name = "fps",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "30",
     .help = "pictures for each second of a film"},
    {.name = "speed",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "1",
     .help = "seconds of the run in each second of a film"},
    {.name = "size",
     .kind = CLI_TEXT,
     .value = "WIDTHxHEIGHT",
     .initial = "1280x720",
     .help = "pixels"},
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns for charts, separated by commas; default: all"},
    {.name = "frames",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "3000",
     .help = "most rows of each result that are shown, evenly chosen"},
    {.name = "up",
     .kind = CLI_TEXT,
     .value = "AXIS",
     .help = "x, y or z; default: opposite to gravity"},
    {.name = "title",
     .kind = CLI_TEXT,
     .value = "TEXT",
     .help = "title of the page; default: the name of the model"},
    {.name = "show",
     .kind = CLI_TEXT,
     .value = "LIST",
     .help =
         "layers to show at first besides the usual ones: forces, reactions, centers, inertia, frames, names, trails, surfaces"},
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

static const cli_option stats_options[] = {
    {.name = "columns",
     .letter = 'c',
     .kind = CLI_TEXT,
     .value = "LIST",
     .help = "columns to average, separated by commas; default: all but the first"},
    {.name = "from",
     .kind = CLI_NUMBER,
     .value = "TIME",
     .help = "leave out rows whose first column is below this"},
    {.name = "histogram",
     .kind = CLI_COUNT,
     .value = "BINS",
     .initial = "0",
     .help = "also count values in this many intervals; 0: off"},
    {.name = "autocorrelation",
     .kind = CLI_COUNT,
     .value = "ROWS",
     .initial = "0",
     .help = "also correlate values up to this many rows apart; 0: off"},
    {0}};

static const cli_option bench_options[] = {{.name = "seconds",
                                            .kind = CLI_POSITIVE,
                                            .value = "SECONDS",
                                            .initial = "1",
                                            .help = "time for each measurement"},
                                           {0}};

static const cli_option run_options[] = {
    {.name = "property",
     .letter = 'p',
     .kind = CLI_LIST,
     .value = "NAME=VALUE",
     .help = "give a property of the tool another value; can be repeated",
     .is_setting = true},
    {.name = "out",
     .letter = 'o',
     .kind = CLI_TEXT,
     .value = "FOLDER",
     .help = "write the results into this folder instead of the one that the set-up names"},
    {0}};

// What all tools of OpenSim have, for the tables below.
#define TOOL_TIMES                                                                                 \
    {.name = "from",                                                                               \
     .kind = CLI_TEXT,                                                                             \
     .value = "TIME",                                                                              \
     .help = "begin here [s]; if not given, where the data begin",                                 \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "to", .kind = CLI_TEXT, .value = "TIME",                                           \
        .help = "end here [s]; if not given, where the data end", .is_setting = true               \
    }
#define TOOL_FORCES                                                                                \
    {.name = "loads",                                                                              \
     .kind = CLI_TEXT,                                                                             \
     .value = "FILE",                                                                              \
     .help = "external loads, an <ExternalLoads> file of OpenSim",                                 \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "forces", .kind = CLI_TEXT, .value = "FILES",                                      \
        .help = "files of forces that are added to those of the model: reserves, residuals",       \
        .is_setting = true                                                                         \
    }
#define TOOL_REST                                                                                  \
    {.name = "property",                                                                           \
     .letter = 'p',                                                                                \
     .kind = CLI_LIST,                                                                             \
     .value = "NAME=VALUE",                                                                        \
     .help = "give another property of the tool a value; can be repeated",                         \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "out", .letter = 'o', .kind = CLI_TEXT, .value = "FOLDER",                         \
        .help = "write the results into this folder; if not given, into this one"                  \
    }

static const cli_option scale_options[] = {
    {.name = "measure",
     .kind = CLI_LIST,
     .value = "BODIES=PAIRS",
     .help = "scale these bodies by the distances of markers, here to there in the model: "
             "femur_r,femur_l=RHip,RKnee+LHip,LKnee takes the mean of two pairs; femur_r:Y=... "
             "scales along y alone; can be repeated",
     .is_setting = true},
    {.name = "factor",
     .kind = CLI_LIST,
     .value = "BODIES=FACTOR",
     .help = "scale these bodies by this factor, or by three of them, X,Y,Z; can be repeated",
     .is_setting = true},
    {.name = "mass",
     .kind = CLI_TEXT,
     .value = "KG",
     .help = "mass of the subject; if not given, that of the scaled model",
     .is_setting = true},
    {.name = "keep-distribution",
     .kind = CLI_FLAG,
     .help = "keep the masses of the bodies in proportion, whatever their sizes",
     .is_setting = true},
    {.name = "markers",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "a <MarkerSet> file with markers for the model",
     .is_setting = true},
    {.name = "hold",
     .kind = CLI_LIST,
     .value = "COORDINATE[=VALUE]",
     .help = "when markers are placed, hold this coordinate at VALUE [rad or m], or at its "
             "default; can be repeated",
     .is_setting = true},
    {.name = "sizes-only",
     .kind = CLI_FLAG,
     .help = "scale, but leave markers where they are on their bodies",
     .is_setting = true},
    TOOL_REST,
    {0}};

static const cli_option so_options[] = {
    TOOL_FORCES,
    {.name = "cutoff",
     .kind = CLI_TEXT,
     .value = "HZ",
     .help = "smooth the motion by OpenSim's filter with this cutoff",
     .is_setting = true},
    {.name = "exponent",
     .kind = CLI_TEXT,
     .value = "NUMBER",
     .help = "minimize the sum of activations to this power; 2 if not given",
     .is_setting = true},
    TOOL_TIMES,
    TOOL_REST,
    {0}};

static const cli_option analyze_options[] = {
    {.name = "analysis",
     .kind = CLI_LIST,
     .value = "NAME",
     .help = "Kinematics, BodyKinematics, PointKinematics, JointReaction, Actuation, "
             "MuscleAnalysis, ForceReporter, ProbeReporter and so on; can be repeated",
     .is_setting = true},
    {.name = "states",
     .kind = CLI_FLAG,
     .help = "MOTION has states, with speeds and what muscles have, not coordinates alone",
     .is_setting = true},
    TOOL_FORCES,
    {.name = "cutoff",
     .kind = CLI_TEXT,
     .value = "HZ",
     .help = "smooth the motion by OpenSim's filter with this cutoff",
     .is_setting = true},
    TOOL_TIMES,
    TOOL_REST,
    {0}};

#define TRACKING                                                                                   \
    TOOL_FORCES,                                                                                   \
        {.name = "tasks",                                                                          \
         .kind = CLI_TEXT,                                                                         \
         .value = "FILE",                                                                          \
         .help = "a <CMC_TaskSet> file: coordinates with their gains; if not given, all are "      \
                 "followed, with kp 100 and kv 20",                                                \
         .is_setting = true},                                                                      \
    {                                                                                              \
        .name = "cutoff", .kind = CLI_TEXT, .value = "HZ",                                         \
        .help = "smooth the motion by OpenSim's filter of finite length with this cutoff",         \
        .is_setting = true                                                                         \
    }

static const cli_option cmc_options[] = {
    TRACKING,
    {.name = "bounds",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "a <ControlSet> file with ranges of controls",
     .is_setting = true},
    {.name = "window",
     .kind = CLI_TEXT,
     .value = "TIME",
     .help = "how far it looks ahead [s]; 0.010 if not given",
     .is_setting = true},
    {.name = "soft",
     .kind = CLI_FLAG,
     .help = "meet accelerations as well as they are worth, instead of exactly",
     .is_setting = true},
    TOOL_TIMES,
    TOOL_REST,
    {0}};

static const cli_option rra_options[] = {
    TRACKING,
    {.name = "body",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "move the mass center of this body, usually the torso, so that residuals vanish",
     .is_setting = true},
    TOOL_TIMES,
    TOOL_REST,
    {0}};

static const cli_option rerun_options[] = {{.name = "model",
                                            .letter = 'm',
                                            .kind = CLI_TEXT,
                                            .value = "FILE",
                                            .help = "path of the model, if it has moved"},
                                           {0}};

static const cli_option help_options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print the manual page, as man(7) source"},
    {.name = "completion",
     .kind = CLI_TEXT,
     .value = "SHELL",
     .help = "print the completion script of a shell: bash, zsh or fish"},
    {0}};

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
     MOTION_OPTIONS | CLI_RESULT | CLI_RESUME, simulate_options,
     "talus simulate pendulum.talus --end 5 -o swing.sto", "five seconds, a hundred rows",
     cmd_simulate},
    {"assemble", "MODEL", 1, 1, "find coordinates that meet all constraints",
     "Starts from the initial coordinates of the model and prints the solution. -o writes a table of "
     "one row or, if the name ends with .talus, the assembled model.",
     MODEL_OPTIONS | CLI_RESULT | CLI_SEED | CLI_OUT | CLI_AGAIN | CLI_FORMAT, assemble_options,
     "talus assemble four_bar.talus", "close the loop", cmd_assemble},
    {"ik", "MODEL FRAMES", 2, 2, "find coordinates that follow markers",
     "FRAMES is a .trc file. The <markers> of the model give the place and the weight of each marker. "
     "A marker that is only in the model or only in FRAMES is left out, with a warning. The result "
     "has the coordinates of each frame and its errors.",
     MODEL_OPTIONS | CLI_RESULT | CLI_RESUME | CLI_THREADS | CLI_OUT | CLI_FORMAT, ik_options,
     "talus ik mine.talus frames.trc -o found.sto", "coordinates of each frame", cmd_ik},
    {"id", "MODEL MOTION", 2, 2, "find the forces behind a motion",
     "MOTION is a table of time and coordinates, as written by talus ik or talus simulate. A "
     "coordinate without a column keeps its value. Angles are in degrees if the table says so. "
     "Speeds and accelerations come from polynomials through nine rows, which amplify noise: use "
     "--cutoff for measured motions, 6 Hz for walking. The result has one force for each speed: "
     "the force that is needed besides the forces of the model.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT, id_options,
     "talus id pendulum.talus swing.sto -o forces.sto", "moments at the joints", cmd_id},
    {"muscles", "MODEL [MOTION]", 1, 2, "write lengths, moment arms and forces of muscles",
     "Moves one coordinate through its range (--over), or follows MOTION, a table of time and "
     "coordinates. Fibers are in equilibrium with their tendons: at rest with --over, with the "
     "speeds of the motion otherwise. If MOTION has columns of activations and fiber lengths, as "
     "talus simulate -c z writes them, these are used instead. A moment arm is positive where the "
     "muscle gets shorter as the coordinate grows; constraints move other coordinates with it.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT, muscles_options,
     "talus muscles arm.talus --over elbow -o arms.csv --plot arms.svg",
     "moment arms through the range of the elbow", cmd_muscles},
    {"modes", "MODEL", 1, 1, "find frequencies and damping of small motions",
     "Linearizes the model at its initial state, or at an equilibrium. A mode with a positive real "
     "part grows.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT, modes_options,
     "talus modes pendulum.talus --at-rest", "how it swings about its equilibrium", cmd_modes},
    {"equilibrium", "MODEL", 1, 1, "find where a model stays at rest",
     "Starts from the initial coordinates of the model and goes downhill. -o is as for talus assemble.",
     MODEL_OPTIONS | CLI_RESULT | CLI_OUT | CLI_AGAIN | CLI_FORMAT, equilibrium_options,
     "talus equilibrium pendulum.talus", "it hangs down", cmd_equilibrium},
    {"paths", "MODEL", 1, 1, "fit polynomials of coordinates to paths",
     "Fits lengths and moment arms together, within the ranges of the coordinates, and prints the "
     "errors at other poses. The degree is the lowest within the tolerances. -o writes the model with "
     "polynomials in place of those paths. Paths without a good fit stay as they are, and the exit "
     "code is 1.",
     MODEL_OPTIONS | CLI_SEED | CLI_OUT | CLI_AGAIN | CLI_FORMAT, paths_options,
     "talus paths leg.talus -o fast_leg.talus", "a leg without obstacles", cmd_paths},
    {"sweep", "MODEL", 1, 1, "simulate a model for many values of its parameters",
     "Writes one row for each sample: the values, then the columns at the end of the run. The model "
     "is read again for each value of a <param>, but not for coordinates, speeds and masses. The last "
     "--vary changes fastest.",
     MOTION_OPTIONS | CLI_RESULT | CLI_RESUME | CLI_SEED | CLI_THREADS, sweep_options,
     "talus sweep pendulum.talus --vary half=0.4:0.6:5 --end 2", "five lengths", cmd_sweep},
    {"view", "MODEL [RESULT...]", 1, CLI_MAX_ARGS, "write a page that shows a model and its motion",
     "The page is one file that opens in any browser, without a network. RESULT is a table that talus "
     "simulate, ik or another command wrote. The first file may be a result, whose header names its "
     "model. Several results are shown together. A .trc file adds measured markers to the result "
     "before it. Without a result each joint moves through its range. The name of -o ends with .html, "
     ".glb (glTF 2.0, for other drawing programs) or .json (doc/scene.md). --live writes no file: it "
     "simulates the model and prints the address of a page that shows it.",
     MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR | CLI_OUT | CLI_AGAIN | CLI_FORMAT, view_options,
     "talus view swing.sto --open", "a page, in the browser", cmd_view},
    {"render", "MODEL [RESULT...]", 1, CLI_MAX_ARGS, "draw pictures or a film of a model",
     "Takes the same files as talus view. The name of -o ends with .png, .apng or .mp4. With a number "
     "in it (frames/%04d.png) there is a file for each picture of the film. Chromium draws them at exact "
     "times, without a window: Debian's package chromium-headless-shell is enough.",
     MODEL_OPTIONS | CLI_OUT | CLI_AGAIN | CLI_FORMAT, render_options,
     "talus render swing.sto --at 0.8 -o swing.png", "one moment", cmd_render},
    {"plot", "TABLE...", 1, CLI_MAX_ARGS, "draw columns of tables as SVG, PNG or PDF",
     "TABLE is a .sto, .mot, .trc, .csv, .npz or .c3d file. Several tables are drawn over each other. There is "
     "one panel for each unit, if the tables have units. The name of -o ends with .svg, .png or .pdf. "
     "Without -o the picture is written to standard output, as SVG or as --format says.",
     CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN | CLI_FORMAT, plot_options,
     "talus plot swing.sto -c upper.q0,lower.q0 -o swing.svg", "two angles over time", cmd_plot},
    {"show", "TABLE", 1, 1, "print columns of a table", "", CLI_JSON | CLI_QUIET, show_options,
     "talus show swing.sto -c time,total_energy -n 5", "five rows of two columns", cmd_show},
    {"stats", "TABLE", 1, 1, "average columns of a table",
     "Prints mean, standard deviation and range of each column, for how many rows its values are "
     "correlated, and the error of the mean: the block error, which takes account of correlations. "
     "Rows must be evenly spaced in time (talus simulate --every).",
     CLI_JSON | CLI_QUIET, stats_options, "talus stats bath.sto -c temperature --from 10",
     "the temperature after 10 s, and its error", cmd_stats},
    {"convert", "FILE", 1, 2, "write a file in another format",
     "Tables: reads .sto, .mot, .trc, .csv, .npz and .c3d, writes these but .c3d. Models: reads "
     ".talus, .urdf and .osim, writes .talus with includes and params resolved, and .osim. The "
     "extensions select the formats. The new name can also follow FILE, without -o.",
     CLI_JSON | CLI_QUIET | CLI_READING | CLI_OUT | CLI_AGAIN | CLI_FORMAT, convert_options,
     "talus convert swing.sto -o swing.csv", "for a spreadsheet", cmd_convert},
    {"generate", "MODEL", 1, 1, "write C code for the dynamics of one model",
     "The code needs sin, cos and sqrt of libm, and nothing else: no Talus, no memory, no branches, "
     "no loops. It holds the values of the model, with those of --set; q, u and forces are "
     "arguments. The name of -o ends with .c, and a header is written beside it. Without -o it only "
     "says what the functions cost. Constraints, locks, contact, muscles and functions cannot be "
     "generated, and are refused by name.",
     MODEL_OPTIONS | CLI_OUT | CLI_AGAIN, generate_options,
     "talus generate pendulum.talus -o pendulum.c",
     "forward and inverse dynamics, and the mass matrix", cmd_generate},
    {"mol", "ACTION FILE [COORDINATES] [TARGET|RUN]", 2, 4,
     "molecules: energies, minima, dynamics, and their files",
     "ACTION is info, energy, minimize, run, view, convert or fit. FILE is AMBER's topology (.prmtop) and "
     "COORDINATES a file of its atoms: .inpcrd, .rst7, .pdb, .cif, .xyz or .dcd, of which the last "
     "frame counts. info and convert take any of these files alone. run writes a table of energies "
     "by term, temperature and the quantity that is conserved, which talus plot draws; its first "
     "velocities are random. minimize and fit write coordinates. view writes a page with balls and sticks, which move "
     "when RUN is a table that run wrote with --coordinates. fit brings the atoms as near as "
     "their torsions allow to where TARGET has them. Lengths are in nm, times in ps, energies in "
     "kJ/mol.",
     CLI_JSON | CLI_QUIET | CLI_SEED | CLI_OUT | CLI_FORMAT | CLI_RESULT | CLI_RESUME, mol_options,
     "talus mol run ala.prmtop ala.inpcrd -o ala.sto --trajectory ala.dcd",
     "10 ps at 300 K in torsion space", cmd_mol},
    {"run", "SETUP", 1, 1, "run a tool of OpenSim",
     "SETUP is a set-up file of OpenSim's ScaleTool, InverseKinematicsTool, IMUPlacer, "
     "IMUInverseKinematicsTool, InverseDynamicsTool, AnalyzeTool, ForwardTool, CMCTool or RRATool. "
     "The results have the names and columns that OpenSim gives them. --start replaces the default "
     "value of a coordinate.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START, run_options,
     "talus run setup_ik.xml -p model_file=leg.osim -o results", "angles from markers", cmd_run},
    {"scale", "MODEL MARKERS", 2, 2, "make a model of a subject",
     "MODEL is an .osim file, MARKERS a .trc or .c3d file of the subject standing still; means over "
     "its frames count. Writes subject_scaled.osim with the sizes of the subject, and subject.osim, "
     "in which markers are where they were seen, too.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
     scale_options, "talus scale leg.osim standing.trc --measure thigh=HIP,KNEE -o me",
     "a thigh of the length that was measured", cmd_scale},
    {"so", "MODEL MOTION", 2, 2, "static optimization: which muscles make a motion",
     "MODEL is an .osim file, MOTION a table of its coordinates. Writes activations, forces and "
     "controls. Each row is proven to be the one with the least effort; rows for which the muscles "
     "are too weak are named.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START, so_options,
     "talus so leg.osim walk.mot --cutoff 6 -o results", "activations of all muscles", cmd_so},
    {"cmc", "MODEL MOTION", 2, 2, "computed muscle control: excitations that follow a motion",
     "MODEL is an .osim file, MOTION a table of its coordinates. The model is simulated, and its "
     "muscles are excited such that it stays on the motion. Writes states, controls, errors, "
     "forces.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START, cmc_options,
     "talus cmc leg.osim walk.mot --from 0 --to 0.5 -o results", "states.sto and controls.xml",
     cmd_cmc},
    {"rra", "MODEL MOTION", 2, 2, "reduce residuals: the mass center that fits motion and loads",
     "MODEL is an .osim file, MOTION a table of its coordinates, --forces has actuators of all "
     "coordinates and the residuals FX FY FZ MX MY MZ. Writes the adjusted model, the motion that "
     "it can make, and mean residuals.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START, rra_options,
     "talus rra body.osim walk.mot --forces motors.xml --body torso", "adjusted_model.osim",
     cmd_rra},
    {"analyze", "MODEL MOTION", 2, 2, "tables along a motion: bodies, joints, muscles, forces",
     "MODEL is an .osim file, MOTION a table of its coordinates, or of states with --states. Each "
     "--analysis is one of OpenSim's, with its usual properties; a set-up file (talus run) can "
     "give it others.",
     CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
     analyze_options, "talus analyze leg.osim walk.mot --analysis MuscleAnalysis -o results",
     "lengths, moment arms and forces of muscles", cmd_analyze},
    {"bench", "MODEL", 1, 1, "measure how fast a model is",
     "Times forward dynamics and simulation, on one thread. ./run bench compares Talus with other "
     "libraries.",
     MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR, bench_options, "talus bench human_body.talus",
     "microseconds per evaluation", cmd_bench},
    {"template", "", 0, 0, "write a first model file",
     "A double pendulum with comments. Without -o it is written to standard output.",
     CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN, NULL, "talus template -o mine.talus",
     "then edit mine.talus", cmd_template},
    {"rerun", "RESULT", 1, 1, "repeat the run that made a result",
     "Runs the command in the header of RESULT again, with the same settings, and compares every "
     "number, bit for bit. The exit code is 1 if a number differs. The last bits depend on the build "
     "and on the processor, with or without fused multiply-adds. A message says so if the set of "
     "kernels has changed (talus version).",
     CLI_JSON | CLI_QUIET | CLI_OUT | CLI_AGAIN | CLI_FORMAT, rerun_options,
     "talus rerun swing.sto", "the same, bit for bit", cmd_rerun},
    {"help", "[COMMAND]", 0, 1, "explain the program, a command, or an element of model files",
     "talus help integrators lists the integration methods.", CLI_JSON | CLI_QUIET, help_options,
     "talus help pin", "the attributes of <pin>", cmd_help},
    {"version", "", 0, 0, "print the version", "", CLI_JSON | CLI_QUIET, NULL, "talus version",
     "version and commit", cmd_version},
    {0}};
