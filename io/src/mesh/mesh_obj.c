// Triangle meshes from Wavefront files, .obj.
#include "alloc_internal.h"
#include "file_internal.h"

#include "mesh/soup_internal.h"
#include "text/reading_internal.h"
#include "text/text_internal.h"

#include <talus/io/mesh.h>
#include <talus/io/number.h>

#include <math.h>
#include <string.h>

enum {
    MAX_ERRORS = 20
};

// A mesh file being read.
typedef struct reader {
    tali_soup *soup;
    double scale;
    const char *file;
    tal_diagnostics *found;
    int line;
    int errors;
} reader;

// A line, from which words are taken.
typedef struct cursor {
    const char *at, *end;
} cursor;

// A word of a line.
typedef struct span {
    const char *begin, *end;
} span;

// Refuse the line because of a word.
static void refuse_word(reader *r, const char *before, span word, const char *behind)
{
    const ptrdiff_t length = word.end - word.begin;
    r->errors += 1;
    tal_diagnostics_add(r->found, TAL_ERROR, r->file, r->line, 0, "%s'%.*s'%s", before,
                        length < 40 ? (int)length : 40, word.begin, behind);
}

static void refuse_short(reader *r, const char *why)
{
    r->errors += 1;
    tal_diagnostics_add(r->found, TAL_ERROR, r->file, r->line, 0, "%s", why);
}

// The next word of a line; false at its end.
static bool next_word(cursor *c, span *word)
{
    while (c->at < c->end && tali_text_is_blank(*c->at)) {
        ++c->at;
    }
    word->begin = c->at;
    while (c->at < c->end && !tali_text_is_blank(*c->at)) {
        ++c->at;
    }
    word->end = c->at;
    return word->begin < word->end;
}

static void add_vertex(reader *r, cursor c)
{
    double x[3];
    span word;
    for (int i = 0; i < 3; ++i) {
        if (!next_word(&c, &word)) {
            refuse_short(r, "a vertex needs three numbers");
            return;
        }
        if (tal_number_read(word.begin, word.end, &x[i]) != word.end || !isfinite(x[i])) {
            refuse_word(r, "", word, " is not a finite number");
            return;
        }
    }
    tali_soup_add_vertex(r->soup, tal_v3_scale(r->scale, tal_v3(x[0], x[1], x[2])));
}

// "7", "7/1", "7//3": the vertex comes first. From 0 here; false, and an error, when it is not a
// vertex.
static bool read_corner(reader *r, span word, int *vertex)
{
    const char *slash = memchr(word.begin, '/', (size_t)(word.end - word.begin));
    const char *end = slash != NULL ? slash : word.end;
    int i = 0;
    if (tal_integer_read(word.begin, end, &i) != end || i == 0) {
        refuse_word(r, "", word, " is not a corner of a face");
        return false;
    }
    *vertex = i > 0 ? i - 1 : r->soup->num_vertices + i;
    if (*vertex >= 0 && *vertex < r->soup->num_vertices) return true;
    refuse_word(r, "there is no vertex ", word, " before this face");
    return false;
}

// A polygon as triangles from its first corner.
static void add_face(reader *r, cursor c)
{
    span word;
    int corners[3], n = 0;
    for (; next_word(&c, &word); ++n) {
        if (n > 2) corners[1] = corners[2];
        if (!read_corner(r, word, &corners[n < 2 ? n : 2])) return;
        if (n >= 2) tali_soup_add_face(r->soup, corners[0], corners[1], corners[2]);
    }
    if (n < 3) refuse_short(r, "a face needs three corners");
}

static bool is_word(span word, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(word.end - word.begin) == length && memcmp(word.begin, text, length) == 0;
}

static bool is_passed_over(span word)
{
    static const char *const words[] = {"vt", "vn", "vp", "o",      "g",
                                        "s",  "p",  "l",  "mtllib", "usemtl"};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
        if (is_word(word, words[i])) return true;
    }
    return *word.begin == '#';
}

