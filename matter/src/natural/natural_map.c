// Formulation A: the equations of motion of a tree from natural coordinates, element by element.
//
//     quantity                              GJB            here
//     rows of R of one element              R_e            R, a vector for each entity and column
//     M_e R_e                                              W
//     R^T M R, R^T (Q - M Sc)               8.38, 8.107    sums over elements, speed by speed
//
// An element is a body: the entities that its frame is linear in, and its constant mass matrix,
// the same for x, y and z. Its columns are the speeds between Ground and these entities. Loops are
// open here: an entity that two branches share moves as the body that defines it does.
#include "hinges_internal.h"

#include "natural/natural_internal.h"

#include <talus/matter/applied.h>

#include <string.h>

enum {
    MOST_ENTITIES = TALI_NATURAL_TERMS
};

typedef struct map_element {
    int n, entity[MOST_ENTITIES];
    double mass[MOST_ENTITIES][MOST_ENTITIES];
    uint8_t owned;  // bit i: entity i is in no element before this one
    int num;        // columns
    size_t first;   // of them
    size_t vectors; // of R and W: n for each column
} map_element;

// Where a speed has a column.
typedef struct column_place {
    int element, column;
} column_place;

struct tal_natural_map {
    const tal_natural *natural;
    tal_allocator allocator;
    tal_executor executor;
    int nu, nx, nc, num_elements;
    bool has_values;
    map_element *elements; // [num_bodies]
    size_t num_columns;    // of all elements
    int *speed, *joint;    // [num_columns] to which a column belongs
    uint8_t *moves;        // [num_columns] bit i: entity i moves with it
    size_t *begin;         // [nu + 1] of the places of a speed
    column_place *place;   // [num_columns] element by element
    tal_vec3 *R, *W;       // [vectors]
    double *x, *xdot;      // [nx] of the State at hand, as Sc
    double *Sc, *f;        // [nx]
    double *zero;          // [nu]
    double *J;             // nc x nx, by columns
    tali_matter_hinges hinges;
    tal_bodies_view poses;
    void *block;
    size_t block_bytes;
};

// --- elements ---

static int entity_in(map_element *it, int entity)
{
    for (int i = 0; i < it->n; ++i) {
        if (it->entity[i] == entity) return i;
    }
    it->entity[it->n] = entity;
    return it->n++;
}

// mass += J b_k b_l^T over the entities of two forms.
static void add_mass(map_element *it, const tali_natural_form *a, const tali_natural_form *b,
                     double J)
{
    for (int i = 0; i < a->n; ++i) {
        double *row = it->mass[entity_in(it, a->entity[i])];
        for (int j = 0; j < b->n; ++j) {
            row[entity_in(it, b->entity[j])] += J * a->c[i] * b->c[j];
        }
    }
}

// M_ij = sum of J_kl B_ki B_lj over axes and origin, with J the moments of mass about Bo.
static void read_element(const tal_natural *natural, int b, map_element *out)
{
    const tali_natural_body *body = &natural->bodies[b];
    const tali_natural_form *forms[4] = {&body->axis[0], &body->axis[1], &body->axis[2],
                                         &body->origin};
    double J[4][4];
    tali_natural_moments(&body->mass, J);
    *out = (map_element){.n = 0};
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < forms[k]->n; ++i) {
            (void)entity_in(out, forms[k]->entity[i]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < 4; ++l) {
            add_mass(out, forms[k], forms[l], J[k][l]);
        }
    }
}

// Whether body a is on the way from body b to Ground, or b itself.
static bool carries(const tal_natural *natural, int a, int b)
{
    while (b > a) {
        b = tal_body_parent(natural->matter, (tal_body_ix){b}).i;
    }
    return a == b;
}

// Which entities of an element move with the joint of a body.
static uint8_t moved_by(const tal_natural *natural, const map_element *it, int joint)
{
    unsigned bits = 0;
    for (int i = 0; i < it->n; ++i) {
        const int body = natural->entities[it->entity[i]].body;
        if (carries(natural, joint, body)) bits |= 1U << i;
    }
    return (uint8_t)bits;
}

