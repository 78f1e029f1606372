// One plot: signals over time, their spectrum, or signals over another signal, with the numbers of what is seen.

import uPlot from "uplot";
import type { Clock } from "./clock";
import type { Group, Recording, Signal } from "./data";
import { baseName, NONE, unitText, written } from "./data";
import { download, el } from "./dom";
import { commonTimes } from "./formula";
import { chartHeight, decades, isPower, LEAST, padded, tick } from "./scales";
import { largestOf, type Spec, ZERO } from "./specs";
import { common, type Spectrum, spectrum, summary } from "./window";

/** Okabe and Ito, lighter where the page is dark. */
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#2aa1d8", "#5b5f66"];
const DARK = ["#5aa9e6", "#ff8a4c", "#3ecf9f", "#f099c4", "#e9c14b", "#7fd3ff", "#aab2bd"];

/** What plots have in common. */
export interface Host {
  readonly dark: boolean;
  /** The stretch of time that is seen. */
  readonly range: [number, number];
  zoomed(source: Plot, low: number | null, high: number | null): void;
}

type View = "time" | "spectrum" | "over";

/** Lines of the first run, and of those beside it. */
const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export class Plot {
  readonly card: HTMLElement;
  private chart?: uPlot;
  private lines?: Spectrum;
  private readonly holder = el("div", { class: "chart" });
  private readonly note = el("p", { class: "note", hidden: true });
  private readonly head = el("tr", {});
  private readonly cells: HTMLElement[][] = [];
  private readonly marks: HTMLElement[];
  private readonly cursorLine = el("div", { class: "now", "aria-hidden": "true", hidden: true });
  private readonly hidden = new Set<number>();
  private readonly spectrumButton: HTMLButtonElement;
  private pointer: number | null = null;
  private stale = false;
  private isSpectrum = false;
  /** For each signal the number of its colour, which it shares with those of the same name in other runs. */
  private readonly tints: number[];
  /** Largest size of each unit's signals; what is tiny beside it is round-off. */
  private readonly largest = new Map<string, number>();
  visible = false;

  constructor(
    readonly spec: Spec,
    private readonly recording: Recording,
    private readonly clock: Clock,
    private readonly host: Host,
    tools: HTMLElement[] = [],
  ) {
    for (const signal of spec.signals) this.largest.set(signal.unit, Math.max(this.largest.get(signal.unit) ?? 0, largestOf(signal)));
    const bases = [...new Set(spec.signals.map(baseName))];
    this.tints = spec.signals.map((signal) => bases.indexOf(baseName(signal)) % LIGHT.length);
    this.marks = spec.over ? this.tints.map((tint) => el("div", { class: `mark s${tint}`, "aria-hidden": "true" })) : [];
    const name = spec.title || "your plot";
    this.spectrumButton = el("button", { type: "button", class: "small", "aria-pressed": "false", title: "Amplitudes over frequency, of the time that is seen", "aria-label": `Spectrum of ${name}`,
      click: () => this.setSpectrum(!this.isSpectrum) }, "Spectrum");
    this.card = el("article", { class: "card plot", "aria-label": `Plot of ${spec.title || "your choice"}` },
      el("header", {}, el("h3", {}, spec.title || "Compare"), el("span", { class: "tools" },
        ...(spec.log || spec.over ? [] : [this.spectrumButton]),
        el("button", { type: "button", class: "small", title: "Save these curves as CSV", "aria-label": `Save ${name} as CSV`, click: () => this.saveCsv() }, "CSV"),
        ...tools)),
      this.holder, this.note,
      el("table", { class: "legend" }, el("thead", {}, this.head), el("tbody", {}, ...spec.signals.map((signal, index) => this.row(signal, index)))));
    this.holder.append(this.cursorLine);
    this.holder.setAttribute("role", "img");
    this.holder.setAttribute("aria-label", this.summary());
    this.writeHead();
  }

  private row(signal: Signal, index: number): HTMLElement {
    const { title } = this.spec;
    const name = baseName(signal);
    const short = title !== "" && name.toLowerCase().startsWith(`${title.toLowerCase()}.`) ? name.slice(title.length + 1) : name;
    const run = signal.group.run ?? 0;
    const runName = this.recording.others.length > 0 && signal.group.run !== undefined ? (this.recording.others[run - 1]?.name ?? this.recording.name) : "";
    const button = el("button", { type: "button", class: "name", "aria-pressed": "true", title: `${signal.name}: show or hide`, click: () => this.toggle(index, button) },
      el("i", { class: `swatch s${this.tints[index]} r${run % DASHES.length}` }), el("span", {}, short), el("small", {}, [unitText(signal.unit), runName].filter(Boolean).join(", ")));
    const cells = Array.from({ length: 5 }, (_, column) => el("td", { class: column === 0 ? "value" : "" }));
    this.cells.push(cells);
    return el("tr", { class: "series", "data-signal": signal.name }, el("th", { scope: "row" }, button), ...cells);
  }

  private get view(): View {
    return this.spec.over ? "over" : this.isSpectrum ? "spectrum" : "time";
  }

  private writeHead(): void {
    const words = this.view === "spectrum" ? ["here", "peak", "at Hz", "", ""] : this.recording.over ? ["now", "min", "max", "", ""] : ["now", "min", "max", "mean", "RMS"];
    this.head.replaceChildren(el("td", {}), ...words.map((word) => el("th", { scope: "col" }, word)));
  }

  private summary(): string {
    const words = this.spec.signals.map((signal) => {
      let [low, high] = [Infinity, -Infinity];
      for (const value of signal.values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
      return `${signal.name} from ${written(low)} to ${written(high)} ${unitText(signal.unit)}`;
    });
    return `Curves over ${this.spec.over?.name ?? "time"}: ${words.join("; ")}`;
  }

  private toggle(index: number, button: HTMLButtonElement): void {
    const shown = this.hidden.delete(index);
    if (!shown) this.hidden.add(index);
    button.setAttribute("aria-pressed", String(shown));
    this.chart?.setSeries(this.ordered().indexOf(this.spec.signals[index]) + 1, { show: shown });
    this.placeNow();
    // The window of a spectrum is that of the curves that are shown.
    if (this.view === "spectrum" && this.chart) this.draw();
  }

  setSpectrum(wanted: boolean): void {
    this.isSpectrum = wanted;
    this.spectrumButton.setAttribute("aria-pressed", String(wanted));
    this.pointer = null;
    this.writeHead();
    this.draw();
    if (!wanted) this.zoom(...this.host.range);
  }

  private saveCsv(): void {
    const label = (signal: Signal): string => (/[",]/.test(signal.name) ? `"${signal.name.replaceAll('"', '""')} [${signal.unit}]"` : `${signal.name} [${signal.unit}]`);
    let [head, table]: [string[], ArrayLike<number | null>[]] = [[], []];
    if (this.view === "spectrum" && this.lines)
      [head, table] = [["frequency [Hz]", ...this.spec.signals.map(label)], [this.lines.frequencies, ...this.lines.amplitudes]];
    else {
      const signals = this.spec.over ? [this.spec.over, ...this.spec.signals] : this.ordered();
      const times = Array.from(commonTimes([...new Set(signals.map((signal) => signal.group))]));
      [head, table] = [[this.recording.over ? "point" : "time [s]", ...signals.map(label)],
        [times, ...(this.spec.over ? signals.map((signal) => times.map((time) => this.recording.valueAt(signal, time))) : this.data().slice(1) as (number | null)[][])]];
    }
    const rows = Array.from(table[0], (_, row) => table.map((column) => column[row] ?? "").join(","));
    const name = (this.spec.title || "plot").replace(/[^A-Za-z0-9._-]+/g, "-");
    download(`${name}${this.view === "spectrum" ? "-spectrum" : ""}.csv`, new Blob([`${[head.join(","), ...rows].join("\n")}\n`], { type: "text/csv" }));
  }

  /** Signals over their times. */
  private data(): uPlot.AlignedData {
    const shown = (signal: Signal): (number | null)[] =>
      Array.from(signal.values, (value) => (Number.isFinite(value) && !(this.spec.log && value < LEAST) ? value : null));
    const groups = new Map<Group, Signal[]>();
    for (const signal of this.spec.signals) groups.set(signal.group, [...(groups.get(signal.group) ?? []), signal]);
    const tables = [...groups].map(([group, signals]) => [Array.from(group.times), ...signals.map(shown)] as uPlot.AlignedData);
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  /** Signals over another one, within the time that is seen. */
  private pairs(over: Signal): [number[], number[]][] {
    const [from, to] = this.host.range;
    return this.spec.signals.map((signal) => {
      const inside = commonTimes([...new Set([over.group, signal.group])]).filter((time) => time > from && time < to);
      const times = [from, ...inside, to];
      return [times.map((time) => this.recording.valueAt(over, time)), times.map((time) => this.recording.valueAt(signal, time))];
    });
  }

  /** Signals in the order of the data: those of a group together. */
  private ordered(): Signal[] {
    const groups = [...new Set(this.spec.signals.map((signal) => signal.group))];
    return this.view === "time" ? groups.flatMap((group) => this.spec.signals.filter((signal) => signal.group === group)) : this.spec.signals;
  }

  draw(): void {
    this.stale = false;
    this.chart?.destroy();
    this.note.hidden = this.view !== "spectrum";
    this.chart = new uPlot(this.options(), this.chartData(), this.holder);
    this.listen(this.chart.over);
    this.chart.over.append(this.cursorLine, ...this.marks);
    if (this.view === "spectrum" && this.lines) this.chart.setScale("x", { min: 0, max: interesting(this.lines) });
    this.placeNow();
    this.showSummary();
    this.showValues();
  }

  private chartData(): uPlot.AlignedData {
    if (this.spec.over) return [null, ...this.pairs(this.spec.over)] as unknown as uPlot.AlignedData;
    if (this.view === "time") return this.data();
    const { signals } = this.spec;
    const shown = signals.filter((_, index) => !this.hidden.has(index));
    const [from, to] = common(shown, ...this.host.range);
    this.lines = spectrum(this.recording, signals, from, to);
    const [start, end] = this.host.range;
    const window = `Hann window from ${written(from)} s to ${written(to)} s${from > start || to < end ? ", where all curves have values" : ""}, mean removed`;
    const lacking = this.lines.amplitudes.some((one, index) => !this.hidden.has(index) && Number.isNaN(one[0])) ? " A curve that has no values there, or gaps, has no spectrum." : "";
    this.note.textContent = `${window}, ${this.lines.points} points: resolution ${written(Number(this.lines.resolution.toPrecision(4)))} Hz.${lacking}`.replace(/(\d) (Hz|s)\b/g, "$1\u00a0$2");
    return [Array.from(this.lines.frequencies), ...this.lines.amplitudes.map((one) => Array.from(one, (value) => (Number.isNaN(value) ? null : value)))];
  }

  private options(): uPlot.Options {
    const style = getComputedStyle(document.documentElement);
    const [ink, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
    const colours = this.host.dark ? DARK : LIGHT;
    const { signals, log, over } = this.spec;
    const view = this.view;
    const units = [...new Set(signals.map((signal) => signal.unit))];
    const scale = (unit: string): string => `y ${unit}`;
    const font = "11px system-ui, sans-serif";
    const axis = (unit: string, index: number): uPlot.Axis => ({
      scale: scale(unit), side: index === 0 ? 3 : 1, stroke: ink, font, size: 52, gap: 4, space: 22,
      grid: { show: index === 0, stroke: line, width: 1, filter: (_, marks) => marks.map((mark) => (log && !isPower(mark) ? null : mark)) }, ticks: { stroke: line, width: 1, size: 4 },
      label: unitText(unit) || undefined, labelFont: font, labelSize: 14, labelGap: 0,
      values: (_, marks) => marks.map((mark) => (mark === null ? "" : tick(mark, log))),
    });
    const below = over ? `${over.name}${unitText(over.unit) && ` [${unitText(over.unit)}]`}` : view === "spectrum" ? "frequency [Hz]" : "time [s]";
    return {
      width: Math.max(160, this.holder.clientWidth), height: chartHeight(),
      mode: over ? 2 : 1,
      legend: { show: false },
      padding: [8, units.length > 1 ? 0 : 12, 0, 0],
      cursor: over ? { x: false, y: false, points: { show: false }, dataIdx: () => null as unknown as number, drag: { x: true, y: true, setScale: true } }
        : { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: true }, ...(view === "time" ? { sync: { key: "kreisel", scales: ["x", null] } } : {}) },
      scales: { x: { time: false, ...(over ? { range: padded } : {}) }, ...Object.fromEntries(units.map((unit) => [scale(unit), { distr: log ? 3 : 1, range: log ? decades : padded }])) },
      series: [{}, ...this.ordered().map((signal) => ({
        label: signal.name, scale: scale(signal.unit), stroke: colours[this.tints[signals.indexOf(signal)]],
        width: 1.6, dash: DASHES[(signal.group.run ?? 0) % DASHES.length], points: { show: false }, spanGaps: log || signals.some((other) => other.group !== signal.group),
        show: !this.hidden.has(signals.indexOf(signal)),
        ...(over ? { facets: [{ scale: "x", auto: true }, { scale: scale(signal.unit), auto: true }], paths: path } : {}),
      }))],
      axes: [{ stroke: ink, font, size: 26, gap: 2, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 },
        label: below, labelFont: font, labelSize: 13, labelGap: 0,
        values: (_, marks) => marks.map((mark) => tick(mark, false)) }, ...units.slice(0, 3).map(axis)],
      hooks: {
        setCursor: [(chart) => {
          if (over) return;
          const left = chart.cursor.left ?? -1;
          this.pointer = left >= 0 ? chart.posToVal(left, "x") : null;
          this.showValues();
        }],
        setScale: [(chart, key) => {
          if (key === "x" && view === "time") {
            this.host.zoomed(this, chart.scales.x.min ?? null, chart.scales.x.max ?? null);
            this.showSummary();
          }
          this.placeNow();
        }],
        setSize: [() => this.placeNow()],
      },
    };
  }

  /** A click where nothing is dragged sets the time. */
  private listen(over: HTMLElement): void {
    let down = 0;
    over.addEventListener("pointerdown", (event) => { down = event.clientX; });
    over.addEventListener("pointerup", (event) => {
      if (this.view === "time" && Math.abs(event.clientX - down) < 4 && this.pointer !== null) this.clock.set(this.pointer);
    });
  }

  /** Leaves the page; a chart that stayed in the group of cursors would be asked for values. */
  remove(): void {
    this.chart?.destroy();
    this.chart = undefined;
    this.card.remove();
  }

  get isDrawn(): boolean {
    return this.chart !== undefined;
  }

  /** Shows another stretch of time. */
  zoom(low: number, high: number): void {
    if (!this.chart) return;
    if (this.view === "time") {
      const { x } = this.chart.scales;
      if (x.min !== low || x.max !== high) this.chart.setScale("x", { min: low, max: high });
    } else if (!this.stale) {
      // Many zooms of others in one picture are one here.
      this.stale = true;
      requestAnimationFrame(() => { if (this.stale && this.chart) this.draw(); });
    }
  }

  resize(): void {
    const [width, height] = [Math.max(160, this.holder.clientWidth), chartHeight()];
    if (this.chart && (Math.abs(this.chart.width - width) > 1 || this.chart.height !== height)) this.chart.setSize({ width, height });
  }

  setTime(): void {
    this.placeNow();
    this.showValues();
  }

  private placeNow(): void {
    const chart = this.chart;
    if (!chart) return;
    const { min, max } = chart.scales.x;
    const inside = this.view === "time" && min != null && max != null && this.clock.time >= min && this.clock.time <= max;
    this.cursorLine.hidden = !inside;
    if (inside) this.cursorLine.style.transform = `translateX(${chart.valToPos(this.clock.time, "x").toFixed(1)}px)`;
    const { over, signals } = this.spec;
    this.marks.forEach((mark, index) => {
      const [x, y] = [over!, signals[index]].map((signal) => this.recording.valueAt(signal, this.clock.time));
      mark.hidden = this.hidden.has(index) || !Number.isFinite(x + y);
      if (!mark.hidden) mark.style.transform = `translate(${chart.valToPos(x, "x").toFixed(1)}px, ${chart.valToPos(y, `y ${signals[index].unit}`).toFixed(1)}px)`;
    });
  }

  private showValues(): void {
    const { lines } = this;
    this.spec.signals.forEach((signal, index) => {
      const cell = this.cells[index][0];
      if (this.view !== "spectrum") cell.textContent = this.words(signal, this.recording.valueAt(signal, this.pointer ?? this.clock.time));
      else cell.textContent = this.pointer === null || !lines ? "" : short(lines.amplitudes[index][Math.round(this.pointer / lines.resolution)] ?? 0);
    });
    this.card.classList.toggle("hovered", this.pointer !== null);
  }

  private words(signal: Signal, value: number): string {
    return longer(Math.abs(value) <= ZERO * this.largest.get(signal.unit)! ? 0 : value);
  }

  /** Numbers of the time that is seen. */
  private showSummary(): void {
    const [from, to] = this.host.range;
    this.spec.signals.forEach((signal, index) => {
      const [, ...cells] = this.cells[index];
      let values: number[];
      if (this.view === "spectrum" && this.lines) {
        const amplitudes = this.lines.amplitudes[index];
        // Beside the mean, which leaks into the first line.
        const peak = amplitudes.reduce((best, value, k) => (k > 0 && value > amplitudes[best] ? k : best), 1);
        const size = amplitudes[peak] ?? 0;
        values = [size, Number.isNaN(size) ? NaN : peak * this.lines.resolution];
      } else {
        const { min, max, mean, rms } = summary(this.recording, signal, from, to);
        const noise = ZERO * this.largest.get(signal.unit)!;
        values = (this.recording.over ? [min, max] : [min, max, mean, rms]).map((value) => (Math.abs(value) <= noise ? 0 : value));
      }
      cells.forEach((cell, column) => {
        cell.textContent = column < values.length ? short(values[column]) : "";
        cell.title = column < values.length && !Number.isNaN(values[column]) ? written(values[column]) : "";
      });
    });
  }
}

/** The frequency up to which there is something to be seen; a double click shows all. */
function interesting({ amplitudes, frequencies, resolution }: Spectrum): number {
  const last = Math.max(...amplitudes.map((values) => {
    const least = 0.01 * values.reduce((most, value) => Math.max(most, value), 0);
    return values.findLastIndex((value) => value > least);
  }));
  return Math.min(frequencies[frequencies.length - 1], Math.max(16, 1.4 * last) * resolution);
}

/** Digits for a narrow column: fewer where zeros after the point take their place. */
function short(value: number): string {
  const size = Math.abs(value);
  if (Number.isNaN(size)) return NONE;
  if (size === 0 || !Number.isFinite(size)) return written(value);
  return (size >= 1e5 || size < 1e-2 ? value.toExponential(1) : String(Number(value.toPrecision(size < 1 ? 3 : 4)))).replace(/^-/, "−");
}

/** The same for the value of this moment. */
function longer(value: number): string {
  const size = Math.abs(value);
  if (Number.isNaN(size)) return NONE;
  if (size === 0 || !Number.isFinite(size)) return written(value);
  return (size >= 1e6 || size < 1e-3 ? value.toExponential(4) : String(Number(value.toPrecision(size < 0.1 ? 5 : 6)))).replace(/^-/, "−");
}

/** The line of a signal over another, point after point as time passes. */
function path(chart: uPlot, index: number): uPlot.Series.Paths {
  const [xs, ys] = chart.data[index] as unknown as [number[], number[]];
  const scale = chart.series[index].scale!;
  const stroke = new Path2D();
  let isOpen = false;
  xs.forEach((x, k) => {
    if (!Number.isFinite(x + ys[k])) {
      isOpen = false;
      return;
    }
    const [left, top] = [chart.valToPos(x, "x", true), chart.valToPos(ys[k], scale, true)];
    if (isOpen) stroke.lineTo(left, top);
    else stroke.moveTo(left, top);
    isOpen = true;
  });
  return { stroke };
}
