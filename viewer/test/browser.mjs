// Tests of the page in a real Chromium, and of exported files: node test/browser.mjs FOLDER [WORDS]
//
// Only tests whose names contain WORDS are run. FOLDER holds results: one folder per model, and `hostile`, whose title is markup.
import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import validator from "gltf-validator";
import { launch, open } from "./chromium.mjs";
import { checkBadge } from "./badge.mjs";
import { checkLayout, checkOpening, checkOrder } from "./layout.mjs";
import { checkColours, checkScene, checkShadows, checkSizes, checkSurfaces, checkTexts } from "./picture.mjs";
import { checkModes } from "./modes.mjs";
import { checkOverlay, checkStatic } from "./others.mjs";
import { checkCompare, checkNumbers, checkRates } from "./plots.mjs";
import { checkLacking, checkSave } from "./save.mjs";
import { checkSweep } from "./sweep.mjs";
import { differing, interpolate, parsed, picture, readCsv, setTime } from "./tools.mjs";

const folder = resolve(process.argv[2]);
const HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>";
let passed = 0;

const wanted = process.argv[3] ?? "";

async function test(name, body) {
  if (!name.includes(wanted)) return;
  const start = Date.now();
  await body();
  passed += 1;
  console.log(`passed  ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
}

async function checkModel(browser, name) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href);
  const table = readCsv(join(folder, name, "trajectory.csv"));

  const early = await setTime(page, 0.1).then(() => picture(page));
  assert(new Set(early).size > 12, "the canvas is empty");
  const late = await setTime(page, 0.37).then(() => picture(page));
  assert(differing(early, late) > 50, "the picture does not move");

  const time = await setTime(page, 0.4321);
  // Plots are drawn as they come into sight, one frame after the other, and only what is in sight follows the time.
  const inSight = () => [...document.querySelectorAll(".series")].filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return bottom > top && top > 0 && bottom < window.innerHeight && one.querySelector(".value").textContent !== "";
  }).map((one) => [one.dataset.signal, one.querySelector(".value").textContent]);
  await page.waitForFunction(`(${inSight})().length >= 3`);
  const visible = await page.evaluate(inSight);
  for (const [signal, text] of visible) {
    const column = table.get(signal);
    const range = Math.max(...column.map(Math.abs));
    // Five digits at least are written, of numbers in single precision.
    // Round-off beside larger curves is written as zero.
    assert(Math.abs(parsed(text) - interpolate(table, signal, time)) <= (text === "0" ? 1e-9 : 6e-5 * range), `${signal}: ${text} at ${time}`);
  }

  await page.evaluate(() => window.scrollTo(0, 0));
  const before = await page.evaluate(() => window.kreisel.clock.time);
  await page.click("#play");
  await page.waitForFunction((before) => window.kreisel.clock.time !== before, before);
  await page.click("#play");

  await checkPicking(page);
  assert.deepEqual(problems, []);
  await close();
}

/** Clicks on a body or beam where it is drawn; a joint may lie above its centre. */
async function checkPicking(page) {
  await page.click('[data-layer="joints"]');
  const target = await page.evaluate(() => {
    const { stage, recording } = window.kreisel;
    const box = document.getElementById("canvas").getBoundingClientRect();
    const parts = [...recording.scene.bodies, ...recording.scene.beams].map(({ name }) => ({ name, ...stage.project(name) }));
    const body = parts[parts.length - 1];
    return { name: body.name, x: box.left + body.x, y: box.top + body.y };
  });
  await page.mouse.move(target.x, target.y);
  await page.waitForSelector(".tip:not([hidden])");
  assert.equal(await page.textContent(".tip"), target.name);
  await page.mouse.click(target.x, target.y);
  const chosen = await page.textContent("#detail h3");
  assert(chosen.startsWith(target.name), `picked ${chosen} in place of ${target.name}`);
  assert((await page.$$("#detail td.number")).length >= 3, "a body without numbers");
  await page.click('[data-layer="joints"]');
}

async function checkHostile(browser) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, "hostile", "report.html")).href);
  assert.equal(await page.textContent("h1"), HOSTILE);
  assert.equal(await page.title(), HOSTILE);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal((await page.$$("img")).length, 0);
  assert.deepEqual(problems, []);
  await checkPolicy(page);
  await close();
}

/** Markup that got through would still not run, nor ask for anything. */
async function checkPolicy(page) {
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hacked = 3";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", "<img src=data:, onerror='window.hacked = 4'><a id=link href='javascript:window.hacked = 5'>x</a>");
    document.getElementById("link").click();
  });
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  // Offline any request fails; what the policy stops it names.
  const stopped = await page.evaluate(() => new Promise((done) => {
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => { if (effectiveDirective === "connect-src") done("stopped by connect-src"); });
    fetch("https://example.org").then(() => done("answered"), () => setTimeout(done, 1000, "failed for another reason"));
  }));
  assert.equal(stopped, "stopped by connect-src");
}

/** The page of a sweep has no script at all. */
async function checkHostileSweep(browser) {
  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(folder, "hostile", "sweep", "sweep.html")).href);
  assert((await page.textContent("h1")).includes("<img"), "the title is not the name of the model's file");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal((await page.$$("img, script")).length, 0);
  await checkPolicy(page);
  await context.close();
}

async function checkPhone(browser, name) {
  const url = pathToFileURL(join(folder, name, "report.html")).href;
  const { page, problems, close } = await open(browser, url, { viewport: { width: 360, height: 740 }, hasTouch: true });
  const widths = await page.evaluate(() => {
    const wide = [...document.querySelectorAll("#app *")].filter((one) => one.getBoundingClientRect().right > 361 && !one.closest(".labels"));
    return { page: document.documentElement.scrollWidth, wide: wide.map((one) => one.className || one.tagName).slice(0, 5) };
  });
  assert(widths.page <= 360, `the page is ${widths.page} pixels wide: ${widths.wide}`);
  assert(await page.isVisible("#play") && await page.isVisible("#canvas"));
  assert.deepEqual(problems, []);
  await close();
}

async function checkPaper(browser, name) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href);
  await page.emulateMedia({ media: "print" });
  // A sheet is narrower than the screen that the curves were drawn for, and nothing draws them anew.
  const outside = await page.$$eval(".plot", (cards) => cards.map((card) => {
    card.style.width = "300px";
    const right = card.getBoundingClientRect().right;
    return [...card.querySelectorAll("canvas")].filter((one) => one.getBoundingClientRect().right > right + 1).length;
  }).filter((count) => count > 0).length);
  assert.equal(outside, 0, "curves that leave their card on paper");
  assert(await page.isHidden("#play") && await page.isVisible("#canvas"));
  assert.deepEqual(problems, []);
  await close();
}

async function checkKeyboard(browser, name) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href);
  const time = () => page.evaluate(() => window.kreisel.clock.time);
  const frames = await page.evaluate(() => Array.from(window.kreisel.recording.frameTimes.slice(0, 12)));
  await page.keyboard.press("ArrowRight");
  assert.equal(await time(), frames[1]);
  await page.keyboard.press("Shift+ArrowRight");
  assert.equal(await time(), frames[11]);
  await page.keyboard.press("ArrowLeft");
  assert.equal(await time(), frames[10]);
  await page.keyboard.press(" ");
  await page.waitForSelector('#play[aria-label="Pause"]');
  await page.keyboard.press(" ");
  await page.waitForSelector('#play[aria-label="Play"]');
  const unnamed = await page.$$eval("button, input, select, #canvas", (all) =>
    all.filter((one) => !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length)).map((one) => one.outerHTML.slice(0, 80)));
  assert.deepEqual(unnamed, [], "controls without a name for screen readers");
  await page.locator('.plot .small:has-text("CSV")').first().scrollIntoViewIfNeeded();
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator('.plot .small:has-text("CSV")').first().click()]);
  const text = readFileSync(await saved.path(), "utf8");
  assert(text.startsWith("time [s],tip.force.x [N]"), text.slice(0, 40));
  await page.click('[aria-label="Light or dark"]');
  assert(["light", "dark"].includes(await page.getAttribute("html", "data-theme")));
  assert.deepEqual(problems, []);
  await close();
}

/** Bytes of a page without its data, at most; it travels with every run. */
const MOST_BYTES = 870_000;

function checkBytes(name) {
  const page = readFileSync(join(folder, name, "report.html"), "utf8");
  const data = /<script type="application\/json" id="data">.*?<\/script>/s.exec(page)[0];
  const bytes = Buffer.byteLength(page) - Buffer.byteLength(data);
  assert(bytes < MOST_BYTES, `${bytes} bytes`);
}

async function checkGltf(path) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(path)));
  const { numErrors, numWarnings, messages } = report.issues;
  assert.equal(numErrors + numWarnings, 0, JSON.stringify(messages.slice(0, 5)));
  assert(report.info.animationCount === 1 && report.info.totalTriangleCount > 0, "no animation or no shape");
}

// Folders beside those of models have a test of their own.
const models = readdirSync(folder).filter((name) => !["hostile", "snap", "short", "both.html"].includes(name));
const browser = await launch();
try {
  for (const name of models) await test(`the page of ${name} moves, plots and answers`, () => checkModel(browser, name));
  await test("the page is small", () => checkBytes(models[0]));
  await test("a hostile title stays text, and nothing that is injected runs", () => checkHostile(browser));
  await test("nothing that is injected runs in the page of a sweep", () => checkHostileSweep(browser));
  await test("points of a sweep tell their run, on a page that is dark where that is asked for", () => checkSweep(browser, join(folder, "hostile", "sweep")));
  await test("a phone of 360 pixels shows everything", () => checkPhone(browser, models[0]));
  await test("on paper curves stay in their cards", () => checkPaper(browser, models[0]));
  await test("the keyboard steps and plays, every control has a name, curves are saved", () => checkKeyboard(browser, models[0]));
  for (const name of models) await test(`machine, player and two plots of ${name} are in sight`, () => checkLayout(browser, folder, name));
  await test("sensors come first, quality last and folded, repeated parts together", () => checkOrder(browser, folder, "stewart-platform"));
  await test("the verdict is the badge, and quality is behind it", () => checkBadge(browser, folder, "heavy-top"));
  await test("it plays on opening, unless less motion is asked for", () => checkOpening(browser, folder, models[0]));
  await test("three signals in one plot follow the pointer, an unknown one is answered", () => checkCompare(browser, folder, "heavy-top"));
  await test("plots have numbers, spectra, arithmetic and signals over signals", () => checkNumbers(browser, folder, "heavy-top"));
  await test("the only rate of a joint may be called rate", () => checkRates(browser, folder, "slider-crank-spatial", "bearing", 0.7));
  await test("a face in the light has the colour of its swatch", () => checkColours(browser, folder));
  await test("joints are seen in light and dark, axes have letters", () => checkScene(browser, folder));
  await test("what is touched is drawn", () => checkSurfaces(browser, folder));
  await test("shadows are soft", () => checkShadows(browser, folder));
  await test("joints and beams are drawn in the size of the machine", () => checkSizes(browser, folder));
  await test("names are code and files have no folders", () => checkTexts(browser, folder));
  await test("modes move one by one", () => checkModes(browser, join(folder, "right-angle-beam", "modes.html")));
  await test("equilibria move along their path, plotted over the load factor", () => checkStatic(browser, join(folder, "snap")));
  await test("two runs lie over each other, and what only one has is listed", () => checkOverlay(browser, folder, "heavy-top", "short"));
  await test("a picture and a video of the run are saved", () => checkSave(browser, folder, "heavy-top"));
  await test("without WebGL or codec there is a sentence", () => checkLacking(browser, folder, "heavy-top"));
  for (const name of models) await test(`the animation of ${name} is valid glTF`, () => checkGltf(join(folder, name, "animation.glb")));
} finally {
  await browser.close();
}
console.log(`${passed} browser tests passed`);
