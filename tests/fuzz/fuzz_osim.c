// What libFuzzer calls: any bytes as a model of OpenSim.
// What can be read must also realize, or say why not.
#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    static const char nothing[] = "";
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("fuzz", size > 0 ? (const char *)data : nothing,
                                               size, NULL, &model, found);
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (model.system != NULL)) __builtin_trap();
    if (st == TAL_OK && tal_matter_num_bodies(model.matter) < 100) {
        const tal_status reached =
            tal_system_realize(model.system, model.state, TAL_STAGE_ACCELERATION);
        if (reached != TAL_OK && tal_state_error(model.state)->message[0] == '\0') __builtin_trap();
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
    return 0;
}
