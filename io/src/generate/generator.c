// Functions of a model: recorded in every way that there is, the cheapest kept.
#include "error_internal.h"

#include "generate/generate_function.h"

#include <talus/io/file.h>

#include <stdio.h>

struct tal_generator {
    tal_allocator allocator;
    tali_generate_function *functions;
    int num, capacity;
    int nq, nu;
    char prefix[TALI_GENERATE_NAME];
    tali_generate_style style;
    tali_scene_bytes about; ///< the names of q and u, as comments
};

// A model with its masses where they are, and where they cost least.
enum {
    PLAIN,
    MOVED,
    NUM_TREES
};

typedef struct making {
    tal_generator *gen;
    const tal_generator_def *def;
    const tal_forces *forces;
    tali_generate_tree trees[NUM_TREES];
    int first_tree, num_trees; ///< those that are tried
    tal_error *err;
} making;

// A function being recorded: the nodes of its arguments.
typedef struct recording {
    const making *make;
    tali_generate_function *f;
    tali_generate_record record;
    int nq, nu;
    int *q, *u, *x; ///< nodes: coordinates, speeds, udot or forces
    int *out;       ///< room for results
    void *block;
    size_t bytes;
} recording;

// One way to record a function.
typedef struct way {
    const char *name;
    void (*record)(recording *it);
} way;

/// A function that can be asked for.
typedef struct function_kind {
    int bit;
    const char *name, *about;
    bool has_u;
    int results;   ///< matrices of nu x nu; 0: one vector
    const char *x; ///< name of the third argument; NULL: none
    way ways[2];
} function_kind;

// ---- derivatives --------------------------------------------------------------------------------

// qdot of a ball for one of its speeds, from its quaternion: (-v, w + v~) / 2 (manual sec. 10.1,
// with u in the frame before the rotation).
static void quaternion_rates(tali_graph *g, const int q[4], int k, int rates[4])
{
    const int half = tali_graph_constant(g, 0.5), i = (k + 1) % 3, j = (k + 2) % 3;
    rates[0] = tali_generate_neg(g, tali_generate_mul(g, half, q[1 + k]));
    rates[1 + k] = tali_generate_mul(g, half, q[0]);
    rates[1 + i] = tali_generate_neg(g, tali_generate_mul(g, half, q[1 + j])); // e_k x v
    rates[1 + j] = tali_generate_mul(g, half, q[1 + i]);
}

// The same for body-XYZ angles: w = (qdot0, 0, 0) + Rx (0, qdot1, 0) + Rx Ry (0, 0, qdot2).
static void angle_rates(tali_graph *g, const int q[3], int k, int rates[3])
{
    const int c0 = tali_graph_make(g, TALI_GRAPH_COS, q[0], 0);
    const int s0 = tali_graph_make(g, TALI_GRAPH_SIN, q[0], 0);
    const int c1 = tali_graph_make(g, TALI_GRAPH_COS, q[1], 0);
    const int s1 = tali_graph_make(g, TALI_GRAPH_SIN, q[1], 0);
    const int wx = k == 0 ? TALI_GRAPH_ONE : TALI_GRAPH_ZERO;
    const int across = k == 0 ? TALI_GRAPH_ZERO : k == 1 ? tali_generate_neg(g, s0) : c0;
    rates[1] = k == 0 ? TALI_GRAPH_ZERO : k == 1 ? c0 : s0;
    rates[2] = tali_generate_div(g, across, c1);
    rates[0] = tali_generate_sub(g, wx, tali_generate_mul(g, s1, rates[2]));
}

// How q changes along the k-th speed of a link.
static void rates_along(const recording *it, const tali_generate_link *link, int k, int rates[])
{
    tali_graph *const g = it->record.g;
    int own[4] = {0};
    if (link->kind == TALI_GENERATE_AXIAL) {
        rates[it->q[link->q]] = TALI_GRAPH_ONE;
        return;
    }
    if (link->has_angles) {
        angle_rates(g, &it->q[link->q], k, own);
    } else {
        quaternion_rates(g, &it->q[link->q], k, own);
    }
    for (int i = 0; i < (link->has_angles ? 3 : 4); ++i) {
        rates[it->q[link->q + i]] = own[i];
    }
}

