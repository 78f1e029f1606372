// The present moment of the run: played, scrubbed, stepped. Everything on the page follows it.

import { placeOf } from "./data";

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 1000];
/** Seconds in which a run is played unless the user says otherwise. */
const PLEASANT = 8;

export class Clock {
  time: number;
  playing = false;
  speed: number;
  readonly speeds = SPEEDS;
  private readonly listeners: (() => void)[] = [];
  private last = 0;
  private pending = false;

  constructor(
    public start: number,
    public end: number,
    private readonly frames: Float64Array,
  ) {
    this.time = start;
    const ideal = (end - start) / PLEASANT;
    const isNatural = ideal > 0.3 && ideal < 2.5;
    this.speed = isNatural ? 1 : SPEEDS.reduce((best, speed) =>
      Math.abs(Math.log(speed / ideal)) < Math.abs(Math.log(best / ideal)) ? speed : best, 1);
    if (!(ideal > 0)) this.speed = 1;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Goes round and round within a part of the time. */
  setRange(start: number, end: number): void {
    [this.start, this.end] = [start, end];
    this.set(start);
  }

  set(time: number): void {
    this.time = Math.min(this.end, Math.max(this.start, time));
    this.announce();
  }

  /** Moves by whole frames, from the nearest one. */
  step(count: number): void {
    this.pause();
    const at = placeOf(this.frames, this.time + 1e-12 * (this.end - this.start));
    const between = this.time > this.frames[at] * (1 + 1e-12) && count < 0 ? 1 : 0;
    const next = Math.min(this.frames.length - 1, Math.max(0, at + count + between));
    this.set(this.frames[next] ?? this.start);
  }

  frame(): number {
    return placeOf(this.frames, this.time + 1e-12 * (this.end - this.start));
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.playing || this.end <= this.start) return;
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(this.tick);
    this.announce();
  }

  pause(): void {
    this.playing = false;
    this.announce();
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.announce();
  }

  private readonly tick = (now: number): void => {
    if (!this.playing) return;
    // A page that was hidden goes on where it was.
    const elapsed = Math.min(0.25, Math.max(0, (now - this.last) / 1000));
    this.last = now;
    const next = this.time + elapsed * this.speed;
    const length = this.end - this.start;
    this.time = next > this.end ? this.start + ((next - this.start) % length) : next;
    this.announce();
    requestAnimationFrame(this.tick);
  };

  /** Tells everyone, once for each picture. */
  private announce(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      for (const listener of this.listeners) listener();
    });
  }
}
