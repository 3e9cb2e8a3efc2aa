// matter/src/natural/: natural coordinates against the operators of the tree, counts of the book,
// and there and back.
#include "cube_links.h"
#include "sampler.h"
#include "talus_test.h"

#include <talus/common/threads.h>
#include <talus/matter/natural.h>

#include <stdlib.h>

typedef struct model {
    tal_system *system;
    tal_matter *matter;
    tal_state *state;
    tal_natural *natural;
    int nx, nc, nu;
} model;

static model begin_model(void)
{
    model m = {.system = tal_system_create(NULL)};
    m.matter = tal_matter_create(m.system);
    return m;
}

static void finish_model(model *m)
{
    tal_error err = {.status = TAL_OK};
    ck_assert_msg(tal_system_realize_topology(m->system, &err) == TAL_OK, "%s", err.message);
    ck_assert_int_eq(tal_state_create(m->system, &m->state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_msg(tal_natural_create(m->matter, m->state, &m->natural, &err) == TAL_OK, "%s",
                  err.message);
    m->nx = tal_natural_nx(m->natural);
    m->nc = tal_natural_nc(m->natural);
    m->nu = tal_matter_nu(m->matter);
}

static void end_model(model *m)
{
    tal_natural_destroy(m->natural);
    tal_state_destroy(m->state);
    tal_system_destroy(m->system);
}

static double *room(int n)
{
    double *out = calloc((size_t)n + 1, sizeof *out);
    ck_assert_ptr_nonnull(out);
    return out;
}

// Every mobilizer that is covered, forward or reversed, in a tree with a branch and a weld.
static model mixed_tree(test_rng *rng)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 14; ++i) {
        def.mass = test_random_mass_props(rng);
        def.X_PF = test_random_xform(rng);
        def.X_BM = test_random_xform(rng);
        def.direction = i % 3 == 1 ? TAL_REVERSE : TAL_FORWARD;
        const tal_body_ix parent = i == 7 ? (tal_body_ix){2} : last;
        switch (i) {
        case 0:
            last = tal_matter_add_free(m.matter, parent, &def);
            break;
        case 1:
            last = tal_matter_add_pin(m.matter, parent, &def);
            break;
        case 2:
            last = tal_matter_add_slider(m.matter, parent, &def);
            break;
        case 3:
            last = tal_matter_add_weld(m.matter, parent, &def);
            break;
        case 4:
            last = tal_matter_add_universal(m.matter, parent, &def);
            break;
        case 5:
            last = tal_matter_add_cylinder(m.matter, parent, &def);
            break;
        case 6:
            last = tal_matter_add_planar(m.matter, parent, &def);
            break;
        case 7:
            last = tal_matter_add_ball(m.matter, parent, &def);
            break;
        case 8:
            last = tal_matter_add_gimbal(m.matter, parent, &def);
            break;
        case 9:
            last = tal_matter_add_translation(m.matter, parent, &def);
            break;
        case 10:
            last = tal_matter_add_bushing(m.matter, parent, &def);
            break;
        case 11:
            last = tal_matter_add_universal(m.matter, parent, &def);
            break;
        case 12:
            last = tal_matter_add_weld(m.matter, TAL_GROUND, &def);
            break;
        default:
            last = tal_matter_add_slider(m.matter, last, &def);
        }
    }
    finish_model(&m);
    return m;
}

