import { sql } from 'kysely';
import { shortened } from '../../content/assets/insert.ts';
import type { Tx } from '../../platform/database/pool.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import { sentence } from '../../platform/language/sentence.ts';
import { appendFitting, LONGEST_NAME } from '../import/collect-folder.ts';
import {
  changedAccounts,
  isCollectionHere,
  recordOfAccounts,
  shareCollection,
} from '../imports/given-access.ts';
import { fingerprintOf } from '../imports/report.ts';
import { Activities } from './answers.ts';
import type { Context } from './context.ts';
import type { Album } from './library.ts';
import { accountsOf } from './readers.ts';

/** COLLECTION-4. */
const LONGEST_DESCRIPTION = 20_000;

interface Texts {
  name: string;
  description: string;
}

function textsOf({ id, name, description }: Album): Texts {
  const clean = name.toWellFormed().trim();
  return {
    name: clean === '' ? `Album ${id}` : shortened(clean, LONGEST_NAME),
    description: shortened(description.toWellFormed(), LONGEST_DESCRIPTION),
  };
}

/** Returns the ids of the assets of these items, and reports those that have none. */
function assetsOf({ ledger, library, reporter }: Context, { id, items }: Album): string[] {
  return items.flatMap((item) => {
    const found = ledger.find('resource', item)?.target;
    if (found === undefined && !library.assets.has(item))
      reporter.leaveOut('item', `${id}/${item}`, sentence('belongs to another account of Immich'));
    return found ?? [];
  });
}

/** Writes the name and description that have changed there, unless they were changed here. */
async function updateTexts(tx: Tx, { ledger }: Context, oldId: string, id: string, texts: Texts) {
  const row = await tx
    .selectFrom('collections')
    .select(['name', 'description'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const isImported =
    row !== undefined &&
    ledger.find('texts', oldId)?.fingerprint === fingerprintOf(row.name, row.description);
  if (isImported)
    await tx
      .updateTable('collections')
      .set({ ...texts })
      .where('id', '=', id)
      .execute();
}

/** Shares the collection with the members, and withdraws what an earlier run gave to others. */
async function keepMembers(
  tx: Tx,
  { ledger }: Context,
  oldId: string,
  id: string,
  members: readonly number[],
) {
  const changed = changedAccounts(ledger, 'members', oldId, members);
  const { isFirst, lost, fresh } = changed;
  if (lost.length === 0 && fresh.length === 0) return;
  // One that had members before is private because a person made it so.
  if (isFirst)
    await sql`update collections set visibility = 'explicit-share' where id = ${id} and visibility = 'private'`.execute(
      tx,
    );
  await shareCollection(tx, id, changed);
  await ledger.record(tx, 'members', oldId, recordOfAccounts(members));
}

async function storeAlbum(tx: Tx, context: Context, album: Album, fingerprint: string): Promise<number> {
  const { ledger, owner } = context;
  const known = ledger.find('collection', album.id)?.target;
  const texts = textsOf(album);
  const id =
    known ??
    (
      await tx
        .insertInto('collections')
        .values({
          owner_user_ref: owner.ref,
          ...texts,
          visibility: 'private',
          ...(Number.isNaN(Date.parse(album.createdAt)) ? {} : { created_at: album.createdAt }),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
    ).id;
  if (known !== undefined) await updateTexts(tx, context, album.id, id, texts);
  await ledger.record(tx, 'texts', album.id, id, fingerprintOf(texts.name, texts.description));
  await keepMembers(tx, context, album.id, id, accountsOf(context, album.members));
  const leftOver = await appendFitting(tx, owner, id, assetsOf(context, album));
  await ledger.record(tx, 'collection', album.id, id, fingerprint);
  return leftOver;
}

function reportMembers({ accounts, reporter }: Context, { id, members }: Album): void {
  for (const { id: member, name, isEditor } of members) {
    if (!accounts.has(member))
      reporter.leaveOut(
        'member',
        `${id}/${name}`,
        sentence('no account here has confirmed the address of this member of the album'),
      );
    else if (isEditor)
      reporter.change(
        'member',
        `${id}/${name}`,
        sentence('could add to the album; here the collection is only read'),
      );
  }
}

/** Reports comments below an album, for which collections have no place. */
async function reportComments({ immich, reporter }: Context, { id, members }: Album): Promise<void> {
  if (members.length === 0) return;
  const { comments } = await immich.get(
    `activities/statistics?albumId=${encodeURIComponent(id)}`,
    Activities,
  );
  if (comments > 0) reporter.leaveOut('album comments', id, sentence('collections have no comments'));
}

async function importAlbum(context: Context, album: Album): Promise<void> {
  const { deps, ledger, reporter } = context;
  reportMembers(context, album);
  await reportComments(context, album);
  const items = album.items.map((item) => ledger.find('resource', item)?.target ?? null);
  const fingerprint = fingerprintOf({ ...album, items }, accountsOf(context, album.members));
  const known = ledger.find('collection', album.id);
  if (known?.fingerprint === fingerprint) return reporter.count('collections_already_here');
  if (known !== undefined && !(await isCollectionHere(deps.db, known.target)))
    return reporter.count('collections_deleted_here');
  try {
    const leftOver = await deps.db.transaction().execute((tx) => storeAlbum(tx, context, album, fingerprint));
    if (leftOver > 0)
      reporter.leaveOut('items', album.id, sentence('the collection has no room for all of its files'));
    reporter.count(known === undefined ? 'collections' : 'collections_changed');
  } catch (error) {
    // It may belong to another account by now.
    if (!(error instanceof Refusal)) throw error;
    reporter.leaveOut('album', album.id, sentenceOfError(error));
  }
}

/** Imports the albums of the account with their order and members. */
export async function importAlbums(context: Context): Promise<void> {
  const { library, reporter, isStopped } = context;
  for (const { id } of library.foreignAlbums)
    reporter.leaveOut('album', id, sentence('belongs to another account of Immich; import with its key'));
  for (const album of library.albums) {
    if (isStopped()) return;
    await importAlbum(context, album);
  }
}
