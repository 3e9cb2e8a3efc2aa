// Molecules in model files: where their values are, and what writes them.
#ifndef TALUS_IO_MODEL_MOLECULES_INTERNAL_H
#define TALUS_IO_MODEL_MOLECULES_INTERNAL_H

#include "model/model_write_internal.h"

/// Refs and numbers that all molecules have.
enum {
    TALI_MOLECULE_LEVEL = 0, ///< then open_rings, freeze_double, map_bonded, center, list_room
    TALI_MOLECULE_DRAWN = 6,
    TALI_MOLECULE_ENABLED = 7,
    TALI_MOLECULE_SEED = 8,
    TALI_MOLECULE_REFS = 9,
    TALI_MOLECULE_PICTURE = 12, ///< behind the frame
    TALI_MOLECULE_SCALES = 15,
    TALI_MOLECULE_FIXMAN = 19,
    TALI_MOLECULE_TEMPERATURE = 20
};

void tali_model_describe_molecule_shared(tali_model_description *d);
void tali_model_describe_molecule(tali_model_description *d);
void tali_model_write_molecule_parts(tali_model_description *d);

#endif // TALUS_IO_MODEL_MOLECULES_INTERNAL_H
