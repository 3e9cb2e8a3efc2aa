// A molecule in a System: its bodies in matter, its terms as one force element; reading it.
#include "force_facts_internal.h"

#include "list/list_internal.h"
#include "term/instance_internal.h"

#include <talus/molecule/nonbonded.h>

#include <math.h>
#include <stdio.h>

/// Longest name of an instance: bodies have a number behind it.
#define MAX_NAME 31

// ---- the force element

static tal_status calc_stations(const void *self, const tal_system *system, tal_state *state,
                                void *value)
{
    (void)system;
    const tal_mol_instance *instance = self;
    tal_vec3 *p_MS = value;
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tali_term_body *body = &instance->bodies[b];
        const tal_xform X_MB = tal_body_X_MB(instance->matter, state, (tal_body_ix){body->body});
        for (int i = body->first; i < body->first + body->num_atoms; ++i) {
            const int atom = instance->order[i];
            p_MS[atom] = tal_xf_apply(X_MB, instance->station[atom]);
        }
    }
    return TAL_OK;
}

// Scales in the State; stations, and two kinds of sums, computed on request.
static tal_status declare(void *self, tal_forces *forces, tal_force_ix me)
{
    tal_mol_instance *instance = self;
    const double ones[TAL_NUM_MOL_SCALES] = {1.0, 1.0, 1.0, 1.0};
    instance->me = me;
    tal_var_def var = tal_var_def_default();
    var.name = "scales";
    var.size = sizeof ones;
    var.invalidates = TAL_STAGE_DYNAMICS;
    var.initial = ones;
    instance->scales = tal_force_add_var(forces, me, &var);

    const tal_mol_nonbonded preset = tal_mol_nonbonded_default();
    tal_mol_nonbonded plain;
    tali_term_copy_settings(&preset, &plain);
    var.name = "nonbonded";
    var.size = sizeof plain;
    var.invalidates = TAL_STAGE_POSITION;
    var.initial = &plain;
    instance->nonbonded = tal_force_add_var(forces, me, &var);

    const double none = 0.0;
    var.name = "fixman_temperature";
    var.size = sizeof none;
    var.invalidates = TAL_STAGE_DYNAMICS;
    var.initial = &none;
    instance->temperature = tal_force_add_var(forces, me, &var);

    tal_cache_def cache = tal_cache_def_default();
    cache.name = "stations";
    cache.size = (size_t)instance->mol->num_atoms * sizeof(tal_vec3);
    cache.calc = calc_stations;
    instance->stations = tal_force_add_cache(forces, me, &cache);

    const tal_prereq prereqs[2] = {tal_prereq_var(instance->scales),
                                   tal_prereq_cache(instance->stations)};
    cache.name = "sums";
    cache.size = tali_term_sums_size(instance);
    cache.depends_on = TAL_STAGE_POSITION;
    cache.calc = tali_term_calc_moving;
    cache.prereqs = prereqs;
    cache.num_prereqs = 2;
    instance->sums = tal_force_add_cache(forces, me, &cache);
    cache.name = "all";
    cache.calc = tali_term_calc_all;
    instance->all = tal_force_add_cache(forces, me, &cache);
    const tal_prereq warmth = tal_prereq_var(instance->temperature);
    cache.name = "fixman";
    cache.size = tali_term_fixman_size(instance->statistics.num_bodies);
    cache.calc = tali_term_calc_fixman;
    cache.prereqs = &warmth;
    cache.num_prereqs = 1;
    instance->fixman = tal_force_add_cache(forces, me, &cache);
    cache.name = "neighbors";
    cache.size = tali_list_size(instance);
    cache.depends_on = TAL_STAGE_TOPOLOGY;
    cache.calc = NULL;
    cache.num_prereqs = 0;
    instance->list = tal_force_add_cache(forces, me, &cache);
    cache.name = "speeds";
    cache.depends_on = TAL_STAGE_POSITION;
    cache.size = tali_term_speeds_size(instance->matter);
    instance->speeds = tal_force_add_cache(forces, me, &cache);
    return TAL_OK;
}

