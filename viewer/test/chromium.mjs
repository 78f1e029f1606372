// A headless Chromium without a network.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
];

export function launch() {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error("no Chromium; name one by the variable CHROMIUM");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** Opens a page offline and at rest; `problems` collects errors and every request that would leave the machine. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, colorScheme: "light", reducedMotion: "reduce", offline: true, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) problems.push(`asks for ${request.url()}`); });
  await page.goto(url);
  await page.waitForSelector('html[data-ready="true"]', { state: "attached" });
  return { page, problems, close: () => context.close() };
}
