import type { SearchHit, SearchPage } from '@vitrine/contract/search';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { define } from '../fields/define.ts';
import { openLibrary } from '../support/library.ts';
import { everyItem, readDoor, together } from './asking.ts';
import {
  type AssetCell,
  answerOf,
  isInFeed,
  isServed,
  type PostCell,
  readsCollection,
  refusalAt,
  type Switches,
} from './due.ts';
import { openLedger } from './ledger.ts';
import { postAdministrators, type Standing, shownEverything, standings } from './matrix.ts';
import { type Caller, disguiseNames, makeWorld, must, type World } from './world.ts';

/**
 * Issue 6 and spec 2.7 rule 3: what is searched is what is read. Each kind of text has a word of its own, in every
 * row of the world, so that one question asks for all rows at once.
 */

type Rule = (who: Standing, asset: AssetCell) => boolean;

const usual: Switches = { publicMode: true, matureAllowed: true };
const ledger = openLedger();
let world: World;
let codes: { plain: string; global: string; team: string; archived: string };
let callers: Caller[];

const isShown: Rule = (who, asset) => answerOf(who, asset) === 'shown';

/** Held everywhere, or for the asset's team; never because an asset is one's own (spec 2.7, read_capability). */
const readsAll: Rule = (who, { team }) => [...shownEverything[team], 'system.admin'].includes(who);
const readsPostAdministration: Rule = (who, { team }) => postAdministrators[team].includes(who);

const both =
  (one: Rule, other: Rule): Rule =>
  (who, asset) =>
    one(who, asset) && other(who, asset);

/** The question, and which assets it finds for whom. */
const questions: readonly [string, Rule][] = [
  ['quokka', isShown],
  ['"quokka plover"', isShown],
  ['"plover quokka"', () => false],
  ['quoka', isShown],
  ['bilby', isShown],
  ['wombat', isShown],
  ['dugong', isShown],
  ['kakapo', () => false],
  ['numbat', (who, asset) => isServed(who, asset, usual)],
  ['ocelot', both(isShown, readsAll)],
  ['"sealed ocelot"', both(isShown, readsAll)],
  ['margay', both(isShown, readsPostAdministration)],
  // By exclusion nobody learns what they may not find.
  ['quokka -numbat', (who, asset) => isShown(who, asset) && !isServed(who, asset, usual)],
  ['quokka -ocelot', (who, asset) => isShown(who, asset) && !readsAll(who, asset)],
  ['quokka -margay', (who, asset) => isShown(who, asset) && !readsPostAdministration(who, asset)],
  ['quokka -kakapo', isShown],
  ['ocelot margay', both(both(isShown, readsAll), readsPostAdministration)],
];

beforeAll(async () => {
  world = await makeWorld(await openLibrary());
  const { db } = world.library.deps;
  callers = [...standings, ...disguiseNames].map((name) => must(world.callers.get(name), name));
  const admin = must(world.callers.get('system.admin'), 'administrator').visitor;
  await sql`update assets set title = 'quokka plover', description = 'bilby', file_name = 'numbat.jpg'`.execute(
    db,
  );
  await sql`insert into asset_tags (asset_id, value, source) select id, 'wombat', 'manual' from assets`.execute(
    db,
  );
  await sql`update posts set title = 'heron post', description = 'egret' where tags && '{sample,gallery}'`.execute(
    db,
  );
  await sql`update collections set name = 'avocet shelf'`.execute(db);
  const searched = { searchable: true };
  const plain = await define(admin, searched);
  const global = await define(admin, { ...searched, read_capability: 'content.read.all' });
  const team = await define(admin, { ...searched, read_capability: 'posts.admin' });
  const archived = await define(admin, searched);
  codes = { plain: plain.code, global: global.code, team: team.code, archived: archived.code };
  const values: [string, string][] = [
    [plain.id, 'dugong'],
    [global.id, 'sealed ocelot'],
    [team.id, 'margay'],
    [archived.id, 'kakapo'],
  ];
  for (const [field, word] of values) {
    await sql`insert into asset_field_values (asset_id, field_id, value_text, set_by)
      select id, ${field}::uuid, ${word}, 'manual' from assets`.execute(db);
  }
  await admin.ok('updateField', { params: { id: archived.id }, body: { status: 'archived' } });
  await sql`analyze`.execute(db);
  await world.library.setPublicMode(true);
});

const everythingHolds = () => expect(ledger.takeDifferences()).toEqual([]);
const idOf = (hit: SearchHit) =>
  hit.kind === 'asset'
    ? hit.asset.id
    : hit.kind === 'post'
      ? hit.post.id
      : hit.kind === 'collection'
        ? hit.collection.id
        : '';

