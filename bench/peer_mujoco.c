// MuJoCo as a contestant: its own pipeline without contacts, tendons, actuators and sensors.
//
// It numbers bodies depth first, and measures the angular speeds of balls and free bodies in the
// body's own axes; a free body's position and linear speeds come first. Answers are turned back.
#include "contestant.h"

#include <talus/common/lapack.h>

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *bytes;
    size_t used, size;
} text;

typedef struct mujoco_peer {
    const model *m;
    mjModel *mj;
    mjData *d, *copy;
    int *body;             ///< [num_bodies] its number there
    mjtNum *q[MODEL_SETS]; ///< the model's values, in its conventions
    mjtNum *u[MODEL_SETS];
    mjtNum *v[MODEL_SETS];
    mjtNum *out, *full, *jacp, *jacr;
} mujoco_peer;

enum {
    MOST_NESTED = 90, ///< bodies inside one another, in one file
    MOST_FILES = 20,
    MOST_NV = 1000 ///< its M takes nv^2 / 2 numbers, and as many times nv to factor for a chain
};

static void *room(size_t n, size_t size)
{
    void *bytes = calloc(n + 1, size);
    if (bytes == NULL) exit(EXIT_FAILURE);
    return bytes;
}

// --- the model as MJCF text ---

static void append(text *t, const char *piece)
{
    const size_t n = strlen(piece);
    if (t->used + n + 1 > t->size) {
        t->size = 2 * (t->size + n);
        t->bytes = realloc(t->bytes, t->size);
        if (t->bytes == NULL) exit(EXIT_FAILURE);
    }
    memcpy(t->bytes + t->used, piece, n + 1);
    t->used += n;
}

// Principal moments about the com and the axes they belong to. MuJoCo finds them itself if asked
// to, but only to about 1e-9.
static tal_mat3 principal_axes(const tal_mass_props *mass, double moments[3])
{
    const tal_sym3 I = tal_mass_props_central_inertia(*mass);
    double A[9] = {I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz};
    double work[200];
    const tal_matrix in = tal_matrix_view(A, 3, 3);
    if (tal_lapack_eig_sym(in, moments, true, work, 200, NULL) != TAL_OK) {
        exit(EXIT_FAILURE);
    }
    const tal_vec3 x = {A[0], A[1], A[2]}, y = {A[3], A[4], A[5]};
    const tal_mat3 R = {x, y, tal_v3_cross(x, y)};
    return R;
}

static void open_body(text *t, const model *m, int b)
{
    static const char *const kinds[] = {"hinge\" axis=\"0 0 1", "ball", "free"};
    const model_body *body = &m->bodies[b];
    const tal_quat e = tal_rotation_to_qt(&body->X_PF.R);
    const tal_vec3 p = body->X_PF.p, c = body->mass.com;
    double I[3];
    const tal_mat3 R = principal_axes(&body->mass, I);
    const tal_quat a = tal_rotation_to_qt(&R);
    char line[800];
    (void)snprintf(line, sizeof line,
                   "<body name=\"b%d\" pos=\"%.17g %.17g %.17g\" quat=\"%.17g %.17g %.17g %.17g\">"
                   "<inertial pos=\"%.17g %.17g %.17g\" mass=\"%.17g\" "
                   "quat=\"%.17g %.17g %.17g %.17g\" diaginertia=\"%.17g %.17g %.17g\"/>"
                   "<joint type=\"%s\"/>\n",
                   b, p.x, p.y, p.z, e.w, e.x, e.y, e.z, c.x, c.y, c.z, body->mass.mass, a.w, a.x,
                   a.y, a.z, I[0], I[1], I[2], kinds[body->joint]);
    append(t, line);
}

// The text in files that include one another: its parser refuses elements nested more than 100 deep
// in one file, and bodies nest.
typedef struct files {
    text texts[MOST_FILES];
    int count;
    int open[MOST_FILES];  ///< files being written, innermost last
    int depth[MOST_FILES]; ///< of the body each begins with
    int num_open;
} files;

static text *innermost(files *f)
{
    return &f->texts[f->open[f->num_open - 1]];
}

static void begin_file(files *f, int depth)
{
    if (f->count == MOST_FILES) exit(EXIT_FAILURE);
    f->open[f->num_open] = f->count++;
    f->depth[f->num_open++] = depth;
    append(innermost(f), "<mujoco>\n");
}

static void end_file(files *f)
{
    append(innermost(f), "</mujoco>\n");
    --f->num_open;
}

