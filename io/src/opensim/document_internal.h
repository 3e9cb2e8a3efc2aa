// A model's document, changed and written again.
//
// Tools that change a model change its document: what Talus does not read stays as it is. New texts
// and elements live in an arena of the caller, which must live as long as the document is used.
#ifndef TALUS_IO_DOCUMENT_INTERNAL_H
#define TALUS_IO_DOCUMENT_INTERNAL_H

#include "opensim/osim_internal.h"
#include "scene/scene_internal.h"

/// The text of an element becomes another, which is copied. False when memory runs out.
bool tali_osim_set_text(tali_arena *arena, const tali_xml_element *e, const char *text);
/// Numbers with as many digits as they have.
bool tali_osim_set_numbers(tali_arena *arena, const tali_xml_element *e, const double values[],
                           int n);
/// A child of that name gets these numbers; it is added where there is none.
bool tali_osim_set_property(tali_arena *arena, const tali_xml_element *object, const char *name,
                            const double values[], int n);
/// A new element behind the last child of another. NULL when memory runs out.
tali_xml_element *tali_osim_add_element(tali_arena *arena, const tali_xml_element *parent,
                                        const char *name);
/// An element of another document, with all it contains, behind the last child of `parent`. NULL
/// when memory runs out.
tali_xml_element *tali_osim_copy_element(tali_arena *arena, const tali_xml_element *parent,
                                         const tali_xml_element *e);
/// An element becomes what a later one of the same parent is, which leaves its place.
void tali_osim_replace_element(const tali_xml_element *old, const tali_xml_element *made);
/// The children of an object in another file become those of an element, which loses its
/// attribute `file`.
void tali_osim_adopt_children(const tali_xml_element *to, const tali_xml_element *from);
/// The element becomes <MultiplierFunction> of itself, or one that is there gets another scale.
/// False when memory runs out.
bool tali_osim_multiply_function(tali_osim *o, const tali_xml_element *function, double scale);

/// The document as a text.
void tali_osim_write_document(const tali_xml_element *root, tali_scene_bytes *out);

#endif // TALUS_IO_DOCUMENT_INTERNAL_H
