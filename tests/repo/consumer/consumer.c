// A user's program: finds the headers, links the library with all that inline functions of the
// headers need, and the two belong together.
#include <talus/common.h>

#include <stdio.h>

int main(int argc, char *argv[])
{
    (void)argv;
    if (!TAL_VERSION_CHECK()) {
        fprintf(stderr, "headers %d.%d, library %s\n", TAL_VERSION_MAJOR, TAL_VERSION_MINOR,
                tal_version_string());
        return 1;
    }
    const tal_vec3 v = tal_v3(3.0 * argc, 4.0 * argc, 0.0);
    if (tal_v3_norm(v) != 5.0 * argc) return 1;
    printf("Talus %s (%s): %s\n", tal_version_string(), tal_git_hash(), tal_status_text(TAL_OK));
    return 0;
}
