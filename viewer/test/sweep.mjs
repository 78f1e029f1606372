// Tests of the page of a sweep: every point tells its run, in light and in the dark.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Mean brightness of a picture, from 0 to 1; another page looks at it, since that of a sweep loads no pictures. */
async function shadeOf(spare, png) {
  return spare.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    const { data: bytes } = context.getImageData(0, 0, image.width, image.height);
    let sum = 0;
    for (let at = 0; at < bytes.length; at += 4) sum += bytes[at] + bytes[at + 1] + bytes[at + 2];
    return sum / (bytes.length / 4) / 765;
  }, png.toString("base64"));
}

/** Each run of the table has a point, and who points at it reads its parameter and its measure. */
export async function checkSweep(browser, folder) {
  const rows = readFileSync(join(folder, "sweep.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(","));
  const url = pathToFileURL(join(folder, "sweep.html")).href;
  const shades = [];
  const spare = await browser.newPage();
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ colorScheme, offline: true, viewport: { width: 1000, height: 700 } });
    const page = await context.newPage();
    await page.goto(url);
    const points = await page.$$("path.point");
    assert.equal(points.length, rows.length, "not every run has a point");
    for (const [number, point] of points.entries()) {
      await point.scrollIntoViewIfNeeded();
      const { x, y, width, height } = await point.boundingBox();
      const centre = [x + width / 2, y + height / 2];
      const before = await point.evaluate((one) => getComputedStyle(one).strokeWidth);
      await page.mouse.move(...centre);
      // What a browser shows beside the pointer is the title of the element below it.
      const said = await page.evaluate(([left, top]) => document.elementFromPoint(left, top)?.querySelector(":scope > title")?.textContent, centre);
      assert(said !== undefined, `nothing is said of run ${number}`);
      const [, run, mass, value] = /^run (\d+): mass = ([^,]+), .* = (\S+)$/.exec(said) ?? assert.fail(said);
      const [, wanted, measured] = rows[Number(run)].map(Number);
      assert.equal(Number(mass), wanted, said);
      assert(Math.abs(Number(value) / measured - 1) < 1e-3, said);
      assert.notEqual(await point.evaluate((one) => getComputedStyle(one).strokeWidth), before, "the point under the pointer looks like the others");
    }
    shades.push({
      page: await shadeOf(spare, await page.screenshot({ clip: { x: 2, y: 2, width: 4, height: 4 } })),
      plot: await shadeOf(spare, await (await page.$(".plots svg")).screenshot()),
      words: await page.evaluate(() => getComputedStyle(document.querySelector("h1")).color.match(/\d+/g).reduce((sum, part) => sum + part / 765, 0)),
    });
    await context.close();
  }
  await spare.close();
  const [light, dark] = shades;
  assert(light.page > 0.8 && light.plot > 0.8 && light.words < 0.3, JSON.stringify(light));
  assert(dark.page < 0.2 && dark.plot < 0.2 && dark.words > 0.7, JSON.stringify(dark));
}
