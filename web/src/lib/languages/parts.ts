/**
 * Stand for the values of a sentence that are shown in another way than its text, such as names in bold. Translations
 * order them freely.
 */
export const places = ['\uE010', '\uE011', '\uE012', '\uE013'] as const;

/** Splits a sentence at the places of values. */
export function partsOf<Value>(
  sentence: string,
  values: Readonly<Record<string, Value>>,
  textOf: (text: string) => Value,
): Value[] {
  return sentence
    .split(/([\uE010-\uE013])/)
    .flatMap((part) => (part === '' ? [] : [values[part] ?? textOf(part)]));
}