// Derivatives of f by directions of motion into `dq` and by u into `du`, column by column. f was
// recorded with `num` nodes.
static void differentiate(recording *it, const int f[], int num, int dq[], int du[])
{
    tali_graph *const g = it->record.g;
    const size_t bytes = (size_t)num * sizeof(int);
    int *const rates = tali_alloc(&g->allocator, bytes);
    if (rates == NULL) {
        g->no_memory = true;
        return;
    }
    for (int i = 0; i < it->record.tree->num_links; ++i) {
        const tali_generate_link *const link = &it->record.tree->links[i];
        for (int k = 0; k < tali_generate_link_nu(link); ++k) {
            const int slot = link->u + k;
            memset(rates, 0, bytes);
            rates_along(it, link, k, rates);
            tali_graph_differentiate(g, f, it->nu, rates, num, dq + (ptrdiff_t)slot * it->nu);
            memset(rates, 0, bytes);
            rates[it->u[slot]] = TALI_GRAPH_ONE;
            tali_graph_differentiate(g, f, it->nu, rates, num, du + (ptrdiff_t)slot * it->nu);
        }
    }
    tali_free(&g->allocator, rates, bytes);
}

static void record_ID_derivatives(recording *it)
{
    const int nn = it->nu * it->nu;
    int *const f = it->out + 3 * nn;
    tali_generate_inverse_dynamics(&it->record, it->x, f);
    differentiate(it, f, it->record.g->num, it->out, it->out + nn);
    tali_graph_add_outputs(it->record.g, "dq", it->out, nn);
    tali_graph_add_outputs(it->record.g, "du", it->out + nn, nn);
}

// -M^-1 (derivatives of inverse dynamics at this udot), and M^-1.
static void record_FD_derivatives(recording *it)
{
    tali_graph *const g = it->record.g;
    const int nu = it->nu, nn = nu * nu;
    int *const udot = it->out + 3 * nn, *const f = udot + nu;
    tali_generate_forward_by_mass(&it->record, it->x, udot);
    for (int k = 0; k < nu; ++k) {
        udot[k] = tali_graph_make(g, TALI_GRAPH_HOLD, udot[k], 0);
    }
    tali_generate_inverse_dynamics(&it->record, udot, f);
    differentiate(it, f, g->num, it->out, it->out + nn);
    for (int i = 0; i < 2 * nn; ++i) {
        it->out[i] = tali_generate_neg(g, it->out[i]);
    }
    for (int i = 0; i < nn; ++i) {
        it->out[2 * nn + i] = i % (nu + 1) == 0 ? TALI_GRAPH_ONE : TALI_GRAPH_ZERO;
    }
    tali_generate_solve_mass(&it->record, it->out, 3 * nu);
    tali_graph_add_outputs(g, "dq", it->out, nn);
    tali_graph_add_outputs(g, "du", it->out + nn, nn);
    tali_graph_add_outputs(g, "Minv", it->out + 2 * nn, nn);
}

// ---- the other functions ------------------------------------------------------------------------

static void record_forward_by_mass(recording *it)
{
    tali_generate_forward_by_mass(&it->record, it->x, it->out);
    tali_graph_add_outputs(it->record.g, "udot", it->out, it->nu);
}

static void record_forward_by_bodies(recording *it)
{
    tali_generate_forward_by_bodies(&it->record, it->x, it->out);
    tali_graph_add_outputs(it->record.g, "udot", it->out, it->nu);
}

static void record_inverse(recording *it)
{
    tali_generate_inverse_dynamics(&it->record, it->x, it->out);
    tali_graph_add_outputs(it->record.g, "f", it->out, it->nu);
}

