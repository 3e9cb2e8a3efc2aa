// matter/src/natural/velocity_map.c against the operators of the tree, on any number of threads;
// and two recursions of other books on the same columns.
#include "random_tree.h"

#include <talus/common/threads.h>
#include <talus/matter/velocity_map.h>

#include <float.h>
#include <stdlib.h>

typedef struct mapped {
    random_tree tree;
    tal_velocity_map *map;
    int nu, num_bodies;
} mapped;

static mapped begin_mapped(const random_tree_def *def, const tal_executor *executor)
{
    mapped m = {.tree = random_tree_create(def)};
    tal_error err = {.status = TAL_OK};
    ck_assert_msg(tal_velocity_map_create(m.tree.matter, executor, &m.map, &err) == TAL_OK, "%s",
                  err.message);
    m.nu = m.tree.nu;
    m.num_bodies = m.tree.num_bodies;
    random_tree_realize(&m.tree, m.tree.state, TAL_STAGE_VELOCITY);
    ck_assert_int_eq(tal_velocity_map_calc(m.map, m.tree.state), TAL_OK);
    return m;
}

static void end_mapped(mapped *m)
{
    tal_velocity_map_destroy(m->map);
    random_tree_destroy(&m->tree);
}

static double *room(int n)
{
    double *out = calloc((size_t)n + 1, sizeof *out);
    ck_assert_ptr_nonnull(out);
    return out;
}

static tal_vec3 com_arm(const mapped *m, int b)
{
    const tal_body_ix body = {b};
    const tal_vec3 com = tal_body_mass_props(m->tree.matter, m->tree.state, body).com;
    return tal_m3_mul_v3(tal_body_X_GB(m->tree.matter, m->tree.state, body).R, com);
}

static void check_close(tal_spatial_vec a, tal_spatial_vec b, double tolerance, const char *what)
{
    const tal_spatial_vec d = tal_sv_sub(a, b);
    const double worst = fmax(tal_v3_max_abs(d.w), tal_v3_max_abs(d.v));
    ck_assert_msg(worst <= tolerance, "%s: %g", what, worst);
}

// --- identities ---

// R_b u = V_b, columns are those of the Jacobian of the system, and Sc_b its bias, all moved to
// mass centers. Trees of size one and ten bodies deep: some hundred roundings.
START_TEST(columns_and_biases_are_those_of_the_tree)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const random_tree_def def = random_tree_def_default(seed);
        mapped m = begin_mapped(&def, NULL);
        tal_spatial_vec *bias = calloc((size_t)m.num_bodies, sizeof *bias);
        ck_assert_int_eq(tal_matter_calc_J_bias(m.tree.matter, m.tree.state, bias), TAL_OK);
        double *J = room(6 * m.num_bodies * m.nu);
        const tal_matrix whole = tal_matrix_view(J, 6 * m.num_bodies, m.nu);
        ck_assert_int_eq(tal_matter_calc_J(m.tree.matter, m.tree.state, whole), TAL_OK);
        for (int b = 0; b < m.num_bodies; ++b) {
            const tal_body_ix body = {b};
            const int n = tal_velocity_map_num_columns(m.map, body);
            tal_spatial_vec R[64], V = TAL_SPATIAL_VEC_ZERO;
            int speed[64];
            ck_assert_int_le(n, 64);
            ck_assert_int_eq(tal_velocity_map_columns(m.map, body, speed), TAL_OK);
            ck_assert_int_eq(tal_velocity_map_read_R(m.map, body, R), TAL_OK);
            const tal_vec3 arm = b > 0 ? com_arm(&m, b) : TAL_VEC3_ZERO;
            int at = 0;
            for (int k = 0; k < m.nu; ++k) {
                const double *c = J + 6 * b + 6 * m.num_bodies * k;
                const tal_spatial_vec column = tal_sv_shift_motion(
                    tal_sv(tal_v3(c[0], c[1], c[2]), tal_v3(c[3], c[4], c[5])), arm);
                const bool is_there = at < n && speed[at] == k;
                check_close(is_there ? R[at] : TAL_SPATIAL_VEC_ZERO, column, 1e-12, "column");
                if (is_there) {
                    V = tal_sv_axpy(tal_state_u(m.tree.state)[k], R[at++], V);
                }
            }
            ck_assert_int_eq(at, n);
            if (b == 0) continue;
            const tal_spatial_vec V_GB = tal_body_V_GB(m.tree.matter, m.tree.state, body);
            check_close(V, tal_sv_shift_motion(V_GB, arm), 1e-11, "R u");
            check_close(tal_velocity_map_Sc(m.map, body),
                        tal_sv_shift_acceleration(bias[b], V_GB.w, arm), 1e-11, "Sc");
        }
        free(J), free(bias);
        end_mapped(&m);
    }
}