const tali_term_sums *tali_term_sums_of(const tal_mol_instance *instance, tal_state *state,
                                        tal_cache_ix entry)
{
    const void *stations = tal_cache_realize(instance->system, state, instance->stations);
    return stations != NULL ? tal_cache_realize(instance->system, state, entry) : NULL;
}

tal_vec3 tali_term_force_on(const tal_mol_instance *instance, const tali_term_sums *sums, int atom)
{
    const int64_t *f = &tali_term_forces(instance, sums)[3 * atom];
    return tal_v3_scale(sums->unit, tal_v3((double)f[0], (double)f[1], (double)f[2]));
}

// Forces on atoms become those on bodies; slopes of series become forces along speeds.
static tal_status apply(const void *self, const tal_force_context *context, tal_spatial_vec F_GM[],
                        double f[])
{
    const tal_mol_instance *instance = self;
    const tali_term_sums *sums = tali_term_sums_of(instance, context->state, instance->sums);
    if (sums == NULL) return tal_state_error(context->state)->status;
    const tal_vec3 *x = tali_term_positions(sums);
    for (int b = 0; b < instance->statistics.num_bodies; ++b) {
        const tali_term_body *body = &instance->bodies[b];
        const tal_vec3 Mo = tal_view_X_GM(&context->poses, body->body)->p;
        tal_spatial_vec F = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        for (int i = body->first; i < body->first + body->num_atoms; ++i) {
            const int atom = instance->order[i];
            const tal_vec3 force = tali_term_force_on(instance, sums, atom);
            F.w = tal_v3_add(F.w, tal_v3_cross(tal_v3_sub(x[atom], Mo), force));
            F.v = tal_v3_add(F.v, force);
        }
        F_GM[body->body] = tal_sv_add(F_GM[body->body], F);
    }
    const double *slopes = tali_term_slopes(instance, sums);
    for (int m = 0; m < instance->num_mapped; ++m) {
        const tal_body_ix body = {instance->bodies[instance->mapped[m].body].body};
        f[tal_body_u_start(instance->matter, body)] -= slopes[m];
    }
    return tali_term_add_fixman(instance, context->state, f);
}

static tal_status calc_potential_energy(const void *self, const tal_force_context *context,
                                        double *energy)
{
    const tal_mol_instance *instance = self;
    const tali_term_sums *sums = tali_term_sums_of(instance, context->state, instance->sums);
    if (sums == NULL) return tal_state_error(context->state)->status;
    *energy = tali_term_fixman_energy(instance, context->state);
    for (int r = 0; r < TALI_NUM_ROWS; ++r) {
        *energy += sums->energy[r];
    }
    return isnan(*energy) ? tal_state_error(context->state)->status : TAL_OK;
}

static void destroy(void *self)
{
    tal_mol_instance *instance = self;
    const tal_allocator allocator = instance->allocator;
    if (instance->choices != NULL) {
        tali_free(&allocator, instance->choices, instance->choices->size);
    }
    tali_free(&allocator, instance, instance->size);
}

static const tal_force_ops molecule_ops = {.size = sizeof(tal_force_ops),
                                           .name = "molecule",
                                           .needs = TAL_FORCE_NEEDS_Q,
                                           .apply = apply,
                                           .declare = declare,
                                           .calc_potential_energy = calc_potential_energy,
                                           .destroy = destroy};

const tal_mol_instance *tali_term_instance_at(const tal_forces *forces, tal_force_ix force)
{
    const void *self = NULL;
    const tal_force_ops *ops = tali_force_ops_of(forces, force, &self);
    return ops != NULL && ops->apply == apply ? self : NULL;
}

// ---- building

