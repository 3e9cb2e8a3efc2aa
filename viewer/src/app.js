// The viewer: everything on the page, and what keys and buttons do.
import * as THREE from 'three';
import { Charts } from './chart.js';
import { el, iconButton, icon, show } from './dom.js';
import { Figure } from './figure.js';
import { Live, LiveClock } from './live.js';
import { Panel, layers } from './panel.js';
import { Player } from './player.js';
import { Poses, frameAt } from './poses.js';
import { Stage } from './stage.js';
import { Trails, trailBodies } from './trails.js';

const wantsStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const isPhone = () => matchMedia('(max-width: 700px)').matches;
const views = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
const TITLE = 62; // pixels at the top
const ALL = 0; // follow the mass center of all bodies
const speedChoices = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** The mass center of all bodies. */
function centerOf(bodies, poses) {
    const center = new THREE.Vector3();
    const point = [0, 0, 0];
    let total = 0;
    bodies.forEach(({ com, mass }, b) => {
        if (!(mass > 0)) return;
        const [x, y, z] = poses.station(b, com[0], com[1], com[2], point);
        center.addScaledVector(new THREE.Vector3(x, y, z), mass);
        total += mass;
    });
    return center.divideScalar(total || 1);
}

export class App {
    constructor(parent, scene, isLive = false) {
        Object.assign(this, { parent, scene, isLive });
        this.isHidden = new Uint8Array(scene.bodies.length);
        this.layers = Object.fromEntries(layers.map(([name, , , on]) => [name, on]));
        this.forceScale = 1;
        this.selected = -1;
        this.followed = -1;
        this.timing = { frames: 0, total: 0, last: 0, worst: 0 };
        if (isLive) this.live = new Live(this);
        this.readAddress();
        this.makePage();
        this.makePlayer();
        this.makeStage();
        this.makeCharts();
        this.setTheme(this.theme);
        this.listen();
        this.resize();
        this.fit();
        if (this.followsBase) this.followFromStart();
        this.buildTrails();
        this.setTime(this.startTime ?? this.player.first);
        if (!isLive && !wantsStill() && this.startTime === undefined) this.player.play(true);
        if (isLive) this.live.run();
        this.loop = this.loop.bind(this);
        requestAnimationFrame(this.loop);
    }

    // ---- making it

    readAddress() {
        const said = new URLSearchParams(location.hash.slice(1));
        const dark = said.has('dark') || (!said.has('light') && matchMedia('(prefers-color-scheme: dark)').matches);
        this.theme = dark ? 'dark' : 'light';
        if (said.has('t')) this.startTime = Number(said.get('t'));
        for (const name of (said.get('show') ?? '').split(',')) if (name in this.layers) this.layers[name] = true;
        for (const name of this.scene.show ?? []) if (name in this.layers) this.layers[name] = true;
        this.startsBare = said.has('bare');
    }

