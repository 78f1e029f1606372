// Pages of other things than one run: equilibria over the load factor, and several runs over each other.
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";
import { interpolate, parsed, readCsv, settled } from "./tools.mjs";

/** A path that snaps through: the load factor falls between its two limit points, and curves are drawn along it. */
export async function checkStatic(browser, folder) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, "static.html")).href, { viewport: { width: 1280, height: 720 } });
  const factors = readCsv(join(folder, "static.csv")).get("load-factor");
  assert(factors.some((factor, row) => row > 0 && factor < factors[row - 1]), "the test needs a path that turns back");
  const words = await page.textContent(".sub");
  assert(words.includes(`${factors.length} equilibria up to the load factor`), words);
  const plot = page.locator(".plot >> visible=true").first();
  await plot.locator(".u-over").waitFor();
  assert.deepEqual(await plot.locator("thead th").allTextContents(), ["now", "min", "max", "", ""]);
  // The curve of a plot goes through every equilibrium, in the order of the path.
  const drawn = await page.evaluate(() => {
    const { chart, spec } = window.kreisel.plots.all.find((one) => one.isDrawn);
    return { over: spec.over.name, xs: Array.from(chart.data[1][0]) };
  });
  assert.equal(drawn.over, "load-factor");
  const inside = factors.map(Math.fround);
  assert(inside.every((factor) => drawn.xs.includes(factor)) && drawn.xs.length <= inside.length + 2, `${drawn.xs.length} points of ${inside.length}`);
  // The player goes along the path, and the readout is the load factor there.
  const last = factors.length - 1;
  for (const row of [0, Math.floor(last / 2), last]) {
    await page.evaluate((row) => window.kreisel.clock.set(row), row);
    await settled(page);
    const [, number] = /^load factor (.*)$/.exec(await page.textContent("#readout"));
    assert(Math.abs(parsed(number) - factors[row]) <= 1e-3 * Math.abs(factors[row]) + 1e-12, `${number} at point ${row}, not ${factors[row]}`);
  }
  assert.equal(await page.locator('.small:has-text("Whole time")').count(), 0);
  assert(!/undefined|NaN|output times|trajectory/.test(await page.textContent("#app")), "words of a motion");
  assert.deepEqual(problems, []);
  await close();
}

/** A sine of 10 Hz and amplitude 3 in runs of unequal length: each shows as what it is, in the time that both have. */
async function checkSpectra(page, short, end) {
  // Forces over themselves are one where they have values.
  const sine = (signal) => `3*sin(2*pi*10*t)*(${signal})/(${signal})`;
  const signals = [sine("tip.force.z"), sine(`${short}:tip.force.z`), sine(`tip.force.z/${short}:tip.force.z`)];
  await page.click('.own [aria-label="Remove your plot"]');
  for (const signal of signals) {
    await page.fill("#add-signal", signal);
    await page.press("#add-signal", "Enter");
    await page.waitForFunction((signal) => [...document.querySelectorAll(".own .series")].some((row) => row.dataset.signal === signal), signal);
  }
  await page.click('.own button:has-text("Spectrum")');
  await page.waitForSelector(".own .note:visible");
  const note = () => page.textContent(".own .note");
  assert.match(await note(), new RegExp(`Hann window from 0\\ss to ${end}\\ss, where all curves have values`));
  const peaks = () => page.$$eval(".own .series", (rows) => rows.map((row) => [...row.querySelectorAll("td")].slice(1, 3).map((cell) => cell.textContent)));
  for (const [peak, frequency] of await peaks()) assert(Math.abs(parsed(peak) - 3) < 0.03 && parsed(frequency) === 10, `${peak} at ${frequency} Hz`);
  // Without the short run and the difference the window is the whole time, and those have no spectrum there.
  for (const signal of signals.slice(1)) await page.locator(".own .series").nth(signals.indexOf(signal)).locator("button.name").click();
  assert.match(await note(), /from 0\ss to 1\ss, mean removed/);
  const [[peak, frequency], ...others] = await peaks();
  assert(Math.abs(parsed(peak) - 3) < 0.03 && parsed(frequency) === 10, `${peak} at ${frequency} Hz`);
  assert.deepEqual(others, [["–", "–"], ["–", "–"]]);
  await page.click('.own [aria-label="Remove your plot"]');
}

