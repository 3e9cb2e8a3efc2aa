// The equations of a kind of constraint, twice: for errors and forces, then for their changes. No
// include guard. TALI_EQUATIONS is the file that has them.
#include TALI_EQUATIONS

#include "constraint/type/constraint_change_begin.h"

// NOLINTNEXTLINE(readability-duplicate-include): what is included means something else now
#include TALI_EQUATIONS

#include "constraint/type/constraint_change_end.h"
