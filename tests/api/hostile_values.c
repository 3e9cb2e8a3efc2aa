// Values of every type for the calls of hostile_calls.c: right ones first, then hostile ones.
#include "hostile.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MAX_ARRAYS = 16,
    MAX_TEXTS = 8
};

static double arrays[MAX_ARRAYS][ARRAY_DOUBLES];
static hostile_mood mood; // of the call that is being made: how functions of tables behave
static char texts[MAX_TEXTS][TEXT_BYTES];

// --- numbers ---

static const double doubles[] = {NAN, INFINITY, -INFINITY, 1e308, 1e-310, -1.0, 0.0};

enum {
    NUM_DOUBLES = sizeof doubles / sizeof doubles[0],
    NUM_TAMELESS = 5
};

static double hostile_double(hostile_draw *d, int i)
{
    d->not_tame = d->not_tame || i < NUM_TAMELESS;
    return doubles[i];
}

double take_double(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 1 + NUM_DOUBLES);
    return chosen == 0 ? 0.75 : hostile_double(d, chosen - 1);
}

bool take_bool(hostile_draw *d)
{
    return hostile_pick(d, 2) == 1;
}

int take_int(hostile_draw *d, bool is_length)
{
    static const int values[] = {1, 0, 2, 3, 7, -1, INT_MIN, 100000, INT_MAX};
    return values[hostile_pick(d, is_length ? 7 : 9)];
}

int take_enum(hostile_draw *d)
{
    static const int values[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 99, INT_MAX};
    return values[hostile_pick(d, 13)];
}

int take_index(hostile_draw *d)
{
    // 13 is the first behind the forces of the world
    static const int values[] = {1,  0,  2,  3,  4,  5,  6,  7,       8,      9,
                                 10, 11, 12, 13, -1, -2, 99, INT_MAX, INT_MIN};
    return values[hostile_pick(d, 19)];
}

size_t take_size(hostile_draw *d, bool is_length)
{
    static const size_t values[] = {64, 0, 1, 7, 4096, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40};
    return values[hostile_pick(d, is_length ? 5 : 8)];
}

// --- texts ---

// A text in memory of TEXT_BYTES, zeros behind it.
static char *text_of(hostile_draw *d, const char *content)
{
    char *text = texts[d->texts++ % MAX_TEXTS];
    memset(text, 0, TEXT_BYTES);
    (void)snprintf(text, TEXT_BYTES, "%s", content);
    return text;
}

static char *long_text(hostile_draw *d, int length)
{
    char *text = text_of(d, "");
    memset(text, 'n', (size_t)length);
    return text;
}

const char *take_string(hostile_draw *d)
{
    static const char *const few[] = {"one",
                                      NULL,
                                      "",
                                      " ",
                                      "a\nb",
                                      "\xff\xfe",
                                      "%s%n",
                                      "body2",
                                      "a.b",
                                      "/nowhere/to/be.found",
                                      "x.sto",
                                      "x.csv",
                                      "x.trc",
                                      "x.npz",
                                      "x.talus",
                                      "1 2 nan",
                                      "<talus version=\"1\"/>"};
    // around the longest names of forces, measures, and everything else
    static const int lengths[] = {39, 40, 47, 48, 63, 64, 300, 5000};
    const int chosen = hostile_pick(d, 17 + 8);
    if (chosen >= 17) return long_text(d, lengths[chosen - 17]);
    return few[chosen] == NULL ? NULL : text_of(d, few[chosen]);
}

const char *take_end(hostile_draw *d)
{
    const char *last = texts[(d->texts + MAX_TEXTS - 1) % MAX_TEXTS];
    const int chosen = hostile_pick(d, 3);
    return chosen == 1 ? NULL : chosen == 2 ? last : last + strlen(last);
}

const char *take_format(hostile_draw *d)
{
    static const char *const formats[] = {"one", NULL, "", "100 %%"};
    return formats[hostile_pick(d, 4)];
}

char *take_text(hostile_draw *d)
{
    return hostile_pick(d, 2) == 0 ? text_of(d, "") : NULL;
}

const char *const *take_array_char(hostile_draw *d)
{
    static const char *names[64];
    for (int i = 0; i < 64; ++i)
        names[i] = "one";
    switch (hostile_pick(d, 4)) {
    case 1:
        return NULL;
    case 2:
        names[0] = NULL;
        return names;
    case 3:
        names[0] = long_text(d, 300);
        return names;
    default:
        return names;
    }
}