END_TEST

// R^T M R = M and R^T (F - M Sc - C) = f - bias (GJB eq. 8.38), with a rotor; entries of M are at
// most those of its diagonal.
START_TEST(equations_of_motion_are_those_of_the_tree)
{
    for (uint64_t seed = 21; seed <= 60; ++seed) {
        random_tree_def def = random_tree_def_default(seed);
        def.num_bodies = 1 + (int)(seed % 4) * 8;
        def.free_base = seed % 3 == 0;
        mapped m = begin_mapped(&def, NULL);
        for (int b = 1; b < m.num_bodies; ++b) {
            if (tal_body_nu(m.tree.matter, (tal_body_ix){b}) != 1) continue;
            const tal_body_ix body = {b};
            (void)tal_body_set_rotor_inertia(m.tree.matter, m.tree.state, body, 0.3);
        }
        random_tree_realize(&m.tree, m.tree.state, TAL_STAGE_VELOCITY);
        ck_assert_int_eq(tal_velocity_map_calc(m.map, m.tree.state), TAL_OK);
        double *M = room(m.nu * m.nu), *tree = room(m.nu * m.nu);
        double *Q = room(m.nu), *needed = room(m.nu);
        ck_assert_int_eq(tal_velocity_map_calc_M(m.map, tal_matrix_view(M, m.nu, m.nu)), TAL_OK);
        ck_assert_int_eq(
            tal_matter_calc_M(m.tree.matter, m.tree.state, tal_matrix_view(tree, m.nu, m.nu)),
            TAL_OK);
        ck_assert_int_eq(tal_velocity_map_calc_Q(m.map, m.tree.F, m.tree.f, Q), TAL_OK);
        ck_assert_int_eq(tal_matter_inverse_dynamics(m.tree.matter, m.tree.state, NULL, m.tree.F,
                                                     m.tree.f, needed),
                         TAL_OK);
        const double size = 1.0 + test_largest(tree, m.nu * m.nu);
        const double force = 1.0 + test_largest(needed, m.nu);
        for (int i = 0; i < m.nu * m.nu; ++i) {
            ck_assert_double_eq_tol(M[i], tree[i], 1e-13 * size);
        }
        // gyroscopic forces of bodies far out cancel: u^2 times M
        for (int i = 0; i < m.nu; ++i) {
            ck_assert_double_eq_tol(Q[i], -needed[i], 1e-12 * (force + 4.0 * size));
        }
        free(M), free(tree), free(Q), free(needed);
        end_mapped(&m);
    }
}

END_TEST

