// A double helix of eight base pairs from rigid nucleotides: each is one body with a backbone site
// and a base site. What holds them together are potentials of our own, which also depend on how the
// bodies are turned:
//
//     backbone   FENE springs between neighbors of a strand
//     stacking   Morse in the distance of neighboring bases, times ((1 + n1 . n2)/2)^2
//     pairing    Morse in the distance of two bases that face each other, times ((1 - a1 . a2)/2)^2
//
// with n the normal of a base and a its direction, from the backbone to the base. The helix of DNA,
// 0.34 nm and 34.3 degrees for each pair, has the least energy of all. It stays together at 300 K,
// and falls apart where it is much too hot. Constants are of our own; the forms are those of oxDNA.
#include <talus/talus.h>

#include <math.h>
#include <stdio.h>

enum {
    PAIRS = 8,
    BASES = 2 * PAIRS,
    PER_BASE = 3, // sites of a nucleotide: backbone, base, a mark on its normal
    ATOMS = BASES * PER_BASE,
    STACKS = BASES - 2
};

static const double RISE = 0.34, TWIST = 34.3;         // nm, degrees
static const double BACKBONE_AT = 0.9, BASE_AT = 0.25; // nm from the axis
static const double STACKING = 30.0, PAIRING = 25.0;   // kJ/mol: depths

// A Morse potential at r, and its slope.
static double morse(double depth, double width, double r0, double r, double *slope)
{
    const double e = exp(-(r - r0) / width);
    *slope = 2.0 * depth * e * (1.0 - e) / width;
    return depth * ((1.0 - e) * (1.0 - e) - 1.0);
}

// params: stiffness, extension at which the spring breaks, length at rest.
static tal_status backbone(const void *self, const tal_mol_site sites[], const double params[],
                           tal_mol_response *out)
{
    (void)self;
    const tal_vec3 d = tal_v3_sub(sites[0].x, sites[1].x);
    const double r = tal_v3_norm(d), x = (r - params[2]) / params[1];
    if (!(x * x < 1.0)) return TAL_ERR_BAD_VALUE;
    out->energy = -0.5 * params[0] * params[1] * params[1] * log(1.0 - x * x);
    out->f[0] = tal_v3_scale(-params[0] * params[1] * x / (1.0 - x * x) / r, d);
    out->f[1] = tal_v3_neg(out->f[0]);
    return TAL_OK;
}

// Morse in the distance of two sites, times ((1 + sign a . b)/2)^2 for an axis of each body.
static void turn(const tal_mol_site sites[], tal_vec3 a, tal_vec3 b, double sign,
                 const double params[], tal_mol_response *out)
{
    const tal_vec3 d = tal_v3_sub(sites[0].x, sites[1].x);
    const double r = tal_v3_norm(d), c = 0.5 * (1.0 + sign * tal_v3_dot(a, b));
    double slope;
    const double radial = morse(params[0], params[1], params[2], r, &slope);
    out->energy = radial * c * c;
    out->f[0] = tal_v3_scale(-slope * c * c / r, d);
    out->f[1] = tal_v3_neg(out->f[0]);
    // a changes by w x a when its body turns: the torque is -dE/da x a, turned around
    out->t[0] = tal_v3_scale(-radial * c * sign, tal_v3_cross(a, b));
    out->t[1] = tal_v3_neg(out->t[0]);
}

static tal_status stacking(const void *self, const tal_mol_site sites[], const double params[],
                           tal_mol_response *out)
{
    (void)self;
    turn(sites, sites[0].R.z, sites[1].R.z, 1.0, params, out);
    return TAL_OK;
}

// The direction of a base in its body at the beginning is a parameter: cosine and sine.
static tal_status pairing(const void *self, const tal_mol_site sites[], const double params[],
                          tal_mol_response *out)
{
    (void)self;
    const tal_vec3 local = tal_v3(params[3], params[4], 0.0);
    const tal_vec3 a = tal_m3_mul_v3(sites[0].R, local), b = tal_m3_mul_v3(sites[1].R, local);
    turn(sites, a, tal_v3_neg(b), -1.0, params, out);
    return TAL_OK;
}

// ---- the molecule

// Base `i`: of the first strand upwards, then of the second one downwards.
static int level_of(int i)
{
    return i < PAIRS ? i : BASES - 1 - i;
}