static void randomize(model *m, test_rng *rng)
{
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_MODEL), TAL_OK);
    for (int i = 0; i < tal_state_nq(m->state); ++i) {
        tal_state_upd_q(m->state)[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    for (int i = 0; i < m->nu; ++i) {
        tal_state_upd_u(m->state)[i] = test_random_uniform(rng, -1.0, 1.0);
    }
    (void)tal_matter_normalize_quaternions(m->matter, m->state);
    ck_assert_int_eq(tal_system_realize(m->system, m->state, TAL_STAGE_VELOCITY), TAL_OK);
}

// --- identities ---

// Of a tree: positions meet all conditions, and motions along u keep them, Phi_x R = 0 (GJB eq.
// 8.37). Errors: a few roundings of numbers up to 10, squared.
START_TEST(states_meet_all_conditions)
{
    test_rng rng = test_rng_seed(11);
    for (int k = 0; k < 5; ++k) {
        model m = mixed_tree(&rng);
        randomize(&m, &rng);
        double *x = room(m.nx), *xdot = room(m.nx), *phi = room(m.nc), *R = room(m.nx * m.nu);
        double *J = room(m.nc * m.nx);
        ck_assert_int_eq(tal_natural_read(m.natural, m.state, x, xdot), TAL_OK);
        ck_assert_int_eq(tal_natural_calc_phi(m.natural, x, phi), TAL_OK);
        ck_assert_double_lt(test_largest(phi, m.nc), 1e-11);
        const tal_matrix RR = tal_matrix_view(R, m.nx, m.nu);
        ck_assert_int_eq(tal_natural_calc_R(m.natural, m.state, RR), TAL_OK);
        const tal_matrix JJ = tal_matrix_view(J, m.nc, m.nx);
        ck_assert_int_eq(tal_natural_calc_phi_x(m.natural, x, JJ), TAL_OK);
        for (int i = 0; i < m.nc; ++i) {
            for (int j = 0; j < m.nu; ++j) {
                double sum = 0.0;
                for (int l = 0; l < m.nx; ++l) {
                    sum += J[i + l * m.nc] * R[l + j * m.nx];
                }
                ck_assert_double_lt(fabs(sum), 1e-11);
            }
        }
        // as many conditions as coordinates less speeds, none twice
        ck_assert_int_eq(m.nx - m.nc, m.nu);
        free(x), free(xdot), free(phi), free(R), free(J);
        end_model(&m);
    }
}

END_TEST

// R^T M R is the mass matrix of the tree, and R^T (Q - M Sc) = f - bias (GJB eq. 8.38).
START_TEST(equations_of_motion_are_those_of_the_tree)
{
    test_rng rng = test_rng_seed(12);
    for (int k = 0; k < 5; ++k) {
        model m = mixed_tree(&rng);
        randomize(&m, &rng);
        const int nx = m.nx, nu = m.nu;
        double *R = room(nx * nu), *M = room(nx * nx), *MR = room(nx * nu), *tree = room(nu * nu);
        double *Sc = room(nx), *Q = room(nx), *f = room(nu), *needed = room(nu);
        const int nb = tal_matter_num_bodies(m.matter);
        tal_spatial_vec *F = calloc((size_t)nb, sizeof *F);
        for (int b = 1; b < nb; ++b) {
            F[b].w = test_random_vec3(&rng);
            F[b].v = test_random_vec3(&rng);
        }
        for (int j = 0; j < nu; ++j) {
            f[j] = test_random_uniform(&rng, -1.0, 1.0);
        }
        ck_assert_int_eq(tal_natural_calc_R(m.natural, m.state, tal_matrix_view(R, nx, nu)),
                         TAL_OK);
        ck_assert_int_eq(tal_natural_calc_M(m.natural, tal_matrix_view(M, nx, nx)), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_M(m.matter, m.state, tal_matrix_view(tree, nu, nu)),
                         TAL_OK);
        ck_assert_int_eq(tal_natural_calc_acceleration(m.natural, m.state, NULL, Sc), TAL_OK);
        ck_assert_int_eq(tal_natural_calc_Q(m.natural, m.state, F, f, Q), TAL_OK);
        ck_assert_int_eq(tal_matter_inverse_dynamics(m.matter, m.state, NULL, F, f, needed),
                         TAL_OK);
        const double size = test_largest(tree, nu * nu);
        for (int j = 0; j < nu; ++j) {
            for (int i = 0; i < nx; ++i) {
                for (int l = 0; l < nx; ++l) {
                    MR[i + j * nx] += M[i + l * nx] * R[l + j * nx];
                }
            }
        }
        for (int j = 0; j < nu; ++j) {
            double along = 0.0;
            for (int l = 0; l < nx; ++l) {
                along += R[l + j * nx] * Q[l] - MR[l + j * nx] * Sc[l];
            }
            // the condition of R^T R, by which f is shared out, is some 1e3
            ck_assert_double_lt(fabs(along + needed[j]), 1e-10 * (1.0 + size));
            for (int i = 0; i < nu; ++i) {
                double sum = 0.0;
                for (int l = 0; l < nx; ++l) {
                    sum += R[l + i * nx] * MR[l + j * nx];
                }
                ck_assert_double_lt(fabs(sum - tree[i + j * nu]), 1e-12 * size);
            }
        }
        free(R), free(M), free(MR), free(tree), free(Sc), free(Q), free(f), free(needed), free(F);
        end_model(&m);
    }
}

END_TEST

// Phidotdot = Phi_x xdotdot + bias is zero along any motion of the tree.
START_TEST(accelerations_keep_the_conditions)
{
    test_rng rng = test_rng_seed(13);
    model m = mixed_tree(&rng);
    randomize(&m, &rng);
    double *x = room(m.nx), *xdot = room(m.nx), *a = room(m.nx), *bias = room(m.nc);
    double *J = room(m.nc * m.nx), *udot = room(m.nu);
    for (int j = 0; j < m.nu; ++j) {
        udot[j] = test_random_uniform(&rng, -1.0, 1.0);
    }
    ck_assert_int_eq(tal_natural_read(m.natural, m.state, x, xdot), TAL_OK);
    ck_assert_int_eq(tal_natural_calc_acceleration(m.natural, m.state, udot, a), TAL_OK);
    ck_assert_int_eq(tal_natural_calc_bias(m.natural, xdot, bias), TAL_OK);
    const tal_matrix JJ = tal_matrix_view(J, m.nc, m.nx);
    ck_assert_int_eq(tal_natural_calc_phi_x(m.natural, x, JJ), TAL_OK);
    for (int i = 0; i < m.nc; ++i) {
        double sum = bias[i];
        for (int l = 0; l < m.nx; ++l) {
            sum += J[i + l * m.nc] * a[l];
        }
        ck_assert_double_lt(fabs(sum), 1e-10);
    }
    free(x), free(xdot), free(a), free(bias), free(J), free(udot);
    end_model(&m);
}

END_TEST

// A State read and put into another is the same.
START_TEST(the_way_back_is_exact)
{
    test_rng rng = test_rng_seed(14);
    for (int k = 0; k < 5; ++k) {
        model m = mixed_tree(&rng);
        randomize(&m, &rng);
        double *x = room(m.nx), *xdot = room(m.nx), *y = room(m.nx), *ydot = room(m.nx);
        tal_state *other = NULL;
        ck_assert_int_eq(tal_state_create(m.system, &other, NULL), TAL_OK);
        ck_assert_int_eq(tal_system_realize(m.system, other, TAL_STAGE_INSTANCE), TAL_OK);
        ck_assert_int_eq(tal_natural_read(m.natural, m.state, x, xdot), TAL_OK);
        ck_assert_int_eq(tal_natural_put(m.natural, other, x, xdot), TAL_OK);
        ck_assert_int_eq(tal_natural_read(m.natural, other, y, ydot), TAL_OK);
        for (int i = 0; i < m.nx; ++i) {
            ck_assert_double_eq_tol(x[i], y[i], 1e-12);
            ck_assert_double_eq_tol(xdot[i], ydot[i], 1e-11);
        }
        for (int j = 0; j < m.nu; ++j) {
            ck_assert_double_eq_tol(tal_state_u(m.state)[j], tal_state_u(other)[j], 1e-11);
        }
        tal_state_destroy(other);
        free(x), free(xdot), free(y), free(ydot);
        end_model(&m);
    }
}

END_TEST

// Five slender rods along edges of a cube, open or closed.
static model cube_links(bool is_closed)
{
    model m = begin_model();
    cube_add_links(m.matter, LINK_ROD, is_closed);
    finish_model(&m);
    return m;
}

// --- element by element ---

// Random forces on bodies, about Bo.
static tal_spatial_vec *random_forces(const model *m, test_rng *rng)
{
    const int nb = tal_matter_num_bodies(m->matter);
    tal_spatial_vec *F = calloc((size_t)nb, sizeof *F);
    ck_assert_ptr_nonnull(F);
    for (int b = 1; b < nb; ++b) {
        F[b].w = test_random_vec3(rng);
        F[b].v = test_random_vec3(rng);
    }
    return F;
}

// R^T M R = M, and f + R^T (Q - M Sc) = f - bias (GJB eq. 8.38), summed from elements. A hundred
// roundings of numbers up to `size`, and of products of speeds with it.
START_TEST(elements_add_up_to_the_equations_of_the_tree)
{
    test_rng rng = test_rng_seed(31);
    for (int k = 0; k < 5; ++k) {
        model m = mixed_tree(&rng);
        randomize(&m, &rng);
        const int nu = m.nu;
        double *M = room(nu * nu), *tree = room(nu * nu), *f = room(nu), *Q = room(nu);
        double *needed = room(nu);
        tal_spatial_vec *F = random_forces(&m, &rng);
        for (int j = 0; j < nu; ++j) {
            f[j] = test_random_uniform(&rng, -1.0, 1.0);
        }
        tal_natural_map *map = NULL;
        ck_assert_int_eq(tal_natural_map_create(m.natural, NULL, &map, NULL), TAL_OK);
        ck_assert_int_eq(tal_natural_map_calc(map, m.state), TAL_OK);
        ck_assert_int_eq(tal_natural_map_calc_M(map, tal_matrix_view(M, nu, nu)), TAL_OK);
        ck_assert_int_eq(tal_natural_map_calc_Q(map, m.state, F, f, Q), TAL_OK);
        ck_assert_int_eq(tal_matter_calc_M(m.matter, m.state, tal_matrix_view(tree, nu, nu)),
                         TAL_OK);
        ck_assert_int_eq(tal_matter_inverse_dynamics(m.matter, m.state, NULL, F, f, needed),
                         TAL_OK);
        const double size = 1.0 + test_largest(tree, nu * nu);
        for (int j = 0; j < nu; ++j) {
            ck_assert_double_eq_tol(Q[j], -needed[j], 1e-12 * size);
            for (int i = 0; i < nu; ++i) {
                ck_assert_double_eq_tol(M[i + j * nu], tree[i + j * nu], 1e-13 * size);
            }
        }
        const tal_velocity_map_counts n = tal_natural_map_operations(map);
        ck_assert_int_gt(n.M.multiplications, n.R.multiplications);
        tal_natural_map_destroy(map);
        free(M), free(tree), free(f), free(Q), free(needed), free(F);
        end_model(&m);
    }
}

END_TEST

// The part of r that no column of G^T has, by least squares.
static double outside(double *GT, int nu, int nc, double *r)
{
    tal_cod cod;
    double *work = room((int)tal_cod_work_size(nu, nc)), *lambda = room(nc), *copy = room(nu * nc);
    int *iwork = calloc(tal_cod_iwork_size(nu, nc), sizeof *iwork);
    double *b = room(nu);
    memcpy(copy, GT, (size_t)nu * (size_t)nc * sizeof *copy);
    memcpy(b, r, (size_t)nu * sizeof *b);
    ck_assert_int_eq(tal_cod_factor(&cod, tal_matrix_view(copy, nu, nc), 1e-10, work, iwork, NULL),
                     TAL_OK);
    ck_assert_int_eq(
        tal_cod_solve(&cod, tal_matrix_view(b, nu, 1), tal_matrix_view(lambda, nc, 1), NULL),
        TAL_OK);
    for (int k = 0; k < nc; ++k) {
        for (int j = 0; j < nu; ++j) {
            r[j] -= GT[j + k * nu] * lambda[k];
        }
    }
    const double worst = test_largest(r, nu);
    free(work), free(lambda), free(copy), free(iwork), free(b);
    return worst;
}

// GJB eq. 8.114 holds for Talus's own accelerations of Bricard's linkage: G udot = c, and what M
// udot lacks of Q is a force of conditions.
START_TEST(an_opened_loop_has_the_accelerations_of_the_closed_one)
{
    model m = cube_links(true);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_MODEL), TAL_OK);
    const double u[5] = {0.3, -0.2, 0.5, 0.1, -0.4};
    ck_assert_int_eq(tal_state_set_u(m.state, u, 5), TAL_OK);
    tal_project_options options = tal_project_options_default();
    options.tolerance = 1e-14;
    ck_assert_int_eq(tal_system_prescribe_and_project(m.system, m.state, &options, NULL), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_ACCELERATION), TAL_OK);
    const double *udot = tal_state_udot(m.state);
    double *M = room(25), *G = room(m.nc * 5), *GT = room(m.nc * 5), *c = room(m.nc), Q[5];
    const double f[5] = {0.0};
    const tal_spatial_vec F[6] = {TAL_SPATIAL_VEC_ZERO};
    tal_natural_map *map = NULL;
    ck_assert_int_eq(tal_natural_map_create(m.natural, NULL, &map, NULL), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc(map, m.state), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc_M(map, tal_matrix_view(M, 5, 5)), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc_Q(map, m.state, F, f, Q), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc_closure(map, tal_matrix_view(G, m.nc, 5), c), TAL_OK);
    double largest = 0.0;
    for (int k = 0; k < m.nc; ++k) {
        double sum = -c[k];
        for (int j = 0; j < 5; ++j) {
            sum += G[k + j * m.nc] * udot[j];
            GT[j + k * 5] = G[k + j * m.nc];
            largest = fmax(largest, fabs(G[k + j * m.nc]));
        }
        ck_assert_double_lt(fabs(sum), 1e-12);
    }
    ck_assert_double_gt(largest, 0.1);
    for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) {
            Q[i] -= M[i + 5 * j] * udot[j];
        }
    }
    ck_assert_double_gt(test_largest(Q, 5), 1e-3); // the loop does push
    ck_assert_double_lt(outside(GT, 5, m.nc, Q), 1e-12);
    tal_natural_map_destroy(map);
    free(M), free(G), free(GT), free(c);
    end_model(&m);
}

