// io/src/mesh/soup*.c: triangles of decorations, from .stl and .vtp files.
#include "mesh/soup_internal.h"
#include "talus_test.h"

#include <stdio.h>

static tali_soup empty(void)
{
    const tal_allocator heap = tal_allocator_default();
    return tali_soup_make(&heap);
}

typedef tal_status (*reader)(tali_soup *, const char *, const char *, size_t, tal_diagnostics *);

static void assert_refused(reader read, const char *bytes, size_t size, const char *why)
{
    tali_soup soup = empty();
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(read(&soup, "mesh", bytes, size, found), TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num(found), 1);
    ck_assert_msg(strstr(tal_diagnostics_at(found, 0)->message, why) != NULL, "'%s' lacks '%s'",
                  tal_diagnostics_at(found, 0)->message, why);
    tal_diagnostics_destroy(found);
    tali_soup_free(&soup);
}

// Two triangles that share an edge.
static const char square_text[] =
    "solid square\n facet normal 0 0 1\n outer loop\n vertex 0 0 0\n vertex 1 0 0\n vertex 1 1 0\n"
    " endloop\n endfacet\n facet normal 0 0 1\r\n outer loop\r\n vertex 0 0 0\r\n"
    " vertex 1.0 1e0 -0\r\n vertex 0 1 0\r\n endloop\r\n endfacet\r\nendsolid square\n";

static void assert_square(const tali_soup *soup)
{
    const int faces[2][3] = {{0, 1, 2}, {0, 2, 3}};
    ck_assert_int_eq(soup->num_vertices, 4);
    ck_assert_int_eq(soup->num_faces, 2);
    ck_assert_int_eq(memcmp(soup->faces, faces, sizeof faces), 0);
    ck_assert_double_eq(soup->vertices[2].y, 1.0);
    ck_assert_double_eq(soup->vertices[3].x, 0.0);
}

START_TEST(stl_as_text_joins_equal_corners)
{
    tali_soup soup = empty();
    ck_assert_int_eq(tali_soup_read_stl(&soup, "m", square_text, strlen(square_text), NULL),
                     TAL_OK);
    assert_square(&soup);
    tali_soup_free(&soup);
}

END_TEST

// Many corners, so that some of them have the same place in the map: a ring of squares, each corner
// of which belongs to three triangles.
START_TEST(stl_joins_the_corners_of_a_large_mesh)
{
    enum {
        SQUARES = 500
    };

    static char text[SQUARES * 400];
    int used = snprintf(text, sizeof text, "solid ring\n");
    for (int i = 0; i < 2 * SQUARES; ++i) { // triangles along the ring, from one edge to the other
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "facet normal 0 0 1\nouter loop\n");
        for (int k = i; k < i + 3; ++k) {
            const int corner = k % (2 * SQUARES);
            used += snprintf(text + used, sizeof text - (size_t)used, "vertex %d %d %d\n", corner,
                             corner % 7, corner % 2);
        }
        used += snprintf(text + used, sizeof text - (size_t)used, "endloop\nendfacet\n");
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "endsolid\n");
    tali_soup soup = empty();
    ck_assert_int_eq(tali_soup_read_stl(&soup, "m", text, (size_t)used, NULL), TAL_OK);
    ck_assert_int_eq(soup.num_vertices, 2 * SQUARES);
    ck_assert_int_eq(soup.num_faces, 2 * SQUARES);
    for (int i = 0; i < 2 * SQUARES; ++i) {
        for (int k = 0; k < 3; ++k) {
            const tal_vec3 at = soup.vertices[soup.faces[i][k]];
            ck_assert_double_eq(at.x, (i + k) % (2 * SQUARES));
        }
    }
    tali_soup_free(&soup);
}

END_TEST

static void put(unsigned char *at, float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; ++i) {
        at[i] = (unsigned char)(bits >> (8 * i));
    }
}

