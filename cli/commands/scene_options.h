// Options of what shows a scene, as items of a table.
#ifndef TALUS_CLI_SCENE_OPTIONS_H
#define TALUS_CLI_SCENE_OPTIONS_H

// Which charts and layers are shown, from where, how finely.
#define SCENE_OPTIONS                                                                              \
    {.name = "columns",                                                                            \
     .letter = 'c',                                                                                \
     .kind = CLI_TEXT,                                                                             \
     .value = "LIST",                                                                              \
     .help = "columns for charts, separated by commas; default: all"},                             \
        {.name = "frames",                                                                         \
         .kind = CLI_COUNT,                                                                        \
         .value = "NUMBER",                                                                        \
         .initial = "3000",                                                                        \
         .help = "most rows of each result that are shown, evenly chosen"},                        \
        {.name = "up",                                                                             \
         .kind = CLI_TEXT,                                                                         \
         .value = "AXIS",                                                                          \
         .help = "x, y or z; default: opposite to gravity"},                                       \
        {.name = "title",                                                                          \
         .kind = CLI_TEXT,                                                                         \
         .value = "TEXT",                                                                          \
         .help = "title of the page; default: the name of the model"},                             \
    {                                                                                              \
        .name = "show", .kind = CLI_TEXT, .value = "LIST",                                         \
        .help = "layers to show at first besides the usual ones: forces, reactions, centers, "     \
                "inertia, frames, names, trails, surfaces"                                         \
    }

#endif // TALUS_CLI_SCENE_OPTIONS_H
