// The program `talus`.
#include "cli.h"

int main(int argc, char *argv[])
{
    return cli_main(argc, (const char *const *)argv);
}
