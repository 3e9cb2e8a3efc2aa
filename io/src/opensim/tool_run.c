// Set-up files: which tool, with which model; its results.
#include "alloc_internal.h"
#include "error_internal.h"

#include "model/model_internal.h"
#include "opensim/tool_internal.h"
#include "text/reading_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tal_osim_run_options tal_osim_run_options_default(void)
{
    const tal_osim_run_options options = {.allocator = tal_allocator_default(), .lanes = 1};
    return options;
}

// --- results ---

typedef struct result {
    char *path;
    size_t size;      // of the path
    tal_table *table; // NULL: a text
    tali_scene_bytes text;
} result;

struct tal_osim_results {
    tal_allocator allocator;
    result *items;
    int num, capacity;
    char tool[64];
    char model[512];
};

void tal_osim_results_destroy(tal_osim_results *results)
{
    if (results == NULL) return;
    const tal_allocator allocator = results->allocator;
    for (int i = 0; i < results->num; ++i) {
        tal_table_destroy(results->items[i].table);
        tali_free(&allocator, results->items[i].text.at, results->items[i].text.capacity);
        tali_free(&allocator, results->items[i].path, results->items[i].size);
    }
    tali_free(&allocator, results->items, (size_t)results->capacity * sizeof *results->items);
    tali_free(&allocator, results, sizeof *results);
}

int tal_osim_results_num(const tal_osim_results *results)
{
    if (results != NULL) return results->num;
    (void)TALI_BREACH(TAL_ERR_NULL, "the results are NULL");
    return -1;
}

static const result *result_at(const tal_osim_results *results, int i, const char *where)
{
    if (results != NULL && i >= 0 && i < results->num) return &results->items[i];
    (void)tali_breach(results == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX, where,
                      "there is no result %d", i);
    return NULL;
}

const char *tal_osim_results_path(const tal_osim_results *results, int i)
{
    const result *it = result_at(results, i, __func__);
    return it != NULL ? it->path : "";
}

tal_table *tal_osim_results_table(const tal_osim_results *results, int i)
{
    const result *it = result_at(results, i, __func__);
    return it != NULL ? it->table : NULL;
}

const char *tal_osim_results_text(const tal_osim_results *results, int i, size_t *size)
{
    if (size != NULL) *size = 0;
    const result *it = result_at(results, i, __func__);
    if (it == NULL || it->table != NULL) return NULL;
    if (size != NULL) *size = it->text.size;
    return (const char *)it->text.at;
}

const char *tal_osim_results_tool(const tal_osim_results *results)
{
    if (results != NULL) return results->tool;
    (void)TALI_BREACH(TAL_ERR_NULL, "the results are NULL");
    return "";
}

const char *tal_osim_results_model(const tal_osim_results *results)
{
    if (results != NULL) return results->model;
    (void)TALI_BREACH(TAL_ERR_NULL, "the results are NULL");
    return "";
}

// --- what is wrong ---

bool tali_osim_tool_is_good(const tali_osim_tool *tool)
{
    return !tool->setup.no_memory && tal_diagnostics_num_errors(tool->setup.found) == 0;
}

static void say(tali_osim_tool *tool, tal_severity severity, const char *property, const char *fmt,
                va_list args) TAL_PRINTF(4, 0);

static void say(tali_osim_tool *tool, tal_severity severity, const char *property, const char *fmt,
                va_list args)
{
    const tali_xml_element *at = property != NULL ? tali_xml_child(tool->root, property) : NULL;
    if (at == NULL) at = tool->root;
    char rest[320];
    tali_error_print(rest, sizeof rest, fmt, args);
    tal_diagnostics_add(tool->setup.found, severity, tool->setup.xml->file, at->line, at->column,
                        "%s%s%s%s", property != NULL ? "<" : "", property != NULL ? property : "",
                        property != NULL ? ">: " : "", rest);
}

void tali_osim_tool_error(tali_osim_tool *tool, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(tool, TAL_ERROR, property, fmt, args);
    va_end(args);
}

void tali_osim_tool_warn(tali_osim_tool *tool, const char *property, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(tool, TAL_WARNING, property, fmt, args);
    va_end(args);
}

