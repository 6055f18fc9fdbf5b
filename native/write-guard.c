// write-guard: runs a command and lets it change only the project files that its policy allows.
//
//   write-guard POLICY LOG -- COMMAND…   run the command, and end as it ends; exit code 125: the guard cannot start
//
// The kernel (seccomp user notification) holds each system call that would write a path. The supervisor resolves the path,
// applies the policy and answers "continue" or EACCES. Reads are not held. Beside the command there are two processes:
// - the launcher forwards signals and returns the exit status;
// - the supervisor answers the kernel. It is ancestor and subreaper of everything that it watches, and outlives the command
//   while a child of it lives. If it dies, the kernel fails every call that it would have held.
// Limit: a process can change a path between the check and the call. This stops programs that err, not programs that attack.

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Older headers lack these. A kernel that lacks a flag answers EINVAL, and the guard does without it.
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_ABI 0x40000000u // the x32 bit in a call's number
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_ABI 0u
#endif // no other is supported

enum { CANNOT_START = 125, CLOSE_RANGE = 436 }; // the call of Linux 5.9

// ---------------------------------------------------------------- text and globs

// Prints a refusal or failure: its message and code are in src/guard/rules/guard-line-codes.ts.
#define TELL(line, ...) fprintf(stderr, "toolcrew: " line "\n", __VA_ARGS__)
#define FAIL(line, ...) (TELL(line, __VA_ARGS__), exit(CANNOT_START))

static void *needed(void *memory) {
  if (!memory) FAIL("%s: %s (guard_call_failed)", "malloc", strerror(ENOMEM));
  return memory;
}

static int compare(const void *one, const void *other) { return strcmp(one, other); }

// A set of texts is a tree of <search.h>. Returns 0 if the text was there already.
static int insert(void **set, const char *text) {
  return !tfind(text, set, compare) && needed(tsearch(needed(strdup(text)), set, compare));
}

static int isBelow(const char *path, const char *directory) {
  size_t length = strlen(directory);
  return !strncmp(path, directory, length) && (path[length] == 0 || path[length] == '/');
}

// Returns 0 if the result does not fit into PATH_MAX.
static int join(char *out, const char *head, const char *separator, const char *tail) {
  return strlen(head) + strlen(separator) + strlen(tail) < PATH_MAX && stpcpy(stpcpy(stpcpy(out, head), separator), tail);
}

// The first segment of a path. Returns what follows its slash, or NULL after the last segment.
static const char *segmentOf(const char *path, char segment[NAME_MAX + 1]) {
  size_t length = strcspn(path, "/");
  snprintf(segment, NAME_MAX + 1, "%.*s", (int)length, path);
  return path[length] ? path + length + 1 : NULL;
}

// ** stands for any number of segments; fnmatch reads *, ? and [] within one. They match leading dots too.
static int matches(const char *pattern, const char *path) {
  char wanted[NAME_MAX + 1], name[NAME_MAX + 1];
  while (pattern) {
    const char *rest = segmentOf(pattern, wanted);
    if (!strcmp(wanted, "**")) {
      int found = !rest;
      for (; path && !found; path = segmentOf(path, name)) found = matches(rest, path);
      return found;
    }
    if (!path) return 0;
    path = segmentOf(path, name);
    if (fnmatch(wanted, name, 0)) return 0;
    pattern = rest;
  }
  return !path;
}

// ---------------------------------------------------------------- policy

// One line of the policy is a word and its value, separated by tabs. Paths start at the root of the project unless absolute.
//   root DIR          the project
//   member NAME       the caller; without it, no project file is writable
//   own OWNER GLOB    ownership; the first match decides
//   leases DIR        one file per lease, read at every decision (see `holderOf`)
//   claim yes         the first write to an unowned path takes a lease
//   allow PATH        always writable; outranks keep
//   keep PATH         never writable
//   elsewhere WHO DIR never writable (absolute), such as other worktrees of the project
//   git-dir DIR       writable by git alone, except its hooks (absolute)
//   git-tree DIR      git itself may write here: a worktree of the caller's own (absolute)
//   git-program DIR   directory of git's own programs (absolute)
//   ending TEXT       ending of a tracked file, or its whole name if it has none
//   git REGEX ADVICE  a call of git: the first match decides; it refuses if it has advice
typedef struct {
  char *word, *value, *second;
  regex_t call;
} Line;

static Line *lines;
static size_t lineCount;
static char root[PATH_MAX];
static const char *member = "", *leaseDirectory = "";

