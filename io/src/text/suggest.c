// "Did you mean ...?" for programs.
#include "error_internal.h"

#include "text/xml_internal.h"

#include <talus/io/suggest.h>

const char *tal_did_you_mean(const char *wrong, tal_name_at_fn at, const void *context)
{
    if (wrong == NULL || at == NULL) {
        TALI_BREACH(TAL_ERR_NULL, "%s is NULL.", wrong == NULL ? "wrong" : "at");
        return NULL;
    }
    return tali_text_did_you_mean(wrong, at, context);
}
