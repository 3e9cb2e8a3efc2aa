// Dynamics of a tree as plain functions of arrays: the passes, and arrays that they work in.
#include "finite_internal.h"
#include "weight_internal.h"

#include "kernel/lanes_internal.h"
#include "operator/operators_internal.h"
#include "prescribed/prescribed_internal.h"
#include "stage/stages_internal.h"

#include <talus/matter/direct.h>

#include <math.h>

struct tal_direct {
    const tal_matter *matter;
    tal_allocator allocator;
    tal_state *state; // its own: parameters, and where a mobilizer's table says what is wrong
    tal_vec3 g;
    bool has_gravity;
    bool is_every_Bo_Mo;
    int nq;
    tali_matter_model model;
    tali_tree_view view; // of the arrays below
    tali_tree_position position;
    tali_tree_velocity velocity;
    tali_tree_articulated articulated;
    void *position_bytes, *velocity_bytes, *articulated_bytes;
    tali_tree_composite *rigid;
    tali_weight *weights;
    tal_spatial_vec *F, *A, *open;
    tali_kernel_open_inertia *open_inertia;
    double *e;
    tali_kernel_mass_matrix_room mass_room;
    tali_kernel_lanes lanes; // width 1: none
    void *lanes_room;
    void *block;
    size_t block_bytes;
    tal_error error_record;
};

// --- creation ---

// One block for all arrays.
static tal_status take_memory(tal_direct *it, tal_error *err)
{
    const tali_tree *tree = &it->matter->tree;
    const size_t n = (size_t)tree->num_bodies, u = (size_t)tree->num_u + 1;
    const size_t slots = (size_t)tree->num_slots + 1;
    tali_kernel_mass_matrix_room *room = &it->mass_room;
    const tali_piece pieces[] = {
        {&it->position_bytes, tree->position_at.size},
        {&it->velocity_bytes, tali_stage_velocity_size(tree)},
        {&it->articulated_bytes, tali_stage_articulated_size(tree)},
        {&it->rigid, n * sizeof *it->rigid},
        {&it->weights, n * sizeof *it->weights},
        {&it->F, n * sizeof *it->F},
        {&it->A, n * sizeof *it->A},
        {&it->open, slots * sizeof *it->open},
        {&it->open_inertia, slots * sizeof *it->open_inertia},
        {&it->e, u * sizeof *it->e},
        {&room->open, slots * sizeof *room->open},
        {&room->F, 6 * u * sizeof *room->F},
        {&room->row, u * sizeof *room->row},
        {&room->speed_at, u * sizeof *room->speed_at},
        {&it->lanes_room, it->lanes.width > 1 ? it->lanes.size(tree, it->nq) : 0},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for direct functions");
}

// What the passes see, with our arrays in place.
static void lay_out(tal_direct *it)
{
    const tali_tree *tree = &it->matter->tree;
    const tal_system *system = it->matter->system;
    it->position = tali_stage_position_in(tree, it->position_bytes);
    it->velocity = tali_stage_velocity_in(tree, it->velocity_bytes);
    char *const gains = it->articulated_bytes;
    it->articulated = (tali_tree_articulated){
        it->articulated_bytes, (double *)(void *)(gains + tali_stage_gain_bytes(tree)), NULL};
    it->view = (tali_tree_view){
        .tree = tree,
        .passes = tree->passes,
        .constants = tali_cache_at(system, it->state, it->matter->constants),
        .pose = it->position.pose,
        .p_PM = it->position.p_PM,
        .H = it->position.H,
        .X_FM = it->position.X_FM,
        .H_FM = it->position.H_FM,
        .rigid = it->rigid,
        .rates = it->velocity.rates,
        .Hdot_u = it->velocity.Hdot_u,
        .G = it->articulated.G,
        .DI = it->articulated.DI,
        .hinge = tree->hinge,
    };
    if (tree->is_depth_first) it->mass_room.speed_at = NULL;
}

static tal_status check_tree(const tal_matter *matter, tal_state *state, tal_error *err)
{
    if (matter->constraints.count > 0) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the tree has constraints, which direct functions cannot obey");
    }
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_CONSTANTS, &view);
    if (view.hinge == matter->tree.hinge) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                     "the tree has locks or prescribed motion, which direct functions cannot obey");
}

// The State's own constants, once it is at Instance.
static tal_status keep_parameters(tal_direct *it, const tal_state *state, tal_error *err)
{
    const tal_system *system = it->matter->system;
    tal_status st = tal_state_create(system, &it->state, err);
    if (st != TAL_OK) return st;
    st = tal_state_copy(it->state, state);
    if (st == TAL_OK) st = tal_system_realize(system, it->state, TAL_STAGE_INSTANCE);
    tali_tree_view view;
    if (st == TAL_OK && !tali_tree_realize_view(it->matter, it->state, TALI_CONSTANTS, &view)) {
        st = tal_state_error(it->state)->status;
    }
    if (st == TAL_OK) return check_tree(it->matter, it->state, err);
    if (err != NULL) *err = *tal_state_error(it->state);
    return st;
}

