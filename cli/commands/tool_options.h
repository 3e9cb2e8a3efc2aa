// Options that several tools of OpenSim have, as items of their tables.
#ifndef TALUS_CLI_TOOL_OPTIONS_H
#define TALUS_CLI_TOOL_OPTIONS_H

// The time between which a tool works.
#define TOOL_TIMES                                                                                 \
    {.name = "from",                                                                               \
     .kind = CLI_TEXT,                                                                             \
     .value = "TIME",                                                                              \
     .help = "begin here [s]; if not given, where the data begin",                                 \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "to", .kind = CLI_TEXT, .value = "TIME",                                           \
        .help = "end here [s]; if not given, where the data end", .is_setting = true               \
    }
// What acts besides the forces of the model.
#define TOOL_FORCES                                                                                \
    {.name = "loads",                                                                              \
     .kind = CLI_TEXT,                                                                             \
     .value = "FILE",                                                                              \
     .help = "external loads, an <ExternalLoads> file of OpenSim",                                 \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "forces", .kind = CLI_TEXT, .value = "FILES",                                      \
        .help = "files of forces that are added to those of the model: reserves, residuals",       \
        .is_setting = true                                                                         \
    }
// Any other property, and where results go.
#define TOOL_REST                                                                                  \
    {.name = "property",                                                                           \
     .letter = 'p',                                                                                \
     .kind = CLI_LIST,                                                                             \
     .value = "NAME=VALUE",                                                                        \
     .help = "give another property of the tool a value; can be repeated",                         \
     .is_setting = true},                                                                          \
    {                                                                                              \
        .name = "out", .letter = 'o', .kind = CLI_TEXT, .value = "FOLDER",                         \
        .help = "write the results into this folder; if not given, into this one"                  \
    }

// What tools have that follow a motion.
#define TOOL_TRACKING                                                                              \
    TOOL_FORCES,                                                                                   \
        {.name = "tasks",                                                                          \
         .kind = CLI_TEXT,                                                                         \
         .value = "FILE",                                                                          \
         .help = "a <CMC_TaskSet> file: coordinates with their gains; if not given, all are "      \
                 "followed, with kp 100 and kv 20",                                                \
         .is_setting = true},                                                                      \
    {                                                                                              \
        .name = "cutoff", .kind = CLI_TEXT, .value = "HZ",                                         \
        .help = "smooth the motion by OpenSim's filter of finite length with this cutoff",         \
        .is_setting = true                                                                         \
    }

#endif // TALUS_CLI_TOOL_OPTIONS_H
