// A headless Chromium, driven through a pipe: no port, no package.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const candidates = [
    process.env.TALUS_CHROMIUM,
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium',
];
const flags = [
    '--headless',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
    '--mute-audio',
    '--remote-debugging-pipe',
];
const software = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

/** The path of a browser; null when there is none. */
export function findBrowser() {
    return candidates.find((path) => path && existsSync(path)) ?? null;
}

/** A browser with one page. */
export class Browser {
    static async start({ width = 1280, height = 720, ratio = 1, more = [], webgl = true } = {}) {
        const browser = new Browser();
        browser.profile = mkdtempSync(join(tmpdir(), 'talus-browser-'));
        const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
        const args = [
            ...flags,
            ...root,
            ...(webgl ? software : ['--disable-3d-apis']),
            `--user-data-dir=${browser.profile}`,
            ...more,
            'about:blank',
        ];
        browser.child = spawn(findBrowser(), args, {
            stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
        });
        browser.waiting = new Map();
        browser.listeners = new Map();
        browser.next = 1;
        browser.listen();
        const { targetInfos } = await browser.send('Target.getTargets', {}, null);
        const page = targetInfos.find((target) => target.type === 'page');
        const { sessionId } = await browser.send(
            'Target.attachToTarget',
            { targetId: page.targetId, flatten: true },
            null
        );
        browser.session = sessionId;
        await browser.prepare(width, height, ratio);
        return browser;
    }

    listen() {
        let rest = '';
        this.child.stdio[4].setEncoding('utf8');
        this.child.stdio[4].on('data', (text) => {
            const parts = (rest + text).split('\0');
            rest = parts.pop();
            for (const part of parts) this.receive(JSON.parse(part));
        });
        this.child.on('exit', () => {
            for (const { fail } of this.waiting.values()) fail(new Error('the browser ended'));
        });
    }

    receive(message) {
        if (message.id) {
            const { done, fail } = this.waiting.get(message.id);
            this.waiting.delete(message.id);
            if (message.error) fail(new Error(message.error.message));
            else done(message.result);
            return;
        }
        for (const listener of this.listeners.get(message.method) ?? []) listener(message.params);
    }

    on(method, listener) {
        this.listeners.set(method, [...(this.listeners.get(method) ?? []), listener]);
    }

    send(method, params = {}, sessionId = this.session) {
        const id = this.next++;
        const message = { id, method, params, ...(sessionId ? { sessionId } : {}) };
        return new Promise((done, fail) => {
            this.waiting.set(id, { done, fail });
            this.child.stdio[3].write(`${JSON.stringify(message)}\0`);
        });
    }

    // Everything that a page says goes into `said`.
    async prepare(width, height, ratio) {
        this.said = [];
        this.on('Runtime.consoleAPICalled', ({ type, args }) =>
            this.said.push(`${type}: ${args.map((a) => a.value ?? a.description).join(' ')}`)
        );
        this.on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
            this.said.push(
                `exception: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`
            )
        );
        this.on('Log.entryAdded', ({ entry }) => this.said.push(`${entry.level}: ${entry.text}`));
        for (const domain of ['Page', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
        await this.resize(width, height, ratio);
    }

    resize(width, height, ratio = 1, mobile = false) {
        return this.send('Emulation.setDeviceMetricsOverride', {
            width,
            height,
            deviceScaleFactor: ratio,
            mobile,
        });
    }

    media(features) {
        return this.send('Emulation.setEmulatedMedia', {
            features: Object.entries(features).map(([name, value]) => ({ name, value })),
        });
    }

    async open(url) {
        this.said = [];
        // a page that differs only behind # is not loaded again
        await this.send('Page.navigate', { url: 'about:blank' });
        await this.send('Page.navigate', { url });
    }

    /** Open a page of the viewer and wait until it is ready; the milliseconds that took. */
    async view(path, hash = '') {
        return this.viewAt(`${pathToFileURL(path)}${hash}`);
    }

    /** The same at any address. */
    async viewAt(url) {
        const begin = performance.now();
        await this.open(url);
        await this.until('window.talusView && window.talusView.isReady');
        return performance.now() - begin;
    }

    /** Wait until an expression is true. The limit is for what never happens. */
    async until(expression, seconds = 300) {
        const end = performance.now() + 1000 * seconds;
        while (!(await this.run(`Boolean(${expression})`))) {
            if (performance.now() > end)
                throw new Error(`after ${seconds} s still not: ${expression}`);
            await new Promise((done) => setTimeout(done, 20));
        }
    }

    /** The value of an expression, which may be a promise. */
    async run(expression) {
        const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
            expression,
            returnByValue: true,
            awaitPromise: true,
        });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    async key(key, modifiers = 0) {
        const text = key.length === 1 ? key : undefined;
        await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, modifiers });
        await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, modifiers });
    }

    async click(x, y, count = 1) {
        for (const type of ['mousePressed', 'mouseReleased']) {
            await this.send('Input.dispatchMouseEvent', {
                type,
                x,
                y,
                button: 'left',
                clickCount: count,
            });
        }
    }

    /** The window as a PNG. */
    async picture() {
        const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
        return Buffer.from(data, 'base64');
    }

    async stop() {
        const ended = new Promise((done) => this.child.once('exit', done));
        this.send('Browser.close', {}, null).catch(() => {});
        const timer = setTimeout(() => this.child.kill('SIGKILL'), 3000);
        await ended;
        clearTimeout(timer);
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}
