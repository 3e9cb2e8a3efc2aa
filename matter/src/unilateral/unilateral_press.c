// What presses on a grip: the normal of its element, or rows of an ordinary constraint.
#include "unilateral/unilateral_internal.h"

#include <math.h>

// --- from multipliers to N ---

static void add_row(tali_unilateral_press *press, int slot, double weight)
{
    if (slot < 0) return;
    press->slot[press->count] = slot;
    press->weight[press->count++] = weight;
}

static int slot_of(const tal_matter *matter, const tal_state *state, int constraint, int r)
{
    const tali_constraint_row_map map = tali_constraint_row_map_of(matter, state);
    if (map.row0[constraint] < 0) return -1;
    return tali_constraint_row_slot(&map, &matter->constraints.list[constraint], constraint, r);
}

tali_unilateral_press tali_unilateral_press_of(const tal_matter *matter, const tal_state *state,
                                               int i)
{
    const tali_unilateral *it = &matter->unilaterals.list[i];
    tali_unilateral_press press = {.sense = 1.0};
    if (it->normal >= 0) {
        add_row(&press, slot_of(matter, state, it->normal, 0), -it->sign);
        return press;
    }
    press.is_load = it->load.constraint.i >= 0;
    for (int r = 0; press.is_load && r < it->load.count; ++r) {
        const int slot = slot_of(matter, state, it->load.constraint.i, it->load.first + r);
        add_row(&press, slot, it->load.weight[r]);
    }
    if (press.count > 1) press.sense = 0.0;
    return press;
}

// A norm of no row, or of one, with its sense.
static double linear(const tali_unilateral_press *press, const double lambda[])
{
    return press->count > 0 ? press->sense * press->weight[0] * lambda[press->slot[0]] : 0.0;
}

static double square_of(const tali_unilateral_press *press, const double lambda[])
{
    double sum = 0.0;
    for (int r = 0; r < press->count; ++r) {
        const double x = press->weight[r] * lambda[press->slot[r]];
        sum += x * x;
    }
    return sum;
}

double tali_unilateral_pressing(const tali_unilateral_press *press, const double lambda[])
{
    return press->sense != 0.0 ? linear(press, lambda) : sqrt(square_of(press, lambda));
}

// At N = 0 a norm has no slope; within `small` of it, less than it would have.
double tali_unilateral_press_slope(const tali_unilateral_press *press, const double lambda[],
                                   const double change[])
{
    if (press->sense != 0.0) return linear(press, change);
    double sum = 0.0;
    for (int r = 0; r < press->count; ++r) {
        const int slot = press->slot[r];
        sum += press->weight[r] * press->weight[r] * lambda[slot] * change[slot];
    }
    const double N = sqrt(square_of(press, lambda) + press->small * press->small);
    return N > 0.0 ? sum / N : 0.0;
}

double tali_unilateral_normal_force(const tal_matter *matter, const tal_state *state, int i,
                                    const double lambda[])
{
    const tali_unilateral_press press = tali_unilateral_press_of(matter, state, i);
    const double N = tali_unilateral_pressing(&press, lambda);
    return press.is_load ? fabs(N) : N;
}
