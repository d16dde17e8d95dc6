import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/** A write that the service acknowledged: it may never be lost. */
export type Acknowledged =
  | { kind: 'asset'; id: string; sha256: string; bytes: number }
  | { kind: 'post'; id: string; assets: string[]; title: string }
  | { kind: 'comment'; id: string; post: string; body: string }
  | { kind: 'like'; post: string };

/** What was acknowledged, on the disk before anything else is asked. */
export interface Journal {
  write(entry: Acknowledged): void;
  /** Everything written, as it is read back from the disk. */
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
