import type pg from 'pg';

/** A column of a result, as PostgreSQL describes it before the statement runs. */
export interface ResultColumn {
  name: string;
  /** The type's oid. */
  type: number;
  /** The table and the number of its column that this one repeats; 0 for an expression. */
  table: number;
  column: number;
}

interface Field {
  name: string;
  tableID: number;
  columnID: number;
  dataTypeID: number;
}

/** What the driver calls while it sends a query. Its types leave out the protocol, which has no other way to describe. */
interface Protocol {
  parse(message: { text: string; name: string; types: readonly number[] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
}

/** Prepares a statement without running it. */
class Description {
  readonly columns: Promise<ResultColumn[]>;
  private readonly text: string;
  private found: ResultColumn[] = [];
  private readonly end: PromiseWithResolvers<ResultColumn[]>;

  constructor(text: string) {
    this.text = text;
    this.end = Promise.withResolvers();
    this.columns = this.end.promise;
  }

  submit(connection: Protocol): void {
    connection.parse({ text: this.text, name: '', types: [] });
    connection.describe({ type: 'S', name: '' });
    connection.sync();
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.found = fields.map(({ name, dataTypeID, tableID, columnID }) => ({
      name,
      type: dataTypeID,
      table: tableID,
      column: columnID,
    }));
  }

  handleError(error: Error): void {
    this.end.reject(error);
  }

  handleReadyForQuery(): void {
    this.end.resolve(this.found);
  }
}

/** Returns the columns of a statement's result. Fails as PostgreSQL does if it cannot be prepared. */
export function describeResult(client: pg.PoolClient, text: string): Promise<ResultColumn[]> {
  const description = new Description(text);
  Reflect.apply(client.query, client, [description]);
  return description.columns;
}
