// Simbody as a contestant. Its conventions for q and u are the model's own.
#include "contestant.h"

#include <Simbody.h>
#include <cstring>
#include <vector>

using namespace SimTK;

namespace
{

Vec3 vec(tal_vec3 v)
{
    return Vec3(v.x, v.y, v.z);
}

Transform transform(const tal_xform &X)
{
    Mat33 R;
    R.col(0) = vec(X.R.x), R.col(1) = vec(X.R.y), R.col(2) = vec(X.R.z);
    return Transform(Rotation(R, true), vec(X.p));
}

MassProperties mass_properties(const tal_mass_props &from)
{
    const tal_sym3 &I = from.inertia;
    return MassProperties(from.mass, vec(from.com), Inertia(I.xx, I.yy, I.zz, I.xy, I.xz, I.yz));
}

struct simbody_peer {
    const model *m;
    MultibodySystem system;
    SimbodyMatterSubsystem matter;
    GeneralForceSubsystem forces;
    Force::Gravity gravity;
    State state, copy;
    Vector v[MODEL_SETS], out, none;
    Matrix M;
    RowVector_<SpatialVec> J;

    explicit simbody_peer(const model *from)
        : m(from), matter(system), forces(system), gravity(forces, matter, vec(MODEL_GRAVITY))
    {
        std::vector<MobilizedBody> bodies(1, matter.Ground());
        for (int b = 1; b < m->num_bodies; ++b) {
            const model_body &body = m->bodies[b];
            MobilizedBody &parent = bodies[(std::size_t)body.parent];
            const Body::Rigid rigid(mass_properties(body.mass));
            const Transform X_PF = transform(body.X_PF);
            if (body.joint == MODEL_PIN) {
                bodies.push_back(MobilizedBody::Pin(parent, X_PF, rigid, Transform()));
            } else if (body.joint == MODEL_BALL) {
                bodies.push_back(MobilizedBody::Ball(parent, X_PF, rigid, Transform()));
            } else {
                bodies.push_back(MobilizedBody::Free(parent, X_PF, rigid, Transform()));
            }
        }
        state = system.realizeTopology();
        system.realizeModel(state);
        for (int k = 0; k < MODEL_SETS; ++k) {
            v[k].resize(m->nu);
            std::memcpy(&v[k][0], m->v[k], (std::size_t)m->nu * sizeof(double));
        }
        out.resize(m->nu);
        none.resize(m->nu);
        none = 0;
    }

    void set_values(int k)
    {
        std::memcpy(&state.updQ()[0], m->q[k], (std::size_t)m->nq * sizeof(double));
        std::memcpy(&state.updU()[0], m->u[k], (std::size_t)m->nu * sizeof(double));
    }

    void compute(quantity what, bool fresh, int k)
    {
        if (fresh) set_values(k);
        switch (what) {
        case KINEMATICS:
            system.realize(state, Stage::Velocity);
            break;
        case INVERSE:
            system.realize(state, Stage::Velocity);
            matter.calcResidualForceIgnoringConstraints(state, none, gravity.getBodyForces(state),
                                                        v[k], out);
            break;
        case FORWARD:
            system.realize(state, Stage::Acceleration);
            break;
        case MULTIPLY_M:
            system.realize(state, Stage::Position);
            matter.multiplyByM(state, v[k], out);
            break;
        case SOLVE_M:
            system.realize(state, Stage::Position);
            matter.multiplyByMInv(state, v[k], out);
            break;
        case EXPLICIT_M:
            system.realize(state, Stage::Position);
            matter.calcM(state, M);
            break;
        case JACOBIAN:
            system.realize(state, Stage::Position);
            matter.calcFrameJacobian(state, MobilizedBodyIndex(m->num_bodies - 1), Vec3(0), J);
            break;
        case STATE_COPY:
            copy = state;
            break;
        case NUM_QUANTITIES:
            break;
        }
    }
};

void *create(const model *m)
{
    return new simbody_peer(m);
}

void destroy(void *context)
{
    delete static_cast<simbody_peer *>(context);
}

bool can(const void *context, quantity what, bool fresh)
{
    const simbody_peer *self = static_cast<const simbody_peer *>(context);
    if (what == EXPLICIT_M && self->m->nu > MODEL_MOST_EXPLICIT) return false;
    return what == STATE_COPY ? !fresh : fresh || what > FORWARD;
}

void run(void *context, quantity what, bool fresh, long count)
{
    simbody_peer *self = static_cast<simbody_peer *>(context);
    for (long i = 0; i < count; ++i) {
        self->compute(what, fresh, (int)(i % MODEL_SETS));
    }
}

void store(double out[], int at, const Vec3 &v)
{
    for (int i = 0; i < 3; ++i) {
        out[at + i] = v[i];
    }
}

void answer(void *context, quantity what, double out[])
{
    simbody_peer *self = static_cast<simbody_peer *>(context);
    self->compute(what, true, 0);
    const int nu = self->m->nu;
    if (what == KINEMATICS) {
        const MobilizedBody &last =
            self->matter.getMobilizedBody(MobilizedBodyIndex(self->m->num_bodies - 1));
        const Transform &X = last.getBodyTransform(self->state);
        const SpatialVec &V = last.getBodyVelocity(self->state);
        for (int i = 0; i < 3; ++i) {
            store(out, 3 * i, Vec3(X.R().col(i)));
        }
        store(out, 9, X.p());
        store(out, 12, V[0]);
        store(out, 15, V[1]);
    } else if (what == EXPLICIT_M) {
        for (int j = 0; j < nu; ++j) {
            for (int i = 0; i < nu; ++i) {
                out[j * nu + i] = self->M(i, j);
            }
        }
    } else if (what == JACOBIAN) {
        for (int j = 0; j < nu; ++j) {
            store(out, 6 * j, self->J[j][0]);
            store(out, 6 * j + 3, self->J[j][1]);
        }
    } else {
        const Vector &from = what == FORWARD ? self->state.getUDot() : self->out;
        for (int i = 0; i < nu; ++i) {
            out[i] = from[i];
        }
    }
}

} // namespace

extern "C" const contestant contestant_simbody = {"Simbody", create, destroy, can,
                                                  run,       answer, false};
