// The page in a real browser. ./run browser runs it.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser } from './browser.mjs';
import { chain, examplePage, file, handPage, libraryPoses, models, pageOf, readTable, run, runs } from './pages.mjs';

let browser;
before(async () => {
    browser = await Browser.start({ width: 800, height: 500 });
});
after(() => browser.stop());

const view = (expression) => browser.run(`window.talusView.${expression}`);
const until = (expression) => browser.until(expression);

// What a page said, but for the driver's complaints that we read pixels back.
const said = () => browser.said.filter((text) => !text.includes('ReadPixels'));

async function open(path, hash = '#light&t=0') {
    const took = await browser.view(path, hash);
    assert.deepEqual(await view('errors'), []);
    assert.deepEqual(said(), []);
    return took;
}

async function assertDrawn(name) {
    const { colors } = await view('pixels()');
    assert.ok(colors > 100, `${name} has ${colors} colors`);
}

for (const name of Object.keys(runs)) {
    test(`${name}: ready, silent, drawn, and it moves`, async () => {
        const took = await open(examplePage(name));
        console.log(`    ${name}: ready after ${Math.round(took)} ms`);
        await assertDrawn(name);
        const still = await view('pixels()');
        const length = await browser.run('document.querySelector(".clock span").textContent');
        assert.match(length, /\/ [\d.]+ s/);
        await view('play(true)');
        const frames = await view('frames');
        await until(`talusView.frames > ${frames + 2} && talusView.time > 0`); // playing draws pictures
        assert.equal(await view('playing'), true);
        await view('play(false)');
        assert.notEqual((await view('pixels()')).sum, still.sum, 'the picture has changed');
        assert.deepEqual(said(), []);
    });
}

test('bodies stand where the mass center projects', async () => {
    await open(examplePage('human_body'));
    for (const body of ['pelvis', 'thorax', 'head']) {
        const [x, y] = await view(`project('${body}')`);
        const [, , , opacity] = await view(`pixelAt(${x}, ${y})`);
        assert.equal(opacity, 255, `${body} covers the background`);
    }
});

// The promise of doc/scene.md, and a little for single precision on the way.
for (const name of ['human_body', 'stewart_platform', 'octane']) {
    test(`${name}: poses are those of the library at every row`, async () => {
        await open(examplePage(name));
        const size = await browser.run('JSON.parse(document.getElementById("talus-scene").textContent).size');
        const poses = libraryPoses(join(models, `${name}.talus`), `${name}.sto`);
        const every = Math.max(1, Math.round(poses.at(-1).row / 40));
        const asked = poses.filter(({ row }) => row % every === 0);
        const script = `(() => { const asked = ${JSON.stringify(asked.map(({ t, body }) => [t, body]))}; let now = NaN;
            return asked.map(([t, b]) => { if (t !== now) talusView.setTime(now = t); return talusView.pose(b); }); })()`;
        const shown = await browser.run(script);
        asked.forEach(({ p, h, row, body }, i) => {
            const off = Math.hypot(...p.map((x, k) => x - shown[i].p[k]));
            const dot = Math.abs(h.reduce((sum, x, k) => sum + x * shown[i].h[k], 0));
            assert.ok(off < 1e-5 * size, `row ${row}, body ${body}: ${off}`);
            assert.ok(2 * Math.acos(Math.min(1, dot)) < 5e-5, `row ${row}, body ${body}: turned`);
        });
    });
}

test('between rows poses are interpolated in the parent', async () => {
    await open(examplePage('pendulum'));
    const { names, rows } = readTable('pendulum.sto');
    const at = (r, name) => rows[r][names.indexOf(name)];
    await view(`setTime(${(at(10, 'time') + at(11, 'time')) / 2})`);
    // halfway along the great circle: the mean angle, about one axis
    const { h } = await view('pose("upper")');
    assert.ok(Math.abs(2 * Math.atan2(h[3], h[0]) - (at(10, 'upper.q0') + at(11, 'upper.q0')) / 2) < 1e-5);
});

