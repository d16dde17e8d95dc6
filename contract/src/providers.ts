import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Removal, Uuid } from './values.ts';

/** SSO-1: the name of a provider, which is part of addresses. */
export const ProviderName = Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' });
export const ProviderKind = Type.Enum(['oidc', 'saml']);
export type ProviderKind = Static<typeof ProviderKind>;

const Label = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
});
const Text = Type.String({ minLength: 1, maxLength: 500, pattern: '^[^\\u0000-\\u001f\\u007f]+$' });
const Address = Type.String({ minLength: 1, maxLength: 1000, pattern: '^https?://[^\\s]+$' });
const EntityId = Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\s\\u0000-\\u001f\\u007f]+$' });
/** A certificate as PEM. */
const Certificate = Type.String({ minLength: 1, maxLength: 20_000 });
const Domain = Type.String({ minLength: 1, maxLength: 253, pattern: '^[^\\s@]+$' });

/** The names of the claims with these facts. */
export const Claims = closed({
  username: Type.Optional(Text),
  fullname: Type.Optional(Text),
  email: Type.Optional(Text),
  picture: Type.Optional(Text),
  groups: Type.Optional(Text),
});
export type Claims = Static<typeof Claims>;

/** The algorithms of ID tokens that are accepted without further configuration (SSO-22). */
export const idTokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
const IdTokenAlgorithm = Type.Enum([
  ...idTokenAlgorithms,
  'RS384',
  'RS512',
  'PS384',
  'PS512',
  'ES384',
  'ES512',
]);

/** SSO-30: people in this group of the provider get the role with this code. */
export const RoleMapping = closed({ group: Text, role: Type.String({ minLength: 1, maxLength: 100 }) });

/** People in this group of the provider join the team. */
export const TeamMapping = closed({ group: Text, team_id: Uuid });

const mostMappings = 500;
const shared = {
  label: Label,
  enabled: Type.Boolean(),
  /** Who gets an account at their first sign-in. */
  creation: Type.Enum(['first_sign_in', 'invited']),
  allowed_domains: Type.Array(Domain, { maxItems: 100 }),
  claims: Claims,
  /** Codes of roles. */
  default_role: Type.String({ minLength: 1, maxLength: 100 }),
  role_mapping: Type.Array(RoleMapping, { maxItems: mostMappings }),
  team_mapping: Type.Array(TeamMapping, { maxItems: mostMappings }),
  trust_second_factor: Type.Boolean(),
  clock_tolerance_seconds: Type.Integer({ minimum: 0, maximum: 300 }),
};
const oidc = {
  issuer: Address,
  client_id: Text,
  client_secret: Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
  scopes: Type.Array(Type.String({ pattern: '^[!#-\\[\\]-~]{1,200}$' }), { minItems: 1, maxItems: 50 }),
  id_token_alg: IdTokenAlgorithm,
};
const mostMetadata = 262_144;
const saml = {
  entity_id: EntityId,
  sso_url: Address,
  certificates: Type.Array(Certificate, { minItems: 1, maxItems: 10 }),
  metadata_url: Address,
  sp_entity_id: EntityId,
  /** What the provider must sign. */
  signed: Type.Enum(['either', 'assertion', 'response', 'both']),
};
const optional = {
  enabled: Type.Optional(nullable(shared.enabled)),
  creation: Type.Optional(nullable(shared.creation)),
  allowed_domains: Type.Optional(nullable(shared.allowed_domains)),
  claims: Type.Optional(nullable(shared.claims)),
  default_role: Type.Optional(nullable(shared.default_role)),
  role_mapping: Type.Optional(nullable(shared.role_mapping)),
  team_mapping: Type.Optional(nullable(shared.team_mapping)),
  trust_second_factor: Type.Optional(nullable(shared.trust_second_factor)),
  clock_tolerance_seconds: Type.Optional(nullable(shared.clock_tolerance_seconds)),
  issuer: Type.Optional(nullable(oidc.issuer)),
  client_id: Type.Optional(nullable(oidc.client_id)),
  client_secret: Type.Optional(nullable(oidc.client_secret)),
  scopes: Type.Optional(nullable(oidc.scopes)),
  id_token_alg: Type.Optional(nullable(oidc.id_token_alg)),
  entity_id: Type.Optional(nullable(saml.entity_id)),
  sso_url: Type.Optional(nullable(saml.sso_url)),
  certificates: Type.Optional(nullable(saml.certificates)),
  metadata: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: mostMetadata }))),
  metadata_url: Type.Optional(nullable(saml.metadata_url)),
  sp_entity_id: Type.Optional(nullable(saml.sp_entity_id)),
  signed: Type.Optional(nullable(saml.signed)),
};