void tali_osim_tool_fail(tali_osim_tool *tool, tal_status st, const tal_error *err)
{
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_OK && st != TAL_ERR_NO_MEMORY) {
        tali_osim_tool_error(tool, NULL, "%s", err->message);
    }
}

// --- paths ---

const char *tali_osim_tool_folder(tali_osim_tool *tool, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return ".";
    const size_t length = slash == path ? 1 : (size_t)(slash - path);
    const char *folder = tali_arena_copy(&tool->setup.arena, path, length);
    tool->setup.no_memory = tool->setup.no_memory || folder == NULL;
    return folder != NULL ? folder : ".";
}

const char *tali_osim_tool_path(tali_osim_tool *tool, const char *folder, const char *path)
{
    char whole[1024];
    const bool is_whole = path[0] == '/' || strcmp(folder, ".") == 0;
    const int n =
        snprintf(whole, sizeof whole, "%s%s%s", is_whole ? "" : folder, is_whole ? "" : "/", path);
    if (n >= (int)sizeof whole) {
        tali_osim_tool_error(tool, NULL, "the path '%.60s...' is too long", whole);
    }
    for (char *c = whole; *c != '\0'; ++c) {
        if (*c == '\\') *c = '/'; // of Windows
    }
    const char *copy = tali_arena_copy(&tool->setup.arena, whole, strlen(whole));
    tool->setup.no_memory = tool->setup.no_memory || copy == NULL;
    return copy != NULL ? copy : "";
}

// --- properties ---

tal_table *tali_osim_tool_read_table(tali_osim_tool *tool, const char *property)
{
    if (tali_osim_text(tool->root, property) == NULL) {
        tali_osim_tool_error(tool, NULL, "<%s> is missing", property);
        return NULL;
    }
    return tali_osim_tool_read_table_of(tool, tool->root, property);
}

tal_table *tali_osim_tool_read_table_of(tali_osim_tool *tool, const tali_xml_element *object,
                                        const char *property)
{
    const char *file = tali_osim_text(object, property);
    if (file == NULL) return NULL;
    tal_table *table = NULL;
    tal_table_options how = tal_table_options_default();
    how.allocator = tool->options.allocator;
    const char *path = tali_osim_tool_path(tool, tool->folder, file);
    const tal_status st = tal_table_read_file(path, &how, &table, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK && tal_table_num_rows(table) < 1) {
        tali_osim_tool_error(tool, property, "%.200s has no rows", path);
    }
    return table;
}

void tali_osim_tool_time_range(tali_osim_tool *tool, double range[2])
{
    range[0] = -INFINITY;
    range[1] = INFINITY;
    const tali_xml_element *both = tali_osim_property(tool->root, "time_range");
    if (both != NULL && both->text[0] != '\0') {
        if (tali_osim_parse_numbers(both->text, range, 2) != 2) {
            tali_osim_tool_error(tool, "time_range", "'%.40s' is not two times", both->text);
        }
    } else {
        range[0] = tali_osim_number(&tool->setup, tool->root, "initial_time", range[0]);
        range[1] = tali_osim_number(&tool->setup, tool->root, "final_time", range[1]);
    }
    if (!(range[0] <= range[1])) {
        tali_osim_tool_error(tool, "time_range", "%g is not before %g", range[0], range[1]);
    }
}

// --- tables ---

// One more result at that place, without anything in it. NULL when memory runs out.
static result *add_result(tali_osim_tool *tool, const char *file)
{
    tal_osim_results *to = tool->results;
    const char *path = tali_osim_tool_path(tool, tool->results_folder, file);
    const bool good =
        tali_grow(&to->allocator, (void **)&to->items, to->num, &to->capacity, sizeof *to->items);
    result *it = good ? &to->items[to->num] : NULL;
    if (good) {
        it->size = strlen(path) + 1;
        it->path = tali_alloc(&to->allocator, it->size);
        if (it->path != NULL) memcpy(it->path, path, it->size);
        to->num += 1;
    }
    const bool is_there = good && it->path != NULL;
    tool->setup.no_memory = tool->setup.no_memory || !is_there;
    return is_there ? it : NULL;
}

