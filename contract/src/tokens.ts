import { type Static, Type } from 'typebox';
import { scopes } from './capabilities.ts';
import { noContent, operation } from './operation.ts';
import { closed, nullable, page, pageQuery, Timestamp, Uuid } from './values.ts';

const TokenScopes = Type.Array(Type.Enum([...scopes]), {
  minItems: 1,
  maxItems: scopes.length,
  uniqueItems: true,
});

const record = {
  id: Uuid,
  name: Type.String(),
  scopes: TokenScopes,
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  last_used_at: nullable(Timestamp),
};

/** A personal access token in a list, without the token itself (TOKEN-2). */
export const Token = closed(record);
export type Token = Static<typeof Token>;

export const listTokens = operation({
  id: 'listTokens',
  method: 'GET',
  path: '/auth/tokens',
  tag: 'Tokens',
  summary: 'List own tokens',
  description:
    'Lists the personal access tokens of the account, newest first. The tokens themselves are never shown again.',
  door: 'signedIn',
  scope: 'read',
  query: closed(pageQuery),
  responses: { 200: page(Token) },
  errors: [],
});

export const createToken = operation({
  id: 'createToken',
  method: 'POST',
  path: '/auth/tokens',
  tag: 'Tokens',
  summary: 'Create a token',
  description:
    'Creates a personal access token and returns it; it is not shown again. A token has at least one scope and never allows more than the account may do. Returns 409 when the account already has 100 tokens.',
  door: 'signedIn',
  scope: 'session',
  whileImpersonating: 'refused',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    scopes: TokenScopes,
    expires_at: Type.Optional(nullable(Timestamp)),
  }),
  responses: { 201: closed({ ...record, token: Type.String({ pattern: '^vt_pat_[A-Za-z0-9]{32}$' }) }) },
  errors: ['time-in-the-past', 'too-many-tokens'],
});

export const deleteToken = operation({
  id: 'deleteToken',
  method: 'DELETE',
  path: '/auth/tokens/{id}',
  tag: 'Tokens',
  summary: 'Delete a token',
  description: 'Revokes a token immediately. Returns 404 for a token of another account.',
  door: 'signedIn',
  scope: 'admin',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['not-found'],
});