static void prepare_lanes(tal_direct *it)
{
    if (it->lanes.width == 1) return;
    it->lanes.prepare(it->lanes_room, &it->matter->tree, &it->model, it->nq,
                      &it->view.constants->R_PF.x.x);
    it->lanes.set_gravity(it->lanes_room, &it->g.x);
}

// The room is that of the widest lanes.
bool tali_op_direct_use_lanes(tal_direct *direct, int width)
{
    tali_kernel_lanes lanes;
    if (!tali_kernel_lanes_of(width, &lanes) && width > 1) return false;
    if (direct->lanes.width < width) return false;
    direct->lanes = lanes;
    prepare_lanes(direct);
    return true;
}

static void fill_weights(tal_direct *it)
{
    const tali_tree_constants *constants = it->view.constants;
    for (int b = 1; b < it->matter->num_bodies; ++b) {
        it->weights[b] = (tali_weight){constants[b].mc, constants[b].mass};
    }
}

tal_status tal_direct_create(const tal_matter *matter, tal_state *state, tal_direct **out,
                             tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    if (matter == NULL || state == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "an argument is NULL");
    }
    if (!tal_system_has_topology(matter->system)) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY, "realize the topology of the System first");
    }
    if (tal_state_structure_hash(state) != tal_system_structure_hash(matter->system)) {
        return TALI_FAIL(err, TAL_ERR_WRONG_SYSTEM, "the State belongs to another System");
    }
    tal_status st = tal_system_realize(matter->system, state, TAL_STAGE_INSTANCE);
    if (st != TAL_OK) {
        if (err != NULL) *err = *tal_state_error(state);
        return st;
    }
    const tal_allocator allocator = matter->allocator;
    tal_direct *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for direct functions");
    it->matter = matter;
    it->allocator = allocator;
    it->nq = tal_state_nq(state);
    it->lanes = tali_kernel_lanes_best();
    if (matter->tree.num_general > 0) it->lanes.width = 1;
    st = take_memory(it, err);
    if (st == TAL_OK) st = keep_parameters(it, state, err);
    if (st != TAL_OK) {
        tal_direct_destroy(it);
        return st;
    }
    it->model = tali_matter_model_of(matter, it->state);
    it->is_every_Bo_Mo = tali_tree_is_every_Bo_Mo(
        tali_cache_at(matter->system, it->state, matter->constants), matter->num_bodies);
    lay_out(it);
    fill_weights(it);
    prepare_lanes(it);
    *out = it;
    return TAL_OK;
}

void tal_direct_destroy(tal_direct *direct)
{
    if (direct == NULL) return;
    const tal_allocator allocator = direct->allocator;
    tal_state_destroy(direct->state);
    tali_free(&allocator, direct->block, direct->block_bytes);
    tali_free(&allocator, direct, sizeof *direct);
}

tal_status tal_direct_set_gravity(tal_direct *direct, tal_vec3 g)
{
    if (direct == NULL) return TALI_BREACH(TAL_ERR_NULL, "the direct functions are NULL");
    if (!tal_v3_is_finite(g)) {
        return TALI_BREACH(TAL_ERR_NOT_FINITE, "gravity is (%g, %g, %g)", g.x, g.y, g.z);
    }
    if (direct->lanes.width > 1) direct->lanes.set_gravity(direct->lanes_room, &g.x);
    direct->g = g;
    direct->has_gravity = g.x != 0.0 || g.y != 0.0 || g.z != 0.0;
    return TAL_OK;
}

int tal_direct_nq(const tal_direct *direct)
{
    return direct != NULL ? direct->nq : 0;
}

int tal_direct_nu(const tal_direct *direct)
{
    return direct != NULL ? direct->matter->tree.num_u : 0;
}

int tal_direct_num_bodies(const tal_direct *direct)
{
    return direct != NULL ? direct->matter->num_bodies : 0;
}

int tal_direct_lanes(const tal_direct *direct)
{
    return direct != NULL ? direct->lanes.width : 0;
}

const tal_error *tal_direct_error(const tal_direct *direct)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_direct_error", "they are NULL"};
    return direct != NULL ? &direct->error_record : &none;
}

// --- steps ---

// A mobilizer's table has failed: its sentence is in our State.
static tal_status tell_table(tal_direct *it, tal_status st)
{
    it->error_record = *tal_state_error(it->state);
    it->error_record.status = st;
    (void)tal_state_clear_error(it->state);
    return st;
}

