// The inertia of a body as a solid: the ellipsoid of uniform density that has it.
import * as THREE from 'three';

const APART = 1.02; // larger, so that it is seen around a body that looks the same

/** The matrix from the unit ball to the ellipsoid with a body's inertia; null for a point. */
export function inertiaEllipsoid(body) {
    const [xx, yy, zz, xy, xz, yz] = body.inertia ?? [0, 0, 0, 0, 0, 0];
    const { values, axes } = eigen([
        [xx, xy, xz],
        [xy, yy, yz],
        [xz, yz, zz],
    ]);
    const half = (values[0] + values[1] + values[2]) / 2;
    const radii = values.map((I) => Math.sqrt(Math.max(0, (5 * (half - I)) / body.mass)));
    const largest = Math.max(...radii);
    if (!(largest > 0)) return null;
    const size = radii.map((r) => APART * Math.max(r, 1e-3 * largest));
    const basis = new THREE.Matrix4().makeBasis(...axes.map((a) => new THREE.Vector3(...a)));
    return basis.scale(new THREE.Vector3(...size)).setPosition(...body.com);
}

// Eigenvalues and unit eigenvectors of a symmetric 3 x 3 matrix by Jacobi's rotations.
function eigen(A) {
    const axes = [
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
    ];
    for (let sweep = 0; sweep < 12; ++sweep) {
        for (const [p, q] of [
            [0, 1],
            [0, 2],
            [1, 2],
        ]) {
            if (Math.abs(A[p][q]) < 1e-300) continue;
            const angle = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]);
            const c = Math.cos(angle);
            const s = Math.sin(angle);
            for (let k = 0; k < 3; ++k)
                [A[k][p], A[k][q]] = [c * A[k][p] - s * A[k][q], s * A[k][p] + c * A[k][q]];
            for (let k = 0; k < 3; ++k)
                [A[p][k], A[q][k]] = [c * A[p][k] - s * A[q][k], s * A[p][k] + c * A[q][k]];
            for (let k = 0; k < 3; ++k)
                [axes[p][k], axes[q][k]] = [
                    c * axes[p][k] - s * axes[q][k],
                    s * axes[p][k] + c * axes[q][k],
                ];
        }
    }
    return { values: [A[0][0], A[1][1], A[2][2]], axes };
}
