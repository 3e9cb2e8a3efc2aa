// What the built-in functions share: memory for `self`, argument checks, polynomials.
#ifndef TALUS_FUNCTION_INTERNAL_H
#define TALUS_FUNCTION_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"
#include "function_facts_internal.h"

#include <talus/common/function.h>

/// Where a `create` call is, and where its result and its error go.
typedef struct tali_function_call {
    const char *where; ///< the public function
    tal_allocator allocator;
    tal_function **out;
    tal_error *err;
} tali_function_call;

/// Open a `create` call: clear `*out` and `*err`, resolve the allocator. TAL_ERR_NULL when `out` is
/// missing or the allocator has no such function.
tal_status tali_function_begin(tali_function_call *call, const char *where,
                               const tal_allocator *allocator, tal_function **out, tal_error *err);

/// TAL_OK, or TAL_ERR_NULL and a broken contract saying that `subject` is NULL.
tal_status tali_function_check_pointer(const tali_function_call *call, const char *subject,
                                       const void *pointer);

/// TAL_OK, or TAL_ERR_NOT_FINITE naming `subject` and the value.
tal_status tali_function_check_number(const tali_function_call *call, const char *subject,
                                      double value);

/// TAL_OK, or TAL_ERR_NOT_FINITE naming `subject`, the index and the value.
tal_status tali_function_check_finite(const tali_function_call *call, const char *subject,
                                      const double values[], int count);

/// The head of every built-in `self`, so that one `destroy` serves them all.
typedef struct tali_function_block {
    tal_allocator allocator;
    size_t size;
} tali_function_block;

/// A zero-filled `self` of `size` bytes that begins with a tali_function_block. NULL, and the
/// failure recorded, when memory runs out.
void *tali_function_block_create(const tali_function_call *call, size_t size);

/// The `destroy` of every built-in; NULL is allowed.
void tali_function_block_destroy(void *self);

/// Close a `create` call: tal_function_create() with `def`, whose `self` is a block and is
/// destroyed on failure.
tal_status tali_function_finish(const tali_function_call *call, const tal_function_def *def);

/// Derivative of order >= 0 at t of the polynomial sum a[k] t^k, k = 0..degree; its limit when t is
/// infinite.
double tali_function_poly_derivative(const double a[], int degree, double t, int order);

/// Integral from 0 to t of the polynomial sum a[k] t^k, k = 0..degree.
double tali_function_poly_integral(const double a[], int degree, double t);

/// TAL_OK, or a failure that names the point: `least` or more of them, finite, x increasing.
tal_status tali_function_check_knots(const tali_function_call *call, const double x[],
                                     const double y[], int count, int least);

/// @name Facts of the functions in each file. False, and nothing written, for a table of another.
/// @{
bool tali_function_basic_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts);
bool tali_function_terms_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts);
bool tali_function_piecewise_facts(const tal_function_ops *ops, const void *self,
                                   tali_function_facts *facts);
bool tali_function_nodes_facts(const tal_function_ops *ops, const void *self,
                               tali_function_facts *facts);
bool tali_function_bezier_facts(const tal_function_ops *ops, const void *self,
                                tali_function_facts *facts);
bool tali_function_combined_facts(const tal_function_ops *ops, const void *self,
                                  tali_function_facts *facts);
/// @}

#endif // TALUS_FUNCTION_INTERNAL_H
