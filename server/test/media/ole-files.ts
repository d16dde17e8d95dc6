import { type Bytes, numbers } from './binary.ts';

const SECTOR = 512;
const FREE = 0xffffffff;
const CHAIN_END = 0xfffffffe;
const TABLE = 0xfffffffd;

interface OleEntry {
  name: string;
  /** Indexes of its siblings and of its first child. */
  left?: number;
  right?: number;
  child?: number;
}

/**
 * An OLE container with this directory and empty streams; the entries follow its root. The directory comes after
 * `before` other sectors.
 */
export function ole(entries: readonly OleEntry[], before = 0): Bytes {
  const all: OleEntry[] = [{ name: 'Root Entry', child: entries.length > 0 ? 1 : FREE }, ...entries];
  const directorySectors = Math.ceil((all.length * 128) / SECTOR);
  const tables = Math.ceil((before + directorySectors + 1) / 127);
  const bytes = Buffer.alloc(SECTOR * (1 + tables + before + directorySectors));
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(bytes);
  numbers('hhhhh', 0x3e, 3, 0xfffe, 9, 6).copy(bytes, 0x18);
  bytes.writeUInt32LE(tables, 0x2c);
  const directory = tables + before;
  bytes.writeUInt32LE(directory, 0x30);
  bytes.writeUInt32LE(4096, 0x38);
  bytes.writeUInt32LE(CHAIN_END, 0x3c);
  bytes.writeUInt32LE(CHAIN_END, 0x44);
  for (let part = 0; part < 109; part += 1) bytes.writeUInt32LE(part < tables ? part : FREE, 0x4c + part * 4);
  const table = bytes.subarray(SECTOR, SECTOR * (1 + tables));
  table.fill(0xff);
  for (let part = 0; part < tables; part += 1) table.writeUInt32LE(TABLE, part * 4);
  for (let at = 0; at < directorySectors; at += 1) {
    const isLast = at === directorySectors - 1;
    table.writeUInt32LE(isLast ? CHAIN_END : directory + at + 1, (directory + at) * 4);
  }
  for (const [index, { name, left = FREE, right = FREE, child = FREE }] of all.entries()) {
    const at = SECTOR * (1 + directory) + index * 128;
    bytes.write(name, at, 'utf16le');
    bytes.writeUInt16LE(name.length * 2 + 2, at + 64);
    bytes[at + 66] = index === 0 ? 5 : child === FREE ? 2 : 1;
    numbers('iii', left, right, child).copy(bytes, at + 68);
    bytes.writeUInt32LE(CHAIN_END, at + 116);
  }
  return Uint8Array.from(bytes);
}
