// Shapes to draw with: unit geometries, many copies of each in one call, and sticks between points.
import * as THREE from 'three';

/** Colors by Okabe and Ito, which people with any kind of color vision can tell apart. */
export const palette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9'];
/** The same, lighter, for lines on a dark ground. */
export const lightPalette = ['#5fb0ea', '#e69f00', '#2fc59a', '#e3a3cb', '#f0824a', '#a9dcf7'];
export const axisColors = ['#d55e00', '#009e73', '#0072b2'];

// A helix of radius 1 along y, as long as COIL, with straight ends; scaled to length 1 when it is
// made, so that its wire is round where it is COIL times as long as wide.
const COIL = 14;
class Helix extends THREE.Curve {
    getPoint(t, out = new THREE.Vector3()) {
        const inside = Math.min(1, Math.max(0, (t - 0.12) / 0.76));
        const edge = Math.min(1, Math.max(0, Math.min(t - 0.06, 0.94 - t) / 0.06));
        const turn = inside * 8 * 2 * Math.PI;
        return out.set(edge * Math.cos(turn), COIL * (t - 0.5), edge * Math.sin(turn));
    }
}

const makers = {
    sphere: (around) => new THREE.SphereGeometry(1, around, Math.round(0.6 * around)),
    brick: () => new THREE.BoxGeometry(2, 2, 2),
    cylinder: (around) => new THREE.CylinderGeometry(1, 1, 1, around),
    cone: () => new THREE.ConeGeometry(1, 1, 24),
    octahedron: () => new THREE.OctahedronGeometry(1),
    ring: () => new THREE.TorusGeometry(1, 0.12, 12, 40, 1.6 * Math.PI),
    square: () => new THREE.PlaneGeometry(2, 2).rotateX(-Math.PI / 2),
    disc: () => new THREE.CylinderGeometry(1, 1, 0.04, 32),
    helix: () => new THREE.TubeGeometry(new Helix(), 240, 0.2, 6).scale(1, 1 / COIL, 1),
};
const made = new Map();

/** Edges around round shapes, for so many shapes: all of them together stay quick to draw. */
export function edgesFor(shapes) {
    return shapes < 60 ? 40 : shapes < 300 ? 28 : 18;
}

/** A unit geometry by name, with so many edges around it. */
export function geometryOf(name, around = 18) {
    const key = `${name} ${around}`;
    if (!made.has(key)) made.set(key, makers[name](around));
    return made.get(key);
}

export function torusGeometry(ring, tube) {
    return new THREE.TorusGeometry(ring, tube, 24, 64);
}

export function meshGeometry({ positions, index }) {
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute('position', new THREE.BufferAttribute(positions, 3));
    indexed.setIndex(new THREE.BufferAttribute(index, 1));
    const flat = indexed.toNonIndexed(); // corners stay corners
    flat.computeVertexNormals();
    return flat;
}

export function solidMaterial(opacity = 1, more = {}) {
    return new THREE.MeshStandardMaterial({
        roughness: 0.62,
        metalness: 0.0,
        transparent: opacity < 1,
        opacity,
        depthWrite: opacity > 0.6,
        ...more,
    });
}

/** The matrix of a transform [p, quaternion], with a scale along its axes. */
export function matrixOf(X, scale = [1, 1, 1]) {
    const p = new THREE.Vector3(X[0], X[1], X[2]);
    const h = new THREE.Quaternion(X[4], X[5], X[6], X[3]);
    return new THREE.Matrix4().compose(p, h, new THREE.Vector3(...scale));
}

/** The matrix of a unit cylinder along y that reaches from one point to another. */
export function stickMatrix(from, to, radius) {
    const a = new THREE.Vector3(...from);
    const d = new THREE.Vector3(...to).sub(a);
    const length = d.length();
    const turn = new THREE.Quaternion().setFromUnitVectors(
        new THREE.Vector3(0, 1, 0),
        d.clone().divideScalar(length || 1)
    );
    return new THREE.Matrix4().compose(
        a.addScaledVector(d, 0.5),
        turn,
        new THREE.Vector3(radius, length, radius)
    );
}

// out = a b for matrices by columns whose last row is 0 0 0 1
function multiply(a, i, b, out, k) {
    for (let c = 0; c < 4; ++c) {
        const x = b[4 * c];
        const y = b[4 * c + 1];
        const z = b[4 * c + 2];
        const w = c === 3 ? 1 : 0;
        out[k + 4 * c] = a[i] * x + a[i + 4] * y + a[i + 8] * z + a[i + 12] * w;
        out[k + 4 * c + 1] = a[i + 1] * x + a[i + 5] * y + a[i + 9] * z + a[i + 13] * w;
        out[k + 4 * c + 2] = a[i + 2] * x + a[i + 6] * y + a[i + 10] * z + a[i + 14] * w;
        out[k + 4 * c + 3] = w;
    }
}

/** Copies of one geometry, each fixed on a body. */
export class Batch {
    constructor(geometry, material, layer) {
        Object.assign(this, { geometry, material, layer, entries: [], mesh: null });
    }

    add(body, matrix, color) {
        this.entries.push({ body, local: Float32Array.from(matrix.elements), color });
    }

    build(parent) {
        const { entries } = this;
        this.mesh = new THREE.InstancedMesh(this.geometry, this.material, entries.length);
        entries.forEach(({ color }, i) => this.mesh.setColorAt(i, new THREE.Color(color)));
        this.mesh.frustumCulled = false;
        const solid = this.material.opacity > 0.6 && !this.material.wireframe;
        this.mesh.castShadow = solid;
        this.mesh.receiveShadow = solid;
        if (this.material.depthTest === false) this.mesh.renderOrder = 10;
        this.mesh.userData.bodyOf = (i) => entries[i].body;
        parent.add(this.mesh);
    }