static void addLine(char *text) {
  static const char *const WORDS[] = {"root",      "member",  "own",      "leases",      "claim",  "allow", "keep",
                                      "elsewhere", "git-dir", "git-tree", "git-program", "ending", "git"};
  lines = needed(realloc(lines, (lineCount + 1) * sizeof *lines));
  Line *line = &lines[lineCount++];
  *line = (Line){.word = strsep(&text, "\t"), .value = strsep(&text, "\t"), .second = text};
  size_t i = 0;
  while (i < sizeof WORDS / sizeof *WORDS && strcmp(line->word, WORDS[i])) i++;
  int isPair = !strcmp(line->word, "own") || !strcmp(line->word, "git") || !strcmp(line->word, "elsewhere");
  if (i == sizeof WORDS / sizeof *WORDS || !line->value || isPair != !!line->second)
    FAIL("%s: expected %s (guard_policy_invalid)", line->word, "a line of a policy");
  if (!strcmp(line->word, "root") && !realpath(line->value, root))
    FAIL("%s: %s (guard_file_unusable)", line->value, strerror(errno));
  if (!strcmp(line->word, "member")) member = line->value;
  if (!strcmp(line->word, "leases")) leaseDirectory = line->value;
  if (!strcmp(line->word, "git") && regcomp(&line->call, line->value, REG_EXTENDED | REG_NOSUB))
    FAIL("%s: expected %s (guard_policy_invalid)", line->value, "a regular expression");
}

static void readPolicy(const char *file) {
  FILE *input = fopen(file, "re");
  if (!input) FAIL("%s: %s (guard_file_unusable)", file, strerror(errno));
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, input) > 0) {
    line[strcspn(line, "\n")] = 0;
    addLine(needed(strdup(line)));
  }
  free(line);
  fclose(input);
  if (!*root) FAIL("%s: expected %s (guard_policy_invalid)", file, "a line with the root");
}

// The next line with that word, from *at on; NULL: no more.
static const Line *nextLine(const char *word, size_t *at) {
  while (*at < lineCount)
    if (!strcmp(lines[(*at)++].word, word)) return &lines[*at - 1];
  return NULL;
}

// The first line with that word whose directory holds the path.
static const Line *lineAbove(const char *word, const char *path) {
  const Line *line;
  for (size_t at = 0; (line = nextLine(word, &at));)
    if (isBelow(path, line->value)) return line;
  return NULL;
}

static const Line *ruleOf(const char *path) {
  const Line *line;
  for (size_t at = 0; (line = nextLine("own", &at));)
    if (matches(line->second, path)) return line;
  return NULL;
}

// ---------------------------------------------------------------- log

static int logFile = -1;
static void *logged, *temporaries;

// Appends one line, unless it is there already. Tabs separate the fields; control characters become \xNN.
static void note(const char *word, const char *path, const char *owner, const char *pattern) {
  const char *fields[] = {word, path, owner, pattern};
  char line[PATH_MAX * 2];
  size_t at = 0;
  for (int i = 0; i < 4 && fields[i]; i++) {
    if (i > 0) line[at++] = '\t';
    for (const char *c = fields[i]; *c && at < sizeof line - 8; c++)
      if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\\') at += (size_t)sprintf(line + at, "\\x%02x", *c);
      else line[at++] = *c;
  }
  line[at] = 0;
  if (!insert(&logged, line)) return;
  line[at++] = '\n';
  if (write(logFile, line, at) < 0) return; // a full disk: the comparison of trees tells the rest
}

// ---------------------------------------------------------------- ignored directories and leases

static int git = -1; // a socket to `git check-ignore`, or -1

static void startGit(void) {
  int pair[2];
  close(git);
  git = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return;
  if (fork() == 0) {
    int null = open("/dev/null", O_RDWR);
    // TOOL_GIT_READER: whoever finds a lock of git does not take this process for its holder (src/git/stale-lock.ts).
    int isReady = dup2(pair[1], 0) == 0 && dup2(pair[1], 1) == 1 && dup2(null, 2) == 2 && !chdir(root);
    if (isReady && !setenv("GIT_FLUSH", "1", 1) && !setenv("TOOL_GIT_READER", "1", 1))
      execlp("git", "git", "-c", "core.fsmonitor=", "check-ignore", "--stdin", "-z", "-v", "--non-matching", (char *)NULL);
    _exit(127);
  }
  close(pair[1]);
  git = pair[0];
  setsockopt(git, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){10, 0}, sizeof(struct timeval));
}

