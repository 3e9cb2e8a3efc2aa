// Replica exchange: rungs that run by themselves, and exchange their States with neighbors.
#include "md/md_internal.h"
#include "problem/study_internal.h"

#include <talus/common/random.h>
#include <talus/study/replicas.h>

#include <math.h>
#include <string.h>

// A temperature with what runs there.
typedef struct tali_md_rung {
    double kT;
    tal_md *md;
    tal_state *state; // exchanged with those of neighbors
    int walker;       // which of the first States it is
    tal_status status;
    int64_t tried, accepted; // exchanges with the next rung
} tali_md_rung;

struct tal_replicas {
    tal_allocator allocator;
    size_t size; // of the whole block
    const tal_system *system;
    const tal_matter *matter;
    tal_replicas_def def;
    tal_executor executor;
    tali_md_rung *rungs; // [def.num]
    uint64_t rounds;
    tal_error error;
};

tal_replicas_def tal_replicas_def_default(void)
{
    return (tal_replicas_def){.md = tal_md_def_default(), .steps = 100};
}

// ---- creation

static tal_status check_def(const tal_replicas_def *def, tal_error *err)
{
    if (def->num < 1 || def->steps < 1) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "replica exchange: %d rungs of %d steps; both must be positive", def->num,
                         def->steps);
    }
    if (def->kT == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the temperatures are NULL");
    for (int i = 0; i < def->num; ++i) {
        if (isfinite(def->kT[i]) && def->kT[i] > 0.0) continue;
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "kT of rung %d is %g: it must be positive", i,
                         def->kT[i]);
    }
    if (def->executor != NULL && def->executor->run == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "the executor has no function");
    }
    return TAL_OK;
}

static void scale_speeds(tal_state *state, double factor)
{
    double *u = tal_state_upd_u(state);
    for (int i = 0; i < tal_state_nu(state); ++i) {
        u[i] *= factor;
    }
}

// What depends on the temperature of a rung.
static tal_status adapt(const tal_replicas *r, tal_state *state, int rung)
{
    return r->def.set != NULL ? r->def.set(r->def.context, state, rung, r->rungs[rung].kT) : TAL_OK;
}

static tal_status make_rung(tal_replicas *r, int i, const tal_state *start, tal_error *err)
{
    tali_md_rung *rung = &r->rungs[i];
    tal_md_def def = r->def.md;
    def.kT = rung->kT;
    def.seed = r->def.seed + (uint64_t)i;
    tal_status st = tal_md_create(r->system, &def, &rung->md, err);
    if (st == TAL_OK) st = tal_state_create(r->system, &rung->state, err);
    if (st != TAL_OK) return st;
    st = tal_state_copy(rung->state, start);
    if (st == TAL_OK) st = adapt(r, rung->state, i);
    if (st != TAL_OK) return TALI_FAIL(err, st, "%s", tal_state_error(rung->state)->message);
    if (tal_state_nu(rung->state) > 0) {
        scale_speeds(rung->state, sqrt(rung->kT / r->rungs[0].kT));
    }
    return TAL_OK;
}

static tal_replicas *make(const tal_system *system, const tal_replicas_def *def)
{
    tal_replicas *r = NULL;
    tal_replicas it = {.allocator = tal_system_allocator(system),
                       .system = system,
                       .matter = tal_system_matter(system),
                       .def = *def,
                       .executor =
                           def->executor != NULL ? *def->executor : tal_executor_in_order()};
    const tali_piece pieces[] = {{&r, sizeof *r}, {&it.rungs, (size_t)def->num * sizeof *it.rungs}};
    if (tali_alloc_pieces(&it.allocator, pieces, 2, &it.size) == NULL) return NULL;
    *r = it;
    for (int i = 0; i < def->num; ++i) {
        r->rungs[i] = (tali_md_rung){.kT = def->kT[i], .walker = i};
    }
    r->def.kT = NULL; // the rungs have them
    return r;
}

tal_status tal_replicas_create(const tal_system *system, const tal_replicas_def *def,
                               const tal_state *start, tal_replicas **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "'out' is NULL");
    *out = NULL;
    tal_error local;
    if (err == NULL) err = &local;
    *err = (tal_error){TAL_OK, "", ""};
    const tal_replicas_def chosen = def != NULL ? *def : tal_replicas_def_default();
    tal_status st = tali_problem_check_has_matter(system, err);
    if (st == TAL_OK) st = check_def(&chosen, err);
    if (st != TAL_OK) return st;
    if (start == NULL || tal_state_structure_hash(start) != tal_system_structure_hash(system)) {
        st = start == NULL ? TAL_ERR_NULL : TAL_ERR_WRONG_SYSTEM;
        return TALI_FAIL(err, st, "the start of replicas is %s",
                         start == NULL ? "NULL" : "a State of another System");
    }
    tal_replicas *r = make(system, &chosen);
    if (r == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for replica exchange");
    for (int i = 0; i < chosen.num && st == TAL_OK; ++i) {
        st = make_rung(r, i, start, err);
    }
    if (st == TAL_OK) {
        *out = r;
    } else {
        tal_replicas_destroy(r);
    }
    return st;
}

void tal_replicas_destroy(tal_replicas *replicas)
{
    if (replicas == NULL) return;
    const tal_allocator allocator = replicas->allocator;
    for (int i = 0; i < replicas->def.num; ++i) {
        tal_md_destroy(replicas->rungs[i].md);
        tal_state_destroy(replicas->rungs[i].state);
    }
    tali_free(&allocator, replicas, replicas->size);
}

// ---- a round

