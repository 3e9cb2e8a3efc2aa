// The side panel: parameters of a live run, runs, layers, and the tree of bodies.
import { el, show } from './dom.js';
import { palette } from './glyphs.js';
import { Tree } from './tree.js';

/** Layers: name, label, key, whether they are on at first, and what a scene needs to have them. */
export const layers = [
    ['bodies', 'Bodies', 'B', true, () => true],
    ['atoms', 'Atoms and bonds', '', true, (s) => s.shapes.some((shape) => shape.layer === 'atom')],
    ['joints', 'Joints', 'J', true, (s) => s.bodies.length > 1],
    ['links', 'Springs and constraints', 'U', true, (s) => s.links.length > 0],
    ['paths', 'Muscles and paths', 'P', true, (s) => s.paths.length > 0],
    ['markers', 'Markers', 'M', true, (s) => s.markers.length > 0 || s.runs.some((r) => r.seen)],
    ['contacts', 'Contacts', 'K', true, (s) => s.runs.some((r) => r.contacts)],
    [
        'surfaces',
        'Surfaces that touch',
        '',
        false,
        (s) => s.shapes.some((shape) => shape.layer === 'contact'),
    ],
    ['forces', 'Forces and moments', 'R', false, (s) => s.runs.some((r) => r.forces)],
    [
        'reactions',
        'Joint and constraint loads',
        '',
        false,
        (s) => s.runs.some((r) => r.loads?.some((l) => l.kind === 'reaction')),
    ],
    ['centers', 'Mass centers', 'C', false, (s) => s.bodies.some((b) => b.mass > 0)],
    ['inertia', 'Inertia ellipsoids', 'I', false, (s) => s.bodies.some((b) => b.mass > 0)],
    ['frames', 'Frames', 'V', false, () => true],
    ['names', 'Names', 'N', false, () => true],
    ['trails', 'Trails', 'T', false, (s) => s.runs.some((r) => r.frames > 1)],
    ['grid', 'Floor', 'G', true, () => true],
];

function checkbox(label, checked, onchange, ...more) {
    const input = el('input', {
        type: 'checkbox',
        checked,
        onchange: () => onchange(input.checked),
    });
    return { input, label: el('label', {}, input, el('span', {}, label), ...more) };
}

export class Panel {
    constructor(app) {
        this.app = app;
        this.boxes = {};
        this.tree = new Tree(app);
        this.element = el('aside', { class: 'side card', aria: { label: 'What is shown' } });
        const scroll = el('div', { class: 'scroll' });
        this.element.append(scroll);
        this.live = el('section', { hidden: true });
        scroll.append(this.live, this.makeRuns(), this.makeLayers(), this.tree.element);
    }

    makeLayers() {
        const { app } = this;
        const box = el('div', { class: 'layers' });
        for (const [name, label, key, , has] of layers) {
            if (!has(app.scene)) continue;
            const item = checkbox(
                label,
                app.layers[name],
                (yes) => app.setLayer(name, yes),
                key ? el('kbd', {}, key) : null
            );
            this.boxes[name] = item.input;
            box.append(item.label);
        }
        this.scaleInput = el('input', {
            type: 'range',
            min: -2,
            max: 2,
            step: 0.05,
            value: 0,
            aria: { label: 'Length of arrows' },
        });
        this.scaleInput.oninput = () => app.setForceScale(10 ** Number(this.scaleInput.value));
        this.scaleRow = el(
            'div',
            { hidden: true },
            el('h2', {}, 'Length of arrows'),
            this.scaleInput
        );
        const notes = app.scene.runs.map((r) => r.note).filter(Boolean);
        return el(
            'section',
            {},
            el('h2', {}, 'Show'),
            box,
            this.scaleRow,
            ...notes.slice(0, 1).map((note) => el('p', { class: 'notes' }, note))
        );
    }

    makeRuns() {
        const { app } = this;
        if (app.scene.runs.length < 2) return el('section');
        const items = app.scene.runs.map((run, i) => {
            const swatch = el('span', { class: 'swatch' });
            swatch.style.background = i === 0 ? '#d9d2c3' : palette[i % palette.length];
            return checkbox(run.name, true, (yes) => app.showRun(i, yes), swatch).label;
        });
        return el('section', {}, el('h2', {}, 'Runs'), ...items);
    }

    update() {
        const { app } = this;
        for (const [name, input] of Object.entries(this.boxes)) input.checked = app.layers[name];
        const hasArrows =
            app.layers.forces ||
            app.layers.reactions ||
            app.scene.runs.some((r) => r.contacts && app.layers.contacts);
        this.scaleRow.hidden = !hasArrows;
        this.tree.update();
    }

    /** Sliders of a live run, {name, group, low, high}, under the names of their groups. */
    setSliders(sliders, onSet) {
        this.live.hidden = sliders.length === 0;
        const groups = new Map();
        this.sliders = sliders.map((slider, index) => {
            if (!groups.has(slider.group)) groups.set(slider.group, []);
            const made = makeSlider(slider, (value) => onSet(index, value));
            groups.get(slider.group).push(made.label);
            return made;
        });
        const folded = ([name, labels], i) =>
            el('details', { open: i === 0 }, el('summary', {}, name), ...labels);
        this.live.replaceChildren(...[...groups].map(folded));
    }

    /** Their values now; one that is being moved stays where it is. */
    showSliders(values) {
        values.forEach((value, i) => this.sliders?.[i]?.show(value));
    }
}

function makeSlider({ name, low, high }, onSet) {
    const steps = 1000;
    const output = el('output', {});
    const input = el('input', {
        type: 'range',
        min: 0,
        max: steps,
        step: 1,
        aria: { label: name },
    });
    let moved = -Infinity; // when
    input.oninput = () => {
        const value = low + ((high - low) * Number(input.value)) / steps;
        moved = performance.now();
        output.textContent = show(value);
        onSet(value);
    };
    const put = (value) => {
        if (value === null || performance.now() - moved < 600) return;
        input.value = String((steps * (value - low)) / (high - low || 1));
        output.textContent = show(value);
        input.setAttribute('aria-valuetext', show(value));
    };
    return {
        label: el('label', { class: 'param' }, el('span', { title: name }, name), output, input),
        show: put,
    };
}
