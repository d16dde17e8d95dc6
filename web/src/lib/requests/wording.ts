import type { ResourceRequest } from '@vitrine/contract/requests';
import { partsOf, places } from '#lib/languages/parts.ts';
import { dayOf } from '#lib/time/moments.ts';

/** What is requested: access to an asset, a restore, or a capability (REQUEST-1). */
export type RequestKind = 'access' | 'restore' | 'capability';

export function requestKindOf({
  requested_capability: code,
}: Pick<ResourceRequest, 'requested_capability'>): RequestKind {
  if (code === 'content.access.request') return 'access';
  return code === 'content.restore.request' ? 'restore' : 'capability';
}

/** Returns the name of the requester, if it is disclosed. */
export function requesterName({ requester }: ResourceRequest): string {
  return requester?.display_name ?? 'Someone';
}

const deciderTexts: Readonly<Record<RequestKind, string>> = {
  access: 'The owner decides.',
  restore: 'The person who deleted it decides.',
  capability: 'People who may grant capabilities decide.',
};

/** A part of the state of a request: text, or the time of the decision. */
export type StatePart = { readonly text: string } | { readonly time: true };

/** The place of the time of the decision. */
const [when] = places;

function outcomeOf(request: ResourceRequest, decider: string | undefined): string {
  if (request.state === 'denied') return decider === undefined ? 'Denied' : `Denied by ${decider}`;
  const ask = requestKindOf(request);
  if (ask === 'access') return decider === undefined ? 'Agreed to' : `Agreed to by ${decider}`;
  if (ask === 'restore' && request.state === 'granted')
    return decider === undefined ? 'Restored' : `Restored by ${decider}`;
  return decider === undefined ? 'Granted' : `Granted by ${decider}`;
}

/** Returns the outcome with the time of the decision, and when its effect ends or ended. */
function decisionOf(outcome: string, request: ResourceRequest, language: string | undefined): string {
  const end = request.grant_expires_at;
  const hasEnd =
    request.state === 'expired' ||
    (request.state === 'granted' && requestKindOf(request) !== 'restore' && end !== null);
  if (!hasEnd) return `${outcome} ${when}.`;
  if (end === null) return `${outcome} ${when}, ended since.`;
  // A revoked grant ended although its request is still marked as granted.
  return request.state === 'expired' || Date.parse(end) <= Date.now()
    ? `${outcome} ${when}, ended on ${dayOf(end, language)}.`
    : `${outcome} ${when}, until ${dayOf(end, language)}.`;
}

function consequenceOf(request: ResourceRequest, isOpen: boolean): readonly string[] {
  if (request.state !== 'granted' || requestKindOf(request) !== 'access') return [];
  return [isOpen ? 'You can open the file.' : 'That records consent; it does not unlock the file by itself.'];
}

/**
 * Returns the state of a request in words. `decider` is who decided: "you", a name, or undefined while unknown.
 * `isOpen`: the viewer requested the file and can now open it.
 */
export function stateText(
  request: ResourceRequest,
  decider: string | undefined,
  language?: string,
  isOpen = false,
): StatePart[] {
  const sentence =
    request.state === 'pending'
      ? `Waiting. ${deciderTexts[requestKindOf(request)]}`
      : [decisionOf(outcomeOf(request, decider), request, language), ...consequenceOf(request, isOpen)].join(
          ' ',
        );
  return partsOf<StatePart>(sentence, { [when]: { time: true } }, (text) => ({ text }));
}

/** Describes the effect of a decision in advance. REQUEST-11: it never says that the asset becomes visible. */
export function effectOf(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  const name = requesterName(request);
  if (decision === 'denied') return `${name} sees that it was denied, and may ask again.`;
  switch (requestKindOf(request)) {
    case 'access':
      return 'Agreeing records your consent; it does not unlock the file by itself.';
    case 'restore':
      return 'Granting restores it for everyone who could see it before.';
    case 'capability':
      return `Granting gives ${name} the capability ${request.requested_capability} everywhere in the library.`;
  }
}

/** Returns the verb of a decision. Agreeing to an access request grants nothing by itself. */
export function verbOf(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  if (decision === 'denied') return 'Deny';
  return requestKindOf(request) === 'access' ? 'Agree' : 'Grant';
}

/** Returns the title of the dialog for deciding a request. */
export function titleOfDecision(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  const name = requesterName(request);
  if (decision === 'denied') return `Deny the request of ${name}`;
  return requestKindOf(request) === 'access' ? `${name} asks to see a file` : `Grant the request of ${name}`;
}
