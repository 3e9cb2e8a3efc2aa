// Vectors for SUNDIALS from a pool: objects and numbers are reserved when an integrator is created,
// so that cloning one neither fails nor allocates (SUNDIALS 6.4.1 does not look whether it did).
#include "sundials/sundials_internal.h"

#include <math.h>
#include <string.h>

// --- the pool ---

static tali_sun_vector *vector_of(N_Vector v)
{
    return v->content;
}

double *tali_sun_data(N_Vector v)
{
    return vector_of(v)->data;
}

N_Vector tali_sun_pool_vector(tali_sun_pool *pool)
{
    for (int i = 0; i < pool->num_vectors; ++i) {
        tali_sun_vector *v = &pool->vectors[i];
        if (v->is_taken) continue;
        v->is_taken = true;
        return &v->base;
    }
    return NULL;
}

int tali_sun_pool_vectors_taken(const tali_sun_pool *pool)
{
    int count = 0;
    for (int i = 0; i < pool->num_vectors; ++i) {
        count += pool->vectors[i].is_taken ? 1 : 0;
    }
    return count;
}

static N_Vector clone(N_Vector v)
{
    return tali_sun_pool_vector(vector_of(v)->pool);
}

static void destroy(N_Vector v)
{
    vector_of(v)->is_taken = false;
}

static sunindextype length_of(N_Vector v)
{
    return vector_of(v)->pool->length;
}

static N_Vector_ID id_of(N_Vector v)
{
    (void)v;
    return SUNDIALS_NVEC_CUSTOM;
}

// --- z = ... for every component ---

static void linear_sum(double a, N_Vector x, double b, N_Vector y, N_Vector z)
{
    const double *p = vector_of(x)->data, *q = vector_of(y)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = a * p[i] + b * q[i];
    }
}

static void constant(double c, N_Vector z)
{
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(z)->pool->length; i < n; ++i) {
        out[i] = c;
    }
}

static void product(N_Vector x, N_Vector y, N_Vector z)
{
    const double *p = vector_of(x)->data, *q = vector_of(y)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = p[i] * q[i];
    }
}

static void quotient(N_Vector x, N_Vector y, N_Vector z)
{
    const double *p = vector_of(x)->data, *q = vector_of(y)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = p[i] / q[i];
    }
}

static void scale(double c, N_Vector x, N_Vector z)
{
    const double *p = vector_of(x)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = c * p[i];
    }
}

static void absolute(N_Vector x, N_Vector z)
{
    const double *p = vector_of(x)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = fabs(p[i]);
    }
}

static void inverse(N_Vector x, N_Vector z)
{
    const double *p = vector_of(x)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = 1.0 / p[i];
    }
}

static void add_constant(N_Vector x, double c, N_Vector z)
{
    const double *p = vector_of(x)->data;
    double *out = vector_of(z)->data;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        out[i] = p[i] + c;
    }
}

// --- reductions ---

static double dot_product(N_Vector x, N_Vector y)
{
    const double *p = vector_of(x)->data, *q = vector_of(y)->data;
    double sum = 0.0;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        sum += p[i] * q[i];
    }
    return sum;
}

static double max_norm(N_Vector x)
{
    const double *p = vector_of(x)->data;
    double largest = 0.0;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        largest = fmax(largest, fabs(p[i]));
    }
    return largest;
}

static double least(N_Vector x)
{
    const double *p = vector_of(x)->data;
    double low = (double)INFINITY;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        low = fmin(low, p[i]);
    }
    return low;
}

// The error norm of the manual, for which SUNDIALS' own would mix q, u and z. The weights are those
// of the step, which is what every caller passes as `w`.
static double weighted_norm(N_Vector x, N_Vector w)
{
    (void)w;
    const tali_sun_pool *pool = vector_of(x)->pool;
    return pool->norm(pool->norm_self, vector_of(x)->data, NULL);
}

static double scaled_length(N_Vector x, N_Vector w)
{
    const double *p = vector_of(x)->data, *scale = vector_of(w)->data;
    double sum = 0.0;
    for (int i = 0, n = vector_of(x)->pool->length; i < n; ++i) {
        sum += (p[i] * scale[i]) * (p[i] * scale[i]);
    }
    return sqrt(sum);
}

