// Parsing a command line by the table of commands.
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *const *c = cli_commands; *c != NULL; ++c) {
        if (strcmp((*c)->name, name) == 0) return *c;
    }
    return NULL;
}

static const char *command_at(const void *context, int i)
{
    (void)context;
    return cli_commands[i] != NULL ? cli_commands[i]->name : NULL;
}

const char *cli_guess_command(const char *name)
{
    return tal_did_you_mean(name, command_at, NULL);
}

int cli_options_of(const cli_command *command, const cli_option *options[])
{
    int n = 0;
    for (const cli_option *o = command->options; o != NULL && o->name != NULL; ++o) {
        options[n++] = o;
    }
    for (int bit = 0; bit < CLI_NUM_COMMON; ++bit) {
        if ((command->common & (1u << bit)) != 0) options[n++] = &cli_common_options[bit];
    }
    return n;
}

const char *cli_how_resumed(const cli_command *command)
{
    if ((command->common & CLI_RESUME) != 0) return "goes on";
    return (command->common & CLI_AGAIN) != 0 ? "begins again" : "";
}

static const char *option_at(const void *context, int i)
{
    const cli_args *const args = context;
    return i < args->num_options ? args->options[i]->name : NULL;
}

static int find_option(const cli_args *args, const char *name, size_t length, char letter)
{
    for (int i = 0; i < args->num_options; ++i) {
        const cli_option *const o = args->options[i];
        if (letter != 0 && o->letter == letter) return i;
        if (letter == 0 && strlen(o->name) == length && strncmp(o->name, name, length) == 0) {
            return i;
        }
    }
    return -1;
}

// Is the text a value of this kind?
static bool fits(const cli_option *option, const char *text)
{
    double number;
    int whole;
    const char *end;
    switch (option->kind) {
    case CLI_NUMBER:
    case CLI_POSITIVE:
        end = tal_number_read(text, NULL, &number);
        if (end == NULL || *end != 0 || !isfinite(number)) return false;
        return option->kind == CLI_NUMBER || number > 0.0;
    case CLI_COUNT:
        end = tal_integer_read(text, NULL, &whole);
        return end != NULL && *end == 0 && whole >= 0;
    default:
        return text[0] != 0;
    }
}

static const char *wanted(cli_kind kind)
{
    switch (kind) {
    case CLI_NUMBER:
        return "a number";
    case CLI_POSITIVE:
        return "a positive number";
    case CLI_COUNT:
        return "a whole number";
    default:
        return "a text";
    }
}

static int take_value(cli_args *args, int i, const char *text)
{
    const cli_option *const o = args->options[i];
    if (!fits(o, text)) {
        return cli_fail(args, CLI_USAGE, "--%s needs %s, not '%s'.", o->name, wanted(o->kind),
                        text);
    }
    if (args->num_values[i] > 0 && o->kind != CLI_LIST) {
        return cli_fail(args, CLI_USAGE, "--%s is given twice.", o->name);
    }
    if (args->num_values[i] == CLI_MAX_OPTIONS) {
        return cli_fail(args, CLI_USAGE, "--%s is given more than %d times.", o->name,
                        CLI_MAX_OPTIONS);
    }
    args->values[i][args->num_values[i]++] = text;
    return CLI_OK;
}

static int refuse_option(const cli_args *args, const char *name, size_t length)
{
    char wrong[64];
    snprintf(wrong, sizeof wrong, "%.*s", (int)length, name);
    const char *const meant = tal_did_you_mean(wrong, option_at, args);
    if (meant != NULL) {
        return cli_fail(args, CLI_USAGE, "there is no option --%s (did you mean --%s?).", wrong,
                        meant);
    }
    return cli_fail(args, CLI_USAGE, "there is no option --%s; see talus %s --help.", wrong,
                    args->command->name);
}

// The value of option i: what stands behind it, or the next argument.
static int parse_value(cli_args *args, int i, const char *rest, int argc, const char *const argv[],
                       int *k)
{
    if (rest != NULL) return take_value(args, i, rest);
    if (*k + 1 < argc) return take_value(args, i, argv[++*k]);
    return cli_fail(args, CLI_USAGE, "--%s needs a value, %s.", args->options[i]->name,
                    args->options[i]->value);
}

