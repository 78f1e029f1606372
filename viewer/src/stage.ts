// The machine in 3-D: bodies, beams, joints, springs, arrows, trails, grid; orbit, follow, hover and pick.

import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { BeamMesh } from "./beam";
import type { Frame, Joint, Recording, Signal, Surface } from "./data";
import { placeOf } from "./data";
import { el } from "./dom";
import { applyFrame, Arrow, coil, geometryOf, jointSymbol } from "./shapes";

export type Layer = "joints" | "reactions" | "forces" | "trails" | "names" | "grid";

/** A point whose path can be drawn. */
export interface TrailPoint {
  name: string;
  node: number;
  offset: three.Vector3;
}

interface Anchor {
  object: three.Object3D;
  name: string;
}

interface MovingArrow {
  arrow: Arrow;
  signals: [Signal, Signal, Signal];
  node: number | null;
  point: three.Vector3;
  scale: number;
}

/** Parts of full brightness that come from the sun and from the sky. */
const [SUN, SKY] = [0.55, 0.45];

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly trailPoints: TrailPoint[] = [];
  readonly layers: Record<Layer, boolean> =
    { joints: true, reactions: false, forces: true, trails: true, names: false, grid: true };
  gridStep = 1;
  onPick: (name: string | null) => void = () => {};
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private readonly camera: three.PerspectiveCamera;
  private readonly controls: OrbitControls;
  private readonly nodes: three.Group[] = [];
  private readonly world = new three.Group();
  private readonly anchors: Anchor[] = [];
  private readonly pickable: three.Object3D[] = [];
  private readonly jointGroup: three.Object3D[] = [];
  private readonly beams: BeamMesh[] = [];
  private readonly axes: three.Object3D[] = [];
  readonly surfaces: three.Mesh[] = [];
  private readonly springs: { mesh: three.Mesh; rest: number; nodes: (number | null)[]; points: three.Vector3[] }[] = [];
  private readonly rods: { mesh: three.Mesh; nodes: (number | null)[]; points: three.Vector3[] }[] = [];
  private readonly arrows: Record<"forces" | "reactions", MovingArrow[]> = { forces: [], reactions: [] };
  private readonly trails = new Map<string, { point: TrailPoint; whole: Line2; past: Line2 }>();
  private readonly labels = new Map<string, HTMLElement>();
  private readonly tip = el("div", { class: "tip", hidden: true });
  private readonly labelBox = el("div", { class: "labels", "aria-hidden": "true" });
  /** Together with the sky as bright as a face's own colour, where the face is turned to the sun. */
  private readonly sun = new three.DirectionalLight("#ffffff", SUN * Math.PI);
  private readonly jointMaterial = new three.MeshStandardMaterial({ roughness: 0.45, metalness: 0.1 });
  private readonly up: three.Vector3;
  private readonly colours: string[];
  private grid?: three.Object3D;
  private selected: string | null = null;
  private followed: number | null = null;
  private followedAt = new three.Vector3();
  private centre = new three.Vector3();
  private radius = 1;
  private time = 0;
  private dark = false;
  private pending = false;
  private isHeld = false;
  /** Whether the reader has chosen from where to look. */
  private isTurned = false;
  private pointer: three.Vector2 | null = null;

  constructor(readonly recording: Recording, readonly box: HTMLElement) {
    this.colours = recording.colours;
    this.canvas = el("canvas", { tabindex: "0", role: "img", id: "canvas", "aria-label": this.description() });
    box.append(this.canvas, this.labelBox, this.tip);
    this.renderer = new three.WebGLRenderer({ canvas: this.canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = three.PCFShadowMap;
    const up = new three.Vector3(...recording.scene.up);
    this.up = up.lengthSq() > 0 ? up.normalize() : new three.Vector3(0, 0, 1);
    this.camera = new three.PerspectiveCamera(32, 1, 0.01, 1000);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.request());
    this.controls.addEventListener("start", () => { this.isTurned = true; });
    this.build();
    this.measure();
    for (const beam of this.beams) beam.draw(0.012 * this.radius);
    this.addGround();
    this.addSurfaces();
    this.addJoints();
    this.addSprings();
    this.addArrows();
    this.collectTrailPoints();
    this.scaleStrains();
    this.light();
    this.fit();
    this.scene.traverse((object) => {
      const material = (object as three.Mesh).material as three.Material | undefined;
      if (material && object.type !== "GridHelper" && !(object instanceof three.GridHelper)) Object.assign(material, { fog: false });
    });
    this.listen();
  }

  private description(): string {
    const { bodies, joints, beams } = this.recording.scene;
    const words = [`${bodies.length} bodies`, `${joints.length} joints`];
    if (beams.length) words.push(`${beams.length} beams`);
    return `The machine in 3-D: ${words.join(", ")}. Arrow keys step, space plays; parts are listed beside it.`;
  }

  private build(): void {
    const { scene } = this.recording;
    this.scene.add(this.world);
    scene.nodes.forEach(() => {
      const node = new three.Group();
      this.nodes.push(node);
      this.world.add(node);
    });
    scene.bodies.forEach((body, index) => {
      const colour = this.colours[index];
      const node = this.nodes[body.node];
      for (const shape of body.shapes) {
        const material = new three.MeshLambertMaterial({ color: shape.colour ?? colour, vertexColors: true });
        const mesh = new three.Mesh(geometryOf(shape), material);
        applyFrame(mesh, shape.frame);
        mesh.castShadow = mesh.receiveShadow = true;
        mesh.userData.part = body.name;
        node.add(mesh);
        this.pickable.push(mesh);
      }
      this.anchors.push({ object: node, name: body.name });
    });
    scene.beams.forEach((beam) => {
      const mesh = new BeamMesh(beam);
      mesh.mesh.userData.part = beam.name;
      this.world.add(mesh.mesh);
      this.pickable.push(mesh.mesh);
      this.beams.push(mesh);
      this.anchors.push({ object: mesh.middle, name: beam.name });
    });
  }

  /** The ball around everything that is seen at any time. */
  private measure(): void {
    const box = new three.Box3();
    const frames = this.recording.frameTimes.length;
    const every = Math.max(1, Math.floor(frames / 120));
    const { poses } = this.recording;
    const corners = this.nodes.map((node) => {
      const size = new three.Box3().setFromObject(node, true);
      if (size.isEmpty()) return [new three.Vector3()];
      return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => new three.Vector3(
        k & 1 ? size.max.x : size.min.x, k & 2 ? size.max.y : size.min.y, k & 4 ? size.max.z : size.min.z));
    });
    const turn = new three.Quaternion();
    for (let frame = 0; frame < frames; frame += every) {
      this.nodes.forEach((_, index) => {
        const at = 7 * (frame * this.nodes.length + index);
        const centre = new three.Vector3().fromArray(poses, at);
        if (!Number.isFinite(centre.lengthSq())) return;
        turn.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
        for (const corner of corners[index]) box.expandByPoint(corner.clone().applyQuaternion(turn).add(centre));
      });
    }
    for (const beam of this.recording.scene.beams)
      for (const element of beam.elements)
        element.nodes.forEach((node, side) => { if (node === null) box.expandByPoint(new three.Vector3(...element.frames[side].position)); });
    for (const joint of this.recording.scene.joints)
      joint.nodes.forEach((node, side) => {
        if (node === null) box.expandByPoint(new three.Vector3(...joint.frames[side].position));
      });
    if (box.isEmpty()) box.expandByPoint(new three.Vector3());
    box.getCenter(this.centre);
    this.radius = Math.max(1e-6, 0.5 * box.getSize(new three.Vector3()).length());
    this.bounds = box;
  }

  private bounds = new three.Box3();

  private addGround(): void {
    const height = Math.min(...[this.bounds.min, this.bounds.max].map((corner) => corner.dot(this.up)));
    const floor = this.floor();
    const below = floor === null ? height - 0.04 * this.radius : floor - 1e-3 * this.radius;
    const raw = (2 * this.radius) / 8;
    const power = 10 ** Math.floor(Math.log10(raw));
    this.gridStep = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
    const count = 2 * Math.ceil((6 * this.radius) / this.gridStep);
    const grid = new three.GridHelper(count * this.gridStep, count, "#ffffff", "#ffffff");
    const shade = new three.Mesh(
      new three.PlaneGeometry(20 * this.radius, 20 * this.radius).rotateX(-Math.PI / 2),
      new three.ShadowMaterial({ opacity: 0.22 }));
    shade.receiveShadow = true;
    shade.position.y = -0.001 * this.radius;
    const ground = new three.Group();
    ground.add(grid, shade);
    ground.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), this.up);
    const flat = this.centre.clone().addScaledVector(this.up, -this.centre.dot(this.up));
    // Lines stand at multiples of the step.
    const local = flat.clone().applyQuaternion(ground.quaternion.clone().invert());
    local.set(Math.round(local.x / this.gridStep) * this.gridStep, 0, Math.round(local.z / this.gridStep) * this.gridStep);
    ground.position.copy(local.applyQuaternion(ground.quaternion)).addScaledVector(this.up, below);
    this.grid = ground;
    this.scene.add(ground);
    this.addAxes();
  }

  /** The highest level plane below everything: the grid lies on it. */
  private floor(): number | null {
    const height = Math.min(...[this.bounds.min, this.bounds.max].map((corner) => corner.dot(this.up)));
    const level = this.planes().filter((plane) => this.isLevel(plane)).map((plane) => this.heightOf(plane));
    // Parts sink a little into what they lie on.
    const under = level.filter((place) => place < height + 0.05 * this.radius && place > height - 4 * this.radius);
    return under.length > 0 ? Math.max(...under) : null;
  }

  private planes(): Surface[] {
    return (this.recording.scene.surfaces ?? []).filter(({ node, geometry }) => node === null && geometry === null);
  }

  private heightOf({ frame }: Surface): number {
    return new three.Vector3(...frame.position).dot(this.up);
  }

  private isLevel({ frame: { rotation: [w, x, y, z] } }: Surface): boolean {
    return new three.Vector3(0, 0, 1).applyQuaternion(new three.Quaternion(x, y, z, w)).dot(this.up) > 0.999;
  }

  /** What is touched: walls as thin sheets through the machine, other shapes as they are. */
  private addSurfaces(): void {
    const floor = this.floor();
    const onGrid = (plane: Surface): boolean => floor !== null && this.isLevel(plane) && Math.abs(this.heightOf(plane) - floor) < 1e-6 * this.radius;
    for (const surface of this.recording.scene.surfaces ?? []) {
      if (surface.geometry === null && surface.node === null && onGrid(surface)) continue;
      const sheet = surface.geometry === null;
      // A wall is seen from its free side alone, so that none hides the machine.
      const material = new three.MeshLambertMaterial({ color: "#8e99a6", ...(sheet ? { transparent: true, opacity: 0.3, depthWrite: false } : { vertexColors: true }) });
      const mesh = new three.Mesh(surface.geometry === null ? new three.BufferGeometry() : geometryOf(surface.geometry), material);
      applyFrame(mesh, surface.frame);
      if (sheet) mesh.geometry = this.sheet(mesh, surface);
      else mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData.part = surface.name;
      mesh.userData.surface = sheet ? "plane" : surface.geometry!.kind;
      (surface.node === null ? this.world : this.nodes[surface.node]).add(mesh);
      this.surfaces.push(mesh);
    }
  }

  /** A plane where the machine is, wherever its frame happens to stand, as far as no other plane of the ground cuts it off. */
  private sheet(mesh: three.Object3D, surface: Surface): three.BufferGeometry {
    const inside = mesh.quaternion.clone().invert();
    const from = this.centre.clone().sub(mesh.position).applyQuaternion(inside);
    const size = 1.2 * this.radius;
    let corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([x, y]) => new three.Vector3(from.x + x * size, from.y + y * size, 0));
    for (const other of surface.node === null ? this.planes() : []) {
      if (other === surface) continue;
      const { position, rotation: [w, x, y, z] } = other.frame;
      const normal = new three.Vector3(0, 0, 1).applyQuaternion(new three.Quaternion(x, y, z, w)).applyQuaternion(inside);
      const height = (point: three.Vector3): number => normal.dot(point) - normal.dot(new three.Vector3(...position).sub(mesh.position).applyQuaternion(inside));
      const kept = corners.flatMap((corner, index) => {
        const next = corners[(index + 1) % corners.length];
        const [a, b] = [height(corner), height(next)];
        return [...(a >= 0 ? [corner] : []), ...(a * b < 0 ? [corner.clone().lerp(next, a / (a - b))] : [])];
      });
      // One that would cut all of it away lies on the same place.
      if (kept.length > 2) corners = kept;
    }
    const shape = new three.BufferGeometry().setFromPoints(corners.slice(1, -1).flatMap((corner, index) => [corners[0], corner, corners[index + 2]]));
    shape.computeVertexNormals();
    return shape;
  }

  /** Axes of the world, with letters that are as large from afar. */
  private addAxes(): void {
    const length = 0.22 * this.radius;
    for (const [letter, colour, way] of [["x", "#d64545", [1, 0, 0]], ["y", "#2f9e5b", [0, 1, 0]], ["z", "#3b6fd8", [0, 0, 1]]] as const) {
      const arrow = new Arrow(new three.MeshBasicMaterial({ color: colour }), 0.006 * this.radius);
      arrow.point(new three.Vector3(), new three.Vector3().fromArray(way).multiplyScalar(length));
      const sprite = new three.Sprite(new three.SpriteMaterial({ map: lettered(letter, colour), sizeAttenuation: false, depthTest: false, transparent: true }));
      sprite.position.fromArray(way).multiplyScalar(1.18 * length);
      sprite.scale.setScalar(0.027);
      sprite.name = `axis ${letter}`;
      this.axes.push(arrow, sprite);
      this.scene.add(arrow, sprite);
    }
  }

  private addJoints(): void {
    const material = this.jointMaterial;
    for (const joint of this.recording.scene.joints) {
      const size = this.symbolSize(joint);
      const side = joint.nodes[1] === null ? 0 : 1;
      if (joint.kind === "distance") this.addRod(joint.name, joint.nodes, joint.frames, size);
      const symbol = jointSymbol(joint.kind, material);
      symbol.scale.setScalar(size);
      applyFrame(symbol, joint.frames[side]);
      const parent = joint.nodes[side] === null ? this.world : this.nodes[joint.nodes[side]!];
      parent.add(symbol);
      symbol.traverse((part) => {
        part.userData.part = joint.name;
        if (part instanceof three.Mesh) this.pickable.push(part);
      });
      this.jointGroup.push(symbol);
      this.anchors.push({ object: symbol, name: joint.name });
    }
  }

  /** A symbol is a little thicker than the thinner of the parts that it joins, and large enough to be seen. */
  private symbolSize({ nodes, frames }: Joint): number {
    const sizes = nodes.flatMap((node, side) => (node === null ? [] : this.sizeBeside(node, new three.Vector3(...frames[side].position))));
    const wanted = sizes.length > 0 ? Math.min(...sizes) : 0.03 * this.radius;
    return Math.min(0.07 * this.radius, Math.max(0.009 * this.radius, wanted));
  }

  /** The size of a symbol that suits the shape, or the beam, at a point of a node. */
  private sizeBeside(node: number, point: three.Vector3): number[] {
    const beam = this.beams.find(({ beam: { elements } }) => elements.some((element) => element.nodes.includes(node)));
    const shapes = this.nodes[node].children.filter((child): child is three.Mesh => child instanceof three.Mesh).map((mesh) => {
      mesh.geometry.computeBoundingBox();
      const box = mesh.geometry.boundingBox!;
      mesh.updateMatrix();
      return { distance: box.distanceToPoint(point.clone().applyMatrix4(mesh.matrix.clone().invert())), size: box.getSize(new three.Vector3()).toArray().sort((a, b) => a - b) };
    });
    const nearest = shapes.sort((a, b) => a.distance - b.distance || a.size[0] - b.size[0])[0];
    if (nearest) return [Math.min(0.16 * nearest.size[2], Math.max(0.04 * nearest.size[2], 0.8 * nearest.size[0]))];
    return beam ? [0.8 * beam.thickness] : [];
  }

  private addRod(name: string, nodes: (number | null)[], frames: Frame[], size: number): void {
    const geometry = new three.CylinderGeometry(0.25 * size, 0.25 * size, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    const mesh = new three.Mesh(geometry, new three.MeshLambertMaterial({ color: "#8e99a6" }));
    mesh.userData.part = name;
    mesh.castShadow = true;
    this.world.add(mesh);
    this.pickable.push(mesh);
    this.rods.push({ mesh, nodes, points: frames.map((frame) => new three.Vector3(...frame.position)) });
  }

  private addSprings(): void {
    for (const spring of this.recording.scene.springs) {
      const material = new three.MeshLambertMaterial({ color: "#aeb8c4" });
      const mesh = new three.Mesh(new three.BufferGeometry(), material);
      mesh.userData.part = spring.name;
      mesh.castShadow = true;
      this.world.add(mesh);
      this.pickable.push(mesh);
      this.springs.push({ mesh, rest: 0, nodes: spring.nodes, points: spring.points.map((point) => new three.Vector3(...point)) });
      this.anchors.push({ object: mesh, name: spring.name });
    }
  }

  private addArrows(): void {
    const tints = { force: "#e5484d", torque: "#a05cd6", reaction: "#12a594" };
    const largest = new Map<string, number>();
    const known = this.recording.scene.arrows.flatMap((arrow) => {
      const signals = this.recording.vector(arrow.signal);
      if (!signals) return [];
      let most = 0;
      for (let k = 0; k < signals[0].values.length; k += 1)
        most = Math.max(most, Math.hypot(...signals.map((signal) => signal.values[k])) || 0);
      largest.set(arrow.kind, Math.max(largest.get(arrow.kind) ?? 0, most));
      return [{ arrow, signals }];
    });
    for (const { arrow, signals } of known) {
      const material = new three.MeshLambertMaterial({ color: tints[arrow.kind] });
      const object = new Arrow(material, 0.012 * this.radius);
      object.traverse((part) => { part.userData.part = arrow.name; });
      this.world.add(object);
      const scale = (0.7 * this.radius) / Math.max(1e-30, largest.get(arrow.kind)!);
      const list = arrow.kind === "reaction" ? this.arrows.reactions : this.arrows.forces;
      list.push({ arrow: object, signals, node: arrow.node, point: new three.Vector3(...arrow.point), scale });
    }
  }

  private collectTrailPoints(): void {
    for (const body of this.recording.scene.bodies) {
      this.trailPoints.push({ name: body.name, node: body.node, offset: new three.Vector3() });
      for (const marker of body.markers)
        this.trailPoints.push({ name: `${body.name}.${marker.name}`, node: body.node, offset: new three.Vector3(...marker.frame.position) });
    }
    for (const beam of this.recording.scene.beams) {
      const last = beam.elements[beam.elements.length - 1];
      if (last && last.nodes[1] !== null)
        this.trailPoints.push({ name: `${beam.name} end`, node: last.nodes[1], offset: new three.Vector3(...last.frames[1].position) });
    }
    // The point that travels farthest tells most.
    const length = (point: TrailPoint): number => {
      const path = this.path(point);
      let sum = 0;
      for (let k = 1; k < path.length; k += 1) sum += path[k].distanceTo(path[k - 1]);
      return sum;
    };
    const best = this.trailPoints.slice(0, 60).map((point) => ({ point, length: length(point) }))
      .sort((a, b) => b.length - a.length)[0];
    if (best && best.length > 0.01 * this.radius) this.setTrail(best.point, true);
  }

  private path(point: TrailPoint): three.Vector3[] {
    const turn = new three.Quaternion();
    return Array.from(this.recording.frameTimes, (_, frame) => {
      const at = 7 * (frame * this.nodes.length + point.node);
      const { poses } = this.recording;
      turn.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
      return point.offset.clone().applyQuaternion(turn).add(new three.Vector3().fromArray(poses, at));
    });
  }

  hasTrail(point: TrailPoint): boolean {
    return this.trails.has(point.name);
  }

  setTrail(point: TrailPoint, wanted: boolean): void {
    const known = this.trails.get(point.name);
    if (known && !wanted) {
      this.scene.remove(known.whole, known.past);
      this.trails.delete(point.name);
    } else if (!known && wanted && this.recording.frameTimes.length > 1) {
      const body = this.recording.scene.bodies.findIndex((candidate) => candidate.node === point.node);
      const colour = this.colours[body] ?? "#4a86dd";
      const geometry = new LineGeometry();
      geometry.setPositions(this.path(point).flatMap((place) => place.toArray()));
      const line = (width: number, opacity: number, shape: LineGeometry): Line2 =>
        new Line2(shape, new LineMaterial({ color: colour, linewidth: width, transparent: true, opacity, depthWrite: false }));
      const whole = line(1.2, 0.35, geometry);
      const past = line(2.6, 0.95, geometry.clone() as LineGeometry);
      this.scene.add(whole, past);
      this.trails.set(point.name, { point, whole, past });
    }
    this.setTime(this.time);
  }

  /** Colours of all beams go up to the largest strain at any time. */
  private scaleStrains(): void {
    const { frameTimes, poses } = this.recording;
    if (this.beams.length === 0) return;
    const every = Math.max(1, Math.floor(frameTimes.length / 300));
    let most = 0;
    for (let frame = 0; frame < frameTimes.length; frame += every) {
      this.moveNodes(frameTimes, poses, frameTimes[frame]);
      for (const beam of this.beams) most = Math.max(most, beam.largestStrain(this.nodes));
    }
    for (const beam of this.beams) beam.scale = Math.max(1e-12, most);
    this.strainScale = most;
  }

  /** Largest strain, as stretch of the outermost fibre. */
  strainScale = 0;

  private light(): void {
    const sky = new three.HemisphereLight("#ffffff", "#c3cad3", SKY * Math.PI);
    sky.position.copy(this.up);
    this.scene.add(sky);
    // From above, over the shoulder of who looks at the machine first, so that the faces in view are bright.
    const view = this.directionOf("auto");
    const towards = this.up.clone().multiplyScalar(0.75).addScaledVector(view, 1).addScaledVector(view.clone().cross(this.up), -0.35).normalize();
    this.sun.position.copy(this.centre).addScaledVector(towards, 3.6 * this.radius);
    this.sun.target.position.copy(this.centre);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.sun.shadow.normalBias = 0.004 * this.radius;
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -2 * this.radius;
    camera.right = camera.top = 2 * this.radius;
    camera.near = 0.1 * this.radius;
    camera.far = 8 * this.radius;
    this.scene.add(this.sun, this.sun.target);
  }

  /** From where a view looks; a flat machine is seen from the side on which it is flat. */
  private directionOf(view: "auto" | "front" | "side" | "top"): three.Vector3 {
    const size = this.bounds.getSize(new three.Vector3());
    const forward = Math.abs(this.up.y) > 0.9 ? new three.Vector3(0, 0, 1) : new three.Vector3(0, -1, 0);
    const right = forward.clone().cross(this.up).negate().normalize();
    const across = this.up.clone().cross(right).negate();
    const flatness = [0, 1, 2].map((axis) => size.getComponent(axis) / Math.max(...size.toArray(), 1e-30));
    const thin = [0, 1, 2].find((axis) => flatness[axis] < 0.35 && Math.abs(this.up.getComponent(axis)) < 0.5);
    let direction = right.clone().multiplyScalar(0.75).addScaledVector(across, 1).addScaledVector(this.up, 0.55);
    if (thin !== undefined) {
      const normal = new three.Vector3().setComponent(thin, 1);
      if (normal.dot(across) < 0 || normal.dot(right) < -0.5) normal.negate();
      direction = normal.addScaledVector(right, 0.28).addScaledVector(this.up, 0.3);
    }
    if (view === "front") direction = across;
    if (view === "side") direction = right;
    if (view === "top") direction = this.up.clone().addScaledVector(across, 0.001);
    return direction.normalize();
  }

  /** Shows everything. */
  fit(view: "auto" | "front" | "side" | "top" = "auto"): void {
    const direction = this.directionOf(view);
    const distance = this.distanceToSee(direction);
    this.camera.position.copy(this.centre).addScaledVector(direction, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 40;
    this.controls.target.copy(this.centre);
    this.controls.update();
    this.isTurned = view !== "auto";
    if (this.followed !== null) this.follow(this.followed);
    this.request();
  }

  /** Place and target of the camera, if the reader chose them. */
  get view(): [number[], number[]] | null {
    return this.isTurned ? [this.camera.position.toArray(), this.controls.target.toArray()] : null;
  }

  set view(view: [number[], number[]] | null) {
    if (!view) return;
    this.isTurned = true;
    this.camera.position.fromArray(view[0]);
    this.controls.target.fromArray(view[1]);
    this.controls.update();
  }

  /** How far off all corners of everything seen are in the picture, with a margin for the tools above it. */
  private distanceToSee(direction: three.Vector3): number {
    const aspect = Math.max(0.3, this.box.clientWidth / Math.max(1, this.box.clientHeight));
    const slope = Math.tan((this.camera.fov * Math.PI) / 360);
    const turn = new three.Quaternion().setFromRotationMatrix(new three.Matrix4().lookAt(direction, new three.Vector3(), this.up)).invert();
    const { min, max } = this.bounds;
    const far = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
      const corner = new three.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z)
        .sub(this.centre).applyQuaternion(turn);
      return corner.z + Math.max(Math.abs(corner.x) / (0.88 * slope * aspect), Math.abs(corner.y) / (0.78 * slope));
    });
    return Math.max(...far, 0.5 * this.radius / slope);
  }

  follow(node: number | null): void {
    this.followed = node;
    if (node !== null) {
      this.followedAt.copy(this.nodes[node].position);
      const move = this.followedAt.clone().sub(this.controls.target);
      this.controls.target.add(move);
      this.camera.position.add(move);
      this.controls.update();
    }
    this.request();
  }

  setLayer(layer: Layer, shown: boolean): void {
    this.layers[layer] = shown;
    this.setTime(this.time);
  }

  setDark(dark: boolean): void {
    this.dark = dark;
    this.scene.background = new three.Color(dark ? "#12161c" : "#eef1f5");
    const grid = this.grid!.children[0] as three.GridHelper;
    (grid.material as three.LineBasicMaterial).color.set(dark ? "#2c3541" : "#cbd3dc");
    const shade = this.grid!.children[1] as three.Mesh;
    (shade.material as three.ShadowMaterial).opacity = dark ? 0.55 : 0.2;
    this.jointMaterial.color.set(dark ? "#c3ccd6" : "#4a535e");
    this.scene.fog = new three.Fog(dark ? "#12161c" : "#eef1f5");
    this.request();
  }

  select(name: string | null): void {
    this.selected = name;
    for (const object of this.pickable) {
      // Joints share a material, and the colour of a beam tells its strain; bodies glow.
      const { material } = object as three.Mesh;
      if (!(material instanceof three.MeshLambertMaterial) || this.beams.some((beam) => beam.mesh === object)) continue;
      material.emissive.set(object.userData.part === name && name !== null ? (this.dark ? "#33405a" : "#26324a") : "#000000");
    }
    this.request();
  }

  /** Where a node's point is in the world. */
  private place(node: number | null, point: three.Vector3): three.Vector3 {
    return node === null ? point.clone() : point.clone().applyQuaternion(this.nodes[node].quaternion).add(this.nodes[node].position);
  }

  setTime(time: number): void {
    this.time = time;
    const { frameTimes, poses } = this.recording;
    if (frameTimes.length > 0) this.moveNodes(frameTimes, poses, time);
    for (const beam of this.beams) beam.update(this.nodes);
    for (const { mesh, nodes, points } of this.rods) {
      const [from, to] = points.map((point, side) => this.place(nodes[side], point));
      stretch(mesh, from, to, 1);
    }
    for (const spring of this.springs) {
      const [from, to] = spring.points.map((point, side) => this.place(spring.nodes[side], point));
      const length = from.distanceTo(to);
      // Wound at its first length, so that the wire stays round.
      if (spring.rest === 0 && length > 0) {
        spring.rest = length;
        spring.mesh.geometry = coil(Math.min(0.05 * this.radius, 0.11 * length), length);
      }
      if (spring.rest > 0) stretch(spring.mesh, from, to, spring.rest);
    }
    this.moveArrows();
    for (const symbol of this.jointGroup) symbol.visible = this.layers.joints;
    if (this.grid) this.grid.visible = this.layers.grid;
    const frame = placeOf(frameTimes, time);
    for (const { whole, past } of this.trails.values()) {
      whole.visible = past.visible = this.layers.trails;
      past.geometry.instanceCount = Math.max(1, frame);
    }
    if (this.followed !== null) {
      const move = this.nodes[this.followed].position.clone().sub(this.followedAt);
      this.followedAt.add(move);
      this.camera.position.add(move);
      this.controls.target.add(move);
      this.controls.update();
    }
    this.request();
  }

  private moveNodes(times: Float64Array, poses: Float32Array, time: number): void {
    const frame = placeOf(times, time);
    const next = Math.min(frame + 1, times.length - 1);
    const part = next === frame ? 0 : Math.min(1, Math.max(0, (time - times[frame]) / (times[next] - times[frame])));
    const other = new three.Vector3();
    const turn = new three.Quaternion();
    this.nodes.forEach((node, index) => {
      const [a, b] = [frame, next].map((row) => 7 * (row * this.nodes.length + index));
      node.position.fromArray(poses, a).lerp(other.fromArray(poses, b), part);
      node.quaternion.set(poses[a + 4], poses[a + 5], poses[a + 6], poses[a + 3]);
      node.quaternion.slerp(turn.set(poses[b + 4], poses[b + 5], poses[b + 6], poses[b + 3]), part);
    });
  }

  private moveArrows(): void {
    const vector = new three.Vector3();
    for (const layer of ["forces", "reactions"] as const)
      for (const { arrow, signals, node, point, scale } of this.arrows[layer]) {
        vector.set(...(signals.map((signal) => this.recording.valueAt(signal, this.time)) as [number, number, number]));
        arrow.point(this.place(node, point), vector.multiplyScalar(scale));
        arrow.visible &&= this.layers[layer];
      }
  }

  has(layer: "forces" | "reactions"): boolean {
    return this.arrows[layer].length > 0;
  }

  /** Where a part is on the page, in pixels of the canvas. */
  project(name: string): { x: number; y: number } | null {
    const anchor = this.anchors.find((candidate) => candidate.name === name);
    if (!anchor) return null;
    const point = anchor.object.getWorldPosition(new three.Vector3()).project(this.camera);
    if (point.z > 1) return null;
    return { x: ((point.x + 1) / 2) * this.canvas.clientWidth, y: ((1 - point.y) / 2) * this.canvas.clientHeight };
  }

  private pick(pointer: three.Vector2): string | null {
    const caster = new three.Raycaster();
    caster.setFromCamera(pointer, this.camera);
    const shown = this.pickable.filter((object) => object.visible && (object.parent?.visible ?? true));
    const hit = caster.intersectObjects(shown, false)[0];
    return hit ? (hit.object.userData.part as string) : null;
  }

  private listen(): void {
    new ResizeObserver(() => this.resize()).observe(this.box);
    this.resize();
    const place = (event: PointerEvent): three.Vector2 => {
      const box = this.canvas.getBoundingClientRect();
      return new three.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    };
    let down = { x: 0, y: 0 };
    this.canvas.addEventListener("pointerdown", (event) => { down = { x: event.clientX, y: event.clientY }; });
    this.canvas.addEventListener("pointerup", (event) => {
      if (Math.hypot(event.clientX - down.x, event.clientY - down.y) < 5) this.onPick(this.pick(place(event)));
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) return;
      const waits = this.pointer !== null;
      this.pointer = place(event);
      if (!waits) requestAnimationFrame(() => this.hover());
    });
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  private hover(): void {
    if (!this.pointer) return;
    const name = this.pick(this.pointer);
    this.tip.hidden = name === null;
    this.canvas.style.cursor = name === null ? "grab" : "pointer";
    if (name !== null) {
      this.tip.textContent = name;
      this.tip.style.left = `${((this.pointer.x + 1) / 2) * this.canvas.clientWidth}px`;
      this.tip.style.top = `${((1 - this.pointer.y) / 2) * this.canvas.clientHeight}px`;
    }
    this.pointer = null;
  }

  private resize(): void {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  private request(): void {
    if (this.pending || this.isHeld) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (!this.isHeld) this.render();
    });
  }

  private render(): void {
    // The grid fades with the distance, and nothing else does.
    const distance = this.camera.position.distanceTo(this.controls.target);
    if (this.scene.fog instanceof three.Fog) [this.scene.fog.near, this.scene.fog.far] = [0.9 * distance, 0.9 * distance + 3.4 * this.radius];
    this.renderer.render(this.scene, this.camera);
    this.placeLabels();
  }

  /** Does something while the picture has so many pixels from side to side, and is drawn only when asked. */
  async sharply<T>(pixels: number, action: () => T | Promise<T>): Promise<T> {
    const before = this.renderer.getPixelRatio();
    const wide = Math.max(1, this.box.clientWidth);
    this.renderer.setPixelRatio(Math.min(Math.max(before, pixels / wide), 4096 / Math.max(wide, this.box.clientHeight)));
    this.isHeld = true;
    try {
      return await action();
    } finally {
      this.isHeld = false;
      this.renderer.setPixelRatio(before);
      this.request();
    }
  }

  /** The picture with its names and a caption, on a canvas of its own. */
  snapshot(caption: string, canvas?: HTMLCanvasElement): HTMLCanvasElement {
    this.render();
    const { width, height } = this.canvas;
    // Codecs want even numbers.
    canvas ??= el("canvas", { width: String(width - (width % 2)), height: String(height - (height % 2)) });
    const context = canvas.getContext("2d")!;
    context.drawImage(this.canvas, 0, 0, canvas.width, canvas.height);
    const scale = canvas.width / Math.max(1, this.canvas.clientWidth);
    const style = getComputedStyle(document.documentElement);
    const [ink, card] = ["--ink", "--card"].map((name) => style.getPropertyValue(name).trim());
    context.font = `${13 * scale}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    const write = (text: string, x: number, y: number, isBoxed: boolean): void => {
      const wide = context.measureText(text).width;
      if (isBoxed) {
        context.globalAlpha = 0.8;
        context.fillStyle = card;
        context.fillRect(x * scale, (y - 11) * scale, wide + 12 * scale, 22 * scale);
        context.globalAlpha = 1;
      }
      context.fillStyle = ink;
      context.fillText(text, (x + 6) * scale, y * scale);
    };
    for (const [name, label] of this.labels) {
      const point = label.hidden ? null : this.project(name);
      if (point) write(name, point.x + 6, point.y - 15, true);
    }
    if (caption) write(caption, 6, this.canvas.clientHeight - 16, false);
    return canvas;
  }

  private placeLabels(): void {
    const wanted = this.anchors.filter((anchor) => this.layers.names || anchor.name === this.selected).slice(0, 80);
    for (const [name, label] of this.labels)
      if (!wanted.some((anchor) => anchor.name === name)) {
        label.remove();
        this.labels.delete(name);
      }
    for (const { name } of wanted) {
      const point = this.project(name);
      let label = this.labels.get(name);
      if (!label) {
        label = el("span", { class: "label" }, name);
        this.labels.set(name, label);
        this.labelBox.append(label);
      }
      label.hidden = point === null;
      if (point) label.style.transform = `translate(${point.x.toFixed(1)}px, ${point.y.toFixed(1)}px)`;
    }
  }
}

/** A letter as a texture. */
function lettered(letter: string, colour: string): three.Texture {
  const canvas = el("canvas", { width: "64", height: "64" });
  const context = canvas.getContext("2d")!;
  context.font = "600 46px system-ui, sans-serif";
  [context.textAlign, context.textBaseline, context.fillStyle] = ["center", "middle", colour];
  context.fillText(letter, 32, 32);
  const texture = new three.CanvasTexture(canvas);
  texture.colorSpace = three.SRGBColorSpace;
  return texture;
}

/** Lays an object along z between two points. */
function stretch(mesh: three.Object3D, from: three.Vector3, to: three.Vector3, rest: number): void {
  const along = to.clone().sub(from);
  const length = along.length();
  mesh.position.copy(from);
  mesh.scale.z = Math.max(1e-9, length / rest);
  if (length > 1e-12) mesh.quaternion.setFromUnitVectors(new three.Vector3(0, 0, 1), along.divideScalar(length));
}