// Asks git whether it ignores a directory (with a slash at its end). Answers are used for some seconds: git keeps what it has read.
static int asksGit(const char *directory) {
  static void *known, *ignored;
  static time_t since;
  if (time(NULL) > since + 5 || time(NULL) < since) {
    tdestroy(known, free), tdestroy(ignored, free);
    known = ignored = NULL;
    startGit();
    since = time(NULL);
  }
  if (!insert(&known, directory)) return tfind(directory, &ignored, compare) != NULL;
  // The answer has four fields, each with a zero at its end: file, line, pattern, path. No pattern, or one with !: not ignored.
  char text[PATH_MAX], last = 0;
  int field = 0, yes = 0;
  for (ssize_t got = write(git, directory, strlen(directory) + 1); field < 4 && got > 0;)
    for (ssize_t i = 0, end = got = read(git, text, sizeof text); i < end; last = text[i++]) {
      if (field == 2 && !last && text[i] && text[i] != '!') yes = 1;
      field += !text[i];
    }
  if (field < 4) startGit(); // It ends at a path in a submodule.
  return yes && insert(&ignored, directory);
}

// Whether a path is an ignored directory, or lies in one.
static int isIgnored(const char *path) {
  char directory[PATH_MAX];
  for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
    snprintf(directory, sizeof directory, "%.*s/", (int)(slash - path), path);
    if (asksGit(directory)) return 1;
  }
  return join(directory, path, "/", "") && asksGit(directory);
}

