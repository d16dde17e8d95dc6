import type { Readable } from 'node:stream';
import type { Bytes, EventStream, NoContent, Operation, ResponseBody } from '@vitrine/contract/operation';
import type { Static, TSchema } from 'typebox';

/** The value of the `user` cookie; null removes it. */
export interface SessionCookie {
  token: string | null;
  maxAgeSeconds: number;
}

/** Another cookie, limited to one path. */
export interface ScopedCookie {
  name: string;
  value: string;
  path: string;
  maxAgeSeconds: number;
  /** Browsers also send it when the page of another site posts a form here. */
  crossSite?: boolean;
}

/** Only an operation that declares a cookie may set one. */
interface Extras<O extends Operation> {
  headers?: Readonly<Record<string, string>>;
  cookie?: O['sessionCookie'] extends 'set' ? SessionCookie : never;
  scopedCookie?: O['cookie'] extends string ? ScopedCookie : never;
}

/** A body that is already serialised as JSON, of type `T`: a text, or its bytes in pieces if it may be long. */
export class JsonText<T> {
  readonly text: string | readonly Buffer[];
  /** Never set; ties the text to its type. */
  declare readonly of: T;

  constructor(text: string | readonly Buffer[]) {
    this.text = text;
  }
}

type AnswerBody<R extends ResponseBody> = R extends NoContent
  ? { body?: undefined }
  : R extends Bytes
    ? { body: Readable | Buffer | null }
    : R extends EventStream
      ? { body: Readable }
      : R extends TSchema
        ? { body: Static<R> | JsonText<Static<R>> }
        : never;

/** A handler's response: a status that its operation declares, and the body of that status. */
export type Answer<O extends Operation> = {
  [S in keyof O['responses'] & number]: { status: S } & AnswerBody<O['responses'][S]> & Extras<O>;
}[keyof O['responses'] & number];

/** 304 for bytes that the client already has; for operations that return bytes. */
export interface NotModified {
  status: 304;
  headers: Readonly<Record<string, string>>;
}
