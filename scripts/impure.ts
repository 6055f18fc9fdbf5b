// Finds what rules may not contain: input and output, the clock, chance, the environment, and anything that takes time.

import ts from 'typescript';

/** Globals through which a function reaches outside of its arguments. */
const GLOBALS = new Set([
  ...['process', 'console', 'performance', 'fetch', 'globalThis', 'crypto', 'WebSocket'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'Promise'],
]);
const MEMBERS = new Set(['Date.now', 'Math.random']);

/** A name that is used as a value: no property, no type, no name of its own. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isTypeNode(parent) || ts.isQualifiedName(parent)) return false;
  return (
    ts.isExpression(parent) || ts.isStatement(parent) || (ts.isVariableDeclaration(parent) && parent.name !== node)
  );
}

/** @returns each with its line, such as `12: Date.now` */
export function impure(file: string, text: string): readonly string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const name = (node: ts.Node, what: string) => {
    found.push(`${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}: ${what}`);
  };
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.AsyncKeyword) name(node, 'async');
    else if (ts.isAwaitExpression(node)) name(node, 'await');
    else if (ts.isNewExpression(node) && node.expression.getText(source) === 'Date' && !node.arguments?.length)
      name(node, 'new Date()');
    else if (ts.isPropertyAccessExpression(node) && MEMBERS.has(node.getText(source))) name(node, node.getText(source));
    else if (ts.isIdentifier(node) && GLOBALS.has(node.text) && isUse(node)) name(node, node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}
