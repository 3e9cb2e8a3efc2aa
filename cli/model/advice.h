// What a run could have done better.
#ifndef TALUS_CLI_ADVICE_H
#define TALUS_CLI_ADVICE_H

#include "model/run.h"

// After a run from time `start`: say when its steps were as short as the stability of an explicit
// method asks for, rather than the accuracy, and name an implicit one.
void advice_of_stability(const cli_args *args, cli_run *run, double start);

#endif // TALUS_CLI_ADVICE_H
