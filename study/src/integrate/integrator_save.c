// What the next step needs besides the State, as bytes: a run can be resumed bit for bit.
//
// The bytes are a header and most of the workspace, so that the last step can be interpolated too.
// A hash of everything in the def that affects a step identifies the integrator that wrote them.
#include "hash_internal.h"

#include "integrate/integrator_internal.h"
#include "problem/sealed_internal.h"

#include <string.h>

enum {
    FORMAT_VERSION = 5
};

static const char MAGIC[8] = "TALINTEG";

typedef struct saved {
    tali_seal seal;
    double t0, t1, h_next, clearest, let_off, tolerance;
    tali_integrator_share now, past;
    uint32_t has_step, is_settled, even_if_met, redundant, projects_stages;
    tali_integrator_bad bad;
    tal_integrator_stats stats;
} saved;

// What must be the same for a saved run to go on.
static uint64_t identity_of(const tal_integrator *integ)
{
    const tal_integrator_def *def = &integ->def;
    const double numbers[] = {def->accuracy, def->fixed_step, def->min_step,
                              def->max_step, def->baumgarte,  integ->problem.projection.tolerance};
    const int64_t choices[] = {
        (int64_t)def->method, def->infinity_norm,      def->absolute_u,
        def->absolute_z,      def->project_every_step, (int64_t)def->linear_solver,
        def->order,           integ->method.num_stages};
    const uint64_t structure = tal_system_structure_hash(integ->problem.system);
    uint64_t hash = tali_hash(TALI_HASH_SEED, &structure, sizeof structure);
    hash = tali_hash(hash, numbers, sizeof numbers);
    hash = tali_hash(hash, choices, sizeof choices);
    if (def->baumgarte_beta > 0.0) { // files that are older know nothing of it
        hash = tali_hash(hash, &def->baumgarte_beta, sizeof def->baumgarte_beta);
    }
    const tal_system *system = integ->problem.system;
    if (def->absolute_u_each != NULL) {
        const int n = tal_system_pool_capacity(system, TAL_POOL_U);
        hash = tali_hash(hash, def->absolute_u_each, (size_t)n * sizeof(bool));
    }
    if (def->absolute_z_each != NULL) {
        const int n = tal_system_pool_capacity(system, TAL_POOL_Z);
        hash = tali_hash(hash, def->absolute_z_each, (size_t)n * sizeof(bool));
    }
    if (def->method != TAL_METHOD_RUNGE_KUTTA) return hash;
    return tali_hash(hash, def->tableau->name, strlen(def->tableau->name));
}

void tal_integrator_checkpoint(tal_integrator *integ)
{
    if (integ == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
        return;
    }
    if (integ->family->restart != NULL) integ->family->restart(integ);
    integ->has_step = integ->is_settled = false;
    integ->is_cut = true;
}

size_t tal_integrator_save_size(const tal_integrator *integ)
{
    if (integ != NULL) return sizeof(saved) + integ->kept_bytes;
    (void)TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    return 0;
}

tal_status tal_integrator_save(tal_integrator *integ, void *bytes, size_t size)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (bytes == NULL) return TALI_BREACH(TAL_ERR_NULL, "the memory is NULL");
    integ->problem.error_record = (tal_error){TAL_OK, "", ""};
    if (!integ->family->is_one_step && !integ->is_cut) {
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_STAGE,
                         "a multistep method can be saved at checkpoints only");
    }
    const size_t total = tal_integrator_save_size(integ);
    if (size < total) {
        return TALI_FAIL(&integ->problem.error_record, TAL_ERR_CAPACITY,
                         "%zu bytes are too few for the %zu bytes of an integrator", size, total);
    }
    saved header;
    memset(&header, 0, sizeof header);
    header.t0 = integ->t0;
    header.t1 = integ->t1;
    header.h_next = integ->h_next;
    header.clearest = integ->clearest;
    header.let_off = integ->let_off;
    header.now = integ->now;
    header.past = integ->past;
    header.tolerance = integ->tolerance;
    header.has_step = integ->has_step;
    header.is_settled = integ->is_settled;
    header.even_if_met = integ->problem.projection.even_if_met;
    header.redundant = integ->problem.projection.redundant != NULL;
    header.projects_stages = integ->problem.projects_stages;
    header.bad = integ->bad;
    header.stats = integ->stats;
    memcpy(bytes, &header, sizeof header);
    tali_alloc_copy((char *)bytes + sizeof header, integ->block, integ->kept_bytes);
    tali_seal_bytes(bytes, total, MAGIC, FORMAT_VERSION, identity_of(integ));
    return TAL_OK;
}

tal_status tali_integrator_check(tal_integrator *integ, const void *bytes, size_t size)
{
    tal_error *err = &integ->problem.error_record;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_status st = tali_seal_check(bytes, size, MAGIC, FORMAT_VERSION, err);
    if (st != TAL_OK) return st;
    const bool fits = size == tal_integrator_save_size(integ);
    if (fits && tali_sealed_identity(bytes) == identity_of(integ)) return TAL_OK;
    return TALI_FAIL(err, TAL_ERR_FILE,
                     "saved by an integrator of another System, method or accuracy");
}

tal_status tal_integrator_restore(tal_integrator *integ, tal_state *state, const void *bytes,
                                  size_t size)
{
    if (integ == NULL) return TALI_BREACH(TAL_ERR_NULL, "the integrator is NULL");
    if (state == NULL) return TALI_BREACH(TAL_ERR_NULL, "the State is NULL");
    if (bytes == NULL) return TALI_BREACH(TAL_ERR_NULL, "the bytes are NULL");
    tal_status st = tali_integrator_check(integ, bytes, size);
    if (st != TAL_OK) return st;
    st = tal_system_realize(integ->problem.system, state, TAL_STAGE_ACCELERATION);
    if (st != TAL_OK) return tali_problem_pass_on(&integ->problem, state, st);
    tal_state_reset_low_water(state);
    if (integ->family->restart != NULL) integ->family->restart(integ);
    saved header;
    memcpy(&header, bytes, sizeof header);
    tali_alloc_copy(integ->block, (const char *)bytes + sizeof header, integ->kept_bytes);
    integ->dense.is_known = false;
    integ->t0 = header.t0;
    integ->t1 = header.t1;
    integ->h_next = header.h_next;
    integ->clearest = header.clearest;
    integ->let_off = header.let_off;
    integ->now = header.now;
    integ->past = header.past;
    integ->tolerance = header.tolerance;
    integ->has_step = header.has_step != 0;
    integ->is_settled = header.is_settled != 0;
    integ->problem.projection.even_if_met = header.even_if_met != 0;
    integ->problem.projection.redundant = header.redundant != 0 ? integ->repeats : NULL;
    integ->problem.projects_stages = header.projects_stages != 0;
    integ->is_cut = !integ->family->is_one_step;
    integ->bad = header.bad;
    integ->stats = header.stats;
    return TAL_OK;
}