END_TEST

// M and Q of a chain of 80 pins, as bytes: 3240 columns.
static double *numbers_of_chain(int threads, int *count)
{
    test_rng rng = test_rng_seed(32);
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    tal_body_ix last = TAL_GROUND;
    for (int i = 0; i < 80; ++i) {
        def.mass = test_random_mass_props(&rng);
        def.X_PF = test_random_xform(&rng);
        last = tal_matter_add_pin(m.matter, last, &def);
    }
    finish_model(&m);
    randomize(&m, &rng);
    tal_threads *pool = NULL;
    ck_assert_int_eq(tal_threads_create(threads, &pool, NULL), TAL_OK);
    const tal_executor executor = tal_threads_executor(pool);
    tal_natural_map *map = NULL;
    ck_assert_int_eq(tal_natural_map_create(m.natural, threads > 1 ? &executor : NULL, &map, NULL),
                     TAL_OK);
    double *f = room(80), *out = room(80 * 81);
    tal_spatial_vec *F = random_forces(&m, &rng);
    *count = 80 * 81;
    ck_assert_int_eq(tal_natural_map_calc(map, m.state), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc_M(map, tal_matrix_view(out, 80, 80)), TAL_OK);
    ck_assert_int_eq(tal_natural_map_calc_Q(map, m.state, F, f, out + 80 * 80), TAL_OK);
    tal_natural_map_destroy(map);
    tal_threads_destroy(pool);
    free(F), free(f);
    end_model(&m);
    return out;
}

