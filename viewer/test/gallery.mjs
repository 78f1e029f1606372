// Pictures of reports for the book: node test/gallery.mjs RESULTS OUTPUT NAME=PART…
//
// Each NAME is a folder in RESULTS; PART of its time has passed in the picture.
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./chromium.mjs";

const [results, output, ...names] = process.argv.slice(2);
const browser = await launch();
for (const word of names) {
  const [name, part, look] = word.split("=");
  const options = { viewport: { width: 1280, height: 720 }, colorScheme: look === "dark" ? "dark" : "light" };
  const { page, close } = await open(browser, pathToFileURL(join(resolve(results), name, "report.html")).href, options);
  await page.evaluate(async (part) => {
    const { clock, panel, recording, stage } = window.kreisel;
    clock.set(clock.start + part * (clock.end - clock.start));
    if (stage.has("reactions")) document.querySelector('[data-layer="reactions"]').click();
    const { bodies, beams } = recording.scene;
    panel.select((beams[0] ?? bodies[bodies.length - 1]).name);
    const pictures = async (count) => { for (let k = 0; k < count; k += 1) await new Promise(requestAnimationFrame); };
    await pictures(4);
  }, Number(part));
  await page.mouse.move(5, 5);
  await page.screenshot({ path: join(output, `report-${name}.png`) });
  await close();
}
await browser.close();