static tal_status place(tal_direct *it, const double q[])
{
    const tali_tree_view *view = &it->view;
    it->error_record.status = TAL_OK;
    if (view->tree->num_general > 0) {
        const tal_status st = tali_stage_ask_tables(it->matter, it->state, q, &it->position);
        if (st != TAL_OK) return tell_table(it, st);
    }
    view->passes->position(view->tree, view->constants, &it->model, q, &it->position);
    return TAL_OK;
}

static tal_status move(tal_direct *it, const double q[], const double u[], bool with_A0)
{
    const tali_tree_view *view = &it->view;
    if (view->tree->num_general > 0) {
        const tal_status st =
            tali_stage_ask_tables_for_Hdot(it->matter, it->state, view, q, u, it->velocity.Hdot_u);
        if (st != TAL_OK) return tell_table(it, st);
    }
    view->passes->velocity(view, u, with_A0, &it->velocity);
    return TAL_OK;
}

// All forces on bodies, about Mo; NULL: none.
static const tal_spatial_vec *sum_loads(tal_direct *it, const tal_spatial_vec F[])
{
    const tali_tree_view *view = &it->view;
    const int n = view->tree->num_bodies;
    if (F == NULL && !it->has_gravity) return NULL;
    if (F == NULL) {
        memset(it->F, 0, (size_t)n * sizeof *it->F);
    } else {
        memcpy(it->F, F, (size_t)n * sizeof *it->F);
    }
    for (int b = 0; b < n && F != NULL && !it->is_every_Bo_Mo; ++b) {
        const tal_vec3 p_MB = tal_m3_mul_v3(view->pose[b].R_GM, view->constants[b].X_MB.p);
        it->F[b].w = tal_v3_add(F[b].w, tal_v3_cross(p_MB, F[b].v));
    }
    if (it->has_gravity) view->passes->weights(view->pose, n, it->weights, it->g, it->F);
    return it->F;
}

// A result is finite, or it is told why not.
static tal_status judge(tal_direct *it, const char *name, const double values[], int n)
{
    if (tali_finite_all(values, n)) return TAL_OK;
    return TALI_FAIL(&it->error_record, TAL_ERR_NOT_FINITE,
                     "'%s' is not finite: a number of q, u or the forces is not, or is too large",
                     name);
}

static tal_status name_massless_mobility(tal_direct *it)
{
    tali_tree_view view;
    tali_tree_view_of(it->matter, it->state, TALI_CONSTANTS, &view);
    const int b = tali_prescribed_massless_body(&view, it->articulated.DI);
    return TALI_FAIL(&it->error_record, TAL_ERR_SINGULAR,
                     "body '%.80s' can move without moving any mass: give it, or the bodies it "
                     "carries, mass or inertia",
                     it->matter->bodies[b].name);
}

// --- functions ---

static void give_motion(const tal_direct *it, tal_xform X[], tal_spatial_vec V[])
{
    const tali_tree_view *view = &it->view;
    for (int b = 0; b < view->tree->num_bodies; ++b) {
        const tal_mat3 R_GM = view->pose[b].R_GM;
        const tal_xform *X_MB = &view->constants[b].X_MB;
        const tal_vec3 p_MB = tal_m3_mul_v3(R_GM, X_MB->p);
        if (X != NULL) {
            X[b] = (tal_xform){tal_m3_mul(R_GM, X_MB->R), tal_v3_add(view->pose[b].p_GM, p_MB)};
        }
        if (V != NULL) V[b] = tal_sv_shift_motion(view->rates[b].V, p_MB);
    }
}

tal_status tal_direct_kinematics(tal_direct *direct, const double q[], const double u[],
                                 tal_xform X[], tal_spatial_vec V[])
{
    if (direct == NULL || q == NULL || (u == NULL && V != NULL)) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    tal_status st = place(direct, q);
    if (st == TAL_OK && V != NULL) st = move(direct, q, u, false);
    if (st == TAL_OK) st = judge(direct, "q", q, direct->nq);
    if (st == TAL_OK && V != NULL) st = judge(direct, "u", u, direct->matter->tree.num_u);
    if (st == TAL_OK) give_motion(direct, X, V);
    return st;
}

