// Characters, whatever the locale.
#ifndef TALUS_IO_TEXT_INTERNAL_H
#define TALUS_IO_TEXT_INTERNAL_H

#include <stdbool.h>

static inline bool tali_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

#endif // TALUS_IO_TEXT_INTERNAL_H