static void read_line(reader *r, cursor c)
{
    span word;
    if (!next_word(&c, &word)) return;
    if (is_word(word, "v")) {
        add_vertex(r, c);
    } else if (is_word(word, "f")) {
        add_face(r, c);
    } else if (!is_passed_over(word)) {
        refuse_word(r, "a line begins with ", word, "; the lines of a mesh begin with v and f");
    }
}

static void read_lines(reader *r, const char *text, size_t size)
{
    const char *end = text + size;
    for (const char *at = text; at < end && r->errors < MAX_ERRORS && !r->soup->no_memory;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;
        r->line += 1;
        read_line(r, (cursor){at, stop});
        at = stop < end ? stop + 1 : end;
    }
}

tal_status tali_soup_read_obj(tali_soup *soup, const char *name, const char *text, size_t size,
                              double scale, tal_diagnostics *found)
{
    reader r = {.soup = soup, .scale = scale, .file = name, .found = found};
    read_lines(&r, text, size);
    if (soup->no_memory) {
        tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "memory ran out");
        return TAL_ERR_NO_MEMORY;
    }
    const bool is_empty = soup->num_vertices == 0 || soup->num_faces == 0;
    if (r.errors == 0 && !is_empty) return TAL_OK;
    if (r.errors == 0) tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "this file has no mesh");
    return TAL_ERR_FILE;
}

// ---- entry points

tal_mesh_options tal_mesh_options_default(void)
{
    return (tal_mesh_options){
        .allocator = tal_allocator_default(), .scale = 1.0, .max_bytes = (size_t)256 << 20};
}

static tal_status parse_obj(const char *name, const char *text, size_t size,
                            const tal_mesh_options *how, tal_mesh **out, tal_diagnostics *found)
{
    tal_error err = {TAL_OK, "", ""};
    tali_soup soup = tali_soup_make(&how->allocator);
    tal_status st = tali_soup_read_obj(&soup, name, text, size, how->scale, found);
    if (st == TAL_OK) {
        const tal_status made = tal_mesh_create(&how->allocator, soup.vertices, soup.num_vertices,
                                                &soup.faces[0][0], soup.num_faces, out, &err);
        st = made == TAL_OK || made == TAL_ERR_NO_MEMORY ? made : TAL_ERR_FILE;
        if (made != TAL_OK) tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "%s", err.message);
    }
    tali_soup_free(&soup);
    return st;
}

static tal_status check_scale(const tal_mesh_options *how, const char *where)
{
    if (how->scale > 0.0 && isfinite(how->scale)) return TAL_OK;
    return tali_breach(TAL_ERR_BAD_VALUE, where, "the scale is %g: it must be positive",
                       how->scale);
}

tal_status tal_mesh_read_memory(const char *name, const char *text, size_t size,
                                const tal_mesh_options *options, tal_mesh **out,
                                tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    const tal_mesh_options how = options != NULL ? *options : tal_mesh_options_default();
    tal_status st =
        tali_reading_check(name, text, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st == TAL_OK) st = check_scale(&how, __func__);
    if (st != TAL_OK) return st;
    if (size <= how.max_bytes) return parse_obj(name, text, size, &how, out, found);
    tal_diagnostics_add(found, TAL_ERROR, name, 0, 0, "the file is too long");
    return TAL_ERR_FILE;
}

tal_status tal_mesh_read_file(const char *path, const tal_mesh_options *options, tal_mesh **out,
                              tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    const tal_mesh_options how = options != NULL ? *options : tal_mesh_options_default();
    tal_status st =
        tali_reading_check(path, path, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st == TAL_OK) st = check_scale(&how, __func__);
    if (st != TAL_OK) return st;
    tali_file_bytes bytes;
    const char *wrong = tali_file_load_text(path, how.max_bytes, &how.allocator, &bytes, &st);
    if (wrong == NULL) {
        st = parse_obj(path, bytes.block, bytes.size, &how, out, found);
    } else {
        tal_diagnostics_add(found, TAL_ERROR, path, 0, 0, "%s", wrong);
    }
    tali_file_bytes_free(&how.allocator, &bytes);
    return st;
}