START_TEST(any_number_of_threads_gives_the_same_bits)
{
    int count = 0;
    double *alone = numbers_of_chain(1, &count);
    for (int threads = 2; threads <= 4; ++threads) {
        double *shared = numbers_of_chain(threads, &count);
        ck_assert_mem_eq(shared, alone, (size_t)count * sizeof *alone);
        free(shared);
    }
    free(alone);
}

END_TEST

// --- counts ---

// The book has 30 coordinates and 25 conditions for the chain, 24 and 24 with rank 23 for the loop.
START_TEST(counts_are_those_of_the_book)
{
    model open = cube_links(false), closed = cube_links(true);
    ck_assert_int_eq(open.nx, 30);
    ck_assert_int_eq(open.nc, 25);
    ck_assert_int_eq(closed.nx, 24);
    ck_assert_int_eq(closed.nc, 24);
    double *x = room(24), *xdot = room(24), *J = room(24 * 24);
    ck_assert_int_eq(tal_system_realize(closed.system, closed.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_natural_read(closed.natural, closed.state, x, xdot), TAL_OK);
    const tal_matrix JJ = tal_matrix_view(J, 24, 24);
    ck_assert_int_eq(tal_natural_calc_phi_x(closed.natural, x, JJ), TAL_OK);
    tal_cod cod;
    double *work = room((int)tal_cod_work_size(24, 24));
    int *iwork = calloc(tal_cod_iwork_size(24, 24), sizeof *iwork);
    ck_assert_int_eq(tal_cod_factor(&cod, JJ, -1.0, work, iwork, NULL), TAL_OK);
    ck_assert_int_eq(cod.rank, 23);
    free(x), free(xdot), free(J), free(work), free(iwork);
    end_model(&open);
    end_model(&closed);
}

END_TEST

// --- bad input ---

START_TEST(what_is_not_covered_is_named)
{
    model m = begin_model();
    tal_mobod_def def = tal_mobod_def_default();
    def.mass.mass = 1.0;
    def.name = "nut";
    (void)tal_matter_add_screw(m.matter, TAL_GROUND, &def, 0.1);
    tal_error err = {.status = TAL_OK};
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, &err), TAL_OK);
    ck_assert_int_eq(tal_natural_create(m.matter, m.state, &m.natural, &err), TAL_ERR_STAGE);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_natural_create(m.matter, m.state, &m.natural, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "'nut' (screw)") != NULL, "%s", err.message);
    ck_assert_int_eq(tal_natural_create(NULL, m.state, &m.natural, &err), TAL_ERR_NULL);
    tal_natural_destroy(NULL);
    end_model(&m);

    m = begin_model();
    const tal_body_ix a = tal_matter_add_slider(m.matter, TAL_GROUND, &def);
    tal_constraint_def tie = tal_constraint_on(a, 0);
    tie.name = "hold";
    (void)tal_constraint_add_constant_speed(m.matter, &tie, 0.0);
    ck_assert_int_eq(tal_system_realize_topology(m.system, &err), TAL_OK);
    ck_assert_int_eq(tal_state_create(m.system, &m.state, &err), TAL_OK);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_natural_create(m.matter, m.state, &m.natural, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "'hold' (constant speed)") != NULL, "%s", err.message);
    (void)tal_body_lock(m.matter, m.state, a, TAL_LEVEL_POSITION);
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_INSTANCE), TAL_OK);
    ck_assert_int_eq(tal_natural_create(m.matter, m.state, &m.natural, &err), TAL_ERR_BAD_VALUE);
    ck_assert_msg(strstr(err.message, "locks") != NULL, "%s", err.message);
    end_model(&m);
}

