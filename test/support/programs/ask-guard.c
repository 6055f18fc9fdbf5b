// Answers questions with the guard's own functions, one line each: `owner PATH` (the owner and pattern that decide), `path PATH`
// (the resolved path), `git ARGUMENT…` (the refusal); `-` for none. Fields stand between tabs.
// usage: ask POLICY

#define main guardMain
#include "../../../native/write-guard.c"
#undef main

int main(int count, char **arguments) {
  static char line[1 << 16];
  if (count != 2) return 2;
  readPolicy(arguments[1]);
  while (fgets(line, sizeof line, stdin)) {
    char resolved[PATH_MAX], *rest = line, *word;
    line[strcspn(line, "\n")] = 0;
    word = strsep(&rest, "\t");
    if (!rest) rest = "";
    if (!strcmp(word, "owner")) {
      const Line *rule = ruleOf(rest);
      if (rule) printf("%s\t%s\n", rule->value, rule->second);
      else puts("-");
    } else if (!strcmp(word, "path")) puts(resolve(getpid(), rest, 1, resolved) ? "-" : resolved);
    else {
      // Arguments as a process has them: a list of addresses.
      char *list[256] = {"git"}, call[4 * PATH_MAX];
      size_t length = 1, at = 0;
      const Line *row = NULL;
      while (rest && length < 255) list[length++] = strsep(&rest, "\t");
      if (gitCall(getpid(), (uint64_t)(uintptr_t)list, call, sizeof call))
        while ((row = nextLine("git", &at)) && regexec(&row->call, call, 0, NULL, 0)) continue;
      puts(row && *row->second ? row->second : "-");
    }
  }
  return 0;
}
