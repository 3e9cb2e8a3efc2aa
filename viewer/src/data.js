// From the bytes of a page to numbers: inflating, and decoding tracks (doc/scene.md).

const VERSION = 1;

function bytesOfBase64(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

async function inflate(packed) {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

const perChannel = (value, c) => (Array.isArray(value) ? value[c] : value);

/** The values of a track, channel by channel: [channels][frames]. NaN where there is none. */
export function decodeTrack(track, frames, bytes) {
    const { at, channels, planes } = track;
    const total = channels * frames;
    const masked = track.mask ? total : 0;
    if (at + planes * total + masked > bytes.length) throw new Error('a track ends too early');
    const values = new Float64Array(total);
    for (let c = 0; c < channels; ++c) {
        decodeChannel(track, c, frames, total, bytes, values);
    }
    for (let i = 0; i < masked; ++i) {
        if (bytes[at + planes * total + i] === 0) values[i] = NaN;
    }
    return values;
}

// Sums of differences, modulo 2^32, undo differences.
function decodeChannel(track, c, frames, total, bytes, values) {
    const order = track.order.charCodeAt(c) - 48;
    const base = perChannel(track.base, c) ?? 0;
    const quantum = perChannel(track.quantum, c);
    const first = c * frames;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    for (let i = 0; i < frames; ++i) {
        let code = 0;
        for (let p = 0; p < track.planes; ++p) {
            code |= bytes[track.at + p * total + first + i] << (8 * p);
        }
        let n = (code >>> 1) ^ -(code & 1);
        if (order > 2) n = s3 = (s3 + n) | 0;
        if (order > 1) n = s2 = (s2 + n) | 0;
        if (order > 0) n = s1 = (s1 + n) | 0;
        values[first + i] = base + quantum * n;
    }
}

/** A mesh: positions and triangles. */
export function decodeMesh(mesh, bytes) {
    const { at, vertices, faces, low, high } = mesh;
    const steps = new Uint16Array(bytes.buffer, bytes.byteOffset + at, 3 * vertices);
    const positions = new Float32Array(3 * vertices);
    for (let i = 0; i < positions.length; ++i) {
        const k = i % 3;
        positions[i] = low[k] + ((high[k] - low[k]) * steps[i]) / 65535;
    }
    const behind = bytes.byteOffset + at + Math.ceil((6 * vertices) / 4) * 4;
    const Index = mesh.index === 32 ? Uint32Array : Uint16Array;
    const end = behind + 3 * faces * Index.BYTES_PER_ELEMENT;
    return { positions, index: new Index(bytes.buffer.slice(behind, end)), low, high };
}

function decodeRun(run, bytes) {
    const decoded = { ...run, track: {} };
    for (const name of ['time', 'poses', 'values', 'forces', 'contacts', 'paths', 'seen']) {
        if (run[name]) decoded[name] = decodeTrack(run[name], run.frames, bytes);
        if (run[name]) decoded.track[name] = run[name];
    }
    return decoded;
}

/** What keeps a scene from being shown, as a sentence; null when nothing does. */
export function whatIsWrong(scene) {
    if (!scene || scene.format !== 'talus-scene') return 'This page holds no scene of Talus.';
    if (scene.version > VERSION) {
        return (
            `This scene has format ${scene.version}; this page reads formats up to ${VERSION}. ` +
            'Make the page with a newer talus.'
        );
    }
    return null;
}

/** A scene with its runs decoded. */
export async function readScene(scene, base64) {
    const wrong = whatIsWrong(scene);
    if (wrong) throw new Error(wrong);
    const bytes = base64 ? await inflate(bytesOfBase64(base64)) : new Uint8Array(0);
    if (scene.data && bytes.length !== scene.data.bytes)
        throw new Error('The data of this page are not complete: download it again.');
    return {
        ...scene,
        shapes: scene.shapes ?? [],
        markers: scene.markers ?? [],
        links: scene.links ?? [],
        paths: scene.paths ?? [],
        runs: (scene.runs ?? []).map((run) => decodeRun(run, bytes)),
        meshes: (scene.meshes ?? []).map((mesh) =>
            mesh.faces > 0 ? decodeMesh(mesh, bytes) : null
        ),
    };
}
