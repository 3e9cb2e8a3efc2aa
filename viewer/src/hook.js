// window.talusView: what programs and tests ask of a page (viewer/README.md).

import { film } from './film.js';

const VERSION = 1;

export function makeHook(errors) {
    let app = null;
    let done = null;
    const ready = new Promise((resolve) => {
        done = resolve;
    });
    const bodyOf = (body) =>
        typeof body === 'number' ? body : app.scene.bodies.findIndex((b) => b.name === body);
    const drawn = () => {
        app.stale = true;
        app.draw();
    };
    // numbers are right at once; the picture follows with the next frame of the browser
    const prepared = () => {
        app.stale = true;
        app.prepare();
    };

    return {
        version: VERSION,
        errors,
        ready,
        attach(it) {
            app = it;
        },
        finish() {
            this.isReady = true;
            done(app !== null);
        },
        get time() {
            return app.player.time;
        },
        get frames() {
            return app.timing.frames;
        },
        get timing() {
            const { frames, total, last, worst } = app.timing;
            return { frames, last, worst, mean: frames ? total / frames : 0 };
        },
        /** Of a live run: what the program said last, and how many frames came; null elsewhere. */
        get live() {
            return app.live
                ? {
                      ...app.live.status,
                      received: app.live.received,
                      hasEnded: Boolean(app.live.hasEnded),
                  }
                : null;
        },
        get playing() {
            return app.player.playing;
        },
        play(yes) {
            app.player.play(yes);
        },
        setTime(t) {
            app.player.play(false);
            app.player.setTime(t);
            prepared();
        },
        /** Position and quaternion, w first, in Ground. */
        pose(body, run = 0) {
            const b = bodyOf(body);
            const { p, h } = app.figures[run].poses;
            return { p: [...p.subarray(3 * b, 3 * b + 3)], h: [...h.subarray(4 * b, 4 * b + 4)] };
        },
        /** Where the mass center of a body is on the screen, in CSS pixels; null when it is not. */
        project(body) {
            prepared();
            const b = bodyOf(body);
            const com = app.scene.bodies[b].com ?? [0, 0, 0];
            return app.stage.project(app.figures[0].poses.station(b, ...com, [0, 0, 0]));
        },
        /** The name of the body that is seen at a point of the window; null: none. */
        pick(x, y) {
            prepared();
            const b = app.bodyUnder(x, y);
            return b > 0 ? app.scene.bodies[b].name : null;
        },
        value(column) {
            return app.charts ? app.charts.value(column, app.player.time) : NaN;
        },
        hide(body, yes = true) {
            app.hide(bodyOf(body), yes);
            prepared();
        },
        layer(name, on) {
            app.setLayer(name, on);
            prepared();
        },
        follow(body) {
            app.follow(bodyOf(body));
            prepared();
        },
        look(way) {
            app.fit(way);
            prepared();
        },
        /** Draw now, and wait until it is drawn; milliseconds of JavaScript that it took. */
        draw() {
            drawn();
            const { gl, pixel } = app.stage.probe();
            gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
            return app.timing.last;
        },
        chart(yes) {
            if (app.charts && app.chartBox.hidden === yes) app.toggleChart();
        },
        theme(name) {
            app.setTheme(name);
            prepared();
        },
        /** How many colors are on the canvas, and a sum that tells pictures apart. */
        pixels() {
            drawn();
            const { width, height } = app.canvas;
            const copy = document.createElement('canvas');
            copy.width = width;
            copy.height = height;
            const context = copy.getContext('2d', { willReadFrequently: true });
            context.drawImage(app.canvas, 0, 0);
            const words = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
            let sum = 0;
            for (let i = 0; i < words.length; ++i) sum = (Math.imul(sum, 31) + words[i]) | 0;
            return { width, height, colors: new Set(words).size, sum };
        },
        /** A picture of so many pixels, as a data URL, over the background of the page. */
        async png(width, height) {
            return (await app.picture(width, height)).toDataURL('image/png');
        },
        /** A film of the whole run as base64 of an MP4; pictures at exact times. */
        mp4(fps, speed, width, height) {
            return film(app, { fps, speed, width, height });
        },
        /** Times of the run: first, last, how many frames. */
        get span() {
            return {
                first: app.player.first,
                last: app.player.last,
                frames: app.scene.runs[0]?.frames ?? 0,
            };
        },
        /** The color of the canvas at a point in CSS pixels: red, green, blue, opacity. */
        pixelAt(x, y) {
            drawn();
            const ratio = app.canvas.width / app.canvas.clientWidth;
            const copy = document.createElement('canvas');
            copy.width = copy.height = 1;
            const context = copy.getContext('2d');
            context.drawImage(app.canvas, -Math.round(x * ratio), -Math.round(y * ratio));
            return [...context.getImageData(0, 0, 1, 1).data];
        },
    };
}
