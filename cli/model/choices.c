// Choices among which a sweep compares.
#include "model/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Of the reference, which is compared with one that is ten times as loose.
static const double REFERENCE_ACCURACY = 1e-12;
// The same for methods on which accuracies below this have no effect (talus/study/integrator.h).
static const double MULTISTEP_ACCURACY = 1e-10;

static const char *method_at(const void *context, int i)
{
    (void)context;
    return tal_method_name(i);
}

// --- values ---

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

// By name alone: of what ".enabled" is said, and whether there is such a number, is found later.
static choice_kind kind_of(const char *name)
{
    if (strcmp(name, "integrator") == 0) return CHOICE_INTEGRATOR;
    if (strcmp(name, "accuracy") == 0) return CHOICE_ACCURACY;
    if (strcmp(name, "step") == 0) return CHOICE_STEP;
    if (strcmp(name, "angles") == 0) return CHOICE_ANGLES;
    return ends_with(name, ".enabled") ? CHOICE_FORCE : CHOICE_NUMBER;
}

static bool is_switch(choice_kind kind)
{
    return kind == CHOICE_ANGLES || kind == CHOICE_FORCE;
}

// One item of a list; false if it makes no sense.
static bool read_item(choice_kind kind, const char *text, double *value)
{
    if (kind == CHOICE_INTEGRATOR) {
        const int method = tal_method_find(text);
        *value = method;
        return method >= 0;
    }
    if (is_switch(kind)) {
        *value = strcmp(text, "yes") == 0;
        return *value == 1.0 || strcmp(text, "no") == 0;
    }
    const char *const end = tal_number_read(text, NULL, value);
    if (end == NULL || *end != 0 || !isfinite(*value)) return false;
    return kind == CHOICE_NUMBER || *value > 0.0 || (kind == CHOICE_STEP && *value == 0.0);
}

// LOW:HIGH:COUNT; accuracies and steps in equal ratios.
static bool read_range(choice_set *set, const char *text)
{
    double low = 0.0, high = 0.0;
    int num = 0;
    const char *end = tal_number_read(text, NULL, &low);
    if (end == NULL || *end != ':') return false;
    end = tal_number_read(end + 1, NULL, &high);
    if (end == NULL || *end != ':') return false;
    end = tal_integer_read(end + 1, NULL, &num);
    const bool has_ratios = set->kind == CHOICE_ACCURACY || set->kind == CHOICE_STEP;
    const bool is_good = isfinite(low) && isfinite(high) && num > 1 && num <= 1000;
    if (end == NULL || *end != 0 || !is_good) return false;
    if (set->kind == CHOICE_INTEGRATOR || is_switch(set->kind)) return false;
    if (has_ratios && !(low > 0.0 && high > 0.0)) return false;
    set->values = cli_alloc((size_t)num, sizeof *set->values);
    for (int i = 0; i < num; ++i) {
        const double s = (double)i / (num - 1);
        const double exponent = log10(low) + s * (log10(high) - log10(low)); // of 1e-5: -5
        set->values[i] = has_ratios ? pow(10.0, exponent) : low + s * (high - low);
    }
    set->values[0] = low;
    set->values[num - 1] = high;
    set->num = num;
    return true;
}

static int refuse_item(const cli_args *args, const choice_set *set, const char *item)
{
    if (set->kind == CHOICE_INTEGRATOR) {
        const char *const meant = tal_did_you_mean(item, method_at, NULL);
        return cli_fail(args, CLI_USAGE, "--among: there is no integrator '%s'%s%s%s.", item,
                        meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                        meant != NULL ? "'?)" : "; talus help integrators lists them");
    }
    if (is_switch(set->kind)) {
        return cli_fail(args, CLI_USAGE, "--among %s needs no, yes or no,yes, not '%s'.", set->name,
                        item);
    }
    return cli_fail(args, CLI_USAGE,
                    "--among %s needs %snumbers with commas between them, or LOW:HIGH:COUNT, not "
                    "'%s'.",
                    set->name, set->kind == CHOICE_NUMBER ? "" : "positive ", item);
}