static void raise_flag(cli_args *args, int i)
{
    args->values[i][0] = "yes";
    args->num_values[i] = 1;
}

// --NAME, --NAME=VALUE, --NAME VALUE
static int parse_long(cli_args *args, int argc, const char *const argv[], int *k)
{
    const char *const name = argv[*k] + 2;
    const size_t length = strcspn(name, "=");
    const int i = find_option(args, name, length, 0);
    if (i < 0) return refuse_option(args, name, length);
    const char *const rest = name[length] == '=' ? name + length + 1 : NULL;
    if (args->options[i]->kind != CLI_FLAG) return parse_value(args, i, rest, argc, argv, k);
    if (rest != NULL) {
        return cli_fail(args, CLI_USAGE, "--%s has no value.", args->options[i]->name);
    }
    raise_flag(args, i);
    return CLI_OK;
}

// -x VALUE, -xVALUE, and flags before it: -qxVALUE
static int parse_short(cli_args *args, int argc, const char *const argv[], int *k)
{
    for (const char *at = argv[*k] + 1; *at != 0; ++at) {
        const int i = find_option(args, NULL, 0, *at);
        if (i < 0) return cli_fail(args, CLI_USAGE, "there is no option -%c.", *at);
        if (args->options[i]->kind != CLI_FLAG) {
            return parse_value(args, i, at[1] != 0 ? at + 1 : NULL, argc, argv, k);
        }
        raise_flag(args, i);
    }
    return CLI_OK;
}

// One option at argv[*k]; its value may be in the next argument.
static int parse_option(cli_args *args, int argc, const char *const argv[], int *k)
{
    return argv[*k][1] == '-' ? parse_long(args, argc, argv, k) : parse_short(args, argc, argv, k);
}

static int check_files(const cli_args *args)
{
    const cli_command *const c = args->command;
    if (args->num_files < c->min_files) {
        return cli_fail(args, CLI_USAGE, "an argument is missing; usage: talus %s %s", c->name,
                        c->files);
    }
    if (args->num_files > c->max_files) {
        return cli_fail(args, CLI_USAGE, "'%s' is not expected; usage: talus %s %s",
                        args->files[c->max_files], c->name, c->files);
    }
    return CLI_OK;
}

int cli_parse(int argc, const char *const argv[], cli_args *args)
{
    memset(args, 0, sizeof *args);
    args->command = cli_find_command(argv[0]);
    if (args->command == NULL) {
        const char *const meant = cli_guess_command(argv[0]);
        fprintf(stderr, "talus: there is no command '%s'", argv[0]);
        if (meant != NULL) fprintf(stderr, " (did you mean '%s'?)", meant);
        fprintf(stderr, "; talus help lists them.\n");
        return CLI_USAGE;
    }
    args->num_options = cli_options_of(args->command, args->options);

    bool only_files = false;
    int code = CLI_OK;
    for (int k = 1; k < argc && code == CLI_OK; ++k) {
        if (!only_files && strcmp(argv[k], "--") == 0) {
            only_files = true;
        } else if (!only_files && argv[k][0] == '-' && argv[k][1] != 0) {
            code = parse_option(args, argc, argv, &k);
        } else if (args->num_files == CLI_MAX_ARGS) {
            code = cli_fail(args, CLI_USAGE, "there are more than %d files.", CLI_MAX_ARGS);
        } else {
            args->files[args->num_files++] = argv[k];
        }
    }
    return code == CLI_OK ? check_files(args) : code;
}

static int option_of(const cli_args *args, const char *option)
{
    return find_option(args, option, strlen(option), 0);
}

bool cli_is_given(const cli_args *args, const char *option)
{
    const int i = option_of(args, option);
    return i >= 0 && args->num_values[i] > 0;
}

bool cli_flag(const cli_args *args, const char *option)
{
    return cli_is_given(args, option);
}

