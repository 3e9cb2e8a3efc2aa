// How far a model reaches through its runs, in any direction: for the camera and the floor.
import * as THREE from 'three';
import { Poses } from './poses.js';

const MOST_FRAMES = 150;
const MOST_PLACES = 12000; // frames times bodies that are looked at
const TRAVELS = 3; // sizes of the model: who goes farther is followed

/** The mass center of all bodies. */
export function centerOf(bodies, poses) {
    const center = new THREE.Vector3();
    const point = [0, 0, 0];
    let total = 0;
    bodies.forEach(({ com, mass }, b) => {
        if (!(mass > 0)) return;
        const [x, y, z] = poses.station(b, com[0], com[1], com[2], point);
        center.addScaledVector(new THREE.Vector3(x, y, z), mass);
        total += mass;
    });
    return center.divideScalar(total || 1);
}

// ---- shapes as solids {p, axes, kind}: a center and three half axes on the body. Kinds: round (an
// ellipsoid), box, tube (a cylinder along the second axis).

function frameOf(X) {
    const h = new THREE.Quaternion(X[4], X[5], X[6], X[3]);
    const axes = [0, 1, 2].map((k) => new THREE.Vector3().setComponent(k, 1).applyQuaternion(h));
    return { p: new THREE.Vector3(X[0], X[1], X[2]), axes };
}

function solidOf(X, size, kind, center = [0, 0, 0]) {
    const { p, axes } = frameOf(X);
    center.forEach((c, k) => p.addScaledVector(axes[k], c));
    axes.forEach((axis, k) => axis.multiplyScalar(size[k]));
    return { p, axes, kind };
}

function meshSolid(X, [factor], { low, high }) {
    const half = low.map((x, k) => (factor * (high[k] - x)) / 2);
    const center = low.map((x, k) => (factor * (high[k] + x)) / 2);
    return solidOf(X, half, 'box', center);
}

// The solid that holds a shape; null for what has no end, and for labels.
function solidFor({ kind, X, size, end, mesh }, meshes) {
    const [a, b] = size;
    switch (kind) {
        case 'sphere':
            return solidOf(X, [a, a, a], 'round');
        case 'ellipsoid':
            return solidOf(X, size, 'round');
        case 'brick':
            return solidOf(X, size, 'box');
        case 'cylinder':
            return solidOf(X, [a, b, a], 'tube');
        case 'torus':
            return solidOf(X, [a + b, a + b, b], 'round');
        case 'line':
            return lineSolid(X, end);
        case 'mesh':
            return meshes[mesh] ? meshSolid(X, size, meshes[mesh]) : null;
        default:
            return null;
    }
}

function lineSolid(X, end) {
    const { p, axes } = frameOf(X);
    const half = new THREE.Vector3();
    end.forEach((x, k) => half.addScaledVector(axes[k], x / 2));
    return { p: p.add(half), axes: [half, new THREE.Vector3(), new THREE.Vector3()], kind: 'box' };
}

// How far a solid reaches from its center along n.
function reachOf({ axes, kind }, n) {
    const [a, b, c] = axes.map((axis) => Math.abs(n.dot(axis)));
    if (kind === 'box') return a + b + c;
    return kind === 'tube' ? Math.hypot(a, c) + b : Math.hypot(a, b, c);
}

// The solids of each body; a point where it has none.
function solidsOf({ bodies, shapes, meshes = [] }) {
    const solids = bodies.map(() => []);
    for (const shape of shapes) {
        const solid = shape.layer === 'wrap' ? null : solidFor(shape, meshes);
        if (solid) solids[shape.body].push(solid);
    }
    const point = () => solidOf([0, 0, 0, 1, 0, 0, 0], [0, 0, 0], 'box');
    return solids.map((list, b) => (b > 0 && list.length === 0 ? [point()] : list));
}

