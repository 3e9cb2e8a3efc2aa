// io/src/model/model_own.c: elements of a user's own in model files.
#include "talus_test.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a force: a balloon that pulls a body up, the more the emptier it gets; weights of its parts
// as a list

typedef struct balloon {
    tal_body_ix body;
    tal_xform X_BK; // where its knot is
    double lift;
    double parts[4];
    int num_parts;
    bool is_red;
    int size;
    char label[20];
    tal_measure_ix leak;
    tal_mobility rope;
} balloon;

static tal_status pull(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                       double f[])
{
    const balloon *it = self;
    double lift = it->lift;
    for (int i = 0; i < it->num_parts; ++i) {
        lift -= it->parts[i];
    }
    if (it->leak.i >= 0) lift -= tal_measure_value(context->system, context->state, it->leak);
    const tal_vec3 up = tal_v3(0.0, lift, 0.0);
    const tal_xform X_MB = tal_body_X_MB(context->matter, context->state, it->body);
    tal_apply_station_force(&context->poses, it->body.i, tal_xf_apply(X_MB, it->X_BK.p), up, F);
    f[tal_body_u_start(context->matter, it->rope.body) + it->rope.i] += 0.25 * lift;
    return TAL_OK;
}

static void free_self(void *self)
{
    free(self);
}

static const tal_force_ops balloon_ops = {
    .size = sizeof balloon_ops, .name = "balloon", .apply = pull, .destroy = free_self};

static const tal_model_attribute balloon_attributes[] = {
    {"body", TAL_MODEL_BODY_NAME, 0, NULL, "what it lifts"},
    {"knot", TAL_MODEL_FRAME, 0, "0 0 0", "where it is tied"},
    {"lift", TAL_MODEL_NUMBERS, 1, "1", "[N]"},
    {"parts", TAL_MODEL_NUMBERS, 0, "", "what its parts weigh [N]"},
    {"red", TAL_MODEL_YES_OR_NO, 0, "no", NULL},
    {"number", TAL_MODEL_WHOLE_NUMBER, 0, "0", NULL},
    {"label", TAL_MODEL_TEXT, 0, "", NULL},
    {"leak", TAL_MODEL_MEASURE_NAME, 0, "", "[N]"},
    {"rope", TAL_MODEL_MOBILITY, 0, NULL, "what it winds up"}};

static int build_balloon(void *context, const tal_model_site *site, const tal_model_value v[])
{
    ++*(int *)context;
    balloon *it = calloc(1, sizeof *it);
    *it = (balloon){.body = v[0].body,
                    .X_BK = v[1].frame,
                    .lift = v[2].numbers[0],
                    .num_parts = v[3].count < 4 ? v[3].count : 4,
                    .is_red = v[4].integer != 0,
                    .size = v[5].integer,
                    .leak = v[7].measure,
                    .rope = v[8].mobility};
    for (int i = 0; i < it->num_parts; ++i) {
        it->parts[i] = v[3].list[i];
    }
    (void)snprintf(it->label, sizeof it->label, "%s", v[6].text);
    return tal_forces_add(site->forces, site->name, &balloon_ops, it).i;
}

static tal_status describe_balloon(void *context, const tal_model *model, int index,
                                   const void *self, tal_model_value v[])
{
    (void)context;
    (void)model;
    (void)index;
    const balloon *it = self;
    if (it->size == 13) return TAL_ERR_BAD_VALUE; // a size that it refuses
    v[0].body = it->body;
    v[1].frame = it->X_BK;
    v[2].numbers[0] = it->lift;
    v[3].list = it->parts;
    v[3].count = it->num_parts;
    v[4].integer = it->is_red;
    v[5].integer = it->size;
    v[6].text = it->label;
    v[7].measure = it->leak;
    v[8].mobility = it->rope;
    return TAL_OK;
}

// ---- a mobilizer: a screw with a name of its own

static tal_mobilizer_ops corkscrew_ops;

static const tal_model_attribute corkscrew_attributes[] = {
    {"pitch", TAL_MODEL_NUMBERS, 1, NULL, "[m/rad]"}};

