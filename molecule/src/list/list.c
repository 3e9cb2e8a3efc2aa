// Pairs by a list: whether it still holds, making it when it does not, and adding what it names.
#include "list/list_internal.h"
#include "term/evaluation_internal.h"

#include <math.h>

enum {
    C = TALI_LANES_CLUSTER
};

// ---- memory

// Columns are at most n/8 + 1, and each may leave seven slots empty.
int tali_list_max_slots(int num_atoms)
{
    return 2 * num_atoms + 2 * C;
}

long tali_list_capacity(const tal_mol_instance *instance)
{
    return (long)instance->list_room * instance->mol->num_atoms;
}

// Offsets of the arrays, in bytes behind the list; the last is their size.
typedef struct offsets {
    size_t atom_at, slot_of, class_of, charge, bin_start, column_start, x[3], center[3], half[3],
        row_start, entries, work, row, near, end;
} offsets;

// The arrays follow each other; every one has the most that it may need.
static offsets offsets_of(const tal_mol_instance *instance)
{
    const size_t n = (size_t)instance->mol->num_atoms;
    const size_t slots = (size_t)tali_list_max_slots((int)n), clusters = slots / C;
    offsets at = {.end = tali_align(sizeof(tali_list))};
    at.atom_at = tali_piece_at(&at.end, slots * sizeof(int));
    at.slot_of = tali_piece_at(&at.end, n * sizeof(int));
    at.class_of = tali_piece_at(&at.end, slots * sizeof(int));
    at.charge = tali_piece_at(&at.end, slots * sizeof(double));
    at.bin_start = tali_piece_at(&at.end, (n + 2) * sizeof(int));
    at.column_start = tali_piece_at(&at.end, (n / C + 3) * sizeof(int));
    for (int k = 0; k < 3; ++k) {
        at.x[k] = tali_piece_at(&at.end, slots * sizeof(double));
        at.center[k] = tali_piece_at(&at.end, clusters * sizeof(double));
        at.half[k] = tali_piece_at(&at.end, clusters * sizeof(double));
    }
    at.row_start = tali_piece_at(&at.end, (slots + 1) * sizeof(int));
    at.entries = tali_piece_at(&at.end, (size_t)tali_list_capacity(instance) * sizeof(uint32_t));
    at.work = tali_piece_at(&at.end, n * sizeof(int));
    at.row = tali_piece_at(&at.end, clusters * sizeof(uint32_t));
    at.near = tali_piece_at(&at.end, clusters * sizeof(int));
    return at;
}

size_t tali_list_size(const tal_mol_instance *instance)
{
    return offsets_of(instance).end;
}

tali_list_arrays tali_list_arrays_of(const tal_mol_instance *instance, const tali_list *list)
{
    const offsets at = offsets_of(instance);
    char *base = (char *)list;
    tali_list_arrays out = {.atom_at = (int *)(void *)(base + at.atom_at),
                            .slot_of = (int *)(void *)(base + at.slot_of),
                            .class_of = (int *)(void *)(base + at.class_of),
                            .charge = (double *)(void *)(base + at.charge),
                            .bin_start = (int *)(void *)(base + at.bin_start),
                            .column_start = (int *)(void *)(base + at.column_start),
                            .row_start = (int *)(void *)(base + at.row_start),
                            .entries = (uint32_t *)(void *)(base + at.entries),
                            .work = (int *)(void *)(base + at.work),
                            .row = (uint32_t *)(void *)(base + at.row),
                            .near = (int *)(void *)(base + at.near)};
    for (int k = 0; k < 3; ++k) {
        out.x[k] = (double *)(void *)(base + at.x[k]);
        out.box_center[k] = (double *)(void *)(base + at.center[k]);
        out.box_half[k] = (double *)(void *)(base + at.half[k]);
    }
    return out;
}

// ---- work: what the kernels read and add to, by slot

typedef struct work {
    double *x[3];
    int64_t *f[3];
} work;

size_t tali_list_work_size(const tal_mol_instance *instance)
{
    return (size_t)tali_list_max_slots(instance->mol->num_atoms) *
           (3 * sizeof(double) + 3 * sizeof(int64_t));
}

static work work_of(const tali_term_evaluation *it)
{
    const size_t slots = (size_t)tali_list_max_slots(it->instance->mol->num_atoms);
    double *numbers = it->lanes;
    int64_t *sums = (int64_t *)(void *)(numbers + 3 * slots);
    return (work){{numbers, numbers + slots, numbers + 2 * slots},
                  {sums, sums + slots, sums + 2 * slots}};
}

tal_mol_list tal_mol_list_of(const tal_mol_instance *instance, const tal_state *state)
{
    tal_mol_list out = {0, 0, 0};
    tal_status st;
    if (!tali_term_is_state(instance, state, TAL_STAGE_TOPOLOGY, __func__, &st)) return out;
    out.room = tali_list_capacity(instance);
    if (!tal_cache_is_valid(instance->system, state, instance->list)) return out;
    const tali_list *list = tal_cache_value(instance->system, state, instance->list);
    out.num_entries = list->num_entries;
    out.num_builds = list->num_builds;
    return out;
}

