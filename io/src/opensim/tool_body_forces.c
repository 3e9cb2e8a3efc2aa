// Forces along the coordinates of joints as a force and a moment on the child of each.
//
// Coordinate i turns the child against its parent by w_i and shifts the origin of its joint frame
// by v_i. The force F and the moment M about that origin do the same work:
//
//     w_i . M + v_i . F = tau_i
//
// Where a coordinate only shifts, F alone carries its force; M carries what is left of the others.
// Of several answers the shortest one is taken.
#include "opensim/tool_internal.h"
#include "table/table_internal.h"

#include <talus/common/linalg.h>

#include <math.h>
#include <string.h>

static const char *const ends[] = {"_FX", "_FY", "_FZ", "_MX", "_MY", "_MZ"};

// The joints that a list names; "ALL" means all of them.
static void choose(tali_osim_tool *tool, tali_osim_body_forces *it)
{
    const tali_osim *o = &tool->o;
    const char *names[TALI_OSIM_MAX_LIST];
    const int n = tali_osim_words(&tool->setup, tool->root, "joints_to_report_body_forces", names,
                                  TALI_OSIM_MAX_LIST);
    const bool all = n > 0 && tali_table_same_word(names[0], "all");
    for (int j = 0; j < o->num_joints && all; ++j) {
        it->joints[it->num++] = j;
    }
    for (int i = 0; i < n && !all; ++i) {
        int j = o->num_joints - 1;
        while (j >= 0 && strcmp(o->joints[j].name, tali_osim_last_name(names[i])) != 0) {
            --j;
        }
        if (j < 0) {
            tali_osim_tool_error(tool, "joints_to_report_body_forces",
                                 "the model has no joint '%.60s'", names[i]);
        } else if (it->num < o->num_joints) {
            it->joints[it->num++] = j;
        }
    }
}

void tali_osim_tool_begin_body_forces(tali_osim_tool *tool, tali_osim_body_forces *it)
{
    const tal_matter *matter = tool->model.matter;
    tali_osim *setup = &tool->setup;
    *it = (tali_osim_body_forces){
        .joints = tali_osim_take(setup, tool->o.num_joints, sizeof *it->joints),
        .u = tali_osim_take(setup, tal_matter_nu(matter), sizeof *it->u),
        .V_GB = tali_osim_take(setup, tal_matter_num_bodies(matter), sizeof *it->V_GB),
        .row = tali_osim_take(setup, 1 + 6 * tool->o.num_joints, sizeof *it->row),
        .work = tali_osim_take(setup, (int)tal_cod_work_size(TAL_MAX_NU, 3), sizeof *it->work),
        .iwork = tali_osim_take(setup, (int)tal_cod_iwork_size(TAL_MAX_NU, 3), sizeof *it->iwork)};
    if (setup->no_memory) return;
    choose(tool, it);
    if (it->num == 0) return;
    const char *file = tali_osim_text(tool->root, "output_body_forces_file");
    it->table = tali_osim_tool_add_result(tool, file != NULL ? file : "body_forces_at_joints.sto",
                                          "Inverse Dynamics Body Forces at Specified Joints");
    for (int k = 0; k < it->num && it->table != NULL; ++k) {
        const tali_osim_joint *joint = &tool->o.joints[it->joints[k]];
        char name[150];
        (void)snprintf(name, sizeof name, "%.70s_%.70s", joint->name,
                       tool->o.bodies[joint->child].name);
        for (int c = 0; c < 6; ++c) {
            tali_osim_tool_add_column(tool, it->table, name, ends[c]);
        }
    }
}

