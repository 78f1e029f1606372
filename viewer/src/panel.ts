// The list of parts and the numbers of the chosen one at this time.

import type { Clock } from "./clock";
import type { Recording, Signal } from "./data";
import { NONE, placeOf, unitText, written } from "./data";
import { el, prose } from "./dom";
import { largestOf, ZERO } from "./specs";
import { families, familyName } from "./families";
import type { Stage } from "./stage";

interface Part {
  name: string;
  kind: string;
  colour: string | null;
  node: number | null;
  facts: [string, string][];
}

export class Panel {
  selected: string | null = null;
  private readonly parts: Part[];
  private readonly list = el("ul", { class: "parts" });
  private readonly detail = el("div", { class: "detail", id: "detail" });
  private readonly status = el("p", { class: "sr", role: "status", "aria-live": "polite", id: "status" });
  private readonly items: HTMLElement[] = [];
  private rows: { signal: Signal; cell: HTMLElement; noise: number }[] = [];
  private pose: HTMLElement[] = [];

  constructor(
    private readonly recording: Recording,
    private readonly clock: Clock,
    private readonly stage: Stage | null,
    box: HTMLElement,
  ) {
    this.parts = partsOf(recording);
    const filter = el("input", { type: "search", placeholder: "Find a part", "aria-label": "Find a part", input: () => {
      const wanted = filter.value.trim().toLowerCase();
      for (const item of this.items) item.hidden = !item.dataset.name!.toLowerCase().includes(wanted);
      for (const fold of this.list.querySelectorAll("details")) {
        fold.parentElement!.hidden = !fold.querySelector("[data-name]:not([hidden])");
        fold.open = wanted !== "";
      }
    } });
    this.fill();
    box.append(el("h2", {}, "Parts"), ...(this.parts.length > 8 ? [filter] : []), this.list, this.detail, this.status);
    this.select(null);
    clock.onChange(() => this.refresh());
  }

  /** Parts one by one; those of one `repeat` behind a fold. */
  private fill(): void {
    const known = families(this.parts.map((part) => part.name));
    const folds = new Map<string[], HTMLElement>();
    for (const part of this.parts) {
      const button = el("button", { type: "button", "aria-pressed": "false", click: () => this.select(this.selected === part.name ? null : part.name) },
        swatch(part), el("span", { class: "part-name" }, part.name), el("small", {}, part.kind));
      const item = el("li", { "data-name": part.name }, button);
      this.items.push(item);
      const family = known.get(part.name);
      if (!family) {
        this.list.append(item);
        continue;
      }
      if (!folds.has(family)) {
        const inner = el("ul", {});
        folds.set(family, inner);
        this.list.append(el("li", { class: "family" }, el("details", {},
          el("summary", {}, swatch(part), el("span", { class: "part-name" }, familyName(family)), el("small", {}, `${family.length} ×`)), inner)));
      }
      folds.get(family)!.append(item);
    }
  }

  select(name: string | null): void {
    const part = this.parts.find((candidate) => candidate.name === name) ?? null;
    this.selected = part?.name ?? null;
    for (const item of this.items) {
      const chosen = item.dataset.name === this.selected;
      item.firstElementChild!.setAttribute("aria-pressed", String(chosen));
      if (chosen) {
        item.closest("details")?.setAttribute("open", "");
        const [list, own] = [this.list.getBoundingClientRect(), item.getBoundingClientRect()];
        if (own.top < list.top || own.bottom > list.bottom) this.list.scrollTop += own.top - list.top - list.height / 2;
      }
    }
    this.stage?.select(this.selected);
    this.show(part);
    this.status.textContent = part ? `${part.kind} ${part.name} chosen` : "";
  }

