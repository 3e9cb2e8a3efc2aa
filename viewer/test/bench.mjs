// What the viewer promises about speed and size, measured: ./run browser --bench prints it.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Browser } from './browser.mjs';
import { chain, file, folder, models, pageOf, run, talus } from './pages.mjs';

const seconds = (...args) => {
    const begin = performance.now();
    execFileSync(talus, args, { cwd: folder, stdio: 'ignore' });
    return (performance.now() - begin) / 1000;
};
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const rows = [];
const row = (what, value, limit, unit) => rows.push({ what, value: `${value} ${unit}`, limit: `${limit} ${unit}`, holds: value <= limit ? 'yes' : 'NO' });

// 10 s of a human body at 100 rows a second: 1001 frames of 40 bodies, with all its columns
run('simulate', join(models, 'human_body.talus'), '-q', '-o', 'long.sto', '--end', '10', '--every', '0.01');
const times = Array.from({ length: 7 }, () => seconds('view', 'long.sto', '-q', '-o', 'long.html'));
row('page of 1001 frames of 40 bodies (best of 7)', Math.min(...times).toFixed(3), 0.2, 's');
const data = readFileSync(file('long.html'), 'utf8').match(/id="talus-data">(.*?)<\/script>/s)[1].length;
row('its data', Math.round(data / 1000), 1000, 'kB');
row('the page without them', Math.round((statSync(file('long.html')).size - data) / 1000), 850, 'kB');

// update, and what three.js does before the graphics take over
const browser = await Browser.start({ width: 800, height: 500 });
row('the page from disk is ready (software graphics)', Math.round(await browser.view(file('long.html'), '#light&t=0')), 1000, 'ms');
await browser.view(pageOf('chain', chain(200), ['--end', '2', '--every', '0.05', '--accuracy', '1e-3']), '#light&t=0');
const frames = await browser.run(`(() => { const out = []; for (let i = 0; i < 41; ++i) { talusView.setTime(0.05 * i); out.push(talusView.draw()); } return out.slice(1); })()`);
row('JavaScript for a frame of 200 bodies (median of 40)', median(frames).toFixed(2), 2, 'ms');
await browser.stop();
console.table(rows);
