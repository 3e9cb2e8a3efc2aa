// Loops: which constraints depend on each other, which of their equations are too many, and speeds
// that determine the others (RBDA sec. 8.8 to 8.10).
//
//   quantity                       RBDA      here
//   rows of all constraints        K         G of matter, J here: scaled
//   independent speeds             y         chosen
//   u = G y, udot = G ydot + g     G, g      G, g
//
// Rows of J are rows of matter's G times unit changes of the speeds, and have length one: neither
// units nor the scale of an equation matter.
#include "alloc_internal.h"
#include "matter_facts_internal.h"

#include "problem/study_internal.h"

#include <talus/common/linalg.h>
#include <talus/study/loops.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// What others must leave of a row, as a share, for it to count.
static const double DEPENDENT = 1e-9;

struct tal_loops {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    void *block;
    size_t bytes;
    int nu, num_constraints, num_clusters;
    tal_loop_cluster *clusters; // [num_constraints] at most
    tal_loop_share *shares;     // [num_constraints]
    int *cluster_of;            // [nu]
    bool *is_free;              // [nu]
    int *root;                  // [nu] of the sets of speeds while they grow
    int *visits;                // [bodies]
    tal_error error_record;
};

/// J, and room to find ranks.
typedef struct rows {
    int m, nu;
    double *J;     // [m * nu] column by column
    double *units; // [nu] unit changes; 0 for speeds that are known
    int *owner;    // [m] constraints
    double *A;     // [nu * m]
    double *work;
    int *iwork, *columns; // [nu]
    bool *is_used;        // [max(m, nu)]
    void *block;
    size_t bytes;
} rows;

static double *entry(const rows *r, int i, int j)
{
    return r->J + (size_t)i + (size_t)j * (size_t)r->m;
}

// ---- structure

// The first speed of the set that a speed is in.
static int root_of(tal_loops *it, int speed)
{
    while (it->root[speed] != speed) {
        it->root[speed] = it->root[it->root[speed]];
        speed = it->root[speed];
    }
    return speed;
}

// Put the free speeds of a body into the set that `*first` is of; -1: into none yet.
static void join(tal_loops *it, int body, int *first)
{
    const int start = tal_body_u_start(it->matter, (tal_body_ix){body});
    for (int i = 0; i < tal_body_nu(it->matter, (tal_body_ix){body}); ++i) {
        if (!it->is_free[start + i]) continue;
        const int root = root_of(it, start + i);
        if (*first < 0) *first = root;
        it->root[root] = root_of(it, *first);
    }
}

// The joints between the bodies of a constraint: those that some of its bodies hang on, but not
// all of them. One of its speeds; -1: it has none.
static int join_path(tal_loops *it, const tali_matter_constraint_facts *facts)
{
    const int num_bodies = tal_matter_num_bodies(it->matter), num = facts->ops->num_bodies;
    int first = -1;
    memset(it->visits, 0, (size_t)num_bodies * sizeof *it->visits);
    for (int k = 0; k < num; ++k) {
        for (int b = facts->bodies[k]; b > 0;) {
            it->visits[b] += 1;
            b = tal_body_parent(it->matter, (tal_body_ix){b}).i;
        }
    }
    for (int b = 1; b < num_bodies; ++b) {
        const bool is_shared = num > 1 && it->visits[b] == num;
        if (it->visits[b] > 0 && !is_shared) join(it, b, &first);
    }
    for (int k = 0; k < facts->num_mobilities; ++k) {
        join(it, facts->mobility_bodies[k], &first);
    }
    return first;
}

static void find_free(tal_loops *it, const tal_state *state)
{
    for (int b = 1; b < tal_matter_num_bodies(it->matter); ++b) {
        const tal_body_ix body = {b};
        const int start = tal_body_u_start(it->matter, body);
        for (int i = 0; i < tal_body_nu(it->matter, body); ++i) {
            const tal_mobility mobility = {body, i};
            it->is_free[start + i] =
                tal_mobility_level(it->matter, state, mobility) == TAL_LEVEL_FREE;
        }
    }
}

