// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_FORCES_H
#define TALUS_FORCES_H

/**
 * @file talus/forces.h
 * @brief Layer 3: the force subsystem and its elements.
 */

#include <talus/forces/actuator.h>
#include <talus/forces/body_force.h>
#include <talus/forces/bushing.h>
#include <talus/forces/contact.h>
#include <talus/forces/contact_geometry.h>
#include <talus/forces/contact_material.h>
#include <talus/forces/control.h>
#include <talus/forces/derivative.h>
#include <talus/forces/discrete.h>
#include <talus/forces/exponential_spring.h>
#include <talus/forces/force.h>
#include <talus/forces/gear.h>
#include <talus/forces/gravity.h>
#include <talus/forces/metabolics.h>
#include <talus/forces/mobility.h>
#include <talus/forces/muscle.h>
#include <talus/forces/params.h>
#include <talus/forces/path.h>
#include <talus/forces/path_force.h>
#include <talus/forces/path_measure.h>
#include <talus/forces/prescribed_force.h>
#include <talus/forces/smooth_contact.h>
#include <talus/forces/thermostat.h>
#include <talus/forces/two_point.h>
#include <talus/geometry.h>
#include <talus/matter.h>

#endif // TALUS_FORCES_H
