// talus convert: a table or a model in another format.
#include "commands.h"
#include "model.h"
#include "result.h"

static int convert_table(const cli_args *args, const char *to)
{
    tal_table *table = NULL;
    int code = result_read(args, args->files[0], &table);
    tal_error err = {0};
    if (code == CLI_OK && tal_table_write_file(table, to, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    tal_table_destroy(table);
    return code;
}

static int convert_model(const cli_args *args, const char *to)
{
    cli_model model;
    int code = cli_model_read(args, args->files[0], NULL, 0, &model);
    tal_error err = {0};
    if (code == CLI_OK && tal_model_write_file(&model.file, NULL, to, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    }
    cli_model_destroy(&model);
    return code;
}

int cmd_convert(const cli_args *args)
{
    const char *const out = cli_text(args, "out");
    const char *const to = out != NULL ? out : args->num_files > 1 ? args->files[1] : NULL;
    if (to == NULL || (out != NULL && args->num_files > 1)) {
        return cli_fail(args, CLI_USAGE, "name the new file%s: talus convert %s -o FILE.",
                        to != NULL ? " once" : "", args->files[0]);
    }
    // what is no table by its name is read as a model, whose reader says what is wrong with it
    const bool is_table = tal_file_kind_of(args->files[0], NULL, 0) == TAL_FILE_TABLE;
    if (is_table == (tal_file_kind_of(to, NULL, 0) == TAL_FILE_TALUS)) {
        return cli_fail(args, CLI_USAGE, "%s is a %s, which cannot be converted to %s.",
                        args->files[0], is_table ? "table" : "model", to);
    }
    return is_table ? convert_table(args, to) : convert_model(args, to);
}
