// A human body and three vehicles. Each function adds bodies, constraints and forces to a System
// that has none, gravity included; z is up, x forward, y to the left. SI units.
//
// The human body, the car and the truck have the structure of the models of the book by Garcia de
// Jalon and Bayo (GJB sec. 8.4): numbers of bodies, joints and degrees of freedom. Its data are
// lost; these are our own. The Iltis is the road vehicle benchmark of the IAVSD (Iltis).
#ifndef VEHICLES_H
#define VEHICLES_H

#include "sketch.h"

/// 40 bodies, 39 pins and a floating chest: 45 degrees of freedom.
sketch human_add(tal_matter *matter, tal_forces *forces);

/// 25 bodies, 48 degrees of freedom as a tree, 33 equations: 15. McPherson struts in front, five
/// rods at each rear wheel. The reference configuration is in equilibrium.
sketch car_add(tal_matter *matter, tal_forces *forces);

/// 31 bodies and two rods without mass, 48 degrees of freedom as a tree, 36 equations of rank 30:
/// 18. Leaf springs of three bars each, stabilizer bars, steering.
sketch truck_add(tal_matter *matter, tal_forces *forces);

/// What varies about the Iltis.
typedef struct iltis_options {
    /// With the arms of the leaf springs, which have no mass: 26 degrees of freedom as a tree and
    /// 16 equations; needs TAL_SOLVE_KKT for everything that asks for M^-1. Without: 22 and 12.
    bool has_leaf_arms;
    bool has_road; ///< a ramp and stairs; otherwise the road is flat
} iltis_options;

/// 10 degrees of freedom: a chassis and four wheels on double wishbones, the upper one a leaf
/// spring. Tyres carry loads, but take no side forces: it goes straight on.
sketch iltis_add(tal_matter *matter, tal_forces *forces, const iltis_options *options);

/// The height of the road of the Iltis under x [m].
double iltis_road_height(double x);

/// Three points whose heights are compared: near the mass center of the chassis, the left front
/// wheel, the right rear wheel (CD eq. 43).
/// @param[out] z  [3] heights [m]
void iltis_read_heights(const sketch *it, const tal_state *state, double z[3]);

#endif // VEHICLES_H
