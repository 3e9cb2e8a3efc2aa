// talus rra: residual reduction.
#include "commands/commands.h"
#include "commands/set_up.h"

int cmd_rra(const cli_args *args)
{
    static const set_up_tool tool = {.root = "RRATool",
                                     .cutoff = "lowpass_cutoff_frequency",
                                     .given = "desired_kinematics_file",
                                     .analysis = NULL};
    return set_up_run_tool(args, &tool);
}
