// talus convert: a table in another format.
#include "commands.h"
#include "result.h"

int cmd_convert(const cli_args *args)
{
    tal_table *table = NULL;
    int code = result_read(args, args->files[0], &table);
    tal_error err = {0};
    if (code == CLI_OK && tal_table_write_file(table, args->files[1], &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_BAD_FILE, &err);
    }
    tal_table_destroy(table);
    return code;
}
