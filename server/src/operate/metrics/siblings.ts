import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';

/** How long a scrape waits for the other processes, one of which may be starting or hanging. */
const WAIT_MS = 1000;

type Figures = object[];

/**
 * The messages of a collection: a serving process asks its parent, which collects the figures of all others and returns
 * them. A number identifies the collection.
 */
interface Message {
  metrics: 'collect' | 'report' | 'reported' | 'collected';
  number: number;
  figures: Figures[];
}

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message && 'number' in message;
}

/** Returns the figures of the other processes of this library on this machine: none without VITRINE_PROCESSES. */
export async function collectOthers(): Promise<Figures[]> {
  if (process.send === undefined) return [];
  const number = Math.random();
  const { promise, resolve } = Promise.withResolvers<Figures[]>();
  const listen = (message: unknown) => {
    if (isMessage(message) && message.metrics === 'collected' && message.number === number)
      resolve(message.figures);
  };
  process.on('message', listen);
  try {
    process.send({ metrics: 'collect', number, figures: [] } satisfies Message);
    return await Promise.race([promise, sleep(2 * WAIT_MS, [], { ref: false })]);
  } finally {
    process.off('message', listen);
  }
}

/** Reports the figures of this serving process to its parent when it asks for them. */
export function reportToParent(registry: Registry): void {
  if (process.send === undefined) return;
  process.on('message', async (message: unknown) => {
    if (!isMessage(message) || message.metrics !== 'report') return;
    const figures = [await registry.getMetricsAsJSON()];
    process.send?.({ metrics: 'reported', number: message.number, figures } satisfies Message);
  });
}

/** Asks a child for its figures; none if it does not report them in time. */
async function askChild(child: ChildProcess): Promise<Figures[]> {
  const number = Math.random();
  const { promise, resolve } = Promise.withResolvers<Figures[]>();
  const listen = (message: unknown) => {
    if (isMessage(message) && message.metrics === 'reported' && message.number === number)
      resolve(message.figures);
  };
  child.on('message', listen);
  try {
    // An exiting child reports nothing.
    child.send({ metrics: 'report', number, figures: [] } satisfies Message, () => {});
    return await Promise.race([promise, sleep(WAIT_MS, [], { ref: false })]);
  } finally {
    child.off('message', listen);
  }
}

/** Answers the collections of a child with the figures of its siblings and of this process. */
export function answerCollections(
  child: ChildProcess,
  children: ReadonlySet<ChildProcess>,
  own: Registry,
): void {
  child.on('message', async (message: unknown) => {
    if (!isMessage(message) || message.metrics !== 'collect') return;
    const others = await Promise.all([...children].filter((other) => other !== child).map(askChild));
    const figures = [await own.getMetricsAsJSON(), ...others.flat()];
    child.send({ metrics: 'collected', number: message.number, figures } satisfies Message, () => {});
  });
}