static void leaseFile(const char *path, char *out) {
  char name[32];
  uint64_t hash = 1469598103934665603ull; // FNV-1a
  for (const char *c = path; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
  snprintf(name, sizeof name, "%016llx", (unsigned long long)hash);
  if (!*leaseDirectory || !join(out, leaseDirectory, "/", name)) *out = 0;
}

// Writes the holder's name; returns 0 if nobody holds the path. A lease file has the holder, the path and the second at which
// the lease ends (0: with the holder's task), one per line.
static int holderOf(const char *path, char holder[256]) {
  char file[PATH_MAX];
  long long until = 0;
  leaseFile(path, file);
  FILE *lease = *file ? fopen(file, "re") : NULL;
  if (!lease) return 0;
  int found = fscanf(lease, "%255[^\n]\n%*[^\n]\n%lld", holder, &until) > 0;
  fclose(lease);
  return found && (until == 0 || until > (long long)time(NULL));
}

// Takes a free lease. Of several callers, one makes the file.
static int takeLease(const char *path) {
  char file[PATH_MAX];
  leaseFile(path, file);
  int fd = *file ? open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
  int taken = fd >= 0 && dprintf(fd, "%s\n%s\n0\n", member, path) > 0;
  if (fd >= 0) close(fd);
  return taken;
}

// ---------------------------------------------------------------- decisions

enum Kind { WRITE, CREATE, REMOVE, DIRECTORY, METADATA };

static int refuse(const char *path, const char *owner, const char *pattern) {
  note("refused", path, owner, pattern);
  return EACCES;
}

static int wrote(const char *path) {
  note("wrote", path, NULL, NULL);
  return 0;
}

// A new name with an ending that no tracked file has. It may exist for a while; what is left of it is removed at the end.
static int isTemporary(const char *path, const char *absolute) {
  struct stat stat;
  const char *name = basename(path), *dot = strrchr(name, '.'), *ending = dot && dot != name ? dot + 1 : name;
  const Line *line;
  size_t at = 0, count = 0;
  while ((line = nextLine("ending", &at)) && strcmp(line->value, ending)) count++;
  return !line && count > 0 && lstat(absolute, &stat) < 0;
}

static int isGit(pid_t pid) {
  char link[64], program[PATH_MAX] = "";
  snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
  if (readlink(link, program, sizeof program - 1) <= 0) return 0;
  return lineAbove("git-program", program) || !strcmp(basename(program), "git") || !strncmp(basename(program), "git-", 4);
}

// Decides about a path of the project. Returns 0, or the error for the call.
static int judgeProject(const char *path, const char *absolute, enum Kind kind) {
  char holder[256];
  const Line *kept = lineAbove("keep", path);
  if (lineAbove("allow", path)) return 0;
  if (kept) return refuse(path, "toolcrew", kept->value);
  // A directory has no content of its own.
  struct stat stat;
  if (kind == METADATA && lstat(absolute, &stat) == 0 && S_ISDIR(stat.st_mode)) kind = DIRECTORY;
  if (kind == DIRECTORY || tfind(path, &temporaries, compare)) return 0;
  const Line *rule = ruleOf(path);
  // A pattern such as **/*.spec.* does not mean files in node_modules.
  int isLiteral = rule && strcspn(rule->second, "*?[") > 0 && strcmp(rule->value, "shared") != 0;
  if (!isLiteral && isIgnored(path)) return 0;
  if (rule && !strcmp(rule->value, member)) return wrote(path);
  int isHeld = holderOf(path, holder);
  if (isHeld && !strcmp(holder, member)) return wrote(path);
  if (isHeld) return refuse(path, holder, "lease");
  if (rule && kind == CREATE && isTemporary(path, absolute)) {
    insert(&temporaries, path);
    note("temporary", path, NULL, NULL);
    return 0;
  }
  size_t at = 0;
  if (rule) return refuse(path, rule->value, rule->second);
  if (nextLine("claim", &at) && *member && takeLease(path)) {
    note("lease", path, NULL, NULL);
    return wrote(path);
  }
  return holderOf(path, holder) ? refuse(path, holder, "lease") : refuse(path, "", "");
}

// `absolute` has no links before its last part.
static int judge(pid_t pid, const char *absolute, enum Kind kind) {
  if (lineAbove("git-tree", absolute) && isGit(pid)) return 0;
  const Line *line = lineAbove("git-dir", absolute);
  const char *inside = line ? absolute + strlen(line->value) : NULL;
  if (line) return isGit(pid) && !isBelow(inside, "/hooks") ? 0 : refuse(absolute, "git", inside);
  for (size_t at = 0; (line = nextLine("elsewhere", &at));)
    if (isBelow(absolute, line->second) && !(isBelow(absolute, root) && isBelow(root, line->second)))
      return refuse(absolute, line->value, "");
  if (!isBelow(absolute, root) || !absolute[strlen(root)]) return 0;
  return judgeProject(absolute + strlen(root) + 1, absolute, kind);
}

// A renamed directory takes everything below it along. If it cannot be read, the call itself fails.
static int judgeTree(pid_t pid, const char *from, const char *to, int depth) {
  struct stat stat;
  if (lstat(from, &stat) < 0) return 0;
  int isDirectory = S_ISDIR(stat.st_mode);
  int error = judge(pid, from, isDirectory ? DIRECTORY : REMOVE);
  if (!error) error = judge(pid, to, isDirectory ? DIRECTORY : CREATE);
  DIR *directory = !isDirectory || error ? NULL : opendir(from);
  for (struct dirent *entry; directory && !error && (entry = readdir(directory));) {
    char below[PATH_MAX], there[PATH_MAX];
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    int fits = depth < 64 && join(below, from, "/", entry->d_name) && join(there, to, "/", entry->d_name);
    error = fits ? judgeTree(pid, below, there, depth + 1) : EACCES;
  }
  if (directory) closedir(directory);
  return error;
}

// ---------------------------------------------------------------- paths of another process

static int readBytes(pid_t pid, uint64_t address, void *out, size_t size) {
  struct iovec here = {out, size}, there = {(void *)(uintptr_t)address, size};
  ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  return got == (ssize_t)size ? 0 : got < 0 ? errno : EFAULT;
}

// Reads a string page by page: the page behind its end may not exist. Returns 0, or the kernel's error.
static int readText(pid_t pid, uint64_t address, char *out, size_t size) {
  for (size_t done = 0; done < size;) {
    size_t part = 4096 - ((address + done) & 4095);
    if (part > size - done) part = size - done;
    int error = readBytes(pid, address + done, out + done, part);
    if (error) return error;
    if (memchr(out + done, 0, part)) return 0;
    done += part;
  }
  return ENAMETOOLONG;
}

// Resolves the links of an absolute path for that process: `self` in /proc is the process.
// @param follow whether to follow a link in the last part
// @returns 0 and the path in `out`; another value: the call fails by itself
static int resolve(pid_t pid, const char *path, int follow, char *out) {
  char text[PATH_MAX], target[PATH_MAX], self[64];
  if (!join(text, path, "", "")) return ENAMETOOLONG;
  snprintf(self, sizeof self, "/proc/%d", (int)pid);
  for (int links = 0; links < 40; links++) {
    size_t length = strlen(text);
    for (; length > 1 && text[length - 1] == '/'; follow = 1) text[--length] = 0;
    if (isBelow(text, "/dev/fd") && join(target, "/proc/self/fd", "", text + 7)) strcpy(text, target);
    if (isBelow(text, "/proc/self") && join(target, self, "", text + strlen("/proc/self"))) strcpy(text, target);
    char *name = strrchr(text, '/') + 1;
    if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) return realpath(text, out) ? 0 : errno;
    name[-1] = 0;
    if (!realpath(*text ? text : "/", out)) return errno;
    if (!join(target, out, out[1] ? "/" : "", name)) return ENAMETOOLONG;
    strcpy(out, target);
    ssize_t read = follow ? readlink(out, target, sizeof target - 1) : -1;
    if (read < 0) return 0;
    target[read] = 0;
    // A relative link begins in its directory; so does the name of a pipe or a socket, which then is no project file.
    name = strrchr(out, '/');
    *name = 0;
    if (!join(text, target[0] == '/' ? "" : out, target[0] == '/' ? "" : "/", target)) return ENAMETOOLONG;
  }
  return ELOOP;
}

