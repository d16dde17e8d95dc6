import { shortened } from '../../content/assets/insert.ts';
import { type Sentence, sentence } from '../../platform/language/sentence.ts';
import { appendFitting, LONGEST_NAME } from '../import/collect-folder.ts';
import { renewLink } from '../imports/links.ts';
import type { SharedLink } from './answers.ts';
import type { Context } from './context.ts';

type Target = { kind: 'asset' | 'collection'; id: string };

function hasExpired({ expiresAt }: SharedLink): boolean {
  return expiresAt != null && !(Date.parse(expiresAt) > Date.now());
}

/** Returns why no link is made in place of this one; null if one is (IMPORT-14). */
export function whyNotRenewed(link: SharedLink): Sentence | null {
  if (hasExpired(link)) return sentence('it has expired');
  // Links here show titles and descriptions.
  return link.showMetadata ? null : sentence('it hid names and descriptions, which links here show');
}

/** Puts the files of a link into a collection of its own, which only the owner sees. Returns its id. */
async function collectFiles(
  { deps, ledger, owner }: Context,
  { id, description }: SharedLink,
  files: readonly string[],
): Promise<string> {
  const known = ledger.find('linked-files', id)?.target;
  if (known !== undefined) return known;
  return deps.db.transaction().execute(async (tx) => {
    const name = `Shared files ${description ?? ''}`.toWellFormed().trim();
    const made = await tx
      .insertInto('collections')
      .values({
        owner_user_ref: owner.ref,
        name: shortened(name, LONGEST_NAME),
        description: '',
        visibility: 'private',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await appendFitting(tx, owner, made.id, files);
    await ledger.record(tx, 'linked-files', id, made.id);
    return made.id;
  });
}

/** Returns what a new link shows; null if nothing of it is here. */
async function targetOf(context: Context, link: SharedLink): Promise<Target | null> {
  const { ledger } = context;
  if (link.album != null) {
    const id = ledger.find('collection', link.album.id)?.target;
    return id === undefined ? null : { kind: 'collection', id };
  }
  const files = link.assets.flatMap(({ id }) => ledger.find('resource', id)?.target ?? []);
  const [only] = files;
  if (only === undefined) return null;
  if (files.length === 1) return { kind: 'asset', id: only };
  return { kind: 'collection', id: await collectFiles(context, link, files) };
}

/** Makes a new link for each shared link that still works. The report alone has their addresses and new passwords. */
export async function importLinks(context: Context): Promise<void> {
  const { ledger, library, reporter, isStopped } = context;
  for (const link of library.links) {
    if (isStopped()) return;
    if (ledger.find('link', link.key) !== undefined) continue;
    const reason = whyNotRenewed(link);
    const target = reason === null ? await targetOf(context, link) : null;
    if (target === null) {
      reporter.leaveOut('shared link', link.key, reason ?? sentence('what it showed is not here'));
      continue;
    }
    await renewLink(context, 'shared link', target, {
      oldKey: link.key,
      label: `Immich ${link.key.slice(0, 12)} ${link.description ?? ''}`.trim(),
      allowDownload: link.allowDownload,
      expiresAt: link.expiresAt ?? null,
      // It may have one if the server does not say.
      hasPassword: link.password !== null,
    });
    if (link.allowUpload)
      reporter.change('shared link', link.key, sentence('it invited to upload; the new one only shows'));
  }
}
