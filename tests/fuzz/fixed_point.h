// A model that was read: written and read again it is the same, and is written the same.
#ifndef TALUS_FUZZ_FIXED_POINT_H
#define TALUS_FUZZ_FIXED_POINT_H

#include <talus/talus.h>

#include <string.h>

// What was read can be written, but for names that would be read as something else; what was
// written can be read, and has the same bytes when it is written once more.
static void check_fixed_point(const tal_model *model)
{
    static char text[1 << 20], once_more[1 << 20];
    size_t length = 0, length_again = 0;
    tal_model again;
    tal_error err = {TAL_OK, "", ""};
    const tal_status st = tal_model_write_memory(model, NULL, text, sizeof text, &length, &err);
    if (st != TAL_OK && err.message[0] == '\0') __builtin_trap();
    if (st != TAL_OK || length >= sizeof text) return;
    if (tal_model_read_memory("again", text, length, NULL, &again, NULL) != TAL_OK) {
        __builtin_trap();
    }
    if (tal_system_structure_hash(model->system) != tal_system_structure_hash(again.system)) {
        __builtin_trap();
    }
    if (!tal_state_is_equal(model->state, again.state)) __builtin_trap();
    if (tal_model_write_memory(&again, NULL, once_more, sizeof once_more, &length_again, &err) !=
        TAL_OK) {
        __builtin_trap();
    }
    if (length_again != length || memcmp(text, once_more, length) != 0) __builtin_trap();
    tal_model_destroy(&again);
}

#endif // TALUS_FUZZ_FIXED_POINT_H
