// The page of modes: a list in place of plots, and the machine moving in the chosen one.
import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";
import { differing, picture, setTime, settled } from "./tools.mjs";

export async function checkModes(browser, path) {
  const { page, problems, close } = await open(browser, pathToFileURL(path).href);
  const rows = page.locator("tr.mode");
  const count = await page.evaluate(() => window.kreisel.recording.modes.length);
  assert(count >= 3 && (await rows.count()) === count, `${count} modes`);
  assert.equal(await rows.first().getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator(".plot").count(), 0, "there is nothing over time");
  const still = await setTime(page, 0.25).then(() => picture(page));
  const bent = await setTime(page, 0.5).then(() => picture(page));
  assert(differing(still, bent) > 50, "the shape does not move");
  await rows.nth(2).click();
  await settled(page);
  const { start, time } = await page.evaluate(() => window.kreisel.clock);
  assert(start === 2 && time === 2, `mode 3 begins at ${start}`);
  assert.equal(await rows.nth(2).getAttribute("aria-pressed"), "true");
  const other = await setTime(page, 0.5).then(() => picture(page));
  assert(differing(bent, other) > 50, "two modes look alike");
  await page.click("#play");
  await page.waitForFunction(() => window.kreisel.clock.time > 2.2);
  assert((await page.evaluate(() => window.kreisel.clock.time)) < 3, "it stays in its mode");
  assert.deepEqual(problems, []);
  await close();
}
