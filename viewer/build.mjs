// node build.mjs FOLDER: build FOLDER/viewer.html with the packages of FOLDER/node_modules. It is
// one file with script and style inside, and places for a title, a scene and its data. Only this
// script and this style may run in it.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folder = resolve(process.argv[2] ?? join(here, '../build/viewer'));
const output = join(folder, 'viewer.html');
const { build } = createRequire(join(folder, 'package.json'))('esbuild');

async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, entry)],
        bundle: true,
        nodePaths: [join(folder, 'node_modules')],
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