// Columns of all elements: counted where `speed` is NULL, else written.
static void lay_columns(tal_natural_map *it)
{
    const tal_natural *natural = it->natural;
    size_t columns = 0, vectors = 0;
    for (int e = 0; e < it->num_elements; ++e) {
        map_element *element = &it->elements[e];
        element->first = columns;
        element->vectors = vectors;
        element->num = 0;
        for (int b = 1; b < natural->num_bodies; ++b) {
            const uint8_t moved = moved_by(natural, element, b);
            const int u0 = tal_body_u_start(natural->matter, (tal_body_ix){b});
            const int nu = moved != 0 ? tal_body_nu(natural->matter, (tal_body_ix){b}) : 0;
            for (int k = 0; k < nu && it->speed != NULL; ++k) {
                const size_t at = columns + (size_t)element->num + (size_t)k;
                it->speed[at] = u0 + k;
                it->joint[at] = b;
                it->moves[at] = moved;
            }
            element->num += nu;
        }
        columns += (size_t)element->num;
        vectors += (size_t)element->num * (size_t)element->n;
    }
    it->num_columns = columns;
}

// For each speed, its columns in the order of elements.
static void list_places(tal_natural_map *it)
{
    memset(it->begin, 0, ((size_t)it->nu + 1) * sizeof *it->begin);
    for (size_t c = 0; c < it->num_columns; ++c) {
        ++it->begin[it->speed[c] + 1];
    }
    for (int k = 0; k < it->nu; ++k) {
        it->begin[k + 1] += it->begin[k];
    }
    for (int e = 0; e < it->num_elements; ++e) {
        const map_element *element = &it->elements[e];
        for (int j = 0; j < element->num; ++j) {
            const int k = it->speed[element->first + (size_t)j];
            it->place[it->begin[k]++] = (column_place){e, j};
        }
    }
    for (int k = it->nu; k > 0; --k) {
        it->begin[k] = it->begin[k - 1];
    }
    it->begin[0] = 0;
}

static bool has_entity(const map_element *it, int entity)
{
    for (int i = 0; i < it->n; ++i) {
        if (it->entity[i] == entity) return true;
    }
    return false;
}

// Entities that no element before has.
static void share_out(tal_natural_map *it)
{
    for (int e = 0; e < it->num_elements; ++e) {
        map_element *element = &it->elements[e];
        for (int i = 0; i < element->n; ++i) {
            int first = 0;
            while (!has_entity(&it->elements[first], element->entity[i])) {
                ++first;
            }
            if (first == e) element->owned = (uint8_t)(element->owned | 1U << i);
        }
    }
}

// --- creation ---

// Below this many columns, handing out work costs more than it saves.
static const size_t WORTH_SHARING = 2048;

