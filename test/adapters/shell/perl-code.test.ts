// Code of Perl that only prints and changes lines is told from all that may do more.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code of Perl

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPerlHarmless } from '../../../src/adapters/shell/perl-code.ts';

const HARMLESS: readonly string[] = [
  'print 1',
  'print "a\\n"',
  'print "$1\\n" if /x(\\d+)/',
  'print if /one/',
  'print unless /one/i;',
  's/a/b/g; tr/a-z/A-Z/',
  'print "$F[0] $F[-1]\\n"',
  'print join(",", @F), "\\n"',
  '$n += $F[1]; END { print $n / $., "\\n" }',
  '$h{$_}++; END { print "$_ $h{$_}\\n" for sort { $h{$b} <=> $h{$a} } keys %h }',
  'while (<>) { chomp; my @w = split /,/; printf "%s\\n", uc $w[0] if @w > 1 }',
  '$n{$F[0]}++; END { print "$_ $n{$_} $n{$F[-1]}" for sort keys %n }',
  'print $_ x 3, length($_) # the length\n',
  'next if $. < 3; print; last if $. == 5',
  'print "yes" if m/a/ && !/b/ or $x =~ /c/',
  's{a}{b}g; s(a) (b); s{a{2}}[$1]i; tr{a-z}{A-Z}; y(a)(b)',
  's/\\$\\{a\\}/\\${b}/g; s/a\\@b/c\\@d/',
  'print "$.: $_"',
  'print $. % 2 ? "a" : "b"; print keys %h; print (1 * 2)',
];

const OTHERS: readonly string[] = [
  'open(F, ">", "a")',
  'system("touch a")',
  'print `touch a`',
  'exec "touch a"',
  'unlink "a"',
  'qx/touch a/',
  'print "@{[system(1)]}"',
  'print "${\\ system(1)}"',
  'print "$F[system(1)]"',
  'print "$x->{a}"',
  'print "$h{$F[system(1)]}"',
  'print "$h{a}[system(1)]"',
  's/a/system(1)/e',
  'print if /(?{system(1)})/',
  'print if /$x/',
  '@ARGV = ("touch a|"); print while <>',
  'push @ARGV, "touch a|"; print <>',
  '$^I = ".bak"',
  '${"ARGV"}',
  '*{"ARGV"} = ["touch a|"]',
  '$$x = 1',
  '$x->y',
  '&x',
  "print $x'a; system(1); ' . 1",
  "join'a; system(1); '",
  "\n=for\n'\n=cut\n;system(1);#'",
  "print <<x;\n'\nx\nsystem(1) #'",
  'print <$x>',
  'print x::y',
  'use POSIX; print 1',
  'require "./a.pl"',
  'do "./a.pl"',
  'eval "1"',
  'print {open(F, ">a")} 1',
  '} / 1; system(1) /',
  'print "a',
  'print "\\N{a}"',
  'sub x { 1 }',
  'my %h = (s=>1, b=>system("touch a"), z=>2)',
  'my %h = (y=>1, b=>system("touch a"), z=>2)',
  'my %h = (tr=>1, b=>system("touch a"), z=>2)',
  's@a@\\@{[system(1)]}@',
  's{a}{system(1)}e',
  's{(a)}{$1\\{system(1)\\}}',
  's{(?\\{system(1)\\})}{b}',
  's{a}{${\\ system(1)}}',
  's{a}{@{[system(1)]}}',
  's{a}{$1[system(1)]}',
  's{a}#}\n{system(1)}e;#}',
  's{a};system(1)',
  's/a/\\\\${\\ system(1)}/',
  's/a/\\\\@{[system(1)]}/',
  's/\\\\@{[system(1)]}//',
  's[a][$1\\[system(1)\\]]',
  'print "$.[system(1)]"',
  'print "$.{system(1)}"',
  'print "$.->[system(1)]"',
  'my %h = (s{a}=>1, b=>system(1), c=>{})',
  'print -s{a};system(1);{b}',
  'print -s(a);system(1);(b)',
  'print -s/x/;system("touch a");/x/',
  '$x->s/1;BEGIN{system("touch a")}/x/',
  '$m="open"; STDERR->$m(">a")',
  '$x = "ARGV"; $x->[0] = "touch a|"; print <>',
  '$x = "ARGV"; *$x = ["touch a|"]; print <>',
  'print 1 %s/"/;/;system(1);/"/',
  'STDERR %s/"/;/;BEGIN{system(1)}/"/',
  'print < ">;system(1);#"',
  'my $x :x(");BEGIN{system(1)}#")',
  'my ($x) :x(");BEGIN{system(1)}#")',
  '__END__',
];

describe('code of Perl', () => {
  it('that only prints and changes lines is told', () => {
    assert.deepEqual(
      HARMLESS.filter((code) => !isPerlHarmless(code)),
      [],
    );
  });

  it('that may do more is not taken for it', () => {
    assert.deepEqual(OTHERS.filter(isPerlHarmless), []);
  });
});
