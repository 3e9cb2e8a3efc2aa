// A headless Chromium that draws pages, driven through a pipe.
#ifndef TALUS_CLI_CHROMIUM_H
#define TALUS_CLI_CHROMIUM_H

#include "cli.h"

typedef struct chromium chromium;

// Start one; NULL, and a sentence that says what to install, when there is none.
chromium *chromium_start(const cli_args *args);
// End it and remove its profile.
void chromium_stop(chromium *it);

// Open a page of the viewer and wait until it can be asked; an exit code.
int chromium_open(chromium *it, const char *path);
// The value of an expression, which may be a promise, as text; owned by the caller. NULL, and a
// sentence, on failure or when the user wants it to end.
char *chromium_ask(chromium *it, const char *expression);

#endif // TALUS_CLI_CHROMIUM_H
