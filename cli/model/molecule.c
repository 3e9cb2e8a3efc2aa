// Molecules from files: reading them, making Systems of them, frames of where atoms are.
#include "model/molecule.h"

#include "text/checkpoint.h"
#include "text/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Where a cutoff begins to act, as a part of where it ends; and where it ends in a box, unless
// --cutoff says it [nm].
static const double CUTOFF_BEGINS = 0.9, CUTOFF_IN_BOX = 0.9;

int molecule_read_atoms(const cli_args *args, const char *path, const tal_atoms *names,
                        tal_atoms **out)
{
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    tal_atoms_options options = tal_atoms_options_default();
    options.names = names;
    const tal_status st = tal_atoms_read_file(path, &options, out, found);
    cli_print_diagnostics(args, found);
    return st == TAL_OK ? CLI_OK : CLI_BAD_FILE;
}

// --- a System ---

static int read_topology(const cli_args *args, const char *path, cli_molecule *out)
{
    tal_diagnostics *const found = cli_need(tal_diagnostics_create(NULL));
    tal_prmtop_options options = tal_prmtop_options_default();
    options.places = out->places;
    if (cli_flag(args, "amber-coulomb")) options.coulomb_constant = TAL_PRMTOP_AMBER_COULOMB;
    const tal_status st = tal_prmtop_read_file(path, &options, &out->made, found);
    cli_print_diagnostics(args, found);
    return st == TAL_OK ? CLI_OK : CLI_BAD_FILE;
}

static const struct {
    const char *name;
    tal_mol_level level;
} levels[] = {{"cartesian", TAL_MOL_CARTESIAN}, {"bat", TAL_MOL_BAT},
              {"torsions", TAL_MOL_TORSIONS},   {"backbone", TAL_MOL_BACKBONE},
              {"residues", TAL_MOL_RESIDUES},   {"rigid", TAL_MOL_RIGID}};

enum {
    NUM_LEVELS = sizeof levels / sizeof *levels
};

static const char *name_of_level(const void *context, int i)
{
    (void)context;
    return i < NUM_LEVELS ? levels[i].name : NULL;
}

static int choose_level(const cli_args *args, tal_mol_level *level)
{
    const char *const name = cli_text(args, "level");
    for (int i = 0; i < NUM_LEVELS; ++i) {
        if (strcmp(levels[i].name, name) != 0) continue;
        *level = levels[i].level;
        return CLI_OK;
    }
    const char *const meant = tal_did_you_mean(name, name_of_level, NULL);
    return cli_fail(args, CLI_USAGE,
                    "there is no --level '%s'%s%s%s; levels are cartesian, bat, torsions, "
                    "backbone, residues and rigid.",
                    name, meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
                    meant != NULL ? "'?)" : "");
}

// Balls and sticks, in the box of the coordinates.
static void draw(cli_molecule *it)
{
    tal_mol_picture picture = tal_mol_picture_default();
    picture.box = tal_atoms_frame_at(it->places, tal_atoms_num_frames(it->places) - 1).edges;
    (void)tal_mol_decorate(it->instance, it->matter, &picture); // the System keeps what fails
}

static int make_system(const cli_args *args, bool drawn, cli_molecule *out)
{
    cli_model *const model = &out->model;
    tal_mol_granularity how = tal_mol_granularity_default();
    const int code = choose_level(args, &how.level);
    if (code != CLI_OK) return code;
    model->system = cli_need(tal_system_create(NULL));
    out->matter = tal_matter_create(model->system);
    out->forces = tal_forces_create(model->system, out->matter);
    model->matter = out->matter;
    model->forces = out->forces;
    out->instance =
        tal_mol_add(model->system, out->matter, out->forces, "atom", out->made.mol, &how, NULL);
    if (drawn && out->instance != NULL) draw(out);
    tal_error err = {0};
    tal_status st = tal_system_realize_topology(model->system, &err);
    if (st == TAL_OK) st = tal_state_create(model->system, &model->state, &err);
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &err);
    out->num = tal_mol_num_atoms(out->made.mol);
    out->x = cli_alloc((size_t)out->num, sizeof *out->x);
    return cli_realize(args, model, model->state, TAL_STAGE_MODEL);
}

