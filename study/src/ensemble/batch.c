// Batches: creation, chunks shared by lanes, results.
//
// The macro is for access.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming)
#define _POSIX_C_SOURCE 200809L

#include "hash_internal.h"

#include "ensemble/batch_internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_CHUNKS = 1 << 22,
    MOST_NUMBERS = 1 << 27, // of a sample, or samples of a chunk
    FEW_CHUNKS = 256,       // that samples are shared out to until chunks are long
    LONG_CHUNK = 512,
    MOST_LANES = 1 << 16
};

tal_batch_def tal_batch_def_default(void)
{
    return (tal_batch_def){.num_shards = 1};
}

// --- creation ---

static tal_status check_def(const tal_batch_def *def, tal_error *err)
{
    if (def == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the def is NULL");
    if (def->num_samples < 0 || def->row_size < 1 || def->row_size > MOST_NUMBERS) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "a batch cannot have %d samples of %d numbers",
                         def->num_samples, def->row_size);
    }
    if (def->chunk < 0 || def->chunk > MOST_NUMBERS ||
        (def->chunk > 0 && def->num_samples / def->chunk >= MOST_CHUNKS)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "%d samples cannot be worked on in chunks of %d",
                         def->num_samples, def->chunk);
    }
    if (def->num_shards < 1 || def->shard < 0 || def->shard >= def->num_shards) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "there is no shard %d among %d; the first is 0",
                         def->shard, def->num_shards);
    }
    if (def->path != NULL &&
        (def->path[0] == 0 || strlen(def->path) >= sizeof((tal_batch *)0)->path)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the path is empty or too long");
    }
    return TAL_OK;
}

// Samples of a chunk when nobody says: many enough for files to be few, few enough for little to be
// lost and for threads to be busy to the end. It depends on nothing else, so that files are the
// same everywhere.
static int choose_chunk(int num_samples)
{
    const int share = num_samples / FEW_CHUNKS + (num_samples % FEW_CHUNKS != 0);
    return share < 1 ? 1 : share > LONG_CHUNK ? LONG_CHUNK : share;
}

// The text of the manifest: what files depend on, then what the caller says.
static tal_status write_manifest(tal_batch *it, tal_error *err)
{
    char head[128];
    const int size = snprintf(head, sizeof head,
                              "talus batch: 1\nsamples: %d\nnumbers: %d\nsamples of a file: %d\n",
                              it->def.num_samples, it->def.row_size, it->chunk);
    const char *const more = it->def.manifest != NULL ? it->def.manifest : "";
    it->manifest_size = (size_t)size + strlen(more);
    it->manifest = tali_alloc(&it->allocator, it->manifest_size + 1);
    if (it->manifest == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a batch");
    memcpy(it->manifest, head, (size_t)size);
    memcpy(it->manifest + size, more, strlen(more));
    it->identity = tali_hash(TALI_HASH_SEED, it->manifest, it->manifest_size);
    return TAL_OK;
}

static tal_status take_memory(tal_batch *it, tal_error *err)
{
    const size_t n = (size_t)it->num_chunks;
    it->done = tali_alloc(&it->allocator, n * sizeof *it->done);
    it->kept = tali_alloc(&it->allocator, n * sizeof *it->kept);
    if (it->done != NULL && it->kept != NULL) return write_manifest(it, err);
    return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a batch");
}

// Read a chunk from a directory, or from memory; it is placed then.
static tal_status load_chunk(const tal_batch *it, const char *path, int index,
                             tali_batch_chunk *chunk, tal_error *err)
{
    tali_batch_place(it, index, chunk);
    if (path == NULL) {
        return tali_batch_decode(it, it->kept[index].bytes, it->kept[index].size, chunk, err);
    }
    char name[TALI_PATH_SIZE];
    tali_batch_file_name(path, index, name);
    tali_file_bytes file;
    tal_status st = TAL_OK;
    const char *const wrong = tali_file_load(name, SIZE_MAX / 2, &it->allocator, &file, &st);
    if (wrong != NULL) {
        st = TALI_FAIL(err, st, "'%.120s': %.100s", name, wrong);
    } else {
        st = tali_batch_decode(it, file.block, file.size, chunk, err);
    }
    tali_file_bytes_free(&it->allocator, &file);
    return st;
}

static void count_done(tal_batch *it, const tali_batch_chunk *chunk)
{
    it->done[chunk->index] = true;
    (void)atomic_fetch_add(&it->num_done, chunk->n);
}

// Which chunks are there and whole?
static tal_status find_done(tal_batch *it, tal_error *err)
{
    tali_batch_chunk chunk;
    if (!tali_batch_chunk_create(it, &chunk)) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a chunk");
    }
    for (int i = 0; i < it->num_chunks; ++i) {
        char name[TALI_PATH_SIZE];
        tali_batch_file_name(it->path, i, name);
        if (access(name, F_OK) != 0) continue;
        if (load_chunk(it, it->path, i, &chunk, NULL) == TAL_OK) {
            count_done(it, &chunk);
        } else {
            ++it->num_damaged;
        }
    }
    tali_batch_chunk_destroy(it, &chunk);
    return TAL_OK;
}

