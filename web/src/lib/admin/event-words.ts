import type { AuditEvent } from '@vitrine/contract/audit';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';

/** A part of a sentence: text, or a person or object that the page shows as a link. */
export type Part = { readonly text: string } | { readonly slot: 'actor' | 'subject' | 'target' };

/**
 * Sentences for events. `{actor}`, `{subject}` and `{target}` are shown as links; any other name is a property of the
 * event's metadata. Of two sentences, the first is for the actor's own account.
 */
const sentences: Readonly<Record<string, string | readonly [own: string, other: string]>> = {
  'setup.completed': phrase('{subject} set up the library'),
  'system.public_mode.changed': phrase('{actor} turned public mode {enabled}'),
  'system.mature_content.changed': phrase('{actor} changed whether mature content is allowed'),
  'system.previews.changed': phrase('{actor} changed the sizes of previews: {keys}'),
  'system.downloads.changed': phrase('{actor} changed the download presets: {keys}'),
  'system.previews.paused': phrase('{actor} paused or resumed the rendering of previews'),
  'system.site.changed': phrase('{actor} changed the name or address of the library'),
  'system.versions.changed': phrase('{actor} changed how many earlier versions of files are kept'),
  'system.quotas.changed': phrase('{actor} changed the storage quotas'),
  'user.quota.changed': phrase('{actor} changed the storage quota of {subject}'),
  'system.job.retried': phrase('{actor} retried the job “{name}”'),
  'system.jobs.retried': phrase('{actor} retried failed jobs'),
  'system.job.deleted': phrase('{actor} discarded the failed job “{name}”'),
  'system.mail.changed': phrase('{actor} changed the mail settings'),
  'system.mail.tested': phrase('{actor} sent a test message'),
  'audit.exported': phrase('{actor} exported the audit log'),
  'audit.retention.changed': phrase('{actor} changed how long the audit log is kept'),
  'user.registered': phrase('{actor} registered'),
  'user.email.asked': phrase('{actor} entered another e-mail'),
  'user.email.confirmed': phrase('{actor} confirmed their e-mail'),
  'auth.password.reset': phrase('{actor} set a new password by mail'),
  'system.accounts.changed': phrase('{actor} changed how people register and sign in'),
  'invitation.created': phrase('{actor} created an invitation as {role}'),
  'invitation.resent': phrase('{actor} sent an invitation again'),
  'invitation.revoked': phrase('{actor} revoked an invitation'),
  'invitation.accepted': phrase('{actor} accepted an invitation as {role}'),
  'auth.signed_in': phrase('{actor} signed in'),
  'auth.provider.failed': phrase('A sign-in with the provider “{provider}” failed: {error}'),
  'provider.created': phrase('{actor} added the identity provider “{provider}”'),
  'provider.changed': phrase('{actor} changed the identity provider “{provider}”'),
  'auth.provider.signed_out': phrase('{subject} signed out at “{provider}”'),
  'scim.token.created': phrase('{actor} created the SCIM token “{name}” of “{provider}”'),
  'scim.token.removed': phrase('{actor} revoked the SCIM token “{name}” of “{provider}”'),
  'scim.group.created': phrase('The directory of “{provider}” created the group “{group}”'),
  'scim.group.changed': phrase('The directory of “{provider}” changed the group “{group}”'),
  'scim.group.removed': phrase('The directory of “{provider}” removed the group “{group}”'),
  'provider.removed': phrase('{actor} removed the identity provider “{provider}”'),
  'provider.last_admin_kept': phrase(
    '{subject} stays administrator, because the groups at “{provider}” would have left none',
  ),
  'user.identity.linked': phrase('{actor} linked an identity at “{provider}”'),
  'user.identity.unlinked': phrase('{actor} unlinked an identity at “{provider}”'),
  'auth.signed_out': phrase('{actor} signed out'),
  'auth.locked': phrase('Sign-in as {subject} was locked after too many failures'),
  'auth.password.changed': phrase('{actor} changed their password'),
  'auth.2fa.enabled': phrase('{actor} turned on their second factor'),
  'auth.2fa.disabled': [
    phrase('{actor} turned off their second factor'),
    phrase('{actor} removed the second factor of {subject}'),
  ],
  'auth.2fa.recovery_codes.renewed': phrase('{actor} created new recovery codes'),
  'auth.passkey.added': phrase('{actor} added the passkey “{name}”'),
  'auth.passkey.renamed': phrase('{actor} renamed the passkey “{before}” to “{name}”'),
  'auth.passkey.removed': [
    phrase('{actor} removed the passkey “{name}”'),
    phrase('{actor} removed the passkey “{name}” of {subject}'),
  ],
  'auth.token.created': phrase('{actor} created the access token “{name}”'),
  'auth.token.deleted': phrase('{actor} revoked an access token'),
  'auth.session.ended': [
    phrase('{actor} ended one of their sessions'),
    phrase('{actor} ended a session of {subject}'),
  ],
  'auth.sessions.ended': [
    phrase('{actor} ended their sessions'),
    phrase('{actor} ended the sessions of {subject}'),
  ],
  'auth.all_sessions.ended': phrase('{actor} signed everyone else out'),
  'user.created': phrase('{actor} created the account {subject}'),
  'user.renamed': phrase(
    'The account “{from}” was renamed to {subject}, because an older one has its name in another spelling',
  ),
  'user.updated': [
    phrase('{actor} changed their profile'),
    phrase('{actor} changed the profile of {subject}'),
  ],
  'user.password.reset': phrase('{actor} reset the password of {subject}'),
  'user.status.changed': phrase('{actor} set the status of {subject} to “{status}”'),
  'team.member.role.changed': phrase('{actor} made {subject} {role} of {target}'),
  'user.transferred': phrase('{actor} gave everything of {subject} to account {to}'),
  'user.merged': phrase('{actor} merged the account “{username}” into {subject}'),
  'account.export.requested': phrase('{actor} asked for an export of their data'),
  'user.deletion-request.created': phrase('{actor} asked to have their account deleted'),
  'user.deletion-request.withdrawn': phrase('{actor} withdrew the request to delete their account'),
  'user.deletion-request.refused': phrase('{actor} refused to delete the account “{username}”'),
  'user.deletion-request.archived': phrase('{actor} archived the account “{username}”, as its owner asked'),
  'user.deletion-request.deleted': phrase('{actor} deleted the account “{username}”, as its owner asked'),
  'user.deleted': phrase('{actor} deleted the account “{username}”'),
  'user.role.changed': phrase('{actor} gave {subject} the role “{role}”'),
  'role.created': phrase('{actor} created the role “{role}”'),
  'role.changed': phrase('{actor} changed the role “{role}”'),
  'role.deleted': phrase('{actor} deleted the role “{role}”'),
  'users.imported': phrase('{actor} imported accounts'),
  'capability.grant.added': phrase('{actor} gave {subject} “{capability}”'),
  'capability.grant.removed': phrase('{actor} removed the grant of “{capability}” to {subject}'),
  'capability.grant.expired': phrase('The grant of “{capability}” to {subject} expired'),
  'capability.revoke.added': phrase('{actor} revoked “{capability}” from {subject}'),
  'capability.revoke.removed': phrase('{actor} lifted the revoke of “{capability}” for {subject}'),
  'capability.revoke.expired': phrase('The revoke of “{capability}” for {subject} expired'),
  'admin.impersonation.started': phrase('{actor} started acting as {subject}'),
  'admin.impersonation.ended': phrase('{actor} stopped acting as {subject}'),
  'admin.post.restored': phrase('{actor} restored {target}'),
  'admin.asset.restored': phrase('{actor} restored {target}'),
  'admin.collection.restored': phrase('{actor} restored {target}'),
  'appearance.accents.changed': phrase('{actor} changed the colours'),
  'appearance.fonts.changed': phrase('{actor} changed the fonts'),
  'appearance.logo.changed': phrase('{actor} changed the logo'),
  'appearance.logo.reverted': phrase('{actor} returned to the default logo'),
  'asset.state.changed': phrase('{actor} moved {target} to “{to}”'),
  'asset.version.added': phrase('{actor} uploaded version {number} of {target}'),
  'asset.version.restored': phrase('{actor} restored version {restored} of {target} as version {number}'),
  'asset.version.deleted': phrase('{actor} deleted version {number} of {target}'),
  'assets.restricted': phrase('{actor} restricted {count} files to the readers of their posts'),
  'asset.updated': phrase('{actor} edited {target}'),
  'asset.deleted': phrase('{actor} deleted {target}'),
  'collection.updated': phrase('{actor} edited {target}'),
  'collection.deleted': phrase('{actor} deleted {target}'),
  'comment.removed': [
    phrase('{actor} removed a comment on {target}'),
    phrase('{actor} removed a comment of {subject} on {target}'),
  ],
  'extraction.backfill.started': phrase('{actor} started reading the metadata of stored files'),
  'extraction.backfill.cancelled': phrase('{actor} stopped reading the metadata of stored files'),
  'extraction.retried': phrase('{actor} retried reading the metadata of a file'),
  'link.feedback_removed': phrase('{actor} removed what a guest wrote at a share link'),
  'link.guest_muted': phrase('{actor} muted a guest of a share link'),
  'link.guest_unmuted': phrase('{actor} let a guest of a share link write again'),
  'link.created': phrase('{actor} created a share link'),
  'link.changed': phrase('{actor} changed a share link'),
  'link.renewed': phrase('{actor} gave a share link a new address'),
  'link.revoked': phrase('{actor} revoked a share link'),
  'post.updated': phrase('{actor} edited {target}'),
  'post.deleted': phrase('{actor} deleted {target}'),
  'request.created': phrase('{actor} requested {target}'),
  'request.granted': phrase('{actor} granted the request of {subject}: {target}'),
  'request.denied': phrase('{actor} denied the request of {subject}: {target}'),
  'system.search.changed': phrase('{actor} changed the search language'),
  'team.created': phrase('{actor} created the team “{name}”'),
  'team.updated': phrase('{actor} changed {target}'),
  'team.deleted': phrase('{actor} closed {target}'),
  'team.member.added': [phrase('{actor} joined {target}'), phrase('{actor} added {subject} to {target}')],
  'team.member.removed': [phrase('{actor} left {target}'), phrase('{actor} removed {subject} from {target}')],
  'team.parent.added': phrase('{actor} placed {target} under another team'),
  'team.parent.removed': phrase('{actor} removed {target} from under another team'),
  'trash.purged': phrase('Expired items of the trash were permanently removed'),
  'trash.retention.changed': phrase('{actor} changed how long deleted items are kept'),
  'feed_view.renamed': phrase(
    'A saved view of {subject} was renamed, because another has its name in another spelling',
  ),
  'saved_search.renamed': phrase(
    'A saved search of {subject} was renamed, because another has its name in another spelling',
  ),
  'field.alias.removed': phrase(
    'The alias “{alias}” of “{value}” was removed from {target}, because another is the same in another spelling',
  ),
  'tag.renamed': phrase('{actor} renamed the tag “{from}” to “{to}”'),
  'tag.merged': phrase('{actor} merged the tag “{from}” into “{to}”'),
  'system.texts.changed': phrase('{actor} changed the library’s texts'),
  'post.featured': phrase('{actor} featured {target}'),
  'post.unfeatured': phrase('{actor} removed {target} from the featured posts'),
  'posts.featured.ordered': phrase('{actor} reordered the featured posts'),
  'field.created': phrase('{actor} defined the field “{code}”'),
  'field.updated': phrase('{actor} changed the field “{code}”'),
  'field.archived': phrase('{actor} archived the field “{code}”'),
  'field.extraction.configured': phrase('{actor} changed which metadata fills “{code}”'),
  'field.terms.added': phrase('{actor} added terms to “{code}” ({count})'),
  'field.term.updated': phrase('{actor} changed the term “{value}” of “{code}”'),
  'field.terms.merged': phrase('{actor} merged terms of “{code}”'),
  'field.default_override.set': phrase('{actor} set a team default for “{code}”'),
  'field.default_override.removed': phrase('{actor} removed a team default for “{code}”'),
  'post.shared': phrase('{actor} shared {target} with {subject}'),
  'post.unshared': phrase('{actor} stopped sharing {target} with {subject}'),
  'collection.shared': phrase('{actor} shared {target} with {subject}'),
  'collection.unshared': phrase('{actor} stopped sharing {target} with {subject}'),
  'asset.shared': phrase('{actor} shared {target} with {subject}'),
  'asset.unshared': phrase('{actor} stopped sharing {target} with {subject}'),
  'account.followable': phrase('{actor} let people of other servers follow them'),
  'account.unfollowable': phrase('{actor} stopped letting people of other servers follow them'),
  'system.activitypub.changed': phrase('{actor} changed whether people of other servers can follow accounts'),
  'federation.settings.updated': phrase('{actor} changed the settings for peers'),
  'federation.peer.offered': phrase('The library {instance_url} asked to be paired'),
  'federation.peer.created': phrase('A pairing with {instance_url} was begun'),
  'federation.peer.changed': phrase('{actor} changed the pairing with {instance_url}'),
  'federation.peer.key_rotated': phrase('The library {instance_url} has a new key'),
  'federation.key.rotated': phrase('{actor} renewed the key for peers'),
  'federation.field.reset': phrase('{actor} reset the decision about the field “{code}” of {instance_url}'),
  'federation.share.granted': phrase('{actor} shared {target} with {instance_url}'),
  'federation.share.received': phrase('The library {instance_url} shared something with this one'),
  'federation.share.revoked': phrase('{actor} stopped sharing {target} with {instance_url}'),
  'federation.share.withdrawn': phrase('The library {instance_url} stopped sharing something with this one'),
  'federation.sensitive.confirmed': phrase(
    '{actor} allowed sending sensitive files of {target} to {instance_url}',
  ),
  'federation.sensitive.refused': phrase('Sensitive files of {target} were not sent to {instance_url}'),
  'federation.sensitive.withdrawn': phrase('Sensitive files of {target} were withdrawn from a peer'),
  'federation.emission.skipped': phrase('Something of {target} was not sent to {instance_url}'),
  'post.published': phrase('{actor} published {target}'),
  'post.unpublished': phrase('{actor} turned {target} back into a draft'),
};

