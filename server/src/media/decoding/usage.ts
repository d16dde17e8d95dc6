import { readFileSync } from 'node:fs';

/** What a process and all its descendants use. */
export interface Usage {
  /** Bytes of anonymous, shared and swapped pages, without files that are mapped. */
  memoryBytes: number;
  /** Processor time since the start, in milliseconds. */
  processorMs: number;
}

/** Linux reports processor time in hundredths of a second, whatever the kernel's own clock. */
const TICK_MS = 10;

/** A file of /proc, or nothing when the process has ended. Read at once: it never waits for a disk. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** What a process and its descendants use at this moment; null when it has ended, or where there is no /proc (macOS). */
export function usageOfTree(pid: number): Usage | null {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === '') return null;
  // The name of the program comes before these, in brackets, and may itself hold blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const usage: Usage = { memoryBytes: 0, processorMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  const pages = /^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$/gm;
  for (const [, kilobytes] of readProc(`/proc/${pid}/status`).matchAll(pages)) {
    usage.memoryBytes += Number(kilobytes) * 1024;
  }
  for (const child of readProc(`/proc/${pid}/task/${pid}/children`).split(' ')) {
    const its = child === '' ? null : usageOfTree(Number(child));
    usage.memoryBytes += its?.memoryBytes ?? 0;
    usage.processorMs += its?.processorMs ?? 0;
  }
  return usage;
}
