// Denavit-Hartenberg tables as chains of bodies, and chains as tables.
#include "alloc_internal.h"
#include "error_internal.h"

#include "tree/matter_internal.h"

#include <talus/matter/denavit_hartenberg.h>

#include <math.h>

// Axes that are closer to parallel [rad] count as parallel: the feet of their common normal would
// be off by round-off over this, and ignoring the angle costs as much.
static const double PARALLEL = 1e-8;

tal_dh_def tal_dh_def_default(void)
{
    return (tal_dh_def){.order = TAL_DH_MODIFIED, .X_PD = TAL_XFORM_IDENTITY};
}

// ---- a table as bodies

static tal_xform turn_and_shift(tal_axis axis, double angle, double way)
{
    const tal_vec3 p = axis == TAL_AXIS_X ? tal_v3(way, 0.0, 0.0) : tal_v3(0.0, 0.0, way);
    return tal_xf(tal_rotation_about(axis, angle), p);
}

tal_xform tal_dh_place(tal_dh_order order, const tal_dh_row *row, double q, double way)
{
    if (row == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the row is NULL");
        return tali_tree_nan_xform();
    }
    const tal_xform along_x = turn_and_shift(TAL_AXIS_X, row->alpha, row->a);
    const tal_xform along_z = turn_and_shift(TAL_AXIS_Z, row->theta + q, row->d + way);
    return order == TAL_DH_STANDARD ? tal_xf_mul(along_z, along_x) : tal_xf_mul(along_x, along_z);
}

// A slider moves along x of its frames: their x is z of the table, their y is x.
static const tal_xform SLIDER_FRAME = {{{0.0, 0.0, 1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}},
                                       {0.0, 0.0, 0.0}};

// Finite numbers, known orders and joints; the sentence has the row.
static tal_status check_table(const tal_dh_def *def, tal_error *err)
{
    if (def->num_rows < 0 || (def->num_rows > 0 && def->rows == NULL)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a table has %d rows and needs them all",
                         def->num_rows);
    }
    if (def->order != TAL_DH_STANDARD && def->order != TAL_DH_MODIFIED) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no order %d of a table",
                         (int)def->order);
    }
    if (!tal_xf_is_finite(def->X_PD)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "X_PD of the table is not finite");
    }
    for (int i = 0; i < def->num_rows; ++i) {
        const tal_dh_row *row = &def->rows[i];
        const double sum = row->a + row->alpha + row->d + row->theta + row->pitch;
        if (!isfinite(sum)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "row %d of the table (a %g, alpha %g, d %g, theta %g, pitch %g) is "
                             "not finite",
                             i, row->a, row->alpha, row->d, row->theta, row->pitch);
        }
        if (row->joint < TAL_DH_REVOLUTE || row->joint > TAL_DH_CYLINDRICAL) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "row %d of the table has no joint of kind %d",
                             i, (int)row->joint);
        }
    }
    return TAL_OK;
}

// The joint of a row acts between its part along z at q = 0, on the parent's side, and the rest.
static tal_body_ix add_link(tal_matter *matter, tal_body_ix parent, const tal_dh_def *def, int i)
{
    const tal_dh_row *row = &def->rows[i];
    const tal_xform along_x = turn_and_shift(TAL_AXIS_X, row->alpha, row->a);
    const tal_xform along_z = turn_and_shift(TAL_AXIS_Z, row->theta, row->d);
    const bool is_standard = def->order == TAL_DH_STANDARD;
    tal_mobod_def link = tal_mobod_def_default();
    link.X_PF = is_standard ? along_z : tal_xf_mul(along_x, along_z);
    link.X_BM = is_standard ? tal_xf_inverse(along_x) : TAL_XFORM_IDENTITY;
    if (i == 0) link.X_PF = tal_xf_mul(def->X_PD, link.X_PF);
    if (def->mass != NULL) link.mass = def->mass[i];
    if (def->names != NULL) link.name = def->names[i];
    switch (row->joint) {
    case TAL_DH_PRISMATIC:
        link.X_PF = tal_xf_mul(link.X_PF, SLIDER_FRAME);
        link.X_BM = tal_xf_mul(link.X_BM, SLIDER_FRAME);
        return tal_matter_add_slider(matter, parent, &link);
    case TAL_DH_HELICAL:
        return tal_matter_add_screw(matter, parent, &link, row->pitch);
    case TAL_DH_CYLINDRICAL:
        return tal_matter_add_cylinder(matter, parent, &link);
    case TAL_DH_REVOLUTE:
        break;
    }
    return tal_matter_add_pin(matter, parent, &link);
}