// --- arrays ---

static double *array_of(hostile_draw *d, double first, double by)
{
    double *x = arrays[d->arrays++ % MAX_ARRAYS];
    for (int i = 0; i < ARRAY_DOUBLES; ++i)
        x[i] = first + by * i;
    return x;
}

// A block of zeros.
static void *zeros(hostile_draw *d)
{
    return memset(array_of(d, 0.0, 0.0), 0, sizeof arrays[0]);
}

double *take_doubles(hostile_draw *d, bool is_const)
{
    const int chosen = hostile_pick(d, is_const ? 2 + NUM_DOUBLES : 2);
    if (chosen == 1) return NULL;
    double *x = array_of(d, 0.1, is_const ? 0.01 : 0.0);
    if (!is_const) hostile_will_write(d, x);
    if (chosen >= 2) {
        const double bad = hostile_double(d, chosen - 2);
        for (int i = 0; i < 16; ++i)
            x[i] = bad;
    }
    return x;
}

int *take_ints(hostile_draw *d, bool is_const)
{
    int *x = (int *)(void *)array_of(d, 0.0, 0.0);
    const int chosen = hostile_pick(d, is_const ? 6 : 2);
    for (int i = 0; i < 2 * ARRAY_DOUBLES; ++i) {
        x[i] = chosen == 2   ? -1
               : chosen == 3 ? INT_MAX
               : chosen == 4 ? INT_MIN
               : chosen == 5 ? 0
                             : i - 1;
    }
    return chosen == 1 ? NULL : x;
}

int *take_levels(hostile_draw *d)
{
    int *x = (int *)zeros(d);
    static const int levels[] = {2, 2, -1, 0, INT_MIN};
    const int chosen = hostile_pick(d, 5);
    for (int i = 0; i < 16; ++i)
        x[i] = levels[chosen];
    return chosen == 1 ? NULL : x;
}

bool *take_bools(hostile_draw *d)
{
    double *x = array_of(d, 0.0, 0.0);
    return hostile_pick(d, 2) == 1 ? NULL : (bool *)(void *)x;
}

void *take_bytes(hostile_draw *d)
{
    void *block = zeros(d);
    return hostile_pick(d, 2) == 1 ? NULL : block;
}

// What is adopted with a table; those of this file make no use of it. And how the table's functions
// behave.
void *take_self(hostile_draw *d)
{
    static double self[4];
    const int chosen = hostile_pick(d, 5);
    d->mood = chosen == 2   ? FUNCTIONS_FAIL
              : chosen == 3 ? FUNCTIONS_GIVE_NAN
              : chosen == 4 ? FUNCTIONS_RETRY
                            : FUNCTIONS_WORK;
    mood = d->mood;
    return chosen == 1 ? self : NULL;
}

void *take_slot(hostile_draw *d)
{
    return take_bytes(d);
}

void *take_out(hostile_draw *d, size_t size)
{
    (void)size;
    return take_bytes(d);
}

void *take_array(hostile_draw *d, size_t size, bool is_const)
{
    (void)size;
    (void)is_const;
    return take_bytes(d);
}

tal_function *const *take_array_tal_function(hostile_draw *d)
{
    static tal_function *list[64];
    memset(list, 0, sizeof list);
    const int chosen = hostile_pick(d, 4);
    tal_function *one = NULL;
    if (chosen != 2 && tal_function_create_sinusoid(NULL, 1.0, 1.0, 0.0, &one, NULL) != TAL_OK) {
        abort();
    }
    list[0] = one;
    if (chosen == 3) list[1] = one; // the same twice
    return chosen == 1 ? NULL : list;
}

// --- functions that misbehave ---

static tal_status status_of_mood(void)
{
    return mood == FUNCTIONS_FAIL    ? TAL_ERR_BAD_VALUE
           : mood == FUNCTIONS_RETRY ? TAL_RETRY
                                     : TAL_OK;
}

static double number_of_mood(void)
{
    return mood == FUNCTIONS_GIVE_NAN ? (double)NAN : 0.25;
}

void hostile_functions_work(void)
{
    mood = FUNCTIONS_WORK;
}

static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F[],
                        double f[])
{
    (void)self;
    (void)context;
    (void)F;
    f[0] += number_of_mood();
    return status_of_mood();
}

static tal_status attract(const void *self, const tal_mol_site sites[], const double params[],
                          tal_mol_response *out)
{
    (void)self, (void)params;
    out->f[0] = tal_v3_sub(sites[1].x, sites[0].x);
    return TAL_OK;
}

