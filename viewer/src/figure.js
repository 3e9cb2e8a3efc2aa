// A model as it looks in one run: bodies, joints, links, paths, markers, contacts, forces.
import * as THREE from 'three';
import { Arrows, Batch, Sticks, axisColors, edgesFor, geometryOf, meshGeometry, palette, solidMaterial, torusGeometry } from './glyphs.js';
import { Poses, frameAt, valueAt } from './poses.js';

const jointColor = '#4d6280';
const linkColors = { constraint: '#8e5bb0', force: '#009e73', bond: '#9aa3ad' };
const muscle = { low: new THREE.Color('#56b4e9'), high: new THREE.Color('#d55e00'), passive: new THREE.Color('#999999') };
const colorOf = (rgb) => new THREE.Color().setRGB(rgb[0], rgb[1], rgb[2], THREE.SRGBColorSpace);

function matrixOf(X, scale = [1, 1, 1]) {
    const p = new THREE.Vector3(X[0], X[1], X[2]);
    const h = new THREE.Quaternion(X[4], X[5], X[6], X[3]);
    return new THREE.Matrix4().compose(p, h, new THREE.Vector3(...scale));
}

// A unit cylinder along y from one point to another.
function stickMatrix(from, to, radius) {
    const a = new THREE.Vector3(...from);
    const d = new THREE.Vector3(...to).sub(a);
    const length = d.length();
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), d.clone().divideScalar(length || 1));
    return new THREE.Matrix4().compose(a.addScaledVector(d, 0.5), turn, new THREE.Vector3(radius, length, radius));
}

const identity = [0, 0, 0, 1, 0, 0, 0];
const layerOf = { atom: 'atoms', wrap: 'paths' };

/** One run of a scene. `index` tells runs apart: the first is solid, others are translucent. */
export class Figure {
    constructor(scene, run, index, parent, isHidden) {
        Object.assign(this, { scene, run, index, isHidden });
        this.L = scene.size;
        this.opacity = index === 0 ? 1 : 0.35;
        this.group = new THREE.Group();
        parent.add(this.group);
        this.poses = new Poses(scene.bodies);
        this.batches = new Map();
        this.layers = {};
        this.labels = []; // {body, p, text, layer}
        this.hasInside = scene.paths.length > 0 || scene.links.some((link) => link.layer === 'force');
        this.around = edgesFor(scene.shapes.length + scene.bodies.length);
        this.addShapes();
        this.addJoints();
        this.addCenters();
        this.addFrames();
        for (const batch of this.batches.values()) batch.build(this.group);
        this.addLinks();
        this.addMarkers();
        this.addPaths();
        this.addContacts();
        this.addForces();
    }

    // ---- what is fixed on bodies

    batch(layer, kind, geometry, opacity, more) {
        const key = `${layer}|${kind}|${opacity}|${more?.wireframe ?? ''}|${more?.map ? 'map' : ''}`;
        if (!this.batches.has(key)) {
            const material = solidMaterial(opacity, more);
            this.batches.set(key, new Batch(geometry ?? geometryOf(kind, this.around), material, layer));
        }
        return this.batches.get(key);
    }

    tint(color) {
        return this.index === 0 ? color : new THREE.Color(palette[this.index % palette.length]);
    }

    addShapes() {
        const decorated = new Set(this.scene.shapes.filter((s) => s.layer === 'decoration').map((s) => s.body));
        for (const shape of this.scene.shapes) {
            const isExtra = shape.layer === 'contact' && (decorated.has(shape.body) || shape.kind === 'plane');
            if (shape.kind === 'text') this.labels.push({ body: shape.body, p: shape.X, text: shape.text, layer: 'bodies' });
            else this.addShape(shape, isExtra ? 'surfaces' : layerOf[shape.layer] ?? 'bodies');
        }
    }

