// What *Save* writes: a picture, a video of the whole run, or a sentence why not.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";

async function saved(page, button) {
  await page.click("#save");
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  await page.click("#save");
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Size, length in s, and how much of the picture differs between the start and later moments. */
const watched = (page, bytes, type) => page.evaluate(async ([base64, type]) => {
  const video = document.createElement("video");
  const blob = new Blob([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], { type });
  video.src = URL.createObjectURL(blob);
  video.muted = true;
  await new Promise((done, fail) => { video.onloadeddata = done; video.onerror = () => fail(new Error(video.error.message)); });
  const seek = (time) => new Promise((done) => { video.onseeked = done; video.currentTime = time; });
  const length = video.duration;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [120, 90];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const frames = [];
  for (const part of [0.02, 0.5, 0.9]) {
    await seek(part * length);
    context.drawImage(video, 0, 0, 120, 90);
    frames.push(context.getImageData(0, 0, 120, 90).data);
  }
  const differing = frames.slice(1).map((frame) => frame.filter((value, k) => Math.abs(value - frames[0][k]) > 24).length);
  return { width: video.videoWidth, height: video.videoHeight, length, differing };
}, [bytes.toString("base64"), type]);

export async function checkSave(browser, folder, name) {
  const url = pathToFileURL(join(folder, name, "report.html")).href;
  const { page, problems, close } = await open(browser, url, { viewport: { width: 700, height: 520 } });
  const picture = await saved(page, "#save-picture");
  assert.equal(picture.name, `${name}.png`);
  const wide = picture.bytes.readUInt32BE(16);
  assert(picture.bytes.subarray(1, 4).toString() === "PNG" && wide >= 1900, `${wide} pixels`);
  const speed = await page.evaluate(() => {
    const { clock } = window.kreisel;
    clock.setSpeed((clock.end - clock.start) / 0.5);
    return clock.speed;
  });
  const video = await saved(page, "#save-video");
  assert.equal(video.name, `${name}.webm`);
  assert(video.bytes.length > 5000, `${video.bytes.length} bytes`);
  assert.equal(await page.evaluate(() => window.kreisel.clock.time === window.kreisel.clock.end), true, "the run was not played to its end");
  assert.equal(await page.evaluate(() => window.kreisel.clock.speed), speed);
  assert.deepEqual(problems, []);
  await close();
  const player = await browser.newPage();
  const seen = await watched(player, video.bytes, "video/webm");
  assert(seen.width >= 1278 && Math.abs(seen.length - 0.5 - 1 / 30) < 0.01, JSON.stringify(seen));
  assert(seen.differing.every((count) => count > 30), `the video does not move: ${seen.differing}`);
  await player.close();
}

/** Opens a page in a browser that lacks something. */
async function lacking(browser, url, script) {
  const context = await browser.newContext({ offline: true, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.addInitScript(script);
  await page.goto(url);
  await page.waitForSelector('html[data-ready="true"]', { state: "attached" });
  return { page, close: () => context.close() };
}

export async function checkLacking(browser, folder, name) {
  const url = pathToFileURL(join(folder, name, "report.html")).href;
  const blind = await lacking(browser, url, () => {
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (type, ...rest) { return type.startsWith("webgl") ? null : original.call(this, type, ...rest); };
  });
  assert.match(await blind.page.textContent(".no-webgl"), /needs WebGL/);
  await blind.page.click("#save");
  for (const button of ["#save-picture", "#save-video"]) {
    await blind.page.click(button);
    assert.match(await blind.page.textContent("#save-status"), /gives no WebGL/);
  }
  await blind.page.waitForSelector(".plot .u-over");
  await blind.close();
  const mute = await lacking(browser, url, () => { VideoEncoder.isConfigSupported = async () => ({ supported: false }); });
  await mute.page.click("#save");
  await mute.page.click("#save-video");
  assert.match(await mute.page.textContent("#save-status"), /no codec/);
  await mute.close();
}
