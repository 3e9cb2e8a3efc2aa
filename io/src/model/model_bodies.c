// The table: bodies with their mobilizers.
#include "mass_internal.h"
#include "matter_facts_internal.h"

#include "model/model_write_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Order matters: TALI_BODY_... in model_internal.h.
static const tali_model_attribute body_attributes[] = {
    {"name", TALI_TYPE_NAME, .initial = "", .doc = "of the body; `ground` is built in"},
    {"parent", TALI_TYPE_BODY, .initial = "ground",
     .doc = "the body it is connected to; it may come later in the file"},
    {"mass", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER, .doc = "[kg]"},
    {"com", TALI_TYPE_REAL, 3, "0", .doc = "mass center, from the body's origin [m]"},
    {"inertia", TALI_TYPE_REALS, .initial = "",
     .doc = "about `about`: xx yy zz, or xx yy zz xy xz yz, products as -sum m x y [kg m^2]"},
    {"about", TALI_TYPE_TEXT, .initial = "com",
     .doc = "reference point of the inertia: `com` or `origin` of the body"},
    {"solid", TALI_TYPE_TEXT, .initial = "",
     .doc =
         "instead of inertia: a uniform solid around the mass center, `sphere r`, `ellipsoid a b c`, "
         "`brick a b c` (half lengths), `rod x y z` (half of it), `cylinder r h axis` (half length) [m]"},
    {"any_inertia", TALI_TYPE_BOOL, .initial = "no",
     .doc =
         "accepts an inertia that is not physical, as some published ones are: one principal moment exceeds "
         "the sum of the others by more than a thousandth"},
    {"structure", TALI_TYPE_WORD, .initial = "rigid", .words = "rigid|particle|line|massless",
     .doc = "what the mass properties may be"},
    {"frame", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "frame F of the mobilizer, on the parent"},
    {"body_frame", TALI_TYPE_FRAME, .initial = "0 0 0",
     .doc = "frame M of the mobilizer, on the body"},
    {"axis", TALI_TYPE_TEXT, .initial = "",
     .doc =
         "turns both frames, by the smallest angle, so that the axis of the mobilizer (z; x of a slider) "
         "points along this direction in them: `x`, `y`, `z` or three numbers"},
    {"reverse", TALI_TYPE_BOOL, .initial = "no",
     .doc = "whether the coordinates place F in M, not M in F"},
    {"angles", TALI_TYPE_BOOL, .initial = "no",
     .doc = "use body-XYZ angles instead of a quaternion"},
    {"q", TALI_TYPE_REALS, .initial = "", .doc = "initial values of all coordinates"},
    {"u", TALI_TYPE_REALS, .initial = "", .doc = "initial values of all speeds"},
    {"range", TALI_TYPE_REALS, .initial = "", .flags = TALI_MAYBE_INFINITE,
     .doc = "low and high of every coordinate"},
    {"lock", TALI_TYPE_WORD, .initial = "free", .words = "free|acceleration|velocity|position",
     .doc = "locked at the start, at this level, at the initial q or u or at `lock_at`"},
    {"lock_at", TALI_TYPE_REALS, .initial = "",
     .doc = "coordinates, speeds or accelerations at which it is locked: one number for each"},
    {"fast", TALI_TYPE_WORD, .initial = "no", .words = "no|velocity|position|allowed",
     .doc = "fast: always in equilibrium, at this level; or allowed to become so in a State"},
    {"weightless", TALI_TYPE_BOOL, .initial = "no", .doc = "whether gravity does not act on it"},
    {"rotor", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "reflected inertia of a geared rotor, along the only speed [kg m^2 or kg]"},
    {.name = NULL}};

enum {
    TEXT_ABOUT,
    TEXT_SOLID,
    TEXT_AXIS
};

// ---- counting coordinates

static bool uses_angles(const tali_model_item *body)
{
    return body->ref[TALI_BODY_ANGLES] != 0;
}