START_TEST(stl_as_bytes_is_the_same_even_if_it_begins_with_solid)
{
    static const float corners[2][9] = {{0, 0, 0, 1, 0, 0, 1, 1, 0},
                                        {0, 0, 0, 1, 1, -0.0F, 0, 1, 0}};
    unsigned char bytes[84 + 2 * 50] = "solid, but not text";
    bytes[80] = 2;
    for (int t = 0; t < 2; ++t) {
        for (int k = 0; k < 9; ++k) {
            put(bytes + 84 + 50 * t + 12 + 4 * k, corners[t][k]);
        }
    }
    tali_soup soup = empty();
    ck_assert_int_eq(tali_soup_read_stl(&soup, "m", (const char *)bytes, sizeof bytes, NULL),
                     TAL_OK);
    assert_square(&soup);
    tali_soup_free(&soup);
    put(bytes + 84 + 12, (float)NAN);
    assert_refused(tali_soup_read_stl, (const char *)bytes, sizeof bytes, "three finite numbers");
    assert_refused(tali_soup_read_stl, "solid", 5, "no mesh");
    assert_refused(tali_soup_read_stl, "solid vertex 1 2", 16, "three finite numbers");
    assert_refused(tali_soup_read_stl, "\x01\x02", 2, "not an .stl file");
    assert_refused(tali_soup_read_stl, (const char *)bytes + 6, 100, "not an .stl file");
}

END_TEST

static const char square_vtp[] =
    "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"4\" NumberOfPolys=\"1\">"
    "<PointData><DataArray Name=\"Normals\" format=\"ascii\">0 0 1</DataArray></PointData>"
    "<Points><DataArray format=\"ascii\">0 0 0  1 0 0\n 1 1 0 0 1 0</DataArray></Points>"
    "<Polys><DataArray Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>"
    "<DataArray Name=\"offsets\" format=\"ascii\">4</DataArray></Polys></Piece></PolyData></VTKFile>";

// The file with one of its texts replaced.
static const char *replaced(const char *old, const char *new)
{
    static char text[1024];
    const char *at = strstr(square_vtp, old);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - square_vtp), square_vtp, new,
             at + strlen(old));
    return text;
}

START_TEST(vtp_polygons_become_triangles)
{
    tali_soup soup = empty();
    ck_assert_int_eq(tali_soup_read_vtp(&soup, "m", square_vtp, strlen(square_vtp), NULL), TAL_OK);
    assert_square(&soup);
    tali_soup_free(&soup);
    const char *text = replaced("0 1 2 3<", "0 1 2 4<");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "not a point");
    text = replaced("0 1 2 3<", "0 1 2<");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "not a point");
    text = replaced(">4<", "><");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "no mesh");
    text = replaced("0 1 0</D", "0 1</D");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "three numbers each");
    // nothing is passed over in silence
    text = replaced(" 0 1 0</D", " 0 1 0 nan 0 0</D");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "not a finite number");
    text = replaced(">4<", ">4 x<");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "not a finite number");
    text = replaced("0 1 2 3<", "0 1 2 1.5<");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "not a point");
    text = replaced("<Points><DataArray format=\"ascii\"", "<Points><DataArray format=\"binary\"");
    assert_refused(tali_soup_read_vtp, text, strlen(text), "save the file as text");
}

END_TEST

START_TEST(files_go_by_their_extension)
{
    tali_soup soup = empty();
    test_write_file("soup_test.STL", square_text);
    ck_assert_int_eq(tali_soup_read_file(&soup, "soup_test.STL", 1 << 20, NULL), TAL_OK);
    assert_square(&soup);
    tali_soup_free(&soup);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    test_write_file("soup_test.ply", "ply");
    ck_assert_int_eq(tali_soup_read_file(&soup, "soup_test.ply", 100, found), TAL_ERR_FILE);
    ck_assert_int_eq(tali_soup_read_file(&soup, "soup_test.STL", 100, found), TAL_ERR_FILE);
    ck_assert_int_eq(tali_soup_read_file(&soup, "no.obj", 100, found), TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num(found), 3);
    tal_diagnostics_destroy(found);
    tali_soup_free(&soup);
    (void)remove("soup_test.STL");
    (void)remove("soup_test.ply");
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("soup");
    TCase *theory = tcase_create("theory");
    tcase_add_test(theory, stl_as_text_joins_equal_corners);
    tcase_add_test(theory, stl_joins_the_corners_of_a_large_mesh);
    tcase_add_test(theory, stl_as_bytes_is_the_same_even_if_it_begins_with_solid);
    tcase_add_test(theory, vtp_polygons_become_triangles);
    tcase_add_test(theory, files_go_by_their_extension);
    suite_add_tcase(suite, theory);
    return test_run(suite);
}
