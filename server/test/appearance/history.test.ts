import { setTimeout as sleep } from 'node:timers/promises';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../src/operate/storage/sweep/stored-files.ts';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import { auditEventsDuring } from '../support/audit.ts';
import { openLibrary, upload } from '../support/library.ts';
import { sha256 } from '../support/pictures.ts';
import {
  addressOf,
  fetchBytes,
  forgetLogos,
  hashesOf,
  isStored,
  type Logo,
  newLogo,
  newLogos,
  useBytes,
  useInTurn,
  whileBroken,
} from './logos.ts';

const days = 24 * 3600 * 1000;

const library = await openLibrary();
const [root, mara] = await Promise.all([library.join('root', 'admin'), library.join('mara', 'admin')]);

beforeEach(() => forgetLogos(library));

const select = ({ hash }: { hash: string }, who = root) => who.ok('selectLogo', { body: { hash } });
const shown = () => root.ok('getAdminAppearance');
const hashes = (logos: readonly Logo[]) => logos.map(({ hash }) => hash);

async function activeOnes(): Promise<string[]> {
  return (await shown()).logo_history.filter(({ active }) => active).map(({ hash }) => hash);
}

/** Returns the status of the address of each logo. */
async function served(logos: readonly Logo[]): Promise<number[]> {
  return Promise.all(logos.map(async ({ hash }) => (await fetchBytes(library, addressOf(hash))).status));
}

async function stored(logos: readonly Logo[]): Promise<boolean[]> {
  return Promise.all(logos.map(({ hash }) => isStored(library, hash)));
}

const eventsDuring = (act: () => Promise<unknown>) => auditEventsDuring(library, act);

/** Checks that a selection is refused, changes nothing and records nothing. */
async function expectRefused(hash: string, status: number, error: string): Promise<void> {
  const before = await shown();
  const events = await eventsDuring(async () =>
    expect(await root.refused('selectLogo', { body: { hash } })).toEqual({ status, error }),
  );
  expect([events, await shown()]).toEqual([[], before]);
}

/** Uploads five logos, so that the history contains no earlier one. */
async function pushOut(): Promise<void> {
  await useInTurn(root, await newLogos(5));
}

// APPEARANCE-3
describe('logo_history', () => {
  // APPEARANCE-3
  test('is ordered by last use, marks the active logo, and evicts the oldest of more than five', async () => {
    const logos = await newLogos(7);
    for (const [at, logo] of logos.entries()) {
      const answer = await useBytes(root, logo.bytes);
      const expected = hashes(logos.slice(Math.max(0, at - 4), at + 1)).reverse();
      expect(hashesOf(answer)).toEqual(expected);
      expect(answer.logo_history.map(({ active }) => active)).toEqual(expected.map((_, i) => i === 0));
    }
    expect(hashesOf(await shown())).toEqual(hashes(logos.slice(2)).reverse());
  });

  test('lists identical bytes once and moves them to the front', async () => {
    const logos = await newLogos(3);
    await useInTurn(root, logos);
    const [first, second, third] = hashes(logos);
    const answer = await useBytes(root, logos[0]?.bytes ?? new Uint8Array(0), 'application/octet-stream');
    expect(hashesOf(answer)).toEqual([first, third, second]);
    expect(answer.logo_url).toBe(addressOf(first ?? ''));
    expect(await activeOnes()).toEqual([first]);
  });

  test('a clock that was set back does not evict the logo that was just uploaded', async () => {
    const [next, ...logos] = [await newLogo(), ...(await newLogos(5))];
    await useInTurn(root, logos);
    await sql`update logos set last_used_at = last_used_at + interval '1 hour'`.execute(library.deps.db);
    const answer = await useBytes(root, next.bytes);
    expect(answer.logo_url).toBe(addressOf(next.hash));
    expect(hashesOf(answer)[0]).toBe(next.hash);
    await library.runJobs();
    expect(await served([next])).toEqual([200]);
  });
});

