/** A table as its `CREATE TABLE` declares it. */
export interface TableShape {
  name: string;
  columns: string[];
  /** Whether its texts are declared as latin1, where old installations keep UTF-8. */
  isLatin1: boolean;
}

/** Splits the body of `CREATE TABLE` at the commas between its definitions. */
function definitionsOf(body: string): string[] {
  const definitions: string[] = [];
  let depth = 0;
  let from = 0;
  let inQuotes = '';
  for (let at = 0; at < body.length; at += 1) {
    const character = body[at] ?? '';
    if (inQuotes !== '') {
      if (character === '\\' && inQuotes === "'") at += 1;
      else if (character === inQuotes) inQuotes = '';
    } else if (character === "'" || character === '`') inQuotes = character;
    else if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === ',' && depth === 0) {
      definitions.push(body.slice(from, at));
      from = at + 1;
    }
  }
  return [...definitions, body.slice(from)];
}

function nameIn(quoted: string): string {
  return quoted.replaceAll('``', '`');
}

/** Reads `CREATE TABLE`; null for any other statement. */
export function readCreateTable(statement: string): TableShape | null {
  const head =
    /^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?(?:`(?:[^`]|``)+`\s*\.\s*)?`((?:[^`]|``)+)`\s*\(/i.exec(
      statement,
    );
  if (head === null) return null;
  const end = statement.lastIndexOf(')');
  const columns = definitionsOf(statement.slice(head[0].length, end)).flatMap((definition) => {
    const [, name] = /^\s*`((?:[^`]|``)+)`/.exec(definition) ?? [];
    return name === undefined ? [] : [nameIn(name).toLowerCase()];
  });
  const [, charset = ''] = /charset\s*=\s*(\w+)/i.exec(statement.slice(end)) ?? [];
  return { name: nameIn(head[1] ?? '').toLowerCase(), columns, isLatin1: charset.toLowerCase() === 'latin1' };
}

/** The head of an `INSERT`, up to and with `VALUES`; `columns` is null without a list of them. */
export interface InsertHead {
  table: string;
  columns: string[] | null;
  length: number;
}

const insertHead =
  /^\s*(?:insert|replace)\s+(?:ignore\s+|delayed\s+)?into\s+(?:`(?:[^`]|``)+`\s*\.\s*)?`((?:[^`]|``)+)`\s*(?:\(([^)]*)\)\s*)?values\s*/i;

/** Reads the beginning of a statement that inserts rows; null if it is another statement. */
export function readInsertHead(text: string): InsertHead | null {
  const found = insertHead.exec(text);
  if (found === null) return null;
  const columns = found[2]?.split(',').map((name) => name.trim().replaceAll('`', '').toLowerCase()) ?? null;
  return { table: nameIn(found[1] ?? '').toLowerCase(), columns, length: found[0].length };
}
