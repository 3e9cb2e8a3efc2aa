// Pages of the example models in a real browser: they are silent and not blank, they move, and they
// show what the library computed. ./run browser runs it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { examplePage, libraryPoses, models, readTable, runs, sceneOf } from './pages.mjs';
import { session } from './session.mjs';

const { open, view, run, until, sum, text, assertSilent, assertDrawn } = session();

for (const name of Object.keys(runs)) {
    test(`${name}: ready, silent, drawn, and it moves`, async () => {
        const took = await open(examplePage(name));
        console.log(`    ${name}: ready after ${Math.round(took)} ms`);
        await assertDrawn(name);
        const still = await sum();
        assert.match(await text('.clock span'), /\/ [\d.]+ s/);
        const { first, last } = await view('span');
        const frames = await view('frames');
        await view('play(true)');
        // playing draws pictures: three, and a tenth of the run, since some begin at rest
        await until(`talusView.frames > ${frames + 2}`);
        await until(`talusView.time > ${first + (last - first) / 10}`);
        assert.equal(await view('playing'), true);
        await view('play(false)');
        assert.notEqual(await sum(), still, 'the picture has changed');
        await assertSilent();
    });
}

// The promise of doc/scene.md, and a little for single precision on the way.
for (const name of ['human_body', 'stewart_platform', 'octane']) {
    test(`${name}: poses are those of the library at every row`, async () => {
        const page = examplePage(name);
        await open(page);
        const { size } = sceneOf(page);
        const poses = libraryPoses(join(models, `${name}.talus`), `${name}.sto`);
        const every = Math.max(1, Math.round(poses.at(-1).row / 40));
        const asked = poses.filter(({ row }) => row % every === 0);
        const places = JSON.stringify(asked.map(({ t, body }) => [t, body]));
        const shown = await run(`(() => {
            let now = NaN;
            return ${places}.map(([t, b]) => {
                if (t !== now) talusView.setTime(now = t);
                return talusView.pose(b);
            });
        })()`);
        asked.forEach(({ p, h, row, body }, i) => {
            const off = Math.hypot(...p.map((x, k) => x - shown[i].p[k]));
            const dot = Math.abs(h.reduce((all, x, k) => all + x * shown[i].h[k], 0));
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
    const mean = (at(10, 'upper.q0') + at(11, 'upper.q0')) / 2;
    assert.ok(Math.abs(2 * Math.atan2(h[3], h[0]) - mean) < 1e-5);
});

test('charts have the values of the table', async () => {
    await open(examplePage('four_bar'));
    const { names, rows } = readTable('four_bar.sto');
    await view(`setTime(${rows[40][0]})`);
    for (const name of names.slice(1)) {
        const column = rows.map((row) => row[names.indexOf(name)]);
        const range = Math.max(...column) - Math.min(...column);
        const off = Math.abs((await view(`value(${JSON.stringify(name)})`)) - column[40]);
        assert.ok(off <= 1e-5 * range + 1e-12, name);
    }
});
