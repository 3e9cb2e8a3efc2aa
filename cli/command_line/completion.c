// Completion scripts for shells, from the table of commands: commands, their options, files, and
// what follows an option that has a list of choices.
#include "cli.h"

#include <ctype.h>
#include <string.h>

// A text between single quotes of a shell: a quote in it ends them, is escaped, begins them again.
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != 0; ++text) {
        if (*text == '\'') {
            fputs("'\\''", out);
        } else {
            fputc(*text, out);
        }
    }
    fputc('\'', out);
}

static void put_methods(FILE *out)
{
    for (int i = 0; i < tal_num_methods(); ++i) {
        fprintf(out, "%s%s", i > 0 ? " " : "", tal_method_name(i));
    }
}

static void put_commands(FILE *out)
{
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        fprintf(out, "%s%s", c != cli_commands ? " " : "", (*c)->name);
    }
}

// --- bash ---

static void bash_command(FILE *out, const cli_command *command)
{
    const cli_option *options[CLI_MAX_OPTIONS];
    const int n = cli_options_of(command, options);
    fprintf(out, "        %s) options='--help", command->name);
    for (int i = 0; i < n; ++i) {
        fprintf(out, " --%s", options[i]->name);
    }
    fputs("' ;;\n", out);
}

// The first word is a command; after some words a list is known; otherwise options, or files.
static void complete_bash(FILE *out)
{
    fputs("# bash completion for talus; made by: talus help --completion bash\n"
          "_talus()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
          "    local commands='",
          out);
    put_commands(out);
    fputs("'\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$word\")\n"
          "        return\n"
          "    fi\n"
          "    case $before in\n"
          "        -i | --integrator)\n"
          "            mapfile -t COMPREPLY < <(compgen -W '",
          out);
    put_methods(out);
    fputs(
        "' -- \"$word\")\n"
        "            return ;;\n"
        "        help)\n"
        "            mapfile -t COMPREPLY < <(compgen -W \"$commands integrators\" -- \"$word\")\n"
        "            return ;;\n"
        "    esac\n"
        "    case ${COMP_WORDS[1]} in\n",
        out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        bash_command(out, *c);
    }
    fputs("    esac\n"
          "    case $word in\n"
          "        -*) mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\") ;;\n"
          "    esac\n"
          "}\n"
          "complete -o default -F _talus talus\n",
          out);
}

// --- zsh ---

// A description for _arguments, where brackets and colons have a meaning.
static void put_zsh_help(FILE *out, const char *text)
{
    for (; *text != 0; ++text) {
        if (strchr("[]:\\", *text) != NULL) fputc('\\', out);
        fputs(*text == '\'' ? "'\\''" : (const char[]){*text, 0}, out);
    }
}

static void zsh_option(FILE *out, const cli_option *option)
{
    const bool methods = strcmp(option->name, "integrator") == 0;
    const char *const repeat = option->kind == CLI_LIST ? "*" : "";
    fprintf(out, "                '%s--%s[", repeat, option->name);
    put_zsh_help(out, option->help);
    fputs("]", out);
    if (option->value != NULL) {
        fprintf(out, ":%s:", option->value);
        if (methods) {
            fputc('(', out);
            put_methods(out);
            fputc(')', out);
        } else if (option->kind == CLI_TEXT) {
            fputs("_files", out);
        }
    }
    fputs("' \\\n", out);
}

// The first word is a command, with its summary; then the options of that command, with theirs.
static void complete_zsh(FILE *out)
{
    fputs("#compdef talus\n# made by: talus help --completion zsh\n"
          "if (( CURRENT == 2 )); then\n    local -a commands=(\n",
          out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        fprintf(out, "        '%s:", (*c)->name);
        put_zsh_help(out, (*c)->summary);
        fputs("'\n", out);
    }
    fputs("    )\n    _describe command commands\nelse\n"
          "    local command=$words[2]\n    shift words\n    (( CURRENT -= 1 ))\n"
          "    case $command in\n",
          out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        const cli_option *options[CLI_MAX_OPTIONS];
        const int n = cli_options_of(*c, options);
        fprintf(out, "        %s)\n            _arguments \\\n", (*c)->name);
        for (int i = 0; i < n; ++i) {
            zsh_option(out, options[i]);
        }
        fputs("                '*:file:_files' ;;\n", out);
    }
    fputs("    esac\nfi\n", out);
}

// --- fish ---

static void fish_option(FILE *out, const cli_command *command, const cli_option *option)
{
    fprintf(out, "complete -c talus -n '__fish_seen_subcommand_from %s' -l %s", command->name,
            option->name);
    if (option->letter != 0) fprintf(out, " -s %c", option->letter);
    if (strcmp(option->name, "integrator") == 0) {
        fputs(" -x -a '", out);
        put_methods(out);
        fputc('\'', out);
    } else if (option->value != NULL) {
        fputs(" -r", out);
    }
    fputs(" -d ", out);
    put_quoted(out, option->help);
    fputc('\n', out);
}

static void complete_fish(FILE *out)
{
    fputs("# fish completion for talus; made by: talus help --completion fish\n", out);
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        fprintf(out, "complete -c talus -f -n __fish_use_subcommand -a %s -d ", (*c)->name);
        put_quoted(out, (*c)->summary);
        fputc('\n', out);
        const cli_option *options[CLI_MAX_OPTIONS];
        const int n = cli_options_of(*c, options);
        for (int i = 0; i < n; ++i) {
            fish_option(out, *c, options[i]);
        }
    }
}

bool cli_completion(FILE *out, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        complete_bash(out);
    } else if (strcmp(shell, "zsh") == 0) {
        complete_zsh(out);
    } else if (strcmp(shell, "fish") == 0) {
        complete_fish(out);
    } else {
        return false;
    }
    return true;
}
