// The run's facts: model, settings, statistics, warnings, versions.

import type { Other, Recording, RunData, Signal } from "./data";
import { baseName, written } from "./data";
import { el, prose } from "./dom";

export function facts(recording: Recording, box: HTMLElement): void {
  const { run, scene } = recording;
  const cards: HTMLElement[] = [];
  const card = (title: string, rows: [string, string][]): void => {
    const shown = rows.filter(([, text]) => text !== "");
    if (shown.length === 0) return;
    cards.push(el("article", { class: "card fact" }, el("h3", {}, title),
      el("dl", {}, ...shown.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, ...prose(text))]))));
  };
  const notes = (title: string, texts: string[], kind: string): void => {
    if (texts.length === 0) return;
    cards.push(el("article", { class: `card fact ${kind}` }, el("h3", {}, title), el("ul", {}, ...texts.map((text) => el("li", {}, ...prose(text))))));
  };
  recording.others.forEach((other) => { beside(recording, other, card, notes); });
  if (run.message) notes("Why it ended", [run.message], "bad");
  notes("Warnings", run.warnings, "warn");
  card("Accuracy", accuracy(run.accuracy ?? {}));
  card("Model", [
    ["file", recording.modelFile], ["SHA-256", run.model.sha256],
    ["bodies", String(scene.bodies.length)], ["joints", String(scene.joints.length)],
    ["beams", scene.beams.length ? String(scene.beams.length) : ""],
  ]);
  card("Settings", entries(run.settings));
  // Modes have a list of their own.
  const { modes: _, overdamped: __, reactions, ...statistics } = run.statistics ?? {};
  if (Array.isArray(reactions)) {
    const rows = (reactions as Reaction[]).slice(0, MOST_REACTIONS).map(({ joint, force, torque }): [string, string] => [joint, `force ${triple(force)} N, torque ${triple(torque)} Nm`]);
    const more = reactions.length - rows.length;
    card("Reactions", more > 0 ? [...rows, ["…", `${more} more in static.json`]] : rows);
  }
  card("Statistics", [...entries(statistics), ["wall time", `${written(run["wall-time"])} s`]]);
  notes("Assumed", run.assumptions, "");
  card("This page", [
    ["made by", `Kreisel ${run.version}`], ["curves", recording.modes ? "" : thinning(recording)], ["motion", recording.modes ? "" : motion(recording)],
    ["full data", `${recording.modes ? "modes.csv, mode-shapes.csv and modes.vtkhdf" : recording.over ? "static.csv and static.vtkhdf" : "trajectory.csv and trajectory.vtkhdf"} in the folder${recording.others.length > 0 ? `s of the runs, ${[recording.name, ...recording.others.map(({ name }) => name)].join(", ")}` : " of the results"}`],
  ]);
  box.append(...cards);
}

/** Reactions that a list shows, at most. */
const MOST_REACTIONS = 40;

interface Reaction {
  joint: string;
  force: number[];
  torque: number[];
}

const triple = (numbers: number[]): string => `(${numbers.map((value) => written(Number(value.toPrecision(4)))).join(", ")})`;

/** What a run beside the first differs in, and which signals only one of the two has. */
function beside(recording: Recording, { name, run, groups }: Other, card: (title: string, rows: [string, string][]) => void,
  notes: (title: string, texts: string[], kind: string) => void): void {
  const [own, other] = [recording.run.settings ?? {}, run.settings ?? {}].map((settings) => new Map(entries(settings)));
  const differing = [...new Set([...own.keys(), ...other.keys()])].filter((key) => own.get(key) !== other.get(key));
  card(`${recording.name} and ${name}`, [
    ["model", run.model.sha256 === recording.run.model.sha256 ? "the same file" : `${recording.modelFile} and ${run.model.path.split(/[\\/]/).pop() ?? ""}, which differ`],
    [`${name} ended`, run.message ?? run.status],
    ...differing.map((key): [string, string] => [key, `${own.get(key) || "none"} and ${other.get(key) || "none"}`]),
  ]);
  const signals = groups.flatMap((group) => group.signals);
  const first = recording.groups.flatMap((group) => group.signals);
  const only = (which: string, list: Signal[]): void => notes(`Signals that only ${which} has`, list.length > MOST_NAMES ? [...list.slice(0, MOST_NAMES).map(baseName), `and ${list.length - MOST_NAMES} more`] : list.map(baseName), "only");
  only(recording.name, first.filter((signal) => !recording.alike(signal).some(({ group }) => groups.includes(group))));
  const shared = new Set(first.flatMap((signal) => recording.alike(signal)));
  only(name, signals.filter((signal) => !shared.has(signal)));
  notes(`Warnings of ${name}`, run.warnings, "warn");
}

/** Signals that a list names, at most. */
const MOST_NAMES = 60;

function entries(values: Record<string, unknown> | null): [string, string][] {
  return Object.entries(values ?? {}).map(([name, value]) => [
    name.replaceAll("-", " "),
    value === null ? "" : typeof value === "number" ? written(value) : Array.isArray(value) && value.every((one) => typeof one === "number") ? value.map(written).join(", ") : typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
}

const UNITS: Record<string, string> = {
  positions: "m", angles: "rad", velocities: "m/s", "angular-velocities": "rad/s", forces: "N", torques: "N m", "resolved-until": "s",
  "filtered-over": "s", growth: "1/s",
};

/** The unit of a quantity, of its means and peaks, and of what a filter leaves of it. */
const unitOf = (name: string): string => UNITS[name] ?? UNITS[name.replace(/^(mean|peak|filtered)-/, "")] ?? "";

/** Estimated errors, each beside the size of its quantity, and the work that they took. */
function accuracy(found: NonNullable<RunData["accuracy"]>): [string, string][] {
  return Object.entries(found).map(([name, value]) => [
    name.replaceAll("-", " "),
    typeof value === "string"
      ? value
      : typeof value === "number"
        ? `${written(value)} ${unitOf(name)}`
        : "error" in value
          ? `± ${written(value.error)} of ${written(value.size)} ${unitOf(name)}`
          : Object.entries(value).map(([what, count]) => `${count} ${what}`).join(", "),
  ]);
}

function thinning(recording: Recording): string {
  const worst = Math.max(0, ...recording.groups.map((group) => group.error));
  const all = `${recording.recordCount} ${recording.over ? "equilibria" : "output times"}`;
  return worst === 0 ? `all ${all}, in single precision` : `thinned from ${all}: within ${written(100 * worst)} % of each curve's range`;
}

function motion(recording: Recording): string {
  const frames = recording.frameTimes.length;
  if (frames === recording.recordCount) return `all ${frames} ${recording.over ? "equilibria" : "output times"}`;
  return `${frames} of ${recording.recordCount} output times: paths within ${written(recording.positionError)} m and ${written(recording.rotationError)} rad`;
}
