import type { Static, TSchema } from 'typebox';
import type { Capability, Scope, TokenScope } from './capabilities.ts';
import type { ErrorCode } from './errors/codes.ts';

/**
 * The callers that an operation accepts. `open`: everyone. `public`: signed-in callers, and anonymous ones while public
 * mode is on (PUBLIC-2). `signedIn`: any account. `holds`: accounts with the given capability.
 */
export type Door = 'open' | 'public' | 'signedIn' | { readonly holds: Capability };

/** A response that is not JSON: empty, or bytes of the given media type. */
export interface NoContent {
  readonly kind: 'empty';
}
export interface Bytes {
  readonly kind: 'bytes';
  readonly type: string;
}
/** Server-sent events, each with the JSON schema of its data. The response does not end by itself. */
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

/** One operation of the interface as data. Handlers, documents and clients are derived from it. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base path, with parameters as `{name}`. */
  readonly path: string;
  readonly tag: string;
  /** A short name of the operation, without a full stop. */
  readonly summary: string;
  /** Its rules in one to four sentences. The document adds who may call it, derived from `door` and `scope`. */
  readonly description: string;
  readonly door: Door;
  /** The scope that a bearer token needs (TOKEN-4). */
  readonly scope: Scope;
  /** Other scopes with which a token is accepted; the handler then checks which one is needed. */
  readonly otherScopes?: readonly TokenScope[];
  /**
   * A separate rate budget. `signIn` and `bytes` replace the general one. `ask`, `testMail`, `setUp`, `unlock` (per path
   * parameter `token`) and `guest` (per path parameter `token` and address) are spent in addition to it.
   */
  readonly budget?: 'signIn' | 'bytes' | 'ask' | 'testMail' | 'setUp' | 'unlock' | 'guest';
  /**
   * What the response does with the session cookie. `set`: starts, replaces or ends the session. `never`: caches
   * store the response, so it must not set a cookie. Other operations renew the cookie of an extended session, except
   * those with an open door.
   */
  readonly sessionCookie?: 'set' | 'never';
  /** The name of another cookie that the response may set for one path. */
  readonly cookie?: string;
  /**
   * Which stored bytes of the asset `id` are served: the original, the rendition `key`, or the part `name` of a
   * video's streams. The server looks them up together with the credential.
   */
  readonly serves?: 'original' | 'rendition' | 'stream';
  /** `refused`: not allowed while impersonating another account (IMPERSONATION-9). */
  readonly whileImpersonating?: 'refused';
  /** Allowed to accounts that still lack the second factor that their role requires (ROLE-25). */
  readonly beforeSecondFactor?: true;
  /**
   * All responses, including errors, tell search engines not to index them and browsers not to send the address as
   * `Referer`.
   */
  readonly unlisted?: boolean;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** The JSON example of the body, where one generated from the schema would be invalid or unclear. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** True if the JSON body may be omitted. */
  readonly bodyOptional?: boolean;
  /**
   * `multipart/form-data` with a part `file` and the body's properties as form fields, in addition to JSON or as the
   * only form.
   */
  readonly form?: true | 'only';
  /** The body is raw bytes of any content type but JSON and forms, limited to this number. */
  readonly raw?: { readonly maxBytes: number };
  /** Speaks tus 1.0.0: requests and responses carry its headers, and the body is a streamed part of a file. */
  readonly tus?: true;
  /** Also accepts a form in either encoding without reading it (RFC 8058): everything needed is in the address. */
  readonly unreadForm?: boolean;
  /**
   * The body is a form in URL encoding that the page of another site may post: the origin is not checked, and the handler
   * must find out who began the exchange. Fields that `body` does not have are ignored.
   */
  readonly postedForm?: { readonly maxBytes: number };
  /**
   * Allowed while the disk is full, because it frees space or is needed by people who are about to. `DELETE` is
   * always allowed.
   */
  readonly worksWhenFull?: true;
  /**
   * A streaming replica may serve it (REPLICA-1): it writes nothing, and needs nothing that was written less than a
   * second ago by others.
   */
  readonly replica?: true;
  /**
   * `caller`: only the caller must see this write immediately on a replica, since it takes nothing away from others and
   * happens often. Writes without it are seen immediately by everyone (REPLICA-2).
   */
  readonly seenBy?: 'caller';
  readonly responses: Readonly<Record<number, ResponseBody>>;
  /** Codes in addition to those of its door and of how its input is read (errors/of-operation.ts, frameCodes). */
  readonly errors: readonly ErrorCode[];
}

/** Returns whether the response renews the session cookie after the request extended the session (SESSION-1). */
export function renewsSession({ door, sessionCookie }: Pick<Operation, 'door' | 'sessionCookie'>): boolean {
  return door !== 'open' && sessionCookie !== 'never';
}

/** Returns its argument, keeping the literal types of an operation. */
export function operation<const O extends Operation>(shape: O): O {
  return shape;
}

type Input<S> = S extends TSchema ? Static<S> : undefined;
export type ParamsOf<O extends Operation> = Input<O['params']>;
export type QueryOf<O extends Operation> = Input<O['query']>;
export type BodyOf<O extends Operation> = O['bodyOptional'] extends true
  ? Input<O['body']> | undefined
  : Input<O['body']>;

/** The JSON of an operation's successful responses, as a union over their statuses. */
export type AnswerOf<O extends Operation> = {
  [S in keyof O['responses']]: O['responses'][S] extends TSchema ? Static<O['responses'][S]> : undefined;
}[keyof O['responses']];