END_TEST

// --- accelerations with the whole matrix ---

// xdotdot by a way, at rest or in motion, with forces on bodies about Bo.
static void solve(const model *m, const tal_natural_solver_def *def, const tal_spatial_vec F[],
                  double xdotdot[], int *rank)
{
    double *x = room(m->nx), *xdot = room(m->nx), *Q = room(m->nx), *f = room(m->nu);
    tal_natural_solver *solver = NULL;
    ck_assert_int_eq(tal_natural_solver_create(m->natural, def, &solver, NULL), TAL_OK);
    ck_assert_int_eq(tal_natural_read(m->natural, m->state, x, xdot), TAL_OK);
    ck_assert_int_eq(tal_natural_calc_Q(m->natural, m->state, F, f, Q), TAL_OK);
    ck_assert_int_eq(tal_natural_solver_solve(solver, x, xdot, Q, xdotdot), TAL_OK);
    *rank = tal_natural_solver_rank(solver);
    tal_natural_solver_destroy(solver);
    free(x), free(xdot), free(Q), free(f);
}

static tal_natural_solver_def way(tal_natural_way kind, double alpha)
{
    tal_natural_solver_def def = tal_natural_solver_def_default();
    def.way = kind;
    def.alpha = alpha;
    return def;
}

// To 1e-9 of the largest: M of these trees has a condition of up to 1e4, the pivots of the
// conditions one of some hundred.
START_TEST(a_basis_of_what_conditions_allow_gives_the_accelerations_of_the_tree)
{
    test_rng rng = test_rng_seed(15);
    for (int k = 0; k < 5; ++k) {
        model m = mixed_tree(&rng);
        randomize(&m, &rng);
        tal_spatial_vec F[20] = {TAL_SPATIAL_VEC_ZERO};
        for (int b = 1; b < tal_matter_num_bodies(m.matter); ++b) {
            F[b].w = test_random_vec3(&rng);
            F[b].v = test_random_vec3(&rng);
        }
        double *udot = room(m.nu), *expected = room(m.nx), *found = room(m.nx);
        int rank = 0;
        ck_assert_int_eq(tal_matter_forward_dynamics(m.matter, m.state, F, NULL, udot, NULL),
                         TAL_OK);
        ck_assert_int_eq(tal_natural_calc_acceleration(m.natural, m.state, udot, expected), TAL_OK);
        const tal_natural_solver_def def = way(TAL_NATURAL_MATRIX_R, 1e7);
        solve(&m, &def, F, found, &rank);
        ck_assert_int_eq(rank, m.nx - m.nu);
        const double size = test_largest(expected, m.nx);
        for (int i = 0; i < m.nx; ++i) {
            ck_assert_double_eq_tol(found[i], expected[i], 1e-9 * size);
        }
        free(udot), free(expected), free(found);
        end_model(&m);
    }
}

