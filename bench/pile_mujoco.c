// The piles of bench_pile.c in MuJoCo: boxes on a plane with friction 0.5 in elliptic cones, solved
// by Newton's method, all else as MuJoCo has it. Its contacts are soft: boxes sink in.
#include "pile_mujoco.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mujoco_pile {
    mjModel *model;
    mjData *data;
    double top; // height of the highest box at the start
};

enum {
    BYTES_PER_BOX = 300
};

static int write_boxes(char *text, size_t size, int columns, int high)
{
    const int side = (int)ceil(sqrt((double)columns));
    int n = 0;
    for (int i = 0; i < columns * high; ++i) {
        const int column = i / high, x = column % side, y = column / side;
        n += snprintf(text + n, size - (size_t)n,
                      "<body pos=\"%g %g %.17g\"><freejoint/><geom type=\"box\" size=\".1 .1 .1\" "
                      "mass=\"1\" friction=\"0.5 0 0\"/></body>\n",
                      0.5 * x, 0.5 * y, 0.1 + 0.2 * (i % high));
    }
    return n;
}

// The model as text: 4 points for each box, and room for twice as many.
static char *write_model(int columns, int high, double step)
{
    const int boxes = columns * high;
    const size_t size = 2000 + (size_t)boxes * BYTES_PER_BOX;
    char *text = calloc(size, 1);
    if (text == NULL) return NULL;
    int n = snprintf(text, size,
                     "<mujoco><option timestep=\"%g\" cone=\"elliptic\" solver=\"Newton\"/>"
                     "<size nconmax=\"%d\" njmax=\"%d\"/><worldbody>"
                     "<geom type=\"plane\" size=\"100 100 1\" friction=\"0.5 0 0\"/>\n",
                     step, 8 * boxes + 100, 24 * boxes + 300);
    n += write_boxes(text + n, size - (size_t)n, columns, high);
    (void)snprintf(text + n, size - (size_t)n, "</worldbody></mujoco>");
    return text;
}

static mjModel *load(const char *text)
{
    mjVFS *disk = calloc(1, sizeof *disk);
    if (disk == NULL) return NULL;
    mj_defaultVFS(disk);
    (void)mj_makeEmptyFileVFS(disk, "pile.xml", (int)strlen(text));
    memcpy(disk->filedata[0], text, strlen(text));
    char error[500] = "";
    mjModel *model = mj_loadXML("pile.xml", disk, error, sizeof error);
    if (model == NULL) (void)fprintf(stderr, "bench: MuJoCo says: %s\n", error);
    mj_deleteVFS(disk);
    free(disk);
    return model;
}

static double height_of_top(const mujoco_pile *pile)
{
    double top = 0.0;
    for (int b = 1; b < pile->model->nbody; ++b) {
        top = fmax(top, pile->data->qpos[7 * (b - 1) + 2]);
    }
    return top;
}

mujoco_pile *mujoco_pile_create(int columns, int high, double step)
{
    mujoco_pile *pile = calloc(1, sizeof *pile);
    char *text = write_model(columns, high, step);
    if (pile != NULL && text != NULL) pile->model = load(text);
    free(text);
    if (pile == NULL || pile->model == NULL) {
        free(pile);
        return NULL;
    }
    pile->data = mj_makeData(pile->model);
    pile->top = height_of_top(pile);
    return pile;
}

void mujoco_pile_destroy(mujoco_pile *pile)
{
    if (pile == NULL) return;
    mj_deleteData(pile->data);
    mj_deleteModel(pile->model);
    free(pile);
}

void mujoco_pile_step(void *context, long count)
{
    mujoco_pile *pile = context;
    for (long i = 0; i < count; ++i) {
        mj_step(pile->model, pile->data);
    }
}

int mujoco_pile_num_contacts(const mujoco_pile *pile)
{
    return pile->data->ncon;
}

double mujoco_pile_sunk(const mujoco_pile *pile)
{
    return pile->top - height_of_top(pile);
}
