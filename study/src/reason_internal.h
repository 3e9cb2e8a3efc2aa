// Why a call on a State failed, in words.
#ifndef TALUS_REASON_INTERNAL_H
#define TALUS_REASON_INTERNAL_H

#include <talus/state.h>

/// The State's own sentence if it has one, otherwise what the status means. Borrowed.
static inline const char *tali_reason(const tal_state *state, tal_status st)
{
    const tal_error *why = tal_state_error(state);
    return why->status != TAL_OK ? why->message : tal_status_text(st);
}

#endif // TALUS_REASON_INTERNAL_H
