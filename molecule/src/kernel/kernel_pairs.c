// Rows of pairs: an atom and the clusters near it, a register of atoms at a time.
//
// Every lane rounds as a double does, and contributions are rounded to the grid before they are
// added, so that the sums have the same bits as pair by pair, on every processor.
#include "kernel/kernel_internal.h"
#include "kernel/lanes.h"
#include "kernel/pair_law.h"

#ifndef TALI_KERNEL_SET
#define TALI_KERNEL_SET any
#endif
#define JOIN(set)   tali_lanes_pairs_##set
#define EXPAND(set) JOIN(set)
#define FILL        EXPAND(TALI_KERNEL_SET)

void FILL(tali_lanes_kernels *out);

// What is the same for all pairs of a call. With these known to the compiler, loops have no
// branches.
typedef struct traits {
    bool is_charged;
    bool is_uniform; // one class
    bool is_bare;    // van der Waals has no cutoff but an end
} traits;

// The sums of one atom.
typedef struct sums {
    mask f[3], energy[2], over;
} sums;

// The atom of a row.
typedef struct center {
    real x, y, z, charge;
    const tal_ff_pair *table; // [num_classes]
} center;

TAL_ALWAYS_INLINE real nearest_image(real d, double edge, double per_edge)
{
    return d - edge * real_rint(d * per_edge);
}

// A and B with every atom of some slots.
TAL_ALWAYS_INLINE void gather(const tali_lanes_atoms *atoms, const center *i, int j, real *A,
                              real *B)
{
    for (int k = 0; k < LANES; ++k) {
        const tal_ff_pair *pair = &i->table[atoms->class_of[j + k]];
        (*A)[k] = pair->A;
        (*B)[k] = pair->B;
    }
    *A = atoms->vdw * *A;
    *B = atoms->vdw * *B;
}

// Add a whole force: to i, and its opposite to j.
TAL_ALWAYS_INLINE void push(mask *fi, int64_t fj[], real force, mask *over)
{
    const mask units = whole_of(force, over);
    *fi = plus(*fi, units);
    store_bits(fj, minus(load_bits(fj), units));
}

// The energies and the pull of i and the atoms of some slots, zero for lanes that are not meant.
// In units of the grid.
TAL_ALWAYS_INLINE real pull_of(const tali_lanes_atoms *atoms, traits is, const center *i, int j,
                               real r2, mask meant, sums *sum)
{
    const tali_term_pairs *pairs = atoms->pairs;
    const distance at = distance_of(r2);
    const real zero = spread(0.0);
    real A = spread(atoms->vdw * i->table[0].A), B = spread(atoms->vdw * i->table[0].B);
    if (!is.is_uniform) gather(atoms, i, j, &A, &B);
    const curve vdw = is.is_bare ? bare_vdw_at(at, A, B) : vdw_at(pairs, at, A, B);
    const mask is_near = meant & less(r2, spread(pairs->vdw_end2));
    real pull = pick(is_near, vdw.pull, zero);
    sum->energy[0] = plus(sum->energy[0],
                          whole_of(atoms->per_unit * pick(is_near, vdw.value, zero), &sum->over));
    if (!is.is_charged) return atoms->per_unit * pull;
    const real C = atoms->coulomb * (i->charge * load(atoms->charge + j));
    const curve u = cut_charges(pairs, charges_at(pairs, pairs->set.dielectric, at), at);
    const mask acts = meant & less(r2, spread(pairs->coulomb_end2));
    pull = pull + pick(acts, C * u.pull, zero);
    sum->energy[1] =
        plus(sum->energy[1], whole_of(atoms->per_unit * pick(acts, C * u.value, zero), &sum->over));
    return atoms->per_unit * pull;
}

// i and the atoms of some slots, those whose bits are set.
TAL_ALWAYS_INLINE void add_slots(tali_lanes_atoms *atoms, traits is, const center *i, int j,
                                 mask meant, sums *sum)
{
    const tal_vec3 box = atoms->pairs->set.box, per_box = atoms->pairs->per_box;
    real dx = i->x - load(atoms->x + j), dy = i->y - load(atoms->y + j),
         dz = i->z - load(atoms->z + j);
    if (atoms->pairs->has_box) {
        dx = nearest_image(dx, box.x, per_box.x);
        dy = nearest_image(dy, box.y, per_box.y);
        dz = nearest_image(dz, box.z, per_box.z);
    }
    const real r2 = dx * dx + dy * dy + dz * dz;
    const real pull = pull_of(atoms, is, i, j, r2, meant, sum);
    push(&sum->f[0], atoms->fx + j, pull * dx, &sum->over);
    push(&sum->f[1], atoms->fy + j, pull * dy, &sum->over);
    push(&sum->f[2], atoms->fz + j, pull * dz, &sum->over);
}

