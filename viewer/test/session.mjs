// A browser for the tests of one file, and what they ask of its page.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { Browser } from './browser.mjs';

/** Start a browser before the tests of a file, and end it after them. */
export function session({ width = 640, height = 400 } = {}) {
    const it = { browser: null };
    before(async () => {
        it.browser = await Browser.start({ width, height });
    });
    after(() => it.browser.stop());

    it.run = (expression) => it.browser.run(expression);
    it.until = (expression) => it.browser.until(expression);
    /** What a member of window.talusView gives. */
    it.view = (expression) => it.browser.run(`window.talusView.${expression}`);
    /** What the page said, but for the driver's complaints that we read pixels back. */
    it.said = () => it.browser.said.filter((text) => !text.includes('ReadPixels'));
    it.text = (selector) =>
        it.run(`document.querySelector(${JSON.stringify(selector)}).textContent`);

    it.open = async (path, hash = '#light&t=0') => {
        const took = await it.browser.view(path, hash);
        await it.assertSilent();
        return took;
    };
    it.assertSilent = async () => {
        assert.deepEqual(await it.view('errors'), []);
        assert.deepEqual(it.said(), []);
    };
    it.assertDrawn = async (name) => {
        const { colors } = await it.view('pixels()');
        assert.ok(colors > 100, `${name} has ${colors} colors`);
    };
    /** A number that tells the picture from another one. */
    it.sum = async () => (await it.view('pixels()')).sum;
    return it;
}
