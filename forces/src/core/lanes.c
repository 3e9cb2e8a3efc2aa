// The elements in lanes: which can be applied there, and applying them as a State does, to the bit.
//
// An element's own function gets a context in which only the bodies that it acts on are filled in.
// They are copied from the lanes before, and its loads back after it.
#include "force_lanes_internal.h"
#include "solve_internal.h"

#include "core/element_internal.h"

#include <stdio.h>

// An element that is applied one State after the other.
typedef struct local_element {
    const tali_force_call *call;
    tal_force_needs needs;
    int bodies[2];
    int num_bodies;
} local_element;

// What is in a lane.
typedef struct force_seat {
    tal_state *state;
    tal_force_context context; // with poses and velocities of the arrays below
    const uint8_t *enabled;
} force_seat;

struct tali_force_lanes {
    const tal_forces *forces;
    tali_matter_lanes *lanes;
    tal_allocator allocator;
    int width;
    const tali_force *gravity; // NULL: none
    local_element *local;      // in the order in which they are applied
    int num_local;
    int gravity_at; // gravity comes before this one
    force_seat seats[TALI_MATTER_MOST_LANES];
    tal_xform *X;                               // [num_bodies] of those that an element acts on
    tal_spatial_vec *V;                         // [num_bodies]
    tal_spatial_vec *F;                         // [num_bodies]
    double *f[TAL_NUM_FORCE_NEEDS];             // [width][nu] sums
    const double *rows[TALI_MATTER_MOST_LANES]; // of the sum of all
    void *block;
    size_t block_bytes;
};

// --- which elements ---

static const tali_force_element *built_in(const tali_force *element)
{
    return element->ops.destroy == tali_force_element_destroy ? element->self : NULL;
}

static tali_force_facts facts_of(const tali_force *element)
{
    tali_force_facts facts = {.measure = {-1}, .path = {-1}};
    const tali_force_element *const it = element->self;
    if (it->kind->fill_facts != NULL) it->kind->fill_facts(it, &facts);
    return facts;
}

// Does a measure or a controller tell it what to do? They may read anything.
static bool is_driven(const tal_forces *forces, const tali_force *element)
{
    const int *const first = forces->controls.first;
    const ptrdiff_t me = element - forces->elements;
    return facts_of(element).measure.i >= 0 || (first != NULL && first[me] != first[me + 1]);
}

static bool is_local(const tal_forces *forces, const tali_force *element)
{
    const tali_force_element *const it = built_in(element);
    if (it == NULL || element->ops.needs == TAL_FORCE_NEEDS_T) return false;
    if (is_driven(forces, element)) return false;
    switch (it->kind->scope) {
    case TALI_FORCE_SCOPE_SPEEDS:
    case TALI_FORCE_SCOPE_BODIES:
        return true;
    case TALI_FORCE_SCOPE_COORDINATE:
        return tal_body_qdot_is_u(forces->matter, facts_of(element).mobility.body);
    default:
        return false;
    }
}

void tali_force_lanes_refusal(const tal_forces *forces, char text[], size_t size)
{
    int num_gravity = 0;
    text[0] = '\0';
    if (forces->num_chunks > 0 || forces->paths.num > 0) {
        (void)snprintf(text, size,
                       forces->paths.num > 0 ? "there are paths" : "forces are applied in chunks");
        return;
    }
    for (int i = 0; i < forces->num_elements && text[0] == '\0'; ++i) {
        const tali_force *const element = &forces->elements[i];
        const bool is_gravity = tali_force_is_gravity(element);
        num_gravity += is_gravity;
        if (num_gravity > 1) {
            (void)snprintf(text, size, "'%s' is a second gravity", element->name);
        } else if (!is_gravity && (!is_local(forces, element) || element->is_tracked)) {
            const bool is_control = built_in(element) != NULL && is_driven(forces, element);
            (void)snprintf(text, size, "force '%s' is of kind '%s'%s%s", element->name,
                           element->ops.name, element->is_tracked ? ", and tracked" : "",
                           is_control ? ", and driven" : "");
        }
    }
}

// --- creation ---

static void list_element(tali_force_lanes *it, const tali_force_call *call)
{
    const tali_force *const element = &it->forces->elements[call->element];
    if (tali_force_is_gravity(element)) {
        it->gravity = element;
        it->gravity_at = it->num_local;
        return;
    }
    local_element *const local = &it->local[it->num_local++];
    *local = (local_element){.call = call, .needs = element->ops.needs};
    if (built_in(element)->kind->scope != TALI_FORCE_SCOPE_BODIES) return;
    const tali_force_facts facts = facts_of(element);
    local->bodies[0] = facts.bodies[0].i;
    local->bodies[1] = facts.bodies[1].i;
    local->num_bodies = local->bodies[0] == local->bodies[1] ? 1 : 2;
}

