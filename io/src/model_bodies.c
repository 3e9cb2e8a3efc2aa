// The table: bodies with their mobilizers, what stands in them, decorations.
#include "model_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Order matters: TALI_BODY_... in model_internal.h.
static const tali_attribute body_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the body; `ground` is there from the start"},
    {"parent", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body it is connected to, which may stand further down"},
    {"mass", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[kg]"},
    {"com", TALI_TYPE_REAL, 3, "0", .doc = "mass center, from the body's origin [m]"},
    {"inertia", TALI_TYPE_REALS, .initial = "",
     .doc = "about `about`: xx yy zz, or xx yy zz xy xz yz, products as -sum m x y [kg m^2]"},
    {"about", TALI_TYPE_TEXT, .initial = "com",
     .doc = "what the inertia is about: `com` or `origin`, of the body"},
    {"solid", TALI_TYPE_TEXT, .initial = "",
     .doc =
         "instead of inertia: a uniform solid around the mass center, `sphere r`, `ellipsoid a b c`, "
         "`brick a b c` (half lengths), `rod x y z` (half of it), `cylinder r h axis` (half length) [m]"},
    {"structure", TALI_TYPE_WORD, .initial = "rigid", .words = "rigid|particle|line|massless",
     .doc = "what the mass may be"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "F, where the mobilizer begins on the parent"},
    {"body_frame", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "M, where the mobilizer ends on the body"},
    {"axis", TALI_TYPE_TEXT, .initial = "",
     .doc =
         "turns both frames, by the shortest way, so that the mobilizer's axis (z; x of a slider) "
         "points along this direction in them: `x`, `y`, `z` or three numbers"},
    {"reverse", TALI_TYPE_BOOL, .initial = "no", .doc = "the coordinates place F in M"},
    {"angles", TALI_TYPE_BOOL, .initial = "no", .doc = "body-XYZ angles instead of a quaternion"},
    {"q", TALI_TYPE_REALS, .initial = "", .doc = "coordinates in the beginning, all of them"},
    {"u", TALI_TYPE_REALS, .initial = "", .doc = "speeds in the beginning, all of them"},
    {"range", TALI_TYPE_REALS, .initial = "", .flags = TALI_MAYBE_INFINITE,
     .doc = "low and high of every coordinate"},
    {"lock", TALI_TYPE_WORD, .initial = "free", .words = "free|acceleration|velocity|position",
     .doc = "begins locked at this level, at q or u as they are, or at `lock_at`"},
    {"lock_at", TALI_TYPE_REALS, .initial = "",
     .doc =
         "where, how fast or with what acceleration it is locked, a number for each coordinate or speed"},
    {"fast", TALI_TYPE_WORD, .initial = "no", .words = "no|velocity|position",
     .doc = "always in balance, at this level: tal_matter_make_fast()"},
    {"weightless", TALI_TYPE_BOOL, .initial = "no", .doc = "feels no gravity"},
    {"rotor", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "inertia of a geared rotor along the only speed, as reflected [kg m^2 or kg]"},
    {.name = NULL}};

enum {
    TEXT_ABOUT,
    TEXT_SOLID,
    TEXT_AXIS
};

// Refs of what stands in a body.
enum {
    PART_INDEX,
    PART_LOCK
};

// ---- counting coordinates

static bool uses_angles(const tali_item *body)
{
    return body->ref[TALI_BODY_ANGLES] != 0;
}

int tali_item_nq(const tali_item *body)
{
    const tal_mobilizer_ops *ops = tali_row_ops(body->row);
    if (ops == NULL) return body->ref[TALI_BODY_REFS];
    return uses_angles(body) ? ops->nq_angles : ops->nq;
}

int tali_item_nu(const tali_item *body)
{
    const tal_mobilizer_ops *ops = tali_row_ops(body->row);
    return ops != NULL ? ops->nu : body->ref[TALI_BODY_REFS];
}

int tali_item_num_angles(const tali_item *body, bool speed)
{
    if (speed) return body->row->angles_u;
    const tal_mobilizer_ops *ops = tali_row_ops(body->row);
    const bool quaternion = ops != NULL && ops->has_quaternion;
    return quaternion && !uses_angles(body) ? 0 : body->row->angles_q;
}

bool tali_is_angle(const tali_model *m, int body, int index, bool speed)
{
    if (body < 0) return false;
    // elements count coordinates with angles, whatever the body uses
    return index < (speed ? m->items[body].row->angles_u : m->items[body].row->angles_q);
}

int tali_coordinate_number(const tali_model *m, const tali_item *coordinate, unsigned flags)
{
    const tali_item *body = &m->items[coordinate->parent];
    const tal_mobilizer_ops *ops = tali_row_ops(body->row);
    const int i = coordinate->ref[PART_INDEX];
    if ((flags & TALI_COUNTED_AS_GIVEN) != 0 || ops == NULL || ops->mul_N == NULL) return i;

    const int turns = uses_angles(body) ? 3 : 4; // what describes an orientation comes first
    const bool distance = ops->has_quaternion && i >= turns;
    if ((flags & TALI_COUNTED_WITH_ANGLES) != 0) {
        if (!distance && ops->has_quaternion && !uses_angles(body)) return -1;
        return i - (tali_item_nq(body) - ops->nq_angles);
    }
    // qdot = u of the distances of built-in mobilizers; of what users make nobody knows
    return distance && body->row->registered == NULL ? i - (tali_item_nq(body) - ops->nu) : -1;
}

static void to_angles(const tali_item *item, tali_list *list, int count, int each)
{
    if (item->unit == 1.0) return;
    for (int i = 0; i < count * each && i < list->count; ++i) {
        list->values[i] *= item->unit;
    }
}

static void check_count(tali_model *m, const tali_item *item, const char *name,
                        const tali_list *list, int needed)
{
    if (list->count == 0 || list->count == needed) return;
    tali_item_error(m, item, name, ": '%s' has %d number%s; %d %s needed", name, list->count,
                    list->count == 1 ? "" : "s", needed, needed == 1 ? "is" : "are");
}

// ---- mass

typedef struct solid_text {
    char kind[16];
    double v[3];
    int count;
    tal_axis axis;
} solid_text;

// "cylinder 0.1 0.2 y": a word, numbers, a letter.
static bool parse_solid(const char *text, solid_text *out)
{
    const size_t length = strcspn(text, " ");
    if (length == 0 || length >= sizeof out->kind) return false;
    memcpy(out->kind, text, length);
    out->kind[length] = '\0';
    const char *at = text + length;
    out->axis = TAL_AXIS_Y;
    while (*at == ' ') {
        ++at;
        if (*at >= 'x' && *at <= 'z' && at[1] == '\0') {
            out->axis = (tal_axis)(*at - 'x');
            return strcmp(out->kind, "cylinder") == 0;
        }
        if (*at == '\0' || *at == ' ') continue;
        if (out->count == 3) return false;
        at = tal_number_read(at, NULL, &out->v[out->count]);
        if (at == NULL || !isfinite(out->v[out->count])) return false;
        out->count += 1;
    }
    return *at == '\0';
}

static bool solid_mass(const char *text, double mass, tal_mass_props *out)
{
    solid_text s = {.count = 0};
    if (!parse_solid(text, &s)) return false;
    const tal_vec3 v = tali_vec3_at(s.v);
    if (strcmp(s.kind, "sphere") == 0 && s.count == 1) {
        *out = tal_mass_props_sphere(mass, s.v[0]);
    } else if (strcmp(s.kind, "ellipsoid") == 0 && s.count == 3) {
        *out = tal_mass_props_ellipsoid(mass, v);
    } else if (strcmp(s.kind, "brick") == 0 && s.count == 3) {
        *out = tal_mass_props_brick(mass, v);
    } else if (strcmp(s.kind, "rod") == 0 && s.count == 3) {
        *out = tal_mass_props_rod(mass, v);
    } else if (strcmp(s.kind, "cylinder") == 0 && s.count == 2) {
        *out = tal_mass_props_cylinder(mass, s.v[0], s.v[1], s.axis);
    } else {
        return false;
    }
    return true;
}

// Mass properties about the body's origin. False, and the reason told, when they make no sense.
static bool mass_of(tali_model *m, const tali_item *item, tal_mass_props *out)
{
    const double mass = item->p[TALI_BODY_MASS];
    const tal_vec3 com = tali_vec3_at(item->p + TALI_BODY_COM);
    const tali_list *inertia = &item->lists[TALI_BODY_INERTIA_LIST];
    const bool origin = strcmp(item->text[TEXT_ABOUT], "origin") == 0;
    tal_mass_props central = tal_mass_props_point(mass, TAL_VEC3_ZERO);
    if (!origin && strcmp(item->text[TEXT_ABOUT], "com") != 0) {
        tali_item_error(m, item, "about", ": 'about' is '%.40s'; it must be com or origin",
                        item->text[TEXT_ABOUT]);
        return false;
    }
    if (*item->text[TEXT_SOLID] != '\0') {
        if (inertia->count > 0 || !solid_mass(item->text[TEXT_SOLID], mass, &central)) {
            tali_item_error(m, item, "solid",
                            inertia->count > 0
                                ? ": give 'inertia' or 'solid', not both"
                                : ": 'solid' is none that is known, as 'sphere 0.1', "
                                  "'ellipsoid 1 2 3', 'brick 1 2 3', 'rod 0 1 0' or "
                                  "'cylinder 0.1 0.5 y'");
            return false;
        }
    } else if (inertia->count == 3 || inertia->count == 6) {
        double v[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        memcpy(v, inertia->values, (size_t)inertia->count * sizeof *v);
        central.inertia = (tal_sym3){v[0], v[1], v[2], v[3], v[4], v[5]};
    } else if (inertia->count != 0) {
        tali_item_error(m, item, "inertia", ": 'inertia' has %d numbers; 3 or 6 are needed",
                        inertia->count);
        return false;
    }
    const tal_xform X_BC = tal_xf_from_p(com);
    *out = tal_mass_props_transform(&X_BC, &central);
    if (origin && inertia->count > 0) *out = (tal_mass_props){mass, com, central.inertia};
    return true;
}

static void check_mass(tali_model *m, const tali_item *item)
{
    tal_mass_props mass;
    tal_error err = {TAL_OK, "", ""};
    if (item->p[TALI_BODY_MASS] < 0.0 || !mass_of(m, item, &mass)) return;
    if (tal_mass_props_check(&mass, &err) == TAL_OK) return;
    tali_item_error(m, item, tali_item_has(item, "inertia") ? "inertia" : "mass", ": %s",
                    err.message);
}

// ---- frames

static bool parse_axis(const char *text, tal_vec3 *out)
{
    if (text[0] >= 'x' && text[0] <= 'z' && text[1] == '\0') {
        const double v[] = {text[0] == 'x', text[0] == 'y', text[0] == 'z'};
        *out = tali_vec3_at(v);
        return true;
    }
    double v[3];
    if (tal_numbers_read(text, v, 3, NULL) != 3) return false;
    *out = tal_v3_normalize(tali_vec3_at(v));
    return tal_v3_is_finite(*out);
}

// The shortest turn from the mobilizer's own axis to the wanted one.
static tal_mat3 turn_to(tal_vec3 own, tal_vec3 wanted)
{
    const tal_vec3 across = tal_v3_cross(own, wanted);
    const double s = tal_v3_norm(across), c = tal_v3_dot(own, wanted);
    if (s == 0.0 && c > 0.0) return TAL_MAT3_IDENTITY;
    return tal_rotation_from_angle_axis(atan2(s, c), s > 0.0 ? across : tal_v3_perp(own));
}

// ---- the def

static void check_body(tali_model *m, tali_item *item)
{
    const int nq = tali_item_nq(item), nu = tali_item_nu(item);
    check_mass(m, item);
    check_count(m, item, "q", &item->lists[TALI_BODY_Q_LIST], nq);
    check_count(m, item, "u", &item->lists[TALI_BODY_U_LIST], nu);
    const tal_level level = (tal_level)item->ref[TALI_BODY_LOCK];
    if (level == TAL_LEVEL_FREE && tali_item_has(item, "lock_at")) {
        tali_item_error(m, item, "lock_at", ": 'lock_at' needs 'lock', the level");
    }
    check_count(m, item, "lock_at", &item->lists[TALI_BODY_LOCK_LIST],
                level == TAL_LEVEL_POSITION ? nq : nu);
    if (item->p[TALI_BODY_ROTOR] != 0.0 && nu != 1) {
        tali_item_error(m, item, "rotor", ": a rotor needs a body with one speed; it has %d", nu);
    }
    check_count(m, item, "range", &item->lists[TALI_BODY_RANGE_LIST], 2 * nq);
    to_angles(item, &item->lists[TALI_BODY_Q_LIST], tali_item_num_angles(item, false), 1);
    to_angles(item, &item->lists[TALI_BODY_U_LIST], tali_item_num_angles(item, true), 1);
    to_angles(item, &item->lists[TALI_BODY_RANGE_LIST], tali_item_num_angles(item, false), 2);
    to_angles(item, &item->lists[TALI_BODY_LOCK_LIST],
              tali_item_num_angles(item, level != TAL_LEVEL_POSITION), 1);
    const tali_list *range = &item->lists[TALI_BODY_RANGE_LIST];
    for (int i = 0; i + 1 < range->count; i += 2) {
        if (range->values[i] <= range->values[i + 1]) continue;
        tali_item_error(m, item, "range", ": 'range' goes from %g to %g: low comes first",
                        range->values[i], range->values[i + 1]);
    }
    tal_vec3 axis;
    if (item->text[TEXT_AXIS] != NULL && *item->text[TEXT_AXIS] != '\0' &&
        !parse_axis(item->text[TEXT_AXIS], &axis)) {
        tali_item_error(m, item, "axis", ": 'axis' is '%.40s'; it must be x, y, z or three numbers",
                        item->text[TEXT_AXIS]);
    }
}

tal_mobod_def tali_body_def_of(tali_model *m, const tali_item *item)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = item->name;
    def.structure = (tal_body_structure)item->ref[TALI_BODY_STRUCTURE];
    (void)mass_of(m, item, &def.mass);
    def.X_PF = tali_frame_at(item->p + TALI_BODY_FRAME);
    def.X_BM = tali_frame_at(item->p + TALI_BODY_BODY_FRAME);
    tal_vec3 axis;
    if (*item->text[TEXT_AXIS] != '\0' && parse_axis(item->text[TEXT_AXIS], &axis)) {
        const bool along_x = strcmp(item->row->name, "slider") == 0;
        const tal_mat3 R = turn_to(along_x ? tal_v3(1.0, 0.0, 0.0) : tal_v3(0.0, 0.0, 1.0), axis);
        def.X_PF.R = tal_m3_mul(def.X_PF.R, R);
        def.X_BM.R = tal_m3_mul(def.X_BM.R, R);
    }
    def.direction = item->ref[TALI_BODY_REVERSE] ? TAL_REVERSE : TAL_FORWARD;
    def.use_angles = uses_angles(item);
    return def;
}

// What is said of the coordinates of a body that has been added.
void tali_finish_body(tali_model *m, tali_item *item, tal_body_ix body)
{
    item->built = body.i;
    if (body.i < 0) return;
    const tali_list *q = &item->lists[TALI_BODY_Q_LIST], *u = &item->lists[TALI_BODY_U_LIST];
    const tali_list *range = &item->lists[TALI_BODY_RANGE_LIST];
    if (q->count > 0) (void)tal_body_set_initial_q(m->matter, body, q->values, q->count);
    if (u->count > 0) (void)tal_body_set_initial_u(m->matter, body, u->values, u->count);
    for (int i = 0; 2 * i < range->count; ++i) {
        const double *r = range->values + 2 * i;
        if (isinf(r[0]) && isinf(r[1]) && r[0] < r[1]) continue;
        (void)tal_body_limit_coordinate(m->matter, body, i, r[0], r[1]);
    }
    const int fast = item->ref[TALI_BODY_FAST]; // among no, velocity, position
    if (fast == 0) return;
    (void)tal_matter_make_fast(m->matter, body,
                               fast == 1 ? TAL_LEVEL_VELOCITY : TAL_LEVEL_POSITION);
}

static void build_body(tali_model *m, tali_item *item)
{
    const tal_mobod_def def = tali_body_def_of(m, item);
    const tal_mobilizer_ops *ops = tali_row_ops(item->row);
    const tal_body_ix parent = tali_body_at(m, item->ref[TALI_BODY_PARENT]);
    tali_finish_body(
        m, item,
        tal_matter_add_mobilizer(m->matter, parent, &def, ops, NULL,
                                 ops->num_params > 0 ? item->p + TALI_BODY_NUMBERS : NULL));
}

// Locked where it is, or elsewhere: then q and u, which the lock has written, are what the file says.
static void start_lock(const tali_model *m, const tali_item *item, tal_body_ix body)
{
    const tal_level level = (tal_level)item->ref[TALI_BODY_LOCK];
    const tali_list *at = &item->lists[TALI_BODY_LOCK_LIST], *q = &item->lists[TALI_BODY_Q_LIST],
                    *u = &item->lists[TALI_BODY_U_LIST];
    if (level == TAL_LEVEL_FREE) return;
    if (at->count == 0) {
        (void)tal_body_lock(m->matter, m->state, body, level);
        return;
    }
    (void)tal_body_lock_at(m->matter, m->state, body, level, at->values, at->count);
    for (int i = 0; i < q->count; ++i) {
        (void)tal_body_set_q(m->matter, m->state, body, i, q->values[i]);
    }
    for (int i = 0; i < u->count; ++i) {
        (void)tal_body_set_u(m->matter, m->state, body, i, u->values[i]);
    }
}

static void start_body(tali_model *m, tali_item *item)
{
    const tal_body_ix body = {item->built};
    const double rotor = item->p[TALI_BODY_ROTOR];
    start_lock(m, item, body);
    if (rotor != 0.0) (void)tal_body_set_rotor_inertia(m->matter, m->state, body, rotor);
    if (!item->ref[TALI_BODY_WEIGHTLESS]) return;
    for (int i = 0; i < tal_forces_num(m->forces); ++i) {
        const tal_force_ix force = {i};
        if (strcmp(tal_force_kind(m->forces, force), "gravity") != 0) continue;
        (void)tal_gravity_set_excluded(m->forces, m->state, force, body, true);
    }
}

// ---- function-based mobilizers

static const tali_attribute function_based_attributes[] = {
    {"coordinates", TALI_TYPE_INTEGER, .doc = "how many there are, 1 to 6"}, {.name = NULL}};

static void check_function_based(tali_model *m, tali_item *item)
{
    const int n = item->ref[TALI_BODY_REFS];
    if (n < 1 || n > TAL_MAX_NU) {
        tali_item_error(m, item, "coordinates", ": 'coordinates' is %d; it must be 1 to %d", n,
                        TAL_MAX_NU);
        return;
    }
    check_body(m, item);
}

static void build_function_based(tali_model *m, tali_item *item)
{
    const tal_mobod_def def = tali_body_def_of(m, item);
    tal_function_based_def parts = tal_function_based_def_default();
    parts.nq = item->ref[TALI_BODY_REFS];
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_item *part = &m->items[c];
        if (part->num_children == 0) continue; // a coordinate
        const bool turn = strcmp(part->row->name, "rotation") == 0;
        const int i = part->ref[PART_INDEX] % 3;
        tal_mobilizer_function *f = turn ? &parts.rotation[i] : &parts.translation[i];
        f->function = m->items[part->first].function;
        f->num_coords = part->lists[0].count;
        for (int k = 0; k < f->num_coords && k < TAL_MAX_NU; ++k) {
            f->coords[k] = (int)part->lists[0].values[k];
        }
        if (part->lists[1].count != 3) continue;
        *(turn ? &parts.rotation_axis[i] : &parts.translation_axis[i]) =
            tali_vec3_at(part->lists[1].values);
    }
    tal_function_based *mobilizer = NULL;
    tal_error err = {TAL_OK, "", ""};
    if (tal_function_based_create(&parts, &m->options.allocator, &mobilizer, &err) != TAL_OK) {
        (void)tal_system_fail(m->system, err.status, "%s", err.message);
        return;
    }
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        (void)tali_take_function(m, &m->items[c], 0);
    }
    const tal_body_ix parent = tali_body_at(m, item->ref[TALI_BODY_PARENT]);
    tali_finish_body(m, item, tal_matter_add_function_based(m->matter, parent, &def, mobilizer));
}

