// The commands: each in a file of its own, cmd_NAME.c, with its options and what help says of it.
#ifndef TALUS_CLI_COMMANDS_H
#define TALUS_CLI_COMMANDS_H

#include "cli.h"

// What any command on a model has.
#define MODEL_OPTIONS  (CLI_JSON | CLI_QUIET | CLI_READING)
// What a simulation has besides.
#define MOTION_OPTIONS (MODEL_OPTIONS | CLI_ACCURACY | CLI_INTEGRATOR | CLI_OUT | CLI_FORMAT)

extern const cli_command cmd_analyze;
extern const cli_command cmd_assemble;
extern const cli_command cmd_bench;
extern const cli_command cmd_check;
extern const cli_command cmd_cmc;
extern const cli_command cmd_convert;
extern const cli_command cmd_equilibrium;
extern const cli_command cmd_fit;
extern const cli_command cmd_generate;
extern const cli_command cmd_help;
extern const cli_command cmd_id;
extern const cli_command cmd_ik;
extern const cli_command cmd_info;
extern const cli_command cmd_modes;
extern const cli_command cmd_mol;
extern const cli_command cmd_muscles;
extern const cli_command cmd_optimize;
extern const cli_command cmd_paths;
extern const cli_command cmd_plot;
extern const cli_command cmd_render;
extern const cli_command cmd_rerun;
extern const cli_command cmd_rra;
extern const cli_command cmd_run;
extern const cli_command cmd_scale;
extern const cli_command cmd_sensitivities;
extern const cli_command cmd_show;
extern const cli_command cmd_simulate;
extern const cli_command cmd_so;
extern const cli_command cmd_stats;
extern const cli_command cmd_sweep;
extern const cli_command cmd_template;
extern const cli_command cmd_version;
extern const cli_command cmd_view;

#endif // TALUS_CLI_COMMANDS_H
