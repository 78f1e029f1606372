// What several tests of the page need: the numbers of a run, pictures, times.
import { readFileSync } from "node:fs";

/** Names and columns of a trajectory. */
export function readCsv(path) {
  const [head, ...rows] = readFileSync(path, "utf8").trimEnd().split("\n");
  const names = head.split(",").map((word) => word.replace(/ \[.*\]$/, ""));
  const cells = rows.map((row) => row.split(",").map(Number));
  return new Map(names.map((name, index) => [name, cells.map((row) => row[index])]));
}

export function interpolate(table, name, time) {
  const [times, values] = [table.get("time"), table.get(name)];
  const next = Math.max(1, times.findIndex((t) => t >= time));
  const part = (time - times[next - 1]) / (times[next] - times[next - 1]);
  return values[next - 1] + part * (values[next] - values[next - 1]);
}

/** A number as the page writes it. */
export const parsed = (text) => Number(text.replaceAll("−", "-"));

/** Colours of the canvas, thinned: enough to tell two pictures apart. */
export const picture = (page) => page.evaluate(() => {
  const canvas = document.getElementById("canvas");
  const small = document.createElement("canvas");
  [small.width, small.height] = [160, 120];
  const context = small.getContext("2d");
  context.drawImage(canvas, 0, 0, 160, 120);
  return Array.from(context.getImageData(0, 0, 160, 120).data);
});

/** Waits until what was asked for is drawn, however slow the machine is. */
export const settled = (page) => page.evaluate(async () => { for (let k = 0; k < 4; k += 1) await new Promise(requestAnimationFrame); });

export const setTime = (page, part) => page.evaluate(async (part) => {
  const slider = document.getElementById("time");
  slider.value = String(Math.round(part * 100000));
  slider.dispatchEvent(new Event("input"));
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))));
  return window.kreisel.clock.time;
}, part);

export const differing = (a, b) => a.filter((value, index) => Math.abs(value - b[index]) > 24).length;
