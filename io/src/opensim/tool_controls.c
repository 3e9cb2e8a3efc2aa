// Sets of controls: files that drive actuators, as OpenSim writes them.
#include "opensim/tool_internal.h"

#include <stdio.h>
#include <string.h>

// A text in XML.
static void put_escaped(tali_scene_bytes *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        const char *as = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                                        : NULL;
        if (*text == '"') as = "&quot;";
        if (as != NULL) {
            tali_scene_put_text(out, as);
        } else {
            tali_scene_put(out, text, 1);
        }
    }
}

static void put_value(tali_scene_bytes *out, const char *name, double value)
{
    char text[64];
    (void)snprintf(text, sizeof text, "<%s>%.17g</%s>", name, value, name);
    tali_scene_put_text(out, text);
}

// One control: straight lines between the rows, or steps that end at them.
static void put_control(tali_scene_bytes *out, const tal_table *table, int column, double lower,
                        double upper, bool is_step)
{
    tali_scene_put_text(out, "<ControlLinear name=\"");
    put_escaped(out, tal_table_column_name(table, column));
    tali_scene_put_text(out, "\"><is_model_control>true</is_model_control><extrapolate>true"
                             "</extrapolate>");
    put_value(out, "default_min", lower);
    put_value(out, "default_max", upper);
    tali_scene_put_text(out, "<filter_on>false</filter_on><use_steps>");
    tali_scene_put_text(out, is_step ? "true" : "false");
    tali_scene_put_text(out, "</use_steps><x_nodes>\n");
    for (int r = 0; r < tal_table_num_rows(table); ++r) {
        tali_scene_put_text(out, "<ControlLinearNode>");
        put_value(out, "t", tal_table_value(table, r, 0));
        put_value(out, "value", tal_table_value(table, r, column));
        tali_scene_put_text(out, "</ControlLinearNode>\n");
    }
    tali_scene_put_text(out, "</x_nodes></ControlLinear>\n");
}

void tali_osim_tool_add_controls(tali_osim_tool *tool, const char *file, const tal_table *table,
                                 const double lower[], const double upper[], const bool steps[])
{
    tali_scene_bytes out = {.allocator = tool->options.allocator};
    tali_scene_put_text(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument "
                              "Version=\"40000\"><ControlSet name=\"Control Set\"><objects>\n");
    for (int c = 1; c < tal_table_num_columns(table); ++c) {
        put_control(&out, table, c, lower[c - 1], upper[c - 1], steps != NULL && steps[c - 1]);
    }
    tali_scene_put_text(&out, "</objects></ControlSet></OpenSimDocument>\n");
    tali_osim_tool_add_text(tool, file, &out);
}
