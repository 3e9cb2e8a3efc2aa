// A model scaled: its document with other lengths, masses and inertias.
#ifndef TALUS_IO_SCALE_INTERNAL_H
#define TALUS_IO_SCALE_INTERNAL_H

#include "opensim/document_internal.h"

/// Scale places, joints, obstacles, masses and inertias of a model by factors along the axes of its
/// bodies. The document changes, what was read from it does not.
/// @param[in] factors        [o->num_bodies] Ground's first
/// @param[in] preserve_mass  masses stay in proportion, and inertias with them; otherwise they go
///                           with the volume
/// @param[in] total_mass     of all bodies afterwards [kg]; 0 or less: whatever it becomes
void tali_osim_scale_document(tali_osim *o, const tal_vec3 factors[], bool preserve_mass,
                              double total_mass);

/// Scale what goes with the length of a path: fibers and tendons of muscles, ligaments, springs.
/// @param[in] ratios  [o->num_forces] new length over old one; 1 where there is no path
void tali_osim_scale_lengths(tali_osim *o, const double ratios[]);

/// Multiply the mass of a body, and its inertia with it.
void tali_osim_multiply_mass(tali_osim *o, const tali_xml_element *body, double ratio);

#endif // TALUS_IO_SCALE_INTERNAL_H
