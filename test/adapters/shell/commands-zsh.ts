// Commands that zsh reads otherwise than bash, with the verdict where the shell is zsh or may be.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { allow, deny, type Row, unresolved } from './rows.ts';

export const ZSH: readonly Row[] = [
  ...allow(
    'for i in {1..3}; do touch src/api/f$i.ts; done',
    'git show HEAD^ --stat; git diff HEAD~1',
    'npm test 2>&1 | tail -5; PATH="$PATH:/x" ls; echo "=ls $HOME:x"',
    'cd src/api && touch new.ts && cd - && ls',
    'echo a | read n; touch src/api/x',
    'while read -r line; do echo $line; done < notes.txt',
    'f=src/api/users.ts; sed -i "s/a/b/" $f && mv $f ${f%.ts}.js',
    'x=src/api; touch "$x/a.ts" $x/b.ts ${x}/c.ts ${x:0:3}/api/d.ts',
    'setopt no_nomatch pipefail; rm src/api/*.ts',
    'noglob touch src/api/x; nocorrect touch src/api/x; repeat 2 touch src/api/x',
    'd=(src/api/a src/api/b); rm -f "${d[@]}"',
    'if [[ "$a" == b ]]; then ls; fi',
    'BR=work; git push origin $BR:main; echo $BR:develop',
  ),
  ...deny(
    'noglob touch tests/x',
    'nocorrect touch tests/x',
    'repeat 2 touch tests/x',
    'exec -c touch tests/x',
    'noglob touch src/api/*.test.ts',
  ),
  ...unresolved(
    'd=(src/components/a src/api/b); touch "${d[1]}"',
    'd=(src/components/a src/api/b); touch "$d[1]"',
    'd=(src/api/a src/components/b); rm -f $d',
    'n=api; ls | while read l; do n=components; done; touch src/$n/x',
    'ls src/api/*(.)',
    "ls src/api/*(e:'touch tests/x':)",
    '=touch tests/x',
    "x='src/api/a tests/b'; touch $x",
    'x="src/*"; touch $x',
    'p=src/components/Button.tsx; touch $p:h/x "${p:h}/y"',
    'touch "$p:h/x"',
    'x=tests/x; touch $~x',
    'repeat 2 { touch tests/x }',
    'cd src/api; echo x >!x',
    'setopt extended_glob; ls',
    'setopt nullglob; cp src/api/users.ts tests/*.zz',
    'cd src/services && cd services components; touch z',
    'chpwd() { touch ../../tests/x; }; cd src/api',
    'alias -g X=tests/x; ls',
    'integer n=3; touch src/api/$n',
    'rm src/api/***/*.ts',
  ),
];
