// Moving pictures as one PNG file (PNG Specification, third edition, chunks acTL, fcTL, fdAT). The
// compressed bytes of each picture are taken over as they are.
#include "viewer/apng.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

enum {
    CHUNK = 12,     // length, name, checksum
    HEADER = 13,    // bytes of IHDR
    CONTROL_END = 8 // acTL: numbers of frames and of repeats
};

// ---- bytes

static void put(apng *it, const void *bytes, size_t size)
{
    if (it->size + size > it->capacity) {
        it->capacity = 2 * (it->size + size);
        it->at = cli_resize(it->at, it->capacity, 1);
    }
    if (size > 0) memcpy(it->at + it->size, bytes, size);
    it->size += size;
}

static void set_word(unsigned char at[4], uint32_t value)
{
    for (int i = 0; i < 4; ++i) {
        at[i] = (unsigned char)(value >> (24 - 8 * i) & 0xff);
    }
}

static uint32_t word_at(const unsigned char at[4])
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

// CRC-32 of ISO 3309, as PNG has it.
static uint32_t checksum(const unsigned char bytes[], size_t size)
{
    uint32_t crc = 0xffffffffU;
    for (size_t i = 0; i < size; ++i) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; ++k) {
            crc = crc >> 1 ^ (crc & 1U ? 0xedb88320U : 0U);
        }
    }
    return ~crc;
}

// Give the chunk whose name begins at `name` its length and its checksum.
static void close_chunk(apng *it, size_t name)
{
    unsigned char word[4];
    set_word(it->at + name - 4, (uint32_t)(it->size - name - 4));
    set_word(word, checksum(it->at + name, it->size - name));
    put(it, word, 4);
}

// Begin a chunk; where its name begins.
static size_t open_chunk(apng *it, const char name[4])
{
    put(it, "\0\0\0\0", 4);
    put(it, name, 4);
    return it->size - 4;
}

static void put_word(apng *it, uint32_t value)
{
    unsigned char word[4];
    set_word(word, value);
    put(it, word, 4);
}

// ---- frames

// How long a frame is shown, as a fraction of 16-bit numbers.
static void put_delay(apng *it)
{
    const bool is_slow = it->fps <= 65.0;
    const unsigned above = is_slow ? 1000 : 1;
    const unsigned below = (unsigned)lround(is_slow ? 1000.0 * it->fps : it->fps);
    const unsigned char bytes[4] = {above >> 8 & 0xff, above & 0xff, below >> 8 & 0xff,
                                    below & 0xff};
    put(it, bytes, 4);
}

// fcTL: the whole picture is replaced.
static void put_control(apng *it)
{
    const size_t name = open_chunk(it, "fcTL");
    put_word(it, it->num_controls++);
    put(it, it->header, 8); // width and height
    put_word(it, 0);
    put_word(it, 0);
    put_delay(it);
    put(it, "\0\0", 2);
    close_chunk(it, name);
}

// acTL follows the header; its number of frames is written at the end.
static void put_beginning(apng *it)
{
    put(it, signature, sizeof signature);
    size_t name = open_chunk(it, "IHDR");
    put(it, it->header, sizeof it->header);
    close_chunk(it, name);
    name = open_chunk(it, "acTL");
    it->frames_at = name;
    put_word(it, 0);
    put_word(it, 0); // repeated for ever
    close_chunk(it, name);
}

// The data of the first picture are IDAT, those of others fdAT with a number.
static void put_data(apng *it, const unsigned char bytes[], size_t size)
{
    const bool is_first = it->num_frames == 1;
    const size_t name = open_chunk(it, is_first ? "IDAT" : "fdAT");
    if (!is_first) put_word(it, it->num_controls++);
    put(it, bytes, size);
    close_chunk(it, name);
}

apng apng_begin(double fps)
{
    return (apng){.fps = fps};
}

static bool take_header(apng *it, const unsigned char bytes[], size_t size)
{
    const size_t first = sizeof signature + 8; // behind length and name of the first chunk
    if (size < first + HEADER + 4 || memcmp(bytes, signature, sizeof signature) != 0) return false;
    if (word_at(bytes + sizeof signature) != HEADER) return false;
    if (memcmp(bytes + first - 4, "IHDR", 4) != 0) return false;
    if (it->num_frames > 0) return memcmp(it->header, bytes + first, HEADER) == 0;
    memcpy(it->header, bytes + first, HEADER);
    put_beginning(it);
    return true;
}

bool apng_add(apng *it, const unsigned char bytes[], size_t size)
{
    if (!take_header(it, bytes, size)) return false;
    ++it->num_frames;
    put_control(it);
    for (size_t at = sizeof signature; size - at >= CHUNK;) {
        const size_t length = word_at(bytes + at);
        if (length > size - at - CHUNK) return false;
        if (memcmp(bytes + at + 4, "IDAT", 4) == 0) put_data(it, bytes + at + 8, length);
        at += length + CHUNK;
    }
    return true;
}

void apng_end(apng *it)
{
    if (it->num_frames == 0) return;
    set_word(it->at + it->frames_at + 4, it->num_frames);
    set_word(it->at + it->frames_at + 4 + CONTROL_END,
             checksum(it->at + it->frames_at, 4 + CONTROL_END));
    close_chunk(it, open_chunk(it, "IEND"));
}

void apng_free(apng *it)
{
    free(it->at);
    *it = (apng){.fps = it->fps};
}