void good_tal_mol_custom_ops(tal_mol_custom_ops *out)
{
    const tal_mol_custom_ops ops = {
        .size = sizeof ops, .kind = "attract", .num_sites = 2, .num_params = 1, .eval = attract};
    *out = ops;
}

void good_tal_force_ops(tal_force_ops *out)
{
    const tal_force_ops ops = {.size = sizeof ops, .name = "push", .apply = apply};
    *out = ops;
}

static tal_status calc_control(const void *self, const tal_force_context *context, int which,
                               double *control)
{
    (void)self;
    (void)context;
    (void)which;
    *control = number_of_mood();
    return status_of_mood();
}

void good_tal_controller_ops(tal_controller_ops *out)
{
    const tal_controller_ops ops = {
        .size = sizeof ops, .name = "mood", .calc_control = calc_control};
    *out = ops;
}

void good_tal_muscle_def(tal_muscle_def *out)
{
    *out = tal_muscle_def_default(TAL_MUSCLE_MILLARD);
    out->path.i = 0;
    out->max_force = 100.0;
    out->fiber_length = 0.3;
    out->tendon_length = 0.4;
}

void good_tal_metabolics(tal_metabolics *out)
{
    *out = tal_metabolics_default(TAL_METABOLICS_BHARGAVA);
}

static tal_status calc_motion(const void *self, const tal_motion_arg *arg, int order, double out[])
{
    (void)self;
    (void)order;
    for (int i = 0; i < arg->n; ++i)
        out[i] = number_of_mood();
    return status_of_mood();
}

void good_tal_motion_ops(tal_motion_ops *out)
{
    const tal_motion_ops ops = {.size = sizeof ops, .name = "still", .calc = calc_motion};
    *out = ops;
}

// z of body 1's origin is 0.25, say; only the row of accelerations is told.
static tal_status calc_row(const void *self, const tal_constraint_arg *arg, double err[])
{
    (void)self;
    (void)arg;
    err[0] = number_of_mood();
    return status_of_mood();
}

static tal_status add_row_forces(const void *self, const tal_constraint_arg *arg,
                                 const double lambda[], tal_spatial_vec F[], double f[])
{
    (void)self;
    (void)arg;
    (void)f;
    F[0].v.z += lambda[0];
    return status_of_mood();
}

void good_tal_constraint_ops(tal_constraint_ops *out)
{
    const tal_constraint_ops ops = {.size = sizeof ops,
                                    .name = "row",
                                    .mp = 1,
                                    .num_bodies = 1,
                                    .calc_p = calc_row,
                                    .calc_v = calc_row,
                                    .calc_a = calc_row,
                                    .add_forces = add_row_forces};
    *out = ops;
}

static tal_status calc_measure(const void *self, const tal_system *system, tal_state *state,
                               int order, int n, double value[])
{
    (void)self;
    (void)system;
    (void)state;
    (void)order;
    for (int i = 0; i < n; ++i)
        value[i] = number_of_mood();
    return status_of_mood();
}

void good_tal_measure_ops(tal_measure_ops *out)
{
    const tal_measure_ops ops = {.size = sizeof ops, .name = "number", .calc = calc_measure};
    *out = ops;
}

static tal_status realize(const void *self, const tal_system *system, tal_state *state)
{
    (void)self;
    (void)system;
    (void)state;
    return status_of_mood();
}

void good_tal_subsystem_ops(tal_subsystem_ops *out)
{
    const tal_subsystem_ops ops = {.size = sizeof ops,
                                   .name = "nothing",
                                   .realize_time = realize,
                                   .realize_velocity = realize,
                                   .realize_report = realize};
    *out = ops;
}

// --- structs ---