tal_table *tali_osim_tool_add_result(tali_osim_tool *tool, const char *file, const char *title)
{
    result *it = add_result(tool, file);
    if (it == NULL) return NULL;
    it->table = tal_table_create(&tool->results->allocator);
    const bool good = it->table != NULL &&
                      tal_table_set_header(it->table, "name", title) == TAL_OK &&
                      tal_table_add_column(it->table, "time") == TAL_OK;
    tool->setup.no_memory = tool->setup.no_memory || !good;
    return good ? it->table : NULL;
}

void tali_osim_tool_add_text(tali_osim_tool *tool, const char *file, tali_scene_bytes *text)
{
    result *it = text->failed ? NULL : add_result(tool, file);
    if (it == NULL) {
        tool->setup.no_memory = true;
        tali_free(&text->allocator, text->at, text->capacity);
    } else {
        it->text = *text;
    }
    *text = (tali_scene_bytes){.allocator = text->allocator};
}

void tali_osim_tool_add_column(tali_osim_tool *tool, tal_table *table, const char *name,
                               const char *end)
{
    char label[200];
    (void)snprintf(label, sizeof label, "%.150s%.40s", name, end);
    const tal_status st = tal_table_add_column(table, label);
    if (st == TAL_OK) return;
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st != TAL_ERR_NO_MEMORY) {
        tali_osim_tool_error(tool, NULL, "column '%.100s' cannot be added to the results", label);
    }
}

bool tali_osim_tool_tell(tali_osim_tool *tool, int done, int total)
{
    if (tool->options.progress == NULL) return true;
    const bool goes_on = tool->options.progress(tool->options.context, done, total);
    if (!goes_on) atomic_store(&tool->interrupted, true);
    return goes_on;
}

// --- the set-up file ---

// The tool with the settings before its own properties, which are then not found.
static void override(tali_osim_tool *tool, const tali_xml_element *root)
{
    const int n = tool->options.num_settings;
    tali_xml_element *mine = tali_arena_take(&tool->setup.arena, ((size_t)n + 1) * sizeof *mine);
    if (mine == NULL) {
        tool->setup.no_memory = true;
        return;
    }
    mine[n] = *root;
    for (int i = 0; i < n; ++i) {
        const tal_osim_setting *it = &tool->options.settings[i];
        mine[i] = *root;
        mine[i].name = it->name;
        mine[i].text = it->value;
        mine[i].parent = &mine[n];
        mine[i].first = NULL;
        mine[i].next = i + 1 < n ? &mine[i + 1] : root->first;
        mine[i].num_attributes = 0;
    }
    if (n > 0) mine[n].first = mine;
    tool->root = &mine[n];
}

static const struct {
    const char *name;
    void (*run)(tali_osim_tool *tool);
    bool with_discrete; // as tali_osim.with_discrete
    bool own_model;     // it opens models itself
} tools[] = {{"InverseKinematicsTool", tali_osim_tool_ik, false, false},
             {"InverseDynamicsTool", tali_osim_tool_id, false, false},
             {"AnalyzeTool", tali_osim_tool_analyze, true, false},
             {"ForwardTool", tali_osim_tool_forward, false, false},
             {"ScaleTool", tali_osim_tool_scale, false, true},
             {"CMCTool", tali_osim_tool_cmc, false, false},
             {"RRATool", tali_osim_tool_rra, false, false},
             {"IMUInverseKinematicsTool", tali_osim_tool_imu, false, false},
             {"IMUPlacer", tali_osim_tool_place_imu, false, false}};

enum {
    NUM_TOOLS = sizeof tools / sizeof *tools
};

static const char *tool_at(const void *context, int i)
{
    (void)context;
    return i < NUM_TOOLS ? tools[i].name : NULL;
}

// The tool that the document has; NUM_TOOLS, and an error, when it is none that runs.
static int find_tool(tali_osim_tool *tool)
{
    const tali_xml_element *root = tool->setup.xml->root;
    if (strcmp(root->name, "OpenSimDocument") == 0 && root->first != NULL) root = root->first;
    tool->root = root;
    for (int i = 0; i < NUM_TOOLS; ++i) {
        if (strcmp(tools[i].name, root->name) == 0) {
            override(tool, root);
            return i;
        }
    }
    const char *meant = tali_text_did_you_mean(root->name, tool_at, NULL);
    tali_osim_tool_error(tool, NULL, "<%.60s> is not a tool that Talus runs%s%s%s", root->name,
                         meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                         meant != NULL ? "'?)" : "");
    return NUM_TOOLS;
}

