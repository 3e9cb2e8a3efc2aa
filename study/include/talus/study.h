// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_STUDY_H
#define TALUS_STUDY_H

/**
 * @file talus/study.h
 * @brief Layer 4: Studies, which couple a System with a State to answer a question.
 */

#include <talus/forces.h>
#include <talus/study/assembler.h>
#include <talus/study/batch.h>
#include <talus/study/conditioning.h>
#include <talus/study/contact_stepper.h>
#include <talus/study/contacts.h>
#include <talus/study/cost.h>
#include <talus/study/design.h>
#include <talus/study/ensemble.h>
#include <talus/study/equations.h>
#include <talus/study/equilibrium.h>
#include <talus/study/events.h>
#include <talus/study/fixed_stepper.h>
#include <talus/study/follower.h>
#include <talus/study/induced.h>
#include <talus/study/integrator.h>
#include <talus/study/linearizer.h>
#include <talus/study/loops.h>
#include <talus/study/md.h>
#include <talus/study/method.h>
#include <talus/study/minimizer.h>
#include <talus/study/optimizer.h>
#include <talus/study/parameter.h>
#include <talus/study/path_fit.h>
#include <talus/study/path_goal.h>
#include <talus/study/path_scan.h>
#include <talus/study/recorder.h>
#include <talus/study/replicas.h>
#include <talus/study/root_solver.h>
#include <talus/study/sensitivity.h>
#include <talus/study/static_optimizer.h>
#include <talus/study/summary.h>
#include <talus/study/tableau.h>
#include <talus/study/time_stepper.h>
#include <talus/study/tracker.h>
#include <talus/study/walk.h>
#include <talus/study/weights.h>

#endif // TALUS_STUDY_H