// GJB ex. 8.3: seven bodies, 5 and 6-7 on branches of 2; R is 42 x 7, and R_5 has three columns.
START_TEST(a_column_is_there_for_each_joint_on_the_way)
{
    static const int parents[7] = {0, 1, 2, 3, 2, 5, 6}, depths[7] = {1, 2, 3, 4, 3, 4, 5};
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.X_BM.p = tal_v3(0.0, 1.0, 0.0);
    for (int i = 0; i < 7; ++i) {
        (void)tal_matter_add_pin(matter, (tal_body_ix){parents[i]}, &def);
    }
    tal_velocity_map *map = NULL;
    ck_assert_int_eq(tal_velocity_map_create(matter, NULL, &map, NULL), TAL_ERR_TOPOLOGY);
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_velocity_map_create(matter, NULL, &map, NULL), TAL_OK);
    for (int i = 0; i < 7; ++i) {
        ck_assert_int_eq(tal_velocity_map_num_columns(map, (tal_body_ix){i + 1}), depths[i]);
    }
    int speed[3];
    ck_assert_int_eq(tal_velocity_map_columns(map, (tal_body_ix){5}, speed), TAL_OK);
    ck_assert_int_eq(speed[0], 0);
    ck_assert_int_eq(speed[1], 1);
    ck_assert_int_eq(speed[2], 4);
    ck_assert_int_eq(tal_velocity_map_num_columns(map, TAL_GROUND), 0);
    // nothing was computed yet
    double M[49];
    ck_assert_int_eq(tal_velocity_map_calc_M(map, tal_matrix_view(M, 7, 7)), TAL_ERR_STAGE);
    ck_assert_int_eq(tal_velocity_map_num_columns(map, (tal_body_ix){8}), -1);
    tal_velocity_map_destroy(map);
    ck_assert_int_eq(tal_velocity_map_create(NULL, NULL, &map, NULL), TAL_ERR_NULL);
    ck_assert_ptr_null(map);
    tal_velocity_map_destroy(NULL);
    tal_system_destroy(system);
}

END_TEST

