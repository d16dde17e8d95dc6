import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callerOf } from '../../src/access/caller-of.ts';
import { writeExport } from '../../src/operate/export/library.ts';
import { scratchDirectory } from '../backup/kit.ts';
import { openLibrary, publish, upload } from '../support/library.ts';
import { bearer, signIn } from '../support/people.ts';
import { plainFile } from '../support/pictures.ts';
import { faultsOfBag, filesBelow } from './bag.ts';

const library = await openLibrary();
const { db, storage } = library.deps;
const [mara, ines] = await library.joinAll('mara', 'ines');

async function exportOf(
  ref: number,
): Promise<{ paths: string[]; text: string; json(name: string): Promise<unknown> }> {
  const directory = await scratchDirectory();
  await writeExport(db, storage, directory, await callerOf(db, ref));
  expect(await faultsOfBag(directory)).toEqual([]);
  const paths = await filesBelow(directory);
  const texts = await Promise.all(paths.map((path) => readFile(join(directory, path), 'utf8')));
  return {
    paths,
    text: [...paths, ...texts].join('\n'),
    json: async (name) => JSON.parse(await readFile(join(directory, 'data/person', `${name}.json`), 'utf8')),
  };
}

// EXPORT-10, EXPORT-4
test('the export of a person has what is theirs and nothing of others', async () => {
  const own = await upload(mara, plainFile('of mara'), { title: 'Own file' }, 'own.bin');
  const trashed = await upload(mara, plainFile('trashed'), {}, 'trashed.bin');
  await mara.ok('deleteAsset', { params: { id: trashed.id }, body: {} });
  const foreign = await upload(ines, plainFile('of ines'), { title: 'Foreign file' }, 'foreign.bin');
  const post = await publish(mara, [own, foreign], { title: 'Own post' });
  const other = await publish(ines, [foreign], { title: 'Foreign post' });
  const hidden = await publish(ines, [foreign], { title: 'Later private' });
  const say = (account: typeof mara, id: string, body: string) =>
    account.ok('createComment', { params: { id }, body: { body } });
  await say(mara, post.id, 'mine on mine');
  await say(ines, post.id, 'not mine on mine');
  await say(mara, other.id, 'mine on other');
  await say(mara, hidden.id, 'mine on what is private now');
  await ines.ok('updatePost', { params: { id: hidden.id }, body: { visibility: 'private' } });
  await bearer(library, mara, ['read']);
  for (const given of [undefined, 'wrong']) await signIn(library, 'mara', given);

  const { paths, text, json } = await exportOf(mara.ref);
  expect(
    paths.filter((path) => /originals.*\.bin$/.test(path)).map((path) => path.replace(/.*\/| .*/g, '')),
  ).toEqual(['own', 'trashed']);
  for (const present of ['Own post', 'mine on mine', 'mine on other', 'of mara'])
    expect(text).toContain(present);
  for (const absent of [
    'not mine on mine',
    'Foreign file',
    'of ines',
    'Later private',
    'private now',
    'ines@',
  ])
    expect(text).not.toContain(absent);
  expect(await json('profile')).toMatchObject([{ username: 'mara' }]);
  expect(await json('comments')).toMatchObject([{ body: 'mine on mine' }, { body: 'mine on other' }]);
  const address = '127.0.0.1';
  expect(await json('sign-ins')).toMatchObject([
    { ok: true, method: 'password', address },
    { ok: false, method: 'password', address },
  ]);
  expect(await json('sessions')).toHaveLength(2);
  expect(paths.some((path) => path.startsWith('data/rows'))).toBe(false);
  const { rows: secrets } = await library.database.pool.query<{ secret: string }>(
    `select encode(token_hash, 'hex') as secret from access_tokens union all select encode(token_hash, 'hex') from sessions
     union all select password_hash from users`,
  );
  for (const { secret } of secrets) expect(text).not.toContain(secret);
});
