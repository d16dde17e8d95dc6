import { type FileHandle, open } from 'node:fs/promises';

/** Media types and extensions of OLE documents, by a top-level stream that only they have. */
const documentStreams: readonly [stream: RegExp, mime: string, extension: string][] = [
  [/^WordDocument$/, 'application/msword', 'doc'],
  [/^(?:Workbook|Book)$/, 'application/vnd.ms-excel', 'xls'],
  [/^PowerPoint Document$/, 'application/vnd.ms-powerpoint', 'ppt'],
];

/** Maximum number of entries read. Documents have a few dozen, and top-level entries come first. */
const MOST_ENTRIES = 4096;
const ENTRY_BYTES = 128;
/** Number of allocation table sectors listed in the header itself. */
const IN_HEADER = 109;
/** Maximum number of sectors that continue the list, each for at least 7 MB. */
const MOST_CONTINUED = 1024;
const NONE = 0xffffffff;
/** Larger sector numbers are reserved. */
const GREATEST_SECTOR = 0xfffffffa;

interface Container {
  file: FileHandle;
  header: Buffer;
  sectorBytes: number;
}

/** Returns one sector, or null if the file ends before it does. */
async function readSector({ file, sectorBytes }: Container, sector: number): Promise<Buffer | null> {
  if (sector > GREATEST_SECTOR) return null;
  const room = Buffer.alloc(sectorBytes);
  const { bytesRead } = await file.read(room, 0, sectorBytes, (sector + 1) * sectorBytes);
  return bytesRead === sectorBytes ? room : null;
}

/**
 * Returns a function that finds the next sector in the allocation table; null at the end or if the table is damaged.
 */
function openTable(container: Container) {
  const { header, sectorBytes } = container;
  const perSector = sectorBytes / 4;
  const parts = new Map<number, Buffer | null>();
  const placeOf = async (part: number): Promise<number | null> => {
    if (part < IN_HEADER) return header.readUInt32LE(0x4c + part * 4);
    // Further sectors are listed in a chain, in which each sector ends with the number of the next.
    let sector = header.readUInt32LE(0x44);
    let left = part - IN_HEADER;
    for (let steps = 0; steps < MOST_CONTINUED; steps += 1) {
      const continued = await readSector(container, sector);
      if (continued === null) return null;
      if (left < perSector - 1) return continued.readUInt32LE(left * 4);
      left -= perSector - 1;
      sector = continued.readUInt32LE((perSector - 1) * 4);
    }
    return null;
  };
  return async (sector: number): Promise<number | null> => {
    const part = Math.floor(sector / perSector);
    if (!parts.has(part)) {
      const place = await placeOf(part);
      parts.set(part, place === null ? null : await readSector(container, place));
    }
    return parts.get(part)?.readUInt32LE((sector % perSector) * 4) ?? null;
  };
}

interface Entry {
  name: string;
  left: number;
  right: number;
  child: number;
}

function entryAt(sector: Buffer, at: number): Entry {
  const nameBytes = Math.min(64, Math.max(2, sector.readUInt16LE(at + 64)));
  return {
    name: sector.toString('utf16le', at, at + nameBytes - 2),
    left: sector.readUInt32LE(at + 68),
    right: sector.readUInt32LE(at + 72),
    child: sector.readUInt32LE(at + 76),
  };
}

async function readEntries(container: Container): Promise<Entry[]> {
  const next = openTable(container);
  const entries: Entry[] = [];
  let sector: number | null = container.header.readUInt32LE(0x30);
  while (sector !== null && entries.length < MOST_ENTRIES) {
    const found = await readSector(container, sector);
    if (found === null) break;
    for (let at = 0; at < found.length; at += ENTRY_BYTES) entries.push(entryAt(found, at));
    sector = await next(sector);
  }
  return entries;
}

/** Returns the top-level names of the container. Embedded objects are deeper and may be of any type. */
function namesAtTop(entries: readonly Entry[]): string[] {
  const names: string[] = [];
  const waiting = [entries[0]?.child ?? NONE];
  const seen = new Set<number>();
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entry = entries[at];
    if (entry === undefined || seen.has(at)) continue;
    seen.add(at);
    names.push(entry.name);
    waiting.push(entry.left, entry.right);
  }
  return names;
}

/**
 * Returns the type of document in an OLE container (MS-CFB), detected from its directory; null if it is unknown or
 * damaged. Rejects only on disk errors.
 */
export async function oleDocument(path: string): Promise<{ mime: string; extension: string } | null> {
  const file = await open(path, 'r');
  try {
    const header = Buffer.alloc(512);
    const { bytesRead } = await file.read(header, 0, 512, 0);
    const shift = header.readUInt16LE(0x1e);
    if (bytesRead < 512 || (shift !== 9 && shift !== 12)) return null;
    const names = namesAtTop(await readEntries({ file, header, sectorBytes: 2 ** shift }));
    const found = documentStreams.find(([stream]) => names.some((name) => stream.test(name)));
    return found === undefined ? null : { mime: found[1], extension: found[2] };
  } finally {
    await file.close();
  }
}
