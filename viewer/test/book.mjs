// The built book in a real Chromium: node test/book.mjs FOLDER
//
// Every page opens without an error, shows its pictures and formulas, and is not wider than a desk or a phone.
import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";

const folder = resolve(process.argv[2]);
// Pages of machines in the gallery have tests of their own; what is printed is every page once more.
const SKIPPED = /(^|\/)(gallery\/.*|print|toc|404)\.html$/;
const pages = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".html") && !SKIPPED.test(name)).sort();
assert(pages.length > 40, `${pages.length} pages`);

const browser = await launch();
const context = await browser.newContext({ offline: true, reducedMotion: "reduce" });
const page = await context.newPage();
const faults = [];
let name = "";
page.on("console", (message) => { if (message.type() === "error") faults.push(`${name}: ${message.text()}`); });
page.on("pageerror", (error) => faults.push(`${name}: ${error}`));
for (name of pages) {
  for (const [width, height] of [[1280, 720], [360, 640]]) {
    await page.setViewportSize({ width, height });
    await page.goto(pathToFileURL(join(folder, name)).href);
    const seen = await page.evaluate(() => {
      const text = document.createElement("div");
      text.append(document.querySelector("main").cloneNode(true));
      text.querySelectorAll("code, pre").forEach((code) => code.remove());
      return {
        broken: [...document.images].filter((image) => image.complete && image.naturalWidth === 0 && image.loading !== "lazy").map((image) => image.getAttribute("src")),
        raw: /\$\$|\\frac|\\mathrm|\{\{#/.exec(text.textContent)?.[0],
        width: document.documentElement.scrollWidth,
        links: [...document.querySelectorAll("main a[href]")].map((link) => link.href).filter((href) => href.startsWith("file:")),
      };
    });
    if (seen.broken.length > 0) faults.push(`${name}: no picture ${seen.broken.join(", ")}`);
    if (seen.raw) faults.push(`${name}: shows ${seen.raw}`);
    if (seen.width > width) faults.push(`${name}: ${seen.width} pixels wide in ${width}`);
    if (width > 1000) for (const href of seen.links) {
      const [file, anchor] = href.split("#");
      const target = relative(folder, new URL(file).pathname);
      if (anchor && target === name && !(await page.evaluate((id) => document.getElementById(id) !== null, decodeURIComponent(anchor)))) faults.push(`${name}: no place #${anchor}`);
    }
  }
}
name = "gallery.html";
await page.setViewportSize({ width: 1280, height: 720 });
await page.goto(pathToFileURL(join(folder, name)).href);
await page.click('main a[href="gallery/four-bar.html"] img');
await page.waitForSelector('html[data-ready="true"] #play', { state: "attached" });
await browser.close();
assert.deepEqual(faults, []);
console.log(`${pages.length} pages of the book, each at 1280 and 360 pixels`);
