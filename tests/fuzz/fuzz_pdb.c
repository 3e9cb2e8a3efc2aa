// What libFuzzer calls: any bytes as a .pdb file.
#include "fuzz_atoms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_atoms(TAL_ATOMS_PDB, data, size);
}