static void record_mass(recording *it)
{
    tali_generate_mass_matrix(&it->record, it->out);
    tali_graph_add_outputs(it->record.g, "M", it->out, it->nu * it->nu);
}

static const function_kind kinds[] = {
    {TAL_GENERATE_FORWARD_DYNAMICS,
     "forward_dynamics",
     "udot for forces f along u, the model's own forces included.",
     true,
     0,
     "f",
     {{"a factor of the mass matrix", record_forward_by_mass},
      {"articulated bodies", record_forward_by_bodies}}},
    {TAL_GENERATE_INVERSE_DYNAMICS,
     "inverse_dynamics",
     "Forces f along u for udot, besides the model's own forces.",
     true,
     0,
     "udot",
     {{"Newton and Euler", record_inverse}, {NULL, NULL}}},
    {TAL_GENERATE_MASS_MATRIX,
     "mass_matrix",
     "M, column-major, both triangles.",
     false,
     1,
     NULL,
     {{"composite bodies", record_mass}, {NULL, NULL}}},
    {TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES,
     "inverse_dynamics_derivatives",
     "Derivatives of f by directions of motion (q moves as speed j would move it: column j) and "
     "by u.",
     true,
     3,
     "udot",
     {{"derivatives of Newton and Euler", record_ID_derivatives}, {NULL, NULL}}},
    {TAL_GENERATE_FORWARD_DYNAMICS_DERIVATIVES,
     "forward_dynamics_derivatives",
     "Derivatives of udot by directions of motion, by u, and by f: M^-1.",
     true,
     3,
     "f",
     {{"derivatives of Newton and Euler, M factored", record_FD_derivatives}, {NULL, NULL}}}};

// ---- recording ----------------------------------------------------------------------------------

static void take_inputs(recording *it, const function_kind *kind)
{
    tali_graph *const g = &it->f->graph;
    const int q = tali_graph_add_inputs(g, "q", it->nq);
    for (int i = 0; i < it->nq; ++i) {
        it->q[i] = tali_graph_input(g, q, i);
    }
    const int u = kind == NULL || !kind->has_u ? -1 : tali_graph_add_inputs(g, "u", it->nu);
    const int x = kind == NULL || kind->x == NULL ? -1 : tali_graph_add_inputs(g, kind->x, it->nu);
    for (int i = 0; i < it->nu; ++i) {
        it->u[i] = u < 0 ? TALI_GRAPH_ZERO : tali_graph_input(g, u, i);
        it->x[i] = x < 0 ? TALI_GRAPH_ZERO : tali_graph_input(g, x, i);
    }
}

// Begin a function: room for its nodes, and the nodes of what it is given. False: no memory.
static bool begin(recording *it, const making *make, const function_kind *kind, int tree,
                  tali_generate_function *f)
{
    const tali_generate_tree *const model = &make->trees[tree];
    *it = (recording){.make = make, .f = f, .nq = model->nq, .nu = model->nu};
    const size_t nu = (size_t)model->nu, room = 3 * nu * nu + 8 * nu;
    const tali_piece pieces[] = {{&it->q, (size_t)model->nq * sizeof *it->q},
                                 {&it->u, nu * sizeof *it->u},
                                 {&it->x, nu * sizeof *it->x},
                                 {&it->out, room * sizeof *it->out}};
    it->block = tali_alloc_pieces(&make->gen->allocator, pieces, 4, &it->bytes);
    if (it->block == NULL) return false;
    tali_graph_begin(&f->graph, &make->gen->allocator);
    take_inputs(it, kind);
    it->record = (tali_generate_record){.g = &f->graph,
                                        .tree = model,
                                        .forces = make->forces,
                                        .q = it->q,
                                        .u = it->u,
                                        .allocator = make->gen->allocator};
    return tali_generate_begin(&it->record);
}