// APPEARANCE-7
describe('eviction', () => {
  // APPEARANCE-7
  test('releases only the bytes that left the history', async () => {
    const logos = await newLogos(7);
    await useInTurn(root, logos);
    await library.runJobs();
    expect(await stored(logos)).toEqual([false, false, true, true, true, true, true]);
    expect(await served(logos)).toEqual([404, 404, 200, 200, 200, 200, 200]);
  });

  // APPEARANCE-7
  test('is not caused by selecting, reverting, choosing fonts, uploading again or the nightly sweep', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    for (const logo of logos) await select(logo);
    await useInTurn(root, logos.toReversed());
    await root.ok('revertLogo');
    await root.ok('updateAppearance', { body: { body_font: 'lora' } });
    await library.runJobs();
    await sweep(library.deps, Date.now() + 2 * days);
    expect(hashesOf(await shown())).toEqual(hashes(logos));
    expect(await served(logos)).toEqual(Array(5).fill(200));
  });

  test('keeps bytes that were uploaded again before or after the job ran; they may leave again', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    await pushOut();
    // Applies immediately to the address and to selections.
    expect(await served([logo])).toEqual([404]);
    expect((await root.refused('selectLogo', { body: { hash: logo.hash } })).status).toBe(404);
    expect((await useBytes(root, logo.bytes)).logo_url).toBe(addressOf(logo.hash));
    await library.runJobs();
    expect(sha256((await fetchBytes(library, addressOf(logo.hash))).bytes)).toBe(logo.hash);
    await pushOut();
    await library.runJobs();
    expect(await stored([logo])).toEqual([false]);
    await useBytes(root, logo.bytes);
    await library.runJobs();
    expect([await stored([logo]), await served([logo])]).toEqual([[true], [200]]);
  });

  test('keeps bytes that are uploaded again while the job runs', async () => {
    const logo = await newLogo();
    for (let round = 0; round < 4; round += 1) {
      await useBytes(root, logo.bytes);
      await pushOut();
      const jobs = library.runJobs();
      await sleep(round * 2);
      await Promise.all([jobs, useBytes(root, logo.bytes)]);
      expect([round, await stored([logo]), await served([logo])]).toEqual([round, [true], [200]]);
    }
  });

  test('keeps an asset with the same bytes', async () => {
    const logo = await newLogo();
    const asset = await upload(root, logo.bytes, {}, 'logo.png');
    await useBytes(root, logo.bytes);
    await pushOut();
    await library.runJobs();
    expect(await stored([logo])).toEqual([false]);
    const file = await root.send(`/assets/${asset.id}/file`);
    expect([file.status, file.headers.get('content-length')]).toEqual([200, String(logo.bytes.length)]);
  });

  test('leaves files of a crashed upload to the sweep', async () => {
    const [kept, broken] = [await newLogo(), await newLogo()];
    await useBytes(root, kept.bytes);
    await whileBroken(library, async () => {
      const body = new Blob([broken.bytes], { type: 'image/png' });
      expect((await root.refused('uploadLogo', { body })).status).toBe(500);
    });
    await sweep(library.deps, Date.now() + 2 * days);
    expect(await stored([kept, broken])).toEqual([true, false]);
  });
});

// APPEARANCE-5
describe('POST /admin/system/appearance/logo/select', () => {
  // APPEARANCE-5
  test('activates an entry of the history, moves it to the front, and is audited; again it changes nothing', async () => {
    const logos = await newLogos(3);
    await useInTurn(root, logos);
    const [first, second = '', third] = hashes(logos);
    const events = await eventsDuring(() => select({ hash: second }, mara));
    const answer = await select({ hash: second });
    expect(hashesOf(answer)).toEqual([second, third, first]);
    expect(answer.logo_history.map(({ active }) => active)).toEqual([true, false, false]);
    expect(answer).toMatchObject({ logo_url: addressOf(second), logo_width: 64, logo_height: 48 });
    expect(await shown()).toEqual(answer);
    expect(sha256((await fetchBytes(library, `${basePath}/appearance/logo`)).bytes)).toBe(second);
    expect(events).toMatchObject([
      { event: 'appearance.logo.changed', actor_user_ref: mara.ref, metadata: { hash: second } },
    ]);
  });

  test('saves the oldest entry from eviction', async () => {
    const logos = await newLogos(6);
    await useInTurn(root, logos.slice(0, 5));
    const [oldest, second] = logos;
    await select({ hash: oldest?.hash ?? '' });
    await useInTurn(root, logos.slice(5));
    const kept = hashesOf(await shown());
    expect(kept).toContain(oldest?.hash);
    expect(kept).not.toContain(second?.hash);
  });

  // APPEARANCE-5
  test('answers 404 to an unknown hash', async () => {
    const [logo, unknown] = [await newLogo(), await newLogo()];
    await useBytes(root, logo.bytes);
    const asset = await upload(root, unknown.bytes, {}, 'asset.png');
    for (const hash of [unknown.hash, '0'.repeat(64), asset.file_hash ?? ''])
      await expectRefused(hash, 404, 'logo not found');
  });
});

