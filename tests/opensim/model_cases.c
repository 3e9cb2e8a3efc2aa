// Models of OpenSim: read, written and read again.
#include "../io/opensim/round_trip.h"
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- models ---

static const char *const models[] = {
    "01_gait2354_ik/model.osim",
    "02_gait2354_id/model.osim",
    "04_arm26_ik_id/model.osim",
    "05_gait10dof_muscle_lengths/model_v30000.osim",
    "06_rajagopal18_muscle_lengths_wrapping/model_v30000.osim",
    "07_gait2354_thelen_forward/model.osim",
    "08_joint_reaction/SinglePin_v10902.osim",
    "09_arm26_static_optimization/arm26_v30000.osim",
    "09_arm26_static_optimization/tutorial_arm26_v40000.osim",
    "10_gait2354_scale/generic_gait2354.osim",
    "10_gait2354_scale/expected_scaledOnly.osim",
    "10_gait2354_scale/expected_scaled_markers_placed.osim",
    "13_cmc/gait10dof18musc_subject01.osim",
    "14_moment_arm_models/CoupledCoordinatesMPPsMomentArmTest.osim",
    "14_moment_arm_models/MovingPathPointMomentArmTest.osim",
    "14_moment_arm_models/P2PBallJointMomentArmTest.osim",
    "14_moment_arm_models/P2PCustomJointMomentArmTest.osim",
    "14_moment_arm_models/WrapPathCustomJointMomentArmTest.osim",
    "15_degroote/walk_gait1018_subject01.osim",
    "16_models/Tug_of_War_Millard.osim",
    "16_models/gait2392_thelen2003muscle.osim",
    "16_models/bouncing_block.osim",
    "16_models/gait10dof18musc.osim",
    "16_models/gait2354_simbody.osim",
    "16_models/arm26.osim",
    "16_models/WalkerModel.osim"};

enum {
    NUM_MODELS = sizeof models / sizeof *models,
    ROOM = 4 << 20 // characters of a model file
};

// The largest difference of two arrays, relative to the larger of 1 and the largest number.
static double compare(const double a[], const double b[], int n)
{
    double most = 1.0, worst = 0.0;
    for (int i = 0; i < n; ++i) {
        most = fmax(most, fabs(a[i]));
        worst =
            fmax(worst, isfinite(a[i]) && isfinite(b[i]) ? fabs(a[i] - b[i]) : (double)INFINITY);
    }
    return worst / most;
}

// A model written as .talus and read again moves as it did: its accelerations agree.
static double by_model_file(const tal_model *model, tal_diagnostics *found)
{
    tal_model again = {.system = NULL};
    tal_error err;
    size_t length = 0;
    char *text = malloc(ROOM);
    if (text == NULL) return INFINITY;
    tal_status st = tal_model_write_memory(model, NULL, text, ROOM, &length, &err);
    if (st == TAL_OK) st = tal_model_read_memory("again", text, length, NULL, &again, found);
    free(text);
    if (st == TAL_OK) st = tal_system_realize(model->system, model->state, TAL_STAGE_ACCELERATION);
    if (st == TAL_OK) st = tal_system_realize(again.system, again.state, TAL_STAGE_ACCELERATION);
    const double worst = st == TAL_OK
                             ? compare(tal_state_udot(model->state), tal_state_udot(again.state),
                                       tal_matter_nu(model->matter))
                             : (double)INFINITY;
    tal_model_destroy(&again);
    return worst;
}

// The same through an .osim file, over random poses.
static void write_osim(const char *file, const tal_model *model)
{
    tal_model again = {.system = NULL};
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    if (round_trip(model, &again, found) == TAL_OK) {
        cases_print_row(file, "written as .osim, read again: 20 poses",
                        round_trip_difference(model, &again, 20), 1e-12);
    } else {
        cases_print_failure(file, "written as .osim", found);
    }
    tal_model_destroy(&again);
    tal_diagnostics_destroy(found);
}

static void read_model(const char *file)
{
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_file(cases_path(file), NULL, &model, found);
    if (st == TAL_OK) {
        cases_print_row(file, "read, written as .talus, read again: accelerations",
                        by_model_file(&model, found), 1e-12);
        write_osim(file, &model);
    } else {
        cases_print_failure(file, "read", found);
    }
    tal_model_destroy(&model);
    tal_diagnostics_destroy(found);
}

void cases_run_models(void)
{
    for (int i = 0; i < NUM_MODELS; ++i) {
        read_model(models[i]);
    }
}
