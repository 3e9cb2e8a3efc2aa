// Guessing what was meant: the edit distance of Damerau and Levenshtein, over short strings.
#include "text/xml_internal.h"

#include <string.h>

enum {
    LONGEST = 64 // longer strings are not compared
};

static int min2(int a, int b)
{
    return a < b ? a : b;
}

// Insertions, deletions, replacements, and swaps of neighbors, each counted once.
static int edit_distance(const char *a, const char *b)
{
    const int na = (int)strlen(a), nb = (int)strlen(b);
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= nb; ++j) {
        last[j] = j;
        before[j] = 0;
    }
    for (int i = 1; i <= na; ++i) {
        row[0] = i;
        for (int j = 1; j <= nb; ++j) {
            const int replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min2(replaced, 1 + min2(last[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = min2(row[j], before[j - 2] + 1);
            }
        }
        int *const free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[nb];
}

const char *tali_text_did_you_mean(const char *wrong, tali_xml_string_at at, const void *context)
{
    const size_t length = strlen(wrong);
    if (length > LONGEST) return NULL;
    // of a letter alone nothing would be left
    int least = min2((int)length, min2(3, (int)(length + 2) / 3) + 1);
    const char *best = NULL;
    const char *candidate;
    for (int i = 0; (candidate = at(context, i)) != NULL; ++i) {
        const size_t other = strlen(candidate);
        const size_t apart = other > length ? other - length : length - other;
        if (other > LONGEST || (int)apart >= least) continue;
        const int distance = edit_distance(wrong, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}