static int build_corkscrew(void *context, const tal_model_site *site, const tal_model_value v[])
{
    (void)context;
    return tal_matter_add_mobilizer(site->matter, site->parent, &site->body, &corkscrew_ops, NULL,
                                    v[0].numbers)
        .i;
}

static tal_status describe_corkscrew(void *context, const tal_model *model, int index,
                                     const void *self, tal_model_value v[])
{
    (void)context;
    (void)self;
    int n;
    v[0].numbers[0] = tal_body_params(model->matter, model->state, (tal_body_ix){index}, &n)[0];
    return TAL_OK;
}

// ---- a constraint: a coordinate is kept where a parameter says

static tal_status calc_p(const void *self, const tal_constraint_arg *arg, double perr[])
{
    (void)self;
    perr[0] = arg->q[0] - arg->params[0];
    return TAL_OK;
}

static tal_status calc_v(const void *self, const tal_constraint_arg *arg, double verr[])
{
    (void)self;
    verr[0] = arg->u[0];
    return TAL_OK;
}

static tal_status calc_a(const void *self, const tal_constraint_arg *arg, double aerr[])
{
    (void)self;
    aerr[0] = arg->udot[0];
    return TAL_OK;
}

static tal_status add_forces(const void *self, const tal_constraint_arg *arg, const double lambda[],
                             tal_spatial_vec F[], double f[])
{
    (void)self;
    (void)arg;
    (void)F;
    f[0] += lambda[0];
    return TAL_OK;
}

static const tal_constraint_ops latch_ops = {.size = sizeof latch_ops,
                                             .name = "latch",
                                             .mp = 1,
                                             .num_mobilities = 1,
                                             .num_params = 1,
                                             .calc_p = calc_p,
                                             .calc_v = calc_v,
                                             .calc_a = calc_a,
                                             .add_forces = add_forces};

static const tal_model_attribute latch_attributes[] = {
    {"mobility", TAL_MODEL_MOBILITY, 0, NULL, NULL}, {"at", TAL_MODEL_ANGLES, 1, "0", NULL}};

// The mobility of a latch, for describing it: only the def has it.
typedef struct latch {
    tal_mobility on;
} latch;

static int build_latch(void *context, const tal_model_site *site, const tal_model_value v[])
{
    latch *it = context;
    tal_constraint_def def = site->constraint;
    def.mobilities[0] = it->on = v[0].mobility;
    return tal_matter_add_constraint(site->matter, &def, &latch_ops, NULL, v[1].numbers).i;
}

static tal_status describe_latch(void *context, const tal_model *model, int index, const void *self,
                                 tal_model_value v[])
{
    (void)self;
    int n;
    v[0].mobility = ((const latch *)context)->on;
    v[1].numbers[0] =
        tal_constraint_params(model->matter, model->state, (tal_constraint_ix){index}, &n)[0];
    return TAL_OK;
}

// ---- a motion: evenly accelerated

static tal_status calc_ramp(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    const double a = arg->params[0], t = arg->t;
    out[0] = order == 0 ? 0.5 * a * t * t : order == 1 ? a * t : a;
    return TAL_OK;
}

static const tal_motion_ops ramp_ops = {
    .size = sizeof ramp_ops, .name = "ramp", .num_params = 1, .calc = calc_ramp};

static const tal_model_attribute ramp_attributes[] = {{"a", TAL_MODEL_NUMBERS, 1, NULL, NULL}};

static int build_ramp(void *context, const tal_model_site *site, const tal_model_value v[])
{
    (void)context;
    return tal_matter_add_motion(site->matter, &site->motion, &ramp_ops, NULL, v[0].numbers).i;
}

static tal_status describe_ramp(void *context, const tal_model *model, int index, const void *self,
                                tal_model_value v[])
{
    (void)context;
    (void)self;
    int n;
    v[0].numbers[0] = tal_motion_params(model->matter, model->state, (tal_motion_ix){index}, &n)[0];
    return TAL_OK;
}