// ---- what stands in a body

static const tali_attribute coordinate_attributes[] = {
    {"index", TALI_TYPE_INTEGER, .initial = "0", .doc = "which coordinate of the body"},
    {"name", TALI_TYPE_NAME, .initial = "",
     .doc = "instead of `<body>.q<index>`; unique among coordinates"},
    {"lock", TALI_TYPE_WORD, .initial = "free", .words = "free|acceleration|velocity|position",
     .doc = "begins locked at this level, and not the others of the body"},
    {"lock_at", TALI_TYPE_REALS, .initial = "",
     .doc = "where, how fast or with what acceleration: one number"},
    {.name = NULL}};

static const tali_attribute part_attributes[] = {
    {"index", TALI_TYPE_INTEGER, .doc = "0, 1 or 2: which of three"},
    {"coordinates", TALI_TYPE_REALS, .doc = "the arguments of the function, by number"},
    {"axis", TALI_TYPE_REALS, .initial = "", .doc = "its direction; the index says x, y or z"},
    {.name = NULL}};

static void check_coordinate(tali_model *m, tali_item *item)
{
    const tali_item *body = &m->items[item->parent];
    const int nq = tali_item_nq(body);
    if (item->ref[PART_INDEX] >= nq) {
        tali_item_error(m, item, "index", ": the body has %d coordinate%s", nq, nq == 1 ? "" : "s");
        return;
    }
    if (item->lists[0].count > 1 || (item->lists[0].count == 1 && item->ref[PART_LOCK] == 0)) {
        tali_item_error(m, item, "lock_at", ": 'lock_at' is one number, with 'lock'");
    }
    const bool speed = item->ref[PART_LOCK] != (int)TAL_LEVEL_POSITION;
    if (item->unit != 1.0 && item->ref[PART_INDEX] < tali_item_num_angles(body, speed)) {
        for (int i = 0; i < item->lists[0].count; ++i) {
            item->lists[0].values[i] *= item->unit;
        }
    }
}