static void enter_body(files *f, const model *m, int b, int depth)
{
    if (depth % MOST_NESTED == 0) {
        char line[60];
        (void)snprintf(line, sizeof line, "<include file=\"part%d.xml\"/>\n", f->count);
        append(innermost(f), line);
        begin_file(f, depth);
    }
    open_body(innermost(f), m, b);
}

static void leave_body(files *f, int depth)
{
    append(innermost(f), "</body>\n");
    if (f->depth[f->num_open - 1] == depth) end_file(f);
}

// The tree is walked depth first, by first children and next siblings.
static void write_bodies(files *f, const model *m)
{
    int *child = room((size_t)m->num_bodies, sizeof *child);
    int *sibling = room((size_t)m->num_bodies, sizeof *sibling);
    for (int b = m->num_bodies - 1; b > 0; --b) {
        sibling[b] = child[m->bodies[b].parent];
        child[m->bodies[b].parent] = b;
    }
    int depth = 1;
    for (int b = child[0]; b != 0;) {
        enter_body(f, m, b, depth);
        if (child[b] != 0) {
            b = child[b];
            ++depth;
            continue;
        }
        leave_body(f, depth);
        while (sibling[b] == 0 && depth > 1) {
            b = m->bodies[b].parent;
            leave_body(f, --depth);
        }
        b = sibling[b];
    }
    free(child);
    free(sibling);
}

static void write_model(files *f, const model *m)
{
    char line[200];
    begin_file(f, 0);
    append(innermost(f), "<compiler angle=\"radian\" inertiafromgeom=\"false\"/>");
    append(innermost(f), "<size njmax=\"1\" nconmax=\"1\"/>");
    (void)snprintf(line, sizeof line, "<option gravity=\"%.17g %.17g %.17g\">", MODEL_GRAVITY.x,
                   MODEL_GRAVITY.y, MODEL_GRAVITY.z);
    append(innermost(f), line);
    append(innermost(f), "<flag contact=\"disable\" constraint=\"disable\" passive=\"disable\"/>");
    append(innermost(f), "</option><worldbody>\n");
    write_bodies(f, m);
    append(innermost(f), "</worldbody>");
    end_file(f);
}

static mjModel *load(const model *m)
{
    files *f = room(1, sizeof *f);
    mjVFS *disk = room(1, sizeof *disk);
    write_model(f, m);
    mj_defaultVFS(disk);
    for (int i = 0; i < f->count; ++i) {
        char name[40];
        (void)snprintf(name, sizeof name, "part%d.xml", i);
        (void)mj_makeEmptyFileVFS(disk, name, (int)f->texts[i].used);
        memcpy(disk->filedata[i], f->texts[i].bytes, f->texts[i].used);
        free(f->texts[i].bytes);
    }
    char error[500] = "";
    mjModel *mj = mj_loadXML("part0.xml", disk, error, sizeof error);
    if (mj == NULL) (void)fprintf(stderr, "bench: MuJoCo says: %s\n", error);
    mj_deleteVFS(disk);
    free(disk);
    free(f);
    return mj;
}

// --- its conventions and ours ---

static tal_vec3 load_v3(const double v[])
{
    return tal_v3(v[0], v[1], v[2]);
}

static void store_v3(double to[], tal_vec3 v)
{
    to[0] = v.x, to[1] = v.y, to[2] = v.z;
}

// Where the model's q and u of body b are, in one pass over the bodies.
typedef struct place {
    int b, q0, u0;
} place;

static place next(const model *m, place at)
{
    if (at.b == 0) return (place){1, 0, 0};
    const model_joint joint = m->bodies[at.b].joint;
    return (place){at.b + 1, at.q0 + model_joint_nq(joint), at.u0 + model_joint_nu(joint)};
}

static int dof_of(const mujoco_peer *self, int b)
{
    return self->mj->body_dofadr[self->body[b]];
}

static tal_mat3 R_FM_of(const model *m, place at, int k)
{
    const double *q = m->q[k] + at.q0;
    return tal_rotation_from_qt(tal_qt(q[0], q[1], q[2], q[3]));
}

