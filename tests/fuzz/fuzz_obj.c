// What libFuzzer calls: any bytes as an .obj file.
#include <talus/talus.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)tal_contract_set_handler(tal_contract_silent);
    static const char nothing[] = "";
    tal_mesh *mesh = NULL;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_mesh_read_memory("fuzz", size > 0 ? (const char *)data : nothing,
                                               size, NULL, &mesh, found);
    // a file is refused with a reason, and gives nothing then
    if ((st == TAL_OK) != (tal_diagnostics_num_errors(found) == 0)) __builtin_trap();
    if ((st == TAL_OK) != (mesh != NULL)) __builtin_trap();
    if (st == TAL_OK && !(tal_mesh_volume(mesh) > 0.0)) __builtin_trap();
    tal_mesh_destroy(mesh);
    tal_diagnostics_destroy(found);
    return 0;
}
