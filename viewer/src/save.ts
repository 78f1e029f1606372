// Saves what the picture shows: one moment as PNG, the whole run as a video. Nothing leaves the machine.

import type { Clock } from "./clock";
import { download, el } from "./dom";
import type { Stage } from "./stage";
import { type Picture, webm } from "./webm";

/** Codecs for a browser and their names in a file, the better one first. */
const CODECS: [string, string][] = [["vp09.00.40.08", "V_VP9"], ["vp8", "V_VP8"]];
const FRAMES_PER_SECOND = 30;
/** Seconds of a video, at most. */
const LONGEST = 120;
const BITS_PER_SECOND = 8e6;
/** Pictures from one that stands alone to the next. */
const BETWEEN_KEYS = 60;

export class Saver {
  readonly menu: HTMLElement;
  private readonly status = el("p", { class: "save-status", role: "status", id: "save-status" });
  private readonly film: HTMLButtonElement;
  private isFilming = false;

  constructor(private readonly clock: Clock, private readonly stage: () => Stage | null, private readonly name: string, private readonly moment: (time: number) => string) {
    this.film = el("button", { type: "button", id: "save-video", click: () => void this.saveVideo() }, "Video of the run");
    const menu = el("details", { class: "menu" }, el("summary", { class: "small", id: "save" }, "Save"),
      el("div", { class: "card choices" },
        el("button", { type: "button", id: "save-picture", click: () => this.savePicture() }, "Picture"), this.film, this.status));
    document.addEventListener("pointerdown", (event) => { if (!menu.contains(event.target as Node) && !this.isFilming) menu.open = false; });
    menu.addEventListener("keydown", (event) => { if (event.key === "Escape" && !this.isFilming) menu.open = false; });
    this.menu = menu;
  }

  private say(words: string): void {
    this.status.textContent = words;
  }

  private needStage(): Stage | null {
    const stage = this.stage();
    if (!stage) this.say("There is no picture to save: this browser gives no WebGL. kreisel render draws one without a browser.");
    return stage;
  }

  private savePicture(): void {
    const stage = this.needStage();
    if (!stage) return;
    void stage.sharply(1920, () => {
      const canvas = stage.snapshot(this.caption());
      canvas.toBlob((blob) => {
        if (blob) download(`${this.name}.png`, blob);
        this.say(blob ? `Saved as ${this.name}.png, ${canvas.width} × ${canvas.height} pixels.` : "The browser made no picture; a smaller window may help.");
      }, "image/png");
    });
  }

  private caption(): string {
    return this.moment(this.clock.time);
  }

  /** Draws the run picture by picture, however long each takes, and shows it at the chosen speed. */
  private async saveVideo(): Promise<void> {
    if (this.isFilming) {
      this.isFilming = false;
      return;
    }
    const stage = this.needStage();
    if (!stage) return;
    const { clock } = this;
    const seconds = (clock.end - clock.start) / clock.speed;
    if (seconds > LONGEST) {
      this.say(`At this speed the video would last ${Math.round(seconds)} s; choose a higher one for ${LONGEST} s at most.`);
      return;
    }
    this.isFilming = true;
    this.film.textContent = "Stop";
    clock.pause();
    try {
      const file = await stage.sharply(1280, () => this.filmed(stage, Math.max(1, Math.ceil(seconds * FRAMES_PER_SECOND))));
      if (file) download(`${this.name}.webm`, file);
      this.say(file ? `Saved as ${this.name}.webm, ${seconds.toFixed(1)} s.` : "Stopped; nothing was saved.");
    } catch (error) {
      this.say(error instanceof NoCodec ? error.message : `The browser's codec failed: ${String(error)}`);
    } finally {
      this.isFilming = false;
      this.film.textContent = "Video of the run";
    }
  }

  private async filmed(stage: Stage, count: number): Promise<Blob | null> {
    const { clock } = this;
    const canvas = stage.snapshot("");
    const { width, height } = canvas;
    const [codec, name] = await chosenCodec(width, height);
    const pictures: Picture[] = [];
    let failure: unknown;
    const encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        pictures.push({ bytes, time: Math.round(chunk.timestamp / 1000), isKey: chunk.type === "key" });
      },
      error: (error) => { failure = error; },
    });
    encoder.configure({ codec, width, height, bitrate: BITS_PER_SECOND, framerate: FRAMES_PER_SECOND });
    for (let frame = 0; frame <= count && this.isFilming; frame += 1) {
      if (failure) throw failure;
      clock.set(clock.start + ((clock.end - clock.start) * frame) / count);
      stage.setTime(clock.time);
      stage.snapshot(this.caption(), canvas);
      const picture = new VideoFrame(canvas, { timestamp: Math.round((1e6 * frame) / FRAMES_PER_SECOND) });
      encoder.encode(picture, { keyFrame: frame % BETWEEN_KEYS === 0 });
      picture.close();
      this.say(`Drawing, ${Math.round((100 * frame) / count)} %.`);
      do await new Promise((done) => setTimeout(done, 0)); while (encoder.encodeQueueSize > 8 && !failure);
    }
    await encoder.flush();
    encoder.close();
    if (failure) throw failure;
    return this.isFilming ? webm(pictures, name, width, height, (1000 * (count + 1)) / FRAMES_PER_SECOND) : null;
  }
}

class NoCodec extends Error {}

async function chosenCodec(width: number, height: number): Promise<[string, string]> {
  if (typeof VideoEncoder !== "undefined")
    for (const [codec, name] of CODECS) {
      const { supported } = await VideoEncoder.isConfigSupported({ codec, width, height, bitrate: BITS_PER_SECOND, framerate: FRAMES_PER_SECOND });
      if (supported) return [codec, name];
    }
  throw new NoCodec("This browser has no codec to write a video with. A picture can be saved, or kreisel render --strip used.");
}
