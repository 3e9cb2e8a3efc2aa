// talus mol: molecules. What a file has, energies, minima, runs, pages, other formats, fits.
#include "commands/commands.h"
#include "model/molecule.h"
#include "table/result.h"
#include "text/progress.h"
#include "text/report.h"
#include "text/stream.h"
#include "viewer/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- info ---

// Frames, their times, whether they have velocities, and the box of the last one.
static void report_span(report *r, const tal_atoms *atoms)
{
    const int frames = tal_atoms_num_frames(atoms);
    report_count(r, "frames", frames);
    if (frames == 0) return;
    const tal_atoms_frame first = tal_atoms_frame_at(atoms, 0);
    const tal_atoms_frame last = tal_atoms_frame_at(atoms, frames - 1);
    if (!isnan(first.time)) report_number(r, "first time", first.time, "ps");
    if (!isnan(last.time) && frames > 1) report_number(r, "last time", last.time, "ps");
    report_text(r, "velocities", tal_atoms_has_velocities(atoms, frames - 1) ? "yes" : "no");
    if (!(last.edges.x > 0.0)) return;
    static const char *const columns[] = {"edge", "nm", "degrees"};
    static const char *const names[] = {"a", "b", "c"};
    const double edges[] = {last.edges.x, last.edges.y, last.edges.z};
    const double angles[] = {last.angles.x, last.angles.y, last.angles.z};
    report_table(r, "box", columns, 3);
    for (int k = 0; k < 3; ++k) {
        report_cell_text(r, names[k]);
        report_cell_number(r, edges[k]);
        report_cell_number(r, angles[k] / TAL_MOL_DEGREE);
    }
    report_end_table(r);
}

// How many atoms of which element there are.
static void report_elements(report *r, const tal_atoms *atoms)
{
    static const char *const columns[] = {"element", "atoms"};
    int counts[TAL_MAX_ELEMENT + 1] = {0};
    for (int i = 0; i < tal_atoms_num(atoms); ++i) {
        counts[tal_atoms_at(atoms, i).element] += 1;
    }
    report_table(r, "elements", columns, 2);
    for (int e = 0; e <= TAL_MAX_ELEMENT; ++e) {
        if (counts[e] == 0) continue;
        report_cell_text(r, e > 0 ? tal_element_symbol(e) : "none");
        report_cell_count(r, counts[e]);
    }
    report_end_table(r);
}

static bool begins_residue(const tal_atoms *atoms, int i)
{
    if (i == 0) return true;
    const tal_atom a = tal_atoms_at(atoms, i - 1), b = tal_atoms_at(atoms, i);
    return a.residue_number != b.residue_number || strcmp(a.chain, b.chain) != 0 ||
           strcmp(a.insertion, b.insertion) != 0;
}

static void report_atoms(report *r, const tal_atoms *atoms)
{
    int residues = 0;
    for (int i = 0; i < tal_atoms_num(atoms); ++i) {
        if (begins_residue(atoms, i)) ++residues;
    }
    report_count(r, "atoms", tal_atoms_num(atoms));
    report_count(r, "residues", residues);
    report_count(r, "bonds", tal_atoms_num_bonds(atoms));
}

// What becomes of a molecule: bodies and mobilities.
static void report_bodies(report *r, const cli_molecule *it)
{
    const tal_mol_statistics made = tal_mol_instance_statistics(it->instance);
    double charge = 0.0, mass = 0.0;
    for (int i = 0; i < it->num; ++i) {
        charge += tal_mol_atom_charge(it->made.mol, i);
        mass += tal_mol_atom_mass(it->made.mol, i);
    }
    report_number(r, "mass", mass, "Da");
    report_number(r, "charge", rint(charge * 1e6) / 1e6, "e");
    report_count(r, "molecules", tal_mol_num_parts(it->made.mol));
    report_count(r, "bodies", made.num_bodies);
    report_count(r, "mobilities", made.nu);
    report_count(r, "depth", made.depth);
    report_count(r, "demoted bonds", made.num_demoted);
    report_count(r, "cut bonds", made.num_cut);
    report_count(r, "constant terms", made.num_frozen);
    report_count(r, "mapped torsions", made.num_mapped);
}

