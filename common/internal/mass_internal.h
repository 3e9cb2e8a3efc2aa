// Mass properties as published: judged without the triangle inequality.
#ifndef TALUS_MASS_INTERNAL_H
#define TALUS_MASS_INTERNAL_H

#include <talus/common/inertia.h>

/// What readers warn of, with the name of the body and tal_mass_props_excess().
#define TALI_INERTIA_WARNING                                                                       \
    "body '%s' has an inertia that is not physical: a principal moment exceeds the sum of the "    \
    "others by %.2g of itself"

/// tal_mass_props_check(); with `any_inertia` a principal moment may exceed the sum of the others
/// by any amount. None may be negative even so: a mass matrix could not be factored.
tal_status tali_mass_props_check(const tal_mass_props *props, bool any_inertia, tal_error *err);

#endif // TALUS_MASS_INTERNAL_H
