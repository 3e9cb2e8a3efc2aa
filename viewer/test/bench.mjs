// What the viewer promises about speed and size, measured: ./run browser --bench prints it.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';
import { chain, dataOf, file, folder, models, pageOf, run, talus } from './pages.mjs';

/** Seconds that the program takes: of the clock, and of the processor alone. */
function seconds(...args) {
    const script = 'TIMEFORMAT="%R %U %S"; { time "$@" >/dev/null 2>&1; } 2>&1';
    const options = { cwd: folder, encoding: 'utf8' };
    const text = execFileSync('bash', ['-c', script, 'bash', talus, ...args], options);
    const [clock, user, system] = text.trim().split(' ').map(Number);
    return { clock, processor: user + system };
}
const sorted = (list) => [...list].sort((a, b) => a - b);
const median = (list) => sorted(list)[Math.floor(list.length / 2)];

const rows = [];
function row(what, value, limit, unit) {
    const holds = value <= limit ? 'yes' : 'NO';
    rows.push({ what, value: `${value} ${unit}`, limit: `${limit} ${unit}`, holds });
}

// 10 s of a human body at 100 rows a second: 1001 frames of 40 bodies, with all its columns
const body = join(models, 'human_body.talus');
run('simulate', body, '-q', '-o', 'long.sto', '--end', '10', '--every', '0.01');
const times = Array.from({ length: 15 }, () =>
    seconds('view', 'long.sto', '-q', '-o', 'long.html')
);
const least = (kind) => Math.min(...times.map((time) => time[kind])).toFixed(3);
row('page of 1001 frames of 40 bodies (best of 15)', least('clock'), 0.2, 's');
row('the same, processor time (best of 15)', least('processor'), 0.2, 's');
const data = dataOf(file('long.html')).length;
const whole = statSync(file('long.html')).size;
row('its data', Math.round(data / 1000), 1000, 'kB');
row('the page without them', Math.round((whole - data) / 1000), 850, 'kB');

// ready: read, inflated, decoded, drawn once, with software graphics
const browser = await Browser.start({ width: 800, height: 500 });
const ready = [];
for (let i = 0; i < 5; ++i) ready.push(await browser.view(file('long.html'), '#light&t=0'));
row('the page from disk is ready (best of 5)', Math.round(Math.min(...ready)), 1000, 'ms');

// JavaScript of a frame: update, and what three.js does before the graphics take over
async function frameTimes(links) {
    const options = ['--end', '2', '--every', '0.05', '--accuracy', '1e-3'];
    await browser.view(pageOf(`chain${links}`, chain(links), options), '#light&t=0');
    return browser.run(`Array.from({ length: 41 }, (_, i) => {
        talusView.setTime(0.05 * i);
        return talusView.draw();
    }).slice(1)`);
}
for (const links of [40, 200]) {
    const frames = await frameTimes(links);
    const what = `JavaScript for a frame of ${links} bodies (median of 40)`;
    row(what, median(frames).toFixed(2), 2, 'ms');
}
await browser.stop();
console.table(rows);
