// Build the page: node build.mjs OUTPUT. One file with script and style inside, and places for a
// title, a scene and its data; only this script and this style may run in it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, '../build/viewer/viewer.html');

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, entry)],
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        target: 'es2022',
        legalComments: 'none',
        charset: 'ascii',
        logLevel: 'warning',
    });
    // a closing tag inside a script would end it
    return result.outputFiles[0].text.trim().replace(/<\/(script|style)/gi, '<\\/$1');
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const script = await bundle('src/main.js');
const style = await bundle('src/style.css');
const fill = {
    NOTICES: readFileSync(join(here, 'LICENSES.txt'), 'utf8').trim().replaceAll('--', '- -'),
    SCRIPT_HASH: hashOf(script),
    STYLE_HASH: hashOf(style),
    STYLE: style,
    SCRIPT: script,
};
const page = readFileSync(join(here, 'src/page.html'), 'utf8').replace(
    /@(NOTICES|SCRIPT_HASH|STYLE_HASH|STYLE|SCRIPT)@/g,
    (mark, name) => fill[name]
);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
console.log(`viewer: ${output} has ${Math.round(page.length / 1000)} kB`);
