import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readDump } from '../../../src/operate/resourcespace/dump.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const directory = await temporaryDirectory();
const END = '-- Dump completed on 2026-11-27 13:33:51\n';
let written = 0;

async function file(content: string | Uint8Array): Promise<string> {
  written += 1;
  const path = join(directory, `${written}.sql`);
  await writeFile(path, content);
  return path;
}

/** Reads all rows of the table `node` of a dump. */
async function read(content: string | Uint8Array) {
  const rows: Record<string, string | null>[] = [];
  for await (const part of readDump(await file(content), { node: ['ref', 'name'] })) {
    for (const row of part.rows)
      rows.push(Object.fromEntries(part.columns.map((column, at) => [column, row[at] ?? null])));
  }
  return rows;
}

const create =
  "CREATE TABLE `node` (\n  `ref` int(11) NOT NULL,\n  `name` varchar(9) DEFAULT 'a,b(' COMMENT 'it''s, (x)',\n  PRIMARY KEY (`ref`),\n  KEY `k` (`name`)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n";

// IMPORT-3
describe('a dump', () => {
  test('is read with quotes, escapes, binary prefixes, numbers and nulls', async () => {
    const values = String.raw`(1,'it\'s; "a" \\ \n\t\Z'),(-2,NULL),(3,'doubled '' quote'),(4,_binary 'x'),(5,0x4142),(6,1.5e3),(7,_utf8mb4'é')`;
    expect(await read(`${create}INSERT INTO \`node\` VALUES\n${values};\n${END}`)).toEqual([
      { ref: '1', name: 'it\'s; "a" \\ \n\t\u001a' },
      { ref: '-2', name: null },
      { ref: '3', name: "doubled ' quote" },
      { ref: '4', name: 'x' },
      { ref: '5', name: 'AB' },
      { ref: '6', name: '1.5e3' },
      { ref: '7', name: 'é' },
    ]);
  });

  test('may name its columns, have comments and triggers, and be compressed', async () => {
    const text = `-- a comment; with 'quotes\n# another\n/* and one more; */\n${create}DELIMITER ;;\n/*!50003 CREATE TRIGGER t BEFORE INSERT ON node FOR EACH ROW BEGIN SET @a = 1; END */;;\nDELIMITER ;\nINSERT IGNORE INTO \`node\` (\`name\`, \`ref\`) VALUES ('first',1);\nREPLACE INTO \`node\` VALUES (2,'second');\n${END}`;
    const rows = [
      { name: 'first', ref: '1' },
      { ref: '2', name: 'second' },
    ];
    expect(await read(text)).toEqual(rows);
    expect(await read(gzipSync(text))).toEqual(rows);
  });

  test('is read only as far as its columns are wanted', async () => {
    const path = await file(`${create}INSERT INTO \`node\` VALUES (1,'it\\'s'),(2,_binary 'x');\n${END}`);
    const partsOf = (wanted: Record<string, string[]>) => Array.fromAsync(readDump(path, wanted));
    const [part] = await partsOf({ node: ['name', 'none'] });
    expect(part).toEqual({ table: 'node', columns: ['name'], rows: [["it's"], ['x']] });
    expect((await partsOf({ node: ['ref'] }))[0]?.rows).toEqual([['1'], ['2']]);
    expect(await partsOf({ user: ['ref'] })).toEqual([]);
  });

  test('is read alike wherever its chunks end', async () => {
    // Longer than several chunks of a file.
    const rows = Array.from(
      { length: 30_000 },
      (_, at) => `(${at},'row ${at} ${'x'.repeat(at % 97)} ''quoted'' \\\\ ü')`,
    );
    const found = await read(`${create}INSERT INTO \`node\` VALUES ${rows.join(',')};\n${END}`);
    expect(found).toHaveLength(30_000);
    expect(found[29_999]).toEqual({
      ref: '29999',
      name: `row 29999 ${'x'.repeat(29_999 % 97)} 'quoted' \\ ü`,
    });
  });

  test('may be in Latin-1, or have UTF-8 in columns that are declared as latin1', async () => {
    const latin = Buffer.from(`${create}INSERT INTO \`node\` VALUES (1,'Stra\xdfe \x80');\n${END}`, 'latin1');
    expect(await read(latin)).toEqual([{ ref: '1', name: 'Straße €' }]);
    const declared = create.replace('utf8mb4', 'latin1');
    const doubled = `${declared}INSERT INTO \`node\` VALUES (1,'Ã¼ber'),(2,'schön'),(3,'â‚¬');\n${END}`;
    expect((await read(doubled)).map(({ name }) => name)).toEqual(['über', 'schön', '€']);
    // Elsewhere these are the characters that people wrote.
    expect((await read(doubled.replace('latin1', 'utf8mb4')))[0]?.name).toBe('Ã¼ber');
  });

  test('that is cut off is refused, with the place where it ends', async () => {
    const whole = `${create}INSERT INTO \`node\` VALUES (1,'a'),(2,'b');\n`;
    const refusal = (text: string) => read(text).catch((error: Error) => error.message);
    expect(await refusal(whole)).toMatch(
      /is cut off: it ends after the table node; dump the database again$/,
    );
    expect(await refusal(whole.slice(0, -6))).toMatch(/it ends inside the table node, after 1 row;/);
    expect(await refusal(create.slice(0, 50))).toMatch(/it has no rows of any table/);
    expect(await refusal('')).toMatch(/cut off/);
    expect(await read(`${whole}/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;\n`)).toHaveLength(2);
  });

  test('with another number of values than columns, or that is no dump, is refused', async () => {
    const refusal = (text: string) => read(text).catch((error: Error) => error.message);
    expect(await refusal(`${create}INSERT INTO \`node\` VALUES (1,'a',2);\n${END}`)).toMatch(
      /3 values where the table has 2/,
    );
    expect(await refusal(`INSERT INTO \`node\` VALUES (1);\n${END}`)).toMatch(/before its CREATE TABLE/);
    expect(await refusal(`${create}INSERT INTO \`node\` VALUES oops;\n${END}`)).toMatch(
      /cannot be read as a dump/,
    );
    await expect(readDump(join(directory, 'none.sql'), {}).next()).rejects.toThrow('cannot be read');
    await expect(readDump(directory, {}).next()).rejects.toThrow(/is not a file|cannot be read/);
  });
});