// How a unit speed turns the child against the parent and shifts the child's origin there.
static tal_spatial_vec column_of(const tali_osim_tool *tool, tali_osim_body_forces *it,
                                 const tali_osim_joint *joint, int coordinate)
{
    const tal_model *model = &tool->model;
    const tal_body_ix child = tool->o.bodies[joint->child].body;
    const tal_body_ix parent = tool->o.bodies[joint->parent].body;
    const int slot = tali_osim_tool_u_slot(tool, coordinate);
    it->u[slot] = 1.0;
    const tal_status st = tal_matter_mul_J(model->matter, model->state, it->u, it->V_GB);
    it->u[slot] = 0.0;
    if (st != TAL_OK) return (tal_spatial_vec){{NAN, NAN, NAN}, {NAN, NAN, NAN}};
    const tal_xform X_GC = tal_body_X_GB(model->matter, model->state, child);
    const tal_vec3 p_GM = tal_xf_apply(X_GC, joint->X_CM.p);
    const tal_vec3 p_GP = tal_body_X_GB(model->matter, model->state, parent).p;
    const tal_spatial_vec C = it->V_GB[child.i], P = it->V_GB[parent.i];
    const tal_vec3 of_child = tal_v3_add(C.v, tal_v3_cross(C.w, tal_v3_sub(p_GM, X_GC.p)));
    const tal_vec3 of_parent = tal_v3_add(P.v, tal_v3_cross(P.w, tal_v3_sub(p_GM, p_GP)));
    return tal_sv(tal_v3_sub(C.w, P.w), tal_v3_sub(of_child, of_parent));
}

// The shortest x with a_i . x = b_i for all rows; NaN on failure.
static tal_vec3 solve(tali_osim_body_forces *it, const tal_vec3 a[], const double b[], int n)
{
    double A[3 * TAL_MAX_NU], x[TAL_MAX_NU > 3 ? TAL_MAX_NU : 3];
    tal_cod f;
    if (n == 0) return TAL_VEC3_ZERO;
    for (int i = 0; i < n; ++i) {
        A[i] = a[i].x;
        A[n + i] = a[i].y;
        A[2 * n + i] = a[i].z;
        x[i] = b[i];
    }
    const int ld = n > 3 ? n : 3;
    const tal_matrix B = {x, n, 1, ld}, X = {x, 3, 1, ld};
    tal_status st = tal_cod_factor(&f, tal_matrix_view(A, n, 3), 1e-10, it->work, it->iwork, NULL);
    if (st == TAL_OK) st = tal_cod_solve(&f, B, X, NULL);
    return st == TAL_OK ? tal_v3(x[0], x[1], x[2]) : tal_v3(NAN, NAN, NAN);
}

// Force, then moment, in Ground.
static tal_spatial_vec load_of(const tali_osim_tool *tool, tali_osim_body_forces *it,
                               const tali_osim_joint *joint, const double tau[])
{
    static const double tiny = 1e-12; // of a turn, in radians for a unit speed: round-off of J
    tal_spatial_vec columns[TAL_MAX_NU];
    tal_vec3 rows[TAL_MAX_NU];
    double b[TAL_MAX_NU];
    int n = 0;
    for (int i = 0; i < joint->num; ++i) {
        columns[i] = column_of(tool, it, joint, joint->first + i);
        if (tal_v3_norm(columns[i].w) > tiny) continue;
        rows[n] = columns[i].v;
        b[n++] = tau[tali_osim_tool_u_slot(tool, joint->first + i)];
    }
    const tal_vec3 F = solve(it, rows, b, n);
    n = 0;
    for (int i = 0; i < joint->num; ++i) {
        if (!(tal_v3_norm(columns[i].w) > tiny)) continue;
        rows[n] = columns[i].w;
        b[n++] = tau[tali_osim_tool_u_slot(tool, joint->first + i)] - tal_v3_dot(columns[i].v, F);
    }
    return tal_sv(solve(it, rows, b, n), F);
}

void tali_osim_tool_add_body_forces(tali_osim_tool *tool, tali_osim_body_forces *it, double t,
                                    const double tau[])
{
    if (it->table == NULL) return;
    it->row[0] = t;
    for (int k = 0; k < it->num; ++k) {
        tal_spatial_vec F = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};
        if (tau != NULL) F = load_of(tool, it, &tool->o.joints[it->joints[k]], tau);
        memcpy(it->row + 1 + (ptrdiff_t)6 * k, &F.v, sizeof F.v);
        memcpy(it->row + 4 + (ptrdiff_t)6 * k, &F.w, sizeof F.w);
    }
    const tal_status st = tal_table_add_row(it->table, it->row);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
}
