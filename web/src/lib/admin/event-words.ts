import type { AuditEvent } from '@vitrine/contract/audit';
import { locale } from '#lib/languages/language.ts';
import { phrase } from '#lib/languages/phrase.ts';
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

function statusLabel(code: string): string {
  const status = statuses.find((known) => known === code);
  return status === undefined ? code : statusWords[status].label;
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
      if (name === 'status') return [{ text: statusLabel(value) }];
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
  return text === '' ? undefined : phrase(`“${text}”`);
}

/** Returns the address of an event's target, with its title; undefined if it has no page. */
export function targetOf(event: AuditEvent): { readonly words: string; readonly href: string } | undefined {
  const { target_kind: kind, target_id: id } = event;
  const place = kind !== undefined && Object.hasOwn(places, kind) ? places[kind] : undefined;
  return place === undefined || id === undefined
    ? undefined
    : { words: titled(event.target_title) ?? place.words, href: `${place.below}/${id}` };
}
