// The directions of Ground in a corner of the picture: x, y, z, and gravity.
import * as THREE from 'three';
import { axisColors } from './glyphs.js';

const SIDE = 76; // pixels
const LONG = 24;

function svg(tag, attributes, ...children) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

export class Compass {
    constructor(gravity) {
        const axes = ['x', 'y', 'z'].map((name, k) => {
            const way = new THREE.Vector3().setComponent(k, 1);
            return makeArm(name, way, axisColors[k], LONG);
        });
        const down = new THREE.Vector3(...(gravity ?? [0, 0, 0]));
        this.arms = axes;
        if (down.length() > 0) {
            this.arms.push(makeArm('g', down.normalize(), 'currentColor', 0.8 * LONG, '3 2'));
        }
        this.box = svg('g', { transform: `translate(${SIDE / 2} ${SIDE / 2})` });
        this.element = svg('svg', { class: 'compass', viewBox: `0 0 ${SIDE} ${SIDE}` }, this.box);
        this.element.setAttribute('aria-hidden', 'true');
    }

    /** Turn with the camera; what points away from it is drawn first. */
    update(camera) {
        const turn = camera.quaternion.clone().invert();
        for (const arm of this.arms) {
            const at = arm.way.clone().applyQuaternion(turn);
            arm.depth = at.z;
            arm.line.setAttribute('x2', (arm.long * at.x).toFixed(1));
            arm.line.setAttribute('y2', (-arm.long * at.y).toFixed(1));
            arm.text.setAttribute('x', ((arm.long + 8) * at.x).toFixed(1));
            arm.text.setAttribute('y', (-(arm.long + 8) * at.y).toFixed(1));
        }
        const order = [...this.arms].sort((a, b) => a.depth - b.depth);
        this.box.replaceChildren(...order.map(({ group }) => group));
    }
}

function makeArm(name, way, color, long, dash = 'none') {
    const line = svg('line', { x1: 0, y1: 0, stroke: color, 'stroke-dasharray': dash });
    const text = svg('text', { fill: color });
    text.textContent = name;
    return { way, long, line, text, group: svg('g', {}, line, text) };
}
