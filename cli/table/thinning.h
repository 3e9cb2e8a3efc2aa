// Rows at the steps of a method: enough for a smooth plot, and not too many.
//
// Every step is a row. Of more than THINNING_MOST every second one is dropped, and from then on
// half as many are taken, as often as needed. Where steps are few there are rows between them.
#ifndef TALUS_CLI_THINNING_H
#define TALUS_CLI_THINNING_H

#include "text/checkpoint.h"

enum {
    THINNING_MOST = 1000, // rows of a run
    THINNING_FEW = 200,   // fewer steps get rows between them
    THINNING_PARTS = 32   // that a step can have
};

// Rows that are kept, and which will be.
typedef struct thinning {
    double *rows;  // [num][width] owned
    long *numbers; // [num] owned: of each row, in parts of steps since the start
    int num, capacity, width;
    long every; // parts from one row to the next
} thinning;

void thinning_begin(thinning *it, int width);
void thinning_destroy(thinning *it);

// Is a row wanted, `number` parts of steps after the start?
bool thinning_wants(const thinning *it, long number);
// Take it: [width] numbers.
void thinning_add(thinning *it, long number, const double row[]);
// After `steps` steps: from THINNING_FEW on, only their ends are kept.
void thinning_count(thinning *it, long steps);

// Add it to bytes, and read it again, of the same width.
void thinning_save(const thinning *it, cli_bytes *to);
void thinning_load(thinning *it, checkpoint_reader *from);

#endif // TALUS_CLI_THINNING_H
