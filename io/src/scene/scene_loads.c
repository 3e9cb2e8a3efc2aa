// Loads through time: what force elements and joints do to bodies, and where bodies touch.
#include "alloc_internal.h"
#include "error_internal.h"
#include "force_facts_internal.h"

#include "scene/scene_internal.h"

#include <math.h>
#include <string.h>

enum {
    MAX_ELEMENTS = 1000,  // more are not looked at one by one
    MAX_CONTACTS = 500,   // at one time
    LOAD_CHANNELS = 6,    // force, moment
    CONTACT_CHANNELS = 9, // point, force, semi-axes, depth
    REACTION = -1,        // in tali_scene_load.force
    CONSTRAINT = -2       // and below: of the first one, and so on
};

// An arrow needs no more digits than a screen has pixels.
static const double load_precision = 1e-3, contact_precision = 1e-4;

bool tali_scene_loads_begin(tal_scene *scene, tali_scene_loads *loads, int frames)
{
    const size_t bodies = (size_t)tal_matter_num_bodies(scene->model.matter);
    *loads = (tali_scene_loads){.frames = frames};
    loads->touches = tali_scene_has_contacts(scene);
    loads->all = tal_forces_num(scene->model.forces) <= MAX_ELEMENTS;
    loads->F = tali_arena_take(&scene->arena, bodies * sizeof *loads->F);
    loads->f =
        tali_arena_take(&scene->arena, ((size_t)tal_state_nu(scene->state) + 1) * sizeof *loads->f);
    return loads->F != NULL && loads->f != NULL;
}

// ---- forces on bodies

// Where an element acts on a body: gravity at the mass center, what acts between two points at its
// station, all else at the origin.
static tal_vec3 point_of(const tal_scene *scene, int force, int body)
{
    const tal_forces *const forces = scene->model.forces;
    const tal_force_ix ix = {force};
    const char *const kind = tal_force_kind(forces, ix);
    tali_force_facts facts;
    if (strcmp(kind, "gravity") == 0) {
        return tal_body_mass_props(scene->model.matter, scene->state, (tal_body_ix){body}).com;
    }
    if (strncmp(kind, "two-point", 9) != 0 || !tali_force_facts_of(forces, ix, &facts)) {
        return TAL_VEC3_ZERO;
    }
    const int first = facts.bodies[0].i == body ? 0 : 3;
    return tal_v3(tal_force_param(forces, scene->state, ix, first),
                  tal_force_param(forces, scene->state, ix, first + 1),
                  tal_force_param(forces, scene->state, ix, first + 2));
}

// Where a constraint holds a body.
static tal_vec3 constraint_point(const tal_scene *scene, int constraint, int body)
{
    tal_body_ix bodies[2];
    tal_vec3 points[2];
    if (!tali_scene_constraint_ends(scene, (tal_constraint_ix){constraint}, bodies, points)) {
        return TAL_VEC3_ZERO;
    }
    return bodies[0].i == body ? points[0] : bodies[1].i == body ? points[1] : TAL_VEC3_ZERO;
}

// Where the arrow of a load begins.
static tal_vec3 start_of(const tal_scene *scene, int force, int body)
{
    if (force <= CONSTRAINT) return constraint_point(scene, CONSTRAINT - force, body);
    if (force != REACTION) return point_of(scene, force, body);
    return tal_body_X_BM(scene->model.matter, scene->state, (tal_body_ix){body}).p;
}

// The row of an element on a body, -1: none. Frames ask in the same order: it is mostly the next.
static int find_load(tali_scene_loads *loads, int force, int body)
{
    for (int k = 0; k < loads->num; ++k) {
        const int i = (loads->last + 1 + k) % loads->num;
        if (loads->list[i].force != force || loads->list[i].body != body) continue;
        loads->last = i;
        return i;
    }
    return -1;
}

// The same; a new one is zero until now. NULL without memory.
static tali_scene_load *load_of(tal_scene *scene, tali_scene_loads *loads, int force, int body)
{
    const int known = find_load(loads, force, body);
    if (known >= 0) return &loads->list[known];
    const tal_allocator *const allocator = &scene->options.allocator;
    if (!tali_grow(allocator, (void **)&loads->list, loads->num, &loads->capacity,
                   sizeof *loads->list)) {
        return NULL;
    }
    tali_scene_load *const it = &loads->list[loads->num];
    *it = (tali_scene_load){.force = force, .body = body};
    it->values = tali_alloc(allocator, LOAD_CHANNELS * (size_t)loads->frames * sizeof *it->values);
    if (it->values == NULL) return NULL;
    it->point = start_of(scene, force, body);
    ++loads->num;
    return it;
}

