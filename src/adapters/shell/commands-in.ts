// The simple commands of a text as they are written, word by word: nothing is run, and nothing is put in for a variable.

import { type CompoundList, forEachChild, parse, type Script, type SyntaxNode, type WordPart } from 'unbash';

/** `isKnown`: the shell puts nothing else in its place. */
export type WrittenWord = { readonly text: string; readonly isKnown: boolean };

const PLAIN: readonly WordPart['type'][] = ['Literal', 'SingleQuoted', 'AnsiCQuoted', 'Glob', 'ExtendedGlob'];

function isPlain(part: WordPart): boolean {
  return part.type === 'DoubleQuoted' ? part.parts.every(isPlain) : PLAIN.includes(part.type);
}

/** In their order; those in substitutions are none of them. What cannot be parsed has as many as can be told. */
export function commandsIn(text: string): readonly (readonly WrittenWord[])[] {
  const commands: (readonly WrittenWord[])[] = [];
  const visit = (node: SyntaxNode | Script | CompoundList): void => {
    if (node.type !== 'Command') {
      forEachChild(node, visit);
      return;
    }
    const words = [node.name, ...node.args].filter((word) => word?.type === 'Word');
    commands.push(words.map(({ value, parts }) => ({ text: value, isKnown: parts?.every(isPlain) ?? true })));
  };
  visit(parse(text));
  return commands;
}