// One block for an instance and its arrays, as large as `made` says.
static tal_mol_instance *alloc_instance(tal_mol_instance *made, const tali_plan *plan)
{
    const size_t n = (size_t)plan->mol->num_atoms;
    tal_mol_instance *instance = NULL;
    tali_piece pieces[32] = {
        {&instance, sizeof *instance},
        {&made->body, n * sizeof *made->body},
        {&made->order, n * sizeof *made->order},
        {&made->station, n * sizeof *made->station},
        {&made->class_of, n * sizeof *made->class_of},
        {&made->bodies, (size_t)plan->num_bodies * sizeof *made->bodies},
        {&made->demoted, (size_t)plan->num_demoted * sizeof *made->demoted},
        {&made->cut, (size_t)plan->num_cut * sizeof *made->cut},
        {&made->mapped, (size_t)made->num_mapped * sizeof *made->mapped},
        {&made->pairs, (size_t)made->num_pairs * sizeof *made->pairs},
        {&made->skip, (size_t)made->num_skips * sizeof *made->skip},
        {&made->skip_start, (n + 1) * sizeof *made->skip_start},
        {&made->class_count, (size_t)plan->mol->ff->num_classes * sizeof *made->class_count},
    };
    size_t count = 13;
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        const size_t terms = (size_t)plan->mol->terms[f].count;
        pieces[count++] = (tali_piece){&made->fate[f], terms};
        pieces[count++] = (tali_piece){&made->moving[f], (size_t)made->num_moving[f] * sizeof(int)};
    }
    if (tali_alloc_pieces(&made->allocator, pieces, count, &made->size) == NULL) return NULL;
    *instance = *made;
    return instance;
}

// Bodies as planned, stations of their atoms, statistics.
static void fill_bodies(tal_mol_instance *instance, const tali_plan *plan)
{
    tal_mol_statistics *s = &instance->statistics;
    s->num_bodies = plan->num_bodies;
    s->num_demoted = plan->num_demoted;
    s->num_cut = plan->num_cut;
    for (int b = 0; b < plan->num_bodies; ++b) {
        const tali_plan_body *from = &plan->bodies[b];
        tali_term_body *to = &instance->bodies[b];
        *to = (tali_term_body){.body = -1,
                               .parent = from->parent,
                               .first = from->first,
                               .num_atoms = from->num_atoms,
                               .mapped = -1,
                               .bond = from->bond};
        to->joint.mobility = from->mobility;
        to->joint.body.i = -1;
        memcpy(to->joint.atoms, from->atoms, sizeof from->atoms);
        memcpy(to->joint.dihedral, from->dihedral, sizeof from->dihedral);
        s->nu += from->nu;
        s->depth = from->depth > s->depth ? from->depth : s->depth;
        for (int i = from->first; i < from->first + from->num_atoms; ++i) {
            const int atom = plan->order[i];
            instance->station[atom] = tal_v3_sub(plan->mol->atoms[atom].x, from->origin);
            s->radius = fmax(s->radius, tal_v3_norm(instance->station[atom]));
        }
    }
}

static void fill_atoms(tal_mol_instance *instance, const tali_plan *plan)
{
    const tal_mol *mol = plan->mol;
    for (int a = 0; a < mol->num_atoms; ++a) {
        instance->body[a] = plan->body[a];
        instance->order[a] = plan->order[a];
        instance->class_of[a] = mol->ff->types[mol->atoms[a].type].atom_class;
        ++instance->class_count[instance->class_of[a]];
        instance->is_charged = instance->is_charged || mol->atoms[a].charge != 0.0;
    }
    for (int i = 0; i < plan->num_demoted; ++i) {
        instance->demoted[i] = plan->demoted[i];
    }
    for (int i = 0; i < plan->num_cut; ++i) {
        instance->cut[i] = plan->cut[i];
    }
}

