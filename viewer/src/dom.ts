// Elements with text that stays text: nothing here reads markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | boolean | ((event: Event) => void) | undefined>;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Text in which `names` stand as code, and files without the folders in which they lie. */
export function prose(text: string): (Node | string)[] {
  const short = text.replace(/(?<![\w.:/\\])(?:[A-Za-z]:\\|\/)(?:[^\s`'"\\/]+[\\/])+([^\s`'"\\/]+)/g, "$1");
  return short.split(/`([^`\n]+)`/).map((part, index) => (index % 2 === 1 ? el("code", {}, part) : part)).filter((part) => part !== "");
}

const ICONS: Record<string, string> = {
  play: "M7 4.5v15l13-7.5z",
  pause: "M6 4.5h4.5v15H6zM13.5 4.5H18v15h-4.5z",
  first: "M5 5h2.5v14H5zM19 5v14L8.5 12z",
  last: "M16.5 5H19v14h-2.5zM5 5v14l10.5-7z",
  back: "M14 5h3v14h-3zM12 5v14L3 12z",
  forward: "M7 5h3v14H7zM12 5v14l9-7z",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
};

export function icon(name: string): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function download(name: string, data: Blob): void {
  const link = el("a", { href: URL.createObjectURL(data), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