static bool is_zero(tal_spatial_vec F)
{
    return tal_v3_max_abs(F.w) == 0.0 && tal_v3_max_abs(F.v) == 0.0;
}

// F is about Bo; the arrow begins at the point.
static bool keep_load(tal_scene *scene, tali_scene_loads *loads, int force, int body, int frame,
                      tal_spatial_vec F)
{
    if (is_zero(F) || !tal_sv_is_finite(F)) return true;
    tali_scene_load *const it = load_of(scene, loads, force, body);
    if (it == NULL) return false;
    const tal_xform X_GB = tal_body_X_GB(scene->model.matter, scene->state, (tal_body_ix){body});
    const tal_vec3 p_BS_G = tal_m3_mul_v3(X_GB.R, it->point);
    const tal_vec3 moment = tal_v3_sub(F.w, tal_v3_cross(p_BS_G, F.v));
    const double values[LOAD_CHANNELS] = {F.v.x, F.v.y, F.v.z, moment.x, moment.y, moment.z};
    for (int k = 0; k < LOAD_CHANNELS; ++k) {
        it->values[k * loads->frames + frame] = values[k];
    }
    return true;
}

static tal_status add_element(tal_scene *scene, tali_scene_loads *loads, int force, int frame)
{
    const int bodies = tal_matter_num_bodies(scene->model.matter);
    memset(loads->F, 0, (size_t)bodies * sizeof *loads->F);
    const tal_status st = tal_force_apply(scene->model.forces, scene->state, (tal_force_ix){force},
                                          loads->F, loads->f);
    for (int b = 1; b < bodies && st == TAL_OK; ++b) {
        if (!keep_load(scene, loads, force, b, frame, loads->F[b])) return TAL_ERR_NO_MEMORY;
    }
    return st;
}

// Forces along mobilities and baths push no body in particular; contacts have arrows of their own.
static bool is_drawn(const tal_scene *scene, int force)
{
    static const char *const others[] = {"mobility", "contact", "langevin", "nose", "discrete"};
    const tal_forces *const forces = scene->model.forces;
    const char *const kind = tal_force_kind(forces, (tal_force_ix){force});
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (strncmp(kind, others[i], strlen(others[i])) == 0) return false;
    }
    return tal_force_is_enabled(forces, scene->state, (tal_force_ix){force});
}

static tal_status add_reactions(tal_scene *scene, tali_scene_loads *loads, int frame)
{
    const tal_matter *const matter = scene->model.matter;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_spatial_vec F = tal_body_reaction_B(matter, scene->state, (tal_body_ix){b});
        if (!keep_load(scene, loads, REACTION, b, frame, F)) return TAL_ERR_NO_MEMORY;
    }
    return TAL_OK;
}

// What constraints do to bodies, by their multipliers.
static tal_status add_constraints(tal_scene *scene, tali_scene_loads *loads, int frame)
{
    const tal_matter *const matter = scene->model.matter;
    const double *const lambda = tal_state_multipliers(scene->state);
    for (int i = 0; i < tal_matter_num_constraints(matter); ++i) {
        const tal_constraint_ix ix = {i};
        if (!tal_constraint_is_enabled(matter, scene->state, ix)) continue;
        const tal_status st =
            tal_matter_calc_constraint_forces(matter, scene->state, lambda, ix, loads->F, loads->f);
        if (st != TAL_OK) return st;
        for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
            if (!keep_load(scene, loads, CONSTRAINT - i, b, frame, loads->F[b])) {
                return TAL_ERR_NO_MEMORY;
            }
        }
    }
    return TAL_OK;
}

// ---- where bodies touch