test('charts have the values of the table', async () => {
    await open(examplePage('four_bar'));
    const { names, rows } = readTable('four_bar.sto');
    for (const name of names.slice(1)) {
        const column = rows.map((row) => row[names.indexOf(name)]);
        const range = Math.max(...column) - Math.min(...column);
        await view(`setTime(${rows[40][0]})`);
        assert.ok(Math.abs((await view(`value(${JSON.stringify(name)})`)) - column[40]) <= 1e-5 * range + 1e-12, name);
    }
});

test('hiding hides, layers switch, showing all shows all', async () => {
    await open(examplePage('elbow'));
    const all = await view('pixels()');
    const [x, y] = await view('project("forearm")');
    const before = await view(`pixelAt(${x}, ${y})`);
    await view('hide("forearm", true)');
    assert.notDeepEqual(await view(`pixelAt(${x}, ${y})`), before);
    assert.notEqual((await view('pixels()')).sum, all.sum);
    await browser.key('H', 8);
    assert.equal((await view('pixels()')).sum, all.sum);
    for (const layer of ['bodies', 'joints', 'links', 'grid']) {
        await view(`layer("${layer}", false)`);
        assert.notEqual((await view('pixels()')).sum, all.sum, layer);
        await view(`layer("${layer}", true)`);
    }
    for (const layer of ['forces', 'centers', 'inertia', 'frames', 'trails']) {
        await view(`layer("${layer}", true)`);
        assert.notEqual((await view('pixels()')).sum, all.sum, layer);
        await view(`layer("${layer}", false)`);
    }
    assert.equal((await view('pixels()')).sum, all.sum);
    assert.deepEqual(said(), []);
});

test('keys act, but not while a field has the focus', async () => {
    await open(examplePage('elbow'));
    await browser.key(' ');
    assert.equal(await view('playing'), true);
    await browser.key(' ');
    assert.equal(await view('playing'), false);
    await browser.key('Home');
    await browser.key('ArrowRight');
    assert.ok(Math.abs((await view('time')) - readTable('elbow.sto').rows[1][0]) < 1e-8);
    await browser.key('End');
    assert.ok(Math.abs((await view('time')) - 2) < 1e-8);
    await browser.key('d');
    assert.equal(await browser.run('document.documentElement.classList.contains("dark")'), true);
    assert.match(await browser.run('location.hash'), /dark/);
    for (const key of 'xyzoafbjuckirvntgl,.') await browser.key(key);
    await view('chart(true)'); // it has a field
    await browser.run('document.querySelector("input[type=search]").focus()');
    await browser.key('b');
    assert.equal(await browser.run('document.querySelector("input[type=search]").value'), 'b');
    await browser.run('document.activeElement.blur()');
    await browser.key('?');
    assert.equal(await browser.run('document.querySelector("dialog").open'), true);
    assert.deepEqual(said(), []);
});

test('a click selects, in the picture and in the tree', async () => {
    await open(examplePage('human_body'));
    const [x, y] = await view('project("thorax")');
    await browser.click(x, y);
    assert.equal(await browser.run('document.querySelector(".row.selected button").textContent'), 'thorax');
    assert.match(await browser.run('document.querySelector(".info").textContent'), /thorax.*mass 16\.2/);
    await browser.click(20, 200);
    assert.equal(await browser.run('document.querySelectorAll(".row.selected").length'), 0);
});

test('the view follows a body', async () => {
    await open(examplePage('human_body'), '#light');
    await view('setTime(0)');
    const [x, y] = await view('project("pelvis")');
    await view('setTime(1.4)');
    const later = await view('project("pelvis")');
    assert.ok(later && Math.hypot(later[0] - x, later[1] - y) < 250, 'it has fallen ten meters and is still in sight');
});