// An instance of a plan, with arrays as long as they can become.
static tal_mol_instance *make_instance(const tal_system *system, const tal_matter *matter,
                                       const tal_forces *forces, const tali_plan *plan)
{
    tal_mol_instance most = {.allocator = plan->mol->allocator,
                             .mol = plan->mol,
                             .system = system,
                             .matter = matter,
                             .forces = forces,
                             .me = {-1},
                             .num_skips = plan->mol->num_near,
                             .num_pairs = plan->mol->num_near,
                             .num_mapped = plan->num_bodies,
                             .list_room = plan->how->list_room,
                             .kernels = tali_lanes_best()};
    for (int f = 0; f < TAL_NUM_MOL_FAMILIES; ++f) {
        most.num_moving[f] = plan->mol->terms[f].count;
    }
    tal_mol_instance *instance = alloc_instance(&most, plan);
    if (instance == NULL) return NULL;
    if (!tali_term_keep_choices(instance, plan->how)) {
        destroy(instance);
        return NULL;
    }
    fill_bodies(instance, plan);
    fill_atoms(instance, plan);
    tali_term_sort_out(instance, plan);
    const int n = plan->mol->num_atoms;
    instance->has_exclusions = plan->num_bodies < n || instance->skip_start[n] > 0;
    return instance;
}

typedef tal_body_ix (*add_fn)(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def);

static tal_body_ix add_spherical(tal_matter *matter, tal_body_ix parent, const tal_mobod_def *def)
{
    return tal_matter_add_spherical_coords(matter, parent, def, NULL);
}

static add_fn adder(tal_bond_mobility mobility)
{
    static const add_fn adders[] = {
        [TAL_BOND_RIGID] = tal_matter_add_weld,
        [TAL_BOND_TORSION] = tal_matter_add_pin,
        [TAL_BOND_CYLINDER] = tal_matter_add_cylinder,
        [TAL_BOND_SLIDER] = tal_matter_add_slider,
        [TAL_BOND_ANGLE_PIN] = tal_matter_add_pin,
        [TAL_BOND_BEND_STRETCH] = tal_matter_add_bend_stretch,
        [TAL_BOND_UNIVERSAL] = tal_matter_add_universal,
        [TAL_BOND_BALL] = tal_matter_add_ball,
        [TAL_BOND_SPHERICAL] = add_spherical,
        [TAL_BOND_FREE] = tal_matter_add_free,
        [TAL_BOND_TRANSLATION] = tal_matter_add_translation,
        [TAL_BOND_FREE_LINE] = tal_matter_add_free_line,
    };
    return adders[mobility];
}

// Add one body with its name, frames, mass, and the q at which a State begins.
static bool add_body(tal_matter *matter, const char *name, const tali_plan *plan,
                     tal_mol_instance *instance, int b, const tal_xform *X_GR)
{
    const tali_plan_body *from = &plan->bodies[b];
    tali_term_body *to = &instance->bodies[b];
    char body_name[MAX_NAME + 16];
    (void)snprintf(body_name, sizeof body_name, "%s.%d", name, b);
    tal_mobod_def def = tal_mobod_def_default();
    def.name = body_name;
    def.mass = from->mass;
    def.X_PF = from->parent < 0 ? *X_GR : from->X_PF;
    def.X_BM = from->X_BM;
    const bool is_point = from->num_atoms == 1 && tal_s3_trace(from->mass.inertia) == 0.0;
    if (is_point) def.structure = TAL_BODY_PARTICLE;
    if (from->mobility == TAL_BOND_FREE_LINE) def.structure = TAL_BODY_LINE;
    const tal_body_ix parent = {from->parent < 0 ? 0 : instance->bodies[from->parent].body};
    const tal_body_ix body = adder(from->mobility)(matter, parent, &def);
    to->body = body.i;
    to->joint.body = body;
    return body.i >= 0 && tal_body_set_initial_q(matter, body, from->q, from->nq) == TAL_OK;
}

