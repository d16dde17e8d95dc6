import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { pdf } from '../media/documents.ts';
import type { Visitor } from '../support/client.ts';
import { openLibrary, upload } from '../support/library.ts';
import { plainFile, plainText } from '../support/pictures.ts';

const library = await openLibrary();
const [mara, stranger] = await library.joinAll('mara', 'stranger');

async function found(visitor: Visitor, q: string): Promise<string[]> {
  const { items } = await visitor.ok('search', { query: { q } });
  return items.flatMap((hit) => (hit.kind === 'asset' ? [hit.asset.title] : []));
}

/** Uploads a text; its words are found once the jobs have run. */
const write = (text: string, title: string, fields: Record<string, string> = {}) =>
  upload(mara, plainText(`${text}\n`), { title, ...fields });

describe('the text of a file', () => {
  // SEARCH-13
  test('finds it by every page, below titles, after edits and for each asset of the bytes', async () => {
    const pages = pdf(['Cover', 'Contents', 'Bergamot marmalade']);
    await upload(mara, pages, { title: 'Cookbook' }, 'book.pdf');
    await write('A quarry, and nothing but a quarry.', 'Walls');
    await write('Stones.', 'Quarry');
    const { id } = await write('Zinfandel.', 'One');
    expect(await found(stranger, 'bergamot')).toEqual([]);
    await library.runJobs();
    for (const q of ['bergamot', '"bergamot marmalade"'])
      expect([q, await found(stranger, q)]).toEqual([q, ['Cookbook']]);
    expect((await stranger.ok('listAssets', { query: { q: 'bergamot' } })).items.length).toBe(1);
    expect(await found(stranger, 'quarry')).toEqual(['Quarry', 'Walls']);
    await mara.ok('updateAsset', { params: { id }, body: { title: 'Two' } });
    await write('Zinfandel.', 'Three');
    expect((await found(stranger, 'zinfandel')).sort()).toEqual(['Three', 'Two']);
  });

  // SEARCH-8, SEARCH-13
  test('does not lower the rank of its asset for the title, however long it is', async () => {
    const short = { title: 'Walls', description: 'basalt, basalt and basalt' };
    await upload(mara, plainFile('one'), short, 'b.bin');
    const { file_hash } = await upload(mara, plainFile('two'), { title: 'Basalt' }, 'a.bin');
    const words = Array.from({ length: 10_000 }, (_, n) => `word${n}`).join(' ');
    await sql`update files set text = ${words} where hash = ${file_hash}`.execute(library.deps.db);
    expect(await found(stranger, 'basalt')).toEqual(['Basalt', 'Walls']);
  });

  // SEARCH-13
  test('is not found by callers from whom the bytes are withheld', async () => {
    await write('Persimmon.', 'Mine', { sensitivity: 'restricted' });
    await write('Salamander.', 'Veiled', { mature: 'true' });
    await library.runJobs();
    expect([await found(mara, 'persimmon'), await found(stranger, 'persimmon')]).toEqual([['Mine'], []]);
    expect([await found(stranger, 'veiled'), await found(stranger, 'salamander')]).toEqual([['Veiled'], []]);
    await stranger.ok('updatePreferences', { body: { mature_content: { show: true } } });
    expect(await found(stranger, 'salamander')).toEqual(['Veiled']);
  });

  // SEARCH-13
  test('is indexed up to its maximum length', async () => {
    const letters = Array.from({ length: 60_000 }, (_, at) => String.fromCodePoint(0x4e00 + (at % 20_900)));
    const { file_hash } = await write(`${letters.join('')} `.repeat(3), 'Characters');
    await library.runJobs();
    expect(await found(mara, '一丁')).toEqual(['Characters']);
    const { rows } = await sql<{ n: number }>`select length(text) as n from files
      where hash = ${file_hash}`.execute(library.deps.db);
    expect(rows[0]?.n).toBeLessThanOrEqual(100_000);
  });
});