tal_status tal_matter_add_dh(tal_matter *matter, tal_body_ix parent, const tal_dh_def *def,
                             tal_body_ix bodies[], tal_error *err)
{
    if (matter == NULL) return TALI_BREACH(TAL_ERR_NULL, "the matter is NULL");
    if (def == NULL) return TALI_BREACH(TAL_ERR_NULL, "the table is NULL");
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_status st = check_table(def, err);
    if (st != TAL_OK) return st;
    for (int i = 0; i < def->num_rows; ++i) {
        parent = add_link(matter, parent, def, i);
        if (bodies != NULL) bodies[i] = parent;
        if (parent.i < 0) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "the link of row %d could not be added to its parent", i);
        }
    }
    return TAL_OK;
}

// ---- a chain as a table

/// The axis of a joint at q = 0, in the base.
typedef struct axis {
    tal_vec3 p, z;
    tal_vec3 across; ///< of its mobilizer's frame: some direction across z
    tal_dh_joint joint;
    double pitch;
    // of the normal that leads to the next axis
    tal_vec3 x, foot; ///< unit, and where it stands on this axis
    tal_vec3 there;   ///< where it ends on the next one
} axis;

/// The axes between base and tip.
typedef struct axes {
    axis *list;
    int num;
    tal_xform X_tip; ///< of the tip at q = 0, in the base
} axes;

// What kind of row a mobilizer makes; false for those that make none. Welds are no joint at all.
static bool kind_of(const tali_tree_body *body, tal_dh_joint *joint)
{
    static const struct {
        const tal_mobilizer_ops *(*ops)(void);
        tal_dh_joint joint;
    } kinds[] = {{tal_mobilizer_pin, TAL_DH_REVOLUTE},
                 {tal_mobilizer_slider, TAL_DH_PRISMATIC},
                 {tal_mobilizer_screw, TAL_DH_HELICAL},
                 {tal_mobilizer_cylinder, TAL_DH_CYLINDRICAL}};

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (body->ops.tag != kinds[k].ops()->tag) continue;
        *joint = kinds[k].joint;
        return body->direction == TAL_FORWARD;
    }
    return false;
}

static bool is_weld(const tali_tree_body *body)
{
    return body->ops.tag == tal_mobilizer_weld()->tag;
}

static bool is_inboard(const tal_matter *matter, tal_body_ix base, tal_body_ix tip)
{
    int b = tip.i;
    while (b > base.i) {
        b = tal_body_parent(matter, (tal_body_ix){b}).i;
    }
    return b == base.i;
}

// How many joints are between base and tip; -1, and an error, when there is no such chain.
static int count_joints(const tal_matter *matter, tal_body_ix base, tal_body_ix tip, tal_error *err)
{
    int num = 0;
    if (!is_inboard(matter, base, tip)) {
        (void)TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                        "body '%s' is not between Ground and body '%s': no chain leads from one "
                        "to the other",
                        tal_body_name(matter, base), tal_body_name(matter, tip));
        return -1;
    }
    for (int b = tip.i; b != base.i; b = tal_body_parent(matter, (tal_body_ix){b}).i) {
        tal_dh_joint joint;
        const tali_tree_body *body = &matter->bodies[b];
        if (is_weld(body)) continue;
        if (!kind_of(body, &joint)) {
            (void)TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                            "body '%s' has %sthe mobilizer '%s': a table can have pins, sliders, "
                            "screws and cylinders, none reversed",
                            tal_body_name(matter, (tal_body_ix){b}),
                            body->direction == TAL_REVERSE ? "in reverse " : "", body->ops.name);
            return -1;
        }
        ++num;
    }
    return num;
}

