// Talus's integrators.
#include "bench.h"
#include "build_talus.h"
#include "count_alloc.h"
#include "simulator.h"

#include <talus/study/integrator.h>

static bool step_to(tal_integrator *integ, tal_state *state, double t, simulation *out)
{
    const long before = allocations();
    const double start = bench_now();
    const tal_status st = tal_integrator_step_to(integ, state, t);
    out->seconds += 1e-9 * (bench_now() - start);
    out->allocations += allocations() - before;
    return st == TAL_OK;
}

static bool simulate(const model *m, const tal_integrator_def *def, simulation *out)
{
    talus_model t = talus_build(m);
    tal_error error;
    tal_integrator *integ = NULL;
    if (tal_integrator_create(t.system, def, &integ, &error) != TAL_OK) talus_stop(&error);
    *out = (simulation){.steps = 0};
    talus_set_values(&t, m, 0);
    for (int i = 0; i < m->nu; ++i) {
        tal_state_upd_u(t.state)[i] = 0.0;
    }
    talus_realize(&t, TAL_STAGE_ACCELERATION);
    bool ok = true;
    for (int k = 0; k <= SIMULATION_SECONDS && ok; ++k) {
        if (k > 0) ok = step_to(integ, t.state, (double)k, out);
        out->energy[k] = tal_system_energy(t.system, t.state);
    }
    const tal_integrator_stats stats = tal_integrator_statistics(integ);
    out->realizations = (long)stats.realizations;
    out->steps = (long)stats.steps_taken;
    tal_integrator_destroy(integ);
    talus_free(&t);
    return ok;
}

static bool merson(const model *m, double accuracy, simulation *out)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_merson();
    def.accuracy = accuracy;
    return simulate(m, &def, out);
}

static bool dormand_prince(const model *m, double accuracy, simulation *out)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_dormand_prince();
    def.accuracy = accuracy;
    return simulate(m, &def, out);
}

static bool bogacki_shampine(const model *m, double accuracy, simulation *out)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_bogacki_shampine_5();
    def.accuracy = accuracy;
    return simulate(m, &def, out);
}

static bool verner(const model *m, double accuracy, simulation *out)
{
    tal_integrator_def def = tal_integrator_def_default();
    def.tableau = tal_rk_verner_8();
    def.accuracy = accuracy;
    return simulate(m, &def, out);
}

const simulator simulator_talus_merson = {"Talus Merson", true, merson};
const simulator simulator_talus_dormand_prince = {"Talus Dormand-Prince", true, dormand_prince};
const simulator simulator_talus_bogacki_shampine = {"Talus Bogacki-Shampine", true,
                                                    bogacki_shampine};
const simulator simulator_talus_verner = {"Talus Verner", true, verner};
