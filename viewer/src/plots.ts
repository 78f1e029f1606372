// Plots of every signal: grouped, linked to the time, zoomed together, with an axis for each unit.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Clock } from "./clock";
import type { Group, Recording, Signal } from "./data";
import { brief, unitText, written } from "./data";
import { download, el } from "./dom";
import { families, familyName } from "./families";
import { nearest } from "./nearest";

/** Okabe and Ito, lighter where the page is dark. */
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#2aa1d8", "#5b5f66"];
const DARK = ["#5aa9e6", "#ff8a4c", "#3ecf9f", "#f099c4", "#e9c14b", "#7fd3ff", "#aab2bd"];

export interface Spec {
  title: string;
  section: Section;
  signals: Signal[];
  log: boolean;
}

/** What a user asks first stands first; how the run was computed stands last. */
const SECTIONS = ["Sensors", "Joint coordinates", "Forces", "Bodies", "Beams", "Energy", "Quality"] as const;
type Section = (typeof SECTIONS)[number];

/** Plots of a recording in the order in which they are shown. */
export function specs(recording: Recording): Spec[] {
  // Sensors of the model are recorded after the usual ones, of which the solver's are the last.
  const usual = recording.groups.findIndex((group) => group.name === "solver");
  const all = recording.groups.flatMap((group, place): Spec[] => {
    if (group.name === "energy") return energySpecs(group);
    if (group.name === "constraint") return [{ title: "Constraint residuals", section: "Quality", signals: group.signals, log: true }];
    if (group.name === "solver") return [{ title: "Steps: size, Newton iterations, steps taken back", section: "Quality", signals: group.signals, log: false }];
    const isOwn = usual >= 0 && place > usual;
    return [{ title: group.name, section: isOwn ? "Sensors" : sectionOf(recording, group), signals: group.signals, log: false }];
  });
  return all.sort((a, b) => SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section));
}

function sectionOf({ scene }: Recording, { name, signals }: Group): Section {
  const part = partOf(name);
  const among = (list: { name: string }[]): boolean => list.some((one) => one.name === part);
  if (among(scene.joints) && name === part) return "Joint coordinates";
  if (signals.every(({ unit }) => unit === "N" || unit === "Nm") || among(scene.springs) || among(scene.arrows)) return "Forces";
  if (among(scene.bodies)) return "Bodies";
  return among(scene.beams) ? "Beams" : "Sensors";
}

