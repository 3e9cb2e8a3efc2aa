// A canvas that becomes an SVG file.
#include "plot/canvas.h"
#include "plot/font.h"
#include "text/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
    cli_bytes out;
    double width, height;
};

static void escape(cli_bytes *out, const char *text)
{
    for (; *text != 0; ++text) {
        const char *const entity = *text == '<'   ? "&lt;"
                                   : *text == '>' ? "&gt;"
                                   : *text == '&' ? "&amp;"
                                                  : NULL;
        bytes_add(out, entity != NULL ? entity : text, entity != NULL ? strlen(entity) : 1);
    }
}

static canvas *create(double width, double height, double scale)
{
    (void)scale;
    canvas *const it = cli_alloc(1, sizeof *it);
    it->width = width;
    it->height = height;
    return it;
}

static void write_points(cli_bytes *out, const canvas_point points[], int n)
{
    bytes_print(out, "M%.2f %.2f", points[0].x, points[0].y);
    if (n == 1) bytes_print(out, "h0"); // a dot
    for (int i = 1; i < n; ++i) {
        if (points[i].x == points[i - 1].x) {
            bytes_print(out, "V%.2f", points[i].y);
        } else if (points[i].y == points[i - 1].y) {
            bytes_print(out, "H%.2f", points[i].x);
        } else {
            bytes_print(out, "L%.2f %.2f", points[i].x, points[i].y);
        }
    }
}

static void draw_line(canvas *it, const canvas_pen *pen, const canvas_point points[], int n)
{
    cli_bytes *const out = &it->out;
    double on = 0.0, off = 0.0;
    canvas_dash(pen->dash, &on, &off);
    bytes_print(out, "<path stroke=\"#%06x\" stroke-width=\"%g\"", pen->color, pen->width);
    if (off > 0.0) bytes_print(out, " stroke-dasharray=\"%g %g\"", on, off);
    bytes_print(out, " d=\"");
    write_points(out, points, n);
    if (pen->name != NULL) {
        bytes_print(out, "\"><title>");
        escape(out, pen->name);
        bytes_print(out, "</title></path>\n");
    } else {
        bytes_print(out, "\"/>\n");
    }
}

// Digits of an exponent become a piece of text of their own, smaller and higher.
static void draw_letters(cli_bytes *out, const char *text, double size)
{
    bool was_raised = false, is_raised = false;
    for (const char *next = text; *text != 0; text = next) {
        const unsigned letter = font_lower(font_next(&next), &is_raised);
        if (is_raised && !was_raised) {
            bytes_print(out, "<tspan font-size=\"%.1f\" dy=\"%.1f\">", FONT_RAISED_SIZE * size,
                        -FONT_RAISED_BY * size);
        }
        if (!is_raised && was_raised) {
            bytes_print(out, "</tspan><tspan dy=\"%.1f\">", FONT_RAISED_BY * size);
        }
        if (!is_raised) {
            char *const one = cli_format("%.*s", (int)(next - text), text);
            escape(out, one);
            free(one);
        } else if (letter == FONT_MINUS) {
            bytes_print(out, FONT_MINUS_TEXT);
        } else {
            bytes_print(out, "%c", (int)letter);
        }
        was_raised = is_raised;
    }
    if (was_raised) bytes_print(out, "</tspan>");
}

static void draw_text(canvas *it, const canvas_letters *letters, canvas_point at, const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    cli_bytes *const out = &it->out;
    if (letters->goes_up) {
        bytes_print(out, "<text transform=\"translate(%.2f %.2f) rotate(-90)\"", at.x, at.y);
    } else {
        bytes_print(out, "<text x=\"%.2f\" y=\"%.2f\"", at.x, at.y);
    }
    bytes_print(out, " font-size=\"%g\" fill=\"#%06x\"%s%s>", letters->size, letters->color,
                letters->is_bold ? " font-weight=\"bold\"" : "", anchors[letters->anchor]);
    draw_letters(out, text, letters->size);
    bytes_print(out, "</text>\n");
}

static char *finish(canvas *it, const char *title, size_t *size)
{
    cli_bytes file = {0};
    bytes_print(&file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                "viewBox=\"0 0 %g %g\" font-family=\"Helvetica, Arial, 'Liberation Sans', "
                "sans-serif\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>",
                it->width, it->height, it->width, it->height);
    escape(&file, title);
    bytes_print(&file, "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n");
    bytes_print(&file, "<g fill=\"none\">\n");
    bytes_add(&file, it->out.data, it->out.size);
    bytes_print(&file, "</g>\n</svg>\n");
    free(it->out.data);
    free(it);
    *size = file.size;
    return file.data;
}

const canvas_ops canvas_svg = {"svg", create, draw_line, draw_text, finish};
