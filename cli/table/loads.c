// Loads on bodies from the columns of a table.
#include "table/loads.h"

#include "table/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- which columns ---

// Three columns that begin in the same way and end with x, y, z: "ground_force_vx" or "plate.fx".
static int find_three(const cli_args *args, const cli_loads *it, const char *begin, int columns[3])
{
    for (int k = 0; k < 3; ++k) {
        char *const name = cli_format("%s%c", begin, "xyz"[k]);
        char *const dotted = cli_format("%s.%c", begin, "xyz"[k]);
        columns[k] = tal_table_find_column(it->table, name);
        if (columns[k] < 0) columns[k] = tal_table_find_column(it->table, dotted);
        free(name);
        free(dotted);
        if (columns[k] >= 0) continue;
        return cli_fail(args, CLI_USAGE, "%s has no column '%s%c' for --load.", it->path, begin,
                        "xyz"[k]);
    }
    return CLI_OK;
}

typedef struct body_names {
    const tal_matter *matter;
} body_names;

static const char *body_at(const void *context, int i)
{
    const body_names *const it = context;
    return i < tal_matter_num_bodies(it->matter) ? tal_body_name(it->matter, (tal_body_ix){i})
                                                 : NULL;
}

static int find_body(const cli_args *args, const cli_model *model, const char *name,
                     tal_body_ix *out)
{
    for (int b = 1; b < tal_matter_num_bodies(model->matter); ++b) {
        *out = (tal_body_ix){b};
        if (strcmp(tal_body_name(model->matter, *out), name) == 0) return CLI_OK;
    }
    const body_names names = {model->matter};
    const char *const meant = tal_did_you_mean(name, body_at, &names);
    return cli_fail(args, CLI_USAGE, "--load: the model has no body '%s'%s%s%s.", name,
                    meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
}

// BODY=FORCE[,POINT[,TORQUE]]
static int read_load(const cli_args *args, const cli_model *model, const cli_loads *it,
                     const char *text, cli_load *out)
{
    const char *rest = NULL;
    char *const name = cli_split(text, &rest);
    if (name == NULL) {
        return cli_fail(args, CLI_USAGE, "--load needs BODY=FORCE,POINT,TORQUE, not '%s'.", text);
    }
    int *const columns[3] = {out->force, out->point, out->torque};
    for (int k = 0; k < 9; ++k) {
        columns[k / 3][k % 3] = -1;
    }
    int code = find_body(args, model, name, &out->body);
    char *const words = cli_copy(rest);
    int k = 0;
    for (char *word = words; word != NULL && code == CLI_OK; ++k) {
        char *const comma = strchr(word, ',');
        if (comma != NULL) *comma = 0;
        if (k == 3) {
            code = cli_fail(args, CLI_USAGE, "--load '%s' has more than three parts.", text);
        } else if (word[0] != 0) {
            code = find_three(args, it, word, columns[k]);
        }
        word = comma != NULL ? comma + 1 : NULL;
    }
    free(words);
    free(name);
    return code;
}

static int check_table(const cli_args *args, const cli_loads *it)
{
    const tal_table *const table = it->table;
    if (tal_table_num_rows(table) < 1 || strcmp(tal_table_column_name(table, 0), "time") != 0) {
        return cli_fail(args, CLI_BAD_FILE,
                        "the first column of %s must be 'time', and it needs a row.", it->path);
    }
    for (int r = 1; r < tal_table_num_rows(table); ++r) {
        if (tal_table_value(table, r, 0) > tal_table_value(table, r - 1, 0)) continue;
        return cli_fail(args, CLI_BAD_FILE, "%s: the time of row %d is not after that of row %d.",
                        it->path, r + 1, r);
    }
    return CLI_OK;
}

int loads_read(const cli_args *args, const cli_model *model, cli_loads *out)
{
    memset(out, 0, sizeof *out);
    const char *const *texts = NULL;
    const int n = cli_list(args, "load", &texts);
    out->path = cli_text(args, "external");
    if (out->path == NULL) {
        return n == 0 ? CLI_OK : cli_fail(args, CLI_USAGE, "--load needs --external FILE.");
    }
    if (n == 0) {
        return cli_fail(args, CLI_USAGE,
                        "--external %s: say by --load BODY=FORCE,POINT,TORQUE where it acts.",
                        out->path);
    }
    int code = result_read(args, out->path, &out->table);
    if (code == CLI_OK) code = check_table(args, out);
    out->list = cli_alloc((size_t)n, sizeof *out->list);
    for (; out->num < n && code == CLI_OK; ++out->num) {
        code = read_load(args, model, out, texts[out->num], &out->list[out->num]);
    }
    return code;
}

void loads_destroy(cli_loads *it)
{
    tal_table_destroy(it->table);
    free(it->list);
}

// --- at a time ---

// The last row at or before t; -1: none.
static int row_before(const tal_table *table, double t)
{
    int low = -1, high = tal_table_num_rows(table);
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (tal_table_value(table, middle, 0) <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// Three columns between row r and the next one; zero when there are none.
static tal_vec3 read_three(const tal_table *table, const int columns[3], int r, double share)
{
    double v[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3 && columns[0] >= 0; ++k) {
        v[k] = tal_table_value(table, r, columns[k]);
        if (share > 0.0) v[k] += share * (tal_table_value(table, r + 1, columns[k]) - v[k]);
    }
    return tal_v3(v[0], v[1], v[2]);
}

static bool is_finite(tal_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

int loads_add(const cli_args *args, const cli_loads *it, const cli_model *model,
              const tal_state *state, tal_spatial_vec F_GB[])
{
    if (it->table == NULL) return CLI_OK;
    const double t = tal_state_t(state);
    const int r = row_before(it->table, t), last = tal_table_num_rows(it->table) - 1;
    if (r < 0 || (r == last && t > tal_table_value(it->table, last, 0))) return CLI_OK;
    const double t0 = tal_table_value(it->table, r, 0);
    const double t1 = r < last ? tal_table_value(it->table, r + 1, 0) : t0 + 1.0;
    const double share = (t - t0) / (t1 - t0);
    for (int k = 0; k < it->num; ++k) {
        const cli_load *const load = &it->list[k];
        const tal_vec3 f = read_three(it->table, load->force, r, share);
        const tal_vec3 m = read_three(it->table, load->torque, r, share);
        const tal_vec3 p_GBo = tal_body_p_GB(model->matter, state, load->body);
        const tal_vec3 p =
            load->point[0] >= 0 ? read_three(it->table, load->point, r, share) : p_GBo;
        const tal_vec3 moment = tal_v3_add(m, tal_v3_cross(tal_v3_sub(p, p_GBo), f));
        if (!is_finite(f) || !is_finite(moment)) {
            return cli_fail(args, CLI_BAD_FILE, "%s: the load on '%s' is not finite at t = %g.",
                            it->path, tal_body_name(model->matter, load->body), t);
        }
        tal_spatial_vec *const F = &F_GB[load->body.i];
        F->w = tal_v3_add(F->w, moment);
        F->v = tal_v3_add(F->v, f);
    }
    return CLI_OK;
}

void loads_check_times(const cli_args *args, const cli_loads *it, double first, double last)
{
    if (it->table == NULL) return;
    const double begin = tal_table_value(it->table, 0, 0);
    const double end = tal_table_value(it->table, tal_table_num_rows(it->table) - 1, 0);
    if (begin <= first && end >= last) return;
    cli_warn(args,
             "%s has loads from t = %g to %g only, the motion goes from %g to %g; "
             "there are none outside.",
             it->path, begin, end, first, last);
}
