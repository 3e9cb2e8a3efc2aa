// Static optimization: one frame after the other, each a problem of least effort.
#include "muscle/balance_internal.h"
#include "muscle/drive_internal.h"
#include "problem/study_internal.h"

#include <talus/study/static_optimizer.h>

#include <math.h>
#include <string.h>

struct tal_static_optimizer {
    const tal_system *system;
    const tal_matter *matter;
    tal_allocator allocator;
    double exponent;
    tali_balance balance;
    tali_drives drives;
    tal_state *state; // a copy of the caller's
    void *block;
    size_t block_bytes;
    double *A;          // dof x n
    double *b, *lambda; // [nu]
    double *lambda_of;  // [nu] multipliers of the frame before, by their speeds
    double *lack;       // [nu]
    double *udot, *tau; // [nu]
    double *work;
    tal_error error_record;
};

tal_static_optimizer_def tal_static_optimizer_def_default(void)
{
    const tal_static_optimizer_def def = {.exponent = 2.0};
    return def;
}

// --- creation ---

static tal_status check_def(const tal_system *system, const tal_forces *forces,
                            const tal_static_optimizer_def *def, tal_error *err)
{
    const tal_status st = tali_problem_check_has_matter(system, err);
    if (st != TAL_OK) return st;
    if (forces == NULL) return TALI_FAIL(err, TAL_ERR_NULL, "the forces are NULL");
    if (tal_forces_matter(forces) != tal_system_matter(system)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the forces belong to another System");
    }
    if (!(def->exponent >= 1.25 && def->exponent <= 10.0)) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE, "the exponent is %g; it must be from 1.25 to 10",
                         def->exponent);
    }
    return TAL_OK;
}

static tal_status take_memory(tal_static_optimizer *it, tal_error *err)
{
    const int n = it->drives.n;
    const size_t nu = (size_t)it->balance.nu, d = sizeof(double);
    const tali_piece pieces[] = {
        {&it->A, nu * (size_t)n * d}, {&it->b, nu * d},
        {&it->lambda, nu * d},        {&it->lambda_of, nu * d},
        {&it->lack, nu * d},          {&it->udot, nu * d},
        {&it->tau, nu * d},           {&it->work, tal_effort_work_size(it->balance.nu, n) * d},
    };
    it->block = tali_alloc_pieces(&it->allocator, pieces, sizeof pieces / sizeof pieces[0],
                                  &it->block_bytes);
    if (it->block == NULL) {
        return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a static optimization");
    }
    return tal_state_create(it->system, &it->state, err);
}

tal_status tal_static_optimizer_create(const tal_system *system, const tal_forces *forces,
                                       const tal_static_optimizer_def *def,
                                       tal_static_optimizer **out, tal_error *err)
{
    if (out == NULL) return TALI_BREACH(TAL_ERR_NULL, "out is NULL");
    *out = NULL;
    const tal_static_optimizer_def usual = tal_static_optimizer_def_default();
    if (def == NULL) def = &usual;
    tal_status st = check_def(system, forces, def, err);
    if (st != TAL_OK) return st;
    const tal_allocator allocator = tal_system_allocator(system);
    tal_static_optimizer *it = tali_alloc(&allocator, sizeof *it);
    if (it == NULL) return TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for the study");
    it->system = system;
    it->matter = tal_system_matter(system);
    it->allocator = allocator;
    it->exponent = def->exponent;
    st = tali_balance_create(&it->balance, system, def->dependent, err);
    if (st == TAL_OK) {
        st = tali_drives_create(&it->drives, system, forces, def->actuators, def->num_actuators,
                                err);
    }
    it->drives.no_physiology = def->no_physiology;
    if (st == TAL_OK && it->drives.n == 0) {
        st = TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                       "System '%s' has no muscle and no actuator that could move it",
                       tal_system_name(system));
    }
    if (st == TAL_OK) st = take_memory(it, err);
    if (st != TAL_OK) {
        tal_static_optimizer_destroy(it);
        return st;
    }
    *out = it;
    return TAL_OK;
}

