// talus version: which program and library this is.
#include "commands/commands.h"
#include "text/report.h"

static int run(const cli_args *args)
{
    report r;
    report_begin(&r, args);
    report_text(&r, "talus", tal_version_string());
    report_text(&r, "commit", tal_git_hash());
    report_text(&r, "kernels", tal_matter_kernel_set());
    report_end(&r);
    return CLI_OK;
}

const cli_command cmd_version = {.name = "version",
                                 .group = CLI_PROGRAM,
                                 .files = "",
                                 .min_files = 0,
                                 .max_files = 0,
                                 .summary = "print the version",
                                 .about = "",
                                 .common = CLI_JSON | CLI_QUIET,
                                 .example = "talus version",
                                 .example_help = "version and commit",
                                 .run = run};
