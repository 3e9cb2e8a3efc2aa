// talus rra: residual reduction.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "commands/tool_options.h"

static int run(const cli_args *args)
{
    static const set_up_tool tool = {.root = "RRATool",
                                     .cutoff = "lowpass_cutoff_frequency",
                                     .given = "desired_kinematics_file",
                                     .analysis = NULL};
    return set_up_run_tool(args, &tool);
}

static const cli_option options[] = {
    TOOL_TRACKING,
    {.name = "body",
     .kind = CLI_TEXT,
     .value = "NAME",
     .help = "move the mass center of this body, usually the torso, so that residuals vanish",
     .is_setting = true},
    TOOL_TIMES,
    TOOL_REST,
    {0}};

const cli_command cmd_rra = {
    .name = "rra",
    .group = CLI_OPENSIM,
    .files = "MODEL MOTION",
    .min_files = 2,
    .max_files = 2,
    .summary = "reduce residuals: the mass center that fits motion and loads",
    .about =
        "MODEL is an .osim file, MOTION a table of its coordinates, --forces has actuators of all "
        "coordinates and the residuals FX FY FZ MX MY MZ. Writes the adjusted model, the motion that "
        "it can make, and mean residuals.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus rra body.osim walk.mot --forces motors.xml --body torso",
    .example_help = "adjusted_model.osim",
    .run = run};
