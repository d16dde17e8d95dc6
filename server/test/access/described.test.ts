import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readableAssets } from '../../src/access/assets.ts';
import type { Anonymous } from '../../src/access/caller.ts';
import { callerOf } from '../../src/access/caller-of.ts';
import { readableParts, searchCandidates } from '../../src/access/candidates.ts';
import { searchable } from '../../src/access/search.ts';
import { sources } from '../../src/content/search-index/sources.ts';
import { startEncoder } from '../support/encoder.ts';
import { openAbout } from './described-world.ts';
import { everythingHolds, setSwitches, usual } from './setting.ts';
import { lookAtCards } from './surfaces/cards.ts';
import { lookAtDefinitions } from './surfaces/definitions.ts';
import { fillRail, lookAtFeatured } from './surfaces/featured.ts';
import { addNotifications, lookAtNotifications, type News, tryToRead } from './surfaces/notifications.ts';
import { addKept, lookAtKept, lookAtOwnData, lookAtPasskeys, lookAtWatches } from './surfaces/own.ts';
import { lookAtPictures } from './surfaces/pictures.ts';
import { type Ask, addRequests, lookAtRequests, tryToDecide } from './surfaces/requests.ts';
import {
  lookAtFileNames,
  lookAtFoundAssets,
  lookAtFoundOthers,
  lookAtHighlights,
  lookAtSuggestions,
  lookAtTotals,
  lookWithoutPublicMode,
} from './surfaces/search.ts';
import { addTags, lookAtTags } from './surfaces/tags.ts';
import { addFollowsAndClosed, lookAtHeroes, lookAtTeams } from './surfaces/teams.ts';
import {
  addWrittenOfAssets,
  addWrittenOfCollections,
  writeAssetValues,
  writeCollectionValues,
  writeMirrored,
} from './surfaces/value-writes.ts';
import {
  lookAtAssetHistory,
  lookAtAssetValues,
  lookAtCollectionValues,
  lookAtFilters,
} from './surfaces/values.ts';

/**
 * What every caller learns about the content of the library: search, fields and their values, tags, the featured list,
 * teams, requests, notifications, and the private settings of accounts (surfaces/).
 */

const anonymous: Anonymous = { kind: 'anonymous' };

const encoder = await startEncoder();
const about = await openAbout(encoder.address);

afterAll(() => encoder.stop());

const holds = async (look: Promise<void>) => {
  await look;
  everythingHolds(about);
};

// SEARCH-1
describe('search', () => {
  // SEARCH-1
  test('counts only assets whose text the caller may read, for every query', () =>
    holds(lookAtTotals(about)));

  // SEARCH-1
  test('/search and /assets?q= find only assets whose text the caller may read', () =>
    holds(lookAtFoundAssets(about)));

  // SEARCH-1, SEARCH-2
  test('posts, collections and people are found by callers who may list them', () =>
    holds(lookAtFoundOthers(about)));

  test('highlights come only from text that the caller may read', () => holds(lookAtHighlights(about)));

  // SEARCH-16
  test('returns similar assets only if the caller may have their bytes', () => holds(lookAtPictures(about)));

  // SEARCH-1
  test('suggests only names that the caller can find, never text of a restricted field', () =>
    holds(lookAtSuggestions(about)));

  test('considers every asset that the caller may find', async () => {
    const { db } = about.world.library.deps;
    let found = 0;
    for (const { name, ref } of about.callers) {
      const caller = ref === null ? anonymous : await callerOf(db, ref);
      if (caller === null) continue;
      for (const kind of ['asset', 'post'] as const) {
        const candidates = searchCandidates(caller, kind) ?? sql<boolean>`true`;
        const { rows } = await sql<{ all: number; missed: number }>`
          select count(*) as all, count(*) filter (where (${candidates}) is not true) as missed
          from ${sources[kind].from} where ${searchable(caller, kind)}`.execute(db);
        found += rows[0]?.all ?? 0;
        expect([name, kind, rows[0]?.missed]).toEqual([name, kind, 0]);
      }
    }
    expect(found).toBeGreaterThan(1000);
  });

  test('lists every asset that the caller may read', async () => {
    const { db } = about.world.library.deps;
    for (const { name, ref } of about.callers) {
      const caller = ref === null ? null : await callerOf(db, ref);
      const parts = caller === null ? null : readableParts(caller);
      if (caller === null || parts === null) continue;
      const held = sql.join([...parts.sets, sql`a.team_id = any(${parts.teams})`], sql` or `);
      const { rows } = await sql<{ missed: number }>`
        select count(*) as missed from assets a where ${readableAssets(caller)} and (${held}) is not true`.execute(
        db,
      );
      expect([name, rows[0]?.missed]).toEqual([name, 0]);
    }
  });

  test('returns no mature files when the library forbids them, even to callers who opted in', async () => {
    const switches = { ...usual, matureAllowed: false };
    await setSwitches(about, switches);
    await holds(lookAtFileNames(about, switches));
    await setSwitches(about, usual);
  });
});

