// A user's program: finds the headers, links the library, and the two belong together.
#include <talus/common.h>

#include <stdio.h>

int main(void)
{
    if (!TAL_VERSION_CHECK()) {
        fprintf(stderr, "headers %d.%d, library %s\n", TAL_VERSION_MAJOR, TAL_VERSION_MINOR,
                tal_version_string());
        return 1;
    }
    printf("Talus %s (%s): %s\n", tal_version_string(), tal_git_hash(), tal_status_text(TAL_OK));
    return 0;
}
