// What all kinds of canvas share.
#include "plot/canvas.h"

#include <string.h>

const canvas_ops *canvas_find(const char *format)
{
    static const canvas_ops *const all[] = {&canvas_svg, &canvas_png, &canvas_pdf};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
        if (strcmp(all[i]->format, format) == 0) return all[i];
    }
    return NULL;
}

void canvas_dash(int dash, double *on, double *off)
{
    static const double lengths[CANVAS_NUM_DASHES][2] = {
        {0.0, 0.0}, {7.0, 4.0}, {1.5, 4.0}, {14.0, 5.0}};
    *on = lengths[dash % CANVAS_NUM_DASHES][0];
    *off = lengths[dash % CANVAS_NUM_DASHES][1];
}
