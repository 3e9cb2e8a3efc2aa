// talus help: the program, a command, the integrators, an element of model files, the manual page,
// completion scripts.
#include "commands/commands.h"
#include "text/report.h"

#include <stdlib.h>
#include <string.h>

// --- elements of model files, from the reference that the library writes ---

// Print a part of the reference, up to a line that begins with `end`.
static void print_until(FILE *out, const char *at, const char *end)
{
    const size_t length = strlen(end);
    while (*at != 0 && strncmp(at, end, length) != 0) {
        const char *const newline = strchr(at, '\n');
        const size_t size = newline != NULL ? (size_t)(newline - at) + 1 : strlen(at);
        (void)fwrite(at, 1, size, out);
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
static bool help_element(FILE *out, const char *name)
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
        fprintf(out, "%s", found ? "\n" : "");
        fprintf(out, "%.*s\n\n", (int)strcspn(section + 3, "\n"), section + 3);
        fprintf(out, "<%s>", name);
        print_until(out, strchr(at, '\n'), "#");
        found = true;
        if (shared != NULL && first != NULL && shared < first) print_until(out, shared, "### ");
    }
    free(heading);
    free(text);
    return found;
}

static void list_integrators(FILE *out)
{
    for (int i = 0; i < tal_num_methods(); ++i) {
        fprintf(out, "  %-22s%s\n", tal_method_name(i), tal_method_summary(i));
    }
}

// Print what is asked for; an exit code.
static int print_help(const cli_args *args, FILE *out)
{
    const char *const name = args->num_files > 0 ? args->files[0] : NULL;
    const char *const shell = cli_text(args, "completion");
    const cli_command *const command = name != NULL ? cli_find_command(name) : NULL;
    if (shell != NULL && !cli_completion(out, shell)) {
        return cli_fail(args, CLI_USAGE, "--completion knows bash, zsh and fish, not '%s'.", shell);
    }
    if (shell != NULL) return CLI_OK;
    if (cli_flag(args, "man")) {
        cli_man_page(out);
    } else if (name == NULL) {
        cli_help(out);
    } else if (strcmp(name, "integrators") == 0) {
        list_integrators(out);
    } else if (command != NULL) {
        cli_help_command(out, command);
    } else if (!help_element(out, name)) {
        const char *const meant = cli_guess_command(name);
        return cli_fail(args, CLI_USAGE, "there is no command and no element '%s'%s%s%s.", name,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "");
    }
    return CLI_OK;
}

// --- as JSON: the text, and the rows of the table that it came from ---

static void report_commands(report *r)
{
    static const char *const columns[] = {"command", "files", "summary", "resume"};
    report_table(r, "commands", columns, 4);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        report_cell_text(r, (*c)->name);
        report_cell_text(r, (*c)->files);
        report_cell_text(r, (*c)->summary);
        report_cell_text(r, cli_how_resumed(*c));
    }
    report_end_table(r);
}

static void report_options(report *r, const cli_command *command)
{
    static const char *const columns[] = {"option", "letter", "value", "default", "help"};
    const cli_option *options[CLI_MAX_OPTIONS];
    const int n = cli_options_of(command, options);
    report_table(r, "options", columns, 5);
    for (int i = 0; i < n; ++i) {
        const char letter[] = {options[i]->letter, 0};
        report_cell_text(r, options[i]->name);
        report_cell_text(r, letter);
        report_cell_text(r, options[i]->value != NULL ? options[i]->value : "");
        report_cell_text(r, options[i]->initial != NULL ? options[i]->initial : "");
        report_cell_text(r, options[i]->help);
    }
    report_end_table(r);
}

static int help_as_json(const cli_args *args)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = cli_need(open_memstream(&text, &size));
    const int code = print_help(args, out);
    if (fclose(out) != 0) (void)cli_need(NULL);
    const char *const name = args->num_files > 0 ? args->files[0] : "";
    const cli_command *const command = cli_find_command(name);
    if (code == CLI_OK) {
        report r;
        report_begin(&r, args);
        report_text(&r, "topic", name);
        if (name[0] == 0) report_commands(&r);
        if (command != NULL) report_options(&r, command);
        report_text(&r, "text", text);
        report_end(&r);
    }
    free(text);
    return code;
}

static int run(const cli_args *args)
{
    return cli_flag(args, "json") ? help_as_json(args) : print_help(args, stdout);
}

static const cli_option options[] = {
    {.name = "man", .kind = CLI_FLAG, .help = "print the manual page, as man(7) source"},
    {.name = "completion",
     .kind = CLI_TEXT,
     .value = "SHELL",
     .help = "print the completion script of a shell: bash, zsh or fish"},
    {0}};

const cli_command cmd_help = {.name = "help",
                              .group = CLI_PROGRAM,
                              .files = "[COMMAND]",
                              .min_files = 0,
                              .max_files = 1,
                              .summary =
                                  "explain the program, a command, or an element of model files",
                              .about = "talus help integrators lists the integration methods.",
                              .common = CLI_JSON | CLI_QUIET,
                              .options = options,
                              .example = "talus help pin",
                              .example_help = "the attributes of <pin>",
                              .run = run};
