// Writers that replace files leave nothing beside them.
#ifndef TALUS_TEST_BESIDE_H
#define TALUS_TEST_BESIDE_H

#include "talus_test.h"

#include <glob.h>
#include <stdio.h>

/// How many files "path.<number>.part" there are.
static inline int test_num_beside(const char *path)
{
    char pattern[300];
    glob_t found;
    (void)snprintf(pattern, sizeof pattern, "%s.*.part", path);
    const int st = glob(pattern, 0, NULL, &found);
    ck_assert(st == 0 || st == GLOB_NOMATCH);
    const int n = st == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return n;
}

#endif // TALUS_TEST_BESIDE_H
