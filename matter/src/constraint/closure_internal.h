// Calling loop-closure functions, and reporting their mistakes.
#ifndef TALUS_CLOSURE_INTERNAL_H
#define TALUS_CLOSURE_INTERNAL_H

#include "operator/op_dense_internal.h"

#include <talus/matter/closure.h>

/// TAL_OK if the table is complete and fits the matter; a breach otherwise.
tal_status tali_closure_check(const tal_matter *matter, const tal_closure *closure,
                              const char *where);

/// q = gamma(y) ([nq]); the sentence in the State names the closure.
tal_status tali_closure_q(const tal_closure *closure, tal_state *state, const double y[], int nq,
                          double q[]);

/// K(y), nu x num_y.
tal_status tali_closure_K(const tal_closure *closure, tal_state *state, const double y[],
                          tal_matrix K);

/// k(y, ydot) ([nu]); zeros at rest.
tal_status tali_closure_k(const tal_closure *closure, tal_state *state, int nu, double k[]);

#endif // TALUS_CLOSURE_INTERNAL_H
