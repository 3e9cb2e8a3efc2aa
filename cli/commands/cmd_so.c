// talus so: static optimization, which muscles make a motion.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "commands/tool_options.h"

static int run(const cli_args *args)
{
    static const set_up_tool tool = {.root = "AnalyzeTool",
                                     .cutoff = "lowpass_cutoff_frequency_for_coordinates",
                                     .given = "coordinates_file",
                                     .analysis = "StaticOptimization"};
    return set_up_run_tool(args, &tool);
}

static const cli_option options[] = {
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

const cli_command cmd_so = {
    .name = "so",
    .group = CLI_OPENSIM,
    .files = "MODEL MOTION",
    .min_files = 2,
    .max_files = 2,
    .summary = "static optimization: which muscles make a motion",
    .about =
        "MODEL is an .osim file, MOTION a table of its coordinates. Writes activations, forces and "
        "controls. Each row is proven to be the one with the least effort; rows for which the muscles "
        "are too weak are named.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus so leg.osim walk.mot --cutoff 6 -o results",
    .example_help = "activations of all muscles",
    .run = run};
