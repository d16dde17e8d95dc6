import { readdir, readFile } from 'node:fs/promises';

/** Linux counts CPU time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

interface ProcessTime {
  pid: number;
  parent: number;
  seconds: number;
}

/** Returns the fields of the state of a process from `state` on. */
async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain any character; the state and the parent follow it.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readProcess(pid: number): Promise<ProcessTime | null> {
  const fields = await statFields(pid).catch(() => null);
  if (fields === null) return null;
  // User and system time of the process and of its finished children.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
}

/** Returns the seconds of CPU time that a process has used, without its children. */
export async function processorSeconds(pid: number): Promise<number> {
  const fields = await statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the seconds of CPU time of the ended children of this process, and of the descendants that they waited for. */
export async function endedChildrenSeconds(): Promise<number> {
  const fields = await statFields(process.pid);
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}

/**
 * Returns the seconds of CPU time that these processes and their descendants have used. A process that is below several
 * of them counts once: the embedded PostgreSQL is a child of the service.
 */
export async function treeProcessorSeconds(...roots: number[]): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const all = (await Promise.all(pids.map(readProcess))).filter((one) => one !== null);
  const childrenOf = Map.groupBy(all, ({ parent }) => parent);
  const counted = new Map<number, ProcessTime>();
  const add = (one: ProcessTime): void => {
    if (counted.has(one.pid)) return;
    counted.set(one.pid, one);
    for (const child of childrenOf.get(one.pid) ?? []) add(child);
  };
  for (const one of all) if (roots.includes(one.pid)) add(one);
  return [...counted.values()].reduce((total, { seconds }) => total + seconds, 0);
}

/** Returns the resident memory of a process in MB (10^6 bytes). */
export async function residentMegabytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? Number.NaN) * 1024) / 1e6;
}
