import type { SearchHit, SearchPage } from '@vitrine/contract/search';
import { must } from '../cells.ts';
import {
  type About,
  administersPosts,
  both,
  collectionFields,
  isAsked,
  isShown,
  type Rule,
  readsAll,
} from '../described-world.ts';
import {
  isDisclosed,
  isInFeed,
  isServed,
  type PostCell,
  readsCollection,
  refusalAt,
  type Switches,
} from '../due.ts';
import { teams } from '../matrix.ts';
import { everyItem, labelOfAsset, readDoor, refusalOf, together } from '../send-requests.ts';
import { asksAll, usual } from '../setting.ts';
import type { Caller } from '../world.ts';

/** SEARCH-1: callers search what they can read. */

const nobody: Rule = () => false;

/** The query, and the assets that it finds for each caller. */
const questions: readonly [string, Rule][] = [
  ['quokka', isShown],
  ['"quokka plover"', isShown],
  ['"plover quokka"', nobody],
  ['quoka', isShown],
  ['bilby', isShown],
  ['wombat', isShown],
  ['dugong', isShown],
  ['weka', isShown],
  ['tui', isShown],
  ['kakapo', nobody],
  ['moa', nobody],
  ['hihi', nobody],
  ['brolga', nobody],
  ['kaka', nobody],
  ['kokako', nobody],
  ['numbat', (who, asset) => isServed(who, asset, usual)],
  ['ocelot', both(isShown, readsAll)],
  ['"sealed ocelot"', both(isShown, readsAll)],
  ['margay', both(isShown, administersPosts)],
  ['kea', both(isShown, administersPosts)],
  // Excluding a word reveals nothing that the caller may not find.
  ['quokka -numbat', (who, asset) => isShown(who, asset) && !isServed(who, asset, usual)],
  ['quokka -ocelot', (who, asset) => isShown(who, asset) && !readsAll(who, asset)],
  ['quokka -margay', (who, asset) => isShown(who, asset) && !administersPosts(who, asset)],
  ['quokka -kakapo', isShown],
  ['ocelot margay', both(both(isShown, readsAll), administersPosts)],
];

const idOf = (hit: SearchHit): string => {
  switch (hit.kind) {
    case 'asset':
      return hit.asset.id;
    case 'post':
      return hit.post.id;
    case 'collection':
      return hit.collection.id;
    case 'user':
      return hit.user.username;
    case 'tag':
      return hit.tag.tag;
  }
};

/** Returns a page of hits, null if the operation refuses the caller. */
async function ask(
  { ledger }: About,
  caller: Caller,
  query: string,
  switches = usual,
): Promise<SearchPage | null> {
  const { status, text } = await caller.visitor.send(`/search?${query}`);
  const refusal = refusalOf(caller, readDoor, switches);
  ledger.hold(`${caller.name}: /search?${query}: status`, status, refusal ?? 200);
  return status === 200 ? JSON.parse(text) : null;
}

/** Compares two sets by their surplus and missing elements. */
export function holdSet({ ledger }: About, name: string, got: readonly string[], due: readonly string[]) {
  const [seen, wanted] = [new Set(got), new Set(due)];
  const more = got.filter((id) => !wanted.has(id));
  const less = due.filter((id) => !seen.has(id));
  const found = `${got.length}, too many ${more.slice(0, 3)}, missing ${less.slice(0, 3)}`;
  ledger.hold(name, found, `${due.length}, too many , missing `);
}

/** Compares all hits of a kind, from all pages, unless the operation refuses the caller. */
async function holdHits(about: About, caller: Caller, query: string, due: readonly string[]): Promise<void> {
  const found = await everyItem<SearchHit>(about.ledger, caller, '/search', query, usual);
  if (found !== null) holdSet(about, `${caller.name}: /search?${query}`, found.map(idOf), due);
}

/** Compares all items of a list that is searched, unless the operation refuses the caller. */
async function holdListed(
  about: About,
  caller: Caller,
  at: '/posts' | '/assets',
  query: string,
  due: readonly string[],
): Promise<void> {
  const found = await everyItem<{ id: string }>(about.ledger, caller, at, query, usual);
  const ids = found?.map(({ id }) => id);
  if (ids !== undefined) holdSet(about, `${caller.name}: ${at}?${query}`, ids, due);
}