static bool end(recording *it)
{
    tali_graph *const g = &it->f->graph;
    tali_generate_end(&it->record);
    tali_free(&it->make->gen->allocator, it->block, it->bytes);
    if (it->record.no_memory) g->no_memory = true;
    tali_graph_prune(g);
    if (!it->make->def->no_simplify) tali_graph_simplify(g);
    return !g->no_memory;
}

// Divisions take some four times as long as the rest.
static int cost_of(tali_graph *g)
{
    const tali_graph_count n = tali_graph_count_of(g);
    return n.mul + n.add + 4 * (n.div + n.sqrt);
}

static bool record_one(const making *make, const function_kind *kind, const way *by, int tree,
                       tali_generate_function *f)
{
    recording it;
    bool is_done = begin(&it, make, kind, tree, f);
    if (is_done) {
        by->record(&it);
        (void)snprintf(f->method, sizeof f->method, "%s%s", by->name,
                       tree == MOVED ? ", masses moved to parents" : "");
        is_done = end(&it);
    }
    if (!is_done) tali_graph_end(&f->graph);
    return is_done;
}

static tal_status no_memory(tal_error *err)
{
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the code of the model.");
}

static tali_generate_function *next_function(tal_generator *gen)
{
    if (!tali_grow(&gen->allocator, (void **)&gen->functions, gen->num, &gen->capacity,
                   sizeof *gen->functions)) {
        return NULL;
    }
    return &gen->functions[gen->num];
}

static bool finish_function(tal_generator *gen, tali_generate_function *f)
{
    const tali_graph_count n = tali_graph_count_of(&f->graph);
    tali_generate_parts parts;
    if (f->graph.no_memory || !tali_generate_cut(&f->graph, gen->style.max_statements, &parts)) {
        return false;
    }
    f->count = (tal_operation_count){.mul = n.mul,
                                     .add = n.add,
                                     .div = n.div,
                                     .sqrt = n.sqrt,
                                     .sin = n.sin,
                                     .cos = n.cos,
                                     .statements = parts.num_statements,
                                     .stack = parts.num_slots};
    tali_generate_parts_free(&parts);
    ++gen->num;
    return true;
}

// Record a function in all ways, and keep the cheapest.
static tal_status add_function(const making *make, const function_kind *kind)
{
    tal_generator *const gen = make->gen;
    tali_generate_function best = {0};
    bool has_one = false;
    for (int w = 0; w < 2 && kind->ways[w].record != NULL; ++w) {
        for (int tree = make->first_tree; tree < make->first_tree + make->num_trees; ++tree) {
            tali_generate_function f = {0};
            if (!record_one(make, kind, &kind->ways[w], tree, &f)) {
                tali_graph_end(&best.graph);
                return no_memory(make->err);
            }
            const bool is_better = !has_one || cost_of(&f.graph) < cost_of(&best.graph);
            const bool was_counted = !f.graph.no_memory && !best.graph.no_memory;
            tali_graph_end(is_better ? &best.graph : &f.graph);
            if (is_better) best = f;
            has_one = true;
            if (was_counted) continue;
            tali_graph_end(&best.graph);
            return no_memory(make->err);
        }
    }
    tali_generate_function *const to = next_function(gen);
    if (to == NULL) {
        tali_graph_end(&best.graph);
        return no_memory(make->err);
    }
    *to = best;
    to->about = kind->about;
    (void)snprintf(to->name, sizeof to->name, "%.31s%s", gen->prefix, kind->name);
    if (finish_function(gen, to)) return TAL_OK;
    tali_graph_end(&to->graph);
    return no_memory(make->err);
}

