// talus help: the program, a command, the integrators, an element of model files, the manual page,
// completion scripts.
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

// --- elements of model files, from the reference that the library writes ---

// Print a part of the reference, up to a line that begins with `end`.
static void print_until(const char *at, const char *end)
{
    const size_t length = strlen(end);
    while (*at != 0 && strncmp(at, end, length) != 0) {
        const char *const newline = strchr(at, '\n');
        const size_t size = newline != NULL ? (size_t)(newline - at) + 1 : strlen(at);
        (void)fwrite(at, 1, size, stdout);
        at += size;
    }
}

// The heading of the section that `at` is in.
static const char *section_before(const char *text, const char *at)
{
    const char *section = text;
    for (const char *next = strstr(text, "\n## "); next != NULL && next < at;
         next = strstr(next + 1, "\n## ")) {
        section = next + 1;
    }
    return section;
}

// Print what the reference says of an element: where it stands, its own attributes, and those that
// all of its section have. Is there one of this name?
static bool help_element(const char *name)
{
    const size_t length = tal_model_reference(NULL, 0);
    char *const text = cli_alloc(length + 1, 1);
    (void)tal_model_reference(text, length + 1);
    char *const heading = cli_format("### `<%s>`\n", name);
    bool found = false;
    for (const char *at = strstr(text, heading); at != NULL; at = strstr(at + 1, heading)) {
        const char *const section = section_before(text, at);
        const char *const shared = strstr(section, "All of them have:");
        const char *const first = strstr(section, "\n### ");
        printf("%s", found ? "\n" : "");
        printf("%.*s\n\n", (int)strcspn(section + 3, "\n"), section + 3);
        printf("<%s>", name);
        print_until(strchr(at, '\n'), "#");
        found = true;
        if (shared != NULL && first != NULL && shared < first) print_until(shared, "### ");
    }
    free(heading);
    free(text);
    return found;
}

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
    if (command == NULL && help_element(name)) return CLI_OK;
    if (command == NULL) {
        const char *const meant = cli_guess_command(name);
        return cli_fail(args, CLI_USAGE, "there is no command and no element '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
    }
    cli_help_command(stdout, command);
    return CLI_OK;
}