// Writes the resolved path that a call names. Returns 0 if there is none; `error` is then what the call gets.
static int pathOf(pid_t pid, int directory, uint64_t address, int follow, char *out, int *error) {
  char text[PATH_MAX], link[64], path[PATH_MAX], base[PATH_MAX] = "";
  int failure = readText(pid, address, text, sizeof text);
  // A process that cannot be read (it is not dumpable) cannot write: its paths are unknown.
  int isUnknown = failure == EPERM || failure == ESRCH;
  *error = isUnknown ? refuse("a path that the guard cannot read", "nobody", "") : 0;
  // An empty path means an open file, or a socket without a file.
  if (failure || !*text) return 0;
  if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
  else snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, directory);
  if (text[0] != '/' && readlink(link, base, sizeof base - 1) < 0) return 0;
  return join(path, base, text[0] == '/' ? "" : "/", text) && !resolve(pid, path, follow, out);
}

// ---------------------------------------------------------------- git over the whole tree

#define GIT_SEPARATOR "\x1f"

// Writes git's subcommand and what follows it, each argument behind GIT_SEPARATOR. Returns 0 if there is no subcommand.
static int gitCall(pid_t pid, uint64_t list, char *out, size_t size) {
  static const char *const WITH_VALUE[] = {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"};
  char text[PATH_MAX];
  size_t length = 0;
  int skips = 1;
  *out = 0;
  for (uint64_t address; !readBytes(pid, list, &address, sizeof address) && address; list += sizeof address) {
    if (readText(pid, address, text, sizeof text)) *text = 0;
    if (skips > 0) {
      skips--;
      continue;
    }
    if (!length && text[0] == '-') {
      for (size_t i = 0; i < sizeof WITH_VALUE / sizeof *WITH_VALUE; i++) skips += !strcmp(text, WITH_VALUE[i]);
      continue;
    }
    length += (size_t)snprintf(out + length, size - length, "%s%s", length ? GIT_SEPARATOR : "", text);
    if (length >= size) return 1; // What does not fit is left out.
  }
  return length > 0;
}

static int judgeExec(pid_t pid, uint64_t program, uint64_t list) {
  char call[4 * PATH_MAX];
  // Git starts itself for parts of its work.
  if (readText(pid, program, call, PATH_MAX) || strcmp(basename(call), "git") || isGit(pid)) return 0;
  if (!gitCall(pid, list, call, sizeof call)) return 0;
  const Line *line;
  size_t at = 0;
  while ((line = nextLine("git", &at)) && regexec(&line->call, call, 0, NULL, 0)) continue;
  if (!line || !*line->second) return 0;
  call[strcspn(call, GIT_SEPARATOR)] = 0;
  note("git", call, line->second, NULL);
  return EACCES;
}

// ---------------------------------------------------------------- held calls, and the filter that holds them

// The positions of a call's arguments; NONE: it has no such argument.
typedef struct {
  int number;
  signed char directory, path, otherDirectory, otherPath;
  signed char open; // the flags of an open call
  signed char at;   // the flags with AT_SYMLINK_NOFOLLOW
  enum Kind kind, otherKind;
  int follows;
} Call;

enum { NONE = -1 };
#define ONE(number, path, kind, follows) {number, NONE, path, NONE, NONE, NONE, NONE, kind, WRITE, follows}
#define ONE_AT(number, directory, path, at, kind, follows) {number, directory, path, NONE, NONE, NONE, at, kind, WRITE, follows}
#define OPEN(number, directory, path, open) {number, directory, path, NONE, NONE, open, NONE, WRITE, WRITE, 1}

static const Call calls[] = {
#ifdef __NR_open
    OPEN(__NR_open, NONE, 0, 1),
    ONE(__NR_creat, 0, CREATE, 1),
    ONE(__NR_unlink, 0, REMOVE, 0),
    ONE(__NR_rmdir, 0, DIRECTORY, 0),
    ONE(__NR_mkdir, 0, DIRECTORY, 0),
    ONE(__NR_mknod, 0, CREATE, 0),
    ONE(__NR_symlink, 1, CREATE, 0),
    {__NR_link, NONE, 1, NONE, 0, NONE, NONE, CREATE, METADATA, 0},
    {__NR_rename, NONE, 0, NONE, 1, NONE, NONE, REMOVE, CREATE, 0},
    ONE(__NR_chmod, 0, METADATA, 1),
    ONE(__NR_chown, 0, METADATA, 1),
    ONE(__NR_lchown, 0, METADATA, 0),
    ONE(__NR_utime, 0, METADATA, 1),
    ONE(__NR_utimes, 0, METADATA, 1),
    ONE_AT(__NR_futimesat, 0, 1, NONE, METADATA, 1),
#endif
    {__NR_renameat, 0, 1, 2, 3, NONE, NONE, REMOVE, CREATE, 0},
    OPEN(__NR_openat, 0, 1, 2),
    ONE(__NR_truncate, 0, WRITE, 1),
    ONE_AT(__NR_unlinkat, 0, 1, NONE, REMOVE, 0),
    ONE_AT(__NR_mkdirat, 0, 1, NONE, DIRECTORY, 0),
    ONE_AT(__NR_mknodat, 0, 1, NONE, CREATE, 0),
    ONE_AT(__NR_symlinkat, 1, 2, NONE, CREATE, 0),
    {__NR_linkat, 2, 3, 0, 1, NONE, NONE, CREATE, METADATA, 0},
    {__NR_renameat2, 0, 1, 2, 3, NONE, NONE, REMOVE, CREATE, 0},
    ONE_AT(__NR_fchmodat, 0, 1, NONE, METADATA, 1),
    ONE_AT(__NR_fchownat, 0, 1, 4, METADATA, 1),
    ONE_AT(__NR_utimensat, 0, 1, 3, METADATA, 1),
    ONE(__NR_bind, 1, CREATE, 0),
    ONE(__NR_execve, 0, WRITE, 0),
    ONE(__NR_execveat, 1, WRITE, 0),
};
enum { CALLS = sizeof calls / sizeof *calls, OPENS_TO_WRITE = O_ACCMODE | O_CREAT | O_TRUNC };

static int decide(const struct seccomp_notif *asked) {
  const __u64 *values = asked->data.args;
  char path[PATH_MAX], other[PATH_MAX];
  pid_t pid = (pid_t)asked->pid;
  int error, i = 0;
  while (calls[i].number != asked->data.nr)
    if (++i == CALLS) return 0;
  Call call = calls[i];
  uint64_t address = values[(int)call.path];
  if (call.number == __NR_execve || call.number == __NR_execveat) return judgeExec(pid, address, values[call.path + 1]);
  if (call.number == __NR_bind) {
    sa_family_t family;
    if (values[2] <= sizeof family || readBytes(pid, address, &family, sizeof family) || family != AF_UNIX) return 0;
    address += sizeof family;
  }
  if (call.open != NONE) {
    uint64_t flags = values[(int)call.open];
    // A file without a name becomes a project file only by linkat.
    if (!(flags & OPENS_TO_WRITE) || (flags & O_TMPFILE) == O_TMPFILE) return 0;
    if (flags & O_CREAT) call.kind = CREATE;
    if (flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) call.follows = 0;
  }
  if (call.at >= 0 && values[(int)call.at] & AT_SYMLINK_NOFOLLOW) call.follows = 0;
  if (!address) return 0; // utimensat: an open file
  if (call.number == __NR_unlinkat && values[2] & AT_REMOVEDIR) call.kind = DIRECTORY;
  int directory = call.directory == NONE ? AT_FDCWD : (int)values[(int)call.directory];
  if (!pathOf(pid, directory, address, call.follows, path, &error)) return error;
  if (call.otherPath == NONE) return judge(pid, path, call.kind);
  directory = call.otherDirectory == NONE ? AT_FDCWD : (int)values[(int)call.otherDirectory];
  int follow = call.number == __NR_linkat && values[4] & AT_SYMLINK_FOLLOW;
  if (!pathOf(pid, directory, values[(int)call.otherPath], follow, other, &error)) return error;
  if (call.kind == REMOVE) return judgeTree(pid, path, other, 0);
  error = judge(pid, path, call.kind);
  return error ? error : judge(pid, other, call.otherKind);
}

// Programs do without these calls, as on an older kernel. io_uring writes files without a call that could be held; the flags
// of openat2 and fchmodat2 cannot be read by a filter.
static const uint32_t MISSING[] = {__NR_io_uring_setup, __NR_openat2, __NR_fchmodat2};

static struct sock_filter filter[8 * CALLS + 16];
static unsigned short filterLength;

static void emit(uint16_t code, uint8_t ifTrue, uint8_t ifFalse, uint32_t value) {
  filter[filterLength++] = (struct sock_filter){code, ifTrue, ifFalse, value};
}

// Installs the filter in this process. Returns the supervisor's descriptor, or -1.
static int install(void) {
  enum { LOAD = BPF_LD | BPF_W | BPF_ABS, IS = BPF_JMP | BPF_JEQ | BPF_K, HAS = BPF_JMP | BPF_JSET | BPF_K };
  enum { RETURN = BPF_RET | BPF_K };
  emit(LOAD, 0, 0, offsetof(struct seccomp_data, arch));
  emit(IS, 1, 0, ARCHITECTURE);
  // Programs of another ABI use other numbers.
  emit(RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
  emit(LOAD, 0, 0, offsetof(struct seccomp_data, nr));
  emit(HAS, 0, 1, OTHER_ABI);
  emit(RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
  for (size_t i = 0; i < sizeof MISSING / sizeof *MISSING; i++) {
    emit(IS, 0, 1, MISSING[i]);
    emit(RETURN, 0, 0, SECCOMP_RET_ERRNO | ENOSYS);
  }
  for (size_t i = 0; i < CALLS; i++) {
    int hasFlags = calls[i].open >= 0;
    emit(IS, 0, hasFlags ? 4 : 1, (uint32_t)calls[i].number);
    if (hasFlags) {
      emit(LOAD, 0, 0, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)calls[i].open));
      emit(HAS, 1, 0, OPENS_TO_WRITE);
      emit(RETURN, 0, 0, SECCOMP_RET_ALLOW);
    }
    emit(RETURN, 0, 0, SECCOMP_RET_USER_NOTIF);
  }
  emit(RETURN, 0, 0, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {filterLength, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  // SPEC_ALLOW: before Linux 5.16, a filter otherwise makes its processes slower, as a defence that this guard does not need.
  // Without the last flag, a signal makes the kernel ask about the call again.
  unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  long fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
  if (fd < 0 && errno == EINVAL) fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  return (int)fd;
}

// ---------------------------------------------------------------- supervisor

static void answer(int listener) {
  enum { ROOM = 1024 }; // a newer kernel may write more than these headers know
  static _Alignas(16) char question[ROOM], reply[ROOM];
  struct seccomp_notif *asked = (void *)question;
  struct seccomp_notif_resp *said = (void *)reply;
  memset(asked, 0, ROOM);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) < 0) return;
  int error = decide(asked);
  memset(said, 0, ROOM);
  said->id = asked->id;
  said->error = -error;
  if (!error) said->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  // This fails if the process has ended meanwhile, even if its id is used again: nobody gets the answer.
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, said);
}

