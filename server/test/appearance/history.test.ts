import { setTimeout as sleep } from 'node:timers/promises';
import { basePath } from '@vitrine/contract/operations';
import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { logoKey } from '../../src/platform/storage/object-key.ts';
import { sweep } from '../../src/sweep/stored-files.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import {
  addressOf,
  fetchBytes,
  forgetLogos,
  hashesOf,
  hashOf,
  isStored,
  type Logo,
  newLogo,
  newLogos,
  useBytes,
  useInTurn,
  whileBroken,
} from './logos.ts';

const days = 24 * 3600 * 1000;

let library: Library;
let root: Account;
let mara: Account;

beforeAll(async () => {
  library = await openLibrary();
  [root, mara] = await Promise.all([library.join('root', 'admin'), library.join('mara', 'admin')]);
});

beforeEach(() => forgetLogos(library));

const select = ({ hash }: { hash: string }, who = root) => who.ok('selectLogo', { body: { hash } });
const shown = () => root.ok('getAdminAppearance');
const hashes = (logos: readonly Logo[]) => logos.map(({ hash }) => hash);

async function activeOnes(): Promise<string[]> {
  return (await shown()).logo_history.filter(({ active }) => active).map(({ hash }) => hash);
}

/** The status that the address of each logo answers. */
async function served(logos: readonly Logo[]): Promise<number[]> {
  return Promise.all(logos.map(async ({ hash }) => (await fetchBytes(library, addressOf(hash))).status));
}

async function stored(logos: readonly Logo[]): Promise<boolean[]> {
  return Promise.all(logos.map(({ hash }) => isStored(library, hash)));
}

async function eventsDuring(act: () => Promise<unknown>) {
  const read = () =>
    library.deps.db
      .selectFrom('audit_events')
      .select(['event', 'actor_user_ref', 'metadata'])
      .orderBy('occurred_at')
      .execute();
  const before = (await read()).length;
  await act();
  return (await read()).slice(before);
}

const all = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** Five newer logos, so that whatever was in the history is no longer. */
async function pushOut(): Promise<void> {
  await useInTurn(root, await newLogos(5));
}