// What is in a file; with coordinates, what becomes of the molecule, too.
static int info(const cli_args *args)
{
    tal_atoms *atoms = NULL;
    cli_molecule molecule = {.num = 0};
    int code = molecule_read_atoms(args, args->files[1], NULL, &atoms);
    if (code == CLI_OK && args->num_files > 2) code = molecule_read(args, 1, false, &molecule);
    if (code == CLI_OK) {
        report r;
        report_begin(&r, args);
        report_text(&r, "file", args->files[1]);
        report_atoms(&r, atoms);
        if (molecule.num > 0) {
            report_bodies(&r, &molecule);
            report_span(&r, molecule.places);
        } else {
            report_span(&r, atoms);
        }
        report_elements(&r, atoms);
        report_end(&r);
    }
    molecule_destroy(&molecule);
    tal_atoms_destroy(atoms);
    return code;
}

// --- energy ---

static void report_energies(report *r, const tal_mol_energy *e)
{
    const struct {
        const char *name;
        double value;
    } terms[] = {{"stretch", e->stretch}, {"bend", e->bend},
                 {"torsion", e->torsion}, {"improper", e->improper},
                 {"vdw", e->vdw},         {"vdw 1-4", e->vdw14},
                 {"coulomb", e->coulomb}, {"coulomb 1-4", e->coulomb14},
                 {"born", e->born},       {"surface", e->surface},
                 {"fixman", e->fixman},   {"constant", e->frozen},
                 {"total", e->total}};

    static const char *const columns[] = {"term", "energy"};
    report_text(r, "unit", "kJ/mol");
    report_table(r, "energies", columns, 2);
    for (size_t i = 0; i < sizeof terms / sizeof *terms; ++i) {
        report_cell_text(r, terms[i].name);
        report_cell_number(r, terms[i].value);
    }
    report_end_table(r);
}

// Energies by term, and the atom with the largest force.
static int energy(const cli_args *args)
{
    cli_molecule it;
    tal_mol_energy e;
    int code = molecule_read(args, 1, false, &it);
    tal_state *const state = it.model.state;
    if (code == CLI_OK && (tal_mol_calc_energy(it.instance, state, &e) != TAL_OK ||
                           tal_mol_calc_forces(it.instance, state, it.x, it.num) != TAL_OK)) {
        code = cli_fail_with(args, CLI_FAILED, tal_state_error(state));
    }
    if (code == CLI_OK) {
        int most = 0;
        for (int i = 1; i < it.num; ++i) {
            if (tal_v3_norm(it.x[i]) > tal_v3_norm(it.x[most])) most = i;
        }
        const tal_atom atom = tal_atoms_at(it.made.atoms, most);
        char *const name = cli_format("%s of %s %d", atom.name, atom.residue, atom.residue_number);
        report r;
        report_begin(&r, args);
        report_text(&r, "level", cli_text(args, "level"));
        report_energies(&r, &e);
        report_number(&r, "largest force", tal_v3_norm(it.x[most]), "kJ/mol/nm");
        report_text(&r, "it is on", name);
        report_end(&r);
        free(name);
    }
    molecule_destroy(&it);
    return code;
}

// --- minimize ---

enum {
    ITERATIONS_AT_ONCE = 20
};

// Iterations until it has converged, there are enough, or the user wants no more.
static int search(const cli_args *args, tal_minimizer *minimizer, tal_state *state,
                  tal_minimum *all)
{
    const int most = cli_count(args, "iterations");
    progress told;
    progress_begin(&told, args, "iterations", false, 0.0, most);
    tal_status st = TAL_OK;
    *all = (tal_minimum){.end = TAL_MINIMIZER_ITERATIONS};
    while (st == TAL_OK && all->end == TAL_MINIMIZER_ITERATIONS && all->iterations < most) {
        tal_minimum part;
        const long left = most - all->iterations;
        st = tal_minimizer_run(minimizer, state,
                               left < ITERATIONS_AT_ONCE ? (int)left : ITERATIONS_AT_ONCE, &part);
        if (st != TAL_OK) break;
        part.gained += all->gained;
        part.iterations += all->iterations;
        part.evaluations += all->evaluations;
        *all = part;
        if (!progress_tell(&told, (double)all->iterations)) break;
    }
    progress_end(&told, (double)all->iterations);
    return st == TAL_OK ? CLI_OK : cli_fail_with(args, CLI_FAILED, tal_minimizer_error(minimizer));
}

