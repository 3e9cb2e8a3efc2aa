// Sizes of pages, and what talus render writes. ./run browser runs it.
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataOf, examplePage, file, models, run } from './pages.mjs';
import { session } from './session.mjs';

const page = session();

test('10 s of a human body at 100 rows a second: data below 1 MB, page below 850 kB', async () => {
    const body = join(models, 'human_body.talus');
    run('simulate', body, '-q', '-o', 'long.sto', '--end', '10', '--every', '0.01');
    run('view', 'long.sto', '-q', '-o', 'long.html');
    const data = dataOf(file('long.html')).length;
    const whole = statSync(file('long.html')).size;
    const kB = (bytes) => `${Math.round(bytes / 1000)} kB`;
    console.log(`    1001 frames of 40 bodies: ${kB(data)} of data, a page of ${kB(whole)}`);
    assert.ok(data < 1e6, `${data} bytes of data`);
    assert.ok(whole - data < 850e3, 'the page itself');
    await page.open(file('long.html'));
});

// Width and height of a PNG file.
function sizeOf(name) {
    const bytes = readFileSync(file(name));
    assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

// What the browser finds in an animated PNG.
const lookAt = (name) =>
    page.run(`(async () => {
        const base64 = '${readFileSync(file(name)).toString('base64')}';
        const data = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        const decoder = new ImageDecoder({ data, type: 'image/png' });
        await decoder.tracks.ready;
        await decoder.completed;
        const { frameCount, animated } = decoder.tracks.selectedTrack;
        const { image } = await decoder.decode({ frameIndex: frameCount - 1 });
        const { displayWidth: width, displayHeight: height, duration } = image;
        return { frameCount, animated, width, height, duration };
    })()`);

test('talus render: a picture, numbered ones, an animated PNG, a film', async () => {
    const render = (...args) => run('render', 'short.sto', '-q', ...args);
    const pendulum = join(models, 'pendulum.talus');
    run('simulate', pendulum, '-q', '-o', 'short.sto', '--end', '0.5', '--every', '0.05');
    render('--at', '0.2', '--size', '320x200', '-o', 'one.png');
    assert.deepEqual(sizeOf('one.png'), [320, 200]);
    render('--fps', '4', '--size', '160x100', '-o', 'frame%02d.png');
    assert.notDeepEqual(readFileSync(file('frame00.png')), readFileSync(file('frame01.png')));
    render('--fps', '10', '--size', '160x100', '-o', 'swing.apng');
    await page.open(examplePage('pendulum'));
    const film = { frameCount: 5, animated: true, width: 160, height: 100, duration: 100000 };
    assert.deepEqual(await lookAt('swing.apng'), film);
    render('--fps', '10', '--size', '160x100', '-o', 'swing.mp4');
    assert.equal(readFileSync(file('swing.mp4')).toString('latin1', 4, 8), 'ftyp');
});