static tal_status add_jacobian(const making *make, const tal_generator_station *station)
{
    tal_generator *const gen = make->gen;
    tali_generate_function *const to = next_function(gen);
    recording it;
    if (to == NULL) return no_memory(make->err);
    *to = (tali_generate_function){
        .about = "J, column-major 6 x nu: the angular velocity of the body, then the velocity of "
                 "the station, in ground.",
        .method = "axes and distances in ground"};
    (void)snprintf(to->name, sizeof to->name, "%.31sjacobian_%.31s", gen->prefix, station->name);
    bool is_done = begin(&it, make, NULL, PLAIN, to);
    if (is_done) {
        tali_generate_jacobian(&it.record, station->station.body.i, station->station.p_BS, it.out);
        tali_graph_add_outputs(&to->graph, "J", it.out, 6 * it.nu);
        is_done = end(&it);
    }
    if (is_done && finish_function(gen, to)) return TAL_OK;
    tali_graph_end(&to->graph);
    return no_memory(make->err);
}

// ---- checks -------------------------------------------------------------------------------------

static bool is_identifier(const char *text, size_t most)
{
    if (text == NULL || strlen(text) > most) return false;
    for (size_t i = 0; text[i] != 0; ++i) {
        const char c = text[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) return false;
    }
    return text[0] != 0;
}

// Each thing that a caller can get wrong, with a sentence of its own.
static tal_status check_def(const tal_matter *matter, const tal_generator_def *def, tal_error *err)
{
    if (def->prefix != NULL && !is_identifier(def->prefix, 31)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the prefix '%s' should be letters, digits and _, at most 31, and not "
                         "begin with a digit.",
                         def->prefix);
    }
    if (def->functions <= 0 || def->functions > TAL_GENERATE_ALL) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the functions %d are not bits of %d.",
                         def->functions, TAL_GENERATE_ALL);
    }
    if (def->max_statements < 50 || def->max_statements > 100000) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%d statements in a part are not in 50:100000.",
                         def->max_statements);
    }
    for (int i = 0; i < def->num_stations; ++i) {
        const tal_generator_station *const s = &def->stations[i];
        if (!is_identifier(s->name, 31)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                             "the name of station %d should be letters, digits and _, at most 31.",
                             i);
        }
        if (s->station.body.i < 0 || s->station.body.i >= tal_matter_num_bodies(matter)) {
            return TALI_FAIL(err, TAL_ERR_BAD_INDEX, "station '%s' is on body %d, of %d.", s->name,
                             s->station.body.i, tal_matter_num_bodies(matter));
        }
        if (!tal_v3_is_finite(s->station.p_BS)) {
            return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "station '%s' is not at a finite place.",
                             s->name);
        }
    }
    return TAL_OK;
}

tal_generator_def tal_generator_def_default(void)
{
    const tal_generator_def def = {.allocator = tal_allocator_default(),
                                   .prefix = "model_",
                                   .functions = TAL_GENERATE_FORWARD_DYNAMICS |
                                                TAL_GENERATE_INVERSE_DYNAMICS |
                                                TAL_GENERATE_MASS_MATRIX,
                                   .max_statements = 400};
    return def;
}

// ---- making -------------------------------------------------------------------------------------

static tal_status make_trees(making *make, const tal_matter *matter, tal_state *state)
{
    const bool moves = !make->def->no_transfer;
    make->num_trees = moves ? NUM_TREES : 1;
    for (int i = 0; i < NUM_TREES; ++i) {
        const tal_status st = tali_generate_tree_make(&make->trees[i], matter, state,
                                                      &make->gen->allocator, make->err);
        if (st != TAL_OK) return st;
        tali_generate_place_frames(&make->trees[i]);
    }
    tali_generate_transfer(&make->trees[MOVED]);
    make->gen->nq = make->trees[PLAIN].nq;
    make->gen->nu = make->trees[PLAIN].nu;
    return TAL_OK;
}

// A name of a model as a comment: a \ at the end would go on with the next line.
static void put_name(tali_scene_bytes *out, const char *name)
{
    for (size_t i = 0; name[i] != 0; ++i) {
        tali_scene_put(out, name[i] == '\\' || name[i] == '?' ? "_" : &name[i], 1);
    }
}