    addShape(shape, layer) {
        const { X, size, body } = shape;
        const color = this.tint(colorOf(shape.color));
        // muscles and springs run through bodies whose shape is made up: they let them show
        const hidesLinks = shape.layer === 'derived' && shape.kind !== 'line' && this.hasInside;
        const opacity = Math.min(hidesLinks ? 0.5 : shape.opacity, this.opacity);
        const put = (kind, matrix, geometry) => this.batch(layer, kind, geometry, opacity, shape.kind === 'plane' ? { side: THREE.DoubleSide } : undefined).add(body, matrix, color);
        const radius = shape.layer === 'derived' ? 0.011 * this.L : 0.006 * this.L;
        switch (shape.kind) {
            case 'sphere':
                return put('sphere', matrixOf(X, [size[0], size[0], size[0]]));
            case 'ellipsoid':
                return put('sphere', matrixOf(X, size));
            case 'brick':
                return put('brick', matrixOf(X, size));
            case 'cylinder':
                return put('cylinder', matrixOf(X, [size[0], 2 * size[1], size[0]]));
            case 'line':
                return put('cylinder', matrixOf(X).multiply(stickMatrix([0, 0, 0], shape.end, radius)));
            case 'torus':
                return put(`torus ${size[0]} ${size[1]}`, matrixOf(X), torusGeometry(size[0], size[1]));
            case 'plane':
                return put('square', matrixOf(X, [2 * this.L, 1, 2 * this.L]));
            case 'mesh':
                return this.scene.meshes[shape.mesh] && put(`mesh ${shape.mesh}`, matrixOf(X, size), this.meshGeometry(shape.mesh));
            default:
                return undefined;
        }
    }

    meshGeometry(i) {
        this.scene.meshGeometries ??= [];
        this.scene.meshGeometries[i] ??= meshGeometry(this.scene.meshes[i]);
        return this.scene.meshGeometries[i];
    }

    addJoints() {
        const L = this.L;
        const color = this.tint(new THREE.Color(jointColor));
        this.scene.bodies.forEach((body, b) => {
            if (b === 0) return;
            const put = (kind, scale, X = body.X_BM, opacity = this.opacity) => this.batch('joints', kind, undefined, opacity).add(b, matrixOf(X, scale), color);
            const along = (axis, length, radius) => {
                const end = [0, 0, 0];
                end[axis] = length / 2;
                const matrix = matrixOf(body.X_BM).multiply(stickMatrix(end.map((x) => -x), end, radius));
                this.batch('joints', 'cylinder', undefined, this.opacity).add(b, matrix, color);
            };
            this.addJoint(body, put, along, L);
        });
    }

    addJoint(body, put, along, L) {
        const kind = body.mobilizer.replaceAll('_', ' ');
        if (kind === 'pin' || kind === 'screw') along(2, 0.065 * L, 0.013 * L);
        else if (kind === 'cylinder') along(2, 0.11 * L, 0.011 * L);
        else if (kind === 'slider') put('brick', [0.045 * L, 0.012 * L, 0.012 * L]);
        else if (kind === 'universal') {
            along(0, 0.06 * L, 0.01 * L);
            along(1, 0.06 * L, 0.01 * L);
        } else if (kind === 'planar' || kind === 'bend stretch') put('brick', [0.04 * L, 0.04 * L, 0.004 * L]);
        else if (['ball', 'gimbal', 'line orientation'].includes(kind)) put('sphere', [0.02 * L, 0.02 * L, 0.02 * L]);
        else if (kind === 'weld') put('brick', [0.011 * L, 0.011 * L, 0.011 * L]);
        else if (kind === 'cantilever') along(2, 0.05 * L, 0.008 * L);
        else if (kind === 'function based') along(2, 0.06 * L, 0.012 * L);
    }

    addCenters() {
        const r = 0.018 * this.L;
        this.scene.bodies.forEach((body, b) => {
            if (!(body.mass > 0)) return;
            const X = [...body.com, 1, 0, 0, 0];
            this.batch('centers', 'sphere', undefined, 1, { map: quartered(), depthTest: false }).add(b, matrixOf(X, [r, r, r]), '#ffffff');
            const solid = inertiaEllipsoid(body);
            if (solid) this.batch('inertia', 'sphere', geometryOf('sphere'), 0.999, { wireframe: true }).add(b, solid, '#7a8699');
        });
    }

    addFrames() {
        const long = 0.12 * this.L;
        this.scene.bodies.forEach((body, b) => {
            axisColors.forEach((color, axis) => {
                const end = [0, 0, 0];
                end[axis] = long;
                const stick = matrixOf(identity).multiply(stickMatrix([0, 0, 0], end, 0.006 * this.L));
                this.batch('frames', 'cylinder', undefined, 1).add(b, stick, color);
            });
        });
    }

    // ---- what lies between points

