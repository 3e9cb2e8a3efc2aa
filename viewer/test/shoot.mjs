// Pictures of pages, to look at: node shoot.mjs PAGE.html OUT.png [#hash] [WIDTHxHEIGHT] [SCRIPT]
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Browser } from './browser.mjs';

const [page, out, hash = '', size = '1280x720', script = ''] = process.argv.slice(2);
const [width, height] = size.split('x').map(Number);
const browser = await Browser.start({ width, height });
const took = await browser.view(resolve(page), hash);
if (script) await browser.run(`(async () => { ${script} })()`);
await new Promise((done) => setTimeout(done, 300));
writeFileSync(out, await browser.picture());
console.log(out, `ready in ${Math.round(took)} ms`, browser.said.join('\n'));
await browser.stop();
