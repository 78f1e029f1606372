// Puts the page together.

import "./style.css";
import { badge, verdict } from "./badge";
import { Clock } from "./clock";
import { Recording, written } from "./data";
import { el, icon, prose } from "./dom";
import { facts } from "./facts";
import { showModes } from "./modes";
import { Panel } from "./panel";
import { Plots } from "./plots";
import { Saver } from "./save";
import { type Layer, Stage } from "./stage";

const recording = Recording.read();
const clock = new Clock(recording.start, recording.end, recording.frameTimes);
const app = document.getElementById("app")!;

function header(): HTMLElement {
  const { run, scene } = recording;
  const model = recording.modelFile;
  const theme = el("button", { type: "button", class: "round", "aria-label": "Light or dark", title: "Light or dark", click: () => setDark(!dark) }, icon("theme"));
  return el("header", { class: "top" },
    el("div", { class: "words" },
      el("h1", { title: scene.title || model }, ...prose(scene.title || model)),
      el("p", { class: "sub" },
        badge(run),
        run.warnings.length > 0 ? el("a", { class: "warned", href: "#facts" }, run.warnings.length === 1 ? "1 warning" : `${run.warnings.length} warnings`) : null,
        el("span", {}, model), el("span", {}, extent()),
        ...recording.others.map(({ name, run: other }, index) => el("span", { class: "run" }, el("i", { class: `swatch r${index + 1}` }), name,
          `, ${verdict(other)}`)),
        el("span", {}, `Kreisel ${run.version}`))),
    theme);
}

/** What the page goes through. */
function extent(): string {
  const { modes, over, start, end, recordCount } = recording;
  if (modes) return `${modes.length} modes`;
  if (over) return recordCount === 1 ? `in equilibrium at the ${recording.moment(start)}` : `${recordCount} equilibria up to the ${recording.moment(end)}`;
  return `${written(start)} s to ${written(end)} s`;
}

function toolbar(stage: Stage): HTMLElement {
  const layers: [Layer, string][] = [["joints", "Joints"], ["trails", "Trails"], ["names", "Names"], ["grid", "Grid"]];
  if (stage.has("reactions")) layers.splice(1, 0, ["reactions", "Reactions"]);
  if (stage.has("forces")) layers.splice(1, 0, ["forces", "Forces"]);
  const toggles = layers.map(([layer, name]) => {
    const button: HTMLButtonElement = el("button", { type: "button", class: "toggle", "data-layer": layer, "aria-pressed": String(stage.layers[layer]), click: () => {
      stage.setLayer(layer, !stage.layers[layer]);
      button.setAttribute("aria-pressed", String(stage.layers[layer]));
    } }, name);
    return button;
  });
  const follow = el("select", { "aria-label": "Follow a body", title: "Follow a body", change: () => {
    stage.follow(follow.value === "" ? null : Number(follow.value));
  } }, el("option", { value: "" }, "Follow nothing"),
    ...recording.scene.bodies.map((body) => el("option", { value: String(body.node) }, `Follow ${body.name}`)));
  const view = (name: "front" | "side" | "top", text: string): HTMLElement =>
    el("button", { type: "button", class: "toggle plain", click: () => stage.fit(name), title: `Look from the ${name}` }, text);
  const parts: HTMLButtonElement = el("button", { type: "button", class: "toggle", id: "show-parts", "aria-pressed": "true", "aria-controls": "parts", title: "Show or hide the list of parts", click: () => {
    side.hidden = !side.hidden;
    parts.setAttribute("aria-pressed", String(!side.hidden));
  } }, "Parts");
  return el("div", { class: "overlay" },
    el("div", { class: "bar", role: "group", "aria-label": "What is shown" }, parts, ...toggles),
    el("div", { class: "bar", role: "group", "aria-label": "View" },
      el("button", { type: "button", class: "toggle plain", "aria-label": "Show everything", title: "Show everything", click: () => stage.fit() }, icon("fit")),
      view("front", "Front"), view("side", "Side"), view("top", "Top"), follow));
}

function transport(): HTMLElement {
  const button = (name: string, label: string, action: () => void): HTMLButtonElement =>
    el("button", { type: "button", class: name, "aria-label": label, title: label, click: action }, icon(name));
  const play = button("play", "Play", () => clock.toggle());
  play.classList.add("play");
  play.id = "play";
  const slider = el("input", { type: "range", id: "time", min: "0", max: "100000", step: "1", "aria-label": "Time", input: () => {
    clock.pause();
    clock.set(clock.start + (Number(slider.value) / 100000) * (clock.end - clock.start));
  } });
  const readout = el("output", { id: "readout", for: "time" });
  const speed = el("select", { "aria-label": "Speed", title: "Speed", id: "speed", change: () => clock.setSpeed(Number(speed.value)) },
    ...clock.speeds.map((value) => el("option", { value: String(value) }, recording.over ? `${value} /s` : `× ${value}`)));
  let wasPlaying: boolean | null = null;
  const refresh = (): void => {
    const part = clock.end > clock.start ? (clock.time - clock.start) / (clock.end - clock.start) : 0;
    slider.value = String(Math.round(part * 100000));
    slider.style.setProperty("--part", `${(100 * part).toFixed(2)}%`);
    slider.setAttribute("aria-valuetext", recording.over ? recording.moment(clock.time) : `${written(clock.time)} seconds`);
    readout.textContent = recording.modes ? `${(360 * (clock.time - clock.start)).toFixed(0)}°` : recording.moment(clock.time, digits);
    speed.value = String(clock.speed);
    if (wasPlaying === clock.playing) return;
    wasPlaying = clock.playing;
    play.replaceChildren(icon(clock.playing ? "pause" : "play"));
    play.setAttribute("aria-label", clock.playing ? "Pause" : "Play");
    play.title = clock.playing ? "Pause (space)" : "Play (space)";
  };
  const digits = Math.min(9, Math.max(2, 4 - Math.floor(Math.log10(Math.max(1e-9, clock.end - clock.start)))));
  clock.onChange(refresh);
  refresh();
  return el("div", { class: "transport", role: "group", "aria-label": recording.over ? "Load factor" : "Time", "data-still": clock.end <= clock.start },
    el("div", { class: "buttons" },
      button("first", "To the start", () => clock.set(clock.start)), button("back", "One frame back", () => clock.step(-1)), play,
      button("forward", "One frame on", () => clock.step(1)), button("last", "To the end", () => clock.set(clock.end))),
    slider, readout, speed, saver.menu);
}

