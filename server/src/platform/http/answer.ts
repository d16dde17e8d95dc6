import type { Readable } from 'node:stream';
import type { Bytes, EventStream, NoContent, Operation, ResponseBody } from '@vitrine/contract/operation';
import type { Static, TSchema } from 'typebox';

/** The `user` cookie to be set or, with null, taken away. */
export interface SessionCookie {
  token: string | null;
  maxAgeSeconds: number;
}

/** Another cookie of ours, for the addresses below one path alone. */
export interface ScopedCookie {
  name: string;
  value: string;
  path: string;
  maxAgeSeconds: number;
}

interface Extras {
  headers?: Readonly<Record<string, string>>;
  cookie?: SessionCookie;
  scopedCookie?: ScopedCookie;
}

type AnswerBody<R extends ResponseBody> = R extends NoContent
  ? { body?: undefined }
  : R extends Bytes
    ? { body: Readable | Buffer | null }
    : R extends EventStream
      ? { body: Readable }
      : R extends TSchema
        ? { body: Static<R> }
        : never;

/** What a handler may answer: a status its operation declares, with that status's body. */
export type Answer<O extends Operation> = {
  [S in keyof O['responses'] & number]: { status: S } & AnswerBody<O['responses'][S]> & Extras;
}[keyof O['responses'] & number];

/** Bytes that are unchanged since the client's copy: 304, for operations that answer bytes. */
export interface NotModified {
  status: 304;
  headers: Readonly<Record<string, string>>;
}
