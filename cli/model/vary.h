// What is varied by talus sweep, sensitivities and fit: names, ranges, and samples of them.
#ifndef TALUS_CLI_VARY_H
#define TALUS_CLI_VARY_H

#include "cli.h"
#include "model/model.h"

// Numbers that are varied. A <param> may be anything, also something that only a System holds; all
// others are numbers of the State.
typedef struct cli_vary {
    int num;
    char *names[CLI_MAX_OPTIONS]; // owned
    double low[CLI_MAX_OPTIONS], high[CLI_MAX_OPTIONS];
    int levels[CLI_MAX_OPTIONS];
    tal_distribution distributions[CLI_MAX_OPTIONS];
    tal_design design;              // of all of them
    bool is_param[CLI_MAX_OPTIONS]; // once they are sorted
} cli_vary;

// Read --vary, --samples, --latin and --seed. An exit code; free it in any case. It stays where it
// is, since its design points into it.
int vary_read(const cli_args *args, cli_vary *it);
void vary_free(const cli_vary *it);

// Read --parameter, NAME or with `with_range` also NAME=LOW:HIGH: names and ranges, infinite where
// none is given. As vary_read().
int vary_read_names(const cli_args *args, bool with_range, cli_vary *it);
// The value that each name has in a model: [it->num]. After vary_sort().
void vary_values(const cli_vary *it, const cli_model *model, double values[]);

// Find which names are <param>s; an exit code, and a message for a name that is nothing.
int vary_sort(const cli_args *args, const cli_model *model, cli_vary *it);

// Read the model with the <param>s of a sample's values: [it->num]. An exit code.
int vary_read_model(const cli_args *args, const cli_vary *it, const double values[],
                    cli_model *model);
// Are the <param>s of two samples the same, so that one model serves both?
bool vary_same_params(const cli_vary *it, const double a[], const double b[]);

// The other names as numbers of a model's State: how many; -1 if the model lacks one, whose name is
// in `missing` then.
int vary_numbers(const cli_vary *it, const cli_model *model, tal_parameter numbers[],
                 const char **missing);

// What columns depend on, the numbers of variables and so on: have two models the same?
typedef struct vary_shape {
    size_t nq, nu, measures, state;
} vary_shape;

vary_shape vary_shape_of(const cli_model *model);
bool vary_has_shape(const cli_model *model, vary_shape shape);

#endif // TALUS_CLI_VARY_H
