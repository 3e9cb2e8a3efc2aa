// What is varied.
#include "model/vary.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// --- the command line ---

static bool read_levels(const char *text, double *low, double *high, int *levels)
{
    const char *end = tal_number_read(text, NULL, low);
    if (end == NULL || *end != ':') return false;
    end = tal_number_read(end + 1, NULL, high);
    *levels = 2;
    if (end != NULL && *end == ':') end = tal_integer_read(end + 1, NULL, levels);
    return end != NULL && *end == 0 && isfinite(*low) && isfinite(*high) && *levels > 0;
}

static int read_ranges(const cli_args *args, cli_vary *it)
{
    const char *const *texts = NULL;
    const int n = cli_list(args, "vary", &texts);
    const char *const *among = NULL;
    if (n == 0 && cli_list(args, "among", &among) == 0) {
        return cli_fail(args, CLI_USAGE, "--vary is missing: NAME=LOW:HIGH:COUNT.");
    }
    for (int i = 0; i < n; ++i) {
        const char *rest = NULL;
        it->names[i] = cli_split(texts[i], &rest);
        it->num = i + 1;
        if (it->names[i] == NULL || !read_levels(rest, &it->low[i], &it->high[i], &it->levels[i])) {
            return cli_fail(args, CLI_USAGE, "--vary needs NAME=LOW:HIGH:COUNT, not '%s'.",
                            texts[i]);
        }
        it->distributions[i] = (tal_distribution){TAL_UNIFORM, it->low[i], it->high[i]};
    }
    return CLI_OK;
}

int vary_read(const cli_args *args, cli_vary *it)
{
    memset(it, 0, sizeof *it);
    const int code = read_ranges(args, it);
    if (code != CLI_OK) return code;
    const int samples = cli_count(args, "samples");
    const uint64_t seed = (uint64_t)cli_count(args, "seed");
    const bool is_latin = cli_flag(args, "latin");
    if (it->num == 0) { // --among alone: one sample, the model as it is
        it->design = tal_design_table(NULL, 0, 1);
    } else if (samples > 0) {
        it->design = (is_latin ? tal_design_latin : tal_design_random)(it->distributions, it->num,
                                                                       seed, samples);
    } else if (is_latin) {
        return cli_fail(args, CLI_USAGE, "--latin needs the number of --samples.");
    } else {
        it->design = tal_design_grid(it->levels, it->low, it->high, it->num);
        if (it->design.num_samples < 1) {
            return cli_fail(args, CLI_USAGE, "there would be too many samples.");
        }
    }
    if (tal_design_check(&it->design, NULL) == TAL_OK) return CLI_OK;
    return cli_fail(args, CLI_USAGE, "--vary needs LOW below HIGH.");
}

int vary_read_names(const cli_args *args, bool with_range, cli_vary *it)
{
    memset(it, 0, sizeof *it);
    const char *const *texts = NULL;
    const int n = cli_list(args, "parameter", &texts);
    const char *const form = with_range ? "NAME or NAME=LOW:HIGH" : "NAME";
    if (n == 0) return cli_fail(args, CLI_USAGE, "--parameter is missing: %s.", form);
    for (int i = 0; i < n; ++i) {
        const char *rest = NULL;
        it->names[i] = cli_split(texts[i], &rest);
        it->low[i] = -(double)INFINITY;
        it->high[i] = (double)INFINITY;
        bool is_good = it->names[i] == NULL && strchr(texts[i], '=') == NULL;
        if (it->names[i] != NULL && with_range) {
            is_good = read_levels(rest, &it->low[i], &it->high[i], &it->levels[i]) &&
                      it->low[i] < it->high[i];
        }
        if (it->names[i] == NULL) it->names[i] = cli_copy(texts[i]);
        it->num = i + 1;
        if (!is_good) {
            return cli_fail(args, CLI_USAGE, "--parameter needs %s, not '%s'.", form, texts[i]);
        }
        for (int k = 0; k < i; ++k) {
            if (strcmp(it->names[k], it->names[i]) != 0) continue;
            return cli_fail(args, CLI_USAGE, "--parameter '%s' is given twice.", it->names[i]);
        }
    }
    return CLI_OK;
}

