// The stage: renderer, lights, floor, camera. Everything is measured in L, the size of the model.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

const FIELD_OF_VIEW = 40;
const SLOPE = Math.tan((FIELD_OF_VIEW * Math.PI) / 360); // of the upper edge of the picture
const MARGIN = 0.92; // how much of the free part is filled
const themes = {
    light: {
        sky: '#ffffff',
        ground: '#c9c2b6',
        hemisphere: 1.6,
        key: 2.1,
        fill: 0.5,
        grid: '#5b6675',
        shadow: 0.22,
    },
    dark: {
        sky: '#cfd8e6',
        ground: '#2b2f38',
        hemisphere: 1.0,
        key: 2.3,
        fill: 0.55,
        grid: '#9aa8bd',
        shadow: 0.5,
    },
};

// Lines at 1 and 10 steps that fade with distance, sharp at any zoom.
const gridShader = {
    vertexShader: `
        varying vec3 at;
        void main() {
            at = position;
            gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
        }`,
    fragmentShader: `
        varying vec3 at;
        uniform float spacing, reach;
        uniform vec2 middle;
        uniform vec3 color;
        float lines(float every) {
            vec2 x = at.xz / every;
            vec2 w = fwidth(x);
            vec2 d = abs(fract(x - 0.5) - 0.5) / max(w, vec2(1e-6));
            float line = 1.0 - min(min(d.x, d.y), 1.0);
            return line * (1.0 - smoothstep(0.25, 0.5, max(w.x, w.y)));
        }
        void main() {
            float far = 1.0 - smoothstep(0.15, 1.0, length(at.xz - middle) / reach);
            float strength = max(0.28 * lines(spacing), 0.55 * lines(10.0 * spacing));
            gl_FragColor = vec4(color, strength * far * far);
            if (gl_FragColor.a < 0.002) discard;
        }`,
};

/** 1, 2 or 5 times a power of ten that is at most x. */
export function niceStep(x) {
    const power = 10 ** Math.floor(Math.log10(x));
    return [5, 2, 1].find((k) => k * power <= x) * power || power;
}

/** Whether this browser can draw in three dimensions. */
export function hasWebGL() {
    return Boolean(document.createElement('canvas').getContext('webgl2'));
}

// null without WebGL: all else works.
function makeRenderer(canvas) {
    if (!hasWebGL()) return null;
    const options = { canvas, antialias: true, alpha: true, preserveDrawingBuffer: true };
    const renderer = new THREE.WebGLRenderer(options);
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFShadowMap;
    renderer.toneMapping = THREE.NeutralToneMapping;
    renderer.toneMappingExposure = 1.0;
    return renderer;
}

// Where the camera must stand, along a and along z, so that all points p of an extent lie between
// two planes through it: |p.a - middle| <= slope (far - p.z).
function fitBetween(extent, a, z, slope) {
    const right = extent.support(a.clone().addScaledVector(z, slope));
    const left = extent.support(a.clone().negate().addScaledVector(z, slope));
    return { middle: (right - left) / 2, far: (right + left) / (2 * slope) };
}

export class Stage {
    constructor(canvas, up, size) {
        this.canvas = canvas;
        this.size = size;
        this.up = new THREE.Vector3(...up);
        this.upright = new THREE.Quaternion().setFromUnitVectors(
            new THREE.Vector3(0, 1, 0),
            this.up
        );
        this.renderer = makeRenderer(canvas);
        this.scene = new THREE.Scene();
        this.root = new THREE.Group();
        this.scene.add(this.root);
        this.makeLights();
        this.makeFloor();
        this.makeCamera();
        this.changed = true;
    }

