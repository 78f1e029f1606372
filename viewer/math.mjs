// Formulas of the book as MathML, which browsers show without fonts or scripts of ours: a preprocessor of mdBook.
import { readFileSync } from "node:fs";
import katex from "katex";

/** Code, which stays; then formulas between two dollars and between one. */
const PIECES = /(^ *```[\s\S]*?^ *```|`[^`\n]*`)|\$\$([\s\S]+?)\$\$|(?<![\\$\w])\$(?!\s)((?:[^$\n]|\n(?!\n))+?)\$(?!\d)/gm;

/** Letters by which Markdown would take a formula for something else. */
const MARKS = /[\\*_`[\]~|]/g;

function mathml(formula, displayMode) {
  const markup = katex.renderToString(formula, { output: "mathml", displayMode, strict: "error", trust: false });
  return aligned(markup).replace(/<annotation[\s\S]*?<\/annotation>/g, "").replace(/\s*\n\s*/g, " ").replace(MARKS, (letter) => `&#${letter.codePointAt(0)};`);
}

/** Cells hold blocks, which browsers move to a side by words of their own. */
const turned = (side) => `text-align: ${side}; text-align: -webkit-${side}`;

/** Columns of equations stand where KaTeX says; browsers know that as a style only. A table in a table stays as it is. */
function aligned(markup) {
  return markup.replace(/<mtable[^>]*columnalign="([^"]*(?:right|left)[^"]*)"[^>]*>(?:(?!<mtable)[\s\S])*?<\/mtable>/g, (table, sides) => {
    const side = sides.split(" ");
    return table.replace(/<mtr[\s\S]*?<\/mtr>/g, (row) => {
      let column = 0;
      return row.replace(/<mtd\b[^>]*>/g, () => `<mtd style="${turned(side[column++ % side.length])}; padding: 0.2em 0">`);
    });
  });
}

export const written = (text) => text.replace(PIECES, (whole, code, display, inline) => {
  if (code !== undefined) return whole;
  return display === undefined ? mathml(inline, false) : `\n\n<div class="formula" style="overflow: auto hidden">${mathml(display, true)}</div>\n\n`;
});

function visit(items) {
  for (const { Chapter: chapter } of items) {
    if (!chapter) continue;
    try {
      chapter.content = written(chapter.content);
    } catch (error) {
      throw new Error(`${chapter.path}: ${error.message}`);
    }
    visit(chapter.sub_items);
  }
}

if (process.argv[2] !== "supports") {
  const [, book] = JSON.parse(readFileSync(0, "utf8"));
  visit(book.items);
  process.stdout.write(JSON.stringify(book));
}