    addLinks() {
        const { links } = this.scene;
        const count = links.length;
        const material = () => solidMaterial(this.opacity);
        this.rods = new Sticks(this.group, geometryOf('cylinder', this.around), material(), 2 * count + 12 * links.filter((l) => l.enabled === false).length);
        this.springs = new Sticks(this.group, geometryOf('helix'), material(), count);
        this.ends = new Sticks(this.group, geometryOf('sphere'), material(), 2 * count);
    }

    updateLinks() {
        const parts = [this.rods, this.springs, this.ends];
        parts.forEach((part) => part.begin());
        const r = 0.0075 * this.L;
        const a = [0, 0, 0];
        const b = [0, 0, 0];
        for (const link of this.scene.links) {
            if (this.isHidden[link.a[0]] && this.isHidden[link.b[0]]) continue;
            this.poses.station(link.a[0], link.a[1], link.a[2], link.a[3], a);
            this.poses.station(link.b[0], link.b[1], link.b[2], link.b[3], b);
            const color = this.index === 0 ? linkColors[link.layer] ?? linkColors.bond : palette[this.index % palette.length];
            const isSpring = link.layer === 'force' && !link.kind.includes('force');
            if (isSpring && link.kind.includes('spring')) this.springs.between(a, b, 2.4 * r, color);
            else if (link.enabled === false) dashes(this.rods, a, b, r, color);
            else this.rods.between(a, b, link.layer === 'bond' ? 1.6 * r : r, color);
            if (link.layer === 'bond') continue;
            this.ends.at(a, 2 * r, color);
            this.ends.at(b, 2 * r, color);
        }
        parts.forEach((part) => part.end());
    }

    addPaths() {
        const paths = this.scene.paths;
        const points = paths.reduce((sum, path) => sum + path.points, 0);
        this.tubes = new Sticks(this.group, geometryOf('cylinder', this.around), solidMaterial(this.opacity), points);
        this.knots = new Sticks(this.group, geometryOf('sphere'), solidMaterial(this.opacity), points);
        this.strongest = Math.max(1e-300, ...paths.map((path) => path.strength ?? 1));
    }

    // Channels of a path: activation, number of points, and for each point its body and p on it.
    updatePaths(frame) {
        const { run } = this;
        this.tubes.begin();
        this.knots.begin();
        const color = new THREE.Color();
        let channel = 0;
        for (const path of run?.paths ? this.scene.paths : []) {
            const value = (k) => valueAt(run.paths, channel + k, run.frames, frame);
            const row = (k) => run.paths[(channel + k) * run.frames + frame.i];
            const active = value(0);
            if (path.kind === 'passive' || Number.isNaN(active) || active < 0) color.copy(muscle.passive);
            else color.lerpColors(muscle.low, muscle.high, Math.min(1, Math.max(0, active)));
            const radius = this.L * (0.004 + 0.016 * Math.sqrt((path.strength ?? 1) / this.strongest)) * 0.8;
            let before = null;
            for (let k = 0; k < Math.round(row(1)); ++k) {
                const at = 2 + 4 * k;
                const p = this.poses.station(Math.round(row(at)), value(at + 1), value(at + 2), value(at + 3), [0, 0, 0]);
                if (before) this.tubes.between(before, p, radius, color);
                this.knots.at(p, radius, color);
                before = p;
            }
            channel += 2 + 4 * path.points;
        }
        this.tubes.end();
        this.knots.end();
    }

    // ---- markers

    addMarkers() {
        const model = this.scene.markers.length;
        const seen = this.run?.seenNames?.length ?? 0;
        this.modelMarkers = new Sticks(this.group, geometryOf('sphere'), solidMaterial(this.opacity, { color: '#0072b2' }), model);
        this.seenMarkers = new Sticks(this.group, geometryOf('octahedron'), solidMaterial(1, { color: '#e69f00', flatShading: true }), seen);
        this.misfits = new Sticks(this.group, geometryOf('cylinder'), solidMaterial(1, { color: '#d55e00' }), seen);
        this.markerOf = (this.run?.seenNames ?? []).map((name) => this.scene.markers.findIndex((m) => m.name === name));
    }