// Change one field of a struct.
static void set_field(hostile_draw *d, void *it, const hostile_field *field, int i, bool has_arrays)
{
    static const int ints[] = {-1, INT_MIN, 0, 1, 3, 99, INT_MAX};
    static const long longs[] = {-1, LONG_MIN, 0, 1, 3, 99, LONG_MAX};
    static const size_t sizes[] = {0, 1, 8, 4096, SIZE_MAX, SIZE_MAX / 2, 1};
    static const char *const names[] = {NULL, "", " ", "a\nb", "body2", "\xff", "%s"};
    char *at = (char *)it + field->offset;
    switch (field->kind) {
    case FIELD_DOUBLE: {
        const double x = hostile_double(d, i);
        memcpy(at, &x, sizeof x);
        break;
    }
    case FIELD_INT:
        memcpy(at, &ints[field->is_length && has_arrays ? i % 4 : i], sizeof(int));
        break;
    case FIELD_LONG:
        memcpy(at, &longs[i], sizeof(long));
        break;
    case FIELD_SIZE:
        memcpy(at, &sizes[i], sizeof(size_t));
        break;
    case FIELD_BOOL:
        *(bool *)at = !*(bool *)at;
        break;
    case FIELD_STRING: {
        const char *name = i == 1 ? long_text(d, 64) : i == 2 ? long_text(d, 300) : names[i];
        memcpy(at, &name, sizeof name);
        break;
    }
    case FIELD_POINTER:
        memset(at, 0, sizeof(void *));
        break;
    case FIELD_END:
        break;
    }
    hostile_note(d, field->name);
}

void *take_struct(hostile_draw *d, const hostile_struct *type)
{
    int num_fields = 0;
    while (type->fields[num_fields].kind != FIELD_END)
        ++num_fields;
    const int chosen = hostile_pick(d, 3 + num_fields * NUM_DOUBLES);
    if (chosen == 1) return NULL;
    void *it = zeros(d);
    if (chosen == 2) return it;
    if (type->make != NULL) type->make(it);
    if (chosen >= 3) {
        const int k = (chosen - 3) / NUM_DOUBLES;
        set_field(d, it, &type->fields[k], (chosen - 3) % NUM_DOUBLES, type->make != NULL);
    }
    return it;
}

tal_vec3 value_tal_vec3(hostile_draw *d)
{
    tal_vec3 v = tal_v3(0.3, -0.2, 0.5);
    const int chosen = hostile_pick(d, 2 + NUM_DOUBLES);
    if (chosen == 1) return TAL_VEC3_ZERO;
    if (chosen >= 2) v.y = hostile_double(d, chosen - 2);
    return v;
}

tal_quat value_tal_quat(hostile_draw *d)
{
    tal_quat q = {1.0, 0.0, 0.0, 0.0};
    const int chosen = hostile_pick(d, 1 + NUM_DOUBLES);
    if (chosen >= 1) q.w = hostile_double(d, chosen - 1);
    return q;
}

tal_sym3 value_tal_sym3(hostile_draw *d)
{
    tal_sym3 S = tal_s3_diag(1.0, 2.0, 3.0);
    const int chosen = hostile_pick(d, 1 + NUM_DOUBLES);
    if (chosen >= 1) S.xx = hostile_double(d, chosen - 1);
    return S;
}

tal_spatial_vec value_tal_spatial_vec(hostile_draw *d)
{
    const tal_vec3 w = value_tal_vec3(d);
    return tal_sv(w, value_tal_vec3(d));
}

tal_mobility value_tal_mobility(hostile_draw *d)
{
    const tal_mobility at = {{take_index(d)}, take_int(d, false)};
    return at;
}

tal_matrix value_tal_matrix(hostile_draw *d)
{
    double *data = array_of(d, 0.0, 0.0);
    hostile_will_write(d, data);
    const int nu = tal_matter_nu(hostile_world.matter);
    static const int sizes[][3] = {{0, 0, 0},
                                   {3, 3, 3},
                                   {0, 0, 1},
                                   {3, 0, 3},
                                   {0, 3, 1},
                                   {8, 3, 8},
                                   {3, 8, 8},
                                   {-1, 3, 3},
                                   {3, -1, 3},
                                   {3, 3, 2},
                                   {3, 3, -1},
                                   {3, 3, 0},
                                   {INT_MIN, 3, 3},
                                   {3, INT_MIN, 3},
                                   {3, 3, 3},
                                   {3, 3, 3},
                                   {INT_MAX, 0, INT_MAX},
                                   {0, 100, 1},
                                   {6, 1, 6},
                                   {1, 1, 1}};
    const int chosen = hostile_pick(d, 20);
    tal_matrix A = {data, sizes[chosen][0], sizes[chosen][1], sizes[chosen][2]};
    if (chosen == 0) A = tal_matrix_view(data, nu, nu);
    for (int i = 0; i < A.rows && i < A.cols && A.ld > 0 && A.ld < 100; ++i) {
        data[i * (A.ld + 1)] = 2.0 + i; // positive definite
    }
    if (chosen == 14) A.data = NULL;
    if (chosen == 15) data[4] = hostile_double(d, 0);
    return A;
}

