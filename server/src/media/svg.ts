import render from 'dom-serializer';
import { isTag } from 'domhandler';
import * as dom from 'domutils';
import { decodeXML } from 'entities';
import { parseDocument } from 'htmlparser2';
import { withComputedStyles } from './styles/cascade.ts';
import { readStyleSheet } from './styles/rules.ts';
import { encodingOf, withoutDeclaration } from './text-encoding.ts';

/** The declarations before the root, which may define entities and stay as they are. */
const prologue = /^[\s\S]*?<!DOCTYPE[^[>]*(?:\[[\s\S]*?\]\s*)?>/i;
const isComplete = (svg: string) => /<\/[\w:.-]+\s*>\s*(?:<!--[\s\S]*?-->\s*)*$/.test(svg);

/**
 * Replaces custom properties of CSS, which librsvg ignores, by their values. Each element gets the style that the
 * cascade gives it, because librsvg has no values of its own to match selectors with.
 */
function withoutVariables(svg: string): string {
  // A drawing that ends early is left to the renderer, which refuses it.
  if (!/\bvar\(\s*--/i.test(svg) || !isComplete(svg)) return svg;
  const head = prologue.exec(svg)?.[0] ?? '';
  const document = parseDocument(svg.slice(head.length), { xmlMode: true, decodeEntities: false });
  const root = document.children.find(isTag);
  if (root === undefined) return svg;
  const sheets = dom.getElementsByTagName((name) => /(?:^|:)style$/.test(name), document);
  const css = sheets.map((sheet) => {
    const isData = sheet.children.some((child) => child.type === 'cdata');
    return isData ? dom.textContent(sheet) : decodeXML(dom.textContent(sheet));
  });
  const made = withComputedStyles(root, readStyleSheet(css.join('\n')));
  if (made === null) return svg;
  return head + render(made, { xmlMode: true, decodeEntities: false });
}

/**
 * Returns a drawing as librsvg reads it: in UTF-8, whatever its encoding, and with the values of its custom
 * properties.
 */
export function drawableSvg(bytes: Buffer): Buffer {
  const encoding = encodingOf(bytes);
  const text = new TextDecoder(encoding).decode(bytes);
  const drawn = withoutVariables(withoutDeclaration(text));
  return encoding === 'utf-8' && drawn === text ? bytes : Buffer.from(drawn);
}
