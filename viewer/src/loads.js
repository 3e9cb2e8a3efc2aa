// Loads: where bodies touch, and the arrows of forces and moments.
import { Arrows, Sticks, geometryOf, solidMaterial } from './glyphs.js';
import { linkColors } from './lines.js';
import { valueAt } from './poses.js';

const CONTACT_CHANNELS = 9; // point, force, semi-axes, depth
const LOAD_CHANNELS = 6; // force, moment
const contactColor = '#e69f00';

const isElement = ({ kind }) => kind !== 'reaction' && kind !== 'constraint';

// The largest of the forces of a run, each as its root mean square through time: a short peak does
// not make all others invisible. Loads in joints do not count.
function usualForce({ forces, loads, frames }) {
    let most = 0;
    (forces ? loads : []).forEach((load, i) => {
        if (!isElement(load)) return;
        const first = LOAD_CHANNELS * i * frames;
        const squares = forces
            .subarray(first, first + 3 * frames)
            .reduce((sum, x) => sum + x * x, 0);
        most = Math.max(most, Math.sqrt(squares / frames));
    });
    return most;
}

/** Length of the arrow of a unit force: the weight of the model is half its size. */
export function unitForce({ scene, run, L }) {
    const g = Math.hypot(...(scene.gravity ?? [0, 0, 0]));
    const weight = g * scene.bodies.reduce((sum, body) => sum + (body.mass || 0), 0);
    const most = run ? usualForce(run) : 0;
    const byWeight = weight > 0 ? (0.5 * L) / weight : Infinity;
    const byUsual = most > 0 ? (0.6 * L) / most : Infinity;
    const scale = Math.min(byWeight, byUsual);
    return Number.isFinite(scale) ? scale : 0;
}

/** Where bodies touch: a dot, an arrow, and a disc as large as the patch. */
export class Contacts {
    constructor(figure) {
        this.figure = figure;
        const { run, group, L } = figure;
        this.slots = run?.contacts ? run.track.contacts.channels / CONTACT_CHANNELS : 0;
        const color = contactColor;
        this.dots = new Sticks(
            group,
            geometryOf('sphere'),
            solidMaterial(1, { color }),
            this.slots
        );
        this.patches = new Sticks(
            group,
            geometryOf('disc'),
            solidMaterial(0.5, { color }),
            this.slots,
            false
        );
        this.pushes = new Arrows(group, this.slots, color, L);
        this.parts = [this.dots, this.patches, this.pushes];
    }

    show(layers) {
        for (const part of [this.dots, this.patches]) part.mesh.visible = layers.contacts;
        this.pushes.show(layers.contacts);
    }

    update(layers, frame, scale) {
        if (!layers.contacts || this.slots === 0) return;
        this.parts.forEach((part) => part.begin());
        for (let s = 0; s < this.slots; ++s) this.draw(CONTACT_CHANNELS * s, frame, scale);
        this.parts.forEach((part) => part.end());
    }

    draw(first, frame, scale) {
        const { run, L } = this.figure;
        const value = (k) => valueAt(run.contacts, first + k, run.frames, frame);
        const p = [value(0), value(1), value(2)];
        if (!Number.isFinite(p[0])) return;
        const f = [value(3), value(4), value(5)].map((x) => x || 0); // where it is not known
        const n = Math.hypot(...f);
        this.dots.at(p, 0.014 * L);
        this.pushes.add(
            p,
            f.map((x) => scale * x)
        );
        const radius = Math.max(value(6), value(7));
        if (!(n > 0 && radius > 0.005 * L)) return;
        this.patches.place(p[0], p[1], p[2], f[0] / n, f[1] / n, f[2] / n, 0.02 * L, radius);
    }
}

/** Forces and moments on bodies: of force elements, in joints, by constraints. */
export class Loads {
    constructor(figure) {
        this.figure = figure;
        const { run, group, L } = figure;
        const kinds = (run?.loads ?? []).map(({ kind }) => kind);
        const count = (kind) => 2 * kinds.filter((other) => other === kind).length;
        const others = 2 * kinds.length - count('reaction') - count('constraint');
        this.arrows = new Arrows(group, others, '#d55e00', L);
        this.reactions = new Arrows(group, count('reaction'), '#cc79a7', L);
        this.multipliers = new Arrows(group, count('constraint'), linkColors.constraint, L);
        this.all = [this.arrows, this.reactions, this.multipliers];
    }

    show(layers) {
        this.arrows.show(layers.forces);
        this.reactions.show(layers.reactions);
        this.multipliers.show(layers.reactions);
    }

    update(layers, frame, scale) {
        if (!layers.forces && !layers.reactions) return;
        const { run, isHidden } = this.figure;
        this.all.forEach((arrows) => arrows.begin());
        (run?.forces ? run.loads : []).forEach((load, i) => {
            if (!isHidden[load.body]) this.draw(load, LOAD_CHANNELS * i, frame, scale);
        });
        this.all.forEach((arrows) => arrows.end());
    }

    // A moment is drawn as long as the force that makes it at the distance L.
    draw(load, first, frame, scale) {
        const { run, poses, L } = this.figure;
        const value = (k) => valueAt(run.forces, first + k, run.frames, frame) * scale;
        const p = poses.station(load.body, ...load.p, [0, 0, 0]);
        const byKind = { reaction: this.reactions, constraint: this.multipliers };
        const arrows = byKind[load.kind] ?? this.arrows;
        arrows.add(p, [value(0), value(1), value(2)]);
        arrows.add(p, [value(3) / L, value(4) / L, value(5) / L], true);
    }
}
