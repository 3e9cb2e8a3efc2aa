// Labels: texts of the model, and names of bodies. They are elements over the picture.
import { el } from './dom.js';

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
        this.list = [...figure.labels, ...names.filter((label) => !label.skip)];
        for (const label of this.list) label.element = el('span', {}, label.text);
        this.element.replaceChildren(...this.list.map((label) => label.element));
    }

    /** Put each where its point is in the picture. */
    place() {
        const { layers, isHidden, stage, figures } = this.app;
        const q = [0, 0, 0];
        for (const { element, body, p, layer } of this.list) {
            const isShown = layers[layer] && !isHidden[body];
            const { poses } = figures[0];
            const at = isShown ? stage.project(poses.station(body, p[0], p[1], p[2], q)) : null;
            element.hidden = !at;
            if (!at) continue;
            const [x, y] = at.map(Math.round);
            element.style.transform = `translate(${x}px, ${y}px) translate(-50%, -120%)`;
        }
    }
}
