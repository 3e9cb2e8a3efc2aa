// Rows of contacts and constraints, in the order in which they are solved: first all groups that
// are too large to be solved exactly, then one small group after the other.
#include "pile/pile_internal.h"

#include <math.h>
#include <string.h>

// --- groups of trees ---

static int group_of(tal_contact_stepper *s, int tree)
{
    while (s->trees[tree].group != tree) {
        tree = s->trees[tree].group = s->trees[s->trees[tree].group].group;
    }
    return tree;
}

// The lower number stands for both.
static void join(tal_contact_stepper *s, int a, int b)
{
    if (a < 0 || b < 0) return;
    a = group_of(s, a);
    b = group_of(s, b);
    if (a < b) {
        s->trees[b].group = a;
    } else {
        s->trees[a].group = b;
    }
}

static int contact_group(tal_contact_stepper *s, const tali_pile_contact *c)
{
    return group_of(s, c->tree[0] >= 0 ? c->tree[0] : c->tree[1]);
}

// Constraints that hold positions or speeds, and the trees that each of them joins.
static tal_status find_bilateral(tal_contact_stepper *s, tal_state *state)
{
    const tal_constraint_rows rows = tal_matter_constraint_rows(s->matter, state);
    const int m = rows.mp + rows.mv + rows.ma;
    s->num_bilateral = 0;
    s->G_rows = m;
    if (m == 0) return TAL_OK;
    const tal_status st =
        tal_matter_calc_G(s->matter, state, TAL_G, tal_matrix_view(s->G, m, s->nu));
    if (st != TAL_OK) return TALI_FAIL(&s->error_record, st, "%s", tali_problem_reason(state, st));
    for (int r = 0; r < rows.mp + rows.mv; ++r) {
        int tree = -1;
        for (int t = 0; t < s->num_trees; ++t) {
            const int *u = s->tree_u + s->trees[t].first;
            for (int k = 0; k < s->trees[t].nu; ++k) {
                if (s->G[r + u[k] * m] == 0.0) continue;
                join(s, tree, t);
                tree = t;
                break;
            }
        }
        if (tree < 0) continue; // nothing moves it
        s->bilateral[s->num_bilateral++] = (tali_pile_bilateral){.G = r, .row = -1, .tree = tree};
    }
    return TAL_OK;
}

// --- order ---

// Contacts of large groups first, in their own order; then those of small ones, group by group.
static void sort_contacts(tal_contact_stepper *s)
{
    for (int t = 0; t < s->num_trees; ++t) {
        s->group_size[t] = 0;
    }
    for (int i = 0; i < s->num_contacts; ++i) {
        ++s->group_size[contact_group(s, &s->contacts[i])];
    }
    int count = 0;
    for (int i = 0; i < s->num_contacts; ++i) {
        if (s->group_size[contact_group(s, &s->contacts[i])] > s->def.most_exact) {
            s->order[count++] = i;
        }
    }
    s->num_iterated = count;
    for (int t = 0; t < s->num_trees; ++t) {
        const int size = s->group_size[t];
        s->group_at[t] = count;
        if (size <= s->def.most_exact) count += size;
    }
    for (int i = 0; i < s->num_contacts; ++i) {
        const int group = contact_group(s, &s->contacts[i]);
        if (s->group_size[group] <= s->def.most_exact) s->order[s->group_at[group]++] = i;
    }
}

// --- rows ---

// A direction at a point of a body, as a row over the speeds of its tree: six numbers each.
static void add_direction(const tal_contact_stepper *s, int body, tal_vec3 p, tal_vec3 d,
                          double sign, double row[])
{
    const tali_pile_tree *tree = &s->trees[s->tree_of[body]];
    const tal_vec3 turn = tal_v3_scale(sign, tal_v3_cross(tal_v3_sub(p, s->origin[body]), d));
    const tal_vec3 push = tal_v3_scale(sign, d);
    const double *J = s->J + s->J_of[body];
    for (int k = 0; k < tree->nu; ++k, J += 6) {
        row[k] += turn.x * J[0] + turn.y * J[1] + turn.z * J[2] + push.x * J[3] + push.y * J[4] +
                  push.z * J[5];
    }
}

// Speeds of a tree and K = M^-1 J^T for them, behind what the row has so far.
static int close_block(tal_contact_stepper *s, int t, int at)
{
    const tali_pile_tree *tree = &s->trees[t];
    const double *M_inv = s->M_inv + tree->M_inv, *J = s->row_J + at;
    double *K = s->row_K + at;
    const int n = tree->nu;
    memcpy(s->index + at, s->tree_u + tree->first, (size_t)n * sizeof *s->index);
    memset(K, 0, (size_t)n * sizeof *K);
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < n; ++i) {
            K[i] += M_inv[i + k * n] * J[k];
        }
    }
    return at + n;
}