void vary_free(const cli_vary *it)
{
    for (int i = 0; i < it->num; ++i) {
        free(it->names[i]);
    }
}

// --- numbers of the State: a coordinate, a speed, BODY.mass, FORCE.NAME ---

static bool find_mass(const cli_model *model, const char *name, tal_parameter *out)
{
    const char *const dot = strrchr(name, '.');
    for (int b = 1; b < tal_matter_num_bodies(model->matter) && dot != NULL; ++b) {
        const tal_body_ix body = {b};
        const char *const body_name = tal_body_name(model->matter, body);
        const size_t length = strlen(body_name);
        if (strcmp(dot, ".mass") != 0 || length != (size_t)(dot - name)) continue;
        if (memcmp(body_name, name, length) != 0) continue;
        *out = tal_parameter_mass(name, model->matter, body);
        return true;
    }
    return false;
}

static bool find_force_number(const cli_model *model, const char *name, tal_parameter *out)
{
    const char *const dot = strrchr(name, '.');
    for (int f = 0; f < tal_forces_num(model->forces) && dot != NULL; ++f) {
        const tal_force_ix force = {f};
        const char *const force_name = tal_force_name(model->forces, force);
        const size_t length = strlen(force_name);
        if (length != (size_t)(dot - name) || memcmp(force_name, name, length) != 0) continue;
        for (int k = 0; k < tal_force_num_params(model->forces, force); ++k) {
            if (strcmp(tal_force_param_name(model->forces, force, k), dot + 1) != 0) continue;
            *out = tal_parameter_force(name, model->forces, force, k);
            return true;
        }
    }
    return false;
}

// A name as a number of the State that can be varied.
static bool find_number(const cli_model *model, const char *name, tal_parameter *out)
{
    const tal_matter *const matter = model->matter;
    int i = -1, k = -1;
    const tal_body_ix turned = tal_matter_find_coordinate(matter, model->state, name, &i);
    const tal_body_ix moving = tal_matter_find_speed(matter, model->state, name, &k);
    if (turned.i >= 0) *out = tal_parameter_q(name, matter, turned, i);
    if (moving.i >= 0) *out = tal_parameter_u(name, matter, moving, k);
    return turned.i >= 0 || moving.i >= 0 || find_mass(model, name, out) ||
           find_force_number(model, name, out);
}

// What it is in the model.
static double value_of(const cli_model *model, const char *name)
{
    const tal_matter *const matter = model->matter;
    int i = -1, k = -1;
    const tal_body_ix turned = tal_matter_find_coordinate(matter, model->state, name, &i);
    if (turned.i >= 0) return tal_body_q(matter, model->state, turned, i);
    const tal_body_ix moving = tal_matter_find_speed(matter, model->state, name, &k);
    if (moving.i >= 0) return tal_body_u(matter, model->state, moving, k);
    tal_parameter number;
    const bool is_mass = find_mass(model, name, &number);
    if (is_mass) {
        return tal_body_mass_props(matter, model->state, (tal_body_ix){number.i}).mass;
    }
    if (find_force_number(model, name, &number)) {
        return tal_force_param(model->forces, model->state, (tal_force_ix){number.i}, number.j);
    }
    for (i = 0; i < model->file.num_params; ++i) {
        if (strcmp(model->file.params[i].name, name) == 0) return model->file.params[i].value;
    }
    return (double)NAN;
}

// --- what can be varied, to suggest names for misspelled ones ---

typedef struct names {
    char **list; // [num] owned, as they are
    int num;
} names;

static const char *name_at(const void *context, int i)
{
    const names *const all = context;
    return i < all->num ? all->list[i] : NULL;
}

static void add_name(names *all, const char *fmt, ...) TAL_PRINTF(2, 3);

static void add_name(names *all, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    all->list = cli_resize(all->list, (size_t)all->num + 1, sizeof *all->list);
    all->list[all->num++] = cli_format_list(fmt, list);
    va_end(list);
}