tal_prereq value_tal_prereq(hostile_draw *d)
{
    const tal_prereq prereq = {(tal_prereq_kind)take_enum(d), take_index(d)};
    return prereq;
}

tal_contract_handler value_tal_contract_handler(hostile_draw *d)
{
    return hostile_pick(d, 2) == 0 ? hostile_count_breach : tal_contract_silent;
}

static const char *three_names(const void *context, int i)
{
    (void)context;
    return i == 0 ? "one" : i == 1 ? "" : i == 2 ? "three" : NULL;
}

tal_name_at_fn value_tal_name_at_fn(hostile_draw *d)
{
    return hostile_pick(d, 2) == 0 ? three_names : NULL;
}

static bool take_nothing(void *context, const void *bytes, size_t size)
{
    (void)context;
    (void)bytes;
    return size == 0;
}

static bool take_all(void *context, const void *bytes, size_t size)
{
    return !take_nothing(context, bytes, size) || size == 0;
}

take_bytes_fn value_tal_table_write_to(hostile_draw *d)
{
    const int chosen = hostile_pick(d, 3);
    return chosen == 0 ? take_all : chosen == 1 ? NULL : take_nothing;
}

take_bytes_fn value_tal_scene_write_to(hostile_draw *d)
{
    return value_tal_table_write_to(d);
}

void good_tal_scene_page(tal_scene_page *out)
{
    static const char text[TEXT_BYTES] = "@TALUS_TITLE@@TALUS_SCENE@@TALUS_DATA@";
    *out = (tal_scene_page){text, sizeof text - 1};
}

void good_tal_xform(tal_xform *out)
{
    *out = TAL_XFORM_IDENTITY;
}

void good_tal_mat3(tal_mat3 *out)
{
    *out = TAL_MAT3_IDENTITY;
}

void good_tal_mass_props(tal_mass_props *out)
{
    *out = tal_mass_props_brick(2.0, tal_v3(0.1, 0.2, 0.3));
}

void good_tal_shape(tal_shape *out)
{
    *out = tal_shape_sphere(0.5);
}

void good_tal_executor(tal_executor *out)
{
    *out = tal_executor_in_order();
}

void good_tal_allocator(tal_allocator *out)
{
    *out = tal_allocator_default();
}

// Closure functions with as many independent coordinates as speeds: u = ydot.
static tal_status closure_q(const void *self, const tal_closure_arg *arg, double q[])
{
    (void)self;
    (void)arg;
    memcpy(q, tal_state_q(hostile_world.state),
           (size_t)tal_matter_nq(hostile_world.matter, hostile_world.state) * sizeof *q);
    return TAL_OK;
}

static tal_status closure_K(const void *self, const tal_closure_arg *arg, tal_matrix K)
{
    (void)self;
    (void)arg;
    for (int i = 0; i < K.cols; ++i)
        K.data[i + i * K.ld] = 1.0;
    return TAL_OK;
}

static tal_status closure_k(const void *self, const tal_closure_arg *arg, double k[])
{
    (void)self;
    (void)arg;
    (void)k;
    return TAL_OK;
}

void good_tal_closure(tal_closure *out)
{
    static tal_closure_ops ops = {.size = sizeof(tal_closure_ops),
                                  .name = "all free",
                                  .calc_q = closure_q,
                                  .calc_K = closure_K,
                                  .calc_k = closure_k};
    static double y[64];
    ops.num_y = tal_matter_nu(hostile_world.matter);
    const tal_closure closure = {&ops, NULL, y, y};
    *out = closure;
}

void good_tal_pchol(tal_pchol *out)
{
    static double A[9], work[64];
    static int iwork[16];
    for (int i = 0; i < 9; ++i)
        A[i] = i % 4 == 0 ? 2.0 : 0.0;
    if (tal_pchol_factor(out, tal_matrix_view(A, 3, 3), 1e-12, work, iwork, NULL) != TAL_OK) {
        abort();
    }
}

void good_tal_cod(tal_cod *out)
{
    static double A[9], work[64];
    static int iwork[16];
    for (int i = 0; i < 9; ++i)
        A[i] = i % 4 == 0 ? 2.0 : 0.0;
    if (tal_cod_factor(out, tal_matrix_view(A, 3, 3), 1e-12, work, iwork, NULL) != TAL_OK) abort();
}

