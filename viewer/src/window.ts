// Numbers of a stretch of time: least, greatest, mean and RMS of a curve, and its spectrum.

import { placeOf, type Recording, type Signal } from "./data";

export interface Summary {
  min: number;
  max: number;
  mean: number;
  rms: number;
}

/** Of the straight lines between the points of a signal, over time and not over points: steps may differ. */
export function summary(recording: Recording, signal: Signal, from: number, to: number): Summary {
  const { times } = signal.group;
  const [start, end] = [Math.max(from, times[0]), Math.min(to, times[times.length - 1])];
  // A run that is not under way within this stretch has no numbers of it.
  if (end < start) return { min: NaN, max: NaN, mean: NaN, rms: NaN };
  const first = recording.valueAt(signal, start);
  let [min, max, sum, squares, length] = [first, first, 0, 0, 0];
  let [time, value] = [start, first];
  for (let k = placeOf(times, start) + 1; k <= times.length && time < end; k += 1) {
    const next = k < times.length ? Math.min(times[k], end) : end;
    if (next <= time) continue;
    const other = recording.valueAt(signal, next);
    if (Number.isFinite(value) && Number.isFinite(other)) {
      const step = next - time;
      sum += (step * (value + other)) / 2;
      squares += (step * (value * value + value * other + other * other)) / 3;
      length += step;
    }
    // A number that is none is passed over.
    if (Number.isFinite(other)) [min, max] = [Number.isFinite(min) ? Math.min(min, other) : other, Number.isFinite(max) ? Math.max(max, other) : other];
    [time, value] = [next, other];
  }
  return length > 0 ? { min, max, mean: sum / length, rms: Math.sqrt(squares / length) } : { min, max, mean: first, rms: Math.abs(first) };
}

/** Points of a spectrum, at most. */
const MOST = 1 << 15;

export interface Spectrum {
  /** Distance of two lines in Hz: one over the length of the window. */
  resolution: number;
  points: number;
  frequencies: Float64Array;
  amplitudes: Float64Array[];
}

/** The part of a stretch of time in which all of some signals have values; one that has none there with those before it is passed over. */
export function common(signals: Signal[], from: number, to: number): [number, number] {
  return signals.reduce<[number, number]>(([start, end], { group: { times } }) => {
    const [low, high] = [Math.max(start, times[0]), Math.min(end, times[times.length - 1])];
    return low < high ? [low, high] : [start, end];
  }, [from, to]);
}

/**
 * Amplitudes of signals within a window, up to half the mean rate at which they were recorded.
 *
 * Values are taken at even times, their mean is removed, and Hann's window is laid on them; a sine in the middle of two
 * lines shows with 85 % of its amplitude in each, on a line with all of it. What has no value somewhere in the window has no
 * amplitudes: zeros in its place would be a spectrum of something else.
 */
export function spectrum(recording: Recording, signals: Signal[], from: number, to: number): Spectrum {
  const inside = Math.max(...signals.map(({ group: { times } }) => placeOf(times, to) - placeOf(times, from)));
  const points = Math.min(MOST, 2 ** Math.ceil(Math.log2(Math.max(8, inside))));
  const step = (to - from) / points;
  const count = Math.max(2, Math.min(points / 2, Math.floor(inside / 2)) + 1);
  const amplitudes = signals.map((signal) => {
    const { times } = signal.group;
    const real = Float64Array.from({ length: points }, (_, k) => recording.valueAt(signal, from + k * step));
    if (from < times[0] || to > times[times.length - 1] || !real.every(Number.isFinite)) return new Float64Array(count).fill(NaN);
    const mean = real.reduce((sum, value) => sum + value, 0) / points;
    const weighted = real.map((value, k) => (value - mean) * (1 - Math.cos((2 * Math.PI * k) / points)));
    const imaginary = new Float64Array(points);
    transform(weighted, imaginary);
    // The window's mean is one here, and half of an amplitude stands at the negative frequency.
    return Float64Array.from({ length: count }, (_, k) => ((k === 0 ? 1 : 2) * Math.hypot(weighted[k], imaginary[k])) / points);
  });
  const resolution = 1 / (to - from);
  return { resolution, points, frequencies: Float64Array.from({ length: count }, (_, k) => k * resolution), amplitudes };
}

/** The discrete Fourier transform in place; the length is a power of two. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const n = real.length;
  for (let i = 1, j = 0; i < n; i += 1) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [real[i], real[j]] = [real[j], real[i]];
      [imaginary[i], imaginary[j]] = [imaginary[j], imaginary[i]];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    for (let k = 0; k < half; k += 1) {
      const angle = (-2 * Math.PI * k) / size;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let start = k; start < n; start += size) {
        const other = start + half;
        const [a, b] = [real[other] * cos - imaginary[other] * sin, real[other] * sin + imaginary[other] * cos];
        [real[other], imaginary[other]] = [real[start] - a, imaginary[start] - b];
        [real[start], imaginary[start]] = [real[start] + a, imaginary[start] + b];
      }
    }
  }
}
