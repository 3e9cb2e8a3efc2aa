// Glyphs of joints, as multiples of the size of the model, on the frame M of each body.
import * as THREE from 'three';
import { geometryOf, matrixOf, stickMatrix } from './glyphs.js';

const color = '#4d6280';
const X_AXIS = 0;
const Y_AXIS = 1;
const Z_AXIS = 2;

// What a kind of joint looks like, drawn with a pen.
const glyphs = {
    pin: (pen) => pen.rod(Z_AXIS, 0.065, 0.013),
    screw: (pen) => {
        pen.rod(Z_AXIS, 0.09, 0.007);
        pen.thread(0.09, 0.013);
    },
    cylinder: (pen) => pen.rod(Z_AXIS, 0.11, 0.011),
    slider: (pen) => pen.put('brick', [0.045, 0.012, 0.012]),
    universal: (pen) => {
        pen.rod(X_AXIS, 0.06, 0.01);
        pen.rod(Y_AXIS, 0.06, 0.01);
    },
    planar: (pen) => pen.put('brick', [0.04, 0.04, 0.004]),
    'bend stretch': (pen) => pen.put('brick', [0.04, 0.04, 0.004]),
    ball: (pen) => pen.put('sphere', [0.02, 0.02, 0.02]),
    gimbal: (pen) => pen.put('sphere', [0.02, 0.02, 0.02]),
    'line orientation': (pen) => pen.put('sphere', [0.02, 0.02, 0.02]),
    ellipsoid: (pen) => {
        pen.put('sphere', [0.012, 0.012, 0.012]);
        pen.surface();
    },
    weld: (pen) => pen.put('brick', [0.011, 0.011, 0.011]),
    'rack and pinion': (pen) => pen.rod(Z_AXIS, 0.05, 0.02),
    cantilever: (pen) => pen.rod(Z_AXIS, 0.05, 0.008),
    'function based': (pen) => pen.rod(Z_AXIS, 0.06, 0.012),
};

// Draws on one body.
class Pen {
    constructor(figure, b) {
        Object.assign(this, { figure, b, body: figure.scene.bodies[b], L: figure.L });
        this.color = figure.tint(new THREE.Color(color));
    }

    batch(kind, opacity = this.figure.opacity) {
        return this.figure.batch('joints', kind, undefined, opacity);
    }

    put(kind, size) {
        const scale = size.map((x) => x * this.L);
        this.batch(kind).add(this.b, matrixOf(this.body.X_BM, scale), this.color);
    }

    /** A rod along an axis of M, about its origin. */
    rod(axis, length, radius) {
        const end = [0, 0, 0];
        end[axis] = (length * this.L) / 2;
        const begin = end.map((x) => -x);
        const stick = stickMatrix(begin, end, radius * this.L);
        this.batch('cylinder').add(this.b, matrixOf(this.body.X_BM).multiply(stick), this.color);
    }

    /** A thread about z of M. */
    thread(length, radius) {
        const half = (length * this.L) / 2;
        const stick = stickMatrix([0, 0, -half], [0, 0, half], radius * this.L);
        this.batch('helix').add(this.b, matrixOf(this.body.X_BM).multiply(stick), this.color);
    }

    /** The surface that M moves on, faint, on the parent. */
    surface() {
        const { parent, X_PF, params } = this.body;
        if (!(params?.length >= 3)) return;
        const matrix = matrixOf(X_PF, params.slice(0, 3));
        const { figure } = this;
        const batch = figure.batch('joints', 'sphere', geometryOf('sphere', 40), 0.15);
        batch.add(parent, matrix, this.color);
    }
}

/** Draw the joints of a figure. */
export function addJoints(figure) {
    figure.scene.bodies.forEach(({ mobilizer }, b) => {
        if (b > 0) glyphs[mobilizer.replaceAll(/[-_]/g, ' ')]?.(new Pen(figure, b));
    });
}
