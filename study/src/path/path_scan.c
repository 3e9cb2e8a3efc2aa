// Flaws of paths: each coordinate goes through its range, and what changes too fast is followed
// down to where it happens.
#include "alloc_internal.h"
#include "error_internal.h"

#include "path/length_internal.h"
#include "problem/study_internal.h"

#include <talus/study/path_scan.h>

#include <math.h>

// Constraint errors up to which a pose counts as possible.
static const double POSSIBLE = 1e-6;

// Changes within one step that are looked at closely: of the length [m], of the moment arm [m].
static const double SUSPECT_JUMP = 1e-6, SUSPECT_KINK = 5e-4;

// What is a jump [m] and a kink [m] when the interval has shrunk to this part of 1 + |q|.
static const double JUMP = 1e-7, KINK = 1e-6, SHRUNK = 1e-9;

enum {
    MAX_COORDINATES = 128,
    MAX_STEPS = 4000
};

// A path that is being looked at, along one coordinate.
typedef struct scan {
    tali_fit_subject subject;
    tal_mobility at;
    double *g; // [nu]
    tal_path_flaw *flaws;
    int max, num;
} scan;

// The path at one value of the coordinate.
typedef struct look {
    double q, length, slope;
    uint64_t touches; // which obstacles it lies on and which points it has, as a number
    uint64_t inside;  // a bit for each obstacle
    bool is_pose;     // the constraints are met
    bool is_drawn;
} look;

static void add_flaw(scan *it, tal_path_flaw_kind kind, double q, double size, int wrap)
{
    if (it->num < it->max) it->flaws[it->num] = (tal_path_flaw){kind, {wrap}, it->at, q, size};
    ++it->num;
}

static bool meets_constraints(const tal_state *state)
{
    const double *qerr = tal_state_qerr(state);
    for (int i = 0; i < tal_state_pool_size(state, TAL_POOL_QERR); ++i) {
        if (!(fabs(qerr[i]) <= POSSIBLE)) return false;
    }
    return true;
}

static void list_touches(const scan *it, look *at)
{
    const tal_forces *forces = it->subject.forces;
    const tal_path_ix path = it->subject.path;
    for (int k = 0; k < tal_path_num_wraps(forces, path); ++k) {
        const bool is_on = tal_path_is_on_wrap(forces, it->subject.state, path, k);
        const bool is_inside = tal_path_is_inside_wrap(forces, it->subject.state, path, k);
        at->touches = 3 * at->touches + (is_on ? 2U : 1U);
        at->inside |= (uint64_t)(is_inside ? 1 : 0) << k;
    }
    for (int k = 0; k < tal_path_num_points(forces, path); ++k) {
        const bool is_active = tal_path_is_point_active(forces, it->subject.state, path, k);
        at->touches = 3 * at->touches + (is_active ? 2U : 1U);
    }
}

static look look_at(const scan *it, double q)
{
    look at = {.q = q, .touches = 1};
    const tali_fit_subject *subject = &it->subject;
    const int slot = tali_fit_slot(subject, it->at);
    (void)tal_body_set_q(subject->matter, subject->state, it->at.body, slot, q);
    if (tal_system_realize(subject->system, subject->state, TAL_STAGE_POSITION) != TAL_OK) {
        return at;
    }
    at.is_pose = meets_constraints(subject->state);
    at.length = at.is_pose ? tal_path_length(subject->forces, subject->state, subject->path) : 0.0;
    at.is_drawn = at.is_pose && isfinite(at.length) &&
                  tal_path_calc_generalized(subject->forces, subject->state, subject->path,
                                            it->g) == TAL_OK &&
                  tali_fit_calc_slope(subject, it->g, it->at, &at.slope) == TAL_OK;
    if (at.is_drawn) list_touches(it, &at);
    return at;
}

// What the length changes by besides what its slopes tell.
static double jump_of(const look *a, const look *b)
{
    return fabs(b->length - a->length - 0.5 * (a->slope + b->slope) * (b->q - a->q));
}

static bool is_suspect(const look *a, const look *b)
{
    return a->touches != b->touches || jump_of(a, b) > SUSPECT_JUMP ||
           fabs(b->slope - a->slope) > SUSPECT_KINK;
}

// Whether the change from a to b is before m.
static bool is_before(const look *a, const look *m, const look *b)
{
    if ((a->touches != m->touches) != (m->touches != b->touches)) return a->touches != m->touches;
    const double left = fabs(m->slope - a->slope) + 1e3 * jump_of(a, m);
    const double right = fabs(b->slope - m->slope) + 1e3 * jump_of(m, b);
    return left > right;
}

