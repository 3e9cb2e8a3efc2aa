// The table: meshes in contact, in the file or beside it.
#include "alloc_internal.h"

#include "model/model_write_internal.h"

#include <talus/io/mesh.h>

#include <math.h>
#include <string.h>

enum {
    VERTICES_ROW,
    FACES_ROW,
    MAX_PATH = 1000
};

const tali_model_attribute tali_model_mesh_attributes[] = {
    {"scale", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER,
     .doc = "factor on the coordinates: 0.001 for millimeters"},
    {"file", TALI_TYPE_TEXT, .initial = "",
     .doc = "path of an .obj file, relative to this file, instead of `<vertices>` and `<faces>`"},
    {.name = NULL}};

// ---- writing: in the file, wherever it came from

void tali_model_describe_mesh(tali_model_description *d)
{
    tali_model_say_number(d, 1.0);
    tali_model_say_text(d, "");
}

static const tal_mesh *mesh_of(const tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    if (d->owner < 0) { // of a collider
        return tal_collider_def_of(model->matter, (tal_collider_ix){d->index}).shape.mesh;
    }
    return tal_contact_surface_shape(model->forces, model->state, (tal_force_ix){d->owner},
                                     (tal_contact_surface_ix){d->index})
        .mesh;
}

static double vertex_number(const void *from, int i)
{
    const tal_vec3 p = tal_mesh_vertex(from, i / 3);
    return i % 3 == 0 ? p.x : i % 3 == 1 ? p.y : p.z;
}

static void describe_vertices(tali_model_description *d)
{
    const tal_mesh *mesh = mesh_of(d);
    tali_model_say_list(d, (tali_model_list){.number = vertex_number,
                                             .from = mesh,
                                             .count = 3 * tal_mesh_num_vertices(mesh)});
}

static double face_number(const void *from, int i)
{
    int corners[3];
    tal_mesh_face(from, i / 3, corners);
    return corners[i % 3];
}

static void describe_faces(tali_model_description *d)
{
    const tal_mesh *mesh = mesh_of(d);
    tali_model_say_list(d, (tali_model_list){.number = face_number,
                                             .from = mesh,
                                             .count = 3 * tal_mesh_num_faces(mesh)});
}

void tali_model_write_mesh(tali_model_description *mesh)
{
    tali_model_sink_put(&mesh->w->out, "\n");
    for (const tali_model_row *row = tali_model_mesh_part_rows; row->name != NULL; ++row) {
        tali_model_description d = {
            .w = mesh->w, .row = row, .owner = mesh->owner, .index = mesh->index};
        tali_model_write_element(&d, "      ", "\n");
    }
    tali_model_sink_put(&mesh->w->out, "    ");
}

const tali_model_row tali_model_mesh_part_rows[] = {
    {.name = "vertices",
     .doc = "x, y and z of each vertex [m].",
     .has_numbers = true,
     .describe = describe_vertices},
    {.name = "faces",
     .doc =
         "Three vertices of each triangle, counted from 0, counterclockwise when seen from outside.",
     .has_numbers = true,
     .describe = describe_faces},
    {.name = NULL}};

// What a call that made a mesh has to say.
static void tell(tali_model *m, const tali_model_item *item, tal_status st, const char *message)
{
    if (st == TAL_OK) return;
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    tali_model_item_error(m, item, NULL, ": %s", message);
}

static void make_from_file(tali_model *m, tali_model_item *item, const char *file, double scale)
{
    char path[MAX_PATH];
    if (!tali_model_item_path(m, item, file, path, sizeof path)) return;
    tal_mesh_options how = tal_mesh_options_default();
    how.allocator = m->options.allocator;
    how.scale = scale;
    const tal_status st = tal_mesh_read_file(path, &how, &item->mesh, m->found);
    if (st == TAL_ERR_NO_MEMORY) m->no_memory = true;
    if (st != TAL_OK) tali_model_item_error(m, item, "file", ": '%.100s' could not be read", path);
}

// The only part of a kind; NULL when there is none or are several.
static const tali_model_item *part_of(const tali_model *m, const tali_model_item *item, int row)
{
    const tali_model_item *part = NULL;
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        if (m->items[c].row != &tali_model_mesh_part_rows[row]) continue;
        if (part != NULL) return NULL;
        part = &m->items[c];
    }
    return part;
}

static bool has_threes(tali_model *m, const tali_model_item *part)
{
    const int count = part->lists[0].count;
    if (count > 0 && count % 3 == 0) return true;
    const bool is_told = count == 0 && *part->element->text != '\0';
    if (!is_told) {
        tali_model_item_error(m, part, NULL, " has %d numbers; it needs three for each", count);
    }
    return false;
}

static bool to_corners(tali_model *m, const tali_model_item *part, int corners[])
{
    for (int i = 0; i < part->lists[0].count; ++i) {
        const double x = part->lists[0].values[i];
        if (!(x >= 0.0 && x < 2147483648.0 && x == floor(x))) {
            tali_model_item_error(m, part, NULL, " has %g; vertices are counted from 0", x);
            return false;
        }
        corners[i] = (int)x;
    }
    return true;
}

// A mesh from the <vertices> and <faces> of an item.
static void make_from_parts(tali_model *m, tali_model_item *item, double scale)
{
    const tali_model_item *vertices = part_of(m, item, VERTICES_ROW);
    const tali_model_item *faces = part_of(m, item, FACES_ROW);
    if (vertices == NULL || faces == NULL) {
        tali_model_item_error(m, item, NULL,
                              " needs one <vertices> and one <faces>, or the attribute 'file'");
        return;
    }
    const bool good = has_threes(m, vertices);
    if (!has_threes(m, faces) || !good) return;
    const int num_vertices = vertices->lists[0].count / 3, num_faces = faces->lists[0].count / 3;
    tal_vec3 *points = tali_arena_take(&m->arena, (size_t)num_vertices * sizeof *points);
    int *corners = tali_arena_take(&m->arena, (size_t)num_faces * 3 * sizeof *corners);
    if (points == NULL || corners == NULL) {
        m->no_memory = true;
        return;
    }
    for (int i = 0; i < num_vertices; ++i) {
        const tal_vec3 p = tali_model_vec3_at(vertices->lists[0].values + (ptrdiff_t)3 * i);
        points[i] = tal_v3_scale(scale, p);
    }
    if (!to_corners(m, faces, corners)) return;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_mesh_create(&m->options.allocator, points, num_vertices, corners,
                                          num_faces, &item->mesh, &err);
    tell(m, item, st, err.message);
}

void tali_model_make_mesh(tali_model *m, tali_model_item *item, const char *file, double scale)
{
    if (!(scale > 0.0)) return; // reported
    if (*file != '\0' && item->num_children > 0) {
        tali_model_item_error(m, item, "file", ": give 'file' or <vertices> and <faces>, not both");
    } else if (*file != '\0') {
        make_from_file(m, item, file, scale);
    } else {
        make_from_parts(m, item, scale);
    }
}

const tal_mesh *tali_model_keep_mesh(tali_model *m, tali_model_item *item)
{
    const tal_mesh *mesh = tali_model_kept_mesh(m->kept, item->mesh);
    item->mesh = NULL;
    m->no_memory = m->no_memory || mesh == NULL;
    return mesh;
}