// Lines of comments that say what each entry of q and u is.
static void put_names(tal_generator *gen, const tal_matter *matter, const tal_state *state)
{
    tali_scene_bytes *const out = &gen->about;
    char text[TAL_COORDINATE_NAME_SIZE + 64];
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        char name[TAL_COORDINATE_NAME_SIZE];
        for (int i = 0; i < tal_body_nq(matter, state, body); ++i) {
            const int slot = tal_body_q_start(matter, state, body) + i;
            (void)tal_body_coordinate_name(matter, state, body, i, name);
            (void)snprintf(text, sizeof text, "// q[%d] ", slot);
            tali_scene_put_text(out, text);
            put_name(out, name);
            (void)snprintf(text, sizeof text, " [%s]\n", tal_body_q_unit(matter, state, body, i));
            tali_scene_put_text(out, text);
        }
        for (int i = 0; i < tal_body_nu(matter, body); ++i) {
            (void)tal_body_speed_name(matter, state, body, i, name);
            (void)snprintf(text, sizeof text, "// u[%d] ", tal_body_u_start(matter, body) + i);
            tali_scene_put_text(out, text);
            put_name(out, name);
            (void)snprintf(text, sizeof text, " [%s]\n", tal_body_u_unit(matter, state, body, i));
            tali_scene_put_text(out, text);
        }
    }
}

static tal_status add_functions(making *make)
{
    const tal_generator_def *const def = make->def;
    tal_status st = TAL_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && st == TAL_OK; ++i) {
        if ((def->functions & kinds[i].bit) != 0) st = add_function(make, &kinds[i]);
    }
    for (int i = 0; i < def->num_stations && st == TAL_OK; ++i) {
        if ((def->functions & TAL_GENERATE_JACOBIAN) != 0) {
            st = add_jacobian(make, &def->stations[i]);
        }
    }
    return st;
}

static tal_generator *new_generator(const tal_generator_def *def, const tal_allocator *allocator)
{
    tal_generator *const gen = tali_alloc(allocator, sizeof *gen);
    if (gen == NULL) return NULL;
    gen->allocator = *allocator;
    gen->about.allocator = *allocator;
    gen->style = (tali_generate_style){.type = def->single_precision ? "float" : "double",
                                       .suffix = def->single_precision ? "f" : "",
                                       .max_statements = def->max_statements};
    (void)snprintf(gen->prefix, sizeof gen->prefix, "%s",
                   def->prefix != NULL ? def->prefix : "model_");
    return gen;
}

// Check what is asked for, record it, and forget the trees.
tal_status tal_generator_create(const tal_matter *matter, const tal_forces *forces,
                                tal_state *state, const tal_generator_def *def, tal_generator **out,
                                tal_error *err)
{
    const tal_generator_def standard = tal_generator_def_default();
    tal_allocator allocator;
    if (out != NULL) *out = NULL;
    if (err != NULL) *err = (tal_error){0};
    if (matter == NULL || state == NULL || out == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "matter, state and out must not be NULL");
    }
    if (def == NULL) def = &standard;
    if (tali_alloc_choose(&def->allocator, &allocator, __func__) != TAL_OK) return TAL_ERR_NULL;
    if (def->num_stations > 0 && def->stations == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "%d stations are NULL", def->num_stations);
    }
    tal_status st = check_def(matter, def, err);
    if (st != TAL_OK) return st;
    st = tal_system_realize(tal_matter_system(matter), state, TAL_STAGE_POSITION);
    if (st != TAL_OK) {
        if (err != NULL) *err = *tal_state_error(state);
        return st;
    }
    if (forces != NULL) st = tali_generate_check_forces(forces, state, err);
    if (st != TAL_OK) return st;
    making make = {.def = def, .forces = forces, .err = err};
    make.gen = new_generator(def, &allocator);
    if (make.gen == NULL) return no_memory(err);
    st = make_trees(&make, matter, state);
    if (st == TAL_OK) st = add_functions(&make);
    if (st == TAL_OK) put_names(make.gen, matter, state);
    if (st == TAL_OK && make.gen->about.failed) st = no_memory(err);
    for (int i = 0; i < NUM_TREES; ++i) {
        tali_generate_tree_free(&make.trees[i]);
    }
    if (st == TAL_OK) *out = make.gen;
    if (st != TAL_OK) tal_generator_destroy(make.gen);
    return st;
}

