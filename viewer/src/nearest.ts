// The known name that a mistyped one was meant to be.

/** Letters to insert, delete or replace on the way from one word to the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, k) => k);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let k = 1; k <= to.length; k += 1)
      next.push(Math.min(row[k] + 1, next[k - 1] + 1, row[k - 1] + (from[i - 1] === to[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[to.length];
}

/** The nearest of some names, whatever their case; none if there are none. */
export function nearest(word: string, names: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase().slice(0, 200);
  let best: string | undefined;
  let least = Infinity;
  for (const name of names) {
    // Lengths alone rule most names out.
    if (Math.abs(name.length - wanted.length) >= least) continue;
    const far = distance(wanted, name.toLowerCase());
    if (far < least) [best, least] = [name, far];
  }
  return best;
}
