import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { Count, closed, nullable, Ref } from './values.ts';

/** The maximum number of bytes of originals; null means no limit. */
const Limit = nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }));

const limits = {
  /** The quota of accounts that have none of their own. */
  person_bytes: Limit,
  /** The quota of the whole library. */
  install_bytes: Limit,
};

export const Quotas = closed({ ...limits, used_bytes: Count });
export type Quotas = Static<typeof Quotas>;

/** The quota of an account: its own, or the default. */
export const UserQuota = closed({
  own_bytes: Limit,
  limit_bytes: Limit,
  /** Distinct originals of its live assets, plus uploads from which no asset has been created. */
  used_bytes: Count,
});
export type UserQuota = Static<typeof UserQuota>;

const params = closed({ ref: Ref });

export const getQuotas = operation({
  id: 'getQuotas',
  method: 'GET',
  path: '/admin/system/quotas',
  tag: 'System',
  summary: 'Get the quotas',
  description:
    'Returns the default quota of accounts, the quota of the library and how much the library stores. Null means no limit.',
  door: { holds: 'system.config.read' },
  scope: 'read',
  responses: { 200: Quotas },
  errors: [],
});

export const setQuotas = operation({
  id: 'setQuotas',
  method: 'PUT',
  path: '/admin/system/quotas',
  tag: 'System',
  summary: 'Set the quotas',
  description: 'Stored files are kept. Later uploads beyond a quota return 413.',
  door: { holds: 'system.config.write' },
  scope: 'admin',
  example: { person_bytes: 50_000_000_000, install_bytes: null },
  body: closed(limits),
  responses: { 200: Quotas },
  errors: [],
});

export const getOwnQuota = operation({
  id: 'getOwnQuota',
  method: 'GET',
  path: '/account/quota',
  tag: 'Users',
  summary: 'Get own quota',
  description: 'Returns the quota of the caller and how much of it is used. Null means no limit.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: UserQuota },
  errors: [],
});

export const getUserQuota = operation({
  id: 'getUserQuota',
  method: 'GET',
  path: '/admin/users/{ref}/quota',
  tag: 'Users',
  summary: 'Get the quota of an account',
  description: 'Returns the quota of an account and how much of it is used. Null means no limit.',
  door: { holds: 'users.read' },
  scope: 'read',
  params,
  responses: { 200: UserQuota },
  errors: ['not-found'],
});

export const setUserQuota = operation({
  id: 'setUserQuota',
  method: 'PUT',
  path: '/admin/users/{ref}/quota',
  tag: 'Users',
  summary: 'Set the quota of an account',
  description: 'Gives an account a quota of its own; null returns it to the default.',
  door: { holds: 'users.write' },
  scope: 'admin',
  params,
  example: { own_bytes: 100_000_000_000 },
  body: closed({ own_bytes: Limit }),
  responses: { 200: UserQuota },
  errors: ['account-has-more-rights', 'not-found'],
});