test('charts open, follow the clock and set it', async () => {
    await open(examplePage('human_body'));
    await view('chart(true)');
    await until('document.querySelector(".u-over")');
    await view('setTime(0.8)');
    await until('[...document.querySelectorAll(".u-legend .u-value")].some((v) => Math.abs(Number(v.textContent) / talusView.value("total_energy") - 1) < 1e-3)');
    const { left, top, width, height } = await browser.run('(() => { const { left, top, width, height } = document.querySelector(".u-over").getBoundingClientRect(); return { left, top, width, height }; })()');
    await browser.click(left + width / 2, top + height / 2);
    assert.ok(Math.abs((await view('time')) - 0.8) < 0.02);
    await browser.click(left + width / 4, top + height / 2);
    assert.ok(Math.abs((await view('time')) - 0.4) < 0.02);
    assert.deepEqual(said(), []);
});

test('names with markup in them are text', async () => {
    const evil = '&lt;/script&gt;&lt;img src=x onerror=window.hit=1&gt;';
    const model = `<talus version="1" name="${evil}"><bodies><pin name="${evil}" body_frame="0 1 0" mass="1"><coordinate name="&lt;b&gt;angle"/></pin></bodies>
        <decorations><text text="${evil}"/></decorations></talus>`;
    await open(pageOf('evil', model, ['--end', '1']));
    await view('layer("names", true)');
    await view('chart(true)');
    await until('document.querySelector(".u-legend")');
    assert.equal(await browser.run('window.hit'), undefined);
    assert.equal(await browser.run('document.querySelectorAll("img").length'), 0);
    assert.equal(await browser.run('document.title'), '</script><img src=x onerror=window.hit=1>');
    assert.ok((await browser.run('document.querySelector("h1").textContent')).includes('<img'));
    assert.deepEqual(said(), []);
});

test('nothing leaves the page', async () => {
    await open(examplePage('pendulum'));
    const answer = await browser.run('fetch("https://example.org/").then(() => "sent", () => "refused")');
    assert.equal(answer, 'refused');
    assert.equal(await browser.run('(() => { const s = document.createElement("script"); s.textContent = "window.hit = 2"; document.body.append(s); return window.hit; })()'), undefined);
});

test('a chain of 200 bodies is drawn, and it moves', async () => {
    await open(pageOf('chain', chain(200), ['--end', '2', '--every', '0.1', '--accuracy', '1e-3']));
    await assertDrawn('chain');
    const [, y] = await view('project("b199")');
    await view('setTime(1.5)');
    assert.notEqual((await view('project("b199")'))[1], y);
});

test('a model without bodies, and one without results', async () => {
    await open(pageOf('empty', '<talus version="1" name="nothing"><bodies/></talus>', ['--end', '1']));
    run('view', join(models, 'elbow.talus'), '-q', '-o', 'joints.html');
    await open(file('joints.html'));
    await assertDrawn('joints');
    await view('setTime(1)');
    const { h } = await view('pose("forearm")');
    assert.ok(Math.abs(h[0]) < 1, 'the joint has moved through its range');
});

test('results lie over each other', async () => {
    run('simulate', join(models, 'elbow.talus'), '-q', '-o', 'one.sto', '--end', '1', '-s', 'load=1');
    run('simulate', join(models, 'elbow.talus'), '-q', '-o', 'two.sto', '--end', '1', '-s', 'load=5');
    run('view', 'one.sto', 'two.sto', '-q', '-o', 'both.html');
    await open(file('both.html'));
    await view('setTime(0.5)');
    assert.notDeepEqual(await view('pose("forearm", 0)'), await view('pose("forearm", 1)'));
    assert.match(await browser.run('document.querySelector(".side").textContent'), /onetwo/);
});