void tal_static_optimizer_destroy(tal_static_optimizer *optimizer)
{
    if (optimizer == NULL) return;
    const tal_allocator allocator = optimizer->allocator;
    tal_state_destroy(optimizer->state);
    tali_drives_destroy(&optimizer->drives);
    tali_balance_destroy(&optimizer->balance);
    tali_free(&allocator, optimizer->block, optimizer->block_bytes);
    tali_free(&allocator, optimizer, sizeof *optimizer);
}

int tal_static_optimizer_num(const tal_static_optimizer *optimizer)
{
    if (optimizer != NULL) return optimizer->drives.n;
    (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    return -1;
}

tal_force_ix tal_static_optimizer_actuator(const tal_static_optimizer *optimizer, int j, int *part)
{
    if (optimizer == NULL || j < 0 || j >= optimizer->drives.n) {
        (void)TALI_BREACH(optimizer == NULL ? TAL_ERR_NULL : TAL_ERR_BAD_INDEX,
                          "there is no actuator %d", j);
        return (tal_force_ix){-1};
    }
    if (part != NULL) *part = optimizer->drives.columns[j].part;
    return optimizer->drives.columns[j].force;
}

void tal_static_optimizer_restart(tal_static_optimizer *optimizer)
{
    if (optimizer == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
        return;
    }
    memset(optimizer->lambda_of, 0, (size_t)optimizer->balance.nu * sizeof(double));
}

const tal_error *tal_static_optimizer_error(const tal_static_optimizer *optimizer)
{
    static const tal_error none = {TAL_ERR_NULL, "", "the study is NULL"};
    return optimizer != NULL ? &optimizer->error_record : &none;
}

// --- one frame ---

static tal_status pass_on(tal_static_optimizer *it, tal_status st)
{
    if (st == TAL_OK) return TAL_OK;
    return TALI_FAIL(&it->error_record, st, "%s", tali_problem_reason(it->state, st));
}

// A = K^T unit strength, b = K^T tau.
static tal_status set_up(tal_static_optimizer *it, const double udot[])
{
    tali_balance *balance = &it->balance;
    tali_drives *drives = &it->drives;
    tal_status st = tal_system_realize(it->system, it->state, TAL_STAGE_VELOCITY);
    if (st == TAL_OK) st = tali_balance_lay(balance, it->state);
    if (udot != NULL) memcpy(it->udot, udot, (size_t)balance->nu * sizeof *it->udot);
    if (st == TAL_OK) st = tali_balance_complete(balance, it->state, it->udot);
    if (st == TAL_OK) st = tali_drives_find(drives, it->state);
    if (st == TAL_OK) st = tali_drives_needed(drives, it->state, it->udot, it->tau);
    if (st != TAL_OK) return pass_on(it, st);
    tali_balance_contract(balance, it->tau, it->b);
    for (int j = 0; j < drives->n; ++j) {
        double *A = it->A + (size_t)j * (size_t)balance->dof;
        tali_balance_contract(balance, drives->unit + (size_t)j * (size_t)balance->nu, A);
        for (int i = 0; i < balance->dof; ++i) {
            A[i] *= drives->strength[j];
        }
    }
    for (int i = 0; i < balance->dof; ++i) {
        it->lambda[i] = it->lambda_of[balance->speed[i]];
    }
    return TAL_OK;
}

// What the speeds lack, and which of them most, as a part of what it takes.
static void report_lack(const tal_static_optimizer *it, double lack[], tal_static_frame *frame)
{
    double most = 0.0;
    frame->speed = -1;
    frame->lack = 0.0;
    if (lack != NULL) memset(lack, 0, (size_t)it->balance.nu * sizeof *lack);
    for (int i = 0; i < it->balance.dof; ++i) {
        const double missing = it->lack[i], part = fabs(missing) / (1.0 + fabs(it->b[i]));
        if (lack != NULL) lack[it->balance.speed[i]] = missing;
        if (part <= most) continue;
        most = part;
        frame->speed = it->balance.speed[i];
        frame->lack = missing;
    }
}

static void name_speed(const tal_static_optimizer *it, int speed,
                       char name[TAL_COORDINATE_NAME_SIZE])
{
    const tal_group_ix group =
        tal_system_find_group(it->system, tal_matter_subsystem(it->matter), TAL_POOL_U, "u");
    int i = 0;
    const int slot = tal_group_start(it->system, it->state, group) + speed;
    const tal_body_ix body = tal_matter_u_owner(it->matter, it->state, slot, &i);
    (void)tal_body_coordinate_name(it->matter, it->state, body, i, name);
}

// The sentence about an answer that is none, or not the best.
static tal_status complain(tal_static_optimizer *it, tal_status st, const tal_static_frame *frame)
{
    const double t = tal_state_t(it->state);
    const tal_error why = it->error_record;
    it->error_record = (tal_error){TAL_OK, "", ""};
    if (st != TAL_ERR_INFEASIBLE || frame->speed < 0) {
        return TALI_FAIL(&it->error_record, st, "at t = %g: %s", t, why.message);
    }
    char name[TAL_COORDINATE_NAME_SIZE];
    name_speed(it, frame->speed, name);
    return TALI_FAIL(&it->error_record, st,
                     "coordinate '%s' lacks %g of %g at t = %g: its muscles are too weak; let an "
                     "actuator help it",
                     name, frame->lack, it->tau[frame->speed], t);
}

// The problem of the frame that has been set up.
static tal_status solve(tal_static_optimizer *it, double x[], tal_static_frame *frame)
{
    const tali_drives *drives = &it->drives;
    const int dof = it->balance.dof;
    const tal_effort_problem problem = {.A = tal_matrix_view(it->A, dof, drives->n),
                                        .b = it->b,
                                        .lower = drives->lower,
                                        .upper = drives->upper,
                                        .exponent = it->exponent};
    const tal_status st = tal_effort_solve(&problem, it->lambda, x, it->lack, it->work,
                                           &frame->report, &it->error_record);
    const bool has_answer = st == TAL_OK || st == TAL_ERR_INFEASIBLE;
    memset(it->lambda_of, 0, (size_t)it->balance.nu * sizeof *it->lambda_of);
    for (int i = 0; i < dof && st == TAL_OK; ++i) {
        it->lambda_of[it->balance.speed[i]] = it->lambda[i];
    }
    if (!has_answer) memset(it->lack, 0, (size_t)dof * sizeof *it->lack);
    frame->num_rows = dof;
    frame->effort = 0.0;
    for (int j = 0; j < drives->n && has_answer; ++j) {
        frame->effort += pow(fabs(x[j]), it->exponent);
    }
    return st;
}

tal_status tal_static_optimizer_solve(tal_static_optimizer *optimizer, const tal_state *state,
                                      const double udot[], double x[], double force[],
                                      double lack[], tal_static_frame *frame)
{
    tal_static_optimizer *it = optimizer;
    if (it == NULL) return TALI_BREACH(TAL_ERR_NULL, "the study is NULL");
    if (state == NULL || x == NULL || (udot == NULL && it->balance.nu > 0)) {
        return TALI_BREACH(TAL_ERR_NULL, "a State or an array is NULL");
    }
    it->error_record = (tal_error){TAL_OK, "", ""};
    tal_static_frame unread;
    if (frame == NULL) frame = &unread;
    *frame = (tal_static_frame){.speed = -1};
    tal_status st = tal_state_copy(it->state, state);
    if (st != TAL_OK) return TALI_FAIL(&it->error_record, st, "the State is of another System");
    st = set_up(it, udot);
    if (st != TAL_OK) return st;
    st = solve(it, x, frame);
    report_lack(it, lack, frame);
    for (int j = 0; j < it->drives.n && force != NULL; ++j) {
        force[j] = x[j] * it->drives.strength[j];
    }
    return st == TAL_OK ? TAL_OK : complain(it, st, frame);
}
