// Processes that work on one command together.
#include "command_line/team.h"

bool team_is_alone(const cli_args *args)
{
    return args->team == NULL;
}

bool team_is_first(const cli_args *args)
{
    return args->team == NULL || args->team->rank == 0;
}

void team_add_up(const cli_args *args, double numbers[], int n)
{
    if (args->team != NULL) args->team->add_up(args->team->context, numbers, n);
}

int team_agree(const cli_args *args, int code)
{
    double failed = code != CLI_OK;
    team_add_up(args, &failed, 1);
    return code == CLI_OK && failed > 0.0 ? CLI_FAILED : code;
}
