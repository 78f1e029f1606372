// Encoded pictures as a WebM file: the few elements of Matroska that players need.

export interface Picture {
  bytes: Uint8Array;
  /** When it is shown, in ms. */
  time: number;
  /** Whether it needs no other to be decoded. */
  isKey: boolean;
}

type Part = Uint8Array | Part[];

/** A film of one track; `codec` is Matroska's name, such as `V_VP9`. */
export function webm(pictures: Picture[], codec: string, width: number, height: number, duration: number): Blob {
  const header = element(0x1a45dfa3, [
    number(0x4286, 1), number(0x42f7, 1), number(0x42f2, 4), number(0x42f3, 8), text(0x4282, "webm"), number(0x4287, 4), number(0x4285, 2),
  ]);
  const info = element(0x1549a966, [number(0x2ad7b1, 1_000_000), real(0x4489, duration), text(0x4d80, "Kreisel"), text(0x5741, "Kreisel")]);
  const tracks = element(0x1654ae6b, [element(0xae, [
    number(0xd7, 1), number(0x73c5, 1), number(0x83, 1), text(0x86, codec), element(0xe0, [number(0xb0, width), number(0xba, height)]),
  ])]);
  // Each picture that stands alone begins a cluster, and the cues at the end tell where those are.
  const clusters: { time: number; part: Part }[] = [];
  for (let first = 0; first < pictures.length;) {
    let end = first + 1;
    while (end < pictures.length && !pictures[end].isKey) end += 1;
    const { time } = pictures[first];
    const blocks = pictures.slice(first, end).map((picture) => {
      const since = picture.time - time;
      return element(0xa3, [Uint8Array.of(0x81, (since >> 8) & 0xff, since & 0xff, picture.isKey ? 0x80 : 0), picture.bytes]);
    });
    clusters.push({ time, part: element(0x1f43b675, [number(0xe7, time), ...blocks]) });
    first = end;
  }
  let place = length(info) + length(tracks);
  const cues = clusters.map(({ time, part }) => {
    const cue = element(0xbb, [number(0xb3, time), element(0xb7, [number(0xf7, 1), number(0xf1, place)])]);
    place += length(part);
    return cue;
  });
  const segment = element(0x18538067, [info, tracks, ...clusters.map(({ part }) => part), element(0x1c53bb6b, cues)]);
  const flat = ([header, segment] as Part[]).flat(Infinity as 1) as Uint8Array<ArrayBuffer>[];
  return new Blob(flat, { type: "video/webm" });
}

function length(part: Part): number {
  return part instanceof Uint8Array ? part.length : part.reduce((sum, inner) => sum + length(inner), 0);
}

function bigEndian(value: number): number[] {
  const bytes = [value % 256];
  for (let rest = Math.floor(value / 256); rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return bytes;
}

/** An element: its number, its size in eight bytes of which the first bit says so, and what is inside. */
function element(id: number, inside: Part[]): Part {
  const size = bigEndian(length(inside));
  return [Uint8Array.of(...bigEndian(id), 1, ...new Array(7 - size.length).fill(0), ...size), ...inside];
}

function number(id: number, value: number): Part {
  return element(id, [Uint8Array.from(bigEndian(value))]);
}

function text(id: number, words: string): Part {
  return element(id, [new TextEncoder().encode(words)]);
}

function real(id: number, value: number): Part {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  return element(id, [new Uint8Array(bytes.buffer)]);
}
