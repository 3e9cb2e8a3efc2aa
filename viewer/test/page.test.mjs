// What people do with a page, in a real browser. ./run browser runs it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser } from './browser.mjs';
import { evilModel, evilText, examplePage, file, pageOf, readTable, writeModel } from './pages.mjs';
import { run as talus } from './pages.mjs';
import { session } from './session.mjs';

const page = session({ width: 800, height: 500 });
const { open, view, run, until, sum, text, assertSilent, assertDrawn } = page;

// Bodies of a page whose mass center is seen, with room around it for a click: nothing covers them.
const seenBodies = () =>
    run(`(() => {
        const { bodies } = JSON.parse(document.getElementById('talus-scene').textContent);
        const around = [[0, 0], [-3, 0], [3, 0], [0, -3], [0, 3]];
        return bodies
            .filter(({ mass }) => mass > 0)
            .map(({ name, mass }) => ({ name, mass, at: talusView.project(name)?.map(Math.round) }))
            .filter(({ name, at }) =>
                at && around.every(([x, y]) => talusView.pick(at[0] + x, at[1] + y) === name));
    })()`);

test('bodies stand where their mass center projects', async () => {
    await open(examplePage('human_body'));
    const bodies = await seenBodies();
    assert.ok(bodies.length >= 5, `${bodies.length} of them are not covered`);
    for (const { name, at } of bodies) {
        const [, , , opacity] = await view(`pixelAt(${at[0]}, ${at[1]})`);
        assert.equal(opacity, 255, `${name} covers the background`);
    }
});

test('a click selects, in the picture and in the tree', async () => {
    await open(examplePage('human_body'));
    const bodies = await seenBodies();
    const { name, mass, at } = bodies.reduce((a, b) => (b.mass > a.mass ? b : a));
    await page.browser.click(at[0], at[1]);
    assert.equal(await text('.row.selected button'), name);
    await until('document.querySelector(".info").textContent !== ""'); // next frame
    const info = await text('.info');
    assert.ok(info.includes(name) && info.includes(`mass ${Number(mass.toPrecision(4))}`), info);
    await page.browser.click(20, 200); // there is nothing
    assert.equal(await run('document.querySelectorAll(".row.selected").length'), 0);
});

test('massless bodies between joints stand in the row of the body that they carry', async () => {
    await open(examplePage('human_body'));
    const rows = await run(
        '[...document.querySelectorAll(".tree .row")].map((r) => r.textContent)'
    );
    assert.ok(rows.includes('thigh right3 × pin'), rows.join('; '));
    assert.ok(!rows.some((row) => row.startsWith('hip')));
    await run('document.querySelector(".side input[type=search]").focus()');
    for (const key of 'hip') await page.browser.key(key);
    const shown = await run(
        '[...document.querySelectorAll(".tree .row")].filter((r) => r.offsetHeight > 0).length'
    );
    assert.equal(shown, 3, 'pelvis and both thighs');
});

test('hiding hides, layers switch, showing all shows all', async () => {
    await open(examplePage('elbow'));
    const all = await sum();
    const [x, y] = await view('project("forearm")');
    const before = await view(`pixelAt(${x}, ${y})`);
    await view('hide("forearm", true)');
    assert.notDeepEqual(await view(`pixelAt(${x}, ${y})`), before);
    assert.notEqual(await sum(), all);
    await page.browser.key('H', 8);
    assert.equal(await sum(), all);
    for (const layer of ['bodies', 'joints', 'links', 'grid']) {
        await view(`layer("${layer}", false)`);
        assert.notEqual(await sum(), all, layer);
        await view(`layer("${layer}", true)`);
    }
    for (const layer of ['forces', 'centers', 'inertia', 'frames', 'trails']) {
        await view(`layer("${layer}", true)`);
        assert.notEqual(await sum(), all, layer);
        await view(`layer("${layer}", false)`);
    }
    assert.equal(await sum(), all);
    await assertSilent();
});

test('keys act, but not while a field has the focus', async () => {
    await open(examplePage('elbow'));
    const press = (key) => page.browser.key(key);
    await press(' ');
    assert.equal(await view('playing'), true);
    await press(' ');
    assert.equal(await view('playing'), false);
    await press('Home');
    await press('ArrowRight');
    assert.ok(Math.abs((await view('time')) - readTable('elbow.sto').rows[1][0]) < 1e-8);
    await press('End');
    assert.ok(Math.abs((await view('time')) - 2) < 1e-8);
    await press('d');
    assert.equal(await run('document.documentElement.classList.contains("dark")'), true);
    assert.match(await run('location.hash'), /dark/);
    for (const key of 'xyzoafbjuckirvntgl,.') await press(key);
    await view('chart(true)'); // it has a field
    await run('document.querySelector("input[type=search]").focus()');
    await press('b');
    assert.equal(await run('document.querySelector("input[type=search]").value'), 'b');
    await run('document.activeElement.blur()');
    await press('?');
    assert.equal(await run('document.querySelector("dialog").open'), true);
    await assertSilent();
});

test('the view follows a body that travels', async () => {
    await open(examplePage('human_body'), '#light');
    await view('setTime(0)');
    const [x, y] = await view('project("pelvis")');
    await view('setTime(1.4)');
    const later = await view('project("pelvis")');
    const off = later ? Math.hypot(later[0] - x, later[1] - y) : Infinity;
    assert.ok(off < 250, 'it has fallen ten meters and is still in sight');
});

