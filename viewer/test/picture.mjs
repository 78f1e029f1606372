// How the machine looks: colours in the light, joints in the dark, shadows, axes; and what texts look like.
import { strict as assert } from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open } from "./chromium.mjs";

const url = (folder, name) => pathToFileURL(join(folder, name, "report.html")).href;
const rgb = (text) => (text.startsWith("#") ? [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) : text.match(/\d+/g).slice(0, 3).map(Number));

/** Turns the table of the Stewart platform to the light, alone, and reads the colour of its face and the one in the list. */
const faceInTheLight = (page) => page.evaluate(() => {
  const { stage, recording } = window.kreisel;
  const table = recording.scene.bodies.findIndex((body) => body.name === "table");
  const node = stage.nodes[recording.scene.bodies[table].node];
  const towards = stage.sun.position.clone().sub(stage.sun.target.position).normalize();
  stage.nodes.forEach((other) => { other.visible = other === node; });
  const Up = node.position.constructor;
  node.quaternion.setFromUnitVectors(new Up(0, 0, 1), towards);
  stage.camera.position.copy(node.position).addScaledVector(towards, 4);
  stage.controls.target.copy(node.position);
  stage.controls.update();
  stage.trails.forEach(({ whole, past }) => { whole.visible = past.visible = false; });
  // Away from the darker sectors, which show how a body spins.
  const { radius, length } = recording.scene.bodies[table].shapes[0];
  const point = new Up(0.5 * radius * Math.cos(0.6 * Math.PI), 0.5 * radius * Math.sin(0.6 * Math.PI), length / 2);
  node.updateWorldMatrix(true, true);
  const seen = node.children[0].localToWorld(point);
  stage.render();
  seen.project(stage.camera);
  const gl = stage.renderer.getContext();
  const pixel = new Uint8Array(4);
  gl.readPixels(Math.round(((seen.x + 1) / 2) * stage.canvas.width), Math.round(((seen.y + 1) / 2) * stage.canvas.height), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  return { shown: Array.from(pixel.slice(0, 3)), swatch: document.querySelector('.parts [data-name="table"] .dot').style.background };
});

export async function checkColours(browser, folder) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems, close } = await open(browser, url(folder, "stewart-platform"), { colorScheme });
    const { shown, swatch } = await faceInTheLight(page);
    rgb(swatch).forEach((value, k) => assert(Math.abs(shown[k] - value) <= 0.1 * value, `${shown} for ${swatch} when ${colorScheme}`));
    assert.deepEqual(problems, []);
    await close();
  }
}

