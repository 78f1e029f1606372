// The verdict on a run, as one chip.

import type { RunData } from "./data";
import { el } from "./dom";

const ENDINGS: Record<string, string> = { done: "done", interrupted: "interrupted", failed: "failed", running: "not ended" };

/** Why a result is doubtful, in order. */
export const doubts = ({ notes }: RunData): { kind: string; text: string }[] => (notes ?? []).filter(({ doubt }) => doubt);

/** What is thought of a run, and how it ended where that was not its end: `doubtful: energy lost, interrupted`. */
export function verdict(run: RunData): string {
  const ending = ENDINGS[run.status] ?? run.status;
  // A page of a run that goes on has no verdict yet, nor do those of long ago.
  if (run.verdict === undefined) return ending;
  const reason = run.verdict === "doubtful" ? doubts(run)[0]?.kind.replaceAll("-", " ") : undefined;
  const words = reason ? `${run.verdict}: ${reason}` : run.verdict;
  return run.status === "done" ? words : `${words}, ${ending}`;
}

/** The chip; behind it are the curves that show how good the run is, or the facts where there are no curves. */
export function badge(run: RunData): HTMLElement {
  const texts = run.message ? [run.message] : doubts(run).map(({ text }) => text);
  return el("a", {
    class: `chip ${run.verdict ?? run.status}`, id: "verdict", href: "#quality", title: texts.join("\n") || "How good the run is",
    click: (event) => {
      event.preventDefault();
      const quality = document.getElementById("quality");
      if (quality instanceof HTMLDetailsElement) quality.open = true;
      (quality ?? document.getElementById("facts"))?.scrollIntoView({ block: "start" });
    },
  }, verdict(run));
}