// APPEARANCE-5, APPEARANCE-9
test('an entry whose bytes are missing stays, marked, and cannot be selected until they are uploaded again', async () => {
  const [first, second] = [await newLogo(), await newLogo()];
  await useInTurn(root, [first, second]);
  const { storage } = library.deps;
  const available = async () => (await shown()).logo_history.map(({ hash, available }) => [hash, available]);
  await storage.delete(logoKey(first.hash));
  expect(await available()).toEqual([
    [second.hash, true],
    [first.hash, false],
  ]);
  await expectRefused(first.hash, 409, 'the logo cannot be read');
  await useBytes(root, first.bytes);
  expect(await available()).toEqual([
    [first.hash, true],
    [second.hash, true],
  ]);
  expect(await served([first])).toEqual([200]);
  for (const { hash } of [first, second]) await storage.delete(logoKey(hash));
  expect(await available()).toEqual([
    [first.hash, false],
    [second.hash, false],
  ]);
  expect(await activeOnes()).toEqual([first.hash]);
});

// APPEARANCE-6
describe('DELETE /admin/system/appearance/logo', () => {
  // APPEARANCE-6
  test('returns to the default mark, is idempotent, and is audited once', async () => {
    expect((await root.ok('revertLogo')).logo_history).toEqual([]);
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    const events = await eventsDuring(async () => {
      const answer = await root.ok('revertLogo');
      expect(await Promise.all([1, 2, 3].map(() => root.ok('revertLogo')))).toEqual(Array(3).fill(answer));
      for (const seen of [answer, await library.anonymous().ok('getAppearance')]) {
        for (const key of ['logo_url', 'logo_width', 'logo_height']) expect(seen).not.toHaveProperty(key);
      }
      expect(await shown()).toEqual(answer);
    });
    expect(events).toMatchObject([
      { event: 'appearance.logo.reverted', actor_user_ref: root.ref, metadata: {} },
    ]);
    expect((await library.anonymous().refused('getLogo')).status).toBe(404);
    expect((await select(logo)).logo_url).toBe(addressOf(logo.hash));
    await library.deps.storage.delete(logoKey(logo.hash));
    expect((await root.ok('revertLogo')).logo_history).toMatchObject([
      { hash: logo.hash, available: false, active: false },
    ]);
  });

  // APPEARANCE-6
  test('keeps the history without an active entry', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    const before = await shown();
    const answer = await root.ok('revertLogo');
    await library.runJobs();
    expect(answer.logo_history).toEqual(before.logo_history.map((entry) => ({ ...entry, active: false })));
    expect(await stored(logos)).toEqual(Array(5).fill(true));
    expect(await served(logos)).toEqual(Array(5).fill(200));
  });
});

describe('concurrent requests', () => {
  /** Checks that at most one logo is in use, the same in the address and the history, and that all are readable. */
  async function expectSound(count: number): Promise<void> {
    const { logo_url, logo_history } = await shown();
    expect(logo_history).toHaveLength(count);
    expect(logo_history.every(({ available }) => available)).toBe(true);
    expect(logo_history.filter(({ active }) => active).map(({ url }) => url)).toEqual(
      logo_url === undefined ? [] : [logo_url],
    );
  }

  test('keep identical bytes once', async () => {
    const { bytes, hash } = await newLogo();
    const answers = await Promise.all([root, mara, root, mara].map((who) => useBytes(who, bytes)));
    for (const answer of answers) expect(hashesOf(answer)).toEqual([hash]);
    await expectSound(1);
  });

  test('keep five of nine uploads and release the others', async () => {
    const logos = await newLogos(9);
    await Promise.all(logos.map(({ bytes }) => useBytes(root, bytes)));
    await library.runJobs();
    await expectSound(5);
    const kept = new Set(hashesOf(await shown()));
    expect(await stored(logos)).toEqual(logos.map(({ hash }) => kept.has(hash)));
  });

  test('return consistent responses for uploads, selections and reverts', async () => {
    const logos = await newLogos(4);
    await useInTurn(root, logos);
    const acts = logos.flatMap((logo) => [
      () => select(logo),
      () => useBytes(mara, logo.bytes),
      () => root.ok('revertLogo'),
      () => shown(),
    ]);
    for (const answer of await Promise.all(acts.map((act) => act()))) {
      const active = answer.logo_history.filter((entry) => entry.active).map(({ url }) => url);
      expect(active).toEqual(answer.logo_url === undefined ? [] : [answer.logo_url]);
      expect(answer.logo_width === undefined).toBe(answer.logo_url === undefined);
    }
    await expectSound(4);
  });
});
