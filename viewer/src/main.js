// Where the page begins: read the scene, start the viewer, and offer window.talusView.
import { App } from './app.js';
import { readScene } from './data.js';
import { el } from './dom.js';
import { makeHook } from './hook.js';
import { isLive, liveScene } from './live.js';

const noGraphics =
    'This browser offers no WebGL 2, so the model cannot be drawn; the charts work. ' +
    'Try another browser, or switch on hardware acceleration in this one.';
const errors = [];
addEventListener('error', (event) => errors.push(String(event.message)));
addEventListener('unhandledrejection', (event) => errors.push(String(event.reason)));

function say(parent, text) {
    parent.append(el('div', { class: 'message' }, el('p', { class: 'card' }, text)));
}

async function start() {
    const parent = el('main', { id: 'talus' });
    document.body.append(parent);
    const hook = makeHook(errors);
    window.talusView = hook;
    try {
        const scene = JSON.parse(document.getElementById('talus-scene').textContent);
        const decoded = await readScene(scene, document.getElementById('talus-data').textContent);
        const app = new App(parent, isLive() ? liveScene(decoded) : decoded, isLive());
        hook.attach(app);
        if (!app.stage.renderer) app.say(noGraphics);
    } catch (error) {
        errors.push(String(error.message));
        say(parent, error.message);
    }
    hook.finish();
}

start();