// Everything that can be wrong before anything is added.
static tal_status check_arguments(const tal_system *system, const tal_matter *matter,
                                  const tal_forces *forces, const char *name, const tal_mol *mol,
                                  const tal_xform *X_GR, tal_error *err)
{
    if (matter == NULL || forces == NULL || mol == NULL) {
        return TALI_FAIL(err, TAL_ERR_NULL, "matter, forces or the molecule is NULL");
    }
    if (!mol->is_frozen) {
        return TALI_FAIL(err, TAL_ERR_TOPOLOGY,
                         "the molecule is not frozen: call tal_mol_freeze() first");
    }
    if (tal_matter_system(matter) != system || tal_forces_matter(forces) != matter) {
        return TALI_FAIL(err, TAL_ERR_BAD_VALUE,
                         "the matter is not of this System, or the forces not of this matter");
    }
    if (name == NULL || name[0] == '\0' || strlen(name) > MAX_NAME) {
        return TALI_FAIL(err, TAL_ERR_BAD_NAME, "a molecule needs a name of 1 to %d characters",
                         MAX_NAME);
    }
    if (X_GR != NULL && !tal_xf_is_finite(*X_GR)) {
        return TALI_FAIL(err, TAL_ERR_NOT_FINITE, "the pose of molecule '%s' is not finite", name);
    }
    return TAL_OK;
}

const tal_mol_instance *tal_mol_add(tal_system *system, tal_matter *matter, tal_forces *forces,
                                    const char *name, const tal_mol *mol,
                                    const tal_mol_granularity *how, const tal_xform *X_GR)
{
    if (system == NULL) {
        (void)TALI_BREACH(TAL_ERR_NULL, "the System is NULL");
        return NULL;
    }
    if (tal_system_has_topology(system)) {
        (void)TALI_BREACH(TAL_ERR_TOPOLOGY, "the System is realized: add molecules before that");
        return NULL;
    }
    tal_error err = {TAL_OK, "", ""};
    tali_plan plan = {0};
    const tal_mol_granularity wanted = how != NULL ? *how : tal_mol_granularity_default();
    const tal_xform pose = X_GR != NULL ? *X_GR : TAL_XFORM_IDENTITY;
    tal_mol_instance *instance = NULL;
    tal_status st = check_arguments(system, matter, forces, name, mol, X_GR, &err);
    if (st == TAL_OK) st = tali_plan_make(&plan, mol, &wanted, &err);
    if (st == TAL_OK) {
        instance = make_instance(system, matter, forces, &plan);
        if (instance == NULL) {
            st = TALI_FAIL(&err, TAL_ERR_NO_MEMORY, "no memory for molecule '%s'", name);
        } else {
            instance->X_GR = pose;
        }
    }
    bool fits = st == TAL_OK;
    for (int b = 0; fits && b < plan.num_bodies; ++b) {
        fits = add_body(matter, name, &plan, instance, b, &pose); // the System keeps what fails
    }
    if (mol != NULL) tali_plan_free(&plan);
    if (st != TAL_OK) (void)tal_system_fail(system, st, "%s", err.message);
    if (fits) return tal_forces_add(forces, name, &molecule_ops, instance).i >= 0 ? instance : NULL;
    if (instance != NULL) destroy(instance);
    return NULL;
}

// ---- reading

static bool is_given(const tal_mol_instance *instance, const char *where)
{
    if (instance == NULL) (void)tali_breach(TAL_ERR_NULL, where, "the molecule is NULL");
    return instance != NULL;
}

static bool is_there(const tal_mol_instance *instance, int i, int n, const char *what,
                     const char *where)
{
    if (!is_given(instance, where)) return false;
    if (i >= 0 && i < n) return true;
    (void)tali_breach(TAL_ERR_BAD_INDEX, where, "%s %d: there are %d", what, i, n);
    return false;
}

tal_force_ix tal_mol_instance_force(const tal_mol_instance *instance)
{
    return is_given(instance, __func__) ? instance->me : (tal_force_ix){-1};
}

const tal_mol *tal_mol_instance_mol(const tal_mol_instance *instance)
{
    return is_given(instance, __func__) ? instance->mol : NULL;
}