test('muscles, contacts, atoms, bonds and seen markers of a scene written by hand are drawn', async () => {
    const one = [1, 1];
    const zero = [0, 0];
    const scene = {
        format: 'talus-scene', version: 1, title: 'hand', up: [0, 1, 0], gravity: [0, -10, 0], size: 1,
        bodies: [
            { name: 'ground', parent: -1, mobilizer: 'ground', mass: 0 },
            { name: 'a', parent: 0, mobilizer: 'ball', X_PF: [0, 0, 0, 1, 0, 0, 0], X_BM: [0, 0, 0, 1, 0, 0, 0], mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0] },
        ],
        shapes: [{ body: 1, layer: 'atom', kind: 'sphere', X: [0.5, 0.5, 0, 1, 0, 0, 0], size: [0.1, 0, 0], color: [0.2, 0.2, 0.2], opacity: 1 }],
        links: [{ name: 'bond', kind: 'bond', layer: 'bond', a: [0, 0, 0, 0], b: [1, 0.5, 0.5, 0] }],
        markers: [{ name: 'tip', body: 1, p: [0, 0.3, 0] }],
        paths: [{ name: 'biceps', kind: 'muscle', points: 3, strength: 500 }],
        runs: [{ name: 'run', columns: [], seenNames: ['tip'], loads: [{ name: 'push', kind: 'constant force', body: 1, p: [0, 0, 0] }] }],
    };
    const paths = [[0, 1], [3, 2], zero, zero, [0.4, 0.4], zero, zero, [-0.5, -0.5], zero, zero, one, zero, zero, [0.5, 0.5]];
    const page = handPage('hand', scene, {
        time: [[0, 1]],
        poses: [zero, zero, zero, one, zero, zero, zero],
        paths,
        contacts: [zero, [-0.3, -0.3], zero, zero, [5, NaN], zero, [0.1, 0.1], [0.1, 0.1], zero],
        forces: [[0, 5], [3, 3], zero, zero, zero, [2, 2]],
        seen: [[0.1, NaN], [0.3, NaN], [0, NaN]],
    });
    await open(page);
    const start = await view('pixels()');
    for (const layer of ['paths', 'contacts', 'atoms', 'links', 'markers']) {
        await view(`layer("${layer}", false)`);
        assert.notEqual((await view('pixels()')).sum, start.sum, layer);
        await view(`layer("${layer}", true)`);
    }
    await view('setTime(1)');
    assert.notEqual((await view('pixels()')).sum, start.sum, 'activation and number of points change');
    await view('layer("forces", true)');
    assert.deepEqual(said(), []);
});

// A biceps that is switched on and a triceps that is not, both over a pulley at the elbow.
const arm = `<talus version="1" name="arm">
  <bodies>
    <weld name="humerus" mass="2" solid="cylinder 0.03 0.15" body_frame="0 -0.15 0"/>
    <pin name="forearm" parent="humerus" frame="0 -0.15 0" body_frame="0 0.12 0" mass="1.5" solid="cylinder 0.025 0.12" q="0.4"/>
  </bodies>
  <wraps><wrap_cylinder name="elbow" body="humerus" frame="0 -0.15 0" radius="0.035" length="0.1"/></wraps>
  <paths>
    <path name="biceps"><point body="humerus" station="0.03 0.12 0"/><point body="forearm" station="0.025 0.04 0"/><over wrap="elbow"/></path>
    <path name="cable"><point body="humerus" station="-0.03 0.1 0"/><point body="forearm" station="-0.03 0.1 0"/><over wrap="elbow"/></path>
  </paths>
  <forces>
    <thelen name="biceps" path="biceps" max_force="600" fiber_length="0.16" tendon_length="0.08" control="0.9" activation_time="0.1"/>
    <path_spring name="cable" path="cable" stiffness="10" rest_length="0.1"/>
  </forces>
</talus>`;

// The mean color of what is drawn when nothing but paths is.
const pathColor = (t) => browser.run(`(() => {
    for (const layer of ['bodies', 'joints', 'grid', 'links']) talusView.layer(layer, false);
    talusView.setTime(${t});
    talusView.draw();
    const stage = document.querySelector('canvas.stage');
    const copy = Object.assign(document.createElement('canvas'), { width: stage.width, height: stage.height });
    const context = copy.getContext('2d');
    context.drawImage(stage, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const sum = [0, 0, 0, 0];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 250) [0, 1, 2, 3].forEach((k) => (sum[k] += k < 3 ? data[i + k] : 1));
    return { red: sum[0] / sum[3], blue: sum[2] / sum[3], pixels: sum[3] };
})()`);

