// The chip with the verdict on a run.
import { strict as assert } from "node:assert";
import { open } from "./chromium.mjs";
import { changed } from "./picture.mjs";

const DOUBTS = [
  { kind: "small-vibrations", text: "vibrations of 1 % are faster than the steps" },
  { kind: "energy-lost", text: "`energy` came from nowhere", doubt: true },
  { kind: "large-turn", text: "a body turns by 1 rad in a step", doubt: true },
];

/** Runs that are good, doubtful or wrong, and how the chip says it: words, colour, and what is behind. */
const CASES = [
  ["good", (run) => Object.assign(run, { verdict: "good", status: "done", notes: DOUBTS.slice(0, 1) }), "good", "--good"],
  ["doubtful", (run) => Object.assign(run, { verdict: "doubtful", status: "done", notes: DOUBTS }), "doubtful: energy lost", "--warn"],
  ["wrong", (run) => Object.assign(run, { verdict: "wrong", status: "failed", message: "the step failed at 1 s" }), "wrong, failed", "--bad"],
  ["interrupted", (run) => Object.assign(run, { verdict: "good", status: "interrupted", notes: [] }), "good, interrupted", "--good"],
];

export async function checkBadge(browser, folder, name) {
  for (const [verdict, change, words, colour] of CASES) {
    const { page, problems, close } = await open(browser, changed(folder, name, ({ run }) => change(run)));
    assert.deepEqual(await page.$$eval(".chip", (all) => all.map((one) => one.textContent)), [words], "one chip, with the verdict");
    const [shown, meant] = await page.$eval(".chip", (chip, colour) => {
      const probe = chip.parentElement.appendChild(document.createElement("i"));
      probe.style.color = `var(${colour})`;
      return [getComputedStyle(chip).color, getComputedStyle(probe).color];
    }, colour);
    assert.equal(shown, meant, `the colour of ${verdict}`);
    const title = await page.getAttribute(".chip", "title");
    if (verdict === "doubtful") assert.equal(title, "`energy` came from nowhere\na body turns by 1 rad in a step");
    if (verdict === "wrong") assert.equal(title, "the step failed at 1 s");
    const quality = page.locator('[data-section="Quality"]');
    assert.equal(await quality.evaluate((one) => one.open), false);
    await page.click(".chip");
    assert.equal(await quality.evaluate((one) => one.open), true, "the chip does not open *Quality*");
    await page.waitForFunction(() => { const { top } = document.getElementById("quality").getBoundingClientRect(); return top >= 0 && top < window.innerHeight; });
    assert.deepEqual(await quality.locator(".doubts li").allTextContents(), verdict === "doubtful" ? ["energy came from nowhere", "a body turns by 1 rad in a step"] : []);
    assert.deepEqual(problems, []);
    await close();
  }
}