tal_mol_statistics tal_mol_instance_statistics(const tal_mol_instance *instance)
{
    const tal_mol_statistics none = {0};
    return is_given(instance, __func__) ? instance->statistics : none;
}

tal_mol_demoted tal_mol_demoted_at(const tal_mol_instance *instance, int i)
{
    const tal_mol_demoted none = {-1, -1, TAL_BOND_RIGID, TAL_BOND_RIGID};
    const int n = instance != NULL ? instance->statistics.num_demoted : 0;
    return is_there(instance, i, n, "demotion", __func__) ? instance->demoted[i] : none;
}

int tal_mol_cut_bond(const tal_mol_instance *instance, int i)
{
    const int n = instance != NULL ? instance->statistics.num_cut : 0;
    return is_there(instance, i, n, "cut bond", __func__) ? instance->cut[i] : -1;
}

tal_body_ix tal_mol_atom_body(const tal_mol_instance *instance, int atom)
{
    const int n = instance != NULL ? instance->mol->num_atoms : 0;
    if (!is_there(instance, atom, n, "atom", __func__)) return (tal_body_ix){-1};
    return (tal_body_ix){instance->bodies[instance->body[atom]].body};
}

tal_vec3 tal_mol_atom_station(const tal_mol_instance *instance, int atom)
{
    const int n = instance != NULL ? instance->mol->num_atoms : 0;
    if (!is_there(instance, atom, n, "atom", __func__)) return tal_v3(TALI_NAN, TALI_NAN, TALI_NAN);
    return instance->station[atom];
}

tal_mol_joint tal_mol_bond_joint(const tal_mol_instance *instance, int bond)
{
    tal_mol_joint none = {TAL_BOND_RIGID, {-1}, {-1, -1}, {-1, -1}};
    const int n = instance != NULL ? instance->mol->num_bonds : 0;
    if (!is_there(instance, bond, n, "bond", __func__)) return none;
    const int *atoms = instance->mol->bonds[bond].atoms;
    for (int side = 0; side < 2; ++side) {
        const tali_term_body *body = &instance->bodies[instance->body[atoms[side]]];
        if (body->bond == bond) return body->joint;
    }
    if (instance->body[atoms[0]] != instance->body[atoms[1]]) none.mobility = TAL_BOND_FREE;
    return none;
}

bool tali_term_is_state(const tal_mol_instance *instance, const tal_state *state, tal_stage stage,
                        const char *where, tal_status *st)
{
    *st = TAL_ERR_NULL;
    if (!is_given(instance, where)) return false;
    if (state == NULL) return tali_breach(*st, where, "the State is NULL") == TAL_OK;
    if (tal_state_structure_hash(state) != tal_system_structure_hash(instance->system)) {
        *st = tali_breach(TAL_ERR_WRONG_SYSTEM, where, "the State is of another System");
        return false;
    }
    if (tal_state_stage(state) < stage) {
        *st = tali_breach(TAL_ERR_STAGE, where, "the State is at stage %d, it must be at %d",
                          (int)tal_state_stage(state), (int)stage);
        return false;
    }
    *st = TAL_OK;
    return true;
}

static bool is_count(const tal_mol_instance *instance, const void *array, int n, const char *where,
                     tal_status *st)
{
    *st = TAL_OK;
    if (array == NULL) *st = tali_breach(TAL_ERR_NULL, where, "the array is NULL");
    if (*st == TAL_OK && n != instance->mol->num_atoms) {
        *st = tali_breach(TAL_ERR_BAD_VALUE, where, "n is %d, but there are %d atoms", n,
                          instance->mol->num_atoms);
    }
    return *st == TAL_OK;
}

