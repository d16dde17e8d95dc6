import { readFileSync } from 'node:fs';

/** The resource usage of a process and all its descendants. */
export interface Usage {
  /** Bytes of anonymous, shared and swapped pages, without mapped files. */
  memoryBytes: number;
  /** CPU time since the start, in milliseconds. */
  processorMs: number;
}

/** Linux reports CPU time in hundredths of a second, independent of the kernel's own clock. */
const TICK_MS = 10;

/** Returns a file of /proc, or '' if the process has ended. Synchronous, because /proc never waits for a disk. */
function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the current usage of a process and its descendants; null if it has ended or there is no /proc (macOS). */
export function usageOfTree(pid: number): Usage | null {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === '') return null;
  // The program name precedes these fields in parentheses and may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const usage: Usage = { memoryBytes: 0, processorMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  const pages = /^(?:RssAnon|RssShmem|VmSwap):\s*(\d+) kB$/gm;
  for (const [, kilobytes] of readProc(`/proc/${pid}/status`).matchAll(pages)) {
    usage.memoryBytes += Number(kilobytes) * 1024;
  }
  for (const child of readProc(`/proc/${pid}/task/${pid}/children`).split(' ')) {
    const ofChild = child === '' ? null : usageOfTree(Number(child));
    usage.memoryBytes += ofChild?.memoryBytes ?? 0;
    usage.processorMs += ofChild?.processorMs ?? 0;
  }
  return usage;
}