/** Brightness as the eye has it, for contrasts as in WCAG. */
function luminance(colour) {
  const [r, g, b] = colour.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export async function checkScene(browser, folder) {
  for (const colorScheme of ["light", "dark"]) {
    const { page, problems, close } = await open(browser, url(folder, "heavy-top"), { colorScheme });
    const [joint, ground] = await page.evaluate(() => {
      const { stage } = window.kreisel;
      const { x, y } = stage.project("tip");
      const gl = stage.renderer.getContext();
      const read = (left, top) => {
        const pixel = new Uint8Array(4);
        gl.readPixels(Math.round((left / stage.canvas.clientWidth) * stage.canvas.width), Math.round((1 - top / stage.canvas.clientHeight) * stage.canvas.height), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        return Array.from(pixel.slice(0, 3));
      };
      // Without the axes, which begin where the joint is.
      stage.axes.forEach((one) => { one.visible = false; });
      stage.render();
      return [read(x, y), read(4, 4)];
    });
    const [high, low] = [luminance(joint), luminance(ground)].sort((a, b) => b - a);
    assert((high + 0.05) / (low + 0.05) > 2.5, `a joint of ${joint} before ${ground} when ${colorScheme}`);
    assert.deepEqual(await page.evaluate(() => window.kreisel.stage.axes.map((one) => one.name).filter(Boolean)), ["axis x", "axis y", "axis z"]);
    assert.deepEqual(problems, []);
    await close();
  }
}

/** Of the ground alone, how many pixels are in full shadow, and how many between light and shadow. */
export async function checkShadows(browser, folder) {
  const { page, close } = await open(browser, url(folder, "stewart-platform"));
  const [full, half] = await page.evaluate(() => {
    const { stage } = window.kreisel;
    stage.grid.children[0].visible = false;
    stage.axes.forEach((one) => { one.visible = false; });
    stage.trails.forEach(({ whole, past }) => { whole.visible = past.visible = false; });
    stage.world.traverse((object) => { if (object.material) Object.assign(object.material, { colorWrite: false, depthWrite: false }); });
    stage.render();
    const { width, height } = stage.canvas;
    const pixels = new Uint8Array(4 * width * height);
    const gl = stage.renderer.getContext();
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    const greens = pixels.filter((_, k) => k % 4 === 1);
    const [light, dark] = [greens.reduce((a, b) => Math.max(a, b)), greens.reduce((a, b) => Math.min(a, b))];
    const share = Array.from(greens, (value) => (light - value) / Math.max(1, light - dark));
    return [share.filter((value) => value > 0.9).length, share.filter((value) => value > 0.2 && value < 0.8).length];
  });
  assert(full > 1000 && half > 0.05 * full, `${full} pixels in shadow and ${half} at its border`);
  await close();
}

/** A page with other data than its run left. */
export function changed(folder, name, change) {
  const page = readFileSync(join(folder, name, "report.html"), "utf8");
  const [before, rest] = page.split('<script type="application/json" id="data">');
  const end = rest.indexOf("</script>");
  const data = JSON.parse(rest.slice(0, end));
  change(data);
  const file = join(folder, "..", `changed-${name}.html`);
  writeFileSync(file, `${before}<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}${rest.slice(end)}`);
  return pathToFileURL(file).href;
}

/** Symbols of joints fit the parts beside them, and no beam is thicker than a beam can be. */
export async function checkSizes(browser, folder) {
  const platform = await open(browser, url(folder, "stewart-platform"));
  const symbols = await platform.page.evaluate(() => window.kreisel.stage.jointGroup.map((one) => one.scale.x));
  // Pistons are 30 mm thick and cylinders 60 mm; the machine with its travel is 1.5 m wide.
  assert(symbols.every((size) => size > 0.015 && size < 0.05), `${symbols}`);
  await platform.close();
  const thickness = async (size) => {
    const { page, close } = await open(browser, changed(folder, "right-angle-beam", (data) => data.scene.beams.forEach((beam) => { beam.size = size; })));
    const drawn = await page.evaluate(() => window.kreisel.stage.beams.map((one) => one.thickness));
    await close();
    return drawn;
  };
  // Both beams are 10 m long.
  assert.deepEqual(await thickness([0.5, 0.4]), [0.5, 0.5]);
  assert((await thickness([80, 80])).every((size) => size < 1), "bars thicker than long");
  assert((await thickness([1e-3, 1e-3])).every((size) => size > 0.1), "a beam too thin to be seen");
}

/** Texts of a run as people read them: names as code, files without their folders. */
export async function checkTexts(browser, folder) {
  const place = changed(folder, "stewart-platform", ({ run }) => {
    run.model.path = "/folders/of/someone/stewart-platform.toml";
    run.warnings = ["leg `leg-0` of `/folders/of/someone/stewart-platform.toml` moves at 3 m/s", "C:\\Users\\someone\\leg.stl has no inside"];
  });
  const { page: shown, problems, close } = await open(browser, place);
  const text = await shown.textContent("#app");
  assert(!/`|someone|folders/.test(text), text.match(/.{40}(`|someone|folders).{40}/)?.[0]);
  assert(text.includes("leg leg-0 of stewart-platform.toml moves at 3 m/s") && text.includes("leg.stl has no inside"));
  assert(!/undefined|NaN/.test(text), "a fact without a value");
  assert((await shown.$$eval(".about code", (all) => all.map((one) => one.textContent))).includes("table.position"));
  assert.match(await shown.textContent("a.warned"), /2 warnings/);
  assert.deepEqual(problems, []);
  await close();
}

/** What is touched: a wall as a sheet through the machine, a bump as it is, a level floor under the grid. */
export async function checkSurfaces(browser, folder) {
  const turned = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];
  const place = changed(folder, "heavy-top", (data) => {
    const frame = (position, rotation = [1, 0, 0, 0]) => ({ position, rotation });
    data.scene.surfaces = [
      { name: "floor", node: null, geometry: null, frame: frame([7, 7, -2]) },
      { name: "wall", node: null, geometry: null, frame: frame([-1.5, 40, 40], turned) },
      // Above the lowest point of the machine: something may rest on it.
      { name: "step", node: null, geometry: null, frame: frame([0, 0, 0.3]) },
      { name: "bump", node: null, geometry: { kind: "box", size: [0.4, 0.4, 0.2] }, frame: frame([0, 0, -1.9]) },
    ];
  });
  const { page, problems, close } = await open(browser, place);
  const { shown, floor, wall, seen } = await page.evaluate(() => {
    const { stage } = window.kreisel;
    return {
      shown: stage.surfaces.map((one) => `${one.userData.surface} ${one.userData.part}`), floor: stage.grid.position.z, wall: stage.surfaces[0].localToWorld((stage.surfaces[0].geometry.computeBoundingSphere(), stage.surfaces[0].geometry.boundingSphere.center.clone())).toArray(),
      seen: stage.surfaces.map((one) => { one.geometry.computeBoundingSphere(); return one.geometry.boundingSphere.radius; }),
    };
  });
  assert.deepEqual(shown, ["plane wall", "plane step", "box bump"], "the floor is the grid, and no other plane is");
  assert(floor < -1.99 && floor > -2.01, `the grid lies at ${floor}`);
  // In its own plane, and where the machine is.
  assert(Math.abs(wall[0] + 1.5) < 1e-9 && Math.hypot(wall[1], wall[2]) < 5, `${wall}`);
  assert(Math.abs(seen[2] - Math.hypot(0.2, 0.2, 0.1)) < 1e-6, `${seen}`);
  assert.deepEqual(problems, []);
  await close();
}
