// What every function answered to each value of each argument, the other arguments being right:
// whether it took it or refused it. tests/api/hostile_answers.txt has a line for each function; it
// is compared with what the function does now. A function without a stored line fails, so that a
// file that is cut does; a parameter without an answer is not compared. `hostile --write` stores
// all of them.
#include "hostile_answers.h"

#include <stdio.h>
#include <stdlib.h>

static const char path[] = TALUS_SOURCE_DIR "/tests/api/hostile_answers.txt";
static char *stored; // the file
static FILE *to;     // the file to write instead; NULL: compare

// The whole file as a text; one that is not there is empty.
static char *read_all(void)
{
    FILE *file = fopen(path, "rb");
    size_t size = 0, room = 1 << 20;
    char *text = malloc(room + 1);
    if (text == NULL) hostile_stop("no memory for its answers");
    if (file != NULL) {
        size = fread(text, 1, room, file);
        (void)fclose(file);
    }
    if (size == room) hostile_stop("there are too many answers");
    text[size] = '\0';
    return text;
}

void hostile_answers_begin(bool write)
{
    stored = read_all();
    if (!write) return;
    to = fopen(path, "wb");
    if (to == NULL) hostile_stop(path);
}

void hostile_answers_end(void)
{
    if (to != NULL) (void)fclose(to);
    free(stored);
}

// The stored line of a function, behind its name; NULL: there is none.
static const char *line_of(const char *function)
{
    const size_t n = strlen(function);
    for (const char *line = stored; *line != '\0';) {
        if (strncmp(line, function, n) == 0 && line[n] == ' ') return line + n;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return NULL;
}

// What is stored under a key, which ends at its colon; NULL: nothing.
static const char *answers_under(const char *line, const char *key, size_t n)
{
    const size_t length = strcspn(line, "\n");
    for (const char *at = line; at < line + length; at += 1 + strcspn(at + 1, " \n")) {
        if (*at == ' ' && strncmp(at + 1, key, n) == 0) return at + 1 + n;
    }
    return NULL;
}

// Say which values of one parameter or field are answered in another way now.
static bool compare(const char *function, const char *key, size_t n, const char *before,
                    const char *now)
{
    const size_t before_length = strcspn(before, " \n"), length = strcspn(now, " ");
    bool same = true;
    for (size_t i = 0; i < length && before_length == length; ++i) {
        if (before[i] == now[i]) continue;
        (void)printf("%s: %.*s value %zu was %s before, and is %s now\n", function, (int)n - 1, key,
                     i + 1, before[i] == HOSTILE_TAKEN ? "taken" : "refused",
                     now[i] == HOSTILE_TAKEN ? "taken" : "refused");
        same = false;
    }
    return same;
}

bool hostile_answers_are_as_before(const char *function, const char *answers)
{
    if (to != NULL) (void)fprintf(to, "%s%s\n", function, answers);
    const char *line = to == NULL ? line_of(function) : NULL;
    bool same = to != NULL || line != NULL || *answers != ' ';
    if (!same) (void)printf("%s has no stored answers: hostile --write stores them\n", function);
    for (const char *at = answers; line != NULL && *at == ' '; at += 1 + strcspn(at + 1, " ")) {
        const size_t n = strcspn(at + 1, ":") + 1;
        const char *before = answers_under(line, at + 1, n);
        if (before != NULL) same = compare(function, at + 1, n, before, at + 1 + n) && same;
    }
    return same;
}