static void build_coordinate(tali_model *m, tali_item *item)
{
    const tal_body_ix body = {m->items[item->parent].built};
    if (item->name == NULL) return;
    (void)tal_body_name_coordinate(m->matter, body, item->ref[PART_INDEX], item->name);
}

static void start_coordinate(tali_model *m, tali_item *item)
{
    const tal_level level = (tal_level)item->ref[PART_LOCK];
    const tal_mobility at = {{m->items[item->parent].built}, item->ref[PART_INDEX]};
    if (level == TAL_LEVEL_FREE) return;
    if (item->lists[0].count == 0) {
        (void)tal_mobility_lock(m->matter, m->state, at, level);
    } else {
        (void)tal_mobility_lock_at(m->matter, m->state, at, level, item->lists[0].values[0]);
    }
}

static void check_part(tali_model *m, tali_item *item)
{
    const tali_item *body = &m->items[item->parent];
    if (tali_row_ops(body->row) != NULL) {
        tali_item_error(m, item, NULL, " can stand in <function_based> only");
        return;
    }
    if (item->ref[PART_INDEX] > 2) {
        tali_item_error(m, item, "index", ": 'index' is %d; it must be 0, 1 or 2",
                        item->ref[PART_INDEX]);
    }
    const tali_list *coords = &item->lists[0];
    for (int i = 0; i < coords->count; ++i) {
        const double c = coords->values[i];
        if (c >= 0.0 && c < body->ref[TALI_BODY_REFS] && c == floor(c) && i < TAL_MAX_NU) continue;
        tali_item_error(m, item, "coordinates", ": '%g' is no coordinate of the body", c);
        break;
    }
    const int axis = item->lists[1].count;
    if (axis != 0 && axis != 3) {
        tali_item_error(m, item, "axis", ": 'axis' has %d numbers; 3 are needed", axis);
    }
    for (int other = item->next; other >= 0; other = m->items[other].next) {
        if (m->items[other].row != item->row) continue;
        if (m->items[other].ref[PART_INDEX] != item->ref[PART_INDEX]) continue;
        tali_item_error(m, &m->items[other], "index", ": there is one of index %d already",
                        item->ref[PART_INDEX]);
    }
}

