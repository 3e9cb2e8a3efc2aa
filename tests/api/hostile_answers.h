// What functions answer to hostile calls, compared with what is stored.
#ifndef TALUS_HOSTILE_ANSWERS_H
#define TALUS_HOSTILE_ANSWERS_H

#include "hostile.h"

/// How answers are written.
#define HOSTILE_TAKEN   '.'
#define HOSTILE_REFUSED 'x'

/// Read what is stored; with `write` the answers of this run are stored instead.
void hostile_answers_begin(bool write);
void hostile_answers_end(void);

/// Compare, or store. `answers` are words of the form " parameter:..x.", one character for each
/// value. Prints what differs.
bool hostile_answers_are_as_before(const char *function, const char *answers);

#endif // TALUS_HOSTILE_ANSWERS_H
