// The viewer: everything on the page, and what people do with it.
import * as THREE from 'three';
import { Bar } from './bar.js';
import { Charts } from './chart.js';
import { Compass } from './compass.js';
import { el, iconButton, show } from './dom.js';
import { Extent, centerOf } from './extent.js';
import { Figure } from './figure.js';
import { actionsOf, isTyping, makeHelp } from './keys.js';
import { Labels } from './labels.js';
import { Live, LiveClock } from './live.js';
import { Panel, layers } from './panel.js';
import { Player } from './player.js';
import { Stage } from './stage.js';
import { Trails, trailBodies } from './trails.js';

const wantsStill = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
const isPhone = () => matchMedia('(max-width: 700px)').matches;
const TITLE = 62; // pixels at the top
const ALL = 0; // follow the mass center of all bodies
const firstWay = [1.2, 0.5, 1.6]; // where the camera stands at first, with y up

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
        this.makePlayer();
        this.makePage();
        this.makeStage();
        this.makeCharts();
        this.setTheme(this.theme);
        this.listen();
        this.start();
    }

    start() {
        this.figures[0].setTime(this.player.first, { layers: this.layers, forceScale: 1 });
        this.way = firstWay;
        this.resize();
        if (this.extent.travels) this.follow(ALL);
        this.showFollowed();
        this.buildTrails();
        this.setTime(this.startTime ?? this.player.first);
        const isAsked = this.startTime === undefined && !wantsStill();
        if (!this.isLive && isAsked) this.player.play(true);
        if (this.isLive) this.live.run();
        this.loop = this.loop.bind(this);
        requestAnimationFrame(this.loop);
    }

    // ---- making it

    readAddress() {
        const said = new URLSearchParams(location.hash.slice(1));
        const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches;
        const isDark = said.has('dark') || (!said.has('light') && prefersDark);
        this.theme = isDark ? 'dark' : 'light';
        if (said.has('t')) this.startTime = Number(said.get('t'));
        const shown = [...(said.get('show') ?? '').split(','), ...(this.scene.show ?? [])];
        for (const name of shown) if (name in this.layers) this.layers[name] = true;
        this.isBare = said.has('bare');
    }

    makePlayer() {
        const { runs } = this.scene;
        const first = Math.min(...runs.map((run) => run.time[0]), Infinity);
        const last = Math.max(...runs.map((run) => run.time[run.frames - 1]), -Infinity);
        const known = (t) => (Number.isFinite(t) ? t : 0);
        const onChange = (what) => this.onPlayer(what);
        this.player = this.isLive
            ? new LiveClock(first, (what) => this.live.order(what), onChange)
            : new Player(known(first), known(last), onChange);
    }

    makePage() {
        const { scene } = this;
        const about = { label: `The model ${scene.title} in 3-D`, describedby: 'talus-about' };
        this.canvas = el('canvas', { class: 'stage', tabIndex: 0, aria: about });
        this.labels = new Labels(this);
        this.compass = new Compass(scene.gravity);
        this.scaleText = el('div', { class: 'scale' });
        this.info = el('div', { class: 'info card', hidden: true, aria: { live: 'polite' } });
        this.panel = new Panel(this);
        this.panel.element.hidden = isPhone();
        this.bar = new Bar(this);
        this.chartBox = el('div', { class: 'chart', hidden: true });
        this.bottom = el('div', { class: 'bottom card' }, this.chartBox, this.bar.element);
        this.parent.append(
            this.canvas,
            this.labels.element,
            this.makeHeader(),
            this.compass.element,
            this.scaleText,
            this.info,
            this.makeTools(),
            this.panel.element,
            this.bottom
        );
        this.parent.classList.toggle('bare', this.isBare);
    }

    makeHeader() {
        const { scene } = this;
        const bodies = scene.bodies.length - 1;
        const frames = scene.runs[0]?.frames ?? 0;
        const facts = [`${bodies} ${bodies === 1 ? 'body' : 'bodies'}`];
        if (frames > 1) facts.push(`${frames} frames`);
        const about = el('p', { id: 'talus-about' }, facts.join(' · '));
        return el('header', {}, el('h1', {}, scene.title || 'Talus'), about);
    }

    makeTools() {
        const wide = { class: 'icon wide' };
        this.panelButton = iconButton('panel', 'Bodies and layers', () => this.togglePanel());
        return el(
            'div',
            { class: 'tools card' },
            iconButton('fit', 'Show the whole model (A)', () => this.fit()),
            iconButton('camera', 'Save a picture (S)', () => this.savePicture(), wide),
            iconButton('theme', 'Light or dark (D)', () => this.toggleTheme()),
            iconButton('help', 'Keys (?)', () => this.help(), wide),
            this.panelButton
        );
    }

    makeStage() {
        const { scene } = this;
        this.stage = new Stage(this.canvas, scene.up, scene.size);
        this.makeFigures();
        this.trails = new Trails(this.stage.root);
        this.extent = new Extent(scene, this.isLive);
        this.stage.setFloor(this.extent.floor, this.extent.frames[0].center);
        const unit = scene.units?.length ?? 'm';
        this.scaleText.textContent = `squares of ${show(this.stage.spacing)} ${unit}`;
        this.stage.controls.addEventListener('start', () => {
            this.way = null; // from now on the camera stands where people put it
        });
    }

    makeFigures() {
        const { scene } = this;
        const runs = scene.runs.length ? scene.runs : [null];
        const make = (run, i) => new Figure(scene, run, i, this.stage.root, this.isHidden);
        this.figures = runs.map(make);
        this.labels.build(scene, this.figures[0]);
    }

    makeCharts() {
        const isLong = (run) => run.frames > 1 || this.isLive;
        const runs = this.scene.runs.filter((run) => run.columns?.length && isLong(run));
        this.bar.chart.hidden = runs.length === 0;
        if (runs.length === 0) return;
        const setTime = (t) => this.setTime(t);
        const rows = this.live?.history;
        this.charts = new Charts(this.chartBox, runs, setTime, () => this.resize(), rows);
        const isSeen = () => !this.chartBox.hidden && !document.hidden;
        if (this.isLive) setInterval(() => isSeen() && this.charts.grow(), 100);
    }

    // The model looks different now; its bodies are the same.
    changeScene(scene) {
        for (const figure of this.figures) this.stage.root.remove(figure.group);
        Object.assign(this.scene, scene);
        this.makeFigures();
        this.stale = true;
    }

    // ---- what people do

    setTime(t) {
        this.player.setTime(t);
    }

    reset() {
        if (this.isLive) this.live.order({ do: 'reset' });
        else this.setTime(this.player.first);
    }

    onPlayer(what) {
        this.stale = true;
        if (what === 'state') this.bar?.showState();
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
        if (this.selected > 0) this.panel.tree.reveal(this.selected);
    }

    follow(body) {
        this.followed = body === this.followed ? -1 : body;
        this.lastPlace = null;
        this.stale = true;
    }

    buildTrails() {
        const run = this.scene.runs[0];
        const isShown = this.layers.trails && run?.frames > 1;
        if (isShown) this.trails.build(this.scene, run, trailBodies(this.scene, this.selected));
        else this.trails.clear();
    }

    /** Show all of the model from a direction. */
    fit(way = firstWay) {
        this.way = way;
        this.compose();
    }

    // Title and controls cover the edges: the model goes into the middle of the rest.
    // Where nobody has moved the camera, the model fills it.
    compose() {
        const { width, height } = this;
        const element = this.panel.element;
        const hasSide = !this.isBare && !element.hidden && !isPhone();
        const top = this.isBare ? 0 : TITLE;
        const bottom = this.isBare ? 0 : this.bottom.offsetHeight + 14;
        const side = hasSide ? element.offsetWidth + 14 : 0;
        this.stage.setOffset(side / 2, (bottom - top) / 2, width, height);
        this.fill(
            Math.max(0.2 * width, width - side),
            Math.max(0.2 * height, height - top - bottom)
        );
    }

    // Let the model fill so many pixels of the picture, if the camera is free to move.
    fill(width, height) {
        const at = this.extent.travels ? this.placeOf(ALL) : new THREE.Vector3();
        if (this.way) this.stage.look(this.way, this.extent, at, width, height);
        this.stage.changed = true;
    }

    togglePanel() {
        this.panel.element.hidden = !this.panel.element.hidden;
        this.panelButton.setAttribute('aria-pressed', String(!this.panel.element.hidden));
        this.compose();
    }

    toggleChart() {
        this.chartBox.hidden = !this.chartBox.hidden;
        this.bar.chart.setAttribute('aria-pressed', String(!this.chartBox.hidden));
        this.resize();
    }

    toggleTheme() {
        this.setTheme(this.theme === 'dark' ? 'light' : 'dark');
    }

    setTheme(name) {
        this.theme = name;
        document.documentElement.classList.toggle('dark', name === 'dark');
        this.stage.setTheme(name);
        this.charts?.rebuild();
        const said = new URLSearchParams(location.hash.slice(1));
        said.delete(name === 'dark' ? 'light' : 'dark');
        said.set(name, '');
        const hash = said.toString().replaceAll('=&', '&').replace(/=$/, '');
        try {
            history.replaceState(null, '', `#${hash}`);
        } catch {
            // a sandboxed frame has no address of its own
        }
        this.stale = true;
    }

    help() {
        if (!this.helpBox) this.parent.append((this.helpBox = makeHelp()));
        if (this.helpBox.open) this.helpBox.close();
        else this.helpBox.showModal();
    }

    /** A sentence over the scene; null takes it away. */
    say(text) {
        this.message?.remove();
        this.message = text
            ? el('div', { class: 'message' }, el('p', { class: 'card' }, text))
            : null;
        if (this.message) this.parent.append(this.message);
    }

    // ---- files

    save(blob, name) {
        const link = el('a', { href: URL.createObjectURL(blob), download: name });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }

    savePicture() {
        const canvas = this.picture(this.canvas.width, this.canvas.height);
        canvas.toBlob((blob) => this.save(blob, `${this.fileName()}.png`));
    }

    saveNumbers() {
        if (!this.charts) return;
        this.save(new Blob([this.charts.csv()], { type: 'text/csv' }), `${this.fileName()}.csv`);
    }

    fileName() {
        return (this.scene.title || 'talus').replace(/[^\w-]+/g, '_').slice(0, 60);
    }

    /** The scene alone, of so many pixels, over the background of the page; a canvas. */
    picture(width, height) {
        const { stage } = this;
        const ratio = stage.ratio;
        stage.setOffset(0, 0, width, height);
        stage.resize(width, height, 1);
        this.fill(width, height);
        this.stale = true;
        this.draw();
        const canvas = el('canvas', { width, height });
        const context = canvas.getContext('2d');
        const style = getComputedStyle(document.documentElement);
        const sky = context.createLinearGradient(0, 0.3 * height, 0, height);
        sky.addColorStop(0, style.getPropertyValue('--sky').trim());
        sky.addColorStop(1, style.getPropertyValue('--haze').trim());
        context.fillStyle = sky;
        context.fillRect(0, 0, width, height);
        context.drawImage(this.canvas, 0, 0);
        stage.resize(this.width, this.height, ratio);
        this.compose();
        this.stale = true;
        return canvas;
    }

    // ---- events

    listen() {
        const { canvas } = this;
        this.onPlayer('state');
        this.panel.update();
        this.actions = actionsOf(this);
        new ResizeObserver(() => this.resize()).observe(this.parent);
        addEventListener('keydown', (event) => this.onKey(event));
        canvas.addEventListener('pointerdown', ({ clientX, clientY, shiftKey }) => {
            this.pressed = [clientX, clientY];
            this.stage.controls.mouseButtons.LEFT = shiftKey ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
        });
        canvas.addEventListener('click', (event) => this.onClick(event, (b) => this.select(b)));
        canvas.addEventListener('dblclick', (event) => this.onClick(event, (b) => this.follow(b)));
        canvas.addEventListener('webglcontextlost', (event) => this.onLost(event));
        canvas.addEventListener('webglcontextrestored', () => {
            this.lost = false;
            this.say(null);
            this.stale = true;
        });
    }

    onLost(event) {
        event.preventDefault();
        this.lost = true;
        this.say(
            'The browser has taken the graphics of this page away. ' +
                'They come back by themselves, or when you load the page again.'
        );
    }

    onClick(event, then) {
        const [x, y] = this.pressed ?? [0, 0];
        if (Math.hypot(event.clientX - x, event.clientY - y) > 5) return;
        const body = this.bodyUnder(event.clientX, event.clientY);
        if (body > 0) then(body);
        else if (event.type === 'click' && this.selected > 0) this.select(this.selected);
    }

    /** The body that is seen at a point of the window; -1: none. */
    bodyUnder(clientX, clientY) {
        const { left, top, width, height } = this.canvas.getBoundingClientRect();
        const x = ((clientX - left) / width) * 2 - 1;
        const y = 1 - ((clientY - top) / height) * 2;
        const ray = new THREE.Raycaster();
        ray.setFromCamera(new THREE.Vector2(x, y), this.stage.camera);
        const all = [...this.figures[0].batches.values()].map((batch) => batch.mesh);
        const meshes = all.filter((mesh) => mesh.visible);
        meshes.forEach((mesh) => mesh.computeBoundingSphere());
        const hit = ray.intersectObjects(meshes, false)[0];
        return hit ? hit.object.userData.bodyOf(hit.instanceId) : -1;
    }

    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (isTyping(event, this.bar.slider)) return;
        const act = this.actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!act) return;
        event.preventDefault();
        act(event.shiftKey);
    }

    resize() {
        this.width = this.parent.clientWidth;
        this.height = this.parent.clientHeight;
        this.stage.resize(this.width, this.height, Math.min(2, devicePixelRatio));
        this.charts?.makeRoom();
        const bottom = `${this.bottom.offsetHeight + 14}px`;
        document.documentElement.style.setProperty('--bottom', bottom);
        this.charts?.rebuild();
        this.compose();
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
        const shown = this.figures.filter((figure) => figure.group.visible);
        for (const figure of shown) figure.setTime(this.player.time, options);
        this.stage.floor.visible = this.layers.grid;
        this.trails.update(this.figures[0].frame ?? { i: 0 });
        this.showFollowed();
        this.bar.showTime();
        if (this.charts && !this.chartBox.hidden) this.charts.setTime(this.player.time);
        this.showInfo();
        this.stage.camera.updateMatrixWorld();
        this.stage.changed = true;
        this.stale = false;
    }

    /** The same, and draw it. */
    draw() {
        const begin = performance.now();
        this.prepare();
        this.stage.render();
        this.labels.place();
        this.compass.update(this.stage.camera);
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
        const com = this.scene.bodies[body].com ?? [0, 0, 0];
        return new THREE.Vector3(...poses.station(body, ...com, [0, 0, 0]));
    }

    showInfo() {
        const b = this.selected;
        this.info.hidden = b < 1;
        if (b < 1) return;
        const body = this.scene.bodies[b];
        const { p } = this.figures[0].poses;
        const place = [0, 1, 2].map((k) => show(p[3 * b + k], 3)).join(', ');
        const facts = [`${body.mobilizer} on ${this.scene.bodies[body.parent].name}`];
        if (body.mass > 0) facts.push(`mass ${show(body.mass)}`);
        facts.push(`origin at ${place} ${this.scene.units?.length ?? 'm'}`);
        const lines = facts.map((fact) => el('small', {}, fact));
        this.info.replaceChildren(el('b', {}, body.name), ...lines);
    }
}
