// The state tables of unilateral elements, and restitution: pure functions.
#include "error_internal.h"

#include <talus/matter/unilateral.h>

#include <math.h>

// Touching at rest: its force decides, once it is known.
static tal_unilateral_status candidate(const tal_unilateral_facts *it)
{
    if (!it->force_is_known) return TAL_UNILATERAL_CANDIDATE;
    return it->force > it->force_tolerance ? TAL_UNILATERAL_ACTIVE : TAL_UNILATERAL_INACTIVE;
}

static tal_unilateral_status classify_position(const tal_unilateral_facts *it)
{
    if (!(it->gap >= -it->gap_tolerance)) return TAL_UNILATERAL_VIOLATED;
    if (it->gap > it->gap_tolerance) return TAL_UNILATERAL_SEPARATED;
    if (it->impact_declared || it->speed < -it->speed_tolerance) return TAL_UNILATERAL_IMPACTING;
    if (isnan(it->speed)) return TAL_UNILATERAL_VIOLATED;
    return it->speed > it->speed_tolerance ? TAL_UNILATERAL_SEPARATING : candidate(it);
}

static tal_unilateral_status classify_velocity(const tal_unilateral_facts *it)
{
    if (!(it->speed >= -it->speed_tolerance)) return TAL_UNILATERAL_VIOLATED;
    return it->speed > it->speed_tolerance ? TAL_UNILATERAL_SEPARATED : candidate(it);
}

tal_unilateral_status tal_unilateral_classify(const tal_unilateral_facts *facts)
{
    if (facts == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the facts are NULL");
        return TAL_UNILATERAL_VIOLATED;
    }
    if (facts->force_is_known && isnan(facts->force)) return TAL_UNILATERAL_VIOLATED;
    switch (facts->level) {
    case TAL_UNILATERAL_POSITION:
        return classify_position(facts);
    case TAL_UNILATERAL_VELOCITY:
        return classify_velocity(facts);
    case TAL_UNILATERAL_ACCELERATION:
        return candidate(facts);
    }
    (void)TALI_BREACH(TAL_ERR_BAD_VALUE, "there is no level %d", (int)facts->level);
    return TAL_UNILATERAL_VIOLATED;
}

double tal_unilateral_restitution(const tal_unilateral_material *material, double speed)
{
    if (material == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the material is NULL");
        return TALI_NAN;
    }
    if (speed <= material->capture_speed) return 0.0;
    if (!(speed < material->slow_speed)) return material->restitution;
    return 1.0 - (1.0 - material->restitution) * (speed / material->slow_speed);
}
