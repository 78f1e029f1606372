// A beam as a smooth tube on the screws of its elements, coloured by strain.

import * as three from "three";
import type { Beam, BeamElement, Frame } from "./data";
import { along, type Placement, screwBetween } from "./se3";

const PER_ELEMENT = 8;
const RING = 20;
const TINTS = ["#3b6fd8", "#36b37e", "#e9c14b", "#d64545"].map((colour) => new three.Color(colour));

/** Parts of its length: what is thicker is no beam, how thick it is drawn then, and how thick at least. */
const [STUBBY, SLENDER, VISIBLE] = [1 / 3, 1 / 12, 1 / 50];

export class BeamMesh {
  readonly mesh: three.Mesh;
  readonly middle = new three.Object3D();
  scale = 1;
  /** How thick it is drawn. */
  thickness = 0;
  private readonly positions: three.BufferAttribute;
  private readonly colours: three.BufferAttribute;
  private outline: [number, number][];

  constructor(readonly beam: Beam) {
    const rings = beam.elements.length * (PER_ELEMENT + 1);
    this.positions = new three.BufferAttribute(new Float32Array(3 * RING * rings), 3);
    this.colours = new three.BufferAttribute(new Float32Array(3 * RING * rings), 3);
    this.positions.setUsage(three.DynamicDrawUsage);
    const index: number[] = [];
    for (let ring = 0; ring + 1 < rings; ring += 1) {
      for (let k = 0; k < RING; k += 1) {
        const [a, b] = [ring * RING + k, ring * RING + ((k + 1) % RING)];
        index.push(a, b, b + RING, a, b + RING, a + RING);
      }
    }
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("color", this.colours);
    geometry.setIndex(index);
    this.mesh = new three.Mesh(geometry, new three.MeshLambertMaterial({ vertexColors: true, side: three.DoubleSide }));
    this.mesh.castShadow = true;
    this.mesh.frustumCulled = false;
    this.mesh.add(this.middle);
    this.outline = outline(beam.size, beam.round);
  }

  /**
   * Draws a beam thick enough to be seen, and not thicker than a beam can be; strains stay those of the given section.
   *
   * A section that is given by its stiffnesses has a size that was reckoned from them, and that may be any.
   */
  draw(least: number): void {
    const length = this.beam.elements.reduce((sum, element) => sum + element.length, 0);
    const given = Math.max(...this.beam.size);
    this.thickness = Math.max(given > STUBBY * length ? SLENDER * length : given, VISIBLE * length, least);
    this.outline = outline(this.beam.size.map((size) => (size * this.thickness) / given), this.beam.round);
  }

  /** Moves the tube to where its nodes are. */
  update(nodes: Placement[]): void {
    const strains = this.beam.elements.map((element) => this.strain(element, nodes).size);
    this.beam.elements.forEach((element, index) => {
      const { start, turn, move } = this.strain(element, nodes);
      for (let k = 0; k <= PER_ELEMENT; k += 1) {
        const part = k / PER_ELEMENT;
        const place = along(start, turn, move, part);
        // Between the middles of elements the strain is blended, as the eye expects.
        const other = strains[part < 0.5 ? Math.max(0, index - 1) : Math.min(strains.length - 1, index + 1)];
        const weight = Math.abs(part - 0.5);
        this.ring(index * (PER_ELEMENT + 1) + k, place, this.tint((1 - weight) * strains[index] + weight * other));
        if (k === PER_ELEMENT / 2 && index === Math.floor(this.beam.elements.length / 2)) this.middle.position.copy(place.position);
      }
    });
    this.positions.needsUpdate = true;
    this.colours.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
    this.mesh.geometry.computeBoundingSphere();
  }

  largestStrain(nodes: Placement[]): number {
    return Math.max(0, ...this.beam.elements.map((element) => this.strain(element, nodes).size));
  }

  /** The screw of an element, and its strain as the stretch and shear of the outermost fibre. */
  private strain(element: BeamElement, nodes: Placement[]): { start: Placement; turn: three.Vector3; move: three.Vector3; size: number } {
    const [start, end] = element.frames.map((frame, side) => placed(frame, element.nodes[side] === null ? null : nodes[element.nodes[side]!]));
    const { turn, move } = screwBetween(start, end);
    const reach = 0.5 * Math.max(...this.beam.size);
    const curvature = turn.clone().sub(new three.Vector3().fromArray(element.reference)).divideScalar(element.length);
    const stretch = move.clone().sub(new three.Vector3().fromArray(element.reference, 3)).divideScalar(element.length);
    return { start, turn, move, size: stretch.length() + reach * curvature.length() };
  }

  private ring(number: number, place: Placement, tint: three.Color): void {
    const y = new three.Vector3(0, 1, 0).applyQuaternion(place.quaternion);
    const z = new three.Vector3(0, 0, 1).applyQuaternion(place.quaternion);
    this.outline.forEach(([a, b], k) => {
      const at = number * RING + k;
      const point = place.position.clone().addScaledVector(y, a).addScaledVector(z, b);
      this.positions.setXYZ(at, point.x, point.y, point.z);
      this.colours.setXYZ(at, tint.r, tint.g, tint.b);
    });
  }

  private tint(strain: number): three.Color {
    const part = Math.min(1, strain / this.scale) * (TINTS.length - 1);
    const low = Math.min(TINTS.length - 2, Math.floor(part));
    return TINTS[low].clone().lerp(TINTS[low + 1], part - low);
  }
}

function placed(frame: Frame, node: Placement | null): Placement {
  const position = new three.Vector3(...frame.position);
  const [w, x, y, z] = frame.rotation;
  const quaternion = new three.Quaternion(x, y, z, w);
  if (!node) return { position, quaternion };
  return { position: position.applyQuaternion(node.quaternion).add(node.position), quaternion: quaternion.premultiply(node.quaternion) };
}

function outline(sizes: number[], round: boolean): [number, number][] {
  const [a, b] = sizes.map((size) => size / 2);
  return Array.from({ length: RING }, (_, k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / RING;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const stretch = round ? 1 : 1 / Math.max(Math.abs(cos), Math.abs(sin));
    return [a * cos * stretch, b * sin * stretch];
  });
}
