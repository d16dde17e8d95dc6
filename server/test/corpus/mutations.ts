type Bytes = Uint8Array<ArrayBuffer>;

/** Returns integers from 0 to `below` - 1, the same for the same seed. */
export type Random = (below: number) => number;

/** Mulberry32: small, and the same on every machine. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** A file to damage, and another one that parts may come from. */
export interface Specimen {
  name: string;
  bytes: Bytes;
  other: { name: string; bytes: Bytes };
}

/** The result of a mutation. */
export interface Mutant {
  name: string;
  bytes: Bytes;
}

type Change = (bytes: Bytes, random: Random, other: Bytes) => Bytes;

/** Headers and tables of contents are at the beginning and at the end. */
const EDGE_BYTES = 400;

/** A position in the file, often near its beginning or end. */
function somewhere({ length }: Bytes, random: Random): number {
  const near = Math.min(EDGE_BYTES, length);
  const part = random(3);
  if (part === 0) return random(near);
  return part === 1 ? length - 1 - random(near) : random(length);
}

/** Returns the beginning and the end of a piece of the file. */
function piece({ length }: Bytes, random: Random): [from: number, to: number] {
  const from = random(length);
  return [from, Math.min(length, from + 1 + random(Math.max(1, Math.ceil(length / 4))))];
}

function joined(...parts: readonly Uint8Array[]): Bytes {
  return Uint8Array.from(Buffer.concat(parts));
}

/** Numbers at which parsers overflow, wrap around or allocate. */
const hugeNumbers = [0xff_ff_ff_ff, 0x7f_ff_ff_ff, 0x80_00_00_00, 0x00_ff_ff_ff, 0xff_ff_ff_f0, 0];

const changes: Readonly<Record<string, Change>> = {
  'flipped bits': (bytes, random) => {
    for (let left = 1 + random(16); left > 0; left -= 1) {
      const at = somewhere(bytes, random);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    }
    return bytes;
  },
  'cut off': (bytes, random) => bytes.slice(0, 1 + random(bytes.length - 1)),
  'without its beginning': (bytes, random) => bytes.slice(1 + random(Math.min(64, bytes.length - 1))),
  'swapped pieces': (bytes, random) => {
    const [from, to] = piece(bytes, random);
    const split = from + random(to - from);
    return joined(
      bytes.subarray(0, from),
      bytes.subarray(split, to),
      bytes.subarray(from, split),
      bytes.subarray(to),
    );
  },
  'huge numbers': (bytes, random) => {
    if (bytes.length < 4) return bytes;
    const view = new DataView(bytes.buffer);
    for (let left = 1 + random(4); left > 0; left -= 1) {
      const at = Math.min(somewhere(bytes, random), bytes.length - 4);
      view.setUint32(at, hugeNumbers[random(hugeNumbers.length)] ?? 0, random(2) === 0);
    }
    return bytes;
  },
  'zeroed header': (bytes, random) => {
    const from = random(16);
    return bytes.fill(0, from, from + 4 + random(60));
  },
  'repeated block': (bytes, random) => {
    const from = random(bytes.length);
    const block = bytes.subarray(from, Math.min(bytes.length, from + 1 + random(200)));
    const copies = Array.from({ length: 1 + random(2000) }, () => block);
    return joined(bytes.subarray(0, from), ...copies, bytes.subarray(from));
  },
  'missing piece': (bytes, random) => {
    const [from, to] = piece(bytes, random);
    return joined(bytes.subarray(0, from), bytes.subarray(to));
  },
  'random piece': (bytes, random) => {
    const [from, to] = piece(bytes, random);
    for (let at = from; at < to; at += 1) bytes[at] = random(256);
    return bytes;
  },
  'two files in one': (bytes, _, other) => joined(bytes, other),
  'the header of another file': (bytes, random, other) => {
    const length = Math.min(bytes.length, other.length, 8 + random(120));
    bytes.set(other.subarray(0, length));
    return bytes;
  },
};

/** The mutation that changes only the name, so that it does not fit the bytes. */
const wrongExtension = 'wrong extension';

/** All mutations, in the order in which `mutate` applies them. */
export const mutationNames: readonly string[] = [...Object.keys(changes), wrongExtension];

/** Returns the mutant of a file with this number. Its name names the mutation. */
export function mutate({ name, bytes, other }: Specimen, index: number, random: Random): Mutant {
  const mutation = mutationNames[index % mutationNames.length] ?? wrongExtension;
  const change = changes[mutation];
  const stem = `${name.replace(/\.[^.]*$/, '')} ${index} ${mutation}`;
  if (change === undefined) {
    // Changes bytes that most formats ignore, so that the file does not have the hash of the original.
    return {
      name: `${stem}.${other.name.split('.').at(-1)}`,
      bytes: joined(bytes, new TextEncoder().encode(`${index}`)),
    };
  }
  return {
    name: `${stem}.${name.split('.').at(-1)}`,
    bytes: change(Uint8Array.from(bytes), random, other.bytes),
  };
}