describe('fields', () => {
  // FIELD-10
  test('definitions are visible to readers of their values and to administrators of fields', () =>
    holds(lookAtDefinitions(about)));

  // VALUE-8
  test('the values of an asset are those of fields that the caller may read on it', () =>
    holds(lookAtAssetValues(about)));

  // VALUE-12
  test('the history of a value follows the rules of the value', () => holds(lookAtAssetHistory(about)));

  // VALUE-13
  test('filters only by fields that the caller may read on that asset', () => holds(lookAtFilters(about)));

  // VALUE-21
  test('the values of a collection are those of fields that the caller may read everywhere', () =>
    holds(lookAtCollectionValues(about)));

  // VALUE-18
  test('includes card values wherever an asset is shown, and none in placeholders', () =>
    holds(lookAtCards(about)));

  // VALUE-2
  test('requires the right to edit the asset, to read the field, and its write_capability, to write a value of an asset', async () =>
    holds(writeAssetValues(about, await addWrittenOfAssets(about))));

  // FIELD-23
  test('requires the right to edit the asset to write a mirrored title', () => holds(writeMirrored(about)));

  // VALUE-2
  test('requires the right to edit the collection, and a global capability, to write its value', async () =>
    holds(writeCollectionValues(about, await addWrittenOfCollections(about))));
});

describe('tags', () => {
  // TAG-1
  test('are visible to readers of a post or asset that has them', async () =>
    holds(lookAtTags(about, await addTags(about))));
});

describe('the featured rail', () => {
  // POST-44
  test('follows the feed of each caller and is arranged by posts.admin', async () =>
    holds(lookAtFeatured(about, await fillRail(about))));
});

// TEAM-2
describe('teams', () => {
  // TEAM-3
  test('are visible to every account and changed by holders of teams.write', async () =>
    holds(lookAtTeams(about, await addFollowsAndClosed(about))));

  // TEAM-7
  test('show a picture only if every account may see it', () => holds(lookAtHeroes(about)));
});

describe('requests and notifications', () => {
  let asks: Ask[];
  let news: News;
  beforeAll(async () => {
    asks = await addRequests(about);
    news = await addNotifications(about, asks);
  });

  // REQUEST-16
  test('each queue has the right requests and marks those that the caller may decide', () =>
    holds(lookAtRequests(about, asks)));

  // REQUEST-6
  test('lets only the accounts decide a request that its capability and target allow', () =>
    holds(tryToDecide(about, asks)));

  // NOTICE-1
  test('notifications are private and reveal nothing unreadable', () =>
    holds(lookAtNotifications(about, news)));

  // NOTICE-6
  test('a notification is marked as read only by its recipient', () => holds(tryToRead(about, news)));
});

describe('private data of an account', () => {
  test('saved searches and views are private', async () => holds(lookAtKept(about, await addKept(about))));

  // PASSKEY-8
  test('passkeys are private', () => holds(lookAtPasskeys(about)));

  // EXPORT-18, DELETION-1, DELETION-2
  test('exports of own data and requests to delete an account are private', () =>
    holds(lookAtOwnData(about)));

  test('an account watches only readable posts', () => holds(lookAtWatches(about)));
});

// PUBLIC-1
test('without public mode anonymous callers can query nothing', async () => {
  const off = { ...usual, publicMode: false };
  await setSwitches(about, off);
  await holds(lookWithoutPublicMode(about, off));
  await setSwitches(about, usual);
});

test('at least 50,000 cells were compared', () => {
  console.log(`access matrix, about: ${about.ledger.compared()} cells compared`);
  expect(about.ledger.compared()).toBeGreaterThanOrEqual(50_000);
});
