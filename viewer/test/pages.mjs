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
    return execFileSync(talus, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
    });
}

export const file = (name) => join(folder, name);

export function writeModel(name, text) {
    writeFileSync(file(`${name}.talus`), text);
}

/** Write a model, simulate it, make its page. */
export function pageOf(name, text, args = [], options = []) {
    writeModel(name, text);
    run('simulate', `${name}.talus`, '-q', '-o', `${name}.sto`, ...args);
    run('view', `${name}.sto`, '-q', '-o', `${name}.html`, ...options);
    return file(`${name}.html`);
}

/** The scene that a page holds. */
export function sceneOf(page) {
    return JSON.parse(readFileSync(page, 'utf8').match(/id="talus-scene">(.*?)<\/script>/s)[1]);
}

/** The data of a page, as they stand in it. */
export function dataOf(page) {
    return readFileSync(page, 'utf8').match(/id="talus-data">(.*?)<\/script>/s)[1];
}

/** A model: a chain of so many links that begins to fall. */
export function chain(links) {
    const link = (i) =>
        `<pin name="b${i}" parent="${i > 0 ? `b${i - 1}` : 'ground'}" q="${i > 0 ? 0 : 1}"
            body_frame="0 0.1 0" mass="1" solid="sphere 0.03"/>`;
    return `<talus version="1" name="chain">
        <bodies>${Array.from({ length: links }, (_, i) => link(i)).join('')}</bodies>
        <forces><gravity g="0 -9.81 0"/></forces>
    </talus>`;
}

/** A text that is markup where it is not escaped. */
export const evilText = '</script><img src=x onerror=hit=1>';
const evil = evilText.replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A model with such names wherever the format takes them: those of params have letters only. */
export const evilModel = `<talus version="1" name="${evil}">
    <bodies>
        <pin name="${evil}" body_frame="0 1 0" mass="1"><coordinate name="&lt;b&gt;angle"/></pin>
    </bodies>
    <markers><marker name="${evil}" body="${evil}" station="0 0.1 0"/></markers>
    <forces>
        <gravity g="0 -9.81 0"/>
        <two_point_spring name="${evil}" body2="${evil}" station1="1 0 0"
            stiffness="1"/>
    </forces>
    <decorations><text text="${evil}"/></decorations>
</talus>`;

// Pages that have been made: they are made once.
const made = new Map();

/** The page of an example model. */
export function examplePage(name, options = []) {
    const key = [name, ...options].join(' ');
    if (made.has(key)) return made.get(key);
    const page = `${name}${made.size}.html`;
    if (!made.has(name)) {
        run('simulate', join(models, `${name}.talus`), '-q', '-o', `${name}.sto`, ...runs[name]);
    }
    run('view', `${name}.sto`, '-q', '-o', page, ...options);
    made.set(key, file(page));
    return file(page);
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

const QUANTUM = 2 ** -20;

// The bytes of a track without differences, four a number, and its description.
function packTrack(rows, at) {
    const numbers = rows.flat();
    const steps = numbers.map((x) => (Number.isNaN(x) ? 0 : Math.round(x / QUANTUM)));
    const codes = steps.map((n) => ((n << 1) ^ (n >> 31)) >>> 0);
    const planes = [0, 8, 16, 24].map((shift) => codes.map((code) => (code >>> shift) & 255));
    const mask = numbers.some(Number.isNaN);
    const marks = mask ? numbers.map((x) => (Number.isNaN(x) ? 0 : 1)) : [];
    const order = '0'.repeat(rows.length);
    const track = { at, channels: rows.length, planes: 4, order, base: 0, quantum: QUANTUM, mask };
    return { track, bytes: Buffer.from([...planes.flat(), ...marks]) };
}

// A scene with tracks in its first run, and its data.
function pack(scene, tracks) {
    const json = structuredClone(scene);
    let data = Buffer.alloc(0);
    for (const [name, rows] of Object.entries(tracks)) {
        const { track, bytes } = packTrack(rows, data.length);
        Object.assign(json.runs[0], { [name]: track, frames: rows[0].length });
        data = Buffer.concat([data, bytes]);
    }
    json.data = { bytes: data.length };
    return { json, base64: deflateRaw(data).toString('base64') };
}

/** Poses of every body at every row, by the library: {row, t, body, p, h}. */
export function libraryPoses(model, table) {
    const text = execFileSync(join(build, 'tests/talus_poses'), [model, table], {
        cwd: folder,
        encoding: 'utf8',
        maxBuffer: 1 << 28,
    });
    return text
        .trim()
        .split('\n')
        .map((line) => {
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
