// Parts that were counted out by one `repeat`: names with a common stem and a number.

/** Fewer are listed one by one. */
const FEWEST = 3;

/** For each name the family that it belongs to, in the order of its numbers; none for single parts. */
export function families(names: string[]): Map<string, string[]> {
  const stems = new Map<string, Map<number, string>>();
  for (const name of names) {
    const found = /^(.*?)(\d+)(\D*)$/.exec(name);
    if (!found) continue;
    const key = `${found[1]}\0${found[3]}`;
    if (!stems.has(key)) stems.set(key, new Map());
    stems.get(key)!.set(Number(found[2]), name);
  }
  const all = new Map<string, string[]>();
  for (const members of stems.values()) {
    const numbers = [...members.keys()].sort((a, b) => a - b);
    if (numbers.length < FEWEST) continue;
    const family = numbers.map((number) => members.get(number)!);
    for (const name of family) all.set(name, family);
  }
  return all;
}

/** What a family is called, say leg-0 … 5. */
export function familyName(members: string[]): string {
  const last = members[members.length - 1];
  return `${members[0]} … ${/(\d+)$/.exec(last)?.[1] ?? last}`;
}