static void build_helix(tal_vec3 x[ATOMS])
{
    for (int i = 0; i < BASES; ++i) {
        const double angle = level_of(i) * TWIST * TAL_MOL_DEGREE + (i < PAIRS ? 0.0 : TAL_PI);
        const tal_vec3 out = tal_v3(cos(angle), sin(angle), 0.0);
        const tal_vec3 up = tal_v3(0.0, 0.0, RISE * level_of(i));
        tal_vec3 *at = x + PER_BASE * i;
        at[0] = tal_v3_add(up, tal_v3_scale(BACKBONE_AT, out));
        at[1] = tal_v3_add(up, tal_v3_scale(BASE_AT, out));
        at[2] = tal_v3_add(at[1], tal_v3(-0.1 * sin(angle), 0.1 * cos(angle), 0.05));
    }
}

static tal_mol *make_duplex(const tal_ff *ff, const tal_vec3 x[ATOMS])
{
    const tal_mol_def def = {.only_added = true};
    tal_error err;
    tal_mol *mol = NULL;
    if (tal_mol_create(ff, &def, NULL, &mol, &err) != TAL_OK) return NULL;
    for (int i = 0; i < ATOMS; ++i) {
        (void)tal_mol_add_atom(mol, 0, i % PER_BASE == 0 ? "P" : "B", i / PER_BASE + 1,
                               i < ATOMS / 2 ? "A" : "B");
        if (i % PER_BASE > 0) (void)tal_mol_add_bond(mol, i - 1, i, 1);
    }
    (void)tal_mol_set_positions(mol, x, ATOMS);
    return tal_mol_freeze(mol, &err) == TAL_OK ? mol : NULL;
}

static double distance(const tal_vec3 x[], int a, int b)
{
    return tal_v3_norm(tal_v3_sub(x[a], x[b]));
}

// Terms between neighbors of both strands, of all of which the helix has the distances at rest.
static void add_strands(tal_forces *forces, const tal_mol_instance *dna, const tal_vec3 x[ATOMS])
{
    const tal_mol_custom_ops chain = {.size = sizeof chain,
                                      .kind = "backbone",
                                      .num_sites = 2,
                                      .num_params = 3,
                                      .eval = backbone};
    const tal_mol_custom_ops stack = {.size = sizeof stack,
                                      .kind = "stacking",
                                      .num_sites = 2,
                                      .num_params = 3,
                                      .eval = stacking};
    int links[2 * STACKS], bases[2 * STACKS];
    double springs[3 * STACKS], depths[3 * STACKS];
    for (int i = 0, n = 0; i + 1 < BASES; ++i) {
        if (i == PAIRS - 1) continue; // the end of the first strand
        const int a = PER_BASE * i, b = a + PER_BASE;
        links[2 * n] = a;
        links[2 * n + 1] = b;
        bases[2 * n] = a + 1;
        bases[2 * n + 1] = b + 1;
        const double spring[] = {800.0, 0.3, distance(x, a, b)};
        const double depth[] = {STACKING, 0.1, distance(x, a + 1, b + 1)};
        for (int k = 0; k < 3; ++k) {
            springs[3 * n + k] = spring[k];
            depths[3 * n + k] = depth[k];
        }
        ++n;
    }
    (void)tal_mol_add_terms(forces, dna, "backbone", &chain, NULL, STACKS, links, springs);
    (void)tal_mol_add_terms(forces, dna, "stacking", &stack, NULL, STACKS, bases, depths);
}

// Each base with the one that faces it.
static void add_pairs(tal_forces *forces, const tal_mol_instance *dna, const tal_vec3 x[ATOMS])
{
    const tal_mol_custom_ops ops = {
        .size = sizeof ops, .kind = "pairing", .num_sites = 2, .num_params = 5, .eval = pairing};
    int bases[2 * PAIRS];
    double params[5 * PAIRS];
    for (int i = 0; i < PAIRS; ++i) {
        const double angle = i * TWIST * TAL_MOL_DEGREE;
        const int a = PER_BASE * i + 1, b = PER_BASE * (BASES - 1 - i) + 1;
        const double depth[] = {PAIRING, 0.06, distance(x, a, b), cos(angle), sin(angle)};
        bases[2 * i] = a;
        bases[2 * i + 1] = b;
        for (int k = 0; k < 5; ++k) {
            params[5 * i + k] = depth[k];
        }
    }
    (void)tal_mol_add_terms(forces, dna, "pairing", &ops, NULL, PAIRS, bases, params);
}

// ---- what happens to it

typedef struct scene {
    tal_system *system;
    tal_state *state;
    const tal_mol_instance *dna;
} scene;