/** One page of hits, null for whom the door refuses. */
async function ask(caller: Caller, query: string, switches = usual): Promise<SearchPage | null> {
  const { status, text } = await caller.visitor.send(`/search?${query}`);
  const refusal = refusalAt(caller.standing, caller.scopes, readDoor, switches);
  ledger.hold(`${caller.name}: /search?${query}: status`, status, refusal ?? 200);
  return status === 200 ? JSON.parse(text) : null;
}

/** Compares two sets by what is too much and what is too little. */
function holdSet(name: string, got: readonly string[], due: readonly string[]) {
  const [seen, wanted] = [new Set(got), new Set(due)];
  const more = got.filter((id) => !wanted.has(id));
  const less = due.filter((id) => !seen.has(id));
  ledger.hold(
    name,
    `${got.length}, too many ${more.slice(0, 3)}, missing ${less.slice(0, 3)}`,
    `${due.length}, too many , missing `,
  );
}

/** Every hit of a kind, page by page. */
async function everyHit(caller: Caller, query: string): Promise<string[] | null> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: SearchPage | null = await ask(
      caller,
      `limit=200&${query}${cursor === null ? '' : `&cursor=${cursor}`}`,
    );
    if (page === null) return null;
    ids.push(...page.items.map(idOf));
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

test('every question counts and divides the assets whose words the caller reads, and no other', async () => {
  await together(callers, async (caller) => {
    for (const [index, [q, rule]] of questions.entries()) {
      if (caller.name !== caller.standing && index % 3 !== 0) continue;
      const due = world.assets.filter((asset) => rule(caller.standing, asset)).length;
      const page = await ask(caller, `kind=asset&limit=1&facets=true&q=${encodeURIComponent(q)}`);
      if (page === null) continue;
      ledger.hold(`${caller.name}: ${q}: total`, page.total, due);
      const of = page.facets?.asset_type.map(({ count }) => count).join() ?? 'none';
      // What is only like the words is not divided.
      if (q !== 'quoka') ledger.hold(`${caller.name}: ${q}: facet`, of, due === 0 ? '' : String(due));
      ledger.hold(`${caller.name}: ${q}: a hit`, page.items.length, Math.min(due, 1));
    }
  });
  everythingHolds();
});

test('the assets found are those whose words the caller reads, by /search and by /assets?q=', async () => {
  await together(callers, async (caller) => {
    for (const [q, rule] of questions.filter(([q]) => ['quokka', 'numbat', 'ocelot', 'margay'].includes(q))) {
      const due = world.assets.filter((asset) => rule(caller.standing, asset)).map(({ id }) => id);
      const found = await everyHit(caller, `kind=asset&q=${q}`);
      if (found !== null) holdSet(`${caller.name}: /search?q=${q}`, found, due);
      if (q === 'quokka' || q === 'ocelot') {
        const listed = await everyItem<{ id: string }>(ledger, caller, '/assets', `q=${q}`, usual);
        if (listed !== null)
          holdSet(
            `${caller.name}: /assets?q=${q}`,
            listed.map(({ id }) => id),
            due,
          );
      }
    }
  });
  everythingHolds();
});

test('a filter finds by a field the caller reads on that asset, and by no other', async () => {
  const filters: [string, string, Rule][] = [
    [codes.plain, 'dugong', isShown],
    [codes.global, 'sealed ocelot', both(isShown, readsAll)],
    [codes.team, 'margay', both(isShown, readsPostAdministration)],
    [codes.archived, 'kakapo', () => false],
  ];
  await together(callers, async (caller) => {
    for (const [code, value, rule] of filters) {
      const path = `/assets?limit=200&filter=${encodeURIComponent(`field:${code}=${value}`)}`;
      const due = world.assets.filter((asset) => rule(caller.standing, asset)).map(({ id }) => id);
      const { status, text } = await caller.visitor.send(path);
      const refusal = refusalAt(caller.standing, caller.scopes, readDoor, usual);
      if (refusal !== null) {
        ledger.hold(`${caller.name}: ${path}: status`, status, refusal);
        continue;
      }
      // A field nobody may look for is one that does not exist, to whoever asks.
      if (status !== 200) {
        ledger.hold(`${caller.name}: ${path}: refused`, `${status} ${due.length}`, '400 0');
        continue;
      }
      const page: { items: { id: string }[] } = JSON.parse(text);
      const wanted = new Set(due);
      ledger.hold(`${caller.name}: ${path}: how many`, page.items.length, Math.min(due.length, 200));
      ledger.hold(
        `${caller.name}: ${path}: only these`,
        page.items.every(({ id }) => wanted.has(id)),
        true,
      );
    }
  });
  everythingHolds();
});

