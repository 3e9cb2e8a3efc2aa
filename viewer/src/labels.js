// Labels: texts of the model, and names of bodies. They are elements over the picture.
import { el } from './dom.js';

const MOST = 300; // names
const LINE = 20; // pixels
const LETTER = 6.5;

// Whether a label at a point would lie over another one.
function overlap([x, y], text, { at, text: other }) {
    const width = (LETTER * (text.length + other.length)) / 2 + 12;
    return Math.abs(y - at[1]) < LINE && Math.abs(x - at[0]) < width;
}

export class Labels {
    constructor(app) {
        this.app = app;
        this.element = el('div', { class: 'labels', aria: { hidden: 'true' } });
    }

    /** Those of a scene whose bodies are drawn by a figure. */
    build(scene, figure) {
        const names = scene.bodies.map((body, b) => ({
            body: b,
            p: body.com ?? [0, 0, 0],
            text: body.name,
            layer: 'names',
            skip: b === 0 || !(body.mass > 0),
        }));
        const heavyFirst = (a, b) => scene.bodies[b.body].mass - scene.bodies[a.body].mass;
        const shown = names.filter((label) => !label.skip).sort(heavyFirst);
        this.list = [...figure.labels, ...shown.slice(0, MOST)];
        for (const label of this.list) label.element = el('span', {}, label.text);
        this.element.replaceChildren(...this.list.map((label) => label.element));
    }

    /** Put each where its point is in the picture, unless another one is there already. */
    place() {
        const { layers, isHidden, stage, figures } = this.app;
        const q = [0, 0, 0];
        const taken = [];
        for (const { element, body, p, layer, text } of this.list) {
            const isShown = layers[layer] && !isHidden[body];
            const { poses } = figures[0];
            const at = isShown ? stage.project(poses.station(body, p[0], p[1], p[2], q)) : null;
            const isFree = at && taken.every((other) => !overlap(at, text, other));
            element.hidden = !isFree;
            if (!isFree) continue;
            taken.push({ at, text });
            const [x, y] = at.map(Math.round);
            element.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
        }
    }
}
