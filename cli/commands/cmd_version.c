// talus version: which program and library this is.
#include "commands/commands.h"
#include "text/report.h"

int cmd_version(const cli_args *args)
{
    report r;
    report_begin(&r, args);
    report_text(&r, "talus", tal_version_string());
    report_text(&r, "commit", tal_git_hash());
    report_text(&r, "kernels", tal_matter_kernel_set());
    report_end(&r);
    return CLI_OK;
}
