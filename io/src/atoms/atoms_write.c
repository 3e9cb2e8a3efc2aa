// Writing atoms: numbers in fixed columns; the entry points.
#include "file_internal.h"

#include "atoms/atoms_internal.h"

#include <math.h>
#include <string.h>

bool tali_atoms_put_fixed(tali_table_sink *sink, double value, int width, int decimals)
{
    char text[40];
    double scaled = fabs(value);
    for (int k = 0; k < decimals; ++k) {
        scaled *= 10.0;
    }
    if (!(scaled < 1e15) || width >= (int)sizeof text) return false;
    // digits from the last to the first, the point among them
    long long digits = llrint(scaled);
    const bool minus = value < 0.0 && digits > 0;
    int at = width;
    for (int k = 0; k <= decimals || digits > 0; ++k) {
        if (k == decimals && k > 0) {
            if (at == 0) return false;
            text[--at] = '.';
        }
        if (at == 0) return false;
        text[--at] = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (minus && at == 0) return false;
    if (minus) text[--at] = '-';
    memset(text, ' ', (size_t)at);
    tali_table_put(sink, text, (size_t)width);
    return true;
}

// Write all frames, or refuse formats that are only read.
static tal_status write_format(const tal_atoms *atoms, tal_atoms_format format,
                               tali_table_sink *sink, tal_error *err)
{
    if (atoms->num_frames == 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no frame to write");
    }
    switch (format) {
    case TAL_ATOMS_PDB:
        return tali_atoms_write_pdb(atoms, sink, err);
    case TAL_ATOMS_XYZ:
        return tali_atoms_write_xyz(atoms, sink, err);
    case TAL_ATOMS_INPCRD:
        return tali_atoms_write_inpcrd(atoms, sink, err);
    case TAL_ATOMS_DCD:
        return tali_atoms_write_dcd(atoms, sink, err);
    case TAL_ATOMS_CIF:
    case TAL_ATOMS_PRMTOP:
        break;
    }
    return TALI_FAIL(
        err, TAL_ERR_BAD_VALUE,
        "files of this format can be read, but not written: use .pdb, .xyz, .inpcrd or "
        ".dcd");
}

tal_status tal_atoms_write_memory(const tal_atoms *atoms, tal_atoms_format format, char bytes[],
                                  size_t capacity, size_t *length, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (length != NULL) *length = 0;
    if (atoms == NULL || length == NULL || (bytes == NULL && capacity > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "%s NULL",
                           atoms == NULL    ? "the atoms are"
                           : length == NULL ? "'length' is"
                                            : "'bytes' is");
    }
    tali_table_sink sink = {.bytes = bytes, .capacity = capacity};
    const tal_status st = write_format(atoms, format, &sink, err);
    *length = sink.length;
    return st;
}

tal_status tal_atoms_write_file(const tal_atoms *atoms, const char *path, tal_error *err)
{
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (atoms == NULL || path == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the %s NULL", atoms == NULL ? "atoms are" : "path is");
    }
    tal_atoms_format format = TAL_ATOMS_PDB;
    if (!tal_atoms_format_of(path, &format)) {
        return TALI_FAIL(err, TAL_ERR_FILE,
                         "'%s' does not end with .pdb, .ent, .xyz, .inpcrd, .rst7 or .dcd", path);
    }
    tali_file_replacement out;
    tal_status st = tali_file_replace_begin(&out, path, __func__, err);
    if (st != TAL_OK) return st;
    tali_table_sink sink = {.file = out.file};
    st = write_format(atoms, format, &sink, err);
    const tal_status finished = tali_file_replace_finish(&out, st == TAL_OK, __func__, err);
    return st != TAL_OK ? st : finished;
}