const tali_row tali_body_part_rows[] = {
    {.name = "coordinate",
     .doc = "Names a coordinate of the body, or locks it alone.",
     .own = coordinate_attributes,
     .check = check_coordinate,
     .build = build_coordinate,
     .start = start_coordinate},
    {.name = "rotation",
     .doc = "In `<function_based>`: one of three body-fixed turns, as a function of coordinates.",
     .own = part_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .check = check_part},
    {.name = "translation",
     .doc = "In `<function_based>`: one of three shifts in F, as a function of coordinates.",
     .own = part_attributes,
     .children = TALI_GROUP_FUNCTIONS,
     .min_children = 1,
     .max_children = 1,
     .check = check_part},
    {.name = NULL}};

// ---- the rows

static const tali_attribute screw_attributes[] = {
    {"pitch", TALI_TYPE_REAL, 1, .doc = "translation along z per radian [m/rad]"}, {.name = NULL}};

static const tali_attribute spherical_attributes[] = {
    {"azimuth_offset", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "added to the azimuth"},
    {"zenith_offset", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "added to the zenith"},
    {"signs", TALI_TYPE_REAL, 3, "1 1 1", .doc = "of azimuth, zenith and radius, 1 or -1"},
    {"radial_axis", TALI_TYPE_REAL, 1, "0", .doc = "0: translation along z; 1: along x"},
    {.name = NULL}};