// Axes in the frame of the parent of their body, and then of its parent, until all are in the base.
static void find_axes(const tal_matter *matter, const tal_state *state, tal_body_ix base,
                      tal_body_ix tip, axes *it)
{
    int first = it->num; // those from here on are known, in the frame of body b
    it->X_tip = TAL_XFORM_IDENTITY;
    for (int b = tip.i; b != base.i; b = tal_body_parent(matter, (tal_body_ix){b}).i) {
        const tal_body_ix body = {b};
        const tal_xform X_PF = tal_body_X_PF(matter, state, body);
        const tal_xform X_PB = tal_xf_mul(X_PF, tal_xf_inverse(tal_body_X_BM(matter, state, body)));
        for (int i = first; i < it->num; ++i) {
            it->list[i].p = tal_xf_apply(X_PB, it->list[i].p);
            it->list[i].z = tal_m3_mul_v3(X_PB.R, it->list[i].z);
            it->list[i].across = tal_m3_mul_v3(X_PB.R, it->list[i].across);
        }
        it->X_tip = tal_xf_mul(X_PB, it->X_tip);
        if (is_weld(&matter->bodies[b])) continue;
        axis *own = &it->list[--first];
        *own = (axis){.p = X_PF.p};
        (void)kind_of(&matter->bodies[b], &own->joint);
        const bool slides = own->joint == TAL_DH_PRISMATIC;
        own->z = slides ? X_PF.R.x : X_PF.R.z;
        own->across = slides ? X_PF.R.y : X_PF.R.x;
        if (own->joint == TAL_DH_HELICAL) {
            own->pitch = tal_body_params(matter, state, body, NULL)[0];
        }
    }
}

static tal_vec3 made_across(tal_vec3 x, tal_vec3 z)
{
    return tal_v3_normalize(tal_v3_axpy(-tal_v3_dot(x, z), z, x));
}

// The normal from an axis to the next, where they are parallel: from where the last normal ended.
static void find_parallel_normal(axis *from, const axis *to, tal_vec3 last_x)
{
    const tal_vec3 apart = tal_v3_sub(to->p, from->foot);
    const tal_vec3 across = tal_v3_axpy(-tal_v3_dot(apart, from->z), from->z, apart);
    const double distance = tal_v3_norm(across), size = tal_v3_norm(apart);
    const bool is_same = distance <= PARALLEL * size || distance == 0.0;
    from->x = is_same ? made_across(last_x, from->z) : tal_v3_scale(1.0 / distance, across);
    from->there = is_same ? from->foot : tal_v3_add(from->foot, across);
}

// Where they are not: x = z1 x z2 / s, and along it they are `distance` apart.
static void find_skew_normal(axis *from, const axis *to, tal_vec3 last_x)
{
    const tal_vec3 n = tal_v3_cross(from->z, to->z), apart = tal_v3_sub(to->p, from->p);
    const double s2 = tal_v3_dot(n, n), distance = tal_v3_dot(apart, n) / sqrt(s2);
    const double along_from = tal_v3_dot(tal_v3_cross(apart, to->z), n) / s2;
    const double along_to = tal_v3_dot(tal_v3_cross(apart, from->z), n) / s2;
    from->x = tal_v3_scale(1.0 / sqrt(s2), n);
    from->foot = tal_v3_axpy(along_from, from->z, from->p);
    from->there = tal_v3_axpy(along_to, to->z, to->p);
    const bool meets = fabs(distance) <= PARALLEL * tal_v3_norm(apart);
    const bool turns = meets ? tal_v3_dot(from->x, last_x) < 0.0 : distance < 0.0;
    if (turns) from->x = tal_v3_neg(from->x);
}

static void find_normals(axes *it)
{
    for (int i = 0; i < it->num; ++i) {
        axis *from = &it->list[i], *last = i > 0 ? &it->list[i - 1] : NULL;
        const tal_vec3 last_x = last != NULL ? last->x : from->across;
        from->foot = last != NULL ? last->there : from->p;
        if (i + 1 == it->num) { // none: the frame of the last link may stand anywhere on its axis
            from->x = made_across(last_x, from->z);
            from->there = from->foot;
            return;
        }
        const double s = tal_v3_norm(tal_v3_cross(from->z, from[1].z));
        if (s <= PARALLEL) {
            find_parallel_normal(from, &from[1], last_x);
        } else {
            find_skew_normal(from, &from[1], last_x);
        }
    }
}

