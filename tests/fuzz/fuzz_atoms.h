// What the fuzz targets of files of atoms share: any bytes as a file; what is read can be written,
// and what is written and read again is written the same.
#ifndef TALUS_FUZZ_ATOMS_H
#define TALUS_FUZZ_ATOMS_H

#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// The file that atoms make; NULL where the format cannot say them. To be freed.
static inline char *fuzz_written(const tal_atoms *atoms, tal_atoms_format format, size_t *length)
{
    if (tal_atoms_write_memory(atoms, format, NULL, 0, length, NULL) != TAL_OK) return NULL;
    char *bytes = malloc(*length + 1);
    size_t again = 0;
    if (bytes == NULL) abort();
    if (tal_atoms_write_memory(atoms, format, bytes, *length, &again, NULL) != TAL_OK) {
        __builtin_trap();
    }
    if (again != *length) __builtin_trap();
    return bytes;
}

/// Write atoms, read that, and write it again; twice, as elements that are not known follow from
/// names when they are read. NULL where the format cannot say them, and where what rounds to no box
/// is refused. To be freed.
static inline char *fuzz_round(const tal_atoms *atoms, tal_atoms_format format, size_t *length,
                               tal_atoms **again)
{
    char *bytes = fuzz_written(atoms, format, length);
    if (bytes != NULL) {
        (void)!tal_atoms_read_memory(format, "again", bytes, *length, NULL, again, NULL);
    }
    return bytes;
}

static inline void fuzz_there_and_back(const tal_atoms *atoms, tal_atoms_format format)
{
    size_t lengths[3] = {0, 0, 0};
    tal_atoms *once = NULL, *twice = NULL, *last = NULL;
    char *first = fuzz_round(atoms, format, &lengths[0], &once);
    char *second = once != NULL ? fuzz_round(once, format, &lengths[1], &twice) : NULL;
    char *third = twice != NULL ? fuzz_round(twice, format, &lengths[2], &last) : NULL;
    if (format == TAL_ATOMS_PDB && third != NULL &&
        (lengths[2] != lengths[1] || memcmp(second, third, lengths[1]) != 0)) {
        __builtin_trap();
    }
    tal_atoms_destroy(last);
    tal_atoms_destroy(twice);
    tal_atoms_destroy(once);
    free(third);
    free(second);
    free(first);
}

static inline int fuzz_atoms(tal_atoms_format format, const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    tal_contract_clear();
    static const char nothing[] = "";
    tal_atoms *atoms = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_atoms_read_memory(
        format, "fuzz", size > 0 ? (const char *)data : nothing, size, NULL, &atoms, found);
    // a file is refused with a reason, gives nothing then, and breaks no contract
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (atoms != NULL)) __builtin_trap();
    if (tal_contract_last()->status != TAL_OK) __builtin_trap();
    if (st == TAL_OK) {
        fuzz_there_and_back(atoms, TAL_ATOMS_PDB);
        fuzz_there_and_back(atoms, TAL_ATOMS_XYZ);
        fuzz_there_and_back(atoms, TAL_ATOMS_INPCRD);
        fuzz_there_and_back(atoms, TAL_ATOMS_DCD);
    }
    if (tal_contract_last()->status != TAL_OK) __builtin_trap();
    tal_atoms_destroy(atoms);
    tal_diagnostics_destroy(found);
    return 0;
}

#endif // TALUS_FUZZ_ATOMS_H