static const tali_attribute ellipsoid_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along Fx, Fy, Fz [m]"},
    {.name = NULL}};

static const tali_attribute cantilever_attributes[] = {
    {"length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the beam [m]"},
    {.name = NULL}};

#define BODY(element, table, aq, au, attributes, text)                                             \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = body_attributes, .own = (attributes),          \
        .children = TALI_GROUP_BODY_PARTS, .max_children = -1, .check = check_body,                \
        .build = build_body, .start = start_body, .ops = (table), .angles_q = (aq),                \
        .angles_u = (au)                                                                           \
    }

const tali_row tali_body_rows[] = {
    BODY("weld", tal_mobilizer_weld, 0, 0, NULL, "No motion."),
    BODY("pin", tal_mobilizer_pin, 1, 1, NULL, "Rotation about z. q: angle."),
    BODY("slider", tal_mobilizer_slider, 0, 0, NULL, "Translation along x. q: distance."),
    BODY("screw", tal_mobilizer_screw, 1, 1, screw_attributes,
         "Rotation about z, and translation along it with the angle. q: angle."),
    BODY("universal", tal_mobilizer_universal, 2, 2, NULL,
         "Rotation about x, then about y as turned. q: the two angles."),
    BODY("cylinder", tal_mobilizer_cylinder, 1, 1, NULL,
         "Rotation about z and translation along it. q: angle, distance."),
    BODY("bend_stretch", tal_mobilizer_bend_stretch, 1, 1, NULL,
         "Rotation about z, then translation along x as turned. q: angle, distance."),
    BODY("planar", tal_mobilizer_planar, 1, 1, NULL, "Motion in the xy plane. q: angle, x, y."),
    BODY("gimbal", tal_mobilizer_gimbal, 3, 3, NULL,
         "Rotation. q: body-XYZ angles, and u their rates."),
    BODY("bushing", tal_mobilizer_bushing, 3, 3, NULL,
         "All six. q: body-XYZ angles, then x, y, z; u their rates."),
    BODY("spherical_coords", tal_mobilizer_spherical_coords, 2, 2, spherical_attributes,
         "Spherical coordinates. q: azimuth, zenith, radius."),
    BODY("translation", tal_mobilizer_translation, 0, 0, NULL, "Translation. q: x, y, z."),
    BODY("ball", tal_mobilizer_ball, 3, 3, NULL,
         "Rotation. q: quaternion, w first, or body-XYZ angles; u: angular velocity in F."),
    BODY("ellipsoid", tal_mobilizer_ellipsoid, 3, 3, ellipsoid_attributes,
         "Rotation while Mo slides on an ellipsoid. q and u as of a ball."),
    BODY(
        "line_orientation", tal_mobilizer_line_orientation, 3, 2, NULL,
        "Rotation of a body that is thin as a line. q as of a ball; u: angular velocity about Mx, My."),
    BODY("free_line", tal_mobilizer_free_line, 3, 2, NULL,
         "The same, and translation. q: then x, y, z; u: then the velocity in F."),
    BODY(
        "free", tal_mobilizer_free, 3, 3, NULL,
        "All six. q: quaternion or angles, then x, y, z; u: angular velocity, then velocity, in F."),
    BODY("cantilever", tal_mobilizer_cantilever, 3, 3, cantilever_attributes,
         "The free end of a beam that bends and twists. q: three angles."),
    {.name = "function_based",
     .doc =
         "Three body-fixed turns and three shifts, each a function of coordinates: the CustomJoint of "
         "OpenSim. What is not given is zero. Coordinates and speeds are never converted from degrees.",
     .shared = body_attributes,
     .own = function_based_attributes,
     .children = TALI_GROUP_BODY_PARTS,
     .min_children = 1,
     .max_children = -1,
     .check = check_function_based,
     .build = build_function_based,
     .start = start_body},
    {.name = NULL}};