void tal_generator_destroy(tal_generator *gen)
{
    if (gen == NULL) return;
    const tal_allocator allocator = gen->allocator;
    for (int i = 0; i < gen->num; ++i) {
        tali_graph_end(&gen->functions[i].graph);
    }
    tali_free(&allocator, gen->functions, (size_t)gen->capacity * sizeof *gen->functions);
    tali_scene_bytes_free(&gen->about);
    tali_free(&allocator, gen, sizeof *gen);
}

// ---- asking -------------------------------------------------------------------------------------

static const tali_generate_function *function_at(const tal_generator *gen, int i, const char *where)
{
    if (gen != NULL && i >= 0 && i < gen->num) return &gen->functions[i];
    (void)tali_breach(gen == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, where,
                      "there is no function %d", i);
    return NULL;
}

int tal_generator_num(const tal_generator *gen)
{
    if (gen != NULL) return gen->num;
    (void)TALI_BREACH(TAL_ERR_NULL, "the generator is NULL");
    return -1;
}

const char *tal_generator_name(const tal_generator *gen, int function)
{
    const tali_generate_function *const f = function_at(gen, function, __func__);
    return f != NULL ? f->name : "";
}

tal_operation_count tal_generator_count(const tal_generator *gen, int function)
{
    const tal_operation_count none = {-1, -1, -1, -1, -1, -1, -1, -1};
    const tali_generate_function *const f = function_at(gen, function, __func__);
    return f != NULL ? f->count : none;
}

const char *tal_generator_method(const tal_generator *gen, int function)
{
    const tali_generate_function *const f = function_at(gen, function, __func__);
    return f != NULL ? f->method : "";
}

int tal_generator_num_results(const tal_generator *gen, int function)
{
    const tali_generate_function *const f = function_at(gen, function, __func__);
    return f != NULL ? f->graph.num_results : -1;
}

int tal_generator_nq(const tal_generator *gen)
{
    if (gen != NULL) return gen->nq;
    (void)TALI_BREACH(TAL_ERR_NULL, "the generator is NULL");
    return -1;
}

int tal_generator_nu(const tal_generator *gen)
{
    if (gen != NULL) return gen->nu;
    (void)TALI_BREACH(TAL_ERR_NULL, "the generator is NULL");
    return -1;
}

tal_status tal_generator_evaluate(const tal_generator *gen, int function, const double q[],
                                  const double u[], const double x[], double results[])
{
    const tali_generate_function *const f = function_at(gen, function, __func__);
    const double *const inputs[] = {q, u, x};
    if (f == NULL) return gen == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX;
    for (int i = 0; i < f->graph.num_inputs; ++i) {
        if (inputs[i] == NULL && f->graph.inputs[i].size > 0) {
            return TALI_BREACH(TAL_ERR_NULL, "the argument %s must not be NULL",
                               f->graph.inputs[i].name);
        }
    }
    if (results == NULL) return TALI_BREACH(TAL_ERR_NULL, "results must not be NULL");
    const size_t bytes = (size_t)f->graph.num * sizeof(double);
    double *const work = tali_alloc(&gen->allocator, bytes);
    if (work == NULL) return TAL_ERR_NO_MEMORY;
    tali_graph_evaluate(&f->graph, inputs, results, work);
    tali_free(&gen->allocator, work, bytes);
    return TAL_OK;
}

