// Modes from accelerations: which elements push, stick and slide.
#include "prescribed/prescribed_internal.h"
#include "unilateral/impact_internal.h"

#include <math.h>

enum {
    MOST_JAMS = 20
};

// Forces smaller than this part of the largest in their component are none.
static const double NO_FORCE = 1e-10;

// --- accelerations without the forces of any constraint ---

static tal_status fill_accelerations(tali_impact_problem *p)
{
    const tal_matter *matter = p->matter;
    tal_state *state = p->state;
    tal_status st = tal_system_realize(matter->system, state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return st;
    const tali_tree_applied applied = tali_prescribed_loads_of(matter, state);
    if (applied.F == NULL) return tal_state_error(state)->status;
    st = tali_matter_forward_dynamics(matter, state, applied.F, applied.f, p->udot, NULL, NULL);
    if (st == TAL_OK) st = tal_matter_calc_constraint_aerr(matter, state, p->udot, p->v);
    for (int r = 0; r < p->m && st == TAL_OK; ++r) {
        p->v[r] *= p->sign[r];
    }
    return st;
}

// --- what was found ---

static double largest_force(const tali_impact_problem *p)
{
    double most = 0.0;
    for (int k = 0; k < p->num_in; ++k) {
        const int normal = p->contacts[k].normal;
        if (normal >= 0) most = fmax(most, p->z[normal]);
    }
    return most;
}

// The mode of a part, and the direction in which it slips or begins to.
static void note_mode(tali_impact_problem *p, int k, double most)
{
    tali_impact_part *part = &p->parts[p->in[k]];
    const tal_friction_contact *c = &p->contacts[k];
    part->mode = p->modes[k];
    if (c->normal >= 0 && !(p->z[c->normal] > NO_FORCE * most)) part->mode = TAL_FRICTION_OFF;
    if (part->mode != TAL_FRICTION_SLIP) return;
    const double x = p->z[c->tangent], y = c->num_tangents > 1 ? p->z[c->tangent + 1] : 0.0;
    const double r = hypot(x, y);
    part->direction[0] = r > 0.0 ? -x / r : 0.0;
    part->direction[1] = r > 0.0 ? -y / r : 0.0;
}

static tal_unilateral_mode mode_of(const tali_impact_problem *p, const tali_impact_part *part)
{
    const tali_unilateral *it = &p->matter->unilaterals.list[part->element];
    const bool is_off = !part->is_in || part->mode == TAL_FRICTION_OFF;
    if (is_off && it->normal >= 0) return TAL_UNILATERAL_OFF;
    if (it->grip < 0) return TAL_UNILATERAL_ON;
    // a grip without friction, as its material says now, slides
    const bool sticks = part->num_slips > 0 && part->mode == TAL_FRICTION_STICK;
    return sticks ? TAL_UNILATERAL_STICK : TAL_UNILATERAL_SLIDE;
}

// From the constraints as the question has switched them: where all stick, nothing changes.
static tal_status set_modes(tali_impact_problem *p, tal_impact_report *report)
{
    tal_status st = TAL_OK;
    for (int k = 0; k < p->num && st == TAL_OK; ++k) {
        const tali_impact_part *part = &p->parts[k];
        const tal_unilateral_mode mode = mode_of(p, part);
        if (mode != part->was) ++report->num_changed;
        st = tali_unilateral_enter(p->matter, p->state, part->element, part->was, mode,
                                   part->direction);
    }
    return st;
}

// --- Painleve ---

static bool any_slides(const tali_impact_problem *p)
{
    for (int k = 0; k < p->num_in; ++k) {
        if (p->contacts[k].slides) return true;
    }
    return false;
}

// A sliding contact that no force keeps from penetrating: an impulse stops it at once (theory of
// Painleve's paradox). Its component has been gathered with accelerations.
static tal_status stop_jammed(tali_impact_problem *p, int c, const char *why)
{
    tal_status st = tali_impact_fill_velocities(p);
    if (st != TAL_OK) return st;
    (void)tali_impact_gather(p, c, true);
    if (!tali_impact_jam(p)) return tali_impact_fail(p, TAL_ERR_INFEASIBLE, why);
    memset(p->pi, 0, (size_t)p->m * sizeof *p->pi);
    for (int i = 0; i < p->n; ++i) {
        p->pi[p->rows[i]] = p->z[i];
    }
    return tali_impact_apply(p, p->pi);
}

// --- the question ---

// What touches and leaves is off, whatever else happens.
static void drop_separating(tali_impact_problem *p)
{
    for (int k = 0; k < p->num; ++k) {
        tali_impact_part *part = &p->parts[k];
        const bool has_normal = p->matter->unilaterals.list[part->element].normal >= 0;
        part->is_in = !has_normal || part->speed <= p->options.speed_tolerance;
    }
}

// One look at all components. `jammed`: u was changed, and everything is to be asked again.
static tal_status find_modes(tali_impact_problem *p, bool *jammed)
{
    *jammed = false;
    p->is_warm = true;
    drop_separating(p);
    tal_status st = tali_impact_assemble(p);
    if (st == TAL_OK) st = fill_accelerations(p);
    if (st != TAL_OK) return st;
    const int count = tali_impact_find_components(p);
    for (int c = 0; c < count; ++c) {
        tal_error why = {TAL_OK, "", ""};
        if (!tali_impact_gather(p, c, false)) continue;
        st = tali_impact_solve_loaded(p, &why);
        if (st == TAL_ERR_INFEASIBLE && any_slides(p)) {
            *jammed = true;
            return stop_jammed(p, c, why.message);
        }
        if (st != TAL_OK) return tali_impact_fail(p, st, why.message);
        const double most = largest_force(p);
        for (int k = 0; k < p->num_in; ++k) {
            note_mode(p, k, most);
        }
    }
    return TAL_OK;
}

static tal_status ask(const tal_matter *matter, tal_state *state, const tal_impact_options *options,
                      tal_impact_report *report, bool *jammed)
{
    tali_impact_problem p;
    tal_status st = tali_impact_begin(matter, state, options, &p);
    if (st == TAL_OK) {
        report->num_touching = p.num;
        st = find_modes(&p, jammed);
        const tal_status set =
            st == TAL_OK && !*jammed ? set_modes(&p, report) : tali_impact_restore(&p);
        if (st == TAL_OK) st = set;
    }
    tali_impact_end(&p);
    return st;
}

tal_status tal_matter_solve_modes(const tal_matter *matter, tal_state *state,
                                  const tal_impact_options *options, tal_impact_report *report)
{
    const tal_impact_options chosen = options != NULL ? *options : tal_impact_options_default();
    tal_impact_report own;
    if (report == NULL) report = &own;
    *report = (tal_impact_report){.restitution = 1.0};
    tal_status st = tali_impact_enter(matter, state, &chosen, __func__);
    if (st != TAL_OK || matter->unilaterals.count == 0) return st;
    bool jammed = true;
    for (int k = 0; k < MOST_JAMS && jammed && st == TAL_OK; ++k) {
        st = ask(matter, state, &chosen, report, &jammed);
        if (jammed) ++report->num_jammed;
    }
    if (st != TAL_OK) return st;
    if (jammed) {
        return tal_state_fail(state, TAL_ERR_NO_CONVERGENCE,
                              "sliding friction jams again and again at t = %g",
                              tal_state_t(state));
    }
    return tal_system_realize(matter->system, state, TAL_STAGE_DYNAMICS);
}
