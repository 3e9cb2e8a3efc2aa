// The dynamics of several States at once for the layers above: which trees and States lanes can
// work on, and the kernels' functions on rows of y.
#include "finite_internal.h"
#include "matter_lanes_internal.h"
#include "rates_internal.h"

#include "constraint/constraint_internal.h"
#include "kernel/lanes_internal.h"
#include "operator/operators_internal.h"
#include "stage/stages_internal.h"

_Static_assert(sizeof(tali_weight) == TALI_KERNEL_WEIGHT * sizeof(double), "numbers of a weight");
_Static_assert(sizeof(tal_xform) == TALI_KERNEL_POSE * sizeof(double), "numbers of a pose");
_Static_assert(sizeof(tal_spatial_vec) == TALI_KERNEL_LOAD * sizeof(double), "numbers of a load");
_Static_assert((int)TALI_MATTER_LOAD_OF_ALL == (int)TALI_KERNEL_LOADS_OF_ALL &&
                   (int)TALI_MATTER_LOAD_OF_Q == (int)TALI_KERNEL_LOADS_OF_Q,
               "the same sums");

struct tali_matter_lanes {
    const tal_matter *matter;
    tal_allocator allocator;
    tali_kernel_lanes kernel;
    tal_state *states[TALI_MATTER_MOST_LANES];
    tali_matter_model model; // of all States: in the arrays below
    int32_t *q0;
    uint8_t *nq, *use_angles;
    int num_q;
    void *room; // the kernel's
    void *block;
    size_t block_bytes;
};

// --- which trees, which machine ---

const char *tali_matter_lanes_refusal(const tal_matter *matter)
{
    if (matter->constraints.count > 0) return "it has constraints";
    if (matter->prescribed.count > 0 || matter->prescribed.num_fast > 0) {
        return "it has prescribed motion";
    }
    if (matter->unilaterals.count > 0) return "it has unilateral elements";
    if (matter->tree.num_general > 0) return "it has mobilizers that only their tables know";
    return NULL;
}

static tali_kernel_lanes choose(int most)
{
    tali_kernel_lanes kernel = {.width = 1};
    if (most >= 8 && tali_kernel_lanes_of(8, &kernel)) return kernel;
    if (most >= 4) (void)tali_kernel_lanes_of(4, &kernel);
    return kernel;
}