static int begin_block(tal_contact_stepper *s, int t, int at)
{
    memset(s->row_J + at, 0, (size_t)s->trees[t].nu * sizeof *s->row_J);
    return at;
}

static void end_row(tal_contact_stepper *s, int at, double b)
{
    s->b[s->num_rows++] = b;
    s->start[s->num_rows] = at;
}

static void add_contact_row(tal_contact_stepper *s, const tali_pile_contact *c, tal_vec3 d,
                            double b)
{
    int at = s->start[s->num_rows];
    const int one = s->surfaces[c->pair[0]].body, two = s->surfaces[c->pair[1]].body;
    const bool is_one_tree = c->tree[0] == c->tree[1];
    if (c->tree[0] >= 0) {
        at = begin_block(s, c->tree[0], at);
        add_direction(s, one, c->p, d, 1.0, s->row_J + at);
        if (is_one_tree) add_direction(s, two, c->p, d, -1.0, s->row_J + at);
        at = close_block(s, c->tree[0], at);
    }
    if (c->tree[1] >= 0 && !is_one_tree) {
        at = begin_block(s, c->tree[1], at);
        add_direction(s, two, c->p, d, -1.0, s->row_J + at);
        at = close_block(s, c->tree[1], at);
    }
    end_row(s, at, b);
}

// The rows of the contact in this place of the order, numbered from `base` on for its solver.
static void add_contact(tal_contact_stepper *s, int place, int base, double h)
{
    tali_pile_contact *c = &s->contacts[s->order[place]];
    c->row = s->num_rows;
    s->pi[c->row] = fmax(tal_v3_dot(c->impulse, c->n), 0.0);
    add_contact_row(s, c, c->n, fmax(c->gap, 0.0) / h);
    if (c->num_tangents > 0) {
        s->pi[c->row + 1] = tal_v3_dot(c->impulse, c->t1);
        s->pi[c->row + 2] = tal_v3_dot(c->impulse, c->t2);
        add_contact_row(s, c, c->t1, 0.0);
        add_contact_row(s, c, c->t2, 0.0);
    }
    s->frictions[place] = (tal_friction_contact){.normal = c->row - base,
                                                 .tangent = c->row - base + 1,
                                                 .num_tangents = c->num_tangents,
                                                 .static_mu = c->mu,
                                                 .sliding_mu = c->mu,
                                                 .limit = c->limit};
}

// A row of G over the speeds of its trees. It keeps the speeds it has, which are right.
static void add_bilateral(tal_contact_stepper *s, tali_pile_bilateral *it, const double u0[])
{
    int at = s->start[s->num_rows];
    double b = 0.0;
    it->row = s->num_rows;
    for (int t = 0; t < s->num_trees; ++t) {
        const int n = s->trees[t].nu, *u = s->tree_u + s->trees[t].first;
        bool has_any = false;
        for (int k = 0; k < n; ++k) {
            s->row_J[at + k] = s->G[it->G + u[k] * s->G_rows];
            has_any = has_any || s->row_J[at + k] != 0.0;
            b -= s->row_J[at + k] * u0[u[k]];
        }
        if (has_any) at = close_block(s, t, at);
    }
    s->pi[s->num_rows] = 0.0;
    end_row(s, at, b);
}

static void add_bilaterals(tal_contact_stepper *s, int group, const double u0[])
{
    for (int i = 0; i < s->num_bilateral; ++i) {
        const int its = group_of(s, s->bilateral[i].tree);
        const bool is_large = s->group_size[its] > s->def.most_exact;
        if (group < 0 ? is_large : its == group) add_bilateral(s, &s->bilateral[i], u0);
    }
}

tal_status tali_pile_make_rows(tal_contact_stepper *s, tal_state *state, double h)
{
    for (int t = 0; t < s->num_trees; ++t) {
        s->trees[t].group = t;
    }
    const tal_status st = find_bilateral(s, state);
    if (st != TAL_OK) return st;
    for (int i = 0; i < s->num_contacts; ++i) {
        join(s, s->contacts[i].tree[0], s->contacts[i].tree[1]);
    }
    sort_contacts(s);
    const double *u0 = tal_state_u(state) + s->u0;
    s->num_rows = s->start[0] = s->num_groups = 0;
    for (int place = 0; place < s->num_iterated; ++place) {
        add_contact(s, place, 0, h);
    }
    add_bilaterals(s, -1, u0);
    s->num_iterated_rows = s->num_rows;
    for (int place = s->num_iterated; place < s->num_contacts;) {
        const int group = contact_group(s, &s->contacts[s->order[place]]);
        tali_pile_group *it = &s->groups[s->num_groups++];
        *it = (tali_pile_group){.first = place, .count = s->group_size[group], .row = s->num_rows};
        for (int k = 0; k < it->count; ++k) {
            add_contact(s, place++, it->row, h);
        }
        add_bilaterals(s, group, u0);
        it->num_rows = s->num_rows - it->row;
    }
    return TAL_OK;
}
