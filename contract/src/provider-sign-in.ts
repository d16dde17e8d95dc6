import { type Static, Type } from 'typebox';
import { SessionUser } from './identity.ts';
import { bytes, noContent, operation } from './operation.ts';
import { PasskeyAssertion } from './passkey-assertion.ts';
import { ProviderName } from './providers.ts';
import { closed, nullable, Timestamp, Uuid } from './values.ts';

const name = closed({ name: ProviderName });

/** A way to sign in besides the built-in passwords. */
export const SignInProvider = closed({
  name: Type.String(),
  kind: Type.Enum(['ldap', 'oidc', 'saml']),
  label: Type.String(),
  start_url: Type.Optional(Type.String()),
});

export const listSignInProviders = operation({
  id: 'listSignInProviders',
  method: 'GET',
  path: '/auth/providers',
  tag: 'Sign-in',
  summary: 'List ways to sign in',
  description:
    'Lists the enabled identity providers besides the built-in passwords. Open `start_url` in the browser to sign in; a directory has none, and is named in `POST /auth/login`.',
  door: 'open',
  scope: 'none',
  responses: {
    200: Type.Array(SignInProvider),
  },
  errors: [],
});

const starting = {
  method: 'GET',
  tag: 'Sign-in',
  door: 'open',
  scope: 'none',
  cookie: 'sign_in',
  unlisted: true,
  params: name,
  query: closed({
    return_to: Type.Optional(Type.String({ maxLength: 2000 })),
    /** The token of an invitation, with which people without an account get one. */
    invitation: Type.Optional(Type.String({ maxLength: 200 })),
  }),
  responses: { 302: noContent },
  errors: ['not-found'],
} as const;

export const startOidcSignIn = operation({
  ...starting,
  id: 'startOidcSignIn',
  path: '/auth/oidc/{name}/start',
  summary: 'Start signing in with OpenID Connect',
  description:
    'Redirects the browser to the provider. `return_to` is a path of this library to return to, `invitation` the token of an invitation to accept. If the provider does not respond, redirects to `/sign-in?error=unavailable`.',
});

/** What a provider may add to the redirection; unknown parameters are passed on to the check of the response. */
const callbackQuery = closed({
  code: Type.Optional(Type.String({ maxLength: 8000 })),
  state: Type.Optional(Type.String({ maxLength: 500 })),
  iss: Type.Optional(Type.String({ maxLength: 1000 })),
  error: Type.Optional(Type.String({ maxLength: 500 })),
});

export const finishOidcSignIn = operation({
  id: 'finishOidcSignIn',
  method: 'GET',
  path: '/auth/oidc/{name}/callback',
  tag: 'Sign-in',
  summary: 'Finish signing in with OpenID Connect',
  description:
    'The provider redirects the browser here. Redirects to the page where the sign-in started, with the session cookie; to `/sign-in?step=` if the password or a code is needed; or to `/sign-in?error=` with the kind of failure.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  cookie: 'sign_in',
  unlisted: true,
  params: name,
  query: callbackQuery,
  responses: { 302: noContent },
  errors: ['account-not-active', 'impersonation-ended', 'not-found', 'sign-in-required'],
});

export const startSamlSignIn = operation({
  ...starting,
  id: 'startSamlSignIn',
  path: '/auth/saml/{name}/start',
  summary: 'Start signing in with SAML',
  description:
    'Redirects the browser to the provider. `return_to` is a path of this library to return to. If the metadata of the provider cannot be read, redirects to `/sign-in?error=unavailable`.',
});

export const finishSamlSignIn = operation({
  id: 'finishSamlSignIn',
  method: 'POST',
  path: '/auth/saml/{name}/callback',
  tag: 'Sign-in',
  summary: 'Finish signing in with SAML',
  description:
    'The page of the provider posts the response here. Redirects as the callback of OpenID Connect does.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  cookie: 'sign_in',
  unlisted: true,
  params: name,
  postedForm: { maxBytes: 1_200_000 },
  body: Type.Object({
    SAMLResponse: Type.Optional(Type.String()),
    RelayState: Type.Optional(Type.String({ maxLength: 500 })),
  }),
  worksWhenFull: true,
  responses: { 303: noContent },
  errors: ['account-not-active', 'impersonation-ended', 'not-found', 'sign-in-required'],
});

