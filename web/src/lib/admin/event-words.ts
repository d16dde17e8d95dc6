import type { AuditEvent } from '@vitrine/contract/audit';
import { locale } from '#lib/languages/language.ts';

/** A part of a sentence: text, or a person or object that the page shows as a link. */
export type Part = { readonly text: string } | { readonly slot: 'actor' | 'subject' | 'target' };

/**
 * Sentences for events. `{actor}`, `{subject}` and `{target}` are shown as links; any other name is a property of the
 * event's metadata. Of two sentences, the first is for the actor's own account.
 */
const sentences: Readonly<Record<string, string | readonly [own: string, other: string]>> = {
  'setup.completed': '{subject} set up the library',
  'system.public_mode.changed': '{actor} turned public mode {enabled}',
  'system.mature_content.changed': '{actor} changed whether mature content is allowed',
  'system.previews.changed': '{actor} changed the sizes of previews: {keys}',
  'system.downloads.changed': '{actor} changed the download presets: {keys}',
  'system.previews.paused': '{actor} paused or resumed the rendering of previews',
  'system.site.changed': '{actor} changed the name or address of the library',
  'system.versions.changed': '{actor} changed how many earlier versions of files are kept',
  'system.quotas.changed': '{actor} changed the storage quotas',
  'user.quota.changed': '{actor} changed the storage quota of {subject}',
  'system.job.retried': '{actor} retried the job “{name}”',
  'system.jobs.retried': '{actor} retried failed jobs',
  'system.job.deleted': '{actor} discarded the failed job “{name}”',
  'system.mail.changed': '{actor} changed the mail settings',
  'system.mail.tested': '{actor} sent a test message',
  'audit.exported': '{actor} exported the audit log',
  'audit.retention.changed': '{actor} changed how long the audit log is kept',
  'user.registered': '{actor} registered',
  'user.email.asked': '{actor} entered another e-mail',
  'user.email.confirmed': '{actor} confirmed their e-mail',
  'auth.password.reset': '{actor} set a new password by mail',
  'system.accounts.changed': '{actor} changed how people register and sign in',
  'invitation.created': '{actor} created an invitation as {role}',
  'invitation.resent': '{actor} sent an invitation again',
  'invitation.revoked': '{actor} revoked an invitation',
  'invitation.accepted': '{actor} accepted an invitation as {role}',
  'auth.signed_in': '{actor} signed in',
  'auth.provider.failed': 'A sign-in with the provider “{provider}” failed: {error}',
  'provider.created': '{actor} added the identity provider “{provider}”',
  'provider.changed': '{actor} changed the identity provider “{provider}”',
  'auth.provider.signed_out': '{subject} signed out at “{provider}”',
  'scim.token.created': '{actor} created the SCIM token “{name}” of “{provider}”',
  'scim.token.removed': '{actor} revoked the SCIM token “{name}” of “{provider}”',
  'scim.group.created': 'The directory of “{provider}” created the group “{group}”',
  'scim.group.changed': 'The directory of “{provider}” changed the group “{group}”',
  'scim.group.removed': 'The directory of “{provider}” removed the group “{group}”',
  'provider.removed': '{actor} removed the identity provider “{provider}”',
  'provider.last_admin_kept':
    '{subject} stays administrator, because the groups at “{provider}” would have left none',
  'user.identity.linked': '{actor} linked an identity at “{provider}”',
  'user.identity.unlinked': '{actor} unlinked an identity at “{provider}”',
  'auth.signed_out': '{actor} signed out',
  'auth.locked': 'Sign-in as {subject} was locked after too many failures',
  'auth.password.changed': '{actor} changed their password',
  'auth.2fa.enabled': '{actor} turned on their second factor',
  'auth.2fa.disabled': [
    '{actor} turned off their second factor',
    '{actor} removed the second factor of {subject}',
  ],
  'auth.2fa.recovery_codes.renewed': '{actor} created new recovery codes',
  'auth.passkey.added': '{actor} added the passkey “{name}”',
  'auth.passkey.renamed': '{actor} renamed the passkey “{before}” to “{name}”',
  'auth.passkey.removed': [
    '{actor} removed the passkey “{name}”',
    '{actor} removed the passkey “{name}” of {subject}',
  ],
  'auth.token.created': '{actor} created the access token “{name}”',
  'auth.token.deleted': '{actor} revoked an access token',
  'auth.session.ended': ['{actor} ended one of their sessions', '{actor} ended a session of {subject}'],
  'auth.sessions.ended': ['{actor} ended their sessions', '{actor} ended the sessions of {subject}'],
  'auth.all_sessions.ended': '{actor} signed everyone else out',
  'user.created': '{actor} created the account {subject}',
  'user.renamed':
    'The account “{from}” was renamed to {subject}, because an older one has its name in another spelling',
  'user.updated': ['{actor} changed their profile', '{actor} changed the profile of {subject}'],
  'user.password.reset': '{actor} reset the password of {subject}',
  'user.status.changed': '{actor} set the status of {subject} to “{status}”',
  'team.member.role.changed': '{actor} made {subject} {role} of {target}',
  'user.transferred': '{actor} gave everything of {subject} to account {to}',
  'user.merged': '{actor} merged the account “{username}” into {subject}',
  'account.export.requested': '{actor} asked for an export of their data',
  'user.deletion-request.created': '{actor} asked to have their account deleted',
  'user.deletion-request.withdrawn': '{actor} withdrew the request to delete their account',
  'user.deletion-request.refused': '{actor} refused to delete the account “{username}”',
  'user.deletion-request.archived': '{actor} archived the account “{username}”, as its owner asked',
  'user.deletion-request.deleted': '{actor} deleted the account “{username}”, as its owner asked',
  'user.deleted': '{actor} deleted the account “{username}”',
  'user.role.changed': '{actor} gave {subject} the role “{role}”',
  'role.created': '{actor} created the role “{role}”',
  'role.changed': '{actor} changed the role “{role}”',
  'role.deleted': '{actor} deleted the role “{role}”',
  'users.imported': '{actor} imported accounts',
  'capability.grant.added': '{actor} gave {subject} “{capability}”',
  'capability.grant.removed': '{actor} removed the grant of “{capability}” to {subject}',
  'capability.grant.expired': 'The grant of “{capability}” to {subject} expired',
  'capability.revoke.added': '{actor} revoked “{capability}” from {subject}',
  'capability.revoke.removed': '{actor} lifted the revoke of “{capability}” for {subject}',
  'capability.revoke.expired': 'The revoke of “{capability}” for {subject} expired',
  'admin.impersonation.started': '{actor} started acting as {subject}',
  'admin.impersonation.ended': '{actor} stopped acting as {subject}',
  'admin.post.restored': '{actor} restored {target}',
  'admin.asset.restored': '{actor} restored {target}',
  'admin.collection.restored': '{actor} restored {target}',
  'appearance.accents.changed': '{actor} changed the colours',
  'appearance.fonts.changed': '{actor} changed the fonts',
  'appearance.logo.changed': '{actor} changed the logo',
  'appearance.logo.reverted': '{actor} returned to the default logo',
  'asset.state.changed': '{actor} moved {target} to “{to}”',
  'asset.version.added': '{actor} uploaded version {number} of {target}',
  'asset.version.restored': '{actor} restored version {restored} of {target} as version {number}',
  'asset.version.deleted': '{actor} deleted version {number} of {target}',
  'assets.restricted': '{actor} restricted {count} files to the readers of their posts',
  'asset.updated': '{actor} edited {target}',
  'asset.deleted': '{actor} deleted {target}',
  'collection.updated': '{actor} edited {target}',
  'collection.deleted': '{actor} deleted {target}',
  'comment.removed': [
    '{actor} removed a comment on {target}',
    '{actor} removed a comment of {subject} on {target}',
  ],
  'extraction.backfill.started': '{actor} started reading the metadata of stored files',
  'extraction.backfill.cancelled': '{actor} stopped reading the metadata of stored files',
  'extraction.retried': '{actor} retried reading the metadata of a file',
  'link.feedback_removed': '{actor} removed what a guest wrote at a share link',
  'link.guest_muted': '{actor} muted a guest of a share link',
  'link.guest_unmuted': '{actor} let a guest of a share link write again',
  'link.created': '{actor} created a share link',
  'link.changed': '{actor} changed a share link',
  'link.renewed': '{actor} gave a share link a new address',
  'link.revoked': '{actor} revoked a share link',
  'post.updated': '{actor} edited {target}',
  'post.deleted': '{actor} deleted {target}',
  'request.created': '{actor} requested {target}',
  'request.granted': '{actor} granted the request of {subject}: {target}',
  'request.denied': '{actor} denied the request of {subject}: {target}',
  'system.search.changed': '{actor} changed the search language',
  'team.created': '{actor} created the team “{name}”',
  'team.updated': '{actor} changed {target}',
  'team.deleted': '{actor} closed {target}',
  'team.member.added': ['{actor} joined {target}', '{actor} added {subject} to {target}'],
  'team.member.removed': ['{actor} left {target}', '{actor} removed {subject} from {target}'],
  'team.parent.added': '{actor} placed {target} under another team',
  'team.parent.removed': '{actor} removed {target} from under another team',
  'trash.purged': 'Expired items of the trash were permanently removed',
  'trash.retention.changed': '{actor} changed how long deleted items are kept',
  'feed_view.renamed':
    'A saved view of {subject} was renamed, because another has its name in another spelling',
  'saved_search.renamed':
    'A saved search of {subject} was renamed, because another has its name in another spelling',
  'field.alias.removed':
    'The alias “{alias}” of “{value}” was removed from {target}, because another is the same in another spelling',
  'tag.renamed': '{actor} renamed the tag “{from}” to “{to}”',
  'tag.merged': '{actor} merged the tag “{from}” into “{to}”',
  'system.texts.changed': '{actor} changed the library’s texts',
  'post.featured': '{actor} featured {target}',
  'post.unfeatured': '{actor} removed {target} from the featured posts',
  'posts.featured.ordered': '{actor} reordered the featured posts',
  'field.created': '{actor} defined the field “{code}”',
  'field.updated': '{actor} changed the field “{code}”',
  'field.archived': '{actor} archived the field “{code}”',
  'field.extraction.configured': '{actor} changed which metadata fills “{code}”',
  'field.terms.added': '{actor} added terms to “{code}” ({count})',
  'field.term.updated': '{actor} changed the term “{value}” of “{code}”',
  'field.terms.merged': '{actor} merged terms of “{code}”',
  'field.default_override.set': '{actor} set a team default for “{code}”',
  'field.default_override.removed': '{actor} removed a team default for “{code}”',
  'post.shared': '{actor} shared {target} with {subject}',
  'post.unshared': '{actor} stopped sharing {target} with {subject}',
  'collection.shared': '{actor} shared {target} with {subject}',
  'collection.unshared': '{actor} stopped sharing {target} with {subject}',
  'asset.shared': '{actor} shared {target} with {subject}',
  'asset.unshared': '{actor} stopped sharing {target} with {subject}',
  'account.followable': '{actor} let people of other servers follow them',
  'account.unfollowable': '{actor} stopped letting people of other servers follow them',
  'system.activitypub.changed': '{actor} changed whether people of other servers can follow accounts',
  'federation.settings.updated': '{actor} changed the settings for peers',
  'federation.peer.offered': 'The library {instance_url} asked to be paired',
  'federation.peer.created': 'A pairing with {instance_url} was begun',
  'federation.peer.changed': '{actor} changed the pairing with {instance_url}',
  'federation.peer.key_rotated': 'The library {instance_url} has a new key',
  'federation.key.rotated': '{actor} renewed the key for peers',
  'federation.field.reset': '{actor} reset the decision about the field “{code}” of {instance_url}',
  'federation.share.granted': '{actor} shared {target} with {instance_url}',
  'federation.share.received': 'The library {instance_url} shared something with this one',
  'federation.share.revoked': '{actor} stopped sharing {target} with {instance_url}',
  'federation.share.withdrawn': 'The library {instance_url} stopped sharing something with this one',
  'federation.sensitive.confirmed': '{actor} allowed sending sensitive files of {target} to {instance_url}',
  'federation.sensitive.refused': 'Sensitive files of {target} were not sent to {instance_url}',
  'federation.sensitive.withdrawn': 'Sensitive files of {target} were withdrawn from a peer',
  'federation.emission.skipped': 'Something of {target} was not sent to {instance_url}',
  'post.published': '{actor} published {target}',
  'post.unpublished': '{actor} turned {target} back into a draft',
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
      if (typeof value === 'boolean') return [{ text: value ? 'on' : 'off' }];
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
  post: { words: 'a post', below: '/posts' },
  asset: { words: 'a file', below: '/assets' },
  collection: { words: 'a collection', below: '/collections' },
  team: { words: 'a team', below: '/teams' },
  field: { words: 'a field', below: '/admin/fields' },
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
