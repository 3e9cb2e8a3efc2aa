// api_simulate MODEL END ROWS FILE: what `talus simulate MODEL -e END --every END/ROWS -c
// q,u,energy -o FILE` does, written with the library alone. cli.sh compares the two.
#include <talus/talus.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct run {
    tal_model model;
    tal_state *state, *shown; // where the run stands; at the time of a row
    tal_integrator *integ;
    tal_table *table;
    double *row;
} run;

static tal_status begin(run *r, const char *path)
{
    tal_status st = tal_model_read_file(path, NULL, &r->model, NULL);
    if (st == TAL_OK) st = tal_state_create(r->model.system, &r->state, NULL);
    if (st == TAL_OK) st = tal_state_create(r->model.system, &r->shown, NULL);
    if (st == TAL_OK) st = tal_state_copy(r->state, r->model.state);
    if (st == TAL_OK) st = tal_integrator_create(r->model.system, NULL, &r->integ, NULL);
    if (st != TAL_OK) return st;
    const int nq = tal_state_nq(r->state), nu = tal_state_nu(r->state);
    char name[32];
    r->row = calloc((size_t)(nq + nu) + 4, sizeof *r->row);
    r->table = tal_table_create(NULL);
    st = tal_table_add_column(r->table, "time");
    for (int i = 0; i < nq + nu + 3 && st == TAL_OK; ++i) {
        (void)snprintf(name, sizeof name, "column%d", i);
        st = tal_table_add_column(r->table, name);
    }
    return st;
}

static tal_status add_row(run *r, double t)
{
    tal_status st = tal_state_t(r->state) > t
                        ? tal_integrator_interpolate(r->integ, r->state, t, r->shown)
                        : tal_state_copy(r->shown, r->state);
    if (st == TAL_OK) st = tal_system_realize(r->model.system, r->shown, TAL_STAGE_VELOCITY);
    if (st != TAL_OK) return st;
    int n = 0;
    r->row[n++] = t;
    for (int i = 0; i < tal_state_nq(r->shown); ++i) {
        r->row[n++] = tal_state_q(r->shown)[i];
    }
    for (int i = 0; i < tal_state_nu(r->shown); ++i) {
        r->row[n++] = tal_state_u(r->shown)[i];
    }
    r->row[n++] = tal_matter_kinetic_energy(r->model.matter, r->shown);
    r->row[n++] = tal_forces_potential_energy(r->model.forces, r->shown);
    r->row[n] = r->row[n - 1] + r->row[n - 2];
    return tal_table_add_row(r->table, r->row);
}

static tal_status go(run *r, double end, int rows)
{
    // a step of no length makes the State consistent
    tal_status st = tal_integrator_step(r->integ, r->state, tal_state_t(r->state));
    for (int k = 0; k <= rows && st == TAL_OK; ++k) {
        const double t = k == rows ? end : k * (end / rows);
        while (st == TAL_OK && tal_state_t(r->state) < t) {
            st = tal_integrator_step(r->integ, r->state, end);
        }
        if (st == TAL_OK) st = add_row(r, t);
    }
    return st;
}

int main(int argc, char *argv[])
{
    if (argc != 5) {
        (void)fprintf(stderr, "usage: api_simulate MODEL END ROWS FILE\n");
        return 2;
    }
    run r = {0};
    tal_status st = begin(&r, argv[1]);
    if (st == TAL_OK) st = go(&r, atof(argv[2]), atoi(argv[3]));
    if (st == TAL_OK) st = tal_table_write_file(r.table, argv[4], NULL);
    if (st != TAL_OK) (void)fprintf(stderr, "api_simulate: %s\n", tal_status_text(st));
    tal_table_destroy(r.table);
    free(r.row);
    tal_integrator_destroy(r.integ);
    tal_state_destroy(r.shown);
    tal_state_destroy(r.state);
    tal_model_destroy(&r.model);
    return st != TAL_OK;
}
