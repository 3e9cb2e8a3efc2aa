// Scenes of every kind in a real browser: what must be drawn is drawn. ./run browser runs it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
    chain,
    dataOf,
    examplePage,
    file,
    handPage,
    models,
    pageOf,
    run,
    sceneOf,
} from './pages.mjs';
import { session } from './session.mjs';

const page = session();
const { open, view, sum, text, assertSilent, assertDrawn } = page;

test('a chain of 200 bodies is drawn, and it moves', async () => {
    await open(pageOf('chain', chain(200), ['--end', '2', '--every', '0.1', '--accuracy', '1e-3']));
    await assertDrawn('chain');
    const [, y] = await view('project("b199")');
    await view('setTime(1.5)');
    assert.notEqual((await view('project("b199")'))[1], y);
});

test('a model without bodies, and one without results', async () => {
    const nothing = '<talus version="1" name="nothing"><bodies/></talus>';
    await open(pageOf('empty', nothing, ['--end', '1']));
    run('view', join(models, 'elbow.talus'), '-q', '-o', 'joints.html');
    await open(file('joints.html'));
    await assertDrawn('joints');
    await view('setTime(1)');
    const { h } = await view('pose("forearm")');
    assert.ok(Math.abs(h[0]) < 1, 'the joint has moved through its range');
});

test('results lie over each other, and each can be hidden', async () => {
    const elbow = join(models, 'elbow.talus');
    run('simulate', elbow, '-q', '-o', 'one.sto', '--end', '1', '-s', 'load=1');
    run('simulate', elbow, '-q', '-o', 'two.sto', '--end', '1', '-s', 'load=5');
    run('view', 'one.sto', 'two.sto', '-q', '-o', 'both.html');
    await open(file('both.html'));
    await view('setTime(0.5)');
    assert.notDeepEqual(await view('pose("forearm", 0)'), await view('pose("forearm", 1)'));
    assert.match(await text('.side'), /onetwo/);
    const both = await sum();
    await page.run('[...document.querySelectorAll(".side label")][1].click()');
    assert.notEqual(await sum(), both);
});

// ---- a scene written by hand: one body with one of everything

const identity = [0, 0, 0, 1, 0, 0, 0];
const ground = { name: 'ground', parent: -1, mobilizer: 'ground', mass: 0 };
const body = {
    name: 'a',
    parent: 0,
    mobilizer: 'ball',
    X_PF: identity,
    X_BM: identity,
    mass: 1,
    com: [0, 0, 0],
    inertia: [1, 1, 1, 0, 0, 0],
};
const atom = {
    body: 1,
    layer: 'atom',
    kind: 'sphere',
    X: [0.5, 0.5, 0, 1, 0, 0, 0],
    size: [0.1, 0, 0],
    color: [0.2, 0.2, 0.2],
    opacity: 1,
};
const between = { a: [0, 0, 0, 0], b: [1, 0.5, 0.5, 0] };
const spring = { a: [0, -0.5, 0, 0], b: [1, -0.5, 0.5, 0] };
const scene = {
    format: 'talus-scene',
    version: 1,
    title: 'hand',
    up: [0, 1, 0],
    gravity: [0, -10, 0],
    size: 1,
    bodies: [ground, body],
    shapes: [atom],
    links: [
        { name: 'bond', kind: 'bond', layer: 'bond', ...between },
        { name: 'spring', kind: 'two-point spring', layer: 'force', ...spring },
    ],
    markers: [{ name: 'tip', body: 1, p: [0, 0.3, 0] }],
    paths: [{ name: 'biceps', kind: 'muscle', points: 3, strength: 500 }],
    runs: [
        {
            name: 'run',
            columns: [],
            seenNames: ['tip'],
            loads: [{ name: 'push', kind: 'constant force', body: 1, p: [0, 0, 0] }],
        },
    ],
};
const zero = [0, 0];
const one = [1, 1];
const still = (numbers) => numbers.map((x) => [x, x]);
const tracks = {
    time: [[0, 1]],
    poses: still(identity),
    // activation, number of points; body and place of each point
    paths: [[0, 1], [3, 2], ...still([0, 0.4, 0, 0, 0, -0.5, 0, 0, 1, 0, 0, 0.5])],
    // point, force, semi-axes, depth; nothing touches at the second frame
    contacts: [zero, [-0.3, NaN], zero, zero, [5, NaN], zero, [0.1, 0.1], [0.1, 0.1], zero],
    forces: [[0, 5], [3, 3], zero, zero, zero, [2, 2]],
    seen: [
        [0.1, NaN],
        [0.3, NaN],
        [0, NaN],
    ],
};

test('muscles, contacts, atoms, bonds and markers of a scene by hand are drawn', async () => {
    await open(handPage('hand', scene, tracks));
    const start = await sum();
    for (const layer of ['paths', 'contacts', 'atoms', 'links', 'markers']) {
        await view(`layer("${layer}", false)`);
        assert.notEqual(await sum(), start, layer);
        await view(`layer("${layer}", true)`);
    }
    await view('layer("forces", true)');
    assert.notEqual(await sum(), start, 'forces');
    await view('layer("forces", false)');
    await view('setTime(1)');
    assert.notEqual(await sum(), start, 'activation and number of points change');
    await assertSilent();
});

// A contact whose force nobody knows, as that of a unilateral element in a table, is a dot.
test('a contact without a known force is drawn', async () => {
    const [x, y, z] = [zero, [-0.3, -0.3], zero];
    const unknown = [NaN, NaN];
    const contacts = [x, y, z, unknown, unknown, unknown, zero, zero, zero];
    await open(handPage('dot', scene, { ...tracks, contacts }));
    const start = await sum();
    await view('layer("contacts", false)');
    assert.notEqual(await sum(), start);
});

