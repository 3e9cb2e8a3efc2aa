// Set-ups of OpenSim's tools, made of options.
#include "commands/set_up.h"

#include "text/stream.h"

#include <stdlib.h>
#include <string.h>

// What an option says in a set-up.
typedef struct said {
    const char *option, *property;
} said;

static const said options[] = {
    {"loads", "external_loads_file"},
    {"forces", "force_set_files"},
    {"from", "initial_time"},
    {"to", "final_time"},
    {"cutoff", NULL}, // as the tool calls it
    {"tasks", "task_set_file"},
    {"bounds", "constraints_file"},
    {"window", "cmc_time_window"},
    {"body", "adjusted_com_body"},
    {"exponent", "activation_exponent"},
};

char *set_up_escaped(const char *text)
{
    char *const out = cli_alloc(6 * strlen(text) + 1, 1);
    char *at = out;
    for (; *text != 0; ++text) {
        const char *as = *text == '&'    ? "&amp;"
                         : *text == '<'  ? "&lt;"
                         : *text == '>'  ? "&gt;"
                         : *text == '\'' ? "&apos;"
                                         : NULL;
        if (as == NULL) *at++ = *text;
        while (as != NULL && *as != 0) {
            *at++ = *as++;
        }
    }
    return out;
}

char *set_up_append(char *setup, char *more)
{
    char *const longer = cli_format("%s%s", setup, more);
    free(setup);
    free(more);
    return longer;
}

char *set_up_with(char *setup, const char *property, const char *value)
{
    char *const text = set_up_escaped(value);
    char *const element = cli_format("<%s>%s</%s>", property, text, property);
    free(text);
    return set_up_append(setup, element);
}

static bool has_option(const cli_args *args, const char *name)
{
    for (const cli_option *it = args->command->options; it != NULL && it->name != NULL; ++it) {
        if (strcmp(it->name, name) == 0) return true;
    }
    return false;
}

// The analyses of --analysis, or the one of the command, each with its usual properties.
static char *with_analyses(const cli_args *args, const set_up_tool *it, char *setup)
{
    const char *const *names = &it->analysis;
    const int n = it->analysis != NULL ? 1 : cli_list(args, "analysis", &names);
    const char *const exponent = it->analysis != NULL ? cli_text(args, "exponent") : NULL;
    char *all = cli_copy("");
    for (int i = 0; i < n; ++i) {
        char *const name = set_up_escaped(names[i]);
        char *const more = cli_format("%s<%s name='%s'>%s%s%s</%s>", all, name, name,
                                      exponent != NULL ? "<activation_exponent>" : "",
                                      exponent != NULL ? exponent : "",
                                      exponent != NULL ? "</activation_exponent>" : "", name);
        free(name);
        free(all);
        all = more;
    }
    char *const set = cli_format("<AnalysisSet><objects>%s</objects></AnalysisSet>", all);
    free(all);
    return set_up_append(setup, set);
}

// What the options say, in the order of the table.
static char *with_options(const cli_args *args, const set_up_tool *it, char *setup)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
        const char *const name = options[i].option;
        if (!has_option(args, name) || !cli_is_given(args, name)) continue;
        if (strcmp(name, "exponent") == 0) continue; // of the analysis
        const char *const property = options[i].property;
        setup = set_up_with(setup, property != NULL ? property : it->cutoff, cli_text(args, name));
    }
    if (has_option(args, "soft") && cli_flag(args, "soft")) {
        setup = set_up_with(setup, "use_fast_optimization_target", "false");
    }
    if (has_option(args, "body") && cli_is_given(args, "body")) {
        setup = set_up_with(setup, "adjust_com_to_reduce_residuals", "true");
    }
    return setup;
}

int set_up_run_tool(const cli_args *args, const set_up_tool *it)
{
    const char *const name = args->command->name;
    if (stream_is_input(args->files[0]) || stream_is_input(args->files[1])) {
        return cli_fail(args, CLI_USAGE, "%s reads files, not standard input.", name);
    }
    char *setup = cli_format("<OpenSimDocument Version='40000'><%s name='%s'>", it->root, name);
    const bool is_states = has_option(args, "states") && cli_flag(args, "states");
    setup = set_up_with(setup, "model_file", args->files[0]);
    setup = set_up_with(setup, is_states ? "states_file" : it->given, args->files[1]);
    setup = with_options(args, it, setup);
    if (strcmp(it->root, "AnalyzeTool") == 0) setup = with_analyses(args, it, setup);
    char *const end = cli_format("</%s></OpenSimDocument>", it->root);
    char *const whole = set_up_append(setup, end);
    const int code = set_up_run(args, "options", whole);
    free(whole);
    return code;
}