// Where the atoms are now, to -o; an exit code.
static int write_places(const cli_args *args, const cli_molecule *it)
{
    const char *const path = cli_text(args, "out");
    if (path == NULL) return CLI_OK;
    tal_atoms *const frames = molecule_copy_atoms(args, it->made.atoms);
    if (frames == NULL) return CLI_FAILED;
    int code = molecule_add_frame(args, it, it->model.state, frames);
    if (code == CLI_OK) code = molecule_write(args, frames, path);
    tal_atoms_destroy(frames);
    return code;
}

static void report_minimum(const cli_args *args, const cli_molecule *it, const tal_minimum *found)
{
    static const char *const ends[] = {
        "forces are within the tolerance", "round-off of the energy hides any further decrease",
        "the limit of iterations was reached, or it was interrupted"};
    tal_mol_energy e;
    report r;
    report_begin(&r, args);
    report_text(&r, "ended because", ends[found->end]);
    report_count(&r, "iterations", found->iterations);
    report_count(&r, "evaluations", found->evaluations);
    report_number(&r, "gained", found->gained, "kJ/mol");
    report_number(&r, "rms force", found->force, NULL);
    report_number(&r, "largest force", found->largest, NULL);
    if (tal_mol_calc_energy(it->instance, it->model.state, &e) == TAL_OK) report_energies(&r, &e);
    report_end(&r);
}

static int minimize(const cli_args *args)
{
    cli_molecule it = {.num = 0};
    tal_minimizer *minimizer = NULL;
    tal_minimum found;
    tal_error err = {0};
    tal_minimizer_def def = tal_minimizer_def_default();
    def.tolerance = cli_number(args, "tolerance");
    int code = molecule_check_out(args, "out");
    if (code == CLI_OK) code = molecule_read(args, 1, false, &it);
    if (code == CLI_OK && tal_minimizer_create(it.model.system, &def, &minimizer, &err) != TAL_OK) {
        code = cli_fail_with(args, CLI_FAILED, &err);
    }
    if (code == CLI_OK) code = search(args, minimizer, it.model.state, &found);
    if (code == CLI_OK) code = write_places(args, &it);
    if (code == CLI_OK && report_is_wanted(args)) report_minimum(args, &it, &found);
    tal_minimizer_destroy(minimizer);
    molecule_destroy(&it);
    return code;
}

// --- run ---

static int run(const cli_args *args)
{
    cli_molecule it = {.num = 0};
    int code = result_check_out(args, false);
    if (code == CLI_OK) code = molecule_check_out(args, "trajectory");
    if (code == CLI_OK) code = molecule_read(args, 1, false, &it);
    if (code == CLI_OK) code = molecule_run(args, &it);
    molecule_destroy(&it);
    return code;
}

// --- convert ---

// Frame --frame alone, or every --stride-th frame.
static int choose_frames(const cli_args *args, const tal_atoms *from, tal_atoms *to)
{
    const int num = tal_atoms_num_frames(from), n = tal_atoms_num(from);
    const int only = cli_is_given(args, "frame") ? cli_count(args, "frame") : -1;
    const int stride = cli_count(args, "stride");
    if (only >= num) {
        return cli_fail(args, CLI_USAGE, "there is no --frame %d: %s has %d, from 0 on.", only,
                        args->files[1], num);
    }
    if (stride < 1) return cli_fail(args, CLI_USAGE, "--stride should be at least 1.");
    tal_vec3 *const x = cli_alloc((size_t)n, sizeof *x), *const v = cli_alloc((size_t)n, sizeof *v);
    tal_status st = TAL_OK;
    for (int f = only >= 0 ? only : 0; f < num && st == TAL_OK; f += only >= 0 ? num : stride) {
        const tal_atoms_frame frame = tal_atoms_frame_at(from, f);
        const bool has_v = tal_atoms_has_velocities(from, f);
        st = tal_atoms_get_positions(from, f, x, n);
        if (st == TAL_OK && has_v) st = tal_atoms_get_velocities(from, f, v, n);
        if (st == TAL_OK) st = tal_atoms_add_frame(to, x, has_v ? v : NULL, n, &frame);
    }
    free(x);
    free(v);
    return st == TAL_OK ? CLI_OK : cli_fail_status(args, CLI_FAILED, st);
}

