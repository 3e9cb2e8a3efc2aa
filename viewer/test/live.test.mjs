// talus view --live in a real browser. ./run browser runs it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { evilModel, folder, models, talus, writeModel } from './pages.mjs';
import { session } from './session.mjs';

const page = session({ width: 720, height: 400 });
const { view, run, until, text, sum, assertSilent, assertDrawn } = page;

/** A live run: its address, and the process. */
async function start(...args) {
    const stdio = ['ignore', 'pipe', 'pipe'];
    const child = spawn(talus, ['view', '--live', ...args], { cwd: folder, stdio });
    child.ended = new Promise((done) => child.once('exit', (code) => done(code)));
    let said = '';
    child.stdout.setEncoding('utf8');
    for await (const part of child.stdout) {
        said += part;
        if (said.includes('\n')) break;
    }
    child.address = said.trim();
    return child;
}

async function stop(child) {
    child.kill('SIGINT');
    return child.ended;
}

async function open(child) {
    await page.browser.viewAt(child.address);
    await until('talusView.live?.received > 0 && talusView.live.sliders');
    await assertSilent();
}

/** Do something with a live run, and end it. */
const withRun =
    (args, act) =>
    async (...more) => {
        const child = await start(...args);
        try {
            await open(child);
            await act(child, ...more);
            assert.deepEqual(page.said(), []);
        } finally {
            await page.browser.open('about:blank'); // else its page tries again, and complains
            await stop(child);
        }
    };

const click = (selector) => run(`document.querySelector(${JSON.stringify(selector)}).click()`);

/** Move a slider to a part of its range. */
const setSlider = (name, part) =>
    run(`(() => {
        const label = ${JSON.stringify(name)};
        const inputs = [...document.querySelectorAll('.param input')];
        const input = inputs.find((it) => it.getAttribute('aria-label') === label);
        input.value = String(${1000 * part});
        input.dispatchEvent(new Event('input'));
    })()`);

/** The value of a slider, as the program said it last: an expression. */
const valueOf = (name) =>
    `talusView.live.values[talusView.live.sliders.findIndex((s) => s.name === "${name}")]`;

const pendulum = join(models, 'pendulum.talus');

test(
    'a live run moves; pause, step, resume, speed and reset do what they say',
    withRun([pendulum], async (child) => {
        assert.match(child.address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
        await assertDrawn('live');
        const first = await sum();
        await until(`talusView.time > ${(await view('time')) + 0.2}`);
        assert.notEqual(await sum(), first, 'it moves');

        await click('button.play');
        await until('talusView.live.paused && !talusView.playing');
        const still = await view('time');
        await page.browser.key('ArrowRight');
        await until(`talusView.time > ${still}`);
        assert.ok((await view('time')) < still + 0.1, 'one frame');
        await click("[aria-label^='Begin again']");
        await until('talusView.time === 0');
        assert.equal(await view('playing'), false, 'a reset does not start it');

        await run(`(() => {
            const box = document.querySelector("[aria-label=Speed]");
            box.value = "0.1";
            box.dispatchEvent(new Event("change"));
        })()`);
        await until('talusView.live.speed === 0.1');
        await page.browser.key(' ');
        await until('talusView.playing && talusView.time > 0.01 && talusView.live.factor > 0');
        assert.ok((await view('live.factor')) < 0.2);
    })
);

test(
    'sliders change the motion: params, coordinates, forces',
    withRun([join(models, 'elbow.talus'), '-s', 'load=2'], async () => {
        await click('button.play');
        await until('talusView.live.paused');
        assert.equal(await run(valueOf('load')), 2);
        await setSlider('load', 1);
        await until('talusView.live.scene === 1'); // the model was read again
        await until(`${valueOf('load')} === 4`);
        await setSlider('flexion', 0.5);
        await until(`Math.abs(${valueOf('flexion')} - 1.309) < 0.01`);
        const bent = await view('pose("forearm")');
        await setSlider('flexion', 0);
        await until(`Math.abs(talusView.pose("forearm").h[0] - ${bent.h[0]}) > 0.05`);
        await setSlider('biceps.stiffness', 0.25);
        await until(`${valueOf('biceps.stiffness')} > 0`);
    })
);

test(
    'charts grow while it runs',
    withRun([pendulum], async () => {
        await view('chart(true)');
        await until('document.querySelectorAll(".u-legend .u-value").length > 0');
        await until('Number.isFinite(talusView.value("total_energy"))');
        await until(`[...document.querySelectorAll(".u-legend .u-value")].some(
            (value) => Number.isFinite(Number(value.textContent)))`);
    })
);

writeModel(
    'ends',
    `<talus version="1" name="ends">
        <bodies><slider name="cart" mass="1" u="1"/></bodies>
        <stops><stop time="0.05" message="enough"/></stops>
    </talus>`
);
test(
    'a run that cannot go on says why, and a reset begins again',
    withRun(['ends.talus'], async () => {
        await until('talusView.live.paused && talusView.live.why.includes("ended")');
        assert.match(await text('.why'), /ended/);
        await page.browser.key('Home');
        await until('talusView.time === 0');
    })
);

writeModel('evil', evilModel);
test(
    'names of coordinates and bodies with markup in them are text',
    withRun(['evil.talus'], async () => {
        assert.ok((await text('.param')).includes('<b>angle'), 'a slider');
        assert.equal(await run('document.querySelectorAll("img, main b b").length'), 0);
        assert.equal(await run('window.hit'), undefined);
    })
);

test(
    'foreign pages and wrong tokens learn nothing',
    withRun([pendulum], async (child) => {
        const wrong = child.address.replace(/[0-9a-f]{32}/, '0'.repeat(32));
        assert.equal(await run(`fetch('${wrong}').then((r) => r.status)`), 403);
        assert.equal(await run('fetch("nothing").then((r) => r.status)'), 404);
        const away = await run('fetch("https://example.org/").then(() => "sent", () => "refused")');
        assert.equal(away, 'refused');
        // a page from elsewhere that knows the address: its Origin gives it away
        await page.browser.open('data:text/html,<title>elsewhere</title>');
        const answer = await run(`fetch('${child.address}do',
            { method: 'POST', body: '{"do":"pause"}', mode: 'no-cors' }
        ).then((r) => r.type, () => 'refused')`);
        assert.ok(['opaque', 'refused'].includes(answer));
        const framed = await run(`new Promise((done) => {
            const frame = document.createElement('iframe');
            frame.src = '${child.address}';
            frame.onload = () => {
                try { done(frame.contentDocument === null ? 'closed' : 'open'); }
                catch { done('closed'); }
            };
            document.body.append(frame);
        })`);
        assert.equal(framed, 'closed');
        await open(child);
        assert.equal(await view('live.paused'), false, 'the order was not obeyed');
    })
);

test('Ctrl-C ends it cleanly, and the page says so', async () => {
    const child = await start(pendulum);
    await open(child);
    assert.equal(await stop(child), 0);
    await until('talusView.live.hasEnded');
    assert.match(await text('.message'), /has ended/);
});