function partOf(name: string): string {
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
const ZERO = 1e-12;

function largestOf({ values }: Signal): number {
  let size = 0;
  for (const value of values) size = Math.max(size, Math.abs(value) || 0);
  return size;
}

/** Whether the signals of a plot are zero throughout, as torques of ball joints are. */
function zeroTest(recording: Recording): (spec: Spec) => boolean {
  const sizes = new Map<Signal, number>();
  const largest = new Map<string, number>();
  for (const signal of recording.signals.values()) {
    const size = largestOf(signal);
    sizes.set(signal, size);
    largest.set(signal.unit, Math.max(size, largest.get(signal.unit) ?? 0));
  }
  return ({ signals, section }) => section !== "Quality" && signals.every((signal) => sizes.get(signal)! <= ZERO * largest.get(signal.unit)!);
}

export class Plot {
  readonly card: HTMLElement;
  private chart?: uPlot;
  private readonly holder = el("div", { class: "chart" });
  private readonly values: HTMLElement[] = [];
  private readonly cursorLine = el("div", { class: "now", "aria-hidden": "true", hidden: true });
  private readonly hidden = new Set<number>();
  private hoverTime: number | null = null;
  /** Largest size of each unit's signals; what is tiny beside it is round-off. */
  private readonly largest = new Map<string, number>();
  visible = false;

  constructor(
    readonly spec: Spec,
    private readonly recording: Recording,
    private readonly clock: Clock,
    private readonly plots: Plots,
    onClose?: () => void,
  ) {
    for (const signal of spec.signals) this.largest.set(signal.unit, Math.max(this.largest.get(signal.unit) ?? 0, largestOf(signal)));
    const legend = el("ul", { class: "legend" });
    spec.signals.forEach((signal, index) => {
      const value = el("output", { class: "value" });
      this.values.push(value);
      const short = spec.title !== "" && signal.name.toLowerCase().startsWith(`${spec.title.toLowerCase()}.`) ? signal.name.slice(spec.title.length + 1) : signal.name;
      const button = el("button", {
        type: "button", class: "series", "aria-pressed": "true", title: `${signal.name}: show or hide`, "data-signal": signal.name,
        click: () => this.toggle(index, button),
      }, el("i", { class: `swatch s${index % LIGHT.length}` }), el("span", {}, short), value, el("small", {}, unitText(signal.unit)));
      legend.append(el("li", {}, button));
    });
    const name = spec.title || "Your plot";
    const tools = el("span", { class: "tools" },
      el("button", { type: "button", class: "small", title: "Save these curves as CSV", "aria-label": `Save ${name} as CSV`, click: () => this.saveCsv() }, "CSV"),
      onClose && el("button", { type: "button", class: "small", "aria-label": `Remove ${name}`, click: onClose }, "×"));
    this.card = el("article", { class: "card plot", "aria-label": `Plot of ${name}` },
      el("header", {}, el("h3", {}, name), tools), this.holder, legend);
    this.holder.append(this.cursorLine);
    this.holder.setAttribute("role", "img");
    this.holder.setAttribute("aria-label", this.summary());
  }

  private summary(): string {
    const words = this.spec.signals.map((signal) => {
      let [low, high] = [Infinity, -Infinity];
      for (const value of signal.values) if (Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
      return `${signal.name} from ${written(low)} to ${written(high)} ${unitText(signal.unit)}`;
    });
    return `Curves over time: ${words.join("; ")}`;
  }

  private toggle(index: number, button: HTMLButtonElement): void {
    const shown = this.hidden.delete(index);
    if (!shown) this.hidden.add(index);
    button.setAttribute("aria-pressed", String(shown));
    this.chart?.setSeries(index + 1, { show: shown });
  }

  private saveCsv(): void {
    const [times, ...columns] = this.data();
    const head = ["time [s]", ...this.spec.signals.map((signal) => `${signal.name} [${signal.unit}]`)].join(",");
    const rows = Array.from(times as ArrayLike<number>, (time, row) =>
      [time, ...columns.map((column) => (column as ArrayLike<number | null>)[row] ?? "")].join(","));
    const name = (this.spec.title || "plot").replace(/[^A-Za-z0-9._-]+/g, "-");
    download(`${name}.csv`, `${[head, ...rows].join("\n")}\n`, "text/csv");
  }

  private data(): uPlot.AlignedData {
    const shown = (signal: Signal): (number | null)[] =>
      Array.from(signal.values, (value) => (Number.isFinite(value) && !(this.spec.log && value < LEAST) ? value : null));
    const groups = new Map<Group, Signal[]>();
    for (const signal of this.spec.signals) groups.set(signal.group, [...(groups.get(signal.group) ?? []), signal]);
    const tables = [...groups].map(([group, signals]) => [Array.from(group.times), ...signals.map(shown)] as uPlot.AlignedData);
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  /** Signals in the order of the data: those of a group together. */
  private ordered(): Signal[] {
    const groups = [...new Set(this.spec.signals.map((signal) => signal.group))];
    return groups.flatMap((group) => this.spec.signals.filter((signal) => signal.group === group));
  }

  draw(): void {
    const style = getComputedStyle(document.documentElement);
    const [ink, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
    const colours = this.plots.dark ? DARK : LIGHT;
    const units = [...new Set(this.spec.signals.map((signal) => signal.unit))];
    const font = "11px system-ui, sans-serif";
    const axis = (unit: string, index: number): uPlot.Axis => ({
      scale: unit, side: index === 0 ? 3 : 1, stroke: ink, font, size: 58, gap: 4,
      grid: { show: index === 0, stroke: line, width: 1, filter: (_, marks) => marks.map((mark) => (this.spec.log && !isPower(mark) ? null : mark)) }, ticks: { stroke: line, width: 1, size: 4 },
      label: unitText(unit) || undefined, labelFont: font, labelSize: 16, labelGap: 0,
      values: (_, marks) => marks.map((mark) => (mark === null ? "" : tick(mark, this.spec.log))),
    });
    const ordered = this.ordered();
    this.chart?.destroy();
    this.chart = new uPlot({
      width: Math.max(160, this.holder.clientWidth), height: chartHeight(),
      legend: { show: false },
      padding: [8, units.length > 1 ? 0 : 12, 0, 0],
      cursor: { y: false, points: { size: 6 }, drag: { x: true, y: false, setScale: true }, sync: { key: "kreisel", scales: ["x", null] } },
      scales: { x: { time: false }, ...Object.fromEntries(units.map((unit) => [unit, { distr: this.spec.log ? 3 : 1, range: this.spec.log ? decades : padded }])) },
      series: [{}, ...ordered.map((signal) => ({
        label: signal.name, scale: signal.unit, stroke: colours[this.spec.signals.indexOf(signal) % colours.length],
        width: 1.6, points: { show: false }, spanGaps: this.spec.log || this.spec.signals.some((other) => other.group !== signal.group),
        show: !this.hidden.has(this.spec.signals.indexOf(signal)),
      }))],
      axes: [{ stroke: ink, font, size: 30, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 },
        values: (_, marks) => marks.map((mark) => written(mark)) }, ...units.slice(0, 3).map(axis)],
      hooks: {
        setCursor: [(chart) => {
          const left = chart.cursor.left ?? -1;
          this.hoverTime = left >= 0 ? chart.posToVal(left, "x") : null;
          this.showValues();
        }],
        setScale: [(chart, key) => {
          if (key === "x") this.plots.zoomed(this, chart.scales.x.min ?? null, chart.scales.x.max ?? null);
          this.placeNow();
        }],
        setSize: [() => this.placeNow()],
      },
    }, this.data(), this.holder);
    const over = this.chart.over;
    let down = 0;
    over.addEventListener("pointerdown", (event) => { down = event.clientX; });
    over.addEventListener("pointerup", (event) => {
      if (Math.abs(event.clientX - down) < 4 && this.hoverTime !== null) this.clock.set(this.hoverTime);
    });
    over.append(this.cursorLine);
    this.placeNow();
    this.showValues();
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

  zoom(low: number, high: number): void {
    const x = this.chart?.scales.x;
    if (x && (x.min !== low || x.max !== high)) this.chart!.setScale("x", { min: low, max: high });
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
    if (!this.chart) return;
    const { min, max } = this.chart.scales.x;
    const inside = min != null && max != null && this.clock.time >= min && this.clock.time <= max;
    this.cursorLine.hidden = !inside;
    if (inside) this.cursorLine.style.transform = `translateX(${this.chart.valToPos(this.clock.time, "x").toFixed(1)}px)`;
  }

  private showValues(): void {
    const time = this.hoverTime ?? this.clock.time;
    this.spec.signals.forEach((signal, index) => {
      const value = this.recording.valueAt(signal, time);
      this.values[index].textContent = written(Math.abs(value) <= ZERO * this.largest.get(signal.unit)! ? 0 : value);
    });
    this.card.classList.toggle("hovered", this.hoverTime !== null);
  }
}

/** How well the run kept what has to be kept, in a line. */
function quality({ run }: Recording): string {
  const number = (name: string): number | null => (typeof run.statistics?.[name] === "number" ? (run.statistics[name] as number) : null);
  const [residual, balance] = [number("largest-position-residual"), number("largest-energy-balance")];
  return [residual === null ? "" : `residual up to ${brief(residual)}`, balance === null ? "" : `energy balance to ${brief(balance)} J`]
    .filter(Boolean).join(", ");
}

/** Two plots stand beside the machine on a small screen too. */
function chartHeight(): number {
  return Math.round(Math.min(190, Math.max(140, 0.2 * window.innerHeight)));
}

/** A range with a margin; noise around one value does not fill the plot. */
function padded(_: uPlot, low: number, high: number): [number, number] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const width = high - low;
  if (width <= 1e-9 * size || width === 0) return size === 0 ? [-1, 1] : [low - 0.05 * size, high + 0.05 * size];
  return [low - 0.06 * width, high + 0.06 * width];
}

/** Smaller values are zero to a logarithmic axis: uPlot finds no marks for powers of ten that it cannot write exactly. */
const LEAST = 1e-18;

/** Whole decades; curves that are zero throughout get some to be empty in. */
function decades(_: uPlot, low: number, high: number): [number, number] {
  if (!(low >= LEAST && Number.isFinite(high))) return [1e-16, 1];
  const first = Math.floor(Math.log10(low));
  return [10 ** first, 10 ** Math.max(Math.ceil(Math.log10(high)), first + 1)];
}

function isPower(mark: number): boolean {
  return Math.abs(Math.log10(mark) - Math.round(Math.log10(mark))) < 1e-6;
}

function tick(mark: number, log: boolean): string {
  if (log) return isPower(mark) ? `1e${Math.round(Math.log10(mark))}` : "";
  if (mark === 0) return "0";
  const size = Math.abs(mark);
  return (size >= 1e5 || size < 1e-3 ? mark.toExponential(1) : Number(mark.toPrecision(6)).toString()).replace(/^-/, "−");
}

export class Plots {
  dark = false;
  readonly all: Plot[] = [];
  private readonly observer: IntersectionObserver;
  private zooming = false;
  private range: [number, number] | null = null;
  private own: Signal[] = [];
  private ownPlot?: Plot;
  private readonly ownBox = el("div", { class: "plot-grid own" });

  constructor(private readonly recording: Recording, private readonly clock: Clock, box: HTMLElement) {
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const plot = this.all.find((candidate) => candidate.card === target);
        if (!plot) continue;
        plot.visible = isIntersecting;
        if (isIntersecting) this.show(plot);
      }
    }, { rootMargin: "200px" });
    box.append(this.toolbar(box), this.ownBox);
    this.fill(box);
    new ResizeObserver(() => this.all.forEach((plot) => plot.resize())).observe(box);
    window.addEventListener("beforeprint", () => this.all.slice(0, 80).forEach((plot) => { if (!plot.isDrawn) plot.draw(); }));
    clock.onChange(() => this.all.forEach((plot) => { if (plot.visible) plot.setTime(); }));
  }

  /** A fold for each section, with what belongs to one `repeat` folded behind its first part, and zeros at the end. */
  private fill(box: HTMLElement): void {
    const all = specs(this.recording);
    const isZero = zeroTest(this.recording);
    const known = families(all.map(({ title }) => partOf(title)).filter((part, index, list) => list.indexOf(part) === index));
    for (const title of SECTIONS) {
      const own = all.filter((spec) => spec.section === title);
      if (own.length === 0) continue;
      const grid = el("div", { class: "plot-grid" });
      const folds = new Map<string, HTMLElement>();
      const zeros = own.filter(isZero);
      for (const spec of own) {
        if (zeros.includes(spec)) continue;
        const family = known.get(partOf(spec.title));
        const key = family && `${family[0]}\0${spec.title.slice(partOf(spec.title).length)}`;
        const fold = key === undefined ? undefined : folds.get(key);
        (fold ?? grid).append(this.card(spec));
        if (family === undefined || key === undefined || fold) continue;
        // The first part stands for its family.
        const rest = own.filter((other) => other !== spec && !zeros.includes(other) && known.get(partOf(other.title)) === family
          && other.title.slice(partOf(other.title).length) === spec.title.slice(partOf(spec.title).length));
        if (rest.length > 0) folds.set(key, this.fold(grid, rest.length > 1 ? familyName(rest.map((other) => other.title)) : rest[0].title, rest.length));
      }
      if (zeros.length > 0) {
        const fold = this.fold(grid, "Zero throughout", zeros.length);
        fold.append(...zeros.map((spec) => this.card(spec)));
      }
      box.append(el("details", { class: "plot-section", "data-section": title, open: title !== "Quality" },
        el("summary", { class: "section-title" }, title, el("small", {}, title === "Quality" ? quality(this.recording) : "")), grid));
    }
  }

  private fold(grid: HTMLElement, name: string, count: number): HTMLElement {
    const inner = el("div", { class: "plot-grid" });
    grid.append(el("details", { class: "fold" }, el("summary", {}, name, el("small", {}, count === 1 ? "1 plot" : `${count} plots`)), inner));
    return inner;
  }

  private card(spec: Spec): HTMLElement {
    const plot = new Plot(spec, this.recording, this.clock, this);
    this.add(plot);
    return plot.card;
  }

  private add(plot: Plot): void {
    this.all.push(plot);
    this.observer.observe(plot.card);
  }

  private show(plot: Plot): void {
    if (!plot.isDrawn) plot.draw();
    plot.resize();
    if (this.range) plot.zoom(...this.range);
    plot.setTime();
  }

  private toolbar(box: HTMLElement): HTMLElement {
    const names = el("datalist", { id: "signal-names" },
      ...[...this.recording.signals.keys()].map((name) => el("option", { value: name })));
    const input = el("input", { type: "text", list: "signal-names", id: "add-signal", placeholder: "top.position.z", autocomplete: "off" });
    const answer = el("span", { class: "answer", role: "status", id: "answer" });
    const add = (): void => {
      const name = input.value.trim();
      const signal = this.recording.signals.get(name);
      answer.replaceChildren();
      if (name === "") return;
      if (!signal) {
        const near = nearest(name, this.recording.signals.keys());
        answer.append("There is no signal ", el("code", {}, name), ". ", ...(near === undefined ? [] : ["Did you mean ",
          el("button", { type: "button", class: "small", click: () => { input.value = near; add(); } }, near), "?"]));
        return;
      }
      if (!this.own.includes(signal)) this.own.push(signal);
      input.value = "";
      this.drawOwn();
    };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
    // A name chosen from the list is taken at once; one that is typed may go on.
    input.addEventListener("input", (event) => { if ((event as InputEvent).inputType === "insertReplacementText") add(); });
    const filter = el("input", { type: "search", id: "filter-plots", placeholder: "force", input: () => {
      const wanted = filter.value.trim().toLowerCase();
      for (const plot of this.all)
        plot.card.hidden = wanted !== "" && !plot.spec.signals.some((signal) => signal.name.toLowerCase().includes(wanted));
      // What is found is unfolded; with nothing to find everything is as it was at first.
      for (const fold of box.querySelectorAll<HTMLDetailsElement>("details")) {
        fold.hidden = !fold.querySelector(".plot:not([hidden])");
        fold.open = wanted !== "" || (fold.classList.contains("plot-section") && fold.dataset.section !== "Quality");
      }
    } });
    return el("div", { class: "plot-tools" },
      el("label", { for: "filter-plots" }, "Find ", filter),
      el("label", { for: "add-signal" }, "Compare ", input), names, answer,
      el("button", { type: "button", class: "small", title: "Show the whole time in all plots", click: () => this.resetZoom() }, "Whole time"));
  }

  private drawOwn(): void {
    if (this.ownPlot) {
      this.observer.unobserve(this.ownPlot.card);
      this.ownPlot.remove();
      this.all.splice(this.all.indexOf(this.ownPlot), 1);
      this.ownPlot = undefined;
    }
    if (this.own.length === 0) return;
    const spec: Spec = { title: "", section: "Sensors", signals: this.own, log: false };
    this.ownPlot = new Plot(spec, this.recording, this.clock, this, () => { this.own = []; this.drawOwn(); });
    this.ownBox.append(this.ownPlot.card);
    this.add(this.ownPlot);
  }

  /** One plot's zoom is everyone's. */
  zoomed(source: Plot, low: number | null, high: number | null): void {
    if (this.zooming || low === null || high === null) return;
    this.zooming = true;
    this.range = [low, high];
    for (const plot of this.all) if (plot !== source && plot.isDrawn) plot.zoom(low, high);
    this.zooming = false;
  }

  private resetZoom(): void {
    this.range = [this.recording.start, this.recording.end];
    this.all.forEach((plot) => plot.zoom(...this.range!));
  }

  setDark(dark: boolean): void {
    this.dark = dark;
    this.all.forEach((plot) => { if (plot.isDrawn) plot.draw(); });
    if (this.range) this.all.forEach((plot) => plot.zoom(...this.range!));
  }
}