// Sets of speeds become clusters in the order of their first constraints.
static void find_clusters(tal_loops *it, const tal_state *state)
{
    for (int i = 0; i < it->nu; ++i) {
        it->root[i] = i;
        it->cluster_of[i] = -1;
    }
    for (int c = 0; c < it->num_constraints; ++c) {
        const tal_constraint_ix constraint = {c};
        it->shares[c] = (tal_loop_share){.cluster = -1};
        if (!tal_constraint_is_enabled(it->matter, state, constraint)) continue;
        const tali_matter_constraint_facts facts =
            tali_matter_constraint_facts_of(it->matter, constraint);
        it->shares[c].cluster = join_path(it, &facts); // a speed, for now
    }
    for (int c = 0; c < it->num_constraints; ++c) {
        if (it->shares[c].cluster < 0) continue;
        const int root = root_of(it, it->shares[c].cluster);
        if (it->cluster_of[root] < 0) it->cluster_of[root] = it->num_clusters++;
        it->shares[c].cluster = it->cluster_of[root];
        it->clusters[it->cluster_of[root]].num_constraints += 1;
    }
    for (int i = 0; i < it->nu; ++i) {
        const int cluster = it->is_free[i] ? it->cluster_of[root_of(it, i)] : -1;
        it->cluster_of[i] = cluster; // a root keeps what it has
        if (cluster >= 0) it->clusters[cluster].num_speeds += 1;
    }
}

// ---- rows and ranks

static tal_status take_rows(const tal_loops *it, const tal_state *state, rows *r, tal_error *err)
{
    const tal_constraint_rows count = tal_matter_constraint_rows(it->matter, state);
    *r = (rows){.m = count.mp + count.mv + count.ma, .nu = it->nu};
    const size_t d = sizeof(double), m = (size_t)r->m, nu = (size_t)r->nu;
    tali_piece pieces[] = {
        {&r->J, m * nu * d},
        {&r->units, nu * d},
        {&r->owner, m * sizeof(int)},
        {&r->A, m * nu * d},
        {&r->work, tal_cod_work_size(r->nu, r->m) * d},
        {&r->iwork, tal_cod_iwork_size(r->nu, r->m) * sizeof(int)},
        {&r->columns, nu * sizeof(int)},
        {&r->is_used, (m + nu) * sizeof(bool)},
    };
    r->block =
        tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0], &r->bytes);
    if (r->block != NULL) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for %d equations of %d speeds", r->m,
                     r->nu);
}

// G with units of speeds, each row of length one.
static tal_status fill_rows(const tal_loops *it, tal_state *state, rows *r, tal_error *err)
{
    const tal_status st =
        tal_matter_calc_G(it->matter, state, TAL_G, tal_matrix_view(r->J, r->m, r->nu));
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
    const double *W =
        tal_state_weights(state, TAL_POOL_U) + tali_problem_u_start(it->system, state, it->matter);
    for (int j = 0; j < r->nu; ++j) {
        r->units[j] = it->is_free[j] ? 1.0 / W[j] : 0.0;
        for (int i = 0; i < r->m; ++i) {
            *entry(r, i, j) *= r->units[j];
        }
    }
    for (int i = 0; i < r->m; ++i) {
        double sum = 0.0;
        r->owner[i] = tal_matter_row_owner(it->matter, state, i).i;
        for (int j = 0; j < r->nu; ++j) {
            const double x = *entry(r, i, j);
            sum += x * x;
        }
        for (int j = 0; j < r->nu && sum > 0.0; ++j) {
            *entry(r, i, j) /= sqrt(sum);
        }
    }
    return TAL_OK;
}

// The rank of a cluster's rows without those of one constraint (-1: with all), as columns of A.
static int rank_without(const tal_loops *it, rows *r, int cluster, int without)
{
    int width = 0, num_speeds = 0;
    for (int j = 0; j < r->nu; ++j) {
        if (it->cluster_of[j] == cluster) r->columns[num_speeds++] = j;
    }
    for (int i = 0; i < r->m; ++i) {
        if (it->shares[r->owner[i]].cluster != cluster || r->owner[i] == without) continue;
        for (int k = 0; k < num_speeds; ++k) {
            r->A[(size_t)k + (size_t)width * (size_t)num_speeds] = *entry(r, i, r->columns[k]);
        }
        ++width;
    }
    if (width == 0) return 0;
    tal_cod cod;
    const tal_matrix A = tal_matrix_view(r->A, num_speeds, width);
    return tal_cod_factor(&cod, A, DEPENDENT, r->work, r->iwork, NULL) == TAL_OK ? cod.rank : 0;
}