int tali_model_item_nq(const tali_model_item *body)
{
    const tal_mobilizer_ops *ops = tali_model_row_ops(body->row);
    if (ops == NULL) return body->ref[TALI_BODY_REFS];
    return uses_angles(body) ? ops->nq_angles : ops->nq;
}

int tali_model_item_nu(const tali_model_item *body)
{
    const tal_mobilizer_ops *ops = tali_model_row_ops(body->row);
    return ops != NULL ? ops->nu : body->ref[TALI_BODY_REFS];
}

int tali_model_item_num_angles(const tali_model_item *body, bool speed)
{
    if (speed) return body->row->angles_u;
    const tal_mobilizer_ops *ops = tali_model_row_ops(body->row);
    const bool quaternion = ops != NULL && ops->has_quaternion;
    return quaternion && !uses_angles(body) ? 0 : body->row->angles_q;
}

bool tali_model_is_angle(const tali_model *m, int body, int index, bool speed)
{
    if (body < 0) return false;
    // elements count coordinates with angles, whatever the body uses
    return index < (speed ? m->items[body].row->angles_u : m->items[body].row->angles_q);
}

int tali_model_coordinate_number(const tali_model *m, const tali_model_item *coordinate,
                                 unsigned flags)
{
    const tali_model_item *body = &m->items[coordinate->parent];
    const tal_mobilizer_ops *ops = tali_model_row_ops(body->row);
    const int i = coordinate->ref[TALI_PART_INDEX];
    if ((flags & TALI_COUNTED_AS_GIVEN) != 0 || ops == NULL || ops->mul_N == NULL) return i;

    const int turns = uses_angles(body) ? 3 : 4; // what describes an orientation comes first
    const bool distance = ops->has_quaternion && i >= turns;
    if ((flags & TALI_COUNTED_WITH_ANGLES) != 0) {
        if (!distance && ops->has_quaternion && !uses_angles(body)) return -1;
        return i - (tali_model_item_nq(body) - ops->nq_angles);
    }
    // qdot = u of the distances of built-in mobilizers; unknown for mobilizers of users
    return distance && body->row->registered == NULL ? i - (tali_model_item_nq(body) - ops->nu)
                                                     : -1;
}

static void to_angles(const tali_model_item *item, tali_model_list *list, int count, int each)
{
    if (item->unit == 1.0) return;
    for (int i = 0; i < count * each && i < list->count; ++i) {
        list->values[i] *= item->unit;
    }
}

