// What an XML document is, by the name of its first element.
#include "text/text_internal.h"
#include "text/xml_internal.h"

#include <string.h>

static const struct {
    const char *root, *kind;
} kinds[] = {{"talus", "a model file of Talus (.talus)"},
             {"robot", "a robot (URDF)"},
             {"OpenSimDocument", "a model of OpenSim (.osim)"},
             {"mujoco", "a model of MuJoCo (MJCF)"},
             {"mujocoinclude", "a part of a model of MuJoCo (MJCF)"},
             {"sdf", "a model of Gazebo (SDF)"},
             {"svg", "a picture (SVG)"},
             {"html", "a web page (HTML)"},
             {"VTKFile", "a mesh of VTK"},
             {"COLLADA", "a mesh (COLLADA, .dae)"}};

const char *tali_xml_kind(const char *root, size_t length)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        if (strlen(kinds[i].root) == length && memcmp(kinds[i].root, root, length) == 0) {
            return kinds[i].kind;
        }
    }
    return NULL;
}

// Behind the next `end`, or at the end of the text.
static const char *behind(const char *at, const char *stop, const char *end)
{
    const size_t length = strlen(end);
    while ((size_t)(stop - at) >= length && memcmp(at, end, length) != 0) {
        ++at;
    }
    return (size_t)(stop - at) >= length ? at + length : stop;
}

static bool begins_with(const char *at, const char *stop, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(stop - at) >= length && memcmp(at, word, length) == 0;
}

// Declarations and comments may stand before the first element.
size_t tali_xml_find_root(const char *text, size_t size, const char **root)
{
    const char *at = text, *const stop = text + size;
    while ((at = behind(at, stop, "<")) < stop && (*at == '?' || *at == '!')) {
        at = behind(at, stop, *at == '?' ? "?>" : begins_with(at, stop, "!--") ? "-->" : ">");
    }
    *root = at;
    size_t length = 0;
    while (at + length < stop && strchr(" \t\r\n>/", at[length]) == NULL) {
        ++length;
    }
    return at + length < stop ? length : 0;
}

const char *tali_xml_kind_of_text(const char *text, size_t size)
{
    size_t begin = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) begin = 3;
    while (begin < size && tali_text_is_blank(text[begin])) {
        ++begin;
    }
    if (begin == size || text[begin] != '<') return NULL;
    const char *root;
    const size_t length = tali_xml_find_root(text, size, &root);
    const char *kind = tali_xml_kind(root, length);
    return kind != NULL ? kind : "an XML file";
}
