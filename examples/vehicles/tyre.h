// Tyres that push along the normal of what they stand on.
#ifndef TYRE_H
#define TYRE_H

#include "sketch.h"

/// A tyre on flat ground: k (r - z) - c zdot while the center is lower than r.
void tyre_add(sketch *it, tal_body_ix wheel, double stiffness, double damping, double radius);

#endif // TYRE_H