tal_status tal_batch_create(const tal_batch_def *def, tal_batch **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    if (err != NULL) *err = (tal_error){TAL_OK, "", ""};
    tal_status st = check_def(def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_allocator_default();
    tal_batch *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a batch");
    it->allocator = allocator;
    it->def = *def;
    it->in_memory = def->path == NULL;
    if (!it->in_memory) (void)snprintf(it->path, sizeof it->path, "%s", def->path);
    it->chunk = def->chunk > 0 ? def->chunk : choose_chunk(def->num_samples);
    it->num_chunks = def->num_samples / it->chunk + (def->num_samples % it->chunk != 0);
    atomic_init(&it->num_done, 0);
    st = take_memory(it, err);
    it->def.path = it->path;
    it->def.manifest = it->manifest;
    if (st == TAL_OK && !it->in_memory) st = tali_batch_open(it, err);
    if (st == TAL_OK && !it->in_memory) st = find_done(it, err);
    if (st != TAL_OK) {
        tal_batch_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

static void forget_kept(tal_batch *it)
{
    for (int i = 0; i < it->num_chunks && it->kept != NULL; ++i) {
        tali_free(&it->allocator, it->kept[i].bytes, it->kept[i].size);
        it->kept[i] = (tali_batch_kept){NULL, 0};
    }
}

void tal_batch_destroy(tal_batch *batch)
{
    if (batch == NULL) return;
    const tal_allocator allocator = batch->allocator;
    forget_kept(batch);
    tali_free(&allocator, batch->kept, (size_t)batch->num_chunks * sizeof *batch->kept);
    tali_free(&allocator, batch->done, (size_t)batch->num_chunks * sizeof *batch->done);
    tali_free(&allocator, batch->manifest, batch->manifest_size + 1);
    tali_free(&allocator, batch, sizeof *batch);
}

// --- work ---

// Chunks that are shared by lanes.
typedef struct sharing {
    tal_batch *batch;
    tal_batch_fn work;
    void *context;
    atomic_int next;  // of the shard's chunks
    atomic_bool ends; // nobody begins another one
    atomic_flag busy; // with the batch's error record
    bool was_stopped;
} sharing;

static void end_with(sharing *it, tal_status st, const tal_error *err)
{
    atomic_store(&it->ends, true);
    while (atomic_flag_test_and_set(&it->busy)) {}
    if (st == TAL_RETRY) {
        it->was_stopped = true;
    } else if (it->batch->error_record.status == TAL_OK) {
        it->batch->error_record = *err;
        it->batch->error_record.status = st;
    }
    atomic_flag_clear(&it->busy);
}

// Write the file of a chunk, or keep its bytes.
static tal_status store_chunk(tal_batch *it, const tali_batch_chunk *chunk, tal_error *err)
{
    const size_t size = tali_batch_encode(it, chunk);
    tal_status st = TAL_OK;
    if (!it->in_memory) {
        char name[TALI_PATH_SIZE];
        tali_batch_file_name(it->path, chunk->index, name);
        st = tali_file_replace_by(name, chunk->bytes, size, __func__, err);
    } else {
        void *const bytes = tali_alloc(&it->allocator, size);
        if (bytes == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for results");
        memcpy(bytes, chunk->bytes, size);
        it->kept[chunk->index] = (tali_batch_kept){bytes, size};
    }
    if (st == TAL_OK) count_done(it, chunk);
    return st;
}

static void do_chunk(sharing *it, int lane, int index, tali_batch_chunk *chunk)
{
    tal_batch *const batch = it->batch;
    tal_error err = {TAL_OK, "", ""};
    tali_batch_place(batch, index, chunk);
    tal_status st = it->work(it->context, lane, chunk->first, chunk->n, chunk->results,
                             chunk->status, chunk->why);
    if (st != TAL_OK && st != TAL_RETRY) {
        (void)TALI_FAIL(&err, st, "the work on samples %d to %d failed: %s", chunk->first,
                        chunk->first + chunk->n - 1, tal_status_text(st));
    }
    if (st == TAL_OK) st = store_chunk(batch, chunk, &err);
    const tal_batch_def *const def = &batch->def;
    if (st == TAL_OK && def->proceed != NULL &&
        !def->proceed(def->context, atomic_load(&batch->num_done))) {
        st = TAL_RETRY;
    }
    if (st != TAL_OK) end_with(it, st, &err);
}

// The next of the shard's chunks; beyond the last: none is left.
static int64_t take_next(sharing *it)
{
    const tal_batch_def *const def = &it->batch->def;
    const int i = def->next != NULL ? def->next(def->context) : atomic_fetch_add(&it->next, 1);
    return i < 0 ? it->batch->num_chunks : def->shard + (int64_t)i * def->num_shards;
}

static void run_lane(void *work, int lane)
{
    sharing *const it = work;
    tali_batch_chunk chunk;
    if (!tali_batch_chunk_create(it->batch, &chunk)) {
        tal_error err;
        end_with(it, TALI_FAIL(&err, TAL_ERR_NO_MEMORY, "no memory for a chunk"), &err);
        return;
    }
    while (!atomic_load(&it->ends)) {
        const int64_t index = take_next(it);
        if (index >= it->batch->num_chunks) break;
        if (!it->batch->done[index]) do_chunk(it, lane, (int)index, &chunk);
    }
    tali_batch_chunk_destroy(it->batch, &chunk);
}

tal_status tal_batch_go(tal_batch *batch, tal_batch_fn work, void *context, int lanes,
                        const tal_executor *executor)
{
    if (batch == NULL || work == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    const tal_executor used = executor != NULL ? *executor : tal_executor_in_order();
    if (lanes < 1 || lanes > MOST_LANES || used.run == NULL) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE,
                           "there cannot be %d lanes, or no function to run them", lanes);
    }
    batch->error_record = (tal_error){TAL_OK, "", ""};
    sharing it = {.batch = batch, .work = work, .context = context, .busy = ATOMIC_FLAG_INIT};
    atomic_init(&it.next, 0);
    atomic_init(&it.ends, false);
    used.run(used.context, run_lane, &it, lanes);
    if (batch->error_record.status != TAL_OK) return batch->error_record.status;
    return it.was_stopped ? TAL_RETRY : TAL_OK;
}

tal_status tal_batch_merge(tal_batch *batch, const char *path)
{
    if (batch == NULL || path == NULL) return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    if (strlen(path) >= sizeof batch->path) {
        return TALI_BREACH(TAL_ERR_BAD_VALUE, "the path is too long");
    }
    batch->error_record = (tal_error){TAL_OK, "", ""};
    tal_status st = tali_batch_compare(batch, path, &batch->error_record);
    if (st != TAL_OK) return st;
    tali_batch_chunk chunk;
    if (!tali_batch_chunk_create(batch, &chunk)) {
        return TALI_FAIL(&batch->error_record, TAL_ERR_NO_MEMORY, "no memory for a chunk");
    }
    for (int i = 0; i < batch->num_chunks && st == TAL_OK; ++i) {
        char name[TALI_PATH_SIZE];
        tali_batch_file_name(path, i, name);
        if (batch->done[i] || access(name, F_OK) != 0) continue;
        if (load_chunk(batch, path, i, &chunk, NULL) == TAL_OK) {
            st = store_chunk(batch, &chunk, &batch->error_record);
        } else {
            ++batch->num_damaged;
        }
    }
    tali_batch_chunk_destroy(batch, &chunk);
    return st;
}

// --- results ---

int tal_batch_num_samples(const tal_batch *batch)
{
    return batch != NULL ? batch->def.num_samples : 0;
}

int tal_batch_row_size(const tal_batch *batch)
{
    return batch != NULL ? batch->def.row_size : 0;
}

int tal_batch_num_done(const tal_batch *batch)
{
    return batch != NULL ? atomic_load(&batch->num_done) : 0;
}

int tal_batch_num_damaged(const tal_batch *batch)
{
    return batch != NULL ? batch->num_damaged : 0;
}

int tal_batch_first_missing(const tal_batch *batch)
{
    if (batch == NULL) return 0;
    int i = 0;
    while (i < batch->num_chunks && batch->done[i]) {
        ++i;
    }
    return i < batch->num_chunks ? i * batch->chunk : batch->def.num_samples;
}

// What is asked for, and how far it is filled.
typedef struct wanted {
    int first, end;
    double *results;
    tal_status *status;
    tal_error *why;
} wanted;

// Samples of a chunk that are wanted; `known`: they are done.
static void copy_samples(const tal_batch *it, const tali_batch_chunk *chunk, bool known,
                         const wanted *out)
{
    const int row = it->def.row_size;
    for (int k = 0; k < chunk->n; ++k) {
        const int sample = chunk->first + k;
        if (sample < out->first || sample >= out->end) continue;
        const size_t at = (size_t)(sample - out->first);
        for (int i = 0; i < row; ++i) {
            out->results[at * (size_t)row + (size_t)i] =
                known ? chunk->results[(size_t)k * (size_t)row + (size_t)i] : TALI_NAN;
        }
        if (out->status != NULL) out->status[at] = known ? chunk->status[k] : TAL_RETRY;
        if (out->why == NULL) continue;
        out->why[at] = known ? chunk->why[k] : (tal_error){TAL_RETRY, "", "not done"};
    }
}

tal_status tal_batch_read(tal_batch *batch, int first, int n, double results[], tal_status status[],
                          tal_error why[])
{
    if (batch == NULL || (results == NULL && n > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "an argument is NULL");
    }
    if (first < 0 || n < 0 || n > batch->def.num_samples - first) {
        return TALI_BREACH(TAL_ERR_BAD_INDEX, "there are no samples %d ... %d + %d among %d", first,
                           first, n, batch->def.num_samples);
    }
    batch->error_record = (tal_error){TAL_OK, "", ""};
    if (n == 0) return TAL_OK;
    tali_batch_chunk chunk;
    if (!tali_batch_chunk_create(batch, &chunk)) {
        return TALI_FAIL(&batch->error_record, TAL_ERR_NO_MEMORY, "no memory for a chunk");
    }
    const wanted out = {first, first + n, results, status, why};
    tal_status worst = TAL_OK;
    for (int i = first / batch->chunk; i <= (first + n - 1) / batch->chunk; ++i) {
        tali_batch_place(batch, i, &chunk);
        if (batch->done[i]) {
            const tal_status st = load_chunk(batch, batch->in_memory ? NULL : batch->path, i,
                                             &chunk, &batch->error_record);
            batch->done[i] = st == TAL_OK;
            if (st != TAL_OK) {
                (void)atomic_fetch_sub(&batch->num_done, chunk.n);
                ++batch->num_damaged;
                worst = st;
            }
        }
        if (!batch->done[i] && worst == TAL_OK) worst = TAL_RETRY;
        copy_samples(batch, &chunk, batch->done[i], &out);
    }
    tali_batch_chunk_destroy(batch, &chunk);
    return worst;
}

tal_status tal_batch_remove(tal_batch *batch)
{
    if (batch == NULL) return TALI_BREACH(TAL_ERR_NULL, "the batch is NULL");
    batch->error_record = (tal_error){TAL_OK, "", ""};
    memset(batch->done, 0, (size_t)batch->num_chunks * sizeof *batch->done);
    atomic_store(&batch->num_done, 0);
    forget_kept(batch);
    return batch->in_memory ? TAL_OK : tali_batch_remove_files(batch, &batch->error_record);
}

const tal_error *tal_batch_error(const tal_batch *batch)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_batch_error", "the batch is NULL"};
    return batch != NULL ? &batch->error_record : &none;
}
