// Using a mobilizer's table: checks, defaults for what it leaves out, and reversal.
#include "mobilizer_internal.h"