test('all of the model is in the free part of the window, from every side', async () => {
    await open(examplePage('stewart_platform'));
    const free = await run(`(() => {
        const side = document.querySelector('.side').getBoundingClientRect();
        const bar = document.querySelector('.bottom').getBoundingClientRect();
        return { right: side.left, bottom: bar.top };
    })()`);
    for (const way of [
        [1.2, 0.5, 1.6],
        [1, 0.001, 0.001],
        [0.001, 1, 0.001],
        [-1, 0.3, -2],
    ]) {
        await view(`look(${JSON.stringify(way)})`);
        for (const name of ['table', 'cylinder 1', 'cylinder 3', 'piston 5']) {
            const [x, y] = await view(`project(${JSON.stringify(name)})`);
            assert.ok(x > 0 && x < free.right && y > 40 && y < free.bottom, `${name}: ${x}, ${y}`);
        }
    }
});

test('charts open, follow the clock and set it', async () => {
    await open(examplePage('human_body'));
    await view('chart(true)');
    await until('document.querySelector(".u-over")');
    await view('setTime(0.8)');
    await until(`[...document.querySelectorAll(".u-legend .u-value")].some(
        (v) => Math.abs(Number(v.textContent) / talusView.value("total_energy") - 1) < 1e-3)`);
    const [left, top, width, height] = await run(`(() => {
        const box = document.querySelector(".u-over").getBoundingClientRect();
        return [box.left, box.top, box.width, box.height];
    })()`);
    await page.browser.click(left + width / 2, top + height / 2);
    assert.ok(Math.abs((await view('time')) - 0.8) < 0.02);
    await page.browser.click(left + width / 4, top + height / 2);
    assert.ok(Math.abs((await view('time')) - 0.4) < 0.02);
    await assertSilent();
});

// Names of a file, the model, a body, a coordinate, a marker, a force, a label, and the title of
// the page; columns are named after bodies and coordinates.
test('names with markup in them are text', async () => {
    const name = '<img src=x onerror=hit=1>';
    const html = pageOf(name, evilModel, ['--end', '1'], ['--title', evilText]);
    await open(html);
    for (const layer of ['names', 'forces', 'markers']) await view(`layer("${layer}", true)`);
    await view('chart(true)');
    await until('document.querySelector(".u-legend")');
    assert.equal(await run('window.hit'), undefined);
    assert.equal(await run('document.querySelectorAll("img, main b b").length'), 0);
    assert.equal(await run('document.title'), evilText);
    assert.equal(await text('h1'), evilText);
    assert.ok((await text('.tree')).includes(evilText));
    assert.ok((await text('.chart')).includes('<b>angle'), 'a column');
    await assertSilent();
});

test('two results whose names have markup in them are text', async () => {
    writeModel('evil2', evilModel);
    for (const name of ['<i>a.sto', '<i>b.sto']) {
        talus('simulate', 'evil2.talus', '-q', '-o', name, '--end', '0.1');
    }
    talus('view', '<i>a.sto', '<i>b.sto', '-q', '-o', 'evil2.html');
    await open(file('evil2.html'));
    assert.ok((await text('.side')).includes('<i>a<i>b'));
    assert.equal(await run('document.querySelectorAll("i").length'), 0);
});

test('nothing leaves the page', async () => {
    await open(examplePage('pendulum'));
    const answer = await run('fetch("https://example.org/").then(() => "sent", () => "refused")');
    assert.equal(answer, 'refused');
    const hit = await run(`(() => {
        const script = document.createElement("script");
        script.textContent = "window.hit = 2";
        document.body.append(script);
        return window.hit;
    })()`);
    assert.equal(hit, undefined);
});

test('a phone, dark, and eyes that want no motion', async () => {
    const { browser } = page;
    await browser.resize(390, 844, 2, true);
    await browser.media({ 'prefers-color-scheme': 'dark', 'prefers-reduced-motion': 'reduce' });
    await open(examplePage('human_body'), '');
    assert.equal(await view('playing'), false);
    assert.equal(await run('document.documentElement.classList.contains("dark")'), true);
    assert.equal(await run('document.querySelector(".side").hidden'), true);
    assert.ok(await run('document.documentElement.scrollWidth <= 390'));
    const heights = await run(
        '[...document.querySelectorAll(".bar button")].map((button) => button.offsetHeight)'
    );
    assert.ok(Math.min(...heights) >= 44);
    await assertDrawn('phone');
    await browser.media({});
    await browser.resize(800, 500);
});

test('a lost context is reported and comes back', async () => {
    await open(examplePage('pendulum'));
    await run(`(() => {
        const context = document.querySelector("canvas.stage").getContext("webgl2");
        window.loser = context.getExtension("WEBGL_lose_context");
        loser.loseContext();
    })()`);
    await until('document.querySelector(".message")?.textContent.includes("taken the graphics")');
    await run('loser.restoreContext()');
    await until('document.querySelector(".message") === null');
    await assertDrawn('restored');
});

test('without WebGL the page says so, and the charts work', async () => {
    const other = await Browser.start({ webgl: false });
    try {
        await other.view(examplePage('pendulum'), '#light&t=0');
        const message = await other.run('document.querySelector(".message").textContent');
        assert.match(message, /no WebGL 2/);
        await other.run('document.querySelector("[aria-label=Charts]").click()');
        await other.until('document.querySelector(".u-over")');
        await other.run('talusView.setTime(2)');
        await other.until('document.querySelector(".clock b").textContent === "2.00"');
        assert.deepEqual(await other.run('talusView.errors'), []);
    } finally {
        await other.stop();
    }
});