// --- how atoms act ---

static bool is_right_angle(double angle)
{
    return fabs(angle - TAL_PI / 2.0) < 1e-6;
}

// The box of the file, if there is one and it counts.
static int use_box(const cli_args *args, const cli_molecule *it, tal_mol_nonbonded *pairs)
{
    const tal_atoms_frame frame =
        tal_atoms_frame_at(it->places, tal_atoms_num_frames(it->places) - 1);
    if (!(frame.edges.x > 0.0) || cli_flag(args, "vacuum")) return CLI_OK;
    if (!is_right_angle(frame.angles.x) || !is_right_angle(frame.angles.y) ||
        !is_right_angle(frame.angles.z)) {
        return cli_fail(args, CLI_FAILED,
                        "the box of %s has angles other than 90 degrees, which are not "
                        "supported; --vacuum ignores the box.",
                        args->files[args->num_files - 1]);
    }
    pairs->box = frame.edges;
    return CLI_OK;
}

// In a box van der Waals ends smoothly, and beyond the cutoff of charges there is water.
static int set_pairs(const cli_args *args, const cli_molecule *it)
{
    tal_mol_nonbonded pairs = tal_mol_nonbonded_default();
    int code = use_box(args, it, &pairs);
    if (code != CLI_OK) return code;
    const bool has_box = pairs.box.x > 0.0;
    double cutoff = cli_number(args, "cutoff");
    if (cutoff < 0.0) {
        return cli_fail(args, CLI_USAGE, "--cutoff needs a positive number or 0, not %g.", cutoff);
    }
    if (cutoff == 0.0 && has_box) {
        const double half = 0.5 * fmin(pairs.box.x, fmin(pairs.box.y, pairs.box.z));
        cutoff = fmin(CUTOFF_IN_BOX, half);
    }
    if (cutoff > 0.0) {
        pairs.vdw = (tal_mol_range){TAL_CUTOFF_QUINTIC, CUTOFF_BEGINS * cutoff, cutoff};
        pairs.coulomb = pairs.vdw;
    }
    if (has_box) {
        pairs.coulomb = (tal_mol_range){TAL_CUTOFF_TRUNCATE, 0.0, cutoff};
        pairs.dielectric = TAL_DIELECTRIC_REACTION_FIELD;
    }
    pairs.born = cli_flag(args, "born");
    if (tal_mol_set_nonbonded(it->instance, it->model.state, &pairs) == TAL_OK) return CLI_OK;
    return cli_fail_with(args, CLI_FAILED, tal_state_error(it->model.state));
}

static int set_fixman(const cli_args *args, const cli_molecule *it)
{
    if (!cli_flag(args, "fixman")) return CLI_OK;
    const tal_status st = tal_mol_set_fixman_temperature(it->instance, it->model.state,
                                                         cli_number(args, "temperature"));
    return st == TAL_OK ? CLI_OK
                        : cli_fail_with(args, CLI_FAILED, tal_state_error(it->model.state));
}

// Of both files as they are.
static int find_hash(const cli_args *args, int first, cli_molecule *out)
{
    uint64_t hash = 0;
    for (int k = 0; k < 2; ++k) {
        uint64_t one = 0;
        if (!checkpoint_hash_file(args->files[first + k], &one)) {
            return cli_fail(args, CLI_BAD_FILE, "%s cannot be read again: %s.",
                            args->files[first + k], strerror(errno));
        }
        hash = (hash ^ one) * UINT64_C(0x100000001b3);
    }
    snprintf(out->model.hash, sizeof out->model.hash, "%016" PRIx64, hash);
    return CLI_OK;
}

