// Shapes, joint symbols, springs and arrows as three.js objects. Axes of revolution are z, as in the scene.

import * as three from "three";
import type { Frame, Geometry } from "./data";

export function applyFrame(object: three.Object3D, frame: Frame): void {
  object.position.set(...frame.position);
  const [w, x, y, z] = frame.rotation;
  object.quaternion.set(x, y, z, w);
}

/** Geometry of a shape; bodies of revolution get stripes, so that their spin is seen. */
export function geometryOf(shape: Geometry): three.BufferGeometry {
  switch (shape.kind) {
    case "sphere":
      return striped(new three.SphereGeometry(shape.radius, 40, 24).rotateX(Math.PI / 2));
    case "box":
      return plain(new three.BoxGeometry(...shape.size));
    case "cylinder":
      return striped(new three.CylinderGeometry(shape.radius, shape.radius, shape.length, 48, 1).rotateX(Math.PI / 2));
    case "capsule":
      return plain(new three.CapsuleGeometry(shape.radius, shape.length, 10, 28).rotateX(Math.PI / 2));
    case "frustum": {
      const [base, top] = shape.radii;
      const cone = new three.CylinderGeometry(top, base, shape.length, 48, 1).rotateX(Math.PI / 2);
      return striped(cone.translate(0, 0, shape.length / 2));
    }
    case "mesh": {
      const mesh = new three.BufferGeometry();
      const corners = shape.triangles.flatMap((triangle) => triangle.flatMap((corner) => shape.points[corner]));
      mesh.setAttribute("position", new three.Float32BufferAttribute(corners, 3));
      mesh.computeVertexNormals();
      return plain(mesh);
    }
  }
}

function plain(geometry: three.BufferGeometry): three.BufferGeometry {
  const count = geometry.getAttribute("position").count;
  geometry.setAttribute("color", new three.Float32BufferAttribute(new Float32Array(3 * count).fill(1), 3));
  return geometry;
}

/** Two of eight sectors are darker; triangles get colours of their own, so that the border is sharp. */
function striped(source: three.BufferGeometry): three.BufferGeometry {
  const geometry = source.toNonIndexed();
  const positions = geometry.getAttribute("position");
  const colours = new Float32Array(3 * positions.count);
  for (let corner = 0; corner < positions.count; corner += 3) {
    let [x, y] = [0, 0];
    for (let k = 0; k < 3; k += 1) {
      x += positions.getX(corner + k);
      y += positions.getY(corner + k);
    }
    const sector = Math.floor(((Math.atan2(y, x) / Math.PI + 1) * 4) % 8);
    colours.fill(sector % 4 === 0 ? 0.55 : 1, 3 * corner, 3 * corner + 9);
  }
  geometry.setAttribute("color", new three.Float32BufferAttribute(colours, 3));
  return geometry;
}

/** A joint as a symbol of size one about the origin. */
export function jointSymbol(kind: string, material: three.Material): three.Group {
  const group = new three.Group();
  const add = (geometry: three.BufferGeometry): void => {
    const mesh = new three.Mesh(geometry, material);
    mesh.castShadow = true;
    group.add(mesh);
  };
  const pin = (length: number, radius = 0.35): three.BufferGeometry =>
    new three.CylinderGeometry(radius, radius, length, 24).rotateX(Math.PI / 2);
  const ring = (): three.BufferGeometry => new three.TorusGeometry(0.72, 0.16, 12, 32);
  switch (kind) {
    case "revolute":
      add(pin(1.9));
      add(ring());
      break;
    case "cylindrical":
    case "screw":
      add(pin(3.2, 0.28));
      add(ring());
      if (kind === "screw") add(ring().translate(0, 0, 0.55));
      break;
    case "prismatic":
      add(new three.BoxGeometry(0.5, 0.5, 3.4));
      add(new three.BoxGeometry(1.2, 1.2, 0.9));
      break;
    case "spherical":
      add(new three.SphereGeometry(0.75, 24, 16));
      break;
    case "universal":
      add(pin(1.9, 0.22).rotateX(Math.PI / 2));
      add(pin(1.9, 0.22).rotateY(Math.PI / 2));
      add(new three.SphereGeometry(0.36, 16, 12));
      break;
    case "planar":
      add(new three.CylinderGeometry(1.3, 1.3, 0.12, 32).rotateX(Math.PI / 2));
      break;
    case "fixed":
      add(new three.BoxGeometry(0.9, 0.9, 0.9));
      break;
    default:
      add(new three.SphereGeometry(0.5, 16, 12));
  }
  return group;
}

/** A coil of some length along z, to be stretched a little. */
export function coil(radius: number, length: number): three.BufferGeometry {
  const points: three.Vector3[] = [];
  const turns = 9;
  for (let k = 0; k <= 240; k += 1) {
    const s = k / 240;
    const inside = s > 0.1 && s < 0.9 ? 1 : Math.max(0, Math.min(s, 1 - s) / 0.1);
    const angle = 2 * Math.PI * turns * s;
    points.push(new three.Vector3(radius * inside * Math.cos(angle), radius * inside * Math.sin(angle), s * length));
  }
  return new three.TubeGeometry(new three.CatmullRomCurve3(points), 320, radius * 0.16, 8);
}

/** An arrow of length one along z. */
export class Arrow extends three.Group {
  private readonly shaft: three.Mesh;
  private readonly head: three.Mesh;

  constructor(material: three.Material, private readonly width: number) {
    super();
    this.shaft = new three.Mesh(new three.CylinderGeometry(1, 1, 1, 16).rotateX(Math.PI / 2).translate(0, 0, 0.5), material);
    this.head = new three.Mesh(new three.ConeGeometry(1, 1, 24).rotateX(Math.PI / 2).translate(0, 0, 0.5), material);
    this.add(this.shaft, this.head);
  }

  point(from: three.Vector3, vector: three.Vector3): void {
    const length = vector.length();
    this.visible = length > 1.5 * this.width;
    if (!this.visible) return;
    const head = Math.min(0.4 * length, 5 * this.width);
    this.position.copy(from);
    this.quaternion.setFromUnitVectors(new three.Vector3(0, 0, 1), vector.clone().divideScalar(length));
    this.shaft.scale.set(this.width, this.width, length - head);
    this.head.position.z = length - head;
    this.head.scale.set(2.4 * this.width, 2.4 * this.width, head);
  }
}