// Elements first, then columns as they need them, in one block.
static tal_status lay_out(tal_natural_map *it, tal_error *err)
{
    const tal_natural *natural = it->natural;
    const size_t d = sizeof(double), nx = (size_t)it->nx, nu = (size_t)it->nu;
    it->elements = tali_alloc(&it->allocator, (size_t)natural->num_bodies * sizeof *it->elements);
    if (it->elements == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a map");
    for (int b = 1; b < natural->num_bodies; ++b) {
        read_element(natural, b, &it->elements[it->num_elements]);
        if (it->elements[it->num_elements].n > 0) ++it->num_elements;
    }
    share_out(it);
    lay_columns(it);
    const map_element *last = &it->elements[it->num_elements - 1];
    const size_t vectors =
        it->num_elements > 0 ? last->vectors + (size_t)last->num * (size_t)last->n : 0;
    const tali_piece pieces[] = {
        {&it->speed, it->num_columns * sizeof *it->speed},
        {&it->joint, it->num_columns * sizeof *it->joint},
        {&it->moves, it->num_columns * sizeof *it->moves},
        {&it->begin, (nu + 1) * sizeof *it->begin},
        {&it->place, it->num_columns * sizeof *it->place},
        {&it->R, vectors * sizeof *it->R},
        {&it->W, vectors * sizeof *it->W},
        {&it->x, nx * d},
        {&it->xdot, nx * d},
        {&it->Sc, nx * d},
        {&it->f, nx * d},
        {&it->zero, nu * d},
        {&it->J, (size_t)it->nc * nx * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the %zu columns of a map",
                         it->num_columns);
    }
    lay_columns(it);
    list_places(it);
    memset(it->zero, 0, nu * d);
    return TAL_OK;
}

tal_status tal_natural_map_create(const tal_natural *natural, const tal_executor *executor,
                                  tal_natural_map **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    if (natural == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the natural coordinates are NULL");
    tal_natural_map *it = tali_alloc(&natural->allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a map");
    it->natural = natural;
    it->allocator = natural->allocator;
    it->nu = natural->nu;
    it->nx = tal_natural_nx(natural);
    it->nc = tal_natural_nc(natural);
    const tal_status st = lay_out(it, err);
    if (st != TAL_OK) {
        tal_natural_map_destroy(it);
        return st;
    }
    const bool is_shared = executor != NULL && it->num_columns >= WORTH_SHARING;
    it->executor = is_shared ? *executor : tal_executor_in_order();
    *out = it;
    return TAL_OK;
}

void tal_natural_map_destroy(tal_natural_map *map)
{
    if (map == NULL) return;
    const tal_allocator allocator = map->allocator;
    tali_free(&allocator, map->block, map->block_bytes);
    tali_free(&allocator, map->elements, (size_t)map->natural->num_bodies * sizeof *map->elements);
    tali_free(&allocator, map, sizeof *map);
}

// --- R ---

static bool has_bit(unsigned bits, int i)
{
    return (bits >> i & 1U) != 0;
}

static tal_vec3 *vectors_of(const map_element *it, tal_vec3 *all, int column)
{
    return all + it->vectors + (size_t)column * (size_t)it->n;
}

// One column of R_e: a point moves by H.v + H.w x arm, a unit vector by H.w x e.
static void calc_column(const tal_natural_map *it, const map_element *element, int column)
{
    const size_t at = element->first + (size_t)column;
    const tal_spatial_vec H = it->hinges.H[it->speed[at]];
    const tal_vec3 p = tal_view_X_GM(&it->poses, it->joint[at])->p;
    tal_vec3 *R = vectors_of(element, it->R, column), *W = vectors_of(element, it->W, column);
    for (int i = 0; i < element->n; ++i) {
        const int entity = element->entity[i];
        const double *x = it->x + 3 * (size_t)entity;
        const tal_vec3 at_x = tal_v3(x[0], x[1], x[2]);
        const bool is_point = it->natural->entities[entity].is_point;
        const tal_vec3 turning = tal_v3_cross(H.w, is_point ? tal_v3_sub(at_x, p) : at_x);
        R[i] = is_point ? tal_v3_add(H.v, turning) : turning;
        if (!has_bit(it->moves[at], i)) R[i] = TAL_VEC3_ZERO;
    }
    for (int i = 0; i < element->n; ++i) {
        W[i] = TAL_VEC3_ZERO;
        for (int j = 0; j < element->n; ++j) {
            W[i] = tal_v3_axpy(element->mass[i][j], R[j], W[i]);
        }
    }
}

static void calc_element(void *work, int e)
{
    const tal_natural_map *it = work;
    for (int j = 0; j < it->elements[e].num; ++j) {
        calc_column(it, &it->elements[e], j);
    }
}

tal_status tal_natural_map_calc(tal_natural_map *map, tal_state *state)
{
    if (map == NULL || state == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the map or the State is NULL");
    }
    map->has_values = false;
    tal_status st = tal_natural_read(map->natural, state, map->x, map->xdot);
    if (st == TAL_OK) st = tal_natural_calc_acceleration(map->natural, state, NULL, map->Sc);
    if (st != TAL_OK) return st;
    if (!tali_matter_see_hinges(map->natural->matter, state, &map->hinges)) {
        return tal_state_error(state)->status;
    }
    map->poses = tal_matter_poses(map->natural->matter, state);
    map->executor.run(map->executor.context, calc_element, map, map->num_elements);
    map->has_values = true;
    return TAL_OK;
}

// --- sums over elements ---

static tal_status check_map(const tal_natural_map *map, const char *where)
{
    if (map == NULL) return tali_breach(TAL_ERR_NULL, where, "the map is NULL");
    if (map->has_values) return TAL_OK;
    return tali_breach(TAL_ERR_STAGE, where,
                       "the map has no values: call tal_natural_map_calc() first");
}

static tal_status check_matrix(tal_matrix A, int rows, int cols, const char *where)
{
    if (A.data != NULL && A.rows == rows && A.cols == cols && A.ld >= (rows > 1 ? rows : 1)) {
        return TAL_OK;
    }
    return tali_breach(TAL_ERR_BAD_VALUE, where, "the matrix must be %d x %d", rows, cols);
}

typedef struct map_sum {
    const tal_natural_map *map;
    tal_matrix M;
    double *Q;
} map_sum;

static double *entry(tal_matrix M, int i, int j)
{
    return M.data + (size_t)i + (size_t)j * (size_t)M.ld;
}

static double dot_all(const tal_vec3 a[], const tal_vec3 b[], int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += tal_v3_dot(a[i], b[i]);
    }
    return sum;
}

// Between one speed and those before it: a task of its own, which adds in the order of elements.
static void sum_M(void *work, int k)
{
    const map_sum *sum = work;
    const tal_natural_map *it = sum->map;
    for (int l = 0; l <= k; ++l) {
        *entry(sum->M, l, k) = 0.0;
    }
    for (size_t p = it->begin[k]; p < it->begin[k + 1]; ++p) {
        const map_element *element = &it->elements[it->place[p].element];
        const int *speed = it->speed + element->first;
        const tal_vec3 *W = vectors_of(element, it->W, it->place[p].column);
        for (int l = 0; l <= it->place[p].column; ++l) {
            *entry(sum->M, speed[l], k) += dot_all(vectors_of(element, it->R, l), W, element->n);
        }
    }
    for (int l = 0; l < k; ++l) {
        *entry(sum->M, k, l) = *entry(sum->M, l, k);
    }
}

tal_status tal_natural_map_calc_M(const tal_natural_map *map, tal_matrix M)
{
    tal_status st = check_map(map, __func__);
    if (st == TAL_OK && map->nu == 0) return TAL_OK;
    if (st == TAL_OK) st = check_matrix(M, map->nu, map->nu, __func__);
    if (st != TAL_OK) return st;
    map_sum sum = {.map = map, .M = M};
    map->executor.run(map->executor.context, sum_M, &sum, map->nu);
    return TAL_OK;
}

// M Sc of one entity of an element.
static tal_vec3 momentum_of(const tal_natural_map *it, const map_element *element, int i)
{
    tal_vec3 sum = TAL_VEC3_ZERO;
    for (int j = 0; j < element->n; ++j) {
        const double *Sc = it->Sc + 3 * (size_t)element->entity[j];
        sum = tal_v3_axpy(element->mass[i][j], tal_v3(Sc[0], Sc[1], Sc[2]), sum);
    }
    return sum;
}

// What acts on entities, less M Sc: element by element, in their order.
static void subtract_bias(tal_natural_map *it)
{
    for (int e = 0; e < it->num_elements; ++e) {
        const map_element *element = &it->elements[e];
        for (int i = 0; i < element->n; ++i) {
            double *f = it->f + 3 * (size_t)element->entity[i];
            const tal_vec3 MSc = momentum_of(it, element, i);
            f[0] -= MSc.x;
            f[1] -= MSc.y;
            f[2] -= MSc.z;
        }
    }
}

static void sum_Q(void *work, int k)
{
    const map_sum *sum = work;
    const tal_natural_map *it = sum->map;
    for (size_t p = it->begin[k]; p < it->begin[k + 1]; ++p) {
        const map_element *element = &it->elements[it->place[p].element];
        const tal_vec3 *R = vectors_of(element, it->R, it->place[p].column);
        for (int i = 0; i < element->n; ++i) {
            const double *f = it->f + 3 * (size_t)element->entity[i];
            if (has_bit(element->owned, i)) sum->Q[k] += tal_v3_dot(R[i], tal_v3(f[0], f[1], f[2]));
        }
    }
}

tal_status tal_natural_map_calc_Q(tal_natural_map *map, tal_state *state,
                                  const tal_spatial_vec F_GB[], const double f[], double Q[])
{
    tal_status st = check_map(map, __func__);
    if (st != TAL_OK) return st;
    if (F_GB == NULL || ((f == NULL || Q == NULL) && map->nu > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an array is NULL");
    }
    st = tal_natural_calc_Q(map->natural, state, F_GB, map->zero, map->f);
    if (st != TAL_OK) return st;
    subtract_bias(map);
    if (f != NULL && Q != NULL) memmove(Q, f, (size_t)map->nu * sizeof *Q);
    map_sum sum = {.map = map, .Q = Q};
    map->executor.run(map->executor.context, sum_Q, &sum, map->nu);
    return TAL_OK;
}

// --- loops ---

// G += Phi_x R of the entities that an element owns.
static void add_rows(const tal_natural_map *it, const map_element *element, tal_matrix G)
{
    const size_t nc = (size_t)it->nc;
    for (int i = 0; i < element->n; ++i) {
        const double *J = it->J + 3 * nc * (size_t)element->entity[i];
        for (size_t r = 0; r < nc && has_bit(element->owned, i); ++r) {
            const tal_vec3 slope = tal_v3(J[r], J[r + nc], J[r + 2 * nc]);
            if (slope.x == 0.0 && slope.y == 0.0 && slope.z == 0.0) continue;
            for (int j = 0; j < element->num; ++j) {
                *entry(G, (int)r, it->speed[element->first + (size_t)j]) +=
                    tal_v3_dot(slope, vectors_of(element, it->R, j)[i]);
            }
        }
    }
}

tal_status tal_natural_map_calc_closure(tal_natural_map *map, tal_matrix G, double c[])
{
    tal_status st = check_map(map, __func__);
    if (st != TAL_OK || map->nc == 0) return st;
    if (map->nu > 0) st = check_matrix(G, map->nc, map->nu, __func__);
    if (st == TAL_OK && c == NULL) st = TALI_BREACH(TAL_ERR_NULL, "'c' is NULL");
    const tal_matrix J = tal_matrix_view(map->J, map->nc, map->nx);
    if (st == TAL_OK) st = tal_natural_calc_phi_x(map->natural, map->x, J);
    if (st == TAL_OK) st = tal_natural_calc_bias(map->natural, map->xdot, c);
    if (st != TAL_OK) return st;
    for (int j = 0; j < map->nu; ++j) {
        memset(entry(G, 0, j), 0, (size_t)map->nc * sizeof *c);
    }
    for (int e = 0; e < map->num_elements; ++e) {
        add_rows(map, &map->elements[e], G);
    }
    for (int r = 0; r < map->nc; ++r) {
        c[r] = -c[r];
        for (int i = 0; i < map->nx; ++i) {
            c[r] -= map->J[(size_t)r + (size_t)map->nc * (size_t)i] * map->Sc[i];
        }
    }
    return TAL_OK;
}

// --- counts ---

static void add_count(tal_velocity_map_count *sum, int multiplications, int additions)
{
    sum->multiplications += multiplications;
    sum->additions += additions;
}

// Entities that do not move with a column count nothing in R, and zeros in the products.
tal_velocity_map_counts tal_natural_map_operations(const tal_natural_map *map)
{
    tal_velocity_map_counts out = {.R = {0, 0}};
    if (check_map(map, __func__) != TAL_OK) return out;
    for (int e = 0; e < map->num_elements; ++e) {
        const map_element *element = &map->elements[e];
        const int n = element->n;
        add_count(&out.inertia, 3 * n * n, 3 * n * n);
        for (int j = 0; j < element->num; ++j) {
            for (int i = 0; i < n; ++i) {
                const bool moves = has_bit(map->moves[element->first + (size_t)j], i);
                const bool is_point = map->natural->entities[element->entity[i]].is_point;
                if (moves) add_count(&out.R, 6, is_point ? 9 : 3);
                if (has_bit(element->owned, i)) add_count(&out.Q, 3, 3);
            }
            add_count(&out.M, 3 * n * n, 3 * n * (n - 1));       // W
            add_count(&out.M, 3 * n * (j + 1), 3 * n * (j + 1)); // products, and the sum
        }
    }
    return out;
}