// 2 on the diagonal of a 3 x 3 matrix, and a row that is pushed.
static double push_A[9] = {2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0};
static double push_b[3] = {-1.0, 0.5, 0.25};
static tal_friction_contact push_contact = {
    .normal = 0, .tangent = 1, .num_tangents = 2, .static_mu = 0.5, .sliding_mu = 0.5};

void good_tal_bounded_problem(tal_bounded_problem *out)
{
    static double lower[3], upper[3] = {INFINITY, INFINITY, INFINITY};
    *out = (tal_bounded_problem){tal_matrix_view(push_A, 3, 3), push_b, lower, upper, true};
}

void good_tal_effort_problem(tal_effort_problem *out)
{
    static double lower[3], upper[3] = {1.0, 1.0, INFINITY}, weight[3] = {1.0, 2.0, 3.0};
    *out = (tal_effort_problem){tal_matrix_view(push_A, 3, 3), push_b, weight, lower, upper, 2.0};
}

void good_tal_friction_problem(tal_friction_problem *out)
{
    *out = (tal_friction_problem){tal_matrix_view(push_A, 3, 3), push_b, &push_contact, 1, false};
}

void good_tal_friction_rows(tal_friction_rows *out)
{
    static int start[4] = {0, 1, 2, 3}, index[3] = {0, 1, 2};
    static double one[3] = {1.0, 1.0, 1.0};
    *out = (tal_friction_rows){.num_rows = 3,
                               .num_speeds = 3,
                               .J_start = start,
                               .J_index = index,
                               .J = one,
                               .K_start = start,
                               .K_index = index,
                               .K = one,
                               .b = push_b,
                               .contacts = &push_contact,
                               .num_contacts = 1,
                               .most_passes = 10,
                               .tolerance = 1e-9};
}

void good_tal_rk_tableau(tal_rk_tableau *out)
{
    *out = *tal_rk_merson();
}

void good_tal_mobilizer_ops(tal_mobilizer_ops *out)
{
    *out = *tal_mobilizer_pin();
}

void good_tal_decoration(tal_decoration *out)
{
    *out = tal_decoration_sphere(0.5);
}

void good_tal_model_registry(tal_model_registry *out)
{
    memset(out, 0, sizeof *out);
}

void good_tal_eig(tal_eig *out)
{
    static double w[2][64], vectors[2][9];
    out->wr = w[0];
    out->wi = w[1];
    out->left = tal_matrix_view(vectors[0], 3, 3);
    out->right = tal_matrix_view(vectors[1], 3, 3);
}

void good_tal_floating(tal_floating *out)
{
    static double I[36], F[6 * 64], H[64 * 64], C[64];
    const tal_body_ix base = {1};
    const int n = tal_matter_floating_n(hostile_world.matter, base);
    for (int i = 0; i < 36; ++i)
        I[i] = i % 7 == 0 ? 1.0 : 0.0;
    out->I = tal_matrix_view(I, 6, 6);
    out->F = tal_matrix_view(F, 6, n);
    out->H = tal_matrix_view(H, n, n);
    out->C = C;
}

static tal_status work_on_samples(void *context, int lane, int first, int n, double results[],
                                  tal_status status[], tal_error why[])
{
    (void)context, (void)lane, (void)first;
    for (int k = 0; k < n; ++k) {
        results[k] = 1.0; // of rows of one number
        status[k] = TAL_OK;
        why[k] = (tal_error){TAL_OK, "", ""};
    }
    return TAL_OK;
}

tal_batch_fn value_tal_batch_fn(hostile_draw *d)
{
    return hostile_pick(d, 2) == 0 ? work_on_samples : NULL;
}

void good_tal_design(tal_design *out)
{
    static const double values[64] = {0.5, 0.25};
    static const int levels[64] = {2, 1};
    static const tal_distribution spread[64] = {{TAL_UNIFORM, 0.0, 1.0}};
    *out = tal_design_table(values, 1, 2);
    out->levels = levels;
    out->low = values + 2;
    out->high = values;
    out->distributions = spread;
}

void good_tal_moments(tal_moments *out)
{
    static double numbers[4][64 * 64];
    *out = (tal_moments){.num_columns = 1,
                         .mean = numbers[0],
                         .scatter = numbers[1],
                         .least = numbers[2],
                         .most = numbers[3]};
}

void good_tal_histogram(tal_histogram *out)
{
    static int counts[64];
    *out = (tal_histogram){.low = 0.0, .high = 1.0, .num_bins = 4, .counts = counts};
}
