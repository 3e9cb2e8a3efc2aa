// Orders of a page that shows a live run: a line of JSON.
#ifndef TALUS_CLI_ORDERS_H
#define TALUS_CLI_ORDERS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum order_kind {
    ORDER_PAUSE,
    ORDER_RESUME,
    ORDER_STEP,  // one frame, standing still
    ORDER_RESET, // to where the run began
    ORDER_SPEED, // of simulated time against real time: `value`
    ORDER_SET    // slider `index` to `value`
} order_kind;

typedef struct order {
    order_kind kind;
    int index;    // -1: none
    double value; // NaN: none
} order;

// Understand {"do":"set","index":3,"value":0.5}, with blanks where JSON allows them and keys in any
// order. False for all else, also for numbers that are not finite.
bool order_read(const char text[], size_t size, order *out);

#endif // TALUS_CLI_ORDERS_H
