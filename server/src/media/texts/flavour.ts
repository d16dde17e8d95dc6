/** The kind of a text, detected from its content alone, because the same bytes may have any name. */
export type Flavour =
  | { kind: 'plain' }
  | { kind: 'markdown' }
  | { kind: 'table'; delimiter: string }
  | { kind: 'code'; language: string | null };

/** Number of characters that are inspected. */
const SAMPLE = 4000;

const interpreters: readonly (readonly [pattern: RegExp, language: string])[] = [
  [/python/, 'python'],
  [/node|deno|bun/, 'typescript'],
  [/perl/, 'perl'],
  [/ruby/, 'ruby'],
  [/lua/, 'lua'],
  [/sh\b/, 'bash'],
];

/** Patterns that identify a language unambiguously. */
const signs: readonly (readonly [pattern: RegExp, language: string])[] = [
  [/^<\?php/, 'php'],
  [/^(?:<\?xml|<!doctype|<html|<svg|<[a-z][\w:-]*(?:\s[^<>]*)?>)/i, 'xml'],
  [/^(?:diff --git |Index: |--- \S.*\n\+\+\+ )/m, 'diff'],
  [/^FROM \S+[\s\S]*^(?:RUN|CMD|COPY|ENTRYPOINT) /m, 'dockerfile'],
  [/^\s*#include\s*[<"]/m, 'cpp'],
  [/^\s*(?:use strict;|my [$@%])/m, 'perl'],
];

/** Patterns of typical lines of a language; the language with the most matches wins. */
const likely: readonly (readonly [language: string, pattern: RegExp])[] = [
  [
    'python',
    /^\s*(?:def \w+\(.*\).*:|class \w+.*:|import \w+(?: as \w+)?$|from [\w.]+ import |if .+:$|for .+ in .+:$)/gm,
  ],
  [
    'typescript',
    /^\s*(?:import .* from ['"]|export |const \w+\s*[=:]|let \w+\s*[=:]|(?:async )?function\b|interface \w+|type \w+\s*=|\w+\(.*\) *\{$|\}\);?$|return\b.*;$)/gm,
  ],
  ['go', /^(?:package \w+$|func |import \(|type \w+ (?:struct|interface) \{)|:=/gm],
  [
    'rust',
    /^\s*(?:use \w+(?:::|;)|(?:pub )?fn |let mut |impl\b|#\[\w+|match .*\{$|(?:pub )?(?:struct|enum|mod) \w+)/gm,
  ],
  ['java', /^\s*(?:package [\w.]+;|import [\w.*]+;|(?:public|private|protected) .*[{;]$|@Override)/gm],
  ['csharp', /^\s*(?:using [\w.]+;|namespace [\w.]+)/gm],
  [
    'sql',
    /^\s*(?:select|insert into|update|delete from|create (?:or replace )?(?:table|index|function|view|trigger)|alter table|with \w+ as \()\b|^(?:begin|declare|end;?|\$\$;?|\);)$/gim,
  ],
  ['css', /^\s*(?:[.#@:]?[\w-][\w\s.#:>,()-]*\{$|[\w-]+:\s*[^;{}]+;$)/gm],
  ['ruby', /^\s*(?:def \w+[^:]*$|end$|require ['"]|module [A-Z]\w*$|\w+ do \|)/gm],
  ['bash', /^\s*(?:if \[|fi$|done$|esac$|echo |export \w+=|\w+\(\) \{$)/gm],
  ['ini', /^(?:\[[^\]]+\]|[\w.-]+\s*=\s*\S.*)$/gm],
  ['yaml', /^\s*(?:- )?[\w./-]+:(?: \S.*)?$/gm],
];

/** Minimum fraction of lines that must match the language. */
const SHARE_OF_CODE = 0.3;

function languageOf(text: string, lines: number): string | null {
  const shebang = /^#!.*/.exec(text)?.[0];
  if (shebang !== undefined) return interpreters.find(([pattern]) => pattern.test(shebang))?.[1] ?? 'bash';
  const sign = signs.find(([pattern]) => pattern.test(text));
  if (sign !== undefined) return sign[1];
  const counts = likely.map(([language, pattern]) => ({
    language,
    count: [...text.matchAll(pattern)].length,
  }));
  const [best] = counts.sort((a, b) => b.count - a.count);
  return best !== undefined && best.count >= 2 && best.count >= lines * SHARE_OF_CODE ? best.language : null;
}

const headings = /^#{1,6} +\S|^\S.*\n(?:={3,}|-{3,})\s*$/m;
const markup =
  /^#{2,6} +\S|\[[^\]\n]+\]\([^)\n]+\)|\*\*[^*\n]+\*\*|^```|^(?:={3,}|-{3,})\s*$|^\|.*\|\s*$|^> /m;

/**
 * Returns the delimiter that occurs equally often in each of the first lines, as in a table; null if there is none.
 */
function delimiterOf(lines: readonly string[]): string | null {
  if (lines.length < 2) return null;
  const unquoted = lines.slice(0, 20).map((line) => line.replace(/"(?:[^"]|"")*"/g, ''));
  return (
    [',', ';', '\t'].find((delimiter) => {
      const counts = unquoted.map((line) => line.split(delimiter).length - 1);
      return (
        (counts[0] ?? 0) >= 1 &&
        counts.every((count) => count === counts[0]) &&
        !unquoted.every((line) => line.endsWith(delimiter))
      );
    }) ?? null
  );
}

/** Returns the kind of a text. */
export function flavourOf(text: string, mime: string): Flavour {
  if (mime === 'application/json' || /^\s*[{[]\s*(?:["{[\]}]|-?\d)/.test(text.slice(0, SAMPLE))) {
    return { kind: 'code', language: 'json' };
  }
  const sample = text.slice(0, SAMPLE).replaceAll('\r\n', '\n');
  // Ignores comment lines, which look alike in many languages.
  const lines = sample.split('\n').filter((line) => !/^\s*(?:$|--|\/\/|\/?\*)/.test(line));
  // The last line may be incomplete.
  if (text.length > SAMPLE) lines.pop();
  const language = languageOf(sample.trimStart(), lines.length);
  const isMarkdown = headings.test(sample) && markup.test(sample);
  if (language !== null && !(isMarkdown && ['yaml', 'ini', 'bash', 'css'].includes(language))) {
    return { kind: 'code', language };
  }
  if (isMarkdown) return { kind: 'markdown' };
  const delimiter = delimiterOf(lines);
  // Lines of prose may contain the same number of commas too.
  const isTable = delimiter !== null && !(delimiter === ',' && lines.every((line) => /[.!?]\s*$/.test(line)));
  return isTable ? { kind: 'table', delimiter } : { kind: 'plain' };
}
