import { type Static, Type } from 'typebox';
import { SessionUser } from './identity.ts';
import { noContent, operation } from './operation.ts';
import { credential, PasskeyAssertion } from './passkey-assertion.ts';
import { closed, nullable, Timestamp, Uuid } from './values.ts';

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
});

/** A passkey of an account, without its keys. */
export const Passkey = closed({
  id: Uuid,
  name: Type.String(),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
});
export type Passkey = Static<typeof Passkey>;

/** `RegistrationResponseJSON` of WebAuthn level 3. Browsers add properties, so unknown ones are accepted. */
export const PasskeyAttestation = Type.Object({
  ...credential,
  response: Type.Object({
    clientDataJSON: Type.String({ maxLength: 10_000 }),
    attestationObject: Type.String({ maxLength: 100_000 }),
    transports: Type.Optional(
      nullable(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 20 })),
    ),
  }),
});
export type PasskeyAttestation = Static<typeof PasskeyAttestation>;

const Descriptor = closed({
  id: Type.String(),
  type: Type.Enum(['public-key']),
  transports: Type.Optional(Type.Array(Type.String())),
});

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn level 3. */
export const CreationOptions = closed({
  rp: closed({ id: Type.String(), name: Type.String() }),
  user: closed({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  challenge: Type.String(),
  pubKeyCredParams: Type.Array(closed({ type: Type.Enum(['public-key']), alg: Type.Integer() })),
  timeout: Type.Integer(),
  excludeCredentials: Type.Array(Descriptor),
  authenticatorSelection: closed({
    residentKey: Type.Enum(['required']),
    requireResidentKey: Type.Boolean(),
    userVerification: Type.Enum(['required']),
  }),
  attestation: Type.Enum(['none']),
});
export type CreationOptions = Static<typeof CreationOptions>;

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn level 3, for any passkey of this library. */
export const RequestOptions = closed({
  challenge: Type.String(),
  timeout: Type.Integer(),
  rpId: Type.String(),
  userVerification: Type.Enum(['required']),
});
export type RequestOptions = Static<typeof RequestOptions>;

const params = closed({ id: Uuid });

export const startPasskey = operation({
  id: 'startPasskey',
  method: 'POST',
  path: '/account/passkeys/options',
  tag: 'Account',
  summary: 'Start adding a passkey',
  description:
    'Returns the options for `navigator.credentials.create` in the JSON of WebAuthn. Their challenge works once, in this session, for 5 minutes.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'session',
  whileImpersonating: 'refused',
  responses: { 200: CreationOptions },
  errors: [],
});

export const addPasskey = operation({
  id: 'addPasskey',
  method: 'POST',
  path: '/account/passkeys',
  tag: 'Account',
  summary: 'Add a passkey',
  description:
    'Stores the passkey that the browser created with the options of `POST /account/passkeys/options`. Returns 409 if the passkey is known already or the account has 50 passkeys.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'session',
  whileImpersonating: 'refused',
  body: closed({ name: Type.Optional(nullable(Name)), credential: PasskeyAttestation }),
  responses: { 201: Passkey },
  errors: ['passkey-challenge-unknown', 'passkey-known', 'passkey-not-verified', 'too-many-passkeys'],
});

export const listPasskeys = operation({
  id: 'listPasskeys',
  method: 'GET',
  path: '/account/passkeys',
  tag: 'Account',
  summary: 'List own passkeys',
  description: 'Lists the passkeys of the account, oldest first.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'read',
  responses: { 200: closed({ items: Type.Array(Passkey) }) },
  errors: [],
});

export const getPasskey = operation({
  id: 'getPasskey',
  method: 'GET',
  path: '/account/passkeys/{id}',
  tag: 'Account',
  summary: 'Get a passkey',
  description: 'Returns a passkey of the account, and 404 for one of another account.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'read',
  params,
  responses: { 200: Passkey },
  errors: ['not-found'],
});

export const updatePasskey = operation({
  id: 'updatePasskey',
  method: 'PATCH',
  path: '/account/passkeys/{id}',
  tag: 'Account',
  summary: 'Rename a passkey',
  description: 'Changes the name of a passkey of the account.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'session',
  whileImpersonating: 'refused',
  params,
  body: closed({ name: Type.Optional(nullable(Name)) }),
  responses: { 200: Passkey },
  errors: ['not-found'],
});

export const deletePasskey = operation({
  id: 'deletePasskey',
  method: 'DELETE',
  path: '/account/passkeys/{id}',
  tag: 'Account',
  summary: 'Remove a passkey',
  description:
    'Nobody can sign in with the passkey any more. Sessions continue. Returns 409 for the last way to sign in.',
  door: 'signedIn',
  beforeSecondFactor: true,
  scope: 'session',
  whileImpersonating: 'refused',
  params,
  responses: { 204: noContent },
  errors: ['last-way-to-sign-in', 'not-found'],
});

export const startPasskeySignIn = operation({
  id: 'startPasskeySignIn',
  method: 'POST',
  path: '/auth/passkey/options',
  tag: 'Sign-in',
  summary: 'Start signing in with a passkey',
  description:
    'Returns the options for `navigator.credentials.get` in the JSON of WebAuthn, the same for everyone. Their challenge works once, for 5 minutes, in `POST /auth/passkey`, or as a second factor in `POST /auth/login` and `POST /auth/continue`.',
  door: 'open',
  scope: 'none',
  worksWhenFull: true,
  responses: { 200: RequestOptions },
  errors: [],
});

export const signInWithPasskey = operation({
  id: 'signInWithPasskey',
  method: 'POST',
  path: '/auth/passkey',
  tag: 'Sign-in',
  summary: 'Sign in with a passkey',
  description:
    'Starts a session without a password and sets the cookie `user`. Every failure returns the 401 of a wrong password. Failures with a known passkey count towards the lock of the account.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  budget: 'signIn',
  body: closed({ credential: PasskeyAssertion }),
  worksWhenFull: true,
  responses: { 200: SessionUser },
  errors: ['account-not-active', 'impersonation-ended', 'sign-in-required', 'wrong-credentials'],
});
