// A live run: numbers come in from talus view --live, orders go back. The format: doc/scene.md.
import { readScene } from './data.js';

const HISTORY = 20000; // rows kept for charts
const FRAME = 1;
const NEWS = 2;
const TRIES = 3; // to begin again when the stream ends

/** Whether this page was served by talus view --live. */
export function isLive() {
    return document.querySelector('meta[name="talus-live"]') !== null;
}

/** A scene of one frame, whose numbers are replaced as they come; loads are not among them. */
export function liveScene(scene) {
    const note = 'A live run shows no forces and no contacts; talus simulate and talus view do.';
    const runs = scene.runs.map((run) => ({
        ...run,
        forces: null,
        contacts: null,
        loads: [],
        note,
    }));
    return { ...scene, runs };
}

/** A clock that others turn. It has what a Player has. */
export class LiveClock {
    constructor(first, order, onChange) {
        Object.assign(this, {
            first,
            last: first,
            time: first,
            length: 0,
            speed: 1,
            loop: true,
            playing: true,
            order,
            onChange,
        });
    }

    setTime() {}

    tick() {}

    play(yes = !this.playing) {
        this.order({ do: yes ? 'resume' : 'pause' });
    }

    setSpeed(speed) {
        this.order({ do: 'speed', value: speed });
    }

    faster(way) {
        this.setSpeed(this.speed * (way > 0 ? 2 : 0.5));
    }

    /** What the program says. */
    obey({ paused, speed }) {
        const changed = this.playing === paused || this.speed !== speed;
        Object.assign(this, { playing: !paused, speed });
        if (changed) this.onChange('state');
    }
}

/** Rows for charts, as a run has them, the last ones only. */
class History {
    constructor(run) {
        Object.assign(this, { columns: run.columns, times: [], rows: run.columns.map(() => []) });
    }

    get frames() {
        return this.times.length;
    }

    column(i) {
        return this.rows[i];
    }

    add(t, values) {
        if (this.frames > 0 && t <= this.times.at(-1)) this.clear(); // a new beginning
        this.times.push(t);
        this.rows.forEach((row, i) => row.push(values[i]));
        if (this.frames <= HISTORY * 1.1) return;
        this.times.splice(0, this.frames - HISTORY);
        this.rows.forEach((row) => row.splice(0, row.length - HISTORY));
    }

    clear() {
        this.times.length = 0;
        this.rows.forEach((row) => {
            row.length = 0;
        });
    }
}

function join(a, b) {
    const both = new Uint8Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
}

// Messages of a stream: length, kind, body.
async function* messagesOf(reader) {
    let rest = new Uint8Array(0);
    for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        rest = join(rest, value);
        let at = 0;
        while (rest.length - at >= 5) {
            const head = new DataView(rest.buffer, rest.byteOffset + at, 5);
            const size = head.getUint32(0, true);
            if (rest.length - at - 5 < size) break;
            yield { kind: head.getUint8(4), body: rest.slice(at + 5, at + 5 + size) };
            at += 5 + size;
        }
        rest = rest.subarray(at);
    }
}

/** The stream of a run, and what it does to the page. */
export class Live {
    constructor(app) {
        this.app = app;
        this.status = null;
        this.received = 0; // frames
        this.history = new History(app.scene.runs[0]);
    }

    /** Send an order: {do, index, value}. */
    async order(what) {
        try {
            await fetch('do', {
                method: 'POST',
                headers: { 'Content-Type': 'application/json' },
                body: JSON.stringify(what),
            });
        } catch {
            // the stream has ended then, and says so
        }
    }

    async run() {
        for (let tries = 0; tries < TRIES; ++tries) {
            const before = this.received;
            try {
                const response = await fetch('stream');
                for await (const { kind, body } of messagesOf(response.body.getReader()))
                    await this.receive(kind, body);
            } catch {
                // it is tried again
            }
            if (this.received > before) tries = 0;
            await new Promise((done) => setTimeout(done, 500));
        }
        this.hasEnded = true;
        this.app.say('The run has ended: talus view --live no longer answers.');
    }

    async receive(kind, body) {
        if (kind === FRAME) this.onFrame(body);
        if (kind === NEWS) await this.onNews(JSON.parse(new TextDecoder().decode(body)));
    }

    onFrame(body) {
        const { app } = this;
        const [run] = app.scene.runs;
        const t = new DataView(body.buffer).getFloat64(0, true);
        const numbers = new Float32Array(body.buffer.slice(8));
        const paths = run.poses.length;
        const values = paths + (run.paths?.length ?? 0);
        if (numbers.length !== values + run.columns.length) return; // of a scene that is on its way
        run.poses.set(numbers.subarray(0, paths));
        run.paths?.set(numbers.subarray(paths, values));
        run.values.set(numbers.subarray(values));
        run.time[0] = t;
        app.player.time = app.player.last = t;
        this.history.add(t, numbers.subarray(values));
        this.received += 1;
        app.stale = true;
    }

    async onNews(news) {
        const { app } = this;
        const isFirst = this.status === null;
        const before = this.status?.scene;
        this.status = { ...this.status, ...news };
        app.player.obey(news);
        if (news.sliders)
            app.panel.setSliders(news.sliders, (index, value) =>
                this.order({ do: 'set', index, value })
            );
        app.panel.showSliders(news.values);
        app.bar.showWhy(news.why);
        if (!isFirst && news.scene !== before) await this.changeScene();
    }

    // The model was read again: it may look different.
    async changeScene() {
        const json = await (await fetch('scene')).json();
        const scene = liveScene(await readScene(json, json.data.base64));
        const names = (bodies) => bodies.map((body) => body.name).join('\n');
        if (names(scene.bodies) === names(this.app.scene.bodies)) this.app.changeScene(scene);
        else location.reload();
    }
}
