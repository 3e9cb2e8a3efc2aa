// Pages to test: made by the program, in a folder of their own.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync as deflateRaw } from 'node:zlib';

const source = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const build = resolve(source, process.env.TALUS_BUILD ?? 'build/dev');

export const talus = join(build, 'cli/talus');
export const models = join(source, 'examples/models');
export const folder = mkdtempSync(join(tmpdir(), 'talus-pages-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** How each example model is run: options by name. */
export const runs = Object.fromEntries(
    readFileSync(join(source, 'examples/pages.txt'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .map(([name, ...options]) => [name, options])
);

export function run(...args) {
    return execFileSync(talus, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

export const file = (name) => join(folder, name);

/** Write a model, simulate it, make its page. */
export function pageOf(name, text, args = [], options = []) {
    writeFileSync(file(`${name}.talus`), text);
    run('simulate', `${name}.talus`, '-q', '-o', `${name}.sto`, ...args);
    run('view', `${name}.sto`, '-q', '-o', `${name}.html`, ...options);
    return file(`${name}.html`);
}

/** A model: a chain of so many links that begins to fall. */
export const chain = (links) => {
    const body = (i) => `<pin name="b${i}" parent="${i ? `b${i - 1}` : 'ground'}" body_frame="0 0.1 0" mass="1" solid="sphere 0.03" ${i ? '' : 'q="1"'}/>`;
    return `<talus version="1" name="chain"><bodies>${Array.from({ length: links }, (_, i) => body(i)).join('')}</bodies><forces><gravity g="0 -9.81 0"/></forces></talus>`;
};

/** The page of an example model. */
export function examplePage(name, options = []) {
    run('simulate', join(models, `${name}.talus`), '-q', '-o', `${name}.sto`, ...runs[name]);
    run('view', `${name}.sto`, '-q', '-o', `${name}.html`, ...options);
    return file(`${name}.html`);
}

/** A page with a scene written by hand, its tracks given as [channels][frames] numbers. */
export function handPage(name, scene, tracks = {}) {
    const page = readFileSync(join(source, 'build/viewer/viewer.html'), 'utf8');
    const { json, base64 } = pack(scene, tracks);
    const text = page
        .replace('@TALUS_TITLE@', () => 'hand')
        .replace('@TALUS_SCENE@', () => JSON.stringify(json).replaceAll('<', '\\u003c'))
        .replace('@TALUS_DATA@', () => base64);
    writeFileSync(file(`${name}.html`), text);
    return file(`${name}.html`);
}

// Tracks without differences, four bytes a number; the data stay as they are in one stored block.
function pack(scene, tracks) {
    const parts = [];
    let at = 0;
    const json = structuredClone(scene);
    const quantum = 2 ** -20;
    for (const [name, rows] of Object.entries(tracks)) {
        const frames = rows[0].length;
        const total = rows.length * frames;
        const codes = rows.flat().map((x) => (Number.isNaN(x) ? 0 : Math.round(x / quantum))).map((n) => ((n << 1) ^ (n >> 31)) >>> 0);
        const bytes = Buffer.alloc(4 * total);
        for (let p = 0; p < 4; ++p) codes.forEach((code, i) => bytes.writeUInt8((code >>> (8 * p)) & 255, p * total + i));
        const mask = rows.flat().some(Number.isNaN) ? Buffer.from(rows.flat().map((x) => (Number.isNaN(x) ? 0 : 1))) : Buffer.alloc(0);
        json.runs[0][name] = { at, channels: rows.length, planes: 4, order: '0'.repeat(rows.length), base: 0, quantum, ...(mask.length ? { mask: true } : {}) };
        json.runs[0].frames = frames;
        parts.push(bytes, mask);
        at += bytes.length + mask.length;
    }
    const data = Buffer.concat(parts);
    json.data = { bytes: data.length };
    return { json, base64: deflateRaw(data).toString('base64') };
}

/** Poses of every body at every row, by the library: {row, t, body, p, h}. */
export function libraryPoses(model, table) {
    const text = execFileSync(join(build, 'tests/talus_poses'), [model, table], { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
    return text.trim().split('\n').map((line) => {
        const [row, t, body, x, y, z, w, a, b, c] = line.split(' ').map(Number);
        return { row, t, body, p: [x, y, z], h: [w, a, b, c] };
    });
}

/** A .sto table: names and rows. */
export function readTable(name) {
    const [, body] = readFileSync(file(name), 'utf8').split('endheader\n');
    const [head, ...lines] = body.trim().split('\n');
    return { names: head.split('\t'), rows: lines.map((line) => line.split('\t').map(Number)) };
}
