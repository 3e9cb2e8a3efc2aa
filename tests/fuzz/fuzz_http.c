// What libFuzzer calls: any bytes as a request of a browser, and its body as an order of a page.
// What is taken out of them lies within them.
#include "viewer/http.h"
#include "viewer/orders.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(http_text text, const char *bytes, size_t size)
{
    if (text.at == NULL) return;
    if (text.at < bytes || text.size > size) __builtin_trap();
    if ((size_t)(text.at - bytes) > size - text.size) __builtin_trap();
}

static void check_order(const char *text, size_t size)
{
    order o;
    if (!order_read(text, size, &o)) return;
    if (o.kind == ORDER_SET && (o.index < 0 || !isfinite(o.value))) __builtin_trap();
    if (o.kind == ORDER_SPEED && !isfinite(o.value)) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const bytes = size > 0 ? (const char *)data : "";
    http_request r;
    const int status = http_parse(bytes, size, &r);
    if (status == HTTP_UNFINISHED && size >= HTTP_MAX_HEADER + HTTP_MAX_BODY) __builtin_trap();
    if (status == HTTP_OK) {
        const http_text all[] = {r.method, r.target, r.host, r.origin, r.type, r.length, r.body};
        for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
            check_within(all[i], bytes, size);
        }
        check_order(r.body.at, r.body.size);
    }
    check_order(bytes, size);
    return 0;
}