// Coordinates begin where the caller says; that is then their default.
static void set_starts(tali_osim_tool *tool, const char *path)
{
    const tal_matter *matter = tool->model.matter;
    const tal_state *state = tool->model.state;
    tool->num_refused = tali_model_set_starts(matter, tool->model.state, tool->options.starts,
                                              tool->options.num_starts, path, tool->setup.found);
    for (int c = 0; c < tool->o.num_coordinates; ++c) {
        tali_osim_coordinate *q = &tool->o.coordinates[c];
        q->value = tal_body_q(matter, state, q->mobility.body, q->mobility.i);
        q->speed = tal_body_u(matter, state, q->mobility.body, q->mobility.i);
    }
}

// Files of forces that are added to those of the model, or replace them.
static void open_more_forces(tali_osim_tool *tool)
{
    const char *files[TALI_OSIM_MORE_FORCES];
    const int n =
        tali_osim_words(&tool->setup, tool->root, "force_set_files", files, TALI_OSIM_MORE_FORCES);
    for (int i = 0; i < n; ++i) {
        const char *path = tali_osim_tool_path(tool, tool->folder, files[i]);
        const tal_status st =
            tali_xml_read_file(path, NULL, &tool->options.allocator,
                               &tool->o.more_forces[tool->o.num_more_forces], tool->setup.found);
        tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
        if (st == TAL_OK) tool->o.num_more_forces += 1;
    }
    tool->o.replace_forces = tali_osim_bool(&tool->setup, tool->root, "replace_force_set", false);
}

void tali_osim_tool_name_model(tali_osim_tool *tool, const char *path)
{
    (void)snprintf(tool->results->model, sizeof tool->results->model, "%s", path);
}

static void open_model(tali_osim_tool *tool)
{
    const char *file = tali_osim_text(tool->root, "model_file");
    if (file == NULL) {
        tali_osim_tool_error(tool, NULL, "<model_file> is missing");
        return;
    }
    const char *path = tali_osim_tool_path(tool, tool->folder, file);
    open_more_forces(tool);
    if (!tali_osim_tool_is_good(tool)) return;
    const tal_status st = tali_osim_open(&tool->o, path, &tool->model);
    tali_osim_hand_on(&tool->o, tool->setup.found);
    tool->setup.no_memory = tool->setup.no_memory || st == TAL_ERR_NO_MEMORY;
    if (st == TAL_OK && tool->options.num_starts > 0) set_starts(tool, path);
    tali_osim_tool_name_model(tool, path);
}

// From an open set-up file to results.
static void run_tool(tali_osim_tool *tool, const char *path)
{
    const int which = find_tool(tool);
    if (which == NUM_TOOLS || tool->setup.no_memory) return;
    tali_osim_check_tree(&tool->setup, tool->root);
    tali_osim_report_ignored(&tool->setup);
    tool->name = tali_osim_name(tool->root);
    tool->folder = tali_osim_tool_folder(tool, path);
    const char *results = tali_osim_text(tool->root, "results_directory");
    tool->results_folder = tali_osim_tool_path(tool, tool->folder, results != NULL ? results : ".");
    (void)snprintf(tool->results->tool, sizeof tool->results->tool, "%s", tools[which].name);
    tool->o.with_discrete = tools[which].with_discrete;
    if (tools[which].run == tali_osim_tool_forward) tali_osim_tool_extend_forward(tool);
    if (tools[which].run == tali_osim_tool_analyze) tali_osim_tool_extend_induced(tool);
    const bool tracks =
        tools[which].run == tali_osim_tool_cmc || tools[which].run == tali_osim_tool_rra;
    if (tracks) tali_osim_tool_extend_loads(tool);
    if (!tools[which].own_model) open_model(tool);
    if (tools[which].own_model && tool->options.num_starts > 0) {
        tali_osim_tool_error(tool, NULL,
                             "it takes the pose from the model's defaults; no start can be given");
    }
    if (tali_osim_tool_is_good(tool)) tools[which].run(tool);
}

