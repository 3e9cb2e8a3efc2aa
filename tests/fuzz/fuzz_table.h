// What the fuzz targets of tables share: any bytes as a table; what can be read is written and read
// again.
#ifndef TALUS_FUZZ_TABLE_H
#define TALUS_FUZZ_TABLE_H

#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The same columns and, bit for bit but for NaNs, the same numbers.
static inline void check_same(const tal_table *a, const tal_table *b)
{
    const int rows = tal_table_num_rows(a), columns = tal_table_num_columns(a);
    if (tal_table_num_rows(b) != rows || tal_table_num_columns(b) != columns) __builtin_trap();
    for (int k = 0; k < columns; ++k) {
        if (strcmp(tal_table_column_name(a, k), tal_table_column_name(b, k)) != 0) __builtin_trap();
    }
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < columns; ++k) {
            const double x = tal_table_value(a, i, k), y = tal_table_value(b, i, k);
            if (memcmp(&x, &y, sizeof x) != 0 && (x == x || y == y)) __builtin_trap();
        }
    }
}

static inline void write_and_read(const tal_table *table, tal_table_format format)
{
    size_t length = 0;
    if (tal_table_write_memory(table, format, NULL, 0, &length, NULL) != TAL_OK) __builtin_trap();
    char *text = malloc(length + 1);
    if (text == NULL) return;
    if (tal_table_write_memory(table, format, text, length, &length, NULL) != TAL_OK) {
        __builtin_trap();
    }
    tal_table *again = NULL;
    if (tal_table_read_memory(format, "again", text, length, NULL, &again, NULL) != TAL_OK) {
        __builtin_trap();
    }
    check_same(table, again);
    tal_table_destroy(again);
    free(text);
}

static inline int fuzz_table(tal_table_format format, const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    tal_contract_clear();
    static const char nothing[] = "";
    tal_table *table = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_table_read_memory(
        format, "fuzz", size > 0 ? (const char *)data : nothing, size, NULL, &table, found);
    // a file is refused with a reason, gives nothing then, and breaks no contract
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (table != NULL)) __builtin_trap();
    if (tal_contract_last()->status != TAL_OK) __builtin_trap();
    if (st == TAL_OK) write_and_read(table, format);
    tal_table_destroy(table);
    tal_diagnostics_destroy(found);
    return 0;
}

#endif // TALUS_FUZZ_TABLE_H
