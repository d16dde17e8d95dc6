import { contentErrors } from './content.ts';
import type { ErrorDefinition } from './definition.ts';
import { exchangeErrors } from './exchange.ts';
import { fieldErrors } from './fields.ts';
import { frameErrors } from './frame.ts';
import { inputErrors } from './input.ts';
import { operateErrors } from './operate.ts';
import { peopleErrors } from './people.ts';
import { rejectionErrors } from './rejections.ts';

/** Every error of the interface by its code (HTTP-43): its status, its text, and the names of its parameters. */
export const errorCodes = {
  ...frameErrors,
  ...inputErrors,
  ...peopleErrors,
  ...contentErrors,
  ...fieldErrors,
  ...exchangeErrors,
  ...operateErrors,
  ...rejectionErrors,
};

export type ErrorCode = keyof typeof errorCodes;

/** The value of a parameter. The words of a list are separated by commas in the text, by spaces in the header. */
export type ErrorParam = string | number | readonly string[];

type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The names of the parameters that the text of a code contains. */
export type ErrorParamNames<C extends ErrorCode> = NamesIn<(typeof errorCodes)[C]['text']>;

/** The codes whose text has no parameters. */
export type PlainErrorCode = {
  [C in ErrorCode]: [ErrorParamNames<C>] extends [never] ? C : never;
}[ErrorCode];

/** Returns the definition of a code. */
export function definitionOf(code: ErrorCode): ErrorDefinition {
  return errorCodes[code];
}

/** Returns whether a text is a code of this version of the interface. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorCodes, text);
}

/** Returns the text of an error with its parameters in place. */
export function errorText(text: string, params: Readonly<Record<string, ErrorParam>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '';
    return typeof value === 'object' ? value.join(', ') : String(value);
  });
}
