import type { Capability } from '@vitrine/contract/capabilities';

/** Nobody signed in; let in only while public mode is on (PUBLIC-1). */
export interface Anonymous {
  readonly kind: 'anonymous';
}

/** An account, as far as rules about seeing and doing ask for it. */
export interface SignedIn {
  readonly kind: 'user';
  readonly ref: number;
  readonly username: string;
  /** Freshly resolved (ROLE-4); empty when the lookup failed, so that every rule fails closed. */
  readonly capabilities: ReadonlySet<string>;
  readonly capabilitiesStatus: 'resolved' | 'unavailable';
  /** Capabilities that hold in some teams only: each with those teams and all below them. */
  readonly teamCapabilities: ReadonlyMap<string, readonly string[]>;
  readonly authMethod: 'session' | 'token';
  /** Null for a bearer token. */
  readonly sessionId: string | null;
  readonly token: { readonly id: string; readonly scopes: readonly string[] } | null;
  readonly impersonator: { readonly ref: number; readonly username: string } | null;
  /** Whether `GET /posts` keeps placeholders of withheld members (FEED-5). */
  readonly showRestricted: boolean;
  /** The instance allows mature content and this account opted in (ASSET-6). */
  readonly seesMature: boolean;
  /** What the session user shows of the account and the install, read with the credential; for no rule. */
  readonly account: {
    readonly fullname: string | null;
    readonly email: string | null;
    readonly preferences: unknown;
    readonly matureAllowed: boolean;
  };
}

export type Caller = Anonymous | SignedIn;

/** What is read of an account for its rules and its pages, beside the install's leave for mature content. */
export interface AccountRow {
  fullname: string | null;
  email: string | null;
  preferences: { feed_filters?: { show_restricted?: boolean }; mature_content?: { show?: boolean } } | null;
  mature_allowed: boolean;
}

/** What an account chose to see, as rules ask for it: mature content needs the install's leave too. */
export function chosenSights({
  fullname,
  email,
  preferences,
  mature_allowed: matureAllowed,
}: AccountRow): Pick<SignedIn, 'showRestricted' | 'seesMature' | 'account'> {
  return {
    showRestricted: preferences?.feed_filters?.show_restricted === true,
    seesMature: matureAllowed && preferences?.mature_content?.show === true,
    account: { fullname, email, preferences, matureAllowed },
  };
}

/** Whether every rule about what may be seen answers the same for both. */
export function actsAlike(one: Caller, other: Caller): boolean {
  if (one.kind === 'anonymous' || other.kind === 'anonymous') return one.kind === other.kind;
  return (
    one.ref === other.ref &&
    // The same sets: they are loaded anew whenever they may have changed.
    one.capabilities === other.capabilities &&
    one.teamCapabilities === other.teamCapabilities &&
    one.showRestricted === other.showRestricted &&
    one.seesMature === other.seesMature &&
    one.impersonator?.ref === other.impersonator?.ref
  );
}

/** Whether the caller holds a capability; `system.admin` holds them all. */
export function holds(caller: Caller, capability: Capability): boolean {
  if (caller.kind === 'anonymous') return false;
  return caller.capabilities.has(capability) || caller.capabilities.has('system.admin');
}

/** The teams, with all below them, in which alone the caller holds a capability; none when they hold it everywhere. */
export function teamsWith(caller: Caller, capability: Capability): readonly string[] {
  if (caller.kind === 'anonymous' || holds(caller, capability)) return [];
  return caller.teamCapabilities.get(capability) ?? [];
}