    makeLights() {
        this.hemisphere = new THREE.HemisphereLight();
        this.hemisphere.position.copy(this.up);
        this.key = new THREE.DirectionalLight('#fff6e8');
        this.fill = new THREE.DirectionalLight('#dfe9ff');
        this.key.castShadow = true;
        this.key.shadow.mapSize.set(2048, 2048);
        this.key.shadow.radius = 3;
        this.key.shadow.bias = -0.0006;
        this.scene.add(this.hemisphere, this.key, this.key.target, this.fill, this.fill.target);
        this.keyWay = new THREE.Vector3(0.55, 1.5, 0.75).normalize().applyQuaternion(this.upright);
        this.fillWay = new THREE.Vector3(-1.2, 0.4, -0.6).normalize().applyQuaternion(this.upright);
    }

    // Lights stand around what is looked at; shadows fall within `reach` of it.
    aimLights(center, reach) {
        this.key.target.position.copy(center);
        this.key.position.copy(center).addScaledVector(this.keyWay, 4 * reach);
        this.fill.target.position.copy(center);
        this.fill.position.copy(center).addScaledVector(this.fillWay, 4 * reach);
        const camera = this.key.shadow.camera;
        camera.left = camera.bottom = -reach;
        camera.right = camera.top = reach;
        camera.near = 0.5 * reach;
        camera.far = 9 * reach;
        camera.updateProjectionMatrix();
        this.key.shadow.normalBias = (3 * 2 * reach) / 2048; // three texels
    }

    makeFloor() {
        this.floor = new THREE.Group();
        this.floor.quaternion.copy(this.upright);
        const plane = new THREE.PlaneGeometry(1, 1).rotateX(-Math.PI / 2);
        this.grid = new THREE.Mesh(
            plane,
            new THREE.ShaderMaterial({
                ...gridShader,
                transparent: true,
                depthWrite: false,
                side: THREE.DoubleSide,
                uniforms: {
                    spacing: { value: 1 },
                    reach: { value: 1 },
                    middle: { value: new THREE.Vector2() },
                    color: { value: new THREE.Color() },
                },
            })
        );
        this.grid.frustumCulled = false;
        this.grid.renderOrder = -2;
        this.shade = new THREE.Mesh(
            plane,
            new THREE.ShadowMaterial({ opacity: 0.25, depthWrite: false })
        );
        this.shade.receiveShadow = true;
        this.shade.frustumCulled = false;
        this.shade.renderOrder = -1;
        this.floor.add(this.grid, this.shade);
        this.scene.add(this.floor);
    }

    /** Put the floor into a plane, near a point; its squares are `spacing` wide. */
    setFloor({ normal, height }, near) {
        const reach = 12 * this.size;
        const tilt = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
        const { x, z } = near.clone().applyQuaternion(tilt.clone().invert());
        this.spacing = niceStep(0.55 * this.size);
        this.floor.quaternion.copy(tilt);
        this.floor.position.copy(normal).multiplyScalar(height - 0.002 * this.size);
        // a plane of its own vertices: the shader sees true coordinates
        const flat = new THREE.PlaneGeometry(2 * reach, 2 * reach);
        flat.rotateX(-Math.PI / 2).translate(x, 0, z);
        this.grid.geometry = flat;
        this.shade.geometry = flat;
        const { uniforms } = this.grid.material;
        uniforms.spacing.value = this.spacing;
        uniforms.reach.value = reach;
        uniforms.middle.value.set(x, z);
    }

