// Elements and attributes of a URDF, as any of its parts has them.
#include "urdf/urdf_internal.h"

#include <talus/io/number.h>

#include <math.h>
#include <string.h>

// --- attributes ---

static const char *word_at(const void *context, int i)
{
    return ((const char *const *)context)[i];
}

const char *tali_urdf_meant(const char *wrong, const char *const words[])
{
    return tali_text_did_you_mean(wrong, word_at, (const void *)words);
}

// A misspelled attribute would silently leave a default. What is near a name that is given as well
// means something else.
void tali_urdf_check_attributes(tali_urdf *u, const tali_xml_element *e,
                                const char *const allowed[])
{
    for (int i = 0; i < e->num_attributes; ++i) {
        const tali_xml_attribute *a = &e->attributes[i];
        int k = 0;
        while (allowed[k] != NULL && strcmp(allowed[k], a->name) != 0) {
            ++k;
        }
        if (allowed[k] != NULL) continue;
        const char *meant = tali_urdf_meant(a->name, allowed);
        if (meant != NULL && tali_xml_find(e, meant) == NULL) {
            tali_urdf_error(u, e, a, " has no attribute '%.60s' (did you mean '%s'?)", a->name,
                            meant);
            continue;
        }
        tali_urdf_leave_attribute(u, e, a);
    }
}

bool tali_urdf_numbers(tali_urdf *u, const tali_xml_element *e, const char *name, int n,
                       double out[])
{
    const tali_xml_attribute *a = tali_xml_find(e, name);
    if (a == NULL) return false;
    double values[6];
    const int count = tal_numbers_read(a->value, values, 6, NULL);
    bool finite = count == n;
    for (int i = 0; i < n && finite; ++i) {
        finite = isfinite(values[i]);
    }
    if (!finite) {
        tali_urdf_error(u, e, a, ": %s=\"%.40s\" is not %d finite number%s%s", name, a->value, n,
                        n == 1 ? "" : "s",
                        strstr(a->value, "${") != NULL ? ": " TALI_URDF_TO_EXPAND : "");
        return false;
    }
    memcpy(out, values, (size_t)n * sizeof(double));
    return true;
}

void tali_urdf_need_number(tali_urdf *u, const tali_xml_element *e, const char *name, double *out)
{
    if (tali_xml_find(e, name) == NULL) {
        tali_urdf_error(u, e, NULL, " needs the attribute '%s'", name);
    } else {
        (void)tali_urdf_numbers(u, e, name, 1, out);
    }
}

const char *tali_urdf_need_text(tali_urdf *u, const tali_xml_element *e, const char *name)
{
    const tali_xml_attribute *a = tali_xml_find(e, name);
    if (a != NULL && a->value[0] != '\0') return a->value;
    tali_urdf_error(u, e, a, " needs the attribute '%s'", name);
    return NULL;
}

// --- elements ---

void tali_urdf_children(tali_urdf *u, const tali_xml_element *e, const char *const names[],
                        const tali_xml_element *children[])
{
    for (const tali_xml_element *c = e->first; c != NULL; c = c->next) {
        int k = 0;
        while (names[k] != NULL && strcmp(names[k], c->name) != 0) {
            ++k;
        }
        if (names[k] == NULL) {
            tali_urdf_leave(u, c);
        } else if (children[k] != NULL) {
            tali_urdf_error(u, c, NULL, " is given twice in <%s>", e->name);
        } else {
            children[k] = c;
        }
    }
}

// xyz, and rpy: roll, pitch and yaw about fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll)
tal_xform tali_urdf_origin(tali_urdf *u, const tali_xml_element *e)
{
    tal_xform X = TAL_XFORM_IDENTITY;
    if (e == NULL) return X;
    static const char *const allowed[] = {"xyz", "rpy", NULL};
    tali_urdf_check_attributes(u, e, allowed);
    double values[3];
    if (tali_urdf_numbers(u, e, "xyz", 3, values)) X.p = tal_v3(values[0], values[1], values[2]);
    if (tali_urdf_numbers(u, e, "rpy", 3, values)) {
        const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
        X.R = tal_rotation_from_angles(TAL_SPACE_FIXED, 3, axes, values);
    }
    return X;
}
