// The reference of the file format, from the table that the reader follows.
#include "model/model_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tali_model_sink_put(tali_model_sink *out, const char *fmt, ...)
{
    const size_t left = out->length < out->size ? out->size - out->length : 0;
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(left > 0 ? out->text + out->length : NULL, left, fmt, args);
    va_end(args);
    if (n > 0) out->length += (size_t)n;
}

void tali_model_sink_text(tali_model_sink *out, const char *text, size_t length)
{
    const size_t left = out->length < out->size ? out->size - out->length - 1 : 0;
    const size_t fits = length < left ? length : left;
    if (out->length < out->size) {
        memcpy(out->text + out->length, text, fits);
        out->text[out->length + fits] = '\0';
    }
    out->length += length;
}

// The type of an attribute in words.
static void put_type(tali_model_sink *out, const tali_model_attribute *a)
{
    static const char *const names[] = {[TALI_TYPE_NAME] = "name",
                                        [TALI_TYPE_TEXT] = "text",
                                        [TALI_TYPE_REAL] = "number",
                                        [TALI_TYPE_REALS] = "numbers",
                                        [TALI_TYPE_FRAME] = "frame",
                                        [TALI_TYPE_ROTATION] = "rotation",
                                        [TALI_TYPE_INTEGER] = "whole number",
                                        [TALI_TYPE_BOOL] = "yes or no",
                                        [TALI_TYPE_WORD] = "", // the words
                                        [TALI_TYPE_BODY] = "body",
                                        [TALI_TYPE_MEASURE] = "measure",
                                        [TALI_TYPE_CONSTRAINT] = "constraint",
                                        [TALI_TYPE_FUNCTION] = "function",
                                        [TALI_TYPE_MATERIAL] = "material",
                                        [TALI_TYPE_WRAP] = "obstacle",
                                        [TALI_TYPE_PATH] = "path",
                                        [TALI_TYPE_UNILATERAL] = "unilateral element",
                                        [TALI_TYPE_FORCE] = "force",
                                        [TALI_TYPE_MOBILITY] = "mobility",
                                        [TALI_TYPE_MOBILITIES] = "mobilities",
                                        [TALI_TYPE_BODIES] = "bodies"};
    const bool several = a->type == TALI_TYPE_REAL && a->count != 1;
    if (several) tali_model_sink_put(out, "%d ", a->count);
    tali_model_sink_put(out, "%s%s", names[a->type], several ? "s" : "");
    for (const char *at = a->type == TALI_TYPE_WORD ? a->words : ""; *at != '\0'; ++at) {
        if (*at == '|') {
            tali_model_sink_put(out, ", ");
        } else {
            tali_model_sink_put(out, "%c", *at);
        }
    }
    if ((a->flags & TALI_IS_ANGLE) != 0) tali_model_sink_put(out, ", angle");
    if ((a->flags & TALI_OF_MOBILITY) != 0) {
        tali_model_sink_put(out, ", angle if the coordinate is");
    }
    if ((a->flags & TALI_POSITIVE_NUMBER) != 0) tali_model_sink_put(out, ", positive");
    if ((a->flags & TALI_NO_NEGATIVE_NUMBER) != 0) tali_model_sink_put(out, ", not negative");
}

static void put_attributes(tali_model_sink *out, const tali_model_attribute *list)
{
    if (list == NULL || list[0].name == NULL) return;
    tali_model_sink_put(out, "| attribute | value | default | meaning |\n|---|---|---|---|\n");
    for (int i = 0; list[i].name != NULL; ++i) {
        tali_model_sink_put(out, "| `%s` | ", list[i].name);
        put_type(out, &list[i]);
        tali_model_sink_put(out, " | ");
        if (list[i].initial == NULL) {
            tali_model_sink_put(out, "required");
        } else if (*list[i].initial != '\0') {
            tali_model_sink_put(out, "`%s`", list[i].initial);
        }
        tali_model_sink_put(out, " | %s |\n", list[i].doc);
    }
    tali_model_sink_put(out, "\n");
}

static void put_group(tali_model_sink *out, const char *title, tali_model_group group)
{
    const tali_model_row *rows = tali_model_rows(group);
    tali_model_sink_put(out, "## %s\n\n", title);
    if (rows[0].shared != NULL || rows[1].shared != NULL) {
        tali_model_sink_put(out, "All of them have:\n\n");
        put_attributes(out, rows[0].shared != NULL ? rows[0].shared : rows[1].shared);
    }
    for (int i = 0; rows[i].name != NULL; ++i) {
        tali_model_sink_put(out, "### `<%s>`\n\n%s\n\n", rows[i].name, rows[i].doc);
        if (rows[i].shared == NULL && rows[1].shared != NULL) {
            tali_model_sink_put(out, "It has only these attributes:\n\n");
        }
        put_attributes(out, rows[i].own);
    }
}

