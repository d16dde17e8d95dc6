import type { AuditEvent } from '@vitrine/contract/audit';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';
import { roleChoices } from '#lib/teams/role-words.ts';
import { sentences } from './event-sentences.ts';
import { statuses, statusWords } from './status.ts';

/** A part of a sentence: text, or a person or object that the page shows as a link. */
export type Part = { readonly text: string } | { readonly slot: 'actor' | 'subject' | 'target' };

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

/** Returns the labels of codes that the library names itself. Without a label, it returns the code. */
export type Labels = Readonly<Record<'capability' | 'role' | 'state', (code: string) => string>>;

const codeItself = (code: string) => code;
const noLabels: Labels = { capability: codeItself, role: codeItself, state: codeItself };

function statusLabel(code: string): string {
  const status = statuses.find((known) => known === code);
  return status === undefined ? code : statusWords[status].label;
}

/** Why a sign-in with a provider failed (SSO-24). */
const failures: ReadonlyMap<string, string> = new Map([
  ['cancelled', phrase('it was cancelled')],
  ['invalid', phrase('it could not be verified')],
  ['expired', phrase('it took too long or was already used')],
  ['unavailable', phrase('the provider did not respond')],
  ['not_invited', phrase('the person has no account and no invitation')],
  ['domain', phrase('the e-mail address is of a domain that is not allowed')],
  ['inactive', phrase('the account is not active')],
]);

/** Returns a property of an event's metadata in the words of the pages. */
function shownText(event: string, name: string, value: string, labels: Labels): string {
  if (name === 'capability') return labels.capability(value);
  if (name === 'status') return statusLabel(value);
  if (name === 'role' && event.startsWith('team.'))
    return roleChoices.find((role) => role.value === value)?.label ?? value;
  if (name === 'role') return labels.role(value);
  if (name === 'to' && event === 'asset.state.changed') return labels.state(value);
  if (name === 'error') return failures.get(value) ?? value;
  return value;
}

/** Returns the parts of an event's sentence. An event without a sentence is shown by its name. */
export function sentenceOf(event: AuditEvent, labels: Labels = noLabels): Part[] {
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
      return [{ text: shownText(event.event, name, value, labels) }];
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

/** The kinds of targets without a page. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['link', phrase('a share link')],
  ['role', phrase('a role')],
  ['session', phrase('a session')],
  ['token', phrase('an access token')],
]);

const placeOf = (kind: string) => (Object.hasOwn(places, kind) ? places[kind] : undefined);

/** Returns the words for a target that has no page, or whose page is not known. */
export function kindOf({ target_kind: kind = '' }: AuditEvent): string {
  return placeOf(kind)?.words ?? kinds.get(kind) ?? phrase('something');
}

/** Returns a title in quotation marks; undefined for an empty one. */
function titled(title: string | undefined): string | undefined {
  const text = title?.trim() ?? '';
  return text === '' ? undefined : phrase(`“${text}”`);
}

/** Returns the address of an event's target, with its title; undefined if it has no page. */
export function targetOf(event: AuditEvent): { readonly words: string; readonly href: string } | undefined {
  const { target_kind: kind, target_id: id } = event;
  const place = kind === undefined ? undefined : placeOf(kind);
  return place === undefined || id === undefined
    ? undefined
    : { words: titled(event.target_title) ?? place.words, href: `${place.below}/${id}` };
}
