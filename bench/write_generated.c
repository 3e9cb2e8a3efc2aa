// Writes the code that bench_generate times: FOLDER/arm.c, chain.c and their headers.
#include "build_talus.h"

#include <talus/io/generate.h>

#include <stdio.h>
#include <stdlib.h>

static void write_code(model m, const char *folder, const char *name)
{
    char prefix[32], c_path[1024], h_path[1024];
    talus_model t = talus_build(&m);
    tal_generator_def def = tal_generator_def_default();
    tal_generator *gen = NULL;
    tal_error err = {0};
    (void)snprintf(prefix, sizeof prefix, "%s_", name);
    (void)snprintf(c_path, sizeof c_path, "%s/%s.c", folder, name);
    (void)snprintf(h_path, sizeof h_path, "%s/%s.h", folder, name);
    def.prefix = prefix;
    def.functions |= TAL_GENERATE_INVERSE_DYNAMICS_DERIVATIVES;
    if (tal_generator_create(t.matter, t.forces, t.state, &def, &gen, &err) != TAL_OK ||
        tal_generator_write(gen, c_path, h_path, &err) != TAL_OK) {
        talus_stop(&err);
    }
    tal_generator_destroy(gen);
    talus_free(&t);
    model_free(&m);
}

int main(int argc, char *argv[])
{
    if (argc != 2) return EXIT_FAILURE;
    write_code(model_arm(7), argv[1], "arm");
    write_code(model_pin_chain(10), argv[1], "chain");
    return EXIT_SUCCESS;
}