// The frames that are asked for, in another format.
static int convert(const cli_args *args)
{
    tal_atoms *names = NULL, *from = NULL, *to = NULL;
    const char *const names_path = cli_text(args, "names");
    int code = molecule_check_out(args, "out");
    if (code == CLI_OK && cli_text(args, "out") == NULL) {
        code = cli_fail(args, CLI_USAGE, "name the new file: talus mol convert %s -o FILE.",
                        args->files[1]);
    }
    if (code == CLI_OK && names_path != NULL) {
        code = molecule_read_atoms(args, names_path, NULL, &names);
    }
    if (code == CLI_OK) code = molecule_read_atoms(args, args->files[1], names, &from);
    if (code == CLI_OK) {
        to = molecule_copy_atoms(args, from);
        code = to != NULL ? choose_frames(args, from, to) : CLI_FAILED;
    }
    if (code == CLI_OK) code = molecule_write(args, to, cli_text(args, "out"));
    tal_atoms_destroy(to);
    tal_atoms_destroy(from);
    tal_atoms_destroy(names);
    return code;
}

// --- fit ---

// Markers at all atoms, each of its own weight of one.
static tal_marker *make_markers(const cli_molecule *it)
{
    tal_marker *const markers = cli_alloc((size_t)it->num, sizeof *markers);
    for (int i = 0; i < it->num; ++i) {
        markers[i] = (tal_marker){.body = tal_mol_atom_body(it->instance, i),
                                  .p_BS = tal_mol_atom_station(it->instance, i),
                                  .weight = 1.0};
    }
    return markers;
}

// Coordinates that bring the atoms to where `target` has them; how far they are from it [nm].
static int fit_to(const cli_args *args, const cli_molecule *it, const tal_vec3 target[],
                  double *rmsd)
{
    tal_marker *const markers = make_markers(it);
    tal_state *const state = it->model.state;
    tal_assembler_def def = tal_assembler_def_default();
    def.markers = markers;
    def.num_markers = it->num;
    tal_assembler *assembler = NULL;
    tal_error err = {0};
    tal_assembly found;
    tal_status st = tal_assembler_create(it->model.system, &def, &assembler, &err);
    if (st == TAL_OK) {
        st = tal_assembler_observe(assembler, target, NULL);
        if (st == TAL_OK) st = tal_assembler_fit(assembler, state, &found);
        err = *tal_assembler_error(assembler);
    }
    tal_assembler_destroy(assembler);
    free(markers);
    if (st != TAL_OK) return cli_fail_with(args, CLI_FAILED, &err);
    const int code = cli_realize(args, &it->model, state, TAL_STAGE_POSITION);
    if (code != CLI_OK) return code;
    st = tal_mol_calc_positions(it->instance, state, it->x, it->num);
    double sum = 0.0;
    for (int i = 0; i < it->num && st == TAL_OK; ++i) {
        const tal_vec3 d = tal_v3_sub(it->x[i], target[i]);
        sum += tal_v3_dot(d, d);
    }
    *rmsd = sqrt(sum / it->num);
    return st == TAL_OK ? CLI_OK : cli_fail_status(args, CLI_FAILED, st);
}

// Bond lengths and angles stay those of COORDINATES; torsions, and where the molecules are, become
// those of TARGET.
static int fit(const cli_args *args)
{
    cli_molecule it = {.num = 0};
    tal_atoms *wanted = NULL;
    double rmsd = 0.0;
    int code = molecule_check_out(args, "out");
    if (code == CLI_OK && args->num_files < 4) {
        code = cli_fail(args, CLI_USAGE, "fit needs a third file, the target.");
    }
    if (code == CLI_OK) code = molecule_read(args, 1, false, &it);
    if (code == CLI_OK) code = molecule_read_atoms(args, args->files[3], NULL, &wanted);
    if (code == CLI_OK && (tal_atoms_num(wanted) != it.num || tal_atoms_num_frames(wanted) == 0)) {
        code =
            cli_fail(args, CLI_FAILED,
                     "%s has %d atoms in %d frames, but the molecule has %d "
                     "atoms.",
                     args->files[3], tal_atoms_num(wanted), tal_atoms_num_frames(wanted), it.num);
    }
    if (code == CLI_OK) {
        tal_vec3 *const target = cli_alloc((size_t)it.num, sizeof *target);
        (void)tal_atoms_get_positions(wanted, tal_atoms_num_frames(wanted) - 1, target, it.num);
        code = fit_to(args, &it, target, &rmsd);
        free(target);
    }
    if (code == CLI_OK) code = write_places(args, &it);
    if (code == CLI_OK && report_is_wanted(args)) {
        report r;
        report_begin(&r, args);
        report_number(&r, "rms distance", rmsd, "nm");
        report_end(&r);
    }
    tal_atoms_destroy(wanted);
    molecule_destroy(&it);
    return code;
}

