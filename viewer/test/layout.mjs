// Where things stand: what is seen without scrolling, and what stays in view.
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";
import { settled } from "./tools.mjs";

const url = (folder, name) => pathToFileURL(join(folder, name, "report.html")).href;

/** Whether all of an element is within the window. */
const isWhole = (page, selector) => page.locator(selector).first().evaluate((element) => {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= window.innerHeight && right <= window.innerWidth && bottom - top > 30;
});

export async function checkLayout(browser, folder, name) {
  for (const [width, height] of [[1400, 900], [1280, 720]]) {
    const { page, problems, close } = await open(browser, url(folder, name), { viewport: { width, height } });
    await page.waitForSelector(".plot .u-over");
    for (const selector of ["#canvas", ".transport", ".plot >> visible=true >> nth=0", ".plot >> visible=true >> nth=1"])
      assert(await isWhole(page, selector), `${selector} is not in sight at ${width} × ${height}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert(wide <= width, `the page is ${wide} pixels wide at ${width}`);
    const moved = await page.evaluate(() => {
      window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
      return window.scrollY;
    });
    assert(moved > 100, "nothing to scroll");
    for (const selector of ["#canvas", ".transport"]) assert(await isWhole(page, selector), `${selector} scrolls away`);
    await page.click("#show-parts");
    assert(await page.isHidden("#parts"), "the list of parts stays");
    assert.deepEqual(problems, []);
    await close();
  }
}

/** Of the Stewart platform: one sensor, and six of each part of a leg. */
export async function checkOrder(browser, folder, name) {
  const { page, problems, close } = await open(browser, url(folder, name), { viewport: { width: 1280, height: 720 } });
  const sections = await page.$$eval(".plot-section", (all) => all.map((one) => [one.dataset.section, one.open]));
  assert.deepEqual(sections, [["Sensors", true], ["Joint coordinates", true], ["Forces", true], ["Bodies", true], ["Energy", true], ["Quality", false]]);
  const titles = (section) => page.$$eval(`[data-section="${section}"] .plot h3`, (all) => all.map((one) => one.textContent));
  assert.deepEqual(await titles("Sensors"), ["table.rotation-vector"]);
  assert.deepEqual((await titles("Joint coordinates")).slice(0, 2), ["leg-0", "leg-1"]);
  assert((await titles("Quality")).includes("Constraint residuals"));
  const hidden = page.locator('.plot[aria-label="Plot of leg-3"]');
  assert(await hidden.isHidden(), "repeated parts are not folded");
  await page.click('summary:has-text("leg-1 … 5")');
  assert(await hidden.isVisible());
  await page.click('[data-section="Joint coordinates"] > summary');
  assert(await hidden.isHidden(), "a section does not fold");
  await page.fill("#filter-plots", "ram-4.force.z");
  await page.waitForSelector('.plot[aria-label="Plot of ram-4.force"]');
  assert.equal(await page.locator(".plot >> visible=true").count(), 1);

  const item = page.locator('.parts [data-name="piston-4"]');
  assert(await item.isHidden());
  await page.click('.parts summary:has-text("piston-0 … 5")');
  assert(await item.isVisible());
  const colours = await page.$$eval(".parts [data-name]", (all) => all.map((one) => [one.dataset.name, one.querySelector(".dot").style.background]));
  const of = (stem) => new Set(colours.filter(([part]) => part.startsWith(stem)).map(([, colour]) => colour));
  assert.deepEqual([of("piston-").size, of("cylinder-").size, new Set([...of("piston-"), ...of("cylinder-"), ...of("table")]).size], [1, 1, 3]);
  await page.evaluate(() => window.kreisel.panel.select("cylinder-2"));
  assert(await page.locator('.parts [data-name="cylinder-2"]').isVisible(), "what is chosen stays folded");
  const list = await page.$eval(".parts", (one) => [one.scrollHeight > one.clientHeight, one.offsetWidth - one.clientWidth]);
  assert(list[0] && list[1] > 4, `a list without a visible bar: ${list}`);
  assert.deepEqual(problems, []);
  await close();
}

export async function checkOpening(browser, folder, name) {
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const { page, close } = await open(browser, url(folder, name), { reducedMotion });
    if (reducedMotion === "reduce") await settled(page);
    else await page.waitForFunction(() => window.kreisel.clock.time > window.kreisel.clock.start);
    const [label, time, start] = await page.evaluate(() => [document.getElementById("play").getAttribute("aria-label"), window.kreisel.clock.time, window.kreisel.clock.start]);
    assert.deepEqual([label, time > start], reducedMotion === "reduce" ? ["Play", false] : ["Pause", true], reducedMotion);
    await close();
  }
}