// ---- a measure: the square of another one

static tal_status calc_square(const void *self, const tal_system *system, tal_state *state,
                              int order, int n, double value[])
{
    (void)order;
    (void)n;
    const double x = tal_measure_value(system, state, *(const tal_measure_ix *)self);
    value[0] = x * x;
    return TAL_OK;
}

static tal_status no_derivatives(void *self, tal_system *system, tal_measure_site *site)
{
    (void)self;
    (void)system;
    site->num_derivatives = 0;
    return TAL_OK;
}

static const tal_measure_ops square_ops = {
    .size = sizeof square_ops, .name = "square", .calc = calc_square, .declare = no_derivatives};

static const tal_model_attribute square_attributes[] = {
    {"of", TAL_MODEL_MEASURE_NAME, 0, NULL, NULL}};

static int build_square(void *context, const tal_model_site *site, const tal_model_value v[])
{
    (void)context;
    tal_measure_def def = tal_measure_def_default();
    def.name = site->name;
    def.operands = &v[0].measure;
    def.num_operands = 1;
    def.self = &v[0].measure;
    def.self_size = sizeof v[0].measure;
    return tal_system_add_measure(site->system, tal_matter_subsystem(site->matter), &square_ops,
                                  &def)
        .i;
}

static tal_status describe_square(void *context, const tal_model *model, int index,
                                  const void *self, tal_model_value v[])
{
    (void)context;
    (void)model;
    (void)index;
    v[0].measure = *(const tal_measure_ix *)self;
    return TAL_OK;
}

// ---- all of them

enum {
    BALLOON,
    CORKSCREW,
    LATCH,
    RAMP,
    SQUARE,
    NUM_ELEMENTS
};

typedef struct mine {
    int balloons;
    latch latch;
    tal_model_element elements[NUM_ELEMENTS];
    tal_model_registry registry;
} mine;