/** Totals and facets of assets. */
export async function lookAtTotals(about: About) {
  const { world, ledger, callers } = about;
  await together([...callers.entries()], async ([place, caller]) => {
    const who = caller.kind;
    for (const [index, [q, rule]] of questions.entries()) {
      // Alternates between queries with the same result.
      const turns = rule === isShown || rule === nobody ? 9 : 3;
      if (!asksAll && (index + place) % turns !== 0) continue;
      const found = world.assets.filter((asset) => rule(who, asset));
      const due = found.length;
      const page = await ask(about, caller, `kind=asset&limit=1&facets=true&q=${encodeURIComponent(q)}`);
      if (page === null) continue;
      const label = `${caller.name}: ${q}`;
      ledger.hold(`${label}: total`, page.total, due);
      ledger.hold(`${label}: a hit`, page.items.length, Math.min(due, 1));
      // Similar words have no facets.
      if (q === 'quoka') continue;
      const of = page.facets?.asset_type.map(({ count }) => count).join() ?? 'none';
      ledger.hold(`${label}: facet of types`, of, due === 0 ? '' : String(due));
      const fields = page.facets?.fields.map(({ code, values }) => `${code} ${values[0]?.count}`) ?? [];
      const chosen = found.filter((asset) => administersPosts(who, asset)).length;
      const dueFields = [
        due > 0 && `${about.fields.choice.code} ${due}`,
        chosen > 0 && `${about.fields.gatedChoice.code} ${chosen}`,
      ].filter((one) => one !== false);
      ledger.hold(`${label}: facet of fields`, fields.sort().join(), dueFields.sort().join());
      const inTeams = page.facets?.team.map(({ value, count }) => `${value} ${count}`) ?? [];
      // Names of teams need teams.read, which every account has here.
      const dueTeams = teams.flatMap((team) => {
        const n = found.filter((asset) => asset.team === team).length;
        return team === 'none' || n === 0 || who === 'anonymous' ? [] : `${world.teamIds.get(team)} ${n}`;
      });
      ledger.hold(`${label}: facet of teams`, inTeams.sort().join(), dueTeams.sort().join());
    }
  });
}

/** Assets found by `/search` and by `/assets?q=`. */
export async function lookAtFoundAssets(about: About) {
  const { world, callers } = about;
  const asked = questions.filter(([q]) => ['quokka', 'numbat', 'ocelot', 'margay'].includes(q));
  await together([...callers.entries()], async ([place, caller]) => {
    for (const [index, [q, rule]] of asked.entries()) {
      if (!isAsked(caller, place, index)) continue;
      const due = world.assets.filter((asset) => rule(caller.kind, asset)).map(({ id }) => id);
      await holdHits(about, caller, `kind=asset&q=${q}`, due);
      if (q === 'quokka' || q === 'ocelot') await holdListed(about, caller, '/assets', `q=${q}`, due);
    }
  });
}

/** Each word is in a text of every asset that its readers can read, and in one that only some can read. */
export async function lookAtHighlights(about: About) {
  const { world, ledger, callers, fields } = about;
  const cells = new Map(world.assets.map((asset) => [asset.id, asset]));
  const asked: [string, string, Rule][] = [
    ['plover', fields.global.code, readsAll],
    ['bilby', fields.team.code, administersPosts],
    ['wombat', '', () => false],
    ['quokka', 'file_name', (who, asset) => isServed(who, asset, usual)],
  ];
  await together([...callers.entries()], async ([turn, caller]) => {
    for (const [index, [q, place, rule]] of asked.entries()) {
      if (!isAsked(caller, turn, index)) continue;
      const page = await ask(about, caller, `kind=asset&limit=100&q=${q}`);
      for (const hit of page?.items ?? []) {
        const asset = hit.kind === 'asset' ? cells.get(hit.asset.id) : undefined;
        if (asset === undefined) continue;
        const got = hit.highlights.flatMap(({ source, field_code }) =>
          source === 'field' || source === 'file_name' ? (field_code ?? source) : [],
        );
        const label = () => `${caller.name}: highlights of ${q} in ${labelOfAsset(asset)}`;
        ledger.hold(label, got.join(), rule(caller.kind, asset) ? place : '');
      }
    }
  });
}

/** File names follow the bytes; if the install does not allow mature content, opting in has no effect. */
export async function lookAtFileNames(about: About, switches: Switches) {
  const { world, ledger, callers } = about;
  await together(callers, async (caller) => {
    const page = await ask(about, caller, 'kind=asset&limit=1&q=numbat', switches);
    if (page === null) return;
    const due = world.assets.filter((asset) => isServed(caller.kind, asset, switches)).length;
    ledger.hold(`${caller.name}: numbat, mature content ${switches.matureAllowed}`, page.total, due);
  });
}