static void removeTemporary(const void *node, VISIT visit, int depth) {
  char path[PATH_MAX];
  const char *name = *(const char *const *)node;
  if (depth < 0 || (visit != postorder && visit != leaf) || !join(path, root, "/", name)) return;
  if (unlink(path) == 0) note("removed", name, NULL, NULL);
}

// @param report receives the command's wait status. If the launcher has closed it, the command is killed.
static void supervise(int listener, pid_t command, int report) {
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  for (int watches = 1; watches;) {
    struct pollfd waits[] = {{listener, POLLIN, 0}, {signals, POLLIN, 0}, {report, 0, 0}};
    if (poll(waits, 3, -1) < 0) continue;
    if (waits[2].revents & (POLLHUP | POLLERR)) {
      kill(command, SIGKILL);
      close(report);
      report = -1;
    }
    if (waits[0].revents & POLLIN) answer(listener);
    else if (waits[0].revents) watches = 0; // No process with the filter is left.
    if (watches && !(waits[1].revents | waits[2].revents)) continue; // Nothing has ended.
    struct signalfd_siginfo info;
    while (read(signals, &info, sizeof info) > 0) continue;
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, watches || report < 0 ? WNOHANG : 0)) > 0;)
      if (ended == command && report >= 0) {
        twalk(temporaries, removeTemporary);
        if (write(report, &status, sizeof status) < 0) _exit(CANNOT_START);
        close(report);
        report = -1;
      }
  }
  twalk(temporaries, removeTemporary);
  _exit(0);
}

