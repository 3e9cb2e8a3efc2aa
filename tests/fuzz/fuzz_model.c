// What libFuzzer calls: any bytes as a model file. What can be read must also realize, or say why
// not.
//
// Build it with clang and TALUS_FUZZ=ON (README.md); replay.c runs it over the kept corpus in
// ctest.
#include "fixed_point.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st =
        tal_model_read_memory("fuzz", (const char *)data, size, NULL, &model, found);
    // a file is refused with a reason, and gives nothing then
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (model.system != NULL)) __builtin_trap();
    if (st == TAL_OK && tal_matter_num_bodies(model.matter) < 100) {
        check_fixed_point(&model);
        const tal_status reached =
            tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION);
        if (reached != TAL_OK && tal_state_error(model.state)->message[0] == '\0') __builtin_trap();
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
    return 0;
}