static tal_xform frame_of(tal_vec3 p, tal_vec3 z, tal_vec3 x)
{
    x = made_across(x, z);
    return tal_xf((tal_mat3){x, tal_v3_cross(z, x), z}, p);
}

// The frame of link i, from 1 on, and of what the table stands on, 0. At q = 0 the first row of the
// modified order and the last one of the standard order are empty.
static tal_xform link_frame(const axes *it, tal_dh_order order, int i)
{
    const axis *all = it->list;
    if (order == TAL_DH_MODIFIED) {
        const axis *own = &all[i > 0 ? i - 1 : 0];
        return frame_of(own->foot, own->z, own->x);
    }
    if (i == 0 || it->num == 1) return frame_of(all[0].foot, all[0].z, all[0].x);
    const axis *before = &all[i < it->num ? i - 1 : it->num - 2];
    return frame_of(before->there, before[1].z, before->x);
}

// Rx(alpha) Tx(a) Rz(theta) Tz(d), or Rz(theta) Tz(d) Tx(a) Rx(alpha), as numbers.
static tal_dh_row read_row(tal_dh_order order, const tal_xform *X)
{
    const tal_mat3 R = X->R;
    tal_dh_row row = {.a = 0.0};
    if (order == TAL_DH_MODIFIED) {
        row.alpha = atan2(-R.z.y, R.z.z);
        row.theta = atan2(-R.y.x, R.x.x);
        row.a = X->p.x;
        row.d = cos(row.alpha) * X->p.z - sin(row.alpha) * X->p.y;
    } else {
        row.alpha = atan2(R.y.z, R.z.z);
        row.theta = atan2(R.x.y, R.x.x);
        row.a = cos(row.theta) * X->p.x + sin(row.theta) * X->p.y;
        row.d = X->p.z;
    }
    return row;
}

static void fill_table(const axes *it, tal_dh_order order, tal_dh_row rows[], tal_dh_chain *chain)
{
    tal_xform before = link_frame(it, order, 0);
    chain->num_rows = it->num;
    chain->X_PD = before;
    for (int i = 0; i < it->num; ++i) {
        const tal_xform own = link_frame(it, order, i + 1);
        const tal_xform X = tal_xf_inv_mul(before, own);
        rows[i] = read_row(order, &X);
        rows[i].joint = it->list[i].joint;
        rows[i].pitch = it->list[i].pitch;
        before = own;
    }
    chain->X_DB = tal_xf_inv_mul(before, it->X_tip);
}

tal_status tal_matter_calc_dh(const tal_matter *matter, const tal_state *state, tal_body_ix base,
                              tal_body_ix tip, tal_dh_order order, tal_dh_row rows[],
                              tal_dh_chain *chain, tal_error *err)
{
    if (matter == NULL || state == NULL || chain == NULL || rows == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the matter, the State, 'rows' or 'chain' is NULL");
    }
    if (tali_tree_body_at(matter, base, __func__) == NULL ||
        tali_tree_body_at(matter, tip, __func__) == NULL) {
        return TAL_ERR_BAD_INDEX;
    }
    if (!tal_xf_is_finite(tal_body_X_PF(matter, state, tip))) return TAL_ERR_STAGE;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (order != TAL_DH_STANDARD && order != TAL_DH_MODIFIED) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no order %d of a table", (int)order);
    }
    axes it = {.num = count_joints(matter, base, tip, err)};
    if (it.num < 0) return TAL_ERR_BAD_VALUE;
    const tal_allocator allocator = tal_system_allocator(matter->system);
    const size_t bytes = (size_t)(it.num > 0 ? it.num : 1) * sizeof *it.list;
    it.list = tali_alloc(&allocator, bytes);
    if (it.list == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a table");
    find_axes(matter, state, base, tip, &it);
    if (it.num > 0) {
        find_normals(&it);
        fill_table(&it, order, rows, chain);
    } else {
        *chain = (tal_dh_chain){.X_PD = TAL_XFORM_IDENTITY, .X_DB = it.X_tip};
    }
    tali_free(&allocator, it.list, bytes);
    return TAL_OK;
}
