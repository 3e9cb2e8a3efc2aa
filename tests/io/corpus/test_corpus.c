// What readers make of the files that fuzzers found (tests/fuzz/corpus_*), good ones and bad ones:
// status, every sentence, and the numbers of what was read are compared with stored answers
// (tests/io/corpus_values.txt). Each file is read as it is, cut, with bytes changed, and twice in a
// row, so that there are mistakes of all kinds. A file that is not in the list is not looked at.
// After a change that is meant to alter what is said:
//
//     rm tests/io/corpus_values.txt
//     TALUS_VALUES=tests/io/corpus_values.txt test_io_corpus
#define _DEFAULT_SOURCE // scandir. NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#include "mesh/soup_internal.h"
#include "talus_test.h"

#include <talus/talus.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NUM_VARIANTS = 6,
    LARGEST = 1 << 18,
    LINE = 1000
};

// What came of a file: a sum of its numbers, and of the letters of its words and sentences.
typedef struct answer {
    tal_status status;
    double value, size;
    int num;
    unsigned long letters;
} answer;

static void add_number(answer *it, double x)
{
    // what is no number still is something, and what overflows does not hide the rest
    const double part = sin(++it->num) * (isnan(x) ? 7.0 : fmin(1e6, fmax(-1e6, x)));
    it->value += part;
    it->size += fabs(part);
}

static void add_letters(answer *it, const char *text)
{
    for (; *text != 0; ++text) {
        it->letters = (it->letters * 31 + (unsigned char)*text) % 1000003;
    }
    it->letters = (it->letters * 31 + 1) % 1000003;
}

static void add_sentences(answer *it, const tal_diagnostics *found)
{
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char text[TAL_DIAGNOSTIC_SIZE];
        add_letters(it, tal_diagnostic_text(tal_diagnostics_at(found, i), text));
    }
}

// --- readers ---

static void add_table(answer *it, const tal_table *table)
{
    const int rows = tal_table_num_rows(table), columns = tal_table_num_columns(table);
    add_number(it, rows);
    add_number(it, tal_table_in_degrees(table));
    for (int k = 0; k < columns; ++k) {
        add_letters(it, tal_table_column_name(table, k));
    }
    for (int i = 0; i < tal_table_num_headers(table); ++i) {
        const char *const key = tal_table_header_key(table, i);
        add_letters(it, key);
        add_letters(it, tal_table_header(table, key));
    }
    for (int i = 0; i < rows; ++i) {
        for (int k = 0; k < columns; ++k) {
            add_number(it, tal_table_value(table, i, k));
        }
    }
}

// What it looks like in each format of text; what does not fit one says why.
static void add_written(answer *it, const tal_table *table)
{
    static char text[8 * LARGEST];
    static const tal_table_format formats[] = {TAL_TABLE_CSV, TAL_TABLE_STO, TAL_TABLE_TRC};
    for (int i = 0; i < 3; ++i) {
        tal_error err = {TAL_OK, "", ""};
        size_t length = 0;
        const tal_status st =
            tal_table_write_memory(table, formats[i], text, sizeof text, &length, &err);
        add_number(it, st);
        ck_assert_uint_lt(length, sizeof text);
        text[length] = 0;
        add_letters(it, st == TAL_OK ? text : err.message);
    }
}

static tal_status read_table(tal_table_format format, const char *bytes, size_t size,
                             tal_diagnostics *found, answer *it)
{
    tal_table *table = NULL;
    const tal_status st = tal_table_read_memory(format, "file", bytes, size, NULL, &table, found);
    if (st == TAL_OK) add_table(it, table);
    if (st == TAL_OK) add_written(it, table);
    tal_table_destroy(table);
    return st;
}

static tal_status read_c3d(const char *bytes, size_t size, tal_diagnostics *found, answer *it)
{
    tal_status st = TAL_OK;
    for (int part = TAL_C3D_MARKERS; part <= TAL_C3D_FORCES; ++part) {
        tal_table *table = NULL;
        const tal_status one =
            tal_c3d_read_memory("file", bytes, size, (tal_c3d_part)part, NULL, &table, found);
        if (one == TAL_OK) add_table(it, table);
        if (one != TAL_OK) st = one;
        add_number(it, one);
        tal_table_destroy(table);
    }
    return st;
}

