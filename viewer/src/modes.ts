// The list of modes, which takes the place of plots: a click shows how the machine moves in it.

import type { Clock } from "./clock";
import type { Mode } from "./data";
import { written } from "./data";
import { el } from "./dom";

/** Frames of mode k lie from k to k + LENGTH; the next one begins at k + 1. */
const LENGTH = 0.999;
/** Cycles in a second, whatever the frequency. */
const SPEED = 0.5;

export function showModes(modes: Mode[], clock: Clock, box: HTMLElement): void {
  const rows = modes.map((mode, index) => {
    const grows = mode.imaginary === 0 && mode.real > 0;
    const row: HTMLTableRowElement = el("tr", { class: "mode", tabindex: "0", role: "button", click: () => show(index), keydown: (event) => {
      if ((event as KeyboardEvent).key === "Enter") show(index);
    } },
      el("td", {}, String(index + 1)),
      el("td", {}, grows ? `grows by ${written(mode.real)} /s` : `${written(mode.frequency)} Hz`),
      el("td", {}, written(Number(mode["damping-ratio"].toPrecision(4)))),
      el("td", {}, `${mode["dominant-part"]} (${(100 * mode.share).toFixed(0)} %)`));
    return row;
  });
  const show = (index: number): void => {
    rows.forEach((row, place) => row.setAttribute("aria-pressed", String(place === index)));
    clock.setRange(index, index + LENGTH);
  };
  box.append(el("article", { class: "card modes" }, el("h2", {}, "Modes"),
    el("table", {}, el("thead", {}, el("tr", {}, ...["", "frequency", "damping ratio", "most of the motion"].map((text) => el("th", {}, text)))), el("tbody", {}, ...rows)),
    el("p", { class: "hint" }, "A click shows a mode: once to and fro in two seconds, as large as it can be seen, without damping.")));
  clock.setSpeed(SPEED);
  show(0);
}
