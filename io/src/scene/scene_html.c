// A scene as JSON, and as a page with three places filled in: title, scene, data.
#include "alloc_internal.h"
#include "error_internal.h"

#include "scene/scene_internal.h"

#include <talus/common/version.h>

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    LEVEL = 6 // of compression; 9 takes five times as long for a hundredth
};

// Raw deflate, which browsers inflate by themselves. What zlib takes is the C heap's until it is
// done.
static bool deflate_all(const tali_scene_bytes *data, unsigned char out[], size_t *size)
{
    z_stream stream = {.zalloc = Z_NULL};
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    size_t in = 0, room = *size;
    int code = Z_OK;
    stream.next_out = out;
    while (code == Z_OK) {
        const size_t most = (size_t)1 << 30; // zlib counts in 32 bits
        const size_t part = data->size - in < most ? data->size - in : most;
        const size_t free = room < most ? room : most;
        stream.next_in = data->at != NULL ? data->at + in : (unsigned char *)&in;
        stream.avail_in = (uInt)part;
        stream.avail_out = (uInt)free;
        code = deflate(&stream, in + part == data->size ? Z_FINISH : Z_NO_FLUSH);
        in += part - stream.avail_in;
        room -= free - stream.avail_out;
    }
    *size -= room;
    (void)deflateEnd(&stream);
    return code == Z_STREAM_END;
}

// The data, compressed, as base64.
static void put_data(const tal_scene *scene, tali_scene_bytes *out)
{
    const tal_allocator *const allocator = &scene->options.allocator;
    const size_t most = scene->data.size + scene->data.size / 1000 + 1024;
    unsigned char *const packed = tali_alloc(allocator, most);
    size_t size = most;
    if (packed == NULL || !deflate_all(&scene->data, packed, &size)) {
        out->failed = true;
    } else {
        tali_scene_put_base64(out, packed, size);
    }
    tali_free(allocator, packed, most);
}

// A list of words with commas between them, as a list of JSON.
static void put_words(tali_scene_bytes *out, const char *words)
{
    tali_scene_put_text(out, "[");
    for (const char *at = words; at != NULL;) {
        const char *const comma = strchr(at, ',');
        const size_t length = comma != NULL ? (size_t)(comma - at) : strlen(at);
        char word[32];
        (void)snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : 0, at);
        tali_scene_put_comma(out);
        tali_scene_put_string(out, word);
        at = comma != NULL ? comma + 1 : NULL;
    }
    tali_scene_put_text(out, "]");
}

void tali_scene_put_json(const tal_scene *scene, bool with_data, tali_scene_bytes *out)
{
    tali_scene_put_text(out, "{\"format\":\"talus-scene\",\"version\":1");
    tali_scene_put_key(out, "generator");
    tali_scene_put_text(out, "\"talus ");
    tali_scene_put_text(out, tal_version_string());
    tali_scene_put_text(out, "\"");
    tali_scene_put_key(out, "title");
    tali_scene_put_string(out, scene->options.title);
    if (scene->options.show != NULL) {
        tali_scene_put_key(out, "show");
        put_words(out, scene->options.show);
    }
    tali_scene_put_comma(out);
    tali_scene_put(out, scene->model_json.at, scene->model_json.size);
    tali_scene_put_key(out, "runs");
    tali_scene_put_text(out, "[");
    tali_scene_put(out, scene->runs_json.at, scene->runs_json.size);
    tali_scene_put_text(out, scene->num_runs > 0 ? "}]" : "]");
    tali_scene_put_key(out, "data");
    tali_scene_put_text(out, "{");
    tali_scene_put_key(out, "bytes");
    tali_scene_put_integer(out, (long long)scene->data.size);
    if (with_data) {
        tali_scene_put_key(out, "base64");
        tali_scene_put_text(out, "\"");
        put_data(scene, out);
        tali_scene_put_text(out, "\"");
    }
    tali_scene_put_text(out, "}}");
}

// Text of an HTML element.
static void put_escaped(tali_scene_bytes *out, const char *text)
{
    for (; *text != 0; ++text) {
        if (*text == '<') {
            tali_scene_put_text(out, "&lt;");
        } else if (*text == '&') {
            tali_scene_put_text(out, "&amp;");
        } else {
            tali_scene_put(out, text, 1);
        }
    }
}

static void put_title(const tal_scene *scene, tali_scene_bytes *out)
{
    put_escaped(out, scene->options.title[0] != 0 ? scene->options.title : "Talus");
}

static void put_plain_json(const tal_scene *scene, tali_scene_bytes *out)
{
    tali_scene_put_json(scene, false, out);
}

// What a page holds where something is to stand, and what fills it.
typedef struct place {
    const char *mark;
    void (*put)(const tal_scene *scene, tali_scene_bytes *out);
} place;

static const place places[] = {
    {"@TALUS_TITLE@", put_title}, {"@TALUS_SCENE@", put_plain_json}, {"@TALUS_DATA@", put_data}};

enum {
    NUM_PLACES = sizeof places / sizeof *places
};

// The next mark of a page; NULL: there is none.
static const char *find_mark(const char *at, const char *end, const char *mark)
{
    const size_t length = strlen(mark);
    while ((size_t)(end - at) >= length) {
        at = memchr(at, mark[0], (size_t)(end - at) - length + 1);
        if (at == NULL) return NULL;
        if (memcmp(at, mark, length) == 0) return at;
        ++at;
    }
    return NULL;
}

tal_status tali_scene_put_html(const tal_scene *scene, const tal_scene_page *page,
                               tali_scene_bytes *out, tal_error *err)
{
    const char *at = page->text, *const end = page->text + page->size;
    for (int i = 0; i < NUM_PLACES; ++i) {
        const char *const mark = find_mark(at, end, places[i].mark);
        if (mark == NULL) {
            return TALI_FAIL(
                err, TAL_ERR_BAD_VALUE,
                "the page has no %s: it is not a page of the viewer, or of another version",
                places[i].mark);
        }
        tali_scene_put(out, at, (size_t)(mark - at));
        places[i].put(scene, out);
        at = mark + strlen(places[i].mark);
    }
    tali_scene_put(out, at, (size_t)(end - at));
    return TAL_OK;
}
