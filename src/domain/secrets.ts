// Secrets in text: the forms that tokens are known to have, and values that look random under names that speak of secrets.

type Form = { readonly name: string; readonly pattern: RegExp };

/** Only forms that nothing else has: a prefix of its own and a length. */
const FORMS: readonly Form[] = [
  { name: 'a private key', pattern: /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?!["'`])/ },
  { name: 'an AWS access key', pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/ },
  { name: 'a GitHub token', pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})/ },
  { name: 'a GitLab token', pattern: /\bglpat-[\w-]{20,}/ },
  { name: 'a Slack token', pattern: /\bxox[abeoprs]-[0-9A-Za-z-]{20,}/ },
  { name: 'a Slack webhook', pattern: /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{20,}/ },
  { name: 'a Stripe key', pattern: /\b(?:sk|rk)_live_[0-9A-Za-z]{20,}/ },
  { name: 'a Google API key', pattern: /\bAIza[\w-]{35}(?![\w-])/ },
  { name: 'a Google client secret', pattern: /\bGOCSPX-[\w-]{28}/ },
  { name: 'an npm token', pattern: /\bnpm_[A-Za-z0-9]{36}\b/ },
  { name: 'a PyPI token', pattern: /\bpypi-AgEI[\w-]{50,}/ },
  { name: 'an Anthropic key', pattern: /\bsk-ant-[\w-]{20,}/ },
  { name: 'an OpenAI key', pattern: /\bsk-(?:proj|svcacct|admin)-[\w-]{40,}|\bsk-[A-Za-z0-9]{48}\b/ },
  { name: 'a Hugging Face token', pattern: /\bhf_[A-Za-z0-9]{34}\b/ },
  { name: 'a SendGrid key', pattern: /\bSG\.[\w-]{22}\.[\w-]{43}/ },
  { name: 'a DigitalOcean token', pattern: /\bdo[opr]_v1_[0-9a-f]{64}\b/ },
  { name: 'an Azure storage key', pattern: /AccountKey=[A-Za-z0-9+/]{86}==/ },
  { name: 'a JSON web token', pattern: /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/ },
];

const SECRET_NAME = '(?:secret|token|passw(?:or)?d|passphrase|api_?-?key|private_?-?key|access_?-?key|credential)s?';
/** `name = "value"`, `name: value`, `"name": "value"`, `name := 'value'`, `NAME=value`. */
const ASSIGNMENT = new RegExp(
  `${SECRET_NAME}[\\w.-]{0,60}["'\`]?\\]?\\s{0,40}(?::\\s{0,10}[\\w<>|]{1,60}\\s{0,10}=|:=|=>?|:)\\s*(?:"([^"]+)"|'([^']+)'|\`([^\`]+)\`|([\\w+/=-]{1,400})\\s{0,40}$)`,
  'gi',
);
const PASSWORD_IN_URL = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@"'`]{1,100}:([^\s:/@"'`]{3,200})@([^\s/:"'`]{1,200})/gi;

const LEAST_LENGTH = 16;
/** Bits for each character: words of a language have less, random letters and digits of this length more. */
const LEAST_ENTROPY = 3.5;
/** What stands for a secret and is none. */
const PLACEHOLDER =
  /example|sample|dummy|placeholder|change.?me|replace|redacted|your[_-]|fake|0123456789|1234567890|abcdefgh|\bxxx|\.\.\.|\*\*\*|<[^>]*>|\$\{|\$\(|\{\{|%\(|process\.env|environ|getenv|secrets\./i;

/** Shannon's, of the characters of a text, in bits for each. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce((sum, times) => {
    const share = times / text.length;
    return sum - share * Math.log2(share);
  }, 0);
}

/** `test`, `Key2`, `API`, `apiKey`, `2024`: letters as words have them, with a short number behind them, or a short number alone. */
const WORD = /^(?:(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+){0,3}|[A-Z]+)\d{0,4}|\d{1,6})$/;
const UNSPOKEN = /[bcdfghjklmnpqrstvwxz]{6}/i;

/** Words and numbers that are joined, as in `test-password-123`: people make these up, and no generator. */
function isOfWords(value: string): boolean {
  const parts = value.split(/[-_.:]+/).filter((part) => part !== '');
  return parts.length > 1 && parts.every((part) => WORD.test(part) && !UNSPOKEN.test(part));
}

function looksRandom(value: string): boolean {
  if (value.length < LEAST_LENGTH || /\s/.test(value) || PLACEHOLDER.test(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  // A path, a name of the cloud's, a call.
  if (/^(?:\.{0,2}\/|https?:|arn:)|\(/i.test(value) || isOfWords(value)) return false;
  return entropyOf(value) >= LEAST_ENTROPY;
}

/** Hosts of a developer's own machine, and those that are kept for examples. */
/** Or that of a container beside it, which has no dot. */
const NO_HOST = /^[\w-]+$|^(?:127\.[\d.]+|0\.0\.0\.0)$|^\[|\b(?:example|test|invalid)\b/i;

/** A secret that is added, `kind` in words with an article. */
export type HeldSecret = {
  /** Short; null: it is there between two trees. */
  readonly commit: string | null;
  readonly path: string;
  readonly line: number;
  readonly kind: string;
};

export type Secret = {
  /** In words, with an article. */
  readonly kind: string;
  readonly value: string;
  /** Its form is no secret's own: only its name, and that it looks random, speak for one. */
  readonly isGuess: boolean;
};

/** The secrets in one line. Values are for comparing alone: they are shown nowhere. */
export function secretsIn(line: string): readonly Secret[] {
  const known = FORMS.flatMap(({ name, pattern }) => {
    const [value] = pattern.exec(line) ?? [];
    return value === undefined || /EXAMPLE/.test(value) ? [] : [{ kind: name, value, isGuess: false }];
  });
  if (known.length > 0) return known;
  const urls = [...line.matchAll(PASSWORD_IN_URL)].flatMap(([, password = '', host = '']) =>
    PLACEHOLDER.test(password) || /^(?:pass(?:word)?|secret|\$.*)$/i.test(password) || NO_HOST.test(host)
      ? []
      : [{ kind: 'a password in a URL', value: password, isGuess: false }],
  );
  const assigned = [...line.matchAll(ASSIGNMENT)].flatMap(([, double, single, raw, bare]) => {
    const value = double ?? single ?? raw ?? bare ?? '';
    // Without quotes it may be a name of the code.
    const isValue = bare === undefined || (bare.match(/\d/g) ?? []).length >= 3;
    return isValue && looksRandom(value)
      ? [{ kind: 'a value that looks random under the name of a secret', value, isGuess: true }]
      : [];
  });
  return [...urls, ...assigned];
}
