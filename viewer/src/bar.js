// The bar at the bottom: play, clock, time, speed, repeat, charts.
import { el, icon, iconButton, show } from './dom.js';

const STEPS = 10000; // of the slider
const speedChoices = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export class Bar {
    constructor(app) {
        this.app = app;
        const { player } = app;
        this.play = iconButton('play', 'Play (Space)', () => player.play(), { class: 'icon play' });
        this.now = el('b');
        this.all = el('span');
        const clock = el('div', { class: 'clock' }, this.now, this.all);
        this.makeSlider();
        this.speed = el('select', {
            title: 'Speed',
            aria: { label: 'Speed' },
            onchange: () => player.setSpeed(Number(this.speed.value)),
        });
        this.loop = iconButton('loop', 'Repeat (L)', () => this.toggleLoop(), {
            aria: { label: 'Repeat', pressed: 'true' },
        });
        this.chart = iconButton('chart', 'Charts (W)', () => app.toggleChart(), {
            aria: { label: 'Charts', pressed: 'false' },
        });
        this.why = el('div', { class: 'why', aria: { live: 'polite' } });
        const reset = iconButton('reset', 'Begin again (Home)', () => app.reset());
        const parts = app.isLive
            ? [reset, clock, this.why, this.speed]
            : [clock, this.slider, this.speed, this.loop];
        this.element = el('div', { class: 'bar' }, this.play, ...parts, this.chart);
    }

    makeSlider() {
        const { app } = this;
        this.slider = el('input', { type: 'range', min: 0, max: STEPS, step: 1, value: 0 });
        this.slider.setAttribute('aria-label', 'Time');
        this.slider.oninput = () => {
            const { first, length } = app.player;
            app.setTime(first + (length * Number(this.slider.value)) / STEPS);
        };
    }

    toggleLoop() {
        const { player } = this.app;
        player.loop = !player.loop;
        this.loop.setAttribute('aria-pressed', String(player.loop));
    }

    /** Whether it plays, and how fast. */
    showState() {
        const { player } = this.app;
        const label = player.playing ? 'Pause (Space)' : 'Play (Space)';
        this.play.replaceChildren(icon(player.playing ? 'pause' : 'play'));
        this.play.title = label;
        this.play.setAttribute('aria-label', label);
        const choices = [...new Set([...speedChoices, player.speed])].sort((a, b) => a - b);
        const option = (speed) =>
            el(
                'option',
                { value: String(speed), selected: speed === player.speed },
                `${show(speed)} ×`
            );
        this.speed.replaceChildren(...choices.map(option));
    }

    /** The clock; of a live run also how fast it runs. */
    showTime() {
        const { player, scene, live } = this.app;
        const digits = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(player.length || 1))));
        const unit = scene.units?.time ?? 's';
        const now = player.time.toFixed(digits);
        const last = player.last.toFixed(digits);
        const factor = live?.status?.factor;
        this.now.textContent = now;
        this.all.textContent = player.length > 0 ? ` / ${last} ${unit}` : ` ${unit}`;
        if (Number.isFinite(factor) && player.playing) {
            this.all.textContent += ` · ${show(factor, 2)} × real time`;
        }
        if (document.activeElement !== this.slider || player.playing) {
            const part = (player.time - player.first) / (player.length || 1);
            this.slider.value = String(Math.round(STEPS * part));
        }
        this.slider.setAttribute('aria-valuetext', `${now} ${unit} of ${last} ${unit}`);
    }

    /** Why a live run stands still, or what it refused. */
    showWhy(text) {
        if (this.why.textContent !== text) this.why.textContent = text;
    }
}