#define ELEMENT(where, tag, context_, angles)                                                      \
    {                                                                                              \
        .size = sizeof(tal_model_element), .place = (where), .name = #tag, .ops = &tag##_ops,      \
        .attributes = tag##_attributes,                                                            \
        .num_attributes = (int)(sizeof tag##_attributes / sizeof *tag##_attributes),               \
        .angles_q = (angles), .angles_u = (angles), .context = (context_), .build = build_##tag,   \
        .describe = describe_##tag                                                                 \
    }

static void register_all(mine *it)
{
    corkscrew_ops = *tal_mobilizer_screw();
    corkscrew_ops.name = "corkscrew";
    *it = (mine){.elements = {ELEMENT(TAL_MODEL_FORCE, balloon, &it->balloons, 0),
                              ELEMENT(TAL_MODEL_BODY, corkscrew, NULL, 1),
                              ELEMENT(TAL_MODEL_CONSTRAINT, latch, &it->latch, 0),
                              ELEMENT(TAL_MODEL_MOTION, ramp, NULL, 0),
                              ELEMENT(TAL_MODEL_MEASURE, square, NULL, 0)}};
    it->registry = (tal_model_registry){it->elements, NUM_ELEMENTS};
}

static const char file[] =
    "<talus version='1' units='deg'><bodies>\n"
    "<corkscrew name='cork' mass='1' com='0.1 0.2 0' inertia='1 2 2.5' frame='0 1 0 10 20 30' q='45' u='90' "
    "range='-180 180' pitch='0.25'><coordinate name='turn'/></corkscrew>\n"
    "<free name='basket' mass='2' com='0 -0.1 0' inertia='1 1 1'/><pin name='winch' mass='1' "
    "com='0.1 0 0'/><slider name='lid' mass='1'/></bodies>\n"
    "<constraints><latch name='l' mobility='winch' at='30' share='2'/></constraints>\n"
    "<motions><ramp name='r' body='lid' a='0.5'/></motions>\n"
    "<measures><time name='t'/><square name='t2' of='t'/></measures>\n"
    "<forces><gravity g='0 -9.81 0'/><balloon name='b' body='basket' knot='0 0.5 0 90 0 0' lift='30' "
    "parts='1 0.5 0.25' red='yes' number='7' label='&lt;up&gt;' leak='t2' rope='basket:4'/>"
    "<balloon name='c' body='basket' rope='winch' enabled='no'/></forces></talus>";

static tal_model read_with(const char *text, const tal_model_registry *registry)
{
    tal_model_options options = tal_model_options_default();
    options.registry = registry;
    tal_model model;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    const tal_status st = tal_model_read_memory("m", text, strlen(text), &options, &model, found);
    ck_assert_msg(st == TAL_OK, "%s",
                  tal_diagnostics_num(found) > 0 ? tal_diagnostics_at(found, 0)->message : "");
    tal_diagnostics_destroy(found);
    return model;
}

static char *write_with(const tal_model *model, const tal_model_registry *registry, tal_error *err)
{
    size_t length = 0;
    if (tal_model_write_memory(model, registry, NULL, 0, &length, err) != TAL_OK) return NULL;
    char *text = malloc(length + 1);
    ck_assert_int_eq(tal_model_write_memory(model, registry, text, length + 1, NULL, err), TAL_OK);
    return text;
}

START_TEST(elements_of_a_users_own_come_and_go_bit_for_bit)
{
    mine all;
    register_all(&all);
    tal_model m = read_with(file, &all.registry);
    const double degree = TAL_PI / 180.0;
    ck_assert_int_eq(all.balloons, 2);
    // what the file said has arrived, in radians
    const tal_body_ix cork = tal_matter_find_body(m.matter, "cork");
    int n;
    ck_assert_str_eq(tal_body_mobilizer(m.matter, cork), "corkscrew");
    ck_assert(tal_body_q(m.matter, m.state, cork, 0) == 45.0 * degree);
    ck_assert(tal_body_params(m.matter, m.state, cork, &n)[0] == 0.25);
    ck_assert_int_eq(tal_matter_find_coordinate(m.matter, m.state, "turn", &n).i, cork.i);
    const tal_constraint_ix l = tal_matter_find_constraint(m.matter, "l");
    ck_assert(tal_constraint_params(m.matter, m.state, l, &n)[0] == 30.0 * degree);
    ck_assert(tal_constraint_share(m.matter, m.state, l) == 2.0);
    ck_assert(!tal_force_is_enabled(m.forces, m.state, tal_forces_find(m.forces, "c")));

    tal_error err = {TAL_OK, "", ""};
    char *text = write_with(&m, &all.registry, &err);
    ck_assert_msg(text != NULL, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(text, "rope=\"basket:4\""));
    tal_model again = read_with(text, &all.registry);
    char *second = write_with(&again, &all.registry, &err);
    ck_assert_str_eq(text, second);
    ck_assert(tal_system_structure_hash(m.system) == tal_system_structure_hash(again.system));
    ck_assert(tal_state_is_equal(m.state, again.state));
    for (int i = 0; i < 2; ++i) {
        const tal_model *it = i == 0 ? &m : &again;
        (void)tal_state_set_t(it->state, 0.7);
        ck_assert_int_eq(tal_system_realize(it->system, it->state, TAL_STAGE_ACCELERATION), TAL_OK);
    }
    ck_assert_int_eq(memcmp(tal_state_udot(m.state), tal_state_udot(again.state),
                            (size_t)tal_state_nu(m.state) * sizeof(double)),
                     0);
    // the balloon pulls: with t = 0.7, 30 - 1.75 - 0.49 N, a quarter of it at the winch
    ck_assert(tal_measure_value(m.system, m.state, (tal_measure_ix){1}) == 0.7 * 0.7);
    free(second);
    free(text);
    tal_model_destroy(&again);
    tal_model_destroy(&m);
}

END_TEST

// Each by name, when it is the only one missing.
START_TEST(what_is_not_registered_is_refused_by_name)
{
    mine all;
    register_all(&all);
    tal_model m = read_with(file, &all.registry);
    const char *read_sentences[NUM_ELEMENTS] = {
        "there is no <balloon> in <forces>", "there is no <corkscrew> in <bodies>",
        "there is no <latch> in <constraints>", "there is no <ramp> in <motions>",
        "there is no <square> in <measures>"};
    const char *write_sentences[NUM_ELEMENTS] = {
        "force 'b' is of kind 'balloon'", "body 'cork' has the mobilizer 'corkscrew'",
        "constraint 'l' is of kind 'latch'", "motion 'r' is of kind 'ramp'",
        "measure 't2' is of kind 'square'"};
    for (int i = 0; i < NUM_ELEMENTS; ++i) {
        tal_model_element others[NUM_ELEMENTS];
        for (int k = 0, n = 0; k < NUM_ELEMENTS; ++k) {
            if (k != i) others[n++] = all.elements[k];
        }
        const tal_model_registry less = {others, NUM_ELEMENTS - 1};
        tal_error err = {TAL_OK, "", ""};
        ck_assert_ptr_null(write_with(&m, &less, &err));
        ck_assert_msg(strstr(err.message, write_sentences[i]) != NULL, "%s", err.message);
        ck_assert_ptr_nonnull(strstr(err.message, "unless it is registered (talus/io/registry.h)"));
        tal_model_options options = tal_model_options_default();
        options.registry = &less;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_model none;
        ck_assert_int_eq(tal_model_read_memory("m", file, strlen(file), &options, &none, found),
                         TAL_ERR_FILE);
        ck_assert_str_eq(tal_diagnostics_at(found, 0)->message, read_sentences[i]);
        tal_diagnostics_destroy(found);
    }
    tal_model_destroy(&m);
}

END_TEST

// Attributes are checked as those of built-in elements are.
START_TEST(what_is_wrong_with_an_element_is_told)
{
    mine all;
    register_all(&all);

    const struct {
        const char *text, *said;
    } cases[] = {
        {"<balloon rope='p'/>", "<balloon> needs the attribute 'body'"},
        {"<balloon body='p' rope='p' lfit='2'/>", "no attribute 'lfit' (did you mean 'lift'?)"},
        {"<balloon body='q' rope='p'/>", "there is no body 'q'"},
        {"<balloon body='p' rope='p:1'/>", "there is no 'p:1'"},
        {"<balloon body='p' rope='p' lift='1 2'/>", "'lift' has 2 numbers; 1 is needed"},
        {"<balloon body='p' rope='p' leak='x'/>", "there is no measure 'x'"},
        {"<balloon body='p' rope='p'><linear slopes='1'/></balloon>", "there is no <linear> in"},
        {"<balloon name='a' body='p' rope='p'/><balloon name='a' body='p' rope='p'/>",
         "the name 'a' is taken"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "<talus version='1'><bodies><pin name='p' mass='1'/></bodies><forces>%s"
                       "</forces></talus>",
                       cases[i].text);
        tal_model_options options = tal_model_options_default();
        options.registry = &all.registry;
        tal_diagnostics *found = tal_diagnostics_create(NULL);
        tal_model m;
        ck_assert_int_eq(tal_model_read_memory("m", text, strlen(text), &options, &m, found),
                         TAL_ERR_FILE);
        ck_assert_int_eq(tal_diagnostics_num(found), 1);
        ck_assert_msg(strstr(tal_diagnostics_at(found, 0)->message, cases[i].said) != NULL, "%s",
                      tal_diagnostics_at(found, 0)->message);
        tal_diagnostics_destroy(found);
    }
    ck_assert_int_eq(all.balloons, 0);
}

END_TEST

static int build_nothing(void *context, const tal_model_site *site, const tal_model_value v[])
{
    (void)context;
    (void)site;
    (void)v;
    return -1;
}

START_TEST(functions_that_fail_are_told)
{
    mine all;
    register_all(&all);
    all.elements[LATCH].build = build_nothing;
    tal_model_options options = tal_model_options_default();
    options.registry = &all.registry;
    tal_diagnostics *found = tal_diagnostics_create(NULL);
    tal_model m;
    ck_assert_int_eq(tal_model_read_memory("m", file, strlen(file), &options, &m, found),
                     TAL_ERR_FILE);
    ck_assert_str_eq(tal_diagnostics_at(found, 0)->message, "<latch name=\"l\">: it was not built");
    tal_diagnostics_destroy(found);

    register_all(&all);
    m = read_with("<talus version='1'><bodies><pin name='p' mass='1'/></bodies>"
                  "<forces><balloon name='b' body='p' rope='p' number='13'/></forces></talus>",
                  &all.registry);
    tal_error err = {TAL_OK, "", ""};
    ck_assert_ptr_null(write_with(&m, &all.registry, &err));
    ck_assert_ptr_nonnull(strstr(err.message, "<balloon> 'b' cannot be described"));
    tal_model_destroy(&m);
}

END_TEST

// A balloon that says something that no file can hold.
typedef struct bad_value {
    int which;
    const char *name;
    tal_model_value value;
} bad_value;

static const bad_value bad_values[] = {
    {0, "body", {.body = {2}}}, // Ground and one body: the first that is not there
    {0, "body", {.body = {-1}}},
    {1, "knot", {.frame = {.p = {(double)NAN, 0.0, 0.0}}}},
    {2, "lift", {.numbers = {(double)INFINITY}}},
    {3, "parts", {.count = 2}},
    {4, "red", {.integer = 2}},
    {4, "red", {.integer = -1}},
    {5, "number", {.integer = -1}},
    {6, "label", {.text = NULL}},
    {7, "leak", {.measure = {0}}}, // there is no measure
    {8, "rope", {.mobility = {{0}, 0}}},
    {8, "rope", {.mobility = {{2}, 0}}},
    {8, "rope", {.mobility = {{1}, -1}}},
};
static const bad_value *told;

static tal_status describe_badly(void *context, const tal_model *model, int index, const void *self,
                                 tal_model_value v[])
{
    const tal_status st = describe_balloon(context, model, index, self, v);
    v[told->which] = told->value;
    return st;
}

START_TEST(values_that_no_file_can_hold_are_refused)
{
    mine all;
    register_all(&all);
    tal_model m = read_with("<talus version='1'><bodies><pin name='p' mass='1'/></bodies>"
                            "<forces><balloon name='b' body='p' rope='p'/></forces></talus>",
                            &all.registry);
    all.elements[BALLOON].describe = describe_badly;
    for (size_t i = 0; i < sizeof bad_values / sizeof *bad_values; ++i) {
        tal_error err = {TAL_OK, "", ""};
        char expected[100];
        told = &bad_values[i];
        (void)snprintf(expected, sizeof expected,
                       "a value of '%s' that cannot be written to a file", told->name);
        ck_assert_ptr_null(write_with(&m, &all.registry, &err));
        ck_assert_msg(strstr(err.message, expected) != NULL, "%s", err.message);
    }
    tal_model_destroy(&m);
}

END_TEST

typedef void (*spoil_fn)(mine *all, tal_model_attribute *attributes);

#define SPOIL(what, ...)                                                                           \
    static void spoil_##what(mine *all, tal_model_attribute *a)                                    \
    {                                                                                              \
        tal_model_element *e = all->elements;                                                      \
        (void)a;                                                                                   \
        (void)e;                                                                                   \
        __VA_ARGS__;                                                                               \
    }
SPOIL(size, e[1].size = 1)
SPOIL(place, e[1].place = (tal_model_place)7)
SPOIL(name, e[1].name = "a b")
SPOIL(no_name, e[1].name = NULL)
SPOIL(digit, e[1].name = "1a")
SPOIL(ops, e[1].ops = NULL)
SPOIL(ops_name, static tal_force_ops nameless; nameless = balloon_ops; nameless.name = NULL;
      e[BALLOON].ops = &nameless)
SPOIL(build, e[1].build = NULL)
SPOIL(describe, e[1].describe = NULL)
SPOIL(many, e[1].num_attributes = 17)
SPOIL(none, e[1].attributes = NULL)
SPOIL(builtin, e[0].name = "gravity")
SPOIL(twice, e[1] = e[0])
SPOIL(attribute_name, a[0].name = "a-b")
SPOIL(shared, a[0].name = "enabled")
SPOIL(same, a[1].name = "body")
SPOIL(type, a[0].type = (tal_model_type)99)
SPOIL(count, a[2].count = 13)
SPOIL(frame, a[1].initial = "1 0 0")
SPOIL(body_ref, e[0].place = TAL_MODEL_BODY; a[0].name = "other")
SPOIL(measure_ref, e[0].place = TAL_MODEL_MOTION; a[0].name = "other"; a[8].name = "rope2")
SPOIL(negative, all->registry.num_elements = -1)
SPOIL(no_list, all->registry.elements = NULL)

START_TEST(a_registry_that_makes_no_sense_is_a_breach)
{
    test_record_breaches();
    const spoil_fn spoils[] = {
        spoil_size,     spoil_place,   spoil_name,           spoil_no_name,  spoil_digit,
        spoil_ops,      spoil_build,   spoil_describe,       spoil_many,     spoil_none,
        spoil_builtin,  spoil_twice,   spoil_attribute_name, spoil_shared,   spoil_same,
        spoil_type,     spoil_count,   spoil_frame,          spoil_body_ref, spoil_measure_ref,
        spoil_negative, spoil_no_list, spoil_ops_name};
    mine good;
    register_all(&good);
    tal_model m = read_with("<talus version='1'/>", &good.registry);
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; ++i) {
        mine all;
        tal_model_attribute attributes[9];
        register_all(&all);
        memcpy(attributes, balloon_attributes, sizeof attributes);
        all.elements[BALLOON].attributes = attributes;
        spoils[i](&all, attributes);
        tal_model_options options = tal_model_options_default();
        options.registry = &all.registry;
        tal_model none;
        tal_status st = TAL_OK;
        test_assert_breach(
            st = tal_model_read_memory("m", file, strlen(file), &options, &none, NULL),
            TAL_ERR_BAD_VALUE, "regist");
        ck_assert_int_eq(st, TAL_ERR_BAD_VALUE);
        tal_error err = {TAL_OK, "", ""};
        test_assert_breach(st = tal_model_write_memory(&m, &all.registry, NULL, 0, NULL, &err),
                           TAL_ERR_BAD_VALUE, "regist");
        ck_assert_int_eq(err.status, TAL_ERR_BAD_VALUE);
    }
    tal_model_destroy(&m);
}