    updateMarkers(frame) {
        const parts = [this.modelMarkers, this.seenMarkers, this.misfits];
        parts.forEach((part) => part.begin());
        const r = 0.012 * this.L;
        const places = this.scene.markers.map((marker) => this.poses.station(marker.body, ...marker.p, [0, 0, 0]));
        places.forEach((p, m) => this.isHidden[this.scene.markers[m].body] || this.modelMarkers.at(p, r));
        this.markerOf.forEach((m, i) => {
            const p = [0, 1, 2].map((k) => valueAt(this.run.seen, 3 * i + k, this.run.frames, frame));
            this.seenMarkers.at(p, 1.25 * r);
            const fitted = places[m];
            if (!fitted || !Number.isFinite(p[0])) return;
            const gap = Math.hypot(p[0] - fitted[0], p[1] - fitted[1], p[2] - fitted[2]);
            if (gap > 0.002 * this.L) this.misfits.between(fitted, p, 0.2 * r);
        });
        parts.forEach((part) => part.end());
    }

    // ---- loads

    addContacts() {
        const slots = this.run?.contacts ? this.run.track.contacts.channels / 9 : 0;
        this.dots = new Sticks(this.group, geometryOf('sphere'), solidMaterial(1, { color: '#e69f00' }), slots);
        this.patches = new Sticks(this.group, geometryOf('disc'), solidMaterial(0.5, { color: '#e69f00' }), slots, false);
        this.pushes = new Arrows(this.group, slots, '#e69f00', this.L);
        this.slots = slots;
    }

    /** Length of an arrow for a force: the weight of the model is half its size. */
    forceScale() {
        const g = Math.hypot(...(this.scene.gravity ?? [0, 0, 0]));
        const weight = g * this.scene.bodies.reduce((sum, body) => sum + (body.mass || 0), 0);
        const most = this.largestForce();
        const byWeight = weight > 0 ? (0.5 * this.L) / weight : Infinity;
        const byLargest = most > 0 ? (0.9 * this.L) / most : Infinity;
        const scale = Math.min(byWeight, byLargest);
        return Number.isFinite(scale) ? scale : 0;
    }

    largestForce() {
        let most = 0;
        const { forces, frames, track } = this.run ?? {};
        for (let k = 0; forces && k < track.forces.channels * frames; ++k) {
            if (Math.floor(k / frames) % 6 < 3) most = Math.max(most, Math.abs(forces[k]));
        }
        return most;
    }

    updateContacts(frame, scale) {
        const parts = [this.dots, this.patches, this.pushes];
        parts.forEach((part) => part.begin());
        const { run } = this;
        for (let s = 0; s < this.slots; ++s) {
            const value = (k) => valueAt(run.contacts, 9 * s + k, run.frames, frame);
            const p = [value(0), value(1), value(2)];
            if (!Number.isFinite(p[0])) continue;
            const f = [value(3), value(4), value(5)];
            const n = Math.hypot(...f);
            this.dots.at(p, 0.014 * this.L);
            this.pushes.add(p, f.map((x) => scale * x));
            const radius = Math.max(value(6), value(7));
            if (n > 0 && radius > 0.005 * this.L) {
                this.patches.place(p[0], p[1], p[2], f[0] / n, f[1] / n, f[2] / n, 0.02 * this.L, radius);
            }
        }
        parts.forEach((part) => part.end());
    }

    addForces() {
        const loads = this.run?.loads ?? [];
        const count = (isOne) => 2 * loads.filter(({ kind }) => isOne(kind)).length;
        this.arrows = new Arrows(this.group, count((kind) => kind !== 'reaction' && kind !== 'constraint'), '#d55e00', this.L);
        this.reactions = new Arrows(this.group, count((kind) => kind === 'reaction'), '#cc79a7', this.L);
        this.multipliers = new Arrows(this.group, count((kind) => kind === 'constraint'), linkColors.constraint, this.L);
        this.unitForce = this.forceScale();
    }

    updateForces(frame, scale) {
        const all = [this.arrows, this.reactions, this.multipliers];
        all.forEach((arrows) => arrows.begin());
        const { run } = this;
        (run?.forces ? run.loads : []).forEach((load, i) => {
            if (this.isHidden[load.body]) return;
            const value = (k) => valueAt(run.forces, 6 * i + k, run.frames, frame) * scale;
            const p = this.poses.station(load.body, ...load.p, [0, 0, 0]);
            const arrows = { reaction: this.reactions, constraint: this.multipliers }[load.kind] ?? this.arrows;
            arrows.add(p, [value(0), value(1), value(2)]);
            // a moment is drawn as the force that makes it at the distance L
            arrows.add(p, [value(3) / this.L, value(4) / this.L, value(5) / this.L], true);
        });
        all.forEach((arrows) => arrows.end());
    }

