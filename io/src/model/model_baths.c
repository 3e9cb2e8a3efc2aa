// The table: baths, which hold a temperature.
#include "model/model_write_internal.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum {
    CHAIN = TALI_FORCE_REFS // where a thermostat keeps the number of its links
};

const tali_model_attribute tali_model_thermostat_attributes[] = {
    {"chain", TALI_TYPE_INTEGER, .initial = "3", .doc = "links of the chain, 1 to 16"},
    {"kT", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER, .doc = "[J]"},
    {"relaxation_time", TALI_TYPE_REAL, 1, "0.1", TALI_POSITIVE_NUMBER, .doc = "[s]"},
    {"excluded", TALI_TYPE_REAL, 1, "0", TALI_NO_NEGATIVE_NUMBER,
     .doc = "number of degrees of freedom without temperature, such as conserved momenta"},
    {.name = NULL}};

void tali_model_build_thermostat(tali_model *m, tali_model_item *item)
{
    tal_thermostat_def def = tal_thermostat_def_default();
    def.chain_length = item->ref[CHAIN];
    def.kT = item->p[0];
    def.relaxation_time = item->p[1];
    def.excluded = item->p[2];
    item->built = tal_forces_add_thermostat(m->forces, item->name, &def).i;
}

const tali_model_attribute tali_model_langevin_attributes[] = {
    {"seed", TALI_TYPE_TEXT, .initial = "0", .doc = "of the noise: a whole number below 2^64"},
    {"interval", TALI_TYPE_REAL, 1, .flags = TALI_POSITIVE_NUMBER,
     .doc = "the step of the integrator [s]"},
    {"kT", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[J]"},
    {"friction", TALI_TYPE_REAL, 1, .flags = TALI_NO_NEGATIVE_NUMBER, .doc = "[1/s]"},
    {.name = NULL}};

// Decimal digits of a number of 64 bits.
static bool read_seed(const char *text, uint64_t *seed)
{
    *seed = 0;
    for (const char *at = text; *at != '\0'; ++at) {
        const uint64_t digit = (uint64_t)(*at - '0');
        if (*at < '0' || *at > '9' || *seed > (UINT64_MAX - digit) / 10) return false;
        *seed = 10 * *seed + digit;
    }
    return *text != '\0';
}

void tali_model_check_langevin(tali_model *m, tali_model_item *item)
{
    uint64_t seed;
    if (read_seed(item->text[0], &seed)) return;
    tali_model_item_error(m, item, "seed",
                          ": 'seed' is '%.40s'; it must be a whole number below 2^64",
                          item->text[0]);
}

void tali_model_build_langevin(tali_model *m, tali_model_item *item)
{
    tal_langevin_def def = tal_langevin_def_default();
    (void)read_seed(item->text[0], &def.seed);
    def.interval = item->p[0];
    def.kT = item->p[1];
    def.friction = item->p[2];
    item->built = tal_forces_add_langevin(m->forces, item->name, &def).i;
}

void tali_model_describe_langevin(tali_model_description *d)
{
    const tal_model *model = &d->w->model;
    const uint64_t seed = tal_langevin_seed(model->forces, model->state, (tal_force_ix){d->index});
    (void)snprintf(d->digits, sizeof d->digits, "%" PRIu64, seed);
    tali_model_say_text(d, d->digits);
    tali_model_describe_built_in_force(d);
}
