// Plots: signals of one's own choice, numbers of what is seen, spectra, arithmetic, signals over signals.
import { strict as assert } from "node:assert";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";
import { interpolate, parsed, readCsv, settled } from "./tools.mjs";

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
    await settled(page);
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

/** The numbers in a row of a plot's table. */
const numbers = (page, plot, signal) => page.$eval(`${plot} [data-signal="${signal}"]`, (row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))
  .then((cells) => cells.map(parsed));

/** Least, greatest, mean and RMS of the points within a stretch of time; steps are even. */
function expected(table, signal, from, to) {
  const inside = table.get(signal).filter((_, row) => table.get("time")[row] >= from && table.get("time")[row] <= to);
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return [Math.min(...inside), Math.max(...inside), mean(inside), Math.sqrt(mean(inside.map((value) => value * value)))];
}

export async function checkNumbers(browser, folder, name) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href, { viewport: { width: 1280, height: 900 } });
  const table = readCsv(join(folder, name, "trajectory.csv"));
  const plot = '.plot[aria-label="Plot of tip.force"]';
  await page.waitForSelector(`${plot} .u-over`);
  const check = async (words) => {
    const [from, to] = await page.evaluate(() => window.kreisel.plots.range);
    for (const axis of ["x", "y", "z"]) {
      const signal = `tip.force.${axis}`;
      const [, ...shown] = await numbers(page, plot, signal);
      const range = Math.max(...table.get(signal).map(Math.abs));
      expected(table, signal, from, to).forEach((value, k) =>
        assert(Math.abs(shown[k] - value) < 3e-3 * range, `${signal} ${words}: ${shown[k]} for ${value}`));
    }
  };
  await check("of the whole time");
  assert.equal(await page.evaluate(() => window.kreisel.plots.all.find((one) => one.isDrawn).chart.axes[0].label), "time [s]");
  const box = await page.locator(`${plot} .u-over`).boundingBox();
  await page.mouse.move(box.x + 0.25 * box.width, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.75 * box.width, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => window.kreisel.plots.range[1] < 0.8);
  await settled(page);
  await check("of half the time");
  await page.click('button:has-text("Whole time")');

  // A sine of 8 Hz and amplitude 3, with a mean that is removed.
  await compare(page, "3*sin(2*pi*8*t) * energy.kinetic/energy.kinetic + 7");
  await page.click('.own button:has-text("Spectrum")');
  await page.waitForSelector(".own .note:visible");
  assert.match(await page.textContent(".own .note"), /Hann window from 0\ss to 1\ss.*resolution 1\sHz/);
  const row = await page.$eval(".own .series", (one) => one.dataset.signal);
  const [, peak, frequency] = await numbers(page, ".own", row);
  assert(Math.abs(peak - 3) < 0.02 && frequency === 8, `${peak} at ${frequency} Hz`);
  await page.click('.own [aria-label="Remove your plot"]');

  // Arithmetic reckons with units and says what it does not understand.
  await compare(page, "norm(tip.force) - tip.force.x");
  await page.waitForSelector(".own .u-over");
  const [now] = await numbers(page, ".own", "norm(tip.force) - tip.force.x");
  const [x, y, z] = ["x", "y", "z"].map((axis) => interpolate(table, `tip.force.${axis}`, 0));
  assert(Math.abs(now - (Math.hypot(x, y, z) - x)) < 1e-3 * Math.hypot(x, y, z), `${now}`);
  assert.equal(await page.textContent('.own [data-signal^="norm"] small'), "N");
  for (const [formula, answer] of [["tip.force.x + top.position.x", /N and m cannot be added/], ["2*(tip.force.x", /A “\)” is missing/],
    ["tip.force*2", /is a vector/], ["norm(tip.forse)", /Did you mean tip\.force\?/], ["sinus(tip.force.x)", /no function sinus/], ["tip.force.x -* 2", /What is/], ["2*3", /needs a signal/]]) {
    await compare(page, formula);
    assert.match(await page.textContent("#answer"), answer);
  }
  await compare(page, "2*tip.forse.x");
  await page.click('#answer button:has-text("tip.force.x")');
  await page.waitForSelector('.own [data-signal="2*tip.force.x"]');
  await page.click('.own [aria-label="Remove your plot"]');

  // One signal over another: the mark is where the machine is.
  await compare(page, "top.position.y");
  await page.fill(".own .over", "top.position.x");
  await page.press(".own .over", "Enter");
  await page.waitForSelector(".own .mark");
  const place = async (part) => {
    await page.evaluate((part) => window.kreisel.clock.set(part), part);
    await settled(page);
    const [area, mark] = [await page.locator(".own .u-over").boundingBox(), await page.locator(".own .mark").boundingBox()];
    return [(mark.x + mark.width / 2 - area.x) / area.width, 1 - (mark.y + mark.height / 2 - area.y) / area.height];
  };
  const scaled = (signal, time) => {
    const [low, high] = [Math.min(...table.get(signal)), Math.max(...table.get(signal))];
    return (interpolate(table, signal, time) - low + 0.06 * (high - low)) / (1.12 * (high - low));
  };
  for (const time of [0.2, 0.7]) {
    const [across, upwards] = await place(time);
    assert(Math.abs(across - scaled("top.position.x", time)) < 0.02 && Math.abs(upwards - scaled("top.position.y", time)) < 0.03, `${across} ${upwards} at ${time}`);
  }
  assert.deepEqual(problems, []);
  await close();
}

/** The only rate of a joint may be called `rate` alone, by itself and in formulas. */
export async function checkRates(browser, folder, name, joint, time) {
  const { page, problems, close } = await open(browser, pathToFileURL(join(folder, name, "report.html")).href);
  const table = readCsv(join(folder, name, "trajectory.csv"));
  await page.evaluate((time) => window.kreisel.clock.set(time), time);
  await settled(page);
  const full = `${joint}.angle-rate`;
  for (const [word, shown, factor] of [[`${joint}.rate`, full, 1], [`2*${joint}.rate`, `2*${joint}.rate`, 2]]) {
    await compare(page, word);
    await page.waitForSelector(`.own [data-signal="${shown}"]`);
    // The numbers follow with the next pictures.
    await page.evaluate((time) => window.kreisel.clock.set(time), time);
    await settled(page);
    const [now] = await numbers(page, ".own", shown);
    const expected = factor * interpolate(table, full, time);
    assert(Math.abs(now - expected) < 1e-3 * Math.abs(expected), `${word}: ${now}, not ${expected}`);
    await page.click('.own [aria-label="Remove your plot"]');
  }
  assert.deepEqual(problems, []);
  await close();
}
