import { type Static, Type } from 'typebox';
import { noContent, operation } from './operation.ts';
import { ProviderName } from './providers.ts';
import { closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

const record = {
  id: Uuid,
  name: Type.String(),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
};

/** A token of a directory in a list, without the token itself (SCIM-1). */
export const ScimToken = closed(record);
export type ScimToken = Static<typeof ScimToken>;

const provider = closed({ name: ProviderName });

export const listScimTokens = operation({
  id: 'listScimTokens',
  method: 'GET',
  path: '/admin/providers/{name}/scim-tokens',
  tag: 'System',
  summary: 'List SCIM tokens of an identity provider',
  description:
    'Lists the tokens with which the directory of a provider creates, changes and removes accounts at `/scim/v2`, newest first. The tokens themselves are never shown again.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  params: provider,
  query: closed(pageQuery),
  responses: { 200: page(ScimToken) },
  errors: ['not-found'],
});

export const createScimToken = operation({
  id: 'createScimToken',
  method: 'POST',
  path: '/admin/providers/{name}/scim-tokens',
  tag: 'System',
  summary: 'Create a SCIM token',
  description:
    'Creates a token for the directory of a provider and returns it; it is not shown again. It is valid at `/scim/v2` only. Returns 403 if the provider would give a role or a team that the caller may not give, and 409 when it already has 20 tokens.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: provider,
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    expires_at: Type.Optional(nullable(Timestamp)),
  }),
  responses: { 201: closed({ ...record, token: Type.String({ pattern: '^vt_scim_[A-Za-z0-9]{32}$' }) }) },
  errors: [
    'capability-not-held',
    'not-found',
    'role-not-found',
    'team-not-found',
    'time-in-the-past',
    'too-many-directory-tokens',
  ],
});

export const deleteScimToken = operation({
  id: 'deleteScimToken',
  method: 'DELETE',
  path: '/admin/providers/{name}/scim-tokens/{id}',
  tag: 'System',
  summary: 'Delete a SCIM token',
  description: 'Revokes a token of a directory immediately. Accounts and groups remain.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  whileImpersonating: 'refused',
  params: closed({ name: ProviderName, id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});
