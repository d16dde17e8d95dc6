import type { HeuristicFunc, Message } from 'wuchale';

/** Elements whose text is not prose. */
const verbatim = new Set(['script', 'style', 'code', 'pre', 'kbd', 'path']);
/** Attributes whose text people read, in whatever case it begins. */
const spoken = new Set([
  'label',
  'title',
  'placeholder',
  'alt',
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'text',
  'hint',
  'heading',
  'description',
  'empty',
  'what',
]);
/** Attributes that never hold prose. */
const technical =
  /^(?:class|style|id|name|href|src|d|viewBox|points|transform|rel|target|type|autocomplete|pattern|accept|for|role|key|lang|method|value)$/;
/** Names that browsers, HTTP and the service give. */
const names =
  /^(?:Arrow\w+|Page(?:Up|Down)|Escape|Backspace|Control|Meta|Shift|Alt|Vitrine-\w+|Content-\w+|(?:If|Upload|Tus|X)-[\w-]+|Authorization|Accept|GET|POST|\w+\/\w+|[A-Z]\w*Error|PublicKeyCredential|Feature\w*|(?:Multi)?(?:Point|Polygon|LineString))$/;
const letters = /\p{L}{2}/u;
/** Addresses, paths, style sheets and class names. */
const code =
  /^[./#?&]*[\w-]+[/=?&]|^[./^]|^\w+:\/\/|[{};[\]]|\w\(#?|(?:\b|\d)(?:px|rem|vw)\b|^<!|^[a-z-]+:\s|^[\w.]+@?[\w.]*\.(?:org|com)$/;

/** Functions whose arguments are compared with what browsers, the service or the code itself give. */
const comparing =
  /^console\.|^fetch$|RegExp|(?:^|\.)(?:includes|startsWith|endsWith|indexOf|split|closest|matches|querySelector(?:All)?|[gs]et(?:Item|Attribute)|createElement|addEventListener|getContext)$/;

/** Addresses given as examples, and language tags. */
const example = /^\w+:\/\/|^[\w.]+@?[\w.]*\.(?:org|com)$|^[a-z]{2}$/;

function isProse(text: string, isTemplate: boolean): boolean {
  if (!letters.test(text) || names.test(text)) return false;
  if (code.test(text) && !/[.…]$|\. /.test(text)) return false;
  // Most literals of scripts are codes and class names, which begin with a small letter.
  if (/^“?\p{Lu}/u.test(text)) return !/^[A-Z\d_-]+$/.test(text);
  return isTemplate && /#?\s\p{L}{2}|\p{L}{2}\s#?/u.test(text);
}

/** Whether people read this text of a component or script. */
export const isText: HeuristicFunc = ({ msgStr, details }: Message) => {
  const text = msgStr.join('\n');
  const { scope, element, attribute, call } = details;
  if (element !== undefined && verbatim.has(element)) return false;
  if (scope === 'markup') return /\p{L}/u.test(text) ? 'message' : false;
  if (attribute !== undefined && scope === 'attribute') {
    if (technical.test(attribute)) return false;
    if (spoken.has(attribute)) return letters.test(text) && !example.test(text) ? 'message' : false;
    return isProse(text, false) ? 'message' : false;
  }
  if (attribute !== undefined && technical.test(attribute)) return false;
  // The library trims texts, so a part of a sentence would lose its space. Such a part cannot be translated either.
  if (text !== text.trim()) return false;
  if (call !== undefined && comparing.test(call)) return false;
  return isProse(text, text.includes('#')) ? 'message' : false;
};
