// `[[ … ]]`: what its words run while they are expanded.

import type { TestExpression } from 'unbash';
import { checkArithmeticText } from './arithmetic.ts';
import type { Holder, Reader } from './reader.ts';
import { join } from './state.ts';
import { isText } from './values.ts';

const ARITHMETIC: ReadonlySet<string> = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

export function runTest(expression: TestExpression, holder: Holder, reader: Reader): void {
  reader.step();
  switch (expression.type) {
    case 'TestUnary': {
      const text = reader.expandText(expression.operand, holder);
      if (expression.operator === '-v' || expression.operator === '-R') checkVariableName(text, reader);
      return;
    }
    case 'TestBinary': {
      const texts = [expression.left, expression.right].map((word) => reader.expandText(word, holder));
      if (ARITHMETIC.has(expression.operator)) for (const text of texts) checkArithmeticText(text, holder, reader);
      return;
    }
    case 'TestLogical':
      // the later ones may be passed over
      for (const operand of expression.operands) {
        const before = holder.shell;
        runTest(operand, holder, reader);
        holder.shell = join(before, holder.shell) ?? before;
      }
      return;
    case 'TestNot':
      runTest(expression.operand, holder, reader);
      return;
    case 'TestGroup':
      runTest(expression.expression, holder, reader);
      return;
  }
}

/** A name with a subscript is evaluated, and may run commands. */
export function checkVariableName(text: Parameters<typeof isText>[0], reader: Reader): void {
  if (isText(text) && /^\w*(\[(\d+|@|\*)\])?$/.test(text)) return;
  reader.unresolved('a variable is named by a text that may hold commands');
}
