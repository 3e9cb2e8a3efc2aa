// A molecule from files as a model: its bodies, its State, and how its atoms act.
#ifndef TALUS_CLI_MOLECULE_H
#define TALUS_CLI_MOLECULE_H

#include "cli.h"
#include "model/model.h"

// A molecule of AMBER's topology, with the coordinates of another file. Zero-filled: none.
typedef struct cli_molecule {
    tal_prmtop made;
    tal_atoms *places; // the other file
    tal_mol_instance const *instance;
    cli_model model;    // without a file: System, State, matter, forces, hash
    tal_matter *matter; // of that
    tal_forces *forces; // of that
    tal_vec3 *x;        // [num] room for the positions of all atoms
    int num;
} cli_molecule;

// Read atoms of any format; what is wrong is printed. `names` may be NULL. An exit code.
int molecule_read_atoms(const cli_args *args, const char *path, const tal_atoms *names,
                        tal_atoms **out);

// Read the molecule of two files of the command line, from number `first` on, and make a System of
// it as --level, --cutoff, --born and the other options say; `drawn`: with balls and sticks. An
// exit code; destroy it in any case.
int molecule_read(const cli_args *args, int first, bool drawn, cli_molecule *out);
void molecule_destroy(cli_molecule *it);

// A frame of where the atoms are in a State, with the box of the file, behind those of `frames`. An
// exit code.
int molecule_add_frame(const cli_args *args, const cli_molecule *it, const tal_state *state,
                       tal_atoms *frames);
// Atoms like those of the topology, without frames; owned by the caller. NULL, and a sentence, when
// there is no memory.
tal_atoms *molecule_copy_atoms(const cli_args *args, const tal_atoms *atoms);

// Can frames go to this file? Asked before the work. An exit code.
int molecule_check_out(const cli_args *args, const char *option);
// Write frames to a file. An exit code.
int molecule_write(const cli_args *args, const tal_atoms *frames, const char *path);

// Run dynamics and write a table of energies and temperatures: talus mol run. An exit code.
int molecule_run(const cli_args *args, cli_molecule *molecule);

#endif // TALUS_CLI_MOLECULE_H
