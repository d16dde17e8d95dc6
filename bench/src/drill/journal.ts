import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A write that the service acknowledged. It must never be lost. */
export type Acknowledged =
  | { kind: 'asset'; id: string; sha256: string; bytes: number }
  | { kind: 'post'; id: string; assets: string[]; title: string }
  | { kind: 'comment'; id: string; post: string; body: string }
  | { kind: 'like'; post: string };

/** Writes an acknowledged write to disk before the writer continues. */
export interface Journal {
  write(entry: Acknowledged): void;
  /** Returns all acknowledged writes, read back from disk. */
  read(): Acknowledged[];
  count(): number;
  close(): void;
}

export function openJournal(path: string): Journal {
  const file = openSync(path, 'a');
  let count = 0;
  return {
    write(entry) {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      fsyncSync(file);
      count += 1;
    },
    read() {
      const lines = readFileSync(path, 'utf8').split('\n');
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    },
    count: () => count,
    close: () => closeSync(file),
  };
}