/** The names of all events that have a sentence, for suggestions. */
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
 * Returns the parts of an event's sentence. An event without a sentence is shown by its name. `called` returns the
 * label of a capability.
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
      if (typeof value === 'boolean') return [{ text: value ? phrase('on') : phrase('off') }];
      if (typeof value === 'number') return [{ text: value.toLocaleString(locale()) }];
      if (typeof value !== 'string') return [{ text: '…' }];
      return [{ text: name === 'capability' ? called(value) : value }];
    });
}

/** Returns the administrator who acted as the actor; undefined without an impersonation. */
export function impersonatorOf(event: AuditEvent): { ref?: number; name: string } | undefined {
  const by = event.metadata.impersonated_by;
  if (typeof by !== 'object' || by === null) return undefined;
  const ref = 'ref' in by && typeof by.ref === 'number' ? by.ref : undefined;
  if (ref !== undefined && ref === event.actor_user_ref) return undefined;
  const name = 'username' in by && typeof by.username === 'string' ? by.username : undefined;
  if (ref === undefined && name === undefined) return undefined;
  return { ...(ref === undefined ? {} : { ref }), name: name ?? `account ${ref}` };
}

/** The kinds of targets that have a page, with their labels and addresses. */
const places: Readonly<Record<string, { readonly words: string; readonly below: string }>> = {
  post: { words: phrase('a post'), below: '/posts' },
  asset: { words: phrase('a file'), below: '/assets' },
  collection: { words: phrase('a collection'), below: '/collections' },
  team: { words: phrase('a team'), below: '/teams' },
  field: { words: phrase('a field'), below: '/admin/fields' },
};

/** Returns a title in quotation marks; undefined for an empty one. */
function titled(title: string | undefined): string | undefined {
  const text = title?.trim() ?? '';
  return text === '' ? undefined : `“${text}”`;
}

/** Returns the address of an event's target, with its title; undefined if it has no page. */
export function targetOf(event: AuditEvent): { readonly words: string; readonly href: string } | undefined {
  const { target_kind: kind, target_id: id } = event;
  const place = kind !== undefined && Object.hasOwn(places, kind) ? places[kind] : undefined;
  return place === undefined || id === undefined
    ? undefined
    : { words: titled(event.target_title) ?? place.words, href: `${place.below}/${id}` };
}
