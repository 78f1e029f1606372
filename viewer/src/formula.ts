// Arithmetic of signals: `a.force.x + 2*b.force.x`, `norm(tip.force)`, `motor.torque.z * a.angle-rate`.
//
//     sum     = product { ("+" | "-") product }
//     product = sign { ("*" | "/") sign }
//     sign    = ("+" | "-") sign | power
//     power   = atom [ "^" sign ]
//     atom    = number | signal | "t" | "pi" | function "(" sum { "," sum } ")" | "(" sum ")"
//
// Names hold hyphens and dots, so that the longest known name is taken. Units are reckoned along; plain numbers
// take the unit of what they are added to.

import type { Group, Recording, Signal } from "./data";

/** Why a formula is none; with a name that nobody knows, that name and those that are known in its place. */
export class FormulaError extends Error {
  constructor(message: string, readonly unknown?: string, readonly known: string[] = []) {
    super(message);
  }
}

/** Exponents of units; absent for plain numbers. */
type Unit = Map<string, number> | undefined;

interface Term {
  unit: Unit;
  at: (time: number) => number;
}

const FUNCTIONS: Record<string, { count: number; of: (...values: number[]) => number; keeps?: boolean }> = {
  abs: { count: 1, of: Math.abs, keeps: true }, min: { count: 2, of: Math.min, keeps: true }, max: { count: 2, of: Math.max, keeps: true },
  sqrt: { count: 1, of: Math.sqrt }, sin: { count: 1, of: Math.sin }, cos: { count: 1, of: Math.cos }, tan: { count: 1, of: Math.tan },
  asin: { count: 1, of: Math.asin }, acos: { count: 1, of: Math.acos }, atan: { count: 1, of: Math.atan }, atan2: { count: 2, of: Math.atan2 },
  exp: { count: 1, of: Math.exp }, log: { count: 1, of: Math.log },
};

const CONSTANTS = ["t", "time", "pi"];

/** The signal that a formula describes; a recorded one if it is nothing but its name. */
export function evaluate(text: string, recording: Recording): Signal {
  const known = recording.signal(text.trim());
  if (known) return known;
  const parser = new Parser(text, recording);
  const { unit, at } = parser.whole();
  if (parser.groups.size === 0) throw new FormulaError("a formula needs a signal");
  const groups = [...parser.groups];
  // Runs may be of different lengths: outside of what they share there are no values.
  const [start, end] = [Math.max(...groups.map(({ times: [first] }) => first)), Math.min(...groups.map(({ times: all }) => all[all.length - 1]))];
  const times = commonTimes(groups).filter((time) => time >= start && time <= end);
  if (times.length === 0) throw new FormulaError("these signals have no time in common");
  const group: Group = { name: "", times, signals: [], error: Math.max(...[...parser.groups].map(({ error }) => error)) };
  const signal = { name: text.trim(), unit: unitName(unit), group, values: Float32Array.from(times, at) };
  group.signals.push(signal);
  return signal;
}

/** All times of some groups, each once. */
export function commonTimes(groups: Group[]): Float64Array {
  if (groups.length === 1) return groups[0].times;
  const all = Float64Array.from(groups.flatMap((group) => Array.from(group.times))).sort();
  return all.filter((time, index) => index === 0 || time > all[index - 1]);
}

class Parser {
  readonly groups = new Set<Group>();
  private place = 0;

  constructor(private readonly text: string, private readonly recording: Recording) {}

  whole(): Term {
    const term = this.sum();
    this.skip();
    if (this.place < this.text.length) throw new FormulaError(`what is “${this.text.slice(this.place)}”?`);
    return term;
  }

