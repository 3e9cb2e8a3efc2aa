// The list of commands, and the options that several have. To add a command: a line here and in
// commands.h, and its file cmd_NAME.c.
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

const cli_command *const cli_commands[] = {
    // models
    &cmd_template, &cmd_info, &cmd_check, &cmd_convert, &cmd_paths, &cmd_generate,
    // studies
    &cmd_simulate, &cmd_assemble, &cmd_equilibrium, &cmd_modes, &cmd_ik, &cmd_id, &cmd_muscles,
    &cmd_sweep, &cmd_sensitivities, &cmd_fit, &cmd_optimize, &cmd_mol,
    // OpenSim
    &cmd_run, &cmd_scale, &cmd_so, &cmd_cmc, &cmd_rra, &cmd_analyze,
    // results
    &cmd_view, &cmd_render, &cmd_plot, &cmd_show, &cmd_stats, &cmd_rerun,
    // program
    &cmd_bench, &cmd_help, &cmd_version, NULL};
