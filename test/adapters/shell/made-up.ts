// Shell programs made up from templates, to be run by bash and read beside it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

/** Fills each capital letter of a template from its list, until `depth` is used up. */
type Templates = Readonly<Record<string, readonly string[]>>;

const COUNTING: Templates = {
  W: [
    'a',
    '$x',
    '"$x"',
    '$(C)',
    '`D`',
    '"$(C)"',
    '"`D`"',
    '${u:-W}',
    '"${u:-W}"',
    '${x:+W}',
    '${x#W}',
    '${x%%W}',
    '${x:$(E)}',
    '${x:0:$(E)}',
    '$((1+$(E)))',
    '$((l[$(E)]))',
    '${l[$(E)]}',
    '{a,$(C)}',
    'a{W,b}',
    '<(C)',
    '"a${u:-"W"}b"',
    "'q'$(C)",
    '$"$(C)"',
    'x$(C)y',
    '${x/W/W}',
    '${x//a/W}',
    '"${x/a/$(C)}"',
    '${u:=W}',
    '~/$(C)',
    '[$(C)]',
    '${x^W}',
    '"$(C)`D`"',
    '$[1+$(E)]',
    '${l[@]/W/b}',
    '\\$x',
    '"\\$(C)"',
    '${x:-W}',
    '"$(echo "$(C)")"',
    '"${x%"$(C)"}"',
  ],
  C: [
    'T',
    'T; T',
    'T && T',
    'T || T',
    '! T',
    '(T)',
    '{ T; }',
    'if T; then T; else T; fi',
    'for i in W W; do T; done',
    'while T; do break; done',
    'case W in W) T;; *) T;; esac',
    'echo W',
    'v=W',
    'v=W T',
    'T | T',
    'T > /dev/null',
    '[[ W = a ]]',
    '[[ -n W && W < b ]]',
    'f() { T; }; f',
    'eval "T"',
    'T <<< W',
    'cat <<Q\nW\nQ\nT',
    'T 2>/dev/null',
    'l2=(W W)',
    'declare v=W',
    '(( 1 + $(E) ))',
    'for ((i=$(E); i<0; i++)); do T; done',
    'until ! T; do break; done',
    'echo W > /dev/null',
    'T # W\nT',
    'T; # x\n',
    'trap "T" EXIT',
    'cd / && T',
    'case a in a|W) T;& b) T;; esac',
    '{ T; } <<Q\n"W" $(C)\nQ\n',
    'bash -c "t(){ :; }" ; T',
    'T < <(C)',
    'time T',
    'coproc { T; }; wait $!',
    'printf %s W',
    'exec 9< <(C)',
    'set -- W W; T',
    'local_() { local v=W; T; }; local_',
    'echo "W" W',
    'cat <<\\Q\n$(T)\nQ\nT',
    'T &\nwait',
    'if ! T; then :; elif T; then T; fi',
    'select i in W; do break; done <<< ""',
    '[ W = W ]',
    'echo W{W,W}',
    'function g { T; } > /dev/null; g',
    '((x>1)) && T',
    'T;T;T',
    'a="W W" T',
    ' T \\\n | T',
  ],
};