  private sum(): Term {
    let left = this.product();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-")) {
      const [first, second, factor] = [left, this.product(), sign === "+" ? 1 : -1];
      left = { unit: same(first.unit, second.unit, "added"), at: (time) => first.at(time) + factor * second.at(time) };
    }
    return left;
  }

  private product(): Term {
    let left = this.sign();
    for (let sign = this.take("*", "/", "·"); sign; sign = this.take("*", "/", "·")) {
      const [first, second] = [left, this.sign()];
      left = sign === "/"
        ? { unit: times(first.unit, second.unit, -1), at: (time) => first.at(time) / second.at(time) }
        : { unit: times(first.unit, second.unit, 1), at: (time) => first.at(time) * second.at(time) };
    }
    return left;
  }

  private sign(): Term {
    const sign = this.take("+", "-", "−");
    if (!sign) return this.power();
    const { unit, at } = this.sign();
    return sign === "+" ? { unit, at } : { unit, at: (time) => -at(time) };
  }

  private power(): Term {
    const base = this.atom();
    if (!this.take("^")) return base;
    const exponent = this.sign();
    if (exponent.unit) throw new FormulaError("an exponent is a plain number");
    const value = exponent.at(0);
    return { unit: base.unit && times(undefined, base.unit, value), at: (time) => base.at(time) ** exponent.at(time) };
  }

  private atom(): Term {
    if (this.take("(")) {
      const inner = this.sum();
      this.expect(")");
      return inner;
    }
    const number = /^(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/.exec(this.rest())?.[0];
    if (number) {
      this.place += number.length;
      return { unit: undefined, at: () => Number(number) };
    }
    const name = this.name();
    const signal = this.recording.signal(name);
    if (signal) return this.signal(signal);
    if (name === "t" || name === "time") return { unit: new Map([["s", 1]]), at: (time) => time };
    if (name === "pi") return { unit: undefined, at: () => Math.PI };
    if (this.take("(")) return this.call(name);
    if (this.recording.vector(name)) throw new FormulaError(`${name} is a vector; there are ${name}.x and norm(${name})`);
    throw new FormulaError(`there is no signal ${name}`, name, [...this.recording.signals.keys()]);
  }

  private signal(signal: Signal): Term {
    this.groups.add(signal.group);
    return { unit: parsedUnit(signal.unit), at: (time) => this.recording.valueAt(signal, time) };
  }

  private call(name: string): Term {
    if (name === "norm") {
      const vector = this.name();
      const parts = this.recording.vector(vector)?.map((signal) => this.signal(signal));
      if (!parts) {
        const known = [...this.recording.signals.keys()].filter((signal) => signal.endsWith(".x")).map((signal) => signal.slice(0, -2));
        throw new FormulaError(`there is no vector ${vector}`, vector, known.filter((one) => this.recording.vector(one)));
      }
      this.expect(")");
      return { unit: parts[0].unit, at: (time) => Math.hypot(...parts.map((part) => part.at(time))) };
    }
    const called = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!called) throw new FormulaError(`there is no function ${name}; there are norm, ${Object.keys(FUNCTIONS).join(", ")}`);
    const values = [this.sum()];
    while (this.take(",")) values.push(this.sum());
    this.expect(")");
    if (values.length !== called.count) throw new FormulaError(`${name} takes ${called.count === 1 ? "one value" : `${called.count} values`}`);
    let unit: Unit = new Map();
    if (called.keeps) unit = values.map((value) => value.unit).reduce((a, b) => same(a, b, "compared"));
    if (name === "sqrt") unit = values[0].unit && times(undefined, values[0].unit, 0.5);
    if (name === "atan2") same(values[0].unit, values[1].unit, "compared");
    return { unit, at: (time) => called.of(...values.map((value) => value.at(time))) };
  }

  /** The longest known name that stands here, else the whole word. */
  private name(): string {
    const rest = this.rest();
    const word = /^[\p{L}_][\p{L}\p{N}_.:-]*/u.exec(rest)?.[0].replace(/[.:-]+$/, "");
    if (!word) throw new FormulaError(rest === "" ? "the formula ends too early" : `what is “${rest}”?`);
    let name = word;
    for (let end = word.length; end > 0; end = Math.max(word.lastIndexOf("-", end - 1), word.lastIndexOf(".", end - 1))) {
      const part = word.slice(0, end);
      if (CONSTANTS.includes(part) || this.recording.signal(part) || this.recording.vector(part)) {
        name = part;
        break;
      }
    }
    this.place += name.length;
    return name;
  }

  private skip(): void {
    while (/\s/.test(this.text[this.place] ?? "")) this.place += 1;
  }

  private rest(): string {
    this.skip();
    return this.text.slice(this.place);
  }

  private take(...letters: string[]): string | undefined {
    this.skip();
    const letter = letters.find((one) => one === this.text[this.place]);
    if (letter) this.place += 1;
    return letter;
  }

  private expect(letter: string): void {
    if (!this.take(letter)) throw new FormulaError(`a “${letter}” is missing`);
  }
}

function parsedUnit(text: string): Map<string, number> {
  const unit = new Map<string, number>();
  text.split("/").forEach((side, index) => {
    for (const word of side.replace(/^Nm\b/, "N·m").split(/[·* ]+/)) {
      const [, name, power] = /^(.*?)(?:\^(-?[\d.]+))?$/.exec(word)!;
      if (name !== "" && name !== "1") unit.set(name, (unit.get(name) ?? 0) + (index === 0 ? 1 : -1) * Number(power ?? 1));
    }
  });
  return unit;
}

function times(first: Unit, second: Unit, power: number): Unit {
  if (!first && !second) return undefined;
  const unit = new Map(first);
  for (const [name, exponent] of second ?? []) unit.set(name, (unit.get(name) ?? 0) + power * exponent);
  return new Map([...unit].filter(([, exponent]) => exponent !== 0));
}

function same(first: Unit, second: Unit, verb: string): Unit {
  if (!first || !second) return first ?? second;
  const [a, b] = [unitName(first), unitName(second)];
  if (a !== b) throw new FormulaError(`${a} and ${b} cannot be ${verb}`);
  return first;
}

function unitName(unit: Unit): string {
  const words = [...(unit ?? [])].sort(([a], [b]) => (a === "N" ? -1 : b === "N" ? 1 : a < b ? -1 : 1));
  const side = (sign: number): string => words.filter(([, exponent]) => sign * exponent > 0)
    .map(([name, exponent]) => (sign * exponent === 1 ? name : `${name}^${sign * exponent}`)).join("·");
  const [above, below] = [side(1), side(-1)];
  return `${(above || "1").replace(/^N·m$/, "Nm")}${below && `/${below}`}`;
}
