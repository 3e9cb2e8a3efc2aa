// talus so: static optimization, which muscles make a motion.
#include "commands/commands.h"
#include "commands/set_up.h"

int cmd_so(const cli_args *args)
{
    static const set_up_tool tool = {.root = "AnalyzeTool",
                                     .cutoff = "lowpass_cutoff_frequency_for_coordinates",
                                     .given = "coordinates_file",
                                     .analysis = "StaticOptimization"};
    return set_up_run_tool(args, &tool);
}
