// Screws between frames: log and exp of SE(3), rotation first.

import * as three from "three";

export interface Placement {
  position: three.Vector3;
  quaternion: three.Quaternion;
}

/** The screw that leads from one frame to another, seen from the first. */
export function screwBetween(from: Placement, to: Placement): { turn: three.Vector3; move: three.Vector3 } {
  const inverse = from.quaternion.clone().invert();
  const rotation = inverse.clone().multiply(to.quaternion);
  const way = to.position.clone().sub(from.position).applyQuaternion(inverse);
  const sign = rotation.w < 0 ? -1 : 1;
  const axis = new three.Vector3(rotation.x, rotation.y, rotation.z).multiplyScalar(sign);
  const sine = axis.length();
  const angle = 2 * Math.atan2(sine, sign * rotation.w);
  const turn = sine < 1e-12 ? axis.multiplyScalar(2) : axis.multiplyScalar(angle / sine);
  // The translation goes through the inverse tangent: x − ω×x/2 + c ω×(ω×x), c = (1 − (θ/2) cot(θ/2))/θ².
  const square = angle * angle;
  const c = angle < 1e-3 ? 1 / 12 + square / 720 : (1 - (angle / 2) / Math.tan(angle / 2)) / square;
  const once = turn.clone().cross(way);
  const move = way.clone().addScaledVector(once, -0.5).addScaledVector(turn.clone().cross(once), c);
  return { turn, move };
}

/** A frame some part of a screw further on. */
export function along(from: Placement, turn: three.Vector3, move: three.Vector3, part: number): Placement {
  const [w, v] = [turn.clone().multiplyScalar(part), move.clone().multiplyScalar(part)];
  const angle = w.length();
  const square = angle * angle;
  // The translation goes through the tangent: v + a ω×v + b ω×(ω×v).
  const a = angle < 1e-3 ? 0.5 - square / 24 : (1 - Math.cos(angle)) / square;
  const b = angle < 1e-3 ? 1 / 6 - square / 120 : (angle - Math.sin(angle)) / (square * angle);
  const once = w.clone().cross(v);
  const way = v.addScaledVector(once, a).addScaledVector(w.clone().cross(once), b);
  const rotation = angle < 1e-12 ? new three.Quaternion() : new three.Quaternion().setFromAxisAngle(w.divideScalar(angle), angle);
  return {
    position: way.applyQuaternion(from.quaternion).add(from.position),
    quaternion: from.quaternion.clone().multiply(rotation),
  };
}
