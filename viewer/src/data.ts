// What a run left behind, as the page holds it: numbers in base64, names as text.

export interface Frame {
  position: [number, number, number];
  rotation: [number, number, number, number];
}

export type Geometry =
  | { kind: "sphere"; radius: number }
  | { kind: "box"; size: [number, number, number] }
  | { kind: "cylinder"; radius: number; length: number }
  | { kind: "capsule"; radius: number; length: number }
  | { kind: "frustum"; radii: [number, number]; length: number }
  | { kind: "mesh"; points: [number, number, number][]; triangles: [number, number, number][] };

export type Shape = Geometry & { frame: Frame; made_up: boolean; colour?: string };

export interface Marker {
  name: string;
  frame: Frame;
}

export interface Body {
  name: string;
  node: number;
  mass: number;
  shapes: Shape[];
  markers: Marker[];
}

export interface Beam {
  name: string;
  size: [number, number];
  round: boolean;
  elements: BeamElement[];
}

/** A piece of a beam on a screw between two sections, whose axis is x. */
export interface BeamElement {
  nodes: [number | null, number | null];
  frames: [Frame, Frame];
  length: number;
  reference: number[];
}

export interface Joint {
  name: string;
  kind: string;
  nodes: [number | null, number | null];
  frames: [Frame, Frame];
}

export interface Spring {
  name: string;
  nodes: [number | null, number | null];
  points: [[number, number, number], [number, number, number]];
}

export interface Arrow {
  name: string;
  kind: "force" | "torque" | "reaction";
  node: number | null;
  point: [number, number, number];
  signal: string;
}

/** What contacts touch where no body looks like it; the plane z = 0 without a geometry. */
export interface Surface {
  name: string;
  node: number | null;
  geometry: Geometry | null;
  frame: Frame;
}

export interface SceneData {
  title: string;
  description: string;
  up: [number, number, number];
  nodes: { name: string }[];
  bodies: Body[];
  beams: Beam[];
  joints: Joint[];
  springs: Spring[];
  arrows: Arrow[];
  ground: Marker[];
  surfaces?: Surface[];
}

/** Work of the runs by which an accuracy was found. */
export interface Work {
  steps: number;
  residuals: number;
  factorisations: number;
}

export interface RunData {
  version: string;
  model: { path: string; sha256: string };
  status: string;
  message?: string;
  verdict?: string;
  accuracy?: Record<string, { error: number; size: number; quotient?: number } | Work | number | string> | null;
  "wall-time": number;
  settings: Record<string, unknown> | null;
  statistics: Record<string, unknown> | null;
  warnings: string[];
  /** The warnings as data; those with `doubt` cast doubt on the result. */
  notes?: { kind: string; text: string; doubt?: boolean }[];
  assumptions: string[];
  files: string[];
}

/** A mode of a machine: its frames lie between its number and the next. */
export interface Mode {
  frequency: number;
  "damping-ratio": number;
  real: number;
  imaginary: number;
  "dominant-part": string;
  share: number;
}

interface RawGroup {
  name: string;
  signals: { name: string; unit: string; values: string }[];
  times: string;
  error: number;
}

/** A run that is shown beside the first. */
interface RawOther {
  name: string;
  run: RunData;
  groups: RawGroup[];
}

interface RawData {
  format: number;
  run: RunData;
  scene: SceneData;
  /** The colour of each body. */
  colours: string[];
  /** What results stand over, if not over the time. */
  over?: string;
  /** What the first of several runs is called, and the others. */
  name?: string;
  others?: RawOther[];
  frames: { times: string; poses: string; "position-error": number; "rotation-error": number };
  groups: RawGroup[];
  "record-count": number;
}

export interface Signal {
  name: string;
  unit: string;
  group: Group;
  values: Float32Array;
}

export interface Group {
  name: string;
  /** Which of several runs it belongs to, counted from 0. */
  run?: number;
  times: Float64Array;
  signals: Signal[];
  error: number;
}

function bytes(text: string): ArrayBuffer {
  const letters = atob(text);
  const array = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) array[i] = letters.charCodeAt(i);
  return array.buffer;
}

