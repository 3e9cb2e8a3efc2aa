// One XML parser for all formats: expat, into a tree of elements that know where they are.
//
//     tali_xml *xml = NULL;
//     tal_status st = tali_xml_read_file(path, &limits, &allocator, &xml, found);
//     for (const tali_xml_element *e = xml->root->first; e != NULL; e = e->next) ...
//     tali_xml_destroy(xml);
//
// Strict where it protects: DOCTYPE is refused and with it every entity of a document's own; there
// are limits on size, nesting, and the length of one tag. Comments and processing instructions are
// dropped. Encodings other than UTF-8 are refused. Nothing here recurses.
#ifndef TALUS_IO_XML_INTERNAL_H
#define TALUS_IO_XML_INTERNAL_H

#include <talus/common/alloc.h>
#include <talus/io/diagnostics.h>

#include <stdbool.h>
#include <stddef.h>

/// An attribute. Its strings live as long as the document.
typedef struct tali_xml_attribute {
    const char *name;
    const char *value;
    int line, column; ///< where its name begins
} tali_xml_attribute;

/// An element. In a document, parents are before children.
typedef struct tali_xml_element {
    const char *name;
    const char *text; ///< what is before the first child, without blanks around it; never NULL
    const struct tali_xml_element *parent; ///< NULL for the root
    const struct tali_xml_element *first;  ///< first child; NULL when there is none
    const struct tali_xml_element *next;   ///< next child of the same parent
    const tali_xml_attribute *attributes;  ///< [num_attributes] in the order of the file
    int num_attributes;
    int line, column; ///< where its tag begins, both counted from 1
    bool mixed;       ///< there is text, and not blanks alone, after a child
} tali_xml_element;

/// A document.
typedef struct tali_xml {
    const tali_xml_element *root; ///< never NULL
    const char *file;             ///< as it was named
    int num_elements;
} tali_xml;

/// How much of a document is taken before it is refused.
typedef struct tali_xml_limits {
    size_t file_bytes;   ///< of the text
    size_t tag_bytes;    ///< of one tag, comment or similar
    size_t memory_bytes; ///< of the tree
    int depth;           ///< of nesting; the root has 1
} tali_xml_limits;

/// 256 MiB of text, 1 MiB for one tag, 1 GiB of memory, 64 levels.
tali_xml_limits tali_xml_limits_default(void);

/**
 * Read a document from a file.
 *
 * @param[in]  limits     NULL: tali_xml_limits_default()
 * @param[in]  allocator  of the tree; NULL: the C heap. expat works on the C heap until this call
 *                        returns
 * @param[out] out        owned by the caller; NULL on failure
 * @param[out] found      gets one error with file, line and column on failure; may be NULL
 * @return TAL_OK, TAL_ERR_FILE, TAL_ERR_CAPACITY (a limit) or TAL_ERR_NO_MEMORY
 */
TAL_NODISCARD tal_status tali_xml_read_file(const char *path, const tali_xml_limits *limits,
                                            const tal_allocator *allocator, tali_xml **out,
                                            tal_diagnostics *found);

/// The same from memory. `name` is used for the file in diagnostics.
TAL_NODISCARD tal_status tali_xml_read_memory(const char *name, const char *text, size_t size,
                                              const tali_xml_limits *limits,
                                              const tal_allocator *allocator, tali_xml **out,
                                              tal_diagnostics *found);

/// Free a document; NULL is allowed.
void tali_xml_destroy(tali_xml *xml);

/// The attribute of that name; NULL when there is none.
const tali_xml_attribute *tali_xml_find(const tali_xml_element *element, const char *name);

/// The first child of that name; NULL when there is none.
const tali_xml_element *tali_xml_child(const tali_xml_element *element, const char *name);

/// The next element of that name after `element` and its siblings; NULL when there is none.
const tali_xml_element *tali_xml_next(const tali_xml_element *element, const char *name);

/// Report an error at an element, or at one of its attributes where `attribute` is not NULL.
void tali_xml_error(const tali_xml *xml, const tali_xml_element *element,
                    const tali_xml_attribute *attribute, tal_diagnostics *found, const char *fmt,
                    ...) TAL_PRINTF(5, 6);

/// `<pin name="knee">` for messages: the tag of an element, with its name where it has one.
/// @param[out] text  [size]
const char *tali_xml_tag(const tali_xml_element *element, char text[], size_t size);

/// The string with the least edits to become `wrong`, if they are few enough to suspect a typing
/// error: a third of its length at most, and no more than three.
/// @param[in] strings  one after the other through `at(context, i)`, NULL ends them
typedef const char *(*tali_xml_string_at)(const void *context, int i);
const char *tali_text_did_you_mean(const char *wrong, tali_xml_string_at at, const void *context);

/// What a document with this first element is, to say that it is not what was expected: "a model of
/// OpenSim (.osim)"; NULL when it is unknown.
const char *tali_xml_kind(const char *root, size_t length);

/// The length of the name of the first element of a text, or of its beginning, and where it is; 0
/// when there is none.
size_t tali_xml_find_root(const char *text, size_t size, const char **root);

/// What a text is, likewise; NULL when it is not XML.
const char *tali_xml_kind_of_text(const char *text, size_t size);

#endif // TALUS_IO_XML_INTERNAL_H
