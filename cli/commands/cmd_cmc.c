// talus cmc: computed muscle control.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "commands/tool_options.h"

static int run(const cli_args *args)
{
    static const set_up_tool tool = {.root = "CMCTool",
                                     .cutoff = "lowpass_cutoff_frequency",
                                     .given = "desired_kinematics_file",
                                     .analysis = NULL};
    return set_up_run_tool(args, &tool);
}

static const cli_option options[] = {
    TOOL_TRACKING,
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

const cli_command cmd_cmc = {
    .name = "cmc",
    .group = CLI_OPENSIM,
    .files = "MODEL MOTION",
    .min_files = 2,
    .max_files = 2,
    .summary = "computed muscle control: excitations that follow a motion",
    .about =
        "MODEL is an .osim file, MOTION a table of its coordinates. The model is simulated, and its "
        "muscles are excited such that it stays on the motion. Writes states, controls, errors, "
        "forces.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus cmc leg.osim walk.mot --from 0 --to 0.5 -o results",
    .example_help = "states.sto and controls.xml",
    .run = run};