// All that a name can be, body by body, then forces and <param>s.
static void add_names(names *all, const cli_model *model)
{
    const tal_matter *const matter = model->matter;
    for (int b = 1; b < tal_matter_num_bodies(matter); ++b) {
        const tal_body_ix body = {b};
        const char *const body_name = tal_body_name(matter, body);
        for (int i = 0; i < tal_body_nq(matter, model->state, body); ++i) {
            char name[TAL_COORDINATE_NAME_SIZE];
            if (tal_body_coordinate_name(matter, model->state, body, i, name) != TAL_OK) continue;
            add_name(all, "%s", name);
        }
        for (int i = 0; i < tal_body_nu(matter, body); ++i) {
            add_name(all, "%s.u%d", body_name, i);
        }
        add_name(all, "%s.mass", body_name);
    }
    for (int f = 0; f < tal_forces_num(model->forces); ++f) {
        const tal_force_ix force = {f};
        for (int k = 0; k < tal_force_num_params(model->forces, force); ++k) {
            add_name(all, "%s.%s", tal_force_name(model->forces, force),
                     tal_force_param_name(model->forces, force, k));
        }
    }
    for (int i = 0; i < model->file.num_params; ++i) {
        add_name(all, "%s", model->file.params[i].name);
    }
}

static bool is_param(const cli_model *model, const char *name)
{
    for (int i = 0; i < model->file.num_params; ++i) {
        if (strcmp(model->file.params[i].name, name) == 0) return true;
    }
    return false;
}

// Say that a name is nothing that can be varied, and which one may be meant.
static int refuse_name(const cli_args *args, const cli_model *model, const char *name)
{
    names all = {0};
    add_names(&all, model);
    const char *const meant = tal_did_you_mean(name, name_at, &all);
    const int code =
        cli_fail(args, CLI_USAGE,
                 "there is no '%s' to vary%s%s%s; coordinates, speeds as BODY.u0, masses as "
                 "BODY.mass, numbers of forces as FORCE.NAME and <param>s can be varied.",
                 name, meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                 meant != NULL ? "'?)" : "");
    for (int k = 0; k < all.num; ++k) {
        free(all.list[k]);
    }
    free(all.list);
    return code;
}

// --- for the command ---

int vary_sort(const cli_args *args, const cli_model *model, cli_vary *it)
{
    int code = CLI_OK;
    for (int i = 0; i < it->num && code == CLI_OK; ++i) {
        tal_parameter number;
        it->is_param[i] = !find_number(model, it->names[i], &number);
        if (it->is_param[i] && !is_param(model, it->names[i])) {
            code = refuse_name(args, model, it->names[i]);
        }
    }
    return code;
}

void vary_values(const cli_vary *it, const cli_model *model, double values[])
{
    for (int i = 0; i < it->num; ++i) {
        values[i] = value_of(model, it->names[i]);
    }
}

vary_shape vary_shape_of(const cli_model *model)
{
    return (vary_shape){.nq = (size_t)tal_state_nq(model->state),
                        .nu = (size_t)tal_state_nu(model->state),
                        .measures = (size_t)tal_system_num_measures(model->system),
                        .state = tal_state_save_size(model->state)};
}

bool vary_has_shape(const cli_model *model, vary_shape shape)
{
    const vary_shape own = vary_shape_of(model);
    return own.nq == shape.nq && own.nu == shape.nu && own.measures == shape.measures &&
           own.state == shape.state;
}

int vary_read_model(const cli_args *args, const cli_vary *it, const double values[],
                    cli_model *model)
{
    tal_model_param params[CLI_MAX_OPTIONS];
    int n = 0;
    for (int i = 0; i < it->num; ++i) {
        if (!it->is_param[i]) continue;
        params[n].name = it->names[i];
        params[n++].value = values[i];
    }
    return cli_model_read(args, args->files[0], params, n, model);
}

bool vary_same_params(const cli_vary *it, const double a[], const double b[])
{
    for (int i = 0; i < it->num; ++i) {
        if (it->is_param[i] && a[i] != b[i]) return false;
    }
    return true;
}

int vary_numbers(const cli_vary *it, const cli_model *model, tal_parameter numbers[],
                 const char **missing)
{
    int n = 0;
    for (int i = 0; i < it->num; ++i) {
        if (it->is_param[i]) continue;
        if (!find_number(model, it->names[i], &numbers[n++])) {
            *missing = it->names[i];
            return -1;
        }
    }
    return n;
}
