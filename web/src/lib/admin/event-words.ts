import type { AuditEvent } from '@vitrine/contract/audit';

/** A piece of a sentence: text, or somebody or something the page shows as a link. */
export type Part = { readonly text: string } | { readonly slot: 'actor' | 'subject' | 'target' };

/**
 * What happened, in words. `{actor}`, `{subject}` and `{target}` are shown as links, any other name is a member of
 * the event's metadata. Of two sentences the first speaks of somebody's own account.
 */
const sentences: Readonly<Record<string, string | readonly [own: string, other: string]>> = {
  'setup.completed': '{subject} set the library up',
  'system.public_mode.changed': '{actor} changed public mode',
  'system.mature_content.changed': '{actor} changed whether mature content is allowed',
  'system.previews.changed': '{actor} changed the sizes of previews: {keys}',
  'system.previews.paused': '{actor} paused or resumed the rendering of previews',
  'system.site.changed': '{actor} changed the name or the address of the library',
  'system.quotas.changed': '{actor} changed how much people and the library may store',
  'user.quota.changed': '{actor} changed how much {subject} may store',
  'system.job.retried': '{actor} had the job “{name}” tried again',
  'system.jobs.retried': '{actor} had failed jobs tried again',
  'system.job.deleted': '{actor} gave the failed job “{name}” up',
  'system.mail.changed': '{actor} changed how mail is sent',
  'system.mail.tested': '{actor} sent a test message to {to}',
  'audit.exported': '{actor} exported the audit log',
  'audit.retention.changed': '{actor} changed how long the audit log is kept',
  'auth.signed_in': '{actor} signed in',
  'auth.signed_out': '{actor} signed out',
  'auth.locked': 'Signing in as {subject} was locked for a while after too many failures',
  'auth.password.changed': '{actor} changed their password',
  'auth.2fa.enabled': '{actor} turned their second factor on',
  'auth.2fa.disabled': [
    '{actor} turned their second factor off',
    '{actor} took off the second factor of {subject}',
  ],
  'auth.2fa.recovery_codes.renewed': '{actor} made new recovery codes',
  'auth.token.created': '{actor} made the access token “{name}”',
  'auth.token.deleted': '{actor} took an access token back',
  'auth.session.ended': ['{actor} ended one of their sessions', '{actor} ended a session of {subject}'],
  'auth.sessions.ended': ['{actor} ended their sessions', '{actor} ended the sessions of {subject}'],
  'user.created': '{actor} created the account {subject}',
  'user.updated': ['{actor} changed their profile', '{actor} changed the profile of {subject}'],
  'user.password.reset': '{actor} reset the password of {subject}',
  'user.status.changed': '{actor} set the status of {subject} to “{status}”',
  'user.deleted': '{actor} deleted the account “{username}”',
  'user.role.changed': '{actor} gave {subject} the role “{role}”',
  'users.imported': '{actor} imported accounts',
  'capability.grant.added': '{actor} gave {subject} “{capability}”',
  'capability.grant.removed': '{actor} took back “{capability}” from {subject}',
  'capability.grant.expired': '“{capability}”, given to {subject}, ran out',
  'capability.revoke.added': '{actor} took “{capability}” away from {subject}',
  'capability.revoke.removed': '{actor} lifted the revoke of “{capability}” for {subject}',
  'capability.revoke.expired': 'The revoke of “{capability}” for {subject} ran out',
  'admin.impersonation.started': '{actor} began to act as {subject}',
  'admin.impersonation.ended': '{actor} stopped acting as {subject}',
  'admin.post.restored': '{actor} restored {target}',
  'admin.asset.restored': '{actor} restored {target}',
  'admin.collection.restored': '{actor} restored {target}',
  'appearance.fonts.changed': '{actor} changed the fonts',
  'appearance.logo.changed': '{actor} changed the logo',
  'appearance.logo.reverted': '{actor} went back to the logo as shipped',
  'asset.state.changed': '{actor} moved {target} to “{to}”',
  'assets.restricted': '{actor} restricted {count} files to the readers of their posts',
  'asset.deleted': '{actor} deleted {target}',
  'collection.deleted': '{actor} deleted {target}',
  'comment.removed': [
    '{actor} removed a comment on {target}',
    '{actor} removed a comment of {subject} on {target}',
  ],
  'extraction.backfill.started': '{actor} had files read again',
  'extraction.backfill.cancelled': '{actor} stopped the reading of files',
  'extraction.retried': '{actor} had a file read again that could not be read',
  'link.created': '{actor} made a share link',
  'link.changed': '{actor} changed a share link',
  'link.revoked': '{actor} revoked a share link',
  'post.deleted': '{actor} deleted {target}',
  'request.created': '{actor} asked for {target}',
  'request.granted': '{actor} granted what {subject} asked for: {target}',
  'request.denied': '{actor} denied what {subject} asked for: {target}',
  'system.search.changed': '{actor} changed the language of the search',
  'team.created': '{actor} made the team “{name}”',
  'team.updated': '{actor} changed {target}',
  'team.deleted': '{actor} closed {target}',
  'team.member.added': ['{actor} joined {target}', '{actor} added {subject} to {target}'],
  'team.member.removed': ['{actor} left {target}', '{actor} took {subject} out of {target}'],
  'team.parent.added': '{actor} put {target} below a team',
  'team.parent.removed': '{actor} took {target} from below a team',
  'trash.purged': 'What was deleted long enough ago was removed for good',
  'trash.retention.changed': '{actor} changed how long deleted things are kept',
  'tag.renamed': '{actor} renamed the tag “{from}” to “{to}”',
  'tag.merged': '{actor} merged the tag “{from}” into “{to}”',
  'system.texts.changed': '{actor} changed the library’s texts',
  'post.featured': '{actor} put {target} on the featured rail',
  'post.unfeatured': '{actor} took {target} from the featured rail',
  'posts.featured.ordered': '{actor} ordered the featured rail',
  'field.created': '{actor} defined the field “{code}”',
  'field.updated': '{actor} changed the field “{code}”',
  'field.archived': '{actor} archived the field “{code}”',
  'field.extraction.configured': '{actor} changed what is read out of files into “{code}”',
  'field.terms.added': '{actor} added terms to “{code}” ({count})',
  'field.term.updated': '{actor} changed the term “{value}” of “{code}”',
  'field.terms.merged': '{actor} merged terms of “{code}”',
  'field.default_override.set': '{actor} gave a team a default of its own for “{code}”',
  'field.default_override.removed': '{actor} took a team’s own default for “{code}” away',
  'post.shared': '{actor} shared {target} with {subject}',
  'post.unshared': '{actor} stopped sharing {target} with {subject}',
  'collection.shared': '{actor} shared {target} with {subject}',
  'collection.unshared': '{actor} stopped sharing {target} with {subject}',
  'post.published': '{actor} published {target}',
  'post.unpublished': '{actor} took {target} back to draft',
};