test('posts and collections are found by whoever has them in their lists', async () => {
  const searched = (post: PostCell) => post.tag === 'sample' || post.tag === 'gallery';
  await together(callers, async (caller) => {
    const who = caller.standing;
    const posts = world.posts.filter((post) => searched(post) && isInFeed(who, post)).map(({ id }) => id);
    const shelves = world.collections.filter((shelf) => readsCollection(who, shelf)).map(({ id }) => id);
    for (const [query, due] of [
      ['kind=post&q=heron', posts],
      ['kind=post&q=egret', posts],
      ['kind=collection&q=avocet', shelves],
    ] as const) {
      const found = await everyHit(caller, query);
      if (found !== null) holdSet(`${caller.name}: /search?${query}`, found, due);
    }
    const listed = await everyItem<{ id: string }>(ledger, caller, '/posts', 'q=heron', usual);
    if (listed !== null)
      holdSet(
        `${caller.name}: /posts?q=heron`,
        listed.map(({ id }) => id),
        posts,
      );
  });
  everythingHolds();
});

test('suggestions name only what is found, and never words of a gated field', async () => {
  await together(callers, async (caller) => {
    const refusal = refusalAt(caller.standing, caller.scopes, readDoor, usual);
    for (const q of ['quok', 'hero', 'avoc', 'ocel', 'marg', 'kaka']) {
      const { status, text } = await caller.visitor.send(`/search/suggest?q=${q}`);
      ledger.hold(`${caller.name}: suggest ${q}: status`, status, refusal ?? 200);
      if (status !== 200) continue;
      const { items }: { items: { kind: string; id?: string }[] } = JSON.parse(text);
      const who = caller.standing;
      const allowed = new Set(
        [
          ...world.assets.filter((asset) => q === 'quok' && isShown(who, asset)),
          ...world.posts.filter((post) => q === 'hero' && isInFeed(who, post)),
          ...world.collections.filter((shelf) => q === 'avoc' && readsCollection(who, shelf)),
        ].map(({ id }) => id),
      );
      const stray = items.filter(({ id }) => id === undefined || !allowed.has(id));
      ledger.hold(`${caller.name}: suggest ${q}: nothing else`, JSON.stringify(stray), '[]');
      ledger.hold(`${caller.name}: suggest ${q}: something`, items.length > 0, allowed.size > 0);
    }
  });
  everythingHolds();
});

test('the values of an asset are those of fields the caller reads on it', async () => {
  const cells = world.assets.filter((_, index) => index % 17 === 0);
  await together(callers, async (caller) => {
    for (const [index, asset] of cells.entries()) {
      if (caller.name !== caller.standing && index % 4 !== 0) continue;
      const who = caller.standing;
      const refusal = refusalAt(who, caller.scopes, readDoor, usual);
      const { status, text } = await caller.visitor.send(`/assets/${asset.id}/fields`);
      const answer = answerOf(who, asset);
      const name = `${caller.name}: fields of ${asset.status} ${asset.sensitivity} team ${asset.team}`;
      ledger.hold(`${name}: status`, status, refusal ?? (answer === 'missing' ? 404 : 200));
      if (status !== 200) continue;
      const { items }: { items: { field_code: string }[] } = JSON.parse(text);
      const mine = items.filter(({ field_code }) => Object.values(codes).includes(field_code));
      const due = [
        answer === 'shown' && 'dugong',
        answer === 'shown' && readsAll(who, asset) && 'sealed ocelot',
        answer === 'shown' && readsPostAdministration(who, asset) && 'margay',
      ].filter((word) => word !== false);
      const words = ['dugong', 'sealed ocelot', 'margay', 'kakapo'].filter((word) => text.includes(word));
      ledger.hold(`${name}: values`, `${mine.length} ${words.join()}`, `${due.length} ${due.join()}`);
    }
  });
  everythingHolds();
});

test('without public mode an anonymous visitor asks nothing', async () => {
  await world.library.setPublicMode(false);
  const anonymous = must(world.callers.get('anonymous'), 'visitor');
  const off: Switches = { ...usual, publicMode: false };
  for (const path of ['/search?q=quokka', '/search/suggest?q=quok', '/posts?q=heron', '/assets?q=quokka']) {
    const { status, text } = await anonymous.visitor.send(path);
    ledger.hold(`anonymous: ${path}`, status, refusalAt('anonymous', null, readDoor, off));
    ledger.hold(`anonymous: ${path}: says nothing`, /quokka|heron/.test(text), false);
  }
  await world.library.setPublicMode(true);
  everythingHolds();
});