export const ProviderCreate = closed({ name: ProviderName, kind: ProviderKind, label: Label, ...optional });
export type ProviderCreate = Static<typeof ProviderCreate>;

export const ProviderChange = closed({
  label: Type.Optional(nullable(Label)),
  ...optional,
  clear_allowed_domains: Removal,
  clear_claims: Removal,
  clear_client_secret: Removal,
  clear_clock_tolerance_seconds: Removal,
  clear_default_role: Removal,
  clear_id_token_alg: Removal,
  clear_role_mapping: Removal,
  clear_scopes: Removal,
  clear_signed: Removal,
  clear_sp_entity_id: Removal,
  clear_team_mapping: Removal,
});
export type ProviderChange = Static<typeof ProviderChange>;

/** The settings of an OpenID Connect provider with every default filled in. */
export const OidcSettings = closed({
  ...shared,
  issuer: oidc.issuer,
  client_id: oidc.client_id,
  scopes: oidc.scopes,
  id_token_alg: Type.Optional(oidc.id_token_alg),
});
export type OidcSettings = Static<typeof OidcSettings>;

/**
 * The settings of a SAML provider with every default filled in. Either `metadata_url` is there, or the three properties
 * that metadata would give.
 */
export const SamlSettings = closed({
  ...shared,
  entity_id: Type.Optional(saml.entity_id),
  sso_url: Type.Optional(saml.sso_url),
  certificates: Type.Optional(saml.certificates),
  metadata_url: Type.Optional(saml.metadata_url),
  sp_entity_id: Type.Optional(saml.sp_entity_id),
  signed: saml.signed,
});
export type SamlSettings = Static<typeof SamlSettings>;

/** Computed properties. */
const answered = {
  name: ProviderName,
  /** Where the settings are: in the environment they are read-only. */
  source: Type.Enum(['environment', 'library']),
};

/** A provider as administrators see it, without its secret, and with the properties of its kind. */
export const Provider = closed({
  ...answered,
  kind: ProviderKind,
  ...shared,
  issuer: Type.Optional(Type.String()),
  client_id: Type.Optional(oidc.client_id),
  scopes: Type.Optional(oidc.scopes),
  id_token_alg: Type.Optional(oidc.id_token_alg),
  has_client_secret: Type.Boolean(),
  /** OpenID Connect: the address to register at the provider. */
  redirect_uri: Type.Optional(Type.String()),
  entity_id: Type.Optional(Type.String()),
  sso_url: Type.Optional(Type.String()),
  certificates: Type.Optional(saml.certificates),
  /** SAML: the address of the provider's metadata. */
  idp_metadata_url: Type.Optional(Type.String()),
  sp_entity_id: Type.Optional(Type.String()),
  signed: Type.Optional(saml.signed),
  /** SAML: the address to which the provider sends responses. */
  acs_url: Type.Optional(Type.String()),
  /** SAML: the address of the metadata of this library. */
  metadata_url: Type.Optional(Type.String()),
});
export type Provider = Static<typeof Provider>;

const name = closed({ name: ProviderName });