// Frames along each other, and inertias about main axes: a free base turns about its own origin,
// and a slider has no moment, which are cases of their own. Numbers of size ten, some tens of
// roundings.
START_TEST(bodies_with_plain_frames_have_the_same_equations)
{
    tal_system *system = tal_system_create(NULL);
    tal_matter *matter = tal_matter_create(system);
    tal_mobod_def def = tal_mobod_def_default();
    def.mass = (tal_mass_props){.mass = 2.0, .inertia = tal_s3_diag(0.3, 0.5, 0.4)};
    def.X_PF.p = tal_v3(0.1, 0.2, 0.3);
    tal_body_ix last = tal_matter_add_free(matter, TAL_GROUND, &def);
    last = tal_matter_add_pin(matter, last, &def);
    last = tal_matter_add_slider(matter, last, &def);
    (void)tal_matter_add_pin(matter, last, &def);
    tal_state *state = NULL;
    tal_velocity_map *map = NULL;
    ck_assert_int_eq(tal_system_realize_topology(system, NULL), TAL_OK);
    ck_assert_int_eq(tal_state_create(system, &state, NULL), TAL_OK);
    ck_assert_int_eq(tal_velocity_map_create(matter, NULL, &map, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_MODEL), TAL_OK);
    for (int i = 0; i < 9; ++i) {
        tal_state_upd_u(state)[i] = 0.3 - 0.1 * i;
    }
    for (int i = 7; i < 10; ++i) {
        tal_state_upd_q(state)[i] = 0.2 * i - 1.0;
    }
    ck_assert_int_eq(tal_system_realize(system, state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_velocity_map_calc(map, state), TAL_OK);
    double M[81], tree[81], Q[9], needed[9], f[9] = {0.0};
    const tal_spatial_vec F[5] = {TAL_SPATIAL_VEC_ZERO};
    ck_assert_int_eq(tal_velocity_map_calc_M(map, tal_matrix_view(M, 9, 9)), TAL_OK);
    ck_assert_int_eq(tal_matter_calc_M(matter, state, tal_matrix_view(tree, 9, 9)), TAL_OK);
    ck_assert_int_eq(tal_velocity_map_calc_Q(map, F, f, Q), TAL_OK);
    ck_assert_int_eq(tal_matter_inverse_dynamics(matter, state, NULL, F, f, needed), TAL_OK);
    for (int i = 0; i < 81; ++i) {
        ck_assert_double_eq_tol(M[i], tree[i], 1e-13);
    }
    for (int i = 0; i < 9; ++i) {
        ck_assert_double_eq_tol(Q[i], -needed[i], 1e-13);
    }
    tal_velocity_map_destroy(map);
    tal_state_destroy(state);
    tal_system_destroy(system);
}

END_TEST

// --- threads ---

// All of M and Q as bytes.
static double *all_numbers(int threads, size_t *count)
{
    random_tree_def def = random_tree_def_default(77);
    def.num_bodies = 400;
    tal_threads *pool = NULL;
    ck_assert_int_eq(tal_threads_create(threads, &pool, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(pool);
    mapped m = begin_mapped(&def, threads > 1 ? &executor : NULL);
    *count = (size_t)m.nu * ((size_t)m.nu + 1);
    double *out = malloc(*count * sizeof *out);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(tal_velocity_map_calc_M(m.map, tal_matrix_view(out, m.nu, m.nu)), TAL_OK);
    ck_assert_int_eq(
        tal_velocity_map_calc_Q(m.map, m.tree.F, m.tree.f, out + (size_t)m.nu * (size_t)m.nu),
        TAL_OK);
    end_mapped(&m);
    tal_threads_destroy(pool);
    return out;
}

START_TEST(any_number_of_threads_gives_the_same_bits)
{
    size_t count = 0;
    double *alone = all_numbers(1, &count);
    for (int threads = 2; threads <= 5; ++threads) {
        double *shared = all_numbers(threads, &count);
        ck_assert_mem_eq(shared, alone, count * sizeof *alone);
        free(shared);
    }
    free(alone);
}

END_TEST

// --- articulated inertia in Cartesian form ---

// 6 x 6, angular first, row by row.
typedef struct dense {
    double a[6][6];
} dense;

static void get(tal_spatial_vec V, double out[6])
{
    const double v[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
    memcpy(out, v, sizeof v);
}

static tal_spatial_vec put(const double v[6])
{
    return tal_sv(tal_v3(v[0], v[1], v[2]), tal_v3(v[3], v[4], v[5]));
}

// Of a body about a point that its mass center is `arm` away from.
static dense inertia_about(const tal_sym3 *J, double mass, tal_vec3 arm)
{
    dense out;
    for (int j = 0; j < 6; ++j) {
        double unit[6] = {0.0}, column[6];
        unit[j] = 1.0;
        const tal_spatial_vec V = tal_sv_shift_motion(put(unit), arm);
        const tal_spatial_vec p = tal_sv(tal_s3_mul_v3(*J, V.w), tal_v3_scale(mass, V.v));
        get(tal_sv_shift_force(p, arm), column);
        for (int i = 0; i < 6; ++i) {
            out.a[i][j] = column[i];
        }
    }
    return out;
}

static void times(const dense *A, const double v[6], double out[6])
{
    for (int i = 0; i < 6; ++i) {
        out[i] = 0.0;
        for (int j = 0; j < 6; ++j) {
            out[i] += A->a[i][j] * v[j];
        }
    }
}

// What the recursion keeps of a body.
typedef struct joined {
    int parent, u0, nu;
    tal_vec3 point;           // where its velocity is taken
    dense M;                  // M^
    double Q[6], d[6];        // Q^, and what its acceleration has beside parent's and the joint's
    double b[6][6], Mb[6][6]; // columns of the joint, M^ times them
    double S[36], e[6];       // b^T M^ b, and b^T (Q^ - M^ d)
} joined;

static double dot6(const double a[6], const double b[6])
{
    double sum = 0.0;
    for (int i = 0; i < 6; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// What a link hands to its parent: M^ - M^ b (b^T M^ b)^-1 b^T M^ and Q^ likewise (GJB eq. 8.25 to
// 8.27), moved there (B = 1 where both are taken at the same point).
static void hand_inward(joined *it, joined *parent)
{
    dense M = it->M;
    double Q[6], Md[6], work[6];
    times(&it->M, it->d, Md);
    for (int i = 0; i < 6; ++i) {
        Q[i] = it->Q[i] - Md[i];
    }
    for (int k = 0; k < it->nu; ++k) {
        times(&it->M, it->b[k], it->Mb[k]);
        it->e[k] = dot6(it->b[k], Q);
    }
    for (int k = 0; k < it->nu; ++k) {
        for (int l = 0; l < it->nu; ++l) {
            it->S[k + it->nu * l] = dot6(it->b[k], it->Mb[l]);
        }
    }
    if (it->nu > 0) {
        const tal_matrix S = tal_matrix_view(it->S, it->nu, it->nu);
        ck_assert_int_eq(tal_chol_factor(S, NULL, NULL), TAL_OK);
        for (int j = 0; j <= 6; ++j) { // columns of M^, then Q^
            for (int k = 0; k < it->nu; ++k) {
                work[k] = j < 6 ? it->Mb[k][j] : it->e[k];
            }
            ck_assert_int_eq(tal_chol_solve(S, tal_matrix_view(work, it->nu, 1), NULL), TAL_OK);
            for (int i = 0; i < 6; ++i) {
                for (int k = 0; k < it->nu; ++k) {
                    if (j < 6) M.a[i][j] -= it->Mb[k][i] * work[k];
                    if (j == 6) Q[i] -= it->Mb[k][i] * work[k];
                }
            }
        }
    }
    if (parent == NULL) return;
    const tal_vec3 arm = tal_v3_sub(it->point, parent->point);
    double moved[6];
    get(tal_sv_shift_force(put(Q), arm), moved);
    for (int j = 0; j < 6; ++j) {
        double unit[6] = {0.0}, V[6], F[6], column[6];
        unit[j] = 1.0;
        get(tal_sv_shift_motion(put(unit), arm), V);
        times(&M, V, F);
        get(tal_sv_shift_force(put(F), arm), column);
        parent->Q[j] += moved[j];
        for (int i = 0; i < 6; ++i) {
            parent->M.a[i][j] += column[i];
        }
    }
}

// udot of a link from its parent's acceleration, and its own.
static void move_outward(joined *it, tal_spatial_vec A_parent, tal_vec3 parent_point, double udot[],
                         tal_spatial_vec *A)
{
    double a[6];
    get(tal_sv_shift_motion(A_parent, tal_v3_sub(it->point, parent_point)), a);
    for (int k = 0; k < it->nu; ++k) {
        udot[k] = it->e[k] - dot6(it->Mb[k], a);
    }
    if (it->nu > 0) {
        const tal_matrix S = tal_matrix_view(it->S, it->nu, it->nu);
        ck_assert_int_eq(tal_chol_solve(S, tal_matrix_view(udot, it->nu, 1), NULL), TAL_OK);
    }
    *A = tal_sv_add(put(a), put(it->d));
    for (int k = 0; k < it->nu; ++k) {
        *A = tal_sv_axpy(udot[k], put(it->b[k]), *A);
    }
}

// Where a body's velocity is taken: its mass center (GJB eq. 8.7 to 8.29), or Ground's origin, so
// that nothing is moved between bodies (Bae, Hwang and Haug).
static tal_vec3 point_of(const mapped *m, int b, bool at_origin)
{
    if (at_origin) return TAL_VEC3_ZERO;
    const tal_vec3 origin = tal_body_p_GB(m->tree.matter, m->tree.state, (tal_body_ix){b});
    return tal_v3_add(origin, com_arm(m, b));
}

static void read_link(const mapped *m, int b, bool at_origin, joined *links)
{
    const tal_matter *matter = m->tree.matter;
    const tal_state *state = m->tree.state;
    const tal_body_ix body = {b};
    joined *it = &links[b];
    it->parent = tal_body_parent(matter, body).i;
    it->u0 = tal_body_u_start(matter, body);
    it->nu = tal_body_nu(matter, body);
    it->point = point_of(m, b, at_origin);
    const tal_vec3 com = point_of(m, b, false), arm = tal_v3_sub(com, it->point);
    const tal_vec3 origin = tal_body_p_GB(matter, state, body);
    const tal_mass_props props = tal_body_mass_props(matter, state, body);
    const tal_sym3 shift = tal_s3_scale(props.mass, tal_s3_cross_square(props.com));
    const tal_mat3 R = tal_body_X_GB(matter, state, body).R;
    const tal_sym3 J = tal_s3_congruence(R, tal_s3_sub(props.inertia, shift));
    it->M = inertia_about(&J, props.mass, arm);

    // Sc where the velocity is taken; what the joint adds to the parent's, B = 1 of GJB eq. 8.11
    const tal_vec3 w = tal_body_V_GB(matter, state, body).w;
    const tal_spatial_vec Sc = tal_velocity_map_Sc(m->map, body);
    tal_spatial_vec from_parent = TAL_SPATIAL_VEC_ZERO;
    if (it->parent > 0) {
        from_parent = tal_velocity_map_Sc(m->map, (tal_body_ix){it->parent});
        from_parent =
            tal_sv_shift_motion(from_parent, tal_v3_sub(com, point_of(m, it->parent, false)));
    }
    get(tal_sv_shift_motion(tal_sv_sub(Sc, from_parent), tal_v3_sub(it->point, com)), it->d);
    const tal_vec3 gyro = tal_v3_neg(tal_v3_cross(w, tal_s3_mul_v3(J, w)));
    const tal_spatial_vec F = tal_sv_shift_force(m->tree.F[b], tal_v3_sub(origin, com));
    get(tal_sv_shift_force(tal_sv(tal_v3_add(F.w, gyro), F.v), arm), it->Q);
    tal_spatial_vec H[6];
    ck_assert_int_eq(tal_body_H(matter, state, body, TAL_H_PB_G, H), TAL_OK);
    for (int k = 0; k < it->nu; ++k) {
        get(tal_sv_shift_motion(H[k], tal_v3_sub(it->point, origin)), it->b[k]);
    }
}

// udot of the recursion against the tree's own, with Q^ of links and no forces along speeds. Both
// lose what the condition of M takes: at most 1e5 roundings for these trees.
START_TEST(articulated_inertias_about_any_point_give_the_accelerations)
{
    for (uint64_t seed = 100; seed < 120; ++seed) {
        random_tree_def def = random_tree_def_default(seed);
        def.free_base = seed % 2 == 0;
        mapped m = begin_mapped(&def, NULL);
        double *expected = room(m.nu), *udot = room(m.nu);
        ck_assert_int_eq(tal_matter_forward_dynamics(m.tree.matter, m.tree.state, m.tree.F, NULL,
                                                     expected, NULL),
                         TAL_OK);
        for (int way = 0; way < 2; ++way) {
            joined *links = calloc((size_t)m.num_bodies, sizeof *links);
            tal_spatial_vec *A = calloc((size_t)m.num_bodies, sizeof *A);
            for (int b = 1; b < m.num_bodies; ++b) {
                read_link(&m, b, way == 1, links);
            }
            for (int b = m.num_bodies - 1; b > 0; --b) {
                hand_inward(&links[b], links[b].parent > 0 ? &links[links[b].parent] : NULL);
            }
            for (int b = 1; b < m.num_bodies; ++b) {
                joined *it = &links[b];
                const tal_vec3 from = it->parent > 0 ? links[it->parent].point : TAL_VEC3_ZERO;
                move_outward(it, A[it->parent], from, udot + it->u0, &A[b]);
            }
            const double size = 1.0 + test_largest(expected, m.nu);
            for (int i = 0; i < m.nu; ++i) {
                ck_assert_double_eq_tol(udot[i], expected[i], 1e-10 * size);
            }
            free(links), free(A);
        }
        free(expected), free(udot);
        end_mapped(&m);
    }
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("velocity_map");
    TCase *all = tcase_create("all");
    tcase_add_test(all, columns_and_biases_are_those_of_the_tree);
    tcase_add_test(all, equations_of_motion_are_those_of_the_tree);
    tcase_add_test(all, bodies_with_plain_frames_have_the_same_equations);
    tcase_add_test(all, a_column_is_there_for_each_joint_on_the_way);
    tcase_add_test(all, any_number_of_threads_gives_the_same_bits);
    tcase_add_test(all, articulated_inertias_about_any_point_give_the_accelerations);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
