// Options of runs whose derivatives are taken.
#ifndef TALUS_CLI_SLOPE_OPTIONS_H
#define TALUS_CLI_SLOPE_OPTIONS_H

#include "cli.h"

#define SLOPE_STEPS                                                                                \
    {.name = "accuracy",                                                                           \
     .letter = 'a',                                                                                \
     .kind = CLI_POSITIVE,                                                                         \
     .value = "NUMBER",                                                                            \
     .initial = "1e-6",                                                                            \
     .help = "accuracy of steps: error relative to a unit change (1 rad or 1 m)",                  \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "step", .kind = CLI_NUMBER, .value = "SECONDS", .initial = "0",                    \
        .help = "longest step of steps of one length; 0: steps by their accuracy",                 \
        .is_setting = true                                                                         \
    }

#endif // TALUS_CLI_SLOPE_OPTIONS_H
