// Where things stand: what is seen without scrolling, and what stays in view.
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";

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
    for (const selector of ["#canvas", ".transport", ".plot >> nth=0", ".plot >> nth=1"])
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

export async function checkOpening(browser, folder, name) {
  for (const reducedMotion of ["no-preference", "reduce"]) {
    const { page, close } = await open(browser, url(folder, name), { reducedMotion });
    await page.waitForTimeout(500);
    const [label, time, start] = await page.evaluate(() => [document.getElementById("play").getAttribute("aria-label"), window.kreisel.clock.time, window.kreisel.clock.start]);
    assert.deepEqual([label, time > start], reducedMotion === "reduce" ? ["Play", false] : ["Pause", true], reducedMotion);
    await close();
  }
}
