/**
 * Placeholders for the values of a sentence that have a look of their own, such as names in bold. Translations may order
 * them freely.
 */
export const places = ['\uE010', '\uE011', '\uE012', '\uE013'] as const;

/** Splits a sentence at its places, and returns its texts and values in their order. */
export function partsOf<Value>(
  sentence: string,
  values: Readonly<Record<string, Value>>,
  textOf: (text: string) => Value,
): Value[] {
  return sentence
    .split(/([\uE010-\uE013])/)
    .flatMap((part) => (part === '' ? [] : [values[part] ?? textOf(part)]));
}