static double masked_norm(N_Vector x, N_Vector w, N_Vector id)
{
    (void)w;
    const tali_sun_pool *pool = vector_of(x)->pool;
    return pool->norm(pool->norm_self, vector_of(x)->data, vector_of(id)->data);
}

// What CVODE, IDA, ARKODE, KINSOL and GMRES ask for; fused operations have defaults made of these.
static void fill_vector_ops(struct _generic_N_Vector_Ops *ops)
{
    ops->nvgetvectorid = id_of;
    ops->nvclone = clone;
    ops->nvcloneempty = clone;
    ops->nvdestroy = destroy;
    ops->nvgetarraypointer = tali_sun_data;
    ops->nvgetlength = length_of;
    ops->nvlinearsum = linear_sum;
    ops->nvconst = constant;
    ops->nvprod = product;
    ops->nvdiv = quotient;
    ops->nvscale = scale;
    ops->nvabs = absolute;
    ops->nvinv = inverse;
    ops->nvaddconst = add_constant;
    ops->nvdotprod = dot_product;
    ops->nvmaxnorm = max_norm;
    ops->nvwrmsnorm = weighted_norm;
    ops->nvwrmsnormmask = masked_norm;
    ops->nvwl2norm = scaled_length;
    ops->nvmin = least;
}

// --- creation ---

// Cuts the next piece off a block; with no block, only counts.
static void *cut(char *block, size_t *used, size_t bytes)
{
    void *piece = block != NULL ? block + *used : NULL;
    *used += tali_alloc_apart(bytes);
    if (piece != NULL) tali_alloc_close_behind(piece, bytes);
    return piece;
}

// Lays the pool out, in `block` or, to learn its size, in none.
static size_t lay_out(tali_sun_pool *pool, char *block)
{
    const size_t n = (size_t)pool->capacity;
    size_t used = 0;
    pool->vectors = cut(block, &used, (size_t)pool->num_vectors * sizeof *pool->vectors);
    pool->matrices = cut(block, &used, (size_t)pool->num_matrices * sizeof *pool->matrices);
    pool->pivots = cut(block, &used, n * sizeof *pool->pivots);
    for (int i = 0; i < pool->num_vectors; ++i) {
        double *data = cut(block, &used, n * sizeof *data);
        if (block == NULL) continue;
        tali_sun_vector *v = &pool->vectors[i];
        *v = (tali_sun_vector){.base = {v, &pool->vector_ops, NULL}, .pool = pool, .data = data};
    }
    for (int i = 0; i < pool->num_matrices; ++i) {
        double **columns = cut(block, &used, n * sizeof *columns);
        double *data = cut(block, &used, n * n * sizeof *data);
        if (block == NULL) continue;
        tali_sun_matrix *A = &pool->matrices[i];
        *A = (tali_sun_matrix){
            .base = {A, &pool->matrix_ops, NULL}, .pool = pool, .columns = columns};
        for (size_t j = 0; j < n; ++j) {
            columns[j] = data + j * n;
        }
    }
    return used;
}

bool tali_sun_pool_create(tali_sun_pool *pool, const tal_allocator *allocator, int capacity,
                          int num_vectors, int num_matrices)
{
    *pool = (tali_sun_pool){.allocator = *allocator,
                            .capacity = capacity,
                            .num_vectors = num_vectors,
                            .num_matrices = num_matrices};
    fill_vector_ops(&pool->vector_ops);
    tali_sun_fill_matrix_ops(pool);
    pool->block_bytes = lay_out(pool, NULL);
    pool->block = tali_alloc(allocator, pool->block_bytes);
    if (pool->block == NULL) return false;
    (void)lay_out(pool, pool->block);
    return true;
}

void tali_sun_pool_destroy(tali_sun_pool *pool)
{
    tali_free(&pool->allocator, pool->block, pool->block_bytes);
    pool->block = NULL;
}

void tali_sun_pool_set_context(tali_sun_pool *pool, SUNContext context)
{
    for (int i = 0; i < pool->num_vectors; ++i) {
        pool->vectors[i].base.sunctx = context;
    }
    for (int i = 0; i < pool->num_matrices; ++i) {
        pool->matrices[i].base.sunctx = context;
    }
    pool->lu.sunctx = context;
}