// Accelerations, speeds and forces along u all turn alike: the turn is orthogonal.
static void from_model(const mujoco_peer *self, int k, const double in[], int stride, double out[],
                       int out_stride)
{
    const model *m = self->m;
    for (place at = next(m, (place){0, 0, 0}); at.b < m->num_bodies; at = next(m, at)) {
        const model_joint joint = m->bodies[at.b].joint;
        const int dof = dof_of(self, at.b);
        double from[6], to[6];
        for (int i = 0; i < model_joint_nu(joint); ++i) {
            from[i] = in[(at.u0 + i) * stride];
        }
        memcpy(to, from, sizeof to);
        if (joint != MODEL_PIN) {
            const int angular = joint == MODEL_FREE ? 3 : 0;
            if (joint == MODEL_FREE) memcpy(to, from + 3, 3 * sizeof(double));
            store_v3(to + angular, tal_m3_tmul_v3(R_FM_of(m, at, k), load_v3(from)));
        }
        for (int i = 0; i < model_joint_nu(joint); ++i) {
            out[(dof + i) * out_stride] = to[i];
        }
    }
}

static void to_model(const mujoco_peer *self, int k, const double in[], int stride, double out[],
                     int out_stride)
{
    const model *m = self->m;
    for (place at = next(m, (place){0, 0, 0}); at.b < m->num_bodies; at = next(m, at)) {
        const model_joint joint = m->bodies[at.b].joint;
        const int dof = dof_of(self, at.b);
        double from[6], to[6];
        for (int i = 0; i < model_joint_nu(joint); ++i) {
            from[i] = in[(dof + i) * stride];
        }
        memcpy(to, from, sizeof to);
        if (joint != MODEL_PIN) {
            const int angular = joint == MODEL_FREE ? 3 : 0;
            if (joint == MODEL_FREE) memcpy(to + 3, from, 3 * sizeof(double));
            store_v3(to, tal_m3_mul_v3(R_FM_of(m, at, k), load_v3(from + angular)));
        }
        for (int i = 0; i < model_joint_nu(joint); ++i) {
            out[(at.u0 + i) * out_stride] = to[i];
        }
    }
}

static void convert_q(const mujoco_peer *self, int k)
{
    const model *m = self->m;
    for (place at = next(m, (place){0, 0, 0}); at.b < m->num_bodies; at = next(m, at)) {
        const model_joint joint = m->bodies[at.b].joint;
        const double *from = m->q[k] + at.q0;
        mjtNum *to = self->q[k] + self->mj->jnt_qposadr[self->mj->body_jntadr[self->body[at.b]]];
        if (joint == MODEL_FREE) {
            memcpy(to, from + 4, 3 * sizeof *to);
            memcpy(to + 3, from, 4 * sizeof *to);
        } else {
            memcpy(to, from, (size_t)model_joint_nq(joint) * sizeof *to);
        }
    }
}

// --- life ---

static void *create(const model *m)
{
    if (m->nu > MOST_NV || !model_is_plain(m)) return NULL;
    mjModel *mj = load(m);
    if (mj == NULL) return NULL;
    mujoco_peer *self = room(1, sizeof *self);
    const size_t nv = (size_t)m->nu;
    *self = (mujoco_peer){.m = m, .mj = mj, .d = mj_makeData(mj), .copy = mj_makeData(mj)};
    self->body = room((size_t)m->num_bodies, sizeof *self->body);
    for (int b = 1; b < m->num_bodies; ++b) {
        char name[16];
        (void)snprintf(name, sizeof name, "b%d", b);
        self->body[b] = mj_name2id(mj, mjOBJ_BODY, name);
    }
    for (int k = 0; k < MODEL_SETS; ++k) {
        self->q[k] = room((size_t)m->nq, sizeof(mjtNum));
        self->u[k] = room(nv, sizeof(mjtNum));
        self->v[k] = room(nv, sizeof(mjtNum));
        convert_q(self, k);
        from_model(self, k, m->u[k], 1, self->u[k], 1);
        from_model(self, k, m->v[k], 1, self->v[k], 1);
    }
    self->out = room(nv, sizeof(mjtNum));
    self->full = room(nv * nv, sizeof(mjtNum));
    self->jacp = room(3 * nv, sizeof(mjtNum));
    self->jacr = room(3 * nv, sizeof(mjtNum));
    return self;
}

static void destroy(void *context)
{
    mujoco_peer *self = context;
    for (int k = 0; k < MODEL_SETS; ++k) {
        free(self->q[k]);
        free(self->u[k]);
        free(self->v[k]);
    }
    free(self->body);
    free(self->out);
    free(self->full);
    free(self->jacp);
    free(self->jacr);
    mj_deleteData(self->d);
    mj_deleteData(self->copy);
    mj_deleteModel(self->mj);
    free(self);
}

// --- what it computes ---