// APPEARANCE-3
describe('logo_history', () => {
  // APPEARANCE-3
  test('has the most recently used first, and the one in use is active', async () => {
    const logos = await newLogos(3);
    for (const [at, logo] of logos.entries()) {
      const answer = await useBytes(root, logo.bytes);
      const expected = hashes(logos.slice(0, at + 1)).reverse();
      expect(hashesOf(answer)).toEqual(expected);
      expect(answer.logo_history.map(({ active }) => active)).toEqual(expected.map((_, i) => i === 0));
    }
  });

  // APPEARANCE-3
  test('has at most five entries: later uploads evict the oldest', async () => {
    const logos = await newLogos(8);
    await useInTurn(root, logos.slice(0, 5));
    expect(hashesOf(await shown())).toEqual(hashes(logos.slice(0, 5)).reverse());
    for (let next = 5; next < 8; next += 1) {
      const answer = await useBytes(root, logos[next]?.bytes ?? new Uint8Array(0));
      expect(hashesOf(answer)).toEqual(hashes(logos.slice(next - 4, next + 1)).reverse());
      expect(hashesOf(await shown())).toEqual(hashesOf(answer));
    }
  });

  test('has the same bytes once: uploaded again they are in use and move to the front', async () => {
    const logos = await newLogos(3);
    await useInTurn(root, logos);
    const [first, second, third] = hashes(logos);
    const answer = await useBytes(root, logos[0]?.bytes ?? new Uint8Array(0), 'application/octet-stream');
    expect(hashesOf(answer)).toEqual([first, third, second]);
    expect(answer.logo_url).toBe(addressOf(first ?? ''));
    expect(await activeOnes()).toEqual([first]);
  });

  test('the same five in another order evict nothing', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    await useInTurn(root, logos.toReversed());
    await library.runJobs();
    expect(hashesOf(await shown())).toEqual(hashes(logos));
    expect(await served(logos)).toEqual(all(5, 200));
  });

  test('is the operators’ own: everybody who may sees the same', async () => {
    const logos = await newLogos(2);
    await useInTurn(root, logos);
    expect(await mara.ok('getAdminAppearance')).toEqual(await shown());
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
  test('releases the bytes of what left the history, and of nothing else', async () => {
    const logos = await newLogos(7);
    await useInTurn(root, logos);
    await library.runJobs();
    expect(await stored(logos)).toEqual([false, false, true, true, true, true, true]);
    expect(await served(logos)).toEqual([404, 404, 200, 200, 200, 200, 200]);
  });

  test('counts at once for the address and for a selection, before any job ran', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    await pushOut();
    expect(await served([logo])).toEqual([404]);
    expect((await root.refused('selectLogo', { body: { hash: logo.hash } })).status).toBe(404);
  });

  // APPEARANCE-7
  test('does not happen by selecting, reverting or choosing fonts', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    for (const logo of logos) await select(logo);
    await root.ok('revertLogo');
    await root.ok('updateAppearance', { body: { body_font: 'lora' } });
    await library.runJobs();
    expect(hashesOf(await shown()).sort()).toEqual(hashes(logos).sort());
    expect(await served(logos)).toEqual(all(5, 200));
  });

  test('keeps bytes that were uploaded again before the job ran', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    await pushOut();
    const answer = await useBytes(root, logo.bytes);
    await library.runJobs();
    expect(answer.logo_url).toBe(addressOf(logo.hash));
    expect(await stored([logo])).toEqual([true]);
    expect(hashOf((await fetchBytes(library, addressOf(logo.hash))).bytes)).toBe(logo.hash);
  });

  test('keeps bytes that were uploaded again after the job ran', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    await pushOut();
    await library.runJobs();
    expect(await stored([logo])).toEqual([false]);
    await useBytes(root, logo.bytes);
    await library.runJobs();
    expect(await stored([logo])).toEqual([true]);
    expect(await served([logo])).toEqual([200]);
  });

  test('keeps bytes that are uploaded again at the very instant of the job', async () => {
    const logo = await newLogo();
    for (let round = 0; round < 6; round += 1) {
      await useBytes(root, logo.bytes);
      await pushOut();
      const jobs = library.runJobs();
      await sleep(round * 2);
      await Promise.all([jobs, useBytes(root, logo.bytes)]);
      expect([round, await stored([logo]), await served([logo])]).toEqual([round, [true], [200]]);
    }
  });

  test('again, of one that came back and left again, releases its bytes', async () => {
    const logo = await newLogo();
    for (let round = 0; round < 2; round += 1) {
      await useBytes(root, logo.bytes);
      await pushOut();
    }
    await library.runJobs();
    expect(await stored([logo])).toEqual([false]);
  });

  test('leaves an asset with the same bytes alone', async () => {
    const logo = await newLogo();
    const asset = await upload(root, logo.bytes, {}, 'logo.png');
    await useBytes(root, logo.bytes);
    await pushOut();
    await library.runJobs();
    expect(await stored([logo])).toEqual([false]);
    const file = await root.send(`/assets/${asset.id}/file`);
    expect([file.status, file.headers.get('content-length')]).toEqual([200, String(logo.bytes.length)]);
  });

  // APPEARANCE-7
  test('is all that releases bytes: the nightly sweep leaves the history alone', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    await root.ok('revertLogo');
    await sweep(library.deps, Date.now() + 2 * days);
    expect(await served(logos)).toEqual(all(5, 200));
  });

  test('has nothing to do with what a crash left between file and row, which the sweep takes', async () => {
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
  test('uses an entry of the history again and moves it to the front', async () => {
    const logos = await newLogos(3);
    await useInTurn(root, logos);
    const [first, second, third] = hashes(logos);
    const answer = await select({ hash: second ?? '' });
    expect(hashesOf(answer)).toEqual([second, third, first]);
    expect(answer.logo_history.map(({ active }) => active)).toEqual([true, false, false]);
    expect(answer).toMatchObject({ logo_url: addressOf(second ?? ''), logo_width: 64, logo_height: 48 });
    expect(await shown()).toEqual(answer);
    expect(hashOf((await fetchBytes(library, `${basePath}/appearance/logo`)).bytes)).toBe(second);
  });

  test('of the one in use changes nothing to see', async () => {
    const logos = await newLogos(2);
    await useInTurn(root, logos);
    const before = await shown();
    expect(await select({ hash: logos[1]?.hash ?? '' })).toEqual(before);
  });

  test('saves an entry from the tail: the next upload evicts another', async () => {
    const logos = await newLogos(6);
    await useInTurn(root, logos.slice(0, 5));
    const [oldest, second] = logos;
    await select({ hash: oldest?.hash ?? '' });
    await useInTurn(root, logos.slice(5));
    const kept = hashesOf(await shown());
    expect(kept).toContain(oldest?.hash);
    expect(kept).not.toContain(second?.hash);
  });

  test('is in the audit log, with the hash', async () => {
    const logos = await newLogos(2);
    await useInTurn(root, logos);
    const hash = logos[0]?.hash ?? '';
    expect(await eventsDuring(() => select({ hash }, mara))).toEqual([
      { event: 'appearance.logo.changed', actor_user_ref: mara.ref, metadata: { hash } },
    ]);
  });

  // APPEARANCE-5
  test('of a hash nobody uploaded is 404 and changes nothing', async () => {
    const [logo, unknown] = [await newLogo(), await newLogo()];
    await useBytes(root, logo.bytes);
    const asset = await upload(root, unknown.bytes, {}, 'asset.png');
    const before = await shown();
    for (const hash of [unknown.hash, '0'.repeat(64), asset.file_hash ?? '']) {
      const events = await eventsDuring(async () =>
        expect(await root.refused('selectLogo', { body: { hash } })).toEqual({
          status: 404,
          error: 'no such logo',
        }),
      );
      expect(events).toEqual([]);
    }
    expect(await shown()).toEqual(before);
  });
});

