// Which forces of the model a list of names means.
#include "opensim/tool_internal.h"
#include "table/table_internal.h"

#include <string.h>

static bool is_one_of(const char *name, const char *const names[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (tali_table_same_word(names[i], name)) return true;
    }
    return false;
}

static bool is_muscle(const tali_osim_force *f)
{
    const size_t n = strlen(f->element->name);
    return n >= 6 && strcmp(f->element->name + n - 6, "Muscle") == 0;
}

// Whether a group of the force set has this force, and is one of these names.
static bool is_in_group(const tali_osim_tool *tool, const char *force, const char *const names[],
                        int n)
{
    const tali_xml_element *set = tali_osim_set(tool->o.model, "ForceSet");
    const tali_xml_element *groups = set != NULL ? tali_xml_child(set, "groups") : NULL;
    const tali_xml_element *g = groups != NULL ? groups->first : NULL;
    const size_t length = strlen(force);
    for (; g != NULL; g = g->next) {
        if (!is_one_of(tali_osim_name(g), names, n)) continue;
        const char *at = tali_osim_text(g, "members");
        while (at != NULL && (at = strstr(at, force)) != NULL) {
            const bool begins = at == tali_osim_text(g, "members") || at[-1] == ' ';
            if (begins && (at[length] == '\0' || at[length] == ' ')) return true;
            at += length;
        }
    }
    return false;
}

bool tali_osim_tool_is_named(const tali_osim_tool *tool, int force, const char *const names[],
                             int n)
{
    const char *name = tal_force_name(tool->model.forces, (tal_force_ix){force});
    for (int i = 0; i < tool->o.num_forces; ++i) {
        const tali_osim_force *f = &tool->o.forces[i];
        if (f->force.i != force && f->second.i != force) continue;
        return is_one_of("all", names, n) || is_one_of(f->name, names, n) ||
               (is_muscle(f) && is_one_of("muscles", names, n)) ||
               is_in_group(tool, f->name, names, n);
    }
    return is_one_of(name, names, n); // gravity
}