/** Names of the events with a sentence, for suggestions. */
export const knownEvents: readonly string[] = Object.keys(sentences);

function templateOf(event: AuditEvent): string {
  const own = event.subject_user_ref !== undefined && event.subject_user_ref === event.actor_user_ref;
  const known = Object.hasOwn(sentences, event.event) ? sentences[event.event] : undefined;
  if (typeof known === 'string') return known;
  if (known !== undefined) return own || event.subject_user_ref === undefined ? known[0] : known[1];
  const whom = event.subject_user_ref === undefined || own ? '' : ' · {subject}';
  return `{actor} · ${event.event}${whom}${event.target_id === undefined ? '' : ' · {target}'}`;
}

/**
 * The sentence of an event, in pieces. An event nobody wrote a sentence for is told by its name. `called` says what
 * a capability is called.
 */
export function sentenceOf(
  event: AuditEvent,
  called: (capability: string) => string = (code) => code,
): Part[] {
  return templateOf(event)
    .split(/(\{\w+\})/)
    .flatMap((piece): Part[] => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      if (name === undefined) return piece === '' ? [] : [{ text: piece }];
      if (name === 'actor' || name === 'subject' || name === 'target') return [{ slot: name }];
      const value = event.metadata[name];
      if (typeof value !== 'string') return [{ text: '…' }];
      return [{ text: name === 'capability' ? called(value) : value }];
    });
}

/** The administrator who acted in the actor's name; undefined when they acted for themselves. */
export function impersonatorOf(event: AuditEvent): { ref?: number; name: string } | undefined {
  const by = event.metadata.impersonated_by;
  if (typeof by !== 'object' || by === null) return undefined;
  const ref = 'ref' in by && typeof by.ref === 'number' ? by.ref : undefined;
  if (ref !== undefined && ref === event.actor_user_ref) return undefined;
  const name = 'username' in by && typeof by.username === 'string' ? by.username : undefined;
  if (ref === undefined && name === undefined) return undefined;
  return { ...(ref === undefined ? {} : { ref }), name: name ?? `account ${ref}` };
}

/** What the things are called that have a page, and where the pages are. */
const places: Readonly<Record<string, { readonly words: string; readonly below: string }>> = {
  post: { words: 'a post', below: '/posts' },
  asset: { words: 'an asset', below: '/assets' },
  collection: { words: 'a collection', below: '/collections' },
  team: { words: 'a team', below: '/teams' },
  field: { words: 'a field', below: '/admin/fields' },
};

/** Where what an event is about is found; undefined where it has no page. */
export function targetOf(event: AuditEvent): { readonly words: string; readonly href: string } | undefined {
  const { target_kind: kind, target_id: id } = event;
  const place = kind !== undefined && Object.hasOwn(places, kind) ? places[kind] : undefined;
  return place === undefined || id === undefined
    ? undefined
    : { words: place.words, href: `${place.below}/${id}` };
}
