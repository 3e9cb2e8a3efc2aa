// From here to constraint_change_end.h the names of jets mean changing jets, and equations that are
// included are those of changes: TALI_EQUATION(calc_rows) is calc_rows_change. No include guard: an
// equation is included twice.
#include "constraint/type/constraint_change_internal.h"

#undef TALI_EQUATION
#define TALI_EQUATION(name)          name##_change
#define tal_constraint_arg           tali_constraint_changing_arg
#define tali_jet                     tali_jet_changing
#define tali_jet3                    tali_jet3_changing
#define tali_jet_add                 tali_jet_changing_add
#define tali_jet_sub                 tali_jet_changing_sub
#define tali_jet_plus                tali_jet_changing_plus
#define tali_jet_scale               tali_jet_changing_scale
#define tali_jet_value               tali_jet_changing_value
#define tali_jet_mul                 tali_jet_changing_mul
#define tali_jet_div                 tali_jet_changing_div
#define tali_jet_angle               tali_jet_changing_angle
#define tali_jet3_add                tali_jet3_changing_add
#define tali_jet3_sub                tali_jet3_changing_sub
#define tali_jet3_scale              tali_jet3_changing_scale
#define tali_jet3_mul                tali_jet3_changing_mul
#define tali_jet3_dot                tali_jet3_changing_dot
#define tali_jet3_cross              tali_jet3_changing_cross
#define tali_jet3_constant           tali_jet3_changing_constant
#define tali_jet3_value              tali_jet3_changing_value
#define tali_jet3_polar              tali_jet3_changing_polar
#define tali_jet3_to_rows            tali_jet3_changing_to_rows
#define tali_constraint_station      tali_constraint_changing_station
#define tali_constraint_axis         tali_constraint_changing_axis
#define tali_constraint_velocity_at  tali_constraint_changing_velocity_at
#define tali_constraint_turning      tali_constraint_changing_turning
#define tali_constraint_slip         tali_constraint_changing_slip
#define tali_constraint_velocity_row tali_constraint_changing_velocity_row
#define tali_constraint_rate_row     tali_constraint_changing_rate_row
#define tali_constraint_slip_rows    tali_constraint_changing_slip_rows
#define tali_constraint_push         tali_constraint_changing_push
#define tali_constraint_push_apart   tali_constraint_changing_push_apart
#define tali_constraint_turn_apart   tali_constraint_changing_turn_apart
#define tali_constraint_turn_axes    tali_constraint_changing_turn_axes
#define tali_jet_constant            tali_jet_changing_constant
#define tali_constraint_R_AB         tali_constraint_changing_R_AB
