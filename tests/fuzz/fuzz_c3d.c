// What libFuzzer calls: any bytes as a C3D file, each part of it.
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    tal_contract_clear();
    static const char nothing[] = "";
    for (int part = TAL_C3D_MARKERS; part <= TAL_C3D_FORCES; ++part) {
        tal_table *table = NULL;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        const tal_status st = tal_c3d_read_memory("fuzz", size > 0 ? (const char *)data : nothing,
                                                  size, (tal_c3d_part)part, NULL, &table, found);
        // a file is refused with a reason, gives nothing then, and breaks no contract
        if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
        if ((st == TAL_OK) != (table != NULL)) __builtin_trap();
        if (tal_contract_last()->status != TAL_OK) __builtin_trap();
        if (st == TAL_OK) write_and_read(table, TAL_TABLE_CSV);
        tal_table_destroy(table);
        tal_diagnostics_destroy(found);
    }
    return 0;
}