tal_status tal_mol_calc_energy(const tal_mol_instance *instance, tal_state *state,
                               tal_mol_energy *energy)
{
    if (energy == NULL) return TALI_BREACH(TAL_ERR_NULL, "where the energy is to go is NULL");
    for (size_t i = 0; i < sizeof *energy / sizeof(double); ++i) {
        memcpy((char *)energy + i * sizeof(double), &(double){TALI_NAN}, sizeof(double));
    }
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_POSITION, __func__, &st)) return st;
    const tali_term_sums *sums = tali_term_sums_of(instance, state, instance->all);
    if (sums == NULL) return tal_state_error(state)->status;
    const double *e = sums->energy;
    *energy = (tal_mol_energy){.stretch = e[TAL_MOL_STRETCH],
                               .bend = e[TAL_MOL_BEND],
                               .urey_bradley = e[TAL_MOL_UREY_BRADLEY],
                               .torsion = e[TAL_MOL_TORSION],
                               .improper = e[TAL_MOL_IMPROPER],
                               .vdw = e[TALI_ROW_VDW],
                               .vdw14 = e[TALI_ROW_VDW14],
                               .coulomb = e[TALI_ROW_COULOMB],
                               .coulomb14 = e[TALI_ROW_COULOMB14],
                               .born = e[TALI_ROW_BORN],
                               .surface = e[TALI_ROW_SURFACE],
                               .fixman = tali_term_fixman_energy(instance, state),
                               .frozen = e[TALI_ROW_FROZEN]};
    energy->total = energy->fixman;
    for (int r = 0; r < TALI_NUM_ROWS; ++r) {
        energy->total += e[r];
    }
    return TAL_OK;
}

tal_status tal_mol_calc_positions(const tal_mol_instance *instance, const tal_state *state,
                                  tal_vec3 x[], int n)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_POSITION, __func__, &st)) return st;
    if (!is_count(instance, x, n, __func__, &st)) return st;
    for (int a = 0; a < n; ++a) {
        const tal_body_ix body = {instance->bodies[instance->body[a]].body};
        x[a] = tal_station_p_GS(instance->matter, state, body, instance->station[a]);
    }
    return TAL_OK;
}

tal_status tal_mol_calc_forces(const tal_mol_instance *instance, tal_state *state, tal_vec3 f[],
                               int n)
{
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_POSITION, __func__, &st)) return st;
    if (!is_count(instance, f, n, __func__, &st)) return st;
    const tali_term_sums *sums = tali_term_sums_of(instance, state, instance->all);
    if (sums == NULL) return tal_state_error(state)->status;
    for (int a = 0; a < n; ++a) {
        f[a] = tali_term_force_on(instance, sums, a);
    }
    return TAL_OK;
}

static bool is_scale(const tal_mol_instance *instance, const tal_state *state, tal_mol_scale which,
                     const char *where, tal_status *st)
{
    if (!tali_term_is_state(instance, state, TAL_STAGE_MODEL, where, st)) return false;
    if ((int)which >= 0 && (int)which < TAL_NUM_MOL_SCALES) return true;
    *st = tali_breach(TAL_ERR_BAD_INDEX, where, "%d is no scale", (int)which);
    return false;
}

double tal_mol_scale_of(const tal_mol_instance *instance, const tal_state *state,
                        tal_mol_scale which)
{
    tal_status st;
    if (!is_scale(instance, state, which, __func__, &st)) return TALI_NAN;
    const double *scales = tal_var_value(instance->system, state, instance->scales);
    return scales[which];
}

tal_status tal_mol_set_scale(const tal_mol_instance *instance, tal_state *state,
                             tal_mol_scale which, double value)
{
    tal_status st;
    if (!is_scale(instance, state, which, __func__, &st)) return st;
    if (!isfinite(value)) {
        return tal_state_refuse(state, TAL_ERR_NOT_FINITE, "a scale of molecule '%s' is set to %g",
                                tal_force_name(instance->forces, instance->me), value);
    }
    double *scales = tal_var_upd(instance->system, state, instance->scales);
    if (scales == NULL) return tal_contract_last()->status;
    scales[which] = value;
    return TAL_OK;
}
