// The simple commands of a text as they are written, word by word: nothing is run, and nothing is put in for a variable.

import { type CompoundList, forEachChild, parse, type Script, type SyntaxNode, type WordPart } from 'unbash';

/** `isKnown`: the shell puts nothing else in its place. */
export type WrittenWord = { readonly text: string; readonly isKnown: boolean };

const PLAIN: readonly WordPart['type'][] = ['Literal', 'SingleQuoted', 'AnsiCQuoted', 'Glob', 'ExtendedGlob'];

function isPlain(part: WordPart): boolean {
  return part.type === 'DoubleQuoted' ? part.parts.every(isPlain) : PLAIN.includes(part.type);
}

/** With the subshells around it, the outermost first: each is told by where it begins. */
type PlacedCommand = { readonly words: readonly WrittenWord[]; readonly shells: readonly number[] };

/** As `commandsIn`. */
export function placedCommandsIn(text: string): readonly PlacedCommand[] {
  const commands: PlacedCommand[] = [];
  const visit = (node: SyntaxNode | Script | CompoundList, shells: readonly number[]): void => {
    if (node.type !== 'Command') {
      const inside = node.type === 'Subshell' ? [...shells, node.pos] : shells;
      forEachChild(node, (child) => visit(child, inside));
      return;
    }
    const words = [node.name, ...node.args].filter((word) => word?.type === 'Word');
    commands.push({
      words: words.map(({ value, parts }) => ({ text: value, isKnown: parts?.every(isPlain) ?? true })),
      shells,
    });
  };
  visit(parse(text), []);
  return commands;
}

/** In their order; those in substitutions are none of them. What cannot be parsed has as many as can be told. */
export function commandsIn(text: string): readonly (readonly WrittenWord[])[] {
  return placedCommandsIn(text).map(({ words }) => words);
}
