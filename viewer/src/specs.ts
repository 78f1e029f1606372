// Which plots there are: signals by group, in the order in which a user asks for them.

import type { Group, Recording, Signal } from "./data";
import { brief } from "./data";

export interface Spec {
  title: string;
  section: Section;
  signals: Signal[];
  log: boolean;
  /** The signal to the right, if that is not the time. */
  over?: Signal;
}

/** What a user asks first stands first; how the run was computed stands last. */
export const SECTIONS = ["Sensors", "Joint coordinates", "Forces", "Bodies", "Beams", "Energy", "Quality"] as const;
type Section = (typeof SECTIONS)[number];

/** Plots of a recording in the order in which they are shown. */
export function specs(recording: Recording): Spec[] {
  // Sensors of the model are recorded after the usual ones, of which the solver's are the last.
  const usual = recording.groups.findIndex((group) => group.name === "solver");
  const all = recording.groups.flatMap((group, place): Spec[] => {
    if (group.name === "energy") return energySpecs(group);
    if (group.name === "constraint") return [{ title: "Constraint residuals", section: "Quality", signals: group.signals, log: !recording.over }];
    if (group.name === "solver") return [{ title: "Steps: size, Newton iterations, steps taken back", section: "Quality", signals: group.signals, log: false }];
    const isOwn = usual >= 0 && place > usual;
    return [{ title: group.name, section: isOwn ? "Sensors" : sectionOf(recording, group), signals: group.signals, log: false }];
  });
  // Over the load factor nothing was stepped.
  const shown = recording.over ? all.filter(({ signals }) => signals[0] !== recording.over && signals[0].group.name !== "solver") : all;
  for (const spec of shown) {
    spec.over = recording.over;
    // At rest there are no rates, and most plots have something else to show.
    const resting = spec.signals.filter(({ unit }) => !/\/s(\^2)?$/.test(unit));
    if (recording.over && resting.length > 0) spec.signals = resting;
    spec.signals = [...spec.signals, ...[...recording.others.keys()].flatMap((other) => spec.signals.flatMap((signal) => recording.alike(signal).filter(({ group }) => group.run === other + 1)))];
  }
  return shown.sort((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
}

function sectionOf({ scene }: Recording, { name, signals }: Group): Section {
  const part = partOf(name);
  const among = (list: { name: string }[]): boolean => list.some((one) => one.name === part);
  if (among(scene.joints) && name === part) return "Joint coordinates";
  if (signals.every(({ unit }) => unit === "N" || unit === "Nm") || among(scene.springs) || among(scene.arrows)) return "Forces";
  if (among(scene.bodies)) return "Bodies";
  return among(scene.beams) ? "Beams" : "Sensors";
}

export function partOf(name: string): string {
  return name.split(".")[0];
}

function energySpecs(group: Group): Spec[] {
  const isBalance = (signal: Signal): boolean => signal.name === "energy.balance";
  const useful = group.signals.filter((signal) => !isBalance(signal) && signal.values.some((value) => value !== 0));
  const all: Spec[] = [
    { title: "Energy", section: "Energy", signals: useful, log: false },
    { title: "Energy balance", section: "Quality", signals: group.signals.filter(isBalance), log: false },
  ];
  return all.filter((spec) => spec.signals.length > 0);
}

/** Below this part of the largest value of its unit in the run, a signal is zero. */
export const ZERO = 1e-12;

export function largestOf({ values }: Signal): number {
  let size = 0;
  for (const value of values) size = Math.max(size, Math.abs(value) || 0);
  return size;
}

/** Whether the signals of a plot are zero throughout, as torques of ball joints are. */
export function zeroTest(recording: Recording): (spec: Spec) => boolean {
  const sizes = new Map<Signal, number>();
  const largest = new Map<string, number>();
  for (const signal of recording.signals.values()) {
    const size = largestOf(signal);
    sizes.set(signal, size);
    largest.set(signal.unit, Math.max(size, largest.get(signal.unit) ?? 0));
  }
  // A torque is small beside a force on the arm that the machine has.
  const moment = (largest.get("N") ?? 0) * (largest.get("m") ?? 0);
  if (largest.has("Nm")) largest.set("Nm", Math.max(moment, largest.get("Nm")!));
  return ({ signals, section }) => section !== "Quality" && signals.every((signal) => sizes.get(signal)! <= ZERO * largest.get(signal.unit)!);
}

/** How well the run kept what has to be kept, in a line. */
export function quality({ run }: Recording): string {
  const number = (name: string): number | null => (typeof run.statistics?.[name] === "number" ? (run.statistics[name] as number) : null);
  const [residual, balance] = [number("largest-position-residual"), number("largest-energy-balance")];
  return [residual === null ? "" : `residual up to ${brief(residual)}`, balance === null ? "" : `energy balance to ${brief(balance)} J`]
    .filter(Boolean).join(", ");
}
