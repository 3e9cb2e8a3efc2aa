// The image of a model in natural coordinates as a struct.
//
// An *entity* is a point or a unit vector in Ground. A *form* is a vector that is linear in
// entities, sum of c e + fixed; a *condition* is that the product of two forms has a value, or that
// one component of a form vanishes.
#ifndef TALUS_NATURAL_INTERNAL_H
#define TALUS_NATURAL_INTERNAL_H

#include "alloc_internal.h"
#include "error_internal.h"

#include <talus/matter/natural.h>

enum {
    TALI_NATURAL_TERMS = 8 // of a form: four entities of each of two bodies
};

typedef struct tali_natural_entity {
    int body;       // which defines it
    tal_vec3 local; // in B
    bool is_point;
} tali_natural_entity;

typedef struct tali_natural_form {
    int n, entity[TALI_NATURAL_TERMS];
    double c[TALI_NATURAL_TERMS];
    tal_vec3 fixed;
} tali_natural_form;

// a . b = value, or component `axis` of a is zero.
typedef struct tali_natural_condition {
    tali_natural_form a, b;
    int axis; // below zero: a product
    double value;
} tali_natural_condition;

// A point or vector that spans a body: an entity, or one of Ground.
typedef struct tali_natural_span {
    int entity;     // below zero: of Ground
    tal_vec3 fixed; // in Ground then
    tal_vec3 local; // in B
    bool is_point;
} tali_natural_span;

// A body: its origin and axes as forms. Bodies that are welded to another have forms in the
// entities of that.
typedef struct tali_natural_body {
    int carrier;    // the first body of those that are welded together; 0: part of Ground
    tal_xform X_CB; // this body on it
    tali_natural_form origin, axis[3];
    tal_mass_props mass;
} tali_natural_body;

struct tal_natural {
    const tal_matter *matter;
    tal_allocator allocator;
    int num_bodies, nu;
    uint64_t made_from; // tali_natural_hash() of the State
    tali_natural_body *bodies;
    tali_natural_entity *entities;
    int num_entities, entity_room;
    tali_natural_condition *conditions;
    int num_conditions, condition_room;
    void *block; // of arrays below
    size_t block_bytes;
    tal_spatial_vec *V, *A;      // [num_bodies] room
    tal_xform *X;                // [num_bodies] room
    double *unit, *f, *R, *gram; // [nu], [nu], [nx * nu], [nu * nu] room
};

/// Entities, forms and conditions of a model.
tal_status tali_natural_build(tal_natural *natural, const tal_state *state, tal_error *err);

/// What of a State the image depends on.
uint64_t tali_natural_hash(const tal_natural *natural, const tal_state *state);

/// A point or direction of a body as a form, in the body's frame.
tali_natural_form tali_natural_point(const tal_natural *natural, int body, tal_vec3 p_B);
tali_natural_form tali_natural_direction(const tal_natural *natural, int body, tal_vec3 e_B);

/// Moments of mass about Bo: second moments, first moments, mass.
void tali_natural_moments(const tal_mass_props *mass, double J[4][4]);

/// a + c b
tali_natural_form tali_natural_sum(tali_natural_form a, double c, tali_natural_form b);

#endif // TALUS_NATURAL_INTERNAL_H