test('muscles are tubes over their obstacles, colored by activation', async () => {
    const page = pageOf('arm', arm, ['--end', '0.3', '--every', '0.01']);
    const scene = JSON.parse(readFileSync(page, 'utf8').match(/id="talus-scene">(.*?)<\/script>/s)[1]);
    assert.deepEqual(scene.paths.map(({ name, kind }) => `${name} ${kind}`), ['biceps muscle', 'cable passive']);
    assert.equal(scene.paths[0].strength, 600);
    await open(page);
    const rest = await pathColor(0);
    const active = await pathColor(0.3);
    assert.ok(rest.pixels > 100 && active.pixels > 100);
    assert.ok(active.red - active.blue > rest.red - rest.blue + 10, `${JSON.stringify(rest)}, then ${JSON.stringify(active)}`);
    assert.deepEqual(said(), []);
});

test('loads in joints and constraints are arrows when they are wanted', async () => {
    const page = examplePage('four_bar', ['--show', 'reactions']);
    const scene = JSON.parse(readFileSync(page, 'utf8').match(/id="talus-scene">(.*?)<\/script>/s)[1]);
    assert.ok(scene.runs[0].loads.some(({ kind }) => kind === 'constraint'));
    assert.ok(scene.runs[0].loads.some(({ kind }) => kind === 'reaction'));
    await open(page);
    const all = await view('pixels()');
    await view('layer("reactions", false)');
    assert.notEqual((await view('pixels()')).sum, all.sum);
});

test('a scene of a later format is refused with a sentence', async () => {
    const page = handPage('later', { format: 'talus-scene', version: 99, title: 'x', bodies: [], up: [0, 1, 0], size: 1, runs: [] });
    await browser.view(page);
    assert.match(await browser.run('document.querySelector(".message").textContent'), /format 99/);
});

test('a phone, dark, and eyes that want no motion', async () => {
    const page = examplePage('human_body');
    await browser.resize(390, 844, 2, true);
    await browser.media({ 'prefers-color-scheme': 'dark', 'prefers-reduced-motion': 'reduce' });
    await open(page, '');
    assert.equal(await view('playing'), false);
    assert.equal(await browser.run('document.documentElement.classList.contains("dark")'), true);
    assert.equal(await browser.run('document.querySelector(".side").hidden'), true);
    assert.ok(await browser.run('document.documentElement.scrollWidth <= 390'));
    assert.ok((await browser.run('Math.min(...[...document.querySelectorAll(".bar button")].map((b) => b.offsetHeight))')) >= 44);
    await assertDrawn('phone');
    await browser.media({});
    await browser.resize(800, 500);
});

test('a lost context is reported and comes back', async () => {
    await open(examplePage('pendulum'));
    await browser.run('window.loser = document.querySelector("canvas.stage").getContext("webgl2").getExtension("WEBGL_lose_context"); loser.loseContext()');
    await until('document.querySelector(".message")?.textContent.includes("taken away")');
    await browser.run('loser.restoreContext()');
    await until('document.querySelector(".message") === null');
    await assertDrawn('restored');
});

test('without WebGL the page says so', async () => {
    const other = await Browser.start({ webgl: false });
    try {
        await other.view(examplePage('pendulum'));
        assert.match(await other.run('document.querySelector(".message").textContent'), /no WebGL 2/);
    } finally {
        await other.stop();
    }
});