test('a scene of a later format is refused with a sentence', async () => {
    await page.browser.view(handPage('later', { ...scene, version: 99, runs: [] }));
    assert.match(await text('.message'), /format 99/);
});

test('a page that was cut off says so', async () => {
    const whole = handPage('whole', scene, tracks);
    const data = dataOf(whole);
    // 3 bytes are a block of deflate with nothing in it, the last one
    writeFileSync(file('cut.html'), readFileSync(whole, 'utf8').replace(data, 'AwA='));
    await page.browser.view(file('cut.html'));
    assert.match(await text('.message'), /not complete/);
});

// ---- models

// A biceps that is switched on and a cable that is not, both over a pulley at the elbow.
const arm = `<talus version="1" name="arm">
  <bodies>
    <weld name="humerus" mass="2" solid="cylinder 0.03 0.15" body_frame="0 -0.15 0"/>
    <pin name="forearm" parent="humerus" frame="0 -0.15 0" body_frame="0 0.12 0" mass="1.5"
      solid="cylinder 0.025 0.12" q="0.4"/>
  </bodies>
  <wraps>
    <wrap_cylinder name="elbow" body="humerus" frame="0 -0.15 0" radius="0.035" length="0.1"/>
  </wraps>
  <paths>
    <path name="biceps">
      <point body="humerus" station="0.03 0.12 0"/><point body="forearm" station="0.025 0.04 0"/>
      <over wrap="elbow"/>
    </path>
    <path name="cable">
      <point body="humerus" station="-0.03 0.1 0"/><point body="forearm" station="-0.03 0.1 0"/>
      <over wrap="elbow"/>
    </path>
  </paths>
  <forces>
    <thelen name="biceps" path="biceps" max_force="600" fiber_length="0.16" tendon_length="0.08"
      control="0.9" activation_time="0.1"/>
    <path_spring name="cable" path="cable" stiffness="10" rest_length="0.1"/>
  </forces>
</talus>`;

// The mean color of what is drawn when nothing but paths is.
const pathColor = (t) =>
    page.run(`(() => {
        for (const layer of ['bodies', 'joints', 'grid', 'links']) talusView.layer(layer, false);
        talusView.setTime(${t});
        talusView.draw();
        const stage = document.querySelector('canvas.stage');
        const { width, height } = stage;
        const copy = Object.assign(document.createElement('canvas'), { width, height });
        const context = copy.getContext('2d');
        context.drawImage(stage, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        let [red, blue, pixels] = [0, 0, 0];
        for (let i = 0; i < data.length; i += 4) {
            if (data[i + 3] <= 250) continue;
            red += data[i];
            blue += data[i + 2];
            pixels += 1;
        }
        return { warmth: (red - blue) / pixels, pixels };
    })()`);

test('muscles are tubes over their obstacles, colored by activation', async () => {
    const html = pageOf('arm', arm, ['--end', '0.3', '--every', '0.01']);
    const { paths } = sceneOf(html);
    const kinds = paths.map(({ name, kind }) => `${name} ${kind}`);
    assert.deepEqual(kinds, ['biceps muscle', 'cable passive']);
    assert.equal(paths[0].strength, 600);
    await open(html);
    const rest = await pathColor(0);
    const active = await pathColor(0.3);
    assert.ok(rest.pixels > 100 && active.pixels > 100);
    assert.ok(active.warmth > rest.warmth + 10, `${rest.warmth}, then ${active.warmth}`);
    await assertSilent();
});

test('loads in joints and constraints are arrows when they are wanted', async () => {
    const html = examplePage('four_bar', ['--show', 'reactions']);
    const { loads } = sceneOf(html).runs[0];
    assert.ok(loads.some(({ kind }) => kind === 'constraint'));
    assert.ok(loads.some(({ kind }) => kind === 'reaction'));
    await open(html);
    const all = await sum();
    await view('layer("reactions", false)');
    assert.notEqual(await sum(), all);
});

const obj = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n';
const stl = `solid a
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid a
`;
const vtp = `<VTKFile><PolyData><Piece>
<Points><DataArray format="ascii">0 0 0 1 0 0 0 1 0</DataArray></Points>
<Polys>
<DataArray Name="connectivity" format="ascii">0 1 2</DataArray>
<DataArray Name="offsets" format="ascii">3</DataArray>
</Polys>
</Piece></PolyData></VTKFile>`;

test('meshes of every kind are drawn, and a broken one is left out', async () => {
    const files = { 'm.obj': obj, 'm.stl': stl, 'm.vtp': vtp, 'bad.obj': 'v 1\n' };
    for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);
    const shape = (name, x) => `<mesh body="b" file="${name}" frame="${x} 0 0" color="1 0.5 0"/>`;
    const model = `<talus version="1" name="meshes">
        <bodies><pin name="b" mass="1" solid="sphere 0.2"/></bodies>
        <decorations>
            ${shape('m.obj', 0)}${shape('m.stl', 1.5)}${shape('m.vtp', 3)}
            ${shape('bad.obj', 0)}${shape('none.stl', 0)}
        </decorations>
    </talus>`;
    const html = pageOf('meshes', model, ['--end', '1']);
    assert.equal(sceneOf(html).shapes.filter(({ kind }) => kind === 'mesh').length, 3);
    await open(html);
    await assertDrawn('meshes');
    // looking along z: each mesh covers its place
    await view('look([0.001, 0.001, 1])');
    const [x, y] = await view('project("b")');
    const [, , , opacity] = await view(`pixelAt(${x}, ${y})`);
    assert.equal(opacity, 255);
});