// Mass, frames, ranges, where it begins and how that is accelerated.
static void add_body(answer *it, const tal_model *model, tal_body_ix body)
{
    const tal_matter *const matter = model->matter;
    const tal_mass_props m = tal_body_mass_props(matter, model->state, body);
    const tal_xform F = tal_body_X_PF(matter, model->state, body),
                    M = tal_body_X_BM(matter, model->state, body);
    const double numbers[] = {m.mass,       m.com.x,      m.com.y,      m.com.z, m.inertia.xx,
                              m.inertia.yy, m.inertia.zz, m.inertia.xy, F.p.x,   F.p.y,
                              F.p.z,        M.p.x,        M.p.y,        M.p.z,   F.R.x.y,
                              F.R.y.z,      M.R.x.y,      M.R.y.z};
    add_letters(it, tal_body_name(matter, body));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        add_number(it, numbers[i]);
    }
    for (int i = 0; i < tal_body_nq(matter, model->state, body); ++i) {
        char name[TAL_COORDINATE_NAME_SIZE];
        double low = 0.0, high = 0.0;
        if (tal_body_coordinate_name(matter, model->state, body, i, name) == TAL_OK) {
            add_letters(it, name);
        }
        if (tal_body_range(matter, model->state, body, i, &low, &high) == TAL_OK) {
            add_number(it, low);
            add_number(it, high);
        }
    }
}

static void add_model(answer *it, const tal_model *model)
{
    const int bodies = tal_matter_num_bodies(model->matter);
    add_number(it, bodies);
    for (int i = 1; i < bodies; ++i) {
        add_body(it, model, (tal_body_ix){i});
    }
    for (int i = 0; i < tal_state_ny(model->state); ++i) {
        add_number(it, tal_state_y(model->state)[i]);
    }
    for (int i = 0; i < model->num_markers; ++i) {
        add_letters(it, model->markers[i].name);
        add_number(it, model->markers[i].p_BS.x);
    }
}

static tal_status read_model(bool is_urdf, const char *bytes, size_t size, tal_diagnostics *found,
                             answer *it)
{
    tal_model model;
    tal_urdf_options options = tal_urdf_options_default();
    options.contact = options.free_base = size % 2 == 0;
    const tal_status st = is_urdf
                              ? tal_urdf_read_memory("file", bytes, size, &options, &model, found)
                              : tal_model_read_memory("file", bytes, size, NULL, &model, found);
    if (st == TAL_OK && tal_matter_num_bodies(model.matter) < 100) add_model(it, &model);
    tal_model_destroy(&model);
    return st;
}

static tal_status read_mesh(const char *bytes, size_t size, tal_diagnostics *found, answer *it)
{
    tal_mesh *mesh = NULL;
    const tal_status st = tal_mesh_read_memory("file", bytes, size, NULL, &mesh, found);
    for (int i = 0; st == TAL_OK && i < tal_mesh_num_vertices(mesh); ++i) {
        add_number(it, tal_v3_dot(tal_mesh_vertex(mesh, i), tal_v3(1.0, 2.0, 3.0)));
    }
    for (int i = 0; st == TAL_OK && i < tal_mesh_num_faces(mesh); ++i) {
        int corners[3];
        tal_mesh_face(mesh, i, corners);
        add_number(it, corners[0] + 10 * corners[1] + 100 * corners[2]);
    }
    tal_mesh_destroy(mesh);
    return st;
}

static tal_status read_soup(bool is_stl, const char *bytes, size_t size, tal_diagnostics *found,
                            answer *it)
{
    const tal_allocator heap = tal_allocator_default();
    tali_soup soup = tali_soup_make(&heap);
    const tal_status st = is_stl ? tali_soup_read_stl(&soup, "file", bytes, size, found)
                                 : tali_soup_read_vtp(&soup, "file", bytes, size, found);
    for (int i = 0; st == TAL_OK && i < soup.num_vertices; ++i) {
        add_number(it, tal_v3_dot(soup.vertices[i], tal_v3(1.0, 2.0, 3.0)));
    }
    for (int i = 0; st == TAL_OK && i < soup.num_faces; ++i) {
        add_number(it, soup.faces[i][0] + 10 * soup.faces[i][1] + 100 * soup.faces[i][2]);
    }
    tali_soup_free(&soup);
    return st;
}

// Folders; models of OpenSim are left out, whose reader still grows.
static const char *const kinds[] = {"csv",   "sto",  "trc", "npz", "c3d",
                                    "model", "urdf", "obj", "stl", "vtp"};

enum {
    NUM_KINDS = (int)(sizeof kinds / sizeof *kinds)
};

static tal_status read_kind(int kind, const char *bytes, size_t size, tal_diagnostics *found,
                            answer *it)
{
    static const tal_table_format formats[] = {TAL_TABLE_CSV, TAL_TABLE_STO, TAL_TABLE_TRC,
                                               TAL_TABLE_NPZ};
    if (kind < 4) return read_table(formats[kind], bytes, size, found, it);
    if (kind == 4) return read_c3d(bytes, size, found, it);
    if (kind < 7) return read_model(kind == 6, bytes, size, found, it);
    if (kind == 7) return read_mesh(bytes, size, found, it);
    return read_soup(kind == 8, bytes, size, found, it);
}