static const char introduction[] =
    "# Model files\n"
    "\n"
    "A model file, `.talus`, is XML in UTF-8: a System, and the State in which it begins. This page is generated\n"
    "from the table that the reader uses (`io/src/model/`); a test compares them.\n"
    "\n"
    "```xml\n"
    "<talus version=\"1\" name=\"pendulum\" units=\"deg\">\n"
    "  <param name=\"length\" value=\"0.5\"/>\n"
    "  <bodies>\n"
    "    <pin name=\"bob\" mass=\"1\" com=\"0 -$length 0\" q=\"30\"/>\n"
    "  </bodies>\n"
    "  <forces>\n"
    "    <gravity g=\"0 -9.81 0\"/>\n"
    "  </forces>\n"
    "</talus>\n"
    "```\n"
    "\n"
    "The whole file is checked before anything is built, and every mistake is reported with\n"
    "file, line and column. Nothing is built from a file with an error.\n"
    "\n"
    "## Values\n"
    "\n"
    "- **number**: `1`, `-2.5e-3`, `inf` where it makes sense; the decimal separator is always a point. A number\n"
    "  is read as the nearest double. `$name`, `-$name` and `2.5*$name` use a `<param>`.\n"
    "- **numbers**: separated by blanks.\n"
    "- **frame**: `x y z`, the origin; or `x y z a b c`, the origin and body-fixed angles about x, y, z; or\n"
    "  twelve numbers, the origin and the axes x, y, z. **rotation**: the same without the origin.\n"
    "- **body**: a name; `ground` is built in. Bodies may be in any order.\n"
    "- **mobility**: the name of a `<coordinate>`; or a body that has one, or `body:2` for its third (`body`\n"
    "  alone is the first of several). Forces on coordinates number them as if orientations were angles. If a\n"
    "  body has the same name, the name means the body. A name means a speed if that is the rate of the\n"
    "  coordinate.\n"
    "  **mobilities**: separated by `;`.\n"
    "- **material**: `soft`, `rubber`, `capsid`, `nylon`, `lead`, `concrete`, `steel`, `diamond`, `rigid`, or a name from\n"
    "  `<materials>` above.\n"
    "- **angle**: in the `units` of the file; everything else is in SI units. Coordinates and speeds are\n"
    "  converted if they are angles or rates of angles.\n"
    "\n"
    "A program can register elements of its own, with attributes and functions that build and describe them\n"
    "(`talus/io/registry.h`). They are used like the built-in ones.\n"
    "\n"
    "## Version\n"
    "\n"
    "`version` is that of the format, not of Talus. Within version 1:\n"
    "\n"
    "- A file that an older Talus read without an error is read without an error, and means the same: the same\n"
    "  bodies, forces and constraints, the same numbers in the State, and the same motion to the accuracy of a\n"
    "  run.\n"
    "- New elements, attributes, words and functions may be added. What was not there before has a default\n"
    "  that changes nothing.\n"
    "- Nothing is removed or renamed, no default changes, and no element means something else. Where a better\n"
    "  way is added, the old one stays, and may get a note.\n"
    "- What was refused may be accepted, and the text of an error may change.\n"
    "- A defect may be fixed, which changes its wrong results; the list of changes says so.\n"
    "- An older Talus refuses what it does not know, with line and column. It never skips it.\n"
    "\n"
    "Anything else needs version 2, which would be read beside version 1, not instead of it.\n"
    "`tests/io/old_files/` holds files of each release, with what they meant; a test reads them all.\n"
    "\n"
    "## Limits\n"
    "\n"
    "DOCTYPE with entities or references is not allowed. Comments are ignored. Elements can be nested 64 levels deep, one\n"
    "tag can be 1 MiB long, and a file 256 MiB.\n"
    "\n";

size_t tal_model_reference(char text[], size_t size)
{
    tali_model_sink out = {text, text != NULL ? size : 0, 0};
    tali_model_sink_put(&out, "%s", introduction);
    put_group(&out, "The file", TALI_GROUP_TOP);
    put_group(&out, "In `<talus>`", TALI_GROUP_SECTIONS);
    put_group(&out, "In `<materials>`", TALI_GROUP_MATERIALS);
    put_group(&out, "In `<bodies>`", TALI_GROUP_BODIES);
    put_group(&out, "In a body", TALI_GROUP_BODY_PARTS);
    put_group(&out, "In `<force_fields>`", TALI_GROUP_FIELDS);
    put_group(&out, "In a `<force_field>`", TALI_GROUP_FIELD_PARTS);
    put_group(&out, "In `<molecules>`", TALI_GROUP_MOLECULES);
    put_group(&out, "In a `<molecule>`", TALI_GROUP_MOLECULE_PARTS);
    put_group(&out, "In `<constraints>`", TALI_GROUP_CONSTRAINTS);
    put_group(&out, "In `<unilaterals>`", TALI_GROUP_UNILATERALS);
    put_group(&out, "In `<colliders>`", TALI_GROUP_COLLIDERS);
    put_group(&out, "In `<motions>`", TALI_GROUP_MOTIONS);
    put_group(&out, "In `<wraps>`", TALI_GROUP_WRAPS);
    put_group(&out, "In `<paths>`", TALI_GROUP_PATHS);
    put_group(&out, "In a `<path>`", TALI_GROUP_PATH_PARTS);
    put_group(&out, "In `<measures>`", TALI_GROUP_MEASURES);
    put_group(&out, "In `<forces>`", TALI_GROUP_FORCES);
    put_group(&out, "In `<discrete_forces>`", TALI_GROUP_LOADS);
    put_group(&out, "In `<prescribed_force>`", TALI_GROUP_COMPONENTS);
    put_group(&out, "In `<contact>`", TALI_GROUP_SURFACES);
    put_group(&out, "In a `<mesh>` of `<contact>`", TALI_GROUP_MESH_PARTS);
    put_group(&out, "In `<controllers>`", TALI_GROUP_CONTROLLERS);
    put_group(&out, "In `<function_controller>`", TALI_GROUP_DRIVES);
    put_group(&out, "In `<events>` and `<stops>`", TALI_GROUP_STOPS);
    put_group(&out, "In `<markers>`", TALI_GROUP_MARKERS);
    put_group(&out, "In `<decorations>`", TALI_GROUP_DECORATIONS);
    put_group(&out, "Functions, also in `<functions>`", TALI_GROUP_FUNCTIONS);
    // one newline ends the text
    if (out.length > 0) out.length -= 1;
    if (out.size > 0) out.text[out.length < out.size ? out.length : out.size - 1] = '\0';
    return out.length;
}