// APPEARANCE-9
describe('an entry whose bytes are missing', () => {
  async function withOneMissing(): Promise<{ missing: Logo; current: Logo }> {
    const [missing, current] = [await newLogo(), await newLogo()];
    await useInTurn(root, [missing, current]);
    await library.deps.storage.delete(logoKey(missing.hash));
    return { missing, current };
  }

  // APPEARANCE-9
  test('stays, says so right away, and so does the one in use', async () => {
    const { missing, current } = await withOneMissing();
    const available = async () =>
      (await shown()).logo_history.map(({ hash, available }) => [hash, available]);
    expect(await available()).toEqual([
      [current.hash, true],
      [missing.hash, false],
    ]);
    await library.deps.storage.delete(logoKey(current.hash));
    expect(await available()).toEqual([
      [current.hash, false],
      [missing.hash, false],
    ]);
    expect(await activeOnes()).toEqual([current.hash]);
  });

  // APPEARANCE-5
  test('cannot be selected: 409, and nothing changes', async () => {
    const { missing } = await withOneMissing();
    const before = await shown();
    const events = await eventsDuring(async () =>
      expect(await root.refused('selectLogo', { body: { hash: missing.hash } })).toEqual({
        status: 409,
        error: 'its bytes cannot be read',
      }),
    );
    expect(events).toEqual([]);
    expect(await shown()).toEqual(before);
  });

  test('is there again once the same bytes are uploaded', async () => {
    const { missing, current } = await withOneMissing();
    const answer = await useBytes(root, missing.bytes);
    expect(answer.logo_history.map(({ hash, available }) => [hash, available])).toEqual([
      [missing.hash, true],
      [current.hash, true],
    ]);
    expect(await served([missing])).toEqual([200]);
  });

  test('is evicted like any other', async () => {
    const { missing } = await withOneMissing();
    await pushOut();
    await library.runJobs();
    expect(hashesOf(await shown())).not.toContain(missing.hash);
    const failed = await sql<{ key: string }>`
      select key from graphile_worker.jobs where last_error is not null`.execute(library.deps.db);
    expect(failed.rows).toEqual([]);
  });
});

