import type { Capability } from '@vitrine/contract/capabilities';

/** An anonymous caller; admitted only in public mode (PUBLIC-1). */
export interface Anonymous {
  readonly kind: 'anonymous';
}

/** An account, as far as access rules need it. */
export interface SignedIn {
  readonly kind: 'user';
  readonly ref: number;
  readonly username: string;
  /** Resolved for this request (ROLE-4); empty when the lookup failed, so that every rule fails closed. */
  readonly capabilities: ReadonlySet<string>;
  readonly capabilitiesStatus: 'resolved' | 'unavailable';
  /** Capabilities that hold in some teams only, with those teams and all below them. */
  readonly teamCapabilities: ReadonlyMap<string, readonly string[]>;
  readonly authMethod: 'session' | 'token';
  /** Null for a bearer token. */
  readonly sessionId: string | null;
  readonly token: { readonly id: string; readonly scopes: readonly string[] } | null;
  /** Set for a session of an account that must do this before anything else (ROLE-25). */
  readonly requiredStep?: 'second_factor';
  readonly impersonator: { readonly ref: number; readonly username: string } | null;
  /** Whether `GET /posts` keeps placeholders of withheld members (FEED-5). */
  readonly showRestricted: boolean;
  /** The instance allows mature content and this account opted in (ASSET-6). */
  readonly seesMature: boolean;
  /** What the session user shows of the account and the install, read with the credential; not used by rules. */
  readonly account: {
    readonly fullname: string | null;
    readonly email: string | null;
    readonly preferences: unknown;
    readonly matureAllowed: boolean;
  };
}

export type Caller = Anonymous | SignedIn;

/** What is read of an account for rules and pages, without the install's switch for mature content. */
export interface AccountRow {
  fullname: string | null;
  email: string | null;
  preferences: { feed_filters?: { show_restricted?: boolean }; mature_content?: { show?: boolean } } | null;
  mature_allowed: boolean;
}

/** The account's viewing choices for rules: mature content also needs the install's switch. */
export function viewingPreferences({
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
export function hasSameAccess(a: Caller, b: Caller): boolean {
  if (a.kind === 'anonymous' || b.kind === 'anonymous') return a.kind === b.kind;
  return (
    a.ref === b.ref &&
    // The same sets: they are loaded anew whenever they may have changed.
    a.capabilities === b.capabilities &&
    a.teamCapabilities === b.teamCapabilities &&
    a.showRestricted === b.showRestricted &&
    a.seesMature === b.seesMature &&
    a.impersonator?.ref === b.impersonator?.ref
  );
}

/** Returns whether the caller holds a capability; `system.admin` holds all. */
export function holds(caller: Caller, capability: Capability): boolean {
  if (caller.kind === 'anonymous') return false;
  return caller.capabilities.has(capability) || caller.capabilities.has('system.admin');
}

/** Stands for the role `lead` among the capabilities that an account holds in teams (TEAM-16). */
export const TEAM_LEAD = 'team.lead';

/** TEAM-16: capabilities that leads hold in the team itself. */
export const leadCapabilities = ['posts.admin', 'assets.admin'] as const satisfies readonly Capability[];

/** TEAM-16: leads change their team as holders of `teams.write` do. Returns other codes as they are. */
export function capabilityShownFor(code: string): string {
  return code === TEAM_LEAD ? 'teams.write' : code;
}

/** Everything that the role `lead` gives, as it is shown (TEAM-16). */
export const leadRights: readonly string[] = [...leadCapabilities, TEAM_LEAD].map(capabilityShownFor);

/** Returns the teams that the caller leads, without those below them. */
export function teamsLed(caller: Caller): readonly string[] {
  return caller.kind === 'anonymous' ? [] : (caller.teamCapabilities.get(TEAM_LEAD) ?? []);
}

/**
 * Returns the teams to which a capability of the caller is limited, with all below them; empty when it holds
 * everywhere.
 */
export function teamsWith(caller: Caller, capability: Capability): readonly string[] {
  if (caller.kind === 'anonymous' || holds(caller, capability)) return [];
  return caller.teamCapabilities.get(capability) ?? [];
}
