// The tree of bodies: to show and hide, select and follow them.
import { el } from './dom.js';

const MANY = 12; // from here on there is a field to search

// For each body the one whose row it stands in: a massless body between joints stands with the body
// that it carries.
function carriersOf({ bodies, shapes }) {
    const children = bodies.map(() => []);
    bodies.forEach(({ parent }, b) => b > 0 && children[parent].push(b));
    const isSeen = new Set(shapes.map(({ body }) => body));
    const carriers = bodies.map((body, b) => b);
    for (let b = bodies.length - 1; b > 0; --b) {
        const isFolded = !(bodies[b].mass > 0) && !isSeen.has(b) && children[b].length === 1;
        if (isFolded) carriers[b] = carriers[children[b][0]];
    }
    return carriers;
}

// The joints of a row: "3 pin", "slider + pin".
function jointsText(names) {
    const isOne = new Set(names).size === 1;
    return isOne && names.length > 1 ? `${names.length} × ${names[0]}` : names.join(' + ');
}

export class Tree {
    constructor(app) {
        this.app = app;
        this.rows = [];
        const { bodies } = app.scene;
        this.carriers = carriersOf(app.scene);
        const lists = bodies.map(() => el('ul'));
        bodies.forEach((body, b) => {
            if (b === 0) return;
            const members = bodies.map((_, m) => m).filter((m) => this.carriers[m] === b);
            if (members.length > 0) this.rows[b] = this.makeRow(b, members, lists[b]);
        });
        this.rows.forEach((row) =>
            lists[this.rowOf(bodies[row.members[0]].parent)].append(row.item)
        );
        const search = bodies.length > MANY ? this.makeSearch() : null;
        const all = el('button', { type: 'button', onclick: () => app.showAll() }, 'Show all');
        const tree = el('div', { class: 'tree' }, lists[0]);
        this.element = el('section', {}, el('h2', {}, 'Bodies', all), search, tree);
    }

    /** The body whose row a body stands in. */
    rowOf(b) {
        return this.carriers[b];
    }

    makeSearch() {
        const placeholder = `Find one of ${this.app.scene.bodies.length - 1} bodies`;
        const search = el('input', { type: 'search', placeholder, aria: { label: 'Find a body' } });
        search.oninput = () => this.filter(search.value);
        return search;
    }

    // The row of a body and the massless ones that it stands for, which come before it.
    makeRow(b, members, children) {
        const { app } = this;
        const { bodies } = app.scene;
        const { name, mass } = bodies[b];
        const names = members.map((m) => bodies[m].name);
        const joints = jointsText(members.map((m) => bodies[m].mobilizer));
        const input = el('input', { type: 'checkbox', checked: true });
        input.setAttribute('aria-label', `Show ${name}`);
        input.onchange = () => members.forEach((m) => app.hide(m, !input.checked));
        const button = el('button', { type: 'button', title: `${names.join(', ')}: ${joints}` });
        button.textContent = name;
        button.onclick = () => app.select(b);
        button.ondblclick = () => app.follow(b);
        const kind = mass > 0 ? 'row' : 'row massless';
        const row = el('div', { class: kind }, input, button, el('small', {}, joints));
        const item = el('li', {}, row, children);
        return { row, input, item, members, words: names.join('\n').toLowerCase() };
    }

    filter(text) {
        const wanted = text.trim().toLowerCase();
        const { bodies } = this.app.scene;
        const keep = new Set();
        this.rows.forEach((row, b) => {
            if (!row.words.includes(wanted)) return;
            for (let k = b; k > 0; k = bodies[k].parent) keep.add(this.rowOf(k));
        });
        this.rows.forEach((row, b) => {
            row.item.hidden = !keep.has(b);
        });
    }

    update() {
        const { isHidden, selected } = this.app;
        this.rows.forEach((row, b) => {
            row.input.checked = !isHidden[b];
            row.row.classList.toggle('selected', selected > 0 && b === this.rowOf(selected));
        });
    }

    /** Let the row of a body be seen. */
    reveal(b) {
        this.rows[this.rowOf(b)]?.row.scrollIntoView({ block: 'nearest' });
    }
}