// One atom with every cluster of its row: its own sums stay in registers until the end.
TAL_ALWAYS_INLINE void add_row(tali_lanes_atoms *atoms, traits is, const tali_lanes_row *row)
{
    const int s = row->slot;
    const mask none = spread_bits(0);
    const center i = {spread(atoms->x[s]), spread(atoms->y[s]), spread(atoms->z[s]),
                      spread(atoms->charge[s]),
                      atoms->table + (size_t)atoms->class_of[s] * (size_t)atoms->num_classes};
    sums sum = {{none, none, none}, {none, none}, none};
    for (int e = 0; e < row->num_entries; ++e) {
        const uint32_t entry = row->entries[e];
        const int j = (int)(entry >> 8) * TALI_LANES_CLUSTER;
        for (int k = 0; k < TALI_LANES_CLUSTER; k += LANES) {
            const uint32_t bits = entry >> k & ((1u << LANES) - 1u);
            if (bits != 0) add_slots(atoms, is, &i, j + k, lanes_of(bits), &sum);
        }
    }
    atoms->fx[s] = (int64_t)((uint64_t)atoms->fx[s] + (uint64_t)sum_of(sum.f[0]));
    atoms->fy[s] = (int64_t)((uint64_t)atoms->fy[s] + (uint64_t)sum_of(sum.f[1]));
    atoms->fz[s] = (int64_t)((uint64_t)atoms->fz[s] + (uint64_t)sum_of(sum.f[2]));
    for (int k = 0; k < 2; ++k) {
        atoms->energy[k] = (int64_t)((uint64_t)atoms->energy[k] + (uint64_t)sum_of(sum.energy[k]));
    }
    for (int k = 0; k < LANES; ++k) {
        if ((uint64_t)sum.over[k] >> 52 != 0) atoms->is_over = true;
    }
}

TAL_ALWAYS_INLINE void add_rows(tali_lanes_atoms *atoms, traits is, const tali_lanes_row rows[],
                                int n)
{
    for (int r = 0; r < n; ++r) {
        add_row(atoms, is, &rows[r]);
    }
}

static void add_all_rows(tali_lanes_atoms *atoms, const tali_lanes_row rows[], int n)
{
    const tal_mol_cutoff kind = atoms->pairs->set.vdw.kind;
    const bool is_bare = kind == TAL_CUTOFF_NONE || kind == TAL_CUTOFF_TRUNCATE;
    const traits is = {atoms->is_charged, atoms->num_classes == 1, is_bare};
    if (!is.is_charged && is.is_uniform && is.is_bare) {
        add_rows(atoms, (traits){false, true, true}, rows, n);
    } else if (!is.is_charged) {
        add_rows(atoms, (traits){false, is.is_uniform, is.is_bare}, rows, n);
    } else {
        add_rows(atoms, (traits){true, is.is_uniform, is.is_bare}, rows, n);
    }
}

// ---- looking for neighbors

static int find_row(const tali_lanes_places *places, int slot, const int near[], int n,
                    uint32_t row[])
{
    const tal_vec3 box = places->box, per = places->per_box;
    const double *const *x = places->x;
    const real reach2 = spread(places->reach * places->reach);
    int found = 0;
    for (int k = 0; k < n; ++k) {
        uint32_t bits = 0;
        for (int lane = 0; lane < TALI_LANES_CLUSTER; lane += LANES) {
            const int j = near[k] * TALI_LANES_CLUSTER + lane;
            const real dx = nearest_image(x[0][slot] - load(x[0] + j), box.x, per.x);
            const real dy = nearest_image(x[1][slot] - load(x[1] + j), box.y, per.y);
            const real dz = nearest_image(x[2][slot] - load(x[2] + j), box.z, per.z);
            bits |= bits_of(less(dx * dx + dy * dy + dz * dz, reach2)) << lane;
        }
        row[found] = (uint32_t)near[k] << TALI_LANES_CLUSTER | bits;
        found += bits != 0 ? 1 : 0;
    }
    return found;
}

void FILL(tali_lanes_kernels *out)
{
    out->add_rows = add_all_rows;
    out->find_row = find_row;
}
