// Charts of columns, one panel for each unit, linked to the clock.
import uPlot from 'uplot';
import { el, show } from './dom.js';
import { lightPalette, palette } from './glyphs.js';
import { frameAt, valueAt } from './poses.js';

const MOST_PANELS = 3;
const LEGEND = 22; // pixels of a line of the legend
const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3]];

/** Which columns to show first: energies, else those that vary most. */
export function firstColumns(run) {
    const energies = run.columns
        .map((c, i) => (c.name.endsWith('_energy') ? i : -1))
        .filter((i) => i >= 0);
    if (energies.length > 0) return energies.slice(0, 3);
    const spread = run.columns.map((column, i) => {
        const values = run.values
            .subarray(i * run.frames, (i + 1) * run.frames)
            .filter(Number.isFinite);
        const [low, high] = values.reduce(
            ([a, b], x) => [Math.min(a, x), Math.max(b, x)],
            [Infinity, -Infinity]
        );
        return { i, spread: values.length ? high - low : 0, unit: column.unit };
    });
    return spread
        .filter((c) => c.spread > 0)
        .sort((a, b) => b.spread - a.spread)
        .slice(0, 12)
        .map((c) => c.i)
        .slice(0, 4);
}

/** Times and columns of a run, for charts; what a live run has kept has the same functions. */
class RunRows {
    constructor(run) {
        this.run = run;
    }

    get frames() {
        return this.run.frames;
    }

    get times() {
        return this.run.time.subarray(0, this.run.frames);
    }

    column(i) {
        return this.run.values.subarray(i * this.run.frames, (i + 1) * this.run.frames);
    }
}

// A column of a run at a time.
function columnAt(run, i, t) {
    return valueAt(run.values, i, run.frames, frameAt(run.time, run.frames, t));
}

export class Charts {
    /** Of the first of `runs`; the same columns of the others stand beside them. */
    constructor(parent, runs, onTime, onLayout, rows = new RunRows(runs[0])) {
        const [run, ...others] = runs;
        Object.assign(this, { parent, run, others, rows, onTime, onLayout, plots: [], time: 0 });
        this.chosen = new Set(firstColumns(run));
        this.box = el('div', { class: 'plots' });
        this.parent.append(this.box, this.makePicker());
    }

    // A list of all columns, to choose those that are drawn.
    makePicker() {
        const list = el('div', { class: 'list' });
        this.run.columns.forEach(({ name, unit }, i) => {
            const input = el('input', { type: 'checkbox', checked: this.chosen.has(i) });
            input.onchange = () => this.choose(i, input.checked);
            const label = el('span', { title: name }, name);
            list.append(el('label', {}, input, label, el('small', {}, unit)));
        });
        const search = el('input', { type: 'search', placeholder: 'Find a column' });
        search.setAttribute('aria-label', 'Find a column');
        search.oninput = () => {
            const wanted = search.value.toLowerCase();
            for (const label of list.children) {
                label.hidden = !label.textContent.toLowerCase().includes(wanted);
            }
        };
        return el('div', { class: 'picker' }, search, list);
    }

    value(name, t) {
        const i = this.run.columns.findIndex((c) => c.name === name);
        return i < 0 ? NaN : columnAt(this.run, i, t);
    }

    choose(i, yes) {
        if (yes) this.chosen.add(i);
        else this.chosen.delete(i);
        this.onLayout();
    }

    /** Room for as many panels as there are. */
    makeRoom() {
        this.parent.style.setProperty('--panels', String(Math.max(1, this.groups().length)));
    }

    groups() {
        const units = new Map();
        for (const i of [...this.chosen].sort((a, b) => a - b)) {
            const { unit } = this.run.columns[i];
            if (!units.has(unit)) units.set(unit, []);
            units.get(unit).push(i);
        }
        return [...units].slice(0, MOST_PANELS);
    }

    rebuild() {
        this.plots.forEach((plot) => plot.destroy());
        this.plots = [];
        this.box.replaceChildren();
        if (this.box.clientWidth === 0) return;
        const groups = this.groups();
        if (groups.length === 0) {
            this.box.append(el('p', { class: 'hint' }, 'Choose columns to draw.'));
        }
        const height = Math.max(60, Math.floor(this.box.clientHeight / Math.max(1, groups.length)));
        for (const [unit, columns] of groups) this.plots.push(this.makePlot(unit, columns, height));
        this.setTime(this.time);
    }

    // What is drawn of some columns: {label, values}, first those of the first run.
    linesOf(columns) {
        return columns.flatMap((i) => {
            const { name } = this.run.columns[i];
            const first = { label: name, values: this.rows.column(i) };
            return [first, ...this.others.flatMap((other) => this.lineOf(other, name))];
        });
    }

