// A model as a System of Simbody.
#include "build_simbody.hpp"

#include <cstring>

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

} // namespace

void simbody_model::add_bodies(const model *m)
{
    for (int b = 1; b < m->num_bodies; ++b) {
        const model_body &body = m->bodies[b];
        MobilizedBody &parent = matter.updMobilizedBody(MobilizedBodyIndex(body.parent));
        const Body::Rigid rigid(mass_properties(body.mass));
        const Transform X_PF = transform(body.X_PF);
        if (body.joint == MODEL_PIN) {
            (void)MobilizedBody::Pin(parent, X_PF, rigid, Transform());
        } else if (body.joint == MODEL_BALL) {
            (void)MobilizedBody::Ball(parent, X_PF, rigid, Transform());
        } else {
            (void)MobilizedBody::Free(parent, X_PF, rigid, Transform());
        }
    }
}

void simbody_model::add_loops(const model *m)
{
    for (int i = 0; i < m->num_loops; ++i) {
        const model_loop &loop = m->loops[i];
        MobilizedBody &body1 = matter.updMobilizedBody(MobilizedBodyIndex(loop.bodies[0]));
        MobilizedBody &body2 = matter.updMobilizedBody(MobilizedBodyIndex(loop.bodies[1]));
        const Vec3 at1 = vec(loop.stations[0]), at2 = vec(loop.stations[1]);
        if (loop.tie == MODEL_TIE_BALL) {
            (void)Constraint::Ball(body1, at1, body2, at2);
        } else if (loop.tie == MODEL_TIE_LINE) {
            (void)Constraint::PointOnLine(body1, UnitVec3(0, 0, 1), at1, body2, at2);
        } else {
            (void)Constraint::Rod(body1, at1, body2, at2, loop.length);
        }
    }
}

void simbody_model::add_forces(const model *m)
{
    if (m->has_gravity) gravity = Force::Gravity(forces, matter, vec(MODEL_GRAVITY));
    for (int i = 0; i < m->num_springs; ++i) {
        const model_spring &spring = m->springs[i];
        const MobilizedBody &body1 = matter.getMobilizedBody(MobilizedBodyIndex(spring.bodies[0]));
        const MobilizedBody &body2 = matter.getMobilizedBody(MobilizedBodyIndex(spring.bodies[1]));
        (void)Force::TwoPointLinearSpring(forces, body1, vec(spring.stations[0]), body2,
                                          vec(spring.stations[1]), spring.stiffness,
                                          spring.rest_length);
    }
    if (m->motor != 0.0) {
        const MobilizedBody &first = matter.getMobilizedBody(MobilizedBodyIndex(1));
        (void)Force::MobilityConstantForce(forces, first, MobilizerUIndex(0), m->motor);
    }
}

simbody_model::simbody_model(const model *m) : matter(system), forces(system)
{
    add_bodies(m);
    add_loops(m);
    add_forces(m);
    state = system.realizeTopology();
    system.realizeModel(state);
}

void simbody_model::set_values(const model *m, int k)
{
    std::memcpy(&state.updQ()[0], m->q[k], (std::size_t)m->nq * sizeof(double));
    std::memcpy(&state.updU()[0], m->u[k], (std::size_t)m->nu * sizeof(double));
}