static void check_count(tali_model *m, const tali_model_item *item, const char *name,
                        const tali_model_list *list, int needed)
{
    if (list->count == 0 || list->count == needed) return;
    tali_model_item_error(m, item, name, ": '%s' has %d number%s; %d %s needed", name, list->count,
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
    const tal_vec3 v = tali_model_vec3_at(s.v);
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

// Mass properties about the body's origin. False, and an error, when they are invalid.
static bool mass_of(tali_model *m, const tali_model_item *item, tal_mass_props *out)
{
    const double mass = item->p[TALI_BODY_MASS];
    const tal_vec3 com = tali_model_vec3_at(item->p + TALI_BODY_COM);
    const tali_model_list *inertia = &item->lists[TALI_BODY_INERTIA_LIST];
    const bool origin = strcmp(item->text[TEXT_ABOUT], "origin") == 0;
    tal_mass_props central = tal_mass_props_point(mass, TAL_VEC3_ZERO);
    if (!origin && strcmp(item->text[TEXT_ABOUT], "com") != 0) {
        tali_model_item_error(m, item, "about", ": 'about' is '%.40s'; it must be com or origin",
                              item->text[TEXT_ABOUT]);
        return false;
    }
    if (*item->text[TEXT_SOLID] != '\0') {
        if (inertia->count > 0 || !solid_mass(item->text[TEXT_SOLID], mass, &central)) {
            tali_model_item_error(m, item, "solid",
                                  inertia->count > 0
                                      ? ": give 'inertia' or 'solid', not both"
                                      : ": 'solid' is unknown; examples are 'sphere 0.1', "
                                        "'ellipsoid 1 2 3', 'brick 1 2 3', 'rod 0 1 0' or "
                                        "'cylinder 0.1 0.5 y'");
            return false;
        }
    } else if (inertia->count == 3 || inertia->count == 6) {
        double v[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
        memcpy(v, inertia->values, (size_t)inertia->count * sizeof *v);
        central.inertia = (tal_sym3){v[0], v[1], v[2], v[3], v[4], v[5]};
    } else if (inertia->count != 0) {
        tali_model_item_error(m, item, "inertia", ": 'inertia' has %d numbers; 3 or 6 are needed",
                              inertia->count);
        return false;
    }
    const tal_xform X_BC = tal_xf_from_p(com);
    *out = tal_mass_props_transform(&X_BC, &central);
    if (origin && inertia->count > 0) *out = (tal_mass_props){mass, com, central.inertia};
    return true;
}

static void check_mass(tali_model *m, tali_model_item *item)
{
    tal_mass_props mass;
    tal_error err = {TAL_OK, "", ""};
    if (item->p[TALI_BODY_MASS] < 0.0 || !mass_of(m, item, &mass)) return;
    if (m->options.any_inertia && tali_mass_props_check(&mass, false, NULL) != TAL_OK) {
        item->ref[TALI_BODY_ANY_INERTIA] = true; // and is written so
    }
    const bool any_inertia = item->ref[TALI_BODY_ANY_INERTIA] != 0 || m->options.any_inertia;
    if (tali_mass_props_check(&mass, any_inertia, &err) == TAL_OK) {
        const double excess = tal_mass_props_excess(&mass);
        if (excess > 0.0 && !any_inertia) {
            tal_diagnostics_add(m->found, m->options.strict ? TAL_ERROR : TAL_WARNING,
                                item->xml->file, item->element->line, item->element->column,
                                TALI_INERTIA_WARNING, item->name != NULL ? item->name : "", excess);
        }
        return;
    }
    tali_model_item_error(m, item, tali_model_item_has(item, "inertia") ? "inertia" : "mass",
                          ": %s", err.message);
}

// ---- frames

static bool parse_axis(const char *text, tal_vec3 *out)
{
    if (text[0] >= 'x' && text[0] <= 'z' && text[1] == '\0') {
        const double v[] = {text[0] == 'x', text[0] == 'y', text[0] == 'z'};
        *out = tali_model_vec3_at(v);
        return true;
    }
    double v[3];
    if (tal_numbers_read(text, v, 3, NULL) != 3) return false;
    *out = tal_v3_normalize(tali_model_vec3_at(v));
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

// What needs the mobilizer's numbers of coordinates: lists, locks, ranges, the rotor.
static void check_body(tali_model *m, tali_model_item *item)
{
    const int nq = tali_model_item_nq(item), nu = tali_model_item_nu(item);
    check_mass(m, item);
    check_count(m, item, "q", &item->lists[TALI_BODY_Q_LIST], nq);
    check_count(m, item, "u", &item->lists[TALI_BODY_U_LIST], nu);
    const tal_level level = (tal_level)item->ref[TALI_BODY_LOCK];
    if (level == TAL_LEVEL_FREE && tali_model_item_has(item, "lock_at")) {
        tali_model_item_error(m, item, "lock_at", ": 'lock_at' needs 'lock', the level");
    }
    check_count(m, item, "lock_at", &item->lists[TALI_BODY_LOCK_LIST],
                level == TAL_LEVEL_POSITION ? nq : nu);
    if (item->p[TALI_BODY_ROTOR] != 0.0 && nu != 1) {
        tali_model_item_error(m, item, "rotor", ": a rotor needs a body with one speed; it has %d",
                              nu);
    }
    check_count(m, item, "range", &item->lists[TALI_BODY_RANGE_LIST], 2 * nq);
    to_angles(item, &item->lists[TALI_BODY_Q_LIST], tali_model_item_num_angles(item, false), 1);
    to_angles(item, &item->lists[TALI_BODY_U_LIST], tali_model_item_num_angles(item, true), 1);
    to_angles(item, &item->lists[TALI_BODY_RANGE_LIST], tali_model_item_num_angles(item, false), 2);
    to_angles(item, &item->lists[TALI_BODY_LOCK_LIST],
              tali_model_item_num_angles(item, level != TAL_LEVEL_POSITION), 1);
    const tali_model_list *range = &item->lists[TALI_BODY_RANGE_LIST];
    for (int i = 0; i + 1 < range->count; i += 2) {
        if (range->values[i] <= range->values[i + 1]) continue;
        tali_model_item_error(m, item, "range", ": 'range' goes from %g to %g: low comes first",
                              range->values[i], range->values[i + 1]);
    }
    tal_vec3 axis;
    if (item->text[TEXT_AXIS] != NULL && *item->text[TEXT_AXIS] != '\0' &&
        !parse_axis(item->text[TEXT_AXIS], &axis)) {
        tali_model_item_error(m, item, "axis",
                              ": 'axis' is '%.40s'; it must be x, y, z or three numbers",
                              item->text[TEXT_AXIS]);
    }
}

tal_mobod_def tali_model_body_def_of(tali_model *m, const tali_model_item *item)
{
    tal_mobod_def def = tal_mobod_def_default();
    def.name = item->name;
    def.structure = (tal_body_structure)item->ref[TALI_BODY_STRUCTURE];
    (void)mass_of(m, item, &def.mass);
    def.X_PF = tali_model_frame_at(item->p + TALI_BODY_FRAME);
    def.X_BM = tali_model_frame_at(item->p + TALI_BODY_BODY_FRAME);
    tal_vec3 axis;
    if (*item->text[TEXT_AXIS] != '\0' && parse_axis(item->text[TEXT_AXIS], &axis)) {
        const bool along_x = strcmp(item->row->name, "slider") == 0;
        const tal_mat3 R = turn_to(along_x ? tal_v3(1.0, 0.0, 0.0) : tal_v3(0.0, 0.0, 1.0), axis);
        def.X_PF.R = tal_m3_mul(def.X_PF.R, R);
        def.X_BM.R = tal_m3_mul(def.X_BM.R, R);
    }
    def.direction = item->ref[TALI_BODY_REVERSE] ? TAL_REVERSE : TAL_FORWARD;
    def.use_angles = uses_angles(item);
    def.any_inertia = item->ref[TALI_BODY_ANY_INERTIA] != 0;
    return def;
}

// What is said of the coordinates of a body that has been added.
void tali_model_finish_body(tali_model *m, tali_model_item *item, tal_body_ix body)
{
    item->built = body.i;
    if (body.i < 0) return;
    const tali_model_list *q = &item->lists[TALI_BODY_Q_LIST], *u = &item->lists[TALI_BODY_U_LIST];
    const tali_model_list *range = &item->lists[TALI_BODY_RANGE_LIST];
    if (q->count > 0) (void)tal_body_set_initial_q(m->matter, body, q->values, q->count);
    if (u->count > 0) (void)tal_body_set_initial_u(m->matter, body, u->values, u->count);
    for (int i = 0; 2 * i < range->count; ++i) {
        const double *r = range->values + 2 * i;
        if (isinf(r[0]) && isinf(r[1]) && r[0] < r[1]) continue;
        (void)tal_body_limit_coordinate(m->matter, body, i, r[0], r[1]);
    }
    const int fast = item->ref[TALI_BODY_FAST]; // among no, velocity, position, allowed
    if (fast == 0) return;
    if (fast == 3) {
        (void)tal_matter_allow_fast(m->matter, body);
        return;
    }
    (void)tal_matter_make_fast(m->matter, body,
                               fast == 1 ? TAL_LEVEL_VELOCITY : TAL_LEVEL_POSITION);
}

static void build_body(tali_model *m, tali_model_item *item)
{
    const tal_mobod_def def = tali_model_body_def_of(m, item);
    const tal_mobilizer_ops *ops = tali_model_row_ops(item->row);
    const tal_body_ix parent = tali_model_body_at(m, item->ref[TALI_BODY_PARENT]);
    tali_model_finish_body(
        m, item,
        tal_matter_add_mobilizer(m->matter, parent, &def, ops, NULL,
                                 ops->num_params > 0 ? item->p + TALI_BODY_NUMBERS : NULL));
}

// Locked where it is, or elsewhere: then q and u, which the lock has written, are what the file
// says.
static void start_lock(const tali_model *m, const tali_model_item *item, tal_body_ix body)
{
    const tal_level level = (tal_level)item->ref[TALI_BODY_LOCK];
    const tali_model_list *at = &item->lists[TALI_BODY_LOCK_LIST],
                          *q = &item->lists[TALI_BODY_Q_LIST], *u = &item->lists[TALI_BODY_U_LIST];
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

static void start_body(tali_model *m, tali_model_item *item)
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

static const tali_model_attribute function_based_attributes[] = {
    {"coordinates", TALI_TYPE_INTEGER, .doc = "number of coordinates, 1 to 6"}, {.name = NULL}};

static void check_function_based(tali_model *m, tali_model_item *item)
{
    const int n = item->ref[TALI_BODY_REFS];
    if (n < 1 || n > TAL_MAX_NU) {
        tali_model_item_error(m, item, "coordinates", ": 'coordinates' is %d; it must be 1 to %d",
                              n, TAL_MAX_NU);
        return;
    }
    check_body(m, item);
}

// Add a function-based body from the functions in its <rotation>s and <translation>s.
static void build_function_based(tali_model *m, tali_model_item *item)
{
    const tal_mobod_def def = tali_model_body_def_of(m, item);
    tal_function_based_def parts = tal_function_based_def_default();
    parts.nq = item->ref[TALI_BODY_REFS];
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        const tali_model_item *part = &m->items[c];
        if (part->num_children == 0) continue; // a coordinate
        const bool turn = strcmp(part->row->name, "rotation") == 0;
        const int i = part->ref[TALI_PART_INDEX] % 3;
        tal_mobilizer_function *f = turn ? &parts.rotation[i] : &parts.translation[i];
        f->function = m->items[part->first].function;
        f->num_coords = part->lists[0].count;
        for (int k = 0; k < f->num_coords && k < TAL_MAX_NU; ++k) {
            f->coords[k] = (int)part->lists[0].values[k];
        }
        if (part->lists[1].count != 3) continue;
        *(turn ? &parts.rotation_axis[i] : &parts.translation_axis[i]) =
            tali_model_vec3_at(part->lists[1].values);
    }
    tal_function_based *mobilizer = NULL;
    tal_error err = {TAL_OK, "", ""};
    if (tal_function_based_create(&parts, &m->options.allocator, &mobilizer, &err) != TAL_OK) {
        (void)tal_system_fail(m->system, err.status, "%s", err.message);
        return;
    }
    for (int c = item->first; c >= 0; c = m->items[c].next) {
        (void)tali_model_take_function(m, &m->items[c], 0);
    }
    const tal_body_ix parent = tali_model_body_at(m, item->ref[TALI_BODY_PARENT]);
    tali_model_finish_body(m, item,
                           tal_matter_add_function_based(m->matter, parent, &def, mobilizer));
}

// ---- writing bodies

static bool is_weightless(const tali_model_writer *w, tal_body_ix body)
{
    return w->gravity.i >= 0 &&
           tal_gravity_is_excluded(w->model.forces, w->model.state, w->gravity, body);
}

// What a file must say of the lock of a body, if it is not locked at q or u as they are, or at udot
// = 0.
static tali_model_list lock_list(const tal_model *model, tal_body_ix body)
{
    const tal_matter *matter = model->matter;
    const tal_state *state = model->state;
    const tal_level level = tal_body_lock_level(matter, state, body);
    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    const double *at = tali_matter_lock_values(matter, state, body);
    const int count = level == TAL_LEVEL_FREE ? 0 : level == TAL_LEVEL_POSITION ? nq : nu;
    bool same = true;
    for (int i = 0; i < count; ++i) {
        const double here = level == TAL_LEVEL_POSITION   ? tal_body_q(matter, state, body, i)
                            : level == TAL_LEVEL_VELOCITY ? tal_body_u(matter, state, body, i)
                                                          : 0.0;
        // NOLINTNEXTLINE(*-memory-comparison,cert-*): the bits, so that a zero keeps its sign
        same = same && memcmp(&here, &at[i], sizeof here) == 0;
    }
    for (int i = 0; level == TAL_LEVEL_POSITION && i < nu; ++i) {
        same = same && tal_body_u(matter, state, body, i) == 0.0;
    }
    return (tali_model_list){.shown = at, .stride = 1, .count = same ? 0 : count};
}

// What all bodies have, except for lists.
static void describe_body_values(tali_model_description *d, const tal_mass_props *mass)
{
    const tal_matter *matter = d->w->model.matter;
    const tal_state *state = d->w->model.state;
    const tal_body_ix body = {d->index};
    const tali_matter_body_facts facts = tali_matter_body_facts_of(matter, body);
    const tal_xform X_PF = tal_body_X_PF(matter, state, body),
                    X_BM = tal_body_X_BM(matter, state, body);
    const tal_level level = tal_body_fast_level(matter, state, body);
    const int fast = !facts.may_be_fast            ? 0
                     : level == TAL_LEVEL_FREE     ? 3
                     : level == TAL_LEVEL_VELOCITY ? 1
                                                   : 2;
    tali_model_say_index(d, tal_body_parent(matter, body).i);
    tali_model_say_number(d, mass->mass);
    tali_model_say_vec3(d, mass->com);
    tali_model_say_text(d, "origin"); // what the inertia is about
    tali_model_say_text(d, "");       // no solid
    tali_model_say_index(d, facts.any_inertia);
    tali_model_say_index(d, (int)facts.structure);
    tali_model_say_frame(d, &X_PF);
    tali_model_say_frame(d, &X_BM);
    tali_model_say_text(d, ""); // no axis: frames are turned
    tali_model_say_index(d, facts.direction == TAL_REVERSE);
    tali_model_say_index(d, facts.ops->has_quaternion && tal_body_uses_angles(matter, state, body));
    tali_model_say_index(d, (int)tal_body_lock_level(matter, state, body));
    tali_model_say_index(d, fast);
    tali_model_say_index(d, is_weightless(d->w, body));
    tali_model_say_number(
        d, tal_body_nu(matter, body) == 1 ? tal_body_rotor_inertia(matter, state, body) : 0.0);
}

// The values of a body, as its attributes have them, for writing.
static void describe_body(tali_model_description *d)
{
    const tal_matter *matter = d->w->model.matter;
    const tal_state *state = d->w->model.state;
    const tal_body_ix body = {d->index};
    const tal_mass_props mass = tal_body_mass_props(matter, state, body);
    const int nq = tal_body_nq(matter, state, body), nu = tal_body_nu(matter, body);
    double *inertia = tali_model_keep_values(d, 6), *q = tali_model_keep_values(d, nq),
           *u = tali_model_keep_values(d, nu), *range = tali_model_keep_values(d, 2 * nq);
    memcpy(inertia, &mass.inertia, sizeof mass.inertia);
    bool limited = false;
    for (int i = 0; i < nq; ++i) {
        double *low = range + (ptrdiff_t)2 * i, *high = low + 1;
        q[i] = tal_body_q(matter, state, body, i);
        (void)tal_body_range(matter, state, body, i, low, high);
        limited = limited || isfinite(*low) || isfinite(*high);
    }
    for (int i = 0; i < nu; ++i) {
        u[i] = tal_body_u(matter, state, body, i);
    }
    describe_body_values(d, &mass);
    tali_model_say_values(d, inertia, 6);
    tali_model_say_values(d, q, nq);
    tali_model_say_values(d, u, nu);
    tali_model_say_values(d, range, limited ? 2 * nq : 0);
    tali_model_say_list(d, lock_list(&d->w->model, body));
}

// The parameters of a built-in mobilizer; of one made of functions, how many coordinates it has.
static void describe_mobilizer(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const tal_body_ix body = {d->index};
    int num_params;
    const double *params = tal_body_params(model->matter, model->state, body, &num_params);
    tali_model_say_numbers(d, params, num_params);
    tali_model_say_index(d, tal_body_nq(model->matter, model->state, body));
}

// The row of a mobilizer that is built in; NULL for another.
static const tali_model_row *row_of_mobilizer(const tal_mobilizer_ops *ops,
                                              const tal_function_based_def *functions)
{
    for (int i = 0; tali_model_body_rows[i].name != NULL; ++i) {
        if (functions != NULL && tali_model_body_rows[i].ops == NULL) {
            return &tali_model_body_rows[i];
        }
        if (functions != NULL || tali_model_body_rows[i].ops == NULL) continue;
        const tal_mobilizer_ops *ours = tali_model_body_rows[i].ops();
        if (strcmp(ours->name, ops->name) == 0 && ours->calc_X_FM == ops->calc_X_FM &&
            ours->calc_H_FM == ops->calc_H_FM) {
            return &tali_model_body_rows[i];
        }
    }
    return NULL;
}

bool tali_model_find_body(tali_model_description *d, tali_model_own_row *own)
{
    const tal_matter *matter = d->w->model.matter;
    const tal_body_ix body = {d->index + 1}; // Ground is in no file
    if (body.i >= tal_matter_num_bodies(matter)) return false;
    const tali_matter_body_facts facts = tali_matter_body_facts_of(matter, body);
    if (tali_model_is_of_molecule(d->w, body)) return true; // no row: it is in <molecules>
    d->index = body.i;
    d->name = tal_body_name(matter, body);
    d->row = row_of_mobilizer(facts.ops, tali_matter_function_based_facts(facts.ops, facts.self));
    if (d->row == NULL) d->row = tali_model_registered(d->w, TAL_MODEL_BODY, facts.ops, own);
    if (d->row == NULL) {
        tali_model_write_refuse(d->w, "body '%s' has the mobilizer '%s', " TALI_NOT_REGISTERED,
                                d->name, facts.ops->name);
    }
    return true;
}

// ---- the rows

static const tali_model_attribute screw_attributes[] = {
    {"pitch", TALI_TYPE_REAL, 1, .doc = "translation along z per radian [m/rad]"}, {.name = NULL}};

static const tali_model_attribute rack_attributes[] = {
    {"radius", TALI_TYPE_REAL, 1, .doc = "of the pinion; the rack is on the side of +y [m]"},
    {.name = NULL}};

static const tali_model_attribute spherical_attributes[] = {
    {"azimuth_offset", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "added to the azimuth"},
    {"zenith_offset", TALI_TYPE_REAL, 1, "0", TALI_IS_ANGLE, .doc = "added to the zenith"},
    {"signs", TALI_TYPE_REAL, 3, "1 1 1", .doc = "of azimuth, zenith and radius, 1 or -1"},
    {"radial_axis", TALI_TYPE_REAL, 1, "0", .doc = "0: translation along z; 1: along x"},
    {.name = NULL}};

static const tali_model_attribute ellipsoid_attributes[] = {
    {"radii", TALI_TYPE_REAL, 3, .flags = TALI_POSITIVE_NUMBER, .doc = "along Fx, Fy, Fz [m]"},
    {.name = NULL}};

static const tali_model_attribute cantilever_attributes[] = {
    {"length", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "of the beam [m]"},
    {.name = NULL}};

#define BODY(element, table, aq, au, attributes, text)                                             \
    {                                                                                              \
        .name = (element), .doc = (text), .shared = body_attributes, .own = (attributes),          \
        .children = TALI_GROUP_BODY_PARTS, .max_children = -1, .check = check_body,                \
        .build = build_body, .start = start_body, .describe_shared = describe_body,                \
        .describe = describe_mobilizer, .write_children = tali_model_write_body_parts,             \
        .ops = (table), .angles_q = (aq), .angles_u = (au)                                         \
    }

const tali_model_row tali_model_body_rows[] = {
    BODY("weld", tal_mobilizer_weld, 0, 0, NULL, "No motion."),
    BODY("pin", tal_mobilizer_pin, 1, 1, NULL, "Rotation about z. q: angle."),
    BODY("slider", tal_mobilizer_slider, 0, 0, NULL, "Translation along x. q: distance."),
    BODY("screw", tal_mobilizer_screw, 1, 1, screw_attributes,
         "Rotation about z, with translation along z in proportion to the angle. q: angle."),
    BODY(
        "rack_and_pinion", tal_mobilizer_rack_and_pinion, 1, 1, rack_attributes,
        "A pinion that rolls along x: rotation about z, with translation along x in proportion. q: angle."),
    BODY("universal", tal_mobilizer_universal, 2, 2, NULL,
         "Rotation about x, then about the turned y. q: the two angles."),
    BODY("cylinder", tal_mobilizer_cylinder, 1, 1, NULL,
         "Rotation about z and translation along it. q: angle, distance."),
    BODY("bend_stretch", tal_mobilizer_bend_stretch, 1, 1, NULL,
         "Rotation about z, then translation along the turned x. q: angle, distance."),
    BODY("planar", tal_mobilizer_planar, 1, 1, NULL, "Motion in the xy plane. q: angle, x, y."),
    BODY("gimbal", tal_mobilizer_gimbal, 3, 3, NULL,
         "Rotation. q: body-XYZ angles; u: their rates."),
    BODY("bushing", tal_mobilizer_bushing, 3, 3, NULL,
         "All six degrees of freedom. q: body-XYZ angles, then x, y, z; u: their rates."),
    BODY("spherical_coords", tal_mobilizer_spherical_coords, 2, 2, spherical_attributes,
         "Spherical coordinates. q: azimuth, zenith, radius."),
    BODY("translation", tal_mobilizer_translation, 0, 0, NULL, "Translation. q: x, y, z."),
    BODY("ball", tal_mobilizer_ball, 3, 3, NULL,
         "Rotation. q: quaternion, w first, or body-XYZ angles; u: angular velocity in F."),
    BODY("ellipsoid", tal_mobilizer_ellipsoid, 3, 3, ellipsoid_attributes,
         "Rotation while Mo slides on an ellipsoid. q and u as for a ball."),
    BODY(
        "line_orientation", tal_mobilizer_line_orientation, 3, 2, NULL,
        "Rotation of a body that is thin like a line. q as for a ball; u: angular velocity about Mx, My."),
    BODY(
        "free_line", tal_mobilizer_free_line, 3, 2, NULL,
        "Rotation of a thin body, and translation. q: as before, then x, y, z; u: as before, then the velocity in F."),
    BODY(
        "free", tal_mobilizer_free, 3, 3, NULL,
        "All six degrees of freedom. q: quaternion or angles, then x, y, z; u: angular velocity, then velocity, in F."),
    BODY("cantilever", tal_mobilizer_cantilever, 3, 3, cantilever_attributes,
         "The free end of a beam that bends and twists. q: three angles."),
    {.name = "function_based",
     .doc =
         "Three body-fixed rotations and three translations, each a function of coordinates: the CustomJoint of "
         "OpenSim. Those that are not given are zero. Coordinates and speeds are never converted from degrees.",
     .shared = body_attributes,
     .own = function_based_attributes,
     .children = TALI_GROUP_BODY_PARTS,
     .min_children = 1,
     .max_children = -1,
     .check = check_function_based,
     .build = build_function_based,
     .start = start_body,
     .describe_shared = describe_body,
     .describe = describe_mobilizer,
     .write_children = tali_model_write_body_parts},
    {.name = NULL}};