static void find_ranks(tal_loops *it, rows *r)
{
    for (int i = 0; i < r->m; ++i) {
        tal_loop_share *share = &it->shares[r->owner[i]];
        share->rows += 1;
        if (share->cluster >= 0) it->clusters[share->cluster].rows += 1;
    }
    for (int k = 0; k < it->num_clusters; ++k) {
        it->clusters[k].rank = rank_without(it, r, k, -1);
        it->clusters[k].mobility = it->clusters[k].num_speeds - it->clusters[k].rank;
    }
    for (int c = 0; c < it->num_constraints; ++c) {
        const int cluster = it->shares[c].cluster;
        if (cluster < 0) continue;
        const bool is_clear = it->clusters[cluster].rank == it->clusters[cluster].rows;
        it->shares[c].needed = is_clear
                                   ? it->shares[c].rows
                                   : it->clusters[cluster].rank - rank_without(it, r, cluster, c);
    }
}

// ---- creation

static tal_status take_memory(tal_loops *it, tal_error *err)
{
    const size_t nu = (size_t)it->nu, nc = (size_t)it->num_constraints;
    const size_t bodies = (size_t)tal_matter_num_bodies(it->matter);
    tali_piece pieces[] = {
        {&it->clusters, nc * sizeof *it->clusters}, {&it->shares, nc * sizeof *it->shares},
        {&it->cluster_of, nu * sizeof(int)},        {&it->root, nu * sizeof(int)},
        {&it->visits, bodies * sizeof(int)},        {&it->is_free, nu * sizeof(bool)},
    };
    it->block =
        tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0], &it->bytes);
    if (it->block == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for loops");
    memset(it->clusters, 0, nc * sizeof *it->clusters);
    return TAL_OK;
}

static tal_status survey(tal_loops *it, tal_state *state, tal_error *err)
{
    tal_status st = take_memory(it, err);
    if (st != TAL_OK) return st;
    find_free(it, state);
    find_clusters(it, state);
    rows r = {.block = NULL};
    st = take_rows(it, state, &r, err);
    if (st == TAL_OK) st = fill_rows(it, state, &r, err);
    if (st == TAL_OK) find_ranks(it, &r);
    tali_free(&it->allocator, r.block, r.bytes);
    return st;
}