// Halve the step until it is 1e-9 wide, and tell what is left.
static void follow_down(scan *it, look a, look b)
{
    while (b.q - a.q > SHRUNK * (1.0 + fabs(a.q))) {
        const look m = look_at(it, 0.5 * (a.q + b.q));
        if (!m.is_drawn) return;
        if (is_before(&a, &m, &b)) {
            b = m;
        } else {
            a = m;
        }
    }
    const double jump = jump_of(&a, &b), kink = fabs(b.slope - a.slope);
    if (jump > JUMP) {
        add_flaw(it, TAL_PATH_JUMP, a.q, jump, -1);
    } else if (kink > KINK) {
        add_flaw(it, TAL_PATH_KINK, a.q, kink, -1);
    }
}

// Stretches of the range that share a flaw: where each began.
typedef struct stretches {
    double inside[TAL_MAX_PATH_WRAPS], lost;
    uint64_t are_inside;
    bool is_lost;
} stretches;

static void end_inside(scan *it, const stretches *at, int k, double q)
{
    const int wrap = tal_path_wrap(it->subject.forces, it->subject.path, k).i;
    add_flaw(it, TAL_PATH_INSIDE, at->inside[k], q - at->inside[k], wrap);
}

// Begin and end stretches at a look, the last one before was at `last`.
static void follow_stretches(scan *it, stretches *at, const look *now, double last)
{
    for (int k = 0; k < tal_path_num_wraps(it->subject.forces, it->subject.path); ++k) {
        const bool was = (at->are_inside >> k & 1) != 0, is = (now->inside >> k & 1) != 0;
        if (is && !was) at->inside[k] = now->q;
        if (was && !is) end_inside(it, at, k, last);
    }
    at->are_inside = now->inside;
    const bool is_lost = now->is_pose && !now->is_drawn;
    if (is_lost && !at->is_lost) at->lost = now->q;
    if (at->is_lost && !is_lost) add_flaw(it, TAL_PATH_LOST, at->lost, last - at->lost, -1);
    at->is_lost = is_lost;
}

static void scan_range(scan *it, double low, double high)
{
    const int n = (int)fmin(fmax(ceil((high - low) / (0.25 * TAL_DEGREE)), 100.0), MAX_STEPS);
    stretches at = {.is_lost = false};
    look last = look_at(it, low);
    follow_stretches(it, &at, &last, low);
    for (int i = 1; i <= n; ++i) {
        const look now = look_at(it, low + (high - low) * i / n);
        if (last.is_drawn && now.is_drawn && is_suspect(&last, &now)) follow_down(it, last, now);
        follow_stretches(it, &at, &now, last.q);
        last = now;
    }
    const look none = {.q = high};
    follow_stretches(it, &at, &none, high);
}

static void scan_coordinate(scan *it, tal_mobility at)
{
    const tali_fit_subject *subject = &it->subject;
    const int slot = tali_fit_slot(subject, at);
    double low = 0.0, high = 0.0;
    if (slot < 0) return;
    it->at = at;
    (void)tal_body_range(subject->matter, subject->state, at.body, slot, &low, &high);
    if (!(isfinite(low) && isfinite(high) && low < high)) return;
    const double q = tal_body_q(subject->matter, subject->state, at.body, slot);
    scan_range(it, low, high);
    (void)tal_body_set_q(subject->matter, subject->state, at.body, slot, q);
}

tal_status tal_path_find_flaws(const tal_system *system, const tal_forces *forces,
                               const tal_state *start, tal_path_ix path, tal_path_flaw flaws[],
                               int max, int *num, tal_error *err)
{
    if (num == NULL || max < 0 || (flaws == NULL && max > 0)) {
        const tal_status bad = num == NULL || max >= 0 ? TAL_ERR_NULL : TAL_ERR_BAD_VALUE;
        (void)TALI_BREACH(bad, "there is no room for %d flaws and their number", max);
        return TALI_FAIL(err, bad, "there is no room for %d flaws and their number", max);
    }
    *num = 0;
    scan it = {.flaws = flaws, .max = max};
    tal_status st = tali_fit_begin(system, forces, start, path, __func__, &it.subject, err);
    if (st == TAL_OK) {
        tal_mobility at[MAX_COORDINATES];
        const tal_allocator allocator = tal_system_allocator(system);
        const size_t bytes = ((size_t)tal_matter_nu(it.subject.matter) + 1) * sizeof *it.g;
        const int n = tal_path_coordinates(forces, path, at, MAX_COORDINATES);
        it.g = tali_alloc(&allocator, bytes);
        if (it.g == NULL) st = TALI_FAIL(err, TAL_ERR_NO_MEMORY, "no memory for a path");
        for (int k = 0; k < n && k < MAX_COORDINATES && st == TAL_OK; ++k) {
            scan_coordinate(&it, at[k]);
        }
        tali_free(&allocator, it.g, bytes);
    }
    tal_state_destroy(it.subject.state);
    *num = it.num;
    return st;
}