    // ---- all of it

    /** Show a time of the run. */
    setTime(t, options) {
        if (!this.run) return;
        this.frame = frameAt(this.run.time, this.run.frames, t);
        this.poses.setFromRun(this.run, this.frame);
        this.update(options);
    }

    /** Bring everything that is shown to the poses. */
    update({ layers, forceScale }) {
        const frame = this.frame ?? { i: 0, part: 0 };
        const scale = this.unitForce * forceScale;
        for (const batch of this.batches.values()) {
            batch.mesh.visible = Boolean(layers[batch.layer]);
            if (batch.mesh.visible) batch.update(this.poses, this.isHidden);
        }
        this.showParts(layers);
        if (layers.links) this.updateLinks();
        if (layers.paths && this.scene.paths.length) this.updatePaths(frame);
        if (layers.markers && (this.scene.markers.length || this.markerOf.length)) this.updateMarkers(frame);
        if (layers.contacts && this.slots) this.updateContacts(frame, scale);
        if (layers.forces || layers.reactions) this.updateForces(frame, scale);
    }

    showParts(layers) {
        for (const part of [this.rods, this.springs, this.ends]) part.mesh.visible = layers.links;
        for (const part of [this.tubes, this.knots]) part.mesh.visible = layers.paths;
        for (const part of [this.modelMarkers, this.seenMarkers, this.misfits]) part.mesh.visible = layers.markers;
        for (const part of [this.dots, this.patches]) part.mesh.visible = layers.contacts;
        this.pushes.show(layers.contacts);
        this.arrows.show(layers.forces);
        this.reactions.show(layers.reactions);
        this.multipliers.show(layers.reactions);
    }
}

function dashes(sticks, a, b, r, color) {
    for (let k = 0; k < 6; ++k) {
        const at = (s) => a.map((x, i) => x + s * (b[i] - x));
        sticks.between(at(k / 6 + 0.02), at(k / 6 + 0.11), r, color);
    }
}

// The mark of a mass center: quarters black and white.
let quarters = null;
function quartered() {
    if (quarters) return quarters;
    const canvas = document.createElement('canvas');
    canvas.width = 128;
    canvas.height = 64;
    const context = canvas.getContext('2d');
    for (let i = 0; i < 8; ++i) {
        context.fillStyle = (i + (i >> 2)) % 2 ? '#111111' : '#ffffff';
        context.fillRect((i % 4) * 32, (i >> 2) * 32, 32, 32);
    }
    quarters = new THREE.CanvasTexture(canvas);
    quarters.colorSpace = THREE.SRGBColorSpace;
    return quarters;
}

// The ellipsoid of uniform density with a body's inertia about its mass center; null for a point.
function inertiaEllipsoid(body) {
    const [xx, yy, zz, xy, xz, yz] = body.inertia ?? [0, 0, 0, 0, 0, 0];
    const { values, axes } = eigen([
        [xx, xy, xz],
        [xy, yy, yz],
        [xz, yz, zz],
    ]);
    const half = (values[0] + values[1] + values[2]) / 2;
    const radii = values.map((I) => Math.sqrt(Math.max(0, (5 * (half - I)) / body.mass)));
    if (!(Math.max(...radii) > 0)) return null;
    const basis = new THREE.Matrix4().makeBasis(...axes.map((a) => new THREE.Vector3(...a)));
    return basis.scale(new THREE.Vector3(...radii.map((r) => Math.max(r, 1e-3 * Math.max(...radii))))).setPosition(...body.com);
}

// Eigenvalues and unit eigenvectors of a symmetric 3 x 3 matrix by Jacobi's rotations.
function eigen(A) {
    const axes = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ];
    for (let sweep = 0; sweep < 12; ++sweep) {
        for (const [p, q] of [
            [0, 1],
            [0, 2],
            [1, 2],
        ]) {
            if (Math.abs(A[p][q]) < 1e-300) continue;
            const angle = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]);
            const c = Math.cos(angle);
            const s = Math.sin(angle);
            for (let k = 0; k < 3; ++k) [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
            for (let k = 0; k < 3; ++k) [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
            for (let k = 0; k < 3; ++k) [axes[p][k], axes[q][k]] = [c * axes[p][k] - s * axes[q][k], s * axes[p][k] + c * axes[q][k]];
        }
    }
    return { values: [A[0][0], A[1][1], A[2][2]], axes };
}