/** Two runs of a heavy top: `name` and `short`, which ends earlier and has a sensor more. */
export async function checkOverlay(browser, folder, name, short) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, "both.html")).href, { viewport: { width: 1280, height: 720 } });
  const [first, second] = [name, short].map((one) => readCsv(join(folder, one, "trajectory.csv")));
  const plot = '.plot[aria-label="Plot of tip.force"]';
  await page.waitForSelector(`${plot} .u-over`);
  const rows = await page.$$eval(`${plot} .series`, (all) => all.map((one) => [one.dataset.signal, one.querySelector(".name").textContent]));
  assert.deepEqual(rows.map(([signal]) => signal), [...["x", "y", "z"].map((axis) => `tip.force.${axis}`), ...["x", "y", "z"].map((axis) => `${short}:tip.force.${axis}`)]);
  assert.equal(rows[3][1], `xN, ${short}`);
  const value = (signal) => page.$eval(`${plot} [data-signal="${signal}"] .value`, (cell) => cell.textContent);
  const end = second.get("time").at(-1);
  for (const time of [0.5 * end, 0.9 * end]) {
    await page.evaluate((time) => window.kreisel.clock.set(time), time);
    await settled(page);
    for (const [signal, table] of [["tip.force.x", first], [`${short}:tip.force.x`, second]]) {
      const right = interpolate(table, "tip.force.x", time);
      const range = Math.max(...table.get("tip.force.x").map(Math.abs));
      assert(Math.abs(parsed(await value(signal)) - right) < 1e-4 * range, `${signal} at ${time}`);
    }
  }
  // Beyond its end a run has no values, also not in a difference.
  await page.evaluate((time) => window.kreisel.clock.set(time), 2 * end);
  await settled(page);
  assert.equal(await value(`${short}:tip.force.x`), "–");
  const looks = await page.evaluate(() => window.kreisel.plots.all.find((one) => one.spec.title === "tip.force").chart.series.slice(1).map(({ stroke, dash }) => [stroke(), (dash ?? []).length]));
  assert(looks.slice(0, 3).every(([colour, dashes], k) => dashes === 0 && looks[k + 3][0] === colour && looks[k + 3][1] > 0), JSON.stringify(looks));
  // Arithmetic across runs, and the nearest name where a run is mistyped.
  await page.fill("#add-signal", `tip.force.x - ${short}:tip.force.x`);
  await page.press("#add-signal", "Enter");
  await page.waitForSelector(".own .u-over");
  await page.evaluate((time) => window.kreisel.clock.set(time), 0.5 * end);
  await settled(page);
  const difference = parsed(await page.textContent(".own .value"));
  const range = Math.max(...first.get("tip.force.x").map(Math.abs));
  assert(Math.abs(difference - (interpolate(first, "tip.force.x", 0.5 * end) - interpolate(second, "tip.force.x", 0.5 * end))) < 1e-4 * range, `${difference}`);
  await checkSpectra(page, short, end);
  const only = await page.$$eval(".fact.only", (all) => all.map((one) => [one.querySelector("h3").textContent, [...one.querySelectorAll("li")].map((item) => item.textContent)]));
  assert.deepEqual(only, [[`Signals that only ${short} has`, ["x", "y", "z"].map((axis) => `spin.angular-velocity.${axis}`)]]);
  const facts = await page.textContent("#facts");
  assert(/end time.*1 and 0\.4/.test(facts) && facts.includes("which differ"), facts.slice(0, 400));
  assert(facts.includes(`in the folders of the runs, ${name}, ${short}`), "where the tables are");
  assert.match(await page.textContent(".sub"), new RegExp(`${short}`));
  assert.deepEqual(problems, []);
  await close();
}
