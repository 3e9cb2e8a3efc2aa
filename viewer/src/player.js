// The clock: playing, speed, loop.

const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** Speed 1 for runs of 1 to 60 s; otherwise the power of ten that makes them last about 10 s. */
export function firstSpeed(length) {
    if (!(length > 0) || (length >= 1 && length <= 60)) return 1;
    return 10 ** Math.round(Math.log10(length / 10));
}

export class Player {
    constructor(first, last, onChange) {
        Object.assign(this, { first, last, onChange });
        this.time = first;
        this.speed = firstSpeed(last - first);
        this.loop = true;
        this.playing = false;
        this.before = null;
    }

    get length() {
        return this.last - this.first;
    }

    setTime(t) {
        this.time = Math.min(this.last, Math.max(this.first, t));
        this.onChange('time');
    }

    play(yes = !this.playing) {
        this.playing = yes && this.length > 0;
        if (this.playing && this.time >= this.last) this.time = this.first;
        this.before = null;
        this.onChange('state');
    }

    faster(way) {
        const later =
            way > 0
                ? speeds.find((s) => s > this.speed * 1.001)
                : [...speeds].reverse().find((s) => s < this.speed * 0.999);
        this.setSpeed(later ?? this.speed * (way > 0 ? 10 : 0.1));
    }

    setSpeed(speed) {
        this.speed = speed;
        this.onChange('state');
    }

    /** Go on by the time since the last call, in seconds of the wall clock. */
    tick(now) {
        if (!this.playing) return;
        const passed = this.before === null ? 0 : Math.min(0.25, now - this.before);
        this.before = now;
        let t = this.time + passed * this.speed;
        if (t >= this.last && this.loop) t = this.first + ((t - this.first) % this.length);
        const ended = t >= this.last;
        this.time = Math.min(this.last, t);
        this.onChange('time');
        if (ended) this.play(false);
    }
}
