// Plots: signals of one's own choice in one plot.
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";
import { interpolate, parsed, readCsv } from "./tools.mjs";

/** Types a word into *Compare*. */
async function compare(page, word) {
  await page.fill("#add-signal", word);
  await page.press("#add-signal", "Enter");
}

export async function checkCompare(browser, folder, name) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href);
  const table = readCsv(join(folder, name, "trajectory.csv"));
  const signals = ["top.position.z", "tip.force.x", "energy.kinetic"];
  for (const signal of signals) {
    await compare(page, signal);
    await page.waitForSelector(`.own [data-signal="${signal}"]`);
    await page.hover(".own .u-over", { position: { x: 60, y: 60 } });
  }
  // Each place of the pointer is a time, and each value is the one of that time.
  for (const part of [0.3, 0.8]) {
    const box = await page.locator(".own .u-over").boundingBox();
    await page.mouse.move(box.x + part * box.width, box.y + 50);
    await page.waitForSelector(".own .plot.hovered");
    await page.waitForTimeout(100);
    const shown = await page.$$eval(".own .series", (all) => all.map((one) => [one.dataset.signal, one.querySelector(".value").textContent]));
    assert.deepEqual(shown.map(([signal]) => signal), signals);
    const { start, end } = await page.evaluate(() => window.kreisel.clock);
    for (const [signal, text] of shown) {
      const range = Math.max(...table.get(signal).map(Math.abs));
      const [before, after] = [-1, 1].map((pixels) => interpolate(table, signal, start + (part + pixels / box.width) * (end - start)));
      const middle = interpolate(table, signal, start + part * (end - start));
      const allowed = Math.abs(before - middle) + Math.abs(after - middle) + 0.01 * range;
      assert(Math.abs(parsed(text) - middle) <= allowed, `${signal}: ${text} at ${part}`);
    }
  }
  await compare(page, "top.positon.z");
  assert.match(await page.textContent("#answer"), /no signal top\.positon\.z.*Did you mean top\.position\.z\?/);
  await page.click("#answer button");
  assert.equal(await page.textContent("#answer"), "");
  await page.click('.own [aria-label^="Remove"]');
  assert.equal((await page.$$(".own .plot")).length, 0);
  const other = page.locator(".plot .u-over").first();
  await other.scrollIntoViewIfNeeded();
  await other.hover();
  assert.deepEqual(problems, []);
  await close();
}