/** Index of the last time that is not after `time`; 0 before the first. */
export function placeOf(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** One of several runs. */
export interface Other {
  name: string;
  run: RunData;
  groups: Group[];
}

/** Between the name of a run and that of a signal. */
const OF_RUN = ":";

/** A signal's name without that of its run. */
export function baseName({ name, group: { run } }: Signal): string {
  return run === undefined || run === 0 ? name : name.slice(name.indexOf(OF_RUN) + 1);
}

export class Recording {
  readonly run: RunData;
  readonly name: string;
  readonly others: Other[];
  /** What all signals stand over, if it is not the time; times are numbers of points then. */
  readonly over: Signal | undefined;
  readonly scene: SceneData;
  readonly colours: string[];
  readonly groups: Group[];
  readonly signals = new Map<string, Signal>();
  readonly frameTimes: Float64Array;
  readonly poses: Float32Array;
  readonly recordCount: number;
  readonly positionError: number;
  readonly rotationError: number;

  constructor(raw: RawData) {
    this.run = raw.run;
    this.scene = raw.scene;
    this.colours = raw.colours;
    this.recordCount = raw["record-count"];
    this.frameTimes = new Float64Array(bytes(raw.frames.times));
    this.poses = new Float32Array(bytes(raw.frames.poses));
    this.positionError = raw.frames["position-error"];
    this.rotationError = raw.frames["rotation-error"];
    this.groups = raw.groups.map((group) => this.group(group, 0, ""));
    this.name = raw.name ?? "";
    this.others = (raw.others ?? []).map(({ name, run, groups }, index) =>
      ({ name, run, groups: groups.map((group) => this.group(group, index + 1, `${name}${OF_RUN}`)) }));
    this.over = raw.over === undefined ? undefined : this.signals.get(raw.over);
  }

  private group(raw: RawGroup, run: number, prefix: string): Group {
    const group: Group = { name: raw.name, run, times: new Float64Array(bytes(raw.times)), signals: [], error: raw.error };
    for (const { name, unit, values } of raw.signals) {
      const signal = { name: prefix + name, unit, group, values: new Float32Array(bytes(values)) };
      group.signals.push(signal);
      this.signals.set(signal.name, signal);
    }
    return group;
  }

  /** What other runs have of a signal of the first: the same name in the same unit. */
  alike({ name, unit }: Signal): Signal[] {
    return this.others.flatMap((other) => this.signals.get(`${other.name}${OF_RUN}${name}`) ?? []).filter((signal) => signal.unit === unit);
  }

  /** From the first time of all runs to the last. */
  get span(): [number, number] {
    const times = this.others.flatMap(({ groups }) => groups.slice(0, 1).map((group) => group.times));
    return [Math.min(this.start, ...times.map((one) => one[0])), Math.max(this.end, ...times.map((one) => one[one.length - 1]))];
  }

  /** A moment in words. */
  moment(time: number, digits?: number): string {
    const write = (value: number): string => (digits === undefined ? String(Number(value.toPrecision(4))) : value.toFixed(digits));
    return this.over ? `load factor ${written(Number(this.valueAt(this.over, time).toPrecision(4)))}` : `${write(time)} s`;
  }

  static read(): Recording {
    return new Recording(JSON.parse(document.getElementById("data")!.textContent!));
  }

  /** The model's file, without the folder in which it lies. */
  get modelFile(): string {
    return this.run.model.path.split(/[\\/]/).pop() ?? "";
  }

  /** Modes in place of a motion, where these were computed. */
  get modes(): Mode[] | null {
    const modes = this.run.statistics?.modes;
    return Array.isArray(modes) && modes.length > 0 ? (modes as Mode[]) : null;
  }

  get start(): number {
    return this.frameTimes[0] ?? this.groups[0]?.times[0] ?? 0;
  }

  get end(): number {
    return this.frameTimes[this.frameTimes.length - 1] ?? this.start;
  }

  /** Value of a signal at a time, straight between points. */
  valueAt(signal: Signal, time: number): number {
    const { times } = signal.group;
    // Runs may be of different lengths, and none has values beyond its end.
    if (this.others.length > 0 && !(time >= times[0] && time <= times[times.length - 1])) return NaN;
    const at = placeOf(times, time);
    const value = signal.values[at];
    if (at + 1 >= times.length || time <= times[at]) return value;
    const part = (time - times[at]) / (times[at + 1] - times[at]);
    return value + part * (signal.values[at + 1] - value);
  }

  /** A signal by its name; the only rate of a joint may be called `rate` alone: `crank.rate` is `crank.angle-rate`. */
  signal(name: string): Signal | undefined {
    const known = this.signals.get(name);
    if (known || !name.endsWith(".rate")) return known;
    const joint = name.slice(0, -"rate".length);
    const isRate = (other: string): boolean => other.startsWith(joint) && other.endsWith("-rate") && !other.includes(".", joint.length);
    const rates = [...this.signals.values()].filter((signal) => isRate(signal.name));
    return rates.length === 1 ? rates[0] : undefined;
  }

  /** The three signals of a vector, if all are recorded. */
  vector(name: string): [Signal, Signal, Signal] | undefined {
    const found = ["x", "y", "z"].map((axis) => this.signals.get(`${name}.${axis}`));
    return found.every(Boolean) ? (found as [Signal, Signal, Signal]) : undefined;
  }
}

/** What stands for a value where there is none. */
export const NONE = "–";

/** A number as people read it: six digits, no noise. */
export function written(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(4) : Number(value.toPrecision(6)).toString();
  return text.replace("-", "−").replace("e−", "e-");
}

/** Two digits of a number. */
export function brief(value: number): string {
  const size = Math.abs(value);
  return size === 0 || (size >= 1e-3 && size < 1e5) ? written(Number(value.toPrecision(2))) : value.toExponential(1).replace(/^-/, "−");
}

export function unitText(unit: string): string {
  return unit === "1" ? "" : unit.replace("^2", "²");
}
