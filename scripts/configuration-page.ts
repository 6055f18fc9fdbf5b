// The table of a file's keys, made from the JSON Schema of the decoder.

type Schema = {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  /** Of a map whose keys have no fixed names. */
  readonly additionalProperties?: boolean | Schema;
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
};

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  const bounded = schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER;
  return types
    .map((type) => {
      if (type === 'object') return 'map';
      if (type === 'array')
        return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items).replace(/^map$/, 'maps')}`;
      const most = schema.maximum ?? Number.MAX_SAFE_INTEGER;
      if (type === 'integer' && bounded && most < Number.MAX_SAFE_INTEGER)
        return `integer, ${schema.minimum} to ${most}`;
      if (type === 'integer' && bounded) return `integer, ${schema.minimum} or more`;
      if (type === 'number' && bounded) return `number, ${schema.minimum} to ${most}`;
      if (type === 'number' && schema.exclusiveMinimum !== undefined) return `number above ${schema.exclusiveMinimum}`;
      return type;
    })
    .join(' or ');
}

/** A default that is itself a table of the file is shown in the file. */
const LONGEST_DEFAULT = 200;

function rowOf(key: string, schema: Schema): string {
  const standard = schema.default === undefined ? '' : JSON.stringify(schema.default);
  const value = standard === '' ? '' : standard.length > LONGEST_DEFAULT ? 'see below' : `\`${standard}\``;
  const cells = [`\`${key}\``, typeOf(schema), value, schema.description ?? ''];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/<(?=\w)/g, '&lt;')).join(' | ')} |`;
}

function rowsOf(schema: Schema, prefix: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const key = prefix === '' ? name : `${prefix}.${name}`;
    if (inner.deprecated === true) return [rowOf(key, inner)];
    if (inner.properties !== undefined) return rowsOf(inner, key);
    const each = typeof inner.additionalProperties === 'object' ? inner.additionalProperties : undefined;
    const below = each === undefined ? rowsOf(inner.items ?? {}, `${key}[]`) : rowsOf(each, `${key}.*`);
    return [rowOf(key, inner), ...below];
  });
}

/** One row for each key that holds a value, in the order of the schema. */
export function keyTable(schema: Schema): string {
  return `| key | type | default | |\n| --- | --- | --- | --- |\n${rowsOf(schema, '').join('\n')}\n`;
}
