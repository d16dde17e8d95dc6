import type { Static, TSchema } from 'typebox';
import type { Capability, Scope, TokenScope } from './capabilities.ts';
import type { ErrorStatus } from './errors.ts';

/**
 * Who may come in at all.
 * `open`: anybody. `public`: signed in, or anonymous while public mode is on (PUBLIC-2).
 * `signedIn`: any account. `holds`: an account with that capability.
 */
export type Door = 'open' | 'public' | 'signedIn' | { readonly holds: Capability };

/** A response that is not JSON: nothing at all, or bytes of the named media type. */
export interface NoContent {
  readonly kind: 'empty';
}
export interface Bytes {
  readonly kind: 'bytes';
  readonly type: string;
}
/** Server-sent events, each with the JSON its name stands for; the answer has no end of its own. */
export interface EventStream {
  readonly kind: 'events';
  readonly events: Readonly<Record<string, TSchema>>;
}
export const noContent: NoContent = { kind: 'empty' };
export function bytes(type: string): Bytes {
  return { kind: 'bytes', type };
}

export function events<const E extends Readonly<Record<string, TSchema>>>(named: E) {
  return { kind: 'events', events: named } as const;
}

export type ResponseBody = TSchema | NoContent | Bytes | EventStream;

export function isPlain(body: ResponseBody): body is NoContent | Bytes | EventStream {
  return 'kind' in body && (body.kind === 'empty' || body.kind === 'bytes' || body.kind === 'events');
}

/** One operation of the interface, as data. Handlers, documents and clients are derived from it. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base path, parameters as `{name}`. */
  readonly path: string;
  readonly tag: string;
  /** What it does in a few words, without a full stop. */
  readonly summary: string;
  /** Its rules in one to four sentences. Who may call it is said by `door` and `scope` and added to the document. */
  readonly description: string;
  readonly door: Door;
  /** What a bearer token must carry to come in (TOKEN-4). */
  readonly scope: Scope;
  /** Other scopes that let a token in too; the handler then decides which one it needs. */
  readonly otherScopes?: readonly TokenScope[];
  /**
   * A rate budget of its own. `signIn` and `bytes` replace the general one. `ask`, `testMail`, `setUp` and `unlock` (by
   * the path parameter `token`) are spent besides it.
   */
  readonly budget?: 'signIn' | 'bytes' | 'ask' | 'testMail' | 'setUp' | 'unlock';
  /**
   * What the response does with the session cookie. `set`: it starts, replaces or ends the session. `never`: it is stored
   * by caches, which must not store a cookie. Other operations renew the cookie of a session that was extended, except
   * behind an open door.
   */
  readonly sessionCookie?: 'set' | 'never';
  /** The name of another cookie that the response may set, limited to one path. */
  readonly cookie?: string;
  /**
   * Which stored bytes of the asset `id` are served: the original, the rendition `key`, or the part `name` of a video's
   * streams. The server looks them up together with the credential.
   */
  readonly serves?: 'original' | 'rendition' | 'stream';
  /** `refused`: not for an administrator who acts as somebody else (IMPERSONATION-9). */
  readonly whileImpersonating?: 'refused';
  /** Every answer, errors included, keeps search engines away and its address out of the `Referer` header. */
  readonly unlisted?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** A JSON body for the document, where one made of the schema would not be accepted or not be understood. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Whether the JSON body may be left out altogether. */
  readonly bodyOptional?: boolean;
  /** `multipart/form-data` with a part `file` and the body's members as fields, besides JSON or as the only form. */
  readonly form?: true | 'only';
  /** The body is bytes as they are, whatever they call themselves; at most this many are read. */
  readonly raw?: { readonly maxBytes: number };
  /** Speaks tus 1.0.0: requests and answers carry its headers, and the body is a part of a file, streamed as it comes. */
  readonly tus?: true;
  /** A form in either encoding is taken too (RFC 8058), unread: what counts is in the address. */
  readonly unreadForm?: boolean;
  /** Let in on a full disk: it makes room, or is needed by people who are about to. `DELETE` always is. */
  readonly worksWhenFull?: true;
  readonly responses: Readonly<Record<number, ResponseBody>>;
  /** Besides those that any operation of its method and door may answer (openapi.ts, errorStatuses). */
  readonly errors: readonly ErrorStatus[];
}

/** Whether a response carries the session cookie again when the request extended the session (SESSION-1). */
export function renewsSession({ door, sessionCookie }: Pick<Operation, 'door' | 'sessionCookie'>): boolean {
  return door !== 'open' && sessionCookie !== 'never';
}

/** Keeps an operation's literal types. */
export function operation<const O extends Operation>(shape: O): O {
  return shape;
}

type Input<S> = S extends TSchema ? Static<S> : undefined;
export type ParamsOf<O extends Operation> = Input<O['params']>;
export type QueryOf<O extends Operation> = Input<O['query']>;
export type BodyOf<O extends Operation> = O['bodyOptional'] extends true
  ? Input<O['body']> | undefined
  : Input<O['body']>;

/** The JSON an operation answers with on success, over all its success statuses. */
export type AnswerOf<O extends Operation> = {
  [S in keyof O['responses']]: O['responses'][S] extends TSchema ? Static<O['responses'][S]> : undefined;
}[keyof O['responses']];
