// Where bodies are at a time: poses relative to parents between two frames, then through the tree.

const CHANNELS = 7; // position, quaternion w x y z

/** Poses of bodies in Ground: p [3 n], h [4 n] with w first, m [16 n] as matrices by columns. */
export class Poses {
    constructor(bodies) {
        this.parents = Int32Array.from(bodies, (body) => body.parent);
        this.num = bodies.length;
        this.p = new Float64Array(3 * this.num);
        this.h = new Float64Array(4 * this.num);
        this.m = new Float32Array(16 * this.num);
        this.local = new Float64Array(CHANNELS * this.num);
        this.h[0] = 1;
        this.writeMatrix(0);
    }

    /** From a run between frames `i` and `i + 1`. */
    setFromRun(run, { i, part }) {
        const { frames, poses } = run;
        const next = Math.min(i + 1, frames - 1);
        for (let b = 1; b < this.num; ++b) {
            const first = CHANNELS * (b - 1) * frames;
            interpolate(poses, first, frames, i, next, part, this.local, CHANNELS * b);
        }
        this.climb();
    }

    /** From numbers relative to parents, [7 (n - 1)], as a live run sends them. */
    setFromNumbers(numbers) {
        this.local.set(numbers, CHANNELS);
        this.climb();
    }

    // X_GB = X_GP X_PB, parents first
    climb() {
        const { p, h, local } = this;
        for (let b = 1; b < this.num; ++b) {
            const k = CHANNELS * b;
            const P = 3 * this.parents[b];
            const H = 4 * this.parents[b];
            const length = Math.hypot(local[k + 3], local[k + 4], local[k + 5], local[k + 6]) || 1;
            const w = local[k + 3] / length;
            const x = local[k + 4] / length;
            const y = local[k + 5] / length;
            const z = local[k + 6] / length;
            rotateInto(h, H, local[k], local[k + 1], local[k + 2], p, 3 * b);
            p[3 * b] += p[P];
            p[3 * b + 1] += p[P + 1];
            p[3 * b + 2] += p[P + 2];
            h[4 * b] = h[H] * w - h[H + 1] * x - h[H + 2] * y - h[H + 3] * z;
            h[4 * b + 1] = h[H] * x + h[H + 1] * w + h[H + 2] * z - h[H + 3] * y;
            h[4 * b + 2] = h[H] * y - h[H + 1] * z + h[H + 2] * w + h[H + 3] * x;
            h[4 * b + 3] = h[H] * z + h[H + 1] * y - h[H + 2] * x + h[H + 3] * w;
            this.writeMatrix(b);
        }
    }

    writeMatrix(b) {
        const { m, p, h } = this;
        const w = h[4 * b];
        const x = h[4 * b + 1];
        const y = h[4 * b + 2];
        const z = h[4 * b + 3];
        const k = 16 * b;
        m[k] = 1 - 2 * (y * y + z * z);
        m[k + 1] = 2 * (x * y + w * z);
        m[k + 2] = 2 * (x * z - w * y);
        m[k + 4] = 2 * (x * y - w * z);
        m[k + 5] = 1 - 2 * (x * x + z * z);
        m[k + 6] = 2 * (y * z + w * x);
        m[k + 8] = 2 * (x * z + w * y);
        m[k + 9] = 2 * (y * z - w * x);
        m[k + 10] = 1 - 2 * (x * x + y * y);
        m[k + 12] = p[3 * b];
        m[k + 13] = p[3 * b + 1];
        m[k + 14] = p[3 * b + 2];
        m[k + 15] = 1;
    }

    /** A station of a body in Ground, into `out`. */
    station(body, x, y, z, out) {
        const { m } = this;
        const k = 16 * body;
        out[0] = m[k] * x + m[k + 4] * y + m[k + 8] * z + m[k + 12];
        out[1] = m[k + 1] * x + m[k + 5] * y + m[k + 9] * z + m[k + 13];
        out[2] = m[k + 2] * x + m[k + 6] * y + m[k + 10] * z + m[k + 14];
        return out;
    }
}

// R(h) (x, y, z) by the quaternion at h[k]
function rotateInto(h, k, x, y, z, out, at) {
    const w = h[k];
    const a = h[k + 1];
    const b = h[k + 2];
    const c = h[k + 3];
    const s = 2 * (b * z - c * y);
    const t = 2 * (c * x - a * z);
    const u = 2 * (a * y - b * x);
    out[at] = x + w * s + b * u - c * t;
    out[at + 1] = y + w * t + c * s - a * u;
    out[at + 2] = z + w * u + a * t - b * s;
}

// Positions along the line, quaternions along the great circle.
function interpolate(poses, first, frames, i, next, part, out, at) {
    for (let k = 0; k < 3; ++k) {
        const a = poses[first + k * frames + i];
        out[at + k] = part === 0 ? a : a + part * (poses[first + k * frames + next] - a);
    }
    let dot = 0;
    for (let k = 3; k < CHANNELS; ++k) {
        dot += poses[first + k * frames + i] * poses[first + k * frames + next];
    }
    const angle = Math.acos(Math.min(1, Math.abs(dot)));
    const sine = Math.sin(angle);
    const u = sine < 1e-4 ? 1 - part : Math.sin((1 - part) * angle) / sine;
    const v = (sine < 1e-4 ? part : Math.sin(part * angle) / sine) * (dot < 0 ? -1 : 1);
    for (let k = 3; k < CHANNELS; ++k) {
        out[at + k] = u * poses[first + k * frames + i] + v * poses[first + k * frames + next];
    }
}

/** Which frames a time lies between: {i, part}. */
export function frameAt(times, frames, t) {
    if (!(t > times[0]) || frames < 2) return { i: 0, part: 0 };
    if (t >= times[frames - 1]) return { i: frames - 1, part: 0 };
    let low = 0;
    let high = frames - 1;
    while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (times[middle] <= t) low = middle;
        else high = middle;
    }
    const span = times[high] - times[low];
    return { i: low, part: span > 0 ? (t - times[low]) / span : 0 };
}

/** A channel of a track at a time between frames; NaN where it is not there. */
export function valueAt(values, channel, frames, { i, part }) {
    const a = values[channel * frames + i];
    if (part === 0 || i + 1 >= frames) return a;
    const b = values[channel * frames + i + 1];
    if (Number.isNaN(a) || Number.isNaN(b)) return part < 0.5 ? a : b;
    return a + part * (b - a);
}