// APPEARANCE-6
describe('DELETE /admin/system/appearance/logo', () => {
  // APPEARANCE-6
  test('shows the shipped mark again: the answer is the configuration without logo_url', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    const answer = await root.ok('revertLogo');
    for (const seen of [answer, await library.anonymous().ok('getAppearance')]) {
      for (const key of ['logo_url', 'logo_width', 'logo_height']) expect(seen).not.toHaveProperty(key);
    }
    expect(await shown()).toEqual(answer);
    expect((await library.anonymous().refused('getLogo')).status).toBe(404);
  });

  // APPEARANCE-6
  test('deletes nothing: the history stays in its order, none of it active, every address answers', async () => {
    const logos = await newLogos(5);
    await useInTurn(root, logos);
    const before = await shown();
    const answer = await root.ok('revertLogo');
    await library.runJobs();
    expect(answer.logo_history).toEqual(before.logo_history.map((entry) => ({ ...entry, active: false })));
    expect(await stored(logos)).toEqual(all(5, true));
    expect(await served(logos)).toEqual(all(5, 200));
  });

  // APPEARANCE-6
  test('is idempotent: again, and on a library that never had a logo, it succeeds', async () => {
    const untouched = await root.ok('revertLogo');
    expect(untouched.logo_history).toEqual([]);
    await useInTurn(root, await newLogos(2));
    const first = await root.ok('revertLogo');
    expect(await root.ok('revertLogo')).toEqual(first);
    expect(await Promise.all(all(3, 0).map(() => root.ok('revertLogo')))).toEqual(all(3, first));
  });

  test('takes any body as none: an empty JSON body and none at all are the same', async () => {
    const path = '/admin/system/appearance/logo';
    for (const init of [{}, { headers: { 'content-type': 'application/json' } }]) {
      await useBytes(root, (await newLogo()).bytes);
      expect((await root.send(path, { method: 'DELETE', ...init })).status).toBe(200);
      expect(await root.ok('getAppearance')).not.toHaveProperty('logo_url');
    }
  });

  test('the logo of before can be selected again, also after a second revert', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    for (let round = 0; round < 2; round += 1) {
      await root.ok('revertLogo');
      expect((await select(logo)).logo_url).toBe(addressOf(logo.hash));
      expect(await activeOnes()).toEqual([logo.hash]);
    }
  });

  test('of a logo whose bytes are missing succeeds', async () => {
    const logo = await newLogo();
    await useBytes(root, logo.bytes);
    await library.deps.storage.delete(logoKey(logo.hash));
    expect((await root.ok('revertLogo')).logo_history).toMatchObject([
      { hash: logo.hash, available: false, active: false },
    ]);
  });

  test('the logo it took off leaves the history by later uploads only', async () => {
    const [reverted, ...later] = await newLogos(6);
    if (reverted === undefined) throw new Error('no logo');
    await useBytes(root, reverted.bytes);
    await root.ok('revertLogo');
    await useInTurn(root, later.slice(0, 4));
    await library.runJobs();
    expect(hashesOf(await shown())[4]).toBe(reverted.hash);
    expect(await stored([reverted])).toEqual([true]);
    await useInTurn(root, later.slice(4));
    await library.runJobs();
    expect(hashesOf(await shown())).not.toContain(reverted.hash);
    expect(await stored([reverted])).toEqual([false]);
  });

  test('is in the audit log once: on the shipped mark there is nothing to say', async () => {
    await useBytes(root, (await newLogo()).bytes);
    const events = await eventsDuring(async () => {
      await root.ok('revertLogo');
      await root.ok('revertLogo');
    });
    expect(events).toEqual([{ event: 'appearance.logo.reverted', actor_user_ref: root.ref, metadata: {} }]);
  });
});

describe('at one instant', () => {
  /** One logo in use at most, the same in the address and in the history, and everything in it readable. */
  async function expectSound(count: number): Promise<void> {
    const { logo_url, logo_history } = await shown();
    expect(logo_history).toHaveLength(count);
    expect(logo_history.every(({ available }) => available)).toBe(true);
    expect(logo_history.filter(({ active }) => active).map(({ url }) => url)).toEqual(
      logo_url === undefined ? [] : [logo_url],
    );
  }

  test('two uploads: both are entries, one is in use', async () => {
    for (let round = 1; round <= 2; round += 1) {
      const logos = await newLogos(2);
      await Promise.all(logos.map(({ bytes }, at) => useBytes(at === 0 ? root : mara, bytes)));
      const recent = hashesOf(await shown()).slice(0, 2);
      expect(recent.toSorted()).toEqual(hashes(logos).toSorted());
      expect(await activeOnes()).toEqual(recent.slice(0, 1));
      await expectSound(round * 2);
    }
  });

  test('the same bytes four times are one entry', async () => {
    const { bytes, hash } = await newLogo();
    const answers = await Promise.all([root, mara, root, mara].map((who) => useBytes(who, bytes)));
    for (const answer of answers) expect(hashesOf(answer)).toEqual([hash]);
    await expectSound(1);
  });

  test('nine uploads: five stay and are readable, the bytes of the others go', async () => {
    const logos = await newLogos(9);
    await Promise.all(logos.map(({ bytes }) => useBytes(root, bytes)));
    await library.runJobs();
    await expectSound(5);
    const kept = new Set(hashesOf(await shown()));
    expect(await stored(logos)).toEqual(logos.map(({ hash }) => kept.has(hash)));
  });

  test('uploads, selections and reverts: every answer is sound in itself', async () => {
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