static double *contact_slot(tal_scene *scene, tali_scene_loads *loads, int slot)
{
    if (slot < loads->num_contacts) return loads->contacts[slot];
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t count = CONTACT_CHANNELS * (size_t)loads->frames;
    if (!tali_grow(allocator, (void **)&loads->contacts, loads->num_contacts,
                   &loads->contacts_capacity, sizeof *loads->contacts)) {
        return NULL;
    }
    double *const values = tali_alloc(allocator, count * sizeof *values);
    if (values == NULL) return NULL;
    for (size_t i = 0; i < count; ++i) {
        values[i] = TALI_NAN;
    }
    loads->contacts[loads->num_contacts++] = values;
    return values;
}

static bool keep_contact(tal_scene *scene, tali_scene_loads *loads, int slot, int frame,
                         const tal_contact_info *it)
{
    double *const slots = contact_slot(scene, loads, slot);
    if (slots == NULL) return false;
    const double values[CONTACT_CHANNELS] = {it->p_G.x,        it->p_G.y,        it->p_G.z,
                                             it->f_G.x,        it->f_G.y,        it->f_G.z,
                                             it->semi_axis[0], it->semi_axis[1], it->depth};
    for (int k = 0; k < CONTACT_CHANNELS; ++k) {
        slots[k * loads->frames + frame] = values[k];
    }
    return true;
}

static tal_status add_contacts(tal_scene *scene, tali_scene_loads *loads, int force, int frame,
                               int *slot)
{
    const tal_force_ix ix = {force};
    const int n = tal_contact_num(scene->model.forces, scene->state, ix);
    for (int i = 0; i < n && *slot < MAX_CONTACTS; ++i) {
        tal_contact_info info;
        const tal_status st = tal_contact_calc(scene->model.forces, scene->state, ix, i, &info);
        if (st != TAL_OK) return st;
        if (!keep_contact(scene, loads, (*slot)++, frame, &info)) return TAL_ERR_NO_MEMORY;
    }
    return n < 0 ? tal_state_error(scene->state)->status : TAL_OK;
}

// Rigid contacts: their forces, multipliers, are not known from a table.
static tal_status add_touches(tal_scene *scene, tali_scene_loads *loads, int frame, int *slot)
{
    const tal_vec3 unknown = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    for (int i = 0; i < tal_matter_num_constraints(scene->model.matter); ++i) {
        tal_contact_info info = {.f_G = unknown};
        if (*slot >= MAX_CONTACTS) break;
        if (!tali_scene_touch_point(scene, (tal_constraint_ix){i}, &info.p_G)) continue;
        if (!keep_contact(scene, loads, (*slot)++, frame, &info)) return TAL_ERR_NO_MEMORY;
    }
    return TAL_OK;
}

// Colliders, which no table knows either; elements in their places are drawn already.
static tal_status add_colliders(tal_scene *scene, tali_scene_loads *loads, int frame, int *slot)
{
    const tal_matter *const matter = scene->model.matter;
    const int n = tal_matter_has_collider_elements(matter) ? 0 : tal_matter_num_colliders(matter);
    tal_contact_info info = {.f_G = tal_v3(TALI_NAN, TALI_NAN, TALI_NAN)};
    tal_vec3 points[TALI_SCENE_PAIR_POINTS];
    for (int b = 0; b < n; ++b) {
        for (int a = 0; a < b; ++a) {
            const int num = tali_scene_collider_points(scene, a, b, points);
            if (num < 0) return TAL_ERR_NO_MEMORY;
            for (int i = 0; i < num && *slot < MAX_CONTACTS; ++i) {
                info.p_G = points[i];
                if (!keep_contact(scene, loads, (*slot)++, frame, &info)) return TAL_ERR_NO_MEMORY;
            }
        }
    }
    return TAL_OK;
}

tal_status tali_scene_loads_add(tal_scene *scene, tali_scene_loads *loads, int frame)
{
    const tal_forces *const forces = scene->model.forces;
    tal_status st = TAL_OK;
    int slot = 0;
    for (int i = 0; i < tal_forces_num(forces) && st == TAL_OK; ++i) {
        const bool touches = strcmp(tal_force_kind(forces, (tal_force_ix){i}), "contact") == 0;
        if (touches && tal_force_is_enabled(forces, scene->state, (tal_force_ix){i})) {
            st = add_contacts(scene, loads, i, frame, &slot);
        } else if (loads->all && is_drawn(scene, i)) {
            st = add_element(scene, loads, i, frame);
        }
    }
    if (st == TAL_OK && loads->touches) st = add_touches(scene, loads, frame, &slot);
    if (st == TAL_OK && loads->touches) st = add_colliders(scene, loads, frame, &slot);
    if (st == TAL_OK && scene->options.reactions) st = add_reactions(scene, loads, frame);
    if (st == TAL_OK && scene->options.reactions) st = add_constraints(scene, loads, frame);
    return st;
}

