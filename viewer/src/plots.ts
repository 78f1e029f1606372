// All plots: folded by section, linked to the time, zoomed together; and those of the reader's own choice.

import { doubts } from "./badge";
import "uplot/dist/uPlot.min.css";
import type { Clock } from "./clock";
import type { Recording, Signal } from "./data";
import { el, prose } from "./dom";
import { families, familyName } from "./families";
import { evaluate, FormulaError } from "./formula";
import { nearest } from "./nearest";
import { type Host, Plot } from "./plot";
import { partOf, quality, SECTIONS, type Spec, specs, zeroTest } from "./specs";

/** A plot of the reader's choice. */
interface Own {
  signals: Signal[];
  over?: Signal;
  plot?: Plot;
}

export class Plots implements Host {
  dark = false;
  readonly all: Plot[] = [];
  range: [number, number];
  private readonly observer: IntersectionObserver;
  private zooming = false;
  private own: Own[] = [];
  private readonly ownBox = el("div", { class: "plot-grid own" });
  private readonly answer = el("div", { class: "answer", role: "status", id: "answer" });

  constructor(private readonly recording: Recording, private readonly clock: Clock, box: HTMLElement) {
    this.range = recording.span;
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const plot = this.all.find((candidate) => candidate.card === target);
        if (!plot) continue;
        plot.visible = isIntersecting;
        if (isIntersecting) this.show(plot);
      }
    }, { rootMargin: "200px" });
    box.append(this.toolbar(box), this.answer, this.ownBox);
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
      const isQuality = title === "Quality";
      const reasons = isQuality ? doubts(this.recording.run).map(({ text }) => el("li", {}, ...prose(text))) : [];
      box.append(el("details", { class: "plot-section", "data-section": title, id: isQuality ? "quality" : undefined, open: !isQuality },
        el("summary", { class: "section-title" }, title, el("small", {}, isQuality ? quality(this.recording) : "")),
        reasons.length > 0 && el("ul", { class: "doubts" }, ...reasons), grid));
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
    plot.zoom(...this.range);
    plot.setTime();
  }

  private toolbar(box: HTMLElement): HTMLElement {
    const names = el("datalist", { id: "signal-names" },
      ...[...this.recording.signals.keys()].map((name) => el("option", { value: name })));
    const example = [...this.recording.signals.keys()].find((name) => !/^(energy|constraint|solver)\./.test(name)) ?? "energy.total";
    const input = el("input", { type: "text", list: "signal-names", id: "add-signal", placeholder: example, autocomplete: "off",
      title: "A signal, or arithmetic of signals: 2*a.force.x + b.force.x, norm(a.force), sqrt(a.angle-rate^2)" });
    const add = (): void => {
      const signal = this.understood(input, add);
      if (!signal) return;
      let own = this.own[this.own.length - 1];
      if (!own) this.own.push(own = { signals: [] });
      if (!own.signals.some((other) => other.name === signal.name)) own.signals.push(signal);
      input.value = "";
      this.drawOwn(own);
    };
    this.listen(input, add);
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
      el("label", { for: "filter-plots", class: "find" }, "Find ", filter),
      el("label", { for: "add-signal" }, "Compare ", input), names,
      this.recording.over ? null : el("button", { type: "button", class: "small", title: "Show the whole time in all plots", click: () => this.resetZoom() }, "Whole time"));
  }

  /** A name chosen from the list is taken at once; what is typed may go on. */
  private listen(input: HTMLInputElement, take: () => void): void {
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") take(); });
    input.addEventListener("input", (event) => { if ((event as InputEvent).inputType === "insertReplacementText") take(); });
  }

  /** The signal that was typed; else an answer, with the nearest name where one is unknown. */
  private understood(input: HTMLInputElement, again: () => void): Signal | undefined {
    this.answer.replaceChildren();
    const text = input.value.trim();
    if (text === "") return undefined;
    try {
      return evaluate(text, this.recording);
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      const { message, unknown, known } = error;
      this.answer.append(`${message[0].toUpperCase()}${message.slice(1)}. `);
      const near = unknown === undefined ? undefined : nearest(unknown, known);
      if (near !== undefined) this.answer.append("Did you mean ", el("button", { type: "button", class: "small", click: () => {
        input.value = text.replace(unknown!, () => near);
        again();
      } }, near), "?");
      return undefined;
    }
  }

  private drawOwn(own: Own): void {
    const before = own.plot;
    if (before) {
      this.observer.unobserve(before.card);
      this.all.splice(this.all.indexOf(before), 1);
    }
    const spec: Spec = { title: "", section: "Sensors", signals: own.signals, over: own.over ?? this.recording.over, log: false };
    const plot = new Plot(spec, this.recording, this.clock, this, this.ownTools(own));
    if (before) before.card.replaceWith(plot.card);
    else this.ownBox.prepend(plot.card);
    before?.remove();
    own.plot = plot;
    this.add(plot);
  }

  private ownTools(own: Own): HTMLElement[] {
    const over = el("input", { type: "text", list: "signal-names", class: "over", placeholder: this.recording.over?.name ?? "time", autocomplete: "off", title: "What stands to the right: time, a signal, or arithmetic of signals" });
    over.value = own.over?.name ?? "";
    const take = (): void => {
      const text = over.value.trim() === "time" ? "" : over.value.trim();
      // Taking the box away ends its input a second time.
      if (text === (own.over?.name ?? "")) return;
      const signal = text === "" ? undefined : this.understood(over, take);
      if (text !== "" && !signal) return;
      own.over = signal;
      this.answer.replaceChildren();
      this.drawOwn(own);
    };
    this.listen(over, take);
    over.addEventListener("change", take);
    return [
      el("label", { class: "over-label" }, "over ", over),
      el("button", { type: "button", class: "small", title: "Let the next signal begin another plot", "aria-label": "Begin another plot", click: () => {
        this.own.push({ signals: [] });
        document.getElementById("add-signal")!.focus();
      } }, "+"),
      el("button", { type: "button", class: "small", "aria-label": "Remove your plot", title: "Remove", click: () => {
        this.own = this.own.filter((other) => other !== own);
        this.observer.unobserve(own.plot!.card);
        this.all.splice(this.all.indexOf(own.plot!), 1);
        own.plot!.remove();
      } }, "×"),
    ];
  }

  /** One plot's zoom is everyone's. */
  zoomed(source: Plot, low: number | null, high: number | null): void {
    if (this.zooming || low === null || high === null) return;
    this.zooming = true;
    const [start, end] = this.recording.span;
    this.range = [Math.max(low, start), Math.min(high, end)];
    for (const plot of this.all) if (plot !== source && plot.isDrawn) plot.zoom(low, high);
    this.zooming = false;
  }

  /** The stretch of time that was chosen, if one was. */
  get zoom(): [number, number] | null {
    const [start, end] = this.recording.span;
    return this.range[0] > start || this.range[1] < end ? this.range : null;
  }

  setZoom(range: [number, number]): void {
    this.range = range;
    this.all.forEach((plot) => plot.zoom(...range));
  }

  private resetZoom(): void {
    this.range = this.recording.span;
    this.all.forEach((plot) => plot.zoom(...this.range));
  }

  setDark(dark: boolean): void {
    this.dark = dark;
    this.all.forEach((plot) => { if (plot.isDrawn) plot.draw(); });
    this.all.forEach((plot) => plot.zoom(...this.range));
  }
}