  private show(part: Part | null): void {
    this.detail.replaceChildren();
    this.rows = [];
    this.pose = [];
    if (!part) {
      const { description } = this.recording.scene;
      this.detail.append(el("p", { class: "hint" }, "Choose a part here or in the picture to see its numbers at this time."),
        ...(description ? [el("section", { class: "about", "aria-label": "About" }, el("h2", {}, "About"),
          ...description.split("\n\n").map((paragraph) => el("p", {}, ...prose(paragraph))))] : []));
      return;
    }
    const table = el("table", {});
    const row = (name: string, cell: HTMLElement, unit: string): void => {
      table.append(el("tr", {}, el("th", { scope: "row" }, name), cell, el("td", { class: "unit" }, unit)));
    };
    for (const [name, text] of part.facts) table.append(el("tr", {}, el("th", { scope: "row" }, name), el("td", { colspan: "2" }, text)));
    const signals = [...this.recording.signals.values()].filter((signal) => signal.name.startsWith(`${part.name}.`));
    const hasPosition = signals.some((signal) => signal.name === `${part.name}.position.x`);
    if (part.node !== null && !hasPosition)
      for (const axis of ["x", "y", "z"]) {
        const cell = el("td", { class: "number" });
        this.pose.push(cell);
        row(`position ${axis}`, cell, "m");
      }
    for (const signal of signals.slice(0, 60)) {
      const cell = el("td", { class: "number", "data-signal": signal.name });
      // What is tiny beside its neighbours is round-off.
      const noise = ZERO * Math.max(...signal.group.signals.filter(({ unit }) => unit === signal.unit).map(largestOf));
      this.rows.push({ signal, cell, noise });
      row(signal.name.slice(part.name.length + 1).replaceAll(".", " "), cell, unitText(signal.unit));
    }
    const trails = this.stage?.trailPoints.filter((point) => point.name === part.name || point.name.startsWith(`${part.name}.`) || point.name === `${part.name} end`) ?? [];
    const boxes = trails.map((point) => {
      const input = el("input", { type: "checkbox", change: () => this.stage!.setTrail(point, input.checked) });
      input.checked = this.stage!.hasTrail(point);
      return el("label", { class: "check" }, input, `Trail of ${point.name === part.name ? "its centre" : point.name}`);
    });
    this.detail.append(el("h3", {}, part.name, el("small", {}, part.kind)), table, ...boxes);
    this.refresh();
  }

  private refresh(): void {
    for (const { signal, cell, noise } of this.rows) {
      const value = this.recording.valueAt(signal, this.clock.time);
      cell.textContent = Number.isNaN(value) ? NONE : written(Math.abs(value) <= noise ? 0 : value);
    }
    const part = this.parts.find((candidate) => candidate.name === this.selected);
    if (part?.node == null || this.pose.length === 0) return;
    const frame = placeOf(this.recording.frameTimes, this.clock.time);
    const at = 7 * (frame * this.recording.scene.nodes.length + part.node);
    this.pose.forEach((cell, axis) => { cell.textContent = written(this.recording.poses[at + axis]); });
  }
}

function swatch({ colour }: Part): HTMLElement {
  const dot = el("i", { class: "dot" });
  if (colour) dot.style.background = colour;
  else dot.classList.add("hollow");
  return dot;
}

function partsOf(recording: Recording): Part[] {
  const { scene } = recording;
  const nameOf = (node: number | null): string => (node === null ? "ground" : scene.nodes[node].name);
  return [
    ...scene.bodies.map((body, index) => ({
      name: body.name, kind: "body", colour: recording.colours[index], node: body.node,
      facts: [["mass", `${written(body.mass)} kg`], ...(body.shapes.some((shape) => shape.made_up) ? [["shape", "made up from its inertia"]] : [])] as [string, string][],
    })),
    ...scene.beams.map((beam) => ({
      name: beam.name, kind: "beam", colour: "linear-gradient(90deg, #3b6fd8, #36b37e, #e9c14b, #d64545)", node: null,
      facts: [["elements", String(beam.elements.length)]] as [string, string][],
    })),
    ...scene.joints.map((joint) => ({
      name: joint.name, kind: joint.kind, colour: null, node: null,
      facts: [["between", joint.nodes.map(nameOf).join(" and ")]] as [string, string][],
    })),
    ...scene.springs.map((spring) => ({
      name: spring.name, kind: "spring", colour: null, node: null,
      facts: [["between", spring.nodes.map(nameOf).join(" and ")]] as [string, string][],
    })),
    ...scene.arrows.filter((arrow) => arrow.kind !== "reaction" && !scene.joints.some((joint) => joint.name === arrow.name))
      .filter((arrow, index, all) => all.findIndex((other) => other.name === arrow.name) === index)
      .map((arrow) => ({ name: arrow.name, kind: "force", colour: null, node: null, facts: [["on", nameOf(arrow.node)]] as [string, string][] })),
  ];
}
