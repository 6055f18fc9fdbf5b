// Arithmetic of the shell: what it comes to, and whether the texts in it may hold commands (`x='a[$(cmd)]'`).

import type { ArithmeticExpression } from 'unbash';
import type { Holder, Reader } from './reader.ts';
import { join, setVariable } from './state.ts';
import { type Field, isCounted, isInteger, isList, isText, UNKNOWN, UNKNOWN_NUMBER } from './values.ts';
import { lookUp } from './variables.ts';

const NAME = /^[A-Za-z_]\w*$/;
const LITERAL = /^(0[xX][\da-fA-F]+|\d+(#[\da-zA-Z@_]+)?)$/;
/** Numbers and signs alone: no name, so nothing is looked up. */
const SIGNS = /^[\d\s+\-*/%()<>=!&|^~?:,]*$/;
const ELEMENT = /^([A-Za-z_]\w*)\[(\w+|@|\*)\]$/;
const DEEPEST = 8;

/** Looks at a text that bash evaluates as arithmetic. */
export function checkArithmeticText(text: Field, holder: Holder, reader: Reader, depth = 0): Field {
  if (!isText(text)) {
    if (!text.number)
      reader.unresolved('arithmetic on a text that is known only when it runs, which may hold commands');
    return UNKNOWN_NUMBER;
  }
  const trimmed = text.trim();
  if (trimmed === '') return '0';
  // a digit that its base does not have, or a division by nothing, ends the line
  if (/^[+-]?0\d*[89]|#/.test(trimmed) || (SIGNS.test(trimmed) && !isInteger(trimmed))) reader.mayStop(holder.shell);
  if (isInteger(trimmed)) return decimal(trimmed);
  if (LITERAL.test(trimmed) || SIGNS.test(trimmed)) return UNKNOWN_NUMBER;
  if (NAME.test(trimmed) && depth < DEEPEST) return variableNumber(trimmed, holder, reader, depth);
  const element = ELEMENT.exec(trimmed);
  if (element !== null && depth < DEEPEST) {
    checkArithmeticText(element[2] === '@' || element[2] === '*' ? '0' : (element[2] ?? ''), holder, reader, depth + 1);
    return variableNumber(element[1] ?? '', holder, reader, depth);
  }
  reader.unresolved(`arithmetic on the text "${trimmed.slice(0, 60)}", which may hold commands`);
  return UNKNOWN_NUMBER;
}

/** A leading zero makes it octal. */
function decimal(text: string): Field {
  const number = Number(text);
  return /^[+-]?0\d/.test(text) || !Number.isSafeInteger(number) ? UNKNOWN_NUMBER : String(number);
}

function variableNumber(name: string, holder: Holder, reader: Reader, depth: number): Field {
  const value = lookUp(name, holder.shell, reader.context);
  if (value === undefined || value === null) return UNKNOWN_NUMBER;
  if (isCounted(value)) {
    const vars = new Map(holder.shell.vars);
    vars.delete(name);
    // as it was before the command gave it a number: what is not set is 0
    variableNumber(name, { shell: { ...holder.shell, vars } }, reader, depth);
    return UNKNOWN_NUMBER;
  }
  if (!isList(value)) return checkArithmeticText(value, holder, reader, depth + 1);
  for (const field of value) checkArithmeticText(field, holder, reader, depth + 1);
  return UNKNOWN_NUMBER;
}

const ASSIGNING: ReadonlySet<string> = new Set('= += -= *= /= %= <<= >>= &= ^= |='.split(' '));

/** Works out an expression; what it assigns is known as a number only. */
export function evaluate(expression: ArithmeticExpression, holder: Holder, reader: Reader): Field {
  reader.step();
  switch (expression.type) {
    case 'ArithmeticGroup':
      return evaluate(expression.expression, holder, reader);
    case 'ArithmeticCommandExpansion':
      if (expression.script !== undefined) reader.runScript(expression.script, holder.shell);
      reader.unresolved('arithmetic on what a command prints, which may hold commands');
      return UNKNOWN_NUMBER;
    case 'ArithmeticWord':
      return evaluateWord(expression, holder, reader);
    case 'ArithmeticTernary':
      evaluate(expression.test, holder, reader);
      maybe(expression.consequent, holder, reader);
      maybe(expression.alternate, holder, reader);
      return UNKNOWN_NUMBER;
    case 'ArithmeticUnary': {
      const value = evaluate(expression.operand, holder, reader);
      if (expression.operator === '++' || expression.operator === '--')
        assignNumber(expression.operand, holder, reader);
      return isText(value) && expression.operator === '-' ? decimal(String(-Number(value))) : UNKNOWN_NUMBER;
    }
    case 'ArithmeticBinary': {
      const left = evaluate(expression.left, holder, reader);
      const isLogical = expression.operator === '&&' || expression.operator === '||';
      const right = isLogical ? maybe(expression.right, holder, reader) : evaluate(expression.right, holder, reader);
      if (mayFail(expression.operator, right)) reader.mayStop(holder.shell);
      if (ASSIGNING.has(expression.operator)) assignNumber(expression.left, holder, reader);
      return isText(left) && isText(right) ? compute(Number(left), expression.operator, Number(right)) : UNKNOWN_NUMBER;
    }
  }
}

/** Works out what may be passed over. */
function maybe(expression: ArithmeticExpression, holder: Holder, reader: Reader): Field {
  const before = holder.shell;
  const value = evaluate(expression, holder, reader);
  holder.shell = join(before, holder.shell) ?? before;
  return value;
}

/** Division by nothing and powers below it are mistakes. */
function mayFail(operator: string, right: Field): boolean {
  if (['/', '%', '/=', '%='].includes(operator)) return !isText(right) || Number(right) === 0;
  return operator === '**' && (!isText(right) || Number(right) < 0);
}

function compute(left: number, operator: string, right: number): Field {
  const results: Readonly<Record<string, number>> = { '+': left + right, '-': left - right, '*': left * right };
  const result = results[operator];
  return result !== undefined && Number.isSafeInteger(result) ? String(result) : UNKNOWN_NUMBER;
}

function evaluateWord(
  word: Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>,
  holder: Holder,
  reader: Reader,
): Field {
  if (word.parts === undefined) return checkArithmeticText(word.value, holder, reader);
  const text = reader.expandText(
    { type: 'Word', text: word.value, value: word.value, pos: word.pos, end: word.end, parts: word.parts },
    holder,
  );
  return checkArithmeticText(text, holder, reader);
}

function assignNumber(target: ArithmeticExpression, holder: Holder, reader: Reader): void {
  if (target.type === 'ArithmeticGroup') {
    assignNumber(target.expression, holder, reader);
    return;
  }
  if (target.type !== 'ArithmeticWord') return;
  if (NAME.test(target.value)) {
    holder.shell = setVariable(holder.shell, target.value, UNKNOWN_NUMBER);
    return;
  }
  const name = target.value.split('[')[0] ?? '';
  if (NAME.test(name)) holder.shell = setVariable(holder.shell, name, UNKNOWN);
  else reader.unresolved('arithmetic assigns to a name that is known only when it runs');
}
