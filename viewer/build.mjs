// Builds the viewer into one HTML file: node build.mjs OUTPUT
//
// The file has two places that Kreisel fills in: the title and the data of a run.
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";

const output = process.argv[2] && resolve(process.argv[2]);
if (!output) {
  console.error("usage: node build.mjs OUTPUT");
  process.exit(2);
}
const folder = import.meta.dirname;
const bundle = await build({
  absWorkingDir: folder,
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outdir: "out",
  write: false,
  logLevel: "warning",
});
const text = (ending) => bundle.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
// Neither may end the element that holds it.
const script = text(".js").replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = text(".css").replaceAll("</style", "<\\/style");
const page = await readFile(resolve(folder, "src/page.html"), "utf8");
const whole = page.replace("/* style */", () => style).replace("/* script */", () => script);
await writeFile(output, whole);
