// talus analyze: tables along a motion.
#include "commands/commands.h"
#include "commands/set_up.h"
#include "commands/tool_options.h"

static int run(const cli_args *args)
{
    static const set_up_tool tool = {.root = "AnalyzeTool",
                                     .cutoff = "lowpass_cutoff_frequency_for_coordinates",
                                     .given = "coordinates_file",
                                     .analysis = NULL};
    return set_up_run_tool(args, &tool);
}

static const cli_option options[] = {
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

const cli_command cmd_analyze = {
    .name = "analyze",
    .group = CLI_OPENSIM,
    .files = "MODEL MOTION",
    .min_files = 2,
    .max_files = 2,
    .summary = "tables along a motion: bodies, joints, muscles, forces",
    .about =
        "MODEL is an .osim file, MOTION a table of its coordinates, or of states with --states. Each "
        "--analysis is one of OpenSim's, with its usual properties; a set-up file (talus run) can "
        "give it others.",
    .common = CLI_JSON | CLI_QUIET | CLI_THREADS | CLI_RESULT | CLI_AGAIN | CLI_SET | CLI_START,
    .options = options,
    .example = "talus analyze leg.osim walk.mot --analysis MuscleAnalysis -o results",
    .example_help = "lengths, moment arms and forces of muscles",
    .run = run};
