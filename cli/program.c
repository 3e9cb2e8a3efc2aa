// The whole program: find the command, understand its arguments, run it.
#include "cli.h"
#include "command_line/team.h"
#include "text/progress.h"
#include "text/stream.h"

#include <errno.h>
#include <string.h>

// Is there a request for help after the command?
static bool wants_help(int argc, const char *const argv[])
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    }
    return false;
}

// What is kept for --resume needs a place.
static int check_resume(const cli_args *args)
{
    const bool is_kept = (args->command->common & CLI_RESUME) != 0 && cli_flag(args, "resume");
    if (!is_kept || stream_out_path(args) != NULL) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "--resume needs -o FILE: what is done is kept in FILE.run.");
}

static int run_command(int argc, const char *const argv[], const cli_team *team)
{
    if (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0) {
        cli_help(stdout);
        return CLI_OK;
    }
    const cli_command *const command = cli_find_command(argv[0]);
    if (command != NULL && wants_help(argc, argv)) {
        cli_help_command(stdout, command);
        return CLI_OK;
    }
    cli_args args;
    int code = cli_parse(argc, argv, &args);
    args.team = team;
    if (code == CLI_OK) code = check_resume(&args);
    if (code != CLI_OK) return code;
    cli_catch_interrupts();
    return command->run(&args);
}

int cli_main(int argc, const char *const argv[])
{
    return cli_main_in_team(argc, argv, NULL);
}

int cli_main_in_team(int argc, const char *const argv[], const cli_team *team)
{
    if (argc < 2) {
        cli_help(stderr);
        return CLI_USAGE;
    }
    static const char *const version[] = {"version"};
    const bool asks_version = strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0;
    const int code =
        asks_version ? run_command(1, version, NULL) : run_command(argc - 1, argv + 1, team);
    if ((fflush(stdout) != 0 || ferror(stdout) != 0) && code == CLI_OK) {
        fprintf(stderr, "talus: cannot write to standard output: %s.\n", strerror(errno));
        return CLI_BAD_FILE;
    }
    return code;
}