// Where bodies and springs hang on Ground.
function anchorsOf({ bodies, links }) {
    const ends = links.filter((link) => link.layer === 'force').flatMap(({ a, b }) => [a, b]);
    const joints = bodies.filter(
        ({ parent, mobilizer }) => parent === 0 && !/^(free|translation)/.test(mobilizer)
    );
    return [
        ...ends.filter(([body]) => body === 0).map(([, x, y, z]) => new THREE.Vector3(x, y, z)),
        ...joints.map(({ X_PF }) => new THREE.Vector3(X_PF[0], X_PF[1], X_PF[2])),
    ];
}

/** What the runs of a scene fill. A live run is known at its first frame only. */
export class Extent {
    constructor(scene, isLive) {
        this.scene = scene;
        this.up = new THREE.Vector3(...scene.up);
        this.solids = solidsOf(scene);
        this.anchors = anchorsOf(scene);
        this.takeFrames();
        this.base = Math.max(
            1,
            scene.bodies.findIndex((body) => body.parent === 0)
        );
        // nobody knows where a free body of a live run will go
        const isFree = isLive && scene.bodies[this.base]?.mobilizer === 'free';
        this.travels = false;
        this.travels = isFree || (scene.bodies.length > 1 && this.width() > TRAVELS * scene.size);
        this.floor = this.findFloor();
    }

    // Matrices of all bodies, and the mass center, at frames that are evenly chosen.
    takeFrames() {
        const { bodies, runs } = this.scene;
        const poses = new Poses(bodies);
        const most = Math.max(2, Math.min(MOST_FRAMES, MOST_PLACES / bodies.length));
        this.frames = [];
        for (const run of runs) {
            const step = Math.max(1, Math.ceil(run.frames / most));
            for (let i = 0; i < run.frames; i += step) {
                poses.setFromRun(run, { i, part: 0 });
                this.frames.push({ m: poses.m.slice(), center: centerOf(bodies, poses) });
            }
        }
        if (this.frames.length === 0) {
            this.frames.push({ m: poses.m.slice(), center: new THREE.Vector3() });
        }
    }

    // Half the diagonal of the box of everything.
    width() {
        const ways = [0, 1, 2].map((k) => new THREE.Vector3().setComponent(k, 1));
        const sides = ways.map((n) => this.support(n) + this.support(n.clone().negate()));
        return Math.hypot(...sides) / 2;
    }

    /** The largest n . p of all points p; of a model that travels, from its mass center. */
    support(n) {
        let most = -Infinity;
        for (const { m, center } of this.frames) {
            const from = this.travels ? n.dot(center) : 0;
            // what stands on Ground counts only where there is nothing else
            for (let b = this.solids.length > 1 ? 1 : 0; b < this.solids.length; ++b) {
                const far = this.bodySupport(m, b, n) - from;
                const isLost = this.travels && far > TRAVELS * this.scene.size * n.length();
                if (far > most && !isLost) most = far;
            }
        }
        if (!this.travels) for (const p of this.anchors) most = Math.max(most, n.dot(p));
        return Number.isFinite(most) ? most : this.scene.size * n.length();
    }

    bodySupport(m, b, n) {
        const k = 16 * b;
        const local = new THREE.Vector3(
            m[k] * n.x + m[k + 1] * n.y + m[k + 2] * n.z,
            m[k + 4] * n.x + m[k + 5] * n.y + m[k + 6] * n.z,
            m[k + 8] * n.x + m[k + 9] * n.y + m[k + 10] * n.z
        );
        const origin = m[k + 12] * n.x + m[k + 13] * n.y + m[k + 14] * n.z;
        let most = -Infinity;
        for (const solid of this.solids[b]) {
            most = Math.max(most, origin + local.dot(solid.p) + reachOf(solid, local));
        }
        return most;
    }

    // The plane that bodies touch, if it is not steep; else level, through the lowest point.
    findFloor() {
        const plane = this.scene.shapes.find(({ kind, body }) => kind === 'plane' && body === 0);
        if (plane) {
            const { p, axes } = frameOf(plane.X);
            if (axes[1].dot(this.up) > 0.5) return { normal: axes[1], height: p.dot(axes[1]) };
        }
        const travels = this.travels;
        this.travels = false; // the floor stays where it is
        const height = -this.support(this.up.clone().negate());
        this.travels = travels;
        return { normal: this.up, height };
    }
}