const searched = (post: PostCell) => post.tag === 'sample' || post.tag === 'gallery';

/** Posts, collections and people. */
export async function lookAtFoundOthers(about: About) {
  const { world, callers } = about;
  await together([...callers.entries()], async ([place, caller]) => {
    const who = caller.kind;
    const posts = world.posts.filter((post) => searched(post) && isInFeed(who, post)).map(({ id }) => id);
    const shelves = world.collections.filter((shelf) => readsCollection(who, shelf)).map(({ id }) => id);
    const { plain, global, gated } = collectionFields;
    const gate = (reads: (kind: typeof who) => boolean) => (reads(who) ? shelves : []);
    const toAccounts = (name: string) => (who === 'anonymous' ? [] : [name]);
    const questions: [string, string[]][] = [
      ['kind=post&q=heron', posts],
      ['kind=post&q=egret', posts],
      ['kind=collection&q=avocet', shelves],
      [`kind=collection&q=${plain.word}`, shelves],
      [`kind=collection&q=${global.word}`, gate(global.reads)],
      [`kind=collection&q=${gated.word}`, gate(gated.reads)],
      ['kind=collection&q=dodo', []],
      // IDENTITY-3, SEARCH-14: visitors see neither hidden accounts nor full names.
      ['kind=user&q=hidden', isDisclosed(who, 'hidden') ? ['hidden'] : []],
      ['kind=user&q=olga', toAccounts('owner')],
      ['kind=user&q=anna', toAccounts('author')],
      ['kind=user&q=oolga', toAccounts('owner')],
      ['kind=user&q=%22the+author%22', ['author', 'followed by the author']],
      ['kind=user&q=gone', []],
    ];
    for (const [index, [query, due]] of questions.entries())
      if (isAsked(caller, place, index)) await holdHits(about, caller, query, due);
    await holdListed(about, caller, '/posts', 'q=heron', posts);
  });
}

export async function lookAtSuggestions(about: About) {
  const { world, ledger, callers } = about;
  await together([...callers.entries()], async ([place, caller]) => {
    const refusal = refusalOf(caller, readDoor);
    const who = caller.kind;
    const words = ['quok', 'hero', 'avoc', 'ocel', 'marg', 'kaka', 'gala', 'olg', 'hidd'];
    for (const q of words.filter((_, index) => isAsked(caller, place, index))) {
      const { status, text } = await caller.visitor.send(`/search/suggest?q=${q}`);
      ledger.hold(`${caller.name}: suggest ${q}: status`, status, refusal ?? 200);
      if (status !== 200) continue;
      const { items }: { items: { kind: string; id?: string; user?: { username: string } }[] } =
        JSON.parse(text);
      const allowed = new Set([
        ...world.assets.filter((asset) => q === 'quok' && isShown(who, asset)).map(({ id }) => id),
        ...world.posts.filter((post) => q === 'hero' && isInFeed(who, post)).map(({ id }) => id),
        ...world.collections.filter((one) => q === 'avoc' && readsCollection(who, one)).map(({ id }) => id),
        ...(q === 'olg' && who !== 'anonymous' ? ['owner'] : []),
        ...(q === 'hidd' && isDisclosed(who, 'hidden') ? ['hidden'] : []),
      ]);
      const stray = items.filter(({ id, user }) => !allowed.has(id ?? user?.username ?? ''));
      ledger.hold(`${caller.name}: suggest ${q}: nothing else`, JSON.stringify(stray), '[]');
      ledger.hold(`${caller.name}: suggest ${q}: something`, items.length > 0, allowed.size > 0);
    }
  });
}

/** PUBLIC-1: with public mode off, anonymous callers see nothing. */
export async function lookWithoutPublicMode({ world, ledger }: About, switches: Switches) {
  const anonymous = must(world.callers.get('anonymous'), 'visitor');
  for (const path of [
    '/search?q=quokka',
    '/search/suggest?q=quok',
    '/posts?q=heron',
    '/assets?q=quokka',
    '/fields',
    '/tags',
    '/posts/featured',
  ]) {
    const { status, text } = await anonymous.visitor.send(path);
    ledger.hold(`anonymous: ${path}`, status, refusalAt('anonymous', null, readDoor, switches));
    ledger.hold(`anonymous: ${path}: says nothing`, /quokka|heron|field_|wombat/.test(text), false);
  }
}
