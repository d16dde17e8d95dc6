import type { ErrorStatus } from '../errors.ts';

/** What a code of `Vitrine-Error` stands for. */
export interface ErrorDefinition {
  readonly status: ErrorStatus;
  /** The text of `error`; `{name}` stands for the value of that parameter. */
  readonly text: string;
  /** The property that errors with this code are always about. */
  readonly property?: string;
}

export type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>;
