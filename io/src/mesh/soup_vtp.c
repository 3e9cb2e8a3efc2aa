// Triangles from .vtp files: polygons of VTK, as XML with numbers in decimal digits.
#include "alloc_internal.h"

#include "mesh/soup_internal.h"
#include "text/text_internal.h"
#include "text/xml_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <string.h>

// No polygon has more corners.
static const double MOST_CORNERS = 1e9;

// A file being read.
typedef struct reader {
    tali_soup *soup;
    const tali_xml *xml;
    tal_diagnostics *found;
    int first; // vertex of the piece
    bool failed;
} reader;

static void refuse(reader *r, const tali_xml_element *at, const char *why)
{
    tali_xml_error(r->xml, at, NULL, r->found, "%s", why);
    r->failed = true;
}

// The array of that name, or the first when `name` is NULL; what cannot be read is refused.
static const tali_xml_element *array_of(reader *r, const tali_xml_element *parent, const char *name)
{
    const tali_xml_element *a = parent != NULL ? tali_xml_child(parent, "DataArray") : NULL;
    while (a != NULL && name != NULL) {
        const tali_xml_attribute *const named = tali_xml_find(a, "Name");
        if (named != NULL && strcmp(named->value, name) == 0) break;
        a = tali_xml_next(a, "DataArray");
    }
    if (a == NULL) return NULL;
    const tali_xml_attribute *const format = tali_xml_find(a, "format");
    if (format == NULL || strcmp(format->value, "ascii") == 0) return a;
    refuse(r, a, "only arrays with format=\"ascii\" are read; save the file as text");
    return NULL;
}

static bool next_number(const char **at, double *value)
{
    while (tali_text_is_blank(**at) || **at == '\n') {
        ++*at;
    }
    const char *const end = **at != 0 ? tal_number_read(*at, NULL, value) : NULL;
    if (end == NULL || !isfinite(*value)) return false;
    *at = end;
    return true;
}

// Where a list of numbers stops, it must be at its end.
static void check_end(reader *r, const tali_xml_element *array, const char *at)
{
    if (!r->failed && !r->soup->no_memory && *at != 0) {
        refuse(r, array, "an array has something that is not a finite number");
    }
}

static void read_points(reader *r, const tali_xml_element *array)
{
    const char *at = array->text;
    double x[3];
    while (!r->soup->no_memory && next_number(&at, &x[0])) {
        if (!next_number(&at, &x[1]) || !next_number(&at, &x[2])) {
            refuse(r, array, "points need three numbers each");
            return;
        }
        tali_soup_add_vertex(r->soup, tal_v3(x[0], x[1], x[2]));
    }
    check_end(r, array, at);
}

// The next corner of a polygon; -1, and an error, when it is none.
static int next_corner(reader *r, const tali_xml_element *array, const char **at)
{
    double vertex = 0.0;
    const int most = r->soup->num_vertices - r->first;
    const bool is_number = next_number(at, &vertex) && vertex == floor(vertex);
    if (is_number && vertex >= 0.0 && vertex < most) return r->first + (int)vertex;
    refuse(r, array, "a polygon has a corner that is not a point");
    return -1;
}

// A polygon as triangles from its first corner.
static void read_polygon(reader *r, const tali_xml_element *array, const char **at, long corners)
{
    int a = -1, b = -1;
    for (long k = 0; k < corners && !r->failed && !r->soup->no_memory; ++k) {
        const int c = next_corner(r, array, at);
        if (k >= 2 && c >= 0) tali_soup_add_face(r->soup, a, b, c);
        if (k < 1) a = c;
        b = c;
    }
}

static void read_polygons(reader *r, const tali_xml_element *polys)
{
    const tali_xml_element *const corners = array_of(r, polys, "connectivity");
    const tali_xml_element *const offsets = array_of(r, polys, "offsets");
    if (corners == NULL || offsets == NULL) return;
    const char *at = corners->text, *ends = offsets->text;
    double before = 0.0, end = 0.0;
    while (!r->failed && next_number(&ends, &end)) {
        // corners beyond the list are refused when they are looked for
        read_polygon(r, corners, &at, (long)fmax(0.0, fmin(MOST_CORNERS, end - before)));
        before = end;
    }
    check_end(r, offsets, ends);
}

static void read_pieces(reader *r)
{
    const tali_xml_element *const data = tali_xml_child(r->xml->root, "PolyData");
    const tali_xml_element *piece = data != NULL ? tali_xml_child(data, "Piece") : NULL;
    if (piece == NULL) refuse(r, r->xml->root, "this file has no <PolyData> with a <Piece>");
    for (; piece != NULL && !r->failed; piece = tali_xml_next(piece, "Piece")) {
        const tali_xml_element *const points = array_of(r, tali_xml_child(piece, "Points"), NULL);
        r->first = r->soup->num_vertices;
        if (points != NULL) read_points(r, points);
        const tali_xml_element *const polys = tali_xml_child(piece, "Polys");
        if (polys != NULL && !r->failed) read_polygons(r, polys);
    }
}

tal_status tali_soup_read_vtp(tali_soup *soup, const char *name, const char *text, size_t size,
                              tal_diagnostics *found)
{
    tali_xml *xml = NULL;
    const tal_status st =
        tali_xml_read_memory(name, text, size, NULL, &soup->allocator, &xml, found);
    if (st != TAL_OK) return st;
    reader r = {.soup = soup, .xml = xml, .found = found};
    read_pieces(&r);
    if (!r.failed && soup->num_faces == 0 && !soup->no_memory) {
        refuse(&r, xml->root, "this file has no mesh");
    }
    tali_xml_destroy(xml);
    if (soup->no_memory) return TAL_ERR_NO_MEMORY;
    return r.failed ? TAL_ERR_FILE : TAL_OK;
}
