// The contract handler: the library's only process-wide data, and the only thing it ever prints.
#include "error_internal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static void print_breach(const tal_error *breach)
{
    (void)fprintf(stderr, "talus: %s: %s\n", breach->where, breach->message);
}

static _Atomic(tal_contract_handler) contract_handler = print_breach;
static _Thread_local tal_error last_breach;

tal_contract_handler tal_contract_set_handler(tal_contract_handler handler)
{
    return atomic_exchange(&contract_handler, handler != NULL ? handler : print_breach);
}

void tal_contract_silent(const tal_error *breach)
{
    (void)breach;
}

const tal_error *tal_contract_last(void)
{
    return &last_breach;
}

void tal_contract_clear(void)
{
    last_breach = (tal_error){TAL_OK, "", ""};
}

tal_status tali_breach(tal_status status, const char *where, const char *fmt, ...)
{
    last_breach.status = status;
    (void)snprintf(last_breach.where, sizeof last_breach.where, "%s", where);
    va_list args;
    va_start(args, fmt);
    tali_error_print(last_breach.message, sizeof last_breach.message, fmt, args);
    va_end(args);
    const tal_contract_handler handler = atomic_load(&contract_handler);
    handler(&last_breach);
    return status;
}