// --- view ---

// The page, or the scene in another format, to -o.
static int write_scene(const cli_args *args, const tal_scene *scene, tal_scene_format format)
{
    tal_error err = {0};
    const tal_scene_page page = cli_page();
    const char *const path = cli_text(args, "out");
    if (tal_scene_write_file(scene, format, &page, path, &err) != TAL_OK) {
        return cli_fail_with(args, CLI_FAILED, &err);
    }
    if (!report_is_wanted(args)) return CLI_OK;
    report r;
    report_begin(&r, args);
    report_text(&r, "file", path);
    report_count(&r, "frames", tal_scene_num_frames(scene));
    report_end(&r);
    return CLI_OK;
}

// Balls and sticks where COORDINATES has them, and moving through the rows of a run.
static int draw(const cli_args *args, const cli_molecule *it, const tal_table *run,
                tal_scene_format format)
{
    const tal_model model = {.system = it->model.system,
                             .state = it->model.state,
                             .matter = it->matter,
                             .forces = it->forces};
    tal_scene_options options = tal_scene_options_default();
    tal_scene *scene = NULL;
    tal_error err = {0};
    tal_status st = tal_scene_create(&model, &options, &scene, &err);
    if (st == TAL_OK && run != NULL) st = tal_scene_add_run(scene, args->files[3], run, &err);
    const int code =
        st == TAL_OK ? write_scene(args, scene, format) : cli_fail_with(args, CLI_FAILED, &err);
    tal_scene_destroy(scene);
    return code;
}

static int view(const cli_args *args)
{
    tal_scene_format format = TAL_SCENE_HTML;
    const char *const path = cli_text(args, "out");
    if (path == NULL || !tal_scene_format_of(path, &format)) {
        return cli_fail(args, CLI_USAGE, "--out '%s' should end with .html, .glb or .json.",
                        path != NULL ? path : "");
    }
    if (format == TAL_SCENE_HTML && cli_page().text == NULL) return cli_fail_page(args);
    cli_molecule it = {.num = 0};
    tal_table *run = NULL;
    int code = molecule_read(args, 1, true, &it);
    if (code == CLI_OK && args->num_files > 3) code = result_read(args, args->files[3], &run);
    if (code == CLI_OK) code = draw(args, &it, run, format);
    tal_table_destroy(run);
    molecule_destroy(&it);
    return code;
}

// --- the command ---

static int act(const cli_args *args)
{
    static const struct {
        const char *name;
        int files; // besides the action, at least
        int (*run)(const cli_args *args);
    } actions[] = {{"info", 1, info}, {"energy", 2, energy},   {"minimize", 2, minimize},
                   {"run", 2, run},   {"convert", 1, convert}, {"fit", 2, fit},
                   {"view", 2, view}};

    for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i) {
        if (strcmp(actions[i].name, args->files[0]) != 0) continue;
        if (args->num_files > actions[i].files) return actions[i].run(args);
        return cli_fail(args, CLI_USAGE, "%s needs %s.", args->files[0],
                        actions[i].files == 1 ? "a file" : "a topology (.prmtop) and coordinates");
    }
    return cli_fail(args, CLI_USAGE,
                    "'%s' should be info, energy, minimize, run, view, convert or fit.",
                    args->files[0]);
}

