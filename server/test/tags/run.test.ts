import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { publish, upload } from '../support/library.ts';
import { plainFile } from '../support/pictures.ts';
import { openTags } from './people.ts';

const COPIES = 1050;

const { library, root, author, operator, picture } = await openTags();

/** Creates many posts and one asset with the tag. */
async function fill(tag: string): Promise<void> {
  const { id } = await publish(author, [picture], { tags: ['first', tag] });
  const { db } = library.deps;
  const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
    where table_name = 'posts' and is_generated = 'NEVER' and column_name <> 'id'`.execute(db);
  const columns = sql.join(rows.map(({ name }) => sql.ref(name)));
  await sql`insert into posts (id, ${columns}) select gen_random_uuid(), ${columns}
    from posts, generate_series(1, ${COPIES - 1}) where id = ${id}`.execute(db);
  await upload(author, plainFile(), { tags: tag });
}

async function countOf(tag: string) {
  const { rows } = await sql<{ posts: number; assets: number; documents: number }>`select
    (select count(*) from posts where tags = array['first', ${tag}]) as posts,
    (select count(*) from asset_tags where value = ${tag}) as assets,
    (select count(*) from post_documents d where d::text like ${`%${tag}%`}) as documents`.execute(
    library.deps.db,
  );
  return rows[0];
}

const rename = (tag: string, to: string) => operator.ok('renameTag', { params: { tag }, body: { to } });
const progress = async () => {
  const { items } = await root.ok('listJobs', { query: { name: 'rewrite-tags' } });
  return items.map((job) => job.progress);
};
const none = { posts: 0, assets: 0, documents: 0 };
const all = { posts: COPIES, assets: 1, documents: COPIES };
const total = COPIES + 1;

describe('a tag on more than 1,000 posts and assets', () => {
  // TAG-7
  test('is renamed in steps; follows change at once, and the job has a progress', async () => {
    await fill('aardvark');
    await author.ok('followTag', { params: { tag: 'aardvark' } });
    const change = await rename('aardvark', 'badger');
    expect(change).toMatchObject({ posts: COPIES, assets: 1, follows: 1, dry_run: false });
    expect(change.run).toEqual({ id: expect.any(String), done: 0, total });
    expect(await countOf('aardvark')).toEqual(all);
    expect((await author.ok('listFollowedTags')).map(({ tag }) => tag)).toEqual(['badger']);
    expect(await progress()).toEqual([{ part: 0, step: null, done: 0, total }]);
    await library.runJobs();
    expect([await countOf('aardvark'), await countOf('badger')]).toEqual([none, all]);
    expect(await progress()).toEqual([]);
  });

  // TAG-7
  test('a job that dies between two steps repeats and loses nothing, and rewrites what was written meanwhile', async () => {
    await fill('camel');
    await rename('camel', 'dromedary');
    const { db } = library.deps;
    await sql`create function die() returns trigger language plpgsql as
      $$ begin if new.done > 1000 then raise exception 'killed'; end if; return new; end $$`.execute(db);
    await sql`create trigger die before update on tag_runs for each row execute function die()`.execute(db);
    await library.runJobs();
    expect(await progress()).toMatchObject([{ done: 1000, total }]);
    expect((await countOf('camel'))?.posts).toBe(COPIES - 1000);
    expect(await countOf('dromedary')).toEqual({ posts: 1000, assets: 0, documents: 1000 });
    await sql`drop trigger die on tag_runs`.execute(db);
    const { updated_at: since } = await db
      .selectFrom('posts')
      .select(sql<string>`max(updated_at)`.as('updated_at'))
      .where(sql<boolean>`tags = array['first', 'dromedary']`)
      .executeTakeFirstOrThrow();
    const late = await publish(author, [picture], { tags: ['first', 'camel'] });
    await sql`update graphile_worker._private_jobs set run_at = now()`.execute(db);
    await library.runJobs();
    const whole = { posts: COPIES + 1, assets: 1, documents: COPIES + 1 };
    expect([await countOf('camel'), await countOf('dromedary')]).toEqual([none, whole]);
    expect((await author.ok('getPost', { params: { id: late.id } })).tags).toEqual(['first', 'dromedary']);
    const once = await sql<{ n: number }>`select count(*) as n from posts
      where tags = array['first', 'dromedary'] and updated_at <= ${since}`.execute(db);
    expect(once.rows).toEqual([{ n: 1000 }]);
  });

  // TAG-8
  test('a second change of the same tag waits for the first', async () => {
    await fill('eagle');
    await rename('eagle', 'falcon');
    await publish(author, [picture], { tags: ['first', 'falcon'] });
    const second = await rename('falcon', 'goose');
    expect(second).toMatchObject({ posts: 1, run: { done: 0, total: 1 } });
    await library.runJobs();
    expect([await countOf('eagle'), await countOf('falcon')]).toEqual([none, none]);
    expect((await countOf('goose'))?.posts).toBe(COPIES + 1);
  });

  // TAG-7
  test('two workers and concurrent edits leave no post with the old tag, and lose no edit', async () => {
    await fill('heron');
    const edited = await publish(author, [picture], { tags: ['first', 'heron'] });
    await rename('heron', 'ibis');
    const { db } = library.deps;
    // Has no job key, so that it does not replace the first job.
    await sql`select graphile_worker.add_job('rewrite-tags')`.execute(db);
    const edit = (title: string) => author.ok('updatePost', { params: { id: edited.id }, body: { title } });
    await Promise.all([library.runJobs(), library.runJobs(), edit('Once').then(() => edit('Twice'))]);
    const after = await author.ok('getPost', { params: { id: edited.id } });
    expect(after).toMatchObject({ title: 'Twice', tags: ['first', 'ibis'] });
    const { rows } = await sql<{ done: number; total: number; rewritten: number }>`select done, total,
      (select count(*) from posts where 'ibis' = any(tags)) as rewritten
      from tag_runs where source = 'heron' and finished_at is not null`.execute(db);
    expect(rows).toEqual([{ done: total + 1, total: total + 1, rewritten: COPIES + 1 }]);
    expect(await countOf('heron')).toEqual(none);
  });
});