static int read_list(const cli_args *args, choice_set *set, const char *text)
{
    int code = CLI_OK;
    char *const items = cli_copy(text);
    for (char *at = items; at != NULL && code == CLI_OK;) {
        char *const comma = strchr(at, ',');
        if (comma != NULL) *comma = 0;
        set->values = cli_resize(set->values, (size_t)set->num + 1, sizeof *set->values);
        if (!read_item(set->kind, at, &set->values[set->num++])) code = refuse_item(args, set, at);
        at = comma != NULL ? comma + 1 : NULL;
    }
    free(items);
    return code;
}

static int read_set(const cli_args *args, const char *text, cli_choices *it)
{
    choice_set *const set = &it->sets[it->num];
    const char *rest = NULL;
    *set = (choice_set){.name = cli_split(text, &rest)};
    if (set->name == NULL) {
        return cli_fail(args, CLI_USAGE, "--among needs NAME=VALUES, not '%s'.", text);
    }
    for (int i = 0; i < it->num; ++i) {
        if (strcmp(it->sets[i].name, set->name) != 0) continue;
        free(set->name);
        return cli_fail(args, CLI_USAGE, "--among '%s' is given twice.", it->sets[i].name);
    }
    ++it->num;
    set->kind = kind_of(set->name);
    return read_range(set, rest) ? CLI_OK : read_list(args, set, rest);
}

int choices_read(const cli_args *args, const tal_integrator_def *usual, cli_choices *it)
{
    const char *const *texts = NULL;
    const int n = cli_list(args, "among", &texts);
    int code = CLI_OK;
    double combinations = 1.0;
    *it = (cli_choices){.usual = *usual};
    for (int i = 0; i < n && code == CLI_OK; ++i) {
        code = read_set(args, texts[i], it);
        if (code == CLI_OK) combinations *= it->sets[i].num;
    }
    const char *const given = cli_text(args, "reference");
    const char *const name = given != NULL ? given : "verner-8";
    const int method = tal_method_find(name);
    if (code == CLI_OK && method < 0) {
        code = cli_fail(args, CLI_USAGE,
                        "--reference: there is no integrator '%s'; talus help integrators lists "
                        "them.",
                        name);
    }
    if (code == CLI_OK && combinations > 10000.0) {
        code = cli_fail(args, CLI_USAGE, "--among gives %g choices: 10000 at most.", combinations);
    }
    if (code != CLI_OK) return code;
    it->num_choices = (int)combinations;
    it->reference = tal_method_def(method);
    const bool is_multistep =
        it->reference.method == TAL_METHOD_CVODE_BDF || it->reference.method == TAL_METHOD_IDA;
    it->reference.accuracy = is_multistep ? MULTISTEP_ACCURACY : REFERENCE_ACCURACY;
    return CLI_OK;
}

void choices_free(const cli_choices *it)
{
    for (int i = 0; i < it->num; ++i) {
        free(it->sets[i].name);
        free(it->sets[i].values);
    }
}

// --- what names mean ---

// The force or constraint whose name is before ".enabled".
static bool find_switch(const cli_model *model, choice_set *set)
{
    const size_t length = strlen(set->name) - strlen(".enabled");
    for (int f = 0; f < tal_forces_num(model->forces); ++f) {
        const char *const name = tal_force_name(model->forces, (tal_force_ix){f});
        if (strlen(name) != length || memcmp(name, set->name, length) != 0) continue;
        set->at = f;
        return true;
    }
    for (int c = 0; c < tal_matter_num_constraints(model->matter); ++c) {
        const char *const name = tal_constraint_name(model->matter, (tal_constraint_ix){c});
        if (strlen(name) != length || memcmp(name, set->name, length) != 0) continue;
        set->kind = CHOICE_CONSTRAINT;
        set->at = c;
        return true;
    }
    return false;
}