tal_status tal_loops_create(const tal_system *system, tal_state *state, tal_loops **out,
                            tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = tal_system_realize(system, state, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) {
        if (err->status == TAL_OK) (void)TALI_FAIL(err, st, "%s", tali_problem_reason(state, st));
        return st;
    }
    const tal_allocator allocator = tal_system_allocator(system);
    tal_loops *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for loops");
    *it = (tal_loops){.system = system, .allocator = allocator};
    it->matter = tal_system_matter(system);
    it->nu = tal_matter_nu(it->matter);
    it->num_constraints = tal_matter_num_constraints(it->matter);
    st = survey(it, state, err);
    if (st != TAL_OK) {
        tal_loops_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_loops_destroy(tal_loops *loops)
{
    if (loops == NULL) return;
    const tal_allocator allocator = loops->allocator;
    tali_free(&allocator, loops->block, loops->bytes);
    tali_free(&allocator, loops, sizeof *loops);
}

const tal_error *tal_loops_error(const tal_loops *loops)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_loops_error", "the loops are NULL"};
    return loops != NULL ? &loops->error_record : &none;
}

// ---- what was found

int tal_loops_num_clusters(const tal_loops *loops)
{
    if (loops != NULL) return loops->num_clusters;
    (void)TALI_BREACH(TAL_ERR_NULL, "the loops are NULL");
    return 0;
}

tal_loop_cluster tal_loops_cluster(const tal_loops *loops, int cluster)
{
    if (loops != NULL && cluster >= 0 && cluster < loops->num_clusters) {
        return loops->clusters[cluster];
    }
    (void)TALI_BREACH(loops == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, "there is no cluster %d",
                      cluster);
    return (tal_loop_cluster){.num_constraints = 0};
}

int tal_loops_speed_cluster(const tal_loops *loops, int speed)
{
    if (loops != NULL && speed >= 0 && speed < loops->nu) return loops->cluster_of[speed];
    (void)TALI_BREACH(loops == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, "there is no speed %d",
                      speed);
    return -1;
}

tal_loop_share tal_loops_share(const tal_loops *loops, tal_constraint_ix constraint)
{
    if (loops != NULL && constraint.i >= 0 && constraint.i < loops->num_constraints) {
        return loops->shares[constraint.i];
    }
    (void)TALI_BREACH(loops == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, "there is no constraint %d",
                      constraint.i);
    return (tal_loop_share){.cluster = -1};
}

// What takes the place of a pin or ball in a planar loop: two rows.
static bool turns_in_a_plane(const tal_loops *it, tal_constraint_ix constraint)
{
    const char *kind = tali_matter_constraint_facts_of(it->matter, constraint).kind;
    if (kind == NULL || it->shares[constraint.i].needed != 2) return false;
    return strcmp(kind, "loop pin") == 0 || strcmp(kind, "ball") == 0;
}

bool tal_loops_advice(const tal_loops *loops, tal_constraint_ix constraint, char text[])
{
    if (text == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the text is NULL");
        return false;
    }
    text[0] = '\0';
    const tal_loop_share share = tal_loops_share(loops, constraint);
    if (share.cluster < 0 || share.needed == share.rows) return false;
    const char *name = tal_constraint_name(loops->matter, constraint);
    if (share.needed == 0) {
        (void)snprintf(text, TAL_LOOPS_TEXT,
                       "constraint '%.60s' repeats others: without it the motion is the same",
                       name);
    } else if (turns_in_a_plane(loops, constraint)) {
        (void)snprintf(text, TAL_LOOPS_TEXT,
                       "constraint '%.60s' needs 2 of its %d equations: a point on a line, along "
                       "the axis that its loop turns about, would do and make its forces unique",
                       name, share.rows);
    } else {
        (void)snprintf(text, TAL_LOOPS_TEXT,
                       "constraint '%.60s' needs %d of its %d equations: another joint with as "
                       "many would do and make its forces unique",
                       name, share.needed, share.rows);
    }
    return true;
}

// ---- independent speeds

/// The largest entry that is left: of rows from `step` on, in columns that are not used, of the
/// speeds that are wanted or those that are not.
typedef struct pivot {
    double size;
    int row, column;
} pivot;

static pivot find_pivot(const rows *r, int step, const bool wanted[], bool is_wanted)
{
    pivot best = {0.0, -1, -1};
    for (int j = 0; j < r->nu; ++j) {
        if (r->is_used[j] || r->units[j] == 0.0) continue;
        if ((wanted != NULL && wanted[j]) != is_wanted) continue;
        for (int i = step; i < r->m; ++i) {
            const double size = fabs(*entry(r, i, j));
            if (size > best.size) best = (pivot){size, i, j};
        }
    }
    return best;
}

// Make column `at.column` a unit vector with its one in row `step`.
static void eliminate(rows *r, int step, pivot at)
{
    const size_t m = (size_t)r->m;
    const double *column = r->J + (size_t)at.column * m;
    double *factors = r->work; // [m]
    for (int j = 0; j < r->nu; ++j) {
        double *x = r->J + (size_t)j * m;
        const double swapped = x[step];
        x[step] = x[at.row];
        x[at.row] = swapped;
    }
    memcpy(factors, column, m * sizeof *factors);
    for (int j = 0; j < r->nu; ++j) {
        double *x = r->J + (size_t)j * m;
        x[step] /= factors[step];
        if (x[step] == 0.0) continue;
        for (size_t i = 0; i < m; ++i) {
            if (i != (size_t)step) x[i] -= factors[i] * x[step];
        }
    }
}

// Dependent speeds become pivots: first those that nobody wants to be independent. Their number;
// r->columns[step] is the speed that row `step` determines.
static int choose_dependent(rows *r, const bool wanted[])
{
    int step = 0;
    memset(r->is_used, 0, (size_t)r->nu * sizeof *r->is_used);
    for (; step < r->m; ++step) {
        pivot best = find_pivot(r, step, wanted, false);
        if (best.size <= DEPENDENT && wanted != NULL) best = find_pivot(r, step, wanted, true);
        if (best.size <= DEPENDENT) break;
        eliminate(r, step, best);
        r->is_used[best.column] = true;
        r->columns[step] = best.column;
    }
    return step;
}

// Columns of G for the speeds chosen: u = units v, and v = -J v_chosen for the others.
static void fill_G(const rows *r, int rank, const int chosen[], int num, tal_matrix G)
{
    for (int k = 0; k < num; ++k) {
        const int j = chosen[k];
        for (int i = 0; i < r->nu; ++i) {
            G.data[(size_t)i + (size_t)k * (size_t)G.ld] = i == j ? 1.0 : 0.0;
        }
        for (int step = 0; step < rank; ++step) {
            const int i = r->columns[step];
            const double ratio = r->units[i] / r->units[j];
            G.data[(size_t)i + (size_t)k * (size_t)G.ld] = -ratio * *entry(r, step, j);
        }
    }
}

// g = udot - G ydot, where udot meets the constraints.
static void fill_g(const rows *r, int rank, const int chosen[], int num, const double udot[],
                   double g[])
{
    memcpy(g, udot, (size_t)r->nu * sizeof *g);
    for (int k = 0; k < num; ++k) {
        const int j = chosen[k];
        g[j] = 0.0;
        for (int step = 0; step < rank; ++step) {
            const int i = r->columns[step];
            const double ratio = r->units[i] / r->units[j];
            g[i] += ratio * *entry(r, step, j) * udot[j];
        }
    }
}

static void put_out(const tal_loops *it, const tal_state *state, rows *r, const bool wanted[],
                    int chosen[], int *num, tal_matrix G, double g[])
{
    const int rank = choose_dependent(r, wanted);
    *num = 0;
    for (int j = 0; j < r->nu; ++j) {
        if (r->units[j] > 0.0 && !r->is_used[j]) chosen[(*num)++] = j;
    }
    if (G.data != NULL) fill_G(r, rank, chosen, *num, G);
    if (g == NULL) return;
    const double *udot =
        tal_state_udot(state) + tali_problem_u_start(it->system, state, it->matter);
    fill_g(r, rank, chosen, *num, udot, g);
}

tal_status tal_loops_choose_speeds(tal_loops *loops, tal_state *state, const bool wanted[],
                                   int chosen[], int *num, tal_matrix G, double g[])
{
    if (loops == NULL || state == NULL || chosen == NULL || num == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the loops, the State, 'chosen' or 'num' is NULL");
    }
    if (G.data != NULL && (G.rows < loops->nu || G.cols < loops->nu)) {
        return TALI_BREACH(TAL_ERR_CAPACITY, "G is %d x %d, and %d x %d is needed", G.rows, G.cols,
                           loops->nu, loops->nu);
    }
    tal_error *err = &loops->error_record;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_stage needed = g != NULL ? TAL_STAGE_ACCELERATION : TAL_STAGE_VELOCITY;
    if (tal_state_stage(state) < needed) {
        return TALI_BREACH(TAL_ERR_STAGE, "the State is not realized to %s",
                           tal_stage_name(needed));
    }
    rows r = {.block = NULL};
    tal_status st = take_rows(loops, state, &r, err);
    if (st == TAL_OK) st = fill_rows(loops, state, &r, err);
    if (st == TAL_OK) put_out(loops, state, &r, wanted, chosen, num, G, g);
    tali_free(&loops->allocator, r.block, r.bytes);
    return st;
}
