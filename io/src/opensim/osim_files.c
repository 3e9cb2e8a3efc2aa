// Sets in files of their own, as versions 1 and 2 can have: <BodySet file="bodies.xml"/>.
//
// What such a file contains becomes the children of the element that names it. Its elements keep
// their lines and columns; the file that they belong to is found from that element.
#include "opensim/document_internal.h"
#include "opensim/osim_internal.h"

#include <stdio.h>
#include <string.h>

const char *tali_osim_file_of(const tali_osim *o, const tali_xml_element *at)
{
    for (const tali_xml_element *e = at; e != NULL; e = e->parent) {
        for (int i = 0; i < o->num_sets; ++i) {
            if (e->parent == o->sets[i].element) return o->sets[i].xml->file;
        }
    }
    return o->xml->file;
}

void tali_osim_beside(const tali_osim *o, const char *file, char path[1024])
{
    const char *slash = strrchr(o->xml->file, '/');
    const int folder = file[0] != '/' && slash != NULL ? (int)(slash - o->xml->file) + 1 : 0;
    (void)snprintf(path, 1024, "%.*s%s", folder, o->xml->file, file);
    for (char *c = path; *c != '\0'; ++c) {
        if (*c == '\\') *c = '/'; // of Windows
    }
}

// The object in a document that stands for an element; NULL, and an error in the name of the
// document, when it is another or is in a third file.
static const tali_xml_element *object_for(tali_osim *o, const tali_xml_element *e, tali_xml *file)
{
    const tali_xml_element *object = file->root;
    if (strcmp(object->name, "OpenSimDocument") == 0 && object->first != NULL) {
        object = object->first;
        const bool is_other = strcmp(object->name, "defaults") == 0 && object->next != NULL;
        if (is_other) object = object->next;
    }
    const char *flaw = strcmp(object->name, e->name) != 0      ? "is another kind of object"
                       : tali_xml_find(object, "file") != NULL ? "is in a third file"
                                                               : NULL;
    if (flaw == NULL) return object;
    tal_diagnostics_add(o->found, TAL_ERROR, file->file, object->line, object->column,
                        "<%.60s> %s; the model '%.60s' takes its <%.60s> from here", object->name,
                        flaw, o->xml->file, e->name);
    return NULL;
}

// Whether a set can be in a file of its own here; otherwise an error says why not.
static bool can_include(tali_osim *o, const tali_xml_element *e, const char *name)
{
    if (o->in_memory) {
        tali_osim_error(o, e, " is in the file '%.80s', and a model in memory has none beside it",
                        name);
    } else if (o->num_sets == TALI_OSIM_MAX_SETS) {
        tali_osim_error(o, e, " is in the file '%.80s'; %d sets can be in files of their own", name,
                        TALI_OSIM_MAX_SETS);
    } else if (e->first != NULL) {
        tali_osim_error(o, e, " is in the file '%.80s' and here; take away one of them", name);
    } else {
        return true;
    }
    return false;
}

// Read the file of a set, and let its children be those of the element.
static void include_set(tali_osim *o, const tali_xml_element *e)
{
    const tali_xml_attribute *name = tali_xml_find(e, "file");
    if (name == NULL || name->value[0] == '\0' || !can_include(o, e, name->value)) return;
    char path[1024];
    tali_osim_beside(o, name->value, path);
    tali_xml *file = NULL;
    const tal_status st = tali_xml_read_file(path, NULL, &o->arena.allocator, &file, o->found);
    o->no_memory = o->no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK) {
        tali_osim_error(o, e, " is in the file '%.80s', which cannot be read", name->value);
        return;
    }
    o->sets[o->num_sets++] = (tali_osim_set_file){e, file};
    const tali_xml_element *object = object_for(o, e, file);
    if (object == NULL) return;
    tali_osim_adopt_children(e, object);
    // those of the whole file hold for its objects
    const tali_xml_element *defaults =
        object != file->root ? tali_xml_child(file->root, "defaults") : NULL;
    const bool any = defaults != NULL && tali_xml_child(e, "objects") != NULL;
    if (any && tali_osim_copy_element(&o->arena, e, defaults) == NULL) o->no_memory = true;
}

void tali_osim_include_sets(tali_osim *o)
{
    for (const tali_xml_element *e = o->model->first; e != NULL; e = e->next) {
        include_set(o, e);
    }
    const tali_xml_element *engine = tali_osim_engine(o->model);
    for (const tali_xml_element *e = engine != NULL ? engine->first : NULL; e != NULL;
         e = e->next) {
        include_set(o, e);
    }
}
