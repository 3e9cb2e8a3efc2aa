// Simbody as a contestant.
#include "build_simbody.hpp"
#include "contestant.h"

#include <cstring>

using namespace SimTK;

namespace
{

struct simbody_peer : simbody_model {
    const model *m;
    State copy;
    Vector v[MODEL_SETS], out, none;
    Matrix M;
    RowVector_<SpatialVec> J;
    Vector_<SpatialVec> A_GB;

    explicit simbody_peer(const model *from) : simbody_model(from), m(from)
    {
        for (int k = 0; k < MODEL_SETS; ++k) {
            v[k].resize(m->nu);
            std::memcpy(&v[k][0], m->v[k], (std::size_t)m->nu * sizeof(double));
        }
        out.resize(m->nu);
        none.resize(m->nu);
        none = 0;
    }

    void compute(quantity what, bool fresh, int k)
    {
        if (fresh) set_values(m, k);
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
            if (fresh) {
                system.realize(state, Stage::Acceleration);
                break;
            }
            matter.calcAccelerationIgnoringConstraints(state, v[k], gravity.getBodyForces(state),
                                                       out, A_GB);
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

void answer(void *context, quantity what, bool fresh, double out[])
{
    simbody_peer *self = static_cast<simbody_peer *>(context);
    if (!fresh) self->compute(FORWARD, true, 0);
    self->compute(what, fresh, 0);
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
        const Vector &from = what == FORWARD && fresh ? self->state.getUDot() : self->out;
        for (int i = 0; i < nu; ++i) {
            out[i] = from[i];
        }
    }
}

} // namespace

extern "C" const contestant contestant_simbody = {"Simbody", create, destroy, nullptr,
                                                  run,       answer, false};