static tal_status take_memory(tali_force_lanes *it, tal_error *err)
{
    const tal_forces *const forces = it->forces;
    const size_t n = (size_t)forces->num_bodies;
    const size_t f = ((size_t)forces->nu + 1) * (size_t)it->width * sizeof(double);
    const tali_piece pieces[] = {
        {&it->local, ((size_t)forces->num_elements + 1) * sizeof *it->local},
        {&it->X, n * sizeof *it->X},
        {&it->V, n * sizeof *it->V},
        {&it->F, n * sizeof *it->F},
        {&it->f[TAL_FORCE_NEEDS_ALL], f},
        {&it->f[TAL_FORCE_NEEDS_Q], f},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    return it->block != NULL ? TAL_OK : TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
}

tal_status tali_force_lanes_create(const tal_forces *forces, tali_matter_lanes *lanes,
                                   tali_force_lanes **out, tal_error *err)
{
    *out = NULL;
    tali_force_lanes *it = tali_alloc(&forces->allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for lanes");
    it->forces = forces;
    it->lanes = lanes;
    it->allocator = forces->allocator;
    it->width = tali_matter_lanes_width(lanes);
    const tal_status st = take_memory(it, err);
    if (st != TAL_OK) {
        tali_force_lanes_destroy(it);
        return st;
    }
    for (int k = 0; k < forces->num_elements; ++k) {
        list_element(it, &forces->order[k]);
    }
    for (int lane = 0; lane < it->width; ++lane) {
        it->rows[lane] = it->f[TAL_FORCE_NEEDS_ALL] + (size_t)lane * (size_t)forces->nu;
    }
    *out = it;
    return TAL_OK;
}

void tali_force_lanes_destroy(tali_force_lanes *it)
{
    if (it == NULL) return;
    const tal_allocator allocator = it->allocator;
    tali_free(&allocator, it->block, it->block_bytes);
    tali_free(&allocator, it, sizeof *it);
}

// --- States ---

void tali_force_lanes_seat(tali_force_lanes *it, int lane, tal_state *state)
{
    const tal_forces *const forces = it->forces;
    force_seat *const seat = &it->seats[lane];
    seat->state = state;
    seat->enabled = tali_forces_enabled(forces, state);
    seat->context = tali_force_context(forces, state, TAL_STAGE_TIME);
    seat->context.poses = (tal_bodies_view){(const char *)it->X, sizeof *it->X, forces->num_bodies};
    seat->context.velocities =
        (tal_bodies_view){(const char *)it->V, sizeof *it->V, forces->num_bodies};
    if (it->gravity == NULL) return;
    tal_vec3 g;
    const tali_weight *const weights =
        tali_force_weights_of(it->gravity, forces->system, state, &g);
    if (!seat->enabled[it->gravity - forces->elements]) g = TAL_VEC3_ZERO;
    tali_matter_lanes_set_weights(it->lanes, lane, weights, g);
}

// --- applying ---

static bool apply_in_lane(tali_force_lanes *it, const local_element *local, int lane)
{
    const force_seat *const seat = &it->seats[lane];
    const tali_force_call *const call = local->call;
    if (!seat->enabled[call->element]) return true;
    const bool is_of_q = local->needs == TAL_FORCE_NEEDS_Q;
    const tali_matter_load sum = is_of_q ? TALI_MATTER_LOAD_OF_Q : TALI_MATTER_LOAD_OF_ALL;
    for (int k = 0; k < local->num_bodies; ++k) {
        const int b = local->bodies[k];
        tali_matter_lanes_look(it->lanes, lane, b, &it->X[b], &it->V[b]);
        it->F[b] = tali_matter_lanes_load(it->lanes, sum, lane, b);
    }
    const tal_force_context told = tali_force_context_for(&seat->context, local->needs);
    double *const f = it->f[local->needs] + (size_t)lane * (size_t)it->forces->nu;
    const tal_status st = call->apply(call->self, &told, it->F, f);
    for (int k = 0; k < local->num_bodies; ++k) {
        const int b = local->bodies[k];
        tali_matter_lanes_set_load(it->lanes, sum, lane, b, it->F[b]);
    }
    return st == TAL_OK;
}

// Elements read q, u and t from the State of their lane.
static bool tell_state(tal_state *state, double t, const double y[])
{
    double *const slots = tali_state_upd_ty(state, t);
    if (slots == NULL) return false;
    memcpy(slots, y, (size_t)tal_state_ny(state) * sizeof *slots);
    return true;
}

// As a State does: those that need all, then those of q, each in their order, and the sums added.
const double *const *tali_force_lanes_apply(tali_force_lanes *it, const double t[],
                                            const double *const y[], bool good[])
{
    const size_t n = (size_t)it->forces->nu * (size_t)it->width;
    double *const all = it->f[TAL_FORCE_NEEDS_ALL], *const of_q = it->f[TAL_FORCE_NEEDS_Q];
    memset(all, 0, n * sizeof *all);
    memset(of_q, 0, n * sizeof *of_q);
    for (int lane = 0; lane < it->width && it->num_local > 0; ++lane) {
        good[lane] = good[lane] && tell_state(it->seats[lane].state, t[lane], y[lane]);
    }
    for (int k = 0; k <= it->num_local; ++k) {
        if (it->gravity != NULL && k == it->gravity_at) tali_matter_lanes_weigh(it->lanes);
        for (int lane = 0; lane < it->width && k < it->num_local; ++lane) {
            good[lane] = good[lane] && apply_in_lane(it, &it->local[k], lane);
        }
    }
    for (size_t i = 0; i < n; ++i) {
        all[i] += of_q[i];
    }
    return it->rows;
}