// ---- into the scene

static const char *name_of(const tal_scene *scene, const tali_scene_load *it)
{
    const tal_model *const model = &scene->model;
    if (it->force == REACTION) return tal_body_name(model->matter, (tal_body_ix){it->body});
    if (it->force > REACTION) return tal_force_name(model->forces, (tal_force_ix){it->force});
    return tal_constraint_name(model->matter, (tal_constraint_ix){CONSTRAINT - it->force});
}

static const char *kind_of(const tal_scene *scene, const tali_scene_load *it)
{
    if (it->force == REACTION) return "reaction";
    if (it->force <= CONSTRAINT) return "constraint";
    return tal_force_kind(scene->model.forces, (tal_force_ix){it->force});
}

static void describe_load(const tal_scene *scene, const tali_scene_load *it, tali_scene_bytes *json)
{
    tali_scene_put_comma(json);
    tali_scene_put_text(json, "{");
    tali_scene_put_key(json, "name");
    tali_scene_put_string(json, name_of(scene, it));
    tali_scene_put_key(json, "kind");
    tali_scene_put_string(json, kind_of(scene, it));
    tali_scene_put_key(json, "body");
    tali_scene_put_integer(json, it->body);
    tali_scene_put_key(json, "p");
    tali_scene_put_vec3(json, it->point);
    tali_scene_put_text(json, "}");
}

// Rows side by side, as one track.
static void put_track(tal_scene *scene, tali_scene_bytes *json, double *const rows[], int num,
                      int channels, int frames, double precision)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t each = (size_t)channels * (size_t)frames;
    const size_t bytes = (each * (size_t)num + 1) * sizeof(double);
    double *const all = tali_alloc(allocator, bytes);
    tali_scene_track track;
    if (all == NULL) {
        scene->failed = true;
        return;
    }
    for (int i = 0; i < num; ++i) {
        memcpy(all + (size_t)i * each, rows[i], each * sizeof(double));
    }
    if (!tali_scene_add_values(scene, json, all, num * channels, frames, precision, &track)) {
        scene->failed = true;
    }
    tali_free(allocator, all, bytes);
}

// Members of a run: "loads" and "forces", "contacts".
void tali_scene_loads_describe(tal_scene *scene, tali_scene_loads *loads, tali_scene_bytes *json)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t bytes = ((size_t)loads->num + 1) * sizeof(double *);
    double **const rows = tali_alloc(allocator, bytes);
    if (rows == NULL) {
        scene->failed = true;
        return;
    }
    tali_scene_put_key(json, "loads");
    tali_scene_put_text(json, "[");
    for (int i = 0; i < loads->num; ++i) {
        describe_load(scene, &loads->list[i], json);
        rows[i] = loads->list[i].values;
    }
    tali_scene_put_text(json, "]");
    if (loads->num > 0) {
        tali_scene_put_key(json, "forces");
        put_track(scene, json, rows, loads->num, LOAD_CHANNELS, loads->frames, load_precision);
    }
    if (loads->num_contacts > 0) {
        tali_scene_put_key(json, "contacts");
        put_track(scene, json, loads->contacts, loads->num_contacts, CONTACT_CHANNELS,
                  loads->frames, contact_precision);
    }
    tali_free(allocator, rows, bytes);
}

void tali_scene_loads_end(tal_scene *scene, tali_scene_loads *loads)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t frames = (size_t)loads->frames;
    for (int i = 0; i < loads->num; ++i) {
        tali_free(allocator, loads->list[i].values, LOAD_CHANNELS * frames * sizeof(double));
    }
    for (int i = 0; i < loads->num_contacts; ++i) {
        tali_free(allocator, loads->contacts[i], CONTACT_CHANNELS * frames * sizeof(double));
    }
    tali_free(allocator, loads->list, (size_t)loads->capacity * sizeof *loads->list);
    tali_free(allocator, loads->contacts,
              (size_t)loads->contacts_capacity * sizeof *loads->contacts);
}
