// Formulas as texts: "-k*q - 0.1*qdot^3; k = 20".
//
// The grammar is the one that OpenSim's files have. Numbers, names of arguments, + - * / ^ and
// functions, with ^ before a minus sign before * and /: -x^2 is -(x^2), and a^b^c is a^(b^c). After
// a semicolon names are defined, each by a formula that may use arguments and the names that are
// defined behind it:
//
//     one argument     sqrt exp log sin cos tan sec csc cot asin acos atan sinh cosh tanh erf erfc
//                      step (0 below zero, 1 from there on) delta (1 at zero) abs square cube recip
//                      floor ceil
//     two arguments    min max atan2
//     three arguments  select(c, a, b): a where c is not zero, b where it is
//
// First and second derivatives are exact. At a kink they are those of one side; steps have none.
#ifndef TALUS_IO_EXPRESSION_INTERNAL_H
#define TALUS_IO_EXPRESSION_INTERNAL_H

#include <talus/common/function.h>

/// Most numbers, names, operators and functions in one text.
#define TALI_EXPRESSION_MAX_NODES 256

/**
 * A function from a text.
 *
 * @param[in] arguments  their names in order, with a blank between them: "q qdot"; 1 to
 *                       TAL_FUNCTION_MAX_ARGS
 * @return TAL_OK, TAL_ERR_NO_MEMORY, or TAL_ERR_BAD_VALUE and a message with line and column in the
 *         text
 */
TAL_NODISCARD tal_status tali_expression_create(const tal_allocator *allocator, const char *text,
                                                const char *arguments, tal_function **out,
                                                tal_error *err);

/// The text that a function was made from, and the names of its arguments (may be NULL). Borrowed;
/// NULL for another function.
const char *tali_expression_text(const tal_function *f, const char **arguments);

/// A value and partial derivatives by up to two arguments.
typedef struct tali_expression_partials {
    double v, x, y, xx, xy, yy;
} tali_expression_partials;

/// An operator or a function of one or two arguments; with three: select.
typedef struct tali_expression_operation {
    const char *name;
    int num_args;
    /// Value, and derivatives where `order` is 1 or more.
    tali_expression_partials (*calc)(double x, double y, int order);
} tali_expression_operation;

/// A function of that name; NULL: there is none.
const tali_expression_operation *tali_expression_find(const char *name, size_t length);

/// One of + - * / ^, and '~' for the minus sign before an operand; NULL: another character.
const tali_expression_operation *tali_expression_operator(char c);

#endif // TALUS_IO_EXPRESSION_INTERNAL_H