int choices_sort(const cli_args *args, const cli_model *model, cli_vary *vary, cli_choices *it)
{
    for (int i = 0; i < it->num; ++i) {
        choice_set *const set = &it->sets[i];
        if (set->kind == CHOICE_FORCE && !find_switch(model, set)) {
            return cli_fail(args, CLI_USAGE, "there is no force or constraint '%.*s' to enable.",
                            (int)(strlen(set->name) - strlen(".enabled")), set->name);
        }
        if (set->kind != CHOICE_NUMBER) continue;
        for (int k = 0; k < vary->num; ++k) {
            if (strcmp(vary->names[k], set->name) != 0) continue;
            return cli_fail(args, CLI_USAGE, "'%s' cannot be both varied and chosen.", set->name);
        }
        if (vary->num == CLI_MAX_OPTIONS) {
            return cli_fail(args, CLI_USAGE, "more than %d names are varied.", CLI_MAX_OPTIONS);
        }
        set->at = vary->num;
        vary->names[vary->num++] = cli_copy(set->name);
    }
    const int code = vary_sort(args, model, vary);
    if (code != CLI_OK) return code;
    double values[CLI_MAX_OPTIONS];
    vary_values(vary, model, values);
    for (int i = 0; i < it->num; ++i) {
        if (it->sets[i].kind == CHOICE_NUMBER) it->sets[i].file = values[it->sets[i].at];
    }
    return CLI_OK;
}

bool choices_change_coordinates(const cli_choices *it)
{
    for (int i = 0; i < it->num; ++i) {
        if (it->sets[i].kind == CHOICE_ANGLES) return true;
    }
    return false;
}

// --- one choice ---

double choices_value(const cli_choices *it, const choice_set *set, int choice)
{
    if (choice < 0) return set->file;
    for (const choice_set *last = it->sets + it->num - 1; last > set; --last) {
        choice /= last->num;
    }
    return set->values[choice % set->num];
}

void choices_fill_numbers(const cli_choices *it, int choice, double values[])
{
    for (int i = 0; i < it->num; ++i) {
        const choice_set *const set = &it->sets[i];
        if (set->kind == CHOICE_NUMBER) values[set->at] = choices_value(it, set, choice);
    }
}

tal_integrator_def choices_integrator(const cli_choices *it, int choice)
{
    tal_integrator_def def = choice < 0 ? it->reference : it->usual;
    for (int i = 0; i < it->num && choice >= 0; ++i) {
        const double value = choices_value(it, &it->sets[i], choice);
        if (it->sets[i].kind == CHOICE_INTEGRATOR) {
            const tal_integrator_def method = tal_method_def((int)value);
            def.method = method.method;
            def.tableau = method.tableau;
            def.order = method.order;
        }
        if (it->sets[i].kind == CHOICE_ACCURACY) def.accuracy = value;
        if (it->sets[i].kind == CHOICE_STEP) def.fixed_step = value;
    }
    return def;
}

tal_status choices_set_state(const cli_choices *it, int choice, const cli_model *model,
                             tal_state *state)
{
    tal_status st = TAL_OK;
    for (int i = 0; i < it->num && choice >= 0 && st == TAL_OK; ++i) {
        const choice_set *const set = &it->sets[i];
        const bool is_on = choices_value(it, set, choice) != 0.0;
        if (set->kind == CHOICE_ANGLES) {
            st = tal_matter_set_use_angles(model->matter, state, is_on);
        } else if (set->kind == CHOICE_FORCE) {
            st = tal_force_set_enabled(model->forces, state, (tal_force_ix){set->at}, is_on);
        } else if (set->kind == CHOICE_CONSTRAINT) {
            st = tal_constraint_set_enabled(model->matter, state, (tal_constraint_ix){set->at},
                                            is_on);
        }
    }
    return st;
}

char *choices_name(const cli_choices *it, int choice)
{
    char *text = cli_copy("");
    for (int i = 0; i < it->num; ++i) {
        const choice_set *const set = &it->sets[i];
        const double value = choices_value(it, set, choice);
        char number[TAL_NUMBER_SIZE];
        (void)tal_number_write(value, number);
        const char *said = number;
        if (set->kind == CHOICE_INTEGRATOR) said = tal_method_name((int)value);
        if (is_switch(set->kind) || set->kind == CHOICE_CONSTRAINT) {
            said = value != 0.0 ? "yes" : "no";
        }
        char *const longer = cli_format("%s%s%s=%s", text, i > 0 ? " " : "", set->name, said);
        free(text);
        text = longer;
    }
    return text;
}