int molecule_read(const cli_args *args, int first, bool drawn, cli_molecule *out)
{
    *out = (cli_molecule){.num = 0};
    out->model.path = args->files[first];
    int code = molecule_read_atoms(args, args->files[first + 1], NULL, &out->places);
    if (code == CLI_OK && tal_atoms_num_frames(out->places) == 0) {
        code = cli_fail(args, CLI_BAD_FILE, "%s has no coordinates.", args->files[first + 1]);
    }
    if (code == CLI_OK) code = read_topology(args, args->files[first], out);
    if (code == CLI_OK) code = make_system(args, drawn, out);
    if (code == CLI_OK) code = set_pairs(args, out);
    if (code == CLI_OK) code = cli_realize(args, &out->model, out->model.state, TAL_STAGE_POSITION);
    if (code == CLI_OK) code = set_fixman(args, out);
    if (code == CLI_OK) code = find_hash(args, first, out);
    return code;
}

void molecule_destroy(cli_molecule *it)
{
    tal_state_destroy(it->model.state);
    tal_system_destroy(it->model.system);
    tal_prmtop_destroy(&it->made);
    tal_atoms_destroy(it->places);
    free(it->x);
    *it = (cli_molecule){.num = 0};
}

// --- frames ---

int molecule_add_frame(const cli_args *args, const cli_molecule *it, const tal_state *state,
                       tal_atoms *frames)
{
    tal_mol_nonbonded pairs;
    tal_status st = tal_mol_get_nonbonded(it->instance, state, &pairs);
    if (st == TAL_OK) st = tal_mol_calc_positions(it->instance, state, it->x, it->num);
    if (st == TAL_OK) {
        const double right = TAL_PI / 2.0;
        const tal_atoms_frame frame = {tal_state_t(state), pairs.box, tal_v3(right, right, right)};
        st = tal_atoms_add_frame(frames, it->x, NULL, it->num, &frame);
    }
    return st == TAL_OK ? CLI_OK : cli_fail_status(args, CLI_FAILED, st);
}

tal_atoms *molecule_copy_atoms(const cli_args *args, const tal_atoms *atoms)
{
    tal_atoms *const copy = tal_atoms_create(NULL);
    tal_status st = copy != NULL ? TAL_OK : TAL_ERR_NO_MEMORY;
    for (int i = 0; i < tal_atoms_num(atoms) && st == TAL_OK; ++i) {
        const tal_atom atom = tal_atoms_at(atoms, i);
        st = tal_atoms_add(copy, &atom);
    }
    for (int i = 0; i < tal_atoms_num_bonds(atoms) && st == TAL_OK; ++i) {
        int a = 0, b = 0;
        const int order = tal_atoms_bond(atoms, i, &a, &b);
        st = tal_atoms_add_bond(copy, a, b, order);
    }
    if (st == TAL_OK) return copy;
    tal_atoms_destroy(copy);
    (void)cli_fail_status(args, CLI_FAILED, st);
    return NULL;
}

int molecule_check_out(const cli_args *args, const char *option)
{
    tal_atoms_format format;
    const char *const path = cli_text(args, option);
    if (path == NULL) return CLI_OK;
    if (tal_atoms_format_of(path, &format) && format != TAL_ATOMS_CIF &&
        format != TAL_ATOMS_PRMTOP) {
        return CLI_OK;
    }
    return cli_fail(args, CLI_USAGE,
                    "--%s '%s' should end with .pdb, .xyz, .inpcrd, .rst7 or .dcd.", option, path);
}

int molecule_write(const cli_args *args, const tal_atoms *frames, const char *path)
{
    tal_error err = {0};
    if (tal_atoms_write_file(frames, path, &err) == TAL_OK) return CLI_OK;
    return cli_fail_with(args, CLI_BAD_FILE, &err);
}
