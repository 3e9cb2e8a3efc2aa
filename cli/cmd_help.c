// talus help: the program, a command, the integrators, the manual page, completion scripts.
#include "commands.h"

#include <string.h>

static void list_integrators(void)
{
    for (int i = 0; i < tal_num_methods(); ++i) {
        printf("  %-22s%s\n", tal_method_name(i), tal_method_summary(i));
    }
}

int cmd_help(const cli_args *args)
{
    if (cli_flag(args, "man")) {
        cli_man_page(stdout);
        return CLI_OK;
    }
    const char *const shell = cli_text(args, "completion");
    if (shell != NULL) {
        if (cli_completion(stdout, shell)) return CLI_OK;
        return cli_fail(args, CLI_USAGE, "--completion knows bash, zsh and fish, not '%s'.", shell);
    }
    if (args->num_files == 0) {
        cli_help(stdout);
        return CLI_OK;
    }
    const char *const name = args->files[0];
    if (strcmp(name, "integrators") == 0) {
        list_integrators();
        return CLI_OK;
    }
    const cli_command *const command = cli_find_command(name);
    if (command == NULL) {
        const char *const meant = cli_guess_command(name);
        return cli_fail(args, CLI_USAGE, "there is no command '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
    }
    cli_help_command(stdout, command);
    return CLI_OK;
}
