// The equations of a kind of constraint, twice: for errors and forces, then for their changes. No
// include guard. TALI_EQUATIONS is the file that has them.
#include TALI_EQUATIONS

#include "constraint/type/constraint_change_begin.h"

#include TALI_EQUATIONS

#include "constraint/type/constraint_change_end.h"
