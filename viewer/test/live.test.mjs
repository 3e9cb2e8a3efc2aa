// talus view --live in a real browser. ./run browser runs it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { file, folder, models, talus } from './pages.mjs';

let browser;
before(async () => {
    browser = await Browser.start({ width: 720, height: 400 });
});
after(() => browser.stop());

const view = (expression) => browser.run(`window.talusView.${expression}`);
const said = () => browser.said.filter((text) => !text.includes('ReadPixels'));

/** A live run: its address, and the process. */
async function start(...args) {
    const child = spawn(talus, ['view', '--live', ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    child.ended = new Promise((done) => child.once('exit', (code) => done(code)));
    let text = '';
    child.stdout.setEncoding('utf8');
    for await (const part of child.stdout) {
        text += part;
        if (text.includes('\n')) break;
    }
    child.address = text.trim();
    return child;
}

async function stop(child) {
    child.kill('SIGINT');
    return child.ended;
}

async function open(child) {
    await browser.viewAt(child.address);
    await browser.until('talusView.live?.received > 0 && talusView.live.sliders');
    assert.deepEqual(await view('errors'), []);
    assert.deepEqual(said(), []);
}

const setSlider = (name, part) =>
    browser.run(`(() => { const input = document.querySelector('.param input[aria-label=${JSON.stringify(name)}]');
        input.value = String(${1000 * part}); input.dispatchEvent(new Event('input')); })()`);
const valueOf = (name) => browser.run(`(() => { const { sliders, values } = talusView.live; return values[sliders.findIndex((s) => s.name === ${JSON.stringify(name)})]; })()`);

test('a live run moves; pause, step, resume, speed and reset do what they say', async () => {
    const child = await start(join(models, 'pendulum.talus'));
    try {
        await open(child);
        assert.match(child.address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
        const first = await view('pixels()');
        assert.ok(first.colors > 100);
        await browser.until(`talusView.time > ${(await view('time')) + 0.2}`);
        assert.notEqual((await view('pixels()')).sum, first.sum, 'it moves');

        await browser.run('document.querySelector("button.play").click()');
        await browser.until('talusView.live.paused && !talusView.playing');
        const still = await view('time');
        await browser.key('ArrowRight');
        await browser.until(`talusView.time > ${still}`);
        assert.ok((await view('time')) < still + 0.1, 'one frame');
        await browser.run('document.querySelector("[aria-label^=\'Begin again\']").click()');
        await browser.until('talusView.time === 0');
        assert.equal(await view('playing'), false, 'a reset does not start it');

        await browser.run('(() => { const box = document.querySelector("[aria-label=Speed]"); box.value = "0.1"; box.dispatchEvent(new Event("change")); })()');
        await browser.until('talusView.live.speed === 0.1');
        await browser.key(' ');
        await browser.until('talusView.playing && talusView.time > 0.01 && talusView.live.factor > 0');
        assert.ok((await view('live.factor')) < 0.2);
        assert.deepEqual(said(), []);
    } finally {
        await stop(child);
    }
});

test('sliders change the motion: params, coordinates, forces', async () => {
    const child = await start(join(models, 'elbow.talus'), '-s', 'load=2');
    try {
        await open(child);
        await browser.run('document.querySelector("button.play").click()');
        await browser.until('talusView.live.paused');
        assert.equal(await valueOf('load'), 2);
        await setSlider('load', 1);
        await browser.until('talusView.live.scene === 1'); // the model was read again
        await browser.until('talusView.live.values[0] === 4');
        await setSlider('flexion', 0.5);
        await browser.until('Math.abs(talusView.live.values[talusView.live.sliders.findIndex((s) => s.name === "flexion")] - 1.309) < 0.01');
        const bent = await view('pose("forearm")');
        await setSlider('flexion', 0);
        await browser.until(`Math.abs(talusView.pose("forearm").h[0] - ${bent.h[0]}) > 0.05`);
        await setSlider('biceps.stiffness', 0.25);
        await browser.until('talusView.live.values[talusView.live.sliders.findIndex((s) => s.name === "biceps.stiffness")] > 0');
        assert.deepEqual(said(), []);
    } finally {
        await stop(child);
    }
});

test('charts grow while it runs', async () => {
    const child = await start(join(models, 'pendulum.talus'));
    try {
        await open(child);
        await view('chart(true)');
        await browser.until('document.querySelectorAll(".u-legend .u-value").length > 0');
        await browser.until('Number.isFinite(talusView.value("total_energy"))');
        await browser.until('[...document.querySelectorAll(".u-legend .u-value")].some((v) => Number.isFinite(Number(v.textContent)))');
        assert.deepEqual(said(), []);
    } finally {
        await stop(child);
    }
});

test('a run that cannot go on says why, and a reset begins again', async () => {
    const model = '<talus version="1" name="ends"><bodies><slider name="cart" mass="1" u="1"/></bodies><stops><stop time="0.05" message="enough"/></stops></talus>';
    writeFileSync(file('ends.talus'), model);
    const child = await start('ends.talus');
    try {
        await open(child);
        await browser.until('talusView.live.paused && talusView.live.why.includes("ended")');
        assert.match(await browser.run('document.querySelector(".why").textContent'), /ended/);
        await browser.key('Home');
        await browser.until('talusView.time === 0');
    } finally {
        await stop(child);
    }
});

test('foreign pages and wrong tokens learn nothing', async () => {
    const child = await start(join(models, 'pendulum.talus'));
    try {
        await open(child);
        const wrong = child.address.replace(/[0-9a-f]{32}/, '0'.repeat(32));
        assert.equal(await browser.run(`fetch('${wrong}').then((r) => r.status)`), 403);
        assert.equal(await browser.run('fetch("nothing").then((r) => r.status)'), 404);
        assert.equal(await browser.run('fetch("https://example.org/").then(() => "sent", () => "refused")'), 'refused');
        // a page from elsewhere that knows the address: its Origin gives it away
        await browser.open('data:text/html,<title>elsewhere</title>');
        const answer = await browser.run(`fetch('${child.address}do', { method: 'POST', body: '{"do":"pause"}', mode: 'no-cors' }).then((r) => r.type, () => 'refused')`);
        assert.ok(['opaque', 'refused'].includes(answer));
        const framed = await browser.run(`new Promise((done) => { const f = document.createElement('iframe'); f.src = '${child.address}'; f.onload = () => { try { done(f.contentDocument === null ? 'closed' : 'open'); } catch { done('closed'); } }; document.body.append(f); })`);
        assert.equal(framed, 'closed');
        await open(child);
        assert.equal(await view('live.paused'), false, 'the order of the other page was not obeyed');
    } finally {
        await stop(child);
    }
});

test('Ctrl-C ends it cleanly, and the page says so', async () => {
    const child = await start(join(models, 'pendulum.talus'));
    await open(child);
    assert.equal(await stop(child), 0);
    await browser.until('talusView.live.hasEnded');
    assert.match(await browser.run('document.querySelector(".message").textContent'), /has ended/);
});
