import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import { type Journal, openJournal } from './journal.ts';
import { openPlace, type Place } from './place.ts';
import { CannotMount } from './small-disk.ts';
import { type Outcome, openTraffic, signIn, type Traffic } from './traffic.ts';
import { drainJobs, findHalves, findLeftovers, findLost } from './verify.ts';

/** The results of all rounds of one fault. */
export interface Result {
  fault: Fault;
  /** Why the fault was not tried; null when it was. */
  skipped: string | null;
  rounds: number;
  acknowledged: number;
  lost: string[];
  halves: string[];
  deaths: string[];
  /** Number of responses that are neither 2xx nor right under this fault, by kind. */
  wrong: Map<string, number>;
  /** Responses that took longer than the fault allows, in milliseconds. */
  late: number[];
  /** Milliseconds from the end of the fault until the service is ready and a new write succeeds. */
  recoveries: number[];
}

const WRITES_BEFORE = 6;
const LOADED_WITHIN_MS = 60_000;
const RECOVERED_WITHIN_MS = 120_000;
const AFTER_RECOVERY_MS = 500;
/** Tolerance on the service's limits for a busy machine. */
const GRACE_MS = 1_000;

const isRight = ({ what }: Outcome, { right }: Fault): boolean =>
  /^2\d\d$/.test(what) || right.includes(what);

async function untilReady(place: Place, traffic: Traffic, post: string): Promise<number | null> {
  const began = performance.now();
  while (performance.now() - began < RECOVERED_WITHIN_MS) {
    const ready = await fetch(`${place.address()}/readyz`, {
      signal: AbortSignal.timeout(10_000),
    }).catch(() => null);
    if (ready?.ok === true) {
      const body = { body: 'Is it back?' };
      const written = await traffic.client
        .call('createComment', { params: { id: post }, body })
        .catch(() => null);
      if (written !== null) return performance.now() - began;
    }
    if (place.service().end() !== null) return null;
    await sleep(20);
  }
  return null;
}

interface Scene {
  fault: Fault;
  place: Place;
  traffic: Traffic;
  journal: Journal;
}

/** Runs one round: writers at work, the fault, the recovery. Records the results and leaves the service running. */
async function strikeOnce({ fault, place, traffic, journal }: Scene, result: Result): Promise<void> {
  const before = journal.count();
  traffic.take();
  traffic.start();
  const until = Date.now() + LOADED_WITHIN_MS;
  while (journal.count() < before + WRITES_BEFORE && Date.now() < until) await sleep(10);
  // Each round interrupts the writes at a different point.
  await sleep(Math.random() * 300);
  const post = journal.read().findLast(({ kind }) => kind === 'post');
  if (post?.kind !== 'post') throw new Error(`nothing is written before ${fault.name}`);
  const { pid } = place.service();
  const began = performance.now();
  await fault.strike(place);
  const recovery = await untilReady(place, traffic, post.id);
  await sleep(AFTER_RECOVERY_MS);
  await traffic.stop();
  result.rounds += 1;
  for (const outcome of traffic.take()) {
    if (!isRight(outcome, fault)) result.wrong.set(outcome.what, (result.wrong.get(outcome.what) ?? 0) + 1);
    const waited = outcome.began + outcome.took - Math.max(outcome.began, began);
    if (fault.answersWithinMs !== undefined && waited > fault.answersWithinMs + GRACE_MS)
      result.late.push(waited);
  }
  const service = place.service();
  const isSame = fault.endsService === true || service.pid === pid;
  if (recovery !== null && service.end() === null && isSame) {
    result.recoveries.push(recovery);
    return;
  }
  const how = service.end() === null ? 'does not recover' : `ended with ${service.end()}`;
  result.deaths.push(`round ${result.rounds}: the service ${how}: ${service.lastLines()}`);
  await service.stop();
  await place.restartService();
}

/** Tries one fault several times in a library of its own. */
export async function tryFault(fault: Fault, rounds: number, log: (line: string) => void): Promise<Result> {
  const result: Result = {
    fault,
    skipped: null,
    rounds: 0,
    acknowledged: 0,
    lost: [],
    halves: [],
    deaths: [],
    wrong: new Map(),
    late: [],
    recoveries: [],
  };
  const place = await openPlace(fault.place).catch((error: unknown) => {
    if (error instanceof CannotMount) return error;
    throw error;
  });
  if (place instanceof CannotMount) return { ...result, skipped: place.message };
  const journal = openJournal(place.journal);
  try {
    const traffic = await openTraffic(place, journal, fault.uploads ?? 'whole');
    const cookie = await signIn(place);
    const lost: string[] = [];
    const halves: string[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const before = journal.count();
      await strikeOnce({ fault, place, traffic, journal }, result);
      halves.push(...(await drainJobs(place)));
      lost.push(...(await findLost(place, traffic.client, cookie, journal.read().slice(before))));
      log(`${fault.name}: round ${round} of ${rounds}, ${journal.count()} writes acknowledged`);
    }
    // Verifies again, because later rounds must not lose the writes of earlier ones.
    lost.push(...(await findLost(place, traffic.client, cookie, journal.read())));
    halves.push(...(await findHalves(place)), ...(await findLeftovers(place)));
    return {
      ...result,
      acknowledged: journal.count(),
      lost: [...new Set(lost)],
      halves: [...new Set(halves)],
    };
  } catch (error) {
    result.deaths.push(`the drill cannot go on: ${String(error)}`);
    return { ...result, acknowledged: journal.count() };
  } finally {
    journal.close();
    await place.close();
  }
}
