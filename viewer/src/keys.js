// What keys do, and the list of them.
import { el } from './dom.js';
import { layers } from './panel.js';
import { frameAt } from './poses.js';

const axes = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const layersWithKeys = layers.filter(([, , key]) => key);

const texts = [
    ['Space', 'Play, pause'],
    ['← →', 'One frame'],
    ['Shift ← →', 'One percent of the run'],
    ['Home End', 'First frame, last frame'],
    [', .', 'Slower, faster'],
    ['L', 'Repeat'],
    ['A', 'Show the whole model'],
    ['F', 'Follow the selected body'],
    ['X Y Z', 'Look along an axis'],
    ['O', 'Parallel projection'],
    ['H', 'Hide the selected body'],
    ['Shift H', 'Show all bodies'],
    ...layersWithKeys.map(([, label, key]) => [key, label]),
    ['D', 'Light or dark'],
    ['W', 'Charts'],
    ['S', 'Save a picture'],
    ['E', 'Save the numbers (CSV)'],
    ['?', 'This list'],
];
const mouse =
    'Drag to turn. Drag with the right button, or with Shift, to move. ' +
    'Use the wheel to zoom. Click a body to select it, double-click to follow it. ' +
    'In a chart, click or drag to set the time, drag with Shift to zoom, double-click to see all.';

/** The list of keys, as a dialog. */
export function makeHelp() {
    const item = ([keys, text]) =>
        el('div', {}, el('dt', {}, text), el('dd', {}, el('kbd', {}, keys)));
    const list = el('dl', {}, ...texts.map(item));
    const close = el('form', { method: 'dialog' }, el('button', {}, 'Close'));
    const hint = el('p', { class: 'hint' }, mouse);
    return el('dialog', { class: 'help' }, el('h2', {}, 'Keys'), list, hint, close);
}

// The time of the frame before or after.
function neighbor(app, way) {
    const run = app.scene.runs[0];
    if (!run) return app.player.time;
    // the time of the clock, which may not be drawn yet
    const { i, part } = frameAt(run.time, run.frames, app.player.time);
    const next = way > 0 ? i + 1 : part > 0 ? i : i - 1;
    return run.time[Math.max(0, Math.min(run.frames - 1, next))];
}

const step = (app, way) => (shift) => {
    const { player } = app;
    if (app.isLive) {
        app.live.order({ do: 'step' });
        return;
    }
    player.play(false);
    app.setTime(shift ? player.time + (way * player.length) / 100 : neighbor(app, way));
};

// From along an axis; not quite, so that the camera knows which way is up.
const look = (app, axis) => (shift) => app.fit(axes[axis].map((x) => (shift ? -x : x) || 1e-4));

/** What each key does; functions get whether Shift is held. */
export function actionsOf(app) {
    const { player } = app;
    const chosen = () => (app.selected > 0 ? app.selected : app.extent.base);
    const toggleLayer = ([name, , key]) => [
        key.toLowerCase(),
        () => app.setLayer(name, !app.layers[name]),
    ];
    return {
        ' ': () => player.play(),
        ArrowLeft: step(app, -1),
        ArrowRight: step(app, 1),
        Home: () => app.reset(),
        End: () => app.setTime(player.last),
        ',': () => player.faster(-1),
        '.': () => player.faster(1),
        l: () => app.bar.toggleLoop(),
        a: () => app.fit(),
        f: () => app.follow(chosen()),
        x: look(app, 'x'),
        y: look(app, 'y'),
        z: look(app, 'z'),
        o: () => app.stage.toggleProjection(),
        h: (shift) => (shift ? app.showAll() : app.hide(chosen(), !app.isHidden[chosen()])),
        ...Object.fromEntries(layersWithKeys.map(toggleLayer)),
        d: () => app.toggleTheme(),
        w: () => app.charts && app.toggleChart(),
        s: () => app.savePicture(),
        e: () => app.saveNumbers(),
        '?': () => app.help(),
        Escape: () => app.selected > 0 && app.select(app.selected),
    };
}

/** Whether a key belongs to what has the focus: a field, a list, a button. */
export function isTyping({ target, key }, slider) {
    if (target instanceof HTMLInputElement) return target.type !== 'checkbox' && target !== slider;
    if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
    return key === ' ' && target instanceof HTMLButtonElement;
}
