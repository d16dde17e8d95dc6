import ts from 'typescript';

/** What JavaScript holds in a property: the kinds of value that its type admits. */
export interface PropertyType {
  /** `string`, `number`, `boolean`, `bytes`, `string[]` and so on; `anything` for `unknown`. */
  kinds: ReadonlySet<string>;
  nullable: boolean;
  /** The texts that it may be; null if it may be any. */
  texts: ReadonlySet<string> | null;
  optional: boolean;
}

function kindOf(checker: ts.TypeChecker, type: ts.Type): string {
  const { flags } = type;
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'anything';
  if (flags & ts.TypeFlags.StringLike) return 'string';
  if (flags & ts.TypeFlags.NumberLike) return 'number';
  if (flags & ts.TypeFlags.BooleanLike) return 'boolean';
  if (flags & ts.TypeFlags.BigIntLike) return 'bigint';
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const element = type.getNumberIndexType();
    return `${element === undefined ? 'anything' : [...typeOf(checker, element).kinds].sort().join('|')}[]`;
  }
  const name = type.symbol?.name;
  if (name === 'Buffer' || name === 'Uint8Array') return 'bytes';
  return name === 'Date' ? 'date' : 'object';
}

/** Describes a type. */
function typeOf(checker: ts.TypeChecker, type: ts.Type, optional = false): PropertyType {
  const members = type.isUnion() ? type.types : [type];
  const isNothing = ({ flags }: ts.Type) => (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0;
  const some = members.filter((member) => !isNothing(member));
  const texts = some.flatMap((member) => (member.isStringLiteral() ? [member.value] : []));
  const allTexts = texts.length > 0 && some.every((member) => member.isStringLiteral());
  return {
    kinds: new Set(some.map((member) => kindOf(checker, member))),
    nullable: members.some(({ flags }) => (flags & ts.TypeFlags.Null) !== 0),
    texts: allTexts ? new Set(texts) : null,
    optional: optional || members.some(({ flags }) => (flags & ts.TypeFlags.Undefined) !== 0),
  };
}

/** Returns the properties of a row type, by name. */
export function propertiesOf(checker: ts.TypeChecker, row: ts.Type): ReadonlyMap<string, PropertyType> {
  return new Map(
    checker
      .getPropertiesOfType(row)
      .map((property) => [
        property.name,
        typeOf(checker, checker.getTypeOfSymbol(property), (property.flags & ts.SymbolFlags.Optional) !== 0),
      ]),
  );
}

/** Returns what reading each column of each table returns, `posts.id` and so on, as `tables.ts` declares it. */
export function tableColumns(
  checker: ts.TypeChecker,
  tables: ts.SourceFile,
): ReadonlyMap<string, PropertyType> {
  const found = new Map<string, PropertyType>();
  const declared = tables.statements.find(
    (statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === 'Tables',
  );
  if (declared === undefined) throw new Error('tables.ts declares no Tables');
  for (const table of checker.getPropertiesOfType(checker.getTypeAtLocation(declared))) {
    for (const column of checker.getPropertiesOfType(checker.getTypeOfSymbol(table))) {
      const type = checker.getTypeOfSymbol(column);
      const select = type.getProperty('__select__');
      found.set(
        `${table.name}.${column.name}`,
        typeOf(checker, select === undefined ? type : checker.getTypeOfSymbol(select)),
      );
    }
  }
  return found;
}