static const cli_option options[] = {
    {.name = "level",
     .letter = 'l',
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "torsions",
     .help = "coordinates: cartesian (every atom), bat (bonds, angles and torsions), torsions, "
             "backbone, residues, rigid (whole molecules)",
     .is_setting = true},
    {.name = "time",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "10",
     .help = "run: duration",
     .is_setting = true},
    {.name = "step",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.002",
     .help = "run: the step; 0.0005 to 0.001 where hydrogens move, 0.003 to 0.008 in torsions",
     .is_setting = true},
    {.name = "every",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.1",
     .help = "run: time between rows and frames",
     .is_setting = true},
    {.name = "temperature",
     .kind = CLI_POSITIVE,
     .value = "K",
     .initial = "300",
     .help = "temperature of the bath, of the initial velocities and of --fixman",
     .is_setting = true},
    {.name = "bath",
     .kind = CLI_TEXT,
     .value = "NAME",
     .initial = "langevin",
     .help =
         "run: langevin, chain (of Nose and Hoover), rescale (of Bussi), ghmc (hybrid Monte Carlo: "
         "exact at any step) or none",
     .is_setting = true},
    {.name = "friction",
     .kind = CLI_POSITIVE,
     .value = "1/PS",
     .initial = "1",
     .help = "run: friction of a Langevin bath, and of ghmc",
     .is_setting = true},
    {.name = "leaps",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "10",
     .help = "run: steps of a trajectory of ghmc, which counts or does not",
     .is_setting = true},
    {.name = "relaxation",
     .kind = CLI_POSITIVE,
     .value = "PS",
     .initial = "0.1",
     .help = "run: relaxation time of a chain or of rescaling",
     .is_setting = true},
    {.name = "trajectory",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "run: write the atoms of each row to this .dcd, .xyz or .pdb file"},
    {.name = "coordinates",
     .kind = CLI_FLAG,
     .help = "run: write coordinates after the energies, for talus mol view",
     .is_setting = true},
    {.name = "fixman",
     .kind = CLI_FLAG,
     .help = "add Fixman's potential, which compensates the effect of rigid bonds and angles on "
             "the statistics",
     .is_setting = true},
    {.name = "born",
     .kind = CLI_FLAG,
     .help = "add water as a continuum: generalized Born, with the radii of the topology",
     .is_setting = true},
    {.name = "cutoff",
     .kind = CLI_NUMBER,
     .value = "NM",
     .initial = "0",
     .help = "largest distance of pairs that interact; 0: no limit, or in a box the smaller of "
             "0.9 nm and half its shortest edge",
     .is_setting = true},
    {.name = "vacuum",
     .kind = CLI_FLAG,
     .help = "ignore the periodic box of the coordinates",
     .is_setting = true},
    {.name = "amber-coulomb",
     .kind = CLI_FLAG,
     .help = "use AMBER's constant of Coulomb's law instead of that of CODATA 2018",
     .is_setting = true},
    {.name = "tolerance",
     .kind = CLI_POSITIVE,
     .value = "NUMBER",
     .initial = "0.001",
     .help = "minimize: root mean square of forces at the end [kJ/mol/nm, kJ/mol/rad]"},
    {.name = "iterations",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "10000",
     .help = "minimize: largest number of iterations"},
    {.name = "names",
     .kind = CLI_TEXT,
     .value = "FILE",
     .help = "convert: file with the names of the atoms, for a .dcd or .inpcrd file"},
    {.name = "frame",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .help = "convert: only this frame; the first one is 0"},
    {.name = "stride",
     .kind = CLI_COUNT,
     .value = "NUMBER",
     .initial = "1",
     .help = "convert: write one of every NUMBER frames"},
    {0}};

const cli_command cmd_mol = {
    .name = "mol",
    .group = CLI_STUDIES,
    .files = "ACTION FILE [COORDINATES] [TARGET|RUN]",
    .min_files = 2,
    .max_files = 4,
    .summary = "molecules: energies, minima, dynamics, and their files",
    .about =
        "ACTION is info, energy, minimize, run, view, convert or fit. FILE is AMBER's topology "
        "(.prmtop), COORDINATES a file of its atoms: .inpcrd, .rst7, .pdb, .cif, .xyz or .dcd; "
        "its last frame is used. info and convert accept any of these files alone. run writes a "
        "table of temperature, the conserved quantity and energies by term, for talus plot; "
        "initial velocities are random. minimize and fit write coordinates. view writes a page "
        "with balls and sticks, which move if RUN is a table that run wrote with --coordinates. "
        "fit brings the atoms as near to their positions in TARGET as torsions allow. Lengths "
        "are in nm, times in ps, energies in kJ/mol.",
    .common = CLI_JSON | CLI_QUIET | CLI_SEED | CLI_OUT | CLI_FORMAT | CLI_RESULT | CLI_RESUME,
    .options = options,
    .example = "talus mol run ala.prmtop ala.inpcrd -o ala.sto --trajectory ala.dcd",
    .example_help = "10 ps at 300 K in torsion space",
    .run = act};
