// Letters: how wide they are, and how to draw them.
//
// Widths are those of Helvetica, which a PDF has without a font inside it, and of the fonts made to
// fit it (Arial, Liberation Sans). For a PNG there are letters of lines and arcs of our own.
#ifndef TALUS_CLI_PLOT_FONT_H
#define TALUS_CLI_PLOT_FONT_H

#include "plot/canvas.h"

// The next character of a UTF-8 text, and a step behind it; 0 at the end. What is no UTF-8 is '?'.
unsigned font_next(const char **text);

// A superscript digit or minus becomes a digit or a minus, which is drawn smaller and higher.
// Others stay as they are, and `*is_raised` false.
unsigned font_lower(unsigned letter, bool *is_raised);
#define FONT_RAISED_SIZE 0.7  // of the size of other letters
#define FONT_RAISED_BY   0.34 // of that size, too

// U+2212, the sign: as long as a plus.
#define FONT_MINUS       0x2212u
#define FONT_MINUS_TEXT  "\xe2\x88\x92"
#define FONT_TIMES_TEXT  "\xc3\x97"
#define FONT_DEGREE_TEXT "\xc2\xb0"

// How wide a letter or a text is, in pixels.
double font_letter_width(unsigned letter, double size);
double font_width(const char *text, double size);

// A text, cut to a width, with "..." behind it if it is; owned by the caller.
char *font_fit(const char *text, double size, double width);

// The lines of a letter, one after the other: `line` gets their points, in hundredths of an em, y
// upward from the base line. Letters that are not known are drawn as a box.
void font_draw(unsigned letter, void (*line)(void *context, const canvas_point points[], int n),
               void *context);

#endif // TALUS_CLI_PLOT_FONT_H
