// What libFuzzer calls: any bytes as a topology of AMBER.
#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    tal_contract_clear();
    static const char nothing[] = "";
    const char *text = size > 0 ? (const char *)data : nothing;
    tal_prmtop made;
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_prmtop_read_memory("fuzz", text, size, NULL, &made, found);
    // a file is refused with a reason, gives nothing then, and breaks no contract
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (made.mol != NULL)) __builtin_trap();
    if (tal_contract_last()->status != TAL_OK) __builtin_trap();
    // what makes a molecule has atoms
    const tal_status only =
        tal_atoms_read_memory(TAL_ATOMS_PRMTOP, "fuzz", text, size, NULL, &atoms, NULL);
    if (st == TAL_OK && only != TAL_OK) __builtin_trap();
    tal_atoms_destroy(atoms);
    tal_prmtop_destroy(&made);
    tal_diagnostics_destroy(found);
    return 0;
}
