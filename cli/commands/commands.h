// The commands: each in a file of its own, cmd_NAME.c. All return an exit code.
#ifndef TALUS_CLI_COMMANDS_H
#define TALUS_CLI_COMMANDS_H

#include "cli.h"

// Each runs one command with its arguments; an exit code.
int cmd_analyze(const cli_args *args);
int cmd_assemble(const cli_args *args);
int cmd_bench(const cli_args *args);
int cmd_check(const cli_args *args);
int cmd_cmc(const cli_args *args);
int cmd_convert(const cli_args *args);
int cmd_equilibrium(const cli_args *args);
int cmd_fit(const cli_args *args);
int cmd_generate(const cli_args *args);
int cmd_help(const cli_args *args);
int cmd_id(const cli_args *args);
int cmd_ik(const cli_args *args);
int cmd_info(const cli_args *args);
int cmd_modes(const cli_args *args);
int cmd_paths(const cli_args *args);
int cmd_muscles(const cli_args *args);
int cmd_plot(const cli_args *args);
int cmd_render(const cli_args *args);
int cmd_rerun(const cli_args *args);
int cmd_rra(const cli_args *args);
int cmd_run(const cli_args *args);
int cmd_show(const cli_args *args);
int cmd_sensitivities(const cli_args *args);
int cmd_simulate(const cli_args *args);
int cmd_scale(const cli_args *args);
int cmd_so(const cli_args *args);
int cmd_stats(const cli_args *args);
int cmd_sweep(const cli_args *args);
int cmd_template(const cli_args *args);
int cmd_version(const cli_args *args);
int cmd_view(const cli_args *args);

#endif // TALUS_CLI_COMMANDS_H