tal_status tal_direct_forward_dynamics(tal_direct *direct, const double q[], const double u[],
                                       const double f[], const tal_spatial_vec F[], double udot[])
{
    if (direct == NULL || q == NULL || u == NULL || udot == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    tal_status st = place(direct, q);
    if (st == TAL_OK) st = move(direct, q, u, true);
    if (st != TAL_OK) return st;
    const tali_tree_view *view = &direct->view;
    const tali_passes *passes = view->passes;
    passes->rigid(view, direct->rigid);
    if (!passes->articulated(view, &direct->articulated, direct->open_inertia)) {
        st = judge(direct, "q", q, direct->nq);
        return st == TAL_OK ? name_massless_mobility(direct) : st;
    }
    passes->inward_moving(view, f, sum_loads(direct, F), direct->e, direct->open);
    passes->outward(view, direct->e, udot, direct->A);
    return judge(direct, "udot", udot, view->tree->num_u);
}

// Rows of numbers, as many as fit the registers, or fewer at the end.
typedef struct row_block {
    int n;
    const double *q, *u, *f;
    double *udot;
} row_block;

// Row k of a block alone. When it fails, it is NaN.
static tal_status forward_row(tal_direct *it, const row_block *rows, int k)
{
    const size_t nu = (size_t)it->matter->tree.num_u;
    const size_t q0 = (size_t)k * (size_t)it->nq, u0 = (size_t)k * nu;
    const double *const f = rows->f != NULL ? rows->f + u0 : NULL;
    const tal_status st =
        tal_direct_forward_dynamics(it, rows->q + q0, rows->u + u0, f, NULL, rows->udot + u0);
    for (size_t i = 0; i < nu && st != TAL_OK; ++i) {
        rows->udot[u0 + i] = TALI_NAN;
    }
    return st;
}

// Do the lanes give this block, or has one of its rows something to tell?
static bool forward_block(tal_direct *it, const row_block *rows)
{
    const tali_kernel_lanes *const lanes = &it->lanes;
    return lanes->width > 1 &&
           lanes->forward(it->lanes_room, rows->n, rows->q, rows->u, rows->f, rows->udot) &&
           tali_finite_all(rows->udot, rows->n * it->matter->tree.num_u);
}

// Rows that fail are computed again alone, to be told why, and with them their block.
tal_status tal_direct_forward_dynamics_many(tal_direct *direct, int n, const double q[],
                                            const double u[], const double f[], double udot[],
                                            tal_status status[])
{
    if (direct == NULL || (n > 0 && (q == NULL || u == NULL || udot == NULL))) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    if (n < 0) return TALI_BREACH(TAL_ERR_BAD_VALUE, "there cannot be %d rows", n);
    const size_t nq = (size_t)direct->nq, nu = (size_t)direct->matter->tree.num_u;
    const int width = direct->lanes.width;
    tal_error first = {TAL_OK, "", ""};
    for (int k = 0; k < n; k += width) {
        const size_t row = (size_t)k;
        const row_block rows = {n - k < width ? n - k : width, q + row * nq, u + row * nu,
                                f != NULL ? f + row * nu : NULL, udot + row * nu};
        const bool done = forward_block(direct, &rows);
        for (int i = 0; i < rows.n; ++i) {
            const tal_status st = done ? TAL_OK : forward_row(direct, &rows, i);
            if (status != NULL) status[k + i] = st;
            if (st != TAL_OK && first.status == TAL_OK) first = direct->error_record;
        }
    }
    direct->error_record = first;
    return first.status;
}

tal_status tal_direct_inverse_dynamics(tal_direct *direct, const double q[], const double u[],
                                       const double udot[], const tal_spatial_vec F[], double f[])
{
    if (direct == NULL || q == NULL || u == NULL || f == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    tal_status st = place(direct, q);
    if (st == TAL_OK) st = move(direct, q, u, true);
    if (st != TAL_OK) return st;
    const tali_tree_view *view = &direct->view;
    (void)view->passes->newton_euler(view, u, udot, sum_loads(direct, F), f, direct->A,
                                     direct->open);
    return judge(direct, "f", f, view->tree->num_u);
}

tal_status tal_direct_mass_matrix(tal_direct *direct, const double q[], double M[])
{
    if (direct == NULL || q == NULL || M == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tal_status st = place(direct, q);
    if (st != TAL_OK) return st;
    const tali_tree_view *view = &direct->view;
    const int n = view->tree->num_u;
    view->passes->rigid(view, direct->rigid);
    view->passes->mass_matrix(view, M, n, &direct->mass_room);
    tali_op_mirror(M, n, (size_t)n, 1);
    return judge(direct, "M", M, n * n);
}

tal_status tal_direct_frame_jacobian(tal_direct *direct, const double q[], tal_body_ix body,
                                     tal_vec3 p_BS, double J[])
{
    if (direct == NULL || q == NULL || J == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    const tali_tree_view *view = &direct->view;
    if (body.i < 0 || body.i >= view->tree->num_bodies) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no body %d", body.i);
    }
    const tal_status st = place(direct, q);
    if (st != TAL_OK) return st;
    const tal_vec3 p_MS = tal_xf_apply(view->constants[body.i].X_MB, p_BS);
    const tal_vec3 p_MS_G = tal_m3_mul_v3(view->pose[body.i].R_GM, p_MS);
    view->passes->frame_rows(view, body.i, p_MS_G, J, 6);
    return judge(direct, "J", J, 6 * view->tree->num_u);
}