END_TEST

// The acceleration of P3 in gravity, from rest.
static tal_vec3 fall_of_P3(const model *m, const tal_natural_solver_def *def, int *rank)
{
    tal_spatial_vec F[6] = {TAL_SPATIAL_VEC_ZERO}, A[6];
    for (int b = 1; b <= 5; ++b) {
        const tal_vec3 weight = tal_v3(0.0, -9.81, 0.0);
        const tal_vec3 com = tal_body_mass_props(m->matter, m->state, (tal_body_ix){b}).com;
        F[b] = tal_sv(tal_v3_cross(com, weight), weight);
    }
    double *x = room(m->nx), *xdot = room(m->nx), *xdotdot = room(m->nx), udot[5];
    solve(m, def, F, xdotdot, rank);
    ck_assert_int_eq(tal_natural_read(m->natural, m->state, x, xdot), TAL_OK);
    ck_assert_int_eq(tal_natural_read_udot(m->natural, m->state, x, xdotdot, udot), TAL_OK);
    ck_assert_int_eq(tal_matter_mul_J(m->matter, m->state, udot, A), TAL_OK);
    free(x), free(xdot), free(xdotdot);
    return tal_sv_shift_motion(A[3], cube_points[2]).v; // bodies have Ground's frame here
}

static void check_fall(tal_vec3 a, tal_vec3 expected, double tolerance)
{
    ck_assert_msg(tal_v3_norm(tal_v3_sub(a, expected)) < tolerance, "%.10g %.10g %.10g", a.x, a.y,
                  a.z);
}

