// Contact sheets of pages for the book: node test/sheets.mjs OUT NAME=PAGE …
//
// Each page in three windows, light and dark, side by side in one picture.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const [out, ...pages] = process.argv.slice(2);
const SIZES = [[1400, 900], [1024, 720], [390, 780]];
/** Height of the pictures on the sheet. */
const HEIGHT = 300;

const browser = await launch();
for (const [name, path] of pages.map((word) => word.split("="))) {
  const rows = [];
  for (const colorScheme of ["light", "dark"]) {
    for (const [width, height] of SIZES) {
      const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", deviceScaleFactor: 1 });
      await page.goto(pathToFileURL(resolve(path)).href);
      // Pages of sweeps are drawings, which are there at once.
      if (await page.$("#app")) {
        await page.waitForSelector('html[data-ready="true"]', { state: "attached" });
        await page.evaluate(() => { const { clock } = window.kreisel; clock.set(clock.start + 0.35 * (clock.end - clock.start)); });
      }
      await page.waitForTimeout(1500);
      rows.push(`<img height="${HEIGHT}" src="data:image/png;base64,${(await page.screenshot()).toString("base64")}">`);
      await page.close();
    }
  }
  const sheet = await browser.newPage({ viewport: { width: 1100, height: 640 } });
  await sheet.setContent(`<body style="margin: 0; background: #777; width: max-content"><div id="sheet" style="display: grid; grid-template-columns: repeat(3, max-content); gap: 6px; padding: 6px">${rows.join("")}</div>`);
  await sheet.waitForFunction(() => [...document.images].every((image) => image.complete));
  await sheet.locator("#sheet").screenshot({ path: join(out, `pages-${name}.jpg`), type: "jpeg", quality: 72 });
  await sheet.close();
}
await browser.close();