static int count_pairs(const scene *s)
{
    tal_vec3 x[ATOMS];
    int found = 0;
    if (tal_mol_calc_positions(s->dna, s->state, x, ATOMS) != TAL_OK) return -1;
    for (int i = 0; i < PAIRS; ++i) {
        const double r = distance(x, PER_BASE * i + 1, PER_BASE * (BASES - 1 - i) + 1);
        if (fabs(r - 2.0 * BASE_AT) < 0.2) ++found;
    }
    return found;
}

// A run at a temperature, from where the State is; how much the conserved quantity changes.
static tal_status run(const scene *s, tal_md_bath bath, double kelvin, int steps, double *change)
{
    tal_md *md = NULL;
    tal_error err;
    tal_md_def def = tal_md_def_default();
    def.bath = bath;
    def.step = 0.005; // ps
    def.kT = TAL_MOL_R * kelvin;
    def.friction = 5.0; // 1/ps
    tal_status st = tal_system_realize(s->system, s->state, TAL_STAGE_POSITION);
    if (st == TAL_OK) st = tal_mol_set_random_velocities(s->dna, s->state, kelvin, 11);
    if (st == TAL_OK) st = tal_md_create(s->system, &def, &md, &err);
    if (st == TAL_OK) {
        const double before = tal_md_report_of(md, s->state).conserved;
        st = tal_md_run(md, s->state, steps);
        *change = fabs(tal_md_report_of(md, s->state).conserved - before);
    }
    tal_md_destroy(md);
    return st;
}

static tal_status show(const scene *s)
{
    double change = 0.0;
    tal_status st = tal_system_realize(s->system, s->state, TAL_STAGE_DYNAMICS);
    if (st != TAL_OK) return st;
    printf("a helix of %d pairs: %.1f kJ/mol\n", count_pairs(s),
           tal_system_potential_energy(s->system, s->state));
    st = run(s, TAL_MD_ISOLATED, 300.0, 1000, &change);
    if (st != TAL_OK) return st;
    printf("alone, for 5 ps: energy is kept to 0.1 kJ/mol: %s\n", change < 0.1 ? "yes" : "no");
    st = run(s, TAL_MD_LANGEVIN, 300.0, 2000, &change);
    if (st != TAL_OK) return st;
    printf("at 300 K, for 10 ps: all pairs are there: %s\n",
           count_pairs(s) == PAIRS ? "yes" : "no");
    st = run(s, TAL_MD_LANGEVIN, 3000.0, 4000, &change);
    if (st == TAL_OK) {
        printf("at 3000 K, for 20 ps: at most half of them are: %s\n",
               2 * count_pairs(s) <= PAIRS ? "yes" : "no");
    }
    return st;
}

int main(void)
{
    tal_vec3 x[ATOMS];
    tal_ff *ff = NULL;
    tal_error err;
    build_helix(x);
    if (tal_ff_create(NULL, NULL, &ff, &err) != TAL_OK) return 1;
    tal_ff_class_def site = tal_ff_class_def_default();
    site.name = "site";
    (void)tal_ff_set_type_mass(ff, tal_ff_add_type(ff, "site", tal_ff_add_class(ff, &site), 0.0),
                               105.0); // Da: a third of a nucleotide
    tal_status st = tal_ff_freeze(ff, &err);
    tal_mol *mol = st == TAL_OK ? make_duplex(ff, x) : NULL;
    if (mol == NULL) return 1;
    tal_mol_granularity how = tal_mol_granularity_default();
    how.level = TAL_MOL_RIGID;
    scene s = {.system = tal_system_create(NULL)};
    tal_matter *matter = tal_matter_create(s.system);
    tal_forces *forces = tal_forces_create(s.system, matter);
    s.dna = tal_mol_add(s.system, matter, forces, "dna", mol, &how, NULL);
    add_strands(forces, s.dna, x);
    add_pairs(forces, s.dna, x);
    st = tal_system_realize_topology(s.system, &err);
    if (st == TAL_OK) st = tal_state_create(s.system, &s.state, &err);
    if (st == TAL_OK) st = show(&s);
    if (st != TAL_OK) puts(err.status != TAL_OK ? err.message : tal_status_text(st));
    tal_state_destroy(s.state);
    tal_system_destroy(s.system);
    tal_mol_destroy(mol);
    tal_ff_destroy(ff);
    return st == TAL_OK ? 0 : 1;
}
