// Talus: multibody dynamics in C.
// SPDX-License-Identifier: Apache-2.0
#ifndef TALUS_IO_REGISTRY_H
#define TALUS_IO_REGISTRY_H

/**
 * @file talus/io/registry.h
 * @brief Elements of your own in model files.
 *
 * A mobilizer, constraint, motion, measure or force element that is a table of yours has no name in
 * a model file until you register one: the tag, its attributes, a function that builds it and one
 * that describes it.
 *
 *     static const tal_model_attribute attributes[] = {
 *         {"body", TAL_MODEL_BODY_NAME, 0, NULL, "what it lifts"},
 *         {"lift", TAL_MODEL_NUMBERS, 1, "1", "[N]"}};
 *     static const tal_model_element balloon = {
 *         .size = sizeof balloon, .place = TAL_MODEL_FORCE, .name = "balloon", .doc = "Pulls a body
 *         up.", .ops = &balloon_ops, .attributes = attributes, .num_attributes = 2,
 *         .build = build_balloon, .describe = describe_balloon};
 *     const tal_model_registry mine = {&balloon, 1};
 *
 *     options.registry = &mine; // <balloon name="b" body="basket" lift="300"/>
 *     st = tal_model_read_file("trip.talus", &options, &model, found);
 *     ...
 *     st = tal_model_write_file(&model, &mine, "there.talus", &err);
 *
 * Attributes are checked as those of the built-in elements are, and the element has those that all
 * of its place have: a name, `enabled`, and a body all about its mass, frames and coordinates.
 */

#include <talus/study.h>

#ifdef __cplusplus
extern "C" {
#endif

/// @defgroup registry Elements of your own
/// @{

/// Most attributes of one element, besides those that its place gives it.
#define TAL_MODEL_MAX_ATTRIBUTES 16

/// Most numbers of one attribute that says how many it has.
#define TAL_MODEL_MAX_NUMBERS 12

/// Where an element is, and what it makes.
typedef enum tal_model_place {
    TAL_MODEL_BODY,       ///< in `<bodies>`: a body with a mobilizer; `ops` is a tal_mobilizer_ops
    TAL_MODEL_CONSTRAINT, ///< in `<constraints>`; a tal_constraint_ops
    TAL_MODEL_MOTION,     ///< in `<motions>`; a tal_motion_ops
    TAL_MODEL_MEASURE, ///< in `<measures>`; a tal_measure_ops. Its owner must be matter's subsystem
    TAL_MODEL_FORCE    ///< in `<forces>`; a tal_force_ops
} tal_model_place;

/// What the value of an attribute is, and which field of ::tal_model_value has it.
typedef enum tal_model_type {
    TAL_MODEL_NUMBERS, ///< `count` numbers: `numbers`; any number of them when `count` is 0: `list`
    TAL_MODEL_ANGLES,  ///< the same in the units of the file; in radians here
    TAL_MODEL_WHOLE_NUMBER, ///< not negative: `integer`
    TAL_MODEL_YES_OR_NO,    ///< `integer`, 1 or 0
    TAL_MODEL_TEXT,         ///< `text`
    TAL_MODEL_FRAME,        ///< `frame`
    TAL_MODEL_BODY_NAME,    ///< `body`; not in an element that makes a body
    TAL_MODEL_MOBILITY,     ///< `mobility`; likewise
    TAL_MODEL_MEASURE_NAME  ///< `measure`, one above; not in bodies, constraints and motions
} tal_model_type;

/// An attribute.
typedef struct tal_model_attribute {
    const char *name; ///< none that all elements of the place have
    tal_model_type type;
    int count; ///< of numbers, 0 to TAL_MODEL_MAX_NUMBERS
    /// The value used when it is missing; NULL: it is required. Of a frame "0 0 0".
    const char *initial;
    const char *doc; ///< one sentence; may be NULL
} tal_model_attribute;

/// The value of an attribute; the type says which field counts.
typedef struct tal_model_value {
    double numbers[TAL_MODEL_MAX_NUMBERS];
    const double *list; ///< [count] borrowed for the call
    int count;
    int integer;
    const char *text; ///< borrowed for the call
    tal_xform frame;
    tal_body_ix body;
    tal_mobility mobility;
    tal_measure_ix measure;
} tal_model_value;

/// What an element is built into. Fields that its place does not use are as in a default def.
typedef struct tal_model_site {
    tal_system *system;
    tal_matter *matter;
    tal_forces *forces;
    const char *name; ///< NULL: none was given
    tal_body_ix parent;
    tal_mobod_def body;            ///< of TAL_MODEL_BODY: all that the file says
    tal_constraint_def constraint; ///< of TAL_MODEL_CONSTRAINT: name, and whether it is disabled
    tal_motion_def motion;         ///< of TAL_MODEL_MOTION: all except the level
} tal_model_site;

struct tal_model;

/// An element of your own. Borrowed while a file is read or written, with all it points to.
typedef struct tal_model_element {
    size_t size; ///< sizeof(tal_model_element)
    tal_model_place place;
    const char *name; ///< of the tag: letters, digits and '_'; none that the place has already
    const char *doc;  ///< sentences; may be NULL
    const void *ops;  ///< the table: elements made with it are described by `describe`
    const tal_model_attribute *attributes; ///< [num_attributes]
    int num_attributes;                    ///< up to TAL_MODEL_MAX_ATTRIBUTES
    int angles_q;  ///< of bodies: how many of q (with angles), the first ones, are angles
    int angles_u;  ///< of bodies: the same of u
    void *context; ///< handed to the functions

    /// Add the element, by tal_matter_add_mobilizer(), tal_matter_add_constraint(),
    /// tal_matter_add_motion(), tal_system_add_measure() or tal_forces_add(). Returns its index, as
    /// the call did; below zero when that failed.
    /// @param[in] values  [num_attributes] what the file says
    int (*build)(void *context, const tal_model_site *site, const tal_model_value values[]);

    /**
     * Say what an element was built from, so that `build` would make the same.
     *
     * @param[in]  model   to read parameters from its State
     * @param[in]  index   of the body, constraint, motion, measure or force
     * @param[in]  self    as it was added with; of a measure the System's copy
     * @param[out] values  [num_attributes] all zero on entry, bodies Ground, measures none
     * @return TAL_OK; anything else refuses to write the element
     */
    tal_status (*describe)(void *context, const struct tal_model *model, int index,
                           const void *self, tal_model_value values[]);
} tal_model_element;

/// Elements of your own, for tal_model_options.registry and tal_model_write_file().
typedef struct tal_model_registry {
    const tal_model_element *elements;
    int num_elements;
} tal_model_registry;

/// @}

#ifdef __cplusplus
}
#endif
#endif // TALUS_IO_REGISTRY_H
