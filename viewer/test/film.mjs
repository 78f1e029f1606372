// Frames of a run for a moving picture: node test/film.mjs PAGE OUTPUT COUNT
//
// The machine alone, without panels and plots, at COUNT times evenly over the run.
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./chromium.mjs";
import { settled } from "./tools.mjs";

const [report, output, count] = process.argv.slice(2);
const browser = await launch();
const { page, close } = await open(browser, pathToFileURL(resolve(report)).href, { viewport: { width: 1280, height: 720 } });
const canvas = page.locator("#canvas");
for (let frame = 0; frame < Number(count); frame += 1) {
  await page.evaluate((part) => {
    const { clock } = window.kreisel;
    clock.set(clock.start + part * (clock.end - clock.start));
  }, frame / Number(count));
  await settled(page);
  const url = await canvas.evaluate((canvas) => canvas.toDataURL("image/png"));
  writeFileSync(join(output, `${String(frame).padStart(3, "0")}.png`), Buffer.from(url.split(",")[1], "base64"));
}
await close();
await browser.close();
