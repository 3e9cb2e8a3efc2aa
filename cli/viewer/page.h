// The page of the viewer, as far as this program was built with it.
#ifndef TALUS_CLI_PAGE_H
#define TALUS_CLI_PAGE_H

#include "cli.h"

// The page; its text is NULL when ./run viewer had not made it before this program was built.
tal_scene_page cli_page(void);

// Say that there is no page, and what to do; an exit code.
int cli_fail_page(const cli_args *args);

#endif // TALUS_CLI_PAGE_H
