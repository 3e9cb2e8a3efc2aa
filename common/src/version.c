// The version and the commit that went into this library.
#include "git_hash.h"

#include <talus/common/version.h>

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

const char *tal_version_string(void)
{
    return VALUE(TAL_VERSION_MAJOR) "." VALUE(TAL_VERSION_MINOR) "." VALUE(TAL_VERSION_PATCH);
}

const char *tal_git_hash(void)
{
    return TALI_GIT_HASH;
}

bool tal_version_matches(int major, int minor)
{
    if (major != TAL_VERSION_MAJOR) return false;
    return major == 0 ? minor == TAL_VERSION_MINOR : minor <= TAL_VERSION_MINOR;
}