export const listProviders = operation({
  id: 'listProviders',
  method: 'GET',
  path: '/admin/providers',
  tag: 'System',
  summary: 'List identity providers',
  description: 'Lists the providers that sign people in by redirect, without their secrets.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Provider) },
  errors: [],
});

export const getProvider = operation({
  id: 'getProvider',
  method: 'GET',
  path: '/admin/providers/{name}',
  tag: 'System',
  summary: 'Get an identity provider',
  description: 'Returns the settings of a provider without its secret.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  params: name,
  responses: { 200: Provider },
  errors: ['not-found'],
});

const writing = [
  'capability-not-held',
  'exclusive-properties',
  'provider-address-private',
  'role-not-found',
  'team-not-found',
] as const;

export const createProvider = operation({
  id: 'createProvider',
  method: 'POST',
  path: '/admin/providers',
  tag: 'System',
  summary: 'Add an identity provider',
  description:
    'Stores a provider. Its secret is encrypted and never returned. Returns 403 if it would give a role or a team that the caller may not give, and 400 for addresses in private networks.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  body: ProviderCreate,
  example: {
    name: 'studio',
    kind: 'oidc',
    label: 'Studio account',
    issuer: 'https://login.example',
    client_id: 'vitrine',
    client_secret: 'made by the provider',
  },
  responses: { 201: Provider },
  errors: [...writing, 'provider-name-taken'],
});

export const updateProvider = operation({
  id: 'updateProvider',
  method: 'PATCH',
  path: '/admin/providers/{name}',
  tag: 'System',
  summary: 'Change an identity provider',
  description:
    'Lists and objects are replaced as a whole. Name and kind never change. Returns 409 for a provider of the environment.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: name,
  body: ProviderChange,
  responses: { 200: Provider },
  errors: [...writing, 'not-found', 'provider-in-environment'],
});

export const deleteProvider = operation({
  id: 'deleteProvider',
  method: 'DELETE',
  path: '/admin/providers/{name}',
  tag: 'System',
  summary: 'Remove an identity provider',
  description:
    'Nobody can sign in with it any more. Accounts, and the identities linked to them, remain. Returns 409 for a provider of the environment.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: name,
  responses: { 204: noContent },
  errors: ['not-found', 'provider-in-environment'],
});

const ProviderCheck = closed({
  name: Type.Enum(['discovery', 'jwks', 'metadata', 'certificate']),
  ok: Type.Boolean(),
  message: Type.Optional(Type.String()),
});
export type ProviderCheck = Static<typeof ProviderCheck>;

/** What a sign-in with these claims would do (SSO-50). */
const MappedPerson = closed({
  username: nullable(Type.String()),
  fullname: nullable(Type.String()),
  email: nullable(Type.String()),
  email_verified: Type.Boolean(),
  groups: Type.Array(Type.String()),
  role: Type.String(),
  teams: Type.Array(Uuid),
  outcome: Type.Enum(['create', 'sign_in', 'link', 'refuse']),
  /** Why a sign-in would be refused. */
  reason: Type.Optional(Type.String()),
});
export type MappedPerson = Static<typeof MappedPerson>;

export const testProvider = operation({
  id: 'testProvider',
  method: 'POST',
  path: '/admin/providers/{name}/test',
  tag: 'System',
  summary: 'Test an identity provider',
  description:
    'Asks the provider for its configuration and keys, and says whether they can be used. With `claims`, as an ID token has them, or `name_id` and attributes for SAML, also says what a sign-in would do. Writes nothing.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  params: name,
  body: closed({ claims: Type.Optional(nullable(Type.Record(Type.String(), Type.Unknown()))) }),
  bodyOptional: true,
  example: { claims: { sub: '1234', preferred_username: 'mara', groups: ['editors'] } },
  responses: {
    200: closed({
      ok: Type.Boolean(),
      checks: Type.Array(ProviderCheck),
      mapped: Type.Optional(MappedPerson),
    }),
  },
  errors: ['not-found'],
});