// Another program's accelerations of rods along a cube, to the ten digits it gives. What a penalty
// leaves is of first order in 1 / alpha; round-off, 1e-16 alpha times the condition of M, some 1e3,
// is a thousandth of that for the penalties here. The closed chain has 24 conditions of rank 23.
START_TEST(penalties_come_near_the_basis_as_they_grow)
{
    static const tal_vec3 expected[2] = {{0.0547352107, 0.0, 0.168416033}, {-1.962, 0.0, -1.962}};
    for (int k = 0; k < 2; ++k) {
        model m = begin_model();
        cube_add_links(m.matter, LINK_ROD, k == 1);
        finish_model(&m);
        ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
        int rank = 0;
        const tal_natural_solver_def basis = way(TAL_NATURAL_MATRIX_R, 1e7);
        const tal_vec3 exact = fall_of_P3(&m, &basis, &rank);
        check_fall(exact, expected[k], 1e-9);
        ck_assert_int_eq(rank, k == 1 ? 23 : 25);
        double error[2];
        for (int i = 0; i < 2; ++i) {
            const tal_natural_solver_def soft = way(TAL_NATURAL_PENALTY, i == 0 ? 1e4 : 1e5);
            error[i] = tal_v3_norm(tal_v3_sub(fall_of_P3(&m, &soft, &rank), exact));
            ck_assert_int_eq(rank, -1);
        }
        ck_assert_msg(error[1] < 1e-4 && fabs(error[0] / error[1] / 10.0 - 1.0) < 1e-2, "%g %g",
                      error[0], error[1]);
        end_model(&m);
    }
}

END_TEST

