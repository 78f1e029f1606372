// Ranges and marks of axes.

import type uPlot from "uplot";

/** Two plots stand beside the machine on a small screen too. */
export function chartHeight(): number {
  return Math.round(Math.min(190, Math.max(126, 0.175 * window.innerHeight)));
}

/** A range with a margin; noise around one value does not fill the plot. */
export function padded(_: uPlot, low: number, high: number): [number, number] {
  if (low === null || high === null || !Number.isFinite(low + high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const width = high - low;
  if (width <= 1e-9 * size || width === 0) return size === 0 ? [-1, 1] : [low - 0.05 * size, high + 0.05 * size];
  return [low - 0.06 * width, high + 0.06 * width];
}

/** Smaller values are zero to a logarithmic axis: uPlot finds no marks for powers of ten that it cannot write exactly. */
export const LEAST = 1e-18;

/** Whole decades; curves that are zero throughout get some to be empty in. */
export function decades(_: uPlot, low: number, high: number): [number, number] {
  if (!(low >= LEAST && Number.isFinite(high))) return [1e-16, 1];
  const first = Math.floor(Math.log10(low));
  return [10 ** first, 10 ** Math.max(Math.ceil(Math.log10(high)), first + 1)];
}

export function isPower(mark: number): boolean {
  return Math.abs(Math.log10(mark) - Math.round(Math.log10(mark))) < 1e-6;
}

export function tick(mark: number, log: boolean): string {
  if (log) return isPower(mark) ? `1e${Math.round(Math.log10(mark))}` : "";
  if (mark === 0) return "0";
  const size = Math.abs(mark);
  return (size >= 1e5 || size < 1e-3 ? mark.toExponential(1) : Number(mark.toPrecision(6)).toString()).replace(/^-/, "−");
}
