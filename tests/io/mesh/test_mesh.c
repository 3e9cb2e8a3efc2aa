// io/src/mesh/mesh_obj.c: meshes from .obj files.
#include "talus_test.h"

#include <talus/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                  "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static tal_mesh *read_text(const char *text, const tal_mesh_options *options)
{
    tal_mesh *mesh = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_mesh_read_memory("m.obj", text, strlen(text), options, &mesh, found);
    ck_assert_msg(st == TAL_OK, "%s",
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    ck_assert_int_eq(tal_diagnostics_num(found), 0);
    tal_diagnostics_destroy(found);
    return mesh;
}

static void assert_same_mesh(const tal_mesh *a, const tal_mesh *b)
{
    ck_assert_int_eq(tal_mesh_num_vertices(a), tal_mesh_num_vertices(b));
    ck_assert_int_eq(tal_mesh_num_faces(a), tal_mesh_num_faces(b));
    for (int i = 0; i < tal_mesh_num_vertices(a); ++i) {
        const tal_vec3 p = tal_mesh_vertex(a, i), q = tal_mesh_vertex(b, i);
        ck_assert_int_eq(memcmp(&p, &q, sizeof p), 0);
    }
    for (int i = 0; i < tal_mesh_num_faces(a); ++i) {
        int f[3], g[3];
        tal_mesh_face(a, i, f);
        tal_mesh_face(b, i, g);
        ck_assert_int_eq(memcmp(f, g, sizeof f), 0);
    }
}

START_TEST(a_file_gives_its_vertices_and_faces)
{
    const tal_vec3 vertices[] = {
        {0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    const int faces[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    tal_mesh *made = NULL;
    ck_assert_int_eq(tal_mesh_create(NULL, vertices, 4, faces, 4, &made, NULL), TAL_OK);
    tal_mesh *plain = read_text(tetrahedron, NULL);
    assert_same_mesh(made, plain);
    // with everything that programs write, and other ways to count
    tal_mesh *rich =
        read_text("# by hand\r\nmtllib a.mtl\r\no body\r\ng side\r\ns off\r\nusemtl red\r\n"
                  "v 0 0 0 1\r\nv\t1.0 0.0e0 0 0.5 0.5 0.5\r\nv 0 1 0\r\nv 0 0 1\r\n"
                  "vn 0 0 1\r\nvt 0 0\r\nvp 1\r\np 1\r\nl 1 2\r\n\r\n"
                  "f 1/1/1 3/1 2//1\r\nf -4 -3 -1\r\nf 1 4 3\r\nf 2 3 4",
                  NULL);
    assert_same_mesh(made, rich);
    tal_mesh_destroy(rich);
    tal_mesh_destroy(plain);
    tal_mesh_destroy(made);
}

END_TEST

// A cube of six squares is twelve triangles; in millimeters it is small.
START_TEST(polygons_are_cut_and_coordinates_scaled)
{
    const char *text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                       "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    tal_mesh_options options = tal_mesh_options_default();
    options.scale = 0.001;
    tal_mesh *mesh = read_text(text, &options);
    ck_assert_int_eq(tal_mesh_num_faces(mesh), 12);
    ck_assert_double_eq_tol(tal_mesh_volume(mesh), 1e-9, 1e-23);
    ck_assert_double_eq_tol(tal_mesh_area(mesh), 6e-6, 1e-20);
    tal_mesh_destroy(mesh);
}

END_TEST

START_TEST(every_error_has_its_line_and_sentence)
{
    const struct {
        const char *text, *said;
    } cases[] = {
        {"", "m.obj: error: this file has no mesh"},
        {"# nothing\n\nv 1 2 3\n", "m.obj: error: this file has no mesh"},
        {"v 1 2\n", "m.obj:1: error: a vertex needs three numbers"},
        {"\nv 1 2 x\n", "m.obj:2: error: 'x' is not a finite number"},
        {"v 1 2 inf\n", "m.obj:1: error: 'inf' is not a finite number"},
        {"v 1 2 3\nf 1 2\n", "m.obj:2: error: there is no vertex '2' before this face"},
        {"v 1 2 3\nf 1 1\n", "m.obj:2: error: a face needs three corners"},
        {"v 1 2 3\nf 1 -2 1\n", "m.obj:2: error: there is no vertex '-2' before this face"},
        {"v 1 2 3\nf 0 1 1\n", "m.obj:2: error: '0' is not a corner of a face"},
        {"v 1 2 3\nf 1/ /1 1\n", "m.obj:2: error: '/1' is not a corner of a face"},
        {"v 1 2 3\nf 1x 1 1\n", "m.obj:2: error: '1x' is not a corner of a face"},
        {"v 1 2 3\nf 99999999999 1 1\n", "m.obj:2: error: '99999999999' is not a corner of a face"},
        {"root:x:0:0\n",
         "m.obj:1: error: a line begins with 'root:x:0:0'; the lines of a mesh begin"},
        {"curv 1 2\n", "a line begins with 'curv'"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n", "m.obj: error: "},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_mesh *mesh = NULL;
        const char *text = cases[i].text;
        ck_assert_int_eq(tal_mesh_read_memory("m.obj", text, strlen(text), NULL, &mesh, found),
                         TAL_ERR_FILE);
        ck_assert_ptr_null(mesh);
        ck_assert_int_eq(tal_diagnostics_num(found), 1);
        char line[TAL_DIAGNOSTIC_SIZE];
        (void)tal_diagnostic_text(tal_diagnostics_at(found, 0), line);
        ck_assert_msg(strstr(line, cases[i].said) != NULL, "'%s' lacks '%s'", line, cases[i].said);
        tal_diagnostics_destroy(found);
    }
}

END_TEST

START_TEST(garbage_is_given_up_soon)
{
    char text[4000];
    memset(text, 'x', sizeof text);
    for (size_t i = 9; i < sizeof text; i += 10) {
        text[i] = '\n';
    }
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_read_memory("m", text, sizeof text, NULL, &mesh, found),
                     TAL_ERR_FILE);
    ck_assert_int_eq(tal_diagnostics_num(found), 20);
    tal_diagnostics_clear(found);
    tal_mesh_options options = tal_mesh_options_default();
    options.max_bytes = 3999;
    ck_assert_int_eq(tal_mesh_read_memory("m", text, sizeof text, &options, &mesh, found),
                     TAL_ERR_FILE);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message, "the file is too long");
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(files_are_read)
{
    test_write_file("test_mesh.tmp", tetrahedron);
    tal_mesh *mesh = NULL;
    ck_assert_int_eq(tal_mesh_read_file("test_mesh.tmp", NULL, &mesh, NULL), TAL_OK);
    ck_assert_int_eq(tal_mesh_num_faces(mesh), 4);
    tal_mesh_destroy(mesh);
    (void)remove("test_mesh.tmp");
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_mesh_read_file("test_mesh.tmp", NULL, &mesh, found), TAL_ERR_FILE);
    ck_assert_ptr_null(mesh);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message,
                     "the file cannot be opened: No such file or directory");
    tal_diagnostics_destroy(found);
}

END_TEST

START_TEST(broken_contracts_and_no_memory)
{
    test_record_breaches();
    tal_mesh *mesh = NULL;
    tal_status st = TAL_OK;
    test_assert_breach(st = tal_mesh_read_file(NULL, NULL, &mesh, NULL), TAL_ERR_NULL, "name");
    test_assert_breach(st = tal_mesh_read_memory("m", NULL, 0, NULL, &mesh, NULL), TAL_ERR_NULL,
                       "text");
    test_assert_breach(st = tal_mesh_read_file("m", NULL, NULL, NULL), TAL_ERR_NULL, "result");
    tal_mesh_options options = tal_mesh_options_default();
    options.scale = (double)NAN;
    test_assert_breach(st = tal_mesh_read_file("m", &options, &mesh, NULL), TAL_ERR_BAD_VALUE,
                       "scale");
    options.scale = 0.0;
    test_assert_breach(st = tal_mesh_read_memory("m", "", 0, &options, &mesh, NULL),
                       TAL_ERR_BAD_VALUE, "scale");
    ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
    options.scale = 1.0;
    int n = 0;
    for (bool done = false; !done; ++n) {
        test_heap heap = {.refuse_at = n + 1};
        options.allocator = test_heap_allocator(&heap);
        st = tal_mesh_read_memory("m", tetrahedron, strlen(tetrahedron), &options, &mesh, NULL);
        done = st == TAL_OK;
        if (!done) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        if (done) test_assert_never_refused(&heap);
        tal_mesh_destroy(mesh);
        ck_assert_uint_eq(heap.bytes, 0);
        ck_assert_int_lt(n, 100);
    }
    ck_assert_int_gt(n, 2);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh");
    TCase *obj = tcase_create("obj");
    tcase_add_test(obj, a_file_gives_its_vertices_and_faces);
    tcase_add_test(obj, polygons_are_cut_and_coordinates_scaled);
    tcase_add_test(obj, every_error_has_its_line_and_sentence);
    tcase_add_test(obj, garbage_is_given_up_soon);
    tcase_add_test(obj, files_are_read);
    tcase_add_test(obj, broken_contracts_and_no_memory);
    suite_add_tcase(suite, obj);
    return test_run(suite);
}
