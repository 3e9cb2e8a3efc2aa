// Help texts and the manual page, from the table of commands.
#include "cli.h"

#include <ctype.h>
#include <string.h>

enum {
    LINE = 78 // characters
};

// Print a text in lines that begin at a column; `column` is where the line is.
static void wrap(FILE *out, const char *text, int indent, int column)
{
    while (*text != 0) {
        const int word = (int)strcspn(text, " ");
        if (column > indent && column + 1 + word > LINE) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            ++column;
        }
        fprintf(out, "%.*s", word, text);
        column += word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void describe_option(FILE *out, const cli_option *option)
{
    enum {
        INDENT = 30
    };

    char head[64];
    const char letter[] = {'-', option->letter, ',', ' ', 0};
    snprintf(head, sizeof head, "  %s--%s%s%s", option->letter != 0 ? letter : "    ", option->name,
             option->value != NULL ? " " : "", option->value != NULL ? option->value : "");
    fputs(head, out);
    int column = (int)strlen(head);
    if (column + 2 > INDENT) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", INDENT - column, "");
    char text[256];
    snprintf(text, sizeof text, option->initial != NULL ? "%s (%s)" : "%s", option->help,
             option->initial);
    wrap(out, text, INDENT, INDENT);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    fprintf(out, "usage: talus %s%s%s%s\n\n", command->name, command->files[0] != 0 ? " " : "",
            command->files, command->common != 0 || command->options != NULL ? " [OPTION...]" : "");
    char first[128];
    snprintf(first, sizeof first, "%c%s.", toupper((unsigned char)command->summary[0]),
             command->summary + 1);
    wrap(out, first, 0, 0);
    if (command->about[0] != 0) wrap(out, command->about, 0, 0);

    const cli_option *options[CLI_MAX_OPTIONS];
    const int n = cli_options_of(command, options);
    if (n > 0) fputc('\n', out);
    for (int i = 0; i < n; ++i) {
        describe_option(out, options[i]);
    }
    fprintf(out, "\nexample: %s\n         %s\n", command->example, command->example_help);
}

// By group, in the order of the list.
void cli_help(FILE *out)
{
    static const char *const group_titles[] = {[CLI_MODELS] = "models",
                                               [CLI_STUDIES] = "studies of a model",
                                               [CLI_OPENSIM] = "tools of OpenSim",
                                               [CLI_RESULTS] = "results: pages, plots, tables",
                                               [CLI_PROGRAM] = "the program"};
    fputs("usage: talus COMMAND [FILE...] [OPTION...]\n\n"
          "Multibody dynamics: models from files, studies of them, tables and plots.\n\n",
          out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        if (c == cli_commands || (*c)->group != (*(c - 1))->group) {
            fprintf(out, "%s%s\n", c == cli_commands ? "" : "\n", group_titles[(*c)->group]);
        }
        fprintf(out, "  %-13s%s\n", (*c)->name, (*c)->summary);
    }
    fputs("\ntalus COMMAND --help explains a command and gives an example.\n"
          "Exit codes: 0 success, 1 the study failed, 2 wrong usage, 3 a bad file.\n",
          out);
}

// A text for man(7), which escapes backslashes, dashes, and dots that begin a line.
static void put_roff(FILE *out, const char *text)
{
    if (*text == '.' || *text == '\'') fputs("\\&", out);
    for (; *text != 0; ++text) {
        if (*text == '\\' || *text == '-') fputc('\\', out);
        fputc(*text, out);
    }
}

static void man_option(FILE *out, const cli_option *option)
{
    fputs(".TP\n.B ", out);
    if (option->letter != 0) fprintf(out, "\\-%c, ", option->letter);
    fputs("\\-\\-", out);
    put_roff(out, option->name);
    if (option->value != NULL) fprintf(out, " \\fI%s\\fR", option->value);
    fputc('\n', out);
    put_roff(out, option->help);
    if (option->initial != NULL) {
        fputs(" (", out);
        put_roff(out, option->initial);
        fputc(')', out);
    }
    fputs("\n", out);
}

static void man_command(FILE *out, const cli_command *command)
{
    fprintf(out, ".SS talus %s \\fI%s\\fR\n", command->name, command->files);
    fputc(toupper((unsigned char)command->summary[0]), out);
    put_roff(out, command->summary + 1);
    fputs(".\n", out);
    if (command->about[0] != 0) {
        put_roff(out, command->about);
        fputc('\n', out);
    }
    for (const cli_option *o = command->options; o != NULL && o->name != NULL; ++o) {
        man_option(out, o);
    }
    if (command->common != 0) fputs(".PP\nCommon options:", out);
    for (int bit = 0; bit < CLI_NUM_COMMON; ++bit) {
        if ((command->common & (1u << bit)) == 0) continue;
        fprintf(out, " \\-\\-%s", cli_common_options[bit].name);
    }
    fputs("\n.PP\nExample:\n.RS\n.nf\n", out);
    put_roff(out, command->example);
    fputs("\n.fi\n.RE\n", out);
}

void cli_man_page(FILE *out)
{
    fprintf(out, ".TH TALUS 1 \"\" \"talus %s\" \"User Commands\"\n", tal_version_string());
    fputs(".SH NAME\ntalus \\- multibody dynamics: models from files, studies, tables and plots\n"
          ".SH SYNOPSIS\n.B talus\n\\fICOMMAND\\fR [\\fIFILE\\fR...] [\\fIOPTION\\fR...]\n"
          ".SH COMMANDS\n",
          out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        man_command(out, *c);
    }
    fputs(".SH COMMON OPTIONS\n", out);
    for (int bit = 0; bit < CLI_NUM_COMMON; ++bit) {
        man_option(out, &cli_common_options[bit]);
    }
    fputs(".SH INTEGRATORS\n", out);
    for (int i = 0; i < tal_num_methods(); ++i) {
        fprintf(out, ".TP\n.B %s\n", tal_method_name(i));
        put_roff(out, tal_method_summary(i));
        fputc('\n', out);
    }
    fputs(".SH EXIT STATUS\n"
          ".TP\n.B 0\nSuccess.\n"
          ".TP\n.B 1\nThe study failed, or was interrupted.\n"
          ".TP\n.B 2\nThe command line is wrong.\n"
          ".TP\n.B 3\nA file cannot be read, written or understood.\n",
          out);
}