    makeCamera() {
        const L = this.size;
        this.perspective = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01 * L, 400 * L);
        this.orthographic = new THREE.OrthographicCamera(-L, L, L, -L, -100 * L, 400 * L);
        this.camera = this.perspective;
        for (const camera of [this.perspective, this.orthographic]) camera.up.copy(this.up);
        this.controls = new OrbitControls(this.camera, this.canvas);
        this.controls.enableDamping = false;
        this.controls.zoomToCursor = false;
        this.controls.minDistance = 0.05 * L;
        this.controls.maxDistance = 150 * L;
        this.controls.addEventListener('change', () => {
            this.changed = true;
        });
    }

    /**
     * Look from a direction, given where y is up, so that an extent about a point just fills
     * `width` times `height` pixels in the middle of the picture.
     */
    look(way, extent, at, width, height) {
        const z = new THREE.Vector3(...way).normalize().applyQuaternion(this.upright);
        const x = new THREE.Vector3().crossVectors(this.up, z).normalize();
        const y = new THREE.Vector3().crossVectors(z, x);
        const full = Math.max(1, this.height);
        const across = fitBetween(extent, x, z, (MARGIN * SLOPE * width) / full);
        const upwards = fitBetween(extent, y, z, (MARGIN * SLOPE * height) / full);
        const behind = -extent.support(z.clone().negate());
        const depth = (extent.support(z) + behind) / 2;
        const nearest = (0.3 * this.size * full) / Math.min(width, height) / SLOPE;
        const distance = Math.max(nearest, Math.max(across.far, upwards.far) - depth);
        this.controls.target.copy(at).addScaledVector(x, across.middle);
        this.controls.target.addScaledVector(y, upwards.middle).addScaledVector(z, depth);
        this.camera.position.copy(this.controls.target).addScaledVector(z, distance);
        this.setHalfHeight(distance * SLOPE);
        this.controls.update();
        this.changed = true;
    }

    // What the parallel camera sees above and below the middle.
    setHalfHeight(half) {
        const wide = half * this.perspective.aspect;
        const sides = { left: -wide, right: wide, top: half, bottom: -half, zoom: 1 };
        Object.assign(this.orthographic, sides);
        this.orthographic.updateProjectionMatrix();
    }

    /** Move the middle of the picture, in pixels to the left and up, of a window so large. */
    setOffset(x, y, width, height) {
        for (const camera of [this.perspective, this.orthographic]) {
            camera.setViewOffset(width, height, x, y, width, height);
        }
        this.changed = true;
    }

    /** Between perspective and parallel projection, from the same side. */
    toggleProjection() {
        const before = this.camera;
        const distance = before.position.distanceTo(this.controls.target);
        this.camera = before === this.perspective ? this.orthographic : this.perspective;
        this.camera.position.copy(before.position);
        if (this.camera === this.orthographic) this.setHalfHeight(distance * SLOPE);
        this.controls.object = this.camera;
        this.controls.update();
        this.changed = true;
    }

    /** Move camera and target together. */
    shift(by) {
        this.camera.position.add(by);
        this.controls.target.add(by);
        this.controls.update();
        this.changed = true;
    }

    setTheme(name) {
        const theme = themes[name];
        this.hemisphere.color.set(theme.sky);
        this.hemisphere.groundColor.set(theme.ground);
        this.hemisphere.intensity = theme.hemisphere;
        this.key.intensity = theme.key;
        this.fill.intensity = theme.fill;
        this.grid.material.uniforms.color.value.set(theme.grid);
        this.shade.material.opacity = theme.shadow;
        this.changed = true;
    }

    resize(width, height, ratio) {
        Object.assign(this, { height, ratio });
        this.renderer?.setPixelRatio(ratio);
        this.renderer?.setSize(width, height, false);
        this.perspective.aspect = width / Math.max(1, height);
        this.perspective.updateProjectionMatrix();
        this.setHalfHeight(this.orthographic.top);
        this.changed = true;
    }

    render() {
        const target = this.controls.target;
        const distance = this.camera.position.distanceTo(target);
        this.aimLights(target, Math.min(Math.max(2 * this.size, 0.8 * distance), 8 * this.size));
        this.renderer?.render(this.scene, this.camera);
        this.changed = false;
    }

    /** The drawing context, and room for a pixel: reading one waits for the picture. */
    probe() {
        return { gl: this.renderer.getContext(), pixel: new Uint8Array(4) };
    }

    /** Where a point is on the canvas, in CSS pixels; null behind the camera. */
    project(p) {
        const v = new THREE.Vector3(p[0], p[1], p[2]).project(this.camera);
        if (v.z > 1 || v.z < -1) return null;
        return [
            ((v.x + 1) / 2) * this.canvas.clientWidth,
            ((1 - v.y) / 2) * this.canvas.clientHeight,
        ];
    }
}
