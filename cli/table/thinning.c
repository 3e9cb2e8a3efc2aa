// Rows at steps: dropping every second one, as often as needed.
#include "table/thinning.h"

#include <stdlib.h>
#include <string.h>

void thinning_begin(thinning *it, int width)
{
    *it = (thinning){.width = width, .every = 1};
}

void thinning_destroy(thinning *it)
{
    free(it->rows);
    free(it->numbers);
    *it = (thinning){0};
}

bool thinning_wants(const thinning *it, long number)
{
    return number % it->every == 0;
}

// Keep the rows whose number is a multiple of `every`.
static void keep_every(thinning *it, long every)
{
    const size_t width = (size_t)it->width;
    int kept = 0;
    it->every = every;
    for (int r = 0; r < it->num; ++r) {
        if (!thinning_wants(it, it->numbers[r])) continue;
        it->numbers[kept] = it->numbers[r];
        memmove(it->rows + (size_t)kept * width, it->rows + (size_t)r * width,
                width * sizeof *it->rows);
        ++kept;
    }
    it->num = kept;
}

void thinning_add(thinning *it, long number, const double row[])
{
    // rows between steps are dropped later if there are many steps: twice THINNING_FEW are enough
    const int most = it->every < THINNING_PARTS ? 2 * THINNING_FEW : THINNING_MOST + 1; // the start
    if (it->num >= most) keep_every(it, 2 * it->every);
    if (it->num == it->capacity) {
        it->capacity = it->capacity > 0 ? 2 * it->capacity : 64;
        it->rows = cli_resize(it->rows, (size_t)it->capacity * (size_t)it->width, sizeof *it->rows);
        it->numbers = cli_resize(it->numbers, (size_t)it->capacity, sizeof *it->numbers);
    }
    it->numbers[it->num] = number;
    memcpy(it->rows + (size_t)it->num++ * (size_t)it->width, row,
           (size_t)it->width * sizeof *it->rows);
}

void thinning_count(thinning *it, long steps)
{
    if (steps >= THINNING_FEW && it->every < THINNING_PARTS) keep_every(it, THINNING_PARTS);
}

void thinning_save(const thinning *it, cli_bytes *to)
{
    bytes_add(to, &it->num, sizeof it->num);
    bytes_add(to, &it->every, sizeof it->every);
    bytes_add(to, it->rows, (size_t)it->num * (size_t)it->width * sizeof *it->rows);
    bytes_add(to, it->numbers, (size_t)it->num * sizeof *it->numbers);
}

void thinning_load(thinning *it, checkpoint_reader *from)
{
    int num = 0;
    checkpoint_take(from, &num, sizeof num);
    checkpoint_take(from, &it->every, sizeof it->every);
    if (num < 0 || num > THINNING_MOST + 1) from->is_short = true;
    if (from->is_short || num == 0) return;
    it->num = it->capacity = num;
    it->rows = cli_resize(it->rows, (size_t)num * (size_t)it->width, sizeof *it->rows);
    it->numbers = cli_resize(it->numbers, (size_t)num, sizeof *it->numbers);
    checkpoint_take(from, it->rows, (size_t)num * (size_t)it->width * sizeof *it->rows);
    checkpoint_take(from, it->numbers, (size_t)num * sizeof *it->numbers);
}
