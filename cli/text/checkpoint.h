// How a long command goes on where it was ended: with --resume, what it needs for that is kept in
// FILE.run, where FILE is that of -o, and is read when the same command is given again.
#ifndef TALUS_CLI_CHECKPOINT_H
#define TALUS_CLI_CHECKPOINT_H

#include "cli.h"
#include "text/bytes.h"

// Where a run is kept. Zero-filled: nowhere.
typedef struct checkpoint {
    char *path;      // FILE.run; owned; NULL: nothing is kept
    char *manifest;  // owned: what the result depends on
    cli_bytes found; // what was kept by the run before; of size zero: it begins
    double saved;    // [s] on cli_clock(), last
    double pause;    // [s] from one to the next
    bool cannot;     // the run cannot be saved: it has been said
} checkpoint;

// Begin. With --resume: read what was kept, if there is anything. What is damaged is left out with
// a remark; what is of another command, or of other files, is an error that names the line. An exit
// code; end it in any case.
// `manifest` is a text of lines "name: value": all that the result depends on; copied.
int checkpoint_begin(checkpoint *it, const cli_args *args, const char *manifest);

// Is it time to save? Not more often than so that saving takes a twentieth of the time.
bool checkpoint_is_due(const checkpoint *it);
// Keep these bytes in place of those before. A failure is said once, and the run goes on.
void checkpoint_save(checkpoint *it, const cli_args *args, const cli_bytes *what);
// Free what it has; `done`: the result is there, and what was kept is removed.
void checkpoint_end(checkpoint *it, bool done);

// Bytes that are read again, one number after the other. Zero-filled: none are left.
typedef struct checkpoint_reader {
    const char *at, *end;
    bool is_short; // more was asked for than there is
} checkpoint_reader;

checkpoint_reader checkpoint_read(const checkpoint *it);
// The next `size` bytes; all zero when there are not so many.
void checkpoint_take(checkpoint_reader *from, void *out, size_t size);
// The same for bytes that begin with their number, which stay where they are; NULL: there are none.
const void *checkpoint_take_block(checkpoint_reader *from, size_t *size);
void checkpoint_put_block(cli_bytes *to, const void *data, size_t size);

// A hash of what a file has; false: it cannot be read.
bool checkpoint_hash_file(const char *path, uint64_t *hash);

#endif // TALUS_CLI_CHECKPOINT_H