static void tool_free(tali_osim_tool *tool)
{
    tal_model_destroy(&tool->model);
    tali_osim_free(&tool->o);
    tali_osim_free(&tool->setup);
}

// How it ended.
static tal_status status_of(const tali_osim_tool *tool)
{
    const int errors = tal_diagnostics_num_errors(tool->setup.found);
    if (tool->setup.no_memory) return TAL_ERR_NO_MEMORY;
    if (errors > 0) return errors == tool->num_refused ? TAL_ERR_BAD_VALUE : TAL_ERR_FILE;
    return atomic_load(&tool->interrupted) ? TAL_ERR_CALLBACK : TAL_OK;
}

// Open the set-up, from a text if there is one, run its tool, hand on what was found.
static tal_status run_set_up(const char *path, const char *text, size_t size,
                             const tal_osim_run_options *options, tal_osim_results **out,
                             tal_diagnostics *found)
{
    tali_osim_tool tool = {.options = options != NULL ? *options : tal_osim_run_options_default()};
    const tal_allocator *allocator = &tool.options.allocator;
    tal_osim_options how = tal_osim_options_default();
    how.allocator = *allocator;
    bool memory = tali_osim_begin(&tool.setup, &how);
    memory = tali_osim_begin(&tool.o, &how) && memory;
    tool.results = tali_alloc(allocator, sizeof *tool.results);
    memory = memory && tool.results != NULL;
    if (tool.results != NULL) tool.results->allocator = *allocator;
    tal_status st = memory ? TAL_OK : TAL_ERR_NO_MEMORY;
    if (st == TAL_OK) {
        st = text != NULL
                 ? tali_xml_read_memory(path, text, size, NULL, allocator, &tool.setup.xml,
                                        tool.setup.found)
                 : tali_xml_read_file(path, NULL, allocator, &tool.setup.xml, tool.setup.found);
    }
    if (st == TAL_OK) {
        run_tool(&tool, path);
        st = status_of(&tool);
    }
    if (found != NULL && tool.setup.found != NULL) tali_osim_copy_found(&tool.setup, found);
    if (st == TAL_OK || st == TAL_ERR_CALLBACK) {
        *out = tool.results;
    } else {
        tal_osim_results_destroy(tool.results);
    }
    tool_free(&tool);
    return st;
}

static tal_status check_settings(const tal_osim_run_options *options)
{
    if (options == NULL) return TAL_OK;
    if (options->num_settings < 0 || options->num_starts < 0 || options->lanes < 1) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "there are %d settings, %d starts and %d lanes",
                           options->num_settings, options->num_starts, options->lanes);
    }
    for (int i = 0; i < options->num_settings; ++i) {
        const tal_osim_setting *it = options->settings != NULL ? &options->settings[i] : NULL;
        if (it == NULL || it->name == NULL || it->value == NULL) {
            return TALI_BREACH(TAL_ERR_NULL, "setting %d is NULL", i);
        }
    }
    if (options->num_starts > 0 && options->starts == NULL) {
        return TALI_BREACH(TAL_ERR_NULL, "the starts are NULL");
    }
    return TAL_OK;
}

tal_status tal_osim_run_file(const char *path, const tal_osim_run_options *options,
                             tal_osim_results **out, tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    tal_status st =
        tali_reading_check(path, path, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st == TAL_OK) st = check_settings(options);
    return st == TAL_OK ? run_set_up(path, NULL, 0, options, out, found) : st;
}

tal_status tal_osim_run_memory(const char *name, const char *text, size_t size,
                               const tal_osim_run_options *options, tal_osim_results **out,
                               tal_diagnostics *found)
{
    if (out != NULL) *out = NULL;
    tal_status st =
        tali_reading_check(name, text, out, options != NULL ? &options->allocator : NULL, __func__);
    if (st == TAL_OK) st = check_settings(options);
    return st == TAL_OK ? run_set_up(name, text, size, options, out, found) : st;
}