    makePage() {
        const { scene } = this;
        const frames = scene.runs[0]?.frames ?? 0;
        this.canvas = el('canvas', { class: 'stage', tabIndex: 0, aria: { label: `The model ${scene.title}, in three dimensions`, describedby: 'talus-about' } });
        this.labelBox = el('div', { class: 'labels', aria: { hidden: 'true' } });
        const facts = [`${scene.bodies.length - 1} ${scene.bodies.length === 2 ? 'body' : 'bodies'}`];
        if (frames > 1) facts.push(`${frames} frames`);
        this.header = el('header', {}, el('h1', {}, scene.title || 'Talus'), el('p', { id: 'talus-about' }, facts.join(' · ')));
        this.scaleText = el('div', { class: 'scale' });
        this.info = el('div', { class: 'info card', hidden: true, aria: { live: 'polite' } });
        this.panel = new Panel(this);
        this.panel.element.hidden = isPhone();
        this.panelButton = iconButton('panel', 'Bodies and layers', () => this.togglePanel());
        this.tools = el(
            'div',
            { class: 'tools card' },
            iconButton('fit', 'Fit all into the view (A)', () => this.fit()),
            iconButton('camera', 'Save a picture (S)', () => this.savePicture(), { class: 'icon wide' }),
            iconButton('theme', 'Light or dark (D)', () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark')),
            iconButton('help', 'Keys (?)', () => this.help(), { class: 'icon wide' }),
            this.panelButton
        );
        this.bottom = el('div', { class: 'bottom card' });
        this.parent.append(this.canvas, this.labelBox, this.header, this.scaleText, this.info, this.tools, this.panel.element, this.bottom);
        if (this.startsBare) for (const part of [this.header, this.tools, this.panel.element, this.bottom, this.scaleText]) part.hidden = true;
        if (this.startsBare) this.bottom.style.display = this.tools.style.display = this.header.style.display = 'none';
    }

    makePlayer() {
        const runs = this.scene.runs;
        const first = Math.min(...runs.map((run) => run.time[0]), Infinity);
        const last = Math.max(...runs.map((run) => run.time[run.frames - 1]), -Infinity);
        const onChange = (what) => this.onPlayer(what);
        if (this.isLive) this.player = new LiveClock(first, (what) => this.live.order(what), onChange);
        else this.player = new Player(Number.isFinite(first) ? first : 0, Number.isFinite(last) ? last : 0, onChange);
        const player = this.player;
        this.playButton = iconButton('play', 'Play (Space)', () => player.play(), { class: 'icon play' });
        this.clock = el('div', { class: 'clock' }, (this.clockNow = el('b')), (this.clockAll = el('span')));
        this.slider = el('input', { type: 'range', min: 0, max: 10000, step: 1, value: 0, aria: { label: 'Time' } });
        this.slider.oninput = () => this.setTime(player.first + (player.length * Number(this.slider.value)) / 10000);
        this.speedBox = el('select', { title: 'Speed', aria: { label: 'Speed' }, onchange: () => player.setSpeed(Number(this.speedBox.value)) });
        this.loopButton = iconButton('loop', 'Repeat (L)', () => this.toggleLoop(), { aria: { label: 'Repeat', pressed: 'true' } });
        this.chartButton = iconButton('chart', 'Charts (W)', () => this.toggleChart(), { aria: { label: 'Charts', pressed: 'false' } });
        this.chartBox = el('div', { class: 'chart', hidden: true });
        this.why = el('div', { class: 'why', aria: { live: 'polite' } });
        const resetButton = iconButton('reset', 'Begin again (Home)', () => this.live.order({ do: 'reset' }));
        const parts = this.isLive ? [resetButton, this.clock, this.why, this.speedBox] : [this.clock, this.slider, this.speedBox, this.loopButton];
        this.bar = el('div', { class: 'bar' }, this.playButton, ...parts, this.chartButton);
        this.bottom.append(this.chartBox, this.bar);
    }

    makeStage() {
        const { scene } = this;
        this.stage = new Stage(this.canvas, scene.up, scene.size);
        this.figures = (scene.runs.length ? scene.runs : [null]).map((run, i) => new Figure(scene, run, i, this.stage.root, this.isHidden));
        this.trails = new Trails(this.stage.root);
        this.findExtent();
        this.stage.setFloor(this.floorHeight, this.extent.center);
        this.scaleText.textContent = `squares of ${show(this.stage.spacing)} ${scene.units?.length ?? 'm'}`;
        this.makeLabels();
    }

    // The box of all bodies through the run, the lowest point, and whether the model travels.
    findExtent() {
        const { scene } = this;
        const poses = new Poses(scene.bodies);
        const all = new THREE.Box3();
        const up = new THREE.Vector3(...scene.up);
        const reach = this.bodyReach();
        const p = new THREE.Vector3();
        const q = [0, 0, 0];
        const moving = { center: null, radius: 0 }; // a ball about the mass center that holds all frames
        let lowest = Infinity;
        for (const run of scene.runs) {
            const step = Math.max(1, Math.ceil(run.frames / 150));
            for (let i = 0; i < run.frames; i += step) {
                poses.setFromRun(run, { i, part: 0 });
                const middle = centerOf(scene.bodies, poses);
                moving.center ??= middle;
                for (let b = 1; b < scene.bodies.length; ++b) {
                    const { center, radius } = reach[b];
                    p.set(...poses.station(b, ...center, q));
                    const grow = new THREE.Vector3(radius, radius, radius);
                    all.expandByPoint(p.clone().add(grow));
                    all.expandByPoint(p.clone().sub(grow));
                    lowest = Math.min(lowest, p.dot(up) - radius);
                    moving.radius = Math.max(moving.radius, p.distanceTo(middle) + radius);
                }
            }
        }
        for (const end of scene.links.flatMap((link) => [link.a, link.b]).filter((e) => e[0] === 0)) {
            all.expandByPoint(p.set(end[1], end[2], end[3]));
        }
        if (all.isEmpty()) {
            all.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)).expandByScalar(scene.size - 1);
            lowest = 0;
        }
        const ball = (box) => ({ center: box.getCenter(new THREE.Vector3()), radius: Math.max(0.6 * scene.size, Math.min(box.getSize(new THREE.Vector3()).length() / 2, 3 * scene.size)) });
        this.base = Math.max(1, scene.bodies.findIndex((body) => body.parent === 0));
        const isFree = this.isLive && scene.bodies[this.base]?.mobilizer === 'free'; // nobody knows where it will go
        this.followsBase = isFree || (scene.bodies.length > 1 && all.getSize(p).length() / 2 > 3 * scene.size);
        moving.radius = 1.08 * Math.min(moving.radius, 3 * scene.size);
        this.extent = this.followsBase ? moving : ball(all);
        this.floorHeight = this.floorOf(lowest, up);
    }

    // A half-space that bodies touch is the floor, where it is level.
    floorOf(lowest, up) {
        const plane = this.scene.shapes.find((shape) => shape.kind === 'plane' && shape.body === 0);
        if (plane) {
            const normal = new THREE.Vector3(0, 1, 0).applyQuaternion(new THREE.Quaternion(plane.X[4], plane.X[5], plane.X[6], plane.X[3]));
            if (normal.dot(up) > 0.999) return new THREE.Vector3(plane.X[0], plane.X[1], plane.X[2]).dot(up);
            this.layers.surfaces = true;
        }
        return lowest;
    }

    // How far the shapes of each body reach: a ball.
    bodyReach() {
        const balls = this.scene.bodies.map(() => ({ center: [0, 0, 0], radius: 0 }));
        const seen = new Set();
        for (const shape of this.scene.shapes) {
            if (['plane', 'text', 'line'].includes(shape.kind)) continue;
            const ball = balls[shape.body];
            const size = shape.kind === 'mesh' ? 0.3 * this.scene.size : Math.max(...shape.size);
            if (!seen.has(shape.body)) Object.assign(ball, { center: shape.X.slice(0, 3), radius: size });
            else ball.radius = Math.max(ball.radius, Math.hypot(...ball.center.map((c, k) => c - shape.X[k])) + size);
            seen.add(shape.body);
        }
        return balls;
    }

    makeCharts() {
        const run = this.scene.runs.find((r) => r.columns?.length && (r.frames > 1 || this.isLive));
        if (!run) {
            this.chartButton.hidden = true;
            return;
        }
        this.charts = new Charts(this.chartBox, run, (t) => this.setTime(t), this.live?.history);
        if (this.isLive) setInterval(() => this.chartBox.hidden || document.hidden || this.charts.grow(), 100);
        const list = el('div', { class: 'list' });
        run.columns.forEach((column, i) => {
            const input = el('input', { type: 'checkbox', checked: this.charts.chosen.has(i), onchange: () => this.charts.choose(i, input.checked) });
            list.append(el('label', {}, input, el('span', { title: column.name }, column.name), el('small', {}, column.unit)));
        });
        const search = el('input', { type: 'search', placeholder: 'Find a column', aria: { label: 'Find a column' } });
        search.oninput = () => {
            for (const label of list.children) label.hidden = !label.textContent.toLowerCase().includes(search.value.toLowerCase());
        };
        this.columnList = list;
        this.chartBox.append(el('div', { class: 'picker' }, search, list));
    }

    // The model looks different now; its bodies are the same.
    changeScene(scene) {
        for (const figure of this.figures) this.stage.root.remove(figure.group);
        Object.assign(this.scene, scene);
        this.figures = scene.runs.map((run, i) => new Figure(scene, run, i, this.stage.root, this.isHidden));
        this.makeLabels();
        this.stale = true;
    }

    makeLabels() {
        this.labelBox.replaceChildren();
        const names = this.scene.bodies.map((body, b) => ({ body: b, p: body.com ?? [0, 0, 0], text: body.name, layer: 'names', skip: b === 0 || !(body.mass > 0) }));
        this.labels = [...this.figures[0].labels, ...names.filter((label) => !label.skip)];
        for (const label of this.labels) {
            label.element = el('span', {}, label.text);
            this.labelBox.append(label.element);
        }
    }

    // ---- what people do

    setTime(t) {
        this.player.setTime(t);
    }

    onPlayer(what) {
        const { player } = this;
        this.stale = true;
        if (what === 'state' && this.playButton) {
            this.playButton.replaceChildren(icon(player.playing ? 'pause' : 'play'));
            const label = player.playing ? 'Pause (Space)' : 'Play (Space)';
            this.playButton.title = label;
            this.playButton.setAttribute('aria-label', label);
            const choices = [...new Set([...speedChoices, player.speed])].sort((a, b) => a - b);
            this.speedBox.replaceChildren(...choices.map((speed) => el('option', { value: String(speed), selected: speed === player.speed }, `${show(speed)} ×`)));
        }
    }

    setLayer(name, on) {
        this.layers[name] = on;
        if (name === 'trails') this.buildTrails();
        this.refresh();
    }

    refresh() {
        this.panel.update();
        this.stale = true;
    }

    setForceScale(scale) {
        this.forceScale = scale;
        this.stale = true;
    }

    hide(body, yes) {
        this.isHidden[body] = yes ? 1 : 0;
        this.refresh();
    }

    showAll() {
        this.isHidden.fill(0);
        this.refresh();
    }

    showRun(i, yes) {
        this.figures[i].group.visible = yes;
        this.stale = true;
    }

    select(body) {
        this.selected = body === this.selected ? -1 : body;
        if (this.layers.trails) this.buildTrails();
        this.refresh();
        const row = this.panel.rows[this.selected];
        if (row) row.row.scrollIntoView({ block: 'nearest' });
    }

    follow(body) {
        this.followed = body === this.followed ? -1 : body;
        this.lastPlace = null;
        this.stale = true;
    }

    // The view fits the first frame: from there on it moves with the mass center of all bodies.
    followFromStart() {
        this.follow(ALL);
        this.figures[0].setTime(this.player.first, { layers: this.layers, forceScale: 1 });
        this.showFollowed();
    }

    buildTrails() {
        const run = this.scene.runs[0];
        if (this.layers.trails && run?.frames > 1) this.trails.build(this.scene, run, trailBodies(this.scene, this.selected));
        else this.trails.clear();
    }

    fit(way = [1.2, 0.5, 1.6]) {
        const { center, radius } = this.extent;
        const at = center.clone();
        if (this.followsBase && this.lastPlace) at.copy(this.lastPlace);
        this.stage.look(way, at, radius);
        this.lift();
    }

    // Title and controls cover the edges of the picture: what is looked at goes into the middle of
    // the rest, and becomes smaller with it.
    lift() {
        const top = this.startsBare ? 0 : TITLE;
        const bottom = this.startsBare ? 0 : this.bottom.offsetHeight + 14;
        const side = this.startsBare || this.panel.element.hidden || isPhone() ? 0 : this.panel.element.offsetWidth + 14;
        const free = Math.min(this.height - top - bottom, (this.width - side) / Math.min(1, this.width / this.height));
        this.stage.perspective.zoom = Math.max(0.3, Math.min(1, (1.15 * free) / Math.max(1, this.height)));
        this.stage.perspective.setViewOffset(this.width, this.height, side / 2, (bottom - top) / 2, this.width, this.height);
        this.stage.changed = true;
    }

    togglePanel() {
        this.panel.element.hidden = !this.panel.element.hidden;
        this.panelButton.setAttribute('aria-pressed', String(!this.panel.element.hidden));
        this.lift();
    }

    toggleChart() {
        this.chartBox.hidden = !this.chartBox.hidden;
        this.chartButton.setAttribute('aria-pressed', String(!this.chartBox.hidden));
        this.resize();
    }

    toggleLoop() {
        this.player.loop = !this.player.loop;
        this.loopButton.setAttribute('aria-pressed', String(this.player.loop));
    }

    setTheme(name) {
        this.theme = name;
        document.documentElement.classList.toggle('dark', name === 'dark');
        this.stage.setTheme(name);
        this.charts?.rebuild();
        const said = new URLSearchParams(location.hash.slice(1));
        said.delete(name === 'dark' ? 'light' : 'dark');
        said.set(name, '');
        try {
            history.replaceState(null, '', `#${said.toString().replaceAll('=&', '&').replace(/=$/, '')}`);
        } catch {
            // a sandboxed frame has no address of its own
        }
        this.stale = true;
    }

    save(blob, name) {
        const link = el('a', { href: URL.createObjectURL(blob), download: name });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }

    savePicture() {
        this.picture(this.canvas.width, this.canvas.height).toBlob((blob) => this.save(blob, `${this.fileName()}.png`));
    }

    /** The scene alone, of so many pixels, over the background of the page; a canvas. */
    picture(width, height) {
        const ratio = this.stage.renderer.getPixelRatio();
        const offset = this.stage.perspective.view;
        this.stage.perspective.clearViewOffset();
        this.stage.perspective.zoom = 1;
        this.stage.resize(width, height, 1);
        this.stale = true;
        this.draw();
        const canvas = document.createElement('canvas');
        canvas.width = width;
        canvas.height = height;
        const context = canvas.getContext('2d');
        const style = getComputedStyle(document.documentElement);
        const sky = context.createLinearGradient(0, 0.3 * height, 0, height);
        sky.addColorStop(0, style.getPropertyValue('--sky').trim());
        sky.addColorStop(1, style.getPropertyValue('--haze').trim());
        context.fillStyle = sky;
        context.fillRect(0, 0, width, height);
        context.drawImage(this.canvas, 0, 0);
        this.stage.resize(this.width, this.height, ratio);
        if (offset) this.lift();
        this.stale = true;
        return canvas;
    }

    saveNumbers() {
        if (this.charts) this.save(new Blob([this.charts.csv()], { type: 'text/csv' }), `${this.fileName()}.csv`);
    }

    fileName() {
        return (this.scene.title || 'talus').replace(/[^\w-]+/g, '_').slice(0, 60);
    }

    help() {
        if (!this.helpBox) {
            const list = el('dl', {}, ...keyTexts.map(([keys, text]) => el('div', {}, el('dt', {}, text), el('dd', {}, el('kbd', {}, keys)))));
            const close = el('form', { method: 'dialog' }, el('button', {}, 'Close'));
            const mouse = el('p', { class: 'hint' }, 'Drag to turn, with the right button or Shift to move, the wheel to zoom. Click a body to select it, double-click to follow it.');
            this.helpBox = el('dialog', { class: 'help' }, el('h2', {}, 'Keys'), list, mouse, close);
            this.parent.append(this.helpBox);
        }
        if (this.helpBox.open) this.helpBox.close();
        else this.helpBox.showModal();
    }

    // ---- events

    listen() {
        this.onPlayer('state');
        this.panel.update();
        new ResizeObserver(() => this.resize()).observe(this.parent);
        addEventListener('keydown', (event) => this.onKey(event));
        this.canvas.addEventListener('pointerdown', (event) => {
            this.pressed = [event.clientX, event.clientY];
            this.stage.controls.mouseButtons.LEFT = event.shiftKey ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
        });
        this.canvas.addEventListener('click', (event) => this.onClick(event, (body) => this.select(body)));
        this.canvas.addEventListener('dblclick', (event) => this.onClick(event, (body) => this.follow(body)));
        this.canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault();
            this.lost = true;
            this.say('The graphics of this page were taken away by the browser. They come back by themselves, or when the page is loaded again.');
        });
        this.canvas.addEventListener('webglcontextrestored', () => {
            this.lost = false;
            this.say(null);
            this.stale = true;
        });
    }

    onClick(event, then) {
        const [x, y] = this.pressed ?? [0, 0];
        if (Math.hypot(event.clientX - x, event.clientY - y) > 5) return;
        const body = this.bodyUnder(event.clientX, event.clientY);
        if (body > 0) then(body);
        else if (event.type === 'click' && this.selected > 0) this.select(this.selected);
    }

    bodyUnder(clientX, clientY) {
        const box = this.canvas.getBoundingClientRect();
        const at = new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
        const ray = new THREE.Raycaster();
        ray.setFromCamera(at, this.stage.camera);
        const meshes = [...this.figures[0].batches.values()].map((batch) => batch.mesh).filter((mesh) => mesh.visible);
        meshes.forEach((mesh) => mesh.computeBoundingSphere());
        const hit = ray.intersectObjects(meshes, false)[0];
        return hit ? hit.object.userData.bodyOf(hit.instanceId) : -1;
    }

    onKey(event) {
        const { target } = event;
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (target instanceof HTMLInputElement && target.type !== 'checkbox' && !(target === this.slider)) return;
        if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return;
        if (event.key === ' ' && target instanceof HTMLButtonElement) return;
        const act = this.actions()[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!act) return;
        event.preventDefault();
        act(event.shiftKey);
    }

    actions() {
        const { player } = this;
        const toggle = (name) => () => this.setLayer(name, !this.layers[name]);
        const step = (way) => (shift) => {
            if (this.isLive) {
                this.live.order({ do: 'step' });
                return;
            }
            player.play(false);
            this.setTime(shift ? player.time + (way * player.length) / 100 : this.neighbor(way));
        };
        const look = (axis) => (shift) => this.fit(views[axis].map((x) => (shift ? -x : x) || 1e-4));
        const selected = () => (this.selected > 0 ? this.selected : this.base);
        return {
            ' ': () => player.play(),
            ArrowLeft: step(-1),
            ArrowRight: step(1),
            Home: () => (this.isLive ? this.live.order({ do: 'reset' }) : this.setTime(player.first)),
            End: () => this.setTime(player.last),
            ',': () => player.faster(-1),
            '.': () => player.faster(1),
            l: () => this.toggleLoop(),
            a: () => this.fit(),
            f: () => this.follow(selected()),
            x: look('x'),
            y: look('y'),
            z: look('z'),
            o: () => this.stage.toggleProjection(),
            h: (shift) => (shift ? this.showAll() : this.hide(selected(), !this.isHidden[selected()])),
            ...Object.fromEntries(layers.filter(([, , key]) => key).map(([name, , key]) => [key.toLowerCase(), toggle(name)])),
            d: () => this.setTheme(this.theme === 'dark' ? 'light' : 'dark'),
            w: () => this.charts && this.toggleChart(),
            s: () => this.savePicture(),
            e: () => this.saveNumbers(),
            '?': () => this.help(),
            Escape: () => this.selected > 0 && this.select(this.selected),
        };
    }

    // The time of the frame before or after.
    neighbor(way) {
        const run = this.scene.runs[0];
        if (!run) return this.player.time;
        const { i, part } = frameAt(run.time, run.frames, this.player.time); // which may not be drawn yet
        const next = way > 0 ? i + 1 : part > 0 ? i : i - 1;
        return run.time[Math.max(0, Math.min(run.frames - 1, next))];
    }

    /** Why a live run stands still, or what it refused. */
    showWhy(text) {
        if (this.why.textContent !== text) this.why.textContent = text;
    }

    say(text) {
        this.message?.remove();
        this.message = text ? el('div', { class: 'message' }, el('p', { class: 'card' }, text)) : null;
        if (this.message) this.parent.append(this.message);
    }

    resize() {
        this.width = this.parent.clientWidth;
        this.height = this.parent.clientHeight;
        this.stage.resize(this.width, this.height, Math.min(2, devicePixelRatio));
        document.documentElement.style.setProperty('--bottom', `${this.bottom.offsetHeight + 14}px`);
        this.charts?.rebuild();
        this.lift();
        this.stale = true;
    }

    // ---- drawing

    loop(now) {
        requestAnimationFrame(this.loop);
        if (this.lost) return;
        this.player.tick(now / 1000);
        if (this.stale || this.stage.changed) this.draw();
    }

    /** Bring everything to the time of the clock. */
    prepare() {
        if (!this.stale) return;
        const options = { layers: this.layers, forceScale: this.forceScale };
        for (const figure of this.figures) if (figure.group.visible) figure.setTime(this.player.time, options);
        this.stage.floor.visible = this.layers.grid;
        this.trails.update(this.figures[0].frame ?? { i: 0 });
        this.showFollowed();
        this.showClock();
        this.stage.camera.updateMatrixWorld();
        this.stage.changed = true;
        this.stale = false;
    }

    /** The same, and draw it. */
    draw() {
        const begin = performance.now();
        this.prepare();
        this.stage.render();
        this.placeLabels();
        this.timing.last = performance.now() - begin;
        this.timing.total += this.timing.last;
        this.timing.worst = Math.max(this.timing.worst, this.timing.last);
        this.timing.frames += 1;
    }

    showFollowed() {
        if (this.followed < ALL) return;
        const place = this.placeOf(this.followed);
        if (this.lastPlace) this.stage.shift(place.clone().sub(this.lastPlace));
        this.lastPlace = place;
    }

    // The mass center of a body, or of all.
    placeOf(body) {
        const { poses } = this.figures[0];
        if (body === ALL) return centerOf(this.scene.bodies, poses);
        return new THREE.Vector3(...poses.station(body, ...(this.scene.bodies[body].com ?? [0, 0, 0]), [0, 0, 0]));
    }

    showClock() {
        const { player } = this;
        const digits = Math.max(0, Math.min(4, 2 - Math.floor(Math.log10(player.length || 1))));
        const unit = this.scene.units?.time ?? 's';
        const now = player.time.toFixed(digits);
        const factor = this.live?.status?.factor;
        this.clockNow.textContent = now;
        this.clockAll.textContent = player.length > 0 ? ` / ${player.last.toFixed(digits)} ${unit}` : ` ${unit}`;
        if (Number.isFinite(factor) && player.playing) this.clockAll.textContent += ` · ${show(factor, 2)} × real time`;
        if (document.activeElement !== this.slider || player.playing) {
            this.slider.value = String(Math.round((10000 * (player.time - player.first)) / (player.length || 1)));
        }
        this.slider.setAttribute('aria-valuetext', `${now} ${unit} of ${player.last.toFixed(digits)} ${unit}`);
        if (this.charts && !this.chartBox.hidden) this.charts.setTime(player.time);
        this.showInfo();
    }

    showInfo() {
        const b = this.selected;
        this.info.hidden = b < 1;
        if (b < 1) return;
        const body = this.scene.bodies[b];
        const { p } = this.figures[0].poses;
        const unit = this.scene.units?.length ?? 'm';
        const facts = [`${body.mobilizer} on ${this.scene.bodies[body.parent].name}`];
        if (body.mass > 0) facts.push(`mass ${show(body.mass)}`);
        facts.push(`at ${[0, 1, 2].map((k) => show(p[3 * b + k], 3)).join(', ')} ${unit}`);
        this.info.replaceChildren(el('b', {}, body.name), ...facts.map((fact) => el('small', {}, fact)));
    }

    placeLabels() {
        const q = [0, 0, 0];
        for (const { element, body, p, layer } of this.labels) {
            const isShown = this.layers[layer] && !this.isHidden[body];
            const at = isShown ? this.stage.project(this.figures[0].poses.station(body, p[0], p[1], p[2], q)) : null;
            element.hidden = !at;
            if (at) element.style.transform = `translate(${Math.round(at[0])}px, ${Math.round(at[1])}px) translate(-50%, -120%)`;
        }
    }
}

const keyTexts = [
    ['Space', 'Play, pause'],
    ['← →', 'One frame'],
    ['Shift ← →', 'A hundredth'],
    ['Home End', 'Beginning, end'],
    [', .', 'Slower, faster'],
    ['L', 'Repeat'],
    ['A', 'Fit all into the view'],
    ['F', 'Follow the selected body'],
    ['X Y Z', 'Look along an axis'],
    ['O', 'Parallel projection'],
    ['H', 'Hide the selected body'],
    ['Shift H', 'Show all bodies'],
    ...layers.filter(([, , key]) => key).map(([, label, key]) => [key, label]),
    ['D', 'Light or dark'],
    ['W', 'Charts'],
    ['S', 'Save a picture'],
    ['E', 'Save the numbers'],
    ['?', 'This list'],
];
