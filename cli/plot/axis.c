// An axis: ticks at round numbers with few digits.
#include "plot/axis.h"

#include "plot/font.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Differences of larger numbers may overflow; for a smaller range the distance of ticks may
// underflow.
#define LARGEST 1e300

// A range that is narrower than this, compared with its values, is round-off.
#define ROUND_OFF 1e-11

enum {
    MOST_DIGITS = 5 // of a number at a tick, before and behind the point
};

bool axis_can_show(double value)
{
    return fabs(value) < LARGEST;
}

axis_range axis_no_range(void)
{
    const axis_range none = {(double)NAN, (double)NAN};
    return none;
}

void axis_include(axis_range *range, const double values[], int n)
{
    for (int i = 0; i < n; ++i) {
        if (!axis_can_show(values[i])) continue;
        if (!(values[i] >= range->low)) range->low = values[i];
        if (!(values[i] <= range->high)) range->high = values[i];
    }
}

void axis_widen(axis_range *range, double margin)
{
    if (!(range->low <= range->high)) *range = (axis_range){0.0, 1.0};
    const double size = fmax(fabs(range->low), fabs(range->high));
    const double width = range->high - range->low;
    const bool is_wide = width > fmax(ROUND_OFF * size, 1.0 / LARGEST);
    const double more = is_wide ? margin * width : size > 1.0 / LARGEST ? 0.1 * size : 1.0;
    range->low -= more;
    range->high += more;
}

// --- ticks ---

static double round_step(double rough)
{
    const double power = pow(10.0, floor(log10(rough)));
    const double share = rough / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

static double round_degrees(double rough)
{
    static const double steps[] = {15.0, 30.0, 45.0, 90.0, 180.0, 360.0};
    if (rough <= 10.0) return round_step(rough);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
        if (rough <= steps[i]) return steps[i];
    }
    return 360.0 * round_step(rough / 360.0);
}

static int power_of(double value)
{
    return (int)floor(log10(value) + 1e-9);
}

// A step of 15 is written like one of 5: with the power of its last digit.
static int power_of_step(double step)
{
    const int power = power_of(step);
    const double share = step / pow(10.0, power);
    return fabs(share - round(share)) < 1e-9 ? power : power - 1;
}

// Take away what all numbers have in common, so that few digits are left to write.
static void choose_numbers(axis *it)
{
    const int last = power_of_step(it->step);
    const double size = fmax(fabs(it->low), fabs(it->high));
    it->offset = 0.0;
    if (power_of(size) - last + 1 > MOST_DIGITS) {
        const double unit = pow(10.0, power_of(it->high - it->low) + 1);
        it->offset = unit * round(0.5 * (it->low + it->high) / unit);
    }
    const double rest = fmax(fabs(it->low - it->offset), fabs(it->high - it->offset));
    const int power = power_of(rest);
    const bool is_usual = power >= -2 && power < MOST_DIGITS && last >= 1 - MOST_DIGITS;
    it->exponent = is_usual ? 0 : 3 * (int)floor(power / 3.0);
    it->digits = last < it->exponent ? it->exponent - last : 0;
}

static axis make(axis_range range, double wanted, bool in_degrees)
{
    const double rough = (range.high - range.low) / wanted;
    axis it = {.low = range.low, .high = range.high};
    it.step = in_degrees ? round_degrees(rough) : round_step(rough);
    it.first = it.step * ceil(it.low / it.step - 1e-9);
    it.num = 1 + (int)floor((it.high - it.first) / it.step + 1e-9);
    choose_numbers(&it);
    return it;
}

axis axis_make(axis_range range, int wanted, bool in_degrees)
{
    // steps are rounded up, so that there may be fewer ticks than are good for reading
    const int least = wanted >= 4 ? 4 : wanted;
    axis it = make(range, wanted, in_degrees);
    for (int fifths = 6; it.num < least && fifths < 20; ++fifths) {
        it = make(range, 0.2 * fifths * wanted, in_degrees);
    }
    return it;
}

axis axis_make_level(axis_range range, double length, double size, bool in_degrees)
{
    const double gap = 1.8 * size;
    for (int wanted = (int)fmax(2.0, length / 70.0);; --wanted) {
        const axis it = axis_make(range, wanted, in_degrees);
        const double room = length * it.step / (it.high - it.low);
        if (wanted <= 1 || axis_text_width(&it, size) + gap <= room) return it;
    }
}

double axis_tick(const axis *it, int i)
{
    const double value = it->step * (round(it->first / it->step) + i);
    return value;
}

double axis_share(const axis *it, double value)
{
    return (value - it->low) / (it->high - it->low);
}

// --- texts ---

// A number with a minus that is as long as a plus.
static char *with_minus(const char *text)
{
    return text[0] == '-' ? cli_format(FONT_MINUS_TEXT "%s", text + 1) : cli_copy(text);
}

char *axis_tick_text(const axis *it, int i)
{
    const double value = (axis_tick(it, i) - it->offset) / pow(10.0, it->exponent);
    // half of the last digit, below which all is round-off: no "-0.0"
    const double least = 0.5 * pow(10.0, -it->digits);
    char *const text = cli_format("%.*f", it->digits, fabs(value) < least ? 0.0 : value);
    char *const better = with_minus(text);
    free(text);
    return better;
}

// 10 with an exponent, as superscript digits.
static char *power_text(int exponent)
{
    static const char *const digits[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char *text = cli_copy(exponent < 0 ? "10\xe2\x81\xbb" : "10");
    char *const plain = cli_format("%d", abs(exponent));
    for (const char *at = plain; *at != 0; ++at) {
        char *const longer = cli_format("%s%s", text, digits[*at - '0']);
        free(text);
        text = longer;
    }
    free(plain);
    return text;
}

// What the numbers are added to: 1234500, or 1.5 x 10^12.
static char *offset_text(double offset)
{
    const double size = fabs(offset);
    const int power = power_of(size);
    if (power < 9 && power >= -4) return cli_format("%.12g", size);
    char *const ten = power_text(power);
    char *const text = cli_format("%.12g" FONT_TIMES_TEXT "%s", size / pow(10.0, power), ten);
    free(ten);
    return text;
}

char *axis_rest_text(const axis *it)
{
    if (it->exponent == 0 && it->offset == 0.0) return NULL;
    char *const ten = it->exponent != 0 ? power_text(it->exponent) : cli_copy("");
    char *const added = it->offset != 0.0 ? offset_text(it->offset) : cli_copy("");
    char *const text = cli_format("%s%s%s%s%s", it->exponent != 0 ? FONT_TIMES_TEXT : "", ten,
                                  it->exponent != 0 && it->offset != 0.0 ? " " : "",
                                  it->offset > 0.0   ? "+ "
                                  : it->offset < 0.0 ? FONT_MINUS_TEXT " "
                                                     : "",
                                  added);
    free(ten);
    free(added);
    return text;
}

double axis_text_width(const axis *it, double size)
{
    double widest = 0.0;
    for (int i = 0; i < it->num; ++i) {
        char *const text = axis_tick_text(it, i);
        widest = fmax(widest, font_width(text, size));
        free(text);
    }
    return widest;
}
