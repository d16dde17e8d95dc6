import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { pdf } from '../media/documents.ts';
import { arrive } from '../posts/people.ts';
import type { Visitor } from '../support/client.ts';
import { type Account, type Library, openLibrary, upload } from '../support/library.ts';
import { plainFile, plainText } from '../support/pictures.ts';

let library: Library;
let mara: Account;
let stranger: Account;

beforeAll(async () => {
  library = await openLibrary();
  mara = await arrive(library, 'mara');
  stranger = await arrive(library, 'stranger');
});

async function found(visitor: Visitor, q: string): Promise<string[]> {
  const { items } = await visitor.ok('search', { query: { q } });
  return items.flatMap((hit) => (hit.kind === 'asset' ? [hit.asset.title] : []));
}

describe('the text of a file', () => {
  // SEARCH-13
  test('finds a PDF by a word on its third page', async () => {
    const pages = pdf(['Cover', 'Contents', 'Bergamot marmalade']);
    await upload(mara, pages, { title: 'Cookbook', sensitivity: 'public' }, 'book.pdf');
    expect(await found(stranger, 'bergamot')).toEqual([]);
    await library.runJobs();
    expect(await found(stranger, 'bergamot')).toEqual(['Cookbook']);
    expect(await found(stranger, '"bergamot marmalade"')).toEqual(['Cookbook']);
    expect((await stranger.ok('listAssets', { query: { q: 'bergamot' } })).items.length).toBe(1);
  });

  // SEARCH-13
  test('ranks below a title', async () => {
    const body = plainText('A quarry, and nothing but a quarry.\n');
    await upload(mara, body, { title: 'Walls', sensitivity: 'public' }, 'walls.txt');
    await upload(mara, plainText('Stones.\n'), { title: 'Quarry', sensitivity: 'public' }, 'q.txt');
    await library.runJobs();
    expect(await found(stranger, 'quarry')).toEqual(['Quarry', 'Walls']);
  });

  // SEARCH-8, SEARCH-13
  test('does not lower the rank of its asset for the title, however long it is', async () => {
    const short = { title: 'Walls', description: 'basalt, basalt and basalt', sensitivity: 'public' };
    await upload(mara, plainFile('one'), short, 'b.bin');
    const { file_hash } = await upload(
      mara,
      plainFile('two'),
      { title: 'Basalt', sensitivity: 'public' },
      'a.bin',
    );
    const words = Array.from({ length: 10_000 }, (_, n) => `word${n}`).join(' ');
    await sql`update files set text = ${words} where hash = ${file_hash}`.execute(library.deps.db);
    expect(await found(stranger, 'basalt')).toEqual(['Basalt', 'Walls']);
  });

  test('remains searchable after an edit, and is searchable for a second asset with the same bytes', async () => {
    const asset = await upload(mara, plainText('Zinfandel.\n'), { title: 'One', sensitivity: 'public' });
    await library.runJobs();
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { title: 'Two' } });
    await upload(mara, plainText('Zinfandel.\n'), { title: 'Three', sensitivity: 'public' });
    expect((await found(stranger, 'zinfandel')).sort()).toEqual(['Three', 'Two']);
  });

  // SEARCH-13
  test('is not found by callers from whom the file is withheld', async () => {
    await upload(mara, plainText('Persimmon.\n'), { title: 'Mine', sensitivity: 'restricted' });
    await library.runJobs();
    expect([await found(mara, 'persimmon'), await found(stranger, 'persimmon')]).toEqual([['Mine'], []]);
  });

  // SEARCH-13
  test('of a mature file is found only by callers who show mature content', async () => {
    const form = { title: 'Veiled', sensitivity: 'public', mature: 'true' };
    const asset = await upload(mara, plainText('Salamander.\n'), {
      title: form.title,
      sensitivity: 'public',
    });
    await mara.ok('updateAsset', { params: { id: asset.id }, body: { mature: true } });
    await library.runJobs();
    expect(await found(stranger, 'veiled')).toEqual([form.title]);
    expect(await found(stranger, 'salamander')).toEqual([]);
    await stranger.ok('updatePreferences', { body: { mature_content: { show: true } } });
    expect(await found(stranger, 'salamander')).toEqual([form.title]);
  });

  test('is indexed up to its maximum length', async () => {
    const words = Array.from({ length: 60_000 }, (_, at) =>
      String.fromCodePoint(0x4e00 + (at % 20_900)),
    ).join('');
    await upload(mara, plainText(`${words} `.repeat(3)), { title: 'Characters', sensitivity: 'public' });
    await library.runJobs();
    expect(await found(mara, '一丁')).toEqual(['Characters']);
    const { rows } = await sql<{ longest: number }>`select max(length(text)) as longest from files`.execute(
      library.deps.db,
    );
    expect(rows[0]?.longest).toBeLessThanOrEqual(100_000);
  });
});