static tal_status take_memory(tali_matter_lanes *it, tal_error *err)
{
    const tali_tree *tree = &it->matter->tree;
    const size_t n = (size_t)tree->num_bodies;
    const tali_piece pieces[] = {
        {&it->room, it->kernel.size(tree, tree->max_nq)},
        {&it->q0, n * sizeof *it->q0},
        {&it->nq, n * sizeof *it->nq},
        {&it->use_angles, n * sizeof *it->use_angles},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
    it->model = (tali_matter_model){it->q0, it->nq, it->use_angles};
    return TAL_OK;
}

tal_status tali_matter_lanes_create(const tal_matter *matter, int most, tali_matter_lanes **out,
                                    tal_error *err)
{
    *out = NULL;
    const tali_kernel_lanes kernel = choose(most);
    if (kernel.width == 1) return TAL_OK;
    tali_matter_lanes *it = tali_alloc(&matter->allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
    it->matter = matter;
    it->allocator = matter->allocator;
    it->kernel = kernel;
    const tal_status st = take_memory(it, err);
    if (st == TAL_OK) {
        *out = it;
    } else {
        tali_matter_lanes_destroy(it);
    }
    return st;
}

void tali_matter_lanes_destroy(tali_matter_lanes *lanes)
{
    if (lanes == NULL) return;
    const tal_allocator allocator = lanes->allocator;
    tali_free(&allocator, lanes->block, lanes->block_bytes);
    tali_free(&allocator, lanes, sizeof *lanes);
}

int tali_matter_lanes_width(const tali_matter_lanes *lanes)
{
    return lanes->kernel.width;
}

// --- States ---

static const double *constants_of(const tali_matter_lanes *it, const tal_state *state)
{
    const tali_tree_constants *constants =
        tali_cache_at(it->matter->system, state, it->matter->constants);
    return &constants->R_PF.x.x;
}

void tali_matter_lanes_begin(tali_matter_lanes *lanes, tal_state *state)
{
    const tal_matter *const matter = lanes->matter;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    const size_t n = (size_t)matter->num_bodies;
    memcpy(lanes->q0, model.q0, n * sizeof *lanes->q0);
    memcpy(lanes->nq, model.nq, n * sizeof *lanes->nq);
    memcpy(lanes->use_angles, model.use_angles, n * sizeof *lanes->use_angles);
    lanes->num_q = tal_matter_nq(matter, state);
    lanes->kernel.prepare(lanes->room, &matter->tree, &lanes->model, lanes->num_q,
                          constants_of(lanes, state));
    for (int lane = 0; lane < lanes->kernel.width; ++lane) {
        lanes->states[lane] = state;
    }
}

bool tali_matter_lanes_seat(tali_matter_lanes *lanes, int lane, tal_state *state)
{
    const tal_matter *const matter = lanes->matter;
    const size_t n = (size_t)matter->num_bodies;
    const tali_matter_model model = tali_matter_model_of(matter, state);
    tali_tree_view view;
    tali_tree_view_of(matter, state, TALI_CONSTANTS, &view);
    if (view.hinge != matter->tree.hinge) return false;
    if (memcmp(model.use_angles, lanes->use_angles, n * sizeof *lanes->use_angles) != 0) {
        return false;
    }
    lanes->states[lane] = state;
    lanes->kernel.seat(lanes->room, lane, constants_of(lanes, state));
    return true;
}

void tali_matter_lanes_set_weights(tali_matter_lanes *lanes, int lane, const tali_weight weights[],
                                   tal_vec3 g)
{
    lanes->kernel.set_weights(lanes->room, lane, &weights->mc_M.x, &g.x);
}

// --- dynamics ---

void tali_matter_lanes_move(tali_matter_lanes *lanes, const double *const y[])
{
    lanes->kernel.move(lanes->room, y, 0, lanes->num_q);
}

void tali_matter_lanes_look(const tali_matter_lanes *lanes, int lane, int body, tal_xform *X_GM,
                            tal_spatial_vec *V_GM)
{
    lanes->kernel.look(lanes->room, lane, body, &X_GM->R.x.x, &V_GM->w.x);
}

tal_spatial_vec tali_matter_lanes_load(const tali_matter_lanes *lanes, tali_matter_load which,
                                       int lane, int body)
{
    tal_spatial_vec F = TAL_SPATIAL_VEC_ZERO;
    lanes->kernel.get_load(lanes->room, (int)which, lane, body, &F.w.x);
    return F;
}

void tali_matter_lanes_set_load(tali_matter_lanes *lanes, tali_matter_load which, int lane,
                                int body, tal_spatial_vec F_GM)
{
    lanes->kernel.set_load(lanes->room, (int)which, lane, body, &F_GM.w.x);
}

void tali_matter_lanes_weigh(tali_matter_lanes *lanes)
{
    lanes->kernel.weigh(lanes->room);
}

bool tali_matter_lanes_solve(tali_matter_lanes *lanes, const double *const f[],
                             const double *const y[], double *const ydot[])
{
    if (!lanes->kernel.solve(lanes->room, f, lanes->num_q, ydot)) return false;
    for (int lane = 0; lane < lanes->kernel.width; ++lane) {
        const double *const u = y[lane] + lanes->num_q;
        if (tali_stage_write_rates_of(lanes->matter, lanes->states[lane], y[lane], u, u, false,
                                      ydot[lane]) != TAL_OK) {
            return false;
        }
    }
    return true;
}

// --- quaternions ---

bool tali_matter_lanes_has_directions(const tali_matter_lanes *lanes, const double y[])
{
    const tali_tree *const tree = &lanes->matter->tree;
    for (int i = 0; i < tree->num_quaternions; ++i) {
        const int b = tree->quaternions[i];
        if (lanes->use_angles[b]) continue;
        if (!tali_tree_has_direction(y + lanes->q0[b])) return false;
    }
    return true;
}

bool tali_matter_lanes_normalize(const tali_matter_lanes *lanes, double y[])
{
    return tali_tree_normalize(lanes->matter, &lanes->model, y);
}

bool tali_matter_lanes_error_along_u(const tali_matter_lanes *lanes, int lane, const double y[],
                                     double e[], double e_u[])
{
    const tal_matter *const matter = lanes->matter;
    tali_constraint_project_quaternion_errors(matter, &lanes->model, y, e);
    if (!tali_finite_all(e, lanes->num_q)) return false;
    return tali_matter_mul_N_of(matter, lanes->states[lane], y, y + lanes->num_q, TAL_NPLUS, e,
                                e_u) == TAL_OK &&
           tali_finite_all(e_u, matter->tree.num_u);
}