function keys(): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    const isButton = target.tagName === "BUTTON" || target.tagName === "A";
    const many = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => clock.step(-many), ArrowRight: () => clock.step(many),
      Home: () => clock.set(clock.start), End: () => clock.set(clock.end),
      "+": () => faster(1), "-": () => faster(-1),
    };
    if (!isButton) actions[" "] = () => clock.toggle();
    const action = actions[event.key];
    if (action) {
      action();
      event.preventDefault();
    }
  });
}

function faster(direction: number): void {
  const at = clock.speeds.indexOf(clock.speed) + direction;
  if (clock.speeds[at]) clock.setSpeed(clock.speeds[at]);
}

let stage: Stage | null = null;
const saver = new Saver(clock, () => stage, recording.modelFile.replace(/\.[^.]*$/, "") || "run", (time) => (recording.over ? "" : "t = ") + recording.moment(time));
const picture = el("div", { class: "view" });
const side = el("aside", { class: "panel card", "aria-label": "Parts", id: "parts" });
const plotBox = el("section", { class: "plots", id: "plots", "aria-label": "Plots" });
const factBox = el("div", { class: "fact-grid" });

// The machine and its player stay where they are while plots and facts are scrolled beside them.
app.append(
  el("a", { class: "skip", href: "#plots" }, "To the plots"),
  header(),
  el("main", {},
    el("div", { class: "desk" },
      el("div", { class: "bench" }, side,
        el("div", { class: "machine" }, el("section", { class: "view-card card", "aria-label": "Machine" }, picture), transport())),
      el("div", { class: "sheets" }, plotBox,
        el("section", { class: "facts", id: "facts", "aria-label": "Facts" }, el("h2", {}, "Facts"), factBox),
        el("footer", {}, "Space plays, ← and → step (with shift ten), + and − change the speed, Home and End jump. ",
          "In plots a click sets the time, dragging zooms all, a double click zooms out.")))));

try {
  stage = new Stage(recording, picture);
  picture.append(toolbar(stage), el("span", { class: "grid-note" },
    stage.strainScale > 0 ? el("i", { class: "strain-bar" }) : null,
    // How large a mode is has no meaning.
    stage.strainScale === 0 ? "" : recording.modes ? "strain, " : `strain up to ${written(Number(stage.strainScale.toPrecision(2)))}, `, `grid ${written(stage.gridStep)} m`));
} catch (error) {
  picture.append(el("p", { class: "hint no-webgl" }, `The 3-D picture needs WebGL, which this browser does not give (${String(error)}). Plots and numbers work.`));
}
const panel = new Panel(recording, clock, stage, side);
if (stage) {
  stage.onPick = (name) => panel.select(name);
  clock.onChange(() => stage.setTime(clock.time));
  stage.setTime(clock.time);
}
const plots = recording.modes ? null : new Plots(recording, clock, plotBox);
if (recording.modes) showModes(recording.modes, clock, plotBox);
facts(recording, factBox);
keys();

let dark = false;
function setDark(wanted: boolean): void {
  dark = wanted;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  stage?.setDark(dark);
  plots?.setDark(dark);
}
setDark(matchMedia("(prefers-color-scheme: dark)").matches);

/** What a reader has set, for a page that takes the place of this one while a run goes on. */
interface View {
  dark: boolean;
  playing: boolean;
  speed: number;
  time: number;
  scroll: number;
  part: string | null;
  camera: [number[], number[]] | null;
  layers: [Layer, boolean][];
  range: [number, number] | null;
}

/** A moment that was wanted of a run that had not got there, and where the clock stands for it. */
let ahead: { wanted: number; stands: number } | null = null;

const view = {
  keep: (): View => ({
    dark, playing: clock.playing, speed: clock.speed, time: ahead && !clock.playing && clock.time === ahead.stands ? ahead.wanted : clock.time, scroll: window.scrollY, part: panel.selected,
    camera: stage?.view ?? null, layers: stage ? (Object.entries(stage.layers) as [Layer, boolean][]) : [], range: plots?.zoom ?? null,
  }),
  restore: (kept: View): void => {
    setDark(kept.dark);
    clock.setSpeed(kept.speed);
    clock.set(kept.time);
    ahead = clock.time < kept.time ? { wanted: kept.time, stands: clock.time } : null;
    if (!kept.playing) clock.pause();
    panel.select(kept.part);
    if (stage && kept.camera) stage.view = kept.camera;
    for (const [layer, shown] of kept.layers) if (stage?.layers[layer] !== shown) document.querySelector<HTMLElement>(`[data-layer="${layer}"]`)?.click();
    if (kept.range) plots?.setZoom(kept.range);
    window.scrollTo({ top: kept.scroll, behavior: "instant" });
  },
};

// For tests, for the frame of a run that goes on, and for the curious.
Object.assign(window, { kreisel: { recording, clock, stage, panel, plots, setDark, view } });
document.documentElement.dataset.ready = "true";
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play();
