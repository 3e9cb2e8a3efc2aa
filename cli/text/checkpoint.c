// Checkpoints: a file with a manifest, bytes and a checksum, which is replaced as a whole.
#include "text/checkpoint.h"

#include "text/progress.h"
#include "text/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The first line of a file, with the version of its layout.
#define FIRST_LINE "talus checkpoint: 1\n"

static const double SHORTEST_PAUSE = 0.05; // s
static const double SHARE = 20.0;          // a pause is so many times as long as saving

// FNV-1a, 64 bits.
static uint64_t checksum(const char *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

// --- the file: manifest, a zero, bytes, checksum of all before ---

static bool read_file(const char *path, cli_bytes *out)
{
    FILE *const in = fopen(path, "rb");
    if (in == NULL) return false;
    char part[65536];
    for (size_t n = fread(part, 1, sizeof part, in); n > 0; n = fread(part, 1, sizeof part, in)) {
        bytes_add(out, part, n);
    }
    const bool is_good = ferror(in) == 0;
    (void)fclose(in);
    return is_good && out->size > 0;
}

// A whole file, with the checksum that it says?
static bool is_whole(const cli_bytes *file)
{
    uint64_t sum = 0;
    if (file->size < sizeof sum || memchr(file->data, 0, file->size) == NULL) return false;
    const size_t size = file->size - sizeof sum;
    memcpy(&sum, file->data + size, sizeof sum);
    return strncmp(file->data, FIRST_LINE, strlen(FIRST_LINE)) == 0 && strlen(file->data) < size &&
           checksum(file->data, size) == sum;
}

// The line that a text has at the first place where it differs from another; its length.
static int differing_line(const char *text, const char *other, const char **line)
{
    *line = text;
    for (size_t i = 0; text[i] != 0 && text[i] == other[i]; ++i) {
        if (text[i] == '\n') *line = text + i + 1;
    }
    return (int)strcspn(*line, "\n");
}

static int refuse_other(const checkpoint *it, const cli_args *args, const char *theirs)
{
    const char *has = NULL, *wants = NULL;
    const int has_size = differing_line(theirs, it->manifest, &has);
    const int wants_size = differing_line(it->manifest, theirs, &wants);
    return cli_fail(args, CLI_BAD_FILE,
                    "'%s' is of another command: it has '%.*s' instead of '%.*s'; remove it, or "
                    "write to another file.",
                    it->path, has_size, has, wants_size, wants);
}

// What an earlier run has kept, if it is of the same command. An exit code.
static int find_kept(checkpoint *it, const cli_args *args)
{
    cli_bytes file = {0};
    int code = CLI_OK;
    if (access(it->path, F_OK) == 0) {
        if (!read_file(it->path, &file) || !is_whole(&file)) {
            cli_warn(args, "'%s' is damaged: the run begins again.", it->path);
        } else if (strcmp(file.data, it->manifest) != 0) {
            code = refuse_other(it, args, file.data);
        } else {
            const size_t before = strlen(file.data) + 1;
            bytes_add(&it->found, file.data + before, file.size - before - sizeof(uint64_t));
        }
    }
    free(file.data);
    return code;
}

int checkpoint_begin(checkpoint *it, const cli_args *args, const char *manifest)
{
    *it = (checkpoint){.pause = SHORTEST_PAUSE, .saved = cli_clock()};
    if (!cli_flag(args, "resume")) return CLI_OK;
    it->path = cli_format("%s.run", stream_out_path(args));
    it->manifest = cli_format("%s%s", FIRST_LINE, manifest);
    return find_kept(it, args);
}

bool checkpoint_is_due(const checkpoint *it)
{
    return it->path != NULL && !it->cannot && cli_clock() - it->saved >= it->pause;
}

void checkpoint_save(checkpoint *it, const cli_args *args, const cli_bytes *what)
{
    const double start = cli_clock();
    cli_bytes file = {0};
    bytes_add(&file, it->manifest, strlen(it->manifest) + 1);
    bytes_add(&file, what->data, what->size);
    const uint64_t sum = checksum(file.data, file.size);
    bytes_add(&file, &sum, sizeof sum);
    tal_error err = {0};
    if (tal_file_write(it->path, file.data, file.size, &err) != TAL_OK) {
        cli_warn(args, "the progress cannot be saved: %s.", err.message);
        it->cannot = true;
    }
    free(file.data);
    it->saved = cli_clock();
    it->pause = SHARE * (it->saved - start);
    if (it->pause < SHORTEST_PAUSE) it->pause = SHORTEST_PAUSE;
}

void checkpoint_end(checkpoint *it, bool done)
{
    if (done && it->path != NULL) (void)remove(it->path);
    free(it->path);
    free(it->manifest);
    free(it->found.data);
    *it = (checkpoint){0};
}

// --- reading ---

checkpoint_reader checkpoint_read(const checkpoint *it)
{
    if (it->found.data == NULL) return (checkpoint_reader){0};
    return (checkpoint_reader){it->found.data, it->found.data + it->found.size, false};
}

void checkpoint_take(checkpoint_reader *from, void *out, size_t size)
{
    if (from->is_short || (size_t)(from->end - from->at) < size) {
        from->is_short = true;
        memset(out, 0, size);
        return;
    }
    if (size > 0) memcpy(out, from->at, size);
    from->at += size;
}

const void *checkpoint_take_block(checkpoint_reader *from, size_t *size)
{
    uint64_t n = 0;
    checkpoint_take(from, &n, sizeof n);
    *size = 0;
    if (from->is_short || (uint64_t)(from->end - from->at) < n) {
        from->is_short = true;
        return NULL;
    }
    const void *const block = from->at;
    from->at += n;
    *size = (size_t)n;
    return block;
}

void checkpoint_put_block(cli_bytes *to, const void *data, size_t size)
{
    const uint64_t n = size;
    bytes_add(to, &n, sizeof n);
    bytes_add(to, data, size);
}

bool checkpoint_hash_file(const char *path, uint64_t *hash)
{
    cli_bytes file = {0};
    const bool is_read = read_file(path, &file);
    if (is_read) *hash = checksum(file.data, file.size);
    free(file.data);
    return is_read;
}
