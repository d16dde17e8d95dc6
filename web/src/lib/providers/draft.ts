import type { BodyOf } from '@vitrine/contract/operation';
import type { Operations } from '@vitrine/contract/operations';
import type { Claims, Provider, ProviderKind, SamlSettings } from '@vitrine/contract/providers';

export type ProviderCreation = BodyOf<Operations['createProvider']>;
export type ProviderPatch = BodyOf<Operations['updateProvider']>;

/** A provider in its form. */
export interface ProviderDraft {
  name: string;
  kind: ProviderKind;
  label: string;
  issuer: string;
  client_id: string;
  /** Empty: unchanged, or none for a new provider. */
  client_secret: string;
  clears_secret: boolean;
  metadata_url: string;
  /** The XML of the metadata; empty: unchanged. */
  metadata: string;
  sp_entity_id: string;
  signed: SamlSettings['signed'];
  enabled: boolean;
  creation: Provider['creation'];
  domains: string;
  scopes: string;
  default_role: string;
  /** One mapping a line: the group, `=`, and the code of the role or the id of the team. */
  roles: string;
  teams: string;
  username: string;
  fullname: string;
  email: string;
  groups: string;
  trust_second_factor: boolean;
}

/** Splits a list that is separated by spaces, commas or lines. */
function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** Reads lines of `group = value`; the group may contain `=`. */
function pairsOf(text: string): (readonly [group: string, value: string])[] {
  return text.split('\n').flatMap((line) => {
    const at = line.lastIndexOf('=');
    const [group, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    return at < 0 || group === '' || value === '' ? [] : [[group, value] as const];
  });
}

/** Returns the first line that is no mapping; undefined if all are. */
export function wrongLine(text: string): string | undefined {
  return text.split('\n').find((line) => line.trim() !== '' && pairsOf(line).length === 0);
}

/** Returns the form of a provider; without one, of a new provider. */
export function draftOf(provider?: Provider): ProviderDraft {
  const claims: Claims = provider?.claims ?? {};
  return {
    name: provider?.name ?? '',
    kind: provider?.kind ?? 'oidc',
    label: provider?.label ?? '',
    issuer: provider?.issuer ?? '',
    client_id: provider?.client_id ?? '',
    client_secret: '',
    clears_secret: false,
    metadata_url: provider?.idp_metadata_url ?? '',
    metadata: '',
    sp_entity_id: provider?.sp_entity_id ?? '',
    signed: provider?.signed ?? 'either',
    enabled: provider?.enabled ?? true,
    creation: provider?.creation ?? 'invited',
    domains: (provider?.allowed_domains ?? []).join(', '),
    scopes: (provider?.scopes ?? ['openid', 'profile', 'email']).join(' '),
    default_role: provider?.default_role ?? 'member',
    roles: (provider?.role_mapping ?? []).map(({ group, role }) => `${group} = ${role}`).join('\n'),
    teams: (provider?.team_mapping ?? []).map(({ group, team_id }) => `${group} = ${team_id}`).join('\n'),
    username: claims.username ?? '',
    fullname: claims.fullname ?? '',
    email: claims.email ?? '',
    groups: claims.groups ?? '',
    trust_second_factor: provider?.trust_second_factor ?? false,
  };
}

function claimsOf({ username, fullname, email, groups }: ProviderDraft, picture: string | undefined) {
  const names = { username, fullname, email, groups, ...(picture === undefined ? {} : { picture }) };
  const given = Object.entries(names).map(([fact, name]) => [fact, name.trim()] as const);
  return Object.fromEntries(given.filter(([, name]) => name !== ''));
}

function oidcOf(draft: ProviderDraft) {
  return {
    issuer: draft.issuer.trim(),
    client_id: draft.client_id.trim(),
    ...(draft.client_secret === '' ? {} : { client_secret: draft.client_secret }),
    scopes: wordsOf(draft.scopes),
  };
}

/** Returns the part of SAML. Pasted metadata take precedence over their address. */
function samlOf(draft: ProviderDraft, before?: Provider) {
  const [metadata, url, entityId] = [draft.metadata, draft.metadata_url, draft.sp_entity_id].map((text) =>
    text.trim(),
  );
  return {
    ...(metadata ? { metadata } : url ? { metadata_url: url } : {}),
    ...(entityId && entityId !== before?.sp_entity_id ? { sp_entity_id: entityId } : {}),
    signed: draft.signed,
  };
}

/** Returns what the form stores, without the name. `before`: the provider that is changed. */
function settingsOf(draft: ProviderDraft, before?: Provider) {
  return {
    label: draft.label.trim(),
    ...(draft.kind === 'saml' ? samlOf(draft, before) : oidcOf(draft)),
    enabled: draft.enabled,
    creation: draft.creation,
    allowed_domains: wordsOf(draft.domains),
    claims: claimsOf(draft, before?.claims.picture),
    default_role: draft.default_role,
    role_mapping: pairsOf(draft.roles).map(([group, role]) => ({ group, role })),
    team_mapping: pairsOf(draft.teams).map(([group, team_id]) => ({ group, team_id })),
    trust_second_factor: draft.trust_second_factor,
  };
}

/** Returns the request that creates the provider. */
export function creationOf(draft: ProviderDraft): ProviderCreation {
  return { name: draft.name.trim(), kind: draft.kind, ...settingsOf(draft) };
}

/** Returns the request that changes the provider. */
export function patchOf(draft: ProviderDraft, before: Provider): ProviderPatch {
  const clears = draft.clears_secret && draft.client_secret === '';
  return { ...settingsOf(draft, before), ...(clears ? { clear_client_secret: true } : {}) };
}
