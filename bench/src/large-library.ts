import type pg from 'pg';
import { fillCorpus } from './corpus.ts';
import { keptLibrary } from './library.ts';

/** The assets of the library, and the member who owns them all. */
export const ASSETS = 100_000;
export const OWNER = 42;
/** Prints of pictures, of which so many belong to assets. */
const PRINTS = 1_000_000;

const fields = [
  ['client', 'text', "'Client ' || n % 300", 'value_text'],
  ['stars', 'number', 'n % 6', 'value_num'],
  ['shot_on', 'date', "date '2020-01-01' + (n % 2000)::integer", 'value_date'],
  ['place', 'text', "'Harbour, pier ' || n % 900", 'value_text'],
] as const;

async function addFields(pool: pg.Pool): Promise<void> {
  for (const [code, type, value, column] of fields)
    await pool.query(
      `with made as (insert into fields (code, label, type) values ($1, $1, $2) returning id)
       insert into asset_field_values (asset_id, field_id, ${column}, set_by)
       select md5('asset' || n)::uuid, made.id, ${value}, 'api' from generate_series(1, ${ASSETS}) n, made`,
      [code, type],
    );
}

/** Adds prints whose neighbouring bits are alike, as those of pictures are, and pairs of similar files. */
async function addPrints(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    // Most prints belong to no file, which nothing below reads.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into picture_prints (file_hash, print, pieces)
       select encode(sha256(n::text::bytea), 'hex'), p.print,
         array(select k * 65536 + substring(p.print from k * 16 + 1 for 16)::integer from generate_series(0, 3) k)
       from generate_series(1, $1::integer) n, lateral (
         -- A changed bit begins a run of equal ones.
         select string_agg((sum % 2)::text, '' order by place)::bit(128) as print from (
           select place, sum((random() < 0.25 or place % 16 = 1 and random() < 0.5)::integer) over (order by place) as sum
           from generate_series(1, 128) place where n > 0) bits) p`,
      [PRINTS],
    );
    await client.query(
      `insert into similar_files (first_hash, second_hash, bits)
       select least(a, b), greatest(a, b), n % 12 from (
         select n, encode(sha256((n * 2)::text::bytea), 'hex') as a, encode(sha256((n * 2 + 1)::text::bytea), 'hex') as b
         from generate_series(1, 20000) n) pairs`,
    );
    await client.query('reset session_replication_role');
    await client.query(
      `update assets set file_hash = encode(sha256((n - 1)::text::bytea), 'hex')
       from generate_series(10, ${ASSETS}, 10) n where id = md5('asset' || n)::uuid`,
    );
  } finally {
    client.release();
  }
}

async function fill(pool: pg.Pool): Promise<void> {
  await fillCorpus(pool, { posts: ASSETS / 2 }, console.log);
  await pool.query(`update assets set owner_user_ref = $1`, [OWNER]);
  await addFields(pool);
  await addPrints(pool);
  await pool.query('vacuum analyze');
}

/** Returns a library in which one member owns 100,000 files, with values of four fields and a million prints. */
export function largeLibrary(): Promise<string> {
  return keptLibrary(`files-${ASSETS}`, fill);
}