// ---- files --------------------------------------------------------------------------------------

static void put(tali_scene_bytes *out, const char *text)
{
    tali_scene_put_text(out, text);
}

static void put_head(tali_scene_bytes *out)
{
    put(out, "// Generated by talus ");
    put(out, tal_version_string());
    put(out, " for one model. Results for arguments that are not finite are unspecified.\n");
}

// The count of one function, as a comment above its prototype.
static void put_count(tali_scene_bytes *out, const tali_generate_function *f)
{
    char text[256];
    const tal_operation_count *const n = &f->count;
    put(out, "// ");
    put(out, f->about);
    (void)snprintf(text, sizeof text,
                   "\n// %d mul, %d add, %d div, %d sqrt, %d sin, %d cos; %d numbers of stack; by ",
                   n->mul, n->add, n->div, n->sqrt, n->sin, n->cos, n->stack);
    put(out, text);
    put(out, f->method);
    put(out, ".\n");
}

// A name in capitals, as headers have them.
static void put_capitals(const tal_generator *gen, tali_scene_bytes *out, const char *name)
{
    char text[TALI_GENERATE_NAME + 16];
    (void)snprintf(text, sizeof text, "%s%s", gen->prefix, name);
    for (size_t i = 0; text[i] != 0; ++i) {
        if (text[i] >= 'a' && text[i] <= 'z') text[i] = (char)(text[i] - 'a' + 'A');
    }
    put(out, text);
}

static void put_sizes(const tal_generator *gen, tali_scene_bytes *out)
{
    char text[64];
    put(out, "enum { ");
    put_capitals(gen, out, "NQ");
    (void)snprintf(text, sizeof text, " = %d, ", gen->nq);
    put(out, text);
    put_capitals(gen, out, "NU");
    (void)snprintf(text, sizeof text, " = %d };\n", gen->nu);
    put(out, text);
}

static void put_header(const tal_generator *gen, tali_scene_bytes *out)
{
    put_head(out);
    put(out, "#ifndef "), put_capitals(gen, out, "GENERATED_H");
    put(out, "\n#define "), put_capitals(gen, out, "GENERATED_H"), put(out, "\n\n");
    put(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    put(out, "// Arrays must not overlap. Quaternions, w first, must have length one.\n//\n");
    tali_scene_put(out, gen->about.at, gen->about.size);
    put_sizes(gen, out);
    for (int i = 0; i < gen->num; ++i) {
        put(out, "\n");
        put_count(out, &gen->functions[i]);
        tali_generate_put_prototype(out, &gen->functions[i], &gen->style);
        put(out, ";\n");
    }
    put(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

static void put_code(const tal_generator *gen, const char *h_name, tali_scene_bytes *out)
{
    put_head(out);
    put(out, "#include \""), put(out, h_name), put(out, "\"\n\n#include <math.h>\n");
    for (int i = 0; i < gen->num; ++i) {
        put(out, "\n");
        tali_generate_put_function(out, &gen->functions[i], &gen->style);
    }
}

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

tal_status tal_generator_write(const tal_generator *gen, const char *c_path, const char *h_path,
                               tal_error *err)
{
    if (err != NULL) *err = (tal_error){0};
    if (gen == NULL || c_path == NULL || h_path == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "generator and paths must not be NULL");
    }
    tali_scene_bytes code = {.allocator = gen->allocator}, header = {.allocator = gen->allocator};
    put_code(gen, last_part(h_path), &code);
    put_header(gen, &header);
    tal_status st = TAL_OK;
    if (code.failed || header.failed) st = no_memory(err);
    if (st == TAL_OK) st = tal_file_write(c_path, code.at, code.size, err);
    if (st == TAL_OK) st = tal_file_write(h_path, header.at, header.size, err);
    tali_scene_bytes_free(&code);
    tali_scene_bytes_free(&header);
    return st;
}