    // A column of another run, at the times of the first.
    lineOf(other, name) {
        const i = other.columns?.findIndex((column) => column.name === name) ?? -1;
        if (i < 0) return [];
        const last = other.time[other.frames - 1];
        const isIn = (t) => t >= other.time[0] && t <= last;
        const values = Array.from(this.rows.times, (t) => (isIn(t) ? columnAt(other, i, t) : null));
        return [{ label: `${name} of ${other.name}`, values }];
    }

    // Lines of text that names and values take below a plot.
    legendLines(columns) {
        const letters = this.linesOf(columns).reduce((sum, { label }) => sum + label.length, 0);
        const width = 7 * letters + 84 * columns.length * (1 + this.others.length);
        return Math.min(3, Math.ceil(width / Math.max(1, this.box.clientWidth - 24)));
    }

    dataOf(columns) {
        return [this.rows.times, ...this.linesOf(columns).map(({ values }) => values)];
    }

    /** Take up rows that were added; who looks at a part of them keeps it. */
    grow() {
        for (const plot of this.plots) plot.setData(this.dataOf(plot.columns));
    }

    makePlot(unit, columns, height) {
        const style = getComputedStyle(document.documentElement);
        const ink = style.getPropertyValue('--quiet').trim();
        const line = style.getPropertyValue('--line').trim();
        const axis = {
            stroke: ink,
            grid: { stroke: line, width: 1 },
            ticks: { stroke: line, width: 1 },
            font: '11px system-ui, sans-serif',
            labelFont: '11px system-ui, sans-serif',
        };
        const data = this.dataOf(columns);
        const isDark = document.documentElement.classList.contains('dark');
        const colors = isDark ? lightPalette : palette;
        // colors and dashes together tell lines apart
        const series = this.linesOf(columns).map(({ label }, k) => ({
            label,
            stroke: colors[k % colors.length],
            dash: dashes[k % dashes.length],
            width: 1.75,
            points: { show: false },
            pxAlign: 0,
            value: (plot, value) => show(value),
        }));
        const options = {
            width: this.box.clientWidth,
            height: height - LEGEND * this.legendLines(columns),
            series: [{ label: 'time', value: (plot, value) => show(value) }, ...series],
            scales: { x: { time: false } },
            axes: [
                { ...axis, size: 28 },
                { ...axis, size: 54, space: 24, label: unit || undefined, labelSize: 16 },
            ],
            legend: { live: true },
            cursor: {
                drag: { x: true, y: false, setScale: true },
                bind: {
                    mousedown: (plot, over, handle) => (event) => event.shiftKey && handle(event),
                },
                focus: { prox: 20 },
                points: { size: 6 },
            },
            hooks: {
                draw: [(plot) => this.drawCursor(plot)],
                ready: [() => queueMicrotask(() => this.setTime(this.time))],
            },
        };
        const plot = new uPlot(options, data, this.box);
        plot.columns = columns;
        this.followPointer(plot);
        return plot;
    }

    // A click or a drag sets the time; a drag with Shift zooms, which uPlot does.
    followPointer(plot) {
        const { over } = plot;
        const setTime = (event) =>
            this.onTime(plot.posToVal(event.clientX - over.getBoundingClientRect().left, 'x'));
        over.addEventListener('pointerdown', (event) => {
            if (event.button !== 0 || event.shiftKey) return;
            over.setPointerCapture(event.pointerId);
            setTime(event);
        });
        over.addEventListener('pointermove', (event) => {
            if (over.hasPointerCapture(event.pointerId)) setTime(event);
        });
    }

    drawCursor(plot) {
        const x = plot.valToPos(this.time, 'x', true);
        const { left, top, width, height } = plot.bbox;
        if (x < left || x > left + width) return;
        const context = plot.ctx;
        context.save();
        context.setLineDash([]);
        context.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue(
            '--accent'
        );
        context.lineWidth = 1.5 * devicePixelRatio;
        context.beginPath();
        context.moveTo(x, top);
        context.lineTo(x, top + height);
        context.stroke();
        context.restore();
    }

    /** Move the cursor; a window that was zoomed moves along. */
    setTime(t) {
        this.time = t;
        const { times, frames } = this.rows;
        const { i } = frameAt(times, frames, t);
        for (const plot of this.plots) {
            const { min, max } = plot.scales.x;
            const isZoomed = min > times[0] || max < times[frames - 1];
            if (isZoomed && (t < min || t > max))
                plot.setScale('x', { min: t - (max - min) / 2, max: t + (max - min) / 2 });
            plot.redraw(false, false);
            plot.setLegend({ idx: i }, false);
        }
    }

    /** The columns as text, for spreadsheets. */
    csv() {
        const { run, rows } = this;
        const quote = (text) => `"${text.replaceAll('"', '""')}"`;
        const lines = [['time', ...run.columns.map((c) => c.name)].map(quote).join(',')];
        const columns = run.columns.map((c, i) => rows.column(i));
        for (let f = 0; f < rows.frames; ++f)
            lines.push([rows.times[f], ...columns.map((column) => column[f])].join(','));
        return `${lines.join('\n')}\n`;
    }
}
