/**
 * The records of a ZIP archive whose files are stored without compression (APPNOTE 6.3): headers and descriptors have
 * the same length whatever the bytes are, so that the length of an archive is known before any file was read. Sizes
 * and offsets of 4 GiB and more are written as ZIP64.
 */

/** A file of an archive. */
export interface ZipFile {
  /** Its path, in UTF-8. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly modified: Date;
}

const LIMIT_32 = 0xffffffff;
const LIMIT_16 = 0xffff;
/** ZIP64 needs version 4.5 to extract; made on Unix, whose permissions are then stated. */
const VERSION = 45;
const MADE_BY = (3 << 8) | VERSION;
/** The CRC follows the bytes, and names are UTF-8. */
const FLAGS = 0x0808;
/** A regular file that its owner may write. */
const MODE = 0o100644 << 16;

const isLarge = ({ sizeBytes }: ZipFile): boolean => sizeBytes >= LIMIT_32;

/** Returns date and time of MS-DOS, in UTC: the same in every process. */
function dosTime(modified: Date): { time: number; date: number } {
  const year = Math.min(Math.max(modified.getUTCFullYear(), 1980), 2107);
  return {
    time: (modified.getUTCHours() << 11) | (modified.getUTCMinutes() << 5) | (modified.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((modified.getUTCMonth() + 1) << 5) | modified.getUTCDate(),
  };
}

/** The extra field of ZIP64 with these numbers of 64 bits; empty without any. */
function zip64Extra(numbers: readonly number[]): Buffer {
  if (numbers.length === 0) return Buffer.alloc(0);
  const extra = Buffer.alloc(4 + 8 * numbers.length);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(8 * numbers.length, 2);
  numbers.forEach((number, index) => {
    extra.writeBigUInt64LE(BigInt(number), 4 + 8 * index);
  });
  return extra;
}

/** Returns the header before the bytes of a file. */
export function localHeader(file: ZipFile): Buffer {
  const name = Buffer.from(file.name, 'utf8');
  // The sizes are in the descriptor.
  const extra = zip64Extra(isLarge(file) ? [0, 0] : []);
  const header = Buffer.alloc(30);
  const { time, date } = dosTime(file.modified);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(time, 10);
  header.writeUInt16LE(date, 12);
  if (isLarge(file)) {
    header.writeUInt32LE(LIMIT_32, 18);
    header.writeUInt32LE(LIMIT_32, 22);
  }
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, name, extra]);
}

/** Returns the descriptor after the bytes of a file. */
export function descriptor(file: ZipFile, crc: number): Buffer {
  const record = Buffer.alloc(isLarge(file) ? 24 : 16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(crc, 4);
  if (isLarge(file)) {
    record.writeBigUInt64LE(BigInt(file.sizeBytes), 8);
    record.writeBigUInt64LE(BigInt(file.sizeBytes), 16);
  } else {
    record.writeUInt32LE(file.sizeBytes, 8);
    record.writeUInt32LE(file.sizeBytes, 12);
  }
  return record;
}

/** Returns the entry of the directory for a file whose header is at this offset. */
export function directoryEntry(file: ZipFile, crc: number, offset: number): Buffer {
  const name = Buffer.from(file.name, 'utf8');
  const isFar = offset >= LIMIT_32;
  const large = isLarge(file) ? [file.sizeBytes, file.sizeBytes] : [];
  const extra = zip64Extra([...large, ...(isFar ? [offset] : [])]);
  const size = isLarge(file) ? LIMIT_32 : file.sizeBytes;
  const { time, date } = dosTime(file.modified);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(MADE_BY, 4);
  entry.writeUInt16LE(VERSION, 6);
  entry.writeUInt16LE(FLAGS, 8);
  entry.writeUInt16LE(time, 12);
  entry.writeUInt16LE(date, 14);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(size, 20);
  entry.writeUInt32LE(size, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt32LE(MODE >>> 0, 38);
  entry.writeUInt32LE(isFar ? LIMIT_32 : offset, 42);
  return Buffer.concat([entry, name, extra]);
}

/** Where the directory is, and what it has. */
export interface Directory {
  readonly entries: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Returns the end of an archive. */
export function endOfArchive({ entries, offset, sizeBytes }: Directory): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 8);
  end.writeUInt16LE(Math.min(entries, LIMIT_16), 10);
  end.writeUInt32LE(Math.min(sizeBytes, LIMIT_32), 12);
  end.writeUInt32LE(Math.min(offset, LIMIT_32), 16);
  if (entries < LIMIT_16 && sizeBytes < LIMIT_32 && offset < LIMIT_32) return end;
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeUInt16LE(MADE_BY, 12);
  record.writeUInt16LE(VERSION, 14);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(sizeBytes), 40);
  record.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + sizeBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator, end]);
}

/** Returns the length of an archive of these files. */
export function lengthOfArchive(files: Iterable<ZipFile>): number {
  let offset = 0;
  let sizeBytes = 0;
  let entries = 0;
  for (const file of files) {
    sizeBytes += directoryEntry(file, 0, offset).length;
    offset += localHeader(file).length + file.sizeBytes + descriptor(file, 0).length;
    entries += 1;
  }
  return offset + sizeBytes + endOfArchive({ entries, offset, sizeBytes }).length;
}