    update(poses, isHidden) {
        const out = this.mesh.instanceMatrix.array;
        this.entries.forEach(({ body, local }, i) => {
            if (isHidden[body]) out.fill(0, 16 * i, 16 * i + 16);
            else multiply(poses.m, 16 * body, local, out, 16 * i);
        });
        this.mesh.instanceMatrix.needsUpdate = true;
    }
}

/** Copies of one geometry along y that are placed anew in every frame. */
export class Sticks {
    constructor(parent, geometry, material, capacity, shadow = true) {
        this.mesh = new THREE.InstancedMesh(geometry, material, Math.max(1, capacity));
        this.mesh.frustumCulled = false;
        this.mesh.castShadow = shadow;
        this.mesh.setColorAt(0, new THREE.Color('#ffffff'));
        this.mesh.count = 0; // nothing is there before the first frame
        this.capacity = capacity;
        this.used = 0;
        this.color = new THREE.Color();
        this.mesh.userData.bodyOf = () => -1;
        parent.add(this.mesh);
    }

    begin() {
        this.used = 0;
    }

    // Columns of a frame whose y points along d, scaled by radius, length, radius.
    place(x, y, z, dx, dy, dz, length, radius) {
        const m = this.mesh.instanceMatrix.array;
        const k = 16 * this.used++;
        const flat = Math.abs(dy) < 0.9;
        let ax = flat ? -dz : 0; // d cross y, or d cross x
        let ay = flat ? 0 : dz;
        let az = flat ? dx : -dy;
        const n = Math.hypot(ax, ay, az) || 1;
        ax /= n;
        ay /= n;
        az /= n;
        const bx = ay * dz - az * dy;
        const by = az * dx - ax * dz;
        const bz = ax * dy - ay * dx;
        m[k] = ax * radius;
        m[k + 1] = ay * radius;
        m[k + 2] = az * radius;
        m[k + 3] = 0;
        m[k + 4] = dx * length;
        m[k + 5] = dy * length;
        m[k + 6] = dz * length;
        m[k + 7] = 0;
        m[k + 8] = bx * radius;
        m[k + 9] = by * radius;
        m[k + 10] = bz * radius;
        m[k + 11] = 0;
        m[k + 12] = x;
        m[k + 13] = y;
        m[k + 14] = z;
        m[k + 15] = 1;
    }

    /** From point a to point b. */
    between(a, b, radius, color) {
        const dx = b[0] - a[0];
        const dy = b[1] - a[1];
        const dz = b[2] - a[2];
        const length = Math.hypot(dx, dy, dz);
        if (!(length > 0) || this.used >= this.capacity) return;
        if (color) this.mesh.setColorAt(this.used, this.color.set(color));
        this.place(
            (a[0] + b[0]) / 2,
            (a[1] + b[1]) / 2,
            (a[2] + b[2]) / 2,
            dx / length,
            dy / length,
            dz / length,
            length,
            radius
        );
    }

    /** At a point, `radius` large in all directions. */
    at(p, radius, color) {
        if (!Number.isFinite(p[0]) || this.used >= this.capacity) return;
        if (color) this.mesh.setColorAt(this.used, this.color.set(color));
        this.place(p[0], p[1], p[2], 0, 1, 0, radius, radius);
    }

    end() {
        this.mesh.count = this.used;
        this.mesh.instanceMatrix.needsUpdate = true;
        if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    }
}

/** Arrows: shafts and heads, and rings for moments. */
export class Arrows {
    constructor(parent, capacity, color, unit) {
        // arrows begin inside bodies: they are drawn over them
        const material = solidMaterial(1, {
            color,
            roughness: 0.5,
            depthTest: false,
            transparent: true,
        });
        this.unit = unit;
        this.shafts = new Sticks(parent, geometryOf('cylinder', 24), material, capacity, false);
        this.heads = new Sticks(parent, geometryOf('cone'), material, capacity, false);
        this.rings = new Sticks(parent, geometryOf('ring'), material, capacity, false);
        for (const part of [this.shafts, this.heads, this.rings]) part.mesh.renderOrder = 9;
    }

    begin() {
        this.shafts.begin();
        this.heads.begin();
        this.rings.begin();
    }

    /** An arrow from p along v. */
    add(p, v, isMoment = false) {
        const length = Math.hypot(v[0], v[1], v[2]);
        if (!(length > 0.02 * this.unit)) return;
        const head = Math.min(0.09 * this.unit, 0.4 * length);
        const neck = 1 - head / length;
        const at = (s) => [p[0] + s * v[0], p[1] + s * v[1], p[2] + s * v[2]];
        this.shafts.between(p, at(neck), 0.1 * head + 0.004 * this.unit);
        this.heads.between(at(neck), at(1), 0.38 * head);
        if (!isMoment) return;
        const radius = 0.05 * this.unit;
        const [x, y, z] = at(0.5 * neck);
        const d = [v[0] / length, v[1] / length, v[2] / length];
        // the ring of the geometry lies in xy: its axis is z, the third column
        this.rings.place(x, y, z, d[0], d[1], d[2], radius, radius);
        turnRing(this.rings);
    }

    end() {
        this.shafts.end();
        this.heads.end();
        this.rings.end();
    }

    show(yes) {
        for (const part of [this.shafts, this.heads, this.rings]) part.mesh.visible = yes;
    }
}

// Exchange the second and third column of the last matrix, one with its sign turned.
function turnRing(sticks) {
    const m = sticks.mesh.instanceMatrix.array;
    const k = 16 * (sticks.used - 1);
    for (let i = 0; i < 3; ++i) {
        const y = m[k + 4 + i];
        m[k + 4 + i] = -m[k + 8 + i];
        m[k + 8 + i] = y;
    }
}
