// The page of `kreisel watch` in a real browser: node test/watch.mjs PROGRAM MODEL
//
// MODEL is copied, run, broken and mended; the page has to follow, and to keep what its reader has set.
import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./chromium.mjs";

const [program, model] = process.argv.slice(2);
const text = readFileSync(model, "utf8");
const folder = mkdtempSync(join(tmpdir(), "kreisel-watch-"));
let watching;
let browser;
try {
  const file = join(folder, "swing.toml");
  writeFileSync(file, text);
  browser = await launch();
  watching = spawn(program, ["watch", file, "--end-time", "0.5", "--out", join(folder, "results"), "--no-browser"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((done, fail) => {
    watching.once("error", fail);
    watching.once("exit", (code) => fail(new Error(`kreisel watch ended with ${code}`)));
    watching.stdout.once("data", (data) => done(String(data).trim()));
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(120_000);
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  await page.goto(url);
  const standing = (word) => page.waitForSelector(`body[data-standing="${word}"]`, { state: "attached" });
  // The frame that is seen; the next one waits behind it until it has what the reader has set.
  const frame = async (run) => {
    await page.waitForFunction((run) => {
      const [one, ...others] = document.querySelectorAll("iframe:not(.next)");
      return one && others.length === 0 && one.contentWindow.kreisel?.recording.run.status === "done" && one.contentWindow.run !== run;
    }, run);
    const seen = page.frames().find((one) => one !== page.mainFrame() && one.url().includes("page?"));
    await seen.evaluate((run) => { window.run = run; }, run);
    return seen;
  };
  await standing("done");
  const first = await frame(1);
  await first.evaluate(() => {
    const { stage, clock, panel } = window.kreisel;
    clock.pause();
    clock.set(0.3);
    panel.select("rod");
    stage.view = [[3, -4, 2], [0.1, 0, 0]];
  });
  writeFileSync(file, text.replace("[[revolute]]", "[[revolut]]"));
  await standing("wrong");
  assert.match(await page.textContent("#message"), /did you mean `revolute`\?/);
  assert(await first.evaluate(() => window.kreisel.clock.time) === 0.3, "the last page stays");
  writeFileSync(file, text.replace("length = 1", "length = 0.5"));
  await standing("done");
  assert(await page.isHidden("#message"));
  await page.waitForFunction(() => document.querySelectorAll("iframe").length === 1 && document.querySelector("iframe").contentWindow.run === undefined);
  const second = await frame(2);
  const kept = await second.evaluate(() => {
    const { stage, clock, panel } = window.kreisel;
    return { time: clock.time, playing: clock.playing, part: panel.selected, from: stage.camera.position.toArray() };
  });
  assert.deepEqual([kept.time, kept.playing, kept.part], [0.3, false, "rod"]);
  [3, -4, 2].forEach((value, k) => assert(Math.abs(kept.from[k] - value) < 1e-6, `${kept.from}`));
  watching.kill("SIGINT");
  await standing("gone");
  assert((await page.textContent("#words")).includes("has ended"));
  // Once it has ended the server is gone, which the browser notes.
  assert.deepEqual(problems.filter((problem) => !/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE/.test(problem)), []);
  console.log("passed  the page of kreisel watch follows its model");
} finally {
  watching?.kill("SIGKILL");
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
}
