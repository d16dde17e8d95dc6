import { randomBytes } from 'node:crypto';
import { makeLink } from '../../content/links/create.ts';
import { sentenceOfError } from '../../platform/faults/worded-errors.ts';
import { Refusal } from '../../platform/http/refuse.ts';
import type { ThingKind } from './report-words.ts';
import type { ImportTools } from './tools.ts';

/** A link of the earlier system. */
interface OldLink {
  oldKey: string;
  label: string;
  allowDownload: boolean;
  expiresAt: string | null;
  hasPassword: boolean;
}

/**
 * Makes a new link in place of one of the earlier system, with a new password if that had one, and records it. The report
 * alone has the address and the password.
 */
export async function renewLink(
  { deps, ledger, owner, reporter }: ImportTools,
  kind: ThingKind,
  target: { kind: 'asset' | 'collection'; id: string },
  { oldKey, label, allowDownload, expiresAt, hasPassword }: OldLink,
): Promise<void> {
  const { host, port } = deps.config;
  const http = { header: (name: string) => (name === 'host' ? `${host}:${port}` : undefined) };
  const password = hasPassword ? { password: randomBytes(12).toString('base64url') } : {};
  const terms = {
    label: label.slice(0, 200).toWellFormed(),
    allow_download: allowDownload,
    expires_at: expiresAt,
    ...password,
  };
  // An earlier run may have been killed before it recorded the link, whose address nobody knows.
  await deps.db
    .deleteFrom('share_links')
    .where('label', '=', terms.label)
    .where('created_by_user_ref', '=', owner.ref)
    .execute();
  try {
    const { id, url } = await makeLink(deps, owner, target, terms, http);
    await ledger.record(deps.db, 'link', oldKey, id);
    reporter.report.links.push({ old_key: oldKey, url, ...password });
    reporter.count('links');
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    reporter.leaveOut(kind, oldKey, sentenceOfError(error));
  }
}
