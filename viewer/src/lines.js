// What lies between points that move: springs and constraints, muscles and cables, markers.
import * as THREE from 'three';
import { Sticks, geometryOf, palette, solidMaterial } from './glyphs.js';
import { valueAt } from './poses.js';

export const linkColors = { constraint: '#8e5bb0', force: '#009e73', bond: '#9aa3ad' };
const muscle = {
    low: new THREE.Color('#56b4e9'),
    high: new THREE.Color('#d55e00'),
    passive: new THREE.Color('#999999'),
};
const DASHES = 6; // of a link that is switched off

function dashes(sticks, a, b, r, color) {
    const at = (s) => a.map((x, i) => x + s * (b[i] - x));
    for (let k = 0; k < DASHES; ++k) {
        sticks.between(at((k + 0.1) / DASHES), at((k + 0.7) / DASHES), r, color);
    }
}

/** Springs, constraints and bonds. */
export class Links {
    constructor(figure) {
        this.figure = figure;
        const { links } = figure.scene;
        const make = (shape, count) =>
            new Sticks(figure.group, geometryOf(shape), solidMaterial(figure.opacity), count);
        this.rods = make('cylinder', DASHES * links.length);
        this.springs = make('helix', links.length);
        this.ends = make('sphere', 2 * links.length);
        this.bonds = make('cylinder', links.length);
        this.parts = [this.rods, this.springs, this.ends, this.bonds];
    }

    show(layers) {
        for (const part of this.parts) part.mesh.visible = layers.links;
        this.bonds.mesh.visible = layers.atoms;
    }

    update(layers) {
        if (!layers.links && !layers.atoms) return;
        const { scene, poses, isHidden } = this.figure;
        const a = [0, 0, 0];
        const b = [0, 0, 0];
        this.parts.forEach((part) => part.begin());
        for (const link of scene.links) {
            if (isHidden[link.a[0]] && isHidden[link.b[0]]) continue;
            poses.station(link.a[0], link.a[1], link.a[2], link.a[3], a);
            poses.station(link.b[0], link.b[1], link.b[2], link.b[3], b);
            this.draw(link, a, b);
        }
        this.parts.forEach((part) => part.end());
    }

    draw({ layer, kind, enabled }, a, b) {
        const { index, L } = this.figure;
        const r = 0.0075 * L;
        const own = linkColors[layer] ?? linkColors.bond;
        const color = index === 0 ? own : palette[index % palette.length];
        if (layer === 'bond') {
            this.bonds.between(a, b, 1.6 * r, color);
            return;
        }
        if (layer === 'force' && kind.includes('spring'))
            this.springs.between(a, b, 2.4 * r, color);
        else if (enabled === false) dashes(this.rods, a, b, r, color);
        else this.rods.between(a, b, r, color);
        this.ends.at(a, 2 * r, color);
        this.ends.at(b, 2 * r, color);
    }
}

/** Muscles, ligaments and cables, as tubes. */
export class Paths {
    constructor(figure) {
        this.figure = figure;
        const { paths } = figure.scene;
        const points = paths.reduce((sum, path) => sum + path.points, 0);
        const make = (shape) =>
            new Sticks(
                figure.group,
                geometryOf(shape, figure.around),
                solidMaterial(figure.opacity),
                points
            );
        this.tubes = make('cylinder');
        this.knots = make('sphere');
        this.strongest = Math.max(1e-300, ...paths.map((path) => path.strength ?? 1));
        this.color = new THREE.Color();
    }

    show(layers) {
        for (const part of [this.tubes, this.knots]) part.mesh.visible = layers.paths;
    }

    update(layers, frame) {
        const { run, scene } = this.figure;
        if (!layers.paths || scene.paths.length === 0) return;
        this.tubes.begin();
        this.knots.begin();
        let channel = 0;
        for (const path of run?.paths ? scene.paths : []) {
            this.draw(path, channel, frame);
            channel += 2 + 4 * path.points;
        }
        this.tubes.end();
        this.knots.end();
    }

    // Channels of a path: activation, number of points, and for each point its body and p on it.
    draw(path, channel, frame) {
        const { run, poses } = this.figure;
        const value = (k) => valueAt(run.paths, channel + k, run.frames, frame);
        const row = (k) => Math.round(run.paths[(channel + k) * run.frames + frame.i]);
        const radius = this.radiusOf(path);
        this.setColor(path, value(0));
        let before = null;
        for (let k = 0; k < row(1); ++k) {
            const at = 2 + 4 * k;
            const place = [value(at + 1), value(at + 2), value(at + 3)];
            const p = poses.station(row(at), ...place, [0, 0, 0]);
            if (before) this.tubes.between(before, p, radius, this.color);
            this.knots.at(p, radius, this.color);
            before = p;
        }
    }

    radiusOf({ strength }) {
        const part = Math.sqrt((strength ?? 1) / this.strongest);
        return this.figure.L * (0.003 + 0.013 * part);
    }

    setColor({ kind }, activation) {
        const isPassive = kind === 'passive' || Number.isNaN(activation) || activation < 0;
        if (isPassive) this.color.copy(muscle.passive);
        else this.color.lerpColors(muscle.low, muscle.high, Math.min(1, activation));
    }
}

/** Markers of the model, measured ones, and what lies between them. */
export class Markers {
    constructor(figure) {
        this.figure = figure;
        const { scene, run, group, opacity } = figure;
        const names = run?.seenNames ?? [];
        const make = (shape, count, material) =>
            new Sticks(group, geometryOf(shape), material, count);
        this.fitted = make(
            'sphere',
            scene.markers.length,
            solidMaterial(opacity, { color: '#0072b2' })
        );
        this.seen = make(
            'octahedron',
            names.length,
            solidMaterial(1, { color: '#e69f00', flatShading: true })
        );
        this.gaps = make('cylinder', names.length, solidMaterial(1, { color: '#d55e00' }));
        this.parts = [this.fitted, this.seen, this.gaps];
        this.markerOf = names.map((name) => scene.markers.findIndex((m) => m.name === name));
    }

    show(layers) {
        for (const part of this.parts) part.mesh.visible = layers.markers;
    }

    update(layers, frame) {
        const { scene, run, poses, isHidden, L } = this.figure;
        const { markers } = scene;
        if (!layers.markers || markers.length + this.markerOf.length === 0) return;
        this.parts.forEach((part) => part.begin());
        const r = 0.012 * L;
        const places = markers.map(({ body, p }) => poses.station(body, ...p, [0, 0, 0]));
        places.forEach((p, m) => isHidden[markers[m].body] || this.fitted.at(p, r));
        this.markerOf.forEach((m, i) => {
            const p = [0, 1, 2].map((k) => valueAt(run.seen, 3 * i + k, run.frames, frame));
            this.seen.at(p, 1.25 * r);
            if (places[m] && Number.isFinite(p[0])) this.drawGap(places[m], p, 0.25 * r);
        });
        this.parts.forEach((part) => part.end());
    }

    drawGap(a, b, radius) {
        const gap = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        if (gap > 0.002 * this.figure.L) this.gaps.between(a, b, radius);
    }
}