// Off the conditions, accelerations meet Phidotdot + 2 Omega mu Phidot + Omega^2 Phi = 0, but for
// forces over alpha: some 1e2 over 1e9.
START_TEST(a_penalty_lets_errors_of_conditions_fade)
{
    model m = begin_model();
    cube_add_links(m.matter, LINK_ROD, true);
    finish_model(&m);
    tal_natural_solver_def def = way(TAL_NATURAL_PENALTY, 1e9);
    def.omega = 3.0;
    def.mu = 0.7;
    tal_natural_solver *solver = NULL;
    ck_assert_int_eq(tal_system_realize(m.system, m.state, TAL_STAGE_VELOCITY), TAL_OK);
    ck_assert_int_eq(tal_natural_solver_create(m.natural, &def, &solver, NULL), TAL_OK);
    double *x = room(m.nx), *xdot = room(m.nx), *Q = room(m.nx), *a = room(m.nx);
    double *phi = room(m.nc), *bias = room(m.nc), *J = room(m.nc * m.nx);
    ck_assert_int_eq(tal_natural_read(m.natural, m.state, x, xdot), TAL_OK);
    for (int i = 0; i < m.nx; ++i) {
        x[i] += 1e-3 * (i % 7);
        xdot[i] += 1e-2 * (i % 5);
    }
    ck_assert_int_eq(tal_natural_solver_solve(solver, x, xdot, Q, a), TAL_OK);
    const tal_matrix slopes = tal_matrix_view(J, m.nc, m.nx);
    ck_assert_int_eq(tal_natural_calc_phi(m.natural, x, phi), TAL_OK);
    ck_assert_int_eq(tal_natural_calc_bias(m.natural, xdot, bias), TAL_OK);
    ck_assert_int_eq(tal_natural_calc_phi_x(m.natural, x, slopes), TAL_OK);
    // the redundant rows cannot all be met: what is left is orthogonal to what x can change
    double sums[64] = {0.0};
    ck_assert_int_le(m.nc, 64);
    for (int k = 0; k < m.nc; ++k) {
        sums[k] = bias[k] + 9.0 * phi[k];
        for (int i = 0; i < m.nx; ++i) {
            sums[k] += J[k + m.nc * i] * (a[i] + 2.0 * 3.0 * 0.7 * xdot[i]);
        }
    }
    for (int i = 0; i < m.nx; ++i) {
        double along = 0.0;
        for (int k = 0; k < m.nc; ++k) {
            along += J[k + m.nc * i] * sums[k];
        }
        ck_assert_double_lt(fabs(along), 1e-6);
    }
    tal_natural_solver_destroy(solver);
    free(x), free(xdot), free(Q), free(a), free(phi), free(bias), free(J);
    end_model(&m);
}

END_TEST

START_TEST(definitions_of_solvers_are_checked)
{
    model m = begin_model();
    cube_add_links(m.matter, LINK_ROD, false);
    finish_model(&m);
    tal_natural_solver *solver = NULL;
    tal_error err = {.status = TAL_OK};
    tal_natural_solver_def def = way(TAL_NATURAL_PENALTY, 0.0);
    ck_assert_int_eq(tal_natural_solver_create(m.natural, &def, &solver, &err), TAL_ERR_BAD_VALUE);
    ck_assert_ptr_nonnull(strstr(err.message, "alpha is 0"));
    def = way((tal_natural_way)7, 1e7);
    ck_assert_int_eq(tal_natural_solver_create(m.natural, &def, &solver, &err), TAL_ERR_BAD_VALUE);
    def = way(TAL_NATURAL_MATRIX_R, 1e7);
    def.rank = (double)NAN;
    ck_assert_int_eq(tal_natural_solver_create(m.natural, &def, &solver, &err), TAL_ERR_BAD_VALUE);
    def = tal_natural_solver_def_default();
    def.omega = -1.0;
    ck_assert_int_eq(tal_natural_solver_create(m.natural, &def, &solver, &err), TAL_ERR_BAD_VALUE);
    ck_assert_int_eq(tal_natural_solver_create(NULL, NULL, &solver, &err), TAL_ERR_NULL);
    ck_assert_ptr_null(solver);
    tal_natural_solver_destroy(NULL);
    end_model(&m);
}

END_TEST

int main(void)
{
    test_record_breaches();
    Suite *suite = suite_create("natural");
    TCase *all = tcase_create("all");
    tcase_add_test(all, states_meet_all_conditions);
    tcase_add_test(all, equations_of_motion_are_those_of_the_tree);
    tcase_add_test(all, accelerations_keep_the_conditions);
    tcase_add_test(all, the_way_back_is_exact);
    tcase_add_test(all, elements_add_up_to_the_equations_of_the_tree);
    tcase_add_test(all, an_opened_loop_has_the_accelerations_of_the_closed_one);
    tcase_add_test(all, any_number_of_threads_gives_the_same_bits);
    tcase_add_test(all, counts_are_those_of_the_book);
    tcase_add_test(all, what_is_not_covered_is_named);
    tcase_add_test(all, a_basis_of_what_conditions_allow_gives_the_accelerations_of_the_tree);
    tcase_add_test(all, penalties_come_near_the_basis_as_they_grow);
    tcase_add_test(all, a_penalty_lets_errors_of_conditions_fade);
    tcase_add_test(all, definitions_of_solvers_are_checked);
    suite_add_tcase(suite, all);
    return test_run(suite);
}
