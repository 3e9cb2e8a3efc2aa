// Models of OpenSim in tests: small texts, reading them, what reading says.
#ifndef TALUS_OSIM_SUPPORT_H
#define TALUS_OSIM_SUPPORT_H

#include "talus_test.h"

#include <talus/talus.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CORPUS TALUS_SOURCE_DIR "/tests/fuzz/corpus_osim/"

// --- helpers ---

static inline void say_all(const tal_diagnostics *found, char said[], size_t size)
{
    said[0] = '\0';
    for (int i = 0; i < tal_diagnostics_num(found); ++i) {
        char line[TAL_DIAGNOSTIC_SIZE];
        const size_t used = strlen(said);
        (void)snprintf(said + used, size - used, "%s\n",
                       tal_diagnostic_text(tal_diagnostics_at(found, i), line));
    }
}

// What reading a text says, line by line; it is refused if there is an error among it.
static inline void assert_says(const char *text, const char *expected)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("m", text, strlen(text), NULL, &model, found);
    say_all(found, said, sizeof said);
    ck_assert_str_eq(said, expected);
    ck_assert((st == TAL_OK) == (tal_diagnostics_num_errors(found) == 0));
    ck_assert((st == TAL_OK) == (model.system != NULL));
    tal_diagnostics_destroy(found);
    tal_model_destroy(&model);
}

static inline tal_model read_text(const char *text)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_osim_read_memory("m", text, strlen(text), NULL, &model, found);
    say_all(found, said, sizeof said);
    ck_assert_msg(st == TAL_OK, "%s", said);
    tal_diagnostics_destroy(found);
    return model;
}

static inline tal_model read_leg(const char *path)
{
    tal_model model;
    char said[8000];
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    ck_assert_int_eq(tal_osim_read_file(path, NULL, &model, found), TAL_OK);
    say_all(found, said, sizeof said);
    ck_assert_str_eq(said, "");
    tal_diagnostics_destroy(found);
    return model;
}

static inline void realize(const tal_model *model, tal_stage stage)
{
    ck_assert_msg(tal_system_realize(model->system, model->state, stage) == TAL_OK, "%s",
                  tal_state_error(model->state)->message);
}

static inline tal_xform pose_of(const tal_model *model, const char *body)
{
    const tal_body_ix ix = tal_matter_find_body(model->matter, body);
    ck_assert_int_ge(ix.i, 0);
    return tal_body_X_GB(model->matter, model->state, ix);
}

static inline void assert_same_pose(tal_xform a, tal_xform b, double tol)
{
    test_assert_m3_near(a.R, b.R, tol);
    test_assert_near(&a.p.x, &b.p.x, 3, tol, "p");
}

// --- texts ---

#define DOC(version, inside)                                                                       \
    "<OpenSimDocument Version='" version "'><Model name='m'>" inside "</Model></OpenSimDocument>"
#define BODY(name, inside)                                                                         \
    "<Body name='" name "'><mass>2</mass><mass_center>0.1 0.2 0.3</mass_center>"                   \
    "<inertia>0.4 0.5 0.6 0.01 0.02 0.03</inertia>" inside "</Body>"
#define BODIES(list)      "<BodySet><objects>" list "</objects></BodySet>"
#define JOINTS(list)      "<JointSet><objects>" list "</objects></JointSet>"
#define CONSTRAINTS(list) "<ConstraintSet><objects>" list "</objects></ConstraintSet>"
#define FORCES(list)      "<ForceSet><objects>" list "</objects></ForceSet>"
#define SOCKETS(p, c)                                                                              \
    "<socket_parent_frame>" p "</socket_parent_frame><socket_child_frame>" c "</socket_child_frame>"
// between frames that are off the origins of both bodies, and turned
#define OFF_GROUND                                                                                 \
    "<PhysicalOffsetFrame name='on_ground'><socket_parent>/ground</socket_parent>"                 \
    "<translation>1 2 3</translation><orientation>0.3 -0.2 0.1</orientation>"                      \
    "</PhysicalOffsetFrame>"
#define OFF_BODY                                                                                   \
    "<PhysicalOffsetFrame name='on_b'><socket_parent>/bodyset/b</socket_parent>"                   \
    "<translation>0.1 -0.1 0.2</translation><orientation>-0.4 0.5 0.2</orientation>"               \
    "</PhysicalOffsetFrame>"
#define BETWEEN_THEM       "<frames>" OFF_GROUND OFF_BODY "</frames>" SOCKETS("on_ground", "on_b")
#define PLACED(kind, rest) "<" kind " name='j'>" BETWEEN_THEM rest "</" kind ">"
#define ONE_BODY(joint)    DOC("40000", BODIES(BODY("b", "")) JOINTS(joint))

#define AXIS(name, coords, axis, function)                                                         \
    "<TransformAxis name='" name "'><coordinates>" coords "</coordinates><axis>" axis              \
    "</axis>" function "</TransformAxis>"
#define CUSTOM(coordinates, axes)                                                                  \
    "<CustomJoint name='j'>" SOCKETS("/ground",                                                    \
                                     "/bodyset/b") "<coordinates>" coordinates                     \
                                                   "</coordinates><SpatialTransform>" axes         \
                                                   "</SpatialTransform></CustomJoint>"

static inline tal_xform placed(double a, double b, double c, double x, double y, double z)
{
    const tal_axis axes[] = {TAL_AXIS_X, TAL_AXIS_Y, TAL_AXIS_Z};
    const double angles[] = {a, b, c};
    return (tal_xform){tal_rotation_from_angles(TAL_BODY_FIXED, 3, axes, angles), tal_v3(x, y, z)};
}

#endif // TALUS_OSIM_SUPPORT_H