test('meshes of every kind are drawn, and a broken one is left out', async () => {
    const { writeFileSync } = await import('node:fs');
    const obj = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n';
    const stl = 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n';
    const vtp = '<VTKFile><PolyData><Piece><Points><DataArray format="ascii">0 0 0 1 0 0 0 1 0</DataArray></Points><Polys><DataArray Name="connectivity" format="ascii">0 1 2</DataArray><DataArray Name="offsets" format="ascii">3</DataArray></Polys></Piece></PolyData></VTKFile>';
    for (const [name, text] of Object.entries({ 'm.obj': obj, 'm.stl': stl, 'm.vtp': vtp, 'bad.obj': 'v 1\n' })) writeFileSync(file(name), text);
    const shape = (name, x) => `<mesh body="b" file="${name}" frame="${x} 0 0" color="1 0.5 0"/>`;
    const model = `<talus version="1" name="meshes"><bodies><pin name="b" mass="1" solid="sphere 0.2"/></bodies>
        <decorations>${shape('m.obj', 0)}${shape('m.stl', 1.5)}${shape('m.vtp', 3)}${shape('bad.obj', 0)}${shape('none.stl', 0)}</decorations></talus>`;
    const page = pageOf('meshes', model, ['--end', '1']);
    const scene = JSON.parse(readFileSync(page, 'utf8').match(/id="talus-scene">(.*?)<\/script>/s)[1]);
    assert.equal(scene.shapes.filter((s) => s.kind === 'mesh').length, 3);
    await open(page);
    await assertDrawn('meshes');
});

test('sizes: the page below 800 kB, the human body for 10 s at 100 rows a second below 1 MB', async () => {
    run('simulate', join(models, 'human_body.talus'), '-q', '-o', 'long.sto', '--end', '10', '--every', '0.01');
    run('view', 'long.sto', '-q', '-o', 'long.html');
    const text = readFileSync(file('long.html'), 'utf8');
    const data = text.match(/id="talus-data">(.*?)<\/script>/s)[1].length;
    const whole = statSync(file('long.html')).size;
    console.log(`    1001 frames of 40 bodies: ${Math.round(data / 1000)} kB of data, a page of ${Math.round(whole / 1000)} kB`);
    assert.ok(data < 1e6, `${data} bytes of data`);
    assert.ok(whole - data < 850e3, 'the page itself');
    await open(file('long.html'));
});

test('talus render: a picture of the right size, frames with numbers, an animated PNG, a film', async () => {
    run('simulate', join(models, 'pendulum.talus'), '-q', '-o', 'short.sto', '--end', '0.5', '--every', '0.05');
    run('render', 'short.sto', '-q', '--at', '0.2', '--size', '320x200', '-o', 'one.png');
    const png = readFileSync(file('one.png'));
    assert.deepEqual([png.toString('latin1', 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)], ['PNG', 320, 200]);
    run('render', 'short.sto', '-q', '--fps', '4', '--size', '160x100', '-o', 'frame%02d.png');
    assert.notDeepEqual(readFileSync(file('frame00.png')), readFileSync(file('frame01.png')));
    run('render', 'short.sto', '-q', '--fps', '10', '--size', '160x100', '-o', 'swing.apng');
    await open(examplePage('pendulum'));
    const found = await browser.run(`(async () => {
        const bytes = Uint8Array.from(atob('${readFileSync(file('swing.apng')).toString('base64')}'), (c) => c.charCodeAt(0));
        const decoder = new ImageDecoder({ data: bytes, type: 'image/png' });
        await decoder.tracks.ready;
        await decoder.completed;
        const { frameCount, animated } = decoder.tracks.selectedTrack;
        const { image } = await decoder.decode({ frameIndex: frameCount - 1 });
        return { frameCount, animated, width: image.displayWidth, height: image.displayHeight, duration: image.duration };
    })()`);
    assert.deepEqual(found, { frameCount: 5, animated: true, width: 160, height: 100, duration: 100000 });
    run('render', 'short.sto', '-q', '--fps', '10', '--size', '160x100', '-o', 'swing.mp4');
    assert.equal(readFileSync(file('swing.mp4')).toString('latin1', 4, 8), 'ftyp');
});