// --- files ---

// The bytes of a variant; what is changed depends on the size alone. 0: the variant has too many.
static size_t make_variant(int variant, char bytes[2 * LARGEST], size_t size)
{
    if (variant == 1) return size * 2 / 3;
    if (variant == 2 && size > 0) bytes[size / 3] = '7';
    if (variant == 3 && size > 0) bytes[size / 2] = ' ';
    if (variant == 4 && size > 8)
        memmove(bytes + size / 4, bytes + size / 4 + 3, size - size / 4 - 3);
    if (variant == 4 && size > 8) return size - 3;
    if (variant == 5) {
        memcpy(bytes + size, bytes, size);
        return 2 * size;
    }
    return size;
}

static size_t load(const char *path, char bytes[2 * LARGEST])
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing", path);
    const size_t size = fread(bytes, 1, LARGEST, file);
    (void)fclose(file);
    return size;
}

static answer ask(int kind, const char *path, int variant)
{
    static char bytes[2 * LARGEST];
    answer it = {.status = TAL_OK};
    const size_t size = make_variant(variant, bytes, load(path, bytes));
    char *const exact = malloc(size + 1); // so that the sanitizer sees its end
    memcpy(exact, bytes, size);
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    it.status = read_kind(kind, exact, size, found, &it);
    add_sentences(&it, found);
    tal_diagnostics_destroy(found);
    free(exact);
    return it;
}

static void path_of(int kind, const char *name, char path[LINE])
{
    (void)snprintf(path, LINE, "%s/tests/fuzz/corpus_%s/%s", TALUS_SOURCE_DIR, kinds[kind], name);
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void print_answers(FILE *out, int kind)
{
    char path[LINE];
    struct dirent **names = NULL;
    path_of(kind, "", path);
    const int n = scandir(path, &names, is_file, alphasort);
    for (int i = 0; i < n; ++i) {
        path_of(kind, names[i]->d_name, path);
        fprintf(out, "%s %s", kinds[kind], names[i]->d_name);
        for (int v = 0; v < NUM_VARIANTS; ++v) {
            const answer it = ask(kind, path, v);
            fprintf(out, " %d %lu %.12g", (int)it.status, it.letters, it.value);
        }
        fprintf(out, "\n");
        free(names[i]);
    }
    free(names);
}

// A line of the answers: the same status, sentences and numbers. Those of text are exact; rotations
// from angles are round-off.
static void check_line(int kind, const char *line)
{
    char name[256], path[LINE];
    int at = 0;
    ck_assert_int_eq(sscanf(line, "%*s %255s%n", name, &at), 1);
    path_of(kind, name, path);
    for (int v = 0; v < NUM_VARIANTS; ++v) {
        int status = -1, more = 0;
        unsigned long letters = 0;
        double value = 0.0;
        ck_assert_int_eq(sscanf(line + at, "%d %lu %lf%n", &status, &letters, &value, &more), 3);
        at += more;
        const answer it = ask(kind, path, v);
        ck_assert_msg((int)it.status == status, "corpus_%s/%s, variant %d: status %d, not %d",
                      kinds[kind], name, v, (int)it.status, status);
        ck_assert_msg(it.letters == letters, "corpus_%s/%s, variant %d: other words or sentences",
                      kinds[kind], name, v);
        ck_assert_msg(fabs(it.value - value) <= 1e-10 * (1.0 + it.size),
                      "corpus_%s/%s, variant %d: %.12g instead of %.12g", kinds[kind], name, v,
                      it.value, value);
    }
}

START_TEST(readers_say_what_they_said)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    const char *const wanted = getenv("TALUS_VALUES");
    FILE *file = wanted != NULL ? fopen(wanted, "a")
                                : fopen(TALUS_SOURCE_DIR "/tests/io/corpus_values.txt", "r");
    ck_assert_ptr_nonnull(file);
    if (wanted != NULL) print_answers(file, _i);
    char line[LINE], kind[16];
    int count = 0;
    while (wanted == NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%15s", kind) != 1 || strcmp(kind, kinds[_i]) != 0) continue;
        check_line(_i, line);
        ++count;
    }
    (void)fclose(file);
    if (wanted == NULL) ck_assert_int_gt(count, 0);
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("corpus");
    TCase *all = tcase_create("answers");
    tcase_set_timeout(all, 60);
    tcase_add_loop_test(all, readers_say_what_they_said, 0, NUM_KINDS);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