END_TEST

START_TEST(memory_that_runs_out_is_given_back)
{
    mine all;
    register_all(&all);
    int n = 0;
    for (bool done = false; !done; ++n) {
        test_heap heap = {.refuse_at = n + 1};
        tal_model_options options = tal_model_options_default();
        options.allocator = test_heap_allocator(&heap);
        options.registry = &all.registry;
        tal_model m;
        const tal_status st = tal_model_read_memory("m", file, strlen(file), &options, &m, NULL);
        done = st == TAL_OK;
        if (!done) ck_assert_int_eq(st, TAL_ERR_NO_MEMORY);
        if (done) test_assert_never_refused(&heap);
        tal_model_destroy(&m);
        ck_assert_uint_eq(heap.bytes, 0);
        ck_assert_int_lt(n, 1000);
    }
}

END_TEST

int main(void)
{
    Suite *suite = suite_create("registry");
    TCase *own = tcase_create("own");
    tcase_add_test(own, elements_of_a_users_own_come_and_go_bit_for_bit);
    tcase_add_test(own, what_is_not_registered_is_refused_by_name);
    tcase_add_test(own, what_is_wrong_with_an_element_is_told);
    tcase_add_test(own, functions_that_fail_are_told);
    tcase_add_test(own, values_that_no_file_can_hold_are_refused);
    tcase_add_test(own, a_registry_that_makes_no_sense_is_a_breach);
    tcase_add_test(own, memory_that_runs_out_is_given_back);
    suite_add_tcase(suite, own);
    return test_run(suite);
}