const WRITING: Templates = {
  P: [
    'a',
    'b',
    'a/c',
    'b/c',
    '..',
    '.',
    'a/l',
    'a/l/..',
    '../b',
    'nope',
    '../a/c',
    'a/../b',
    '$d',
    '"$e"',
    '$R',
    '$R/a',
    '${d:-b}',
    '$1',
    'b/',
    '-',
  ],
  V: ['a', 'b', 'c', '..', 'a/c', '$d', '$e', '${d%/*}', '$e/..', '$PWD', '', 'a/l', '${e:-b}', 'b/c'],
  C: ['true', 'false', '[ -e a/c ]', '[ -e nope ]', 'cd P', '[ "$d" = a ]', 'test -d b/c', '(false)', '! true'],
  S: [
    'touch N',
    'touch $d/N',
    'touch "$e/N"',
    'echo > P/N',
    'cd P',
    'cd P; touch N',
    'cd P && touch N',
    'cd P || touch N',
    'd=V',
    'e=V',
    'd=V; e=$d',
    '(cd P; touch N)',
    '{ S; S; }',
    '( S; S )',
    'if C; then S; else S; fi',
    'if C; then S; fi',
    'for d in a b; do S; done',
    'for i in 1 2; do S; S; done',
    'while [ $((w++)) -lt 2 ]; do S; S; done',
    'until [ $((w++)) -gt 1 ]; do S; done',
    'C && S',
    'C || S',
    'S; S',
    'S; S; S',
    'fn() { S; S; }; fn; fn',
    'fn() { local d=V; S; }; fn; S',
    'fn() { S; return; S; }; fn',
    'fn() { C && return; S; }; fn; S',
    'fn() ( S ); fn',
    'for i in 1 2 3; do C && break; S; done; S',
    'for i in 1 2; do C && continue; S; done; S',
    'case $d in a) S;; *) S;; esac',
    'case a in a) S;& b) S;; esac',
    'eval "S"',
    'pushd P >/dev/null; S; popd >/dev/null; S',
    'pushd P >/dev/null; S',
    'popd >/dev/null; S',
    'cd - >/dev/null; S',
    'export d; bash -c "S"',
    'set -- V V; touch $1/N',
    'set -- V; S',
    'unset d; S',
    'd=V S',
    'S & wait',
    'S | S',
    '! S',
    'cd P > /dev/null; S',
    'cd P 2>/nope/x; S',
    'mkdir -p P/N',
    'rm -rf a/c; S',
    'mv a/c b/m; S',
    'ln -s ../b a/N; S',
    'ln -sfn ../b a/z; touch a/z/N',
    'mkdir -p a/n && cd a/n && touch N',
    'mkdir b/q; cd b/q; touch N',
    'C && exit; S',
    'exit; S',
    '(exit); S',
    'trap "touch N" EXIT; S',
    'trap "touch \\$d/N" EXIT; S',
    'readonly d; d=V; S',
    'local d=V; S',
    'declare d=V; S',
    'fn() { declare -g d=V; }; fn; S',
    'IFS=/; touch $d/N; unset IFS',
    'cp -r a b/N; touch b/N/c/N',
    'touch {a,b}/N',
    'touch */N',
    'touch a/*/N',
    'rm -f */f*',
    'for p in */; do touch "${p}N"; done',
    'CDPATH=b; cd c >/dev/null; touch N',
    'd+=V; S',
    'd=(V V); touch ${d[1]}/N',
    'find a -type d -exec touch {}/N \\;',
    'find b -type f -delete',
    'printf "%s\\n" $d/N | xargs touch',
    'cd P & touch N; wait',
    'read d <<< V; S',
    'printf -v d %s V; S',
    'x=d; touch ${!x}/N',
    'exec > P/N; S',
    'S > P/N',
    '{ S; } > P/N',
    'cat <<Q > P/N\n$d\nQ\nS',
    'touch N <<< x',
    'mv P/N P/N 2>/dev/null; S',
    'touch $(pwd)/N',
    'touch "$OLDPWD/N"',
    'cd; touch N',
    'HOME=$R/b; cd; touch N',
    'd=~/N; touch $d',
    'x=$((1/0)); S',
    'x=$((1 +)); S',
    'x=$((08)); S',
    'cd P; x=$((1/0)); cd P\nS',
    'd=V; y=$((1 2)); d=V\nS',
    'x=${d:0:-9}; S',
    'set -u; S',
    'set -e; S; S',
    'x=${nope:?}; S',
    'l[-5]=1; S',
    'eval "cd P; x=$((1/0)); cd P"; S',
    'fn() { d=V; y=$((1/0)); d=V; }; fn; S\nS',
    'cd P; y=${d!x}; cd P\nS',
    'cd P; kill -0 $$; S',
    'f1() { cd P; }; f1; S',
    'f2() { f1; S; }; f2 2>/dev/null; S',
    'cd P; { cd P; S; } | cat; S',
    'cd P; S; cd P',
    'd=V touch $d/N',
    'd=V; d=V S',
    'time S',
    'while cd P; do S; break; done; S',
    'if cd P; then d=V; fi; S',
    'cd P && d=V; S',
    '{ cd P && d=V; } || e=V; S',
    'until cd P; do break; done; S',
    'e=$d; d=V; touch $e/N',
    'unset e; S',
    '[[ $d = a ]] && cd P; S',
    'case $e in b) cd P;; esac; S',
    'select i in q; do cd P; break; done <<< 1 2>/dev/null; S',
    'coproc { S; }; wait; S',
    'cd P; S &\nwait; S',
  ],
};

/** The same numbers for the same seed. */
function createPick(seed: number): <T>(list: readonly T[], or: T) => T {
  let state = (seed ^ 0x2545f491) >>> 0 || 1;
  return (list, or) => {
    state ^= (state << 13) >>> 0;
    state = (state ^ (state >>> 17)) >>> 0;
    state = (state ^ (state << 5)) >>> 0;
    return list[state % list.length] ?? or;
  };
}

/** A program of which each simple command is `t` with a number of its own. */
export function countingProgram(seed: number): string {
  const pick = createPick(seed);
  let count = 0;
  const next = () => {
    count += 1;
    return `t ${count}`;
  };
  const fill = (template: string, depth: number): string =>
    template.replace(/\b[WCDET]\b/g, (letter) => {
      if (letter === 'T' || (letter !== 'E' && letter !== 'W' && depth <= 0)) return next();
      if (letter === 'E') return `${next()}; echo 0`;
      if (depth <= 0) return 'a';
      if (letter !== 'D') return fill(pick(COUNTING[letter] ?? [], 'a'), depth - 1);
      // between backquotes other signs would need more backslashes
      const inner = fill(pick(COUNTING.C ?? [], 'T'), 0);
      return /[`\\\n$]/.test(inner) ? next() : inner;
    });
  return [0, 1].map(() => fill(pick(COUNTING.C ?? [], 'T'), 3)).join('\n');
}

/** A program that goes to directories, sets variables, and writes files with names of their own. */
export function writingProgram(seed: number): string {
  const pick = createPick(seed);
  let count = 0;
  const fill = (template: string, depth: number): string =>
    template.replace(/\b[SCPVN]\b/g, (letter) => {
      if (letter === 'N') {
        count += 1;
        return `f${count}`;
      }
      if (letter === 'S' && depth <= 0) return fill(pick(['touch N', 'touch $d/N', 'touch ./N'], 'touch N'), 0);
      return fill(pick(WRITING[letter] ?? [], 'a'), depth - 1);
    });
  return [0, 1, 2].map(() => fill(pick(WRITING.S ?? [], 'S'), 2)).join('\n');
}
