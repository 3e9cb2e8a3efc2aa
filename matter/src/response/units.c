// Units of coordinates, speeds and measures.
#include "error_internal.h"
#include "matter_facts_internal.h"
#include "measure_facts_internal.h"

#include "constraint/constraint_internal.h"
#include "tree/matter_internal.h"

#include <talus/matter/measures.h>
#include <talus/matter/response.h>
#include <talus/matter/units.h>

#include <stdio.h>
#include <string.h>

// Does speed i turn the body? False, and `*known` too, on a breach.
static bool is_turning(const tal_matter *matter, const tal_state *state, tal_body_ix body, int i,
                       bool *known)
{
    tal_spatial_vec H[TAL_MAX_NU];
    *known = tal_body_H(matter, state, body, TAL_H_FM, H) == TAL_OK;
    return *known && tal_v3_dot(H[i].w, H[i].w) > 0.0;
}

const char *tal_body_u_unit(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                            int i)
{
    const int nu = tal_body_nu(matter, body);
    if (nu < 0) return "";
    if (i < 0 || i >= nu) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "speed %d of %d", i, nu);
        return "";
    }
    bool known = false;
    const bool turns = is_turning(matter, state, body, i, &known);
    return !known ? "" : turns ? "rad/s" : "m/s";
}

const char *tal_body_q_unit(const tal_matter *matter, const tal_state *state, tal_body_ix body,
                            int i)
{
    const int nq = tal_body_nq(matter, state, body);
    if (nq < 0) return "";
    if (i < 0 || i >= nq) {
        (void)TALI_BREACH(TAL_ERR_BAD_INDEX, "coordinate %d of %d", i, nq);
        return "";
    }
    bool known = false;
    if (tal_body_qdot_is_u(matter, body)) {
        const bool turns = is_turning(matter, state, body, i, &known);
        return !known ? "" : turns ? "rad" : "m";
    }
    // a ball and its kin: three angles or a quaternion come first
    if (tal_body_uses_angles(matter, state, body)) return i < 3 ? "rad" : "m";
    return i < 4 ? "1" : "m";
}

// --- measures ---

// What matter measures; NULL: another measure, or not known.
static const char *unit_of_target(const tal_matter *matter, const tal_state *state,
                                  tal_measure_ix measure, const char *kind)
{
    tali_matter_measure_facts facts;
    if (!tali_matter_measure_facts_of(matter->system, measure, &facts)) return NULL;
    const tal_body_ix body = facts.bodies[0];
    if (strcmp(kind, "coordinate") == 0) {
        return facts.i < tal_body_nq(matter, state, body)
                   ? tal_body_q_unit(matter, state, body, facts.i)
                   : "";
    }
    if (strcmp(kind, "speed") == 0) return tal_body_u_unit(matter, state, body, facts.i);
    if (strcmp(kind, "kinetic energy") == 0) return "J";
    if (strcmp(kind, "loop coordinate") == 0) {
        const tali_constraint *c = &matter->constraints.list[facts.constraint.i];
        return tali_constraint_coordinate_is_angle(c, facts.i) ? "rad" : "m";
    }
    if (strcmp(kind, "unilateral") == 0) return ""; // of lengths or of angles
    return strcmp(kind, "multiplier") == 0 ? "" : "m";
}

// From the unit of what is differentiated: "m" to "m/s", "m/s" to "m/s^2", "N s" to "N".
static void divide_by_second(char unit[])
{
    const size_t length = strlen(unit);
    if (length >= 2 && strcmp(unit + length - 2, " s") == 0) {
        unit[length - 2] = '\0';
    } else if (length >= 2 && strcmp(unit + length - 2, "/s") == 0) {
        (void)snprintf(unit + length, TAL_UNIT_SIZE - length, "^2");
    } else if (strchr(unit, '/') == NULL) {
        (void)snprintf(unit + length, TAL_UNIT_SIZE - length, "/s");
    } else {
        unit[0] = '\0';
    }
}

// From the unit of what is integrated: "m/s" to "m", "m/s^2" to "m/s", "N" to "N s".
static void multiply_by_second(char unit[])
{
    const size_t length = strlen(unit);
    const bool by_square = length >= 4 && strcmp(unit + length - 4, "/s^2") == 0;
    const bool by_second = length >= 2 && strcmp(unit + length - 2, "/s") == 0;
    if (by_square || by_second) {
        unit[length - 2] = '\0';
    } else {
        (void)snprintf(unit + length, TAL_UNIT_SIZE - length, " s");
    }
}

// Is the unit of a measure of this kind that of its operands?
static bool is_of_operand(const char *kind)
{
    static const char *const kinds[] = {"sum", "difference", "extreme", "delay", "hold"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; ++k) {
        if (strcmp(kind, kinds[k]) == 0) return true;
    }
    return false;
}

// Goes from a measure to what it is made of, down to one whose unit is known, and counts rates on
// the way.
tal_status tal_matter_measure_unit(const tal_matter *matter, const tal_state *state,
                                   tal_measure_ix measure, char unit[])
{
    if (unit == NULL) return TALI_BREACH(TAL_ERR_NULL, "unit is NULL");
    unit[0] = '\0';
    if (matter == NULL) return TALI_BREACH(TAL_ERR_NULL, "matter is NULL");
    const tal_system *const system = matter->system;
    int rates = 0;
    tali_measure_facts facts;
    for (;;) {
        if (measure.i < 0 || measure.i >= tal_system_num_measures(system)) {
            return TALI_BREACH(TAL_ERR_BAD_INDEX, "there is no measure %d", measure.i);
        }
        const char *const kind = tal_measure_kind(system, measure);
        const char *const own =
            strcmp(kind, "time") == 0 ? "s" : unit_of_target(matter, state, measure, kind);
        if (own != NULL) {
            (void)snprintf(unit, TAL_UNIT_SIZE, "%s", own);
            break;
        }
        const bool is_rate = strcmp(kind, "differentiate") == 0;
        const bool is_integral = strcmp(kind, "integrate") == 0;
        if (!is_rate && !is_integral && !is_of_operand(kind)) return TAL_OK;
        if (!tali_measure_facts_of(system, measure, &facts) || facts.operands[0].i < 0) {
            return TAL_OK;
        }
        rates += is_rate ? 1 : is_integral ? -1 : 0;
        measure = facts.operands[0];
    }
    for (; rates > 0 && unit[0] != '\0'; --rates) {
        divide_by_second(unit);
    }
    for (; rates < 0 && unit[0] != '\0'; ++rates) {
        multiply_by_second(unit);
    }
    return TAL_OK;
}