void cli_set_flag(cli_args *args, const char *option)
{
    const int i = option_of(args, option);
    if (i >= 0) raise_flag(args, i);
}

const char *cli_text(const cli_args *args, const char *option)
{
    const int i = option_of(args, option);
    if (i < 0) return NULL;
    return args->num_values[i] > 0 ? args->values[i][0] : args->options[i]->initial;
}

double cli_number(const cli_args *args, const char *option)
{
    const char *const text = cli_text(args, option);
    double value = (double)NAN;
    if (text != NULL) (void)tal_number_read(text, NULL, &value);
    return value;
}

int cli_count(const cli_args *args, const char *option)
{
    const char *const text = cli_text(args, option);
    int value = -1;
    if (text != NULL) (void)tal_integer_read(text, NULL, &value);
    return value;
}

int cli_list(const cli_args *args, const char *option, const char *const **values)
{
    const int i = option_of(args, option);
    if (i < 0) return 0;
    *values = args->values[i];
    return args->num_values[i];
}

int cli_threads(const cli_args *args)
{
    const int asked = cli_count(args, "threads");
    if (asked > 0) return asked;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 1024 ? 1024 : (int)cores;
}

static void print_to_user(const cli_args *args, const char *subject, const char *fmt, va_list list)
{
    fprintf(stderr, "talus %s: %s", args->command->name, subject);
    vfprintf(stderr, fmt, list);
    fputc('\n', stderr);
}

int cli_fail(const cli_args *args, int code, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    print_to_user(args, "", fmt, list);
    va_end(list);
    return code;
}

int cli_fail_with(const cli_args *args, int code, const tal_error *err)
{
    if (err->message[0] == 0) return cli_fail_status(args, code, err->status);
    return cli_fail(args, code, "%s", err->message);
}

int cli_fail_status(const cli_args *args, int code, tal_status st)
{
    if (st == TAL_ERR_NO_MEMORY) return cli_fail(args, code, "there is not enough memory.");
    return cli_fail(args, code, "%s.", tal_status_text(st));
}

int cli_fail_file(const cli_args *args, const char *path, tal_status st)
{
    if (st == TAL_ERR_NO_MEMORY) return cli_fail_status(args, CLI_BAD_FILE, st);
    return cli_fail(args, CLI_BAD_FILE, "%s: %s.", path, tal_status_text(st));
}

void cli_warn(const cli_args *args, const char *fmt, ...)
{
    if (cli_flag(args, "quiet")) return;
    va_list list;
    va_start(list, fmt);
    print_to_user(args, "warning: ", fmt, list);
    va_end(list);
}

void *cli_need(void *made)
{
    if (made != NULL) return made;
    fputs("talus: there is not enough memory.\n", stderr);
    exit(CLI_FAILED);
}

void *cli_alloc(size_t count, size_t size)
{
    return cli_need(calloc(count > 0 ? count : 1, size));
}

void *cli_resize(void *memory, size_t count, size_t size)
{
    if (count > SIZE_MAX / size) return cli_need(NULL);
    return cli_need(realloc(memory, (count > 0 ? count : 1) * size));
}

char *cli_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(cli_alloc(size, 1), text, size);
}

char *cli_format_list(const char *fmt, va_list list)
{
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    const size_t size = length > 0 ? (size_t)length + 1 : 1;
    char *const text = cli_alloc(size, 1);
    vsnprintf(text, size, fmt, list);
    return text;
}

char *cli_join(tal_name_at_fn at, const void *context, int most)
{
    char *text = cli_copy("");
    int n = 0;
    for (; at(context, n) != NULL; ++n) {
        if (n >= most) continue;
        char *const longer = cli_format("%s%s%s", text, n > 0 ? ", " : "", at(context, n));
        free(text);
        text = longer;
    }
    if (n <= most) return text;
    char *const longer = cli_format("%s and %d more", text, n - most);
    free(text);
    return longer;
}

char *cli_format(const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    char *const text = cli_format_list(fmt, list);
    va_end(list);
    return text;
}
