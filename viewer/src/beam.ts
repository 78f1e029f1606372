// A beam as a smooth tube through its nodes, coloured by strain where strains are recorded.

import * as three from "three";
import type { Beam, Recording, Signal } from "./data";

const PER_ELEMENT = 6;
const RING = 16;

export class BeamMesh {
  readonly mesh: three.Mesh;
  private readonly positions: three.BufferAttribute;
  private readonly colours: three.BufferAttribute;
  private readonly strains: Signal[][];
  private readonly largest: number;
  private readonly outline: [number, number][];
  private readonly axis: three.Vector3;
  private readonly across: [three.Vector3, three.Vector3];

  constructor(readonly beam: Beam, recording: Recording, private readonly colour: three.Color) {
    const stations = this.stations();
    this.positions = new three.BufferAttribute(new Float32Array(3 * RING * stations), 3);
    this.colours = new three.BufferAttribute(new Float32Array(3 * RING * stations).fill(1), 3);
    this.positions.setUsage(three.DynamicDrawUsage);
    const index: number[] = [];
    for (let station = 0; station + 1 < stations; station += 1) {
      for (let k = 0; k < RING; k += 1) {
        const [a, b] = [station * RING + k, station * RING + ((k + 1) % RING)];
        index.push(a, b, b + RING, a, b + RING, a + RING);
      }
    }
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", this.positions);
    geometry.setAttribute("color", this.colours);
    geometry.setIndex(index);
    const material = new three.MeshStandardMaterial({ vertexColors: true, roughness: 0.5, side: three.DoubleSide });
    this.mesh = new three.Mesh(geometry, material);
    this.mesh.castShadow = true;
    this.mesh.frustumCulled = false;
    this.outline = outline(beam);
    this.axis = new three.Vector3(...beam.axis).normalize();
    const helper = Math.abs(this.axis.y) < 0.9 ? new three.Vector3(0, 1, 0) : new three.Vector3(0, 0, 1);
    const second = helper.sub(this.axis.clone().multiplyScalar(helper.dot(this.axis))).normalize();
    this.across = [second, this.axis.clone().cross(second)];
    this.strains = beam.strains.map((prefix) =>
      [...recording.signals.values()].filter((signal) => signal.name.startsWith(`${prefix}.`)));
    this.largest = Math.max(1e-30, ...this.strains.flat().map((signal) => largest(signal.values)));
  }

  private stations(): number {
    return (this.beam.nodes.length - 1) * PER_ELEMENT + 1;
  }

  /** Moves the tube to where its nodes are: cubic between them, along their axes. */
  update(recording: Recording, time: number, nodes: { position: three.Vector3; quaternion: three.Quaternion }[]): void {
    const point = new three.Vector3();
    const turn = new three.Quaternion();
    for (let element = 0; element + 1 < this.beam.nodes.length; element += 1) {
      const [first, second] = [nodes[this.beam.nodes[element]], nodes[this.beam.nodes[element + 1]]];
      const length = first.position.distanceTo(second.position);
      const tangents = [first, second].map((node) => this.axis.clone().applyQuaternion(node.quaternion).multiplyScalar(length));
      const tint = this.tint(recording, element, time);
      const last = element + 2 === this.beam.nodes.length ? PER_ELEMENT : PER_ELEMENT - 1;
      for (let k = 0; k <= last; k += 1) {
        const s = k / PER_ELEMENT;
        const [h0, h1] = [(1 + 2 * s) * (1 - s) ** 2, s * s * (3 - 2 * s)];
        point.copy(first.position).multiplyScalar(h0).addScaledVector(second.position, h1);
        point.addScaledVector(tangents[0], s * (1 - s) ** 2).addScaledVector(tangents[1], s * s * (s - 1));
        turn.slerpQuaternions(first.quaternion, second.quaternion, s);
        this.ring(element * PER_ELEMENT + k, point, turn, tint);
      }
    }
    this.positions.needsUpdate = true;
    this.colours.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
    this.mesh.geometry.computeBoundingSphere();
  }

  private ring(station: number, centre: three.Vector3, turn: three.Quaternion, tint: three.Color): void {
    const [y, z] = this.across.map((direction) => direction.clone().applyQuaternion(turn));
    this.outline.forEach(([a, b], k) => {
      const at = station * RING + k;
      this.positions.setXYZ(at, centre.x + a * y.x + b * z.x, centre.y + a * y.y + b * z.y, centre.z + a * y.z + b * z.z);
      this.colours.setXYZ(at, tint.r, tint.g, tint.b);
    });
  }

  private tint(recording: Recording, element: number, time: number): three.Color {
    const signals = this.strains[element];
    if (!signals?.length) return this.colour;
    const size = Math.hypot(...signals.map((signal) => recording.valueAt(signal, time)));
    const part = Math.min(1, size / this.largest);
    // Blue at rest, over green and yellow, to red.
    return new three.Color().setHSL(0.62 * (1 - part), 0.75, 0.5);
  }
}

function largest(values: Float32Array): number {
  return values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
}

function outline(beam: Beam): [number, number][] {
  const [a, b] = beam.size.map((size) => size / 2);
  return Array.from({ length: RING }, (_, k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / RING;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    if (beam.round) return [a * cos, b * sin];
    const stretch = 1 / Math.max(Math.abs(cos), Math.abs(sin));
    return [a * cos * stretch, b * sin * stretch];
  });
}
