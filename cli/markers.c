// Files of markers.
#include "markers.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 1024,
    MAX_FIELDS = 6
};

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL) {
        text[--length] = 0;
    }
    return text;
}

// Cut a line at its commas; how many fields there are.
static int cut(char *line, char *fields[])
{
    int n = 0;
    for (char *field = line; field != NULL; ++n) {
        char *const comma = strchr(field, ',');
        if (comma != NULL) *comma = 0;
        if (n < MAX_FIELDS) fields[n] = trim(field);
        field = comma != NULL ? comma + 1 : NULL;
    }
    return n;
}

static void add(cli_markers *out, const tal_marker *marker)
{
    const size_t n = (size_t)out->num + 1;
    out->list = cli_resize(out->list, n, sizeof *out->list);
    out->names = cli_resize(out->names, n, sizeof *out->names);
    out->list[out->num] = *marker;
    out->list[out->num].name = cli_copy(marker->name);
    out->names[out->num] = out->list[out->num].name;
    ++out->num;
}

// One line: a marker, or a diagnostic.
static void read_line(char *text, int line, const char *path, const cli_model *model,
                      cli_markers *out, tal_diagnostics *found)
{
    char *fields[MAX_FIELDS];
    const int n = cut(text, fields);
    double numbers[4] = {0.0, 0.0, 0.0, 1.0};
    if (n < 5 || n > MAX_FIELDS) {
        tal_diagnostics_add(found, TAL_ERROR, path, line, 0,
                            "a marker is NAME, BODY, X, Y, Z[, WEIGHT]; there are %d fields.", n);
        return;
    }
    for (int i = 2; i < n; ++i) {
        const char *const end = tal_number_read(fields[i], NULL, &numbers[i - 2]);
        if (end != NULL && *end == 0) continue;
        tal_diagnostics_add(found, TAL_ERROR, path, line, 0, "'%s' is no number.", fields[i]);
        return;
    }
    const tal_marker marker = {fields[0], tal_matter_find_body(model->matter, fields[1]),
                               tal_v3(numbers[0], numbers[1], numbers[2]), numbers[3]};
    if (marker.body.i < 0) {
        tal_diagnostics_add(found, TAL_ERROR, path, line, 0, "there is no body '%s'.", fields[1]);
        return;
    }
    add(out, &marker);
}

int cli_markers_read(const cli_args *args, const cli_model *model, cli_markers *out)
{
    const char *const path = cli_text(args, "markers");
    FILE *const file = fopen(path, "r");
    if (file == NULL) return cli_fail(args, CLI_BAD_FILE, "%s cannot be read.", path);
    tal_diagnostics *const found = tal_diagnostics_create(NULL);
    char line[LINE];
    for (int i = 1; fgets(line, sizeof line, file) != NULL; ++i) {
        char *const text = trim(line);
        if (text[0] != 0 && text[0] != '#') read_line(text, i, path, model, out, found);
    }
    fclose(file);
    const int errors = tal_diagnostics_num_errors(found);
    cli_print_diagnostics(args, found);
    if (errors > 0) return CLI_BAD_FILE;
    return out->num > 0 ? CLI_OK : cli_fail(args, CLI_BAD_FILE, "%s has no markers.", path);
}

void cli_markers_destroy(cli_markers *markers)
{
    for (int i = 0; i < markers->num; ++i) {
        free((char *)markers->list[i].name);
    }
    free(markers->list);
    free(markers->names);
}
