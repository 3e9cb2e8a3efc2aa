// A canvas that becomes a PDF file of one page [PDF 1.4].
//
// Letters are Helvetica, which every reader has: the file has no font inside it. Letters beyond
// Latin-1 are not in it, and are shown as question marks.
#include "plot/canvas.h"
#include "plot/font.h"
#include "plot/packed.h"
#include "text/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
    cli_bytes page; // what is drawn, in the language of PDF
    double width, height;
};

// A pixel of 1/96 inch in points of 1/72 inch.
#define POINT 0.75

static canvas *create(double width, double height, double scale)
{
    (void)scale;
    canvas *const it = cli_alloc(1, sizeof *it);
    it->width = width;
    it->height = height;
    // pixels from the upper left corner, round ends and corners
    bytes_print(&it->page, "%g 0 0 %g 0 %g cm 1 J 1 j\n", POINT, -POINT, POINT * height);
    return it;
}

static void set_color(cli_bytes *out, unsigned color, const char *operator_name)
{
    bytes_print(out, "%.3g %.3g %.3g %s\n", (double)(color >> 16 & 0xffu) / 255.0,
                (double)(color >> 8 & 0xffu) / 255.0, (double)(color & 0xffu) / 255.0,
                operator_name);
}

static void draw_line(canvas *it, const canvas_pen *pen, const canvas_point points[], int n)
{
    cli_bytes *const out = &it->page;
    double on = 0.0, off = 0.0;
    canvas_dash(pen->dash, &on, &off);
    set_color(out, pen->color, "RG");
    bytes_print(out, "%g w ", pen->width);
    bytes_print(out, off > 0.0 ? "[%g %g] 0 d\n" : "[] 0 d\n", on, off);
    bytes_print(out, "%.2f %.2f m\n", points[0].x, points[0].y);
    if (n == 1) bytes_print(out, "%.2f %.2f l\n", points[0].x, points[0].y); // a dot
    for (int i = 1; i < n; ++i) {
        bytes_print(out, "%.2f %.2f l\n", points[i].x, points[i].y);
    }
    bytes_print(out, "S\n");
}

// A letter in the encoding of the file: Latin-1, and the minus as 1.
static int code_of(unsigned letter)
{
    if (letter == FONT_MINUS) return 1;
    return letter >= ' ' && letter <= 0xff ? (int)letter : '?';
}

// Letters of one size and height, up to where that changes; returns what follows.
static const char *draw_run(cli_bytes *out, const char *text, const canvas_letters *letters)
{
    const double size = letters->size;
    bool is_raised = false, is_next_raised = false;
    const char *next = text;
    (void)font_lower(font_next(&next), &is_raised);
    bytes_print(out, "/%s %.2f Tf %.2f Ts <", letters->is_bold ? "B" : "F",
                is_raised ? FONT_RAISED_SIZE * size : size,
                is_raised ? FONT_RAISED_BY * size : 0.0);
    for (; *text != 0; text = next) {
        next = text;
        const unsigned letter = font_lower(font_next(&next), &is_next_raised);
        if (is_next_raised != is_raised) break;
        bytes_print(out, "%02x", code_of(letter));
    }
    bytes_print(out, "> Tj\n");
    return text;
}

static void draw_text(canvas *it, const canvas_letters *letters, canvas_point at, const char *text)
{
    static const double shares[] = {0.0, 0.5, 1.0};
    cli_bytes *const out = &it->page;
    const double back = shares[letters->anchor] * font_width(text, letters->size);
    set_color(out, letters->color, "rg");
    // a text matrix that turns the y axis up again
    if (letters->goes_up) {
        bytes_print(out, "BT 0 -1 -1 0 %.2f %.2f Tm\n", at.x, at.y + back);
    } else {
        bytes_print(out, "BT 1 0 0 -1 %.2f %.2f Tm\n", at.x - back, at.y);
    }
    while (*text != 0) {
        text = draw_run(out, text, letters);
    }
    bytes_print(out, "ET\n");
}

// A text of the file's description, as UTF-16.
static void print_title(cli_bytes *out, const char *title)
{
    bytes_print(out, "<feff");
    for (unsigned letter; (letter = font_next(&title)) != 0;) {
        bytes_print(out, "%04x", letter <= 0xffffu ? letter : '?');
    }
    bytes_print(out, ">");
}

static void add_font(cli_bytes *out, int number, const char *name)
{
    bytes_print(
        out,
        "%d 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding << /Type /Encoding "
        "/BaseEncoding /WinAnsiEncoding /Differences [1 /minus] >> >>\nendobj\n",
        number, name);
}

enum {
    NUM_OBJECTS = 7
};

// The objects of a file, one after the other, and where each begins.
static char *finish(canvas *it, const char *title, size_t *size)
{
    cli_bytes file = {0};
    size_t starts[NUM_OBJECTS];
    cli_bytes packed = packed_bytes(it->page.data, it->page.size);
    bytes_print(&file, "%%PDF-1.4\n%%\xe2\xe3\xcf\xd3\n");
    starts[0] = file.size;
    bytes_print(&file, "1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n");
    starts[1] = file.size;
    bytes_print(&file, "2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n");
    starts[2] = file.size;
    bytes_print(&file,
                "3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents 4 0 R "
                "/Resources << /Font << /F 5 0 R /B 6 0 R >> >> >>\nendobj\n",
                POINT * it->width, POINT * it->height);
    starts[3] = file.size;
    bytes_print(&file, "4 0 obj\n<< /Length %zu /Filter /FlateDecode >>\nstream\n", packed.size);
    bytes_add(&file, packed.data, packed.size);
    bytes_print(&file, "\nendstream\nendobj\n");
    starts[4] = file.size;
    add_font(&file, 5, "Helvetica");
    starts[5] = file.size;
    add_font(&file, 6, "Helvetica-Bold");
    starts[6] = file.size;
    bytes_print(&file, "7 0 obj\n<< /Producer (talus %s) /Title ", tal_version_string());
    print_title(&file, title);
    bytes_print(&file, " >>\nendobj\n");
    const size_t table = file.size;
    bytes_print(&file, "xref\n0 %d\n0000000000 65535 f \n", NUM_OBJECTS + 1);
    for (int i = 0; i < NUM_OBJECTS; ++i) {
        bytes_print(&file, "%010zu 00000 n \n", starts[i]);
    }
    bytes_print(&file, "trailer\n<< /Size %d /Root 1 0 R /Info 7 0 R >>\nstartxref\n%zu\n%%%%EOF\n",
                NUM_OBJECTS + 1, table);
    free(packed.data);
    free(it->page.data);
    free(it);
    *size = file.size;
    return file.data;
}

const canvas_ops canvas_pdf = {"pdf", create, draw_line, draw_text, finish};