static void run_rung(void *work, int i)
{
    tal_replicas *r = work;
    tali_md_rung *rung = &r->rungs[i];
    rung->status = tal_md_run(rung->md, rung->state, r->def.steps);
    if (rung->status != TAL_OK) return;
    rung->status = tal_system_realize(r->system, rung->state, TAL_STAGE_DYNAMICS);
}

// U of a State with what belongs to a rung.
static tal_status find_energy(tal_replicas *r, tal_state *state, int rung, double *U)
{
    tal_status st = adapt(r, state, rung);
    if (st == TAL_OK) st = tal_system_realize(r->system, state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return TALI_FAIL(&r->error, st, "%s", tali_problem_reason(state, st));
    *U = tal_system_potential_energy(r->system, state);
    return TAL_OK;
}

// Rungs i and i + 1 exchange their States, or not.
static tal_status exchange(tal_replicas *r, int i)
{
    tali_md_rung *a = &r->rungs[i], *b = &r->rungs[i + 1];
    double here[2], there[2];
    tal_status st = find_energy(r, a->state, i, &here[0]);
    if (st == TAL_OK) st = find_energy(r, b->state, i + 1, &here[1]);
    if (st == TAL_OK) st = find_energy(r, b->state, i, &there[0]);
    if (st == TAL_OK) st = find_energy(r, a->state, i + 1, &there[1]);
    if (st != TAL_OK) return st;
    // SO eq. 8 and 14, with an energy of each rung
    const double D = (there[0] - here[0]) / a->kT + (there[1] - here[1]) / b->kT;
    tal_random random = {~r->def.seed, r->rounds, (uint64_t)i << 32};
    ++a->tried;
    if (tal_random_uniform(&random) < exp(-D)) {
        tal_state *const state = a->state;
        const int walker = a->walker;
        a->state = b->state;
        a->walker = b->walker;
        b->state = state;
        b->walker = walker;
        const double factor = sqrt(a->kT / b->kT);
        scale_speeds(a->state, factor);
        scale_speeds(b->state, 1.0 / factor);
        ++a->accepted;
    }
    st = adapt(r, a->state, i);
    return st == TAL_OK ? adapt(r, b->state, i + 1) : st;
}

tal_status tal_replicas_run(tal_replicas *replicas, int rounds)
{
    if (replicas == NULL) return TALI_BREACH(TAL_ERR_NULL, "the replicas are NULL");
    tal_replicas *const r = replicas;
    r->error = (tal_error){TAL_OK, "", ""};
    if (rounds < 0) {
        return TALI_FAIL(&r->error, TAL_ERR_BAD_VALUE, "%d rounds: there are none below zero",
                         rounds);
    }
    tal_status st = TAL_OK;
    for (int k = 0; k < rounds && st == TAL_OK; ++k) {
        r->executor.run(r->executor.context, run_rung, r, r->def.num);
        for (int i = 0; i < r->def.num; ++i) {
            const tali_md_rung *rung = &r->rungs[i];
            if (rung->status == TAL_OK) continue;
            const tal_error *why = tal_md_error(rung->md);
            return TALI_FAIL(&r->error, rung->status, "rung %d: %s", i,
                             why->status != TAL_OK ? why->message
                                                   : tal_state_error(rung->state)->message);
        }
        for (int i = (int)(r->rounds % 2); i + 1 < r->def.num && st == TAL_OK; i += 2) {
            st = exchange(r, i);
        }
        if (st == TAL_OK) ++r->rounds;
    }
    return st;
}

// ---- reading

static tali_md_rung *rung_at(const tal_replicas *replicas, int rung, const char *where)
{
    if (replicas == NULL) {
        (void)tali_breach(TAL_ERR_NULL, where, "the replicas are NULL");
        return NULL;
    }
    if (rung >= 0 && rung < replicas->def.num) return &replicas->rungs[rung];
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "rung %d: there are %d", rung, replicas->def.num);
    return NULL;
}

tal_state *tal_replicas_state(tal_replicas *replicas, int rung)
{
    const tali_md_rung *it = rung_at(replicas, rung, __func__);
    return it != NULL ? it->state : NULL;
}

tal_md *tal_replicas_md(tal_replicas *replicas, int rung)
{
    const tali_md_rung *it = rung_at(replicas, rung, __func__);
    return it != NULL ? it->md : NULL;
}

int tal_replicas_walker(const tal_replicas *replicas, int rung)
{
    const tali_md_rung *it = rung_at(replicas, rung, __func__);
    return it != NULL ? it->walker : -1;
}

uint64_t tal_replicas_rounds(const tal_replicas *replicas)
{
    if (replicas != NULL) return replicas->rounds;
    (void)TALI_BREACH(TAL_ERR_NULL, "the replicas are NULL");
    return 0;
}

tal_status tal_replicas_set_rounds(tal_replicas *replicas, uint64_t rounds)
{
    if (replicas == NULL) return TALI_BREACH(TAL_ERR_NULL, "the replicas are NULL");
    replicas->rounds = rounds;
    return TAL_OK;
}

double tal_replicas_accepted(const tal_replicas *replicas, int rung)
{
    const tali_md_rung *it = rung_at(replicas, rung, __func__);
    if (it == NULL || it->tried == 0) return TALI_NAN;
    return (double)it->accepted / (double)it->tried;
}

const tal_error *tal_replicas_error(const tal_replicas *replicas)
{
    static const tal_error none = {TAL_ERR_NULL, "tal_replicas_error", "the replicas are NULL"};
    return replicas != NULL ? &replicas->error : &none;
}