export const backchannelLogout = operation({
  id: 'backchannelLogout',
  method: 'POST',
  path: '/auth/oidc/{name}/backchannel-logout',
  tag: 'Sign-in',
  summary: 'Take a sign-out from a provider',
  description:
    'The provider posts a logout token here. Ends the sessions of its `sid`, otherwise all sessions of its `sub` that began at this provider. Each token counts once.',
  door: 'open',
  scope: 'none',
  params: name,
  postedForm: { maxBytes: 65_536 },
  body: Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 20_000 }) }),
  worksWhenFull: true,
  responses: { 200: noContent },
  errors: ['logout-token-invalid', 'not-found', 'provider-keys-unavailable'],
});

export const frontchannelLogout = operation({
  id: 'frontchannelLogout',
  method: 'GET',
  path: '/auth/oidc/{name}/frontchannel-logout',
  tag: 'Sign-in',
  summary: 'Take a sign-out from the browser',
  description:
    'The page of the provider opens this address. Ends the sessions of `sid`; an unknown one changes nothing.',
  door: 'open',
  scope: 'none',
  unlisted: true,
  params: name,
  query: closed({
    iss: Type.String({ minLength: 1, maxLength: 1000 }),
    sid: Type.String({ minLength: 1, maxLength: 1000 }),
  }),
  responses: { 200: noContent },
  errors: ['not-found'],
});

export const getSamlMetadata = operation({
  id: 'getSamlMetadata',
  method: 'GET',
  path: '/auth/saml/{name}/metadata',
  tag: 'Sign-in',
  summary: 'Get the SAML metadata of this library',
  description:
    'Returns the metadata to register at the provider: the entity id and the address for responses.',
  door: 'open',
  scope: 'none',
  params: name,
  responses: { 200: bytes('application/samlmetadata+xml') },
  errors: ['not-found'],
});

export const continueSignIn = operation({
  id: 'continueSignIn',
  method: 'POST',
  path: '/auth/continue',
  tag: 'Sign-in',
  summary: 'Complete a sign-in with a provider',
  description:
    'Completes a sign-in that was redirected to `/sign-in?step=link`, with the password or a passkey of the existing account, or to `/sign-in?step=second_factor`, with a code or a passkey. The browser has 10 minutes. Failures count towards the lock of the name.',
  door: 'open',
  scope: 'none',
  sessionCookie: 'set',
  budget: 'signIn',
  body: closed({
    password: Type.Optional(nullable(Type.String({ maxLength: 1000 }))),
    totp_code: Type.Optional(nullable(Type.String({ maxLength: 20 }))),
    passkey: Type.Optional(nullable(PasskeyAssertion)),
  }),
  example: { password: 'correct horse battery' },
  worksWhenFull: true,
  responses: { 200: SessionUser },
  errors: [
    'account-not-active',
    'impersonation-ended',
    'sign-in-expired',
    'sign-in-required',
    'two-factor-code-invalid',
    'two-factor-required',
    'wrong-credentials',
  ],
});

/** An identity at a provider that is linked to an account. */
export const Identity = closed({
  id: Uuid,
  /** The name of the provider. */
  provider: Type.String(),
  label: Type.String(),
  username: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  created_at: Timestamp,
  last_used_at: nullable(Timestamp),
});
export type Identity = Static<typeof Identity>;

export const listIdentities = operation({
  id: 'listIdentities',
  method: 'GET',
  path: '/account/identities',
  tag: 'Account',
  summary: 'List linked identities',
  description: 'Lists the identities at providers with which the caller can sign in.',
  door: 'signedIn',
  scope: 'read',
  responses: { 200: closed({ items: Type.Array(Identity) }) },
  errors: [],
});

export const linkIdentity = operation({
  id: 'linkIdentity',
  method: 'POST',
  path: '/account/identities',
  tag: 'Account',
  summary: 'Link an identity',
  description:
    'Returns the address of the provider. Signing in there links the identity to this account and redirects to the settings.',
  door: 'signedIn',
  scope: 'session',
  whileImpersonating: 'refused',
  cookie: 'sign_in',
  body: closed({ provider: ProviderName }),
  responses: { 200: closed({ url: Type.String() }) },
  errors: ['not-found', 'provider-unavailable'],
});

export const unlinkIdentity = operation({
  id: 'unlinkIdentity',
  method: 'DELETE',
  path: '/account/identities/{id}',
  tag: 'Account',
  summary: 'Unlink an identity',
  description: 'Returns 409 for the last way to sign in. Sessions continue.',
  door: 'signedIn',
  scope: 'session',
  whileImpersonating: 'refused',
  params: closed({ id: Uuid }),
  responses: { 204: noContent },
  errors: ['last-way-to-sign-in', 'not-found'],
});