// ---- whether a list holds

static bool is_for(const tali_list *list, const tali_term_pairs *pairs)
{
    const tal_vec3 a = list->box, b = pairs->set.box;
    return list->reach >= pairs->end + list->skin && list->skin == pairs->set.skin && a.x == b.x &&
           a.y == b.y && a.z == b.z;
}

// Positions by slot. False if an atom has moved by more than half of the skin since the list was
// made: then two may have come within the cutoff that are not in it.
static bool take_positions(const tali_term_evaluation *it, const tali_list *list,
                           const tali_list_arrays *at, const work *w)
{
    const double far = 0.5 * list->skin, most = far * far;
    bool holds = true;
    for (int s = 0; s < list->num_slots; ++s) {
        const int a = at->atom_at[s];
        if (a < 0) continue; // its place is of no account
        const tal_vec3 x = it->x[a];
        const tal_vec3 was = tal_v3(at->x[0][s], at->x[1][s], at->x[2][s]);
        const tal_vec3 d = tal_v3_sub(x, was);
        w->x[0][s] = x.x;
        w->x[1][s] = x.y;
        w->x[2][s] = x.z;
        holds &= tal_v3_dot(d, d) <= most;
    }
    return holds || isinf(list->reach);
}

// A list that holds, made if need be, and the positions by slot; NULL where atoms are nowhere.
static const tali_list *ready_list(const tali_term_evaluation *it, const work *w)
{
    const tal_mol_instance *instance = it->instance;
    const tal_system *system = instance->system;
    const tali_list *list = NULL;
    if (tal_cache_is_valid(system, it->state, instance->list)) {
        list = tal_cache_value(system, it->state, instance->list);
        const tali_list_arrays at = tali_list_arrays_of(instance, list);
        if (is_for(list, &it->pairs) && take_positions(it, list, &at, w)) return list;
    }
    const long builds = list != NULL ? list->num_builds : 0;
    tali_list *made = tal_cache_upd(system, it->state, instance->list);
    if (made == NULL) return NULL;
    made->num_builds = builds;
    if (!tali_list_build(instance, &it->pairs, it->x, made)) return NULL;
    const tali_list_arrays at = tali_list_arrays_of(instance, made);
    (void)take_positions(it, made, &at, w);
    return tal_cache_mark_valid(system, it->state, instance->list) == TAL_OK ? made : NULL;
}

// ---- adding pairs

static tali_lanes_atoms atoms_of(const tali_term_evaluation *it, const tali_list_arrays *at,
                                 const work *w)
{
    const tal_ff *ff = it->instance->mol->ff;
    return (tali_lanes_atoms){
        .pairs = &it->pairs,
        .per_unit = it->grid.per_unit,
        .vdw = it->scale[TAL_MOL_SCALE_VDW],
        .coulomb = it->scale[TAL_MOL_SCALE_COULOMB] * ff->def.coulomb_constant,
        .is_charged = it->instance->is_charged,
        .table = ff->pairs,
        .num_classes = ff->num_classes,
        .class_of = at->class_of,
        .charge = at->charge,
        .x = w->x[0],
        .y = w->x[1],
        .z = w->x[2],
        .fx = w->f[0],
        .fy = w->f[1],
        .fz = w->f[2],
    };
}

// Rows as they are stored, or as they are found.
static void add_rows(const tali_term_evaluation *it, const tali_list *list,
                     const tali_list_arrays *at, tali_lanes_atoms *atoms)
{
    for (int s = 0, near = 0; s < list->num_slots && !atoms->is_over; ++s) {
        tali_lanes_row row = {s, at->entries + at->row_start[s],
                              at->row_start[s + 1] - at->row_start[s]};
        if (!list->is_stored) {
            if (s % C == 0) near = tali_list_find_near(list, at, s / C);
            row.num_entries = tali_list_find_row(it->instance, list, at, s, near, at->row);
            row.entries = at->row;
        }
        it->instance->kernels.add_rows(atoms, &row, 1);
    }
}

bool tali_term_add_listed(tali_term_evaluation *it)
{
    if (!tali_lanes_knows(&it->pairs)) return false;
    const work w = work_of(it);
    const tali_list *list = ready_list(it, &w);
    if (list == NULL) return false;
    const tali_list_arrays at = tali_list_arrays_of(it->instance, list);
    tali_lanes_atoms atoms = atoms_of(it, &at, &w);
    for (int k = 0; k < 3; ++k) {
        memset(w.f[k], 0, (size_t)list->num_slots * sizeof w.f[k][0]);
    }
    add_rows(it, list, &at, &atoms);
    if (atoms.is_over) return false;
    for (int a = 0; a < it->instance->mol->num_atoms; ++a) {
        for (int k = 0; k < 3; ++k) {
            tali_term_add(&it->f[3 * a + k], w.f[k][at.slot_of[a]]);
        }
    }
    tali_term_add(&it->energy[TALI_ROW_VDW], atoms.energy[0]);
    tali_term_add(&it->energy[TALI_ROW_COULOMB], atoms.energy[1]);
    return true;
}
