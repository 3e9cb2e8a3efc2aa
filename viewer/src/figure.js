// A model as it looks in one run: the shapes of its bodies, and all that other files add.
import * as THREE from 'three';
import {
    Batch,
    axisColors,
    edgesFor,
    geometryOf,
    matrixOf,
    meshGeometry,
    palette,
    solidMaterial,
    stickMatrix,
    torusGeometry,
} from './glyphs.js';
import { inertiaEllipsoid } from './inertia.js';
import { addJoints } from './joints.js';
import { Links, Markers, Paths } from './lines.js';
import { Contacts, Loads, unitForce } from './loads.js';
import { Poses, frameAt } from './poses.js';

const colorOf = (rgb) => new THREE.Color().setRGB(rgb[0], rgb[1], rgb[2], THREE.SRGBColorSpace);

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
        this.labels = []; // {body, p, text, layer}
        this.hasInside =
            scene.paths.length > 0 || scene.links.some((link) => link.layer === 'force');
        this.around = edgesFor(scene.shapes.length + scene.bodies.length);
        this.addShapes();
        addJoints(this);
        this.addCenters();
        this.addFrames();
        for (const batch of this.batches.values()) batch.build(this.group);
        this.unitForce = unitForce(this);
        const kinds = [Links, Paths, Markers, Contacts, Loads];
        this.parts = kinds.map((Kind) => new Kind(this));
    }

    // ---- what is fixed on bodies

    batch(layer, kind, geometry, opacity, more) {
        const key = [layer, kind, opacity, ...Object.keys(more ?? {})].join('|');
        if (!this.batches.has(key)) {
            const shape = geometry ?? geometryOf(kind, this.around);
            this.batches.set(key, new Batch(shape, solidMaterial(opacity, more), layer));
        }
        return this.batches.get(key);
    }

    tint(color) {
        return this.index === 0 ? color : new THREE.Color(palette[this.index % palette.length]);
    }

    addShapes() {
        const { shapes } = this.scene;
        const isDecoration = ({ layer }) => layer === 'decoration';
        const decorated = new Set(shapes.filter(isDecoration).map(({ body }) => body));
        for (const shape of shapes) {
            const { layer, kind, body, text, X } = shape;
            const isExtra = layer === 'contact' && (decorated.has(body) || kind === 'plane');
            if (kind === 'text') this.labels.push({ body, p: X, text, layer: 'bodies' });
            else this.addShape(shape, isExtra ? 'surfaces' : (layerOf[layer] ?? 'bodies'));
        }
    }

    addShape(shape, layer) {
        const drawing = this.drawingOf(shape);
        if (!drawing) return;
        const { kind, matrix, geometry, more } = drawing;
        const color = this.tint(colorOf(shape.color));
        // muscles and springs run through bodies whose shape is made up: they let them show
        const hidesLinks = shape.layer === 'derived' && shape.kind !== 'line' && this.hasInside;
        const opacity = Math.min(hidesLinks ? 0.5 : shape.opacity, this.opacity);
        this.batch(layer, kind, geometry, opacity, more).add(shape.body, matrix, color);
    }

    // A unit geometry, or one of its own, and the matrix that makes it the shape; null: nothing.
    drawingOf({ kind, layer, X, size, end, mesh }) {
        const [a, b] = size;
        const radius = (layer === 'derived' ? 0.011 : 0.006) * this.L;
        switch (kind) {
            case 'sphere':
                return { kind, matrix: matrixOf(X, [a, a, a]) };
            case 'ellipsoid':
                return { kind: 'sphere', matrix: matrixOf(X, size) };
            case 'brick':
                return { kind, matrix: matrixOf(X, size) };
            case 'cylinder':
                return { kind, matrix: matrixOf(X, [a, 2 * b, a]) };
            case 'line':
                return {
                    kind: 'cylinder',
                    matrix: matrixOf(X).multiply(stickMatrix([0, 0, 0], end, radius)),
                };
            case 'torus':
                return {
                    kind: `torus ${a} ${b}`,
                    matrix: matrixOf(X),
                    geometry: torusGeometry(a, b),
                };
            case 'plane':
                return {
                    kind: 'square',
                    matrix: matrixOf(X, [2 * this.L, 1, 2 * this.L]),
                    more: { side: THREE.DoubleSide },
                };
            case 'mesh':
                if (!this.scene.meshes[mesh]) return null;
                return {
                    kind: `mesh ${mesh}`,
                    matrix: matrixOf(X, size),
                    geometry: this.meshGeometry(mesh),
                };
            default:
                return null;
        }
    }

    meshGeometry(i) {
        this.scene.meshGeometries ??= [];
        this.scene.meshGeometries[i] ??= meshGeometry(this.scene.meshes[i]);
        return this.scene.meshGeometries[i];
    }

    addCenters() {
        const r = 0.018 * this.L;
        const mark = { map: quartered(), depthTest: false };
        this.scene.bodies.forEach((body, b) => {
            if (!(body.mass > 0)) return;
            const matrix = matrixOf([...body.com, 1, 0, 0, 0], [r, r, r]);
            this.batch('centers', 'sphere', undefined, 1, mark).add(b, matrix, '#ffffff');
            const solid = inertiaEllipsoid(body);
            if (solid) this.inertiaBatch().add(b, solid, '#0072b2');
        });
    }

    inertiaBatch() {
        return this.batch('inertia', 'sphere', geometryOf('sphere', 12), 0.999, {
            wireframe: true,
        });
    }

    addFrames() {
        const long = 0.12 * this.L;
        this.scene.bodies.forEach((body, b) => {
            axisColors.forEach((color, axis) => {
                const end = [0, 0, 0];
                end[axis] = long;
                const stick = stickMatrix([0, 0, 0], end, 0.006 * this.L);
                this.batch('frames', 'cylinder', undefined, 1).add(b, stick, color);
            });
        });
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
        for (const batch of this.batches.values()) {
            batch.mesh.visible = Boolean(layers[batch.layer]);
            if (batch.mesh.visible) batch.update(this.poses, this.isHidden);
        }
        for (const part of this.parts) {
            part.show(layers);
            part.update(layers, frame, this.unitForce * forceScale);
        }
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