// ---- decorations

static const tali_attribute decoration_attributes[] = {
    {"body", TALI_TYPE_BODY, .initial = "ground", .doc = "what it is attached to"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0", .doc = "where, on the body"},
    {"color", TALI_TYPE_REAL, 3, "0.5 0.5 0.5", TALI_NO_NEGATIVE_NUMBER,
     .doc = "red, green, blue, each 0 to 1"},
    {"opacity", TALI_TYPE_REAL, 1, "1", TALI_NO_NEGATIVE_NUMBER, .doc = "0 invisible to 1 solid"},
    {"scale", TALI_TYPE_REAL, 1, "1", TALI_POSITIVE_NUMBER, .doc = "factor on everything drawn"},
    {.name = NULL}};

enum {
    DECORATION_COLOR = 12,
    DECORATION_OPACITY = 15,
    DECORATION_SCALE = 16,
    DECORATION_NUMBERS = 17
};

static void build_decoration(tali_model *m, const tali_item *item, tal_decoration d)
{
    d.X_BD = tali_frame_at(item->p);
    d.color = tali_vec3_at(item->p + DECORATION_COLOR);
    d.opacity = item->p[DECORATION_OPACITY];
    d.scale = item->p[DECORATION_SCALE];
    (void)tal_matter_add_decoration(m->matter, tali_body_at(m, item->ref[0]), &d);
}

static void build_sphere(tali_model *m, tali_item *item)
{
    build_decoration(m, item, tal_decoration_sphere(item->p[DECORATION_NUMBERS]));
}

static void build_brick(tali_model *m, tali_item *item)
{
    build_decoration(m, item, tal_decoration_brick(tali_vec3_at(item->p + DECORATION_NUMBERS)));
}

static void build_cylinder(tali_model *m, tali_item *item)
{
    const double *p = item->p + DECORATION_NUMBERS;
    build_decoration(m, item, tal_decoration_cylinder(p[0], p[1]));
}

static void build_ellipsoid(tali_model *m, tali_item *item)
{
    build_decoration(m, item, tal_decoration_ellipsoid(tali_vec3_at(item->p + DECORATION_NUMBERS)));
}

static void build_line(tali_model *m, tali_item *item)
{
    tal_decoration line = tal_decoration_line(TAL_VEC3_ZERO, TAL_VEC3_ZERO);
    line.end = tali_vec3_at(item->p + DECORATION_NUMBERS);
    build_decoration(m, item, line);
}

static void build_mesh(tali_model *m, tali_item *item)
{
    build_decoration(m, item, tal_decoration_mesh(item->text[0]));
}

static void build_text(tali_model *m, tali_item *item)
{
    build_decoration(m, item, tal_decoration_text(item->text[0]));
}

static const tali_attribute sphere_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"}, {.name = NULL}};
static const tali_attribute brick_attributes[] = {{"half_lengths", TALI_TYPE_REAL, 3,
                                                   .flags = TALI_NO_NEGATIVE_NUMBER,
                                                   .doc = "along x, y, z [m]"},
                                                  {.name = NULL}};
static const tali_attribute cylinder_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[m]"},
    {"half_height", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "along y [m]"},
    {.name = NULL}};
