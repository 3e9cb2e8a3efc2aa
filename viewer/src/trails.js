// Trails: where mass centers go, faint as a whole and strong up to now.
import * as THREE from 'three';
import { Line2 } from 'three/addons/lines/Line2.js';
import { LineGeometry } from 'three/addons/lines/LineGeometry.js';
import { LineMaterial } from 'three/addons/lines/LineMaterial.js';
import { palette } from './glyphs.js';
import { Poses } from './poses.js';

const MOST = 6;

/** The bodies whose trails are shown: the selected one, else the heaviest. */
export function trailBodies(scene, selected) {
    if (selected > 0) return [selected];
    return scene.bodies
        .map((body, b) => ({ b, mass: body.mass || 0 }))
        .filter(({ mass }) => mass > 0)
        .sort((a, b) => b.mass - a.mass)
        .slice(0, MOST)
        .map(({ b }) => b);
}

export class Trails {
    constructor(parent) {
        this.group = new THREE.Group();
        this.lines = [];
        parent.add(this.group);
    }

    clear() {
        this.group.clear();
        this.lines.forEach(({ past, all }) =>
            [past, all].forEach((line) => line.geometry.dispose())
        );
        this.lines = [];
    }

    build(scene, run, bodies) {
        this.clear();
        const poses = new Poses(scene.bodies);
        const tracks = bodies.map(() => []);
        const point = [0, 0, 0];
        for (let i = 0; i < run.frames; ++i) {
            poses.setFromRun(run, { i, part: 0 });
            bodies.forEach((b, k) =>
                tracks[k].push(...poses.station(b, ...(scene.bodies[b].com ?? [0, 0, 0]), point))
            );
        }
        tracks.forEach((positions, k) => {
            if (positions.length < 6) return;
            const color = palette[k % palette.length];
            const make = (linewidth, opacity) => {
                const geometry = new LineGeometry();
                geometry.setPositions(positions);
                const line = new Line2(
                    geometry,
                    new LineMaterial({ color, linewidth, transparent: true, opacity })
                );
                line.frustumCulled = false;
                this.group.add(line);
                return line;
            };
            this.lines.push({ all: make(1.2, 0.3), past: make(2.6, 0.95) });
        });
    }

    update({ i }) {
        for (const { past } of this.lines) past.geometry.instanceCount = i;
    }
}
