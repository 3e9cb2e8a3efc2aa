// talus cmc: computed muscle control.
#include "commands/commands.h"
#include "commands/set_up.h"

int cmd_cmc(const cli_args *args)
{
    static const set_up_tool tool = {.root = "CMCTool",
                                     .cutoff = "lowpass_cutoff_frequency",
                                     .given = "desired_kinematics_file",
                                     .analysis = NULL};
    return set_up_run_tool(args, &tool);
}
