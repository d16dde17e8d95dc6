import type { ResourceRequest } from '@vitrine/contract/requests';
import { dayOf } from '#lib/time/moments.ts';

/** What is asked: to see an asset, to have something back from the trash, or a capability (REQUEST-1). */
export type RequestKind = 'access' | 'restore' | 'capability';

export function requestKindOf({
  requested_capability: code,
}: Pick<ResourceRequest, 'requested_capability'>): RequestKind {
  if (code === 'content.access.request') return 'access';
  return code === 'content.restore.request' ? 'restore' : 'capability';
}

/** Who asked, as far as it is told. */
export function requesterName({ requester }: ResourceRequest): string {
  return requester?.display_name ?? 'Somebody';
}

const deciderTexts: Readonly<Record<RequestKind, string>> = {
  access: 'The owner decides.',
  restore: 'The person who deleted it decides.',
  capability: 'People who may grant capabilities decide.',
};

/** Where a request stands, in words around the moment it was decided; `after` ends the sentence. */
export interface StateText {
  readonly before: string;
  readonly after: string;
}

/**
 * `decider` is who decided: "you", a name, or undefined while it is not known. `isOpen`: the viewer asked for the file
 * and can open it now.
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
      // A grant that was taken back ended before its request could say that it would.
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

/** What a decision does, said before it is made. REQUEST-11: never that it reveals the asset. */
export function effectOf(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  const name = requesterName(request);
  if (decision === 'denied') return `${name} sees that it was denied, and may ask again.`;
  switch (requestKindOf(request)) {
    case 'access':
      return 'Agreeing records your consent; it does not unlock the file by itself.';
    case 'restore':
      return 'Granting restores it, for everybody who could see it before.';
    case 'capability':
      return `Granting gives ${name} the capability ${request.requested_capability} everywhere in the library.`;
  }
}

/** What the button and the dialog call a decision. Agreeing to an access request grants nothing by itself. */
export function verbOf(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  if (decision === 'denied') return 'Deny';
  return requestKindOf(request) === 'access' ? 'Agree' : 'Grant';
}

/** The title of the dialog in which a request is decided. */
export function titleOfDecision(request: ResourceRequest, decision: 'granted' | 'denied'): string {
  const name = requesterName(request);
  if (decision === 'denied') return `Deny what ${name} asked for`;
  return requestKindOf(request) === 'access' ? `${name} asks to see a file` : `Grant what ${name} asked for`;
}
