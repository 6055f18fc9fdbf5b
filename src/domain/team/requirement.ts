// What a text asks for, line by line: a feature's words, an issue or a whole SPEC.

export type Requirement = {
  /** As it stands in the text, without the mark of the list; lines that continue it are joined by a space. */
  readonly text: string;
  readonly kind: 'requirement' | 'acceptance';
};

export type Asked = {
  /** What stands before the first requirement: the title, and what it says of the whole. */
  readonly title: string;
  /** Empty: the title is all there is. */
  readonly requirements: readonly Requirement[];
};

const ITEM = /^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$/;
const EARS = /\b(?:shall|must)\b/i;
/** An id of a scenario, with what it proves: `A1 (R2):`. */
const SCENARIO_ID = /^A\d+\s*\([^)]*\)\s*:/;
const SCENARIO = /^\s*(?:given|when|then|scenario)\b/i;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*)$/;
const LEFT_OUT = /\b(?:out of scope|non-?goals?|not in scope|references|changelog|history)\b/i;

type Lines = { readonly lines: readonly string[]; readonly hasFront: boolean };

function withoutFrontMatter(text: string): Lines {
  const lines = text.split(/\r\n?|\n/);
  if (lines[0]?.trim() !== '---') return { lines, hasFront: false };
  const end = lines.findIndex((line, index) => index > 0 && line.trim() === '---');
  return end === -1 ? { lines, hasFront: false } : { lines: lines.slice(end + 1), hasFront: true };
}

/** Takes a text apart. Code fences and sections on what is out of scope ask for nothing. */
export function readAsked(text: string): Asked {
  const title: string[] = [];
  const requirements: { text: string; kind: Requirement['kind'] }[] = [];
  let section: 'plain' | 'acceptance' | 'left out' = 'plain';
  let isFenced = false;
  let open: { text: string } | undefined;
  const { lines, hasFront } = withoutFrontMatter(text);
  for (const line of lines) {
    if (/^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    if (isFenced || /^\s*(?:```|~~~)/.test(line)) continue;
    const [, level = '', heading] = HEADING.exec(line) ?? [];
    const item = ITEM.exec(line)?.[1]?.trim();
    const plain = line.trim();
    if (plain === '' || heading !== undefined) open = undefined;
    if (heading !== undefined && hasFront && level === '#' && title.length + requirements.length === 0) {
      // A document's own title names no section, whatever its words are.
      title.push(heading.trim());
    } else if (heading !== undefined) {
      section = LEFT_OUT.test(heading) ? 'left out' : /accept/i.test(heading) ? 'acceptance' : 'plain';
      if (requirements.length === 0 && section === 'plain') title.push(heading.trim());
    } else if (plain !== '' && section !== 'left out') {
      const isScenario = SCENARIO.test(item ?? plain) && /\bthen\b/i.test(item ?? plain);
      const isRequirement =
        item !== undefined || (requirements.length > 0 ? EARS.test(plain) : section === 'acceptance');
      if (item === undefined && open !== undefined && /^\s/.test(line)) open.text += ` ${plain}`;
      else if (isRequirement || (isScenario && section === 'acceptance')) {
        const added: { text: string; kind: Requirement['kind'] } = {
          text: item ?? plain,
          kind: section === 'acceptance' || isScenario || SCENARIO_ID.test(item ?? '') ? 'acceptance' : 'requirement',
        };
        requirements.push(added);
        open = added;
      } else title.push(plain);
    }
  }
  return { title: title.join('\n'), requirements };
}