static void place_bodies(mujoco_peer *self, int k)
{
    memcpy(self->d->qpos, self->q[k], (size_t)self->mj->nq * sizeof(mjtNum));
    memcpy(self->d->qvel, self->u[k], (size_t)self->mj->nv * sizeof(mjtNum));
    mj_kinematics(self->mj, self->d);
    mj_comPos(self->mj, self->d);
}

static void forward(mujoco_peer *self, bool fresh, const mjtNum f[])
{
    const int nv = self->mj->nv;
    if (fresh) {
        mj_crb(self->mj, self->d);
        mj_factorM(self->mj, self->d);
        mj_comVel(self->mj, self->d);
        mj_rne(self->mj, self->d, 0, self->d->qfrc_bias);
    }
    for (int i = 0; i < nv; ++i) {
        self->out[i] = (fresh ? 0.0 : f[i]) - self->d->qfrc_bias[i];
    }
    mj_solveM(self->mj, self->d, self->d->qacc, self->out, 1);
}

static void compute(mujoco_peer *self, quantity what, bool fresh, int k)
{
    const size_t nv = (size_t)self->mj->nv;
    mjModel *mj = self->mj;
    mjData *d = self->d;
    if (fresh) place_bodies(self, k);
    if (fresh && (what == MULTIPLY_M || what == SOLVE_M || what == EXPLICIT_M)) mj_crb(mj, d);
    if (fresh && what == SOLVE_M) mj_factorM(mj, d);
    switch (what) {
    case KINEMATICS:
        mj_comVel(mj, d);
        break;
    case INVERSE:
        memcpy(d->qacc, self->v[k], nv * sizeof(mjtNum));
        if (fresh) mj_comVel(mj, d);
        mj_rne(mj, d, 1, self->out);
        break;
    case FORWARD:
        forward(self, fresh, self->v[k]);
        break;
    case MULTIPLY_M:
        mj_mulM(mj, d, self->out, self->v[k]);
        break;
    case SOLVE_M:
        mj_solveM(mj, d, self->out, self->v[k], 1);
        break;
    case EXPLICIT_M:
        if (!fresh) mj_crb(mj, d); // positions are what is cached, not its composite inertias
        mj_fullM(mj, self->full, d->qM);
        break;
    case JACOBIAN:
        mj_jacBody(mj, d, self->jacp, self->jacr, self->body[self->m->num_bodies - 1]);
        break;
    case STATE_COPY:
        (void)mj_copyData(self->copy, mj, d);
        break;
    case NUM_QUANTITIES:
        break;
    }
}

static void run(void *self, quantity what, bool fresh, long count)
{
    for (long i = 0; i < count; ++i) {
        compute(self, what, fresh, (int)(i % MODEL_SETS));
    }
}

static void answer_kinematics(const mujoco_peer *self, double out[])
{
    const int last = self->body[self->m->num_bodies - 1];
    const mjtNum *R = self->d->xmat + 9 * last; // by rows
    for (int i = 0; i < 9; ++i) {
        out[i] = R[3 * (i % 3) + i / 3];
    }
    memcpy(out + 9, self->d->xpos + 3 * last, 3 * sizeof(double));
    mj_objectVelocity(self->mj, self->d, mjOBJ_XBODY, last, out + 12, 0);
}

static void answer(void *context, quantity what, bool fresh, double out[])
{
    mujoco_peer *self = context;
    const int nv = self->mj->nv;
    if (!fresh) compute(self, FORWARD, true, 0);
    compute(self, what, fresh, 0);
    if (what == KINEMATICS) {
        answer_kinematics(self, out);
    } else if (what == EXPLICIT_M) {
        for (int j = 0; j < nv; ++j) {
            to_model(self, 0, self->full + j, nv, self->out, 1);
            for (int i = 0; i < nv; ++i) {
                self->full[i * nv + j] = self->out[i];
            }
        }
        for (int i = 0; i < nv; ++i) {
            to_model(self, 0, self->full + (size_t)i * (size_t)nv, 1, out + i, nv);
        }
    } else if (what == JACOBIAN) {
        for (int i = 0; i < 3; ++i) {
            to_model(self, 0, self->jacr + (size_t)i * (size_t)nv, 1, out + i, 6);
            to_model(self, 0, self->jacp + (size_t)i * (size_t)nv, 1, out + 3 + i, 6);
        }
    } else {
        to_model(self, 0, what == FORWARD ? self->d->qacc : self->out, 1, out, 1);
    }
}

const contestant contestant_mujoco = {"MuJoCo", create, destroy, NULL, run, answer, true};
