// Where the page begins: read the scene, start the viewer, and offer window.talusView.
import { App } from './app.js';
import { readScene } from './data.js';
import { el } from './dom.js';
import { makeHook } from './hook.js';
import { isLive, liveScene } from './live.js';

const errors = [];
addEventListener('error', (event) => errors.push(String(event.message)));
addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));

function say(parent, text) {
    parent.append(el('div', { class: 'message' }, el('p', { class: 'card' }, text)));
}

function hasWebGL() {
    const probe = document.createElement('canvas');
    return Boolean(probe.getContext('webgl2'));
}

async function start() {
    const parent = el('main', { id: 'talus' });
    document.body.append(parent);
    const hook = makeHook(errors);
    window.talusView = hook;
    try {
        const scene = JSON.parse(document.getElementById('talus-scene').textContent);
        const decoded = await readScene(scene, document.getElementById('talus-data').textContent);
        if (hasWebGL()) hook.attach(new App(parent, isLive() ? liveScene(decoded) : decoded, isLive()));
        else say(parent, 'This browser offers no WebGL 2, which is needed to draw in three dimensions. Another browser, or the same with hardware acceleration switched on, shows this page.');
    } catch (error) {
        errors.push(String(error.message));
        say(parent, error.message);
    }
    hook.finish();
}

start();
