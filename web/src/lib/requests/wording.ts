import type { ResourceRequest } from '@vitrine/contract/requests';
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

/** The state of a request in words, before and after the time of the decision; `after` ends the sentence. */
export interface StateText {
  readonly before: string;
  readonly after: string;
}

/**
 * `decider` is who decided: "you", a name, or undefined while unknown. `isOpen`: the viewer requested the file and
 * can now open it.
 */
export function stateText(
  request: ResourceRequest,
  decider: string | undefined,
  language?: string,
  isOpen = false,
): StateText {
  const by = decider === undefined ? '' : ` by ${decider}`;
  const ask = requestKindOf(request);
  switch (request.state) {
    case 'pending':
      return { before: `Waiting. ${deciderTexts[ask]}`, after: '' };
    case 'denied':
      return { before: `Denied${by}`, after: '.' };
    case 'expired': {
      const end = request.grant_expires_at;
      const ended = end === null ? ', ended since.' : `, ended on ${dayOf(end, language)}.`;
      return { before: `${ask === 'access' ? 'Agreed to' : 'Granted'}${by}`, after: ended };
    }
    case 'granted': {
      if (ask === 'restore') return { before: `Restored${by}`, after: '.' };
      const end = request.grant_expires_at;
      // A revoked grant ended although its request is still marked as granted.
      const isOver = end !== null && Date.parse(end) <= Date.now();
      const until = end === null ? '' : `, ${isOver ? 'ended on' : 'until'} ${dayOf(end, language)}`;
      const consent =
        ask === 'access' && !isOpen ? ' That records consent; it does not unlock the file by itself.' : '';
      const opened = ask === 'access' && isOpen ? ' You can open the file.' : '';
      return {
        before: `${ask === 'access' ? 'Agreed to' : 'Granted'}${by}`,
        after: `${until}.${consent}${opened}`,
      };
    }
  }
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
