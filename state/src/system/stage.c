// Names of stages.
#include <talus/state/stage.h>

const char *tal_stage_name(tal_stage stage)
{
    static const char *const names[] = {
        [TAL_STAGE_EMPTY] = "Empty",
        [TAL_STAGE_TOPOLOGY] = "Topology",
        [TAL_STAGE_MODEL] = "Model",
        [TAL_STAGE_INSTANCE] = "Instance",
        [TAL_STAGE_TIME] = "Time",
        [TAL_STAGE_POSITION] = "Position",
        [TAL_STAGE_VELOCITY] = "Velocity",
        [TAL_STAGE_DYNAMICS] = "Dynamics",
        [TAL_STAGE_ACCELERATION] = "Acceleration",
        [TAL_STAGE_REPORT] = "Report",
        [TAL_STAGE_INFINITY] = "Infinity",
    };
    const int i = (int)stage;
    return i >= 0 && i <= TAL_STAGE_INFINITY ? names[i] : "(not a stage)";
}