// ---------------------------------------------------------------- launcher

static sigset_t before; // the signals that were blocked at the start; the supervisor blocks all
static pid_t forwardTo;

// A terminal signals the whole process group, so the command has that signal already.
static void forward(int signal, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code <= 0 && forwardTo > 0) kill(forwardTo, signal);
}

// What the command and the supervisor share until the command runs: its listener's number, sent through a pipe.
static void runCommand(int told, char **command) {
  int listener = install();
  // EBUSY: an outer guard watches already, with its own policy.
  if (listener < 0 && errno != EBUSY) FAIL("%s: %s (guard_call_failed)", "seccomp", strerror(errno));
  // The supervisor has the descriptors of this process: what is opened or closed from here on is no longer shared.
  if (unshare(CLONE_FILES)) FAIL("%s: %s (guard_call_failed)", "unshare", strerror(errno));
  if (write(told, &listener, sizeof listener) < 0) FAIL("%s: %s (guard_call_failed)", "write", strerror(errno));
  sigprocmask(SIG_SETMASK, &before, NULL);
  execvp(command[0], command);
  int error = errno;
  TELL("%s: %s (guard_command_not_started)", command[0], strerror(error));
  _exit(error == ENOENT ? 127 : 126); // as a shell ends
}

static void startSupervisor(int report, char **command) {
  int told[2], listener = -1, status = 0;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  if (pipe2(told, O_CLOEXEC)) FAIL("%s: %s (guard_call_failed)", "pipe", strerror(errno));
  pid_t child = (pid_t)syscall(__NR_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (child < 0) FAIL("%s: %s (guard_call_failed)", "clone", strerror(errno));
  if (child == 0) runCommand(told[1], command);
  setsid(); // What ends the command's group does not end the supervisor. Linux gives each session a share of the processor.
  if (write(report, &child, sizeof child) < 0) _exit(CANNOT_START);
  // The shared table has the writing end open until the command has sent the number or ended.
  struct pollfd waits = {told[0], POLLIN, 0};
  while (poll(&waits, 1, 100) == 0 && waitpid(child, &status, WNOHANG) == 0) continue;
  if (waits.revents & POLLIN && read(told[0], &listener, sizeof listener) < 0) _exit(CANNOT_START);
  // The pipes of the command must close when it ends, so the supervisor keeps none of them, and no directory.
  for (int fd = 0, null = open("/dev/null", O_RDWR); fd < 3; fd++) dup2(null, fd);
  for (int fd = 3; fd < 1024; fd++)
    if (fd > report && fd > listener && fd > logFile && syscall(CLOSE_RANGE, fd, ~0u, 0) == 0) break;
    else if (fd != report && fd != listener && fd != logFile) close(fd);
  if (chdir("/")) _exit(CANNOT_START);
  if (listener >= 0) supervise(listener, child, report);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  _exit(write(report, &status, sizeof status) < 0);
}

// Prints the new refusals of the log, one line per path.
static void tell(const char *file, off_t from) {
  FILE *log = fopen(file, "re");
  if (!log || fseeko(log, from, SEEK_SET)) return;
  char line[PATH_MAX * 2];
  while (fgets(line, sizeof line, log)) {
    char *rest = line, *field[4] = {"", "", "", ""};
    line[strcspn(line, "\n")] = 0;
    for (int i = 0; i < 4 && rest; i++) field[i] = strsep(&rest, "\t");
    int isRefused = !strcmp(field[0], "refused");
    if (isRefused && *field[3])
      TELL("not written: %.160s belongs to %.40s (%.60s) (guard_write_owned)", field[1], field[2], field[3]);
    else if (isRefused && *field[2]) TELL("not written: %.160s belongs to %.40s (guard_write_owned)", field[1], field[2]);
    else if (isRefused && *member)
      TELL("not written: %.160s; nobody owns it, so call FileLease for it first (guard_write_unowned)", field[1]);
    else if (isRefused) TELL("not written: %.160s; no project file is yours (guard_write_without_member)", field[1]);
    else if (!strcmp(field[0], "git")) TELL("not run: %.40s; %.220s (guard_git_refused)", field[1], field[2]);
    else if (!strcmp(field[0], "removed"))
      TELL("removed: %.160s, left among files of others (guard_temporary_removed)", field[1]);
  }
  fclose(log);
}

int main(int count, char **arguments) {
  if (count < 5 || strcmp(arguments[3], "--")) FAIL("expected %s (guard_usage)", "POLICY LOG -- COMMAND…");
  readPolicy(arguments[1]);
  logFile = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (logFile < 0) FAIL("%s: %s (guard_file_unusable)", arguments[2], strerror(errno));
  off_t from = lseek(logFile, 0, SEEK_END);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  // The supervisor sends the id of the command, and later its wait status.
  int report[2], status = -1;
  if (pipe2(report, O_CLOEXEC)) FAIL("%s: %s (guard_call_failed)", "pipe", strerror(errno));
  pid_t supervisor = fork();
  if (supervisor < 0) FAIL("%s: %s (guard_call_failed)", "fork", strerror(errno));
  if (supervisor == 0) {
    close(report[0]);
    startSupervisor(report[1], arguments + 4);
  }
  close(report[1]);
  if (read(report[0], &forwardTo, sizeof forwardTo) != sizeof forwardTo) return CANNOT_START;
  static const int FORWARDED[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
  struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART}, was;
  for (size_t i = 0; i < sizeof FORWARDED / sizeof *FORWARDED; i++)
    if (sigaction(FORWARDED[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) sigaction(FORWARDED[i], &action, NULL);
  sigprocmask(SIG_SETMASK, &before, NULL);
  while (read(report[0], &status, sizeof status) < 0 && errno == EINTR) continue;
  if (status < 0) FAIL("the supervisor of %s ended before it (guard_supervisor_ended)", arguments[4]);
  tell(arguments[2], from);
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
