// The page of the viewer, taken into the program as it is: build/viewer/viewer.html.
#include "viewer/page.h"

#ifdef TALUS_PAGE
__asm__(".section .rodata\n"
        ".global cli_page_begin\n"
        ".global cli_page_end\n"
        "cli_page_begin:\n"
        ".incbin \"" TALUS_PAGE "\"\n"
        "cli_page_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char cli_page_begin[], cli_page_end[];

tal_scene_page cli_page(void)
{
    return (tal_scene_page){cli_page_begin, (size_t)(cli_page_end - cli_page_begin)};
}
#else
tal_scene_page cli_page(void)
{
    return (tal_scene_page){NULL, 0};
}
#endif

int cli_fail_page(const cli_args *args)
{
    return cli_fail(args, CLI_FAILED,
                    "this talus was built without its viewer: run ./run viewer and build again. "
                    "-o FILE.glb and -o FILE.json work without it.");
}