static const tali_attribute radii_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "along x, y, z [m]"},
    {.name = NULL}};
static const tali_attribute line_attributes[] = {
    {"end", TALI_TYPE_REAL, 3, .doc = "from the origin of the frame to here [m]"}, {.name = NULL}};
static const tali_attribute mesh_attributes[] = {
    {"file", TALI_TYPE_TEXT, .doc = "path of a mesh file"}, {.name = NULL}};
static const tali_attribute text_attributes[] = {{"text", TALI_TYPE_TEXT, .doc = "the label"},
                                                 {.name = NULL}};

#define DECORATION(element, attributes, builder, text)                                             \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = decoration_attributes, .own = (attributes),    \
        .build = (builder)                                                                         \
    }

const tali_row tali_decoration_rows[] = {
    DECORATION("sphere", sphere_attributes, build_sphere, "A sphere."),
    DECORATION("brick", brick_attributes, build_brick, "A box."),
    DECORATION("cylinder", cylinder_attributes, build_cylinder, "A cylinder along y."),
    DECORATION("ellipsoid", radii_attributes, build_ellipsoid, "An ellipsoid."),
    DECORATION("line", line_attributes, build_line, "A line."),
    DECORATION("mesh", mesh_attributes, build_mesh, "A mesh from a file."),
    DECORATION("text", text_attributes, build_text, "A label."),
    {.name = NULL}};
