// A function that was recorded, and how it becomes C.
#ifndef TALUS_GENERATE_FUNCTION_H
#define TALUS_GENERATE_FUNCTION_H

#include "generate/generate_internal.h"
#include "scene/scene_internal.h"

enum {
    TALI_GENERATE_NAME = 96
};

typedef struct tali_generate_function {
    char name[TALI_GENERATE_NAME];
    char method[TALI_GENERATE_NAME];
    const char *about; ///< what it gives, for the header
    tali_graph graph;
    tal_operation_count count;
} tali_generate_function;

/// The statements of a function, cut into parts. Values that a later part needs have a slot in an
/// array of the caller's.
typedef struct tali_generate_parts {
    int num_parts, num_statements, num_slots;
    int *part;   ///< [num] of the graph: which part computes a node; -1: no statement of its own
    int *slot;   ///< [num] where it is kept; -1: nowhere
    int *last;   ///< [num] the last part that reads it
    int *uses;   ///< [num]
    int *loaded; ///< [num] the last part for which it was loaded; 0: none, as part 0 loads nothing
    tal_allocator allocator;
    void *block;
    size_t bytes;
} tali_generate_parts;

/// Cut a function; false when memory runs out.
bool tali_generate_cut(const tali_graph *g, int max_statements, tali_generate_parts *parts);
/// Which statements a statement reads: its operands, and those of products that stand in it.
/// Returns how many.
int tali_generate_reads(const tali_graph *g, const tali_generate_parts *it, int i, int reads[4]);

void tali_generate_parts_free(tali_generate_parts *parts);

/// How a function is written.
typedef struct tali_generate_style {
    const char *type;   ///< of numbers
    const char *suffix; ///< of functions of libm and of constants
    int max_statements;
} tali_generate_style;

/// The head of a function without its semicolon.
void tali_generate_put_prototype(tali_scene_bytes *out, const tali_generate_function *f,
                                 const tali_generate_style *style);

/// The function, its parts before it.
void tali_generate_put_function(tali_scene_bytes *out, const tali_generate_function *f,
                                const tali_generate_style *style);

#endif // TALUS_GENERATE_FUNCTION_H
